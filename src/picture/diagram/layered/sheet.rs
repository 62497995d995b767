//! The whole sheet: frames from the inside out, then everything in absolute coordinates.

use std::collections::BTreeMap;

use super::super::drawing::{Drawing, Rect};
use super::super::schematic::{Flow, Pin, Schematic};
use super::size::{LABEL, NAME, input_heights, output_heights, size};
use super::{End, GRID, Item, Level, Net, PlacedLevel, Sink, order, place, rank, route};
use crate::text;

/// From a frame's top to its inside [px].
const FRAME_TOP: i32 = 4 * GRID;
/// From a frame's inside to its bottom [px].
const FRAME_BOTTOM: i32 = 2 * GRID;
/// Characters of a label on a wire.
const LABEL_LIMIT: usize = 24;

/// What lies in a frame, in the order of the level's boxes.
struct Inside {
    /// The blocks and frames.
    parts: Vec<Part>,
    /// Ids of the nets; their order is the level's.
    nets: BTreeMap<usize, usize>,
    /// Sinks of each of the level's nets, in order.
    sinks: Vec<BTreeMap<Place, usize>>,
    sheet: PlacedLevel,
    width: i32,
    height: i32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Symbol(usize),
    Frame(usize),
}

/// An end of a net within a frame, in terms of the schematic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Symbol(Pin),
    Frame(usize),
    Border,
}

/// Where a net comes from within a frame, and where it goes: feedthrough and room for a label.
type Ends = (Place, BTreeMap<Place, (bool, i32)>);

/// One hop of a wire: within which frame, from where, to where.
struct Hop {
    frame: usize,
    from: Place,
    to: Place,
}

/// The hops of a wire: out of the frames around its start, then into those around its end.
fn hops(schematic: &Schematic, from: Pin, to: Pin) -> Vec<Hop> {
    let out = schematic.chain(schematic.symbols[from.symbol].frame);
    let into = schematic.chain(schematic.symbols[to.symbol].frame);
    let shared = out.iter().zip(&into).take_while(|(a, b)| a == b).count();
    let mut hops = Vec::new();
    let mut at = Place::Symbol(from);
    for &frame in out[shared..].iter().rev() {
        hops.push(Hop { frame, from: at, to: Place::Border });
        at = Place::Frame(frame);
    }
    let mut frame = out[shared - 1];
    for &inner in &into[shared..] {
        hops.push(Hop { frame, from: at, to: Place::Frame(inner) });
        (frame, at) = (inner, Place::Border);
    }
    hops.push(Hop { frame, from: at, to: Place::Symbol(to) });
    hops
}

/// Lays out a schematic.
pub(in super::super) fn lay_out(schematic: Schematic) -> Drawing {
    let mut net_ids: BTreeMap<Pin, usize> = BTreeMap::new();
    for wire in &schematic.wires {
        let next = net_ids.len();
        net_ids.entry(wire.from).or_insert(next);
    }
    let labels: Vec<String> = schematic
        .wires
        .iter()
        .map(|wire| text::shorten(wire.part.trim_start_matches('.'), LABEL_LIMIT))
        .collect();
    let mut ends: Vec<BTreeMap<usize, Ends>> = vec![BTreeMap::new(); schematic.frames.len()];
    for (wire, label) in schematic.wires.iter().zip(&labels) {
        let net = net_ids[&wire.from];
        for hop in hops(&schematic, wire.from, wire.to) {
            let room = match hop.to {
                Place::Symbol(_) if !label.is_empty() => text::width(label, LABEL, false),
                _ => 0,
            };
            let (_, sinks) =
                ends[hop.frame].entry(net).or_insert_with(|| (hop.from, BTreeMap::new()));
            let (feeds, label) = sinks.entry(hop.to).or_default();
            *feeds |= wire.flow != Flow::State;
            *label = room.max(*label);
        }
    }
    let children = schematic.children();
    let mut insides: Vec<Option<Inside>> = schematic.frames.iter().map(|_| None).collect();
    for f in (0..schematic.frames.len()).rev() {
        let mut parts: Vec<Part> = (0..schematic.symbols.len())
            .filter(|&n| schematic.symbols[n].frame == f)
            .map(Part::Symbol)
            .collect();
        parts.extend(children[f].iter().map(|&child| Part::Frame(child)));
        insides[f] = Some(inside(&schematic, f, parts, &ends[f], &insides));
    }
    let insides: Vec<Inside> = insides.into_iter().flatten().collect();
    absolute(schematic, &insides, &net_ids, labels)
}

