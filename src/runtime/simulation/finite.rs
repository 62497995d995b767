//! Numbers that are none (semantics 9.1).

use legwork_block::Fault;
use legwork_linalg::all_finite;

use super::engine::Engine;
use super::plan::Task;
use crate::fault::{Phase, RunFault};

impl Engine {
    /// Semantics 9.1: NaN on any output, or an infinity on one that is not marked as a bound.
    pub(super) fn check_finite(&self) -> Result<(), RunFault> {
        if !all_finite(&self.state.arena)
            && let Some(fault) = self.find_not_finite(&self.plan.tasks)
        {
            return Err(fault);
        }
        Ok(())
    }

    #[cold]
    pub(super) fn find_not_finite(&self, tasks: &[Task]) -> Option<RunFault> {
        for task in tasks {
            let own = task.own.range();
            let node = &self.plan.program.nodes[task.node];
            for (port, name) in node.output_names.iter().enumerate() {
                let slots = node.io.outputs.port(port).iter();
                for slot in slots.filter(|slot| own.contains(&(slot.start as usize))) {
                    let infinite_is_fine = node.may_be_infinite[port];
                    let bad = self.state.arena[slot.range()]
                        .iter()
                        .find(|v| v.is_nan() || (v.is_infinite() && !infinite_is_fine));
                    if let Some(value) = bad {
                        let text = format!("output `{name}` became {value}");
                        let fault = Fault { message: text };
                        return Some(self.fault_at(task.node, Phase::Output, fault));
                    }
                }
            }
        }
        None
    }
}
