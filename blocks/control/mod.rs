//! Controllers of robots: joint PD, gravity compensation, inverse dynamics through contacts,
//! trained networks.

mod contact_inverse_dynamics;
mod gravity_compensation;
mod joint_pd;
mod policy;

use legwork_block::Registry;

pub use contact_inverse_dynamics::ContactInverseDynamics;
pub use gravity_compensation::GravityCompensation;
pub use joint_pd::JointPd;
pub use policy::Policy;

/// Adds the blocks of this shelf.
pub(crate) fn register(r: &mut Registry) {
    let mut shelf =
        r.shelf("control", "Joint PD, gravity, inverse dynamics through contacts, networks.");
    shelf.block::<ContactInverseDynamics>("ContactInverseDynamics(model: CoulombQp(stages: Two))");
    shelf.block::<GravityCompensation>(r#"GravityCompensation(robot: "go", foot: Force)"#);
    shelf.block::<JointPd>(r#"JointPd(kp: "60 N*m/rad", kd: "1.5 N*m*s/rad")"#);
    shelf.block::<Policy>(r#"Policy(path: "std:policies/balance.safetensors", scale: "10 N")"#);
}
