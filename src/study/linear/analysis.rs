//! What a linear system is, in figures.

use legwork_linear::{
    Margins, Mat, Mode, Reach, c64, controllability, margins, minimal, observability, poles, zeros,
};

use super::{Linearization, Number, told};
use crate::error::Error;

/// Numbers below this, relative to the matrices, count as zero: those of differences are not
/// sharper.
const PRECISION: f64 = 1e-9;

/// Poles, zeros, structure and margins of a linearisation.
#[derive(Debug, Clone)]
pub struct Analysis {
    /// The poles with their motions, the slowest first.
    pub poles: Vec<Mode>,
    /// The state that moves most in each pole's motion, by its participation.
    pub dominant: Vec<usize>,
    /// Whether all motions die out.
    pub stable: bool,
    /// The transmission zeros, if there are inputs and outputs.
    pub zeros: Option<Vec<c64>>,
    /// What the inputs reach, if there are any.
    pub controllable: Option<Reach>,
    /// What the outputs show, if there are any.
    pub observable: Option<Reach>,
    /// The margins of negative feedback from the one output to the one input.
    pub margins: Option<Margins>,
}

impl Linearization {
    /// Finds its poles and all that follows.
    ///
    /// # Errors
    /// If an iteration does not converge.
    pub fn analysis(&self) -> Result<Analysis, Error> {
        let system = &self.system;
        let poles = poles(system).map_err(told)?;
        let stable = poles.iter().all(|mode| system.is_stable_pole(mode.pole));
        let (m, p) = (system.inputs(), system.outputs());
        let found = |wanted: bool, reach: fn(&_, f64) -> Result<Reach, _>| {
            wanted.then(|| reach(system, PRECISION)).transpose().map_err(told)
        };
        Ok(Analysis {
            dominant: self.dominant(&poles),
            stable,
            zeros: (m > 0 && p > 0).then(|| zeros(system, PRECISION)).transpose().map_err(told)?,
            controllable: found(m > 0, controllability)?,
            observable: found(p > 0, observability)?,
            margins: match (m, p) {
                (1, 1) => Some(margins(&minimal(system, PRECISION).map_err(told)?).map_err(told)?),
                _ => None,
            },
            poles,
        })
    }

    /// What is easily overlooked: outputs that show no state, inputs that move nothing.
    pub fn notes(&self) -> Vec<String> {
        let system = &self.system;
        let is_zero = |matrix: &Mat<f64>, row: Option<usize>, column: Option<usize>| {
            let rows = row.map_or(0..matrix.nrows(), |i| i..i + 1);
            let columns = column.map_or(0..matrix.ncols(), |j| j..j + 1);
            rows.into_iter().all(|i| columns.clone().all(|j| matrix[(i, j)] == 0.0))
        };
        let mut notes = Vec::new();
        if system.states() == 0 {
            return notes;
        }
        for (i, Number { name, .. }) in self.outputs.iter().enumerate() {
            if !is_zero(&system.c, Some(i), None) {
                continue;
            }
            notes.push(if self.inputs.iter().any(|input| input.name == *name) {
                format!(
                    "`{name}` is input and output: its wires are opened, and it shows what is \
                     put in; take an output behind it, or `--in +{name}`, which keeps the loop"
                )
            } else {
                format!("output `{name}` depends on no state: its row of C is zero")
            });
        }
        for (j, Number { name, .. }) in self.inputs.iter().enumerate() {
            if is_zero(&system.b, None, Some(j)) && is_zero(&system.d, None, Some(j)) {
                notes.push(format!("input `{name}` moves neither a state nor an output"));
            }
        }
        notes
    }

    /// For each pole the state whose share of its eigenvectors, left times right, is largest.
    fn dominant(&self, poles: &[Mode]) -> Vec<usize> {
        let values: Vec<c64> = poles.iter().map(|mode| mode.pole).collect();
        legwork_linear::participation(&self.system, &values)
    }
}
