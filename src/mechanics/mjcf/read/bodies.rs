//! The tree of bodies: frames and replicas applied, joints, geometry and sites in their bodies.

use std::rc::Rc;

use nalgebra::{Matrix3, Vector3};

use super::Reader;
use crate::mjcf::source::Place;
use crate::mjcf::tree::{Body, Compiler, Geom, Inertial, Joint, JointType, Solid};
use crate::mjcf::values::{Node, angle, rotation_of_euler, rotation_to, unit};
use crate::placement::Placement;

/// Most bodies, joints, geoms and sites, replicas counted.
const MAX_PARTS: usize = 50_000;

/// Longest name, suffixes of replicas counted.
const MAX_NAME: usize = 256;

/// Where an element stands.
#[derive(Clone)]
struct Context {
    body: usize,
    /// `body_from_frame` of the frames around the element.
    frame: Placement,
    class: usize,
    /// What replicas add to names.
    suffix: Rc<str>,
}

impl Reader<'_> {
    /// Every `<worldbody>`, in one pass without recursion: the order is that of the file.
    pub(super) fn bodies(&mut self) -> Vec<Body> {
        let world = Body {
            place: Place::START,
            name: "world".to_owned(),
            parent: 0,
            placement: Placement::identity(),
            inertial: None,
            joints: Vec::new(),
            geoms: Vec::new(),
            sites: Vec::new(),
        };
        let mut bodies = vec![world];
        let context = Context {
            body: 0,
            frame: Placement::identity(),
            class: self.defaults.main,
            suffix: "".into(),
        };
        let mut waiting: Vec<(usize, Context)> =
            self.of_section("worldbody").into_iter().rev().map(|e| (e, context.clone())).collect();
        let mut parts = 0;
        while let Some((element, context)) = waiting.pop() {
            parts += 1;
            let place = self.document.elements[element].place;
            if parts > MAX_PARTS {
                self.document.error(place, format!("more than {MAX_PARTS} parts of bodies"));
                break;
            }
            let name = self.document.elements[element].name.clone();
            match name.as_str() {
                "body" => {
                    let inner = self.body(element, &context, &mut bodies);
                    self.push_children(element, &inner, &mut waiting);
                }
                "frame" => {
                    let inner = self.frame(element, &context);
                    self.push_children(element, &inner, &mut waiting);
                }
                "replicate" => parts += self.replicate(element, &context, &mut waiting),
                _ => self.part(&name, element, &context, &mut bodies),
            }
        }
        bodies
    }

    fn push_children(
        &self,
        element: usize,
        context: &Context,
        waiting: &mut Vec<(usize, Context)>,
    ) {
        let children = self.document.elements[element].children.iter().rev();
        waiting.extend(children.map(|&child| (child, context.clone())));
    }

    /// The class for what an element contains.
    fn child_class(&mut self, element: usize, context: &Context) -> usize {
        self.class_of(element, "childclass").unwrap_or(context.class)
    }

    fn body(&mut self, element: usize, context: &Context, bodies: &mut Vec<Body>) -> Context {
        let class = self.child_class(element, context);
        let compiler = self.compiler;
        let index = bodies.len();
        let mut node = self.node(element, class);
        let mut name = named(&mut node, context);
        if name.is_empty() {
            name = format!("body_{index}");
        }
        bodies.push(Body {
            place: node.element().place,
            name,
            parent: context.body,
            placement: context.frame * pose(&mut node, compiler),
            inertial: None,
            joints: Vec::new(),
            geoms: Vec::new(),
            sites: Vec::new(),
        });
        Context { body: index, frame: Placement::identity(), class, suffix: context.suffix.clone() }
    }

    fn frame(&mut self, element: usize, context: &Context) -> Context {
        let class = self.child_class(element, context);
        let compiler = self.compiler;
        let placement = pose(&mut self.node(element, class), compiler);
        Context { frame: context.frame * placement, class, ..context.clone() }
    }

    /// Gives the number of replicas.
    fn replicate(
        &mut self,
        element: usize,
        context: &Context,
        waiting: &mut Vec<(usize, Context)>,
    ) -> usize {
        let class = self.child_class(element, context);
        let compiler = self.compiler;
        let mut node = self.node(element, class);
        let place = node.element().place;
        if !node.has("count") {
            node.error("expected `count`");
            return 0;
        }
        let count = node.whole("count", 1) as usize;
        let offset = node.vector("offset", Vector3::zeros());
        let euler: [f64; 3] = node.numbers("euler").unwrap_or([0.0; 3]);
        let separator = node.text("sep");
        if separator.len() + context.suffix.len() > MAX_NAME {
            self.document.error(place, format!("expected a suffix of at most {MAX_NAME} bytes"));
            return 0;
        }
        let inside = self.document.elements[element].children.len().max(1);
        if count.saturating_mul(inside).saturating_add(waiting.len()) > MAX_PARTS {
            let problem = format!("{count} replicas make more than {MAX_PARTS} parts of bodies");
            self.document.error(place, problem);
            return 0;
        }
        let turn = |times: f64| {
            rotation_of_euler(euler.map(|value| angle(compiler, times * value)), compiler)
        };
        let step = Placement { rotation: turn(1.0), translation: offset };
        let digits = count.to_string().len();
        let mut at = Placement::identity();
        let mut replicas = Vec::with_capacity(count);
        for i in 0..count {
            // The angle as a product rounds once, however many replicas there are.
            let here = Placement { rotation: turn(i as f64), translation: at.translation };
            replicas.push(Context {
                body: context.body,
                frame: context.frame * here,
                class,
                suffix: format!("{separator}{i:0digits$}{}", context.suffix).into(),
            });
            at = at * step;
        }
        for replica in replicas.iter().rev() {
            self.push_children(element, replica, waiting);
        }
        count
    }

    fn part(&mut self, name: &str, element: usize, context: &Context, bodies: &mut [Body]) {
        let compiler = self.compiler;
        let mut node = self.node(element, context.class);
        let body = &mut bodies[context.body];
        match name {
            "inertial" if context.body == 0 => node.error("the world has no inertia"),
            "joint" | "freejoint" if context.body == 0 => node.error("the world has no joints"),
            "inertial" if body.inertial.is_some() => node.error("the body has an inertia already"),
            // Frames do not move it, as in MuJoCo.
            "inertial" => body.inertial = inertial(&mut node, compiler),
            "joint" => body.joints.push(joint(&mut node, context, compiler)),
            "freejoint" => body.joints.push(free_joint(&mut node, context)),
            "geom" => body.geoms.push(geom(&mut node, context, compiler)),
            "site" => {
                let name = named(&mut node, context);
                let placement = context.frame * site_pose(&mut node, compiler);
                body.sites.push((name, placement));
            }
            // Known and not used.
            _ => {}
        }
    }
}

