//! `Policy`: a trained neural network.

mod network;

use legwork_block::quantity::Tensor;
use legwork_block::{
    Any, Block, Invalid, Outcome, OutputCx, Ports, Sizes, Type, block, parameters, ports,
};

use self::network::{Layer, read};
use crate::signal::shape::{expect_numbers, finite, signal};

/// A trained neural network: a multilayer perceptron from a file of weights.
///
/// ```text
/// h₀ = (u − mean) / deviation
/// hₖ = φ(Wₖ hₖ₋₁ + bₖ),  k = 1 … n − 1
/// y  = scale · ψ(Wₙ hₙ₋₁ + bₙ)
/// ```
///
/// Weights are as the file has them, products and sums are of double precision in a fixed order, so
/// that results differ from those of a trainer by the rounding of its own numbers.
///
/// The file is of [safetensors](https://huggingface.co/docs/safetensors), which trainers write from
/// a dictionary of tensors. A layer is a matrix and a bias whose names differ at the end only:
/// `net.0.weight` (out × in) and `net.0.bias` as of PyTorch, or `Dense_0.kernel` (in × out) and
/// `Dense_0.bias` as of Flax. Layers are in the order of their names, numbers by value. Tensors are
/// `F64`, `F32`, `F16` or `BF16`.
///
/// `y` is deterministic: of a policy that draws actions it is the mean.
#[ports(
    |from: Any, to: Any|
    in  u: from as Any, _, "what the network sees", shape "number or vector, by the file";
    out y: to as Any, self.scale.unit(), "what it does",
        shape "number or vector, by the file", units "that of `scale`";
)]
#[parameters(aliases("neural network", "MLP", "reinforcement learning", "perceptron"))]
pub struct Policy {
    /// The file: relative to the diagram, or in a search root.
    pub path: String,
    /// Names of the layers in their order, without `.weight`, `.kernel` and `.bias`, as
    /// `["actor.0", "actor.2"]`; default: all of the file.
    pub layers: Option<Vec<String>>,
    /// φ: `Tanh`, `Relu`, `Elu`, `Silu`, `Sigmoid` or `Linear`.
    #[default = Activation::Tanh]
    pub activation: Activation,
    /// ψ, of the last layer.
    #[default = Activation::Linear]
    pub output: Activation,
    /// What is subtracted from `u`: a number, or a list.
    #[default = 0.0]
    pub mean: Tensor,
    /// What `u` is then divided by: a number, or a list.
    #[default = 1.0]
    pub deviation: Tensor,
    /// What the last layer's numbers are multiplied with, with the unit of `y`: a number, or a list.
    #[default = 1.0]
    pub scale: Tensor,
}

/// A function of each number of a layer.
#[parameters]
#[derive(Copy, PartialEq, Eq)]
pub enum Activation {
    /// `x`.
    Linear,
    /// `tanh x`.
    Tanh,
    /// `max(x, 0)`.
    Relu,
    /// `x` if positive, else `eˣ − 1`.
    Elu,
    /// `x / (1 + e⁻ˣ)`.
    Silu,
    /// `1 / (1 + e⁻ˣ)`.
    Sigmoid,
}

impl Activation {
    fn of(self, x: f64) -> f64 {
        match self {
            Self::Linear => x,
            Self::Tanh => libm::tanh(x),
            Self::Relu => x.max(0.0),
            Self::Elu if x > 0.0 => x,
            Self::Elu => libm::expm1(x),
            Self::Silu => x * Self::Sigmoid.of(x),
            Self::Sigmoid => 1.0 / (1.0 + libm::exp(-x)),
        }
    }
}

fn number_or_vector(len: usize) -> Any {
    if len == 1 { signal(&[]) } else { Any(Type::vector(len)) }
}

/// The numbers of a parameter for each of `len` elements.
fn each(name: &str, tensor: &Tensor, len: usize) -> Result<Vec<f64>, Invalid> {
    finite(name, tensor)?;
    match (tensor.data(), tensor.shape()) {
        (&[one], []) => Ok(vec![one; len]),
        (all, [count]) if *count == len => Ok(all.to_vec()),
        (_, found) => {
            let message =
                format!("expected a number or a list of {len}, found the shape {found:?}");
            Err(Invalid::parameter(name, message))
        }
    }
}

/// Ports and layers of a [`Policy`].
pub struct Plan {
    io: PolicyPorts,
    layers: Vec<Layer>,
    mean: Vec<f64>,
    deviation: Vec<f64>,
    scale: Vec<f64>,
}

