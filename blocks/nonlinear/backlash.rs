//! `Backlash`: play in a gear.

use legwork_block::quantity::Tensor;
use legwork_block::{
    Any, Block, GuardCx, Invalid, Outcome, OutputCx, Parameters, Sizes, Type, UpdateCx, block,
    parameters, ports,
};
use serde::{Deserialize, Serialize};

use crate::signal::elementwise::Each;
use crate::signal::pieces::{self, excess};
use crate::signal::shape::{self, Common, spread};

/// Play in a gear: the output moves only when the input pushes it.
/// `y = min(max(y₀, u − width/2), u + width/2)` with the last output y₀: inside the play around the
/// input it stays, at its ends it is pushed.
///
/// y₀ is that of the last major step (the last sample, with `every:`): where the input turns inside
/// a step, the turn is seen at its end. A variable step is cut where an end of the play is reached,
/// and where the input comes back to where it was. The input feeds through.
#[ports(
    shape::finite("width", &self.width)?;
    shape::finite("initial", &self.initial)?;
    let common = Common::of(&[("width", &self.width), ("initial", &self.initial)])?;
    shape::expect("width", &self.width, "a width of zero or more", |width| width >= 0.0)?;
    keep width: Each = Each::new(&self.width);
    ports.updates();
    keep located: bool = ports.pieces();
    let (ty, unit) = common.signal(ports);
    in  u: ty.clone() as Any, unit.clone(), "what pushes", units "that of the parameters",
        shape "that of the parameters; any if they are numbers";
    out y: ty as Any, unit, "what is pushed", shape "that of `u`", units "that of `u`", elements u;
)]
#[parameters(aliases("hysteresis", "play"))]
pub struct Backlash {
    /// Width of the play, zero or more [unit of u].
    pub width: Tensor,
    /// Output before t = 0 [unit of u].
    #[default = 0]
    pub initial: Tensor,
}

impl BacklashPorts {
    #[inline]
    fn pushed(&self, i: usize, u: f64, last: f64) -> f64 {
        let half = 0.5 * self.width.at(i);
        crate::nonlinear::saturation::limit(last, (u - half, u + half))
    }

    /// The output inside a step that began with the output `last` at this end of the play.
    #[inline]
    fn on(&self, i: usize, contact: Contact, u: f64, last: f64) -> f64 {
        let half = 0.5 * self.width.at(i);
        match contact {
            Contact::Pushed => u - half,
            Contact::None => last,
            Contact::Pulled => u + half,
        }
    }

    /// Above zero once the play is crossed or left.
    fn beyond(&self, i: usize, contact: Contact, u: f64, last: f64) -> f64 {
        let half = 0.5 * self.width.at(i);
        match contact {
            Contact::Pushed => excess(last, u - half),
            Contact::None => excess(u - half, last).max(excess(last, u + half)),
            Contact::Pulled => excess(u + half, last),
        }
    }
}

/// Which end of the play pushes the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Contact {
    /// The lower one, upwards.
    Pushed,
    /// None.
    None,
    /// The upper one, downwards.
    Pulled,
}

/// What a [`Backlash`] remembers of the last major step.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Last {
    /// The output.
    value: Vec<f64>,
    /// Where the play was; empty where no step is cut.
    contact: Vec<Contact>,
}

#[block]
impl Block for Backlash {
    type State = Last;

    fn check(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        shape::expect_numbers(sizes, plan.u)
    }

    fn state(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Last {
        let len = sizes.output(plan.y);
        let contact = if plan.located { vec![Contact::None; len] } else { Vec::new() };
        Last { value: spread(&self.initial, len), contact }
    }

    fn numbers(&self, _: &Self::Plan, state: &Last) -> Vec<f64> {
        state.value.clone()
    }

    fn set_numbers(&self, _: &Self::Plan, state: &mut Last, numbers: &[f64]) {
        state.value.copy_from_slice(numbers);
    }

    fn starting_at(&self, _: &Self::Plan, at: &[f64], outputs: &[Type]) -> Option<Parameters> {
        shape::starting_at("initial", self.initial.unit(), at, outputs)
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let u = cx.inputs.get(plan.u).leaf(0);
        let Last { value, contact } = cx.state;
        let y = cx.outputs.get(plan.y);
        for (i, ((y, &u), &last)) in y.iter_mut().zip(u).zip(value).enumerate() {
            *y = match contact.get(i) {
                Some(contact) if cx.time.minor => plan.on(i, *contact, u, last),
                _ => plan.pushed(i, u, last),
            };
        }
        Ok(())
    }

    fn update(&self, plan: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let Last { value, contact } = cx.state;
        for (i, (&u, last)) in cx.inputs.get(plan.u).leaf(0).iter().zip(value).enumerate() {
            *last = plan.pushed(i, u, *last);
            if let Some(contact) = contact.get_mut(i) {
                let half = 0.5 * plan.width.at(i);
                // Where the play pushes, the output is its end to the last bit.
                *contact = if *last == u - half {
                    Contact::Pushed
                } else if *last == u + half {
                    Contact::Pulled
                } else {
                    Contact::None
                };
            }
        }
        Ok(())
    }

    fn guard(&self, plan: &Self::Plan, cx: &mut GuardCx<'_, Self>) {
        let Last { value, contact } = cx.state;
        let elements = cx.inputs.get(plan.u).leaf(0).iter().zip(value).zip(contact);
        cx.values.fill(pieces::furthest(
            elements.enumerate().map(|(i, ((&u, &last), &at))| plan.beyond(i, at, u, last)),
        ));
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block, refusal};

    /// Up, back and down again: it follows half a width behind, and rests while the play is
    /// crossed.
    #[test]
    fn the_output_is_pushed_at_the_ends_of_the_play() {
        let play: Backlash = block(json!({ "width": 2 }));
        let mut bench = Bench::new(play, &[Type::Real]).expect("a play");
        let mut seen = Vec::new();
        for u in [0.0, 0.5, 1.0, 3.0, 2.0, 1.0, 0.0, -1.0] {
            seen.push(bench.y(0.0, &[("u", &[u])])[0]);
            bench.update(0.0);
        }
        assert_eq!(seen, [0.0, 0.0, 0.0, 2.0, 2.0, 2.0, 1.0, 0.0]);
    }

    #[test]
    fn without_play_the_output_is_the_input() {
        let none: Backlash = block(json!({ "width": 0, "initial": [5, 5] }));
        let mut bench = Bench::new(none, &[Type::vector(2)]).expect("a play");
        assert_eq!(bench.y(0.0, &[("u", &[-3.0, 8.0])]), [-3.0, 8.0]);
    }

    #[test]
    fn the_width_is_not_negative() {
        let message = refusal(block::<Backlash>(json!({ "width": -1 })), &[]);
        assert_eq!(message, "expected a width of zero or more, found -1");
    }
}
