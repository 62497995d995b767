//! The signals behind the wires of a drawing.

use legwork_program::{Edge, Node, Program};
use legwork_study::Type;

use super::called;

/// The path of an output; the one output of an input of the diagram has that of its block.
pub(super) fn output_path(node: &Node, output: &str) -> String {
    match output {
        "" => node.path.clone(),
        output => format!("{}.{output}", node.path),
    }
}

/// Where the wires to an input come from.
pub(super) fn sources(nodes: &[Node], edges: &[&Edge]) -> Vec<String> {
    let path = |edge: &&Edge| {
        let from = &nodes[edge.from.index()];
        let output = from.output_names.get(usize::from(edge.from_port));
        format!("{}{}", output_path(from, output.map_or("", |name| name)), edge.part)
    };
    edges.iter().map(path).collect()
}

/// The signal of a wire whose name in a drawing is none: of what a for-each collects, of what ends
/// at an input, of a part that a bar takes.
///
/// # Errors
/// If it is put together from several.
pub(super) fn signal_of(path: &str, program: &Program) -> Result<Option<String>, String> {
    if let Some((whole, _)) = path.split_once("[part ") {
        return Ok(Some(whole.to_owned()));
    }
    let Some((before, port)) = path.rsplit_once('.') else { return Ok(None) };
    // What a for-each collects has the name of its output, and a block behind it.
    if program.signals.iter().any(|signal| signal.path == path) {
        return Ok(Some(before.to_owned()));
    }
    // A port of a mask, a subsystem or a for-each is what is behind it.
    let part = program.subsystems.iter().find(|part| part.path == before);
    let ports = part.iter().flat_map(|part| part.inputs.iter().chain(&part.outputs));
    if let Some(port) = ports.into_iter().find(|known| *known.name == *port) {
        let paths = port.ports.iter().map(|one| {
            let node = &program.nodes[one.node];
            let output = node.output_names.get(usize::from(one.port)).map_or("", |name| name);
            format!("{}{}", output_path(node, output), one.part)
        });
        return one_of(path, &paths.collect::<Vec<_>>());
    }
    let Some(placed) = called::find(before, program) else {
        // A folded box has the outputs of what is inside of it that others read.
        let is_inside = |node: &&Node| {
            let rest = node.path.strip_prefix(before);
            rest.is_some_and(|rest| rest.starts_with(['.', '[']))
        };
        let inside = program.nodes.iter().filter(is_inside);
        let paths = inside
            .filter(|node| node.output_names.iter().any(|name| *name == *port))
            .map(|node| output_path(node, port));
        return one_of(path, &paths.collect::<Vec<_>>());
    };
    let Some(index) = placed.node().input_names.iter().position(|name| *name == port) else {
        return Ok(None);
    };
    let is_here =
        |edge: &&Edge| edge.to == placed.index && edge.to_port.map(usize::from) == Some(index);
    let edges: Vec<&Edge> = placed.edges.iter().filter(is_here).collect();
    one_of(path, &sources(placed.nodes, &edges))
}

/// The only one of the paths that are behind a name.
fn one_of(path: &str, paths: &[String]) -> Result<Option<String>, String> {
    match paths {
        [] => Ok(None),
        [one] => Ok(Some(one.clone())),
        more => Err(format!("`{path}` is put together from `{}`", more.join("`, `"))),
    }
}

/// The frame in which a signal or a part of one is written.
pub(super) fn frame_of(path: &str, program: &Program) -> Option<String> {
    let is_part = |known: &str| {
        path.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    let known = program.signals.iter().filter(|signal| is_part(&signal.path));
    let signal = known.max_by_key(|signal| signal.path.len())?;
    let (mut ty, mut frame) = (&signal.ty, None);
    let mut rest = path[signal.path.len()..].trim_start_matches('.');
    while let Type::Bus(bus) = ty {
        let begins = |name: &str| {
            let after = rest.strip_prefix(name)?;
            (after.is_empty() || after.starts_with(['.', '[']))
                .then(|| after.trim_start_matches('.'))
        };
        if let Some(view) = bus.views.iter().find(|view| begins(&view.name).is_some()) {
            return view.frame.clone();
        }
        let field = bus.fields.iter().find_map(|field| Some((field, begins(&field.name)?)));
        let (field, after) = field?;
        (ty, frame, rest) = (&field.ty, field.frame.clone(), after);
    }
    frame
}
