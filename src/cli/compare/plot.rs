//! What the plot of a comparison shows: for the signals that differ most, the number that is
//! farthest off.

use legwork_picture::plot;
use legwork_study::compare::{Samples, VariantComparison, severity};

/// Most signals on a sheet.
const MOST_SIGNALS: usize = 4;

/// The comparison to draw.
pub(super) fn comparison(outcome: &VariantComparison) -> plot::Comparison {
    let program = &outcome.runs[outcome.reference].run.execution.program;
    let stops = outcome.runs.iter().map(|one| one.run.execution.sim_time);
    plot::Comparison {
        title: format!("{}: {} runs compared", program.name, outcome.runs.len()),
        runs: outcome.runs.iter().map(|one| one.name().to_owned()).collect(),
        reference: outcome.reference,
        until: stops.fold(0.0, f64::max),
        numbers: chosen(outcome).into_iter().map(|number| compared(outcome, number)).collect(),
    }
}

/// The quantities that differ most, each with the number to show: those that are most tolerances
/// off in some run, in the order of the log where they are equal.
fn chosen(outcome: &VariantComparison) -> Vec<(usize, usize)> {
    let mut found: Vec<(f64, usize, usize)> = Vec::new();
    for quantity in 0..outcome.compared.len() {
        let worst = outcome
            .comparisons
            .iter()
            .flatten()
            .filter_map(|comparison| comparison.differences[quantity].as_ref())
            .max_by(|a, b| severity(a).total_cmp(&severity(b)));
        if let Some(worst) = worst {
            let element = worst.largest.map_or(0, |largest| largest.element);
            found.push((severity(worst), quantity, element));
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.truncate(MOST_SIGNALS);
    found.into_iter().map(|(_, quantity, element)| (quantity, element)).collect()
}

fn compared(outcome: &VariantComparison, (index, element): (usize, usize)) -> plot::Compared {
    let compared = &outcome.compared[index];
    let quantity = &compared.quantity;
    let column = quantity.start + element;
    let samples = |run: usize| {
        let series = outcome.runs[run].recording.series(&compared.topic).ok();
        series.map(Samples::of).filter(|samples| samples.width() > column)
    };
    let reference = samples(outcome.reference);
    let is_there = |run: usize| match &outcome.comparisons[run] {
        Some(comparison) => comparison.differences[index].is_some(),
        None => true,
    };
    let rows: Vec<Option<Samples>> = (0..outcome.runs.len())
        .map(|run| if is_there(run) { samples(run) } else { None })
        .collect();
    let values = rows.iter().map(|samples| samples.as_ref().map(|s| over_time(s, column)));
    let distances = rows.iter().enumerate().map(|(run, samples)| {
        let (reference, samples) = (reference.as_ref()?, samples.as_ref()?);
        (run != outcome.reference).then(|| distance(reference, samples, column))
    });
    let tolerance = outcome
        .comparisons
        .iter()
        .flatten()
        .find_map(|comparison| comparison.differences[index].as_ref())
        .map_or(0.0, |difference| difference.tolerance);
    plot::Compared {
        title: quantity.elements[element].clone(),
        unit: quantity.unit.clone().filter(|unit| unit != "1").unwrap_or_default(),
        tolerance,
        values: values.collect(),
        distances: distances.collect(),
    }
}

/// A column of a signal.
fn over_time(samples: &Samples, column: usize) -> plot::Points {
    (0..samples.len()).map(|row| (samples.time(row), samples.row(row)[column])).collect()
}

/// The distance of a column from that of the reference, at common times.
fn distance(reference: &Samples, other: &Samples, column: usize) -> plot::Points {
    let distance = |(a, b): (usize, usize)| (reference.row(a)[column] - other.row(b)[column]).abs();
    let rows = reference.common_rows(other).into_iter();
    rows.map(|(a, b)| (reference.time(a), distance((a, b)))).collect()
}
