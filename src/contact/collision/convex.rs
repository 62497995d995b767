//! Two convex solids: the direction in which they separate, and what is near along it.

use nalgebra::Vector3;

use super::core::Core;
use super::rims::{self, Certified, Feature};
use super::{Buffers, Manifold, Witness, gjk};

/// Distance below which the direction of the nearest points is not that of their difference, as a
/// part of the thinner solid's thickness.
const NEAR: f64 = 1e-3;
/// Part of the thinner solid's thickness by which another axis must be better than a face's normal
/// to be chosen.
const MARGIN: f64 = 1e-3;
/// Sine of the angle up to which a direction is a face's normal.
const SNAP: f64 = 1e-6;
/// Sine of the angle up to which two lines are parallel.
const PARALLEL: f64 = 1e-3;
/// Overlap from which on directions far from the normals of faces are tried, as a part of the
/// thinner solid's thickness.
const DEEP: f64 = 0.05;
/// Directions from which a better one is looked for.
const STARTS: usize = 6;
/// Most steps to a better direction.
const STEPS: usize = 20;
/// Gains at which a search among rims pauses for Newton's method, of the square of the distance.
const PAUSES: [f64; 2] = [1e-1, 1e-3];

/// A direction that separates two cores, and how far.
#[derive(Clone, Copy)]
struct Separation {
    /// Unit vector towards the first.
    normal: Vector3<f64>,
    /// Of the cores along the normal, negative in overlap [m].
    gap: f64,
    /// The points that are so far apart, where Newton's method found them.
    points: Option<[Vector3<f64>; 2]>,
}

/// Witnesses of two convex solids, from the second to the first.
pub(super) fn collide(a: &Core<'_>, b: &Core<'_>, reach: f64, manifold: &mut Manifold) {
    let rounding = a.rounding + b.rounding;
    let mut search = gjk::Search::new(a, b);
    let Some(found) = separation((a, b), &mut search, reach + rounding) else { return };
    let Manifold { buffers, .. } = manifold;
    buffers.points.clear();

    // A face across the direction, of the second if both have one; a round cap only if need be.
    let normal = found.normal;
    let is_across = |face: &Vector3<f64>, direction: &Vector3<f64>| {
        face.cross(direction).norm() <= SNAP && face.dot(direction) > 0.0
    };
    let below = b.facing(&normal).filter(|face| is_across(face, &normal));
    let above = a.facing(&-normal).filter(|face| is_across(face, &-normal));
    let takes_first = below.is_none() || (b.is_cylinder() && !a.is_cylinder());
    let normal = match (above, below) {
        (Some(out), _) if takes_first => {
            over_face(a, &out, b, reach + rounding, buffers);
            buffers.points.iter_mut().for_each(|pair| pair.swap(0, 1));
            -out
        }
        (_, Some(out)) => {
            over_face(b, &out, a, reach + rounding, buffers);
            out
        }
        _ => {
            along_lines(a, b, &normal, buffers);
            normal
        }
    };
    // The nearest points, unless one that is as near is known.
    let slack = 1e-9 * (a.size() + b.size());
    let nearest = buffers.points.iter().map(|[p, q]| normal.dot(&(p - q))).fold(f64::MAX, f64::min);
    if nearest > found.gap + slack {
        // Overlapping cores have such points once the second is drawn back.
        let near = NEAR * a.thickness().min(b.thickness());
        let shift = normal * -(near - found.gap).max(0.0);
        let points = found.points.filter(|_| normal == found.normal);
        buffers.points.push(points.unwrap_or_else(|| match search.nearest(&shift) {
            Some(points) => [points.first, points.second - shift],
            None => [a.support(&-normal), b.support(&normal)],
        }));
    }
    let witness = |[p, q]: &[Vector3<f64>; 2]| {
        Witness::new(p - normal * a.rounding, q + normal * b.rounding, normal)
    };
    manifold.choose(reach, witness);
}

/// Separation of `a` from `b` along a direction [m].
fn along(a: &Core<'_>, b: &Core<'_>, normal: &Vector3<f64>) -> f64 {
    normal.dot(&(a.support(&-normal) - b.support(normal)))
}

/// Separation of `other` from `base` along the normal of a face of `base`, whose distance from the
/// centre is `offset` [m].
fn over(base: &Core<'_>, face: &Vector3<f64>, offset: f64, other: &Core<'_>) -> f64 {
    face.dot(&(other.support(&-face) - base.center())) - offset
}

