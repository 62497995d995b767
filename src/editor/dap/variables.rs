//! What blocks and signals hold, as a tree that opens.

use legwork_block::{Arguments, FileId, NodeKind, Type};
use legwork_diagram::document;
use legwork_study::session::{Session, Value as Held};
use serde_json::{Value, json};

use super::adapter::Adapter;
use super::stack::frames;

/// Most entries of one level that are shown.
const MOST_SHOWN: usize = 1000;

/// What a client may open, by number. All are forgotten when the run goes on.
#[derive(Default)]
pub(super) struct Handles(Vec<Handle>);

/// Something that opens.
#[derive(Debug, Clone)]
enum Handle {
    Inputs(String),
    Outputs(String),
    State(String),
    /// The parameters of a block, which can be set.
    Parameters(String),
    /// The blocks of the diagram whose paths begin so.
    Blocks(String),
    Block(String),
    /// A value with parts, and the path by which they can be evaluated.
    Parts(Held, String),
}

/// An entry of the tree.
struct Variable {
    name: String,
    value: String,
    ty: String,
    /// By which it can be evaluated and set; empty if it cannot.
    path: String,
    inside: Option<Handle>,
}

impl Handles {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The number of something that opens, from 1.
    fn add(&mut self, handle: Handle) -> usize {
        self.0.push(handle);
        self.0.len()
    }

    fn get(&self, number: u64) -> Option<&Handle> {
        self.0.get(usize::try_from(number).ok()?.checked_sub(1)?)
    }

    /// The path of the signal that `name` is in what is open.
    pub(super) fn path(&self, number: u64, name: &str) -> Option<String> {
        match self.get(number)? {
            Handle::Outputs(block) => Some(format!("{block}.{name}")),
            Handle::Parts(_, path) if name.starts_with('[') => Some(format!("{path}{name}")),
            Handle::Parts(_, path) => Some(format!("{path}.{name}")),
            _ => None,
        }
    }
}

impl Adapter {
    pub(super) fn scopes(&mut self, arguments: &Value) -> Result<Value, String> {
        let number = arguments["frameId"].as_u64().ok_or("expected `frameId`")?;
        let session = self.session.as_ref().ok_or("no diagram is launched")?;
        let all = frames(session);
        let frame = usize::try_from(number).ok().and_then(|number| all.get(number.checked_sub(1)?));
        let frame = frame.ok_or_else(|| format!("no frame {number}"))?;
        let is_block = |path: &str| session.program().nodes.iter().any(|node| node.path == path);
        let scopes: Vec<(&str, Handle)> = match &frame.path {
            Some(path) if is_block(path) => vec![
                ("Inputs", Handle::Inputs(path.clone())),
                ("Outputs", Handle::Outputs(path.clone())),
                ("State", Handle::State(path.clone())),
                ("Parameters", Handle::Parameters(path.clone())),
            ],
            Some(part) => vec![("Blocks", Handle::Blocks(part.clone()))],
            None => vec![("Blocks", Handle::Blocks(String::new()))],
        };
        let scopes: Vec<Value> = scopes
            .into_iter()
            .map(|(name, handle)| {
                let expensive = matches!(handle, Handle::Blocks(_));
                let reference = self.handles.add(handle);
                json!({ "name": name, "variablesReference": reference, "expensive": expensive })
            })
            .collect();
        Ok(json!({ "scopes": scopes }))
    }

    pub(super) fn variables(&mut self, arguments: &Value) -> Result<Value, String> {
        let number = arguments["variablesReference"].as_u64();
        let number = number.ok_or("expected `variablesReference`")?;
        let handle = self.handles.get(number).cloned();
        let handle = handle.ok_or_else(|| format!("nothing is open as {number}"))?;
        let session = self.session.as_ref().ok_or("no diagram is launched")?;
        let asked = |key: &str| arguments[key].as_u64().and_then(|n| usize::try_from(n).ok());
        let start = asked("start").unwrap_or(0);
        let count = asked("count").filter(|count| *count > 0).unwrap_or(MOST_SHOWN);
        let found = entries(session, &handle);
        let shown = found.into_iter().skip(start).take(count.min(MOST_SHOWN));
        let variables: Vec<Value> = shown.map(|one| self.shown(one)).collect();
        Ok(json!({ "variables": variables }))
    }

    fn shown(&mut self, variable: Variable) -> Value {
        let Variable { name, value, ty, path, inside } = variable;
        let reference = inside.map_or(0, |inside| self.handles.add(inside));
        let mut told = json!({
            "name": name, "value": value, "type": ty, "variablesReference": reference,
        });
        if !path.is_empty() {
            told["evaluateName"] = path.into();
        }
        told
    }

