//! The Delassus matrix `G = J M⁻¹ Jᵀ`: the inverse inertia seen at the contacts.
//!
//! With `M = Lᵀ D L` and `Y = J L⁻¹` (nc × nv), `G = Y D⁻¹ Yᵀ`. Column k of `Y` is needed only in
//! the rows of contacts that joint k moves. Contacts of one limb are usually adjacent, so each
//! column keeps the range of rows in which it is not zero, and all loops run over such ranges.

use crate::mass_factor::MassFactor;
use crate::model::Model;

/// Scratch memory of [`contact_inverse_inertia`].
#[doc(alias("contact inverse inertia"))]
#[derive(Clone, Debug)]
pub struct Delassus {
    y: Vec<f64>,
    ranges: Vec<(usize, usize)>,
}

impl Delassus {
    /// Memory for `model` with up to `row_capacity` contact rows.
    #[must_use]
    pub fn new(model: &Model, row_capacity: usize) -> Self {
        let nv = model.velocity_dim();
        Self { y: vec![0.0; nv * row_capacity], ranges: vec![(0, 0); nv] }
    }
}

/// Contact-space inverse inertia (Delassus matrix) `G = J M⁻¹ Jᵀ`.
///
/// | symbol | argument | shape | meaning |
/// |---|---|---|---|
/// | M | `factor` | nv × nv | mass matrix, by its factor |
/// | J | `jacobian` | nc × nv, column-major | contact velocity `= J ν` |
/// | G | `out` | nc × nc | velocity per impulse [1/kg for points] |
///
/// `G` is exactly symmetric and positive semidefinite; definite iff `J` has full row rank. Zero
/// parts of `J` are skipped. Allocates nothing while nc stays within the workspace's capacity
/// (else the workspace grows once).
///
/// # Panics
/// If `jacobian` has not `row_count × nv` entries or `out` not `row_count²`.
///
/// # References
/// R. Featherstone, *Rigid Body Dynamics Algorithms* (2008), sec. 6.5 and 11.
#[doc(alias("Delassus", "operational space inertia", "contact space inertia"))]
pub fn contact_inverse_inertia(
    factor: &MassFactor,
    jacobian: &[f64],
    row_count: usize,
    workspace: &mut Delassus,
    out: &mut [f64],
) {
    let nc = row_count;
    let nv = factor.dim();
    assert_eq!(jacobian.len(), nc * nv, "length of jacobian");
    assert_eq!(out.len(), nc * nc, "length of out");
    out.fill(0.0);
    if nc == 0 {
        return;
    }
    if workspace.y.len() < nc * nv {
        workspace.y.resize(nc * nv, 0.0);
    }
    let y = &mut workspace.y[..nc * nv];
    y.copy_from_slice(jacobian);
    let ranges = &mut workspace.ranges[..nv];
    for (range, column) in ranges.iter_mut().zip(y.chunks_exact(nc)) {
        *range = nonzero_range(column);
    }

    let pattern = factor.pattern();
    for &k in pattern.order().iter().rev() {
        let (lo, hi) = ranges[k];
        if lo == hi {
            continue;
        }
        // Column k reaches its ancestors: Y_i −= L_ki Y_k.
        for (&i, &l) in pattern.ancestors(k).iter().zip(factor.row_of_l(k)) {
            subtract_column(y, nc, (i, k), (lo, hi), l);
            let (first, last) = ranges[i];
            ranges[i] = if first == last { (lo, hi) } else { (first.min(lo), last.max(hi)) };
        }
        // No later column changes column k: add its contribution Y_k Y_kᵀ / D_k, lower triangle.
        let inverse = factor.inverse_pivot(k);
        let column = &y[k * nc + lo..k * nc + hi];
        for (c, value) in column.iter().enumerate() {
            let scaled = value * inverse;
            let start = (lo + c) * nc + lo + c;
            for (g, below) in out[start..start + column.len() - c].iter_mut().zip(&column[c..]) {
                *g += scaled * below;
            }
        }
    }
    for c in 0..nc {
        for r in c + 1..nc {
            out[r * nc + c] = out[c * nc + r];
        }
    }
}

/// `y[:, i] −= l y[:, k]` over the rows `lo .. hi`.
#[inline]
fn subtract_column(
    y: &mut [f64],
    nc: usize,
    (i, k): (usize, usize),
    (lo, hi): (usize, usize),
    l: f64,
) {
    let (to, from) = if i < k {
        let (head, tail) = y.split_at_mut(k * nc);
        (&mut head[i * nc + lo..i * nc + hi], &tail[lo..hi])
    } else {
        let (head, tail) = y.split_at_mut(i * nc);
        (&mut tail[lo..hi], &head[k * nc + lo..k * nc + hi])
    };
    for (to, from) in to.iter_mut().zip(from) {
        *to -= l * from;
    }
}

/// Smallest range that holds all entries that are not zero; `(0, 0)` if there are none.
fn nonzero_range(column: &[f64]) -> (usize, usize) {
    let Some(first) = column.iter().position(|&x| x != 0.0) else { return (0, 0) };
    let last = column.iter().rposition(|&x| x != 0.0).unwrap_or(first);
    (first, last + 1)
}
