//! A line through points, with no more points than a picture shows.

use std::fmt::Write as _;

use super::axis::Axis;

/// Tenths of a pixel that a point off the time axis must move to be drawn.
const LEAST_MOVE: i64 = 3;

/// Points in their order, in the units of the axes.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Trace {
    points: Vec<(f64, f64)>,
    /// Whether a value holds until the next one, as a count or a truth value does.
    held: bool,
}

impl Trace {
    /// Points that lines join.
    pub(super) fn new(points: Vec<(f64, f64)>) -> Self {
        Self { points, held: false }
    }

    /// Values that hold until the next one.
    pub(super) fn held(points: Vec<(f64, f64)>) -> Self {
        Self { points, held: true }
    }

    /// The points.
    pub(super) fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// The line over an ascending x such as time. Of the points in a pixel column the lowest and
    /// the highest are drawn, in their order: no spike is lost. NaN leaves a gap.
    pub(super) fn over_time(&self, x: &Axis, y: &Axis) -> String {
        let mut pen = Pen::default();
        let mut column = Column::default();
        let mut before: Option<f64> = None;
        for &(t, value) in &self.points {
            if t.is_nan() || value.is_nan() {
                column.flush(&mut pen);
                pen.lift();
                before = None;
                continue;
            }
            let (px, py) = (tenths(x.at(t)), tenths(y.at(value)));
            if let Some(held) = before.filter(|_| self.held) {
                column.add(px, tenths(y.at(held)), &mut pen);
            }
            column.add(px, py, &mut pen);
            before = Some(value);
        }
        column.flush(&mut pen);
        pen.end()
    }

    /// The line where both numbers go back and forth. Moves too small to see are left out.
    pub(super) fn in_plane(&self, x: &Axis, y: &Axis) -> String {
        let mut pen = Pen::default();
        let mut skipped = None;
        for &(a, b) in &self.points {
            if a.is_nan() || b.is_nan() {
                if let Some((px, py)) = skipped.take() {
                    pen.to(px, py);
                }
                pen.lift();
                continue;
            }
            let (px, py) = (tenths(x.at(a)), tenths(y.at(b)));
            let near = |(qx, qy): (i64, i64)| (px - qx).abs() + (py - qy).abs() < LEAST_MOVE;
            if pen.at.is_some_and(near) {
                skipped = Some((px, py));
            } else {
                pen.to(px, py);
                skipped = None;
            }
        }
        if let Some((px, py)) = skipped {
            pen.to(px, py);
        }
        pen.end()
    }
}

/// A place in tenths of a pixel. Infinite places lie at the ends of their axis already.
fn tenths(pixel: f64) -> i64 {
    (pixel * 10.0).round() as i64
}

/// The points in one pixel column: the lowest and the highest, with their order.
#[derive(Default)]
struct Column {
    /// Which column, and the two points; none if it is empty.
    held: Option<(i64, Extreme, Extreme)>,
    count: usize,
}

#[derive(Clone, Copy)]
struct Extreme {
    order: usize,
    x: i64,
    y: i64,
}

impl Column {
    fn add(&mut self, x: i64, y: i64, pen: &mut Pen) {
        let column = x.div_euclid(10);
        if self.held.is_some_and(|(own, ..)| own != column) {
            self.flush(pen);
        }
        let point = Extreme { order: self.count, x, y };
        self.count += 1;
        let (_, low, high) = self.held.get_or_insert((column, point, point));
        if y < low.y {
            *low = point;
        }
        if y > high.y {
            *high = point;
        }
    }

    fn flush(&mut self, pen: &mut Pen) {
        let Some((_, low, high)) = self.held.take() else { return };
        let (first, second) = if low.order <= high.order { (low, high) } else { (high, low) };
        pen.to(first.x, first.y);
        if first.order != second.order {
            pen.to(second.x, second.y);
        }
    }
}

/// Writes a path in relative moves, which are short, from whole tenths, which do not add up errors.
#[derive(Default)]
struct Pen {
    path: String,
    at: Option<(i64, i64)>,
    /// A horizontal move that the next one may lengthen.
    level: i64,
}

impl Pen {
    fn to(&mut self, x: i64, y: i64) {
        let Some((from_x, from_y)) = self.at.replace((x, y)) else {
            // Writing to a string cannot fail.
            let _ = write!(self.path, "M{} {}", Tenths(x), Tenths(y));
            return;
        };
        let (dx, dy) = (x - from_x, y - from_y);
        if dy == 0 {
            if self.level.signum() == -dx.signum() {
                self.settle();
            }
            self.level += dx;
            return;
        }
        self.settle();
        let _ = match dx {
            0 => write!(self.path, "v{}", Tenths(dy)),
            _ => write!(self.path, "l{} {}", Tenths(dx), Tenths(dy)),
        };
    }

