//! The debug adapter: a run of a diagram as a debugger of an editor sees it.
//!
//! One thread reads, one answers and runs. A run goes on in stretches, between which it is heard
//! whether somebody wants something else; what stops it is the session's: blocks, conditions,
//! faults.

mod adapter;
mod breakpoints;
mod launch;
mod requests;
mod reverse;
mod stack;
mod variables;

use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::Duration;

use legwork_study::{Cancel, Library};
use serde_json::{Value, json};

use crate::frames::{self, Incoming};
use adapter::Adapter;

/// How long a request may take that began before somebody wanted an end.
const PATIENCE: Duration = Duration::from_millis(500);

/// Serves one client until it leaves.
///
/// # Errors
/// If what it sends has no frames, or nothing can be written.
pub fn serve(
    library: Library,
    input: impl BufRead + Send + 'static,
    mut output: impl Write,
) -> io::Result<()> {
    let (events, heard) = channel();
    let cancel = Cancel::default();
    let waiting = Arc::<AtomicUsize>::default();
    let (stop, more) = (cancel.clone(), Arc::clone(&waiting));
    frames::read_all(input, move |incoming| {
        if ends(&incoming) {
            more.fetch_add(1, Ordering::SeqCst);
            stop.cancel();
        }
        events.send(incoming).is_ok()
    });
    // Dropped, it ends the watch.
    let progress = watch(cancel.clone(), Arc::clone(&waiting));
    let mut adapter = Adapter::new(library, cancel);
    let mut sequence = 0_u64;
    while let Some(event) = next(&mut adapter, &heard) {
        // The watch outlives this.
        let _ = progress.send(());
        if ends(&event) {
            waiting.fetch_sub(1, Ordering::SeqCst);
        }
        match event {
            Incoming::Closed(outcome) => return outcome,
            Incoming::Garbage(why) => {
                adapter.say("stderr", &format!("a message is no JSON: {why}\n"));
            }
            Incoming::Message(message) => hear(&mut adapter, &message),
        }
        for mut message in adapter.outbox.drain(..) {
            sequence += 1;
            message["seq"] = sequence.into();
            frames::write(&mut output, &message)?;
        }
        if adapter.is_over() {
            return Ok(());
        }
    }
    Ok(())
}

/// What is asked for before somebody wants an end takes that back when it begins: it may be short,
/// as in a script that is read at once. What then takes long is cancelled again.
fn watch(cancel: Cancel, waiting: Arc<AtomicUsize>) -> Sender<()> {
    let (progress, idle) = channel();
    std::thread::spawn(move || {
        loop {
            match idle.recv_timeout(PATIENCE) {
                Err(RecvTimeoutError::Timeout) if waiting.load(Ordering::SeqCst) > 0 => {
                    cancel.cancel();
                }
                Err(RecvTimeoutError::Disconnected) => return,
                _ => {}
            }
        }
    });
    progress
}

/// The next event; while a run goes on, nothing is waited for.
fn next(adapter: &mut Adapter, heard: &Receiver<Incoming>) -> Option<Incoming> {
    while adapter.is_going() && adapter.outbox.is_empty() {
        match heard.try_recv() {
            Ok(event) => return Some(event),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => adapter.stretch(),
        }
    }
    if adapter.outbox.is_empty() {
        return heard.recv().ok();
    }
    // Something is to be said first.
    Some(heard.try_recv().unwrap_or(Incoming::Message(Value::Null)))
}

/// Whether what goes on is cancelled.
fn ends(incoming: &Incoming) -> bool {
    match incoming {
        Incoming::Message(message) => {
            let command = message["command"].as_str().unwrap_or_default();
            ["pause", "terminate", "disconnect"].contains(&command)
        }
        Incoming::Closed(_) => true,
        Incoming::Garbage(_) => false,
    }
}

fn hear(adapter: &mut Adapter, message: &Value) {
    if message.is_null() {
        return;
    }
    let command = message["command"].as_str().filter(|_| message["type"] == "request");
    let Some(command) = command else {
        // Answers to requests of ours: there are none.
        if message["type"] != "response" {
            adapter.say("stderr", "a message is no request\n");
        }
        return;
    };
    let arguments = message.get("arguments").cloned().unwrap_or(Value::Null);
    let outcome = adapter.request(command, &arguments);
    let mut response = json!({
        "type": "response", "request_seq": message["seq"], "command": command,
        "success": outcome.is_ok(),
    });
    match outcome {
        Ok(body) if body.is_null() => {}
        Ok(body) => response["body"] = body,
        Err(why) => {
            let error = json!({ "id": 1, "format": "{why}", "variables": { "why": why } });
            response["message"] = why.into();
            response["body"] = json!({ "error": error });
        }
    }
    // What a request causes comes behind its answer.
    let at = adapter.answered;
    adapter.outbox.insert(at.min(adapter.outbox.len()), response);
    adapter.after(command);
}
