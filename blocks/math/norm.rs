//! `Norm`: the length of a vector.

use legwork_block::{
    Inputs, Outcome, Outputs, Pure, Real, Slope, Slopes, Vector, block, parameters, ports,
};

/// The Euclidean length of a vector: `y = √(Σ uᵢ²)`.
///
/// The norm of a vector without elements is 0. Elements beyond 1e154 overflow.
#[ports(
    let unit = ports.var();
    in  u: Vector::of(ports.dim()), unit, "the vector", shape "vector", units "any";
    out y: Real, unit, "the length, zero or greater", shape "number", units "that of `u`";
)]
#[parameters(aliases("magnitude", "length"))]
pub struct Norm {}

#[block]
impl Pure for Norm {
    fn output(&self, io: &NormPorts, inp: &Inputs<'_>, out: &mut Outputs<'_>) -> Outcome {
        let squares = inp.get(io.u).iter().fold(0.0, |sum, u| sum + u * u);
        out.set(io.y, libm::sqrt(squares));
        Ok(())
    }

    fn slopes(&self, io: &NormPorts, inp: &Inputs<'_>, slopes: &mut Slopes<'_>) -> Slope {
        let u = inp.get(io.u);
        let length = libm::sqrt(u.iter().fold(0.0, |sum, u| sum + u * u));
        if length == 0.0 {
            return Slope::Unknown;
        }
        slopes.matrix(slopes.rows(io.y, 0), slopes.columns(io.u, 0), u, 1.0 / length);
        Slope::Exact
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
