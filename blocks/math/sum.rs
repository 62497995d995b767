//! `Sum`: sums and differences.

use legwork_block::{Any, In, Inputs, Invalid, Out, Outcome, Outputs, Ports, Pure, Sizes, Type};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::signal::shape;

/// Sums and differences: `y = ± u1 ± u2 ± …`, element by element.
///
/// | port | shape | unit |
/// |---|---|---|
/// | in `u1`, `u2`, …, one per sign; `u` for one | of one shape, but `numbers` | any, all equal |
/// | out `y` | that of the inputs that are not listed | that of the inputs |
///
/// Terms are added from left to right. A number counts for every element.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["add", "subtract", "difference"]))]
pub struct Sum {
    /// The sign of each input, such as `"+-"` for `u1 − u2`; default `"++"`.
    #[serde(default = "two_terms")]
    pub signs: String,
    /// Names of the inputs that are numbers beside vectors or matrices, such as `["u2"]`; default
    /// none.
    #[serde(default)]
    pub numbers: Vec<String>,
}

fn two_terms() -> String {
    "++".into()
}

/// Names of `count` inputs: `u`, or `u1`, `u2`, ….
pub(crate) fn input_names(count: usize) -> impl Iterator<Item = String> {
    (1..=count).map(move |i| if count == 1 { "u".into() } else { format!("u{i}") })
}

/// Declares the inputs: of the type `ty`, or numbers if `numbers` lists them. Also gives the first
/// that is not listed.
pub(crate) fn declare_inputs(
    count: usize,
    numbers: &[String],
    ty: &Any,
    ports: &mut Ports<'_>,
) -> Result<(Vec<In<Any>>, In<Any>), Invalid> {
    let names: Vec<String> = input_names(count).collect();
    for (i, name) in numbers.iter().enumerate() {
        if !names.contains(name) {
            let message = format!("expected names of inputs, found `{name}`");
            return Err(Invalid::parameter("numbers", message));
        }
        if numbers[..i].contains(name) {
            let message = format!("expected different names, found `{name}` twice");
            return Err(Invalid::parameter("numbers", message));
        }
    }
    let Some(wide) = names.iter().position(|name| !numbers.contains(name)) else {
        let message = "expected an input that is not listed, found none";
        return Err(
            Invalid::parameter("numbers", message).hint("if all are numbers, leave `numbers` out")
        );
    };
    let mut inputs = Vec::with_capacity(count);
    for name in &names {
        let number = numbers.contains(name);
        inputs.push(ports.input(name, if number { &Any(Type::Real) } else { ty }));
    }
    let wide = inputs[wide];
    Ok((inputs, wide))
}

/// Changes every element of `y` by that of `u`, or by its only number.
#[inline]
pub(crate) fn change(y: &mut [f64], u: &[f64], f: impl Fn(&mut f64, f64)) {
    if let &[u] = u {
        y.iter_mut().for_each(|y| f(y, u));
    } else {
        y.iter_mut().zip(u).for_each(|(y, u)| f(y, *u));
    }
}

/// Ports of a [`Sum`].
pub struct Plan {
    terms: Vec<(In<Any>, f64)>,
    /// An input of the shape of `y`.
    wide: In<Any>,
    y: Out<Any>,
}

impl Pure for Sum {
    const KIND: &'static str = "Sum";
    type Plan = Plan;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let (ty, unit) = (Any::var(ports.var()), ports.var());
        let mut signs = Vec::new();
        for sign in self.signs.chars() {
            signs.push(match sign {
                '+' => 1.0,
                '-' => -1.0,
                other => {
                    let message = format!("expected `+` or `-` for each input, found `{other}`");
                    return Err(Invalid::parameter("signs", message));
                }
            });
        }
        if signs.is_empty() {
            return Err(Invalid::parameter("signs", "expected at least one sign, found none"));
        }
        let (inputs, wide) = declare_inputs(signs.len(), &self.numbers, &ty, ports)?;
        for u in &inputs {
            ports.note_in(*u).same_unit(unit);
        }
        let terms = inputs.into_iter().zip(signs).collect();
        let y = ports.output("y", &ty);
        ports.note_out(y).same_unit(unit).doc("the sum");
        Ok(Plan { terms, wide, y })
    }

    fn check(&self, plan: &Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        shape::expect_numbers(sizes, plan.wide)
    }

    fn output(&self, plan: &Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let y = outputs.get(plan.y);
        let [(first, sign), rest @ ..] = plan.terms.as_slice() else { return Ok(()) };
        change(y, inputs.get(*first).leaf(0), |y, u| *y = sign * u);
        for (term, sign) in rest {
            change(y, inputs.get(*term).leaf(0), |y, u| *y += sign * u);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block, refusal};

    fn sum(signs: &str) -> Sum {
        block(json!({ "signs": signs }))
    }

    #[test]
    fn every_input_counts_with_its_sign() {
        let mut bench =
            Bench::new(sum("+-+"), &[Type::Real, Type::Real, Type::Real]).expect("a sum");
        assert_eq!(bench.y(0.0, &[("u1", &[5.0]), ("u2", &[2.0]), ("u3", &[0.5])]), [3.5]);
    }

    #[test]
    fn vectors_add_element_by_element() {
        let vector = || Type::vector(2);
        let mut bench = Bench::new(block::<Sum>(json!({})), &[vector(), vector()]).expect("a sum");
        assert_eq!(bench.y(0.0, &[("u1", &[1.0, 2.0]), ("u2", &[10.0, 20.0])]), [11.0, 22.0]);
    }

    #[test]
    fn one_sign_makes_one_input_named_u() {
        let mut bench = Bench::new(sum("-"), &[Type::Real]).expect("a sum");
        assert_eq!(bench.y(0.0, &[("u", &[4.0])]), [-4.0]);
    }

    #[test]
    fn a_listed_number_counts_for_every_element() {
        let sum: Sum = block(json!({ "signs": "-+", "numbers": ["u1"] }));
        let mut bench = Bench::new(sum, &[Type::Real, Type::vector(2)]).expect("a sum");
        assert_eq!(bench.y(0.0, &[("u1", &[1.0]), ("u2", &[10.0, 20.0])]), [9.0, 19.0]);
        let unknown: Sum = block(json!({ "numbers": ["u3"] }));
        assert_eq!(refusal(unknown, &[]), "expected names of inputs, found `u3`");
        let all: Sum = block(json!({ "numbers": ["u1", "u2"] }));
        assert_eq!(refusal(all, &[]), "expected an input that is not listed, found none");
    }

    #[test]
    fn signs_are_plus_and_minus() {
        assert_eq!(refusal(sum("+*"), &[]), "expected `+` or `-` for each input, found `*`");
        assert_eq!(refusal(sum(""), &[]), "expected at least one sign, found none");
    }
}
