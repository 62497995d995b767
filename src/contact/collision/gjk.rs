//! Nearest points of two convex cores that are apart.

use nalgebra::{Matrix3, Vector3};

use super::core::Core;
use super::rims::Feature;
use super::segments;

/// Most steps; polytopes take some ten.
const STEPS: usize = 64;
/// Cores whose distance is below this part of their size overlap.
const OVERLAP: f64 = 1e-13;
/// Gain of a step, relative to the square of the distance, below which it is rounding.
const ROUNDING: f64 = 1e-15;

/// The nearest points of two cores.
#[derive(Clone, Copy)]
pub(super) struct Nearest {
    /// On the first, world axes.
    pub(super) first: Vector3<f64>,
    /// On the second after its shift, world axes.
    pub(super) second: Vector3<f64>,
    /// From the second to the first [m].
    pub(super) apart: Vector3<f64>,
}

/// The end of a search.
pub(super) enum Found<T> {
    Points(Nearest),
    /// The result of a search that ended early.
    Early(T),
}

/// A difference of two points, and the points.
#[derive(Clone, Copy)]
struct Vertex {
    first: Vector3<f64>,
    /// Before the shift.
    second: Vector3<f64>,
    apart: Vector3<f64>,
}

/// Nearest points of two cores, as often as one of them is shifted: each search begins where the
/// last one ended.
pub(super) struct Search<'a> {
    a: &'a Core<'a>,
    b: &'a Core<'a>,
    simplex: Simplex,
}

impl<'a> Search<'a> {
    pub(super) fn new(a: &'a Core<'a>, b: &'a Core<'a>) -> Self {
        let zero = Vector3::zeros();
        let none = Vertex { first: zero, second: zero, apart: zero };
        Self { a, b, simplex: Simplex { vertices: [none; 4], len: 0 } }
    }

    /// Nearest points of `a` and of `b` moved by `shift`, by the algorithm of Gilbert, Johnson and
    /// Keerthi; `None` if they overlap. Allocates nothing.
    ///
    /// Of the simplex of up to four differences each part with the last vertex is tried, and the
    /// nearest of those points is taken that lie inside their part: its distance is an upper bound
    /// whatever was rounded. The search ends when no step gains.
    ///
    /// References: E. Gilbert, D. Johnson, S. Keerthi, *A fast procedure for computing the distance
    /// between complex objects in three-dimensional space* (1988).
    pub(super) fn nearest(&mut self, shift: &Vector3<f64>) -> Option<Nearest> {
        match self.nearest_or(shift, [], |_, _| None::<std::convert::Infallible>)? {
            Found::Points(points) => Some(points),
            Found::Early(never) => match never {},
        }
    }

    /// As [`Self::nearest`]; `finish` may end the search early, from the features that hold the
    /// nearest points and their difference. It is asked when a step gains less than each of `gains`
    /// of the square of the distance.
    pub(super) fn nearest_or<T, const N: usize>(
        &mut self,
        shift: &Vector3<f64>,
        gains: [f64; N],
        mut finish: impl FnMut([Feature; 2], &Vector3<f64>) -> Option<T>,
    ) -> Option<Found<T>> {
        let mut gains = gains.into_iter().peekable();
        let Self { a, b, simplex } = self;
        let least = OVERLAP * (a.size() + b.size());
        if let (Some((p, u)), Some((q, w))) = (a.line(), b.line()) {
            let (first, second) = segments::nearest((p, &u), (&(q + shift), &w));
            let apart = first - second;
            let points = Nearest { first, second, apart };
            return (apart.norm() > least).then_some(Found::Points(points));
        }
        let at = |direction: &Vector3<f64>| {
            let (first, second) = (a.support(&-direction), b.support(direction));
            Vertex { first, second, apart: first - (second + shift) }
        };
        let mut best = if simplex.len == 0 {
            let first = at(&(a.center() - b.center() - shift));
            simplex.push(first);
            Point { weights: [1.0, 0.0, 0.0, 0.0], apart: first.apart }
        } else {
            // In what is left of the last search.
            for vertex in &mut simplex.vertices[..simplex.len] {
                vertex.apart = vertex.first - (vertex.second + shift);
            }
            let mut best = simplex.nearest(0)?;
            simplex.keep(&mut best);
            best
        };
        for _ in 0..STEPS {
            let squared = best.apart.norm_squared();
            if squared <= least * least {
                return None;
            }
            let next = at(&best.apart);
            let gain = squared - best.apart.dot(&next.apart);
            if gain <= ROUNDING * squared {
                break;
            }
            if gains.next_if(|asked| gain <= asked * squared).is_some()
                && let Some(features) = simplex.features(a, b)
                && let Some(end) = finish(features, &best.apart)
            {
                return Some(Found::Early(end));
            }
            simplex.push(next);
            let found = simplex.nearest(simplex.len - 1)?;
            if found.apart.norm_squared() >= squared {
                // The last step was the best; its weights are those of the vertices before.
                simplex.len -= 1;
                break;
            }
            best = found;
            simplex.keep(&mut best);
        }
        let mut point = Nearest { first: Vector3::zeros(), second: *shift, apart: best.apart };
        for (vertex, weight) in simplex.vertices.iter().zip(best.weights).take(simplex.len) {
            point.first += vertex.first * weight;
            point.second += vertex.second * weight;
        }
        Some(Found::Points(point))
    }
}

