//! Numbers that are none (semantics 9.1).

use legwork_block::Fault;

use super::engine::Engine;
use super::plan::Task;
use crate::fault::{Phase, RunFault};

impl Engine {
    /// Semantics 9.1: NaN on any output, or an infinity on one that is not marked as a bound.
    pub(super) fn check_finite(&self) -> Result<(), RunFault> {
        // 0·v is 0 for finite v and NaN otherwise; four sums of eight lanes, since each waits for
        // itself.
        let mut lanes = [[0.0; 8]; 4];
        let (blocks, rest) = self.state.arena.as_chunks::<32>();
        for block in blocks {
            for (lanes, chunk) in lanes.iter_mut().zip(block.as_chunks::<8>().0) {
                for (lane, v) in lanes.iter_mut().zip(chunk) {
                    *lane += v * 0.0;
                }
            }
        }
        let rest: f64 = rest.iter().map(|v| v * 0.0).sum();
        if (lanes.iter().flatten().sum::<f64>() + rest).is_nan()
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
