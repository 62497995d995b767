//! `DiscreteFilter`: a rational function of z⁻¹.

use legwork_block::quantity::{Scalar, Tensor};
use legwork_block::{Any, Invalid, Unit, parameters, ports};

use crate::signal::canonical::{Canonical, coefficients, discrete_filter};
use crate::signal::units;

/// A digital filter in powers of z⁻¹, from rest.
/// `a₀ y[k] + a₁ y[k−1] + … = b₀ u[k] + b₁ u[k−1] + …` with b = `numerator` and a = `denominator`.
///
/// With the denominator `[1]`, its default, the response to an impulse is finite. The input feeds
/// through only if b₀ is not zero. The period is stated with `every:` or inherited from a discrete
/// input. For powers of z see `DiscreteTransferFunction`.
#[ports(
    |canonical: &Canonical|
    let ty = Any::var(ports.number_var());
    let gain = units::filter(&self.numerator, &self.denominator, Unit::ONE, ports)?;
    let unit = units::open(ports);
    in  u: ty.clone() as Any, unit.clone(), "what is filtered",
        shape "number, vector or matrix, each element filtered on its own", units "any";
    let direct = canonical.feeds_through().then_some(u);
    feeds(direct);
    out y: ty as Any, units::product(&gain, &unit), "the filtered signal", shape "that of `u`",
        units "unit of numerator / denominator · u", elements u;
)]
#[parameters(aliases("FIR", "IIR", "digital filter"))]
pub struct DiscreteFilter {
    /// b₀, b₁, …; units are not checked.
    pub numerator: Vec<Scalar>,
    /// a₀, a₁, …, the first not zero; units are not checked.
    #[default = [1]]
    pub denominator: Vec<Scalar>,
    /// State of the canonical form at t = 0, channel after channel: a list, or one number for all.
    #[default = 0]
    pub initial: Tensor,
}

impl DiscreteFilter {
    fn canonical(&self) -> Result<Canonical, Invalid> {
        let mut numerator = coefficients("numerator", &self.numerator)?;
        let mut denominator = coefficients("denominator", &self.denominator)?;
        // Times z to the highest power that occurs: the same coefficients as powers of z.
        let len = numerator.len().max(denominator.len());
        numerator.resize(len, 0.0);
        if !denominator.is_empty() {
            denominator.resize(len, 0.0);
        }
        Canonical::new(&numerator, &denominator)
    }
}

discrete_filter!(DiscreteFilter);

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block, refusal};

    /// The difference equation, written out.
    fn by_hand(b: &[f64], a: &[f64], u: &[f64]) -> Vec<f64> {
        let mut y: Vec<f64> = Vec::new();
        for k in 0..u.len() {
            let sum = |c: &[f64], from: usize, of: &[f64]| -> f64 {
                (from..c.len()).filter(|i| *i <= k).map(|i| c[i] * of[k - i]).sum()
            };
            let next = (sum(b, 0, u) - sum(a, 1, &y)) / a[0];
            y.push(next);
        }
        y
    }

    fn outputs(b: &[f64], a: &[f64], u: &[f64]) -> Vec<f64> {
        let filter: DiscreteFilter = block(json!({ "numerator": b, "denominator": a }));
        let mut bench = Bench::new(filter, &[Type::Real]).expect("a filter");
        bench.samples(u)
    }

    #[test]
    fn the_difference_equation_holds() {
        let u = [1.0, -2.0, 0.5, 3.0, 0.0, 0.25, -1.0, 4.0];
        let cases: [(&[f64], &[f64]); 4] = [
            (&[0.5, 0.25], &[1.0, -0.5, 0.125]),
            (&[0.0, 1.0, 2.0], &[2.0, 1.0]),
            (&[1.0, 2.0, 3.0, 4.0], &[1.0]),
            (&[3.0], &[4.0]),
        ];
        for (b, a) in cases {
            for (y, exact) in outputs(b, a, &u).iter().zip(by_hand(b, a, &u)) {
                assert!((y - exact).abs() < 1e-13, "{b:?} / {a:?}: {y} against {exact}");
            }
        }
    }

    #[test]
    fn elements_are_filtered_on_their_own() {
        let mean: DiscreteFilter = block(json!({ "numerator": [0.5, 0.5] }));
        let mut bench = Bench::new(mean, &[Type::matrix(2, 1)]).expect("a filter");
        assert_eq!(bench.y(0.0, &[("u", &[2.0, 8.0])]), [1.0, 4.0]);
        bench.update(0.0);
        assert_eq!(bench.y(0.0, &[("u", &[4.0, 0.0])]), [3.0, 4.0]);
    }

    #[test]
    fn the_first_coefficient_of_the_denominator_is_not_zero() {
        let wrong: DiscreteFilter = block(json!({ "numerator": [1], "denominator": [0, 1] }));
        assert!(refusal(wrong, &[]).starts_with("expected a first coefficient other than zero"));
    }
}
