//! `QuaternionToRotation`: the rotation matrix of a quaternion.

use legwork_block::{Inputs, Outcome, Outputs, Pure, Rotation, Vector, block, parameters, ports};

use crate::rotation::rotations;

/// The rotation matrix of a quaternion (w, x, y, z). `y v = q ⊗ (0, v) ⊗ q*`: with q =
/// world_from_body it turns body axes into world axes.
///
/// The quaternion is brought to unit length first. A length of 0 is a fault of the run.
#[ports(
    in  q: Vector::of(4), "1", "quaternion (w, x, y, z), of any length but 0";
    out y: Rotation, _, "the rotation", shape "Rotation", units "1";
)]
#[parameters(aliases("DCM", "direction cosine matrix"))]
pub struct QuaternionToRotation {}

#[block]
impl Pure for QuaternionToRotation {
    fn output(&self, io: &Self::Plan, inp: &Inputs<'_>, out: &mut Outputs<'_>) -> Outcome {
        let q = rotations::unit(inp.get(io.q))?;
        out.get(io.y).copy_from_slice(&rotations::rotation(q));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;

    use super::*;
    use crate::testing::Bench;

    #[test]
    fn a_quarter_turn_about_z_maps_x_to_y() {
        let mut bench = Bench::new(QuaternionToRotation {}, &[Type::vector(4)]).expect("it");
        let y = bench.y(0.0, &[("q", &[5.0, 0.0, 0.0, 5.0])]);
        let exact = [0.0, 1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
        for (y, exact) in y.iter().zip(exact) {
            assert!((y - exact).abs() < 1e-15);
        }
        bench.set("q", &[0.0; 4]);
        let fault = bench.output(0.0).unwrap_err();
        assert!(fault.message.starts_with("expected a quaternion of a length"), "{fault}");
    }
}
