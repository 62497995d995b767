//! The static order of output groups (semantics 5.1, 5.2, 8.1): petgraph, ties broken by path.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use legwork_block::{Diagnostic, Diagnostics, Feed, Feeds, OutputDeclaration, code};
use petgraph::graph::{DiGraph, NodeIndex};

use crate::ids::{BlockId, Id, OutputId};
use crate::network::{Network, NetworkBlock, Part, Wire};

/// An output group of a block: what the schedule orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Group {
    /// Place of the block in its part.
    pub(crate) node: usize,
    /// The group of the block.
    pub(crate) group: usize,
}

/// Why one group must run before another.
#[derive(Debug, Clone, Copy)]
enum Hop {
    /// A wire from this output of the source to this input of the reader.
    Wire(OutputId, usize),
    /// The source says whether the reader is on, or computes what it shares with others.
    Hidden,
}

/// Output groups and why one must run before another.
type Graph = DiGraph<Group, Hop>;

/// All output groups in the order of their execution, and the algebraic loops among them.
pub(crate) struct Order {
    pub(crate) groups: Vec<Group>,
    pub(crate) loops: Vec<AlgebraicLoop>,
}

/// Groups that depend on one another through the unknowns of `Solve` blocks (semantics 5.3).
pub(crate) struct AlgebraicLoop {
    /// Places in their part of the blocks whose outputs are the unknowns.
    pub(crate) solves: Vec<usize>,
    /// Places in the order of the groups between unknowns and what they are compared with.
    pub(crate) body: Vec<usize>,
}

/// Orders the output groups of a part, or names every feedthrough cycle.
pub(crate) fn schedule(
    network: &Network,
    part: &Part,
    diagnostics: &mut Diagnostics,
) -> Option<Order> {
    let part = Blocks { network, part: &part.blocks };
    let count = part.part.len();
    let mut graph = Graph::with_capacity(count, count);
    let mut first_group = Vec::with_capacity(count);
    for (node, &block) in part.part.iter().enumerate() {
        first_group.push(graph.node_count());
        for group in 0..network.blocks[block].declaration.groups.len() {
            graph.add_node(Group { node, group });
        }
    }
    for node in 0..part.part.len() {
        add_edges(&part, node, &first_group, &mut graph);
    }
    let order = topological_order(&graph);
    if order.len() < graph.node_count() {
        report_cycles(&part, &graph, diagnostics);
        return None;
    }
    Some(close_loops(&part, &graph, &first_group, order, diagnostics))
}

/// The blocks of a part by their places.
struct Blocks<'n> {
    network: &'n Network,
    part: &'n [BlockId],
}

impl<'n> Blocks<'n> {
    fn block(&self, node: usize) -> &'n NetworkBlock {
        &self.network.blocks[self.part[node]]
    }

    /// Calls `read` with the output group behind every port that `wire` reads, and the port.
    fn each_source(
        &self,
        wire: &'n Wire,
        first_group: &[usize],
        mut read: impl FnMut(NodeIndex, OutputId),
    ) {
        wire.source.each_port(&mut |port| {
            let group = self.network.output(port).group;
            let from = first_group[self.network.node(port.block)] + group;
            read(NodeIndex::new(from), port.output);
        });
    }
}

