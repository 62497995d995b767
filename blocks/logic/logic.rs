//! `Logic`: operations on truth values.

use legwork_block::{
    Bool, Inputs, Invalid, Outcome, Outputs, Ports, Pure, block, parameters, ports,
};

use crate::math::sum::{input_count, input_names};

/// A logical operation on truth values: and, or, not, exclusive or.
///
/// | `op` | output |
/// |---|---|
/// | `And`, `Nand` | whether all inputs are true; its opposite |
/// | `Or`, `Nor` | whether any input is true; its opposite |
/// | `Xor` | whether the number of true inputs is odd |
/// | `Not` | the opposite of the only input |
#[ports(
    |count: usize|
    in  inputs[input_names(count)]: Bool, _, "the operands",
        named "`u1`, `u2`, …, as many as `count`; `u` if there is one";
    out y: Bool, _, "the result";
)]
#[parameters(aliases("AND", "OR", "NOT", "XOR", "boolean"))]
pub struct Logic {
    /// `And`, `Or`, `Not`, `Xor`, `Nand` or `Nor`.
    pub op: Operation,
    /// How many inputs, at least 1; default 2, for `Not` always 1.
    pub count: Option<usize>,
}

/// What a [`Logic`] computes.
#[parameters]
#[derive(Copy, PartialEq, Eq)]
pub enum Operation {
    /// All inputs are true.
    And,
    /// Any input is true.
    Or,
    /// The input is false.
    Not,
    /// An odd number of inputs is true.
    Xor,
    /// Not all inputs are true.
    Nand,
    /// No input is true.
    Nor,
}

#[block]
impl Pure for Logic {
    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        let count = match (self.op, self.count) {
            (Operation::Not, None | Some(1)) => 1,
            (Operation::Not, Some(count)) => {
                let message = format!("expected one input of `Not`, found {count}");
                return Err(Invalid::parameter("count", message));
            }
            (_, count) => input_count("count", count.unwrap_or(2))?,
        };
        Ok(self.declare(ports, count))
    }

    fn output(&self, io: &LogicPorts, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let mut values = io.inputs.iter().map(|input| inputs.get(*input));
        let value = match self.op {
            Operation::And => values.all(|u| u),
            Operation::Or => values.any(|u| u),
            Operation::Nand => !values.all(|u| u),
            Operation::Nor | Operation::Not => !values.any(|u| u),
            Operation::Xor => values.fold(false, |odd, u| odd ^ u),
        };
        outputs.set(io.y, f64::from(value));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block, refusal};

    #[test]
    fn the_truth_tables_hold() {
        let rows = [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)];
        for (op, table) in [
            ("And", [0.0, 0.0, 0.0, 1.0]),
            ("Or", [0.0, 1.0, 1.0, 1.0]),
            ("Xor", [0.0, 1.0, 1.0, 0.0]),
            ("Nand", [1.0, 1.0, 1.0, 0.0]),
            ("Nor", [1.0, 0.0, 0.0, 0.0]),
        ] {
            let logic: Logic = block(json!({ "op": op }));
            let mut bench = Bench::new(logic, &[Type::Bool, Type::Bool]).expect("an operation");
            for ((u1, u2), y) in rows.into_iter().zip(table) {
                assert_eq!(bench.y(0.0, &[("u1", &[u1]), ("u2", &[u2])]), [y], "{u1} {op} {u2}");
            }
        }
        let mut not =
            Bench::new(block::<Logic>(json!({ "op": "Not" })), &[Type::Bool]).expect("it");
        assert_eq!([not.y(0.0, &[("u", &[0.0])]), not.y(0.0, &[("u", &[1.0])])], [[1.0], [0.0]]);
    }

    #[test]
    fn xor_of_three_is_parity() {
        let logic: Logic = block(json!({ "op": "Xor", "count": 3 }));
        let given = [Type::Bool, Type::Bool, Type::Bool];
        let mut bench = Bench::new(logic, &given).expect("an operation");
        let ones: [(&str, &[f64]); 3] = [("u1", &[1.0]), ("u2", &[1.0]), ("u3", &[1.0])];
        assert_eq!(bench.y(0.0, &ones), [1.0]);
    }

    #[test]
    fn not_has_one_input() {
        let message = refusal(block::<Logic>(json!({ "op": "Not", "count": 2 })), &[]);
        assert_eq!(message, "expected one input of `Not`, found 2");
    }
}
