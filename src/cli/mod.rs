//! The command: the only code that prints, exits, or reads arguments and files.
//!
//! [`entry::command`] is the door, [`Command`] the list. Each command is one file: its arguments, a
//! function from them to an [`Answer`] or a [`Failure`], and its text; what it does is in
//! `legwork_study`. Everything is written through [`console`]. A new command is its file, and its
//! module and entry here.

mod answer;
mod arguments;
mod blocks;
mod check;
mod compare;
mod completions;
mod console;
mod dap;
mod demo;
mod design;
mod diagnostics;
mod duel;
mod entry;
mod export;
mod fit;
mod folder;
mod graph;
mod help;
mod interrupt;
mod linearize;
mod lsp;
mod man;
mod moment;
mod new;
mod picture;
mod plot;
mod profile;
mod progress;
mod recorded;
mod robot;
mod run;
mod step;
mod summary;
mod sweep;
mod test;
mod trim;
mod view;

use clap::Subcommand;
use legwork_study::Library;

pub use self::entry::{command, command_of};

use self::answer::{Answer, Failure};
use self::arguments::{BlocksArguments, GraphArguments, PlotArguments};

/// Declares the commands: what each does, its name, its arguments and its function.
macro_rules! commands {
    ($($(#[doc = $doc:literal])+ $Name:ident($Arguments:ty) => $function:path,)+) => {
        /// The commands.
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command {
            $($(#[doc = $doc])+ $Name($Arguments),)+
        }

        impl Command {
            /// Does what the command line asks.
            ///
            /// # Errors
            /// If it cannot be done.
            pub(crate) fn perform(&self, library: &Library) -> Result<Answer, Failure> {
                match self {
                    $(Self::$Name(arguments) => $function(arguments, library),)+
                }
            }
        }
    };
}

commands! {
    /// Compile a diagram, run it, record it and evaluate its checks.
    Run(run::RunArguments) => run::run,
    /// Run a diagram step by step: stop, look, go back, change a parameter.
    Step(step::StepArguments) => step::step,
    /// Open a page on which a diagram runs, stops, goes back and forks, or of recorded runs.
    View(view::ViewArguments) => view::view,
    /// Report every mistake in diagrams, with every choice of every variant.
    Check(check::CheckArguments) => check::check,
    /// Run diagrams and evaluate their checks, a line each.
    Test(test::TestArguments) => test::test,
    /// Run a diagram once per choice of its variants; show differences, costs, solver figures.
    Compare(compare::CompareArguments) => compare::compare,
    /// Run a diagram once per cell of a table of choices and parameters; one row of results each.
    Sweep(sweep::SweepArguments) => sweep::sweep,
    /// Put dumped problems before several solvers; rank them, list and cut small where they differ.
    Duel(duel::DuelArguments) => duel::duel,
    /// Find where a diagram holds still, and write it as a patch.
    Trim(trim::TrimArguments) => trim::trim,
    /// Make a linear system of a diagram: A, B, C, D, poles, zeros, margins.
    Linearize(linearize::LinearizeArguments) => linearize::linearize,
    /// Find the gain of a state feedback that costs least, and write it as a patch.
    Lqr(design::LqrArguments) => design::lqr,
    /// Find the gain that places the poles of a loop, and write it as a patch.
    Place(design::PlaceArguments) => design::place,
    /// Find model and gain of a Kalman filter for a diagram, and write them as a patch.
    Kalman(design::KalmanArguments) => design::kalman,
    /// Find parameters with which a diagram moves as a measurement did, and write them as a patch.
    Fit(fit::FitArguments) => fit::fit,
    /// Find how the metrics of a run depend on parameters.
    Gradient(fit::GradientArguments) => fit::gradient,
    /// Explain the language, a block or a command; `--book` writes all of it.
    Help(help::HelpArguments) => help::help,
    /// List the kinds of blocks, search them, or print the manual of one.
    Blocks(BlocksArguments) => blocks::blocks,
    /// Describe a robot file: tree, masses, limits, damping, what is not used; draw it.
    Robot(robot::RobotArguments) => robot::robot,
    /// Draw a diagram as SVG, DOT or Mermaid.
    Graph(GraphArguments) => graph::graph,
    /// Write recorded signals as a table of comma-separated values.
    Export(export::ExportArguments) => export::export,
    /// Draw recorded signals, or the columns of a table, as SVG.
    Plot(PlotArguments) => plot::plot,
    /// List the diagrams that are built in, or run one.
    Demo(demo::DemoArguments) => demo::demo,
    /// Write a new diagram, mask or crate of blocks to start from, which runs.
    New(new::NewArguments) => new::new,
    /// Serve an editor: mistakes, completion, manuals, definitions (LSP).
    Lsp(lsp::LspArguments) => lsp::lsp,
    /// Serve a debugger: stop at blocks and conditions, step forth and back (DAP).
    Dap(dap::DapArguments) => dap::dap,
    /// Print the script by which a shell completes commands and options.
    Completions(completions::CompletionsArguments) => completions::completions,
    /// Print the manual page of the command, or of one of its subcommands.
    Man(man::ManArguments) => man::man,
}
