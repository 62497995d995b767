//! How large symbols are, and where their pins are.

use super::super::schematic::{Role, Symbol};
use super::GRID;
use crate::text;

/// Size of names [px].
pub(in super::super) const NAME: i32 = 12;
/// Size of small text [px].
pub(in super::super) const SMALL: i32 = 10;
/// Size of labels on wires [px].
pub(in super::super) const LABEL: i32 = 9;
/// From a box's top to above its first pins [px].
const HEADER: i32 = 4 * GRID;
/// From line to line of a caption, as from pin to pin [px].
pub(in super::super) const LINE: i32 = 2 * GRID;
/// The same of a condition, which has no kind below its name [px].
const CONDITION_HEADER: i32 = 2 * GRID;

/// Width and height of a symbol [px].
pub(super) fn size(symbol: &Symbol) -> (i32, i32) {
    let header = match symbol.role {
        Role::Join => return (6, 2 * GRID * symbol.inputs.len().max(1) as i32),
        Role::Condition => CONDITION_HEADER,
        Role::Block | Role::Hidden | Role::Folded => HEADER,
    };
    let rows = symbol.inputs.len().max(symbol.outputs.len());
    let pins = (0..rows)
        .map(|row| {
            let input = symbol.inputs.get(row).map_or(0, |name| text::width(name, SMALL, false));
            let output = symbol.outputs.get(row).map_or(0, |o| text::width(&o.name, SMALL, false));
            let between = if input > 0 && output > 0 { 14 } else { 0 };
            input + between + output + 16
        })
        .max()
        .unwrap_or(0);
    let name = text::width(&symbol.name, NAME, true) + 20;
    let kind = text::width(&symbol.kind, SMALL, false) + 20;
    let lines = symbol.caption.iter().map(|line| text::width(line, SMALL, false) + 20);
    let width = pins.max(name).max(kind).max(lines.max().unwrap_or(0)).max(60);
    (width + width % 2, header + LINE * (rows + symbol.caption.len()) as i32)
}

/// Heights of a symbol's input pins from its top [px].
pub(super) fn input_heights(symbol: &Symbol) -> Vec<i32> {
    (0..symbol.inputs.len()).map(|pin| height(symbol.role, pin)).collect()
}

/// Heights of a symbol's output pins from its top [px].
pub(super) fn output_heights(symbol: &Symbol) -> Vec<i32> {
    let middle = GRID * symbol.inputs.len() as i32;
    let height = |pin| if symbol.role == Role::Join { middle } else { height(symbol.role, pin) };
    (0..symbol.outputs.len()).map(height).collect()
}

fn height(role: Role, pin: usize) -> i32 {
    let header = match role {
        Role::Join => 0,
        Role::Condition => CONDITION_HEADER,
        Role::Block | Role::Hidden | Role::Folded => HEADER,
    };
    header + GRID + 2 * GRID * pin as i32
}
