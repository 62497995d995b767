//! Where the run is: the block that comes next, and the parts around it.

use legwork_study::commands;
use legwork_study::session::{Session, SourceLine};
use serde_json::{Value, json};

use super::adapter::Adapter;
use crate::document::Document;
use crate::tree::Item;

/// A frame: the path of a block or of a part; none for the run itself.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub(super) path: Option<String>,
    name: String,
    /// File, line and column, from 1.
    place: Option<(String, usize, usize)>,
}

/// The frames, the innermost first.
pub(super) fn frames(session: &Session) -> Vec<Frame> {
    let here = session.whereabouts();
    let stage = commands::stage(&here.place);
    let mut frames = Vec::new();
    let main = session.diagram().name().to_owned();
    if let Some(block) = here.block.filter(|_| here.place.block.is_some()) {
        let place = block.source.map(|SourceLine { file, line, column, .. }| (file, line, column));
        frames.push(Frame { path: Some(block.path.clone()), name: stage.clone(), place });
        let parts = session.program().subsystems.iter();
        let inside = |part: &str| {
            block.path.strip_prefix(part).is_some_and(|rest| rest.starts_with(['.', '[']))
        };
        let mut around: Vec<&str> =
            parts.map(|part| part.path.as_str()).filter(|part| inside(part)).collect();
        around.sort_by_key(|part| std::cmp::Reverse(part.len()));
        for part in around {
            let place =
                place_of_part(session, part).map(|(line, column)| (main.clone(), line, column));
            frames.push(Frame { path: Some(part.to_owned()), name: part.to_owned(), place });
        }
    }
    let time = legwork_study::seconds(here.place.t);
    let name = format!("step {} at t = {time}, {stage}", here.place.step);
    frames.push(Frame { path: None, name, place: Some((main, 1, 1)) });
    frames
}

/// Line and column of a part in the diagram's own text, if it stands there.
fn place_of_part(session: &Session, path: &str) -> Option<(usize, usize)> {
    let text = String::from_utf8_lossy(session.diagram().text()).into_owned();
    let document = Document::new("", &text);
    let mut item: &Item = document.tree.items.first()?;
    for step in crate::signals::split(path) {
        let name = step.split('[').next()?;
        let sections = ["blocks", "body"].into_iter().filter_map(|section| item.get(section));
        item = sections.into_iter().find_map(|section| section.get(name))?;
    }
    let before = &text[..item.start];
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Some((line, before[start..].chars().count() + 1))
}

impl Adapter {
    pub(super) fn stack_trace(&mut self, arguments: &Value) -> Result<Value, String> {
        let first = usize::from(self.from_zero);
        let all = frames(self.session()?);
        let number = |key: &str| arguments[key].as_u64().and_then(|n| usize::try_from(n).ok());
        let start = number("startFrame").unwrap_or(0);
        let levels = number("levels").filter(|levels| *levels > 0).unwrap_or(usize::MAX);
        let shown = all.iter().enumerate().skip(start).take(levels).map(|(i, frame)| {
            let mut told = json!({ "id": i + 1, "name": frame.name, "line": 0, "column": 0 });
            if let Some((file, line, column)) = &frame.place {
                told["line"] = (line - first).into();
                told["column"] = (column - first).into();
                told["source"] = source(file);
            }
            told
        });
        Ok(json!({ "stackFrames": shown.collect::<Vec<_>>(), "totalFrames": all.len() }))
    }
}

/// A file as the protocol names it; what is built in has no path.
fn source(file: &str) -> Value {
    let name = file.rsplit('/').next().unwrap_or(file);
    match std::path::absolute(file).ok().filter(|path| path.is_file()) {
        Some(path) => json!({ "name": name, "path": path.display().to_string() }),
        None => json!({ "name": file, "presentationHint": "deemphasize" }),
    }
}
