//! The main case: Mini Cheetah drops, lands and stands; solvers and contact models are swapped
//! without touching a file.

use std::sync::Arc;

use legwork_diagram::Options;
use legwork_program::Program;
use legwork_qp::{
    ClarabelSolver, Cone, ConeShape, ContactMethod, ContactProblemData, DEFAULT_REGULARISATION,
    PrincipalPivotingSolver, PyramidActiveSet, PyramidFit, Status, kkt,
};
use legwork_runtime::recording::Recording;
use legwork_runtime::{Cursor, Simulation};

use super::harness::{
    Case, Pairs, compile_text, in_repository, passes_with_every_choice, program_of, recorder,
};

const STAND: &str = "diagrams/quadruped/stand.ron";
/// When the feet touch, dropped from 5 cm: √(2·0.05/9.81) = 0.101 s.
const TOUCHDOWN: f64 = 0.101;
const WEIGHT: f64 = 8.252 * 9.81;

fn case<'a>(file: &'a str, set: Pairs<'a>, variants: Pairs<'a>) -> Case<'a> {
    Case { file, set, variants, patches: &[] }
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

#[test]
fn it_stands_after_drops_of_48_to_52_mm() {
    for height in ["48 mm", "49 mm", "50 mm", "51 mm", "52 mm"] {
        case(STAND, &[("drop", height)], &[]).passes();
    }
}

