//! Time of the complementarity solvers over the number of contacts, on a robot of 18 velocities.
//!
//! Medians of batches in microseconds; "cold" begins without pressing contacts, "warm" with those
//! of the last of a sequence of slightly different problems. The mass factor is dense.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench may stop, and prints")]

use std::hint::black_box;
use std::time::Instant;

use legwork_qp::complementarity::{DenseMass, HalfInverseMass, Lemke, PrincipalPivoting};
use legwork_qp::problems::{Random, random_definite};
use legwork_qp::{
    Cone, ConeShape, ContactSolver, Lcp, LemkeSolver, PrincipalPivotingSolver, PyramidFit,
};

const DIM: usize = 18;
/// Problems of a sequence.
const COUNT: usize = 64;

struct Robot {
    mass: DenseMass,
    normals: Vec<f64>,
    vectors: Vec<Vec<f64>>,
}

/// Base of 9 kg with four legs of three joints; `contacts` points spread over the soles of the feet,
/// (in random directions if `spread`), falling onto the ground with a velocity that changes little along the sequence.
fn robot(contacts: usize, spread: bool) -> Robot {
    let mut random = Random::new(contacts as u64);
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

/// Median over batches of the time of one call [µs]; a batch is one pass over the sequence.
fn median(mut pass: impl FnMut()) -> f64 {
    pass();
    let mut times = Vec::new();
    let begin = Instant::now();
    while times.len() < 7 || (begin.elapsed().as_secs_f64() < 0.2 && times.len() < 400) {
        let start = Instant::now();
        pass();
        times.push(start.elapsed().as_secs_f64() * 1e6 / COUNT as f64);
    }
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() {
    normal_contacts("points under the feet", false);
    normal_contacts("normals in random directions", true);
    pyramids();
}

fn normal_contacts(name: &str, spread: bool) {
    println!("\n{name}, 18 velocities, medians per solve [us]");
    println!("contacts  pivoting cold (pivots)  warm (pivots)  Lemke dense (pivots)");
    for contacts in [1, 5, 10, 20, 40, 60] {
        let robot = robot(contacts, spread);
        let mut solver = PrincipalPivoting::new(contacts, DIM);
        let mut forces = vec![0.0; contacts];
        let mut flags = vec![0.0; contacts];
        let (mut calls, mut cold_pivots, mut warm_pivots, mut lemke_pivots) = (0, 0, 0, 0);
        let cold = median(|| {
            for vector in &robot.vectors {
                flags.fill(0.0);
                let outcome = solver.solve(
                    black_box(&robot.normals),
                    &robot.mass,
                    vector,
                    &mut flags,
                    &mut forces,
                );
                assert!(outcome.status.is_usable());
                cold_pivots += outcome.iterations;
                calls += 1;
            }
        });
        let cold_pivots = f64::from(cold_pivots) / f64::from(calls);
        calls = 0;
        let warm = median(|| {
            for vector in &robot.vectors {
                let outcome = solver.solve(
                    black_box(&robot.normals),
                    &robot.mass,
                    vector,
                    &mut flags,
                    &mut forces,
                );
                assert!(outcome.status.is_usable());
                warm_pivots += outcome.iterations;
                calls += 1;
            }
        });
        let warm_pivots = f64::from(warm_pivots) / f64::from(calls);
        let mut columns = robot.normals.clone();
        columns.chunks_exact_mut(DIM).for_each(|column| robot.mass.half_solve(column));
        let mut matrix = vec![0.0; contacts * contacts];
        for j in 0..contacts {
            for i in 0..contacts {
                matrix[j * contacts + i] =
                    (0..DIM).map(|k| columns[i * DIM + k] * columns[j * DIM + k]).sum();
            }
        }
        let mut lemke = Lemke::new(contacts);
        calls = 0;
        let dense = median(|| {
            for vector in &robot.vectors {
                let lcp = Lcp::new(black_box(&matrix), vector).unwrap();
                let outcome = lemke.solve(&lcp, &mut forces);
                assert!(outcome.status.is_usable(), "{outcome:?}");
                lemke_pivots += outcome.iterations;
                calls += 1;
            }
        });
        let lemke_pivots = f64::from(lemke_pivots) / f64::from(calls);
        println!(
            "{contacts:8}  {cold:13.1} ({cold_pivots:5.1})  {warm:6.1} ({warm_pivots:4.1})  \
             {dense:11.1} ({lemke_pivots:5.1})"
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
        let mut time = |solver: &mut dyn ContactSolver| {
            median(|| {
                for problem in &problems {
                    let outcome = solver.solve(&black_box(problem).view(), &mut forces);
                    assert!(outcome.status.is_usable());
                }
            })
        };
        let pivoting = time(&mut PrincipalPivotingSolver::new(contacts, 4));
        let lemke = time(&mut LemkeSolver::new(contacts, 4));
        println!("{contacts:8}  {pivoting:8.1} {lemke:8.1}");
    }
}
