//! After the first major step nothing allocates: no output, update, derivative or guard of a block,
//! and nothing in the engine (semantics 2.2). The recorder and Clarabel, which is not ours, are
//! counted apart.

#![allow(clippy::print_stdout, reason = "the counts are worth reading")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use allocation_counter::measure;
use legwork::Disk;
use legwork_block::{In, Inputs, Invalid, Out, Outcome, Outputs, Ports, Pure, Real, Registry};
use legwork_diagram::{Options, compile};
use legwork_program::Program;
use legwork_qp::Method;
use legwork_runtime::recording::{ChunkPolicy, Metadata, Recorder, Sink};
use legwork_runtime::{Cursor, Simulation, channels};
use schemars::JsonSchema;
use serde::Deserialize;

const STAND: &str = "diagrams/quadruped/stand.ron";
const STAND_ACCELERATION: &str = "diagrams/quadruped/stand_acceleration.ron";

/// Allocates in `output`, to show that the count sees it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Leaky {}

impl Pure for Leaky {
    const KIND: &'static str = "Leaky";
    type Plan = (In<Real>, Out<Real>);

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        Ok((ports.input("u", &Real), ports.output("y", &Real)))
    }

    fn output(&self, plan: &Self::Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let copy = std::hint::black_box(vec![inputs.get(plan.0)]);
        outputs.set(plan.1, copy[0]);
        Ok(())
    }
}

fn compiled(path: &Path, text: &[u8], variants: &[(&str, &str)]) -> Arc<Program> {
    let mut registry = Registry::default();
    legwork_blocks::register(&mut registry);
    registry.block::<Leaky>("Leaky()");
    let variants = variants.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    let options = Options { variants, ..Options::default() };
    let compiled = compile(path, text, &options, &registry, &Disk);
    let shown = legwork_diagram::render::to_text(&compiled.diagnostics, &compiled.sources);
    Arc::new(compiled.program.unwrap_or_else(|| panic!("{shown}")))
}

fn program(file: &str, variants: &[(&str, &str)]) -> Arc<Program> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    compiled(&path, &std::fs::read(&path).unwrap(), variants)
}

/// Allocations of a whole run after its first major step, and how many steps these were.
fn count(program: &Arc<Program>, recorder: Option<Recorder>) -> (u64, u64) {
    let mut simulation = Simulation::new(Arc::clone(program));
    if let Some(recorder) = recorder {
        simulation.observer_mut().record_to(recorder);
    }
    simulation.step().unwrap_or_else(|fault| panic!("{fault}"));
    let mut steps = 0;
    let info = measure(|| {
        while simulation.cursor() != Cursor::Done {
            simulation.step().unwrap_or_else(|fault| panic!("{fault}"));
            steps += 1;
        }
    });
    (info.count_total, steps)
}

/// Allocations after the first major step, by the phase and the first block that may be due.
fn allocations_by_block(program: &Arc<Program>) -> BTreeMap<String, u64> {
    let mut simulation = Simulation::new(Arc::clone(program));
    simulation.step().unwrap_or_else(|fault| panic!("{fault}"));
    let mut found = BTreeMap::new();
    while simulation.cursor() != Cursor::Done {
        let phase = match simulation.cursor() {
            Cursor::Output(_) => "output",
            Cursor::Update(_) => "update",
            Cursor::Guards => "guards",
            Cursor::Observe => "observe",
            Cursor::Integrate => "integrate",
            Cursor::Done => "done",
        };
        let place = format!("{phase} {}", simulation.next_block().unwrap_or_default());
        let info = measure(|| {
            simulation.advance().unwrap_or_else(|fault| panic!("{fault}"));
        });
        if info.count_total > 0 {
            *found.entry(place).or_insert(0) += info.count_total;
        }
    }
    found
}

fn assert_none(name: &str, program: &Arc<Program>) {
    let (allocations, steps) = count(program, None);
    println!("{name}: {allocations} allocations in {steps} steps");
    assert!(steps > 0, "{name}: no step was counted");
    assert_eq!(allocations, 0, "{name}: {:?}", allocations_by_block(program));
}

#[test]
fn s2_2_the_count_sees_an_allocation_of_a_block() {
    let text = br#"Diagram(run: (stop: "10 ms", step: "1 ms"), blocks: {
        "wave": Sine(amplitude: 1.0, frequency: "1 Hz"),
        "leak": Leaky(in: { "u": "wave.y" }),
    })"#;
    let program = compiled(Path::new("leak.ron"), text, &[]);
    assert_eq!(count(&program, None), (10, 10));
    assert_eq!(allocations_by_block(&program).values().sum::<u64>(), 10);
}

#[test]
fn s2_2_standing_allocates_nothing_after_the_first_step() {
    assert_none("stand", &program(STAND, &[]));
}

