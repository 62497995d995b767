//! What all blocks that solve have: the last solution and the warm start as declared state, a
//! policy for failures, counts for the report, kept problems.
//!
//! Minor steps and repeated solves of one step all start from what the last step committed.

use legwork_block::{Fault, Int, Out, Outputs, Real, Report, Time};
use legwork_qp::{Outcome as Solution, Problem, Status};
use serde::{Deserialize, Serialize};

use crate::solvers::on_fail::{OnFail, Substitute};
use crate::solvers::problem_dump::{Dump, KeptProblem};

/// What a block says of its problems and does with those that are not solved.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Policy {
    /// Kind of the block.
    pub(crate) block: &'static str,
    /// Its problem: `quadratic program`.
    pub(crate) noun: &'static str,
    pub(crate) on_fail: OnFail,
    pub(crate) dump: Dump,
}

/// State of a block that solves: what the next solve starts from, and counts for the report.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct SolverState {
    /// Last solution.
    x: Vec<f64>,
    has_x: bool,
    /// Warm start in the layout of the method; empty if it has none.
    warm: Vec<f64>,
    failures_in_a_row: u32,
    calls: u64,
    failures: u64,
    inaccurate: u64,
    fell_back: u64,
    held: u64,
    zeroed: u64,
    iterations: u64,
    worst_residual: f64,
    /// Steps whose forces gained energy, and how much in all [J].
    gains: u64,
    gained_energy: f64,
    problems: Vec<KeptProblem>,
}

/// From `output` to `update`: the solution of this step.
#[derive(Debug, Clone, Default)]
pub struct SolverMemo {
    is_filled: bool,
    /// The run stops with this problem.
    has_stopped: bool,
    x: Vec<f64>,
    warm: Vec<f64>,
    answer: Answer,
    is_inaccurate: bool,
    iterations: u32,
    residual: f64,
    gained_energy: f64,
    problem: Option<KeptProblem>,
}

/// How the unknowns of a step came about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Answer {
    #[default]
    Solved,
    /// By another solver, or under another law, than the first.
    FellBack,
    Held,
    Zeroed,
}

/// One solve, as a block did it.
pub(crate) struct Solve<'a> {
    pub(crate) time: Time,
    /// How the first attempt ended, whose problem may be kept.
    pub(crate) first: Solution,
    /// How the last one did.
    pub(crate) solution: Solution,
    /// The unknowns: what the method left, then what the policy says.
    pub(crate) x: &'a mut [f64],
    /// The warm start for the next step; empty if the method began cold.
    pub(crate) warm: &'a [f64],
    /// J and the factor of M, of a contact problem that was solved by them.
    pub(crate) mass: Option<(&'a [f64], &'a [f64])>,
    /// What the solution's forces add to the energy of bodies and springs [J].
    pub(crate) gained_energy: f64,
}

impl<'a> Solve<'a> {
    /// That of a block with one method.
    pub(crate) fn new(time: Time, solution: Solution, x: &'a mut [f64], warm: &'a [f64]) -> Self {
        Self { time, first: solution, solution, x, warm, mass: None, gained_energy: 0.0 }
    }
}

impl SolverState {
    /// State for `dim` unknowns and a warm start of `warm_len` numbers.
    pub(crate) fn new(dim: usize, warm_len: usize) -> Self {
        Self { x: vec![0.0; dim], warm: vec![0.0; warm_len], ..Self::default() }
    }

    /// The unknowns of the last step, if there was one.
    pub(crate) fn last(&self) -> Option<&[f64]> {
        self.has_x.then_some(&self.x[..])
    }

    /// What the method starts from.
    pub(crate) fn warm(&self) -> &[f64] {
        &self.warm
    }

    /// What a replay needs beside the problem: what the first attempt began with, which is nothing
    /// if the next begins cold too, and J and the factor of M if it solved by them.
    fn extra(&self, warm: &[f64], mass: Option<(&[f64], &[f64])>) -> Vec<(&'static str, Vec<f64>)> {
        let mut extra = Vec::new();
        if !warm.is_empty() {
            let mut start = vec![0.0; warm.len()];
            if self.warm.len() == start.len() {
                start.copy_from_slice(&self.warm);
            }
            extra.push(("start", start));
        }
        if let Some((jacobian, factor)) = mass {
            extra.push(("jacobian", jacobian.to_vec()));
            extra.push(("factor", factor.to_vec()));
        }
        extra
    }