/// The direction in which two cores separate most; `None` if they are farther apart than `reach`.
///
/// Cores that are apart have that of their nearest points. The difference of points that nearly
/// touch has no direction, and overlapping cores have no nearest points: for those the normals of
/// all faces and the line of centres are tried, then `b` is drawn back along the best of them
/// until the cores are apart, and their nearest points then give a better one, if there is one.
fn separation(
    (a, b): (&Core<'_>, &Core<'_>),
    search: &mut gjk::Search<'_>,
    reach: f64,
) -> Option<Separation> {
    let thickness = a.thickness().min(b.thickness());
    let near = NEAR * thickness;
    if let Some(found) = nearest((a, b), search, &Vector3::zeros()) {
        let Apart { normal, distance, certified } = found;
        if distance > reach {
            return None;
        }
        if distance >= near {
            let points = certified.map(|found| found.points);
            return Some(Separation { normal, gap: distance, points });
        }
    }

    let margin = MARGIN * thickness;
    let centers = (a.center() - b.center()).try_normalize(f64::MIN_POSITIVE);
    let towards = centers.unwrap_or_else(Vector3::z);
    let mut best = best_face(a, b, margin);
    let has_faces = best.is_face;
    let center = along(a, b, &towards);
    if !has_faces || center > best.gap + margin {
        best = Start { gap: center, normal: towards, ..NONE };
    }
    if best.gap >= -DEEP * thickness && has_faces {
        best = refine((a, b), search, near, margin, best);
    } else {
        let starts = starts((a, b), &towards, margin);
        best = NONE;
        for start in starts.list.iter().filter(|start| start.gap > f64::NEG_INFINITY) {
            let better = refine((a, b), search, near, margin, *start);
            if better.gap > best.gap + if best.is_face { margin } else { 0.0 } {
                best = better;
            }
        }
    }

    let Start { gap, normal, points, .. } = best;
    (gap <= reach).then_some(Separation { normal, gap, points })
}

/// The nearest points of two cores of which one may have been moved.
struct Apart {
    /// Unit vector towards the first.
    normal: Vector3<f64>,
    distance: f64,
    /// If Newton's method found a direction, that of the cores as they are.
    certified: Option<Certified>,
}

/// Nearest points of `a` and of `b` moved by `shift`; `None` if they overlap. Among rims Newton's
/// method ends the search, for the cores as they are.
fn nearest(
    (a, b): (&Core<'_>, &Core<'_>),
    search: &mut gjk::Search<'_>,
    shift: &Vector3<f64>,
) -> Option<Apart> {
    let apart = if a.is_cylinder() || b.is_cylinder() {
        let polish = |[first, second]: [Feature; 2], apart: &Vector3<f64>| {
            rims::polish((a, b), (&first, &second), apart.try_normalize(f64::MIN_POSITIVE)?)
        };
        match search.nearest_or(shift, PAUSES, polish)? {
            gjk::Found::Points(found) => found.apart,
            gjk::Found::Early(found) => {
                let Certified { normal, gap, .. } = found;
                let distance = gap - normal.dot(shift);
                return Some(Apart { normal, distance, certified: Some(found) });
            }
        }
    } else {
        search.nearest(shift)?.apart
    };
    let distance = apart.norm();
    (distance > 0.0).then(|| Apart { normal: apart / distance, distance, certified: None })
}

/// The face along whose normal two cores separate most: one of `b` only if it is better by the
/// margin than all of `a`. Not looked at are faces whose core cannot be better, as the ball inside
/// the other core is deeper already.
fn best_face(a: &Core<'_>, b: &Core<'_>, margin: f64) -> Start {
    let apart = a.center() - b.center();
    let mut best = NONE;
    a.for_each_face(|face, offset| {
        if -face.dot(&apart) - offset - b.inner_radius() > best.gap {
            let gap = over(a, &face, offset, b);
            if gap > best.gap {
                best = Start { gap, normal: -face, is_face: true, points: None };
            }
        }
    });
    let least = best.gap + margin;
    b.for_each_face(|face, offset| {
        let bound = best.gap.max(least);
        if face.dot(&apart) - offset - a.inner_radius() > bound || !best.is_face {
            let gap = over(b, &face, offset, a);
            if gap > bound || !best.is_face {
                best = Start { gap, normal: face, is_face: true, points: None };
            }
        }
    });
    best
}

/// The best directions of two cores that overlap deeply: normals of faces, the line of the centres
/// and the directions between the axes.
fn starts((a, b): (&Core<'_>, &Core<'_>), towards: &Vector3<f64>, margin: f64) -> Starts {
    let mut starts = Starts::default();
    a.for_each_face(|face, offset| starts.offer(over(a, &face, offset, b), -face, true));
    let first = starts.best().gap;
    b.for_each_face(|face, offset| {
        let gap = over(b, &face, offset, a);
        if gap > first + margin || first == f64::NEG_INFINITY || starts.best().gap > first + margin
        {
            starts.offer(gap, face, true);
        }
    });
    let center = along(a, b, towards);
    if starts.best().gap == f64::NEG_INFINITY || center > starts.best().gap + margin {
        starts.offer(center, *towards, false);
    }
    for k in 0..27 {
        let direction = Vector3::new(k % 3, k / 3 % 3, k / 9).map(|i| f64::from(i) - 1.0);
        if let Some(direction) = direction.try_normalize(0.5) {
            starts.offer(along(a, b, &direction), direction, false);
        }
    }
    starts
}

