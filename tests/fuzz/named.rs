//! Files that a diagram names: masks, patches, tables, robots, pictures.

use std::path::{Path, PathBuf};

use legwork::Disk;
use legwork_block::Registry;
use legwork_diagram::{Options, ReadFile};

use crate::mutate::{self, Random};
use crate::targets::{WORDS, corpus, registry, try_out};
use crate::{Target, repository};

/// What the patches of robots are for.
const STAND: &str = "diagrams/floating_base/stand.ron";
/// What the other patches are for.
const MOTOR: &str = "diagrams/basics/multirate_pid.ron";
/// How many patches of the motor there are to the five of robots.
const MOTORS: usize = 60;

/// Damaged files that a diagram names.
pub(crate) struct Named {
    files: Vec<(PathBuf, Vec<u8>)>,
    words: Vec<&'static str>,
    registry: Registry,
    /// The diagram; `None` for that of the file, with the file as a patch.
    diagram: Option<&'static str>,
    /// The damaged file's name; empty for that of the input.
    name: &'static str,
    /// That of the input.
    at: std::cell::RefCell<PathBuf>,
}

/// Gives the damaged file in place of its own.
struct Damaged<'a> {
    name: &'a str,
    bytes: &'a [u8],
}

impl ReadFile for Damaged<'_> {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        if path.file_name().is_some_and(|name| name == self.name) {
            return Ok(self.bytes.to_vec());
        }
        Disk.read(path)
    }
}

