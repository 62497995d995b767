//! The command line, declared.

use std::path::{Path, PathBuf};

use clap::{Args, Parser};
use legwork_study::{Diagram, Error, Library};

use super::{Command, help};

/// Runs block diagrams of robots that touch the ground.
#[derive(Debug, Parser)]
#[command(
    name = "legwork",
    version,
    arg_required_else_help = true,
    subcommand_required = true,
    disable_help_subcommand = true,
    after_help = help::after_help()
)]
pub(crate) struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Print exactly one JSON object on standard output; everything for people goes to standard
    /// error.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Let diagrams read files in this folder and below, and look for them there, besides their own
    /// folder, that of their project (the nearest above with a `legwork.toml`) and the working
    /// directory (unless it is the home directory); may be given several times.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) root: Vec<PathBuf>,
    /// Let diagrams read every file, wherever it is; packages of robot files are then looked for in
    /// the folders of ROS_PACKAGE_PATH and AMENT_PREFIX_PATH too.
    #[arg(long, global = true)]
    pub(crate) trust: bool,
    /// Let a diagram state up to so much memory for its run, as in `8 GB`, instead of 2 GB.
    #[arg(long, global = true, value_name = "SIZE", value_parser = memory_size)]
    pub(crate) memory: Option<u64>,
    /// Say errors and checks that fail alone: no summary, no warnings, no progress. What a command
    /// prints for other programs, such as a patch or --json, is printed.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

/// Size of memory [bytes].
fn memory_size(text: &str) -> Result<u64, String> {
    legwork_diagram::read_size(text)
        .ok_or_else(|| "expected a size such as `500 MB` or `8 GB`".to_owned())
}

/// What changes a diagram without touching its file.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Overrides {
    /// Set a parameter or a field, as in `pd.kp=60` or `run.solver=Rk4`.
    #[arg(long, value_name = "PATH=VALUE", value_parser = pair)]
    pub(crate) set: Vec<(String, String)>,
    /// Choose for a variant, as in `qp=clarabel`.
    #[arg(long, value_name = "NAME=CHOICE", value_parser = pair)]
    pub(crate) variant: Vec<(String, String)>,
    /// Feed an input of the diagram: a value with its unit, as in `u=3 N`, a block that is a source,
    /// or a signal of a table, `u=log.csv` or `u=log.csv:tau`, whose column `t` is the time.
    #[arg(long, value_name = "NAME=VALUE|FILE.csv[:SIGNAL]", value_parser = pair)]
    pub(crate) input: Vec<(String, String)>,
    /// Apply a patch file, before any --set.
    #[arg(long, value_name = "PATCH")]
    pub(crate) with: Vec<PathBuf>,
}

impl Overrides {
    /// Opens a diagram with these overrides and, if there is one, another stop time.
    ///
    /// # Errors
    /// If it cannot be read, or a patch's path is not UTF-8.
    pub(crate) fn open(
        &self,
        file: &Path,
        until: Option<&str>,
        library: &Library,
    ) -> Result<Diagram, Error> {
        self.apply(library.open(file)?, until)
    }

    /// The command that runs the diagram with these overrides and another patch behind them.
    pub(crate) fn run_with(&self, diagram: &str, patch: &str) -> String {
        let patches = self.with.iter().map(|patch| ("with", patch.display().to_string()));
        let pairs = [("set", &self.set), ("input", &self.input), ("variant", &self.variant)];
        let pairs = pairs.into_iter().flat_map(|(name, pairs)| {
            pairs.iter().map(move |(path, value)| (name, format!("{path}={value}")))
        });
        let options = patches.chain([("with", patch.to_owned())]).chain(pairs);
        let options = options.map(|(name, value)| format!(" --{name} {}", in_shell(&value)));
        format!("legwork run {}{}", in_shell(diagram), options.collect::<String>())
    }

    /// A diagram with these overrides and, if there is one, another stop time.
    ///
    /// # Errors
    /// If a patch's path is not UTF-8.
    pub(crate) fn apply(
        &self,
        mut diagram: Diagram,
        until: Option<&str>,
    ) -> Result<Diagram, Error> {
        for patch in &self.with {
            diagram = diagram.with(patch)?;
        }
        for (path, value) in &self.set {
            diagram = diagram.set(path, value);
        }
        for (name, value) in &self.input {
            diagram = diagram.input(name, value)?;
        }
        for (name, choice) in &self.variant {
            diagram = diagram.variant(name, choice);
        }
        Ok(match until {
            Some(until) => diagram.until(until),
            None => diagram,
        })
    }
}

