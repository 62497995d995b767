//! COLLADA: geometries, placed by a scene of nodes.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use nalgebra::{Matrix3, Matrix4, Unit, Vector3};
use roxmltree::{Document, Node, ParsingOptions};

use super::{bounded, fan, strip};
use crate::error::MeshError;
use crate::mesh::{Material, Mesh, Stretch, Texture};
use crate::uri::percent_decoded;
use crate::xml::check_xml;

/// Largest number of nodes and geometries of a scene; those of repeated instances count each time.
const MOST_NODES: usize = 100_000;

/// Largest number of their elements, counted in the same way.
const MOST_ELEMENTS: usize = 1_000_000;

/// Reads the scene, or all geometries as they are if there is none.
pub(super) fn read(bytes: &[u8]) -> Result<Mesh, MeshError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| MeshError::malformed(format!("the text is not UTF-8: {error}")))?;
    let text = text.trim_start_matches('\u{feff}');
    check_xml(text).map_err(|(at, what)| {
        let before = text.get(..at).unwrap_or_default();
        MeshError::line(1 + before.matches('\n').count(), what)
    })?;
    let options = ParsingOptions { nodes_limit: 50_000_000, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options)
        .map_err(|error| MeshError::line(error.pos().row as usize, "expected well-formed XML"))?;
    let root = document.root_element();
    if root.tag_name().name() != "COLLADA" {
        // It may be any file, so that nothing of it is shown.
        return Err(MeshError::malformed("expected <COLLADA>, found another element"));
    }
    let mut reader = Reader::default();
    for node in root.descendants().filter(Node::is_element) {
        if let Some(id) = node.attribute("id") {
            reader.ids.entry(id).or_insert(node);
        }
    }
    let mut mesh = Mesh::default();
    let place = to_metres(root);
    let scene = child(root, "scene").and_then(|scene| child(scene, "instance_visual_scene"));
    match scene.and_then(|scene| reader.target(scene, "url")) {
        Some(scene) => reader.scene(scene, place, &mut mesh)?,
        None => {
            let geometries = root.descendants().filter(|node| node.has_tag_name_of("geometry"));
            for geometry in geometries {
                reader.geometry(geometry, &place, &HashMap::new(), &mut mesh)?;
            }
        }
    }
    Ok(mesh)
}

/// Names without their namespace: exporters write several.
trait Tagged {
    fn has_tag_name_of(&self, name: &str) -> bool;
}

impl Tagged for Node<'_, '_> {
    fn has_tag_name_of(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}

fn child<'a, 'input>(node: Node<'a, 'input>, name: &str) -> Option<Node<'a, 'input>> {
    node.children().find(|child| child.has_tag_name_of(name))
}

fn line(node: Node<'_, '_>) -> usize {
    node.document().text_pos_at(node.range().start).row as usize
}

/// Metres, from the unit that the file states. Axes stay: the viewers that robot files are made with
/// ignore `<up_axis>` (RViz leaves out the turn of the scene's root), and so do their authors.
fn to_metres(root: Node<'_, '_>) -> Matrix4<f64> {
    let unit = child(root, "asset").and_then(|asset| child(asset, "unit"));
    let meter = unit.and_then(|unit| unit.attribute("meter")?.trim().parse::<f64>().ok());
    Matrix4::new_scaling(meter.filter(|meter| meter.is_finite() && *meter > 0.0).unwrap_or(1.0))
}

#[derive(Default)]
struct Reader<'a, 'input> {
    ids: HashMap<&'a str, Node<'a, 'input>>,
    /// What was read already, by where it begins.
    geometries: HashMap<usize, Geometry<'a>>,
    /// The points of textures that were read already, by where their source begins.
    textured: HashMap<usize, Option<Points>>,
    /// Materials, and the targets of instances, that were read already, by where they begin.
    materials: RefCell<HashMap<usize, Material>>,
    shapes: HashMap<usize, Option<Node<'a, 'input>>>,
    /// Number of nodes and geometries placed, and of their elements visited.
    nodes: usize,
    elements: usize,
}

/// Points of a texture.
type Points = Arc<[[f32; 2]]>;

/// Vertices and triangles of a geometry.
#[derive(Clone, Default)]
struct Geometry<'a> {
    vertices: Vec<Vector3<f64>>,
    stretches: Vec<Triangles<'a>>,
}

