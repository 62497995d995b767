//! `Lqr`: state feedback about a setpoint.

use legwork_block::quantity::Tensor;
use legwork_block::{
    Any, Inputs, Invalid, Outcome, Outputs, Pure, Type, Vector, block, parameters, ports,
};

use crate::signal::shape::finite;

/// State feedback about a setpoint: `u = u_ref − K (x − x_ref)`.
///
/// K is a gain such as that of the linear-quadratic regulator. `legwork lqr FILE --block NAME`
/// designs it on the diagram itself, opened at this block, and writes K, `state` and `input` as a
/// patch: x is whatever the input `x` carries, as long as it shows all states; `legwork place` puts
/// the poles instead. With `every:` it is a sampled controller, and the design is one for its
/// period.
///
/// The setpoint is `state` with the input `input`, an equilibrium of the plant; the inputs
/// `reference` and `feedforward` take their places where they are connected. There are no limits:
/// those are of the motors, or of a `Saturation` behind it.
///
/// Reference: B. Anderson, J. Moore, *Optimal Control: Linear Quadratic Methods* (1990), ch. 3.
#[ports(
    keep gain: Gain = self.gain()?;
    let n = gain.states;
    let output = Any(gain.output.clone());
    in  x: Vector::of(n), _, "the state, or an estimate of it", units "any", shape "n";
    in  reference?: Vector::of(n), _, "x_ref, in the place of `state`", units "any", shape "n";
    in  feedforward?: output.clone() as Any, _, "u_ref, in the place of `input`", units "any",
        shape "as `u`";
    out u: output as Any, _, "the plant's input", units "any",
        shape "number if `gain` is a list of n; vector of m for m rows of n";
)]
#[parameters(aliases("LQR", "state feedback", "linear-quadratic regulator", "pole placement"))]
pub struct Lqr {
    /// K: a list of n for one output, m rows of n for a vector of m.
    pub gain: Tensor,
    /// x_ref: a list of n, or one number for all.
    #[default = 0]
    pub state: Tensor,
    /// u_ref: a number, or a list of m.
    #[default = 0]
    pub input: Tensor,
}

/// K and the setpoint.
struct Gain {
    states: usize,
    /// Column by column.
    k: Vec<f64>,
    state: Vec<f64>,
    input: Vec<f64>,
    output: Type,
}

impl Lqr {
    fn gain(&self) -> Result<Gain, Invalid> {
        for (name, tensor) in [("gain", &self.gain), ("state", &self.state), ("input", &self.input)]
        {
            finite(name, tensor)?;
        }
        let (outputs, states, output) = match *self.gain.shape() {
            [n] => (1, n, Type::Real),
            [m, n] => (m, n, Type::vector(m)),
            [] => (1, 1, Type::Real),
            ref found => {
                let message = format!("expected a list or rows, found the shape {found:?}");
                return Err(Invalid::parameter("gain", message));
            }
        };
        Ok(Gain {
            states,
            k: self.gain.data().to_vec(),
            state: numbers("state", &self.state, states)?,
            input: numbers("input", &self.input, outputs)?,
            output,
        })
    }
}

/// So many numbers of a list, or of one number.
pub(super) fn numbers(name: &str, tensor: &Tensor, len: usize) -> Result<Vec<f64>, Invalid> {
    match *tensor.shape() {
        [] => Ok(vec![tensor.data()[0]; len]),
        [n] if n == len => Ok(tensor.data().to_vec()),
        ref found => {
            let message = format!("expected {len} numbers, found the shape {found:?}");
            Err(Invalid::parameter(name, message))
        }
    }
}

#[block]
impl Pure for Lqr {
    fn output(&self, plan: &Self::Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let Gain { k, state, input, .. } = &plan.gain;
        let x = inputs.get(plan.x);
        let reference = inputs.optional(plan.reference).unwrap_or(state);
        let u = outputs.get(plan.u);
        match inputs.optional(plan.feedforward) {
            Some(feedforward) => u.copy_from_slice(feedforward.leaf(0)),
            None => u.copy_from_slice(input),
        }
        let rows = u.len();
        for (column, (x, reference)) in k.chunks_exact(rows).zip(x.iter().zip(reference)) {
            let error = x - reference;
            u.iter_mut().zip(column).for_each(|(u, k)| *u -= k * error);
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

    /// What is connected takes the places of parameters; `diagrams/linear` has them alone.
    #[test]
    fn the_output_is_the_feedback_of_the_error() {
        let lqr: Lqr = block(json!({
            "gain": [[1, 2, 3], [0, -1, 0.5]], "state": [9, 9, 9], "input": 7,
        }));
        let types = [Type::vector(3), Type::vector(3), Type::vector(2)];
        let mut bench = Bench::new(lqr, &types).expect("a controller");
        bench.set("x", &[11.0, 18.0, 30.5]);
        bench.set("reference", &[10.0, 20.0, 30.0]);
        bench.set("feedforward", &[100.0, 200.0]);
        bench.output(0.0).expect("no fault");
        assert_eq!(bench.value("u"), [100.0 - (1.0 - 4.0 + 1.5), 200.0 - (2.0 + 0.25)]);
    }

    #[test]
    fn the_setpoint_fits_the_gain() {
        let wrong: Lqr = block(json!({ "gain": [2, 1], "state": [1, 2, 3] }));
        assert_eq!(refusal(wrong, &[]), "expected 2 numbers, found the shape [3]");
        let wrong: Lqr = block(json!({ "gain": [[2, 1], [0, 1]], "input": [1, 2, 3] }));
        assert_eq!(refusal(wrong, &[]), "expected 2 numbers, found the shape [3]");
    }
}
