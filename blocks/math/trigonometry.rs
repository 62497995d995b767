//! `Trigonometry`: circular and hyperbolic functions.

use legwork_block::{
    Inputs, Invalid, Outcome, Outputs, PortUnit, Ports, Pure, Sizes, Slope, Slopes, Unit, block,
    parameters,
};

use crate::math::elementary::{Applied, Derivative, Elementary};

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
#[parameters(aliases("sin", "cos", "tan", "atan2"))]
pub struct Trigonometry {
    /// `Sin`, `Cos`, `Tan`, `Asin`, `Acos`, `Atan`, `Atan2`, `Sinh`, `Cosh`, `Tanh`, `Asinh`,
    /// `Acosh` or `Atanh`.
    pub function: Function,
}

/// What a [`Trigonometry`] computes.
#[parameters]
#[derive(Copy, PartialEq, Eq)]
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
    fn law(self) -> Elementary {
        Elementary::One(match self {
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
            Self::Atan2 => return Elementary::Two(libm::atan2),
        })
    }

    /// The derivative of the law.
    fn derivative(self) -> Derivative {
        Derivative::One(match self {
            Self::Sin => libm::cos,
            Self::Cos => |u| -libm::sin(u),
            Self::Tan => |u| 1.0 + libm::tan(u) * libm::tan(u),
            Self::Asin => |u| 1.0 / libm::sqrt(1.0 - u * u),
            Self::Acos => |u| -1.0 / libm::sqrt(1.0 - u * u),
            Self::Atan => |u| 1.0 / (1.0 + u * u),
            Self::Sinh => libm::cosh,
            Self::Cosh => libm::sinh,
            Self::Tanh => |u| 1.0 - libm::tanh(u) * libm::tanh(u),
            Self::Asinh => |u| 1.0 / libm::sqrt(u * u + 1.0),
            Self::Acosh => |u| 1.0 / libm::sqrt(u * u - 1.0),
            Self::Atanh => |u| 1.0 / (1.0 - u * u),
            Self::Atan2 => {
                return Derivative::Two(|y, x| {
                    let square = x * x + y * y;
                    // At the cut on the negative axis it jumps.
                    if y == 0.0 && x < 0.0 { [f64::NAN; 2] } else { [x / square, -y / square] }
                });
            }
        })
    }

    /// Units of the inputs and of the output.
    fn units(self, ports: &mut Ports<'_>) -> [PortUnit; 3] {
        let angle = || PortUnit::Of(Unit::RESULT_RADIAN.into());
        let (from, to) = match self {
            Self::Sin | Self::Cos | Self::Tan => (angle(), "1".into()),
            Self::Asin | Self::Acos | Self::Atan => ("1".into(), angle()),
            Self::Atan2 => {
                let same = ports.var();
                return [same.into(), same.into(), angle()];
            }
            _ => ("1".into(), "1".into()),
        };
        [from, PortUnit::Unspecified, to]
    }
}

#[block]
impl Pure for Trigonometry {
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
        assert_eq!(bench.declaration.outputs[0].unit, PortUnit::Of(Unit::RADIAN.into()));
        let y = bench.y(0.0, &[("u1", &[1.0, -1.0]), ("u2", &[-1.0, -1.0])]);
        let exact = 0.75 * std::f64::consts::PI;
        assert_eq!(y, [exact, -exact]);
    }
}
