//! Robots that tests use.

use std::any::Any;
use std::sync::Arc;

use legwork_block::{Files, Invalid, ResourceKind};
use serde_json::{Value, json};

use super::{Diagrams, World};
use crate::robot::model::RobotModel;
use crate::robot::urdf::Urdf;

/// A robot from a file under the name `name`, from its parameters.
pub(crate) fn load(
    name: &str,
    parameters: Value,
) -> Result<(Arc<RobotModel>, Vec<String>), Invalid> {
    load_as::<Urdf>(name, parameters, &[])
}

/// A robot of any kind beside others.
pub(crate) fn load_as<R: ResourceKind>(
    name: &str,
    parameters: Value,
    others: &[Arc<RobotModel>],
) -> Result<(Arc<RobotModel>, Vec<String>), Invalid> {
    let kind: R = serde_json::from_value(parameters).expect("the parameters bind");
    let (robot, warnings) = kind.load(name, &Diagrams, &World::of(others))?;
    let robot: Arc<dyn Any + Send + Sync> = robot;
    Ok((robot.downcast().expect("a robot"), warnings))
}

/// A robot from the text of a file, from its parameters without the path.
pub(crate) fn load_text(
    name: &str,
    text: &str,
    mut parameters: Value,
) -> Result<(Arc<RobotModel>, Vec<String>), Invalid> {
    struct Text<'t>(&'t str);

    impl Files for Text<'_> {
        fn read(&self, _: &str) -> Result<Vec<u8>, String> {
            Ok(self.0.as_bytes().to_vec())
        }
    }

    parameters["path"] = "text.urdf".into();
    let urdf: Urdf = serde_json::from_value(parameters).expect("the parameters bind");
    let (robot, warnings) = urdf.load(name, &Text(text), &World::of(&[]))?;
    let robot: Arc<dyn Any + Send + Sync> = robot;
    Ok((robot.downcast().expect("a robot"), warnings))
}

/// A fixed base, a hinge and a ball joint.
pub(crate) const HINGE_AND_BALL: &str = r#"
    <robot name="arm">
      <link name="mount"/>
      <link name="upper"><inertial><origin xyz="0 0 -0.2"/><mass value="2"/>
        <inertia ixx="0.03" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <link name="lower"><inertial><origin xyz="0.1 0 -0.2"/><mass value="1"/>
        <inertia ixx="0.01" iyy="0.02" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="hinge" type="continuous"><parent link="mount"/><child link="upper"/>
        <axis xyz="0 1 0"/></joint>
      <joint name="ball" type="spherical"><parent link="upper"/><child link="lower"/>
        <origin xyz="0 0 -0.4"/></joint>
    </robot>"#;

/// Parameters of Mini Cheetah as the diagrams have it.
pub(crate) fn go_parameters() -> Value {
    json!({
        "path": "robots/mini_cheetah/mini_cheetah.urdf",
        "feet": ["FL_foot", "FR_foot", "HL_foot", "HR_foot"],
        "rotor_inertia": {
            "*_abad_joint": 0.002268, "*_hip_joint": 0.002268, "*_knee_joint": 0.00548408,
        },
        "keyframes": {
            "stand": { "s": [0, -0.8, 1.6, 0, -0.8, 1.6, 0, -0.8, 1.6, 0, -0.8, 1.6] },
        },
    })
}

/// Mini Cheetah under the name `go`.
pub(crate) fn go() -> Arc<RobotModel> {
    load("go", go_parameters()).expect("Mini Cheetah").0
}

/// Mini Cheetah without rotor inertia, also under the name `go`.
pub(crate) fn go_without_rotors() -> Arc<RobotModel> {
    let mut parameters = go_parameters();
    parameters["rotor_inertia"] = Value::Null;
    load("go", parameters).expect("Mini Cheetah").0
}
