//! `ExternalWrenches`: the generalised force of wrenches at frames of a robot.

use std::sync::Arc;

use legwork_block::quantity::Length;
use legwork_block::{Inputs, Invalid, Outcome, Outputs, Pure, Vector, block, parameters, ports};
use legwork_mechanics::{
    FrameId, Kinematics, MixedWrench, Placement, add_frame_wrench, world_from_frame,
};
use nalgebra::Vector3;

use crate::buses::{RobotDims, StateBus};
use crate::robot::frames::Representation;
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::kinematics;

/// Generalised force of external wrenches on a robot: `f_ext = Σ Jᵢᵀ wᵢ`.
///
/// It is on the right-hand side, `M ν̇ + C ν + g = Sᵀτ + f_ext`, and is what `external` of
/// [`ForwardDynamics`](crate::ForwardDynamics) takes. The `Jacobian` of a frame in the same
/// representation is the `Jᵢ` of a wrench at the frame's origin.
///
/// | `representation` | axes | moment about |
/// |---|---|---|
/// | `Mixed` | world | the point of application |
/// | `Body` | frame | the point of application |
/// | `World` | world | the world's origin |
///
/// The point of application is the frame's origin, moved by `offset` in the frame's axes. It moves
/// with the frame. Nothing but wrenches is summed: other generalised forces add by `Sum`.
///
/// References: D. T. de Paula et al., *Dynamic modeling and simulation of a torque-controlled
/// spatial quadruped robot* (2024), sec. 4.3, algorithm 4: wrenches apart from the terms of
/// velocity and gravity, for controllers to use; R. Featherstone, *Rigid Body Dynamics Algorithms*
/// (2008), sec. 5.3.
#[ports(
    keep robot: Arc<RobotModel> = self.robot.find(ports)?;
    keep frames: Vec<FrameId> = self.frames(&robot)?;
    let nv = RobotDims::of(ports, self.robot.as_str()).nv;
    in  state: StateBus::of(ports, self.robot.as_str()), _,
        "configuration and velocity; only q matters";
    ask kinematics: Kinematics = kinematics(ports, &robot, state);
    in  wrenches[(name, axes) in self.inputs()]: Vector::of(6), _,
        "force, then moment, on the robot", frame axes,
        named "`w1`, `w2`, …, one for each of `at`; `w` for one", units "N, N m";
    out external: Vector::of(nv), _, "force and moment on the base in world axes, on the joints",
        units "N, N m";
)]
#[parameters(aliases("applied force", "disturbance", "push"))]
pub struct ExternalWrenches {
    /// The robot.
    pub robot: RobotName,
    /// Where the wrenches act, in the order of the inputs: at least one. A frame may occur there
    /// more than once.
    pub at: Vec<Application>,
}

/// Where a wrench acts, and how it is written.
#[parameters]
pub struct Application {
    /// Name of a link of the robot file.
    pub frame: String,
    /// How the wrench is written: `Mixed` (the default), `Body` or `World`.
    #[default]
    pub representation: Representation,
    /// Point of application in the frame's axes, from its origin [m]; default the origin. With
    /// `World` it has no meaning and is refused.
    pub offset: Option<[Length; 3]>,
}

impl Application {
    /// The frame.
    fn find(&self, robot: &RobotModel) -> Result<FrameId, Invalid> {
        let frame = robot.frame("at", &self.frame)?;
        if self.representation == Representation::World && self.offset.is_some() {
            let message = format!(
                "expected no `offset` of a wrench about the world's origin, found one at `{}`",
                self.frame
            );
            return Err(Invalid::parameter("at", message)
                .hint("take `representation: Mixed` for a point that moves with the frame"));
        }
        Ok(frame)
    }

