//! A recorded scene, held against forward kinematics written out joint by joint from the robot's
//! file.

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

use legwork_mechanics::nalgebra::{
    Isometry3, Quaternion, Translation3, Unit, UnitQuaternion, Vector3,
};
use prost::Message;

use crate::{Cancel, Library, Model, Record, Recording, RunRequest, unwatched};

/// The fields of `foxglove.FrameTransforms` that are looked at.
#[derive(Message)]
struct Transforms {
    #[prost(message, repeated, tag = "1")]
    transforms: Vec<Transform>,
}

#[derive(Message)]
struct Transform {
    #[prost(string, tag = "2")]
    parent: String,
    #[prost(string, tag = "3")]
    child: String,
    #[prost(message, optional, tag = "4")]
    translation: Option<Numbers>,
    #[prost(message, optional, tag = "5")]
    rotation: Option<Numbers>,
}

#[derive(Message)]
struct Numbers {
    #[prost(double, tag = "1")]
    x: f64,
    #[prost(double, tag = "2")]
    y: f64,
    #[prost(double, tag = "3")]
    z: f64,
    #[prost(double, tag = "4")]
    w: f64,
}

fn model(diagram: &str, until: &str) -> Model {
    let library = Library::new(legwork_blocks::register);
    library.open(diagram).unwrap().until(until).compile().into_model().unwrap()
}

fn recorded(model: &Model, scene: bool) -> Recording {
    let request = RunRequest { record: Record::Memory, scene, ..RunRequest::default() };
    let run = model.run(&request, &unwatched, &Cancel::default()).unwrap();
    run.recording().unwrap().unwrap()
}

/// The text of an attribute behind `from`.
fn attribute<'a>(text: &'a str, element: &str, name: &str) -> &'a str {
    let at = text.find(&format!("<{element} ")).unwrap();
    let rest = &text[at..];
    let rest = &rest[rest.find(&format!("{name}=\"")).unwrap() + name.len() + 2..];
    &rest[..rest.find('"').unwrap()]
}

fn vector(text: &str) -> Vector3<f64> {
    Vector3::from_iterator(text.split_whitespace().map(|word| word.parse::<f64>().unwrap()))
}

/// Placements of all links: `world_from_child = world_from_parent · origin · Rot(axis, s)`.
fn placements(urdf: &str, q: &[f64]) -> Vec<(String, Isometry3<f64>)> {
    let base = UnitQuaternion::new_normalize(Quaternion::new(q[3], q[4], q[5], q[6]));
    let base = Isometry3::from_parts(Translation3::new(q[0], q[1], q[2]), base);
    let mut found = vec![("trunk".to_owned(), base)];
    let mut s = q[7..].iter();
    for joint in urdf.split("<joint ").skip(1) {
        let joint = joint.split("</joint>").next().unwrap();
        let parent = attribute(joint, "parent", "link");
        let parent = found.iter().find(|(name, _)| name == parent).unwrap().1;
        assert!(vector(attribute(joint, "origin", "rpy")).norm() == 0.0);
        let origin = Translation3::from(vector(attribute(joint, "origin", "xyz")));
        let turn = match joint.contains("type=\"fixed\"") {
            true => UnitQuaternion::identity(),
            false => {
                let axis = Unit::new_normalize(vector(attribute(joint, "axis", "xyz")));
                UnitQuaternion::from_axis_angle(&axis, *s.next().unwrap())
            }
        };
        found.push((attribute(joint, "child", "link").to_owned(), parent * origin * turn));
    }
    assert!(s.next().is_none());
    found
}

#[test]
fn links_are_where_forward_kinematics_says() {
    let recording = recorded(&model("../../diagrams/quadruped/trot.ron", "1.2 s"), true);
    let urdf = include_str!("../../../diagrams/robots/mini_cheetah/mini_cheetah.urdf");
    let state = recording.series("body.state").unwrap();
    let nanoseconds: Vec<u64> = (0..state.len()).map(|row| state.stamp(row).t_ns).collect();
    let (mut pictures, mut compared, mut off) = (0, 0, 0.0f64);
    for message in recording.messages().filter(|message| message.topic == "poses") {
        assert_eq!(message.schema, "foxglove.FrameTransforms");
        pictures += 1;
        let Ok(row) = nanoseconds.binary_search(&message.t_ns) else { continue };
        compared += 1;
        let expected = placements(urdf, &state.row(row).values[..19]);
        let found = Transforms::decode(message.body).unwrap().transforms;
        assert_eq!((found.len(), expected.len()), (17, 17), "thirteen bodies and four feet");
        for Transform { parent, child, translation, rotation } in found {
            assert_eq!(parent, "world");
            let pose = expected.iter().find(|(name, _)| *name == child).unwrap().1;
            let (p, r) = (translation.unwrap(), rotation.unwrap());
            off = off.max((Vector3::new(p.x, p.y, p.z) - pose.translation.vector).norm());
            let turn = UnitQuaternion::new_normalize(Quaternion::new(r.w, r.x, r.y, r.z));
            off = off.max(turn.rotation_to(&pose.rotation).vector().norm());
        }
    }
    // The state is logged every 5 ms.
    assert_eq!((pictures, compared > 10), (73, true), "{compared}");
    assert!(off < 1e-12, "{off}");
}

#[test]
fn a_run_that_is_seen_records_the_same_signals() {
    for (diagram, until) in
        [("../../diagrams/quadruped/trot.ron", "0.6 s"), ("demo:stand", "0.3 s")]
    {
        let model = model(diagram, until);
        let (plain, seen) = (recorded(&model, false), recorded(&model, true));
        assert_eq!(plain.messages().count(), 0);
        assert!(seen.messages().any(|message| message.topic == "contacts"));
        assert!(plain.channels().eq(seen.channels()));
        assert_eq!(plain.metadata(), seen.metadata());
        for (a, b) in plain.series_of_all().zip(seen.series_of_all()) {
            assert_eq!(a.len(), b.len());
            for row in 0..a.len() {
                let (a, b) = (a.row(row), b.row(row));
                assert_eq!(a.stamp, b.stamp);
                assert!(a.values.iter().zip(&b.values).all(|(a, b)| a.to_bits() == b.to_bits()));
            }
        }
        // The same once more, byte for byte.
        let request = RunRequest { record: Record::Memory, scene: true, ..RunRequest::default() };
        let bytes = || {
            let run = model.run(&request, &unwatched, &Cancel::default()).unwrap();
            run.recording_bytes().unwrap().to_vec()
        };
        assert!(bytes() == bytes());
    }
}

#[test]
fn what_cannot_be_seen_is_refused() {
    let request = |record| RunRequest { record, scene: true, ..RunRequest::default() };
    let run = |model: &Model, record| {
        let run = model.run(&request(record), &unwatched, &Cancel::default());
        run.err().unwrap().to_string()
    };
    let robot = model("demo:stand", "10 ms");
    assert_eq!(run(&robot, Record::Nothing), "a scene is part of a recording, and none is made");
    let library = Library::new(legwork_blocks::register);
    let signal = library.diagram(
        "a.ron",
        r#"Diagram(
            format: 2,
            run: (stop: "1 s", step: "10 ms"),
            blocks: { "one": Constant(value: 1.0) },
        )"#,
    );
    let signal = signal.compile().into_model().unwrap();
    let said = run(&signal, Record::Memory);
    assert_eq!(said, "no scene: no block of `a.ron` puts out the state of a robot");
}
