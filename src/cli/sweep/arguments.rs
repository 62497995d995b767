//! The command line of `legwork sweep`, declared.

use std::path::PathBuf;

use clap::Args;

use super::super::arguments::{Overrides, pair};

/// `legwork sweep`.
///
/// Every combination of the axes' values runs, a row each; one that fails says so, and the others go
/// on. Results and recordings are those of single runs, bit for bit, however many run at a time.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
                  legwork sweep demo:stand --over mu=0.2,0.7 --over qp=active_set,pgs\n  \
                  legwork sweep demo:stand --over mu=0.2,0.4,0.8 --show 'pd.tau[2]:rms' --table mu.csv\n\n\
                  Exit codes, the first that holds: 130 ended by Ctrl-C, 1 a row's diagram has errors or an \
                  axis is not there, 2 a run stopped at a fault, 3 a check failed, 64 usage, 0 success.")]
pub(crate) struct SweepArguments {
    /// The diagram.
    pub(crate) file: PathBuf,
    /// An axis of the table: choices of a variant, as in `qp=active_set,clarabel`, or values of what
    /// --set takes, as in `mu=0.1,0.5` or `robots.go.feet=[a,b],[c,d]`. Commas in brackets and quotes
    /// part nothing. May be given several times; the first axis changes slowest.
    #[arg(long, value_name = "AXIS=VALUE[,VALUE..]", value_parser = pair)]
    pub(crate) over: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
    /// Stop at this time instead of the diagram's, sooner or later, as in `2 s`.
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// A column for a recorded signal, a part or an element of it, as in
    /// `body.state.base.position[2]:min`. Over its recorded rows: final (the default), mean, rms,
    /// max, min, abs_mean; of a run that stopped early, over those that it has.
    #[arg(long, value_name = "PATH[:STATISTIC]")]
    pub(crate) show: Vec<String>,
    /// Write the table as comma-separated values; `legwork plot` draws them over the first axis.
    #[arg(long, value_name = "FILE")]
    pub(crate) table: Option<PathBuf>,
    /// Directory for sweep.json and the runs, each as `legwork run` writes it, in a directory named
    /// after its values; no run is kept without it.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// How many runs at a time; without it, one on each core. Results do not depend on it, times do.
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<std::num::NonZeroUsize>,
}
