//! Volume, area and inertia of the solids that geometry is made of.

use std::f64::consts::PI;

use nalgebra::{Matrix3, Vector3};

use super::tree::Solid;

/// Volume [m³], or the area of the surface [m²] of a shell; zero for what has none.
///
/// The area of an ellipsoid is K. Thomsen's approximation with p = 1.6075, within 1.061 %, as
/// MuJoCo has it.
pub(super) fn extent(solid: &Solid, shell: bool) -> f64 {
    match (solid, shell) {
        (Solid::Sphere { radius: r }, false) => 4.0 / 3.0 * PI * r * r * r,
        (Solid::Sphere { radius: r }, true) => 4.0 * PI * r * r,
        (Solid::Capsule { radius: r, half: h }, false) => {
            PI * r * r * (2.0 * h) + 4.0 / 3.0 * PI * r * r * r
        }
        (Solid::Capsule { radius: r, half: h }, true) => 4.0 * PI * r * r + 4.0 * PI * r * h,
        (Solid::Cylinder { radius: r, half: h }, false) => PI * r * r * (2.0 * h),
        (Solid::Cylinder { radius: r, half: h }, true) => 2.0 * PI * r * r + 4.0 * PI * r * h,
        (Solid::Ellipsoid { radii: a }, false) => 4.0 / 3.0 * PI * a.x * a.y * a.z,
        (Solid::Ellipsoid { radii: a }, true) => {
            const P: f64 = 1.6075;
            let term = |x: f64, y: f64| libm::pow(x * y, P);
            let mean = (term(a.x, a.y) + term(a.y, a.z) + term(a.z, a.x)) / 3.0;
            4.0 * PI * libm::pow(mean, 1.0 / P)
        }
        (Solid::Box { half: a }, false) => 8.0 * a.x * a.y * a.z,
        (Solid::Box { half: a }, true) => 8.0 * (a.x * a.y + a.y * a.z + a.z * a.x),
        (Solid::Plane | Solid::HeightField | Solid::Mesh { .. } | Solid::Fitted { .. }, _) => 0.0,
    }
}

/// Inertia about the centre, along the axes of the solid, for a mass of 1 kg [m²].
///
/// The shell of an ellipsoid is the layer between it and one whose radii are 1 µm larger, as MuJoCo
/// has it: its thickness is the same along the axes only.
pub(super) fn unit_inertia(solid: &Solid, shell: bool) -> Matrix3<f64> {
    let diagonal = match (solid, shell) {
        (Solid::Sphere { radius: r }, false) => Vector3::repeat(0.4 * r * r),
        (Solid::Sphere { radius: r }, true) => Vector3::repeat(2.0 / 3.0 * r * r),
        (Solid::Capsule { radius: r, half: h }, false) => {
            let ball = 4.0 * r / (4.0 * r + 6.0 * h);
            let rod = 1.0 - ball;
            // Steiner's theorem for half balls, whose centres are 3/8 r from their flat sides.
            let across = rod * (3.0 * r * r + 4.0 * h * h) / 12.0
                + ball * (0.4 * r * r + h * h + 0.75 * h * r);
            Vector3::new(across, across, rod * r * r / 2.0 + ball * 0.4 * r * r)
        }
        (Solid::Capsule { radius: r, half: h }, true) => {
            let ball = r / (r + h);
            let tube = 1.0 - ball;
            // Half spheres have their centres at r / 2.
            let across = tube * (6.0 * r * r + 4.0 * h * h) / 12.0
                + ball * (2.0 / 3.0 * r * r + h * h + h * r);
            Vector3::new(across, across, tube * r * r + ball * 2.0 / 3.0 * r * r)
        }
        (Solid::Cylinder { radius: r, half: h }, false) => {
            let across = (3.0 * r * r + 4.0 * h * h) / 12.0;
            Vector3::new(across, across, r * r / 2.0)
        }
        (Solid::Cylinder { radius: r, half: h }, true) => {
            let tube = 2.0 * h / (r + 2.0 * h);
            let disks = 1.0 - tube;
            let across = tube * (6.0 * r * r + 4.0 * h * h) / 12.0 + disks * (r * r / 4.0 + h * h);
            Vector3::new(across, across, tube * r * r + disks * r * r / 2.0)
        }
        (Solid::Ellipsoid { radii }, false) => about_axes(&radii.component_mul(radii), 0.2),
        (Solid::Ellipsoid { radii }, true) => {
            let outer = radii.add_scalar(1e-6);
            let (inner_volume, outer_volume) = (radii.product(), outer.product());
            let inner = about_axes(&radii.component_mul(radii), 0.2) * inner_volume;
            let outer = about_axes(&outer.component_mul(&outer), 0.2) * outer_volume;
            (outer - inner) / (outer_volume - inner_volume)
        }
        (Solid::Box { half }, false) => about_axes(&half.component_mul(half), 1.0 / 3.0),
        (Solid::Box { half: a }, true) => {
            let areas = Vector3::new(a.y * a.z, a.z * a.x, a.x * a.y);
            let total = areas.sum();
            // A face of normal i: a² along i, a²/3 along the other two.
            let second = |axis: usize| {
                let faces = (0..3).map(|normal| {
                    let part = if normal == axis { 1.0 } else { 1.0 / 3.0 };
                    areas[normal] / total * part
                });
                faces.sum::<f64>() * a[axis] * a[axis]
            };
            about_axes(&Vector3::new(second(0), second(1), second(2)), 1.0)
        }
        (Solid::Plane | Solid::HeightField | Solid::Mesh { .. } | Solid::Fitted { .. }, _) => {
            Vector3::zeros()
        }
    };
    Matrix3::from_diagonal(&diagonal)
}

