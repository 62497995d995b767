//! Laws of legs in closed form, on robots of the diagrams, against the kinematics of whole robots.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use legwork_control::{KneeBend, Leg, LegError, Reach};
use legwork_mechanics::nalgebra::{Matrix3, Vector3};
use legwork_mechanics::{
    Base, FrameId, Kinematics, Model, Options, frame_jacobian, world_from_frame,
};

fn robot(name: &str) -> Model {
    let path = format!("{}/../../diagrams/robots/{name}/{name}.urdf", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    Model::from_urdf_text(&text, &Options::new(Base::Floating)).unwrap().0
}

fn legs() -> Vec<(Model, [FrameId; 4])> {
    let names = [
        ("mini_cheetah", ["FL_foot", "FR_foot", "HL_foot", "HR_foot"]),
        ("anymal_c", ["LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"]),
        ("solo12", ["FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"]),
    ];
    names
        .into_iter()
        .map(|(name, feet)| {
            let model = robot(name);
            let feet = feet.map(|foot| model.find_frame(foot).unwrap());
            (model, feet)
        })
        .collect()
}

/// The robot file of ANYmal gives its turns by a third or half to 12 digits, so its axes are not
/// quite along those of the trunk.
fn rounding(model: &Model) -> f64 {
    if model.name().contains("anymal") { 1e-11 } else { 1e-13 }
}

struct Random(u64);

impl Random {
    fn within(&mut self, lower: f64, upper: f64) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        lower + (upper - lower) * ((self.0 >> 11) as f64 / (1_u64 << 53) as f64)
    }

    /// Joint positions of a leg with the foot below the abduction axis, bent its way.
    fn posture(&mut self, model: &Model, leg: &Leg, bend: KneeBend) -> [f64; 3] {
        loop {
            let s = leg.joints().map(|joint| {
                let joint = model.joint(joint);
                self.within(joint.lower.max(-2.5), joint.upper.min(2.5))
            });
            let mut kinematics = Kinematics::new(model);
            // The abduction turns all of it: the rest is seen best with the leg upright.
            let upright = [0.0, s[1], s[2]];
            kinematics.update_placements(model, &configuration(model, leg, &upright));
            let body = model
                .frames()
                .iter()
                .position(|frame| frame.body == model.body_of_joint(leg.joints()[2]));
            let knee = model.find_frame(&model.frames()[body.unwrap()].name).unwrap();
            let knee = world_from_frame(model, &kinematics, knee).translation;
            let (hip, foot) = (leg.hip_position(), leg.foot_position(&upright));
            let line = foot - hip;
            // Above zero if the knee is before the line from hip to foot.
            let side = (knee - hip).z * line.x - (knee - hip).x * line.z;
            let is_bent = if bend == KneeBend::Forward { side > 1e-3 } else { side < -1e-3 };
            if line.z < -0.02 && is_bent {
                return s;
            }
        }
    }
}

fn configuration(model: &Model, leg: &Leg, s: &[f64; 3]) -> Vec<f64> {
    let mut q = model.zero_configuration();
    for (joint, s) in leg.joints().into_iter().zip(s) {
        q[model.joint(joint).configuration_range().start] = *s;
    }
    q
}

#[test]
fn the_foot_is_where_the_whole_robots_kinematics_have_it() {
    let mut random = Random(3);
    for (model, feet) in legs() {
        let rounding = rounding(&model);
        let mut kinematics = Kinematics::new(&model);
        for foot in feet {
            let leg = Leg::new(&model, foot, KneeBend::Backward).unwrap();
            for _ in 0..50 {
                let s = [(); 3].map(|()| random.within(-3.0, 3.0));
                kinematics.update_placements(&model, &configuration(&model, &leg, &s));
                let exact = world_from_frame(&model, &kinematics, foot).translation;
                let apart = (leg.foot_position(&s) - exact).norm();
                assert!(apart < rounding, "{}: {apart:.1e} m at {s:?}", model.frame(foot).name);
            }
        }
    }
}

#[test]
fn the_jacobian_is_that_of_the_whole_robot() {
    let mut random = Random(5);
    for (model, feet) in legs() {
        let rounding = rounding(&model);
        let mut kinematics = Kinematics::new(&model);
        let mut whole = vec![0.0; 6 * model.velocity_dim()];
        for foot in feet {
            let leg = Leg::new(&model, foot, KneeBend::Backward).unwrap();
            for _ in 0..50 {
                let s = [(); 3].map(|()| random.within(-3.0, 3.0));
                kinematics.update_placements(&model, &configuration(&model, &leg, &s));
                frame_jacobian(&model, &kinematics, foot, &mut whole);
                let columns = leg.joints().map(|joint| {
                    let at = 6 * model.joint(joint).velocity_range().start;
                    Vector3::from_column_slice(&whole[at..at + 3])
                });
                let apart = (leg.jacobian(&s) - Matrix3::from_columns(&columns)).norm();
                assert!(apart < rounding, "{}: {apart:.1e} m at {s:?}", model.frame(foot).name);
            }
        }
    }
}