#[test]
fn every_solver_and_contact_model_makes_it_stand() {
    passes_with_every_choice(STAND);
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

/// The cone of the paper, in the place of the default.
const PYRAMID: (&str, &str) = ("variants.contact.choices.gauss.cone", "Pyramid()");
/// The law with one solution, which methods can be compared by.
const CONVEX: (&str, &str) = ("variants.contact.choices.gauss.sliding", "Convex");
const SOLVER_LOG: (&str, &str) = ("log", r#"["body.state", "contact.f", "contact.solve.status"]"#);

#[test]
fn active_set_and_clarabel_agree_until_after_the_landing() {
    // On a curved cone interior points are as accurate as the root of their tolerance, 1e-10, where
    // a force leaves the boundary.
    for (cone, bound) in [(PYRAMID.1, 1e-6), ("Circular", 1e-5)] {
        let run = |qp| {
            let set = [SOLVER_LOG, (PYRAMID.0, cone), CONVEX];
            let program = case(STAND, &set, &[("qp", qp)]).program();
            Recording::from_bytes(record(&program, false).1).unwrap()
        };
        let (active_set, clarabel) = (run("active_set"), run("clarabel"));
        let until = TOUCHDOWN + 0.2;
        let state = apart(&active_set, &clarabel, "body.state", until);
        assert!(state < bound, "{cone}: states differ by {state:.1e}");
        let forces = apart(&active_set, &clarabel, "contact.f", until);
        assert!(forces < 1e2 * bound * WEIGHT, "{cone}: forces differ by {forces:.1e} N");
        for (name, recording) in [("active_set", &active_set), ("clarabel", &clarabel)] {
            let status = recording.series("contact.solve.status").unwrap();
            for i in 0..status.len() {
                assert_eq!(status.row(i).values, [0.0], "{cone}, {name}: status in row {i}");
            }
        }
    }
}

/// The contact problems that a run recorded.
fn problems(recording: &Recording, topic: &str) -> Vec<ContactProblemData> {
    let series = recording.series(topic).unwrap();
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
    let cone = ConeShape::new(Cone::Pyramid { sides: 4, fit: PyramidFit::Inscribed }).unwrap();
    let problem = |i: usize| {
        let row = series.row(i).values;
        let [inverse_inertia, bias, friction, active, compliance, scale, sides] =
            columns.clone().map(|c| c.into_iter().map(|j| row[j]).collect::<Vec<f64>>());
        assert_eq!(sides, [4.0]);
        ContactProblemData {
            inverse_inertia,
            bias,
            friction,
            active,
            compliance,
            force_scale: scale[0],
            regularisation: 0.0,
            cone: cone.clone(),
        }
    };
    (0..series.len()).map(problem).collect()
}

/// The same recorded problems through both solvers: both solve them, by one judge of residuals,
/// and give the same forces.
#[test]
fn recorded_problems_replay_equally_through_both_solvers() {
    let set = [("log", r#"["contact.assemble.problem"]"#), PYRAMID, CONVEX];
    let program = case(STAND, &set, &[]).program();
    let recording = Recording::from_bytes(record(&program, false).1).unwrap();
    let mut active_set = PyramidActiveSet::new(4, 4);
    let mut clarabel = ClarabelSolver::new(1e-10, 100);
    let mut replayed = 0;
    let problems = problems(&recording, "contact.assemble.problem");
    for (i, problem) in problems.iter().enumerate().step_by(7) {
        let (problem, n) = (problem.view(), problem.bias.len());
        let (mut f, mut g) = (vec![0.0; n], vec![0.0; n]);
        for (solver, forces) in [
            (&mut active_set as &mut dyn ContactMethod, &mut f),
            (&mut clarabel as &mut dyn ContactMethod, &mut g),
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

/// iCub falls 5 mm on its two soles of four corners each: 24 rows for 38 coordinates, of which the
/// soles can move 12, so half of the contacts are redundant.
const ICUB: &str = r#"Diagram(
    format: 2,
    run: (stop: "80 ms", step: "1 ms", solver: SemiImplicitEuler),
    robots: { "icub": Urdf(path: "robots/icub/icub.urdf", base: Floating, feet: ["l_sole", "r_sole"]) },
    blocks: {
        "idle": Constant(value: "=zeros(icub.n)"),
        "corner": ForEach(
            over: {
                "i": [0, 1, 2, 3, 4, 5, 6, 7],
                "sole": ["l_sole", "l_sole", "l_sole", "l_sole", "r_sole", "r_sole", "r_sole", "r_sole"],
                "x": [-0.06, 0.1, -0.06, 0.1, -0.06, 0.1, -0.06, 0.1],
                "y": [-0.03, -0.03, 0.03, 0.03, -0.03, -0.03, 0.03, 0.03],
            },
            body: { "point": ContactPoint(robot: "icub", frame: "=sole", shape: Point, at: ["=x", "=y", 0.0], in: { "state": "body.state" }) },
            collect: { "points": Array("point.contact"), "J": Stack("point.jacobian") },
        ),
        "dyn": RobotDynamics(robot: "icub", in: { "state": "body.state" }),
        "contact": Mask(
            file: "std:masks/gauss_contact.ron", robot: "icub", mu: 0.5, cone: Pyramid(), sliding: Convex, qp: PrincipalPivoting(),
            in: { "dynamics": "dyn.bus", "points": "corner.points", "tau": "idle.y" },
        ),
        "accel": ForwardDynamics(robot: "icub", in: { "state": "body.state", "tau": "idle.y", "J": "corner.J", "f": "contact.f" }),
        "body": FloatingBase(robot: "icub", init: (place: FeetAbove("5 mm")), in: { "nu_dot": "accel.nu_dot" }),
    },
    log: ["contact.assemble.problem", "contact.f", "contact.solve.status"],
)"#;

/// Principal pivoting in a diagram works on J and the factor of M. The oracle is the same method on
/// the dense matrix of the problem, and the judge of residuals.
#[test]
fn pivoting_with_the_mass_agrees_with_the_dense_form_on_mini_cheetah_and_icub() {
    let log = r#"["contact.assemble.problem", "contact.f", "contact.solve.status"]"#;
    let set = [("log", log), ("run.stop", "0.4 s"), PYRAMID, CONVEX];
    let cheetah = case(STAND, &set, &[("qp", "ppm")]).program();
    // Its robot is found as in the diagrams.
    let here = in_repository("diagrams/icub.ron");
    let icub = program_of(compile_text(&here, ICUB.as_bytes(), &Options::default()));
    for (name, program) in [("mini cheetah", cheetah), ("icub", icub)] {
        let recording = Recording::from_bytes(record(&program, false).1).unwrap();
        let forces = recording.series("contact.f").unwrap();
        let status = recording.series("contact.solve.status").unwrap();
        let problems = problems(&recording, "contact.assemble.problem");
        let k = problems[0].friction.len();
        let mut dense = PrincipalPivotingSolver::new(k, 4);
        let mut loaded = 0;
        for (i, data) in problems.iter().enumerate() {
            let (problem, n) = (data.view(), 3 * k);
            let found = forces.row(i).values;
            assert_eq!(status.row(i).values, [0.0], "{name}, row {i}");
            let mut expected = vec![0.0; n];
            assert_eq!(dense.solve(&problem, &mut expected).status, Status::Solved);
            let residual = kkt::natural_residual(&problem, &found, &mut vec![0.0; n]);
            assert!(residual < 1e-8, "{name}, row {i}: residual {residual:.1e}");
            // The effect of the forces is determined; their distribution among redundant contacts
            // follows from the regularisation alone, which magnifies rounding.
            let apart = |a: &[f64], b: &[f64]| {
                a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
            };
            let (mut a, mut b) = (vec![0.0; n], vec![0.0; n]);
            problem.acceleration_into(&found, &mut a);
            problem.acceleration_into(&expected, &mut b);
            let relative = apart(&a, &b) / problem.acceleration_scale();
            assert!(relative < 1e-9, "{name}, row {i}: accelerations differ by {relative:.1e}");
            let largest = expected.iter().fold(0.0, |m: f64, f| m.max(f.abs()));
            let tolerance = 100.0 * f64::EPSILON / DEFAULT_REGULARISATION;
            let worst = apart(&found, &expected);
            assert!(
                worst <= tolerance * largest.max(problem.force_scale),
                "{name}, row {i}: forces differ by {worst:.1e} N of {largest:.1e} N"
            );
            loaded += usize::from(largest > 0.0);
        }
        assert!(loaded > 30, "{name}: only {loaded} problems carry load");
    }
}

#[test]
fn two_feet_regenerate_the_subgraph_with_two_copies() {
    let count =
        |program: &Program| program.nodes.iter().filter(|node| node.kind == "ContactPoint").count();
    assert_eq!(count(&case(STAND, &[], &[]).program()), 4);
    let two = case(STAND, &[("robots.go.feet", "[FL_foot, HR_foot]")], &[]).program();
    assert_eq!(count(&two), 2);
    for path in ["foot[FL_foot].point", "foot[HR_foot].point"] {
        assert!(two.expanded().contains(path), "no {path} in the listing");
    }
    assert!(!two.expanded().contains("foot[FR_foot]"));
}

/// Semantics 8.2 on the real robot.
#[test]
fn run_against_run_and_against_stepped_run_are_byte_equal() {
    for file in [STAND, "diagrams/quadruped/stand_acceleration.ron"] {
        let program = case(file, &[], &[]).program();
        let (_, first) = record(&program, false);
        assert!(first == record(&program, false).1, "{file}: run against run");
        assert!(first == record(&program, true).1, "{file}: run against stepped run");
    }
}

/// Semantics 8.2 for every method that may solve the contact problem: ten runs, one recording.
#[test]
fn s8_2_ten_runs_with_each_solver_are_byte_equal() {
    let choices: Vec<String> = case(STAND, &[], &[]).choices()["qp"].clone();
    assert!(choices.len() >= 6, "{choices:?}");
    let mut recordings = Vec::new();
    for qp in &choices {
        // Beyond the landing at 0.1 s, where forces and warm starts matter.
        let stop = ("run.stop", "0.16 s");
        let program = case(STAND, &[SOLVER_LOG, stop], &[("qp", qp)]).program();
        let (simulation, first) = record(&program, false);
        let reports = simulation.reports();
        let solver = &reports.iter().find(|(path, _)| *path == "contact.solve").unwrap().1;
        assert!((solver.solver_calls, solver.solver_failures) == (160, 0), "{qp}");
        for run in 1..10 {
            assert!(first == record(&program, false).1, "{qp}: run {run} differs from run 0");
        }
        recordings.push(first);
    }
    // The methods differ.
    for (i, one) in recordings.iter().enumerate() {
        assert!(recordings[..i].iter().all(|other| other != one), "{} is another", choices[i]);
    }
}

#[test]
fn the_acceleration_level_stands_too() {
    case("diagrams/quadruped/stand_acceleration.ron", &[], &[]).passes();
}
