//! The results of a duel.

use legwork_qp::Status;

use super::judge::{BELIEVED_RESIDUAL, Disagreement};

/// One solver on one problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The solver's status.
    pub status: Status,
    /// Iterations of its method.
    pub iterations: u32,
    /// Residual of the optimality conditions, as the judge finds it [1].
    pub residual: f64,
    /// Time of one solve, the median of the repeats [s].
    pub seconds: f64,
    /// Repeats that returned other bits than the first.
    pub differing_repeats: u32,
    /// Largest disagreement with another solver, as [`Disagreement::size`] has it.
    pub disagreement: f64,
    /// The unknowns, those of the last iterate where the iterations were used up; empty where there
    /// is no answer.
    pub solution: Vec<f64>,
}

/// One solver on all problems.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// Name of the solver.
    pub solver: String,
    /// Problems that it took.
    pub accepted: usize,
    /// Problems that it says are solved.
    pub solved: usize,
    /// Problems for which it says that there is no answer.
    pub refuted: usize,
    /// Problems that it calls solved with a residual above 1e-4.
    pub overclaimed: usize,
    /// Problems with repeats of other bits.
    pub unrepeatable: usize,
    /// Largest residual of a usable answer [1]; NaN without one.
    pub worst_residual: f64,
    /// Median residual of the usable answers [1].
    pub median_residual: f64,
    /// Median iterations on accepted problems.
    pub median_iterations: u32,
    /// Most iterations.
    pub most_iterations: u32,
    /// Median time per solve of accepted problems [s].
    pub median_seconds: f64,
    /// Largest disagreement with another solver.
    pub worst_disagreement: f64,
    /// 1 for the best: most solved, then least worst residual.
    pub accuracy_rank: usize,
    /// 1 for the fastest by median; last those that took no problem.
    pub time_rank: usize,
}

/// Two solvers that differ on a problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dispute {
    /// Index of the problem.
    pub problem: usize,
    /// Indices of the solvers, the earlier first.
    pub solvers: (usize, usize),
    /// How they differ; its size is above 0.
    pub disagreement: Disagreement,
}

/// The outcome of a duel.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Names of the problems.
    pub problems: Vec<String>,
    /// One score per solver, in the order they were given.
    pub scores: Vec<Score>,
    /// `cells[problem][solver]`.
    pub cells: Vec<Vec<Cell>>,
    /// All pairs that differ, the largest difference first; equals by problem, then solvers.
    pub disputes: Vec<Dispute>,
}

impl Table {
    pub(super) fn new(
        solvers: Vec<String>,
        problems: Vec<String>,
        cells: Vec<Vec<Cell>>,
        mut disputes: Vec<Dispute>,
    ) -> Self {
        let order = |a: &Dispute, b: &Dispute| {
            let by_size = b.disagreement.size().total_cmp(&a.disagreement.size());
            by_size.then((a.problem, a.solvers).cmp(&(b.problem, b.solvers)))
        };
        disputes.sort_by(order);
        let mut scores: Vec<Score> = solvers
            .into_iter()
            .enumerate()
            .map(|(i, solver)| score(solver, cells.iter().map(|row| &row[i])))
            .collect();
        let key =
            |s: &Score| if s.worst_residual.is_nan() { f64::INFINITY } else { s.worst_residual };
        let better =
            |a: &Score, b: &Score| b.solved.cmp(&a.solved).then(key(a).total_cmp(&key(b))).is_lt();
        let time = |s: &Score| if s.accepted == 0 { f64::INFINITY } else { s.median_seconds };
        let faster = |a: &Score, b: &Score| time(a).total_cmp(&time(b)).is_lt();
        for i in 0..scores.len() {
            let rank = |before: &dyn Fn(&Score, &Score) -> bool| {
                1 + scores.iter().filter(|other| before(other, &scores[i])).count()
            };
            let ranks = (rank(&better), rank(&faster));
            (scores[i].accuracy_rank, scores[i].time_rank) = ranks;
        }
        Self { problems, scores, cells, disputes }
    }
}

fn score<'c>(solver: String, cells: impl Iterator<Item = &'c Cell>) -> Score {
    let taken: Vec<&Cell> = cells.filter(|cell| cell.status != Status::UnsupportedCone).collect();
    let usable = || taken.iter().filter(|cell| cell.status.is_usable());
    let count = |test: &dyn Fn(&Cell) -> bool| taken.iter().filter(|cell| test(cell)).count();
    let mut residuals: Vec<f64> = usable().map(|cell| cell.residual).collect();
    let mut iterations: Vec<f64> = taken.iter().map(|cell| f64::from(cell.iterations)).collect();
    let mut seconds: Vec<f64> = taken.iter().map(|cell| cell.seconds).collect();
    let is_solved = |cell: &Cell| cell.status == Status::Solved;
    Score {
        solver,
        accepted: taken.len(),
        solved: count(&is_solved),
        refuted: count(&|c| matches!(c.status, Status::PrimalInfeasible | Status::Unbounded)),
        // NaN does not count as a small residual.
        overclaimed: count(&|c| {
            is_solved(c) && (c.residual > BELIEVED_RESIDUAL || c.residual.is_nan())
        }),
        unrepeatable: count(&|c| c.differing_repeats > 0),
        worst_residual: residuals
            .iter()
            .fold(f64::NAN, |worst, &r| if worst.is_nan() || r > worst { r } else { worst }),
        median_residual: median(&mut residuals),
        median_iterations: median(&mut iterations) as u32,
        most_iterations: taken.iter().map(|cell| cell.iterations).max().unwrap_or(0),
        median_seconds: median(&mut seconds),
        worst_disagreement: taken.iter().map(|cell| cell.disagreement).fold(0.0, f64::max),
        accuracy_rank: 0,
        time_rank: 0,
    }
}

/// Lower median, NaN of nothing; sorts.
pub(super) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    if values.is_empty() { f64::NAN } else { values[(values.len() - 1) / 2] }
}
