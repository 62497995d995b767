//! Fixed-step solvers on manifolds.
//!
//! | name | method | order |
//! |---|---|---|
//! | `Euler` | `x⁺ = retract(x, h f(x))` | 1 |
//! | `SemiImplicitEuler` | second-order state: `v⁺ = v + h a`, `q⁺ = retract(q, h v⁺)`; else `Euler` | 1 |
//! | `Heun` | explicit trapezoidal rule | 2 |
//! | `Rk4` | the classical method | 4 |

use legwork_block::ContinuousState;
use legwork_program::{Node, Placed, Program, Solver};

use crate::manifold::{pull_back, retract};

/// A Butcher tableau of an explicit method whose stages depend on the stage before only.
struct Tableau {
    /// `aᵢ,ᵢ₋₁ = cᵢ` of stages 2, 3, …
    nodes: &'static [f64],
    /// `bᵢ`.
    weights: &'static [f64],
}

const HEUN: Tableau = Tableau { nodes: &[1.0], weights: &[0.5, 0.5] };
const RK4: Tableau =
    Tableau { nodes: &[0.5, 0.5, 1.0], weights: &[1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0] };

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
}

/// The solver with its memory.
#[derive(Debug, Clone)]
pub(crate) struct Integrator {
    solver: Solver,
    pieces: Vec<Piece>,
    start: Vec<f64>,
    displacement: Vec<f64>,
    sum: Vec<f64>,
    rate: Vec<f64>,
}

impl Integrator {
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
            });
            tangent += if second_order { 2 * tangent_len } else { tangent_len };
        }
        Self {
            solver: program.run.solver,
            pieces,
            start: vec![0.0; program.state_len],
            displacement: vec![0.0; tangent],
            sum: vec![0.0; tangent],
            rate: vec![0.0; tangent],
        }
    }

    /// A solver of nothing, to stand in while the real one works.
    pub(crate) fn empty() -> Self {
        Self {
            solver: Solver::Euler,
            pieces: Vec::new(),
            start: Vec::new(),
            displacement: Vec::new(),
            sum: Vec::new(),
            rate: Vec::new(),
        }
    }

    /// Advances `x` by `h` from the rates `first` that belong to it. `stage(t, x, rates)` computes
    /// outputs and rates at a stage inside the step, `offset` [s] after its start.
    ///
    /// # Errors
    /// The fault of a stage.
    pub(crate) fn advance<E>(
        &mut self,
        h: f64,
        x: &mut [f64],
        rates: &mut [f64],
        mut stage: impl FnMut(f64, &[f64], &mut [f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        match self.solver {
            Solver::SemiImplicitEuler => {
                self.semi_implicit(h, x, rates);
                Ok(())
            }
            Solver::Euler => {
                self.start.copy_from_slice(x);
                self.tangent_rate(x, rates);
                for (d, k) in self.displacement.iter_mut().zip(&self.rate) {
                    *d = h * k;
                }
                self.place(x);
                Ok(())
            }
            Solver::Heun => self.runge_kutta(&HEUN, h, x, rates, &mut stage),
            Solver::Rk4 => self.runge_kutta(&RK4, h, x, rates, &mut stage),
        }
    }

    fn runge_kutta<E>(
        &mut self,
        tableau: &Tableau,
        h: f64,
        x: &mut [f64],
        rates: &mut [f64],
        stage: &mut impl FnMut(f64, &[f64], &mut [f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.start.copy_from_slice(x);
        self.tangent_rate(x, rates);
        for (s, k) in self.sum.iter_mut().zip(&self.rate) {
            *s = tableau.weights[0] * k;
        }
        for (i, &node) in tableau.nodes.iter().enumerate() {
            for (d, k) in self.displacement.iter_mut().zip(&self.rate) {
                *d = h * node * k;
            }
            self.place(x);
            stage(node * h, x, rates)?;
            self.tangent_rate(x, rates);
            self.pull_back();
            for (s, k) in self.sum.iter_mut().zip(&self.rate) {
                *s += tableau.weights[i + 1] * k;
            }
        }
        for (d, s) in self.displacement.iter_mut().zip(&self.sum) {
            *d = h * s;
        }
        self.place(x);
        Ok(())
    }

    fn semi_implicit(&mut self, h: f64, x: &mut [f64], rates: &[f64]) {
        self.start.copy_from_slice(x);
        for piece in &self.pieces {
            let rate = &rates[piece.placed.rate.range()];
            let delta = &mut self.displacement[piece.tangent..piece.tangent + piece.tangent_len];
            let x = &mut x[piece.placed.x.range()];
            let x0 = &self.start[piece.placed.x.range()];
            if piece.second_order {
                let (position, velocity) = x.split_at_mut(piece.position_len);
                for ((v, a), d) in velocity.iter_mut().zip(rate).zip(delta.iter_mut()) {
                    *v += h * a;
                    *d = h * *v;
                }
                retract(&piece.placed.parts, x0, delta, position);
            } else {
                for (d, k) in delta.iter_mut().zip(rate) {
                    *d = h * k;
                }
                retract(&piece.placed.parts, x0, delta, x);
            }
        }
    }

    /// The rate of the whole state in tangent coordinates: for second-order state (v, a).
    fn tangent_rate(&mut self, x: &[f64], rates: &[f64]) {
        for piece in &self.pieces {
            let rate = &rates[piece.placed.rate.range()];
            if piece.second_order {
                let velocity = &x[piece.placed.x.range()][piece.position_len..];
                let n = piece.tangent_len;
                self.rate[piece.tangent..piece.tangent + n].copy_from_slice(velocity);
                self.rate[piece.tangent + n..piece.tangent + 2 * n].copy_from_slice(rate);
            } else {
                self.rate[piece.tangent..piece.tangent + piece.tangent_len].copy_from_slice(rate);
            }
        }
    }

    fn pull_back(&mut self) {
        for piece in &self.pieces {
            let range = piece.tangent..piece.tangent + piece.tangent_len;
            pull_back(
                &piece.placed.parts,
                &self.displacement[range.clone()],
                &mut self.rate[range],
            );
        }
    }

    /// `x = retract(start, displacement)`.
    fn place(&self, x: &mut [f64]) {
        for piece in &self.pieces {
            let n = piece.tangent_len;
            let x = &mut x[piece.placed.x.range()];
            let x0 = &self.start[piece.placed.x.range()];
            let delta = &self.displacement[piece.tangent..];
            retract(&piece.placed.parts, x0, &delta[..n], x);
            if piece.second_order {
                let velocity = piece.position_len..piece.position_len + n;
                for ((v, v0), d) in
                    x[velocity.clone()].iter_mut().zip(&x0[velocity]).zip(&delta[n..2 * n])
                {
                    *v = v0 + d;
                }
            }
        }
    }
}
