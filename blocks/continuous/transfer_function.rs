//! `TransferFunction`: a rational function of s.

use legwork_block::quantity::{Scalar, Tensor};
use legwork_block::{Any, Invalid, Unit, parameters, ports};

use crate::signal::canonical::{Canonical, Filtered, coefficients, continuous_filter};
use crate::signal::units;

/// A rational function of s: `Y(s) / U(s) = numerator(s) / denominator(s)`. It starts from rest
/// unless `initial` says otherwise.
///
/// Coefficients are in descending powers of s [1/s]: `numerator: [1]`, `denominator: [1, 2, 5]` is
/// 1 / (s² + 2 s + 5). The numerator's degree is at most the denominator's; the input feeds through
/// only if the degrees are equal. The state is that of the controllable canonical form (T. Kailath,
/// *Linear Systems*, 1980, section 2.1.2), which loses digits at high orders: from order six or so
/// on rather chain blocks of order two.
#[ports(
    |canonical: &Canonical, ty: &Any|
    let gain = units::filter(&self.numerator, &self.denominator, Unit::HERTZ, ports)?;
    let unit = units::open(ports);
    in  u: ty.clone() as Any, unit.clone(), "what is filtered",
        shape "number; vector with `of: Vector`, each element filtered on its own", units "any";
    let direct = canonical.feeds_through().then_some(u);
    feeds(direct);
    out y: ty.clone() as Any, units::product(&gain, &unit), "the filtered signal",
        shape "that of `u`", units "unit of numerator / denominator · u", elements u;
)]
#[parameters(aliases("LTI", "filter", "low-pass"))]
pub struct TransferFunction {
    /// Coefficients of the numerator, of falling powers of s; units are not checked.
    pub numerator: Vec<Scalar>,
    /// Coefficients of the denominator, of falling powers of s, the first not zero; units are not
    /// checked.
    pub denominator: Vec<Scalar>,
    /// What `u` is: `Number` or `Vector`.
    #[default]
    pub of: Filtered,
    /// State of the canonical form at t = 0, channel after channel: a list, or one number for all.
    #[default = 0]
    pub initial: Tensor,
}

impl TransferFunction {
    fn canonical(&self) -> Result<Canonical, Invalid> {
        let numerator = coefficients("numerator", &self.numerator)?;
        let denominator = coefficients("denominator", &self.denominator)?;
        Canonical::new(&numerator, &denominator)
    }
}

continuous_filter!(TransferFunction);

#[cfg(test)]
mod tests {
    use legwork_block::{Feeds, Type};
    use serde_json::json;

    use super::*;
    use crate::testing::integrate::rk4;
    use crate::testing::{Bench, block, refusal};

    fn function(numerator: &[f64], denominator: &[f64]) -> TransferFunction {
        block(json!({ "numerator": numerator, "denominator": denominator }))
    }

    /// ω² / (s² + 2 ζ ω s + ω²), step response of a lightly damped oscillator.
    #[test]
    fn the_step_response_is_that_of_an_oscillator() {
        let (zeta, omega) = (0.2, 3.0);
        let square = omega * omega;
        let oscillator = function(&[square], &[1.0, 2.0 * zeta * omega, square]);
        let mut bench = Bench::new(oscillator, &[Type::Real]).expect("a function");
        assert_eq!(bench.declaration.groups, [Feeds::Only(vec![])]);
        let damped = omega * libm::sqrt(1.0 - zeta * zeta);
        for k in 1..=400 {
            rk4(&mut bench, 0.01 * f64::from(k - 1), 0.01, |_| vec![1.0]);
            let t = 0.01 * f64::from(k);
            let wave = libm::cos(damped * t) + zeta * omega / damped * libm::sin(damped * t);
            let exact = 1.0 - libm::exp(-zeta * omega * t) * wave;
            let y = bench.y(t, &[])[0];
            // RK4 at h ω = 0.03: (h ω)⁴ · t ω / 120.
            assert!((y - exact).abs() < 1e-7, "t = {t}: {y} against {exact}");
        }
    }

    /// (s + 3) / (s + 1) = 1 + 2 / (s + 1): the step response 3 − 2 e^(−t) jumps to 1.
    #[test]
    fn equal_degrees_feed_through() {
        let lead = function(&[2.0, 6.0], &[2.0, 2.0]);
        let mut bench = Bench::new(lead, &[Type::Real]).expect("a function");
        assert_ne!(bench.declaration.groups, [Feeds::Only(vec![])]);
        assert_eq!(bench.y(0.0, &[("u", &[1.0])]), [1.0]);
        for k in 0..100 {
            rk4(&mut bench, 0.01 * f64::from(k), 0.01, |_| vec![1.0]);
        }
        let exact = 3.0 - 2.0 * libm::exp(-1.0);
        assert!((bench.y(1.0, &[])[0] - exact).abs() < 1e-9);
    }

    #[test]
    fn elements_of_a_vector_are_filtered_on_their_own() {
        let lag: TransferFunction =
            block(json!({ "numerator": [1], "denominator": [1, 3, 2], "of": "Vector" }));
        let mut bench = Bench::new(lag, &[Type::vector(2)]).expect("a function");
        assert_eq!(bench.x.len(), 4);
        for k in 0..10 {
            rk4(&mut bench, 0.1 * f64::from(k), 0.1, |t| vec![libm::sin(t), -2.0 * libm::sin(t)]);
        }
        let y = bench.y(1.0, &[]);
        assert_eq!(y[1], -2.0 * y[0]);
        assert!(y[0] > 0.0);
    }

    /// 6 / (s² + 3 s + 2) under u = 1: y = 3 is the steady state, from the states (0, u / 2).
    #[test]
    fn it_begins_at_the_states_given() {
        let still = json!({ "numerator": [6], "denominator": [1, 3, 2], "initial": [0, 0.5] });
        let mut bench =
            Bench::new(block::<TransferFunction>(still), &[Type::Real]).expect("a function");
        assert_eq!(bench.y(0.0, &[("u", &[1.0])]), [3.0]);
        assert_eq!(bench.derivative(0.0), [0.0, 0.0]);
        let short = json!({ "numerator": [6], "denominator": [1, 3, 2], "initial": [0] });
        let message = refusal(block::<TransferFunction>(short), &[Type::Real]);
        assert_eq!(message, "expected 2 states, found the shape [1]");
    }

    #[test]
    fn a_constant_is_a_gain() {
        let mut bench = Bench::new(function(&[6.0], &[2.0]), &[Type::Real]).expect("a function");
        assert_eq!(bench.y(0.0, &[("u", &[-1.0])]), [-3.0]);
    }

    #[test]
    fn improper_functions_are_refused() {
        let message = refusal(function(&[1.0, 0.0, 0.0], &[1.0, 1.0]), &[]);
        assert!(message.starts_with("expected at most the degree 1"), "{message}");
    }
}
