//! Texts that change, in the page or on disk, while the run goes on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use legwork_study::session::Fork;
use legwork_study::{Diagram, Model, files};
use serde_json::{Value, json};

use super::live::Live;
use super::{Engine, describe};
use crate::protocol::Refusal;

/// How often files are looked at.
const LOOK: Duration = Duration::from_millis(500);

/// The files of a diagram as they were when they were read.
#[derive(Debug, Default)]
pub(super) struct Disk {
    seen: BTreeMap<PathBuf, Option<(SystemTime, u64)>>,
    looked: Option<Instant>,
}

impl Disk {
    /// Remembers the files of a model as they are now.
    pub(super) fn remember(&mut self, model: &Model) {
        let stamped = model.inputs(&[]).into_iter().map(|path| (stamp(&path), path));
        self.seen = stamped.map(|(stamp, path)| (path, stamp)).collect();
    }

    /// Whether one of them has changed. It looks twice a second.
    pub(super) fn has_changed(&mut self) -> bool {
        if self.looked.is_some_and(|looked| looked.elapsed() < LOOK) {
            return false;
        }
        self.looked = Some(Instant::now());
        let mut changed = false;
        for (path, seen) in &mut self.seen {
            let now = stamp(path);
            // An editor may write a new file in place of the old one.
            changed |= now.is_some() && now != *seen;
            *seen = now.or(*seen);
        }
        changed
    }
}

/// When a file was written, and its length.
fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

impl Engine {
    /// Compiles a text in place of that of a file, and goes on with it if it compiles.
    pub(super) fn edit(
        &mut self,
        source: usize,
        file: &str,
        text: String,
        save: bool,
    ) -> Result<Value, Refusal> {
        let Some(Some(live)) = self.sources.get_mut(source) else {
            return Err(format!("there is no source {source}").into());
        };
        if live.model.sources().find(file).is_none() || !describe::is_file(file) {
            return Err(format!("the diagram has no file `{file}`").into());
        }
        if save && !live.may_write(file) {
            return Err(format!("`{file}` is not written from the page").into());
        }
        let bytes = text.into_bytes();
        let diagram = live.session.edited_diagram().with_text(file, bytes.clone());
        let diagnostics = self.recompile(source, &diagram)?;
        if save {
            files::write(Path::new(file), &bytes)?;
            if let Some(Some(live)) = self.sources.get(source) {
                self.disk.remember(&live.model);
            }
        }
        Ok(diagnostics)
    }

    /// Looks at the files, and goes on with what they hold if it compiles.
    pub(super) fn follow_disk(&mut self) {
        if !self.disk.has_changed() {
            return;
        }
        let Some(Some(live)) = self.sources.first() else { return };
        let old = live.session.edited_diagram();
        let opened = old.library().open(old.name());
        let diagram = match opened {
            Ok(diagram) => diagram.with_options(old.options().clone()),
            Err(error) => {
                let message = error.message();
                let notice = json!({ "notice": { "source": 0, "message": message } });
                return self.send_to_all(&notice);
            }
        };
        match self.recompile(0, &diagram) {
            Ok(told) => self.send_to_all(&json!({ "diagnostics": told["diagnostics"] })),
            Err(refusal) => {
                let notice = json!({ "source": 0, "message": refusal.message });
                self.send_to_all(&json!({ "notice": notice }));
            }
        }
    }

    /// What is wrong with a diagram; it takes the place of that of a source if nothing is.
    fn recompile(&mut self, source: usize, diagram: &Diagram) -> Result<Value, Refusal> {
        let compiled = diagram.compile();
        let diagnostics = describe::diagnostics(&compiled.to_json());
        let Some(model) = compiled.model else {
            return Ok(json!({ "diagnostics": diagnostics, "applied": false }));
        };
        let note = self.replace(source, model)?;
        Ok(json!({ "diagnostics": diagnostics, "applied": true, "note": note }))
    }

    /// Goes on as another diagram, with the states that it has a place for; what became of them.
    fn replace(&mut self, source: usize, model: Model) -> Result<String, Refusal> {
        let Some(Some(live)) = self.sources.get_mut(source) else { return Ok(String::new()) };
        let is_same = model.program().hash() == live.session.program().hash();
        let note = if is_same {
            live.model = model;
            String::new()
        } else {
            let answered = live.stand();
            if live.session.is_in_a_step() {
                live.session.back_steps(1)?;
            }
            let begins = |why: &str| format!("{why}: it begins anew at t = 0");
            let (mut session, note) = match live.session.fork_as(&model) {
                Ok(Fork { session, carried }) if carried.fresh.is_empty() => {
                    (session, String::new())
                }
                Ok(Fork { session, carried }) => {
                    let fresh = carried.fresh.iter().map(|(path, why)| format!("{path}: {why}"));
                    let fresh: Vec<String> = fresh.collect();
                    (session, format!("begins anew: {}", fresh.join("; ")))
                }
                Err(error) => (model.session(), begins(error.message())),
            };
            session.cancel_by(self.cancel.clone());
            match &self.out {
                Some(out) => {
                    live.session.close()?;
                    self.edits += 1;
                    session.record_into(&out.join(format!("edit-{}", self.edits)))?;
                }
                None => session.forget_rows(),
            }
            let (lost, cuts) = live.take(model, session);
            for client in self.clients.values_mut() {
                client.watching.retain(|key, _| key.0 != source || !lost.contains(&key.1));
                client.cut(source, &cuts);
            }
            self.tell(answered);
            note
        };
        if let Some(Some(live)) = self.sources.get(source) {
            if source == 0 {
                self.disk.remember(&live.model);
            }
            let model = describe::model(source, &live.about());
            self.send_to_all(&json!({ "model": model }));
        }
        if !note.is_empty() {
            self.send_to_all(&json!({ "notice": { "source": source, "message": note } }));
        }
        Ok(note)
    }
}

impl Live {
    /// Whether a file of the diagram may be written: a text of the language on disk, as far as the
    /// diagram may read.
    pub(super) fn may_write(&self, name: &str) -> bool {
        let diagram = self.model.diagram();
        describe::is_file(name) && Path::new(name).is_file() && diagram.may_read(Path::new(name))
    }
}
