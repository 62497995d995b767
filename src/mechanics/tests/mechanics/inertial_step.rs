//! The drift of the semi-implicit Euler method keeps energy and momentum.

use legwork_mechanics::nalgebra::{Matrix3, Vector3};
use legwork_mechanics::{
    Base, InertialStep, InverseDynamics, Kinematics, MassFactor, MassMatrix, Model, Options,
    bias_force, center_of_mass, centroidal_momentum, integrate, kinetic_energy, mass_matrix,
    potential_energy, rotor_kinetic_energy, turn_of,
};

use crate::random::Rng;

/// A run of the method with gravity as the only force.
struct Run<'a> {
    model: &'a Model,
    kinematics: Kinematics,
    mass: MassMatrix,
    factor: MassFactor,
    workspace: InverseDynamics,
    drift: Option<InertialStep>,
    q: Vec<f64>,
    nu: Vec<f64>,
    /// Torque of every joint, and about every axis of the base [N m].
    torque: f64,
    twist: f64,
}

impl<'a> Run<'a> {
    fn new(model: &'a Model, (q, nu): (&[f64], &[f64]), is_explicit: bool) -> Self {
        Self {
            model,
            kinematics: Kinematics::new(model),
            mass: MassMatrix::new(model),
            factor: MassFactor::new(model),
            workspace: InverseDynamics::new(model),
            drift: (!is_explicit).then(|| InertialStep::new(model)),
            q: q.to_vec(),
            nu: nu.to_vec(),
            torque: 0.0,
            twist: 0.0,
        }
    }

    fn step(&mut self, h: f64) {
        let Self { model, kinematics, mass, factor, workspace, .. } = self;
        kinematics.update(model, &self.q, &self.nu);
        mass_matrix(model, kinematics, mass);
        factor.factorize(mass).unwrap();
        let mut rate = vec![0.0; self.nu.len()];
        bias_force(model, kinematics, workspace, &mut rate);
        rate.iter_mut().for_each(|h| *h = -*h);
        for &k in model.joint_velocity_indices() {
            rate[k] += self.torque;
        }
        if model.trees()[0].is_floating() {
            rate[3..6].iter_mut().for_each(|moment| *moment += self.twist);
        }
        factor.solve_in_place(&mut rate);
        let mut shift = vec![0.0; rate.len()];
        if let Some(drift) = &mut self.drift {
            drift.replace_drift(model, (&self.q, &self.nu), h, &mut rate, &mut shift);
        }
        let mut moves = shift;
        for i in 0..rate.len() {
            self.nu[i] += h * rate[i];
            moves[i] = h * (moves[i] + self.nu[i]);
        }
        let q = self.q.clone();
        integrate(model, &q, &moves, &mut self.q);
    }

    /// Energy, linear momentum, and angular momentum about the origin.
    fn invariants(&mut self) -> (f64, Vector3<f64>, Vector3<f64>) {
        let Self { model, kinematics, .. } = self;
        kinematics.update(model, &self.q, &self.nu);
        let energy = kinetic_energy(model, kinematics)
            + rotor_kinetic_energy(model, &self.nu)
            + potential_energy(model, kinematics);
        let momentum = centroidal_momentum(model, kinematics);
        let about_origin =
            momentum.moment + center_of_mass(model, kinematics).cross(&momentum.force);
        (energy, momentum.force, about_origin)
    }

    /// Largest relative errors of energy and momentum over `time`.
    fn errors(&mut self, h: f64, time: f64) -> [f64; 2] {
        let (energy, linear, angular) = self.invariants();
        let size = linear.norm() + angular.norm();
        let mut worst = [0.0f64; 2];
        let steps = (time / h).round() as usize;
        for i in 0..steps {
            self.step(h);
            if i % (steps / 500).max(1) == 0 {
                let (e, p, l) = self.invariants();
                worst[0] = worst[0].max((e - energy).abs() / energy);
                worst[1] = worst[1].max(((p - linear).norm() + (l - angular).norm()) / size);
            }
        }
        worst
    }
}

const ROBOTS: [&str; 11] = [
    "anymal_c",
    "biped",
    "go2",
    "icub",
    "iris",
    "mini_cheetah",
    "panda",
    "rrbot",
    "solo12",
    "talos",
    "ur5",
];

fn robot(name: &str, base: Base) -> Model {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../diagrams/robots");
    let text = std::fs::read_to_string(format!("{root}/{name}/{name}.urdf")).unwrap();
    let (model, _) = Model::from_urdf_text(&text, &Options::new(base)).unwrap();
    model.with_gravity(Vector3::zeros())
}

