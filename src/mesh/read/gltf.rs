//! glTF 2.0: the meshes of the default scene, as text with files beside it or in one binary file.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use nalgebra::{Matrix4, Quaternion, UnitQuaternion, Vector3};
use serde::Deserialize;

use super::{bounded, fan, strip};
use crate::error::MeshError;
use crate::mesh::{Material, Mesh, Stretch, Texture};
use crate::uri::percent_decoded;

/// Largest number of nodes of a scene, and of their primitives, each counted as often as it is
/// placed.
const MOST_NODES: usize = 100_000;

/// What of the file's JSON is used.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct Root {
    scene: Option<usize>,
    scenes: Vec<Scene>,
    nodes: Vec<Node>,
    meshes: Vec<Shape>,
    materials: Vec<Surface>,
    textures: Vec<Sampled>,
    images: Vec<Image>,
    accessors: Vec<Accessor>,
    buffer_views: Vec<View>,
    buffers: Vec<Buffer>,
    extensions_required: Vec<String>,
}

#[derive(Deserialize)]
struct Scene {
    #[serde(default)]
    nodes: Vec<usize>,
}

#[derive(Deserialize)]
struct Node {
    mesh: Option<usize>,
    #[serde(default)]
    children: Vec<usize>,
    matrix: Option<[f64; 16]>,
    translation: Option<[f64; 3]>,
    /// x, y, z, w.
    rotation: Option<[f64; 4]>,
    scale: Option<[f64; 3]>,
}

#[derive(Deserialize)]
struct Shape {
    primitives: Vec<Primitive>,
}

#[derive(Deserialize)]
struct Primitive {
    attributes: Attributes,
    indices: Option<usize>,
    material: Option<usize>,
    /// 4 triangles, 5 a strip, 6 a fan; others are points and lines.
    mode: Option<u32>,
}

