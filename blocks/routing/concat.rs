//! `Concat`: one vector from several signals.

use legwork_block::{
    ConcatVectors, Inputs, Invalid, Out, Outcome, Outputs, Piece, Ports, Pure, Slope, Slopes,
    Vector, block, parameters,
};

use crate::math::sum::input_count;

/// One vector from several signals: `y = [u1; u2; …]`.
///
/// | port | shape | unit |
/// |---|---|---|
/// | in `u1`, `u2`, … | numbers, and vectors of any length | any |
/// | out `y` | vector of all elements | each element keeps its own |
#[parameters(aliases("mux", "vector concatenate", "stack"))]
pub struct Concat {
    /// How many inputs, at least 1; without it as many as are connected.
    #[default]
    pub count: Option<usize>,
}

impl Concat {
    /// How many inputs there are if these are connected.
    fn count(&self, connected: &[&str]) -> Result<usize, Invalid> {
        let number = |name: &&str| name.strip_prefix('u')?.parse::<usize>().ok();
        let last = connected.iter().filter_map(number).max();
        match self.count.or(last) {
            Some(count) => input_count("count", count),
            None => Err(Invalid::new("expected inputs `u1`, `u2`, …, found none")
                .hint("connect them, `in: { \"u1\": \"block.port\" }`, or write `count: 2`")),
        }
    }
}

#[block]
impl Pure for Concat {
    /// The node and its ports.
    type Plan = (ConcatVectors, (Vec<Piece>, Out<Vector>));

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        let count = self.count(ports.connected())?;
        // Which are numbers is seen from what is connected.
        let node = ConcatVectors { scalar: vec![false; count] };
        ports.joins();
        let plan = Pure::plan(&node, ports)?;
        Ok((node, plan))
    }

    fn output(
        &self,
        (node, plan): &Self::Plan,
        inputs: &Inputs<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Outcome {
        Pure::output(node, plan, inputs, outputs)
    }

    fn slopes(
        &self,
        (node, plan): &Self::Plan,
        inputs: &Inputs<'_>,
        slopes: &mut Slopes<'_>,
    ) -> Slope {
        Pure::slopes(node, plan, inputs, slopes)
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block, refusal};

    #[test]
    fn vectors_follow_one_another() {
        let concat: Concat = block(json!({ "count": 3 }));
        let given = [Type::vector(2), Type::vector(0), Type::vector(1)];
        let mut bench = Bench::new(concat, &given).expect("a concatenation");
        assert_eq!(bench.y(0.0, &[("u1", &[1.0, 2.0]), ("u3", &[3.0])]), [1.0, 2.0, 3.0]);
    }

    #[test]
    fn without_a_count_there_are_as_many_inputs_as_are_connected() {
        let concat: Concat = block(json!({}));
        assert_eq!(concat.count(&["u1", "u3", "x"]), Ok(3));
        assert_eq!(block::<Concat>(json!({ "count": 2 })).count(&["u1"]), Ok(2));
        assert!(concat.count(&[]).is_err_and(|invalid| invalid.message.contains("found none")));
        assert!(concat.count(&["u99999999"]).is_err());
    }

    #[test]
    fn there_is_at_least_one_input() {
        let message = refusal(block::<Concat>(json!({ "count": 0 })), &[]);
        assert_eq!(message, "expected at least one input, found 0");
    }
}
