//! `Dot`: the scalar product.

use legwork_block::{In, Inputs, Invalid, Out, Outcome, Outputs, Ports, Pure, Real, Vector};
use schemars::JsonSchema;
use serde::Deserialize;

/// The scalar product of two vectors: `y = Σ u1ᵢ u2ᵢ`, summed in rising order.
///
/// | port | shape | unit |
/// |---|---|---|
/// | in `u1`, `u2` | vectors of one length | any |
/// | out `y` | number | not checked |
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["dot product", "inner product"]))]
pub struct Dot {}

impl Pure for Dot {
    const KIND: &'static str = "Dot";
    type Plan = (In<Vector>, In<Vector>, Out<Real>);

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        let vector = Vector(ports.dim());
        let (u1, u2) = (ports.input("u1", &vector), ports.input("u2", &vector));
        Ok((u1, u2, ports.output("y", &Real)))
    }

    fn output(
        &self,
        &(u1, u2, y): &Self::Plan,
        inp: &Inputs<'_>,
        out: &mut Outputs<'_>,
    ) -> Outcome {
        let pairs = inp.get(u1).iter().zip(inp.get(u2));
        out.set(y, pairs.fold(0.0, |sum, (a, b)| sum + a * b));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;

    use super::*;
    use crate::testing::Bench;

    #[test]
    fn products_of_elements_add_up() {
        let mut bench = Bench::new(Dot {}, &[Type::vector(3), Type::vector(3)]).expect("a product");
        let y = bench.y(0.0, &[("u1", &[1.0, 2.0, 3.0]), ("u2", &[4.0, -5.0, 6.0])]);
        assert_eq!(y, [12.0]);
    }
}
