//! The command line, declared.

use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand};
use legwork_study::{Diagram, Error, Library};

use super::sweep::SweepArguments;

/// Runs block diagrams of robots that touch the ground.
#[derive(Debug, Parser)]
#[command(
    name = "legwork",
    version,
    arg_required_else_help = true,
    subcommand_required = true,
    after_help = "Exit codes: 0 success, 1 diagram error, 2 run-time fault, 3 a check or tolerance failed, 64 usage,\n\
                  130 ended by Ctrl-C.\n\
                  FILE is a path, or demo:NAME for a diagram that is built in (see `legwork demo`)."
)]
pub(crate) struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Print exactly one JSON object on standard output; everything for people goes to standard
    /// error.
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compile a diagram, run it, record it and evaluate its checks.
    Run(RunArguments),
    /// Run a diagram step by step: stop, look, go back, change a parameter.
    Step(StepArguments),
    /// Report every mistake in diagrams, with every choice of every variant.
    Check(CheckArguments),
    /// Run diagrams and evaluate their checks, a line each.
    Test(TestArguments),
    /// Run a diagram once per choice of its variants; show differences, costs, solver figures.
    Compare(CompareArguments),
    /// Run a diagram once per cell of a table of choices and parameters; one row of results each.
    Sweep(SweepArguments),
    /// Put dumped problems before several solvers; rank them, list and cut small where they differ.
    Duel(DuelArguments),
    /// Find where a diagram holds still, and write it as a patch.
    Trim(TrimArguments),
    /// List the kinds of blocks, search them, or print the manual of one.
    Blocks(BlocksArguments),
    /// Draw a diagram as SVG, DOT or Mermaid.
    Graph(GraphArguments),
    /// Write recorded signals as a table of comma-separated values.
    Export(ExportArguments),
    /// Draw recorded signals, or the columns of a table, as SVG.
    Plot(PlotArguments),
    /// Write a recorded run as one page of HTML: summary, checks, metrics, plots, the diagram.
    Report(ReportArguments),
    /// List the diagrams that are built in, or run one.
    Demo(DemoArguments),
    /// Write a new diagram with comments, which runs.
    New(NewArguments),
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
        let mut diagram = library.open(file)?;
        for patch in &self.with {
            diagram = diagram.with(patch)?;
        }
        for (path, value) in &self.set {
            diagram = diagram.set(path, value);
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

/// `legwork run`.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The diagram.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
    /// Stop at this time instead of the diagram's, sooner or later, as in `2 s`.
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Directory for run.mcap and run.json [default: runs/<name of the diagram>].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Report failed checks, but do not fail because of them.
    #[arg(long)]
    pub(crate) no_checks: bool,
    /// Continue a snapshot of this diagram, bit for bit. The recording holds the rows from its time
    /// on.
    #[arg(long, value_name = "SNAPSHOT")]
    pub(crate) resume: Option<PathBuf>,
    /// Write a snapshot before the first step at or after this time, as in `1.5 s`, beside the
    /// recording; may be given several times.
    #[arg(long, value_name = "TIME")]
    pub(crate) snapshot_at: Vec<String>,
    /// Repeat the edits of a session of `legwork step`: its directory, its recording, or a list of
    /// edits in JSON.
    #[arg(long, value_name = "RUN", visible_alias = "edits")]
    pub(crate) replay_edits: Option<PathBuf>,
    /// Run at this many times real time, by sleeping between steps; 1 is real time.
    #[arg(long, value_name = "FACTOR", value_parser = positive)]
    pub(crate) pace: Option<f64>,
    /// Measure what each block takes. The run is slower by two clock readings per call of a block;
    /// its results are the same.
    #[arg(long)]
    pub(crate) profile: bool,
}

/// `legwork step`.
///
/// Runs a diagram block by block or step by step, forth and back. Commands come from the terminal,
/// from a script, or from standard input, one a line; `help` lists them.
#[derive(Debug, Args)]
#[command(after_help = "Commands (unambiguous beginnings will do; `help COMMAND` says more):\n  \
    next [N]        the next block, output or update         step [N]   the rest of the major step\n  \
    into [PART]     the first block of a subsystem           out        behind the last block of it\n  \
    until T         the first step at or after T             goto T     the same, forth or back\n  \
    continue        to the next breakpoint or the end        back [N]   N blocks back, exactly\n  \
    break PATH [C]  stop before a block, or when C holds     delete N   remove a breakpoint\n  \
    watch PATH      show a signal at each stop               print X    a signal, or all of a block\n  \
    set PATH VALUE  change a parameter between two steps     where      time, phase, block, its line\n  \
    schedule        the order of execution                   quit       write the recording and leave\n  \
    snapshot FILE   write the present state                  restore FILE  go on from one\n\n\
    A session's recording is that of `legwork run`, byte for byte, as far as it went; with edits, that of\n\
    `legwork run --replay-edits`. From a script the first mistake ends the session with exit code 64.")]
