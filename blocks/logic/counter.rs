//! `Counter`: counts samples.

use legwork_block::{
    Block, Bool, Int, Invalid, Outcome, OutputCx, Ports, RateRule, Sizes, UpdateCx, block,
    parameters, ports,
};

/// Counts samples: `y[k+1] = y[k] + 1`, after `limit` again 0. `y[0] = initial`.
///
/// No input feeds through. The period is stated with `every:` or inherited from a discrete input.
/// `reset` wins over `enable`.
#[ports(
    in  enable?: Bool, _, "while false the count is held";
    in  reset?: Bool, _, "while true the next count is `initial`";
    feeds();
    out y: Int, "1", "the count";
)]
#[parameters]
pub struct Counter {
    /// First count, zero or more.
    #[default]
    pub initial: u64,
    /// Greatest count, at least `initial`; default none: the count stops at 2⁵³.
    pub limit: Option<u64>,
}

/// Greatest whole number up to which all are exact as f64.
const EXACT: u64 = 1 << 53;

#[block]
impl Block for Counter {
    /// The count.
    type State = u64;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<CounterPorts, Invalid> {
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
        Ok(self.declare(ports))
    }

    fn state(&self, _: &CounterPorts, _: &Sizes<'_>) -> u64 {
        self.initial
    }

    fn output(&self, io: &CounterPorts, cx: &mut OutputCx<'_, Self>) -> Outcome {
        cx.outputs.set(io.y, *cx.state as f64);
        Ok(())
    }

    fn update(&self, io: &CounterPorts, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        if cx.inputs.optional(io.reset).unwrap_or(false) {
            *cx.state = self.initial;
        } else if cx.inputs.optional(io.enable).unwrap_or(true) {
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
