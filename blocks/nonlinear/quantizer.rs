//! `Quantizer`: steps of one size.

use legwork_block::quantity::Tensor;
use legwork_block::{
    Any, Inputs, Invalid, Outcome, Outputs, Pure, Sizes, block, parameters, ports,
};

use crate::signal::elementwise::Each;
use crate::signal::shape::{self, Common};

/// Rounds to multiples of `interval`: `y = interval · round(u / interval)`. Halves are rounded away
/// from zero.
#[ports(
    shape::finite("interval", &self.interval)?;
    let common = Common::of(&[("interval", &self.interval)])?;
    shape::expect("interval", &self.interval, "an interval greater than zero", |i| i > 0.0)?;
    keep interval: Each = Each::new(&self.interval);
    let (ty, unit) = common.signal(ports);
    in  u: ty.clone() as Any, unit.clone(), "what is rounded", units "that of `interval`",
        shape "that of `interval`; any if it is a number";
    out y: ty as Any, unit, "the multiple", shape "that of `u`", units "that of `u`", elements u;
)]
#[parameters(aliases("quantization", "ADC", "resolution"))]
pub struct Quantizer {
    /// Size of a step, greater than zero, such as one count of an encoder [unit of u].
    pub interval: Tensor,
}

#[block]
impl Pure for Quantizer {
    fn check(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        shape::expect_numbers(sizes, plan.u)
    }

    fn output(&self, plan: &Self::Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let u = inputs.get(plan.u).leaf(0);
        for (i, (y, &u)) in outputs.get(plan.y).iter_mut().zip(u).enumerate() {
            let interval = plan.interval.at(i);
            *y = interval * libm::round(u / interval);
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

    #[test]
    fn the_output_is_the_nearest_whole_step() {
        let quantizer: Quantizer = block(json!({ "interval": "0.25 rad" }));
        let mut bench = Bench::new(quantizer, &[Type::vector(5)]).expect("a quantizer");
        let u = [0.12, 0.125, -0.125, 0.9, -3.3];
        assert_eq!(bench.y(0.0, &[("u", &u)]), [0.0, 0.25, -0.25, 1.0, -3.25]);
        let once = bench.value("y");
        assert_eq!(bench.y(0.0, &[("u", &once)]), once, "steps stay");
    }

    #[test]
    fn the_interval_is_positive() {
        let message = refusal(block::<Quantizer>(json!({ "interval": [1, 0] })), &[]);
        assert_eq!(message, "expected an interval greater than zero, found 0");
    }
}
