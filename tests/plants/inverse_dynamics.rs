//! Inverse dynamics with contact on a quadruped that trots: the controllers of S. Zapolsky and E.
//! Drumwright, *Inverse dynamics with rigid contact and friction* (2017), compared.

use std::collections::BTreeMap;

use legwork_runtime::Simulation;

use super::harness::{Case, failed_checks, in_repository, metrics};

const QUADRUPED: &str = "diagrams/inverse_dynamics/quadruped.ron";
const PUBLISHED: &str = "diagrams/inverse_dynamics/published.patch";
/// The controllers that predict contact forces.
const PREDICTED: [&str; 7] = [
    "qp_mu",
    "qp_inf",
    "qp_mu_one_stage",
    "qp_mu_null_space",
    "qp_mu_relative",
    "lcp_mu",
    "lcp_inf",
];
/// 4.8 kg times 9.81 m/s² [N].
const WEIGHT: f64 = 47.088;

/// Metrics of a run by name, and the names of the checks that failed.
fn run(set: &[(&str, &str)], variants: &[(&str, &str)]) -> (BTreeMap<String, f64>, Vec<String>) {
    let simulation = Case { file: QUADRUPED, set, variants, patches: &[] }.simulate();
    (metrics(&simulation), failed_checks(&simulation))
}

fn mean(metrics: &BTreeMap<String, f64>, of: &str) -> f64 {
    metrics[of]
}

/// A robot at rest: the ground carries its weight, and the predictive controllers expect it to.
#[test]
fn at_rest_the_expected_forces_carry_the_robots_weight() {
    for controller in PREDICTED {
        let (metrics, _) = run(&[("run.stop", "0.15 s")], &[("controller", controller)]);
        let found = metrics["audit.final_normal_force"];
        assert!((found / WEIGHT - 1.0).abs() < 1e-6, "{controller}: {found} N");
        // The accuracy of an interior point method, as a fraction of the weight.
        let error = metrics["worst_force_error"];
        assert!(error < 1e-3 * WEIGHT, "{controller}: {error} N off");
    }
}

/// Compliant ground of K = m g/(4 · 1 mm): the robot sinks by 1 mm, and little more on the way.
#[test]
fn at_rest_compliant_ground_yields_by_a_millimetre() {
    let set = [("run.stop", "0.19 s")];
    let (metrics, _) = run(&set, &[("controller", "qp_mu"), ("surface", "compliant")]);
    let found = metrics["audit.final_normal_force"];
    assert!((found / WEIGHT - 1.0).abs() < 0.01, "{found} N");
    let deepest = metrics["audit.worst_penetration"];
    assert!((0.95e-3..1.2e-3).contains(&deepest), "{deepest} m");
}

/// splitmix64 of the seed of the ground: uniform in [0, 1).
struct SplitMix(u64);

impl SplitMix {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / 2f64.powi(53)
    }
}

fn numbers(file: &str) -> Vec<Vec<f64>> {
    let path = in_repository("diagrams/inverse_dynamics").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect()
}

/// 1000 Gaussian hills at random places on 3 × 3 m, of variance 0.005 m² ± 25 % and random heights,
/// scaled to 3 cm and lowered until no ground under the standing robot is above zero; then friction
/// of 30 × 30 patches.
#[test]
fn the_hills_and_their_friction_are_those_of_the_seed() {
    const COUNT: usize = 151;
    let mut random = SplitMix(2017);
    let at = |i: usize| -1.5 + 0.02 * i as f64;
    let mut heights = vec![vec![0.0; COUNT]; COUNT];
    for _ in 0..1000 {
        let (x, y) = (3.0 * random.uniform() - 1.5, 3.0 * random.uniform() - 1.5);
        let variance = 0.005 * (0.75 + 0.5 * random.uniform());
        let height = random.uniform();
        let along = |from: f64| -> Vec<f64> {
            (0..COUNT).map(|i| (-(at(i) - from).powi(2) / (2.0 * variance)).exp()).collect()
        };
        let (along_x, along_y) = (along(x), along(y));
        for (row, of_y) in heights.iter_mut().zip(along_y) {
            for (h, of_x) in row.iter_mut().zip(&along_x) {
                *h += height * of_y * of_x;
            }
        }
    }
    let highest = heights.iter().flatten().fold(0.0, |m: f64, h| m.max(*h));
    heights.iter_mut().flatten().for_each(|h| *h *= 0.03 / highest);
    let is_near = |i: usize, half: f64| at(i).abs() < half;
    let mut under = f64::NEG_INFINITY;
    for j in (0..COUNT).filter(|&j| is_near(j, 0.1001)) {
        for i in (0..COUNT).filter(|&i| is_near(i, 0.2001)) {
            under = under.max(heights[j][i]);
        }
    }
    let (found, half_a_digit) = (numbers("hills.csv"), 0.5e-4 + 1e-9);
    assert_eq!((found.len(), found[0].len()), (COUNT, COUNT));
    for (expected, found) in heights.iter().flatten().zip(found.iter().flatten()) {
        assert!((expected - under - found).abs() < half_a_digit, "{expected} {under} {found}");
    }
    for mu in numbers("friction.csv").iter().flatten() {
        let expected = 0.1 + 1.4 * random.uniform();
        assert!((expected - mu).abs() < 0.5e-3 + 1e-9, "{expected} {mu}");
    }
}

