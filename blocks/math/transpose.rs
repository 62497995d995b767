//! `Transpose`: a matrix with rows and columns exchanged.

use legwork_block::{Block, Dim, In, Invalid, Matrix, Out, Outcome, OutputCx, Ports, Sizes};
use schemars::JsonSchema;
use serde::Deserialize;

/// A matrix with rows and columns exchanged: `yᵢⱼ = uⱼᵢ`.
///
/// | port | shape | unit |
/// |---|---|---|
/// | in `u` | matrix m × n | any |
/// | out `y` | matrix n × m | that of `u` |
///
/// `MatrixMultiply` with `transpose: true` multiplies by the transpose without a copy.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transpose {}

impl Block for Transpose {
    const KIND: &'static str = "Transpose";
    type Plan = (In<Matrix>, Out<Matrix>, Dim);
    type State = ();
    type Memo = ();
    /// Rows of the input.
    type Scratch = usize;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        let (rows, columns, unit) = (ports.dim(), ports.dim(), ports.var());
        let u = ports.input("u", &Matrix(rows.clone(), columns.clone()));
        let y = ports.output("y", &Matrix(columns, rows.clone()));
        ports.note_in(u).same_unit(unit);
        ports.note_out(y).same_unit(unit);
        Ok((u, y, rows))
    }

    fn state(&self, _: &Self::Plan, _: &Sizes<'_>) {}

    fn scratch(&self, (_, _, rows): &Self::Plan, sizes: &Sizes<'_>) -> usize {
        sizes.dim(rows)
    }

    fn output(&self, &(u, y, _): &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let (u, rows) = (cx.inputs.get(u), *cx.scratch);
        let columns = u.len().checked_div(rows).unwrap_or(0);
        let y = cx.outputs.get(y);
        for column in 0..columns {
            for row in 0..rows {
                y[row * columns + column] = u[column * rows + row];
            }
        }
        Ok(())
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
