//! Damping, dry friction and springs of the joints, as a step of the run's solver takes them.

use legwork_block::{Ports, Solver, Time};
use legwork_mechanics::Model;

/// What the joints of a robot do by themselves at a state.
///
/// This is where it enters, once for all blocks: [`Mass`](crate::robot::Mass) has one, its factor
/// is that of M with [`added`](Self::added) on its diagonal, and what opposes a motion in it is
/// h with [`force`](Self::force); `RobotDynamics` puts these and that factor on the bus. `M` and
/// `h` by themselves know nothing of it.
pub struct PassiveForces {
    step: StepEnd,
    /// `p = d ν + k (s − r)` (nv) [N m, N]: what opposes; 0 at bases.
    pub force: Vec<f64>,
    /// What it adds to the diagonal of M (nv): `Δt d + ¼ Δt² k`, or 0.
    pub added: Vec<f64>,
    /// d(ν) (nv) [N m s/rad, N s/m]; 0 at bases.
    pub damping: Vec<f64>,
    /// k (nv) [N m/rad, N/m]; 0 at bases.
    pub stiffness: Vec<f64>,
    /// Whether any joint has damping, friction or a spring.
    pub acts: bool,
}

/// Where a step of the run's solver ends.
#[derive(Clone, Copy, PartialEq)]
pub enum StepEnd {
    /// At `ν⁺ = ν + Δt ν̇`, `s⁺ = s + Δt ν⁺`.
    SemiImplicit,
    /// At `ν⁺ = ν + Δt ν̇`, `s⁺ = s + Δt ν`.
    Explicit,
    /// Elsewhere: the solver has stages, or its own equations.
    Unknown,
}

impl StepEnd {
    pub(crate) fn of(ports: &Ports<'_>) -> Self {
        match ports.solver() {
            solver if solver.has_stages() => Self::Unknown,
            Solver::SemiImplicitEuler => Self::SemiImplicit,
            _ => Self::Explicit,
        }
    }
}

/// What a damper d and a spring k add to the inertia of a joint in a step Δt.
pub(crate) fn added_inertia(d: f64, k: f64, step: f64) -> f64 {
    step * d + 0.25 * step * step * k
}

impl PassiveForces {
    /// None yet, of a robot whose step ends at `step`.
    pub(crate) fn new(model: &Model, step: StepEnd) -> Self {
        let zeros = vec![0.0; model.velocity_dim()];
        let mut stiffness = zeros.clone();
        model.joint_stiffness(&mut stiffness);
        let acts = model.resistance().acts() || !model.springs().is_empty();
        let (force, added) = (zeros.clone(), zeros.clone());
        Self { step, force, added, damping: zeros, stiffness, acts }
    }

    /// Those at the configuration q and the velocity ν.
    pub(crate) fn update(&mut self, model: &Model, q: &[f64], nu: &[f64], time: Time) {
        if !self.acts {
            return;
        }
        let Self { force, added, damping, stiffness, .. } = self;
        model.joint_damping(nu, damping);
        for ((force, damping), nu) in force.iter_mut().zip(&*damping).zip(nu) {
            *force = damping * nu;
        }
        // A step whose end is known by the old speed takes the springs there.
        let lead = if self.step == StepEnd::Explicit { time.step } else { 0.0 };
        model.add_spring_force(q, nu, lead, force);
        if self.step != StepEnd::Unknown {
            for ((added, d), k) in added.iter_mut().zip(&*damping).zip(&*stiffness) {
                *added = added_inertia(*d, *k, time.step);
            }
        }
    }

    /// `force += sign p`.
    pub(crate) fn add_to(&self, sign: f64, force: &mut [f64]) {
        if !self.acts {
            return;
        }
        for (force, own) in force.iter_mut().zip(&self.force) {
            *force += sign * own;
        }
    }
}