/// Finds the loops that `Solve` blocks close, and lets each of them run in one go: what the loop
/// needs before it, what needs the loop after it.
fn close_loops(
    part: &Blocks<'_>,
    graph: &Graph,
    first_group: &[usize],
    mut order: Vec<NodeIndex>,
    diagnostics: &mut Diagnostics,
) -> Order {
    let solves: Vec<usize> = (0..part.part.len())
        .filter(|&node| part.block(node).declaration.solves.is_some())
        .collect();
    if solves.is_empty() {
        let groups = order.into_iter().map(|node| graph[node]).collect();
        return Order { groups, loops: Vec::new() };
    }
    let mut closed = graph.map(|_, group| *group, |_, _| ());
    for &node in &solves {
        let to = NodeIndex::new(first_group[node]);
        for wire in part.block(node).inputs.iter().flatten() {
            part.each_source(wire, first_group, |from, _| {
                closed.add_edge(from, to, ());
            });
        }
    }
    let mut sets: Vec<Vec<NodeIndex>> = petgraph::algo::tarjan_scc(&closed)
        .into_iter()
        .filter(|set| set.iter().any(|&node| solves.contains(&graph[node].node)))
        .collect();
    for set in &mut sets {
        set.sort_by_key(|&node| graph[node]);
    }
    sets.sort_by_key(|set| graph[set[0]]);
    for set in sets.iter().filter(|set| set.len() == 1) {
        let block = part.block(graph[set[0]].node);
        let message = format!("{}: its input does not depend on its output: no loop", block.path);
        diagnostics.push(
            Diagnostic::error(code::NO_LOOP, block.span, message)
                .hint("leave the Solve out, and read its source instead"),
        );
    }
    for set in &sets {
        order = in_one_go(graph, set, order);
    }
    let place: BTreeMap<NodeIndex, usize> =
        order.iter().enumerate().map(|(place, &node)| (node, place)).collect();
    let loops = sets
        .iter()
        .map(|set| {
            let is_solve = |node: &&NodeIndex| solves.contains(&graph[**node].node);
            let mut body: Vec<usize> =
                set.iter().filter(|node| !is_solve(node)).map(|node| place[node]).collect();
            body.sort_unstable();
            AlgebraicLoop {
                solves: set.iter().filter(is_solve).map(|&node| graph[node].node).collect(),
                body,
            }
        })
        .collect();
    Order { groups: order.into_iter().map(|node| graph[node]).collect(), loops }
}

/// The same order with the groups of `set` side by side.
fn in_one_go(graph: &Graph, set: &[NodeIndex], order: Vec<NodeIndex>) -> Vec<NodeIndex> {
    let is_member =
        |node: &NodeIndex| set.binary_search_by_key(&graph[*node], |&n| graph[n]).is_ok();
    let mut follows = vec![false; graph.node_count()];
    let (mut before, mut members, mut after) = (Vec::new(), Vec::new(), Vec::new());
    for node in order {
        let member = is_member(&node);
        follows[node.index()] = member
            || graph
                .neighbors_directed(node, petgraph::Incoming)
                .any(|source| follows[source.index()]);
        let into = match (member, follows[node.index()]) {
            (true, _) => &mut members,
            (false, true) => &mut after,
            (false, false) => &mut before,
        };
        into.push(node);
    }
    before.append(&mut members);
    before.append(&mut after);
    before
}

fn add_edges(part: &Blocks<'_>, node: usize, first_group: &[usize], graph: &mut Graph) {
    let block = part.block(node);
    let node_of = |block: BlockId| NodeIndex::new(first_group[part.network.node(block)]);
    for (group, feeds) in block.declaration.groups.iter().enumerate() {
        let to = NodeIndex::new(first_group[node] + group);
        let reaches = |feed| match feeds {
            Feeds::All => true,
            Feeds::Only(list) => list.contains(&feed),
        };
        for (input, wire) in block.inputs.iter().enumerate() {
            let Some(wire) = wire else { continue };
            if reaches(Feed::Input(input as u16)) {
                part.each_source(wire, first_group, |from, output| {
                    graph.add_edge(from, to, Hop::Wire(output, input));
                });
            }
        }
        if let Some(condition) = block.gate {
            graph.add_edge(node_of(condition), to, Hop::Hidden);
        }
        for (index, &asked) in block.asked.iter().enumerate() {
            if reaches(Feed::Shared(index as u16)) {
                graph.add_edge(node_of(asked), to, Hop::Hidden);
            }
        }
    }
}

