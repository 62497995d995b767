//! Curves of a foot through stance and swing: Bézier polynomials of the progress s, 0 to 1.
//!
//! With the durations T_st, T_sw, the velocities u₀, u₁ of the foot relative to the trunk in the
//! stances before and after, the speeds v_lo of lift-off and v_td of touch-down, the step height H
//! and the virtual depth D below the ground, the control points are
//!
//! ```text
//! swing   x, y   p₀  p₀ + a  p₀ + 2a  ½(p₀ + p₁)  p₁ − 2b  p₁ − b  p₁
//!         z      0   l       c        c           c        d       0
//! stance  x, y   p₀  p₁
//!         z      0   −d'     m        −l'  0
//!
//! a = u₀ T_sw/6    l = v_lo T_sw/6    l' = v_lo T_st/4
//! b = u₁ T_sw/6    d = v_td T_sw/6    d' = v_td T_st/4
//! ```
//!
//! c is such that the foot is at H in the middle of the swing, m such that it is at −D in the
//! middle of the stance. The ends of both agree in position and velocity; in x and y in
//! acceleration too, since the second differences vanish.
//!
//! References: D. J. Hyun, S. Seok, J. Lee, S. Kim, *High speed trot-running: implementation of a
//! hierarchical controller using proprioceptive impedance control on the MIT Cheetah* (2014),
//! for Bézier swing curves and the virtual depth in stance. De Paula et al., *Dynamic modeling and
//! simulation of a torque-controlled spatial quadruped robot* (2024), sec. 6.2, have Bézier curves
//! in both and do not print their points.

/// Position of a foot and its derivative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// Position [m].
    pub position: [f64; 3],
    /// Derivative by the progress s [m].
    pub slope: [f64; 3],
}

/// Vertical parameters of stance and swing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepShape {
    /// Height of the foot in the middle of the swing H [m].
    pub height: f64,
    /// Virtual depth in the middle of the stance D [m].
    pub depth: f64,
    /// Speed upward at lift-off v_lo [m/s].
    pub lift_off_speed: f64,
    /// Speed downward at touch-down v_td [m/s].
    pub touch_down_speed: f64,
}

/// A Bézier polynomial with control points `points` at `s`, and its derivative; by de Casteljau.
///
/// # Panics
/// If there are fewer than two points.
#[must_use]
pub fn bezier<const N: usize>(points: &[f64; N], s: f64) -> (f64, f64) {
    assert!(N >= 2, "a curve has two or more control points, found {N}");
    let mut level = *points;
    for last in (2..N).rev() {
        for i in 0..last {
            level[i] += s * (level[i + 1] - level[i]);
        }
    }
    let rise = level[1] - level[0];
    (level[0] + s * rise, (N - 1) as f64 * rise)
}

/// The swing of a foot in x and y between two stances.
#[doc(alias("Bezier", "swing trajectory"))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Swing {
    /// Where the foot lifts off, x and y [m].
    pub from: [f64; 2],
    /// Where it touches down, x and y [m].
    pub to: [f64; 2],
    /// Velocity at lift-off: that of the stance before [m/s].
    pub leaving: [f64; 2],
    /// Velocity at touch-down: that of the stance after [m/s].
    pub arriving: [f64; 2],
    /// Time of the swing T_sw [s].
    pub duration: f64,
}

impl Swing {
    /// The foot at progress `s`.
    #[must_use]
    pub fn at(&self, shape: &StepShape, s: f64) -> CurvePoint {
        let mut point = CurvePoint { position: [0.0; 3], slope: [0.0; 3] };
        for i in 0..2 {
            let (from, to) = (self.from[i], self.to[i]);
            let a = self.leaving[i] * self.duration / 6.0;
            let b = self.arriving[i] * self.duration / 6.0;
            let middle = 0.5 * (from + to);
            let points = [from, from + a, from + 2.0 * a, middle, to - 2.0 * b, to - b, to];
            (point.position[i], point.slope[i]) = bezier(&points, s);
        }
        let up = shape.lift_off_speed * self.duration / 6.0;
        let down = shape.touch_down_speed * self.duration / 6.0;
        let top = (64.0 * shape.height - 6.0 * (up + down)) / 50.0;
        (point.position[2], point.slope[2]) = bezier(&[0.0, up, top, top, top, down, 0.0], s);
        point
    }
}

/// Height of a standing foot at progress `s` of a stance of `duration` [s], below zero, and its
/// derivative by s [m].
#[must_use]
pub fn stance_height(shape: &StepShape, duration: f64, s: f64) -> (f64, f64) {
    let down = -shape.touch_down_speed * duration / 4.0;
    let up = -shape.lift_off_speed * duration / 4.0;
    let middle = (-16.0 * shape.depth - 4.0 * (down + up)) / 6.0;
    bezier(&[0.0, down, middle, up, 0.0], s)
}
