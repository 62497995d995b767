//! The runs of a comparison over one another, as a self-contained SVG sheet.
//!
//! One pair of panels a signal, for those that differ most: above, the number that is farthest off,
//! all runs over one another; below, its distance from the reference, logarithmic, with the
//! tolerance.

use std::fmt::Write as _;

use legwork_runtime::comparison::Samples;

use super::super::graph::text::xml;
use super::super::plot::{
    Axis, Curve, FAINT, INK, Scale, begin, colour, frame, legend, line, stroke,
};
use super::Outcome;
use super::table::severity;

/// Most signals on a sheet.
const MOST_SIGNALS: usize = 4;
/// Width of the sheet [px].
const WIDTH: f64 = 960.0;
/// Left and right of a panel [px].
const LEFT: f64 = 96.0;
const RIGHT: f64 = 24.0;
/// Heights of panels, and what lies between them [px].
const OVERLAY: f64 = 180.0;
const DISTANCE: f64 = 90.0;
const BETWEEN: f64 = 14.0;
const HEAD: f64 = 60.0;
const TITLE: f64 = 26.0;
const FOOT: f64 = 46.0;
/// What stands under the lower panel of a pair.
const TIME: &str = "t [s]";

/// One number of one signal in all runs.
struct Panel {
    title: String,
    unit: String,
    tolerance: f64,
    /// By run; none where it was not compared.
    curves: Vec<Option<Curve>>,
    /// By run, the distance from the reference.
    distances: Vec<Option<Curve>>,
}

/// The sheet.
pub(super) fn svg(outcome: &Outcome<'_>) -> String {
    let panels: Vec<Panel> = chosen(outcome).into_iter().map(|q| panel(outcome, q)).collect();
    let each = TITLE + OVERLAY + BETWEEN + DISTANCE + FOOT;
    let named = |(run, one): (usize, &super::One)| {
        let note = if run == outcome.reference { " (reference)" } else { "" };
        (format!("{}{note}", one.name()), run_stroke(run, outcome.reference))
    };
    let entries: Vec<(String, String)> = outcome.runs.iter().enumerate().map(named).collect();
    let (legend, rows) = legend(&entries, WIDTH);
    let head = HEAD + rows;
    let height = head + each * panels.len().max(1) as f64;
    let program = &outcome.runs[outcome.reference].run.execution.program;
    let mut out = String::new();
    let title = format!("{}: {} runs compared", program.name, outcome.runs.len());
    begin(&mut out, WIDTH, height, &title);
    out.push_str(&legend);
    let stop = outcome.runs.iter().map(|one| one.run.execution.sim_time).fold(0.0f64, f64::max);
    let time =
        Axis::new(0.0, if stop > 0.0 { stop } else { 1.0 }, LEFT, WIDTH - RIGHT, Scale::Linear);
    for (i, panel) in panels.iter().enumerate() {
        draw(&mut out, panel, &time, head + each * i as f64, outcome.reference);
    }
    if panels.is_empty() {
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "<text x=\"20\" y=\"{}\" fill=\"{FAINT}\">no signals to compare</text>",
            head + 20.0
        );
    }
    out.push_str("</svg>\n");
    out
}

/// The quantities that differ most, each with the number to show: those that are most tolerances
/// off in some run, in the order of the log where they are equal.
fn chosen(outcome: &Outcome<'_>) -> Vec<(usize, usize)> {
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

fn panel(outcome: &Outcome<'_>, (index, element): (usize, usize)) -> Panel {
    let compared = &outcome.compared[index];
    let quantity = &compared.quantity;
    let column = quantity.start + element;
    let samples = |run: usize| {
        let series = outcome.runs[run].run.recording.series(&compared.topic).ok();
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
    let curves = rows.iter().map(|samples| samples.as_ref().map(|s| over_time(s, column)));
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
    Panel {
        title: quantity.elements[element].clone(),
        unit: quantity.unit.clone().filter(|unit| unit != "1").unwrap_or_default(),
        tolerance,
        curves: curves.collect(),
        distances: distances.collect(),
    }
}

/// A column of a signal.
fn over_time(samples: &Samples, column: usize) -> Curve {
    let points = (0..samples.len()).map(|row| (samples.time(row), samples.row(row)[column]));
    Curve::new(points.collect())
}

/// The distance of a column from that of the reference, at common times.
fn distance(reference: &Samples, other: &Samples, column: usize) -> Curve {
    let points = reference
        .common_rows(other)
        .into_iter()
        .map(|(a, b)| (reference.time(a), (reference.row(a)[column] - other.row(b)[column]).abs()));
    Curve::new(points.collect())
}

/// The stroke of a run: the reference lies broad under the others.
fn run_stroke(run: usize, reference: usize) -> String {
    if run == reference {
        return format!("stroke=\"{}\" stroke-opacity=\"0.45\" stroke-width=\"4\"", colour(run));
    }
    stroke(run)
}

fn draw(out: &mut String, panel: &Panel, time: &Axis, top: f64, reference: usize) {
    let _ = writeln!(
        out,
        "<text x=\"{LEFT}\" y=\"{}\" font-size=\"13\" font-weight=\"bold\" fill=\"{INK}\">{}</text>",
        top + 16.0,
        xml(&panel.title),
    );
    let upper = top + TITLE;
    let (low, high) = Curve::range(panel.curves.iter().flatten()).unwrap_or((0.0, 1.0));
    let value = Axis::around(low, high, upper + OVERLAY, upper);
    let unit = if panel.unit.is_empty() { String::new() } else { format!("[{}]", panel.unit) };
    frame(out, time, &value, 6, None, &unit);
    for (run, curve) in panel.curves.iter().enumerate() {
        if let Some(curve) = curve {
            line(out, curve, time, &value, &run_stroke(run, reference));
        }
    }
    let lower = upper + OVERLAY + BETWEEN;
    let distances: Vec<&Curve> = panel.distances.iter().flatten().collect();
    let Some((smallest, largest)) = Curve::positive_range(distances.iter().copied()) else {
        let nothing = Axis::new(0.0, 1.0, lower + DISTANCE, lower, Scale::Linear);
        frame(out, time, &nothing, 4, Some(TIME), "");
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" fill=\"{FAINT}\">no difference</text>",
            LEFT + 12.0,
            lower + DISTANCE / 2.0
        );
        return;
    };
    let with_tolerance = if panel.tolerance > 0.0 { panel.tolerance } else { largest };
    let apart = Axis::decades(
        smallest.min(with_tolerance),
        largest.max(with_tolerance),
        lower + DISTANCE,
        lower,
    );
    let unit = if panel.unit.is_empty() {
        "|difference|".to_owned()
    } else {
        format!("|difference| [{}]", panel.unit)
    };
    frame(out, time, &apart, 4, Some(TIME), &unit);
    for (run, curve) in panel.distances.iter().enumerate() {
        if let Some(curve) = curve {
            line(out, curve, time, &apart, &run_stroke(run, reference));
        }
    }
    if panel.tolerance > 0.0 {
        let y = apart.at(panel.tolerance);
        let _ = writeln!(
            out,
            "<path d=\"M{LEFT} {y:.1}H{}\" stroke=\"#b00020\" stroke-dasharray=\"4 3\"/>\
             <text x=\"{}\" y=\"{:.1}\" font-size=\"10\" text-anchor=\"end\" fill=\"#b00020\">tolerance</text>",
            WIDTH - RIGHT,
            WIDTH - RIGHT - 4.0,
            y - 3.0,
        );
    }
}
