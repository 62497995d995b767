//! Ground as a field of heights `z = h(x, y)` on a regular grid.
//!
//! Between the grid points h is the tensor product of Catmull-Rom splines: once continuously
//! differentiable, through every given height, and exact for planes. Its second derivative jumps
//! across the lines of the grid. Beyond the border the height of the border continues outwards.
//!
//! # Nearest point
//!
//! `y = (u, v, h(u, v))` nearest to a point p makes `½ |p − y|²` stationary. With `e = p_z − h`,
//! tangents `T = [∂y/∂u, ∂y/∂v]`, first fundamental form `G = TᵀT`:
//!
//! ```text
//! Tᵀ (p − y) = 0,    Newton: (G − e ∇²h) δ = Tᵀ (p − y)
//! ```
//!
//! from the point below or above p, damped by halving until the distance does not grow. There the
//! distance is `(p − y)·N` with `N = (−h_u, −h_v, 1)/w`, `w = √(1 + h_u² + h_v²)`, and, by
//! Weingarten's equations, its second derivative is
//!
//! ```text
//! H = −T G⁻¹ II (G − d II)⁻¹ Tᵀ,    II = ∇²h / w
//! ```
//!
//! # References
//! E. Catmull, R. Rom, *A class of local interpolating splines* (1974).
//! M. do Carmo, *Differential Geometry of Curves and Surfaces* (1976), § 3-3.

use nalgebra::{Matrix2, Matrix3, Matrix3x2, Vector2, Vector3};

use crate::collision::{Facet, bends_down};
use crate::surface::Distance;

/// Newton steps to the nearest point, at most. On smooth ground it takes three to five.
const STEPS: usize = 30;
/// Halvings of one step, at most.
const HALVINGS: usize = 12;

/// A field of heights on a regular grid: bicubic (Catmull-Rom) between the points, constant beyond
/// the border.
#[doc(alias("terrain", "heightmap", "Catmull-Rom"))]
#[derive(Clone, Debug, PartialEq)]
pub struct HeightField {
    /// Grid points along x and y.
    counts: [usize; 2],
    /// Distance of grid points [m].
    cell: f64,
    /// Position of the first grid point [m].
    origin: Vector2<f64>,
    /// Heights [m] with one more point around, row by row along x.
    padded: Vec<f64>,
}

/// Why numbers do not form a height field.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum HeightFieldError {
    /// Fewer than two points along an axis.
    #[error("expected at least 2 x 2 heights, found {along_x} x {along_y}")]
    TooSmall {
        /// Points along x.
        along_x: usize,
        /// Points along y.
        along_y: usize,
    },
    /// The heights do not fill the grid.
    #[error("expected {expected} heights, found {found}")]
    Count {
        /// Points of the grid.
        expected: usize,
        /// Heights given.
        found: usize,
    },
    /// A height that is not finite.
    #[error("expected finite heights, found {height} at ({along_x}, {along_y})")]
    NotFinite {
        /// The height.
        height: f64,
        /// Place along x.
        along_x: usize,
        /// Place along y.
        along_y: usize,
    },
    /// The distance of grid points is not greater than zero.
    #[error("expected a cell greater than zero, found {cell} m")]
    Cell {
        /// The distance [m].
        cell: f64,
    },
}

/// Height and its derivatives at one point.
#[derive(Clone, Copy, Debug)]
struct Jet {
    height: f64,
    /// `(h_u, h_v)`.
    slope: Vector2<f64>,
    /// `(h_uu, h_uv; h_uv, h_vv)`.
    bend: Matrix2<f64>,
}

/// Weights of four neighbours along one axis for a value, its first and its second derivative.
struct Weights {
    /// First of the four, in the padded grid.
    first: usize,
    value: [f64; 4],
    slope: [f64; 4],
    bend: [f64; 4],
}

