//! The continuous state of a program in the chart of a step: one vector u of tangent coordinates.
//!
//! `x = retract(x₀, u)` with `u = 0` where the chart is centred. Plain numbers add; a quaternion is
//! turned by a rotation vector, whose rate is `u̇ = dexp⁻¹(u) ω` (Munthe-Kaas 1998); Euler angles
//! add, at the rate `T(θ) ω`; second-order state contributes its position and its velocity. Solvers
//! see u only, so that each of them keeps its order on rotations.

mod slopes;

use legwork_block::ContinuousState;
use legwork_program::{Node, Part, Placed, Program};

use crate::manifold::{displacement, pull_back, retract, turn_to_angle_rates};

/// Where one block's state lives in the vectors of the solver.
#[derive(Debug, Clone)]
struct Piece {
    placed: Placed,
    second_order: bool,
    /// First number in the tangent vectors.
    tangent: usize,
    /// Tangent numbers of the parts (for second-order state, of the position alone).
    tangent_len: usize,
    /// Numbers of the position (second-order) or of the whole state (first-order).
    position_len: usize,
    /// The block is switched off: its state stands still.
    frozen: bool,
    /// True if, in a semi-implicit step, the velocity of the position differs from that at the end.
    shifted: bool,
}

/// The chart.
#[derive(Debug, Clone)]
pub(crate) struct Chart {
    pieces: Vec<Piece>,
    /// Where it is centred.
    start: Vec<f64>,
    len: usize,
}

impl Chart {
    pub(crate) fn new(program: &Program) -> Self {
        let mut pieces = Vec::new();
        let mut tangent = 0;
        for placed in program.nodes.iter().filter_map(|node: &Node| node.continuous.as_ref()) {
            let second_order = matches!(placed.state, ContinuousState::Second(_));
            let tangent_len: usize = placed.parts.iter().map(|part| part.tangent_len()).sum();
            let position_len: usize = placed.parts.iter().map(|part| part.len()).sum();
            pieces.push(Piece {
                placed: placed.clone(),
                second_order,
                tangent,
                tangent_len,
                position_len,
                frozen: false,
                shifted: false,
            });
            tangent += if second_order { 2 * tangent_len } else { tangent_len };
        }
        Self { pieces, start: vec![0.0; program.state_len], len: tangent }
    }

    /// How many coordinates there are.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Says which blocks' states stand still, in the order of the program's nodes with state.
    pub(crate) fn freeze(&mut self, frozen: impl Iterator<Item = bool>) {
        for (piece, frozen) in self.pieces.iter_mut().zip(frozen) {
            piece.frozen = frozen;
        }
    }

    /// Sets the flag of a state whose block corrects the velocity of its position in a
    /// semi-implicit step; `piece` is its place among the program's nodes with state.
    pub(crate) fn set_shifted(&mut self, piece: usize, shifted: bool) {
        self.pieces[piece].shifted = shifted;
    }

    /// Centres the chart at `x`.
    pub(crate) fn centre(&mut self, x: &[f64]) {
        self.start.copy_from_slice(x);
    }

    /// `x = retract(x₀, u)`.
    pub(crate) fn place(&self, u: &[f64], x: &mut [f64]) {
        for piece in &self.pieces {
            let n = piece.tangent_len;
            let x = &mut x[piece.placed.x.range()];
            let x0 = &self.start[piece.placed.x.range()];
            let u = &u[piece.tangent..];
            retract(&piece.placed.parts, x0, &u[..n], x);
            if piece.second_order {
                let velocity = piece.position_len..piece.position_len + n;
                for ((v, v0), d) in
                    x[velocity.clone()].iter_mut().zip(&x0[velocity]).zip(&u[n..2 * n])
                {
                    *v = v0 + d;
                }
            }
        }
    }

    /// u with `x = retract(x₀, u)`.
    pub(crate) fn difference(&self, x: &[f64], u: &mut [f64]) {
        for piece in &self.pieces {
            let n = piece.tangent_len;
            let x = &x[piece.placed.x.range()];
            let x0 = &self.start[piece.placed.x.range()];
            let u = &mut u[piece.tangent..];
            displacement(&piece.placed.parts, x0, x, &mut u[..n]);
            if piece.second_order {
                let velocities = x.iter().zip(x0).skip(piece.position_len);
                for (d, (v, v0)) in u[n..2 * n].iter_mut().zip(velocities) {
                    *d = v - v0;
                }
            }
        }
    }

