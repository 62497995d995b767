//! A robot of meshes, from its file to its recording.

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

use std::path::Path;

use prost::Message;

use crate::files::Roots;
use crate::{Cancel, Library, Record, Run, RunRequest, origin, unwatched};

/// A cuboid of 0.2 × 0.3 × 0.1 m about its middle, in millimetres, as a binary STL file.
fn cuboid() -> Vec<u8> {
    let corner = |k: usize| [k & 1, k >> 1 & 1, k >> 2].map(|bit| bit as f32 - 0.5);
    let faces =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    // A number in the header that is not UTF-8.
    let mut bytes = vec![0xff; 80];
    bytes.extend(12_u32.to_le_bytes());
    for [a, b, c, d] in faces {
        for triangle in [[a, b, c], [a, c, d]] {
            bytes.extend([0; 12]);
            for [x, y, z] in triangle.map(corner) {
                let point = [200.0 * x, 300.0 * y, 100.0 * z];
                bytes.extend(point.iter().flat_map(|x| x.to_le_bytes()));
            }
            bytes.extend([0; 2]);
        }
    }
    bytes
}

const ROBOT: &str = r#"<robot name="box"><link name="body">
  <inertial><mass value="2"/>
    <inertia ixx="0.017" iyy="0.008" izz="0.022" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><geometry><mesh filename="package://crate/look.obj"/></geometry>
    <material name="own"><color rgba="0 0 1 1"/></material></visual>
  <collision><geometry>
    <mesh filename="package://crate/touch.stl" scale="1e-3 1e-3 1e-3"/>
  </geometry></collision>
</link></robot>"#;

/// A box that rests on the corners of its mesh: m g is carried, at half its height.
const DIAGRAM: &str = r#"Diagram(
  format: 2,
  run: (stop: "0.2 s", step: "1 ms"),
  robots: { "box": Urdf(path: "crate/box.urdf") },
  blocks: {
    "patch": ContactPatch(robot: "box", frame: "body", in: { "state": "body.state" }),
    "none": Constant(value: "=zeros(0)"),
    "dyn": RobotDynamics(robot: "box", in: { "state": "body.state" }),
    "assemble": GaussContact(
      mu: 0.7, in: { "dynamics": "dyn.bus", "points": "patch.contacts", "tau": "none.y" }),
    "solve": ActiveSetQp(in: { "problem": "assemble.problem" }),
    "accel": ConstrainedAcceleration(loops: false, in: {
      "dynamics": "dyn.bus", "tau": "none.y", "points": "patch.contacts", "f": "solve.f" }),
    "body": FloatingBase(
      robot: "box", init: (position: [0, 0, "51 mm"]), in: { "nu_dot": "accel.nu_dot" }),
  },
  log: ["body.state"],
  checks: {
    "at half its height": Always(that: "=abs(body.state.base.position[2] - 50[mm]) < 1e-6[m]", after: "0.1 s"),
    "its weight is carried": Always(that: "=abs(sum(solve.f) - 2*9.81[N]) < 1e-6[N]", after: "0.1 s"),
  },
)"#;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    write("own/rest.ron", DIAGRAM.as_bytes());
    write("crate/box.urdf", ROBOT.as_bytes());
    write("crate/touch.stl", &cuboid());
    let square = "mtllib look.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red\nf 1 2 3\n";
    write("crate/look.obj", square.as_bytes());
    write("crate/look.mtl", b"newmtl red\nKd 1 0 0\n");
    folder
}

/// The bodies of messages that are looked at.
#[derive(Message)]
struct Update {
    #[prost(message, repeated, tag = "2")]
    entities: Vec<Entity>,
}

#[derive(Message)]
struct Entity {
    #[prost(string, tag = "2")]
    frame: String,
    #[prost(message, repeated, tag = "12")]
    triangles: Vec<Triangles>,
}

#[derive(Message)]
struct Triangles {
    #[prost(message, optional, tag = "3")]
    color: Option<Numbers>,
    #[prost(fixed32, repeated, tag = "5")]
    indices: Vec<u32>,
}

#[derive(Message)]
struct Numbers {
    #[prost(double, tag = "1")]
    first: f64,
    #[prost(double, tag = "3")]
    third: f64,
}

fn run(library: &Library, folder: &Path) -> Run {
    let model = library.open(folder.join("own/rest.ron")).unwrap().compile().into_model().unwrap();
    let request = RunRequest { record: Record::Memory, scene: true, ..RunRequest::default() };
    model.run(&request, &unwatched, &Cancel::default()).unwrap()
}

#[test]
fn a_box_rests_on_its_mesh_and_its_recording_knows_the_program() {
    let folder = folder();
    let library = Library::new(legwork_blocks::register);
    // Its folder is not the diagram's.
    let refused = library.open(folder.path().join("own/rest.ron")).unwrap().compile();
    assert!(
        refused.to_text().contains("folders above may not be searched"),
        "{}",
        refused.to_text()
    );
    let library = library.reading(Roots::default().and(folder.path()));
    let done = run(&library, folder.path());
    assert!(done.execution.checks_passed() == 2, "{}", done.to_json()["checks"]);
    assert_eq!(done.unseen, [""; 0]);

    let recording = done.recording().unwrap().unwrap();
    let shapes = recording.messages().find(|message| message.topic == "scene").unwrap();
    let update = Update::decode(shapes.body).unwrap();
    let body = update.entities.iter().find(|entity| entity.frame == "body").unwrap();
    let [list] = body.triangles.as_slice() else { panic!("{body:?}") };
    let color = list.color.as_ref().unwrap();
    assert_eq!((color.first, color.third, list.indices.len()), (1.0, 0.0, 3));

    // The mesh that touches is in it, byte for byte; what is only seen is not.
    let metadata = recording.metadata().unwrap();
    let kept: Vec<&str> = metadata.other.keys().map(String::as_str).collect();
    assert_eq!(kept, ["file box.urdf", "file touch.stl"]);
    let program = origin::program(metadata, "rest", &library).unwrap();
    assert_eq!(program.hash(), done.model.program().hash());

    // Another mesh is another program; another look is not.
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    write("crate/look.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    assert_eq!(run(&library, folder.path()).model.hash(), done.model.hash());
    let mut other = cuboid();
    let last = other.len() - 1;
    other[last] = 1;
    write("crate/touch.stl", &other);
    assert_ne!(run(&library, folder.path()).model.hash(), done.model.hash());

    // Without its look it runs, and the scene says so.
    std::fs::remove_file(folder.path().join("crate/look.obj")).unwrap();
    let blind = run(&library, folder.path());
    let warnings = blind.model.warnings_to_json().to_string();
    assert!(warnings.contains("meshes are missing: `package://crate/look.obj`"), "{warnings}");
    let [unseen] = blind.unseen.as_slice() else { panic!("{:?}", blind.unseen) };
    let told = "the mesh `package://crate/look.obj` is not shown: its file was not found";
    assert_eq!(unseen, told);
}
