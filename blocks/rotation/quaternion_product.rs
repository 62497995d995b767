//! `QuaternionProduct`: one rotation after another.

use legwork_block::{Inputs, Outcome, Outputs, Pure, Vector, block, parameters, ports};

use crate::rotation::rotations;

/// Hamilton's product of two quaternions: `q = u1 ⊗ u2`, R(q) = R(u1) R(u2). In terms of frames:
/// a_from_c = a_from_b ⊗ b_from_c.
///
/// With `conjugate: First` it is u1* ⊗ u2, with `conjugate: Second` u1 ⊗ u2*: of unit quaternions
/// the conjugate q* = (w, −x, −y, −z) is the inverse.
#[ports(
    in  u1: Vector::of(4), "1", "left quaternion (w, x, y, z)";
    in  u2: Vector::of(4), "1", "right quaternion (w, x, y, z)";
    out q: Vector::of(4), "1", "quaternion (w, x, y, z); its length is the product of theirs";
)]
#[parameters]
pub struct QuaternionProduct {
    /// Which factor is conjugated: `None`, `First` or `Second`.
    #[default]
    pub conjugate: Factor,
}

/// A factor of a [`QuaternionProduct`].
#[parameters]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum Factor {
    /// None.
    #[default]
    None,
    /// `u1`.
    First,
    /// `u2`.
    Second,
}

/// The quaternion, conjugated if that is wanted.
fn read(q: &[f64], conjugate: bool) -> [f64; 4] {
    let sign = if conjugate { -1.0 } else { 1.0 };
    [q[0], sign * q[1], sign * q[2], sign * q[3]]
}

#[block]
impl Pure for QuaternionProduct {
    fn output(&self, io: &Self::Plan, inp: &Inputs<'_>, out: &mut Outputs<'_>) -> Outcome {
        let a = read(inp.get(io.u1), self.conjugate == Factor::First);
        let b = read(inp.get(io.u2), self.conjugate == Factor::Second);
        out.get(io.q).copy_from_slice(&rotations::product(a, b));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block};

    fn product(conjugate: &str, u1: &[f64], u2: &[f64]) -> Vec<f64> {
        let block: QuaternionProduct = block(json!({ "conjugate": conjugate }));
        let mut bench = Bench::new(block, &[Type::vector(4), Type::vector(4)]).expect("it");
        bench.set("u1", u1);
        bench.set("u2", u2);
        bench.output(0.0).expect("no fault");
        bench.value("q")
    }

    /// Hamilton's i j = k, j k = i, k i = j.
    #[test]
    fn units_multiply_in_circles() {
        let (i, j, k) = ([0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]);
        assert_eq!(product("None", &i, &j), k);
        assert_eq!(product("None", &j, &k), i);
        assert_eq!(product("None", &k, &i), j);
        assert_eq!(product("None", &i, &i), [-1.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn a_quaternion_times_its_conjugate_is_its_square() {
        let q = [1.0, -2.0, 3.0, 0.5];
        let square = [14.25, 0.0, 0.0, 0.0];
        assert_eq!(product("First", &q, &q), square);
        assert_eq!(product("Second", &q, &q), square);
    }
}
