//! The picture as SVG.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::layered::{LABEL, Layout, NAME, Rect, SMALL, lay_out, pin_height};
use super::model::{Colour, Model, Pace, Pin, Role, Wire};
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

type Paces<'a> = BTreeMap<&'a Pace, Colour>;

/// Draws a model. Writing into a `String` cannot fail, so its results are dropped.
pub(super) fn render(model: &Model) -> String {
    let layout = lay_out(model);
    let paces = model.paces();
    let legend = legend(model, &paces);
    let sheet = layout.frames[0];
    let title = text::width(&model.title, 16, true);
    let width = sheet.width.max(legend.1).max(title) + 2 * BORDER;
    let height = sheet.height + LEGEND + 2 * BORDER;
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n\
         <title>{0}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"{BORDER}\" y=\"{1}\" font-size=\"16\" font-weight=\"bold\" fill=\"{INK}\">{0}</text>",
        xml(&model.title),
        BORDER + 14,
    );
    let _ = writeln!(out, "<g transform=\"translate({BORDER} {BORDER})\">");
    frames(&mut out, model, &layout);
    wires(&mut out, model, &layout, &paces);
    for (n, &rect) in layout.nodes.iter().enumerate() {
        node(&mut out, model, n, rect, &paces);
    }
    labels(&mut out, &layout);
    out.push_str("</g>\n");
    let _ = writeln!(
        out,
        "<g transform=\"translate({BORDER} {})\" font-size=\"{SMALL}\" fill=\"{FAINT}\">\n{}</g>\n</svg>",
        sheet.height + BORDER,
        legend.0,
    );
    out
}

fn frames(out: &mut String, model: &Model, layout: &Layout) {
    for (f, frame) in model.frames.iter().enumerate().skip(1) {
        let Rect { x, y, width, height } = layout.frames[f];
        let fill = FRAME_FILL[(model.chain(f).len() - 2).min(FRAME_FILL.len() - 1)];
        let _ = writeln!(
            out,
            "<g class=\"frame\"><title>{}</title>\
             <rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"8\" \
             fill=\"{fill}\" stroke=\"#b4bfcb\"/>\
             <text x=\"{}\" y=\"{}\" font-size=\"{NAME}\" font-weight=\"bold\" fill=\"{FAINT}\">{}</text></g>",
            xml(&frame.path),
            x + 10,
            y + 18,
            xml(&frame.name),
        );
    }
}

/// The colour of a block: that of its rate. Constants feed bars too, which no legend lists.
fn colour(model: &Model, n: usize, paces: &Paces<'_>) -> Colour {
    paces.get(&model.nodes[n].pace).copied().unwrap_or(Colour { line: FAINT, fill: "#ffffff" })
}