/// The triangles of a primitive.
#[derive(Clone, Default)]
struct Triangles<'a> {
    /// Name of their material.
    material: Option<&'a str>,
    triangles: Vec<[u32; 3]>,
    /// Of each, where its corners lie in the texture; empty if the file does not say.
    coordinates: Vec<[[f32; 2]; 3]>,
}

/// What the materials of a geometry are called, and where they are.
type Bound<'a, 'input> = HashMap<&'a str, Node<'a, 'input>>;

impl<'a, 'input> Reader<'a, 'input> {
    /// What an attribute refers to, as `#id`.
    fn target(&self, node: Node<'a, 'input>, attribute: &str) -> Option<Node<'a, 'input>> {
        let url = node.attribute(attribute)?;
        self.ids.get(url.strip_prefix('#').unwrap_or(url)).copied()
    }

    /// Places all geometries of a scene. No recursion: a file may nest as deeply as it likes.
    fn scene(
        &mut self,
        scene: Node<'a, 'input>,
        place: Matrix4<f64>,
        mesh: &mut Mesh,
    ) -> Result<(), MeshError> {
        let mut open = vec![(scene, place)];
        while let Some((node, above)) = open.pop() {
            self.count_node()?;
            self.count_elements(node)?;
            let here = above * own_placement(node)?;
            let mut below = Vec::new();
            for part in node.children().filter(Node::is_element) {
                match part.tag_name().name() {
                    "node" => below.push((part, here)),
                    "instance_node" => {
                        below.extend(self.target(part, "url").map(|node| (node, here)));
                    }
                    "instance_geometry" | "instance_controller" => {
                        self.count_node()?;
                        let bound = self.bound(part)?;
                        if let Some(geometry) = self.shape(part) {
                            self.geometry(geometry, &here, &bound, mesh)?;
                        }
                    }
                    _ => {}
                }
            }
            // The first child comes next.
            open.extend(below.into_iter().rev());
        }
        Ok(())
    }

