//! What `legwork run --profile` tells: the time of each block, the largest first.

use std::time::Instant;

use legwork_runtime::{BlockTime, Spent};
use serde_json::{Value, json};

use super::summary::{seconds, write_table};

/// What is no block's time: the solver, guards, recording, and the clock itself.
const REST: &str = "(engine, recording, clock)";
/// Readings of the clock to find out what one takes.
const READINGS: u32 = 1000;

/// The table for people. `wall` is the time of the whole run [s].
pub(super) fn table(times: &[BlockTime], wall: f64) -> String {
    let head = ["block", "kind", "calls", "total", "per call", "share", "output", "update"];
    let head = [&head[..], &["derivative", "guard"]].concat();
    let mut rows: Vec<[String; 10]> = vec![std::array::from_fn(|i| head[i].to_owned())];
    for time in sorted(times) {
        let total = time.total();
        let phase = |spent: Spent| {
            if spent.calls == 0 { String::new() } else { nanoseconds(spent.nanoseconds) }
        };
        rows.push([
            time.path.clone(),
            time.kind.to_owned(),
            total.calls.to_string(),
            nanoseconds(total.nanoseconds),
            nanoseconds(total.nanoseconds / total.calls.max(1)),
            percent(total.nanoseconds, wall),
            phase(time.output),
            phase(time.update),
            phase(time.derivative),
            phase(time.guard),
        ]);
    }
    let rest = rest(times, wall);
    let mut last: [String; 10] = std::array::from_fn(|_| String::new());
    (last[0], last[3], last[5]) = (REST.to_owned(), nanoseconds(rest), percent(rest, wall));
    rows.push(last);
    let mut out = format!(
        "profile of {}; a call's time holds a reading of the clock, about {}\n",
        seconds(wall),
        nanoseconds(reading()),
    );
    // Writing to a string cannot fail.
    let _ = write_table(&rows, "  ", 2, &mut out);
    out.trim_end().to_owned()
}

/// The blocks as JSON, the largest first, and the rest.
pub(super) fn to_json(times: &[BlockTime], wall: f64) -> Value {
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
        "clock_reading_ns": reading(),
    })
}

/// By time, then by path.
fn sorted(times: &[BlockTime]) -> Vec<&BlockTime> {
    let mut sorted: Vec<&BlockTime> = times.iter().collect();
    sorted.sort_by_key(|time| std::cmp::Reverse(time.total().nanoseconds));
    sorted
}

/// What of the run was no block's [ns].
fn rest(times: &[BlockTime], wall: f64) -> u64 {
    let blocks: u64 = times.iter().map(|time| time.total().nanoseconds).sum();
    ((wall * 1e9) as u64).saturating_sub(blocks)
}

/// Share of a run of `wall` [s]; none of a run that took no time.
fn share(nanoseconds: u64, wall: f64) -> Option<f64> {
    (wall > 0.0).then(|| nanoseconds as f64 / (wall * 1e9))
}

fn percent(nanoseconds: u64, wall: f64) -> String {
    share(nanoseconds, wall).map_or(String::new(), |share| format!("{:.1} %", share * 100.0))
}

fn nanoseconds(count: u64) -> String {
    if count < 1000 { format!("{count} ns") } else { seconds(count as f64 * 1e-9) }
}

/// What a reading of the clock takes here [ns].
fn reading() -> u64 {
    let start = Instant::now();
    for _ in 0..READINGS {
        std::hint::black_box(Instant::now());
    }
    start.elapsed().as_nanos() as u64 / u64::from(READINGS)
}
