//! Time per quantity and state, single thread: `cargo bench -p legwork-mechanics`.
#![allow(clippy::unwrap_used, missing_docs, reason = "a bench, not a library")]

use divan::{Bencher, black_box};
use legwork_mechanics::nalgebra::Vector3;
use legwork_mechanics::{
    Base, Delassus, FrameId, InverseDynamics, Kinematics, MassFactor, MassMatrix, Model, Options,
    bias_force, contact_inverse_inertia, frame_jacobian, inverse_dynamics, mass_matrix, normalize,
    point_jacobian_rows,
};

fn main() {
    divan::main();
}

const ROBOTS: [&str; 2] = ["mini_cheetah", "icub"];

/// A robot, its workspaces and 128 states through which a bench cycles.
struct Setup {
    model: Model,
    feet: Vec<FrameId>,
    states: Vec<(Vec<f64>, Vec<f64>)>,
    at: usize,
    kinematics: Kinematics,
    workspace: InverseDynamics,
    mass: MassMatrix,
    factor: MassFactor,
    out: Vec<f64>,
}

impl Setup {
    fn new(robot: &str) -> Self {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../diagrams/robots");
        let text = std::fs::read_to_string(format!("{root}/{robot}/{robot}.urdf")).unwrap();
        let (model, _) = Model::from_urdf(&text, &Options::new(Base::Floating)).unwrap();
        let names: &[&str] = match robot {
            "icub" => &["l_sole", "r_sole"],
            _ => &["FL_foot", "FR_foot", "HL_foot", "HR_foot"],
        };
        let feet = names.iter().map(|name| model.find_frame(name).unwrap()).collect();
        let mut seed = 1_u64;
        let mut number = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        let states = (0..128)
            .map(|_| {
                let mut q: Vec<f64> = (0..model.configuration_dim()).map(|_| number()).collect();
                normalize(&model, &mut q);
                (q, (0..model.velocity_dim()).map(|_| number()).collect())
            })
            .collect();
        let mut setup = Self {
            kinematics: Kinematics::new(&model),
            workspace: InverseDynamics::new(&model),
            mass: MassMatrix::new(&model),
            factor: MassFactor::new(&model),
            out: vec![0.0; model.velocity_dim()],
            model,
            feet,
            states,
            at: 0,
        };
        setup.update();
        mass_matrix(&setup.model, &setup.kinematics, &mut setup.mass);
        setup.factor.factorize(&setup.mass).unwrap();
        setup
    }

    fn update(&mut self) {
        self.at = (self.at + 1) % self.states.len();
        let (q, nu) = &self.states[self.at];
        self.kinematics.update(&self.model, black_box(q), black_box(nu));
    }
}

#[divan::bench(args = ROBOTS)]
fn kinematics(bencher: Bencher<'_, '_>, robot: &str) {
    let mut s = Setup::new(robot);
    bencher.bench_local(|| s.update());
}

#[divan::bench(args = ROBOTS)]
fn kinematics_and_mass_matrix(bencher: Bencher<'_, '_>, robot: &str) {
    let mut s = Setup::new(robot);
    bencher.bench_local(|| {
        s.update();
        mass_matrix(&s.model, &s.kinematics, &mut s.mass);
    });
}

#[divan::bench(args = ROBOTS)]
fn kinematics_and_bias_force(bencher: Bencher<'_, '_>, robot: &str) {
    let mut s = Setup::new(robot);
    bencher.bench_local(|| {
        s.update();
        bias_force(&s.model, &s.kinematics, &mut s.workspace, &mut s.out);
    });
}

#[divan::bench(args = ROBOTS)]
fn kinematics_and_inverse_dynamics(bencher: Bencher<'_, '_>, robot: &str) {
    let mut s = Setup::new(robot);
    bencher.bench_local(|| {
        s.update();
        let acceleration = &s.states[s.at].1;
        inverse_dynamics(&s.model, &s.kinematics, acceleration, &mut s.workspace, &mut s.out);
    });
}

#[divan::bench(args = ROBOTS)]
fn factorize(bencher: Bencher<'_, '_>, robot: &str) {
    let mut s = Setup::new(robot);
    bencher.bench_local(|| s.factor.factorize(black_box(&s.mass)));
}

#[divan::bench(args = ROBOTS)]
fn solve(bencher: Bencher<'_, '_>, robot: &str) {
    let mut s = Setup::new(robot);
    bencher.bench_local(|| {
        s.out.copy_from_slice(&s.states[0].1);
        s.factor.solve_in_place(black_box(&mut s.out));
    });
}

/// Kinematics, mass matrix, bias force, factor and one solve.
#[divan::bench(args = ROBOTS)]
fn forward_dynamics(bencher: Bencher<'_, '_>, robot: &str) {
    let mut s = Setup::new(robot);
    bencher.bench_local(|| {
        s.update();
        mass_matrix(&s.model, &s.kinematics, &mut s.mass);
        bias_force(&s.model, &s.kinematics, &mut s.workspace, &mut s.out);
        s.factor.factorize(&s.mass).unwrap();
        s.factor.solve_in_place(&mut s.out);
    });
}

#[divan::bench(args = ROBOTS)]
fn placements_and_foot_jacobians(bencher: Bencher<'_, '_>, robot: &str) {
    let mut s = Setup::new(robot);
    let mut jacobian = vec![0.0; 6 * s.model.velocity_dim()];
    bencher.bench_local(|| {
        s.at = (s.at + 1) % s.states.len();
        s.kinematics.update_placements(&s.model, &s.states[s.at].0);
        for &foot in &s.feet {
            frame_jacobian(&s.model, &s.kinematics, foot, black_box(&mut jacobian));
        }
    });
}

#[divan::bench(args = ROBOTS)]
fn delassus(bencher: Bencher<'_, '_>, robot: &str) {
    let s = Setup::new(robot);
    let nc = 3 * s.feet.len();
    let mut jacobian = vec![0.0; nc * s.model.velocity_dim()];
    for (i, &foot) in s.feet.iter().enumerate() {
        let origin = Vector3::zeros();
        point_jacobian_rows(&s.model, &s.kinematics, foot, &origin, 3 * i, nc, &mut jacobian);
    }
    let mut workspace = Delassus::new(&s.model, nc);
    let mut g = vec![0.0; nc * nc];
    bencher.bench_local(|| {
        contact_inverse_inertia(&s.factor, black_box(&jacobian), nc, &mut workspace, &mut g);
    });
}
