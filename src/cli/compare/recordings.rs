//! Recorded runs against one another.

use std::fmt::Write as _;
use std::path::Path;

use legwork_block::{Registry, nearest};
use legwork_runtime::catalog::Numbers;
use legwork_runtime::comparison::{Difference, Quantity, Samples, Tolerance};
use serde_json::{Value, json};

use super::super::answer::{Answer, Code, Failure};
use super::super::arguments::CompareArguments;
use super::super::console;
use super::super::recorded::{Run, is_table};
use super::super::summary::{counted, digits, seconds, write_table};
use super::{choices, tolerances};

/// Signals whose numbers get a row each in the table, if nobody names signals.
const MOST_NUMBERS: usize = 4;

/// Whether a word of the command line means a recorded run: a directory, a recording or a table.
pub(super) fn is_run(word: &Path) -> bool {
    word.is_dir() || is_table(word) || word.extension().is_some_and(|ending| ending == "mcap")
}

/// A signal that both runs have, and how far apart they are.
struct Signal {
    quantity: Quantity,
    /// Whether the command line says how far apart it may be.
    is_judged: bool,
    whole: Difference,
    /// By number.
    elements: Vec<Difference>,
}

/// A run against the reference.
struct Pair<'r> {
    name: &'r str,
    signals: Vec<Signal>,
    /// Names of the reference's signals that it has not, or in another shape.
    missing: Vec<String>,
}

/// Compares recorded runs with one of them.
///
/// # Errors
/// If there is but one run, a run cannot be read, an option is for diagrams, or there is nothing to
/// compare.
pub(super) fn compare(
    arguments: &CompareArguments,
    registry: &Registry,
) -> Result<Answer, Failure> {
    refuse_options_of_diagrams(arguments)?;
    if arguments.others.is_empty() {
        return Err(Failure::usage("expected another run to compare with"));
    }
    let mut paths = vec![arguments.file.clone()];
    paths.extend(arguments.others.iter().cloned());
    let runs = Run::open_all(&paths, registry)?;
    let reference = reference(&runs, arguments.reference.as_deref())?;
    let numbers = wanted(&runs[reference], &choices::signals(&arguments.signals)?)?;
    let quantities: Vec<Quantity> = numbers.iter().map(quantity).collect();
    let tolerances = tolerances::stated(&arguments.tol, &quantities)?;
    let base: Vec<Samples> = numbers.iter().map(|one| samples(&runs[reference], one)).collect();
    let mut pairs = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        if index == reference {
            continue;
        }
        let mut pair = Pair { name: &run.name, signals: Vec::new(), missing: Vec::new() };
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
            return Err(Failure::usage(message));
        }
        pairs.push(pair);
    }
    let is_short = arguments.signals.is_empty();
    console::say(&text(&runs[reference].name, &pairs, is_short));
    let agrees = pairs.iter().all(Pair::agrees);
    let json = to_json(&runs, reference, &pairs);
    Ok(Answer::new(if agrees { Code::Success } else { Code::Check }, json))
}

fn refuse_options_of_diagrams(arguments: &CompareArguments) -> Result<(), Failure> {
    let given = [
        (!arguments.variant.is_empty(), "--variant"),
        (!arguments.set.is_empty(), "--set"),
        (!arguments.with.is_empty(), "--with"),
        (arguments.until.is_some(), "--until"),
        (arguments.out.is_some(), "--out"),
        (arguments.jobs.is_some(), "--jobs"),
    ];
    match given.into_iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => {
            Err(Failure::usage(format!("{option} is for diagrams, not for recorded runs")))
        }
        None => Ok(()),
    }
}

/// Index of the run that the others are compared with.
fn reference(runs: &[Run], name: Option<&str>) -> Result<usize, Failure> {
    let Some(name) = name else { return Ok(0) };
    runs.iter().position(|run| run.name == name).ok_or_else(|| {
        let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
        let hint = match nearest(name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are `{}`", names.join("`, `")),
        };
        Failure::usage(format!("no run `{name}` to compare with; {hint}"))
    })
}

