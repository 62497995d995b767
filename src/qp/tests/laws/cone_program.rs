//! Laws of the cone program and of Clarabel on quadratic and cone programs.

use crate::common::{INF, bits, difference, random_qp, references, written_out};
use legwork_qp::problems::{Random, random_definite};
use legwork_qp::{
    ClarabelSolver, ConeProgram, ConeProgramData as Program, ConeProgramError, ConeShape,
    ContactMethod, GeneralActiveSet, ProjectedGaussSeidel, Qp, QpData, Status, kkt,
    project_second_order, second_order_violation,
};

/// Unknowns in other units: `x = D x̂`, and rows multiplied by factors.
fn in_other_units(program: &Program, columns: &[f64], rows: &[f64]) -> Program {
    let (n, m, r) = (columns.len(), rows.len(), program.cone_offset.len());
    let mut other = program.clone();
    for j in 0..n {
        other.linear.gradient[j] *= columns[j];
        for i in 0..n {
            other.linear.hessian[j * n + i] *= columns[i] * columns[j];
        }
        for (entry, row) in other.linear.rows[j * m..(j + 1) * m].iter_mut().zip(rows) {
            *entry *= row * columns[j];
        }
        for i in 0..r {
            other.cone_rows[j * r + i] *= columns[j];
        }
        if !other.linear.lower.is_empty() {
            other.linear.lower[j] /= columns[j];
            other.linear.upper[j] /= columns[j];
        }
    }
    for bounds in [&mut other.linear.row_lower, &mut other.linear.row_upper] {
        bounds.iter_mut().zip(rows).for_each(|(bound, row)| *bound *= row);
    }
    other
}

/// [`random_qp`] with second-order cones, inside which the point lies.
fn random_program(
    seed: u64,
    n: usize,
    [equalities, inequalities]: [usize; 2],
    rank: usize,
    cone_sizes: &[usize],
) -> Program {
    let (linear, inside) = random_qp(seed, n, equalities, inequalities, rank);
    let mut random = Random::new(!seed);
    let r: usize = cone_sizes.iter().sum();
    let cone_rows: Vec<f64> = (0..r * n).map(|_| random.normal()).collect();
    let mut cone_offset = Vec::new();
    for &size in cone_sizes {
        for k in 0..size {
            let row = cone_offset.len();
            let value: f64 = (0..n).map(|j| cone_rows[j * r + row] * inside[j]).sum();
            // The point has t = (1, small, …).
            let t = if k == 0 { 1.0 } else { 0.3 * random.uniform() };
            cone_offset.push(t - value);
        }
    }
    Program { linear, cone_rows, cone_offset, cone_sizes: cone_sizes.to_vec() }
}

fn view(program: &Program) -> ConeProgram<'_> {
    program.view().unwrap()
}

fn solve(solver: &mut ClarabelSolver, program: &Program) -> (Vec<f64>, Status, f64) {
    let mut x = vec![f64::NAN; program.linear.gradient.len()];
    let outcome = solver.solve_cone_program(&view(program), &mut x);
    (x, outcome.status, outcome.residual)
}

#[test]
fn the_constructor_names_what_does_not_fit() {
    let good = random_program(1, 3, [1, 1], 3, &[3, 1]);
    let linear = good.linear.view();
    let new = |rows, offset, sizes| ConeProgram::new(linear, rows, offset, sizes).err();
    assert_eq!(new(&good.cone_rows, &good.cone_offset, &good.cone_sizes), None);
    let error = new(&good.cone_rows, &good.cone_offset, &[4, 0]);
    assert_eq!(error, Some(ConeProgramError::EmptyBlock { block: 1 }));
    let error = new(&good.cone_rows, &good.cone_offset, &[3]).unwrap();
    assert_eq!(error.to_string(), "expected 3 values of cone_offset, found 4");
    let error = new(&good.cone_rows[1..], &good.cone_offset, &good.cone_sizes).unwrap();
    assert_eq!(error.to_string(), "expected 12 values of cone_rows, found 11");
    let short = Qp { row_upper: &[], ..linear };
    let error = ConeProgram::new(short, &[], &[], &[]).unwrap_err();
    assert_eq!(error.to_string(), "expected 2 values of row_upper, found 0");
}