/// Kahn's algorithm; of all groups that may come next, the first by (path, group). The blocks of a
/// part are sorted by path, so their place stands for it. Shorter than the graph if there is a
/// cycle.
fn topological_order(graph: &Graph) -> Vec<NodeIndex> {
    let mut waits: Vec<usize> = graph
        .node_indices()
        .map(|node| graph.edges_directed(node, petgraph::Incoming).count())
        .collect();
    let mut ready: BinaryHeap<Reverse<(Group, NodeIndex)>> = graph
        .node_indices()
        .filter(|node| waits[node.index()] == 0)
        .map(|node| Reverse((graph[node], node)))
        .collect();
    let mut order = Vec::with_capacity(graph.node_count());
    while let Some(Reverse((_, node))) = ready.pop() {
        order.push(node);
        for next in graph.neighbors(node) {
            waits[next.index()] -= 1;
            if waits[next.index()] == 0 {
                ready.push(Reverse((graph[next], next)));
            }
        }
    }
    order
}

/// One message per strongly connected set, with its shortest cycle port by port.
fn report_cycles(part: &Blocks<'_>, graph: &Graph, diagnostics: &mut Diagnostics) {
    let mut sets: Vec<Vec<NodeIndex>> = petgraph::algo::tarjan_scc(graph)
        .into_iter()
        .filter(|set| set.len() > 1 || graph.contains_edge(set[0], set[0]))
        .collect();
    for set in &mut sets {
        set.sort_by_key(|&node| graph[node]);
    }
    sets.sort_by_key(|set| graph[set[0]]);
    for set in sets {
        let cycle = shortest_cycle(graph, &set);
        diagnostics.push(describe_cycle(part, graph, &cycle));
    }
}

/// Edges that the search for a shortest cycle may walk along.
const MOST_WALKED: usize = 1 << 21;

/// The shortest cycle through the first nodes of the set that lie on one, of all of them if the set
/// is not very large: nodes in order of flow.
fn shortest_cycle(graph: &Graph, set: &[NodeIndex]) -> Vec<NodeIndex> {
    let mut is_member = vec![false; graph.node_count()];
    set.iter().for_each(|node| is_member[node.index()] = true);
    let mut best: Vec<NodeIndex> = Vec::new();
    // Where a node was come to from, in the search with this number.
    let mut came_from = vec![(usize::MAX, NodeIndex::default()); graph.node_count()];
    let mut walked = 0;
    for (search, &start) in set.iter().enumerate() {
        if walked > MOST_WALKED && !best.is_empty() {
            break;
        }
        let mut queue = VecDeque::from([(start, 1)]);
        'search: while let Some((node, length)) = queue.pop_front() {
            if !best.is_empty() && length >= best.len() {
                break;
            }
            let mut next: Vec<NodeIndex> = graph.neighbors(node).collect();
            walked += next.len();
            next.sort_by_key(|&n| graph[n]);
            for next in next {
                if next == start {
                    let mut cycle = vec![node];
                    let mut at = node;
                    while at != start {
                        at = came_from[at.index()].1;
                        cycle.push(at);
                    }
                    cycle.reverse();
                    best = cycle;
                    break 'search;
                }
                if is_member[next.index()] && came_from[next.index()].0 != search {
                    came_from[next.index()] = (search, node);
                    queue.push_back((next, length + 1));
                }
            }
        }
    }
    best
}

/// Hops of a cycle that are told: of a longer one the first.
const MOST_HOPS: usize = 20;

