//! Laws of inverse dynamics with contact.

mod memory;
mod redundant;
mod robots;

use robots::{Answer, Robot, max_abs, pyramid};

use legwork_control::{ContactInverseDynamics, ContactModel, Energy, ModelProblem, Stages};
use legwork_qp::complementarity::{DenseMass, HalfInverseMass};
use legwork_qp::problems::Random;
use legwork_qp::{
    ContactMethod, ContactProblem, GeneralActiveSet, Lemke, LemkeSolver, Outcome, Status,
    StewartTrinkleSolver,
};

const STEP: f64 = 1e-3;
const MODELS: [ContactModel; 8] = [
    ContactModel::NoSlipLcp,
    ContactModel::CoulombLcp,
    ContactModel::CoulombQp { stages: Stages::One },
    ContactModel::CoulombQp { stages: Stages::Two },
    ContactModel::CoulombQp { stages: Stages::TwoInNullSpace },
    ContactModel::NoSlipQp { stages: Stages::One },
    ContactModel::NoSlipQp { stages: Stages::Two },
    ContactModel::Sensed,
];

/// Newton's law and the desired joint accelerations hold under every model, whatever forces it
/// predicts.
#[test]
fn torques_give_the_wanted_accelerations_under_the_predicted_forces() {
    let mut random = Random::new(1);
    for (nv, free, k) in [
        (18, 6, 1),
        (18, 6, 2),
        (18, 6, 4),
        (18, 6, 12),
        (17, 6, 3),
        (24, 12, 5),
        (9, 3, 2),
        (7, 0, 2),
        (12, 6, 0),
    ] {
        for _ in 0..10 {
            let robot = Robot::random(&mut random, nv, free, k);
            for model in MODELS {
                let answer = robot.solve(model);
                assert!(answer.status().is_usable(), "{model:?} {nv} {k}: {:?}", answer.prediction);
                let scale = 1.0 + max_abs(&answer.forces) + max_abs(&answer.torque);
                let imbalance = robot.imbalance(&answer);
                assert!(imbalance < 1e-9 * scale, "{model:?}: {imbalance:e} of {scale:e}");
                let joints = free..nv;
                for (i, a) in joints.zip(&robot.acceleration) {
                    let wanted = robot.velocity[i] + STEP * a;
                    assert!((answer.after[i] - wanted).abs() < 1e-15, "{model:?}");
                }
            }
        }
    }
}

