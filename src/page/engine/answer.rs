//! What each request does.

use legwork_picture::diagram::Options;
use legwork_study::Edit;
use legwork_study::commands::Command;
use legwork_study::session::Fork;
use serde_json::{Value, json};

use super::client::Cursor;
use super::edit::Save;
use super::going::{Answered, Goal};
use super::live::Live;
use super::past::{Past, Told};
use super::writing::Question;
use super::{Engine, describe};
use crate::frames::Frame;
use crate::protocol::{self, Action, Refusal};

/// Most sessions at a time.
const MOST_SOURCES: usize = 16;
/// Slowest and fastest pace.
const SPEEDS: std::ops::RangeInclusive<f64> = 1e-6..=1e6;

/// An answer; none if it comes later.
type Outcome = Option<Result<Value, Refusal>>;

impl Engine {
    /// Does what a page asks for.
    pub(super) fn answer(
        &mut self,
        client: u64,
        id: u64,
        source: usize,
        action: Action,
    ) -> Outcome {
        if self.sources.get(source).is_none_or(Option::is_none) {
            return Some(Err(format!("there is no source {source}").into()));
        }
        match action {
            Action::Line { text } => return self.line((client, id), source, &text),
            Action::Seek { t } if t.is_finite() => {
                return self.seek((client, id), source, t);
            }
            Action::Close {} => return Some(self.close(source)),
            Action::Fork { name, changes } => return Some(self.fork(source, &name, &changes)),
            Action::Watch { path } => return Some(self.watch(client, source, &path)),
            Action::Compare { a, b } => return self.compare((client, id), a, b),
            Action::Heat { on: true } => return self.heat((client, id), source),
            Action::Edit { file, text, save, over } => {
                let save = save.then_some(Save { over });
                return Some(self.edit(source, &file, text, save.as_ref()));
            }
            Action::Disk {} => return Some(self.take_disk()),
            Action::Record {} => return self.record((client, id), source),
            Action::Unwatch { path } => return Some(self.unwatch(client, source, &path)),
            Action::Complete(text) => {
                return self.write((client, id), source, Question::Complete, text);
            }
            Action::Hover(text) => return self.write((client, id), source, Question::Hover, text),
            Action::Define(text) => {
                return self.write((client, id), source, Question::Define, text);
            }
            _ => {}
        }
        let Some(Some(live)) = self.sources.get_mut(source) else { return None };
        Some(match action {
            Action::Run { speed } if speed.is_some_and(|speed| !SPEEDS.contains(&speed)) => {
                Err("expected a speed from 1e-6 to 1e6".into())
            }
            Action::Run { speed } => {
                let answered = live.go(Goal::End, speed, None);
                self.tell(answered);
                Ok(json!({}))
            }
            Action::Pause {} => {
                let answered = live.stand();
                self.settle(source);
                self.tell(answered);
                Ok(json!({}))
            }
            Action::Draw { open, depth } => {
                let open = open.map(|paths| paths.into_iter().collect());
                let options = Options { depth, open, functions: true, ..Options::default() };
                Ok(describe::draw(live.session.program(), &options))
            }
            Action::Block { path } => match describe::block(&path, &live.about()) {
                Some(mut block) => {
                    live.forbid(&mut block);
                    if let Some(view) = live.session.block(&path) {
                        block["state"] = view.state;
                        block["continuous"] = json!(view.continuous);
                    }
                    Ok(block)
                }
                None => Err(format!("no block `{path}`").into()),
            },
            Action::Heat { on: _ } => Ok(json!({})),
            Action::Export { paths, format } => live.export(&paths, &format),
            Action::Values { paths } => {
                let values = describe::values(&paths, live);
                let facts = describe::facts(&paths, live);
                if let Some(client) = self.clients.get_mut(&client) {
                    client.values.insert(source, paths);
                }
                Ok(json!({ "values": values, "facts": facts }))
            }
            Action::Choices {} => {
                let signals = live.shown().1.to_vec();
                Ok(describe::choices(&live.about(), &signals))
            }
            Action::Text { file, disk } => {
                let may_write = |name: &str| live.may_write(name);
                describe::texts(live.model.sources(), file.as_deref(), disk, may_write)
            }
            Action::Mesh { path } => {
                let (scene, unseen) = live.whole_scene();
                match (scene.surfaces.get(&path), self.clients.get_mut(&client)) {
                    (Some(surface), Some(client)) => {
                        // A page that takes it not is given up at the next answer.
                        client.send_frame(Frame::mesh(source, &path, surface));
                        Ok(json!({}))
                    }
                    _ => {
                        let why = unseen.iter().find(|one| one.contains(&path));
                        let none = || format!("no mesh `{path}`");
                        Err(why.cloned().unwrap_or_else(none).into())
                    }
                }
            }
            Action::Seek { .. } => Err("expected a time".into()),
            // Done above.
            Action::Line { .. }
            | Action::Close {}
            | Action::Fork { .. }
            | Action::Watch { .. }
            | Action::Unwatch { .. }
            | Action::Compare { .. }
            | Action::Edit { .. }
            | Action::Disk {}
            | Action::Record {}
            | Action::Complete(_)
            | Action::Hover(_)
            | Action::Define(_) => return None,
        })
    }

