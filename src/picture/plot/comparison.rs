//! The runs of a comparison over one another, as a self-contained SVG sheet.
//!
//! One pair of panels a signal, for those that differ most: above, the number that is farthest off,
//! all runs over one another; below, its distance from the reference, logarithmic, with the
//! tolerance.

use std::fmt::Write as _;

use super::axis::{Axis, Scale};
use super::curve::Curve;
use super::ink::{FAINT, INK, begin, colour, frame, legend, line, stroke};
use crate::text::xml;

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
/// What is written under the lower panel of a pair.
const TIME: &str = "t [s]";

/// A line: times [s] and values.
pub type Points = Vec<(f64, f64)>;

/// Runs beside a reference.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The heading.
    pub title: String,
    /// Names of the runs.
    pub runs: Vec<String>,
    /// Index of the run that the others are compared with.
    pub reference: usize,
    /// Last time to show [s].
    pub until: f64,
    /// What is shown, a pair of panels each.
    pub numbers: Vec<Compared>,
}

/// One number of one signal in all runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// Its path.
    pub title: String,
    /// Its unit; empty if it has none.
    pub unit: String,
    /// The largest difference that counts as equal; zero if there is none.
    pub tolerance: f64,
    /// The number over time, by run; none where it was not compared.
    pub values: Vec<Option<Points>>,
    /// Its distance from the reference over time, by run.
    pub distances: Vec<Option<Points>>,
}

impl Comparison {
    /// The comparison as SVG.
    pub fn svg(&self) -> String {
        let each = TITLE + OVERLAY + BETWEEN + DISTANCE + FOOT;
        let named = |(run, name): (usize, &String)| {
            let note = if run == self.reference { " (reference)" } else { "" };
            (format!("{name}{note}"), run_stroke(run, self.reference))
        };
        let entries: Vec<(String, String)> = self.runs.iter().enumerate().map(named).collect();
        let (legend, rows) = legend(&entries, WIDTH);
        let head = HEAD + rows;
        let height = head + each * self.numbers.len().max(1) as f64;
        let mut out = String::new();
        begin(&mut out, WIDTH, height, &self.title);
        out.push_str(&legend);
        let until = if self.until > 0.0 { self.until } else { 1.0 };
        let time = Axis::new(0.0, until, LEFT, WIDTH - RIGHT, Scale::Linear);
        for (i, compared) in self.numbers.iter().enumerate() {
            draw(&mut out, compared, &time, head + each * i as f64, self.reference);
        }
        if self.numbers.is_empty() {
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
}

/// The stroke of a run: the reference lies broad under the others.
fn run_stroke(run: usize, reference: usize) -> String {
    if run == reference {
        return format!("stroke=\"{}\" stroke-opacity=\"0.45\" stroke-width=\"4\"", colour(run));
    }
    stroke(run)
}

fn draw(out: &mut String, compared: &Compared, time: &Axis, top: f64, reference: usize) {
    let _ = writeln!(
        out,
        "<text x=\"{LEFT}\" y=\"{}\" font-size=\"13\" font-weight=\"bold\" \
         fill=\"{INK}\">{}</text>",
        top + 16.0,
        xml(&compared.title),
    );
    let upper = top + TITLE;
    let curves = |lines: &[Option<Points>]| -> Vec<Option<Curve>> {
        lines.iter().map(|line| line.clone().map(Curve::new)).collect()
    };
    let (values, distances) = (curves(&compared.values), curves(&compared.distances));
    let (low, high) = Curve::range(values.iter().flatten()).unwrap_or((0.0, 1.0));
    let value = Axis::around(low, high, upper + OVERLAY, upper);
    let unit =
        if compared.unit.is_empty() { String::new() } else { format!("[{}]", compared.unit) };
    frame(out, time, &value, 6, None, &unit);
    for (run, curve) in values.iter().enumerate() {
        if let Some(curve) = curve {
            line(out, curve, time, &value, &run_stroke(run, reference));
        }
    }
    let lower = upper + OVERLAY + BETWEEN;
    let Some((smallest, largest)) = Curve::positive_range(distances.iter().flatten()) else {
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
    let with_tolerance = if compared.tolerance > 0.0 { compared.tolerance } else { largest };
    let apart = Axis::decades(
        smallest.min(with_tolerance),
        largest.max(with_tolerance),
        lower + DISTANCE,
        lower,
    );
    let unit = if compared.unit.is_empty() {
        "|difference|".to_owned()
    } else {
        format!("|difference| [{}]", compared.unit)
    };
    frame(out, time, &apart, 4, Some(TIME), &unit);
    for (run, curve) in distances.iter().enumerate() {
        if let Some(curve) = curve {
            line(out, curve, time, &apart, &run_stroke(run, reference));
        }
    }
    if compared.tolerance > 0.0 {
        let y = apart.at(compared.tolerance);
        let _ = writeln!(
            out,
            "<path d=\"M{LEFT} {y:.1}H{}\" stroke=\"#b00020\" stroke-dasharray=\"4 3\"/>\
             <text x=\"{}\" y=\"{:.1}\" font-size=\"10\" text-anchor=\"end\" \
             fill=\"#b00020\">tolerance</text>",
            WIDTH - RIGHT,
            WIDTH - RIGHT - 4.0,
            y - 3.0,
        );
    }
}
