//! A drawing as SVG.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::colours::{Colour, Colours};
use super::drawing::{Drawing, Point, Rect};
use super::layered::{LABEL, LINE, NAME, SMALL};
use super::schematic::{Flow, Pin, Role, Schematic, Wire};
use crate::text::{self, xml};

/// White border of the sheet [px].
const BORDER: i32 = 16;
/// Radius of the corners of wires [px].
const CORNER: i32 = 4;
/// Height of the legend [px].
const LEGEND: i32 = 34;
/// Backgrounds of frames by depth.
const FRAME_FILL: [&str; 3] = ["#f7f9fb", "#eef2f6", "#e6ecf2"];
/// Colour of text.
const INK: &str = "#1b2430";
/// Colour of small text.
const FAINT: &str = "#5b6673";

/// Dashes of a wire.
fn dashes(flow: Flow) -> &'static str {
    match flow {
        Flow::Through => "",
        Flow::State => " stroke-dasharray=\"6 4\"",
        Flow::Control => " stroke-dasharray=\"1.5 2.5\"",
    }
}

/// Draws a schematic. Writing into a `String` cannot fail, so its results are dropped.
pub(super) fn render(drawing: &Drawing) -> String {
    let schematic = &drawing.schematic;
    let colours = Colours::of(schematic);
    let legend = legend(schematic, &colours);
    let sheet = drawing.frames[0];
    let title = text::width(&schematic.title, 16, true);
    let width = sheet.width.max(legend.1).max(title) + 2 * BORDER;
    let height = sheet.height + LEGEND + 2 * BORDER;
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"Helvetica, Arial, 'DejaVu Sans', \
         sans-serif\">\n\
         <title>{0}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"{BORDER}\" y=\"{1}\" font-size=\"16\" font-weight=\"bold\" \
         fill=\"{INK}\">{0}</text>",
        xml(&schematic.title),
        BORDER + 14,
    );
    let _ = writeln!(out, "<g transform=\"translate({BORDER} {BORDER})\">");
    frames(&mut out, drawing);
    wires(&mut out, drawing, &colours);
    for n in 0..schematic.symbols.len() {
        symbol(&mut out, drawing, n, &colours);
    }
    labels(&mut out, drawing);
    out.push_str("</g>\n");
    let _ = writeln!(
        out,
        "<g transform=\"translate({BORDER} {})\" font-size=\"{SMALL}\" \
         fill=\"{FAINT}\">\n{}</g>\n</svg>",
        sheet.height + BORDER,
        legend.0,
    );
    out
}

fn frames(out: &mut String, drawing: &Drawing) {
    let schematic = &drawing.schematic;
    for (f, frame) in schematic.frames.iter().enumerate().skip(1) {
        let Rect { x, y, width, height } = drawing.frames[f];
        let fill = FRAME_FILL[(schematic.chain(f).len() - 2).min(FRAME_FILL.len() - 1)];
        let _ = writeln!(
            out,
            "<g class=\"frame\"><title>{}</title>\
             <rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"8\" \
             fill=\"{fill}\" stroke=\"#b4bfcb\"/>\
             <text x=\"{}\" y=\"{}\" font-size=\"{NAME}\" font-weight=\"bold\" \
             fill=\"{FAINT}\">{}</text></g>",
            xml(&frame.path),
            x + 10,
            y + 18,
            xml(&frame.name),
        );
    }
}

