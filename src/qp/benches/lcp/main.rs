//! Time of the complementarity solvers over the number of contacts, on a robot of 18 velocities.
//!
//! `cargo bench -p legwork-qp --bench lcp -- [--csv FILE]` prints two tables: principal pivoting on
//! contact normals beside Lemke's method on the dense matrix, and both on friction pyramids.
//! Medians over many short batches [us]; "cold" begins without pressing contacts, "warm" with those
//! of the last of a sequence of slightly different problems. The mass factor is dense. FILE gets
//! times of principal pivoting for many numbers of contacts, means over eight robots each;
//!
//! ```text
//! legwork plot FILE 'feet cold' 'feet warm' 'random cold' 'random warm' \
//!     -o src/qp/docs/ppm_contacts.svg --title "Principal pivoting, 18 velocities" \
//!     --label "time per solve [us]"
//! ```
//!
//! draws them.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench may stop, and prints")]

#[path = "../common/timing.rs"]
mod timing;

use std::hint::black_box;

use legwork_qp::complementarity::{DenseMass, HalfInverseMass, Lemke, PrincipalPivoting};
use legwork_qp::problems::{Random, random_definite};
use legwork_qp::{
    Cone, ConeShape, ContactMethod, Lcp, LemkeSolver, PrincipalPivotingSolver, PyramidFit,
};

const DIM: usize = 18;
/// Problems of a sequence.
const COUNT: usize = 64;
/// Seconds that a figure is measured.
const SECONDS: f64 = 0.1;
/// Robots over which the figures of the file are means.
const ROBOTS: u64 = 8;

struct Robot {
    mass: DenseMass,
    normals: Vec<f64>,
    vectors: Vec<Vec<f64>>,
}

/// Base of 9 kg with four legs of three joints; `contacts` points spread over the soles of the feet
/// (normals in random directions if `spread`), falling onto the ground with a velocity that changes
/// little along the sequence.
fn robot(contacts: usize, spread: bool, seed: u64) -> Robot {
    let mut random = Random::new(contacts as u64 + 1000 * seed);
    let scale: Vec<f64> = (0..DIM)
        .map(|i| {
            if i < 3 {
                9.0
            } else if i < 6 {
                0.2
            } else {
                0.02
            }
        })
        .collect();
    let root: Vec<f64> = (0..DIM * DIM).map(|_| 0.2 * random.normal()).collect();
    let mut mass = vec![0.0; DIM * DIM];
    for j in 0..DIM {
        for i in 0..DIM {
            let product: f64 = (0..DIM).map(|k| root[i * DIM + k] * root[j * DIM + k]).sum();
            let unit = if i == j { 1.0 } else { 0.0 };
            mass[j * DIM + i] = (scale[i] * scale[j]).sqrt() * (unit + product);
        }
    }
    let mut normals = vec![0.0; DIM * contacts];
    for (i, normal) in normals.chunks_exact_mut(DIM).enumerate() {
        let leg = i % 4;
        let (x, y) = ([0.19, 0.19, -0.19, -0.19][leg], [0.11, -0.11, 0.11, -0.11][leg]);
        let (dx, dy) = (0.04 * random.normal(), 0.02 * random.normal());
        normal[2] = 1.0;
        normal[3] = y + dy;
        normal[4] = -(x + dx);
        normal[6 + 3 * leg] = 0.08 + dy;
        normal[7 + 3 * leg] = -0.2 * random.uniform() - dx;
        normal[8 + 3 * leg] = -0.1 - dx;
    }
    if spread {
        normals.iter_mut().for_each(|n| *n = random.normal());
    }
    let mut velocity: Vec<f64> = (0..DIM).map(|_| 0.2 * random.normal()).collect();
    velocity[2] = -0.5;
    let vectors = (0..COUNT)
        .map(|_| {
            for v in &mut velocity {
                *v += 1e-3 * random.normal();
            }
            let product = |n: &[f64]| n.iter().zip(&velocity).map(|(n, v)| n * v).sum();
            normals.chunks_exact(DIM).map(product).collect()
        })
        .collect();
    Robot { mass: DenseMass::factor(DIM, &mass).unwrap(), normals, vectors }
}

/// Time of a solve [us] and its mean number of pivots.
#[derive(Clone, Copy)]
struct Figure {
    time: f64,
    pivots: f64,
}

/// `solve` is given the numbers of the problems of the sequence in turn and returns its pivots.
fn figure(mut solve: impl FnMut(usize) -> u32) -> Figure {
    let pivots: u32 = (0..COUNT).map(&mut solve).sum();
    let mut next = 0;
    let time = 1e-3
        * timing::median_ns(SECONDS, || {
            black_box(solve(next));
            next = (next + 1) % COUNT;
        });
    Figure { time, pivots: f64::from(pivots) / COUNT as f64 }
}

