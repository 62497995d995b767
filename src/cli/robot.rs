//! `legwork robot`: what a robot file says, and how the robot looks.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use legwork_picture::robot::{Body, Row, tree, views};
use legwork_study::robot::{JointOf, LinkOf, Request, Robot, Summary};
use legwork_study::{Library, digits, files};
use serde_json::json;

use super::answer::{Answer, Code, Failure};
use super::arguments::pair;
use super::console;
use super::picture;
use super::summary::write_table;

/// `legwork robot`.
///
/// Tree, masses, inertias, limits, damping, springs and shapes of a robot, and what of the file is
/// doubtful or not used. Drawings are SVG, or PNG where this program can write it. `-o robot.urdf`
/// converts a robot of any format to URDF.
#[derive(Debug, Args)]
pub(crate) struct RobotArguments {
    /// A URDF or xacro file, a model of MuJoCo, or a robot file of the language:
    /// `std:robots/mini_cheetah.ron`.
    pub(crate) file: String,
    /// Weld the root link of a URDF, or the floating base of a model of MuJoCo, to the world.
    #[arg(long)]
    pub(crate) fixed: bool,
    /// An argument of a xacro file, as in `prefix=left_`.
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    pub(crate) arg: Vec<(String, String)>,
    /// The folder of a package, as in `arm_description=../arm`.
    #[arg(long, value_name = "NAME=DIR", value_parser = pair)]
    pub(crate) package: Vec<(String, String)>,
    /// Draw the tree of links in this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) tree: Option<PathBuf>,
    /// Draw the robot from the side and from the front in this file. If the name ends in .urdf,
    /// write the robot as URDF, whatever its own format is.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The keyframe in which the robot is drawn; without it, all joints are at zero.
    #[arg(long, value_name = "KEYFRAME")]
    pub(crate) pose: Option<String>,
}

/// Describes a robot, and draws it.
///
/// # Errors
/// If the file holds no robot, there is no such pose, or a drawing cannot be written.
pub(crate) fn robot(arguments: &RobotArguments, library: &Library) -> Result<Answer, Failure> {
    let map = |pairs: &[(String, String)]| pairs.iter().cloned().collect::<BTreeMap<_, _>>();
    let request = Request {
        is_fixed: arguments.fixed,
        arguments: map(&arguments.arg),
        packages: map(&arguments.package),
    };
    let robot = library.robot(&arguments.file, &request)?;
    let summary = robot.summary();
    let view = robot.view(arguments.pose.as_deref())?;
    if let Some(path) = &arguments.tree {
        picture::write(path, tree_of(&summary), robot.files())?;
    }
    let mut left_out_of_urdf = Vec::new();
    let is_urdf = |path: &&PathBuf| path.extension().is_some_and(|ending| ending == "urdf");
    if let Some(path) = arguments.output.as_ref().filter(is_urdf) {
        let (text, left_out) = robot.to_urdf(path)?;
        files::refuse_input(path, robot.files())?;
        files::write(path, text)?;
        console::note(&format!("wrote {}", path.display()));
        for what in &left_out {
            console::note(&format!("warning: URDF cannot describe {what}"));
        }
        left_out_of_urdf = left_out;
    } else if let Some(path) = &arguments.output {
        let bones = view.bones.iter().map(|bone| [bone.from, bone.to]).collect();
        let solids = view.solids.iter().map(|solid| solid.points.clone()).collect();
        let drawn = views(&title(&summary, arguments), &Body { bones, solids });
        picture::write(path, drawn, robot.files())?;
    }
    let ending = Path::new(&arguments.file).extension().map(std::ffi::OsStr::to_ascii_lowercase);
    let is_urdf = ending.is_some_and(|ending| ending == "urdf" || ending == "xacro");
    let is_open = is_urdf && !arguments.fixed;
    let poses: Vec<&str> = robot.poses().collect();
    let json = json!({ "robot": summary, "poses": poses, "left_out_of_urdf": left_out_of_urdf });
    Ok(Answer::new(Code::Success, json).text(described(&summary, &robot, is_open)))
}

fn title(summary: &Summary, arguments: &RobotArguments) -> String {
    match &arguments.pose {
        Some(pose) => format!("{} in `{pose}`", summary.name),
        None => summary.name.clone(),
    }
}