/// Clarabel alone allocates, which is not ours.
#[test]
fn s2_2_standing_by_any_solver_allocates_nothing_after_the_first_step() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(STAND);
    let text = std::fs::read_to_string(&path).unwrap();
    for method in Method::convex().filter(|method| !method.allocates) {
        let block = format!("{}()", method.kind);
        let solved = text.replacen("ActiveSetQp()", &block, 1);
        assert_none(&format!("stand, {block}"), &compiled(&path, solved.as_bytes(), &[]));
    }
}

#[test]
fn s2_2_standing_on_springs_allocates_nothing_after_the_first_step() {
    assert_none("stand, contact=hertz", &program(STAND, &[("contact", "hertz")]));
}

#[test]
fn s2_2_standing_by_accelerations_allocates_nothing_after_the_first_step() {
    assert_none("stand_acceleration", &program(STAND_ACCELERATION, &[]));
}

/// Three to four calls per step, each of a solver with a warm start.
#[test]
fn s2_2_closed_loops_allocate_nothing_after_the_first_step() {
    assert_none("tied feet", &program("diagrams/quadruped/tied_feet.ron", &[]));
    assert_none("landing", &program("tests/data/run/landing.ron", &[]));
}

#[test]
fn s6_2_calls_of_functions_allocate_nothing_after_the_first_step() {
    let sliding = program("diagrams/floating_base/slope.ron", &[("slip", "de_saxce")]);
    assert!(sliding.nodes.iter().any(|node| !node.functions.is_empty()));
    assert_none("slope, slip=de_saxce", &sliding);
}

/// Plans its sparse factor anew where contacts come and go, as all sparse factors do.
const PLANS: &str = "heap.ron";

/// Every diagram of a folder but [`PLANS`].
fn assert_none_in(folder: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut names: Vec<String> = std::fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".ron") && name != PLANS)
        .collect();
    names.sort();
    assert!(!names.is_empty());
    for name in &names {
        assert_none(name, &program(&format!("{folder}/{name}"), &[]));
    }
}

#[test]
fn s2_2_basic_diagrams_allocate_nothing_after_the_first_step() {
    assert_none_in("diagrams/basics");
}

/// Contacts of patches, with height fields, moving ground and other bodies, and limits of joints.
#[test]
fn s2_2_contacts_allocate_nothing_after_the_first_step() {
    assert_none_in("diagrams/contact");
    assert_none("moving_ground", &program("tests/data/run/moving_ground.ron", &[]));
}

#[test]
fn s2_2_motors_and_sensors_allocate_nothing_after_the_first_step() {
    assert_none("sensors", &program("diagrams/quadruped/sensors.ron", &[]));
}

#[test]
fn s2_2_signal_blocks_allocate_nothing_after_the_first_step() {
    assert_none_in("diagrams/signals");
    assert_none("signal_blocks", &program("tests/data/run/signal_blocks.ron", &[]));
}

/// As drawn: closed loops, worlds, impacts, inverse dynamics.
#[test]
fn s2_2_robots_allocate_nothing_after_the_first_step() {
    for folder in ["floating_base", "inverse_dynamics", "quadruped"] {
        assert_none_in(&format!("diagrams/{folder}"));
    }
}

#[test]
fn s2_2_implicit_springs_allocate_nothing_after_the_first_step() {
    for name in ["foundation", "pendulum", "limit", "ramp", "joints", "touchdown"] {
        assert_none(name, &program(&format!("diagrams/constraint_solver/{name}.ron"), &[]));
    }
}

/// Memory for contacts grows as they come, by doubling, and is kept: what falls apart and piles up
/// allocates in few steps.
#[test]
fn free_bodies_allocate_as_contacts_come_and_not_by_step() {
    for method in ["constraints", "gauss", "compliant"] {
        let stack = program("diagrams/constraint_solver/stack.ron", &[("method", method)]);
        let (allocations, steps) = count(&stack, None);
        println!("stack, method={method}: {allocations} allocations in {steps} steps");
        assert!(allocations < steps / 3, "{method}: {:?}", allocations_by_block(&stack));
    }
}

#[test]
fn s2_2_inverse_dynamics_with_contact_allocates_nothing_after_the_first_step() {
    for controller in ["qp_mu", "qp_mu_null_space", "lcp_mu", "lcp_inf"] {
        let variants = [("controller", controller)];
        assert_none(controller, &program("diagrams/inverse_dynamics/contacts.ron", &variants));
    }
    for name in ["biped", "hold", "wipe"] {
        assert_none(name, &program(&format!("diagrams/inverse_dynamics/{name}.ron"), &[]));
    }
}

