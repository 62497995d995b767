//! Commands of a session: read and carried out here, and by the command in a process of its own.

use std::cell::Cell;
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use legwork_study::session::{Fork, Session};
use legwork_study::{Library, Model, commands};

use crate::mutate::{self, Random};
use crate::{Target, folder, repository};

/// A robot that lands, on which commands are tried.
const ROBOT: &str = "diagrams/quadruped/stand.ron";
/// A motor under a loop of two rates: to compile it takes a tenth of that.
const MOTOR: &str = "diagrams/basics/multirate_pid.ron";
/// Of so many inputs one is for the robot.
const ROBOTS: usize = 16;
/// The length of both: what goes on to the end takes 50 steps.
const LENGTH: &str = "0.05 s";

/// Commands for the motor.
const SCRIPT: &[u8] = b"break t >= 0.02[s]
continue
print angle.y
watch command.y
back 3
where
set kp 80
set p.gain 9
next 3
step 2
print limit
delete 1
break limit.y > 9.5
continue
break sampled
out
delete all
back 2 steps
next
goto 0.02 s
step
fork soft kp=2 damping=0.3
goto 0.01 s
schedule
unwatch all
fork b period=5 ms
help back
continue
";

/// Words of commands that damage may put in.
const WORDS: [&str; 33] = [
    "next",
    "step",
    "into",
    "out",
    "continue",
    "until",
    "goto",
    "back",
    "break",
    "delete",
    "watch",
    "unwatch",
    "print",
    "set",
    "input",
    "where",
    "schedule",
    "fork",
    "session",
    "help",
    "all",
    "steps",
    "pd.kp",
    "pose",
    "body.state",
    "contact.f[0]",
    "a",
    "p.gain",
    "angle.y",
    "t > 0.01[s]",
    "\n",
    "=",
    "ms",
];

/// A damaged script for the robot.
fn landing(random: &mut Random) -> Vec<u8> {
    let script = include_bytes!("../data/step/stand.script");
    mutate::text(random, script, script, &WORDS)
}

/// Damaged commands, carried out in this process.
pub(crate) struct Commands {
    robot: Model,
    motor: Model,
    /// Whether the input is for the robot.
    is_landing: Cell<bool>,
}

impl Commands {
    pub(crate) fn new() -> Self {
        let library = Library::new(legwork_blocks::register);
        let model = |file| {
            let diagram = library.open(repository(file)).unwrap().until(LENGTH);
            diagram.compile().into_model().unwrap()
        };
        Self { robot: model(ROBOT), motor: model(MOTOR), is_landing: false.into() }
    }
}

impl Target for Commands {
    fn input(&self, random: &mut Random) -> Vec<u8> {
        self.is_landing.set(random.once_in(ROBOTS));
        match self.is_landing.get() {
            true => landing(random),
            false => mutate::text(random, SCRIPT, SCRIPT, &WORDS),
        }
    }

    fn run(&self, input: &[u8], _: &mut Random) -> Result<&'static str, String> {
        let model = if self.is_landing.get() { &self.robot } else { &self.motor };
        let mut first = model.session();
        first.forget_rows();
        let mut sessions = vec![first];
        let mut said = "all lines right";
        for line in String::from_utf8_lossy(input).lines() {
            if line.trim().is_empty() || line.trim().starts_with('#') {
                continue;
            }
            match perform(line, &mut sessions) {
                Ok(true) => {}
                Ok(false) => break,
                Err(why) if why.is_empty() => return Err(format!("`{line}` says nothing")),
                Err(_) => said = "went past mistakes",
            }
        }
        let is_fault = sessions.iter().any(|session| session.fault().is_some());
        Ok(if is_fault { "ended with a fault" } else { said })
    }
}

/// Carries out a line on the last session; whether there is more to do.
fn perform(line: &str, sessions: &mut Vec<Session>) -> Result<bool, String> {
    let command = commands::Command::parse(line)?;
    let session = sessions.last_mut().unwrap();
    let said = match &command {
        commands::Command::Quit => return Ok(false),
        // Files of any name, and what the command does with several sessions.
        commands::Command::Snapshot(_)
        | commands::Command::Restore(_)
        | commands::Command::Session(_) => return Ok(true),
        commands::Command::Fork(_, changes) => {
            let changes: Vec<(&str, &str)> =
                changes.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            let Fork { session, .. } = session.fork(&changes).map_err(|error| error.to_string())?;
            sessions.push(session);
            return Ok(true);
        }
        command => command.perform(session),
    };
    said.unwrap().map(|_| true).map_err(|error| error.to_string())
}

/// Damaged commands through `legwork step`.
pub(crate) struct Scripts;

/// How long a session may take.
const SESSION: Duration = Duration::from_secs(20);

impl Target for Scripts {
    fn input(&self, random: &mut Random) -> Vec<u8> {
        landing(random)
    }

    fn run(&self, input: &[u8], _: &mut Random) -> Result<&'static str, String> {
        let out = folder().join("session");
        let mut child = Command::new(env!("CARGO_BIN_EXE_legwork"))
            .arg("step")
            .arg(repository(ROBOT))
            .args(["--keep-going", "--set", &format!("run.stop={LENGTH}"), "--out"])
            .arg(&out)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A session that ends before its input does closes the pipe.
        let _ = child.stdin.take().unwrap().write_all(input);
        let begun = Instant::now();
        let status = loop {
            match child.try_wait().unwrap() {
                Some(status) => break status,
                None if begun.elapsed() > SESSION => {
                    child.kill().unwrap();
                    return Err("the session hangs".to_owned());
                }
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        };
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        match status.code() {
            Some(101) | None => Err(format!("the session ended with {status}: {said}")),
            Some(0) => Ok("all lines right"),
            Some(64) => Ok("went past mistakes"),
            Some(_) => Ok("ended with a fault"),
        }
    }
}