/// What is compared: all of the reference, or what the command line names.
fn wanted(reference: &Run, paths: &[String]) -> Result<Vec<Numbers>, Failure> {
    if paths.is_empty() {
        return Ok(reference.catalog.all().to_vec());
    }
    let mut found = Vec::new();
    for path in paths {
        found.extend(reference.catalog.find(path).map_err(|advice| {
            let file = reference.file.display();
            Failure::usage(format!("no signal `{path}` in `{file}`; {advice}"))
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
fn same(run: &Run, quantity: &Quantity) -> Option<Numbers> {
    let mut found = run.catalog.find(&quantity.name).ok()?;
    let numbers = found.pop()?;
    (found.is_empty() && numbers.columns.len() == quantity.elements.len()).then_some(numbers)
}

/// Rows of these numbers alone.
fn samples(run: &Run, numbers: &Numbers) -> Samples {
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
) -> Signal {
    // What is not judged may be as far apart as it likes.
    let may = tolerance.unwrap_or(Tolerance::Absolute(f64::INFINITY));
    let between = |columns| Difference::between(base, other, columns, may, 0.0);
    Signal {
        quantity: quantity.clone(),
        is_judged: tolerance.is_some(),
        whole: between(quantity.columns()),
        elements: quantity.columns().map(|column| between(column..column + 1)).collect(),
    }
}

impl Pair<'_> {
    fn agrees(&self) -> bool {
        self.signals.iter().all(|signal| signal.whole.is_within())
    }
}

fn text(reference: &str, pairs: &[Pair<'_>], is_short: bool) -> String {
    let mut out = String::new();
    for pair in pairs {
        // Writing to a string cannot fail.
        let _ = write_pair(reference, pair, is_short, &mut out);
    }
    out.trim_end().to_owned()
}

fn write_pair(
    reference: &str,
    pair: &Pair<'_>,
    is_short: bool,
    out: &mut String,
) -> std::fmt::Result {
    let rows = pair.signals.iter().map(|signal| signal.whole.rows).max().unwrap_or(0);
    let counts = (counted(pair.signals.len() as u64, "signal"), counted(rows as u64, "common row"));
    writeln!(out, "{} against {reference}: {}, up to {}", pair.name, counts.0, counts.1)?;
    let mut table =
        vec![["", "signal", "unit", "mean", "rms", "max", "at", "of range"].map(str::to_owned)];
    for signal in &pair.signals {
        let verdict = match (signal.is_judged, signal.whole.is_within()) {
            (false, _) => "",
            (true, true) => "ok",
            (true, false) => "FAR",
        };
        let Quantity { name, elements, unit, .. } = &signal.quantity;
        let mut add = |verdict: &str, name: &str, difference: &Difference| {
            let at = difference.largest.as_ref().map_or("-".to_owned(), |at| seconds(at.t));
            table.push([
                verdict.to_owned(),
                name.to_owned(),
                unit.clone().unwrap_or_default(),
                digits(difference.mean),
                digits(difference.rms),
                digits(difference.max),
                at,
                digits(difference.max_relative()),
            ]);
        };
        let is_one = elements.len() == 1;
        if is_one || (is_short && elements.len() > MOST_NUMBERS) {
            add(verdict, name, &signal.whole);
            continue;
        }
        for (element, difference) in elements.iter().zip(&signal.elements) {
            add(verdict, element, difference);
        }
    }
    write_table(&table, "  ", 3, out)?;
    if !pair.missing.is_empty() {
        let count = counted(pair.missing.len() as u64, "signal");
        writeln!(out, "  {count} of {reference} not compared: not there, or of another shape")?;
    }
    writeln!(out)
}

/// The whole object. Numbers that JSON has not, such as infinite differences, are null.
fn to_json(runs: &[Run], reference: usize, pairs: &[Pair<'_>]) -> Value {
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
    let signal = |signal: &Signal| {
        let Signal { quantity, whole, elements, is_judged } = signal;
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
    let comparisons: Vec<Value> = pairs
        .iter()
        .map(|pair| {
            json!({
                "run": pair.name,
                "against": runs[reference].name,
                "agrees": pair.agrees(),
                "signals": pair.signals.iter().map(signal).collect::<Vec<_>>(),
                "not_compared": pair.missing,
            })
        })
        .collect();
    json!({
        "runs": runs.iter().map(|run| run.file.display().to_string()).collect::<Vec<_>>(),
        "reference": runs[reference].name,
        "agrees": pairs.iter().all(Pair::agrees),
        "comparisons": comparisons,
    })
}
