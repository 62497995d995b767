//! Controllers and estimators: joint PD, gravity compensation, inverse dynamics through contacts,
//! smooth references, state feedback, Kalman filters, trained networks.

mod contact_inverse_dynamics;
mod covariance;
mod extended_kalman_filter;
mod gravity_compensation;
mod joint_pd;
mod kalman_filter;
mod lqr;
mod minimum_jerk;
mod policy;

use legwork_block::Registry;

pub use contact_inverse_dynamics::ContactInverseDynamics;
pub use extended_kalman_filter::ExtendedKalmanFilter;
pub use gravity_compensation::GravityCompensation;
pub use joint_pd::JointPd;
pub use kalman_filter::KalmanFilter;
pub use lqr::Lqr;
pub use minimum_jerk::MinimumJerk;
pub use policy::Policy;

/// Adds the blocks of this shelf.
pub(crate) fn register(r: &mut Registry) {
    let mut shelf = r.shelf(
        "control",
        "Joint PD, gravity, inverse dynamics, references, LQR, Kalman filters, networks.",
    );
    shelf.block::<ContactInverseDynamics>("ContactInverseDynamics(model: CoulombQp(stages: Two))");
    shelf.block::<ExtendedKalmanFilter>(
        "ExtendedKalmanFilter(initial: [0.1, 0], covariance: 0.01, process: 1e-4, measurement: 1e-3)",
    );
    shelf.block::<GravityCompensation>(r#"GravityCompensation(robot: "go", foot: Force)"#);
    shelf.block::<JointPd>(r#"JointPd(kp: "60 N*m/rad", kd: "1.5 N*m*s/rad")"#);
    shelf.block::<KalmanFilter>(
        "KalmanFilter(a: [[1, 0.1], [0, 1]], b: [0, 0.1], c: [1, 0], process: 1e-4, measurement: 1e-6)",
    );
    shelf.block::<Lqr>("Lqr(gain: [3.2, 2.5], state: [1, 0])");
    shelf.block::<MinimumJerk>(r#"MinimumJerk(duration: "2 s")"#);
    shelf.block::<Policy>(r#"Policy(path: "std:policies/balance.safetensors", scale: "10 N")"#);
}
