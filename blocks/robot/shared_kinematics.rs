//! Shared computation: kinematics of a robot at a state, once per state however many blocks ask.

use std::sync::Arc;

use legwork_block::{Block, In, Invalid, Outcome, OutputCx, Ports, Shared, Sizes, block, feeds};
use legwork_mechanics::Kinematics;

use crate::buses::StateBus;
use crate::robot::model::RobotModel;

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

#[block]
impl Block for KinematicsOf {
    const KIND: &'static str = "Kinematics";
    type Plan = In<StateBus>;
    type Scratch = Kinematics;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        ports.share();
        Ok(ports.input("state", &StateBus::of(ports, &self.robot.name)))
    }

    fn scratch(&self, _: &Self::Plan, _: &Sizes<'_>) -> Kinematics {
        Kinematics::new(&self.robot.model)
    }

    fn output(&self, state: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let state = cx.inputs.get(*state);
        cx.scratch.update(&self.robot.model, state.q, state.nu);
        Ok(())
    }
}
