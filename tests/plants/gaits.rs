//! Mini Cheetah in five gaits: on plane ground, slopes, stairs and obstacles, through changes of
//! gait, and standing at a command of zero.

use std::f64::consts::PI;

use legwork_runtime::recording::Recording;

use super::harness::{self, Case, Pairs, failed_checks, in_repository};

const FILE: &str = "diagrams/quadruped/gaits.ron";
const GAITS: [&str; 5] = ["trot", "walk", "pace", "bound", "pronk"];
/// Of front right, hind left and hind right leg behind the front left one [cycles], after
/// Hildebrand (1965).
const LAGS: [[f64; 3]; 5] =
    [[0.5, 0.5, 0.0], [0.5, 0.75, 0.25], [0.5, 0.0, 0.5], [0.0, 0.5, 0.5], [0.0; 3]];
const DUTIES: [f64; 5] = [0.5, 0.75, 0.6, 0.6, 0.35];
/// The order of `changes`.
const COURSE: [usize; 21] = [0, 1, 0, 2, 0, 3, 0, 4, 1, 2, 1, 3, 1, 4, 2, 3, 2, 4, 3, 4, 0];

/// A run in which every check of the diagram holds.
fn run(set: Pairs<'_>, variants: Pairs<'_>) -> Recording {
    Case { file: FILE, set, variants, patches: &[] }.record()
}

/// Rows of a signal with their times, from `from` to `to` [s].
fn rows(recording: &Recording, topic: &str, from: f64, to: f64) -> Vec<(f64, Vec<f64>)> {
    let mut rows = harness::rows(recording, topic);
    rows.retain(|(t, _)| (from..=to).contains(t));
    rows
}

fn degrees(angle: f64) -> f64 {
    angle * 180.0 / PI
}

/// Least and greatest of an angle of the trunk [deg].
fn range(recording: &Recording, angle: usize) -> [f64; 2] {
    let rpy = harness::rows(recording, "rpy.y");
    let of = |fold: fn(f64, f64) -> f64, from| rpy.iter().map(|(_, a)| a[angle]).fold(from, fold);
    [degrees(of(f64::min, f64::INFINITY)), degrees(of(f64::max, f64::NEG_INFINITY))]
}

/// A row of the folder's table.
fn table_row(gait: &str, slope: &str, recording: &Recording) -> String {
    let state = rows(recording, "body.state", 5.0, 10.0);
    let ((t, q), (t_last, q_last)) = (&state[0], &state[state.len() - 1]);
    let [x, y, z] = [0, 1, 2].map(|i| (q_last[i] - q[i]) / (t_last - t));
    let speed = x.signum() * x.hypot(z);
    let incline: f64 = slope.trim_end_matches(" deg").parse::<f64>().unwrap() * PI / 180.0;
    // A pronk bounces by 6 cm, so it may end that much higher, or lower, after 2.5 m.
    assert!((z / x - incline.tan()).abs() < 0.025, "{gait} {slope}: {x} m/s, {z} m/s up");
    assert!((speed / 0.5 - 1.0).abs() < 0.1, "{gait} {slope}: {speed} m/s");
    assert!(y.abs() < 0.02, "{gait} {slope}: {y} m/s aside");
    let ([left, right], [up, down]) = (range(recording, 0), range(recording, 1));
    let roll = right.max(-left);
    assert!(roll < 10.0 && down.max(-up) < 10.0, "{gait} {slope}: {roll} {up} {down} deg");
    let error = 100.0 * (speed / 0.5 - 1.0);
    let slope = slope.trim_end_matches(" deg");
    format!(
        "| {gait} | {slope}° | {speed:.3} m/s | {error:+.1} % | {roll:.1}° | {up:.1}° to {down:.1}° |"
    )
}

#[test]
fn five_gaits_run_on_plane_ground_and_slopes_as_the_table_has_them() {
    let table = std::fs::read_to_string(in_repository("diagrams/quadruped/README.md")).unwrap();
    let mut missing = Vec::new();
    for ((gait, lags), duty) in GAITS.into_iter().zip(LAGS).zip(DUTIES) {
        // Legs half a cycle apart are both down or both up for |2 β − 1| of it: midway to always.
        let apart = 0.5 * (1.0 + (2.0 * duty - 1.0_f64).abs());
        for slope in ["0 deg", "5 deg", "-5 deg"] {
            let recording = run(&[("slope", slope)], &[("gait", gait)]);
            let row = table_row(gait, slope, &recording);
            if !table.contains(&row) {
                missing.push(row);
            }
            // Feet that the gait has in step bear together, those half a cycle apart do not.
            let forces = rows(&recording, "contact.f", 5.0, 10.0);
            for (leg, lag) in [1, 2, 3].into_iter().zip(lags) {
                let alike = |(_, f): &&(f64, Vec<f64>)| (f[2] > 0.0) == (f[3 * leg + 2] > 0.0);
                let alike = forces.iter().filter(alike).count() as f64 / forces.len() as f64;
                let is_as_it_should = match lag {
                    0.0 => alike > 0.75,
                    0.5 => alike < apart,
                    _ => true,
                };
                assert!(is_as_it_should, "{gait} {slope}: leg {leg} for {alike} of the time");
            }
        }
    }
    assert!(missing.is_empty(), "not in the table:\n{}", missing.join("\n"));
}

#[test]
fn five_gaits_run_on_rigid_ground() {
    for gait in GAITS {
        let variants = [("gait", gait), ("contact", "gauss")];
        Case { file: FILE, variants: &variants, ..Case::default() }.passes();
    }
}

