//! Laws of motion on random robots: Jacobians, their derivatives, the configuration manifold.

use legwork_mechanics::nalgebra::{DMatrix, DVector, Matrix3, Rotation3, Vector3};
use legwork_mechanics::{
    FrameId, FrameRows, Kinematics, Model, Placement, Representation, center_of_mass,
    center_of_mass_jacobian, center_of_mass_velocity, configuration_derivative, difference,
    frame_jacobian, frame_jacobian_dot_velocity, frame_jacobian_dot_velocity_in, frame_jacobian_in,
    frame_motion, frame_position, frame_velocity, frame_velocity_in, jacobian_columns,
    point_jacobian, point_jacobian_dot_velocity, point_jacobian_rows, point_velocity, product,
    relative_jacobian, relative_jacobian_dot_velocity, relative_placement, relative_velocity,
    world_from_frame,
};

use crate::quantities::*;
use crate::random::{RandomTree, Rng, Sample, random_models, random_state};

/// Rotation matrix and origin, as numbers that can be differentiated.
fn numbers(placement: &Placement) -> DVector<f64> {
    let numbers = placement.rotation.iter().chain(placement.translation.iter());
    DVector::from_iterator(12, numbers.copied())
}

/// (velocity of the origin, angular velocity) of a placement from the rates of its numbers.
fn twist(placement: &Placement, rates: &DVector<f64>) -> DVector<f64> {
    let spin = Matrix3::from_column_slice(&rates.as_slice()[..9]) * placement.rotation.transpose();
    let linear = &rates.as_slice()[9..];
    let angular = [spin[(2, 1)], spin[(0, 2)], spin[(1, 0)]];
    DVector::from_iterator(6, linear.iter().copied().chain(angular))
}

/// Two frames that are not the same, if the robot has two.
fn two_frames(model: &Model, seed: u64) -> (FrameId, FrameId) {
    let frames: Vec<FrameId> = frame_ids(model).collect();
    let mut rng = Rng::new(seed ^ 0x2f);
    (frames[rng.below(frames.len())], frames[rng.below(frames.len())])
}

/// Column k of J is the velocity when coordinate k alone moves. Places that are sums over 60 links
/// are rounded by 1e-15 or so, which the difference divides by the step.
#[test]
fn jacobians_are_derivatives_of_placements() {
    let mut law = Law::new("J = d placement / dq", 1e-10);
    for Sample { seed, model, .. } in random_models() {
        let (q, nu) = random_state(model, *seed);
        let nv = nu.len();
        let frame = last_frame(model);
        let (from, to) = two_frames(model, *seed);
        let kinematics = kinematics_at(model, &q, &nu);
        let here = world_from_frame(model, &kinematics, frame);
        let offset = Vector3::new(0.1, -0.2, 0.3);
        let local = here.rotation.transpose() * offset;
        let jacobian = frame_jacobian_at(model, &kinematics, frame);
        let mut of_point = DMatrix::from_element(3, nv, f64::NAN);
        point_jacobian(model, &kinematics, frame, &offset, of_point.as_mut_slice());
        let mut of_center = DMatrix::from_element(3, nv, f64::NAN);
        center_of_mass_jacobian(model, &kinematics, of_center.as_mut_slice());
        let seen = relative_placement(model, &kinematics, from, to);
        let mut of_other = DMatrix::from_element(6, nv, f64::NAN);
        relative_jacobian(model, &kinematics, from, to, of_other.as_mut_slice());
        for k in 0..nv {
            let rates = slope(STEP, |time| {
                let mut kinematics = kinematics.clone();
                kinematics.update(model, &moved_along(model, &q, k, time), &nu);
                let placement = world_from_frame(model, &kinematics, frame);
                let point = placement.transform_point(&local);
                let center = center_of_mass(model, &kinematics);
                let relative = relative_placement(model, &kinematics, from, to);
                let parts = [numbers(&placement), numbers(&relative)];
                let parts = parts.iter().flat_map(|part| part.iter());
                let all = parts.chain(point.iter()).chain(center.iter()).copied();
                DVector::from_iterator(30, all)
            });
            let part = |at: usize, len: usize| rates.rows(at, len).into_owned();
            let pairs = [
                ("frame", jacobian.column(k).into_owned(), twist(&here, &part(0, 12))),
                ("relative", of_other.column(k).into_owned(), twist(&seen, &part(12, 12))),
                ("point", of_point.column(k).into_owned(), part(24, 3)),
                ("center of mass", of_center.column(k).into_owned(), part(27, 3)),
            ];
            // Rounding is that of the places that are compared.
            let size = 1.0 + here.translation.norm() + seen.translation.norm();
            for (what, found, expected) in pairs {
                let error = (&found - &expected).norm() / (size + expected.norm());
                law.check_part(*seed, &format!("{what} {k}"), error);
            }
        }
    }
}

