//! Runs the command and keeps what it left behind.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use serde_json::Value;
use tempfile::TempDir;

/// What a command left behind.
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Done {
    /// What it wrote, for people and for other programs.
    pub(crate) fn said(&self) -> String {
        format!("{}{}", self.out, self.err)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("{error} in {:?}; stderr: {}", self.out, self.err))
    }
}

/// The root of the repository, from which `diagrams/` and `tests/data/` are named.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The command in a directory, without standard input.
pub(crate) fn command(directory: &Path, arguments: &[impl AsRef<OsStr>]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_legwork"));
    command.args(arguments).current_dir(directory).stdin(Stdio::null());
    command.env_remove("COLUMNS");
    command
}

/// What a command that ended left behind. It was not killed and did not panic.
pub(crate) fn done(output: Output) -> Done {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the command writes UTF-8");
    let (out, err) = (text(output.stdout), text(output.stderr));
    let code = output.status.code().unwrap_or_else(|| panic!("killed: {err}"));
    assert_ne!(code, 101, "a panic: {err}");
    Done { code, out, err }
}

/// Runs the command to its end.
pub(crate) fn legwork(directory: &Path, arguments: &[impl AsRef<OsStr>]) -> Done {
    done(command(directory, arguments).output().expect("the command starts"))
}

pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

pub(crate) fn write(folder: &TempDir, name: &str, text: impl AsRef<[u8]>) {
    std::fs::write(folder.path().join(name), text).expect("the directory is writable");
}

/// A ramp to 1 at the end, with the checks given.
pub(crate) fn ramp(checks: &str) -> String {
    format!(
        r#"Diagram(
    format: 2,
    doc: "A ramp.",
    run: (stop: "1 s", step: "10 ms", solver: Euler, seed: 3),
    params: {{ "slope": Param(value: 1.0, min: 0.0) }},
    blocks: {{
        "rate": Constant(value: "=slope"),
        "ramp": Integrator(in: {{ "u": "rate.y" }}),
    }},
    log: ["ramp.y", Every("100 ms", "rate.y")],
    checks: {{ {checks} }},
)"#
    )
}

/// A diagram whose variant `v` has a good choice and one with a misspelt parameter.
pub(crate) fn with_variant() -> &'static str {
    r#"Diagram(
    format: 2,
    run: (stop: "1 s", step: "10 ms"),
    variants: { "v": Variant(
        ports: (in: { "u": "Real" }, out: { "y": "Real" }),
        default: "twice",
        choices: { "twice": Gain(gain: 2.0), "broken": Gain(gian: 3.0) },
    ) },
    blocks: {
        "one":  Constant(value: 1.0),
        "part": Use(of: "v", in: { "u": "one.y" }),
    },
)"#
}

/// The messages of a page that is a file: texts, and binary frames.
pub(crate) fn page_messages(file: &Path) -> (Vec<String>, Vec<Vec<u8>>) {
    let html = std::fs::read_to_string(file).expect("a page");
    let begin = html.find("id=\"legwork-run\">").expect("a stream") + "id=\"legwork-run\">".len();
    let data = html[begin..].split('<').next().expect("its end");
    let packed = STANDARD.decode(data).expect("base64");
    let mut bytes = Vec::new();
    GzDecoder::new(packed.as_slice()).read_to_end(&mut bytes).expect("gzip");
    let (mut texts, mut frames, mut rest) = (Vec::new(), Vec::new(), bytes.as_slice());
    while let Some((head, more)) = rest.split_at_checked(5) {
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let (message, after) = more.split_at(length);
        match head[4] {
            0 => texts.push(String::from_utf8(message.to_vec()).expect("UTF-8")),
            _ => frames.push(message.to_vec()),
        }
        rest = after;
    }
    assert!(rest.is_empty(), "the stream is whole");
    (texts, frames)
}

/// All texts of a page that is a file.
pub(crate) fn page_texts(file: &Path) -> String {
    page_messages(file).0.join("\n")
}
