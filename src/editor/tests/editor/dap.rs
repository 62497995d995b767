//! The debug adapter, driven by a scripted client.

use std::io::{BufReader, PipeReader, PipeWriter, Write as _, pipe};
use std::sync::Arc;
use std::thread::JoinHandle;

use legwork_editor::{dap, frames};
use legwork_runtime::Simulation;
use legwork_study::Library;
use serde_json::{Value, json};

struct Client {
    to: Option<PipeWriter>,
    from: BufReader<PipeReader>,
    server: JoinHandle<std::io::Result<()>>,
    count: i64,
    events: Vec<Value>,
}

impl Client {
    fn begin() -> Self {
        let (input, to) = pipe().unwrap();
        let (from, output) = pipe().unwrap();
        let server = std::thread::spawn(move || {
            dap::serve(Library::new(legwork_blocks::register), BufReader::new(input), output)
        });
        let from = BufReader::new(from);
        Self { to: Some(to), from, server, count: 0, events: Vec::new() }
    }

    /// A client of a run that stands before its first block.
    fn launched(arguments: Value) -> Self {
        let mut client = Self::begin();
        let told = client.ask("initialize", json!({ "adapterID": "legwork" }));
        assert_eq!(told["supportsStepBack"], true);
        client.ask("launch", arguments);
        client.event("initialized");
        client
    }

    fn standing(arguments: Value) -> Self {
        let mut client = Self::launched(arguments);
        client.ask("configurationDone", Value::Null);
        assert_eq!(client.event("stopped")["reason"], "entry");
        client
    }

    fn next(&mut self) -> Value {
        frames::read(&mut self.from).unwrap().expect("the adapter is there").unwrap()
    }

    fn answer(&mut self, command: &str, arguments: Value) -> Value {
        self.count += 1;
        let seq = self.count;
        let request =
            json!({ "seq": seq, "type": "request", "command": command, "arguments": arguments });
        frames::write(self.to.as_mut().unwrap(), &request).unwrap();
        loop {
            let message = self.next();
            if message["type"] == "response" && message["request_seq"] == seq {
                assert_eq!(message["command"], command);
                return message;
            }
            assert_eq!(message["type"], "event", "{message}");
            self.events.push(message);
        }
    }

    fn ask(&mut self, command: &str, arguments: Value) -> Value {
        let answer = self.answer(command, arguments);
        assert_eq!(answer["success"], true, "{answer}");
        answer["body"].clone()
    }

    /// The next event of this name.
    fn event(&mut self, name: &str) -> Value {
        loop {
            if let Some(at) = self.events.iter().position(|event| event["event"] == name) {
                return self.events.remove(at)["body"].clone();
            }
            let message = self.next();
            self.events.push(message);
        }
    }

    /// Goes on by a request; why it stopped, and where.
    fn go(&mut self, command: &str) -> (String, String) {
        self.ask(command, json!({ "threadId": 1 }));
        let stopped = self.event("stopped");
        let text = |key: &str| stopped[key].as_str().unwrap().to_owned();
        (text("reason"), text("description"))
    }

    fn evaluate(&mut self, expression: &str, context: &str) -> String {
        let arguments = json!({ "expression": expression, "context": context });
        self.ask("evaluate", arguments)["result"].as_str().unwrap().to_owned()
    }

    /// Name and value of each variable of a scope of the innermost frame.
    fn scope(&mut self, name: &str) -> (u64, Vec<(String, String)>) {
        let scopes = self.ask("scopes", json!({ "frameId": 1 }));
        let scope = scopes["scopes"].as_array().unwrap().iter().find(|one| one["name"] == name);
        let reference = scope.expect(name)["variablesReference"].as_u64().unwrap();
        (reference, self.variables(reference))
    }

    fn variables(&mut self, reference: u64) -> Vec<(String, String)> {
        let told = self.ask("variables", json!({ "variablesReference": reference }));
        let text = |one: &Value, key: &str| one[key].as_str().unwrap().to_owned();
        let list = told["variables"].as_array().unwrap();
        list.iter().map(|one| (text(one, "name"), text(one, "value"))).collect()
    }

    /// What opens under this name.
    fn inside(&mut self, reference: u64, name: &str) -> u64 {
        let told = self.ask("variables", json!({ "variablesReference": reference }));
        let list = told["variables"].as_array().unwrap();
        let one = list.iter().find(|one| one["name"] == name).expect(name);
        one["variablesReference"].as_u64().unwrap()
    }

