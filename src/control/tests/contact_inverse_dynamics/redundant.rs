//! Contacts that share a load in many ways, or contradict each other.

use legwork_control::{Choice, ContactInverseDynamics, ContactModel};
use legwork_qp::Status;
use legwork_qp::problems::Random;

use super::STEP;
use super::robots::{Answer, Robot, max_abs, pyramid};

/// Of all solutions the one of least change is taken: given the torques of any one of them as those
/// of the last step, the solver keeps to them; and it satisfies the law.
#[test]
fn the_solution_of_least_change_keeps_to_the_torques_of_the_last_step() {
    let mut random = Random::new(31);
    let mut differ = 0;
    for i in 0..60 {
        let k = 1 + i % 3;
        let mut robot = Robot::random(&mut random, 18, 6, k);
        robot.friction.iter_mut().for_each(|mu| *mu *= 3.0);
        if i % 2 == 1 {
            // At rest, where every contact can stick: two or three of a body share its load in many
            // ways.
            robot.velocity.fill(0.0);
            robot.acceleration.fill(0.0);
            robot.gaps.fill(0.0);
        }
        let mut solver = ContactInverseDynamics::new(ContactModel::CoulombLcp, pyramid(4))
            .with_choice(Choice::LeastChange);
        let lemkes = robot.solve(ContactModel::CoulombLcp);
        let mut solve = |last: &[f64]| {
            let mut answer = Answer::new(&robot, k);
            answer.torque.copy_from_slice(last);
            let Answer { torque, forces, after, .. } = &mut answer;
            let mut memory = vec![0.0; k];
            answer.prediction =
                Some(solver.solve(&robot.task(), &mut memory, torque, forces, after));
            assert_eq!(answer.status(), Status::Solved);
            answer
        };
        let far: Vec<f64> = (0..12).map(|_| 100.0 * random.normal()).collect();
        let answers = [solve(&far), solve(&[0.0; 12])];
        let change = |a: &[f64], b: &[f64]| {
            a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
        };
        for (answer, last) in answers.iter().zip([&far[..], &[0.0; 12]]) {
            let scale = 1.0 + max_abs(&answer.forces) + max_abs(&answer.torque);
            assert!(robot.imbalance(answer) < 1e-9 * scale);
            let (found, lemkes) = (change(&answer.torque, last), change(&lemkes.torque, last));
            assert!(found < lemkes + 1e-6 * scale, "{found} of {lemkes}");
            // A choice is the nearest to itself.
            let again = solve(&answer.torque);
            assert!(change(&again.torque, &answer.torque) < 1e-6 * scale);
            // It satisfies the law of the world that the torques drive.
            let after = robot.contact_velocity(&answer.after);
            for (c, force) in answer.forces.chunks_exact(3).enumerate() {
                let gap = after[3 * c + 2] + robot.gaps[c] / STEP;
                assert!(gap > -1e-8 * scale && force[2] * gap < 1e-8 * scale * scale);
                let slip = max_abs(&after[3 * c..3 * c + 2]);
                let inside =
                    pyramid(4).violation(0.999 * robot.friction[c], [force[0], force[1], force[2]]);
                assert!(
                    slip < 1e-8 * scale || inside > 0.0 || max_abs(force) == 0.0,
                    "{force:?} {slip}"
                );
            }
        }
        differ += usize::from(change(&answers[0].torque, &lemkes.torque) > 1e-3);
    }
    assert!(differ > 3, "the choice differs from Lemke's in {differ} of 60 only");
}

