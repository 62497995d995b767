//! `Sign`: the sign of a number.

use legwork_block::{Any, Invalid, Ports, parameters, ports};

use crate::signal::pieces::{self, Piece, ThreePieces, three_pieces};

/// The sign of every element: 1, 0 or −1.
///
/// NaN passes. A variable step is cut where an element changes its sign. A motion that sticks at
/// the change, as dry friction makes it, turns round without end there and is a fault; a steep
/// `Trigonometry(function: Tanh)` is kinder to solvers.
#[ports(
    let ty = Any::var(ports.number_var());
    in  u: ty.clone() as Any, _, "the signal", shape "number, vector, matrix", units "any";
    out y: ty as Any, "1", "the signs", shape "that of `u`";
)]
#[parameters]
pub struct Sign {}

/// Ports of a [`Sign`], and whether its pieces are located.
pub struct Plan {
    io: SignPorts,
    located: bool,
}

impl ThreePieces for Plan {
    fn interval(&self, _: usize) -> (f64, f64) {
        (0.0, 0.0)
    }

    #[inline]
    fn law(&self, _: usize, piece: Piece, u: f64) -> f64 {
        match piece {
            Piece::Below => -1.0,
            Piece::Inside if u.is_nan() => u,
            Piece::Inside => 0.0,
            Piece::Above => 1.0,
        }
    }

    /// Zero is a piece of its own: the sign jumps there.
    fn beyond(&self, held: &[Piece], u: &[f64]) -> f64 {
        pieces::furthest(held.iter().zip(u).map(|(&piece, &u)| match piece {
            Piece::Below => pieces::left(u >= 0.0, u),
            Piece::Inside => u.abs(),
            Piece::Above => pieces::left(u <= 0.0, u),
        }))
    }

    fn slope(&self, _: Piece) -> f64 {
        0.0
    }
}

impl Sign {
    /// Ports and pieces.
    fn planned(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let located = ports.pieces();
        Ok(Plan { io: self.declare(ports), located })
    }
}

three_pieces!(Sign);

#[cfg(test)]
mod tests {
    use legwork_block::Type;

    use super::*;
    use crate::testing::Bench;

    #[test]
    fn there_are_three_signs() {
        let mut bench = Bench::new(Sign {}, &[Type::vector(4)]).expect("a sign");
        let u = [-1e-300, -0.0, 0.0, 7.0];
        assert_eq!(bench.y(0.0, &[("u", &u)]), [-1.0, 0.0, 0.0, 1.0]);
        assert!(bench.y(0.0, &[("u", &[f64::NAN; 4])])[0].is_nan());
    }
}
