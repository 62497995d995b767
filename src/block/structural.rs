//! The nodes that the compiler itself puts into a diagram: collecting copies of a for-each.

use crate::block::{Block, Inputs, OutputCx, Outputs, Pure, Sizes};
use crate::declaration::PortUnit;
use crate::fault::{Invalid, Outcome};
use crate::ports::Ports;
use crate::signal::{In, Matrix, Out, Real, Vector};
use crate::slopes::{Slope, Slopes, SlopesCx};
use crate::types::Dim;
use crate::unit::SymbolicUnit;

/// Matrices below one another: `Y = [U₁; U₂; …]`, all with as many columns.
#[derive(Debug, Clone)]
pub struct StackRows {
    /// How many matrices.
    pub count: usize,
}

/// Columns of `N` numbers into those of a matrix of so many rows, from a row on.
fn copy_columns<const N: usize>(from: &[f64], to: &mut [f64], (rows, first): (usize, usize)) {
    for (to, from) in to.chunks_exact_mut(rows).zip(from.as_chunks::<N>().0) {
        if let Some(to) = to[first..].first_chunk_mut() {
            *to = *from;
        }
    }
}

impl Block for StackRows {
    const KIND: &'static str = "Stack";
    type Plan = (Vec<In<Matrix>>, Dim, Out<Matrix>);
    type State = ();
    type Memo = ();
    /// The number of columns.
    type Scratch = usize;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        let cols = ports.dim();
        let mut rows = Dim::fixed(0);
        let (mut inputs, mut units) = (Vec::new(), Vec::new());
        for i in 0..self.count {
            let n = ports.dim();
            rows = rows + n.clone();
            let input = ports.input(format!("u{}", i + 1), &Matrix(n, cols.clone()));
            let unit = ports.var();
            ports.note_in(input).same_unit(unit);
            units.push(PortUnit::from(unit));
            inputs.push(input);
        }
        let y = ports.output("y", &Matrix(rows, cols.clone()));
        ports.note_out(y).of_unit(PortUnit::Common(units));
        Ok((inputs, cols, y))
    }

    fn state(&self, _: &Self::Plan, _: &Sizes<'_>) {}

    fn scratch(&self, (_, cols, _): &Self::Plan, sizes: &Sizes<'_>) -> usize {
        sizes.dim(cols)
    }

    fn output(&self, (inputs, _, y): &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let cols = *cx.scratch;
        if cols == 0 {
            return Ok(());
        }
        let y = cx.outputs.get(*y);
        let rows = y.len() / cols;
        let mut first_row = 0;
        for &u in inputs {
            let u = cx.inputs.get(u);
            let u_rows = u.len() / cols;
            // Jacobians of points and of frames are copied by columns of known length.
            match u_rows {
                0 => {}
                3 => copy_columns::<3>(u, y, (rows, first_row)),
                6 => copy_columns::<6>(u, y, (rows, first_row)),
                _ => {
                    for (to, from) in y.chunks_exact_mut(rows).zip(u.chunks_exact(u_rows)) {
                        to[first_row..first_row + u_rows].copy_from_slice(from);
                    }
                }
            }
            first_row += u_rows;
        }
        Ok(())
    }

    fn output_slopes(&self, (inputs, _, y): &Self::Plan, cx: &mut SlopesCx<'_, Self>) -> Slope {
        let (cols, y) = (*cx.scratch, cx.slopes.rows(*y, 0));
        if cols == 0 {
            return Slope::Exact;
        }
        let rows = y.len() / cols;
        let mut first_row = 0;
        for &u in inputs {
            let u = cx.slopes.columns(u, 0);
            let u_rows = u.len() / cols;
            for at in 0..u.len() {
                let place = at / u_rows * rows + first_row + at % u_rows;
                cx.slopes.add((y, place), (u, at), 1.0);
            }
            first_row += u_rows;
        }
        Slope::Exact
    }
}

/// Vectors or numbers one after the other: `y = [u₁; u₂; …]`.
#[derive(Debug, Clone)]
pub struct ConcatVectors {
    /// For each input: whether it is one number instead of a vector.
    pub scalar: Vec<bool>,
}

/// An input of [`ConcatVectors`].
#[derive(Clone, Copy)]
pub enum Piece {
    /// One number.
    Scalar(In<Real>),
    /// A vector.
    Vector(In<Vector>),
}

impl Pure for ConcatVectors {
    const KIND: &'static str = "Concat";
    type Plan = (Vec<Piece>, Out<Vector>);

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        let mut units = Vec::new();
        let mut total = Dim::fixed(0);
        let mut pieces = Vec::new();
        for (i, &scalar) in self.scalar.iter().enumerate() {
            let name = format!("u{}", i + 1);
            let unit = ports.var();
            units.push(SymbolicUnit::from(unit));
            if scalar {
                let u = ports.input(name, &Real);
                ports.note_in(u).same_unit(unit);
                total = total + 1;
                pieces.push(Piece::Scalar(u));
            } else {
                let n = ports.dim();
                let u = ports.input(name, &Vector(n.clone()));
                ports.note_in(u).same_unit(unit);
                total = total + n;
                pieces.push(Piece::Vector(u));
            }
        }
        let y = ports.output("y", &Vector(total));
        // Of numbers it is known which is where.
        let unit = match self.scalar.iter().all(|scalar| *scalar) {
            true => PortUnit::List(units.into_iter().map(Some).collect()),
            false => PortUnit::Common(units.into_iter().map(PortUnit::Of).collect()),
        };
        ports.note_out(y).of_unit(unit);
        Ok((pieces, y))
    }

    fn output(&self, (pieces, y): &Self::Plan, inp: &Inputs<'_>, out: &mut Outputs<'_>) -> Outcome {
        let y = out.get(*y);
        let mut at = 0;
        for piece in pieces {
            match *piece {
                Piece::Scalar(u) => {
                    y[at] = inp.get(u);
                    at += 1;
                }
                Piece::Vector(u) => {
                    let u = inp.get(u);
                    y[at..at + u.len()].copy_from_slice(u);
                    at += u.len();
                }
            }
        }
        Ok(())
    }

    fn slopes(&self, (pieces, y): &Self::Plan, _: &Inputs<'_>, slopes: &mut Slopes<'_>) -> Slope {
        let mut y = slopes.rows(*y, 0);
        for piece in pieces {
            let u = match *piece {
                Piece::Scalar(u) => slopes.columns(u, 0),
                Piece::Vector(u) => slopes.columns(u, 0),
            };
            for i in 0..u.len() {
                slopes.add((y, i), (u, i), 1.0);
            }
            y = y.from(u.len());
        }
        Slope::Exact
    }
}
