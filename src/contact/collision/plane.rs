//! Solids over a plane.

use nalgebra::Vector3;

use super::{Manifold, Pose, Solid, Witness};
use crate::geometry::Plane;

/// Signs of the corners of a cuboid.
const CORNERS: [[f64; 3]; 8] = [
    [-1.0, -1.0, -1.0],
    [1.0, -1.0, -1.0],
    [1.0, 1.0, -1.0],
    [-1.0, 1.0, -1.0],
    [-1.0, -1.0, 1.0],
    [1.0, -1.0, 1.0],
    [1.0, 1.0, 1.0],
    [-1.0, 1.0, 1.0],
];

/// Corners of a cylinder's rim that count.
const RIM: usize = 8;

/// Witnesses of a solid and a plane that are at most `reach` apart, into `manifold`; their normals
/// are the plane's. Of a cuboid's corners the upper half counts only below the plane: above it they
/// cannot be the first to touch. Of a cylinder's rims eight points count, the lowest exact.
pub fn collide_plane(solid: (&Solid, &Pose), plane: &Plane, reach: f64, manifold: &mut Manifold) {
    manifold.len = 0;
    let ((solid, pose), normal) = (solid, plane.normal());
    let height = plane.distance(&pose.centre);
    let down = pose.rotation.tr_mul(&normal);
    if height - solid.support(&-down) > reach {
        return;
    }
    let Manifold { buffers, .. } = manifold;
    buffers.points.clear();
    // Of points of the solid, in its axes; `rounding` is what lies around them.
    let mut add = |local: &Vector3<f64>, rounding: f64, is_lower: bool| {
        let gap = height + down.dot(local) - rounding;
        if gap <= reach && (is_lower || gap < 0.0) {
            let first = pose.centre + pose.rotation * local - normal * rounding;
            buffers.points.push([first, first - normal * gap]);
        }
    };
    match solid {
        Solid::Sphere { radius } => add(&Vector3::zeros(), *radius, true),
        Solid::Box { half_size } => {
            for corner in CORNERS {
                let local = half_size.component_mul(&Vector3::from(corner));
                add(&local, 0.0, down.dot(&local) <= 0.0);
            }
        }
        Solid::Capsule { radius, half_length } => {
            for z in [-half_length, *half_length] {
                add(&Vector3::new(0.0, 0.0, z), *radius, true);
            }
        }
        Solid::Cylinder { radius, half_length } => {
            let across = libm::sqrt(down.x * down.x + down.y * down.y);
            let (c, s) =
                if across > 0.0 { (-down.x / across, -down.y / across) } else { (1.0, 0.0) };
            for z in [-half_length, *half_length] {
                for i in 0..RIM {
                    let (sine, cosine) =
                        libm::sincos(std::f64::consts::TAU * i as f64 / RIM as f64);
                    let (x, y) = (c * cosine - s * sine, s * cosine + c * sine);
                    add(&Vector3::new(radius * x, radius * y, z), 0.0, down.z * z <= 0.0 || i == 0);
                }
            }
        }
        Solid::Hull(hull) => hull.vertices().iter().for_each(|x| add(x, 0.0, true)),
    }
    manifold.choose(reach, |[first, second]| Witness {
        first: *first,
        second: *second,
        normal,
        gap: normal.dot(&(first - second)),
    });
}
