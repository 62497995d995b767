//! The path of one foot relative to the trunk, step after step.
//!
//! In stance the foot moves with the ground: `ṗ = −v − ω × (c + p)` for a trunk that is to move at
//! v and turn at ω, with c the stance centre and p the foot relative to it. In swing it follows a
//! [`Swing`] or a [`SwingSpline`] from where it lifted off to half a stance ahead of the centre,
//! plus the offset of foot placement. Both start from the state, so a change of the command bends
//! the path and never breaks it.

use std::f64::consts::PI;

use crate::foot_curve::{CurvePoint, StepShape, Swing, stance_height};
use crate::foot_spline::SwingSpline;

/// Curve of a foot in swing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema))]
pub enum SwingCurve {
    /// A Bézier curve, [`Swing::at`]; if its end moves, the whole curve moves.
    #[default]
    Bezier,
    /// A clamped cubic spline, [`SwingSpline`]; if its end moves, the remaining part is planned
    /// again.
    Spline,
}

/// Commands for a foot at this time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Phase θ of the leg: stance on [0, π), swing on [π, 2π) [rad].
    pub phase: f64,
    /// Its rate θ̇, more than zero in motion [rad/s].
    pub phase_rate: f64,
    /// Time of a stance [s].
    pub stance_time: f64,
    /// Time of a swing [s].
    pub swing_time: f64,
    /// Desired velocity of the trunk, forward and to the left [m/s].
    pub velocity: [f64; 2],
    /// Desired rate of turn, to the left [rad/s].
    pub turn_rate: f64,
    /// Stance centre from the trunk's origin, forward and to the left [m].
    pub centre: [f64; 2],
    /// Offset of foot placement at touch-down, forward and to the left [m].
    pub shift: [f64; 2],
    /// Heights and speeds of the step.
    pub shape: StepShape,
    /// Curve of the swing.
    pub curve: SwingCurve,
}

/// State of the path of one foot.
#[doc(alias("swing leg trajectory", "Raibert"))]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
pub struct FootPath {
    /// Foot relative to its stance centre, forward and to the left [m].
    pub position: [f64; 2],
    /// Where it lifted off [m].
    pub lift_off: [f64; 2],
    /// Whether it was in swing.
    pub is_swinging: bool,
    /// Its curve, if that is a spline.
    pub spline: SwingSpline,
}

/// Position and velocity of a foot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FootMotion {
    /// Position relative to the stance centre on the ground [m].
    pub position: [f64; 3],
    /// Velocity relative to the trunk [m/s].
    pub velocity: [f64; 3],
}

impl Step {
    /// Velocity of the ground at `p` from the stance centre, relative to the trunk.
    fn ground_velocity(&self, p: [f64; 2]) -> [f64; 2] {
        let [x, y] = [self.centre[0] + p[0], self.centre[1] + p[1]];
        [self.turn_rate * y - self.velocity[0], -self.turn_rate * x - self.velocity[1]]
    }

    /// Progress of the swing, and where it lifted off and touches down.
    fn swing(&self, path: &FootPath) -> (f64, Swing) {
        let s = (self.phase - PI) / PI;
        let mut from = path.lift_off;
        if !path.is_swinging {
            // The swing began between two samples: go back to where the foot was then.
            let velocity = self.ground_velocity(path.position);
            from = [0, 1].map(|i| path.position[i] - s * self.swing_time * velocity[i]);
        }
        let at_centre = self.ground_velocity([0.0; 2]);
        let to = [0, 1].map(|i| self.shift[i] - 0.5 * self.stance_time * at_centre[i]);
        let (leaving, arriving) = (self.ground_velocity(from), self.ground_velocity(to));
        (s, Swing { from, to, leaving, arriving, duration: self.swing_time })
    }
}

impl FootPath {
    /// Desired position and velocity of the foot.
    #[must_use]
    pub fn sample(&self, step: &Step) -> FootMotion {
        if step.phase < PI {
            let s = step.phase / PI;
            let (z, slope) = stance_height(&step.shape, step.stance_time, s);
            let [x, y] = self.position;
            let [u, v] = step.ground_velocity(self.position);
            let rise = slope * step.phase_rate / PI;
            return FootMotion { position: [x, y, z], velocity: [u, v, rise] };
        }
        let (s, swing) = step.swing(self);
        let CurvePoint { position, slope } = match step.curve {
            SwingCurve::Bezier => swing.at(&step.shape, s),
            SwingCurve::Spline => self.planned(&swing, s).at(&step.shape, swing.duration, s),
        };
        FootMotion { position, velocity: slope.map(|slope| slope * step.phase_rate / PI) }
    }

    /// The spline of a swing that begins, or its continuation to the present end.
    fn planned(&self, swing: &Swing, s: f64) -> SwingSpline {
        if !self.is_swinging {
            return SwingSpline::new(swing);
        }
        let mut spline = self.spline;
        spline.redirect(swing, s);
        spline
    }

    /// Advances by `time_step` [s].
    pub fn advance(&mut self, step: &Step, time_step: f64) {
        let now = self.sample(step);
        if step.phase >= PI {
            let (s, swing) = step.swing(self);
            self.lift_off = swing.from;
            self.spline = self.planned(&swing, s);
        }
        self.is_swinging = step.phase >= PI;
        for i in 0..2 {
            self.position[i] = now.position[i] + time_step * now.velocity[i];
        }
    }
}
