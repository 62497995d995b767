//! The run, and what is said about it.

use std::time::{Duration, Instant};

use legwork_study::session::{Halt, Session, Stop};
use legwork_study::{Cancel, Library, commands};
use serde_json::{Value, json};

use super::breakpoints::Breakpoints;
use super::variables::Handles;

/// How long a run goes on before it is heard what else is wanted.
const STRETCH: Duration = Duration::from_millis(20);

/// The thread of a diagram.
pub(super) const THREAD: u64 = 1;

pub(super) struct Adapter {
    pub(super) library: Library,
    pub(super) cancel: Cancel,
    pub(super) session: Option<Session>,
    pub(super) breakpoints: Breakpoints,
    pub(super) handles: Handles,
    /// What is to be sent.
    pub(super) outbox: Vec<Value>,
    /// Messages of the outbox that go before the answer to the present request.
    pub(super) answered: usize,
    pub(super) stop_on_entry: bool,
    /// Whether lines and columns count from 0.
    pub(super) from_zero: bool,
    is_configured: bool,
    is_going: bool,
    is_over: bool,
    /// Steps of the last stretch.
    pace: u64,
}

impl Adapter {
    pub(super) fn new(library: Library, cancel: Cancel) -> Self {
        Self {
            library,
            cancel,
            session: None,
            breakpoints: Breakpoints::default(),
            handles: Handles::default(),
            outbox: Vec::new(),
            answered: 0,
            stop_on_entry: true,
            from_zero: false,
            is_configured: false,
            is_going: false,
            is_over: false,
            pace: 1,
        }
    }

    pub(super) fn is_going(&self) -> bool {
        self.is_going
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    pub(super) fn end(&mut self) {
        (self.is_going, self.is_over) = (false, true);
    }

    pub(super) fn event(&mut self, event: &str, body: &Value) {
        self.outbox.push(json!({ "type": "event", "event": event, "body": body }));
    }

    /// Prints in the client's console.
    pub(super) fn say(&mut self, category: &str, text: &str) {
        if !text.is_empty() {
            self.event("output", &json!({ "category": category, "output": text }));
        }
    }

    /// The session, or why there is none.
    pub(super) fn session(&mut self) -> Result<&mut Session, String> {
        self.session.as_mut().ok_or_else(|| "no diagram is launched".to_owned())
    }

    /// The session, which does not go on.
    pub(super) fn standing(&mut self) -> Result<&mut Session, String> {
        if self.is_going {
            return Err("the run goes on; `pause` stops it".to_owned());
        }
        self.cancel.reset();
        self.session()
    }

    /// Begins to go on.
    pub(super) fn go(&mut self) {
        self.cancel.reset();
        self.handles.clear();
        (self.is_going, self.pace) = (true, 1);
    }

    /// Begins once both the diagram and the breakpoints are there.
    pub(super) fn configured(&mut self) {
        self.is_configured = true;
        self.begin();
    }

    /// What follows the answer to a request.
    pub(super) fn after(&mut self, command: &str) {
        if command == "launch" && self.session.is_some() {
            self.event("initialized", &Value::Null);
            self.begin();
        }
        self.answered = 0;
    }

    fn begin(&mut self) {
        if !self.is_configured || self.session.is_none() {
            return;
        }
        if self.stop_on_entry {
            self.stopped("entry", None);
        } else {
            self.go();
        }
    }

    /// Goes on for a while.
    pub(super) fn stretch(&mut self) {
        let Some(session) = self.session.as_mut() else {
            self.is_going = false;
            return;
        };
        let before = Instant::now();
        let stop = session.steps_until(self.pace, f64::INFINITY);
        let took = before.elapsed();
        match stop {
            Ok(Stop { halt: Halt::Arrived, edits, .. }) => {
                let told: String = edits.iter().map(|note| commands::edit(note) + "\n").collect();
                self.say("console", &told);
                self.pace = match took < STRETCH / 2 {
                    true => self.pace.saturating_mul(2),
                    false if took > STRETCH => (self.pace / 2).max(1),
                    false => self.pace,
                };
            }
            Ok(stop) => self.halted(&stop, "step"),
            Err(error) => {
                self.say("stderr", &format!("{error}\n"));
                self.stopped("exception", Some(error.to_string()));
            }
        }
    }

    /// Tells why the run stopped; `arrived` is the reason if it is where it was to go. A breakpoint
    /// whose own condition does not hold stops nothing.
    pub(super) fn halted(&mut self, stop: &Stop, arrived: &str) {
        let told: String = stop.edits.iter().map(|note| commands::edit(note) + "\n").collect();
        self.say("console", &told);
        match &stop.halt {
            Halt::Breakpoint { number, text } => {
                let holds = match self.session.as_ref() {
                    Some(session) => self.breakpoints.holds(*number, session.simulation()),
                    None => true,
                };
                if !holds {
                    return;
                }
                let reason = self.breakpoints.reason(*number);
                let id = self.breakpoints.id(*number);
                self.stopped_at(reason, Some(text.clone()), Some(id));
            }
            Halt::Fault { message } => {
                self.say("stderr", &format!("fault: {message}\n"));
                self.stopped("exception", Some(message.clone()));
            }
            Halt::End => {
                self.say("console", &(commands::place(&stop.place) + "\n"));
                self.stopped("pause", Some("the run has ended".to_owned()));
            }
            // The request that ended it is heard next, and tells.
            Halt::Cancelled => {
                self.cancel.reset();
                self.is_going = false;
            }
            Halt::NoOtherPart => {
                self.stopped(arrived, Some("there is no block of another part".to_owned()));
            }
            Halt::Beginning { .. } => {
                self.stopped(arrived, Some("the past begins here".to_owned()));
            }
            Halt::Arrived => self.stopped(arrived, None),
        }
    }

    pub(super) fn stopped(&mut self, reason: &str, text: Option<String>) {
        self.stopped_at(reason, text, None);
    }

    fn stopped_at(&mut self, reason: &str, text: Option<String>, breakpoint: Option<u64>) {
        self.is_going = false;
        self.handles.clear();
        let place = self.session.as_ref().map(|session| commands::place(&session.place()));
        let mut body = json!({
            "reason": reason, "threadId": THREAD, "allThreadsStopped": true,
            "description": place.unwrap_or_default(),
        });
        if let Some(text) = text {
            body["text"] = text.into();
        }
        if let Some(id) = breakpoint {
            body["hitBreakpointIds"] = json!([id]);
        }
        self.event("stopped", &body);
    }
}
