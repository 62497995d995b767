//! Recorded runs in one file: the page with its messages in it, which needs no server.
//!
//! ```text
//! Recorded ──► playback ──► poses, samples ──┐
//!          ──► describe ──► model, answers ──┼──► stream ──gzip, base64──► page.html
//! run.json ──► report   ──► tables ──────────┘
//! ```
//!
//! A stream is a list of messages: u32 the length of what follows the kind, u8 the kind (0: text,
//! 1: binary frame), and the message. What a page would ask a server for is answered beforehand:
//! `{"answer": {"do": ..., "source": n}, "ok": {...}}`.

mod playback;
mod reduce;
mod repeat;
mod report;

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use legwork_picture::diagram::{Options, schematic};
use legwork_program::Program;
use legwork_study::{Library, Recorded};
use serde_json::{Value, json};

use crate::assets;
use crate::engine::describe;
use crate::frames::Frame;
use crate::protocol::PROTOCOL;
use playback::Playback;

/// What the built page has where its style and its program come from.
const STYLE: &str = r#"<link rel="stylesheet" href="assets/app.css">"#;
const SCRIPT: &str = r#"<script src="assets/app.js"></script>"#;

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum OfflineError {
    /// There is nothing to show.
    #[error("expected a recorded run")]
    NoRun,
    /// The page that is built in has not the places that are filled in.
    #[error("the page that is built in has no `{0}`")]
    NotBuilt(&'static str),
    /// It cannot be compressed.
    #[error("cannot compress the page: {0}")]
    Compress(std::io::Error),
}

/// A page of recorded runs.
#[derive(Debug)]
pub struct Offline {
    /// The whole file.
    pub html: String,
    /// What it does not show, a sentence each.
    pub unseen: Vec<String>,
}

/// The page of recorded runs, each with what its `run.json` says, if it has one.
///
/// # Errors
/// If there is no run, or the page was not built.
pub fn offline(
    runs: &[(Recorded, Option<Value>)],
    library: &Library,
) -> Result<Offline, OfflineError> {
    let Some((first, facts)) = runs.first() else { return Err(OfflineError::NoRun) };
    let mut stream = Stream::default();
    let title = report::title(first, facts.as_ref());
    let version = env!("CARGO_PKG_VERSION");
    let hello = json!({ "protocol": PROTOCOL, "version": version, "title": title, "live": false });
    stream.text(&json!({ "hello": hello }));
    let mut unseen = Vec::new();
    for (source, (run, facts)) in runs.iter().enumerate() {
        let mut playback = Playback::of(run, facts.as_ref(), library, runs.len());
        unseen.append(&mut playback.unseen);
        tell(source, &mut playback, library, &mut stream);
        stream.text(&json!({ "report": report::report(source, run, facts.as_ref()) }));
    }
    Ok(Offline { html: page(&stream)?, unseen })
}

/// All that there is to say of a run.
fn tell(source: usize, playback: &mut Playback<'_>, library: &Library, stream: &mut Stream) {
    let signals = playback.signals();
    let mut model = match playback.about(library) {
        Some(about) => describe::model(source, &about),
        None => playback.bare_model(source),
    };
    model["signals"] = signals.iter().map(|(_, told)| told.clone()).collect();
    model["end"] = playback.end.into();
    stream.text(&json!({ "model": model }));
    stream.text(&json!({ "state": playback.state(source) }));
    let mut answer = |mut asked: Value, ok: Value| {
        asked["source"] = source.into();
        stream.text(&json!({ "answer": asked, "ok": ok }));
    };
    for (path, told) in &signals {
        answer(json!({ "do": "watch", "path": path }), told.clone());
    }
    if let Some(about) = playback.about(library) {
        for depth in depths(about.program) {
            let options = Options { depth, functions: true, ..Options::default() };
            answer(
                json!({ "do": "draw", "depth": depth }),
                describe::draw(about.program, &options),
            );
        }
        let parts = about.program.subsystems.iter().map(|part| part.path.as_str());
        for path in describe::paths(about.program).into_iter().chain(parts) {
            if let Some(block) = describe::block(path, &about) {
                answer(json!({ "do": "block", "path": path }), block);
            }
        }
        if let Ok(texts) = describe::texts(about.sources, None, false, |_| false) {
            answer(json!({ "do": "text" }), texts);
        }
        answer(json!({ "do": "choices" }), describe::choices(&about, &[]));
    }
    let mut sequence = 0;
    let mut frame = |frame: Frame| {
        sequence += 1;
        stream.frame(&frame.into_bytes(sequence));
    };
    for (path, surface) in &playback.surfaces {
        frame(Frame::mesh(source, path, surface));
    }
    playback.poses(&mut |moment| frame(Frame::pose(source, moment)));
    frame(Frame::samples(source, &playback.samples()));
}

/// How deep a diagram is shown: each depth at which something opens, and all of it.
fn depths(program: &Program) -> Vec<Option<usize>> {
    let whole = schematic(program, &Options { functions: true, ..Options::default() });
    let deepest = (0..whole.frames.len()).map(|frame| whole.chain(frame).len() - 1).max();
    (0..deepest.unwrap_or(0)).map(Some).chain([None]).collect()
}

/// Messages with their lengths.
#[derive(Debug, Default)]
struct Stream(Vec<u8>);

impl Stream {
    fn text(&mut self, message: &Value) {
        self.push(0, message.to_string().as_bytes());
    }

    fn frame(&mut self, frame: &[u8]) {
        self.push(1, frame);
    }

    fn push(&mut self, kind: u8, bytes: &[u8]) {
        // A message is smaller than a page can be.
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        self.0.extend(length.to_le_bytes());
        self.0.push(kind);
        self.0.extend(bytes);
    }
}

/// The page with a stream, its style and its program inside.
fn page(stream: &Stream) -> Result<String, OfflineError> {
    let text = |name: &'static str| {
        let bytes = assets::unpacked(name).ok_or(OfflineError::NotBuilt(name))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let index = text(assets::INDEX)?;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let packed = encoder.write_all(&stream.0).and_then(|()| encoder.finish());
    let data = STANDARD.encode(packed.map_err(OfflineError::Compress)?);
    let (before, rest) = index.split_once(STYLE).ok_or(OfflineError::NotBuilt(STYLE))?;
    let (middle, after) = rest.split_once(SCRIPT).ok_or(OfflineError::NotBuilt(SCRIPT))?;
    let (style, script) = (text("assets/app.css")?, text("assets/app.js")?);
    Ok([
        before,
        "<style>",
        &style,
        "</style>",
        middle,
        "<script type=\"application/octet-stream\" id=\"legwork-run\">",
        &data,
        "</script><script>",
        &script,
        "</script>",
        after,
    ]
    .concat())
}
