//! Validated elements → [`urdf_rs::Robot`]. Missing attributes have their defaults.

use urdf_rs::{Geometry, Vec3, Vec4};

use super::error::Warning;
use super::schema;
use super::source::Lines;
use super::version::{QUATERNION, Version, roll_pitch_yaw};
use super::xml::Element;

/// Content of a file.
pub(super) struct Read {
    pub(super) robot: urdf_rs::Robot,
    pub(super) lines: Lines,
    /// Warnings of visuals with mistakes, which are left out.
    pub(super) warnings: Vec<Warning>,
}

/// Converts validated elements.
pub(super) fn robot(elements: &[Element], version: Version) -> Read {
    let document = Document { elements, version };
    let root = &elements[0];
    let mut read = Read {
        robot: urdf_rs::Robot {
            name: text(root, "name"),
            version: root.attribute("version").map(str::to_owned),
            links: Vec::new(),
            joints: Vec::new(),
            materials: document
                .children(root, "material")
                .map(|it| document.material(it))
                .collect(),
        },
        lines: Lines::default(),
        warnings: Vec::new(),
    };
    for link in document.children(root, "link") {
        read.lines.links.push(link.line);
        let link = document.link(link, &mut read.warnings);
        read.robot.links.push(link);
    }
    for joint in document.children(root, "joint") {
        read.lines.joints.push(joint.line);
        read.lines.is_limited.push(document.child(joint, "limit").is_some());
        read.robot.joints.push(document.joint(joint));
    }
    read
}

/// The elements of a file.
#[derive(Clone, Copy)]
struct Document<'a> {
    elements: &'a [Element],
    version: Version,
}

impl<'a> Document<'a> {
    fn children(
        &self,
        parent: &'a Element,
        name: &'a str,
    ) -> impl Iterator<Item = &'a Element> + use<'a> {
        let elements = self.elements;
        parent.children.iter().map(|&child| &elements[child]).filter(move |e| e.name == name)
    }