    fn count_node(&mut self) -> Result<(), MeshError> {
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            let message = format!("its scene has more than {MOST_NODES} nodes");
            return Err(MeshError::malformed(message));
        }
        Ok(())
    }

    /// Counts the elements of a node, which are visited each time that it is placed.
    fn count_elements(&mut self, node: Node<'a, 'input>) -> Result<(), MeshError> {
        self.elements += node.children().take(MOST_ELEMENTS).count();
        if self.elements > MOST_ELEMENTS {
            let message = format!("its scene has more than {MOST_ELEMENTS} elements");
            return Err(MeshError::malformed(message));
        }
        Ok(())
    }

    /// The geometry of an instance, that of the skin if it has bones.
    fn shape(&mut self, instance: Node<'a, 'input>) -> Option<Node<'a, 'input>> {
        let target = self.target(instance, "url")?;
        let key = target.range().start;
        if let Some(known) = self.shapes.get(&key) {
            return *known;
        }
        let shape = match child(target, "skin") {
            Some(skin) => self.target(skin, "source"),
            None => Some(target),
        };
        self.shapes.insert(key, shape);
        shape
    }

    /// The materials of an instance, by the names that its geometry uses.
    fn bound(&mut self, instance: Node<'a, 'input>) -> Result<Bound<'a, 'input>, MeshError> {
        self.count_elements(instance)?;
        let Some(bind) = child(instance, "bind_material") else { return Ok(Bound::new()) };
        self.count_elements(bind)?;
        let bind = child(bind, "technique_common");
        if let Some(bind) = bind {
            self.count_elements(bind)?;
        }
        let bound = bind.into_iter().flat_map(|bind| bind.children());
        let target =
            |one: Node<'a, 'input>| Some((one.attribute("symbol")?, self.target(one, "target")?));
        Ok(bound.filter_map(target).collect())
    }

    /// Adds a geometry to the mesh.
    fn geometry(
        &mut self,
        node: Node<'a, 'input>,
        place: &Matrix4<f64>,
        bound: &Bound<'a, 'input>,
        mesh: &mut Mesh,
    ) -> Result<(), MeshError> {
        let key = node.range().start;
        if !self.geometries.contains_key(&key) {
            let read = match child(node, "mesh") {
                Some(shape) => self.read_geometry(shape)?,
                None => Geometry::default(),
            };
            self.geometries.insert(key, read);
        }
        let Some(geometry) = self.geometries.get(&key) else { return Ok(()) };
        let triangles: usize = geometry.stretches.iter().map(|all| all.triangles.len()).sum();
        self.elements += geometry.stretches.len();
        if self.elements > MOST_ELEMENTS {
            let message = format!("its scene has more than {MOST_ELEMENTS} elements");
            return Err(MeshError::malformed(message));
        }
        if triangles == 0 {
            return Ok(());
        }
        bounded(mesh.triangles.len() + triangles)?;
        bounded(mesh.vertices.len() + geometry.vertices.len())?;
        let stretches: Vec<Stretch<'_>> = (geometry.stretches.iter())
            .map(|Triangles { material, triangles, coordinates }| {
                let material = material.and_then(|name| {
                    let by_id = || self.ids.get(name).copied();
                    Some(self.material(bound.get(name).copied().or_else(by_id)?))
                });
                Stretch { material: material.unwrap_or_default(), triangles, coordinates }
            })
            .collect();
        mesh.add(&geometry.vertices, &stretches, place);
        Ok(())
    }

    /// Vertices and triangles of a `<mesh>`.
    fn read_geometry(&mut self, shape: Node<'a, 'input>) -> Result<Geometry<'a>, MeshError> {
        let mut geometry = Geometry::default();
        // A mesh has one list of vertices; its primitives refer to it.
        let Some(vertices) = child(shape, "vertices") else { return Ok(geometry) };
        let position = inputs(vertices).find(|one| one.attribute("semantic") == Some("POSITION"));
        let Some(source) = position.and_then(|position| self.target(position, "source")) else {
            return Err(MeshError::line(line(vertices), "expected an input of semantic POSITION"));
        };
        geometry.vertices = self.points(source)?.into_iter().map(Vector3::from).collect();
        for primitive in shape.children().filter(Node::is_element) {
            let textured = inputs(primitive)
                .find(|one| one.attribute("semantic") == Some("TEXCOORD"))
                .and_then(|one| Some((one, self.textured(self.target(one, "source")?)?)));
            let triangles = triangles(primitive, geometry.vertices.len(), textured)?;
            if !triangles.triangles.is_empty() {
                geometry.stretches.push(triangles);
            }
        }
        Ok(geometry)
    }

    /// The points of a texture in a `<source>`. A mistake in what is only looked at leaves the
    /// surface without a picture.
    fn textured(&mut self, source: Node<'a, 'input>) -> Option<Points> {
        let key = source.range().start;
        if !self.textured.contains_key(&key) {
            let points = self.points::<2>(source).ok();
            let points = points.map(|points| points.iter().map(|p| p.map(|x| x as f32)).collect());
            self.textured.insert(key, points);
        }
        self.textured.get(&key)?.clone()
    }

    /// The points of a `<source>`, of `N` coordinates.
    fn points<const N: usize>(&self, source: Node<'a, 'input>) -> Result<Vec<[f64; N]>, MeshError> {
        let wrong = |message: &str| MeshError::line(line(source), message);
        let accessor = child(source, "technique_common").and_then(|t| child(t, "accessor"));
        let number = |name: &str, default: usize| match accessor.and_then(|a| a.attribute(name)) {
            Some(text) => text.trim().parse().map_err(|_| wrong("expected a whole number")),
            None => Ok(default),
        };
        let (stride, offset) = (number("stride", N)?, number("offset", 0)?);
        let array = accessor.and_then(|accessor| self.target(accessor, "source"));
        let array = array.or_else(|| child(source, "float_array"));
        let array = array.ok_or_else(|| wrong("expected a <float_array>"))?;
        let values: Vec<f64> = numbers(array)?;
        if stride < N {
            return Err(wrong(&format!("expected {N} coordinates for each point")));
        }
        let all = values.get(offset..).unwrap_or(&[]).chunks(stride);
        let most = number("count", usize::MAX)?;
        Ok(all.take(most).filter_map(|p| p.first_chunk().copied()).collect())
    }

    /// Diffuse colour and texture of a `<material>`.
    fn material(&self, material: Node<'a, 'input>) -> Material {
        let key = material.range().start;
        if let Some(known) = self.materials.borrow().get(&key) {
            return known.clone();
        }
        let read = self.read_material(material);
        self.materials.borrow_mut().insert(key, read.clone());
        read
    }

    fn read_material(&self, material: Node<'a, 'input>) -> Material {
        let effect = child(material, "instance_effect").and_then(|i| self.target(i, "url"));
        let Some(effect) = effect else { return Material::default() };
        let diffuse = effect.descendants().find(|node| node.has_tag_name_of("diffuse"));
        let color = diffuse.and_then(|diffuse| child(diffuse, "color"));
        let color = color.and_then(|color| numbers(color).ok());
        let color = color.and_then(|color| match color.as_slice() {
            [red, green, blue] => Some([*red, *green, *blue, 1.0]),
            [red, green, blue, opacity, ..] => Some([*red, *green, *blue, *opacity]),
            _ => None,
        });
        let texture = diffuse.and_then(|diffuse| child(diffuse, "texture"));
        let texture = texture.and_then(|texture| {
            let sampler = texture.attribute("texture")?;
            self.image(effect, sampler).or_else(|| self.image_file(*self.ids.get(sampler)?))
        });
        Material { color, texture: texture.map(|file| Texture::File(percent_decoded(&file))) }
    }

    /// The picture of a sampler: sampler → surface → image.
    fn image(&self, effect: Node<'a, 'input>, sampler: &str) -> Option<String> {
        let parameter = |name: &str| {
            effect.descendants().find(|node| {
                node.has_tag_name_of("newparam") && node.attribute("sid") == Some(name)
            })
        };
        let text_below = |node: Node<'a, 'input>, name: &str| {
            node.descendants().find(|below| below.has_tag_name_of(name))?.text()
        };
        let surface = text_below(parameter(sampler)?, "source")?.trim();
        let image = text_below(parameter(surface)?, "init_from")?.trim();
        self.image_file(*self.ids.get(image)?)
    }

    fn image_file(&self, image: Node<'a, 'input>) -> Option<String> {
        let from = image.descendants().find(|below| below.has_tag_name_of("init_from"))?;
        let file = from.text().filter(|text| !text.trim().is_empty());
        let file = file.or_else(|| child(from, "ref")?.text())?;
        Some(file.trim().to_owned())
    }
}

