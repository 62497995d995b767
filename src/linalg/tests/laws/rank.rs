//! Factorisations that find the rank: QR with column pivoting, solutions of least norm.

use super::matrices::{Kind, absolute, assert_within, for_each_gram, for_each_square, product};
use legwork_linalg::{MinimumNorm, PivotedQr, dot, max_abs};

/// What is left of a column, relative to it, below which it is rounding of the matrices here.
const RANK: f64 = 1e-10;

/// `QᵀQ = I`, `A P = Q R` for independent and dependent columns, the rank, and solves with R and
/// its transpose.
#[test]
fn pivoted_qr_finds_rank_and_basis() {
    let mut qr = PivotedQr::default();
    for_each_square(15_000, |case| {
        let n = case.n;
        let rank = qr.factor(&case.a, n, RANK, 0.0);
        // Twelve decades of scales of rows have no rank in floating point; what 1e-7 leaves of one
        // column in many is near the bound.
        if !matches!(case.kind, Kind::Graded | Kind::NearlySingular) {
            assert_eq!(rank, case.rank, "{}", case.name);
        }
        let q: Vec<Vec<f64>> = qr.q().chunks_exact(n.max(1)).map(<[f64]>::to_vec).collect();
        for (i, a) in q.iter().enumerate() {
            for (j, b) in q.iter().enumerate().take(i + 1) {
                let miss = (dot(a, b) - f64::from(u8::from(i == j))).abs();
                assert!(miss < 1e-12, "{}: {miss:e}", case.name);
            }
        }
        // Every column is in the span; those of Q are A P R⁻¹.
        let column = |at: usize| &case.a[at * n..(at + 1) * n];
        for &at in qr.order() {
            let mut rest = column(at).to_vec();
            for q in &q {
                let share = dot(q, &rest);
                rest.iter_mut().zip(q).for_each(|(x, q)| *x -= share * q);
            }
            let (left, length) = (dot(&rest, &rest).sqrt(), dot(column(at), column(at)).sqrt());
            assert!(left <= 2.0 * RANK * length, "{}: {left:e} of {length:e}", case.name);
        }
        if matches!(case.kind, Kind::Graded | Kind::NearlySingular) {
            return;
        }
        let mut again = vec![0.0; n * rank];
        qr.combine(&case.a, &mut again);
        let growth = 1e-9 * n as f64;
        assert_within(&again, qr.q(), &vec![1.0; n * rank], growth, &case.name);
        // R x = Qᵀ (A_P y) has x = y; Rᵀ x = A_Pᵀ (Q y) has x = y.
        let y = case.random.vector(rank);
        let (mut sum, mut image) = (vec![0.0; n], vec![0.0; n]);
        for (k, y) in y.iter().enumerate() {
            let (a, q) = (column(qr.order()[k]), &q[k]);
            (0..n).for_each(|i| sum[i] += y * a[i]);
            (0..n).for_each(|i| image[i] += y * q[i]);
        }
        let mut x: Vec<f64> = q.iter().map(|q| dot(q, &sum)).collect();
        qr.solve_upper(&mut x);
        assert_within(&x, &y, &vec![1.0; rank], 1e-6, &case.name);
        let mut x: Vec<f64> =
            qr.order()[..rank].iter().map(|&at| dot(column(at), &image)).collect();
        qr.solve_transposed(&mut x);
        assert_within(&x, &y, &vec![1.0; rank], 1e-6, &case.name);
    });
}

/// Scales of columns by powers of two change nothing but R; of equal columns the first is taken,
/// wherever exchanges have put it.
#[test]
fn the_choice_of_columns_has_no_units_and_ties_go_to_the_lowest_index() {
    let (mut qr, mut other) = (PivotedQr::default(), PivotedQr::default());
    for_each_square(2_000, |case| {
        let n = case.n;
        let rank = qr.factor(&case.a, n, RANK, 0.0);
        for column in case.a.chunks_exact_mut(n.max(1)) {
            let scale = 2f64.powi(case.random.below(60) as i32 - 30);
            column.iter_mut().for_each(|x| *x *= scale);
        }
        assert_eq!(other.factor(&case.a, n, RANK, 0.0), rank, "{}", case.name);
        assert_eq!(qr.order(), other.order(), "{}", case.name);
        assert_eq!(qr.q(), other.q(), "{}", case.name);
    });
    // Unit vectors and a copy of the first: always the lowest index that is left.
    let unit = |k: usize| [0, 1, 2].map(|i| f64::from(u8::from(i == k)));
    let columns = [unit(2), unit(2), unit(0), unit(1), [0.0; 3]].concat();
    assert_eq!(qr.factor(&columns, 3, RANK, 0.0), 3);
    assert_eq!(qr.order()[..3], [0, 2, 3]);
    // Columns that are short beside the longest count as zero, if that is asked for.
    let columns = [unit(0), unit(1).map(|x| 1e-10 * x)].concat();
    assert_eq!(qr.factor(&columns, 3, RANK, 0.0), 2);
    assert_eq!(qr.factor(&columns, 3, RANK, 1e-9), 1);
    assert_eq!(qr.factor(&[f64::NAN, 1.0], 1, RANK, 0.0), 0);
}

/// Penrose: `A x = b` for b in the range, and x in the range of A, so of least norm.
#[test]
fn solutions_are_exact_and_of_least_norm() {
    let mut factor = MinimumNorm::default();
    for_each_gram(6_000, |case| {
        let n = case.n;
        let found = factor.factor(&case.a, n, 1e-11);
        if matches!(case.kind, Kind::Graded | Kind::NearlySingular) {
            return;
        }
        assert_eq!(found, Some(case.rank), "{}", case.name);
        let any = case.random.vector(n);
        let right = product(&case.a, n, &any, n);
        let mut x = right.clone();
        factor.solve(&mut x);
        let size = 1e-8 * max_abs(&product(&absolute(&case.a), n, &absolute(&x), n)).max(1e-30);
        let back = product(&case.a, n, &x, n);
        assert_within(&back, &right, &vec![size; n], 1.0, &case.name);
        // `any - x` is in the null space; least norm means it is normal to x.
        let inner: f64 = any.iter().zip(&x).map(|(a, x)| (a - x) * x).sum();
        assert!(inner.abs() < 1e-6 * (1.0 + dot(&x, &x)), "{}: {inner:e}", case.name);
    });
}

#[test]
fn what_is_not_semidefinite_has_the_pseudoinverse_zero() {
    let mut factor = MinimumNorm::default();
    for a in [[f64::NAN, 0.0, 0.0, 1.0], [1.0, 2.0, 2.0, 1.0]] {
        assert_eq!(factor.factor(&a, 2, 1e-12), None);
        let mut x = [1.0, 1.0];
        factor.solve(&mut x);
        assert_eq!(x, [0.0, 0.0]);
    }
}
