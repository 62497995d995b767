//! `Fcn`: an expression of its inputs and the time.

use std::collections::BTreeMap;

use legwork_block::quantity::{Formula, Tensor};
use legwork_block::{
    Any, Block, Compiled, Diagnostic, Expression, GuardCx, Inputs, Invalid, Outcome, OutputCx,
    PortUnit, Ports, Programs, RateRule, Sizes, Slope, SlopesCx, Type, UpdateCx, Var, block,
    parameters, ports,
};

use crate::signal::formula::{
    Constants, Found, Input, InputShape, Names, Source, Spend, refuse_known,
};
use crate::signal::pieces;

/// An expression of its inputs and the time: `y = f(u, t)`.
///
/// | name in the expression | what it is |
/// |---|---|
/// | `u`, `u1`, `u2`, … | an input that is a number; every name makes a port |
/// | `u[2]`, `u[0..3]` | one or several elements of an input that is a vector |
/// | `u` with `lengths: {"u": 3}` | a whole vector, as in `norm(u)` |
/// | `t` | the time, in s |
/// | a name in `constants` | its value |
///
/// Functions and operators are those of all expressions. Parameters of the diagram come in by
/// `constants`. A result that is no finite number is a fault of the run.
///
/// Units are those of the inputs, of `t` and of `constants`, and must fit: in `u1 + u2` both inputs
/// have one, `-k*u` with `k: "800 N/m"` takes a length and gives a force. A number without unit
/// takes the other's unit in sums and comparisons; as a factor it is a pure number, or a power of
/// time where one is needed, as 3 in `sin(3*t)`. Elements of an input that are read one by one may
/// have different units.
///
/// A comparison by size, as in `if u > 1 then …`, is decided at major steps: a variable step is cut
/// where it changes. Under fixed steps that holds for comparisons of the time alone, so that a step
/// that ends where the law jumps does not see the value after it; others are decided at every stage.
/// What holds at an instant holds for the step that begins there: write `t < 0.5` or `t >= 0.5`,
/// since `t <= 0.5` at a multiple of the step holds for a step too many.
#[ports(
    |shapes: &[(String, Input)], to: Type, unit: PortUnit|
    in  inputs[(name, Input { shape, unit }) in shapes]: Any(shape.ty(ports)), unit.clone(),
        "what the expression reads", named "`u`, `u1`, …",
        shape "number or vector, as the expression uses it", units "as the expression asks";
    out y: Any(to), unit, "the value", units "that of the expression",
        shape "number, truth value, or vector if the expression gives a list";
)]
#[parameters(aliases(
    "expression",
    "formula",
    "function",
    "average",
    "mean of a vector",
    "sum of a vector"
))]
pub struct Fcn {
    /// The expression, such as `"sin(u1) + 0.5*u2^2"`.
    pub expression: Formula,
    /// Values by name, numbers or lists [any unit].
    #[default]
    pub constants: BTreeMap<String, Tensor>,
    /// Lengths of the inputs that are used as whole vectors; `"=len(go.feet)"` is one, too.
    #[default]
    pub lengths: BTreeMap<String, usize>,
}

/// Ports and programs of a [`Fcn`].
pub struct Plan {
    io: FcnPorts,
    /// The name of each input, and what the expression asks of it.
    shapes: Vec<(String, Input)>,
    sources: Vec<Source>,
    /// One program for each element of the output, or one for all of so many.
    programs: Vec<Compiled>,
    each: Option<usize>,
    /// For each comparison by size of all programs, whether minor steps hold what was decided.
    held: Vec<bool>,
}

impl Plan {
    /// Writes the elements of the output; `decide` is that of [`Compiled::eval_deciding_at`], with
    /// comparisons numbered over all programs.
    fn write(
        &self,
        (inputs, t): (Inputs<'_>, f64),
        mut decide: impl FnMut(usize, f64, bool) -> bool,
        mut to: impl FnMut(usize, f64),
    ) {
        let read = |slot: usize| match self.sources[slot] {
            Source::Time(_) => t,
            Source::Element { input, index } => inputs.get(self.io.inputs[input]).leaf(0)[index],
        };
        let mut first = 0;
        for i in 0..self.each.unwrap_or(self.programs.len()) {
            let (program, element) = match self.each {
                Some(_) => (&self.programs[0], i),
                None => (&self.programs[i], 0),
            };
            let mut count = 0;
            let value = program.eval_deciding_at(element, read, |k, difference, truth| {
                count = count.max(k + 1);
                decide(first + k, difference, truth)
            });
            first += count;
            to(i, value);
        }
    }
}

impl Fcn {
    /// The programs and what they read.
    fn compile<'a>(&'a self, spend: Spend<'a>) -> Result<(Programs, Found<'a>), Invalid> {
        let invalid = |diagnostic: Diagnostic| {
            let Diagnostic { message, mut hints, .. } = diagnostic;
            if message.starts_with("expected a list, found a number") {
                hints.push("`lengths` makes an input a list: lengths: { \"u\": 3 }".to_owned());
            }
            Invalid { hints, ..Invalid::parameter("expression", message) }
        };
        refuse_known(self.constants.keys(), &["t"])
            .map_err(|message| Invalid::parameter("constants", message))?;
        let expression: Expression = self.expression.parse().map_err(invalid)?;
        let scope = Constants(&self.constants, spend);
        let mut found = Found::new(Names::Numbered(&self.lengths), &["t"], spend);
        let programs = expression.programs_of_each(&scope, &mut found).map_err(invalid)?;
        Ok((programs, found))
    }
}

