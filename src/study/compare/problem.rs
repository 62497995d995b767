//! Whether two programs differ in solvers only, and so should give the same results.

use std::collections::BTreeSet;

use legwork_program::{Node, Program, SignalRef};

/// Outputs of every block that solves a problem that is on a wire: how it ended, what it took,
/// how well the answer meets the optimality conditions.
const SOLVER_OUTPUTS: [&str; 3] = ["status", ITERATIONS, RESIDUAL];
/// Output of solver blocks: iterations of the last solve [1].
pub(super) const ITERATIONS: &str = "iterations";
/// Output of solver blocks: residual of the optimality conditions [1].
pub(super) const RESIDUAL: &str = "residual";

/// Whether a block solves a problem that others state.
pub(super) fn is_solver(node: &Node) -> bool {
    !node.hidden
        && SOLVER_OUTPUTS.iter().all(|name| node.output_names.iter().any(|known| known == name))
}

/// The signal of a block's output.
pub(super) fn output<'p>(program: &'p Program, node: &Node, name: &str) -> Option<&'p SignalRef> {
    let path = format!("{}.{name}", node.path);
    program.signals.iter().find(|signal| signal.path == path)
}

/// A program and the name of its run.
#[derive(Clone, Copy)]
pub(super) struct Named<'p> {
    pub(super) name: &'p str,
    pub(super) program: &'p Program,
}

/// What makes the problems of two programs different, as a sentence; `None` if they differ in
/// nothing but which blocks solve them, and how.
pub(super) fn difference(a: Named<'_>, b: Named<'_>) -> Option<String> {
    // Computations that the compiler added follow from the blocks that are written.
    for hidden in [false, true] {
        for (here, there) in [(a, b), (b, a)] {
            for node in here.program.nodes.iter().filter(|node| node.hidden == hidden) {
                let Some(other) = there.program.nodes.iter().find(|one| one.path == node.path)
                else {
                    return Some(format!(
                        "`{}` ({}) is there only with `{}`",
                        node.path, node.kind, here.name
                    ));
                };
                if let Some(text) = block_difference(node, here, other, there) {
                    return Some(text);
                }
            }
        }
    }
    let (wires_a, wires_b) = (wires(a.program), wires(b.program));
    let odd = wires_a.symmetric_difference(&wires_b).next()?;
    Some(format!("`{}` is connected to another signal", odd.1))
}

/// What differs in a block that both have.
fn block_difference(
    node: &Node,
    here: Named<'_>,
    other: &Node,
    there: Named<'_>,
) -> Option<String> {
    if node.rate != other.rate {
        return Some(format!("`{}` runs at another rate", node.path));
    }
    if is_solver(node) && is_solver(other) {
        // A solver that calls another puts a problem of its own to it, as Coulomb's law is put to
        // solvers of the convex one.
        let calls = !node.functions.is_empty() || !other.functions.is_empty();
        return (calls && node.kind != other.kind).then(|| {
            format!(
                "`{}` is {} with `{}`, {} with `{}`, and one of them calls a solver",
                node.path, node.kind, here.name, other.kind, there.name
            )
        });
    }
    (node.text != other.text).then(|| {
        format!(
            "`{}` is {} with `{}`, {} with `{}`",
            node.path, node.text, here.name, other.text, there.name
        )
    })
}

/// Every wire as source and target.
fn wires(program: &Program) -> BTreeSet<(String, String)> {
    let wire = |edge: &legwork_program::Edge| {
        let (from, to) = (&program.nodes[edge.from], &program.nodes[edge.to]);
        let output = from.output_names.get(edge.from_port as usize).map_or("", |name| name);
        let input = edge.to_port.map_or("", |port| &to.input_names[port as usize]);
        (format!("{}.{output}{}", from.path, edge.part), format!("{}.{input}", to.path))
    };
    program.edges.iter().map(wire).collect()
}
