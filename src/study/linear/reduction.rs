//! States for which a gain is designed: the named ones, without directions that inputs do not move.

use legwork_linear::{Fixed, Mat, Split, System, c64, pseudoinverse, split};
use legwork_runtime::linear::How;
use serde_json::{Value, json};

use super::{Linearization, told};
use crate::error::{Error, ErrorKind};

/// Relative precision of the Jacobian, above which a singular value counts: if exact, and if
/// computed by differences.
const EXACT: f64 = 1e-10;
const DIFFERENCED: f64 = 1e-7;

/// A direction of the states that no input moves, or that no output shows, and that the design
/// excludes.
#[derive(Debug, Clone)]
pub struct TakenOut {
    /// Its pole: s [1/s], or z of a sampled system.
    pub pole: c64,
    /// The combination of states, with largest coefficient 1; coefficients below 1e-6 are left out.
    pub states: Vec<(String, f64)>,
}

impl TakenOut {
    /// Text of the combination, with at most four states.
    pub fn text(&self) -> String {
        let term = |(at, (name, value)): (usize, &(String, f64))| {
            let sign = match (at, *value < 0.0) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            };
            let size = value.abs();
            match (size - 1.0).abs() < 1e-4 {
                true => format!("{sign}{name}"),
                false => format!("{sign}{size:.3} {name}"),
            }
        };
        let shown: String = self.states.iter().take(4).enumerate().map(term).collect();
        match self.states.len().saturating_sub(4) {
            0 => shown,
            more => format!("{shown} and {more} more"),
        }
    }

    /// Pole and coefficients by state.
    pub(super) fn to_json(&self) -> Value {
        let states: serde_json::Map<String, Value> =
            self.states.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        json!({ "pole": { "re": self.pole.re, "im": self.pole.im }, "states": states })
    }
}

/// True if a pattern names a state: its name, that of its signal or block, or a pattern with `*`
/// for any characters.
pub(super) fn is_named(pattern: &str, name: &str) -> bool {
    if pattern.contains('*') {
        return fits(pattern.as_bytes(), name.as_bytes());
    }
    name.strip_prefix(pattern).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// True if a name fits a pattern in which `*` means any characters: greedy, with one point of
/// return.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if pattern.get(p) == Some(&b'*') {
            star = Some((p + 1, n));
            p += 1;
        } else if pattern.get(p) == Some(&name[n]) {
            (p, n) = (p + 1, n + 1);
        } else if let Some((after, from)) = star {
            (p, n) = (after, from + 1);
            star = Some((after, from + 1));
        } else {
            return false;
        }
    }
    pattern.get(p..).is_none_or(|rest| rest.iter().all(|c| *c == b'*'))
}

/// Indices of the states that patterns keep: those of `states`, or all, without those of `without`.
pub(super) fn kept(
    plant: &Linearization,
    states: &[String],
    without: &[String],
) -> Result<Vec<usize>, Error> {
    let all: Vec<usize> = (0..plant.states.len()).collect();
    for pattern in states.iter().chain(without) {
        if !plant.states.iter().any(|state| is_named(pattern, &state.name)) {
            return Err(unknown(plant, pattern));
        }
    }
    let is_in = |patterns: &[String], i: usize| {
        patterns.iter().any(|pattern| is_named(pattern, &plant.states[i].name))
    };
    let kept: Vec<usize> = all
        .into_iter()
        .filter(|i| (states.is_empty() || is_in(states, *i)) && !is_in(without, *i))
        .collect();
    match kept.is_empty() && !plant.states.is_empty() {
        true => Err(Error::request("all states are left out: a gain needs at least one")),
        false => Ok(kept),
    }
}

/// Error for a pattern that names no state.
pub(super) fn unknown(plant: &Linearization, pattern: &str) -> Error {
    let known: Vec<&str> = plant.states.iter().map(|one| one.name.as_str()).collect();
    Error::request(format!("no state `{pattern}`; there are `{}`", known.join("`, `")))
}

/// Precision of the Jacobian in a linearisation.
pub(super) fn precision(plant: &Linearization, is_map: bool) -> f64 {
    let is_exact = plant.blocks.iter().all(|block| block.how == How::Analytic);
    if is_exact && !is_map { EXACT } else { DIFFERENCED }
}

/// Takes out of a system the directions that no input moves; fails if one of them is unstable.
pub(super) fn moved(
    plant: &Linearization,
    system: &System,
    which: Fixed,
    precision: f64,
    words: (&str, &str),
) -> Result<(Split, Vec<TakenOut>), Error> {
    let found = split(system, which, precision).map_err(told)?;
    let taken = taken_out(plant, &found);
    let (motion, unmoved) = words;
    // On the border of stability, up to rounding.
    let is_unstable = |pole: &c64| {
        let slack = 1e-6;
        match system.period {
            None => pole.re > slack,
            Some(_) => pole.norm() > 1.0 + slack,
        }
    };
    match taken.iter().find(|one| is_unstable(&one.pole)) {
        None => Ok((found, taken)),
        Some(one) => {
            let names: Vec<&str> =
                one.states.iter().take(4).map(|(name, _)| name.as_str()).collect();
            let message = format!(
                "no gain makes every {motion} die out: {unmoved} the unstable pole {} of `{}`",
                pole_text(one.pole, system.period),
                names.join("`, `")
            );
            Err(Error::new(ErrorKind::Check, message))
        }
    }
}

