//! Diagrams of `diagrams/validation` and `diagrams/constraint_solver` against solutions that come
//! from elsewhere: closed forms, SciPy (`tests/data/validation/references.py`, and the stiff
//! references beside the kernels), and the theory of stability.

use std::path::PathBuf;
use std::sync::Arc;

use legwork::Disk;
use legwork_block::Registry;
use legwork_diagram::{Compiled, Options, compile};
use legwork_runtime::Simulation;
use legwork_runtime::recording::{ChunkPolicy, Metadata, Recorder, Recording, Sink};
use serde_json::Value;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// What a run left: its rows and its metrics.
struct Run {
    recording: Recording,
    metrics: Vec<legwork_block::Metric>,
}

/// A diagram, with `--set` overrides.
fn compiled(diagram: &str, set: &[(&str, &str)]) -> Compiled {
    let path = root().join("diagrams").join(diagram);
    let mut registry = Registry::default();
    legwork_blocks::register(&mut registry);
    let set = set.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    let options = Options { set, ..Options::default() };
    compile(&path, &std::fs::read(&path).unwrap(), &options, &registry, &Disk)
}

fn text(compiled: &Compiled) -> String {
    legwork_diagram::render::to_text(&compiled.diagnostics, &compiled.sources)
}

/// Runs a diagram to its end, whatever its checks say.
fn run_unchecked(diagram: &str, set: &[(&str, &str)]) -> (Simulation, Run) {
    let compiled = compiled(diagram, set);
    let shown = text(&compiled);
    let Some(program) = compiled.program else { panic!("{shown}") };
    let recorder = Recorder::create(
        Sink::memory(),
        &legwork_runtime::channels(&program),
        &Metadata::default(),
        ChunkPolicy::default(),
    );
    let mut simulation = Simulation::new(Arc::new(program));
    simulation.observer_mut().record_to(recorder.unwrap());
    simulation.run().unwrap_or_else(|fault| panic!("{diagram} {set:?}: {fault}"));
    let metrics = simulation.reports().into_iter().flat_map(|(_, report)| report.metrics).collect();
    let bytes = simulation.observer_mut().finish_recording().unwrap().unwrap().memory.unwrap();
    (simulation, Run { recording: Recording::from_bytes(bytes).unwrap(), metrics })
}

/// Runs a diagram to its end; its checks must hold.
fn run(diagram: &str, set: &[(&str, &str)]) -> Run {
    let (simulation, run) = run_unchecked(diagram, set);
    for (check, state) in simulation.program().checks.iter().zip(simulation.checks()) {
        assert!(!state.fails(), "{diagram} {set:?}: check `{}`", check.name);
    }
    run
}

impl Run {
    /// The last row of a topic at or before `t`.
    fn at(&self, topic: &str, t: f64) -> Vec<f64> {
        let series = self.recording.series(topic).unwrap();
        let row = (0..series.len()).rev().find(|&row| series.stamp(row).t <= t + 1e-9).unwrap();
        assert!((series.stamp(row).t - t).abs() < 1e-9, "{topic} has no row at {t}");
        series.row(row).values.to_vec()
    }

    /// All rows of a topic: times and values.
    fn rows(&self, topic: &str) -> Vec<(f64, Vec<f64>)> {
        let series = self.recording.series(topic).unwrap();
        (0..series.len())
            .map(|row| (series.stamp(row).t, series.row(row).values.to_vec()))
            .collect()
    }
}

