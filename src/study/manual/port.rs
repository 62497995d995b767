//! Ports and rate of a block, from the declaration that planning it makes.

use std::fmt::Write as _;

use legwork_block::{Declaration, Feed, Feeds, InputDeclaration, PortUnit, RateRule};
use serde::Serialize;

/// Ports, needed functions and rate of a block.
#[derive(Debug, Clone, Serialize)]
pub struct Ports {
    /// Inputs, in the order of their declaration.
    pub inputs: Vec<Input>,
    /// Outputs, in the order of their declaration.
    pub outputs: Vec<Output>,
    /// Functions that `needs:` binds.
    pub needs: Vec<Function>,
    /// When the block runs, in words.
    pub rate: String,
}

/// What a signal is.
#[derive(Debug, Clone, Serialize)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// Its type, such as `Vector(n)`; letters are sizes that wires settle.
    #[serde(rename = "type")]
    pub ty: String,
    /// Its unit, where the block fixes it.
    pub unit: Option<String>,
    /// The frame in whose axes it is written.
    pub frame: Option<String>,
    /// What it means.
    pub doc: String,
}

/// An input.
#[derive(Debug, Clone, Serialize)]
pub struct Input {
    /// Name, type, unit and meaning.
    #[serde(flatten)]
    pub port: Port,
    /// Whether it may be left out.
    pub optional: bool,
}

/// An output.
#[derive(Debug, Clone, Serialize)]
pub struct Output {
    /// Name, type, unit and meaning.
    #[serde(flatten)]
    pub port: Port,
    /// Names of the inputs that reach it at once.
    pub feeds_through: Vec<String>,
}

/// A function that a block needs.
#[derive(Debug, Clone, Serialize)]
pub struct Function {
    /// Its name under `needs:`.
    pub name: String,
    /// Its type: `fn(problem: ContactProblem) -> (f: Vector(3*n))`.
    #[serde(rename = "type")]
    pub ty: String,
    /// Whether it may be left unbound.
    pub optional: bool,
    /// What to bind, if that is known.
    pub doc: String,
    /// What it is called with.
    pub arguments: Vec<Port>,
    /// What it answers.
    pub results: Vec<Port>,
}

impl Ports {
    /// Reads a declaration.
    pub(super) fn of(declaration: &Declaration) -> Self {
        let mut letters = Letters::default();
        // All kinds of declared ports have these fields.
        macro_rules! port {
            ($of:expr) => {
                Port {
                    name: $of.name.to_string(),
                    ty: letters.apply(&$of.ty.to_string()),
                    unit: unit(&$of.unit),
                    frame: $of.frame.clone(),
                    doc: super::plain(&$of.doc),
                }
            };
        }
        let mut inputs = Vec::new();
        for input in &declaration.inputs {
            inputs.push(Input { port: port!(input), optional: input.optional });
        }
        let mut outputs = Vec::new();
        for output in &declaration.outputs {
            let feeds_through = feeds(declaration, output.group);
            outputs.push(Output { port: port!(output), feeds_through });
        }
        let mut needs = Vec::new();
        for function in &declaration.functions {
            let arguments: Vec<Port> = function.arguments.iter().map(|one| port!(one)).collect();
            let results: Vec<Port> = function.results.iter().map(|one| port!(one)).collect();
            let ty = format!("fn({}) -> ({})", list(&arguments), list(&results));
            let (optional, doc) = (function.optional, function.hint.clone());
            needs.push(Function {
                name: function.name.clone(),
                ty,
                optional,
                doc,
                arguments,
                results,
            });
        }
        Self { inputs, outputs, needs, rate: rate(declaration) }
    }
}

/// `problem: ContactProblem, f: Vector(3*n)`.
fn list(ports: &[Port]) -> String {
    let ports: Vec<String> =
        ports.iter().map(|port| format!("{}: {}", port.name, port.ty)).collect();
    ports.join(", ")
}

fn unit(unit: &PortUnit) -> Option<String> {
    match unit {
        PortUnit::Is(unit) => Some(unit.to_string()),
        _ => None,
    }
}

/// Names of the inputs that reach the outputs of a group at once, directly or by a shared
/// computation.
fn feeds(declaration: &Declaration, group: usize) -> Vec<String> {
    let name = |input: &InputDeclaration| input.name.to_string();
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
