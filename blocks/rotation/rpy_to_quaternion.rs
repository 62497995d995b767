//! `RpyToQuaternion`: the quaternion of roll, pitch, yaw.

use legwork_block::{In, Inputs, Invalid, Out, Outcome, Outputs, Ports, Pure, Vector};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::rotation::rotations;

/// The quaternion of roll, pitch and yaw, by the convention of URDF. It is that of
/// `Rz(yaw) Ry(pitch) Rx(roll)`.
///
/// | port | shape | unit |
/// |---|---|---|
/// | in `u` | vector of 3: roll, pitch, yaw | rad |
/// | out `q` | vector of 4 (w, x, y, z), of unit length | 1 |
///
/// It is continuous in the angles: a full turn changes its sign, which is the same rotation.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["Euler angles"]))]
pub struct RpyToQuaternion {}

impl Pure for RpyToQuaternion {
    const KIND: &'static str = "RpyToQuaternion";
    type Plan = (In<Vector>, Out<Vector>);

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        let u = ports.input("u", &Vector::of(3));
        ports.note_in(u).unit("rad").doc("roll, pitch, yaw");
        let q = ports.output("q", &Vector::of(4));
        ports.note_out(q).unit("1").doc("quaternion (w, x, y, z)");
        Ok((u, q))
    }

    fn output(&self, &(u, q): &Self::Plan, inp: &Inputs<'_>, out: &mut Outputs<'_>) -> Outcome {
        out.get(q).copy_from_slice(&rotations::of_roll_pitch_yaw(inp.get(u)));
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
