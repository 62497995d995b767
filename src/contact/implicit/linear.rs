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

/// Gaussian elimination with partial pivoting of `size` rows of `size + 1` entries; the solution is
/// left in the last column. False if a pivot vanishes or is NaN.
pub(super) fn eliminate(system: &mut [f64], size: usize) -> bool {
    let width = size + 1;
    for k in 0..size {
        let (mut pivot, mut best) = (k, system[k * width + k].abs());
        for row in k + 1..size {
            let entry = system[row * width + k].abs();
            if entry > best {
                (pivot, best) = (row, entry);
            }
        }
        if !(best > 0.0 && best.is_finite()) {
            return false;
        }
        if pivot != k {
            let (above, below) = system.split_at_mut(pivot * width);
            above[k * width..(k + 1) * width].swap_with_slice(&mut below[..width]);
        }
        let (above, below) = system.split_at_mut((k + 1) * width);
        let top = &above[k * width + k..];
        let inverse = 1.0 / top[0];
        for line in below.chunks_exact_mut(width) {
            let factor = line[k] * inverse;
            if factor != 0.0 {
                for (entry, top) in line[k..].iter_mut().zip(top) {
                    *entry -= factor * top;
                }
            }
        }
    }
    for k in (0..size).rev() {
        let mut value = system[k * width + size];
        for column in k + 1..size {
            value -= system[k * width + column] * system[column * width + size];
        }
        system[k * width + size] = value / system[k * width + k];
    }
    true
}
