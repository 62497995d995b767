//! `RateTransition`: from one period to another that it does not fit.

use legwork_block::{
    Any, Block, Outcome, OutputCx, RateRule, Sizes, UpdateCx, block, parameters, ports,
};
use serde::{Deserialize, Serialize};

use crate::discrete::leaves;

/// Hands a signal from any period to any other. Neither of the two need divide the other.
///
/// `every:` states the period of the output; that of the input is its source's. At a hit of the
/// output at time t, with the source's hits t₁ < t₂ < …:
///
/// | mode | output | feedthrough |
/// |---|---|---|
/// | `Newest` | the source's value of its last hit up to t, t included | yes |
/// | `Hold` | the source's value of its last hit before t; zero before the first | no |
/// | `Linear` | the line through its last two hits before t, at t | no |
///
/// With `Hold` and `Linear` no value of the same instant passes, so they break algebraic loops.
#[ports(
    ports.rate(RateRule::Sampled);
    ports.any_rates();
    let (ty, unit) = (Any::var(ports.var()), ports.var());
    in  u: ty.clone() as Any, unit, "the source", shape "numbers of any shape", units "any";
    let direct = (self.mode == Mode::Newest).then_some(u);
    feeds(direct);
    out y: ty as Any, unit, "the source at the period of `y`",
        shape "that of `u`", units "that of `u`", elements u;
)]
#[parameters(aliases("resample", "sample rate"))]
pub struct RateTransition {
    /// Which of the source's values come out.
    #[default]
    pub mode: Mode,
}

/// What comes out between two periods.
#[parameters]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// The value of the last hit before now.
    #[default]
    Hold,
    /// A line through the last two hits before now.
    Linear,
    /// The value of the last hit, one at this instant included.
    Newest,
}

/// The source's last two hits.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Hits {
    seen: u32,
    times: [f64; 2],
    last: Vec<f64>,
    before: Vec<f64>,
}

#[block]
impl Block for RateTransition {
    type State = Hits;

    fn state(&self, io: &Self::Plan, sizes: &Sizes<'_>) -> Hits {
        let zeros = vec![0.0; sizes.output(io.y)];
        Hits { seen: 0, times: [0.0; 2], last: zeros.clone(), before: zeros }
    }

    fn output(&self, io: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let Hits { seen, times: [t_last, t_before], last, before } = cx.state;
        let mut at = 0;
        for leaf in 0..cx.outputs.leaf_count(io.y) {
            let y = cx.outputs.leaf(io.y, leaf);
            let range = at..at + y.len();
            at = range.end;
            match self.mode {
                Mode::Newest => y.copy_from_slice(cx.inputs.get(io.u).leaf(leaf)),
                Mode::Linear if *seen > 1 => {
                    let ahead = (cx.time.t - t_last) / (t_last - t_before);
                    for ((y, last), before) in
                        y.iter_mut().zip(&last[range.clone()]).zip(&before[range])
                    {
                        *y = last + ahead * (last - before);
                    }
                }
                Mode::Hold | Mode::Linear => y.copy_from_slice(&last[range]),
            }
        }
        Ok(())
    }

    /// Runs at the source's hits.
    fn update(&self, io: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let hits = &mut *cx.state;
        hits.before.copy_from_slice(&hits.last);
        hits.times = [cx.time.t, hits.times[0]];
        hits.seen = hits.seen.saturating_add(1);
        leaves::read(cx.inputs.get(io.u), &mut hits.last);
        Ok(())
    }
}