/// A direction, and how far the cores separate along it.
#[derive(Clone, Copy)]
struct Start {
    gap: f64,
    normal: Vector3<f64>,
    is_face: bool,
    /// The points that are so far apart, where Newton's method found them.
    points: Option<[Vector3<f64>; 2]>,
}

const NONE: Start = Start {
    gap: f64::NEG_INFINITY,
    normal: Vector3::new(0.0, 0.0, 1.0),
    is_face: false,
    points: None,
};

/// The best directions, in order; of equal ones the first that was offered.
struct Starts {
    list: [Start; STARTS],
}

impl Default for Starts {
    fn default() -> Self {
        Self { list: [NONE; STARTS] }
    }
}

impl Starts {
    fn best(&self) -> &Start {
        &self.list[0]
    }

    fn offer(&mut self, gap: f64, normal: Vector3<f64>, is_face: bool) {
        let mut carried = Start { gap, normal, is_face, points: None };
        for own in &mut self.list {
            if carried.gap > own.gap {
                std::mem::swap(own, &mut carried);
            }
        }
    }
}

/// A better direction, by drawing `b` back along the last one until the nearest points have a
/// distance of `near`.
fn refine(
    (a, b): (&Core<'_>, &Core<'_>),
    search: &mut gjk::Search<'_>,
    near: f64,
    margin: f64,
    start: Start,
) -> Start {
    let rounding = 1e-13 * (a.size() + b.size());
    let mut best = start;
    for _ in 0..STEPS {
        let shift = best.normal * -(near - best.gap).max(0.0);
        let Some(found) = nearest((a, b), search, &shift) else { break };
        let (mut normal, mut is_face) = (found.normal, false);
        for face in [b.facing(&normal), a.facing(&-normal).map(|face| -face)].into_iter().flatten()
        {
            if !is_face && face.cross(&normal).norm() <= SNAP && face.dot(&normal) > 0.0 {
                (normal, is_face) = (face, true);
            }
        }
        let gap = along(a, b, &normal);
        if gap <= best.gap + if best.is_face { margin } else { rounding } {
            break;
        }
        let points = found.certified.filter(|_| !is_face).map(|found| found.points);
        best = Start { gap, normal, is_face, points };
        // What is certified is a maximum.
        if points.is_some() {
            break;
        }
    }
    best
}

/// Pairs of points of `other` and of the face of `base` whose normal is `out`, where they are at
/// most `reach` apart.
fn over_face(
    base: &Core<'_>,
    out: &Vector3<f64>,
    other: &Core<'_>,
    reach: f64,
    buffers: &mut Buffers,
) {
    let Buffers { face, polygon, clipped, points } = buffers;
    base.feature(out, face);
    other.feature(&-out, polygon);
    let level = out.dot(&base.support(out));
    // Sutherland and Hodgman: what lies over the face, edge by edge.
    for k in 0..face.len() {
        let (from, to) = (face[k], face[(k + 1) % face.len()]);
        let inwards = out.cross(&(to - from));
        let beyond = |x: &Vector3<f64>| -inwards.dot(&(x - from));
        clip(polygon, beyond, clipped);
        std::mem::swap(polygon, clipped);
    }
    for x in &*polygon {
        let height = out.dot(x) - level;
        if height <= reach {
            points.push([*x, x - out * height]);
        }
    }
}

/// The part of a polygon, a line or a point where `beyond` is not positive.
fn clip(
    polygon: &[Vector3<f64>],
    beyond: impl Fn(&Vector3<f64>) -> f64,
    kept: &mut Vec<Vector3<f64>>,
) {
    kept.clear();
    for k in 0..polygon.len() {
        let (corner, next) = (polygon[k], polygon[(k + 1) % polygon.len()]);
        let (here, there) = (beyond(&corner), beyond(&next));
        if here <= 0.0 {
            kept.push(corner);
        }
        // A line has one edge, there and not back.
        let is_edge = polygon.len() > 2 || k == 0;
        if is_edge && ((here < 0.0 && there > 0.0) || (here > 0.0 && there < 0.0)) {
            kept.push(corner + (next - corner) * (here / (here - there)));
        }
    }
}

/// Pairs of points at the ends of what two parallel lines have beside one another.
fn along_lines(a: &Core<'_>, b: &Core<'_>, normal: &Vector3<f64>, buffers: &mut Buffers) {
    let (Some([p, p_end]), Some([q, q_end])) = (a.edge(&-normal), b.edge(normal)) else { return };
    let (u, w) = (p_end - p, q_end - q);
    if u.cross(&w).norm() > PARALLEL * u.norm() * w.norm() {
        return;
    }
    // Places along the first line, from 0 to 1.
    let place = |x: &Vector3<f64>| u.dot(&(x - p)) / u.norm_squared();
    let (s, e) = (place(&q), place(&q_end));
    let (low, high) = (s.min(e).max(0.0), s.max(e).min(1.0));
    if high - low <= 1e-6 || s == e {
        return;
    }
    for at in [low, high] {
        buffers.points.push([p + u * at, q + w * ((at - s) / (e - s))]);
    }
}
