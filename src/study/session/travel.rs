//! Forth and back.

use std::mem::discriminant;

use legwork_runtime::{Cursor, History, RunFault};

use super::Session;
use super::breakpoint::{Breakpoint, around, is_inside};
use super::edit::EditNote;
use super::place::{Halt, Stop};
use crate::error::Error;
use crate::stepper::no_value;

impl Session {
    /// Does the next `count` pieces.
    ///
    /// # Errors
    /// If the run has ended or stopped at a fault.
    pub fn next(&mut self, count: u64) -> Result<Stop, Error> {
        self.may_go_on()?;
        let mut notes = Vec::new();
        for _ in 0..count {
            if let Some(halt) = self.piece(&mut notes).or_else(|| self.has_to_stop()) {
                return Ok(self.stop(halt, notes));
            }
        }
        Ok(self.stop(Halt::Arrived, notes))
    }

    /// Does the rest of the major step, `count` times; up to the next breakpoint.
    ///
    /// # Errors
    /// If the run has ended or stopped at a fault.
    pub fn step(&mut self, count: u64) -> Result<Stop, Error> {
        self.may_go_on()?;
        let mut left = count;
        Ok(self.travel(|session| {
            left = left.saturating_sub(u64::from(session.history.pieces() == 0));
            left == 0
        }))
    }

    /// Goes on to the first step at or after `t` [s]; up to the next breakpoint.
    ///
    /// # Errors
    /// If the run has ended or stopped at a fault, or `t` is behind.
    pub fn until(&mut self, t: f64) -> Result<Stop, Error> {
        self.may_go_on()?;
        if self.time() >= t {
            return Err(Error::request(format!("{t} s is behind; `goto` goes back")));
        }
        Ok(self.travel(|session| session.history.pieces() == 0 && session.time() >= t))
    }

    /// Does the rest of at most `steps` major steps, and begins none after `t` [s]; up to the next
    /// breakpoint.
    ///
    /// # Errors
    /// If the run has ended or stopped at a fault.
    pub fn steps_until(&mut self, steps: u64, t: f64) -> Result<Stop, Error> {
        self.may_go_on()?;
        if steps == 0 || (self.history.pieces() == 0 && self.time() > t) {
            return Ok(self.stop(Halt::Arrived, Vec::new()));
        }
        let mut left = steps;
        Ok(self.travel(|session| {
            let is_between = session.history.pieces() == 0;
            left -= u64::from(is_between && left > 0);
            is_between && (left == 0 || session.time() > t)
        }))
    }

    /// Goes on to the next breakpoint or the end.
    ///
    /// # Errors
    /// If the run has ended or stopped at a fault.
    pub fn proceed(&mut self) -> Result<Stop, Error> {
        self.may_go_on()?;
        Ok(self.travel(|_| false))
    }

    /// Goes to the first step at or after `t` [s], forth or back, whatever the breakpoints.
    pub fn go_to(&mut self, t: f64) -> Stop {
        let mut notes = Vec::new();
        while self.begins_after(t) && self.leave_text(&mut notes) {}
        let outcome = self.history.go_to(t);
        self.has_gone_back(&mut notes);
        self.enter_pending(&mut notes);
        let halt = match outcome {
            _ if self.cancel.is_cancelled() => Halt::Cancelled,
            Ok(()) => Halt::Arrived,
            Err(fault) => Halt::Fault { message: fault.to_string() },
        };
        self.stop(halt, notes)
    }

    /// Goes `pieces` back. What follows then repeats bit for bit; edits that lie ahead are undone,
    /// those of texts too.
    ///
    /// # Errors
    /// If a step cannot be repeated.
    pub fn back(&mut self, pieces: u64) -> Result<Stop, Error> {
        self.back_by(pieces, History::back)
    }

    /// Goes `steps` back, to the beginning of a step.
    ///
    /// # Errors
    /// If a step cannot be repeated.
    pub fn back_steps(&mut self, steps: u64) -> Result<Stop, Error> {
        self.back_by(steps, History::back_steps)
    }

    fn back_by(
        &mut self,
        count: u64,
        go: impl Fn(&mut History, u64) -> Result<u64, RunFault>,
    ) -> Result<Stop, Error> {
        let (mut gone, mut notes) = (0, Vec::new());
        loop {
            let went = go(&mut self.history, count - gone);
            gone += went.map_err(|fault| Error::request(fault.to_string()))?;
            if gone >= count || !self.leave_text(&mut notes) {
                break;
            }
        }
        self.has_gone_back(&mut notes);
        let halt = if gone < count { Halt::Beginning { gone } } else { Halt::Arrived };
        Ok(self.stop(halt, notes))
    }

