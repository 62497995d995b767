//! What an editor asks: about damaged texts at any place, and in damaged messages.

use std::io::Cursor;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use legwork_editor::{Definition, Document, Service, dap, frames, lsp};
use legwork_study::Library;
use serde_json::Value;

use crate::Target;
use crate::mutate::{self, Random};
use crate::targets::{WORDS, corpus};

/// How many inputs there are to one that is compiled too.
const COMPILED: usize = 16;
/// Places of a text that are asked about.
const PLACES: usize = 4;

/// Damaged texts, asked about at random places.
pub(crate) struct Texts {
    files: Vec<(PathBuf, Vec<u8>)>,
    service: Service,
    at: std::cell::RefCell<PathBuf>,
}

impl Texts {
    pub(crate) fn new() -> Self {
        let folders = ["diagrams", "tests/data/run", "tests/data/masks", "blocks/masks"];
        let mut files = corpus(&folders, "ron");
        files.extend(corpus(&["diagrams"], "mask"));
        files.extend(corpus(&["diagrams"], "study"));
        let service = Service::new(Library::new(legwork_blocks::register));
        Self { files, service, at: PathBuf::new().into() }
    }
}

/// Whether bytes of a text are whole characters of it.
fn is_part(text: &str, range: &Range<usize>) -> Result<(), String> {
    match text.get(range.clone()) {
        Some(_) => Ok(()),
        None => Err(format!("{range:?} is no part of the text")),
    }
}

impl Target for Texts {
    fn input(&self, random: &mut Random) -> Vec<u8> {
        let (path, bytes) = &self.files[random.below(self.files.len())];
        let (_, other) = &self.files[random.below(self.files.len())];
        self.at.replace(path.clone());
        mutate::text(random, bytes, other, &WORDS)
    }

    fn run(&self, input: &[u8], random: &mut Random) -> Result<&'static str, String> {
        let text = String::from_utf8_lossy(input);
        let path = self.at.borrow().display().to_string();
        let document = Document::new(&path, &text);
        let diagram = self.service.library().diagram(&path, text.as_bytes());
        let survey = random.once_in(COMPILED).then(|| self.service.survey(&diagram));
        let survey = survey.as_ref();
        let mut said = "nothing is said";
        for _ in 0..PLACES {
            let mut at = random.below(text.len() + 1);
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            for one in self.service.complete(&document, at, &diagram, survey) {
                is_part(&text, &one.range)?;
                if !(one.range.start..=one.range.end).contains(&at) {
                    return Err(format!("{one:?} is not at {at}"));
                }
                said = "something is said";
            }
            if let Some(hover) = self.service.hover(&document, at, &diagram, survey) {
                is_part(&text, &hover.range)?;
            }
            if let Some(Definition::Here(range)) =
                self.service.define(&document, at, &diagram, survey)
            {
                is_part(&text, &range)?;
            }
        }
        for symbol in document.outline() {
            is_part(&text, &symbol.range)?;
        }
        Ok(said)
    }
}

const TEXT: &str =
    r#"Diagram(run: (stop: \"1 s\", step: \"10 ms\"), blocks: { \"é😀\": Constant(value: 1.0) })"#;

/// What an editor sends to the language server.
const LSP: [&str; 12] = [
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#,
    r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#,
    r#"{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///a.ron","languageId":"legwork","version":1,"text":"TEXT"}}}"#,
    r#"{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///a.ron","version":2},"contentChanges":[{"range":{"start":{"line":0,"character":3},"end":{"line":0,"character":90}},"text":"😀"}]}}"#,
    r#"{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"file:///a.ron","version":3},"contentChanges":[{"text":"TEXT"}]}}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"textDocument/completion","params":{"textDocument":{"uri":"file:///a.ron"},"position":{"line":0,"character":60}}}"#,
    r#"{"jsonrpc":"2.0","id":"3","method":"textDocument/hover","params":{"textDocument":{"uri":"file:///a.ron"},"position":{"line":0,"character":75}}}"#,
    r#"{"jsonrpc":"2.0","id":4,"method":"textDocument/definition","params":{"textDocument":{"uri":"file:///a.ron"},"position":{"line":4294967295,"character":1}}}"#,
    r#"{"jsonrpc":"2.0","id":5,"method":"textDocument/documentSymbol","params":{"textDocument":{"uri":"file:///a.ron"}}}"#,
    r#"{"jsonrpc":"2.0","method":"textDocument/didSave","params":{"textDocument":{"uri":"file:///a.ron"}}}"#,
    r#"{"jsonrpc":"2.0","method":"textDocument/didClose","params":{"textDocument":{"uri":"file:///a.ron"}}}"#,
    r#"{"jsonrpc":"2.0","id":6,"method":"shutdown"}"#,
];