/// Two steps of every leg, and the path to the first waypoints.
const TROT: (&str, &str) = ("run.stop", "4 s");

/// Stiffness of the joints' feedback `kp` [N m/rad] and lengths from the foot to the joints of its
/// leg, stretched: knee, hip and abduction [m].
const STIFFNESS: f64 = 10.0;
const ARMS: [f64; 3] = [0.1, 0.2, 0.2];

/// Every controller on every ground, whether it slips or not.
///
/// The feedback alone holds a joint against the torque M at a deflection `M/kp`. The weight causes
/// at most M = m g l in a joint at the distance l of its foot, and in all joints of the legs
/// together at most `m g (l_knee + l_hip + l_abduction)`, however the legs share it. Torques that
/// make the error larger than these deflections would be worse than none.
#[test]
fn no_controller_ends_in_a_fault_or_is_worse_than_feedback_alone() {
    let peak = WEIGHT * ARMS[1] / STIFFNESS;
    let bound = WEIGHT * ARMS.iter().sum::<f64>() / (12.0 * STIFFNESS);
    let others = ["pid", "sensed_1", "sensed_2"];
    for controller in PREDICTED.into_iter().chain(others) {
        for surface in ["rigid", "compliant"] {
            for mu in ["100", "0.1"] {
                let set = [("run.stop", "1 s"), ("mu", mu)];
                let (metrics, failed) =
                    run(&set, &[("controller", controller), ("surface", surface)]);
                let case = format!("{controller} {surface} {mu}");
                assert!(!failed.contains(&"stays up".to_owned()), "{case}: {failed:?}");
                let error = mean(&metrics, "position_error");
                assert!(error < bound, "{case}: {error} rad, bound {bound} rad");
                let largest = metrics["worst_position_error"];
                assert!(largest < peak, "{case}: {largest} rad, bound {peak} rad");
            }
        }
    }
}

/// The paper's table 6, as the diagram's checks state it: controllers that know the friction pass
/// everywhere, without falling, slipping or chattering torques.
#[test]
fn controllers_that_know_the_friction_pass_everywhere() {
    let pass = |set: &[(&str, &str)], variants: &[(&str, &str)]| {
        let (metrics, failed) = run(set, variants);
        assert_eq!(failed, [""; 0], "{set:?} {variants:?}");
        assert!(mean(&metrics, "slip") < 0.1, "{set:?} {variants:?}: {metrics:?}");
        assert!(mean(&metrics, "derivative_torque") < 500.0, "{set:?} {variants:?}: {metrics:?}");
    };
    for controller in ["qp_mu", "qp_mu_relative", "lcp_mu"] {
        for surface in ["rigid", "compliant"] {
            for mu in ["100", "0.1"] {
                pass(&[TROT, ("mu", mu)], &[("controller", controller), ("surface", surface)]);
            }
        }
        pass(&[TROT], &[("controller", controller), ("terrain", "hills")]);
    }
}

/// The paper's table 6: controllers that assume unlimited friction pass where there is much, and
/// slip or fall where there is little.
#[test]
fn a_controller_that_assumes_friction_slips_where_there_is_little() {
    for controller in ["qp_inf", "lcp_inf"] {
        for surface in ["rigid", "compliant"] {
            let variants = [("controller", controller), ("surface", surface)];
            for mu in ["100", "0.1"] {
                let (metrics, failed) = run(&[TROT, ("mu", mu)], &variants);
                assert_eq!(failed, [""; 0], "{variants:?} {mu}");
                let slip = mean(&metrics, "slip");
                assert_eq!(slip > 0.1, mu == "0.1", "{variants:?} {mu}: {slip} m/s");
            }
        }
    }
}

/// The paper's table 6: Coulomb's law with friction of a hundred on both sides wedges the feet
/// against each other.
#[test]
fn much_friction_in_coulombs_law_makes_torques_chatter() {
    let (metrics, _) = run(&[TROT, ("mu_model", "100")], &[("controller", "lcp_mu")]);
    let rate = mean(&metrics, "derivative_torque");
    assert!(rate > 500.0, "{rate} N m/s");
}

