//! `ContactPoint`: where a robot can touch the ground.

use legwork_block::quantity::Length;
use legwork_block::{Inputs, Invalid, Matrix, Out, Outcome, Outputs, Ports, Pure};
use legwork_contact::{Plane, sphere_on_plane};
use legwork_mechanics::{
    FrameId, Model, Shape, frame_jacobian_dot_velocity, point_jacobian,
    point_jacobian_dot_velocity, point_velocity, world_from_frame,
};
use nalgebra::{Matrix3, Vector3};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::buses::{ContactBus, RobotDims, contact_leaf as leaf};
use crate::robot_kinematics::AtState;
use crate::robot_name::RobotName;

/// A point of a robot that can touch the ground: distance, velocity and Jacobian.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `state` | State(robot) | | configuration and velocity |
/// | out `contact` | `Contact` | | position, axes, gap, velocity, Jacobian, J̇ν |
/// | out `jacobian` | 3 × nv | 1, m | `contact.jacobian`: `velocity = jacobian ν`, contact axes |
///
/// The contact axes are (t₁, t₂, n) with n out of the ground; on level ground they are the world's
/// x, y, z. The point is that of the shape which is nearest to the ground: for a sphere of radius r
/// about c it is `c − r n`, so `gap = n·(c − ground) − r` and `velocity = v_c + ω × (−r n)`. That
/// point stays below the centre while the sphere rolls, so J̇ν has no centripetal term of the
/// radius.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContactPoint {
    /// The robot.
    pub robot: RobotName,
    /// Name of a link of the robot file.
    pub frame: String,
    /// What touches: `FromCollision` (the default) takes the link's one collision sphere;
    /// `Sphere(radius: "2 cm")`, `Point`.
    #[serde(default)]
    pub shape: ContactShape,
    /// Where the sphere's centre or the point is in the frame [m]; default its origin. Not with
    /// `FromCollision`.
    #[serde(default)]
    pub at: Option<[Length; 3]>,
    /// The ground: `Level` (the default), at height zero, or `Plane(normal: [0, 0.1, 1])`.
    #[serde(default)]
    pub ground: Ground,
}

/// What of a robot touches the ground.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum ContactShape {
    /// The collision sphere that the robot file gives to the link.
    #[default]
    FromCollision,
    /// A sphere.
    Sphere {
        /// Its radius, zero or more [m].
        radius: legwork_block::quantity::NonNegative<Length>,
    },
    /// A point.
    Point,
}

/// The ground under a contact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Ground {
    /// The plane z = 0.
    #[default]
    Level,
    /// A plane.
    Plane {
        /// Direction out of the ground, world axes; of any length but zero [1].
        normal: [f64; 3],
        /// Distance of the plane from the world's origin along the normal [m]; default 0.
        #[serde(default)]
        offset: Option<Length>,
    },
}

impl Ground {
    fn plane(self) -> Result<Plane, Invalid> {
        let Self::Plane { normal, offset } = self else { return Ok(Plane::default()) };
        let through_origin = Plane::new(Vector3::zeros(), Vector3::from(normal));
        let offset = offset.map_or(0.0, |offset| offset.value());
        through_origin
            .and_then(|plane| Plane::new(offset * plane.normal(), plane.normal()))
            .ok_or_else(|| {
                let message = format!("expected a normal with a direction, found {normal:?}");
                Invalid::parameter("ground", message)
            })
    }
}

/// Ports and geometry of a [`ContactPoint`].
pub struct Plan {
    state: AtState,
    frame: FrameId,
    /// Centre of the sphere in the frame [m].
    centre: Vector3<f64>,
    radius: f64,
    plane: Plane,
    /// `world_from_contact`.
    axes: Matrix3<f64>,
    is_level: bool,
    contact: Out<ContactBus>,
    jacobian: Out<Matrix>,
}

impl ContactPoint {
    /// Centre in the frame and radius of what touches.
    fn sphere(&self, model: &Model, frame: FrameId) -> Result<(Vector3<f64>, f64), Invalid> {
        let at = self.at.map_or(Vector3::zeros(), |at| Vector3::from(at.map(Length::value)));
        match self.shape {
            ContactShape::Point => Ok((at, 0.0)),
            ContactShape::Sphere { radius } => Ok((at, radius.value())),
            ContactShape::FromCollision if self.at.is_some() => Err(Invalid::parameter(
                "at",
                "expected a shape with `at`, found FromCollision, which knows where it is",
            )
            .hint("write shape: Point or shape: Sphere(radius: …)")),
            ContactShape::FromCollision => collision_sphere(model, frame, &self.frame),
        }
    }
}

