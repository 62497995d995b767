//! Worlds of several robots: every quantity is that of the robots.

use legwork_mechanics::nalgebra::{DMatrix, DVector, Vector3};
use legwork_mechanics::{
    Base, Derivatives, FrameId, InverseMass, Kinematics, Model, ModelError, Options, Placement,
    center_of_mass, center_of_mass_velocity, centroidal_momentum, centroidal_momentum_matrix,
    difference, frame_jacobian_dot_velocity, frame_velocity, inverse_dynamics_derivatives,
    kinetic_energy, potential_energy, rotor_kinetic_energy, world_from_frame,
};

use crate::quantities::*;
use crate::random::{Rng, random_state, small_models};
use crate::reference::urdf;

pub(crate) const BOX: &str = r#"<robot name="box"><link name="box"><inertial><mass value="2"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.15"/></inertial></link></robot>"#;

pub(crate) fn the_box() -> Model {
    Model::from_urdf_text(BOX, &Options::new(Base::Floating)).unwrap().0
}

/// A world and its robots; two to four of them, random ones, a box, an arm on a table.
pub(crate) struct World {
    pub(crate) seed: u64,
    pub(crate) model: Model,
    robots: Vec<Model>,
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

pub(crate) fn random_worlds() -> Vec<World> {
    let mut options = Options::new(Base::Fixed);
    options.mount = Placement::from_xyz_rpy([0.5, -0.3, 0.8], [0.1, 0.2, 2.0]);
    let (arm, _) = Model::from_urdf_text(&urdf("panda"), &options).unwrap();
    let samples: Vec<_> = small_models(12).collect();
    let world = |seed| {
        let mut rng = Rng::new(seed ^ 0x3013d);
        let robots: Vec<Model> = (0..2 + rng.below(3))
            .map(|_| match rng.below(6) {
                0 => the_box(),
                1 => arm.clone(),
                _ => samples[rng.below(samples.len())].model.clone(),
            })
            .collect();
        let named: Vec<(&str, &Model)> = NAMES.into_iter().zip(&robots).collect();
        World { seed, model: Model::world(&named).unwrap(), robots }
    };
    (0..60).map(world).collect()
}

impl World {
    /// `(q, ν)` of the world and of each robot.
    pub(crate) fn states(&self) -> Vec<(Vec<f64>, Vec<f64>)> {
        let (q, nu) = random_state(&self.model, self.seed);
        let own = self.model.trees().iter().map(|tree| {
            (q[tree.configuration_range()].to_vec(), nu[tree.velocity_range()].to_vec())
        });
        let own: Vec<_> = own.collect();
        [vec![(q.clone(), nu.clone())], own].concat()
    }

