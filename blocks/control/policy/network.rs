//! The layers of a network, from a file of tensors.

use std::collections::BTreeMap;

use legwork_block::Invalid;
use legwork_linalg::matrix_vector;
use safetensors::SafeTensorError;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

/// `W x + b`.
#[derive(Debug)]
pub(super) struct Layer {
    pub(super) inputs: usize,
    /// W, column by column.
    weights: Vec<f64>,
    bias: Vec<f64>,
}

impl Layer {
    pub(super) fn outputs(&self) -> usize {
        self.bias.len()
    }

    pub(super) fn apply(&self, x: &[f64], y: &mut [f64]) {
        matrix_vector(&self.weights, self.outputs(), x, y);
        y.iter_mut().zip(&self.bias).for_each(|(y, bias)| *y += bias);
    }
}

/// Matrix and bias of a layer as the file has them.
#[derive(Default)]
struct Found<'f> {
    /// The matrix, and whether its rows are those of the inputs.
    weights: Option<(TensorView<'f>, bool)>,
    bias: Option<TensorView<'f>>,
}

/// The layers of a file: those that are named, or all.
///
/// # Errors
/// If it is no such file, a layer is missing or not whole, layers do not fit, or a number is not
/// finite.
pub(super) fn read(bytes: &[u8], names: Option<&[String]>) -> Result<Vec<Layer>, Invalid> {
    let wrong = |message: String| Invalid::parameter("path", message);
    let file = SafeTensors::deserialize(bytes).map_err(|error| {
        // What JSON says of a text has parts of the text, which may be of any file.
        wrong(match error {
            SafeTensorError::InvalidHeaderDeserialization(_) | SafeTensorError::JsonError(_) => {
                "expected a safetensors file: its header is no list of tensors in JSON".to_owned()
            }
            error => format!("expected a safetensors file: {error}"),
        })
    })?;
    let mut found: BTreeMap<Vec<Part<'_>>, Found<'_>> = BTreeMap::new();
    let mut tensors: Vec<_> = file.iter().collect();
    tensors.sort_by_key(|(name, _)| *name);
    for (name, tensor) in tensors {
        let (layer, role) = name.rsplit_once('.').unwrap_or((name, ""));
        let is_asked = names.is_none_or(|names| names.iter().any(|asked| asked == layer));
        if !is_asked {
            continue;
        }
        let layer = found.entry(parts(layer)).or_default();
        match role {
            "weight" => layer.weights = Some((tensor, false)),
            "kernel" => layer.weights = Some((tensor, true)),
            "bias" => layer.bias = Some(tensor),
            _ => {
                let message = format!(
                    "expected tensors `NAME.weight` or `NAME.kernel`, and `NAME.bias`, found \
                     `{name}`"
                );
                return Err(wrong(message).hint("name the layers in `layers`"));
            }
        }
    }
    let keys: Vec<Vec<Part<'_>>> = match names {
        Some(names) => names.iter().map(|name| parts(name)).collect(),
        None => found.keys().cloned().collect(),
    };
    let mut layers: Vec<Layer> = Vec::with_capacity(keys.len());
    for key in keys {
        let name = text(&key);
        let Some(Found { weights: Some((weights, is_turned)), bias: Some(bias) }) = found.get(&key)
        else {
            let known: Vec<String> = found.keys().map(|key| text(key)).collect();
            let message = format!("expected a matrix and a bias of the layer `{name}`");
            return Err(match known.is_empty() {
                true => wrong(message),
                false => wrong(message).hint(format!("the file has layers {}", known.join(", "))),
            });
        };
        let layer = layer(&name, (weights, *is_turned), bias)?;
        if let Some(before) = layers.last()
            && before.outputs() != layer.inputs
        {
            let (outputs, inputs) = (before.outputs(), layer.inputs);
            let message = format!(
                "expected layers that fit, found `{name}` of {inputs} numbers after {outputs}"
            );
            return Err(wrong(message).hint("name the layers in their order in `layers`"));
        }
        layers.push(layer);
    }
    match layers.is_empty() {
        true => Err(wrong("expected a layer, found none".to_owned())),
        false => Ok(layers),
    }
}

