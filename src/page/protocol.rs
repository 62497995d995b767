//! What page and server say to each other, protocol 1.
//!
//! Commands and answers are JSON, a text frame each; poses, samples and meshes are binary frames.
//! `source` is an index: 0 is the run, 1 and more are forks and recordings.
//!
//! # Page → server
//!
//! `{"id": 7, "source": 0, "do": "step", ...}` with the arguments of an [`Action`]. Each is answered
//! by `{"reply": 7, "ok": {...}}` or `{"reply": 7, "error": {"message": ..., "diagnostics": ...}}`.
//! `{"ack": n}` says that the binary frame `n`, and all before, has been taken.
//!
//! # Server → page, unasked
//!
//! | message | when |
//! |---|---|
//! | `{"hello": {protocol, version, title, live, sources}}` | first |
//! | `{"model": {...}}` | for each source: at the beginning, and when it is compiled anew |
//! | `{"state": {...}}` | at each change, and at most ten times a second while it runs |
//! | `{"text": {since, saved, broken, differs}}` | when another text runs, or the files on disk are other ones |
//! | `{"diagnostics": [...]}` | when a file on disk has changed |
//! | `{"gone": source}` | when a fork has been closed |
//!
//! # Binary frames
//!
//! Little endian. All begin with four u32: kind, sequence, source, 0. At most one batch of poses
//! and samples is under way to a page: the next is sent when the last of it is acknowledged. What
//! comes meanwhile is merged.
//!
//! - Kind 1, pose: f64 t; for each link of each robot, in the order of the scene, f32×7 (x y z,
//!   w x y z); for each robot f32×3, its centre of mass; u32 count of contacts, for each u32 flags (1: it
//!   touches; 2: its force is known), f32×3 point, f32×3 normal, f32×3 force [N], f32 mu.
//! - Kind 2, samples: u32 count of signals, for each u32 number, u32 rows, u32 leaves, u32 flags,
//!   then f64×rows times and f64×rows×leaves values, row by row. Flags: 1 replaces all that was there; 2
//!   thinned, so that the least and largest value of each stretch are kept; 4 replaces what was at
//!   and after the first of these times.
//! - Kind 3, mesh: u32 length of the path, the path in UTF-8, padded to four bytes; u32 vertices,
//!   u32 patches; f32×3 each vertex; for each patch f32×4 colour (-1: none), u32 triangles, u32×3 each.

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The version of the protocol.
pub const PROTOCOL: u32 = 1;
/// Kind of a binary frame with poses.
pub const POSE: u32 = 1;
/// Kind of a binary frame with samples.
pub const SAMPLES: u32 = 2;
/// Kind of a binary frame with a mesh.
pub const MESH: u32 = 3;

/// What a page sends.
#[derive(Debug, Clone, PartialEq)]
pub enum Incoming {
    /// All binary frames up to this sequence have been taken.
    Ack(u32),
    /// Something to do.
    Request {
        /// By which it is answered.
        id: u64,
        /// What it is asked of.
        source: usize,
        /// What.
        action: Action,
    },
}

