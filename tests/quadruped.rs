//! The main job: Mini Cheetah drops, lands and stands; solvers and contact models are swapped
//! without touching a file.

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

use std::path::Path;
use std::sync::Arc;

use legwork_block::Registry;
use legwork_diagram::{Options, ReadFile, compile};
use legwork_program::Program;
use legwork_qp::{
    ClarabelSolver, Cone, ConeShape, ContactProblem, ContactSolver, PyramidActiveSet, PyramidFit,
    Status, kkt,
};
use legwork_runtime::recording::{ChunkPolicy, Metadata, Recorder, Recording, Sink};
use legwork_runtime::{Cursor, Simulation, channels};

struct Disk;

impl ReadFile for Disk {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        std::fs::read(path)
    }
}

const STAND: &str = "diagrams/quadruped/stand.ron";
/// When the feet touch, dropped from 5 cm: √(2·0.05/9.81) = 0.101 s.
const TOUCHDOWN: f64 = 0.101;
const WEIGHT: f64 = 8.252 * 9.81;

fn program(file: &str, set: &[(&str, &str)], variants: &[(&str, &str)]) -> Arc<Program> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let mut registry = Registry::default();
    legwork_blocks::register(&mut registry);
    let own = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect::<Vec<_>>()
    };
    let options = Options { set: own(set), variants: own(variants), ..Options::default() };
    let compiled = compile(&path, &std::fs::read(&path).unwrap(), &options, &registry, &Disk);
    let shown = legwork_diagram::render::to_text(&compiled.diagnostics, &compiled.sources);
    Arc::new(compiled.program.unwrap_or_else(|| panic!("{shown}")))
}

fn recorder(program: &Program) -> Recorder {
    Recorder::create(
        Sink::memory(),
        &channels(program),
        &Metadata::default(),
        ChunkPolicy::default(),
    )
    .unwrap()
}

/// Runs to the end by whole steps, or by blocks; the recording's bytes.
fn record(program: &Arc<Program>, by_block: bool) -> (Simulation, Vec<u8>) {
    let mut simulation = Simulation::new(Arc::clone(program));
    simulation.observer_mut().record_to(recorder(program));
    while simulation.cursor() != Cursor::Done {
        let outcome = if by_block { simulation.advance() } else { simulation.step() };
        outcome.unwrap_or_else(|fault| panic!("{fault}"));
    }
    let memory = simulation.observer_mut().finish_recording().unwrap().unwrap().memory.unwrap();
    (simulation, memory)
}

fn failed_checks(simulation: &Simulation) -> Vec<&str> {
    let checks = &simulation.program().checks;
    let states = simulation.observer().checks();
    checks.iter().zip(states).filter(|(_, s)| !s.passed).map(|(c, _)| c.name.as_str()).collect()
}

#[test]
fn it_stands_after_drops_of_48_to_52_mm() {
    for height in ["48 mm", "49 mm", "50 mm", "51 mm", "52 mm"] {
        let program = program(STAND, &[("drop", height)], &[]);
        let mut simulation = Simulation::new(program);
        simulation.run().unwrap();
        assert_eq!(failed_checks(&simulation), [""; 0], "dropped from {height}");
    }
}

#[test]
fn every_solver_and_contact_model_makes_it_stand() {
    for variants in [[("qp", "clarabel")], [("qp", "pgs")], [("contact", "hertz")]] {
        let mut simulation = Simulation::new(program(STAND, &[], &variants));
        simulation.run().unwrap();
        assert_eq!(failed_checks(&simulation), [""; 0], "{variants:?}");
    }
}

/// Largest difference of two recordings of a signal up to a time.
fn apart(a: &Recording, b: &Recording, topic: &str, until: f64) -> f64 {
    let (a, b) = (a.series(topic).unwrap(), b.series(topic).unwrap());
    assert_eq!(a.len(), b.len());
    let mut worst = 0.0f64;
    for i in (0..a.len()).take_while(|&i| a.stamp(i).t <= until) {
        for (x, y) in a.row(i).values.iter().zip(&b.row(i).values) {
            worst = worst.max((x - y).abs());
        }
    }
    worst
}

