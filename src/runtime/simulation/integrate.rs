//! Continuous state from one major step to the next (semantics 3.6), events located on the way
//! (semantics 3.7).

use legwork_block::Fault;
use legwork_program::NodeId;

use super::Simulation;
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

/// Halvings of a bracket after which an event counts as located, whatever its width.
const MOST_HALVINGS: u32 = 200;

/// The program's differential equation in its chart, for the kernels.
struct ProgramFlow<'a> {
    simulation: &'a mut Simulation,
    chart: &'a Chart,
    x: &'a mut [f64],
    rates: &'a mut [f64],
}

impl Flow for ProgramFlow<'_> {
    type Error = RunFault;

    fn rate(&mut self, t: f64, u: &[f64], rate: &mut [f64]) -> Result<(), RunFault> {
        self.chart.place(u, self.x);
        self.simulation.minor_outputs(t, self.x)?;
        self.simulation.derivatives(t, true, self.x, self.rates)?;
        self.chart.rate(u, self.x, self.rates, rate);
        Ok(())
    }

    fn magnitude(&mut self, u: &[f64], magnitude: &mut [f64]) {
        self.chart.place(u, self.x);
        self.chart.magnitude(self.x, magnitude);
    }
}

/// The memory that leaves the simulation while its blocks run in stages.
struct Work {
    chart: Chart,
    x: Vec<f64>,
    rates: Vec<f64>,
    u: Vec<f64>,
    u_rate: Vec<f64>,
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
        let end = self.next_tick();
        if !self.plan.derivatives.is_empty() {
            let length = self.plan.program.base.at(end) - self.work.now;
            let mut work = self.lend();
            let mut method = std::mem::replace(&mut self.method, Method::SemiImplicit);
            let outcome = self.advance_state(length, &mut method, &mut work);
            self.method = method;
            self.take_back(work);
            if let Reached::Event(offset) = outcome? {
                let interval = self.state.since_event + offset;
                self.state.since_event = 0.0;
                self.state.step_memory = Some(AFTER_EVENT * interval).filter(|h| *h > 0.0);
                let moment = self.state.moment.after(offset, self.plan.program.base);
                let at_end = moment.time(self.plan.program.base) >= self.plan.program.base.at(end);
                return self.arrive(if at_end { Moment::at(end) } else { moment });
            }
            self.state.since_event += length;
        }
        self.arrive(Moment::at(end))
    }

    /// Time goes on, or an event follows in the same moment.
    fn arrive(&mut self, moment: Moment) -> Result<(), RunFault> {
        if moment == self.state.moment {
            self.state.microstep += 1;
            if self.is_zeno() {
                self.work.fired.copy_from_slice(&self.state.located);
                return Err(self.zeno_fault());
            }
        } else {
            self.state.microstep = 0;
            self.set_moment(moment);
        }
        Ok(())
    }

    /// The next tick at which a major step must be.
    fn next_tick(&self) -> u64 {
        let (tick, step) = (self.state.moment.tick, self.plan.program.step_ticks);
        let next = (tick / step + 1) * step;
        if !self.plan.program.run.solver.is_variable() {
            return next;
        }
        let hits = self.plan.classes.iter().filter_map(|rate| rate.next_hit(tick));
        hits.fold(next, u64::min).min(self.plan.program.stop_tick.max(tick + 1))
    }

    fn lend(&mut self) -> Work {
        let gates = self.plan.derivatives.iter().map(|role| role.gate);
        let mut work = Work {
            chart: std::mem::replace(&mut self.chart, Chart::empty()),
            x: std::mem::take(&mut self.next_x),
            rates: std::mem::take(&mut self.rates),
            u: std::mem::take(&mut self.u),
            u_rate: std::mem::take(&mut self.u_rate),
        };
        work.chart.freeze(gates.map(|gate| !self.is_on(gate)));
        work.x.copy_from_slice(&self.state.x);
        work
    }

    fn take_back(&mut self, work: Work) {
        self.state.x.copy_from_slice(&work.x);
        self.next_x = work.x;
        self.chart = work.chart;
        self.rates = work.rates;
        self.u = work.u;
        self.u_rate = work.u_rate;
    }

    /// Advances `work.x` by `length` [s], or to the first event of a variable step.
    fn advance_state(
        &mut self,
        length: f64,
        method: &mut Method,
        work: &mut Work,
    ) -> Result<Reached, RunFault> {
        let Work { chart, x, rates, u, u_rate } = work;
        self.derivatives(0.0, false, x, rates)?;
        if let Method::SemiImplicit = method {
            chart.semi_implicit(length, x, rates, u);
            return Ok(Reached::End);
        }
        chart.centre(x);
        u.fill(0.0);
        chart.rate(u, x, rates, u_rate);
        match method {
            Method::SemiImplicit => {}
            Method::Explicit(explicit) => {
                let mut flow = ProgramFlow { simulation: self, chart, x, rates };
                let end = explicit.step(&mut flow, length, u_rate);
                let end = end.map_err(|failure| flow.simulation.solver_fault(failure))?;
                chart.place(end, x);
            }
            Method::Implicit(implicit) => {
                let mut flow = ProgramFlow { simulation: self, chart, x, rates };
                let outcome = implicit.advance(&mut flow, 0.0, length, u);
                outcome.map_err(|failure| flow.simulation.solver_fault(failure))?;
                chart.place(u, x);
            }
            Method::Variable(kernel) => return self.variable(length, kernel, work),
        }
        Ok(Reached::End)
    }

    /// As many steps of the kernel as the tolerance asks for, to `length` or to an event.
    fn variable(
        &mut self,
        length: f64,
        kernel: &mut VariableStep,
        work: &mut Work,
    ) -> Result<Reached, RunFault> {
        let Work { chart, x, rates, u, u_rate } = work;
        kernel.begin(0.0, u, u_rate, self.state.step_memory);
        self.state.spent.fill(false);
        let watches = !self.plan.guards.is_empty();
        while kernel.t() < length {
            let mut flow = ProgramFlow { simulation: self, chart, x, rates };
            let outcome = kernel.step(&mut flow, length);
            outcome.map_err(|failure| flow.simulation.solver_fault(failure))?;
            if watches {
                chart.place(kernel.u(), x);
                self.minor_outputs(kernel.t(), x)?;
                self.guard_values(kernel.t(), true);
                if self.any_crossed() {
                    let offset = self.locate(kernel, chart, x, u)?;
                    return Ok(Reached::Event(offset));
                }
                self.arm();
            }
            u.copy_from_slice(kernel.u());
            if kernel.t() < length && chart.largest_turn(u) > LARGEST_TURN {
                let (t, h) = (kernel.t(), kernel.remembered_step());
                chart.place(u, x);
                chart.centre(x);
                u.fill(0.0);
                self.minor_outputs(t, x)?;
                self.derivatives(t, true, x, rates)?;
                chart.rate(u, x, rates, u_rate);
                kernel.begin(t, u, u_rate, Some(h));
            }
        }
        chart.place(kernel.u(), x);
        self.state.step_memory = Some(kernel.remembered_step());
        Ok(Reached::End)
    }

    /// Narrows the kernel's last step, at whose end a guard has crossed, to the first crossing.
    /// `x` is left at the far side of a bracket as narrow as numbers are. Returns its time since
    /// the major step [s].
    fn locate(
        &mut self,
        kernel: &VariableStep,
        chart: &Chart,
        x: &mut [f64],
        u: &mut [f64],
    ) -> Result<f64, RunFault> {
        let (mut near, mut far) = (kernel.previous_t(), kernel.t());
        kernel.interpolate(near, u);
        self.look(chart, near, u, x)?;
        // Values at the near side lie in `guard_before`, those at the far side in `guard_values`.
        self.guard_before.copy_from_slice(&self.work.guard_values);
        kernel.interpolate(far, u);
        self.look(chart, far, u, x)?;
        let mut far_values = std::mem::take(&mut self.far_values);
        far_values.copy_from_slice(&self.work.guard_values);
        for round in 0..MOST_HALVINGS {
            // Relative to the time since the major step, not since t = 0: events that come ever
            // faster stay apart until they fall on one moment, and are counted there.
            let width = 2.0 * f64::EPSILON * far;
            if far - near <= width {
                break;
            }
            // The secant finds the crossing of a smooth guard; every third round halves, so that
            // the bracket closes from both sides.
            let middle = 0.5 * (near + far);
            let try_at = if round % 3 == 2 {
                middle
            } else {
                let root = self.earliest_root(near, far, &far_values);
                let margin = (0.25 * width).max(f64::MIN_POSITIVE);
                // A hair beyond the estimate, so that it becomes the far side if it is good.
                let aim = root + if round % 3 == 0 { margin } else { -margin };
                if aim > near && aim < far { aim } else { middle }
            };
            if try_at <= near || try_at >= far {
                break;
            }
            kernel.interpolate(try_at, u);
            self.look(chart, try_at, u, x)?;
            if self.any_crossed() {
                far = try_at;
                far_values.copy_from_slice(&self.work.guard_values);
            } else {
                near = try_at;
                self.guard_before.copy_from_slice(&self.work.guard_values);
            }
        }
        kernel.interpolate(far, u);
        self.look(chart, far, u, x)?;
        self.work.guard_values.copy_from_slice(&far_values);
        self.far_values = far_values;
        self.mark_located();
        Ok(far)
    }

    /// Outputs and guards at a time inside a step.
    fn look(&mut self, chart: &Chart, t: f64, u: &[f64], x: &mut [f64]) -> Result<(), RunFault> {
        chart.place(u, x);
        self.minor_outputs(t, x)?;
        self.guard_values(t, true);
        Ok(())
    }

    /// The earliest zero of the lines through the guards that have crossed at the far side.
    fn earliest_root(&self, near: f64, far: f64, far_values: &[f64]) -> f64 {
        let mut earliest = far;
        for (i, (&a, &b)) in self.guard_before.iter().zip(far_values).enumerate() {
            if self.has_crossed(i, b) && a != b {
                earliest = earliest.min(near + (far - near) * (a / (a - b)).clamp(0.0, 1.0));
            }
        }
        earliest
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
