//! `Transpose`: a matrix with rows and columns exchanged.

use legwork_block::{
    Block, Dim, Matrix, Outcome, OutputCx, Sizes, Slope, SlopesCx, block, parameters, ports,
};

/// A matrix with rows and columns exchanged: `yᵢⱼ = uⱼᵢ`.
///
/// `MatrixMultiply` with `transpose: true` multiplies by the transpose without a copy.
#[ports(
    keep m: Dim = ports.dim();
    let (n, unit) = (ports.dim(), ports.var());
    in  u: Matrix::of(&m, &n), unit, "the matrix", units "any";
    out y: Matrix::of(&n, &m), unit, "the transpose", units "that of `u`";
)]
#[parameters]
pub struct Transpose {}

#[block]
impl Block for Transpose {
    /// Rows of the input.
    type Scratch = usize;

    fn scratch(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> usize {
        sizes.dim(&plan.m)
    }

    fn output(&self, io: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let (u, rows) = (cx.inputs.get(io.u), *cx.scratch);
        let columns = u.len().checked_div(rows).unwrap_or(0);
        let y = cx.outputs.get(io.y);
        for column in 0..columns {
            for row in 0..rows {
                y[row * columns + column] = u[column * rows + row];
            }
        }
        Ok(())
    }

    fn output_slopes(&self, io: &Self::Plan, cx: &mut SlopesCx<'_, Self>) -> Slope {
        let (y, u, rows) = (cx.slopes.rows(io.y, 0), cx.slopes.columns(io.u, 0), *cx.scratch);
        let columns = u.len().checked_div(rows).unwrap_or(0);
        for at in 0..u.len() {
            cx.slopes.add((y, at % rows * columns + at / rows), (u, at), 1.0);
        }
        Slope::Exact
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;

    use super::*;
    use crate::testing::Bench;

    #[test]
    fn rows_become_columns() {
        let mut bench = Bench::new(Transpose {}, &[Type::matrix(2, 3)]).expect("a matrix");
        assert_eq!(bench.declaration.outputs[0].ty.to_string(), "Matrix(?1, ?0)");
        let y = bench.y(0.0, &[("u", &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0])]);
        assert_eq!(y, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }
}
