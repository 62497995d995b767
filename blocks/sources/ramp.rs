//! `Ramp`: a line from a time on.

use legwork_block::quantity::{Tensor, Time};
use legwork_block::{
    Any, Block, GuardCx, Invalid, Outcome, OutputCx, RateRule, Sizes, Unit, UpdateCx, block,
    parameters, ports,
};

use crate::signal::pieces;
use crate::signal::shape::{self, Common};

/// A line from a time on: `y = initial + slope · max(t − start, 0)`.
///
/// A variable step is cut at `start`; a fixed step that ends there does not see the line rise.
#[ports(
    shape::finite("slope", &self.slope)?;
    shape::finite("initial", &self.initial)?;
    let unit = self.unit()?;
    let shape = Common::shape(&[("slope", &self.slope), ("initial", &self.initial)])?;
    let common = Common { shape, unit };
    ports.rate(RateRule::Continuous);
    keep slope: Vec<f64> = common.spread(&self.slope);
    keep initial: Vec<f64> = common.spread(&self.initial);
    keep located: bool = ports.pieces_of_time();
    out y: shape::signal(&common.shape) as Any, common.unit, "the line",
        shape "that of `slope`, `initial`; numbers are broadcast",
        units "of `initial` or `slope` · s";
)]
#[parameters]
pub struct Ramp {
    /// Rate of change [unit of y / s].
    #[default = 1]
    pub slope: Tensor,
    /// Time at which the line begins to rise [s].
    #[default = "0 s"]
    pub start: Time,
    /// Value up to `start` [any unit].
    #[default = 0]
    pub initial: Tensor,
}

impl Ramp {
    /// The unit of the output.
    fn unit(&self) -> Result<Option<Unit>, Invalid> {
        let from_slope = self.slope.unit().and_then(|unit| unit.times(Unit::SECOND));
        match (self.initial.unit(), from_slope) {
            (Some(initial), Some(slope)) if !initial.agrees(slope) => Err(Invalid::parameter(
                "slope",
                format!(
                    "expected a unit that gives {initial} over time, found one that gives {slope}"
                ),
            )),
            (initial, slope) => Ok(initial.or(slope)),
        }
    }
}

#[block]
impl Block for Ramp {
    /// Whether `start` was behind at the last major step, if there are minor ones.
    type State = Option<bool>;

    fn state(&self, plan: &Self::Plan, _: &Sizes<'_>) -> Option<bool> {
        plan.located.then_some(false)
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let since = cx.time.t - self.start.value();
        let rises = match *cx.state {
            Some(held) if cx.time.minor => held,
            _ => since > 0.0,
        };
        let since = if rises { since } else { 0.0 };
        let y = cx.outputs.get(plan.y);
        for ((y, slope), initial) in y.iter_mut().zip(&plan.slope).zip(&plan.initial) {
            *y = initial + slope * since;
        }
        Ok(())
    }

    fn update(&self, _: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        if let Some(rises) = cx.state {
            *rises = cx.time.t >= self.start.value();
        }
        Ok(())
    }

    fn guard(&self, _: &Self::Plan, cx: &mut GuardCx<'_, Self>) {
        cx.values.fill(pieces::passed(*cx.state == Some(true), cx.time.t, self.start.value()));
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::PortUnit;
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block, refusal};

    #[test]
    fn the_line_is_flat_then_rises_by_its_slope() {
        let ramp: Ramp = block(json!({ "slope": 2, "start": 1, "initial": 5 }));
        let mut bench = Bench::new(ramp, &[]).expect("a ramp");
        for (t, y) in [(0.0, 5.0), (1.0, 5.0), (1.5, 6.0), (4.0, 11.0)] {
            assert_eq!(bench.y(t, &[]), [y], "at {t} s");
        }
    }

    #[test]
    fn slopes_may_differ_by_element() {
        let mut bench =
            Bench::new(block::<Ramp>(json!({ "slope": [1, -1] })), &[]).expect("a ramp");
        assert_eq!(bench.y(3.0, &[]), [3.0, -3.0]);
    }

    #[test]
    fn the_unit_is_that_of_slope_times_time() {
        let bench = Bench::new(block::<Ramp>(json!({ "slope": "2 m/s" })), &[]).expect("a ramp");
        assert_eq!(bench.declaration.outputs[0].unit, PortUnit::Is("m".into()));
        let wrong: Ramp = block(json!({ "slope": "2 m", "initial": "1 m" }));
        assert!(refusal(wrong, &[]).starts_with("expected a unit that gives m over time"));
    }
}
