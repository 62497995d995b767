//! An arm that swings a box between four fingers: tracking with and without predicted contact
//! forces, compared with the figures of Zapolsky and Drumwright (2017).

use std::f64::consts::FRAC_1_SQRT_2;

use legwork_runtime::recording::Recording;

use super::harness::{Case, rows};

const ARM: &str = "diagrams/inverse_dynamics/arm.ron";
const SLIP: &str = "diagrams/inverse_dynamics/slip.patch";
/// Rate of the swing [rad/s].
const RATE: f64 = 10.0;
/// That of `slip.patch`: three times per second.
const SLIP_RATE: f64 = 6.0 * std::f64::consts::PI;

/// A run of three seconds; every check of the diagram must hold.
fn run(controller: &str, mu: &str) -> Recording {
    run_with(controller, &[("mu", mu)], &[])
}

fn run_with(controller: &str, set: &[(&str, &str)], patches: &[&str]) -> Recording {
    Case { file: ARM, set, variants: &[("controller", controller)], patches }.record()
}

/// Figures of a run.
#[derive(Debug)]
struct Figures {
    /// Mean over three seconds and the seven joints of the arm of `|q − q_ref|` [rad].
    mean: f64,
    /// Mean after the box was lost, or of the last second [rad].
    at_last: f64,
    /// Largest torque [N m].
    torque: f64,
    /// Time for which a finger was at the box [s].
    held: f64,
}

fn figures(controller: &str, mu: &str) -> Figures {
    figures_of(&run(controller, mu), RATE)
}

/// Figures of a run that may fail a check.
fn figures_whatever_the_checks(controller: &str, mu: &str) -> Figures {
    let variants = &[("controller", controller)];
    let case = Case { file: ARM, set: &[("mu", mu)], variants, patches: &[] };
    figures_of(&case.end().recording, RATE)
}

/// The error is recomputed here, from positions and the trajectory's formula.
fn figures_of(recording: &Recording, rate: f64) -> Figures {
    let errors: Vec<(f64, f64)> = rows(recording, "both.state")
        .iter()
        .map(|(t, state)| {
            let wanted = std::f64::consts::FRAC_PI_2 - 0.1 + 0.1 * (rate * t).cos();
            (*t, state[..7].iter().map(|q| (q - wanted).abs()).sum::<f64>() / 7.0)
        })
        .collect();
    let mean = |from: f64| {
        let late: Vec<f64> = errors.iter().filter(|(t, _)| *t >= from).map(|(_, e)| *e).collect();
        late.iter().sum::<f64>() / late.len() as f64
    };
    let torque = rows(recording, "pd.tau")
        .iter()
        .flat_map(|(_, tau)| tau.clone())
        .fold(0.0, |m: f64, tau| m.max(tau.abs()));
    let held = rows(recording, "held.y").last().unwrap().1[0];
    Figures { mean: mean(0.0), at_last: mean((held + 0.05).min(2.0)), torque, held }
}

/// At the published pose the tips of the fingers touch the box, by geometry: opposite joints are on
/// one axis, fingers 0.05 m long at ±π/4, balls of 0.01 m, an edge of 0.05071 m.
#[test]
fn four_tips_touch_the_box_at_the_start() {
    let gap = 0.05 * FRAC_1_SQRT_2 - 0.01 - 0.5 * 0.05071;
    let recording = run("pid", "1");
    for finger in ["00", "01", "10", "11"] {
        let topic = format!("finger[arm/finger_{finger}].tip.contact.gap");
        let start = rows(&recording, &topic)[0].1[0];
        assert!((start - gap).abs() < 1e-12, "{finger}: {start} m, not {gap} m");
    }
}

#[test]
fn predicted_forces_keep_the_arm_on_its_path_and_the_box_in_the_hand() {
    // Mean errors of the authors' controller in their data [rad].
    for (mu, published) in [("1", 0.0064), ("100", 0.0134)] {
        for controller in ["qp_mu_relative", "qp_inf_relative"] {
            let found = figures(controller, mu);
            assert!(found.mean < 0.01 * published, "{controller}, mu {mu}: {found:?}");
            // The heaviest share is gravity's: 0.78 kg at 0.3 m and the arm, about 2 N m.
            assert!(found.torque < 3.0, "{controller}, mu {mu}: {found:?}");
            assert!(found.held > 2.999, "{controller}, mu {mu}: {found:?}");
        }
    }
}

#[test]
fn without_them_it_is_less_accurate_or_needs_excessive_torques() {
    let good = figures("qp_mu_relative", "1");
    let blind = figures("none", "1");
    assert!(blind.mean > 10.0 * good.mean && blind.mean < 0.0132, "{blind:?}");
    let feedback = figures("pid", "1");
    assert!(feedback.mean > 0.02, "{feedback:?}");
    // The box slips from fingers that are closed by their springs only.
    assert!(feedback.held < 1.0, "{feedback:?}");
    // Measured forces make the fingers close harder every step.
    let sensed = figures("sensed_1", "1");
    assert!(sensed.torque > 100.0 && sensed.mean > 10.0 * good.mean, "{sensed:?}");
}

