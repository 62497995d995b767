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

impl Linear {
    /// The system, once shapes agree.
    ///
    /// # Errors
    /// If they do not, or an element is infinite.
    pub(crate) fn new(a: &Tensor, b: &Tensor, c: &Tensor, d: &Tensor) -> Result<Self, Invalid> {
        for (name, matrix) in [("a", a), ("b", b), ("c", c), ("d", d)] {
            finite(name, matrix)?;
        }
        let order = match *a.shape() {
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
        let (inputs, input) = match *b.shape() {
            [] if order == 1 => (1, Type::Real),
            [n] if n == order => (1, Type::Real),
            [n, m] if n == order => (m, Type::vector(m)),
            ref found => return Err(wrong("b", format!("{order} rows as in `a`"), found)),
        };
        let (outputs, output) = match *c.shape() {
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
        let d = match d.shape() {
            [] if d.data() == [0.0] => vec![0.0; outputs * inputs],
            found if found == wanted => d.data().to_vec(),
            found => {
                let expected =
                    format!("the shape {wanted:?} of the outputs of `c` by inputs of `b`");
                return Err(wrong("d", expected, found));
            }
        };
        Ok(Self {
            order,
            a: a.data().to_vec(),
            b: b.data().to_vec(),
            c: c.data().to_vec(),
            feeds_through: d.iter().any(|d| *d != 0.0),
            d,
            input,
            output,
        })
    }

    /// A, column by column.
    pub(crate) fn a(&self) -> &[f64] {
        &self.a
    }

    /// B, column by column.
    pub(crate) fn b(&self) -> &[f64] {
        &self.b
    }

    /// D, column by column.
    pub(crate) fn d(&self) -> &[f64] {
        &self.d
    }

    /// C, column by column.
    pub(crate) fn c(&self) -> &[f64] {
        &self.c
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

/// Declares the block of a linear system behind its manual: parameters, and ports of their shapes.
/// `$states` declares its n states: a function of `Ports` and n.
macro_rules! linear_system {
    ($(#[doc = $doc:tt])* $block:ident, $states:path) => {
        $(#[doc = $doc])*
        #[legwork_block::ports(
            keep system: $crate::signal::linear::Linear =
                $crate::signal::linear::Linear::new(&self.a, &self.b, &self.c, &self.d)?;
            keep initial: Vec<f64> = system.initial(&self.initial)?;
            $states(ports, system.order);
            in  u: legwork_block::Any(system.input.clone()), _, "the input", units "any",
                shape "number if `b` is a list of n (or a number); vector of m for n rows of m";
            let direct = system.feeds_through.then_some(u);
            feeds(direct);
            out y: legwork_block::Any(system.output.clone()), _, "the output",
                shape "number if `c` is a list of n or a number; vector of p for p rows",
                units "not checked";
        )]
        #[legwork_block::parameters(aliases("LTI", "ABCD"))]
        pub struct $block {
            /// A, n rows of n; a number for one state.
            pub a: legwork_block::quantity::Tensor,
            /// B: a list of n for an input that is a number, n rows of m for a vector.
            pub b: legwork_block::quantity::Tensor,
            /// C: a list of n for an output that is a number, p rows of n for a vector.
            pub c: legwork_block::quantity::Tensor,
            /// D, p rows of m; a list where one of them is a number, a number where both are. 0
            /// means zeros of any shape.
            #[default = 0]
            pub d: legwork_block::quantity::Tensor,
            /// State at t = 0: a list of n, or one number for all.
            #[default = 0]
            pub initial: legwork_block::quantity::Tensor,
        }
    };
}
pub(crate) use linear_system;