/// The nearest point of a cone has a closed form.
#[test]
fn the_nearest_point_of_a_cone_is_its_projection() {
    let mut solver = ClarabelSolver::new(1e-9, 100);
    let mut random = Random::new(3);
    for size in [1, 2, 3, 5, 9] {
        for _ in 0..20 {
            let point: Vec<f64> = (0..size).map(|_| 10.0 * random.normal()).collect();
            let mut identity = vec![0.0; size * size];
            (0..size).for_each(|i| identity[i * size + i] = 1.0);
            let gradient = point.iter().map(|p| -p).collect();
            let program = Program {
                linear: QpData { hessian: identity.clone(), gradient, ..QpData::default() },
                cone_rows: identity,
                cone_offset: vec![0.0; size],
                cone_sizes: vec![size],
            };
            let (x, status, residual) = solve(&mut solver, &program);
            let mut exact = point.clone();
            project_second_order(&mut exact);
            assert!(second_order_violation(&exact) < 1e-14 * 30.0);
            assert_eq!(status, Status::Solved, "size {size}, residual {residual:.1e}");
            assert!(difference(&x, &exact) < 1e-4, "size {size}: {:.1e}", difference(&x, &exact));
        }
    }
}

#[test]
fn clarabel_and_the_active_set_agree_on_quadratic_programs() {
    let mut interior = ClarabelSolver::new(1e-11, 100);
    let mut exact = GeneralActiveSet::default();
    let mut worst: f64 = 0.0;
    for seed in 0..200 {
        let n = 1 + seed as usize % 12;
        let program = random_program(seed, n, [n / 4, n - n / 4], n, &[]);
        let (x, status, residual) = solve(&mut interior, &program);
        assert_eq!(status, Status::Solved, "seed {seed}: residual {residual:.1e}");
        let mut expected = vec![0.0; n];
        let outcome = exact.solve(&program.linear.view(), &mut expected);
        assert_eq!(outcome.status, Status::Solved, "seed {seed}");
        let objective = |x: &[f64]| program.linear.view().objective(x);
        let gap = (objective(&x) - objective(&expected)).abs();
        worst = worst.max(gap / (1.0 + objective(&expected).abs()));
    }
    assert!(worst < 1e-8, "relative objective gap {worst:.1e}");
}

/// Singular Hessians, cones and units from 1e-6 to 1e6: the judge, in the program's own units,
/// finds what the status says.
#[test]
fn answers_pass_the_judge_in_any_units() {
    let mut solver = ClarabelSolver::new(1e-9, 200);
    let (mut solved, mut total) = (0, 0);
    for seed in 0..200 {
        let mut random = Random::new(7000 + seed);
        let n = 2 + random.below(9);
        let (m, rank) = (random.below(6), random.below(n + 1));
        let sizes = [&[][..], &[3], &[3, 4], &[2, 1]][random.below(4)];
        let program = random_program(seed, n, [m.min(n) / 4, m.min(n) - m.min(n) / 4], rank, sizes);
        let spread = [0.0, 6.0][seed as usize % 2];
        let mut unit = |count| -> Vec<f64> {
            (0..count).map(|_| libm::pow(10.0, spread * (2.0 * random.uniform() - 1.0))).collect()
        };
        let (columns, rows) = (unit(n), unit(m.min(n)));
        let program = in_other_units(&program, &columns, &rows);
        let (x, status, residual) = solve(&mut solver, &program);
        let judged = kkt::cone_residuals(&view(&program), &x, solver.multipliers()).worst();
        assert_eq!(judged.to_bits(), residual.to_bits(), "seed {seed}: the residual is not true");
        assert!(status != Status::Solved || residual <= 1e-6, "seed {seed}: {residual:.1e}");
        assert!(
            !matches!(status, Status::PrimalInfeasible | Status::Unbounded),
            "seed {seed}: {status:?}, but it is feasible and boxed"
        );
        total += 1;
        solved += u32::from(status == Status::Solved);
    }
    assert!(solved >= total - 4, "{solved} of {total} solved");
}

#[test]
fn infeasible_programs_come_with_a_refutation() {
    let mut solver = ClarabelSolver::new(1e-9, 200);
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let n = 3 + random.below(6);
        let sizes = [&[][..], &[3]][seed as usize % 2];
        let mut program = random_program(seed, n, [1, 2], n, sizes);
        program.linear.lower.clear();
        program.linear.upper.clear();
        // A new row is the sum of rows 1 and 3 (both bounded below), with an upper bound below
        // theirs.
        let lower: f64 =
            program.linear.row_lower[1..2].iter().sum::<f64>() + program.linear.row_lower[0];
        let margin = libm::pow(10.0, -5.0 * random.uniform());
        let old = program.linear.rows.clone();
        program.linear.rows.clear();
        for column in old.chunks_exact(3) {
            program.linear.rows.extend_from_slice(column);
            program.linear.rows.push(column[0] + column[1]);
        }
        program.linear.row_lower.push(-INF);
        program.linear.row_upper.push(lower - margin * (1.0 + lower.abs()));
        let (x, status, _) = solve(&mut solver, &program);
        assert_eq!(status, Status::PrimalInfeasible, "seed {seed}, margin {margin:.1e}");
        assert_eq!(x, vec![0.0; n]);
        let radius = kkt::infeasible_radius(&view(&program), solver.multipliers());
        assert!(radius > 1e5, "seed {seed}, margin {margin:.1e}: radius {radius:.1e}");
    }
}

