//! `UnitDelay`: the input one period ago.

use legwork_block::quantity::Tensor;
use legwork_block::{
    Any, Block, In, Invalid, NO_FEEDS, Out, Outcome, OutputCx, Parameters, Ports, RateRule, Sizes,
    Type, UpdateCx,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::signal::shape::{self, initial_state, note_unit, state_signal};

/// The input one period ago: `y[k] = u[k − 1]`, `y[0] = initial`.
///
/// | port | shape | unit |
/// |---|---|---|
/// | in `u` | that of `initial`; any type, buses included, without it | that of `initial` |
/// | out `y` | that of `u` | that of `u` |
///
/// The input does not feed through, so a delay breaks an algebraic loop. The period is stated with
/// `every:` or inherited from a discrete input. Without `initial` the output is zero in its first
/// period, in every field of a bus, which is no valid rotation or quaternion.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["z^-1"]))]
pub struct UnitDelay {
    /// Output of the first period: a number, a list for a vector, a list of rows for a matrix
    /// [unit of u]; default zeros of the type of `u`.
    #[serde(default)]
    pub initial: Option<Tensor>,
}

impl Block for UnitDelay {
    const KIND: &'static str = "UnitDelay";
    type Plan = (In<Any>, Out<Any>);
    /// The last input, leaf after leaf.
    type State = Vec<f64>;
    type Memo = ();
    type Scratch = ();

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        ports.rate(RateRule::Sampled);
        let ty = state_signal(self.initial.as_ref(), ports)?;
        let (unit, var) = (self.initial.as_ref().and_then(Tensor::unit), ports.var());
        let u = ports.input("u", &ty);
        ports.group(&NO_FEEDS);
        let y = ports.output("y", &ty);
        note_unit(ports.note_in(u), unit, var);
        note_unit(ports.note_out(y), unit, var);
        ports.note_out(y).doc("the input one period ago");
        Ok((u, y))
    }

    fn state(&self, &(_, y): &Self::Plan, sizes: &Sizes<'_>) -> Vec<f64> {
        initial_state(self.initial.as_ref(), sizes.output(y))
    }

    fn numbers(&self, _: &Self::Plan, state: &Vec<f64>) -> Vec<f64> {
        state.clone()
    }

    fn set_numbers(&self, _: &Self::Plan, state: &mut Vec<f64>, numbers: &[f64]) {
        state.copy_from_slice(numbers);
    }

    fn starting_at(&self, _: &Self::Plan, at: &[f64], outputs: &[Type]) -> Option<Parameters> {
        shape::starting_at("initial", self.initial.as_ref().and_then(Tensor::unit), at, outputs)
    }

    fn scratch(&self, _: &Self::Plan, _: &Sizes<'_>) {}

    fn output(&self, &(_, y): &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let mut rest = cx.state.as_slice();
        for leaf in 0..cx.outputs.leaf_count(y) {
            let y = cx.outputs.leaf(y, leaf);
            let (now, later) = rest.split_at(y.len());
            y.copy_from_slice(now);
            rest = later;
        }
        Ok(())
    }

    fn update(&self, &(u, _): &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let mut rest = cx.state.as_mut_slice();
        for u in cx.inputs.get(u).iter() {
            let (now, later) = rest.split_at_mut(u.len());
            now.copy_from_slice(u);
            rest = later;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::{Feeds, Type};
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block};

    #[test]
    fn the_output_is_the_input_of_the_hit_before() {
        let delay: UnitDelay = block(json!({ "initial": 9 }));
        let mut bench = Bench::new(delay, &[Type::Real]).expect("a delay");
        assert_eq!(bench.declaration.groups, [Feeds::Only(vec![])]);
        let mut seen = Vec::new();
        for u in [1.0, 2.0, 3.0] {
            seen.push(bench.y(0.0, &[("u", &[u])])[0]);
            bench.update(0.0);
        }
        assert_eq!(seen, [9.0, 1.0, 2.0]);
    }

    #[test]
    fn arrays_are_delayed_leaf_by_leaf_and_start_at_zero() {
        let feet = Type::array(Type::vector(2), 2);
        let mut bench = Bench::new(block::<UnitDelay>(json!({})), &[feet]).expect("a delay");
        let u = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(bench.y(0.0, &[("u", &u)]), [0.0; 4]);
        bench.update(0.0);
        assert_eq!(bench.y(0.0, &[]), u);
    }

    #[test]
    fn a_matrix_starts_at_its_own_rows() {
        let delay: UnitDelay = block(json!({ "initial": [[1, 2], [3, 4]] }));
        let mut bench = Bench::new(delay, &[Type::matrix(2, 2)]).expect("a delay");
        assert_eq!(bench.y(0.0, &[]), [1.0, 3.0, 2.0, 4.0]);
    }
}
