//! What a session answers, for people: places as lines, buses as trees, matrices as rows, rotations
//! with axis and angle.

use std::fmt::Write as _;

use legwork_block::{BusType, Type};

use crate::session::{
    BlockView, EditNote, Halt, InputView, Place, Scheduled, Stage, Stop, Value, Where,
};
use crate::text::{counted, relative, trimmed};

/// Numbers of a vector on one line.
const PER_LINE: usize = 6;
/// The same with their names.
const NAMED_PER_LINE: usize = 3;

/// Edits on the way, why the run stopped, and where it is. `noun` is what it was to go back by.
pub fn stop(stop: &Stop, noun: &str) -> String {
    let mut text = String::new();
    for note in &stop.edits {
        text += &format!("{}\n", edit(note));
    }
    match &stop.halt {
        Halt::Arrived | Halt::End => {}
        Halt::Breakpoint { number, text: what } => {
            text += &format!("breakpoint {number}: {what}\n");
        }
        Halt::Fault { message } => text += &format!("fault: {message}\n"),
        Halt::Cancelled => text += "stopped by Ctrl-C\n",
        Halt::NoOtherPart => text += "no block of another subsystem in this step and the next\n",
        Halt::Beginning { gone } => {
            let gone = counted(*gone, noun);
            text += &format!("the history begins here, {gone} back\n");
        }
    }
    text + &place(&stop.place) + "\n"
}

/// What became of an edit.
pub fn edit(note: &EditNote) -> String {
    match note {
        EditNote::Entered { edit, blocks, robots } => {
            let what = match &blocks[..] {
                [] if *robots => "a robot".to_owned(),
                [] => "no block".to_owned(),
                [one] => format!("`{one}`"),
                many => counted(many.len() as u64, "block"),
            };
            format!("{} from t={} on: changes {what}", edit.words(), edit.t)
        }
        EditNote::Waits { path, value } => format!("{path} = {value} enters before the next step"),
        EditNote::Refused { path, value, why } => format!("{path} = {value} is refused: {why}"),
        EditNote::Undone { edit } => {
            format!("undone: {} at t={}", edit.words(), edit.t)
        }
    }
}

/// `t=0.1 s  step 100  output pd (JointPd)  [4 of 25]`.
pub fn place(place: &Place) -> String {
    format!("t={} s  step {}  {}", trimmed(place.t), place.step, stage(place))
}

/// `output pd (JointPd)  [4 of 25]`.
pub fn stage(place: &Place) -> String {
    let block = || match (&place.block, &place.kind) {
        (Some(block), Some(kind)) => format!("{block} ({kind})"),
        _ => String::new(),
    };
    match place.stage {
        Stage::Output => {
            let number = place.number.unwrap_or_default();
            format!("output {}  [{number} of {}]", block(), place.count)
        }
        Stage::OutputsDone => "outputs done".to_owned(),
        Stage::Update => format!("update {}", block()),
        Stage::Guards => "guards".to_owned(),
        Stage::Observe => "observe".to_owned(),
        Stage::Integrate => "integrate".to_owned(),
        Stage::End => match &place.stopped_by {
            Some(block) => format!("end, stopped by {block}"),
            None => "end".to_owned(),
        },
    }
}

/// Everything about a place, and the block's line in the file.
pub(super) fn whereabouts(here: &Where) -> String {
    let Where { place: at, tick, tau, microstep, pieces, fault, block, pending } = here;
    let mut text = place(at);
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "\n  t = {:?} s, k = {tick}, tau = {tau:?}, n = {microstep}; {pieces} pieces of step {} \
         done",
        at.t, at.step,
    );
    if let Some(fault) = fault {
        let _ = write!(text, "\n  at a fault: {fault}");
    }
    if let Some(block) = block {
        let _ = write!(text, "\n  {}: {}  [{}]", block.path, block.text, block.rate);
        if let Some(source) = &block.source {
            let file = relative(&source.file);
            let _ = write!(text, "\n  {file}:{}:{} | {}", source.line, source.column, source.text);
        }
    }
    for (path, value) in pending {
        let _ = write!(text, "\n  waits for the end of the step: {path} = {value}");
    }
    text + "\n"
}

