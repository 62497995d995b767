//! Cholesky and LDLᵀ of definite matrices, pivoted Cholesky of semidefinite ones.

use super::matrices::{
    Case, Kind, absolute, assert_within, for_each_definite, for_each_gram, product, transposed,
};
use legwork_linalg::lanes::padded;
use legwork_linalg::{PivotedCholesky, cholesky, ldlt};

/// `√(a_ii a_jj)`, which bounds `|L| |Lᵀ|` up to rounding (Higham, section 10.1.1).
fn scale(a: &[f64], n: usize) -> Vec<f64> {
    (0..n * n).map(|at| (a[at % n * (n + 1)] * a[at / n * (n + 1)]).sqrt()).collect()
}

fn rounding(n: usize) -> f64 {
    4.0 * (n + 2) as f64 * f64::EPSILON
}

/// L with zeros above its diagonal.
fn lower(l: &[f64], n: usize) -> Vec<f64> {
    (0..n * n).map(|at| if at % n < at / n { 0.0 } else { l[at] }).collect()
}

/// Fails unless x solves `A x = b` backward stably: `|b - A x| ≤ c n ε |L| |Lᵀ| |x|`.
fn assert_solves(case: &Case, x: &[f64], b: &[f64]) {
    let n = case.n;
    let bound = product(&scale(&case.a, n), n, &absolute(x), n);
    assert_within(&product(&case.a, n, x, n), b, &bound, 3.0 * rounding(n), &case.name);
}

/// `|A - L Lᵀ| ≤ (n + 1) ε |L| |Lᵀ|` (Higham, theorem 10.3), solves within theorem 10.4, the
/// factor after an update within the same bound of `A + v vᵀ`.
#[test]
fn cholesky_is_backward_stable_and_an_update_equals_a_new_factor() {
    for_each_definite(15_000, |case| {
        let n = case.n;
        let (mut l, mut inverse_diagonal) = (case.a.clone(), vec![0.0; n]);
        for at in (0..n * n).filter(|at| at % n < at / n) {
            l[at] = f64::NAN;
        }
        assert!(cholesky::factor(&mut l, &mut inverse_diagonal, 0.0), "{}", case.name);
        let clean = lower(&l, n);
        let found = product(&clean, n, &transposed(&clean, n), n);
        assert_within(&found, &case.a, &scale(&case.a, n), rounding(n), &case.name);
        let b = case.random.vector(n);
        let mut x = b.clone();
        cholesky::solve(&l, &inverse_diagonal, &mut x);
        assert_solves(case, &x, &b);

        let size = 10f64.powf(8.0 * case.random.signed());
        let mut v: Vec<f64> = case.random.vector(n).iter().map(|v| v * size).collect();
        for j in 0..n {
            (0..n).for_each(|i| case.a[j * n + i] += v[i] * v[j]);
        }
        cholesky::update(&mut l, &mut inverse_diagonal, &mut v);
        let clean = lower(&l, n);
        let found = product(&clean, n, &transposed(&clean, n), n);
        assert_within(&found, &case.a, &scale(&case.a, n), 2.0 * rounding(n), &case.name);
        let mut x = b.clone();
        cholesky::solve(&l, &inverse_diagonal, &mut x);
        assert_solves(case, &x, &b);
    });
}

/// The same bounds; `|Jᵀ A J - I| ≤ c n ε |Jᵀ| |A| |J|` for the inverse root.
#[test]
fn ldlt_is_backward_stable() {
    for_each_definite(15_000, |case| {
        let n = case.n;
        let stride = padded(n);
        let (mut factor, mut pivots) = (vec![0.0; n * stride], vec![0.0; stride]);
        for (to, from) in factor.chunks_exact_mut(stride.max(1)).zip(case.a.chunks_exact(n.max(1)))
        {
            to[..n].copy_from_slice(from);
        }
        assert!(ldlt::factor(&mut factor, n, stride, &mut pivots, 0.0), "{}", case.name);
        let mut scaled = vec![0.0; n * n];
        let mut plain = vec![0.0; n * n];
        for k in 0..n {
            for i in k..n {
                plain[k * n + i] = factor[k * stride + i];
                scaled[k * n + i] = factor[k * stride + i] * pivots[k];
            }
        }
        let found = product(&plain, n, &transposed(&scaled, n), n);
        assert_within(&found, &case.a, &scale(&case.a, n), rounding(n), &case.name);
        let b = case.random.vector(n);
        let mut x = b.clone();
        ldlt::solve(&factor, n, stride, &pivots, &mut x);
        assert_solves(case, &x, &b);

        let mut j = vec![0.0; n * stride];
        ldlt::inverse_root(&factor, n, stride, &pivots, &mut j);
        let j: Vec<f64> = j.chunks_exact(stride.max(1)).flat_map(|c| c[..n].to_vec()).collect();
        let found = product(&transposed(&j, n), n, &product(&case.a, n, &j, n), n);
        let unit: Vec<f64> = (0..n * n).map(|at| f64::from(u8::from(at % (n + 1) == 0))).collect();
        let (j, a) = (absolute(&j), scale(&case.a, n));
        let bound = product(&transposed(&j, n), n, &product(&a, n, &j, n), n);
        assert_within(&found, &unit, &bound, 3.0 * rounding(n), &case.name);
    });
}

