//! `RotationToQuaternion`: the quaternion of a rotation matrix.

use legwork_block::{In, Inputs, Invalid, Out, Outcome, Outputs, Ports, Pure, Rotation, Vector};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::rotation::rotations;

/// The quaternion of a rotation matrix, of unit length with w ≥ 0.
///
/// | port | shape | unit |
/// |---|---|---|
/// | in `u` | Rotation | 1 |
/// | out `q` | vector of 4 (w, x, y, z) | 1 |
///
/// q and −q are one rotation: at half turns the sign of (x, y, z) can jump. S. W. Shepperd,
/// *Quaternion from rotation matrix* (1978): by the largest component, exact to rounding
/// everywhere.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["DCM", "direction cosine matrix"]))]
pub struct RotationToQuaternion {}

impl Pure for RotationToQuaternion {
    const KIND: &'static str = "RotationToQuaternion";
    type Plan = (In<Rotation>, Out<Vector>);

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        let u = ports.input("u", &Rotation);
        let q = ports.output("q", &Vector::of(4));
        ports.note_out(q).unit("1").doc("quaternion (w, x, y, z)");
        Ok((u, q))
    }

    fn output(&self, &(u, q): &Self::Plan, inp: &Inputs<'_>, out: &mut Outputs<'_>) -> Outcome {
        out.get(q).copy_from_slice(&rotations::quaternion(inp.get(u)));
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
