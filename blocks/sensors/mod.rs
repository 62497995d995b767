//! What a robot measures: encoders, inertial measurement units, forces under the feet.

mod encoder;
mod foot_wrench;
mod imu;

use legwork_block::Registry;

pub use encoder::{Encoder, VelocityFrom};
pub use foot_wrench::{Axes, FootWrench};
pub use imu::{Accelerometer, Gyroscope, Imu};

/// Adds the blocks of this shelf.
pub(crate) fn register(r: &mut Registry) {
    let mut shelf =
        r.shelf("sensors", "Encoders, inertial measurement units, forces under the feet.");
    shelf.block::<Encoder>(
        r#"Encoder(robot: "go", counts: 4096, gear_ratio: 6, velocity: Difference)"#,
    );
    shelf.block::<FootWrench>(r#"FootWrench(robot: "go", frame: "FL_foot", axes: Frame)"#);
    shelf.block::<Imu>(
        r#"Imu(robot: "go", frame: "trunk", gyroscope: (noise: "0.1 mrad/s/Hz^(1/2)"))"#,
    );
}