/// Up to four differences.
struct Simplex {
    vertices: [Vertex; 4],
    len: usize,
}

/// The point of a simplex that is nearest to the origin.
#[derive(Clone, Copy)]
struct Point {
    /// Of the vertices, zero or more, in sum 1.
    weights: [f64; 4],
    apart: Vector3<f64>,
}

impl Simplex {
    /// The features of both cores that hold the vertices, where they are no faces.
    fn features(&self, a: &Core<'_>, b: &Core<'_>) -> Option<[Feature; 2]> {
        let vertices = &self.vertices[..self.len];
        let first = a.feature_of(vertices.iter().map(|vertex| vertex.first))?;
        Some([first, b.feature_of(vertices.iter().map(|vertex| vertex.second))?])
    }

    fn push(&mut self, vertex: Vertex) {
        self.vertices[self.len] = vertex;
        self.len += 1;
    }

    /// Drops the vertices without weight.
    fn keep(&mut self, point: &mut Point) {
        let mut kept = 0;
        for i in 0..self.len {
            if point.weights[i] > 0.0 {
                self.vertices[kept] = self.vertices[i];
                point.weights[kept] = point.weights[i];
                kept += 1;
            }
        }
        point.weights[kept..].fill(0.0);
        self.len = kept;
    }

    /// The point nearest to the origin of all parts that hold the vertex `since` or a later one;
    /// `None` if the origin is inside. What else there is was tried before.
    fn nearest(&self, since: usize) -> Option<Point> {
        let w = |i: usize| self.vertices[i].apart;
        if self.len == 4 && is_inside([w(0), w(1), w(2), w(3)]) {
            return None;
        }
        let mut best = Point { weights: [0.0; 4], apart: w(since) };
        best.weights[since] = 1.0;
        let mut least = best.apart.norm_squared();
        let mut offer = |of: &[(usize, f64)]| {
            let apart: Vector3<f64> = of.iter().map(|(i, weight)| w(*i) * *weight).sum();
            let squared = apart.norm_squared();
            if squared < least {
                least = squared;
                best = Point { weights: [0.0; 4], apart };
                of.iter().for_each(|(i, weight)| best.weights[*i] = *weight);
            }
        };
        for i in since..self.len {
            offer(&[(i, 1.0)]);
            for j in 0..i {
                let along = w(j) - w(i);
                let share = -w(i).dot(&along) / along.norm_squared();
                if share > 0.0 && share < 1.0 {
                    offer(&[(i, 1.0 - share), (j, share)]);
                }
                for k in 0..j {
                    if let Some([a, b, c]) = on_triangle(w(i), w(j), w(k)) {
                        offer(&[(i, a), (j, b), (k, c)]);
                    }
                }
            }
        }
        Some(best)
    }
}

/// Weights of the corners of a triangle in the foot of the origin, if that is inside.
fn on_triangle(a: Vector3<f64>, b: Vector3<f64>, c: Vector3<f64>) -> Option<[f64; 3]> {
    let normal = (b - a).cross(&(c - a));
    let area = normal.norm_squared();
    // Parts of the area, each seen from the foot: n·(b × c) is that against a.
    let parts = [normal.dot(&b.cross(&c)), normal.dot(&c.cross(&a)), normal.dot(&a.cross(&b))];
    let is_inside = area > 0.0 && parts.iter().all(|part| *part > 0.0);
    let sum: f64 = parts.iter().sum();
    (is_inside && sum > 0.0).then(|| parts.map(|part| part / sum))
}

/// Whether the origin is inside a tetrahedron.
fn is_inside(w: [Vector3<f64>; 4]) -> bool {
    let volume = |a: Vector3<f64>, b: Vector3<f64>, c: Vector3<f64>| {
        Matrix3::from_columns(&[a, b, c]).determinant()
    };
    let all = volume(w[1] - w[0], w[2] - w[0], w[3] - w[0]);
    let parts = [
        volume(w[1], w[2], w[3]),
        -volume(w[0], w[2], w[3]),
        volume(w[0], w[1], w[3]),
        -volume(w[0], w[1], w[2]),
    ];
    all != 0.0 && parts.iter().all(|part| part * all > 0.0)
}
