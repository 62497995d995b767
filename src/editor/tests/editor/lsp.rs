//! The language server, driven by a scripted client.

use std::io::{BufReader, PipeReader, PipeWriter, Write as _, pipe};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use legwork_editor::{Service, frames, lsp};
use legwork_study::Library;
use serde_json::{Value, json};

/// A client and the thread that serves it.
struct Client {
    to: Option<PipeWriter>,
    from: BufReader<PipeReader>,
    server: JoinHandle<std::io::Result<bool>>,
    count: i64,
    /// Notifications that came while an answer was waited for.
    heard: Vec<Value>,
}

impl Client {
    fn begin() -> Self {
        let (input, to) = pipe().unwrap();
        let (from, output) = pipe().unwrap();
        let server = std::thread::spawn(move || {
            let service = Arc::new(Service::new(Library::new(legwork_blocks::register)));
            lsp::serve(service, BufReader::new(input), output)
        });
        let from = BufReader::new(from);
        Self { to: Some(to), from, server, count: 0, heard: Vec::new() }
    }

    fn ready() -> Self {
        let mut client = Self::begin();
        let snippets = json!({ "completionItem": { "snippetSupport": true } });
        let capabilities = json!({ "textDocument": { "completion": snippets } });
        let told = client.ask("initialize", json!({ "capabilities": capabilities }));
        assert_eq!(told["capabilities"]["textDocumentSync"]["change"], 2);
        client.tell("initialized", json!({}));
        client
    }