/// Wires by source, so that the white around crossing wires never cuts a branch of the same wire.
fn wires(out: &mut String, drawing: &Drawing, colours: &Colours<'_>) {
    let schematic = &drawing.schematic;
    let mut nets: BTreeMap<Pin, Vec<usize>> = BTreeMap::new();
    for (w, wire) in schematic.wires.iter().enumerate() {
        nets.entry(wire.from).or_default().push(w);
    }
    for (from, net) in nets {
        let line = colours.get(&schematic.symbols[from.symbol].sample_time).line;
        let bus = schematic.symbols[from.symbol].outputs[from.pin].bus;
        let junctions = junctions(drawing, &net);
        let mut all = String::new();
        // One path per style: branches that share a track are painted once.
        let mut styles: BTreeMap<(Flow, bool), String> = BTreeMap::new();
        let mut marks = String::new();
        for &w in &net {
            let wire = &schematic.wires[w];
            let way = path(&drawing.wires[w], &junctions);
            all.push_str(&way);
            styles.entry((wire.flow, bus && wire.part.is_empty())).or_default().push_str(&way);
            if let Some(&(x, y)) = drawing.wires[w].last()
                && schematic.symbols[wire.to.symbol].role != Role::Join
            {
                let _ = writeln!(marks, "<path d=\"M{x} {y}l-7 -3.5v7z\" fill=\"{line}\"/>");
            }
            // Nothing to see, but wide enough for a mouse to hover over.
            let _ = writeln!(
                marks,
                "<path d=\"{way}\" fill=\"none\" stroke=\"#ffffff\" stroke-opacity=\"0\" \
                 stroke-width=\"7\"><title>{}</title></path>",
                xml(&describe(schematic, wire)),
            );
        }
        let _ = writeln!(
            out,
            "<g class=\"wire\">\n<path d=\"{all}\" fill=\"none\" stroke=\"#ffffff\" \
             stroke-opacity=\"0.85\" stroke-width=\"5\"/>"
        );
        for ((flow, thick), ways) in styles {
            let dash = dashes(flow);
            let width = if thick { "2.4" } else { "1.3" };
            let _ = writeln!(
                out,
                "<path d=\"{ways}\" fill=\"none\" stroke=\"{line}\" \
                 stroke-width=\"{width}\"{dash}/>"
            );
        }
        for (x, y) in junctions {
            let _ = writeln!(out, "<circle cx=\"{x}\" cy=\"{y}\" r=\"2.6\" fill=\"{line}\"/>");
        }
        out.push_str(&marks);
        out.push_str("</g>\n");
    }
}

/// `body.state.base.position[2] ► pd.z`, and the type of the whole signal.
fn describe(schematic: &Schematic, wire: &Wire) -> String {
    let end = |symbol: usize, pin: &str| {
        let symbol = &schematic.symbols[symbol];
        // A bar has no path.
        let name = if symbol.path.is_empty() { &symbol.note } else { &symbol.path };
        if pin.is_empty() { name.to_owned() } else { format!("{name}.{pin}") }
    };
    let output = &schematic.symbols[wire.from.symbol].outputs[wire.from.pin];
    let input = &schematic.symbols[wire.to.symbol].inputs[wire.to.pin];
    format!(
        "{}{} ► {} ({})",
        end(wire.from.symbol, &output.name),
        wire.part,
        end(wire.to.symbol, input),
        output.ty
    )
}

/// Points where a net branches: three or four of its pieces meet.
fn junctions(drawing: &Drawing, net: &[usize]) -> BTreeSet<Point> {
    let ways = || net.iter().map(|&w| &drawing.wires[w]);
    let corners: BTreeSet<Point> = ways().flatten().copied().collect();
    let meets = |&(x, y): &Point| {
        let mut sides = [false; 4];
        for piece in ways().flat_map(|way| way.windows(2)) {
            let (x0, x1) = (piece[0].0.min(piece[1].0), piece[0].0.max(piece[1].0));
            let (y0, y1) = (piece[0].1.min(piece[1].1), piece[0].1.max(piece[1].1));
            if y0 == y1 && y == y0 {
                sides[0] |= x0 < x && x <= x1;
                sides[1] |= x0 <= x && x < x1;
            } else if x0 == x1 && x == x0 {
                sides[2] |= y0 < y && y <= y1;
                sides[3] |= y0 <= y && y < y1;
            }
        }
        sides.iter().filter(|side| **side).count() > 2
    };
    corners.into_iter().filter(meets).collect()
}

/// The way of a wire with rounded corners, except where it branches.
fn path(way: &[Point], junctions: &BTreeSet<Point>) -> String {
    let mut out = String::new();
    for (i, &(x, y)) in way.iter().enumerate() {
        let (before, after) = (i.checked_sub(1).map(|i| way[i]), way.get(i + 1));
        let _ = match (before, after) {
            (None, _) => write!(out, "M{x} {y}"),
            (Some(a), Some(&b)) if !junctions.contains(&(x, y)) => {
                let ((ax, ay), (bx, by)) = (towards((x, y), a), towards((x, y), b));
                write!(out, "L{ax} {ay}Q{x} {y} {bx} {by}")
            }
            _ => write!(out, "L{x} {y}"),
        };
    }
    out
}

/// The point up to one corner's radius from `from` towards `to`.
fn towards(from: Point, to: Point) -> Point {
    let step = |a: i32, b: i32| (b - a).signum() * CORNER.min((b - a).abs() / 2);
    (from.0 + step(from.0, to.0), from.1 + step(from.1, to.1))
}

