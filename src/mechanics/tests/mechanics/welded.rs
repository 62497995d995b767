//! A robot some of whose joints are held is the whole robot at rest in those joints.

use legwork_mechanics::nalgebra::DVector;
use legwork_mechanics::{JointKind, Model, Options, world_from_frame};

use crate::quantities::*;
use crate::random::{Rng, Sample, random_models, random_state};

/// For each coordinate of `part` in q and in ν, the one of `whole`.
fn coordinates(part: &Model, whole: &Model) -> (Vec<usize>, Vec<usize>) {
    let base = part.trees()[0].base_dim();
    let base_q = part.trees()[0].joint_configuration_range().start;
    let (mut q, mut v): (Vec<usize>, Vec<usize>) = ((0..base_q).collect(), (0..base).collect());
    for joint in part.joints() {
        let same = whole.joint(whole.find_joint(&joint.name).unwrap());
        q.extend(same.configuration_range());
        v.extend(same.velocity_range());
    }
    (q, v)
}

#[test]
fn held_joints_are_joints_at_rest() {
    let mut law = Law::new("welded = whole at rest", 1e-12);
    let mut held_joints = 0;
    for Sample { seed, tree, options, model: whole } in random_models() {
        let mut rng = Rng::new(seed ^ 77);
        let welded: Vec<(String, f64)> = whole
            .joints()
            .iter()
            .filter(|joint| {
                use JointKind::{Continuous, Prismatic, Revolute};
                matches!(joint.kind, Revolute | Continuous | Prismatic) && rng.chance(0.4)
            })
            .map(|joint| joint.name.clone())
            .collect::<Vec<_>>()
            .into_iter()
            .map(|name| (name, Rng::new(seed ^ 5).in_range(-2.0, 2.0)))
            .collect();
        held_joints += welded.len();
        let options = Options { welded: welded.clone(), rotor_inertia: vec![], ..options.clone() };
        let part = Model::from_urdf_text(&tree.text, &options).unwrap().0;
        let whole = whole.clone().with_rotor_inertia(&vec![0.0; whole.joint_dim()]).unwrap();
        let (mut q, mut nu) = random_state(&whole, *seed);
        for (name, position) in &welded {
            let joint = whole.joint(whole.find_joint(name).unwrap());
            q[joint.configuration_range().start] = *position;
            nu[joint.velocity_range().start] = 0.0;
        }
        let (in_q, in_v) = coordinates(&part, &whole);
        let q_part: Vec<f64> = in_q.iter().map(|&i| q[i]).collect();
        let nu_part: Vec<f64> = in_v.iter().map(|&i| nu[i]).collect();
        let (here, there) =
            (kinematics_at(&part, &q_part, &nu_part), kinematics_at(&whole, &q, &nu));
        let m = dense_mass_at(&whole, &there);
        let expected = m.select_rows(&in_v).select_columns(&in_v);
        law.check_part(*seed, "M", (dense_mass_at(&part, &here) - &expected).norm() / m.norm());
        let h = bias_at(&whole, &there);
        let expected = DVector::from_iterator(in_v.len(), in_v.iter().map(|&i| h[i]));
        law.check_part(*seed, "h", (bias_at(&part, &here) - expected).norm() / (1.0 + h.norm()));
        for frame in frame_ids(&part) {
            let same = whole.find_frame(&part.frame(frame).name).unwrap();
            let (a, b) =
                (world_from_frame(&part, &here, frame), world_from_frame(&whole, &there, same));
            let size = 1.0 + b.translation.norm();
            law.check_part(*seed, "frames", (a.translation - b.translation).norm() / size);
            law.check_part(*seed, "axes", (a.rotation - b.rotation).norm());
        }
    }
    assert!(held_joints > 100, "{held_joints}");
}

#[test]
fn what_cannot_be_held_is_refused() {
    let sample = &random_models()[0];
    let options = Options { welded: vec![("no_*".into(), 0.0)], ..sample.options.clone() };
    let error = Model::from_urdf_text(&sample.tree.text, &options).unwrap_err();
    assert_eq!(error.to_string(), "no joint that moves matches `no_*`");
    let ball = |sample: &&Sample| {
        sample.model.joints().iter().any(|joint| joint.kind == JointKind::Spherical)
    };
    let sample = random_models().iter().find(ball).expect("a ball joint");
    let options = Options { welded: vec![("*".into(), 0.0)], ..sample.options.clone() };
    let error = Model::from_urdf_text(&sample.tree.text, &options).unwrap_err();
    assert!(error.to_string().contains("several coordinates"), "{error}");
    assert!(error.line().is_some());
}
