//! `Abs`: the absolute value.

use legwork_block::{Any, Invalid, Ports, parameters, ports};

use crate::signal::pieces::{Piece, ThreePieces, three_pieces};

/// The absolute value of every element: `yᵢ = |uᵢ|`.
///
/// A variable step is cut where an element changes its sign.
#[ports(
    let (ty, unit) = (Any::var(ports.number_var()), ports.var());
    in  u: ty.clone() as Any, unit, "the signal", shape "number, vector, matrix", units "any";
    out y: ty as Any, unit, "the magnitudes", shape "that of `u`", units "that of `u`";
)]
#[parameters]
pub struct Abs {}

/// Ports of an [`Abs`], and whether its pieces are located.
pub struct Plan {
    io: AbsPorts,
    located: bool,
}

impl ThreePieces for Plan {
    fn interval(&self, _: usize) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }

    #[inline]
    fn law(&self, _: usize, piece: Piece, u: f64) -> f64 {
        // The sum makes a negative zero positive.
        if piece == Piece::Below { -u } else { u + 0.0 }
    }

    fn slope(&self, piece: Piece) -> f64 {
        if piece == Piece::Below { -1.0 } else { 1.0 }
    }
}

impl Abs {
    /// Ports and pieces.
    fn planned(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let located = ports.pieces();
        Ok(Plan { io: self.declare(ports), located })
    }
}

three_pieces!(Abs);

#[cfg(test)]
mod tests {
    use legwork_block::Type;

    use super::*;
    use crate::testing::Bench;

    #[test]
    fn signs_are_dropped() {
        let mut bench = Bench::new(Abs {}, &[Type::matrix(1, 3)]).expect("a value");
        assert_eq!(bench.y(0.0, &[("u", &[-2.0, 0.0, 3.5])]), [2.0, 0.0, 3.5]);
    }
}
