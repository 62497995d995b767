//! LU and complete pivoting of any square matrix.

use super::matrices::{Kind, absolute, assert_within, for_each_square, product};
use legwork_linalg::{
    CompletePivoting, Lu, RowPivotedQr, Singular, dot, invert, max_abs, one_norm, replace_column,
};

/// Pivots below this share of the largest entry are rounding of the matrices here.
const RANK: f64 = 1e-12;

/// `|P A - L U| ≤ n ε |L| |U|` and `|b - A x| ≤ 3 n ε |L| |U| |x|` (Higham, theorems 9.3 and 9.4;
/// twice as much is allowed for products with 1/u instead of quotients by u), `|l| ≤ 1`.
#[test]
fn lu_is_backward_stable() {
    let mut lu = Lu::default();
    for_each_square(30_000, |case| {
        let n = case.n;
        lu.resize(n);
        lu.matrix_mut().copy_from_slice(&case.a);
        if let Err(Singular { rank, pivot }) = lu.factor(0.0) {
            assert!(case.rank < n && rank < n && pivot == 0.0, "{}: {pivot:e}", case.name);
            return;
        }
        let (mut lower, mut upper) = (vec![0.0; n * n], vec![0.0; n * n]);
        for j in 0..n {
            let column = &lu.factors()[j * n..(j + 1) * n];
            upper[j * n..=j * n + j].copy_from_slice(&column[..=j]);
            lower[j * n + j..(j + 1) * n].copy_from_slice(&column[j..]);
            lower[j * n + j] = 1.0;
        }
        let mut permuted = case.a.clone();
        for (row, &other) in lu.exchanges().iter().enumerate() {
            permuted.chunks_exact_mut(n).for_each(|column| column.swap(row, other));
        }
        let magnitude = product(&absolute(&lower), n, &absolute(&upper), n);
        let rounding = 2.0 * (n + 1) as f64 * f64::EPSILON;
        assert_within(&permuted, &product(&lower, n, &upper, n), &magnitude, rounding, &case.name);
        // The reciprocal of the pivot is rounded, so multipliers may exceed 1 by a rounding.
        assert!(max_abs(&lower) <= 1.0 + f64::EPSILON, "{}", case.name);

        let b = case.random.vector(n);
        let mut x = b.clone();
        lu.solve(&mut x);
        if max_abs(&x) > 1e150 || x.iter().any(|x| x.is_nan()) {
            assert!(case.rank < n, "{}", case.name);
            return;
        }
        let mut right = b;
        lu.exchanges().iter().enumerate().for_each(|(row, &other)| right.swap(row, other));
        let bound = product(&magnitude, n, &absolute(&x), n);
        assert_within(&product(&permuted, n, &x, n), &right, &bound, 3.0 * rounding, &case.name);
    });
}

/// `|A⁻¹ A - I|` and `|A A⁻¹ - I|` are bounded by the condition number (Higham, section 14.4).
#[test]
fn inverses_are_inverses_on_both_sides() {
    for_each_square(15_000, |case| {
        let n = case.n;
        let mut inverse = vec![f64::NAN; n * n];
        let result = invert(&mut case.a.clone(), &mut inverse, n, RANK);
        if case.kind == Kind::Graded {
            return;
        }
        assert_eq!(result.is_ok(), case.rank == n, "{}", case.name);
        let unit: Vec<f64> = (0..n * n).map(|at| f64::from(u8::from(at % (n + 1) == 0))).collect();
        let bound = vec![f64::EPSILON * one_norm(&case.a, n) * one_norm(&inverse, n); n * n];
        if result.is_ok() && n > 0 {
            let share = 10.0 * (n * n) as f64;
            let (left, right) =
                (product(&inverse, n, &case.a, n), product(&case.a, n, &inverse, n));
            assert_within(&left, &unit, &bound, share, &case.name);
            assert_within(&right, &unit, &bound, share, &case.name);
        }
    });
}

/// One column after the other, from the identity: the inverse of what came of it.
#[test]
fn an_inverse_follows_the_columns() {
    for_each_square(4_000, |case| {
        let n = case.n;
        if case.kind == Kind::Graded || n == 0 {
            return;
        }
        let unit: Vec<f64> = (0..n * n).map(|at| f64::from(u8::from(at % (n + 1) == 0))).collect();
        let (mut matrix, mut rows) = (unit.clone(), unit.clone());
        let mut image = vec![0.0; n];
        for at in 0..n {
            let column = &case.a[at * n..(at + 1) * n];
            for (image, row) in image.iter_mut().zip(rows.chunks_exact(n)) {
                *image = dot(row, column);
            }
            // A small pivot would lose as many digits as the test has.
            if image[at].abs() > 0.1 {
                replace_column(&mut rows, &image, at);
                matrix[at * n..(at + 1) * n].copy_from_slice(column);
            }
        }
        let inverse: Vec<f64> = (0..n * n).map(|at| rows[at % n * n + at / n]).collect();
        let bound = vec![f64::EPSILON * one_norm(&matrix, n) * one_norm(&inverse, n); n * n];
        let share = 100.0 * (n * n) as f64;
        assert_within(&product(&inverse, n, &matrix, n), &unit, &bound, share, &case.name);
    });
}

