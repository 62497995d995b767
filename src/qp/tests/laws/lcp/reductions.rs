//! Quadratic programs and the problem without slip in both of its forms.

use super::problems::{Kind, problem};
use super::warm::robot;
use crate::common::{INF, difference, largest};
use legwork_linalg::Lu;
use legwork_qp::complementarity::{
    ConstrainedMass, DenseMass, IndependentRows, Lemke, PrincipalPivoting, QpLcp,
};
use legwork_qp::kkt::{QpMultipliers, qp_residuals};
use legwork_qp::problems::Random;
use legwork_qp::{GeneralActiveSet, Lcp, Qp, QpData, Status};

/// `y = A x` for a column-major `rows × x.len()` matrix.
fn multiply(a: &[f64], rows: usize, x: &[f64]) -> Vec<f64> {
    (0..rows).map(|i| (0..x.len()).map(|j| a[j * rows + i] * x[j]).sum()).collect()
}

/// Paper C, section 4.4: the mixed problem with M, X and N reduced by elimination, against the
/// principal pivoting method on the constrained mass.
#[test]
fn the_problem_without_slip_has_one_answer_in_both_forms() {
    let (dim, contacts) = (9, 6);
    let mut infeasible = 0;
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let robot = robot(seed, dim, contacts);
        let mass = DenseMass::factor(dim, &robot.mass).unwrap();
        // Tangents, with copies that are dependent.
        let mut rows: Vec<f64> = (0..dim * 6).map(|_| random.normal()).collect();
        rows.copy_within(0..dim, 3 * dim);
        let mut found = IndependentRows::new(dim);
        let mut kept = [false; 6];
        assert_eq!(found.find(&rows, &mass, &mut kept), 5);
        let x: Vec<f64> =
            (0..6).filter(|&r| kept[r]).flat_map(|r| rows[r * dim..][..dim].to_vec()).collect();
        let held = 5;

        let size = dim + held;
        let mut equations = vec![0.0; size * size];
        for j in 0..dim {
            equations[j * size..][..dim].copy_from_slice(&robot.mass[j * dim..][..dim]);
            for r in 0..held {
                equations[j * size + dim + r] = x[r * dim + j];
                equations[(dim + r) * size + j] = -x[r * dim + j];
            }
        }
        let mut c = vec![0.0; size * contacts];
        let mut d = vec![0.0; contacts * size];
        for i in 0..contacts {
            for j in 0..dim {
                c[i * size + j] = -robot.normals[i * dim + j];
                d[j * contacts + i] = robot.normals[i * dim + j];
            }
        }
        let momentum = multiply(&robot.mass, dim, &robot.velocity);
        let g: Vec<f64> =
            momentum.iter().map(|p| -p).chain(std::iter::repeat_n(0.0, held)).collect();
        let h: Vec<f64> = (0..contacts).map(|_| 0.1 * random.uniform()).collect();
        // `A v + C z + g = 0` and `w = D v + h`: v = -A⁻¹ (C z + g) is eliminated.
        let mut lu = Lu::new(size);
        lu.matrix_mut().copy_from_slice(&equations);
        lu.factor(1e-13).unwrap();
        let velocity = |z: &[f64]| -> Vec<f64> {
            let mut v: Vec<f64> =
                multiply(&c, size, z).iter().zip(&g).map(|(cz, g)| -cz - g).collect();
            lu.solve(&mut v);
            v
        };
        let slack = |z: &[f64]| -> Vec<f64> {
            multiply(&d, contacts, &velocity(z)).iter().zip(&h).map(|(w, h)| w + h).collect()
        };
        let vector = slack(&vec![0.0; contacts]);
        let mut matrix = Vec::new();
        for j in 0..contacts {
            let unit: Vec<f64> = (0..contacts).map(|i| f64::from(u8::from(i == j))).collect();
            matrix.extend(slack(&unit).iter().zip(&vector).map(|(w, q)| w - q));
        }
        let lcp = Lcp::new(&matrix, &vector).unwrap();
        let mut z = vec![0.0; contacts];
        let status = Lemke::new(contacts).solve(&lcp, &mut z).status;
        let w = lcp_slack(&lcp, &z);

        let mut pivoting = PrincipalPivoting::new(contacts, dim);
        let mut forces = vec![0.0; contacts];
        let constrained = ConstrainedMass { mass: &mass, rows: &found };
        let outcome = pivoting.solve(
            &robot.normals,
            &constrained,
            &vector,
            &mut vec![0.0; contacts],
            &mut forces,
        );
        assert_eq!(outcome.status, status, "seed {seed}");
        if status == Status::Solved {
            let error = difference(&slack(&forces), &w) / (1.0 + largest(&w));
            assert!(error < 1e-8, "seed {seed}: slacks differ by {error:.1e}");
        } else {
            infeasible += 1;
        }
    }
    assert!(infeasible < 200);
}

fn lcp_slack(lcp: &Lcp<'_>, z: &[f64]) -> Vec<f64> {
    let product = multiply(lcp.matrix(), lcp.dim(), z);
    product.iter().zip(lcp.vector()).map(|(p, q)| p + q).collect()
}

