//! The same cuboid in every format; files that are wrong.

use nalgebra::Vector3;

use super::{Random, cuboid};
use crate::mesh::{Mesh, Texture};
use crate::{MeshError, Solid, Topology, read};

fn none(_: &str) -> Result<Vec<u8>, String> {
    Err("there is no other file".to_owned())
}

fn load(name: &str, bytes: &[u8]) -> Result<Mesh, MeshError> {
    read(name, bytes, &mut none)
}

/// A closed cuboid of 1 × 2 × 3 between the origin and (1, 2, 3).
fn expect_cuboid(mesh: &Mesh) {
    let solid = Solid::of(mesh).expect("a solid");
    assert!((solid.volume - 6.0).abs() < 1e-6, "{}", solid.volume);
    assert!((solid.center - Vector3::new(0.5, 1.0, 1.5)).norm() < 1e-6, "{}", solid.center);
    assert!(Topology::of(mesh).is_closed());
    assert_eq!(mesh.parts.iter().map(|part| part.triangles).sum::<usize>(), mesh.triangles.len());
    let [low, high] = mesh.bounds().expect("bounds");
    assert!(low.norm() < 1e-6 && (high - Vector3::new(1.0, 2.0, 3.0)).norm() < 1e-6);
}

fn binary_stl(mesh: &Mesh) -> Vec<u8> {
    let mut bytes = vec![b' '; 80];
    // As some exporters begin binary files too.
    bytes[..5].copy_from_slice(b"solid");
    bytes.extend((mesh.triangles.len() as u32).to_le_bytes());
    for k in 0..mesh.triangles.len() {
        bytes.extend([0; 12]);
        for x in mesh.corners(k).iter().flat_map(|corner| corner.iter()) {
            bytes.extend((*x as f32).to_le_bytes());
        }
        bytes.extend([0; 2]);
    }
    bytes
}

fn text_stl(mesh: &Mesh) -> String {
    let mut text = "solid a box\n".to_owned();
    for k in 0..mesh.triangles.len() {
        text += "facet normal 0 0 0\n outer loop\n";
        for corner in mesh.corners(k) {
            text += &format!("  vertex {:e} {:e} {:e}\n", corner.x, corner.y, corner.z);
        }
        text += " endloop\nendfacet\n";
    }
    text + "endsolid a box\n"
}