/// Fingers that close on what they hold from both sides require unlimited forces; contacts then
/// yield.
#[test]
fn contradictory_contacts_give_way_and_forces_stay_finite() {
    let mut random = Random::new(32);
    let mut yielded = 0;
    for friction in [0.5, 100.0] {
        for closing in [1e-9, 1e-6, 1e-3, 0.1] {
            // A free body of 1 kg between two points that approach each other along x.
            let tilt = 1e-4 * random.normal();
            let (nv, rows) = (8, 6);
            let mut robot = Robot::random(&mut random, nv, 6, 2);
            robot.mass.fill(0.0);
            for i in 0..nv {
                robot.mass[i * nv + i] = if (3..6).contains(&i) { 0.01 } else { 1.0 };
            }
            robot.bias.fill(0.0);
            robot.bias[2] = 9.81;
            robot.velocity.fill(0.0);
            robot.acceleration.fill(0.0);
            robot.gaps.fill(0.0);
            robot.friction.fill(friction);
            robot.jacobian.fill(0.0);
            // Contact axes (y, z, ±x) at ∓ 5 cm; a joint moves each point along its normal.
            for (contact, side) in [1.0, -1.0].into_iter().enumerate() {
                let mut set = |row: usize, column: usize, value: f64| {
                    robot.jacobian[column * rows + 3 * contact + row] = value;
                };
                let (x, z) = (-0.05 * side, 0.05 * tilt * side);
                // ω × r, r = (x, 0, z): (ω_y z, ω_z x − ω_x z, −ω_y x).
                set(0, 1, 1.0);
                set(0, 5, x);
                set(0, 3, -z);
                set(1, 2, 1.0);
                set(1, 4, -x);
                set(2, 0, side);
                set(2, 4, side * z);
                set(2, 6 + contact, -1.0);
                robot.velocity[6 + contact] = closing;
            }
            for model in [ContactModel::CoulombLcp, ContactModel::NoSlipLcp] {
                let answer = robot.solve(model);
                assert!(
                    answer.status().is_usable(),
                    "{friction} {closing}: {:?}",
                    answer.prediction
                );
                let compliance = answer.prediction.expect("solved").compliance;
                yielded += usize::from(compliance > 0.0);
                // The force that stops the fingers alone, or carries the body, and twenty times
                // that.
                let typical = closing.max(9.81 * STEP) / STEP;
                let largest = max_abs(&answer.forces);
                assert!(largest < 25.0 * typical, "{model:?} {friction} {closing}: {largest} N");
                let scale = 1.0 + largest;
                assert!(robot.imbalance(&answer) < 1e-9 * scale);
            }
        }
    }
    assert!(yielded >= 8, "contacts yielded in {yielded} of 16 only");
}

/// A trunk of 10 kg and 0.04 kg m² over its only foot, 1 m below, at rest: an impulse at the foot
/// moves it 250 times as much to the side as along the normal. It presses with its weight, and no
/// contact yields.
#[test]
fn a_robot_high_over_its_foot_presses_with_its_weight() {
    let (nv, rows, weight) = (7, 3, 98.1);
    let mut robot = Robot::random(&mut Random::new(33), nv, 6, 1);
    robot.mass.fill(0.0);
    for (i, m) in [10.0, 10.0, 10.0, 0.04, 0.04, 0.04, 0.1].into_iter().enumerate() {
        robot.mass[i * nv + i] = m;
    }
    robot.bias.fill(0.0);
    robot.bias[2] = weight;
    for numbers in [&mut robot.velocity, &mut robot.acceleration, &mut robot.gaps] {
        numbers.fill(0.0);
    }
    robot.friction.fill(0.7);
    robot.jacobian.fill(0.0);
    // The foot at (0, 0, −1) moves as v + ω × r = (v_x − ω_y, v_y + ω_x, v_z), and the leg
    // lengthens.
    for (row, column, value) in
        [(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0), (0, 4, -1.0), (1, 3, 1.0), (2, 6, -1.0)]
    {
        robot.jacobian[column * rows + row] = value;
    }
    let (law, free) = (ContactModel::CoulombLcp, ContactModel::NoSlipLcp);
    for (model, choice) in [(law, Choice::Lemke), (law, Choice::LeastChange), (free, Choice::Lemke)]
    {
        let mut solver = ContactInverseDynamics::new(model, pyramid(4)).with_choice(choice);
        let mut answer = Answer::new(&robot, 1);
        let Answer { torque, forces, after, .. } = &mut answer;
        let prediction = solver.solve(&robot.task(), &mut [0.0], torque, forces, after);
        assert_eq!((prediction.outcome.status, prediction.compliance), (Status::Solved, 0.0));
        // Lemke's method has 1e-10 of the mean diagonal, which is 170 times that of the normal, to
        // spread loads.
        assert!(
            (answer.forces[2] - weight).abs() < 1e-6 * weight,
            "{model:?}: {:?}",
            answer.forces
        );
        assert!(max_abs(&answer.forces[..2]) < 1e-6, "{model:?}: {:?}", answer.forces);
    }
}
