//! Time of inverse dynamics with contact forces over the number of contacts, on a quadruped of 18
//! velocities and 12 joints.
//!
//! `cargo bench -p legwork-control --bench contacts -- [--csv FILE]` prints a table, or writes
//! FILE, of medians per call [us], each the mean over several robots. Points are spread under the
//! four feet, as in Figure 19 of S. Zapolsky and E. Drumwright, *Inverse dynamics with rigid
//! contact and friction* (2017). A robot runs through a sequence of desired accelerations that
//! change little from call to call; "cold" forgets between calls which contacts pressed, the others
//! have no memory.
//!
//! ```text
//! legwork plot FILE 'no-slip LCP' 'no-slip LCP cold' 'Coulomb QP' 'Coulomb QP one stage' \
//!     'Coulomb LCP' 'no-slip QP' --log y -o src/control/docs/contacts.svg \
//!     --title 'Inverse dynamics with contact, 18 velocities' --label 'time per call [us]'
//! ```
//!
//! draws them.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench may stop, and prints")]

#[path = "../../qp/benches/common/timing.rs"]
mod timing;

use std::hint::black_box;

use legwork_control::{ContactInverseDynamics, ContactModel, ContactTask, Stages};
use legwork_qp::problems::Random;
use legwork_qp::{Cone, ConeShape, PyramidFit};

const NV: usize = 18;
const JOINTS: usize = 12;
/// Tasks of a sequence.
const COUNT: usize = 64;
/// Seconds that a figure is measured.
const SECONDS: f64 = 0.05;
/// Robots over which figures are means.
const ROBOTS: u64 = 4;
/// Time of a call above which no larger numbers of contacts are measured [us].
const LIMIT: f64 = 20e3;
const GRAVITY: f64 = 9.81;
/// Hips against the trunk's centre [m].
const HIPS: [[f64; 2]; 4] = [[0.19, 0.11], [0.19, -0.11], [-0.19, 0.11], [-0.19, -0.11]];
/// Height of the trunk's centre [m].
const HEIGHT: f64 = 0.28;
/// Knees are this far behind the hips [m].
const KNEE: f64 = 0.15;

const MODELS: [(&str, ContactModel, bool); 6] = [
    ("no-slip LCP", ContactModel::NoSlipLcp, true),
    ("no-slip LCP cold", ContactModel::NoSlipLcp, false),
    ("Coulomb QP", ContactModel::CoulombQp { stages: Stages::Two }, true),
    ("Coulomb QP one stage", ContactModel::CoulombQp { stages: Stages::One }, true),
    ("no-slip QP", ContactModel::NoSlipQp { stages: Stages::Two }, true),
    ("Coulomb LCP", ContactModel::CoulombLcp, true),
];

