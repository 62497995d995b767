//! Ports and rate of a kind, by planning its registered example.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use legwork_block::{
    BlockKind, Declaration, Diagnostics, Feed, Feeds, FileId, Files, InputDeclaration, PortUnit,
    RateRule, Registry, Resource, Resources, Scope, Value as Fact,
};
use legwork_diagram::document;
use serde_json::{Value, json};

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

/// Ports of a planned example.
pub(super) struct Ports {
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    functions: Vec<Function>,
    /// When the block runs, in words.
    pub(super) rate: String,
}

/// A function that the block needs.
struct Function {
    name: String,
    arguments: Vec<Port>,
    results: Vec<Port>,
}

struct Port {
    name: String,
    ty: String,
    unit: Option<String>,
    frame: Option<String>,
    doc: String,
    note: Note,
}

enum Note {
    Input {
        optional: bool,
    },
    /// On one side of a call.
    Call,
    /// The inputs that reach this output at once.
    Output {
        feeds: Vec<String>,
    },
}

/// Plans the example of a kind.
///
/// # Errors
/// Why it does not plan.
pub(super) fn plan(entry: &BlockKind, registry: &Registry) -> Result<Ports, String> {
    let file = FileId::default();
    let node =
        document::parse(file, entry.example.as_bytes()).map_err(|diagnostic| diagnostic.message)?;
    let bench = Bench::new(registry);
    let mut found = Diagnostics::default();
    let Some(block) = (entry.bind)(&node, &bench, &RESERVED, &mut found) else {
        let messages: Vec<String> = found.into_iter().map(|one| one.message).collect();
        return Err(messages.join("; "));
    };
    let ports = legwork_block::Ports::new(&bench, &bench, STEP);
    let (declaration, _) = block.plan(ports).map_err(|invalid| invalid.message)?;
    Ok(Ports::of(&declaration))
}

/// What an example may name: the robot `go`, built-in files.
struct Bench<'r> {
    registry: &'r Registry,
    robots: BTreeMap<&'static str, Arc<dyn Resource>>,
}

impl<'r> Bench<'r> {
    fn new(registry: &'r Registry) -> Self {
        let mut bench = Self { registry, robots: BTreeMap::new() };
        let node = document::parse(FileId::default(), ROBOT.as_bytes()).ok();
        let loaded = node.zip(registry.find_resource("Urdf")).and_then(|(node, entry)| {
            (entry.load)(&node, &(), ROBOT_NAME, &bench, &bench, &mut Diagnostics::default())
        });
        // A program without this robot has examples without it.
        if let Some(Ok((robot, _))) = loaded {
            bench.robots.insert(ROBOT_NAME, robot);
        }
        bench
    }
}

impl Scope for Bench<'_> {
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

impl Resources for Bench<'_> {
    fn resource(&self, name: &str) -> Option<&Arc<dyn Resource>> {
        self.robots.get(name)
    }

    fn resource_names(&self) -> Vec<String> {
        self.robots.keys().map(|name| (*name).to_owned()).collect()
    }
}

impl Files for Bench<'_> {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        let path = path.strip_prefix("std:").unwrap_or(path);
        let bytes = self.registry.find_file(path);
        bytes.map(<[u8]>::to_vec).ok_or_else(|| format!("no file `{path}` is built in"))
    }
}

impl Ports {
    fn of(declaration: &Declaration) -> Self {
        let mut letters = Letters::default();
        let inputs = declaration.inputs.iter().map(|input| Port {
            name: input.name.clone(),
            ty: letters.apply(&input.ty.to_string()),
            unit: unit(&input.unit),
            frame: input.frame.clone(),
            doc: input.doc.clone(),
            note: Note::Input { optional: input.optional },
        });
        let inputs = inputs.collect();
        let outputs = declaration.outputs.iter().map(|output| Port {
            name: output.name.clone(),
            ty: letters.apply(&output.ty.to_string()),
            unit: unit(&output.unit),
            frame: output.frame.clone(),
            doc: output.doc.clone(),
            note: Note::Output { feeds: feeds(declaration, output.group) },
        });
        let outputs = outputs.collect();
        let functions = declaration.functions.iter().map(|function| Function {
            name: function.name.clone(),
            arguments: function
                .arguments
                .iter()
                .map(|argument| Port {
                    name: argument.name.clone(),
                    ty: letters.apply(&argument.ty.to_string()),
                    unit: unit(&argument.unit),
                    frame: argument.frame.clone(),
                    doc: argument.doc.clone(),
                    note: Note::Call,
                })
                .collect(),
            results: function
                .results
                .iter()
                .map(|result| Port {
                    name: result.name.clone(),
                    ty: letters.apply(&result.ty.to_string()),
                    unit: unit(&result.unit),
                    frame: result.frame.clone(),
                    doc: result.doc.clone(),
                    note: Note::Call,
                })
                .collect(),
        });
        let functions = functions.collect();
        Self { inputs, outputs, functions, rate: rate(declaration) }
    }

    /// The functions that the block needs, which `needs:` binds.
    pub(super) fn functions_to_json(&self) -> Value {
        let function = |function: &Function| {
            json!({
                "name": function.name,
                "type": function.ty(),
                "arguments": function.arguments.iter().map(Port::to_json).collect::<Value>(),
                "results": function.results.iter().map(Port::to_json).collect::<Value>(),
            })
        };
        self.functions.iter().map(function).collect()
    }

    pub(super) fn inputs_to_json(&self) -> Value {
        self.inputs.iter().map(Port::to_json).collect()
    }

    pub(super) fn outputs_to_json(&self) -> Value {
        self.outputs.iter().map(Port::to_json).collect()
    }

