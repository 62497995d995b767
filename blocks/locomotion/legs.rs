//! What blocks of locomotion share: the legs of a robot.

use std::sync::Arc;

use legwork_block::{Invalid, Ports};
use legwork_control::{KneeBend, LEGS, Leg};

use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;

/// The legs that end in the feet of `name`, bent by `bend` of their number.
///
/// # Errors
/// If there is no such robot, if it is a world, has no feet, or a foot is not on a leg of three
/// hinges.
pub(crate) fn legs(
    name: &RobotName,
    ports: &Ports<'_>,
    bend: impl Fn(usize) -> KneeBend,
) -> Result<(Arc<RobotModel>, Vec<Leg>), Invalid> {
    let robot = name.find(ports)?;
    if robot.is_world() {
        let message = format!("expected one robot, found the world `{}`", robot.name);
        return Err(Invalid::parameter("robot", message));
    }
    if robot.feet.is_empty() {
        let message = format!("expected a robot with feet, found none on `{}`", robot.name);
        return Err(Invalid::parameter("robot", message).hint("list them: `feet: [\"…\", …]`"));
    }
    let leg = |(i, foot): (usize, &_)| Leg::new(&robot.model, *foot, bend(i));
    let legs: Result<Vec<Leg>, _> = robot.feet.iter().enumerate().map(leg).collect();
    let legs = legs.map_err(|error| Invalid::parameter("robot", error.to_string()))?;
    Ok((robot, legs))
}

/// The four legs of a quadruped.
///
/// # Errors
/// As [`legs`], and if there are not four.
pub(crate) fn four_legs(name: &RobotName, ports: &Ports<'_>) -> Result<Vec<Leg>, Invalid> {
    let (_, legs) = legs(name, ports, |_| KneeBend::default())?;
    if legs.len() == LEGS {
        return Ok(legs);
    }
    let message = format!("expected a robot with {LEGS} feet, found {} feet", legs.len());
    let order = "list front left, front right, hind left, hind right";
    Err(Invalid::parameter("robot", message).hint(order))
}
