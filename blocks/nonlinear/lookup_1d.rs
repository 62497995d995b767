//! `Lookup1D`: a function given by a table.

use legwork_block::quantity::Tensor;
use legwork_block::{
    Any, Fault, Inputs, Invalid, Outcome, Outputs, Ports, Pure, Sizes, block, parameters, ports,
};

use crate::signal::shape;
use crate::signal::table::{Axis, Interpolation, Outside, fits};

/// A function given by a table: `y = f(u)` with `f(pointsᵢ) = valuesᵢ`.
///
/// The interval is found by halving. NaN passes.
#[ports(
    let ty = Any::var(ports.number_var());
    in  u: ty.clone() as Any, self.points.unit(), "what is looked up, each element on its own",
        shape "number, vector, matrix", units "that of `points`";
    out y: ty as Any, self.values.unit(), "what is found", shape "that of `u`",
        units "that of `values`", elements u;
)]
#[parameters(aliases("lookup table", "interpolation", "LUT"))]
pub struct Lookup1D {
    /// Where the function is known, rising [any unit].
    pub points: Tensor,
    /// Its values there, as many [any unit].
    pub values: Tensor,
    /// `Linear`, `Nearest` or `Below`.
    #[default]
    pub interpolation: Interpolation,
    /// Beyond the ends: `Clip`, `Extrapolate` or `Fault`.
    #[default]
    pub outside: Outside,
}

/// Ports and breakpoints of a [`Lookup1D`].
pub struct Plan {
    io: Lookup1DPorts,
    axis: Axis,
}

#[block]
impl Pure for Lookup1D {
    type Plan = Plan;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let axis = Axis::new("points", &self.points)?;
        shape::finite("values", &self.values)?;
        fits(self.interpolation, self.outside)?;
        if *self.values.shape() != [axis.len()] {
            let (count, found) = (axis.len(), self.values.shape());
            let message =
                format!("expected a list of {count}, one for each point, found {found:?}");
            return Err(Invalid::parameter("values", message));
        }
        Ok(Plan { io: self.declare(ports), axis })
    }

    fn check(&self, plan: &Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        shape::expect_numbers(sizes, plan.io.u)
    }

    fn output(&self, plan: &Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let values = self.values.data();
        for (y, &u) in outputs.get(plan.io.y).iter_mut().zip(inputs.get(plan.io.u).leaf(0)) {
            let Some(at) = plan.axis.find(u, self.interpolation, self.outside) else {
                return Err(Fault::new(format!("expected an input inside the table, found {u}")));
            };
            *y = at.mix(values[at.index], values[at.index + 1]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::{Bench, block, refusal};

    fn bench(more: &Value) -> Bench {
        let mut parameters = json!({ "points": [0, 1, 3], "values": [10, 20, 0] });
        let given = more.as_object().expect("an object").clone();
        parameters.as_object_mut().expect("an object").extend(given);
        Bench::new(block::<Lookup1D>(parameters), &[Type::vector(7)]).expect("a table")
    }

    const U: [f64; 7] = [-1.0, 0.0, 0.25, 1.0, 2.0, 3.0, 4.0];

    #[test]
    fn it_reads_on_lines_steps_and_beyond() {
        let of = |more: Value| bench(&more).y(0.0, &[("u", &U)]);
        assert_eq!(of(json!({})), [10.0, 10.0, 12.5, 20.0, 10.0, 0.0, 0.0]);
        let outside = json!({ "outside": "Extrapolate" });
        assert_eq!(of(outside), [0.0, 10.0, 12.5, 20.0, 10.0, 0.0, -10.0]);
        let nearest = json!({ "interpolation": "Nearest" });
        assert_eq!(of(nearest), [10.0, 10.0, 10.0, 20.0, 0.0, 0.0, 0.0]);
        let below = json!({ "interpolation": "Below" });
        assert_eq!(of(below), [10.0, 10.0, 10.0, 20.0, 20.0, 0.0, 0.0]);
    }

    #[test]
    fn outside_can_be_a_fault() {
        let mut bench = bench(&json!({ "outside": "Fault" }));
        bench.set("u", &U);
        let fault = bench.output(0.0).unwrap_err();
        assert_eq!(fault.message, "expected an input inside the table, found -1");
    }

    #[test]
    fn points_rise_and_have_values() {
        let refused = |points: Value, values: Value| {
            refusal(block::<Lookup1D>(json!({ "points": points, "values": values })), &[])
        };
        let message = refused(json!([0, 2, 2]), json!([1, 2, 3]));
        assert_eq!(message, "expected rising points, found 2 before 2");
        let message = refused(json!([0, 1]), json!([1, 2, 3]));
        assert_eq!(message, "expected a list of 2, one for each point, found [3]");
        assert_eq!(refused(json!([0]), json!([1])), "expected at least two points, found 1");
    }
}