fn tree_of(summary: &Summary) -> String {
    let rows = summary.links.iter().map(|link| {
        let joint = link.joint.as_deref().unwrap_or("root");
        let mass = link
            .inertia
            .as_ref()
            .map_or_else(String::new, |inertia| format!(", {} kg", digits(inertia.mass)));
        Row { depth: link.depth, name: link.name.clone(), note: format!("{joint}{mass}") }
    });
    tree(&summary.name, &rows.collect::<Vec<_>>())
}

/// The text for people.
fn described(summary: &Summary, robot: &Robot, is_open: bool) -> String {
    let mut text = String::new();
    let base = if summary.is_floating { "floating" } else { "fixed" };
    let (joints, links) = (summary.joints.len(), summary.links.len());
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{}: {joints} joints, {links} links, {} kg, {base} base, nq {}, nv {}",
        summary.name,
        digits(summary.mass),
        summary.nq,
        summary.nv
    );
    if is_open {
        text.push_str(
            "  a URDF does not say how its base is held: a diagram does, with `base: Fixed` or \
             `base: Floating`; here `--fixed` does\n",
        );
    }
    let mut rows =
        vec![row(["link", "joint", "kg", "centre [m]", "principal moments [kg m²]", "shapes"])];
    rows.extend(summary.links.iter().map(link_row));
    text.push('\n');
    let _ = write_table(&rows, "", 2, &mut text);
    if !summary.joints.is_empty() {
        let head = [
            "joint", "kind", "lower", "upper", "effort", "speed", "damping", "friction", "spring",
            "rest", "rotor",
        ];
        let mut rows = vec![row(head)];
        rows.extend(summary.joints.iter().map(joint_row));
        text.push('\n');
        let _ = write_table(&rows, "", 2, &mut text);
    }
    for follower in &summary.followers {
        let (name, joint) = (&follower.name, &follower.joint);
        let (multiplier, offset) = (follower.multiplier, follower.offset);
        let _ = writeln!(text, "{name} = {multiplier} · {joint} + {offset}");
    }
    if !summary.frames.is_empty() {
        let _ = writeln!(text, "\nframes of equalities: {}", summary.frames.join(", "));
    }
    let poses: Vec<&str> = robot.poses().collect();
    if !poses.is_empty() {
        let _ = writeln!(text, "\nposes: {}", poses.join(", "));
    }
    text.push('\n');
    text.push_str(&inertia_verdict(summary));
    for warning in &summary.warnings {
        let _ = writeln!(text, "warning: {warning}");
    }
    text
}

/// What the check of inertias found.
fn inertia_verdict(summary: &Summary) -> String {
    let mut text = String::new();
    let with = summary.links.iter().filter_map(|link| Some((&link.name, link.inertia.as_ref()?)));
    let mut count = 0;
    for (name, inertia) in with.clone() {
        let what = match (inertia.is_positive, inertia.is_triangle) {
            (true, true) => continue,
            (false, _) => "is not positive definite",
            (_, false) => "breaks the triangle inequality",
        };
        count += 1;
        let _ = writeln!(text, "inertia: that of `{name}` {what}: {:?}", inertia.principal);
    }
    if count == 0 {
        let _ = writeln!(
            text,
            "inertia: all {} are positive definite and keep the triangle inequality",
            with.count()
        );
    }
    text
}

fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

fn link_row(link: &LinkOf) -> Vec<String> {
    let numbers =
        |values: &[f64]| values.iter().map(|value| digits(*value)).collect::<Vec<_>>().join(" ");
    let inertia = link.inertia.as_ref();
    let of = |show: &dyn Fn(&legwork_study::robot::Inertia) -> String| {
        inertia.map_or_else(String::new, show)
    };
    vec![
        format!("{}{}", "  ".repeat(link.depth.min(40)), link.name),
        link.joint.clone().unwrap_or_default(),
        of(&|inertia| digits(inertia.mass)),
        of(&|inertia| numbers(&inertia.center)),
        of(&|inertia| numbers(&inertia.principal)),
        link.shapes.join(", "),
    ]
}

fn joint_row(joint: &JointOf) -> Vec<String> {
    let limit = |value: Option<f64>| value.map_or_else(String::new, digits);
    let act = |value: f64| if value == 0.0 { String::new() } else { digits(value) };
    vec![
        joint.name.clone(),
        joint.kind.to_owned(),
        limit(joint.lower),
        limit(joint.upper),
        limit(joint.effort),
        limit(joint.velocity),
        act(joint.damping),
        act(joint.friction),
        act(joint.stiffness),
        limit(joint.rest),
        act(joint.rotor_inertia),
    ]
}
