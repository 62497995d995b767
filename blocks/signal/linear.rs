//! Matrices of a linear system with constant coefficients, continuous or discrete.

use legwork_block::quantity::Tensor;
use legwork_block::{Invalid, Type};
use legwork_linalg::dot;

use crate::signal::shape::{finite, spread};

/// `A x + B u` and `C x + D u`, with n states, m inputs, p outputs. Matrices are column by column.
pub(crate) struct Linear {
    /// n.
    pub(crate) order: usize,
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
    d: Vec<f64>,
    /// Whether D is not zero.
    pub(crate) feeds_through: bool,
    pub(crate) input: Type,
    pub(crate) output: Type,
}

/// The parameters as written.
pub(crate) struct Matrices<'a> {
    pub(crate) a: &'a Tensor,
    pub(crate) b: &'a Tensor,
    pub(crate) c: &'a Tensor,
    pub(crate) d: &'a Tensor,
}

impl Linear {
    /// The system, once shapes agree.
    ///
    /// # Errors
    /// If they do not, or an element is infinite.
    pub(crate) fn new(given: &Matrices<'_>) -> Result<Self, Invalid> {
        let named = [("a", given.a), ("b", given.b), ("c", given.c), ("d", given.d)];
        for (name, matrix) in named {
            finite(name, matrix)?;
        }
        let order = match *given.a.shape() {
            [] => 1,
            [rows, columns] if rows == columns => rows,
            ref found => {
                let message = format!("expected a square matrix, found the shape {found:?}");
                return Err(Invalid::parameter("a", message));
            }
        };
        let wrong = |name: &str, expected: String, found: &[usize]| {
            Invalid::parameter(name, format!("expected {expected}, found the shape {found:?}"))
        };
        let (inputs, input) = match *given.b.shape() {
            [] if order == 1 => (1, Type::Real),
            [n] if n == order => (1, Type::Real),
            [n, m] if n == order => (m, Type::vector(m)),
            ref found => return Err(wrong("b", format!("{order} rows as in `a`"), found)),
        };
        let (outputs, output) = match *given.c.shape() {
            [] if order == 1 => (1, Type::Real),
            [n] if n == order => (1, Type::Real),
            [p, n] if n == order => (p, Type::vector(p)),
            ref found => return Err(wrong("c", format!("{order} columns as in `a`"), found)),
        };
        let wanted: Vec<usize> = match (&output, &input) {
            (Type::Real, Type::Real) => vec![],
            (Type::Real, _) => vec![inputs],
            (_, Type::Real) => vec![outputs],
            _ => vec![outputs, inputs],
        };
        let d = match given.d.shape() {
            [] if given.d.data() == [0.0] => vec![0.0; outputs * inputs],
            found if found == wanted => given.d.data().to_vec(),
            found => {
                let expected =
                    format!("the shape {wanted:?} of the outputs of `c` by inputs of `b`");
                return Err(wrong("d", expected, found));
            }
        };
        Ok(Self {
            order,
            a: given.a.data().to_vec(),
            b: given.b.data().to_vec(),
            c: given.c.data().to_vec(),
            feeds_through: d.iter().any(|d| *d != 0.0),
            d,
            input,
            output,
        })
    }

    /// Writes `A x + B u`.
    pub(crate) fn next(&self, x: &[f64], u: &[f64], next: &mut [f64]) {
        next.fill(0.0);
        add_product(&self.a, x, next);
        add_product(&self.b, u, next);
    }

    /// Writes `C x + D u`. Without feedthrough `u` is not read.
    pub(crate) fn output<'a>(&self, x: &[f64], u: impl FnOnce() -> &'a [f64], y: &mut [f64]) {
        y.fill(0.0);
        add_product(&self.c, x, y);
        if self.feeds_through {
            add_product(&self.d, u(), y);
        }
    }

    /// The state at t = 0 that the parameter `initial` gives.
    ///
    /// # Errors
    /// If it has another length.
    pub(crate) fn initial(&self, initial: &Tensor) -> Result<Vec<f64>, Invalid> {
        finite("initial", initial)?;
        match *initial.shape() {
            [] => Ok(spread(initial, self.order)),
            [n] if n == self.order => Ok(initial.data().to_vec()),
            ref found => {
                let message =
                    format!("expected {} states as in `a`, found the shape {found:?}", self.order);
                Err(Invalid::parameter("initial", message))
            }
        }
    }
}

/// `y += M v`: column after column; a single row in four sums, so that they need not wait for one
/// another.
fn add_product(matrix: &[f64], v: &[f64], y: &mut [f64]) {
    if let [y] = y {
        *y += dot(matrix, v);
        return;
    }
    let rows = y.len().max(1);
    let mut columns = matrix.chunks_exact(4 * rows);
    let mut fours = v.chunks_exact(4);
    for (block, v) in columns.by_ref().zip(fours.by_ref()) {
        let (a, rest) = block.split_at(rows);
        let (b, rest) = rest.split_at(rows);
        let (c, d) = rest.split_at(rows);
        for ((((y, a), b), c), d) in y.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            *y = (((*y + a * v[0]) + b * v[1]) + c * v[2]) + d * v[3];
        }
    }
    for (column, v) in columns.remainder().chunks_exact(rows).zip(fours.remainder()) {
        for (y, m) in y.iter_mut().zip(column) {
            *y += m * v;
        }
    }
}