/// The forces of a world in which `law` is the law of contact, if the torques drive the robot.
fn forces_of_world(
    robot: &Robot,
    torque: &[f64],
    law: impl FnOnce(&ContactProblem<'_>, &mut [f64]) -> Outcome,
) -> Vec<f64> {
    let (nv, free, rows) = (robot.nv, robot.nv - torque.len(), 3 * robot.gaps.len());
    let mass = DenseMass::factor(nv, &robot.mass).expect("positive definite");
    let solve = |x: &mut [f64]| {
        mass.half_solve(x);
        mass.half_solve_transposed(x);
    };
    let mut velocity: Vec<f64> = robot.bias.iter().map(|h| -h).collect();
    for (v, t) in velocity[free..].iter_mut().zip(torque) {
        *v += t;
    }
    solve(&mut velocity);
    for (v, now) in velocity.iter_mut().zip(&robot.velocity) {
        *v = now + STEP * *v;
    }
    let mut bias: Vec<f64> = robot.contact_velocity(&velocity).iter().map(|c| c / STEP).collect();
    for (i, gap) in robot.gaps.iter().enumerate() {
        bias[3 * i + 2] += gap / (STEP * STEP);
    }
    let mut delassus = vec![0.0; rows * rows];
    for j in 0..rows {
        let mut column: Vec<f64> = (0..nv).map(|l| robot.jacobian[l * rows + j]).collect();
        solve(&mut column);
        delassus[j * rows..(j + 1) * rows].copy_from_slice(&robot.contact_velocity(&column));
    }
    let cone = pyramid(4);
    let problem = ContactProblem {
        inverse_inertia: &delassus,
        bias: &bias,
        friction: &robot.friction,
        compliance: &[],
        force_scale: 10.0,
        cone: &cone,
        active: &[],
        regularisation: 0.0,
    };
    let mut forces = vec![0.0; rows];
    let outcome = law(&problem, &mut forces);
    assert_eq!(outcome.status, Status::Solved);
    forces
}

/// Equal up to a solver's tolerance at numbers of the size `scale`.
fn assert_equal(ours: &[f64], worlds: &[f64], scale: f64) {
    let scale = max_abs(worlds).max(scale);
    for (a, b) in ours.iter().zip(worlds) {
        assert!((a - b).abs() < 1e-6 * scale, "{ours:?} {worlds:?}");
    }
}

/// The contact model of the world, driven by the torques, returns the predicted forces: the
/// controller inverts the model.
#[test]
fn coulombs_law_is_inverted() {
    let mut random = Random::new(2);
    let mut pressing = 0;
    for _ in 0..60 {
        let robot = Robot::random(&mut random, 18, 6, 2);
        let answer = robot.solve(ContactModel::CoulombLcp);
        assert_eq!(answer.status(), Status::Solved);
        let forces = forces_of_world(&robot, &answer.torque, |problem, forces| {
            StewartTrinkleSolver::default().solve(problem, forces)
        });
        assert_equal(&answer.forces, &forces, 1.0);
        pressing += usize::from(max_abs(&forces) > 0.0);
    }
    assert!(pressing > 30, "only {pressing} of 60 touch");
}

/// Where the joints let a contact stick, the relative energy gives the forces of greatest
/// dissipation, which are those of a world with the convex law of contact: stuck or sliding, on
/// joints that move.
#[test]
fn the_relative_energy_inverts_the_convex_law() {
    let mut random = Random::new(12);
    let (mut sliding, mut sticking) = (0, 0);
    for i in 0..60 {
        let mut robot = Robot::random(&mut random, 18, 6, 1);
        // An open contact is treated as one that touches.
        robot.gaps.iter_mut().for_each(|gap| *gap = -gap.abs());
        let fast = if i % 2 == 0 { 100.0 } else { 1.0 };
        robot.velocity.iter_mut().for_each(|v| *v *= fast);
        let model = ContactModel::CoulombQp { stages: Stages::One };
        let answer = robot.solve_with(model, Energy::Relative);
        assert_eq!(answer.status(), Status::Solved);
        let forces = forces_of_world(&robot, &answer.torque, |problem, forces| {
            LemkeSolver::new(1, 4).solve(problem, forces)
        });
        // The force that stops a mass of the robot within a step.
        let scale = 1.0 * 0.01 * fast / STEP;
        assert_equal(&answer.forces, &forces, scale);
        if max_abs(&forces) > 0.0 {
            let after = robot.contact_velocity(&answer.after);
            let slides = max_abs(&after[..2]) > 1e-6;
            sliding += usize::from(slides);
            sticking += usize::from(!slides);
        }
    }
    assert!(sliding > 5 && sticking > 5, "{sliding} slide, {sticking} stick");
}

/// The energies differ by what the joints' motion carries, and joints at rest carry nothing.
#[test]
fn on_joints_at_rest_both_energies_agree() {
    let mut random = Random::new(13);
    for k in [1, 2, 5] {
        let mut robot = Robot::random(&mut random, 18, 6, k);
        robot.gaps.fill(0.0);
        for (a, v) in robot.acceleration.iter_mut().zip(&robot.velocity[6..]) {
            *a = -v / STEP;
        }
        let model = ContactModel::CoulombQp { stages: Stages::One };
        let [absolute, relative] =
            [Energy::Absolute, Energy::Relative].map(|energy| robot.solve_with(model, energy));
        assert_eq!(relative.status(), Status::Solved);
        assert_equal(&relative.after, &absolute.after, 1.0);
        // And not otherwise.
        robot.velocity[6..].iter_mut().for_each(|v| *v += 0.5);
        let [absolute, relative] =
            [Energy::Absolute, Energy::Relative].map(|energy| robot.solve_with(model, energy));
        let apart = absolute.after.iter().zip(&relative.after).map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0.0, f64::max) > 1e-3);
    }
}

