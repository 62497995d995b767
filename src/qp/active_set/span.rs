//! Bases of the faces of a friction pyramid.

use crate::cone::{ConeShape, Face};

/// The columns of E of one contact: a basis of the smallest subspace that holds a face.
#[derive(Clone, Copy, Debug)]
pub(super) enum Span {
    /// None.
    Apex,
    /// A generator, or the normal of a contact without friction.
    Ray([f64; 3]),
    /// A facet's direction across and one in its middle.
    Plane([[f64; 3]; 2]),
    /// All three axes.
    Space,
}

impl Span {
    /// That of a face.
    #[inline]
    pub(super) fn of(face: Face, slope: f64, cone: &ConeShape) -> Self {
        match face {
            Face::Apex => Self::Apex,
            Face::Edge(edge) => Self::Ray(cone.edge(slope, edge)),
            Face::Facet(facet) => {
                let [c, s] = cone.facets()[facet];
                Self::Plane([[-s, c, 0.0], [slope * c, slope * s, 1.0]])
            }
            Face::Interior if slope > 0.0 => Self::Space,
            Face::Interior => Self::Ray([0.0, 0.0, 1.0]),
        }
    }

    /// Number of columns.
    #[inline]
    pub(super) fn count(self) -> usize {
        match self {
            Self::Apex => 0,
            Self::Ray(_) => 1,
            Self::Plane(_) => 2,
            Self::Space => 3,
        }
    }

    /// `Eᵀ v`.
    #[inline(always)]
    pub(super) fn products(&self, v: [f64; 3], out: &mut [f64]) {
        let along = |d: &[f64; 3]| d[0] * v[0] + d[1] * v[1] + d[2] * v[2];
        match self {
            Self::Apex => {}
            Self::Ray(d) => out[0] = along(d),
            Self::Plane([d, e]) => out[..2].copy_from_slice(&[along(d), along(e)]),
            Self::Space => out[..3].copy_from_slice(&v),
        }
    }

    /// `E y`.
    #[inline(always)]
    pub(super) fn sum(&self, y: &[f64]) -> [f64; 3] {
        match self {
            Self::Apex => [0.0; 3],
            Self::Ray(d) => d.map(|d| y[0] * d),
            Self::Plane([d, e]) => [0, 1, 2].map(|i| y[0] * d[i] + y[1] * e[i]),
            Self::Space => [y[0], y[1], y[2]],
        }
    }
}
