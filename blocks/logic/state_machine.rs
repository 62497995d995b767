//! `StateMachine`: states, guarded transitions, entry actions.

mod compile;

use std::collections::BTreeMap;

use legwork_block::quantity::{Formula, Tensor};
use legwork_block::{
    Any, Block, Bool, Inputs, Int, Invalid, Outcome, OutputCx, Ports, RateRule, Real, Report,
    Sizes, UpdateCx, block, parameters, ports,
};
use serde::{Deserialize, Serialize};

use self::compile::{Machine, compile};
use crate::signal::formula::{Input, Signal, Source};

/// States with guarded transitions, and signals that are set on entry.
///
/// The machine is in one state at a time. At each hit of its period
///
/// 1. it shows the state that it is in, the time since it came in, and the signals that entry
///    actions have set. No input feeds through, so a machine closes no algebraic loop;
/// 2. then the guards of this state are tried in the order of `to`, on the inputs of this hit. The
///    first that holds is taken, the entry actions of its target are computed from the same inputs,
///    and the next hit shows the new state. At most one transition is taken at a hit: a state that
///    is entered is shown at least once.
///
/// A transition may lead back to its own state, which is then entered again. What a state's `entry`
/// does not set keeps its value. The first state of the list is that of t = 0, so its entry sets
/// every signal and reads no inputs.
///
/// | name in an expression | what it is |
/// |---|---|
/// | a name in `inputs` | an input; `com[2]`, `com[0..2]` are elements of a vector |
/// | `elapsed` | the time since the state was entered [s], a whole number of periods |
/// | `t` | the time [s] |
/// | a name in `constants` | its value |
///
/// A guard is a condition, `"elapsed >= 2 and force < 20[N]"`. An entry action is an expression of
/// any unit and length, the same in all states: `{ "stance": "[1, 0]", "goal": "com + shift" }`.
/// An input that nothing reads is an error, as is a state that no transition leads to.
///
/// It is a Moore machine: D. Harel, *Statecharts: a visual formalism for complex systems* (1987),
/// without nested and parallel states.
#[ports(
    |machine: &Machine|
    in  inputs[(name, Input { shape, unit }) in &machine.inputs]: Any(shape.ty(ports)),
        unit.clone(), "what guards and entry actions read", named "one for each of `inputs`",
        shape "as `inputs` says", units "as the expressions ask";
    feeds();
    out state: Int, "1", "which state it is in, counted from 0 in the order of `states`";
    out elapsed: Real, "s", "time since it came in";
    out entered: Bool, _, "whether this is the first hit in the state";
    out signals[(name, ty, unit) in &machine.outputs]: Any(ty.clone()), unit.clone(),
        "what entry actions set", named "one for each signal that `entry` sets",
        shape "number, truth value, or vector if the expression gives a list",
        units "that of the expressions";
)]
#[parameters(aliases("finite state machine", "FSM", "statechart", "stateflow", "sequencer"))]
pub struct StateMachine {
    /// What guards and entry actions read: `{ "force": Real, "com": Vector(3), "on": Bool }`.
    #[default]
    pub inputs: BTreeMap<String, Signal>,
    /// Values by name, numbers or lists [any unit].
    #[default]
    pub constants: BTreeMap<String, Tensor>,
    /// The states, the one of t = 0 first.
    pub states: Vec<MachineState>,
}

/// A state of a [`StateMachine`].
#[parameters]
pub struct MachineState {
    /// Its name.
    pub name: String,
    /// What it is for.
    #[default]
    pub doc: String,
    /// What is computed when it is entered, by the name of the output that shows it.
    #[default]
    pub entry: BTreeMap<String, Formula>,
    /// Where to and when, those that go before first.
    #[default]
    pub to: Vec<Transition>,
}

/// A way out of a state of a [`StateMachine`].
#[parameters]
pub struct Transition {
    /// The guard: when it is taken.
    pub when: Formula,
    /// Name of the state that it leads to.
    pub to: String,
}

/// Ports and programs of a [`StateMachine`].
pub struct Plan {
    io: StateMachinePorts,
    machine: Machine,
}

/// Where a [`StateMachine`] is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Where {
    state: usize,
    /// Hits since the state was entered.
    hits: u64,
    /// What entry actions have set, output after output.
    values: Vec<f64>,
    /// Transitions taken.
    taken: u64,
}

impl Plan {
    /// Carries out the entry actions of `state`.
    fn enter(&self, state: usize, read: impl Fn(usize) -> f64, values: &mut [f64]) {
        for action in &self.machine.states[state].entry {
            for (i, program) in action.programs.iter().enumerate() {
                values[action.first + i] = program.eval(&read);
            }
        }
    }

    /// What a slot of the programs reads.
    fn read(&self, slot: usize, inputs: Inputs<'_>, times: [f64; 2]) -> f64 {
        match self.machine.sources[slot] {
            Source::Time(which) => times[which],
            Source::Element { input, index } => inputs.get(self.io.inputs[input]).leaf(0)[index],
        }
    }
}

#[block]
impl Block for StateMachine {
    type Plan = Plan;
    type State = Where;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        ports.rate(RateRule::Sampled);
        let machine = compile(self, ports)?;
        for (i, state) in self.states.iter().enumerate() {
            let to: Vec<&str> = state.to.iter().map(|way| way.to.as_str()).collect();
            let arrow = if to.is_empty() { "" } else { " → " };
            ports.caption(format!("{i} {}{arrow}{}", state.name, to.join(", ")));
        }
        let io = self.declare(ports, &machine);
        Ok(Plan { io, machine })
    }

    fn state(&self, plan: &Plan, _: &Sizes<'_>) -> Where {
        let mut values = vec![0.0; plan.machine.len];
        // The entry of the first state reads no input, and both times are 0.
        plan.enter(0, |_| 0.0, &mut values);
        Where { state: 0, hits: 0, values, taken: 0 }
    }

    fn accepts(&self, _: &Self::Plan, at: &Where) -> bool {
        at.state < self.states.len()
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let at = cx.state;
        cx.outputs.set(plan.io.state, at.state as f64);
        cx.outputs.set(plan.io.elapsed, at.hits as f64 * cx.time.step);
        cx.outputs.set(plan.io.entered, f64::from(u8::from(at.hits == 0)));
        let mut first = 0;
        for &signal in &plan.io.signals {
            let y = cx.outputs.get(signal);
            y.copy_from_slice(&at.values[first..first + y.len()]);
            first += y.len();
        }
        Ok(())
    }

    fn update(&self, plan: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let times = [cx.time.t, cx.state.hits as f64 * cx.time.step];
        let inputs = cx.inputs;
        let read = |slot: usize| plan.read(slot, inputs, times);
        let ways = &plan.machine.states[cx.state.state].to;
        match ways.iter().find(|way| way.guard.test(read)) {
            Some(way) => {
                cx.state.state = way.target;
                cx.state.hits = 0;
                cx.state.taken += 1;
                plan.enter(way.target, read, &mut cx.state.values);
            }
            None => cx.state.hits += 1,
        }
        Ok(())
    }

    fn report(&self, _: &Plan, at: &Where, report: &mut Report) {
        report.metric("transitions", at.taken as f64);
    }
}

#[cfg(test)]
mod tests;
