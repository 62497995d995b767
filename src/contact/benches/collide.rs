//! Nanoseconds per pair of solids of [`collide`], of pairs that standard input lists.
//!
//! `cargo bench -p legwork-contact --bench collide < PAIRS`; `benches/peers/collisions.py` makes
//! them, and times MuJoCo with the same. The first line holds the reach [m]. A line `pair` is
//! followed by two lines of a solid each: its name, its numbers as [`Solid`] has them (of a hull
//! the number of corners and these), centre and rotation, row by row.
//!
//! Prints the time, the mean number of witnesses, then the least gap of each pair, or `none`.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench reports, or stops")]

use std::io::Read;
use std::sync::Arc;
use std::time::{Duration, Instant};

use legwork_contact::collision::{Manifold, Polytope, Pose, Solid, Witness, collide};
use nalgebra::{Matrix3, Vector3};

/// Most witnesses of a pair, as `Collisions` keeps by default.
const PER_PAIR: usize = 4;
/// How long all are repeated, and how many times are taken at least.
const LONG: Duration = Duration::from_millis(300);
const TIMES: usize = 15;

struct Placed {
    solid: Solid,
    pose: Pose,
    radius: f64,
}

fn main() {
    let mut text = String::new();
    // `cargo test --benches` gives no pairs: there is nothing to do.
    std::io::stdin().read_to_string(&mut text).unwrap();
    let mut lines = text.lines();
    let Some(reach) = lines.next() else { return };
    let reach: f64 = reach.parse().unwrap();
    let mut pairs = Vec::new();
    while lines.next().is_some() {
        pairs.push([placed(lines.next().unwrap()), placed(lines.next().unwrap())]);
    }

    let mut manifold = Manifold::default();
    let (mut times, begun) = (Vec::new(), Instant::now());
    let mut witnesses = 0;
    while times.len() < TIMES || begun.elapsed() < LONG {
        let start = Instant::now();
        witnesses = 0;
        for pair in &pairs {
            witnesses += near(pair, reach, &mut manifold).len();
        }
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    let each = 1e9 / pairs.len() as f64;
    println!("{} {}", times[times.len() / 2] * each, witnesses as f64 / pairs.len() as f64);
    for pair in &pairs {
        let witnesses = near(pair, reach, &mut manifold);
        let gap = witnesses.iter().map(|w| w.gap).fold(f64::INFINITY, f64::min);
        if gap.is_finite() { println!("{gap:e}") } else { println!("none") }
    }
}

/// A pair as `Collisions` looks at it: the balls around both first.
fn near<'a>([one, other]: &[Placed; 2], reach: f64, manifold: &'a mut Manifold) -> &'a [Witness] {
    let most = one.radius + other.radius + reach;
    if (one.pose.centre - other.pose.centre).norm_squared() > most * most {
        return &[];
    }
    collide((&one.solid, &one.pose), (&other.solid, &other.pose), reach, manifold);
    manifold.reduce(PER_PAIR);
    manifold.witnesses()
}

fn placed(line: &str) -> Placed {
    let mut words = line.split_whitespace();
    let name = words.next().unwrap();
    let numbers: Vec<f64> = words.map(|word| word.parse().unwrap()).collect();
    let (solid, rest) = match (name, numbers.as_slice()) {
        ("sphere", [radius, rest @ ..]) => (Solid::Sphere { radius: *radius }, rest),
        ("box", [x, y, z, rest @ ..]) => (Solid::Box { half_size: Vector3::new(*x, *y, *z) }, rest),
        ("capsule", [radius, half_length, rest @ ..]) => {
            (Solid::Capsule { radius: *radius, half_length: *half_length }, rest)
        }
        ("cylinder", [radius, half_length, rest @ ..]) => {
            (Solid::Cylinder { radius: *radius, half_length: *half_length }, rest)
        }
        ("hull", [count, rest @ ..]) => {
            let (corners, rest) = rest.split_at(3 * *count as usize);
            let corners: Vec<_> = corners.chunks_exact(3).map(Vector3::from_row_slice).collect();
            (Solid::Hull(Arc::new(Polytope::new(&corners).unwrap())), rest)
        }
        _ => panic!("no solid: {line}"),
    };
    let centre = Vector3::from_row_slice(&rest[..3]);
    let rotation = Matrix3::from_row_slice(&rest[3..]);
    let radius = solid.bounding_radius();
    Placed { solid, pose: Pose { centre, rotation }, radius }
}
