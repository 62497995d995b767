//! Scenes as messages of the [Foxglove schemas](https://docs.foxglove.dev/docs/sdk/schemas), which
//! Foxglove, Lichtblick and Rerun show.
//!
//! | message | what is in it |
//! |---|---|
//! | `foxglove.SceneUpdate` of [`scene`] | shapes of links, each in its own frame; the ground |
//! | `foxglove.FrameTransforms` of [`transforms`] | `world_from_link` of every link |
//! | `foxglove.SceneUpdate` of [`contacts`] | forces as arrows, contacts as dots, the centre of mass |
//!
//! The root frame is `world`; a link's frame has the link's name. A link without shapes is drawn as
//! rods to the links that it carries. A mesh is a list of triangles for each colour, as every reader
//! draws them alike: that of the mesh file, else that of the robot file. A mesh without a surface is
//! a model with the name that the robot file has for it, which a reader may find.

use prost::Message as _;
use prost_types::Timestamp;

use crate::contacts::{Contact, Plane};
use crate::moment::Moment;
use crate::shapes::{self, Geometry, Patch, Scene, Shape, Surface};

mod messages;
mod schema;

use messages::{
    ArrowPrimitive, Color, CubePrimitive, CylinderPrimitive, FrameTransform, FrameTransforms,
    ModelPrimitive, Point3, Pose, Quaternion, SceneEntity, SceneUpdate, SpherePrimitive,
    TriangleListPrimitive, Vector3,
};
pub use schema::{FRAME_TRANSFORMS, SCENE_UPDATE, schema};

/// Name of the frame of the world.
pub const WORLD: &str = "world";

/// Colours of shapes without one, of the ground, of contacts, of forces and of centres of mass.
const PLAIN: [f64; 4] = [0.62, 0.65, 0.70, 1.0];
const GROUND: [f64; 4] = [0.45, 0.47, 0.45, 0.5];
const CONTACT: [f64; 4] = [0.95, 0.60, 0.10, 1.0];
const FORCE: [f64; 4] = [0.85, 0.15, 0.15, 1.0];
const CENTER: [f64; 4] = [0.15, 0.45, 0.90, 1.0];

/// Edge of the piece of ground that is drawn, its thickness, and the diameter of dots [m].
const GROUND_SIZE: f64 = 100.0;
const GROUND_DEPTH: f64 = 0.01;
const DOT: f64 = 0.02;
/// Diameter of the rods of a link that has no shape [m].
const BONE: f64 = 0.02;
/// Smallest force that is drawn [N], and length of an arrow of one weight [m].
const LEAST_FORCE: f64 = 1e-6;
const ARROW_LENGTH: f64 = 0.5;

impl Scene {
    /// Names of the frames of all links, in the order of [`Moment::links`].
    fn frames(&self) -> impl Iterator<Item = &str> {
        self.robots.iter().flat_map(|robot| robot.links.iter().map(|link| link.name.as_str()))
    }
}

/// The shapes of all links, and the ground if it is known: an encoded `foxglove.SceneUpdate`.
pub fn scene(scene: &Scene, ground: Option<&Plane>, t_ns: u64) -> Vec<u8> {
    let links = scene.robots.iter().flat_map(|robot| &robot.links);
    let shown = links.filter(|link| !link.drawn().is_empty() || !link.ends.is_empty());
    let entities = shown.map(|link| {
        let mut entity = entity(&link.name, &format!("link {}", link.name), t_ns);
        link.drawn().iter().for_each(|geometry| draw(geometry, scene, &mut entity));
        if link.drawn().is_empty() {
            entity.cylinders.extend(link.ends.iter().filter_map(bone));
        }
        entity
    });
    let mut update = SceneUpdate { entities: entities.collect() };
    update.entities.extend(scene.ground.as_ref().map(|surface| {
        let mut entity = entity(WORLD, "ground", t_ns);
        let mut numbers = vec![u32::MAX; surface.vertices.len()];
        entity.triangles.extend(surface.patches.iter().map(|patch| TriangleListPrimitive {
            pose: pose(&[0.0; 3], &shapes::Pose::IDENTITY.orientation),
            color: color(patch.color.unwrap_or(GROUND)),
            ..triangles(surface, patch, &[1.0; 3], &mut numbers)
        }));
        entity
    }));
    let plane = ground.filter(|_| scene.ground.is_none());
    update.entities.extend(plane.map(|plane| {
        let up = std::array::from_fn(|i| plane.normal[i] * (plane.offset - GROUND_DEPTH / 2.0));
        let mut entity = entity(WORLD, "ground", t_ns);
        entity.cubes.push(CubePrimitive {
            pose: pose(&up, &turn([0.0, 0.0, 1.0], plane.normal)),
            size: vector(&[GROUND_SIZE, GROUND_SIZE, GROUND_DEPTH]),
            color: color(GROUND),
        });
        entity
    }));
    update.encode_to_vec()
}

