//! Laws of pictures.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::collections::BTreeMap;

use super::layered::{Layout, Rect, lay_out};
use super::model::{Model, Pin};
use super::{collapse, dot, mermaid, samples, svg};

fn models() -> Vec<Model> {
    let mut models = vec![samples::oscillator(), samples::standing(), Model::new("empty")];
    models.extend((1..=25).map(|seed| samples::random(8 + 2 * seed as usize, seed * 0x9e37_79b9)));
    let folded: Vec<Model> = models.iter().map(|model| collapse::collapse(model, 1)).collect();
    models.extend(folded);
    models
}

fn apart(a: Rect, b: Rect) -> bool {
    a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y
}

fn within(a: Rect, b: Rect) -> bool {
    a.x > b.x && a.y > b.y && a.x + a.width < b.x + b.width && a.y + a.height < b.y + b.height
}

#[test]
fn boxes_keep_apart_and_lie_in_their_frames() {
    for model in models() {
        let layout = lay_out(&model);
        let frame_of = |f: usize| model.frames[f].parent;
        let boxes: Vec<(usize, Rect)> = (0..model.nodes.len())
            .map(|n| (model.nodes[n].frame, layout.nodes[n]))
            .chain((1..model.frames.len()).map(|f| (frame_of(f).unwrap(), layout.frames[f])))
            .collect();
        for (i, &(parent, rect)) in boxes.iter().enumerate() {
            assert!(within(rect, layout.frames[parent]), "{}: {rect:?}", model.title);
            for &(other, other_rect) in &boxes[..i] {
                assert!(other != parent || apart(rect, other_rect), "{}", model.title);
            }
        }
    }
}

#[test]
fn wires_are_orthogonal_end_at_their_pins_and_cross_no_box() {
    for model in models() {
        let layout = lay_out(&model);
        for (wire, way) in model.wires.iter().zip(&layout.wires) {
            let (from, to) = (layout.nodes[wire.from.node], layout.nodes[wire.to.node]);
            assert_eq!(way[0].0, from.x + from.width);
            assert_eq!(way.last().unwrap().0, to.x);
            for piece in way.windows(2) {
                let ((x0, y0), (x1, y1)) = (piece[0], piece[1]);
                assert!((x0 == x1) != (y0 == y1), "{}: {way:?}", model.title);
                let line = Rect {
                    x: x0.min(x1),
                    y: y0.min(y1),
                    width: (x1 - x0).abs(),
                    height: (y1 - y0).abs(),
                };
                for node in &layout.nodes {
                    assert!(apart(line, *node), "{}: {way:?} {node:?}", model.title);
                }
            }
        }
    }
}

/// Pieces of wires as (horizontal, place across, from, to).
fn pieces(layout: &Layout, wire: usize) -> impl Iterator<Item = (bool, i32, i32, i32)> {
    layout.wires[wire].windows(2).map(|piece| {
        let ((x0, y0), (x1, y1)) = (piece[0], piece[1]);
        if y0 == y1 {
            (true, y0, x0.min(x1), x0.max(x1))
        } else {
            (false, x0, y0.min(y1), y0.max(y1))
        }
    })
}

#[test]
fn wires_of_different_signals_never_run_on_top_of_each_other() {
    for model in models() {
        let layout = lay_out(&model);
        for a in 0..model.wires.len() {
            for b in 0..a {
                if model.wires[a].from == model.wires[b].from {
                    continue;
                }
                for (flat, at, low, high) in pieces(&layout, a) {
                    for (b_flat, b_at, b_low, b_high) in pieces(&layout, b) {
                        let on_top = flat == b_flat && at == b_at && low < b_high && b_low < high;
                        assert!(
                            !on_top,
                            "{}: {a} {b} {:?} {:?}",
                            model.title, layout.wires[a], layout.wires[b]
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn feedback_runs_back_and_everything_else_forward() {
    for model in [samples::oscillator(), samples::standing()] {
        let layout = lay_out(&model);
        for (wire, way) in model.wires.iter().zip(&layout.wires) {
            let back = way[0].0 > way.last().unwrap().0;
            assert!(!(back && wire.feeds), "{}: {way:?}", model.title);
        }
    }
}

#[test]
fn one_wire_leaves_the_copies_of_a_for_each() {
    let model = samples::standing();
    let mut drivers: BTreeMap<Pin, usize> = BTreeMap::new();
    for wire in &model.wires {
        *drivers.entry(wire.to).or_default() += 1;
    }
    assert!(drivers.values().all(|&n| n == 1));
    let join =
        model.nodes.iter().position(|node| node.inputs.iter().any(String::is_empty)).unwrap();
    assert_eq!(model.frames[model.nodes[join].frame].path, "foot");
    assert_eq!(model.wires.iter().filter(|wire| wire.from.node == join).count(), 2);
}

#[test]
fn folding_keeps_every_signal_that_crosses_a_border() {
    let model = samples::standing();
    let folded = collapse::collapse(&model, 0);
    assert_eq!(folded.frames.len(), 1);
    let foot = folded.nodes.iter().find(|node| node.name == "foot").unwrap();
    assert_eq!((foot.inputs.len(), foot.outputs.len(), foot.kind.as_str()), (1, 2, "5 blocks"));
    let contact = folded.nodes.iter().find(|node| node.name == "contact").unwrap();
    assert_eq!(contact.inputs.len(), 3);
    assert_eq!(collapse::collapse(&model, 9).wires.len(), model.wires.len());
}

#[test]
fn pictures_are_the_same_every_time_and_names_are_escaped() {
    let draw = || {
        let model = samples::random(40, 7);
        [svg::render(&model), dot::render(&model), mermaid::render(&model)]
    };
    let [svg, dot, mermaid] = draw();
    assert_eq!(draw(), [svg.clone(), dot.clone(), mermaid.clone()]);
    assert!(svg.contains("&quot;odd&quot; &amp; &lt;name&gt;") && !svg.contains("<name>"));
    assert!(dot.contains("\\\"odd\\\" & <name>"));
    assert!(mermaid.contains("#34;odd#34; #38; #60;name#62;"));
    assert_eq!(dot.matches('{').count(), dot.matches('}').count());
    assert_eq!(mermaid.matches("subgraph").count(), mermaid.matches("  end").count());
}
