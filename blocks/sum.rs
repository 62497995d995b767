//! `Sum`: sums and differences.

use legwork_block::{Any, In, Inputs, Invalid, Out, Outcome, Outputs, Ports, Pure, Sizes};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::shape;

/// Sums and differences: `y = ± u1 ± u2 ± …`, element by element.
///
/// | port | shape | unit |
/// |---|---|---|
/// | in `u1`, `u2`, …, one for each sign; `u` if there is one sign | number, vector or matrix, all of one shape | any, all the same |
/// | out `y` | that of the inputs | that of the inputs |
///
/// Terms are added from left to right.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sum {
    /// The sign of each input, such as `"+-"` for `u1 − u2`; default `"++"`.
    #[serde(default = "two_terms")]
    pub signs: String,
}

fn two_terms() -> String {
    "++".into()
}

/// Names of `count` inputs: `u`, or `u1`, `u2`, ….
pub(crate) fn input_names(count: usize) -> impl Iterator<Item = String> {
    (1..=count).map(move |i| if count == 1 { "u".into() } else { format!("u{i}") })
}

/// Ports of a [`Sum`].
pub struct Plan {
    terms: Vec<(In<Any>, f64)>,
    y: Out<Any>,
}

impl Pure for Sum {
    const KIND: &'static str = "Sum";
    type Plan = Plan;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let (ty, unit) = (Any::var(ports.var()), ports.var());
        let mut terms = Vec::new();
        for (name, sign) in input_names(self.signs.chars().count()).zip(self.signs.chars()) {
            let sign = match sign {
                '+' => 1.0,
                '-' => -1.0,
                other => {
                    let message = format!("expected `+` or `-` for each input, found `{other}`");
                    return Err(Invalid::parameter("signs", message));
                }
            };
            let u = ports.input(&name, &ty);
            ports.note_in(u).same_unit(unit);
            terms.push((u, sign));
        }
        if terms.is_empty() {
            return Err(Invalid::parameter("signs", "expected at least one sign, found none"));
        }
        let y = ports.output("y", &ty);
        ports.note_out(y).same_unit(unit).doc("the sum");
        Ok(Plan { terms, y })
    }

    fn check(&self, plan: &Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        shape::expect_numbers(sizes, plan.terms[0].0)
    }

    fn output(&self, plan: &Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let y = outputs.get(plan.y);
        let [(first, sign), rest @ ..] = plan.terms.as_slice() else { return Ok(()) };
        for (y, u) in y.iter_mut().zip(inputs.get(*first).leaf(0)) {
            *y = sign * u;
        }
        for (term, sign) in rest {
            for (y, u) in y.iter_mut().zip(inputs.get(*term).leaf(0)) {
                *y += sign * u;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;
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
    fn signs_are_plus_and_minus() {
        assert_eq!(refusal(sum("+*"), &[]), "expected `+` or `-` for each input, found `*`");
        assert_eq!(refusal(sum(""), &[]), "expected at least one sign, found none");
    }
}