fn inputs<'a, 'input>(node: Node<'a, 'input>) -> impl Iterator<Item = Node<'a, 'input>> {
    node.children().filter(|child| child.has_tag_name_of("input"))
}

/// All numbers of a list.
fn numbers<T: std::str::FromStr>(node: Node<'_, '_>) -> Result<Vec<T>, MeshError> {
    let mut all = Vec::new();
    for text in node.children().filter_map(|child| child.text()) {
        for word in text.split_ascii_whitespace() {
            // Some exporters write commas between or for points.
            let word = word.trim_end_matches(',');
            all.push(word.parse().map_err(|_| {
                let shown: String = word.chars().take(20).collect();
                let message = format!("expected a number, found `{}`", shown.escape_debug());
                MeshError::line(line(node), message)
            })?);
        }
    }
    Ok(all)
}

/// The triangles of a primitive; none of lines and of what is no primitive. `textured` is its input
/// of a texture's points, and those.
fn triangles<'a>(
    primitive: Node<'a, '_>,
    vertices: usize,
    textured: Option<(Node<'_, '_>, Points)>,
) -> Result<Triangles<'a>, MeshError> {
    let mut all = Triangles { material: primitive.attribute("material"), ..Triangles::default() };
    let kind = primitive.tag_name().name();
    if !matches!(kind, "triangles" | "polylist" | "polygons" | "trifans" | "tristrips") {
        return Ok(all);
    }
    let wrong = |message: String| MeshError::line(line(primitive), message);
    let offset =
        |input: Node<'_, '_>| match input.attribute("offset").unwrap_or("0").parse::<usize>() {
            Ok(offset) if offset < 64 => Ok(offset),
            _ => Err(wrong("expected an offset from 0 to 63".to_owned())),
        };
    let (mut stride, mut at) = (1, None);
    for input in inputs(primitive) {
        stride = stride.max(offset(input)? + 1);
        if input.attribute("semantic") == Some("VERTEX") {
            at = Some(offset(input)?);
        }
    }
    let at = at.ok_or_else(|| wrong("expected an input of semantic VERTEX".to_owned()))?;
    let textured = match textured {
        Some((input, points)) => Some((offset(input)?, points)),
        None => None,
    };
    let corner = |group: &[u32]| {
        let vertex = match group.get(at) {
            Some(index) if (*index as usize) < vertices => *index,
            Some(index) => {
                return Err(wrong(format!("vertex {index} is not among its {vertices}")));
            }
            None => return Err(wrong("its list of corners ends early".to_owned())),
        };
        let point = textured.as_ref().and_then(|(at, points)| {
            points
                .get(*group.get(*at)? as usize)
                .copied()
                .filter(|p| p.iter().all(|x| x.is_finite()))
        });
        Ok((vertex, point))
    };
    let mut lengths = match child(primitive, "vcount") {
        Some(counts) if kind == "polylist" => numbers::<u32>(counts)?.into_iter(),
        _ => Vec::new().into_iter(),
    };
    let lists = primitive.descendants().filter(|node| node.has_tag_name_of("p"));
    for list in lists {
        let numbers = numbers::<u32>(list)?;
        let corners = numbers.chunks(stride).map(corner).collect::<Result<Vec<_>, _>>()?;
        match kind {
            "triangles" => all.extend(corners.chunks_exact(3).map(|c| [c[0], c[1], c[2]])),
            "polylist" => {
                let mut rest = corners.as_slice();
                for length in lengths.by_ref() {
                    let Some((polygon, more)) = rest.split_at_checked(length as usize) else {
                        return Err(wrong("its list of corners ends early".to_owned()));
                    };
                    all.extend(fan(polygon));
                    rest = more;
                }
            }
            "tristrips" => all.extend(strip(&corners)),
            _ => all.extend(fan(&corners)),
        }
        bounded(all.triangles.len())?;
    }
    // All of them, or none.
    if all.coordinates.len() != all.triangles.len() {
        all.coordinates = Vec::new();
    }
    Ok(all)
}

