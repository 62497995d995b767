//! What the solver blocks of plain problems share ([`crate::Qp`], [`crate::ConeProgram`],
//! [`crate::Lcp`]): the last solution and the warm start as declared state, policies for failures,
//! counts for the report, kept problems.

use legwork_block::{Int, Out, Outcome, Ports, Real, Report, Time};
use legwork_qp::{Outcome as Solution, Problem, Status};
use serde::{Deserialize, Serialize};

use crate::solvers::contact_solver::{STATUS_DOC, residual_output};
use crate::solvers::on_fail::{OnFail, Substitute};
use crate::solvers::problem_dump::{Dump, KeptProblem};

/// What a block says of its problems and does with failures.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Policy {
    /// Kind of the block.
    pub(crate) block: &'static str,
    /// Its problem: `quadratic program`.
    pub(crate) noun: &'static str,
    pub(crate) on_fail: OnFail,
    pub(crate) dump: Dump,
}

/// The outputs that every block has beside its unknowns.
#[derive(Clone, Copy)]
pub(crate) struct Verdict {
    status: Out<Int>,
    iterations: Out<Int>,
    residual: Out<Real>,
}

/// State: what the next solve starts from, and counts for the report.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct PlainState {
    /// Last solution.
    x: Vec<f64>,
    has_x: bool,
    /// Warm start in the layout of the method; empty if it has none.
    warm: Vec<f64>,
    failures_in_a_row: u32,
    calls: u64,
    failures: u64,
    inaccurate: u64,
    relaxed: u64,
    iterations: u64,
    worst_residual: f64,
    problems: Vec<KeptProblem>,
}

/// From `output` to `update`.
#[derive(Debug, Clone, Default)]
pub struct PlainMemo {
    is_filled: bool,
    /// The run stops with this problem.
    has_stopped: bool,
    is_relaxed: bool,
    x: Vec<f64>,
    warm: Vec<f64>,
    status: Option<StatusOf>,
    problem: Option<KeptProblem>,
}

/// How a solve went.
#[derive(Debug, Clone, Copy)]
struct StatusOf {
    is_usable: bool,
    is_inaccurate: bool,
    iterations: u32,
    residual: f64,
}

/// One solve, as a block did it.
pub(crate) struct Solve<'a> {
    pub(crate) time: Time,
    pub(crate) solution: Solution,
    /// The unknowns: what the method left, then what the policy says.
    pub(crate) x: &'a mut [f64],
    /// The warm start for the next step; empty if the method began cold.
    pub(crate) warm: &'a [f64],
}

impl PlainState {
    /// State for `dim` unknowns and a warm start of `warm_len` numbers.
    pub(crate) fn new(dim: usize, warm_len: usize) -> Self {
        Self { x: vec![0.0; dim], warm: vec![0.0; warm_len], ..Self::default() }
    }

    /// What the method starts from.
    pub(crate) fn warm(&self) -> &[f64] {
        &self.warm
    }
}

impl PlainMemo {
    /// Memory for `dim` unknowns and a warm start of `warm_len` numbers.
    pub(crate) fn new(dim: usize, warm_len: usize) -> Self {
        Self { x: vec![0.0; dim], warm: vec![0.0; warm_len], ..Self::default() }
    }

    /// Empties it.
    pub(crate) fn clear(&mut self) {
        (self.is_filled, self.has_stopped, self.is_relaxed) = (false, false, false);
        self.problem = None;
    }

    /// Notes what the next step begins from, where a kept problem has no start of its own.
    pub(crate) fn keep_warm(&mut self, warm: &[f64]) {
        if self.is_filled {
            self.warm.clear();
            self.warm.extend_from_slice(warm);
        }
    }

    /// Notes that the step was solved under another law of friction.
    pub(crate) fn set_relaxed(&mut self) {
        self.is_relaxed = true;
    }

    /// Hands out a problem that no update has committed, and counts one that stopped the run.
    pub(crate) fn report(&self, report: &mut Report) {
        report.solver_calls += u64::from(self.has_stopped);
        report.solver_failures += u64::from(self.has_stopped);
        self.problem.iter().for_each(|problem| problem.report(report));
    }
}

impl Verdict {
    /// Of outputs that a block's table declares.
    pub(crate) fn of(status: Out<Int>, iterations: Out<Int>, residual: Out<Real>) -> Self {
        Self { status, iterations, residual }
    }

    /// Declares `status`, `iterations` and `residual`; `what` says what is counted.
    pub(crate) fn declare(ports: &mut Ports<'_>, what: &str) -> Self {
        let status = ports.output("status", &Int);
        ports.note_out(status).doc(STATUS_DOC);
        let iterations = ports.output("iterations", &Int);
        ports.note_out(iterations).doc(what);
        let residual = ports.output("residual", &Real);
        ports.note_out(residual).unit("1").doc("relative optimality residual").may_be_infinite();
        Self { status, iterations, residual }
    }

