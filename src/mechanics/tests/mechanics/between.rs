//! What robots of one world do to one another: relative motion, and constraints between them.

use legwork_mechanics::nalgebra::{DMatrix, DVector, Vector3};
use legwork_mechanics::{
    Model, frame_velocity, relative_jacobian, relative_jacobian_dot_velocity, relative_placement,
    relative_velocity, world_from_frame,
};

use crate::constrained::Case;
use crate::quantities::*;
use crate::random::{Rng, small_models};
use crate::worlds::{World, random_worlds, the_box};

/// Between robots: against the difference law on world Jacobians, and against differences along
/// the motion.
#[test]
fn relative_motion_between_robots() {
    let mut law = Law::new("relative Jacobian = difference of Jacobians", 1e-14);
    let mut speed = Law::new("relative velocity = relative J nu", 1e-14);
    let mut slopes = Law::new("relative J = d placement / dq", 1e-10);
    let mut rates = Law::new("relative J_dot nu = d (J nu) / dt", 1e-10);
    for world in random_worlds() {
        let World { seed, model, .. } = &world;
        let (q, nu) = world.states().swap_remove(0);
        let kinematics = kinematics_at(model, &q, &nu);
        let frames = world.frames();
        let mut rng = Rng::new(*seed);
        let from = frames[rng.below(frames.len())];
        let others =
            frames.iter().filter(|to| model.tree_of_frame(**to) != model.tree_of_frame(from));
        let others: Vec<_> = others.copied().collect();
        let to = others[rng.below(others.len())];
        let mut jacobian = DMatrix::from_element(6, nu.len(), f64::NAN);
        relative_jacobian(model, &kinematics, from, to, jacobian.as_mut_slice());

        let [a, b] = [from, to].map(|frame| world_from_frame(model, &kinematics, frame));
        let [ja, jb] = [from, to].map(|frame| frame_jacobian_at(model, &kinematics, frame));
        let back = a.rotation.transpose();
        let apart = b.translation - a.translation;
        for (k, column) in jacobian.column_iter().enumerate() {
            let part = |j: &DMatrix<f64>, row| {
                Vector3::from_iterator(j.view((row, k), (3, 1)).iter().copied())
            };
            let linear = back * (part(&jb, 0) - part(&ja, 0) - part(&ja, 3).cross(&apart));
            let angular = back * (part(&jb, 3) - part(&ja, 3));
            let expected: Vec<f64> = linear.iter().chain(angular.iter()).copied().collect();
            let found: Vec<f64> = column.iter().copied().collect();
            law.check(*seed, distance(&found, &expected) / (1.0 + ja.norm() + jb.norm()));
        }
        let velocity = six(&relative_velocity(model, &kinematics, from, to));
        let product = &jacobian * DVector::from_column_slice(&nu);
        speed.check(*seed, (&velocity - product).norm() / (1.0 + jacobian.norm() * norm(&nu)));

        let placement = |q: &[f64]| {
            let kinematics = kinematics_at(model, q, &nu);
            DVector::from_column_slice(
                relative_placement(model, &kinematics, from, to).translation.as_slice(),
            )
        };
        for k in 0..nu.len() {
            let found = slope(STEP, |time| placement(&moved_along(model, &q, k, time)));
            let error = (found - jacobian.view((0, k), (3, 1))).norm();
            slopes.check(*seed, error / (1.0 + apart.norm() + jacobian.norm()));
        }
        let eps = step_in_motion(model, &kinematics);
        let found = slope(eps, |time| {
            let kinematics = kinematics_at(model, &moved(model, &q, &nu, time), &nu);
            six(&relative_velocity(model, &kinematics, from, to))
        });
        let expected = six(&relative_jacobian_dot_velocity(model, &kinematics, from, to));
        let [va, vb] = [from, to].map(|frame| six(&frame_velocity(model, &kinematics, frame)));
        let size = (1.0 + va.norm() * (1.0 + apart.norm()) + vb.norm()) * STEP / eps;
        rates.check(*seed, (found - &expected).norm() / size);
    }
}

/// A floating robot holds a box: what one gives the other takes, so that forces and moments on
/// both cancel, and their relative acceleration is zero.
#[test]
fn what_holds_two_robots_together_pushes_both_equally() {
    let mut held = Law::new("relative acceleration of held bodies / condition", 1e-12);
    let mut third = Law::new("Newton's third law between robots / condition", 1e-12);
    let floats = |model: &Model| model.trees()[0].is_floating();
    for sample in small_models(16).filter(|sample| floats(&sample.model)) {
        let seed = sample.seed;
        let the_box = the_box();
        let world = Model::world(&[("robot", &sample.model), ("box", &the_box)]).unwrap();
        let (hand, grip) = (last_frame(&sample.model), world.find_frame("box/box").unwrap());
        let hand = world.find_frame(&format!("robot/{}", sample.model.frame(hand).name)).unwrap();
        let case = Case::new(&world, seed, 1.0);
        let mut jacobian = DMatrix::zeros(6, world.velocity_dim());
        relative_jacobian(&world, &case.kinematics, hand, grip, jacobian.as_mut_slice());
        let bias = six(&relative_jacobian_dot_velocity(&world, &case.kinematics, hand, grip));
        let found = case.solve(&jacobian, &bias);
        assert_eq!(found.outcome.rank, 6, "seed {seed}");
        let condition = condition(&case.m);
        held.check(seed, case.violation(&jacobian, &bias, &found) / condition);
        let push = jacobian.transpose() * &found.multipliers;
        let (mut force, mut moment, mut size) = (Vector3::zeros(), Vector3::zeros(), 1.0);
        for tree in world.trees() {
            let v = tree.velocity_range().start;
            let part = |at| Vector3::new(push[at], push[at + 1], push[at + 2]);
            let at = world_from_frame(&world, &case.kinematics, tree.root_frame).translation;
            force += part(v);
            moment += part(v + 3) + at.cross(&part(v));
            size += part(v).norm() * (1.0 + at.norm()) + part(v + 3).norm();
        }
        third.check(seed, (force.norm() + moment.norm()) / size / condition);
    }
}
