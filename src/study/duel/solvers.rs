//! Solvers by name, for problems of any kind they can be made to take.

use legwork_qp::complementarity::LemkeProgram;
use legwork_qp::kkt::QpMultipliers;
use legwork_qp::{
    AcceleratedGradient, ClarabelSolver, ContactProblemData, ContactSolver, GeneralActiveSet, Lcp,
    LcpData, Lemke, LemkeSolver, Outcome, PrincipalPivotingSolver, Problem, ProjectedGaussSeidel,
    PyramidActiveSet, QpData, Status,
};

/// What a solver returned.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    /// Its status.
    pub outcome: Outcome,
    /// Unknowns; forces of a contact problem.
    pub x: Vec<f64>,
    /// Multipliers of linear rows; empty for contact and complementarity problems.
    pub rows: Vec<f64>,
    /// Multipliers of bounds; the same.
    pub bounds: Vec<f64>,
    /// Multipliers of cone rows; empty unless the problem has cones.
    pub cones: Vec<f64>,
}

impl Answer {
    /// No answer.
    pub(super) fn refused(status: Status) -> Self {
        Self {
            outcome: Outcome { status, iterations: 0, residual: f64::NAN },
            x: Vec::new(),
            rows: Vec::new(),
            bounds: Vec::new(),
            cones: Vec::new(),
        }
    }

    /// True if status, iterations and all numbers are equal to the last bit.
    #[must_use]
    pub(super) fn has_bits_of(&self, other: &Self) -> bool {
        let same = |a: &[f64], b: &[f64]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
        };
        self.outcome.status == other.outcome.status
            && self.outcome.iterations == other.outcome.iterations
            && same(&self.x, &other.x)
            && same(&self.rows, &other.rows)
            && same(&self.bounds, &other.bounds)
            && same(&self.cones, &other.cones)
    }
}

/// A solver in a duel.
pub(super) trait DuelSolver {
    /// Its name in tables.
    fn name(&self) -> String;

    /// Solves from a cold start; [`Status::UnsupportedCone`] if the problem is not of a kind that
    /// the method can take.
    fn solve(&mut self, problem: &Problem) -> Answer;
}

/// The names that [`make`] knows.
///
/// | name | method | contact | qp | cone_program | lcp |
/// |---|---|---|---|---|---|
/// | `active_set` | Goldfarb-Idnani | pyramids | yes | without cones | symmetric |
/// | `clarabel` | interior point | all | yes | yes | monotone |
/// | `pgs` | projected Gauss-Seidel | all | | | |
/// | `apgd` | accelerated projected gradient | all | | | |
/// | `lemke` | Lemke's pivoting | pyramids | yes | without cones | yes |
/// | `ppm` | principal pivoting | pyramids | | | |
/// | `osqp` | operator splitting (feature `osqp`) | pyramids | yes | without cones | monotone |
///
/// The pivoting methods leave out pyramids with more than 3000 generators together.
pub(super) fn solver_names() -> &'static [&'static str] {
    if cfg!(feature = "osqp") {
        &["active_set", "clarabel", "pgs", "apgd", "lemke", "ppm", "osqp"]
    } else {
        &["active_set", "clarabel", "pgs", "apgd", "lemke", "ppm"]
    }
}

/// The solver with this name at its tightest useful tolerance; `None` if no solver has it.
pub(super) fn make(name: &str) -> Option<Box<dyn DuelSolver>> {
    let method = match name {
        "active_set" => Method::ActiveSet(Box::default(), Box::default()),
        "clarabel" => Method::Clarabel(Box::new(ClarabelSolver::new(1e-10, 200))),
        "pgs" => Method::Contact(Box::new(ProjectedGaussSeidel::new(0, 10_000, 1e-10))),
        "apgd" => Method::Contact(Box::new(AcceleratedGradient::new(0, 10_000, 1e-10))),
        "lemke" => Method::Lemke(Box::default(), Box::default(), Box::new(LemkeSolver::new(0, 0))),
        "ppm" => Method::Pivoting(Box::new(PrincipalPivotingSolver::new(0, 0))),
        #[cfg(feature = "osqp")]
        "osqp" => Method::Osqp(Box::new(legwork_qp::OsqpSolver::new(1e-8, 50_000))),
        _ => return None,
    };
    Some(Box::new(Named { name: name.to_owned(), method }))
}

/// Generators of friction pyramids beyond which a pivoting method does not take a contact problem:
/// its dense matrices would not fit into memory.
const MOST_GENERATORS: usize = 3000;

struct Named {
    name: String,
    method: Method,
}

enum Method {
    ActiveSet(Box<GeneralActiveSet>, Box<PyramidActiveSet>),
    Clarabel(Box<ClarabelSolver>),
    Contact(Box<dyn ContactSolver>),
    Pivoting(Box<PrincipalPivotingSolver>),
    Lemke(Box<Lemke>, Box<LemkeProgram>, Box<LemkeSolver>),
    #[cfg(feature = "osqp")]
    Osqp(Box<legwork_qp::OsqpSolver>),
}