fn symbol(out: &mut String, drawing: &Drawing, n: usize, colours: &Colours<'_>) {
    let symbol = &drawing.schematic.symbols[n];
    let Rect { x, y, width, height } = drawing.symbols[n];
    let Colour { line, fill } = colours.get(&symbol.sample_time);
    let _ = write!(out, "<g class=\"block\"><title>{}</title>", xml(&symbol.note));
    if symbol.role == Role::Join {
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{line}\"/></g>"
        );
        return;
    }
    let round = if symbol.role == Role::Condition { 10 } else { 6 };
    let dash = if symbol.role == Role::Hidden { " stroke-dasharray=\"3 2\"" } else { "" };
    let _ = write!(
        out,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{round}\" \
         fill=\"{fill}\" stroke=\"{line}\" stroke-width=\"1.4\"{dash}/>"
    );
    if symbol.role == Role::Folded {
        let _ = write!(
            out,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"4\" fill=\"none\" \
             stroke=\"{line}\" stroke-width=\"0.8\"/>",
            x + 3,
            y + 3,
            width - 6,
            height - 6,
        );
    }
    let middle = x + width / 2;
    let heading = if symbol.role == Role::Condition { y + 14 } else { y + 17 };
    let _ = write!(
        out,
        "<text x=\"{middle}\" y=\"{heading}\" font-size=\"{NAME}\" font-weight=\"bold\" \
         fill=\"{INK}\" text-anchor=\"middle\">{}</text>",
        xml(&symbol.name),
    );
    if symbol.role != Role::Condition {
        let _ = write!(
            out,
            "<text x=\"{middle}\" y=\"{}\" font-size=\"{SMALL}\" font-style=\"italic\" \
             fill=\"{FAINT}\" text-anchor=\"middle\">{}</text>",
            y + 31,
            xml(&symbol.kind),
        );
    }
    for (name, &(x, y)) in symbol.inputs.iter().zip(&drawing.inputs[n]) {
        pin(out, (x + 7, y), "start", name);
    }
    for (output, &(x, y)) in symbol.outputs.iter().zip(&drawing.outputs[n]) {
        pin(out, (x - 7, y), "end", &output.name);
    }
    for (below, line) in symbol.caption.iter().rev().enumerate() {
        pin(out, (x + 10, y + height - LINE / 2 - LINE * below as i32), "start", line);
    }
    out.push_str("</g>\n");
}

fn pin(out: &mut String, (x, y): Point, anchor: &str, name: &str) {
    let _ = write!(
        out,
        "<text x=\"{x}\" y=\"{}\" font-size=\"{SMALL}\" fill=\"{INK}\" \
         text-anchor=\"{anchor}\">{}</text>",
        y + 3,
        xml(name),
    );
}

/// The part that a wire reads, above its end.
fn labels(out: &mut String, drawing: &Drawing) {
    for (label, way) in drawing.labels.iter().zip(&drawing.wires) {
        if let (Some(&(x, y)), false) = (way.last(), label.is_empty()) {
            let _ = writeln!(
                out,
                "<text x=\"{}\" y=\"{}\" font-size=\"{LABEL}\" fill=\"{FAINT}\" \
                 text-anchor=\"end\">{}</text>",
                x - 6,
                y - 4,
                xml(label),
            );
        }
    }
}

/// The legend and its width: the rates that occur, the kinds of wires that occur.
fn legend(schematic: &Schematic, colours: &Colours<'_>) -> (String, i32) {
    let mut out = String::new();
    let mut x = 0;
    for (sample_time, Colour { line, fill }) in colours.iter() {
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"18\" width=\"18\" height=\"12\" rx=\"3\" fill=\"{fill}\" \
             stroke=\"{line}\" \
             stroke-width=\"1.4\"/><text x=\"{}\" y=\"28\">{}</text>",
            x + 23,
            xml(sample_time.label()),
        );
        x += 23 + text::width(sample_time.label(), SMALL, false) + 16;
    }
    let bus = |wire: &Wire| schematic.symbols[wire.from.symbol].outputs[wire.from.pin].bus;
    let any = |flow: Flow| schematic.wires.iter().any(|wire| wire.flow == flow);
    let lines = [
        (any(Flow::Through), "feeds through", dashes(Flow::Through)),
        (any(Flow::State), "into state", dashes(Flow::State)),
        (any(Flow::Control), "switches", dashes(Flow::Control)),
        (schematic.wires.iter().any(bus), "bus or array", " stroke-width=\"2.4\""),
    ];
    for (_, label, style) in lines.into_iter().filter(|line| line.0) {
        let _ = writeln!(
            out,
            "<path d=\"M{x} 24h26\" stroke=\"{FAINT}\"{style}/><text x=\"{}\" \
             y=\"28\">{label}</text>",
            x + 31,
        );
        x += 31 + text::width(label, SMALL, false) + 16;
    }
    (out, x)
}
