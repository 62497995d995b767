//! The surfaces of meshes that are drawn.

use std::collections::{BTreeMap, BTreeSet};

use legwork_mesh::{Hull, Mesh, Part, Texture};

use crate::picture::{MOST_PIXELS, Picture};
use crate::shapes::{Patch, Scene, Shape, Surface};

/// Most triangles of a scene, about 100 MB of it; meshes beyond are drawn as their hulls.
const MOST_TRIANGLES: usize = 2_000_000;
/// Most corners of such a hull.
const CORNERS: usize = 200;
/// Most colours that a picture gives a surface.
const MOST_COLORS: usize = 64;
/// Most meshes that a sentence names.
const MOST_NAMES: usize = 5;
/// Weights of the corners in the points of a triangle at which its picture is looked at.
const SAMPLES: [[f32; 3]; 4] = [
    [1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0],
    [2.0 / 3.0, 1.0 / 6.0, 1.0 / 6.0],
    [1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0],
    [1.0 / 6.0, 1.0 / 6.0, 2.0 / 3.0],
];

impl Scene {
    /// Takes over where meshes are from a scene of the same diagram: the paths of shapes of links
    /// with the same names and places, where the name of the file is the same.
    pub fn find_meshes(&mut self, found: &Scene) {
        let last = |path: &str| path.rsplit(['/', '\\']).next().map(str::to_owned);
        let by_name = |name: &str| found.robots.iter().find(|robot| robot.name == name);
        for robot in &mut self.robots {
            let Some(found) = by_name(&robot.name) else { continue };
            for (link, found) in robot.links.iter_mut().zip(&found.links) {
                if link.name != found.name || link.visuals.len() != found.visuals.len() {
                    continue;
                }
                let own = link.visuals.iter_mut().chain(&mut link.collisions);
                let found = found.visuals.iter().chain(&found.collisions);
                for (own, found) in own.zip(found) {
                    if let Shape::Mesh { path, .. } = &mut own.shape
                        && let Shape::Mesh { path: found, .. } = &found.shape
                        && last(path) == last(found)
                    {
                        path.clone_from(found);
                    }
                }
            }
        }
    }

    /// Reads the meshes that are drawn, through a function that gives the bytes of a file by its
    /// path; what cannot be read is told in a few sentences, and stays without a surface.
    ///
    /// A scene has at most 2 million triangles: a mesh that would be beyond is drawn as its convex
    /// hull of at most 200 corners. A picture on a mesh gives each triangle the mean of what lies
    /// on it, in at most 64 colours.
    pub fn read_surfaces(
        &mut self,
        read: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
    ) -> Vec<String> {
        let links = self.robots.iter().flat_map(|robot| &robot.links);
        let paths: BTreeSet<String> = links
            .flat_map(|link| link.drawn())
            .filter_map(|geometry| match &geometry.shape {
                Shape::Mesh { path, .. } => Some(path.clone()),
                _ => None,
            })
            .collect();
        let (mut triangles, mut unread, mut problems) = (0, Vec::new(), Vec::new());
        for path in paths {
            // Of a name that a robot file has, such as `package://…`, no file was found.
            let bytes = match path.contains("://") {
                true => Err("its file was not found".to_owned()),
                false => read(&path),
            };
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            let mut beside = |name: &str| match folder {
                "" => read(name),
                folder => read(&format!("{folder}/{name}")),
            };
            let mesh = bytes.and_then(|bytes| {
                legwork_mesh::read(&path, &bytes, &mut beside).map_err(|error| error.to_string())
            });
            let mesh = match mesh {
                Ok(mesh) => mesh,
                Err(problem) => {
                    unread.push((path, problem));
                    continue;
                }
            };
            let is_small = triangles + mesh.triangles.len() <= MOST_TRIANGLES;
            let surface =
                match is_small {
                    true => {
                        let mut missing = BTreeSet::new();
                        let surface = Surface::of(&mesh).colored(&mesh, &mut beside, &mut missing);
                        problems.extend(missing.iter().map(|why| {
                            format!("a picture on the mesh `{path}` is not shown: {why}")
                        }));
                        surface
                    }
                    // A flat mesh has no hull, and is left out.
                    false => Hull::of_mesh(&mesh, CORNERS).map_or_else(
                        |_| Surface::default(),
                        |hull| Surface::of(&hull.to_mesh()).painted(&mesh),
                    ),
                };
            triangles += if is_small { mesh.triangles.len() } else { 2 * CORNERS };
            self.surfaces.insert(path, surface);
        }
        problems.splice(0..0, told(&unread));
        problems
    }
}