fn named(node: &mut Node<'_>, context: &Context) -> String {
    let name = node.text("name");
    if name.len() + context.suffix.len() > MAX_NAME {
        node.error(format!("expected a name of at most {MAX_NAME} bytes"));
        return String::new();
    }
    if name.is_empty() { name } else { name + &context.suffix }
}

/// `pos` and orientation.
fn pose(node: &mut Node<'_>, compiler: &Compiler) -> Placement {
    let rotation = node.orientation(compiler);
    Placement { rotation, translation: node.vector("pos", Vector3::zeros()) }
}

/// The two ends of `fromto` as a pose with z along them, and half their distance.
fn from_to(node: &mut Node<'_>) -> Option<(Placement, f64)> {
    let [a, b, c, d, e, f] = node.numbers("fromto")?;
    let (from, to) = (Vector3::new(a, b, c), Vector3::new(d, e, f));
    let half = (from - to).norm() / 2.0;
    // MuJoCo's z axis points from the second point to the first.
    match rotation_to(from - to) {
        Some(rotation) if half.is_finite() => {
            Some((Placement { rotation, translation: (from + to) / 2.0 }, half))
        }
        _ => {
            node.error("expected two points apart in `fromto`");
            None
        }
    }
}

fn site_pose(node: &mut Node<'_>, compiler: &Compiler) -> Placement {
    match node.has("fromto") {
        true => from_to(node).map_or_else(Placement::identity, |(placement, _)| placement),
        false => pose(node, compiler),
    }
}

