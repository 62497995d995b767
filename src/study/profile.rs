//! What a profiled run tells: the time of each block, the largest first.

use std::time::Instant;

use legwork_runtime::{BlockTime, Spent};
use serde_json::{Value, json};

/// Readings of the clock to find out what one takes.
const READINGS: u32 = 1000;

/// The blocks as JSON, the largest first, and the rest. `wall` is the time of the whole run [s].
pub(crate) fn to_json(times: &[BlockTime], wall: f64) -> Value {
    let phase = |spent: Spent| json!({ "calls": spent.calls, "ns": spent.nanoseconds });
    let block = |time: &BlockTime| {
        let total = time.total();
        json!({
            "block": time.path,
            "kind": time.kind,
            "calls": total.calls,
            "total_ns": total.nanoseconds,
            "share": share(total.nanoseconds, wall),
            "phases": {
                "output": phase(time.output),
                "update": phase(time.update),
                "derivative": phase(time.derivative),
                "guard": phase(time.guard),
            },
        })
    };
    let blocks: Vec<Value> = sorted(times).into_iter().map(block).collect();
    let rest = rest(times, wall);
    json!({
        "blocks": blocks,
        "rest_ns": rest,
        "rest_share": share(rest, wall),
        "clock_reading_ns": clock_reading(),
    })
}

/// By time, then by path.
pub fn sorted(times: &[BlockTime]) -> Vec<&BlockTime> {
    let mut sorted: Vec<&BlockTime> = times.iter().collect();
    sorted.sort_by_key(|time| std::cmp::Reverse(time.total().nanoseconds));
    sorted
}

/// What of a run of `wall` [s] was no block's [ns]: the solver, guards, recording, the clock.
pub fn rest(times: &[BlockTime], wall: f64) -> u64 {
    let blocks: u64 = times.iter().map(|time| time.total().nanoseconds).sum();
    ((wall * 1e9) as u64).saturating_sub(blocks)
}

/// Share of a run of `wall` [s]; none of a run that took no time.
pub fn share(nanoseconds: u64, wall: f64) -> Option<f64> {
    (wall > 0.0).then(|| nanoseconds as f64 / (wall * 1e9))
}

/// What a reading of the clock takes here [ns].
pub fn clock_reading() -> u64 {
    let start = Instant::now();
    for _ in 0..READINGS {
        std::hint::black_box(Instant::now());
    }
    start.elapsed().as_nanos() as u64 / u64::from(READINGS)
}