#[test]
fn stl() {
    let mesh = cuboid([0.0; 3], [1.0, 2.0, 3.0]);
    for bytes in [binary_stl(&mesh), text_stl(&mesh).into_bytes()] {
        let read = load("box.STL", &bytes).expect("a mesh");
        expect_cuboid(&read);
        // Equal corners are one vertex.
        assert_eq!(read.vertices.len(), 8);
    }
    let bytes = binary_stl(&mesh);
    let cut = load("a.stl", &bytes[..300]).unwrap_err().to_string();
    assert_eq!(cut, "the header announces 12 triangles, 600 bytes; 216 follow");
    let mut long = bytes;
    long[..5].copy_from_slice(b"BOXES");
    long[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
    let error = load("a.stl", &long).unwrap_err().to_string();
    assert!(error.contains("announces 4294967295 triangles"), "{error}");
    let error = load("a.stl", b"solid\nvertex 1 2\n").unwrap_err();
    assert_eq!(error, MeshError::line(2, "expected three numbers after `vertex`"));
    assert_eq!(load("a.stl", b"solid\nendsolid\n").unwrap_err(), MeshError::Empty);
    let mut nan = binary_stl(&cuboid([0.0; 3], [1.0; 3]));
    nan[96..100].copy_from_slice(&f32::NAN.to_le_bytes());
    assert!(load("a.stl", &nan).unwrap_err().to_string().contains("not a finite number"));
}

fn msh(mesh: &Mesh) -> Vec<u8> {
    let counts = [mesh.vertices.len(), 1, 2, mesh.triangles.len()];
    let mut bytes: Vec<u8> = counts.iter().flat_map(|n| (*n as i32).to_le_bytes()).collect();
    let points = mesh.vertices.iter().flat_map(|v| v.iter());
    bytes.extend(points.flat_map(|x| (*x as f32).to_le_bytes()));
    // A normal and two texture coordinates.
    bytes.extend([0; 4 * (3 + 4)]);
    bytes.extend(mesh.triangles.iter().flatten().flat_map(|i| (*i as i32).to_le_bytes()));
    bytes
}

#[test]
fn msh_of_mujoco() {
    let bytes = msh(&cuboid([0.0; 3], [1.0, 2.0, 3.0]));
    expect_cuboid(&load("box.msh", &bytes).expect("a mesh"));
    let error = |bytes: &[u8]| load("a.msh", bytes).unwrap_err().to_string();
    assert_eq!(error(&bytes[..9]), "expected a header of 16 bytes, found 9");
    let cut = error(&bytes[..bytes.len() - 1]);
    assert_eq!(cut, "the header announces 268 bytes; 267 follow");
    let mut wrong = bytes.clone();
    let last = wrong.len() - 4;
    wrong[last..].copy_from_slice(&8_i32.to_le_bytes());
    assert_eq!(error(&wrong), "vertex 8 is not among 8");
    wrong[..4].copy_from_slice(&(-1_i32).to_le_bytes());
    assert_eq!(error(&wrong), "expected a count, found -1");
    wrong[..16].fill(0x7f);
    assert!(error(&wrong).contains("triangles"), "{}", error(&wrong));
}

const OBJ: &str = "# a box
mtllib box.mtl
v 0 0 0
v 1 0 0
v 1 2 0
v 0 2 0
v 0 0 3
v 1 0 3
v 1 2 3
v 0 2 3
usemtl red
f 1 4 3 2
f 5//1 6//1 7//1 8//1
f 1/1/1 2/1/1 6/1/1 5/1/1
usemtl blue
f -6 -5 -1 -2
f 1 5 \\
  8 4
f 2 3 7 6
";

#[test]
fn obj() {
    let mesh = load("box.obj", OBJ.as_bytes()).expect("a mesh");
    expect_cuboid(&mesh);
    assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (8, 12));
    let library = "newmtl red\nKd 1 0 0\nd 0.5\nnewmtl blue\nKd 0 0 1\nmap_Kd a.png\n";
    let mut beside = |name: &str| match name {
        "box.mtl" => Ok(library.as_bytes().to_vec()),
        _ => Err("no".to_owned()),
    };
    let mesh = read("box.obj", OBJ.as_bytes(), &mut beside).expect("a mesh");
    let [red, blue] = &mesh.parts[..] else { panic!("{:?}", mesh.parts) };
    assert_eq!((red.triangles, red.material.color), (6, Some([1.0, 0.0, 0.0, 0.5])));
    assert_eq!(blue.material.texture, Some(Texture::File("a.png".to_owned())));
    // No point of the texture is given.
    assert!(blue.coordinates.is_empty());
    for (text, told) in [
        ("v 1 2 x\n", "line 1: expected three numbers after `v`"),
        ("v 1 2 3\nf 1 2 3\n", "line 2: expected the number of a vertex among 1, found `2`"),
        ("v 1 2 3\nf 0 1 1\n", "line 2: expected the number of a vertex among 1, found `0`"),
        ("v 1 2 3\nf -2 1 1\n", "line 2: expected the number of a vertex among 1, found `-2`"),
        ("v 1 2 3\nf 1 1\n", "line 2: expected 3 corners or more, found 2"),
    ] {
        assert_eq!(load("a.obj", text.as_bytes()).unwrap_err().to_string(), told);
    }
}