    /// Answers those who waited for a run to stop.
    pub(super) fn tell(&mut self, answered: Option<Answered>) {
        let Some((asked, text)) = answered else { return };
        for (client, id) in asked {
            self.send(client, protocol::reply(Some(id), Ok(json!({ "text": text }))));
        }
    }

    fn line(&mut self, asked: (u64, u64), source: usize, text: &str) -> Outcome {
        if text.trim().is_empty() {
            return Some(Ok(json!({ "text": "" })));
        }
        let command = match Command::parse(text) {
            Ok(command) => command,
            Err(why) => return Some(Err(why.into())),
        };
        let goal = match &command {
            Command::Continue => Some(Goal::End),
            Command::Step(count) => Some(Goal::Steps(*count)),
            Command::Until(t) => Some(Goal::Until(*t)),
            Command::Goto(t) => return self.seek(asked, source, *t),
            _ => None,
        };
        let Some(Some(live)) = self.sources.get_mut(source) else { return None };
        if let Some(goal) = goal {
            if let Goal::Until(t) = goal
                && live.session.time() >= t
            {
                return Some(Err(format!("{t} s is behind; `goto` goes back").into()));
            }
            if goal == Goal::Steps(0) {
                return Some(Ok(json!({ "text": "" })));
            }
            let speed = live.going.as_ref().and_then(|going| going.speed);
            let answered = live.go(goal, speed, Some(asked));
            self.tell(answered);
            return None;
        }
        match command {
            Command::Fork(name, changes) => Some(self.fork(source, &name, &changes)),
            Command::Session(_) => Some(Err("the page shows all sessions side by side".into())),
            Command::Quit => Some(Err("Ctrl-C in the terminal ends the server".into())),
            Command::Snapshot(_) | Command::Restore(_) => {
                Some(Err("the page reads and writes no files; `legwork step` does".into()))
            }
            command => {
                let travels = matches!(
                    command,
                    Command::Next(_)
                        | Command::Into(_)
                        | Command::Out
                        | Command::Back(_)
                        | Command::BackSteps(_)
                );
                let answered = if travels { live.stand() } else { None };
                let outcome = command.perform(&mut live.session);
                live.halt.clear();
                self.settle(source);
                self.tell(answered);
                let outcome = outcome.unwrap_or_else(|| Ok(String::new()));
                Some(outcome.map(|text| json!({ "text": text })).map_err(Refusal::from))
            }
        }
    }

    fn seek(&mut self, asked: (u64, u64), source: usize, t: f64) -> Outcome {
        let Some(Some(live)) = self.sources.get_mut(source) else { return None };
        if t <= live.session.time() {
            // What follows the snapshot is repeated stretch by stretch, unless there are edits in
            // it: going to a time undoes those behind it.
            let before = live.session.snapshot_before(t);
            let is_between = |edit: &Edit| edit.time().is_none_or(|at| before < at && at <= t);
            let is_edited = live.session.edits().iter().any(is_between);
            live.session.go_to(if is_edited { t } else { before });
        }
        let answered = live.go(Goal::Seek(t), None, Some(asked));
        self.settle(source);
        self.tell(answered);
        None
    }

