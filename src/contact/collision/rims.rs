//! Newton's method on the direction in which two cores separate, for those with rims.
//!
//! The search of [`gjk`](super::gjk) ends after a few steps on polytopes. On a rim it halves its
//! error in each, and a better direction from drawing one core back takes several searches. Near
//! the answer it is known which feature of each core is nearest: a corner, an edge, a rim, or the
//! side of a cylinder. Between two features the separation along n is smooth,
//! `g(n) = n·(p(−n) − q(n))`, and its maximum over unit vectors has the Newton step
//!
//! `(P + Q + g 1) δ = p − q − g n`, δ across n,
//!
//! where `P = r/ρ t tᵀ` of a rim of radius r, ρ being the part of n across its axis and t the
//! direction along the rim. Of a corner P is zero. An edge, and the line of a side, keep n across
//! them; two of them fix it.
//!
//! An answer is certified: p and q lie on their features, `p − q = g n`, and no other points of the
//! cores are nearer to one another along n. So g is the distance of cores that are apart, and a
//! local maximum for cores that overlap.

use nalgebra::Vector3;

use super::core::Core;

/// Most steps; four are usual.
const STEPS: usize = 8;
/// Length of a step behind which the next one is below rounding [rad].
const SMALL: f64 = 1e-7;
/// Longest step [rad]: beyond, the features are others.
const LONG: f64 = 0.7;
/// Error of p − q across n, and of the gap, as a part of the cores' sizes.
const EXACT: f64 = 1e-13;
/// Square of the sine of the angle up to which two lines are parallel.
const PARALLEL: f64 = 1e-6;

/// The feature of a core that is nearest along a direction.
#[derive(Clone, Copy)]
pub(super) struct Feature {
    /// A corner, the middle of an edge, or the centre of a rim or of a side, world axes.
    pub(super) at: Vector3<f64>,
    /// Half of an edge, or of the lines of a side; zero of a corner and a rim.
    pub(super) line: Vector3<f64>,
    /// Axis and radius of a rim, or of a side.
    pub(super) rim: Option<(Vector3<f64>, f64)>,
}

/// A direction in which two cores separate most, as far as directions near it go.
#[derive(Clone, Copy)]
pub(super) struct Certified {
    /// Unit vector towards the first.
    pub(super) normal: Vector3<f64>,
    /// Of the cores along the normal [m].
    pub(super) gap: f64,
    /// The points of the first and the second that are `gap` apart.
    pub(super) points: [Vector3<f64>; 2],
}

impl Feature {
    /// The farthest point along `direction`; of a line its middle.
    fn support(&self, direction: &Vector3<f64>) -> Vector3<f64> {
        match self.rim {
            None => self.at,
            Some((axis, radius)) => {
                let across = direction - axis * axis.dot(direction);
                self.at + across * (radius / across.norm())
            }
        }
    }

    /// `t √(r/ρ)` at the direction n, whose square is the derivative of the support.
    fn bend(&self, n: &Vector3<f64>) -> Vector3<f64> {
        match self.rim {
            None => Vector3::zeros(),
            Some((axis, radius)) => {
                let along = axis.cross(n);
                let across = along.norm();
                along * (libm::sqrt(radius / across) / across)
            }
        }
    }

    fn is_line(&self) -> bool {
        self.line.norm_squared() > 0.0
    }
}

/// Newton's method from the direction `normal` between two features; `None` if it does not end at
/// points of the cores that are certified.
pub(super) fn polish(
    (a, b): (&Core<'_>, &Core<'_>),
    (first, second): (&Feature, &Feature),
    mut normal: Vector3<f64>,
) -> Option<Certified> {
    let mut is_near = false;
    for _ in 0..STEPS {
        normal = across(normal, (first, second))?;
        let apart = first.support(&-normal) - second.support(&normal);
        let gap = normal.dot(&apart);
        if is_near {
            return certify((a, b), (first, second), normal);
        }
        let step = newton_step((first, second), &normal, &apart, gap)?;
        let length = step.norm();
        if length.is_nan() || length > LONG {
            return None;
        }
        is_near = length < SMALL;
        normal += step;
    }
    None
}

