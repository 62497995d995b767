//! Algebraic loops closed by `Solve` blocks (semantics 5.3).

mod coupled;
mod line;
mod narrow;
mod seek;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use legwork_block::{Fault, Report, SolveFailure};
use legwork_program::Loop;

use super::engine::Engine;
use crate::fault::{Phase, RunFault};
use seek::{Equations, Outcome, Seeker, largest};

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
pub(super) struct LoopWork(Seeker);

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
        Self(Seeker::new(found.unknowns.iter().map(|it| it.output.len as usize).sum()))
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
        let outcome = self.seek(index, found, &mut work.0, minor, offset);
        self.work.loops[index] = Some(work);
        outcome
    }

    /// Solves for the unknowns and counts the outcome.
    fn seek(
        &mut self,
        index: usize,
        found: &Loop,
        seeker: &mut Seeker,
        minor: bool,
        offset: f64,
    ) -> Result<(), RunFault> {
        read(found, &self.state.arena, &mut seeker.z);
        residual(found, &self.state.arena, &seeker.z, &mut seeker.r);
        let memory = &self.state.loops[index];
        let known = memory.solves > 0 && !memory.failed_now;
        let outcome = if known && seeker.r.iter().all(|r| *r == 0.0) {
            seeker.iterations = 0;
            Ok(Outcome::Solved)
        } else {
            let rules = || found.unknowns.iter().map(|unknown| &unknown.rule);
            seeker.tolerance = rules().map(|rule| rule.tolerance).fold(f64::INFINITY, f64::min);
            seeker.limit = rules().map(|rule| rule.limit).fold(u32::MAX, u32::min);
            let mut equations = LoopEquations { engine: self, found, minor, offset, refused: None };
            match seeker.seek(&mut equations)? {
                Outcome::Solved => Ok(Outcome::Solved),
                other => Err((other, equations.refused)),
            }
        };
        let memory = &mut self.state.loops[index];
        memory.iterations += u64::from(seeker.iterations);
        memory.solves += 1;
        let converged = outcome.is_ok();
        if let Err((why, refused)) = outcome {
            memory.failures += 1;
            self.not_solved(index, found, seeker, (why, refused), minor, offset)?;
        }
        if !minor {
            self.state.loops[index].failed_now = !converged;
            read(found, &self.state.arena, &mut seeker.z);
            self.state.loops[index].found.copy_from_slice(&seeker.z);
        }
        Ok(())
    }

    /// What the block declares for a loop without solution.
    fn not_solved(
        &mut self,
        index: usize,
        found: &Loop,
        seeker: &mut Seeker,
        (why, refused): (Outcome, Option<RunFault>),
        minor: bool,
        offset: f64,
    ) -> Result<(), RunFault> {
        let memory = &self.state.loops[index];
        let policy = found.unknowns[0].rule.on_fail;
        match policy {
            SolveFailure::HoldLast(most) if memory.failures_in_a_row < most => {
                seeker.z.copy_from_slice(&memory.iterate);
            }
            SolveFailure::Zero => seeker.z.fill(0.0),
            SolveFailure::Stop | SolveFailure::HoldLast(_) => {
                let message = without_solution(why, seeker);
                let phase = if minor { Phase::Integrate } else { Phase::Output };
                let fault = self.fault_at(found.unknowns[0].node, phase, Fault { message });
                let hint = |refused: RunFault| {
                    format!(
                        "`{}` refused where it was looked for: {}",
                        refused.block, refused.fault
                    )
                };
                return Err(RunFault { hints: refused.map(hint).into_iter().collect(), ..fault });
            }
        }
        write(found, &mut self.state.arena, &seeker.z);
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

/// The equations of a loop.
struct LoopEquations<'a> {
    engine: &'a mut Engine,
    found: &'a Loop,
    minor: bool,
    offset: f64,
    /// First fault of a block at a trial.
    refused: Option<RunFault>,
}

impl Equations for LoopEquations<'_> {
    type Stop = RunFault;

    /// If a block refuses an iterate, that iterate is not usable.
    fn residual(&mut self, z: &[f64], r: &mut [f64]) -> Result<bool, RunFault> {
        write(self.found, &mut self.engine.state.arena, z);
        match self.engine.run_loop(self.found, self.minor, self.offset) {
            Ok(()) => {}
            Err(fault) if self.engine.stop.heard => return Err(fault),
            Err(fault) => {
                self.refused.get_or_insert(fault);
                r.fill(f64::NAN);
                return Ok(false);
            }
        }
        residual(self.found, &self.engine.state.arena, z, r);
        Ok(r.iter().all(|r| r.is_finite()))
    }
}

/// Message for a loop without a solution.
#[cold]
fn without_solution(why: Outcome, seeker: &Seeker) -> String {
    let worst = largest(&seeker.r);
    if worst == f64::INFINITY {
        return format!(
            "the algebraic loop has no solution that was found: u is not finite at any z of {} \
             evaluations",
            seeker.evaluations
        );
    }
    let place = (0..seeker.r.len()).find(|&i| seeker.r[i].abs() == worst).unwrap_or(0);
    let z = seeker.z.get(place).copied().unwrap_or(0.0);
    let which = if seeker.r.len() > 1 { format!(" in number {place}") } else { String::new() };
    let mut text = match why {
        Outcome::Jumps { at, sides: (left, right) } => format!(
            "the algebraic loop has no solution: u − z goes from {left:.3e} to {right:.3e} at \
             z = {at:?} without being zero"
        ),
        _ if seeker.r.len() == 1 => {
            "the algebraic loop has no solution: u − z does not change its \
             sign, near the start or far from it"
                .to_owned()
        }
        _ => "the algebraic loop has no solution that was found".to_owned(),
    };
    let count = seeker.evaluations;
    let _ = write!(text, "; the smallest |u − z| of {count} evaluations is ");
    let _ = match worst {
        0.0 => {
            write!(text, "below rounding, at z = {z:?}: u − z approaches zero without reaching it")
        }
        _ => write!(text, "{worst:.3e}{which}, at z = {z:?}"),
    };
    text
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