/// Both methods find the rank; the equations of a consistent system hold; directions of the null
/// space are n - rank, independent, and change nothing.
#[test]
fn rank_and_null_space_are_found() {
    let mut lu = Lu::default();
    let mut complete = CompletePivoting::default();
    for_each_square(16_000, |case| {
        // Twelve decades of scales have no rank in floating point.
        if case.kind == Kind::Graded {
            return;
        }
        let n = case.n;
        lu.resize(n);
        lu.matrix_mut().copy_from_slice(&case.a);
        assert_eq!(lu.factor(RANK).is_ok(), case.rank == n, "{}", case.name);

        let any = case.random.vector(n);
        let right = product(&case.a, n, &any, n);
        let system = complete.system_mut(n);
        system[..n * n].copy_from_slice(&case.a);
        system[n * n..].copy_from_slice(&right);
        assert_eq!(complete.eliminate(RANK), case.rank, "{}", case.name);
        let mut x = vec![0.0; n];
        complete.solution_into(&mut x);
        let size = 1e-9 * (1.0 + max_abs(&x)) * max_abs(&case.a).max(1.0);
        assert_within(&product(&case.a, n, &x, n), &right, &vec![size; n], 1.0, &case.name);
        for index in 0..n - case.rank {
            complete.null_direction_into(index, &mut x);
            assert!(max_abs(&x) >= 1.0, "{}", case.name);
            let size = 1e-9 * max_abs(&x) * max_abs(&case.a).max(1.0);
            assert_within(&product(&case.a, n, &x, n), &vec![0.0; n], &vec![size; n], 1.0, "null");
        }
    });
}

#[test]
fn what_is_not_finite_is_singular() {
    let mut lu = Lu::new(2);
    let mut complete = CompletePivoting::default();
    for bad in [f64::NAN, f64::INFINITY] {
        for at in 0..4 {
            let mut a = [2.0, 1.0, 1.0, 3.0];
            a[at] = bad;
            lu.matrix_mut().copy_from_slice(&a);
            assert!(lu.factor(1e-9).is_err(), "{bad} at {at}");
        }
        complete.system_mut(1).copy_from_slice(&[bad, 1.0]);
        assert_eq!(complete.eliminate(1e-9), 0);
    }
}

/// I - ½ [[0, 2], [4, 0]] = [[1, -1], [-2, 1]]; columns of J: (0, 4), (2, 0).
#[test]
fn shifted_matrix_is_identity_minus_c_times_jacobian() {
    let mut lu = Lu::new(2);
    assert_eq!(lu.factor_shifted(0.5, &[0.0, 4.0, 2.0, 0.0]), Ok(()));
    let mut b = [1.0, 3.0];
    lu.solve(&mut b);
    assert_eq!(b, [-4.0, -5.0]);
    assert!(lu.factor_shifted(1.0, &[1.0, 0.0, 0.0, 0.5]).is_err());
    assert!(lu.factor_shifted(f64::NAN, &[1.0, 0.0, 0.0, 0.5]).is_err());
}

/// Rows of weight 1 among rows of weight W: as W grows, least squares with it become those of the
/// small rows where the large ones hold, `x + y = 1`, `min (x - a)² + (y - b)²`, whose solution is
/// `x = (1 + a - b)/2`. In whatever order the rows stand; the normal equations lose it from 10⁸ on.
#[test]
fn small_rows_keep_their_digits_beside_large_ones() {
    let mut qr = RowPivotedQr::default();
    let (a, b) = (0.7, -1.3);
    let rows = |weight: f64| [[weight, weight, weight], [1.0, 0.0, a], [0.0, 1.0, b]];
    for order in [[0, 1, 2], [1, 0, 2], [2, 1, 0]] {
        for weight in [1e6, 1e8, 1e12, 1e15] {
            let rows = order.map(|at| rows(weight)[at]);
            let column = |k: usize| rows.map(|row| row[k]);
            let matrix = [column(0), column(1)].concat();
            assert!(qr.factor(&matrix, 3));
            let mut x = [0.0; 2];
            qr.solve(&column(2), &mut x);
            let (expected, far) = (0.5 * (1.0 + a - b), 2.0 / (weight * weight));
            assert!((x[0] - expected).abs() < 1e-14 + far, "{weight:e} {order:?}: {x:?}");
            assert!((x[0] + x[1] - 1.0).abs() < 1e-15 + far, "{weight:e} {order:?}: {x:?}");
            // The residual is orthogonal to the columns by its own terms of size 1, although that of
            // x, `weight · (1 - x - y)`, is rounding of weight · ε.
            let mut residual = [0.0; 3];
            qr.residual(&mut residual);
            for k in 0..2 {
                let product = dot(&column(k), &residual);
                assert!(product.abs() < 1e-14, "{weight:e} {order:?}: {residual:?}");
            }
            let small = order.iter().position(|&at| at == 1).unwrap();
            assert!((residual[small] - (a - expected)).abs() < 1e-14 + far, "{residual:?}");
        }
    }
}

/// Columns without a common row do not disturb each other by a bit, whatever the size of rows.
#[test]
fn columns_without_a_common_row_stay_apart() {
    let mut qr = RowPivotedQr::default();
    let matrix = [[3.0, 0.0, 1e9, 0.0, 0.1], [0.0, 1e-3, 0.0, 7.0, 0.0]].concat();
    assert!(qr.factor(&matrix, 5));
    let mut x = [0.0; 2];
    qr.solve(&[0.3, 0.0, 1e8, 0.0, 0.7], &mut x);
    assert_eq!(x[1], 0.0);
    assert!((x[0] - 0.1).abs() < 1e-15, "{x:?}");
    assert!(!qr.factor(&[1.0, 1.0, 0.0, 0.0], 2));
    assert!(!qr.factor(&[1.0, f64::NAN], 2));
}