    /// `u̇` at `u`, where the state is `x` and the blocks' rates are `rates`.
    pub(crate) fn rate(&self, u: &[f64], x: &[f64], rates: &[f64], out: &mut [f64]) {
        for piece in &self.pieces {
            let rate = &rates[piece.placed.rate.range()];
            let n = piece.tangent_len;
            let first = piece.tangent..piece.tangent + n;
            if piece.frozen {
                let all = if piece.second_order { 2 * n } else { n };
                out[piece.tangent..piece.tangent + all].fill(0.0);
                continue;
            }
            if piece.second_order {
                let velocity = &x[piece.placed.x.range()][piece.position_len..];
                out[first.clone()].copy_from_slice(velocity);
                out[piece.tangent + n..piece.tangent + 2 * n].copy_from_slice(rate);
            } else {
                out[first.clone()].copy_from_slice(rate);
            }
            let x = &x[piece.placed.x.range()];
            pull_back(&piece.placed.parts, &u[first.clone()], x, &mut out[first]);
        }
    }

    /// What a relative tolerance refers to: |xᵢ| for a plain number and for a velocity, 1 for a
    /// rotation, whatever its coordinates.
    pub(crate) fn magnitude(&self, x: &[f64], out: &mut [f64]) {
        for piece in &self.pieces {
            let x = &x[piece.placed.x.range()];
            let (mut at, mut tangent) = (0, piece.tangent);
            for part in &piece.placed.parts {
                let out = &mut out[tangent..tangent + part.tangent_len()];
                if let Part::Euclidean(_) = part {
                    for (m, v) in out.iter_mut().zip(&x[at..]) {
                        *m = v.abs();
                    }
                } else {
                    out.fill(1.0);
                }
                at += part.len();
                tangent += part.tangent_len();
            }
            if piece.second_order {
                for (m, v) in out[tangent..tangent + piece.tangent_len].iter_mut().zip(&x[at..]) {
                    *m = v.abs();
                }
            }
        }
    }

    /// The numbers of `x` that are coordinates themselves; 0 for the turns of quaternions.
    pub(crate) fn numbers(&self, x: &[f64], out: &mut [f64]) {
        for piece in &self.pieces {
            let x = &x[piece.placed.x.range()];
            let (mut at, mut tangent) = (0, piece.tangent);
            for part in &piece.placed.parts {
                let out = &mut out[tangent..tangent + part.tangent_len()];
                match part {
                    Part::Quaternion => out.fill(0.0),
                    Part::Euclidean(_) | Part::EulerAngles => {
                        out.copy_from_slice(&x[at..at + part.len()]);
                    }
                }
                at += part.len();
                tangent += part.tangent_len();
            }
            if piece.second_order {
                let velocity = &mut out[tangent..tangent + piece.tangent_len];
                velocity.copy_from_slice(&x[at..at + piece.tangent_len]);
            }
        }
    }

    /// The largest rotation of a quaternion part [rad]; the chart ends at 2π.
    pub(crate) fn largest_turn(&self, u: &[f64]) -> f64 {
        let mut largest: f64 = 0.0;
        for piece in &self.pieces {
            let mut tangent = piece.tangent;
            for part in &piece.placed.parts {
                let own = &u[tangent..tangent + part.tangent_len()];
                if *part == Part::Quaternion {
                    largest = largest.max(own.iter().map(|c| c * c).sum::<f64>());
                }
                tangent += part.tangent_len();
            }
        }
        largest.sqrt()
    }

    /// One step of the semi-implicit Euler method (semantics 10.2): `ν⁺ = ν + h a`,
    /// `q⁺ = q ⊕ h (ν⁺ + δ)` with the corrections δ of the states that have them; `work` has the
    /// length of the chart's coordinates.
    pub(crate) fn semi_implicit(
        &mut self,
        h: f64,
        x: &mut [f64],
        (rates, shifts): (&[f64], &[f64]),
        work: &mut [f64],
    ) {
        self.start.copy_from_slice(x);
        for piece in self.pieces.iter().filter(|piece| !piece.frozen) {
            let rate = &rates[piece.placed.rate.range()];
            let delta = &mut work[piece.tangent..piece.tangent + piece.tangent_len];
            let x = &mut x[piece.placed.x.range()];
            let x0 = &self.start[piece.placed.x.range()];
            if piece.second_order {
                let (position, velocity) = x.split_at_mut(piece.position_len);
                for ((v, a), d) in velocity.iter_mut().zip(rate).zip(delta.iter_mut()) {
                    *v += h * a;
                    *d = h * *v;
                }
                if piece.shifted {
                    for (d, shift) in delta.iter_mut().zip(&shifts[piece.placed.rate.range()]) {
                        *d += h * shift;
                    }
                }
                turn_to_angle_rates(&piece.placed.parts, x0, delta);
                retract(&piece.placed.parts, x0, delta, position);
            } else {
                for (d, k) in delta.iter_mut().zip(rate) {
                    *d = h * k;
                }
                turn_to_angle_rates(&piece.placed.parts, x0, delta);
                retract(&piece.placed.parts, x0, delta, x);
            }
        }
    }
}
