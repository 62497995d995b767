//! What the engine says of sources: models, states, blocks.

use std::path::Path;

use legwork_block::{FileId, PortText, Registry};
use legwork_diagram::document;
use legwork_picture::diagram::{self, Options};
use legwork_program::{Edge, LogChannel, Node, Program, SubsystemPort};
use legwork_runtime::catalog::Catalog;
use legwork_scene::Scene;
use legwork_study::session::SourceLine;
use legwork_study::{Edit, SourceMap, Type, commands, files, manual};
use serde_json::{Value, json};

use super::called::{self, Placed};
use super::edit::fingerprint;
use super::live::Live;
use super::wires::{self, output_path};
use crate::protocol::Refusal;

/// Most names of a signal's numbers in a model; those of others come when it is watched.
const MOST_NAMES: usize = 64;

/// Most characters of a value.
const MOST_TEXT: usize = 400;

/// A diagram, as it is described.
pub(crate) struct About<'a> {
    /// What the source is called.
    pub(crate) name: &'a str,
    pub(crate) program: &'a Program,
    pub(crate) sources: &'a SourceMap,
    pub(crate) registry: &'a Registry,
    /// The text of the diagram itself.
    pub(crate) text: &'a [u8],
    pub(crate) options: &'a legwork_study::Options,
    pub(crate) edits: &'a [Edit],
    pub(crate) variants: &'a [(String, Vec<String>)],
    pub(crate) scene: &'a Scene,
    pub(crate) warnings: Value,
}

/// What does not change while a diagram stays as it is.
pub(crate) fn model(source: usize, about: &About<'_>) -> Value {
    let program = about.program;
    let signals = program.signals.iter().map(|signal| {
        let leaves: usize = signal.slots.iter().map(|slot| slot.len as usize).sum();
        let names = if leaves <= MOST_NAMES { &signal.labels[..] } else { &[] };
        json!({
            "path": signal.path,
            "unit": signal.unit,
            "type": signal.ty.to_string(),
            "leaves": leaves,
            "names": names,
            "rate": node_of(program, &signal.path).map(|node| program.rate_text(node.rate)),
        })
    });
    let registry = about.registry;
    let blocks =
        called::all(program).into_iter().map(|placed| placed.node()).filter(|node| !node.hidden);
    let blocks = blocks.map(|node| {
        let summary = manual::summary(node.kind, registry);
        json!({ "path": node.path, "kind": node.kind, "summary": summary })
    });
    let rates = diagram::schematic(program, &Options::default()).draw();
    let rates = rates
        .sample_times()
        .into_iter()
        .map(|(time, colour)| json!({ "label": time.label(), "colour": colour }));
    let sources = about.sources;
    json!({
        "source": source,
        "name": about.name,
        "title": program.name,
        "doc": doc(about.text),
        "end": program.run.stop.to_f64(),
        "step": program.run.step.to_f64(),
        "solver": program.run.solver.to_string(),
        "files": sources.names().filter(|name| is_file(name)).collect::<Vec<_>>(),
        "signals": signals.collect::<Vec<_>>(),
        "blocks": blocks.collect::<Vec<_>>(),
        "scene": { "robots": about.scene.robots, "ground": about.scene.ground },
        "variants": variants(about),
        "rates": rates.collect::<Vec<_>>(),
        "warnings": diagnostics(&about.warnings),
    })
}

/// Paths of the blocks that are shown.
pub(crate) fn paths(program: &Program) -> Vec<&str> {
    let nodes = called::all(program).into_iter().map(|placed| placed.node());
    nodes.filter(|node| !node.hidden).map(|node| node.path.as_str()).collect()
}

