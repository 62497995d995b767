//! `RotateVector`: a vector in other axes.

use legwork_block::{Any, In, Inputs, Invalid, Out, Outcome, Outputs, Ports, Pure, Type, Vector};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::rotation::rotations;

/// Rotates a vector into other axes: `y = R u`, or `y = Rᵀ u` with `inverse: true`. With R =
/// world_from_body, u in body axes becomes y in world axes.
///
/// | port | shape | unit |
/// |---|---|---|
/// | in `rotation` | vector of 4 (w, x, y, z), not zero; Rotation with `by: Rotation` | 1 |
/// | in `u` | vector of 3 | any |
/// | out `y` | vector of 3 | that of `u` |
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RotateVector {
    /// What `rotation` is: `Quaternion` or `Rotation`; default `Quaternion`.
    #[serde(default)]
    pub by: By,
    /// Whether to rotate back; default false.
    #[serde(default)]
    pub inverse: bool,
}

/// What says how a [`RotateVector`] rotates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum By {
    /// A quaternion (w, x, y, z).
    #[default]
    Quaternion,
    /// A rotation matrix.
    Rotation,
}

/// Ports of a [`RotateVector`].
pub struct Plan {
    rotation: In<Any>,
    u: In<Vector>,
    y: Out<Vector>,
}

impl Pure for RotateVector {
    const KIND: &'static str = "RotateVector";
    type Plan = Plan;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let ty = match self.by {
            By::Quaternion => Type::vector(4),
            By::Rotation => Type::Rotation,
        };
        let (vector, unit) = (Vector::of(3), ports.var());
        let rotation = ports.input("rotation", &Any(ty));
        let u = ports.input("u", &vector);
        let y = ports.output("y", &vector);
        ports.note_in(rotation).unit("1");
        ports.note_in(u).same_unit(unit);
        ports.note_out(y).same_unit(unit);
        Ok(Plan { rotation, u, y })
    }

    fn output(&self, plan: &Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let (given, u) = (inputs.get(plan.rotation).leaf(0), inputs.get(plan.u));
        let y = match self.by {
            By::Rotation => rotations::rotate(given, u, self.inverse),
            By::Quaternion => {
                let rotation = rotations::rotation(rotations::unit(given)?);
                rotations::rotate(&rotation, u, self.inverse)
            }
        };
        outputs.get(plan.y).copy_from_slice(&y);
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
