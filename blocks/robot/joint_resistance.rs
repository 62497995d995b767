//! Damping and dry friction of the joints, as a step of the run's solver takes them.

use legwork_block::{Ports, Time};
use legwork_mechanics::Model;

/// Damping of the joints at a state.
///
/// This is where they enter, once for all blocks: [`Mass`](crate::robot::Mass) has one, its factor
/// is that of `M + Δt d`, and what opposes a motion in it is `h + d ν`; `RobotDynamics` puts d and
/// that factor on the bus. `M` and `h` by themselves know nothing of damping.
pub struct Resistance {
    /// Whether a step ends at `ν + Δt ν̇` and so can take damping at its end.
    is_implicit: bool,
    /// `d(ν)` (nv) [N m s/rad or N s/m]; 0 at bases.
    pub damping: Vec<f64>,
    /// What damping adds to the diagonal of M (nv): `Δt d`, or 0.
    pub added: Vec<f64>,
    /// Whether any joint resists.
    pub acts: bool,
}

/// Whether the run's solver takes one acceleration a step, so that damping can act at its end.
pub(crate) fn is_implicit(ports: &Ports<'_>) -> bool {
    !ports.solver().has_stages()
}

impl Resistance {
    /// That of a robot at rest.
    pub(crate) fn new(model: &Model, is_implicit: bool) -> Self {
        let zeros = vec![0.0; model.velocity_dim()];
        Self { is_implicit, damping: zeros.clone(), added: zeros, acts: model.resistance().acts() }
    }

    /// That at the velocity ν.
    pub(crate) fn update(&mut self, model: &Model, nu: &[f64], time: Time) {
        if !self.acts {
            return;
        }
        model.joint_damping(nu, &mut self.damping);
        if self.is_implicit {
            for (added, damping) in self.added.iter_mut().zip(&self.damping) {
                *added = time.step * damping;
            }
        }
    }

    /// `force += sign d ν`.
    pub(crate) fn add_force(&self, sign: f64, nu: &[f64], force: &mut [f64]) {
        if !self.acts {
            return;
        }
        for ((force, damping), nu) in force.iter_mut().zip(&self.damping).zip(nu) {
            *force += sign * damping * nu;
        }
    }
}