    fn settle(&mut self) {
        if self.level != 0 {
            let _ = write!(self.path, "h{}", Tenths(self.level));
            self.level = 0;
        }
    }

    fn end(mut self) -> String {
        self.settle();
        self.path
    }

    fn lift(&mut self) {
        self.settle();
        self.at = None;
    }
}

/// Tenths as a short decimal number.
struct Tenths(i64);

impl std::fmt::Display for Tenths {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, part) = (self.0.unsigned_abs() / 10, self.0.unsigned_abs() % 10);
        match (whole, part) {
            (_, 0) => write!(f, "{sign}{whole}"),
            (0, _) => write!(f, "{sign}.{part}"),
            _ => write!(f, "{sign}{whole}.{part}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::axis::Scale;
    use super::*;

    fn axes() -> (Axis, Axis) {
        let x = Axis::new(0.0, 100.0, 0.0, 100.0, Scale::Linear);
        (x, Axis::new(0.0, 10.0, 100.0, 0.0, Scale::Linear))
    }

    /// The corners of a path as a reader of SVG finds them [px].
    fn corners(path: &str) -> Vec<(f64, f64)> {
        let mut out = Vec::new();
        let (mut x, mut y) = (0.0, 0.0);
        let mut rest = path;
        while let Some(command) = rest.chars().next() {
            rest = &rest[1..];
            let end = rest.find(char::is_alphabetic).unwrap_or(rest.len());
            let numbers: Vec<f64> =
                rest[..end].split(' ').map(|n| n.parse().expect("a number")).collect();
            match command {
                'M' => (x, y) = (numbers[0], numbers[1]),
                'l' => (x, y) = (x + numbers[0], y + numbers[1]),
                'h' => x += numbers[0],
                'v' => y += numbers[0],
                other => panic!("command {other}"),
            }
            out.push((x, y));
            rest = &rest[end..];
        }
        out
    }

    #[test]
    fn every_spike_of_a_long_series_is_drawn_in_a_short_path() {
        let (x, y) = axes();
        for spike in [0, 1, 4_999, 5_000, 77_777, 99_999] {
            let value = |i: usize| if i == spike { 10.0 } else { 5.0 + (i as f64).sin() };
            let points = (0..100_000).map(|i| (i as f64 * 1e-3, value(i))).collect();
            let path = Trace::new(points).over_time(&x, &y);
            let top = corners(&path).into_iter().find(|(_, py)| py.abs() < 0.06);
            let (px, _) = top.unwrap_or_else(|| panic!("no spike {spike} in {path}"));
            assert!((px - spike as f64 * 1e-3).abs() < 0.11, "spike {spike} at {px}");
            assert!(path.len() < 3_000, "{} bytes", path.len());
        }
    }

    #[test]
    fn a_short_series_is_drawn_point_by_point() {
        let (x, y) = axes();
        let points = vec![(0.0, 1.0), (10.0, 2.5), (25.0, 2.5), (40.0, 2.5), (60.0, 0.0)];
        let path = Trace::new(points).over_time(&x, &y);
        assert_eq!(path, "M0 90l10 -15h30l20 25");
        let wanted = [(0.0, 90.0), (10.0, 75.0), (40.0, 75.0), (60.0, 100.0)];
        assert_eq!(corners(&path), wanted);
    }

    #[test]
    fn a_count_holds_and_nan_leaves_a_gap() {
        let (x, y) = axes();
        let steps = Trace::held(vec![(0.0, 0.0), (50.0, 1.0), (100.0, 1.0)]).over_time(&x, &y);
        assert_eq!(steps, "M0 100h50v-10h50");
        let gap = vec![(0.0, 0.0), (10.0, f64::NAN), (20.0, 0.0), (30.0, f64::INFINITY)];
        assert_eq!(Trace::new(gap).over_time(&x, &y), "M0 100M20 100l10 -100");
    }

    #[test]
    fn a_loop_in_the_plane_closes() {
        let (x, y) = axes();
        let turn = |i: usize| f64::from(i as u32) * std::f64::consts::TAU / 10_000.0;
        let point = |i| (50.0 + 40.0 * turn(i).cos(), 5.0 + 4.0 * turn(i).sin());
        let path = Trace::new((0..=10_000).map(point).collect()).in_plane(&x, &y);
        let corners = corners(&path);
        let (first, last) = (corners[0], corners[corners.len() - 1]);
        assert!((first.0 - last.0).abs() + (first.1 - last.1).abs() < 0.25, "{first:?} {last:?}");
        assert!(corners.len() > 300 && path.len() < 10_000, "{} bytes", path.len());
        for (px, py) in corners {
            let radius = (px - 50.0).hypot(py - 50.0);
            assert!((radius - 40.0).abs() < 0.15, "radius {radius}");
        }
    }
}
