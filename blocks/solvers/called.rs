//! Problems that a block has solved by another: the functions to which solver blocks are bound.
//!
//! | problem | function | blocks |
//! |---|---|---|
//! | contact | `fn(problem) -> (f)` | all contact solvers, `CoulombContact` |
//! | complementarity | `fn(M, q) -> (z)` | `Lcp` |
//! | quadratic | `fn(H, g, A, lower, upper, x_lower, x_upper) -> (x)` | `Qp`, `ConeProgram` |
//! | with cones | the same with `C`, `c` | `ConeProgram` |
//!
//! Where the caller can do something about a problem that is not solved it also takes `status`,
//! `iterations` and `residual`, which all of these blocks have. The solver's own policy goes first:
//! with `on_fail: Stop`, its default, the run ends; with `Zero` the caller decides.

use legwork_block::{
    Argument, Call, Dim, Fault, Function, Int, Matrix, Ports, Real, ResultOf, Results, Vector,
};
use legwork_qp::{ConeProgram, ContactProblem, Lcp, Outcome as Solution, Status};

use crate::buses::ContactProblemBus;
use crate::contact::friction_cone::is_inscribed;
use crate::solvers::contact_solver::LIST;

/// A result of a call, or the fault of a block inside.
pub(crate) type Called = Result<Solution, Box<Fault>>;

/// How a called solver ended.
#[derive(Clone, Copy)]
pub(crate) struct Verdict {
    status: ResultOf<Int>,
    iterations: ResultOf<Int>,
    residual: ResultOf<Real>,
}

impl Verdict {
    /// Declares the results of every solver.
    pub(crate) fn declare(ports: &mut Ports<'_>, function: Function) -> Self {
        Self {
            status: ports.result(function, "status", &Int),
            iterations: ports.result(function, "iterations", &Int),
            residual: ports.result(function, "residual", &Real),
        }
    }

    /// Reads them.
    pub(crate) fn read(self, results: &Results<'_>) -> Solution {
        Solution {
            status: Status::of_code(results.get(self.status) as f64),
            iterations: results.get(self.iterations) as u32,
            residual: results.get(self.residual),
        }
    }
}

/// Calls a solver for numeric code, which knows no faults: the first one is kept in `fault`, and
/// what is asked after it is not solved.
pub(crate) fn catch(fault: &mut Option<Box<Fault>>, solve: impl FnOnce() -> Called) -> Solution {
    let failed = Solution { status: Status::NumericalTrouble, iterations: 0, residual: f64::NAN };
    if fault.is_some() {
        return failed;
    }
    solve().unwrap_or_else(|found| {
        *fault = Some(found);
        failed
    })
}

/// A function that solves contact problems.
#[derive(Clone, Copy)]
pub struct ContactFunction {
    pub(crate) function: Function,
    pub(crate) problem: Argument<ContactProblemBus>,
    pub(crate) forces: ResultOf<Vector>,
}

impl ContactFunction {
    /// Declares it for the problem `bus` of `count` contacts.
    pub(crate) fn declare(
        ports: &mut Ports<'_>,
        function: Function,
        bus: &ContactProblemBus,
        count: &Dim,
    ) -> Self {
        let problem = ports.argument(function, "problem", bus);
        let forces = ports.result(function, "f", &Vector(3 * count.clone()));
        ports.note_result(forces).frame("contact");
        ports.function_hint(
            function,
            &format!("bind a solver of contact problems: {} or CoulombContact", *LIST),
        );
        Self { function, problem, forces }
    }

