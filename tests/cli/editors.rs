//! What editors start: that it speaks over standard input and output, and ends with its client.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::support::{Done, command, done, repository};

/// Says all messages to the command, closes its input and waits.
fn talk(subcommand: &str, messages: &[Value]) -> Done {
    let mut child = command(repository(), &[subcommand])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    for message in messages {
        let text = message.to_string();
        write!(to, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
    }
    drop(to);
    done(child.wait_with_output().unwrap())
}

#[test]
fn the_language_server_ends_well_when_it_is_asked_to() {
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {} });
    let shutdown = json!({ "jsonrpc": "2.0", "id": 2, "method": "shutdown" });
    let exit = json!({ "jsonrpc": "2.0", "method": "exit" });
    let ended = talk("lsp", &[initialize.clone(), shutdown, exit]);
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert!(ended.out.contains("\"completionProvider\""), "{}", ended.out);
    assert!(ended.err.is_empty(), "{}", ended.err);
    // A client that is gone without a word.
    let left = talk("lsp", &[initialize]);
    assert_eq!(left.code, 64, "{}", left.err);
}

#[test]
fn the_debug_adapter_steps_a_diagram_and_ends_when_it_is_asked_to() {
    let request = |seq: u64, command: &str, arguments: Value| json!({ "seq": seq, "type": "request", "command": command, "arguments": arguments });
    let ended = talk(
        "dap",
        &[
            request(1, "initialize", json!({})),
            request(2, "launch", json!({ "program": "help:start" })),
            request(3, "configurationDone", Value::Null),
            request(4, "next", json!({ "threadId": 1 })),
            request(5, "disconnect", Value::Null),
        ],
    );
    assert_eq!(ended.code, 0, "{}", ended.err);
    assert_eq!(ended.out.matches("\"event\":\"stopped\"").count(), 2, "{}", ended.out);
    assert!(!ended.out.contains("\"success\":false"), "{}", ended.out);
}

/// What takes long is left when the client is gone, although it was asked for before.
#[test]
fn a_debug_adapter_without_a_client_does_not_go_on() {
    let request = |seq: u64, command: &str, arguments: Value| json!({ "seq": seq, "type": "request", "command": command, "arguments": arguments });
    let begin = Instant::now();
    let left = talk(
        "dap",
        &[
            request(1, "initialize", json!({})),
            request(
                2,
                "launch",
                json!({ "program": "help:start", "set": { "run.stop": "1e9 s" } }),
            ),
            request(3, "configurationDone", Value::Null),
            request(4, "evaluate", json!({ "expression": "goto 1e8 s", "context": "repl" })),
        ],
    );
    assert!(begin.elapsed() < Duration::from_secs(20), "{}", left.out);
}

/// What is wrong with a text is told 50 ms after a change or sooner: the median of several changes
/// of a diagram with a robot, on a quiet machine; ten times that whatever else it does.
#[test]
fn mistakes_are_told_within_50_milliseconds() {
    let mut child = command(repository(), &["lsp"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    let mut from = BufReader::new(child.stdout.take().unwrap());
    let mut say = |message: Value| {
        let text = message.to_string();
        write!(to, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        to.flush().unwrap();
    };
    let mut told = || loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(from.read_line(&mut line).unwrap() > 0, "the server has ended");
            match line.trim().split_once(": ") {
                Some((_, value)) => length = value.parse().unwrap_or(length),
                None => break,
            }
        }
        let mut bytes = vec![0; length];
        from.read_exact(&mut bytes).unwrap();
        let message: Value = serde_json::from_slice(&bytes).unwrap();
        if message["method"] == "textDocument/publishDiagnostics" {
            return message["params"]["diagnostics"].as_array().unwrap().len();
        }
    };
    let notice = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "method": method, "params": params });
    let file = repository().join("diagrams/quadruped/trot.ron");
    let (uri, text) =
        (format!("file://{}", file.display()), std::fs::read_to_string(file).unwrap());
    say(json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {} }));
    say(notice("initialized", json!({})));
    let document = json!({ "uri": uri, "languageId": "legwork", "version": 1, "text": text });
    say(notice("textDocument/didOpen", json!({ "textDocument": document })));
    assert_eq!(told(), 0);
    let wrong = text.replacen("body.state", "body.stat", 1);
    let mut times: Vec<Duration> = (0..11)
        .map(|i| {
            let (text, mistakes) = if i % 2 == 0 { (&wrong, 1) } else { (&text, 0) };
            let begin = Instant::now();
            let document = json!({ "uri": uri, "version": i + 2 });
            let changes = json!([{ "text": text }]);
            let params = json!({ "textDocument": document, "contentChanges": changes });
            say(notice("textDocument/didChange", params));
            assert_eq!(told() > 0, mistakes > 0);
            begin.elapsed()
        })
        .collect();
    times.sort();
    let is_quiet = std::env::var("SPEED").is_ok_and(|speed| speed == "1");
    let most = Duration::from_millis(if is_quiet { 50 } else { 500 });
    assert!(times[5] <= most, "{times:?}");
    say(json!({ "jsonrpc": "2.0", "id": 2, "method": "shutdown" }));
    say(notice("exit", Value::Null));
    assert!(child.wait().unwrap().success());
}

/// A client that takes nothing more and says nothing more has vanished.
#[test]
fn a_client_that_is_killed_ends_the_server() {
    let mut child = command(repository(), &["lsp"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    drop((child.stdin.take(), child.stdout.take()));
    let begin = Instant::now();
    loop {
        if child.try_wait().unwrap().is_some() {
            return;
        }
        assert!(begin.elapsed() < Duration::from_secs(20), "the server is still there");
        std::thread::sleep(Duration::from_millis(10));
    }
}
