//! What a run will take, added up before anything is allocated.
//!
//! A short text can ask for more memory than there is: a delay times the width of its vector, a
//! dense Jacobian of all states. The program's sizes are known when it is placed, so that the sum
//! is held against the budget of `run:` at compile time, and who asks for how much is said.

use legwork_block::{Diagnostic, Diagnostics, Sizes, Solver, Span};
use legwork_program::{FunctionProgram, Loop, Node};

use crate::layout::Layout;

/// Bytes of a number.
const NUMBER: u64 = size_of::<f64>() as u64;
/// Numbers that a run keeps for each number of the signals: the signal, and rows on their way.
const PER_SIGNAL: u64 = 2;
/// Vectors of a method over the continuous state: stages, differences, error, chart.
const PER_STATE: u64 = 24;
/// How many of those who ask for most are named.
const NAMED: usize = 3;

/// The memory that a run may take.
#[derive(Clone, Copy)]
pub(crate) struct Budget {
    /// [bytes].
    pub(crate) bytes: u64,
    /// Where it is written, or the section that may state it.
    pub(crate) at: Span,
}

/// The budget where none is stated: 2 GB, on every machine alike.
pub(crate) const DEFAULT_BUDGET: u64 = 2_000_000_000;

/// Who asks for memory.
struct Asks {
    who: String,
    bytes: u64,
    at: Span,
}

/// What a program takes [bytes]; reports one that takes more memory than its budget.
pub(crate) fn check(
    layout: &Layout,
    solver: (Solver, Span),
    budget: Budget,
    diagnostics: &mut Diagnostics,
) -> u64 {
    let mut all: Vec<Asks> = Vec::new();
    layout.nodes.iter().for_each(|node| ask(node, &mut all));
    let numbers = |count: usize, each: u64| (count as u64).saturating_mul(each * NUMBER);
    let (solver, at) = solver;
    let mut of_run = |who: String, bytes| all.push(Asks { who, bytes, at });
    of_run("all signals".to_owned(), numbers(layout.arena_len, PER_SIGNAL));
    let states = layout.state_len;
    of_run("the continuous states".to_owned(), numbers(states, PER_STATE));
    if solver.is_implicit() {
        // The Jacobian and its factor.
        let who = format!("the dense Jacobian of {solver} over {states} states");
        of_run(who, numbers(states, 2).saturating_mul(states as u64));
    }
    layout.loops.iter().for_each(|found| ask_loop(layout, found, &mut all));
    let total = all.iter().fold(0u64, |sum, asks| sum.saturating_add(asks.bytes));
    if total <= budget.bytes {
        return total;
    }
    all.sort_by_key(|asks| std::cmp::Reverse(asks.bytes));
    let message = format!(
        "the run needs {}, more than its {} of memory; {} {}",
        size(total),
        size(budget.bytes),
        all[0].who,
        if all[0].bytes == total { "alone" } else { "most" },
    );
    let mut found = Diagnostic::error("too-large", all[0].at, message);
    for asks in all.iter().take(NAMED).filter(|asks| asks.bytes > budget.bytes / 10) {
        found = found.hint(format!("{} for {}", size(asks.bytes), asks.who));
    }
    let needed = format!("allow it: run: (memory: \"{}\")", size(total));
    diagnostics.push(found.hint(needed).also(budget.at, "the budget"));
    total
}

/// What is kept to find the unknowns of an algebraic loop: a dense Jacobian and its factor.
fn ask_loop(layout: &Layout, found: &Loop, all: &mut Vec<Asks>) {
    let unknowns: u64 = found.unknowns.iter().map(|unknown| u64::from(unknown.output.len)).sum();
    let largest = found.unknowns.iter().max_by_key(|unknown| unknown.output.len);
    let Some(node) = largest.map(|unknown| &layout.nodes[unknown.node.index()]) else { return };
    let path = &node.path;
    let who = format!("the dense Jacobian of the loop of `{path}` over {unknowns} unknowns");
    let bytes = unknowns.saturating_mul(2 * NUMBER).saturating_mul(unknowns);
    all.push(Asks { who, bytes, at: node.span });
}

/// What a block and the functions that it calls take.
fn ask(node: &Node, all: &mut Vec<Asks>) {
    let sizes = Sizes::new(&node.vars, &node.io.inputs, &node.io.outputs);
    let bytes = node.block.memory(&sizes);
    all.push(Asks { who: format!("`{}` ({})", node.path, node.kind), bytes, at: node.span });
    for FunctionProgram { nodes, arena_len, path, .. } in &node.functions {
        let bytes = (*arena_len as u64).saturating_mul(PER_SIGNAL * NUMBER);
        all.push(Asks { who: format!("the signals of `{path}`"), bytes, at: node.span });
        nodes.iter().for_each(|node| ask(node, all));
    }
}

/// A size as people write it, rounded up: `2 GB`, `350 MB`.
fn size(bytes: u64) -> String {
    let mut of = (bytes, "kB");
    let mut unit = 1000;
    for name in ["kB", "MB", "GB", "TB", "PB", "EB"] {
        of = (bytes.div_ceil(unit), name);
        if of.0 < 10_000 {
            break;
        }
        unit = unit.saturating_mul(1000);
    }
    format!("{} {}", of.0, of.1)
}

/// A size that somebody wrote: a number and `kB`, `MB`, `GB` or `TB`.
pub(crate) fn read_size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "kB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "TB" => 1e12,
        _ => return None,
    };
    let bytes = digits.trim().parse::<f64>().ok()? * unit;
    (bytes > 0.0 && bytes < 1e18).then_some(bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_written() {
        for (text, bytes) in [
            ("2 GB", 2_000_000_000),
            ("350MB", 350_000_000),
            ("1.5 kB", 1500),
            ("3 TB", 3_000_000_000_000),
        ] {
            assert_eq!(read_size(text), Some(bytes), "{text}");
        }
        for text in ["", "2", "2 GiB", "GB", "-1 GB", "inf GB", "NaN GB", "0 MB", "1e30 TB", "2 gb"]
        {
            assert_eq!(read_size(text), None, "{text}");
        }
        for (bytes, text) in [
            (1, "1 kB"),
            (1001, "2 kB"),
            (9_999_999, "10 MB"),
            (2_000_000_000, "2000 MB"),
            (80_000_000_000, "80 GB"),
            (u64::MAX, "19 EB"),
        ] {
            assert_eq!(size(bytes), text);
            assert!(bytes > 1_000_000_000_000_000_000 || read_size(text) >= Some(bytes));
        }
    }
}
