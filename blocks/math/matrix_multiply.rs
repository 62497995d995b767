//! `MatrixMultiply`: products with a matrix.

use legwork_block::{
    Any, Block, Dim, Matrix, Outcome, OutputCx, Sizes, Slope, SlopesCx, Type, block, parameters,
    ports,
};
use legwork_linalg::matrix_vector;

use crate::signal::units;

/// A matrix times a vector or a matrix: `y = A u2`. A = `u1`, or A = `u1`ᵀ with `transpose`.
///
/// Sums run over k in rising order, with no fused operations: results do not depend on the CPU.
/// With k = 0 the product is zero.
#[ports(
    keep m: Dim = ports.dim();
    keep k: Dim = ports.dim();
    let (rows, columns) = if self.transpose { (&k, &m) } else { (&m, &k) };
    let (right, product) = match self.right {
        Right::Vector => (Type::vector(&k), Type::vector(&m)),
        Right::Matrix => {
            let n = ports.dim();
            (Type::matrix(&k, &n), Type::matrix(&m, &n))
        }
    };
    let (left, factor) = (units::open(ports), units::open(ports));
    let unit = units::product(&left, &factor);
    in  u1: Matrix::of(rows, columns), left, "A", shape "m × k; k × m if `transpose`", units "any";
    in  u2: Any(right), factor, "right factor", shape "k; k × n if `right: Matrix`", units "any";
    out y: Any(product), unit, "the product", shape "m; m × n if `right: Matrix`",
        units "unit of u1 · u2";
)]
#[parameters]
pub struct MatrixMultiply {
    /// What `u2` is: `Vector` or `Matrix`.
    #[default]
    pub right: Right,
    /// Whether `u1` is transposed, as in `τ = Jᵀ f`.
    #[default]
    pub transpose: bool,
}

/// The right factor of a [`MatrixMultiply`].
#[parameters]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum Right {
    /// A vector.
    #[default]
    Vector,
    /// A matrix.
    Matrix,
}

#[block]
impl Block for MatrixMultiply {
    /// m and k.
    type Scratch = (usize, usize);

    fn scratch(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> (usize, usize) {
        (sizes.dim(&plan.m), sizes.dim(&plan.k))
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let (rows, inner) = *cx.scratch;
        let a = cx.inputs.get(plan.u1);
        let b = cx.inputs.get(plan.u2).leaf(0);
        let y = cx.outputs.get(plan.y);
        y.fill(0.0);
        if rows == 0 || inner == 0 {
            return Ok(());
        }
        for (y, b) in y.chunks_exact_mut(rows).zip(b.chunks_exact(inner)) {
            if self.transpose {
                for (y, column) in y.iter_mut().zip(a.chunks_exact(inner)) {
                    for (a, b) in column.iter().zip(b) {
                        *y += a * b;
                    }
                }
            } else {
                matrix_vector(a, rows, b, y);
            }
        }
        Ok(())
    }

    fn output_slopes(&self, plan: &Self::Plan, cx: &mut SlopesCx<'_, Self>) -> Slope {
        let (rows, inner) = *cx.scratch;
        let a = cx.inputs.get(plan.u1);
        let b = cx.inputs.get(plan.u2).leaf(0);
        let slopes = &mut cx.slopes;
        let (by_a, by_b) = (slopes.columns(plan.u1, 0), slopes.columns(plan.u2, 0));
        let y = slopes.rows(plan.y, 0);
        for at in 0..y.len() {
            let (i, first) = (at % rows, at / rows * inner);
            for k in 0..inner {
                let place = if self.transpose { i * inner + k } else { k * rows + i };
                slopes.add((y, at), (by_a, place), b[first + k]);
                slopes.add((y, at), (by_b, first + k), a[place]);
            }
        }
        Slope::Exact
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block};

    /// A = [1 2 3; 4 5 6], column by column.
    const A: [f64; 6] = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0];
    const A_TRANSPOSED: [f64; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];

    #[test]
    fn a_matrix_maps_a_vector() {
        let given = [Type::matrix(2, 3), Type::vector(3)];
        let mut bench = Bench::new(block::<MatrixMultiply>(json!({})), &given).expect("a product");
        assert_eq!(bench.y(0.0, &[("u1", &A), ("u2", &[1.0, 10.0, 100.0])]), [321.0, 654.0]);
    }

    #[test]
    fn transposing_twice_changes_nothing() {
        let given = [Type::matrix(3, 2), Type::vector(3)];
        let product: MatrixMultiply = block(json!({ "transpose": true }));
        let mut bench = Bench::new(product, &given).expect("a product");
        let y = bench.y(0.0, &[("u1", &A_TRANSPOSED), ("u2", &[1.0, 10.0, 100.0])]);
        assert_eq!(y, [321.0, 654.0]);
    }

    #[test]
    fn a_product_of_matrices_acts_like_its_factors_one_after_the_other() {
        let product = |parameters| block::<MatrixMultiply>(parameters);
        let given = [Type::matrix(2, 3), Type::matrix(3, 2)];
        let b = [1.0, -1.0, 2.0, 0.5, 3.0, -2.0];
        let x = [0.25, -4.0];
        let mut both =
            Bench::new(product(json!({ "right": "Matrix" })), &given).expect("a product");
        let ab = both.y(0.0, &[("u1", &A), ("u2", &b)]);
        let apply = |m: &[f64], rows: usize, v: &[f64]| {
            let given = [Type::matrix(rows, v.len()), Type::vector(v.len())];
            let mut bench = Bench::new(product(json!({})), &given).expect("a product");
            bench.y(0.0, &[("u1", m), ("u2", v)])
        };
        // Every number is a short binary fraction, so both ways are exact.
        assert_eq!(apply(&ab, 2, &x), apply(&A, 2, &apply(&b, 3, &x)));
    }

    #[test]
    fn an_empty_sum_is_zero() {
        let given = [Type::matrix(2, 0), Type::vector(0)];
        let mut bench = Bench::new(block::<MatrixMultiply>(json!({})), &given).expect("a product");
        assert_eq!(bench.y(0.0, &[]), [0.0, 0.0]);
    }
}
