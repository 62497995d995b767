//! `Fcn`: an expression of its inputs and the time.

mod inputs;

use std::collections::BTreeMap;

use legwork_block::quantity::{Formula, Scalar};
use legwork_block::{
    Any, Block, Compiled, Diagnostic, Expression, GuardCx, Inputs, Invalid, Outcome, OutputCx,
    PortUnit, Ports, RateRule, Sizes, Type, UpdateCx, block, parameters, ports,
};

use self::inputs::{Constants, Found, InputShape, Source};
use crate::signal::pieces;

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
///
/// A comparison by size, as in `if u > 1 then …`, is decided at major steps: a variable step is cut
/// where it changes. Under fixed steps that holds for comparisons of the time alone, so that a step
/// that ends where the law jumps does not see the value after it; others are decided at every stage.
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
    /// For each comparison by size of all programs, whether minor steps hold what was decided.
    held: Vec<bool>,
}

impl Plan {
    /// Writes the elements of the output; `decide` is that of [`Compiled::eval_deciding`], with
    /// comparisons numbered over all programs.
    fn write(
        &self,
        (inputs, t): (Inputs<'_>, f64),
        mut decide: impl FnMut(usize, f64, bool) -> bool,
        mut to: impl FnMut(usize, f64),
    ) {
        let read = |slot: usize| match self.sources[slot] {
            Source::Time => t,
            Source::Element { input, index } => inputs.get(self.io.inputs[input]).leaf(0)[index],
        };
        let mut first = 0;
        for (i, program) in self.programs.iter().enumerate() {
            let mut count = 0;
            let value = program.eval_deciding(read, |k, difference, truth| {
                count = count.max(k + 1);
                decide(first + k, difference, truth)
            });
            first += count;
            to(i, value);
        }
    }
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
    /// What each comparison by size was at the last major step; empty where none is held.
    type State = Vec<bool>;

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
        let is_time = |slot: usize| matches!(sources[slot], Source::Time);
        let of_time = programs.iter().flat_map(|program| program.decisions(is_time));
        let mut held: Vec<bool> = of_time.collect();
        if ports.locates() && !held.is_empty() {
            ports.pieces();
            held.fill(true);
        } else if !held.contains(&true) || !ports.pieces_of_time() {
            held.clear();
        }
        Ok(Plan { io, shapes, sources, programs, held })
    }

    fn state(&self, plan: &Plan, _: &Sizes<'_>) -> Vec<bool> {
        vec![false; plan.held.len()]
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
        let (at, decided) = ((cx.inputs, cx.time.t), cx.state);
        let y = cx.outputs.get(plan.io.y);
        if cx.time.minor && !decided.is_empty() {
            let decide = |k: usize, _, truth| if plan.held[k] { decided[k] } else { truth };
            plan.write(at, decide, |i, value| y[i] = value);
        } else {
            plan.write(at, |_, _, truth| truth, |i, value| y[i] = value);
        }
        Ok(())
    }

    fn update(&self, plan: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        if !plan.held.is_empty() {
            let decide = |k: usize, _, truth| {
                cx.state[k] = truth;
                truth
            };
            plan.write((cx.inputs, cx.time.t), decide, |_, _| {});
        }
        Ok(())
    }

    fn guard(&self, plan: &Plan, cx: &mut GuardCx<'_, Self>) {
        let mut furthest = f64::NEG_INFINITY;
        let decide = |k: usize, difference: f64, truth| {
            furthest = furthest.max(pieces::left(truth != cx.state[k], difference));
            cx.state[k]
        };
        plan.write((cx.inputs, cx.time.t), decide, |_, _| {});
        cx.values.fill(furthest);
    }
}

#[cfg(test)]
mod tests;
