//! A robot as its file describes it. Attributes that the file leaves out have their defaults.

use nalgebra::Vector3;

use super::version::{QUATERNION, Version, roll_pitch_yaw};
use super::xml::Element;
use crate::model::JointKind;
use crate::placement::Placement;
use crate::shape::Shape;

/// Links and joints, in the order of the file.
pub(super) struct Robot {
    pub(super) name: String,
    pub(super) links: Vec<Link>,
    pub(super) joints: Vec<Joint>,
}

pub(super) struct Link {
    pub(super) line: usize,
    pub(super) name: String,
    pub(super) inertial: Inertial,
    pub(super) collisions: Vec<Collision>,
}

pub(super) struct Inertial {
    pub(super) origin: Placement,
    /// [kg].
    pub(super) mass: f64,
    /// ixx, ixy, ixz, iyy, iyz, izz [kg m²].
    pub(super) inertia: [f64; 6],
}

pub(super) struct Collision {
    pub(super) origin: Placement,
    pub(super) shape: Shape,
}

pub(super) struct Joint {
    pub(super) line: usize,
    pub(super) name: String,
    /// `None` for a fixed one.
    pub(super) kind: Option<JointKind>,
    /// `parent_from_child` at position zero.
    pub(super) origin: Placement,
    /// Link.
    pub(super) parent: String,
    /// Link.
    pub(super) child: String,
    pub(super) axis: Vector3<f64>,
    pub(super) limit: Option<Limit>,
    pub(super) damping: f64,
    pub(super) friction: f64,
    pub(super) mimic: Option<Mimic>,
}

#[derive(Clone, Copy)]
pub(super) struct Limit {
    pub(super) lower: f64,
    pub(super) upper: f64,
    pub(super) effort: f64,
    pub(super) velocity: f64,
}

pub(super) struct Mimic {
    pub(super) joint: String,
    pub(super) multiplier: f64,
    pub(super) offset: f64,
}

/// The kind of a joint of a type that a file may name: `Some(None)` if it is fixed.
pub(super) fn joint_kind(name: &str) -> Option<Option<JointKind>> {
    Some(match name {
        "revolute" => Some(JointKind::Revolute),
        "continuous" => Some(JointKind::Continuous),
        "prismatic" => Some(JointKind::Prismatic),
        "fixed" => None,
        "floating" => Some(JointKind::Floating),
        "planar" => Some(JointKind::Planar),
        "spherical" => Some(JointKind::Spherical),
        _ => return None,
    })
}

impl Robot {
    /// Reads elements that have been checked.
    pub(super) fn new(elements: &[Element], version: Version) -> Self {
        let document = Document { elements, version };
        let root = &elements[0];
        Self {
            name: text(root, "name"),
            links: document.children(root, "link").map(|link| document.link(link)).collect(),
            joints: document.children(root, "joint").map(|joint| document.joint(joint)).collect(),
        }
    }
}

/// The elements of a file, to be read one by one.
#[derive(Clone, Copy)]
pub(super) struct Document<'a> {
    pub(super) elements: &'a [Element],
    pub(super) version: Version,
}

impl<'a> Document<'a> {
    pub(super) fn children(
        &self,
        parent: &'a Element,
        name: &'a str,
    ) -> impl Iterator<Item = &'a Element> + use<'a> {
        let elements = self.elements;
        parent.children.iter().map(|&child| &elements[child]).filter(move |e| e.name == name)
    }

