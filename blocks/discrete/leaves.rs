//! Signals of several leaves as one list of numbers, leaf after leaf.

use legwork_block::{Any, Leaves, Out, Outputs};

/// Writes an output.
pub(super) fn write(numbers: &[f64], y: Out<Any>, outputs: &mut Outputs<'_>) {
    let mut rest = numbers;
    for leaf in 0..outputs.leaf_count(y) {
        let y = outputs.leaf(y, leaf);
        let (now, later) = rest.split_at(y.len());
        y.copy_from_slice(now);
        rest = later;
    }
}

/// Reads an input.
pub(super) fn read(u: Leaves<'_>, numbers: &mut [f64]) {
    let mut rest = numbers;
    for u in u.iter() {
        let (now, later) = rest.split_at_mut(u.len());
        now.copy_from_slice(u);
        rest = later;
    }
}