#[test]
fn velocities_are_jacobians_times_coordinates() {
    let mut law = Law::new("velocity = J nu", 1e-14);
    for Sample { seed, model, .. } in random_models() {
        let (q, nu) = random_state(model, *seed);
        let nv = nu.len();
        let frame = last_frame(model);
        let offset = Vector3::new(-0.3, 0.1, 0.2);
        let kinematics = kinematics_at(model, &q, &nu);
        let mut check = |what: &str, jacobian: &[f64], found: &[f64]| {
            let mut expected = vec![0.0; found.len()];
            product(jacobian, &nu, &mut expected);
            let size: f64 = norm(jacobian) * norm(&nu) + 1.0;
            law.check_part(*seed, what, distance(found, &expected) / size);
        };
        let mut jacobian = vec![f64::NAN; 6 * nv];
        for as_what in [Representation::Mixed, Representation::Body, Representation::World] {
            frame_jacobian_in(model, &kinematics, frame, as_what, &mut jacobian);
            let velocity = six(&frame_velocity_in(model, &kinematics, frame, as_what));
            check("frame", &jacobian, velocity.as_slice());
        }
        let (from, to) = two_frames(model, *seed);
        relative_jacobian(model, &kinematics, from, to, &mut jacobian);
        let velocity = six(&relative_velocity(model, &kinematics, from, to));
        check("relative", &jacobian, velocity.as_slice());

        // Two points stacked: rows of the upper matrix must not disturb the lower.
        let mut stacked = vec![f64::NAN; 6 * nv];
        point_jacobian_rows(model, &kinematics, frame, &offset, 3, 6, &mut stacked);
        point_jacobian_rows(model, &kinematics, frame, &Vector3::zeros(), 0, 6, &mut stacked);
        let origin = frame_velocity(model, &kinematics, frame).linear;
        let point = point_velocity(model, &kinematics, frame, &offset);
        let both: Vec<f64> = origin.iter().chain(point.iter()).copied().collect();
        check("points", &stacked, &both);

        let mut of_center = vec![f64::NAN; 3 * nv];
        center_of_mass_jacobian(model, &kinematics, &mut of_center);
        let velocity = center_of_mass_velocity(model, &kinematics);
        check("center of mass", &of_center, velocity.as_slice());

        frame_jacobian(model, &kinematics, frame, &mut jacobian);
        let columns = jacobian_columns(model, frame);
        for (k, column) in jacobian.chunks_exact(6).enumerate() {
            let is_zero = column.iter().all(|number| *number == 0.0);
            // Joints that share a coordinate may cancel.
            let is_known = is_zero != columns.contains(&k) || (is_zero && model.is_coupled());
            law.check_part(*seed, "columns", f64::from(u8::from(!is_known)));
        }
    }
}

