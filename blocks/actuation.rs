//! The list of motors and sensors, and their masks.

use legwork_block::Registry;

use crate::encoder::Encoder;
use crate::foot_wrench::FootWrench;
use crate::imu::Imu;
use crate::kin_dyn::KinDyn;
use crate::motor::Motor;
use crate::reflected_inertia::ReflectedInertia;

/// Adds motors and sensors. Examples name a robot `go`.
pub(crate) fn register_actuation(r: &mut Registry) {
    r.block::<Motor>(
        r#"Motor(robot: "go", gear_ratio: 6, torque_limit: "18 N*m", viscous: "0.01 N*m*s/rad")"#,
    );
    r.block::<ReflectedInertia>(
        r#"ReflectedInertia(robot: "go", rotor_inertia: "6.3e-5 kg*m^2", gear_ratio: 6)"#,
    );
    r.block::<Encoder>(
        r#"Encoder(robot: "go", counts: 4096, gear_ratio: 6, velocity: Difference)"#,
    );
    r.block::<Imu>(
        r#"Imu(robot: "go", frame: "trunk", gyroscope: (noise: "0.1 mrad/s/Hz^(1/2)", range: "2000 deg/s"))"#,
    );
    r.block::<FootWrench>(r#"FootWrench(robot: "go", frame: "FL_foot", axes: Frame)"#);
    r.block::<KinDyn>(r#"KinDyn(robot: "go")"#);
    r.file("masks/mini_cheetah_motors.ron", include_bytes!("masks/mini_cheetah_motors.ron"));
}