/// A robot in flight, turning at a few rad/s.
fn state(model: &Model, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut rng = Rng::new(seed);
    let mut nu = rng.vector(model.velocity_dim(), 3.0);
    let mut q = model.zero_configuration();
    let turn = rng.vector(nu.len(), 0.5);
    let start = q.clone();
    integrate(model, &start, &turn, &mut q);
    if model.trees()[0].is_floating() {
        nu[..3].copy_from_slice(&[1.0, -0.5, 0.3]);
    }
    (q, nu)
}

/// Principal moments [kg m²] and angular velocity about their axes [rad/s].
type Spin = ([f64; 3], [f64; 3]);

/// Tops, rods, plates, a racket turned about its middle axis, and random bodies.
fn spins() -> Vec<Spin> {
    let mut spins = vec![
        ([2.1e-4, 7.5e-6, 2.1e-4], [30.0, 40.0, 5.0]),
        ([2.1e-4, 7.5e-6, 2.1e-4], [1.0, 400.0, 3.0]),
        ([1.0e-4, 1.0e-4, 1.8e-4], [4.0, -3.0, 400.0]),
        ([1.0e-4, 1.0e-4, 1.9e-4], [200.0, 0.0, 346.0]),
        ([1.0e-4, 1.0e-4, 0.2e-4], [0.5, 0.0, 400.0]),
        ([1.0, 2.0, 2.9], [1e-3, 20.0, 1e-3]),
        ([1.2e-3, 1.6e-3, 2.7e-3], [1e-6, 40.0, 0.0]),
        ([0.01, 0.01, 0.02], [20.0, 0.0, 60.0]),
        ([0.5, 0.5, 1.0], [0.0, 12.0, 0.1]),
        ([1e-3, 1e-3, 1e-3], [100.0, 50.0, -30.0]),
    ];
    let mut rng = Rng::new(45);
    for _ in 0..10 {
        // Two of the squared radii of gyration make a moment, so every body is possible.
        let [a, b, c] = [0; 3].map(|_| rng.in_range(0.02, 1.0));
        let size = 10.0f64.powf(rng.in_range(-5.0, 1.0));
        let fastest = 10.0f64.powf(rng.in_range(0.0, 2.3));
        let spin = rng.vector(3, fastest);
        spins.push(([b + c, c + a, a + b].map(|m| m * size), [spin[0], spin[1], spin[2]]));
    }
    spins
}

/// A body of these moments whose centre of mass is away from its origin.
fn body(moments: [f64; 3]) -> Model {
    let [x, y, z] = moments;
    let text = format!(
        "<robot name=\"body\"><link name=\"body\"><inertial><origin xyz=\"0.02 -0.05 0.03\"/>\
         <mass value=\"0.15\"/><inertia ixx=\"{x}\" iyy=\"{y}\" izz=\"{z}\" ixy=\"0\" ixz=\"0\" \
         iyz=\"0\"/></inertial></link></robot>"
    );
    let (model, _) = Model::from_urdf_text(&text, &Options::new(Base::Floating)).unwrap();
    model.with_gravity(Vector3::zeros())
}

const LEVEL: [f64; 7] = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0];

/// Ten seconds at 1 ms: energy and momentum are constant up to rounding, which adds up over 10 000
/// steps. The explicit drift of the first body multiplies its energy by more than a million.
#[test]
fn bodies_keep_energy_and_momentum() {
    for (i, (moments, spin)) in spins().into_iter().enumerate() {
        let model = body(moments);
        let nu = [0.3, -0.1, 0.2, spin[0], spin[1], spin[2]];
        let errors = Run::new(&model, (&LEVEL, &nu), false).errors(1e-3, 10.0);
        assert!(errors.iter().all(|error| *error < 1e-9), "body {i}: {errors:?}");
        if i == 0 {
            let mut explicit = Run::new(&model, (&LEVEL, &nu), true);
            let errors = explicit.errors(1e-3, 10.0);
            assert!(errors[0] > 1e5, "{errors:?}");
        }
    }
}

/// Half the step gives a quarter of the error of the angular velocity, compared with steps of 1/64.
#[test]
fn bodies_turn_to_second_order() {
    for (i, (moments, spin)) in spins().into_iter().enumerate() {
        let model = body(moments);
        let nu = [0.3, -0.1, 0.2, spin[0], spin[1], spin[2]];
        let fastest = spin.iter().fold(0.0f64, |most, w| most.max(w.abs()));
        let (turn, whole) = (0.05 / fastest, 1.0 / fastest);
        let end = |h: f64| {
            let mut run = Run::new(&model, (&LEVEL, &nu), false);
            (0..(whole / h).round() as usize).for_each(|_| run.step(h));
            run.nu
        };
        let exact = end(turn / 64.0);
        let error = |h: f64| {
            let parts = end(h);
            let squares = parts.iter().zip(&exact).map(|(a, b)| (a - b) * (a - b));
            squares.sum::<f64>().sqrt() / fastest
        };
        let (coarse, fine) = (error(turn), error(0.5 * turn));
        // The turn of a steady spin is exact.
        assert!(coarse > 3.5 * fine || coarse < 1e-10, "body {i}: {coarse:.1e} {fine:.1e}");
    }
}