/// What a page asks for.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum Action {
    /// Goes on, so many times as fast as time; as fast as possible without.
    Run {
        /// Simulated time per time.
        #[serde(default)]
        speed: Option<f64>,
    },
    /// Stops between two steps.
    Pause {},
    /// Does what a line of the language of `legwork step` says; `{text}`.
    Line {
        /// The line.
        text: String,
    },
    /// Goes to the first step at or after a time, forth or back.
    Seek {
        /// Simulated time [s].
        t: f64,
    },
    /// `{drawing, loops}`: the diagram with coordinates, and the blocks of algebraic loops.
    Draw {
        /// Paths of the frames whose insides are shown.
        #[serde(default)]
        open: Option<Vec<String>>,
        /// Or how deep they are shown.
        #[serde(default)]
        depth: Option<usize>,
    },
    /// Everything about a block.
    Block {
        /// Its path.
        path: String,
    },
    /// Puts a signal, or a part of one, into the frames of samples.
    Watch {
        /// Its path.
        path: String,
    },
    /// Takes it out.
    Unwatch {
        /// Its path.
        path: String,
    },
    /// `{values: [[path, numbers]]}`, and with each state from now on.
    Values {
        /// Paths of signals.
        paths: Vec<String>,
    },
    /// `{source, fresh: [[path, why]]}`: a second session from here.
    Fork {
        /// What it is called.
        name: String,
        /// Choices of variants and values of parameters.
        #[serde(default)]
        changes: Vec<(String, String)>,
    },
    /// `{rows: [{path, unit, difference, t}]}`, the largest first.
    Compare {
        /// A source.
        a: usize,
        /// Another.
        b: usize,
    },
    /// Ends a fork.
    Close {},
    /// `{variants, inputs, parameters}`.
    Choices {},
    /// `{files: [{path, text, hash, writable}]}`.
    Text {
        /// This file alone.
        #[serde(default)]
        file: Option<String>,
        /// As it is on disk, instead of as it runs.
        #[serde(default)]
        disk: bool,
    },
    /// Compiles a file's text, goes on with it if it compiles, and saves it on request.
    Edit {
        /// The file.
        file: String,
        /// Its text.
        text: String,
        /// Whether to save it; `{hash}` then.
        #[serde(default)]
        save: bool,
        /// The hash of what the file is to hold before; another content is lost without it, and
        /// refused as `changed` with it.
        #[serde(default)]
        over: Option<String>,
    },
    /// Goes on with the files as they are on disk, if they compile.
    Disk {},
    /// `{items: [{label, detail, info, kind, insert}], from, to}`: what can be written at a place
    /// of a text, in place of these UTF-16 units.
    Complete(Text),
    /// `{text, from, to}`: what is there, as Markdown; empty if nothing is.
    Hover(Text),
    /// `{file, line, column}`: where that is written; empty if nowhere.
    Define(Text),
    /// `{path, bytes}`: the recording so far, as a run would write it, at a path of this server.
    /// The run is repeated for it, and the recording stays there until another is asked for.
    Record {},
    /// The surface of a mesh, as a binary frame.
    Mesh {
        /// Its path in the scene.
        path: String,
    },
    /// Measures what each block takes, or stops it.
    Heat {
        /// Whether.
        on: bool,
    },
    /// `{text}`: recorded or watched signals as a table.
    Export {
        /// Paths of signals.
        paths: Vec<String>,
        /// `csv`.
        format: String,
    },
}

/// A place of a text that somebody is writing.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Text {
    /// The file.
    pub file: String,
    /// Its text as it is now.
    pub text: String,
    /// Line, from 1.
    pub line: u32,
    /// UTF-16 units before the place in its line, and one.
    pub column: u32,
}

impl Incoming {
    /// Reads a text frame.
    ///
    /// # Errors
    /// What was expected, with the id of the request if it has one.
    pub fn parse(text: &str) -> Result<Self, (Option<u64>, String)> {
        let mut object: Map<String, Value> = serde_json::from_str(text)
            .map_err(|error| (None, format!("expected a JSON object: {error}")))?;
        if let Some(ack) = object.remove("ack") {
            let sequence = ack.as_u64().and_then(|ack| u32::try_from(ack).ok());
            let sequence = sequence.filter(|_| object.is_empty());
            let wrong = || (None, "expected the sequence of a frame, and nothing else".to_owned());
            return sequence.map(Self::Ack).ok_or_else(wrong);
        }
        let id = object.remove("id").and_then(|id| id.as_u64());
        let Some(id) = id else { return Err((None, "expected the number `id`".to_owned())) };
        let source = match object.remove("source") {
            None => 0,
            Some(source) => source
                .as_u64()
                .and_then(|source| usize::try_from(source).ok())
                .ok_or_else(|| (Some(id), "expected the index `source`".to_owned()))?,
        };
        let action = serde_json::from_value(Value::Object(object))
            .map_err(|error| (Some(id), error.to_string()))?;
        Ok(Self::Request { id, source, action })
    }
}

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    /// A sentence in lower case.
    pub message: String,
    /// What is wrong with a text, if that is the reason.
    pub diagnostics: Option<Value>,
    /// A file was not written because it has changed on disk.
    pub changed: bool,
}

impl From<String> for Refusal {
    fn from(message: String) -> Self {
        Self { message, diagnostics: None, changed: false }
    }
}

impl From<&str> for Refusal {
    fn from(message: &str) -> Self {
        message.to_owned().into()
    }
}

impl From<legwork_study::Error> for Refusal {
    fn from(error: legwork_study::Error) -> Self {
        error.message().to_owned().into()
    }
}

/// The answer to a request.
pub(crate) fn reply(id: Option<u64>, outcome: Result<Value, Refusal>) -> String {
    let message = match outcome {
        Ok(ok) => json!({ "reply": id, "ok": ok }),
        Err(Refusal { message, diagnostics, changed }) => {
            let mut error = json!({ "message": message });
            if let Some(diagnostics) = diagnostics {
                error["diagnostics"] = diagnostics;
            }
            if changed {
                error["changed"] = true.into();
            }
            json!({ "reply": id, "error": error })
        }
    };
    message.to_string()
}