/// With constant ν, velocities change by J̇ν alone, in every representation.
#[test]
fn jacobian_dot_velocity_is_the_derivative_of_the_velocity_at_constant_coordinates() {
    let mut law = Law::new("J_dot nu = d (J nu) / dt", 1e-10);
    for Sample { seed, model, .. } in random_models() {
        let (q, nu) = random_state(model, *seed);
        let frame = last_frame(model);
        let (from, to) = two_frames(model, *seed);
        let kinematics = kinematics_at(model, &q, &nu);
        let here = world_from_frame(model, &kinematics, frame);
        let offset = Vector3::new(0.2, 0.1, -0.1);
        let local = here.rotation.transpose() * offset;
        let representations = [Representation::Mixed, Representation::Body, Representation::World];
        let eps = step_in_motion(model, &kinematics);
        let rates = slope(eps, |time| {
            let kinematics = kinematics_at(model, &moved(model, &q, &nu, time), &nu);
            let arm = world_from_frame(model, &kinematics, frame).rotation * local;
            let point = point_velocity(model, &kinematics, frame, &arm);
            let relative = six(&relative_velocity(model, &kinematics, from, to));
            let [a, b, c] = representations
                .map(|as_what| six(&frame_velocity_in(model, &kinematics, frame, as_what)));
            let all = [a, b, c, relative];
            let all = all.iter().flat_map(|part| part.iter()).chain(point.iter()).copied();
            DVector::from_iterator(27, all)
        });
        let [a, b, c] = representations.map(|as_what| {
            six(&frame_jacobian_dot_velocity_in(model, &kinematics, frame, as_what))
        });
        assert_eq!(a, six(&frame_jacobian_dot_velocity(model, &kinematics, frame)));
        let relative = six(&relative_jacobian_dot_velocity(model, &kinematics, from, to));
        let point = point_jacobian_dot_velocity(model, &kinematics, frame, &offset);
        let point = DVector::from_column_slice(point.as_slice());
        let parts = [("mixed", a), ("body", b), ("world", c), ("relative", relative)];
        // Accelerations along the branch, of which these are sums: speeds times turning rates.
        let speed = |frame| frame_velocity(model, &kinematics, frame);
        let speeds = frame_ids(model).map(speed).map(|v| v.linear.norm() + v.angular.norm());
        let size = speeds.fold(1.0, f64::max) * STEP / eps;
        for (i, (what, found)) in parts.into_iter().chain([("point", point)]).enumerate() {
            let expected = rates.rows(6 * i, found.len());
            law.check_part(*seed, what, (&found - expected).norm() / size);
        }
    }
}

/// Links between the root and a link, the link first, root excluded.
fn branch(tree: &RandomTree, link: usize) -> Vec<usize> {
    let mut branch = Vec::new();
    let mut at = link;
    while at > 0 {
        branch.push(at);
        at = tree.joints[at - 1].parent;
    }
    branch
}

/// The joint that moves a joint in the end.
pub(crate) fn driver(tree: &RandomTree, joint: usize) -> usize {
    let mut at = joint;
    while let Some((followed, ..)) = tree.joints[at].mimics {
        at = followed;
    }
    at
}

/// Coordinates of joints that are not between the frames have columns of exact zeros, bases too.
#[test]
fn relative_jacobians_within_a_robot_have_no_columns_of_common_ancestors() {
    for Sample { seed, model, tree, .. } in random_models() {
        let (q, nu) = random_state(model, *seed);
        let kinematics = kinematics_at(model, &q, &nu);
        let mut rng = Rng::new(*seed);
        let links = tree.joints.len() + 1;
        let (a, b) = (rng.below(links), rng.below(links));
        let frame = |link: usize| model.find_frame(&format!("l{link}")).unwrap();
        let mut jacobian = DMatrix::from_element(6, nu.len(), f64::NAN);
        relative_jacobian(model, &kinematics, frame(a), frame(b), jacobian.as_mut_slice());
        let (to_a, to_b) = (branch(tree, a), branch(tree, b));
        let between = to_a
            .iter()
            .filter(|link| !to_b.contains(link))
            .chain(to_b.iter().filter(|link| !to_a.contains(link)));
        let mut moves = vec![false; nu.len()];
        for &link in between {
            let name = format!("j{}", driver(tree, link - 1));
            if let Some(joint) = model.find_joint(&name) {
                moves[model.joint(joint).velocity_range()].fill(true);
            }
        }
        for (k, column) in jacobian.column_iter().enumerate() {
            assert!(moves[k] || column.iter().all(|x| *x == 0.0), "seed {seed}: column {k}");
        }
        let back = relative_placement(model, &kinematics, frame(b), frame(a));
        let there = relative_placement(model, &kinematics, frame(a), frame(b));
        let product = there * back;
        assert!((product.rotation - Matrix3::identity()).amax() < 1e-14, "seed {seed}");
        assert!(product.translation.norm() < 1e-14 * (1.0 + there.translation.norm()));
    }
}

