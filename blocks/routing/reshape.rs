//! `Reshape`: the same numbers in another shape.

use legwork_block::{
    Any, Inputs, Invalid, Outcome, Outputs, Ports, Pure, Sizes, Slope, Slopes, block, parameters,
    ports,
};

use crate::signal::shape;

/// The same numbers in another shape. Matrices are read and filled column by column.
#[ports(
    let unit = ports.var();
    in  u: Any::var(ports.var()), unit, "the numbers", units "any",
        shape "number, vector, matrix, `Rotation` or `Pose` of as many numbers";
    out y: shape::signal(&self.shape) as Any, unit, "the same numbers", units "that of `u`",
        shape "number for `[]`, vector for `[n]`, matrix for `[rows, columns]`";
)]
#[parameters]
pub struct Reshape {
    /// The shape of `y`: `[]`, `[n]` or `[rows, columns]`.
    pub shape: Vec<usize>,
}

#[block]
impl Pure for Reshape {
    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        if self.shape.len() > 2 {
            let found = &self.shape;
            let message = format!("expected [], [n] or [rows, columns], found {found:?}");
            return Err(Invalid::parameter("shape", message));
        }
        Ok(self.declare(ports))
    }

    fn check(&self, io: &ReshapePorts, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        shape::expect_numbers(sizes, io.u)?;
        let (expected, found) = (sizes.input(io.u), sizes.output(io.y));
        if expected != found {
            let message =
                format!("expected a shape of {expected} numbers as in `u`, found one of {found}");
            return Err(Invalid::parameter("shape", message));
        }
        Ok(())
    }

    fn output(&self, io: &ReshapePorts, inp: &Inputs<'_>, out: &mut Outputs<'_>) -> Outcome {
        out.get(io.y).copy_from_slice(inp.get(io.u).leaf(0));
        Ok(())
    }

    fn slopes(&self, io: &ReshapePorts, _: &Inputs<'_>, slopes: &mut Slopes<'_>) -> Slope {
        slopes.each(slopes.rows(io.y, 0), slopes.columns(io.u, 0), |_| 1.0);
        Slope::Exact
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block, refusal};

    fn reshape(shape: &[usize]) -> Reshape {
        block(json!({ "shape": shape }))
    }

    #[test]
    fn numbers_stay_in_their_order() {
        let mut bench = Bench::new(reshape(&[2, 2]), &[Type::vector(4)]).expect("a shape");
        assert_eq!(bench.y(0.0, &[("u", &[1.0, 2.0, 3.0, 4.0])]), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(bench.declaration.outputs[0].ty, Type::matrix(2, 2));
        let one = Bench::new(reshape(&[]), &[Type::vector(1)]).expect("a shape");
        assert_eq!(one.declaration.outputs[0].ty, Type::Real);
    }

    #[test]
    fn no_number_is_lost() {
        let message = refusal(reshape(&[2, 3]), &[Type::vector(4)]);
        assert_eq!(message, "expected a shape of 4 numbers as in `u`, found one of 6");
        let message = refusal(reshape(&[1, 2, 2]), &[]);
        assert_eq!(message, "expected [], [n] or [rows, columns], found [1, 2, 2]");
    }
}
