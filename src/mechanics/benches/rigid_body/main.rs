//! Time per quantity and state on one thread: `cargo bench -p legwork-mechanics`.
//!
//! Rows are in [`rows`], the method in [`timing`]. `cargo bench -p legwork-mechanics -- --help`
//! lists the options. Without `--bench`, which `cargo bench` passes, every row runs once and
//! nothing is timed: that is what `cargo test --benches` does.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    missing_docs,
    reason = "a bench, not a library"
)]
#![allow(clippy::print_stderr, reason = "wrong options are reported to the caller")]

mod options;
mod robot;
mod rows;
mod timing;

use options::{Mode, Options};
use robot::{CHAIN_LENGTHS, Robot};
use rows::{CHAIN_ROWS, ROBOT_ROWS, Row};
use timing::{Timing, measure};

fn main() {
    let options = match options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}");
            std::process::exit(2);
        }
    };
    match options.mode {
        Mode::Help => println!("{}", options::help()),
        Mode::List => {}
        Mode::ChainUrdf(joints) => println!("{}", robot::chain_urdf(joints)),
        Mode::Once => run_once(),
        Mode::Measure => run(&options),
    }
}

/// Runs every row once, so that a test run finds rows that panic.
fn run_once() {
    let robots = robot::ROBOTS.iter().map(|(name, _)| (Robot::named(name), ROBOT_ROWS));
    let chains = [1, 10].into_iter().map(|joints| (Robot::chain(joints), CHAIN_ROWS));
    for (mut robot, rows) in robots.chain(chains) {
        for row in rows {
            (row.run)(&mut robot);
        }
    }
}

fn run(options: &Options) {
    let mut report = Report::new(options.json);
    for name in &options.robots {
        time_rows(Robot::named(name), ROBOT_ROWS, options, |row, timing| {
            report.robot(name, row, timing);
        });
    }
    if options.chains {
        for joints in CHAIN_LENGTHS {
            time_rows(Robot::chain(joints), CHAIN_ROWS, options, |row, timing| {
                report.chain(joints, row, timing);
            });
        }
    }
    report.finish(options.seconds);
}

fn time_rows(
    mut robot: Robot,
    rows: &[Row],
    options: &Options,
    mut record: impl FnMut(&str, &Timing),
) {
    for row in rows.iter().filter(|row| options.wants(row.name)) {
        let timing = measure(options.seconds, || (row.run)(&mut robot));
        record(row.name, &timing);
    }
}

/// Prints lines for people as they come, or gathers one JSON object.
struct Report {
    json: bool,
    robots: Vec<serde_json::Value>,
    chains: Vec<serde_json::Value>,
}

impl Report {
    fn new(json: bool) -> Self {
        if !json {
            let columns = ["median [ns]", "10th pct [ns]", "minimum [ns]"];
            let [a, b, c] = columns;
            println!("{:<14} {:<28} {a:>13} {b:>13} {c:>13}", "robot", "row");
        }
        Self { json, robots: Vec::new(), chains: Vec::new() }
    }

    fn robot(&mut self, robot: &str, row: &str, timing: &Timing) {
        if self.json {
            self.robots.push(entry("robot", &robot.into(), row, timing));
        } else {
            print_line(robot, row, timing);
        }
    }

    fn chain(&mut self, joints: usize, row: &str, timing: &Timing) {
        if self.json {
            self.chains.push(entry("joints", &joints.into(), row, timing));
        } else {
            print_line(&format!("chain of {joints}"), row, timing);
        }
    }

    fn finish(self, seconds: f64) {
        if self.json {
            let report = serde_json::json!({
                "unit": "ns per call",
                "seconds_per_row": seconds,
                "robots": self.robots,
                "chains": self.chains,
            });
            println!("{report:#}");
        }
    }
}

fn entry(key: &str, value: &serde_json::Value, row: &str, timing: &Timing) -> serde_json::Value {
    let round = |ns: f64| (ns * 10.0).round() / 10.0;
    serde_json::json!({
        key: value,
        "row": row,
        "median": round(timing.median),
        "tenth_percentile": round(timing.tenth_percentile),
        "minimum": round(timing.minimum),
    })
}

fn print_line(robot: &str, row: &str, timing: &Timing) {
    let Timing { median, tenth_percentile, minimum } = timing;
    println!("{robot:<14} {row:<28} {median:>13.0} {tenth_percentile:>13.0} {minimum:>13.0}");
}
