use std::any::Any;
use std::sync::Arc;

use legwork_block::{Invalid, ResourceKind as _};
use legwork_contact::Feature;
use serde_json::json;

use super::*;
use crate::contact::hulls::Hulls;
use crate::contact::shape::PatchShape;
use crate::robot::model::RobotModel;
use crate::robot::urdf::Urdf;
use crate::testing::robots::World;

/// Files by path.
pub(crate) struct Kept(pub(crate) Vec<(&'static str, Vec<u8>)>);

impl Files for Kept {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        let found = self.0.iter().find(|(name, _)| *name == path);
        found.map(|(_, bytes)| bytes.clone()).ok_or_else(|| format!("no file `{path}`"))
    }
}

/// A cuboid of 200 × 100 × 40 with a corner in the origin, as a binary STL file.
pub(crate) fn cuboid() -> Vec<u8> {
    cuboid_of([200.0, 100.0, 40.0])
}

/// A cuboid of this size with a corner in the origin, as a binary STL file.
pub(crate) fn cuboid_of(size: [f32; 3]) -> Vec<u8> {
    let corner = |k: usize| [k & 1, k >> 1 & 1, k >> 2].map(|bit| bit as f32);
    let faces =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let mut bytes = vec![b' '; 80];
    bytes.extend(12_u32.to_le_bytes());
    for [a, b, c, d] in faces {
        for triangle in [[a, b, c], [a, c, d]] {
            bytes.extend([0; 12]);
            for at in triangle.map(corner) {
                let axes = at.iter().zip(size);
                bytes.extend(axes.flat_map(|(part, edge)| (part * edge).to_le_bytes()));
            }
            bytes.extend([0; 2]);
        }
    }
    bytes
}

/// A link with a mesh in millimetres, mirrored about its x-z plane.
fn foot(mesh: &str, center: &str, moments: [f64; 3]) -> Vec<u8> {
    let [x, y, z] = moments;
    format!(
        r#"<robot name="r"><link name="foot">
          <inertial><origin xyz="{center}"/><mass value="2"/>
            <inertia ixx="{x}" iyy="{y}" izz="{z}" ixy="0" ixz="0" iyz="0"/></inertial>
          <collision><origin xyz="0 0 -0.5" rpy="0 0 1.5707963267948966"/>
            <geometry><mesh filename="{mesh}" scale="0.001 -0.001 0.001"/></geometry></collision>
        </link></robot>"#
    )
    .into_bytes()
}

/// Where the middle of the cuboid is in the link, and an even density of 2 kg.
const CENTER: &str = "0.05 0.1 -0.48";
const EVEN: [f64; 3] = [
    2.0 / 12.0 * (0.2 * 0.2 + 0.04 * 0.04),
    2.0 / 12.0 * (0.1 * 0.1 + 0.04 * 0.04),
    2.0 / 12.0 * (0.1 * 0.1 + 0.2 * 0.2),
];

fn load(files: &Kept) -> (Arc<RobotModel>, Vec<String>) {
    load_from(files, json!({ "path": "a/foot.urdf" }))
}

/// A robot `r` of these files, and its warnings.
pub(crate) fn load_from(
    files: &Kept,
    parameters: serde_json::Value,
) -> (Arc<RobotModel>, Vec<String>) {
    let urdf: Urdf = serde_json::from_value(parameters).expect("it binds");
    let (robot, warnings) = urdf.load("r", files, &World::of(&[])).expect("a robot");
    let robot: Arc<dyn Any + Send + Sync> = robot;
    (robot.downcast().expect("a robot"), warnings)
}

fn point(feature: Feature) -> Vector3<f64> {
    match feature {
        Feature::Ball { center, radius: 0.0 } => center,
        other => panic!("expected a point, found {other:?}"),
    }
}

fn corners(files: &Kept, most: usize) -> Result<(Vec<Vector3<f64>>, usize), Invalid> {
    corners_of(&PatchShape::FromCollision, files, most)
}

fn corners_of(
    shape: &PatchShape,
    files: &Kept,
    most: usize,
) -> Result<(Vec<Vector3<f64>>, usize), Invalid> {
    let (robot, _) = load(files);
    let mut hulls = Hulls::new(&robot, files, most)?;
    let frame = robot.model.find_frame("foot").expect("a link");
    let features = shape.features(None, &robot.model, frame, &mut hulls)?;
    Ok((features.into_iter().map(point).collect(), hulls.doubts().len()))
}

#[test]
fn a_mesh_touches_with_the_corners_of_its_hull() {
    let robot = foot("meshes/foot.stl", CENTER, EVEN);
    let files = Kept(vec![("a/foot.urdf", robot), ("a/meshes/foot.stl", cuboid())]);
    assert_eq!(load(&files).1, [""; 0]);
    let (mut found, doubts) = corners(&files, 16).expect("a hull");
    // Mirrored in y, then turned by 90° about z: x of the link is −y, y is x.
    let mut expected: Vec<[f64; 3]> = (0..8)
        .map(|k| [[0.0, 0.1][k >> 1 & 1], [0.0, 0.2][k & 1], [-0.5, -0.46][k >> 2]])
        .collect();
    let order = |a: &[f64; 3], b: &[f64; 3]| {
        a.map(|x| (1e6 * x).round()).partial_cmp(&b.map(|x| (1e6 * x).round())).expect("numbers")
    };
    expected.sort_by(order);
    found.sort_by(|a, b| order(&(*a).into(), &(*b).into()));
    assert_eq!(found.len(), 8);
    for (found, expected) in found.iter().zip(&expected) {
        // The file has numbers of 32 bits.
        assert!((found - Vector3::from(*expected)).norm() < 1e-8, "{found} {expected:?}");
    }
    assert_eq!(doubts, 0);
    // Its sole are the lower four.
    let shape: PatchShape = serde_json::from_value(json!({ "Sole": {} })).expect("it binds");
    let (sole, _) = corners_of(&shape, &files, 16).expect("a sole");
    assert_eq!(sole.len(), 4);
    for corner in &sole {
        assert!((corner.z + 0.5).abs() < 1e-8 && found.iter().any(|other| other == corner));
    }
    // Four corners leave out much of it.
    let (few, doubts) = corners(&files, 4).expect("a hull");
    assert_eq!((few.len(), doubts), (4, 1));
    for wrong in [3, 1001] {
        let invalid = corners(&files, wrong).expect_err("a wrong number");
        assert_eq!(invalid.parameter.as_deref(), Some("hull_vertices"));
    }
}

#[test]
fn meshes_are_found_as_robot_files_name_them() {
    for (name, place) in [
        ("package://far/meshes/foot.stl", "far/meshes/foot.stl"),
        ("package:///far/meshes/foot.stl", "far/meshes/foot.stl"),
        ("package://a/foot.stl", "a/foot.stl"),
        ("package://other/foot.stl", "b/foot.stl"),
        ("file://foot.stl", "a/foot.stl"),
        ("../b/foot.stl", "a/../b/foot.stl"),
    ] {
        let robot = foot(name, CENTER, EVEN);
        let mut files = Kept(vec![("a/foot.urdf", robot), (place, cuboid())]);
        if place.starts_with("b/") {
            files.0.push(("b/package.xml", b"<package><name>other</name></package>".to_vec()));
            // A package has its own folder above the robot file, or is stated.
            assert!(load(&files).1[0].contains("meshes are missing"), "{name}");
            let urdf = json!({ "path": "a/foot.urdf", "packages": { "other": "b" } });
            let urdf: Urdf = serde_json::from_value(urdf).expect("it binds");
            let (_, warnings) = urdf.load("r", &files, &World::of(&[])).expect("a robot");
            assert_eq!(warnings, [""; 0]);
            continue;
        }
        assert_eq!(load(&files).1, [""; 0], "{name}");
        assert_eq!(corners(&files, 16).expect("a hull").0.len(), 8, "{name}");
    }
}

#[test]
fn missing_and_broken_meshes_are_listed_and_only_a_contact_needs_them() {
    let robot = foot("package://none/foot.stl", CENTER, EVEN);
    let files = Kept(vec![("a/foot.urdf", robot)]);
    let (robot, warnings) = load(&files);
    assert!((robot.model.total_mass() - 2.0).abs() < 1e-15);
    let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
    assert!(
        warning.starts_with("a/foot.urdf: meshes are missing: `package://none/foot.stl`; "),
        "{warning}"
    );
    assert!(warning.contains("tried a/none/foot.stl, none/foot.stl"), "{warning}");
    let invalid = corners(&files, 16).expect_err("no mesh");
    assert_eq!(invalid.parameter.as_deref(), Some("shape"));
    assert!(invalid.message.contains("mesh `package://none/foot.stl`"), "{}", invalid.message);

    let robot = foot("foot.stl", CENTER, EVEN);
    let files = Kept(vec![("a/foot.urdf", robot), ("a/foot.stl", cuboid()[..200].to_vec())]);
    let (_, warnings) = load(&files);
    let expected = "a/foot.urdf: meshes cannot be read: `a/foot.stl` (the header announces 12 \
                    triangles, 600 bytes; 116 follow)";
    assert_eq!(warnings, [expected]);
    let message = corners(&files, 16).expect_err("no mesh").message;
    assert!(message.starts_with("mesh `a/foot.stl`: the header announces"), "{message}");
}

#[test]
fn inertias_far_from_what_a_shape_allows_are_doubted() {
    let doubt = |center: &str, moments: [f64; 3]| {
        let robot = foot("foot.stl", center, moments);
        let files = Kept(vec![("a/foot.urdf", robot), ("a/foot.stl", cuboid())]);
        load(&files).1.pop().unwrap_or_default()
    };
    assert_eq!(doubt(CENTER, EVEN), "");
    // R² = 0.1² + 0.05² + 0.02²; matter that is all at the corners has tr(I)/2 = m R².
    let all = 2.0 * (0.1_f64.powi(2) + 0.05_f64.powi(2) + 0.02_f64.powi(2));
    assert_eq!(doubt(CENTER, [2.0 / 3.0 * 9.99 * all; 3]), "");
    let more = doubt(CENTER, [2.0 / 3.0 * 10.01 * all; 3]);
    assert!(more.ends_with("`foot` (10.010 times the largest that is possible)"), "{more}");
    let in_millimetres = doubt(CENTER, EVEN.map(|x| 1e6 * x));
    assert!(in_millimetres.contains("times the largest"), "{in_millimetres}");
    let small = doubt(CENTER, EVEN.map(|x| 9e-4 * x));
    assert!(small.ends_with("`foot` (9.0e-4 times that of an even density)"), "{small}");
    assert_eq!(doubt(CENTER, EVEN.map(|x| 1.1e-3 * x)), "");
    let away = doubt("0.05 0.1 0.48", EVEN);
    assert!(away.ends_with("`foot` (its centre of mass lies 8.5 radii from the middle)"), "{away}");
    assert_eq!(doubt("0.05 0.1 -0.15", EVEN), "");
}