/// A random convex program with every kind of bound, feasible by construction.
fn random_program(seed: u64) -> QpData {
    let mut random = Random::new(seed);
    let (n, m) = (1 + random.below(7), random.below(7));
    let hessian = problem(seed, Kind::Definite, n, false).matrix;
    let gradient = (0..n).map(|_| 3.0 * random.normal()).collect();
    let rows: Vec<f64> = (0..m * n).map(|_| random.normal()).collect();
    let inside: Vec<f64> = (0..n).map(|_| random.normal()).collect();
    let around = |value: f64, random: &mut Random, equality: bool| {
        let lower = if random.uniform() < 0.4 { -INF } else { value - random.uniform() };
        let upper = if random.uniform() < 0.4 { INF } else { value + random.uniform() };
        if equality && random.uniform() < 0.1 { (value, value) } else { (lower, upper) }
    };
    let products = multiply(&rows, m, &inside);
    let (row_lower, row_upper) = products.iter().map(|&p| around(p, &mut random, true)).unzip();
    let (lower, upper) = inside.iter().map(|&p| around(p, &mut random, false)).unzip();
    QpData { hessian, gradient, rows, row_lower, row_upper, lower, upper }
}

#[test]
fn a_program_and_its_complementarity_problem_have_the_same_solution() {
    for seed in 0..1_000 {
        let program = random_program(seed);
        let qp = program.view();
        let (n, m) = (qp.dim(), qp.row_count());
        let dual = QpLcp::new(&qp);
        let lcp = dual.lcp();
        let mut z = vec![0.0; lcp.dim()];
        assert_eq!(Lemke::default().solve(&lcp, &mut z).status, Status::Solved, "seed {seed}");
        let (mut x, mut rows, mut bounds) = (vec![0.0; n], vec![0.0; m], vec![0.0; n]);
        dual.recover(&z, &lcp_slack(&lcp, &z), &mut x, &mut rows, &mut bounds);
        let multipliers = QpMultipliers { rows: &rows, bounds: &bounds };
        let residuals = qp_residuals(&qp, &x, multipliers, &mut vec![0.0; 2 * n + m]);
        assert!(residuals.worst() < 1e-10, "seed {seed}: {residuals:?}");
        let mut other = vec![0.0; n];
        let outcome = GeneralActiveSet::default().solve(&qp, &mut other);
        assert_eq!(outcome.status, Status::Solved, "seed {seed}");
        let error = difference(&x, &other) / (1.0 + largest(&x));
        assert!(error < 1e-9, "seed {seed}: {error:.1e}");
    }
}

#[test]
fn infeasible_and_unbounded_programs_have_no_complementary_solution() {
    let infinite = [f64::INFINITY];
    let free = [f64::NEG_INFINITY];
    // x ≥ 1 and x ≤ 0; then min x.
    let infeasible = Qp {
        hessian: &[1.0],
        gradient: &[0.0],
        rows: &[1.0, 1.0],
        row_lower: &[1.0, f64::NEG_INFINITY],
        row_upper: &[f64::INFINITY, 0.0],
        lower: &free,
        upper: &infinite,
    };
    let unbounded = Qp {
        hessian: &[0.0],
        gradient: &[1.0],
        rows: &[],
        row_lower: &[],
        row_upper: &[],
        lower: &free,
        upper: &infinite,
    };
    for qp in [infeasible, unbounded] {
        let dual = QpLcp::new(&qp);
        let mut lemke = Lemke::default();
        let mut z = vec![0.0; dual.lcp().dim()];
        assert_eq!(lemke.solve(&dual.lcp(), &mut z).status, Status::PrimalInfeasible);
    }
}

#[test]
fn a_symmetric_problem_as_a_program_has_the_same_solution() {
    for seed in 0..500 {
        let n = 1 + Random::new(seed).below(10);
        let problem = problem(seed, Kind::Definite, n, false);
        let lcp = problem.lcp();
        let zeros = vec![0.0; n];
        let qp = lcp.as_qp(&zeros).unwrap();
        let (mut x, mut z) = (vec![0.0; n], vec![0.0; n]);
        assert_eq!(GeneralActiveSet::default().solve(&qp, &mut x).status, Status::Solved);
        let outcome = PrincipalPivoting::new(n, n).solve_lcp(&lcp, &mut vec![0.0; n], &mut z);
        assert_eq!(outcome.status, Status::Solved);
        let error = difference(&x, &z) / (1.0 + largest(&z));
        assert!(error < 1e-10, "seed {seed}: {error:.1e}");
        // w is the multiplier of z ≥ 0.
        let w = lcp_slack(&lcp, &z);
        let multipliers = QpMultipliers { rows: &[], bounds: &w };
        let residuals = qp_residuals(&qp, &z, multipliers, &mut vec![0.0; 2 * n]);
        assert!(residuals.worst() < 1e-12, "seed {seed}: {residuals:?}");
    }
    let skew = super::Problem::rows(&[&[1.0, 1.0], &[-1.0, 1.0]], &[1.0, 1.0]);
    assert!(skew.lcp().as_qp(&[0.0, 0.0]).is_none());
}
