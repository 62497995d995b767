//! [`Tree`] → [`Model`]: welds bodies, lays out joints, names what is left out.

mod base;
mod inertia;
mod joints;
mod relations;
mod results;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use results::{ActuatorLaw, Mjcf, MjcfActuator, MjcfEquality, MjcfGeom, MjcfKeyframe};

use nalgebra::{Matrix3, Vector3};

use super::MjcfOptions;
use super::error::MjcfErrors;
use super::schema::Unused;
use super::source::{Document, Place};
use super::tree::{Geom, Solid, Tree};
use crate::body::Body;
use crate::branch::BranchPattern;
use crate::inertia::Inertia;
use crate::joint_bodies::push_bodies;
use crate::model::{self, Base, BodyId, Frame, FrameId, Link, Model, ModelError};
use crate::placement::Placement;
use crate::resistance::JointResistance;
use crate::rotors::Rotors;
use crate::shape::{Collision, Shape, Visual};
use joints::{Joints, Motion, displaced};

/// What lowering writes to, beside the model.
pub(super) struct Lowering<'a> {
    tree: &'a Tree,
    document: &'a mut Document,
    unused: Unused,
    warnings: Vec<String>,
}

impl Lowering<'_> {
    fn warn(&mut self, place: Place, problem: impl std::fmt::Display) {
        const MOST: usize = 100;
        match self.warnings.len() {
            MOST.. => self.unused.add("further warnings"),
            _ => self.warnings.push(format!("{}: {problem}", self.document.name_of(place))),
        }
    }
}

/// Where a body of the file is: the body of the model that carries it, and its frame there.
#[derive(Clone, Copy)]
struct Carried {
    body: usize,
    body_from_frame: Placement,
}

/// Builds the model.
pub(super) fn model(
    tree: &Tree,
    document: &mut Document,
    unused: Unused,
    options: &MjcfOptions<'_>,
) -> Result<Mjcf, MjcfErrors> {
    let mut lowering = Lowering { tree, document, unused, warnings: Vec::new() };
    lowering.check_names();
    let base = base::Root::new(&mut lowering, options.base);
    let mut joints = Joints::new(&mut lowering, &base, options);
    let inertias = inertia::of_bodies(&mut lowering, options.read);
    lowering.document.finish()?;

    // Bodies of the model in the order of the file, one for each coordinate.
    let mut bodies = vec![Body::root(0, 0, 0, 0)];
    let mut carried: Vec<Option<Carried>> = vec![None; tree.bodies.len()];
    for (i, body) in tree.bodies.iter().enumerate() {
        let at = match base.place(i) {
            base::Placing::Left => continue,
            base::Placing::Root => {
                carried[i] = Some(Carried { body: 0, body_from_frame: Placement::identity() });
                continue;
            }
            base::Placing::Child => carried[body.parent],
        };
        let Some(parent) = at else { continue };
        let mut at = parent.body_from_frame * body.placement;
        let mut on = parent.body;
        for (j, joint) in body.joints.iter().enumerate() {
            let from_point = Placement { translation: joint.position, ..Placement::identity() };
            let here = match joint.kind {
                // Its position is that in the world, wherever the file places the body.
                super::tree::JointType::Free => parent.body_from_frame,
                _ => at * from_point,
            };
            at = match joints.motion(i, j) {
                Motion::None => continue,
                Motion::Held(displacement) => {
                    here * displaced(joint, displacement) * from_point.inverse()
                }
                Motion::Driven(drive) => {
                    let turned = push_bodies(&mut bodies, on, &here, joint.axis, &drive);
                    on = bodies.len() - 1;
                    turned * from_point.inverse()
                }
            };
            joints.moves(i, j, on);
        }
        carried[i] = Some(Carried { body: on, body_from_frame: at });
    }
    for (i, inertia) in inertias.iter().enumerate() {
        let Some(at) = carried[i] else { continue };
        if at.body == 0 && base.fixed() {
            continue;
        }
        let body = &mut bodies[at.body];
        body.inertia = body.inertia.merged(&inertia.transformed(&at.body_from_frame));
        if !body.inertia.is_finite() {
            let problem = format!("the inertia of body `{}` is not finite", tree.bodies[i].name);
            lowering.document.error(tree.bodies[i].place, problem);
        }
    }
    lowering.document.finish()?;
    let frames = Frames::new(&mut lowering, &carried, &base, &inertias);
    let (collisions, visuals, geoms) = frames.geometry(&mut lowering, &carried);
    let gravity = options.gravity.unwrap_or(tree.options.gravity);
    let model = Model {
        name: tree.name.clone(),
        gravity,
        trees: vec![model::Tree {
            name: tree.name.clone(),
            base: if base.fixed() { Base::Fixed } else { Base::Floating },
            root_frame: FrameId(0),
            mount: if base.fixed() { options.mount } else { Placement::identity() },
            bodies: 0..bodies.len(),
            joints: 0..joints.own.len(),
            q: 0..joints.configuration_dim,
            v: 0..joints.velocity_dim,
        }],
        frames: frames.list,
        links: frames.links,
        bodies,
        joints: std::mem::take(&mut joints.own),
        mimics: joints.mimics.clone(),
        collisions,
        visuals,
        rotors: Rotors::none(0),
        // These follow from the others.
        resistance: JointResistance::none(0),
        // Of joints, whose places are known when all are laid out.
        springs: Vec::new(),
        quaternions: Vec::new(),
        frame_by_name: BTreeMap::new(),
        pattern: Arc::new(BranchPattern::new(&[], &[], Vec::new())),
        layout: Arc::default(),
        joint_velocities: Vec::new(),
        world: false,
        coupled: false,
    };
    let model = joints.with_armature(model).map_err(|error| lowering.of_model(&error))?;
    lowering.finish(model, geoms, &joints, &carried, &base)
}

