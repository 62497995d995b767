//! Algebraic loops that `Solve` blocks close (semantics 5.3), by Newton's method.

use legwork_block::{Fault, Report, SolveFailure};
use legwork_program::Loop;

use super::engine::Engine;
use crate::fault::{Phase, RunFault};
use legwork_linalg::Lu;

/// Change of an unknown z for the difference quotient: this times 1 + |z|.
const DIFFERENCE: f64 = 1.5e-8;

/// How an algebraic loop has fared.
#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct LoopMemory {
    /// The last solution that an update committed.
    pub(super) iterate: Vec<f64>,
    /// The solution of this major step.
    found: Vec<f64>,
    /// Major steps in a row without a solution.
    failures_in_a_row: u32,
    failed_now: bool,
    pub(super) solves: u64,
    pub(super) failures: u64,
    pub(super) iterations: u64,
}

/// Work memory of a loop.
pub(super) struct LoopWork {
    z: Vec<f64>,
    residual: Vec<f64>,
    /// `∂u/∂z`, column-major.
    jacobian: Vec<f64>,
    lu: Lu,
    step: Vec<f64>,
}

impl LoopMemory {
    pub(super) fn new(found: &Loop) -> Self {
        let mut iterate = Vec::new();
        for unknown in &found.unknowns {
            let end = iterate.len() + unknown.output.len as usize;
            iterate.extend_from_slice(&unknown.rule.initial);
            iterate.resize(end, 0.0);
        }
        Self { found: iterate.clone(), iterate, ..Self::default() }
    }

    /// Whether `other` is of a loop of as many unknowns.
    pub(super) fn fits(&self, other: &Self) -> bool {
        (self.iterate.len(), self.found.len()) == (other.iterate.len(), other.found.len())
    }

    /// What a solve begins with becomes this major step's solution.
    pub(super) fn commit(&mut self) {
        self.iterate.copy_from_slice(&self.found);
        self.failures_in_a_row = if self.failed_now { self.failures_in_a_row + 1 } else { 0 };
    }
}

impl LoopWork {
    pub(super) fn new(found: &Loop) -> Self {
        let n = found.unknowns.iter().map(|unknown| unknown.output.len as usize).sum();
        Self {
            z: vec![0.0; n],
            residual: vec![0.0; n],
            jacobian: vec![0.0; n * n],
            lu: Lu::new(n),
            step: vec![0.0; n],
        }
    }
}

impl Engine {
    /// Counts of the loop that `node` closes; a loop of several blocks is counted with its first.
    pub(super) fn report_loop(&self, node: usize, report: &mut Report) {
        for (found, memory) in self.plan.program.loops.iter().zip(&self.state.loops) {
            if found.unknowns[0].node.index() == node {
                report.solver_calls += memory.solves;
                report.solver_failures += memory.failures;
                report.metric("iterations", memory.iterations as f64);
            }
        }
    }

    /// Writes the committed iterate of unknown `unknown` of loop `index` where its output lives.
    pub(super) fn guess(&mut self, index: usize, unknown: usize) {
        let found = &self.plan.program.loops[index];
        let before: usize =
            found.unknowns[..unknown].iter().map(|unknown| unknown.output.len as usize).sum();
        let slot = found.unknowns[unknown].output;
        self.state.arena[slot.range()]
            .copy_from_slice(&self.state.loops[index].iterate[before..before + slot.len as usize]);
    }

    /// Seeks the unknowns of a loop; its tasks have run once from the committed iterate.
    pub(super) fn close_loop(
        &mut self,
        index: usize,
        minor: bool,
        offset: f64,
    ) -> Result<(), RunFault> {
        let program = std::sync::Arc::clone(&self.plan.program);
        let found = &program.loops[index];
        if !self.is_on(program.nodes[found.unknowns[0].node].gate) {
            return Ok(());
        }
        let Some(mut work) = self.work.loops[index].take() else { return Ok(()) };
        let outcome = self.newton(found, &mut work, minor, offset);
        let memory = &mut self.state.loops[index];
        let outcome = match outcome {
            Ok(solved) => {
                memory.iterations += u64::from(solved.iterations);
                memory.solves += 1;
                if solved.converged {
                    Ok(())
                } else {
                    memory.failures += 1;
                    self.not_solved(index, found, &mut work, &solved, minor, offset)
                }
                .map(|()| {
                    if !minor {
                        self.state.loops[index].failed_now = !solved.converged;
                        read(found, &self.state.arena, &mut work.z);
                        self.state.loops[index].found.copy_from_slice(&work.z);
                    }
                })
            }
            Err(fault) => Err(fault),
        };
        self.work.loops[index] = Some(work);
        outcome
    }

