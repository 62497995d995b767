//! Numbers that are none (semantics 9.1).

use std::fmt::Write as _;

use legwork_block::{Fault, Slot};
use legwork_linalg::all_finite;
use legwork_program::{NodeId, Program};

use super::engine::Engine;
use super::plan::Task;
use super::watched::Reading;
use crate::comparison::quantity::number_name;
use crate::fault::{Phase, RunFault};

/// Most inputs, and most numbers of one, that a message shows.
const MOST_SHOWN: usize = 6;

/// Outputs, side by side in the arena where they can be: a look at all of them is a look at few
/// slots.
pub(super) struct Finite {
    /// Those that must be finite.
    numbers: Vec<Slot>,
    /// Those that may be infinite.
    bounds: Vec<Slot>,
}

impl Finite {
    /// Those of all blocks that do not look themselves; with `reading`, those that somebody reads.
    pub(super) fn of(program: &Program, reading: Option<&Reading>) -> Self {
        let (mut numbers, mut bounds): (Vec<Slot>, Vec<Slot>) = (Vec::new(), Vec::new());
        for step in &program.schedule {
            let node = &program.nodes[step.node];
            let own = step.own.range();
            for (port, may_be_infinite) in node.may_be_infinite.iter().enumerate() {
                let is_read = reading.is_none_or(|reading| reading.reads(node, port));
                if !is_read || node.checks_itself[port] {
                    continue;
                }
                let list = if *may_be_infinite { &mut bounds } else { &mut numbers };
                let slots = node.io.outputs.port(port).iter();
                for slot in slots.filter(|slot| own.contains(&(slot.start as usize))) {
                    match list.last_mut() {
                        Some(last) if last.start + last.len == slot.start => last.len += slot.len,
                        _ => list.push(*slot),
                    }
                }
            }
        }
        Self { numbers, bounds }
    }
}

impl Engine {
    /// Semantics 9.1: NaN on any output, or an infinity on one that is not marked as a bound.
    pub(super) fn check_finite(&self) -> Result<(), RunFault> {
        let arena = &self.state.arena;
        let Finite { numbers, bounds } = &self.plan.finite;
        let is_fine = numbers.iter().all(|slot| all_finite(&arena[slot.range()]))
            && !bounds.iter().any(|slot| arena[slot.range()].iter().any(|bound| bound.is_nan()));
        if !is_fine && let Some(fault) = self.find_not_finite(&self.plan.tasks) {
            return Err(fault);
        }
        Ok(())
    }

    #[cold]
    pub(super) fn find_not_finite(&self, tasks: &[Task]) -> Option<RunFault> {
        for task in tasks {
            let own = task.own.range();
            let node = &self.plan.program.nodes[task.node];
            for port in 0..node.output_names.len() {
                let slots = node.io.outputs.port(port).iter();
                for slot in slots.filter(|slot| own.contains(&(slot.start as usize))) {
                    let infinite_is_fine = node.may_be_infinite[port];
                    let is_bad = |v: &f64| v.is_nan() || (v.is_infinite() && !infinite_is_fine);
                    let numbers = &self.state.arena[slot.range()];
                    if let Some(at) = numbers.iter().position(is_bad) {
                        let place = slot.start as usize + at;
                        let value = self.state.arena[place];
                        let all = node.io.outputs.port(port).iter().flat_map(|s| s.range());
                        let index = all.into_iter().position(|known| known == place);
                        let program = &self.plan.program;
                        let what =
                            number_name(program, task.node.index(), port, index.unwrap_or(0));
                        let mut message = format!("output {what} became {value}");
                        message += &self.made_of(task.node);
                        let fault = Fault { message };
                        return Some(self.fault_at(task.node, Phase::Output, fault));
                    }
                }
            }
        }
        None
    }

    /// The state and the inputs of a block, as far as they are why an output is no number.
    fn made_of(&self, id: NodeId) -> String {
        let node = &self.plan.program.nodes[id];
        let mut text = String::new();
        if let Some(placed) = &node.continuous {
            let x = &self.state.x[placed.x.range()];
            if let Some(i) = x.iter().position(|x| !x.is_finite()) {
                let _ = write!(text, "; number {i} of its state is {}", x[i]);
            }
        }
        let inputs: Vec<String> = (0..node.input_names.len())
            .filter_map(|port| self.input_text(id, port))
            .take(MOST_SHOWN)
            .collect();
        if !inputs.is_empty() {
            let _ = write!(text, "; its inputs: {}", inputs.join(", "));
        }
        text
    }

    /// `u1` = 0 from `a.y`.
    fn input_text(&self, id: NodeId, port: usize) -> Option<String> {
        let program = &self.plan.program;
        let node = &program.nodes[id];
        let slots = node.io.inputs.port(port);
        let numbers: Vec<f64> =
            slots.iter().flat_map(|slot| &self.state.arena[slot.range()]).copied().collect();
        let value = match numbers.as_slice() {
            [] => return None,
            [one] => number(*one),
            all if all.len() <= MOST_SHOWN => format!("{all:?}"),
            all => {
                let bad = all.iter().filter(|x| !x.is_finite()).count();
                let (least, most) =
                    all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), x| {
                        (least.min(*x), most.max(*x))
                    });
                let bad = if bad > 0 { format!(", {bad} not finite") } else { String::new() };
                let (least, most) = (number(least), number(most));
                format!("{} numbers from {least} to {most}{bad}", all.len())
            }
        };
        let name = &node.input_names[port];
        let edge = program
            .edges
            .iter()
            .find(|edge| edge.to == id && edge.to_port.is_some_and(|to| to as usize == port))?;
        let from = &program.nodes[edge.from];
        let output = from.output_names.get(edge.from_port as usize).map_or("", |name| name);
        Some(format!("`{name}` = {value} from `{}.{output}{}`", from.path, edge.part))
    }
}

/// A number of a message: a large one by its exponent.
fn number(x: f64) -> String {
    if x.is_finite() && x.abs() >= 1e6 { format!("{x:.3e}") } else { x.to_string() }
}