    /// Goes to the next block inside `part`; without one, in a subsystem, mask or copy that the
    /// present block is not in.
    ///
    /// # Errors
    /// If there is no such subsystem, or the run has ended or stopped at a fault.
    pub fn into_part(&mut self, part: Option<&str>) -> Result<Stop, Error> {
        self.may_go_on()?;
        if let Some(part) = part
            && !self.program().nodes.iter().any(|node| is_inside(&node.path, part))
        {
            let names = self.program().nodes.iter().filter_map(|node| around(&node.path));
            let near = legwork_block::nearest(part, names);
            let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            return Err(Error::request(format!("no subsystem `{part}`{near}")));
        }
        let here = self.next_block();
        let wanted = |block: &str| match part {
            Some(part) => is_inside(block, part),
            None => around(block)
                .is_some_and(|around| !here.as_deref().is_some_and(|here| is_inside(here, around))),
        };
        let mut notes = Vec::new();
        let mut ends_of_steps = 0;
        let halt = loop {
            if let Some(halt) = self.piece(&mut notes).or_else(|| self.has_to_stop()) {
                break halt;
            }
            if self.next_block().is_some_and(|block| wanted(&block)) {
                break Halt::Arrived;
            }
            ends_of_steps += u32::from(self.history.pieces() == 0);
            // The rest of this step and the whole of the next.
            if ends_of_steps == 2 {
                break Halt::NoOtherPart;
            }
        };
        Ok(self.stop(halt, notes))
    }

    /// Goes behind the last block of the subsystem around, in this phase.
    ///
    /// # Errors
    /// If the block that comes next lies in no subsystem, or the run has ended or stopped at a
    /// fault.
    pub fn out_of_part(&mut self) -> Result<Stop, Error> {
        self.may_go_on()?;
        let here = self.next_block().ok_or_else(|| Error::request("no block comes next"))?;
        let part = around(&here)
            .map(str::to_owned)
            .ok_or_else(|| Error::request(format!("`{here}` lies in no subsystem")))?;
        let is_left = |session: &Self| {
            let simulation = session.simulation();
            let nodes = &simulation.program().nodes;
            simulation.coming().any(|node| is_inside(&nodes[node].path, &part))
        };
        let phase = discriminant(&self.simulation().cursor());
        let mut notes = Vec::new();
        while discriminant(&self.simulation().cursor()) == phase && is_left(self) {
            if let Some(halt) = self.piece(&mut notes) {
                return Ok(self.stop(halt, notes));
            }
        }
        Ok(self.stop(Halt::Arrived, notes))
    }

    /// Goes on until `arrived`, or something stops the run.
    fn travel(&mut self, mut arrived: impl FnMut(&Self) -> bool) -> Stop {
        let mut notes = Vec::new();
        let by_block = self.breakpoints.iter().any(Breakpoint::is_of_block);
        let halt = loop {
            let last = if by_block { self.next_block() } else { None };
            if let Some(halt) = self.piece(&mut notes).or_else(|| self.halt(last.as_deref())) {
                break halt;
            }
            if arrived(self) {
                break Halt::Arrived;
            }
        };
        self.stop(halt, notes)
    }

    /// What stops the run where it is; `last` is the block before.
    fn halt(&mut self, last: Option<&str>) -> Option<Halt> {
        if self.cancel.is_cancelled() {
            return Some(Halt::Cancelled);
        }
        let by_block = self.breakpoints.iter().any(Breakpoint::is_of_block);
        let next = if by_block { self.next_block() } else { None };
        let simulation = self.history.simulation();
        let mut hit = None;
        for (i, breakpoint) in self.breakpoints.iter_mut().enumerate() {
            let stops = match simulation.cursor() {
                Cursor::Observe => breakpoint.sees(simulation),
                _ => breakpoint.stops_before(next.as_deref(), last),
            };
            hit = hit.or(stops.then_some(i));
        }
        match hit {
            Some(at) => {
                let text = self.breakpoints[at].text.clone();
                Some(Halt::Breakpoint { number: at + 1, text })
            }
            None => self.is_at_end().then_some(Halt::End),
        }
    }

    /// What stops the run whatever the breakpoints.
    fn has_to_stop(&self) -> Option<Halt> {
        if self.is_at_end() {
            return Some(Halt::End);
        }
        self.cancel.is_cancelled().then_some(Halt::Cancelled)
    }

    /// Does one piece, and lets edits in where a step begins; the fault if there is one.
    fn piece(&mut self, notes: &mut Vec<EditNote>) -> Option<Halt> {
        if let Err(fault) = self.history.advance() {
            if self.history.was_stopped() {
                return Some(Halt::Cancelled);
            }
            return Some(Halt::Fault { message: fault.to_string() });
        }
        self.enter_pending(notes);
        None
    }

    fn stop(&self, halt: Halt, edits: Vec<EditNote>) -> Stop {
        Stop { halt, edits, place: self.place() }
    }

    fn has_gone_back(&mut self, notes: &mut Vec<EditNote>) {
        self.breakpoints.iter_mut().for_each(Breakpoint::forget);
        self.undo_edits(notes);
    }

    fn may_go_on(&self) -> Result<(), Error> {
        if let Some(fault) = self.history.fault() {
            let message = format!("the run stopped at a fault, `back` leads away: {fault}");
            return Err(Error::request(message));
        }
        if self.is_at_end() {
            return Err(Error::request("the run has ended; `back` and `goto` lead back"));
        }
        match self.program().inputs.iter().find(|input| !input.given) {
            Some(missing) => Err(no_value(&missing.name)),
            None => Ok(()),
        }
    }

    fn next_block(&self) -> Option<String> {
        self.simulation().next_block().map(str::to_owned)
    }
}