    /// Commits what the step found.
    pub(crate) fn commit(&mut self, memo: &SolverMemo) {
        if !memo.is_filled {
            return;
        }
        self.calls += 1;
        self.iterations += u64::from(memo.iterations);
        self.inaccurate += u64::from(memo.is_inaccurate);
        self.failures += u64::from(memo.answer != Answer::Solved);
        self.worst_residual = self.worst_residual.max(residual_output(memo.residual));
        if memo.gained_energy > 0.0 {
            self.gains += 1;
            self.gained_energy += memo.gained_energy;
        }
        self.warm.clear();
        self.warm.extend_from_slice(&memo.warm);
        self.problems.extend(memo.problem.clone());
        match memo.answer {
            Answer::Solved => {}
            Answer::FellBack => self.fell_back += 1,
            Answer::Held => self.held += 1,
            Answer::Zeroed => self.zeroed += 1,
        }
        match memo.answer {
            Answer::Solved | Answer::FellBack => {
                self.failures_in_a_row = 0;
                self.has_x = true;
                self.x.copy_from_slice(&memo.x);
            }
            Answer::Held | Answer::Zeroed => self.failures_in_a_row += 1,
        }
    }
}

impl SolverMemo {
    /// Memory for `dim` unknowns and a warm start of `warm_len` numbers, which may grow.
    pub(crate) fn new(dim: usize, warm_len: usize) -> Self {
        Self { x: vec![0.0; dim], warm: Vec::with_capacity(warm_len), ..Self::default() }
    }

    /// Empties it.
    pub(crate) fn clear(&mut self) {
        (self.is_filled, self.has_stopped) = (false, false);
        self.problem = None;
    }

    /// Notes what the next step begins from, where a kept problem has no start of its own.
    pub(crate) fn keep_warm(&mut self, warm: &[f64]) {
        if self.is_filled {
            self.warm.clear();
            self.warm.extend_from_slice(warm);
        }
    }

    /// Hands out a problem that no update has committed, and counts one that stopped the run.
    pub(crate) fn report(&self, report: &mut Report) {
        report.solver_calls += u64::from(self.has_stopped);
        report.solver_failures += u64::from(self.has_stopped);
        if self.has_stopped {
            // The residual of the problem that stopped the run; no update has committed it.
            let worst = residual_output(self.residual);
            let committed = report.metrics.iter_mut().find(|m| m.name == "worst_residual");
            if let Some(metric) = committed {
                metric.value = metric.value.max(worst);
            } else {
                report.metric("worst_residual", worst);
            }
        }
        self.problem.iter().for_each(|problem| problem.report(report));
    }
}

impl Policy {
    /// Applies the policy to the unknowns, keeps the problem if that is asked for and there is one
    /// to keep, and notes for the update of this step what was found.
    ///
    /// # Errors
    /// If the policy is to stop.
    pub(crate) fn conclude<P: Into<Option<Problem>>>(
        &self,
        state: &SolverState,
        memo: &mut SolverMemo,
        solve: Solve<'_>,
        problem: impl FnOnce() -> P,
    ) -> Result<Answer, Box<Fault>> {
        let Solve { time, first, solution, x, warm, mass, gained_energy } = solve;
        let answered = self.answer(state, &first, &solution);
        // A minor step keeps nothing, unless it is the run's end.
        if !time.minor || answered.is_err() {
            let is_failure = !first.status.is_usable();
            let is_kept = self.dump.wants(is_failure, state.calls, state.problems.len());
            let problem = is_kept.then(problem).and_then(Into::into);
            memo.problem = problem.map(|problem| {
                KeptProblem::new(time, self.block, &first, problem, state.extra(warm, mass))
            });
        }
        memo.has_stopped = answered.is_err();
        memo.residual = solution.residual;
        let answer = answered?;
        match answer {
            Answer::Solved | Answer::FellBack => {}
            Answer::Held => x.copy_from_slice(&state.x),
            Answer::Zeroed => x.fill(0.0),
        }
        if !time.minor {
            memo.is_filled = true;
            memo.x.copy_from_slice(x);
            memo.warm.clear();
            memo.warm.extend_from_slice(warm);
            memo.answer = answer;
            memo.is_inaccurate = solution.status == Status::Inaccurate;
            memo.iterations = solution.iterations;
            memo.residual = solution.residual;
            let is_found = matches!(answer, Answer::Solved | Answer::FellBack);
            memo.gained_energy = if is_found { gained_energy } else { 0.0 };
        }
        Ok(answer)
    }