/// What a debugger sends to the debug adapter.
const DAP: [&str; 22] = [
    r#"{"seq":1,"type":"request","command":"initialize","arguments":{"linesStartAt1":true}}"#,
    r#"{"seq":2,"type":"request","command":"launch","arguments":{"program":"help:start","set":{"run.stop":"1 s"}}}"#,
    r#"{"seq":3,"type":"request","command":"setBreakpoints","arguments":{"source":{"path":"help:start"},"breakpoints":[{"line":6},{"line":7,"condition":"t > 0.5[s]"}]}}"#,
    r#"{"seq":4,"type":"request","command":"setFunctionBreakpoints","arguments":{"breakpoints":[{"name":"t > 0.1[s]"}]}}"#,
    r#"{"seq":5,"type":"request","command":"configurationDone"}"#,
    r#"{"seq":6,"type":"request","command":"continue","arguments":{"threadId":1}}"#,
    r#"{"seq":7,"type":"request","command":"pause","arguments":{"threadId":1}}"#,
    r#"{"seq":8,"type":"request","command":"next","arguments":{"threadId":1}}"#,
    r#"{"seq":9,"type":"request","command":"stepIn","arguments":{"threadId":1}}"#,
    r#"{"seq":10,"type":"request","command":"stepOut","arguments":{"threadId":1}}"#,
    r#"{"seq":11,"type":"request","command":"stepBack","arguments":{"threadId":1}}"#,
    r#"{"seq":12,"type":"request","command":"stackTrace","arguments":{"threadId":1,"startFrame":0,"levels":3}}"#,
    r#"{"seq":13,"type":"request","command":"scopes","arguments":{"frameId":1}}"#,
    r#"{"seq":14,"type":"request","command":"variables","arguments":{"variablesReference":1,"start":0,"count":5}}"#,
    r#"{"seq":15,"type":"request","command":"variables","arguments":{"variablesReference":5}}"#,
    r#"{"seq":16,"type":"request","command":"setVariable","arguments":{"variablesReference":4,"name":"gain","value":"2"}}"#,
    r#"{"seq":17,"type":"request","command":"evaluate","arguments":{"expression":"where","context":"repl"}}"#,
    r#"{"seq":18,"type":"request","command":"evaluate","arguments":{"expression":"2*t","context":"watch"}}"#,
    r#"{"seq":19,"type":"request","command":"evaluate","arguments":{"expression":"goto 0.2 s"}}"#,
    r#"{"seq":20,"type":"request","command":"setDataBreakpoints","arguments":{"breakpoints":[{"dataId":"x.y","condition":"> 0"}]}}"#,
    r#"{"seq":21,"type":"request","command":"reverseContinue","arguments":{"threadId":1}}"#,
    r#"{"seq":22,"type":"request","command":"disconnect"}"#,
];

/// Damaged messages in damaged frames.
pub(crate) struct Messages {
    messages: &'static [&'static str],
    serve: fn(&Arc<Service>, Vec<u8>) -> Vec<u8>,
    service: Arc<Service>,
}

impl Messages {
    pub(crate) fn lsp() -> Self {
        let serve = |service: &Arc<Service>, input| {
            let mut output = Vec::new();
            // What has no frames ends it.
            let _ = lsp::serve(Arc::clone(service), Cursor::new(input), &mut output);
            output
        };
        let service = Arc::new(Service::new(Library::new(legwork_blocks::register)));
        Self { messages: &LSP, serve, service }
    }
}

impl Messages {
    pub(crate) fn dap() -> Self {
        let serve = |service: &Arc<Service>, input| {
            let mut output = Vec::new();
            // What has no frames ends it.
            let _ = dap::serve(service.library().clone(), Cursor::new(input), &mut output);
            output
        };
        Self { messages: &DAP, serve, ..Self::lsp() }
    }
}

impl Target for Messages {
    fn input(&self, random: &mut Random) -> Vec<u8> {
        let mut input = Vec::new();
        for message in self.messages {
            if random.once_in(8) {
                continue;
            }
            let message = message.replace("TEXT", TEXT);
            let other = self.messages[random.below(self.messages.len())];
            let message = match random.once_in(3) {
                true => mutate::text(random, message.as_bytes(), other.as_bytes(), &WORDS),
                false => message.into_bytes(),
            };
            let length = if random.once_in(60) { random.below(1 << 40) } else { message.len() };
            input.extend_from_slice(format!("Content-Length: {length}\r\n\r\n").as_bytes());
            input.extend_from_slice(&message);
        }
        if random.once_in(10) { mutate::bytes(random, &input, &input) } else { input }
    }

    fn run(&self, input: &[u8], _: &mut Random) -> Result<&'static str, String> {
        let output = (self.serve)(&self.service, input.to_vec());
        let mut rest = Cursor::new(output);
        let mut answers = 0;
        while let Some(message) = frames::read(&mut rest).map_err(|error| error.to_string())? {
            let message: Value = message?;
            answers += usize::from(message.get("result").is_some() || message["success"] == true);
        }
        Ok(if answers > 1 { "answered" } else { "refused" })
    }
}