#[derive(Deserialize)]
struct Attributes {
    #[serde(rename = "POSITION")]
    position: Option<usize>,
    /// The first set of points of textures.
    #[serde(rename = "TEXCOORD_0")]
    textured: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Surface {
    pbr_metallic_roughness: Option<Metallic>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metallic {
    base_color_factor: Option<[f64; 4]>,
    base_color_texture: Option<TextureOf>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TextureOf {
    index: usize,
    /// Which set of points.
    #[serde(default)]
    tex_coord: usize,
}

#[derive(Deserialize)]
struct Sampled {
    source: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Image {
    uri: Option<String>,
    buffer_view: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Accessor {
    buffer_view: Option<usize>,
    #[serde(default)]
    byte_offset: usize,
    component_type: u32,
    count: usize,
    sparse: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct View {
    buffer: usize,
    #[serde(default)]
    byte_offset: usize,
    byte_length: usize,
    byte_stride: Option<usize>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Buffer {
    uri: Option<String>,
    byte_length: usize,
}

/// Reads either form.
pub(super) fn read(
    bytes: &[u8],
    beside: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<Mesh, MeshError> {
    let (json, binary) = match bytes.strip_prefix(b"glTF") {
        Some(rest) => chunks(rest)?,
        None => (bytes, None),
    };
    let root: Root = serde_json::from_slice(json)
        .map_err(|error| MeshError::line(error.line(), "expected glTF in JSON"))?;
    if let Some(needed) = root.extensions_required.iter().find(|name| is_geometry(name)) {
        let shown = needed.escape_debug();
        return Err(MeshError::malformed(format!("the extension `{shown}` is not read")));
    }
    let buffers = buffers(&root, binary, beside)?;
    let pictures: Vec<_> =
        root.images.iter().map(|image| picture(&root, &buffers, image)).collect();
    let mut file = File { root: &root, buffers: &buffers, pictures: &pictures, placed: 0 };
    let mut mesh = Mesh::default();
    // The scene has y up, robots have z up: y to z, z to −y.
    let turn = Matrix4::new(1., 0., 0., 0., 0., 0., -1., 0., 0., 1., 0., 0., 0., 0., 0., 1.);
    let scene = root.scenes.get(root.scene.unwrap_or(0));
    let roots = scene.map_or_else(Vec::new, |scene| scene.nodes.clone());
    if roots.is_empty() {
        for shape in &root.meshes {
            file.add(shape, &turn, &mut mesh)?;
        }
        return Ok(mesh);
    }
    let mut open: Vec<(usize, Matrix4<f64>)> = roots.iter().rev().map(|n| (*n, turn)).collect();
    let mut placed = 0;
    while let Some((index, above)) = open.pop() {
        placed += 1;
        if placed > MOST_NODES {
            let message = format!("its scene has more than {MOST_NODES} nodes");
            return Err(MeshError::malformed(message));
        }
        let node = at(&root.nodes, index, "node")?;
        let here = above * own_placement(node);
        if let Some(shape) = node.mesh {
            file.add(at(&root.meshes, shape, "mesh")?, &here, &mut mesh)?;
        }
        if open.len() + node.children.len() > MOST_NODES {
            let message = format!("its scene has more than {MOST_NODES} nodes");
            return Err(MeshError::malformed(message));
        }
        open.extend(node.children.iter().rev().map(|child| (*child, here)));
    }
    Ok(mesh)
}

/// Extensions that change where vertices are.
fn is_geometry(name: &str) -> bool {
    name.contains("draco") || name.contains("meshopt") || name == "KHR_mesh_quantization"
}

fn at<'a, T>(list: &'a [T], index: usize, what: &str) -> Result<&'a T, MeshError> {
    let message = || format!("there is no {what} {index}; there are {}", list.len());
    list.get(index).ok_or_else(|| MeshError::malformed(message()))
}

/// JSON and data of a binary file, behind its first four bytes.
fn chunks(rest: &[u8]) -> Result<(&[u8], Option<&[u8]>), MeshError> {
    let wrong = || MeshError::malformed("the binary file ends inside a chunk");
    let mut rest = rest.get(8..).ok_or_else(wrong)?;
    let (mut json, mut binary) = (None, None);
    while let Some((head, more)) = rest.split_at_checked(8) {
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let (data, behind) = more.split_at_checked(length).ok_or_else(wrong)?;
        match &head[4..] {
            b"JSON" => json = json.or(Some(data)),
            b"BIN\0" => binary = binary.or(Some(data)),
            _ => {}
        }
        rest = behind;
    }
    Ok((json.ok_or_else(|| MeshError::malformed("the binary file has no JSON"))?, binary))
}

/// The bytes of all buffers.
fn buffers(
    root: &Root,
    binary: Option<&[u8]>,
    beside: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<Vec<Arc<[u8]>>, MeshError> {
    let mut all: Vec<Arc<[u8]>> = Vec::new();
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, buffer) in root.buffers.iter().enumerate() {
        // A file that several buffers name is read once.
        if let Some(same) = buffer.uri.as_deref().and_then(|uri| known.get(uri))
            && all[*same].len() >= buffer.byte_length
        {
            all.push(Arc::clone(&all[*same]));
            continue;
        }
        known.extend(buffer.uri.as_deref().map(|uri| (uri, index)));
        let bytes = match (&buffer.uri, binary) {
            (None, Some(binary)) if index == 0 => binary.to_vec(),
            (None, _) => return Err(MeshError::malformed(format!("buffer {index} has no data"))),
            (Some(uri), _) => match uri.strip_prefix("data:") {
                Some(data) => {
                    let (_, data) = data.split_once(";base64,").ok_or_else(|| {
                        MeshError::malformed(format!("the data of buffer {index} is not base64"))
                    })?;
                    STANDARD.decode(data).map_err(|error| {
                        MeshError::malformed(format!("the data of buffer {index}: {error}"))
                    })?
                }
                None => beside(&percent_decoded(uri))
                    .map_err(|why| MeshError::Beside { name: uri.clone(), why })?,
            },
        };
        if bytes.len() < buffer.byte_length {
            return Err(MeshError::malformed(format!(
                "buffer {index} announces {} bytes and has {}",
                buffer.byte_length,
                bytes.len()
            )));
        }
        all.push(bytes.into());
    }
    Ok(all)
}

fn own_placement(node: &Node) -> Matrix4<f64> {
    if let Some(columns) = node.matrix {
        return Matrix4::from_column_slice(&columns);
    }
    let move_by = Vector3::from(node.translation.unwrap_or_default());
    let [x, y, z, w] = node.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]);
    let turn = UnitQuaternion::try_new(Quaternion::new(w, x, y, z), 0.0).unwrap_or_default();
    let scale = Vector3::from(node.scale.unwrap_or([1.0; 3]));
    Matrix4::new_translation(&move_by)
        * turn.to_homogeneous()
        * Matrix4::new_nonuniform_scaling(&scale)
}

/// What is needed to read a mesh.
struct File<'f> {
    root: &'f Root,
    buffers: &'f [Arc<[u8]>],
    /// Those of the images that have one.
    pictures: &'f [Option<Texture>],
    /// Number of primitives placed.
    placed: usize,
}

impl File<'_> {
    /// Adds the triangles of a mesh.
    fn add(
        &mut self,
        shape: &Shape,
        place: &Matrix4<f64>,
        mesh: &mut Mesh,
    ) -> Result<(), MeshError> {
        self.placed += shape.primitives.len();
        if self.placed > MOST_NODES {
            let message = format!("its scene has more than {MOST_NODES} primitives");
            return Err(MeshError::malformed(message));
        }
        let Self { root, buffers, .. } = *self;
        for primitive in &shape.primitives {
            let mode = primitive.mode.unwrap_or(4);
            let (Some(position), 4..=6) = (primitive.attributes.position, mode) else { continue };
            let vertices = positions(root, buffers, position)?;
            let corners = match primitive.indices {
                Some(indices) => corners(root, buffers, indices, vertices.len())?,
                None => (0..vertices.len() as u32).collect(),
            };
            let triangles: Vec<[u32; 3]> = match mode {
                4 => corners.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect(),
                5 => strip(&corners).collect(),
                _ => fan(&corners).collect(),
            };
            if triangles.is_empty() {
                continue;
            }
            bounded(mesh.triangles.len() + triangles.len())?;
            bounded(mesh.vertices.len() + vertices.len())?;
            let material = self.material(primitive.material);
            // A mistake in what is only looked at leaves the surface without a picture.
            let textured = primitive.attributes.textured.filter(|textured| {
                let accessor = root.accessors.get(*textured);
                let fits = accessor.is_some_and(|accessor| accessor.count == vertices.len());
                fits && material.texture.is_some()
            });
            let points = textured.and_then(|textured| points(root, buffers, textured).ok());
            let coordinates: Vec<[[f32; 2]; 3]> = points.map_or_else(Vec::new, |points| {
                triangles.iter().map(|corners| corners.map(|i| points[i as usize])).collect()
            });
            let stretch = Stretch { material, triangles: &triangles, coordinates: &coordinates };
            mesh.add(&vertices, &[stretch], place);
        }
        Ok(())
    }

    fn material(&self, index: Option<usize>) -> Material {
        let surface = index.and_then(|index| self.root.materials.get(index));
        let metallic = surface.and_then(|surface| surface.pbr_metallic_roughness.as_ref());
        let texture = metallic.and_then(|metallic| {
            let of = metallic.base_color_texture.as_ref().filter(|of| of.tex_coord == 0)?;
            self.pictures.get(self.root.textures.get(of.index)?.source?)?.clone()
        });
        Material { color: metallic.and_then(|metallic| metallic.base_color_factor), texture }
    }
}

/// Where a picture is, if it is anywhere.
fn picture(root: &Root, buffers: &[Arc<[u8]>], image: &Image) -> Option<Texture> {
    match &image.uri {
        Some(uri) => match uri.strip_prefix("data:") {
            Some(data) => {
                let bytes: Arc<[u8]> = STANDARD.decode(data.split_once(";base64,")?.1).ok()?.into();
                let all = 0..bytes.len();
                Some(Texture::Inside(bytes, all))
            }
            None => Some(Texture::File(percent_decoded(uri))),
        },
        None => {
            let (buffer, range) = view(root, buffers, image.buffer_view?).ok()?;
            Some(Texture::Inside(Arc::clone(buffer), range))
        }
    }
}

/// Where the bytes of a buffer view are.
fn view<'b>(
    root: &Root,
    buffers: &'b [Arc<[u8]>],
    index: usize,
) -> Result<(&'b Arc<[u8]>, Range<usize>), MeshError> {
    let wrong = |message: &str| MeshError::malformed(message);
    let view = at(&root.buffer_views, index, "buffer view")?;
    let buffer = buffers.get(view.buffer).ok_or_else(|| wrong("a view has no buffer"))?;
    let end = view.byte_offset.checked_add(view.byte_length);
    let range = end.filter(|end| *end <= buffer.len()).map(|end| view.byte_offset..end);
    Ok((buffer, range.ok_or_else(|| wrong("a view reaches beyond its buffer"))?))
}

/// The elements of an accessor, `size` bytes each.
fn elements<'b>(
    root: &Root,
    buffers: &'b [Arc<[u8]>],
    accessor: &Accessor,
    size: usize,
) -> Result<impl Iterator<Item = &'b [u8]>, MeshError> {
    let wrong = |message: &str| MeshError::malformed(message);
    if accessor.sparse.is_some() {
        return Err(wrong("sparse accessors are not read"));
    }
    let index = accessor.buffer_view.ok_or_else(|| wrong("an accessor has no view"))?;
    let (buffer, range) = view(root, buffers, index)?;
    let bytes = buffer[range].get(accessor.byte_offset..);
    let bytes = bytes.ok_or_else(|| wrong("a view reaches beyond its buffer"))?;
    let stride = root.buffer_views[index].byte_stride.unwrap_or(size).max(size);
    let needed = match accessor.count.checked_sub(1) {
        Some(before) => before.checked_mul(stride).and_then(|bytes| bytes.checked_add(size)),
        None => Some(0),
    };
    if needed.is_none_or(|needed| needed > bytes.len()) {
        return Err(wrong("an accessor reaches beyond its view"));
    }
    Ok(bytes.chunks(stride).take(accessor.count).map(move |chunk| &chunk[..size]))
}

