#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

use std::collections::BTreeMap;

use prost::Message as _;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FileDescriptorSet};

use super::*;
use crate::shapes::{Link, Robot};

/// A scene with every shape, and a moment with contacts that touch, push and do neither.
fn all() -> (Scene, Moment) {
    let at = |z: f64| shapes::Pose { position: [1.0, 2.0, z], orientation: [0.6, 0.0, 0.8, 0.0] };
    let kinds = [
        Shape::Sphere { radius: 0.5 },
        Shape::Box { size: [1.0, 2.0, 3.0] },
        Shape::Cylinder { radius: 0.1, length: 0.3 },
        Shape::Capsule { radius: 0.1, length: 0.4 },
        Shape::Mesh { path: "package://go/trunk.STL".to_owned(), scale: [1e-3; 3] },
    ];
    let visuals = kinds.into_iter().zip([None, Some([0.1, 0.2, 0.3, 0.4])].into_iter().cycle());
    let link = |name: &str, visuals, ends: &[[f64; 3]]| Link {
        name: name.to_owned(),
        visuals,
        collisions: Vec::new(),
        ends: ends.to_vec(),
    };
    let visuals = visuals.map(|(shape, color)| Geometry { pose: at(0.5), shape, color });
    let links = vec![
        link("trunk", visuals.collect(), &[[0.0, 0.0, 1.0]]),
        link("bare", Vec::new(), &[[0.0, 3.0, -4.0], [0.0; 3]]),
        link("end", Vec::new(), &[]),
    ];
    let scene = Scene { robots: vec![Robot { name: "go".to_owned(), links }], ..Scene::default() };
    let contact = |gap: f64, force| Contact {
        position: [gap, 0.0, gap],
        normal: [0.0, 0.0, 1.0],
        gap,
        force,
        friction: 0.7,
    };
    let moment = Moment {
        t: 1.5,
        links: vec![vec![at(0.1), at(0.2), at(0.3)]],
        centers: vec![[0.1, 0.2, 0.3]],
        contacts: vec![
            contact(0.0, None),
            contact(0.1, Some([0.0, 0.0, 10.0])),
            contact(0.2, Some([0.0; 3])),
        ],
    };
    (scene, moment)
}

/// Reads a message by its descriptor alone: how often each field comes, by path.
fn decode(
    messages: &BTreeMap<String, DescriptorProto>,
    name: &str,
    mut rest: &[u8],
    path: &str,
    found: &mut BTreeMap<String, usize>,
) {
    let varint = |rest: &mut &[u8]| prost::encoding::decode_varint(rest).unwrap();
    while !rest.is_empty() {
        let key = varint(&mut rest);
        let number = Some((key >> 3) as i32);
        let field = messages[name].field.iter().find(|field| field.number == number).unwrap();
        let (width, wire) = match field.r#type() {
            // Repeated numbers are packed.
            Type::Message | Type::String | Type::Bytes | Type::Fixed32 => {
                (varint(&mut rest) as usize, 2)
            }
            Type::Double => (8, 1),
            Type::Bool => (1, 0),
            Type::Int32 | Type::Int64 => {
                varint(&mut rest);
                (0, 0)
            }
            other => panic!("unexpected {other:?}"),
        };
        assert_eq!(key & 7, wire, "{path}.{}", field.name());
        let (body, later) = rest.split_at(width);
        rest = later;
        let path = format!("{path}.{}", field.name());
        if field.r#type() == Type::Message {
            let inner = field.type_name().trim_start_matches('.');
            decode(messages, inner, body, &path, found);
        }
        *found.entry(path).or_default() += 1;
    }
}

fn decoded(message: &str, body: &[u8]) -> BTreeMap<String, usize> {
    let set = FileDescriptorSet::decode(&*schema(message)).unwrap();
    let mut messages = BTreeMap::new();
    for file in set.file {
        // A file comes behind those that it needs.
        let known = |path: &String| messages.contains_key(&file_message(path));
        assert!(file.dependency.iter().all(known), "{}", file.name());
        for own in &file.message_type {
            messages.insert(format!("{}.{}", file.package(), own.name()), own.clone());
        }
    }
    let mut found = BTreeMap::new();
    decode(&messages, message, body, "", &mut found);
    found
}

/// The message of a file.
fn file_message(path: &str) -> String {
    match path {
        "google/protobuf/timestamp.proto" => "google.protobuf.Timestamp".to_owned(),
        "google/protobuf/duration.proto" => "google.protobuf.Duration".to_owned(),
        own => own.replace(".proto", "").replace('/', "."),
    }
}