/// Wires by source, so that the white around crossing wires never cuts a branch of the same wire.
fn wires(out: &mut String, model: &Model, layout: &Layout, paces: &Paces<'_>) {
    let mut nets: BTreeMap<Pin, Vec<usize>> = BTreeMap::new();
    for (w, wire) in model.wires.iter().enumerate() {
        nets.entry(wire.from).or_default().push(w);
    }
    for (from, net) in nets {
        let line = colour(model, from.node, paces).line;
        let bus = model.nodes[from.node].outputs[from.pin].bus;
        let junctions = junctions(layout, &net);
        let mut all = String::new();
        // One path per style: branches that share a track are painted once.
        let mut styles: BTreeMap<(bool, bool), String> = BTreeMap::new();
        let mut marks = String::new();
        for &w in &net {
            let wire = &model.wires[w];
            let way = path(&layout.wires[w], &junctions);
            all.push_str(&way);
            styles.entry((wire.feeds, bus && wire.part.is_empty())).or_default().push_str(&way);
            if let Some(&(x, y)) = layout.wires[w].last()
                && model.nodes[wire.to.node].role != Role::Join
            {
                let _ = writeln!(marks, "<path d=\"M{x} {y}l-7 -3.5v7z\" fill=\"{line}\"/>");
            }
            // Nothing to see, but wide enough for a mouse to hover over.
            let _ = writeln!(
                marks,
                "<path d=\"{way}\" fill=\"none\" stroke=\"#ffffff\" stroke-opacity=\"0\" \
                 stroke-width=\"7\"><title>{}</title></path>",
                xml(&describe(model, wire)),
            );
        }
        let _ = writeln!(
            out,
            "<g class=\"wire\">\n<path d=\"{all}\" fill=\"none\" stroke=\"#ffffff\" \
             stroke-opacity=\"0.85\" stroke-width=\"5\"/>"
        );
        for ((feeds, thick), ways) in styles {
            let dash = if feeds { "" } else { " stroke-dasharray=\"6 4\"" };
            let width = if thick { "2.4" } else { "1.3" };
            let _ = writeln!(
                out,
                "<path d=\"{ways}\" fill=\"none\" stroke=\"{line}\" stroke-width=\"{width}\"{dash}/>"
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
fn describe(model: &Model, wire: &Wire) -> String {
    let end = |node: usize, pin: &str| {
        let node = &model.nodes[node];
        let name = node.note.split(": ").next().unwrap_or(&node.name);
        if pin.is_empty() { name.to_owned() } else { format!("{name}.{pin}") }
    };
    let output = &model.nodes[wire.from.node].outputs[wire.from.pin];
    let input = &model.nodes[wire.to.node].inputs[wire.to.pin];
    format!(
        "{}{} ► {} ({})",
        end(wire.from.node, &output.name),
        wire.part,
        end(wire.to.node, input),
        output.ty
    )
}

/// Points where a net branches: three or four of its pieces meet.
fn junctions(layout: &Layout, net: &[usize]) -> BTreeSet<(i32, i32)> {
    let ways = || net.iter().map(|&w| &layout.wires[w]);
    let corners: BTreeSet<(i32, i32)> = ways().flatten().copied().collect();
    let meets = |&(x, y): &(i32, i32)| {
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
fn path(way: &[(i32, i32)], junctions: &BTreeSet<(i32, i32)>) -> String {
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
fn towards(from: (i32, i32), to: (i32, i32)) -> (i32, i32) {
    let step = |a: i32, b: i32| (b - a).signum() * CORNER.min((b - a).abs() / 2);
    (from.0 + step(from.0, to.0), from.1 + step(from.1, to.1))
}

fn node(out: &mut String, model: &Model, n: usize, rect: Rect, paces: &Paces<'_>) {
    let node = &model.nodes[n];
    let Rect { x, y, width, height } = rect;
    let Colour { line, fill } = colour(model, n, paces);
    let _ = write!(out, "<g class=\"block\"><title>{}</title>", xml(&node.note));
    if node.role == Role::Join {
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{line}\"/></g>"
        );
        return;
    }
    let dash = if node.role == Role::Hidden { " stroke-dasharray=\"3 2\"" } else { "" };
    let _ = write!(
        out,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"6\" fill=\"{fill}\" \
         stroke=\"{line}\" stroke-width=\"1.4\"{dash}/>"
    );
    if node.role == Role::Folded {
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
    let _ = write!(
        out,
        "<text x=\"{middle}\" y=\"{}\" font-size=\"{NAME}\" font-weight=\"bold\" fill=\"{INK}\" \
         text-anchor=\"middle\">{}</text>\
         <text x=\"{middle}\" y=\"{}\" font-size=\"{SMALL}\" font-style=\"italic\" fill=\"{FAINT}\" \
         text-anchor=\"middle\">{}</text>",
        y + 17,
        xml(&node.name),
        y + 31,
        xml(&node.kind),
    );
    for (p, name) in node.inputs.iter().enumerate() {
        pin(out, x + 7, y + pin_height(node.role, p, 0, true), "start", name);
    }
    for (p, output) in node.outputs.iter().enumerate() {
        pin(out, x + width - 7, y + pin_height(node.role, p, 0, false), "end", &output.name);
    }
    out.push_str("</g>\n");
}

fn pin(out: &mut String, x: i32, y: i32, anchor: &str, name: &str) {
    let _ = write!(
        out,
        "<text x=\"{x}\" y=\"{}\" font-size=\"{SMALL}\" fill=\"{INK}\" text-anchor=\"{anchor}\">{}</text>",
        y + 3,
        xml(name),
    );
}

/// The part that a wire reads, above its end.
fn labels(out: &mut String, layout: &Layout) {
    for (label, way) in layout.labels.iter().zip(&layout.wires) {
        if let (Some(&(x, y)), false) = (way.last(), label.is_empty()) {
            let _ = writeln!(
                out,
                "<text x=\"{}\" y=\"{}\" font-size=\"{LABEL}\" fill=\"{FAINT}\" text-anchor=\"end\">{}</text>",
                x - 6,
                y - 4,
                xml(label),
            );
        }
    }
}

/// The legend and its width: the rates that occur, the kinds of wires that occur.
fn legend(model: &Model, paces: &Paces<'_>) -> (String, i32) {
    let mut out = String::new();
    let mut x = 0;
    for (pace, Colour { line, fill }) in paces {
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"18\" width=\"18\" height=\"12\" rx=\"3\" fill=\"{fill}\" stroke=\"{line}\" \
             stroke-width=\"1.4\"/><text x=\"{}\" y=\"28\">{}</text>",
            x + 23,
            xml(pace.label()),
        );
        x += 23 + text::width(pace.label(), SMALL, false) + 16;
    }
    let bus = |wire: &Wire| model.nodes[wire.from.node].outputs[wire.from.pin].bus;
    let lines = [
        (model.wires.iter().any(|w| w.feeds), "feeds through", ""),
        (model.wires.iter().any(|w| !w.feeds), "into state", " stroke-dasharray=\"6 4\""),
        (model.wires.iter().any(bus), "bus or array", " stroke-width=\"2.4\""),
    ];
    for (_, label, style) in lines.into_iter().filter(|line| line.0) {
        let _ = writeln!(
            out,
            "<path d=\"M{x} 24h26\" stroke=\"{FAINT}\"{style}/><text x=\"{}\" y=\"28\">{label}</text>",
            x + 31,
        );
        x += 31 + text::width(label, SMALL, false) + 16;
    }
    (out, x)
}
