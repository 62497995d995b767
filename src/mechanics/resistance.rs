//! What joints resist motion with: viscous damping and dry friction.
//!
//! A joint coordinate of speed `v` feels
//!
//! ```text
//! f = −d(v) v,     d(v) = D + F / max(|v|, ε)
//! ```
//!
//! with its viscous damping D and its dry friction F: Coulomb's law `−F sgn v` above the speed ε,
//! and below it a steep damper, so that `|f| ≤ D |v| + F` and the law is continuous. A joint that
//! is loaded by less than F creeps at less than ε.
//!
//! Both are written as one coefficient d, since that is how a step takes them without a limit on
//! its length. With d frozen at the beginning of a step of length Δt and the speed at its end,
//! `f = −d(v) v⁺`, the equation of motion becomes
//!
//! ```text
//! (M + Δt d) ν̇ = Sᵀτ + f_ext − h − d ν,     ν⁺ = ν + Δt ν̇
//! ```
//!
//! which is that of a mass matrix with a larger diagonal: no damping makes it unstable, friction
//! never turns a joint round, and contact solvers see how stiff the joint is. As Δt goes to 0 it is
//! the law above; over one step that begins at rest, friction can exceed F. A method with stages
//! takes `f` as it is, with `M` alone.
//!
//! References: E. Todorov, *MuJoCo*, Computation, "Numerical integration", for the implicit damping
//! of joints; P. Song et al., *Analysis of rigid-body dynamic models for simulation of systems with
//! frictional contacts*, J. Appl. Mech. 68 (2001), for the regularised law.

use crate::model::{Joint, MimicJoint, Model};

/// Speed from which on dry friction is full [rad/s or m/s], unless another is asked for.
pub const FRICTION_SPEED: f64 = 0.01;

/// Viscous damping and dry friction of the joints of a model, by joint coordinate.
#[derive(Clone, Debug, PartialEq)]
pub struct JointResistance {
    /// D [N m s/rad or N s/m].
    pub(crate) viscous: Vec<f64>,
    /// F [N m or N].
    pub(crate) dry: Vec<f64>,
    /// ε [rad/s or m/s].
    pub(crate) speed: Vec<f64>,
    /// Whether any of them resists.
    pub(crate) acts: bool,
}

impl JointResistance {
    /// Frictionless joints.
    pub(crate) fn none(n: usize) -> Self {
        let zeros = vec![0.0; n];
        Self { viscous: zeros.clone(), dry: zeros, speed: vec![FRICTION_SPEED; n], acts: false }
    }

    pub(crate) fn new(viscous: Vec<f64>, dry: Vec<f64>, speed: Vec<f64>) -> Self {
        let acts = viscous.iter().chain(&dry).any(|value| *value > 0.0);
        Self { viscous, dry, speed, acts }
    }

    /// Whether any joint has damping or friction.
    #[must_use]
    pub fn acts(&self) -> bool {
        self.acts
    }

    /// Viscous damping D [N m s/rad or N s/m], one value per joint coordinate: with mimic joints,
    /// their share `m² D` included.
    #[must_use]
    pub fn viscous(&self) -> &[f64] {
        &self.viscous
    }

    /// Dry friction F [N m or N], one value per joint coordinate: with mimic joints, their share
    /// `|m| F` included.
    #[must_use]
    pub fn dry(&self) -> &[f64] {
        &self.dry
    }
}

impl Model {
    /// Damping and dry friction of the joints.
    #[must_use]
    pub fn resistance(&self) -> &JointResistance {
        &self.resistance
    }

    /// The same model whose joints have no damping and no dry friction.
    #[must_use]
    pub fn without_resistance(mut self) -> Self {
        self.resistance = JointResistance::none(self.joint_dim());
        self
    }

    /// The same model with dry friction that is full from another speed on [rad/s or m/s].
    ///
    /// # Panics
    /// If the speed is not above zero.
    #[must_use]
    pub fn with_friction_speed(mut self, speed: f64) -> Self {
        assert!(speed > 0.0, "a speed above zero");
        self.resistance.speed.fill(speed);
        self
    }

    /// Damping coefficients `d(ν) = D + F / max(|ν|, ε)` of all velocity coordinates into `out`
    /// (nv); those of a base are 0. The joints resist with `−d ν`.
    ///
    /// # Panics
    /// If a slice has the wrong length.
    pub fn joint_damping(&self, velocity: &[f64], out: &mut [f64]) {
        assert_eq!(velocity.len(), self.velocity_dim(), "length of velocity");
        assert_eq!(out.len(), self.velocity_dim(), "length of out");
        out.fill(0.0);
        let JointResistance { viscous, dry, speed, .. } = &self.resistance;
        let own = viscous.iter().zip(dry).zip(speed);
        for (&k, ((viscous, dry), speed)) in self.joint_velocities.iter().zip(own) {
            out[k] = viscous + dry / velocity[k].abs().max(*speed);
        }
    }
}

impl Model {
    /// Derivatives of what the joints resist with, `∂(d ν)/∂ν = D + F/ε` below the speed ε and D
    /// above, into `out` (nv); those of a base are 0.
    ///
    /// # Panics
    /// If a slice has the wrong length.
    pub fn joint_damping_slope(&self, velocity: &[f64], out: &mut [f64]) {
        assert_eq!(velocity.len(), self.velocity_dim(), "length of velocity");
        assert_eq!(out.len(), self.velocity_dim(), "length of out");
        out.fill(0.0);
        let JointResistance { viscous, dry, speed, .. } = &self.resistance;
        let own = viscous.iter().zip(dry).zip(speed);
        for (&k, ((viscous, dry), speed)) in self.joint_velocities.iter().zip(own) {
            let is_slow = velocity[k].abs() < *speed;
            out[k] = viscous + if is_slow { dry / speed } else { 0.0 };
        }
    }
}

/// The resistance of the joints of a robot file.
pub(crate) fn of_joints(joints: &[Joint], mimics: &[MimicJoint]) -> JointResistance {
    let mut sums: Vec<(f64, f64)> =
        joints.iter().map(|joint| (joint.damping, joint.friction)).collect();
    for mimic in mimics {
        // The power of both joints: m² D ṡ² and |m| F |ṡ|.
        let (sum, m) = (&mut sums[mimic.joint.index()], mimic.multiplier);
        sum.0 += m * m * mimic.damping;
        sum.1 += m.abs() * mimic.friction;
    }
    let of_each = |value: fn(&(f64, f64)) -> f64| -> Vec<f64> {
        let pairs = joints.iter().zip(&sums);
        pairs
            .flat_map(|(joint, sum)| std::iter::repeat_n(value(sum), joint.kind.velocity_dim()))
            .collect()
    };
    let (viscous, dry) = (of_each(|sum| sum.0), of_each(|sum| sum.1));
    let speed = vec![FRICTION_SPEED; viscous.len()];
    JointResistance::new(viscous, dry, speed)
}
