//! `Inverse`: the inverse of a small matrix.

use legwork_block::{Block, Fault, Matrix, Outcome, OutputCx, Sizes, block, parameters, ports};
use legwork_linalg::one_norm;

use crate::signal::units;

/// The inverse of a small square matrix: `y u = 1`.
///
/// Gauss–Jordan elimination with pivots from the present row (G. H. Golub, C. F. Van Loan,
/// *Matrix Computations*, 2013, section 3.4); 2 n³ operations. A matrix with a pivot of zero, or
/// whose condition number ‖u‖₁ ‖u⁻¹‖₁ is above 1/ε = 4.5e15, is singular to rounding: a fault of
/// the run. To apply the inverse of a robot's mass matrix, `ForwardDynamics` is faster and more
/// exact.
#[ports(
    let n = ports.dim();
    let unit = units::open(ports);
    in  u: Matrix::of(&n, &n), unit.clone(), "the matrix", units "any";
    out y: Matrix::of(&n, &n), units::power(&unit, -1, 1), "the inverse", units "1 / unit of u";
)]
#[parameters]
pub struct Inverse {}

/// Work memory of an [`Inverse`].
pub struct Scratch {
    n: usize,
    /// What is left of the matrix.
    rest: Vec<f64>,
}

/// Writes the inverse of `rest` (n × n, column by column), which it destroys, to `inverse`. `Err`
/// with the condition number if the matrix is singular.
pub(super) fn invert(n: usize, rest: &mut [f64], inverse: &mut [f64]) -> Result<(), f64> {
    let norm_of_matrix = one_norm(rest, n);
    legwork_linalg::invert(rest, inverse, n, 0.0).map_err(|_| f64::INFINITY)?;
    let condition = norm_of_matrix * one_norm(inverse, n);
    if condition * f64::EPSILON > 1.0 { Err(condition) } else { Ok(()) }
}

#[block]
impl Block for Inverse {
    type Scratch = Scratch;

    fn scratch(&self, io: &InversePorts, sizes: &Sizes<'_>) -> Scratch {
        let count = sizes.input(io.u);
        Scratch { n: count.isqrt(), rest: vec![0.0; count] }
    }

    fn output(&self, io: &InversePorts, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let Scratch { n, rest } = cx.scratch;
        rest.copy_from_slice(cx.inputs.get(io.u));
        invert(*n, rest, cx.outputs.get(io.y)).map_err(|condition| {
            Fault::new(format!(
                "expected a matrix with an inverse, found a singular one of {n} rows, condition \
                 number {condition:.1e}"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;

    use super::*;
    use crate::testing::Bench;

    #[test]
    fn the_product_with_the_inverse_is_the_identity() {
        let n = 5;
        // Entries of both signs with a small one at the start, so that rows are swapped.
        let mut matrix: Vec<f64> = (0..n * n).map(|i| libm::sin((i * i) as f64)).collect();
        matrix[0] = 1e-20;
        let mut bench = Bench::new(Inverse {}, &[Type::matrix(n, n)]).expect("an inverse");
        let inverse = bench.y(0.0, &[("u", &matrix)]);
        for row in 0..n {
            for column in 0..n {
                let sum: f64 = (0..n).map(|k| inverse[k * n + row] * matrix[column * n + k]).sum();
                let exact = f64::from(row == column);
                assert!((sum - exact).abs() < 1e-13, "({row}, {column}): {sum}");
            }
        }
    }

    #[test]
    fn a_singular_matrix_is_a_fault() {
        let mut bench = Bench::new(Inverse {}, &[Type::matrix(2, 2)]).expect("an inverse");
        // Rank one exactly, and a rank that only rounding fills.
        for u in [[1.0, 2.0, 2.0, 4.0], [0.1, 0.3, 0.3, 0.9]] {
            bench.set("u", &u);
            let fault = bench.output(0.0).unwrap_err();
            assert!(fault.message.contains("a singular one of 2 rows"), "{fault}");
        }
    }
}
