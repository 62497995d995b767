//! Reduces a problem to the part that shows what it shows, such as a disagreement.
//!
//! Parts are left out greedily, large pieces first (halves, quarters, …, single ones: delta
//! debugging), and what is left out stays out if the effect stays. The result is minimal in the
//! sense that no single part can be left out.
//!
//! | problem | parts, in this order |
//! |---|---|
//! | contact | contacts; compliance |
//! | qp, cone_program | cone blocks, rows, bounds, unknowns (held at zero) |
//! | lcp | pairs |
//!
//! # References
//! A. Zeller, R. Hildebrandt, *Simplifying and isolating failure-inducing input*, IEEE Trans.
//! Softw. Eng. 28 (2002); here complements only.

use legwork_qp::{ConeProgramData, ContactProblemData, LcpData, Problem, QpData};

/// The smallest problem found for which `stays` is true; the problem itself if it is false there.
///
/// Deterministic: equal problems and answers of `stays` give equal results.
pub(super) fn shrink_while(problem: &Problem, stays: &mut dyn FnMut(&Problem) -> bool) -> Problem {
    let mut best = problem.clone();
    if !stays(&best) {
        return best;
    }
    loop {
        let mut has_shrunk = false;
        for part in parts(&best) {
            let mut piece = part.count(&best);
            while piece > 0 {
                let mut at = 0;
                while at < part.count(&best) {
                    let end = (at + piece).min(part.count(&best));
                    let is_left_out = |i: usize| (at..end).contains(&i);
                    let smaller = part.without(&best, &is_left_out);
                    if smaller.dim() > 0 && stays(&smaller) {
                        best = smaller;
                        has_shrunk = true;
                    } else {
                        at = end;
                    }
                }
                piece /= 2;
            }
        }
        if !has_shrunk {
            return best;
        }
    }
}

/// A kind of part that can be left out.
#[derive(Clone, Copy)]
enum Part {
    Contacts,
    Compliance,
    Cones,
    Rows,
    Bounds,
    Unknowns,
    Pairs,
}

fn parts(problem: &Problem) -> Vec<Part> {
    match problem {
        Problem::Contact(_) => vec![Part::Contacts, Part::Compliance],
        Problem::Qp(_) => vec![Part::Rows, Part::Bounds, Part::Unknowns],
        Problem::ConeProgram(_) => {
            vec![Part::Cones, Part::Rows, Part::Bounds, Part::Unknowns]
        }
        Problem::Lcp(_) => vec![Part::Pairs],
    }
}

/// The linear part of a program.
fn linear(problem: &Problem) -> Option<&QpData> {
    match problem {
        Problem::Qp(qp) => Some(qp),
        Problem::ConeProgram(program) => Some(&program.linear),
        _ => None,
    }
}

impl Part {
    /// How many of these parts the problem has.
    fn count(self, problem: &Problem) -> usize {
        match (self, problem) {
            (Self::Contacts, Problem::Contact(contact)) => contact.friction.len(),
            // All or nothing: an empty list is no compliance.
            (Self::Compliance, Problem::Contact(contact)) => {
                usize::from(contact.compliance.iter().any(|&r| r != 0.0))
            }
            (Self::Cones, Problem::ConeProgram(program)) => program.cone_sizes.len(),
            (Self::Pairs, Problem::Lcp(lcp)) => lcp.vector.len(),
            _ => match (self, linear(problem)) {
                (Self::Rows, Some(qp)) => qp.row_lower.len(),
                (Self::Unknowns, Some(qp)) => qp.gradient.len(),
                (Self::Bounds, Some(qp)) => bounded(qp).count(),
                _ => 0,
            },
        }
    }

    /// The problem without the parts that are left out.
    fn without(self, problem: &Problem, out: &dyn Fn(usize) -> bool) -> Problem {
        match (self, problem) {
            (Self::Contacts, Problem::Contact(c)) => Problem::Contact(without_contacts(c, out)),
            (Self::Compliance, Problem::Contact(c)) => {
                Problem::Contact(ContactProblemData { compliance: Vec::new(), ..c.clone() })
            }
            (Self::Pairs, Problem::Lcp(lcp)) => {
                let n = lcp.vector.len();
                Problem::Lcp(LcpData {
                    matrix: submatrix(&lcp.matrix, n, out, out),
                    vector: kept(&lcp.vector, out),
                })
            }
            (_, Problem::Qp(qp)) => Problem::Qp(self.without_linear(qp, out)),
            (Self::Cones, Problem::ConeProgram(program)) => {
                Problem::ConeProgram(without_cones(program, out))
            }
            (_, Problem::ConeProgram(program)) => {
                let mut smaller = program.clone();
                smaller.linear = self.without_linear(&program.linear, out);
                if matches!(self, Self::Unknowns) {
                    let r = program.cone_offset.len();
                    smaller.cone_rows = submatrix(&program.cone_rows, r, &|_| false, out);
                }
                Problem::ConeProgram(smaller)
            }
            (_, other) => other.clone(),
        }
    }

