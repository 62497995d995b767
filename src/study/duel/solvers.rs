//! Solvers by name, for problems of any kind they can be made to take.

use legwork_qp::complementarity::LemkeProgram;
use legwork_qp::kkt::QpMultipliers;
use legwork_qp::{
    BoxedMethod, ClarabelSolver, Cones, ContactProblemData, GeneralActiveSet, Lcp, LcpData, Lemke,
    Method, Outcome, Problem, ProblemSize, QpData, Status,
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

/// The names that [`make`] knows: those of the methods of the convex law.
///
/// | name | qp | cone_program | lcp |
/// |---|---|---|---|
/// | `active_set` | yes | without cones | symmetric |
/// | `clarabel` | yes | yes | monotone |
/// | `lemke` | yes | without cones | yes |
/// | `osqp` | yes | without cones | monotone |
///
/// The others take contact problems alone.
pub(super) fn solver_names() -> Vec<&'static str> {
    Method::convex().map(|method| method.name).collect()
}

/// The solver with this name at its tightest useful tolerance; `None` if no solver has it.
pub(super) fn make(name: &str) -> Option<Box<dyn DuelSolver>> {
    let method = Method::convex().find(|method| method.name == name)?;
    let programs = match name {
        "active_set" => Some(Programs::ActiveSet(Box::default())),
        "clarabel" => Some(Programs::Clarabel(Box::new(ClarabelSolver::new(1e-10, 200)))),
        "lemke" => Some(Programs::Lemke(Box::default(), Box::default())),
        #[cfg(feature = "osqp")]
        "osqp" => Some(Programs::Osqp(Box::new(legwork_qp::OsqpSolver::new(1e-8, 50_000)))),
        _ => None,
    };
    Some(Box::new(Named { method, contact: method.tight(ProblemSize::new(0, 0)), programs }))
}

/// Bytes beyond which a method is not given a contact problem.
const MOST_BYTES: u64 = 1 << 30;

struct Named {
    method: &'static Method,
    contact: BoxedMethod,
    programs: Option<Programs>,
}

/// The same method for problems of other kinds.
enum Programs {
    ActiveSet(Box<GeneralActiveSet>),
    Clarabel(Box<ClarabelSolver>),
    Lemke(Box<Lemke>, Box<LemkeProgram>),
    #[cfg(feature = "osqp")]
    Osqp(Box<legwork_qp::OsqpSolver>),
}

impl DuelSolver for Named {
    fn name(&self) -> String {
        self.method.name.to_owned()
    }

    fn solve(&mut self, problem: &Problem) -> Answer {
        match (problem, &mut self.programs) {
            (Problem::Contact(data), _) => self.contact(data),
            (_, None) => Answer::refused(Status::UnsupportedCone),
            (Problem::ConeProgram(data), Some(Programs::Clarabel(solver))) => {
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
            (Problem::ConeProgram(data), Some(solver)) if data.cone_sizes.is_empty() => {
                quadratic(solver, &data.linear)
            }
            (Problem::ConeProgram(_), _) => Answer::refused(Status::UnsupportedCone),
            (Problem::Qp(data), Some(solver)) => quadratic(solver, data),
            (Problem::Lcp(data), Some(Programs::Lemke(solver, _))) => {
                let Ok(lcp) = Lcp::new(&data.matrix, &data.vector) else {
                    return Answer::refused(Status::InvalidData);
                };
                let mut x = vec![0.0; lcp.dim()];
                let outcome = solver.solve(&lcp, &mut x);
                Answer { x, ..Answer::refused(outcome.status) }.with(outcome)
            }
            (Problem::Lcp(data), Some(solver)) => complementary(solver, data),
        }
    }
}

impl Named {
    fn contact(&mut self, data: &ContactProblemData) -> Answer {
        let problem = data.view();
        if problem.check_shape().is_err() {
            return Answer::refused(Status::InvalidData);
        }
        let sides = data.cone.sides();
        let size = ProblemSize::new(data.friction.len(), sides);
        let is_too_large = (self.method.memory)(size) > MOST_BYTES / size_of::<f64>() as u64;
        if is_too_large || self.method.cones == Cones::Pyramids && sides == 0 {
            return Answer::refused(Status::UnsupportedCone);
        }
        let mut x = vec![0.0; problem.dim()];
        let outcome = self.contact.solve(&problem, &mut x);
        Answer { x, ..Answer::refused(outcome.status) }.with(outcome)
    }
}

impl Answer {
    fn with(self, outcome: Outcome) -> Self {
        Self { outcome, ..self }
    }
}

fn quadratic(method: &mut Programs, data: &QpData) -> Answer {
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
        Programs::ActiveSet(solver) => {
            let outcome = solver.solve(&qp, &mut x);
            with(outcome, x, solver.multipliers())
        }
        Programs::Clarabel(solver) => {
            let outcome = solver.solve_qp(&qp, &mut x);
            let multipliers = solver.multipliers();
            let (rows, bounds) = (multipliers.rows, multipliers.bounds);
            with(outcome, x, QpMultipliers { rows, bounds })
        }
        Programs::Lemke(_, solver) => {
            let outcome = solver.solve(&qp, &mut x);
            with(outcome, x, solver.multipliers())
        }
        #[cfg(feature = "osqp")]
        Programs::Osqp(solver) => {
            let outcome = solver.solve_qp(&qp, &mut x);
            with(outcome, x, solver.multipliers())
        }
    }
}

/// A complementarity problem as the quadratic program it comes from, or, if M is not symmetric, as
/// `min zᵀ(M z + q)` subject to `z ≥ 0`, `M z + q ≥ 0`, which is convex if the problem is monotone
/// and has minimum 0 if it has a solution.
fn complementary(method: &mut Programs, data: &LcpData) -> Answer {
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
