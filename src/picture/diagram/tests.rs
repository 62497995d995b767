//! Laws of pictures.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::collections::BTreeMap;

use super::schematic::{Flow, Pin, Schematic};
use super::{Drawing, Rect, fold, samples};

/// With the frames that are nested deeper than `depth` as boxes.
fn to_depth(schematic: &Schematic, depth: usize) -> Schematic {
    fold::fold(schematic, |_, level| level <= depth)
}

fn schematics() -> Vec<Schematic> {
    let mut schematics = vec![
        samples::oscillator(),
        samples::standing(),
        samples::switched(),
        Schematic::new("empty"),
    ];
    schematics
        .extend((1..=25).map(|seed| samples::random(8 + 2 * seed as usize, seed * 0x9e37_79b9)));
    let folded: Vec<Schematic> =
        schematics.iter().map(|schematic| to_depth(schematic, 1)).collect();
    schematics.extend(folded);
    schematics
}

fn apart(a: Rect, b: Rect) -> bool {
    a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y
}

fn within(a: Rect, b: Rect) -> bool {
    a.x > b.x && a.y > b.y && a.x + a.width < b.x + b.width && a.y + a.height < b.y + b.height
}

#[test]
fn boxes_keep_apart_and_lie_in_their_frames() {
    for schematic in schematics() {
        let layout = schematic.clone().draw();
        let frame_of = |f: usize| schematic.frames[f].parent;
        let boxes: Vec<(usize, Rect)> = (0..schematic.symbols.len())
            .map(|n| (schematic.symbols[n].frame, layout.symbols[n]))
            .chain((1..schematic.frames.len()).map(|f| (frame_of(f).unwrap(), layout.frames[f])))
            .collect();
        for (i, &(parent, rect)) in boxes.iter().enumerate() {
            assert!(within(rect, layout.frames[parent]), "{}: {rect:?}", schematic.title);
            for &(other, other_rect) in &boxes[..i] {
                assert!(other != parent || apart(rect, other_rect), "{}", schematic.title);
            }
        }
    }
}

#[test]
fn wires_are_orthogonal_end_at_their_pins_and_cross_no_box() {
    for schematic in schematics() {
        let layout = schematic.clone().draw();
        for (wire, way) in schematic.wires.iter().zip(&layout.wires) {
            let (from, to) = (layout.symbols[wire.from.symbol], layout.symbols[wire.to.symbol]);
            assert_eq!(way[0].0, from.x + from.width);
            assert_eq!(way.last().unwrap().0, to.x);
            for piece in way.windows(2) {
                let ((x0, y0), (x1, y1)) = (piece[0], piece[1]);
                assert!((x0 == x1) != (y0 == y1), "{}: {way:?}", schematic.title);
                let line = Rect {
                    x: x0.min(x1),
                    y: y0.min(y1),
                    width: (x1 - x0).abs(),
                    height: (y1 - y0).abs(),
                };
                for symbol in &layout.symbols {
                    assert!(apart(line, *symbol), "{}: {way:?} {symbol:?}", schematic.title);
                }
            }
        }
    }
}

