//! Small dense linear algebra of the implicit contact.

/// The nearest symmetric 2 × 2 matrix without negative eigenvalues.
pub(super) fn semidefinite([a, b]: [[f64; 2]; 2]) -> [[f64; 2]; 2] {
    let mean = 0.5 * (a[0] + b[1]);
    let (half, off) = (0.5 * (a[0] - b[1]), 0.5 * (a[1] + b[0]));
    let spread = (half * half + off * off).sqrt();
    if mean - spread >= 0.0 {
        return [a, b];
    }
    if mean + spread <= 0.0 {
        return [[0.0; 2]; 2];
    }
    // Only the eigenvalue `mean + spread` stays: `λ (A - λ₂ I)/(λ - λ₂)`.
    let share = 0.5 * (mean + spread) / spread;
    [[share * (half + spread), share * off], [share * off, share * (spread - half)]]
}

/// Largest absolute value; NaN if there is one.
pub(super) fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |most: f64, x| if x.abs() > most || x.is_nan() { x.abs() } else { most })
}

pub(super) fn square(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}