/// The frames of a model: its root, bodies, sites, and where equalities hold.
struct Frames {
    list: Vec<Frame>,
    /// By frame.
    links: Vec<Link>,
    /// By body of the file.
    of_body: Vec<Option<usize>>,
}

impl Frames {
    fn new(
        lowering: &mut Lowering<'_>,
        carried: &[Option<Carried>],
        base: &base::Root,
        inertias: &[Inertia],
    ) -> Self {
        let tree = lowering.tree;
        let of_body = vec![None; tree.bodies.len()];
        let mut frames = Self { list: Vec::new(), links: Vec::new(), of_body };
        let mut names: BTreeSet<String> = BTreeSet::new();
        let at = |carried: Carried, name: String, placement: &Placement| Frame {
            name,
            body: BodyId(carried.body),
            body_from_frame: carried.body_from_frame * *placement,
        };
        // The root is frame 0.
        let order = std::iter::once(base.body).chain(0..tree.bodies.len());
        for i in order {
            let Some(carried) = carried[i] else { continue };
            if frames.of_body[i].is_none() {
                frames.of_body[i] = Some(frames.list.len());
                names.insert(tree.bodies[i].name.clone());
                let name = tree.bodies[i].name.clone();
                frames.list.push(at(carried, name, &Placement::identity()));
                let body = &tree.bodies[i];
                let is_root = frames.links.is_empty();
                frames.links.push(Link {
                    parent: frames.of_body[body.parent].filter(|_| !is_root).map(FrameId),
                    joint: body.joints.first().map(|joint| joint.name.clone()),
                    inertia: inertias[i],
                });
            }
        }
        for (i, body) in tree.bodies.iter().enumerate() {
            let Some(carried) = carried[i] else { continue };
            for (name, placement) in &body.sites {
                if name.is_empty() {
                    lowering.unused.add("site without a name");
                    continue;
                }
                let name = if names.contains(name) { format!("{name}_site") } else { name.clone() };
                if names.insert(name.clone()) {
                    frames.list.push(at(carried, name, placement));
                    let parent = frames.of_body[i].map(FrameId);
                    frames.links.push(Link { parent, joint: None, inertia: Inertia::zero() });
                } else {
                    lowering.unused.add(format!("site `{name}`, whose name is taken"));
                }
            }
        }
        frames
    }