/// The one collision sphere of a link.
fn collision_sphere(
    model: &Model,
    frame: FrameId,
    name: &str,
) -> Result<(Vector3<f64>, f64), Invalid> {
    let spheres = model.collisions_of(frame).filter_map(|collision| match collision.shape {
        Shape::Sphere { radius } => Some((collision.link_from_shape.translation, radius)),
        _ => None,
    });
    let found: Vec<_> = spheres.collect();
    if let [sphere] = found.as_slice() {
        return Ok(*sphere);
    }
    let total = model.collisions_of(frame).count();
    let message = match (found.len(), total) {
        (0, 0) => format!("link `{name}` has no collision shape"),
        (0, _) => format!("link `{name}` has no sphere among its {total} collision shapes"),
        (many, _) => format!("expected one collision sphere of link `{name}`, found {many}"),
    };
    let mut with_sphere: Vec<&str> = model
        .collisions()
        .iter()
        .filter(|collision| matches!(collision.shape, Shape::Sphere { .. }))
        .map(|collision| model.frame(collision.link).name.as_str())
        .collect();
    with_sphere.dedup();
    let mut invalid = Invalid::parameter("shape", message)
        .hint("state it: shape: Sphere(radius: \"2 cm\") or shape: Point");
    if !with_sphere.is_empty() {
        invalid = invalid.hint(format!("links with spheres are: {}", with_sphere.join(", ")));
    }
    Err(invalid)
}

