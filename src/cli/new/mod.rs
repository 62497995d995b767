//! `legwork new`: something to start from.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use legwork_study::{Library, files, nearest};
use serde_json::json;

use super::answer::{Answer, Code, Failure};
use super::console;

/// `legwork new`.
#[derive(Debug, Args)]
pub(crate) struct NewArguments {
    /// What to write: a file, whose ending may be left out, or with `--template block` a folder.
    /// What exists is left alone.
    #[arg(required_unless_present = "list")]
    pub(crate) file: Option<PathBuf>,
    /// What to start from [default: loop]; `--list` lists them.
    #[arg(long, conflicts_with = "from")]
    pub(crate) template: Option<String>,
    /// List the templates.
    #[arg(long, conflicts_with_all = ["file", "template", "from"])]
    pub(crate) list: bool,
    /// Start from a diagram that is built in instead, from the example of a page of the reference
    /// (help:PAGE), or from a file.
    #[arg(long, value_name = "demo:NAME")]
    pub(crate) from: Option<PathBuf>,
}

/// Something to start from: files in which `NAME` stands for the name that its user gives.
struct Template {
    name: &'static str,
    summary: &'static str,
    /// Endings of files beside one another, or paths in a folder of their own.
    files: &'static [(&'static str, &'static str)],
    /// Whether it is a folder.
    is_folder: bool,
    /// What to do next.
    next: &'static str,
}

/// What stands for the name, in the texts of templates.
const NAME: &str = "NAME";
/// Names that a crate cannot have: keywords of Rust, its own libraries, and the folders into which
/// Cargo builds.
const RESERVED: &str = "abstract alloc as async await become box break build const continue core \
    crate deps do dyn else enum examples extern false final fn for gen if impl in incremental let \
    loop macro match mod move mut override priv proc_macro pub ref return self static std struct \
    super test trait true try type typeof unsafe unsized use virtual where while yield";
/// What stands for where the sources of this program are.
const REPOSITORY: &str = "REPOSITORY";

/// All templates. A new one is its files and an entry.
const TEMPLATES: [Template; 6] = [
    Template {
        name: "loop",
        summary: "a control loop of signals: a cart on a rail under a sampled controller",
        files: &[("ron", include_str!("templates/loop.ron"))],
        is_folder: false,
        next: "legwork run NAME.ron",
    },
    Template {
        name: "arm",
        summary: "an arm on a fixed base with its URDF: PD, gravity compensation, motors",
        files: &[
            ("ron", include_str!("templates/arm.ron")),
            ("urdf", include_str!("templates/arm.urdf")),
        ],
        is_folder: false,
        next: "legwork run NAME.ron",
    },
    Template {
        name: "quadruped",
        summary: "Mini Cheetah on the ground: contacts, a push, two solvers to choose from",
        files: &[("ron", include_str!("templates/quadruped.ron"))],
        is_folder: false,
        next: "legwork run NAME.ron",
    },
    Template {
        name: "humanoid",
        summary: "a humanoid with its URDF, standing on two soles",
        files: &[
            ("ron", include_str!("templates/humanoid.ron")),
            ("urdf", include_str!("templates/humanoid.urdf")),
        ],
        is_folder: false,
        next: "legwork run NAME.ron",
    },
    Template {
        name: "mask",
        summary: "a part with parameters in a file of its own, and a diagram that uses it twice",
        files: &[
            ("ron", include_str!("templates/mask.ron")),
            ("mask", include_str!("templates/mask.mask")),
        ],
        is_folder: false,
        next: "legwork run NAME.ron",
    },
    Template {
        name: "block",
        summary: "a crate of blocks in Rust, with a command that knows them",
        files: &[
            ("Cargo.toml", include_str!("templates/block/Cargo.toml.txt")),
            ("src/main.rs", include_str!("templates/block/main.rs.txt")),
            ("src/leak.rs", include_str!("templates/block/leak.rs.txt")),
            ("demo.ron", include_str!("templates/block/demo.ron")),
            (".gitignore", "/target\n/runs\n"),
        ],
        is_folder: true,
        next: "cd NAME && cargo run -- run demo.ron",
    },
];

/// Writes a new diagram, mask or crate, or lists what there is to start from.
///
/// # Errors
/// If a file exists or cannot be written, or there is nothing to start from of this name.
pub(crate) fn new(arguments: &NewArguments, library: &Library) -> Result<Answer, Failure> {
    let Some(file) = &arguments.file else { return Ok(list()) };
    if let Some(from) = &arguments.from {
        let text = library.open(from)?.text().to_vec();
        let is_diagram = file.extension().is_some_and(|ending| ending == "ron");
        let text = match robot_kind(&text).filter(|_| is_diagram) {
            Some(kind) => diagram_with(kind, &path_from(file, Path::new(from))).into_bytes(),
            None => text,
        };
        let next = next(&text, &file.display().to_string());
        return write(&[(file.clone(), text)], &next);
    }
    let template = find(arguments.template.as_deref().unwrap_or("loop"))?;
    let named = if template.is_folder { file.clone() } else { file.with_extension("") };
    let name = named.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(is_plain) {
        let shown = file.display();
        return Err(Failure::usage(format!(
            "expected a name of letters, digits, `_` and `-`, found `{shown}`"
        )));
    }
    let of_crate = name.to_ascii_lowercase().replace('-', "_");
    if template.is_folder && RESERVED.split_whitespace().any(|word| word == of_crate) {
        return Err(Failure::usage(format!(
            "a crate cannot be called `{name}`, a name that Rust or Cargo keeps for itself; \
             `{name}_blocks` is free"
        )));
    }
    let path = |part: &str| match template.is_folder {
        true => file.join(part),
        false => named.with_extension(part),
    };
    let fill = |text: &str| {
        text.replace(REPOSITORY, env!("CARGO_PKG_REPOSITORY")).replace(NAME, name).into_bytes()
    };
    let mut made: Vec<(PathBuf, Vec<u8>)> =
        template.files.iter().map(|(part, text)| (path(part), fill(text))).collect();
    // An ending that the template does not know is that of the diagram.
    let ending = file.extension().and_then(|ending| ending.to_str());
    let is_known = template.files.iter().any(|(part, _)| ending == Some(*part));
    if !template.is_folder && ending.is_some() && !is_known {
        made[0].0.clone_from(file);
    }
    write(&made, &template.next.replace(NAME, &named.display().to_string()))
}

