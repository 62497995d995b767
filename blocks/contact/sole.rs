//! What of a foot lies lowest.

use legwork_block::Invalid;
use legwork_contact::contact_frame;
use nalgebra::{Vector2, Vector3};

/// Most corners of a sole.
const MOST: usize = 1000;

/// The corners of the convex polygon around the points that lie at most `depth` above the lowest,
/// seen along `down`, in its order; at most `most` of them.
///
/// The polygon is A. M. Andrew's monotone chain (1979). While it has too many corners, that one goes
/// whose triangle with its neighbours has the least area.
///
/// # Errors
/// If there is no direction, too few or too many corners are asked for, or the points lie on a line.
pub(crate) fn sole(
    points: &[Vector3<f64>],
    down: [f64; 3],
    depth: f64,
    most: usize,
) -> Result<Vec<Vector3<f64>>, Invalid> {
    let wrong = |message: String| Err(Invalid::parameter("shape", message));
    let Some(down) = Vector3::from(down).try_normalize(f64::MIN_POSITIVE) else {
        return wrong(format!("expected a direction `down`, found {down:?}"));
    };
    if !(3..=MOST).contains(&most) {
        return wrong(format!("expected 3 to {MOST} points of a sole, found {most}"));
    }
    let lowest = points.iter().map(|point| point.dot(&down)).fold(f64::NEG_INFINITY, f64::max);
    // Axes t₁ and t₂ of the sole; seen from below it runs counter-clockwise.
    let axes = contact_frame(&down);
    let mut low: Vec<(Vector2<f64>, Vector3<f64>)> = points
        .iter()
        .filter(|point| point.dot(&down) >= lowest - depth)
        .map(|point| (Vector2::new(axes.column(0).dot(point), axes.column(1).dot(point)), *point))
        .collect();
    low.sort_by(|(a, _), (b, _)| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    low.dedup_by(|(a, _), (b, _)| a == b);
    let mut polygon = half(low.iter());
    let back = half(low.iter().rev());
    // Each half ends where the other begins.
    polygon.pop();
    polygon.extend(back.into_iter().take_while(|(at, _)| *at != low[0].0));
    if polygon.len() < 3 {
        return wrong("the lowest points lie on a line, and are no sole".to_owned());
    }
    while polygon.len() > most {
        let count = polygon.len();
        let area = |k: usize| {
            let [a, b, c] = [k + count - 1, k, k + 1].map(|i| polygon[i % count].0);
            (b - a).perp(&(c - b))
        };
        let least = (0..count).min_by(|a, b| area(*a).total_cmp(&area(*b)));
        polygon.remove(least.unwrap_or(0));
    }
    Ok(polygon.into_iter().map(|(_, point)| point).collect())
}

/// The part of the polygon on the right of the way from the first to the last of sorted points.
fn half<'p>(
    points: impl Iterator<Item = &'p (Vector2<f64>, Vector3<f64>)>,
) -> Vec<(Vector2<f64>, Vector3<f64>)> {
    let mut chain: Vec<(Vector2<f64>, Vector3<f64>)> = Vec::new();
    for point in points {
        while let [.., (a, _), (b, _)] = chain.as_slice()
            && (b - a).perp(&(point.0 - b)) <= 0.0
        {
            chain.pop();
        }
        chain.push(*point);
    }
    chain
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A foot: two rings of a rounded rectangle, the upper one smaller, and points inside.
    fn foot(ring: usize) -> Vec<Vector3<f64>> {
        let around = |k: usize| 2.0 * std::f64::consts::PI * k as f64 / ring as f64;
        let low = (0..ring).map(|k| {
            let (sine, cosine) = around(k).sin_cos();
            Vector3::new(0.1 * cosine, 0.05 * sine, -0.1 + 1e-4 * (k % 3) as f64)
        });
        let high = (0..ring).map(|k| Vector3::new(0.08, 0.04, -0.05 + 1e-3 * k as f64));
        low.chain(high).chain([Vector3::new(0.01, 0.02, -0.1)]).collect()
    }

    #[test]
    fn a_sole_is_the_polygon_of_what_lies_lowest() {
        let points = foot(60);
        let corners = sole(&points, [0.0, 0.0, -2.0], 1e-3, 100).expect("a sole");
        // All of the ring, and nothing above or inside.
        assert_eq!(corners.len(), 60);
        assert!(corners.iter().all(|corner| corner.z < -0.099));
        // Of an ellipse, n points spread over it have (n / 2π) sin(2π / n) of the area.
        let area = |corners: &[Vector3<f64>]| {
            let next = corners.iter().cycle().skip(1);
            corners.iter().zip(next).map(|(a, b)| a.xy().perp(&b.xy())).sum::<f64>().abs() / 2.0
        };
        let ellipse = std::f64::consts::PI * 0.1 * 0.05;
        for most in [4, 6, 10, 12, 60] {
            let few = sole(&points, [0.0, 0.0, -1.0], 1e-3, most).expect("a sole");
            assert_eq!(few.len(), most);
            let angle = 2.0 * std::f64::consts::PI / most as f64;
            let best = ellipse * angle.sin() / angle;
            let found = area(&few);
            assert!(found > 0.85 * best && found < best * (1.0 + 1e-9), "{most}: {found} {best}");
        }
    }

    #[test]
    fn the_way_down_may_be_any() {
        let turn = nalgebra::Rotation3::from_euler_angles(0.4, -1.1, 2.0);
        let turned: Vec<Vector3<f64>> = foot(20).iter().map(|point| turn * point).collect();
        let down: [f64; 3] = (turn * Vector3::new(0.0, 0.0, -1.0)).into();
        let corners = sole(&turned, down, 1e-3, 100).expect("a sole");
        assert_eq!(corners.len(), 20);
    }

    #[test]
    fn what_is_no_sole_is_refused() {
        let said = |down: [f64; 3], depth: f64, most: usize, points: &[Vector3<f64>]| {
            sole(points, down, depth, most).expect_err("refused").message
        };
        let points = foot(12);
        assert!(said([0.0; 3], 1.0, 8, &points).starts_with("expected a direction"));
        assert!(said([0.0, 0.0, -1.0], 1.0, 2, &points).starts_with("expected 3 to 1000 points"));
        let line = [0.0, 1.0, 2.0].map(|x| Vector3::new(x, 2.0 * x, 0.0));
        assert!(said([0.0, 0.0, -1.0], 1.0, 8, &line).contains("lie on a line"));
        assert!(said([0.0, 0.0, -1.0], 1.0, 8, &line[..1]).contains("lie on a line"));
    }
}
