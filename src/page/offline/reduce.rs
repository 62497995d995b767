//! Meshes with fewer triangles, for pages that are files.

use std::collections::BTreeMap;

use legwork_scene::{Patch, Surface};

/// Triangles of all meshes of a page.
const MOST_TRIANGLES: usize = 24_000;
/// Cells along the longest edge of a mesh, at most and at least.
const MOST_CELLS: u32 = 256;
const LEAST_CELLS: u32 = 4;

/// The surfaces, with so few triangles that a page holds them. Each has its share.
pub(super) fn surfaces(all: &BTreeMap<String, Surface>) -> BTreeMap<String, Surface> {
    let total: usize = all.values().map(triangles).sum();
    let reduced = |surface: &Surface| {
        let share = triangles(surface) as f64 * MOST_TRIANGLES as f64 / total.max(1) as f64;
        match total > MOST_TRIANGLES {
            true => reduced(surface, (share as usize).max(12)),
            false => surface.clone(),
        }
    };
    all.iter().map(|(path, surface)| (path.clone(), reduced(surface))).collect()
}

fn triangles(surface: &Surface) -> usize {
    surface.patches.iter().map(|patch| patch.triangles.len()).sum()
}

/// A surface of at most so many triangles, if its coarsest form has no more.
fn reduced(surface: &Surface, most: usize) -> Surface {
    let mut cells = MOST_CELLS;
    let mut coarse = surface.clone();
    while triangles(&coarse) > most && cells >= LEAST_CELLS {
        coarse = clustered(surface, cells);
        cells = cells * 3 / 4;
    }
    coarse
}

/// The corners in a cell of a grid become one, at their mean; triangles that lose a corner go
/// (Rossignac and Borrel, *Multi-resolution 3D approximations*, 1993).
fn clustered(surface: &Surface, cells: u32) -> Surface {
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for vertex in &surface.vertices {
        for axis in 0..3 {
            low[axis] = low[axis].min(vertex[axis]);
            high[axis] = high[axis].max(vertex[axis]);
        }
    }
    let longest = (0..3).map(|axis| high[axis] - low[axis]).fold(f64::MIN_POSITIVE, f64::max);
    let cell = longest / f64::from(cells);
    let mut known: BTreeMap<[u32; 3], u32> = BTreeMap::new();
    let mut sums: Vec<([f64; 3], f64)> = Vec::new();
    let numbers: Vec<u32> = (surface.vertices.iter())
        .map(|vertex| {
            let key = [0, 1, 2].map(|axis| ((vertex[axis] - low[axis]) / cell) as u32);
            let next = sums.len() as u32;
            let number = *known.entry(key).or_insert(next);
            if number == next {
                sums.push(([0.0; 3], 0.0));
            }
            let (sum, count) = &mut sums[number as usize];
            (0..3).for_each(|axis| sum[axis] += vertex[axis]);
            *count += 1.0;
            number
        })
        .collect();
    let patches = surface.patches.iter().map(|patch| {
        let mapped = patch.triangles.iter().map(|corners| corners.map(|c| numbers[c as usize]));
        let triangles = mapped.filter(|[a, b, c]| a != b && b != c && c != a).collect();
        Patch { triangles, color: patch.color }
    });
    Surface {
        patches: patches.collect(),
        vertices: sums.iter().map(|(sum, count)| sum.map(|part| part / count)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ball of radius 1 with n × n corners.
    fn ball(n: u32) -> Surface {
        let mut surface = Surface::default();
        let mut triangles = Vec::new();
        for i in 0..=n {
            for j in 0..n {
                let (theta, phi) = (
                    std::f64::consts::PI * f64::from(i) / f64::from(n),
                    std::f64::consts::TAU * f64::from(j) / f64::from(n),
                );
                let ring = theta.sin();
                surface.vertices.push([ring * phi.cos(), ring * phi.sin(), theta.cos()]);
                if i < n {
                    let at = |i: u32, j: u32| i * n + j % n;
                    triangles.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
                    triangles.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
                }
            }
        }
        surface.patches.push(Patch { triangles, color: None });
        surface
    }

    #[test]
    fn a_reduced_ball_is_still_one() {
        let fine = ball(200);
        let coarse = reduced(&fine, 3000);
        assert!(triangles(&fine) == 80_000 && triangles(&coarse) <= 3000);
        assert!(triangles(&coarse) > 500, "{}", triangles(&coarse));
        let inside = |vertex: &[f64; 3]| {
            let radius = vertex.iter().map(|x| x * x).sum::<f64>().sqrt();
            (0.9..=1.0 + 1e-12).contains(&radius)
        };
        assert!(coarse.vertices.iter().all(inside));
        let count = coarse.vertices.len() as u32;
        assert!(coarse.patches[0].triangles.iter().flatten().all(|corner| *corner < count));
    }

    #[test]
    fn few_triangles_stay_as_they_are() {
        let all = BTreeMap::from([("a".to_owned(), ball(10))]);
        assert_eq!(surfaces(&all), all);
    }
}