impl Triangles<'_> {
    /// Adds triangles of corners, each a vertex and a point of the texture.
    fn extend(&mut self, triangles: impl Iterator<Item = [(u32, Option<[f32; 2]>); 3]>) {
        for triangle in triangles {
            self.triangles.push(triangle.map(|(vertex, _)| vertex));
            if let [Some(a), Some(b), Some(c)] = triangle.map(|(_, point)| point) {
                self.coordinates.push([a, b, c]);
            }
        }
    }
}

/// `parent_from_node` of the transformations of a node, in their order.
fn own_placement(node: Node<'_, '_>) -> Result<Matrix4<f64>, MeshError> {
    let mut place = Matrix4::identity();
    for step in node.children().filter(Node::is_element) {
        let name = step.tag_name().name();
        if !matches!(name, "matrix" | "translate" | "rotate" | "scale" | "lookat" | "skew") {
            continue;
        }
        let n: Vec<f64> = numbers(step)?;
        place *= match (name, n.as_slice()) {
            ("matrix", n) if n.len() == 16 => Matrix4::from_row_slice(n),
            ("translate", [x, y, z]) => Matrix4::new_translation(&Vector3::new(*x, *y, *z)),
            ("scale", [x, y, z]) => Matrix4::new_nonuniform_scaling(&Vector3::new(*x, *y, *z)),
            ("rotate", [x, y, z, degrees]) => {
                let axis = Vector3::new(*x, *y, *z);
                match Unit::try_new(axis, 0.0) {
                    Some(axis) => rotation(&axis, *degrees),
                    None => Matrix4::identity(),
                }
            }
            _ => {
                let message = format!("cannot read <{name}> with {} numbers", n.len());
                return Err(MeshError::line(line(step), message));
            }
        };
    }
    Ok(place)
}

fn rotation(axis: &Unit<Vector3<f64>>, degrees: f64) -> Matrix4<f64> {
    let (sine, cosine) = libm::sincos(degrees.to_radians());
    let cross = axis.cross_matrix();
    // Rodrigues' formula.
    let turn = Matrix3::identity() + cross * sine + cross * cross * (1.0 - cosine);
    turn.to_homogeneous()
}
