//! Warm starts, redundancy, and the operator form.

use super::problems::{KINDS, Kind, problem};
use crate::common::{bits, difference, largest};
use legwork_qp::Status;
use legwork_qp::complementarity::{
    ConstrainedMass, DenseMass, HalfInverseMass, IndependentRows, Lcp, Lemke, PrincipalPivoting,
    lcp_residuals,
};
use legwork_qp::problems::Random;

/// A robot of `dim` velocities with `count` contact normals on flat ground; every other problem has
/// several equal normals.
pub(crate) struct Robot {
    pub(crate) mass: Vec<f64>,
    pub(crate) normals: Vec<f64>,
    pub(crate) velocity: Vec<f64>,
}

pub(crate) fn robot(seed: u64, dim: usize, count: usize) -> Robot {
    let mut random = Random::new(seed);
    let root: Vec<f64> = (0..dim * dim).map(|_| random.normal()).collect();
    let mut mass = vec![0.0; dim * dim];
    for j in 0..dim {
        for i in 0..dim {
            mass[j * dim + i] =
                (0..dim).map(|k| root[i * dim + k] * root[j * dim + k]).sum::<f64>() / dim as f64;
        }
        mass[j * dim + j] += 0.05;
    }
    let mut normals: Vec<f64> = (0..dim * count).map(|_| random.normal()).collect();
    for i in 0..count {
        normals[i * dim..][..dim.min(3)].copy_from_slice(&[0.0, 0.0, 1.0][..dim.min(3)]);
        if i > 0 && seed % 2 == 1 && random.uniform() < 0.3 {
            let other = random.below(i);
            normals.copy_within(other * dim..(other + 1) * dim, i * dim);
        }
    }
    let velocity = (0..dim).map(|i| if i == 2 { -1.0 } else { 0.3 * random.normal() }).collect();
    Robot { mass, normals, velocity }
}

impl Robot {
    fn dim(&self) -> usize {
        self.velocity.len()
    }

    fn count(&self) -> usize {
        self.normals.len() / self.dim()
    }

    fn product(&self, i: usize, x: &[f64]) -> f64 {
        self.normals[i * self.dim()..][..self.dim()].iter().zip(x).map(|(n, x)| n * x).sum()
    }

    pub(crate) fn vector(&self) -> Vec<f64> {
        (0..self.count()).map(|i| self.product(i, &self.velocity)).collect()
    }

    /// `N M⁻¹ Nᵀ`, formed with two half solves.
    fn matrix(&self, mass: &impl HalfInverseMass) -> Vec<f64> {
        let (d, n) = (self.dim(), self.count());
        let mut b = self.normals.clone();
        b.chunks_exact_mut(d).for_each(|column| mass.half_solve(column));
        let mut matrix = vec![0.0; n * n];
        for j in 0..n {
            for i in 0..n {
                matrix[j * n + i] = (0..d).map(|k| b[i * d + k] * b[j * d + k]).sum();
            }
        }
        matrix
    }
}

#[test]
fn the_operator_form_agrees_with_the_formed_matrix() {
    for seed in 0..400 {
        let count = 1 + (seed as usize * 7) % 60;
        let robot = robot(seed, 18, count);
        let mass = DenseMass::factor(18, &robot.mass).unwrap();
        let vector = robot.vector();
        let mut pivoting = PrincipalPivoting::new(count, 18);
        let (mut flags, mut z) = (vec![0.0; count], vec![0.0; count]);
        let outcome = pivoting.solve(&robot.normals, &mass, &vector, &mut flags, &mut z);
        assert_eq!(outcome.status, Status::Solved, "seed {seed}, {count} contacts");
        assert!(outcome.iterations <= 50 + 10 * count as u32, "handed on");
        assert!(z.iter().filter(|&&z| z > 0.0).count() <= 18);
        let matrix = robot.matrix(&mass);
        let lcp = Lcp::new(&matrix, &vector).unwrap();
        let (mut w, mut terms) = (vec![0.0; count], vec![0.0; count]);
        let residual = lcp_residuals(&lcp, &z, &mut w, &mut terms).scaled.worst();
        assert!(residual < 1e-12, "seed {seed}: {residual:.1e}");
        // Slacks are unique.
        let mut other = vec![0.0; count];
        assert_eq!(Lemke::new(count).solve(&lcp, &mut other).status, Status::Solved);
        let mut second = vec![0.0; count];
        lcp_residuals(&lcp, &other, &mut second, &mut terms);
        let error = difference(&w, &second) / largest(&vector);
        assert!(error < 1e-10, "seed {seed}: slacks differ by {error:.1e}");
    }
}

