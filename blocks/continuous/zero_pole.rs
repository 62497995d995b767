//! `ZeroPole`: a rational function of s by its zeros and poles.

use legwork_block::quantity::{Scalar, Tensor};
use legwork_block::{Any, Invalid, PortUnit, Unit, parameters, ports};

use crate::signal::canonical::{Canonical, Filtered, coefficients, continuous_filter};
use crate::signal::shape::finite;
use crate::signal::units;

/// A rational function of s by its zeros, poles and gain, from rest. With zeros z, poles p and gain
/// k `Y(s) / U(s) = k (s − z₁) (s − z₂) … / ((s − p₁) (s − p₂) …)`.
///
/// Zeros and poles [rad/s] are a list of real numbers, `[-1, -2]`, or of pairs of real and
/// imaginary part, `[[-1, 2], [-1, -2]]`. Complex ones come with their conjugates. There are at
/// most as many zeros as poles; the input feeds through only if there are as many. The factors are
/// multiplied out and the state is that of `TransferFunction`.
#[ports(
    |canonical: &Canonical, ty: &Any|
    let (gain, unit) = (self.gain_unit()?, units::open(ports));
    let out = gain.map_or(PortUnit::Adopted, |gain| units::product(&gain.into(), &unit));
    in  u: ty.clone() as Any, unit, "what is filtered",
        shape "number; vector with `of: Vector`, each element filtered on its own", units "any";
    let direct = canonical.feeds_through().then_some(u);
    feeds(direct);
    out y: ty.clone() as Any, out, "the filtered signal", shape "that of `u`",
        units "by `gain`", elements u;
)]
#[parameters(aliases("ZPK", "LTI"))]
pub struct ZeroPole {
    /// Zeros [rad/s].
    #[default = []]
    pub zeros: Tensor,
    /// Poles [rad/s].
    pub poles: Tensor,
    /// The gain k [unit of y / u, times s for each zero, over s for each pole]; without unit it
    /// says nothing of the units of `u` and `y`.
    pub gain: Scalar,
    /// What `u` is: `Number` or `Vector`.
    #[default]
    pub of: Filtered,
    /// State of the canonical form at t = 0, channel after channel: a list, or one number for all.
    #[default = 0]
    pub initial: Tensor,
}

/// The most roots of a polynomial, whose coefficients take the square of them.
const MOST_ROOTS: usize = 1000;

/// The polynomial with these roots, in falling powers, the first coefficient 1.
///
/// # Errors
/// If a complex root has no conjugate.
fn polynomial(name: &str, roots: &Tensor) -> Result<Vec<f64>, Invalid> {
    finite(name, roots)?;
    let count = roots.shape().first().copied().unwrap_or(1);
    if count > MOST_ROOTS {
        let message = format!("expected at most {MOST_ROOTS} roots, found {count}");
        return Err(Invalid::parameter(name, message));
    }
    let pairs: Vec<(f64, f64)> = match *roots.shape() {
        [_] => roots.data().iter().map(|re| (*re, 0.0)).collect(),
        [n, 2] => (0..n).map(|i| (roots.data()[i], roots.data()[n + i])).collect(),
        _ => {
            let message = "expected a list of numbers or of pairs of real and imaginary part";
            return Err(Invalid::parameter(name, message));
        }
    };
    let mut factors: Vec<Vec<f64>> =
        pairs.iter().filter(|(_, im)| *im == 0.0).map(|(re, _)| vec![1.0, -re]).collect();
    let mut below: Vec<(f64, f64)> = pairs.iter().copied().filter(|(_, im)| *im < 0.0).collect();
    for &(re, im) in pairs.iter().filter(|(_, im)| *im > 0.0) {
        let Some(at) = below.iter().position(|root| *root == (re, -im)) else {
            return Err(without_conjugate(name, re, im));
        };
        below.swap_remove(at);
        factors.push(vec![1.0, -2.0 * re, re * re + im * im]);
    }
    if let Some(&(re, im)) = below.first() {
        return Err(without_conjugate(name, re, im));
    }
    Ok(factors.iter().fold(vec![1.0], |product, factor| multiply(&product, factor)))
}

fn without_conjugate(name: &str, re: f64, im: f64) -> Invalid {
    let message = format!("expected the conjugate [{re}, {}] of [{re}, {im}], found none", -im);
    Invalid::parameter(name, message)
}

