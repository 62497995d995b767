//! `MathFunction`: exponentials, roots, powers, remainders.

use legwork_block::{Any, In, Inputs, Invalid, Out, Outcome, Outputs, Ports, Pure, Sizes};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::signal::shape;

/// Exponentials, logarithms, roots, powers, remainders: element by element. One or two signals are
/// the arguments.
///
/// | `function` | in | out `y` | unit |
/// |---|---|---|---|
/// | `Exp`, `Log`, `Log10` | `u` | eᵘ, ln u, log₁₀ u | 1 |
/// | `Sqrt`, `Square`, `Reciprocal` | `u` | √u, u², 1/u | any, `y` not checked |
/// | `Pow` | `u1`, `u2` | u1 to the power u2 | any, `u2` 1, `y` not checked |
/// | `Mod` | `u1`, `u2` | u1 − u2 ⌊u1 / u2⌋, with the sign of u2 | all the same |
/// | `Rem` | `u1`, `u2` | u1 − u2 trunc(u1 / u2), with the sign of u1 | all the same |
/// | `Hypot` | `u1`, `u2` | √(u1² + u2²) | all the same |
///
/// Shapes: number, vector or matrix, all the same. Where a function is not defined (the root or
/// logarithm of a negative number, a division by zero) the result is NaN or infinite, a fault of
/// the run. The functions are those of the `libm` crate, so results do not depend on the CPU.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["exp", "log", "sqrt", "power", "modulo"]))]
pub struct MathFunction {
    /// `Exp`, `Log`, `Log10`, `Sqrt`, `Square`, `Reciprocal`, `Pow`, `Mod`, `Rem` or `Hypot`.
    pub function: Function,
}

/// What a [`MathFunction`] computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
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

/// A function of one or two numbers.
enum Arity {
    One(fn(f64) -> f64),
    Two(fn(f64, f64) -> f64),
}

impl Function {
    fn arity(self) -> Arity {
        match self {
            Self::Exp => Arity::One(libm::exp),
            Self::Log => Arity::One(libm::log),
            Self::Log10 => Arity::One(libm::log10),
            Self::Sqrt => Arity::One(libm::sqrt),
            Self::Square => Arity::One(|u| u * u),
            Self::Reciprocal => Arity::One(|u| 1.0 / u),
            Self::Pow => Arity::Two(libm::pow),
            Self::Mod => Arity::Two(modulo),
            Self::Rem => Arity::Two(libm::fmod),
            Self::Hypot => Arity::Two(libm::hypot),
        }
    }
}

/// The remainder with the sign of the divisor.
fn modulo(u1: f64, u2: f64) -> f64 {
    let rest = libm::fmod(u1, u2);
    if rest != 0.0 && (rest < 0.0) != (u2 < 0.0) { rest + u2 } else { rest }
}

/// Ports of a [`MathFunction`].
pub struct Plan {
    first: In<Any>,
    second: Option<In<Any>>,
    y: Out<Any>,
    arity: Arity,
}

impl Pure for MathFunction {
    const KIND: &'static str = "MathFunction";
    type Plan = Plan;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let ty = Any::var(ports.var());
        let arity = self.function.arity();
        let (first, second) = match arity {
            Arity::One(_) => (ports.input("u", &ty), None),
            Arity::Two(_) => (ports.input("u1", &ty), Some(ports.input("u2", &ty))),
        };
        let y = ports.output("y", &ty);
        match (self.function, second) {
            (Function::Exp | Function::Log | Function::Log10, _) => {
                ports.note_in(first).unit("1");
                ports.note_out(y).unit("1");
            }
            (Function::Pow, Some(exponent)) => {
                ports.note_in(exponent).unit("1");
            }
            (_, Some(second)) => {
                let unit = ports.var();
                ports.note_in(first).same_unit(unit);
                ports.note_in(second).same_unit(unit);
                ports.note_out(y).same_unit(unit);
            }
            _ => {}
        }
        Ok(Plan { first, second, y, arity })
    }

    fn check(&self, plan: &Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        shape::expect_numbers(sizes, plan.first)
    }

    fn output(&self, plan: &Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let y = outputs.get(plan.y).iter_mut();
        let first = inputs.get(plan.first).leaf(0);
        match (&plan.arity, plan.second) {
            (Arity::Two(function), Some(second)) => {
                let pairs = first.iter().zip(inputs.get(second).leaf(0));
                y.zip(pairs).for_each(|(y, (&u1, &u2))| *y = function(u1, u2));
            }
            (Arity::One(function), _) => y.zip(first).for_each(|(y, &u)| *y = function(u)),
            (Arity::Two(_), None) => unreachable!("a function of two numbers has two inputs"),
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
