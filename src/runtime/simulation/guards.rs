//! Guards, resets and microsteps (semantics 3.7).

use legwork_block::{Crossing, Fault, View};

use super::Simulation;
use crate::fault::{Phase, RunFault};

/// More microsteps than this in one major step are a fault (semantics 3.7).
const MAX_MICROSTEPS: u32 = 64;

impl Simulation {
    /// Tests guards; resets the state of those that fire. Whether any did.
    pub(super) fn test_guards(&mut self) -> Result<bool, RunFault> {
        let mut any = false;
        for g in 0..self.guards.len() {
            let role = self.guards[g];
            let own = role.own.range();
            let time = self.clock(role.rate, false, 0.0);
            let view = View { time, arena: &self.arena, shared: &self.pool };
            self.instances[role.node as usize].guard(
                view,
                &self.x[role.x.range()],
                &mut self.guard_values[own.clone()],
            );
            for i in own {
                let value = self.guard_values[i];
                let (fires, arms) = match self.crossings[i] {
                    Crossing::Level => (value > 0.0, true),
                    Crossing::Rising => (self.armed[i] && value >= 0.0, value < 0.0),
                    Crossing::Falling => (self.armed[i] && value <= 0.0, value > 0.0),
                };
                self.fired[i] = fires;
                self.armed[i] = arms;
                any |= fires;
            }
        }
        if !any {
            return Ok(false);
        }
        self.microstep += 1;
        if self.microstep > MAX_MICROSTEPS {
            return Err(self.zeno_fault());
        }
        // The arena still holds the values before any reset, so the order of resets is free.
        for g in 0..self.guards.len() {
            let role = self.guards[g];
            if !self.fired[role.own.range()].contains(&true) {
                continue;
            }
            let time = self.clock(role.rate, false, 0.0);
            let view = View { time, arena: &self.arena, shared: &self.pool };
            let outcome = self.instances[role.node as usize].reset(
                view,
                &self.fired[role.own.range()],
                &mut self.x[role.x.range()],
            );
            if let Err(fault) = outcome {
                return Err(self.fault_at(role.node, Phase::Guard, *fault));
            }
        }
        Ok(true)
    }

    #[cold]
    pub(super) fn zeno_fault(&self) -> RunFault {
        let firing: Vec<_> = self
            .guards
            .iter()
            .filter(|role| self.fired[role.own.range()].contains(&true))
            .map(|role| self.program.nodes[role.node as usize].path.as_str())
            .collect();
        let message = format!(
            "guards fired more than {MAX_MICROSTEPS} times without time going on (Zeno): {}",
            firing.join(", ")
        );
        let node = self
            .guards
            .iter()
            .find(|role| self.fired[role.own.range()].contains(&true))
            .map_or(0, |role| role.node);
        self.fault_at(node, Phase::Guard, Fault { message })
    }
}
