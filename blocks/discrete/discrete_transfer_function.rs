//! `DiscreteTransferFunction`: a rational function of z.

use legwork_block::quantity::{Scalar, Tensor};
use legwork_block::{Any, Invalid, Unit, parameters, ports};

use crate::signal::canonical::{Canonical, coefficients, discrete_filter};
use crate::signal::units;

/// A rational function of z: `Y(z) / U(z) = numerator(z) / denominator(z)`. It starts from rest.
///
/// Coefficients are in descending powers of z: `numerator: [1]`, `denominator: [1, -0.5]` is
/// 1 / (z − 0.5), that is y[k] = 0.5 y[k−1] + u[k−1]. The numerator's degree is at most the
/// denominator's; the input feeds through only if the degrees are equal. The period is stated with
/// `every:` or inherited from a discrete input.
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
#[parameters(aliases("IIR", "LTI"))]
pub struct DiscreteTransferFunction {
    /// Coefficients of the numerator, of falling powers of z; units are not checked.
    pub numerator: Vec<Scalar>,
    /// Coefficients of the denominator, of falling powers of z, the first not zero; units are not
    /// checked.
    pub denominator: Vec<Scalar>,
    /// State of the canonical form at t = 0, channel after channel: a list, or one number for all.
    #[default = 0]
    pub initial: Tensor,
}

impl DiscreteTransferFunction {
    fn canonical(&self) -> Result<Canonical, Invalid> {
        let numerator = coefficients("numerator", &self.numerator)?;
        let denominator = coefficients("denominator", &self.denominator)?;
        Canonical::new(&numerator, &denominator)
    }
}

discrete_filter!(DiscreteTransferFunction);

#[cfg(test)]
mod tests {
    use legwork_block::{Feeds, Type};
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block};

    /// 1 / (z² − z/2) delays y[k] = y[k−1]/2 + u[k−2].
    #[test]
    fn powers_of_z_are_delays() {
        let function: DiscreteTransferFunction =
            block(json!({ "numerator": [1], "denominator": [1, -0.5, 0] }));
        let mut bench = Bench::new(function, &[Type::Real]).expect("a function");
        assert_eq!(bench.declaration.groups, [Feeds::Only(vec![])]);
        let seen = bench.samples(&[1.0, 0.0, 0.0, 8.0, 0.0, 0.0]);
        assert_eq!(seen, [0.0, 0.0, 1.0, 0.5, 0.25, 8.125]);
    }

    /// z / (z − 1/2) feeds through: 1, 1/2, 1/4.
    #[test]
    fn equal_degrees_feed_through() {
        let function: DiscreteTransferFunction =
            block(json!({ "numerator": [1, 0], "denominator": [1, -0.5] }));
        let mut bench = Bench::new(function, &[Type::Real]).expect("a function");
        assert_eq!(bench.samples(&[1.0, 0.0, 0.0]), [1.0, 0.5, 0.25]);
    }
}
