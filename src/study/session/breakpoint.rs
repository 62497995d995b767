//! Where a run stops.

use legwork_program::{Check, Program};
use legwork_runtime::Simulation;

use super::{Session, probe, remove};
use crate::diagram::Diagram;
use crate::error::Error;

/// Signs of a condition.
const SIGNS: [&str; 6] = ["<", ">", "==", "!=", " and ", " or "];
/// Between a signal and the level that it is to reach or cross.
const TOUCHES: &str = " touches ";

/// A place or a condition at which a run stops.
pub(super) struct Breakpoint {
    /// As it was asked for.
    pub(super) text: String,
    kind: Kind,
}

enum Kind {
    /// Before a block, or the first block of a subsystem.
    Block(String),
    /// Where a condition comes true; whether it held when it was last seen.
    Comes { condition: Box<Check>, held: Option<bool> },
    /// Where a caller's condition holds after the outputs of a step.
    When(Box<dyn FnMut(&Simulation) -> bool + Send>),
    /// Where a signal reaches or crosses a level; on which sides it was: (not below, not above).
    Touches { sides: Box<[Check; 2]>, last: Option<[bool; 2]> },
}

impl Breakpoint {
    /// The breakpoint of a block, a condition or a signal.
    pub(super) fn parse(text: &str, diagram: &Diagram, program: &Program) -> Result<Self, Error> {
        let condition = |text: &str| probe::condition(text, diagram, program);
        let kind = if let Some((signal, level)) = text.split_once(TOUCHES) {
            let side = |sign: &str| condition(&format!("({signal}) {sign} ({level})"));
            Kind::Touches { sides: Box::new([side(">=")?, side("<=")?]), last: None }
        } else if SIGNS.iter().any(|sign| text.contains(sign)) {
            Kind::Comes { condition: Box::new(condition(text)?), held: None }
        } else if program.nodes.iter().any(|node| is_inside(&node.path, text)) {
            Kind::Block(text.to_owned())
        } else {
            Kind::Comes { condition: Box::new(condition(text)?), held: None }
        };
        Ok(Self { text: text.to_owned(), kind })
    }

    /// Whether it was asked for in words.
    pub(super) fn is_of_text(&self) -> bool {
        !matches!(self.kind, Kind::When(_))
    }

    /// Whether it asks which block comes next.
    pub(super) fn is_of_block(&self) -> bool {
        matches!(self.kind, Kind::Block(_))
    }

    /// Whether the run stops before the block `next` when it came from `last`.
    pub(super) fn stops_before(&self, next: Option<&str>, last: Option<&str>) -> bool {
        match (&self.kind, next) {
            (Kind::Block(path), Some(next)) => {
                is_inside(next, path)
                    && (next == path || !last.is_some_and(|last| is_inside(last, path)))
            }
            _ => false,
        }
    }

    /// Whether the run stops with these signals, seen after the outputs of a step.
    pub(super) fn sees(&mut self, simulation: &Simulation) -> bool {
        let (arena, t) = (simulation.arena(), simulation.time());
        match &mut self.kind {
            Kind::Block(_) => false,
            Kind::When(holds) => holds(simulation),
            Kind::Comes { condition, held } => {
                let holds = condition.holds(arena, t);
                let before = held.replace(holds);
                holds && before != Some(true)
            }
            Kind::Touches { sides, last } => {
                let now = [sides[0].holds(arena, t), sides[1].holds(arena, t)];
                let before = last.replace(now);
                match (before, now) {
                    (Some([true, true]), [true, true]) => false,
                    (_, [true, true]) => true,
                    (Some(before), now) => before != now && before != [true, true],
                    (None, _) => false,
                }
            }
        }
    }

    /// Forgets what was seen: the run has gone back.
    pub(super) fn forget(&mut self) {
        match &mut self.kind {
            Kind::Block(_) | Kind::When(_) => {}
            Kind::Comes { held, .. } => *held = None,
            Kind::Touches { last, .. } => *last = None,
        }
    }
}

impl Session {
    /// Stops before a block or the first block of a subsystem, `pd`; where a condition on signals
    /// comes true, `body.state.base.position[2] < 0.3`; or where a signal reaches or crosses a
    /// level, `x.y touches 0`. Signals are looked at after the outputs of each step. Gives the
    /// number of the breakpoint, from 1.
    ///
    /// # Errors
    /// If it is no block and no condition.
    pub fn break_at(&mut self, text: &str) -> Result<usize, Error> {
        let breakpoint =
            Breakpoint::parse(text, &self.diagram, self.history.simulation().program())?;
        self.breakpoints.push(breakpoint);
        Ok(self.breakpoints.len())
    }

    /// Stops where `condition` holds after the outputs of a step; [`Session::signal`] tells where
    /// it finds a signal. `text` is what a stop calls it. Gives the number of the breakpoint.
    pub fn break_when(
        &mut self,
        text: &str,
        condition: impl FnMut(&Simulation) -> bool + Send + 'static,
    ) -> usize {
        let kind = Kind::When(Box::new(condition));
        self.breakpoints.push(Breakpoint { text: text.to_owned(), kind });
        self.breakpoints.len()
    }

    /// The breakpoints as they were asked for.
    pub fn breakpoints(&self) -> impl Iterator<Item = &str> {
        self.breakpoints.iter().map(|breakpoint| breakpoint.text.as_str())
    }

    /// Removes breakpoint `number`, from 1; all without one.
    ///
    /// # Errors
    /// If there is no such breakpoint.
    pub fn delete_breakpoint(&mut self, number: Option<usize>) -> Result<(), Error> {
        remove(&mut self.breakpoints, number, "breakpoint")
    }
}

/// Whether a block lies in a subsystem or is it.
pub(super) fn is_inside(block: &str, part: &str) -> bool {
    block.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// The subsystem around a block: its path without the last name. Copies `foot[FL]` have one around
/// each.
pub(super) fn around(block: &str) -> Option<&str> {
    let mut depth = 0usize;
    let dot = block.char_indices().rev().find(|(_, c)| {
        match c {
            ']' => depth += 1,
            '[' => depth = depth.saturating_sub(1),
            _ => {}
        }
        *c == '.' && depth == 0
    });
    dot.map(|(at, _)| &block[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_lies_in_the_parts_that_its_path_begins_with() {
        assert!(is_inside("foot[FL].point", "foot"));
        assert!(is_inside("foot[FL].point", "foot[FL]"));
        assert!(is_inside("pd", "pd"));
        assert!(!is_inside("pdx", "pd"));
        assert_eq!(around("foot[F.L].point"), Some("foot[F.L]"));
        assert_eq!(around("contact.inner.qp"), Some("contact.inner"));
        assert_eq!(around("pd"), None);
    }
}