/// Lays out one frame whose inner frames are laid out.
fn inside(
    schematic: &Schematic,
    frame: usize,
    parts: Vec<Part>,
    ends: &BTreeMap<usize, Ends>,
    insides: &[Option<Inside>],
) -> Inside {
    let mut level = Level::default();
    let mut index: BTreeMap<Part, usize> = BTreeMap::new();
    for (i, &part) in parts.iter().enumerate() {
        index.insert(part, i);
        level.items.push(match part {
            Part::Symbol(n) => {
                let symbol = &schematic.symbols[n];
                let (width, height) = size(symbol);
                let (inputs, outputs) = (input_heights(symbol), output_heights(symbol));
                Item { width, height, inputs, outputs }
            }
            Part::Frame(f) => {
                let (width, height, pins) =
                    insides[f].as_ref().map_or((0, 0, Vec::new()), |inside| {
                        let pins = inside.sheet.borders.iter();
                        let pins = pins.map(|y| y.unwrap_or(0) + FRAME_TOP).collect();
                        (inside.width, inside.height, pins)
                    });
                Item { width, height, inputs: pins.clone(), outputs: pins }
            }
        });
    }
    let end = |place: Place, net: usize| match place {
        Place::Symbol(Pin { symbol, pin }) => End::Item { item: index[&Part::Symbol(symbol)], pin },
        Place::Frame(f) => {
            let pin = insides[f].as_ref().map_or(0, |inside| inside.nets[&net]);
            End::Item { item: index[&Part::Frame(f)], pin }
        }
        Place::Border => End::Border,
    };
    let mut nets = BTreeMap::new();
    let mut sinks = Vec::new();
    for (&net, (root, to)) in ends {
        nets.insert(net, level.nets.len());
        sinks.push(to.keys().enumerate().map(|(s, place)| (*place, s)).collect());
        level.nets.push(Net {
            root: end(*root, net),
            sinks: to
                .iter()
                .map(|(place, &(feeds, label))| Sink { end: end(*place, net), feeds, label })
                .collect(),
        });
    }
    let column = rank::columns(&level);
    let mut columns = order::Columns::new(&level, &column);
    columns.reduce_crossings();
    let tops = place::heights(&columns);
    let sheet = route::route(&level, &columns, &tops);
    let title = text::width(&schematic.frames[frame].name, NAME, true) + 24;
    let width = sheet.width.max(title);
    let mut sheet = sheet;
    widen(&mut sheet, width);
    let height = sheet.height + FRAME_TOP + FRAME_BOTTOM;
    Inside { parts, nets, sinks, sheet, width, height }
}

/// Moves the right border to `width` for the sake of a long title.
fn widen(sheet: &mut PlacedLevel, width: i32) {
    let old = std::mem::replace(&mut sheet.width, width);
    for way in sheet.routes.iter_mut().flatten() {
        if let Some(last) = way.last_mut()
            && last.0 == old
        {
            last.0 = width;
        }
    }
}

fn absolute(
    schematic: Schematic,
    insides: &[Inside],
    net_ids: &BTreeMap<Pin, usize>,
    labels: Vec<String>,
) -> Drawing {
    let mut frames = vec![Rect::default(); schematic.frames.len()];
    let mut symbols = vec![Rect::default(); schematic.symbols.len()];
    for (f, inside) in insides.iter().enumerate() {
        let Rect { x, y, .. } = frames[f];
        frames[f] = Rect { x, y, width: inside.width, height: inside.height };
        for (&part, &(dx, dy)) in inside.parts.iter().zip(&inside.sheet.items) {
            let (x, y) = (x + dx, y + dy + FRAME_TOP);
            match part {
                Part::Frame(child) => frames[child] = Rect { x, y, ..Rect::default() },
                Part::Symbol(n) => {
                    let (width, height) = size(&schematic.symbols[n]);
                    symbols[n] = Rect { x, y, width, height };
                }
            }
        }
    }
    let wires = schematic
        .wires
        .iter()
        .map(|wire| {
            let net = net_ids[&wire.from];
            let mut way: Vec<(i32, i32)> = Vec::new();
            for hop in hops(&schematic, wire.from, wire.to) {
                let inside = &insides[hop.frame];
                let local = inside.nets[&net];
                let sink = inside.sinks[local][&hop.to];
                let Rect { x, y, .. } = frames[hop.frame];
                for &(px, py) in &inside.sheet.routes[local][sink] {
                    let point = (x + px, y + py + FRAME_TOP);
                    if way.last() != Some(&point) {
                        way.push(point);
                    }
                }
            }
            route::straighten(way)
        })
        .collect();
    let on_edge = |n: usize, x: i32, heights: Vec<i32>| {
        heights.into_iter().map(|height| (x, symbols[n].y + height)).collect()
    };
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for (n, symbol) in schematic.symbols.iter().enumerate() {
        let Rect { x, width, .. } = symbols[n];
        inputs.push(on_edge(n, x, input_heights(symbol)));
        outputs.push(on_edge(n, x + width, output_heights(symbol)));
    }
    Drawing { schematic, frames, symbols, inputs, outputs, wires, labels }
}
