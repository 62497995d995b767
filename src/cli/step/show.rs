//! Values for people: buses as trees, matrices as rows, rotations with axis and angle.

use std::fmt::Write as _;

use legwork_block::{BusType, Type};

/// Numbers of a vector on one line.
const PER_LINE: usize = 6;

/// A value of a type, its leaves in storage order.
pub(super) fn value<'a>(
    name: &str,
    ty: &Type,
    unit: Option<&str>,
    leaves: impl Iterator<Item = &'a [f64]>,
) -> String {
    let mut leaves: Vec<&[f64]> = leaves.collect();
    let mut rest = &mut leaves[..];
    let mut out = String::new();
    write_value(name, ty, unit, &mut rest, 0, &mut out);
    out
}

/// Leaves of an unknown type.
pub(super) fn leaves<'a>(name: &str, leaves: impl Iterator<Item = &'a [f64]>) -> String {
    let all: Vec<f64> = leaves.flatten().copied().collect();
    numbers(name, &all, None)
}

/// A row of numbers, wrapped.
pub(super) fn numbers(name: &str, numbers: &[f64], unit: Option<&str>) -> String {
    let mut out = String::new();
    write_vector(name, numbers, unit, 0, &mut out);
    out
}

/// A time or another number without the zeros behind it.
pub(super) fn trimmed(value: f64) -> String {
    let text = format!("{value:.9}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
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
            write_vector(&view.name, part, view.unit.as_deref(), depth + 1, out);
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
    let space = "  ".repeat(depth);
    let unit = unit.map_or(String::new(), |unit| format!(" {unit}"));
    let head = if name.is_empty() { String::new() } else { format!("{name}: ") };
    let mut lines = numbers
        .chunks(PER_LINE)
        .map(|part| part.iter().map(|number| digits(*number)).collect::<Vec<_>>().join(", "));
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

/// The unit quaternion (w, x, y, z) of a rotation matrix stored column by column (Shepperd, *Quaternion
/// from rotation matrix*, 1978): the largest component first, by which the others are divided.
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
        assert_eq!(
            value("v", &Type::vector(2), Some("m"), [&pair[..]].into_iter()),
            "v: [1, -2.50000e-7] m\n"
        );
        let matrix = [1.0, 2.0, 3.0, 40.0];
        let text = value("M", &Type::matrix(2, 2), None, [&matrix[..]].into_iter());
        assert_eq!(text, "M: 2 × 2\n   1   3\n   2  40\n");
        assert_eq!(value("on", &Type::Bool, None, [&[1.0][..]].into_iter()), "on: true\n");
        let seven = [0.0; 7];
        let text = value("x", &Type::vector(7), None, [&seven[..]].into_iter());
        assert_eq!(text, "x: [0, 0, 0, 0, 0, 0,\n    0]\n");
        // A leaf that is missing is no reason to panic.
        assert_eq!(value("r", &Type::Real, None, std::iter::empty()), "r: NaN\n");
    }
}