#[test]
fn a_warm_start_keeps_the_pressing_contacts_and_costs_no_pivot() {
    let mut random = Random::new(5);
    let mut pivoting = PrincipalPivoting::new(40, 18);
    let mut z = vec![0.0; 40];
    let (mut cold_total, mut warm_total) = (0, 0);
    for seed in 0..60 {
        let mut robot = robot(seed, 18, 40);
        let mass = DenseMass::factor(18, &robot.mass).unwrap();
        let mut flags = vec![0.0; 40];
        let first = pivoting.solve(&robot.normals, &mass, &robot.vector(), &mut flags, &mut z);
        assert_eq!(first.status, Status::Solved);
        let (kept, forces) = (flags.clone(), z.clone());
        let again = pivoting.solve(&robot.normals, &mass, &robot.vector(), &mut flags, &mut z);
        assert_eq!((again.status, again.iterations), (Status::Solved, 0), "seed {seed}");
        assert_eq!(flags, kept);
        assert!(difference(&z, &forces) <= 1e-10 * largest(&forces), "seed {seed}");

        for v in &mut robot.velocity {
            *v += 1e-3 * random.normal();
        }
        let warm = pivoting.solve(&robot.normals, &mass, &robot.vector(), &mut flags, &mut z);
        let cold = pivoting.solve(&robot.normals, &mass, &robot.vector(), &mut [0.0; 40], &mut z);
        assert_eq!((warm.status, cold.status), (Status::Solved, Status::Solved));
        warm_total += warm.iterations;
        cold_total += cold.iterations;

        // A nonsensical guess only costs time.
        flags.fill(1.0);
        let silly = pivoting.solve(&robot.normals, &mass, &robot.vector(), &mut flags, &mut z);
        assert_eq!(silly.status, Status::Solved, "seed {seed}");
    }
    assert!(4 * warm_total < cold_total, "warm {warm_total}, cold {cold_total}");
}

#[test]
fn lemke_from_its_own_basis_needs_no_pivot_and_from_any_other_finds_a_solution() {
    let mut lemke = Lemke::new(20);
    for seed in 0..4_000u64 {
        let kind = KINDS[(seed % 8) as usize];
        let mut random = Random::new(seed ^ 0x55);
        let n = 1 + random.below(20);
        let problem = problem(seed, kind, n, false);
        let mut z = vec![0.0; n];
        let cold = lemke.solve(&problem.lcp(), &mut z);
        let mut flags: Vec<f64> = z.iter().map(|&z| f64::from(u8::from(z > 0.0))).collect();
        let mut other = vec![0.0; n];
        let warm = lemke.solve_warm(&problem.lcp(), &mut flags, &mut other);
        assert_eq!(cold.status, warm.status, "seed {seed}, {kind:?}");
        // Degenerate bases of singular matrices need not be regular.
        if matches!(kind, Kind::Definite | Kind::P) && largest(&z) > 0.0 {
            assert_eq!(warm.iterations, 0, "seed {seed}, {kind:?}");
        }
        for flag in &mut flags {
            *flag = f64::from(u8::from(random.uniform() < 0.5));
        }
        let silly = lemke.solve_warm(&problem.lcp(), &mut flags, &mut other);
        assert_eq!(cold.status, silly.status, "seed {seed}, {kind:?}");
        if silly.status == Status::Solved {
            let residual = problem.residuals(&other).scaled.worst();
            assert!(residual < 1e-10, "seed {seed}, {kind:?}: {residual:.1e}");
        }
    }
}