/// Normals satisfy complementarity; contacts that do not press have no force at all; those that
/// press slide as little as the joints let them, in the least-squares sense: no motion of the body
/// would do with less.
#[test]
fn contacts_without_slip_satisfy_their_conditions() {
    let mut random = Random::new(3);
    let (mut single, mut several, mut open, mut undecided) = (0, 0, 0, 0);
    for k in [1, 2, 4, 9] {
        for _ in 0..20 {
            let robot = Robot::random(&mut random, 18, 6, k);
            let answer = robot.solve(ContactModel::NoSlipLcp);
            let after = robot.contact_velocity(&answer.after);
            let scale = max_abs(&answer.forces).max(1.0);
            let mut slopes = [0.0f64; 6];
            let (mut pressing, mut fastest) = (0, 0.0f64);
            for i in 0..k {
                let gap = after[3 * i + 2] + robot.gaps[i] / STEP;
                let force = answer.forces[3 * i + 2];
                assert!(force >= 0.0 && gap > -1e-9 && force * gap < 1e-9 * scale, "{force} {gap}");
                if force == 0.0 {
                    assert_eq!(answer.forces[3 * i..3 * i + 2], [0.0; 2], "a contact that is free");
                    open += 1;
                    continue;
                }
                pressing += 1;
                for row in [3 * i, 3 * i + 1] {
                    fastest = fastest.max(after[row].abs());
                    for (column, slope) in slopes.iter_mut().enumerate() {
                        *slope += robot.jacobian[column * 3 * k + row] * after[row];
                    }
                }
            }
            let is_least = max_abs(&slopes) < 1e-9 * (1.0 + fastest);
            if !is_least {
                // The force that holds it would lift it, and without that force it would press: it
                // slides.
                let slides = |i: usize| {
                    let (force, v) = (&answer.forces[3 * i..3 * i + 3], &after[3 * i..3 * i + 2]);
                    force[..2] == [0.0; 2] && force[2] > 0.0 && max_abs(v) > 1e-9
                };
                assert!((0..k).any(slides), "{slopes:?} at {fastest} m/s");
                undecided += 1;
                continue;
            }
            assert!(pressing != 1 || fastest < 1e-9, "one contact slides at {fastest} m/s");
            single += usize::from(pressing == 1);
            several += usize::from(pressing > 1 && fastest > 1e-3);
        }
    }
    assert!(single > 10 && several > 10 && open > 10, "{single}, {several}, {open} of each");
    assert!(undecided <= 8, "{undecided} of 80 without an answer");
}

/// Where all contacts can hold, all that press do, whichever rows algorithm 1 keeps.
#[test]
fn consistent_contacts_without_slip_all_hold() {
    let mut random = Random::new(21);
    for k in [2, 4, 9] {
        let mut robot = Robot::random(&mut random, 18, 6, k);
        robot.gaps.fill(0.0);
        for (a, v) in robot.acceleration.iter_mut().zip(&robot.velocity[6..]) {
            *a = -v / STEP;
        }
        let answer = robot.solve(ContactModel::NoSlipLcp);
        let after = robot.contact_velocity(&answer.after);
        let presses = |i: &usize| answer.forces[3 * i + 2] > 0.0;
        assert!((0..k).any(|i| presses(&i)), "nothing carries the body");
        for i in (0..k).filter(presses) {
            assert!(max_abs(&after[3 * i..3 * i + 3]) < 1e-9, "contact {i} of {k}: {after:?}");
        }
    }
}

/// Friction without limit is that of contacts that press.
#[test]
fn contacts_of_least_energy_without_slip_hold_where_they_press() {
    let mut random = Random::new(22);
    let mut open = 0;
    for k in [1, 2, 4, 9] {
        for _ in 0..10 {
            let robot = Robot::random(&mut random, 18, 6, k);
            let answer = robot.solve(ContactModel::NoSlipQp { stages: Stages::One });
            let scale = max_abs(&answer.forces);
            for force in answer.forces.chunks_exact(3).filter(|f| f[2] < 1e-4 * scale) {
                open += 1;
                assert!(max_abs(&force[..2]) < 1e-6 * scale, "{force:?} of {scale}");
            }
        }
    }
    assert!(open > 10, "only {open} contacts are open");
}

