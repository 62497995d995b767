//! `Trigonometry`: circular and hyperbolic functions.

use legwork_block::{Any, In, Inputs, Invalid, Out, Outcome, Outputs, Ports, Pure, Sizes};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::signal::shape;

/// Circular and hyperbolic functions and their inverses, element by element.
///
/// | `function` | in | unit in | unit of `y` |
/// |---|---|---|---|
/// | `Sin`, `Cos`, `Tan` | `u` | rad | 1 |
/// | `Asin`, `Acos`, `Atan` | `u` | 1 | rad |
/// | `Atan2` | `u1` (the sine's part), `u2` | any, both the same | rad |
/// | `Sinh`, `Cosh`, `Tanh`, `Asinh`, `Acosh`, `Atanh` | `u` | 1 | 1 |
///
/// Shapes: number, vector or matrix, all the same. Where a function is not defined the result is
/// NaN, a fault of the run. The functions are those of the `libm` crate, so results do not depend
/// on the CPU.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["sin", "cos", "tan", "atan2"]))]
pub struct Trigonometry {
    /// `Sin`, `Cos`, `Tan`, `Asin`, `Acos`, `Atan`, `Atan2`, `Sinh`, `Cosh`, `Tanh`, `Asinh`,
    /// `Acosh` or `Atanh`.
    pub function: Function,
}

/// What a [`Trigonometry`] computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum Function {
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Tangent.
    Tan,
    /// Angle of a sine, from −π/2 to π/2.
    Asin,
    /// Angle of a cosine, from 0 to π.
    Acos,
    /// Angle of a tangent, from −π/2 to π/2.
    Atan,
    /// Angle of the point (u2, u1), from −π to π.
    Atan2,
    /// Hyperbolic sine.
    Sinh,
    /// Hyperbolic cosine.
    Cosh,
    /// Hyperbolic tangent.
    Tanh,
    /// Its argument from a hyperbolic sine.
    Asinh,
    /// Its argument from a hyperbolic cosine.
    Acosh,
    /// Its argument from a hyperbolic tangent.
    Atanh,
}

impl Function {
    fn of_one(self) -> Option<fn(f64) -> f64> {
        Some(match self {
            Self::Sin => libm::sin,
            Self::Cos => libm::cos,
            Self::Tan => libm::tan,
            Self::Asin => libm::asin,
            Self::Acos => libm::acos,
            Self::Atan => libm::atan,
            Self::Sinh => libm::sinh,
            Self::Cosh => libm::cosh,
            Self::Tanh => libm::tanh,
            Self::Asinh => libm::asinh,
            Self::Acosh => libm::acosh,
            Self::Atanh => libm::atanh,
            Self::Atan2 => return None,
        })
    }

    /// Units of an only input and of the output.
    fn units(self) -> (&'static str, &'static str) {
        match self {
            Self::Sin | Self::Cos | Self::Tan => ("rad", "1"),
            Self::Asin | Self::Acos | Self::Atan | Self::Atan2 => ("1", "rad"),
            _ => ("1", "1"),
        }
    }
}

/// Ports of a [`Trigonometry`].
pub struct Plan {
    inputs: Inlets,
    y: Out<Any>,
}

enum Inlets {
    One(In<Any>, fn(f64) -> f64),
    Two(In<Any>, In<Any>),
}

impl Pure for Trigonometry {
    const KIND: &'static str = "Trigonometry";
    type Plan = Plan;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let ty = Any::var(ports.var());
        let (from, to) = self.function.units();
        let inputs = if let Some(function) = self.function.of_one() {
            let u = ports.input("u", &ty);
            ports.note_in(u).unit(from);
            Inlets::One(u, function)
        } else {
            let unit = ports.var();
            let (u1, u2) = (ports.input("u1", &ty), ports.input("u2", &ty));
            ports.note_in(u1).same_unit(unit);
            ports.note_in(u2).same_unit(unit);
            Inlets::Two(u1, u2)
        };
        let y = ports.output("y", &ty);
        ports.note_out(y).unit(to);
        Ok(Plan { inputs, y })
    }

    fn check(&self, plan: &Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        let (Inlets::One(first, _) | Inlets::Two(first, _)) = plan.inputs;
        shape::expect_numbers(sizes, first)
    }

    fn output(&self, plan: &Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let y = outputs.get(plan.y).iter_mut();
        match plan.inputs {
            Inlets::One(u, function) => {
                y.zip(inputs.get(u).leaf(0)).for_each(|(y, &u)| *y = function(u));
            }
            Inlets::Two(u1, u2) => {
                let pairs = inputs.get(u1).leaf(0).iter().zip(inputs.get(u2).leaf(0));
                y.zip(pairs).for_each(|(y, (&u1, &u2))| *y = libm::atan2(u1, u2));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::{PortUnit, Type};
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block};

    fn of(function: &str, u: f64) -> f64 {
        let block: Trigonometry = block(json!({ "function": function }));
        Bench::new(block, &[Type::Real]).expect("a function").y(0.0, &[("u", &[u])])[0]
    }

    #[test]
    fn the_identities_hold() {
        for u in [-1.2, -0.3, 0.0, 0.7, 1.5] {
            let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-13, "u = {u}: {a} against {b}");
            near(of("Sin", u) * of("Sin", u) + of("Cos", u) * of("Cos", u), 1.0);
            near(of("Tan", u), of("Sin", u) / of("Cos", u));
            near(of("Cosh", u) * of("Cosh", u) - of("Sinh", u) * of("Sinh", u), 1.0);
            near(of("Tanh", u), of("Sinh", u) / of("Cosh", u));
            for (inverse, function) in
                [("Asin", "Sin"), ("Atan", "Tan"), ("Asinh", "Sinh"), ("Atanh", "Tanh")]
            {
                near(of(inverse, of(function, u)), u);
            }
            near(of("Acos", of("Cos", u)), u.abs());
            near(of("Cosh", of("Acosh", 1.0 + u.abs())), 1.0 + u.abs());
        }
    }

    #[test]
    fn the_angle_of_a_point_knows_its_quadrant() {
        let angle: Trigonometry = block(json!({ "function": "Atan2" }));
        let mut bench = Bench::new(angle, &[Type::vector(2), Type::vector(2)]).expect("an angle");
        assert_eq!(bench.declaration.outputs[0].unit, PortUnit::Is("rad".into()));
        let y = bench.y(0.0, &[("u1", &[1.0, -1.0]), ("u2", &[-1.0, -1.0])]);
        let exact = 0.75 * std::f64::consts::PI;
        assert_eq!(y, [exact, -exact]);
    }
}
