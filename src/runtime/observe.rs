//! The observe phase: recording and checks see (t, y) after the outputs, before the update.

use legwork_block::{Leaves, Type};
use legwork_program::{Check, CheckKind, Program, Rate};

use crate::recording::{
    Channel, ChannelId, Field, Finished, Recorder, RecordingError, Shape, Stamp,
};

/// How a check stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CheckState {
    /// Whether its condition has been seen.
    pub seen: bool,
    /// Whether it passes so far.
    pub passed: bool,
    /// When it first failed [s].
    pub failed_at: Option<f64>,
}

/// Recording and checks of a run.
pub struct Observer {
    recorder: Option<Recorder>,
    recording_error: Option<RecordingError>,
    checks: Vec<CheckState>,
}

impl Clone for Observer {
    /// A copy of the checks; the recorder stays where it is.
    fn clone(&self) -> Self {
        Self { recorder: None, recording_error: None, checks: self.checks.clone() }
    }
}

impl Observer {
    pub(crate) fn new(program: &Program) -> Self {
        let checks = program
            .checks
            .iter()
            .map(|_| CheckState { seen: false, passed: false, failed_at: None })
            .collect();
        Self { recorder: None, recording_error: None, checks }
    }

    /// Records rows from now on; the recorder's channels are those of [`channels`].
    pub fn record_to(&mut self, recorder: Recorder) {
        self.recorder = Some(recorder);
    }

    /// Closes the recording; `None` if there is none.
    ///
    /// # Errors
    /// The first error while recording or closing.
    pub fn finish_recording(&mut self) -> Option<Result<Finished, RecordingError>> {
        let recorder = self.recorder.take()?;
        let finished = recorder.finish();
        Some(match self.recording_error.take() {
            Some(error) => Err(error),
            None => finished,
        })
    }

    /// How the checks stand, in the order of [`Program::checks`].
    pub fn checks(&self) -> &[CheckState] {
        &self.checks
    }

    /// Takes over how the checks of `other` stand; the recorder stays.
    pub(crate) fn restore(&mut self, other: &Self) {
        self.checks.clone_from(&other.checks);
    }

    /// Records and checks a major step; `at_tick` says that it is at a tick, not between two.
    pub(crate) fn observe(
        &mut self,
        program: &Program,
        stamp: Stamp,
        at_tick: bool,
        arena: &[f64],
    ) {
        if let (Some(recorder), None) = (&mut self.recorder, &self.recording_error) {
            for (i, channel) in program.log.iter().enumerate() {
                let due =
                    channel.rate == Rate::Continuous || (at_tick && channel.rate.due(stamp.tick));
                if !due {
                    continue;
                }
                let leaves = Leaves::new(arena, &channel.signal.slots);
                if let Err(error) = recorder.record(ChannelId(i), &stamp, leaves.iter()) {
                    self.recording_error = Some(error);
                    return;
                }
            }
        }
        for (check, state) in program.checks.iter().zip(&mut self.checks) {
            state.see(check, stamp, at_tick, arena);
        }
    }
}

impl CheckState {
    fn see(&mut self, check: &Check, stamp: Stamp, at_tick: bool, arena: &[f64]) {
        let past = stamp.tick > check.until || (stamp.tick == check.until && !at_tick);
        if stamp.tick < check.after || past {
            return;
        }
        let holds = check.holds(arena, stamp.t);
        let first = !self.seen;
        self.seen = true;
        match check.kind {
            CheckKind::Always => self.passed = holds && (first || self.passed),
            CheckKind::Eventually => self.passed |= holds,
            CheckKind::Finally => self.passed = holds,
        }
        if !holds && self.failed_at.is_none() && check.kind == CheckKind::Always {
            self.failed_at = Some(stamp.t);
        }
    }
}

/// The recording's channels for the program's log, in its order.
pub fn channels(program: &Program) -> Vec<Channel> {
    program
        .log
        .iter()
        .map(|channel| {
            let fields = match shape(&channel.signal.ty) {
                Shape::Message(_, fields) => fields,
                other => {
                    let mut field = Field::new("value", other);
                    field.unit.clone_from(&channel.signal.unit);
                    vec![field]
                }
            };
            Channel::new(channel.signal.path.clone(), fields)
        })
        .collect()
}

/// The recorded shape of a type without variables; an unknown dimension counts as none.
fn shape(ty: &Type) -> Shape {
    match ty {
        Type::Real | Type::Var(_) => Shape::Real,
        Type::Bool => Shape::Bool,
        Type::Int => Shape::Int,
        Type::Vector(n) => Shape::Vector(n.known().unwrap_or(0)),
        Type::Matrix(r, c) => Shape::Matrix(r.known().unwrap_or(0), c.known().unwrap_or(0)),
        Type::Rotation => Shape::Rotation,
        Type::Pose => Shape::Pose,
        Type::Array(of, n) => Shape::Repeated(Box::new(shape(of)), n.known().unwrap_or(0)),
        Type::Bus(bus) => {
            let fields = bus
                .fields
                .iter()
                .map(|field| {
                    let mut out = Field::new(field.name.clone(), shape(&field.ty));
                    if let Some(unit) = &field.unit {
                        out = out.unit(unit.clone());
                    }
                    if let Some(frame) = &field.frame {
                        out = out.frame(frame.clone());
                    }
                    out
                })
                .collect();
            Shape::Message(bus.name.clone(), fields)
        }
    }
}