/// The weights at `x`; outside the derivatives are zero.
fn weights(x: f64, origin: f64, cell: f64, count: usize) -> Weights {
    let along = (x - origin) / cell;
    let last = (count - 2) as f64;
    let inside = (0.0..=last + 1.0).contains(&along);
    // NaN ends up in the first cell.
    let first = along.max(0.0).min(last) as usize;
    let t = (along - first as f64).clamp(0.0, 1.0);
    let value = [
        t * (-0.5 + t * (1.0 - 0.5 * t)),
        1.0 + t * t * (-2.5 + 1.5 * t),
        t * (0.5 + t * (2.0 - 1.5 * t)),
        t * t * (-0.5 + 0.5 * t),
    ];
    let scale = if inside { 1.0 / cell } else { 0.0 };
    let slope = [
        scale * (-0.5 + t * (2.0 - 1.5 * t)),
        scale * (t * (-5.0 + 4.5 * t)),
        scale * (0.5 + t * (4.0 - 4.5 * t)),
        scale * (t * (-1.0 + 1.5 * t)),
    ];
    let square = scale * scale;
    let bend = [
        square * (2.0 - 3.0 * t),
        square * (-5.0 + 9.0 * t),
        square * (4.0 - 9.0 * t),
        square * (-1.0 + 3.0 * t),
    ];
    Weights { first, value, slope, bend }
}

impl HeightField {
    /// The field of `heights` [m], row by row: along x in a row, along y from row to row.
    ///
    /// | argument | meaning |
    /// |---|---|
    /// | `along_x` | grid points of a row |
    /// | `cell` | distance of grid points along x and y [m] |
    /// | `origin` | position of the first grid point [m] |
    ///
    /// # Errors
    /// If the grid is smaller than 2 × 2, not full, or a number is not finite.
    pub fn new(
        heights: &[f64],
        along_x: usize,
        cell: f64,
        origin: [f64; 2],
    ) -> Result<Self, HeightFieldError> {
        let along_y = heights.len().checked_div(along_x).unwrap_or(0);
        if along_x < 2 || along_y < 2 {
            return Err(HeightFieldError::TooSmall { along_x, along_y });
        }
        if along_x * along_y != heights.len() {
            let expected = along_x * (along_y + 1);
            return Err(HeightFieldError::Count { expected, found: heights.len() });
        }
        if !(cell > 0.0 && cell.is_finite()) {
            return Err(HeightFieldError::Cell { cell });
        }
        if let Some(at) = heights.iter().position(|height| !height.is_finite()) {
            let (along_x, along_y) = (at % along_x, at / along_x);
            return Err(HeightFieldError::NotFinite { height: heights[at], along_x, along_y });
        }
        let stride = along_x + 2;
        let mut padded = vec![0.0; stride * (along_y + 2)];
        for (row, line) in heights.chunks_exact(along_x).enumerate() {
            let target = &mut padded[(row + 1) * stride..(row + 2) * stride];
            target[1..=along_x].copy_from_slice(line);
            // Points around the grid continue it linearly, so that planes are reproduced.
            target[0] = 2.0 * line[0] - line[1];
            target[along_x + 1] = 2.0 * line[along_x - 1] - line[along_x - 2];
        }
        for column in 0..stride {
            let at = |row: usize| row * stride + column;
            padded[at(0)] = 2.0 * padded[at(1)] - padded[at(2)];
            padded[at(along_y + 1)] = 2.0 * padded[at(along_y)] - padded[at(along_y - 1)];
        }
        let origin = Vector2::from(origin);
        Ok(Self { counts: [along_x, along_y], cell, origin, padded })
    }

    /// Grid points along x and y.
    #[must_use]
    pub fn counts(&self) -> [usize; 2] {
        self.counts
    }

    /// Position of a grid point [m].
    #[must_use]
    pub fn place(&self, along_x: usize, along_y: usize) -> [f64; 2] {
        [self.origin.x + self.cell * along_x as f64, self.origin.y + self.cell * along_y as f64]
    }

    /// Height at (x, y) [m].
    #[must_use]
    pub fn height(&self, x: f64, y: f64) -> f64 {
        self.jet(&Vector2::new(x, y)).height
    }

    /// Calls `f` with the triangles of all cells that are over or under a box and reach into or
    /// above it, two of each cell, and their numbers. The cells at the border reach outwards as far
    /// as the box.
    pub(crate) fn for_each_facet(
        &self,
        low: &Vector3<f64>,
        high: &Vector3<f64>,
        mut f: impl FnMut(u64, &Facet),
    ) {
        let [nx, ny] = self.counts.map(|count| count as isize);
        let grid = Grid { field: self, low: low.xy(), high: high.xy() };
        // Cells −1 and n − 1 are beyond the border. NaN ends up in cell 0.
        let cell = |x: f64, axis: usize, count: isize| {
            let along = libm::floor((x - self.origin[axis]) / self.cell);
            along.max(-1.0).min((count - 1) as f64) as isize
        };
        for j in cell(low.y, 1, ny)..=cell(high.y, 1, ny) {
            for i in cell(low.x, 0, nx)..=cell(high.x, 0, nx) {
                let at = |along_x: isize, along_y: isize| grid.corner(i + along_x, j + along_y);
                let corners = [at(0, 0), at(1, 0), at(1, 1), at(0, 1)];
                if corners.iter().all(|corner| corner.z < low.z) {
                    continue;
                }
                let [a, b, c, d] = corners;
                let number = 2 * ((j + 1) * (nx + 1) + i + 1) as u64;
                f(number, &facet([a, b, c], [at(0, -1), at(2, 1), d]));
                f(number + 1, &facet([a, c, d], [b, at(1, 2), at(-1, 0)]));
            }
        }
    }