/// A spin about a principal axis, and a ball about any axis, turn by the exact angle, up to half a
/// turn.
#[test]
fn steady_spins_turn_by_their_exact_angle() {
    let moments = Matrix3::from_diagonal(&Vector3::new(1.0, 2.0, 2.5));
    let ball = Matrix3::from_diagonal_element(0.3);
    for rate in [1e-6, 1e-2, 1.0, 40.0, 1900.0] {
        for axis in [Vector3::x(), Vector3::y(), Vector3::z()] {
            let inverse = moments.try_inverse().unwrap();
            let spin = axis * rate;
            let (turn, after) = turn_of(&moments, &inverse, &(moments * spin), 1e-3).unwrap();
            assert!((turn - spin * 1e-3).norm() < 1e-15 * rate, "{turn} {spin}");
            assert!((after - moments * spin).norm() < 1e-14 * rate);
        }
        let spin = Vector3::new(0.6, -0.64, 0.48) * rate;
        let inverse = ball.try_inverse().unwrap();
        let (turn, _) = turn_of(&ball, &inverse, &(ball * spin), 1e-3).unwrap();
        assert!((turn - spin * 1e-3).norm() < 1e-15 * rate, "{turn} {spin}");
    }
}

/// Energy and momentum are kept even if a step turns by more than half a turn.
#[test]
fn no_turn_is_too_fast() {
    for (i, (moments, spin)) in spins().into_iter().enumerate() {
        let moments = Matrix3::from_diagonal(&Vector3::from(moments));
        let inverse = moments.try_inverse().unwrap();
        for factor in [0.1, 1.0, 10.0, 100.0] {
            let momentum = moments * Vector3::from(spin) * factor;
            let Some((_, after)) = turn_of(&moments, &inverse, &momentum, 1e-3) else {
                assert!(factor > 1.0, "body {i}: no turn at {factor}");
                continue;
            };
            let energy = |p: &Vector3<f64>| p.dot(&(inverse * p));
            assert!((energy(&after) / energy(&momentum) - 1.0).abs() < 1e-9, "body {i} {factor}");
            assert!((after.norm() / momentum.norm() - 1.0).abs() < 1e-14, "body {i} {factor}");
        }
    }
}

/// Robots in flight and on a fixed base: energy is kept to second order, momentum to rounding.
#[test]
fn robots_keep_energy_to_second_order_and_momentum_to_rounding() {
    for (i, name) in ROBOTS.iter().enumerate() {
        for base in [Base::Floating, Base::Fixed] {
            let model = robot(name, base);
            if model.velocity_dim() == 0 {
                continue;
            }
            let (q, nu) = state(&model, i as u64);
            let errors = |h| Run::new(&model, (&q, &nu), false).errors(h, 0.3);
            let ([coarse, moved], [fine, _]) = (errors(1e-3), errors(5e-4));
            let is_second = coarse > 3.5 * fine || coarse < 1e-12;
            assert!(is_second && coarse < 2e-5, "{name} {base:?}: {coarse:.1e} {fine:.1e}");
            assert!(base == Base::Fixed || moved < 1e-11, "{name}: momentum {moved:.1e}");
        }
    }
}

/// Ten seconds at 1 ms. The arm with its hand has light links on parallel axes, for which
/// iterations with a fixed factor of M do not converge.
#[test]
fn robots_in_flight_keep_energy_and_momentum_for_ten_seconds() {
    for (i, name) in ROBOTS.iter().chain(&["gripper_arm", "links"]).enumerate() {
        let model = robot(name, Base::Floating);
        let (q, nu) = state(&model, i as u64);
        let [energy, moved] = Run::new(&model, (&q, &nu), false).errors(1e-3, 10.0);
        assert!(energy < 2e-3, "{name}: energy {energy:.1e}");
        assert!(moved < 1e-11, "{name}: momentum {moved:.1e}");
    }
    let fast = [("gripper_arm", 2.0, 2e-3), ("gripper_arm", 5.0, 1e-3), ("links", 10.0, 2e-3)];
    for (name, factor, h) in fast {
        let model = robot(name, Base::Floating);
        let (q, mut nu) = state(&model, 7);
        nu[3..].iter_mut().for_each(|rate| *rate *= factor);
        let [energy, moved] = Run::new(&model, (&q, &nu), false).errors(h, 10.0);
        assert!(energy < 0.05, "{name} {factor}: energy {energy:.1e}");
        assert!(moved < 1e-11, "{name} {factor}: momentum {moved:.1e}");
    }
}