/// Feet at different heights can block every motion of the body; normals then still do not
/// penetrate.
#[test]
fn feet_that_block_every_motion_do_not_sink() {
    let mut random = Random::new(7);
    for _ in 0..20 {
        let robot = Robot::on_steps(&mut random, (18, 6, 4), 0.1);
        let answer = robot.solve(ContactModel::NoSlipLcp);
        assert_eq!(answer.status(), Status::Solved);
        let after = robot.contact_velocity(&answer.after);
        for i in 0..4 {
            assert!(after[3 * i + 2] + robot.gaps[i] / STEP > -1e-9, "{after:?}");
        }
    }
}

#[test]
fn no_other_force_leaves_less_energy_and_stage_two_costs_less_torque() {
    let mut random = Random::new(4);
    let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
    let (mut saved, mut compared) = (0, 0);
    for k in [2, 3, 6] {
        for _ in 0..20 {
            let robot = Robot::random(&mut random, 18, 6, k);
            let one = robot.solve(ContactModel::CoulombQp { stages: Stages::One });
            let two = robot.solve(ContactModel::CoulombQp { stages: Stages::Two });
            let lcp = robot.solve(ContactModel::CoulombLcp);
            let free = robot.solve(ContactModel::NoSlipQp { stages: Stages::One });
            let energy = robot.energy(&one.after);
            assert!(energy < robot.energy(&lcp.after) * (1.0 + 1e-9) + 1e-12);
            // More friction leaves less, where it is that of the same contacts.
            let least = 1e-2 * max_abs(&free.forces);
            let grips = |f: &[f64]| f[2] > least && max_abs(&f[..2]) > 1e-3 * least;
            if free.forces.chunks_exact(3).all(grips) {
                assert!(robot.energy(&free.after) < energy * (1.0 + 1e-7) + 1e-12);
                compared += 1;
            }
            let changed = (robot.energy(&two.after) - energy).abs();
            assert!(
                changed < 1e-4 * energy,
                "stage II changes the energy by {changed:e} of {energy:e}"
            );
            assert!(square(&two.torque) < square(&one.torque) * (1.0 + 1e-4));
            saved += usize::from(square(&two.torque) < 0.98 * square(&one.torque));
            let (cone, after) = (pyramid(4), robot.contact_velocity(&two.after));
            for (i, force) in two.forces.chunks_exact(3).enumerate() {
                let violation = cone.violation(robot.friction[i], [force[0], force[1], force[2]]);
                assert!(violation < 1e-7 * max_abs(&two.forces).max(1.0), "{violation:e}");
                let gap = after[3 * i + 2] + robot.gaps[i] / STEP;
                assert!(gap > -1e-4 * (1.0 + max_abs(&after)), "{gap}");
            }
        }
    }
    assert!(compared > 5, "only {compared} of 60 press everywhere");
    assert!(saved > 15, "stage II saved torque in {saved} of 60 only");
}