    /// Writes all of a problem but J and the factor; its contact i is number `at(i)` of the
    /// function's, and others are not active.
    pub(crate) fn write(
        &self,
        call: &mut Call<'_>,
        problem: &ContactProblem<'_>,
        at: impl Fn(usize) -> usize,
    ) {
        let (rows, shift) = (problem.dim(), problem.diagonal_shift());
        let row_at = |row: usize| 3 * at(row / 3) + row % 3;
        let [inertia, bias, compliance, friction, active, gap] = call.leaves(
            self.problem,
            [
                ContactProblemBus::INVERSE_INERTIA,
                ContactProblemBus::BIAS,
                ContactProblemBus::COMPLIANCE,
                ContactProblemBus::FRICTION,
                ContactProblemBus::ACTIVE,
                ContactProblemBus::GAP,
            ],
        );
        for values in [&mut *inertia, bias, compliance, friction, active, gap] {
            values.fill(0.0);
        }
        let all = bias.len();
        for (j, column) in problem.inverse_inertia.chunks_exact(rows.max(1)).enumerate() {
            let to = &mut inertia[row_at(j) * all..][..all];
            column.iter().enumerate().for_each(|(i, value)| to[row_at(i)] = *value);
            bias[row_at(j)] = problem.bias[j];
            compliance[row_at(j)] = problem.compliance.get(j).copied().unwrap_or(0.0) + shift;
        }
        for (i, mu) in problem.friction.iter().enumerate() {
            friction[at(i)] = *mu;
            active[at(i)] = f64::from(u8::from(problem.is_active(i)));
        }
        let is_inscribed = f64::from(u8::from(is_inscribed(problem.cone)));
        call.leaf(self.problem, ContactProblemBus::FORCE_SCALE)[0] = problem.force_scale;
        call.leaf(self.problem, ContactProblemBus::SIDES)[0] = problem.cone.sides() as f64;
        call.leaf(self.problem, ContactProblemBus::IS_INSCRIBED)[0] = is_inscribed;
        call.leaf(self.problem, ContactProblemBus::IS_COULOMB)[0] = 0.0;
    }

    /// Runs it and reads the forces of contact i from number `at(i)`.
    pub(crate) fn run<'c>(
        &self,
        call: &'c mut Call<'_>,
        at: impl Fn(usize) -> usize,
        forces: &mut [f64],
    ) -> Result<Results<'c>, Box<Fault>> {
        let results = call.run()?;
        let all = results.get(self.forces);
        for (i, force) in forces.chunks_exact_mut(3).enumerate() {
            force.copy_from_slice(&all[3 * at(i)..3 * at(i) + 3]);
        }
        Ok(results)
    }
}

/// A function that solves linear complementarity problems.
#[derive(Clone, Copy)]
pub(crate) struct LcpFunction {
    matrix: Argument<Matrix>,
    vector: Argument<Vector>,
    z: ResultOf<Vector>,
    verdict: Verdict,
}

impl LcpFunction {
    /// Declares it for `n` pairs.
    pub(crate) fn declare(ports: &mut Ports<'_>, function: Function, n: &Dim) -> Self {
        let matrix = ports.argument(function, "M", &Matrix::of(n, n));
        let vector = ports.argument(function, "q", &Vector::of(n));
        let z = ports.result(function, "z", &Vector::of(n));
        ports.function_hint(function, "bind a solver of complementarity problems: Lcp");
        Self { matrix, vector, z, verdict: Verdict::declare(ports, function) }
    }

    /// Solves a problem whose pair i is number `at(i)` of the function's; others have `w = 1`.
    pub(crate) fn solve(
        &self,
        call: &mut Call<'_>,
        lcp: &Lcp<'_>,
        at: impl Fn(usize) -> usize,
        z: &mut [f64],
    ) -> Called {
        let n = lcp.dim();
        let vector = call.argument(self.vector);
        let all = vector.len();
        vector.fill(1.0);
        lcp.vector().iter().enumerate().for_each(|(i, value)| vector[at(i)] = *value);
        let matrix = call.argument(self.matrix);
        identity(matrix, all);
        for (j, column) in lcp.matrix().chunks_exact(n.max(1)).enumerate() {
            for (i, value) in column.iter().enumerate() {
                matrix[at(j) * all + at(i)] = *value;
            }
        }
        let results = call.run()?;
        let found = results.get(self.z);
        z.iter_mut().enumerate().for_each(|(i, z)| *z = found[at(i)]);
        Ok(self.verdict.read(&results))
    }
}

/// A function that solves quadratic programs, with or without second-order cones of three rows.
#[derive(Clone, Copy)]
pub(crate) struct ProgramFunction {
    hessian: Argument<Matrix>,
    gradient: Argument<Vector>,
    rows: Argument<Matrix>,
    row_bounds: [Argument<Vector>; 2],
    bounds: [Argument<Vector>; 2],
    cones: Option<(Argument<Matrix>, Argument<Vector>)>,
    x: ResultOf<Vector>,
    verdict: Verdict,
}

