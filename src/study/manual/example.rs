//! Plans registered examples: they may name the robot `go` and built-in files.

use std::collections::BTreeMap;
use std::sync::Arc;

use legwork_block::{
    BlockKind, Diagnostics, FileId, Files, Registry, Resource, Resources, Scope, Value as Fact,
};
use legwork_diagram::document;

use super::port::Ports;

/// What stands for the robots of a mask that is looked at by itself: one with four legs, one with
/// neither joints nor feet, one with two legs and arms. A program that has them not knows nothing
/// of such a mask's robots.
pub(crate) const STAND_INS: [&str; 3] = [
    "Robot(file: \"std:robots/mini_cheetah.ron\")",
    "FreeBody(mass: \"2 kg\", shape: Box(size: [\"20 cm\", \"10 cm\", \"5 cm\"]))",
    "Robot(file: \"std:robots/talos.ron\")",
];
/// The robot that examples may name `go`.
const ROBOT: &str = r#"Urdf(
    path: "robots/mini_cheetah/mini_cheetah.urdf",
    base: Floating,
    feet: ["FL_foot", "FR_foot", "HL_foot", "HR_foot"],
    keyframes: { "stand": (s: [0, -0.8, 1.6, 0, -0.8, 1.6, 0, -0.8, 1.6, 0, -0.8, 1.6]) },
)"#;
/// Its name.
const ROBOT_NAME: &str = "go";
/// The step that examples are planned for [s].
const STEP: f64 = 1e-3;
/// Fields that the engine takes from every block.
const RESERVED: [&str; 4] = ["every", "in", "needs", "doc"];

/// What an example may name: the robot `go`, built-in files.
pub(crate) struct Examples<'r> {
    registry: &'r Registry,
    robots: BTreeMap<&'static str, Arc<dyn Resource>>,
}

impl<'r> Examples<'r> {
    /// Loads the robot. A program without it has examples without it.
    pub(crate) fn new(registry: &'r Registry) -> Self {
        let mut examples = Self { registry, robots: BTreeMap::new() };
        let node = document::parse(FileId::default(), ROBOT.as_bytes()).ok();
        let loaded = node.zip(registry.find_resource("Urdf")).and_then(|(node, entry)| {
            let mut found = Diagnostics::default();
            (entry.load)(&node, &(), ROBOT_NAME, &examples, &examples, &mut found)
        });
        if let Some(Ok((robot, _))) = loaded {
            examples.robots.insert(ROBOT_NAME, robot);
        }
        examples
    }

    /// Plans the example of a kind.
    ///
    /// # Errors
    /// Why it does not plan.
    pub(super) fn plan(&self, entry: &BlockKind) -> Result<Ports, String> {
        let node = document::parse(FileId::default(), entry.example.as_bytes())
            .map_err(|diagnostic| diagnostic.message)?;
        let mut found = Diagnostics::default();
        let Some(block) = (entry.bind)(&node, self, &RESERVED, &mut found) else {
            let messages: Vec<String> = found.into_iter().map(|one| one.message).collect();
            return Err(messages.join("; "));
        };
        let ports = legwork_block::Ports::new(self, self, STEP);
        let (declaration, _) = block.plan(ports).map_err(|invalid| invalid.message)?;
        Ok(Ports::of(&declaration))
    }
}

impl Scope for Examples<'_> {
    fn lookup(&self, name: &str) -> Option<Fact> {
        let facts = self.robots.get(name)?.facts();
        let Fact::Record(facts) = facts else { return Some(facts) };
        let named = std::iter::once(("name".to_owned(), Fact::from(name)));
        Some(Fact::record(
            facts.iter().map(|(fact, value)| (fact.clone(), value.clone())).chain(named),
        ))
    }

    fn names(&self) -> Vec<String> {
        self.resource_names()
    }
}

impl Resources for Examples<'_> {
    fn resource(&self, name: &str) -> Option<&Arc<dyn Resource>> {
        self.robots.get(name)
    }

    fn resource_names(&self) -> Vec<String> {
        self.robots.keys().map(|name| (*name).to_owned()).collect()
    }
}

impl Files for Examples<'_> {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        let path = path.strip_prefix("std:").unwrap_or(path);
        let bytes = self.registry.find_file(path);
        bytes.map(<[u8]>::to_vec).ok_or_else(|| format!("no file `{path}` is built in"))
    }
}
