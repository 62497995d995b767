//! `legwork help`: the reference of the language, the help of commands, and both as a book.

mod book;

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::{Args, CommandFactory as _};
use legwork_block::code;
use legwork_blocks::run_warnings;
use legwork_study::Library;
use legwork_study::reference::{self, Page, Part};
use serde_json::{Value, json};

use super::answer::{Answer, Code, Failure};
use super::arguments::CommandLine;
use super::blocks;

/// `legwork help`.
#[derive(Debug, Args)]
pub(crate) struct HelpArguments {
    /// A page, such as `units`, a construct, such as `ForEach`, a block, such as `Pid`, or a
    /// command, such as `run`; with a colon, `run:`, the section of a diagram; a code of a mistake,
    /// such as `unknown-port` or `error[unit]`.
    #[arg(value_name = "TOPIC")]
    pub(crate) topic: Vec<String>,
    /// Write all pages, with pictures and the manuals of all blocks, as a book into this directory:
    /// `mdbook build DIR` makes it a site.
    #[arg(long, value_name = "DIR", conflicts_with = "topic")]
    pub(crate) book: Option<PathBuf>,
}

/// Lists the topics, prints one, or writes all as a book.
///
/// # Errors
/// If there is nothing of this name, or the book cannot be written.
pub(crate) fn help(arguments: &HelpArguments, library: &Library) -> Result<Answer, Failure> {
    if let Some(folder) = &arguments.book {
        return book::write(folder, library);
    }
    let topic = arguments.topic.join(" ");
    if topic.is_empty() {
        return Ok(list(library));
    }
    if let Some(mistake) = mistake(&topic) {
        return Ok(explained(mistake));
    }
    match of_command(&topic) {
        Some(mut text) => {
            if let [page] = reference::find(&topic, &pages(library))[..] {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "\n`legwork help {topic}:` is about {}.", page.title);
            }
            let json = json!({ "command": topic, "text": text });
            Ok(Answer::new(Code::Success, json).text(text))
        }
        None => blocks::explain(&topic, library).or_else(|failure| {
            // A code of one word, which is not the name of anything else.
            find_mistake(&topic).map(explained).ok_or(failure)
        }),
    }
}

/// The code of a mistake as it is printed, `error[unit]`, or a code of several words.
fn mistake(topic: &str) -> Option<code::Code> {
    let printed = ["error", "warning", ""]
        .into_iter()
        .find_map(|severity| topic.strip_prefix(severity)?.strip_prefix('[')?.strip_suffix(']'));
    find_mistake(printed.unwrap_or(topic)).filter(|_| printed.is_some() || topic.contains('-'))
}

/// The mistake of a diagram, or the warning of a run, with this name.
fn find_mistake(name: &str) -> Option<code::Code> {
    let of_runs = || run_warnings::ALL.iter().copied().find(|code| code.name() == name);
    code::Code::find(name).or_else(of_runs)
}

/// The explanation of a mistake.
fn explained(mistake: code::Code) -> Answer {
    let (name, about) = (mistake.name(), mistake.about());
    let json = json!({ "mistake": name, "text": about });
    Answer::new(Code::Success, json).text(format!("# {name}\n\n{about}"))
}

/// All pages: those of the language, and the exit codes of this command.
pub(crate) fn pages(library: &Library) -> Vec<Page> {
    let mut pages = reference::pages(library.registry());
    pages.push(mistakes());
    pages.push(exit_codes());
    pages
}

/// The codes of mistakes, a line each.
fn mistakes() -> Page {
    let mut text = "# Codes of mistakes\n\nAn error keeps a diagram from running, a warning does \
                    not. Each has a code, as in `error[unknown-port]`. `legwork help unknown-port` \
                    explains it.\n\n| code | mistake |\n|------|---------|\n"
        .to_owned();
    list_mistakes(code::ALL, &mut text);
    text += "\nA run warns where its numbers are doubtful:\n\n| warning | cause |\n|---|---|\n";
    list_mistakes(run_warnings::ALL, &mut text);
    Page {
        name: "codes",
        also: vec!["mistakes", "errors", "warnings", "diagnostics"],
        title: "Codes of mistakes".to_owned(),
        parts: vec![Part::Text(text)],
    }
}

/// Rows of a table: each code with the first sentence of its explanation.
fn list_mistakes(mistakes: &[code::Code], text: &mut String) {
    for mistake in mistakes {
        let about = mistake.about().replace('\n', " ");
        let sentence = about.split_inclusive(". ").next().unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| `{}` | {} |", mistake.name(), sentence.trim());
    }
}

/// All exit codes by number.
fn codes() -> [Code; 9] {
    let mut codes = Code::ALL;
    codes.sort_by_key(|code| code.number());
    codes
}

fn exit_codes() -> Page {
    let mut text = "# Exit codes\n\nEvery command ends with a number that says how it went, for \
                    scripts.\n\n| code | meaning |\n|------|---------|\n"
        .to_owned();
    for code in codes() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {:4} | {} |", code.number(), code.meaning());
    }
    text += "
Of several diagrams the worst counts. `--json` prints one object on standard output, which says the
same and more. Results are on standard output, messages on standard error.

```sh
legwork test diagrams || echo \"code $?\"
```
";
    Page {
        name: "exit_codes",
        also: vec!["exit status", "scripts", "json"],
        title: "Exit codes".to_owned(),
        parts: vec![Part::Text(text)],
    }
}

/// What stands below the help of the command itself.
pub(crate) fn after_help() -> String {
    let mut text = "Exit codes:\n".to_owned();
    for code in codes() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {:>3}  {}", code.number(), code.meaning());
    }
    text + "\nFILE is a path, demo:NAME for a diagram that is built in (see `legwork demo`), or \
            help:PAGE\nfor the example of a page of the reference (see `legwork help`)."
}

/// The help of a command, if there is one of this name.
fn of_command(name: &str) -> Option<String> {
    let mut line = CommandLine::command();
    line.build();
    let command = line.find_subcommand_mut(name)?;
    Some(command.render_long_help().to_string())
}

/// The pages and the commands.
fn list(library: &Library) -> Answer {
    let pages = pages(library);
    let line = CommandLine::command();
    let commands: Vec<(String, String)> = line
        .get_subcommands()
        .map(|command| {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            (command.get_name().to_owned(), about)
        })
        .collect();
    let names = pages.iter().map(|page| page.name);
    let width = names.chain(commands.iter().map(|(name, _)| name.as_str())).map(str::len).max();
    let width = width.unwrap_or(0);
    let mut text =
        "The language, in the order in which it is best read: `legwork help PAGE`\n".to_owned();
    for page in &pages {
        // Where a command has the name too, the colon asks for the page.
        let is_command = commands.iter().any(|(name, _)| name == page.name);
        let name = if is_command { format!("{}:", page.name) } else { page.name.to_owned() };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {name:width$}  {}", page.title);
    }
    text += "\nThe blocks: `legwork blocks` lists them, `legwork help KIND` explains one\n\n\
             The commands: `legwork help COMMAND`\n";
    for (name, about) in &commands {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {name:width$}  {about}");
    }
    let summary = |page: &Page| -> Value {
        json!({ "page": page.name, "title": page.title, "summary": page.summary() })
    };
    let json = json!({
        "pages": pages.iter().map(summary).collect::<Vec<_>>(),
        "commands": commands.iter().map(|(name, _)| name).collect::<Vec<_>>(),
    });
    Answer::new(Code::Success, json).text(text)
}

/// A page for a terminal, where a bar in a table needs no stroke in front.
pub(crate) fn shown(page: &Page) -> String {
    page.to_string().replace("\\|", "|")
}