/// The cycle with, per hop, its ports and why it feeds through; and the ways out.
fn describe_cycle(part: &Blocks<'_>, graph: &Graph, cycle: &[NodeIndex]) -> Diagnostic {
    let block = |node: NodeIndex| part.block(graph[node].node);
    let input = |node: NodeIndex, input: usize| &*block(node).declaration.inputs[input].name;
    let mut chain = String::new();
    let mut hops: Vec<(NodeIndex, Hop)> = Vec::new();
    for (i, &node) in cycle.iter().enumerate() {
        if i == MOST_HOPS {
            chain.push_str(&format!("{} more ► ", cycle.len() - i));
            break;
        }
        let next = cycle[(i + 1) % cycle.len()];
        let Some(edge) = graph.find_edge(node, next) else { continue };
        hops.push((next, graph[edge]));
        chain.push_str(&block(node).path);
        if let Hop::Wire(output, port) = graph[edge] {
            let output = &block(node).declaration.outputs[output.index()].name;
            chain.push_str(&format!(".{output} ► {}.{}", block(next).path, input(next, port)));
        }
        chain.push_str(" ► ");
    }
    chain.push_str(&block(cycle[0]).path);
    let start = hops.iter().find(|(node, _)| !block(*node).hidden).map_or(cycle[0], |hop| hop.0);
    let mut diagnostic = Diagnostic::error(
        code::ALGEBRAIC_LOOP,
        block(start).span,
        format!("algebraic loop: {chain}"),
    );
    for &(node, hop) in hops.iter().filter(|(node, _)| !block(*node).hidden) {
        let reader = block(node);
        let declaration = &reader.declaration;
        let names = |choose: &dyn Fn(&OutputDeclaration) -> bool| -> Vec<&str> {
            let outputs = declaration.outputs.iter().filter(|output| choose(output));
            outputs.map(|output| &*output.name).collect()
        };
        let why = match declaration.groups[graph[node].group] {
            Feeds::All => "every input of this block feeds its outputs at once",
            Feeds::Only(_) => "this input is declared to feed them",
        };
        let (name, span) = match hop {
            Hop::Wire(_, port) => {
                (input(node, port), reader.inputs[port].as_ref().map_or(reader.span, |w| w.span))
            }
            Hop::Hidden => ("", reader.span),
        };
        let fed = names(&|output| output.group == graph[node].group).join("`, `");
        let message = format!("`{name}` of {} feeds `{fed}` at once: {why}", reader.path);
        diagnostic = diagnostic.also(span, message);
        // A port of the same block that does not feed through is the cheapest way out.
        let delayed = names(&|output| declaration.groups[output.group] == Feeds::Only(Vec::new()));
        if !delayed.is_empty() {
            diagnostic = diagnostic.hint(format!(
                "read `{}.{}` instead, which depends on state only",
                reader.path,
                delayed.join("` or `")
            ));
        }
    }
    let wired = hops.iter().find_map(|&(node, hop)| match hop {
        Hop::Wire(_, port) if !block(node).hidden => Some((node, port)),
        _ => None,
    });
    if let Some((node, port)) = wired {
        diagnostic = diagnostic.hint(format!(
            "put a UnitDelay before `{}.{}`: then it is one period old",
            block(node).path,
            input(node, port)
        ));
    }
    diagnostic.hint("or solve the loop with a Solve(…) block, which is explicit about its cost")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(graph: &mut Graph, len: usize) -> Vec<NodeIndex> {
        let first = graph.node_count();
        let nodes: Vec<NodeIndex> =
            (0..len).map(|i| graph.add_node(Group { node: first + i, group: 0 })).collect();
        for i in 0..len {
            graph.add_edge(nodes[i], nodes[(i + 1) % len], Hop::Hidden);
        }
        nodes
    }

    #[test]
    fn the_shortest_cycle_of_a_set_is_found() {
        let mut graph = Graph::new();
        let nodes = ring(&mut graph, 40);
        graph.add_edge(nodes[20], nodes[18], Hop::Hidden);
        graph.add_edge(nodes[39], nodes[30], Hop::Hidden);
        assert_eq!(shortest_cycle(&graph, &nodes), [nodes[18], nodes[19], nodes[20]]);
        graph.add_edge(nodes[5], nodes[5], Hop::Hidden);
        assert_eq!(shortest_cycle(&graph, &nodes), [nodes[5]]);
    }

    /// A ring is walked around as often as the bound allows, and no more.
    #[test]
    fn a_long_cycle_is_found_too() {
        let mut graph = Graph::new();
        let nodes = ring(&mut graph, 20_000);
        assert_eq!(shortest_cycle(&graph, &nodes), nodes);
    }
}
