//! `Gain`: multiplication by a constant.

use legwork_block::quantity::Tensor;
use legwork_block::{
    Any, Inputs, Invalid, Outcome, Outputs, Pure, Sizes, Slope, Slopes, Type, block, parameters,
    ports,
};
use legwork_linalg::matrix_vector;

use crate::signal::shape::{expect_numbers, finite};
use crate::signal::units;

/// Multiplies by a constant: `y = K u`.
///
/// | `gain` | in `u` | out `y` |
/// |---|---|---|
/// | number | number, vector or matrix | of the same shape |
/// | list of n | vector of n | vector of n, element by element: `yᵢ = Kᵢ uᵢ` |
/// | m rows of n | vector of n | vector of m: the matrix times the vector |
///
/// Units: that of `y` is that of `gain` times that of `u`. A gain without unit is a pure number, or
/// a power of time where one is needed; a stiffness is written with its unit, `"800 N/m"`.
#[ports(
    finite("gain", &self.gain)?;
    let from = match *self.gain.shape() {
        [n] | [_, n] => Type::vector(n),
        _ => Type::Var(ports.number_var()),
    };
    let to = if let [m, _] = *self.gain.shape() { Type::vector(m) } else { from.clone() };
    let gain = units::factor("gain", &self.gain, ports);
    let unit = units::open(ports);
    in  u: Any(from), unit.clone(), "what is multiplied", shape "number, vector, matrix",
        units "any";
    out y: Any(to), units::product(&gain, &unit), "the product", shape "by `gain`",
        units "unit of `gain` · u";
)]
#[parameters(aliases("amplifier", "multiply", "scale"))]
pub struct Gain {
    /// The factor K [unit of y / unit of u].
    pub gain: Tensor,
}

#[block]
impl Pure for Gain {
    fn check(&self, io: &GainPorts, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        expect_numbers(sizes, io.u)
    }

    #[inline]
    fn output(&self, io: &GainPorts, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let (u, y) = (inputs.get(io.u).leaf(0), outputs.get(io.y));
        match (self.gain.data(), self.gain.shape(), u) {
            // A chain of scalar gains is the smallest block there is: no loop for it.
            (&[gain], _, &[u]) => y[0] = gain * u,
            (&[gain], ..) => y.iter_mut().zip(u).for_each(|(y, u)| *y = gain * u),
            (gain, [rows, _], _) => matrix_vector(gain, *rows, u, y),
            (gain, ..) => {
                y.iter_mut().zip(u).zip(gain).for_each(|((y, u), gain)| *y = gain * u);
            }
        }
        Ok(())
    }

    fn slopes(&self, io: &GainPorts, _: &Inputs<'_>, slopes: &mut Slopes<'_>) -> Slope {
        let (y, u) = (slopes.rows(io.y, 0), slopes.columns(io.u, 0));
        match (self.gain.data(), self.gain.shape()) {
            (&[gain], _) => slopes.each(y, u, |_| gain),
            (gain, [_, _]) => slopes.matrix(y, u, gain, 1.0),
            (gain, _) => slopes.each(y, u, |i| gain[i]),
        }
        Slope::Exact
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::{Arg, BusField, Type, bus};
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block, refusal};

    fn gain(gain: &serde_json::Value) -> Gain {
        block(json!({ "gain": gain }))
    }

    #[test]
    fn a_number_scales_signals_of_every_shape() {
        let mut scalar = Bench::new(gain(&json!(-2)), &[Type::Real]).expect("a gain");
        assert_eq!(scalar.y(0.0, &[("u", &[1.5])]), [-3.0]);
        let mut matrix = Bench::new(gain(&json!("2 N/m")), &[Type::matrix(2, 2)]).expect("a gain");
        assert_eq!(matrix.y(0.0, &[("u", &[1.0, 2.0, 3.0, 4.0])]), [2.0, 4.0, 6.0, 8.0]);
        assert_eq!(matrix.declaration.outputs[0].ty, matrix.declaration.inputs[0].ty);
    }

    #[test]
    fn a_list_scales_element_by_element() {
        let mut bench = Bench::new(gain(&json!([1, 10, 100])), &[Type::vector(3)]).expect("a gain");
        assert_eq!(bench.y(0.0, &[("u", &[1.0, 2.0, 3.0])]), [1.0, 20.0, 300.0]);
    }

    #[test]
    fn a_matrix_maps_vectors() {
        let rows = json!([[1, 2, 3], [4, 5, 6]]);
        let mut bench = Bench::new(gain(&rows), &[Type::vector(3)]).expect("a gain");
        assert_eq!(bench.y(0.0, &[("u", &[1.0, 10.0, 100.0])]), [321.0, 654.0]);
    }

    #[test]
    fn a_bus_is_no_number() {
        let fields = vec![BusField::new("a", Type::Real), BusField::new("b", Type::Real)];
        let pair = bus("Pair", Vec::<Arg>::new(), fields, Vec::new());
        let message = refusal(gain(&json!(2)), &[pair]);
        assert!(message.ends_with("found a signal of 2 parts"), "{message}");
    }
}