    /// Writes them.
    pub(crate) fn write(&self, solution: &Solution, outputs: &mut legwork_block::Outputs<'_>) {
        outputs.set(self.status, f64::from(solution.status.code()));
        outputs.set(self.iterations, f64::from(solution.iterations));
        outputs.set(self.residual, residual_output(solution.residual));
    }
}

impl Policy {
    /// Applies the policy to the unknowns, keeps the problem if that is asked for, and notes for
    /// the update of this step what was found.
    ///
    /// # Errors
    /// If the policy is to stop.
    pub(crate) fn conclude(
        &self,
        state: &PlainState,
        memo: &mut PlainMemo,
        solve: Solve<'_>,
        problem: impl FnOnce() -> Problem,
    ) -> Outcome {
        let Solve { time, solution, x, warm } = solve;
        let is_usable = solution.status.is_usable();
        let answered = if is_usable { Ok(()) } else { self.answer(state, &solution, x) };
        // A minor step keeps nothing, unless it is the run's end.
        if !time.minor || answered.is_err() {
            let is_kept = self.dump.wants(!is_usable, state.calls, state.problems.len());
            memo.problem = is_kept.then(|| {
                // A method that began cold needs no start for a replay.
                let start = (!warm.is_empty()).then(|| ("start", state.warm.clone()));
                KeptProblem::new(time, self.block, &solution, problem(), start)
            });
        }
        memo.has_stopped = answered.is_err();
        answered?;
        if !time.minor {
            memo.is_filled = true;
            memo.x.copy_from_slice(x);
            memo.warm.clear();
            memo.warm.extend_from_slice(warm);
            memo.status = Some(StatusOf {
                is_usable,
                is_inaccurate: solution.status == Status::Inaccurate,
                iterations: solution.iterations,
                residual: solution.residual,
            });
        }
        Ok(())
    }

    /// Writes the x that the policy asks for.
    fn answer(&self, state: &PlainState, solution: &Solution, x: &mut [f64]) -> Outcome {
        let what = format!("the {} was not solved", self.noun);
        match self.on_fail.substitute(&what, solution, state.has_x, state.failures_in_a_row)? {
            Substitute::Last => x.copy_from_slice(&state.x),
            Substitute::Zero => x.fill(0.0),
        }
        Ok(())
    }

    /// Reports counts, metrics and kept problems.
    pub(crate) fn report(&self, state: &PlainState, report: &mut Report) {
        report.solver_calls += state.calls;
        report.solver_failures += state.failures;
        state.problems.iter().for_each(|problem| problem.report(report));
        report.metric("worst_residual", state.worst_residual);
        if state.calls > 0 {
            report.metric("mean_iterations", state.iterations as f64 / state.calls as f64);
        }
        for (count, what) in [
            (state.inaccurate, "were solved at reduced accuracy"),
            (state.relaxed, "were solved under the convex law of friction"),
            (state.failures, self.on_fail.answered()),
        ] {
            if count > 0 {
                report.notes.push(format!("{count} of {} {}s {what}", state.calls, self.noun));
            }
        }
    }
}

/// Commits what the step found.
pub(crate) fn update(state: &mut PlainState, memo: &PlainMemo) {
    let (true, Some(status)) = (memo.is_filled, memo.status) else { return };
    state.calls += 1;
    state.iterations += u64::from(status.iterations);
    state.inaccurate += u64::from(status.is_inaccurate);
    state.relaxed += u64::from(memo.is_relaxed);
    state.warm.clear();
    state.warm.extend_from_slice(&memo.warm);
    state.problems.extend(memo.problem.clone());
    if status.residual.is_finite() {
        state.worst_residual = state.worst_residual.max(status.residual);
    }
    if status.is_usable {
        state.x.copy_from_slice(&memo.x);
        state.has_x = true;
        state.failures_in_a_row = 0;
    } else {
        state.failures += 1;
        state.failures_in_a_row += 1;
    }
}

/// The functions of [`legwork_block::Block`] that are the same for every plain solver block; the
/// block has a `policy`.
macro_rules! plain_functions {
    () => {
        fn clear_memo(&self, memo: &mut Self::Memo) {
            memo.clear();
        }

        fn update(&self, _: &Self::Plan, cx: &mut legwork_block::UpdateCx<'_, Self>) -> Outcome {
            $crate::solvers::plain_solver::update(cx.state, cx.memo);
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
pub(crate) use plain_functions;
