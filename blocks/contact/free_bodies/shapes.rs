//! Shapes of bodies, with their axes of inertia.

use std::sync::Arc;

use legwork_block::quantity::{Length, Positive};
use legwork_block::{Files, Invalid, parameters};
use legwork_contact::collision::{Polytope, Solid};
use legwork_mesh::Hull;
use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};

use crate::robot::meshes::read_mesh;

/// Shape of bodies. Their centre of mass is where a group's `at` says, and the orientation there is
/// that of the axes in which a shape is stated. The outputs are of the principal axes of inertia.
#[parameters]
pub enum SolidShape {
    /// A line along z, and all that is at most a radius from it.
    Capsule {
        /// Radius [m].
        radius: Positive<Length>,
        /// Length of the line, without the rounding [m].
        length: Positive<Length>,
    },
    /// A cylinder along z.
    Cylinder {
        /// Radius [m].
        radius: Positive<Length>,
        /// Height [m].
        length: Positive<Length>,
    },
    /// The convex hull of points.
    Hull {
        /// At least four that do not lie in a plane [m].
        points: Vec<[Length; 3]>,
    },
    /// The convex hull of a mesh.
    HullOf {
        /// File of the mesh: STL, OBJ, COLLADA, glTF or MSH. Relative to the diagram, or in a
        /// search root.
        file: String,
        /// By what its coordinates are multiplied [1].
        #[default = [1, 1, 1]]
        scale: [f64; 3],
        /// Most corners of the hull: those that reach farthest.
        #[default = 32]
        vertices: usize,
    },
}

/// A solid in its axes of inertia.
pub(super) struct Shaped {
    pub(super) solid: Solid,
    /// The axes in which it is stated, seen from those of inertia.
    pub(super) turn: UnitQuaternion<f64>,
    /// Largest extent along each of the stated axes, twice that from the centre [m].
    pub(super) size: Vector3<f64>,
}

fn bad(message: String) -> Invalid {
    Invalid::parameter("bodies", message)
}

impl SolidShape {
    /// The solid.
    ///
    /// # Errors
    /// If points have no volume, or a file is no mesh.
    pub(super) fn solid(&self, files: &dyn Files) -> Result<Shaped, Invalid> {
        let along_z = |radius: f64, half: f64| 2.0 * Vector3::new(radius, radius, half);
        let turn = UnitQuaternion::identity();
        Ok(match self {
            Self::Capsule { radius, length } => {
                let (radius, half_length) = (radius.value(), 0.5 * length.value());
                let size = along_z(radius, half_length + radius);
                Shaped { solid: Solid::Capsule { radius, half_length }, turn, size }
            }
            Self::Cylinder { radius, length } => {
                let (radius, half_length) = (radius.value(), 0.5 * length.value());
                let size = along_z(radius, half_length);
                Shaped { solid: Solid::Cylinder { radius, half_length }, turn, size }
            }
            Self::Hull { points } => {
                let points: Vec<Vector3<f64>> =
                    points.iter().map(|point| point.map(Length::value).into()).collect();
                hull(&points, usize::MAX)?
            }
            Self::HullOf { file, scale, vertices } => {
                let mesh = read_mesh(file, files).map_err(bad)?;
                let scale = Vector3::from(*scale);
                let points: Vec<Vector3<f64>> =
                    mesh.vertices.iter().map(|x| x.component_mul(&scale)).collect();
                hull(&points, *vertices)?
            }
        })
    }
}

/// A hull about its centre of mass and along its principal axes.
fn hull(points: &[Vector3<f64>], most: usize) -> Result<Shaped, Invalid> {
    let flat = |error| bad(format!("a hull has no volume: {error}"));
    if most < 4 || points.iter().any(|x| !x.iter().all(|x| x.is_finite())) {
        return Err(bad(format!("expected finite points and 4 corners or more, found {most}")));
    }
    let stated = Hull::of_at_most(points, most).map_err(flat)?;
    let stated = Polytope::of_hull(&stated).map_err(flat)?;
    let mass = stated.mass_properties();
    let extent = |x: &Vector3<f64>| (x - mass.center).abs();
    let size = stated.vertices().iter().map(extent).fold(Vector3::zeros(), |a, b| a.sup(&b)) * 2.0;
    let axes = principal_axes(&mass.inertia);
    let polytope = stated.moved(&axes.transpose(), &mass.center).map_err(flat)?;
    let turn =
        UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(axes.transpose()));
    Ok(Shaped { solid: Solid::Hull(Arc::new(polytope)), turn, size })
}

/// Principal axes as columns, right-handed; those of a diagonal matrix are its own.
fn principal_axes(inertia: &Matrix3<f64>) -> Matrix3<f64> {
    let off = inertia.m12.abs().max(inertia.m13.abs()).max(inertia.m23.abs());
    if off <= 1e-12 * inertia.trace() {
        return Matrix3::identity();
    }
    let mut axes = inertia.symmetric_eigen().eigenvectors;
    if axes.determinant() < 0.0 {
        axes.column_mut(2).neg_mut();
    }
    axes
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    struct None;

    impl Files for None {
        fn read(&self, path: &str) -> Result<Vec<u8>, String> {
            Err(format!("no file {path}"))
        }
    }

    /// A slanted brick of 12 x 6 x 4 cm: its moments are those of the brick, whose corners stay
    /// where they are when its axes are turned back.
    #[test]
    fn a_hull_has_the_axes_of_its_inertia() {
        let half = Vector3::new(0.06, 0.03, 0.02);
        let slant = Rotation3::from_euler_angles(0.3, -0.5, 0.9);
        let middle = Vector3::new(1.0, 2.0, -0.4);
        let corner =
            |i: usize| half.map_with_location(|k, _, x| if i >> k & 1 == 0 { -x } else { x });
        let points: Vec<[f64; 3]> = (0..8).map(|i| (middle + slant * corner(i)).into()).collect();
        let shape: SolidShape =
            serde_json::from_value(json!({ "Hull": { "points": points } })).expect("a shape");
        let Shaped { solid, turn, .. } = shape.solid(&None).expect("a volume");
        let mut moments: Vec<f64> = solid.moments_per_mass().iter().copied().collect();
        moments.sort_by(f64::total_cmp);
        let s = half.component_mul(&half);
        let expected = [(s.y + s.z) / 3.0, (s.z + s.x) / 3.0, (s.x + s.y) / 3.0];
        for (found, expected) in moments.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        let Solid::Hull(hull) = &solid else { panic!("expected a hull") };
        for own in hull.vertices() {
            let back = middle + turn.inverse() * own;
            let nearest = points.iter().map(|x| (Vector3::from(*x) - back).norm());
            assert!(nearest.fold(f64::INFINITY, f64::min) < 1e-12, "{back}");
        }
        assert!((solid.volume() - 8.0 * half.product()).abs() < 1e-15);
    }

    #[test]
    fn what_is_no_hull_is_refused() {
        let said = |shape: serde_json::Value| {
            let shape: SolidShape = serde_json::from_value(shape).expect("a shape");
            shape.solid(&None).err().expect("refused").message
        };
        let flat = json!({ "Hull": { "points": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]] } });
        assert_eq!(said(flat), "a hull has no volume: all its points lie in a plane");
        assert_eq!(said(json!({ "HullOf": { "file": "x.stl" } })), "no file x.stl");
    }
}