/// Stage II in the null space of stage I keeps its motion to rounding, and no feasible force of the
/// same motion has less torque: not those of stage I, nor any on the way along a null direction to
/// the edge of the pyramids.
#[test]
fn stage_two_in_the_null_space_keeps_the_motion_and_has_least_torque() {
    let mut random = Random::new(5);
    let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
    let (mut saved, mut tried) = (0, 0);
    for (free, k) in [(6, 2), (6, 3), (6, 6), (12, 5)] {
        for _ in 0..20 {
            let robot = Robot::random(&mut random, free + 12, free, k);
            let one = robot.solve(ContactModel::CoulombQp { stages: Stages::One });
            let two = robot.solve(ContactModel::CoulombQp { stages: Stages::TwoInNullSpace });
            let moved: Vec<f64> = two.after.iter().zip(&one.after).map(|(a, b)| a - b).collect();
            let far = max_abs(&moved) / max_abs(&one.after);
            assert!(far < 1e-10, "{k} contacts: the motion changes by {far:e}");
            saved += usize::from(square(&two.torque) < 0.98 * square(&one.torque));
            assert!(square(&two.torque) < square(&one.torque) * (1.0 + 1e-7));

            // τ = τ₂ − J_aᵀ d along directions d with J_uᵀ d = 0, random ones without that part.
            let rows = 3 * k;
            let column = |i: usize| &robot.jacobian[i * rows..(i + 1) * rows];
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let mut basis: Vec<Vec<f64>> = Vec::new();
            let without = |basis: &[Vec<f64>], v: &mut Vec<f64>| {
                for b in basis.iter().chain(basis) {
                    let share = dot(b, v);
                    v.iter_mut().zip(b).for_each(|(v, b)| *v -= share * b);
                }
            };
            for i in 0..free {
                let mut row = column(i).to_vec();
                let length = square(&row).sqrt();
                without(&basis, &mut row);
                let rest = square(&row).sqrt();
                if rest > 1e-9 * length {
                    row.iter_mut().for_each(|x| *x /= rest);
                    basis.push(row);
                }
            }
            if basis.len() == rows {
                continue;
            }
            let (cone, size) = (pyramid(4), max_abs(&two.forces).max(1.0));
            let outside = |f: &[f64]| {
                let violations = f.chunks_exact(3).zip(&robot.friction);
                let violations = violations.map(|(f, mu)| cone.violation(*mu, [f[0], f[1], f[2]]));
                violations.fold(0.0, f64::max)
            };
            assert!(outside(&two.forces) < 1e-7 * size, "{:e}", outside(&two.forces));
            for _ in 0..1000 {
                let mut d: Vec<f64> = (0..rows).map(|_| 2.0 * random.uniform() - 1.0).collect();
                without(&basis, &mut d);
                let scale = 1e-2 * size / max_abs(&d).max(1e-9);
                let other: Vec<f64> =
                    two.forces.iter().zip(&d).map(|(f, d)| f + scale * d).collect();
                if outside(&other) > 0.0 {
                    continue;
                }
                tried += 1;
                let torque: Vec<f64> = (free..free + 12)
                    .zip(&two.torque)
                    .map(|(i, tau)| tau - scale * dot(column(i), &d))
                    .collect();
                let (less, least) = (square(&torque), square(&two.torque));
                assert!(less > least * (1.0 - 1e-5), "{k} contacts: {less} below {least}");
            }
        }
    }
    assert!(saved > 20, "stage II saved torque in {saved} of 80 only");
    assert!(tried > 500, "only {tried} directions stay inside the pyramids");
}

/// Legs that spread while their feet must not slip: the check detects it, and the repaired
/// accelerations satisfy the contacts.
#[test]
fn inconsistent_accelerations_are_seen_and_repaired() {
    let mut random = Random::new(5);
    let mut repaired = 0;
    for _ in 0..20 {
        let robot = Robot::random(&mut random, 18, 6, 4);
        let mut answer = robot.solve(ContactModel::NoSlipLcp);
        let before = answer.prediction.expect("solved").inconsistency;
        let mut solver = ContactInverseDynamics::new(ContactModel::NoSlipLcp, pyramid(4));
        let Answer { torque, forces, after, .. } = &mut answer;
        let _ = solver.solve(&robot.task(), &mut [0.0; 4], torque, forces, after);
        let mut acceleration = vec![0.0; 12];
        let outcome =
            solver.make_consistent(&robot.task(), forces, &mut acceleration, torque, after);
        if !outcome.status.is_usable() {
            continue;
        }
        repaired += usize::from(before > 1e-4);
        let changed = Robot { acceleration, ..robot };
        let velocity = changed.contact_velocity(&answer.after);
        for i in 0..4 {
            assert!(velocity[3 * i + 2] + changed.gaps[i] / STEP > -1e-9);
            if answer.forces[3 * i + 2] > 0.0 {
                assert!(max_abs(&velocity[3 * i..3 * i + 2]) < 1e-9, "slips");
            }
        }
        assert!(changed.imbalance(&answer) < 1e-8 * (1.0 + max_abs(&answer.forces)));
    }
    assert!(repaired >= 10, "only {repaired} of 20 were repaired");
}