pub(crate) struct StepArguments {
    /// The diagram.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
    /// Begin at the first step at or after this time, as in `0.4 s`.
    #[arg(long, value_name = "TIME")]
    pub(crate) at: Option<String>,
    /// Continue a snapshot, such as that of the step before a fault.
    #[arg(long, value_name = "SNAPSHOT")]
    pub(crate) resume: Option<PathBuf>,
    /// Take the commands from this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
    /// Directory for run.mcap [default: runs/<name of the diagram>].
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

/// `legwork check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// The diagrams.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
    /// Print the diagram with everything expanded: blocks, wires, types, rates, order.
    #[arg(long)]
    pub(crate) expand: bool,
    /// Also run the diagrams and continue them from snapshots at random ticks: exit code 3 if a bit
    /// differs.
    #[arg(long)]
    pub(crate) roundtrip: bool,
    /// At how many random ticks.
    #[arg(long, value_name = "N", default_value_t = 20, requires = "roundtrip",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) ticks: u32,
}

/// `legwork test`.
#[derive(Debug, Args)]
pub(crate) struct TestArguments {
    /// The diagrams.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
}

/// `legwork compare`.
///
/// Every combination of the choices runs from the same initial state; signals are compared with
/// those of the first. Failed checks are shown and do not matter to the exit code.
///
/// Recorded runs are compared as they are, at the times that both have: how far apart their common
/// signals are in the mean, by root mean square and at most. A table of comma-separated values
/// whose first column is the time `t`, such as `legwork export` writes, is a run too.
#[derive(Debug, Args)]
#[command(
    override_usage = "legwork compare [OPTIONS] <FILE> --variant <NAME=CHOICE,CHOICE..>\n       \
                      legwork compare [--signals <PATH>] [--tol <TOLERANCE>] <RUN> <RUN>...",
    after_help = "Exit codes: 0 all within the tolerance, 1 diagram error, 2 a run stopped at a \
                        fault, 3 a signal is beyond its tolerance, 64 usage."
)]
pub(crate) struct CompareArguments {
    /// The diagram; or the directory of a recorded run, its recording or a table.
    #[arg(value_name = "FILE|RUN")]
    pub(crate) file: PathBuf,
    /// Runs to compare with the first.
    #[arg(value_name = "RUN")]
    pub(crate) others: Vec<PathBuf>,
    /// Choices of a variant, as in `qp=active_set,clarabel`; of several variants, every combination.
    #[arg(long, value_name = "NAME=CHOICE[,CHOICE..]", value_parser = pair)]
    pub(crate) variant: Vec<(String, String)>,
    /// Set a parameter or a field in all runs, as in `pd.kp=60` or `run.solver=Rk4`.
    #[arg(long, value_name = "PATH=VALUE", value_parser = pair)]
    pub(crate) set: Vec<(String, String)>,
    /// Apply a patch file to all runs, before any --set.
    #[arg(long, value_name = "PATCH")]
    pub(crate) with: Vec<PathBuf>,
    /// Stop at this time instead of the diagram's, sooner or later, as in `2 s`.
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Compare these signals instead of those that the diagram logs, as in
    /// `body.state,contact.f[0..3]`.
    #[arg(long, value_name = "PATH[,PATH..]")]
    pub(crate) signals: Vec<String>,
    /// Largest difference: a share of each signal's range, as in `1e-6` (the default where only
    /// solvers differ); or, with a unit, a difference of signals in it, as in `1 mm`. For one signal:
    /// `contact.f=0.1 N`.
    #[arg(long, value_name = "[SIGNAL=]TOLERANCE")]
    pub(crate) tol: Vec<String>,
    /// Compare with this run instead of the first, by the name that the table gives it.
    #[arg(long, value_name = "RUN")]
    pub(crate) reference: Option<String>,
    /// Directory for compare.json, compare.svg and the recordings; none are written without it.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// How many runs at a time; without it, one on each core. Results do not depend on it, times do.
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<std::num::NonZeroUsize>,
}

/// `legwork duel`.
///
/// Every problem is solved by every solver from a cold start. One judge, which knows the problem
/// alone, rates the answers; two solvers differ if one has an answer and the other none, or if
/// their answers are apart in what the problem determines: contact accelerations, objective, slack.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 all within the tolerance, 1 a file that is no problem, 3 solvers differ, 64 usage."
)]
pub(crate) struct DuelArguments {
    /// Problem files, or directories of them (`*.json`).
    #[arg(required = true, value_name = "PROBLEM")]
    pub(crate) problems: Vec<PathBuf>,
    /// Solvers, as in `active_set,clarabel`; all that there are without it.
    #[arg(long, value_name = "NAME[,NAME..]", value_delimiter = ',')]
    pub(crate) solvers: Vec<String>,
    /// Largest relative difference of two answers [default: 1e-4].
    #[arg(long, value_name = "SHARE")]
    pub(crate) tol: Option<f64>,
    /// How often each problem is solved by each solver; times are medians.
    #[arg(long, value_name = "N", default_value = "5")]
    pub(crate) repeat: std::num::NonZeroU32,
    /// Cut the problem of the worst disagreement small and write it here.
    #[arg(long, value_name = "FILE")]
    pub(crate) shrink: Option<PathBuf>,
}