/// The fields of a robot from a file of this text, if it is a robot file of another program.
fn robot_kind(text: &[u8]) -> Option<(&'static str, &'static str)> {
    let start = String::from_utf8_lossy(&text[..text.len().min(1 << 16)]);
    let urdf = start.contains("<robot").then_some(("Urdf", ", base: Floating"));
    urdf.or_else(|| start.contains("<mujoco").then_some(("Mjcf", "")))
}

/// A diagram in which a robot moves without torques.
fn diagram_with((kind, base): (&str, &str), path: &str) -> String {
    format!(
        r#"Diagram(
    format: 2,
    doc: "A robot that no torque moves.",
    run: (stop: "1 s", step: "1 ms"),
    robots: {{ "robot": {kind}(path: {path:?}{base}) }},
    blocks: {{
        "none":  Constant(value: "=zeros(robot.n)"),
        "accel": ForwardDynamics(robot: "robot", in: {{ "state": "body.state", "tau": "none.y" }}),
        "body":  FloatingBase(robot: "robot", in: {{ "nu_dot": "accel.nu_dot" }}),
    }},
    log: ["body.state"],
)
"#
    )
}

/// The path of `target` as a file at `from` writes it: relative, with `/`.
fn path_from(from: &Path, target: &Path) -> String {
    if let Some(built_in) = target.to_str().filter(|path| path.starts_with("std:")) {
        return built_in.to_owned();
    }
    let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let (from, to) = (whole(from), whole(target));
    let folder: Vec<_> = from.parent().into_iter().flat_map(Path::components).collect();
    let to: Vec<_> = to.components().collect();
    let common = folder.iter().zip(&to).take_while(|(one, other)| one == other).count();
    let up = folder[common..].iter().map(|_| "..".to_owned());
    let down = to[common..].iter().map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

/// What can be done with a file, by what is in it.
fn next(text: &[u8], file: &str) -> String {
    let text = String::from_utf8_lossy(text);
    let is = |kind: &str| legwork_study::begins_with(text.as_bytes(), kind);
    if is("Diagram") {
        format!("legwork run {file}")
    } else if is("Mask") {
        format!("\"part\": Mask(file: \"{file}\")` in a diagram; `legwork help masks")
    } else if is("Patch") {
        format!("legwork run DIAGRAM --with {file}")
    } else {
        format!("legwork robot {file}")
    }
}

fn find(name: &str) -> Result<&'static Template, Failure> {
    TEMPLATES.iter().find(|template| template.name == name).ok_or_else(|| {
        let names = TEMPLATES.iter().map(|template| template.name);
        let hint = match nearest(name, names.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", names.collect::<Vec<_>>().join(", ")),
        };
        Failure::usage(format!("no template `{name}`; {hint}"))
    })
}

fn list() -> Answer {
    let width = TEMPLATES.iter().map(|template| template.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for Template { name, summary, .. } in &TEMPLATES {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name:width$}  {summary}");
    }
    text += "\n`legwork new NAME --template TEMPLATE` writes one; `legwork demo` lists diagrams to \
             copy.\n";
    let entry = |template: &Template| json!({ "name": template.name, "doc": template.summary });
    let json = json!({ "templates": TEMPLATES.iter().map(entry).collect::<Vec<_>>() });
    Answer::new(Code::Success, json).text(text)
}

/// Writes new files; none if one of them exists.
fn write(new: &[(PathBuf, Vec<u8>)], next: &str) -> Result<Answer, Failure> {
    if let Some((path, _)) = new.iter().find(|(path, _)| path.symlink_metadata().is_ok()) {
        return Err(exists(path));
    }
    for (path, text) in new {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty())
            && new.len() > 1
        {
            std::fs::create_dir_all(folder).map_err(|error| files::cannot_write(folder, &error))?;
        }
        let mut file = match OpenOptions::new().write(true).create_new(true).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(exists(path)),
            Err(error) => {
                let shown = path.display();
                return Err(Failure::usage(format!("cannot create `{shown}`: {error}")));
            }
        };
        file.write_all(text).map_err(|error| files::cannot_write(path, &error))?;
    }
    let names: Vec<String> = new.iter().map(|(path, _)| path.display().to_string()).collect();
    console::note(&format!("wrote {}; next: `{next}`", names.join(", ")));
    Ok(Answer::new(Code::Success, json!({ "file": names.first(), "files": names })))
}

fn exists(path: &Path) -> Failure {
    Failure::usage(format!("`{}` exists; it is left as it is", path.display()))
}
