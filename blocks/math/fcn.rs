//! `Fcn`: an expression of its inputs and the time.

mod inputs;

use std::collections::BTreeMap;

use legwork_block::quantity::{Formula, Scalar};
use legwork_block::{
    Any, Block, Compiled, Diagnostic, Expression, Invalid, Outcome, OutputCx, PortUnit, Ports,
    RateRule, Sizes, Type, block, parameters, ports,
};

use self::inputs::{Constants, Found, InputShape, Source};

/// An expression of its inputs and the time: `y = f(u, t)`.
///
/// | name in the expression | what it is |
/// |---|---|
/// | `u`, `u1`, `u2`, … | an input that is a number; every name makes a port |
/// | `u[2]`, `u[0..3]` | one or several elements of an input that is a vector |
/// | `u` with `lengths: {"u": 3}` | a whole vector, as in `norm(u)` |
/// | `t` | the time [s], as a bare number |
/// | a name in `constants` | its value |
///
/// Functions and operators are those of all expressions. Parameters of the diagram come in by
/// `constants`. A result that is no finite number is a fault of the run.
#[ports(
    |shapes: &[(String, InputShape)], to: Type, unit: PortUnit|
    in  inputs[(name, shape) in shapes]: Any(shape.ty(ports)), _, "what the expression reads",
        named "`u`, `u1`, …", shape "number or vector, as the expression uses it",
        units "any, not checked";
    out y: Any(to), unit, "the value", units "that of the expression, if any",
        shape "number, truth value, or vector if the expression gives a list";
)]
#[parameters(aliases("expression", "formula", "function"))]
pub struct Fcn {
    /// The expression, such as `"sin(u1) + 0.5*u2^2"`.
    pub expression: Formula,
    /// Values by name [any unit].
    #[default]
    pub constants: BTreeMap<String, Scalar>,
    /// Lengths of the inputs that are used as whole vectors.
    #[default]
    pub lengths: BTreeMap<String, usize>,
}

/// Ports and programs of a [`Fcn`].
pub struct Plan {
    io: FcnPorts,
    /// The name of each input, and what the expression asks of it.
    shapes: Vec<(String, InputShape)>,
    sources: Vec<Source>,
    /// One program for each element of the output.
    programs: Vec<Compiled>,
}

impl Fcn {
    /// The programs, what they read, and whether they make a list.
    fn compile(&self) -> Result<(Vec<Compiled>, Found<'_>, bool), Invalid> {
        let invalid = |diagnostic: Diagnostic| Invalid {
            parameter: Some("expression".into()),
            message: diagnostic.message,
            hints: diagnostic.hints,
        };
        let expression: Expression = self.expression.parse().map_err(invalid)?;
        let scope = Constants(&self.constants);
        let mut found = Found::new(&self.lengths);
        if let Ok(one) = expression.compile(&scope, &mut found) {
            return Ok((vec![one], found, false));
        }
        let mut found = Found::new(&self.lengths);
        let list = expression.compile_list(&scope, &mut found).map_err(invalid)?;
        Ok((list, found, true))
    }
}

/// The type of what the programs compute.
fn output_type(programs: &[Compiled], list: bool) -> Type {
    match programs {
        [one] if !list && one.is_boolean() => Type::Bool,
        [_] if !list => Type::Real,
        _ => Type::vector(programs.len()),
    }
}

#[block]
impl Block for Fcn {
    type Plan = Plan;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let (programs, found, list) = self.compile()?;
        if let Some(name) = self.lengths.keys().find(|name| !found.reads(name)) {
            let message = format!("expected inputs of the expression, found `{name}`");
            return Err(Invalid::parameter("lengths", message));
        }
        // A constant input must not stop the clock.
        if found.time {
            ports.rate(RateRule::Continuous);
        }
        let (shapes, sources) = found.finish();
        let unit = programs.first().and_then(Compiled::unit);
        let unit = unit.filter(|_| programs.iter().all(|program| program.unit() == unit));
        let io = self.declare(ports, &shapes, output_type(&programs, list), unit.into());
        Ok(Plan { io, shapes, sources, programs })
    }

    fn check(&self, plan: &Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        for (&input, (name, shape)) in plan.io.inputs.iter().zip(&plan.shapes) {
            let len = sizes.input(input);
            if let InputShape::Elements(count) = *shape
                && len < count
            {
                let last = count - 1;
                return Err(Invalid::parameter(
                    "expression",
                    format!("expected `{name}` with an element {last}, found a vector of {len}"),
                ));
            }
        }
        Ok(())
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let (inputs, t) = (cx.inputs, cx.time.t);
        let read = |slot: usize| match plan.sources[slot] {
            Source::Time => t,
            Source::Element { input, index } => inputs.get(plan.io.inputs[input]).leaf(0)[index],
        };
        for (y, program) in cx.outputs.get(plan.io.y).iter_mut().zip(&plan.programs) {
            *y = program.eval(read);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
