//! Drift of a step of the semi-implicit Euler method, and the balance of its energy.

use legwork_mechanics::{InertialStep, Model, StepBalance, TreeBalance, integrate};

use super::step_watch::StepWatch;

/// Work memory of a step.
pub struct Drift {
    inertial: InertialStep,
    energy: StepBalance,
    /// Configuration of the bus, to be set.
    pub(super) q: Vec<f64>,
    rate: Vec<f64>,
    shift: Vec<f64>,
    nu_end: Vec<f64>,
    q_end: Vec<f64>,
}

impl Drift {
    pub(super) fn new(model: &Model, is_smooth: bool) -> Self {
        let (q, zeros) = (model.zero_configuration(), vec![0.0; model.velocity_dim()]);
        let inertial = InertialStep::new(model);
        Self {
            inertial: if is_smooth { inertial.under_smooth_forces() } else { inertial },
            energy: StepBalance::new(model),
            q: q.clone(),
            rate: zeros.clone(),
            shift: zeros.clone(),
            nu_end: zeros,
            q_end: q,
        }
    }

    /// Replaces the drift of a step from (`q`, ν): see [`InertialStep::replace_drift`].
    pub(super) fn replace(
        &mut self,
        model: &Model,
        nu: &[f64],
        step: f64,
        rate: &mut [f64],
        shift: &mut [f64],
    ) -> bool {
        self.inertial.replace_drift(model, (&self.q, nu), step, rate, shift)
    }

    /// Adds an instant of a method with stages: see [`StepWatch::passes`].
    pub(super) fn pass(
        &mut self,
        model: &Model,
        (t, nu, nu_dot): (f64, &[f64], &[f64]),
        watch: &mut StepWatch,
    ) {
        let Self { energy, q, rate, .. } = self;
        energy.at(model, (q, nu), nu_dot, rate, |tree, motion| watch.note(tree, motion));
        watch.passes(model, (t, nu, nu_dot), rate);
    }

    /// Computes the energy balance of a step from (`q`, ν): see [`StepBalance::of_step`]. The
    /// step is that of `SemiImplicitEuler` if `is_semi_implicit`, else that of `Euler`.
    pub(super) fn balance(
        &mut self,
        model: &Model,
        nu: &[f64],
        nu_dot: &[f64],
        step: f64,
        is_semi_implicit: bool,
        write: impl FnMut(usize, TreeBalance),
    ) {
        let Self { inertial, energy, q, rate, shift, nu_end, q_end } = self;
        rate.copy_from_slice(nu_dot);
        let is_shifted =
            is_semi_implicit && inertial.replace_drift(model, (q, nu), step, rate, shift);
        if !is_shifted {
            shift.fill(0.0);
        }
        for (i, end) in nu_end.iter_mut().enumerate() {
            *end = nu[i] + step * rate[i];
            let moves = if is_semi_implicit { *end + shift[i] } else { nu[i] };
            shift[i] = step * moves;
        }
        integrate(model, q, shift, q_end);
        energy.of_step(model, (q, nu), nu_dot, step, (q_end, nu_end), write);
    }
}
