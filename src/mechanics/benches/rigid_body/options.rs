//! Command line of the bench.

use crate::robot::ROBOTS;
use crate::rows::{CHAIN_ROWS, ROBOT_ROWS};

/// What a call of the bench does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Times the rows.
    Measure,
    /// Runs the rows once, without timing: a test run.
    Once,
    /// Lists tests for a test runner: there are none.
    List,
    /// Prints the robot file of a chain of so many joints.
    ChainUrdf(usize),
    Help,
}

#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) mode: Mode,
    pub(crate) json: bool,
    pub(crate) chains: bool,
    /// Time per row [s].
    pub(crate) seconds: f64,
    pub(crate) robots: Vec<String>,
    /// Names of the rows to time; `None`: all.
    rows: Option<Vec<String>>,
}

impl Options {
    pub(crate) fn wants(&self, row: &str) -> bool {
        self.rows.as_ref().is_none_or(|rows| rows.iter().any(|name| name == row))
    }
}

/// Reads the arguments after the program's name.
pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let arguments: Vec<String> = arguments.collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let mut options = Options {
        mode: Mode::Measure,
        json: false,
        chains: false,
        seconds: 0.4,
        robots: ROBOTS.iter().map(|(name, _)| (*name).to_owned()).collect(),
        rows: None,
    };
    if has("--help") {
        options.mode = Mode::Help;
        return Ok(options);
    }
    if !has("--bench") {
        // A test runner's own flags mean nothing here.
        options.mode = if has("--list") { Mode::List } else { Mode::Once };
        return Ok(options);
    }
    if let Ok(text) = std::env::var("BENCH_SECONDS") {
        options.seconds = seconds("BENCH_SECONDS", &text)?;
    }
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or(format!("{argument}: expected a value after it"));
        match argument.as_str() {
            "--bench" => {}
            "--json" => options.json = true,
            "--chains" => options.chains = true,
            "--chain-urdf" => {
                let joints =
                    value()?.parse().map_err(|_| format!("{argument}: expected a number"))?;
                options.mode = Mode::ChainUrdf(joints);
            }
            "--seconds" => options.seconds = seconds(argument, value()?)?,
            "--robots" => options.robots = robots(value()?)?,
            "--rows" => options.rows = Some(rows(value()?)?),
            _ => return Err(format!("unknown argument `{argument}`\n{}", help())),
        }
    }
    Ok(options)
}

fn seconds(source: &str, text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(value) if value > 0.0 && value < 1e6 => Ok(value),
        _ => Err(format!("{source}: expected a time > 0 [s], found `{text}`")),
    }
}

fn robots(text: &str) -> Result<Vec<String>, String> {
    if text == "none" {
        return Ok(Vec::new());
    }
    known("--robots", text, &ROBOTS.map(|(name, _)| name))
}

fn rows(text: &str) -> Result<Vec<String>, String> {
    let mut names: Vec<&str> = ROBOT_ROWS.iter().chain(CHAIN_ROWS).map(|row| row.name).collect();
    names.sort_unstable();
    names.dedup();
    known("--rows", text, &names)
}

/// Splits a list at its commas; every name must be one of `names`.
fn known(option: &str, text: &str, names: &[&str]) -> Result<Vec<String>, String> {
    text.split(',')
        .map(|name| match names.contains(&name) {
            true => Ok(name.to_owned()),
            false => Err(format!("{option}: no `{name}`; expected some of {}", names.join(","))),
        })
        .collect()
}

pub(crate) fn help() -> String {
    let mut text = "\
usage: cargo bench -p legwork-mechanics --bench rigid_body -- [OPTIONS]

  --robots A,B   robots to time (default: all; `none`: no robot)
  --rows A,B     rows to time (default: all)
  --chains       time serial chains of 1 to 100 revolute joints as well
  --chain-urdf N print the robot file of the chain of N joints, for other programs to read
  --seconds S    time per row [s] (default: the variable BENCH_SECONDS, else 0.4)
  --json         one JSON object instead of a table
  --bench        time; without it (cargo passes it) every row runs once, untimed

rows, each with the kinematics it needs unless it says otherwise:
"
    .to_owned();
    for row in ROBOT_ROWS {
        text.push_str(&format!("  {:<28} {}\n", row.name, row.about));
    }
    text.push_str("rows of chains:\n");
    for row in CHAIN_ROWS {
        text.push_str(&format!("  {:<28} {}\n", row.name, row.about));
    }
    text
}