    /// One more than the largest number of a triangle.
    pub(crate) fn facet_count(&self) -> u64 {
        2 * (self.counts[0] as u64 + 1) * (self.counts[1] as u64 + 1)
    }

    fn jet(&self, at: &Vector2<f64>) -> Jet {
        let x = weights(at.x, self.origin.x, self.cell, self.counts[0]);
        let y = weights(at.y, self.origin.y, self.cell, self.counts[1]);
        let stride = self.counts[0] + 2;
        let mut jet = Jet { height: 0.0, slope: Vector2::zeros(), bend: Matrix2::zeros() };
        for row in 0..4 {
            let start = (y.first + row) * stride + x.first;
            let line = &self.padded[start..start + 4];
            let sum =
                |w: &[f64; 4]| w[0] * line[0] + w[1] * line[1] + w[2] * line[2] + w[3] * line[3];
            let (value, slope) = (sum(&x.value), sum(&x.slope));
            jet.height += y.value[row] * value;
            jet.slope.x += y.value[row] * slope;
            jet.slope.y += y.slope[row] * value;
            jet.bend.m11 += y.value[row] * sum(&x.bend);
            jet.bend.m12 += y.slope[row] * slope;
            jet.bend.m22 += y.bend[row] * value;
        }
        jet.bend.m21 = jet.bend.m12;
        jet
    }

    /// Signed distance, normal and curvature at `point`: of the nearest point of the surface, by
    /// damped Newton steps.
    #[must_use]
    pub fn at(&self, point: &Vector3<f64>) -> Distance {
        let (at, jet) = self.nearest(point);
        let w = libm::sqrt(1.0 + jet.slope.norm_squared());
        let normal = Vector3::new(-jet.slope.x, -jet.slope.y, 1.0) / w;
        let foot = Vector3::new(at.x, at.y, jet.height);
        let distance = (point - foot).dot(&normal);
        let (first, second) = (first_form(&jet), jet.bend / w);
        let tangents = Matrix3x2::new(1.0, 0.0, 0.0, 1.0, jet.slope.x, jet.slope.y);
        let spread = first - second * distance;
        // At a centre of curvature the normal turns at once: then, as if on the surface.
        let inverse = if is_definite(&spread) { inverse(&spread) } else { inverse(&first) };
        let curvature: Matrix3<f64> =
            -(tangents * (self::inverse(&first) * second * inverse) * tangents.transpose());
        let symmetric = (curvature + curvature.transpose()) * 0.5;
        Distance { distance, normal, curvature: symmetric }
    }

    /// Position (u, v) of the nearest point of the surface.
    fn nearest(&self, point: &Vector3<f64>) -> (Vector2<f64>, Jet) {
        let mut at = point.xy();
        let mut jet = self.jet(&at);
        let cost = |at: &Vector2<f64>, jet: &Jet| {
            let up = point.z - jet.height;
            (point.xy() - at).norm_squared() + up * up
        };
        let mut found = cost(&at, &jet);
        // Rounding of a distance of these numbers.
        let grain = 1e-15 * (self.cell + point.amax());
        for _ in 0..STEPS {
            let up = point.z - jet.height;
            let downhill = point.xy() - at + jet.slope * up;
            let first = first_form(&jet);
            let newton = first - jet.bend * up;
            let matrix = if is_definite(&newton) { newton } else { first };
            let mut step = inverse(&matrix) * downhill;
            if step.amax() <= grain {
                break;
            }
            let mut is_better = false;
            for _ in 0..HALVINGS {
                let (next, next_jet) = (at + step, self.jet(&(at + step)));
                let next_cost = cost(&next, &next_jet);
                if next_cost <= found * (1.0 + 1e-14) + grain * grain {
                    (at, jet, found) = (next, next_jet, next_cost);
                    is_better = true;
                    break;
                }
                step *= 0.5;
            }
            if !is_better {
                break;
            }
        }
        (at, jet)
    }
}