#[block]
impl Block for Policy {
    type Plan = Plan;
    /// The numbers of a layer and those of the next.
    type Scratch = [Vec<f64>; 2];

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let bytes = ports.files().read(&self.path);
        let bytes = bytes.map_err(|message| Invalid::parameter("path", message))?;
        let layers = read(&bytes, self.layers.as_deref())?;
        let sizes = match (layers.first(), layers.last()) {
            (Some(first), Some(last)) => (first.inputs, last.outputs()),
            _ => return Err(Invalid::parameter("layers", "expected a layer, found none")),
        };
        let deviation = each("deviation", &self.deviation, sizes.0)?;
        if let Some(bad) = deviation.iter().find(|x| **x <= 0.0) {
            let message = format!("expected positive numbers, found {bad}");
            return Err(Invalid::parameter("deviation", message));
        }
        Ok(Plan {
            mean: each("mean", &self.mean, sizes.0)?,
            deviation,
            scale: each("scale", &self.scale, sizes.1)?,
            io: self.declare(ports, number_or_vector(sizes.0), number_or_vector(sizes.1)),
            layers,
        })
    }

    fn check(&self, plan: &Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        expect_numbers(sizes, plan.io.u)
    }

    fn scratch(&self, plan: &Plan, _: &Sizes<'_>) -> [Vec<f64>; 2] {
        let widths = plan.layers.iter().flat_map(|layer| [layer.inputs, layer.outputs()]);
        let most = widths.max().unwrap_or(0);
        [vec![0.0; most], vec![0.0; most]]
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let [now, next] = cx.scratch;
        let seen = cx.inputs.get(plan.io.u).leaf(0).iter().zip(&plan.mean).zip(&plan.deviation);
        for (h, ((u, mean), deviation)) in now.iter_mut().zip(seen) {
            *h = (u - mean) / deviation;
        }
        let last = plan.layers.len() - 1;
        for (k, layer) in plan.layers.iter().enumerate() {
            layer.apply(&now[..layer.inputs], &mut next[..layer.outputs()]);
            let activation = if k == last { self.output } else { self.activation };
            next[..layer.outputs()].iter_mut().for_each(|x| *x = activation.of(*x));
            std::mem::swap(now, next);
        }
        for (y, (h, scale)) in cx.outputs.get(plan.io.y).iter_mut().zip(now.iter().zip(&plan.scale))
        {
            *y = scale * h;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Files;
    use safetensors::serialize;
    use safetensors::tensor::{Dtype, TensorView};
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::{Bench, block};

    /// The only file there is.
    struct Weights<'w>(&'w [u8]);

    impl Files for Weights<'_> {
        fn read(&self, _: &str) -> Result<Vec<u8>, String> {
            Ok(self.0.to_vec())
        }
    }

    /// A file of tensors: name, shape, numbers.
    fn file(tensors: &[(&str, &[usize], &[f32])]) -> Vec<u8> {
        let bytes: Vec<Vec<u8>> = tensors
            .iter()
            .map(|(.., data)| data.iter().flat_map(|x| x.to_le_bytes()).collect())
            .collect();
        let views = tensors.iter().zip(&bytes).map(|((name, shape, _), bytes)| {
            (*name, TensorView::new(Dtype::F32, shape.to_vec(), bytes).expect("a tensor"))
        });
        serialize(views, None).expect("a file")
    }

    const W0: [f32; 6] = [0.5, -1.0, 0.25, 2.0, 1.5, -0.75];
    const B0: [f32; 3] = [0.1, -0.2, 0.3];
    const W1: [f32; 3] = [1.0, -2.0, 0.5];
    const B1: [f32; 1] = [0.125];

    /// 2 numbers to 3 to 1; `net.10` comes after `net.2`.
    fn weights() -> Vec<u8> {
        file(&[
            ("net.10.weight", &[1, 3], &W1),
            ("net.10.bias", &[1], &B1),
            ("net.2.weight", &[3, 2], &W0),
            ("net.2.bias", &[3], &B0),
        ])
    }

    fn policy(more: &Value) -> Policy {
        let mut all = json!({ "path": "weights.safetensors" });
        let more = more.as_object().expect("an object").clone();
        all.as_object_mut().expect("an object").extend(more);
        block(all)
    }

    fn value(weights: &[u8], more: &Value, u: &[f64]) -> Vec<f64> {
        let ty = if u.len() == 1 { Type::Real } else { Type::vector(u.len()) };
        let bench = Bench::reading(policy(more), &[ty], &Weights(weights));
        bench.expect("a policy").y(0.0, &[("u", u)])
    }

    /// `y = W₁ tanh(W₀ u + b₀) + b₁`, written out.
    #[test]
    fn a_network_of_two_layers_is_its_formula() {
        let u = [0.3, -1.2];
        let hidden = |i: usize| {
            let row = |j: usize| f64::from(W0[2 * i + j]);
            libm::tanh(row(0) * u[0] + row(1) * u[1] + f64::from(B0[i]))
        };
        let sum: f64 = (0..3).map(|i| f64::from(W1[i]) * hidden(i)).sum();
        let expected = sum + f64::from(B1[0]);
        let found = value(&weights(), &json!({}), &u);
        assert!((found[0] - expected).abs() < 1e-15, "{found:?}, {expected}");

        // (u − mean)/deviation in, scale out.
        let scaled = json!({ "mean": [0.5, 1], "deviation": 2, "scale": "10 N" });
        let shifted = [2.0 * u[0] + 0.5, 2.0 * u[1] + 1.0];
        let found = value(&weights(), &scaled, &shifted);
        assert!((found[0] - 10.0 * expected).abs() < 1e-14, "{found:?}");
    }

    #[test]
    fn kernels_are_turned_and_names_pick_the_layers() {
        let turned: Vec<f32> = (0..6).map(|i| W0[2 * (i % 3) + i / 3]).collect();
        let flax = file(&[
            ("Dense_0.kernel", &[2, 3], &turned),
            ("Dense_0.bias", &[3], &B0),
            ("Dense_1.kernel", &[3, 1], &W1),
            ("Dense_1.bias", &[1], &B1),
            ("value.kernel", &[2, 1], &[1.0, 1.0]),
            ("value.bias", &[1], &[0.0]),
            ("log_std", &[1], &[0.0]),
        ]);
        let layers = json!({ "layers": ["Dense_0", "Dense_1"] });
        let u = [0.3, -1.2];
        assert_eq!(value(&flax, &layers, &u), value(&weights(), &json!({}), &u));
    }

    #[test]
    fn activations_are_their_formulas() {
        let one = file(&[("a.weight", &[1, 1], &[1.0]), ("a.bias", &[1], &[0.0])]);
        for (name, at_two, at_minus_two) in [
            ("Linear", 2.0, -2.0),
            ("Tanh", 0.964_027_580_075_816_9, -0.964_027_580_075_816_9),
            ("Relu", 2.0, 0.0),
            ("Elu", 2.0, -0.864_664_716_763_387_3),
            ("Silu", 1.761_594_155_955_765, -0.238_405_844_044_235),
            ("Sigmoid", 0.880_797_077_977_882_4, 0.119_202_922_022_117_56),
        ] {
            let of = |u| value(&one, &json!({ "output": name }), &[u])[0];
            assert!((of(2.0) - at_two).abs() < 1e-15, "{name}");
            assert!((of(-2.0) - at_minus_two).abs() < 1e-15, "{name}");
        }
    }

    #[test]
    fn mistakes_are_told() {
        let refused = |weights: &[u8], more: &Value| {
            let bench = Bench::reading(policy(more), &[Type::vector(2)], &Weights(weights));
            bench.err().expect("it is refused").message
        };
        let weights = weights();
        for (bytes, more, says) in [
            (&weights[..9], json!({}), "expected a safetensors file"),
            (&weights, json!({ "layers": ["net.3"] }), "a matrix and a bias of the layer `net.3`"),
            (
                &weights,
                json!({ "layers": ["net.10", "net.2"] }),
                "found `net.2` of 2 numbers after 1",
            ),
            (&weights, json!({ "mean": [1, 2, 3] }), "a number or a list of 2"),
            (&weights, json!({ "deviation": 0 }), "expected positive numbers, found 0"),
        ] {
            let said = refused(bytes, &more);
            assert!(said.contains(says), "{said}");
        }
        let odd = file(&[("log_std", &[1], &[0.0])]);
        assert!(refused(&odd, &json!({})).contains("found `log_std`"));
        let infinite = file(&[("a.weight", &[1, 2], &[1.0, f32::NAN]), ("a.bias", &[1], &[0.0])]);
        assert!(refused(&infinite, &json!({})).contains("expected finite numbers in `a`"));
    }
}
