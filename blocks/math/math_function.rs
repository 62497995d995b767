//! `MathFunction`: exponentials, roots, powers, remainders.

use legwork_block::{
    Inputs, Invalid, Outcome, Outputs, PortUnit, Ports, Pure, Sizes, Slope, Slopes, block,
    parameters,
};

use crate::math::elementary::{Applied, Derivative, Elementary};
use crate::signal::units;

/// Exponentials, logarithms, roots, powers, remainders: element by element. One or two signals are
/// the arguments.
///
/// | `function` | in | out `y` | unit |
/// |---|---|---|---|
/// | `Exp`, `Log`, `Log10` | `u` | eᵘ, ln u, log₁₀ u | 1 |
/// | `Sqrt`, `Square`, `Reciprocal` | `u` | √u, u², 1/u | any; that of `y` follows |
/// | `Pow` | `u1`, `u2` | u1 to the power u2 | 1 |
/// | `Mod` | `u1`, `u2` | u1 − u2 ⌊u1 / u2⌋, with the sign of u2 | all the same |
/// | `Rem` | `u1`, `u2` | u1 − u2 trunc(u1 / u2), with the sign of u1 | all the same |
/// | `Hypot` | `u1`, `u2` | √(u1² + u2²) | all the same |
///
/// Shapes: number, vector or matrix, all the same. Where a function is not defined (the root or
/// logarithm of a negative number, a division by zero) the result is NaN or infinite, a fault of
/// the run. The functions are those of the `libm` crate, so results do not depend on the CPU.
#[parameters(aliases("exp", "log", "sqrt", "power", "modulo"))]
pub struct MathFunction {
    /// `Exp`, `Log`, `Log10`, `Sqrt`, `Square`, `Reciprocal`, `Pow`, `Mod`, `Rem` or `Hypot`.
    pub function: Function,
}

/// What a [`MathFunction`] computes.
#[parameters]
#[derive(Copy, PartialEq, Eq)]
pub enum Function {
    /// eᵘ.
    Exp,
    /// The natural logarithm.
    Log,
    /// The logarithm to base 10.
    Log10,
    /// The square root.
    Sqrt,
    /// The square.
    Square,
    /// One over.
    Reciprocal,
    /// A power.
    Pow,
    /// The remainder of the division rounded down.
    Mod,
    /// The remainder of the division rounded towards zero.
    Rem,
    /// The length of two legs.
    Hypot,
}

impl Function {
    fn law(self) -> Elementary {
        match self {
            Self::Exp => Elementary::One(libm::exp),
            Self::Log => Elementary::One(libm::log),
            Self::Log10 => Elementary::One(libm::log10),
            Self::Sqrt => Elementary::One(libm::sqrt),
            Self::Square => Elementary::One(|u| u * u),
            Self::Reciprocal => Elementary::One(|u| 1.0 / u),
            Self::Pow => Elementary::Two(libm::pow),
            Self::Mod => Elementary::Two(modulo),
            Self::Rem => Elementary::Two(libm::fmod),
            Self::Hypot => Elementary::Two(libm::hypot),
        }
    }

    /// The derivative of the law.
    fn derivative(self) -> Derivative {
        // A remainder goes with its first argument, and jumps where the quotient is whole.
        fn rest(u1: f64, u2: f64, whole: f64) -> [f64; 2] {
            if whole * u2 == u1 { [f64::NAN; 2] } else { [1.0, -whole] }
        }
        match self {
            Self::Exp => Derivative::One(libm::exp),
            Self::Log => Derivative::One(|u| 1.0 / u),
            Self::Log10 => Derivative::One(|u| std::f64::consts::LOG10_E / u),
            Self::Sqrt => Derivative::One(|u| 0.5 / libm::sqrt(u)),
            Self::Square => Derivative::One(|u| 2.0 * u),
            Self::Reciprocal => Derivative::One(|u| -1.0 / (u * u)),
            Self::Pow => Derivative::Two(|u1, u2| {
                [u2 * libm::pow(u1, u2 - 1.0), libm::pow(u1, u2) * libm::log(u1)]
            }),
            Self::Mod => Derivative::Two(|u1, u2| rest(u1, u2, libm::floor(u1 / u2))),
            Self::Rem => Derivative::Two(|u1, u2| rest(u1, u2, libm::trunc(u1 / u2))),
            Self::Hypot => Derivative::Two(|u1, u2| {
                let length = libm::hypot(u1, u2);
                [u1 / length, u2 / length]
            }),
        }
    }