fn references(path: &str) -> Value {
    serde_json::from_slice(&std::fs::read(root().join(path)).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn rows(value: &Value) -> Vec<Vec<f64>> {
    value["rows"].as_array().unwrap().iter().map(numbers).collect()
}

/// Largest relative error of the topics at the times of a stiff reference that the run has.
fn stiff_error(problem: &str, topics: &[&str], times: &[f64], step: &str, solver: &str) -> f64 {
    // A multistep method begins at order 1 at each major step: no more of them than are looked at.
    let set = [("run.solver", solver), ("run.step", step)];
    let run = run(&format!("validation/{problem}.ron"), &set);
    let reference = &references("src/ode/tests/data/references.json")[problem];
    let floor = reference["floor"].as_f64().unwrap();
    let states: Vec<Vec<f64>> =
        reference["states"].as_array().unwrap().iter().map(numbers).collect();
    let known = numbers(&reference["times"]);
    let mut worst = 0.0_f64;
    for t in times {
        let expected = &states[known.iter().position(|k| k == t).unwrap()];
        for (topic, expected) in topics.iter().zip(expected) {
            let found = run.at(topic, *t)[0];
            worst = worst.max((found - expected).abs() / expected.abs().max(floor));
        }
    }
    worst
}

#[test]
fn stiff_oscillations_and_reactions_agree_with_radau() {
    // Van der Pol's slow drifts magnify errors: SciPy's own BDF is off by 3.3e-6 at 1e-8.
    let cases: [(&str, &[&str], &[f64], &str); 2] = [
        ("van_der_pol", &["x.y", "v.y"], &[400.0, 800.0, 1200.0, 1600.0, 2000.0], "400 s"),
        ("robertson", &["a.y", "b.y", "c.y"], &[4e3, 4e4], "4000 s"),
    ];
    for (problem, topics, times, step) in cases {
        for solver in ["Bdf(rtol: 1e-8, atol: 1e-12)", "Esdirk(rtol: 1e-8, atol: 1e-12)"] {
            let error = stiff_error(problem, topics, times, step, solver);
            assert!(error < 1e-5, "{problem}, {solver}: {error:e}");
        }
    }
}

#[test]
fn arenstorfs_orbit_closes_and_passes_where_dop853_says() {
    let reference = &references("tests/data/validation/references.json")["arenstorf"];
    let run = run("validation/arenstorf.ron", &[]);
    for row in rows(reference) {
        for (topic, expected) in ["x.position", "y.position"].iter().zip(&row[1..]) {
            let found = run.at(topic, row[0])[0];
            assert!((found - expected).abs() < 1e-8, "{topic} at {}: {found}", row[0]);
        }
    }
}

/// The motion between samples is linear with a constant input, which the matrix exponential steps
/// exactly.
#[test]
fn a_motor_under_two_sampled_controllers_agrees_with_the_matrix_exponential() {
    let reference = &references("tests/data/validation/references.json")["motor"];
    let run = run("validation/motor.ron", &[]);
    let topics = ["current.y", "speed.y", "angle.y", "current_pi.y"];
    for row in rows(reference) {
        for (topic, expected) in topics.iter().zip(&row[1..]) {
            let found = run.at(topic, row[0])[0];
            let wrong = (found - expected).abs() / (1.0 + expected.abs());
            assert!(wrong < 1e-9, "{topic} at {}: {found}, not {expected}", row[0]);
        }
    }
}

#[test]
fn a_free_rigid_body_turns_as_the_elliptic_functions_say() {
    let reference = &references("tests/data/validation/references.json")["rigid_body"];
    let run = run("validation/rigid_body.ron", &[]);
    let (mut turn, mut spin) = (0.0_f64, 0.0_f64);
    for row in rows(reference) {
        // q: position 3, quaternion 4; ν: velocity 3, angular velocity 3.
        let state = run.at("body.state", row[0]);
        for (found, expected) in state[3..7].iter().zip(&row[1..5]) {
            turn = turn.max((found - expected).abs());
        }
        for (found, expected) in state[10..13].iter().zip(&row[5..8]) {
            spin = spin.max((found - expected).abs());
        }
    }
    assert!(turn < 1e-9 && spin < 1e-9, "orientation {turn:e}, angular velocity {spin:e}");
}

/// Energy is what the tolerance asks for, and a fixed step of order p keeps it to the order p.
#[test]
fn the_energy_of_a_pendulum_drifts_with_the_accuracy_asked_for() {
    let drift = |set: &[(&str, &str)]| {
        let rows = run_unchecked("validation/pendulum.ron", set).1.rows("energy.total");
        rows.iter().map(|(_, energy)| (energy[0] - rows[0].1[0]).abs()).fold(0.0, f64::max)
    };
    let tolerance = |t: &str| drift(&[("run.solver", t)]);
    let (coarse, fine) = (
        tolerance("DormandPrince(rtol: 1e-6, atol: 1e-7)"),
        tolerance("DormandPrince(rtol: 1e-9, atol: 1e-10)"),
    );
    assert!(fine < coarse / 100.0 && fine > coarse / 1e5, "{coarse:e} → {fine:e}");
    let rk4 = |step: &str| drift(&[("run.solver", "Rk4"), ("run.step", step)]);
    let (coarse, fine) = (rk4("10 ms"), rk4("5 ms"));
    let order = (coarse / fine).log2();
    assert!((3.8..5.3).contains(&order), "order {order}: {coarse:e} → {fine:e}");
}

/// Figures 1 to 3 of Drumwright's article: (settings, whether the paper finds it stable).
const SPRINGS: &[(&[(&str, &str)], bool)] = &[
    (&[("run.solver", "Euler"), ("b", "1.9e5")], true),
    (&[("run.solver", "Euler"), ("b", "2e5")], true),
    (&[("run.solver", "Euler"), ("b", "2.1e5")], false),
    (&[("run.solver", "Euler"), ("b", "1")], false),
    (&[("run.solver", "SemiImplicitEuler"), ("run.step", "1 ms"), ("b", "1")], true),
    (&[("run.solver", "SemiImplicitEuler"), ("run.step", "1 ms"), ("b", "1"), ("k", "1e7")], false),
    (&[("run.solver", "ImplicitEuler"), ("b", "0")], true),
    (
        &[("run.solver", "ImplicitEuler"), ("b", "0"), ("run.step", "10 ms"), ("run.stop", "1 s")],
        true,
    ),
    (&[("run.solver", "ImplicitEuler"), ("b", "0"), ("k", "1e12")], true),
    (&[("run.solver", "Heun"), ("b", "1e3")], true),
    (&[("run.solver", "Rk4"), ("b", "2.8e5")], false),
    (&[("run.solver", "Rk4"), ("b", "2.7e5")], true),
];

/// Each state of a linear system of two satisfies `x[n+2] = T x[n+1] − D x[n]`. T and D from the
/// rows of the run give the eigenvalues of the step that was in fact made.
fn observed_radius(x: &[f64]) -> f64 {
    let size = |w: &[f64]| w.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    // Least squares over windows that are scaled to 1, since x may grow by a factor 8 per step.
    let (mut aa, mut ab, mut bb, mut ac, mut bc) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for w in x.windows(3) {
        let scale = size(w);
        // What has decayed so far is no longer known to many digits.
        if scale < 1e-5 * size(&x[..3]) {
            break;
        }
        let (c, a, b) = (w[2] / scale, w[1] / scale, -w[0] / scale);
        aa += a * a;
        ab += a * b;
        bb += b * b;
        ac += a * c;
        bc += b * c;
    }
    let determinant = aa * bb - ab * ab;
    let (t, d) = ((ac * bb - bc * ab) / determinant, (aa * bc - ab * ac) / determinant);
    let discriminant = 0.25 * t * t - d;
    match discriminant >= 0.0 {
        true => 0.5 * t.abs() + discriminant.sqrt(),
        false => d.sqrt(),
    }
}

#[test]
fn the_three_eulers_are_stable_on_a_spring_where_drumwright_says() {
    for (set, stable) in SPRINGS {
        let run = run("constraint_solver/spring_damper.ron", set);
        let radius = run.metrics.iter().find(|one| one.name == "spectral_radius").unwrap().value;
        assert_eq!(radius <= 1.0, *stable, "{set:?}: {radius}");
        // The velocity has a part of each eigenvector of the same size, the position has not.
        let v: Vec<f64> = run.rows("mass.velocity").into_iter().map(|(_, v)| v[0]).collect();
        let observed = observed_radius(&v);
        let wrong = (observed / radius - 1.0).abs();
        assert!(wrong < 1e-6, "{set:?}: grows by {observed} per step, predicted {radius}");
    }
}

/// A variable step has no one matrix.
#[test]
fn a_spectral_radius_asks_for_fixed_steps() {
    let set = [("run.solver", "DormandPrince")];
    let compiled = compiled("constraint_solver/spring_damper.ron", &set);
    let shown = text(&compiled);
    assert!(compiled.program.is_none());
    assert!(shown.contains("expected a solver of fixed steps, found DormandPrince"), "{shown}");
}
