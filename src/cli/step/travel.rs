//! Forth and back.

use legwork_runtime::{Cursor, History, RunFault};

use super::super::interrupt;
use super::super::summary::counted;
use super::breakpoint::{Breakpoint, around, is_inside};
use super::session::Session;

/// Why a run that goes on stops.
enum Halt {
    /// Not yet.
    Goes,
    /// At breakpoint n, from 1.
    Breakpoint(usize),
    End,
    Interrupted,
}

impl Session<'_> {
    /// Does `count` pieces.
    pub(super) fn next(&mut self, count: u64) -> Result<(), String> {
        self.may_go_on()?;
        for _ in 0..count {
            if !self.piece() || self.at_end() || interrupt::is_requested() {
                break;
            }
        }
        self.tell_place();
        Ok(())
    }

    /// Does `count` major steps, to the next breakpoint.
    pub(super) fn step(&mut self, count: u64) -> Result<(), String> {
        self.may_go_on()?;
        let mut left = count;
        self.travel(move |session| {
            left -= u64::from(session.history.pieces() == 0);
            left == 0
        });
        Ok(())
    }

    /// Goes on to a breakpoint, to the first step at or after `until` [s], or to the end.
    pub(super) fn go_on(&mut self, until: Option<f64>) -> Result<(), String> {
        self.may_go_on()?;
        if let Some(t) = until.filter(|t| self.time() >= *t) {
            return Err(format!("{t} s is behind; `goto` goes back"));
        }
        self.travel(|session| {
            session.history.pieces() == 0 && until.is_some_and(|t| session.time() >= t)
        });
        Ok(())
    }

    pub(super) fn go_to(&mut self, t: f64) -> Result<(), String> {
        let outcome = self.history.go_to(t);
        self.has_gone_back();
        self.enter_pending();
        if let Err(fault) = outcome {
            self.tell_fault(&fault);
        }
        self.tell_place();
        Ok(())
    }

    pub(super) fn back(
        &mut self,
        go: impl FnOnce(&mut History) -> Result<u64, RunFault>,
        count: u64,
        noun: &str,
    ) -> Result<(), String> {
        let gone = go(&mut self.history).map_err(|fault| fault.to_string())?;
        self.has_gone_back();
        if gone < count {
            self.say(&format!("the history begins here, {} back", counted(gone, noun)));
        }
        self.tell_place();
        Ok(())
    }

    /// Goes to the next block inside `part`, or in a subsystem that the present block is not in.
    pub(super) fn enter_part(&mut self, part: Option<&str>) -> Result<(), String> {
        self.may_go_on()?;
        if let Some(part) = part
            && !self.program().nodes.iter().any(|node| is_inside(&node.path, part))
        {
            let names = self.program().nodes.iter().filter_map(|node| around(&node.path));
            let near = legwork_block::nearest(part, names);
            let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            return Err(format!("no subsystem `{part}`{near}"));
        }
        let here = self.next_block();
        let wanted = |block: &str| match part {
            Some(part) => is_inside(block, part),
            None => around(block)
                .is_some_and(|around| !here.as_deref().is_some_and(|here| is_inside(here, around))),
        };
        let mut ends_of_steps = 0;
        loop {
            if !self.piece() || self.at_end() || interrupt::is_requested() {
                break;
            }
            if self.next_block().is_some_and(|block| wanted(&block)) {
                break;
            }
            ends_of_steps += u32::from(self.history.pieces() == 0);
            // The rest of this step and the whole of the next.
            if ends_of_steps == 2 {
                self.say("no block of another subsystem in this step and the next");
                break;
            }
        }
        self.tell_place();
        Ok(())
    }

    /// Goes behind the last block of the subsystem around, in this phase.
    pub(super) fn leave_part(&mut self) -> Result<(), String> {
        self.may_go_on()?;
        let Some(here) = self.next_block() else {
            return Err("no block comes next".to_owned());
        };
        let Some(part) = around(&here).map(str::to_owned) else {
            return Err(format!("`{here}` lies in no subsystem"));
        };
        let is_left = |session: &Self| {
            let simulation = session.history.simulation();
            let nodes = &simulation.program().nodes;
            simulation.coming().any(|node| is_inside(&nodes[node].path, &part))
        };
        let phase = std::mem::discriminant(&self.history.simulation().cursor());
        while std::mem::discriminant(&self.history.simulation().cursor()) == phase
            && is_left(self)
            && self.piece()
        {}
        self.tell_place();
        Ok(())
    }

    /// Goes on until `arrived`, or something stops the run; says where and why.
    fn travel(&mut self, mut arrived: impl FnMut(&Self) -> bool) {
        loop {
            let last = self.next_block();
            if !self.piece() {
                break;
            }
            match self.halt(last.as_deref()) {
                Halt::Breakpoint(number) => {
                    let text = self.breakpoints[number - 1].text.clone();
                    self.say(&format!("breakpoint {number}: {text}"));
                    break;
                }
                Halt::Interrupted => {
                    self.say("stopped by Ctrl-C");
                    break;
                }
                Halt::End => break,
                Halt::Goes => {}
            }
            if arrived(self) {
                break;
            }
        }
        self.tell_place();
    }

    /// Whether the run stops where it is; `last` is the block before.
    fn halt(&mut self, last: Option<&str>) -> Halt {
        if interrupt::is_requested() {
            return Halt::Interrupted;
        }
        let next = self.next_block();
        let simulation = self.history.simulation();
        let mut hit = None;
        for (i, breakpoint) in self.breakpoints.iter_mut().enumerate() {
            let stops = match simulation.cursor() {
                Cursor::Observe => breakpoint.sees(simulation.arena(), simulation.time()),
                _ => breakpoint.stops_before(next.as_deref(), last),
            };
            hit = hit.or(stops.then_some(i + 1));
        }
        match hit {
            Some(number) => Halt::Breakpoint(number),
            None if self.at_end() => Halt::End,
            None => Halt::Goes,
        }
    }

    /// Does one piece, and lets edits in where a step begins; false at a fault.
    fn piece(&mut self) -> bool {
        if let Err(fault) = self.history.advance() {
            self.tell_fault(&fault);
            return false;
        }
        self.enter_pending();
        true
    }

    fn has_gone_back(&mut self) {
        self.breakpoints.iter_mut().for_each(Breakpoint::forget);
        self.undo_edits();
    }

    fn may_go_on(&self) -> Result<(), String> {
        if let Some(fault) = self.history.fault() {
            return Err(format!("the run stands at a fault, `back` leads away: {fault}"));
        }
        if self.at_end() {
            return Err("the run has ended; `back` and `goto` lead back".to_owned());
        }
        Ok(())
    }

    pub(super) fn at_end(&self) -> bool {
        self.history.simulation().cursor() == Cursor::Done
    }

    pub(super) fn time(&self) -> f64 {
        self.history.simulation().time()
    }

    pub(super) fn next_block(&self) -> Option<String> {
        self.history.simulation().next_block().map(str::to_owned)
    }
}