/// The points of a field, whose border continues outwards beyond a box.
struct Grid<'a> {
    field: &'a HeightField,
    low: Vector2<f64>,
    high: Vector2<f64>,
}

impl Grid<'_> {
    fn corner(&self, i: isize, j: isize) -> Vector3<f64> {
        let HeightField { counts, cell, origin, padded } = self.field;
        let along = |axis: usize, index: isize| {
            let last = counts[axis] as isize - 1;
            let inside = origin[axis] + cell * index.clamp(0, last) as f64;
            let place = match index {
                ..0 => inside.min(self.low[axis]) + cell * index as f64,
                _ if index > last => inside.max(self.high[axis]) + cell * (index - last) as f64,
                _ => inside,
            };
            (place, index.clamp(0, last) as usize + 1)
        };
        let ((x, column), (y, row)) = (along(0, i), along(1, j));
        Vector3::new(x, y, padded[row * (counts[0] + 2) + column])
    }
}

/// A triangle with the third corners of its neighbours, which tell where the ground bends down.
fn facet(corners: [Vector3<f64>; 3], beyond: [Vector3<f64>; 3]) -> Facet {
    let [a, b, c] = &corners;
    let normal = (b - a).cross(&(c - a)).normalize();
    let is_sharp = [0, 1, 2].map(|k: usize| bends_down(&normal, &(beyond[k] - corners[k])));
    Facet { corners, is_sharp }
}

/// `G = TᵀT`.
fn first_form(jet: &Jet) -> Matrix2<f64> {
    Matrix2::identity() + jet.slope * jet.slope.transpose()
}

/// Whether a symmetric matrix is definite, by a margin.
fn is_definite(a: &Matrix2<f64>) -> bool {
    a.m11 > 0.0 && a.determinant() > 1e-9 * a.m11 * a.m22
}