/// Wherever a number that is not finite is read, the status is that the data are invalid, and there
/// is no torque.
#[test]
fn bad_numbers_are_answers() {
    let sound = || Robot::random(&mut Random::new(6), 18, 6, 2);
    type Spoil = fn(&mut Robot);
    let spoils: [Spoil; 7] = [
        |robot| robot.bias[3] = f64::NAN,
        // Between joints, and between a joint and the base.
        |robot| robot.mass[18 * 10 + 11] = f64::NAN,
        |robot| robot.mass[18 * 2 + 11] = f64::INFINITY,
        |robot| robot.velocity[17] = f64::NAN,
        |robot| robot.acceleration[4] = f64::NAN,
        |robot| robot.jacobian[6 * 12 + 1] = f64::NAN,
        |robot| robot.gaps[1] = f64::NAN,
    ];
    for spoil in spoils {
        let mut robot = sound();
        spoil(&mut robot);
        for model in MODELS {
            let answer = robot.solve(model);
            assert_eq!(answer.status(), Status::InvalidData);
            assert!(answer.torque.iter().chain(&answer.forces).all(|x| *x == 0.0));
        }
    }
    // Forces that are passed in.
    let (robot, mut answer) = (sound(), Answer::new(&sound(), 2));
    answer.forces[4] = f64::NAN;
    let mut solver = ContactInverseDynamics::new(ContactModel::Sensed, pyramid(4));
    let Answer { torque, forces, after, .. } = &mut answer;
    let prediction = solver.solve(&robot.task(), &mut [0.0; 2], torque, forces, after);
    assert_eq!(prediction.outcome.status, Status::InvalidData);
    assert!(answer.torque.iter().chain(&answer.forces).all(|x| *x == 0.0));
}

/// Whoever solves a model's problem, the robot moves alike: to rounding where the problem is the
/// same, to the conditioning of its normal equations where least squares become a dense program.
#[test]
fn another_solver_of_the_same_problem_predicts_the_same_motion() {
    let mut random = Random::new(11);
    for (nv, free, k) in [(18, 6, 1), (18, 6, 2), (18, 6, 3), (24, 12, 4), (18, 6, 4)] {
        for _ in 0..10 {
            let robot = Robot::random(&mut random, nv, free, k);
            for model in MODELS {
                for energy in [Energy::Absolute, Energy::Relative] {
                    let expected = robot.solve_with(model, energy);
                    let mut calls = 0;
                    let mut other = |problem: &ModelProblem<'_>, x: &mut [f64]| {
                        calls += 1;
                        match problem {
                            ModelProblem::Contact { problem, root } => {
                                assert_gram(problem.inverse_inertia, root, 3 * k);
                                StewartTrinkleSolver::default().solve(problem, x)
                            }
                            ModelProblem::Complementarity(lcp) => Lemke::new(k).solve(lcp, x),
                            ModelProblem::Quadratic(qp) => GeneralActiveSet::default().solve(qp, x),
                        }
                    };
                    let mut answer = Answer::new(&robot, k);
                    let mut solver =
                        ContactInverseDynamics::new(model, pyramid(4)).with_energy(energy);
                    let Answer { torque, forces, after, .. } = &mut answer;
                    forces.copy_from_slice(&expected.forces);
                    let memory = &mut vec![0.0; k];
                    let prediction =
                        solver.solve_by(&mut other, &robot.task(), memory, torque, forces, after);
                    assert!(prediction.outcome.status.is_usable(), "{model:?} {prediction:?}");
                    assert_eq!(calls == 0, model == ContactModel::Sensed, "{model:?}");
                    let far = answer.after.iter().zip(&expected.after).map(|(a, b)| a - b);
                    let far = max_abs(&far.collect::<Vec<_>>()) / max_abs(&expected.after);
                    let is_same = !matches!(
                        model,
                        ContactModel::CoulombQp { .. } | ContactModel::NoSlipQp { .. }
                    );
                    let tolerance = if is_same { 1e-9 } else { 1e-5 };
                    assert!(far < tolerance, "{model:?} {energy:?}, {k} contacts: {far:e}");
                }
            }
        }
    }
}

/// `G = WᵀW`.
fn assert_gram(g: &[f64], root: &[f64], rows: usize) {
    let nu = root.len() / rows;
    let column = |i: usize| &root[i * nu..(i + 1) * nu];
    for j in 0..rows {
        for i in 0..rows {
            let product: f64 = column(i).iter().zip(column(j)).map(|(a, b)| a * b).sum();
            assert!((g[j * rows + i] - product).abs() <= 1e-12 * max_abs(g));
        }
    }
}
