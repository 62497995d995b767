//! Energy of free bodies and robots under the default method: it is kept, or the run warns.

use std::sync::Arc;

use legwork::Disk;
use legwork_block::{Registry, Warning};
use legwork_diagram::{Options, compile};
use legwork_runtime::Simulation;
use legwork_runtime::recording::{ChunkPolicy, Metadata, Recorder, Recording, Sink};

/// Result of a run: the rows of every logged signal, and warnings.
struct Run {
    signals: Vec<Vec<Vec<f64>>>,
    warnings: Vec<Warning>,
    is_fault: bool,
}

fn run(text: &str) -> Run {
    let mut registry = Registry::default();
    legwork_blocks::register(&mut registry);
    let options = Options::default();
    let compiled = compile("energy.ron".as_ref(), text.as_bytes(), &options, &registry, &Disk);
    let shown = legwork_diagram::render::to_text(&compiled.diagnostics, &compiled.sources);
    let program = Arc::new(compiled.program.unwrap_or_else(|| panic!("{shown}\n{text}")));
    let channels = legwork_runtime::channels(&program);
    let (metadata, policy) = (Metadata::default(), ChunkPolicy::default());
    let recorder = Recorder::create(Sink::memory(), &channels, &metadata, policy).unwrap();
    let mut simulation = Simulation::new(program);
    simulation.observer_mut().record_to(recorder);
    let is_fault = simulation.run().is_err();
    let written = simulation.observer_mut().finish_recording().unwrap().unwrap();
    let recording = Recording::from_bytes(written.memory.unwrap()).unwrap();
    let rows = |topic: &str| -> Vec<Vec<f64>> {
        recording.rows(topic).unwrap().map(|row| row.values.to_vec()).collect()
    };
    let signals = channels.iter().map(|channel| rows(&channel.topic)).collect();
    let warnings = simulation.reports().into_iter().flat_map(|(_, r)| r.warnings).collect();
    Run { signals, warnings, is_fault }
}

impl Run {
    /// Kinetic energy of all rows [J].
    fn kinetic(&self) -> Vec<f64> {
        self.signals[0].iter().map(|row| row[0]).collect()
    }
}

/// A free body without weight: principal moments [kg m²] and angular velocity [rad/s].
fn body(solver: &str, step: &str, inertia: [f64; 3], spin: [f64; 3]) -> String {
    pushed_body(solver, (step, 10.0), inertia, spin, [0.0; 6])
}