/// The order of execution.
pub(super) fn schedule(entries: &[Scheduled]) -> String {
    let mut text = String::new();
    for (i, entry) in entries.iter().enumerate() {
        let next = if entry.is_next { '>' } else { ' ' };
        let due = if entry.is_due { '*' } else { ' ' };
        let group = entry.group.map_or(String::new(), |group| format!(" group {group}"));
        let Scheduled { block, kind, rate, .. } = entry;
        let _ = writeln!(text, "{next}{due}{:>4}  {block}{group} ({kind})  {rate}", i + 1);
    }
    text
}

/// A block with its inputs, outputs and state.
pub(super) fn block(block: &BlockView) -> String {
    let mut text = format!("{}: {}  [{}]\n", block.path, block.text, block.rate);
    for one in &block.inputs {
        text += &input(one);
    }
    for output in &block.outputs {
        text += &indented("  out ", &value(output));
    }
    if let Some(x) = &block.continuous {
        let mut shown = String::new();
        write_vector("", x, None, 0, &mut shown);
        text += &indented("  x   ", &shown);
    }
    match &block.state {
        state if state.is_null() => {}
        state => {
            let state = state.as_str().map_or_else(|| state.to_string(), str::to_owned);
            text += &indented("  state ", &state);
        }
    }
    text
}

/// `u <- body.state: …`.
fn input(input: &InputView) -> String {
    let name = &input.name;
    let Some(held) = &input.value else { return format!("  in  {name}: not connected\n") };
    let path = format!("{name} <- {}", input.from.join(", "));
    indented("  in  ", &value(&Value { path, ..held.clone() }))
}

/// The text behind a mark, its further lines below.
fn indented(mark: &str, text: &str) -> String {
    let mut out = String::new();
    for (i, line) in text.lines().enumerate() {
        let before = if i == 0 { mark.to_owned() } else { " ".repeat(mark.len()) };
        out += &format!("{before}{line}\n");
    }
    out
}

/// A value by its type; without one, as a vector.
pub fn value(value: &Value) -> String {
    let mut leaves: Vec<&[f64]> = value.leaves.iter().map(Vec::as_slice).collect();
    let (mut rest, unit) = (&mut leaves[..], value.unit.as_deref());
    let names = Names { unit, units: &value.units, labels: &value.labels };
    let mut out = String::new();
    match &value.ty {
        Some(Type::Vector(_)) | None => {
            write_named(&value.path, &value.numbers(), names, 0, &mut out);
        }
        Some(ty) => write_value(&value.path, ty, unit, &mut rest, 0, &mut out),
    }
    out
}

/// Six significant digits.
fn digits(value: f64) -> String {
    rounded(value, 6)
}

/// So many significant digits, without zeros behind them.
fn rounded(value: f64, count: usize) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return value.to_string();
    }
    if !(1e-4..1e7).contains(&size) {
        return format!("{value:.*e}", count - 1);
    }
    let places = (count as i32 - 1 - size.log10().floor() as i32).max(0) as usize;
    let text = format!("{value:.places$}");
    if places > 0 { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn write_value(
    name: &str,
    ty: &Type,
    unit: Option<&str>,
    leaves: &mut &mut [&[f64]],
    depth: usize,
    out: &mut String,
) {
    let space = "  ".repeat(depth);
    // Writing to a string cannot fail.
    let mut line = |text: String| {
        let _ = writeln!(out, "{space}{text}");
    };
    let unit_text = unit.map_or(String::new(), |unit| format!(" {unit}"));
    match ty {
        Type::Bus(bus) => {
            line(format!("{name}: {}", bus.name));
            write_bus(bus, leaves, depth + 1, out);
        }
        Type::Array(of, n) => {
            line(format!("{name}: {ty}"));
            for i in 0..n.known().unwrap_or(0) {
                write_value(&format!("[{i}]"), of, unit, leaves, depth + 1, out);
            }
        }
        Type::Real => line(format!("{name}: {}{unit_text}", rounded(first(take(leaves)), 9))),
        Type::Int => line(format!("{name}: {}{unit_text}", first(take(leaves)))),
        Type::Bool => line(format!("{name}: {}", first(take(leaves)) != 0.0)),
        Type::Vector(_) | Type::Var(_) => write_vector(name, take(leaves), unit, depth, out),
        Type::Matrix(rows, columns) => {
            let (rows, columns) = (rows.known().unwrap_or(0), columns.known().unwrap_or(0));
            line(format!("{name}: {rows} × {columns}{unit_text}"));
            write_matrix(take(leaves), rows, depth + 1, out);
        }
        Type::Rotation => {
            let numbers = take(leaves);
            line(format!("{name}: rotation, {}", axis_and_angle(&quaternion(numbers))));
            write_matrix(numbers, 3, depth + 1, out);
        }
        Type::Pose => {
            let (rotation, position) = take(leaves).split_at_checked(9).unwrap_or_default();
            line(format!("{name}: pose, {}", axis_and_angle(&quaternion(rotation))));
            write_vector("position", position, Some("m"), depth + 1, out);
            write_matrix(rotation, 3, depth + 1, out);
        }
    }
}

/// The fields of a bus, each with the parts that have names of their own.
fn write_bus(bus: &BusType, leaves: &mut &mut [&[f64]], depth: usize, out: &mut String) {
    for (i, field) in bus.fields.iter().enumerate() {
        let numbers = leaves.first().copied().unwrap_or_default();
        write_value(&field.name, &field.ty, field.unit.as_deref(), leaves, depth, out);
        for view in bus.views.iter().filter(|view| view.field == i) {
            let end = view.start + view.len.known().unwrap_or(0);
            let part = numbers.get(view.start..end).unwrap_or_default();
            let unit = view.unit.as_deref();
            let names = Names { unit, units: &view.units, labels: &view.labels };
            write_named(&view.name, part, names, depth + 1, out);
            if let (true, &[w, x, y, z]) = (view.name.ends_with("orientation"), part) {
                let space = "  ".repeat(depth + 2);
                let _ = writeln!(out, "{space}{}", axis_and_angle(&[w, x, y, z]));
            }
        }
    }
}

fn take<'a>(leaves: &mut &mut [&'a [f64]]) -> &'a [f64] {
    match std::mem::take(leaves) {
        [] => &[],
        [first, rest @ ..] => {
            *leaves = rest;
            first
        }
    }
}

