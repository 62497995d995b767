//! `Stop`: ends the run.

use legwork_block::{Any, Bool, Inputs, Outcome, Outputs, Pure, block, parameters, ports};

/// Ends the run after the major step at which its input is not zero.
///
/// The step's row is recorded and its checks are made; its update is not, as at the stop time. The
/// summary says which block ended the run and when; it is no fault.
#[ports(
    in  u: Any::var(ports.var()), _, "what ends the run: any of them that is not zero counts",
        shape "a number, a truth value or a vector of them", units "any";
    out y: Bool, _, "whether the run ends here";
    ports.per_major();
    ports.stops(y);
)]
#[parameters(aliases("terminate", "end"))]
pub struct Stop {}

#[block]
impl Pure for Stop {
    fn output(&self, io: &StopPorts, inp: &Inputs<'_>, out: &mut Outputs<'_>) -> Outcome {
        let stops = inp.get(io.u).iter().any(|leaf| leaf.iter().any(|&value| value != 0.0));
        out.set(io.y, f64::from(stops));
        Ok(())
    }
}
