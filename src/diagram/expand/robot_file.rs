//! Robots that are written once, in files of their own.

use legwork_block::{Arguments, Diagnostic, Diagnostics, Node, NodeField, NodeKind, Text};

use super::Expander;
use super::file::{beside, construct_in};
use super::value::{literal, with_fields};
use crate::language::{self, Construct, construct};

construct! {
    /// A robot that is written once, in a file of its own: what the section `robots:` would hold,
    /// such as `Urdf(…)`. Fields beside `file` take the place of those in the file.
    ///
    /// ```ron
    /// "go": Robot(file: "std:robots/mini_cheetah.ron")
    /// ```
    ///
    /// The file holds the robot alone. It knows no names of the diagram, and its paths begin where
    /// it is.
    ///
    /// ```ron
    /// Urdf(
    ///     path: "std:robots/pendulum/pendulum.urdf", base: Fixed,
    ///     keyframes: { "start": (s: ["1 rad"]) },
    /// )
    /// ```
    "Robot" shorthand open:
    pub(super) struct RobotFile<'n> {
        /// Path of the file, beside the diagram or above it; with `std:` in front, a built-in one.
        file: language::Text<'n> =
            required("where is the robot?", "Robot(file: \"std:robots/mini_cheetah.ron\")"),
        /// What it is for.
        doc: Option<language::Text<'n>>,
    }
}

impl Expander<'_> {
    /// The robot in the file that `Robot(…)` names, with the fields that `node` states.
    pub(super) fn robot_of_file(&self, node: &Node, found: &mut Diagnostics) -> Option<Node> {
        let robot = language::read::<RobotFile<'_>>(node, found)?;
        self.read_robot(&robot, node).map_err(|diagnostic| found.push(diagnostic)).ok()
    }

    fn read_robot(&self, robot: &RobotFile<'_>, user: &Node) -> Result<Node, Diagnostic> {
        let kinds: Vec<&str> = self.registry.resources().map(|entry| entry.kind).collect();
        let expected = format!("a robot, one of `{}(…)`", kinds.join("(…)`, `"));
        let name = robot.file.value;
        let written = construct_in(self.loader, name, robot.file.node, &kinds, &expected)?;
        let positional = written.named().map(|named| &named.arguments);
        if let Some(Arguments::Positional(items)) = positional {
            let at = items.first().unwrap_or(&written);
            return Err(language::wrong_type(at, "fields with names"));
        }
        let mut fields = Vec::new();
        for field in written.fields() {
            let mut value = literal(&field.value, &()).map_err(|found| *found)?;
            if field.name.text == PATH {
                from_here(name, &mut value);
            }
            fields.push(NodeField { name: field.name.clone(), value });
        }
        let is_own = |name: &str| RobotFile::MANUAL.names().any(|own| own == name);
        let stated = user.fields().iter().filter(|field| !is_own(&field.name.text)).cloned();
        // Mistakes of the whole are those of its user.
        let whole = with_fields(&written, fields.into_iter().chain(stated));
        Ok(Node { span: user.span, ..whole })
    }
}

/// The field of a robot that names another file.
const PATH: &str = "path";

/// Makes a path in the file `file` one of the diagram.
fn from_here(file: &str, path: &mut Node) {
    if let NodeKind::Text(Text { value, .. }) = &mut path.kind {
        *value = beside(file, value);
    }
}