/// The poses of all links: an encoded `foxglove.FrameTransforms`.
pub fn transforms(scene: &Scene, moment: &Moment, t_ns: u64) -> Vec<u8> {
    let poses = moment.links.iter().flatten();
    let transforms = scene.frames().zip(poses).map(|(frame, pose)| FrameTransform {
        timestamp: Some(timestamp(t_ns)),
        parent_frame_id: WORLD.to_owned(),
        child_frame_id: frame.to_owned(),
        translation: vector(&pose.position),
        rotation: quaternion(&pose.orientation),
    });
    FrameTransforms { transforms: transforms.collect() }.encode_to_vec()
}

/// Contacts that touch, their forces, and centres of mass: an encoded `foxglove.SceneUpdate`. An
/// arrow is half a metre long where its force is `weight` [N].
pub fn contacts(moment: &Moment, weight: f64, t_ns: u64) -> Vec<u8> {
    let mut seen = entity(WORLD, "contacts", t_ns);
    for contact in &moment.contacts {
        let is_touching = contact.gap <= 0.0;
        let arrow = contact.force.and_then(|force| arrow(contact, &force, weight));
        if is_touching || arrow.is_some() {
            seen.spheres.push(dot(&contact.position, DOT, CONTACT));
        }
        seen.arrows.extend(arrow);
    }
    let mut centers = entity(WORLD, "centre of mass", t_ns);
    centers.spheres.extend(moment.centers.iter().map(|center| dot(center, 1.5 * DOT, CENTER)));
    SceneUpdate { entities: vec![seen, centers] }.encode_to_vec()
}

fn arrow(contact: &Contact, force: &[f64; 3], weight: f64) -> Option<ArrowPrimitive> {
    let size = force.iter().map(|part| part * part).sum::<f64>().sqrt();
    // A NaN is not drawn.
    if size.is_nan() || size < LEAST_FORCE || weight <= 0.0 {
        return None;
    }
    let length = ARROW_LENGTH * size / weight;
    let head = (0.25 * length).min(2.0 * DOT);
    Some(ArrowPrimitive {
        pose: pose(&contact.position, &turn([1.0, 0.0, 0.0], force.map(|part| part / size))),
        shaft_length: length - head,
        shaft_diameter: 0.4 * DOT,
        head_length: head,
        head_diameter: DOT,
        color: color(FORCE),
    })
}

/// A rod from the origin of a link to that of a link that it carries.
fn bone(end: &[f64; 3]) -> Option<CylinderPrimitive> {
    let length = end.iter().map(|part| part * part).sum::<f64>().sqrt();
    (length > 0.0).then(|| CylinderPrimitive {
        pose: pose(&end.map(|part| part / 2.0), &turn([0.0, 0.0, 1.0], end.map(|p| p / length))),
        size: vector(&[BONE, BONE, length]),
        bottom_scale: 1.0,
        top_scale: 1.0,
        color: color(PLAIN),
    })
}

fn dot(position: &[f64; 3], diameter: f64, of: [f64; 4]) -> SpherePrimitive {
    let pose = pose(position, &shapes::Pose::IDENTITY.orientation);
    SpherePrimitive { pose, size: vector(&[diameter; 3]), color: color(of) }
}

/// An entity that stays until it is replaced and moves with its frame.
fn entity(frame: &str, id: &str, t_ns: u64) -> SceneEntity {
    SceneEntity {
        timestamp: Some(timestamp(t_ns)),
        frame_id: frame.to_owned(),
        id: id.to_owned(),
        frame_locked: true,
        ..SceneEntity::default()
    }
}

/// Adds a shape to an entity.
fn draw(geometry: &Geometry, scene: &Scene, entity: &mut SceneEntity) {
    let shapes::Pose { position, orientation } = &geometry.pose;
    let pose_of = || pose(position, orientation);
    let color_of = || color(geometry.color.unwrap_or(PLAIN));
    let cylinder = |radius: f64, length: f64| CylinderPrimitive {
        pose: pose_of(),
        size: vector(&[2.0 * radius, 2.0 * radius, length]),
        bottom_scale: 1.0,
        top_scale: 1.0,
        color: color_of(),
    };
    match &geometry.shape {
        Shape::Sphere { radius } => entity.spheres.push(SpherePrimitive {
            pose: pose_of(),
            size: vector(&[2.0 * radius; 3]),
            color: color_of(),
        }),
        Shape::Box { size } => entity.cubes.push(CubePrimitive {
            pose: pose_of(),
            size: vector(size),
            color: color_of(),
        }),
        Shape::Cylinder { radius, length } => entity.cylinders.push(cylinder(*radius, *length)),
        // There is no capsule among the primitives.
        Shape::Capsule { radius, length } => {
            entity.cylinders.push(cylinder(*radius, *length));
            entity.spheres.extend([-0.5, 0.5].map(|end| {
                let axis = rotated(orientation, [0.0, 0.0, end * length]);
                let center = std::array::from_fn(|i| position[i] + axis[i]);
                let pose = pose(&center, orientation);
                SpherePrimitive { pose, size: vector(&[2.0 * radius; 3]), color: color_of() }
            }));
        }
        Shape::Mesh { path, scale } if scene.surfaces.contains_key(path) => {
            let surface = &scene.surfaces[path];
            let mut numbers = vec![u32::MAX; surface.vertices.len()];
            entity.triangles.extend(surface.patches.iter().map(|patch| TriangleListPrimitive {
                pose: pose_of(),
                color: color(patch.color.or(geometry.color).unwrap_or(PLAIN)),
                ..triangles(surface, patch, scale, &mut numbers)
            }));
        }
        Shape::Mesh { path, scale } => entity.models.push(ModelPrimitive {
            pose: pose_of(),
            scale: vector(scale),
            color: color_of(),
            override_color: geometry.color.is_some(),
            url: path.clone(),
            media_type: media_type(path).to_owned(),
            data: Vec::new(),
        }),
    }
}

