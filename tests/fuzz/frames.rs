//! What a page sends: requests with damage, in frames with damage.

use legwork_page::{Subject, converse};
use legwork_study::{Library, Model};
use serde_json::Value;

use crate::Target;
use crate::mutate::{self, Random};

/// What a page asks for.
const REQUESTS: [&str; 31] = [
    r#"{"id": 1, "source": 0, "do": "run", "speed": null}"#,
    r#"{"id": 2, "do": "run", "speed": 2.5}"#,
    r#"{"id": 3, "do": "pause"}"#,
    r#"{"id": 4, "do": "line", "text": "step 3"}"#,
    r#"{"id": 5, "do": "line", "text": "break ramp.y > 0.5"}"#,
    r#"{"id": 6, "do": "line", "text": "set slope 3"}"#,
    r#"{"id": 7, "do": "line", "text": "back 2 steps"}"#,
    r#"{"id": 8, "do": "seek", "t": 0.25}"#,
    r#"{"id": 9, "do": "draw", "open": ["a", "b[1]"]}"#,
    r#"{"id": 10, "do": "draw", "depth": 1}"#,
    r#"{"id": 11, "do": "block", "path": "ramp"}"#,
    r#"{"id": 12, "do": "watch", "path": "ramp.y"}"#,
    r#"{"id": 13, "do": "unwatch", "path": "ramp.y"}"#,
    r#"{"id": 14, "do": "values", "paths": ["ramp.y", "rate.y"]}"#,
    r#"{"id": 15, "do": "fork", "name": "b", "changes": [["slope", "2"]]}"#,
    r#"{"id": 16, "source": 1, "do": "close"}"#,
    r#"{"id": 17, "do": "choices"}"#,
    r#"{"id": 18, "do": "text", "file": "ramp.ron"}"#,
    r#"{"id": 19, "do": "edit", "file": "ramp.ron", "text": "Diagram()", "save": false}"#,
    r#"{"id": 19, "do": "edit", "file": "ramp.ron", "text": "x", "save": true, "over": "0"}"#,
    r#"{"id": 19, "do": "disk"}"#,
    r#"{"id": 19, "do": "record"}"#,
    r#"{"id": 19, "do": "text", "disk": true}"#,
    r#"{"id": 20, "do": "mesh", "path": "a.stl"}"#,
    r#"{"id": 21, "do": "export", "paths": ["ramp.y"], "format": "csv"}"#,
    r#"{"id": 22, "do": "line", "text": "input u 3 N"}"#,
    r#"{"id": 24, "do": "complete", "file": "ramp.ron", "text": "Diagram(b", "line": 1, "column": 10}"#,
    r#"{"id": 25, "do": "hover", "file": "ramp.ron", "text": "Diagram()", "line": 1, "column": 3}"#,
    r#"{"id": 26, "do": "define", "file": "ramp.ron", "text": "é😀", "line": 9, "column": 0}"#,
    r#"{"ack": 1}"#,
    r#"{"id": 23, "source": 1, "do": "line", "text": "continue"}"#,
];

const DIAGRAM: &str = r#"Diagram(
    run: (stop: "0.5 s", step: "10 ms"),
    params: { "slope": Param(value: 1.0) },
    blocks: {
        "rate": Constant(value: "=slope"),
        "ramp": Integrator(in: { "u": "rate.y" }),
    },
)"#;

/// Frames of a page.
pub(crate) struct Frames {
    model: Model,
}

impl Frames {
    pub(crate) fn new() -> Self {
        let library = Library::new(legwork_blocks::register);
        let compiled = library.diagram("ramp.ron", DIAGRAM).compile();
        Self { model: compiled.into_model().unwrap() }
    }
}

/// A masked frame of a page: its first byte, its payload.
fn frame(first: u8, payload: &[u8], mask: [u8; 4]) -> Vec<u8> {
    let mut frame = vec![first];
    match payload.len() {
        len @ 0..126 => frame.push(0x80 | len as u8),
        len @ 126..65536 => {
            frame.push(0x80 | 126);
            frame.extend((len as u16).to_be_bytes());
        }
        len => {
            frame.push(0x80 | 127);
            frame.extend((len as u64).to_be_bytes());
        }
    }
    frame.extend(mask);
    frame.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    frame
}

impl Target for Frames {
    fn input(&self, random: &mut Random) -> Vec<u8> {
        let words = ["ramp.y", "slope", "-1", "1e999", "null", "\"\"", "[]", "{}", "4294967296"];
        let mut bytes = Vec::new();
        for _ in 0..=random.below(6) {
            let request = random.pick(&REQUESTS);
            let other = random.pick(&REQUESTS);
            let text = match random.below(3) {
                0 => mutate::text(random, request.as_bytes(), other.as_bytes(), &words),
                _ => request.as_bytes().to_vec(),
            };
            let mask = (random.next() as u32).to_le_bytes();
            if random.once_in(4) {
                // In pieces, perhaps with a ping between them.
                let at = random.below(text.len());
                bytes.extend(frame(0x01, &text[..at], mask));
                if random.once_in(2) {
                    bytes.extend(frame(0x89, b"ping", mask));
                }
                bytes.extend(frame(0x80, &text[at..], mask));
            } else {
                bytes.extend(frame(0x81, &text, mask));
            }
        }
        match random.below(3) {
            0 => mutate::bytes(random, &bytes, &bytes),
            _ => bytes,
        }
    }

    fn run(&self, input: &[u8], _: &mut Random) -> Result<&'static str, String> {
        let session = Box::new(self.model.session());
        let subject = Subject::Live { model: self.model.clone(), session, out: None };
        let mut replies = 0;
        for text in converse(subject, input) {
            let told: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
            replies += u32::from(told.get("reply").is_some());
        }
        Ok(if replies > 0 { "answered" } else { "nothing to answer" })
    }
}
