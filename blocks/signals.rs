//! Signal blocks: filters, controllers, delays, nonlinearities, tables, logic, algebra, rotations
//! and sources, by the names that Simulink gives them. `register_signals` is the list.

mod abs;
mod assertion;
mod backlash;
mod bus_create;
mod canonical;
mod compare;
mod counter;
mod cross;
mod dead_zone;
mod delay;
mod derivative;
mod discrete_derivative;
mod discrete_filter;
mod discrete_state_space;
mod discrete_transfer_function;
mod dot;
mod elementwise;
mod hit_crossing;
mod inverse;
mod linear;
mod logic;
mod lookup_1d;
mod lookup_2d;
mod math_function;
mod memory;
mod min_max;
pub(crate) mod philox;
mod pid;
mod pose_create;
mod quantizer;
mod quaternion_product;
mod quaternion_to_rotation;
mod quaternion_to_rpy;
mod random_number;
mod rate_limiter;
mod rate_transition;
mod relay;
mod reshape;
mod rotate_vector;
mod rotation_to_quaternion;
pub(crate) mod rotations;
mod rounding_function;
mod rpy_to_quaternion;
mod sign;
mod signal_builder;
mod signal_from_file;
mod signal_from_recording;
mod solve;
mod spectral_radius;
mod state_space;
mod stop;
mod table;
#[cfg(test)]
pub(crate) mod testing;
mod timetable;
mod transfer_function;
mod transport_delay;
mod transpose;
mod trigonometry;
mod uniform_random_number;
mod white_noise;
mod zero_pole;

use legwork_block::Registry;

pub use abs::Abs;
pub use assertion::{Assertion, OnFail};
pub use backlash::Backlash;
pub use bus_create::BusCreate;
pub use canonical::Filtered;
pub use compare::Compare;
pub use counter::Counter;
pub use cross::Cross;
pub use dead_zone::DeadZone;
pub use delay::Delay;
pub use derivative::Derivative;
pub use discrete_derivative::DiscreteDerivative;
pub use discrete_filter::DiscreteFilter;
pub use discrete_state_space::DiscreteStateSpace;
pub use discrete_transfer_function::DiscreteTransferFunction;
pub use dot::Dot;
pub use hit_crossing::{Direction, HitCrossing};
pub use inverse::Inverse;
pub use logic::{Logic, Operation};
pub use lookup_1d::Lookup1D;
pub use lookup_2d::Lookup2D;
pub use math_function::{Function as MathFunctionKind, MathFunction};
pub use memory::Memory;
pub use min_max::{Extreme, MinMax};
pub use pid::{AntiWindup, Pid};
pub use pose_create::PoseCreate;
pub use quantizer::Quantizer;
pub use quaternion_product::{Factor, QuaternionProduct};
pub use quaternion_to_rotation::QuaternionToRotation;
pub use quaternion_to_rpy::QuaternionToRpy;
pub use random_number::RandomNumber;
pub use rate_limiter::RateLimiter;
pub use rate_transition::RateTransition;
pub use relay::Relay;
pub use reshape::Reshape;
pub use rotate_vector::{By, RotateVector};
pub use rotation_to_quaternion::RotationToQuaternion;
pub use rounding_function::{Rounding, RoundingFunction};
pub use rpy_to_quaternion::RpyToQuaternion;
pub use sign::Sign;
pub use signal_builder::SignalBuilder;
pub use signal_from_file::SignalFromFile;
pub use signal_from_recording::SignalFromRecording;
pub use solve::Solve;
pub use spectral_radius::SpectralRadius;
pub use state_space::StateSpace;
pub use stop::Stop;
pub use table::{Interpolation, Outside};
pub use timetable::After;
pub use transfer_function::TransferFunction;
pub use transport_delay::TransportDelay;
pub use transpose::Transpose;
pub use trigonometry::{Function as TrigonometryKind, Trigonometry};
pub use uniform_random_number::UniformRandomNumber;
pub use white_noise::WhiteNoise;
pub use zero_pole::ZeroPole;