/// The type of what the programs compute.
fn output_type(programs: &[Compiled], each: Option<usize>, list: bool) -> Type {
    match programs {
        [one] if !list && one.is_boolean() => Type::Bool,
        [_] if !list => Type::Real,
        _ => Type::vector(each.unwrap_or(programs.len())),
    }
}

/// The unit of what the programs compute: of a list, that of each element.
fn output_unit(Programs { programs, units, is_list, each, .. }: &Programs) -> PortUnit {
    match units.as_slice() {
        units if units.iter().all(Option::is_none) => {
            let is_number = !programs.iter().all(Compiled::is_boolean);
            if is_number { PortUnit::Adopted } else { PortUnit::Unspecified }
        }
        [Some(one)] if !is_list || each.is_some() => one.clone().into(),
        list => PortUnit::List(list.to_vec()),
    }
}

#[block]
impl Block for Fcn {
    type Plan = Plan;
    /// What each comparison by size was at the last major step; empty where none is held.
    type State = Vec<bool>;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let (compiled, found) = self.compile(ports.budget())?;
        if let Some(name) = self.lengths.keys().find(|name| !found.reads(name)) {
            let message = format!("expected inputs of the expression, found `{name}`");
            return Err(Invalid::parameter("lengths", message));
        }
        // A constant input must not stop the clock.
        if found.time {
            ports.rate(RateRule::Continuous);
        }
        let unknowns: Vec<Var> = (0..found.unknowns()).map(|_| ports.var()).collect();
        let base = unknowns.first().map_or(0, |var| var.0);
        let factors: Vec<Var> =
            (0..compiled.factors).map(|_| ports.bare_factor("expression")).collect();
        let first_factor = factors.first().map_or(0, |var| var.0);
        let (shapes, sources) = found.finish(base);
        let compiled = compiled.renamed(&|var| Var(base + var.0), first_factor);
        let unit = output_unit(&compiled);
        let Programs { programs, each, is_list, equations, .. } = compiled;
        ports.relate(equations);
        let io = self.declare(ports, &shapes, output_type(&programs, each, is_list), unit);
        let is_time = |slot: usize| matches!(sources[slot], Source::Time(_));
        let of_time = programs.iter().flat_map(|program| program.decisions(is_time));
        let mut held: Vec<bool> = of_time.collect();
        let of_one = held.len();
        for _ in 1..each.unwrap_or(1) {
            held.extend_from_within(..of_one);
        }
        if ports.locates() && !held.is_empty() {
            ports.pieces();
            held.fill(true);
        } else if !held.contains(&true) || !ports.pieces_of_time() {
            held.clear();
        }
        Ok(Plan { io, shapes, sources, programs, each, held })
    }

    fn state(&self, plan: &Plan, _: &Sizes<'_>) -> Vec<bool> {
        vec![false; plan.held.len()]
    }

    fn check(&self, plan: &Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        for (&input, (name, shape)) in plan.io.inputs.iter().zip(&plan.shapes) {
            let len = sizes.input(input);
            if let InputShape::Elements(count) = shape.shape
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

    /// Of each element by going back through its program; not at a kink of it.
    fn output_slopes(&self, plan: &Plan, cx: &mut SlopesCx<'_, Self>) -> Slope {
        let (inputs, t, decided) = (cx.inputs, cx.time.t, cx.state);
        let is_held = cx.time.minor && !decided.is_empty();
        let read = |slot: usize| match plan.sources[slot] {
            Source::Time(_) => t,
            Source::Element { input, index } => inputs.get(plan.io.inputs[input]).leaf(0)[index],
        };
        let moves = |slot: usize| matches!(plan.sources[slot], Source::Element { .. });
        let y = cx.slopes.rows(plan.io.y, 0);
        let mut first = 0;
        for i in 0..y.len() {
            let (program, element) = match plan.each {
                Some(_) => (&plan.programs[0], i),
                None => (&plan.programs[i], 0),
            };
            let mut count = 0;
            let found = program.slopes_at(element, read, moves, |k, _, truth| {
                count = count.max(k + 1);
                if is_held && plan.held[first + k] { decided[first + k] } else { truth }
            });
            first += count;
            let Some(found) = found else { return Slope::Unknown };
            for (slot, slope) in found {
                if let Source::Element { input, index } = plan.sources[slot] {
                    let u = cx.slopes.columns(plan.io.inputs[input], 0);
                    cx.slopes.add((y, i), (u, index), slope);
                }
            }
        }
        Slope::Exact
    }
}

#[cfg(test)]
mod tests;
