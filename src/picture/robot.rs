//! Drawings of robots: the tree of links, and the robot from the side and from the front.

use std::fmt::Write as _;

use crate::text::{width, xml};

/// A row of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// How many rows are above it in the tree.
    pub depth: usize,
    /// The link.
    pub name: String,
    /// What stands beside it: joint, mass.
    pub note: String,
}

/// What is drawn of a robot, in world axes [m]; z is up.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Body {
    /// Lines between the origins of links.
    pub bones: Vec<[[f64; 3]; 2]>,
    /// Convex shapes, by points whose hull they are.
    pub solids: Vec<Vec<[f64; 3]>>,
}

const FONT: i32 = 13;
const ROW: i32 = 22;
const INDENT: i32 = 18;
const MARGIN: i32 = 16;

/// The tree of links. Rows are in the order of a walk, parents before children.
pub fn tree(title: &str, rows: &[Row]) -> String {
    let indent = |row: &Row| MARGIN + INDENT * i32::try_from(row.depth).unwrap_or(0).min(200);
    let right =
        |row: &Row| indent(row) + width(&row.name, FONT, true) + 12 + width(&row.note, FONT, false);
    let wide = rows.iter().map(right).max().unwrap_or(0).max(width(title, FONT, true) + MARGIN);
    let count = i32::try_from(rows.len()).unwrap_or(i32::MAX / ROW - 4);
    let mut out = head(wide + MARGIN, 2 * MARGIN + ROW * (count + 1), title);
    // The last row of each depth, where the next one hangs.
    let mut last: Vec<i32> = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        let y = MARGIN + ROW * (i32::try_from(i).unwrap_or(count) + 2);
        let x = indent(row);
        last.truncate(row.depth);
        if let Some(above) = last.last() {
            let (left, from, middle) = (x - INDENT + 5, above + 6, y - 4);
            let _ = writeln!(
                out,
                "<path d=\"M{left} {from}V{middle}H{}\" fill=\"none\" stroke=\"#999\"/>",
                x - 3
            );
        }
        last.resize(row.depth, y);
        last.push(y);
        let _ = writeln!(
            out,
            "<text x=\"{x}\" y=\"{y}\"><tspan font-weight=\"bold\">{}</tspan>\
             <tspan dx=\"12\" fill=\"#555\">{}</tspan></text>",
            xml(&row.name),
            xml(&row.note)
        );
    }
    out + "</svg>\n"
}

/// Size of a panel without its margin [px].
const PANEL: f64 = 360.0;

/// The robot from the side (x to the right) and from the front (y to the right), to one scale.
pub fn views(title: &str, body: &Body) -> String {
    let points =
        || body.solids.iter().flatten().chain(body.bones.iter().flatten()).copied().filter(finite);
    let range = |axis: usize| {
        let values = points().map(|point| point[axis]);
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)))
    };
    let ranges = [range(0), range(1), range(2)];
    let largest = ranges.iter().map(|(a, b)| b - a).fold(0.0, f64::max);
    let scale = if largest > 0.0 { PANEL / largest } else { 1.0 };
    let height = ((ranges[2].1 - ranges[2].0).max(0.0) * scale).clamp(40.0, PANEL);
    let panel = PANEL + 2.0 * f64::from(MARGIN);
    #[expect(clippy::cast_possible_truncation, reason = "a few hundred pixels")]
    let (wide, high) = ((2.0 * panel) as i32, height as i32 + 4 * MARGIN + ROW);
    let mut out = head(wide, high, title);
    for (i, (axis, name)) in [(0, "side: x, z"), (1, "front: y, z")].into_iter().enumerate() {
        let left = panel * i as f64 + 0.5 * panel;
        let middle = 0.5 * (ranges[axis].0 + ranges[axis].1);
        let place = |point: &[f64; 3]| {
            let x = left + (point[axis] - middle) * scale;
            let y = f64::from(MARGIN + ROW) + 10.0 + (ranges[2].1 - point[2]) * scale;
            [x, y]
        };
        for solid in &body.solids {
            let flat: Vec<[f64; 2]> = solid.iter().filter(|p| finite(p)).map(place).collect();
            let outline = hull(flat);
            let corners: Vec<String> =
                outline.iter().map(|[x, y]| format!("{x:.1},{y:.1}")).collect();
            let _ = writeln!(
                out,
                "<polygon points=\"{}\" fill=\"#5b8dbd\" fill-opacity=\"0.25\" \
                 stroke=\"#2f5f8f\"/>",
                corners.join(" ")
            );
        }
        for bone in body.bones.iter().filter(|bone| bone.iter().all(finite)) {
            let ([x1, y1], [x2, y2]) = (place(&bone[0]), place(&bone[1]));
            let _ = writeln!(
                out,
                "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" \
                 stroke=\"#333\" stroke-width=\"1.5\" stroke-linecap=\"round\"/>\
                 <circle cx=\"{x2:.1}\" cy=\"{y2:.1}\" r=\"2\" fill=\"#333\"/>"
            );
        }
        let base = high - MARGIN;
        let _ = writeln!(
            out,
            "<text x=\"{left:.0}\" y=\"{base}\" text-anchor=\"middle\" fill=\"#555\">{name}</text>"
        );
    }
    // A length to measure by.
    let length = round_length(0.25 * largest);
    let (from, to) = (0.5 * panel * 2.0 - 0.5 * length * scale, panel + 0.5 * length * scale);
    let y = high - MARGIN - 14;
    let _ = writeln!(
        out,
        "<path d=\"M{from:.1} {y}H{to:.1}\" stroke=\"#333\"/><text x=\"{panel:.0}\" \
         y=\"{}\" text-anchor=\"middle\" fill=\"#555\">{length} m</text>",
        y - 4
    );
    out + "</svg>\n"
}