    /// A signal as the answer to an evaluation.
    pub(super) fn told(&mut self, held: &Held) -> Value {
        let Variable { value, ty, inside, .. } = of_value(&held.path, held, &held.path);
        let reference = inside.map_or(0, |inside| self.handles.add(inside));
        json!({ "result": value, "type": ty, "variablesReference": reference })
    }

    /// Changes a parameter before the next step.
    pub(super) fn set_variable(&mut self, arguments: &Value) -> Result<Value, String> {
        let number = arguments["variablesReference"].as_u64().unwrap_or(0);
        let name = arguments["name"].as_str().ok_or("expected `name`")?.to_owned();
        let value = arguments["value"].as_str().ok_or("expected `value`")?.to_owned();
        let path = match self.handles.get(number) {
            Some(Handle::Parameters(block)) => format!("{block}.{name}"),
            Some(_) => {
                return Err(format!(
                    "`{name}` is computed from parameters and states; only parameters are set"
                ));
            }
            None => return Err(format!("nothing is open as {number}")),
        };
        let note = self.standing()?.set(&path, &value).map_err(|error| error.to_string())?;
        let said = legwork_study::commands::edit(&note);
        self.say("console", &format!("{said}\n"));
        Ok(json!({ "value": value, "variablesReference": 0 }))
    }
}

/// What is in something that is open.
fn entries(session: &Session, handle: &Handle) -> Vec<Variable> {
    match handle {
        Handle::Blocks(part) => {
            let nodes = session.program().nodes.iter().filter(|node| !node.hidden);
            let is_inside = |path: &str| {
                part.is_empty()
                    || path.strip_prefix(part).is_some_and(|rest| rest.starts_with(['.', '[']))
            };
            let nodes = nodes.filter(|node| is_inside(&node.path));
            nodes
                .map(|node| Variable {
                    name: node.path.clone(),
                    value: node.text.clone(),
                    ty: node.kind.to_owned(),
                    path: String::new(),
                    inside: Some(Handle::Block(node.path.clone())),
                })
                .collect()
        }
        Handle::Block(path) => {
            let part = |name: &str, handle: Handle| Variable {
                name: name.to_owned(),
                value: String::new(),
                ty: String::new(),
                path: String::new(),
                inside: Some(handle),
            };
            vec![
                part("inputs", Handle::Inputs(path.clone())),
                part("outputs", Handle::Outputs(path.clone())),
                part("state", Handle::State(path.clone())),
                part("parameters", Handle::Parameters(path.clone())),
            ]
        }
        Handle::Inputs(path) => {
            let inputs = session.block(path).map_or_else(Vec::new, |block| block.inputs);
            inputs
                .into_iter()
                .map(|input| match (&input.value, &input.from[..]) {
                    (Some(held), [from]) => of_value(&input.name, held, from),
                    (Some(held), _) => of_value(&input.name, held, ""),
                    (None, _) => Variable {
                        name: input.name,
                        value: "not connected".to_owned(),
                        ty: String::new(),
                        path: String::new(),
                        inside: None,
                    },
                })
                .collect()
        }
        Handle::Outputs(path) => {
            let outputs = session.block(path).map_or_else(Vec::new, |block| block.outputs);
            let of = |held: &Held| of_value(&held.path, held, &format!("{path}.{}", held.path));
            outputs.iter().map(of).collect()
        }
        Handle::State(path) => state(session, path),
        Handle::Parameters(path) => parameters(session, path),
        Handle::Parts(held, path) => parts(held, path),
    }
}

/// The states of a block.
fn state(session: &Session, path: &str) -> Vec<Variable> {
    let Some(block) = session.block(path) else { return Vec::new() };
    let mut found = Vec::new();
    let plain = |name: &str, value: String| Variable {
        name: name.to_owned(),
        value,
        ty: String::new(),
        path: String::new(),
        inside: None,
    };
    for (i, x) in block.continuous.iter().flatten().enumerate() {
        found.push(plain(&format!("x[{i}]"), x.to_string()));
    }
    match &block.state {
        Value::Null => {}
        Value::Object(fields) => {
            found.extend(fields.iter().map(|(name, value)| plain(name, value.to_string())));
        }
        state => found.push(plain("state", state.to_string())),
    }
    found
}