/// Principal pivoting on the normals, cold and warm.
fn pivoting(robot: &Robot, contacts: usize) -> [Figure; 2] {
    let mut solver = PrincipalPivoting::new(contacts, DIM);
    let (mut forces, mut flags) = (vec![0.0; contacts], vec![0.0; contacts]);
    [false, true].map(|is_warm| {
        figure(|i| {
            if !is_warm {
                flags.fill(0.0);
            }
            let normals = black_box(&robot.normals);
            let outcome =
                solver.solve(normals, &robot.mass, &robot.vectors[i], &mut flags, &mut forces);
            assert!(outcome.status.is_usable(), "{outcome:?}");
            outcome.iterations
        })
    })
}

/// Lemke's method on the dense matrix.
fn dense(robot: &Robot, contacts: usize) -> Figure {
    let mut columns = robot.normals.clone();
    columns.chunks_exact_mut(DIM).for_each(|column| robot.mass.half_solve(column));
    let mut matrix = vec![0.0; contacts * contacts];
    for (j, target) in matrix.chunks_exact_mut(contacts).enumerate() {
        for (i, target) in target.iter_mut().enumerate() {
            *target = (0..DIM).map(|k| columns[i * DIM + k] * columns[j * DIM + k]).sum();
        }
    }
    let mut lemke = Lemke::new(contacts);
    let mut forces = vec![0.0; contacts];
    figure(|i| {
        let lcp = Lcp::new(black_box(&matrix), &robot.vectors[i]).unwrap();
        let outcome = lemke.solve(&lcp, &mut forces);
        assert!(outcome.status.is_usable(), "{outcome:?}");
        outcome.iterations
    })
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut csv = None;
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--csv" => csv = arguments.next(),
            "--bench" => {}
            other => panic!("expected --csv FILE, found {other}"),
        }
    }
    if let Some(file) = csv {
        std::fs::write(file, table()).unwrap();
        return;
    }
    normal_contacts("points under the feet", false);
    normal_contacts("normals in random directions", true);
    pyramids();
}

/// The times of principal pivoting as comma-separated values.
fn table() -> String {
    let mut text = String::from("contacts");
    for (place, start) in
        [("feet", "cold"), ("feet", "warm"), ("random", "cold"), ("random", "warm")]
    {
        text += &format!(",{place} {start} [us],{place} {start} pivots [1]");
    }
    for contacts in [1, 2, 4, 6, 8, 10, 12, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60] {
        text += &format!("\n{contacts}");
        for spread in [false, true] {
            // One robot and sequence is one sample of a number of pivots that varies much.
            let mut means = [Figure { time: 0.0, pivots: 0.0 }; 2];
            for seed in 0..ROBOTS {
                let figures = pivoting(&robot(contacts, spread, seed), contacts);
                for (mean, figure) in means.iter_mut().zip(figures) {
                    mean.time += figure.time / ROBOTS as f64;
                    mean.pivots += figure.pivots / ROBOTS as f64;
                }
            }
            for mean in means {
                text += &format!(",{:.3},{:.2}", mean.time, mean.pivots);
            }
        }
    }
    text + "\n"
}

fn normal_contacts(name: &str, spread: bool) {
    println!("\n{name}, 18 velocities, medians per solve [us]");
    println!("contacts  pivoting cold (pivots)  warm (pivots)  Lemke dense (pivots)");
    for contacts in [1, 5, 10, 20, 40, 60] {
        let robot = robot(contacts, spread, 0);
        let [cold, warm] = pivoting(&robot, contacts);
        let lemke = dense(&robot, contacts);
        println!(
            "{contacts:8}  {:13.1} ({:5.1})  {:6.1} ({:4.1})  {:11.1} ({:5.1})",
            cold.time, cold.pivots, warm.time, warm.pivots, lemke.time, lemke.pivots
        );
    }
}

fn pyramids() {
    println!("\nfriction pyramids of 4 sides, medians per solve [us]");
    println!("contacts  pivoting    Lemke");
    for contacts in [1, 2, 4, 8, 16] {
        let cone = Cone::Pyramid { sides: 4, fit: PyramidFit::Circumscribed };
        let shape = ConeShape::new(cone).unwrap();
        let problems: Vec<_> =
            (0..COUNT as u64).map(|seed| random_definite(seed, contacts, shape.clone())).collect();
        let mut forces = vec![0.0; 3 * contacts];
        let mut time = |solver: &mut dyn ContactMethod| {
            figure(|i| {
                let outcome = solver.solve(&black_box(&problems[i]).view(), &mut forces);
                assert!(outcome.status.is_usable());
                outcome.iterations
            })
            .time
        };
        let pivoting = time(&mut PrincipalPivotingSolver::new(contacts, 4));
        let lemke = time(&mut LemkeSolver::new(contacts, 4));
        println!("{contacts:8}  {pivoting:8.1} {lemke:8.1}");
    }
}
