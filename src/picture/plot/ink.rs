//! What all plots are drawn with: the sheet, strokes, legends, grids with ticks.

use std::fmt::Write as _;

use super::axis::Axis;
use super::curve::Curve;
use crate::text::{width, xml};

pub(super) const INK: &str = "#1b2430";
pub(super) const FAINT: &str = "#5b6673";
const GRID: &str = "#e3e8ee";
/// Colours that colour-blind readers tell apart (M. Okabe, K. Ito, *Color universal design*, 2008).
const COLOURS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];
const LEGEND_ROW: f64 = 20.0;
/// From the top of a sheet to the middle of the first row of its legend [px].
const LEGEND_TOP: f64 = 52.0;

/// Begins a sheet of this size [px] with its title.
pub(super) fn begin(out: &mut String, wide: f64, high: f64, title: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" \
         viewBox=\"0 0 {wide} {high}\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" \
         font-size=\"12\">\n<title>{0}</title>\n\
         <rect width=\"{wide}\" height=\"{high}\" fill=\"#ffffff\"/>\n\
         <text x=\"20\" y=\"30\" font-size=\"17\" font-weight=\"bold\" fill=\"{INK}\">{0}</text>",
        xml(title),
    );
}

/// Colour of a curve.
pub(super) fn colour(curve: usize) -> &'static str {
    COLOURS[curve % COLOURS.len()]
}

/// Colour, dashes and width of a curve: the dashes tell curves of one colour apart.
pub(super) fn stroke(curve: usize) -> String {
    stroke_of(curve, curve)
}

/// A stroke of this colour and these dashes.
pub(super) fn stroke_of(curve: usize, dash: usize) -> String {
    let dash = match dash % 4 {
        0 => "",
        1 => " stroke-dasharray=\"7 4\"",
        2 => " stroke-dasharray=\"2 3\"",
        _ => " stroke-dasharray=\"9 3 2 3\"",
    };
    format!("stroke=\"{}\" stroke-width=\"1.6\"{dash}", colour(curve))
}

/// Smallest and largest of the values that an axis can show.
pub(super) fn range_of(values: impl Iterator<Item = f64>, is_log: bool) -> Option<(f64, f64)> {
    let is_shown = |value: &f64| value.is_finite() && (!is_log || *value > 0.0);
    values.filter(is_shown).fold(None, |range: Option<(f64, f64)>, value| {
        Some(range.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
    })
}

/// The legend of curves, each with its stroke, on a sheet `wide` px wide; and the height that it
/// takes [px].
pub(super) fn legend(curves: &[(String, String)], wide: f64) -> (String, f64) {
    let mut out = String::new();
    let (mut x, mut rows) = (20.0, 1);
    for (label, stroke) in curves {
        let needed = 36.0 + f64::from(width(label, 12, false)) + 22.0;
        if x + needed > wide && x > 20.0 {
            (x, rows) = (20.0, rows + 1);
        }
        let y = LEGEND_TOP + LEGEND_ROW * f64::from(rows - 1);
        let _ = writeln!(
            out,
            "<path d=\"M{x} {y}h30\" fill=\"none\" {stroke}/><text x=\"{}\" y=\"{}\" \
             fill=\"{INK}\">{}</text>",
            x + 36.0,
            y + 4.0,
            xml(label),
        );
        x += needed;
    }
    (out, LEGEND_ROW * f64::from(rows))
}

/// A curve as a line.
pub(super) fn line(out: &mut String, curve: &Curve, x: &Axis, y: &Axis, stroke: &str) {
    let path = curve.path(x, y);
    if !path.is_empty() {
        let _ =
            writeln!(out, "<path d=\"{path}\" fill=\"none\" stroke-linejoin=\"round\" {stroke}/>");
    }
}

/// Grid, ticks and labels of a panel: about `ticks` of them on its left. Without a label below, the
/// ticks of `x` have no numbers: those are under another panel.
pub(super) fn frame(
    out: &mut String,
    x: &Axis,
    y: &Axis,
    ticks: usize,
    below: Option<&str>,
    left: &str,
) {
    let (bottom, top) = (y.start(), y.end());
    let (across, up) = (x.ticks(8), y.ticks(ticks));
    for (at, label) in across.marks {
        let at = x.at(at);
        let _ = writeln!(out, "<path d=\"M{at:.1} {bottom:.1}V{top:.1}\" stroke=\"{GRID}\"/>");
        if below.is_some() {
            let _ = writeln!(
                out,
                "<text x=\"{at:.1}\" y=\"{:.1}\" font-size=\"11\" text-anchor=\"middle\" \
                 fill=\"{FAINT}\">{label}</text>",
                bottom + 15.0
            );
        }
    }
    for (at, label) in up.marks {
        let at = y.at(at);
        let _ = writeln!(
            out,
            "<path d=\"M{} {at:.1}H{}\" stroke=\"{GRID}\"/><text x=\"{}\" y=\"{:.1}\" \
             font-size=\"11\" text-anchor=\"end\" fill=\"{FAINT}\">{label}</text>",
            x.start(),
            x.end(),
            x.start() - 6.0,
            at + 4.0,
        );
    }
    let _ = writeln!(
        out,
        "<path d=\"M{} {top:.1}V{bottom:.1}H{}\" fill=\"none\" stroke=\"{FAINT}\"/>",
        x.start(),
        x.end(),
    );
    let _ = writeln!(
        out,
        "<text transform=\"translate(16 {:.1}) rotate(-90)\" font-size=\"11\" \
         text-anchor=\"middle\" \
         fill=\"{FAINT}\">{}</text>",
        (bottom + top) / 2.0,
        xml(left)
    );
    if let Some(offset) = up.offset {
        note(out, (x.start() + 6.0, top + 13.0), "start", &offset);
    }
    if let (Some(offset), Some(_)) = (across.offset, below) {
        note(out, (x.end(), bottom + 29.0), "end", &offset);
    }
    if let Some(below) = below {
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{:.1}\" font-size=\"11\" text-anchor=\"middle\" \
             fill=\"{FAINT}\">{}</text>",
            (x.start() + x.end()) / 2.0,
            bottom + 29.0,
            xml(below)
        );
    }
}

/// Small text that stays readable on top of a curve.
fn note(out: &mut String, (x, y): (f64, f64), anchor: &str, text: &str) {
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"11\" text-anchor=\"{anchor}\" \
         fill=\"{FAINT}\" stroke=\"#ffffff\" stroke-width=\"3\" paint-order=\"stroke\">{}</text>",
        xml(text)
    );
}
