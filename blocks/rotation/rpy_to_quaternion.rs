//! `RpyToQuaternion`: the quaternion of roll, pitch, yaw.

use legwork_block::{Inputs, Outcome, Outputs, Pure, Vector, block, parameters, ports};

use crate::rotation::rotations;

/// The quaternion of roll, pitch and yaw, by the convention of URDF. It is that of
/// `Rz(yaw) Ry(pitch) Rx(roll)`.
///
/// It is continuous in the angles: a full turn changes its sign, which is the same rotation.
#[ports(
    in  u: Vector::of(3), "rad", "roll, pitch, yaw";
    out q: Vector::of(4), "1", "quaternion (w, x, y, z), of unit length";
)]
#[parameters(aliases("Euler angles"))]
pub struct RpyToQuaternion {}

#[block]
impl Pure for RpyToQuaternion {
    fn output(&self, io: &Self::Plan, inp: &Inputs<'_>, out: &mut Outputs<'_>) -> Outcome {
        out.get(io.q).copy_from_slice(&rotations::of_roll_pitch_yaw(inp.get(io.u)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;

    use super::*;
    use crate::testing::Bench;

    #[test]
    fn quarter_turns_are_halves_of_roots() {
        let mut bench = Bench::new(RpyToQuaternion {}, &[Type::vector(3)]).expect("it");
        let quarter = std::f64::consts::FRAC_PI_2;
        bench.set("u", &[quarter, 0.0, quarter]);
        bench.output(0.0).expect("no fault");
        for q in bench.value("q") {
            assert!((q - 0.5).abs() < 1e-15, "{q}");
        }
    }
}
