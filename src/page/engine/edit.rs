//! Texts that change, in the page or on disk, while the run goes on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use legwork_program::Fnv;
use legwork_study::session::Rewritten;
use legwork_study::{Diagram, Error, ErrorKind, Model, files};
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
        save: Option<&Save>,
    ) -> Result<Value, Refusal> {
        let Some(Some(live)) = self.sources.get_mut(source) else {
            return Err(format!("there is no source {source}").into());
        };
        if live.model.sources().find(file).is_none() || !describe::is_file(file) {
            return Err(format!("the diagram has no file `{file}`").into());
        }
        if save.is_some() && !live.may_write(file) {
            return Err(format!("`{file}` is not written from the page").into());
        }
        if let Some(Save { over: Some(over) }) = save
            && files::read_regular(Path::new(file), files::SIZE_LIMIT)
                .is_ok_and(|bytes| fingerprint(&bytes) != *over)
        {
            let message = format!("`{file}` on disk is another than the text that was read here");
            return Err(Refusal { changed: true, ..message.into() });
        }
        let bytes = text.into_bytes();
        let diagram = live.session.edited_diagram().with_text(file, bytes.clone());
        let is_saved = save.is_some();
        let mut told = self.recompile(source, &diagram, !is_saved)?;
        if is_saved {
            files::write(Path::new(file), &bytes)?;
            told["hash"] = fingerprint(&bytes).into();
            self.has_saved(source, &told);
        }
        self.tell_text();
        Ok(told)
    }

    /// A file of a source has been written from the page; what came of its text was `told`.
    fn has_saved(&mut self, source: usize, told: &Value) {
        let Some(Some(live)) = self.sources.get_mut(source) else { return };
        self.disk.remember(&live.model);
        if told["applied"] != true {
            self.broken = first_error_of(&told["diagnostics"]);
            return;
        }
        // What is wrong with another file stays wrong.
        if self.broken.is_some()
            && let Ok(diagram) = self.on_disk()
        {
            self.broken = first_error(&diagram.compile().to_json());
        }
    }

    /// The diagram of the run as it is on disk, with the overrides and edits of the session.
    fn on_disk(&self) -> Result<Diagram, Error> {
        let Some(Some(live)) = self.sources.first() else {
            return Err(Error::new(ErrorKind::Request, "there is no run"));
        };
        let old = live.session.edited_diagram();
        // A file may have become a pipe without a writer, or a device.
        let sources = live.model.sources();
        for name in sources.names().filter(|name| describe::is_file(name)) {
            if std::fs::metadata(name).is_ok_and(|metadata| !metadata.is_file()) {
                return Err(Error::new(ErrorKind::Request, format!("`{name}` is no regular file")));
            }
        }
        Ok(old.library().open(old.name())?.with_options(old.options().clone()))
    }

    /// Looks at the files, and goes on with what they hold if it compiles.
    pub(super) fn follow_disk(&mut self) {
        if self.disk.has_changed() {
            // What went wrong is told with the text.
            let _ = self.take_disk();
        }
    }

    /// Goes on with what the files hold if it compiles.
    pub(super) fn take_disk(&mut self) -> Result<Value, Refusal> {
        let told = self.on_disk().map_err(Refusal::from).and_then(|diagram| {
            let told = self.recompile(0, &diagram, false)?;
            self.broken = match told["applied"] == true {
                true => None,
                false => first_error_of(&told["diagnostics"]),
            };
            self.send_to_all(&json!({ "diagnostics": told["diagnostics"] }));
            Ok(told)
        });
        if let Err(refusal) = &told {
            self.broken = Some(json!({ "message": refusal.message }));
        }
        self.tell_text();
        told
    }

    /// Tells pages which text runs, and how the files differ from it, if that is news.
    pub(super) fn tell_text(&mut self) {
        let text = self.text();
        if text != self.told_text {
            self.send_to_all(&json!({ "text": text }));
            self.told_text = text;
        }
    }

    /// Which text of the run is shown: when it came, whether the page has it alone, what is wrong
    /// with the files, and which of them hold another.
    pub(super) fn text(&self) -> Value {
        let Some(Some(live)) = self.sources.first() else { return Value::Null };
        let (since, is_saved) = live.text_since();
        let since = since.duration_since(SystemTime::UNIX_EPOCH);
        let sources = live.model.sources();
        let files = sources.names().filter(|name| describe::is_file(name));
        let differs = files.filter(|name| {
            let own = sources.find(name).map(|file| sources.text(file).as_bytes());
            files::read_regular(Path::new(name), files::SIZE_LIMIT)
                .is_ok_and(|bytes| Some(&bytes[..]) != own)
        });
        json!({
            "since": since.map_or(0.0, |since| since.as_secs_f64().floor()),
            "saved": is_saved,
            "broken": self.broken,
            "differs": differs.collect::<Vec<_>>(),
        })
    }

    /// What is wrong with a diagram; it takes the place of that of a source if nothing is.
    /// `typed` says that the page alone has it.
    fn recompile(
        &mut self,
        source: usize,
        diagram: &Diagram,
        typed: bool,
    ) -> Result<Value, Refusal> {
        let compiled = diagram.compile();
        let diagnostics = describe::diagnostics(&compiled.to_json());
        let Some(model) = compiled.model else {
            return Ok(json!({ "diagnostics": diagnostics, "applied": false }));
        };
        let note = self.replace(source, &model)?;
        if let Some(Some(live)) = self.sources.get_mut(source) {
            if typed { live.is_typed() } else { live.is_saved() }
        }
        Ok(json!({ "diagnostics": diagnostics, "applied": true, "note": note }))
    }

    /// Goes on as another diagram, with the states that it has a place for; what became of them.
    fn replace(&mut self, source: usize, model: &Model) -> Result<String, Refusal> {
        let Some(Some(live)) = self.sources.get_mut(source) else { return Ok(String::new()) };
        let mut answered = None;
        if model.program().hash() != live.session.program().hash() {
            answered = live.stand();
            if live.session.is_in_a_step() {
                live.session.back_steps(1)?;
            }
        }
        let (note, begins) = match live.session.rewrite(model)? {
            Rewritten::Same | Rewritten::Entered { .. } => (String::new(), false),
            Rewritten::Begun { carried, .. } => {
                let fresh = carried.fresh.iter().map(|(path, why)| format!("{path}: {why}"));
                let fresh: Vec<String> = fresh.collect();
                let note = match fresh.is_empty() {
                    true => String::new(),
                    false => format!("begins anew: {}", fresh.join("; ")),
                };
                (note, true)
            }
            Rewritten::Anew { why } => {
                live.begins_anew();
                let gone = "it begins anew at t = 0, and what was before is gone";
                (if why.is_empty() { why } else { format!("{why}: {gone}") }, true)
            }
        };
        let recorded = match (begins, &self.out) {
            (true, Some(out)) => {
                self.edits += 1;
                live.session.record_into(&out.join(format!("edit-{}", self.edits)))
            }
            _ => Ok(()),
        };
        // Whether or not it is recorded, it has begun.
        self.settle(source);
        self.tell(answered);
        recorded?;
        if !note.is_empty() {
            self.send_to_all(&json!({ "notice": { "source": source, "message": note } }));
        }
        Ok(note)
    }

    /// Shows pages the text that a session has now.
    pub(super) fn show_text(&mut self, source: usize) {
        let Some(Some(live)) = self.sources.get_mut(source) else { return };
        let lost = live.take_text();
        for client in self.clients.values_mut() {
            client.watching.retain(|key, _| key.0 != source || !lost.contains(&key.1));
        }
        if source == 0 {
            self.disk.remember(&live.model);
        }
        let model = describe::model(source, &live.about());
        self.send_to_all(&json!({ "model": model }));
        self.tell_text();
    }
}

/// A text is to be written to its file.
#[derive(Debug)]
pub(super) struct Save {
    /// What the file holds is to have this fingerprint, if it is not to be lost.
    pub(super) over: Option<String>,
}

/// Tells one content of a file from another.
pub(super) fn fingerprint(bytes: &[u8]) -> String {
    // It guards against an accident, not against an attack.
    let mut hash = Fnv::default();
    hash.add_bytes(bytes);
    format!("{:016x}", hash.value())
}

/// The first error of diagnostics as the compiler tells them.
fn first_error(all: &Value) -> Option<Value> {
    first_error_of(&describe::diagnostics(all))
}

/// The first error of diagnostics as pages are told.
fn first_error_of(all: &Value) -> Option<Value> {
    let is_error = |one: &&Value| {
        one["severity"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("error"))
    };
    all.as_array()?.iter().find(is_error).cloned()
}

impl Live {
    /// Whether a file of the diagram may be written: a text of the language on disk, as far as the
    /// diagram may read.
    pub(super) fn may_write(&self, name: &str) -> bool {
        let diagram = self.model.diagram();
        describe::is_file(name) && Path::new(name).is_file() && diagram.may_read(Path::new(name))
    }
}
