//! Dense matrices over all states, held against the memory that a run may take.

use legwork_block::Fault;
use legwork_program::{NodeId, Program};

use crate::fault::{Phase, RunFault};

/// Copies of a matrix of numbers that are there at once: it, its factors, and what is made of them.
const BYTES_PER_NUMBER: u64 = 4 * size_of::<f64>() as u64;

/// Bytes of a slope and its column in a sparse row.
const BYTES_PER_SLOPE: u64 = size_of::<(u32, f64)>() as u64;

/// How many slopes in sparse rows the memory of a run holds.
pub(crate) fn most_slopes(program: &Program) -> usize {
    usize::try_from(program.budget / BYTES_PER_SLOPE).unwrap_or(usize::MAX)
}

/// Hint for a larger memory limit.
fn allow(size: &str) -> String {
    format!("allow it: run: (memory: \"{size}\"); above 2 GB also --memory \"{size}\"")
}

/// Refuses so many slopes in sparse rows, of which the last are those of `node`, if they take more
/// than the budget of the run.
///
/// # Errors
/// With that block.
pub(crate) fn rows(
    program: &Program,
    node: NodeId,
    count: usize,
    (t, tick): (f64, u64),
) -> Result<(), RunFault> {
    let needed = (count as u64).saturating_mul(BYTES_PER_SLOPE);
    if needed <= program.budget {
        return Ok(());
    }
    let node = &program.nodes[node];
    let size = |bytes: u64| format!("{} MB", bytes.div_ceil(1_000_000));
    let message = format!(
        "the slopes of signals take more than the {} of memory of the run, before all of this \
         block's are there",
        size(program.budget),
    );
    Err(RunFault {
        t,
        tick,
        phase: Phase::Observe,
        block: node.path.clone(),
        fault: *Fault::new(message),
        span: node.span,
        hints: vec![allow(&size(needed.saturating_mul(4)))],
    })
}

/// Refuses a matrix of so many rows and columns that takes more than the budget of the run.
///
/// # Errors
/// With the block that has most states.
pub(crate) fn dense(
    program: &Program,
    (rows, columns): (usize, usize),
    (t, tick): (f64, u64),
) -> Result<(), RunFault> {
    let needed = (rows as u64).saturating_mul(columns as u64).saturating_mul(BYTES_PER_NUMBER);
    if needed <= program.budget {
        return Ok(());
    }
    let len = |node: &legwork_program::Node| node.continuous.as_ref().map_or(0, |it| it.x.len);
    let most = program.nodes.iter().max_by_key(|node| len(node));
    let size = |bytes: u64| format!("{} MB", bytes.div_ceil(1_000_000));
    let message = format!(
        "a dense matrix of {rows} rows and {columns} columns takes {}, more than the {} of memory \
         of the run; this block has most states, {}",
        size(needed),
        size(program.budget),
        most.map_or(0, len),
    );
    Err(RunFault {
        t,
        tick,
        phase: Phase::Observe,
        block: most.map_or(String::new(), |node| node.path.clone()),
        fault: *Fault::new(message),
        span: most.map_or_else(Default::default, |node| node.span),
        hints: vec![allow(&size(needed))],
    })
}
