//! `Integrator`: integrates over continuous time.

use legwork_block::quantity::Tensor;
use legwork_block::{
    Any, Block, ContinuousState, DerivativeCx, Dim, In, Invalid, Manifold, NO_FEEDS, Out, Outcome,
    OutputCx, Ports, Sizes,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::shape;

/// Integrates over continuous time: `ẋ = u`, `y = x`, `x(0) = initial`.
///
/// | port | shape | unit |
/// |---|---|---|
/// | in `u` | that of `initial` | unit of y / s, not checked |
/// | out `y` | that of `initial` | that of `initial` |
///
/// The run's solver advances x. The input does not feed through. For a vector of n zeros write
/// `initial: "=zeros(n)"`. For a position driven by an acceleration `SecondOrderIntegrator` lets a
/// semi-implicit solver use the new velocity.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Integrator {
    /// State at t = 0: a number, a list for a vector, a list of rows for a matrix [any unit];
    /// default 0. It also says what shape `u` and `y` have.
    #[serde(default = "shape::zero")]
    pub initial: Tensor,
}

impl Block for Integrator {
    const KIND: &'static str = "Integrator";
    type Plan = (In<Any>, Out<Any>);
    type State = ();
    type Memo = ();
    type Scratch = ();

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        shape::finite("initial", &self.initial)?;
        let ty = shape::signal(self.initial.shape());
        let n = Dim::fixed(self.initial.data().len());
        ports.continuous_state(ContinuousState::First(vec![Manifold::Euclidean(n)]));
        let u = ports.input("u", &ty);
        ports.note_in(u).doc("rate of change");
        ports.group(&NO_FEEDS);
        let y = ports.output("y", &ty);
        ports.note_out(y).doc("the integral");
        if let Some(unit) = self.initial.unit() {
            ports.note_out(y).unit(&unit.to_string());
        }
        Ok((u, y))
    }

    fn state(&self, _: &Self::Plan, _: &Sizes<'_>) {}

    fn scratch(&self, _: &Self::Plan, _: &Sizes<'_>) {}

    fn initial(&self, _: &Self::Plan, _: &Sizes<'_>, x: &mut [f64]) {
        x.copy_from_slice(self.initial.data());
    }

    fn output(&self, &(_, y): &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        cx.outputs.get(y).copy_from_slice(cx.x);
        Ok(())
    }

    fn derivative(&self, &(u, _): &Self::Plan, cx: &mut DerivativeCx<'_, Self>) -> Outcome {
        cx.rate.copy_from_slice(cx.inputs.get(u).leaf(0));
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
    fn the_output_is_the_state_and_its_rate_the_input() {
        let integrator: Integrator = block(json!({ "initial": [1, 2] }));
        let mut bench = Bench::new(integrator, &[Type::vector(2)]).expect("an integrator");
        assert_eq!(bench.declaration.groups, [Feeds::Only(vec![])]);
        assert_eq!(bench.y(0.0, &[("u", &[-1.0, 5.0])]), [1.0, 2.0]);
        assert_eq!(bench.derivative(0.0), [-1.0, 5.0]);
        bench.x = vec![7.0, 8.0];
        assert_eq!(bench.y(0.0, &[]), [7.0, 8.0]);
    }

    #[test]
    fn euler_steps_of_a_constant_rate_add_up() {
        let mut bench =
            Bench::new(block::<Integrator>(json!({})), &[Type::Real]).expect("an integrator");
        bench.set("u", &[2.0]);
        for _ in 0..8 {
            bench.x[0] += 0.125 * bench.derivative(0.0)[0];
        }
        assert_eq!(bench.y(1.0, &[]), [2.0]);
    }
}
