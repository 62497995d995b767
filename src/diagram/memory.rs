//! What a run will take, added up before anything is allocated.
//!
//! A short text can ask for more memory than there is: a delay times the width of its vector, a
//! dense Jacobian of all states. The program's sizes are known when it is placed, so that the sum
//! is held against the budget of `run:` at compile time, and who asks for how much is said.

use std::fmt::Arguments;

use legwork_block::{Diagnostic, Diagnostics, Sizes, Solver, Span, code};
use legwork_program::{FunctionProgram, Loop, Node};

use crate::layout::Layout;

/// Bytes of a number.
const NUMBER: u64 = size_of::<f64>() as u64;
/// Copies of a run's state that are in memory at the same time. `legwork step` keeps the run, the
/// begin of the step and two snapshots before it; `legwork run` has two copies, and three after a
/// fault.
const COPIES: u64 = 4;
/// Numbers that a run keeps for each number of a signal: its copies, and rows to be written.
const PER_SIGNAL: u64 = COPIES + 1;
/// Vectors of a method over the continuous state: stages, differences, error, chart.
const PER_STATE: u64 = 24;
/// How many of those who ask for most are named.
const NAMED: usize = 3;

/// The memory that a run may take.
#[derive(Clone, Copy)]
pub(crate) struct Budget {
    /// [bytes].
    pub(crate) bytes: u64,
    /// The most that the command line allows, whatever the diagram states [bytes].
    pub(crate) allowed: u64,
    /// Where it is written, or the section that may state it.
    pub(crate) at: Span,
}

/// Budget of a diagram that states none, and the largest that it may state without `--memory`: 2
/// GB, on every machine.
pub(crate) const DEFAULT_BUDGET: u64 = 2_000_000_000;

impl Budget {
    /// The budget within the limit of the command line, if that sets one.
    pub(crate) fn allowed_by(self, command_line: Option<u64>) -> Self {
        let allowed = command_line.unwrap_or(DEFAULT_BUDGET);
        Self { bytes: self.bytes.min(allowed), allowed, at: self.at }
    }
}

/// Who asks for how many bytes, and where it is written.
type Ask<'a> = &'a mut dyn FnMut(Arguments<'_>, u64, Span);

/// Bytes of one copy of a program; reports a program whose copies exceed its budget.
pub(crate) fn check(
    layout: &Layout,
    solver: (Solver, Span),
    budget: Budget,
    diagnostics: &mut Diagnostics,
) -> u64 {
    let mut total = 0u64;
    ask(layout, solver, &mut |_, bytes, _| total = total.saturating_add(bytes));
    if total <= budget.bytes {
        return total / COPIES;
    }
    let mut all: Vec<(String, u64, Span)> = Vec::new();
    ask(layout, solver, &mut |who, bytes, at| all.push((who.to_string(), bytes, at)));
    all.sort_by_key(|(_, bytes, _)| std::cmp::Reverse(*bytes));
    let (who, most, at) = &all[0];
    let message = format!(
        "the run needs {}, more than its {} of memory; {} {}",
        size(total),
        size(budget.bytes),
        who,
        if *most == total { "alone" } else { "most" },
    );
    let mut found = Diagnostic::error(code::TOO_LARGE, *at, message);
    for (who, bytes, _) in all.iter().take(NAMED).filter(|(_, bytes, _)| *bytes > budget.bytes / 10)
    {
        found = found.hint(format!("{} for {who}", size(*bytes)));
    }
    let needed = match total <= budget.allowed {
        true => format!("allow it: run: (memory: \"{}\")", size(total)),
        false => format!(
            "allow it: run: (memory: \"{0}\") in the diagram, and --memory \"{0}\" on the command \
             line",
            size(total)
        ),
    };
    diagnostics.push(found.hint(needed).also(budget.at, "the budget"));
    total / COPIES
}

/// What all of a program takes.
fn ask(layout: &Layout, (solver, at): (Solver, Span), asks: Ask<'_>) {
    layout.nodes.iter().for_each(|node| ask_node(node, asks));
    let numbers = |count: usize, each: u64| (count as u64).saturating_mul(each * NUMBER);
    asks(format_args!("all signals"), numbers(layout.arena_len, PER_SIGNAL), at);
    let states = layout.state_len;
    asks(format_args!("the continuous states"), numbers(states, PER_STATE), at);
    if solver.is_implicit() {
        // The Jacobian and its factor.
        let who = format_args!("the dense Jacobian of {solver} over {states} states");
        asks(who, numbers(states, 2).saturating_mul(states as u64), at);
    }
    layout.loops.iter().for_each(|found| ask_loop(layout, found, asks));
}

/// What is kept to find the unknowns of an algebraic loop: a dense Jacobian and its factor.
fn ask_loop(layout: &Layout, found: &Loop, asks: Ask<'_>) {
    let unknowns: u64 = found.unknowns.iter().map(|unknown| u64::from(unknown.output.len)).sum();
    let largest = found.unknowns.iter().max_by_key(|unknown| unknown.output.len);
    let Some(node) = largest.map(|unknown| &layout.nodes[unknown.node.index()]) else { return };
    let path = &node.path;
    let who = format_args!("the dense Jacobian of the loop of `{path}` over {unknowns} unknowns");
    asks(who, unknowns.saturating_mul(2 * NUMBER).saturating_mul(unknowns), node.span);
}

/// What a block and the functions that it calls take.
fn ask_node(node: &Node, asks: Ask<'_>) {
    let sizes = Sizes::new(&node.vars, &node.io.inputs, &node.io.outputs);
    let bytes = node.block.memory(&sizes).saturating_mul(COPIES);
    asks(format_args!("`{}` ({})", node.path, node.kind), bytes, node.span);
    for FunctionProgram { nodes, arena_len, path, .. } in &node.functions {
        let bytes = (*arena_len as u64).saturating_mul(PER_SIGNAL * NUMBER);
        asks(format_args!("the signals of `{path}`"), bytes, node.span);
        nodes.iter().for_each(|node| ask_node(node, asks));
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
pub fn read_size(text: &str) -> Option<u64> {
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
