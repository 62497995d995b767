//! Laws of inverse kinematics, on robots of the diagrams.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use legwork_control::{
    BaseMotion, InverseKinematics, Settings, SettingsError, Solution, Target, rotation_log,
};
use legwork_mechanics::nalgebra::Vector3;
use legwork_mechanics::{
    Base, FrameId, Kinematics, Model, Options, Placement, normalize, world_from_frame,
};

fn robot(name: &str, base: Base) -> Model {
    let path = format!("{}/../../diagrams/robots/{name}/{name}.urdf", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    Model::from_urdf_text(&text, &Options::new(base)).unwrap().0
}

/// The robots of the tests with the frame at the end of one limb.
fn limbs() -> Vec<(Model, &'static str)> {
    vec![
        (robot("panda", Base::Fixed), "panda_hand_tcp"),
        (robot("mini_cheetah", Base::Floating), "FL_foot"),
        (robot("icub", Base::Floating), "l_sole"),
    ]
}

struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Joints within their limits, the base anywhere.
    fn configuration(&mut self, model: &Model) -> Vec<f64> {
        let mut q: Vec<f64> =
            (0..model.configuration_dim()).map(|_| 2.0 * self.unit() - 1.0).collect();
        normalize(model, &mut q);
        for joint in model.joints() {
            let (lower, upper) = (joint.lower.max(-3.0), joint.upper.min(3.0));
            q[joint.configuration_range().start] = lower + self.unit() * (upper - lower);
        }
        q
    }

    /// Joints up to `distance` [rad or m] away from `q`, within their limits.
    fn nearby(&mut self, model: &Model, q: &[f64], distance: f64) -> Vec<f64> {
        let mut near = q.to_vec();
        for joint in model.joints() {
            let s = &mut near[joint.configuration_range().start];
            *s = (*s + distance * (2.0 * self.unit() - 1.0)).clamp(joint.lower, joint.upper);
        }
        near
    }
}

fn pose(model: &Model, q: &[f64], frame: FrameId) -> Placement {
    let mut kinematics = Kinematics::new(model);
    kinematics.update_placements(model, q);
    world_from_frame(model, &kinematics, frame)
}

/// Position and orientation error, computed apart from the solver.
fn errors(model: &Model, q: &[f64], frame: FrameId, goal: &Placement) -> (f64, f64) {
    let at = pose(model, q, frame);
    let turn = rotation_log(&(goal.rotation * at.rotation.transpose())).norm();
    ((goal.translation - at.translation).norm(), turn)
}

fn within_limits(model: &Model, q: &[f64]) -> bool {
    model.joints().iter().all(|joint| {
        let s = q[joint.configuration_range().start];
        joint.lower <= s && s <= joint.upper
    })
}

fn solver(model: &Model, target: Target, restarts: u32) -> InverseKinematics {
    let settings = Settings { restarts, ..Settings::default() };
    InverseKinematics::new(model, &[target], settings).unwrap()
}

#[test]
fn poses_that_can_be_reached_are_reached_from_anywhere() {
    for (model, name) in limbs() {
        let frame = model.find_frame(name).unwrap();
        let leg = name == "FL_foot";
        // Three joints reach positions, not poses.
        let target = if leg { Target::position(frame) } else { Target::pose(frame) };
        let mut ik = solver(&model, target, 40);
        let mut random = Random(1);
        for case in 0..100 {
            let known = random.configuration(&model);
            let goal = pose(&model, &known, frame);
            let mut q = known.clone();
            let other = random.configuration(&model);
            let base = model.trees()[0].joint_configuration_range();
            q[base.clone()].copy_from_slice(&other[base]);
            let found = ik.solve(&model, &[goal], &mut q);
            assert!(found.converged, "{name} {case}: {found:?}");
            assert!(within_limits(&model, &q), "{name} {case}");
            let (position, turn) = errors(&model, &q, frame, &goal);
            assert!(position <= 1e-6 && (leg || turn <= 1e-6), "{name} {case}: {position} {turn}");
        }
    }
}

/// Round trips of a controller: the last solution is near the next.
#[test]
fn from_nearby_one_start_and_few_steps_suffice() {
    for (model, name) in limbs() {
        let frame = model.find_frame(name).unwrap();
        let mut ik = solver(&model, Target::pose(frame), 0);
        let mut random = Random(2);
        for case in 0..200 {
            let known = random.configuration(&model);
            let goal = pose(&model, &known, frame);
            let mut q = random.nearby(&model, &known, 0.02);
            let found = ik.solve(&model, &[goal], &mut q);
            assert!(found.converged, "{name} {case}: {found:?}");
            assert!(found.iterations <= 20, "{name} {case}: {found:?}");
        }
    }
}