#[test]
fn messages_decode_by_their_schemas_alone() {
    let (seen, moment) = all();
    let ground = Plane { normal: [0.0, 0.0, 1.0], offset: 0.0 };
    let found = decoded(SCENE_UPDATE, &scene(&seen, Some(&ground), 3));
    let count = |path: &str| found.get(&format!(".entities{path}")).copied().unwrap_or(0);
    // The trunk, a link without shapes that carries another, and the ground; the last link is no
    // entity.
    assert_eq!((count(""), count(".cubes"), count(".cylinders")), (3, 2, 3));
    // A capsule ends in two of them.
    assert_eq!((count(".spheres"), count(".models"), count(".models.url")), (3, 1, 1));
    let found = decoded(FRAME_TRANSFORMS, &transforms(&seen, &moment, 1_500_000_000));
    let names = ["", ".parent_frame_id", ".child_frame_id", ".translation.x", ".rotation.w"];
    for name in names {
        assert_eq!(found[&format!(".transforms{name}")], 3, "{name}");
    }
    let found = decoded(SCENE_UPDATE, &contacts(&moment, 20.0, 0));
    // Two of three contacts, and the centre of mass; the arrow of the one that pushes.
    assert_eq!((found[".entities.spheres"], found[".entities.arrows"]), (3, 1));
}

/// What is written stands under the numbers that the schema has: a message with all fields of the
/// descriptor decodes into ours.
#[test]
fn schemas_name_repeated_and_single_fields() {
    let set = FileDescriptorSet::decode(&*schema(SCENE_UPDATE)).unwrap();
    let entity = set.file.iter().find(|file| file.name() == "foxglove/SceneEntity.proto").unwrap();
    let field =
        |name: &str| entity.message_type[0].field.iter().find(|f| f.name() == name).unwrap();
    assert_eq!((field("arrows").number(), field("arrows").label()), (7, Label::Repeated));
    assert_eq!((field("models").number(), field("frame_locked").number()), (14, 5));
    assert_eq!(field("lifetime").type_name(), ".google.protobuf.Duration");
    assert_eq!(field("frame_id").label(), Label::Optional);
}

#[test]
fn arrows_point_along_their_forces_and_are_as_long() {
    let directions = [[1.0, 2.0, -3.0], [-1.0, 0.0, 0.0], [0.0, -2.0, 0.0], [1e-3, 1e-3, 5.0]];
    for force in directions {
        let contact = Contact {
            position: [1.0; 3],
            normal: [0.0, 0.0, 1.0],
            gap: 0.0,
            force: None,
            friction: 0.7,
        };
        let arrow = arrow(&contact, &force, 10.0).unwrap();
        let size = force.iter().map(|part| part * part).sum::<f64>().sqrt();
        assert!((arrow.shaft_length + arrow.head_length - 0.05 * size).abs() < 1e-12);
        let q = arrow.pose.unwrap().orientation.unwrap();
        let along = rotated(&[q.w, q.x, q.y, q.z], [1.0, 0.0, 0.0]);
        for (along, force) in along.iter().zip(&force) {
            assert!((along - force / size).abs() < 1e-12, "{along} of {force:?}");
        }
    }
    let still = Contact {
        position: [0.0; 3],
        normal: [0.0, 0.0, 1.0],
        gap: 0.0,
        force: None,
        friction: 0.7,
    };
    assert!(arrow(&still, &[0.0; 3], 10.0).is_none());
    assert!(arrow(&still, &[f64::NAN; 3], 10.0).is_none());
}

/// The half balls of a capsule are at the ends of its cylinder, wherever it is turned.
#[test]
fn a_capsule_ends_in_balls() {
    let orientation = [0.5, 0.5, 0.5, 0.5];
    let pose = shapes::Pose { position: [1.0, 2.0, 3.0], orientation };
    let shape = Shape::Capsule { radius: 0.1, length: 0.4 };
    let mut entity = SceneEntity::default();
    draw(&Geometry { pose, shape, color: None }, &Scene::default(), &mut entity);
    // A third of a turn about (1, 1, 1) takes z to x.
    let at: Vec<f64> = entity
        .spheres
        .iter()
        .map(|sphere| sphere.pose.clone().unwrap().position.unwrap().x)
        .collect();
    assert!((at[0] - 0.8).abs() < 1e-15 && (at[1] - 1.2).abs() < 1e-15, "{at:?}");
}

