//! `ContactPoint`: where a robot can touch the ground.

use std::sync::Arc;

use legwork_block::quantity::{Dimensionless, Length, NonNegative};
use legwork_block::{
    Block, Invalid, Matrix, Outcome, OutputCx, Ports, Pose, Report, Sizes, UpdateCx, Vector, block,
    parameters, ports,
};
use legwork_mechanics::Kinematics;

use crate::buses::{ContactBus, RobotDims, StateBus};
use crate::contact::depth::{DepthWatch, Noticed};
use crate::contact::geometry::{ContactGeometry, Moved, Work, Written};
use crate::contact::ground::Ground;
use crate::contact::shape::ContactShape;
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::kinematics;

/// A point of a robot that can touch the ground or another body. The outputs are its distance,
/// velocity and Jacobian.
///
/// The contact axes are (t₁, t₂, n) with n out of the ground; on level ground they are the world's
/// x, y, z. The point is that of the shape which is nearest to the ground: for a sphere of radius r
/// about c it is `c − r n`, so `gap = d(c) − r` with d the signed distance from the ground, and
/// `velocity = v_c + ω × (−r n)`. That point stays below the centre while the sphere rolls, so J̇ν
/// has no centripetal term of the radius.
///
/// # Ground that moves
///
/// `velocity` is always that of the robot's matter at the point against the ground's:
/// `J ν − v_ground`, and `jacobian_dot_nu` is its rate at ν̇ = 0, the ground's acceleration, the
/// curvature of the ground and the turning of the contact axes included. With `ground_pose` the
/// ground moves as a whole, and velocity and acceleration are to be the pose's derivatives; the
/// contact axes turn with it. Without `ground_pose` the ground stays where it is and its matter
/// moves: a treadmill or a turntable.
///
/// # Another body
///
/// `ground: Body(frame: "box/body")` is a surface of another link of the robot, or of another
/// member of a `World`: its collision shape, or what `surface:` states: `Box(size: […])`,
/// `Sphere(radius: …)`, `Cylinder(radius: …, length: …)`, `Plane(normal: […])`. Then
/// `jacobian = Fᵀ (J_A(x) − J_B(x))`: a force at x acts on both with opposite signs, so that
/// momentum and its moment are kept. The shape of the one body is held against the surface of the
/// other; contacts of edges with edges are not found.
///
/// A contact that starts more than 1 cm inside the surface, enters it that deep within one step, or
/// sinks in that far is a warning of the run. So is a base of the robot whose centre of mass gets
/// more than 1 cm below ground at rest, `below-the-ground`: only what has a contact touches.
#[ports(
    let robot = self.robot.find(ports)?;
    keep geometry: ContactGeometry = self.geometry(&robot, ports)?;
    keep has_fixed_steps: bool = !ports.solver().is_variable();
    let nv = RobotDims::of(ports, self.robot.as_str()).nv;
    let is_world = geometry.is_on_world();
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    ask kinematics: Kinematics = kinematics(ports, &robot, state);
    // Ground that belongs to no body moves by these inputs.
    in  pose("ground_pose")?: Pose, _, "world_from_ground; the ground as it is stated without",
        when is_world, if "not for `Body`", units "1, m";
    in  velocity("ground_velocity")?: Vector::of(6), _,
        "of the ground's origin, world axes; 0 without", frame "world", when is_world,
        if "not for `Body`", units "m/s, rad/s";
    in  acceleration("ground_acceleration")?: Vector::of(6), _, "alike; 0 without",
        frame "world", when is_world, if "not for `Body`", units "m/s², rad/s²";
    out contact: ContactBus::new(&nv), _, "position, axes, gap, velocity, Jacobian, J̇ν";
    out jacobian: Matrix::of(3, nv), _, "`velocity = jacobian ν` on ground at rest",
        frame "contact", units "1, m";
    ports.updates();
)]
#[parameters(aliases("foot", "collision point"))]
pub struct ContactPoint {
    /// The robot or world.
    pub robot: RobotName,
    /// Name of a link of the robot file.
    pub frame: String,
    /// What touches: `FromCollision` (the default) takes the link's one collision sphere;
    /// `Sphere(radius: "2 cm")`, `Point`.
    #[default]
    pub shape: ContactShape,
    /// Where the sphere's centre or the point is in the frame [m]; default its origin. Not with
    /// `FromCollision`.
    pub at: Option<[Length; 3]>,
    /// What is touched: `OfDiagram` (the default), the section `ground:` of the diagram or else the
    /// plane z = 0; ground of its own, such as `Plane(normal: [0, 0.1, 1])`; or another body,
    /// `Body(frame: "box/body")`.
    #[default]
    pub ground: Ground,
    /// Coulomb friction of this pair of surfaces [1]; without, that of the contact model.
    pub mu: Option<NonNegative<Dimensionless>>,
    /// Restitution e of this pair of surfaces, 0 to 1 [1]: it parts at e times the speed at which
    /// it met. `GaussContact` at velocity level and `Impact` have it; springs have dissipation.
    #[default = 0]
    pub restitution: NonNegative<Dimensionless>,
}

impl ContactPoint {
    fn geometry(
        &self,
        robot: &Arc<RobotModel>,
        ports: &mut Ports<'_>,
    ) -> Result<ContactGeometry, Invalid> {
        let frame = robot.frame("frame", &self.frame)?;
        let features = vec![self.shape.feature(self.at, &robot.model, frame)?];
        let law = (self.mu.map(NonNegative::value), self.restitution.value());
        ContactGeometry::new(robot, frame, features, &self.ground, law, ports)
    }
}

#[block]
impl Block for ContactPoint {
    type State = DepthWatch;
    type Memo = Noticed;
    type Scratch = Work;

    fn scratch(&self, plan: &Self::Plan, _: &Sizes<'_>) -> Work {
        plan.geometry.work()
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let ground = Moved::read(&cx.inputs, plan.pose, plan.velocity, plan.acceleration);
        let to = Written { contact: plan.contact, jacobian: plan.jacobian };
        let kinematics = cx.inputs.shared(plan.kinematics);
        let when = (cx.time.t, plan.has_fixed_steps.then_some(cx.time.step));
        let (work, outputs) = (&mut *cx.scratch, &mut cx.outputs);
        let deepest = plan.geometry.write(when, kinematics, &ground, work, outputs, to);
        if !cx.time.minor {
            let looks = cx.state.looks_at_base();
            let base = looks.then(|| plan.geometry.base_depth(kinematics, &ground)).flatten();
            *cx.memo = Noticed { deepest, base };
        }
        Ok(())
    }

    fn update(&self, _: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        cx.state.keep(cx.time.t, cx.memo);
        Ok(())
    }

    fn report(&self, plan: &Self::Plan, state: &DepthWatch, report: &mut Report) {
        plan.geometry.report(state, report);
    }
}

#[cfg(test)]
mod tests {
    use legwork_mechanics::integrate;
    use legwork_qp::problems::Random;
    use serde_json::json;

    use super::*;
    use crate::buses::ContactBus;
    use crate::testing::contacts::block;
    use crate::testing::robots::{Rig, go};

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
                [
                    ContactBus::GAP,
                    ContactBus::VELOCITY,
                    ContactBus::JACOBIAN,
                    ContactBus::JACOBIAN_DOT_NU,
                ]
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
