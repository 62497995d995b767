//! The static order of output groups (semantics 5.1, 5.2, 8.1): petgraph, ties broken by path.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use legwork_block::{Diagnostic, Diagnostics, Feed, Feeds};
use petgraph::graph::{DiGraph, NodeIndex};

use crate::infer::{TypedNetwork, find_output};

/// An output group of a block: what the schedule orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Group {
    pub(crate) block: usize,
    pub(crate) group: usize,
}

/// Why one group must run before another.
#[derive(Debug, Clone)]
struct Hop {
    /// Output port of the source.
    output: String,
    /// Input port of the reader; empty for a shared computation.
    input: String,
}

/// All output groups in the order of their execution, and the algebraic loops among them.
pub(crate) struct Order {
    pub(crate) groups: Vec<Group>,
    pub(crate) loops: Vec<AlgebraicLoop>,
}

/// Groups that depend on one another through the unknowns of `Solve` blocks (semantics 5.3).
pub(crate) struct AlgebraicLoop {
    /// The blocks whose outputs are the unknowns.
    pub(crate) solves: Vec<usize>,
    /// Places in the order of the groups between unknowns and what they are compared with.
    pub(crate) body: Vec<usize>,
}

/// Orders all output groups, or names every feedthrough cycle.
pub(crate) fn schedule(network: &TypedNetwork, diagnostics: &mut Diagnostics) -> Option<Order> {
    let mut graph: DiGraph<Group, Hop> = DiGraph::new();
    let mut first_group = Vec::new();
    for (block, typed) in network.blocks.iter().enumerate() {
        first_group.push(graph.node_count());
        for group in 0..typed.declaration.groups.len() {
            graph.add_node(Group { block, group });
        }
    }
    for block in 0..network.blocks.len() {
        add_edges(network, block, &first_group, &mut graph);
    }
    let order = topological_order(&graph);
    if order.len() < graph.node_count() {
        report_cycles(network, &graph, diagnostics);
        return None;
    }
    Some(close_loops(network, &graph, &first_group, order, diagnostics))
}

/// Finds the loops that `Solve` blocks close, and lets each of them run in one go: what the loop
/// needs before it, what needs the loop after it.
fn close_loops(
    network: &TypedNetwork,
    graph: &DiGraph<Group, Hop>,
    first_group: &[usize],
    mut order: Vec<NodeIndex>,
    diagnostics: &mut Diagnostics,
) -> Order {
    let solves: Vec<usize> = (0..network.blocks.len())
        .filter(|&block| network.blocks[block].declaration.solves.is_some())
        .collect();
    let mut closed = graph.map(|_, group| *group, |_, _| ());
    for &block in &solves {
        let to = NodeIndex::new(first_group[block]);
        for (source, _) in network.blocks[block].network.inputs.values() {
            let mut paths = Vec::new();
            source.ports(&mut paths);
            for path in paths {
                let Ok((from, _, output)) = find_output(network, path) else { continue };
                closed.add_edge(NodeIndex::new(first_group[from] + output.group), to, ());
            }
        }
    }
    let mut sets: Vec<Vec<NodeIndex>> = petgraph::algo::tarjan_scc(&closed)
        .into_iter()
        .filter(|set| set.iter().any(|&node| solves.contains(&graph[node].block)))
        .collect();
    for set in &mut sets {
        set.sort_by_key(|&node| graph[node]);
    }
    sets.sort_by_key(|set| graph[set[0]]);
    for set in sets.iter().filter(|set| set.len() == 1) {
        let block = &network.blocks[graph[set[0]].block].network;
        let message = format!("{}: its input does not depend on its output: no loop", block.path);
        diagnostics.push(
            Diagnostic::error("no-loop", block.span, message)
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
            let is_solve = |node: &&NodeIndex| solves.contains(&graph[**node].block);
            let mut body: Vec<usize> =
                set.iter().filter(|node| !is_solve(node)).map(|node| place[node]).collect();
            body.sort_unstable();
            AlgebraicLoop {
                solves: set.iter().filter(is_solve).map(|&node| graph[node].block).collect(),
                body,
            }
        })
        .collect();
    Order { groups: order.into_iter().map(|node| graph[node]).collect(), loops }
}

