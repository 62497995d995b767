//! `RoundingFunction`: whole numbers.

use legwork_block::{
    Any, Inputs, Invalid, Outcome, Outputs, Pure, Sizes, block, parameters, ports,
};

use crate::signal::shape;

/// Rounds every element to a whole number: down, up, to the nearest, to zero.
///
/// | `function` | rounds |
/// |---|---|
/// | `Floor` | down |
/// | `Ceil` | up |
/// | `Round` | to the nearest, halves away from zero |
/// | `Fix` | towards zero |
///
/// For steps of another size than 1 see `Quantizer`.
#[ports(
    let (ty, unit) = (Any::var(ports.number_var()), ports.var());
    in  u: ty.clone() as Any, unit, "the signal", shape "number, vector, matrix", units "any";
    out y: ty as Any, unit, "whole numbers", shape "that of `u`", units "that of `u`";
)]
#[parameters(aliases("floor", "ceil", "round"))]
pub struct RoundingFunction {
    /// `Floor`, `Ceil`, `Round` or `Fix`.
    pub function: Rounding,
}

/// How a [`RoundingFunction`] rounds.
#[parameters]
#[derive(Copy, PartialEq, Eq)]
pub enum Rounding {
    /// Down.
    Floor,
    /// Up.
    Ceil,
    /// To the nearest.
    Round,
    /// Towards zero.
    Fix,
}

#[block]
impl Pure for RoundingFunction {
    fn check(&self, io: &Self::Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        shape::expect_numbers(sizes, io.u)
    }

    fn output(&self, io: &Self::Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let round = match self.function {
            Rounding::Floor => libm::floor,
            Rounding::Ceil => libm::ceil,
            Rounding::Round => libm::round,
            Rounding::Fix => libm::trunc,
        };
        for (y, &u) in outputs.get(io.y).iter_mut().zip(inputs.get(io.u).leaf(0)) {
            *y = round(u);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block};

    #[test]
    fn four_ways_to_round() {
        for (function, y) in [
            ("Floor", [-3.0, -1.0, 0.0, 2.0]),
            ("Ceil", [-2.0, 0.0, 1.0, 3.0]),
            ("Round", [-3.0, 0.0, 1.0, 3.0]),
            ("Fix", [-2.0, 0.0, 0.0, 2.0]),
        ] {
            let rounding: RoundingFunction = block(json!({ "function": function }));
            let mut bench = Bench::new(rounding, &[Type::vector(4)]).expect("a rounding");
            assert_eq!(bench.y(0.0, &[("u", &[-2.5, -0.25, 0.5, 2.75])]), y, "{function}");
        }
    }
}
