//! `legwork dap`: the debug adapter of editors.

use std::io::{self, BufReader};

use clap::Args;
use legwork_editor::dap;
use legwork_study::Library;
use serde_json::json;

use super::answer::{Answer, Code, Failure};

/// `legwork dap`.
///
/// Speaks the Debug Adapter Protocol over standard input and output. A run stops before blocks (by
/// the line in which they stand), at conditions on signals and at faults; it goes block by block,
/// forth and back; parameters change between two steps, and the console takes the lines of
/// `legwork step`. Editors start it; `src/editor/vscode` is an extension for VS Code.
#[derive(Debug, Args)]
pub(crate) struct DapArguments {}

/// Serves one debugger until it leaves.
///
/// # Errors
/// If what it sends is no message.
pub(crate) fn dap(_: &DapArguments, library: &Library) -> Result<Answer, Failure> {
    let input = BufReader::new(io::stdin());
    dap::serve(library.clone(), input, io::stdout())
        .map(|()| Answer::new(Code::Success, json!({})))
        .map_err(|error| Failure::usage(format!("the debugger is not understood: {error}")))
}