fn layer(
    name: &str,
    (weights, is_turned): (&TensorView<'_>, bool),
    bias: &TensorView<'_>,
) -> Result<Layer, Invalid> {
    let (&[rows, columns], &[length]) = (weights.shape(), bias.shape()) else {
        let message = format!("expected a matrix and a vector of the layer `{name}`");
        return Err(Invalid::parameter("path", message));
    };
    let (outputs, inputs) = if is_turned { (columns, rows) } else { (rows, columns) };
    if outputs != length || inputs == 0 || outputs == 0 {
        let message = format!(
            "expected as many numbers in the bias of `{name}` as it has outputs, found {length} \
             for {outputs}"
        );
        return Err(Invalid::parameter("path", message));
    }
    let (rows_of, bias) = (numbers(name, weights)?, numbers(name, bias)?);
    let weights = match is_turned {
        // Rows of inputs are columns of W.
        true => rows_of,
        false => (0..inputs)
            .flat_map(|column| (0..outputs).map(move |row| (row, column)))
            .map(|(row, column)| rows_of[row * inputs + column])
            .collect(),
    };
    Ok(Layer { inputs, weights, bias })
}

/// The numbers of a tensor, row by row.
fn numbers(layer: &str, tensor: &TensorView<'_>) -> Result<Vec<f64>, Invalid> {
    let wrong = |message: String| Invalid::parameter("path", message);
    let data = tensor.data();
    let all: Vec<f64> = match tensor.dtype() {
        Dtype::F64 => data.as_chunks().0.iter().map(|x| f64::from_le_bytes(*x)).collect(),
        Dtype::F32 => {
            data.as_chunks().0.iter().map(|x| f64::from(f32::from_le_bytes(*x))).collect()
        }
        Dtype::BF16 => {
            let wide = |x: &[u8; 2]| f32::from_bits(u32::from(u16::from_le_bytes(*x)) << 16);
            data.as_chunks().0.iter().map(|x| f64::from(wide(x))).collect()
        }
        Dtype::F16 => data.as_chunks().0.iter().map(|x| half(u16::from_le_bytes(*x))).collect(),
        other => {
            let message =
                format!("expected numbers F64, F32, F16 or BF16 in `{layer}`, found {other:?}");
            return Err(wrong(message));
        }
    };
    match all.iter().all(|x| x.is_finite()) {
        true => Ok(all),
        false => Err(wrong(format!("expected finite numbers in `{layer}`, found others"))),
    }
}

/// A number of half precision, by IEEE 754.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    match exponent {
        0 => sign * fraction * libm::ldexp(1.0, -24),
        0x1f if fraction == 0.0 => sign * f64::INFINITY,
        0x1f => f64::NAN,
        _ => sign * (1024.0 + fraction) * libm::ldexp(1.0, exponent - 25),
    }
}

/// A piece of a name: numbers come by value, `net.10` after `net.2`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part<'n> {
    Number(u64, &'n str),
    Text(&'n str),
}

fn parts(name: &str) -> Vec<Part<'_>> {
    let is_digit = |c: char| c.is_ascii_digit();
    let mut rest = name;
    let mut parts = Vec::new();
    while let Some(first) = rest.chars().next() {
        let same = is_digit(first);
        let end = rest.find(|c| is_digit(c) != same).unwrap_or(rest.len());
        let (part, behind) = rest.split_at(end);
        parts.push(match part.parse() {
            Ok(number) if same => Part::Number(number, part),
            _ => Part::Text(part),
        });
        rest = behind;
    }
    parts
}

fn text(parts: &[Part<'_>]) -> String {
    parts
        .iter()
        .map(|part| match part {
            Part::Number(_, text) | Part::Text(text) => *text,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_come_by_value() {
        let mut names = ["net.10", "net.2", "head", "net.0"].map(parts);
        names.sort();
        assert_eq!(names.map(|name| text(&name)), ["head", "net.0", "net.2", "net.10"]);
    }

    #[test]
    fn half_precision() {
        // IEEE 754 binary16: one, the largest, the smallest, the smallest normal, minus two.
        let cases = [
            (0x3c00, 1.0),
            (0x7bff, 65504.0),
            (0x0001, 5.960_464_477_539_063e-8),
            (0x0400, 6.103_515_625e-5),
            (0xc000, -2.0),
        ];
        for (bits, value) in cases {
            assert_eq!(half(bits), value, "{bits:04x}");
        }
        assert!(half(0x7c00).is_infinite() && half(0x7e00).is_nan());
    }
}
