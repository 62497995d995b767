//! Inputs and outputs of a linearisation, by name.

use legwork_program::SignalRef;
use legwork_runtime::comparison::elements;
use legwork_runtime::linear::InputPlace;

use crate::error::Error;
use crate::model::Model;
use crate::session::Probe;

/// A number of a signal.
#[derive(Debug, Clone, PartialEq)]
pub struct Number {
    /// Its path, such as `pd.tau[2]`, or the name of a port.
    pub name: String,
    /// Its unit, if one is known.
    pub unit: Option<String>,
    /// What it is at the moment of the linearisation.
    pub value: f64,
}

/// The numbers of a signal with their places in the arena.
fn numbers(signal: &SignalRef, name: &str) -> Vec<(u32, Number)> {
    let own = signal.path.clone();
    let places = signal.slots.iter().flat_map(|slot| slot.start..slot.start + slot.len);
    let named = elements(signal).into_iter().map(|(path, unit)| {
        // A port has a name of its own.
        let rest = path.strip_prefix(&own).unwrap_or_default();
        let name =
            if rest.is_empty() && path != own { path.clone() } else { format!("{name}{rest}") };
        Number { name, unit, value: 0.0 }
    });
    places.zip(named).collect()
}

/// The signal that a path names.
fn signal(model: &Model, path: &str) -> Result<SignalRef, Error> {
    Probe::default().signal(path, model.diagram(), model.program())
}

/// The inputs.
pub(super) fn inputs(model: &Model, names: &[String]) -> Result<Vec<(InputPlace, Number)>, Error> {
    let program = model.program();
    let mut out: Vec<(InputPlace, Number)> = Vec::new();
    let mut add = |signal: &SignalRef, name: &str, adds: bool| -> Result<(), Error> {
        for (place, number) in numbers(signal, name) {
            let found = program.loops.iter().flat_map(|found| &found.unknowns);
            if found.clone().any(|unknown| unknown.output.range().contains(&(place as usize))) {
                let name = number.name;
                let message =
                    format!("`{name}` is found by solving a loop: nothing else writes it");
                return Err(Error::request(message));
            }
            if out.iter().any(|(other, _)| other.place == place) {
                let message = format!("the input `{}` is named twice", number.name);
                return Err(Error::request(message));
            }
            out.push((InputPlace { place, adds }, number));
        }
        Ok(())
    };
    if names.is_empty() {
        for port in &program.inputs {
            add(&port.signal, &port.name, false)?;
        }
        return Ok(out);
    }
    for name in names {
        let (adds, path) = match name.strip_prefix('+') {
            Some(path) => (true, path),
            None => (false, name.as_str()),
        };
        let plain = path.strip_prefix('^').unwrap_or(path);
        let port = program.inputs.iter().find(|port| port.name == plain);
        match port {
            Some(port) => add(&port.signal, &port.name, adds)?,
            None => {
                let found = signal(model, path).map_err(|error| input_hint(model, path, error))?;
                add(&found, path, adds)?;
            }
        }
    }
    Ok(out)
}

/// An input of a block is fed by an output: that is what can be opened.
fn input_hint(model: &Model, path: &str, error: Error) -> Error {
    let program = model.program();
    let Some((block, port)) = path.rsplit_once('.') else { return error };
    let node = program.nodes.iter().position(|node| node.path == block);
    let fed = node.and_then(|index| {
        let node = &program.nodes[index];
        let port = node.input_names.iter().position(|name| name == port)?;
        let is_here = |edge: &&legwork_program::Edge| {
            edge.to.index() == index && edge.to_port == Some(port as u16)
        };
        let edge = program.edges.iter().find(is_here)?;
        let from = &program.nodes[edge.from];
        let output = from.output_names.get(edge.from_port as usize)?;
        Some(format!("{}.{output}{}", from.path, edge.part))
    });
    match fed {
        Some(from) => Error::request(format!(
            "`{path}` is an input of a block; name the output that feeds it: `{from}`"
        )),
        None => error,
    }
}

/// The outputs.
pub(super) fn outputs(model: &Model, names: &[String]) -> Result<Vec<(u32, Number)>, Error> {
    let program = model.program();
    let mut out = Vec::new();
    if names.is_empty() {
        for port in &program.outputs {
            out.extend(numbers(&port.signal, &port.name));
        }
        return Ok(out);
    }
    for name in names {
        match program.outputs.iter().find(|port| port.name == *name) {
            Some(port) => out.extend(numbers(&port.signal, &port.name)),
            None => out.extend(numbers(&signal(model, name)?, name)),
        }
    }
    Ok(out)
}

/// The number at a place of the arena, under the name of the signal that holds it.
pub(super) fn named(program: &legwork_program::Program, place: u32) -> Number {
    let holds = |signal: &&SignalRef| {
        signal.slots.iter().any(|slot| (slot.start..slot.start + slot.len).contains(&place))
    };
    let found = program.signals.iter().find(holds).and_then(|signal| {
        let all = numbers(signal, &signal.path);
        all.into_iter().find(|(own, _)| *own == place).map(|(_, number)| number)
    });
    found.unwrap_or_else(|| Number { name: format!("number {place}"), unit: None, value: 0.0 })
}