fn first(numbers: &[f64]) -> f64 {
    numbers.first().copied().unwrap_or(f64::NAN)
}

fn write_vector(name: &str, numbers: &[f64], unit: Option<&str>, depth: usize, out: &mut String) {
    write_named(name, numbers, Names { unit, ..Names::default() }, depth, out);
}

/// What the numbers of a vector are called besides, and their units.
#[derive(Clone, Copy, Default)]
struct Names<'n> {
    /// The unit of all of them.
    unit: Option<&'n str>,
    /// The unit of each, if they differ; else empty.
    units: &'n [String],
    labels: &'n [String],
}

/// A vector with its unit, each number behind its name if that says more than an axis.
fn write_named(name: &str, numbers: &[f64], names: Names<'_>, depth: usize, out: &mut String) {
    let Names { unit, units, labels } = names;
    let says_more = labels.len() == numbers.len() && labels.iter().any(|label| label.len() > 1);
    let of_unit = |i: usize| match units.get(i).filter(|unit| *unit != "1") {
        Some(unit) => format!(" {unit}"),
        None => String::new(),
    };
    let named = |(i, number): (usize, &f64)| match labels.get(i).filter(|_| says_more) {
        Some(label) => format!("{label} {}{}", digits(*number), of_unit(i)),
        None => format!("{}{}", digits(*number), of_unit(i)),
    };
    let per_line = if says_more { NAMED_PER_LINE } else { PER_LINE };
    let space = "  ".repeat(depth);
    let unit = unit.map_or(String::new(), |unit| format!(" {unit}"));
    let head = if name.is_empty() { String::new() } else { format!("{name}: ") };
    let numbers: Vec<String> = numbers.iter().enumerate().map(named).collect();
    let mut lines = numbers.chunks(per_line).map(|part| part.join(", "));
    let (one, further) = (lines.next().unwrap_or_default(), " ".repeat(head.chars().count() + 1));
    let text = lines.fold(one, |text, line| format!("{text},\n{space}{further}{line}"));
    let _ = writeln!(out, "{space}{head}[{text}]{unit}");
}

/// Rows of a matrix that is stored column by column.
fn write_matrix(numbers: &[f64], rows: usize, depth: usize, out: &mut String) {
    let texts: Vec<String> = numbers.iter().map(|number| digits(*number)).collect();
    let width = texts.iter().map(String::len).max().unwrap_or(0);
    let space = "  ".repeat(depth);
    for row in 0..rows {
        let row: Vec<String> =
            texts.iter().skip(row).step_by(rows.max(1)).map(|t| format!("{t:>width$}")).collect();
        let _ = writeln!(out, "{space}{}", row.join("  "));
    }
}

