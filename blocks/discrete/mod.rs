//! Dynamics in discrete time: delays, holds, filters and integrators of samples, and the
//! transition from one sampling period to another.

pub(crate) mod delay;
mod discrete_derivative;
mod discrete_filter;
pub(crate) mod discrete_integrator;
mod discrete_state_space;
mod discrete_transfer_function;
mod last_input;
mod leaves;
mod memory;
mod rate_transition;
mod unit_delay;
mod zero_order_hold;

use legwork_block::Registry;

pub use delay::Delay;
pub use discrete_derivative::DiscreteDerivative;
pub use discrete_filter::DiscreteFilter;
pub use discrete_integrator::{DiscreteIntegrator, Method};
pub use discrete_state_space::DiscreteStateSpace;
pub use discrete_transfer_function::DiscreteTransferFunction;
pub use memory::Memory;
pub use rate_transition::RateTransition;
pub use unit_delay::UnitDelay;
pub use zero_order_hold::ZeroOrderHold;

/// Adds the blocks of this shelf.
pub(crate) fn register(r: &mut Registry) {
    let mut shelf =
        r.shelf("discrete", "Delays, holds, filters and integrators of samples, changes of rate.");
    shelf.block::<Delay>("Delay(length: 5)");
    shelf.block::<DiscreteDerivative>("DiscreteDerivative()");
    shelf.block::<DiscreteFilter>("DiscreteFilter(numerator: [0.1], denominator: [1, -0.9])");
    shelf.block::<DiscreteIntegrator>("DiscreteIntegrator(method: Trapezoidal, initial: 0)");
    shelf.block::<DiscreteStateSpace>("DiscreteStateSpace(a: 0.9, b: 0.1, c: 1)");
    shelf.block::<DiscreteTransferFunction>(
        "DiscreteTransferFunction(numerator: [1], denominator: [1, -0.5])",
    );
    shelf.block::<Memory>("Memory(initial: 0)");
    shelf.block::<RateTransition>("RateTransition(mode: Linear)");
    shelf.block::<UnitDelay>("UnitDelay(initial: 0)");
    shelf.block::<ZeroOrderHold>("ZeroOrderHold()");
}
