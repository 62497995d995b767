//! `JointLimits`: ends of the joints' ranges as contacts.

use std::sync::Arc;

use legwork_block::quantity::{PerJoint, Scalar};
use legwork_block::{
    Dim, Inputs, Invalid, Matrix, Outcome, Outputs, Pure, block, parameters, ports,
};
use legwork_mechanics::{FrameId, Joint, JointKind, Kinematics, Model, world_from_frame};

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
/// | `gap` | `min(s − lower, upper − s) − margin` [rad; m if prismatic] |
/// | `velocity` | `(0, 0, ±ṡ)`: its rate [rad/s; m/s] |
/// | `jacobian` | zero but for ±1 in the third row: + where the lower limit is nearer |
/// | `jacobian_dot_nu` | 0 |
/// | `friction` | 0 |
/// | `position`, `axes` | the origin of the link that the joint moves; the world's axes |
///
/// The normal force is the torque [N m; N] that acts at the joint, positive away from the limit.
/// Limits are those of the robot file; joints without, and those that follow others, have no
/// contact.
#[ports(
    keep robot: Arc<RobotModel> = self.robot.find(ports)?;
    keep joints: Vec<Limited> = self.limited(&robot.model)?;
    let nv = RobotDims::of(ports, self.robot.as_str()).nv;
    let count = Dim::fixed(joints.len());
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    ask kinematics: Kinematics = kinematics(ports, &robot, state);
    out contacts: contact_points(&count, &nv) as ContactPointsBus, _,
        "k contacts: the nearer limit of each joint in the robot's order, reached or not";
    out jacobian: Matrix::of(3 * count, nv), _,
        "their Jacobians below one another: rates of the gaps are `jacobian ν`", frame "contact",
        shape "3k × nv", units "1";
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
}

/// A joint with limits.
struct Limited {
    /// Index into q.
    position: usize,
    /// Index into ν.
    velocity: usize,
    /// Limits, less the margin.
    lower: f64,
    upper: f64,
    /// The link that it moves.
    link: FrameId,
}

impl JointLimits {
    /// The joints with their limits less the margins.
    fn limited(&self, model: &Model) -> Result<Vec<Limited>, Invalid> {
        let chosen = self.chosen(model)?;
        let margins = self.margins(model, &chosen)?;
        let pairs = chosen.iter().zip(margins);
        pairs.map(|(joint, margin)| limited(model, joint, margin)).collect()
    }

    /// The joints with limits that the patterns choose.
    fn chosen<'m>(&self, model: &'m Model) -> Result<Vec<&'m Joint>, Invalid> {
        let mut joints: Vec<&Joint> = model
            .joints()
            .iter()
            .filter(|joint| matches!(joint.kind, JointKind::Revolute | JointKind::Prismatic))
            .filter(|joint| joint.lower.is_finite() || joint.upper.is_finite())
            .collect();
        if joints.is_empty() {
            let message = format!("no joint of `{}` has limits", self.robot);
            return Err(Invalid::parameter("robot", message));
        }
        let Some(patterns) = &self.joints else { return Ok(joints) };
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

/// A joint between its limits less the margin.
fn limited(model: &Model, joint: &Joint, margin: f64) -> Result<Limited, Invalid> {
    let (lower, upper) = (joint.lower + margin, joint.upper - margin);
    if lower > upper {
        let message = format!(
            "joint `{}`: expected a margin that leaves a range, found {margin} of {} to {}",
            joint.name, joint.lower, joint.upper
        );
        return Err(Invalid::parameter("margin", message));
    }
    let moved = model.find_joint(&joint.name).map(|id| model.body_of_joint(id));
    let link = model.frames().iter().find(|frame| Some(frame.body) == moved);
    let link = link.and_then(|frame| model.find_frame(&frame.name)).ok_or_else(|| {
        Invalid::parameter("robot", format!("joint `{}` moves no link", joint.name))
    })?;
    let (position, velocity) = (joint.configuration_range().start, joint.velocity_range().start);
    Ok(Limited { position, velocity, lower, upper, link })
}

#[block]
impl Pure for JointLimits {
    fn output(&self, plan: &Self::Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let (state, kinematics) = (inputs.get(plan.state), inputs.shared(plan.kinematics));
        outputs.get(plan.jacobian).fill(0.0);
        let height = 3 * plan.joints.len();
        for (i, joint) in plan.joints.iter().enumerate() {
            let (above, below) =
                (state.q[joint.position] - joint.lower, joint.upper - state.q[joint.position]);
            let (gap, sign) = if above <= below { (above, 1.0) } else { (below, -1.0) };
            let link = world_from_frame(&plan.robot.model, kinematics, joint.link);
            let first = i * ContactBus::LEAVES;
            let mut write = |leaf: usize, numbers: &[f64]| {
                outputs.leaf(plan.contacts, first + leaf).copy_from_slice(numbers);
            };
            write(ContactBus::POSITION, link.translation.as_slice());
            write(ContactBus::AXES, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
            write(ContactBus::GAP, &[gap]);
            write(ContactBus::VELOCITY, &[0.0, 0.0, sign * state.nu[joint.velocity]]);
            write(ContactBus::JACOBIAN_DOT_NU, &[0.0; 3]);
            write(ContactBus::FRICTION, &[0.0]);
            let jacobian = outputs.leaf(plan.contacts, first + ContactBus::JACOBIAN);
            jacobian.fill(0.0);
            jacobian[3 * joint.velocity + 2] = sign;
            outputs.get(plan.jacobian)[height * joint.velocity + 3 * i + 2] = sign;
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
            assert_eq!(found(ContactBus::FRICTION), [0.0]);
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
