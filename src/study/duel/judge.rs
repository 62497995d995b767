//! One judge for the answers to problems of any kind.

use legwork_linalg::{matrix_vector, max_abs};
use legwork_qp::complementarity::{Lcp, lcp_residuals};
use legwork_qp::kkt::{self, ConeMultipliers, nan_max};
use legwork_qp::{ConeProgram, Problem, QpData, Status};

use super::solvers::Answer;

/// Largest residual with which an answer that is called solved is accepted.
pub const BELIEVED_RESIDUAL: f64 = 1e-4;

/// Share of the objective at an answer of 1, or at the least bound, below which differences are not
/// relative.
const FLOOR: f64 = 1e-4;

/// Whether there is an answer to judge, if only a last iterate.
pub(super) fn has_point(answer: &Answer) -> bool {
    answer.outcome.status.is_usable() || answer.outcome.status == Status::MaxIterations
}

/// Relative residual of an answer, NaN if it has none: [`kkt::natural_residual`] of a contact
/// problem, the worst of [`kkt::cone_residuals`] of a program, the largest scaled figure of
/// [`lcp_residuals`] of a complementarity problem.
#[must_use]
pub(super) fn judge(problem: &Problem, answer: &Answer) -> f64 {
    if !has_point(answer) || answer.x.len() != problem.dim() {
        return f64::NAN;
    }
    match problem {
        Problem::Contact(contact) => {
            let mut acceleration = vec![0.0; answer.x.len()];
            kkt::natural_residual(&contact.view(), &answer.x, &mut acceleration)
        }
        Problem::Qp(qp) => program(&qp.view().into(), answer),
        Problem::ConeProgram(data) => match data.view() {
            Ok(view) => program(&view, answer),
            Err(_) => f64::NAN,
        },
        Problem::Lcp(data) => {
            let n = answer.x.len();
            let (mut slack, mut terms) = (vec![0.0; n], vec![0.0; n]);
            Lcp::new(&data.matrix, &data.vector).map_or(f64::NAN, |lcp| {
                lcp_residuals(&lcp, &answer.x, &mut slack, &mut terms).scaled.worst()
            })
        }
    }
}

fn program(program: &ConeProgram<'_>, answer: &Answer) -> f64 {
    let no_cones = vec![0.0; program.cone_row_count()];
    let cones = if answer.cones.is_empty() { &no_cones } else { &answer.cones };
    let multipliers = ConeMultipliers { rows: &answer.rows, bounds: &answer.bounds, cones };
    kkt::cone_residuals(program, &answer.x, multipliers).worst()
}

/// How two answers to one problem differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Disagreement {
    /// At least one does not take problems of this kind.
    NotComparable,
    /// One has an answer where the other says that there is none.
    Contradiction,
    /// One has an answer and the other gave up.
    Failure,
    /// Both say there is no answer, or both gave up.
    None,
    /// Two answers, this far apart in what the problem determines, relative to its size [1].
    Distance(f64),
}

impl Disagreement {
    /// As a number: ∞ for a contradiction, 1 for a failure, the distance, or 0.
    #[must_use]
    pub fn size(self) -> f64 {
        match self {
            Self::NotComparable | Self::None => 0.0,
            Self::Contradiction => f64::INFINITY,
            Self::Failure => 1.0,
            Self::Distance(distance) if distance.is_nan() => f64::INFINITY,
            Self::Distance(distance) => distance,
        }
    }
}

