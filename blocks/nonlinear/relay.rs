//! `Relay`: a switch with hysteresis.

use legwork_block::quantity::Scalar;
use legwork_block::{
    Any, Block, GuardCx, Invalid, Outcome, OutputCx, Sizes, UpdateCx, block, parameters, ports,
};

use crate::signal::pieces;
use crate::signal::shape;

/// A switch with hysteresis: on once u > `on`, off once u < `off`. In between it stays as it was;
/// `y = on_value` while on, `off_value` while off.
///
/// The switch changes at major steps only (at samples, with `every:`), and minor steps hold the
/// output. A variable step is cut where an input crosses; under fixed steps that is noticed at the
/// next major step. The input feeds through.
///
/// The output is a number. A truth value of it is made by `Compare(op: ">", to: 0.5)`, a number of
/// a truth value by `Switch(criterion: True)`.
#[ports(
    self.check_numbers()?;
    ports.updates();
    ports.pieces();
    let ty = Any::var(ports.number_var());
    in  u: ty.clone() as Any, self.on.unit.or(self.off.unit), "what switches, element by element",
        shape "number, vector, matrix", units "that of `on` and `off`";
    out y: ty as Any, self.on_value.unit.or(self.off_value.unit), "the values",
        shape "that of `u`", units "that of the values", elements u;
)]
#[parameters(aliases("hysteresis", "bang-bang", "Schmitt trigger"))]
pub struct Relay {
    /// Beyond this it switches on [any unit].
    #[default = 0]
    pub on: Scalar,
    /// Below this it switches off, at most `on` [unit of `on`].
    #[default = 0]
    pub off: Scalar,
    /// Output while on [any unit].
    #[default = 1]
    pub on_value: Scalar,
    /// Output while off [unit of `on_value`].
    #[default = 0]
    pub off_value: Scalar,
    /// Whether it is on before t = 0.
    #[default]
    pub initially_on: bool,
}

impl Relay {
    /// Whether it is on at the input `u`, if it was `before`.
    #[inline]
    fn on(&self, before: bool, u: f64) -> bool {
        if before { u >= self.off.value } else { u > self.on.value }
    }

    fn value(&self, on: bool) -> f64 {
        if on { self.on_value.value } else { self.off_value.value }
    }

    fn check_numbers(&self) -> Result<(), Invalid> {
        let numbers = [
            ("on", self.on),
            ("off", self.off),
            ("on_value", self.on_value),
            ("off_value", self.off_value),
        ];
        if let Some((name, scalar)) = numbers.iter().find(|(_, s)| !s.value.is_finite()) {
            let message = format!("expected a finite number, found {}", scalar.value);
            return Err(Invalid::parameter(name, message));
        }
        if self.off.value > self.on.value {
            let (off, on) = (self.off.value, self.on.value);
            let message = format!("expected at most `on` = {on}, found {off}");
            return Err(Invalid::parameter("off", message));
        }
        for (name, a, b) in
            [("off", self.on, self.off), ("off_value", self.on_value, self.off_value)]
        {
            if let (Some(expected), Some(found)) = (a.unit, b.unit)
                && !expected.agrees(found)
            {
                let message = format!("expected the unit {expected}, found {found}");
                return Err(Invalid::parameter(name, message));
            }
        }
        Ok(())
    }
}

#[block]
impl Block for Relay {
    /// Which elements are on.
    type State = Vec<bool>;

    fn check(&self, io: &RelayPorts, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        shape::expect_numbers(sizes, io.u)
    }

    fn state(&self, io: &RelayPorts, sizes: &Sizes<'_>) -> Vec<bool> {
        vec![self.initially_on; sizes.output(io.y)]
    }

    fn output(&self, io: &RelayPorts, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let u = cx.inputs.get(io.u).leaf(0);
        let minor = cx.time.minor;
        for ((y, &u), &before) in cx.outputs.get(io.y).iter_mut().zip(u).zip(cx.state) {
            // The state is that of the major step at which this minor one began.
            *y = self.value(if minor { before } else { self.on(before, u) });
        }
        Ok(())
    }

    /// Above zero once an element would switch.
    fn guard(&self, io: &RelayPorts, cx: &mut GuardCx<'_, Self>) {
        let u = cx.inputs.get(io.u).leaf(0).iter();
        cx.values.fill(pieces::furthest(u.zip(cx.state).map(|(&u, &before)| {
            let edge = if before { self.off.value } else { self.on.value };
            pieces::left(self.on(before, u) != before, u - edge)
        })));
    }

    fn update(&self, io: &RelayPorts, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        for (on, &u) in cx.state.iter_mut().zip(cx.inputs.get(io.u).leaf(0)) {
            *on = self.on(*on, u);
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

    fn outputs(parameters: Value, u: &[f64]) -> Vec<f64> {
        let relay: Relay = block(parameters);
        let mut bench = Bench::new(relay, &[Type::Real]).expect("a relay");
        let mut seen = Vec::new();
        for u in u {
            seen.push(bench.y(0.0, &[("u", &[*u])])[0]);
            bench.update(0.0);
        }
        seen
    }

    #[test]
    fn between_the_thresholds_it_stays_as_it_was() {
        let relay = json!({ "on": 1, "off": -1, "on_value": 5, "off_value": -5 });
        let u = [0.0, 1.0, 1.5, 0.0, -1.0, -1.5, 0.0, 2.0];
        assert_eq!(outputs(relay, &u), [-5.0, -5.0, 5.0, 5.0, 5.0, -5.0, -5.0, 5.0]);
        assert_eq!(outputs(json!({ "initially_on": true, "off": -1 }), &[0.0, -2.0]), [1.0, 0.0]);
    }

    #[test]
    fn every_element_has_a_switch() {
        let relay: Relay = block(json!({ "on": 1 }));
        let mut bench = Bench::new(relay, &[Type::vector(2)]).expect("a relay");
        bench.y(0.0, &[("u", &[2.0, 0.5])]);
        bench.update(0.0);
        assert_eq!(bench.y(0.0, &[("u", &[0.5, 0.5])]), [1.0, 0.0]);
    }

    #[test]
    fn thresholds_are_in_order_and_of_one_unit() {
        let message = refusal(block::<Relay>(json!({ "on": 1, "off": 2 })), &[]);
        assert_eq!(message, "expected at most `on` = 1, found 2");
        let message = refusal(block::<Relay>(json!({ "on": "1 m", "off": "0 N" })), &[]);
        assert_eq!(message, "expected the unit m, found N");
    }
}
