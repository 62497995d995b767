//! `JointLimits`: ends of the joints' ranges as contacts.

use std::sync::Arc;

use legwork_block::quantity::{PerJoint, Positive, Scalar, Velocity};
use legwork_block::{
    Block, Dim, Fault, Invalid, Matrix, Outcome, OutputCx, Ports, Sizes, block, parameters, ports,
};
use legwork_linalg::all_finite;
use legwork_mechanics::{FrameId, Joint, JointKind, Kinematics, Model, frame_position};

use crate::buses::{ContactBus, ContactPointsBus, RobotDims, StateBus, contact_points};
use crate::robot::joint_values::{coordinates, misfit, positions};
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::kinematics;

/// Joint limits as contacts, so that a contact solver keeps the joints within them. No spring is
/// needed.
///
/// | field | value |
/// |---|---|
/// | `gap` | `s − lower − margin` or `upper − s − margin` [rad; m if prismatic] |
/// | `velocity` | `(0, 0, ±ṡ)`: its rate [rad/s; m/s] |
/// | `jacobian` | zero but for ±1 in the third row: + at the lower end |
/// | `jacobian_dot_nu` | 0 |
/// | `friction` | 0 |
/// | `row` | true: no surfaces meet here |
/// | `position`, `axes` | the origin of the link that the joint moves; the world's axes |
///
/// A joint has one contact, of the end that it is nearer to a step later at the speed that it has.
/// One whose range is less than `2 Δt max_speed` could come to either end within a step and has a
/// contact for each, the lower one first; contact solvers leave out ends that are out of reach.
///
/// The normal force is the torque [N m; N] that acts at the joint, positive away from the limit.
/// Limits are those of the robot file; joints without, and those that follow others, have no
/// contact, nor has a robot with `joint_limits: Ignore`. The mask
/// `std:masks/robot_with_contacts.ron` has this block; in a diagram of your own blocks its contacts
/// join those of the feet, `Join(["feet.points", "limits.contacts"])`. Where nothing keeps a joint
/// within its limits, a run in which it passes one has a warning that names it.
#[ports(
    keep robot: Arc<RobotModel> = self.robot.find(ports)?;
    keep ends: Vec<Ends> = self.ends(&robot.model, ports)?;
    let nv = RobotDims::of(ports, self.robot.as_str()).nv;
    let count = Dim::fixed(ends.iter().map(Ends::count).sum());
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    ask kinematics: Kinematics = kinematics(ports, &robot, state);
    out contacts: contact_points(&count, &nv) as ContactPointsBus, _,
        "k contacts: the ends of each joint in the robot's order, reached or not";
    out jacobian: Matrix::of(3 * count, nv), _,
        "their Jacobians below one another: rates of the gaps are `jacobian ν`", frame "contact",
        shape "3k × nv", units "1";
    ports.checks_itself(contacts);
    ports.checks_itself(jacobian);
)]
#[parameters(aliases("end stop", "hard stop", "range of motion"))]
pub struct JointLimits {
    /// The robot or world.
    pub robot: RobotName,
    /// How far within its limits a joint is held [rad; m if prismatic]: one for all, a list, or by
    /// joint name or pattern; default 0.
    pub margin: Option<PerJoint<Scalar>>,
    /// Names or patterns (`*` stands for any characters) of joints with limits; default all.
    pub joints: Option<Vec<String>>,
    /// Largest speed that a joint can gain within a step [m/s; turning joints rad/s], like
    /// `max_rate` of `GaussContact`.
    #[default = "50 m/s"]
    pub max_speed: Positive<Velocity>,
}

/// A joint with limits.
struct Ends {
    /// Index into q.
    position: usize,
    /// Index into ν.
    velocity: usize,
    /// Limits, less the margin.
    lower: f64,
    upper: f64,
    /// Whether it could come to either end within a step.
    both: bool,
    /// The link that it moves.
    link: FrameId,
}

impl Ends {
    /// How many contacts it has.
    fn count(&self) -> usize {
        1 + usize::from(self.both)
    }
}

impl JointLimits {
    /// The joints with their limits less the margins.
    fn ends(&self, model: &Model, ports: &Ports<'_>) -> Result<Vec<Ends>, Invalid> {
        let chosen = self.chosen(model)?;
        let margins = self.margins(model, &chosen)?;
        let way = 2.0 * ports.step() * self.max_speed.value();
        let pairs = chosen.iter().zip(margins);
        pairs.map(|(joint, margin)| ends(model, joint, margin, way)).collect()
    }