    fn newton(
        &mut self,
        found: &Loop,
        work: &mut LoopWork,
        minor: bool,
        offset: f64,
    ) -> Result<Solved, RunFault> {
        let (tolerance, limit) =
            found.unknowns.iter().fold((f64::INFINITY, u32::MAX), |(tolerance, limit), unknown| {
                (tolerance.min(unknown.rule.tolerance), limit.min(unknown.rule.limit))
            });
        let n = work.z.len();
        read(found, &self.state.arena, &mut work.z);
        let mut iterations = 0;
        loop {
            residual(found, &self.state.arena, &work.z, &mut work.residual);
            let error = work
                .residual
                .iter()
                .zip(&work.z)
                .map(|(r, z)| r.abs() / (1.0 + z.abs()))
                .fold(0.0, |a: f64, b| if b.is_nan() { f64::NAN } else { a.max(b) });
            if error <= tolerance || iterations == limit || error.is_nan() {
                return Ok(Solved { converged: error <= tolerance, error, iterations });
            }
            iterations += 1;
            for j in 0..n {
                let z = work.z[j];
                let step = DIFFERENCE * (1.0 + z.abs());
                write_one(found, &mut self.state.arena, j, z + step);
                self.run_loop(found, minor, offset)?;
                write_one(found, &mut self.state.arena, j, z);
                residual(found, &self.state.arena, &work.z, &mut work.step);
                let column = &mut work.jacobian[j * n..(j + 1) * n];
                for ((slope, after), before) in
                    column.iter_mut().zip(&work.step).zip(&work.residual)
                {
                    *slope = (after - before) / step;
                }
            }
            // (1 − ∂u/∂z) δ = u − z.
            if work.lu.factor_shifted(1.0, &work.jacobian).is_err() {
                return Ok(Solved { converged: false, error, iterations });
            }
            work.step.copy_from_slice(&work.residual);
            work.lu.solve(&mut work.step);
            for (z, step) in work.z.iter_mut().zip(&work.step) {
                *z += step;
            }
            write(found, &mut self.state.arena, &work.z);
            self.run_loop(found, minor, offset)?;
        }
    }

    /// What the block declares for a loop without solution.
    fn not_solved(
        &mut self,
        index: usize,
        found: &Loop,
        work: &mut LoopWork,
        solved: &Solved,
        minor: bool,
        offset: f64,
    ) -> Result<(), RunFault> {
        let memory = &self.state.loops[index];
        let policy = found.unknowns[0].rule.on_fail;
        match policy {
            SolveFailure::HoldLast(most) if memory.failures_in_a_row < most => {
                work.z.copy_from_slice(&memory.iterate);
            }
            SolveFailure::Zero => work.z.fill(0.0),
            SolveFailure::Stop | SolveFailure::HoldLast(_) => {
                let message = format!(
                    "the algebraic loop has no solution after {} iterations: residual {:.3e} \
                     relative to 1 + |z|",
                    solved.iterations, solved.error
                );
                let phase = if minor { Phase::Integrate } else { Phase::Output };
                return Err(self.fault_at(found.unknowns[0].node, phase, Fault { message }));
            }
        }
        write(found, &mut self.state.arena, &work.z);
        self.run_loop(found, minor, offset)
    }

    /// Runs what lies between the unknowns and what they are compared with.
    fn run_loop(&mut self, found: &Loop, minor: bool, offset: f64) -> Result<(), RunFault> {
        for &task in &found.tasks {
            let task = task.index();
            let runs = if minor {
                self.plan.tasks[task].minor
            } else {
                self.work.due[self.plan.tasks[task].rate as usize]
            };
            if runs {
                self.output(task, minor, offset)?;
            }
        }
        Ok(())
    }
}

/// What came of Newton's method.
struct Solved {
    converged: bool,
    error: f64,
    iterations: u32,
}

fn read(found: &Loop, arena: &[f64], z: &mut [f64]) {
    let mut at = 0;
    for unknown in &found.unknowns {
        let own = &arena[unknown.output.range()];
        z[at..at + own.len()].copy_from_slice(own);
        at += own.len();
    }
}

fn write(found: &Loop, arena: &mut [f64], z: &[f64]) {
    let mut at = 0;
    for unknown in &found.unknowns {
        let own = &mut arena[unknown.output.range()];
        own.copy_from_slice(&z[at..at + own.len()]);
        at += own.len();
    }
}

fn write_one(found: &Loop, arena: &mut [f64], j: usize, value: f64) {
    let mut at = 0;
    for unknown in &found.unknowns {
        let len = unknown.output.len as usize;
        if j < at + len {
            arena[unknown.output.start as usize + j - at] = value;
            return;
        }
        at += len;
    }
}

/// `u − z`.
fn residual(found: &Loop, arena: &[f64], z: &[f64], out: &mut [f64]) {
    let mut at = 0;
    for unknown in &found.unknowns {
        for u in &arena[unknown.input.range()] {
            out[at] = u - z[at];
            at += 1;
        }
    }
}
