//! Momentum watch: detects steps that change the momentum of a floating robot without a force.

use legwork_block::{Report, Warning};
use legwork_mechanics::FreeMotion;
use serde::{Deserialize, Serialize};

use crate::run_warnings::CHANGES_MOMENTUM;

/// Limit of the unexplained momentum, relative to the largest momentum of the links plus the
/// impulses of all forces [1].
const MADE: f64 = 0.05;
/// Number of standard deviations that the unexplained momentum must exceed in addition. Sampled
/// steps represent all steps, so the sum is an estimate: the error of a spinning body rotates with
/// the body and averages out.
const CERTAIN: f64 = 3.0;

/// Names and units of the linear and the angular part.
const PARTS: [(&str, &str); 2] = [("linear", "N s"), ("angular", "N m s")];

/// Linear or angular momentum of one robot or body.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Part {
    /// Largest sum of the sizes of the links' momenta so far.
    gross: f64,
    /// Sum of the sizes of impulses.
    impulse: f64,
    /// Unexplained momentum, and the variance of this sum.
    made: [f64; 3],
    variance: f64,
    /// Time at which it first exceeded the limit [s], and the number of steps in which it did.
    since: Option<f64>,
    steps: u64,
}

impl Part {
    fn size(&self) -> f64 {
        length(self.made)
    }

    fn brought(&self) -> f64 {
        self.gross + self.impulse
    }
}

/// Momentum of one robot or body over the run so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct MomentumWatch([Part; 2]);

impl MomentumWatch {
    /// Adds a step that represents `weight` steps: the momenta of the links at its beginning, the
    /// impulse of all forces, and the unexplained momentum.
    pub(super) fn add(
        &mut self,
        t: f64,
        weight: u64,
        gross: [f64; 2],
        impulse: [f64; 6],
        made: [f64; 6],
    ) {
        for (i, part) in self.0.iter_mut().enumerate() {
            let three = |of: [f64; 6]| [of[3 * i], of[3 * i + 1], of[3 * i + 2]];
            part.gross = part.gross.max(gross[i]);
            part.impulse += weight as f64 * length(three(impulse));
            for (sum, one) in part.made.iter_mut().zip(three(made)) {
                *sum += weight as f64 * one;
            }
            part.variance += (weight as f64 * length(three(made))).powi(2);
            let least = MADE * part.brought() + CERTAIN * part.variance.sqrt();
            if part.size() > least {
                part.since.get_or_insert(t);
                part.steps += weight;
            }
        }
    }

    /// Reports the warnings.
    pub(super) fn report(&self, name: &str, step: f64, report: &mut Report) {
        for (part, (kind, unit)) in self.0.iter().zip(PARTS) {
            let Some(t) = part.since else { continue };
            let factor = part.size() / part.brought().max(f64::MIN_POSITIVE);
            let message = format!(
                "the steps of `{name}` changed its {kind} momentum by {:.3e} {unit} that no force \
                 accounts for, {factor:.2} times what its links had and all forces brought: take \
                 steps shorter than {step} s, `SemiImplicitEuler` for free flight, or `Rk4`",
                part.size()
            );
            let steps = part.steps;
            report.warnings.push(Warning { name: CHANGES_MOMENTUM.to_string(), t, steps, message });
        }
    }
}

fn length(of: [f64; 3]) -> f64 {
    of.iter().map(|one| one * one).sum::<f64>().sqrt()
}

/// Impulse of a step, by the mean of the wrenches at both ends, and the unexplained momentum.
pub(super) fn over(step: f64, before: &FreeMotion, after: &FreeMotion) -> ([f64; 6], [f64; 6]) {
    let impulse = |i: usize| 0.5 * step * (before.wrench[i] + after.wrench[i]);
    let change = |i: usize| after.momentum[i] - before.momentum[i];
    (std::array::from_fn(impulse), std::array::from_fn(|i| change(i) - impulse(i)))
}
