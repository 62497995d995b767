//! `Sign`: the sign of a number.

use legwork_block::{Any, In, Inputs, Invalid, Out, Outcome, Outputs, Ports, Pure, Sizes};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::shape;

/// The sign of every element: 1, 0 or −1.
///
/// | port | shape | unit |
/// |---|---|---|
/// | in `u` | any of number, vector, matrix | any |
/// | out `y` | that of `u` | 1 |
///
/// NaN passes. The change is not located inside an integration step; for friction a steep
/// `Trigonometry(function: Tanh)` is kinder to solvers.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sign {}

impl Pure for Sign {
    const KIND: &'static str = "Sign";
    type Plan = (In<Any>, Out<Any>);

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        let ty = Any::var(ports.var());
        let u = ports.input("u", &ty);
        let y = ports.output("y", &ty);
        ports.note_out(y).unit("1");
        Ok((u, y))
    }

    fn check(&self, &(u, _): &Self::Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        shape::expect_numbers(sizes, u)
    }

    fn output(&self, &(u, y): &Self::Plan, inp: &Inputs<'_>, out: &mut Outputs<'_>) -> Outcome {
        for (y, &u) in out.get(y).iter_mut().zip(inp.get(u).leaf(0)) {
            *y = if u > 0.0 {
                1.0
            } else if u < 0.0 {
                -1.0
            } else {
                // Zero of either sign, or NaN.
                u.abs()
            };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;

    use super::*;
    use crate::testing::Bench;

    #[test]
    fn there_are_three_signs() {
        let mut bench = Bench::new(Sign {}, &[Type::vector(4)]).expect("a sign");
        let u = [-1e-300, -0.0, 0.0, 7.0];
        assert_eq!(bench.y(0.0, &[("u", &u)]), [-1.0, 0.0, 0.0, 1.0]);
        assert!(bench.y(0.0, &[("u", &[f64::NAN; 4])])[0].is_nan());
    }
}
