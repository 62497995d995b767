//! What is asked of a linearisation, and what it answers.

use super::{Quality, StateName};

/// A number of a signal that is an input of the linearisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputPlace {
    /// Where it lives in the arena.
    pub place: u32,
    /// Whether the input adds to what the signal's block puts out, so that loops through it stay
    /// closed; it replaces that otherwise, and opens them.
    pub adds: bool,
}

/// How the slopes of a continuous linearisation are found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Method {
    /// Block by block: by the block's own derivative, or by differences of the block alone.
    #[default]
    Blocks,
    /// By differences of the whole program.
    Differences,
}

/// How the slopes of a block were found, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// By the derivative that it offers.
    Analytic,
    /// By differences of the block alone.
    Differences(Quality),
    /// Within differences of the whole program.
    Whole(Quality),
    /// Within differences of the map over a period.
    Period(Quality),
}

impl How {
    /// How good the differences are; a derivative is as good as the best.
    pub fn quality(self) -> Quality {
        match self {
            Self::Analytic => Quality::Smooth,
            Self::Differences(quality) | Self::Whole(quality) | Self::Period(quality) => quality,
        }
    }
}

/// How the slopes of a block were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockSlopes {
    /// Its path.
    pub path: String,
    /// Its kind.
    pub kind: &'static str,
    /// How; the worst of its output groups and its rate.
    pub how: How,
}

/// Options of [`linearize`].
#[derive(Debug, Clone, Default)]
pub struct LinearOptions {
    /// The moment [s].
    pub time: f64,
    /// Whether the result is a map from one period to the next; without, it is if any block of the
    /// program has a period.
    pub sampled: Option<bool>,
    /// How the slopes of a continuous one are found.
    pub method: Method,
    /// Inputs.
    pub inputs: Vec<InputPlace>,
    /// Outputs: where their numbers live in the arena.
    pub outputs: Vec<u32>,
}

/// A linearised program.
#[derive(Debug, Clone)]
pub struct Linearised {
    /// The moment [s].
    pub time: f64,
    /// The period of a sampled one [s].
    pub period: Option<f64>,
    /// A, B, C, D, row by row.
    pub a: Vec<f64>,
    /// n × m.
    pub b: Vec<f64>,
    /// p × n.
    pub c: Vec<f64>,
    /// p × m.
    pub d: Vec<f64>,
    /// The states.
    pub states: Vec<StateName>,
    /// What they are at that moment; 0 of the turn of a quaternion.
    pub state_values: Vec<f64>,
    /// The state's rate [1/s], of a sampled system in the mean over its period; 0 at an
    /// equilibrium.
    pub drift: Vec<f64>,
    /// What inputs and outputs are at that moment.
    pub input_values: Vec<f64>,
    /// The outputs.
    pub output_values: Vec<f64>,
    /// How good each column is: those of the states, then those of the inputs. The worst of the
    /// differences in it.
    pub quality: Vec<Quality>,
    /// How the slopes of each block were found that has any, in the order of paths; of differences
    /// of the whole, those of blocks with states. Blocks that the compiler made are left out unless
    /// they were differenced.
    pub blocks: Vec<BlockSlopes>,
    /// Paths of blocks whose discrete state is none of the states: held, or run as it is.
    pub held: Vec<String>,
}