/// The paper's table 3: every inverse dynamics that passes tracks better than feedback alone.
#[test]
fn inverse_dynamics_that_passes_tracks_better_than_feedback_alone() {
    for surface in ["rigid", "compliant"] {
        for mu in ["100", "0.1"] {
            let error = |controller| {
                let variants = [("controller", controller), ("surface", surface)];
                mean(&run(&[TROT, ("mu", mu)], &variants).0, "position_error")
            };
            let pid = error("pid");
            let mut pass = vec!["qp_mu", "qp_mu_relative", "lcp_mu"];
            if mu == "100" {
                pass.extend(["qp_inf", "lcp_inf"]);
            }
            for controller in pass {
                let found = error(controller);
                assert!(found < pid, "{controller} {surface} {mu}: {found} and {pid} rad");
                let share = if controller.starts_with("lcp") { 0.25 } else { 1.0 };
                assert!(found < share * pid, "{controller} {surface} {mu}: {found} and {pid} rad");
            }
        }
    }
}

/// The paper's table 5: on rigid ground the models of complementarity predict the contact forces to
/// 2 %, the model of least energy to the 30 % that it has there.
#[test]
fn forces_come_as_the_model_of_the_same_law_expects_them() {
    let error = |controller, mu, world| {
        let variants = [("controller", controller), ("world", world)];
        mean(&run(&[TROT, ("mu", mu)], &variants).0, "relative_force_error")
    };
    for (controller, mu) in [("lcp_mu", "100"), ("lcp_mu", "0.1"), ("lcp_inf", "100")] {
        let found = error(controller, mu, "lcp");
        assert!(found < 0.02, "{controller} {mu}: {found}");
    }
    for mu in ["100", "0.1"] {
        let found = error("qp_mu", mu, "lcp");
        assert!((0.02..0.3).contains(&found), "qp_mu {mu}: {found}");
    }
    // In the world of its own law: about 1 %, if the model minimises the energy of that law.
    let found = ["qp_mu", "qp_mu_relative"].map(|controller| error(controller, "1.4", "qp"));
    assert!(found[1] < 0.02 && found[0] > 0.05, "{found:?}");
}

/// The paper's table 4: on ground with much friction least energy needs smaller and smoother
/// torques than Coulomb's law and sensed forces; relative to the motion at which contacts stick,
/// the least of all inverse dynamics.
#[test]
fn least_energy_needs_small_and_smooth_torques() {
    let torques = |controller| {
        let (metrics, _) = run(&[TROT], &[("controller", controller)]);
        (mean(&metrics, "derivative_torque"), mean(&metrics, "torque"))
    };
    let (absolute, relative) = (torques("qp_mu"), torques("qp_mu_relative"));
    assert!(relative.0 < absolute.0 && relative.1 < absolute.1, "{relative:?} {absolute:?}");
    for controller in ["qp_inf", "lcp_mu", "lcp_inf", "sensed_1", "sensed_2"] {
        let other = torques(controller);
        assert!(
            relative.0 < other.0 && relative.1 < other.1,
            "{controller}: {other:?} {relative:?}"
        );
        if !controller.ends_with("inf") {
            assert!(absolute.0 < other.0 && absolute.1 < other.1, "{controller}: {other:?}");
        }
    }
}

/// Virtual work of a descent δz of the trunk over feet that stay: the weight of the trunk, and the
/// legs' links by their share of δz, against the torques. With a thigh and a shank of 0.1 m and the
/// hip 0.15 m over the foot, the knee turns fastest, by `1/(0.1 m · sin φ)`, cos φ = 0.75; so the
/// mean magnitude of twelve torques cannot be less than the work over twelve times that.
///
/// The paper's table 4 has 0.2016 N m for QP,μ, which carries no robot of these legs.
#[test]
fn no_controller_holds_the_robot_with_less_torque_than_virtual_work_allows() {
    let (trunk, link, gravity) = (3.6, 0.1, 9.81);
    let work = gravity * (trunk + 4.0 * link * (1.0 + 0.75 + 0.25));
    let turn = 1.0 / (0.1 * (1.0 - 0.75f64 * 0.75).sqrt());
    let bound = work / (12.0 * turn);
    assert!(bound > 0.2016, "{bound} N m");
    for controller in PREDICTED.into_iter().chain(["pid", "sensed_1"]) {
        let (metrics, _) = run(&[("run.stop", "0.19 s")], &[("controller", controller)]);
        let found = mean(&metrics, "torque");
        assert!(found > bound, "{controller}: {found} N m, bound {bound} N m");
    }
}

