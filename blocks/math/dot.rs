//! `Dot`: the scalar product.

use legwork_block::{
    Inputs, Outcome, Outputs, Pure, Real, Slope, Slopes, Vector, block, parameters, ports,
};

use crate::signal::units;

/// The scalar product of two vectors: `y = Σ u1ᵢ u2ᵢ`, summed in rising order.
#[ports(
    let n = ports.dim();
    let (one, other) = (units::open(ports), units::open(ports));
    in  u1: Vector::of(&n), one.clone(), "one factor", units "any";
    in  u2: Vector::of(&n), other.clone(), "the other, of the same length", units "any";
    out y: Real, units::product(&one, &other), "the product", shape "number",
        units "unit of u1 · u2";
)]
#[parameters(aliases("dot product", "inner product"))]
pub struct Dot {}

#[block]
impl Pure for Dot {
    fn output(&self, io: &DotPorts, inp: &Inputs<'_>, out: &mut Outputs<'_>) -> Outcome {
        let pairs = inp.get(io.u1).iter().zip(inp.get(io.u2));
        out.set(io.y, pairs.fold(0.0, |sum, (a, b)| sum + a * b));
        Ok(())
    }

    fn slopes(&self, io: &DotPorts, inp: &Inputs<'_>, slopes: &mut Slopes<'_>) -> Slope {
        let y = slopes.rows(io.y, 0);
        let (one, other) = (slopes.columns(io.u1, 0), slopes.columns(io.u2, 0));
        slopes.matrix(y, one, inp.get(io.u2), 1.0);
        slopes.matrix(y, other, inp.get(io.u1), 1.0);
        Slope::Exact
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
