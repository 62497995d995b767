use legwork_block::{Files, Invalid};
use serde_json::{Value, json};

use super::*;

/// Two files of one content each.
struct Two<'t>(&'t [u8], &'t [u8]);

impl Files for Two<'_> {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        match path {
            "mu.csv" => Ok(self.0.to_vec()),
            "heights" => Ok(self.1.to_vec()),
            _ => Err(path.to_owned()),
        }
    }
}

fn ground(value: Value) -> Ground {
    serde_json::from_value(value).expect("a ground")
}

fn terrain(value: Value, files: &dyn Files) -> Result<Terrain, Invalid> {
    ground(value).stated_terrain(files)
}

fn surface(value: Value) -> Surface {
    terrain(value, &Two(b"", b"")).expect("a terrain").surface.as_ref().clone()
}

/// Height below a point in the air, as a ball would find it.
fn height(surface: &Surface, x: f64, y: f64) -> f64 {
    surface.offset_below(&Vector3::new(x, y, 3.0), 0.0, 10.0).expect("ground below")
}

fn hills(mu: &str) -> Result<Terrain, Invalid> {
    let hills = json!({ "HeightField": {
        "file": "heights", "cell": 1, "origin": [-1, 2],
        "friction": { "file": "mu.csv", "cell": "50 cm" },
    } });
    terrain(hills, &Two(mu.as_bytes(), b"0, 1\n2, 3\n"))
}

#[test]
fn each_patch_has_its_friction_and_the_border_goes_on() {
    let field = hills("# mu\n0.1, 0.2, 0.3\n0.4, 0.5, 0.6\n").expect("a file").friction;
    let field = field.expect("a map");
    for ([x, y], mu) in [
        ([-1.0, 2.0], 0.1),
        ([-0.51, 2.49], 0.1),
        ([-0.5, 2.49], 0.2),
        ([0.49, 2.5], 0.6),
        ([-9.0, 9.0], 0.4),
        ([9.0, -9.0], 0.3),
    ] {
        assert_eq!(field.at([x, y]), mu, "at {x}, {y}");
    }
    assert!(terrain(json!("Level"), &Two(b"", b"")).expect("none").friction.is_none());
}

#[test]
fn a_map_that_is_none_is_refused() {
    for (text, what) in [
        ("", "found none"),
        ("0.5,-1\n", "found -1"),
        ("0.5,1\r\n0.5,hunter2\r\n", "line 2, column 2: expected a finite number"),
    ] {
        let refused = hills(text).expect_err("refused");
        assert!(refused.message.contains(what), "{}", refused.message);
        // It may be any file.
        assert!(!refused.message.contains("hunter2"), "{}", refused.message);
    }
}

/// Four steps of 5 cm up, a landing, four down: heights at the middle of each tread.
#[test]
fn stairs_rise_by_a_step_a_tread() {
    let stairs = surface(json!({ "Stairs": {
        "rise": "5 cm", "run": "30 cm", "count": 4, "width": "1 m", "landing": "50 cm",
        "down": true,
        "start": [1, 2], "yaw": "90 deg",
    } }));
    // Along y from (1, 2).
    let at = |along: f64, aside: f64| height(&stairs, 1.0 - aside, 2.0 + along);
    for (along, expected) in [
        (-0.1, 0.0),
        (0.15, 0.05),
        (0.45, 0.10),
        (0.75, 0.15),
        (1.05, 0.20),
        (1.55, 0.20),
        (1.85, 0.15),
        (2.45, 0.05),
        (2.75, 0.0),
    ] {
        assert!((at(along, 0.3) - expected).abs() < 1e-9, "{along}: {}", at(along, 0.3));
    }
    assert!(at(1.05, 0.6).abs() < 1e-9, "beside the stairs is the plane");
    let refused =
        terrain(json!({ "Stairs": { "rise": 0.1, "run": 0.3, "count": 0 } }), &Two(b"", b""));
    assert!(refused.expect_err("refused").message.contains("expected 1 to 1000 steps, found 0"));
}

/// A ramp is a cuboid that is turned: its upper face is a plane through known points.
#[test]
fn a_ramp_is_as_high_as_its_angle_says() {
    let (slope, length, thick) = (0.2_f64, 2.0, 0.1);
    let ramp = surface(json!({ "Cuboids": { "of": [
        { "size": [length, 1, thick], "position": [0, 0, 0.3], "rpy": [0, -slope, 0] },
    ] } }));
    for x in [-0.6, 0.0, 0.7] {
        let expected = 0.3 + x * libm::tan(slope) + 0.5 * thick / libm::cos(slope);
        assert!((height(&ramp, x, 0.2) - expected).abs() < 1e-9, "at {x}");
    }
    assert!(height(&ramp, 0.0, 0.7).abs() < 1e-9);
}