/// Between the bounces of a pronk nothing touches the ground.
#[test]
fn a_pronk_flies_and_a_walk_does_not() {
    let airborne = |gait| {
        let forces = rows(&run(&[], &[("gait", gait)]), "contact.f", 5.0, 10.0);
        let free = forces.iter().filter(|(_, f)| f.iter().all(|f| *f == 0.0)).count();
        free as f64 / forces.len() as f64
    };
    assert!(airborne("pronk") > 0.3);
    assert!(airborne("walk") < 0.01);
}

#[test]
fn it_changes_from_each_gait_to_each_other_as_it_runs() {
    let every: std::collections::BTreeSet<_> = COURSE.windows(2).map(|w| [w[0], w[1]]).collect();
    assert_eq!(every.len(), 20);
    let recording = run(&[], &[("gait", "changes")]);
    let gaits = harness::rows(&recording, "gait.gait");
    let joints = harness::rows(&recording, "legs.s_ref");
    // Largest motion of a wanted joint within 5 ms, between two times.
    let fastest = |from: f64, to: f64| {
        let pairs = joints.windows(2).filter(|w| w[0].0 >= from && w[1].0 <= to);
        let moves = pairs.flat_map(|w| w[0].1.iter().zip(&w[1].1).map(|(a, b)| (a - b).abs()));
        moves.fold(0.0, f64::max)
    };
    for (i, gait) in COURSE.into_iter().enumerate() {
        let begin = 1.0 + 3.0 * i as f64;
        // It has the lags of the gait before the next change.
        let (_, row) = gaits.iter().rfind(|(t, _)| *t < begin + 3.0).unwrap();
        let duty = DUTIES[gait];
        let part = |leg: usize| match row[leg] / PI {
            stance if stance < 1.0 => duty * stance,
            swing => duty + (1.0 - duty) * (swing - 1.0),
        };
        for (leg, wanted) in [1, 2, 3].into_iter().zip(LAGS[gait]) {
            let apart = part(0) - part(leg) - wanted;
            let apart = apart - apart.round();
            assert!(apart.abs() < 1e-3, "{} at {begin} s: leg {leg} by {apart}", GAITS[gait]);
        }
        // No wanted joint moves faster in a change than it does in the gaits before and after.
        if i > 0 {
            let steady = fastest(begin - 1.0, begin).max(fastest(begin + 2.0, begin + 3.0));
            let change = fastest(begin, begin + 2.0);
            assert!(change < 1.5 * steady, "{begin} s: {change} rad, steady {steady} rad");
        }
    }
}

#[test]
fn at_a_command_of_zero_it_stands() {
    let still = |recording: &Recording, from, to, bound: f64| {
        let state = rows(recording, "body.state", from, to);
        let (_, first) = &state[0];
        for (t, q) in &state {
            let moved = (q[0] - first[0]).hypot(q[1] - first[1]);
            assert!(moved < bound, "{moved} m from {from} s to {t} s");
        }
    };
    still(&run(&[("speed", "0 m/s")], &[]), 0.5, 10.0, 2e-3);
    let slope = [("speed", "0 m/s"), ("slope", "5 deg")];
    still(&run(&slope, &[("contact", "gauss")]), 2.0, 10.0, 1e-3);
    // Compliant friction, linear up to the slip speed, creeps: tan 5°/0.7 of 5 mm/s, for 8 s.
    still(&run(&slope, &[]), 2.0, 10.0, 8.0 * 5e-3 * (5.0 * PI / 180.0).tan() / 0.7);
    for gait in GAITS {
        let recording = run(&[], &[("gait", gait), ("course", "pauses")]);
        still(&recording, 4.5, 6.0, 2e-3);
        still(&recording, 17.5, 18.0, 2e-3);
        let walked = rows(&recording, "body.state", 6.0, 16.0);
        let way = walked[walked.len() - 1].1[0] - walked[0].1[0];
        // 0.5 m/s for 10 s, of which the first second begins from nothing.
        assert!((way - 4.75).abs() < 0.5, "{gait}: {way} m");
    }
}

#[test]
fn it_climbs_stairs_and_gets_over_obstacles() {
    for (gait, ground, contact) in [
        ("trot", "stairs", "hertz"),
        ("trot", "obstacles", "gauss"),
        ("walk", "stairs", "gauss"),
        ("walk", "obstacles", "hertz"),
    ] {
        let variants = [("gait", gait), ("ground", ground), ("contact", contact)];
        let (_, end) = harness::rows(&run(&[], &variants), "body.state").pop().unwrap();
        // The landing ends at 3.2 m, and bricks begin at 0.6 m.
        assert!(end[0] > 3.2, "{gait}, {ground}: {} m", end[0]);
    }
}

/// Each wrong model fails the check that is for it.
#[test]
fn wrong_models_fail() {
    let wrong: [(Pairs<'_>, &str, &str); 8] = [
        (&[("robots.go.gravity", "[0, 0, -7.85]")], "trot", "ground carries it"),
        (&[("robots.go.gravity", "[0, 0, -11.8]")], "walk", "ground carries it"),
        (&[("k_speed", "0")], "trot", "keeps its speed"),
        (&[("step_height", "0 cm")], "trot", "keeps its rhythm"),
        (&[("k_tip", "0 s")], "pronk", "stays level"),
        (&[("act.torque_limit", "5")], "trot", "keeps its speed"),
        (&[("act.bandwidth", "10 Hz")], "trot", "stays up"),
        (&[("kd", "0 N*m*s/rad")], "trot", "stays up"),
    ];
    for (set, gait, check) in wrong {
        let variants = [("gait", gait)];
        let simulation = Case { file: FILE, set, variants: &variants, patches: &[] }.simulate();
        let failed = failed_checks(&simulation);
        assert!(failed.iter().any(|name| name == check), "{set:?}: {failed:?}");
    }
}