    pub(super) fn child(&self, parent: &'a Element, name: &'a str) -> Option<&'a Element> {
        self.children(parent, name).next()
    }

    fn link(&self, link: &'a Element) -> Link {
        Link {
            line: link.line,
            name: text(link, "name"),
            inertial: self.inertial(self.child(link, "inertial")),
            collisions: self
                .children(link, "collision")
                .filter_map(|c| self.collision(c))
                .collect(),
        }
    }

    /// A link without `<inertial>` has no mass.
    fn inertial(&self, inertial: Option<&'a Element>) -> Inertial {
        let part = |name| inertial.and_then(|inertial| self.child(inertial, name));
        let entries = |matrix: &Element| {
            ["ixx", "ixy", "ixz", "iyy", "iyz", "izz"].map(|name| number(matrix, name, 0.0))
        };
        Inertial {
            origin: self.origin(inertial),
            mass: part("mass").map_or(0.0, |mass| number(mass, "value", 0.0)),
            inertia: part("inertia").map_or([0.0; 6], entries),
        }
    }

    fn collision(&self, collision: &'a Element) -> Option<Collision> {
        let shape = self.shape(collision)?;
        Some(Collision { origin: self.origin(Some(collision)), shape })
    }

    /// The shape of a collision or a visual.
    pub(super) fn shape(&self, of: &'a Element) -> Option<Shape> {
        let geometry = self.child(of, "geometry")?;
        geometry.children.iter().find_map(|&shape| shape_of(&self.elements[shape]))
    }

    fn joint(&self, joint: &'a Element) -> Joint {
        let of = |name, attribute| {
            self.child(joint, name).map_or_else(String::new, |element| text(element, attribute))
        };
        let axis = self.child(joint, "axis");
        let dynamics = self.child(joint, "dynamics");
        let resistance = |name| dynamics.map_or(0.0, |element| number(element, name, 0.0));
        Joint {
            line: joint.line,
            name: text(joint, "name"),
            kind: joint.attribute("type").and_then(joint_kind).flatten(),
            origin: self.origin(Some(joint)),
            parent: of("parent", "link"),
            child: of("child", "link"),
            axis: axis.map_or(Vector3::x(), |axis| vector(axis, "xyz", Vector3::x())),
            limit: self.child(joint, "limit").map(|limit| self.limit(limit)),
            damping: resistance("damping"),
            friction: resistance("friction"),
            mimic: self.child(joint, "mimic").map(|mimic| Mimic {
                joint: text(mimic, "joint"),
                multiplier: number(mimic, "multiplier", 1.0),
                offset: number(mimic, "offset", 0.0),
            }),
        }
    }

    fn limit(&self, limit: &Element) -> Limit {
        let (lower, upper) = self.version.missing_bounds();
        Limit {
            lower: number(limit, "lower", lower),
            upper: number(limit, "upper", upper),
            effort: number(limit, "effort", f64::INFINITY),
            velocity: number(limit, "velocity", f64::INFINITY),
        }
    }

    /// The `<origin>` in `parent`; that of the parent if there is none.
    pub(super) fn origin(&self, parent: Option<&'a Element>) -> Placement {
        let origin = parent.and_then(|parent| self.child(parent, "origin"));
        let quaternion = origin
            .filter(|_| self.version >= Version::V1_1)
            .and_then(|origin| numbers(origin, QUATERNION))
            .and_then(roll_pitch_yaw);
        let values = |name| origin.and_then(|origin| numbers(origin, name));
        let angles = quaternion.or_else(|| values("rpy")).unwrap_or([0.0; 3]);
        Placement::from_xyz_rpy(values("xyz").unwrap_or([0.0; 3]), angles)
    }
}

fn shape_of(element: &Element) -> Option<Shape> {
    let value = |name| number(element, name, 0.0);
    Some(match element.name.as_str() {
        "sphere" => Shape::Sphere { radius: value("radius") },
        "box" => Shape::Box { size: vector(element, "size", Vector3::zeros()) },
        "cylinder" => Shape::Cylinder { radius: value("radius"), length: value("length") },
        "capsule" => Shape::Capsule { radius: value("radius"), length: value("length") },
        "mesh" => Shape::Mesh {
            path: text(element, "filename"),
            scale: vector(element, "scale", Vector3::repeat(1.0)),
        },
        _ => return None,
    })
}

fn text(element: &Element, name: &str) -> String {
    element.attribute(name).unwrap_or_default().to_owned()
}

/// The numbers of an attribute, if it is there.
pub(super) fn numbers<const N: usize>(element: &Element, name: &str) -> Option<[f64; N]> {
    let mut values = [0.0; N];
    let words = element.attribute(name)?.split_whitespace();
    for (value, word) in values.iter_mut().zip(words) {
        *value = word.parse().ok()?;
    }
    Some(values)
}

fn number(element: &Element, name: &str, default: f64) -> f64 {
    numbers(element, name).map_or(default, |[value]| value)
}

fn vector(element: &Element, name: &str, default: Vector3<f64>) -> Vector3<f64> {
    numbers(element, name).map_or(default, Vector3::from)
}
