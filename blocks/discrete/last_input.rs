//! What `UnitDelay` and `Memory` share: the output is the input of the last update.

/// Implements a block of the parameter `initial` and the ports `u` and `y`; `rate` states when it
/// updates.
macro_rules! last_input {
    ($block:ident, $rate:expr) => {
        const _: () = {
            use legwork_block::{Block, In, Invalid, Out, Outcome, OutputCx, Parameters, Ports};
            use legwork_block::{Sizes, Slope, SlopesCx, Type, UpdateCx, block};

            use crate::discrete::leaves;
            use crate::signal::shape;

            #[block]
            impl Block for $block {
                type Plan = (In<Any>, Out<Any>);
                /// The last input, leaf after leaf.
                type State = Vec<f64>;

                fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
                    let rate: fn(&mut Ports<'_>) = $rate;
                    rate(ports);
                    let (ty, unit) = shape::like(self.initial.as_ref(), ports)?;
                    let io = self.declare(ports, &ty, &unit);
                    Ok((io.u, io.y))
                }

                fn state(&self, &(_, y): &Self::Plan, sizes: &Sizes<'_>) -> Vec<f64> {
                    shape::initial_state(self.initial.as_ref(), sizes.output(y))
                }

                fn numbers(&self, _: &Self::Plan, state: &Vec<f64>) -> Vec<f64> {
                    state.clone()
                }

                fn set_numbers(&self, _: &Self::Plan, state: &mut Vec<f64>, numbers: &[f64]) {
                    state.copy_from_slice(numbers);
                }

                fn starting_at(
                    &self,
                    _: &Self::Plan,
                    at: &[f64],
                    outputs: &[Type],
                ) -> Option<Parameters> {
                    let unit = self.initial.as_ref().and_then(Tensor::unit);
                    shape::starting_at("initial", unit, at, outputs)
                }

                fn output(&self, &(_, y): &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
                    leaves::write(cx.state, y, &mut cx.outputs);
                    Ok(())
                }

                /// What is held does not move.
                fn output_slopes(&self, _: &Self::Plan, _: &mut SlopesCx<'_, Self>) -> Slope {
                    Slope::Exact
                }

                fn update(&self, &(u, _): &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
                    leaves::read(cx.inputs.get(u), cx.state);
                    Ok(())
                }
            }
        };
    };
}
pub(super) use last_input;
