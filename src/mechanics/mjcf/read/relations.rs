//! What relates bodies and joints: contacts, equalities, tendons, actuators, keyframes; and meshes.

use std::collections::BTreeMap;

use nalgebra::{Matrix3, Vector3};

use super::Reader;
use crate::mjcf::source::{Place, beside};
use crate::mjcf::tree::{Actuator, Equality, EqualityKind, Key, Mesh, Pair, Tendon, Transmission};
use crate::mjcf::values::{Node, rotation_of_quaternion};
use crate::placement::Placement;

impl Reader<'_> {
    fn main_node(&mut self, element: usize) -> Node<'_> {
        let main = self.defaults.main;
        self.node(element, main)
    }

    pub(super) fn meshes(&mut self) -> BTreeMap<String, Mesh> {
        let mut meshes = BTreeMap::new();
        for element in self.of_section("asset") {
            if self.document.elements[element].name != "mesh" {
                continue;
            }
            let compiler = self.compiler;
            let mut node = self.main_node(element);
            let mut file = node.text("file");
            let mut name = node.text("name");
            if name.is_empty() {
                let last = file.rsplit(['/', '\\']).next().unwrap_or("");
                last.rsplit_once('.').map_or(last, |(stem, _)| stem).clone_into(&mut name);
            }
            if compiler.strip_path {
                file = file.rsplit(['/', '\\']).next().unwrap_or("").to_owned();
            }
            let place = node.element().place;
            let scale = node.vector("scale", Vector3::repeat(1.0));
            let translation = node.vector("refpos", Vector3::zeros());
            let turn = node.numbers("refquat").and_then(rotation_of_quaternion);
            let rotation = turn.unwrap_or_else(Matrix3::identity);
            let mesh = Mesh {
                place,
                vertices: node.list("vertex", 0, usize::MAX).unwrap_or_default(),
                faces: node.list("face", 0, usize::MAX).unwrap_or_default(),
                scale,
                reference: Placement { rotation, translation }.inverse(),
                inertia: node.word("inertia", &["convex", "exact", "legacy", "shell"], "legacy"),
                file: (!file.is_empty()).then_some(file),
            };
            // The folder of meshes is named from the model's own file.
            let folder = compiler.mesh_folder.trim_end_matches('/');
            let mesh = Mesh {
                file: mesh.file.map(|file| {
                    let inside = match folder {
                        "" => file,
                        folder => beside(&format!("{folder}/"), &file),
                    };
                    beside(self.document.file_of(Place::START), &inside)
                }),
                ..mesh
            };
            if meshes.insert(name.clone(), mesh).is_some() {
                self.document.error(place, format!("a mesh `{name}` exists already"));
            }
        }
        meshes
    }

    pub(super) fn contacts(&mut self) -> (Vec<Pair>, Vec<(String, String, Place)>) {
        let (mut pairs, mut exclusions) = (Vec::new(), Vec::new());
        for element in self.of_section("contact") {
            let node = self.main_node(element);
            let place = node.element().place;
            match node.element().name.as_str() {
                "pair" => {
                    let geoms = [node.text("geom1"), node.text("geom2")];
                    pairs.push(Pair { place, geoms });
                }
                "exclude" => exclusions.push((node.text("body1"), node.text("body2"), place)),
                _ => {}
            }
        }
        (pairs, exclusions)
    }

    pub(super) fn equalities(&mut self) -> Vec<Equality> {
        let mut equalities = Vec::new();
        for element in self.of_section("equality") {
            let mut node = self.main_node(element);
            let texts = |node: &Node<'_>, names: [&str; 2]| names.map(|name| node.text(name));
            let by_sites = node.has("site1");
            let anchor = node.vector("anchor", Vector3::zeros());
            let bodies = texts(&node, ["body1", "body2"]);
            let sites = texts(&node, ["site1", "site2"]);
            let kind = match node.element().name.as_str() {
                "connect" if by_sites => EqualityKind::ConnectSites { sites },
                "connect" => EqualityKind::Connect { bodies, anchor },
                "weld" if by_sites => EqualityKind::WeldSites { sites },
                "weld" => {
                    let pose: Option<[f64; 7]> = node.numbers("relpose");
                    let relative = pose.and_then(|[x, y, z, a, b, c, d]| {
                        // A quaternion of zeros means the reference pose.
                        let rotation = rotation_of_quaternion([a, b, c, d])?;
                        Some(Placement { rotation, translation: Vector3::new(x, y, z) })
                    });
                    EqualityKind::Weld { bodies, relative, anchor }
                }
                "joint" => {
                    let given = node.list("polycoef", 1, 5);
                    let mut coefficients = [0.0, 1.0, 0.0, 0.0, 0.0];
                    for (coefficient, value) in coefficients.iter_mut().zip(given.iter().flatten())
                    {
                        *coefficient = *value;
                    }
                    EqualityKind::Joint { joints: texts(&node, ["joint1", "joint2"]), coefficients }
                }
                _ => continue,
            };
            let (place, name) = (node.element().place, node.text("name"));
            let active = node.truth("active", true);
            equalities.push(Equality { place, name, active, kind });
        }
        equalities
    }

    pub(super) fn tendons(&mut self) -> Vec<Tendon> {
        let mut tendons = Vec::new();
        for element in self.of_section("tendon") {
            if self.document.elements[element].name != "fixed" {
                continue;
            }
            let name = self.main_node(element).text("name");
            let mut joints = Vec::new();
            for child in self.document.elements[element].children.clone() {
                let mut node = self.main_node(child);
                let coefficient = node.number("coef", 0.0);
                joints.push((node.text("joint"), coefficient));
            }
            tendons.push(Tendon { name, joints });
        }
        tendons
    }

    pub(super) fn actuators(&mut self) -> Vec<Actuator> {
        let auto_limits = self.compiler.auto_limits;
        let mut actuators = Vec::new();
        for element in self.of_section("actuator") {
            let mut node = self.main_node(element);
            let kind = node.element().name.clone();
            if !matches!(kind.as_str(), "general" | "motor" | "position" | "velocity") {
                continue;
            }
            let others = ["jointinparent", "site", "cranksite", "slidersite", "body"];
            let transmission = if node.has("joint") {
                Transmission::Joint(node.text("joint"))
            } else if node.has("tendon") {
                Transmission::Tendon(node.text("tendon"))
            } else if let Some(other) = others.into_iter().find(|name| node.has(name)) {
                Transmission::Other(other)
            } else {
                node.error("expected what it acts on: `joint` or `tendon`");
                continue;
            };
            let (gain, bias, other_law) = law(&mut node, &kind);
            let mut gear = node.list("gear", 1, 6).unwrap_or_default();
            if gear.is_empty() {
                gear.push(1.0);
            }
            actuators.push(Actuator {
                place: node.element().place,
                name: node.text("name"),
                transmission,
                gear,
                control_range: node.range("ctrlrange", "ctrllimited", auto_limits),
                force_range: node.range("forcerange", "forcelimited", auto_limits),
                gain,
                bias,
                other_law,
                kind,
            });
        }
        actuators
    }

    pub(super) fn keys(&mut self) -> Vec<Key> {
        let mut keys = Vec::new();
        for element in self.of_section("keyframe") {
            let mut node = self.main_node(element);
            keys.push(Key {
                place: node.element().place,
                name: node.text("name"),
                positions: node.list("qpos", 0, usize::MAX),
                velocities: node.list("qvel", 0, usize::MAX),
                controls: node.list("ctrl", 0, usize::MAX),
            });
        }
        keys
    }
}

