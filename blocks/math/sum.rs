//! `Sum`: sums and differences.

use legwork_block::{
    Any, Inputs, Invalid, Outcome, Outputs, Pure, Sizes, Slope, Slopes, Type, block, parameters,
    ports,
};

use crate::signal::shape;

/// Sums and differences: `y = ± u1 ± u2 ± …`, element by element.
///
/// Terms are added from left to right. A number counts for every element.
#[ports(
    keep signs: Vec<f64> = signs(("signs", "sign"), &self.signs, [('+', 1.0), ('-', -1.0)])?;
    let names: Vec<String> = input_names(signs.len()).collect();
    /// An input of the shape of `y`.
    keep wide: usize = first_wide(&names, &self.numbers)?;
    let (ty, unit) = (Any::var(ports.number_var()), ports.var());
    in  terms[name in &names]: term(name, &self.numbers, &ty) as Any, unit, "the terms",
        named "`u1`, `u2`, …, one per sign; `u` for one", shape "of one shape, but `numbers`",
        units "any, all equal";
    out y: ty as Any, unit, "the sum", shape "that of the inputs that are not listed",
        units "that of the inputs";
)]
#[parameters(aliases("add", "subtract", "difference"))]
pub struct Sum {
    /// The sign of each input, such as `"+-"` for `u1 − u2`.
    #[default = "++"]
    pub signs: String,
    /// Names of the inputs that are numbers beside vectors or matrices, such as `["u2"]`.
    #[default]
    pub numbers: Vec<String>,
}

/// Names of `count` inputs: `u`, or `u1`, `u2`, ….
pub(crate) fn input_names(count: usize) -> impl Iterator<Item = String> {
    (1..=count).map(move |i| if count == 1 { "u".into() } else { format!("u{i}") })
}

/// The most inputs of one block.
const MOST_INPUTS: usize = 4096;

/// A stated number of inputs.
///
/// # Errors
/// If it is zero or too large.
pub(crate) fn input_count(parameter: &str, count: usize) -> Result<usize, Invalid> {
    if (1..=MOST_INPUTS).contains(&count) {
        return Ok(count);
    }
    let expected = if count == 0 { "at least one input" } else { "at most 4096 inputs" };
    Err(Invalid::parameter(parameter, format!("expected {expected}, found {count}")))
}

/// What the text of a parameter says of each input by a character; `named` are the parameter and
/// what a character is.
///
/// # Errors
/// If it has another character, or none.
pub(crate) fn signs<T: Copy>(
    (parameter, one): (&str, &str),
    text: &str,
    known: [(char, T); 2],
) -> Result<Vec<T>, Invalid> {
    let invalid = |message: String| Invalid::parameter(parameter, message);
    let meaning = |sign: char| {
        let [(a, _), (b, _)] = known;
        let found = known.iter().find(|(known, _)| *known == sign).map(|(_, meaning)| *meaning);
        let message = || format!("expected `{a}` or `{b}` for each input, found `{sign}`");
        found.ok_or_else(|| invalid(message()))
    };
    if text.is_empty() {
        return Err(invalid(format!("expected at least one {one}, found none")));
    }
    input_count(parameter, text.len())?;
    text.chars().map(meaning).collect()
}

/// The signal of the input `name`: of the type `ty`, or a number if `numbers` lists it.
pub(crate) fn term(name: &String, numbers: &[String], ty: &Any) -> Any {
    if numbers.contains(name) { Any(Type::Real) } else { ty.clone() }
}

/// The first of the inputs `names` that is not listed as a number.
///
/// # Errors
/// If there is none, or `numbers` lists other names, or one twice.
pub(crate) fn first_wide(names: &[String], numbers: &[String]) -> Result<usize, Invalid> {
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
    names.iter().position(|name| !numbers.contains(name)).ok_or_else(|| {
        let message = "expected an input that is not listed, found none";
        Invalid::parameter("numbers", message).hint("if all are numbers, leave `numbers` out")
    })
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

#[block]
impl Pure for Sum {
    fn check(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        shape::expect_numbers(sizes, plan.terms[plan.wide])
    }

    fn output(&self, plan: &Self::Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let y = outputs.get(plan.y);
        let mut terms = plan.terms.iter().zip(&plan.signs);
        let Some((first, sign)) = terms.next() else { return Ok(()) };
        change(y, inputs.get(*first).leaf(0), |y, u| *y = sign * u);
        for (term, sign) in terms {
            change(y, inputs.get(*term).leaf(0), |y, u| *y += sign * u);
        }
        Ok(())
    }

    fn slopes(&self, plan: &Self::Plan, _: &Inputs<'_>, slopes: &mut Slopes<'_>) -> Slope {
        for (term, sign) in plan.terms.iter().zip(&plan.signs) {
            slopes.each(slopes.rows(plan.y, 0), slopes.columns(*term, 0), |_| *sign);
        }
        Slope::Exact
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
