//! Robots that are others in disguise: mimic joints are a constraint on the robot whose joints move
//! on their own; joints of several freedoms are chains of simple ones.

use legwork_mechanics::nalgebra::{DMatrix, DVector};
use legwork_mechanics::{
    Base, Derivatives, JointKind, Kinematics, MixedWrench, Model, Options, add_frame_wrench,
    center_of_mass, centroidal_momentum, frame_jacobian_dot_velocity, inverse_dynamics_derivatives,
    kinetic_energy, potential_energy, world_from_frame,
};

use crate::motion::driver;
use crate::quantities::*;
use crate::random::{
    RandomTree, Recipe, Rng, Sample, Shape, random_models, random_state, random_tree,
};

/// `s_i = m s_driver + b` along the chain of joints that joint i follows.
fn resolved(tree: &RandomTree, joint: usize) -> (f64, f64) {
    match tree.joints[joint].mimics {
        None => (1.0, 0.0),
        Some((followed, multiplier, offset)) => {
            let (m, b) = resolved(tree, followed);
            (multiplier * m, multiplier * b + offset)
        }
    }
}

/// `ν = G ν_c` and `q` of the robot whose joints all move on their own.
fn expanded(sample: &Sample, free: &Model, q_c: &[f64]) -> (DMatrix<f64>, Vec<f64>) {
    let (model, tree) = (&sample.model, &sample.tree);
    let mut g = DMatrix::zeros(free.velocity_dim(), model.velocity_dim());
    let mut q = vec![0.0; free.configuration_dim()];
    let base = &model.trees()[0];
    for k in 0..base.base_dim() {
        g[(k, k)] = 1.0;
    }
    let floating = base.joint_configuration_range().start;
    q[..floating].copy_from_slice(&q_c[..floating]);
    for joint in free.joints() {
        let i: usize = joint.name[1..].parse().unwrap();
        let own = model.joint(model.find_joint(&format!("j{}", driver(tree, i))).unwrap());
        let (multiplier, offset) = resolved(tree, i);
        for (row, column) in joint.velocity_range().zip(own.velocity_range()) {
            g[(row, column)] = multiplier;
        }
        for (to, from) in joint.configuration_range().zip(own.configuration_range()) {
            q[to] = multiplier * q_c[from] + offset;
        }
    }
    (g, q)
}

/// `M_c = GᵀMG`, `h_c = Gᵀh` and so on: everything of the coupled robot is that of the free one
/// under `ν = G ν_c`.
#[test]
fn mimic_joints_are_a_constraint() {
    let mut law = Law::new("coupled = G' free G", 1e-13);
    let mut solved = Law::new("coupled FD = G'MG solved densely / condition", 1e-14);
    let mut count = 0;
    for sample in random_models().iter().filter(|sample| !sample.model.mimic_joints().is_empty()) {
        count += 1;
        let Sample { seed, model, .. } = sample;
        let free = sample.independent();
        // Rotors load the coordinates, which are not the same here and there.
        let model = &model.clone().with_rotor_inertia(&vec![0.0; model.joint_dim()]).unwrap();
        let (q_c, nu_c) = random_state(model, *seed);
        let (g, q) = expanded(sample, &free, &q_c);
        let nu_c = DVector::from_vec(nu_c);
        let nu = &g * &nu_c;
        let (here, there) =
            (kinematics_at(model, &q_c, nu_c.as_slice()), kinematics_at(&free, &q, nu.as_slice()));
        let mut check = |what: &str, found: &DMatrix<f64>, expected: &DMatrix<f64>, size: f64| {
            law.check_part(*seed, what, (found - expected).norm() / size);
        };
        let column = |x: DVector<f64>| DMatrix::from_columns(&[x]);
        let m = dense_mass_at(&free, &there);
        check("M", &dense_mass_at(model, &here), &(g.transpose() * &m * &g), m.norm());
        let mut vectors = |what: &str, found: DVector<f64>, free: DVector<f64>| {
            let size = 1.0 + free.norm() * g.norm();
            check(what, &column(found), &column(g.transpose() * free), size);
        };
        vectors("h", bias_at(model, &here), bias_at(&free, &there));
        vectors("gravity", gravity_at(model, &here), gravity_at(&free, &there));
        vectors("coriolis", coriolis_at(model, &here), coriolis_at(&free, &there));
        let nu_dot = DVector::from_vec(Rng::new(*seed).vector(nu_c.len(), 4.0));
        let along = &g * &nu_dot;
        vectors(
            "inverse dynamics",
            inverse_dynamics_at(model, &here, nu_dot.as_slice()),
            inverse_dynamics_at(&free, &there, along.as_slice()),
        );
        let derivatives = |model: &Model, kinematics: &Kinematics, nu_dot: &DVector<f64>| {
            let nv = model.velocity_dim();
            let (mut by_q, mut by_v) = (DMatrix::zeros(nv, nv), DMatrix::zeros(nv, nv));
            let mut workspace = Derivatives::new(model);
            inverse_dynamics_derivatives(
                model,
                kinematics,
                nu_dot.as_slice(),
                &mut workspace,
                by_q.as_mut_slice(),
                by_v.as_mut_slice(),
            );
            [by_q, by_v]
        };
        let found = derivatives(model, &here, &nu_dot);
        for (found, free) in found.iter().zip(derivatives(&free, &there, &along)) {
            let size = 1.0 + free.norm() * g.norm() * g.norm();
            check("derivative", found, &(g.transpose() * free * &g), size);
        }
        for frame in frame_ids(model) {
            let name = &model.frame(frame).name;
            let same = free.find_frame(name).unwrap();
            let (a, b) =
                (world_from_frame(model, &here, frame), world_from_frame(&free, &there, same));
            let size = 1.0 + b.translation.norm();
            assert!((a.translation - b.translation).norm() < 1e-13 * size, "seed {seed}: {name}");
            assert!((a.rotation - b.rotation).norm() < 1e-13, "seed {seed}: {name}");
            let jacobian = frame_jacobian_at(&free, &there, same);
            let size = 1.0 + jacobian.norm() * g.norm();
            check(name, &frame_jacobian_at(model, &here, frame), &(jacobian * &g), size);
        }
        let frame = last_frame(model);
        let same = free.find_frame(&model.frame(frame).name).unwrap();
        let a = six(&frame_jacobian_dot_velocity(model, &here, frame));
        let b = six(&frame_jacobian_dot_velocity(&free, &there, same));
        assert!(relative(a.as_slice(), b.as_slice()) < 1e-12, "seed {seed}");

        let torques = vec![0.0; model.joint_dim()];
        let force = -bias_at(model, &here);
        let small = g.transpose() * &m * &g;
        let expected = small.clone().lu().solve(&force).unwrap();
        let found = articulated_at(model, &here, &torques, &vec![0.0; nu_c.len()]).unwrap();
        solved.check(*seed, (found - &expected).norm() / expected.norm() / condition(&small));
    }
    assert!(count > 50, "only {count} robots with mimic joints");
}

