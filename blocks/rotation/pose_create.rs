//! `PoseCreate`: a pose from a position and an orientation.

use legwork_block::{
    In, Inputs, Invalid, OptionalIn, Out, Outcome, Outputs, Ports, Pose, Pure, Vector,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::rotation::rotations;

/// A pose from the position of a frame's origin and the quaternion of its axes.
///
/// | port | shape | unit |
/// |---|---|---|
/// | in `position` | vector of 3 | m |
/// | in `q`, optional | quaternion (w, x, y, z) of any length but 0; level without | 1 |
/// | out `y` | Pose | 1, m |
///
/// With q = world_from_body and the position of the body's origin in the world it is
/// world_from_body. A quaternion of length 0 is a fault of the run.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["homogeneous transform"]))]
pub struct PoseCreate {}

impl Pure for PoseCreate {
    const KIND: &'static str = "PoseCreate";
    type Plan = (In<Vector>, OptionalIn<Vector>, Out<Pose>);

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        let position = ports.input("position", &Vector::of(3));
        ports.note_in(position).unit("m").doc("position of the origin");
        let q = ports.optional_input("q", &Vector::of(4));
        ports.note_optional(q).unit("1").doc("quaternion (w, x, y, z)");
        let y = ports.output("y", &Pose);
        ports.note_out(y).doc("the pose");
        Ok((position, q, y))
    }

    fn output(
        &self,
        &(position, q, y): &Self::Plan,
        inp: &Inputs<'_>,
        out: &mut Outputs<'_>,
    ) -> Outcome {
        let level = [1.0, 0.0, 0.0, 0.0];
        let q = rotations::unit(inp.optional(q).unwrap_or(&level))?;
        let (rotation, origin) = out.leaf(y, 0).split_at_mut(9);
        rotation.copy_from_slice(&rotations::rotation(q));
        origin.copy_from_slice(inp.get(position));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;

    use super::*;
    use crate::testing::Bench;

    #[test]
    fn rotation_comes_first_and_then_the_origin() {
        let types = [Type::vector(3), Type::vector(4)];
        let mut bench = Bench::new(PoseCreate {}, &types).expect("it");
        let y = bench.y(0.0, &[("position", &[1.0, 2.0, 3.0]), ("q", &[1.0, 0.0, 0.0, 1.0])]);
        let exact = [0.0, 1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0];
        for (y, exact) in y.iter().zip(exact) {
            assert!((y - exact).abs() < 1e-15);
        }
    }
}