/// A field of an expression goes through its values at the points of the grid, and between them it
/// is as near as splines of this cell are: 5 h³ of a sine's third derivative.
#[test]
fn a_function_is_the_height_at_its_place() {
    let hills = surface(json!({ "HeightFunction": {
        "z": "a*sin(2*x)*cos(y) + 0.1", "x": [-1, 1], "y": [0, 2], "cell": "5 cm",
        "constants": { "a": "20 cm" },
    } }));
    let Surface::HeightField(field) = hills else { panic!("a field") };
    assert_eq!(field.counts(), [41, 41]);
    for (x, y) in [(-1.0, 0.0), (0.5, 1.5), (1.0, 2.0), (-0.37, 0.92), (0.111, 1.234)] {
        let expected = 0.2 * libm::sin(2.0 * x) * libm::cos(y) + 0.1;
        assert!((field.height(x, y) - expected).abs() < 2e-4, "at {x}, {y}");
    }
    let whole = |z: &str, x: [f64; 2]| {
        terrain(
            json!({ "HeightFunction": { "z": z, "x": x, "y": [0, 1], "cell": "1 mm" } }),
            &Two(b"", b""),
        )
        .expect_err("refused")
        .message
    };
    assert!(whole("1/x", [0.0, 1.0]).contains("x = 0, y = 0"), "{}", whole("1/x", [0.0, 1.0]));
    assert!(whole("z", [0.0, 1.0]).contains('z'));
    assert!(whole("x", [1.0, 0.0]).contains("from less to more"));
    assert!(whole("x", [0.0, 1e6]).contains("at most 4000000 heights"));
    let of_time = ground(json!({ "HeightFunction": {
        "z": "a*x", "x": [0, 1], "y": [0, 1], "cell": 0.5, "constants": { "a": "1 s" },
    } }));
    let refused = of_time.stated_terrain(&Two(b"", b"")).expect_err("refused");
    assert!(refused.message.contains("expected a finite height in m"), "{}", refused.message);
}

/// The picture as an encoder writes it.
fn picture(width: u32, pixels: &[u8], depth: png::BitDepth, color: png::ColorType) -> Vec<u8> {
    let mut bytes = Vec::new();
    let per_pixel = if depth == png::BitDepth::Sixteen { 2 } else { 1 };
    let channels = if color == png::ColorType::Rgb { 3 } else { 1 };
    let height = pixels.len() as u32 / (width * per_pixel * channels);
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(color);
    encoder.set_depth(depth);
    encoder.write_header().expect("a header").write_image_data(pixels).expect("pixels");
    bytes
}

/// White is `height` above black; the first row of the picture is that of the largest y.
#[test]
fn a_picture_is_a_map_of_heights() {
    use png::{BitDepth, ColorType};
    let image = |bytes: &[u8]| {
        terrain(
            json!({ "HeightImage": {
                "file": "heights", "cell": "50 cm", "height": "2 m", "lowest": "-1 m",
                "origin": [4, 5],
            } }),
            &Two(b"", bytes),
        )
    };
    let eight = picture(3, &[0, 51, 255, 102, 0, 0], BitDepth::Eight, ColorType::Grayscale);
    let sixteen: Vec<u8> =
        [0u16, 13_107, 65_535, 26_214, 0, 0].iter().flat_map(|v| v.to_be_bytes()).collect();
    let sixteen = picture(3, &sixteen, BitDepth::Sixteen, ColorType::Grayscale);
    for bytes in [&eight, &sixteen] {
        let terrain = image(bytes).expect("a picture");
        let Surface::HeightField(field) = terrain.surface.as_ref() else { panic!("a field") };
        for ([x, y], expected) in [
            ([4.0, 5.5], -1.0),
            ([4.5, 5.5], -0.6),
            ([5.0, 5.5], 1.0),
            ([4.0, 5.0], -0.2),
            ([5.0, 5.0], -1.0),
        ] {
            assert!((field.height(x, y) - expected).abs() < 1e-12, "at {x}, {y}");
        }
    }
    let coloured = picture(2, &[0; 12], BitDepth::Eight, ColorType::Rgb);
    let refused = image(&coloured).expect_err("refused").message;
    assert!(refused.contains("expected shades of grey"), "{refused}");
    // Cut off anywhere it is refused.
    for cut in 0..eight.len() - 12 {
        assert!(image(&eight[..cut]).is_err(), "cut after {cut} bytes");
    }
}

