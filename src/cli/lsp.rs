//! `legwork lsp`: the language server of editors.

use std::io::{self, BufReader};
use std::sync::Arc;

use clap::Args;
use legwork_editor::{Service, lsp};
use legwork_study::Library;
use serde_json::json;

use super::answer::{Answer, Code, Failure};

/// `legwork lsp`.
///
/// Speaks the Language Server Protocol over standard input and output: mistakes as `legwork check`
/// finds them, completion, manuals, definitions, outline. Editors start it; `src/editor/vscode` is
/// an extension for VS Code.
#[derive(Debug, Args)]
pub(crate) struct LspArguments {
    /// Speak over standard input and output, as it does anyway: some editors ask for it.
    #[arg(long)]
    pub(crate) stdio: bool,
}

/// Serves one editor until it leaves.
///
/// # Errors
/// If what it sends is no message, or it leaves without `shutdown`.
pub(crate) fn lsp(_: &LspArguments, library: &Library) -> Result<Answer, Failure> {
    let input = BufReader::new(io::stdin());
    let service = Arc::new(Service::new(library.clone()));
    match lsp::serve(service, input, io::stdout()) {
        Ok(true) => Ok(Answer::new(Code::Success, json!({}))),
        Ok(false) => Err(Failure::usage("the editor left without `shutdown`".to_owned())),
        Err(error) => Err(Failure::usage(format!("the editor is not understood: {error}"))),
    }
}
