//! What signals and blocks hold.

use legwork_block::Type;
use legwork_program::{LogChannel, Rate, SignalRef};
use legwork_runtime::Simulation;
use serde::{Serialize, Serializer};

use super::Session;
use crate::error::Error;

/// A signal, or a part of one, at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// Path, such as `body.state.base.position`.
    pub path: String,
    /// Type; unknown where an input is put together from several signals.
    pub ty: Option<Type>,
    /// Unit, if one is known that all numbers have.
    pub unit: Option<String>,
    /// Unit of each number, if they are known to differ; else empty.
    pub units: Vec<String>,
    /// What each number is called, such as the name of a joint; empty if they have only indices.
    pub labels: Vec<String>,
    /// Its numbers, by field of a bus and entry of an array; matrices column by column.
    pub leaves: Vec<Vec<f64>>,
}

impl Value {
    pub(super) fn of(signal: &SignalRef, path: &str, simulation: &Simulation) -> Self {
        let arena = simulation.arena();
        Self {
            path: path.to_owned(),
            ty: Some(signal.ty.clone()),
            unit: signal.unit.clone(),
            units: signal.units.clone(),
            labels: simulation.program().labels(path).to_vec(),
            leaves: signal.slots.iter().map(|slot| arena[slot.range()].to_vec()).collect(),
        }
    }

    /// All its numbers in storage order.
    pub fn numbers(&self) -> Vec<f64> {
        self.leaves.concat()
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Flat<'v> {
            path: &'v str,
            r#type: Option<String>,
            unit: Option<&'v str>,
            #[serde(skip_serializing_if = "<[String]>::is_empty")]
            units: &'v [String],
            #[serde(skip_serializing_if = "<[String]>::is_empty")]
            labels: &'v [String],
            numbers: Vec<f64>,
        }
        let r#type = self.ty.as_ref().map(ToString::to_string);
        let Self { path, unit, units, labels, .. } = self;
        let (unit, numbers) = (unit.as_deref(), self.numbers());
        Flat { path, r#type, unit, units, labels, numbers }.serialize(serializer)
    }
}

/// A block at one moment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BlockView {
    /// Path.
    pub path: String,
    /// The block with its parameters.
    pub text: String,
    /// When it is due.
    pub rate: String,
    /// Its inputs.
    pub inputs: Vec<InputView>,
    /// Its outputs; each path is the name of the port.
    pub outputs: Vec<Value>,
    /// Its continuous state, if it has one.
    pub continuous: Option<Vec<f64>>,
    /// Its discrete state, or why it cannot be read; null if it has none.
    pub state: serde_json::Value,
}

/// An input of a block.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InputView {
    /// Name of the port.
    pub name: String,
    /// The outputs, or parts of them, that it is connected to.
    pub from: Vec<String>,
    /// What it holds, if it is connected.
    pub value: Option<Value>,
}

impl Session {
    /// A signal or any part of one, such as `body.state.base.position[2]`, as it is now. The run is
    /// not touched. The first look at a path compiles it, later ones cost a copy. At the beginning
    /// of a step, before its outputs, a signal still holds what the step before left in it. An
    /// output of the diagram is read by its name, an input as `^name`.
    ///
    /// # Errors
    /// If there is no such signal.
    pub fn read(&mut self, path: &str) -> Result<Value, Error> {
        let signal = self.signal(path)?;
        Ok(Value::of(&signal, path, self.simulation()))
    }

    /// Where the numbers of a signal are, for [`Session::break_when`]: each slot is a part of
    /// [`Simulation::arena`].
    ///
    /// # Errors
    /// If there is no such signal.
    pub fn signal(&mut self, path: &str) -> Result<SignalRef, Error> {
        let program = self.history.simulation().program();
        if let Some(output) = program.outputs.iter().find(|output| output.name == path) {
            return Ok(output.signal.clone());
        }
        let found = self.probe.signal(path, &self.diagram, program);
        found.map_err(|error| self.advise(path, error))
    }

