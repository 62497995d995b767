//! Shared computation: kinematics of a robot at a state, once per state however many blocks ask.

use std::sync::Arc;

use legwork_block::{Block, In, Invalid, Out, Outcome, OutputCx, Ports, Shared, Sizes, feeds};
use legwork_mechanics::Kinematics;

use crate::buses::StateBus;
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;

/// Computes the [`Kinematics`] of a robot at a state: placements, axes, velocities, bias
/// accelerations and composite inertias of all bodies. O(n).
///
/// Blocks do not make one: they ask by [`kinematics`].
pub struct KinematicsOf {
    robot: Arc<RobotModel>,
}

/// Asks for the kinematics of `robot` at the state on the input `state`; all blocks that ask for
/// the same robot at the same state share one computation.
pub fn kinematics(
    ports: &mut Ports<'_>,
    robot: &Arc<RobotModel>,
    state: In<StateBus>,
) -> Shared<Kinematics> {
    let computation = KinematicsOf { robot: Arc::clone(robot) };
    ports.ask(computation, robot.name.as_str(), &feeds![state])
}

impl Block for KinematicsOf {
    const KIND: &'static str = "Kinematics";
    type Plan = In<StateBus>;
    type State = ();
    type Memo = ();
    type Scratch = Kinematics;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        ports.share();
        Ok(ports.input("state", &StateBus::of(ports, &self.robot.name)))
    }

    fn state(&self, _: &Self::Plan, _: &Sizes<'_>) {}

    fn scratch(&self, _: &Self::Plan, _: &Sizes<'_>) -> Kinematics {
        Kinematics::new(&self.robot.model)
    }

    fn output(&self, state: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let state = cx.inputs.get(*state);
        cx.scratch.update(&self.robot.model, state.q, state.nu);
        Ok(())
    }
}

/// What most blocks of robots begin with: the robot, its state as an input, its kinematics.
pub(crate) struct AtState {
    pub(crate) robot: Arc<RobotModel>,
    pub(crate) state: In<StateBus>,
    pub(crate) kinematics: Shared<Kinematics>,
}

impl AtState {
    /// Declares the input `state` of the named robot and asks for its kinematics.
    pub(crate) fn plan(name: &RobotName, ports: &mut Ports<'_>) -> Result<Self, Invalid> {
        let robot = name.find(ports)?;
        let state = state_input(ports, name.as_str());
        let kinematics = kinematics(ports, &robot, state);
        Ok(Self { robot, state, kinematics })
    }
}

/// Declares the input `state` of the robot `name`.
pub(crate) fn state_input(ports: &mut Ports<'_>, name: &str) -> In<StateBus> {
    let bus = StateBus::of(ports, name);
    let state = ports.input("state", &bus);
    ports.note_in(state).doc("configuration and velocity of the robot");
    state
}

/// Notes what an output is.
pub(crate) fn describe<S: legwork_block::Signal>(ports: &mut Ports<'_>, output: Out<S>, doc: &str) {
    ports.note_out(output).doc(doc);
}