    /// The joints with limits that the patterns choose.
    fn chosen<'m>(&self, model: &'m Model) -> Result<Vec<&'m Joint>, Invalid> {
        let mut joints: Vec<&Joint> = model
            .joints()
            .iter()
            .filter(|joint| matches!(joint.kind, JointKind::Revolute | JointKind::Prismatic))
            .filter(|joint| joint.lower.is_finite() || joint.upper.is_finite())
            .collect();
        let Some(patterns) = &self.joints else { return Ok(joints) };
        if joints.is_empty() {
            let message = format!("no joint of `{}` has limits", self.robot);
            return Err(Invalid::parameter("joints", message));
        }
        let names: Vec<&str> = joints.iter().map(|joint| joint.name.as_str()).collect();
        let mut is_chosen = vec![false; names.len()];
        for pattern in patterns {
            let matched = PerJoint::Named([(pattern.clone(), true)].into_iter().collect())
                .resolve_or(&names, Some(&false))
                .map_err(|error| misfit("joints", &error, &names, model))?;
            for (is_chosen, matched) in is_chosen.iter_mut().zip(matched) {
                *is_chosen |= matched;
            }
        }
        let mut chosen = is_chosen.into_iter();
        joints.retain(|_| chosen.next() == Some(true));
        match joints.is_empty() {
            true => Err(Invalid::parameter("joints", "expected at least one joint, found none")),
            false => Ok(joints),
        }
    }

    /// The margin of each of the joints.
    fn margins(&self, model: &Model, joints: &[&Joint]) -> Result<Vec<f64>, Invalid> {
        let Some(margin) = &self.margin else { return Ok(vec![0.0; joints.len()]) };
        let is_ours = |name: &str| joints.iter().any(|joint| joint.name == name);
        let own: Vec<_> = positions(model).into_iter().filter(|(name, _)| is_ours(name)).collect();
        coordinates("margin", margin, model, &own, &vec![0.0; joints.len()])
    }
}

/// A joint between its limits less the margin; `way` is what it could go in two steps.
fn ends(model: &Model, joint: &Joint, margin: f64, way: f64) -> Result<Ends, Invalid> {
    let (lower, upper) = (joint.lower + margin, joint.upper - margin);
    if lower > upper {
        let message = format!(
            "joint `{}`: expected a margin that leaves a range, found {margin} of {} to {}",
            joint.name, joint.lower, joint.upper
        );
        return Err(Invalid::parameter("margin", message));
    }
    let moved = model.find_joint(&joint.name);
    let link = moved.and_then(|joint| model.link_of_joint(joint)).ok_or_else(|| {
        Invalid::parameter("robot", format!("joint `{}` moves no link", joint.name))
    })?;
    let (position, velocity) = (joint.configuration_range().start, joint.velocity_range().start);
    // An end at infinity is never near.
    let both = upper - lower < way;
    Ok(Ends { position, velocity, lower, upper, both, link })
}

#[block]
impl Block for JointLimits {
    /// Whether what never changes was written.
    type Scratch = bool;