    fn top(&mut self) -> Value {
        self.ask("stackTrace", json!({ "threadId": 1 }))["stackFrames"][0].clone()
    }

    fn close(mut self) -> std::io::Result<()> {
        self.to = None;
        self.server.join().expect("the adapter does not panic")
    }
}

const STAND: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../diagrams/quadruped/stand.ron");

/// The line, from 1, in which a block of the diagram stands.
fn line_of(block: &str) -> usize {
    let text = std::fs::read_to_string(STAND).unwrap();
    let entry = format!("\"{block}\": ");
    // A variant of the same name stands before.
    let lines: Vec<&str> = text.lines().collect();
    1 + lines.iter().rposition(|line| line.trim_start().starts_with(&entry)).expect(block)
}

struct Ramp(tempfile::TempDir);

impl Ramp {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let text = r#"Diagram(
    run: (stop: "1 s", step: "10 ms"),
    params: { "slope": Param(value: 1.0) },
    blocks: {
        "rate": Constant(value: "=slope"),
        "ramp": Integrator(in: { "u": "rate.y" }),
        "wave": Sine(amplitude: 1.0, frequency: "2.5 Hz"),
    },
)"#;
        std::fs::write(folder.path().join("ramp.ron"), text).unwrap();
        Self(folder)
    }

    fn launch(&self) -> Value {
        json!({ "program": self.0.path().join("ramp.ron").display().to_string() })
    }
}

#[test]
fn a_line_of_a_block_stops_before_it_and_the_block_can_be_looked_at() {
    let mut client = Client::launched(json!({ "program": STAND, "variants": { "qp": "lemke" } }));
    let line = line_of("pd");
    let lines = json!([{ "line": line }, { "line": line_of("contact") }, { "line": 1 }]);
    let told =
        client.ask("setBreakpoints", json!({ "source": { "path": STAND }, "breakpoints": lines }));
    let verified: Vec<bool> =
        told["breakpoints"].as_array().unwrap().iter().map(|one| one["verified"] == true).collect();
    assert_eq!(verified, [true, true, false], "{told}");
    client.ask("configurationDone", Value::Null);
    assert_eq!(client.event("stopped")["reason"], "entry");
    let mut seen = Vec::new();
    for _ in 0..2 {
        assert_eq!(client.go("continue").0, "breakpoint");
        let top = client.top();
        seen.push(top["name"].as_str().unwrap().to_owned());
    }
    assert!(seen[0].starts_with("output pd (JointPd)"), "{seen:?}");
    assert!(seen[1].starts_with("output contact."), "{seen:?}");
    // Inside of a mask its use is a frame around.
    let stack = client.ask("stackTrace", json!({ "threadId": 1 }));
    assert_eq!(stack["stackFrames"][1]["name"], "contact");
    assert_eq!(stack["stackFrames"][1]["line"], line_of("contact"));
    // Blocks of the mask that update stop it too.
    let top = loop {
        assert_eq!(client.go("continue").0, "breakpoint");
        let top = client.top();
        if top["name"].as_str().unwrap().starts_with("output pd") {
            break top;
        }
    };
    assert_eq!(top["line"], line);
    assert!(top["source"]["path"].as_str().unwrap().ends_with("stand.ron"));
    let (_, parameters) = client.scope("Parameters");
    assert!(parameters.contains(&("kp".to_owned(), "60 N*m/rad".to_owned())), "{parameters:?}");
    let (_, inputs) = client.scope("Inputs");
    assert_eq!(inputs[0].0, "s_ref");
    let (_, outputs) = client.scope("Outputs");
    assert!(outputs[0].1.ends_with("N*m"), "{outputs:?}");
    // A block on, and back: the same place.
    let here = client.top()["name"].clone();
    assert_eq!(client.go("next").0, "step");
    assert_ne!(client.top()["name"], here);
    assert_eq!(client.go("stepBack").0, "step");
    assert_eq!(client.top()["name"], here);
}