#[test]
fn the_error_falls_quadratically_at_the_end() {
    let model = robot("panda", Base::Fixed);
    let frame = model.find_frame("panda_hand_tcp").unwrap();
    let start = [0.1, -0.4, 0.2, -2.0, 0.1, 1.7, 0.6, 0.02];
    let known = [0.3, -0.5, 0.1, -1.8, 0.2, 1.6, 0.7, 0.02];
    let goal = pose(&model, &known, frame);
    let error_after = |max_iterations: u32| {
        let settings = Settings {
            max_iterations,
            position_tolerance: 0.0,
            orientation_tolerance: 0.0,
            ..Settings::default()
        };
        let mut q = start.to_vec();
        InverseKinematics::new(&model, &[Target::pose(frame)], settings)
            .unwrap()
            .solve(&model, &[goal], &mut q)
            .error
    };
    let errors: Vec<f64> = (0..8).map(error_after).collect();
    let fast = errors.windows(2).find(|pair| pair[0] < 1e-2).unwrap();
    assert!(fast[1] < 10.0 * fast[0] * fast[0], "{errors:?}");
    assert!(errors[7] < 1e-13, "{errors:?}");
}

/// Out of reach: no start finds anything better than the best of very many.
#[test]
fn targets_out_of_reach_leave_the_smallest_error() {
    for (model, name) in limbs() {
        let frame = model.find_frame(name).unwrap();
        let mut random = Random(3);
        for case in 0..5 {
            let mut q = random.configuration(&model);
            let base = pose(&model, &q, model.root_frame());
            let away = Vector3::from([0, 1, 2].map(|_| 2.0 * random.unit() - 1.0)).normalize();
            let goal = Placement { translation: base.translation + away * 3.0, ..base };
            let mut ik = solver(&model, Target::position(frame), 20);
            let found = ik.solve(&model, &[goal], &mut q);
            assert!(!found.converged);
            assert!(within_limits(&model, &q), "{name} {case}");
            let mut descend = solver(&model, Target::position(frame), 0);
            for _ in 0..100 {
                let mut other = q.clone();
                let joints = model.trees()[0].joint_configuration_range();
                other[joints.clone()].copy_from_slice(&random.configuration(&model)[joints]);
                let sampled = errors(&model, &other, frame, &goal).0;
                let polished = descend.solve(&model, &[goal], &mut other).error;
                for error in [sampled, polished] {
                    assert!(
                        found.error <= error * (1.0 + 1e-6),
                        "{name} {case}: {found:?} {error}"
                    );
                }
            }
        }
    }
}

/// Where a joint ends the search lies on the limit itself, not near it.
#[test]
fn joints_stop_at_their_limits_exactly() {
    let model = robot("panda", Base::Fixed);
    let frame = model.find_frame("panda_hand_tcp").unwrap();
    let mut ik = solver(&model, Target::position(frame), 0);
    let mut q = vec![0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.7, 0.02];
    // Far below: the arm bends down as far as it can.
    let translation = Vector3::new(0.1, 0.0, -3.0);
    let goal = Placement { translation, ..Placement::identity() };
    let found = ik.solve(&model, &[goal], &mut q);
    let on_limit = model.joints().iter().filter(|joint| {
        let s = q[joint.configuration_range().start];
        s == joint.lower || s == joint.upper
    });
    assert!(!found.converged && on_limit.count() > 0, "{found:?} {q:?}");
    assert!(within_limits(&model, &q));
}

#[test]
fn starts_beyond_the_limits_are_put_on_them() {
    let model = robot("mini_cheetah", Base::Floating);
    let frame = model.find_frame("FL_foot").unwrap();
    let mut q = model.zero_configuration();
    let goal = pose(&model, &q, frame);
    for joint in model.joints() {
        q[joint.configuration_range().start] = 50.0;
    }
    let found = solver(&model, Target::position(frame), 0).solve(&model, &[goal], &mut q);
    assert!(found.error.is_finite() && within_limits(&model, &q));
}

/// A stretched leg has lost a direction, and a target along it has no gradient: the search stays
/// bounded, and other starts find the bent leg.
#[test]
fn singular_poses_do_not_blow_up() {
    let model = robot("icub", Base::Floating);
    let frame = model.find_frame("l_sole").unwrap();
    let zero = model.zero_configuration();
    let stretched = pose(&model, &zero, frame);
    let (mut calm, mut far) =
        (solver(&model, Target::pose(frame), 0), solver(&model, Target::pose(frame), 30));
    for (shift, reachable) in [(0.05, true), (1e-3, true), (1e-6, true), (-0.05, false)] {
        let translation = stretched.translation + Vector3::z() * shift;
        let goal = Placement { translation, ..stretched };
        let mut q = zero.clone();
        let found = calm.solve(&model, &[goal], &mut q);
        assert!(q[7..].iter().all(|s| s.abs() < 0.5), "{shift}: {q:?}");
        assert!(found.error <= shift.abs() + 1e-9, "{shift}: {found:?}");
        let found = far.solve(&model, &[goal], &mut q);
        assert_eq!(found.converged, reachable, "{shift}: {found:?}");
    }
    let mut random = Random(4);
    for _ in 0..50 {
        let mut q = random.nearby(&model, &zero, 0.3);
        let found = calm.solve(&model, &[stretched], &mut q);
        assert!(found.converged, "{found:?}");
    }
}