    fn child(&self, parent: &'a Element, name: &'a str) -> Option<&'a Element> {
        self.children(parent, name).next()
    }

    fn link(&self, link: &'a Element, warnings: &mut Vec<Warning>) -> urdf_rs::Link {
        let name = text(link, "name");
        let mut visual = Vec::new();
        for one in self.children(link, "visual") {
            match self.problem_of(one) {
                Some((line, problem)) => {
                    warnings.push(Warning::NotShown { line, link: name.clone(), problem });
                }
                None => visual.extend(self.visual(one)),
            }
        }
        let collision = self.children(link, "collision").filter_map(|it| self.collision(it));
        urdf_rs::Link {
            inertial: self.inertial(self.child(link, "inertial")),
            visual,
            collision: collision.collect(),
            name,
        }
    }

    /// A link without `<inertial>` has no mass.
    fn inertial(&self, inertial: Option<&'a Element>) -> urdf_rs::Inertial {
        let part = |name| inertial.and_then(|inertial| self.child(inertial, name));
        let entry = |name| part("inertia").map_or(0.0, |matrix| number(matrix, name, 0.0));
        urdf_rs::Inertial {
            origin: self.origin(inertial),
            mass: urdf_rs::Mass {
                value: part("mass").map_or(0.0, |mass| number(mass, "value", 0.0)),
            },
            inertia: urdf_rs::Inertia {
                ixx: entry("ixx"),
                ixy: entry("ixy"),
                ixz: entry("ixz"),
                iyy: entry("iyy"),
                iyz: entry("iyz"),
                izz: entry("izz"),
            },
        }
    }

    fn collision(&self, collision: &'a Element) -> Option<urdf_rs::Collision> {
        Some(urdf_rs::Collision {
            name: collision.attribute("name").map(str::to_owned),
            origin: self.origin(Some(collision)),
            geometry: self.geometry(collision)?,
        })
    }

    /// Does not read `<texture>`; textures of mesh files are used.
    fn visual(&self, visual: &'a Element) -> Option<urdf_rs::Visual> {
        Some(urdf_rs::Visual {
            name: visual.attribute("name").map(str::to_owned),
            origin: self.origin(Some(visual)),
            geometry: self.geometry(visual)?,
            material: self.child(visual, "material").map(|material| self.material(material)),
        })
    }

    fn material(&self, material: &'a Element) -> urdf_rs::Material {
        let color = self.child(material, "color").and_then(|color| {
            // Other counts than four are ignored.
            let is_whole = color.attribute("rgba")?.split_whitespace().count() == 4;
            numbers(color, "rgba").filter(|_| is_whole)
        });
        let color = color.map(|rgba| urdf_rs::Color { rgba: Vec4(rgba) });
        urdf_rs::Material { name: text(material, "name"), color, texture: None }
    }

    /// Line and description of the first mistake in a visual. The robot is read without the visual.
    fn problem_of(&self, visual: &'a Element) -> Option<(usize, String)> {
        for name in ["origin", "geometry"] {
            let mut found = self.children(visual, name);
            match (found.next(), found.next()) {
                (Some(part), None) => {
                    let problem = schema::problem_of(self.elements, part, self.version);
                    if problem.is_some() {
                        return problem;
                    }
                }
                (_, Some(second)) => return Some((second.line, format!("a second <{name}>"))),
                (None, None) if name == "geometry" => {
                    return Some((visual.line, "it has no <geometry>".to_owned()));
                }
                (None, None) => {}
            }
        }
        None
    }

    /// The shape of a collision or a visual.
    fn geometry(&self, of: &'a Element) -> Option<Geometry> {
        let geometry = self.child(of, "geometry")?;
        geometry.children.iter().find_map(|&shape| geometry_of(&self.elements[shape]))
    }

    fn joint(&self, joint: &'a Element) -> urdf_rs::Joint {
        let link_of = |name| urdf_rs::LinkName {
            link: self.child(joint, name).map_or_else(String::new, |it| text(it, "link")),
        };
        let axis = self.child(joint, "axis");
        let axis = axis.and_then(|axis| numbers(axis, "xyz"));
        urdf_rs::Joint {
            name: text(joint, "name"),
            joint_type: joint.attribute("type").and_then(schema::joint_type).unwrap_or_default(),
            origin: self.origin(Some(joint)),
            parent: link_of("parent"),
            child: link_of("child"),
            axis: axis.map_or_else(urdf_rs::Axis::default, |xyz| urdf_rs::Axis { xyz: Vec3(xyz) }),
            limit: self.limit(self.child(joint, "limit")),
            calibration: None,
            dynamics: self.child(joint, "dynamics").map(|dynamics| urdf_rs::Dynamics {
                damping: number(dynamics, "damping", 0.0),
                friction: number(dynamics, "friction", 0.0),
            }),
            mimic: self.child(joint, "mimic").map(|mimic| urdf_rs::Mimic {
                joint: text(mimic, "joint"),
                multiplier: numbers(mimic, "multiplier").map(|[value]| value),
                offset: numbers(mimic, "offset").map(|[value]| value),
            }),
            safety_controller: None,
        }
    }

    /// All bounds are infinite if `<limit>` is missing.
    fn limit(&self, limit: Option<&Element>) -> urdf_rs::JointLimit {
        let none = (f64::NEG_INFINITY, f64::INFINITY);
        let (lower, upper) = limit.map_or(none, |_| self.version.missing_bounds());
        let part = |name, default| limit.map_or(default, |limit| number(limit, name, default));
        urdf_rs::JointLimit {
            lower: part("lower", lower),
            upper: part("upper", upper),
            effort: part("effort", f64::INFINITY),
            velocity: part("velocity", f64::INFINITY),
            ..urdf_rs::JointLimit::default()
        }
    }

    /// The `<origin>` in `parent`; the identity if it is missing.
    fn origin(&self, parent: Option<&'a Element>) -> urdf_rs::Pose {
        let origin = parent.and_then(|parent| self.child(parent, "origin"));
        let quaternion = origin
            .filter(|_| self.version >= Version::V1_1)
            .and_then(|origin| numbers(origin, QUATERNION))
            .and_then(roll_pitch_yaw);
        let values = |name| origin.and_then(|origin| numbers(origin, name));
        let angles = quaternion.or_else(|| values("rpy")).unwrap_or([0.0; 3]);
        urdf_rs::Pose { xyz: Vec3(values("xyz").unwrap_or([0.0; 3])), rpy: Vec3(angles) }
    }
}

fn geometry_of(element: &Element) -> Option<Geometry> {
    let value = |name| number(element, name, 0.0);
    Some(match element.name.as_str() {
        "sphere" => Geometry::Sphere { radius: value("radius") },
        "box" => Geometry::Box { size: Vec3(numbers(element, "size").unwrap_or([0.0; 3])) },
        "cylinder" => Geometry::Cylinder { radius: value("radius"), length: value("length") },
        "capsule" => Geometry::Capsule { radius: value("radius"), length: value("length") },
        "mesh" => Geometry::Mesh {
            filename: text(element, "filename"),
            scale: numbers(element, "scale").map(Vec3),
        },
        _ => return None,
    })
}

fn text(element: &Element, name: &str) -> String {
    element.attribute(name).unwrap_or_default().to_owned()
}

/// Numbers of an attribute; `None` if it is missing.
fn numbers<const N: usize>(element: &Element, name: &str) -> Option<[f64; N]> {
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
