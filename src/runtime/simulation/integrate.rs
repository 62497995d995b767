//! Continuous state from one major step to the next (semantics 3.6), events located on the way
//! (semantics 3.7).

use legwork_block::Fault;
use legwork_program::NodeId;

use super::Simulation;
use super::engine::Engine;
use super::events::GuardValues;
use super::plan::Plan;
use crate::chart::Chart;
use crate::fault::{Phase, RunFault};
use crate::moment::Moment;
use crate::ode::{Failure, Flow, Kernel, VariableStep};
use crate::solver::Method;

/// A chart ends at a turn of 2π; it is centred anew long before, while `dexp⁻¹` is mild.
const LARGEST_TURN: f64 = 1.0;

/// The first step after an event, relative to the time since the event before. Events may come
/// ever faster, as those of a bouncing ball do: a step that spans two of them sees none. Steps grow
/// at most tenfold, so one of them ends before the next event, and its guard is armed.
const AFTER_EVENT: f64 = 1e-4;

/// Steps that a solver may take inside one step of the run. Where a law jumps and drives the state
/// back over the jump, as friction or a limit that is slid along, steps are cut again and again, or
/// get as short as the tolerance asks for: such a run would not end.
const MOST_INNER_STEPS: u64 = 200_000;

/// The program's differential equation in its chart, for the kernels.
struct ProgramFlow<'a> {
    engine: &'a mut Engine,
    chart: &'a Chart,
    x: &'a mut [f64],
    rates: &'a mut [f64],
    /// True if a block that refuses a state only shortens the step.
    shrinks: bool,
    /// The last fault of a block at a trial state.
    refused: Option<RunFault>,
}

impl<'a> ProgramFlow<'a> {
    fn of(
        engine: &'a mut Engine,
        chart: &'a Chart,
        x: &'a mut [f64],
        rates: &'a mut [f64],
    ) -> Self {
        Self { engine, chart, x, rates, shrinks: false, refused: None }
    }

    fn rate_there(&mut self, t: f64, u: &[f64], rate: &mut [f64]) -> Result<(), RunFault> {
        self.chart.place(u, self.x);
        self.engine.minor_outputs(t, self.x)?;
        self.engine.derivatives(t, true, self.x, self.rates)?;
        self.chart.rate(u, self.x, self.rates, rate);
        Ok(())
    }

    /// The reason why the shortest step failed.
    #[cold]
    fn fault(&mut self, failure: Failure<RunFault>) -> RunFault {
        let (Failure::NotFinite { t, h } | Failure::StepTooSmall { t, h }) = failure else {
            return self.engine.solver_fault(failure);
        };
        let Some(mut fault) = self.refused.take() else {
            return self.engine.solver_fault(failure);
        };
        let solver = self.engine.plan.program.run.solver;
        fault.hints.push(format!(
            "{solver} shortened its step to {h:.1e} s, {t} s after the last step of the run, and \
             the block refused still"
        ));
        fault
    }
}

impl Flow for ProgramFlow<'_> {
    type Error = RunFault;

    fn rate(&mut self, t: f64, u: &[f64], rate: &mut [f64]) -> Result<(), RunFault> {
        match self.rate_there(t, u, rate) {
            Err(fault) if self.shrinks && !self.engine.stop.heard => {
                self.refused = Some(fault);
                rate.fill(f64::NAN);
                Ok(())
            }
            outcome => outcome,
        }
    }

    fn magnitude(&mut self, u: &[f64], magnitude: &mut [f64]) {
        self.chart.place(u, self.x);
        self.chart.magnitude(self.x, magnitude);
    }
}

/// Takes continuous state from one major step to the next.
pub(super) struct Integrator {
    pub(super) method: Method,
    scratch: Scratch,
}

/// What an integration computes with, whatever the method.
pub(super) struct Scratch {
    pub(super) chart: Chart,
    /// The continuous state on its way, and the rates that blocks give it.
    pub(super) x: Vec<f64>,
    rates: Vec<f64>,
    /// Corrections: velocities of positions minus those at the end of a semi-implicit step.
    shifts: Vec<f64>,
    /// Coordinates in the chart, and their rate.
    pub(super) u: Vec<f64>,
    u_rate: Vec<f64>,
    pub(super) guards: GuardValues,
}

/// How far a variable step went.
enum Reached {
    End,
    /// An event, this long after the major step [s].
    Event(f64),
}

impl Simulation {
    /// Advances continuous state and time to the next major step.
    pub(super) fn integrate(&mut self) -> Result<(), RunFault> {
        let Self { engine, integrator, .. } = self;
        let end = engine.next_tick();
        // A variable step also ends at events of signals that depend on time alone.
        let watches =
            matches!(integrator.method, Method::Variable(_)) && !engine.plan.guards.is_empty();
        if watches || !engine.plan.derivatives.is_empty() {
            let base = engine.plan.program.base;
            let length = base.at(end) - engine.work.now;
            let outcome = integrator.advance(engine, length);
            engine.state.x.copy_from_slice(&integrator.scratch.x);
            if let Reached::Event(offset) = outcome? {
                let interval = engine.state.since_event + offset;
                engine.state.since_event = 0.0;
                engine.state.step_memory = Some(AFTER_EVENT * interval).filter(|h| *h > 0.0);
                let moment = engine.state.moment.after(offset, base);
                let at_end = moment.time(base) >= base.at(end);
                let moment = if at_end { Moment::at(end) } else { moment };
                let step = base.at(engine.plan.program.step_ticks);
                return engine.arrive(moment, interval > f64::EPSILON * step);
            }
            engine.state.since_event += length;
        }
        engine.state.inner_steps = 0;
        engine.arrive(Moment::at(end), true)
    }
}

