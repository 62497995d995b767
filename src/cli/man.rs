//! `legwork man`: the manual page of the command and of each of its subcommands.

use clap::{Args, CommandFactory as _};
use clap_mangen::Man;
use legwork_block::nearest;
use legwork_study::Library;
use serde_json::json;

use super::answer::{Answer, Code, Failure};
use super::arguments::CommandLine;

/// `legwork man`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
                  legwork man | man -l -\n  \
                  legwork man sweep > ~/.local/share/man/man1/legwork-sweep.1")]
pub(crate) struct ManArguments {
    /// The command whose page it is, such as `run`; without it, the page of all.
    pub(crate) command: Option<String>,
}

/// Prints a manual page as roff.
///
/// # Errors
/// If there is no such command.
pub(crate) fn man(arguments: &ManArguments, _: &Library) -> Result<Answer, Failure> {
    let mut all = CommandLine::command();
    // Options of all commands, and the names `legwork-run`, come from here.
    all.build();
    let name = arguments.command.as_deref();
    let command = match name {
        None => Some(all.clone()),
        Some(name) => all.find_subcommand(name).cloned(),
    };
    let Some(command) = command else {
        let name = name.unwrap_or_default();
        let names: Vec<&str> = all.get_subcommands().map(clap::Command::get_name).collect();
        let hint = match nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", names.join(", ")),
        };
        return Err(Failure::usage(format!("no command `{name}`; {hint}")));
    };
    let title = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let mut page = Vec::new();
    Man::new(command)
        .title(title.as_str())
        .source(format!("legwork {}", env!("CARGO_PKG_VERSION")))
        .render(&mut page)
        .map_err(|error| Failure::usage(format!("cannot write the page: {error}")))?;
    let page = String::from_utf8_lossy(&page).into_owned();
    let json = json!({ "command": title, "page": page });
    Ok(Answer::new(Code::Success, json).text(page))
}
