//! Lemke's method for a quadratic program, applied to its optimality conditions.

use super::duality::QpLcp;
use super::lemke::Lemke;
use crate::cone_kkt::{contradicts_itself, unbounded_residual, weighted_radius};
use crate::cone_program::ConeProgram;
use crate::contact_problem::must_fit;
use crate::general::Qp;
use crate::kkt::{self, ConeMultipliers, QpMultipliers};
use crate::problem_data::QpData;
use crate::status::{Outcome, Status};
use crate::units::{refuse_hessian, units_into};

/// Largest residuals of a solved and of a usable answer.
const SOLVED_RESIDUAL: f64 = 1e-7;
const USABLE_RESIDUAL: f64 = 1e-5;
/// Least length, in units of the unknowns, of the points that a certificate does not refute.
const REFUTED_RADIUS: f64 = 1e11;
/// Largest residual of a direction of unbounded descent.
const DESCENT_RESIDUAL: f64 = 1e-9;

/// [`Lemke`] for [`Qp`]: the complementarity problem of [`QpLcp`], solved and judged as a program.
///
/// Allocates in every solve.
#[derive(Clone, Debug, Default)]
pub struct LemkeProgram {
    lemke: Lemke,
    rows: Vec<f64>,
    bounds: Vec<f64>,
}

impl LemkeProgram {
    /// Multipliers of the last solve; after [`Status::PrimalInfeasible`] its certificate.
    #[must_use]
    pub fn multipliers(&self) -> QpMultipliers<'_> {
        QpMultipliers { rows: &self.rows, bounds: &self.bounds }
    }

    /// Solves from a cold start; `x` is only written.
    ///
    /// # Panics
    /// If a slice of `qp` or `x` has the wrong length.
    pub fn solve(&mut self, qp: &Qp<'_>, x: &mut [f64]) -> Outcome {
        must_fit(qp.check_shape());
        let (n, m) = (qp.dim(), qp.row_count());
        assert_eq!(x.len(), n, "x needs n values");
        x.fill(0.0);
        for (values, len) in [(&mut self.rows, m), (&mut self.bounds, n)] {
            values.clear();
            values.resize(len, 0.0);
        }
        if !qp.is_valid() {
            return Outcome::refused(Status::InvalidData);
        }
        if let Some(status) = refuse_hessian(qp) {
            return Outcome::refused(status);
        }
        if contradicts_itself(&ConeProgram::from(*qp)) {
            return Outcome::refused(Status::PrimalInfeasible);
        }
        let form = QpLcp::new(qp);
        let lcp = form.lcp();
        let mut z = vec![0.0; lcp.dim()];
        let outcome = self.lemke.solve(&lcp, &mut z);
        if let Some(proof) = self.lemke.certificate().map(<[f64]>::to_vec) {
            let status = self.refuted(qp, &form, &proof, x);
            return Outcome { status, residual: f64::NAN, ..outcome };
        }
        let mut slack = lcp.vector().to_vec();
        for (&z, column) in z.iter().zip(lcp.matrix().chunks_exact(z.len().max(1))) {
            slack.iter_mut().zip(column).for_each(|(w, m)| *w += m * z);
        }
        form.recover(&z, &slack, x, &mut self.rows, &mut self.bounds);
        let mut scratch = vec![0.0; m + 2 * n];
        let residuals = kkt::qp_residuals(qp, x, self.multipliers(), &mut scratch);
        let status = residuals.confirm(outcome.status, SOLVED_RESIDUAL, USABLE_RESIDUAL);
        Outcome { status, residual: residuals.worst(), ..outcome }
    }

    /// Status proved by a certificate of the complementarity problem. `y = (d, u)` with `Hd = 0`,
    /// `A d ≥ 0`, `Aᵀu ≤ 0` and `gᵀd < bᵀu` contains a direction d of descent without end, or a
    /// contradiction u of the rows.
    fn refuted(&mut self, qp: &Qp<'_>, form: &QpLcp, proof: &[f64], x: &mut [f64]) -> Status {
        let program = ConeProgram::from(*qp);
        form.contradiction(proof, &mut self.rows, &mut self.bounds);
        let multipliers = ConeMultipliers { rows: &self.rows, bounds: &self.bounds, cones: &[] };
        let mut units = vec![0.0; qp.dim()];
        units_into(qp, &mut units);
        if weighted_radius(&program, multipliers, &units) >= REFUTED_RADIUS {
            return Status::PrimalInfeasible;
        }
        self.rows.fill(0.0);
        self.bounds.fill(0.0);
        form.direction(proof, x);
        let is_descent = unbounded_residual(&program, x) <= DESCENT_RESIDUAL;
        x.fill(0.0);
        if is_descent && is_feasible(&mut self.lemke, qp) {
            Status::Unbounded
        } else {
            Status::Undecided
        }
    }
}

/// True if a point satisfies the constraints. Optimality conditions without a solution do not
/// distinguish an infeasible program from an unbounded one; those without the objective do.
fn is_feasible(solver: &mut Lemke, qp: &Qp<'_>) -> bool {
    let mut constraints = QpData::of(qp);
    constraints.hessian.fill(0.0);
    constraints.gradient.fill(0.0);
    let form = QpLcp::new(&constraints.view());
    let lcp = form.lcp();
    solver.solve(&lcp, &mut vec![0.0; lcp.dim()]).status.is_usable()
}
