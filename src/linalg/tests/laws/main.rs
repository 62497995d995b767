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