    pub(crate) fn frames(&self) -> Vec<FrameId> {
        frame_ids(&self.model).collect()
    }
}

fn block_diagonal(blocks: &[DMatrix<f64>]) -> DMatrix<f64> {
    let n: usize = blocks.iter().map(DMatrix::nrows).sum();
    let mut out = DMatrix::zeros(n, n);
    let mut at = 0;
    for block in blocks {
        out.view_mut((at, at), block.shape()).copy_from(block);
        at += block.nrows();
    }
    out
}

/// Each robot moves as if the others were not there, to the last bit; where one is coupled, forward
/// dynamics of all go another way, and agree to rounding.
#[test]
fn robots_of_a_world_do_not_feel_one_another() {
    let mut solved = Law::new("articulated bodies of a world / condition", 1e-14);
    for world in random_worlds() {
        let World { seed, model, robots } = &world;
        let states = world.states();
        let kinematics = kinematics_at(model, &states[0].0, &states[0].1);
        let mut rng = Rng::new(*seed);
        let nu_dot = rng.vector(model.velocity_dim(), 3.0);
        let torques = rng.vector(model.joint_dim(), 3.0);
        let external = rng.vector(model.velocity_dim(), 3.0);

        let (mut masses, mut inverses) = (Vec::new(), Vec::new());
        let mut vectors: Vec<Vec<f64>> = vec![Vec::new(); 6];
        let mut accelerations = Vec::new();
        let mut blocks = [Vec::new(), Vec::new()];
        let (mut v, mut n) = (0, 0);
        for (robot, (q, nu)) in robots.iter().zip(&states[1..]) {
            let own = kinematics_at(robot, q, nu);
            let nv = nu.len();
            let (own_nu_dot, own_external) = (&nu_dot[v..v + nv], &external[v..v + nv]);
            let own_torques = &torques[n..n + robot.joint_dim()];
            masses.push(dense_mass_at(robot, &own));
            let mut inverse = DMatrix::zeros(nv, nv);
            let mut workspace = InverseMass::new(robot);
            factor_at(robot, &own).write_inverse(&mut workspace, inverse.as_mut_slice());
            inverses.push(inverse);
            let results = [
                bias_at(robot, &own),
                gravity_at(robot, &own),
                coriolis_at(robot, &own),
                inverse_dynamics_at(robot, &own, own_nu_dot),
                forward_at(robot, &own, own_torques, own_external),
                DVector::from_vec(moved(robot, q, nu, 0.7)),
            ];
            for (all, own) in vectors.iter_mut().zip(results) {
                all.extend(own.iter());
            }
            let bodies = articulated_at(robot, &own, own_torques, own_external).unwrap();
            accelerations.extend(bodies.iter().copied());
            let [by_q, by_v] = derivatives_at(robot, &own, own_nu_dot);
            blocks[0].push(by_q);
            blocks[1].push(by_v);
            (v, n) = (v + nv, n + robot.joint_dim());
        }
        let m = dense_mass_at(model, &kinematics);
        assert_eq!(m, block_diagonal(&masses), "seed {seed}");
        let nv = model.velocity_dim();
        let mut inverse = DMatrix::zeros(nv, nv);
        let mut workspace = InverseMass::new(model);
        factor_at(model, &kinematics).write_inverse(&mut workspace, inverse.as_mut_slice());
        assert_eq!(inverse, block_diagonal(&inverses), "seed {seed}");
        let found = [
            bias_at(model, &kinematics),
            gravity_at(model, &kinematics),
            coriolis_at(model, &kinematics),
            inverse_dynamics_at(model, &kinematics, &nu_dot),
            forward_at(model, &kinematics, &torques, &external),
            DVector::from_vec(moved(model, &states[0].0, &states[0].1, 0.7)),
        ];
        for (i, (found, expected)) in found.iter().zip(&vectors).enumerate() {
            assert_eq!(found.as_slice(), expected, "seed {seed}: vector {i}");
        }
        let bodies = articulated_at(model, &kinematics, &torques, &external).unwrap();
        let condition = masses.iter().map(condition).fold(1.0, f64::max);
        solved.check(*seed, relative(bodies.as_slice(), &accelerations) / condition);
        if !model.is_coupled() {
            assert_eq!(bodies.as_slice(), accelerations, "seed {seed}");
        }
        let found = derivatives_at(model, &kinematics, &nu_dot);
        assert_eq!(found[0], block_diagonal(&blocks[0]), "seed {seed}");
        assert_eq!(found[1], block_diagonal(&blocks[1]), "seed {seed}");

        let end = moved(model, &states[0].0, &states[0].1, 0.7);
        let mut back = vec![f64::NAN; nv];
        difference(model, &states[0].0, &end, &mut back);
        let expected: Vec<f64> = states[0].1.iter().map(|v| v * 0.7).collect();
        assert!(distance(&back, &expected) < 1e-13 * (1.0 + norm(&end)), "seed {seed}");
    }
}

fn derivatives_at(model: &Model, kinematics: &Kinematics, nu_dot: &[f64]) -> [DMatrix<f64>; 2] {
    let nv = model.velocity_dim();
    let (mut by_q, mut by_v) = (DMatrix::zeros(nv, nv), DMatrix::zeros(nv, nv));
    let (q, v) = (by_q.as_mut_slice(), by_v.as_mut_slice());
    inverse_dynamics_derivatives(model, kinematics, nu_dot, &mut Derivatives::new(model), q, v);
    [by_q, by_v]
}

/// Frames are those of the robots, with columns for their own robot only; masses, energies and
/// momenta add up.
#[test]
fn frames_and_sums_of_a_world_are_those_of_its_robots() {
    let mut sums = Law::new("sums over the robots of a world", 1e-13);
    for world in random_worlds() {
        let World { seed, model, robots } = &world;
        let states = world.states();
        let kinematics = kinematics_at(model, &states[0].0, &states[0].1);
        let mut expected = DVector::zeros(5);
        let (mut at_center, mut linear) = (Vector3::zeros(), Vector3::zeros());
        let mut momenta = Vec::new();
        let mut v = 0;
        for ((name, robot), (q, nu)) in NAMES.into_iter().zip(robots).zip(&states[1..]) {
            let own = kinematics_at(robot, q, nu);
            for frame in frame_ids(robot) {
                let inner = &robot.frame(frame).name;
                let same = model.find_frame(&format!("{name}/{inner}")).unwrap();
                let (a, b) = (
                    world_from_frame(robot, &own, frame),
                    world_from_frame(model, &kinematics, same),
                );
                assert_eq!(a, b, "seed {seed}: {name}/{inner}");
                assert_eq!(
                    frame_velocity(robot, &own, frame),
                    frame_velocity(model, &kinematics, same)
                );
                assert_eq!(
                    frame_jacobian_dot_velocity(robot, &own, frame),
                    frame_jacobian_dot_velocity(model, &kinematics, same)
                );
                let jacobian = frame_jacobian_at(model, &kinematics, same);
                let mut padded = DMatrix::zeros(6, model.velocity_dim());
                padded.columns_mut(v, nu.len()).copy_from(&frame_jacobian_at(robot, &own, frame));
                assert_eq!(jacobian, padded, "seed {seed}: {name}/{inner}");
            }
            let mass = robot.total_mass();
            expected += DVector::from_vec(vec![
                mass,
                kinetic_energy(robot, &own),
                rotor_kinetic_energy(robot, nu),
                potential_energy(robot, &own),
                0.0,
            ]);
            at_center += center_of_mass(robot, &own) * mass;
            linear += center_of_mass_velocity(robot, &own) * mass;
            momenta.push((center_of_mass(robot, &own), centroidal_momentum(robot, &own)));
            v += nu.len();
        }
        let found = DVector::from_vec(vec![
            model.total_mass(),
            kinetic_energy(model, &kinematics),
            rotor_kinetic_energy(model, &states[0].1),
            potential_energy(model, &kinematics),
            0.0,
        ]);
        sums.check_part(*seed, "energies", relative(found.as_slice(), expected.as_slice()));
        let mass = model.total_mass();
        let center = center_of_mass(model, &kinematics);
        sums.check_part(
            *seed,
            "center",
            relative((center * mass).as_slice(), at_center.as_slice()),
        );
        let velocity = center_of_mass_velocity(model, &kinematics);
        sums.check_part(
            *seed,
            "velocity",
            relative((velocity * mass).as_slice(), linear.as_slice()),
        );
        let momentum = centroidal_momentum(model, &kinematics);
        let mut angular = Vector3::zeros();
        let mut size = 1.0;
        for (at, own) in &momenta {
            angular += own.moment + (at - center).cross(&own.force);
            size += own.moment.norm() + (at - center).norm() * own.force.norm();
        }
        sums.check_part(*seed, "p", relative(momentum.force.as_slice(), linear.as_slice()));
        sums.check_part(*seed, "L", (momentum.moment - angular).norm() / size);
        let mut matrix = DMatrix::zeros(6, model.velocity_dim());
        centroidal_momentum_matrix(model, &kinematics, matrix.as_mut_slice());
        let product = &matrix * DVector::from_column_slice(&states[0].1);
        let error = (product - six_of(&momentum)).norm();
        sums.check_part(*seed, "A_G", error / (size + matrix.norm() * norm(&states[0].1)));
    }
}

#[test]
fn names_in_a_world_begin_with_the_robot() {
    let (arm, _) = Model::from_urdf_text(&urdf("panda"), &Options::new(Base::Fixed)).unwrap();
    let (dog, _) = Model::from_urdf_text(&urdf("solo12"), &Options::new(Base::Floating)).unwrap();
    let world = Model::world(&[("arm", &arm), ("dog", &dog), ("box", &the_box())]).unwrap();
    assert_eq!(world.name(), "arm+dog+box");
    let names: Vec<&str> = world.trees().iter().map(|tree| tree.name.as_str()).collect();
    assert_eq!(names, ["arm", "dog", "box"]);
    assert_eq!(world.frames().len(), arm.frames().len() + dog.frames().len() + 1);
    for (tree, name) in world.trees().iter().zip(names) {
        for joint in &world.joints()[tree.joint_range()] {
            assert!(joint.name.starts_with(&format!("{name}/")), "{}", joint.name);
        }
        assert!(world.frame(tree.root_frame).name.starts_with(&format!("{name}/")));
    }
    assert_eq!(world.mimic_joints()[0].name, "arm/panda_finger_joint2");
    assert_eq!(world.joint(world.mimic_joints()[0].joint).name, "arm/panda_finger_joint1");
    let n = arm.joint_dim();
    assert_eq!(world.joint_dim(), n + 12);
    assert_eq!(world.velocity_dim(), n + 18 + 6);
    assert_eq!(world.joint_configuration_dim(), n + 12);
    assert_eq!(world.pattern().name(n), "dog/base vx");
    assert_eq!(world.pattern().name(n + 18 + 5), "box/base wz");
    let named: Vec<&str> = world.joint_velocity_names().collect();
    let expected = (arm.joint_velocity_names().map(|name| format!("arm/{name}")))
        .chain(dog.joint_velocity_names().map(|name| format!("dog/{name}")));
    assert_eq!(named, expected.collect::<Vec<_>>());
    // The floating base of an empty link is named, too.
    let leaf = BOX.replace("<inertial>", "<!--").replace("</inertial>", "-->");
    let (nothing, _) = Model::from_urdf_text(&leaf, &Options::new(Base::Floating)).unwrap();
    let world = Model::world(&[("dog", &dog), ("ghost", &nothing)]).unwrap();
    let kinematics = Kinematics::new(&world);
    let none = vec![0.0; world.velocity_dim()];
    let error = articulated_at(&world, &kinematics, &[0.0; 12], &none).unwrap_err();
    assert!(error.coordinate.starts_with("ghost/base "), "{error}");
}

/// A world may contain a world: numbers are those of the flat world.
#[test]
fn worlds_nest() {
    for world in random_worlds().iter().take(10) {
        let (head, tail) = (&world.robots[0], &world.robots[1..]);
        let tail: Vec<_> = NAMES.into_iter().zip(tail).collect();
        let inner = Model::world(&tail).unwrap();
        let nested = Model::world(&[("head", head), ("tail", &inner)]).unwrap();
        let (q, nu) = random_state(&world.model, world.seed);
        let [a, b] = [&world.model, &nested].map(|model| {
            let kinematics = kinematics_at(model, &q, &nu);
            let frame = model.find_frame(&model.frames().last().unwrap().name).unwrap();
            let place = world_from_frame(model, &kinematics, frame);
            (dense_mass_at(model, &kinematics), bias_at(model, &kinematics), place)
        });
        assert_eq!(a, b, "seed {}", world.seed);
        assert!(
            nested.find_frame("tail/a/l0").is_some()
                || !tail[0].1.frames()[0].name.starts_with('l')
        );
    }
}

#[test]
fn worlds_that_make_no_sense_are_refused() {
    let (one, two) = (the_box(), the_box().with_gravity(Vector3::new(0.0, 0.0, -1.62)));
    let cases: [(&[(&str, &Model)], &str); 5] = [
        (&[], "at least one"),
        (&[("", &one)], "without `/`"),
        (&[("a/b", &one)], "`a/b`"),
        (&[("a", &one), ("a", &one)], "is listed twice"),
        (&[("earth", &one), ("moon", &two)], "`earth` and [0.0, 0.0, -1.62] m/s² for `moon`"),
    ];
    for (robots, words) in cases {
        let error = Model::world(robots).unwrap_err();
        assert!(matches!(error, ModelError::World { .. }));
        assert!(error.to_string().contains(words), "{error}");
    }
}