    fn fork(
        &mut self,
        source: usize,
        name: &str,
        changes: &[(String, String)],
    ) -> Result<Value, Refusal> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err(
                format!("expected a name of letters, digits, `_` and `-`, found `{name}`").into()
            );
        }
        if self.live().any(|(_, live)| live.name == name) {
            return Err(format!("there is a session `{name}` already").into());
        }
        if self.sources.iter().flatten().count() >= MOST_SOURCES {
            return Err(format!("there are {MOST_SOURCES} sessions already").into());
        }
        let Some(Some(live)) = self.sources.get_mut(source) else {
            return Err("there is no such source".into());
        };
        let answered = live.stand();
        let list: Vec<(&str, &str)> =
            changes.iter().map(|(path, value)| (path.as_str(), value.as_str())).collect();
        let forked = live.session.fork(&list);
        self.settle(source);
        self.tell(answered);
        let Fork { mut session, carried } = forked?;
        match &self.out {
            Some(out) => session.record_into(&out.join(name))?,
            None => session.forget_rows(),
        }
        let model = session.diagram().compile().into_model()?;
        let index = self.sources.iter().position(Option::is_none).unwrap_or(self.sources.len());
        let live = Live::new(name, model, session);
        let model = describe::model(index, &live.about());
        match self.sources.get_mut(index) {
            Some(place) => *place = Some(live),
            None => self.sources.push(Some(live)),
        }
        self.send_to_all(&json!({ "model": model }));
        Ok(json!({
            "source": index,
            "fresh": carried.fresh,
            "kept": carried.kept.len(),
            "dropped": carried.dropped,
        }))
    }

    fn close(&mut self, source: usize) -> Result<Value, Refusal> {
        if source == 0 {
            return Err("the run itself is not closed".into());
        }
        let Some(mut live) = self.sources.get_mut(source).and_then(Option::take) else {
            return Err(format!("there is no source {source}").into());
        };
        self.tell(live.stand());
        for client in self.clients.values_mut() {
            client.forget(source);
        }
        live.session.close()?;
        self.send_to_all(&json!({ "gone": source }));
        Ok(json!({}))
    }

    fn watch(&mut self, client: u64, source: usize, path: &str) -> Result<Value, Refusal> {
        let Some(Some(live)) = self.sources.get_mut(source) else {
            return Err(format!("there is no source {source}").into());
        };
        let (own, channel) = live.channel(path)?;
        let known = live.tap.lock().find(path);
        let is_new = !known.is_some_and(|number| live.tap.lock().is_watched(number));
        let number = live.tap.lock().watch(path, &channel);
        if is_new && live.has_past() {
            live.asked.push((number, own.clone(), channel.clone()));
        }
        let program = live.session.program();
        let told = describe::signal(number, &own, &channel, program);
        if let Some(client) = self.clients.get_mut(&client) {
            let cursor = client.watching.entry((source, number)).or_insert_with(Cursor::default);
            cursor.begin_anew();
        }
        self.recall(source);
        Ok(told)
    }

    fn unwatch(&mut self, client: u64, source: usize, path: &str) -> Result<Value, Refusal> {
        let Some(Some(live)) = self.sources.get(source) else {
            return Err(format!("there is no source {source}").into());
        };
        let number = live.tap.lock().find(path);
        let watching = self.clients.get_mut(&client).map(|client| &mut client.watching);
        let removed = number
            .zip(watching)
            .and_then(|(number, watching)| watching.remove(&(source, number)).map(|_| number));
        let number = removed.ok_or_else(|| format!("`{path}` is not watched"))?;
        self.release(source, number);
        Ok(json!({}))
    }

    /// Goes over the past for signals that were asked for, one thread a source at a time.
    pub(super) fn recall(&mut self, source: usize) {
        let Some(Some(live)) = self.sources.get_mut(source) else { return };
        if live.is_recalling || live.asked.is_empty() {
            return;
        }
        live.is_recalling = true;
        let past = Past {
            source,
            session: live.number,
            model: live.first.clone(),
            begin: live.begin.clone(),
            edits: live.session.edits().to_vec(),
            until: live.session.time(),
            signals: std::mem::take(&mut live.asked),
        };
        past.begin(self.events.clone(), self.cancel.clone());
    }

    /// Puts the samples of a past in front of those since then.
    pub(super) fn take_past(&mut self, told: Told) {
        let Some(Some(live)) = self.sources.get_mut(told.source) else { return };
        if live.number != told.session {
            return;
        }
        live.is_recalling = false;
        let mut numbers = Vec::new();
        for (number, mut store) in told.stores {
            let mut tracks = live.tap.lock();
            let Some(track) = tracks.track_mut(number) else { continue };
            store.cut(track.own_from.next_up());
            track.store.prepend(store);
            numbers.push(number);
        }
        for client in self.clients.values_mut() {
            for number in &numbers {
                if let Some(cursor) = client.watching.get_mut(&(told.source, *number)) {
                    cursor.begin_anew();
                }
            }
        }
        if let Some(problem) = told.problem {
            let message = format!("the past could not be gone over: {problem}");
            self.send_to_all(&json!({ "notice": { "source": told.source, "message": message } }));
        }
        self.recall(told.source);
    }
}