/// The unit vector across the lines of both features that is nearest to `n`.
fn across(n: Vector3<f64>, (first, second): (&Feature, &Feature)) -> Option<Vector3<f64>> {
    let n = match (first.is_line(), second.is_line()) {
        (true, true) => {
            let both = first.line.cross(&second.line);
            let parallel = PARALLEL * first.line.norm_squared() * second.line.norm_squared();
            if both.norm_squared() <= parallel {
                return None;
            }
            both * 1.0_f64.copysign(both.dot(&n))
        }
        (false, false) => n,
        (is_first, _) => {
            let line = if is_first { first.line } else { second.line };
            n - line * (line.dot(&n) / line.norm_squared())
        }
    };
    n.try_normalize(f64::MIN_POSITIVE)
}

/// The Newton step δ of the direction; `None` if the separation has no maximum there.
fn newton_step(
    (first, second): (&Feature, &Feature),
    normal: &Vector3<f64>,
    apart: &Vector3<f64>,
    gap: f64,
) -> Option<Vector3<f64>> {
    let (p, q) = (first.bend(normal), second.bend(normal));
    let (u, v) = match (first.is_line(), second.is_line()) {
        (true, true) => return Some(Vector3::zeros()),
        (false, false) => {
            let axis = normal.iamin();
            let u = Vector3::ith(axis, 1.0).cross(normal).normalize();
            (u, Some(normal.cross(&u)))
        }
        (is_first, _) => {
            let line = if is_first { first.line } else { second.line };
            (normal.cross(&line).normalize(), None)
        }
    };
    let entry = |x: &Vector3<f64>, y: &Vector3<f64>| p.dot(x) * p.dot(y) + q.dot(x) * q.dot(y);
    let uu = entry(&u, &u) + gap;
    let Some(v) = v else { return (uu > 0.0).then(|| u * (u.dot(apart) / uu)) };
    let (uv, vv) = (entry(&u, &v), entry(&v, &v) + gap);
    let determinant = uu * vv - uv * uv;
    if uu <= 0.0 || determinant <= 0.0 {
        return None;
    }
    let (eu, ev) = (u.dot(apart), v.dot(apart));
    Some((u * (vv * eu - uv * ev) + v * (uu * ev - uv * eu)) / determinant)
}

/// The points of both features that are nearest along `normal`, if they are so of the cores.
fn certify(
    (a, b): (&Core<'_>, &Core<'_>),
    (first, second): (&Feature, &Feature),
    normal: Vector3<f64>,
) -> Option<Certified> {
    let exact = EXACT * (a.size() + b.size());
    let [mut p, mut q] = [first.support(&-normal), second.support(&normal)];
    let gap = normal.dot(&(p - q));
    let (u, w) = (first.line, second.line);
    // p + s u and q + t w, whose difference is along the normal.
    let e = p - q - normal * gap;
    let (uu, ww, uw) = (u.norm_squared(), w.norm_squared(), u.dot(&w));
    let (s, t) = match (uu > 0.0, ww > 0.0) {
        (true, true) => {
            let determinant = uu * ww - uw * uw;
            let (eu, ew) = (e.dot(&u), e.dot(&w));
            ((uw * ew - ww * eu) / determinant, (uu * ew - uw * eu) / determinant)
        }
        (true, false) => (-e.dot(&u) / uu, 0.0),
        (false, true) => (0.0, e.dot(&w) / ww),
        (false, false) => (0.0, 0.0),
    };
    if !(s.abs() <= 1.0 && t.abs() <= 1.0) {
        return None;
    }
    p += u * s;
    q += w * t;
    let is_along = (p - q - normal * gap).norm() <= exact;
    let is_nearest = normal.dot(&(a.support(&-normal) - b.support(&normal))) >= gap - exact;
    (is_along && is_nearest).then_some(Certified { normal, gap, points: [p, q] })
}
