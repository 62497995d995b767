//! Heights: boxes keep clear of each other, wires are straight where they can be.

use super::GRID;
use super::order::{Columns, Vertex};

/// Targets of a vertex: heights at which one of its wires would be straight, with weights.
type Targets = Vec<(i32, i32)>;

/// Which wires a sweep looks at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
    Both,
}

/// The top of each vertex [px], a multiple of the grid.
///
/// Coordinate descent, one row at a time, each row solved exactly: first least squares (settles the
/// whole), then least absolute deviations (makes single wires straight). A row is an isotonic
/// regression: with the room that the boxes above need taken off, heights may not decrease.
pub(super) fn heights(columns: &Columns) -> Vec<i32> {
    let mut y = vec![0; columns.vertices.len()];
    for row in &columns.rows {
        let mut at = 0;
        for (i, &v) in row.iter().enumerate() {
            at += if i > 0 { gap(columns, row[i - 1], v) } else { 0 };
            y[v] = at;
            at += columns.heights[v];
        }
    }
    let links = links(columns);
    let rows = columns.rows.len();
    let forward: Vec<usize> = (0..rows).collect();
    let backward: Vec<usize> = (0..rows).rev().collect();
    for _ in 0..4 {
        sweep(columns, &links, &mut y, &forward, Side::Left, mean);
        sweep(columns, &links, &mut y, &backward, Side::Right, mean);
        sweep(columns, &links, &mut y, &forward, Side::Both, mean);
    }
    let mut best = (bend(columns, &y), y.clone());
    for round in 0..6 {
        let sides = if round < 3 { [Side::Left, Side::Right] } else { [Side::Both, Side::Both] };
        for (rows, side) in [(&forward, sides[0]), (&backward, sides[1]), (&forward, Side::Both)] {
            sweep(columns, &links, &mut y, rows, side, median);
            let bend = bend(columns, &y);
            if bend < best.0 {
                best = (bend, y.clone());
            }
        }
    }
    best.1
}

/// Clear room between neighbours in a row.
fn gap(columns: &Columns, above: usize, below: usize) -> i32 {
    match (columns.vertices[above], columns.vertices[below]) {
        (Vertex::Item(_), Vertex::Item(_)) => 3 * GRID,
        (Vertex::Item(_), _) | (_, Vertex::Item(_)) => 2 * GRID,
        (Vertex::Border(_), Vertex::Border(_)) => 2 * GRID,
        _ => GRID,
    }
}

/// For each vertex its wires to the left and to the right: other end, the difference of heights at
/// which the wire is straight, weight.
type Links = Vec<[Vec<(usize, i32, i32)>; 2]>;

fn links(columns: &Columns) -> Links {
    let mut links: Links = vec![[Vec::new(), Vec::new()]; columns.vertices.len()];
    for s in columns.gaps.iter().flatten() {
        let weight = weight(columns, s.left, s.right);
        links[s.right][0].push((s.left, s.left_pin - s.right_pin, weight));
        links[s.left][1].push((s.right, s.right_pin - s.left_pin, weight));
    }
    links
}

/// Long wires are kept straight first.
fn weight(columns: &Columns, left: usize, right: usize) -> i32 {
    match (columns.vertices[left], columns.vertices[right]) {
        (Vertex::Through(_), Vertex::Through(_)) => 8,
        (Vertex::Item(_), Vertex::Item(_)) => 2,
        _ => 3,
    }
}

fn bend(columns: &Columns, y: &[i32]) -> i64 {
    let mut sum = 0;
    for s in columns.gaps.iter().flatten() {
        let bend = (y[s.left] + s.left_pin - y[s.right] - s.right_pin).abs();
        // A wire that bends at all costs as much as 60 px.
        let cost = if bend == 0 { 0 } else { bend + 60 };
        sum += i64::from(weight(columns, s.left, s.right) * cost);
    }
    sum
}

fn sweep(
    columns: &Columns,
    links: &Links,
    y: &mut [i32],
    rows: &[usize],
    side: Side,
    value: fn(&mut Targets) -> i32,
) {
    for &r in rows {
        let row = &columns.rows[r];
        // Blocks of vertices that touch: first vertex, targets, height.
        let mut blocks: Vec<(usize, Targets, i32)> = Vec::new();
        let mut offsets = Vec::with_capacity(row.len());
        let mut offset = 0;
        for (i, &v) in row.iter().enumerate() {
            if i > 0 {
                offset += columns.heights[row[i - 1]] + gap(columns, row[i - 1], v);
            }
            offsets.push(offset);
            let mut targets = Targets::new();
            for (s, links) in links[v].iter().enumerate() {
                if side == Side::Both || (side == Side::Left) == (s == 0) {
                    targets.extend(links.iter().map(|&(w, d, weight)| (y[w] + d - offset, weight)));
                }
            }
            if targets.is_empty() {
                targets.push((y[v] - offset, 1));
            }
            let height = value(&mut targets);
            blocks.push((i, targets, height));
            while let [.., (_, _, above), (_, _, below)] = blocks.as_slice()
                && above > below
            {
                if let (Some((_, more, _)), Some((_, targets, height))) =
                    (blocks.pop(), blocks.last_mut())
                {
                    targets.extend(more);
                    *height = value(targets);
                }
            }
        }
        for (b, (first, _, height)) in blocks.iter().enumerate() {
            let end = blocks.get(b + 1).map_or(row.len(), |next| next.0);
            for i in *first..end {
                y[row[i]] = height + offsets[i];
            }
        }
    }
}

fn mean(targets: &mut Targets) -> i32 {
    let (sum, weight) = targets.iter().fold((0i64, 0i64), |(sum, weight), &(y, w)| {
        (sum + i64::from(y) * i64::from(w), weight + i64::from(w))
    });
    let grid = i64::from(GRID) * weight;
    ((sum + grid / 2).div_euclid(grid)) as i32 * GRID
}

fn median(targets: &mut Targets) -> i32 {
    // The joined pieces are sorted already.
    targets.sort();
    let total: i32 = targets.iter().map(|w| w.1).sum();
    let mut seen = 0;
    for &(y, weight) in targets.iter() {
        seen += weight;
        if 2 * seen >= total {
            return y;
        }
    }
    0
}
