//! The floating-base simulator: robots on their feet, closed chains, slopes, other bodies.

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use legwork_block::Registry;
use legwork_diagram::{Compiled, Options, ReadFile, compile};
use legwork_program::Program;
use legwork_runtime::recording::{ChunkPolicy, Metadata, Recorder, Recording, Sink};
use legwork_runtime::{Simulation, channels};

struct Disk;

impl ReadFile for Disk {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        std::fs::read(path)
    }
}

fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("diagrams/floating_base").join(file)
}

fn compiled(file: &str, options: &Options) -> Compiled {
    let mut registry = Registry::default();
    legwork_blocks::register(&mut registry);
    let path = path(file);
    compile(&path, &std::fs::read(&path).unwrap(), options, &registry, &Disk)
}

fn program_of(file: &str, options: &Options) -> Arc<Program> {
    let compiled = compiled(file, options);
    let shown = legwork_diagram::render::to_text(&compiled.diagnostics, &compiled.sources);
    Arc::new(compiled.program.unwrap_or_else(|| panic!("{file}: {shown}")))
}

/// Options as on the command line.
fn with(set: &[(&str, &str)], variants: &[(&str, &str)], patches: &[&str]) -> Options {
    let own = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect::<Vec<_>>()
    };
    let patches = patches.iter().map(|file| path(file).display().to_string()).collect();
    Options { set: own(set), variants: own(variants), patches, ..Options::default() }
}

fn failed_checks(simulation: &Simulation) -> Vec<&str> {
    let checks = &simulation.program().checks;
    let states = simulation.observer().checks();
    checks.iter().zip(states).filter(|(_, s)| !s.passed).map(|(c, _)| c.name.as_str()).collect()
}

fn passes(file: &str, options: &Options) -> Simulation {
    let mut simulation = Simulation::new(program_of(file, options));
    simulation.run().unwrap_or_else(|fault| panic!("{file}: {fault}"));
    let (variants, set) = (&options.variants, &options.set);
    assert_eq!(failed_checks(&simulation), [""; 0], "{file} {variants:?} {set:?}");
    simulation
}

/// What the blocks report at the end, by name.
fn metrics(simulation: &Simulation) -> BTreeMap<String, f64> {
    let mut all = BTreeMap::new();
    for (path, report) in simulation.reports() {
        for (name, value) in report.metrics {
            all.insert(format!("{path}.{name}"), value);
        }
    }
    all
}

fn record(file: &str, options: &Options) -> Recording {
    let program = program_of(file, options);
    let mut simulation = Simulation::new(Arc::clone(&program));
    let recorder = Recorder::create(
        Sink::memory(),
        &channels(&program),
        &Metadata::default(),
        ChunkPolicy::default(),
    );
    simulation.observer_mut().record_to(recorder.unwrap());
    simulation.run().unwrap();
    let written = simulation.observer_mut().finish_recording().unwrap().unwrap();
    Recording::from_bytes(written.memory.unwrap()).unwrap()
}

#[test]
fn every_diagram_passes_with_every_choice() {
    for file in [
        "icub_zero_torque.ron",
        "stand.ron",
        "rrbot.ron",
        "four_bar.ron",
        "five_bar.ron",
        "slope.ron",
        "moving_platform.ron",
        "movable_box.ron",
        "seesaw.ron",
        "on_the_pole.ron",
    ] {
        for (name, choices) in compiled(file, &Options::default()).variants {
            // Behind a cargo feature.
            let is_built = |choice: &String| choice != "osqp" || cfg!(feature = "osqp");
            for choice in choices.into_iter().filter(is_built) {
                passes(file, &with(&[], &[(&name, &choice)], &[]));
            }
        }
    }
}

/// Figure 3 of Guedelha et al.: the number of foot subgraphs follows the list of feet.
#[test]
fn other_robots_stand_by_a_patch_alone() {
    for (patches, feet) in [
        (&[][..], &["l_sole", "r_sole"][..]),
        (&["mini_cheetah.patch"], &["FL_foot", "FR_foot", "HL_foot", "HR_foot"]),
        (&["three_legs.patch"], &["FL_foot", "FR_foot", "HL_foot"]),
    ] {
        let simulation = passes("stand.ron", &with(&[], &[], patches));
        let paths = simulation.program().nodes.iter().map(|node| node.path.as_str());
        let patches: Vec<&str> = paths.filter(|path| path.ends_with("].patch")).collect();
        let expected: Vec<String> =
            feet.iter().map(|foot| format!("sim.foot[{foot}].patch")).collect();
        assert_eq!(patches, expected);
    }
}

