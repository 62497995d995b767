//! `Norm`: the length of a vector.

use legwork_block::{In, Inputs, Invalid, Out, Outcome, Outputs, Ports, Pure, Real, Vector};
use schemars::JsonSchema;
use serde::Deserialize;

/// The Euclidean length of a vector: `y = √(Σ uᵢ²)`.
///
/// | port | shape | unit |
/// |---|---|---|
/// | in `u` | vector | any |
/// | out `y` | number, zero or greater | that of `u` |
///
/// The norm of a vector without elements is 0. Elements beyond 1e154 overflow.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["magnitude", "length"]))]
pub struct Norm {}

impl Pure for Norm {
    const KIND: &'static str = "Norm";
    type Plan = (In<Vector>, Out<Real>);

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        let (n, unit) = (ports.dim(), ports.var());
        let u = ports.input("u", &Vector(n));
        ports.note_in(u).same_unit(unit);
        let y = ports.output("y", &Real);
        ports.note_out(y).same_unit(unit).doc("the length");
        Ok((u, y))
    }

    fn output(&self, &(u, y): &Self::Plan, inp: &Inputs<'_>, out: &mut Outputs<'_>) -> Outcome {
        let squares = inp.get(u).iter().fold(0.0, |sum, u| sum + u * u);
        out.set(y, libm::sqrt(squares));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;

    use super::*;
    use crate::testing::Bench;

    fn norm(u: &[f64]) -> f64 {
        let mut bench = Bench::new(Norm {}, &[Type::vector(u.len())]).expect("a norm");
        bench.y(0.0, &[("u", u)])[0]
    }

    #[test]
    fn the_norm_is_the_length() {
        assert_eq!(norm(&[3.0, -4.0]), 5.0);
        assert_eq!(norm(&[2.0, 3.0, 6.0]), 7.0);
        assert_eq!(norm(&[]), 0.0);
    }

    #[test]
    fn scaling_the_vector_scales_the_norm_and_signs_do_not_matter() {
        assert_eq!(norm(&[4.0, -8.0, 2.0]), 4.0 * norm(&[-1.0, 2.0, -0.5]));
    }
}
