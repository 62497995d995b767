//! The floating-base simulator: robots on their feet, closed chains, slopes, other bodies.

use super::harness::{Case, Pairs, failed_checks, last, metrics, passes_with_every_choice};

const SLOPE: &str = "diagrams/floating_base/slope.ron";
const ZERO_TORQUE: &str = "diagrams/floating_base/icub_zero_torque.ron";
const STAND: &str = "diagrams/floating_base/stand.ron";
/// Mini Cheetah in iCub's place.
const MINI_CHEETAH: &str = "diagrams/floating_base/mini_cheetah.patch";
const THREE_LEGS: &str = "diagrams/floating_base/three_legs.patch";
const GO2: &str = "diagrams/floating_base/go2.patch";
const ANYMAL: &str = "diagrams/floating_base/anymal_c.patch";
const TALOS: &str = "diagrams/floating_base/talos.patch";
/// Solo 12, of 2.5 kg.
const SOLO: &str = "diagrams/floating_base/solo12.patch";

fn with<'a>(file: &'a str, set: Pairs<'a>, variants: Pairs<'a>, patches: &'a [&str]) -> Case<'a> {
    Case { file, set, variants, patches }
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
        let file = format!("diagrams/floating_base/{file}");
        passes_with_every_choice(&file);
    }
}

/// Figure 3 of Guedelha et al.: the number of foot subgraphs follows the list of feet.
#[test]
fn other_robots_stand_by_a_patch_alone() {
    for (patches, feet) in [
        (&[][..], &["l_sole", "r_sole"][..]),
        (&[MINI_CHEETAH], &["FL_foot", "FR_foot", "HL_foot", "HR_foot"]),
        (&[THREE_LEGS], &["FL_foot", "FR_foot", "HL_foot"]),
        (&[GO2], &["FL_foot", "FR_foot", "RL_foot", "RR_foot"]),
        (&[ANYMAL], &["LF_FOOT", "LH_FOOT", "RF_FOOT", "RH_FOOT"]),
        (&[TALOS], &["left_sole_link", "right_sole_link"]),
        (&[SOLO], &["FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"]),
    ] {
        let simulation = with(STAND, &[], &[], patches).passes();
        let paths = simulation.program().nodes.iter().map(|node| node.path.as_str());
        let patches: Vec<&str> = paths.filter(|path| path.ends_with("].patch")).collect();
        let expected: Vec<String> =
            feet.iter().map(|foot| format!("sim.foot[{foot}].patch")).collect();
        assert_eq!(patches, expected);
    }
    // Contact that knows no gap: a foot that starts above ground would fall for a step.
    with(STAND, &[], &[("contact", "acceleration")], &[THREE_LEGS]).passes();
}

/// The balls of ANYmal's feet, stated by radius and place, carry it as those of its file do, of
/// which the tubes above touch nothing.
#[test]
fn feet_stated_by_shape_and_place_stand_as_those_of_the_file() {
    let ball = [("shape", "Sphere(radius: \"3 cm\")"), ("sim.at", "[0, 0, \"22.5 mm\"]")];
    let state = |set| last(&with(STAND, set, &[], &[ANYMAL]).record(), "sim.state");
    let (stated, read) = (state(&ball), state(&[]));
    for (a, b) in stated.iter().zip(&read) {
        assert!((a - b).abs() < 1e-9, "{stated:?} {read:?}");
    }
    // Without the place they are others.
    let elsewhere = with(STAND, &ball[..1], &[], &[ANYMAL]).simulate();
    assert_ne!(failed_checks(&elsewhere), [""; 0]);
}

