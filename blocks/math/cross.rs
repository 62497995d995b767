//! `Cross`: the vector product.

use legwork_block::{In, Inputs, Invalid, Out, Outcome, Outputs, Ports, Pure, Vector};
use schemars::JsonSchema;
use serde::Deserialize;

/// The vector product: `y = u1 × u2`, right-handed.
///
/// | port | shape | unit |
/// |---|---|---|
/// | in `u1`, `u2` | vectors of 3, in the same axes | any |
/// | out `y` | vector of 3, in these axes | not checked |
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["cross product"]))]
pub struct Cross {}

impl Pure for Cross {
    const KIND: &'static str = "Cross";
    type Plan = (In<Vector>, In<Vector>, Out<Vector>);

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        let vector = Vector::of(3);
        let (u1, u2) = (ports.input("u1", &vector), ports.input("u2", &vector));
        Ok((u1, u2, ports.output("y", &vector)))
    }

    fn output(
        &self,
        &(u1, u2, y): &Self::Plan,
        inp: &Inputs<'_>,
        out: &mut Outputs<'_>,
    ) -> Outcome {
        let (a, b) = (inp.get(u1), inp.get(u2));
        out.get(y).copy_from_slice(&[
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;

    use super::*;
    use crate::testing::Bench;

    #[test]
    fn the_product_is_right_handed_and_stands_on_both_factors() {
        let mut bench = Bench::new(Cross {}, &[Type::vector(3), Type::vector(3)]).expect("it");
        let y = bench.y(0.0, &[("u1", &[1.0, 0.0, 0.0]), ("u2", &[0.0, 1.0, 0.0])]);
        assert_eq!(y, [0.0, 0.0, 1.0]);
        let (a, b) = ([1.0, -2.0, 3.0], [0.5, 4.0, -1.0]);
        let y = bench.y(0.0, &[("u1", &a), ("u2", &b)]);
        for factor in [a, b] {
            assert_eq!(y.iter().zip(factor).map(|(y, f)| y * f).sum::<f64>(), 0.0);
        }
    }
}