    /// The wrench `w` in world axes with its moment about the frame's origin o: about the point of
    /// application p it is `m_o = m_p + (p − o) × f`.
    fn about_origin(&self, world_from_frame: &Placement, w: &[f64]) -> MixedWrench {
        let mut force = Vector3::from_column_slice(&w[..3]);
        let mut moment = Vector3::from_column_slice(&w[3..]);
        if self.representation == Representation::Body {
            force = world_from_frame.rotation * force;
            moment = world_from_frame.rotation * moment;
        }
        let lever = match (self.representation, self.offset) {
            (Representation::World, _) => -world_from_frame.translation,
            (_, Some(offset)) => {
                world_from_frame.rotation * Vector3::from(offset.map(Length::value))
            }
            (_, None) => return MixedWrench { force, moment },
        };
        MixedWrench { force, moment: moment + lever.cross(&force) }
    }
}

impl ExternalWrenches {
    /// The frames of the wrenches.
    fn frames(&self, robot: &RobotModel) -> Result<Vec<FrameId>, Invalid> {
        if self.at.is_empty() {
            let message = "expected at least one wrench, found none";
            return Err(Invalid::parameter("at", message)
                .hint("write `at: [(frame: \"…\")]`, one for each wrench"));
        }
        self.at.iter().map(|application| application.find(robot)).collect()
    }

    /// Names and axes of the inputs.
    fn inputs(&self) -> impl Iterator<Item = (String, &str)> {
        let count = self.at.len();
        self.at.iter().enumerate().map(move |(i, application)| {
            let name = if count == 1 { "w".to_owned() } else { format!("w{}", i + 1) };
            (name, application.representation.axes(&application.frame))
        })
    }
}