/// Points of a texture, of the triangles that have one: all of a material, or none.
#[test]
fn obj_with_texture() {
    let library = "newmtl a\nmap_Kd a.png\nnewmtl b\nKd 1 0 0\n";
    let load = |text: &str| {
        let mut beside = |_: &str| Ok(library.as_bytes().to_vec());
        read("a.obj", text.as_bytes(), &mut beside).expect("a mesh").parts
    };
    let square = "mtllib x\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1 0\nvt 0 1\n";
    let text = format!("{square}usemtl a\nf 1/1 2/-3 3/3/7 4/4\nusemtl b\nf 1/1 2/2 3/3\n");
    let parts = load(&text);
    let [textured, plain] = &parts[..] else { panic!("{parts:?}") };
    let half = |b, c| [[0.0, 0.0], b, c];
    let both = [half([1.0, 0.0], [1.0, 1.0]), half([1.0, 1.0], [0.0, 1.0])];
    assert_eq!(textured.coordinates, both);
    assert!(plain.coordinates.is_empty());
    // A point that is not there is no mistake of the shape.
    for corner in ["3/9/7", "3//7", "3/x/7", "3"] {
        let parts = load(&text.replace("3/3/7", corner));
        assert_eq!((parts[0].triangles, parts[0].coordinates.len()), (2, 0), "{corner}");
    }
}

/// In centimetres, moved by nodes, with vertices that nothing uses.
const COLLADA: &str = r##"<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><unit name="centimeter" meter="0.01"/><up_axis>Y_UP</up_axis></asset>
  <library_effects><effect id="e"><profile_COMMON>
    <newparam sid="surface"><surface type="2D"><init_from>picture</init_from></surface></newparam>
    <newparam sid="sampler"><sampler2D><source>surface</source></sampler2D></newparam>
    <technique sid="t"><phong><diffuse><color>0.1 0.2 0.3 1</color></diffuse></phong></technique>
  </profile_COMMON></effect></library_effects>
  <library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
  <library_geometries>
    <geometry id="half"><mesh>
      <source id="p"><float_array id="pa" count="27">
        0 0 0  100 0 0  100 200 0  0 200 0  0 0 300  100 0 300  100 200 300  0 200 300  9e9 0 0
      </float_array><technique_common><accessor source="#pa" count="9" stride="3"/>
      </technique_common></source>
      <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
      <polylist material="skin" count="3">
        <input semantic="VERTEX" source="#v" offset="1"/>
        <input semantic="NORMAL" source="#n" offset="0"/>
        <vcount>4 4 4</vcount>
        <p>9 0 9 3 9 2 9 1  9 4 9 5 9 6 9 7  9 0 9 1 9 5 9 4</p>
      </polylist>
      <triangles material="skin" count="2">
        <input semantic="VERTEX" source="#v" offset="0"/><p>2 3 7 2 7 6</p>
      </triangles>
      <polygons><input semantic="VERTEX" source="#v" offset="0"/><p>0 4 7 3</p><p>1 2 6 5</p>
      </polygons>
      <lines count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1</p></lines>
    </mesh></geometry>
  </library_geometries>
  <library_visual_scenes><visual_scene id="s">
    <node id="outer"><rotate>1 0 0 -90</rotate><rotate>1 0 0 90</rotate>
      <node><translate>10 20 30</translate><scale>1 1 1</scale>
        <matrix>1 0 0 -10 0 1 0 -20 0 0 1 -30 0 0 0 1</matrix>
        <instance_geometry url="#half"><bind_material><technique_common>
          <instance_material symbol="skin" target="#m"/>
        </technique_common></bind_material></instance_geometry>
      </node>
    </node>
  </visual_scene></library_visual_scenes>
  <scene><instance_visual_scene url="#s"/></scene>
</COLLADA>"##;

