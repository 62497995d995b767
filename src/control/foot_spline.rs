//! Swing of a foot along a velocity-clamped cubic spline.
//!
//! Through four points equally spaced in time, with the foot's position at lift-off p₀ and at
//! touch-down p₁ and the step height H,
//!
//! ```text
//! progress s   0    1/3   2/3   1
//! x, y         p₀   p₀    p₁    p₁      slopes at the ends u₀ T_sw, u₁ T_sw
//! z            0    H     H     0                          v_lo T_sw, −v_td T_sw
//! ```
//!
//! the curve of least `∫ p̈² dt` with these ends: cubic in between, continuous up to the second
//! derivative. In x and y it is planned again whenever its end moves, from the present position and
//! velocity of the foot, through the points that are still ahead. If the end stays it is the same
//! curve, as part of such a spline is one. Without speeds at the ends the foot is at 1.25 H in the
//! middle.
//!
//! Reference: S. Zapolsky, E. Drumwright, *Inverse dynamics with rigid contact and friction*
//! (2017), sec. 7.2.1; replanning up to three quarters of the swing is in their published settings.

use crate::foot_curve::{CurvePoint, StepShape, Swing};

/// Progress after which a swing is not planned again: the remaining part is too short to change.
const LAST_PLAN: f64 = 0.75;
/// A point is ahead if it is at least this progress away.
const AHEAD: f64 = 1.0 / 12.0;
/// Progress at the inner points.
const INNER: [f64; 2] = [1.0 / 3.0, 2.0 / 3.0];

/// The curve of a foot in swing through the module's points, planned at some progress.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
pub struct SwingSpline {
    /// Progress at which it was planned.
    pub start: f64,
    /// Position of the foot at that time, x and y [m].
    pub position: [f64; 2],
    /// Its derivative by the progress [m].
    pub slope: [f64; 2],
    /// Where it lifted off [m].
    pub from: [f64; 2],
    /// Where it touches down [m].
    pub to: [f64; 2],
    /// Its derivative at touch-down, by the progress [m].
    pub arrival: [f64; 2],
}

impl SwingSpline {
    /// The curve of a whole swing.
    #[must_use]
    pub fn new(swing: &Swing) -> Self {
        Self {
            start: 0.0,
            position: swing.from,
            slope: swing.leaving.map(|v| v * swing.duration),
            from: swing.from,
            to: swing.to,
            arrival: swing.arriving.map(|v| v * swing.duration),
        }
    }

    /// Plans again at progress `s` if `swing` ends at another position, or with another velocity,
    /// than the curve does, and `s` is at most 0.75.
    pub fn redirect(&mut self, swing: &Swing, s: f64) {
        let arrival = swing.arriving.map(|v| v * swing.duration);
        if s > LAST_PLAN || (swing.to, arrival) == (self.to, self.arrival) {
            return;
        }
        let now = [0, 1].map(|i| self.along(i, s));
        (self.start, self.position, self.slope) = (s, now.map(|n| n.0), now.map(|n| n.1));
        (self.to, self.arrival) = (swing.to, arrival);
    }

    /// The foot at progress `s` of a swing of `duration` [s].
    #[must_use]
    pub fn at(&self, shape: &StepShape, duration: f64, s: f64) -> CurvePoint {
        let mut point = CurvePoint { position: [0.0; 3], slope: [0.0; 3] };
        for i in 0..2 {
            (point.position[i], point.slope[i]) = self.along(i, s);
        }
        let heights = [(0.0, 0.0), (INNER[0], shape.height), (INNER[1], shape.height), (1.0, 0.0)];
        let ends = [shape.lift_off_speed * duration, -shape.touch_down_speed * duration];
        (point.position[2], point.slope[2]) = clamped_spline(&heights, ends, s);
        point
    }

    /// One of x and y, and its slope.
    fn along(&self, axis: usize, s: f64) -> (f64, f64) {
        let mut points = [(self.start, self.position[axis]); 4];
        let mut count = 1;
        for (at, value) in INNER.into_iter().zip([self.from[axis], self.to[axis]]) {
            if self.start == 0.0 || at - self.start >= AHEAD {
                points[count] = (at, value);
                count += 1;
            }
        }
        points[count] = (1.0, self.to[axis]);
        clamped_spline(&points[..=count], [self.slope[axis], self.arrival[axis]], s)
    }
}

/// The cubic spline through `points` (abscissa, value), of ascending abscissae, with the slopes
/// `ends` at its first and last, and its derivative at `s`. Outside it continues the nearest cubic.
///
/// Slopes m at the points follow from equal second derivatives of both sides: with
/// `h_i = s_{i+1} − s_i` and `d_i = (p_{i+1} − p_i)/h_i`,
/// `m_{i−1}/h_{i−1} + 2 (1/h_{i−1} + 1/h_i) m_i + m_{i+1}/h_i = 3 (d_{i−1}/h_{i−1} + d_i/h_i)`.
/// Does not allocate.
///
/// # Panics
/// If there are not two to four points.
#[must_use]
pub fn clamped_spline(points: &[(f64, f64)], ends: [f64; 2], s: f64) -> (f64, f64) {
    let count = points.len();
    assert!((2..=4).contains(&count), "a spline has two to four points here, found {count}");
    let length = |i: usize| points[i + 1].0 - points[i].0;
    let chord = |i: usize| (points[i + 1].1 - points[i].1) / length(i);
    let mut slopes = [0.0; 4];
    (slopes[0], slopes[count - 1]) = (ends[0], ends[1]);
    // At most two unknowns: a first one, and one after it.
    let row = |i: usize| {
        let (before, after) = (1.0 / length(i - 1), 1.0 / length(i));
        (before, 2.0 * (before + after), after, 3.0 * (chord(i - 1) * before + chord(i) * after))
    };
    if count == 3 {
        let (before, diagonal, after, right) = row(1);
        slopes[1] = (right - before * slopes[0] - after * slopes[2]) / diagonal;
    } else if count == 4 {
        let (before, a, b, first) = row(1);
        let (c, d, after, second) = row(2);
        let (first, second) = (first - before * slopes[0], second - after * slopes[3]);
        let determinant = a * d - b * c;
        slopes[1] = (first * d - b * second) / determinant;
        slopes[2] = (a * second - c * first) / determinant;
    }

    // The cubic of the interval in which s lies.
    let i = (1..count - 1).take_while(|&i| s >= points[i].0).count();
    let (h, d) = (length(i), chord(i));
    let t = s - points[i].0;
    let (from, to) = (slopes[i], slopes[i + 1]);
    let square = (3.0 * d - 2.0 * from - to) / h;
    let cube = (from + to - 2.0 * d) / (h * h);
    let value = points[i].1 + t * (from + t * (square + t * cube));
    (value, from + t * (2.0 * square + 3.0 * t * cube))
}
