//! Springs of joints of one degree of freedom, `τ = −k (s − r)`.
//!
//! A step of length Δt that ends at `s⁺ = s + Δt ν⁺`, `ν⁺ = ν + Δt ν̇`, takes them as
//!
//! ```text
//! (M + ¼ Δt² k) ν̇ = Sᵀτ + f_ext − h − k (s − r)
//! ```
//!
//! the force that of the beginning of the step, the inertia with a share that grows with the step.
//! One joint of mass M that nothing else moves then oscillates for ever, with an amplitude that
//! stays, however stiff the spring, at the frequency ω of the trapezoidal rule,
//! `tan(½ ω Δt) = ½ Δt √(k/M)`: it is leapfrog with the stiffness `k/(1 + ¼ Δt² k/M)`, which is
//! below leapfrog's limit of `4 M/Δt²` for any k. Damping is added to the same diagonal
//! ([`JointResistance`](crate::JointResistance)). A method with stages takes the force as it is,
//! with `M` alone.
//!
//! Reference: N. M. Newmark, *A method of computation for structural dynamics*, J. Eng. Mech. Div.
//! 85 (1959), with β = ¼ and γ = ½, whose velocities are here those of mid-steps.

use crate::model::{JointId, Model};

/// A spring of a joint of one degree of freedom: `τ = −stiffness (s − rest)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointSpring {
    /// The joint.
    pub joint: JointId,
    /// k [N m/rad or N/m].
    pub stiffness: f64,
    /// Where it is at rest: r [rad or m].
    pub rest: f64,
}

impl Model {
    /// Springs of the joints. A joint may have several: its own and those of joints that follow it.
    #[must_use]
    pub fn springs(&self) -> &[JointSpring] {
        &self.springs
    }

    /// The same model without springs.
    #[must_use]
    pub fn without_springs(mut self) -> Self {
        self.springs.clear();
        self
    }

    /// Adds `k (s − r)` of all springs to `out` (nv), at `s + lead · ν`: what they pull back with.
    ///
    /// # Panics
    /// If a slice has the wrong length.
    pub fn add_spring_force(
        &self,
        configuration: &[f64],
        velocity: &[f64],
        lead: f64,
        out: &mut [f64],
    ) {
        assert_eq!(configuration.len(), self.configuration_dim(), "length of configuration");
        assert_eq!(velocity.len(), self.velocity_dim(), "length of velocity");
        assert_eq!(out.len(), self.velocity_dim(), "length of out");
        for spring in &self.springs {
            let joint = &self.joints[spring.joint.0];
            let s = configuration[joint.q_index] + lead * velocity[joint.v_index];
            out[joint.v_index] += spring.stiffness * (s - spring.rest);
        }
    }

    /// Stiffness k of all springs of each velocity coordinate into `out` (nv) [N m/rad or N/m].
    ///
    /// # Panics
    /// If the slice has the wrong length.
    pub fn joint_stiffness(&self, out: &mut [f64]) {
        assert_eq!(out.len(), self.velocity_dim(), "length of out");
        out.fill(0.0);
        for spring in &self.springs {
            out[self.joints[spring.joint.0].v_index] += spring.stiffness;
        }
    }

    /// Energy in the springs, `Σ ½ k (s − r)²` [J].
    ///
    /// # Panics
    /// If the slice has the wrong length.
    #[must_use]
    pub fn spring_energy(&self, configuration: &[f64]) -> f64 {
        assert_eq!(configuration.len(), self.configuration_dim(), "length of configuration");
        let energy = |spring: &JointSpring| {
            let way = configuration[self.joints[spring.joint.0].q_index] - spring.rest;
            0.5 * spring.stiffness * way * way
        };
        self.springs.iter().map(energy).sum()
    }
}