/// The parameters of a block as they are written, with their units.
fn parameters(session: &Session, path: &str) -> Vec<Variable> {
    let Some(node) = session.program().nodes.iter().find(|node| node.path == path) else {
        return Vec::new();
    };
    let Ok(written) = document::parse(FileId::default(), node.text.as_bytes()) else {
        return Vec::new();
    };
    let NodeKind::Named(named) = &written.kind else { return Vec::new() };
    let Arguments::Fields(fields) = &named.arguments else { return Vec::new() };
    let own = fields
        .iter()
        .filter(|field| !["in", "every", "needs", "doc"].contains(&field.name.text.as_str()));
    own.map(|field| {
        let span = field.value.span;
        let text = node.text.get(span.start as usize..span.end as usize).unwrap_or_default();
        Variable {
            name: field.name.text.clone(),
            value: text.trim_matches('"').to_owned(),
            ty: String::new(),
            path: String::new(),
            inside: None,
        }
    })
    .collect()
}

/// A signal: its type and unit, its numbers, and what opens in it.
fn of_value(name: &str, held: &Held, path: &str) -> Variable {
    let unit = held.unit.as_deref().filter(|unit| *unit != "1");
    let unit = unit.map_or(String::new(), |unit| format!(" {unit}"));
    let numbers = held.numbers();
    let value = match (&held.ty, &numbers[..]) {
        (Some(Type::Bool), [number]) => (*number != 0.0).to_string(),
        (_, [number]) => format!("{number}{unit}"),
        (Some(Type::Bus(bus)), _) => format!("{}(…)", bus.name),
        (_, numbers) => {
            let shown: Vec<String> = numbers.iter().take(6).map(ToString::to_string).collect();
            let more = if numbers.len() > 6 { ", …" } else { "" };
            format!("[{}{more}]{unit}", shown.join(", "))
        }
    };
    let ty = held.ty.as_ref().map_or(String::new(), ToString::to_string);
    let opens = numbers.len() > 1 || matches!(held.ty, Some(Type::Bus(_)));
    let inside = opens.then(|| Handle::Parts(held.clone(), path.to_owned()));
    Variable { name: name.to_owned(), value, ty, path: path.to_owned(), inside }
}

/// The parts of a value: fields of a bus, elements of the rest.
fn parts(held: &Held, path: &str) -> Vec<Variable> {
    let at = |name: &str, step: &str| -> String {
        if path.is_empty() { String::new() } else { format!("{path}{step}{name}") }
    };
    let part = |name: &str, ty: Type, unit: Option<String>, leaves: Vec<Vec<f64>>| Held {
        path: name.to_owned(),
        ty: Some(ty),
        unit,
        units: Vec::new(),
        labels: Vec::new(),
        leaves,
    };
    let mut left = held.leaves.iter().cloned();
    match &held.ty {
        Some(Type::Bus(bus)) => bus
            .fields
            .iter()
            .map(|field| {
                let count = field.ty.leaves().map_or(1, |leaves| leaves.len());
                let leaves = left.by_ref().take(count).collect();
                let one = part(&field.name, field.ty.clone(), field.unit.clone(), leaves);
                of_value(&field.name, &one, &at(&field.name, "."))
            })
            .collect(),
        Some(Type::Array(of, _)) => {
            let each = of.leaves().map_or(1, |leaves| leaves.len()).max(1);
            let mut found = Vec::new();
            loop {
                let leaves: Vec<Vec<f64>> = left.by_ref().take(each).collect();
                if leaves.is_empty() {
                    return found;
                }
                let name = format!("[{}]", found.len());
                let one = part(&name, (**of).clone(), held.unit.clone(), leaves);
                found.push(of_value(&name, &one, &at(&name, "")));
            }
        }
        Some(Type::Matrix(rows, _)) => {
            let (rows, numbers) = (rows.known().unwrap_or(1).max(1), held.numbers());
            let name = |i: usize| format!("[{}, {}]", i % rows, i / rows);
            let one = |(i, number): (usize, &f64)| {
                let one = part(&name(i), Type::Real, held.unit.clone(), vec![vec![*number]]);
                of_value(&name(i), &one, &at(&name(i), ""))
            };
            numbers.iter().enumerate().map(one).collect()
        }
        _ => {
            let one = |(i, number): (usize, &f64)| {
                let (name, step) = (held.labels.get(i), format!("[{i}]"));
                let unit = held.units.get(i).cloned().or_else(|| held.unit.clone());
                let one = part(&step, Type::Real, unit, vec![vec![*number]]);
                let name = name.map_or_else(|| step.clone(), |name| format!("{step} {name}"));
                of_value(&name, &one, &at(&step, ""))
            };
            held.numbers().iter().enumerate().map(one).collect()
        }
    }
}