/// One sentence about the meshes that were not read, and why the first was not.
fn told(unread: &[(String, String)]) -> Option<String> {
    let (first, why) = unread.first()?;
    if unread.len() == 1 {
        return Some(format!("the mesh `{first}` is not shown: {why}"));
    }
    let names = unread.iter().take(MOST_NAMES).map(|(path, _)| format!("`{path}`"));
    let names = names.collect::<Vec<_>>().join(", ");
    let more = match unread.len().saturating_sub(MOST_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!("the meshes {names}{more} are not shown; the first: {why}"))
}

impl Surface {
    pub(crate) fn of(mesh: &Mesh) -> Self {
        let mut rest = mesh.triangles.as_slice();
        let patches = mesh.parts.iter().map(|part| {
            let (own, others) = rest.split_at(part.triangles.min(rest.len()));
            rest = others;
            Patch { triangles: own.to_vec(), color: part.material.color }
        });
        let patches = patches.collect();
        Self { vertices: mesh.vertices.iter().map(|vertex| (*vertex).into()).collect(), patches }
    }

    /// In the colours of the pictures on a mesh, which come from `beside`; why some are `missing`.
    fn colored(
        mut self,
        mesh: &Mesh,
        beside: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
        missing: &mut BTreeSet<String>,
    ) -> Self {
        // Those that were read, and nothing for those that could not be; a picture inside the file
        // is told by where it is.
        let mut known: BTreeMap<(&str, usize), Option<Picture>> = BTreeMap::new();
        let (mut pixels, mut patches) = (0, Vec::new());
        for (patch, part) in self.patches.into_iter().zip(&mesh.parts) {
            let Some(texture) =
                part.material.texture.as_ref().filter(|_| !part.coordinates.is_empty())
            else {
                patches.push(patch);
                continue;
            };
            let key = match texture {
                Texture::File(name) => (name.as_str(), 0),
                Texture::Inside(bytes, range) => ("", bytes.as_ptr().addr() + range.start),
            };
            let picture = known.entry(key).or_insert_with(|| {
                let read = match pixels <= MOST_PIXELS {
                    true => picture(texture, beside),
                    false => Err(format!("its pictures have more than {MOST_PIXELS} pixels")),
                };
                let read = read.map_err(|why| missing.insert(why)).ok();
                pixels += read.as_ref().map_or(0, Picture::pixels);
                read
            });
            match picture {
                Some(picture) => patches.extend(by_color(&patch, part, picture)),
                None => patches.push(patch),
            }
        }
        self.patches = patches;
        self
    }

    /// In the colour of the largest part of a mesh.
    fn painted(mut self, mesh: &Mesh) -> Self {
        let largest = mesh.parts.iter().max_by_key(|part| part.triangles);
        let color = largest.and_then(|part| part.material.color);
        self.patches.iter_mut().for_each(|patch| patch.color = color);
        self
    }
}

