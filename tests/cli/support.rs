//! Runs the command and keeps what it left behind.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output, Stdio};

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
