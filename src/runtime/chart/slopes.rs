//! Slopes through the chart at its centre: of the state over its coordinates, and of their rates.

use legwork_program::Part;

use super::{Chart, Piece};
use crate::sparse::{Row, RowSum};

impl Chart {
    /// The slopes of the numbers of the state over the coordinates, where the chart is centred. A
    /// quaternion changes by `½ δ ⊗ q`, δ the turn in world axes.
    pub(crate) fn place_slopes(&self) -> Vec<Row> {
        let mut rows = vec![Row::new(); self.start.len()];
        for piece in &self.pieces {
            let first = piece.placed.x.start as usize;
            let (mut at, mut tangent) = (first, piece.tangent as u32);
            for part in &piece.placed.parts {
                match part {
                    Part::Euclidean(_) | Part::EulerAngles => {
                        for (i, row) in rows[at..at + part.len()].iter_mut().enumerate() {
                            row.push((tangent + i as u32, 1.0));
                        }
                    }
                    Part::Quaternion => {
                        let q = &self.start[at..at + 4];
                        let [w, x, y, z] = [q[0], q[1], q[2], q[3]];
                        let by_turn = [[-x, -y, -z], [w, z, -y], [-z, w, x], [y, -x, w]];
                        for (row, slopes) in rows[at..at + 4].iter_mut().zip(by_turn) {
                            row.extend((tangent..).zip(slopes.map(|slope| 0.5 * slope)));
                        }
                    }
                }
                at += part.len();
                tangent += part.tangent_len() as u32;
            }
            if piece.second_order {
                for (i, row) in rows[at..at + piece.tangent_len].iter_mut().enumerate() {
                    row.push((tangent + i as u32, 1.0));
                }
            }
        }
        rows
    }

    /// The slopes of what [`Chart::rate`] gives where the chart is centred, of those of the state
    /// and of the blocks' rates, whose values are `rates`.
    pub(crate) fn rate_slopes(
        &self,
        (of_state, of_rates): (&[Row], &[Row]),
        rates: &[f64],
        sum: &mut RowSum,
    ) -> Vec<Row> {
        let mut out = vec![Row::new(); self.len];
        for piece in self.pieces.iter().filter(|piece| !piece.frozen) {
            let x = piece.placed.x.range();
            let rate = piece.placed.rate.range();
            let velocity = x.start + piece.position_len;
            // What moves the position: the velocity, or the rate itself.
            let (rows, values) = match piece.second_order {
                true => (&of_state[velocity..], &self.start[velocity..]),
                false => (&of_rates[rate.start..], &rates[rate.start..]),
            };
            self.position_slopes(piece, (of_state, rows), values, sum, &mut out);
            if piece.second_order {
                let first = piece.tangent + piece.tangent_len;
                out[first..first + piece.tangent_len].clone_from_slice(&of_rates[rate]);
            }
        }
        out
    }

    /// Those of the rates of a position whose velocity has these slopes and values.
    fn position_slopes(
        &self,
        piece: &Piece,
        (of_state, rows): (&[Row], &[Row]),
        values: &[f64],
        sum: &mut RowSum,
        out: &mut [Row],
    ) {
        let (mut at, mut tangent) = (piece.placed.x.start as usize, 0);
        for part in &piece.placed.parts {
            let len = part.tangent_len();
            let rows = &rows[tangent..tangent + len];
            let column = piece.tangent + tangent;
            let out = &mut out[column..column + len];
            let turning = || [values[tangent], values[tangent + 1], values[tangent + 2]];
            match part {
                Part::Euclidean(_) => out.clone_from_slice(rows),
                Part::Quaternion => {
                    // dexp⁻¹(u) ω = ω − ½ u × ω + …; at u = 0 its slope over u is ½ ω ×.
                    let [x, y, z] = turning();
                    let half = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]];
                    for (i, out) in out.iter_mut().enumerate() {
                        sum.add(&rows[i], 1.0);
                        for (j, slope) in half[i].iter().enumerate() {
                            sum.add_one((column + j) as u32, 0.5 * slope);
                        }
                        *out = sum.take();
                    }
                }
                Part::EulerAngles => {
                    let angles = [at, at + 1, at + 2];
                    let [_, by_pitch, by_yaw] = angles.map(|i| &of_state[i]);
                    let [_, pitch, yaw] = angles.map(|i| self.start[i]);
                    let (sin_pitch, cos_pitch) = libm::sincos(pitch);
                    let (sin_yaw, cos_yaw) = libm::sincos(yaw);
                    let [x, y, _] = turning();
                    let (along, across) = (cos_yaw * x + sin_yaw * y, cos_yaw * y - sin_yaw * x);
                    let roll_rate = along / cos_pitch;
                    sum.add(&rows[0], cos_yaw / cos_pitch);
                    sum.add(&rows[1], sin_yaw / cos_pitch);
                    sum.add(by_yaw, across / cos_pitch);
                    sum.add(by_pitch, roll_rate * sin_pitch / cos_pitch);
                    out[0] = sum.take();
                    sum.add(&rows[1], cos_yaw);
                    sum.add(&rows[0], -sin_yaw);
                    sum.add(by_yaw, -along);
                    out[1] = sum.take();
                    sum.add(&rows[2], 1.0);
                    sum.add(&out[0], sin_pitch);
                    sum.add(by_pitch, cos_pitch * roll_rate);
                    out[2] = sum.take();
                }
            }
            at += part.len();
            tangent += len;
        }
    }
}
