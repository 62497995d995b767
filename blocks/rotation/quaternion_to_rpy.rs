//! `QuaternionToRpy`: roll, pitch, yaw of a quaternion.

use legwork_block::{In, Inputs, Invalid, Out, Outcome, Outputs, Ports, Pure, Vector};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::rotation::rotations;

/// Roll, pitch and yaw of a quaternion, by the convention of URDF. They are the angles of
/// `R(q) = Rz(yaw) Ry(pitch) Rx(roll)`.
///
/// | port | shape | unit |
/// |---|---|---|
/// | in `q` | vector of 4 (w, x, y, z), of any length but 0 | 1 |
/// | out `y` | vector of 3: roll and yaw from −π to π, pitch from −π/2 to π/2 | rad |
///
/// At a pitch of ±π/2 only a combination of roll and yaw is determined: roll is 0 then. Near it
/// small turns make large angles. A quaternion of length 0 is a fault of the run.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["Euler angles"]))]
pub struct QuaternionToRpy {}

impl Pure for QuaternionToRpy {
    const KIND: &'static str = "QuaternionToRpy";
    type Plan = (In<Vector>, Out<Vector>);

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        let q = ports.input("q", &Vector::of(4));
        ports.note_in(q).unit("1").doc("quaternion (w, x, y, z)");
        let y = ports.output("y", &Vector::of(3));
        ports.note_out(y).unit("rad").doc("roll, pitch, yaw");
        Ok((q, y))
    }

    fn output(&self, &(q, y): &Self::Plan, inp: &Inputs<'_>, out: &mut Outputs<'_>) -> Outcome {
        let rotation = rotations::rotation(rotations::unit(inp.get(q))?);
        out.get(y).copy_from_slice(&rotations::roll_pitch_yaw(&rotation));
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
