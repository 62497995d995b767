//! Orientation in space: quaternions (w, x, y, z), rotation matrices, roll, pitch and yaw, poses.

mod pose_create;
mod quaternion_product;
mod quaternion_to_rotation;
mod quaternion_to_rpy;
mod rotate_vector;
mod rotation_to_quaternion;
pub(crate) mod rotations;
mod rpy_to_quaternion;

use legwork_block::Registry;

pub use pose_create::PoseCreate;
pub use quaternion_product::{Factor, QuaternionProduct};
pub use quaternion_to_rotation::QuaternionToRotation;
pub use quaternion_to_rpy::QuaternionToRpy;
pub use rotate_vector::{By, RotateVector};
pub use rotation_to_quaternion::RotationToQuaternion;
pub use rpy_to_quaternion::RpyToQuaternion;

/// Adds the blocks of this shelf.
pub(crate) fn register(r: &mut Registry) {
    let mut shelf =
        r.shelf("rotation", "Quaternions, rotation matrices, roll, pitch and yaw, poses.");
    shelf.block::<PoseCreate>("PoseCreate()");
    shelf.block::<QuaternionProduct>("QuaternionProduct()");
    shelf.block::<QuaternionToRotation>("QuaternionToRotation()");
    shelf.block::<QuaternionToRpy>("QuaternionToRpy()");
    shelf.block::<RotateVector>("RotateVector(inverse: true)");
    shelf.block::<RotationToQuaternion>("RotationToQuaternion()");
    shelf.block::<RpyToQuaternion>("RpyToQuaternion()");
}