fn picture(
    texture: &Texture,
    beside: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<Picture, String> {
    match texture {
        Texture::File(name) => {
            let read = beside(name).and_then(|bytes| Picture::read(&bytes));
            read.map_err(|why| format!("`{}`: {why}", name.escape_debug()))
        }
        Texture::Inside(bytes, range) => {
            Picture::read(bytes.get(range.clone()).unwrap_or_default())
        }
    }
}

/// The triangles of a patch, by the colour that a picture has on them.
fn by_color(patch: &Patch, part: &Part, picture: &Picture) -> Vec<Patch> {
    let colors: Vec<[f64; 3]> =
        part.coordinates.iter().map(|corners| mean(corners, picture)).collect();
    let opacity = part.material.color.map_or(1.0, |color| color[3]);
    // As fine as so many colours allow: 5 bits for each part of a colour, or fewer.
    let shades = |color: &[f64; 3], bits: i32| {
        color.map(|part| (part * f64::from((1 << bits) - 1)).round() as u8)
    };
    let mut groups: BTreeMap<[u8; 3], (Vec<usize>, [f64; 3])> = BTreeMap::new();
    for bits in (1..=5).rev() {
        groups.clear();
        for (index, color) in colors.iter().enumerate() {
            let (triangles, sum) = groups.entry(shades(color, bits)).or_default();
            triangles.push(index);
            sum.iter_mut().zip(color).for_each(|(sum, part)| *sum += part);
        }
        if groups.len() <= MOST_COLORS {
            break;
        }
    }
    let patch = |(triangles, sum): &(Vec<usize>, [f64; 3])| {
        let [red, green, blue] = sum.map(|part| part / triangles.len() as f64);
        Patch {
            triangles: triangles.iter().map(|index| patch.triangles[*index]).collect(),
            color: Some([red, green, blue, opacity]),
        }
    };
    groups.values().map(patch).collect()
}

/// The mean colour of a picture on a triangle.
fn mean(corners: &[[f32; 2]; 3], picture: &Picture) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for weights in SAMPLES {
        let along = |axis: usize| (0..3).map(|k| weights[k] * corners[k][axis]).sum();
        let color = picture.at([along(0), along(1)]);
        sum.iter_mut().zip(color).for_each(|(sum, part)| *sum += part / SAMPLES.len() as f64);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::{Geometry, Link, Pose, Robot};

    /// 64 shades of red from left to right, twice as many of blue from bottom to top.
    fn shades() -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 64, 128);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header().expect("a header");
        let pixel = |k: usize| [4 * (k % 64) as u8, 0, 254 - 2 * (k / 64) as u8];
        let pixels: Vec<u8> = (0..64 * 128).flat_map(pixel).collect();
        writer.write_image_data(&pixels).expect("pixels");
        writer.finish().expect("an end");
        bytes
    }

    fn scene_of(paths: &[&str]) -> Scene {
        let visual = |path: &&str| Geometry {
            pose: Pose::IDENTITY,
            shape: Shape::Mesh { path: (*path).to_owned(), scale: [1.0; 3] },
            color: None,
        };
        let visuals = paths.iter().map(visual).collect();
        let (name, collisions, ends) = ("l".to_owned(), Vec::new(), Vec::new());
        let links = vec![Link { name, visuals, collisions, ends }];
        Scene { robots: vec![Robot { name: "r".to_owned(), links }], ..Scene::default() }
    }

    #[test]
    fn meshes_are_found_where_another_scene_has_them() {
        let mut scene = scene_of(&["package://a/m.stl", "n.stl", "file://o.stl"]);
        scene.find_meshes(&scene_of(&["/ros/a/m.stl", "/ros/a/n.stl", "/ros/a/other.stl"]));
        let read = |path: &str| Err(format!("no {path}"));
        let told = scene.read_surfaces(&mut |path: &str| read(path));
        let names = "`/ros/a/m.stl`, `/ros/a/n.stl`, `file://o.stl`";
        let why = "no /ros/a/m.stl";
        assert_eq!(told, [format!("the meshes {names} are not shown; the first: {why}")]);
    }

    /// Each triangle has the mean colour of its piece of the picture, up to the shades of a group.
    #[test]
    fn triangles_have_the_colours_of_their_picture() {
        let (mut text, cells) = ("mtllib m.mtl\nusemtl a\n".to_owned(), 32);
        for k in 0..cells * cells {
            let [x, y] = [k % cells, k / cells].map(|at| at as f64 / cells as f64);
            let edge = 1.0 / cells as f64;
            let corners = [[x, y], [x + edge, y], [x + edge, y + edge]];
            for [u, v] in corners {
                text += &format!("v {u} {v} 0\nvt {u} {v}\n");
            }
            text += "f -3/-3 -2/-2 -1/-1\n";
        }
        let read = |path: &str| match path {
            "go/m.obj" => Ok(text.clone().into_bytes()),
            "go/m.mtl" => Ok(b"newmtl a\nKd 1 1 1\nd 0.5\nmap_Kd p/shades.png\n".to_vec()),
            "go/p/shades.png" => Ok(shades()),
            "go/n.obj" => Ok(text.replace("m.mtl", "n.mtl").into_bytes()),
            "go/n.mtl" => Ok(b"newmtl a\nKd 0 1 0\nmap_Kd none.png\n".to_vec()),
            _ => Err("no file".to_owned()),
        };
        let mut scene = scene_of(&["go/m.obj", "go/n.obj"]);
        let told = scene.read_surfaces(&mut |path: &str| read(path));
        assert_eq!(told, ["a picture on the mesh `go/n.obj` is not shown: `none.png`: no file"]);
        // Without its picture it has the colour of its material.
        let [plain] = &scene.surfaces["go/n.obj"].patches[..] else { panic!("one patch") };
        assert_eq!((plain.triangles.len(), plain.color), (1024, Some([0.0, 1.0, 0.0, 1.0])));

        let Surface { vertices, patches } = &scene.surfaces["go/m.obj"];
        assert!(patches.len() > 16 && patches.len() <= MOST_COLORS, "{}", patches.len());
        assert_eq!(patches.iter().map(|patch| patch.triangles.len()).sum::<usize>(), 1024);
        for Patch { triangles, color } in patches {
            let [red, green, blue, opacity] = color.expect("a colour");
            assert_eq!((green, opacity), (0.0, 0.5));
            for corners in triangles {
                let center = |axis: usize| {
                    corners.iter().map(|i| vertices[*i as usize][axis]).sum::<f64>() / 3.0
                };
                let off = [red - center(0), blue - center(1)];
                // Three bits: shades of 1/7, and what lies within one of them.
                assert!(off.iter().all(|off| off.abs() < 1.0 / 7.0 + 1.0 / 64.0), "{off:?}");
            }
        }
    }
}