/// Moments of inertia from `factor` times the second moments along the axes.
fn about_axes(squares: &Vector3<f64>, factor: f64) -> Vector3<f64> {
    let [x, y, z] = [squares.x, squares.y, squares.z];
    Vector3::new(y + z, x + z, x + y) * factor
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points of a solid in its own axes: whether it holds one.
    fn holds(solid: &Solid, p: &Vector3<f64>) -> bool {
        let across = p.x.hypot(p.y);
        match solid {
            Solid::Sphere { radius } => p.norm() <= *radius,
            Solid::Cylinder { radius, half } => across <= *radius && p.z.abs() <= *half,
            Solid::Capsule { radius, half } => across.hypot((p.z.abs() - half).max(0.0)) <= *radius,
            Solid::Ellipsoid { radii } => p.component_div(radii).norm() <= 1.0,
            Solid::Box { half } => p.abs() <= *half,
            _ => false,
        }
    }

    /// `∫ |(bc x, ca y, ab z)|` over the unit sphere, by its heights and longitudes.
    fn area_of_ellipsoid(radii: &Vector3<f64>) -> f64 {
        const N: usize = 400;
        let products = Vector3::repeat(radii.product()).component_div(radii);
        let mut sum = 0.0;
        for i in 0..N * N {
            let height = ((i % N) as f64 + 0.5) / N as f64 * 2.0 - 1.0;
            let (sin, cos) = (((i / N) as f64 + 0.5) / N as f64 * 2.0 * PI).sin_cos();
            let across = (1.0 - height * height).sqrt();
            let normal = Vector3::new(across * cos, across * sin, height);
            sum += products.component_mul(&normal).norm();
        }
        sum * 4.0 * PI / (N * N) as f64
    }

    /// Sums over a grid of 200³ cells come close to volume and inertia: flat sides lie between cells,
    /// and errors of the others, half a cell or 4 % of the volume, cancel. The difference of two
    /// solids that are 0.1 µm apart is that of the shell.
    #[test]
    fn solids_and_shells_agree_with_sums_over_a_grid() {
        let solids: [fn(f64) -> Solid; 5] = [
            |d| Solid::Sphere { radius: 0.3 + d },
            |d| Solid::Cylinder { radius: 0.2 + d, half: 0.3 + d },
            |d| Solid::Capsule { radius: 0.15 + d, half: 0.2 },
            |d| Solid::Ellipsoid { radii: Vector3::new(0.1 + d, 0.2 + d, 0.3 + d) },
            |d| Solid::Box { half: Vector3::new(0.1 + d, 0.2 + d, 0.3 + d) },
        ];
        const CELLS: usize = 200;
        const SIDE: f64 = 0.8;
        for make in solids {
            let solid = make(0.0);
            let cell = SIDE / CELLS as f64;
            let (mut volume, mut second) = (0.0, Vector3::zeros());
            let at = |i: usize| (i as f64 + 0.5) * cell - SIDE / 2.0;
            for i in 0..CELLS * CELLS * CELLS {
                let (x, y, z) = (i % CELLS, i / CELLS % CELLS, i / CELLS / CELLS);
                let point = Vector3::new(at(x), at(y), at(z));
                if holds(&solid, &point) {
                    volume += cell * cell * cell;
                    second += point.component_mul(&point) * (cell * cell * cell);
                }
            }
            let error = (volume / extent(&solid, false) - 1.0).abs();
            assert!(error < 5e-3, "{solid:?}: volume off by {error:.1e}");
            let expected = about_axes(&(second / volume), 1.0);
            let found = unit_inertia(&solid, false).diagonal();
            let error = (found - expected).amax() / expected.amax();
            assert!(error < 5e-3, "{solid:?}: inertia off by {error:.1e}");
            const D: f64 = 1e-7;
            let (inner, outer) = (extent(&solid, false), extent(&make(D), false));
            let (area, allowed) = match &solid {
                Solid::Ellipsoid { radii } => (area_of_ellipsoid(radii), 1.061e-2),
                // A layer of thickness d has the volume area × d.
                _ => ((outer - inner) / D, 1e-6),
            };
            let error = (area / extent(&solid, true) - 1.0).abs();
            assert!(error < allowed, "{solid:?}: area off by {error:.1e}");
            let layer = unit_inertia(&make(D), false) * outer - unit_inertia(&solid, false) * inner;
            let layer = layer.diagonal() / (outer - inner);
            let error = (unit_inertia(&solid, true).diagonal() - layer).amax() / layer.amax();
            assert!(error < 1e-5, "{solid:?}: shell's inertia off by {error:.1e}");
        }
    }
}