    fn without_linear(self, qp: &QpData, out: &dyn Fn(usize) -> bool) -> QpData {
        let (n, m) = (qp.gradient.len(), qp.row_lower.len());
        let mut smaller = qp.clone();
        match self {
            Self::Rows => {
                smaller.rows = submatrix(&qp.rows, m, out, &|_| false);
                smaller.row_lower = kept(&qp.row_lower, out);
                smaller.row_upper = kept(&qp.row_upper, out);
            }
            Self::Bounds => {
                let left_out = bounded(qp).enumerate().filter(|(place, _)| out(*place));
                for (_, i) in left_out {
                    if let Some(lower) = smaller.lower.get_mut(i) {
                        *lower = f64::NEG_INFINITY;
                    }
                    if let Some(upper) = smaller.upper.get_mut(i) {
                        *upper = f64::INFINITY;
                    }
                }
                if bounded(&smaller).next().is_none() {
                    (smaller.lower, smaller.upper) = (Vec::new(), Vec::new());
                }
            }
            Self::Unknowns => {
                smaller.hessian = submatrix(&qp.hessian, n, out, out);
                smaller.gradient = kept(&qp.gradient, out);
                smaller.rows = submatrix(&qp.rows, m, &|_| false, out);
                smaller.lower = kept(&qp.lower, out);
                smaller.upper = kept(&qp.upper, out);
            }
            _ => {}
        }
        smaller
    }
}

/// The unknowns with a bound.
fn bounded(qp: &QpData) -> impl Iterator<Item = usize> {
    let view = qp.view();
    (0..qp.gradient.len()).filter(move |&i| {
        view.lower_of(i) != f64::NEG_INFINITY || view.upper_of(i) != f64::INFINITY
    })
}

fn kept(values: &[f64], out: &dyn Fn(usize) -> bool) -> Vec<f64> {
    values.iter().enumerate().filter(|(i, _)| !out(*i)).map(|(_, v)| *v).collect()
}

/// A column-major matrix without some rows and columns.
fn submatrix(
    matrix: &[f64],
    rows: usize,
    row_out: &dyn Fn(usize) -> bool,
    column_out: &dyn Fn(usize) -> bool,
) -> Vec<f64> {
    let columns = matrix.chunks_exact(rows.max(1)).enumerate();
    columns.filter(|(j, _)| !column_out(*j)).flat_map(|(_, c)| kept(c, row_out)).collect()
}

fn without_contacts(
    contact: &ContactProblemData,
    out: &dyn Fn(usize) -> bool,
) -> ContactProblemData {
    let component = |i: usize| out(i / 3);
    ContactProblemData {
        inverse_inertia: submatrix(
            &contact.inverse_inertia,
            contact.bias.len(),
            &component,
            &component,
        ),
        bias: kept(&contact.bias, &component),
        friction: kept(&contact.friction, out),
        compliance: kept(&contact.compliance, &component),
        active: kept(&contact.active, out),
        ..contact.clone()
    }
}

fn without_cones(program: &ConeProgramData, out: &dyn Fn(usize) -> bool) -> ConeProgramData {
    let owner: Vec<usize> = program
        .cone_sizes
        .iter()
        .enumerate()
        .flat_map(|(block, &size)| std::iter::repeat_n(block, size))
        .collect();
    let row_out = |row: usize| out(owner[row]);
    ConeProgramData {
        linear: program.linear.clone(),
        cone_rows: submatrix(&program.cone_rows, owner.len(), &row_out, &|_| false),
        cone_offset: kept(&program.cone_offset, &row_out),
        cone_sizes: program
            .cone_sizes
            .iter()
            .enumerate()
            .filter(|(block, _)| !out(*block))
            .map(|(_, size)| *size)
            .collect(),
    }
}
