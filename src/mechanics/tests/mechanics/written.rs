//! A robot converted to URDF and read back is the same robot.

use legwork_mechanics::{Base, Joint, Model, Options, Warning, urdf_rs};

use crate::mjcf::{SEVERAL, assert_equal, inside};
use crate::random::random_models;
use crate::reference::{ROOT, urdf};

/// Models read back from the converted robot and from its file.
fn written(model: &Model) -> [Model; 2] {
    let tree = &model.trees()[0];
    let options = Options { mount: tree.mount, ..Options::new(tree.base) };
    let robot = model.to_urdf().unwrap().robot;
    let text = urdf_rs::write_to_string(&robot).unwrap();
    let (own, _) = Model::from_urdf(&robot, &options).unwrap();
    let (read, _) =
        Model::from_urdf_text(&text, &options).unwrap_or_else(|e| panic!("{e}\n{text}"));
    [own, read]
}

/// Asserts equal q, ν, M, h, frames, limits, resistance and shapes.
fn assert_kept(model: &Model) {
    let names: Vec<&str> = model.frames().iter().map(|frame| frame.name.as_str()).collect();
    let still = vec![0.0; model.configuration_dim()];
    let bounds = |joint: &Joint| {
        let parts = [joint.lower, joint.upper, joint.effort, joint.velocity];
        parts.map(|part| part.clamp(-1e9, 1e9))
    };
    for read in written(model) {
        assert_equal(model, &read, &names, &still);
        for (own, other) in model.joints().iter().zip(read.joints()) {
            assert_eq!((&own.name, bounds(own)), (&other.name, bounds(other)));
            assert_eq!((own.damping, own.friction), (other.damping, other.friction));
        }
        assert_eq!(model.mimic_joints().len(), read.mimic_joints().len());
        for (own, other) in model.mimic_joints().iter().zip(read.mimic_joints()) {
            assert_eq!((&own.name, own.joint), (&other.name, other.joint));
        }
        assert_eq!(model.resistance(), read.resistance());
        let (own, other) = (model.collisions(), read.collisions());
        assert_eq!(own.len(), other.len());
        for (own, other) in own.iter().zip(other) {
            assert_eq!((&own.shape, own.link), (&other.shape, other.link));
            let turned = (own.link_from_shape.rotation - other.link_from_shape.rotation).amax();
            assert!(turned < 1e-14, "{turned:.1e}");
        }
        assert_eq!(model.visuals().len(), read.visuals().len());
    }
}

#[test]
fn every_robot_file_is_kept() {
    let mut count = 0;
    for entry in std::fs::read_dir(format!("{ROOT}/diagrams/robots")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let path = format!("{ROOT}/diagrams/robots/{name}/{name}.urdf");
        if !std::path::Path::new(&path).is_file() {
            continue;
        }
        for base in [Base::Floating, Base::Fixed] {
            assert_kept(&Model::from_urdf_text(&urdf(&name), &Options::new(base)).unwrap().0);
        }
        count += 1;
    }
    assert!(count > 10, "{count} robots");
}

#[test]
fn every_random_robot_is_kept() {
    for sample in random_models() {
        let options = Options { rotor_inertia: Vec::new(), ..sample.options.clone() };
        assert_kept(&Model::from_urdf_text(&sample.tree.text, &options).unwrap().0);
    }
}

/// Several joints of one body and joints with an offset need massless links; parts without an
/// equivalent in URDF are listed.
#[test]
fn a_model_of_mujoco_is_kept_but_for_what_is_named() {
    let model = inside(SEVERAL).model;
    assert_kept(&model);
    assert!(model.to_urdf().unwrap().left_out.is_empty());
    let more = inside(
        r#"<option gravity="0 0 -3.7"/><worldbody><body name="a"><geom size="0.1"/>
        <joint name="j" armature="0.1" stiffness="2" damping="0.3" frictionloss="0.1" pos="1 0 0"
               range="-1 1" limited="true"/></body></worldbody>"#,
    );
    let left_out = more.model.to_urdf().unwrap().left_out;
    assert_eq!(left_out.len(), 3, "{left_out:?}");
    let plain = more.model.without_springs().with_rotor_inertia(&[0.0]).unwrap();
    let mut robot = plain.to_urdf().unwrap().robot;
    robot.name = "again".into();
    let options = Options { gravity: plain.gravity(), ..Options::new(Base::Fixed) };
    let (read, _) = Model::from_urdf(&robot, &options).unwrap();
    assert_equal(&plain, &read, &["a"], &[0.0]);
    assert_eq!((read.name(), read.joints()[0].upper), ("again", plain.joints()[0].upper));
}

/// A mimic joint has the range that results from the other joint.
#[test]
fn a_follower_is_written_with_its_range() {
    let (model, _) = Model::from_urdf_text(&urdf("panda"), &Options::new(Base::Fixed)).unwrap();
    let robot = model.to_urdf().unwrap().robot;
    let follower = robot.joints.iter().find(|joint| joint.mimic.is_some()).unwrap();
    assert_eq!((follower.limit.lower, follower.limit.upper), (0.0, 0.04));
}

/// A robot without a file is validated; errors and warnings have no line.
#[test]
fn a_robot_without_a_file_is_checked() {
    let (model, _) = Model::from_urdf_text(&urdf("go2"), &Options::new(Base::Floating)).unwrap();
    let robot = model.to_urdf().unwrap().robot;
    type Change = fn(&mut urdf_rs::Robot);
    let changes: [(Change, &str); 7] = [
        (|robot| robot.links[2].name = "a\u{7}".into(), "control character"),
        (|robot| robot.links[3].inertial.mass.value = f64::NAN, "<mass> value"),
        (|robot| robot.links[2].name = " ".into(), "empty `name`"),
        (|robot| robot.joints[1].axis.xyz.0[1] = f64::INFINITY, "<axis> xyz"),
        (|robot| robot.joints[1].axis.xyz.0 = [0.0; 3], "not zero"),
        (|robot| robot.joints[0].limit.effort = -1.0, "not below zero"),
        (|robot| robot.joints[0].child.link = "nowhere".into(), "no link is named"),
    ];
    for (change, words) in changes {
        let mut robot = robot.clone();
        change(&mut robot);
        let error = Model::from_urdf(&robot, &Options::new(Base::Fixed)).unwrap_err();
        let told = error.to_string();
        assert!(told.contains(words) && !told.contains("line"), "{told}");
    }
    // `urdf-rs` represents a missing limit by its default.
    let mut free = robot;
    free.joints.iter_mut().for_each(|joint| joint.limit = urdf_rs::JointLimit::default());
    let (read, warnings) = Model::from_urdf(&free, &Options::new(Base::Floating)).unwrap();
    assert!(read.joints().iter().all(|joint| joint.upper == f64::INFINITY));
    assert!(matches!(&warnings[..], [Warning::NoLimit { line: 0, .. }]), "{warnings:?}");
    free.joints[1].limit.jerk = 1.0;
    free.joints[2].calibration = Some(urdf_rs::Calibration::default());
    let (_, warnings) = Model::from_urdf(&free, &Options::new(Base::Floating)).unwrap();
    let told: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert!(told.contains(&"not used: <calibration>, `jerk` of <limit>".to_owned()), "{told:?}");
}
