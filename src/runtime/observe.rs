//! The observe phase: recording and checks see (t, y) after the outputs, before the update.

use legwork_block::{Comparison, Judged, Leaves, Slot, Type};
use legwork_program::{Check, CheckKind, LogChannel, Program, Rate, Ratio};
use serde::{Deserialize, Serialize};

use crate::recording::{
    Channel, Field, Finished, Journal, RateId, Recorder, RecordingError, Shape, Spool, Stamp,
};

/// How a check stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckState {
    /// Whether its condition has been seen.
    pub seen: bool,
    /// Whether its window has begun, be the condition asked for or not.
    pub begun: bool,
    /// Whether it passes so far.
    pub passed: bool,
    /// When it first failed [s].
    pub failed_at: Option<f64>,
    /// What decides: over its window the least margin of `Always`, the largest of `Eventually`;
    /// the last one of `Finally`.
    pub decisive: Option<Decisive>,
}

/// A comparison with its time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Decisive {
    /// When [s].
    pub t: f64,
    /// The comparison.
    pub comparison: Comparison,
}

/// The signals that are recorded at one rate, which share their rows.
#[derive(Debug)]
pub(crate) struct LoggedRate {
    pub(crate) rate: Rate,
    /// Their places in the program's log.
    pub(crate) channels: Vec<usize>,
    /// Their leaves; those that lie side by side are one.
    slots: Vec<Slot>,
}

/// What looks at a run and adds to its recording. It sees signals and cannot change them.
pub trait View: Send {
    /// Looks at a major step, whose signals are in `arena`.
    ///
    /// # Errors
    /// If the recorder takes no more.
    fn see(
        &mut self,
        stamp: &Stamp,
        arena: &[f64],
        recorder: &mut Recorder,
    ) -> Result<(), RecordingError>;
}

/// What is shown each major step: its instant, whether that is at a tick, not between two, and all
/// signals.
pub type Look = Box<dyn FnMut(&Stamp, bool, &[f64]) + Send>;

/// Where the rows of a run go.
#[derive(Default)]
pub struct Observer {
    recorder: Option<Recorder>,
    view: Option<Box<dyn View>>,
    look: Option<Look>,
    journal: Option<Journal>,
    recording_error: Option<RecordingError>,
}

impl Observer {
    /// Records rows from now on; the recorder's channels are those of [`channels`].
    pub fn record_to(&mut self, recorder: Recorder) {
        self.recorder = Some(recorder);
    }

    /// Lets `view` look at each major step from now on, as long as rows are recorded.
    pub fn view_by(&mut self, view: Box<dyn View>) {
        self.view = Some(view);
    }

    /// Shows each major step to `look` from now on, whether or not rows are recorded. Steps that
    /// are repeated after going back are shown again.
    pub fn look_by(&mut self, look: Look) {
        self.look = Some(look);
    }

    /// Gives up what [`Self::look_by`] took.
    pub fn take_look(&mut self) -> Option<Look> {
        self.look.take()
    }

    /// Keeps rows in memory from now on. Restoring a snapshot of this simulation takes back those
    /// that came after it.
    pub fn keep_rows(&mut self) {
        self.journal = Some(Journal::default());
    }

    /// The rows kept in memory, if any are to be.
    pub fn journal(&self) -> Option<&Journal> {
        self.journal.as_ref()
    }

    /// The rows kept in memory, to be written as they come.
    pub fn journal_mut(&mut self) -> Option<&mut Journal> {
        self.journal.as_mut()
    }

    /// The file that rows go to, which gets none any more.
    pub fn take_spool(&mut self) -> Option<Spool> {
        self.journal.as_mut()?.take_spool()
    }

    /// Keeps no rows any more.
    pub fn forget_rows(&mut self) {
        self.journal = None;
    }

    /// Takes back all kept rows but the first `len`.
    pub(crate) fn take_back_rows(&mut self, len: usize) {
        if let Some(journal) = &mut self.journal {
            journal.truncate(len);
        }
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

    /// Records a major step; `at_tick` says that it is at a tick, not between two.
    pub(crate) fn observe(
        &mut self,
        log: &[LoggedRate],
        stamp: Stamp,
        at_tick: bool,
        arena: &[f64],
    ) {
        if let Some(look) = &mut self.look {
            look(&stamp, at_tick, arena);
        }
        let recorder = self.recorder.as_mut().filter(|_| self.recording_error.is_none());
        if recorder.is_some() || self.journal.is_some() {
            let mut rows = Rows { recorder, journal: self.journal.as_mut() };
            let mut added = rows.add(log, stamp, at_tick, arena);
            if let (Some(view), Some(recorder)) = (&mut self.view, rows.recorder) {
                added = added.and_then(|()| view.see(&stamp, arena, recorder));
            }
            self.recording_error = added.err();
        }
    }
}

/// Those that take a row.
struct Rows<'a> {
    recorder: Option<&'a mut Recorder>,
    journal: Option<&'a mut Journal>,
}

