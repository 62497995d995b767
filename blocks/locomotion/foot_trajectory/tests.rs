use std::f64::consts::PI;

use serde_json::json;

use super::*;
use crate::testing::robots::{Rig, go};

const STANCE: f64 = 0.24;
const SWING: f64 = 0.16;

fn rig(without: &[&str]) -> Rig {
    let parameters = json!({ "robot": "go", "height": 0.28, "step_height": 0.06, "depth": 0.005 });
    let block: FootTrajectory = serde_json::from_value(parameters).expect("it binds");
    Rig::new(block, &go(), without)
}

/// One sample of a trot at the time t, with full steps.
fn trot(rig: &mut Rig, t: f64, amplitude: f64) {
    let duty = STANCE / (STANCE + SWING);
    let phases =
        [0.0, 0.5, 0.5, 0.0].map(|lag| legwork_control::phase_at(t / (STANCE + SWING) - lag, duty));
    let rates = phases.map(|phase| PI / if phase < PI { STANCE } else { SWING });
    let stance = phases.map(|phase| f64::from(u8::from(phase < PI)));
    let times = [[STANCE], [SWING], [amplitude]];
    rig.set("gait", &[&phases, &rates, &stance, &times[0], &times[1], &times[2]]);
}

#[test]
fn without_amplitude_the_feet_stand_under_the_hips() {
    let mut rig = rig(&[]);
    rig.set("command", &[&[0.5, 0.2, 1.0]]);
    rig.set("shift", &[&[0.1, 0.0]]);
    for k in 0..900 {
        trot(&mut rig, f64::from(k) * 1e-3, 0.0);
        rig.output();
        let position = rig.leaf("position", 0);
        // By the robot file: 49 mm to the abduction, 62 mm to the hip, 4 mm to the foot.
        let hips = [(0.19, 0.115), (0.19, -0.115), (-0.19, 0.115), (-0.19, -0.115)];
        for (foot, (x, y)) in position.chunks_exact(3).zip(hips) {
            for (found, wanted) in foot.iter().zip([x, y, -0.28]) {
                assert!((found - wanted).abs() < 1e-12, "{foot:?}");
            }
        }
        assert_eq!(rig.leaf("velocity", 0), [0.0; 12]);
        rig.update();
    }
}

#[test]
fn standing_feet_go_with_the_ground_of_a_trunk_that_moves_and_turns() {
    let mut rig = rig(&["shift", "lift"]);
    let command = [0.4, -0.1, 0.6];
    rig.set("command", &[&command]);
    let (mut highest, mut last) = (0.0_f64, Vec::new());
    for k in 0..1600 {
        trot(&mut rig, f64::from(k) * 1e-3, 1.0);
        rig.output();
        let (position, velocity) = (rig.leaf("position", 0), rig.leaf("velocity", 0));
        for leg in 0..4 {
            let [x, y, z] = [0, 1, 2].map(|i| position[3 * leg + i]);
            let phase = legwork_control::phase_at(
                f64::from(k) * 1e-3 / (STANCE + SWING) - [0.0, 0.5, 0.5, 0.0][leg],
                STANCE / (STANCE + SWING),
            );
            if phase < PI {
                // The trunk's own motion and the foot's add up to rest, but for the push down.
                let over_ground = [
                    velocity[3 * leg] + command[0] - command[2] * y,
                    velocity[3 * leg + 1] + command[1] + command[2] * x,
                ];
                assert!(over_ground.iter().all(|v| v.abs() < 1e-12), "{over_ground:?}");
                assert!((-0.285 - 1e-12..=-0.28 + 1e-12).contains(&z), "{z}");
            }
            highest = highest.max(z + 0.28);
        }
        // Velocities are the rates of the positions up to h² a/2; a Bézier curve of order 6 with
        // points up to c = 64 H/50 has a ≤ 30 c/T² = 90 m/s².
        if k > 1 {
            let old: &Vec<f64> = &last;
            for i in 0..12 {
                let apart = position[i] - old[i] - 1e-3 * velocity[i];
                assert!(apart.abs() < 4.6e-5, "coordinate {i} jumps by {apart:.1e} m at {k} ms");
            }
        }
        last = position;
        rig.update();
    }
    assert!((highest - 0.06).abs() < 1e-4, "the feet rise by {highest} m");
}

#[test]
fn a_shift_moves_the_touch_down_and_nothing_at_once() {
    let mut rig = rig(&["command", "lift"]);
    let mut touched_down = Vec::new();
    for k in 0..400 {
        let t = f64::from(k) * 1e-3;
        rig.set("shift", &[&[if k < 100 { 0.0 } else { 0.03 }, 0.0]]);
        trot(&mut rig, t, 1.0);
        rig.output();
        // Front left: stands for 240 ms, then swings.
        let x = rig.leaf("from_centre", 0)[0];
        if k < 240 {
            assert!(x.abs() < 1e-12, "a standing foot moves to {x} m at {k} ms");
        }
        touched_down.push(x);
        rig.update();
    }
    trot(&mut rig, 0.4, 1.0);
    rig.output();
    assert!((rig.leaf("from_centre", 0)[0] - 0.03).abs() < 1e-4);
    assert!(touched_down.windows(2).all(|pair| (pair[1] - pair[0]).abs() < 1e-3));
}

#[test]
fn a_lift_is_added_to_each_foot() {
    let mut rig = rig(&["command", "shift"]);
    rig.set("lift", &[&[0.01, -0.01, 0.02, 0.0]]);
    trot(&mut rig, 0.0, 0.0);
    rig.output();
    let z: Vec<f64> = rig.leaf("position", 0).chunks_exact(3).map(|foot| foot[2]).collect();
    assert_eq!(z, [0.01 - 0.28, -0.01 - 0.28, 0.02 - 0.28, -0.28]);
}