#[test]
fn collada() {
    let mesh = load("box.dae", COLLADA.as_bytes()).expect("a mesh");
    expect_cuboid(&mesh);
    assert_eq!(mesh.parts[0].material.color, Some([0.1, 0.2, 0.3, 1.0]));
    assert_eq!(mesh.parts[0].triangles, 8);
    // With a picture, and points of it for all corners of one primitive.
    let textured = COLLADA
        .replace("<color>0.1 0.2 0.3 1</color>", "<texture texture=\"sampler\" texcoord=\"UV\"/>")
        .replace(
            "<library_effects>",
            "<library_images><image id=\"picture\"><init_from>my%20map.png</init_from></image>\
             </library_images><library_effects>",
        )
        .replace(
            "<vertices id",
            "<source id=\"t\"><float_array id=\"ta\">0 0  1 0  1 1  0 1</float_array>\
             <technique_common><accessor source=\"#ta\" stride=\"2\"/></technique_common></source>\
             <vertices id",
        )
        .replace(
            "<p>2 3 7 2 7 6",
            "<input semantic=\"TEXCOORD\" source=\"#t\" offset=\"1\"/><p>2 0 3 1 7 2 2 0 7 2 6 3",
        );
    let mesh = load("box.dae", textured.as_bytes()).expect("a mesh");
    expect_cuboid(&mesh);
    let [plain, marked, bare] = &mesh.parts[..] else { panic!("{:?}", mesh.parts) };
    assert_eq!((plain.triangles, plain.coordinates.len(), bare.coordinates.len()), (6, 0, 0));
    assert_eq!(marked.material.texture, Some(Texture::File("my map.png".to_owned())));
    let both = [[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]]];
    assert_eq!(marked.coordinates, both);
    // A mirror turns corners and their points.
    let mesh = load("a.dae", textured.replace("<scale>1 1 1", "<scale>1 -1 1").as_bytes());
    let turned = both.map(|[a, b, c]| [a, c, b]);
    assert_eq!(mesh.expect("a mesh").parts[1].coordinates, turned);
    for (from, to) in
        [("7 2 6 3", "7 2 6 4"), ("1 1  0 1<", "1 1  0 x<"), ("stride=\"2\"", "stride=\"1\"")]
    {
        assert!(textured.contains(from), "{from}");
        let mesh = load("a.dae", textured.replace(from, to).as_bytes()).expect("a mesh");
        assert!(mesh.parts.iter().all(|part| part.coordinates.is_empty()), "{to}");
    }
    // Without a scene all geometries are there.
    let bare = COLLADA.replace("<scene>", "<nothing>").replace("</scene>", "</nothing>");
    let solid = Solid::of(&load("a.dae", bare.as_bytes()).expect("a mesh")).expect("a solid");
    assert!((solid.center - Vector3::new(0.5, 1.0, 1.5)).norm() < 1e-12, "{}", solid.center);
    // A mirror keeps the outside outside.
    let mirrored = COLLADA.replace("<scale>1 1 1", "<scale>1 -1 1");
    let mesh = load("a.dae", mirrored.as_bytes()).expect("a mesh");
    assert!((Solid::of(&mesh).expect("a solid").volume - 6.0).abs() < 1e-12);
    for (from, to, told) in [
        ("0 4 7 3", "0 4 7 9", "vertex 9 is not among its 9"),
        ("<vcount>4 4 4", "<vcount>4 4 5", "its list of corners ends early"),
        ("100 200 300", "100 two 300", "line 12: expected a number, found `two`"),
        ("10 20 30", "10 20", "cannot read <translate> with 2 numbers"),
        ("</asset>", "</asse>", "line 3:"),
        ("<p>0 4 7 3</p>", "<p>0 4 7 99999999999</p>", "expected a number"),
    ] {
        let wrong = COLLADA.replace(from, to);
        assert_ne!(wrong, COLLADA, "{from}");
        let error = load("a.dae", wrong.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(told), "{from}: {error}");
    }
    // A node that holds itself.
    let cycle = COLLADA.replace("<rotate>", "<instance_node url=\"#outer\"/><rotate>");
    let error = load("a.dae", cycle.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("more than"), "{error}");
}