impl Pure for ContactPoint {
    const KIND: &'static str = "ContactPoint";
    type Plan = Plan;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let plane = self.ground.plane()?;
        let state = AtState::plan(&self.robot, ports)?;
        let frame = state.robot.frame("frame", &self.frame)?;
        let (centre, radius) = self.sphere(&state.robot.model, frame)?;
        let nv = RobotDims::of(ports, self.robot.as_str()).nv;
        let contact = ports.output("contact", &ContactBus::new(&nv));
        ports.note_out(contact).doc("the contact, whether it touches or not");
        let jacobian = ports.output("jacobian", &Matrix::of(3, nv));
        ports.note_out(jacobian).frame("contact").doc("velocity of the point = jacobian ν");
        let axes = plane.frame();
        let is_level = axes == Matrix3::identity();
        Ok(Plan { state, frame, centre, radius, plane, axes, is_level, contact, jacobian })
    }

    fn output(&self, plan: &Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let (model, frame) = (&plan.state.robot.model, plan.frame);
        let kinematics = inputs.shared(plan.state.kinematics);
        let world_from_foot = world_from_frame(model, kinematics, frame);
        let centre_offset = world_from_foot.rotation * plan.centre;
        let centre = world_from_foot.translation + centre_offset;
        let touching = sphere_on_plane(&centre, plan.radius, &plan.plane);
        let offset = centre_offset + touching.offset;

        let velocity = point_velocity(model, kinematics, frame, &offset);
        // The centre is fixed in the body; the way from it to the point is fixed in the world.
        let turning = frame_jacobian_dot_velocity(model, kinematics, frame).angular;
        let jacobian_dot_nu = point_jacobian_dot_velocity(model, kinematics, frame, &centre_offset)
            + turning.cross(&touching.offset);

        let [position, axes, gap, v, j, jdot, friction, copy] = outputs.leaves([
            plan.contact.leaf(leaf::POSITION),
            plan.contact.leaf(leaf::AXES),
            plan.contact.leaf(leaf::GAP),
            plan.contact.leaf(leaf::VELOCITY),
            plan.contact.leaf(leaf::JACOBIAN),
            plan.contact.leaf(leaf::JACOBIAN_DOT_NU),
            plan.contact.leaf(leaf::FRICTION),
            plan.jacobian.leaf(0),
        ]);
        position.copy_from_slice(touching.position.as_slice());
        axes.copy_from_slice(plan.axes.as_slice());
        gap[0] = touching.gap;
        friction[0] = leaf::NO_FRICTION;
        v.copy_from_slice(plan.axes.tr_mul(&velocity).as_slice());
        jdot.copy_from_slice(plan.axes.tr_mul(&jacobian_dot_nu).as_slice());
        point_jacobian(model, kinematics, frame, &offset, j);
        if !plan.is_level {
            for column in j.chunks_exact_mut(3) {
                let rotated = plan.axes.tr_mul(&Vector3::new(column[0], column[1], column[2]));
                column.copy_from_slice(rotated.as_slice());
            }
        }
        copy.copy_from_slice(j);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_mechanics::integrate;
    use legwork_qp::problems::Random;
    use serde_json::json;

    use super::*;
    use crate::contacts_testing::block;
    use crate::robots_testing::{Rig, go};

    /// A random state near the standing pose.
    fn state(random: &mut Random) -> (Vec<f64>, Vec<f64>) {
        let mut q: Vec<f64> = (0..19).map(|_| 0.3 * random.normal()).collect();
        q[3..7].copy_from_slice(&[0.8, 0.36, -0.48, 0.0]);
        (q, (0..18).map(|_| random.normal()).collect())
    }

    /// Gap, velocity, Jacobian and J̇ν against differences along the motion at ν̇ = 0.
    #[test]
    fn derivatives_agree_with_differences_along_the_motion() {
        let robot = go();
        let mut random = Random::new(11);
        for shape in
            [json!("FromCollision"), json!("Point"), json!({ "Sphere": { "radius": 0.1 } })]
        {
            let mut parameters = json!({
                "robot": "go", "frame": "HL_foot", "shape": shape,
                "ground": { "Plane": { "normal": [0.3, -0.2, 2.0], "offset": "-10 cm" } },
            });
            if shape != "FromCollision" {
                parameters["at"] = json!([0.01, -0.02, 0.03]);
            }
            let mut rig = Rig::new(block::<ContactPoint>(parameters), &robot, &[]);
            let (q, nu) = state(&mut random);
            let mut at = |q: &[f64]| {
                rig.set("state", &[q, &nu]);
                rig.output();
                [leaf::GAP, leaf::VELOCITY, leaf::JACOBIAN, leaf::JACOBIAN_DOT_NU]
                    .map(|leaf| rig.leaf("contact", leaf))
            };
            let [_, velocity, jacobian, jacobian_dot_nu] = at(&q);
            let h = 1e-5;
            let mut moved = |h: f64| {
                let increment: Vec<f64> = nu.iter().map(|nu| h * nu).collect();
                let mut end = q.clone();
                integrate(&robot.model, &q, &increment, &mut end);
                at(&end)
            };
            let (before, after) = (moved(-h), moved(h));
            let rate = |i: usize, k: usize| (after[i][k] - before[i][k]) / (2.0 * h);
            assert!((rate(0, 0) - velocity[2]).abs() < 1e-6, "{shape}: gap");
            for axis in 0..3 {
                let product: f64 = (0..18).map(|k| jacobian[3 * k + axis] * nu[k]).sum();
                assert!((product - velocity[axis]).abs() < 1e-12, "{shape}: velocity");
                let difference = rate(1, axis);
                let error = (difference - jacobian_dot_nu[axis]).abs();
                assert!(error < 1e-5 * (1.0 + difference.abs()), "{shape}: {error:.1e}");
            }
        }
    }

    #[test]
    fn links_without_a_sphere_and_grounds_without_a_normal_are_refused() {
        let robot = go();
        let refusal = |parameters| {
            Rig::with(block::<ContactPoint>(parameters), &robot, &[], &[]).err().expect("refused")
        };
        let link = refusal(json!({ "robot": "go", "frame": "trunk" }));
        assert_eq!(link.parameter.as_deref(), Some("shape"), "{link:?}");
        let ground = json!({ "Plane": { "normal": [0, 0, 0] } });
        let flat = refusal(json!({ "robot": "go", "frame": "HL_foot", "ground": ground }));
        assert_eq!(flat.parameter.as_deref(), Some("ground"));
        let at = refusal(json!({ "robot": "go", "frame": "HL_foot", "at": [0, 0, 0] }));
        assert_eq!(at.parameter.as_deref(), Some("at"));
    }
}