/// Pieces of wires as (horizontal, place across, from, to).
fn pieces(layout: &Drawing, wire: usize) -> impl Iterator<Item = (bool, i32, i32, i32)> {
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
    for schematic in schematics() {
        let layout = schematic.clone().draw();
        for a in 0..schematic.wires.len() {
            for b in 0..a {
                if schematic.wires[a].from == schematic.wires[b].from {
                    continue;
                }
                for (flat, at, low, high) in pieces(&layout, a) {
                    for (b_flat, b_at, b_low, b_high) in pieces(&layout, b) {
                        let on_top = flat == b_flat && at == b_at && low < b_high && b_low < high;
                        assert!(
                            !on_top,
                            "{}: {a} {b} {:?} {:?}",
                            schematic.title, layout.wires[a], layout.wires[b]
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn feedback_runs_back_and_everything_else_forward() {
    for schematic in [samples::oscillator(), samples::standing(), samples::switched()] {
        let layout = schematic.clone().draw();
        for (wire, way) in schematic.wires.iter().zip(&layout.wires) {
            let back = way[0].0 > way.last().unwrap().0;
            assert!(!(back && wire.flow != Flow::State), "{}: {way:?}", schematic.title);
        }
    }
}

#[test]
fn one_wire_leaves_the_copies_of_a_for_each() {
    let schematic = samples::standing();
    let mut drivers: BTreeMap<Pin, usize> = BTreeMap::new();
    for wire in &schematic.wires {
        *drivers.entry(wire.to).or_default() += 1;
    }
    assert!(drivers.values().all(|&n| n == 1));
    let join = schematic
        .symbols
        .iter()
        .position(|symbol| symbol.inputs.iter().any(String::is_empty))
        .unwrap();
    assert_eq!(schematic.frames[schematic.symbols[join].frame].path, "foot");
    assert_eq!(schematic.wires.iter().filter(|wire| wire.from.symbol == join).count(), 2);
}

#[test]
fn folding_keeps_every_signal_that_crosses_a_border() {
    let schematic = samples::standing();
    let folded = to_depth(&schematic, 0);
    assert_eq!(folded.frames.len(), 1);
    let foot = folded.symbols.iter().find(|symbol| symbol.name == "foot").unwrap();
    assert_eq!((foot.inputs.len(), foot.outputs.len(), foot.kind.as_str()), (1, 2, "5 blocks"));
    let contact = folded.symbols.iter().find(|symbol| symbol.name == "contact").unwrap();
    assert_eq!(contact.inputs.len(), 3);
    assert_eq!(to_depth(&schematic, 9).wires.len(), schematic.wires.len());
    // By path: a frame is open if it and all around it are.
    let open = |paths: &[&str]| {
        let paths = paths.to_vec();
        fold::fold(&schematic, move |path, _| paths.contains(&path))
    };
    assert_eq!(open(&["foot[FL_foot]"]), to_depth(&schematic, 0));
    assert_eq!(open(&["foot"]).frames.len(), 2);
}

#[test]
fn what_switches_a_part_is_drawn_inside_it_and_is_a_pin_of_the_folded_part() {
    let schematic = samples::switched();
    let controls: Vec<_> =
        schematic.wires.iter().filter(|wire| wire.flow == Flow::Control).collect();
    assert_eq!(controls.len(), 2);
    let frames = controls.iter().map(|wire| schematic.symbols[wire.to.symbol].frame);
    let paths: Vec<_> = frames.map(|frame| schematic.frames[frame].path.as_str()).collect();
    assert_eq!(paths, ["guard", "guard.count"]);
    let svg = schematic.clone().draw().svg();
    // Two wires and the legend.
    assert_eq!(svg.matches("stroke-dasharray=\"1.5 2.5\"").count(), 3, "{svg}");
    assert!(svg.contains(">Triggered(Rising)</text>") && svg.contains(">switches</text>"));
    assert_eq!(schematic.dot().matches("style=dotted").count(), 2);
    assert_eq!(schematic.mermaid().matches("--o").count(), 2);
    let folded = to_depth(&schematic, 0);
    let guard = folded.symbols.iter().position(|symbol| symbol.name == "guard").unwrap();
    let control = folded.wires.iter().find(|wire| wire.flow == Flow::Control).unwrap();
    assert_eq!(control.to.symbol, guard);
    assert_eq!(folded.symbols[guard].inputs[control.to.pin], "Enabled");
    assert_eq!(folded.symbols[guard].kind, "2 blocks");
}

#[test]
fn pins_lie_where_their_wires_end() {
    for schematic in schematics() {
        let drawing = schematic.draw();
        for (wire, way) in drawing.schematic.wires.iter().zip(&drawing.wires) {
            assert_eq!(way[0], drawing.outputs[wire.from.symbol][wire.from.pin]);
            assert_eq!(*way.last().unwrap(), drawing.inputs[wire.to.symbol][wire.to.pin]);
        }
    }
}

#[test]
fn pictures_are_the_same_every_time_and_names_are_escaped() {
    let draw = || {
        let schematic = samples::random(40, 7);
        [schematic.clone().draw().svg(), schematic.dot(), schematic.mermaid()]
    };
    let [svg, dot, mermaid] = draw();
    assert_eq!(draw(), [svg.clone(), dot.clone(), mermaid.clone()]);
    assert!(svg.contains("&quot;odd&quot; &amp; &lt;name&gt;") && !svg.contains("<name>"));
    assert!(dot.contains("\\\"odd\\\" & <name>"));
    assert!(mermaid.contains("#34;odd#34; #38; #60;name#62;"));
    assert_eq!(dot.matches('{').count(), dot.matches('}').count());
    assert_eq!(mermaid.matches("subgraph").count(), mermaid.matches("  end").count());
}

/// Lines of a caption stand below one another in the box, which has room for them.
#[test]
fn captions_stand_in_their_boxes() {
    let mut schematic = samples::oscillator();
    let before = schematic.clone().draw().symbols[0];
    let lines = ["0 stand → to the left & back", "1 on one foot → stand"];
    schematic.symbols[0].caption = lines.map(str::to_owned).to_vec();
    let drawing = schematic.clone().draw();
    let Rect { x, y, width, height } = drawing.symbols[0];
    assert!(height == before.height + 40 && width > before.width, "{height}, {width}");
    let [svg, dot, mermaid] = [drawing.svg(), schematic.dot(), schematic.mermaid()];
    let mut last = y + before.height - 1;
    for line in ["0 stand → to the left &amp; back", "1 on one foot → stand"] {
        let at = svg.find(line).unwrap();
        let text = &svg[svg[..at].rfind("<text").unwrap()..at];
        let number = |name: &str| -> i32 {
            let from = text.find(name).unwrap() + name.len();
            text[from..].split('"').next().unwrap().parse().unwrap()
        };
        assert!(number(" x=\"") > x && number(" y=\"") > last && number(" y=\"") < y + height);
        last = number(" y=\"");
        assert!(dot.contains(line));
    }
    assert!(mermaid.contains("<br/>1 on one foot → stand"));
}
