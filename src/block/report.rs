//! Reports of blocks at the end of a run.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// What a block noticed that makes a run doubtful, although its numbers are numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Warning {
    /// What it is, the same in every run: `starts-inside`.
    pub name: String,
    /// When it was noticed first [s].
    pub t: f64,
    /// In how many major steps it was noticed.
    pub steps: u64,
    /// One sentence in lower case, with the figures of the first time.
    pub message: String,
}

/// A figure of a whole run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// What it is, the same in every run: `worst_slip`.
    pub name: String,
    /// The figure.
    pub value: f64,
    /// Its unit, as `m/s`; empty for a pure number.
    pub unit: Cow<'static, str>,
}

/// Collects metrics and solver counts of one block.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// In the order reported.
    pub metrics: Vec<Metric>,
    /// How often a solver was called.
    pub solver_calls: u64,
    /// How often a solver did not solve, by what the policy then did.
    pub solver_failures: u64,
    /// Sentences for the summary, such as how often a policy was used.
    pub notes: Vec<String>,
    /// What makes the run doubtful.
    pub warnings: Vec<Warning>,
    /// Warnings that several blocks may give alike, as of a robot that all of them see; the run
    /// keeps the first of equal ones.
    pub common_warnings: Vec<Warning>,
    /// Files for the directory of a run: name and bytes. A block does not write them itself.
    pub files: Vec<(String, Vec<u8>)>,
}

impl Report {
    /// Adds a metric that is a pure number.
    pub fn metric(&mut self, name: &str, value: f64) {
        self.metric_in("", name, value);
    }

    /// Adds a metric in a unit, such as `m/s`.
    pub fn metric_in(&mut self, unit: &'static str, name: &str, value: f64) {
        self.metrics.push(Metric { name: name.into(), value, unit: unit.into() });
    }

    /// The value of a metric.
    pub fn value_of(&self, metric: &str) -> Option<f64> {
        self.metrics.iter().find(|one| one.name == metric).map(|one| one.value)
    }

    /// Adds a file, unless there is one of this name.
    pub fn file(&mut self, name: &str, bytes: &[u8]) {
        if self.files.iter().all(|(other, _)| other != name) {
            self.files.push((name.into(), bytes.into()));
        }
    }
}