/// A limb of three joints meets a position; with the base free, both feet are met at once.
#[test]
fn several_targets_and_a_free_base() {
    let model = robot("mini_cheetah", Base::Floating);
    let feet = ["FL_foot", "FR_foot", "HL_foot", "HR_foot"].map(|f| model.find_frame(f).unwrap());
    let trunk = model.root_frame();
    let mut targets = feet.map(Target::position).to_vec();
    targets.push(Target::pose(trunk));
    let mut known = model.zero_configuration();
    for joint in model.joints() {
        let s = if joint.name.contains("knee") {
            1.6
        } else if joint.name.contains("hip") {
            -0.8
        } else {
            0.1
        };
        known[joint.configuration_range().start] = s;
    }
    known[2] = 0.3;
    let goals: Vec<Placement> =
        targets.iter().map(|target| pose(&model, &known, target.frame)).collect();
    let mut random = Random(5);
    for _ in 0..20 {
        let mut q = random.nearby(&model, &known, 0.3);
        for x in &mut q[..7] {
            *x += 0.3 * (2.0 * random.unit() - 1.0);
        }
        normalize(&model, &mut q);
        let settings = Settings { base: BaseMotion::Free, ..Settings::default() };
        let mut ik = InverseKinematics::new(&model, &targets, settings).unwrap();
        let found = ik.solve(&model, &goals, &mut q);
        assert!(found.converged, "{found:?}");
        assert!((q[2] - 0.3).abs() < 1e-5);
        let given = q[..7].to_vec();
        let mut ik = InverseKinematics::new(&model, &targets, Settings::default()).unwrap();
        let _ = ik.solve(&model, &goals, &mut q);
        assert_eq!(q[..7], given[..], "a given base stays");
    }
}

/// Two targets that contradict each other share the error by their weights.
#[test]
fn weights_decide_between_contradictions() {
    let model = robot("panda", Base::Fixed);
    let frame = model.find_frame("panda_hand_tcp").unwrap();
    let q0 = [0.1, -0.4, 0.2, -2.0, 0.1, 1.7, 0.6, 0.02];
    let here = pose(&model, &q0, frame);
    let there = Placement { translation: here.translation + Vector3::new(0.0, 0.04, 0.0), ..here };
    let light = Target { position_weight: 1.0, orientation_weight: 0.0, frame };
    let heavy = Target { position_weight: 3.0, ..light };
    let mut ik = InverseKinematics::new(&model, &[light, heavy], Settings::default()).unwrap();
    let mut q = q0.to_vec();
    let found = ik.solve(&model, &[here, there], &mut q);
    let moved = pose(&model, &q, frame).translation - here.translation;
    // Minimum of ½ (y² + 3 (y − 0.04)²).
    assert!((moved - Vector3::new(0.0, 0.03, 0.0)).norm() < 1e-6, "{moved:?}");
    assert!(
        !found.converged && (found.error - (0.03_f64.powi(2) + 3.0 * 1e-4).sqrt()).abs() < 1e-9
    );
}

#[test]
fn the_same_question_has_the_same_answer_bit_by_bit() {
    let model = robot("icub", Base::Floating);
    let frame = model.find_frame("l_sole").unwrap();
    let mut ik = solver(&model, Target::pose(frame), 3);
    let mut random = Random(6);
    let (start, known) = (random.configuration(&model), random.configuration(&model));
    let goal = pose(&model, &known, frame);
    let ask = |ik: &mut InverseKinematics| -> (Vec<f64>, Solution) {
        let mut q = start.clone();
        let found = ik.solve(&model, &[goal], &mut q);
        (q, found)
    };
    let first = ask(&mut ik);
    let mut fresh = solver(&model, Target::pose(frame), 3);
    assert_eq!(first, ask(&mut ik));
    assert_eq!(first, ask(&mut fresh));
}

#[test]
fn a_goal_that_is_no_number_moves_nothing() {
    let model = robot("panda", Base::Fixed);
    let frame = model.find_frame("panda_hand_tcp").unwrap();
    let mut q = vec![0.1, -0.4, 0.2, -2.0, 0.1, 1.7, 0.6, 0.02];
    let before = q.clone();
    let goal = Placement { translation: Vector3::repeat(f64::NAN), ..Placement::identity() };
    let found = solver(&model, Target::pose(frame), 0).solve(&model, &[goal], &mut q);
    assert!(!found.converged && found.error.is_nan());
    assert_eq!(q, before);
}

#[test]
fn numbers_out_of_range_are_refused() {
    let model = robot("panda", Base::Fixed);
    let target = Target::pose(model.root_frame());
    let refused = |settings: Settings, target: Target| {
        InverseKinematics::new(&model, &[target], settings).unwrap_err()
    };
    let settings = Settings { damping: 0.0, ..Settings::default() };
    assert_eq!(refused(settings, target), SettingsError::Damping { value: 0.0 });
    let settings = Settings { position_tolerance: -1.0, ..Settings::default() };
    assert_eq!(refused(settings, target), SettingsError::Tolerance { value: -1.0 });
    let target = Target { orientation_weight: -2.0, ..target };
    let error = refused(Settings::default(), target);
    assert_eq!(error, SettingsError::Weight { target: 0, value: -2.0 });
}