impl Rows<'_> {
    /// Adds a row of each rate that is due.
    fn add(
        &mut self,
        log: &[LoggedRate],
        stamp: Stamp,
        at_tick: bool,
        arena: &[f64],
    ) -> Result<(), RecordingError> {
        for (i, LoggedRate { rate, slots, .. }) in log.iter().enumerate() {
            let due = *rate == Rate::Continuous || (at_tick && rate.due(stamp.tick));
            if !due {
                continue;
            }
            let leaves = Leaves::new(arena, slots);
            if let Some(journal) = &mut self.journal {
                journal.push(RateId(i), &stamp, leaves.iter());
            }
            if let Some(recorder) = &mut self.recorder {
                recorder.record(RateId(i), &stamp, leaves.iter())?;
            }
        }
        Ok(())
    }
}

impl CheckState {
    /// Whether it does not pass, of a run that has ended: it does not hold, or its window was not
    /// reached. What was never asked for does not fail.
    pub fn fails(&self) -> bool {
        let is_asked = self.seen || !self.begun;
        is_asked && !self.passed
    }

    /// Looks at a major step; `at_tick` says that it is at a tick, not between two.
    pub(crate) fn see(&mut self, check: &Check, stamp: Stamp, at_tick: bool, arena: &[f64]) {
        let past = stamp.tick > check.until || (stamp.tick == check.until && !at_tick);
        if stamp.tick < check.after || past {
            return;
        }
        self.begun = true;
        if !check.is_asked(arena, stamp.t) {
            // What the last step tells is what it does not ask.
            self.seen &= check.kind != CheckKind::Finally;
            self.decisive = self.decisive.filter(|_| check.kind != CheckKind::Finally);
            return;
        }
        let Judged { holds, decisive } = check.judge(arena, stamp.t);
        let first = !self.seen;
        self.seen = true;
        match check.kind {
            CheckKind::Always => self.passed = holds && (first || self.passed),
            CheckKind::Eventually => self.passed |= holds,
            CheckKind::Finally => self.passed = holds,
        }
        if let Some(comparison) = decisive {
            let known = self.decisive.map(|known| known.comparison);
            let condition = &check.condition;
            let decides = known.is_none_or(|known| match check.kind {
                CheckKind::Always => condition.is_tighter(&comparison, &known),
                CheckKind::Eventually => condition.is_tighter(&known, &comparison),
                CheckKind::Finally => true,
            });
            if decides {
                self.decisive = Some(Decisive { t: stamp.t, comparison });
            }
        }
        if !holds && self.failed_at.is_none() && check.kind == CheckKind::Always {
            self.failed_at = Some(stamp.t);
        }
    }
}

/// The rates of the program's log, in the order in which they first come, as in the recording.
pub(crate) fn logged_rates(program: &Program) -> Vec<LoggedRate> {
    let mut rates: Vec<LoggedRate> = Vec::new();
    for (i, channel) in program.log.iter().enumerate() {
        let known = rates.iter().position(|known| known.rate == channel.rate);
        let at = known.unwrap_or_else(|| {
            rates.push(LoggedRate { rate: channel.rate, channels: Vec::new(), slots: Vec::new() });
            rates.len() - 1
        });
        let LoggedRate { channels, slots, .. } = &mut rates[at];
        channels.push(i);
        for &slot in &channel.signal.slots {
            match slots.last_mut().filter(|last| last.range().end == slot.range().start) {
                Some(last) => last.len += slot.len,
                None => slots.push(slot),
            }
        }
    }
    rates
}

/// Names of rates in the recording, such as `every_1ms`; all differ.
fn rate_names(rates: &[LoggedRate], base: Ratio) -> Vec<String> {
    let ticks = |k: u64| base.times(Ratio::whole(k.into())).unwrap_or(base).to_string();
    let mut names: Vec<String> = Vec::with_capacity(rates.len());
    for LoggedRate { rate, .. } in rates {
        let name = match *rate {
            Rate::Constant => "constant".to_owned(),
            Rate::Continuous => "continuous".to_owned(),
            Rate::Periodic { period, offset: 0 } => format!("every {}", ticks(period)),
            Rate::Periodic { period, offset } => {
                format!("every {} from {}", ticks(period), ticks(offset))
            }
        };
        let name = name.replace("every ", "every_").replace(" from ", "_from_").replace(' ', "");
        // Times that differ may look alike.
        let numbered = (2..).map(|i| format!("{name}_{i}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|name| !names.contains(name));
        names.extend(free);
    }
    names
}

/// The recording's channels for the program's log, in its order.
pub fn channels(program: &Program) -> Vec<Channel> {
    let rates = logged_rates(program);
    let names = rate_names(&rates, program.base);
    let rate_of = |channel: &LogChannel| {
        let at = rates.iter().position(|known| known.rate == channel.rate);
        at.map(|at| names[at].clone()).unwrap_or_default()
    };
    program
        .log
        .iter()
        .map(|channel| {
            let fields = match shape(&channel.signal.ty) {
                Shape::Message(_, fields) => fields,
                other => {
                    let mut field = Field::new(Channel::VALUE, other);
                    field.unit.clone_from(&channel.signal.unit);
                    vec![field]
                }
            };
            Channel::new(channel.signal.path.clone(), fields).at(rate_of(channel))
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
