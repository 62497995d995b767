//! Recorded runs against one another.

use std::path::PathBuf;

use legwork_block::nearest;
use legwork_runtime::catalog::Numbers;
use legwork_runtime::comparison::{Difference, Quantity, Samples, Tolerance};
use serde_json::{Value, json};

use super::tolerances;
use crate::error::Error;
use crate::recorded::Recorded;

/// What is asked of a comparison of recorded runs.
#[derive(Debug, Clone, Default)]
pub struct RecordingsRequest {
    /// Paths of the signals to compare; all of the reference if none is named.
    pub signals: Vec<String>,
    /// Largest differences, as in [`super::CompareRequest`]; what has none is not judged.
    pub tolerances: Vec<String>,
    /// The run that the others are compared with, by name; without it, the first.
    pub reference: Option<String>,
}

/// A signal that both runs have, and how far apart they are.
#[derive(Debug, Clone)]
pub struct RecordedSignal {
    /// The numbers.
    pub quantity: Quantity,
    /// Whether the request says how far apart it may be.
    pub is_judged: bool,
    /// The difference of all its numbers.
    pub whole: Difference,
    /// By number.
    pub elements: Vec<Difference>,
}

/// A run against the reference.
#[derive(Debug, Clone)]
pub struct RecordedPair {
    /// The run.
    pub name: String,
    /// What both have.
    pub signals: Vec<RecordedSignal>,
    /// Names of the reference's signals that it has not, or in another shape.
    pub missing: Vec<String>,
}

/// What came of a comparison of recorded runs.
#[derive(Debug, Clone)]
pub struct RecordingComparison {
    /// Files of the runs.
    pub files: Vec<PathBuf>,
    /// Their names.
    pub names: Vec<String>,
    /// Index of the run that the others are compared with.
    pub reference: usize,
    /// Every other run against it.
    pub pairs: Vec<RecordedPair>,
}

impl RecordingComparison {
    /// Whether all is within its tolerance.
    pub fn agrees(&self) -> bool {
        self.pairs.iter().all(RecordedPair::agrees)
    }

    /// What tables call the run that the others are compared with.
    pub fn name_of_reference(&self) -> &str {
        &self.names[self.reference]
    }

    /// All of it as JSON. Numbers that JSON has not, such as infinite differences, are null.
    pub fn to_json(&self) -> Value {
        to_json(self)
    }
}

/// Compares recorded runs with one of them, at the times that both have.
///
/// # Errors
/// If there is but one run, or there is nothing to compare.
pub fn compare_recordings(
    runs: &[Recorded],
    request: &RecordingsRequest,
) -> Result<RecordingComparison, Error> {
    if runs.len() < 2 {
        return Err(Error::request("expected another run to compare with"));
    }
    let reference = reference(runs, request.reference.as_deref())?;
    let numbers = wanted(&runs[reference], &request.signals)?;
    let quantities: Vec<Quantity> = numbers.iter().map(quantity).collect();
    let tolerances = tolerances::stated(&request.tolerances, &quantities)?;
    let base: Vec<Samples> = numbers.iter().map(|one| samples(&runs[reference], one)).collect();
    let mut pairs = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        if index == reference {
            continue;
        }
        let name = run.name.clone();
        let mut pair = RecordedPair { name, signals: Vec::new(), missing: Vec::new() };
        for ((quantity, base), tolerance) in quantities.iter().zip(&base).zip(&tolerances) {
            match same(run, quantity) {
                Some(own) => {
                    let other = samples(run, &own);
                    pair.signals.push(signal(quantity, base, &other, *tolerance));
                }
                None => pair.missing.push(quantity.name.clone()),
            }
        }
        if pair.signals.iter().all(|signal| signal.whole.rows == 0) {
            let message = format!(
                "`{}` and `{}` have no signal in common, or no time",
                runs[reference].file.display(),
                run.file.display()
            );
            return Err(Error::request(message));
        }
        pairs.push(pair);
    }
    let files = runs.iter().map(|run| run.file.clone()).collect();
    let names = runs.iter().map(|run| run.name.clone()).collect();
    Ok(RecordingComparison { files, names, reference, pairs })
}

/// Index of the run that the others are compared with.
fn reference(runs: &[Recorded], name: Option<&str>) -> Result<usize, Error> {
    let Some(name) = name else { return Ok(0) };
    runs.iter().position(|run| run.name == name).ok_or_else(|| {
        let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
        let hint = match nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are `{}`", names.join("`, `")),
        };
        Error::request(format!("no run `{name}` to compare with; {hint}"))
    })
}

