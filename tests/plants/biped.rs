//! Walking on two feet: a biped with the numbers of Atlas, and the quadruped whose legs are in
//! stance half the time. Rows of table 6 of S. Zapolsky and E. Drumwright, *Inverse dynamics with
//! rigid contact and friction* (2017), that the quadruped on two to four feet does not have.

use super::harness::{Case, failed_checks, in_repository, metrics};

const BIPED: &str = "diagrams/inverse_dynamics/biped.ron";
const QUADRUPED: &str = "diagrams/inverse_dynamics/quadruped.ron";
const ARM: &str = "diagrams/inverse_dynamics/arm.ron";
const GRIP: &str = "diagrams/inverse_dynamics/grip.patch";

/// The source's masses: pelvis, back, head, and twice a leg and an arm [kg].
const MASSES: [f64; 5] = [9.509, 2.270, 0.799, 84.409, 1.4199];
const LEG: [f64; 6] = [1.959, 0.898, 8.204, 4.515, 0.125, 2.410];
const ARM_MASSES: [f64; 7] = [4.466, 3.899, 4.386, 3.248, 2.4798, 0.648, 0.5839];

#[test]
fn the_biped_has_the_masses_of_its_source() {
    let path = in_repository("diagrams/robots/biped/biped.urdf");
    let text = std::fs::read_to_string(path).unwrap();
    let found: f64 = text
        .split("<mass value=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap().parse::<f64>().unwrap())
        .sum();
    let sum = |masses: &[f64]| masses.iter().sum::<f64>();
    let expected = sum(&MASSES) + 2.0 * (sum(&LEG) + sum(&ARM_MASSES));
    assert!((found - expected).abs() < 1e-9, "{found} {expected} kg");
    assert!((found - 174.0503).abs() < 1e-9, "{found} kg");
}

fn biped_passes(controller: &str, mu: &str) {
    let (set, variants) = ([("mu", mu)], [("controller", controller)]);
    Case { file: BIPED, set: &set, variants: &variants, patches: &[] }.passes();
}

/// Table 6: where there is friction all four controllers walk, and so does the least energy of the
/// motion between contacts; joint feedback with the same plan does not.
#[test]
fn a_biped_walks_under_every_controller_where_there_is_friction() {
    for controller in ["lcp_inf", "qp_inf", "lcp_mu", "qp_mu", "qp_mu_relative", "pid"] {
        biped_passes(controller, "1.4");
    }
}

/// Table 6: where there is little, those that know it walk, the others slip or fall.
#[test]
fn a_biped_walks_on_ice_under_controllers_that_know_it() {
    for controller in ["lcp_inf", "qp_inf", "lcp_mu", "qp_mu", "qp_mu_relative"] {
        biped_passes(controller, "0.1");
    }
}

/// A trunk that does not sway puts the centre of pressure between the feet, where no sole is when
/// one of them is in the air: the plan does not come true.
#[test]
fn a_biped_that_does_not_sway_tips_from_foot_to_foot() {
    let set = [("sway", "0 mm"), ("aside", "12 cm")];
    let simulation = Case { file: BIPED, set: &set, variants: &[], patches: &[] }.simulate();
    let failed = failed_checks(&simulation);
    let expected = [
        "forces come as Coulomb's law has them",
        "the centre of pressure sways as the pendulum's",
        "is level",
    ];
    assert_eq!(failed, expected);
}

/// Table 6 calls the quadruped on at most two feet the same task. With every leg in stance for half
/// the cycle the verdicts are those of the paper too.
#[test]
fn a_quadruped_on_two_feet_has_the_verdicts_of_the_biped() {
    for (controller, knows) in
        [("lcp_inf", false), ("qp_inf", false), ("lcp_mu", true), ("qp_mu", true)]
    {
        for mu in ["100", "0.1"] {
            let set = [("duty", "0.5"), ("mu", mu), ("run.stop", "4 s")];
            let variants = [("controller", controller)];
            let case = Case { file: QUADRUPED, set: &set, variants: &variants, patches: &[] };
            let slip = metrics(&case.simulate())["slip"];
            let slips = mu == "0.1" && !knows;
            assert_eq!(slip > 0.1, slips, "{controller} {mu}: {slip} m/s");
        }
    }
}

/// The rows of a manipulator that grasps, as the checks of the patch state them.
#[test]
fn an_arm_keeps_or_loses_the_box_as_its_model_of_contact_has_it() {
    for (controller, mu) in [
        ("lcp_inf", "100"),
        ("lcp_inf", "0.5"),
        ("qp_inf", "0.5"),
        ("lcp_mu", "1"),
        ("qp_mu_relative", "100"),
        ("qp_mu_relative", "1"),
        ("qp_inf_relative", "100"),
        ("qp_inf_relative", "1"),
    ] {
        let (set, variants) = ([("mu", mu)], [("controller", controller)]);
        Case { file: ARM, set: &set, variants: &variants, patches: &[GRIP] }.passes();
    }
}

/// Zero needs no unit where a quantity was: a parameter on the command line, and one of a mask that
/// has a default. Another number does.
#[test]
fn zero_is_taken_without_a_unit() {
    const HOLD: &str = "diagrams/inverse_dynamics/hold.ron";
    const SENSORS: &str = "diagrams/quadruped/sensors.ron";
    let cases = [
        (BIPED, "speed", "0", true),
        (BIPED, "speed", "0.2", false),
        (HOLD, "amplitude", "0", true),
        (SENSORS, "motors.coulomb", "0.0", true),
    ];
    for (file, name, value, is_taken) in cases {
        let case = Case { file, set: &[(name, value)], variants: &[], patches: &[] };
        let compiled = case.compiled();
        assert_eq!(compiled.program.is_some(), is_taken, "{name}={value}");
    }
}