impl ProgramFunction {
    /// Declares it for `n` unknowns, `m` rows and, if there are cones, so many.
    pub(crate) fn declare(
        ports: &mut Ports<'_>,
        function: Function,
        (n, m): (&Dim, &Dim),
        cones: Option<&Dim>,
    ) -> Self {
        let hessian = ports.argument(function, "H", &Matrix::of(n, n));
        let gradient = ports.argument(function, "g", &Vector::of(n));
        let rows = ports.argument(function, "A", &Matrix::of(m, n));
        let mut bound = |name: &'static str, dim: &Dim| {
            let bound = ports.argument(function, name, &Vector::of(dim));
            ports.note_argument(bound).may_be_infinite();
            bound
        };
        let row_bounds = [bound("lower", m), bound("upper", m)];
        let bounds = [bound("x_lower", n), bound("x_upper", n)];
        let cones = cones.map(|count| {
            let rows = 3 * count.clone();
            let matrix = ports.argument(function, "C", &Matrix::of(&rows, n));
            (matrix, ports.argument(function, "c", &Vector::of(&rows)))
        });
        let x = ports.result(function, "x", &Vector::of(n));
        ports.function_hint(
            function,
            match cones {
                None => "bind a solver of quadratic programs: Qp or ConeProgram",
                Some(_) => "bind a solver of programs with second-order cones: ConeProgram",
            },
        );
        let verdict = Verdict::declare(ports, function);
        Self { hessian, gradient, rows, row_bounds, bounds, cones, x, verdict }
    }

    /// How many rows the function's programs have.
    pub(crate) fn row_count(&self, call: &mut Call<'_>) -> usize {
        call.argument(self.row_bounds[0]).len()
    }

    /// Solves a program whose unknown j is number `unknown(j)` of the function's and whose row i is
    /// number `row(i)`; its cones come first. Other unknowns are zero, other rows without bounds.
    pub(crate) fn solve(
        &self,
        call: &mut Call<'_>,
        program: &ConeProgram<'_>,
        unknown: impl Fn(usize) -> usize,
        row: impl Fn(usize) -> usize,
        x: &mut [f64],
    ) -> Called {
        let (qp, n, m) = (&program.linear, program.dim(), program.row_count());
        let gradient = call.argument(self.gradient);
        let all = gradient.len();
        gradient.fill(0.0);
        qp.gradient.iter().enumerate().for_each(|(j, value)| gradient[unknown(j)] = *value);
        let hessian = call.argument(self.hessian);
        identity(hessian, all);
        for (j, column) in qp.hessian.chunks_exact(n.max(1)).enumerate() {
            for (i, value) in column.iter().enumerate() {
                hessian[unknown(j) * all + unknown(i)] = *value;
            }
        }
        let of = [(self.bounds[0], f64::NEG_INFINITY), (self.bounds[1], f64::INFINITY)];
        for ((bound, free), given) in of.into_iter().zip([qp.lower, qp.upper]) {
            let bound = call.argument(bound);
            bound.fill(0.0);
            (0..n).for_each(|j| bound[unknown(j)] = given.get(j).copied().unwrap_or(free));
        }

        let of = [(self.row_bounds[0], f64::NEG_INFINITY), (self.row_bounds[1], f64::INFINITY)];
        for ((bound, free), given) in of.into_iter().zip([qp.row_lower, qp.row_upper]) {
            let bound = call.argument(bound);
            bound.fill(free);
            given.iter().enumerate().for_each(|(i, value)| bound[row(i)] = *value);
        }
        let rows = call.argument(self.rows);
        let all_rows = rows.len() / all.max(1);
        rows.fill(0.0);
        for (j, column) in qp.rows.chunks_exact(m.max(1)).enumerate() {
            for (i, value) in column.iter().enumerate() {
                rows[unknown(j) * all_rows + row(i)] = *value;
            }
        }

        // A cone of no row of the program holds as `1 ≥ 0`.
        if let Some((matrix, offset)) = self.cones {
            let r = program.cone_row_count();
            let offset = call.argument(offset);
            let all_rows = offset.len();
            offset.fill(0.0);
            offset.iter_mut().step_by(3).for_each(|first| *first = 1.0);
            offset[..r].copy_from_slice(program.cone_offset);
            let matrix = call.argument(matrix);
            matrix.fill(0.0);
            for (j, column) in program.cone_rows.chunks_exact(r.max(1)).enumerate() {
                matrix[unknown(j) * all_rows..][..r].copy_from_slice(column);
            }
        }

        let results = call.run()?;
        let found = results.get(self.x);
        x.iter_mut().enumerate().for_each(|(j, x)| *x = found[unknown(j)]);
        Ok(self.verdict.read(&results))
    }
}

/// Writes the identity of so many columns.
fn identity(matrix: &mut [f64], n: usize) {
    matrix.fill(0.0);
    matrix.iter_mut().step_by(n + 1).for_each(|diagonal| *diagonal = 1.0);
}
