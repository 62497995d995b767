//! What editors start: that it speaks over standard input and output, and ends with its client.

use std::io::Write as _;
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