    /// Shapes that touch, shapes that MuJoCo's viewer shows unless told otherwise (groups 0 to 2),
    /// and the properties of all geometry. Colours are those of geoms, not of materials.
    fn geometry(
        &self,
        lowering: &mut Lowering<'_>,
        carried: &[Option<Carried>],
    ) -> (Vec<Collision>, Vec<Visual>, Vec<MjcfGeom>) {
        let tree = lowering.tree;
        let (mut collisions, mut visuals, mut geoms) = (Vec::new(), Vec::new(), Vec::new());
        for (i, body) in tree.bodies.iter().enumerate() {
            for geom in &body.geoms {
                let touches = geom.contact_type != 0 || geom.contact_affinity != 0;
                let Some(link) = self.of_body[i].filter(|_| carried[i].is_some()) else {
                    continue;
                };
                let link = FrameId(link);
                let name = geom.name.clone();
                let shows = geom.group < 3.0 && (touches || !tree.compiler.discard_visual);
                match shape(tree, geom) {
                    Some((shape, link_from_shape)) => {
                        if shows {
                            let (shape, color) = (shape.clone(), geom.color);
                            visuals.push(Visual { link, link_from_shape, shape, color });
                        }
                        if touches {
                            collisions.push(Collision { link, link_from_shape, shape });
                        }
                    }
                    None => {
                        for what in [(touches, "contact"), (shows, "picture")] {
                            if what.0 {
                                lowering.unused.add(described(what.1, geom));
                            }
                        }
                    }
                }
                geoms.push(MjcfGeom {
                    name,
                    link,
                    touches,
                    contact_type: geom.contact_type,
                    contact_affinity: geom.contact_affinity,
                    contact_dimension: geom.contact_dimension,
                    friction: geom.friction,
                });
            }
        }
        (collisions, visuals, geoms)
    }
}

fn described(what: &str, geom: &Geom) -> String {
    let kind = match geom.solid {
        Solid::Plane => "plane",
        Solid::HeightField => "height field",
        Solid::Ellipsoid { .. } => "ellipsoid",
        Solid::Mesh { .. } => "mesh without a file",
        _ => "shape fitted to a mesh",
    };
    match geom.name.as_str() {
        "" => format!("{what}: {kind}"),
        name => format!("{what}: {kind} `{name}`"),
    }
}

/// The shape of a geom and where it is in its link, if there is one.
fn shape(tree: &Tree, geom: &Geom) -> Option<(Shape, Placement)> {
    let mut placement = geom.placement;
    let shape = match &geom.solid {
        Solid::Sphere { radius } => Shape::Sphere { radius: *radius },
        Solid::Box { half } => Shape::Box { size: half * 2.0 },
        Solid::Cylinder { radius, half } => Shape::Cylinder { radius: *radius, length: half * 2.0 },
        Solid::Capsule { radius, half } => Shape::Capsule { radius: *radius, length: half * 2.0 },
        Solid::Ellipsoid { radii } if radii.x == radii.y && radii.y == radii.z => {
            Shape::Sphere { radius: radii.x }
        }
        Solid::Mesh { mesh } => {
            let mesh = tree.meshes.get(mesh)?;
            let (scale, Placement { rotation, translation }) = (mesh.scale, mesh.reference);
            // S (R x + t) = R S x + S t, unless S stretches what R turns.
            if rotation != Matrix3::identity() && scale != Vector3::repeat(scale.x) {
                return None;
            }
            let translation = translation.component_mul(&scale);
            placement = placement * Placement { rotation, translation };
            Shape::Mesh { path: mesh.file.clone()?, scale }
        }
        Solid::Ellipsoid { .. } | Solid::Plane | Solid::HeightField | Solid::Fitted { .. } => {
            return None;
        }
    };
    Some((shape, placement))
}

impl Lowering<'_> {
    /// Bodies, joints, sites and geoms have names of their own.
    fn check_names(&mut self) {
        let tree = self.tree;
        let mut check = |what, names: &mut dyn Iterator<Item = (&'_ str, Place)>| {
            let mut seen: BTreeSet<String> = BTreeSet::new();
            for (name, place) in names {
                if !name.is_empty() && !seen.insert(name.to_owned()) {
                    let problem = format!("a {what} `{name}` exists already");
                    self.document.error(place, problem);
                }
            }
        };
        let bodies = || tree.bodies.iter();
        check("body", &mut bodies().map(|body| (&*body.name, body.place)));
        let joints = bodies().flat_map(|body| &body.joints);
        check("joint", &mut joints.map(|joint| (&*joint.name, joint.place)));
        let geoms = bodies().flat_map(|body| &body.geoms);
        check("geom", &mut geoms.map(|geom| (&*geom.name, geom.place)));
    }

    fn of_model(&self, error: &ModelError) -> MjcfErrors {
        let file = self.document.file_of(Place::START);
        MjcfErrors(vec![super::error::MjcfError::of_file(file, error.to_string())])
    }
}