/// The product of two polynomials.
fn multiply(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; a.len() + b.len() - 1];
    for (i, a) in a.iter().enumerate() {
        for (j, b) in b.iter().enumerate() {
            product[i + j] += a * b;
        }
    }
    product
}

impl ZeroPole {
    /// The factor between the units of input and output, if the gain tells it.
    fn gain_unit(&self) -> Result<Option<Unit>, Invalid> {
        for (name, roots) in [("zeros", &self.zeros), ("poles", &self.poles)] {
            if let Some(unit) = roots.unit()
                && !unit.loosened().agrees(Unit::HERTZ)
            {
                let message = format!("expected the unit rad/s, found {unit}");
                return Err(Invalid::parameter(name, message));
            }
        }
        let count = |roots: &Tensor| roots.shape().first().copied().unwrap_or(1) as i32;
        let excess = count(&self.poles).checked_sub(count(&self.zeros));
        let scale = excess.and_then(|excess| Unit::SECOND.power(excess, 1));
        let unit = self.gain.unit.zip(scale).and_then(|(unit, scale)| unit.times(scale));
        Ok(unit.map(Unit::loosened))
    }

    fn canonical(&self) -> Result<Canonical, Invalid> {
        let gain = coefficients("gain", &[self.gain])?[0];
        let mut numerator = polynomial("zeros", &self.zeros)?;
        let denominator = polynomial("poles", &self.poles)?;
        if numerator.len() > denominator.len() {
            let message = format!(
                "expected at most as many zeros as the {} poles, found {}",
                denominator.len() - 1,
                numerator.len() - 1
            );
            return Err(Invalid::parameter("zeros", message));
        }
        numerator.iter_mut().for_each(|b| *b *= gain);
        Canonical::new(&numerator, &denominator)
    }
}

continuous_filter!(ZeroPole);

#[cfg(test)]
mod tests {
    use legwork_block::{Feeds, Type};
    use serde_json::json;

    use super::*;
    use crate::testing::integrate::rk4;
    use crate::testing::{Bench, block, refusal};

    /// 10 / ((s + 1 − 2j) (s + 1 + 2j)) has the impulse response 5 e^(−t) sin 2t, whose integral is
    /// its step response 2 − e^(−t) (2 cos 2t + sin 2t).
    #[test]
    fn a_pair_of_poles_is_a_damped_oscillation() {
        let pair: ZeroPole = block(json!({ "poles": [[-1, -2], [-1, 2]], "gain": 10 }));
        let mut bench = Bench::new(pair, &[Type::Real]).expect("a function");
        assert_eq!(bench.declaration.groups, [Feeds::Only(vec![])]);
        for k in 0..200 {
            rk4(&mut bench, 0.01 * f64::from(k), 0.01, |_| vec![1.0]);
        }
        let wave = 2.0 * libm::cos(4.0) + libm::sin(4.0);
        let exact = 2.0 - libm::exp(-2.0) * wave;
        assert!((bench.y(2.0, &[])[0] - exact).abs() < 1e-8);
    }

    /// A zero on top of a pole leaves the gain.
    #[test]
    fn a_zero_cancels_a_pole() {
        let none: ZeroPole = block(json!({ "zeros": [-3], "poles": [-3], "gain": 2 }));
        let mut bench = Bench::new(none, &[Type::Real]).expect("a function");
        for k in 0..10 {
            rk4(&mut bench, 0.1 * f64::from(k), 0.1, |t| vec![t]);
        }
        assert_eq!(bench.y(1.0, &[("u", &[1.0])]), [2.0]);
    }

    #[test]
    fn complex_roots_come_in_pairs_and_zeros_do_not_outnumber_poles() {
        let lone: ZeroPole = block(json!({ "poles": [[-1, 2], [-1, 0]], "gain": 1 }));
        let message = refusal(lone, &[]);
        assert_eq!(message, "expected the conjugate [-1, -2] of [-1, 2], found none");
        let many: ZeroPole = block(json!({ "zeros": [1, 2], "poles": [1], "gain": 1 }));
        let message = refusal(many, &[]);
        assert_eq!(message, "expected at most as many zeros as the 1 poles, found 2");
    }
}
