//! `Lookup2D`: a function of two variables given by a table.

use legwork_block::quantity::Tensor;
use legwork_block::{
    Any, Fault, Inputs, Invalid, Outcome, Outputs, Ports, Pure, Sizes, block, parameters, ports,
};

use crate::signal::shape;
use crate::signal::table::{Axis, Interpolation, Outside, fits};

/// A function of two variables given by a table: `y = f(u1, u2)`. `f(rowsᵢ, columnsⱼ) = valuesᵢⱼ`.
///
/// `Linear` is bilinear: along the columns first, then between the rows. NaN passes.
#[ports(
    let ty = Any::var(ports.number_var());
    in  u1: ty.clone() as Any, self.rows.unit(), "what is looked up, each element on its own",
        shape "number, vector, matrix", units "that of `rows`";
    in  u2: ty.clone() as Any, self.columns.unit(), "beside it, along the columns",
        shape "that of `u1`", units "that of `columns`";
    out y: ty as Any, self.values.unit(), "what is found", shape "that of `u1`",
        units "that of `values`";
)]
#[parameters(aliases("lookup table", "interpolation", "LUT", "map"))]
pub struct Lookup2D {
    /// Where the function is known along `u1`, rising [any unit].
    pub rows: Tensor,
    /// Where it is known along `u2`, rising [any unit].
    pub columns: Tensor,
    /// Its values: a list for each of `rows` [any unit].
    pub values: Tensor,
    /// `Linear`, `Nearest` or `Below`.
    #[default]
    pub interpolation: Interpolation,
    /// Beyond the ends: `Clip`, `Extrapolate` or `Fault`.
    #[default]
    pub outside: Outside,
}

/// Ports and breakpoints of a [`Lookup2D`].
pub struct Plan {
    io: Lookup2DPorts,
    rows: Axis,
    columns: Axis,
}

#[block]
impl Pure for Lookup2D {
    type Plan = Plan;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let rows = Axis::new("rows", &self.rows)?;
        let columns = Axis::new("columns", &self.columns)?;
        shape::finite("values", &self.values)?;
        fits(self.interpolation, self.outside)?;
        let shape = [rows.len(), columns.len()];
        if *self.values.shape() != shape {
            let found = self.values.shape();
            let message = format!("expected the shape {shape:?} of the points, found {found:?}");
            return Err(Invalid::parameter("values", message));
        }
        Ok(Plan { io: self.declare(ports), rows, columns })
    }

    fn check(&self, plan: &Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        shape::expect_numbers(sizes, plan.io.u1)
    }

    fn output(&self, plan: &Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let (u1, u2) = (inputs.get(plan.io.u1).leaf(0), inputs.get(plan.io.u2).leaf(0));
        let value = |row: usize, column: usize| self.values.data()[column * plan.rows.len() + row];
        for ((y, &u1), &u2) in outputs.get(plan.io.y).iter_mut().zip(u1).zip(u2) {
            let row = plan.rows.find(u1, self.interpolation, self.outside);
            let column = plan.columns.find(u2, self.interpolation, self.outside);
            let (Some(row), Some(column)) = (row, column) else {
                let message = format!("expected inputs inside the table, found {u1} and {u2}");
                return Err(Fault::new(message));
            };
            let along = |i: usize| column.mix(value(i, column.index), value(i, column.index + 1));
            *y = row.mix(along(row.index), along(row.index + 1));
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

    fn y(more: &Value, u1: f64, u2: f64) -> f64 {
        let mut parameters = json!({
            "rows": [0, 2], "columns": [0, 1, 4],
            // 1 + 2 u1 + 3 u2 + 4 u1 u2.
            "values": [[1, 4, 13], [5, 16, 49]],
        });
        let given = more.as_object().expect("an object").clone();
        parameters.as_object_mut().expect("an object").extend(given);
        let given = [Type::Real, Type::Real];
        let mut bench = Bench::new(block::<Lookup2D>(parameters), &given).expect("a table");
        bench.y(0.0, &[("u1", &[u1]), ("u2", &[u2])])[0]
    }

    /// Bilinear functions are their own interpolation, inside and beyond.
    #[test]
    fn bilinear_functions_are_exact() {
        for (u1, u2) in [(0.0, 0.0), (2.0, 4.0), (0.5, 0.25), (1.5, 3.0), (3.0, 6.0), (-1.0, -1.0)]
        {
            let exact = 1.0 + 2.0 * u1 + 3.0 * u2 + 4.0 * u1 * u2;
            let found = y(&json!({ "outside": "Extrapolate" }), u1, u2);
            assert!((found - exact).abs() < 1e-13, "{u1}, {u2}: {found} against {exact}");
        }
        assert_eq!(y(&json!({}), 3.0, 6.0), 49.0);
        assert_eq!(y(&json!({ "interpolation": "Nearest" }), 0.9, 2.0), 4.0);
    }

    #[test]
    fn values_fit_the_points() {
        let wrong: Lookup2D = block(json!({ "rows": [0, 1], "columns": [0, 1], "values": [1, 2] }));
        let message = refusal(wrong, &[]);
        assert_eq!(message, "expected the shape [2, 2] of the points, found [2]");
    }
}
