//! `Counter`: counts samples.

use legwork_block::{
    Block, Bool, Int, Invalid, NO_FEEDS, OptionalIn, Out, Outcome, OutputCx, Ports, RateRule,
    Sizes, UpdateCx,
};
use schemars::JsonSchema;
use serde::Deserialize;

/// Counts samples: `y[k+1] = y[k] + 1`, after `limit` again 0. `y[0] = initial`.
///
/// | port | shape | unit |
/// |---|---|---|
/// | in `enable`, optional | truth value: while false the count is held | |
/// | in `reset`, optional | truth value: while true the next count is `initial` | |
/// | out `y` | whole number | 1 |
///
/// No input feeds through. The period is stated with `every:` or inherited from a discrete input.
/// `reset` wins over `enable`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Counter {
    /// First count, zero or more; default 0.
    #[serde(default)]
    pub initial: u64,
    /// Greatest count, at least `initial`; default none: the count stops at 2⁵³.
    #[serde(default)]
    pub limit: Option<u64>,
}

/// Greatest whole number up to which all are exact as f64.
const EXACT: u64 = 1 << 53;

/// Ports of a [`Counter`].
pub struct Plan {
    enable: OptionalIn<Bool>,
    reset: OptionalIn<Bool>,
    y: Out<Int>,
}

impl Block for Counter {
    const KIND: &'static str = "Counter";
    type Plan = Plan;
    /// The count.
    type State = u64;
    type Memo = ();
    type Scratch = ();

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        if self.initial > self.limit.unwrap_or(EXACT) {
            let message = format!(
                "expected at most the limit {}, found {}",
                self.limit.unwrap_or(EXACT),
                self.initial
            );
            return Err(Invalid::parameter("initial", message));
        }
        if let Some(limit) = self.limit.filter(|limit| *limit > EXACT) {
            let message = format!("expected at most 2^53, found {limit}");
            return Err(Invalid::parameter("limit", message));
        }
        ports.rate(RateRule::Sampled);
        let enable = ports.optional_input("enable", &Bool);
        let reset = ports.optional_input("reset", &Bool);
        ports.group(&NO_FEEDS);
        let y = ports.output("y", &Int);
        ports.note_out(y).unit("1").doc("the count");
        Ok(Plan { enable, reset, y })
    }

    fn state(&self, _: &Plan, _: &Sizes<'_>) -> u64 {
        self.initial
    }

    fn scratch(&self, _: &Plan, _: &Sizes<'_>) {}

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        cx.outputs.set(plan.y, *cx.state as f64);
        Ok(())
    }

    fn update(&self, plan: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        if cx.inputs.optional(plan.reset).unwrap_or(false) {
            *cx.state = self.initial;
        } else if cx.inputs.optional(plan.enable).unwrap_or(true) {
            *cx.state = match self.limit {
                Some(limit) if *cx.state >= limit => 0,
                Some(_) => *cx.state + 1,
                None => EXACT.min(*cx.state + 1),
            };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::{Feeds, Type};
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block, refusal};

    #[test]
    fn the_count_wraps_after_its_limit() {
        let counter: Counter = block(json!({ "initial": 1, "limit": 2 }));
        let mut bench = Bench::new(counter, &[Type::Bool, Type::Bool]).expect("a counter");
        assert_eq!(bench.declaration.groups, [Feeds::Only(vec![])]);
        bench.set("enable", &[1.0]);
        let mut seen = Vec::new();
        for _ in 0..6 {
            seen.push(bench.y(0.0, &[])[0]);
            bench.update(0.0);
        }
        assert_eq!(seen, [1.0, 2.0, 0.0, 1.0, 2.0, 0.0]);
    }

    #[test]
    fn it_stands_while_disabled_and_starts_again_at_a_reset() {
        let mut bench =
            Bench::new(block::<Counter>(json!({})), &[Type::Bool, Type::Bool]).expect("a counter");
        let mut seen = Vec::new();
        for (enable, reset) in [(1.0, 0.0), (1.0, 0.0), (0.0, 0.0), (1.0, 1.0), (1.0, 0.0)] {
            bench.set("enable", &[enable]);
            bench.set("reset", &[reset]);
            seen.push(bench.y(0.0, &[])[0]);
            bench.update(0.0);
        }
        assert_eq!(seen, [0.0, 1.0, 2.0, 2.0, 0.0]);
        assert_eq!(bench.y(0.0, &[]), [1.0]);
    }

    #[test]
    fn the_first_count_is_within_the_limit() {
        let message = refusal(block::<Counter>(json!({ "initial": 3, "limit": 2 })), &[]);
        assert_eq!(message, "expected at most the limit 2, found 3");
    }
}
