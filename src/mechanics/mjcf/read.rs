//! Elements → [`Tree`].

mod bodies;
mod relations;

use nalgebra::Vector3;

use super::error::MjcfErrors;
use super::source::Document;
use super::tree::{Compiler, InertiaFromGeom, Options, Tree};
use super::values::{Defaults, Node, children_of};

/// Reads a document whose names have been checked.
pub(super) fn tree(document: &mut Document) -> Result<Tree, MjcfErrors> {
    let defaults = Defaults::read(document);
    let compiler = compiler(document, &defaults);
    let mut reader = Reader { compiler: &compiler, document, defaults: &defaults };
    let options = reader.options();
    let bodies = reader.bodies();
    let meshes = reader.meshes();
    let (pairs, exclusions) = reader.contacts();
    let (equalities, tendons) = (reader.equalities(), reader.tendons());
    let (actuators, keys) = (reader.actuators(), reader.keys());
    document.finish()?;
    let name = document.elements[0].attribute("model");
    Ok(Tree {
        name: name.map_or_else(String::new, |name| name.value.clone()),
        compiler,
        options,
        bodies,
        meshes,
        pairs,
        exclusions,
        equalities,
        tendons,
        actuators,
        keys,
    })
}

/// What reading needs everywhere.
struct Reader<'a> {
    document: &'a mut Document,
    defaults: &'a Defaults,
    compiler: &'a Compiler,
}

impl Reader<'_> {
    /// An element with the defaults of its own class, else of `class`.
    fn node(&mut self, element: usize, class: usize) -> Node<'_> {
        let name = self.document.elements[element].attribute("class").is_some();
        let class = match name {
            false => class,
            true => self.class_of(element, "class").unwrap_or(class),
        };
        Node { document: self.document, defaults: self.defaults, element, class: Some(class) }
    }

    /// The class that an attribute of an element names.
    fn class_of(&mut self, element: usize, attribute: &str) -> Option<usize> {
        let found = self.document.elements[element].attribute(attribute)?;
        let name = super::source::Attribute {
            name: found.name.clone(),
            value: found.value.clone(),
            place: found.place,
            value_place: found.value_place,
        };
        self.defaults.find(self.document, &name)
    }

    /// Elements of a section, which may occur several times.
    fn of_section(&self, section: &str) -> Vec<usize> {
        children_of(self.document, 0, section)
            .flat_map(|section| self.document.elements[section].children.iter().copied())
            .collect()
    }

    fn options(&mut self) -> Options {
        let mut options = Options {
            time_step: 0.002,
            integrator: "Euler".to_owned(),
            gravity: Vector3::new(0.0, 0.0, -9.81),
            limits: true,
            springs: true,
            dampers: true,
            friction: true,
        };
        let mut falls = true;
        for section in children_of(self.document, 0, "option").collect::<Vec<_>>() {
            let main = self.defaults.main;
            let mut node = self.node(section, main);
            options.gravity = node.vector("gravity", options.gravity);
            options.time_step = node.number("timestep", options.time_step);
            if options.time_step <= 0.0 {
                node.error("expected a `timestep` above zero");
            }
            let known = ["Euler", "RK4", "implicit", "implicitfast"];
            options.integrator = node.word("integrator", &known, &options.integrator);
            for flags in children_of(self.document, section, "flag").collect::<Vec<_>>() {
                let mut node = self.node(flags, main);
                let mut on = |name: &str, was: bool| {
                    let default = if was { "enable" } else { "disable" };
                    node.word(name, &["enable", "disable"], default) == "enable"
                };
                falls = on("gravity", falls);
                options.limits = on("limit", options.limits);
                let passive = on("passive", true);
                options.springs = on("spring", options.springs) && passive;
                options.dampers = on("damper", options.dampers) && passive;
                options.friction = on("frictionloss", options.friction);
            }
        }
        if !falls {
            options.gravity = Vector3::zeros();
        }
        options
    }
}

fn compiler(document: &mut Document, defaults: &Defaults) -> Compiler {
    let mut compiler = Compiler {
        degree: true,
        sequence: *b"xyz",
        auto_limits: true,
        inertia_from_geom: InertiaFromGeom::Auto,
        inertia_groups: [0.0, 5.0],
        bound_mass: 0.0,
        bound_inertia: 0.0,
        balance_inertia: false,
        total_mass: None,
        mesh_folder: String::new(),
        strip_path: false,
        discard_visual: false,
    };
    for element in children_of(document, 0, "compiler").collect::<Vec<_>>() {
        let mut node = Node { document: &mut *document, defaults, element, class: None };
        let unit = if compiler.degree { "degree" } else { "radian" };
        compiler.degree = node.word("angle", &["degree", "radian"], unit) == "degree";
        if node.word("coordinate", &["local", "global"], "local") == "global" {
            node.error(
                "global coordinates are not supported, as in MuJoCo since 2.3.4, which saves such \
                 a model in local ones",
            );
        }
        if node.has("eulerseq") {
            let text = node.text("eulerseq");
            match <[u8; 3]>::try_from(text.as_bytes()) {
                Ok(sequence) if sequence.iter().all(|c| b"xyzXYZ".contains(c)) => {
                    compiler.sequence = sequence;
                }
                _ => node.error("expected `eulerseq` of three letters x, y, z, X, Y, Z"),
            }
        }
        compiler.auto_limits = node.truth("autolimits", compiler.auto_limits);
        let inertia = match compiler.inertia_from_geom {
            InertiaFromGeom::Auto => "auto",
            InertiaFromGeom::Always => "true",
            InertiaFromGeom::Never => "false",
        };
        let words = ["true", "false", "auto"];
        compiler.inertia_from_geom = match &*node.word("inertiafromgeom", &words, inertia) {
            "true" => InertiaFromGeom::Always,
            "false" => InertiaFromGeom::Never,
            _ => InertiaFromGeom::Auto,
        };
        let groups = compiler.inertia_groups;
        compiler.inertia_groups = node.numbers("inertiagrouprange").unwrap_or(groups);
        compiler.bound_mass = node.amount("boundmass", compiler.bound_mass);
        compiler.bound_inertia = node.amount("boundinertia", compiler.bound_inertia);
        compiler.balance_inertia = node.truth("balanceinertia", compiler.balance_inertia);
        if let Some([mass]) = node.numbers("settotalmass") {
            // Not above zero: masses stay.
            compiler.total_mass = (mass > 0.0).then_some(mass);
        }
        if node.has("meshdir") {
            compiler.mesh_folder = node.text("meshdir");
        } else if node.has("assetdir") {
            compiler.mesh_folder = node.text("assetdir");
        }
        compiler.strip_path = node.truth("strippath", compiler.strip_path);
        compiler.discard_visual = node.truth("discardvisual", compiler.discard_visual);
    }
    compiler
}
