//! A robot by itself: what its file says, and what is doubtful in it.

mod format;
mod shapes;
mod summary;
mod urdf;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use legwork_block::{Diagnostics, Severity, code};
use legwork_diagram::render::{SourceMap, to_json, to_text};
use legwork_mechanics::{Kinematics, Model};
use serde_json::Value;

use crate::error::{Error, ErrorKind};
use crate::library::Library;
use format::Format;

pub use shapes::{Bone, Solid, View};
pub use summary::{Follower, Inertia, JointOf, LinkOf, Summary};

/// The robot's name in the diagram that is made around it.
const NAME: &str = "robot";

/// How to read a robot file.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Whether the root link is welded to the world; else it is free, or as a model of MuJoCo has
    /// it.
    pub is_fixed: bool,
    /// Arguments of a xacro file.
    pub arguments: BTreeMap<String, String>,
    /// Folders of packages by name.
    pub packages: BTreeMap<String, String>,
}

/// A robot that was read.
#[derive(Debug)]
pub struct Robot {
    model: Model,
    keyframes: BTreeMap<String, Pose>,
    diagnostics: Diagnostics,
    sources: SourceMap,
    files: Vec<PathBuf>,
    /// Base folder of relative paths.
    folder: PathBuf,
}

/// A named pose.
#[derive(Debug, Clone, Default)]
struct Pose {
    s: Vec<f64>,
    base_position: Option<Vec<f64>>,
    base_orientation: Option<Vec<f64>>,
}

impl Library {
    /// Reads a robot: a URDF or xacro file, a model of MuJoCo, or a robot file of the language, such
    /// as `std:robots/mini_cheetah.ron`. It may read what a diagram in the same folder may.
    ///
    /// # Errors
    /// If the file cannot be read, is of another format, or holds no robot; what is wrong, with its
    /// place.
    pub fn robot(&self, file: &str, request: &Request) -> Result<Robot, Error> {
        let (beside, inner, format) = match file.strip_prefix("std:") {
            Some(name) => (PathBuf::from("robot.ron"), file.to_owned(), Format::of_library(name)),
            None => {
                let path = Path::new(file);
                let name = path.file_name().and_then(|name| name.to_str());
                let name = name.ok_or_else(|| {
                    Error::request(format!("expected the path of a robot file, found `{file}`"))
                })?;
                (path.with_file_name("robot.ron"), name.to_owned(), Format::of_file(path)?)
            }
        };
        let text = |text: &str| Value::from(text).to_string();
        let has_more = !request.arguments.is_empty() || !request.packages.is_empty();
        let robot = match format {
            Format::Robot | Format::Mjcf if has_more => {
                let message = match format {
                    Format::Mjcf => "expected no arguments and packages, found a model of MuJoCo",
                    _ => "expected arguments and packages in the robot file itself",
                };
                return Err(Error::request(message));
            }
            Format::Robot if request.is_fixed => {
                let message = "expected how the base is held in the robot file itself";
                return Err(Error::request(message));
            }
            Format::Robot => format!("Robot(file: {})", text(&inner)),
            Format::Mjcf => {
                let base = if request.is_fixed { ", base: Some(Fixed)" } else { "" };
                format!("Mjcf(path: {}{base})", text(&inner))
            }
            Format::Urdf => {
                let base = if request.is_fixed { "Fixed" } else { "Floating" };
                let map =
                    |map: &BTreeMap<String, String>| Value::from_iter(map.clone()).to_string();
                format!(
                    "Urdf(path: {}, base: {base}, args: {}, packages: {})",
                    text(&inner),
                    map(&request.arguments),
                    map(&request.packages)
                )
            }
        };
        let diagram = format!(
            "Diagram(format: 2, run: (stop: \"1 s\", step: \"1 s\"), \
             robots: {{ \"{NAME}\": {robot} }}, blocks: {{ \"one\": Constant(value: 1.0) }})"
        );
        let shown = beside.display().to_string();
        let (compiled, files) = self.diagram(&shown, diagram).front();
        let found = compiled.robots.get(NAME);
        let model = found.and_then(|robot| robot.mechanism()?.downcast_ref::<Model>());
        let Some((robot, model)) = found.zip(model) else {
            let errors = compiled.diagnostics.iter().filter(|one| one.severity == Severity::Error);
            let lines: Vec<String> = errors
                .map(|one| {
                    let hints: String = one.hints.iter().map(|hint| format!("; {hint}")).collect();
                    format!("{}{hints}", one.message)
                })
                .collect();
            return Err(Error::new(ErrorKind::Diagram, lines.join("\n")));
        };
        Ok(Robot {
            model: model.clone(),
            keyframes: keyframes(&robot.facts()),
            diagnostics: compiled.diagnostics,
            sources: compiled.sources,
            files: files.into_iter().map(|(path, _)| path).collect(),
            folder: beside.parent().unwrap_or(Path::new("")).to_owned(),
        })
    }
}

