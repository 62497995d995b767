//! `RateTransition`: from one period to another that it does not fit.

use legwork_block::{
    Any, Block, In, Invalid, NO_FEEDS, Out, Outcome, OutputCx, Ports, RateRule, Sizes, UpdateCx,
    feeds,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Hands a signal from any period to any other. Neither of the two need divide the other.
///
/// | port | shape | unit |
/// |---|---|---|
/// | in `u` | numbers of any shape | any |
/// | out `y` | that of `u` | that of `u` |
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
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["resample", "sample rate"]))]
pub struct RateTransition {
    /// Which of the source's values come out; default Hold.
    #[serde(default)]
    pub mode: Mode,
}

/// What comes out between two periods.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
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

impl Block for RateTransition {
    const KIND: &'static str = "RateTransition";
    type Plan = (In<Any>, Out<Any>);
    type State = Hits;
    type Memo = ();
    type Scratch = ();

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        ports.rate(RateRule::Sampled);
        ports.any_rates();
        let (ty, unit) = (Any::var(ports.var()), ports.var());
        let u = ports.input("u", &ty);
        ports.note_in(u).same_unit(unit);
        match self.mode {
            Mode::Newest => ports.group(&feeds![u]),
            Mode::Hold | Mode::Linear => ports.group(&NO_FEEDS),
        }
        let y = ports.output("y", &ty);
        ports.note_out(y).same_unit(unit);
        Ok((u, y))
    }

    fn state(&self, &(_, y): &Self::Plan, sizes: &Sizes<'_>) -> Hits {
        let zeros = vec![0.0; sizes.output(y)];
        Hits { seen: 0, times: [0.0; 2], last: zeros.clone(), before: zeros }
    }

    fn scratch(&self, _: &Self::Plan, _: &Sizes<'_>) {}

    fn output(&self, &(u, y): &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let Hits { seen, times: [t_last, t_before], last, before } = cx.state;
        let mut at = 0;
        for leaf in 0..cx.outputs.leaf_count(y) {
            let y = cx.outputs.leaf(y, leaf);
            let range = at..at + y.len();
            at = range.end;
            match self.mode {
                Mode::Newest => y.copy_from_slice(cx.inputs.get(u).leaf(leaf)),
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
    fn update(&self, &(u, _): &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let hits = &mut *cx.state;
        hits.before.copy_from_slice(&hits.last);
        hits.times = [cx.time.t, hits.times[0]];
        hits.seen = hits.seen.saturating_add(1);
        let mut at = 0;
        for u in cx.inputs.get(u).iter() {
            hits.last[at..at + u.len()].copy_from_slice(u);
            at += u.len();
        }
        Ok(())
    }
}