const SOLVER_LOG: (&str, &str) = ("log", r#"["body.state", "contact.f", "contact.solve.status"]"#);

#[test]
fn active_set_and_clarabel_agree_until_after_the_landing() {
    let run = |qp| {
        let program = program(STAND, &[SOLVER_LOG], &[("qp", qp)]);
        Recording::from_bytes(record(&program, false).1).unwrap()
    };
    let (active_set, clarabel) = (run("active_set"), run("clarabel"));
    let until = TOUCHDOWN + 0.2;
    let state = apart(&active_set, &clarabel, "body.state", until);
    assert!(state < 1e-6, "states differ by {state:.1e}");
    let forces = apart(&active_set, &clarabel, "contact.f", until);
    assert!(forces < 1e-4 * WEIGHT, "forces differ by {forces:.1e} N");
    for (name, recording) in [("active_set", &active_set), ("clarabel", &clarabel)] {
        let status = recording.series("contact.solve.status").unwrap();
        for i in 0..status.len() {
            assert_eq!(status.row(i).values, [0.0], "{name}: status in row {i}");
        }
    }
}

/// The same recorded problems through both solvers: both solve them, by one judge of residuals,
/// and give the same forces.
#[test]
fn recorded_problems_replay_alike_through_both_solvers() {
    let program = program(STAND, &[("log", r#"["contact.assemble.problem"]"#)], &[]);
    let recording = Recording::from_bytes(record(&program, false).1).unwrap();
    let series = recording.series("contact.assemble.problem").unwrap();
    let column = |name: &str| {
        let is_of = |c: &String| {
            *c == name || c.strip_prefix(name).is_some_and(|rest| rest.starts_with('['))
        };
        let indices: Vec<usize> =
            series.columns().iter().enumerate().filter(|(_, c)| is_of(c)).map(|(i, _)| i).collect();
        assert!(!indices.is_empty(), "no column {name} among {:?}", series.columns());
        indices
    };
    let names =
        ["inverse_inertia", "bias", "friction", "active", "compliance", "force_scale", "sides"];
    let columns = names.map(column);
    let mut active_set = PyramidActiveSet::new(4, 4);
    let mut clarabel = ClarabelSolver::new(1e-10, 100);
    let cone = Cone::Pyramid { sides: 4, fit: PyramidFit::Inscribed };
    let cone = ConeShape::new(cone).unwrap();
    let mut replayed = 0;
    for i in (0..series.len()).step_by(7) {
        let row = series.row(i).values;
        let [inertia, bias, friction, active, compliance, scale, sides] =
            columns.clone().map(|c| c.into_iter().map(|j| row[j]).collect::<Vec<f64>>());
        assert_eq!(sides, [4.0]);
        let n = bias.len();
        let problem = ContactProblem {
            inverse_inertia: &inertia,
            bias: &bias,
            friction: &friction,
            compliance: &compliance,
            force_scale: scale[0],
            cone: &cone,
            active: &active,
            regularisation: 0.0,
        };
        let (mut f, mut g) = (vec![0.0; n], vec![0.0; n]);
        for (solver, forces) in [
            (&mut active_set as &mut dyn ContactSolver, &mut f),
            (&mut clarabel as &mut dyn ContactSolver, &mut g),
        ] {
            let outcome = solver.solve(&problem, forces);
            assert_eq!(outcome.status, Status::Solved, "row {i}");
            let residual = kkt::natural_residual(&problem, forces, &mut vec![0.0; n]) / WEIGHT;
            assert!(residual < 1e-6, "row {i}: residual {residual:.1e}");
        }
        let worst = f.iter().zip(&g).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-4 * WEIGHT, "row {i}: forces differ by {worst:.1e} N");
        replayed += 1;
    }
    assert!(replayed > 400);
}

#[test]
fn two_feet_regenerate_the_subgraph_with_two_copies() {
    let count =
        |program: &Program| program.nodes.iter().filter(|node| node.kind == "ContactPoint").count();
    assert_eq!(count(&program(STAND, &[], &[])), 4);
    let two = program(STAND, &[("robots.go.feet", "[FL_foot, HR_foot]")], &[]);
    assert_eq!(count(&two), 2);
    for path in ["foot[FL_foot].point", "foot[HR_foot].point"] {
        assert!(two.expanded.contains(path), "no {path} in the listing");
    }
    assert!(!two.expanded.contains("foot[FR_foot]"));
}

/// Semantics 8.2 on the real robot.
#[test]
fn run_against_run_and_against_stepped_run_are_byte_equal() {
    for file in [STAND, "diagrams/quadruped/stand_acceleration.ron"] {
        let program = program(file, &[], &[]);
        let (_, first) = record(&program, false);
        assert!(first == record(&program, false).1, "{file}: run against run");
        assert!(first == record(&program, true).1, "{file}: run against stepped run");
    }
}

#[test]
fn the_acceleration_level_stands_too() {
    let mut simulation =
        Simulation::new(program("diagrams/quadruped/stand_acceleration.ron", &[], &[]));
    simulation.run().unwrap();
    assert_eq!(failed_checks(&simulation), [""; 0]);
}