/// `legwork trim`.
///
/// Runs the diagram until nothing moves, or for the time to settle, then seeks a state (and outputs
/// of constants that --free names) that one period of the run leaves where it is. The patch sets
/// the initial states of all blocks and the values of free constants. The patched diagram is then
/// run for 1 s: it must not move by more than 1e-6 of 1 + any number of its state.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
                  legwork trim stand.ron -o standing.ron && legwork run stand.ron --with standing.ron\n  \
                  legwork trim arm.ron --free torque.y --settle 0   hold the arm about where it begins\n\n\
                  The patched diagram is run for 1 s, in which no number x of its state may move by more than \
                  1e-6 (1 + |x|). Free constants give way before the state does. An unstable equilibrium is found too, with \
                  --settle 0 from nearby. What is not free is left as it is: overrides of this command \
                  line hold for the run with the patch as well, and are not in it.\n\n\
                  Exit codes: 0 holds still, 1 diagram error, 2 a run stopped at a fault, 3 does not hold \
                  still (what moves is said), 64 usage.")]
pub(crate) struct TrimArguments {
    /// The diagram.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
    /// Let this output of a constant change too, or some of its numbers: `tau.y`, `tau.y[2]`.
    #[arg(long, value_name = "PATH")]
    pub(crate) free: Vec<String>,
    /// Run at most so long to settle, as in `2 s`; 0 begins the search at t = 0 [default: the
    /// diagram's stop time].
    #[arg(long, value_name = "TIME")]
    pub(crate) settle: Option<String>,
    /// The largest rate that counts as still: of every number of the state, in its unit per second.
    #[arg(long, value_name = "RATE", default_value = "1e-9", value_parser = positive)]
    pub(crate) tol: f64,
    /// Where to write the patch; standard output without it.
    #[arg(short, long, value_name = "PATCH")]
    pub(crate) output: Option<PathBuf>,
}

/// `legwork blocks`.
#[derive(Debug, Args)]
pub(crate) struct BlocksArguments {
    /// A kind of block, such as `UnitDelay`, a type of its parameters, such as `FrictionCone`, or
    /// a shelf, such as `sources`.
    pub(crate) name: Option<String>,
    /// Find the kinds whose manuals hold all of these words.
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
}

/// `legwork export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// A recording, or the directory of its run.
    pub(crate) run: PathBuf,
    /// A recorded signal, as in `body.state`; all of them if none is named.
    #[arg(long, value_name = "TOPIC")]
    pub(crate) topic: Vec<String>,
    /// Where to write; standard output without it.
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
}

/// `legwork plot`.
///
/// Signals over time, one panel for each unit; several runs lie over one another. What a path names
/// is what `log:` recorded, a part of it, or an element: `body.state.base.position[2]`, `pd.tau[0..3]`.
/// Without a path, what moves is drawn.
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
    /// draw; behind the first, a table whose first column is the time `t` and whose others are named
    /// like an exported recording's is a run too. Or a table of comma-separated values with a header, with units as in `time [us]`, and
    /// columns to draw over its first one.
    #[arg(required = true, value_name = "RUN|TABLE [PATH|COLUMN]")]
    pub(crate) words: Vec<PathBuf>,
    /// Where to write; the ending says what: .svg, or .png if legwork was built with the feature `png`.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Draw from this time on, as in `0.4 s`.
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<String>,
    /// Draw up to this time.
    #[arg(long, value_name = "TIME")]
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
    /// What stands at the vertical axis of the only panel; without it, the unit.
    #[arg(long, value_name = "TEXT")]
    pub(crate) label: Option<String>,
}

/// `legwork report`.
///
/// The page needs no network and no other file. The diagram, its overrides and its files come from
/// the recording; checks, metrics and times from the run.json beside it.
#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// The directory of a run, or its recording.
    pub(crate) run: PathBuf,
    /// Where to write [default: report.html beside the recording].
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Draw these signals instead of what moves, as in `body.state.base.position[2]`.
    #[arg(long, value_name = "PATH")]
    pub(crate) plot: Vec<String>,
}

/// An axis to be logarithmic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Logarithmic {
    /// The horizontal axis.
    X,
    /// The vertical axis.
    Y,
}

/// `legwork demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// The diagram to run.
    pub(crate) name: Option<String>,
    /// Directory for run.mcap and run.json [default: runs/<name of the diagram>].
    #[arg(long, value_name = "DIR", requires = "name")]
    pub(crate) out: Option<PathBuf>,
}

/// `legwork new`.
#[derive(Debug, Args)]
pub(crate) struct NewArguments {
    /// The file to write; one that exists is left alone.
    pub(crate) file: PathBuf,
    /// Start from a diagram that is built in instead, or from a file.
    #[arg(long, value_name = "demo:NAME")]
    pub(crate) from: Option<PathBuf>,
}

/// A finite number above zero.
fn positive(text: &str) -> Result<f64, String> {
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