/// Forces come true also where velocities are to change within one period of 1 ms, if feet count
/// that touch. A foot that counts while it is still above the ground lands with a speed v that the
/// feedback takes away only in part: then the trunk of mass m, which joints of given motion cannot
/// spare, is to jump by `m v/Δt`.
#[test]
fn a_horizon_of_one_period_needs_feet_that_touch() {
    let error = |controller: &str, more: &[(&str, &str)]| {
        let mut set = vec![TROT, ("horizon", "1 ms"), ("update", "1 ms")];
        set.extend(more);
        mean(&run(&set, &[("controller", controller)]).0, "relative_force_error")
    };
    for (controller, bound) in [("qp_mu_relative", 0.02), ("lcp_mu", 0.03), ("lcp_inf", 0.2)] {
        let (touching, early) = (error(controller, &[]), error(controller, &[("reach", "1 mm")]));
        assert!(touching < bound, "{controller}: {touching}");
        assert!(early > 1.5 * touching, "{controller}: {early} and {touching}");
    }
    // What brakes the trunk by `m v/Δt` needs more than the motors have; without their limit forces
    // are within the 30 % of the paper.
    for controller in ["qp_mu", "qp_inf"] {
        let found = [error(controller, &[]), error(controller, &[("effort", "1000 N*m")])];
        assert!(found[0] > 2.0 * found[1] && found[1] < 0.3, "{controller}: {found:?}");
    }
}

/// The order of the paper's tables 3 and 4, with its choices: over both frictions least energy has
/// the smoothest torques, then no slip, then Coulomb's law, which chatters with infinite friction;
/// and sensed forces throw the robot down.
#[test]
fn with_the_papers_choices_controllers_are_in_its_order() {
    let figures = |controller: &str, mu: &str| {
        let variants = [("controller", controller)];
        let set = [TROT, ("mu", mu)];
        let case = Case { file: QUADRUPED, set: &set, variants: &variants, patches: &[PUBLISHED] };
        let simulation = case.simulate();
        assert_eq!(failed_checks(&simulation), [""; 0], "{controller}, friction {mu}");
        let metrics = metrics(&simulation);
        [mean(&metrics, "derivative_torque"), mean(&metrics, "position_error")]
    };
    let controllers = ["qp_mu", "qp_inf", "lcp_inf", "lcp_mu"];
    let of_both = controllers.map(|one| figures(one, "100")[0] + figures(one, "0.1")[0]);
    assert!(of_both.is_sorted(), "{controllers:?}: {of_both:?}");
    // Sensed forces one or two steps old both lose the path where friction is infinite, by how much
    // is chance: rounding changes it by a third.
    let (one, two) = (figures("sensed_1", "100"), figures("sensed_2", "100"));
    let predicted = figures("lcp_inf", "100");
    assert!(one[1].min(two[1]) > 5.0 * predicted[1], "{one:?} {two:?} {predicted:?}");
    assert!((0.5..2.0).contains(&(one[1] / two[1])), "{one:?} {two:?}");
    assert!(one[0] > predicted[0] && two[0] > one[0], "{one:?} {two:?}");
}

/// The second stage in the null space of the first walks as the weighted one does.
#[test]
fn both_forms_of_the_second_stage_walk_alike() {
    let found = ["qp_mu", "qp_mu_null_space"].map(|controller| {
        let (metrics, failed) = run(&[TROT], &[("controller", controller)]);
        assert_eq!(failed, [""; 0], "{controller}");
        ["position_error", "torque", "absolute_force_error"].map(|of| mean(&metrics, of))
    });
    for (weighted, exact) in found[0].iter().zip(&found[1]) {
        assert!((exact / weighted - 1.0).abs() < 0.1, "{found:?}");
    }
}

/// Torques of inverse dynamics with the wrong sign fail the check of every controller on how much
/// the feedback carries, of those that fall early and of those that do not.
#[test]
fn torques_of_the_wrong_sign_fail_a_check_of_every_controller_or_end_the_run() {
    for controller in PREDICTED.into_iter().chain(["sensed_1", "sensed_2"]) {
        let set = [("run.stop", "2 s"), ("feed.signs", "\"-+\"")];
        let variants = [("controller", controller)];
        let case = Case { file: QUADRUPED, set: &set, variants: &variants, patches: &[] };
        let mut simulation = Simulation::new(case.program());
        // A run that diverges is stopped.
        if simulation.run().is_err() {
            continue;
        }
        let failed = failed_checks(&simulation);
        let is_carried = |name: &String| {
            name == "carries the robot" || name == "does not leave it to the feedback"
        };
        assert!(failed.iter().any(is_carried), "{controller}: {failed:?}");
    }
}