    fn answer(
        &self,
        state: &SolverState,
        first: &Solution,
        solution: &Solution,
    ) -> Result<Answer, Box<Fault>> {
        if solution.status.is_usable() {
            let is_first = first.status.is_usable();
            return Ok(if is_first { Answer::Solved } else { Answer::FellBack });
        }
        let what = format!("the {} was not solved", self.noun);
        let substitute =
            self.on_fail.substitute(&what, solution, state.has_x, state.failures_in_a_row)?;
        Ok(match substitute {
            Substitute::Last => Answer::Held,
            Substitute::Zero => Answer::Zeroed,
        })
    }

    /// Reports counts, metrics and kept problems.
    pub(crate) fn report(&self, state: &SolverState, report: &mut Report) {
        report.solver_calls += state.calls;
        report.solver_failures += state.failures;
        state.problems.iter().for_each(|problem| problem.report(report));
        report.metric("worst_residual", state.worst_residual);
        if state.calls > 0 {
            report.metric("mean_iterations", state.iterations as f64 / state.calls as f64);
        }
        for (count, what) in [
            (state.inaccurate, "solved at reduced accuracy"),
            (state.fell_back, "answered by the fallback"),
            (state.held, "answered with the last solution"),
            (state.zeroed, "answered with zero"),
        ] {
            if count > 0 {
                let (calls, noun) = (state.calls, self.noun);
                report.notes.push(format!("{count} of {calls} {noun}s were {what}"));
            }
        }
        if state.gains > 0 {
            let (gains, calls, energy) = (state.gains, state.calls, state.gained_energy);
            report.metric("steps_that_gained_energy", gains as f64);
            let note =
                format!("the forces of {gains} of {calls} steps gained {energy:.3e} J in all");
            report.notes.push(note);
        }
    }
}

/// The outputs that every solver block has beside its unknowns.
#[derive(Clone, Copy)]
pub(crate) struct Verdict {
    status: Out<Int>,
    iterations: Out<Int>,
    residual: Out<Real>,
}

impl Verdict {
    /// Of outputs that a block's table declares.
    pub(crate) fn of(status: Out<Int>, iterations: Out<Int>, residual: Out<Real>) -> Self {
        Self { status, iterations, residual }
    }

    /// Writes them.
    pub(crate) fn write(&self, solution: &Solution, outputs: &mut Outputs<'_>) {
        outputs.set(self.status, f64::from(solution.status.code()));
        outputs.set(self.iterations, f64::from(solution.iterations));
        outputs.set(self.residual, residual_output(solution.residual));
    }
}

/// A residual as an output may carry it: infinite if there is none.
pub(crate) fn residual_output(residual: f64) -> f64 {
    if residual.is_nan() { f64::INFINITY } else { residual }
}

/// The functions of [`legwork_block::Block`] that are the same for every block whose state is a
/// [`SolverState`]; the block has a `policy`.
macro_rules! solver_functions {
    () => {
        fn clear_memo(&self, memo: &mut Self::Memo) {
            memo.clear();
        }

        fn update(
            &self,
            _: &Self::Plan,
            cx: &mut legwork_block::UpdateCx<'_, Self>,
        ) -> legwork_block::Outcome {
            cx.state.commit(cx.memo);
            Ok(())
        }

        fn report(&self, _: &Self::Plan, state: &Self::State, report: &mut legwork_block::Report) {
            self.policy().report(state, report);
        }

        fn report_memo(
            &self,
            _: &Self::Plan,
            memo: &Self::Memo,
            report: &mut legwork_block::Report,
        ) {
            memo.report(report);
        }
    };
}
pub(crate) use solver_functions;