/// The named poses among a robot's facts.
fn keyframes(facts: &legwork_block::Value) -> BTreeMap<String, Pose> {
    use legwork_block::Value as Fact;
    let numbers = |value: &Fact| -> Option<Vec<f64>> {
        let Fact::List(items) = value else { return None };
        let number = |item: &Fact| match item {
            Fact::Real { value, .. } => Some(*value),
            _ => None,
        };
        items.iter().map(number).collect()
    };
    let Fact::Record(facts) = facts else { return BTreeMap::new() };
    let Some(Fact::Record(keyframes)) = facts.get("keyframes") else { return BTreeMap::new() };
    let poses = keyframes.iter().filter_map(|(name, pose)| {
        let Fact::Record(pose) = pose else { return None };
        let part = |name: &str| pose.get(name).and_then(numbers);
        let (base_position, base_orientation) = (part("base_position"), part("base_orientation"));
        Some((name.to_string(), Pose { s: part("s")?, base_position, base_orientation }))
    });
    poses.collect()
}

impl Robot {
    /// The mechanism.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Files that were read.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// What is doubtful or not used, a sentence each.
    pub fn warnings(&self) -> Vec<String> {
        let warnings = self.diagnostics.iter().filter(|one| one.code == code::ROBOT);
        warnings.map(|one| one.message.clone()).collect()
    }

    /// The same as text with places.
    pub fn to_text(&self) -> String {
        to_text(&self.diagnostics, &self.sources)
    }

    /// The same as a JSON array.
    pub fn to_json(&self) -> Value {
        to_json(&self.diagnostics, &self.sources)
    }

    /// Names of the poses that the robot file has.
    pub fn poses(&self) -> impl Iterator<Item = &str> {
        self.keyframes.keys().map(String::as_str)
    }

    /// What the file says.
    pub fn summary(&self) -> Summary {
        Summary::new(&self.model, self.warnings())
    }

    /// The robot in a pose, for a picture; without a name, all joints at zero.
    ///
    /// # Errors
    /// If there is no such pose.
    pub fn view(&self, pose: Option<&str>) -> Result<View, Error> {
        let mut q = self.model.zero_configuration();
        if let Some(name) = pose {
            let pose = self.keyframes.get(name).ok_or_else(|| {
                let known: Vec<&str> = self.poses().collect();
                let known = match known.is_empty() {
                    true => "the file has none".to_owned(),
                    false => format!("there are {}", known.join(", ")),
                };
                Error::request(format!("no pose `{name}`; {known}"))
            })?;
            let joints = self.model.joint_configuration_dim();
            let first = q.len() - joints.min(q.len());
            q[first..].copy_from_slice(&pose.s);
            for (at, part) in [(0, &pose.base_position), (3, &pose.base_orientation)] {
                if let (Some(part), true) = (part, first >= 7) {
                    q[at..at + part.len()].copy_from_slice(part);
                }
            }
        }
        let mut kinematics = Kinematics::new(&self.model);
        kinematics.update(&self.model, &q, &vec![0.0; self.model.velocity_dim()]);
        Ok(View::new(&self.model, &kinematics))
    }
}

#[cfg(test)]
mod tests;
