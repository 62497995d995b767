//! Columns of a Jacobian by differences whose steps fit them.

use crate::fault::RunFault;

/// Steps relative to 1 + the size of the number. The largest has an error of 1e-12 by itself, and
/// as much of rounding.
const FAR: f64 = 1e-3;
const NEAR: f64 = 1e-6;
/// So small since contact opens: in a step of 0.1 ms free fall closes a gap of no more than 1e-7 m.
pub(crate) const NEAREST: f64 = 2e-8;
/// How far two differences may be apart, relative to the largest of the column.
const AGREEMENT: f64 = 1e-6;
/// How far the two sides of a kink are apart at least, relative to the largest of the column.
const KINK: f64 = 1e-3;

/// How a column was found, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quality {
    /// The function is smooth: differences of fourth order, exact to about ten digits.
    Smooth,
    /// Central differences that are close together, exact to about six digits.
    Close,
    /// The two sides disagree: the mean of both slopes.
    Kink,
    /// A fault on one side, or on both: the slope of the other, or zero.
    OneSided,
}

/// A column and how it was found.
pub(crate) type Column = (Vec<f64>, Quality);

/// The power of two next to a step, so that x + h − x is h.
pub(crate) fn power_of_two(step: f64) -> f64 {
    libm::exp2(libm::round(libm::log2(step)))
}

/// The value of a function at 0 and the columns of its derivative there; `sizes` are those of its
/// arguments.
///
/// # Errors
/// If the function faults at 0.
pub(super) fn differences(
    columns: usize,
    rows: usize,
    sizes: &[f64],
    mut function: impl FnMut(&[f64], &mut [f64]) -> Result<(), RunFault>,
) -> Result<(Vec<f64>, Vec<Column>), RunFault> {
    let mut nominal = vec![0.0; rows];
    let mut delta = vec![0.0; columns];
    function(&delta, &mut nominal)?;
    let mut found = Vec::with_capacity(columns);
    for j in 0..columns {
        let size = 1.0 + sizes[j];
        let step = |relative: f64| power_of_two(relative * size);
        let mut at = |h: f64| -> Option<Vec<f64>> {
            let mut out = vec![0.0; rows];
            delta[j] = h;
            let outcome = function(&delta, &mut out);
            delta[j] = 0.0;
            outcome.is_ok().then_some(out)
        };
        found.push(column(&nominal, step, &mut at));
    }
    Ok((nominal, found))
}

/// The slopes of a function of one number at 0, where it is `nominal`: `at` gives it at a distance,
/// or nothing where it faults, and `step` makes a distance of a step relative to the number's size.
pub(crate) fn column(
    nominal: &[f64],
    step: impl Fn(f64) -> f64,
    at: &mut dyn FnMut(f64) -> Option<Vec<f64>>,
) -> Column {
    // The central difference, and how far the slopes of both sides are apart.
    let mut central = |h: f64| -> Option<(Vec<f64>, Vec<f64>)> {
        let (above, below) = (at(h)?, at(-h)?);
        let sides = above.iter().zip(&below).zip(nominal);
        Some(sides.map(|((a, b), f)| ((a - b) / (2.0 * h), (a - f - (f - b)) / h)).unzip())
    };
    let near = central(step(NEAR));
    let far = step(FAR);
    if let (Some((near, turn)), Some((one, wide)), Some((two, _))) =
        (&near, central(far), central(2.0 * far))
    {
        let fourth: Vec<f64> = one.iter().zip(&two).map(|(a, b)| (4.0 * a - b) / 3.0).collect();
        let noise = noise(nominal, step(NEAR));
        // The sides of a curve come together with the step, those of a kink do not, even if the
        // central differences agree.
        let is_kinked = turn
            .iter()
            .zip(&wide)
            .zip(&noise)
            .any(|((turn, wide), noise)| turn.abs() > 0.5 * wide.abs() + 4.0 * noise);
        if !is_kinked && agree(near, &fourth, AGREEMENT, &noise) {
            return (fourth, Quality::Smooth);
        }
    }
    let near = near.map(|(slopes, _)| slopes);
    let h = step(NEAREST);
    let (above, below) = (at(h), at(-h));
    let slope =
        |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| (a - b) / h).collect() };
    match (above, below) {
        (Some(above), Some(below)) => {
            let (right, left) = (slope(&above, nominal), slope(nominal, &below));
            let mean: Vec<f64> = right.iter().zip(&left).map(|(a, b)| 0.5 * (a + b)).collect();
            let noise = noise(nominal, h);
            if !agree(&right, &left, KINK, &noise) {
                return (mean, Quality::Kink);
            }
            match near {
                // The wider of the two, while it says the same.
                Some(near) if agree(&near, &mean, 1e-4, &noise) => (near, Quality::Close),
                _ => (mean, Quality::Close),
            }
        }
        (Some(above), None) => (slope(&above, nominal), Quality::OneSided),
        (None, Some(below)) => (slope(nominal, &below), Quality::OneSided),
        (None, None) => (vec![0.0; nominal.len()], Quality::OneSided),
    }
}

/// What rounding leaves of a slope: some last digits of the function over the step.
fn noise(nominal: &[f64], h: f64) -> Vec<f64> {
    nominal.iter().map(|f| 256.0 * f64::EPSILON * (1.0 + f.abs()) / h).collect()
}

/// Whether two columns agree, relative to their largest number and but for rounding.
fn agree(a: &[f64], b: &[f64], tolerance: f64, noise: &[f64]) -> bool {
    let largest = a.iter().chain(b).fold(0.0_f64, |most, x| most.max(x.abs()));
    let pairs = a.iter().zip(b).zip(noise);
    pairs.into_iter().all(|((a, b), noise)| (a - b).abs() <= tolerance * largest + noise)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(f: impl Fn(f64) -> f64) -> (f64, Quality) {
        let (_, columns) = differences(1, 1, &[0.0], |delta, out| {
            out[0] = f(delta[0]);
            Ok(())
        })
        .expect("no fault");
        (columns[0].0[0], columns[0].1)
    }

    #[test]
    fn smooth_functions_have_twelve_digits() {
        for x0 in [0.0, 0.7, -2.0] {
            let (slope, quality) = one(|h| (x0 + h).sin() + (0.5 * (x0 + h)).exp());
            let exact = x0.cos() + 0.5 * (0.5 * x0).exp();
            assert!((slope - exact).abs() < 1e-11, "{slope} against {exact}");
            assert_eq!(quality, Quality::Smooth);
        }
    }

    /// A contact that opens at a height of 1e-7: below it the law is linear.
    #[test]
    fn a_step_stays_on_its_side_of_a_kink_that_is_near() {
        let (slope, quality) = one(|h| if h < 1e-7 { -1e5 * h } else { -1e-2 });
        assert!((slope / -1e5 - 1.0).abs() < 1e-6, "{slope}");
        assert_eq!(quality, Quality::Close);
    }

    #[test]
    fn a_kink_is_named() {
        assert_eq!(one(f64::abs), (0.0, Quality::Kink));
        assert_eq!(one(|h| if h > 0.0 { 3.0 * h } else { h }).1, Quality::Kink);
    }
}
