//! `SignalBuilder`: a signal drawn by points.

use legwork_block::quantity::{Tensor, Time};
use legwork_block::{Any, Invalid, Ports, parameters, ports};

use crate::signal::shape;
use crate::signal::table::Interpolation;
use crate::sources::timetable::{After, Player, Timetable, played};

/// A signal drawn by points, joined by lines or steps. `y(timesᵢ) = valuesᵢ`.
///
/// Before the first time the first value holds. With `interpolation: Below` the signal is a
/// staircase that jumps at `times`. A variable step is cut at kinks and jumps; for fixed steps let
/// them fall on the ends of steps.
///
/// With `after: Repeat` its last time is the first of the next turn: `times: ["0 s", "0.3 s",
/// "1 s"], values: [1, 0, 1], interpolation: Below, after: Repeat` are pulses of 0.3 s in every
/// second, `times: ["0 s", "1 s"], values: [0, 1], after: Repeat` is a sawtooth.
#[ports(
    |ty: Any|
    out y: ty as Any, self.values.unit(), "the signal", units "that of `values`",
        shape "number for a list of numbers; vector of m for rows of m";
)]
#[parameters(aliases(
    "piecewise linear",
    "timetable",
    "pulse",
    "pulse train",
    "pulse generator",
    "square wave",
    "sawtooth",
    "repeating sequence"
))]
pub struct SignalBuilder {
    /// Rising times, at least two [s].
    pub times: Vec<Time>,
    /// A value or a row of values for each of the times [any unit].
    pub values: Tensor,
    /// `Linear`, `Nearest` or `Below`.
    #[default]
    pub interpolation: Interpolation,
    /// After the last time: `Hold` or `Repeat`.
    #[default]
    pub after: After,
}

/// Port and points of a [`SignalBuilder`].
pub struct Plan {
    io: SignalBuilderPorts,
    player: Player,
}

impl SignalBuilder {
    /// Port and values.
    fn planned(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        shape::finite("values", &self.values)?;
        let times: Vec<f64> = self.times.iter().map(|t| t.value()).collect();
        let (data, count) = (self.values.data(), times.len());
        let (rows, width, ty) = match *self.values.shape() {
            [n] if n == count => (data.to_vec(), 1, shape::signal(&[])),
            [n, width] if n == count => {
                let rows = (0..n).flat_map(|r| (0..width).map(move |c| data[c * n + r])).collect();
                (rows, width, shape::signal(&[width]))
            }
            ref found => {
                let message =
                    format!("expected a list of {count}, one for each time, found {found:?}");
                return Err(Invalid::parameter("values", message));
            }
        };
        let table = Timetable::new(times, rows, width)
            .map_err(|message| Invalid::parameter("times", message))?;
        let player = Player::new(table, self.interpolation, self.after, ports);
        Ok(Plan { io: self.declare(ports, ty), player })
    }
}

played!(SignalBuilder);

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::{Bench, block, refusal};

    fn at(more: &Value, times: &[f64]) -> Vec<f64> {
        let mut parameters = json!({ "times": ["1 s", 2, 4], "values": [0, 10, 0] });
        let given = more.as_object().expect("an object").clone();
        parameters.as_object_mut().expect("an object").extend(given);
        let mut bench = Bench::new(block::<SignalBuilder>(parameters), &[]).expect("a signal");
        times.iter().map(|t| bench.y(*t, &[])[0]).collect()
    }

    const TIMES: [f64; 6] = [0.0, 1.25, 2.0, 3.0, 4.0, 5.5];

    #[test]
    fn lines_and_stairs_go_through_the_points() {
        assert_eq!(at(&json!({}), &TIMES), [0.0, 2.5, 10.0, 5.0, 0.0, 0.0]);
        let stairs = json!({ "interpolation": "Below" });
        assert_eq!(at(&stairs, &TIMES), [0.0, 0.0, 10.0, 10.0, 0.0, 0.0]);
    }

    #[test]
    fn it_can_start_again_after_its_end() {
        // 5.5 s is 1.5 s into the second turn, that is 2.5 s.
        assert_eq!(at(&json!({ "after": "Repeat" }), &TIMES), [0.0, 2.5, 10.0, 5.0, 0.0, 7.5]);
        assert_eq!(at(&json!({ "after": "Repeat" }), &[4.5, 7.5, 8.0]), [5.0, 5.0, 10.0]);
    }

    #[test]
    fn rows_make_a_vector() {
        let rows: SignalBuilder =
            block(json!({ "times": [0, 1], "values": [["0 m", "1 m"], ["2 m", "5 m"]] }));
        let mut bench = Bench::new(rows, &[]).expect("a signal");
        assert_eq!(bench.y(0.5, &[]), [1.0, 3.0]);
    }

    #[test]
    fn every_time_has_a_value() {
        let refused = |times: Value, values: Value| {
            refusal(block::<SignalBuilder>(json!({ "times": times, "values": values })), &[])
        };
        let message = refused(json!([0, 1]), json!([1, 2, 3]));
        assert_eq!(message, "expected a list of 2, one for each time, found [3]");
        let message = refused(json!([0, 0]), json!([1, 2]));
        assert_eq!(message, "expected rising points, found 0 before 0");
    }
}