/// A cone and a half-space without a common point.
#[test]
fn a_missed_cone_is_refuted() {
    let linear = QpData {
        hessian: vec![0.0; 9],
        gradient: vec![0.0; 3],
        rows: vec![1.0, -2.0, 0.0],
        row_lower: vec![-INF],
        row_upper: vec![-1.0],
        ..QpData::default()
    };
    let mut program = Program {
        linear,
        cone_rows: vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
        cone_offset: vec![0.0; 3],
        cone_sizes: vec![3],
    };
    let mut solver = ClarabelSolver::new(1e-9, 100);
    // t_0 ≥ |t_1| allows t_0 - 2 t_1 ≤ -1, but not t_0 - t_1 / 2 ≤ -1.
    assert_eq!(solve(&mut solver, &program).1, Status::Solved);
    program.linear.rows[1] = -0.5;
    assert_eq!(solve(&mut solver, &program).1, Status::PrimalInfeasible);
    assert!(kkt::infeasible_radius(&view(&program), solver.multipliers()) > 1e6);
    // The same multipliers prove nothing about the feasible program.
    program.linear.rows[1] = -2.0;
    let multipliers = solver.multipliers();
    assert!(kkt::infeasible_radius(&view(&program), multipliers) < 10.0);
}

#[test]
fn unbounded_programs_come_with_a_direction() {
    let mut solver = ClarabelSolver::new(1e-9, 200);
    for seed in 0..40 {
        let n = 4 + seed as usize % 5;
        let mut program = random_program(seed, n, [0, 1], n - 2, &[]);
        program.linear.lower.clear();
        program.linear.upper.clear();
        // Rank n - 2 leaves a plane on which the objective is linear, and one half-space is not
        // enough to bound it.
        program.linear.row_lower[0] = -INF;
        let (x, status, _) = solve(&mut solver, &program);
        assert_eq!(status, Status::Unbounded, "seed {seed}");
        assert_eq!(x, vec![0.0; n]);
        let residual = kkt::unbounded_residual(&view(&program), solver.unbounded_direction());
        assert!(residual < 1e-5, "seed {seed}: {residual:.1e}");
    }
}

#[test]
fn contradictions_and_bad_numbers_get_a_status() {
    let mut solver = ClarabelSolver::new(1e-9, 100);
    let good = random_program(1, 3, [1, 1], 3, &[3]);
    let breakers: [fn(&mut Program); 4] = [
        |p| p.linear.hessian[0] = f64::NAN,
        |p| p.cone_offset[1] = INF,
        |p| p.linear.row_lower[0] = f64::NAN,
        |p| p.linear.gradient[2] = -INF,
    ];
    for (index, break_it) in breakers.iter().enumerate() {
        let mut program = good.clone();
        break_it(&mut program);
        let (x, status, _) = solve(&mut solver, &program);
        assert_eq!((status, x), (Status::InvalidData, vec![0.0; 3]), "breaker {index}");
    }
    let contradictions: [fn(&mut Program); 3] = [
        |p| p.linear.row_lower[1] = INF,
        |p| p.linear.lower[0] = p.linear.upper[0] + 1.0,
        |p| p.linear.upper[1] = -INF,
    ];
    for (index, break_it) in contradictions.iter().enumerate() {
        let mut program = good.clone();
        break_it(&mut program);
        let (_, status, _) = solve(&mut solver, &program);
        assert_eq!(status, Status::PrimalInfeasible, "contradiction {index}");
        assert_eq!(kkt::infeasible_radius(&view(&program), solver.multipliers()), INF);
    }
    assert_eq!(solve(&mut solver, &Program::default()).1, Status::Solved);
    let mut free = random_program(2, 3, [0, 0], 3, &[]);
    (free.linear.lower, free.linear.upper) = (Vec::new(), Vec::new());
    let (x, status, residual) = solve(&mut solver, &free);
    assert_eq!(status, Status::Solved, "no constraint at all: {x:?}, residual {residual:.1e}");
}