/// Everything that can be asked of one state, in one list of vectors.
fn all_of(
    model: &Model,
    q: &[f64],
    nu: &[f64],
    nu_dot: &[f64],
) -> Vec<(&'static str, DVector<f64>)> {
    let kinematics = kinematics_at(model, q, nu);
    let nv = nu.len();
    let frame = model.find_frame("l3").unwrap();
    let mut by_q = DVector::zeros(nv * nv);
    let mut by_v = by_q.clone();
    inverse_dynamics_derivatives(
        model,
        &kinematics,
        nu_dot,
        &mut Derivatives::new(model),
        by_q.as_mut_slice(),
        by_v.as_mut_slice(),
    );
    let momentum = centroidal_momentum(model, &kinematics);
    let mut wrench = DVector::zeros(nv);
    let w = MixedWrench { force: momentum.force, moment: momentum.moment };
    add_frame_wrench(model, &kinematics, frame, &w, wrench.as_mut_slice());
    let energies = [kinetic_energy(model, &kinematics), potential_energy(model, &kinematics)];
    let none = vec![0.0; nv];
    let torques = vec![0.5; model.joint_dim()];
    let vector = |m: &DMatrix<f64>| DVector::from_column_slice(m.as_slice());
    vec![
        ("M", vector(&dense_mass_at(model, &kinematics))),
        ("h", bias_at(model, &kinematics)),
        ("gravity", gravity_at(model, &kinematics)),
        ("inverse dynamics", inverse_dynamics_at(model, &kinematics, nu_dot)),
        ("forward dynamics", forward_at(model, &kinematics, &torques, &none)),
        ("articulated bodies", articulated_at(model, &kinematics, &torques, &none).unwrap()),
        ("jacobian", vector(&frame_jacobian_at(model, &kinematics, frame))),
        ("jacobian dot", six(&frame_jacobian_dot_velocity(model, &kinematics, frame))),
        ("center", DVector::from_column_slice(center_of_mass(model, &kinematics).as_slice())),
        ("momentum", six_of(&momentum)),
        ("wrench", wrench),
        ("energies", DVector::from_column_slice(&energies)),
        ("by configuration", by_q),
        ("by velocity", by_v),
    ]
}

fn simple_tree(seed: u64) -> RandomTree {
    let (shape, joints) = (Shape::Mixed, 8);
    // Even seeds keep the order of the file.
    random_tree(&Recipe { seed: 2 * seed, joints, shape, many_freedoms: 0.2, mimics: 0.1 })
}

