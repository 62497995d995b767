//! `legwork completions`: what shells need to complete command lines.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use legwork_study::Library;
use serde_json::json;

use super::answer::{Answer, Code, Failure};
use super::arguments::CommandLine;

/// `legwork completions`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
                  legwork completions bash > ~/.local/share/bash-completion/completions/legwork\n  \
                  legwork completions zsh > ~/.zfunc/_legwork      # with ~/.zfunc in fpath\n  \
                  legwork completions fish > ~/.config/fish/completions/legwork.fish")]
pub(crate) struct CompletionsArguments {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// Prints the script of a shell.
///
/// # Errors
/// None.
pub(crate) fn completions(
    arguments: &CompletionsArguments,
    _: &Library,
) -> Result<Answer, Failure> {
    let mut command = CommandLine::command();
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, name, &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    let json = json!({ "shell": arguments.shell.to_string(), "script": script });
    Ok(Answer::new(Code::Success, json).text(script))
}