/// Feet that come within reach long after the first step.
#[test]
fn s2_2_inverse_dynamics_that_lands_allocates_nothing_after_the_first_step() {
    let file = "diagrams/inverse_dynamics/contacts.ron";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let (low, high) = (r#"position: [0, 0, "=height"]"#, r#"position: [0, 0, "=height + 3[cm]"]"#);
    assert_eq!(text.matches(low).count(), 1);
    let dropped = text.replace(low, high);
    for controller in ["qp_mu", "qp_mu_null_space", "qp_inf", "lcp_mu", "lcp_inf"] {
        let program = compiled(&path, dropped.as_bytes(), &[("controller", controller)]);
        assert_none(&format!("dropped, {controller}"), &program);
    }
}

/// Closing a chunk may allocate, a row may not: far fewer allocations than steps. The stream drops
/// what it gets, but unlike `Sink::null` rows are written to it.
#[test]
fn recording_allocates_by_chunk_and_not_by_row() {
    let program = program(STAND, &[]);
    let recorder = Recorder::create(
        Sink::stream(std::io::sink()),
        &channels(&program),
        &Metadata::default(),
        ChunkPolicy::default(),
    )
    .unwrap();
    let (allocations, steps) = count(&program, Some(recorder));
    println!("stand, recorded: {allocations} allocations in {steps} steps");
    assert!(allocations > 0, "no chunk was closed: nothing was written");
    assert!(allocations < steps / 3, "{allocations} allocations in {steps} steps");
}

/// Clarabel allocates in each solve; nothing else does.
#[test]
fn only_the_solve_of_clarabel_allocates() {
    let program = program(STAND, &[("qp", "clarabel")]);
    let (allocations, steps) = count(&program, None);
    println!("stand, qp=clarabel: {allocations} allocations in {steps} steps");
    let places: Vec<String> = allocations_by_block(&program).into_keys().collect();
    assert_eq!(places, ["output contact.solve"]);
}

/// Every algorithm of mechanics, in a second call at another state.
#[test]
fn mechanics_allocates_nothing() {
    use legwork_mechanics as m;
    let text = std::fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("diagrams/robots/icub/icub.urdf"),
    )
    .unwrap();
    let (model, _) = m::Model::from_urdf_text(&text, &m::Options::new(m::Base::Floating)).unwrap();
    let (nv, n, nq) = (model.velocity_dim(), model.joint_dim(), model.configuration_dim());
    let (foot, hand) = (model.find_frame("l_sole").unwrap(), model.find_frame("r_hand").unwrap());
    let mut kinematics = m::Kinematics::new(&model);
    let mut workspace = m::InverseDynamics::new(&model);
    let (mut mass, mut factor) = (m::MassMatrix::new(&model), m::MassFactor::new(&model));
    let mut bodies = m::ArticulatedBody::new(&model);
    let mut inverse = m::InverseMass::new(&model);
    let mut derivatives = m::Derivatives::new(&model);
    let mut delassus = m::WeightedJacobian::new(model.velocity_dim(), 6);
    let mut constrained = m::ConstrainedDynamics::new(&model, 6);
    let (mut x, mut h, mut q) = (vec![0.0; nv], vec![0.0; nv], model.zero_configuration());
    let (mut a, mut b, mut c) = (vec![0.0; nv * nv], vec![0.0; nv * nv], vec![0.0; nv * n]);
    let (mut jacobian, mut g, mut lambda) = (vec![0.0; 6 * nv], vec![0.0; 36], vec![0.0; 6]);
    let (nu, tau, external) = (vec![0.3; nv], vec![0.2; n], vec![0.1; nv]);
    let mut next = vec![0.0; nq];
    let mut all = || {
        m::integrate(&model, &q, &nu, &mut next);
        q.copy_from_slice(&next);
        kinematics.update(&model, &q, &nu);
        m::mass_matrix(&model, &kinematics, &mut mass);
        m::bias_force(&model, &kinematics, &mut workspace, &mut h);
        m::coriolis_force(&model, &kinematics, &mut workspace, &mut x);
        m::gravity_force(&model, &kinematics, &mut x);
        m::inverse_dynamics(&model, &kinematics, &nu, &mut workspace, &mut x);
        factor.factorize(&mass).unwrap();
        factor.write_inverse(&mut inverse, &mut a);
        m::articulated_body(&model, &kinematics, &tau, &external, &mut bodies, &mut x).unwrap();
        m::forward_dynamics_derivatives(
            &model,
            &kinematics,
            &factor,
            &x,
            &mut derivatives,
            &mut a,
            &mut b,
            &mut c,
        );
        m::relative_jacobian(&model, &kinematics, foot, hand, &mut jacobian);
        m::centroidal_momentum_matrix(&model, &kinematics, &mut jacobian);
        m::frame_jacobian(&model, &kinematics, foot, &mut jacobian);
        m::contact_inverse_inertia(&factor, &jacobian, 6, &mut delassus, &mut g);
        let problem = m::ConstraintProblem {
            jacobian: &jacobian,
            bias: &[0.0; 6],
            bias_force: &h,
            joint_torques: &tau,
            external_force: &external,
        };
        m::constrained_forward_dynamics(
            &model,
            &factor,
            &problem,
            &mut constrained,
            &mut lambda,
            &mut x,
        )
        .rank
    };
    assert_eq!(all(), 6);
    assert_eq!(measure(|| assert_eq!(all(), 6)).count_total, 0);
}

