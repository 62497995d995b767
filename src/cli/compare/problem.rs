//! Whether two programs differ in solvers only, and so should give the same results.

use std::collections::BTreeSet;

use legwork_block::FileId;
use legwork_diagram::document;
use legwork_program::{Node, Program, SignalRef};

/// Outputs of every block that solves a problem that stands on a wire: how it ended, what it took,
/// how well the answer meets the optimality conditions.
const SOLVER_OUTPUTS: [&str; 3] = ["status", ITERATIONS, RESIDUAL];
/// Output of solver blocks: iterations of the last solve [1].
pub(super) const ITERATIONS: &str = "iterations";
/// Output of solver blocks: residual of the optimality conditions [1].
pub(super) const RESIDUAL: &str = "residual";
/// Parameter of solver blocks that belongs to the problem: the law that the answer obeys.
const LAW: &str = "law";

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
        let (law, other_law) = (parameter(&node.text, LAW), parameter(&other.text, LAW));
        let shown = |law: Option<String>| law.unwrap_or_else(|| "the default".to_owned());
        return (law != other_law).then(|| {
            format!(
                "`{}` obeys the law {} with `{}`, {} with `{}`",
                node.path,
                shown(law),
                here.name,
                shown(other_law),
                there.name
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

/// A parameter of a block as text.
fn parameter(block: &str, name: &str) -> Option<String> {
    let node = document::parse(FileId(0), block.as_bytes()).ok()?;
    let span = node.field(name)?.span;
    block.get(span.start as usize..span.end as usize).map(str::to_owned)
}

/// Every wire as source and target.
fn wires(program: &Program) -> BTreeSet<(String, String)> {
    let wire = |edge: &legwork_program::Edge| {
        let (from, to) = (&program.nodes[edge.from as usize], &program.nodes[edge.to as usize]);
        let output = from.output_names.get(edge.from_port as usize).map_or("", String::as_str);
        let input = edge.to_port.map_or("", |port| &to.input_names[port as usize]);
        (format!("{}.{output}{}", from.path, edge.part), format!("{}.{input}", to.path))
    };
    program.edges.iter().map(wire).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_read_from_the_text_of_a_block() {
        let text = "ClarabelQp(tol: 1e-10, law: Coulomb(passes: 3), on_fail: Stop)";
        assert_eq!(parameter(text, LAW).as_deref(), Some("Coulomb(passes: 3)"));
        assert_eq!(parameter("ClarabelQp()", LAW), None);
        assert_eq!(parameter("?", LAW), None);
    }
}