    /// Units of the inputs and of the output.
    fn units(self, ports: &mut Ports<'_>) -> [PortUnit; 3] {
        let one = || PortUnit::from("1");
        let of = |ports: &mut Ports<'_>, above, below| {
            let unit = units::open(ports);
            let power = units::power(&unit, above, below);
            [unit.into(), PortUnit::Unspecified, power]
        };
        match self {
            Self::Exp | Self::Log | Self::Log10 => [one(), PortUnit::Unspecified, one()],
            Self::Sqrt => of(ports, 1, 2),
            Self::Square => of(ports, 2, 1),
            Self::Reciprocal => of(ports, -1, 1),
            // The exponent may change with time.
            Self::Pow => [one(), one(), one()],
            Self::Mod | Self::Rem | Self::Hypot => {
                let same = ports.var();
                [same.into(), same.into(), same.into()]
            }
        }
    }
}

/// The remainder with the sign of the divisor.
fn modulo(u1: f64, u2: f64) -> f64 {
    let rest = libm::fmod(u1, u2);
    if rest != 0.0 && (rest < 0.0) != (u2 < 0.0) { rest + u2 } else { rest }
}

#[block]
impl Pure for MathFunction {
    type Plan = Applied;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Applied, Invalid> {
        Ok(self.function.law().plan(self.function.units(ports), ports))
    }

    fn check(&self, plan: &Applied, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        plan.check(sizes)
    }

    fn output(&self, plan: &Applied, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        plan.output(inputs, outputs)
    }

    fn slopes(&self, plan: &Applied, inputs: &Inputs<'_>, slopes: &mut Slopes<'_>) -> Slope {
        plan.slopes(self.function.derivative(), inputs, slopes)
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block};

    fn one(function: &str, u: f64) -> f64 {
        let block: MathFunction = block(json!({ "function": function }));
        Bench::new(block, &[Type::Real]).expect("a function").y(0.0, &[("u", &[u])])[0]
    }

    fn two(function: &str, u1: f64, u2: f64) -> f64 {
        let block: MathFunction = block(json!({ "function": function }));
        let mut bench = Bench::new(block, &[Type::Real, Type::Real]).expect("a function");
        bench.y(0.0, &[("u1", &[u1]), ("u2", &[u2])])[0]
    }

    #[test]
    fn inverse_functions_undo_each_other() {
        for u in [0.25, 1.0, 3.5, 40.0] {
            assert!((one("Log", one("Exp", u)) - u).abs() < 1e-15 * u.max(1.0));
            assert!((one("Sqrt", one("Square", u)) - u).abs() < 1e-15 * u);
            assert!((one("Reciprocal", one("Reciprocal", u)) - u).abs() < 1e-14);
            assert!((two("Pow", 10.0, one("Log10", u)) - u).abs() < 1e-14 * u);
        }
        assert!(one("Sqrt", -1.0).is_nan());
    }

    /// MATLAB's `mod` and `rem`.
    #[test]
    fn remainders_take_their_signs_from_divisor_or_dividend() {
        for (u1, u2, modulo, remainder) in [
            (5.0, 3.0, 2.0, 2.0),
            (-5.0, 3.0, 1.0, -2.0),
            (5.0, -3.0, -1.0, 2.0),
            (-6.0, 3.0, 0.0, 0.0),
        ] {
            assert_eq!((two("Mod", u1, u2), two("Rem", u1, u2)), (modulo, remainder), "{u1}, {u2}");
        }
    }

    #[test]
    fn legs_that_overflow_when_squared_have_a_length() {
        assert!((two("Hypot", 3e200, 4e200) - 5e200).abs() < 1e185);
    }
}
