//! Columns: signals flow to the right, feedback goes back.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{End, Level};

/// The column of each box.
///
/// Connections that feed through come first, then the others as long as they close no cycle: what
/// is left runs backwards. Columns are longest paths, then boxes slide towards the side on which
/// they have more wires (a constant is next to its reader).
pub(super) fn columns(level: &Level) -> Vec<usize> {
    let count = level.items.len();
    let (pairs, pull) = connections(level);
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut weights: BTreeMap<(usize, usize), i32> = BTreeMap::new();
    for ((from, to), _, wires) in pairs {
        if !reaches(&after, to, from) {
            after[from].push(to);
            before[to].push(from);
            weights.insert((from, to), wires);
        }
    }
    let order = topological(&after, &before);
    let mut column = vec![0usize; count];
    for &v in &order {
        column[v] = before[v].iter().map(|&u| column[u] + 1).max().unwrap_or(0);
    }
    let last = column.iter().copied().max().unwrap_or(0);
    // Every move shortens wires by whole columns, so this ends; the bound only guards its length.
    for _ in 0..count.clamp(8, 64) {
        let mut moved = false;
        for &v in order.iter().rev().chain(&order) {
            let low = before[v].iter().map(|&u| column[u] + 1).max().unwrap_or(0);
            let high = after[v].iter().map(|&w| column[w] - 1).min().unwrap_or(last);
            let mut slope = pull[v];
            slope += before[v].iter().map(|&u| weights[&(u, v)]).sum::<i32>();
            slope -= after[v].iter().map(|&w| weights[&(v, w)]).sum::<i32>();
            let best = match slope {
                1.. => low,
                0 => column[v],
                _ => high,
            };
            moved |= best != column[v];
            column[v] = best;
        }
        if !moved {
            break;
        }
    }
    column
}

/// Pairs of boxes with the number of wires between them: those that feed first, then by number;
/// and how strongly the frame's border pulls each box to the left.
#[expect(clippy::type_complexity, reason = "two lists for one caller")]
fn connections(level: &Level) -> (Vec<((usize, usize), bool, i32)>, Vec<i32>) {
    let mut pull = vec![0; level.items.len()];
    let mut pairs: BTreeMap<(usize, usize), (i32, i32)> = BTreeMap::new();
    for net in &level.nets {
        for sink in &net.sinks {
            match (net.root, sink.end) {
                (End::Item { item: a, .. }, End::Item { item: b, .. }) if a != b => {
                    let (feeding, wires) = pairs.entry((a, b)).or_default();
                    *feeding += i32::from(sink.feeds);
                    *wires += 1;
                }
                (End::Border, End::Item { item, .. }) => pull[item] += 1,
                (End::Item { item, .. }, End::Border) => pull[item] -= 1,
                _ => {}
            }
        }
    }
    let mut pairs: Vec<_> = pairs.into_iter().collect();
    pairs.sort_by_key(|&(pair, (feeding, wires))| {
        (feeding == 0, Reverse(feeding), Reverse(wires), pair)
    });
    (pairs.into_iter().map(|(pair, (feeding, wires))| (pair, feeding > 0, wires)).collect(), pull)
}

fn reaches(after: &[Vec<usize>], from: usize, to: usize) -> bool {
    let mut seen = vec![false; after.len()];
    let mut stack = vec![from];
    while let Some(v) = stack.pop() {
        if v == to {
            return true;
        }
        if !std::mem::replace(&mut seen[v], true) {
            stack.extend(&after[v]);
        }
    }
    false
}

fn topological(after: &[Vec<usize>], before: &[Vec<usize>]) -> Vec<usize> {
    let mut waiting: Vec<usize> = before.iter().map(Vec::len).collect();
    let mut order: Vec<usize> = (0..after.len()).filter(|&v| waiting[v] == 0).collect();
    let mut at = 0;
    while at < order.len() {
        for &w in &after[order[at]] {
            waiting[w] -= 1;
            if waiting[w] == 0 {
                order.push(w);
            }
        }
        at += 1;
    }
    order
}