/// A floating base is a floating joint on a link that is welded to the world. Torques of joints
/// become those of the base, too, hence the free fall of both under torques on the others only.
#[test]
fn a_floating_joint_on_the_world_is_a_floating_base() {
    let mut law = Law::new("floating joint = floating base", 1e-12);
    for seed in 0..20 {
        let tree = simple_tree(seed);
        let (floating, _) =
            Model::from_urdf_text(&tree.text, &Options::new(Base::Floating)).unwrap();
        let root = "<robot name=\"random\">";
        let text = tree.text.replacen(
            root,
            &format!(
                "{root}<link name=\"world\"/><joint name=\"free\" type=\"floating\">\
                 <parent link=\"world\"/><child link=\"l0\"/></joint>"
            ),
            1,
        );
        let (jointed, _) = Model::from_urdf_text(&text, &Options::new(Base::Fixed)).unwrap();
        assert_eq!(jointed.configuration_dim(), floating.configuration_dim());
        let (q, nu) = random_state(&floating, seed);
        let nu_dot = Rng::new(seed).vector(nu.len(), 3.0);
        let (a, b) = (all_of(&floating, &q, &nu, &nu_dot), all_of(&jointed, &q, &nu, &nu_dot));
        for ((what, a), (_, b)) in a.iter().zip(&b) {
            if what.contains("forward") || what.contains("bodies") {
                continue;
            }
            law.check_part(seed, what, relative(b.as_slice(), a.as_slice()));
        }
        let (a, b) = (kinematics_at(&floating, &q, &nu), kinematics_at(&jointed, &q, &nu));
        let torques = vec![0.3; floating.joint_dim()];
        let more: Vec<f64> = [0.0; 6].into_iter().chain(torques.iter().copied()).collect();
        let external = vec![0.2; nu.len()];
        let expected = articulated_at(&floating, &a, &torques, &external).unwrap();
        let found = articulated_at(&jointed, &b, &more, &external).unwrap();
        let size = condition(&dense_mass_at(&floating, &a));
        law.check(seed, relative(found.as_slice(), expected.as_slice()) / size.max(1e3) * 1e3);
    }
}

/// A planar joint is two slides and a hinge.
#[test]
fn a_planar_joint_is_two_slides_and_a_hinge() {
    let mut law = Law::new("planar joint = chain", 1e-12);
    let planes = [
        ("1 0 0", ["0 1 0", "0 0 1", "1 0 0"]),
        ("0 1 0", ["0 0 1", "1 0 0", "0 1 0"]),
        ("0 0 1", ["1 0 0", "0 1 0", "0 0 1"]),
    ];
    for (seed, (normal, axes)) in (0..21).zip(planes.into_iter().cycle()) {
        let tree = simple_tree(seed);
        let root = "<robot name=\"random\">";
        let hinge = "<limit effort=\"1\" velocity=\"1\"/>";
        let pose = "<origin xyz=\"0.1 0.2 0.3\" rpy=\"0.4 0.5 0.6\"/>";
        let planar = format!(
            "{root}<link name=\"ground\"/><joint name=\"p\" type=\"planar\">\
             <parent link=\"ground\"/><child link=\"l0\"/>{pose}<axis xyz=\"{normal}\"/></joint>"
        );
        let [x, y, n] = axes;
        let chain = format!(
            "{root}<link name=\"ground\"/><link name=\"a\"/><link name=\"b\"/>\
             <joint name=\"x\" type=\"prismatic\"><parent link=\"ground\"/><child link=\"a\"/>\
             {pose}<axis xyz=\"{x}\"/>{hinge}</joint>\
             <joint name=\"y\" type=\"prismatic\"><parent link=\"a\"/><child link=\"b\"/>\
             <axis xyz=\"{y}\"/>{hinge}</joint>\
             <joint name=\"n\" type=\"continuous\"><parent link=\"b\"/><child link=\"l0\"/>\
             <axis xyz=\"{n}\"/></joint>"
        );
        let [planar, chain] = [planar, chain].map(|head| {
            let text = tree.text.replacen(root, &head, 1);
            Model::from_urdf_text(&text, &Options::new(Base::Floating)).unwrap().0
        });
        assert_eq!(planar.joints()[0].kind, JointKind::Planar);
        let (q, nu) = random_state(&chain, seed);
        let nu_dot = Rng::new(seed).vector(nu.len(), 3.0);
        // The ground has no mass: only with rotor inertia could the base be thrown about.
        let fixed = |what: &str| what.contains("forward") || what.contains("bodies");
        let heavy = |model: &Model| {
            let rotors = vec![0.1; model.joint_dim()];
            model.clone().with_rotor_inertia(&rotors).unwrap()
        };
        let (planar, chain) = (heavy(&planar), heavy(&chain));
        let a = all_of(&chain, &q, &nu, &nu_dot);
        for ((what, a), (_, b)) in a.iter().zip(&all_of(&planar, &q, &nu, &nu_dot)) {
            let size = if fixed(what) {
                condition(&dense_mass_at(&chain, &kinematics_at(&chain, &q, &nu))).max(1e3) / 1e3
            } else {
                1.0
            };
            law.check_part(seed, what, relative(b.as_slice(), a.as_slice()) / size);
        }
    }
}
