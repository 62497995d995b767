//! The laws of the factorisations, over 10⁵ random and structured matrices.

mod bases;
mod definite;
mod general;
mod matrices;
mod rank;
mod sparse;
mod spectra;

/// One number that is none is found wherever it stands, and large finite ones are not taken for it.
#[test]
fn numbers_that_are_not_finite_are_found_at_every_place() {
    for len in 0..100 {
        let mut numbers = vec![f64::MAX; len];
        assert!(legwork_linalg::all_finite(&numbers), "{len}");
        for place in 0..len {
            for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                numbers[place] = bad;
                assert!(!legwork_linalg::all_finite(&numbers), "{bad} at {place} of {len}");
            }
            numbers[place] = -f64::MAX;
        }
    }
}

/// Every entry is in the sum once, with its own weight: of integers all sums are exact.
#[test]
fn weighted_squares_are_summed_at_every_length() {
    for len in 0..100u32 {
        let x: Vec<f64> = (0..len).map(|i| f64::from(i % 7) - 3.0).collect();
        let w: Vec<f64> = (0..len).map(|i| f64::from(1 + i % 11)).collect();
        let expected: f64 = x.iter().zip(&w).map(|(x, w)| w * x * x).sum();
        assert_eq!(legwork_linalg::weighted_square(&x, &w), expected, "{len}");
    }
}