fn finite(point: &[f64; 3]) -> bool {
    point.iter().all(|number| number.is_finite())
}

fn head(wide: i32, high: i32, title: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" \
         viewBox=\"0 0 {wide} {high}\" font-family=\"Helvetica, Arial, sans-serif\" \
         font-size=\"{FONT}\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{MARGIN}\" y=\"{}\" font-weight=\"bold\">{}</text>\n",
        MARGIN + 10,
        xml(title)
    )
}

/// 1, 2 or 5 times a power of ten, at most `length`.
fn round_length(length: f64) -> f64 {
    if !(length > 0.0 && length.is_finite()) {
        return 1.0;
    }
    let power = 10.0_f64.powf(length.log10().floor());
    let steps = [5.0, 2.0, 1.0];
    steps.iter().map(|step| step * power).find(|step| *step <= length).unwrap_or(power)
}

/// Corners of the convex hull of points, in order (A. M. Andrew's monotone chain, 1979).
fn hull(mut points: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    points.dedup();
    if points.len() < 3 {
        return points;
    }
    let turn = |a: &[f64; 2], b: &[f64; 2], c: &[f64; 2]| {
        (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    };
    let chain = |points: &mut dyn Iterator<Item = &[f64; 2]>| {
        let mut out: Vec<[f64; 2]> = Vec::new();
        for point in points {
            while let [.., a, b] = &out[..]
                && turn(a, b, point) <= 0.0
            {
                out.pop();
            }
            out.push(*point);
        }
        out.pop();
        out
    };
    let mut lower = chain(&mut points.iter());
    lower.extend(chain(&mut points.iter().rev()));
    lower
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hull_of_a_square_and_its_inside_is_the_square() {
        let mut points = vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        points.extend((1..9).map(|i| [0.1 * f64::from(i), 0.5]));
        points.push([0.5, 0.0]);
        assert_eq!(hull(points), [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]);
    }

    /// Side and front have one scale, and z is up in both.
    #[test]
    fn a_box_is_as_wide_as_it_is() {
        let corner = |i: u32, axis: u32, size: f64| if i >> axis & 1 == 0 { 0.0 } else { size };
        let solid = (0..8).map(|i| [corner(i, 0, 2.0), corner(i, 1, 1.0), corner(i, 2, 0.5)]);
        let body = Body { bones: vec![[[0.0; 3], [0.0, 0.0, 0.5]]], solids: vec![solid.collect()] };
        let svg = views("box & co", &body);
        let polygons: Vec<Vec<f64>> = svg
            .split("<polygon points=\"")
            .skip(1)
            .map(|rest| {
                let list = rest.split('"').next().unwrap_or_default();
                list.split([' ', ',']).map(|number| number.parse().expect("a number")).collect()
            })
            .collect();
        let span = |numbers: &[f64], first: usize| {
            let values = || numbers.iter().skip(first).step_by(2).copied();
            values().fold(f64::MIN, f64::max) - values().fold(f64::MAX, f64::min)
        };
        assert_eq!(polygons.len(), 2);
        assert!((span(&polygons[0], 0) - 360.0).abs() < 0.2);
        assert!((span(&polygons[1], 0) - 180.0).abs() < 0.2);
        assert!((span(&polygons[0], 1) - 90.0).abs() < 0.2);
        assert!(svg.contains("box &amp; co") && svg.contains("0.5 m"));
    }

    #[test]
    fn rows_hang_from_the_row_above_them() {
        let row = |depth, name: &str| Row { depth, name: name.to_owned(), note: "1 kg".to_owned() };
        let svg = tree("r", &[row(0, "a"), row(1, "b"), row(2, "c"), row(1, "d")]);
        let paths: Vec<&str> = svg.lines().filter(|line| line.starts_with("<path")).collect();
        // b and d hang from a, at y = 60; c from b, at 82.
        let starts: Vec<bool> = ["66V", "88V", "66V"]
            .iter()
            .zip(&paths)
            .map(|(start, path)| path.contains(start))
            .collect();
        assert_eq!((paths.len(), starts), (3, vec![true; 3]), "{paths:?}");
    }
}
