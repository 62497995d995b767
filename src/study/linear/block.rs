//! The block that a design writes for: its ports.

use legwork_program::Program;

use crate::error::Error;
use crate::model::Model;

/// The ports of a block that a design writes for.
pub(super) struct Ends {
    pub(super) node: usize,
    /// Names of its inputs, their places in the arena, and whether they are numbers.
    inputs: Vec<(&'static str, Vec<u32>, bool)>,
    pub(super) output: Vec<u32>,
    /// Whether the output is a number, and no vector of one.
    pub(super) is_number: bool,
}

impl Ends {
    /// Those of the block `path`.
    pub(super) fn of(
        model: &Model,
        path: &str,
        inputs: &[&'static str],
        output: &str,
    ) -> Result<Self, Error> {
        let program = model.program();
        let nodes = || program.nodes.iter().filter(|node| !node.hidden);
        let Some(index) = program.nodes.iter().position(|node| node.path == path) else {
            let near = legwork_block::nearest(path, nodes().map(|node| node.path.as_str()));
            let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            return Err(Error::request(format!("no block `{path}`{near}")));
        };
        let node = &program.nodes[index];
        let port = |names: &[legwork_block::PortText], name: &str| {
            names.iter().position(|own| own == name)
        };
        let missing = |what: &str, name: &str| {
            let kind = node.kind;
            Error::request(format!("`{path}` is a {kind}, which has no {what} `{name}`"))
        };
        let places = |slots: &[legwork_block::Slot]| -> Vec<u32> {
            slots.iter().flat_map(|slot| slot.start..slot.start + slot.len).collect()
        };
        let mut found = Vec::new();
        for name in inputs {
            let port = port(&node.input_names, name).ok_or_else(|| missing("input", name))?;
            let own = places(node.io.inputs.port(port));
            if own.is_empty() {
                return Err(Error::request(format!("`{path}.{name}` is not connected")));
            }
            let is_number = own.len() == 1 && !is_vector(program, index, port as u16);
            found.push((*name, own, is_number));
        }
        let port = port(&node.output_names, output).ok_or_else(|| missing("output", output))?;
        Ok(Self {
            node: index,
            inputs: found,
            output: places(node.io.outputs.port(port)),
            is_number: node.output_types[port] == legwork_block::Type::Real,
        })
    }

    /// Places of an input.
    pub(super) fn input(&self, name: &str) -> &[u32] {
        let own = self.inputs.iter().find(|(own, ..)| *own == name);
        own.map_or(&[], |(_, places, _)| places)
    }

    /// Whether an input is a number, and no vector of one.
    pub(super) fn is_number(&self, name: &str) -> bool {
        self.inputs.iter().any(|(own, _, is_number)| *own == name && *is_number)
    }

    /// Paths of the blocks that feed an input.
    pub(super) fn feeders(&self, program: &Program, name: &str) -> Vec<String> {
        let node = &program.nodes[self.node];
        let port = node.input_names.iter().position(|own| own == name).map(|port| port as u16);
        let edges = program.edges.iter();
        let own = edges.filter(|edge| edge.to.index() == self.node && edge.to_port == port);
        own.map(|edge| program.nodes[edge.from].path.clone()).collect()
    }
}

/// Whether the whole of an output that is no number feeds an input.
fn is_vector(program: &Program, node: usize, port: u16) -> bool {
    let mut edges = program.edges.iter().filter(|edge| edge.to.index() == node);
    edges.any(|edge| {
        let from = &program.nodes[edge.from];
        let ty = from.output_types.get(edge.from_port as usize);
        edge.to_port == Some(port)
            && edge.part.is_empty()
            && ty.is_some_and(|ty| matches!(ty, legwork_block::Type::Vector(_)))
    })
}
