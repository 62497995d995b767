//! The static order of output groups (semantics 5.1, 5.2, 8.1): petgraph, ties broken by path.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

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

/// Orders all output groups, or names every feedthrough cycle.
pub(crate) fn schedule(
    network: &TypedNetwork,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<Group>> {
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
    Some(order.into_iter().map(|node| graph[node]).collect())
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