    pub(super) fn write(&self, out: &mut String) -> std::fmt::Result {
        for (heading, ports) in [("inputs", &self.inputs), ("outputs", &self.outputs)] {
            writeln!(out, "\n{heading}")?;
            if ports.is_empty() {
                writeln!(out, "  none")?;
            }
            for port in ports {
                port.write(out)?;
            }
        }
        if !self.functions.is_empty() {
            writeln!(out, "\nneeds")?;
        }
        for function in &self.functions {
            writeln!(out, "  {}: {}", function.name, function.ty())?;
            for port in function.arguments.iter().chain(&function.results) {
                for line in port.doc.lines() {
                    writeln!(out, "      {}: {line}", port.name)?;
                }
            }
        }
        writeln!(out, "\nrate\n  {}", self.rate)
    }
}

impl Function {
    /// `fn(problem: ContactProblem) -> (f: Vector(3*n))`.
    fn ty(&self) -> String {
        let list = |ports: &[Port]| {
            let ports: Vec<String> =
                ports.iter().map(|port| format!("{}: {}", port.name, port.ty)).collect();
            ports.join(", ")
        };
        format!("fn({}) -> ({})", list(&self.arguments), list(&self.results))
    }
}

impl Port {
    fn to_json(&self) -> Value {
        let mut json = json!({
            "name": self.name,
            "type": self.ty,
            "unit": self.unit,
            "frame": self.frame,
            "doc": self.doc,
        });
        match &self.note {
            Note::Input { optional } => json["optional"] = (*optional).into(),
            Note::Call => {}
            Note::Output { feeds } => json["feeds_through"] = json!(feeds),
        }
        json
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let unit = match self.unit.as_deref() {
            None => String::new(),
            Some(unit) => format!(" [{unit}]"),
        };
        let frame = self.frame.as_ref().map_or(String::new(), |frame| format!(" in {frame}"));
        let note = match &self.note {
            Note::Input { optional: true } => ", optional".to_owned(),
            Note::Input { optional: false } | Note::Call => String::new(),
            Note::Output { feeds } if feeds.is_empty() => ", no feedthrough".to_owned(),
            Note::Output { feeds } => format!(", feeds through from {}", feeds.join(", ")),
        };
        writeln!(out, "  {}: {}{unit}{frame}{note}", self.name, self.ty)?;
        for line in self.doc.lines() {
            writeln!(out, "      {line}")?;
        }
        Ok(())
    }
}

fn unit(unit: &PortUnit) -> Option<String> {
    match unit {
        PortUnit::Is(unit) => Some(unit.clone()),
        PortUnit::Unspecified | PortUnit::Var(_) => None,
    }
}

/// Names of the inputs that reach the outputs of a group at once, directly or by a shared
/// computation.
fn feeds(declaration: &Declaration, group: usize) -> Vec<String> {
    let name = |input: &InputDeclaration| input.name.clone();
    let Some(Feeds::Only(list)) = declaration.groups.get(group) else {
        return declaration.inputs.iter().map(name).collect();
    };
    let reaches = |port: u16| {
        list.iter().any(|feed| match feed {
            Feed::Input(direct) => *direct == port,
            Feed::Shared(ask) => declaration
                .asks
                .get(usize::from(*ask))
                .is_some_and(|ask| ask.inputs.contains(&port)),
        })
    };
    let inputs = declaration.inputs.iter().zip(0u16..);
    inputs.filter(|(_, port)| reaches(*port)).map(|(input, _)| name(input)).collect()
}

/// When a block runs, in words.
fn rate(declaration: &Declaration) -> String {
    let mut words = Vec::new();
    words.push(match (&declaration.continuous, declaration.rate) {
        (Some(_), _) => "continuous: it has continuous state",
        (None, RateRule::Inherited) => "inherited from its inputs, or `every:`",
        (None, RateRule::Constant) => "constant: computed once",
        (None, RateRule::Continuous) => "continuous, or `every:`",
        (None, RateRule::Sampled) => "one period: `every:`, or inherited from its inputs",
    });
    if declaration.updates && declaration.rate != RateRule::Sampled {
        words.push("updates its state whenever it is due");
    }
    if declaration.per_major {
        words.push("held inside integration steps");
    }
    if !declaration.guards.is_empty() {
        words.push("has guards, which reset its state");
    }
    words.join("; ")
}

/// Names for the unknown sizes of a block: `?7` reads better as `n`.
#[derive(Default)]
struct Letters {
    known: Vec<String>,
}

impl Letters {
    const NAMES: [&'static str; 8] = ["n", "m", "k", "l", "p", "q", "r", "s"];

    fn apply(&mut self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('?') {
            let digits =
                rest[at + 1..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - at - 1);
            let (before, after) = (&rest[..at], &rest[at + 1 + digits..]);
            out.push_str(before);
            if digits == 0 {
                out.push_str("any");
            } else {
                let name = &rest[at..=at + digits];
                let index = self.known.iter().position(|known| known == name);
                let index = index.unwrap_or_else(|| {
                    self.known.push(name.to_owned());
                    self.known.len() - 1
                });
                // Writing to a string cannot fail.
                let _ = match Self::NAMES.get(index) {
                    Some(letter) => write!(out, "{letter}"),
                    None => write!(out, "n{index}"),
                };
            }
            rest = after;
        }
        out.push_str(rest);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_sizes_have_the_same_letter_everywhere() {
        let mut letters = Letters::default();
        assert_eq!(letters.apply("Matrix(?7, ?12)"), "Matrix(n, m)");
        assert_eq!(letters.apply("Vector(2*?12 + ?7 - 1)"), "Vector(2*m + n - 1)");
        assert_eq!(letters.apply("State(?)"), "State(any)");
        assert_eq!(letters.apply("Real"), "Real");
    }
}
