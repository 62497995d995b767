//! What each request does.

use legwork_study::Error;
use legwork_study::commands::{self, Command};
use legwork_study::session::{Evaluated, Halt, Session, Stop};
use serde_json::{Value, json};

use super::adapter::{Adapter, THREAD};
use super::reverse::{Found, reverse};

/// What the adapter can do.
fn capabilities() -> Value {
    json!({
        "supportsConfigurationDoneRequest": true,
        "supportsFunctionBreakpoints": true,
        "supportsConditionalBreakpoints": true,
        "supportsDataBreakpoints": true,
        "supportsEvaluateForHovers": true,
        "supportsStepBack": true,
        "supportsSetVariable": true,
        "supportsTerminateRequest": true,
        "supportsCompletionsRequest": true,
        "completionTriggerCharacters": ["."],
    })
}

impl Adapter {
    /// Does what a request asks for; its body.
    pub(super) fn request(&mut self, command: &str, arguments: &Value) -> Result<Value, String> {
        match command {
            "initialize" => {
                self.from_zero = arguments["linesStartAt1"] == false;
                Ok(capabilities())
            }
            "launch" => self.launch(arguments),
            "attach" => Err("`launch` begins a run; there is none to attach to".to_owned()),
            "configurationDone" => {
                // The answer goes before what it causes.
                self.answered = self.outbox.len();
                self.configured();
                Ok(Value::Null)
            }
            "setBreakpoints" => self.set_breakpoints(arguments),
            "setFunctionBreakpoints" => self.set_function_breakpoints(arguments),
            "setExceptionBreakpoints" => Ok(json!({ "breakpoints": [] })),
            "dataBreakpointInfo" => self.data_breakpoint_info(arguments),
            "setDataBreakpoints" => self.set_data_breakpoints(arguments),
            "threads" => {
                let name = self.session()?.diagram().name().to_owned();
                Ok(json!({ "threads": [{ "id": THREAD, "name": name }] }))
            }
            "continue" => self.proceed(),
            "pause" => self.pause(),
            "next" => self.step("step", |session| session.next(1)),
            "stepIn" => self.step("step", |session| session.into_part(None)),
            "stepOut" => self.step_out(),
            "stepBack" => self.step("step", |session| session.back(1)),
            "reverseContinue" => self.reverse(),
            "stackTrace" => self.stack_trace(arguments),
            "scopes" => self.scopes(arguments),
            "variables" => self.variables(arguments),
            "setVariable" => self.set_variable(arguments),
            "evaluate" => self.evaluate(arguments),
            "completions" => self.completions(arguments),
            "terminate" => {
                self.answered = self.outbox.len();
                self.cancel.reset();
                self.event("terminated", &Value::Null);
                Ok(Value::Null)
            }
            "disconnect" => {
                self.end();
                Ok(Value::Null)
            }
            _ => Err(format!("no request `{command}`")),
        }
    }

    fn proceed(&mut self) -> Result<Value, String> {
        self.answered = self.outbox.len();
        if self.standing()?.is_at_end() {
            self.event("terminated", &Value::Null);
        } else {
            self.go();
        }
        Ok(json!({ "allThreadsContinued": true }))
    }

    fn pause(&mut self) -> Result<Value, String> {
        self.session()?;
        self.cancel.reset();
        self.answered = self.outbox.len();
        self.stopped("pause", None);
        Ok(Value::Null)
    }

    fn step(
        &mut self,
        reason: &str,
        step: impl FnOnce(&mut Session) -> Result<Stop, Error>,
    ) -> Result<Value, String> {
        let stop = step(self.standing()?).map_err(|error| error.to_string())?;
        self.answered = self.outbox.len();
        self.halted(&stop, reason);
        Ok(Value::Null)
    }

    /// The rest of the major step, up to a breakpoint.
    fn step_out(&mut self) -> Result<Value, String> {
        loop {
            let stop = self.standing()?.step(1).map_err(|error| error.to_string())?;
            let number = match stop.halt {
                Halt::Breakpoint { number, .. } => number,
                _ => return self.step("step", |_| Ok(stop)),
            };
            let session = self.session.as_ref().ok_or("no diagram is launched")?;
            if self.breakpoints.holds(number, session.simulation()) {
                return self.step("step", |_| Ok(stop));
            }
        }
    }

