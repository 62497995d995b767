//! `MinMax`: the least or greatest.

use legwork_block::{Any, In, Inputs, Invalid, Out, Outcome, Outputs, Ports, Pure, Sizes, Type};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::shape;
use crate::sum::input_names;

/// The least or greatest of several signals, element by element; of one vector, of its elements.
///
/// | `count` | in | out `y` |
/// |---|---|---|
/// | 1, the default | `u`: vector of at least one element | number |
/// | 2 or more | `u1`, `u2`, …: number, vector or matrix, all of one shape | of their shape |
///
/// All ports have one unit. NaN passes.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MinMax {
    /// `Min` or `Max`.
    pub function: Extreme,
    /// How many inputs, at least 1; default 1.
    #[serde(default = "one")]
    pub count: usize,
}

fn one() -> usize {
    1
}

/// What a [`MinMax`] looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum Extreme {
    /// The least.
    Min,
    /// The greatest.
    Max,
}

impl Extreme {
    #[inline]
    fn of(self, a: f64, b: f64) -> f64 {
        let second = match self {
            Self::Min => b < a,
            Self::Max => b > a,
        };
        if second || b.is_nan() { b } else { a }
    }
}

/// Ports of a [`MinMax`].
pub struct Plan {
    inputs: Vec<In<Any>>,
    y: Out<Any>,
}

impl Pure for MinMax {
    const KIND: &'static str = "MinMax";
    type Plan = Plan;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let (input, output) = match self.count {
            0 => {
                let message = "expected at least one input, found 0";
                return Err(Invalid::parameter("count", message));
            }
            1 => (Any(Type::vector(ports.dim())), Any(Type::Real)),
            _ => {
                let ty = Any::var(ports.var());
                (ty.clone(), ty)
            }
        };
        let unit = ports.var();
        let inputs: Vec<_> =
            input_names(self.count).map(|name| ports.input(&name, &input)).collect();
        for u in &inputs {
            ports.note_in(*u).same_unit(unit);
        }
        let y = ports.output("y", &output);
        ports.note_out(y).same_unit(unit);
        Ok(Plan { inputs, y })
    }

    fn check(&self, plan: &Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        if self.count == 1 && sizes.input(plan.inputs[0]) == 0 {
            return Err(Invalid::new("expected a vector of at least one element, found none"));
        }
        shape::expect_numbers(sizes, plan.inputs[0])
    }

    fn output(&self, plan: &Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let y = outputs.get(plan.y);
        let first = inputs.get(plan.inputs[0]).leaf(0);
        if self.count == 1 {
            y[0] = first[1..].iter().fold(first[0], |found, u| self.function.of(found, *u));
            return Ok(());
        }
        y.copy_from_slice(first);
        for u in &plan.inputs[1..] {
            for (y, u) in y.iter_mut().zip(inputs.get(*u).leaf(0)) {
                *y = self.function.of(*y, *u);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block, refusal};

    #[test]
    fn of_one_vector_it_is_one_of_its_elements() {
        for (function, y) in [("Min", -4.0), ("Max", 3.0)] {
            let extreme: MinMax = block(json!({ "function": function }));
            let mut bench = Bench::new(extreme, &[Type::vector(4)]).expect("an extreme");
            assert_eq!(bench.y(0.0, &[("u", &[1.0, 3.0, -4.0, 2.0])]), [y]);
            assert!(bench.y(0.0, &[("u", &[1.0, f64::NAN, -9.0, 9.0])])[0].is_nan());
        }
    }

    #[test]
    fn of_several_signals_it_goes_by_elements() {
        let extreme: MinMax = block(json!({ "function": "Max", "count": 2 }));
        let mut bench =
            Bench::new(extreme, &[Type::vector(2), Type::vector(2)]).expect("an extreme");
        assert_eq!(bench.y(0.0, &[("u1", &[1.0, 5.0]), ("u2", &[2.0, 4.0])]), [2.0, 5.0]);
    }

    #[test]
    fn nothing_has_no_extreme() {
        let extreme: MinMax = block(json!({ "function": "Min" }));
        let message = refusal(extreme, &[Type::vector(0)]);
        assert_eq!(message, "expected a vector of at least one element, found none");
    }
}
