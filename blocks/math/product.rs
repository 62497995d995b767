//! `Product`: products and quotients.

use legwork_block::{
    Any, Inputs, Invalid, Outcome, Outputs, PortUnit, Pure, Sizes, Slope, Slopes, SymbolicUnit,
    Unit, block, parameters, ports,
};

use crate::math::sum::{change, first_wide, input_names, signs, term};
use crate::signal::{shape, units};

/// Products and quotients, element by element: `y = u1 · u2 / u3 …`.
///
/// The first operation applies to 1: `"/"` alone gives the reciprocal. A number counts for every
/// element. A division by zero is a fault of the run. For the product of matrices see
/// `MatrixMultiply`.
#[ports(
    let known = [('*', Operation::Multiply), ('/', Operation::Divide)];
    keep operations: Vec<Operation> = signs(("ops", "operation"), &self.ops, known)?;
    let names: Vec<String> = input_names(operations.len()).collect();
    /// An input of the shape of `y`.
    keep wide: usize = first_wide(&names, &self.numbers)?;
    let ty = Any::var(ports.number_var());
    let each: Vec<SymbolicUnit> = names.iter().map(|_| units::open(ports)).collect();
    let unit = product_unit(&operations, &each);
    in  factors[(name, unit) in names.iter().zip(&each)]: term(name, &self.numbers, &ty) as Any,
        unit.clone(), "factors and divisors",
        named "`u1`, `u2`, …, one per operation; `u` for one",
        shape "of one shape, but `numbers`", units "any";
    out y: ty as Any, unit, "the product", shape "that of the inputs that are not listed",
        units "the product of theirs";
)]
#[parameters(aliases("multiply", "divide"))]
pub struct Product {
    /// `*` or `/` for each input, such as `"*/"` for `u1 / u2`.
    #[default = "**"]
    pub ops: String,
    /// Names of the inputs that are numbers beside vectors or matrices, such as `["u2"]`.
    #[default]
    pub numbers: Vec<String>,
}

/// What an input does to the product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Multiply,
    Divide,
}

/// The unit of a product; an exponent out of range says nothing.
fn product_unit(operations: &[Operation], factors: &[SymbolicUnit]) -> PortUnit {
    let one = SymbolicUnit::from(Unit::ONE);
    let unit =
        operations.iter().zip(factors).try_fold(one, |unit, (operation, factor)| match operation {
            Operation::Multiply => unit.times(factor),
            Operation::Divide => unit.over(factor),
        });
    unit.map_or(PortUnit::Unspecified, PortUnit::Of)
}

#[block]
impl Pure for Product {
    fn check(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        shape::expect_numbers(sizes, plan.factors[plan.wide])
    }

    fn output(&self, plan: &Self::Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let y = outputs.get(plan.y);
        y.fill(1.0);
        for (&u, operation) in plan.factors.iter().zip(&plan.operations) {
            let u = inputs.get(u).leaf(0);
            match operation {
                Operation::Multiply => change(y, u, |y, u| *y *= u),
                Operation::Divide => change(y, u, |y, u| *y /= u),
            }
        }
        Ok(())
    }

    /// Each factor's slope is the product of all others, from both sides of it.
    fn slopes(&self, plan: &Self::Plan, inputs: &Inputs<'_>, slopes: &mut Slopes<'_>) -> Slope {
        let y = slopes.rows(plan.y, 0);
        let factors: Vec<(&[f64], Operation)> = plan
            .factors
            .iter()
            .zip(&plan.operations)
            .map(|(u, operation)| (inputs.get(*u).leaf(0), *operation))
            .collect();
        let mut above = vec![1.0; factors.len() + 1];
        for i in 0..y.len() {
            let value = |k: usize| {
                let (u, operation) = factors[k];
                let u = if u.len() == 1 { u[0] } else { u[i] };
                match operation {
                    Operation::Multiply => (u, 1.0),
                    Operation::Divide => (1.0 / u, -1.0 / (u * u)),
                }
            };
            for k in (0..factors.len()).rev() {
                above[k] = above[k + 1] * value(k).0;
            }
            let mut below = 1.0;
            for (k, u) in plan.factors.iter().enumerate() {
                let columns = slopes.columns(*u, 0);
                let (factor, slope) = value(k);
                let j = if columns.len() == 1 { 0 } else { i };
                slopes.add((y, i), (columns, j), below * slope * above[k + 1]);
                below *= factor;
            }
        }
        Slope::Exact
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block, refusal};

    fn product(ops: &str) -> Product {
        block(json!({ "ops": ops }))
    }

    #[test]
    fn inputs_multiply_or_divide_element_by_element() {
        let vector = || Type::vector(2);
        let given = [vector(), vector(), vector()];
        let mut bench = Bench::new(product("**/"), &given).expect("a product");
        let y = bench.y(0.0, &[("u1", &[2.0, 3.0]), ("u2", &[5.0, 7.0]), ("u3", &[4.0, 2.0])]);
        assert_eq!(y, [2.5, 10.5]);
    }

    #[test]
    fn a_single_division_is_the_reciprocal() {
        let mut bench = Bench::new(product("/"), &[Type::Real]).expect("a product");
        assert_eq!(bench.y(0.0, &[("u", &[4.0])]), [0.25]);
        assert_eq!(bench.y(0.0, &[("u", &[0.0])]), [f64::INFINITY]);
    }

    #[test]
    fn a_listed_number_counts_for_every_element() {
        let product: Product = block(json!({ "ops": "*/", "numbers": ["u2"] }));
        let mut bench = Bench::new(product, &[Type::vector(2), Type::Real]).expect("a product");
        assert_eq!(bench.y(0.0, &[("u1", &[6.0, 8.0]), ("u2", &[2.0])]), [3.0, 4.0]);
    }

    #[test]
    fn operations_are_multiplication_and_division() {
        assert_eq!(refusal(product("*+"), &[]), "expected `*` or `/` for each input, found `+`");
        assert_eq!(refusal(product(""), &[]), "expected at least one operation, found none");
    }
}
