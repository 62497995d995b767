//! The derivative of a step against central differences.

use super::oracles::RandomSystem;
use legwork_contact::soft_constraints::{
    ConstraintIndex, ConstraintProblem, ConstraintSolution, FrictionLaw, Law, LawTangent,
    ProblemTangent, Rows, SoftConstraintSolver, SolverOptions,
};
use legwork_qp::Status;

/// Laws, rows and momentum of a problem, to be moved along a direction.
#[derive(Clone)]
struct Data {
    momentum: Vec<f64>,
    constraints: Vec<(Vec<f64>, Law)>,
}

fn moved(data: &Data, direction: &Data, tangents: &[LawTangent], step: f64) -> Data {
    let add = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + step * b).collect();
    let mut out = Data { momentum: add(&data.momentum, &direction.momentum), constraints: vec![] };
    for (((rows, law), (d_rows, _)), t) in
        data.constraints.iter().zip(&direction.constraints).zip(tangents)
    {
        let mut law = *law;
        let (Law::Bilateral(n) | Law::Unilateral(n) | Law::Contact(n, _)) = &mut law;
        n.deformation += step * t.deformation[2];
        n.stiffness += step * t.stiffness[1];
        n.damping += step * t.damping[1];
        n.rate_bias += step * t.rate_bias[2];
        n.preload += step * t.preload;
        if let Law::Contact(_, f) = &mut law {
            f.coefficient += step * t.friction;
            f.stiffness += step * t.stiffness[0];
            f.damping += step * t.damping[0];
            for i in 0..2 {
                f.deformation[i] += step * t.deformation[i];
                f.rate_bias[i] += step * t.rate_bias[i];
            }
        }
        out.constraints.push((add(rows, d_rows), law));
    }
    out
}

fn load(problem: &mut ConstraintProblem, data: &Data) {
    problem.clear();
    problem.momentum_mut().copy_from_slice(&data.momentum);
    for (rows, law) in &data.constraints {
        problem.push(Rows::Dense(rows), *law);
    }
}

/// dv₁ of random systems of all kinds of rows, soft and stiff, along random directions of all
/// their numbers.
#[test]
fn the_derivative_is_the_difference_quotient() {
    let (mut kinks, mut compared) = (0, 0);
    for seed in 0..120 {
        let mut system = RandomSystem::new(seed, 6, 0.01);
        let friction_law =
            if seed % 4 == 3 { FrictionLaw::Associated } else { FrictionLaw::Coulomb };
        let stiffness = [1e4, 1e6, 1e12][seed as usize % 3];
        let mut data = Data { momentum: system.problem.momentum().to_vec(), constraints: vec![] };
        for kind in 0..3 {
            let law = match kind {
                0 => Law::Bilateral(system.spring(stiffness)),
                1 => Law::Unilateral(system.spring(stiffness)),
                _ => system.contact(stiffness.min(1e7)),
            };
            let rows = system.rows(law.row_count());
            data.constraints.push((rows, law));
        }
        if let (Law::Contact(normal, _), 0) = (&mut data.constraints[2].1, seed % 4) {
            normal.exponent = 1.5;
        }
        let mut direction = data.clone();
        direction.momentum.iter_mut().for_each(|p| *p = system.random.normal());
        let mut tangents = Vec::new();
        for (rows, law) in &mut direction.constraints {
            rows.iter_mut().for_each(|g| *g = system.random.normal());
            let r = &mut system.random;
            tangents.push(LawTangent {
                deformation: [0.01 * r.normal(), 0.01 * r.normal(), 0.01 * r.normal()],
                stiffness: [1e3 * r.normal(), law.normal().stiffness * r.normal()],
                damping: [100.0 * r.normal(), r.normal()],
                rate_bias: [r.normal(), r.normal(), r.normal()],
                preload: r.normal(),
                friction: 0.1 * r.normal(),
            });
        }
        let options = SolverOptions { friction_law, tolerance: 1e-13, ..SolverOptions::default() };
        let mut solver = SoftConstraintSolver::new(options);
        let problem = &mut system.problem;
        let step = 1e-6;
        let mut at = |amount: f64| {
            load(problem, &moved(&data, &direction, &tangents, amount));
            let mut solution =
                ConstraintSolution { velocity: vec![0.0; 6], ..ConstraintSolution::default() };
            let outcome = solver.solve(problem, &mut solution);
            assert!(outcome.status.is_usable(), "{seed}: {outcome:?}");
            solution
        };
        let (plus, minus, here) = (at(step), at(-step), at(0.0));
        let _ = at;
        let mut tangent = ProblemTangent::zero(problem);
        tangent.momentum.copy_from_slice(&direction.momentum);
        tangent.laws.copy_from_slice(&tangents);
        for (i, (rows, _)) in direction.constraints.iter().enumerate() {
            tangent.add_rows(problem, &here, ConstraintIndex(i), Rows::Dense(rows));
        }
        assert_eq!(solver.linearise(problem, &here), Status::Solved);
        let mut change = ConstraintSolution::default();
        let outcome = solver.derivative(problem, &tangent, &mut change);
        assert_eq!(outcome.status, Status::Solved, "{seed}: {outcome:?}");
        let scale = change.velocity.iter().fold(1.0, |m: f64, v| m.max(v.abs()));
        let quotient = |i: usize| (plus.velocity[i] - minus.velocity[i]) / (2.0 * step);
        // A kink between the two points shows as a second difference of first order.
        let bend = (0..6)
            .map(|i| (plus.velocity[i] + minus.velocity[i] - 2.0 * here.velocity[i]).abs() / step)
            .fold(0.0, f64::max);
        if bend > 1e-2 * scale {
            kinks += 1;
            continue;
        }
        compared += 1;
        for i in 0..6 {
            let (d, q) = (change.velocity[i], quotient(i));
            assert!((d - q).abs() < 1e-4 * scale, "{seed} {stiffness:e}: {d} {q}");
        }
    }
    assert!(compared > 100, "{kinks} kinks");
}
