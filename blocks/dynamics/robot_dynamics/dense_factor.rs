//! The factor of a mass matrix that motors have coupled across the branches of the tree.
//!
//! Eliminating from the last coordinate to the first makes no entry where neither the tree nor a
//! motor has one, as long as parents are listed before children: zeros are skipped.
//!
//! Reference: R. Featherstone, *Rigid Body Dynamics Algorithms* (2008), sec. 6.5, there `LᵀL`.

/// `M = CᵀC` with C lower triangular, both nv × nv, column by column; `m` is work memory
/// afterwards. At most nv³/6 products.
///
/// # Errors
/// The coordinate at which M is not positive definite.
pub(super) fn factor_into(m: &mut [f64], c: &mut [f64]) -> Result<(), usize> {
    let nv = m.len().isqrt();
    c.fill(0.0);
    for k in (0..nv).rev() {
        // What elimination has left of the row; the diagonal of C holds what it began with.
        let pivot = m[k * nv + k];
        let rounding = 4.0 * f64::EPSILON * nv as f64 * c[k * nv + k].max(pivot);
        if !(pivot > rounding && pivot.is_finite()) {
            return Err(k);
        }
        let root = pivot.sqrt();
        c[k * nv + k] = root;
        for i in 0..k {
            let value = m[i * nv + k];
            if value == 0.0 {
                continue;
            }
            let scaled = value / root;
            c[i * nv + k] = scaled;
            // Until its own turn the diagonal of C keeps the size of the terms that cancel.
            c[i * nv + i] += scaled * scaled;
            for j in 0..=i {
                m[j * nv + i] -= scaled * m[j * nv + k] / root;
            }
        }
    }
    Ok(())
}
