//! Tables over rising breakpoints.

use legwork_block::quantity::Tensor;
use legwork_block::{Invalid, parameters};

/// How a table is read between its points.
#[parameters]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// On the line between the two neighbours.
    #[default]
    Linear,
    /// The value of the nearer neighbour; of the upper one halfway.
    Nearest,
    /// The value of the neighbour below.
    Below,
}

/// How a table is read beyond its ends.
#[parameters]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum Outside {
    /// The value at the end.
    #[default]
    Clip,
    /// The line of the last interval goes on; needs `Linear`.
    Extrapolate,
    /// A fault of the run.
    Fault,
}

/// Rising breakpoints.
pub(crate) struct Axis {
    points: Vec<f64>,
}

/// A place between two neighbours: `(1 − share)` of `index` and `share` of `index + 1`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Between {
    pub(crate) index: usize,
    pub(crate) share: f64,
}

impl Between {
    /// The share's part of the way from `a` to `b`, exact at both ends.
    #[inline]
    pub(crate) fn mix(self, a: f64, b: f64) -> f64 {
        if self.share == 1.0 { b } else { a + self.share * (b - a) }
    }
}

impl Axis {
    /// The breakpoints of the parameter `name`: at least two, finite, rising.
    pub(crate) fn new(name: &str, points: &Tensor) -> Result<Self, Invalid> {
        crate::signal::shape::finite(name, points)?;
        let [_] = points.shape() else {
            let message =
                format!("expected a list of points, found the shape {:?}", points.shape());
            return Err(Invalid::parameter(name, message));
        };
        Self::of(points.data().to_vec()).map_err(|message| Invalid::parameter(name, message))
    }

    /// These breakpoints, at least two, rising.
    pub(crate) fn of(points: Vec<f64>) -> Result<Self, String> {
        if points.len() < 2 {
            return Err(format!("expected at least two points, found {}", points.len()));
        }
        if let Some(pair) = points.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(format!("expected rising points, found {} before {}", pair[0], pair[1]));
        }
        Ok(Self { points })
    }

    pub(crate) fn len(&self) -> usize {
        self.points.len()
    }

    pub(crate) fn points(&self) -> &[f64] {
        &self.points
    }

    pub(crate) fn last(&self) -> f64 {
        self.points[self.points.len() - 1]
    }

    /// Where `u` is; `None` if it is outside and that is not allowed.
    pub(crate) fn find(
        &self,
        u: f64,
        interpolation: Interpolation,
        outside: Outside,
    ) -> Option<Between> {
        let (first, last) = (self.points[0], self.last());
        // The negation catches NaN, which extrapolation passes on.
        if outside == Outside::Fault && !(first <= u && u <= last) {
            return None;
        }
        let most = self.points.len() - 2;
        let index = self.points.partition_point(|point| *point <= u).saturating_sub(1).min(most);
        let (low, high) = (self.points[index], self.points[index + 1]);
        let share = (u - low) / (high - low);
        let share = match outside {
            Outside::Extrapolate => share,
            Outside::Clip | Outside::Fault => {
                crate::nonlinear::saturation::limit(share, (0.0, 1.0))
            }
        };
        let share = match interpolation {
            Interpolation::Linear => share,
            Interpolation::Nearest if share.is_nan() => share,
            Interpolation::Nearest => f64::from(share >= 0.5),
            Interpolation::Below if share.is_nan() => share,
            Interpolation::Below => f64::from(share >= 1.0),
        };
        Some(Between { index, share })
    }
}

/// Refuses what would have no meaning.
pub(crate) fn fits(interpolation: Interpolation, outside: Outside) -> Result<(), Invalid> {
    if outside == Outside::Extrapolate && interpolation != Interpolation::Linear {
        let message =
            format!("expected `Clip` or `Fault` with {interpolation:?}, found `Extrapolate`");
        return Err(Invalid::parameter("outside", message));
    }
    Ok(())
}