/// A square of two triangles, red and without a colour, as an OBJ file.
const SQUARE: &str = "mtllib s.mtl\nv 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nusemtl red\nf 1 2 3\n\
                      usemtl none\nf 1 3 4\n";

fn square(path: &str) -> Result<Vec<u8>, String> {
    match path {
        "go/square.obj" => Ok(SQUARE.into()),
        "go/s.mtl" => Ok(b"newmtl red\nKd 1 0 0\n".to_vec()),
        _ => Err("no file".to_owned()),
    }
}

#[test]
fn a_mesh_is_triangles_of_its_colours() {
    let (mut seen, _) = all();
    let mesh = |path: &str, scale: [f64; 3]| Geometry {
        pose: shapes::Pose::IDENTITY,
        shape: Shape::Mesh { path: path.to_owned(), scale },
        color: Some([0.0, 0.0, 1.0, 0.5]),
    };
    seen.robots[0].links[0].visuals =
        vec![mesh("go/square.obj", [0.5; 3]), mesh("go/square.obj", [-0.5, 0.5, 0.5])];
    seen.robots[0].links[0].visuals.push(mesh("package://go/none.stl", [1.0; 3]));
    let problems = seen.read_surfaces(&mut square);
    assert_eq!(problems, ["the mesh `package://go/none.stl` is not shown: its file was not found"]);
    let update = SceneUpdate::decode(&*scene(&seen, None, 0)).unwrap();
    let entity = &update.entities[0];
    assert_eq!((entity.triangles.len(), entity.models.len()), (4, 1));
    for (k, list) in entity.triangles.iter().enumerate() {
        let color = list.color.clone().unwrap();
        // The second has the colour of the robot file.
        let expected = if k % 2 == 0 { (1.0, 0.0, 1.0) } else { (0.0, 1.0, 0.5) };
        assert_eq!((color.r, color.b, color.a), expected, "{k}");
        assert_eq!((list.points.len(), list.indices.len()), (3, 3));
        let corner = |i: usize| {
            let Point3 { x, y, z } = list.points[list.indices[i] as usize].clone();
            [x, y, z]
        };
        let edge = |i: usize| std::array::from_fn(|axis| corner(i)[axis] - corner(0)[axis]);
        // Seen from above both run counter-clockwise, the mirrored one too: 0.5 m².
        assert_eq!(cross(edge(1), edge(2)), [0.0, 0.0, 1.0], "{k}");
        let side = if k < 2 { 1.0 } else { -1.0 };
        assert!(list.points.iter().all(|point| side * point.x >= 0.0), "{k}");
    }
    // The message holds what its schema says.
    let found = decoded(SCENE_UPDATE, &scene(&seen, None, 0));
    assert_eq!((found[".entities.triangles"], found[".entities.triangles.points"]), (4, 12));
}

#[test]
fn rods_go_from_link_to_link() {
    let end = [0.0, 3.0, -4.0];
    let rod = bone(&end).unwrap();
    assert_eq!(rod.size.unwrap().z, 5.0);
    let Pose { position, orientation } = rod.pose.unwrap();
    let (at, q) = (position.unwrap(), orientation.unwrap());
    let axis = rotated(&[q.w, q.x, q.y, q.z], [0.0, 0.0, 2.5]);
    for (found, expected) in [at.x + axis[0], at.y + axis[1], at.z + axis[2]].iter().zip(end) {
        assert!((found - expected).abs() < 1e-12, "{found}, {expected}");
    }
}

#[test]
fn a_scene_is_data_and_comes_back() {
    let (scene, moment) = all();
    let text = serde_json::to_string(&(&scene, &moment)).unwrap();
    let (again, later): (Scene, Moment) = serde_json::from_str(&text).unwrap();
    assert_eq!((again, later), (scene, moment));
}

#[test]
fn the_ground_is_the_plane_of_all_contacts_or_unknown() {
    let (_, mut moment) = all();
    let ground = moment.ground().unwrap();
    assert!(ground.is_near(&Plane { normal: [0.0, 0.0, 1.0], offset: 0.0 }, 1e-15));
    moment.contacts[0].position[2] = 0.3;
    assert_eq!(moment.ground(), None);
    moment.contacts.clear();
    assert_eq!(moment.ground(), None);
}
