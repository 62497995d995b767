//! The whole sheet: frames from the inside out, then everything in absolute coordinates.

use std::collections::BTreeMap;

use super::super::model::{Model, Pin, Role};
use super::{End, GRID, Item, Level, Net, Sheet, Sink, order, place, rank, route};
use crate::text;

/// Sizes of text [px].
pub(in super::super) const NAME: i32 = 12;
/// Size of small text [px].
pub(in super::super) const SMALL: i32 = 10;
/// Size of labels on wires [px].
pub(in super::super) const LABEL: i32 = 9;
/// From a box's top to above its first pins [px].
const HEADER: i32 = 4 * GRID;
/// From a frame's top to its inside [px].
const FRAME_TOP: i32 = 4 * GRID;
/// From a frame's inside to its bottom [px].
const FRAME_BOTTOM: i32 = 2 * GRID;
/// Characters of a label on a wire.
const LABEL_LIMIT: usize = 24;

/// A rectangle [px].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in super::super) struct Rect {
    pub(in super::super) x: i32,
    pub(in super::super) y: i32,
    pub(in super::super) width: i32,
    pub(in super::super) height: i32,
}

/// Where everything lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Layout {
    /// Frames; the first is the sheet.
    pub(in super::super) frames: Vec<Rect>,
    /// Boxes.
    pub(in super::super) nodes: Vec<Rect>,
    /// Corners of each wire.
    pub(in super::super) wires: Vec<Vec<(i32, i32)>>,
    /// Label of each wire; empty for none.
    pub(in super::super) labels: Vec<String>,
}

/// Height of pin `pin` of `count` from the top of a box of this role.
pub(in super::super) fn pin_height(role: Role, pin: usize, count: usize, is_input: bool) -> i32 {
    match role {
        Role::Join if is_input => GRID + 2 * GRID * pin as i32,
        Role::Join => GRID * count as i32,
        _ => HEADER + GRID + 2 * GRID * pin as i32,
    }
}

fn size(model: &Model, n: usize) -> (i32, i32) {
    let node = &model.nodes[n];
    if node.role == Role::Join {
        return (6, 2 * GRID * node.inputs.len().max(1) as i32);
    }
    let rows = node.inputs.len().max(node.outputs.len());
    let pins = (0..rows)
        .map(|row| {
            let input = node.inputs.get(row).map_or(0, |name| text::width(name, SMALL, false));
            let output = node.outputs.get(row).map_or(0, |o| text::width(&o.name, SMALL, false));
            let between = if input > 0 && output > 0 { 14 } else { 0 };
            input + between + output + 16
        })
        .max()
        .unwrap_or(0);
    let name = text::width(&node.name, NAME, true) + 20;
    let kind = text::width(&node.kind, SMALL, false) + 20;
    let width = pins.max(name).max(kind).max(60);
    (width + width % 2, HEADER + 2 * GRID * rows as i32)
}

/// What lies in a frame, in the order of the level's boxes.
struct Inside {
    /// The blocks and frames.
    parts: Vec<Part>,
    /// Ids of the nets; their order is the level's.
    nets: BTreeMap<usize, usize>,
    /// Sinks of each of the level's nets, in order.
    sinks: Vec<BTreeMap<Place, usize>>,
    sheet: Sheet,
    width: i32,
    height: i32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Node(usize),
    Frame(usize),
}

/// An end of a net within a frame, in terms of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Node(Pin),
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
fn hops(model: &Model, from: Pin, to: Pin) -> Vec<Hop> {
    let out = model.chain(model.nodes[from.node].frame);
    let into = model.chain(model.nodes[to.node].frame);
    let shared = out.iter().zip(&into).take_while(|(a, b)| a == b).count();
    let mut hops = Vec::new();
    let mut at = Place::Node(from);
    for &frame in out[shared..].iter().rev() {
        hops.push(Hop { frame, from: at, to: Place::Border });
        at = Place::Frame(frame);
    }
    let mut frame = out[shared - 1];
    for &inner in &into[shared..] {
        hops.push(Hop { frame, from: at, to: Place::Frame(inner) });
        (frame, at) = (inner, Place::Border);
    }
    hops.push(Hop { frame, from: at, to: Place::Node(to) });
    hops
}

