//! The runs of a comparison over one another, as a self-contained SVG sheet.
//!
//! One pair of panels a signal, for those that differ most: above, the number that is farthest off,
//! all runs over one another; below, its distance from the reference, logarithmic, with the
//! tolerance.

mod axis;
mod curve;

use std::fmt::Write as _;

use legwork_runtime::comparison::Samples;

use super::super::graph::text::{width, xml};
use super::Outcome;
use super::table::severity;
use axis::{Axis, Scale};
use curve::Curve;

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
const LEGEND_ROW: f64 = 20.0;
const TITLE: f64 = 26.0;
const FOOT: f64 = 46.0;
const INK: &str = "#1b2430";
const FAINT: &str = "#5b6673";
const GRID: &str = "#e3e8ee";
/// Colours that colour-blind readers tell apart (M. Okabe, K. Ito, *Color universal design*, 2008).
const COLOURS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];

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
    let (legend, rows) = legend(outcome);
    let head = HEAD + LEGEND_ROW * rows as f64;
    let height = head + each * panels.len().max(1) as f64;
    let program = &outcome.runs[outcome.reference].run.execution.program;
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" \
         font-size=\"12\">\n<title>{0}</title>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"20\" y=\"30\" font-size=\"17\" font-weight=\"bold\" fill=\"{INK}\">{0}</text>",
        xml(&format!("{}: {} runs compared", program.name, outcome.runs.len())),
    );
    out.push_str(&legend);
    let stop = outcome.runs.iter().map(|one| one.run.execution.sim_time).fold(0.0f64, f64::max);
    let time =
        Axis::new(0.0, if stop > 0.0 { stop } else { 1.0 }, LEFT, WIDTH - RIGHT, Scale::Linear);
    for (i, panel) in panels.iter().enumerate() {
        draw(&mut out, panel, &time, head + each * i as f64, outcome.reference);
    }
    if panels.is_empty() {
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
    let curves = rows.iter().map(|samples| samples.as_ref().map(|s| Curve::of(s, column)));
    let distances = rows.iter().enumerate().map(|(run, samples)| {
        let (reference, samples) = (reference.as_ref()?, samples.as_ref()?);
        (run != outcome.reference).then(|| Curve::distance(reference, samples, column))
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

/// Colour, dashes and width of a run's line: the reference lies broad under the others.
fn stroke(run: usize, reference: usize) -> String {
    let colour = COLOURS[run % COLOURS.len()];
    let dash = ["", "7 4", "2 3", "9 3 2 3"][run % 4];
    if run == reference {
        return format!("stroke=\"{colour}\" stroke-opacity=\"0.45\" stroke-width=\"4\"");
    }
    let dash =
        if dash.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dash}\"") };
    format!("stroke=\"{colour}\" stroke-width=\"1.6\"{dash}")
}

/// The legend and the number of its rows.
fn legend(outcome: &Outcome<'_>) -> (String, usize) {
    let mut out = String::new();
    let (mut x, mut rows) = (20.0, 1);
    for (run, one) in outcome.runs.iter().enumerate() {
        let is_reference = run == outcome.reference;
        let note = if is_reference { " (reference)" } else { "" };
        let label = format!("{}{note}", one.name());
        let wide = 36.0 + f64::from(width(&label, 12, false)) + 22.0;
        if x + wide > WIDTH && x > 20.0 {
            (x, rows) = (20.0, rows + 1);
        }
        let y = 32.0 + LEGEND_ROW * rows as f64;
        let _ = writeln!(
            out,
            "<path d=\"M{x} {y}h30\" fill=\"none\" {}/><text x=\"{}\" y=\"{}\" fill=\"{INK}\">{}</text>",
            stroke(run, outcome.reference),
            x + 36.0,
            y + 4.0,
            xml(&label),
        );
        x += wide;
    }
    (out, rows)
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
    frame(out, time, &value, &panel.unit, false);
    for (run, curve) in panel.curves.iter().enumerate() {
        if let Some(curve) = curve {
            line(out, &curve.path(time, &value), &stroke(run, reference));
        }
    }
    let lower = upper + OVERLAY + BETWEEN;
    let distances: Vec<&Curve> = panel.distances.iter().flatten().collect();
    let Some((smallest, largest)) = Curve::positive_range(distances.iter().copied()) else {
        let nothing = Axis::new(0.0, 1.0, lower + DISTANCE, lower, Scale::Linear);
        frame(out, time, &nothing, "", true);
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
    frame(out, time, &apart, &unit, true);
    for (run, curve) in panel.distances.iter().enumerate() {
        if let Some(curve) = curve {
            line(out, &curve.path(time, &apart), &stroke(run, reference));
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

fn line(out: &mut String, path: &str, stroke: &str) {
    if !path.is_empty() {
        let _ =
            writeln!(out, "<path d=\"{path}\" fill=\"none\" stroke-linejoin=\"round\" {stroke}/>");
    }
}

/// Grid, ticks and labels. Times stand under the lower panel of a pair.
fn frame(out: &mut String, time: &Axis, value: &Axis, unit: &str, is_lower: bool) {
    let (bottom, top) = (value.start(), value.end());
    for (at, label) in time.ticks(8) {
        let x = time.at(at);
        let _ = writeln!(out, "<path d=\"M{x:.1} {bottom:.1}V{top:.1}\" stroke=\"{GRID}\"/>");
        if is_lower {
            let _ = writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{:.1}\" font-size=\"11\" text-anchor=\"middle\" \
                 fill=\"{FAINT}\">{label}</text>",
                bottom + 15.0
            );
        }
    }
    for (at, label) in value.ticks(if is_lower { 4 } else { 6 }) {
        let y = value.at(at);
        let _ = writeln!(
            out,
            "<path d=\"M{LEFT} {y:.1}H{}\" stroke=\"{GRID}\"/><text x=\"{}\" y=\"{:.1}\" \
             font-size=\"11\" text-anchor=\"end\" fill=\"{FAINT}\">{label}</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            y + 4.0,
        );
    }
    let _ = writeln!(
        out,
        "<path d=\"M{LEFT} {top:.1}V{bottom:.1}H{}\" fill=\"none\" stroke=\"{FAINT}\"/>",
        WIDTH - RIGHT
    );
    let unit = if unit.is_empty() || is_lower { unit.to_owned() } else { format!("[{unit}]") };
    let (x, y) = (16.0, (bottom + top) / 2.0);
    let _ = writeln!(
        out,
        "<text transform=\"translate({x} {y:.1}) rotate(-90)\" font-size=\"11\" text-anchor=\"middle\" \
         fill=\"{FAINT}\">{}</text>",
        xml(&unit)
    );
    if is_lower {
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{:.1}\" font-size=\"11\" text-anchor=\"middle\" fill=\"{FAINT}\">t [s]</text>",
            (LEFT + WIDTH - RIGHT) / 2.0,
            bottom + 29.0
        );
    }
}