/// What is seen in the debugger are the bits of a run without one.
#[test]
fn a_condition_stops_where_a_headless_run_meets_it_with_the_same_bits() {
    let height = "body.state.base.position[2]";
    let condition = format!("{height} < 0.3");
    let mut client = Client::launched(json!({ "program": STAND }));
    let told = client.ask(
        "setFunctionBreakpoints",
        json!({ "breakpoints": [{ "name": condition }, { "name": "no.such > 1" }] }),
    );
    assert_eq!(told["breakpoints"][0]["verified"], true, "{told}");
    assert_eq!(told["breakpoints"][1]["verified"], false, "{told}");
    client.ask("configurationDone", Value::Null);
    client.event("stopped");
    assert_eq!(client.go("continue").0, "function breakpoint");
    // Forth and back on the way, it is the same.
    for command in ["next", "stepIn", "stepBack", "stepOut", "stepBack", "stepBack"] {
        client.go(command);
    }
    client.go("reverseContinue");
    assert_eq!(client.evaluate(&condition, "watch"), "true");
    let shown = client.evaluate(height, "hover");

    let library = Library::new(legwork_blocks::register);
    let model = library.open(STAND).unwrap().compile().into_model().unwrap();
    let mut simulation = Simulation::new(Arc::clone(model.program()));
    let signal = model.program().signals.iter().find(|one| one.path == "body.state").unwrap();
    let slot = signal.slots[0].range().start + 2;
    let mut found = None;
    while found.is_none() {
        let watch = std::cell::Cell::new(f64::NAN);
        // The outputs of a step are complete when it is observed.
        while simulation.cursor() != legwork_runtime::Cursor::Observe {
            simulation.advance().unwrap();
        }
        watch.set(simulation.arena()[slot]);
        found = (watch.get() < 0.3).then(|| watch.get());
        simulation.step().unwrap();
    }
    assert_eq!(shown, format!("{} m", found.unwrap()));
}

#[test]
fn back_and_forth_the_same_breakpoints_stop_the_run() {
    let ramp = Ramp::new();
    let mut client = Client::launched(ramp.launch());
    let wanted = json!({ "breakpoints": [{ "name": "wave.y > 0.5" }] });
    client.ask("setFunctionBreakpoints", wanted);
    client.ask("configurationDone", Value::Null);
    client.event("stopped");
    let mut forth = Vec::new();
    loop {
        let (reason, place) = client.go("continue");
        if reason != "function breakpoint" {
            break;
        }
        forth.push(place);
    }
    // Of a wave of 2.5 Hz in one second.
    assert_eq!(forth.len(), 3, "{forth:?}");
    let mut back = Vec::new();
    loop {
        let (reason, place) = client.go("reverseContinue");
        if reason == "entry" {
            break;
        }
        back.push(place);
    }
    back.reverse();
    assert_eq!(back, forth);
    assert_eq!(client.go("continue").1, forth[0]);
}

#[test]
fn a_breakpoint_stops_only_where_its_own_condition_holds() {
    let ramp = Ramp::new();
    let mut client = Client::launched(ramp.launch());
    let program = ramp.launch()["program"].clone();
    let wanted =
        json!([{ "line": 6, "condition": "ramp.y > 0.5" }, { "line": 7, "condition": "(" }]);
    let told = client
        .ask("setBreakpoints", json!({ "source": { "path": program }, "breakpoints": wanted }));
    assert_eq!(told["breakpoints"][0]["verified"], true, "{told}");
    assert_eq!(told["breakpoints"][1]["verified"], false, "{told}");
    client.ask("configurationDone", Value::Null);
    client.event("stopped");
    let (reason, place) = client.go("continue");
    assert_eq!(reason, "breakpoint");
    // The output of step 51 is 0.51; before step 52 it is above 0.5 for the first time.
    assert!(place.starts_with("t=0.51 s") || place.starts_with("t=0.52 s"), "{place}");
}

#[test]
fn data_that_changes_stops_and_parameters_are_set() {
    let ramp = Ramp::new();
    let mut client = Client::standing(ramp.launch());
    let info = client.ask("dataBreakpointInfo", json!({ "name": "rate.y" }));
    assert_eq!(info["dataId"], "rate.y");
    let info = client.ask("dataBreakpointInfo", json!({ "name": "no.such" }));
    assert_eq!(info["dataId"], Value::Null);
    client.evaluate("step 10", "repl");
    client.event("stopped");
    client.ask(
        "setDataBreakpoints",
        json!({ "breakpoints": [{ "dataId": "rate.y" }, { "dataId": "ramp.y", "condition": ">= 0.4" }] }),
    );
    // The rate is constant until it is set.
    assert!(client.go("continue").1.starts_with("t=0.4"));
    // A constant block runs once: its parameters are found among all blocks.
    let stack = client.ask("stackTrace", json!({ "threadId": 1 }));
    let scopes = client.ask("scopes", json!({ "frameId": stack["totalFrames"] }));
    let blocks = scopes["scopes"][0]["variablesReference"].as_u64().unwrap();
    let rate = client.inside(blocks, "rate");
    let reference = client.inside(rate, "parameters");
    assert_eq!(client.variables(reference), [("value".to_owned(), "1".to_owned())]);
    let set = json!({ "variablesReference": reference, "name": "value", "value": "3" });
    client.ask("setVariable", set);
    assert_eq!(client.go("continue").0, "data breakpoint");
    assert_eq!(client.evaluate("rate.y", "watch"), "3");
    assert_eq!(client.evaluate("2*rate.y + 1", "watch"), "7");
    assert_eq!(client.evaluate("rate.y == 3 and ramp.y < 1", "watch"), "true");
    let scopes = client.ask("scopes", json!({ "frameId": stack["totalFrames"] }));
    let wrong = json!({ "variablesReference": scopes["scopes"][0]["variablesReference"], "name": "value", "value": "3" });
    assert_eq!(client.answer("setVariable", wrong)["success"], false);
}