    fn scratch(&self, _: &Self::Plan, _: &Sizes<'_>) -> bool {
        false
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let (inputs, outputs) = (&cx.inputs, &mut cx.outputs);
        let (state, kinematics) = (inputs.get(plan.state), inputs.shared(plan.kinematics));
        // Outputs of a part that was switched off may have become zero since.
        let mut is_new = !std::mem::replace(cx.scratch, true);
        is_new |= !plan.ends.is_empty() && outputs.leaf(plan.contacts, ContactBus::ROW)[0] == 0.0;
        if is_new {
            outputs.get(plan.jacobian).fill(0.0);
        }
        let count: usize = plan.ends.iter().map(Ends::count).sum();
        let (mut i, mut is_finite) = (0, true);
        for joint in &plan.ends {
            let (s, rate) = (state.q[joint.position], state.nu[joint.velocity]);
            let ahead = s + cx.time.step * rate;
            let is_lower = ahead - joint.lower <= joint.upper - ahead;
            let position = frame_position(&plan.robot.model, kinematics, joint.link);
            is_finite &= rate.is_finite() && all_finite(position.as_slice());
            let [lower, upper] = [(s - joint.lower, 1.0), (joint.upper - s, -1.0)];
            let ends: &[(f64, f64)] = match (joint.both, is_lower) {
                (true, _) => &[lower, upper],
                (false, true) => &[lower],
                (false, false) => &[upper],
            };
            for (gap, sign) in ends {
                is_finite &= gap.is_finite();
                let first = i * ContactBus::LEAVES;
                let mut write = |leaf: usize, numbers: &[f64]| {
                    outputs.leaf(plan.contacts, first + leaf).copy_from_slice(numbers);
                };
                write(ContactBus::POSITION, position.as_slice());
                write(ContactBus::GAP, &[*gap]);
                write(ContactBus::VELOCITY, &[0.0, 0.0, sign * rate]);
                if is_new {
                    write(ContactBus::AXES, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
                    write(ContactBus::JACOBIAN_DOT_NU, &[0.0; 3]);
                    write(ContactBus::FRICTION, &[0.0]);
                    write(ContactBus::RESTITUTION, &[0.0]);
                    write(ContactBus::ROW, &[1.0]);
                    outputs.leaf(plan.contacts, first + ContactBus::JACOBIAN).fill(0.0);
                }
                let jacobian = outputs.leaf(plan.contacts, first + ContactBus::JACOBIAN);
                jacobian[3 * joint.velocity + 2] = *sign;
                outputs.get(plan.jacobian)[3 * count * joint.velocity + 3 * i + 2] = *sign;
                i += 1;
            }
        }
        if !is_finite {
            return Err(Fault::not_finite());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::contacts::block;
    use crate::testing::robots::{Rig, go, load_text, refusal};

    const RAIL: &str = r#"
        <robot name="rail">
          <link name="mount"/>
          <link name="cart"><inertial><mass value="2"/>
            <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
          <link name="arm"><inertial><mass value="1"/>
            <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
          <joint name="slide" type="prismatic"><parent link="mount"/><child link="cart"/>
            <axis xyz="1 0 0"/><limit lower="-0.5" upper="1.5" effort="9" velocity="9"/></joint>
          <joint name="turn" type="continuous"><parent link="cart"/><child link="arm"/>
            <origin xyz="0 0 0.3"/><axis xyz="0 1 0"/></joint>
        </robot>"#;

    /// Within a step it could be at either end; each is a contact, whatever the solver makes of it.
    #[test]
    fn a_joint_of_a_short_range_has_a_contact_for_each_end() {
        let robot = load_text("rail", RAIL, json!({ "base": "Fixed" })).expect("a robot").0;
        // 2 · 1 ms · 1001 m/s is more than 2 m.
        let parameters = json!({ "robot": "rail", "max_speed": "1001 m/s" });
        let mut rig = Rig::new(block::<JointLimits>(parameters), &robot, &[]);
        assert_eq!(rig.leaf_count("contacts"), 2 * ContactBus::LEAVES);
        rig.set("state", &[&[0.5, 0.4], &[0.7, -3.0]]);
        rig.output();
        for (i, sign) in [(0, 1.0), (1, -1.0)] {
            let found = |leaf| rig.leaf("contacts", i * ContactBus::LEAVES + leaf);
            assert_eq!(found(ContactBus::GAP), [1.0]);
            assert_eq!(found(ContactBus::VELOCITY), [0.0, 0.0, sign * 0.7]);
            assert_eq!(found(ContactBus::JACOBIAN), [0.0, 0.0, sign, 0.0, 0.0, 0.0]);
        }
        let stacked = [0.0, 0.0, 1.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(rig.leaf("jacobian", 0), stacked);
    }

    /// In the middle it is the end that the joint moves to.
    #[test]
    fn the_nearer_end_is_that_of_the_end_of_the_step() {
        let robot = load_text("rail", RAIL, json!({ "base": "Fixed" })).expect("a robot").0;
        let mut rig = Rig::new(block::<JointLimits>(json!({ "robot": "rail" })), &robot, &[]);
        for (rate, sign) in [(0.7, -1.0), (-0.7, 1.0)] {
            rig.set("state", &[&[0.5, 0.4], &[rate, 0.0]]);
            rig.output();
            assert_eq!(rig.leaf("contacts", ContactBus::VELOCITY), [0.0, 0.0, sign * rate]);
        }
    }

    /// It looks itself whether its outputs are finite.
    #[test]
    fn what_is_not_finite_is_a_fault() {
        let robot = load_text("rail", RAIL, json!({ "base": "Fixed" })).expect("a robot").0;
        for state in [[f64::NAN, 0.7], [0.5, f64::INFINITY], [0.5, f64::NAN]] {
            let mut rig = Rig::new(block::<JointLimits>(json!({ "robot": "rail" })), &robot, &[]);
            rig.set("state", &[&[0.5, 0.4], &[0.7, 0.0]]);
            rig.output();
            rig.set("state", &[&[state[0], 0.4], &[state[1], 0.0]]);
            assert!(rig.try_output().is_err(), "{state:?}");
        }
    }

    /// A part that is switched off may show zeros.
    #[test]
    fn what_never_changes_comes_back_after_zeros() {
        let robot = load_text("rail", RAIL, json!({ "base": "Fixed" })).expect("a robot").0;
        let mut rig = Rig::new(block::<JointLimits>(json!({ "robot": "rail" })), &robot, &[]);
        rig.set("state", &[&[0.5, 0.4], &[0.7, 0.0]]);
        rig.output();
        let all = |rig: &Rig| -> Vec<Vec<f64>> {
            (0..ContactBus::LEAVES).map(|leaf| rig.leaf("contacts", leaf)).collect()
        };
        let before = all(&rig);
        rig.clear_outputs();
        rig.output();
        assert_eq!(all(&rig), before);
    }

    #[test]
    fn a_robot_without_limits_has_no_contacts() {
        let parameters = json!({ "base": "Fixed", "joint_limits": "Ignore" });
        let robot = load_text("rail", RAIL, parameters).expect("a robot").0;
        let rig = Rig::new(block::<JointLimits>(json!({ "robot": "rail" })), &robot, &[]);
        assert_eq!(rig.leaf_count("contacts"), 0);
    }

    #[test]
    fn a_limit_is_a_contact_of_the_nearer_end() {
        let robot = load_text("rail", RAIL, json!({ "base": "Fixed" })).expect("a robot").0;
        let parameters = json!({ "robot": "rail", "margin": { "sl*": "10 cm" } });
        let mut rig = Rig::new(block::<JointLimits>(parameters), &robot, &[]);
        for (s, gap, sign) in [(-0.3, 0.1, 1.0), (1.2, 0.2, -1.0), (1.6, -0.2, -1.0)] {
            rig.set("state", &[&[s, 0.4], &[0.7, -3.0]]);
            rig.output();
            let found = |leaf| rig.leaf("contacts", leaf);
            assert!((found(ContactBus::GAP)[0] - gap).abs() < 1e-15, "at {s}");
            assert_eq!(found(ContactBus::VELOCITY), [0.0, 0.0, sign * 0.7]);
            assert_eq!(found(ContactBus::JACOBIAN), [0.0, 0.0, sign, 0.0, 0.0, 0.0]);
            assert_eq!(rig.leaf("jacobian", 0), found(ContactBus::JACOBIAN));
            assert_eq!(found(ContactBus::POSITION), [s, 0.0, 0.0]);
            assert_eq!(
                (found(ContactBus::FRICTION), found(ContactBus::ROW)),
                (vec![0.0], vec![1.0])
            );
        }
    }

    #[test]
    fn patterns_choose_joints_and_mistakes_are_refused() {
        let robot = go();
        let with = |joints| block(json!({ "robot": "go", "joints": joints }));
        let count = |joints| {
            let rig = Rig::new::<JointLimits>(with(joints), &robot, &[]);
            rig.leaf_count("contacts") / ContactBus::LEAVES
        };
        assert_eq!(count(json!(["FL_*", "*_knee_joint"])), 3 + 3);
        let message = |parameters| {
            let invalid = refusal(block::<JointLimits>(parameters), &robot, &[], &[]);
            (invalid.parameter.unwrap_or_default(), invalid.message)
        };
        let (parameter, _) = message(json!({ "robot": "go", "joints": ["XX_*"] }));
        assert_eq!(parameter, "joints");
        let (parameter, text) = message(json!({ "robot": "go", "margin": 100 }));
        assert_eq!(parameter, "margin");
        assert!(text.starts_with("joint `FL_abad_joint`: expected a margin"), "{text}");
        let (parameter, _) = message(json!({ "robot": "go", "margin": "1 m" }));
        assert_eq!(parameter, "margin");
    }
}