/// What is compared: all of the reference, or what the request names.
fn wanted(reference: &Recorded, paths: &[String]) -> Result<Vec<Numbers>, Error> {
    if paths.is_empty() {
        return Ok(reference.catalog.all().to_vec());
    }
    let mut found = Vec::new();
    for path in paths {
        found.extend(reference.catalog.find(path).map_err(|advice| {
            let file = reference.file.display();
            Error::request(format!("no signal `{path}` in `{file}`; {advice}"))
        })?);
    }
    Ok(found)
}

/// The numbers of a recording as what tolerances are stated for.
fn quantity(numbers: &Numbers) -> Quantity {
    Quantity {
        channel: numbers.channel,
        name: numbers.name.clone(),
        unit: numbers.unit.clone(),
        elements: numbers.elements.clone(),
        start: 0,
    }
}

/// What a run has of this name and shape.
fn same(run: &Recorded, quantity: &Quantity) -> Option<Numbers> {
    let mut found = run.catalog.find(&quantity.name).ok()?;
    let numbers = found.pop()?;
    (found.is_empty() && numbers.columns.len() == quantity.elements.len()).then_some(numbers)
}

/// Rows of these numbers alone.
fn samples(run: &Recorded, numbers: &Numbers) -> Samples {
    let mut samples = Samples::new(numbers.columns.len());
    let Some(series) = run.recording.series_of_all().nth(numbers.channel) else { return samples };
    let (mut row, mut own) = (Vec::new(), Vec::new());
    for index in 0..series.len() {
        series.values_into(index, &mut row);
        own.clear();
        own.extend(numbers.columns.iter().map(|&column| row[column]));
        let stamp = series.stamp(index);
        samples.push(stamp.t, stamp.t_ns, &own);
    }
    samples
}

fn signal(
    quantity: &Quantity,
    base: &Samples,
    other: &Samples,
    tolerance: Option<Tolerance>,
) -> RecordedSignal {
    // What is not judged may be as far apart as it likes.
    let may = tolerance.unwrap_or(Tolerance::Absolute(f64::INFINITY));
    let between = |columns| Difference::between(base, other, columns, may, 0.0);
    RecordedSignal {
        quantity: quantity.clone(),
        is_judged: tolerance.is_some(),
        whole: between(quantity.columns()),
        elements: quantity.columns().map(|column| between(column..column + 1)).collect(),
    }
}

impl RecordedPair {
    /// Whether all is within its tolerance.
    pub fn agrees(&self) -> bool {
        self.signals.iter().all(|signal| signal.whole.is_within())
    }
}

/// The whole object. Numbers that JSON has not, such as infinite differences, are null.
fn to_json(outcome: &RecordingComparison) -> Value {
    let figures = |name: &str, difference: &Difference| {
        let largest = difference
            .largest
            .as_ref()
            .map(|at| json!({ "t": at.t, "reference": at.reference, "value": at.other }));
        json!({
            "signal": name,
            "mean": difference.mean,
            "rms": difference.rms,
            "max": difference.max,
            "max_relative": difference.max_relative(),
            "largest": largest,
        })
    };
    let signal = |signal: &RecordedSignal| {
        let RecordedSignal { quantity, whole, elements, is_judged } = signal;
        let mut object = figures(&quantity.name, whole);
        object["unit"] = json!(quantity.unit);
        object["rows"] = whole.rows.into();
        object["rows_unmatched"] = whole.unmatched.into();
        object["tolerance"] = json!(is_judged.then_some(whole.tolerance));
        object["agrees"] = whole.is_within().into();
        let each = quantity.elements.iter().zip(elements);
        object["elements"] = each.map(|(name, one)| figures(name, one)).collect();
        object
    };
    let comparisons: Vec<Value> = outcome
        .pairs
        .iter()
        .map(|pair| {
            json!({
                "run": pair.name,
                "against": outcome.name_of_reference(),
                "agrees": pair.agrees(),
                "signals": pair.signals.iter().map(signal).collect::<Vec<_>>(),
                "not_compared": pair.missing,
            })
        })
        .collect();
    json!({
        "runs": outcome.files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>(),
        "reference": outcome.name_of_reference(),
        "agrees": outcome.agrees(),
        "comparisons": comparisons,
    })
}
