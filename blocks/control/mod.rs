//! Controllers of robots: joint PD, gravity compensation, inverse dynamics through contacts, smooth
//! references, trained networks.

mod contact_inverse_dynamics;
mod gravity_compensation;
mod joint_pd;
mod minimum_jerk;
mod policy;

use legwork_block::Registry;

pub use contact_inverse_dynamics::ContactInverseDynamics;
pub use gravity_compensation::GravityCompensation;
pub use joint_pd::JointPd;
pub use minimum_jerk::MinimumJerk;
pub use policy::Policy;

/// Adds the blocks of this shelf.
pub(crate) fn register(r: &mut Registry) {
    let mut shelf = r.shelf(
        "control",
        "Joint PD, gravity, inverse dynamics through contacts, references, networks.",
    );
    shelf.block::<ContactInverseDynamics>("ContactInverseDynamics(model: CoulombQp(stages: Two))");
    shelf.block::<GravityCompensation>(r#"GravityCompensation(robot: "go", foot: Force)"#);
    shelf.block::<JointPd>(r#"JointPd(kp: "60 N*m/rad", kd: "1.5 N*m*s/rad")"#);
    shelf.block::<MinimumJerk>(r#"MinimumJerk(duration: "2 s")"#);
    shelf.block::<Policy>(r#"Policy(path: "std:policies/balance.safetensors", scale: "10 N")"#);
}
