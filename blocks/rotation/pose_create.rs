//! `PoseCreate`: a pose from a position and an orientation.

use legwork_block::{Inputs, Outcome, Outputs, Pose, Pure, Vector, block, parameters, ports};

use crate::rotation::rotations;

/// A pose from the position of a frame's origin and the quaternion of its axes.
///
/// With q = world_from_body and the position of the body's origin in the world it is
/// world_from_body. A quaternion of length 0 is a fault of the run.
#[ports(
    in  position: Vector::of(3), "m", "of the origin";
    in  q?: Vector::of(4), "1", "quaternion (w, x, y, z) of any length but 0; level without";
    out y: Pose, _, "the pose", units "1, m";
)]
#[parameters(aliases("homogeneous transform"))]
pub struct PoseCreate {}

#[block]
impl Pure for PoseCreate {
    fn output(&self, io: &Self::Plan, inp: &Inputs<'_>, out: &mut Outputs<'_>) -> Outcome {
        let level = [1.0, 0.0, 0.0, 0.0];
        let q = rotations::unit(inp.optional(io.q).unwrap_or(&level))?;
        let (rotation, origin) = out.leaf(io.y, 0).split_at_mut(9);
        rotation.copy_from_slice(&rotations::rotation(q));
        origin.copy_from_slice(inp.get(io.position));
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
