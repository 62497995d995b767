//! Singular values and eigenvalues.

use super::matrices::{
    Kind, Random, absolute, assert_within, for_each_square, product, transposed,
};
use legwork_linalg::{
    CompletePivoting, OrthonormalBasis, Svd, dot, max_abs, symmetric_eigenvalues,
};

/// The matrix of second differences has the eigenvalues `2 - 2 cos(k π / (n + 1))`.
#[test]
fn eigenvalues_of_second_differences_are_those_of_the_closed_form() {
    for n in 0..=40 {
        let entry = |at: usize| match (at % n).abs_diff(at / n) {
            0 => 2.0,
            1 => -1.0,
            _ => 0.0,
        };
        let mut a: Vec<f64> = (0..n * n).map(entry).collect();
        let mut found = vec![0.0; n];
        symmetric_eigenvalues(&mut a, n, &mut found);
        for (i, value) in found.iter().enumerate() {
            let angle = (i + 1) as f64 * std::f64::consts::PI / (n + 1) as f64;
            let expected = 2.0 - 2.0 * angle.cos();
            assert!((value - expected).abs() < 1e-15 * (4 * n + 4) as f64, "{n}: {value}");
        }
    }
}

/// `Q Λ Qᵀ` has the eigenvalues Λ within rounding of the largest (Weyl).
#[test]
fn eigenvalues_of_turned_diagonals_are_the_diagonals() {
    for seed in 0..2_000 {
        let mut random = Random::new(seed);
        let n = 1 + random.below(20);
        let mut basis = OrthonormalBasis::default();
        basis.reset(n);
        while basis.rank() < n {
            let distance = basis.probe(&random.vector(n));
            if distance > 1e-3 {
                basis.push(distance);
            }
        }
        // Repeated, zero and graded eigenvalues of both signs.
        let mut expected: Vec<f64> = (0..n)
            .map(|_| match random.below(4) {
                0 => 0.0,
                1 => 1.0,
                2 => random.signed(),
                _ => 10f64.powf(-9.0 * random.uniform()),
            })
            .collect();
        let mut a = vec![0.0; n * n];
        for (k, value) in expected.iter().enumerate() {
            let unit: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i == k))).collect();
            let mut q = vec![0.0; n];
            basis.add_combination(&unit, &mut q);
            for at in 0..n * n {
                a[at] += value * q[at % n] * q[at / n];
            }
        }
        let mut found = vec![0.0; n];
        symmetric_eigenvalues(&mut a, n, &mut found);
        expected.sort_by(f64::total_cmp);
        let size = vec![max_abs(&expected); n];
        assert_within(&found, &expected, &size, 1e-14 * (n + 4) as f64, &format!("seed {seed}"));
    }
    let mut nan = [f64::NAN; 2];
    symmetric_eigenvalues(&mut [1.0, f64::NAN, f64::NAN, 2.0], 2, &mut nan);
    assert!(nan.iter().any(|value| value.is_nan()));
}

/// `x = -A⁺ r` satisfies the normal equations and has no part in the null space; the largest
/// singular value is the root of the largest eigenvalue of `AᵀA`.
#[test]
fn steps_are_of_least_squares_and_least_norm() {
    let mut complete = CompletePivoting::default();
    for_each_square(4_000, |case| {
        let n = case.n;
        if matches!(case.kind, Kind::Graded | Kind::NearlySingular) || n > 16 {
            return;
        }
        let svd = Svd::new(n, n, case.a.clone());
        let transpose = transposed(&case.a, n);
        let mut gram = product(&transpose, n, &case.a, n);
        let mut squares = vec![0.0; n];
        symmetric_eigenvalues(&mut gram, n, &mut squares);
        let largest = squares.last().map_or(0.0, |square| square.sqrt());
        let miss = (svd.largest() - largest).abs();
        assert!(miss <= 1e-13 * largest, "{}: {miss:e} of {largest:e}", case.name);

        let residual = case.random.vector(n);
        let mut x = vec![0.0; n];
        svd.step(&residual, 0.0, 1e-9 * largest, &mut x);
        let left: Vec<f64> =
            product(&case.a, n, &x, n).iter().zip(&residual).map(|(ax, r)| ax + r).collect();
        let normal = product(&transpose, n, &left, n);
        let size = (1.0 + largest * max_abs(&x)) * largest * n as f64;
        assert!(max_abs(&normal) <= 1e-13 * size, "{}: {:e}", case.name, max_abs(&normal));
        let system = complete.system_mut(n);
        system[..n * n].copy_from_slice(&case.a);
        system[n * n..].fill(0.0);
        assert_eq!(complete.eliminate(1e-12), case.rank, "{}", case.name);
        let mut free = vec![0.0; n];
        for index in 0..n - case.rank {
            complete.null_direction_into(index, &mut free);
            let bound = 1e-9 * dot(&absolute(&free), &absolute(&x));
            assert!(dot(&free, &x).abs() <= bound, "{}", case.name);
        }
    });
}

/// Damping by λ turns `1/σ` into `σ/(σ² + λ²)`.
#[test]
fn damping_shortens_steps() {
    // σ = 3 and 5, U = I, V from the columns: A = [3, 0, 0; 0, 5·0.8, 5·0.6].
    let svd = Svd::new(2, 3, vec![3.0, 0.0, 0.0, 4.0, 0.0, 3.0]);
    assert!((svd.largest() - 5.0).abs() < 1e-15);
    for damping in [0.0, 5.0] {
        let mut x = [0.0; 3];
        svd.step(&[-3.0, -5.0], damping, 1e-9, &mut x);
        let share = |sigma: f64| sigma * sigma / (sigma * sigma + damping * damping);
        let expected = [share(3.0), 0.8 * share(5.0), 0.6 * share(5.0)];
        assert_within(&x, &expected, &[1.0; 3], 1e-15, &format!("damping {damping}"));
    }
}
