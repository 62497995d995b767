//! `PrincipalPivoting`: the principal pivoting method as a contact solver.

use legwork_block::Outcome;
use legwork_qp::{
    ConeShape, ContactProblem, ContactSolver, Outcome as Solution, PrincipalPivotingSolver,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::dynamics::wire_factor::WireFactor;
use crate::solvers::contact_solver::{Method, OnFail, ProblemSize, SolverBlock, solver_block};
use crate::solvers::problem_dump::Dump;

/// Solves the contact problem by principal pivoting on pyramids of friction. The unknowns are the
/// edges of the pyramids.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `problem` | `ContactProblem` | | with a friction pyramid |
/// | out `f` | 3k | N | contact forces on the robot, contact axes |
/// | out `status` | | 1 | 0 solved, 1 inaccurate, else not: see [`solvers`](crate::solvers) |
/// | out `iterations` | | 1 | pivots |
/// | out `residual` | | 1 | residual relative to the force scale; infinite if unknown |
///
/// One unknown per edge of each pyramid; the set of edges that carry force changes by one a pivot
/// until none pulls and none lets its contact approach. Exact up to rounding, and fast where few
/// edges carry force. The columns are made from J and the factor of M on the bus: the matrix of the
/// complementarity problem is never formed, and of G only the judge of the answer hears. It starts
/// from the edges of the last step. What pivoting cannot finish is handed to Lemke's method. The
/// circular cone is refused. Where `on_fail` gave the forces, status, iterations and residual are
/// those of the solver that was asked last.
///
/// Computed at major steps and held between them, unless `in_minor_steps`.
///
/// Reference: S. Zapolsky, E. Drumwright, *Inverse dynamics with rigid contact and friction*
/// (2017), algorithm 2; R. W. Cottle, J.-S. Pang, R. E. Stone, *The Linear Complementarity Problem*
/// (1992), sec. 4.2.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("x-aliases" = ["LCP", "Murty"]))]
pub struct PrincipalPivoting {
    /// Start without pressing edges each time; default false.
    pub cold: bool,
    /// What to do when it does not solve: `Stop` (the default), `HoldLast(max: 5)`, `Zero`,
    /// `Fallback(ActiveSetQp())`.
    pub on_fail: OnFail,
    /// Which problems to keep for the files of a run: `Never`, `Failures(max: 1)` (the default),
    /// `Every(n: 100, max: 10)`.
    pub dump: Dump,
    /// Solve anew in minor steps; default false.
    pub in_minor_steps: bool,
}

const NAME: &str = "PrincipalPivoting";

/// The method with J and the factor of M that came over the wire.
struct Pivots {
    solver: PrincipalPivotingSolver,
    jacobian: Vec<f64>,
    factor: WireFactor,
    /// Flags of a cold start.
    flags: Vec<f64>,
    is_cold: bool,
}

impl Method for Pivots {
    fn name(&self) -> &'static str {
        NAME
    }

    fn accepts(&self, cone: &ConeShape) -> bool {
        self.solver.accepts(cone)
    }

    fn warm_len(&self, contact_count: usize, sides: usize) -> usize {
        if self.is_cold { 0 } else { contact_count * sides }
    }

    fn uses_mass(&self) -> bool {
        true
    }

    fn read_mass(&mut self, jacobian: &[f64], factor: &[f64]) -> Outcome {
        self.jacobian.copy_from_slice(jacobian);
        self.factor.read(factor)
    }

    fn solve(
        &mut self,
        problem: &ContactProblem<'_>,
        warm: &mut [f64],
        forces: &mut [f64],
    ) -> Solution {
        let Self { solver, jacobian, factor, flags, is_cold } = self;
        let mut start = warm;
        if *is_cold {
            flags.clear();
            flags.resize(problem.contact_count() * problem.cone.sides(), 0.0);
            start = flags;
        }
        solver.solve_with_mass(problem, jacobian, factor, start, forces)
    }
}

impl SolverBlock for PrincipalPivoting {
    fn name(&self) -> &'static str {
        NAME
    }

    fn accepts_circular(&self) -> bool {
        false
    }

    fn method(&self, size: ProblemSize) -> Box<dyn Method> {
        let ProblemSize { contact_count, velocity_dim } = size;
        Box::new(Pivots {
            solver: PrincipalPivotingSolver::with_velocities(contact_count, 4, velocity_dim),
            jacobian: vec![0.0; 3 * contact_count * velocity_dim],
            factor: WireFactor::new(velocity_dim),
            flags: Vec::with_capacity(4 * contact_count),
            is_cold: self.cold,
        })
    }

    fn on_fail(&self) -> &OnFail {
        &self.on_fail
    }

    fn dump(&self) -> Dump {
        self.dump
    }

    fn in_minor_steps(&self) -> bool {
        self.in_minor_steps
    }
}

solver_block!(PrincipalPivoting);
