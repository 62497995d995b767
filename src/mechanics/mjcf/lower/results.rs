//! What a model of MuJoCo says beside the mechanism.

use crate::model::{FrameId, JointId, Model};

/// A model of MuJoCo: the mechanism, and what else the file says.
#[derive(Clone, Debug)]
pub struct Mjcf {
    /// The mechanism.
    pub model: Model,
    /// `timestep` of the file [s].
    pub time_step: f64,
    /// `integrator` of the file.
    pub integrator: String,
    /// The pose of the file, called `reference`, and its keyframes.
    pub keyframes: Vec<MjcfKeyframe>,
    /// Actuators on joints and fixed tendons.
    pub actuators: Vec<MjcfActuator>,
    /// Geometry of the robot with its contact properties.
    pub geoms: Vec<MjcfGeom>,
    /// Equalities that tie bodies together.
    pub equalities: Vec<MjcfEquality>,
    /// Links whose contact the file excludes.
    pub excluded: Vec<[String; 2]>,
    /// Geoms whose contact the file asks for beside what touches by itself.
    pub pairs: Vec<[String; 2]>,
    /// What is doubtful, and what is not taken.
    pub warnings: Vec<String>,
}

/// A state that the file names.
#[derive(Clone, Debug, PartialEq)]
pub struct MjcfKeyframe {
    /// Its name; `key_0` and so on if it has none.
    pub name: String,
    /// q (nq).
    pub configuration: Vec<f64>,
    /// ν (nv).
    pub velocity: Vec<f64>,
    /// One value for each actuator of the file, if it states them.
    pub controls: Option<Vec<f64>>,
}

/// How an actuator makes a force of its control u, the length l of its transmission and the rate
/// of that: `gain u + constant + per_length l + per_rate l̇`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ActuatorLaw {
    /// Force per control.
    pub gain: f64,
    /// Constant force.
    pub constant: f64,
    /// Force per length.
    pub per_length: f64,
    /// Force per rate of the length.
    pub per_rate: f64,
}

/// An actuator on joints of one degree of freedom.
#[derive(Clone, Debug, PartialEq)]
pub struct MjcfActuator {
    /// Its name; `actuator_0` and so on if it has none.
    pub name: String,
    /// Element of the file: `motor`, `position`, `velocity` or `general`.
    pub kind: String,
    /// Joint torque per force, by joint: its row of the moment matrix, `l̇ = Σ moment ṡ`.
    pub moment: Vec<(JointId, f64)>,
    /// Force law; `None` if it is not of this form.
    pub law: Option<ActuatorLaw>,
    /// Limits of the control; infinite if there are none.
    pub control_range: [f64; 2],
    /// Limits of the force; infinite if there are none.
    pub force_range: [f64; 2],
}

/// Geometry of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct MjcfGeom {
    /// Its name; empty if it has none.
    pub name: String,
    /// The link that carries it.
    pub link: FrameId,
    /// Whether it touches anything.
    pub touches: bool,
    /// Bits of `contype`.
    pub contact_type: u32,
    /// Bits of `conaffinity`.
    pub contact_affinity: u32,
    /// `condim`: 1 without friction, 3 sliding, 4 torsional, 6 rolling too.
    pub contact_dimension: u32,
    /// Sliding [1], torsional [m] and rolling [m] friction.
    pub friction: [f64; 3],
}

/// Two frames that an equality keeps together, as `LoopConstraint` does.
#[derive(Clone, Debug, PartialEq)]
pub struct MjcfEquality {
    /// Its name; `equality_0` and so on if it has none.
    pub name: String,
    /// Whether orientations are kept as well as points.
    pub weld: bool,
    /// Whether it acts.
    pub active: bool,
    /// The frames, which coincide when it holds.
    pub frames: [String; 2],
}