impl Named {
    fn new(
        files: Vec<(PathBuf, Vec<u8>)>,
        words: &[&'static str],
        diagram: Option<&'static str>,
        name: &'static str,
    ) -> Self {
        Self {
            files,
            words: words.to_vec(),
            registry: registry(),
            diagram,
            name,
            at: PathBuf::new().into(),
        }
    }

    pub(crate) fn masks() -> Self {
        let files = corpus(&["tests/data/masks"], "ron");
        let diagram = include_str!("../data/run/masks.ron");
        Self::new(files, &WORDS, Some(diagram), "")
    }

    /// Most are for a motor: to compile the robot of the others takes ten times as long.
    pub(crate) fn patches() -> Self {
        let motor = corpus(&["tests/data/patches"], "patch");
        let mut files: Vec<_> = motor.iter().cycle().take(MOTORS).cloned().collect();
        files.extend(corpus(&["diagrams/floating_base"], "patch"));
        Self::new(files, &WORDS, None, "damaged.patch")
    }

    pub(crate) fn tables() -> Self {
        let diagram = "Diagram(format: 2, run: (stop: \"1 s\", step: \"1 ms\"), blocks: { \"s\": \
                       SignalFromFile(path: \"damaged.csv\", column: \"force\") })";
        let words =
            ["time", "force", "t", ",", ";", "\"", "\n", "\r\n", "=", "[N]", " ", "\u{feff}"];
        Self::new(corpus(&["diagrams/signals"], "csv"), &words, Some(diagram), "damaged.csv")
    }

    /// Pictures that are ground.
    pub(crate) fn pictures() -> Self {
        let diagram = "Diagram(format: 2, run: (stop: \"1 s\", step: \"1 ms\"), robots: { \"b\": \
                       FreeBody(mass: \"1 kg\", shape: Sphere(radius: \"5 cm\")) }, ground: \
                       HeightImage(file: \"damaged.png\", cell: \"10 cm\", height: \"1 m\"), \
                       blocks: { \"p\": ContactPoint(robot: \"b\", frame: \"body\", in: { \
                       \"state\": \"s.state\" }), \"s\": FloatingBase(robot: \"b\", in: { \
                       \"nu_dot\": \"z.y\" }), \"z\": Constant(value: \"=zeros(b.nv)\") })";
        Self::new(corpus(&["tests/data"], "png"), &["IHDR", "IDAT"], Some(diagram), "damaged.png")
    }

    pub(crate) fn robots() -> Self {
        let diagram = "Diagram(format: 2, run: (stop: \"1 s\", step: \"1 ms\"), robots: { \"r\": \
                       Urdf(path: \"damaged.urdf\", base: Floating) }, blocks: { \"b\": \
                       FloatingBase(robot: \"r\", in: { \"nu_dot\": \"d.nu_dot\" }), \"d\": \
                       ForwardDynamics(robot: \"r\", in: { \"state\": \"b.state\", \"tau\": \
                       \"z.y\" }), \"z\": Constant(value: \"=zeros(r.n)\") })";
        let words = [
            "link",
            "joint",
            "origin",
            "inertial",
            "mass",
            "inertia",
            "axis",
            "mimic",
            "limit",
            "parent",
            "child",
            "revolute",
            "continuous",
            "prismatic",
            "fixed",
            "floating",
            "planar",
            "spherical",
            "collision",
            "geometry",
            "sphere",
            "box",
            "cylinder",
            "mesh",
            "name",
            "xyz",
            "rpy",
            "value",
            "<",
            "/>",
            "\"",
            "<!--",
            "-->",
            "&lt;",
            "<?xml",
            "]]>",
        ];
        Self::new(
            corpus(&["diagrams/robots", "tests/data/robots"], "urdf"),
            &words,
            Some(diagram),
            "damaged.urdf",
        )
    }
}

impl Named {
    /// Robot files with macros; what they include is whole.
    pub(crate) fn macros() -> Self {
        let diagram = "Diagram(format: 2, run: (stop: \"1 s\", step: \"1 ms\"), robots: { \"r\": \
                       Urdf(path: \"damaged.xacro\", base: Floating) }, blocks: { \"b\": \
                       FloatingBase(robot: \"r\", in: { \"nu_dot\": \"d.nu_dot\" }), \"d\": \
                       ForwardDynamics(robot: \"r\", in: { \"state\": \"b.state\", \"tau\": \
                       \"z.y\" }), \"z\": Constant(value: \"=zeros(r.n)\") })";
        let words = [
            "xacro:property",
            "xacro:macro",
            "xacro:if",
            "xacro:unless",
            "xacro:include",
            "xacro:insert_block",
            "xacro:arg",
            "xacro:call",
            "xacro:element",
            "xacro:attribute",
            "xacro:leg",
            "params",
            "name",
            "value",
            "default",
            "scope",
            "global",
            "parent",
            "ns",
            "filename",
            "${",
            "}",
            "$(",
            ")",
            "$$",
            "$(arg ",
            "$(find ",
            "$(eval ",
            "*",
            "**",
            ":=",
            "^",
            "^|",
            "+",
            "-",
            "/",
            "//",
            "%",
            "not ",
            " in ",
            " if ",
            " else ",
            "[",
            "]",
            "{",
            "pi",
            "sin(",
            "range(",
            "1e9",
            "'",
            "true",
            "<",
            "/>",
            "\"",
        ];
        let files = corpus(&["tests/data/robots"], "xacro");
        Self::new(files, &words, Some(diagram), "damaged.xacro")
    }
}

impl Target for Named {
    fn input(&self, random: &mut Random) -> Vec<u8> {
        let (path, bytes) = &self.files[random.below(self.files.len())];
        let (_, other) = &self.files[random.below(self.files.len())];
        self.at.replace(path.clone());
        match self.name {
            "damaged.png" => mutate::bytes(random, bytes, other),
            _ => mutate::text(random, bytes, other, &self.words),
        }
    }

    fn run(&self, input: &[u8], _: &mut Random) -> Result<&'static str, String> {
        let at = self.at.borrow();
        let own = at.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let name = if self.name.is_empty() { own } else { self.name };
        let disk = Damaged { name, bytes: input };
        // Macros find what they include beside the damaged file.
        let folder =
            if self.name == "damaged.xacro" { "tests/data/robots" } else { "tests/data/run" };
        let here = repository(folder).join("fuzz.ron");
        match self.diagram {
            Some(text) => {
                try_out(&here, text.as_bytes(), &Options::default(), &self.registry, &disk)
            }
            None => {
                let of_robot = at.starts_with(repository("diagrams"));
                let path = repository(if of_robot { STAND } else { MOTOR });
                let text = std::fs::read(&path).unwrap();
                let patch = path.with_file_name(self.name).display().to_string();
                let options = Options { patches: vec![patch], ..Options::default() };
                try_out(&path, &text, &options, &self.registry, &disk)
            }
        }
    }
}