#[test]
fn difference_undoes_integrate() {
    let mut undone = Law::new("(q + delta) - q = delta", 1e-14);
    let mut derivative = Law::new("q_dot = d (q + t nu) / dt", 1e-11);
    for Sample { seed, model, .. } in random_models() {
        let (q, delta) = random_state(model, *seed);
        for size in [1.0, 1e-2, 1e-4, 1e-9, 0.0] {
            let delta: Vec<f64> = delta.iter().map(|x| x * size * 0.8).collect();
            let end = moved(model, &q, &delta, 1.0);
            let mut found = vec![f64::NAN; delta.len()];
            difference(model, &q, &end, &mut found);
            undone.check(*seed, distance(&found, &delta) / (1.0 + norm(&q)));
        }
        let mut rate = vec![0.0; q.len()];
        configuration_derivative(model, &q, &delta, &mut rate);
        let found = slope(STEP / 2.0, |time| DVector::from_vec(moved(model, &q, &delta, time)));
        derivative.check(*seed, relative(found.as_slice(), &rate));
    }
}

/// `update` is `update_placements`, then `update_velocities`: placements and velocities agree.
#[test]
fn parts_of_an_update_are_the_update() {
    for Sample { seed, model, .. } in random_models() {
        let (q, nu) = random_state(model, *seed);
        let whole = kinematics_at(model, &q, &nu);
        let mut parts = Kinematics::new(model);
        parts.update_placements(model, &q);
        parts.update_velocities(model, &nu);
        for frame in frame_ids(model) {
            let (a, b) = (&whole, &parts);
            assert_eq!(world_from_frame(model, a, frame), world_from_frame(model, b, frame));
            assert_eq!(frame_velocity(model, a, frame), frame_velocity(model, b, frame));
            let bias = |kinematics| frame_jacobian_dot_velocity(model, kinematics, frame);
            assert_eq!(bias(a), bias(b), "seed {seed}");
        }
    }
}

/// The motion of a frame, and its origin, have the bits of the functions that give their parts.
#[test]
fn the_motion_of_a_frame_is_its_parts() {
    for Sample { seed, model, .. } in random_models() {
        let (q, nu) = random_state(model, *seed);
        let kinematics = kinematics_at(model, &q, &nu);
        for frame in frame_ids(model) {
            let placement = world_from_frame(model, &kinematics, frame);
            assert_eq!(frame_position(model, &kinematics, frame), placement.translation);
            let twist = frame_velocity(model, &kinematics, frame);
            let rate = frame_jacobian_dot_velocity(model, &kinematics, frame);
            let motion = frame_motion(model, &kinematics, frame);
            assert_eq!(motion, (placement, twist, rate), "seed {seed}");
        }
    }
}

/// The rows of a frame by its columns are the bits of the whole Jacobian, coupled joints included;
/// those of a point in other axes are `Fᵀ (J_lin + J_ang × arm)`.
#[test]
fn rows_by_columns_are_those_of_the_jacobian() {
    for sample in random_models() {
        let model = &sample.model;
        let frame = last_frame(model);
        let mut rows = FrameRows::new(model, frame);
        for seed in 0..3 {
            let (q, nu) = random_state(model, seed);
            let kinematics = kinematics_at(model, &q, &nu);
            rows.update(model, &kinematics, frame);
            let dense = frame_jacobian_at(model, &kinematics, frame);
            let mut loaded = FrameRows::of_columns(rows.columns().to_vec());
            loaded.load(dense.as_slice());
            let turned = Rotation3::from_euler_angles(0.3, -0.4, 0.5).into_inner();
            let arm = Vector3::new(0.2, -0.1, 0.7);
            let mut expected = DMatrix::zeros(3, model.velocity_dim());
            for (k, column) in dense.column_iter().enumerate() {
                let (linear, angular) = (column.fixed_rows::<3>(0), column.fixed_rows::<3>(3));
                let column = turned.tr_mul(&(linear + angular.into_owned().cross(&arm)));
                expected.set_column(k, &column);
            }
            for rows in [&rows, &loaded] {
                let mut found = DMatrix::zeros(3, model.velocity_dim());
                rows.at_point(&turned, &arm, |k, column| {
                    found.set_column(k, &Vector3::from(column));
                });
                assert_eq!(found, expected, "seed {}", sample.seed);
            }
        }
    }
}
