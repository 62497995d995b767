//! Why something cannot be plotted.

use super::Window;

/// Why something cannot be plotted. The texts are one sentence in lower case.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A path that names nothing in a run.
    #[error("no signal `{path}` in `{file}`; {advice}")]
    UnknownSignal {
        /// The path.
        path: String,
        /// The run, as [`Recorded::file`](super::Recorded::file).
        file: String,
        /// What the run has instead.
        advice: String,
    },
    /// A linear system that cannot be drawn so.
    #[error("{0}")]
    Linear(String),
    /// No recorded number changes, and no signal is named.
    #[error("nothing in the recording moves; name a signal")]
    NothingMoves,
    /// More panels than anybody looks at.
    #[error("expected at most {most} panels, found {found}; name fewer")]
    TooManyPanels {
        /// How many there may be.
        most: usize,
        /// How many there would be.
        found: usize,
    },
    /// No row was recorded in the window.
    #[error("{}", no_rows(*.0))]
    NoRows(Window),
    /// An axis of a phase plot that is not one number.
    #[error(
        "expected a path to one number such as `{example}`, found `{path}`, which names {found}"
    )]
    NotOneNumber {
        /// The path.
        path: String,
        /// How many numbers it names.
        found: usize,
        /// One of them.
        example: String,
    },
    /// The two numbers of a phase plot were never recorded at the same time.
    #[error("`{x}` and `{y}` have no recorded time in common there")]
    NoCommonTime {
        /// Path of the horizontal number.
        x: String,
        /// Path of the vertical number.
        y: String,
    },
    /// A label for the vertical axis, of which there are several.
    #[error("a label is for one panel, and there are {0}")]
    LabelOfMany(usize),
    /// The panels do not fit into the size asked for.
    #[error(
        "expected a size of at least {}x{} for {panels}, found {}x{}",
        .least.0, .least.1, .found.0, .found.1,
        panels = counted(*.panels)
    )]
    TooSmall {
        /// Width and height that are enough [px].
        least: (u32, u32),
        /// Width and height asked for [px].
        found: (u32, u32),
        /// Number of panels.
        panels: usize,
    },
    /// A table that cannot be read.
    #[error("{0}")]
    Table(String),
    /// A name that no column of a table has.
    #[error("no column `{name}`; {advice}")]
    UnknownColumn {
        /// The name.
        name: String,
        /// What the table has instead.
        advice: String,
    },
    /// A word in a column of numbers.
    #[error("line {line}: expected a number in the column `{column}`, found `{found}`")]
    NotANumber {
        /// Line of the table, from 1.
        line: u64,
        /// Header of the column.
        column: String,
        /// The cell.
        found: String,
    },
    /// A table whose columns hold only words.
    #[error("no column but the first has numbers")]
    NoNumbers,
}

fn counted(count: usize) -> String {
    format!("{count} panel{}", if count == 1 { "" } else { "s" })
}

fn no_rows(window: Window) -> String {
    match (window.from.is_finite(), window.until.is_finite()) {
        (false, false) => "the recording has no rows".to_owned(),
        (true, false) => format!("no recorded rows from {} s on", window.from),
        (false, true) => format!("no recorded rows until {} s", window.until),
        (true, true) => format!("no recorded rows from {} s to {} s", window.from, window.until),
    }
}
