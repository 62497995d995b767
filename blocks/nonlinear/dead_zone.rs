//! `DeadZone`: no output for small inputs.

use legwork_block::quantity::Tensor;
use legwork_block::{Any, Invalid, Ports, parameters, ports};

use crate::signal::elementwise::Intervals;
use crate::signal::pieces::{Piece, ThreePieces, three_pieces};
use crate::signal::shape::{self, Common};

/// Zero inside a zone, the excess outside. `y = u − upper` if u > upper, `y = u − lower` if u <
/// lower, otherwise 0.
///
/// A variable step is cut where an element enters or leaves the zone.
#[ports(
    |common: &Common|
    let (ty, unit) = common.signal(ports);
    in  u: ty.clone() as Any, unit.clone(), "the signal", units "that of the bounds",
        shape "that of the bounds; any if they are numbers";
    out y: ty as Any, unit, "the excess", shape "that of `u`", units "that of `u`", elements u;
)]
#[parameters(aliases("dead band"))]
pub struct DeadZone {
    /// Lower end of the zone [unit of u].
    pub lower: Tensor,
    /// Upper end of the zone, at least `lower` [unit of u].
    pub upper: Tensor,
}

/// Ports and bounds of a [`DeadZone`].
pub struct Plan {
    io: DeadZonePorts,
    zone: Intervals,
    located: bool,
}

impl ThreePieces for Plan {
    #[inline]
    fn interval(&self, i: usize) -> (f64, f64) {
        self.zone.at(i)
    }

    #[inline]
    fn law(&self, i: usize, piece: Piece, u: f64) -> f64 {
        let (lower, upper) = self.zone.at(i);
        match piece {
            Piece::Below => u - lower,
            // NaN is in no zone: it passes, so that the run stops at the block that made it.
            Piece::Inside if u.is_nan() => u,
            Piece::Inside => 0.0,
            Piece::Above => u - upper,
        }
    }

    fn slope(&self, piece: Piece) -> f64 {
        if piece == Piece::Inside { 0.0 } else { 1.0 }
    }
}

impl DeadZone {
    /// Ports and pieces.
    fn planned(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        shape::finite("lower", &self.lower)?;
        shape::finite("upper", &self.upper)?;
        let (zone, common) = Intervals::new(Some(&self.lower), Some(&self.upper))?;
        Ok(Plan { io: self.declare(ports, &common), zone, located: ports.pieces() })
    }
}

three_pieces!(DeadZone);

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use serde_json::json;

    use super::*;
    use crate::nonlinear::saturation::Saturation;
    use crate::testing::{Bench, block, refusal};

    /// What a saturation cuts off is what a dead zone lets through.
    #[test]
    fn with_a_saturation_of_the_same_bounds_it_adds_up_to_the_input() {
        let bounds = json!({ "lower": [-1, 0.5], "upper": 2 });
        let given = [Type::vector(2)];
        let mut zone = Bench::new(block::<DeadZone>(bounds.clone()), &given).expect("a zone");
        let mut rest = Bench::new(block::<Saturation>(bounds), &given).expect("a saturation");
        for u in [-4.0, -1.0, 0.0, 0.25, 2.0, 2.5] {
            let u = [u, u];
            let (y, rest) = (zone.y(0.0, &[("u", &u)]), rest.y(0.0, &[("u", &u)]));
            assert_eq!([y[0] + rest[0], y[1] + rest[1]], u);
        }
        assert!(zone.y(0.0, &[("u", &[f64::NAN, 0.0])])[0].is_nan());
    }

    #[test]
    fn the_zone_has_an_inside() {
        let wrong: DeadZone = block(json!({ "lower": 1, "upper": 0 }));
        assert_eq!(refusal(wrong, &[]), "expected a bound of at least `lower` = 1, found 0");
    }
}