    /// A signal with its rate, as a recording would have it.
    ///
    /// # Errors
    /// If there is no such signal.
    pub fn channel(&mut self, path: &str) -> Result<LogChannel, Error> {
        let program = self.history.simulation().program();
        if let Some(output) = program.outputs.iter().find(|output| output.name == path) {
            // It may be put together from signals of several rates.
            return Ok(LogChannel { signal: output.signal.clone(), rate: Rate::Continuous });
        }
        let found = self.probe.channel(path, &self.diagram, program);
        found.map_err(|error| self.advise(path, error))
    }

    /// An error about a path, with the path that may have been meant.
    fn advise(&self, path: &str, error: Error) -> Error {
        let near = legwork_block::nearest(path, self.names.iter().map(String::as_str));
        match near {
            Some(near) if !error.message().contains("did you mean") => {
                Error::request(format!("{error}; did you mean `{near}`?"))
            }
            _ => error,
        }
    }

    /// A block with its inputs, outputs and state; nothing if there is no block of this path.
    pub fn block(&self, path: &str) -> Option<BlockView> {
        let simulation = self.simulation();
        let program = simulation.program();
        let index = program.nodes.iter().position(|node| node.path == path)?;
        let node = &program.nodes[index];
        let outputs = node.output_names.iter().enumerate().map(|(port, name)| {
            let slots = node.io.outputs.port(port).iter();
            // The one output of an input of the diagram has its path.
            let path = match &**name {
                "" => node.path.clone(),
                name => format!("{}.{name}", node.path),
            };
            let signal = program.signals.iter().find(|signal| signal.path == path);
            Value {
                path: name.to_string(),
                ty: Some(node.output_types[port].clone()),
                unit: signal.and_then(|signal| signal.unit.clone()),
                units: signal.map_or_else(Vec::new, |signal| signal.units.clone()),
                labels: Vec::new(),
                leaves: slots.map(|slot| simulation.arena()[slot.range()].to_vec()).collect(),
            }
        });
        let state = simulation.state_json(index);
        Some(BlockView {
            path: node.path.clone(),
            text: node.text.clone(),
            rate: program.rate_text(node.rate),
            inputs: (0..node.input_names.len())
                .map(|port| input(simulation, index, port))
                .collect(),
            outputs: outputs.collect(),
            continuous: node
                .continuous
                .as_ref()
                .map(|placed| simulation.state()[placed.x.range()].to_vec()),
            state: state.unwrap_or_else(|fault| fault.to_string().into()),
        })
    }
}

fn input(simulation: &Simulation, index: usize, port: usize) -> InputView {
    let program = simulation.program();
    let node = &program.nodes[index];
    let is_here = |edge: &&legwork_program::Edge| {
        edge.to.index() == index && edge.to_port == Some(port as u16)
    };
    let edges: Vec<_> = program.edges.iter().filter(is_here).collect();
    let from = edges.iter().map(|edge| {
        let from = &program.nodes[edge.from];
        let output = from.output_names.get(edge.from_port as usize);
        format!("{}.{}{}", from.path, output.map_or("", |name| name), edge.part)
    });
    let from: Vec<String> = from.collect();
    // The type is that of the output, if the whole of one is read.
    let ty = match &edges[..] {
        [edge] if edge.part.is_empty() => {
            program.nodes[edge.from].output_types.get(edge.from_port as usize).cloned()
        }
        _ => None,
    };
    let slots = node.io.inputs.port(port).iter();
    let leaves = slots.map(|slot| simulation.arena()[slot.range()].to_vec()).collect();
    let name = node.input_names[port].to_string();
    let (units, labels) = (Vec::new(), Vec::new());
    let value = Value { path: name.clone(), ty, unit: None, units, labels, leaves };
    InputView { name, value: (!from.is_empty()).then_some(value), from }
}