#[test]
fn equal_data_give_equal_bits_whatever_was_solved_before() {
    let mut used_lemke = Lemke::default();
    let mut used_pivoting = PrincipalPivoting::default();
    for seed in 0..400u64 {
        let kind = KINDS[(seed % 8) as usize];
        let n = 1 + Random::new(seed).below(16);
        let problem = problem(seed, kind, n, seed % 3 == 0);
        let (mut a, mut b) = (vec![0.0; n], vec![0.0; n]);
        let used = used_lemke.solve(&problem.lcp(), &mut a);
        let fresh = Lemke::new(n).solve(&problem.lcp(), &mut b);
        assert_eq!((used.status, used.iterations), (fresh.status, fresh.iterations));
        assert_eq!(bits(&a), bits(&b), "lemke, seed {seed}");
        let used = used_pivoting.solve_lcp(&problem.lcp(), &mut vec![0.0; n], &mut a);
        let mut solver = PrincipalPivoting::new(n, n);
        let fresh = solver.solve_lcp(&problem.lcp(), &mut vec![0.0; n], &mut b);
        assert_eq!((used.status, used.iterations), (fresh.status, fresh.iterations));
        assert_eq!(bits(&a), bits(&b), "pivoting, seed {seed}");
    }
}

/// The pressing contacts stay independent, so scaling a normal scales its force only.
#[test]
fn units_of_the_normals_do_not_matter() {
    let mut random = Random::new(8);
    for seed in 0..100 {
        let robot = robot(2 * seed, 12, 20);
        let mass = DenseMass::factor(12, &robot.mass).unwrap();
        let vector = robot.vector();
        let mut pivoting = PrincipalPivoting::new(20, 12);
        let (mut z, mut scaled_z) = (vec![0.0; 20], vec![0.0; 20]);
        let first = pivoting.solve(&robot.normals, &mass, &vector, &mut [0.0; 20], &mut z);
        let scale: Vec<f64> = (0..20).map(|_| 2f64.powi(random.below(40) as i32 - 20)).collect();
        let normals: Vec<f64> =
            robot.normals.iter().enumerate().map(|(k, n)| n * scale[k / 12]).collect();
        let scaled: Vec<f64> = vector.iter().zip(&scale).map(|(q, s)| q * s).collect();
        let second = pivoting.solve(&normals, &mass, &scaled, &mut [0.0; 20], &mut scaled_z);
        assert_eq!(first.iterations, second.iterations, "seed {seed}");
        for (z, s) in scaled_z.iter_mut().zip(&scale) {
            *z *= s;
        }
        let error = difference(&z, &scaled_z) / largest(&z);
        assert!(error < 1e-11, "seed {seed}: {error:.1e}");
    }
}

/// Algorithm 1: the kept rows are independent and all others follow from them.
#[test]
fn the_kept_rows_span_all_rows() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let (dim, count) = (12, 1 + random.below(30));
        let rank = 1 + random.below(dim);
        let robot = robot(seed, dim, 1);
        let mass = DenseMass::factor(dim, &robot.mass).unwrap();
        let basis: Vec<f64> = (0..rank * dim).map(|_| random.normal()).collect();
        let mut rows = vec![0.0; dim * count];
        for row in rows.chunks_exact_mut(dim) {
            if random.uniform() < 0.1 {
                continue;
            }
            let units = 10f64.powf(8.0 * random.uniform() - 4.0);
            for base in basis.chunks_exact(dim) {
                let weight = units * random.normal();
                row.iter_mut().zip(base).for_each(|(r, b)| *r += weight * b);
            }
        }
        let zeros = rows.chunks_exact(dim).filter(|row| row.iter().all(|&r| r == 0.0)).count();
        let mut found = IndependentRows::new(dim);
        let mut kept = vec![false; count];
        let kept_count = found.find(&rows, &mass, &mut kept);
        assert_eq!(kept_count, rank.min(count - zeros), "seed {seed}");
        assert_eq!(kept_count, kept.iter().filter(|&&k| k).count());
        assert_eq!(found.find(&rows, &mass, &mut kept), 0, "nothing is left to keep");
        // What the kept rows block, the constrained mass does not move.
        let constrained = ConstrainedMass { mass: &mass, rows: &found };
        for row in rows.chunks_exact_mut(dim) {
            constrained.half_solve(row);
            assert_eq!(row, [0.0; 12], "seed {seed}");
        }
    }
}
