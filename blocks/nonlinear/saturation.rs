//! `Saturation`: limits.

use legwork_block::quantity::Tensor;
use legwork_block::{Any, Invalid, Ports, parameters, ports};

use crate::signal::elementwise::Intervals;
use crate::signal::pieces::{Piece, ThreePieces, three_pieces};
use crate::signal::shape::Common;

/// Limits every element to an interval: `yᵢ = min(max(uᵢ, lowerᵢ), upperᵢ)`.
///
/// A number holds for every element. A bound may be infinite; a missing one does not limit.
/// NaN passes, so that the run stops at the block that made it.
///
/// A variable step is cut where an element reaches or leaves a bound; up to there the law of its
/// beginning goes on, so inside a step the output may be beyond a bound before the step is cut.
#[ports(
    |common: &Common|
    let (ty, unit) = common.signal(ports);
    in  u: ty.clone() as Any, unit.clone(), "what is limited", units "that of the bounds",
        shape "that of the bounds; any if they are numbers";
    out y: ty as Any, unit, "within the bounds", shape "that of `u`", units "that of `u`",
        elements u;
)]
#[parameters(aliases("limit", "clamp", "clip"))]
pub struct Saturation {
    /// Least value [unit of u]; default none.
    pub lower: Option<Tensor>,
    /// Greatest value, at least `lower` [unit of u]; default none.
    pub upper: Option<Tensor>,
}

/// Ports and bounds of a [`Saturation`].
pub struct Plan {
    io: SaturationPorts,
    limits: Intervals,
    located: bool,
}

impl ThreePieces for Plan {
    #[inline]
    fn interval(&self, i: usize) -> (f64, f64) {
        self.limits.at(i)
    }

    #[inline]
    fn law(&self, i: usize, piece: Piece, u: f64) -> f64 {
        let (lower, upper) = self.interval(i);
        match piece {
            Piece::Below => lower,
            Piece::Inside => u,
            Piece::Above => upper,
        }
    }

    #[inline]
    fn write_unheld(&self, u: &[f64], y: &mut [f64]) {
        if let [limits] = self.limits.0[..] {
            y.iter_mut().zip(u).for_each(|(y, &u)| *y = limit(u, limits));
        } else {
            for ((y, &u), &limits) in y.iter_mut().zip(u).zip(&self.limits.0) {
                *y = limit(u, limits);
            }
        }
    }

    fn slope(&self, piece: Piece) -> f64 {
        if piece == Piece::Inside { 1.0 } else { 0.0 }
    }
}

impl Saturation {
    /// Ports and pieces.
    fn planned(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let (limits, common) = Intervals::new(self.lower.as_ref(), self.upper.as_ref())?;
        Ok(Plan { io: self.declare(ports, &common), limits, located: ports.pieces() })
    }
}

three_pieces!(Saturation);

/// The nearest value of the interval; NaN stays NaN.
#[inline]
pub(crate) fn limit(value: f64, (lower, upper): (f64, f64)) -> f64 {
    if value < lower {
        lower
    } else if value > upper {
        upper
    } else {
        value
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block, refusal};

    #[test]
    fn values_outside_go_to_the_nearest_bound() {
        let saturation: Saturation = block(json!({ "lower": -1, "upper": 2 }));
        let mut bench = Bench::new(saturation, &[Type::vector(4)]).expect("a saturation");
        assert_eq!(bench.y(0.0, &[("u", &[-3.0, -1.0, 0.5, 7.0])]), [-1.0, -1.0, 0.5, 2.0]);
        assert!(bench.y(0.0, &[("u", &[f64::NAN; 4])])[0].is_nan());
    }

    #[test]
    fn a_missing_or_infinite_bound_does_not_limit() {
        let saturation: Saturation = block(json!({ "upper": [1, "inf"] }));
        let mut bench = Bench::new(saturation, &[Type::vector(2)]).expect("a saturation");
        assert_eq!(bench.y(0.0, &[("u", &[-1e300, 1e300])]), [-1e300, 1e300]);
        assert_eq!(bench.y(0.0, &[("u", &[3.0, 3.0])]), [1.0, 3.0]);
    }

    #[test]
    fn saturating_twice_changes_nothing() {
        let saturation: Saturation = block(json!({ "lower": "-2 N*m", "upper": [1, 3] }));
        let mut bench = Bench::new(saturation, &[Type::vector(2)]).expect("a saturation");
        let once = bench.y(0.0, &[("u", &[-8.0, 8.0])]);
        assert_eq!(bench.y(0.0, &[("u", &once)]), once);
    }

    #[test]
    fn the_upper_bound_is_not_below_the_lower() {
        let wrong: Saturation = block(json!({ "lower": 2, "upper": 1 }));
        assert_eq!(refusal(wrong, &[]), "expected a bound of at least `lower` = 2, found 1");
    }
}
