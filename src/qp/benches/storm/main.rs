//! Many random quadratic programs through the dual active-set method, every outcome judged.
//!
//! `cargo bench -p legwork-qp --bench storm -- [COUNT [FIRST_SEED]]` prints a table of outcomes and
//! the worst residuals; COUNT is 20 000 unless given. Exits with 1 if an outcome is false.

#![allow(clippy::print_stdout, reason = "a bench prints its table")]

use legwork_qp::storm::{StormReport, storm};
use std::time::Instant;

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|a| a.parse::<u64>().ok());
    let count = numbers.next().unwrap_or(20_000);
    let first = numbers.next().unwrap_or(0);
    let start = Instant::now();
    let report = storm(first..first + count);
    println!("{count} programs in {:.1} s", start.elapsed().as_secs_f64());
    for (name, count) in StormReport::NAMES.iter().zip(report.counts) {
        println!("{name:<20} {count:>9}");
    }
    println!("worst residual of solved      {:.1e}", report.worst_solved);
    println!("worst residual of inaccurate  {:.1e}", report.worst_inaccurate);
    println!("least radius of certificates  {:.1e}", report.least_radius);
    println!("most changes                  {}", report.most_changes);
    println!("false outcomes                {}", report.false_outcomes.len());
    for (seed, reason) in report.false_outcomes.iter().take(40) {
        println!("  seed {seed}: {reason}");
    }
    if !report.false_outcomes.is_empty() {
        std::process::exit(1);
    }
}