/// Solves of a constant size keep the same bound, and tell the first pivot that is rounding of its
/// own diagonal entry, whatever the others' scales.
#[test]
fn a_small_solve_is_backward_stable_and_names_the_pivot() {
    for_each_definite(15_000, |case| {
        if case.n != 6 {
            return;
        }
        let (b, mut columns) = (case.random.vector(6), [[0.0; 6]; 6]);
        columns.as_flattened_mut().copy_from_slice(&case.a);
        let mut x: [f64; 6] = std::array::from_fn(|i| b[i]);
        assert_eq!(ldlt::solve_once(&mut columns, &mut x, 0.0), Ok(()), "{}", case.name);
        assert_solves(case, &x, &b);
    });
    // Row 1 is twice row 0.
    let mut a = [[1.0, 2.0, 0.0], [2.0, 4.0 + 1e-15, 0.0], [0.0, 0.0, 1e-30]];
    let error = ldlt::solve_once(&mut a, &mut [1.0; 3], 1e-14).unwrap_err();
    assert_eq!(error.rank, 1);
    assert!(ldlt::solve_once(&mut [[f64::NAN]], &mut [1.0], 0.0).is_err());
}

/// A negative diagonal entry, or a negative eigenvalue that only elimination finds.
#[test]
fn indefinite_matrices_and_nan_are_refused() {
    for_each_definite(5_000, |case| {
        let n = case.n;
        if n == 0 {
            return;
        }
        let bad = case.random.below(n);
        let value = [f64::NAN, -1e-30, 0.0, f64::INFINITY][case.random.below(4)];
        case.a[bad * n + bad] = value;
        let mut pivoted = PivotedCholesky::default();
        let mut root = vec![0.0; n * n];
        let is_zero = (0..n).all(|i| i == bad || case.a[bad * n + i] == 0.0) && value == 0.0;
        assert_eq!(pivoted.factor(&case.a, n, &mut root).is_some(), is_zero, "{}", case.name);
        let mut inverse_diagonal = vec![0.0; n];
        assert!(!cholesky::factor(&mut case.a.clone(), &mut inverse_diagonal, 0.0));
        let stride = padded(n);
        let mut factor = vec![0.0; n * stride];
        for (to, from) in factor.chunks_exact_mut(stride).zip(case.a.chunks_exact(n)) {
            to[..n].copy_from_slice(from);
        }
        assert!(!ldlt::factor(&mut factor, n, stride, &mut vec![0.0; stride], 0.0));
    });
    // Eigenvalues 3 and -1.
    let a = [1.0, 2.0, 2.0, 1.0];
    assert!(!cholesky::factor(&mut a.clone(), &mut [0.0; 2], 0.0));
    assert_eq!(PivotedCholesky::default().factor(&a, 2, &mut [0.0; 4]), None);
}

/// `BᵀB = A` within the cut of 8 n ε and rounding, with as many rows as the rank.
#[test]
fn pivoted_cholesky_finds_rank_and_root_of_grams() {
    let mut pivoted = PivotedCholesky::default();
    for_each_gram(15_000, |case| {
        let n = case.n;
        let mut root = vec![f64::NAN; n * n];
        let rank = pivoted.factor(&case.a, n, &mut root).expect(&case.name);
        // A Gram matrix halves the digits: 1e-7 squared is rounding.
        if !matches!(case.kind, Kind::NearlySingular | Kind::Graded) {
            assert_eq!(rank, case.rank, "{}", case.name);
        }
        for column in root.chunks_exact(n.max(1)) {
            assert!(column[rank..].iter().all(|&b| b == 0.0), "{}", case.name);
        }
        let found = product(&transposed(&root, n), n, &root, n);
        let share = 3.0 * rounding(n) * (1 + n) as f64;
        assert_within(&found, &case.a, &scale(&case.a, n), share, &case.name);
    });
}

/// Of equal pivots the lowest index is taken: B of the identity is the identity, of a matrix of
/// ones a row of ones.
#[test]
fn ties_go_to_the_lowest_index() {
    let mut pivoted = PivotedCholesky::default();
    let mut root = [0.0; 9];
    let unit = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    assert_eq!(pivoted.factor(&unit, 3, &mut root), Some(3));
    assert_eq!(root, unit);
    assert_eq!(pivoted.factor(&[1.0; 9], 3, &mut root), Some(1));
    assert_eq!(root, [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
}
