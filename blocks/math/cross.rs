//! `Cross`: the vector product.

use legwork_block::{
    Inputs, Outcome, Outputs, Pure, Slope, Slopes, Vector, block, parameters, ports,
};

use crate::signal::units;

/// The vector product: `y = u1 × u2`, right-handed.
#[ports(
    let (one, other) = (units::open(ports), units::open(ports));
    in  u1: Vector::of(3), one.clone(), "left factor", units "any";
    in  u2: Vector::of(3), other.clone(), "right factor, in the same axes", units "any";
    out y: Vector::of(3), units::product(&one, &other), "the product, in these axes",
        units "unit of u1 · u2";
)]
#[parameters(aliases("cross product"))]
pub struct Cross {}

#[block]
impl Pure for Cross {
    fn output(&self, io: &CrossPorts, inp: &Inputs<'_>, out: &mut Outputs<'_>) -> Outcome {
        let (a, b) = (inp.get(io.u1), inp.get(io.u2));
        out.get(io.y).copy_from_slice(&[
            a[1] * b[2] - a[2] * b[1],
            a[2] * b[0] - a[0] * b[2],
            a[0] * b[1] - a[1] * b[0],
        ]);
        Ok(())
    }

    fn slopes(&self, io: &CrossPorts, inp: &Inputs<'_>, slopes: &mut Slopes<'_>) -> Slope {
        let (a, b) = (inp.get(io.u1), inp.get(io.u2));
        let y = slopes.rows(io.y, 0);
        let (left, right) = (slopes.columns(io.u1, 0), slopes.columns(io.u2, 0));
        // [a]×, column by column.
        let skew = |a: &[f64]| [0.0, a[2], -a[1], -a[2], 0.0, a[0], a[1], -a[0], 0.0];
        slopes.matrix(y, left, &skew(b), -1.0);
        slopes.matrix(y, right, &skew(a), 1.0);
        Slope::Exact
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
