//! `Assertion`: what must hold while the run goes on.

use legwork_block::{
    Block, Bool, Fault, Int, Outcome, OutputCx, Report, UpdateCx, block, parameters, ports,
};

/// Stops the run, or counts, where its input is false.
///
/// With `on_fail: Stop` the first failure is a fault of the run with `message`. With
/// `on_fail: Count` the run goes on and the summary tells the number. Minor steps are not looked
/// at. Expressions over signals go into the diagram's `checks:`, which need no block.
#[ports(
    ports.updates();
    ports.per_major();
    in  u: Bool, _, "what must hold";
    out y: Int, "1", "failures at earlier major steps (samples, with `every:`)";
)]
#[parameters(aliases("assert", "check"))]
pub struct Assertion {
    /// What the fault says.
    #[default = "the assertion failed"]
    pub message: String,
    /// `Stop` or `Count`.
    #[default]
    pub on_fail: OnFail,
}

/// What an [`Assertion`] does where it fails.
#[parameters]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum OnFail {
    /// The run ends with a fault.
    #[default]
    Stop,
    /// Failures are counted.
    Count,
}

#[block]
impl Block for Assertion {
    /// Failures so far.
    type State = u64;

    fn output(&self, io: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        if self.on_fail == OnFail::Stop && !cx.inputs.get(io.u) {
            return Err(Fault::new(self.message.clone()));
        }
        cx.outputs.set(io.y, *cx.state as f64);
        Ok(())
    }

    fn update(&self, io: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        *cx.state += u64::from(!cx.inputs.get(io.u));
        Ok(())
    }

    fn report(&self, _: &Self::Plan, state: &u64, report: &mut Report) {
        if self.on_fail == OnFail::Count {
            report.metric("failures", *state as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block};

    #[test]
    fn a_failure_is_a_fault_with_the_message() {
        let assertion: Assertion = block(json!({ "message": "the arm left its box" }));
        let mut bench = Bench::new(assertion, &[Type::Bool]).expect("an assertion");
        assert_eq!(bench.y(0.0, &[("u", &[1.0])]), [0.0]);
        bench.set("u", &[0.0]);
        assert_eq!(bench.output(0.0).unwrap_err().message, "the arm left its box");
    }

    #[test]
    fn failures_can_be_counted() {
        let assertion: Assertion = block(json!({ "on_fail": "Count" }));
        let mut bench = Bench::new(assertion, &[Type::Bool]).expect("an assertion");
        for u in [1.0, 0.0, 0.0, 1.0] {
            bench.y(0.0, &[("u", &[u])]);
            bench.update(0.0);
        }
        assert_eq!(bench.y(0.0, &[]), [2.0]);
    }
}
