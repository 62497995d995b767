//! Slopes over the configuration of a robot.

use legwork_block::{Columns, Rows, Slopes};
use legwork_mechanics::Model;

/// Slopes over the numbers of a configuration, from those along its manifold.
///
/// `along` has a row for each of `rows` and a column for each coordinate of ν, column by column:
/// the slope over `q ⊕ ε e_k`. A quaternion Q turns by `δ = 2 vec(dQ ⊗ Q*) / |Q|²`, the inverse of
/// `dQ = ½ δ ⊗ Q`; what changes its length changes nothing.
pub(crate) fn by_configuration(
    model: &Model,
    q: &[f64],
    along: &[f64],
    (rows, columns): (Rows, Columns),
    slopes: &mut Slopes<'_>,
) {
    let count = rows.len();
    let (mut at, mut v) = (0, 0);
    let ends = model.quaternions().iter().map(|(quaternion, _)| *quaternion);
    for end in ends.chain([q.len()]) {
        while at < end {
            for i in 0..count {
                slopes.add((rows, i), (columns, at), along[v * count + i]);
            }
            (at, v) = (at + 1, v + 1);
        }
        if at == q.len() {
            break;
        }
        let [w, x, y, z] = [q[at], q[at + 1], q[at + 2], q[at + 3]];
        let scale = 2.0 / (w * w + x * x + y * y + z * z);
        let turns = [[-x, -y, -z], [w, z, -y], [-z, w, x], [y, -x, w]];
        for (k, turn) in turns.iter().enumerate() {
            for i in 0..count {
                let slope = (0..3).map(|axis| along[(v + axis) * count + i] * turn[axis]);
                slopes.add((rows, i), (columns, at + k), scale * slope.sum::<f64>());
            }
        }
        (at, v) = (at + 4, v + 3);
    }
}
