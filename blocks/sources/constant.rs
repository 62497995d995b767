//! `Constant`: a value that never changes.

use legwork_block::quantity::Tensor;
use legwork_block::{
    Any, Inputs, Outcome, Outputs, Parameters, Pure, RateRule, Type, block, parameters, ports,
};

use crate::signal::shape;

/// A value that never changes: `y = value`.
///
/// Its output is computed once, at t = 0. It may be infinite, as `["-inf", 0]` for bounds of a `Qp`;
/// a block that makes something infinite of it ends the run.
#[ports(
    ports.rate(RateRule::Constant);
    out y: shape::signal(self.value.shape()) as Any, self.value.port_unit(), "the value",
        shape "that of `value`", units "that of `value`; any if it is written without", infinite;
)]
#[parameters(aliases("fixed value"))]
pub struct Constant {
    /// A number, a list for a vector, or a list of rows for a matrix [any unit].
    pub value: Tensor,
}

#[block]
impl Pure for Constant {
    fn output(&self, io: &Self::Plan, _: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        outputs.get(io.y).copy_from_slice(self.value.data());
        Ok(())
    }

    fn starting_at(&self, _: &Self::Plan, at: &[f64], outputs: &[Type]) -> Option<Parameters> {
        shape::starting_at("value", self.value.unit(), at, outputs)
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::{PortUnit, Unit};
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block};

    fn bench(value: &serde_json::Value) -> Bench {
        Bench::new(block::<Constant>(json!({ "value": value })), &[]).expect("a constant")
    }

    #[test]
    fn the_output_is_the_value_in_its_shape_column_by_column() {
        assert_eq!(bench(&json!(2.5)).y(0.0, &[]), [2.5]);
        assert_eq!(bench(&json!([1, 2, 3])).y(7.0, &[]), [1.0, 2.0, 3.0]);
        assert_eq!(bench(&json!([[1, 2], [3, 4]])).y(0.0, &[]), [1.0, 3.0, 2.0, 4.0]);
    }

    #[test]
    fn the_output_has_the_unit_of_the_value() {
        let constant = bench(&json!("50 cm"));
        assert_eq!(constant.declaration.outputs[0].unit, PortUnit::Is("m".into()));
        // A bare number takes a unit, zero and a list of several have none.
        assert!(matches!(bench(&json!(1)).declaration.outputs[0].unit, PortUnit::Of(_)));
        let unit = |value: serde_json::Value| bench(&value).declaration.outputs[0].unit.clone();
        assert_eq!(unit(json!([0, 0])), PortUnit::Unspecified);
        let each = PortUnit::List(vec![Some(Unit::METRE.into()), Some(Unit::SECOND.into()), None]);
        assert_eq!(unit(json!(["1 m", "2 s", 0])), each);
    }

    #[test]
    fn infinity_is_a_bound() {
        let mut bench = bench(&json!(["-inf", 1, "inf"]));
        assert!(bench.declaration.outputs[0].may_be_infinite);
        assert_eq!(bench.y(0.0, &[]), [f64::NEG_INFINITY, 1.0, f64::INFINITY]);
    }
}