/// The contact problem written as a cone program has the same answer.
#[test]
fn the_contact_problem_is_a_cone_program() {
    let mut solver = ClarabelSolver::new(1e-11, 100);
    for seed in 0..20 {
        let contacts = 1 + seed as usize % 6;
        let problem = random_definite(seed, contacts, ConeShape::circular());
        let n = 3 * contacts;
        let mut hessian = vec![0.0; n * n];
        problem.view().hessian_into(&mut hessian);
        let mut program = Program {
            linear: QpData { hessian, gradient: problem.bias.clone(), ..QpData::default() },
            cone_rows: vec![0.0; n * n],
            cone_offset: vec![0.0; n],
            cone_sizes: vec![3; contacts],
        };
        for (contact, &mu) in problem.friction.iter().enumerate() {
            let f = 3 * contact;
            program.cone_rows[(f + 2) * n + f] = mu;
            program.cone_rows[f * n + f + 1] = 1.0;
            program.cone_rows[(f + 1) * n + f + 2] = 1.0;
        }
        let (x, status, residual) = solve(&mut solver, &program);
        assert!(status.is_usable(), "seed {seed}: {status:?}, residual {residual:.1e}");
        let mut forces = vec![0.0; n];
        let outcome =
            ProjectedGaussSeidel::new(contacts, 50_000, 1e-11).solve(&problem.view(), &mut forces);
        assert_eq!(outcome.status, Status::Solved, "seed {seed}");
        let error = difference(&x, &forces) / problem.force_scale;
        assert!(error < 4e-5, "seed {seed}: {error:.1e}");
    }
}

#[test]
fn a_used_solver_returns_the_bits_of_a_fresh_one() {
    let mut used = ClarabelSolver::new(1e-9, 100);
    for run in 0..10 {
        for seed in 0..12u64 {
            // Every second program has the structure of the one before it.
            let n = 3 + seed as usize / 2 % 3;
            let sizes: &[usize] = if seed / 2 % 2 == 0 { &[3] } else { &[] };
            let mut program = random_program(seed, n, [1, 1], n, sizes);
            if seed % 4 == 3 {
                program.linear.rows[0] = 0.0;
            }
            let (x, status, residual) = solve(&mut used, &program);
            let y = bits(used.multipliers().rows);
            let mut fresh = ClarabelSolver::new(1e-9, 100);
            let again = solve(&mut fresh, &program);
            assert_eq!((bits(&x), status), (bits(&again.0), again.1), "run {run}, seed {seed}");
            assert_eq!(residual.to_bits(), again.2.to_bits(), "run {run}, seed {seed}");
            assert_eq!(y, bits(fresh.multipliers().rows), "run {run}, seed {seed}");
        }
    }
}

/// Where the method breaks down it may leave what an earlier call left there.
#[test]
fn a_failure_of_a_used_solver_is_that_of_a_fresh_one() {
    let spoilers: [fn(&mut Program); 6] = [
        |p| p.linear.hessian.iter_mut().for_each(|h| *h = -*h),
        |p| p.linear.hessian.iter_mut().for_each(|h| *h *= -1e9),
        |p| p.linear.gradient.iter_mut().for_each(|g| *g *= 1e300),
        |p| p.linear.hessian.iter_mut().for_each(|h| *h *= 1e300),
        |p| p.cone_offset.iter_mut().for_each(|c| *c *= 1e200),
        |p| p.linear.rows.iter_mut().for_each(|a| *a *= 1e307),
    ];
    let mut failures = 0;
    for limit in [0, 1, 100] {
        for (index, spoil) in spoilers.iter().enumerate() {
            for seed in 0..6 {
                let earlier = random_program(seed, 5, [1, 1], 5, &[3]);
                let mut program = earlier.clone();
                spoil(&mut program);
                let make = || ClarabelSolver::new(1e-9, limit);
                let (mut used, mut fresh) = (make(), make());
                let _ = solve(&mut used, &earlier);
                let (found, expected) = (solve(&mut used, &program), solve(&mut fresh, &program));
                let what = format!("limit {limit}, spoiler {index}, seed {seed}");
                assert_eq!((bits(&found.0), found.1), (bits(&expected.0), expected.1), "{what}");
                assert_eq!(found.2.to_bits(), expected.2.to_bits(), "{what}");
                let multipliers = |solver: &ClarabelSolver| bits(solver.multipliers().cones);
                assert_eq!(multipliers(&used), multipliers(&fresh), "{what}");
                failures += usize::from(!found.1.is_usable());
            }
        }
    }
    assert!(failures > 50, "{failures}");
}

/// Ten problems of a standing robot and ten random ones, solved by quadprog.
#[test]
fn clarabel_meets_the_reference_solutions() {
    let mut solver = ClarabelSolver::new(1e-12, 100);
    let (mut worst_contact, mut worst_qp) = (0.0f64, 0.0f64);
    for case in references() {
        let mut forces = vec![0.0; 12];
        let outcome = solver.solve(&case.problem.view(), &mut forces);
        assert!(outcome.status.is_usable(), "{outcome:?}");
        worst_contact = worst_contact.max(case.error(&forces));

        let outcome = solver.solve_qp(&written_out(&case.problem).view(), &mut forces);
        assert!(outcome.status.is_usable(), "{outcome:?}");
        worst_qp = worst_qp.max(case.error(&forces));
    }
    assert!(worst_contact < 1e-6, "as a contact problem: {worst_contact:.1e}");
    assert!(worst_qp < 1e-6, "as a quadratic program: {worst_qp:.1e}");
}
