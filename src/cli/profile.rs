//! What `legwork run --profile` tells: the time of each block, the largest first.

use legwork_study::profile::{clock_reading, rest, share, sorted};
use legwork_study::{BlockTime, Spent, seconds};

use super::summary::write_table;

/// What is no block's time: the solver, guards, recording, and the clock itself.
const REST: &str = "(engine, recording, clock)";

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
        nanoseconds(clock_reading()),
    );
    // Writing to a string cannot fail.
    let _ = write_table(&rows, "  ", 2, &mut out);
    out.trim_end().to_owned()
}

fn percent(nanoseconds: u64, wall: f64) -> String {
    share(nanoseconds, wall).map_or(String::new(), |share| format!("{:.1} %", share * 100.0))
}

fn nanoseconds(count: u64) -> String {
    if count < 1000 { format!("{count} ns") } else { seconds(count as f64 * 1e-9) }
}
