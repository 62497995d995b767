//! Problems that own their numbers, to be stored, written to files and reduced.

use crate::cone_program::{ConeProgram, ConeProgramError};
use crate::contact_problem::{ContactProblem, ContactProblemData};
use crate::general::Qp;
use std::collections::BTreeMap;

/// A [`Qp`] that owns its numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QpData {
    /// H, n × n, column-major.
    pub hessian: Vec<f64>,
    /// g, n.
    pub gradient: Vec<f64>,
    /// A, m × n, column-major.
    pub rows: Vec<f64>,
    /// l, m.
    pub row_lower: Vec<f64>,
    /// u, m.
    pub row_upper: Vec<f64>,
    /// x_l, n or empty.
    pub lower: Vec<f64>,
    /// x_u, n or empty.
    pub upper: Vec<f64>,
}

impl QpData {
    /// A copy of the numbers of `qp`.
    #[must_use]
    pub fn of(qp: &Qp<'_>) -> Self {
        Self {
            hessian: qp.hessian.to_vec(),
            gradient: qp.gradient.to_vec(),
            rows: qp.rows.to_vec(),
            row_lower: qp.row_lower.to_vec(),
            row_upper: qp.row_upper.to_vec(),
            lower: qp.lower.to_vec(),
            upper: qp.upper.to_vec(),
        }
    }

    /// The view that solvers take.
    #[must_use]
    pub fn view(&self) -> Qp<'_> {
        Qp {
            hessian: &self.hessian,
            gradient: &self.gradient,
            rows: &self.rows,
            row_lower: &self.row_lower,
            row_upper: &self.row_upper,
            lower: &self.lower,
            upper: &self.upper,
        }
    }

    /// The contact problem with pyramids in scaled forces `x = f / force_scale`, its objective
    /// divided by `force_scale² · mean diagonal`.
    ///
    /// Components that can only be zero (inactive contacts, tangential forces where μ = 0) are
    /// bounded by zero on both sides and uncoupled, and the rows of their contact are freed.
    ///
    /// # Panics
    /// If a slice of the problem has the wrong length.
    #[must_use]
    pub fn of_contact(problem: &ContactProblem<'_>) -> Self {
        let (n, m) = (problem.dim(), problem.cone_row_count());
        let mean = problem.mean_diagonal();
        let mut qp = Self {
            hessian: vec![0.0; n * n],
            gradient: problem.bias.iter().map(|b| b / (mean * problem.force_scale)).collect(),
            rows: vec![0.0; n * m],
            row_lower: vec![f64::NEG_INFINITY; m],
            row_upper: vec![0.0; m],
            lower: vec![f64::NEG_INFINITY; n],
            upper: vec![f64::INFINITY; n],
        };
        problem.hessian_into(&mut qp.hessian);
        qp.hessian.iter_mut().for_each(|h| *h /= mean);
        problem.cone_rows_into(&mut qp.rows);
        for i in (0..n).filter(|&i| is_fixed(problem, i)) {
            (qp.lower[i], qp.upper[i], qp.gradient[i]) = (0.0, 0.0, 0.0);
            for j in 0..n {
                qp.hessian[i * n + j] = f64::from(u8::from(i == j));
                qp.hessian[j * n + i] = f64::from(u8::from(i == j));
            }
            qp.rows[i * m..(i + 1) * m].fill(0.0);
        }
        for row in 0..m {
            if (0..n).all(|j| qp.rows[j * m + row] == 0.0) {
                qp.row_upper[row] = f64::INFINITY;
            }
        }
        qp
    }
}

/// A [`ConeProgram`] that owns its numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConeProgramData {
    /// Objective and linear constraints.
    pub linear: QpData,
    /// C, r × n, column-major.
    pub cone_rows: Vec<f64>,
    /// c, r.
    pub cone_offset: Vec<f64>,
    /// Rows of each block.
    pub cone_sizes: Vec<usize>,
}

impl ConeProgramData {
    /// A copy of the numbers of `program`.
    #[must_use]
    pub fn of(program: &ConeProgram<'_>) -> Self {
        Self {
            linear: QpData::of(&program.linear),
            cone_rows: program.cone_rows.to_vec(),
            cone_offset: program.cone_offset.to_vec(),
            cone_sizes: program.cone_sizes.to_vec(),
        }
    }

    /// The view that solvers take.
    ///
    /// # Errors
    /// [`ConeProgramError`] if the lengths do not fit each other.
    pub fn view(&self) -> Result<ConeProgram<'_>, ConeProgramError> {
        ConeProgram::new(self.linear.view(), &self.cone_rows, &self.cone_offset, &self.cone_sizes)
    }
}

/// `w = M z + q`, `0 ≤ z ⟂ w ≥ 0`, with its own numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LcpData {
    /// M, n × n, column-major.
    pub matrix: Vec<f64>,
    /// q, n.
    pub vector: Vec<f64>,
}

/// A problem of any kind.
#[derive(Clone, Debug)]
pub enum Problem {
    /// A quadratic program.
    Qp(QpData),
    /// A quadratic program with second-order cones.
    ConeProgram(ConeProgramData),
    /// A linear complementarity problem.
    Lcp(LcpData),
    /// A contact problem.
    Contact(ContactProblemData),
}

impl Problem {
    /// The name of the kind in files and tables.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Qp(_) => "qp",
            Self::ConeProgram(_) => "cone_program",
            Self::Lcp(_) => "lcp",
            Self::Contact(_) => "contact",
        }
    }

    /// Number of unknowns.
    #[must_use]
    pub fn dim(&self) -> usize {
        match self {
            Self::Qp(qp) => qp.gradient.len(),
            Self::ConeProgram(program) => program.linear.gradient.len(),
            Self::Lcp(lcp) => lcp.vector.len(),
            Self::Contact(contact) => contact.bias.len(),
        }
    }
}

/// A problem, what it is called and where it came from.
#[derive(Clone, Debug)]
pub struct NamedProblem {
    /// Name in tables, e.g. the file's stem.
    pub name: String,
    /// Origin, free text: diagram, block, time, reason of the dump.
    pub origin: String,
    /// The problem.
    pub problem: Problem,
    /// Further numbers that a replay needs to the bit, by name: `start`, what a warm solve began
    /// with; `jacobian` (3k × nv) and `factor` (nv × nv, C with `CᵀC = M`) of a contact problem,
    /// column-major, for methods that take G apart. Mostly empty.
    pub extra: BTreeMap<String, Vec<f64>>,
}

impl NamedProblem {
    /// A problem without further numbers.
    #[must_use]
    pub fn new(name: impl Into<String>, origin: impl Into<String>, problem: Problem) -> Self {
        Self { name: name.into(), origin: origin.into(), problem, extra: BTreeMap::new() }
    }
}

/// True if force component `i` can only be zero.
pub(crate) fn is_fixed(problem: &ContactProblem<'_>, i: usize) -> bool {
    let contact = i / 3;
    !problem.is_active(contact) || (i % 3 < 2 && problem.friction[contact] <= 0.0)
}