/// How far two answers are apart in what a convex problem determines even if it has many solutions.
///
/// | problem | distance |
/// |---|---|
/// | contact | `‖a - a'‖∞ / acceleration_scale`, the contact accelerations |
/// | qp, cone_program | `‖H(x - x')‖∞ / max(‖g‖∞, ‖Hx‖∞, ‖Hx'‖∞)`, or that of the objectives if larger |
/// | lcp | `‖M(z - z')‖∞ / max(‖q‖∞, ‖Mz‖∞, ‖Mz'‖∞)`, for symmetric M |
///
/// If g or q is zero, an answer of zero leaves no size. Then it is that at 1, or at the least bound
/// other than zero if that is smaller.
#[must_use]
pub(super) fn disagreement(problem: &Problem, a: &Answer, b: &Answer) -> Disagreement {
    use Status::{InvalidData, PrimalInfeasible, Unbounded, UnsupportedCone};
    let (sa, sb) = (a.outcome.status, b.outcome.status);
    if sa == UnsupportedCone || sb == UnsupportedCone {
        return Disagreement::NotComparable;
    }
    let is_none = |status| matches!(status, PrimalInfeasible | Unbounded | InvalidData);
    if sa.is_usable() && sb.is_usable() {
        return Disagreement::Distance(distance(problem, &a.x, &b.x));
    }
    match (sa.is_usable() || sb.is_usable(), is_none(sa) || is_none(sb)) {
        (true, true) => Disagreement::Contradiction,
        (true, false) => Disagreement::Failure,
        (false, _) if sa == sb => Disagreement::None,
        (false, true) if is_none(sa) && is_none(sb) => Disagreement::Contradiction,
        (false, true) => Disagreement::Failure,
        (false, false) => Disagreement::None,
    }
}

pub(super) fn distance(problem: &Problem, a: &[f64], b: &[f64]) -> f64 {
    let n = problem.dim();
    let relative = |matrix: &[f64], vector: &[f64], reach: f64| {
        let difference: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
        let (mut image, mut change) = (vec![0.0; n], vec![0.0; n]);
        let mut scale = max_abs(vector);
        if scale <= 0.0 {
            scale = reach * max_abs(matrix);
        }
        for x in [a, b] {
            matrix_vector(matrix, n, x, &mut image);
            scale = scale.max(max_abs(&image));
        }
        matrix_vector(matrix, n, &difference, &mut change);
        let change = change.iter().fold(0.0, |worst, v| nan_max(worst, v.abs()));
        if scale > 0.0 { change / scale } else { change }
    };
    match problem {
        Problem::Contact(contact) => {
            let view = contact.view();
            let (mut aa, mut ab) = (vec![0.0; n], vec![0.0; n]);
            view.acceleration_into(a, &mut aa);
            view.acceleration_into(b, &mut ab);
            let mut worst = 0.0;
            for i in (0..n).filter(|i| view.is_active(i / 3)) {
                worst = nan_max(worst, (aa[i] - ab[i]).abs());
            }
            worst / view.acceleration_scale()
        }
        Problem::Lcp(lcp) => relative(&lcp.matrix, &lcp.vector, 1.0),
        Problem::Qp(qp) => nan_max(relative(&qp.hessian, &qp.gradient, reach(qp)), gap(qp, a, b)),
        Problem::ConeProgram(program) => {
            let qp = &program.linear;
            nan_max(relative(&qp.hessian, &qp.gradient, reach(qp)), gap(qp, a, b))
        }
    }
}

/// The least finite bound of an unknown, or of a row over its largest entry, that is not zero; at
/// most 1.
fn reach(qp: &QpData) -> f64 {
    let rows = qp.row_lower.len();
    let entry = |row: usize| {
        let entries = qp.rows.iter().skip(row).step_by(rows.max(1));
        entries.fold(0.0_f64, |most, entry| most.max(entry.abs()))
    };
    let of_rows = [&qp.row_lower, &qp.row_upper]
        .into_iter()
        .flat_map(|bounds| bounds.iter().enumerate().map(|(row, bound)| bound.abs() / entry(row)));
    let of_unknowns = qp.lower.iter().chain(&qp.upper).map(|bound| bound.abs());
    let bounds = of_rows.chain(of_unknowns).filter(|bound| *bound > 0.0);
    bounds.fold(1.0, f64::min)
}

/// Difference of the objectives over the size of their terms.
fn gap(qp: &QpData, a: &[f64], b: &[f64]) -> f64 {
    let (fa, fb) = (qp.view().objective(a), qp.view().objective(b));
    let terms: f64 = qp.gradient.iter().zip(a).map(|(g, x)| (g * x).abs()).sum();
    let (x, slope) = (reach(qp), max_abs(&qp.gradient));
    let least = if slope > 0.0 { FLOOR * x * slope } else { 0.5 * x * x * max_abs(&qp.hessian) };
    let size = fa.abs().max(fb.abs()).max(terms).max(least);
    if size > 0.0 { (fa - fb).abs() / size } else { 0.0 }
}