    fn send(&mut self, message: &Value) {
        frames::write(self.to.as_mut().unwrap(), message).unwrap();
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn next(&mut self) -> Value {
        frames::read(&mut self.from).unwrap().expect("the server is there").unwrap()
    }

    /// The whole answer to a request.
    fn answer(&mut self, method: &str, params: Value) -> Value {
        self.count += 1;
        let id = self.count;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.next();
            if message["id"] == id {
                return message;
            }
            self.heard.push(message);
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let answer = self.answer(method, params);
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    fn open(&mut self, uri: &str, text: &str) {
        let item = json!({ "uri": uri, "languageId": "legwork", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": item }));
    }

    /// The diagnostics that are published next of a file, whatever else is.
    fn diagnostics(&mut self, uri: &str) -> Vec<Value> {
        loop {
            let found = self.heard.iter().position(|message| message["params"]["uri"] == uri);
            let message = match found {
                Some(at) => self.heard.remove(at),
                None => self.next(),
            };
            if message["params"]["uri"] == uri {
                return message["params"]["diagnostics"].as_array().unwrap().clone();
            }
            self.heard.push(message);
        }
    }

    /// The diagnostics of a file as soon as they are what is wanted.
    fn until(&mut self, uri: &str, is_wanted: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        loop {
            let found = self.diagnostics(uri);
            if is_wanted(&found) {
                return found;
            }
        }
    }

    fn close(mut self) -> std::io::Result<bool> {
        self.to = None;
        self.server.join().expect("the server does not panic")
    }
}

fn at(uri: &str, text: &str, place: &str) -> Value {
    let offset = text.find(place).expect(place);
    let before = &text[..offset];
    let line = before.matches('\n').count();
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let character = before[start..].encode_utf16().count();
    json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": character } })
}

const URI: &str = "file:///nowhere/a%20b.ron";

/// Characters of one and of two UTF-16 units stand in front of what is looked at.
const TEXT: &str = r#"Diagram(
    format: 2,
    run: (stop: "1 s", step: "10 ms"),
    blocks: {
        /* é😀 */ "one": Constant(value: 1.0), "x": Integrator(in: { "u": "one.y" }),
    },
)
"#;

#[test]
fn mistakes_are_published_with_their_places_and_go_when_they_are_mended() {
    let mut client = Client::ready();
    client.open(URI, &TEXT.replace("one.y", "one.z"));
    let found = client.until(URI, |found| !found.is_empty());
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["code"], "unknown-port");
    assert_eq!(found[0]["severity"], 1);
    let place = at(URI, TEXT, "one.y\"")["position"].clone();
    assert_eq!(found[0]["range"]["start"], place);
    let hover = client.ask("textDocument/hover", at(URI, &TEXT.replace("one.y", "one.z"), "ne.z"));
    let markdown = hover["contents"]["value"].as_str().unwrap();
    assert!(markdown.starts_with(&format!("**{}**: ", found[0]["code"].as_str().unwrap())));
    // The one letter is changed, as an editor says it.
    let letter = at(URI, &TEXT.replace("one.y", "one.z"), "z\" }")["position"].clone();
    let mut end = letter.clone();
    end["character"] = (letter["character"].as_u64().unwrap() + 1).into();
    let change = json!({ "range": { "start": letter, "end": end }, "text": "y" });
    let identifier = json!({ "uri": URI, "version": 2 });
    client.tell(
        "textDocument/didChange",
        json!({ "textDocument": identifier, "contentChanges": [change] }),
    );
    client.until(URI, <[Value]>::is_empty);
    let hover = client.ask("textDocument/hover", at(URI, TEXT, "ne.y"));
    let markdown = hover["contents"]["value"].as_str().unwrap();
    assert!(markdown.contains("one: Constant"), "{markdown}");
    assert_eq!(hover["range"]["start"], at(URI, TEXT, "one.y")["position"]);
    assert_eq!(client.ask("shutdown", Value::Null), Value::Null);
    client.tell("exit", Value::Null);
    assert!(client.close().unwrap());
}

/// A law of the service: it says of every shipped diagram, mask by mask, what `legwork check` says.
#[test]
fn it_says_what_check_says_of_the_shipped_mistakes() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/errors");
    let library = Library::new(legwork_blocks::register);
    let mut client = Client::ready();
    let mut names: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|one| one.unwrap().path()).collect();
    names.retain(|path| path.extension().is_some_and(|found| found == "ron"));
    names.sort();
    assert!(names.len() > 50);
    let mut compared = 0;
    for path in names.iter().step_by(3) {
        let diagram = library.open(path).unwrap();
        let Ok(text) = std::str::from_utf8(diagram.text()) else { continue };
        if diagram.is_study() || !text.contains("Diagram(") {
            continue;
        }
        let checked = diagram.check();
        let mut expected: Vec<(String, u64)> = checked
            .findings
            .list("--variant ")
            .into_iter()
            .filter(|(one, sources)| sources.name(one.primary.span.file) == diagram.name())
            .map(|(one, sources)| {
                let line = sources.positions(one.primary.span).0.line;
                (one.code.to_string(), line as u64 - 1)
            })
            .collect();
        expected.sort();
        let uri = format!("file://{}", path.display());
        client.open(&uri, text);
        let found = |found: &[Value]| {
            let mut list: Vec<(String, u64)> = found
                .iter()
                .filter(|one| !one["message"].as_str().unwrap().starts_with("std:"))
                .map(|one| {
                    let line = one["range"]["start"]["line"].as_u64().unwrap();
                    (one["code"].as_str().unwrap().to_owned(), line)
                })
                .collect();
            list.sort();
            list
        };
        client.until(&uri, |list| found(list) == expected);
        client.tell("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
        compared += 1;
    }
    assert!(compared > 20, "{compared}");
}

#[test]
fn completion_is_by_snippets_and_works_in_a_broken_text() {
    let mut client = Client::ready();
    let broken = TEXT.replace("\"one.y\" }),", "\"one.");
    client.open(URI, &broken);
    let mut params = at(URI, &broken, "one.\n");
    params["position"]["character"] =
        (params["position"]["character"].as_u64().unwrap() + 4).into();
    let found = client.ask("textDocument/completion", params);
    let items = found["items"].as_array().unwrap();
    assert_eq!(items[0]["label"], "y", "{items:?}");
    assert_eq!(items[0]["textEdit"]["newText"], "y");
    let text = TEXT.replace("\"x\": Integrator", "\"x\": Inte");
    client.open(URI, &text);
    let mut params = at(URI, &text, "Inte(");
    params["position"]["character"] =
        (params["position"]["character"].as_u64().unwrap() + 4).into();
    let found = client.ask("textDocument/completion", params);
    let items = found["items"].as_array().unwrap();
    let one = items.iter().find(|one| one["label"] == "Integrator").unwrap();
    assert_eq!(one["textEdit"]["newText"], "Integrator(in: { $0 })");
    let symbols =
        client.ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": URI } }));
    let blocks = symbols.as_array().unwrap().iter().find(|one| one["name"] == "blocks").unwrap();
    assert_eq!(blocks["children"][0]["detail"], "Constant");
}

/// What is wrong with a mask by the diagram that uses it stands in the mask, unsaved texts count,
/// and definitions lead there.
#[test]
fn a_mask_is_judged_by_the_diagram_that_reads_it() {
    let folder = std::env::temp_dir().join(format!("legwork-lsp-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mask = folder.join("twice.mask");
    let whole = r#"Mask(
    format: 2,
    ports: (in: { "u": "Real" }, out: { "y": "Real" }),
    blocks: { "g": Gain(gain: 2.0, in: { "u": "^u" }) },
    out: { "y": "g.y" },
)"#;
    std::fs::write(&mask, whole).unwrap();
    let text = TEXT.replace(
        "\"x\": Integrator(in: { \"u\": \"one.y\" })",
        "\"m\": Mask(file: \"twice.mask\", in: { \"u\": \"one.y\" })",
    );
    let uri = format!("file://{}", folder.join("d.ron").display());
    let mask_uri = format!("file://{}", mask.display());
    let mut client = Client::ready();
    client.open(&uri, &text);
    client.until(&uri, <[Value]>::is_empty);
    let place = client.ask("textDocument/definition", at(&uri, &text, "wice.mask"));
    assert_eq!(place["uri"], mask_uri);
    client.open(&mask_uri, &whole.replace("g.y", "g.z"));
    let found = client.until(&mask_uri, |found| !found.is_empty());
    let message = found[0]["message"].as_str().unwrap();
    assert!(message.contains("no output `z` on `m.g`"), "{found:?}");
    assert_eq!(found[0]["range"]["start"]["line"], 4);
    // Closed, the mask on the disk counts again.
    client.tell("textDocument/didClose", json!({ "textDocument": { "uri": mask_uri } }));
    client.until(&mask_uri, <[Value]>::is_empty);
    drop(client);
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Without a diagram that uses it a mask is looked at by itself; so is a patch.
#[test]
fn masks_and_patches_are_judged_by_themselves() {
    let mut client = Client::ready();
    for (uri, text, message) in [
        (
            "file:///nowhere/m.mask",
            "Mask(format: 2, ports: (in: {}, out: { \"y\": \"Real\" }), blocks: { \"g\": Clock() }, \
             out: { \"y\": \"g.z\" })",
            "no output `z` on `g`",
        ),
        (
            "file:///nowhere/p.patch",
            "Patch(add: { \"g\": Gain(gian: 2.0) })",
            "no parameter `gian`",
        ),
    ] {
        client.open(uri, text);
        let found = client.until(uri, |found| !found.is_empty());
        assert!(found[0]["message"].as_str().unwrap().contains(message), "{found:?}");
        client.tell("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
        client.until(uri, <[Value]>::is_empty);
    }
}

#[test]
fn of_many_changes_the_newest_counts() {
    let mut client = Client::ready();
    client.open(URI, TEXT);
    for version in 2..200 {
        let text = TEXT.replace("1.0", &format!("{version}.0 x"));
        let change = json!({ "text": if version == 199 { TEXT.to_owned() } else { text } });
        let identifier = json!({ "uri": URI, "version": version });
        client.tell(
            "textDocument/didChange",
            json!({ "textDocument": identifier, "contentChanges": [change] }),
        );
    }
    client.ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": URI } }));
    loop {
        let message = client.next();
        if message["params"]["version"] == 199 {
            assert_eq!(message["params"]["diagnostics"], json!([]));
            break;
        }
    }
}

#[test]
fn wrong_messages_are_answered_and_nothing_stops_the_server() {
    let mut client = Client::begin();
    let code = |answer: Value| answer["error"]["code"].as_i64().unwrap();
    assert_eq!(code(client.answer("textDocument/hover", json!({}))), -32002);
    client.tell("textDocument/didOpen", json!({}));
    client.ask("initialize", json!({ "capabilities": 3 }));
    assert_eq!(code(client.answer("initialize", json!({}))), -32600);
    assert_eq!(code(client.answer("textDocument/rename", json!({}))), -32601);
    assert_eq!(code(client.answer("textDocument/hover", json!([1]))), -32602);
    assert_eq!(code(client.answer("textDocument/hover", at("file:///x", "a", "a"))), -32602);
    for wrong in ["{", "nonsense", "\u{0}", "[[[[", "\"a\""] {
        let to = client.to.as_mut().unwrap();
        write!(to, "Content-Length: {}\r\n\r\n{wrong}", wrong.len()).unwrap();
        let answer = client.next();
        assert!([-32700, -32600].contains(&code(answer)), "{wrong}");
    }
    for params in [json!(null), json!({}), json!({ "textDocument": 3 }), json!([])] {
        client.tell("textDocument/didChange", params);
        let told = client.next();
        assert_eq!(told["method"], "window/logMessage");
    }
    client.open(URI, TEXT);
    let far = json!({ "line": u32::MAX, "character": u32::MAX });
    let params = json!({ "textDocument": { "uri": URI }, "position": far });
    client.ask("textDocument/hover", params.clone());
    client.ask("textDocument/completion", params);
    let backwards = json!({ "start": far, "end": { "line": 0, "character": 0 } });
    let change = json!({ "range": backwards, "text": "x" });
    client.tell(
        "textDocument/didChange",
        json!({ "textDocument": { "uri": URI, "version": 2 }, "contentChanges": [change] }),
    );
    assert_eq!(client.ask("shutdown", Value::Null), Value::Null);
    assert_eq!(code(client.answer("textDocument/hover", json!({}))), -32600);
}

/// A client that vanishes ends the server; so does one whose bytes are no frames, and neither a
/// length nor a header takes memory that is not there.
#[test]
fn a_client_that_vanishes_ends_the_server() {
    let mut client = Client::ready();
    client.open(URI, TEXT);
    assert!(!client.close().unwrap());
    for bytes in [
        "Content-Length: 99999999999999999\r\n\r\n{}".to_owned(),
        "Content-Length: 9999999999\r\n\r\n{}".to_owned(),
        "Content-Length: -1\r\n\r\n".to_owned(),
        "Content-Length: 10\r\n\r\n{}".to_owned(),
        "\r\n\r\n".to_owned(),
        "no header".to_owned(),
        "a".repeat(100_000),
        "a: b\r\n".repeat(10_000),
    ] {
        let mut client = Client::ready();
        // The server may be gone before the end.
        let _ = client.to.as_mut().unwrap().write_all(bytes.as_bytes());
        assert!(client.close().is_err(), "{}", &bytes[..20.min(bytes.len())]);
    }
}

/// The time from a change to its diagnostics, of the largest shipped diagrams; `cargo test --release
/// -p legwork-editor --test editor -- --nocapture change` prints it.
#[test]
fn a_change_is_diagnosed_soon() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../diagrams");
    let mut client = Client::ready();
    for name in ["quadruped/stand.ron", "quadruped/trot.ron", "whole_body/icub.ron"] {
        let path = format!("{root}/{name}");
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let uri = format!("file://{path}");
        client.open(&uri, &text);
        client.until(&uri, |_| true);
        let mut worst = Duration::ZERO;
        for version in 2..12 {
            let mistake = if version % 2 == 0 { "formax: " } else { "format: " };
            let change = json!({ "text": text.replacen("format: ", mistake, 1) });
            let identifier = json!({ "uri": uri, "version": version });
            let begin = Instant::now();
            client.tell(
                "textDocument/didChange",
                json!({ "textDocument": identifier, "contentChanges": [change] }),
            );
            let is_wrong = |found: &[Value]| found.iter().any(|one| one["code"] == "unknown-field");
            client.until(&uri, |found| is_wrong(found) == (version % 2 == 0));
            worst = worst.max(begin.elapsed());
        }
        #[expect(clippy::print_stderr, reason = "a figure for who asks for it")]
        {
            eprintln!("{name}: {worst:?}");
        }
        // Debug builds and busy machines are slow; what is held here is that nothing waits for the
        // choices of variants.
        assert!(worst < Duration::from_secs(5), "{name}: {worst:?}");
        client.tell("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    }
}
