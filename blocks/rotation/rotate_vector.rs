//! `RotateVector`: a vector in other axes.

use legwork_block::{Any, Inputs, Outcome, Outputs, Pure, Type, Vector, block, parameters, ports};

use crate::rotation::rotations;

/// Rotates a vector into other axes: `y = R u`, or `y = Rᵀ u` with `inverse: true`. With R =
/// world_from_body, u in body axes becomes y in world axes.
#[ports(
    let unit = ports.var();
    let by = match self.by {
        By::Quaternion => Type::vector(4),
        By::Rotation => Type::Rotation,
    };
    in  rotation: Any(by), "1", "R, or a quaternion (w, x, y, z) of any length but 0",
        shape "vector of 4; Rotation for `by: Rotation`";
    in  u: Vector::of(3), unit, "the vector", units "any";
    out y: Vector::of(3), unit, "in other axes", units "that of `u`";
)]
#[parameters]
pub struct RotateVector {
    /// What `rotation` is: `Quaternion` or `Rotation`.
    #[default]
    pub by: By,
    /// Whether to rotate back.
    #[default]
    pub inverse: bool,
}

/// What says how a [`RotateVector`] rotates.
#[parameters]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum By {
    /// A quaternion (w, x, y, z).
    #[default]
    Quaternion,
    /// A rotation matrix.
    Rotation,
}

#[block]
impl Pure for RotateVector {
    fn output(&self, io: &Self::Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let (given, u) = (inputs.get(io.rotation).leaf(0), inputs.get(io.u));
        let y = match self.by {
            By::Rotation => rotations::rotate(given, u, self.inverse),
            By::Quaternion => {
                let rotation = rotations::rotation(rotations::unit(given)?);
                rotations::rotate(&rotation, u, self.inverse)
            }
        };
        outputs.get(io.y).copy_from_slice(&y);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block};

    /// Third independent way: v + 2 w (e × v) + 2 e × (e × v).
    #[test]
    fn quaternions_and_matrices_rotate_alike_and_back() {
        let (q, v) = ([0.5, -0.1, 0.7, 0.5], [1.0, -2.0, 0.5]);
        let (w, e) = (q[0], [q[1], q[2], q[3]]);
        let cross = |a: [f64; 3], b: [f64; 3]| {
            [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        };
        let once = cross(e, v);
        let twice = cross(e, once);
        let exact = [0, 1, 2].map(|i| v[i] + 2.0 * w * once[i] + 2.0 * twice[i]);
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-14);

        let rotate: RotateVector = block(json!({}));
        let mut by_q = Bench::new(rotate, &[Type::vector(4), Type::vector(3)]).expect("it");
        assert!(near(&by_q.y(0.0, &[("rotation", &q), ("u", &v)]), &exact));
        let rotate: RotateVector = block(json!({ "by": "Rotation" }));
        let mut by_r = Bench::new(rotate, &[Type::Rotation, Type::vector(3)]).expect("it");
        let r = rotations::rotation(q);
        assert!(near(&by_r.y(0.0, &[("rotation", &r), ("u", &v)]), &exact));
        let rotate: RotateVector = block(json!({ "inverse": true }));
        let mut back = Bench::new(rotate, &[Type::vector(4), Type::vector(3)]).expect("it");
        assert!(near(&back.y(0.0, &[("rotation", &q), ("u", &exact)]), &v));
    }
}
