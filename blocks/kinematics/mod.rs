//! Where the parts of a robot are and how they move: poses, Jacobians, centre of mass, inverse
//! kinematics.

pub(crate) mod center_of_mass;
mod dot_j_nu;
pub(crate) mod forward_kinematics;
mod inverse_kinematics;
pub(crate) mod jacobian;
mod relative_jacobian;
mod relative_transform;

use legwork_block::Registry;

pub use center_of_mass::CenterOfMass;
pub use dot_j_nu::DotJNu;
pub use forward_kinematics::ForwardKinematics;
pub use inverse_kinematics::{FrameTarget, InverseKinematics};
pub use jacobian::Jacobian;
pub use relative_jacobian::RelativeJacobian;
pub use relative_transform::RelativeTransform;

/// Adds the blocks of this shelf.
pub(crate) fn register(r: &mut Registry) {
    let mut shelf =
        r.shelf("kinematics", "Poses, Jacobians, centre of mass, inverse kinematics of a robot.");
    shelf.block::<CenterOfMass>(r#"CenterOfMass(robot: "go")"#);
    shelf.block::<DotJNu>(r#"DotJNu(robot: "go", frame: "FL_foot")"#);
    shelf.block::<ForwardKinematics>(r#"ForwardKinematics(robot: "go", frame: "FL_foot")"#);
    shelf.block::<InverseKinematics>(
        r#"InverseKinematics(robot: "go", targets: [(frame: "FL_foot", position_only: true)])"#,
    );
    shelf.block::<Jacobian>(r#"Jacobian(robot: "go", frame: "FL_foot")"#);
    shelf.block::<RelativeJacobian>(
        r#"RelativeJacobian(robot: "go", from: "FL_foot", to: "HR_foot")"#,
    );
    shelf.block::<RelativeTransform>(
        r#"RelativeTransform(robot: "go", from: "FL_foot", to: "HR_foot")"#,
    );
}
