//! `QuaternionProduct`: one rotation after another.

use legwork_block::{In, Inputs, Invalid, Out, Outcome, Outputs, Ports, Pure, Vector};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::rotation::rotations;

/// Hamilton's product of two quaternions: `q = u1 ⊗ u2`, R(q) = R(u1) R(u2). In terms of frames:
/// a_from_c = a_from_b ⊗ b_from_c.
///
/// | port | shape | unit |
/// |---|---|---|
/// | in `u1`, `u2` | vectors of 4 (w, x, y, z) | 1 |
/// | out `q` | vector of 4; its length is the product of theirs | 1 |
///
/// With `conjugate: First` it is u1* ⊗ u2, with `conjugate: Second` u1 ⊗ u2*: of unit quaternions
/// the conjugate q* = (w, −x, −y, −z) is the inverse.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuaternionProduct {
    /// Which factor is conjugated: `None`, `First` or `Second`; default `None`.
    #[serde(default)]
    pub conjugate: Factor,
}

/// A factor of a [`QuaternionProduct`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
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

impl Pure for QuaternionProduct {
    const KIND: &'static str = "QuaternionProduct";
    type Plan = (In<Vector>, In<Vector>, Out<Vector>);

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        let vector = Vector::of(4);
        let (u1, u2) = (ports.input("u1", &vector), ports.input("u2", &vector));
        ports.note_in(u1).unit("1").doc("quaternion (w, x, y, z)");
        ports.note_in(u2).unit("1").doc("quaternion (w, x, y, z)");
        let q = ports.output("q", &vector);
        ports.note_out(q).unit("1").doc("quaternion (w, x, y, z)");
        Ok((u1, u2, q))
    }

    fn output(
        &self,
        &(u1, u2, q): &Self::Plan,
        inp: &Inputs<'_>,
        out: &mut Outputs<'_>,
    ) -> Outcome {
        let a = read(inp.get(u1), self.conjugate == Factor::First);
        let b = read(inp.get(u2), self.conjugate == Factor::Second);
        out.get(q).copy_from_slice(&rotations::product(a, b));
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