/// Gain, bias and whether these two do not tell all: force = gain · control + bias · (1, length,
/// velocity).
fn law(node: &mut Node<'_>, kind: &str) -> (f64, [f64; 3], bool) {
    match kind {
        "motor" => (1.0, [0.0; 3], false),
        "position" => {
            let (kp, kv) = (node.amount("kp", 1.0), node.amount("kv", 0.0));
            let more = ["dampratio", "timeconst", "inheritrange"].iter().any(|name| node.has(name));
            (kp, [0.0, -kp, -kv], more)
        }
        "velocity" => {
            let kv = node.amount("kv", 1.0);
            (kv, [0.0, 0.0, -kv], false)
        }
        _ => {
            let known = ["fixed", "affine", "none", "muscle", "user", "dcmotor", "so3"];
            let gain_type = node.word("gaintype", &known, "fixed");
            let bias_type = node.word("biastype", &known, "none");
            let gain = node.list("gainprm", 1, 16).unwrap_or_default();
            let bias = node.list("biasprm", 1, 16).unwrap_or_default();
            let at = |list: &[f64], i: usize| list.get(i).copied().unwrap_or(0.0);
            let dynamic = node.has("dyntype") && node.text("dyntype") != "none";
            let simple = gain_type == "fixed" && matches!(&*bias_type, "none" | "affine");
            let bias = match &*bias_type {
                "affine" => [at(&bias, 0), at(&bias, 1), at(&bias, 2)],
                _ => [0.0; 3],
            };
            (gain.first().copied().unwrap_or(1.0), bias, dynamic || !simple)
        }
    }
}