/// A quadruped on its feet, and the desired motion of its joints.
struct Robot {
    mass_matrix: Vec<f64>,
    bias_force: Vec<f64>,
    velocity: Vec<f64>,
    joints: Vec<f64>,
    accelerations: Vec<Vec<f64>>,
    jacobian: Vec<f64>,
    gaps: Vec<f64>,
    friction: Vec<f64>,
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Jacobian (3 × nv, column-major) of a point of the trunk, or of a leg after `joints` joints; `at`
/// is relative to the trunk's centre.
fn point_jacobian(leg: usize, joints: usize, at: [f64; 3]) -> Vec<f64> {
    let mut columns = vec![[0.0; 3]; NV];
    for axis in 0..3 {
        let mut unit = [0.0; 3];
        unit[axis] = 1.0;
        columns[axis] = unit;
        columns[3 + axis] = cross(unit, at);
    }
    let [x, y] = HIPS[leg];
    let places = [[x, y, 0.0], [x, y, 0.0], [x - KNEE, y, -0.5 * HEIGHT]];
    let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
    for joint in 0..joints {
        let place = places[joint];
        let arm = [at[0] - place[0], at[1] - place[1], at[2] - place[2]];
        columns[6 + 3 * leg + joint] = cross(axes[joint], arm);
    }
    columns.concat()
}

fn robot(contacts: usize, seed: u64) -> Robot {
    let mut random = Random::new(contacts as u64 + 1000 * seed);
    let (mut mass_matrix, mut bias_force) = (vec![0.0; NV * NV], vec![0.0; NV]);
    let mut add = |mass: f64, jacobian: &[f64]| {
        for i in 0..NV {
            bias_force[i] += mass * GRAVITY * jacobian[3 * i + 2];
            for j in 0..NV {
                let product: f64 = (0..3).map(|k| jacobian[3 * i + k] * jacobian[3 * j + k]).sum();
                mass_matrix[j * NV + i] += mass * product;
            }
        }
    };
    for (leg, [x, y]) in HIPS.into_iter().enumerate() {
        // The trunk as eight points, legs as points beside their middles, so that they have
        // inertia.
        for z in [-0.05, 0.05] {
            add(0.41, &point_jacobian(leg, 0, [x, 0.5 * y, z]));
        }
        for side in [-0.03, 0.03] {
            let (thigh, shank) = (x - 0.4 * KNEE, x - 0.5 * KNEE);
            add(0.27, &point_jacobian(leg, 1, [x + side, y + 0.02, 0.0]));
            add(0.32, &point_jacobian(leg, 2, [thigh + side, y, -0.2 * HEIGHT + side]));
            add(0.03, &point_jacobian(leg, 3, [shank + side, y, -0.75 * HEIGHT - side]));
        }
    }
    for joint in 6..NV {
        mass_matrix[joint * NV + joint] += 0.0023;
    }
    let mut jacobian = vec![0.0; 3 * contacts * NV];
    for i in 0..contacts {
        let leg = i % 4;
        let [x, y] = HIPS[leg];
        let at = [x + 0.02 * random.normal(), y + 0.01 * random.normal(), -HEIGHT];
        let rows = point_jacobian(leg, 3, at);
        for (column, row) in rows.chunks_exact(3).enumerate() {
            jacobian[3 * contacts * column + 3 * i..][..3].copy_from_slice(row);
        }
    }
    let mut desired: Vec<f64> = (0..JOINTS).map(|_| 5.0 * random.normal()).collect();
    let accelerations = (0..COUNT)
        .map(|_| {
            desired.iter_mut().for_each(|a| *a += 0.1 * random.normal());
            desired.clone()
        })
        .collect();
    let mut joints = vec![1.0; NV];
    joints[..6].fill(0.0);
    Robot {
        mass_matrix,
        bias_force,
        velocity: vec![0.0; NV],
        joints,
        accelerations,
        jacobian,
        gaps: vec![0.0; contacts],
        friction: vec![0.7; contacts],
    }
}

impl Robot {
    fn task(&self, i: usize) -> ContactTask<'_> {
        ContactTask {
            mass_matrix: &self.mass_matrix,
            bias_force: &self.bias_force,
            velocity: &self.velocity,
            joints: &self.joints,
            acceleration: &self.accelerations[i],
            jacobian: &self.jacobian,
            gaps: &self.gaps,
            friction: &self.friction,
            time_step: 1e-3,
        }
    }
}

/// Mean of the median times [us], and the fraction of tasks that were not solved.
fn figure(contacts: usize, model: ContactModel, remembers: bool) -> (f64, f64) {
    let cone = Cone::Pyramid { sides: 4, fit: PyramidFit::Inscribed };
    let (mut time, mut failures) = (0.0, 0);
    for seed in 0..ROBOTS {
        let robot = robot(contacts, seed);
        let mut solver = ContactInverseDynamics::new(model, ConeShape::new(cone).unwrap());
        let (mut memory, mut forces) = (vec![0.0; contacts], vec![0.0; 3 * contacts]);
        let (mut torque, mut after) = (vec![0.0; JOINTS], vec![0.0; NV]);
        let mut call = |i: usize| {
            if !remembers {
                memory.fill(0.0);
            }
            let task = black_box(robot.task(i));
            let prediction = solver.solve(&task, &mut memory, &mut torque, &mut forces, &mut after);
            black_box(&torque);
            prediction.outcome.status.is_usable()
        };
        failures += (0..COUNT).filter(|&i| !call(i)).count();
        let mut next = 0;
        time += 1e-3 / ROBOTS as f64
            * timing::median_ns(SECONDS, || {
                call(next);
                next = (next + 1) % COUNT;
            });
    }
    (time, failures as f64 / (ROBOTS as usize * COUNT) as f64)
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
    let mut text = String::from("contacts");
    for (name, ..) in MODELS {
        text += &format!(",{name} [us]");
    }
    if csv.is_none() {
        println!("{text}; in brackets the fraction of tasks without a solution");
    }
    let mut ended = [false; MODELS.len()];
    for contacts in [1, 2, 4, 6, 8, 10, 12, 16, 20, 25, 30, 35, 40, 45, 50, 55, 60] {
        text += &format!("\n{contacts}");
        let mut line = format!("{contacts:8}");
        for ((_, model, remembers), ended) in MODELS.into_iter().zip(&mut ended) {
            if *ended {
                text += ",";
                line += "         -       ";
                continue;
            }
            let (time, failures) = figure(contacts, model, remembers);
            *ended = time > LIMIT;
            text += &format!(",{time:.3}");
            line += &format!("{time:10.1} ({failures:4.2})");
        }
        if csv.is_none() {
            println!("{line}");
        }
    }
    if let Some(file) = csv {
        std::fs::write(file, text + "\n").unwrap();
    }
}