fn inertial(node: &mut Node<'_>, compiler: &Compiler) -> Option<Inertial> {
    for required in ["pos", "mass"] {
        if !node.has(required) {
            node.error(format!("expected `{required}`"));
            return None;
        }
    }
    let mut placement = pose(node, compiler);
    let turned = ["quat", "axisangle", "xyaxes", "zaxis", "euler"].iter().any(|o| node.has(o));
    let inertia = match node.numbers("fullinertia") {
        Some(_) if turned || node.has("diaginertia") => {
            node.error("`fullinertia` stands alone, without `diaginertia` or an orientation");
            return None;
        }
        Some([xx, yy, zz, xy, xz, yz]) => {
            placement.rotation = Matrix3::identity();
            Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz)
        }
        None => Matrix3::from_diagonal(&node.vector("diaginertia", Vector3::zeros())),
    };
    let mass = node.amount("mass", 0.0);
    Some(Inertial { place: node.element().place, placement, mass, inertia })
}

fn free_joint(node: &mut Node<'_>, context: &Context) -> Joint {
    Joint {
        place: node.element().place,
        name: named(node, context),
        kind: JointType::Free,
        position: Vector3::zeros(),
        axis: Vector3::z(),
        range: None,
        force_range: None,
        reference: 0.0,
        spring_reference: 0.0,
        stiffness: 0.0,
        damping: 0.0,
        friction: 0.0,
        armature: 0.0,
    }
}

fn joint(node: &mut Node<'_>, context: &Context, compiler: &Compiler) -> Joint {
    let kind = match &*node.word("type", &["free", "ball", "slide", "hinge"], "hinge") {
        "free" => JointType::Free,
        "ball" => JointType::Ball,
        "slide" => JointType::Slide,
        _ => JointType::Hinge,
    };
    let axis = node.vector("axis", Vector3::z());
    let axis = unit(axis).unwrap_or_else(|| {
        node.error("expected an `axis` that is not zero");
        Vector3::z()
    });
    let range = node.range("range", "limited", compiler.auto_limits);
    if let Some([lower, upper]) = range
        && lower >= upper
        && matches!(kind, JointType::Slide | JointType::Hinge)
    {
        node.error(format!("expected a `range` that rises, found {lower} … {upper}"));
    }
    let turns = matches!(kind, JointType::Hinge | JointType::Ball);
    let range = range.map(|range| match turns {
        true => range.map(|bound| angle(compiler, bound)),
        false => range,
    });
    let force_range = node.range("actuatorfrcrange", "actuatorfrclimited", compiler.auto_limits);
    let mut zero = |name: &str| {
        let value = node.number(name, 0.0);
        if kind == JointType::Hinge { angle(compiler, value) } else { value }
    };
    let (reference, spring_reference) = (zero("ref"), zero("springref"));
    let position = node.vector("pos", Vector3::zeros());
    // The first number is linear, the others weigh powers of the displacement or speed.
    let mut linear = |name: &str| match node.list(name, 1, 4) {
        Some(values) if values[1..].iter().any(|value| *value != 0.0) => {
            node.error(format!("`{name}` that is not linear is not supported"));
            0.0
        }
        Some(values) if values[0] < 0.0 => {
            node.error(format!("expected a `{name}` not below zero, found {}", values[0]));
            0.0
        }
        Some(values) => values[0],
        None => 0.0,
    };
    let (stiffness, damping) = (linear("stiffness"), linear("damping"));
    Joint {
        place: node.element().place,
        name: named(node, context),
        kind,
        position: match kind {
            JointType::Free => Vector3::zeros(),
            _ => context.frame.transform_point(&position),
        },
        axis: context.frame.rotation * axis,
        range: range.filter(|_| kind != JointType::Free),
        force_range,
        reference,
        spring_reference,
        stiffness,
        damping,
        friction: node.amount("frictionloss", 0.0),
        armature: node.amount("armature", 0.0),
    }
}