/// The same order with the groups of `set` side by side.
fn in_one_go(
    graph: &DiGraph<Group, Hop>,
    set: &[NodeIndex],
    order: Vec<NodeIndex>,
) -> Vec<NodeIndex> {
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

fn add_edges(
    network: &TypedNetwork,
    block: usize,
    first_group: &[usize],
    graph: &mut DiGraph<Group, Hop>,
) {
    let typed = &network.blocks[block];
    for (group, feeds) in typed.declaration.groups.iter().enumerate() {
        let to = NodeIndex::new(first_group[block] + group);
        let feeds_input = |port: usize| match feeds {
            Feeds::All => true,
            Feeds::Only(list) => list.contains(&Feed::Input(port as u16)),
        };
        let feeds_shared = |index: usize| match feeds {
            Feeds::All => true,
            Feeds::Only(list) => list.contains(&Feed::Shared(index as u16)),
        };
        for (port, input) in typed.declaration.inputs.iter().enumerate() {
            let Some((source, _)) = typed.network.inputs.get(&input.name) else { continue };
            if !feeds_input(port) {
                continue;
            }
            let mut paths = Vec::new();
            source.ports(&mut paths);
            for path in paths {
                let Ok((from, _, output)) = find_output(network, path) else { continue };
                let from = NodeIndex::new(first_group[from] + output.group);
                let hop = Hop { output: output.name.clone(), input: input.name.clone() };
                graph.add_edge(from, to, hop);
            }
        }
        if let Some(condition) = typed.gate {
            let from = NodeIndex::new(first_group[condition]);
            graph.add_edge(from, to, Hop { output: "active".into(), input: String::new() });
        }
        for (index, &asked) in typed.asked.iter().enumerate() {
            if feeds_shared(index) {
                let from = NodeIndex::new(first_group[asked]);
                graph.add_edge(from, to, Hop { output: String::new(), input: String::new() });
            }
        }
    }
}

/// Kahn's algorithm; of all groups that may come next, the first by (path, group). Blocks are
/// sorted by path, so their index stands for it. Shorter than the graph if there is a cycle.
fn topological_order(graph: &DiGraph<Group, Hop>) -> Vec<NodeIndex> {
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
fn report_cycles(
    network: &TypedNetwork,
    graph: &DiGraph<Group, Hop>,
    diagnostics: &mut Diagnostics,
) {
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
        diagnostics.push(describe_cycle(network, graph, &cycle));
    }
}

/// The shortest cycle through the set's first node that lies on one: nodes in order of flow.
fn shortest_cycle(graph: &DiGraph<Group, Hop>, set: &[NodeIndex]) -> Vec<NodeIndex> {
    let mut best: Vec<NodeIndex> = Vec::new();
    for &start in set {
        let mut came_from = vec![None; graph.node_count()];
        let mut queue = VecDeque::from([start]);
        'search: while let Some(node) = queue.pop_front() {
            let mut next: Vec<NodeIndex> = graph.neighbors(node).collect();
            next.sort_by_key(|&n| graph[n]);
            for next in next {
                if next == start {
                    let mut cycle = vec![node];
                    let mut at = node;
                    while let Some(before) = came_from[at.index()] {
                        if at == start {
                            break;
                        }
                        cycle.push(before);
                        at = before;
                    }
                    cycle.reverse();
                    if best.is_empty() || cycle.len() < best.len() {
                        best = cycle;
                    }
                    break 'search;
                }
                if set.contains(&next) && came_from[next.index()].is_none() {
                    came_from[next.index()] = Some(node);
                    queue.push_back(next);
                }
            }
        }
    }
    best
}

/// The cycle with, per hop, its ports and why it feeds through; and the ways out.
fn describe_cycle(
    network: &TypedNetwork,
    graph: &DiGraph<Group, Hop>,
    cycle: &[NodeIndex],
) -> Diagnostic {
    let path = |node: NodeIndex| network.blocks[graph[node].block].network.path.as_str();
    let mut chain = String::new();
    let mut hops: Vec<(NodeIndex, &Hop)> = Vec::new();
    for (i, &node) in cycle.iter().enumerate() {
        let next = cycle[(i + 1) % cycle.len()];
        let Some(edge) = graph.find_edge(node, next) else { continue };
        let hop = &graph[edge];
        hops.push((next, hop));
        if hop.input.is_empty() {
            chain.push_str(&format!("{} ► ", path(node)));
        } else {
            chain.push_str(&format!(
                "{}.{} ► {}.{} ► ",
                path(node),
                hop.output,
                path(next),
                hop.input
            ));
        }
    }
    let first = path(cycle[0]);
    chain.push_str(first);
    let visible = |node: &&(NodeIndex, &Hop)| !network.blocks[graph[node.0].block].network.hidden;
    let start = hops.iter().find(visible).map_or(cycle[0], |hop| hop.0);
    let span_of = |(node, hop): &(NodeIndex, &Hop)| {
        let block = &network.blocks[graph[*node].block].network;
        block.inputs.get(&hop.input).map_or(block.span, |(_, span)| *span)
    };
    let mut diagnostic = Diagnostic::error(
        "algebraic-loop",
        network.blocks[graph[start].block].network.span,
        format!("algebraic loop: {chain}"),
    );
    for hop in hops.iter().filter(visible) {
        let typed = &network.blocks[graph[hop.0].block];
        let group = &typed.declaration.groups[graph[hop.0].group];
        let outputs: Vec<&str> = typed
            .declaration
            .outputs
            .iter()
            .filter(|output| output.group == graph[hop.0].group)
            .map(|output| output.name.as_str())
            .collect();
        let why = match group {
            Feeds::All => "every input of this block feeds its outputs at once",
            Feeds::Only(_) => "this input is declared to feed them",
        };
        diagnostic = diagnostic.also(
            span_of(hop),
            format!(
                "`{}` of {} feeds `{}` at once: {why}",
                hop.1.input,
                typed.network.path,
                outputs.join("`, `")
            ),
        );
        // A port of the same block that does not feed through is the cheapest way out.
        let delayed: Vec<&str> = typed
            .declaration
            .outputs
            .iter()
            .filter(|output| {
                matches!(&typed.declaration.groups[output.group], Feeds::Only(list) if list.is_empty())
            })
            .map(|output| output.name.as_str())
            .collect();
        if !delayed.is_empty() {
            diagnostic = diagnostic.hint(format!(
                "read `{}.{}` instead, which depends on state only",
                typed.network.path,
                delayed.join("` or `")
            ));
        }
    }
    if let Some((node, hop)) = hops.iter().find(visible) {
        diagnostic = diagnostic.hint(format!(
            "put a UnitDelay before `{}.{}`: then it is one period old",
            path(*node),
            hop.input
        ));
    }
    diagnostic.hint("or solve the loop with a Solve(…) block, which is explicit about its cost")
}