#[test]
fn inverse_and_forward_kinematics_undo_each_other_over_the_workspace() {
    let mut random = Random(7);
    for (model, feet) in legs() {
        for foot in feet {
            for bend in [KneeBend::Backward, KneeBend::Forward] {
                let leg = Leg::new(&model, foot, bend).unwrap();
                for _ in 0..200 {
                    let s = random.posture(&model, &leg, bend);
                    let p = leg.foot_position(&s);
                    let found = leg.joint_positions(&p);
                    assert_eq!(found.reach, Reach::Within, "{s:?}");
                    let apart = (leg.foot_position(&found.positions) - p).norm();
                    assert!(apart < 1e-13, "{bend:?}: {apart:.1e} m at {s:?}");
                    // Near a stretched knee the angle is known to √ε only.
                    for (s, found) in s.iter().zip(found.positions) {
                        assert!((s - found).abs() < 1e-6, "{s:?} {found:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_two_bends_are_mirror_images_about_the_line_from_hip_to_foot() {
    let model = robot("mini_cheetah");
    let foot = model.find_frame("FL_foot").unwrap();
    let p = Vector3::new(0.22, 0.13, -0.27);
    let knees = [KneeBend::Backward, KneeBend::Forward].map(|bend| {
        let leg = Leg::new(&model, foot, bend).unwrap();
        let found = leg.joint_positions(&p);
        assert_eq!(found.reach, Reach::Within);
        let mut kinematics = Kinematics::new(&model);
        kinematics.update_placements(&model, &configuration(&model, &leg, &found.positions));
        let shank = model.find_frame("FL_shank").unwrap();
        world_from_frame(&model, &kinematics, shank).translation
    });
    let hip = 0.19;
    assert!(knees[0].x < hip - 0.05 && knees[1].x > hip + 0.05, "{knees:?}");
    let (to_first, to_second) = ((knees[0] - p).norm(), (knees[1] - p).norm());
    assert!((to_first - to_second).abs() < 1e-13, "{to_first} {to_second}");
}

#[test]
fn a_foot_out_of_reach_is_reported_and_met_as_nearly_as_the_leg_can() {
    let model = robot("mini_cheetah");
    let leg = Leg::new(&model, model.find_frame("HL_foot").unwrap(), KneeBend::Backward).unwrap();
    let hip = leg.hip_position();
    let out = Vector3::new(0.6, 0.0, -0.8);
    let found = leg.joint_positions(&(hip + 0.5 * out));
    assert_eq!(found.reach, Reach::TooFar);
    let apart = (leg.foot_position(&found.positions) - hip - leg.length() * out).norm();
    assert!(apart < 1e-7, "a stretched leg ends {apart:.1e} m away");
    // Thigh and shank differ by 14 mm: nothing is nearer to the hip.
    assert_eq!(leg.joint_positions(&(hip + 0.005 * out)).reach, Reach::TooNear);
    // On the abduction axis, where the leg's plane cannot go.
    let on_axis = Vector3::new(-0.2, 0.049, 0.0);
    assert_eq!(leg.joint_positions(&on_axis).reach, Reach::OnAbductionAxis);
    // Far to the side the abduction would pass its limit of 1.2 rad.
    let aside = leg.joint_positions(&(hip + Vector3::new(0.0, 0.25, 0.05)));
    assert_eq!(aside.reach, Reach::BeyondLimit);
    assert!(aside.positions[0] <= 1.2, "{aside:?}");
    for p in [Vector3::zeros(), hip, on_axis] {
        assert!(leg.joint_positions(&p).positions.iter().all(|s| s.is_finite()), "{p:?}");
    }
}

#[test]
fn velocities_are_exact_away_from_singular_poses_and_bounded_at_them() {
    let mut random = Random(11);
    for (model, feet) in legs() {
        for foot in feet {
            let leg = Leg::new(&model, foot, KneeBend::Backward).unwrap();
            let mut exact = 0;
            for _ in 0..100 {
                let s =
                    [random.within(-1.0, 1.0), random.within(-1.2, 1.2), random.within(0.3, 2.4)];
                let v = Vector3::from([(); 3].map(|()| random.within(-1.0, 1.0)));
                let rates = Vector3::from(leg.joint_velocities(&s, &v));
                if leg.jacobian(&s).determinant().abs() > 1e-3 * leg.length().powi(3) {
                    let apart = (leg.jacobian(&s) * rates - v).norm();
                    let is_damped = apart > 1e-10;
                    exact += usize::from(!is_damped);
                }
            }
            assert!(exact > 60, "exact at {exact} of 100 postures");
            // Stretched: no velocity along the leg, and no joint diverges.
            let v = Vector3::new(0.0, 0.0, 1.0);
            let rates = leg.joint_velocities(&[0.0, 0.0, 0.0], &v);
            assert!(rates.iter().all(|rate| rate.abs() < 1.0 / (0.05 * leg.length())), "{rates:?}");
        }
    }
}

#[test]
fn what_is_no_such_leg_is_refused() {
    let icub = robot("icub");
    let sole = icub.find_frame("l_sole").unwrap();
    let refused = Leg::new(&icub, sole, KneeBend::Backward).unwrap_err();
    assert!(matches!(refused, LegError::JointCount { found: 6, .. }), "{refused}");
    let trunk = robot("mini_cheetah");
    let refused = Leg::new(&trunk, trunk.root_frame(), KneeBend::Backward).unwrap_err();
    assert!(matches!(refused, LegError::JointCount { found: 0, .. }), "{refused}");
}