/// A word as a shell takes it.
fn in_shell(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./=:,+".contains(c);
    match word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// `legwork blocks`.
#[derive(Debug, Args)]
pub(crate) struct BlocksArguments {
    /// A kind of block, such as `UnitDelay`, a type of its parameters, such as `FrictionCone`, a
    /// shelf, such as `sources`, a page of the language, such as `ForEach`, or a built-in file or
    /// folder of files, such as `std:masks`; `std:` lists all of them.
    pub(crate) name: Option<String>,
    /// Find the kinds and the built-in files whose manuals hold all of these words.
    #[arg(long, value_name = "WORD", num_args = 1.., conflicts_with = "name")]
    pub(crate) search: Vec<String>,
}

/// `legwork graph`.
#[derive(Debug, Args)]
pub(crate) struct GraphArguments {
    /// The diagram.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
    /// Where to write; the ending says what: .svg, .dot or .mmd. Without it, Mermaid is printed.
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    /// Show the shared computations that the compiler adds.
    #[arg(long)]
    pub(crate) hidden: bool,
    /// Fold masks and copies below this depth; 0 folds all.
    #[arg(long, value_name = "N")]
    pub(crate) depth: Option<usize>,
    /// Show what blocks call by `needs:`, each in the frame of its caller.
    #[arg(long)]
    pub(crate) functions: bool,
}

/// `legwork plot`.
///
/// Signals over time, one panel for each unit; several runs lie over one another. What a path names
/// is what `log:` recorded, a part of it, or an element: `body.state.base.position[2]`,
/// `pd.tau[0..3]`. Without a path, what moves is drawn.
#[derive(Debug, Args)]
#[command(
    override_usage = "legwork plot [OPTIONS] --output <FILE> <RUN>... [PATH]...\n       \
                      legwork plot [OPTIONS] --output <FILE> <TABLE> [COLUMN]...",
    after_help = "Examples:\n  \
                  legwork plot runs/stand body.state.base.position[2] pd.tau -o stand.svg\n  \
                  legwork plot runs/soft runs/stiff contact.f[2] --from '0.1 s' -o both.svg --size 1200x800\n  \
                  legwork plot runs/trot measured.csv body.state.base.position[2] -o both.svg\n  \
                  legwork plot runs/oscillator --phase body.x body.v -o phase.svg\n  \
                  legwork plot bench.csv cold warm -o bench.svg --log x,y"
)]
pub(crate) struct PlotArguments {
    /// The directory of a run or its recording, several to lay over one another, and signals to
    /// draw; behind the first, a table whose first column is the time `t` and whose others are
    /// named like an exported recording's is a run too. Or a table of comma-separated values with a
    /// header, with units as in `time [us]`, and columns to draw over its first one.
    #[arg(required = true, value_name = "RUN|TABLE [PATH|COLUMN]")]
    pub(crate) words: Vec<PathBuf>,
    /// Where to write; the ending says what: .svg, or .png if legwork was built with the feature
    /// `png`.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Draw from this time on, as in `0.4 s`.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,
    /// Draw up to this time.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) until: Option<String>,
    /// Draw one number over another, each a path; may be given several times.
    #[arg(long, num_args = 2, value_names = ["X", "Y"], action = clap::ArgAction::Append)]
    pub(crate) phase: Vec<String>,
    /// Width and height in pixels, as in `1200x800`.
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = size)]
    pub(crate) size: Option<(u32, u32)>,
    /// A panel for each path, also where units agree.
    #[arg(long)]
    pub(crate) apart: bool,
    /// Axes that are logarithmic, as in `x,y`.
    #[arg(long, value_enum, value_name = "AXIS[,AXIS]", value_delimiter = ',')]
    pub(crate) log: Vec<Logarithmic>,
    /// The title; without it, the names of the runs or of the table.
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// The label of the vertical axis of the only panel; without it, the unit.
    #[arg(long, value_name = "TEXT")]
    pub(crate) label: Option<String>,
}

/// An axis to be logarithmic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Logarithmic {
    /// The horizontal axis.
    X,
    /// The vertical axis.
    Y,
}

/// A finite number above zero.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err("expected a number above zero".to_owned()),
    }
}

/// `1200x800`.
fn size(text: &str) -> Result<(u32, u32), String> {
    let number = |text: &str| text.trim().parse().ok().filter(|n| (64..=16_384).contains(n));
    let parts = text.split_once('x').map(|(wide, high)| (number(wide), number(high)));
    match parts {
        Some((Some(wide), Some(high))) => Ok((wide, high)),
        _ => Err("expected a width and a height from 64 to 16384, as in `1200x800`".to_owned()),
    }
}

/// `a=b`, parted at the first `=`.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("expected a name, `=` and a value".to_owned()),
    }
}

/// What could be asked of a diagram by an option that takes variants with their choices.
pub(crate) fn example(option: &str, variants: &[(String, Vec<String>)]) -> String {
    let all: Vec<String> = variants
        .iter()
        .map(|(name, choices)| format!("{option} {name}={}", choices.join(",")))
        .collect();
    match all.is_empty() {
        true => "the diagram has no variants".to_owned(),
        false => format!("the diagram has {}", all.join(" and ")),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_declaration_is_sound() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn a_pair_parts_at_the_first_equals_sign() {
        assert_eq!(pair("a.b = c=d"), Ok(("a.b".into(), "c=d".into())));
        assert!(pair("=c").is_err());
        assert!(pair("a").is_err());
    }
}
