//! The language server: messages in, messages out.
//!
//! One thread reads, one compiles, the server's own answers: what is asked of a text never waits
//! for a compilation but the first. Of several texts that wait the newest is compiled. Masks and
//! patches are looked at by themselves, unless a diagram that reads them is open too.

mod answer;
mod compiler;
mod convert;
mod state;

use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

use crate::frames::{self, Incoming};
use crate::service::Service;
use compiler::{Compiled, Compiler};
use state::State;

/// What the server hears.
enum Event {
    Client(Incoming),
    Compiled(Box<Compiled>),
}

/// Errors of JSON-RPC and LSP.
#[derive(Debug, Clone, Copy)]
enum Code {
    Parse = -32700,
    InvalidRequest = -32600,
    MethodNotFound = -32601,
    InvalidParams = -32602,
    NotInitialized = -32002,
}

/// A request that cannot be answered.
struct Refusal(Code, String);

/// Serves one client until it leaves; whether it said so before.
///
/// # Errors
/// If what it sends has no frames, or nothing can be written.
pub fn serve(
    service: Arc<Service>,
    input: impl BufRead + Send + 'static,
    mut output: impl Write,
) -> io::Result<bool> {
    let (events, heard) = channel();
    let client = events.clone();
    frames::read_all(input, move |incoming| client.send(Event::Client(incoming)).is_ok());
    let compiler = Compiler::begin(Arc::clone(&service), move |compiled| {
        events.send(Event::Compiled(Box::new(compiled))).is_ok()
    });
    let state = State::new(service, compiler);
    talk(state, &heard, &mut output)
}

fn talk(mut state: State, heard: &Receiver<Event>, output: &mut impl Write) -> io::Result<bool> {
    while let Ok(event) = heard.recv() {
        match event {
            Event::Client(Incoming::Closed(Ok(()))) => return Ok(false),
            Event::Client(Incoming::Closed(Err(error))) => return Err(error),
            Event::Client(Incoming::Garbage(why)) => {
                let refusal = Refusal(Code::Parse, why);
                frames::write(output, &reply(&Value::Null, Err(refusal)))?;
            }
            Event::Compiled(compiled) => state.take(*compiled),
            Event::Client(Incoming::Message(message)) => {
                let method = message["method"].as_str();
                if method == Some("exit") {
                    return Ok(state.is_shut_down());
                }
                if let Some(answer) = hear(&mut state, &message) {
                    frames::write(output, &answer)?;
                }
            }
        }
        for notification in state.outbox.drain(..) {
            frames::write(output, &notification)?;
        }
    }
    Ok(false)
}

/// The answer to a message, if it is a request.
fn hear(state: &mut State, message: &Value) -> Option<Value> {
    let id = message.get("id").cloned();
    let params = message.get("params").cloned().unwrap_or(Value::Null);
    match (message["method"].as_str(), id) {
        (Some(method), Some(id)) => Some(reply(&id, state.request(method, params))),
        (Some(method), None) => {
            state.notice(method, params);
            None
        }
        // An answer to a request of ours: there are none.
        (None, Some(_)) if message.get("result").or(message.get("error")).is_some() => None,
        (None, id) => {
            let refusal = Refusal(Code::InvalidRequest, "expected a method".to_owned());
            Some(reply(&id.unwrap_or(Value::Null), Err(refusal)))
        }
    }
}

fn reply(id: &Value, outcome: Result<Value, Refusal>) -> Value {
    match outcome {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(Refusal(code, message)) => {
            let error = json!({ "code": code as i32, "message": message });
            json!({ "jsonrpc": "2.0", "id": id, "error": error })
        }
    }
}
