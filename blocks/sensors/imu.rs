//! `Imu`: accelerometer, gyroscope and attitude of a frame.

use std::sync::Arc;

use legwork_block::quantity::{
    Acceleration, AccelerationDensity, AccelerationWalk, AngularVelocity, AngularVelocityDensity,
    AngularVelocityWalk, NonNegative, Physical, Positive,
};
use legwork_block::{
    Block, Outcome, OutputCx, RateRule, Sizes, UpdateCx, Vector, block, parameters, ports,
};
use legwork_mechanics::{
    FrameId, Kinematics, frame_acceleration, frame_velocity, world_from_frame,
};
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use crate::buses::{RobotDims, StateBus};
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::kinematics;
use crate::rotation::rotations;
use crate::signal::philox::Stream;

/// Inertial measurement unit: accelerometer, gyroscope and attitude at a frame. All are written in
/// the axes of the frame.
///
/// R is `world_from_frame`, `a = J ν̇ + J̇ν` the classical acceleration of the frame's origin, g
/// the robot's gravity. At rest the accelerometer shows −g, upward; in free fall it shows nothing.
/// Only it depends on `nu_dot`: a controller that uses it closes a loop without delay with the
/// torques that it commands, and needs a `UnitDelay`.
///
/// # Errors of the sensors
///
/// Off by default. In order: `y = sat(quantum · round((y + b + w) / quantum))` with
///
/// - w: white noise of the density N, `N/√T` times a normal number in each sample of the period T;
/// - b: the bias, which starts at `bias` and walks, `b⁺ = b + K √T` times a normal number;
/// - `quantum`, one digit, and `range`, beyond which the sensor shows its end, on each axis.
///
/// Noise and walk need a period: state it with `every:`. Sample k is a function of the run's seed,
/// the block's path, `seed` and k alone. One-sided densities of data sheets (`µg/√Hz`) are √2 of
/// the two-sided N for which a sum over a time t has the variance `N² t`.
///
/// Reference: *IEEE standard specification format guide and test procedure for single-axis
/// interferometric fiber optic gyros*, IEEE 952 (1997), annex C: N and K.
#[ports(
    keep robot: Arc<RobotModel> = self.robot.find(ports)?;
    keep frame: FrameId = robot.frame("frame", &self.frame)?;
    let Accelerometer { noise, bias, walk, range, quantum } = self.accelerometer;
    let accelerometer = Errors::new(noise, bias, walk, [range, quantum]);
    let Gyroscope { noise, bias, walk, range, quantum } = self.gyroscope;
    let gyroscope = Errors::new(noise, bias, walk, [range, quantum]);
    /// Of the gyroscope, of the accelerometer.
    keep errors: [Errors; 2] = [gyroscope, accelerometer];
    if errors.iter().any(Errors::is_random) {
        ports.rate(RateRule::Sampled);
    }
    keep key: u64 = ports.random_key(self.seed);
    let nv = RobotDims::of(ports, self.robot.as_str()).nv;
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    ask kinematics: Kinematics = kinematics(ports, &robot, state);
    in  nu_dot: Vector::of(nv), _, "acceleration at this state", units "m/s², rad/s²";
    feeds(state, kinematics);
    out gyroscope: Vector::of(3), "rad/s", "`Rᵀω`, angular velocity, frame axes",
        frame &self.frame;
    out orientation: Vector::of(4), "1", "true attitude: quaternion (w, x, y, z) of R, w ≥ 0";
    out rpy: Vector::of(3), "rad", "true roll, pitch, yaw; at a pitch of ±π/2 roll is 0";
    feeds(state, kinematics, nu_dot);
    out accelerometer: Vector::of(3), "m/s^2",
        "`Rᵀ(a − g)`, proper acceleration of the origin, frame axes", frame &self.frame;
)]
#[parameters(aliases("IMU", "accelerometer", "gyroscope"))]
pub struct Imu {
    /// The robot.
    pub robot: RobotName,
    /// Name of the link of the robot file at whose origin and in whose axes the sensors are.
    pub frame: String,
    /// Errors of the accelerometer: `noise` N [m/s²/√Hz], `bias` b at t = 0 [m/s²], `walk` K
    /// [m/s³/√Hz], `range` and `quantum` [m/s²]; none by default.
    #[default]
    pub accelerometer: Accelerometer,
    /// Errors of the gyroscope: `noise` N [rad/s/√Hz], `bias` b at t = 0 [rad/s], `walk` K
    /// [rad/s²/√Hz], `range` and `quantum` [rad/s]; none by default.
    #[default]
    pub gyroscope: Gyroscope,
    /// Which stream of this block's random numbers.
    #[default]
    pub seed: u64,
}

/// Errors of an accelerometer.
#[parameters]
#[derive(Default)]
pub struct Accelerometer {
    /// N [m/s²/√Hz]; default 0.
    pub noise: Option<NonNegative<AccelerationDensity>>,
    /// b at t = 0, frame axes [m/s²]; default 0.
    pub bias: Option<[Acceleration; 3]>,
    /// K [m/s³/√Hz]; default 0.
    pub walk: Option<NonNegative<AccelerationWalk>>,
    /// Largest value in both directions of each axis [m/s²]; none by default.
    pub range: Option<Positive<Acceleration>>,
    /// One digit [m/s²]; default: exact.
    pub quantum: Option<Positive<Acceleration>>,
}