/// Lays out a model.
pub(in super::super) fn lay_out(model: &Model) -> Layout {
    let mut net_ids: BTreeMap<Pin, usize> = BTreeMap::new();
    for wire in &model.wires {
        let next = net_ids.len();
        net_ids.entry(wire.from).or_insert(next);
    }
    let labels: Vec<String> = model
        .wires
        .iter()
        .map(|wire| text::shorten(wire.part.trim_start_matches('.'), LABEL_LIMIT))
        .collect();
    let mut ends: Vec<BTreeMap<usize, Ends>> = vec![BTreeMap::new(); model.frames.len()];
    for (wire, label) in model.wires.iter().zip(&labels) {
        let net = net_ids[&wire.from];
        for hop in hops(model, wire.from, wire.to) {
            let room = match hop.to {
                Place::Node(_) if !label.is_empty() => text::width(label, LABEL, false),
                _ => 0,
            };
            let (_, sinks) =
                ends[hop.frame].entry(net).or_insert_with(|| (hop.from, BTreeMap::new()));
            let (feeds, label) = sinks.entry(hop.to).or_default();
            *feeds |= wire.feeds;
            *label = room.max(*label);
        }
    }
    let children = model.children();
    let mut insides: Vec<Option<Inside>> = model.frames.iter().map(|_| None).collect();
    for f in (0..model.frames.len()).rev() {
        let mut parts: Vec<Part> =
            (0..model.nodes.len()).filter(|&n| model.nodes[n].frame == f).map(Part::Node).collect();
        parts.extend(children[f].iter().map(|&child| Part::Frame(child)));
        insides[f] = Some(inside(model, f, parts, &ends[f], &insides));
    }
    let insides: Vec<Inside> = insides.into_iter().flatten().collect();
    absolute(model, &insides, &net_ids, labels)
}

/// Lays out one frame whose inner frames are laid out.
fn inside(
    model: &Model,
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
            Part::Node(n) => {
                let (width, height) = size(model, n);
                let node = &model.nodes[n];
                let (ins, outs) = (node.inputs.len(), node.outputs.len());
                Item {
                    width,
                    height,
                    inputs: (0..ins).map(|p| pin_height(node.role, p, ins, true)).collect(),
                    outputs: (0..outs).map(|p| pin_height(node.role, p, ins, false)).collect(),
                }
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
        Place::Node(Pin { node, pin }) => End::Item { item: index[&Part::Node(node)], pin },
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
    let title = text::width(&model.frames[frame].name, NAME, true) + 24;
    let width = sheet.width.max(title);
    let mut sheet = sheet;
    widen(&mut sheet, width);
    let height = sheet.height + FRAME_TOP + FRAME_BOTTOM;
    Inside { parts, nets, sinks, sheet, width, height }
}

/// Moves the right border to `width` for the sake of a long title.
fn widen(sheet: &mut Sheet, width: i32) {
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
    model: &Model,
    insides: &[Inside],
    net_ids: &BTreeMap<Pin, usize>,
    labels: Vec<String>,
) -> Layout {
    let mut frames = vec![Rect::default(); model.frames.len()];
    let mut nodes = vec![Rect::default(); model.nodes.len()];
    for (f, inside) in insides.iter().enumerate() {
        let Rect { x, y, .. } = frames[f];
        frames[f] = Rect { x, y, width: inside.width, height: inside.height };
        for (&part, &(dx, dy)) in inside.parts.iter().zip(&inside.sheet.items) {
            let (x, y) = (x + dx, y + dy + FRAME_TOP);
            match part {
                Part::Frame(child) => frames[child] = Rect { x, y, ..Rect::default() },
                Part::Node(n) => {
                    let (width, height) = size(model, n);
                    nodes[n] = Rect { x, y, width, height };
                }
            }
        }
    }
    let wires = model
        .wires
        .iter()
        .map(|wire| {
            let net = net_ids[&wire.from];
            let mut way: Vec<(i32, i32)> = Vec::new();
            for hop in hops(model, wire.from, wire.to) {
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
    Layout { frames, nodes, wires, labels }
}
