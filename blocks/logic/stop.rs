//! `Stop`: ends the run.

use legwork_block::{Any, Bool, In, Inputs, Invalid, Out, Outcome, Outputs, Ports, Pure};
use schemars::JsonSchema;
use serde::Deserialize;

/// Ends the run after the major step at which its input is not zero.
///
/// | port | shape | unit |
/// |---|---|---|
/// | in `u` | a number, a truth value or a vector of them: any of them not zero counts | any |
/// | out `y` | Bool | |
///
/// The step's row is recorded and its checks are made; its update is not, as at the stop time. The
/// summary says which block ended the run and when; it is no fault.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["terminate", "end"]))]
pub struct Stop {}

impl Pure for Stop {
    const KIND: &'static str = "Stop";
    type Plan = (In<Any>, Out<Bool>);

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        ports.per_major();
        let ty = ports.var();
        let u = ports.input("u", &Any::var(ty));
        let y = ports.output("y", &Bool);
        ports.note_out(y).doc("whether the run ends here");
        ports.stops(y);
        Ok((u, y))
    }

    fn output(&self, &(u, y): &Self::Plan, inp: &Inputs<'_>, out: &mut Outputs<'_>) -> Outcome {
        let stops = inp.get(u).iter().any(|leaf| leaf.iter().any(|&value| value != 0.0));
        out.set(y, f64::from(stops));
        Ok(())
    }
}
