//! `HitCrossing`: when a signal passes a value.

use legwork_block::quantity::Scalar;
use legwork_block::{
    Block, Bool, GuardCx, Invalid, Outcome, OutputCx, Ports, Real, UpdateCx, block, parameters,
    ports,
};

use crate::signal::pieces;

/// Whether the input has passed `offset` since the last major step.
///
/// | `direction` | y is true where |
/// |---|---|
/// | `Rising` | u was below and is at or above |
/// | `Falling` | u was above and is at or below |
/// | `Either` | one of both |
///
/// A variable step is cut at each crossing, whatever the direction, and `y` is true there: a
/// sampled block sees that only if it falls on one of its samples. All crossings within one
/// variable step are found if they are at least a quarter of the step apart, or if u is smooth; see
/// the manual page `events`. Under fixed steps a crossing is noticed at the first major step after
/// it, and two crossings within one step are not seen. A crossing at t = 0 is not counted.
#[ports(
    in  u: Real, self.offset.unit, "what passes", shape "number", units "that of `offset`";
    out y: Bool, _, "whether it passed; true for one major step (one sample, with `every:`)";
)]
#[parameters(aliases("zero crossing", "edge detection"))]
pub struct HitCrossing {
    /// The value that is passed [any unit].
    #[default = 0]
    pub offset: Scalar,
    /// `Rising`, `Falling` or `Either`.
    #[default]
    pub direction: Direction,
}

/// Which way a [`HitCrossing`] looks.
#[parameters]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum Direction {
    /// Upwards.
    Rising,
    /// Downwards.
    Falling,
    /// Both ways.
    #[default]
    Either,
}

impl HitCrossing {
    /// Whether the step from `before` to `now` passes the offset.
    fn crossed(&self, before: f64, now: f64) -> bool {
        let offset = self.offset.value;
        let rising = before < offset && now >= offset;
        let falling = before > offset && now <= offset;
        match self.direction {
            Direction::Rising => rising,
            Direction::Falling => falling,
            Direction::Either => rising || falling,
        }
    }
}

#[block]
impl Block for HitCrossing {
    /// The last input.
    type State = Option<f64>;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        if !self.offset.value.is_finite() {
            let message = format!("expected a finite number, found {}", self.offset.value);
            return Err(Invalid::parameter("offset", message));
        }
        ports.updates();
        ports.per_major();
        ports.pieces();
        Ok(self.declare(ports))
    }

    fn output(&self, io: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let u = cx.inputs.get(io.u);
        let crossed = cx.state.is_some_and(|before| self.crossed(before, u));
        cx.outputs.set(io.y, f64::from(crossed));
        Ok(())
    }

    /// Above zero once the input is no longer on the side where it was: also where it leaves the
    /// offset, and against the direction, so that the last input is one of the present side.
    fn guard(&self, io: &Self::Plan, cx: &mut GuardCx<'_, Self>) {
        let side = |u: f64| u.partial_cmp(&self.offset.value);
        let u = cx.inputs.get(io.u);
        let changed = cx.state.is_some_and(|before| side(before) != side(u));
        cx.values.fill(pieces::left(changed, u - self.offset.value));
    }

    fn update(&self, io: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        *cx.state = Some(cx.inputs.get(io.u));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block};

    #[test]
    fn each_passage_is_seen_once() {
        let u = [1.0, 0.5, 0.0, -1.0, -1.0, 0.0, 2.0, -3.0, 4.0];
        for (direction, seen) in [
            ("Rising", [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0]),
            ("Falling", [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]),
            ("Either", [0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0]),
        ] {
            let crossing: HitCrossing = block(json!({ "direction": direction }));
            let mut bench = Bench::new(crossing, &[Type::Real]).expect("a crossing");
            let mut found = Vec::new();
            for u in u {
                found.push(bench.y(0.0, &[("u", &[u])])[0]);
                bench.update(0.0);
            }
            assert_eq!(found, seen, "{direction}");
        }
    }
}