/// Weight does not change the drift: a thrown robot keeps its angular momentum, and its centre of
/// mass follows the parabola of the semi-implicit Euler method.
#[test]
fn under_gravity_a_thrown_robot_keeps_its_angular_momentum() {
    let g = Vector3::new(0.0, 0.0, -9.81);
    let model = robot("mini_cheetah", Base::Floating).with_gravity(g);
    let (q, nu) = state(&model, 3);
    let mut run = Run::new(&model, (&q, &nu), false);
    let momentum_and_center = |run: &mut Run<'_>| {
        run.invariants();
        let momentum = centroidal_momentum(run.model, &run.kinematics);
        (momentum, center_of_mass(run.model, &run.kinematics))
    };
    let (before, from) = momentum_and_center(&mut run);
    let (h, steps) = (1e-3, 300.0);
    (0..steps as usize).for_each(|_| run.step(h));
    let (after, to) = momentum_and_center(&mut run);
    let (mass, time) = (model.total_mass(), steps * h);
    assert!((after.moment - before.moment).norm() < 1e-12, "{} {}", after.moment, before.moment);
    assert!((after.force - before.force - mass * g * time).norm() < 1e-11);
    let parabola = from + before.force / mass * time + 0.5 * g * time * (time + h);
    assert!((to - parabola).norm() < 1e-12, "{to} {parabola}");
}

/// A robot that is nearly at rest, and one that is held, keep the explicit step in every bit.
#[test]
fn what_is_slow_or_held_keeps_its_step() {
    let model = robot("mini_cheetah", Base::Floating);
    let mut drift = InertialStep::new(&model);
    let q = model.zero_configuration();
    let slow = vec![1e-4; model.velocity_dim()];
    let rate = vec![0.5; slow.len()];
    let (mut now, mut shift) = (rate.clone(), vec![f64::NAN; slow.len()]);
    assert!(!drift.replace_drift(&model, (&q, &slow), 1e-3, &mut now, &mut shift));
    assert_eq!(now, rate);
    let mut moving = vec![0.0; slow.len()];
    moving[7..].fill(2.0);
    assert!(!drift.replace_drift(&model, (&q, &moving), 1e-3, &mut now, &mut shift));
    assert_eq!(now, rate);
}

/// Under a torque on the base and torques of motors, momentum is that of the impulse, to
/// rounding.
#[test]
fn smooth_forces_leave_momentum_exact() {
    for (i, name) in ["mini_cheetah", "go2", "talos", "ur5", "gripper_arm"].iter().enumerate() {
        let model = robot(name, Base::Floating);
        let (q, nu) = state(&model, i as u64);
        let mut run = Run::new(&model, (&q, &nu), false);
        run.drift = Some(InertialStep::new(&model).under_smooth_forces());
        (run.torque, run.twist) = (0.02, 0.05);
        let (_, linear, angular) = run.invariants();
        (0..500).for_each(|_| run.step(1e-3));
        let (_, p, l) = run.invariants();
        let twist = Vector3::repeat(run.twist * 0.5);
        let error = ((p - linear).norm() + (l - angular - twist).norm()) / angular.norm();
        assert!(error < 1e-11, "{name}: {error:.1e}");
    }
}

/// Motors in flight: joints keep the explicit step, momentum is kept to rounding.
#[test]
fn in_flight_driven_joints_keep_their_step_and_the_robot_its_momentum() {
    for (i, name) in ["mini_cheetah", "go2", "talos", "ur5"].iter().enumerate() {
        let model = robot(name, Base::Floating);
        let (q, nu) = state(&model, i as u64);
        let mut run = Run::new(&model, (&q, &nu), false);
        run.torque = 0.5;
        let (_, linear, angular) = run.invariants();
        let mut twin = Run::new(&model, (&q, &nu), true);
        twin.torque = 0.5;
        run.step(1e-3);
        twin.step(1e-3);
        assert_eq!(run.nu[6..], twin.nu[6..], "{name}");
        assert_eq!(run.q[7..], twin.q[7..], "{name}");
        (0..200).for_each(|_| run.step(1e-3));
        let (_, p, l) = run.invariants();
        let error = ((p - linear).norm() + (l - angular).norm()) / angular.norm();
        assert!(error < 1e-11, "{name}: {error:.1e}");
    }
}