/// The cuboid as glTF, with y up; `data` is its buffer.
fn gltf(uri: &str, length: usize) -> String {
    format!(
        r#"{{"asset": {{"version": "2.0"}}, "scene": 0, "scenes": [{{"nodes": [0]}}],
        "nodes": [{{"rotation": [-0.7071067811865476, 0, 0, 0.7071067811865476], "children": [1]}},
                  {{"mesh": 0, "translation": [1, 0, 0], "scale": [-1, 1, 1]}}],
        "meshes": [{{"primitives": [{{"attributes": {{"POSITION": 0}}, "indices": 1,
                                      "material": 0}}]}}],
        "materials": [{{"pbrMetallicRoughness": {{"baseColorFactor": [1, 0.5, 0, 1]}}}}],
        "accessors": [
            {{"bufferView": 0, "componentType": 5126, "count": 8, "type": "VEC3"}},
            {{"bufferView": 1, "componentType": 5123, "count": 36, "type": "SCALAR"}}],
        "bufferViews": [{{"buffer": 0, "byteLength": 96}},
                        {{"buffer": 0, "byteOffset": 96, "byteLength": 72}}],
        "buffers": [{{{uri}"byteLength": {length}}}]}}"#
    )
}

#[test]
fn gltf_as_text_and_binary() {
    use base64::Engine as _;
    // Mirrored back by the node's scale.
    let mesh = cuboid([0.0; 3], [1.0, 2.0, 3.0]);
    let mut data = Vec::new();
    mesh.vertices.iter().flat_map(|v| v.iter()).for_each(|x| {
        data.extend((*x as f32).to_le_bytes());
    });
    mesh.triangles.iter().flatten().for_each(|i| data.extend((*i as u16).to_le_bytes()));

    let coded = base64::engine::general_purpose::STANDARD.encode(&data);
    let inline = gltf(&format!("\"uri\": \"data:application/gltf-buffer;base64,{coded}\", "), 168);
    let beside = gltf("\"uri\": \"box.bin\", ", 168);
    let mut json = gltf("", 168).into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut binary = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
    for (kind, chunk) in [(b"JSON", &json), (b"BIN\0", &data)] {
        binary.extend((chunk.len() as u32).to_le_bytes());
        binary.extend(kind);
        binary.extend(chunk);
    }
    let mut file = |_: &str| Ok(data.clone());
    for (name, bytes) in
        [("a.gltf", inline.as_bytes()), ("a.gltf", beside.as_bytes()), ("a.glb", binary.as_slice())]
    {
        let read = read(name, bytes, &mut file).expect("a mesh");
        expect_cuboid(&read);
        assert_eq!(read.parts[0].material.color, Some([1.0, 0.5, 0.0, 1.0]));
    }
    // A picture inside, and points of it in bytes.
    let textured = inline
        .replace("\"POSITION\": 0", "\"POSITION\": 0, \"TEXCOORD_0\": 2")
        .replace(
            "1]}}],",
            "1], \"baseColorTexture\": {\"index\": 0}}}], \"textures\": [{\"source\": 0}], \
             \"images\": [{\"bufferView\": 1}],",
        )
        .replace(
            "\"SCALAR\"}],",
            "\"SCALAR\"}, {\"bufferView\": 0, \"byteOffset\": 1, \
             \"componentType\": 5121, \"count\": 8, \"type\": \"VEC2\"}],",
        );
    let part = &load("a.gltf", textured.as_bytes()).expect("a mesh").parts[0];
    let Some(Texture::Inside(bytes, range)) = &part.material.texture else { panic!("{part:?}") };
    assert_eq!(bytes[range.clone()], data[96..]);
    // The node mirrors, so that corners are turned.
    let [a, b, c] = mesh.triangles[0].map(|i| {
        let at = 1 + 2 * i as usize;
        [f32::from(data[at]) / 255.0, 1.0 - f32::from(data[at + 1]) / 255.0]
    });
    assert_eq!((part.coordinates.len(), part.coordinates[0]), (12, [a, c, b]));
    for (from, to, told) in [
        ("\"count\": 36", "\"count\": 37", "an accessor reaches beyond its view"),
        ("\"byteLength\": 72", "\"byteLength\": 73", "a view reaches beyond its buffer"),
        ("\"count\": 8,", "\"count\": 7,", "vertex 7 is not among 7"),
        ("\"mesh\": 0", "\"mesh\": 3", "there is no mesh 3; there are 1"),
        ("5123", "5120", "expected indices of type 5121, 5123 or 5125, found 5120"),
        ("\"children\": [1]", "\"children\": [0]", "more than 100000 nodes"),
    ] {
        let wrong = inline.replace(from, to);
        assert_ne!(wrong, inline, "{from}");
        let error = load("a.gltf", wrong.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(told), "{from}: {error}");
    }
    let error = load("a.gltf", beside.as_bytes()).unwrap_err().to_string();
    assert_eq!(error, "it names `box.bin`, which cannot be read: there is no other file");
}

