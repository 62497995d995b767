//! Guards, resets and microsteps (semantics 3.7).

use legwork_block::{Crossing, Fault, View};

use legwork_program::NodeId;

use super::engine::Engine;
use crate::fault::{Phase, RunFault};

/// More microsteps than this in one major step are a fault (semantics 3.7).
const MAX_MICROSTEPS: u32 = 64;

impl Engine {
    /// Tests guards; resets the state of those that fire. Whether any did.
    pub(super) fn test_guards(&mut self) -> Result<bool, RunFault> {
        self.guard_values(0.0, false);
        let mut any = false;
        for (i, guard) in self.plan.crossings.iter().enumerate() {
            let on = guard.resets && self.is_on(self.plan.guard_gates[i]);
            self.work.fired[i] =
                on && (self.state.located[i] || self.has_crossed(i, self.work.guard_values[i]));
            any |= self.work.fired[i];
        }
        // A crossing that was located here is over, whatever rounding makes of its value now.
        for (spent, located) in self.state.spent.iter_mut().zip(&mut self.state.located) {
            *spent |= std::mem::take(located);
        }
        self.arm();
        if !any {
            return Ok(false);
        }
        self.state.microstep += 1;
        if self.is_zeno() {
            return Err(self.zeno_fault());
        }
        // The arena still holds the values before any reset, so the order of resets is free.
        for g in 0..self.plan.guards.len() {
            let role = self.plan.guards[g];
            if !self.work.fired[role.own.range()].contains(&true) {
                continue;
            }
            let time = self.clock(role.rate, false, 0.0);
            let view = View { time, arena: &self.state.arena, shared: &self.blocks.pool };
            let outcome = self.blocks.instances[role.node.index()].reset(
                view,
                &self.work.fired[role.own.range()],
                &mut self.state.x[role.x.range()],
            );
            if let Err(fault) = outcome {
                return Err(self.fault_at(role.node, Phase::Guard, *fault));
            }
        }
        Ok(true)
    }

    /// Lets every guard that is on write its values, `offset` [s] after the major step.
    pub(super) fn guard_values(&mut self, offset: f64, minor: bool) {
        for g in 0..self.plan.guards.len() {
            let role = self.plan.guards[g];
            if !self.is_on(role.gate) {
                continue;
            }
            let time = self.clock(role.rate, minor, offset);
            let view = View { time, arena: &self.state.arena, shared: &self.blocks.pool };
            self.blocks.instances[role.node.index()].guard(
                view,
                &self.state.x[role.x.range()],
                &mut self.work.guard_values[role.own.range()],
            );
        }
    }

    /// Whether `value` is on the far side for guard `i`. A level is never armed: it is crossed
    /// inside a step if it was not positive where the step began.
    pub(super) fn has_crossed(&self, i: usize, value: f64) -> bool {
        match self.plan.crossings[i].crossing {
            Crossing::Level => value > 0.0,
            Crossing::Rising => self.state.armed[i] && value >= 0.0,
            Crossing::Falling => self.state.armed[i] && value <= 0.0,
        }
    }

    /// True if guard `i` fires when it is on its far side.
    pub(super) fn is_ready(&self, i: usize) -> bool {
        self.plan.crossings[i].crossing == Crossing::Level || self.state.armed[i]
    }

    /// True if a guard that is on can cross; one at −∞ cannot.
    pub(super) fn may_cross(&self) -> bool {
        (0..self.plan.crossings.len()).any(|i| {
            self.is_on(self.plan.guard_gates[i]) && self.work.guard_values[i] != f64::NEG_INFINITY
        })
    }

    /// Whether any guard has crossed since the step began.
    pub(super) fn any_crossed(&self) -> bool {
        (0..self.plan.crossings.len()).any(|i| {
            self.is_on(self.plan.guard_gates[i]) && self.has_crossed(i, self.work.guard_values[i])
        })
    }

    /// Arms the guards that are on their near side and did not fire at this moment.
    pub(super) fn arm(&mut self) {
        for (i, guard) in self.plan.crossings.iter().enumerate() {
            let value = self.work.guard_values[i];
            self.state.armed[i] = match guard.crossing {
                Crossing::Level => true,
                Crossing::Rising => value < 0.0,
                Crossing::Falling => value > 0.0,
            } && !self.state.spent[i]
                && self.is_on(self.plan.guard_gates[i]);
        }
    }

    /// Notes which guards have crossed at the present values: they fire at this moment.
    pub(super) fn mark_located(&mut self) {
        for i in 0..self.plan.crossings.len() {
            self.state.located[i] = self.is_on(self.plan.guard_gates[i])
                && self.has_crossed(i, self.work.guard_values[i]);
        }
    }

    /// Whether time stands still.
    pub(super) fn is_zeno(&self) -> bool {
        self.state.microstep > MAX_MICROSTEPS
    }

    #[cold]
    pub(super) fn zeno_fault(&self) -> RunFault {
        let firing: Vec<_> = self
            .plan
            .guards
            .iter()
            .filter(|role| self.work.fired[role.own.range()].contains(&true))
            .map(|role| self.plan.program.nodes[role.node].path.as_str())
            .collect();
        let message = format!(
            "guards fired more than {MAX_MICROSTEPS} times without time going on (Zeno): {}",
            firing.join(", ")
        );
        let node = self
            .plan
            .guards
            .iter()
            .find(|role| self.work.fired[role.own.range()].contains(&true))
            .map_or(NodeId::new(0), |role| role.node);
        let hints = vec![
            "what bounces does so ever faster: let it come to rest by `rest` of a \
             `SecondOrderIntegrator`"
                .to_owned(),
            "or end the run before by a `Stop`".to_owned(),
        ];
        RunFault { hints, ..self.fault_at(node, Phase::Guard, Fault { message }) }
    }
}
