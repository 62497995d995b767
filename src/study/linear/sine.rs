//! The frequency response of a running diagram, beside that of its linearisation.

use legwork_linear::{c64, poles};
use legwork_runtime::linear::{SineOptions, sine_response};

use super::{At, LinearRequest, Linearization, ends, told};
use crate::RunFault;
use crate::error::{Error, ErrorKind};
use crate::model::Model;
use crate::time::parse_time;

/// What is asked of a response by simulation.
#[derive(Debug, Clone, Copy)]
pub struct SineRequest {
    /// How many frequencies, evenly spaced on a logarithmic scale from the slowest motion to the
    /// fastest that the steps of the run show.
    pub count: usize,
    /// Amplitude of the sine, in the unit of the input.
    pub amplitude: f64,
}

/// Steps of the run in the shortest cycle.
const STEPS_IN_A_CYCLE: f64 = 20.0;

/// Time constants of the slowest motion that the run settles.
const SETTLING: f64 = 25.0;

/// The longest that one frequency may take [s].
const LONGEST: f64 = 1e4;

impl Model {
    /// Frequencies [rad/s] and responses of the diagram itself, by sines at its one input, from
    /// where `linear`, its linearisation for the same request, has been found.
    ///
    /// # Errors
    /// If there is not one input and one output, or not all motions die out. A fault on the way is
    /// an answer: the inner error.
    pub fn sine_response(
        &self,
        request: &LinearRequest,
        linear: &Linearization,
        sine: SineRequest,
    ) -> Result<Result<Vec<(f64, c64)>, RunFault>, Error> {
        let model = match self.at_moment(&request.at)? {
            Ok(model) => model,
            Err(fault) => return Ok(Err(fault)),
        };
        let inputs = ends::inputs(&model, &request.inputs)?;
        let outputs = ends::outputs(&model, &request.outputs)?;
        let ([(input, _)], [(output, _)]) = (&inputs[..], &outputs[..]) else {
            let found = format!("{} and {}", inputs.len(), outputs.len());
            let message = format!("expected one input and one output for a sine, found {found}");
            return Err(Error::request(message));
        };
        let modes = poles(&linear.system).map_err(told)?;
        if let Some(mode) = modes.iter().find(|mode| !linear.system.is_stable_pole(mode.pole)) {
            let message = format!(
                "a sine shows nothing where motions do not die out: a pole is at {:.3e}; close the \
                 loop, and put the sine in by `--in +PATH`",
                mode.pole.re
            );
            return Err(Error::new(ErrorKind::Check, message));
        }
        let slowest = modes.iter().map(|mode| mode.time_constant).fold(0.0, f64::max);
        let program = model.program();
        let step = program.base.at(program.step_ticks);
        let own = modes.iter().map(|mode| mode.frequency).filter(|w| w.is_finite() && *w > 0.0);
        let (low, high) = own.fold((f64::INFINITY, 0.0_f64), |(a, b), w| (a.min(w), b.max(w)));
        let fastest = 2.0 * std::f64::consts::PI / (STEPS_IN_A_CYCLE * step);
        let high = (10.0 * high.max(1e-3)).min(fastest);
        let low = (0.1 * low).clamp(2.0 * std::f64::consts::PI / LONGEST, high);
        let at = |i: usize| low * (high / low).powf(i as f64 / (sine.count.max(2) - 1) as f64);
        let frequencies: Vec<f64> = (0..sine.count).map(at).collect();
        let time = match &request.at {
            At::Time(text) => parse_time(text)?,
            At::Start | At::Trimmed(_) => 0.0,
        };
        let settle = (SETTLING * slowest).min(LONGEST);
        let options =
            SineOptions { time, input: *input, output: *output, amplitude: sine.amplitude, settle };
        Ok(sine_response(program, &options, &frequencies).map(|points| {
            points.into_iter().map(|one| (one.frequency, c64::new(one.re, one.im))).collect()
        }))
    }
}