/// The corners of a patch and its triangles, whose sense a mirror turns round. `numbers` are those
/// of the surface's corners in the patch, none before and after.
fn triangles(
    surface: &Surface,
    patch: &Patch,
    scale: &[f64; 3],
    numbers: &mut [u32],
) -> TriangleListPrimitive {
    let (mut points, mut indices) = (Vec::new(), Vec::new());
    let is_mirrored = scale.iter().product::<f64>() < 0.0;
    for &[a, b, c] in &patch.triangles {
        for corner in if is_mirrored { [a, c, b] } else { [a, b, c] } {
            let own = &mut numbers[corner as usize];
            if *own == u32::MAX {
                *own = points.len() as u32;
                let [x, y, z] = surface.vertices[corner as usize];
                points.push(Point3 { x: x * scale[0], y: y * scale[1], z: z * scale[2] });
            }
            indices.push(*own);
        }
    }
    patch.triangles.iter().flatten().for_each(|corner| numbers[*corner as usize] = u32::MAX);
    TriangleListPrimitive { pose: None, points, color: None, indices }
}

/// The kind of a mesh, by the ending of its file's name.
fn media_type(path: &str) -> &'static str {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    match ending.to_ascii_lowercase().as_str() {
        "stl" => "model/stl",
        "obj" => "model/obj",
        "dae" => "model/vnd.collada+xml",
        "glb" => "model/gltf-binary",
        "gltf" => "model/gltf+json",
        _ => "",
    }
}

fn timestamp(t_ns: u64) -> Timestamp {
    let seconds = i64::try_from(t_ns / 1_000_000_000).unwrap_or(i64::MAX);
    Timestamp { seconds, nanos: (t_ns % 1_000_000_000) as i32 }
}

fn vector(&[x, y, z]: &[f64; 3]) -> Option<Vector3> {
    Some(Vector3 { x, y, z })
}

fn quaternion(&[w, x, y, z]: &[f64; 4]) -> Option<Quaternion> {
    Some(Quaternion { x, y, z, w })
}

fn pose(position: &[f64; 3], orientation: &[f64; 4]) -> Option<Pose> {
    Some(Pose { position: vector(position), orientation: quaternion(orientation) })
}

fn color([r, g, b, a]: [f64; 4]) -> Option<Color> {
    Some(Color { r, g, b, a })
}

/// The shortest turn of one direction into another, both of length one: the unit quaternion along
/// (1 + aᵀb, a × b).
fn turn(a: [f64; 3], b: [f64; 3]) -> [f64; 4] {
    let w = 1.0 + a.iter().zip(&b).map(|(a, b)| a * b).sum::<f64>();
    if w < 1e-12 {
        // Half a turn about an axis normal to `a`, which is a coordinate axis.
        return if a[0] == 0.0 { [0.0, 1.0, 0.0, 0.0] } else { [0.0, 0.0, 0.0, 1.0] };
    }
    let c = cross(a, b);
    let norm = (w * w + c.iter().map(|c| c * c).sum::<f64>()).sqrt();
    [w / norm, c[0] / norm, c[1] / norm, c[2] / norm]
}

/// A vector turned by a unit quaternion: `v + 2 w (u × v) + 2 u × (u × v)`.
fn rotated(&[w, x, y, z]: &[f64; 4], v: [f64; 3]) -> [f64; 3] {
    let u = [x, y, z];
    let once = cross(u, v);
    let twice = cross(u, once);
    std::array::from_fn(|i| v[i] + 2.0 * (w * once[i] + twice[i]))
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    let part = |i: usize, j: usize| a[i] * b[j] - a[j] * b[i];
    [part(1, 2), part(2, 0), part(0, 1)]
}

#[cfg(test)]
mod tests;
