//! `Abs`: the absolute value.

use legwork_block::{Inputs, Invalid, Outcome, Outputs, Ports, Pure, Sizes};
use schemars::JsonSchema;
use serde::Deserialize;

use super::elementwise::{Ends, ends};
use crate::shape::{self, Common};

/// The absolute value of every element: `yᵢ = |uᵢ|`.
///
/// | port | shape | unit |
/// |---|---|---|
/// | in `u` | any of number, vector, matrix | any |
/// | out `y` | that of `u` | that of `u` |
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Abs {}

impl Pure for Abs {
    const KIND: &'static str = "Abs";
    type Plan = Ends;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Ends, Invalid> {
        Ok(ends(&Common { shape: Vec::new(), unit: None }, ports))
    }

    fn check(&self, &(u, _): &Ends, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        shape::expect_numbers(sizes, u)
    }

    fn output(&self, &(u, y): &Ends, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        for (y, u) in outputs.get(y).iter_mut().zip(inputs.get(u).leaf(0)) {
            *y = u.abs();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;

    use super::*;
    use crate::testing::Bench;

    #[test]
    fn signs_are_dropped() {
        let mut bench = Bench::new(Abs {}, &[Type::matrix(1, 3)]).expect("a value");
        assert_eq!(bench.y(0.0, &[("u", &[-2.0, 0.0, 3.5])]), [2.0, 0.0, 3.5]);
    }
}
