//! What the blocks that keep constraints share: the active rows of all constraints.

use legwork_mechanics::ClosedChain;

use crate::buses::{CONSTRAINT_ROWS, Constraints};

/// Memory for `count` constraints of a robot with `nv` velocities, whose response `contact_rows`
/// rows of contacts ask for.
pub(crate) fn closed_chain(count: usize, nv: usize, contact_rows: usize) -> ClosedChain {
    ClosedChain::new(CONSTRAINT_ROWS * count, nv, contact_rows)
}

/// Reads the active rows of `J ν̇ + γ = 0`, labelled by their place among the six of each
/// constraint.
pub(crate) fn read_rows(chain: &mut ClosedChain, constraints: Option<Constraints<'_>>) {
    chain.clear();
    for (i, constraint) in constraints.iter().flat_map(Constraints::iter).enumerate() {
        let six = constraint.active.iter().zip(constraint.gamma).enumerate();
        for (row, (_, gamma)) in six.filter(|(_, (active, _))| **active != 0.0) {
            let columns = constraint.jacobian.chunks_exact(CONSTRAINT_ROWS);
            chain.push(CONSTRAINT_ROWS * i + row, columns.map(|column| column[row]), *gamma);
        }
    }
}