/// Slides below tan 15° = 0.268, sticks above, under Coulomb's law and its convex form.
#[test]
fn a_box_slides_below_the_angle_of_friction_and_sticks_above() {
    for slip in ["de_saxce", "convex"] {
        for (low, high) in [("0", "0.3"), ("0.1", "0.5"), ("0.25", "1")] {
            let set = [("mu_low", low), ("mu_high", high), ("checks", SLOPE_CHECKS)];
            let simulation = passes("slope.ron", &with(&set, &[("slip", slip)], &[]));
            let metrics = metrics(&simulation);
            let normal = metrics["audit.worst_normal_complementarity"];
            let lift = metrics["audit.worst_convex_lift"];
            if slip == "convex" {
                // The relaxation pairs f_n v_n with μ f_n |v_t|.
                assert!((normal - lift).abs() < 1e-6 * lift.max(1.0), "{normal} {lift}");
            } else {
                assert!(normal < 1e-6, "{normal}");
            }
        }
    }
}

/// Without the box that stops, whose way depends on `mu_high`.
const SLOPE_CHECKS: &str = r#"{
    "slides": Finally(that: "=abs(bodies.state.slider.base.position[0]/cos(slope) - 0.05[m]*tan(slope) - 0.5*g*(sin(slope) - mu_low*cos(slope))*1[s^2]) < 0.01*0.5*g*(sin(slope) - mu_low*cos(slope))*1[s^2]"),
    "sticks": Always(that: "=norm(bodies.state.sticker.nu) < 1e-6"),
    "does not sink": Always(that: "=audit.penetration < 0.01[mm]"),
    "stays within 0.2 mm": Always(that: "=box[sliding].patch.contacts[0].gap < 0.2[mm] and box[sliding].patch.contacts[2].gap < 0.2[mm]"),
    "does not take off": Always(that: "=audit.reopenings == 0"),
}"#;

/// All fields of `KinDyn` are of one instant: the equation of motion holds among them.
#[test]
fn the_bus_of_kinematics_and_dynamics_is_of_one_instant() {
    for (patches, nv, feet) in [(&[][..], 29, 2), (&["mini_cheetah.patch"], 18, 4)] {
        let log = r#"["sim.kin_dyn", "pd.tau", "pushing.y"]"#;
        let set = [("log", log), ("run.stop", "1.3 s"), ("checks", "{}")];
        let recording = record("stand.ron", &with(&set, &[], patches));
        let [bus, tau, external] = ["sim.kin_dyn", "pd.tau", "pushing.y"]
            .map(|topic| recording.series(topic).unwrap_or_else(|_| panic!("{topic}")));
        let n = nv - 6;
        let mut worst = 0.0f64;
        for row in 0..bus.len() {
            let values = &bus.row(row).values;
            let mut rest = values.as_slice();
            let mut take = |len: usize| {
                let (field, behind) = rest.split_at(len);
                rest = behind;
                field
            };
            let [_, _, _, _, jacobian, _, mass, bias, _, forces, nu_dot, touching] =
                [16, n, nv, 16 * feet, 6 * feet * nv, 6 * feet, nv * nv, nv, n, 6 * feet, nv, feet]
                    .map(&mut take);
            // One sole of iCub stands a little higher than the other.
            let has_landed = bus.stamp(row).t > 0.1;
            let all = touching.iter().all(|&closed| closed == 1.0);
            assert!(!has_landed || all, "row {row}: {touching:?}");
            for i in 0..nv {
                let inertial: f64 = (0..nv).map(|k| mass[k * nv + i] * nu_dot[k]).sum();
                let rows = 6 * feet;
                let pushed: f64 = (0..rows).map(|r| jacobian[i * rows + r] * forces[r]).sum();
                let motor = if i < 6 { 0.0 } else { tau.row(row).values[i - 6] };
                let hand = external.row(row).values[i];
                worst = worst.max((inertial + bias[i] - motor - hand - pushed).abs());
            }
        }
        assert!(worst < 1e-8, "{worst:e}");
    }
}

/// Sixteen vertices of one rigid sole have rank six between them; no problem of a fall may fail.
#[test]
fn many_vertices_of_one_sole_are_solved() {
    for points in [8, 16] {
        let shape = format!("Circle(radius: \"6 cm\", points: {points})");
        let set = [("sim.shape", shape.as_str()), ("checks", "{}")];
        let mut simulation =
            Simulation::new(program_of("icub_zero_torque.ron", &with(&set, &[], &[])));
        simulation.run().unwrap();
        for (path, report) in simulation.reports() {
            assert_eq!(report.solver_failures, 0, "{path} with {points} vertices");
        }
    }
}
