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
    r.block::<CenterOfMass>(r#"CenterOfMass(robot: "go")"#);
    r.block::<DotJNu>(r#"DotJNu(robot: "go", frame: "FL_foot")"#);
    r.block::<ForwardKinematics>(r#"ForwardKinematics(robot: "go", frame: "FL_foot")"#);
    r.block::<InverseKinematics>(
        r#"InverseKinematics(robot: "go", targets: [(frame: "FL_foot", position_only: true)])"#,
    );
    r.block::<Jacobian>(r#"Jacobian(robot: "go", frame: "FL_foot")"#);
    r.block::<RelativeJacobian>(r#"RelativeJacobian(robot: "go", from: "FL_foot", to: "HR_foot")"#);
    r.block::<RelativeTransform>(
        r#"RelativeTransform(robot: "go", from: "FL_foot", to: "HR_foot")"#,
    );
}
