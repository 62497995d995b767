//! Robots as resources, for the `robots:` section of a diagram, and the block that integrates the
//! state of one: `FloatingBase`.

pub(crate) mod efforts;
mod floating_base;
pub(crate) mod frames;
pub(crate) mod free_body;
pub(crate) mod joint_values;
pub(crate) mod meshes;
pub(crate) mod mjcf;
pub(crate) mod model;
pub(crate) mod name;
pub(crate) mod passive_forces;
pub(crate) mod robot_file;
pub(crate) mod shared_kinematics;
pub(crate) mod shared_mass;
mod state_create;
pub(crate) mod state_slopes;
pub(crate) mod urdf;
pub(crate) mod world;

use legwork_block::Registry;

pub use floating_base::{FloatingBase, Init, Orientation, Place};
pub use frames::Representation;
pub use free_body::{BodyShape, FreeBody};
pub use mjcf::Mjcf;
pub use model::{Keyframe, RobotModel};
pub use name::RobotName;
pub use passive_forces::PassiveForces;
pub use robot_file::{Mimic, Mount, NamedPose, OfFile};
pub use shared_kinematics::{KinematicsOf, kinematics};
pub use shared_mass::{Mass, MassOf, mass};
pub use state_create::StateCreate;
pub use urdf::Urdf;
pub use world::World;

/// Adds the blocks of this shelf.
pub(crate) fn register(r: &mut Registry) {
    let mut shelf = r.shelf("robot", "Robots as resources, and the state of a robot over time.");
    shelf.block::<FloatingBase>(r#"FloatingBase(robot: "go", init: (position: [0, 0, "40 cm"]))"#);
    shelf.block::<StateCreate>(r#"StateCreate(robot: "go")"#);
    shelf.resource::<FreeBody>();
    shelf.resource::<Mjcf>();
    shelf.resource::<Urdf>();
    shelf.resource::<World>();
}