/// Adds the signal blocks and their masks.
pub(crate) fn register_signals(r: &mut Registry) {
    // Linear systems and controllers.
    r.block::<TransferFunction>("TransferFunction(numerator: [1], denominator: [1, 2, 5])");
    r.block::<ZeroPole>("ZeroPole(zeros: [-1], poles: [-2, -3], gain: 6)");
    r.block::<StateSpace>("StateSpace(a: [[0, 1], [-4, -1]], b: [0, 1], c: [1, 0])");
    r.block::<Derivative>("Derivative(filter: \"100 rad/s\")");
    r.block::<Pid>("Pid(kp: 10, ki: 4, kd: 0.5, upper: 5, lower: -5)");
    r.block::<DiscreteFilter>("DiscreteFilter(numerator: [0.1], denominator: [1, -0.9])");
    r.block::<DiscreteTransferFunction>(
        "DiscreteTransferFunction(numerator: [1], denominator: [1, -0.5])",
    );
    r.block::<DiscreteStateSpace>("DiscreteStateSpace(a: 0.9, b: 0.1, c: 1)");
    r.block::<DiscreteDerivative>("DiscreteDerivative()");

    // Delays and memory.
    r.block::<Delay>("Delay(length: 5)");
    r.block::<Memory>("Memory(initial: 0)");
    r.block::<TransportDelay>("TransportDelay(delay: \"50 ms\")");
    r.block::<Counter>("Counter(limit: 9)");
    r.block::<RateTransition>("RateTransition(mode: Linear)");

    // Nonlinearities.
    r.block::<Backlash>("Backlash(width: \"1 deg\")");
    r.block::<DeadZone>("DeadZone(lower: -0.1, upper: 0.1)");
    r.block::<PoseCreate>("PoseCreate()");
    r.block::<Quantizer>("Quantizer(interval: \"0.1 deg\")");
    r.block::<RateLimiter>("RateLimiter(rising: \"2 m/s\")");
    r.block::<Relay>("Relay(on: 1, off: -1)");

    // Tables.
    r.block::<Lookup1D>("Lookup1D(points: [0, 1, 3], values: [0, 2, 2.5])");
    r.block::<Lookup2D>("Lookup2D(rows: [0, 1], columns: [0, 1], values: [[0, 1], [1, 4]])");

    // Stability.
    r.block::<SpectralRadius>("SpectralRadius(a: [[0, 1], [-100, -2]], second_order: true)");

    // Logic, events.
    r.block::<Assertion>("Assertion(message: \"the arm left its box\")");
    r.block::<Compare>("Compare(op: \">=\", to: 0.5)");
    r.block::<HitCrossing>("HitCrossing(direction: Rising)");
    r.block::<Stop>("Stop()");
    r.block::<Logic>("Logic(op: And, count: 3)");

    // Algebraic loops.
    r.block::<Solve>("Solve(tol: 1e-12)");

    // Functions.
    r.block::<Abs>("Abs()");
    r.block::<MathFunction>("MathFunction(function: Exp)");
    r.block::<MinMax>("MinMax(function: Max)");
    r.block::<RoundingFunction>("RoundingFunction(function: Floor)");
    r.block::<Sign>("Sign()");
    r.block::<Trigonometry>("Trigonometry(function: Sin)");

    // Vectors and matrices.
    r.block::<BusCreate>("BusCreate(name: \"Command\", fields: [\"speed\", \"turn\"])");
    r.block::<Cross>("Cross()");
    r.block::<Dot>("Dot()");
    r.block::<Inverse>("Inverse()");
    r.block::<Reshape>("Reshape(shape: [2, 3])");
    r.block::<Transpose>("Transpose()");

    // Rotations.
    r.block::<QuaternionProduct>("QuaternionProduct()");
    r.block::<QuaternionToRotation>("QuaternionToRotation()");
    r.block::<QuaternionToRpy>("QuaternionToRpy()");
    r.block::<RotateVector>("RotateVector(inverse: true)");
    r.block::<RotationToQuaternion>("RotationToQuaternion()");
    r.block::<RpyToQuaternion>("RpyToQuaternion()");

    // Sources.
    r.block::<RandomNumber>("RandomNumber(deviation: 0.01)");
    r.block::<SignalBuilder>("SignalBuilder(times: [0, 1, 2], values: [0, 1, 0])");
    r.block::<SignalFromFile>("SignalFromFile(path: \"signals/gust.csv\", column: \"force\")");
    r.block::<SignalFromRecording>(
        "SignalFromRecording(path: \"signals/gust.mcap\", topic: \"gust.y\")",
    );
    r.block::<UniformRandomNumber>("UniformRandomNumber(minimum: -1)");
    r.block::<WhiteNoise>("WhiteNoise(power: 1e-4)");

    r.file("masks/dead_time_process.ron", include_bytes!("masks/dead_time_process.ron"));
    r.file("masks/feed_forward_pid.ron", include_bytes!("masks/feed_forward_pid.ron"));
    r.file("masks/lead_lag.ron", include_bytes!("masks/lead_lag.ron"));
    r.file("masks/low_pass.ron", include_bytes!("masks/low_pass.ron"));
    r.file("masks/moving_average.ron", include_bytes!("masks/moving_average.ron"));
    r.file("masks/rate_limited_setpoint.ron", include_bytes!("masks/rate_limited_setpoint.ron"));
    r.file("masks/second_order_low_pass.ron", include_bytes!("masks/second_order_low_pass.ron"));
}