impl DuelSolver for Named {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn solve(&mut self, problem: &Problem) -> Answer {
        match (problem, &mut self.method) {
            (Problem::Contact(data), Method::Pivoting(_) | Method::Lemke(..))
                if data.friction.len() * data.cone.sides() > MOST_GENERATORS =>
            {
                Answer::refused(Status::UnsupportedCone)
            }
            (Problem::Contact(data), Method::Contact(solver)) => contact(&mut **solver, data),
            (Problem::Contact(data), Method::Pivoting(solver)) => contact(&mut **solver, data),
            (Problem::Contact(data), Method::ActiveSet(_, solver)) => contact(&mut **solver, data),
            (Problem::Contact(data), Method::Clarabel(solver)) => contact(&mut **solver, data),
            (Problem::Contact(data), Method::Lemke(_, _, solver)) => contact(&mut **solver, data),
            #[cfg(feature = "osqp")]
            (Problem::Contact(data), Method::Osqp(solver)) => contact(&mut **solver, data),
            (_, Method::Contact(_) | Method::Pivoting(_)) => {
                Answer::refused(Status::UnsupportedCone)
            }
            (Problem::ConeProgram(data), Method::Clarabel(solver)) => {
                let Ok(program) = data.view() else {
                    return Answer::refused(Status::InvalidData);
                };
                let mut x = vec![0.0; program.dim()];
                let outcome = solver.solve_cone_program(&program, &mut x);
                let multipliers = solver.multipliers();
                Answer {
                    outcome,
                    x,
                    rows: multipliers.rows.to_vec(),
                    bounds: multipliers.bounds.to_vec(),
                    cones: multipliers.cones.to_vec(),
                }
            }
            (Problem::ConeProgram(data), method) if data.cone_sizes.is_empty() => {
                quadratic(method, &data.linear)
            }
            (Problem::ConeProgram(_), _) => Answer::refused(Status::UnsupportedCone),
            (Problem::Qp(data), method) => quadratic(method, data),
            (Problem::Lcp(data), Method::Lemke(solver, ..)) => {
                let Ok(lcp) = Lcp::new(&data.matrix, &data.vector) else {
                    return Answer::refused(Status::InvalidData);
                };
                let mut x = vec![0.0; lcp.dim()];
                let outcome = solver.solve(&lcp, &mut x);
                Answer { x, ..Answer::refused(outcome.status) }.with(outcome)
            }
            (Problem::Lcp(data), method) => complementary(method, data),
        }
    }
}

impl Answer {
    fn with(self, outcome: Outcome) -> Self {
        Self { outcome, ..self }
    }
}

fn contact(solver: &mut dyn ContactSolver, data: &ContactProblemData) -> Answer {
    let problem = data.view();
    if problem.check_shape().is_err() {
        return Answer::refused(Status::InvalidData);
    }
    if !solver.accepts(&data.cone) {
        return Answer::refused(Status::UnsupportedCone);
    }
    let mut x = vec![0.0; problem.dim()];
    let outcome = solver.solve(&problem, &mut x);
    Answer { x, ..Answer::refused(outcome.status) }.with(outcome)
}

fn quadratic(method: &mut Method, data: &QpData) -> Answer {
    let qp = data.view();
    if qp.check_shape().is_err() {
        return Answer::refused(Status::InvalidData);
    }
    let mut x = vec![0.0; qp.dim()];
    let with = |outcome, x, multipliers: QpMultipliers<'_>| Answer {
        outcome,
        x,
        rows: multipliers.rows.to_vec(),
        bounds: multipliers.bounds.to_vec(),
        cones: Vec::new(),
    };
    match method {
        Method::ActiveSet(solver, _) => {
            let outcome = solver.solve(&qp, &mut x);
            with(outcome, x, solver.multipliers())
        }
        Method::Clarabel(solver) => {
            let outcome = solver.solve_qp(&qp, &mut x);
            let multipliers = solver.multipliers();
            let (rows, bounds) = (multipliers.rows, multipliers.bounds);
            with(outcome, x, QpMultipliers { rows, bounds })
        }
        Method::Lemke(_, solver, _) => {
            let outcome = solver.solve(&qp, &mut x);
            with(outcome, x, solver.multipliers())
        }
        #[cfg(feature = "osqp")]
        Method::Osqp(solver) => {
            let outcome = solver.solve_qp(&qp, &mut x);
            with(outcome, x, solver.multipliers())
        }
        Method::Contact(_) | Method::Pivoting(_) => Answer::refused(Status::UnsupportedCone),
    }
}

/// A complementarity problem as the quadratic program it comes from, or, if M is not symmetric, as
/// `min zᵀ(M z + q)` subject to `z ≥ 0`, `M z + q ≥ 0`, which is convex if the problem is monotone
/// and has minimum 0 if it has a solution.
fn complementary(method: &mut Method, data: &LcpData) -> Answer {
    let n = data.vector.len();
    let Ok(lcp) = Lcp::new(&data.matrix, &data.vector) else {
        return Answer::refused(Status::InvalidData);
    };
    let zeros = vec![0.0; n];
    let qp = match lcp.as_qp(&zeros) {
        Some(qp) => QpData::of(&qp),
        None => QpData {
            hessian: (0..n * n).map(|e| data.matrix[e] + data.matrix[e % n * n + e / n]).collect(),
            gradient: data.vector.clone(),
            rows: data.matrix.clone(),
            row_lower: data.vector.iter().map(|q| -q).collect(),
            row_upper: vec![f64::INFINITY; n],
            lower: zeros,
            upper: Vec::new(),
        },
    };
    // An unbounded program of a symmetric problem is a problem without solution.
    let mut answer = quadratic(method, &qp);
    if answer.outcome.status == Status::Unbounded {
        answer.outcome.status = Status::PrimalInfeasible;
    }
    (answer.rows, answer.bounds) = (Vec::new(), Vec::new());
    answer
}