/// Inputs are written, steps done, outputs read, in a second episode.
#[test]
fn s11_3_a_stepper_allocates_nothing_per_step() {
    let library = legwork::study::Library::new(legwork_blocks::register);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for file in ["diagrams/basics/drive.ron", "diagrams/basics/gantry.ron", STAND] {
        let opened = library.open(root.join(file)).unwrap_or_else(|error| panic!("{error}"));
        let model = opened.compile().into_model().unwrap_or_else(|error| panic!("{error}"));
        let mut stepper = model.stepper().unwrap();
        let names: Vec<String> =
            stepper.program().inputs.iter().map(|input| input.name.clone()).collect();
        let inputs: Vec<_> = names.iter().map(|name| stepper.input(name).unwrap()).collect();
        let names: Vec<String> =
            stepper.program().outputs.iter().map(|output| output.name.clone()).collect();
        let mut outputs: Vec<_> = names.iter().map(|name| stepper.output(name).unwrap()).collect();
        if file == STAND {
            outputs.push(stepper.signal("body.state.base.position").unwrap());
        }
        assert!(file == STAND || !inputs.is_empty() || file.contains("gantry"), "{file}");
        let episode = |stepper: &mut legwork::study::Stepper| {
            let mut sum = 0.0;
            for k in 0..50 {
                for &input in &inputs {
                    stepper.write(input, &[0.01 * f64::from(k)]).unwrap();
                }
                stepper.step(2).unwrap();
                sum += outputs.iter().map(|&output| stepper.read(output)[0]).sum::<f64>();
            }
            sum
        };
        stepper.step(1).unwrap();
        let first = episode(&mut stepper);
        stepper.reset().unwrap();
        // Solvers without a past make room for one.
        stepper.step(1).unwrap();
        let mut second = 0.0;
        let info = measure(|| second = episode(&mut stepper));
        assert_eq!(first.to_bits(), second.to_bits(), "{file}");
        assert_eq!(info.count_total, 0, "{file}");
    }
}

/// What looks at few signals computes those as who looks at all does, and nothing else.
#[test]
fn s11_3_a_lean_stepper_shows_the_same_bits() {
    let library = legwork::study::Library::new(legwork_blocks::register);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cases = [
        (STAND, "body.state"),
        ("diagrams/quadruped/trot.ron", "body.state"),
        ("diagrams/quadruped/trot.ron", "behind"),
        ("diagrams/floating_base/stand.ron", "sim.f"),
    ];
    for (file, path) in cases {
        let opened = library.open(root.join(file)).unwrap_or_else(|error| panic!("{error}"));
        let model = opened.compile().into_model().unwrap_or_else(|error| panic!("{error}"));
        let mut full = model.stepper().unwrap();
        let seen = full.signal(path).unwrap();
        let (mut lean, handles) = model.lean_stepper(&[path.to_owned()]).unwrap();
        let (asked, others) = handles.split_last().unwrap();
        assert_eq!(others.len(), model.program().outputs.len(), "{file}");
        let leaves = full.describe(seen).slots.len();
        let bits = |stepper: &legwork::study::Stepper, output| {
            let leaves = (0..leaves).flat_map(move |leaf| stepper.leaf(output, leaf));
            leaves.map(|x| x.to_bits()).collect::<Vec<u64>>()
        };
        for _ in 0..200 {
            full.step(1).unwrap();
            lean.step(1).unwrap();
            assert_eq!(bits(&full, seen), bits(&lean, *asked), "{file}");
        }
        assert_eq!(measure(|| lean.step(50).unwrap()).count_total, 0, "{file}");
        full.step(50).unwrap();
        let mut other = lean.another().unwrap();
        other.step(250).unwrap();
        assert_eq!(bits(&full, seen), bits(&other, *asked), "{file}");
        let unasked = if file == STAND { "pd.tau" } else { "sim.wrench" };
        let unasked = if file.ends_with("trot.ron") { "pd.tau" } else { unasked };
        let error = lean.signal(unasked).unwrap_err().to_string();
        assert!(error.contains("was not asked for"), "{file}: {error}");
    }
}
