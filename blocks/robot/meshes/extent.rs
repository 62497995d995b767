//! How the matter of a link can be spread over its shapes.

use std::f64::consts::PI;

use legwork_mechanics::{Placement, Shape};
use legwork_mesh::{Hull, Mesh, Solid};
use nalgebra::{Matrix3, Vector3};

/// The size of a solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extent {
    /// [m³].
    pub(super) volume: f64,
    /// Centre of volume [m].
    pub(super) center: Vector3<f64>,
    /// `∫ (x − c)(x − c)ᵀ dV / V` [m²].
    pub(super) second: Matrix3<f64>,
    /// Radius of a ball about the centre that holds it [m].
    pub(super) radius: f64,
}

impl Extent {
    /// That of the hull of a mesh, which has an inside however the surface is; none if the inside
    /// is nothing by rounding.
    pub(super) fn of_mesh(mesh: &Mesh, hull: &Hull) -> Option<Self> {
        let Solid { volume, center, inertia } = Solid::of(&hull.to_mesh())?;
        // I = tr(C) 1 − C.
        let second = (Matrix3::from_diagonal_element(0.5 * inertia.trace()) - inertia) / volume;
        let distances = mesh.vertices.iter().map(|vertex| (vertex - center).norm());
        Some(Self { volume, center, second, radius: distances.fold(0.0, f64::max) })
    }

    /// That of a primitive; a capsule counts as the cylinder of its whole length.
    pub(super) fn of(shape: &Shape) -> Option<Self> {
        let (volume, squares, radius) = match *shape {
            Shape::Sphere { radius: r } => {
                (4.0 / 3.0 * PI * r * r * r, Vector3::repeat(r * r / 5.0), r)
            }
            Shape::Box { size } => {
                (size.product(), size.component_mul(&size) / 12.0, size.norm() / 2.0)
            }
            Shape::Cylinder { radius: r, length } => {
                let squares = Vector3::new(r * r / 4.0, r * r / 4.0, length * length / 12.0);
                (PI * r * r * length, squares, libm::hypot(r, length / 2.0))
            }
            Shape::Capsule { radius: r, length } => {
                return Self::of(&Shape::Cylinder { radius: r, length: length + 2.0 * r });
            }
            _ => return None,
        };
        let second = Matrix3::from_diagonal(&squares);
        Some(Self { volume, center: Vector3::zeros(), second, radius })
    }

    /// Scaled along each axis.
    pub(super) fn scaled(&self, factors: &Vector3<f64>) -> Self {
        let scale = Matrix3::from_diagonal(factors);
        Self {
            volume: self.volume * factors.product().abs(),
            center: self.center.component_mul(factors),
            second: scale * self.second * scale,
            radius: self.radius * factors.amax(),
        }
    }

    /// In axes of the link.
    pub(super) fn placed(&self, at: &Placement) -> Self {
        let second = at.rotation * self.second * at.rotation.transpose();
        Self { center: at.transform_point(&self.center), second, ..*self }
    }

    /// Both, as if they did not overlap.
    pub(super) fn merged(self, other: Self) -> Self {
        let volume = self.volume + other.volume;
        let (a, b) = (self.volume / volume, other.volume / volume);
        let center = self.center * a + other.center * b;
        let about = |part: &Self| {
            let away = part.center - center;
            part.second + away * away.transpose()
        };
        let second = about(&self) * a + about(&other) * b;
        let reach = |part: &Self| (part.center - center).norm() + part.radius;
        Self { volume, center, second, radius: reach(&self).max(reach(&other)) }
    }
}