/// Inputs with a superlinear reading time: many attributes or namespaces, each compared with each,
/// and instances of instances.
#[test]
fn files_take_a_time_in_proportion() {
    let refused = |name: &str, text: &str| load(name, text.as_bytes()).unwrap_err().to_string();
    let attributes = |count: usize| -> String {
        (0..count).map(|k| format!(" a{k} = \"\"")).collect::<Vec<_>>().concat()
    };
    let nested = |count: usize, blank: &str| {
        let open: String =
            (0..count).map(|k| format!("<a xmlns:a{k}{blank}={blank}\"u{k}\">\n")).collect();
        format!("<COLLADA>{open}{}</COLLADA>", "</a>".repeat(count))
    };
    let flat = |count: usize| {
        let all: String = (0..count).map(|k| format!("<a xmlns='u{k}'/>")).collect();
        format!("<!-- < > --><COLLADA>{all}</COLLADA>")
    };
    let no_triangles = "it has no triangles";
    for (text, told) in [
        (format!("<COLLADA{}/>", attributes(256)), no_triangles),
        (format!("\n<COLLADA{}/>", attributes(257)), "line 2: an element of more than 256 attr"),
        (nested(64, ""), no_triangles),
        (nested(65, ""), "line 65: more than 64 namespaces"),
        (nested(65, " "), "line 65: more than 64 namespaces"),
        (nested(65, "\n"), "more than 64 namespaces"),
        (flat(64), no_triangles),
        (flat(65), "more than 64 namespaces"),
        // A repeated namespace does not count again, nor does one in a value or a comment.
        (format!("<COLLADA>{}</COLLADA>", "<a xmlns:a=\"u\"/>".repeat(500)), no_triangles),
        (format!("<COLLADA a=\"{}\"/>", "xmlns:a='u' > ".repeat(99)), no_triangles),
    ] {
        let found = refused("a.dae", &text);
        assert!(found.contains(told), "{found}; expected {told}\n{text:.90}");
    }
    let geometry = "<library_geometries><geometry id=\"g\"><mesh><vertices><input \
                    semantic=\"POSITION\" source=\"#s\"/></vertices><source id=\"s\">\
                    <float_array>0 0 0 1 0 0 0 1 0</float_array></source>TRIANGLES</mesh>\
                    </geometry></library_geometries>";
    let scene = |shape: &str, times: usize, inner: &str| {
        format!(
            "<COLLADA>{shape}<library_nodes><node id=\"n\">{}</node></library_nodes>\
             <library_visual_scenes><visual_scene id=\"v\">{}</visual_scene>\
             </library_visual_scenes><scene><instance_visual_scene url=\"#v\"/></scene></COLLADA>",
            inner.repeat(times),
            "<instance_node url=\"#n\"/>".repeat(times)
        )
    };
    let instance = "<instance_geometry url=\"#g\"/>";
    let empty = geometry.replace("TRIANGLES", "");
    let one = "<triangles><input semantic=\"VERTEX\" offset=\"0\"/><p>0 1 2</p></triangles>";
    let full = geometry.replace("TRIANGLES", one);
    for shape in [&empty, &full] {
        let found = refused("a.dae", &scene(shape, 400, instance));
        assert_eq!(found, "its scene has more than 100000 nodes");
    }
    let found = refused("a.dae", &scene(&empty, 1100, "<extra/>"));
    assert_eq!(found, "its scene has more than 1000000 elements");
    let mesh = load("a.dae", scene(&full, 30, instance).as_bytes()).expect("a mesh");
    assert_eq!(mesh.triangles.len(), 900);
    // Nodes of a mesh with primitives without vertices.
    let primitives = |times: usize| {
        let json = gltf("", 168).replace("[1]", &format!("[{}]", vec!["1"; times].join(", ")));
        let at = json.find("[{\"attributes\"").expect("primitives");
        let end = at + json[at..].find("}]").expect("an end") + 2;
        let all = vec!["{\"attributes\": {\"POSITION\": 0}}"; times].join(", ");
        let json = format!("{}[{all}]{}", &json[..at], &json[end..]);
        let json = json.replace("\"count\": 8", "\"count\": 0");
        json.replace("\"buffers\": [{", "\"buffers\": [{\"uri\": \"b\", ")
    };
    let mut beside = |_: &str| Ok(vec![0; 168]);
    let mut load = |times| read("a.gltf", primitives(times).as_bytes(), &mut beside);
    let found = load(400).unwrap_err().to_string();
    assert_eq!(found, "its scene has more than 100000 primitives");
    assert_eq!(load(30).unwrap_err(), MeshError::Empty);
}

