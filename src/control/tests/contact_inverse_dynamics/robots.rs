//! Random robots on contacts, and answers to their tasks.

use legwork_control::{ContactInverseDynamics, ContactModel, ContactTask, Energy, Prediction};
use legwork_qp::problems::Random;
use legwork_qp::{Cone, ConeShape, PyramidFit, Status};

use super::STEP;

pub(crate) fn pyramid(sides: usize) -> ConeShape {
    ConeShape::new(Cone::Pyramid { sides, fit: PyramidFit::Inscribed }).expect("enough sides")
}

pub(crate) fn max_abs(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}

/// A robot of nv velocities, the first `free` without motor, on k contacts at rest against them:
/// gravity presses, since h is that of a heavy body.
pub(crate) struct Robot {
    pub(crate) nv: usize,
    pub(crate) mass: Vec<f64>,
    pub(crate) bias: Vec<f64>,
    pub(crate) velocity: Vec<f64>,
    pub(crate) joints: Vec<f64>,
    pub(crate) acceleration: Vec<f64>,
    pub(crate) jacobian: Vec<f64>,
    pub(crate) gaps: Vec<f64>,
    pub(crate) friction: Vec<f64>,
}

impl Robot {
    pub(crate) fn random(random: &mut Random, nv: usize, free: usize, k: usize) -> Self {
        Self::on_steps(random, (nv, free, k), 0.0)
    }

    /// Contact points at heights that differ by `rise` from one to the next.
    pub(crate) fn on_steps(
        random: &mut Random,
        (nv, free, k): (usize, usize, usize),
        rise: f64,
    ) -> Self {
        let root: Vec<f64> = (0..nv * nv).map(|_| random.normal()).collect();
        let mut mass = vec![0.0; nv * nv];
        for i in 0..nv {
            for j in 0..nv {
                let product: f64 = (0..nv).map(|l| root[l * nv + i] * root[l * nv + j]).sum();
                mass[i * nv + j] = 0.1 * product + if i == j { 1.0 } else { 0.0 };
            }
        }
        let rows = 3 * k;
        let mut jacobian: Vec<f64> = (0..rows * nv).map(|_| random.normal()).collect();
        // Points of bodies without motor on level ground, as far as there are such bodies.
        for i in 0..k {
            let bodies = free / 6;
            let (x, y, z) = (random.normal(), random.normal(), rise * i as f64 - 1.0);
            let linear = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
            let angular = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]];
            for column in 0..6 * bodies {
                let own = (column / 6) == i % bodies;
                for row in 0..3 {
                    let entry = match column % 6 {
                        c @ 0..3 => linear[c][row],
                        c => angular[c - 3][row],
                    };
                    jacobian[column * rows + 3 * i + row] = if own { entry } else { 0.0 };
                }
            }
        }
        // Load on the normals.
        let mut bias: Vec<f64> = (0..nv).map(|_| random.normal()).collect();
        for (j, bias) in bias.iter_mut().enumerate() {
            for i in 0..k {
                *bias += (5.0 + 20.0 * random.uniform()) * jacobian[j * rows + 3 * i + 2];
            }
        }
        Self {
            nv,
            mass,
            bias,
            velocity: (0..nv).map(|_| 0.01 * random.normal()).collect(),
            joints: (0..nv).map(|i| f64::from(u8::from(i >= free))).collect(),
            acceleration: (free..nv).map(|_| 3.0 * random.normal()).collect(),
            jacobian,
            gaps: (0..k).map(|_| 1e-4 * random.normal()).collect(),
            friction: (0..k).map(|_| 0.2 + 0.6 * random.uniform()).collect(),
        }
    }

    pub(crate) fn task(&self) -> ContactTask<'_> {
        ContactTask {
            mass_matrix: &self.mass,
            bias_force: &self.bias,
            velocity: &self.velocity,
            joints: &self.joints,
            acceleration: &self.acceleration,
            jacobian: &self.jacobian,
            gaps: &self.gaps,
            friction: &self.friction,
            time_step: STEP,
        }
    }

    pub(crate) fn solve(&self, model: ContactModel) -> Answer {
        self.solve_with(model, Energy::Absolute)
    }

    pub(crate) fn solve_with(&self, model: ContactModel, energy: Energy) -> Answer {
        let k = self.gaps.len();
        let mut answer = Answer::new(self, k);
        // Reading of a force sensor.
        if model == ContactModel::Sensed {
            for (i, f) in answer.forces.iter_mut().enumerate() {
                *f = [1.0, -2.0, 7.0][i % 3];
            }
        }
        let mut solver = ContactInverseDynamics::new(model, pyramid(4)).with_energy(energy);
        let mut memory = vec![0.0; k];
        let Answer { torque, forces, after, .. } = &mut answer;
        answer.prediction = Some(solver.solve(&self.task(), &mut memory, torque, forces, after));
        answer
    }

    pub(crate) fn contact_velocity(&self, velocity: &[f64]) -> Vec<f64> {
        let rows = 3 * self.gaps.len();
        let mut out = vec![0.0; rows];
        for (column, v) in self.jacobian.chunks_exact(rows.max(1)).zip(velocity) {
            for (out, j) in out.iter_mut().zip(column) {
                *out += j * v;
            }
        }
        out
    }

    pub(crate) fn energy(&self, velocity: &[f64]) -> f64 {
        let columns = self.mass.chunks_exact(self.nv).zip(velocity);
        let momentum =
            columns.map(|(c, v)| v * c.iter().zip(velocity).map(|(m, w)| m * w).sum::<f64>());
        0.5 * momentum.sum::<f64>()
    }

    /// `M (v⁺ − v) − Δt (Pᵀτ − h + Jᵀf)`, the largest entry over Δt.
    pub(crate) fn imbalance(&self, answer: &Answer) -> f64 {
        let rows = 3 * self.gaps.len();
        let mut torques = answer.torque.iter();
        let mut worst = 0.0f64;
        for i in 0..self.nv {
            let column = &self.mass[i * self.nv..(i + 1) * self.nv];
            let mut left: f64 =
                (0..self.nv).map(|j| column[j] * (answer.after[j] - self.velocity[j])).sum();
            left = left / STEP + self.bias[i];
            if self.joints[i] != 0.0 {
                left -= torques.next().expect("a torque for each joint");
            }
            let jacobian = &self.jacobian[i * rows..(i + 1) * rows];
            left -= jacobian.iter().zip(&answer.forces).map(|(j, f)| j * f).sum::<f64>();
            worst = worst.max(left.abs());
        }
        worst
    }
}

pub(crate) struct Answer {
    pub(crate) torque: Vec<f64>,
    pub(crate) forces: Vec<f64>,
    pub(crate) after: Vec<f64>,
    pub(crate) prediction: Option<Prediction>,
}

impl Answer {
    pub(crate) fn new(robot: &Robot, k: usize) -> Self {
        Self {
            torque: vec![0.0; robot.acceleration.len()],
            forces: vec![0.0; 3 * k],
            after: vec![0.0; robot.nv],
            prediction: None,
        }
    }

    pub(crate) fn status(&self) -> Status {
        self.prediction.expect("solved").outcome.status
    }
}
