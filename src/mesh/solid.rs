//! Mass properties of what a surface bounds.

use nalgebra::{Matrix3, Vector3};

use crate::mesh::Mesh;

/// Volume, centre and second moments of a solid of density 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solid {
    /// Volume [m³].
    pub volume: f64,
    /// Centre of volume [m].
    pub center: Vector3<f64>,
    /// Rotational inertia about the centre, along the axes of the mesh, of density 1 [m⁵].
    pub inertia: Matrix3<f64>,
}

impl Solid {
    /// What a closed surface bounds, by the divergence theorem: the sum over the tetrahedra between
    /// each triangle (a, b, c) and a point,
    ///
    /// ```text
    /// V = Σ det[a b c] / 6
    /// c̄ = Σ V_k (a + b + c) / 4 / V
    /// ∫ x xᵀ dV = Σ V_k (a aᵀ + b bᵀ + c cᵀ + s sᵀ) / 20,  s = a + b + c
    /// I = tr(C) 1 − C
    /// ```
    ///
    /// (B. Mirtich, Fast and Accurate Computation of Polyhedral Mass Properties, 1996). The point is
    /// the middle of the bounds, for the digits. `None` if the volume is not positive beyond
    /// rounding: an open, flat or inside-out surface.
    #[must_use]
    pub fn of(mesh: &Mesh) -> Option<Self> {
        let [low, high] = mesh.bounds()?;
        let origin = 0.5 * (low + high);
        let (mut volume, mut first, mut second) = (0.0, Vector3::zeros(), Matrix3::zeros());
        for k in 0..mesh.triangles.len() {
            let [a, b, c] = mesh.corners(k).map(|corner| corner - origin);
            let part = a.dot(&b.cross(&c)) / 6.0;
            let sum = a + b + c;
            volume += part;
            first += sum * (part / 4.0);
            let outer = a * a.transpose() + b * b.transpose() + c * c.transpose();
            second += (outer + sum * sum.transpose()) * (part / 20.0);
        }
        let size = (high - low).max();
        if volume.is_nan() || volume <= 1e-12 * size * size * size {
            return None;
        }
        let center = first / volume;
        let about = second - center * center.transpose() * volume;
        let inertia = Matrix3::identity() * about.trace() - about;
        Some(Self { volume, center: origin + center, inertia })
    }
}