/// Text of a pole with its rate in continuous time.
fn pole_text(pole: c64, period: Option<f64>) -> String {
    let imaginary = match pole.im == 0.0 {
        true => String::new(),
        false => format!(" ± {:.6}i", pole.im.abs()),
    };
    match period {
        None => format!("{:.6}{imaginary} 1/s", pole.re),
        Some(period) => {
            let rate = pole.norm().ln() / period;
            format!("{:.6}{imaginary} (it grows by {rate:.4} 1/s)", pole.re)
        }
    }
}

/// Fixed directions with few states each, by elimination with the largest entry as the pivot.
fn taken_out(plant: &Linearization, found: &Split) -> Vec<TakenOut> {
    let (k, n) = (found.fixed.nrows(), found.fixed.ncols());
    let mut rows: Vec<Vec<f64>> =
        (0..k).map(|i| (0..n).map(|j| found.fixed[(i, j)]).collect()).collect();
    // Rows of one pole may be combined, rows of different poles not.
    for i in 0..k {
        let Some(pivot) = (0..n).max_by(|a, b| rows[i][*a].abs().total_cmp(&rows[i][*b].abs()))
        else {
            continue;
        };
        let head = rows[i][pivot];
        if head == 0.0 {
            continue;
        }
        rows[i].iter_mut().for_each(|x| *x /= head);
        let own = rows[i].clone();
        for (other, row) in rows.iter_mut().enumerate() {
            if other != i && found.poles[other] == found.poles[i] {
                let factor = row[pivot];
                row.iter_mut().zip(&own).for_each(|(x, own)| *x -= factor * own);
            }
        }
    }
    let of = |(row, pole): (&Vec<f64>, &c64)| {
        let largest = row.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let mut states: Vec<(String, f64)> = row
            .iter()
            .enumerate()
            .filter(|(_, x)| x.abs() > 1e-6 * largest)
            .map(|(j, x)| (plant.states[j].name.clone(), *x / largest))
            .collect();
        states.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        TakenOut { pole: *pole, states }
    };
    rows.iter().zip(&found.poles).map(of).collect()
}

/// Gain on x for `u = −K z`, where `z = P δ` of the states that are kept: M with `M C = K P E`, E
/// selecting these among all states. Fails if x does not contain the directions of the gain.
pub(super) fn on_outputs(
    plant: &Linearization,
    (c, kept): (&Mat<f64>, &[usize]),
    (gain, to): (&Mat<f64>, &Mat<f64>),
) -> Result<Mat<f64>, Error> {
    let n = c.ncols();
    let mut wanted = Mat::<f64>::zeros(to.nrows(), n);
    for (j, at) in kept.iter().enumerate() {
        (0..to.nrows()).for_each(|i| wanted[(i, *at)] = to[(i, j)]);
    }
    let shown = |c: &Mat<f64>, wanted: &Mat<f64>| -> Result<(Mat<f64>, Vec<f64>), Error> {
        let back = wanted * pseudoinverse(c, 1e-9).map_err(told)?;
        let left = wanted - &back * c;
        let missing = (0..left.nrows()).map(|i| {
            let row = |m: &Mat<f64>| (0..m.ncols()).map(|j| m[(i, j)] * m[(i, j)]).sum::<f64>();
            (row(&left) / row(wanted).max(f64::MIN_POSITIVE)).sqrt()
        });
        let missing = missing.collect();
        Ok((back, missing))
    };
    let is_shown = |missing: &[f64]| missing.iter().all(|share| *share < 1e-6);
    let (back, missing) = shown(c, &wanted)?;
    if is_shown(&missing) {
        return Ok(gain * back);
    }
    // States left out by name may be combined with others in x: then they disturb.
    let of_kept = Mat::from_fn(c.nrows(), kept.len(), |i, j| c[(i, kept[j])]);
    let (back, missing) = shown(&of_kept, to)?;
    if is_shown(&missing) {
        return Ok(gain * back);
    }
    let rank = legwork_linear::rank(c, 1e-9).map_err(told)?;
    let unseen: Vec<&str> = kept
        .iter()
        .filter(|j| (0..c.nrows()).all(|i| c[(i, **j)].abs() < 1e-9))
        .map(|j| plant.states[*j].name.as_str())
        .collect();
    let which = match unseen.is_empty() {
        true => String::new(),
        false => format!(": not `{}`", unseen.join("`, `")),
    };
    Err(Error::request(format!(
        "the input `x` of the block shows {rank} of {n} states{which}; connect the others, \
         estimate them, or leave them out by name"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_name_states_signals_and_blocks() {
        let name = "sim.body.state.s[1]";
        for pattern in [name, "sim", "sim.body.state.s", "*.s[*", "sim*1]", "*", "*state*"] {
            assert!(is_named(pattern, name), "{pattern}");
        }
        for pattern in ["si", "sim.body.state.s[", "sim.body.state.s[10]", "*.s_dot*", "", "x*"] {
            assert!(!is_named(pattern, name), "{pattern}");
        }
    }
}