#[test]
fn a_run_that_goes_on_is_paused_and_a_client_that_vanishes_ends_it() {
    let launch = json!({ "program": STAND, "until": "1000 s", "stopOnEntry": false });
    let mut client = Client::launched(launch.clone());
    client.ask("configurationDone", Value::Null);
    assert_eq!(client.answer("next", json!({ "threadId": 1 }))["success"], false);
    assert_eq!(client.go("pause").0, "pause");
    assert_eq!(client.go("next").0, "step");
    client.ask("continue", json!({ "threadId": 1 }));
    client.close().unwrap();
    let mut client = Client::launched(launch);
    client.ask("configurationDone", Value::Null);
    client.ask("disconnect", Value::Null);
    client.close().unwrap();
}

#[test]
fn a_diagram_with_mistakes_is_refused_with_all_of_them() {
    let ramp = Ramp::new();
    let path = ramp.0.path().join("wrong.ron");
    let text = std::fs::read_to_string(ramp.0.path().join("ramp.ron")).unwrap();
    std::fs::write(&path, text.replace("rate.y", "rate.z")).unwrap();
    let mut client = Client::begin();
    client.ask("initialize", json!({}));
    let answer = client.answer("launch", json!({ "program": path }));
    assert_eq!(answer["success"], false);
    let message = answer["message"].as_str().unwrap();
    assert!(message.contains("wrong.ron:6:") && message.contains("no output `z`"), "{message}");
    let answer = client.answer("launch", json!({ "program": "/no/such.ron" }));
    assert_eq!(answer["success"], false);
}

#[test]
fn wrong_requests_are_refused_and_nothing_stops_the_adapter() {
    const ALL: [&str; 26] = [
        "launch",
        "attach",
        "configurationDone",
        "setBreakpoints",
        "setFunctionBreakpoints",
        "setExceptionBreakpoints",
        "dataBreakpointInfo",
        "setDataBreakpoints",
        "threads",
        "continue",
        "pause",
        "next",
        "stepIn",
        "stepOut",
        "stepBack",
        "reverseContinue",
        "stackTrace",
        "scopes",
        "variables",
        "setVariable",
        "evaluate",
        "completions",
        "nonsense",
        "",
        "initialize",
        "setExpression",
    ];
    let wrong = [
        json!(null),
        json!([]),
        json!({ "program": 3, "breakpoints": 3, "frameId": -1, "variablesReference": 1e300 }),
        json!({ "source": { "path": "x" }, "breakpoints": [{ "line": -1 }, 3], "name": "\u{0}" }),
        json!({ "source": { "path": "x" }, "breakpoints": [{ "line": u64::MAX, "name": "(" }] }),
        json!({ "expression": "((((", "frameId": u64::MAX, "variablesReference": u64::MAX }),
        json!({ "expression": "back 99999999", "startFrame": u64::MAX, "levels": u64::MAX }),
        json!({ "text": "é", "column": u64::MAX, "name": "x", "value": "y" }),
    ];
    let ramp = Ramp::new();
    for launched in [false, true] {
        let mut client = match launched {
            true => Client::standing(ramp.launch()),
            false => Client::begin(),
        };
        for command in ALL {
            for arguments in &wrong {
                client.answer(command, arguments.clone());
            }
        }
        for text in ["{", "[]", "3", "{\"type\":\"request\"}", "\"\""] {
            let to = client.to.as_mut().unwrap();
            write!(to, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        }
        client.answer("threads", Value::Null);
        client.close().unwrap();
    }
}
