//! Points as a line, thinned so that viewers stay fast.

use std::fmt::Write as _;

use super::axis::Axis;

/// Points of a line beyond which it is thinned.
const MOST_POINTS: usize = 3000;

/// One number over another, such as time.
pub(super) struct Curve {
    points: Vec<(f64, f64)>,
}

impl Curve {
    /// Points in their order, thinned.
    pub(super) fn new(points: Vec<(f64, f64)>) -> Self {
        Self { points: thinned(points) }
    }

    /// A dot at each point that has one.
    pub(super) fn mark(&self, out: &mut String, x: &Axis, y: &Axis, colour: &str) {
        for &(t, value) in self.points.iter().filter(|(t, value)| t.is_finite() && !value.is_nan())
        {
            // Writing to a string cannot fail.
            let _ = writeln!(
                out,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.6\" fill=\"{colour}\"/>",
                x.at(t),
                y.at(value)
            );
        }
    }

    /// Smallest and largest finite value of several curves.
    pub(super) fn range<'c>(curves: impl Iterator<Item = &'c Self>) -> Option<(f64, f64)> {
        let values = curves.flat_map(|curve| curve.points.iter().map(|(_, value)| *value));
        let finite = values.filter(|value| value.is_finite());
        finite.fold(None, |range, value| match range {
            None => Some((value, value)),
            Some((low, high)) => Some((value.min(low), value.max(high))),
        })
    }

    /// The same of values above zero.
    pub(super) fn positive_range<'c>(curves: impl Iterator<Item = &'c Self>) -> Option<(f64, f64)> {
        let positive = curves.map(|curve| Self {
            points: curve.points.iter().copied().filter(|(_, value)| *value > 0.0).collect(),
        });
        let positive: Vec<Self> = positive.collect();
        Self::range(positive.iter())
    }

    /// The line. It has gaps at NaN, and lies at the edge where values are infinite.
    pub(super) fn path(&self, x: &Axis, value: &Axis) -> String {
        let mut out = String::new();
        let mut is_open = false;
        for &(t, y) in &self.points {
            if y.is_nan() || t.is_nan() {
                is_open = false;
                continue;
            }
            let command = if is_open { 'L' } else { 'M' };
            // Writing to a string cannot fail.
            let _ = write!(out, "{command}{:.1} {:.1}", x.at(t), value.at(y));
            is_open = true;
        }
        out
    }
}

/// At most [`MOST_POINTS`]: of equal runs of points the lowest and the highest, in order, so that
/// no peak is lost.
fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    if points.len() <= MOST_POINTS {
        return points;
    }
    let each = points.len().div_ceil(MOST_POINTS / 2);
    let mut out = Vec::with_capacity(MOST_POINTS);
    for run in points.chunks(each) {
        let key = |i: &usize| run[*i].1;
        let low = (0..run.len()).min_by(|a, b| key(a).total_cmp(&key(b))).unwrap_or(0);
        let high = (0..run.len()).max_by(|a, b| key(a).total_cmp(&key(b))).unwrap_or(0);
        out.push(run[low.min(high)]);
        if low != high {
            out.push(run[low.max(high)]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::axis::Scale;
    use super::*;

    #[test]
    fn thinning_keeps_every_peak() {
        let wave = |i: usize| (i as f64, if i == 77_777 { 9.0 } else { (i as f64).sin() });
        let thin = thinned((0..100_000).map(wave).collect());
        assert!(thin.len() <= MOST_POINTS);
        assert!(thin.contains(&(77_777.0, 9.0)));
        assert!(thin.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn nan_leaves_gaps() {
        let curve =
            Curve { points: vec![(0.0, 0.0), (1.0, f64::NAN), (2.0, 1.0), (3.0, f64::INFINITY)] };
        let time = Axis::new(0.0, 3.0, 0.0, 3.0, Scale::Linear);
        let value = Axis::new(0.0, 1.0, 1.0, 0.0, Scale::Linear);
        assert_eq!(curve.path(&time, &value), "M0.0 1.0M2.0 0.0L3.0 0.0");
        assert_eq!(Curve::range([&curve].into_iter()), Some((0.0, 1.0)));
        assert_eq!(Curve::positive_range([&curve].into_iter()), Some((1.0, 1.0)));
    }
}