#[test]
fn names_tell_the_format() {
    let error = load("robot.step", b"").unwrap_err().to_string();
    assert_eq!(
        error,
        "`robot.step` has no ending that tells its format; read are .stl, .obj, .dae, .gltf, \
         .glb, .msh"
    );
}

/// Bytes exchanged, cut out and doubled: an error or a mesh whose indices are those of vertices.
#[test]
fn damaged_files_are_refused_or_read() {
    let mesh = cuboid([0.0; 3], [1.0, 2.0, 3.0]);
    let samples: [(&str, Vec<u8>); 6] = [
        ("a.stl", binary_stl(&mesh)),
        ("a.stl", text_stl(&mesh).into_bytes()),
        ("a.obj", OBJ.into()),
        ("a.dae", COLLADA.into()),
        ("a.gltf", gltf("\"uri\": \"box.bin\", ", 168).into_bytes()),
        ("a.msh", msh(&mesh)),
    ];
    let mut random = Random(11);
    let mut read_well = 0;
    for _ in 0..2000 {
        for (name, sample) in &samples {
            let mut bytes = sample.clone();
            for _ in 0..=random.bits() % 4 {
                let (at, other) = (random.bits() as usize, random.bits() as usize);
                let (at, other) = (at % bytes.len(), other % bytes.len());
                match random.bits() % 4 {
                    0 => bytes[at] = random.bits() as u8,
                    1 => bytes.swap(at, other),
                    2 => drop(bytes.drain(at..(at + other % 9).min(bytes.len()))),
                    _ => {
                        let piece = bytes[at..(at + other % 99).min(bytes.len())].to_vec();
                        bytes.splice(at..at, piece);
                    }
                }
                if bytes.is_empty() {
                    bytes.push(0);
                }
            }
            let mut beside = |_: &str| Ok(vec![0; 168]);
            if let Ok(read) = read(name, &bytes, &mut beside) {
                read_well += 1;
                let count = read.vertices.len() as u32;
                assert!(read.triangles.iter().flatten().all(|index| *index < count));
                let in_parts: usize = read.parts.iter().map(|part| part.triangles).sum();
                assert_eq!(in_parts, read.triangles.len());
            }
        }
    }
    assert!(read_well > 500, "{read_well}");
}