/// Errors of a gyroscope.
#[parameters]
#[derive(Default)]
pub struct Gyroscope {
    /// N [rad/s/√Hz]; default 0.
    pub noise: Option<NonNegative<AngularVelocityDensity>>,
    /// b at t = 0, frame axes [rad/s]; default 0.
    pub bias: Option<[AngularVelocity; 3]>,
    /// K [rad/s²/√Hz]; default 0.
    pub walk: Option<NonNegative<AngularVelocityWalk>>,
    /// Largest value in both directions of each axis [rad/s]; none by default.
    pub range: Option<Positive<AngularVelocity>>,
    /// One digit [rad/s]; default: exact.
    pub quantum: Option<Positive<AngularVelocity>>,
}

/// Errors of one sensor.
#[derive(Clone, Copy)]
struct Errors {
    noise: f64,
    bias: [f64; 3],
    walk: f64,
    range: f64,
    quantum: f64,
}

impl Errors {
    fn new<N: Physical, K: Physical, Q: Physical>(
        noise: Option<NonNegative<N>>,
        bias: Option<[Q; 3]>,
        walk: Option<NonNegative<K>>,
        [range, quantum]: [Option<Positive<Q>>; 2],
    ) -> Self {
        Self {
            noise: noise.map_or(0.0, NonNegative::value),
            bias: bias.map_or([0.0; 3], |bias| bias.map(Physical::si)),
            walk: walk.map_or(0.0, NonNegative::value),
            range: range.map_or(f64::INFINITY, Positive::value),
            quantum: quantum.map_or(0.0, Positive::value),
        }
    }

    fn is_random(&self) -> bool {
        self.noise > 0.0 || self.walk > 0.0
    }

    /// What the sensor shows for the value `y` at a bias; `random` gives a normal number for each
    /// axis.
    fn shown(
        &self,
        y: &Vector3<f64>,
        bias: &[f64],
        step: f64,
        random: impl Fn(usize) -> f64,
        out: &mut [f64],
    ) {
        for axis in 0..3 {
            let mut value = y[axis] + bias[axis];
            if self.noise > 0.0 {
                value += self.noise / libm::sqrt(step) * random(axis);
            }
            if self.quantum > 0.0 {
                value = self.quantum * libm::round(value / self.quantum);
            }
            out[axis] = value.clamp(-self.range, self.range);
        }
    }
}

/// What shapes the next samples of an [`Imu`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Drift {
    /// Number of the sample.
    sample: u64,
    /// Bias of the gyroscope [rad/s], of the accelerometer [m/s²].
    bias: [f64; 6],
}

#[block]
impl Block for Imu {
    type State = Drift;

    fn state(&self, plan: &Self::Plan, _: &Sizes<'_>) -> Drift {
        let [[a, b, c], [d, e, f]] = plan.errors.map(|errors| errors.bias);
        Drift { sample: 0, bias: [a, b, c, d, e, f] }
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let model = &plan.robot.model;
        let kinematics = cx.inputs.shared(plan.kinematics);
        let axes = world_from_frame(model, kinematics, plan.frame).rotation;
        let stream = Stream::new(plan.key);
        let (sample, step) = (cx.state.sample, cx.time.step);
        if cx.group == 0 {
            let omega = axes.tr_mul(&frame_velocity(model, kinematics, plan.frame).angular);
            let normal = |axis| stream.normal(sample, axis);
            let out = cx.outputs.get(plan.gyroscope);
            plan.errors[0].shown(&omega, &cx.state.bias[..3], step, normal, out);
            let quaternion = rotations::quaternion(axes.as_slice());
            cx.outputs.get(plan.orientation).copy_from_slice(&quaternion);
            let rpy = rotations::roll_pitch_yaw(axes.as_slice());
            cx.outputs.get(plan.rpy).copy_from_slice(&rpy);
            return Ok(());
        }
        let nu_dot = cx.inputs.get(plan.nu_dot);
        let a = frame_acceleration(model, kinematics, plan.frame, nu_dot).linear;
        let proper = axes.tr_mul(&(a - model.gravity()));
        let normal = |axis| stream.normal(sample, 3 + axis);
        let out = cx.outputs.get(plan.accelerometer);
        plan.errors[1].shown(&proper, &cx.state.bias[3..], step, normal, out);
        Ok(())
    }

    fn update(&self, plan: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let stream = Stream::new(plan.key);
        let Drift { sample, bias } = &mut *cx.state;
        let root = libm::sqrt(cx.time.step);
        for (sensor, bias) in bias.chunks_exact_mut(3).enumerate() {
            let walk = plan.errors[sensor].walk;
            if walk > 0.0 {
                for (axis, bias) in bias.iter_mut().enumerate() {
                    // Elements 0 to 5 are the white noise.
                    *bias += walk * root * stream.normal(*sample, 6 + 3 * sensor + axis);
                }
            }
        }
        *sample = sample.wrapping_add(1);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