#[block]
impl Pure for ExternalWrenches {
    fn output(&self, plan: &Self::Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let model = &plan.robot.model;
        let kinematics = inputs.shared(plan.kinematics);
        let out = outputs.get(plan.external);
        out.fill(0.0);
        let given = plan.frames.iter().zip(&plan.wrenches);
        for (application, (&frame, &wrench)) in self.at.iter().zip(given) {
            let place = world_from_frame(model, kinematics, frame);
            let wrench = application.about_origin(&place, inputs.get(wrench));
            add_frame_wrench(model, kinematics, frame, &wrench, out);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kinematics::forward_kinematics::ForwardKinematics;
    use crate::kinematics::jacobian::Jacobian;
    use crate::robot::frames::read_placement;
    use crate::testing::robots::{Rig, States, close, for_each_reference, go, refusal};

    const WRENCH: [f64; 6] = [3.0, -7.0, 11.0, 0.5, 0.2, -0.9];

    fn block(robot: &str, at: serde_json::Value) -> ExternalWrenches {
        let at = serde_json::from_value(at).expect("the parameters bind");
        ExternalWrenches { robot: robot.into(), at }
    }

    /// `Jᵀ w` of a Jacobian of 6 rows.
    fn transposed_product(jacobian: &[f64], w: &[f64]) -> Vec<f64> {
        jacobian.chunks_exact(6).map(|c| c.iter().zip(w).map(|(j, w)| j * w).sum()).collect()
    }

    #[test]
    fn a_wrench_is_that_of_the_jacobian_in_the_same_representation() {
        for_each_reference(|robot, reference, order| {
            let (q, nu) = reference.state(order);
            for name in reference.frame_names() {
                for (said, representation) in [
                    ("Mixed", Representation::Mixed),
                    ("Body", Representation::Body),
                    ("World", Representation::World),
                ] {
                    let frame = name.clone();
                    let jacobian =
                        Jacobian { robot: robot.name.as_str().into(), frame, representation };
                    let mut jacobian = Rig::new(jacobian, robot, &[]);
                    let at = json!([{ "frame": name, "representation": said }]);
                    let mut wrench = Rig::new(block(&robot.name, at), robot, &[]);
                    jacobian.set("state", &[&q, &nu]);
                    wrench.set("state", &[&q, &nu]);
                    wrench.set("w", &[&WRENCH]);
                    jacobian.output();
                    wrench.output();
                    let expected = transposed_product(&jacobian.leaf("jacobian", 0), &WRENCH);
                    close(&wrench.leaf("external", 0), &expected, 1e-13);
                }
            }
        });
    }

    /// Power of a force at a point: `f · v_p` with the point's velocity by a difference quotient of
    /// its position, against `f_ext · ν`.
    #[test]
    fn a_force_at_an_offset_does_the_work_of_its_point() {
        let offset = Vector3::new(0.03, -0.05, 0.08);
        let force = Vector3::new(3.0, -7.0, 11.0);
        let place = |q: &[f64], nu: &[f64]| {
            let block = ForwardKinematics {
                robot: "go".into(),
                frame: "FL_shank".into(),
                representation: Representation::Mixed,
            };
            let mut rig = Rig::new(block, &go(), &[]);
            rig.set("state", &[q, nu]);
            rig.output();
            read_placement(&rig.leaf("pose", 0))
        };
        for representation in ["Mixed", "Body"] {
            let at = json!([{
                "frame": "FL_shank",
                "representation": representation,
                "offset": [0.03, -0.05, 0.08],
            }]);
            let mut rig = Rig::new(block("go", at), &go(), &[]);
            for (q, nu) in States::of(&go(), 5) {
                rig.set("state", &[&q, &nu]);
                let f = match representation {
                    "Body" => place(&q, &nu).rotation.transpose() * force,
                    _ => force,
                };
                rig.set("w", &[&[f.x, f.y, f.z, 0.0, 0.0, 0.0]]);
                rig.output();
                let power: f64 = rig.leaf("external", 0).iter().zip(&nu).map(|(f, v)| f * v).sum();
                let step = 1e-6;
                let moved = |time: f64| {
                    let mut then = q.clone();
                    let velocity: Vec<f64> = nu.iter().map(|v| v * time).collect();
                    legwork_mechanics::integrate(&go().model, &q, &velocity, &mut then);
                    let place = place(&then, &nu);
                    place.rotation * offset + place.translation
                };
                let velocity = (moved(step) - moved(-step)) / (2.0 * step);
                let expected = force.dot(&velocity);
                assert!(
                    (power - expected).abs() < 1e-7 * (1.0 + expected.abs()),
                    "{power} {expected}"
                );
            }
        }
    }

    #[test]
    fn wrenches_add_each_by_its_own_input() {
        let foot = json!({ "frame": "HR_foot", "representation": "Body" });
        let at = json!([{ "frame": "trunk" }, foot, { "frame": "trunk" }]);
        let mut both = Rig::new(block("go", at), &go(), &[]);
        let (q, nu) = States::of(&go(), 1).remove(0);
        both.set("state", &[&q, &nu]);
        let mut sum = vec![0.0; 18];
        for (name, frame, said, scale) in [
            ("w1", "trunk", "Mixed", 1.0),
            ("w2", "HR_foot", "Body", -2.0),
            ("w3", "trunk", "Mixed", 0.5),
        ] {
            let w = WRENCH.map(|part| scale * part);
            both.set(name, &[&w]);
            let at = json!([{ "frame": frame, "representation": said }]);
            let mut one = Rig::new(block("go", at), &go(), &[]);
            one.set("state", &[&q, &nu]);
            one.set("w", &[&w]);
            one.output();
            sum.iter_mut().zip(one.leaf("external", 0)).for_each(|(sum, one)| *sum += one);
        }
        both.output();
        close(&both.leaf("external", 0), &sum, 1e-14);
    }

    #[test]
    fn mistakes_are_said() {
        let message = |at| refusal(block("go", at), &go(), &[], &[]);
        assert_eq!(message(json!([])).message, "expected at least one wrench, found none");
        let unknown = message(json!([{ "frame": "trnk" }]));
        assert_eq!(unknown.parameter.as_deref(), Some("at"));
        assert_eq!(unknown.hints, ["did you mean `trunk`?"]);
        let moved = json!([{ "frame": "trunk", "representation": "World", "offset": [0, 0, 1] }]);
        assert_eq!(
            message(moved).message,
            "expected no `offset` of a wrench about the world's origin, found one at `trunk`"
        );
    }
}
