//! One type for the three variable-step kernels, chosen at run time.

use super::{Bdf, DormandPrince54, Esdirk43, Failure, Flow, Kernel, Present};

/// One of the variable-step kernels.
#[derive(Debug, Clone)]
pub enum VariableStep {
    /// Explicit, for non-stiff systems.
    DormandPrince54(DormandPrince54),
    /// Multistep, for stiff systems.
    Bdf(Bdf),
    /// One-step, for stiff systems that restart often.
    Esdirk43(Esdirk43),
}

/// Calls the same method of whichever kernel it is.
macro_rules! each {
    ($self:expr, $kernel:ident => $call:expr) => {
        match $self {
            VariableStep::DormandPrince54($kernel) => $call,
            VariableStep::Bdf($kernel) => $call,
            VariableStep::Esdirk43($kernel) => $call,
        }
    };
}

impl Kernel for VariableStep {
    fn begin(&mut self, t: f64, u: &[f64], first: &[f64], h: Option<f64>) {
        each!(self, kernel => kernel.begin(t, u, first, h));
    }

    fn step<F: Flow>(&mut self, flow: &mut F, end: f64) -> Result<(), Failure<F::Error>> {
        each!(self, kernel => kernel.step(flow, end))
    }

    fn present(&self) -> Present<'_> {
        each!(self, kernel => kernel.present())
    }

    fn interpolate(&self, t: f64, u: &mut [f64]) {
        each!(self, kernel => kernel.interpolate(t, u));
    }

    fn remembered_step(&self) -> f64 {
        each!(self, kernel => kernel.remembered_step())
    }

    fn keep_jacobian(&mut self, keep: bool) {
        each!(self, kernel => kernel.keep_jacobian(keep));
    }

    fn jacobian(&self) -> Option<&[f64]> {
        each!(self, kernel => kernel.jacobian())
    }

    fn set_jacobian(&mut self, jacobian: Option<&[f64]>) {
        each!(self, kernel => kernel.set_jacobian(jacobian));
    }
}