/// Inverse of a definite symmetric matrix.
fn inverse(a: &Matrix2<f64>) -> Matrix2<f64> {
    Matrix2::new(a.m22, -a.m12, -a.m21, a.m11) / a.determinant()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may stop")]
mod tests {
    use super::*;
    use legwork_qp::problems::Random;

    /// Hills of about 10 cm on a grid of 10 cm, 3 m wide.
    fn hills() -> HeightField {
        let heights: Vec<f64> = (0..30 * 31)
            .map(|i| {
                let (x, y) = ((i % 31) as f64 * 0.1, (i / 31) as f64 * 0.1);
                0.1 * libm::sin(2.5 * x) * libm::cos(1.8 * y + 0.3) + 0.05 * x
            })
            .collect();
        HeightField::new(&heights, 31, 0.1, [-1.5, -1.45]).unwrap()
    }

    #[test]
    fn a_plane_is_reproduced_exactly() {
        let (slope_x, slope_y, level) = (0.3, -0.7, 0.2);
        let heights: Vec<f64> = (0..7 * 5)
            .map(|i| {
                let (x, y) = (1.0 + 0.25 * (i % 7) as f64, -2.0 + 0.25 * (i / 7) as f64);
                level + slope_x * x + slope_y * y
            })
            .collect();
        let field = HeightField::new(&heights, 7, 0.25, [1.0, -2.0]).unwrap();
        let normal = Vector3::new(-slope_x, -slope_y, 1.0).normalize();
        let plane =
            crate::Plane::new(Vector3::new(0.0, 0.0, level), Vector3::new(-slope_x, -slope_y, 1.0))
                .unwrap();
        let mut random = Random::new(41);
        for _ in 0..200 {
            // Away from the border, where another plane begins.
            let (x, y) = (1.3 + 0.9 * random.uniform(), -1.75 + 0.5 * random.uniform());
            let on = Vector3::new(x, y, level + slope_x * x + slope_y * y);
            assert!((field.height(x, y) - on.z).abs() < 1e-14);
            let point = on + normal * (0.2 * random.uniform() - 0.1);
            let found = field.at(&point);
            assert!((found.distance - plane.distance(&point)).abs() < 1e-14, "{point}");
            assert!((found.normal - normal).amax() < 1e-13, "{point}");
            assert!(found.curvature.amax() < 1e-11, "{point}: {}", found.curvature);
        }
    }

    #[test]
    fn heights_of_grid_points_are_kept_and_the_border_continues() {
        let heights = [0.0, 1.0, 0.5, 2.0, -1.0, 0.25];
        let field = HeightField::new(&heights, 3, 0.5, [1.0, 2.0]).unwrap();
        for (i, height) in heights.iter().enumerate() {
            let (x, y) = (1.0 + 0.5 * (i % 3) as f64, 2.0 + 0.5 * (i / 3) as f64);
            assert!((field.height(x, y) - height).abs() < 1e-15, "point {i}");
        }
        assert_eq!(field.height(-9.0, 2.0), 0.0);
        assert_eq!(field.height(9.0, 9.0), 0.25);
        assert_eq!(field.height(1.5, 9.0), field.height(1.5, 2.5));
    }

    #[test]
    fn the_nearest_point_is_that_of_a_fine_search() {
        let field = hills();
        let mut random = Random::new(42);
        let cell = 0.004;
        for _ in 0..40 {
            let (x, y) = (1.2 * (2.0 * random.uniform() - 1.0), 2.0 * random.uniform() - 1.0);
            let z = field.height(x, y) + 0.3 * random.normal();
            let point = Vector3::new(x, y, z);
            let mut squared = f64::MAX;
            for i in -200..=200 {
                for j in -200..=200 {
                    let (u, v) = (x + cell * f64::from(i), y + cell * f64::from(j));
                    let foot = Vector3::new(u, v, field.height(u, v));
                    squared = squared.min((point - foot).norm_squared());
                }
            }
            let (searched, found) = (libm::sqrt(squared), field.at(&point).distance);
            assert!(found.abs() <= searched + 1e-12, "{point}: {found} for {searched}");
            assert!(searched - found.abs() < 2.0 * cell, "{point}: {found} for {searched}");
            assert_eq!(found > 0.0, z > field.height(x, y), "{point}");
        }
    }

    /// `∇d = n`, `∇n = H` away from the lines of the grid.
    #[test]
    fn normals_and_curvatures_are_derivatives_of_the_distance() {
        let field = hills();
        let mut random = Random::new(43);
        let (h, mut compared) = (1e-6, 0);
        for _ in 0..200 {
            let (x, y) = (2.0 * random.uniform() - 1.0, 2.0 * random.uniform() - 1.0);
            let point = Vector3::new(x, y, field.height(x, y) + 0.05 * random.normal());
            let here = field.at(&point);
            assert!((here.curvature * here.normal).amax() < 1e-12);
            for axis in 0..3 {
                let mut step = Vector3::zeros();
                step[axis] = h;
                let (after, before) = (field.at(&(point + step)), field.at(&(point - step)));
                if (after.curvature - before.curvature).amax() > 1e-3 {
                    continue;
                }
                compared += 1;
                let slope = (after.distance - before.distance) / (2.0 * h);
                assert!((slope - here.normal[axis]).abs() < 1e-8, "{point}");
                let turning = (after.normal - before.normal) / (2.0 * h);
                let error = (turning - here.curvature.column(axis)).amax();
                assert!(error < 1e-7, "{point}: {error:.1e}");
            }
        }
        assert!(compared > 500, "{compared} compared");
    }

    #[test]
    fn numbers_that_are_no_field_are_refused() {
        let refusal = |heights: &[f64], along_x, cell| {
            HeightField::new(heights, along_x, cell, [0.0; 2]).unwrap_err().to_string()
        };
        assert_eq!(refusal(&[], 0, 1.0), "expected at least 2 x 2 heights, found 0 x 0");
        assert_eq!(refusal(&[1.0; 3], 3, 1.0), "expected at least 2 x 2 heights, found 3 x 1");
        assert_eq!(refusal(&[1.0; 5], 2, 1.0), "expected 6 heights, found 5");
        assert_eq!(refusal(&[1.0; 4], 2, 0.0), "expected a cell greater than zero, found 0 m");
        let hole = [0.0, 0.0, 0.0, f64::NAN];
        assert_eq!(refusal(&hole, 2, 1.0), "expected finite heights, found NaN at (1, 1)");
        let field = HeightField::new(&[0.0; 4], 2, 1.0, [0.0; 2]).unwrap();
        assert!(field.at(&Vector3::repeat(f64::NAN)).distance.is_nan());
    }
}