/// Mean errors under the paper's own law, least energy of all motion, at nine frictions near one:
/// when the box leaves the hand there depends on rounding, so a law on it is on the median.
fn least_energy_of_all_motion(near: [&str; 9]) -> [Figures; 9] {
    let mut found = near.map(|mu| figures_whatever_the_checks("qp_mu", mu));
    found.sort_by(|a, b| a.mean.total_cmp(&b.mean));
    found
}

/// The paper's own law uses friction to stop the box. In many runs the fingers lose it, and then the
/// path is kept as well as in the authors' data; in the others the box is held and slides. Of 205
/// runs with frictions from 0.93 to 1.22, 127 lost it.
#[test]
fn least_energy_of_all_motion_loses_the_box_and_keeps_the_path() {
    let near = ["0.98", "0.985", "0.99", "0.995", "1", "1.005", "1.01", "1.015", "1.02"];
    let found = least_energy_of_all_motion(near);
    let feedback = figures("pid", "1");
    let is_better = |one: &Figures| feedback.mean > 2.0 * one.mean && one.torque > 100.0;
    assert!(found.iter().all(is_better), "{found:?} {feedback:?}");
    let lost: Vec<&Figures> = found.iter().filter(|one| one.held < 1.5).collect();
    assert!(lost.len() >= 3, "{found:?}");
    assert!(lost.iter().all(|one| one.mean <= 0.0064 && one.at_last < 1e-3), "{found:?}");
}

/// The same where friction represents infinity: frictions that differ by half a percent end with
/// errors that differ by a factor of ten, some above the authors' one figure.
#[test]
fn least_energy_of_all_motion_on_sticky_fingers_is_as_the_authors_in_the_median() {
    let near = ["98", "98.5", "99", "99.5", "100", "100.5", "101", "101.5", "102"];
    let found = least_energy_of_all_motion(near);
    let median = &found[4];
    assert!(median.mean <= 0.0134, "{found:?}");
    assert!(found.iter().filter(|one| one.held < 2.999).count() >= 5, "{found:?}");
    let feedback = figures("pid", "100");
    assert!(feedback.mean > 2.0 * median.mean, "{found:?} {feedback:?}");
    let sensed = figures("sensed_1", "100");
    assert!(sensed.mean > 2.0 * median.mean, "{found:?} {sensed:?}");
}

/// More friction assumed than there is: the box is lost, the path is not.
#[test]
fn tracking_survives_the_loss_of_the_box() {
    let recording = run_with("qp_mu_relative", &[("mu", "0.4"), ("mu_known", "1")], &[]);
    let found = figures_of(&recording, RATE);
    assert!(found.held < 2.0, "{found:?}");
    assert!(found.mean < 0.0064 && found.at_last < 1e-4, "{found:?}");
}

/// The published experiment: the box leaves the hand in the middle of the run, and the path is kept
/// as well as by the authors' controller; feedback alone and sensed forces are worse.
#[test]
fn a_box_that_slips_out_of_the_hand_does_not_disturb_the_path() {
    let slip = |controller: &str| figures_of(&run_with(controller, &[], &[SLIP]), SLIP_RATE);
    let good = slip("qp_mu_relative");
    assert!((1.0..2.0).contains(&good.held), "{good:?}");
    assert!(good.mean < 0.0064 && good.at_last < 1e-4, "{good:?}");
    let feedback = slip("pid");
    assert!(feedback.held < 1.0 && feedback.mean > 0.0064, "{feedback:?}");
    let sensed = slip("sensed_1");
    assert!(sensed.held < good.held && sensed.mean > 2.0 * good.mean, "{sensed:?}");
}

/// At the friction that represents infinity every controller moves the arm for the three seconds.
/// Coulomb's law keeps the box without excessive torques where its contacts contradict each other.
#[test]
fn every_controller_completes_the_run_on_sticky_fingers() {
    for controller in [
        "qp_mu_relative",
        "qp_inf_relative",
        "lcp_mu",
        "lcp_inf",
        "qp_mu",
        "sensed_1",
        "none",
        "pid",
    ] {
        // The check of `qp_mu` is on one figure of a run whose end depends on rounding.
        let found = match controller {
            "qp_mu" => figures_whatever_the_checks(controller, "100"),
            _ => figures(controller, "100"),
        };
        assert!(found.mean < 0.1, "{controller}: {found:?}");
        if controller == "lcp_mu" {
            // The authors' data have a spike of 251 N m of sensed forces.
            assert!(found.held > 2.999 && found.torque < 251.0, "{found:?}");
            assert!(found.mean < 0.001, "{found:?}");
        }
    }
}
