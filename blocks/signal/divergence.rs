//! Speeds that no machine has: a run that reaches them has diverged, long before numbers overflow.

use legwork_block::{Fault, Outcome};

/// A speed that no machine has [m/s; rad/s].
pub(crate) const MOST_SPEED: f64 = 1e9;

/// Speed that no machine reaches from less than a hundredth of it within a step [m/s; rad/s].
const SUDDEN_SPEED: f64 = 1e4;

/// Whether one of these speeds [m/s; rad/s] is beyond [`MOST_SPEED`].
pub(crate) fn is_too_fast(speeds: &[f64]) -> bool {
    speeds.iter().fold(false, |fast, speed| fast | (speed.abs() > MOST_SPEED))
}

/// The fault that the speed of greatest magnitude is, with a name for its index.
#[cold]
pub(crate) fn too_fast(speeds: &[f64], name: impl FnOnce(usize) -> String) -> Box<Fault> {
    let fastest = (0..speeds.len()).max_by(|&a, &b| speeds[a].abs().total_cmp(&speeds[b].abs()));
    let k = fastest.unwrap_or_default();
    Fault::new(format!(
        "{} moves at {:.1e}, more than {MOST_SPEED:.0e} m/s or rad/s: the run has diverged",
        name(k),
        speeds[k]
    ))
}

/// Fails if one step takes speeds from what machines do to what none does.
pub(crate) fn check_step(
    before: impl Iterator<Item = f64>,
    after: impl Iterator<Item = f64>,
    name: impl FnOnce() -> String,
) -> Outcome {
    let after = largest(after);
    if after <= SUDDEN_SPEED {
        return Ok(());
    }
    let before = largest(before);
    if after <= 100.0 * before {
        return Ok(());
    }
    Err(Fault::new(format!(
        "{}one step takes it from {before:.1e} to {after:.1e} m/s or rad/s: the run has diverged",
        name()
    )))
}

/// The largest of some speeds [m/s; rad/s].
fn largest(speeds: impl Iterator<Item = f64>) -> f64 {
    speeds.fold(0.0, |most, speed| if speed.abs() > most { speed.abs() } else { most })
}
