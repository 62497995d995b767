//! `RotationToQuaternion`: the quaternion of a rotation matrix.

use legwork_block::{Inputs, Outcome, Outputs, Pure, Rotation, Vector, block, parameters, ports};

use crate::rotation::rotations;

/// The quaternion of a rotation matrix, of unit length with w ≥ 0.
///
/// q and −q are one rotation: at half turns the sign of (x, y, z) can jump. S. W. Shepperd,
/// *Quaternion from rotation matrix* (1978): by the largest component, exact to rounding
/// everywhere.
#[ports(
    in  u: Rotation, _, "the rotation", shape "Rotation", units "1";
    out q: Vector::of(4), "1", "quaternion (w, x, y, z)";
)]
#[parameters(aliases("DCM", "direction cosine matrix"))]
pub struct RotationToQuaternion {}

#[block]
impl Pure for RotationToQuaternion {
    fn output(&self, io: &Self::Plan, inp: &Inputs<'_>, out: &mut Outputs<'_>) -> Outcome {
        out.get(io.q).copy_from_slice(&rotations::quaternion(inp.get(io.u)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;

    use super::*;
    use crate::testing::Bench;

    #[test]
    fn a_half_turn_about_y_is_the_quaternion_y() {
        let mut bench = Bench::new(RotationToQuaternion {}, &[Type::Rotation]).expect("it");
        bench.set("u", &[-1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -1.0]);
        bench.output(0.0).expect("no fault");
        assert_eq!(bench.value("q"), [0.0, 0.0, 1.0, 0.0]);
    }
}