/// `12.5° about (0, 0, 1)` of a unit quaternion (w, x, y, z).
fn axis_and_angle([w, x, y, z]: &[f64; 4]) -> String {
    let length = (x * x + y * y + z * z).sqrt();
    if length < 1e-12 {
        return "no rotation".to_owned();
    }
    // The shorter way round.
    let sign = if *w < 0.0 { -1.0 } else { 1.0 };
    let angle = 2.0 * length.atan2(sign * w).to_degrees();
    let axis = [x, y, z].map(|a| trimmed_to(sign * a / length));
    format!("{}° about ({})", trimmed_to(angle), axis.join(", "))
}

fn trimmed_to(value: f64) -> String {
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// The unit quaternion (w, x, y, z) of a rotation matrix stored column by column (Shepperd,
/// *Quaternion from rotation matrix*, 1978): the largest component first, by which the others are
/// divided.
fn quaternion(r: &[f64]) -> [f64; 4] {
    let &[r11, r21, r31, r12, r22, r32, r13, r23, r33] = r else { return [1.0, 0.0, 0.0, 0.0] };
    let trace = r11 + r22 + r33;
    let candidates = [trace, r11, r22, r33];
    let largest = (0..4).fold(0, |best, i| if candidates[i] > candidates[best] { i } else { best });
    let four = 2.0 * (1.0 + 2.0 * candidates[largest] - trace).max(0.0).sqrt();
    let q = match largest {
        0 => [four * four / 4.0, r32 - r23, r13 - r31, r21 - r12],
        1 => [r32 - r23, four * four / 4.0, r12 + r21, r13 + r31],
        2 => [r13 - r31, r12 + r21, four * four / 4.0, r23 + r32],
        _ => [r21 - r12, r13 + r31, r23 + r32, four * four / 4.0],
    };
    q.map(|component| component / four)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotation_is_told_by_axis_and_angle() {
        for angle in [0.3f64, 1.5, 2.5, 3.1] {
            for axis in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.6, 0.0, 0.8]] {
                let (s, c) = angle.sin_cos();
                let [x, y, z]: [f64; 3] = axis;
                let cross = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]];
                // Rodrigues: R = cos θ 1 + sin θ [a]× + (1 − cos θ) a aᵀ, column by column.
                let mut r = Vec::new();
                for column in 0..3 {
                    for row in 0..3 {
                        let one = if row == column { c } else { 0.0 };
                        r.push(one + s * cross[row][column] + (1.0 - c) * axis[row] * axis[column]);
                    }
                }
                let told = axis_and_angle(&quaternion(&r));
                let axis = axis.map(trimmed_to).join(", ");
                let expected = format!("{}° about ({axis})", trimmed_to(angle.to_degrees()));
                assert_eq!(told, expected);
            }
        }
        assert_eq!(axis_and_angle(&[-1.0, 0.0, 0.0, 0.0]), "no rotation");
    }

    #[test]
    fn values_are_told_by_their_types() {
        let pair = [1.0, -2.5e-7];
        let text = |name: &str, ty: Type, unit: Option<&str>, leaves: &[&[f64]]| {
            let (path, unit) = (name.to_owned(), unit.map(str::to_owned));
            let leaves = leaves.iter().map(|leaf| leaf.to_vec()).collect();
            value(&Value {
                path,
                ty: Some(ty),
                unit,
                units: Vec::new(),
                labels: Vec::new(),
                leaves,
            })
        };
        assert_eq!(text("v", Type::vector(2), Some("m"), &[&pair]), "v: [1, -2.50000e-7] m\n");
        let matrix = [1.0, 2.0, 3.0, 40.0];
        let shown = text("M", Type::matrix(2, 2), None, &[&matrix]);
        assert_eq!(shown, "M: 2 × 2\n   1   3\n   2  40\n");
        assert_eq!(text("on", Type::Bool, None, &[&[1.0]]), "on: true\n");
        let shown = text("x", Type::vector(7), None, &[&[0.0; 7]]);
        assert_eq!(shown, "x: [0, 0, 0, 0, 0, 0,\n    0]\n");
        // A leaf that is missing is no reason to panic.
        assert_eq!(text("r", Type::Real, None, &[]), "r: NaN\n");
    }
}