    fn reverse(&mut self) -> Result<Value, String> {
        self.standing()?;
        let Self { session, breakpoints, .. } = self;
        let session = session.as_mut().ok_or("no diagram is launched")?;
        let found = reverse(session, breakpoints).map_err(|error| error.to_string())?;
        self.answered = self.outbox.len();
        match found {
            Found::Breakpoint(stop) => self.halted(&stop, "step"),
            Found::Beginning => self.stopped("entry", Some("the past begins here".to_owned())),
            Found::Edit => {
                let text = "a parameter was changed here, which is undone";
                self.stopped("step", Some(text.to_owned()));
            }
            // The request that ended it is heard next, and tells.
            Found::Cancelled => self.cancel.reset(),
        }
        Ok(json!({ "allThreadsContinued": true }))
    }

    /// In the console a line of the language of `legwork step`; else a signal or an expression.
    fn evaluate(&mut self, arguments: &Value) -> Result<Value, String> {
        let text = arguments["expression"].as_str().ok_or("expected `expression`")?.trim();
        let is_console = arguments["context"].as_str().is_none_or(|context| context == "repl");
        let command = if is_console && !text.is_empty() { Command::parse(text).ok() } else { None };
        if let Some(command) = command {
            return self.perform(&command);
        }
        let found = self.session()?.evaluate(text).map_err(|error| error.to_string())?;
        let (result, ty) = match found {
            Evaluated::Signal(value) => return Ok(self.told(&value)),
            Evaluated::Truth(holds) => (holds.to_string(), "Bool"),
            Evaluated::Number(number, unit) => {
                let unit = unit.filter(|unit| unit != "1");
                let shown = unit.as_ref().map_or(String::new(), |unit| format!(" {unit}"));
                (format!("{number}{shown}"), "Real")
            }
        };
        Ok(json!({ "result": result, "type": ty, "variablesReference": 0 }))
    }

    /// A command of `legwork step`. One that travels is told as a stop.
    fn perform(&mut self, command: &Command) -> Result<Value, String> {
        match command {
            Command::Break(Some(_)) | Command::Delete(_) => {
                return Err("breakpoints are the editor's: set them there".to_owned());
            }
            Command::Continue => {
                return self.proceed().map(|_| json!({ "result": "", "variablesReference": 0 }));
            }
            Command::Quit => {
                self.event("terminated", &Value::Null);
                return Ok(json!({ "result": "", "variablesReference": 0 }));
            }
            Command::Fork(..) | Command::Session(_) => {
                return Err("there is one session; `legwork step` has several".to_owned());
            }
            Command::Snapshot(_) | Command::Restore(_) => {
                return Err(
                    "the debugger reads and writes no files; `legwork step` does".to_owned()
                );
            }
            _ => {}
        }
        let session = self.standing()?;
        let before = session.place();
        let said = command.perform(session).unwrap_or_else(|| Ok(String::new()));
        let has_moved = session.place() != before || session.fault().is_some();
        let said = said.map_err(|error| error.to_string())?;
        self.answered = self.outbox.len();
        if has_moved {
            self.stopped("step", None);
        } else if matches!(command, Command::Set(..) | Command::Input(..)) {
            self.event("invalidated", &json!({ "areas": ["variables"] }));
        }
        Ok(json!({ "result": said.trim_end(), "variablesReference": 0 }))
    }

    /// Names that the console completes.
    fn completions(&mut self, arguments: &Value) -> Result<Value, String> {
        let text = arguments["text"].as_str().unwrap_or_default();
        let column = arguments["column"].as_u64().unwrap_or(1).saturating_sub(1);
        let begun: String = text.chars().take(usize::try_from(column).unwrap_or(0)).collect();
        let word = begun.rsplit(char::is_whitespace).next().unwrap_or_default();
        let is_first = word.len() == begun.len();
        let names = self.session()?.names().to_vec();
        let commands = commands::NAMES.into_iter().filter(|_| is_first).map(str::to_owned);
        let fits = commands.chain(names).filter(|name| name.starts_with(word)).take(200);
        let start = begun.chars().count() - word.chars().count();
        let targets = fits
            .map(|name| json!({ "label": name, "start": start, "length": word.chars().count() }));
        Ok(json!({ "targets": targets.collect::<Vec<_>>() }))
    }
}