/// Slides below tan 15° = 0.268, sticks above, under Coulomb's law and its convex form.
#[test]
fn a_box_slides_below_the_angle_of_friction_and_sticks_above() {
    for slip in ["coulomb", "de_saxce", "convex"] {
        for (low, high) in [("0", "0.3"), ("0.1", "0.5"), ("0.25", "1")] {
            let set = [("mu_low", low), ("mu_high", high), ("checks", SLOPE_CHECKS)];
            let simulation = with(SLOPE, &set, &[("slip", slip)], &[]).passes();
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

/// Without the box that stops, whose distance depends on `mu_high`.
const SLOPE_CHECKS: &str = r#"{
    "slides": Finally(that: "=abs(bodies.state.slider.base.position[0]/cos(slope) - 0.05[m]*tan(slope) - 0.5*g*(sin(slope) - mu_low*cos(slope))*1[s^2]) < 0.01*0.5*g*(sin(slope) - mu_low*cos(slope))*1[s^2]"),
    "sticks": Always(that: "=norm(bodies.state.sticker.nu) < 1e-6"),
    "does not sink": Always(that: "=audit.penetration < 0.01[mm]"),
    "stays within 0.2 mm": Always(that: "=box[sliding].patch.contacts[0].gap < 0.2[mm] and box[sliding].patch.contacts[2].gap < 0.2[mm]"),
    "does not take off": Always(that: "=audit.reopenings == 0"),
}"#;

/// All fields of `KinDyn` belong to one instant: the equation of motion holds among them.
#[test]
fn the_bus_of_kinematics_and_dynamics_is_of_one_instant() {
    for (patches, nv, feet) in [(&[][..], 29, 2), (&[MINI_CHEETAH], 18, 4)] {
        let log = r#"["sim.kin_dyn", "pd.tau", "pushing.y"]"#;
        let set = [("log", log), ("run.stop", "1.3 s"), ("checks", "{}")];
        let recording = with(STAND, &set, &[], patches).record();
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
            // One sole of iCub is slightly higher than the other.
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
        let simulation = with(ZERO_TORQUE, &set, &[], &[]).simulate();
        for (path, report) in simulation.reports() {
            assert_eq!(report.solver_failures, 0, "{path} with {points} vertices");
        }
    }
}

/// `CoulombContact` with its defaults: robots of 2 to 90 kg stand, are pushed until they step
/// aside, drop from 10 cm, slide on ice and jump. No solve fails, and each is as exact as is asked.
#[test]
fn coulombs_law_is_solved_in_ordinary_scenes_by_default() {
    let coulomb =
        ("variants.qp.choices.active_set", "CoulombContact(needs: { \"solve\": ActiveSetQp() })");
    // They crouch, stretch within 0.1 s, and land.
    let jump = |down: f64, up: f64| {
        format!(
            "SignalBuilder(times: [0, 0.5, 0.7, 0.8, 1, 3], values: \
             \"=[[k*s for s in robot.keyframes.stand.s] for k in [1, 1, {down}, {up}, 1, 1]]\")"
        )
    };
    let (soft, hard) = (jump(1.2, 0.8), jump(1.3, 0.6));
    let robots = [
        ("", "60 N", "80 N"),
        (MINI_CHEETAH, "60 N", "80 N"),
        (THREE_LEGS, "60 N", "80 N"),
        (SOLO, "8 N", "15 N"),
        (GO2, "60 N", "80 N"),
        (ANYMAL, "200 N", "300 N"),
        (TALOS, "150 N", "250 N"),
    ];
    for (patch, push, shove) in robots {
        let patches: &[&str] = if patch.is_empty() { &[] } else { &[patch] };
        let scenes: [Pairs<'_>; 7] = [
            &[("mu", "0.7")],
            &[("push", push), ("mu", "0.15")],
            &[("sim.init.place", "FeetAbove(0.1)")],
            &[("mu", "0.05")],
            &[("push", shove)],
            &[("blocks.pose", &soft)],
            &[("blocks.pose", &hard)],
        ];
        for scene in scenes {
            let set: Vec<(&str, &str)> = scene.iter().copied().chain([coulomb]).collect();
            let simulation = with(STAND, &set, &[], patches).simulate();
            for (path, report) in simulation.reports() {
                assert_eq!(report.solver_failures, 0, "{path}, {patches:?}, {scene:?}");
            }
            let worst = metrics(&simulation)["sim.contact.solve.worst_residual"];
            assert!(worst <= 1e-4, "{worst:e}, {patches:?}, {scene:?}");
        }
    }
}
