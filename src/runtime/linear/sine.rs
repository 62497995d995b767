//! Frequency response by simulation: a sine at the input, and what of it is in the output.

use std::f64::consts::PI;

use legwork_program::Program;

use super::{InputPlace, LinearOptions, Point};
use crate::fault::RunFault;
use crate::simulation::Cursor;

/// A sine that is put into a running program.
#[derive(Debug, Clone, Copy)]
pub struct SineOptions {
    /// The moment at which it begins [s].
    pub time: f64,
    /// Where it goes.
    pub input: InputPlace,
    /// Where the output is read in the arena.
    pub output: u32,
    /// Its amplitude, in the unit of the input.
    pub amplitude: f64,
    /// How long the run may settle before [s]: motions that are not of the sine must die out.
    pub settle: f64,
}

/// A point of a frequency response.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SinePoint {
    /// The frequency [rad/s]: that one next to the wanted whose period is a whole number of steps.
    pub frequency: f64,
    /// Real part of the response [output per input].
    pub re: f64,
    /// Its imaginary part.
    pub im: f64,
}

/// Cycles that are looked at.
const CYCLES: u64 = 4;

/// The responses at these frequencies [rad/s], each by a run of its own.
///
/// The input holds within a step h, so a factor `(1 − e^{−jωh}) / (jωh)` is taken out: what is left
/// is the response to the sine itself, as far as what the steps add at higher frequencies dies out.
///
/// # Errors
/// A fault on the way.
pub fn sine_response(
    program: &Program,
    options: &SineOptions,
    frequencies: &[f64],
) -> Result<Vec<SinePoint>, RunFault> {
    let linear = LinearOptions {
        time: options.time,
        sampled: Some(false),
        inputs: vec![options.input],
        outputs: vec![options.output],
        ..LinearOptions::default()
    };
    let mut point = Point::reach(program, &linear)?;
    let step = program.base.at(program.step_ticks);
    let mut out = Vec::with_capacity(frequencies.len());
    for wanted in frequencies {
        let steps = ((2.0 * PI / (wanted * step)).round() as u64).max(4);
        let frequency = 2.0 * PI / (steps as f64 * step);
        let settling = (options.settle / step).ceil() as u64;
        // Whole cycles, so that the phase is that of the first sample.
        let settling = settling.next_multiple_of(steps);
        let (re, im) = point.correlate(steps, settling, options.amplitude)?;
        // The factor of the hold is e^{−jωh/2} sinc(ωh/2).
        let half = 0.5 * frequency * step;
        let (sin, cos) = libm::sincos(half);
        let size = sin / half;
        let (re, im) = ((re * cos - im * sin) / size, (re * sin + im * cos) / size);
        out.push(SinePoint { frequency, re, im });
    }
    Ok(out)
}

impl Point {
    /// The output's share of a sine with so many steps a cycle, over the sine's own.
    fn correlate(
        &mut self,
        steps: u64,
        settling: u64,
        amplitude: f64,
    ) -> Result<(f64, f64), RunFault> {
        self.simulation.restore(&self.snapshot)?;
        let wave = |k: u64| libm::sincos(2.0 * PI * (k % steps) as f64 / steps as f64);
        let (mut with_sine, mut with_cosine) = (0.0, 0.0);
        let count = CYCLES * steps;
        for k in 0..settling + count {
            let (sin, cos) = wave(k);
            self.open(&[amplitude * sin]);
            self.simulation.renew_constants()?;
            let next = self.simulation.step_count() + 1;
            while self.simulation.step_count() < next && self.simulation.cursor() != Cursor::Done {
                if self.simulation.cursor() == Cursor::Observe && k >= settling {
                    let mut y = [0.0];
                    self.read(&mut y);
                    with_sine += y[0] * sin;
                    with_cosine += y[0] * cos;
                }
                self.simulation.advance_to_next_phase()?;
            }
        }
        // y = re sin + im cos, of the sine's amplitude.
        let scale = 2.0 / (count as f64 * amplitude);
        Ok((with_sine * scale, with_cosine * scale))
    }
}
