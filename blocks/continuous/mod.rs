//! Dynamics in continuous time: integrators, transfer functions, state space, PID control,
//! derivatives, transport delay. `Pid` also runs sampled, with `every:`.

mod derivative;
mod integrator;
mod limits;
mod pid;
mod second_order_integrator;
mod state_space;
mod transfer_function;
mod transport_delay;
mod zero_pole;

use legwork_block::Registry;

pub use derivative::Derivative;
pub use integrator::Integrator;
pub use pid::{AntiWindup, Pid};
pub use second_order_integrator::SecondOrderIntegrator;
pub use state_space::StateSpace;
pub use transfer_function::TransferFunction;
pub use transport_delay::TransportDelay;
pub use zero_pole::ZeroPole;

/// Adds the blocks of this shelf.
pub(crate) fn register(r: &mut Registry) {
    let mut shelf = r
        .shelf("continuous", "Integrators, transfer functions, state space, PID, transport delay.");
    shelf.block::<Derivative>("Derivative(filter: \"100 rad/s\")");
    shelf.block::<Integrator>("Integrator(initial: [0, 0, 1])");
    shelf.block::<Pid>("Pid(kp: 10, ki: 4, kd: 0.5, upper: 5, lower: -5)");
    shelf.block::<SecondOrderIntegrator>("SecondOrderIntegrator(position: \"1 m\")");
    shelf.block::<StateSpace>("StateSpace(a: [[0, 1], [-4, -1]], b: [0, 1], c: [1, 0])");
    shelf.block::<TransferFunction>("TransferFunction(numerator: [1], denominator: [1, 2, 5])");
    shelf.block::<TransportDelay>("TransportDelay(delay: \"50 ms\")");
    shelf.block::<ZeroPole>("ZeroPole(zeros: [-1], poles: [-2, -3], gain: 6)");
}
