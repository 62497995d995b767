//! A run that goes on, stretch by stretch.

use std::time::{Duration, Instant};

use legwork_study::commands;
use legwork_study::session::{Halt, Stop};

use super::live::Live;

/// How long a stretch is to last: so long a command waits.
const STRETCH: Duration = Duration::from_millis(5);
/// Most steps of a stretch.
const MOST_STEPS: u64 = 1 << 20;
/// A run that is so far behind its pace gives up catching up.
const LATE: Duration = Duration::from_millis(200);
/// Over what time the achieved speed is measured.
const MEASURED: Duration = Duration::from_millis(500);

/// Where a run is going.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Goal {
    /// To the next breakpoint or the end.
    End,
    /// So many steps, or to the next breakpoint.
    Steps(u64),
    /// To the first step at or after a time [s], or to the next breakpoint.
    Until(f64),
    /// The same, whatever the breakpoints.
    Seek(f64),
}

/// A run on its way.
#[derive(Debug)]
pub(super) struct Going {
    goal: Goal,
    /// Simulated time per time.
    pub(super) speed: Option<f64>,
    /// When it was where, in simulated time.
    anchor: (Instant, f64),
    /// Steps of the next stretch.
    steps: u64,
    /// Who is answered when it stops.
    asked: Vec<(u64, u64)>,
    /// What there was to say on the way.
    said: String,
    measured: (Instant, f64),
}

/// Whom to answer, and what.
pub(super) type Answered = (Vec<(u64, u64)>, String);

impl Live {
    /// Lets it go; what it was to do before is answered with where it is.
    pub(super) fn go(
        &mut self,
        goal: Goal,
        speed: Option<f64>,
        asked: Option<(u64, u64)>,
    ) -> Option<Answered> {
        let before = self.stand();
        let (now, t) = (Instant::now(), self.session.time());
        self.going = Some(Going {
            goal,
            speed,
            anchor: (now, t),
            steps: 1,
            asked: asked.into_iter().collect(),
            said: String::new(),
            measured: (now, t),
        });
        self.halt.clear();
        self.has_changed();
        before
    }

    /// Lets it stand where it is.
    pub(super) fn stand(&mut self) -> Option<Answered> {
        let going = self.going.take()?;
        self.has_changed();
        let place = commands::place(&self.session.place());
        Some((going.asked, format!("{}{place}\n", going.said)))
    }

    /// How long until it has to go on; nothing if it stands.
    pub(super) fn due(&self) -> Option<Duration> {
        self.due_at(Instant::now())
    }

    /// The same, seen from `now`.
    pub(super) fn due_at(&self, now: Instant) -> Option<Duration> {
        let going = self.going.as_ref()?;
        let Some(speed) = going.speed else { return Some(Duration::ZERO) };
        let ahead = (self.session.time() - going.anchor.1) / speed;
        let passed = now.saturating_duration_since(going.anchor.0);
        let due = Duration::try_from_secs_f64(ahead.max(0.0)).unwrap_or(Duration::MAX);
        Some(due.saturating_sub(passed))
    }

    /// Goes a stretch. Whom to answer, if that was the last.
    pub(super) fn stretch(&mut self, now: Instant) -> Option<Answered> {
        let going = self.going.as_mut()?;
        let pace = match going.speed {
            None => f64::INFINITY,
            Some(speed) => {
                let passed = now.saturating_duration_since(going.anchor.0);
                going.anchor.1 + speed * passed.as_secs_f64()
            }
        };
        let before = self.session.simulation().step_count();
        let base = self.model.program().run.step.to_f64();
        let outcome = match going.goal {
            Goal::End => self.session.steps_until(going.steps, pace),
            Goal::Steps(left) => self.session.steps_until(going.steps.min(left), pace),
            Goal::Until(t) => self.session.steps_until(going.steps, pace.min(t.next_down())),
            Goal::Seek(t) => {
                let slice = self.session.time() + base * going.steps as f64;
                Ok(self.session.go_to(slice.min(t)))
            }
        };
        let took = now.elapsed();
        self.has_moved();
        let t = self.session.time();
        let going = self.going.as_mut()?;
        going.adapt(took, t);
        if let Some(achieved) = going.measure(now, t) {
            self.achieved = achieved;
        }
        let stop = match outcome {
            Ok(stop) => stop,
            Err(error) => {
                self.halt = error.message().to_owned();
                let going = self.going.take()?;
                return Some((going.asked, format!("{}{}\n", going.said, self.halt)));
            }
        };
        let done = self.session.simulation().step_count().saturating_sub(before);
        self.arrive(&stop, done)
    }

    /// Stops if it has come where it was to go, or something is in its way; `done` steps further.
    fn arrive(&mut self, stop: &Stop, done: u64) -> Option<Answered> {
        let going = self.going.as_mut()?;
        let is_there = match &mut going.goal {
            Goal::End => false,
            Goal::Steps(left) => {
                *left = left.saturating_sub(done);
                *left == 0
            }
            Goal::Until(t) => self.session.time() >= *t && !self.session.is_in_a_step(),
            Goal::Seek(t) => self.session.time() >= *t || self.session.is_at_end(),
        };
        let text = commands::stop(stop, "piece");
        if stop.halt == Halt::Arrived && !is_there {
            if !stop.edits.is_empty() {
                let place = commands::place(&stop.place);
                going.said += text.strip_suffix(&format!("{place}\n")).unwrap_or(&text);
            }
            return None;
        }
        let going = self.going.take()?;
        self.halt = match &stop.halt {
            Halt::Arrived => String::new(),
            Halt::Breakpoint { number, text } => format!("breakpoint {number}: {text}"),
            Halt::Fault { message } => format!("fault: {message}"),
            Halt::Cancelled => "cancelled".to_owned(),
            Halt::End => "end".to_owned(),
            Halt::NoOtherPart | Halt::Beginning { .. } => text.clone(),
        };
        let watches = commands::watches(&mut self.session);
        Some((going.asked, going.said + &text + &watches))
    }
}

impl Going {
    /// Makes the next stretch longer or shorter, after one that took so long and led to `t`.
    fn adapt(&mut self, took: Duration, t: f64) {
        if took < STRETCH / 2 {
            self.steps = (2 * self.steps).min(MOST_STEPS);
        } else if took > 2 * STRETCH {
            let shorter = self.steps as f64 * STRETCH.as_secs_f64() / took.as_secs_f64();
            self.steps = (shorter as u64).max(1);
        }
        // It goes on from here rather than in haste.
        if let Some(speed) = self.speed {
            let late = self.anchor.0.elapsed().as_secs_f64() - (t - self.anchor.1) / speed;
            if late > LATE.as_secs_f64() {
                self.anchor = (Instant::now(), t);
            }
        }
    }

    /// Simulated time per time, if enough has passed.
    fn measure(&mut self, now: Instant, t: f64) -> Option<f64> {
        let passed = now.saturating_duration_since(self.measured.0);
        if passed < MEASURED {
            return None;
        }
        let achieved = (t - self.measured.1) / passed.as_secs_f64();
        self.measured = (now, t);
        Some(achieved)
    }
}