/// What is seen of ground lies on it and faces outwards.
#[test]
fn the_mesh_of_ground_lies_on_it() {
    use legwork_block::{OtherResources, Resource, ResourceKind};
    struct None;
    impl OtherResources for None {
        fn other(&self, _: &str) -> Result<Arc<dyn Resource>, legwork_block::NoResource> {
            Err(legwork_block::NoResource::Unknown)
        }
        fn other_names(&self) -> Vec<String> {
            Vec::new()
        }
    }
    for value in [
        json!({ "Plane": { "normal": [0.2, -0.1, 1], "offset": 0.3 } }),
        json!({ "Stairs": { "rise": 0.1, "run": 0.3, "count": 3, "yaw": 1 } }),
        json!({ "HeightFunction": { "z": "0.1*x*y", "x": [0, 2], "y": [0, 1], "cell": 0.5 } }),
    ] {
        let files = Two(b"", b"");
        let surface = terrain(value.clone(), &files).expect("a terrain").surface;
        let (section, _) = ground(value.clone()).load("ground", &files, &None).expect("loaded");
        let mesh = section.mechanism().and_then(|any| any.downcast_ref::<legwork_mesh::Mesh>());
        let mesh = mesh.expect("a mesh");
        assert_eq!(
            mesh.parts.iter().map(|part| part.triangles).sum::<usize>(),
            mesh.triangles.len()
        );
        // Corners may lie in another part, under its surface.
        let deepest = mesh.vertices.iter().map(|v| surface.at(v).distance).fold(0.0, f64::max);
        assert!(deepest < 1e-12, "{value}: {deepest}");
        let outwards = mesh.triangles.iter().filter(|corners| {
            let [a, b, c] = corners.map(|i| mesh.vertices[i as usize]);
            let (centre, normal) = ((a + b + c) / 3.0, (b - a).cross(&(c - a)).normalize());
            let found = surface.at(&(centre + 1e-6 * normal));
            found.distance > -1e-6 && found.normal.dot(&normal) < 0.9
        });
        assert_eq!(outwards.count(), 0, "{value}: faces that look inwards");
    }
}

/// A slope of one in four in millimetres, as STL in text and as OBJ, turned and placed: the plane
/// that these make of it.
#[test]
fn triangles_of_a_file_are_placed_in_metres() {
    let corners = ["-9000 -9000 -2250", "9000 -9000 2250", "9000 9000 2250", "-9000 9000 -2250"];
    let mut stl = "solid slope\n".to_owned();
    for triangle in [[0, 1, 2], [0, 2, 3]] {
        stl += "facet normal 0 0 0\nouter loop\n";
        stl.extend(triangle.map(|k: usize| format!("vertex {}\n", corners[k])));
        stl += "endloop\nendfacet\n";
    }
    stl += "endsolid slope\n";
    let obj: String = corners.iter().map(|corner| format!("v {corner}\n")).collect();
    let obj = obj + "f 1 2 3 4\n";
    for (name, text) in [("slope.stl", &stl), ("slope.obj", &obj)] {
        let stated = json!({ "TriangleMesh": {
            "file": name, "scale": 0.001, "position": [0, 0, "30 cm"], "rpy": [0, 0, "90 deg"],
        } });
        let slope = terrain(stated, &Named(name, text)).expect("a slope").surface;
        for [x, y] in [[0.0, 0.0], [0.4, 1.0], [-2.0, -0.7]] {
            // What was x is y.
            let expected = 0.3 + 0.25 * y;
            assert!((height(&slope, x, y) - expected).abs() < 1e-11, "{name} at {x}, {y}");
        }
    }
}

#[test]
fn triangles_of_no_area_are_told() {
    let stated = json!({ "TriangleMesh": { "file": "a.obj" } });
    let doubt = |text: &str| terrain(stated.clone(), &Named("a.obj", text)).expect("ground").doubt;
    let one = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 2 0 0\nf 1 2 3\n";
    assert_eq!(doubt(one), None);
    let told = doubt(&format!("{one}f 1 2 4\n")).expect("one is a line");
    assert_eq!(told, "a.obj: 1 of 2 triangles have no area: left out");
}

#[test]
fn a_mesh_that_has_no_sides_is_refused_by_its_name() {
    let refused = |text: &str| {
        let stated = json!({ "TriangleMesh": { "file": "a.obj" } });
        terrain(stated, &Named("a.obj", text)).expect_err("refused").message
    };
    let turned = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 3 4\n";
    assert!(refused(turned).starts_with("a.obj: expected triangles that run the same way round"));
    assert!(refused("v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n").contains("none that has an area"));
    assert!(refused("v 0 0 0\n").starts_with("a.obj: "));
}

/// One file.
struct Named<'t>(&'t str, &'t str);

impl Files for Named<'_> {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        if path == self.0 { Ok(self.1.as_bytes().to_vec()) } else { Err(path.to_owned()) }
    }
}
