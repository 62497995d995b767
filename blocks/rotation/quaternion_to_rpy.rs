//! `QuaternionToRpy`: roll, pitch, yaw of a quaternion.

use legwork_block::{Inputs, Outcome, Outputs, Pure, Vector, block, parameters, ports};

use crate::rotation::rotations;

/// Roll, pitch and yaw of a quaternion, by the convention of URDF. They are the angles of
/// `R(q) = Rz(yaw) Ry(pitch) Rx(roll)`.
///
/// At a pitch of ±π/2 only a combination of roll and yaw is determined: roll is 0 then. Near it
/// small turns make large angles. A quaternion of length 0 is a fault of the run.
#[ports(
    in  q: Vector::of(4), "1", "quaternion (w, x, y, z), of any length but 0";
    out y: Vector::of(3), "rad",
        "roll, pitch, yaw: roll and yaw from −π to π, pitch from −π/2 to π/2";
)]
#[parameters(aliases("Euler angles"))]
pub struct QuaternionToRpy {}

#[block]
impl Pure for QuaternionToRpy {
    fn output(&self, io: &Self::Plan, inp: &Inputs<'_>, out: &mut Outputs<'_>) -> Outcome {
        let rotation = rotations::rotation(rotations::unit(inp.get(io.q))?);
        out.get(io.y).copy_from_slice(&rotations::roll_pitch_yaw(&rotation));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;

    use super::*;
    use crate::testing::Bench;

    #[test]
    fn a_turn_about_one_axis_is_one_angle() {
        let mut bench = Bench::new(QuaternionToRpy {}, &[Type::vector(4)]).expect("it");
        let (sine, cosine) = libm::sincos(0.35);
        for axis in 0..3 {
            let mut q = [cosine, 0.0, 0.0, 0.0];
            q[axis + 1] = sine;
            for (i, y) in bench.y(0.0, &[("q", &q)]).iter().enumerate() {
                let exact = if i == axis { 0.7 } else { 0.0 };
                assert!((y - exact).abs() < 1e-15, "axis {axis}");
            }
        }
    }
}
