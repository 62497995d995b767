//! What drives the joints: motors with limits, lag, gears, friction and rotor inertia.

mod actuator;
pub(crate) mod motor;
mod reflected_inertia;

use legwork_block::Registry;

pub use actuator::Actuator;
pub use motor::gears::Coupling;
pub use motor::{Electric, Motor};
pub use reflected_inertia::ReflectedInertia;

/// Adds the blocks of this shelf.
pub(crate) fn register(r: &mut Registry) {
    let mut shelf =
        r.shelf("actuators", "Motors: torque limits, lag, gears, friction, rotor inertia.");
    shelf.block::<Actuator>(r#"Actuator(torque_limit: "18 N*m", bandwidth: "200 Hz")"#);
    shelf.block::<Motor>(
        r#"Motor(robot: "go", gear_ratio: 6, torque_limit: "18 N*m", viscous: "0.01 N*m*s/rad")"#,
    );
    shelf.block::<ReflectedInertia>(
        r#"ReflectedInertia(robot: "go", rotor_inertia: "6.3e-5 kg*m^2", gear_ratio: 6)"#,
    );
}