fn geom(node: &mut Node<'_>, context: &Context, compiler: &Compiler) -> Geom {
    const TYPES: [&str; 9] =
        ["plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf"];
    let kind = node.word("type", &TYPES, "sphere");
    let size = node.list("size", 1, 3).unwrap_or_default();
    let ends = match kind.as_str() {
        "capsule" | "cylinder" | "ellipsoid" | "box" if node.has("fromto") => from_to(node),
        _ if node.has_own("fromto") => {
            node.error(format!(
                "`fromto` makes a capsule, cylinder, ellipsoid or box, not a {kind}"
            ));
            None
        }
        _ => None,
    };
    let placement = ends.map_or_else(|| pose(node, compiler), |(placement, _)| placement);
    let solid = solid(node, &kind, &size, ends.map(|(_, half)| half));
    let mass = node.numbers("mass").map(|[mass]| mass);
    if mass.is_some_and(|mass| mass < 0.0) {
        node.error("expected a `mass` not below zero");
    }
    let friction = node.list("friction", 1, 3).unwrap_or_default();
    let coefficient = |i: usize, default: f64| friction.get(i).copied().unwrap_or(default);
    Geom {
        place: node.element().place,
        name: named(node, context),
        solid,
        placement: context.frame * placement,
        mass,
        density: node.amount("density", 1000.0),
        shell: node.truth("shellinertia", false),
        contact_type: node.whole("contype", 1),
        contact_affinity: node.whole("conaffinity", 1),
        contact_dimension: node.whole("condim", 3),
        group: node.number("group", 0.0),
        friction: [coefficient(0, 1.0), coefficient(1, 0.005), coefficient(2, 0.0001)],
        color: node.numbers("rgba").map(|color: [f64; 4]| color.map(|part| part.clamp(0.0, 1.0))),
    }
}

/// `half` is half the distance of the ends, where the file gives those.
fn solid(node: &mut Node<'_>, kind: &str, size: &[f64], half: Option<f64>) -> Solid {
    let mesh = node.text("mesh");
    if !mesh.is_empty() {
        return if matches!(kind, "mesh" | "sdf") {
            Solid::Mesh { mesh }
        } else {
            Solid::Fitted { mesh }
        };
    }
    let needed = match (kind, half) {
        ("plane" | "hfield" | "mesh" | "sdf", _) => 0,
        ("sphere", _) | (_, Some(_)) => 1,
        ("capsule" | "cylinder", None) => 2,
        _ => 3,
    };
    let good = size.len() >= needed && size.iter().take(needed).all(|value| *value > 0.0);
    if !good {
        node.error(format!("a {kind} needs {needed} numbers above zero in `size`"));
        return Solid::Plane;
    }
    match kind {
        "plane" => Solid::Plane,
        "hfield" => Solid::HeightField,
        "sphere" => Solid::Sphere { radius: size[0] },
        "capsule" => Solid::Capsule { radius: size[0], half: half.unwrap_or_else(|| size[1]) },
        "cylinder" => Solid::Cylinder { radius: size[0], half: half.unwrap_or_else(|| size[1]) },
        "ellipsoid" => Solid::Ellipsoid { radii: edges(size, half) },
        "box" => Solid::Box { half: edges(size, half) },
        _ => {
            node.error(format!("a {kind} needs the name of its `mesh`"));
            Solid::Plane
        }
    }
}

fn edges(size: &[f64], half: Option<f64>) -> Vector3<f64> {
    match half {
        Some(half) => Vector3::new(size[0], size[0], half),
        None => Vector3::new(size[0], size[1], size[2]),
    }
}