impl Integrator {
    pub(super) fn new(plan: &Plan) -> Self {
        let (program, guard_count) = (&plan.program, plan.crossings.len());
        let chart = Chart::new(program);
        let coordinates = chart.len();
        Self {
            method: Method::new(program.run.solver, coordinates),
            scratch: Scratch {
                chart,
                x: vec![0.0; program.state_len],
                rates: vec![0.0; program.rate_len],
                shifts: vec![0.0; program.rate_len],
                u: vec![0.0; coordinates],
                u_rate: vec![0.0; coordinates],
                guards: GuardValues::new(guard_count),
            },
        }
    }

    /// How many coordinates the chart has.
    pub(super) fn coordinate_count(&self) -> usize {
        self.scratch.chart.len()
    }

    /// Advances a copy of the continuous state by `length` [s], or to the first event of a
    /// variable step.
    fn advance(&mut self, engine: &mut Engine, length: f64) -> Result<Reached, RunFault> {
        let Self { method, scratch } = self;
        let Scratch { chart, x, rates, shifts, u, u_rate, .. } = scratch;
        let gates = engine.plan.derivatives.iter().map(|role| role.gate);
        chart.freeze(gates.map(|gate| !engine.is_on(gate)));
        x.copy_from_slice(&engine.state.x);
        engine.derivatives(0.0, false, x, rates)?;
        if let Method::SemiImplicit = method {
            engine.corrections(length, x, rates, shifts, |i, is_shifted| {
                chart.set_shifted(i, is_shifted);
            });
            chart.semi_implicit(length, x, (rates, shifts), u);
            return Ok(Reached::End);
        }
        chart.centre(x);
        u.fill(0.0);
        chart.rate(u, x, rates, u_rate);
        match method {
            Method::SemiImplicit => {}
            Method::Explicit(explicit) => {
                let mut flow = ProgramFlow::of(engine, chart, x, rates);
                let end = explicit.step(&mut flow, length, u_rate);
                let end = end.map_err(|failure| flow.engine.solver_fault(failure))?;
                chart.place(end, x);
            }
            Method::Implicit(implicit) => {
                let mut flow = ProgramFlow::of(engine, chart, x, rates);
                let outcome = implicit.advance(&mut flow, 0.0, length, u);
                outcome.map_err(|failure| flow.engine.solver_fault(failure))?;
                chart.place(u, x);
            }
            Method::Variable(kernel) => return scratch.variable(engine, kernel, length),
        }
        Ok(Reached::End)
    }
}

impl Scratch {
    /// As many steps of the kernel as the tolerance asks for, to `length` or to an event.
    fn variable(
        &mut self,
        engine: &mut Engine,
        kernel: &mut VariableStep,
        length: f64,
    ) -> Result<Reached, RunFault> {
        kernel.begin(0.0, &self.u, &self.u_rate, engine.state.step_memory);
        engine.state.spent.fill(false);
        let watches = !engine.plan.guards.is_empty();
        if watches {
            engine.guard_values(0.0, true);
            self.guards.begin(&engine.work.guard_values);
        }
        while kernel.t() < length {
            let Self { chart, x, rates, .. } = self;
            let flow = ProgramFlow::of(engine, chart, x, rates);
            let mut flow = ProgramFlow { shrinks: true, ..flow };
            kernel.step(&mut flow, length).map_err(|failure| flow.fault(failure))?;
            engine.state.inner_steps += 1;
            if engine.state.inner_steps > MOST_INNER_STEPS {
                return Err(engine.crawls(kernel.remembered_step()));
            }
            if watches && let Some((near, far)) = self.crossing(engine, kernel)? {
                return Ok(Reached::Event(self.locate(engine, kernel, near, far)?));
            }
            let Self { chart, x, rates, u, u_rate, .. } = self;
            u.copy_from_slice(kernel.u());
            if kernel.t() < length && chart.largest_turn(u) > LARGEST_TURN {
                let (t, h) = (kernel.t(), kernel.remembered_step());
                chart.place(u, x);
                chart.centre(x);
                u.fill(0.0);
                engine.minor_outputs(t, x)?;
                engine.derivatives(t, true, x, rates)?;
                chart.rate(u, x, rates, u_rate);
                kernel.begin(t, u, u_rate, Some(h));
            }
        }
        self.chart.place(kernel.u(), &mut self.x);
        engine.state.step_memory = Some(kernel.remembered_step());
        Ok(Reached::End)
    }
}

impl Engine {
    /// More steps inside one step than are allowed, the last of `h` [s].
    #[cold]
    fn crawls(&self, h: f64) -> RunFault {
        let solver = self.plan.program.run.solver;
        let message = format!(
            "{solver} took {MOST_INNER_STEPS} steps inside one step of the run, the last of {h:.1e} s: \
             what it integrates is not smooth, or moves much faster than the step; take a shorter \
             step, a looser tolerance, or a law without jumps"
        );
        let node = self.plan.derivatives.first().map_or(NodeId::new(0), |role| role.node);
        RunFault {
            block: "solver".into(),
            ..self.fault_at(node, Phase::Integrate, Fault { message })
        }
    }

    #[cold]
    fn solver_fault(&self, failure: Failure<RunFault>) -> RunFault {
        let message = match failure {
            Failure::Flow(fault) => return fault,
            other => other.to_string(),
        };
        let node = self.plan.derivatives.first().map_or(NodeId::new(0), |role| role.node);
        RunFault {
            block: "solver".into(),
            ..self.fault_at(node, Phase::Integrate, Fault { message })
        }
    }
}