fn positions(
    root: &Root,
    buffers: &[Arc<[u8]>],
    accessor: usize,
) -> Result<Vec<Vector3<f64>>, MeshError> {
    let accessor = at(&root.accessors, accessor, "accessor")?;
    if accessor.component_type != 5126 {
        return Err(MeshError::malformed("expected positions of 32-bit numbers (5126)"));
    }
    let number = |b: &[u8]| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let point = |b: &[u8]| Vector3::new(number(b), number(&b[4..]), number(&b[8..]));
    Ok(elements(root, buffers, accessor, 12)?.map(point).collect())
}

/// Points of a texture, with v from its lower edge; the file counts from the upper one.
fn points(root: &Root, buffers: &[Arc<[u8]>], accessor: usize) -> Result<Vec<[f32; 2]>, MeshError> {
    let accessor = at(&root.accessors, accessor, "accessor")?;
    let (size, read): (usize, fn(&[u8]) -> f32) = match accessor.component_type {
        5126 => (4, |b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])),
        5121 => (1, |b| f32::from(b[0]) / 255.0),
        5123 => (2, |b| f32::from(u16::from_le_bytes([b[0], b[1]])) / 65_535.0),
        _ => return Err(MeshError::malformed("expected points of type 5121, 5123 or 5126")),
    };
    let points = elements(root, buffers, accessor, 2 * size)?;
    points
        .map(|bytes| match [read(bytes), 1.0 - read(&bytes[size..])] {
            point if point.iter().all(|x| x.is_finite()) => Ok(point),
            _ => Err(MeshError::malformed("a point of a texture is not finite")),
        })
        .collect()
}

fn corners(
    root: &Root,
    buffers: &[Arc<[u8]>],
    accessor: usize,
    vertices: usize,
) -> Result<Vec<u32>, MeshError> {
    let accessor = at(&root.accessors, accessor, "accessor")?;
    let size = match accessor.component_type {
        5121 => 1,
        5123 => 2,
        5125 => 4,
        other => {
            let message = format!("expected indices of type 5121, 5123 or 5125, found {other}");
            return Err(MeshError::malformed(message));
        }
    };
    let read = |bytes: &[u8]| bytes.iter().rev().fold(0_u32, |sum, b| sum << 8 | u32::from(*b));
    let check = |index: u32| match (index as usize) < vertices {
        true => Ok(index),
        false => Err(MeshError::malformed(format!("vertex {index} is not among {vertices}"))),
    };
    elements(root, buffers, accessor, size)?.map(|bytes| check(read(bytes))).collect()
}
