//! Recorded runs against one another.

use std::fmt::Write as _;
use std::path::Path;

use legwork_study::compare::{
    Difference, Quantity, RecordedPair, RecordingsRequest, compare_recordings, split_signals,
};
use legwork_study::{Library, is_table};

use super::super::answer::{Answer, Code, Failure};
use super::super::summary::{counted, digits, seconds, write_table};
use super::super::{console, recorded};
use super::CompareArguments;

/// Signals whose numbers get a row each in the table, if nobody names signals.
const MOST_NUMBERS: usize = 4;

/// Whether a word of the command line means a recorded run: a directory, a recording or a table.
pub(super) fn is_run(word: &Path) -> bool {
    word.is_dir() || is_table(word) || word.extension().is_some_and(|ending| ending == "mcap")
}

/// Compares recorded runs with one of them.
///
/// # Errors
/// If there is but one run, a run cannot be read, an option is for diagrams, or there is nothing to
/// compare.
pub(super) fn compare(arguments: &CompareArguments, library: &Library) -> Result<Answer, Failure> {
    refuse_options_of_diagrams(arguments)?;
    if arguments.others.is_empty() {
        return Err(Failure::usage("expected another run to compare with"));
    }
    let mut paths = vec![arguments.file.clone()];
    paths.extend(arguments.others.iter().cloned());
    let request = RecordingsRequest {
        signals: split_signals(&arguments.signals)?,
        tolerances: arguments.tol.clone(),
        reference: arguments.reference.clone(),
    };
    let outcome = compare_recordings(&recorded::open_all(&paths, library)?, &request)?;
    let is_short = arguments.signals.is_empty();
    console::tell(&text(outcome.name_of_reference(), &outcome.pairs, is_short))?;
    let code = if outcome.agrees() { Code::Success } else { Code::Check };
    Ok(Answer::new(code, outcome.to_json()))
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

fn text(reference: &str, pairs: &[RecordedPair], is_short: bool) -> String {
    let mut out = String::new();
    for pair in pairs {
        // Writing to a string cannot fail.
        let _ = write_pair(reference, pair, is_short, &mut out);
    }
    out.trim_end().to_owned()
}

fn write_pair(
    reference: &str,
    pair: &RecordedPair,
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
    let alone = pair.signals.iter().map(|signal| signal.whole.unmatched).max().unwrap_or(0);
    if alone > 0 {
        let count = counted(alone as u64, "row");
        writeln!(out, "  up to {count} not compared: only one run has the time, or has it again")?;
    }
    if !pair.missing.is_empty() {
        let count = counted(pair.missing.len() as u64, "signal");
        writeln!(out, "  {count} of {reference} not compared: not there, or of another shape")?;
    }
    writeln!(out)
}