/// The same under a constant force and torque, world axes [N, N m], until `stop` [s].
fn pushed_body(
    solver: &str,
    (step, stop): (&str, f64),
    inertia: [f64; 3],
    spin: [f64; 3],
    push: [f64; 6],
) -> String {
    format!(
        "Diagram(
            run: (stop: \"{stop} s\", step: \"{step}\", solver: {solver}),
            robots: {{ \"b\": FreeBody(mass: 0.15, shape: Sphere(radius: 0.1), \
                inertia: {inertia:?}, gravity: [0, 0, 0]) }},
            blocks: {{
                \"body\": FloatingBase(robot: \"b\", init: (velocity: [1, 0, 0], \
                    angular_velocity: {spin:?}), in: {{ \"nu_dot\": \"accel.nu_dot\" }}),
                \"none\": Constant(value: \"=zeros(0)\"),
                \"push\": Constant(value: {push:?}),
                \"accel\": ForwardDynamics(robot: \"b\", in: {{ \"state\": \"body.state\", \
                    \"tau\": \"none.y\", \"external\": \"push.y\" }}),
                \"sum\": CentroidalMomentum(robot: \"b\", in: {{ \"state\": \"body.state\" }}),
                \"energy\": Energy(robot: \"b\", in: {{ \"state\": \"body.state\" }}),
            }},
            log: [\"energy.kinetic\", \"sum.momentum\"],
        )"
    )
}

const BODIES: [([f64; 3], [f64; 3]); 20] = [
    ([2.1e-4, 7.5e-6, 2.1e-4], [30.0, 40.0, 5.0]),
    ([2.1e-4, 7.5e-6, 2.1e-4], [10.0, 400.0, 30.0]),
    ([1.0e-4, 1.0e-4, 1.8e-4], [40.0, -30.0, 400.0]),
    ([1.0e-4, 1.0e-4, 1.9e-4], [200.0, 0.0, 346.0]),
    ([1.0e-4, 1.0e-4, 0.2e-4], [50.0, 0.0, 400.0]),
    ([0.01, 0.02, 0.029], [1.0, 60.0, 1.0]),
    ([1.2e-3, 1.6e-3, 2.7e-3], [0.1, 80.0, 0.0]),
    ([0.01, 0.01, 0.02], [60.0, 0.0, 60.0]),
    ([0.5, 0.5, 1.0], [50.0, 30.0, 40.0]),
    ([0.3, 0.4, 0.5], [60.0, 50.0, -30.0]),
    ([1e-6, 3e-6, 3.9e-6], [90.0, 90.0, 90.0]),
    ([5.0, 3.0, 7.0], [-50.0, 40.0, 60.0]),
    ([1.0e-4, 1.0e-4, 1.99e-4], [0.0, 1.0, 400.0]),
    ([1.0e-4, 1.1e-4, 1.2e-4], [400.0, 0.0, 1.0]),
    ([2.0, 2.0, 2.0], [100.0, 200.0, -300.0]),
    ([1.0, 2.0, 2.5], [0.01, 100.0, 0.01]),
    ([8.3e-4, 8.3e-4, 1.0e-6], [50.0, 0.0, 0.0]),
    ([8.3e-4, 8.3e-4, 1.0e-6], [50.0, 0.0, 200.0]),
    ([0.1, 0.1, 0.2], [20.0, -20.0, 20.0]),
    ([0.02, 0.5, 0.51], [5.0, 5.0, 5.0]),
];

#[test]
fn free_bodies_keep_their_energy_at_the_default_method() {
    for (i, (inertia, spin)) in BODIES.into_iter().enumerate() {
        let run = run(&body("SemiImplicitEuler", "1 ms", inertia, spin));
        let (kinetic, warnings) = (run.kinetic(), run.warnings);
        let drift = kinetic.iter().fold(0.0f64, |most, e| most.max((e / kinetic[0] - 1.0).abs()));
        assert!(drift < 1e-9, "body {i}: {drift:.1e}");
        assert!(warnings.is_empty(), "body {i}: {warnings:?}");
    }
}

/// Under a force at the centre the spin keeps its energy, and the centre its parabola of speeds.
#[test]
fn pushed_bodies_keep_the_energy_of_their_spin() {
    for (i, (inertia, spin)) in BODIES.into_iter().enumerate() {
        let force = 1e-3 * 1e3f64.powf(i as f64 / 19.0);
        let push = [force, -0.5 * force, 0.2 * force, 0.0, 0.0, 0.0];
        let run = run(&pushed_body("SemiImplicitEuler", ("1 ms", 10.0), inertia, spin, push));
        let kinetic = run.kinetic();
        let turns: f64 = (0..3).map(|k| 0.5 * inertia[k] * spin[k] * spin[k]).sum();
        let (last, mass) = (kinetic.len() - 1, 0.15);
        for (row, energy) in kinetic.iter().enumerate() {
            let t = 10.0 * row as f64 / last as f64;
            let speed = [1.0 + force / mass * t, -0.5 * force / mass * t, 0.2 * force / mass * t];
            let moves = 0.5 * mass * speed.iter().map(|v| v * v).sum::<f64>();
            let error = (energy / (moves + turns) - 1.0).abs();
            assert!(error < 1e-9, "body {i}, {t} s: {error:.1e}");
        }
        assert!(run.warnings.is_empty(), "body {i}: {:?}", run.warnings);
    }
}

/// A torque changes the angular momentum by its impulse, to rounding; the energy is that of `Rk4`
/// with steps of a twentieth, but for the first order of the kick.
#[test]
fn twisted_bodies_have_the_energy_of_fine_steps() {
    for (i, (inertia, spin)) in BODIES.into_iter().enumerate() {
        let momentum: [f64; 3] = std::array::from_fn(|k| inertia[k] * spin[k]);
        let size = momentum.iter().map(|l| l * l).sum::<f64>().sqrt();
        let torque = [0.02 * size, -0.01 * size, 0.005 * size];
        let push = [0.0, 0.0, 0.0, torque[0], torque[1], torque[2]];
        let stop = if i % 5 == 0 { 1.0 } else { 10.0 };
        let text = |solver, step| pushed_body(solver, (step, stop), inertia, spin, push);
        let of = run(&text("SemiImplicitEuler", "1 ms"));
        assert!(of.warnings.is_empty(), "body {i}: {:?}", of.warnings);
        let last = of.signals[1].last().unwrap();
        for k in 0..3 {
            let error = (last[3 + k] - momentum[k] - stop * torque[k]).abs() / size;
            assert!(error < 1e-10, "body {i}: {error:.1e}");
        }
        if i % 5 == 0 {
            let fine = run(&text("Rk4", "0.05 ms")).kinetic();
            let (energy, fine) = (of.kinetic().last().copied().unwrap(), fine[fine.len() - 1]);
            assert!((energy / fine - 1.0).abs() < 1e-3, "body {i}: {energy} {fine}");
        }
    }
}

/// Methods that do not keep energy: a run whose energy is off by a quarter at its end, or that
/// stops, has a warning, and one that is within a hundredth has none of energy or momentum. The
/// implicit method may report `unresolved` steps there: it damps the nutation of a fast top, which
/// has little energy.
#[test]
fn energy_that_a_method_makes_or_loses_is_a_warning() {
    let (mut warned, mut silent) = (0, 0);
    for (i, (inertia, spin)) in BODIES.into_iter().enumerate() {
        for solver in ["Euler", "ImplicitEuler", "Rk4"] {
            let run = run(&body(solver, "1 ms", inertia, spin));
            let (kinetic, warnings, is_fault) = (run.kinetic(), run.warnings, run.is_fault);
            let end = kinetic[kinetic.len() - 1] / kinetic[0] - 1.0;
            let names: Vec<_> = warnings.iter().map(|one| &one.name[..]).collect();
            let has = |name: &str| names.contains(&name);
            if end > 0.25 {
                assert!(has("makes-energy"), "body {i}, {solver}: {end:+.2}, {names:?}");
                warned += 1;
            } else if end < -0.25 {
                assert!(has("loses-energy"), "body {i}, {solver}: {end:+.2}, {names:?}");
                warned += 1;
            } else if is_fault {
                assert!(!names.is_empty(), "body {i}, {solver}");
            } else if end.abs() < 0.01 {
                let is_allowed = |name: &&str| solver == "ImplicitEuler" && *name == "unresolved";
                let is_silent = names.iter().all(is_allowed);
                assert!(is_silent, "body {i}, {solver}: {end:+.1e}, {warnings:?}");
                silent += 1;
            }
        }
    }
    assert!(warned >= 10 && silent >= 10, "{warned} warned, {silent} silent");
}

/// A rotating robot in flight without gravity; its joints follow a sine of 0.2 rad.
fn in_flight(robot: &str, solver: &str, step: &str, spin: f64) -> String {
    format!(
        "Diagram(
            run: (stop: \"8 s\", step: \"{step}\", solver: {solver}),
            robots: {{ \"r\": Urdf(path: \"diagrams/robots/{robot}/{robot}.urdf\", \
                base: Floating, gravity: [0, 0, 0], joint_limits: Ignore) }},
            blocks: {{
                \"body\": FloatingBase(robot: \"r\", init: (angular_velocity: \
                    [{spin}, {}, {}]), in: {{ \"nu_dot\": \"accel.nu_dot\" }}),
                \"wave\": Sine(amplitude: \"=0.2[rad] * ones(r.n)\", frequency: \"2 Hz\"),
                \"pd\": JointPd(kp: \"10 N*m/rad\", kd: \"0.2 N*m*s/rad\", \
                    in: {{ \"s_ref\": \"wave.y\", \"state\": \"body.state\" }}),
                \"accel\": ForwardDynamics(robot: \"r\", in: {{ \"state\": \"body.state\", \
                    \"tau\": \"pd.tau\" }}),
                \"sum\": CentroidalMomentum(robot: \"r\", in: {{ \"state\": \"body.state\" }}),
            }},
            log: [\"sum.momentum\"],
        )",
        0.7 * spin,
        -0.4 * spin
    )
}

/// Driven joints do work, so energy does not show the error of a robot in flight; its angular
/// momentum is constant. A run that changes it by a third reports a warning, of momentum in at least
/// five cases; a run within 1 % reports none of momentum.
#[test]
fn momentum_that_a_method_changes_is_a_warning() {
    let (mut warned, mut silent) = (0, 0);
    for robot in ["go2", "mini_cheetah", "solo12", "anymal_c", "icub"] {
        for solver in ["SemiImplicitEuler", "Euler", "ImplicitEuler", "Rk4"] {
            for (step, spin) in [("1 ms", 1.0), ("2 ms", 5.0), ("4 ms", 20.0), ("8 ms", 10.0)] {
                let Run { signals, warnings, is_fault } =
                    run(&in_flight(robot, solver, step, spin));
                let logged = &signals[0];
                let (first, last) = (&logged[0], &logged[logged.len() - 1]);
                let length = |v: [f64; 3]| v.iter().map(|one| one * one).sum::<f64>().sqrt();
                let change = length(std::array::from_fn(|i| last[3 + i] - first[3 + i]))
                    / length(std::array::from_fn(|i| first[3 + i]));
                let has = warnings.iter().any(|one| one.name == "changes-momentum");
                let what = format!("{robot}, {solver}, {step}, {spin}: {change:.1e}, {warnings:?}");
                if is_fault {
                    continue;
                }
                if change > 0.33 {
                    assert!(!warnings.is_empty(), "{what}");
                    warned += usize::from(has);
                } else if change < 0.01 {
                    assert!(!has, "{what}");
                    silent += 1;
                }
                if solver == "SemiImplicitEuler" {
                    assert!(change < 1e-9, "{what}");
                }
            }
        }
    }
    assert!(warned >= 5 && silent >= 20, "{warned} warned, {silent} silent");
}

/// A pendulum of 1 kg m² without weight under a sampled damper, `ω⁺ = (1 − Δt d) ω`: its speed
/// alternates if `Δt d > 2`, and goes to zero otherwise.
#[test]
fn a_gain_beyond_the_bound_of_its_sampled_loop_is_a_warning() {
    for turn in [0.3, 0.9, 1.1, 1.5, 1.8, 1.9, 2.01, 2.05, 2.1, 2.2, 2.5, 3.0] {
        let damping = turn / 2e-3;
        let text = format!(
            "Diagram(
                run: (stop: \"1 s\", step: \"2 ms\"),
                robots: {{ \"arm\": Urdf(path: \"diagrams/robots/pendulum/pendulum.urdf\", \
                    base: Fixed, gravity: [0, 0, 0]) }},
                blocks: {{
                    \"body\": FloatingBase(robot: \"arm\", init: (s_dot: [5]), \
                        in: {{ \"nu_dot\": \"accel.nu_dot\" }}),
                    \"rest\": Constant(value: [\"0 rad\"]),
                    \"pd\": JointPd(every: \"2 ms\", kp: 0, kd: \"{damping} N*m*s/rad\", \
                        in: {{ \"s_ref\": \"rest.y\", \"state\": \"body.state\" }}),
                    \"act\": Actuator(torque_limit: [\"2000 N*m\"], in: {{ \"u\": \"pd.tau\" }}),
                    \"accel\": ForwardDynamics(robot: \"arm\", in: {{ \"state\": \"body.state\", \
                        \"tau\": \"act.tau\" }}),
                    \"energy\": Energy(robot: \"arm\", in: {{ \"state\": \"body.state\" }}),
                }},
                log: [\"energy.kinetic\"],
            )"
        );
        let Run { warnings, is_fault, .. } = run(&text);
        let is_warned = warnings.iter().any(|one| one.name == "chatters");
        assert_eq!(is_warned || is_fault, turn > 2.0, "{turn}: {warnings:?}");
    }
}