/// The block that puts a signal out.
fn node_of<'p>(program: &'p Program, path: &str) -> Option<&'p Node> {
    let whole = |node: &&Node| {
        path.strip_prefix(node.path.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    program.nodes.iter().filter(whole).max_by_key(|node| node.path.len())
}

/// Name, choices and the present choice of every variant.
fn variants(about: &About<'_>) -> Value {
    let options = about.options;
    let variants = about.variants.iter().map(|(name, choices)| {
        let chosen = options.variants.iter().rev().find(|(known, _)| known == name);
        let chosen = chosen.map(|(_, choice)| choice.clone());
        let chosen = chosen.or_else(|| default_choice(about.text, name));
        json!({ "name": name, "choices": choices, "chosen": chosen })
    });
    variants.collect()
}

/// The choice that a diagram's text makes.
fn default_choice(text: &[u8], name: &str) -> Option<String> {
    let root = document::parse(FileId::default(), text).ok()?;
    Some(root.field("variants")?.entry(name)?.field("default")?.text()?.to_owned())
}

/// Where a source is.
pub(super) fn state(source: usize, live: &mut Live) -> Value {
    let place = live.session.place();
    let watches = live.session.watches().to_vec();
    let texts = live.session.watched().into_iter().map(|value| match value {
        Ok(value) => commands::value(&value),
        Err(error) => error.to_string(),
    });
    let watches: Vec<_> = watches.iter().zip(texts).collect();
    let session = &live.session;
    // Not what texts hold: a state is told ten times a second.
    let edits = session.edits().iter().map(|edit| {
        let Edit { step, t, path, value, .. } = edit;
        json!({ "step": step, "t": t, "path": path, "value": value, "text": edit.is_of_text() })
    });
    json!({
        "source": source,
        "t": place.t,
        "step": place.step,
        "running": live.going.is_some(),
        "speed": live.going.as_ref().and_then(|going| going.speed),
        "stage": commands::stage(&place),
        "block": place.block,
        "end": session.is_at_end(),
        "fault": session.fault().map(ToString::to_string),
        "halt": live.halt,
        "breakpoints": (1..).zip(session.breakpoints()).collect::<Vec<_>>(),
        "watches": watches,
        "edits": edits.collect::<Vec<_>>(),
        "seams": session.seams(),
        "earliest": session.earliest(),
        "reach": live.reach.max(place.t),
        "stopped_by": place.stopped_by,
        "achieved": if live.going.is_some() { live.achieved } else { 0.0 },
        "off": session.off(),
    })
}

/// Signals as text, by path; null where there is none.
pub(super) fn values(paths: &[String], live: &mut Live) -> Value {
    let mut value = |path: &String| {
        let value = live
            .read(path)
            .ok()
            .map(|value| legwork_study::session::Value { path: path.clone(), ..value });
        let text = value.map(|value| commands::value(&value));
        let text = text.map(|text| text.chars().take(MOST_TEXT).collect::<String>());
        json!([path, text.as_deref().map(str::trim_end)])
    };
    paths.iter().map(&mut value).collect()
}

/// Type, unit and frame of signals, by path; none of what is none.
pub(super) fn facts(paths: &[String], live: &mut Live) -> Value {
    let facts = paths.iter().filter_map(|path| {
        let value = live.read(path).ok()?;
        let frame = wires::frame_of(&value.path, live.session.program());
        let ty = value.ty.as_ref().map(ToString::to_string);
        Some(json!([path, { "type": ty, "unit": value.unit, "frame": frame }]))
    });
    facts.collect()
}

/// Whether a text is that of a file, not of the command line.
pub(super) fn is_file(name: &str) -> bool {
    !name.starts_with('<')
}

/// Names of a signal's numbers, as paths.
pub(super) fn columns(path: &str, leaves: usize, program: &Program) -> Vec<String> {
    let labels = program.labels(path);
    match leaves {
        1 => vec![path.to_owned()],
        _ if labels.len() == leaves => {
            labels.iter().map(|label| format!("{path} {label}")).collect()
        }
        _ => (0..leaves).map(|i| format!("{path}[{i}]")).collect(),
    }
}

/// A signal that is watched.
pub(crate) fn signal(number: usize, path: &str, channel: &LogChannel, program: &Program) -> Value {
    let LogChannel { signal, rate } = channel;
    let whole = Program::clone(program).recording_also(vec![channel.clone()]);
    let at = program.log.len();
    let leaves: usize = signal.slots.iter().map(|slot| slot.len as usize).sum();
    let mut names = vec![String::new(); leaves];
    let mut units = vec![signal.unit.clone(); leaves];
    for numbers in Catalog::of_program(&whole).all().iter().filter(|one| one.channel == at) {
        for (i, &column) in numbers.columns.iter().enumerate() {
            let element = numbers.elements[i].as_str();
            let element = element.strip_prefix(path).unwrap_or(element).trim_start_matches('.');
            let whole = element.split('[').next().unwrap_or_default();
            let (Some(name), Some(unit)) = (names.get_mut(column), units.get_mut(column)) else {
                continue;
            };
            *name = match numbers.labels.get(i) {
                Some(label) => format!("{whole} {label}").trim_start().to_owned(),
                None => element.to_owned(),
            };
            *unit = numbers.unit.clone().or(unit.take());
        }
    }
    for (unit, own) in units.iter_mut().zip(&signal.units) {
        *unit = Some(own.clone());
    }
    json!({
        "signal": number,
        "path": path,
        "unit": signal.unit.as_deref().unwrap_or_default(),
        "units": units.iter().map(|unit| unit.as_deref().unwrap_or_default()).collect::<Vec<_>>(),
        "names": names,
        "leaves": leaves,
        "type": signal.ty.to_string(),
        "rate": program.rate_text(*rate),
    })
}

/// Everything about a block; nothing if there is none of this path.
pub(crate) fn block(path: &str, about: &About<'_>) -> Option<Value> {
    let program = about.program;
    let Some(placed) = called::find(path, program) else { return part(path, program) };
    let node = placed.node();
    let Placed { index, nodes, edges, is_called, set_path } = placed;
    let manual = manual::manual(node.kind, about.registry);
    let given = document::parse(FileId::default(), node.text.as_bytes()).ok();
    let parameters = manual.iter().flat_map(|manual| &manual.parameters).map(|parameter| {
        let own = given.as_ref().and_then(|node| node.field(&parameter.name));
        let default = || parameter.default.as_ref().filter(|value| !value.is_null());
        let value = own.map(|value| written(value, &node.text));
        let value = value.or_else(|| default().map(ToString::to_string)).unwrap_or_default();
        let (value, unit) = split_unit(&value);
        let unit = unit.or(parameter.unit.as_deref().filter(|unit| *unit != "1"));
        json!({
            "path": format!("{set_path}.{}", parameter.name),
            "name": parameter.name,
            "value": value,
            "given": own.is_some(),
            "type": parameter.ty,
            "unit": unit.unwrap_or_default(),
            "doc": parameter.doc,
            "tunable": !node.hidden,
        })
    });
    let input = |(port, name): (usize, &PortText)| {
        let is_here = |edge: &&Edge| edge.to == index && edge.to_port == Some(port as u16);
        let edges: Vec<&Edge> = edges.iter().filter(is_here).collect();
        let from = wires::sources(nodes, &edges);
        let ty = match edges[..] {
            [edge] if edge.part.is_empty() => {
                let from = &nodes[edge.from.index()];
                from.output_types.get(usize::from(edge.from_port)).map(ToString::to_string)
            }
            _ => None,
        };
        json!({ "name": name, "path": from.first(), "from": from, "type": ty.unwrap_or_default() })
    };
    let output = |(name, ty): (&PortText, &Type)| {
        let path = output_path(node, name);
        let signal = program.signals.iter().find(|signal| signal.path == path);
        let unit = signal.and_then(|signal| signal.unit.as_deref()).unwrap_or_default();
        let frame = wires::frame_of(&path, program);
        json!({ "name": name, "path": path, "type": ty.to_string(), "unit": unit, "frame": frame })
    };
    let outputs = node.output_names.iter().zip(&node.output_types).map(output);
    let line = SourceLine::of(node, about.sources);
    Some(json!({
        "path": path,
        "kind": node.kind,
        "summary": manual.as_ref().map(|manual| &manual.summary),
        "manual": manual.as_ref().map(|manual| &manual.doc),
        "text": node.text,
        "parameters": parameters.collect::<Vec<_>>(),
        "inputs": node.input_names.iter().enumerate().map(input).collect::<Vec<_>>(),
        "outputs": outputs.collect::<Vec<_>>(),
        "rate": if is_called { "when it is called".to_owned() } else { program.rate_text(node.rate) },
        "called": is_called,
        "line": line,
    }))
}

/// The ports of a mask, a subsystem or a for-each.
fn part(path: &str, program: &Program) -> Option<Value> {
    let part = program.subsystems.iter().find(|part| part.path == path);
    let is_inside =
        |node: &Node| node.path.strip_prefix(path).is_some_and(|rest| rest.starts_with(['.', '[']));
    let count = program.nodes.iter().filter(|node| !node.hidden && is_inside(node)).count();
    if part.is_none() && count == 0 {
        return None;
    }
    let ports = |ports: &[SubsystemPort]| -> Vec<Value> {
        let port = |port: &SubsystemPort| {
            let from = port.ports.iter().map(|part| {
                let node = &program.nodes[part.node];
                let output = node.output_names.get(usize::from(part.port));
                let output = output.map_or("", |name| name);
                format!("{}.{output}{}", node.path, part.part)
            });
            let from: Vec<String> = from.collect();
            json!({ "name": port.name, "path": from.first(), "from": from })
        };
        ports.iter().map(port).collect()
    };
    Some(json!({
        "path": path,
        "kind": "",
        "summary": format!("{count} blocks"),
        "manual": "",
        "parameters": [],
        "inputs": part.map_or_else(Vec::new, |part| ports(&part.inputs)),
        "outputs": part.map_or_else(Vec::new, |part| ports(&part.outputs)),
        "rate": "",
        "line": null,
    }))
}

/// Diagnostics in one piece each: their place, message and first piece of advice.
pub(crate) fn diagnostics(all: &Value) -> Value {
    let one = |found: &Value| {
        let place = &found["primary"];
        json!({
            "file": place["file"],
            "line": place["line"],
            "column": place["column"],
            "end_line": place["end_line"],
            "end_column": place["end_column"],
            "severity": found["severity"],
            "code": found["code"],
            "message": found["message"],
            "label": place["text"],
            "hint": found["hints"][0],
        })
    };
    all.as_array().map_or(&[][..], Vec::as_slice).iter().map(one).collect()
}

/// The diagram with coordinates, and the blocks of its algebraic loops.
pub(crate) fn draw(program: &Program, options: &Options) -> Value {
    let drawing = diagram::schematic(program, options).draw();
    let loops = program.loops.iter().map(|one| {
        let unknowns = one.unknowns.iter().map(|unknown| unknown.node);
        let tasks = one.tasks.iter().map(|task| program.schedule[*task].node);
        let mut paths: Vec<&str> =
            unknowns.chain(tasks).map(|node| program.nodes[node].path.as_str()).collect();
        paths.sort_unstable();
        paths.dedup();
        paths
    });
    json!({ "drawing": drawing, "loops": loops.collect::<Vec<_>>() })
}

/// What a diagram says about itself.
fn doc(text: &[u8]) -> String {
    let root = document::parse(FileId::default(), text).ok();
    let doc = root.as_ref().and_then(|root| root.field("doc")?.text());
    doc.unwrap_or_default().to_owned()
}

/// A value without the quotation marks of a text.
fn written(node: &legwork_block::Node, text: &str) -> String {
    node.text().map_or_else(|| text_of(node, text), str::to_owned)
}

/// `60` and `N*m/rad` of `60 N*m/rad`.
fn split_unit(value: &str) -> (&str, Option<&str>) {
    match value.split_once(' ') {
        Some((number, unit)) if number.parse::<f64>().is_ok() => (number, Some(unit)),
        _ => (value, None),
    }
}

/// A value as the text has it.
fn text_of(node: &legwork_block::Node, text: &str) -> String {
    let (start, end) = (node.span.start as usize, node.span.end as usize);
    text.get(start..end).unwrap_or_default().to_owned()
}

/// What can be chosen: variants, inputs, parameters.
/// `signals` are the numbers of the present moment.
pub(crate) fn choices(about: &About<'_>, signals: &[f64]) -> Value {
    let program = about.program;
    let inputs = program.inputs.iter().map(|input| {
        let slots = input.signal.slots.iter();
        let numbers = slots.flat_map(|slot| signals.get(slot.range()).unwrap_or_default());
        let numbers: Vec<String> = numbers.map(ToString::to_string).collect();
        let value = match &numbers[..] {
            [] => String::new(),
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        json!({
            "value": value,
            "name": input.name,
            "doc": input.doc,
            "type": input.signal.ty.to_string(),
            "unit": input.signal.unit,
            "given": input.given,
            "tunable": input.initial.is_some(),
        })
    });
    let text = about.text;
    let root = document::parse(FileId::default(), text).ok();
    let declared = root.as_ref().and_then(|root| root.field("params")?.map());
    let set = about.options.set.iter();
    let edits = about.edits.iter().filter(|edit| !edit.is_of_text());
    let edits = edits.map(|edit| (&edit.path, &edit.value));
    let set: Vec<(&String, &String)> =
        set.map(|(path, value)| (path, value)).chain(edits).collect();
    let whole = String::from_utf8_lossy(text);
    let parameters = declared.into_iter().flatten().filter_map(|(name, node)| {
        let part = |name: &str| node.field(name).map(|node| written(node, &whole));
        let name = name.text()?;
        let own = set.iter().rev().find(|(path, _)| *path == name);
        let value = own.map(|(_, value)| (*value).clone()).or_else(|| part("value"));
        let value = value.unwrap_or_default();
        let (value, unit) = split_unit(&value);
        let bound = |name: &str| node.field(name).and_then(legwork_block::Node::number);
        Some(json!({
            "path": name,
            "name": name,
            "value": value,
            "unit": unit.unwrap_or_default(),
            "tunable": true,
            "min": bound("min"),
            "max": bound("max"),
            "doc": node.field("doc").and_then(legwork_block::Node::text),
        }))
    });
    json!({
        "variants": variants(about),
        "inputs": inputs.collect::<Vec<_>>(),
        "parameters": parameters.collect::<Vec<_>>(),
    })
}

/// The texts of a diagram and its parts, as they run or, if they may be written, as they are on
/// disk.
///
/// # Errors
/// If there is no such file.
pub(crate) fn texts(
    sources: &SourceMap,
    file: Option<&str>,
    disk: bool,
    may_write: impl Fn(&str) -> bool,
) -> Result<Value, Refusal> {
    let known = sources.names().filter(|name| is_file(name));
    let known = known.filter(|name| file.is_none_or(|file| file == *name));
    let files: Vec<Value> = known
        .map(|name| {
            let writable = may_write(name);
            let own = || sources.find(name).map_or("", |file| sources.text(file)).to_owned();
            let read = (disk && writable)
                .then(|| files::read_regular(Path::new(name), files::SIZE_LIMIT).ok())
                .flatten()
                .and_then(|bytes| String::from_utf8(bytes).ok());
            let text = read.unwrap_or_else(own);
            let hash = fingerprint(text.as_bytes());
            json!({ "path": name, "text": text, "hash": hash, "writable": writable })
        })
        .collect();
    match file {
        Some(file) if files.is_empty() => Err(format!("the diagram has no file `{file}`").into()),
        _ => Ok(json!({ "files": files })),
    }
}
