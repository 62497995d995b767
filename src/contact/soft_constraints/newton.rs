//! The inner problem: Newton's method with exact line search on a convex function of velocities.
//!
//! `min_v ½ (v - v*)ᵀ M (v - v*) + Σ ℓ_i(G_i v)`, with `M v* = p` and `-∇ℓ_i = γ_i` of
//! [`LocalLaw`]. Gradient `M v - p - Gᵀγ`, Hessian `H = M + Gᵀ C G` with the curvatures C: positive
//! definite because M is, sparse by bodies. The function is strictly convex and once differentiable
//! with a piecewise smooth gradient, so the method converges from everywhere, and in finitely many
//! steps where no contact slides.

mod prediction;

use super::local_law::LocalLaw;
use super::problem::ConstraintProblem;
use legwork_linalg::cancel::check;
use legwork_linalg::{BlockCholesky, Slot, axpy, dot, weighted_square};
use legwork_qp::Status;

/// Gradient below which a step that no longer halves the least one so far is limited by round-off.
const ROUND_OFF: f64 = 1e-7;
/// Such steps in a row that end the method.
const STUCK_LIMIT: u32 = 2;
/// Slope at which the line search ends, relative to that at its start.
const LINE_TOLERANCE: f64 = 1e-4;
/// Steps of the line search.
const LINE_LIMIT: u32 = 40;

/// Memory of the method.
#[derive(Clone, Debug, Default)]
pub(super) struct Newton {
    factor: BlockCholesky,
    /// Bodies and parts that the analysis was made for: part counts, then bodies.
    signature: Vec<usize>,
    pairs: Vec<(usize, usize)>,
    /// Slots of the diagonal blocks by body, then of the parts' pairs by constraint.
    diagonal_slots: Vec<Slot>,
    pair_slots: Vec<Slot>,
    /// M_jj, and one over it.
    pub(super) mass_diagonal: Vec<f64>,
    pub(super) inverse_diagonal: Vec<f64>,
    /// u = G v of the last evaluation.
    pub(super) row_velocity: Vec<f64>,
    /// γ of the last evaluation.
    pub(super) impulses: Vec<f64>,
    gradient: Vec<f64>,
    direction: Vec<f64>,
    direction_rows: Vec<f64>,
    mass_direction: Vec<f64>,
    product: Vec<f64>,
    /// γ at the end of the last pass.
    last_impulses: Vec<f64>,
    /// Contacts that are held in the first step, and all laws in it.
    is_held: Vec<bool>,
    held: Vec<LocalLaw>,
    /// Bodies that touch nothing.
    is_free: Vec<bool>,
    /// Velocities as bodies are stopped, and which have been.
    stopping: Vec<f64>,
    is_stopped: Vec<bool>,
}

/// Result of the method.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewtonEnd {
    pub(super) status: Status,
    pub(super) iterations: u32,
    /// Gradient over the scale of momentum.
    pub(super) residual: f64,
    /// The scale of momentum, in units of √energy: `‖M_jj^-½ p‖` or that of Gᵀγ.
    pub(super) scale: f64,
}

/// The row velocities of a constraint, (r, s, n) with zeros for missing rows.
pub(super) fn row_values(values: &[f64], first: usize, rows: usize) -> [f64; 3] {
    if rows == 1 {
        [0.0, 0.0, values[first]]
    } else {
        [values[first], values[first + 1], values[first + 2]]
    }
}

/// Writes the values of a constraint's rows.
pub(super) fn set_row_values(values: &mut [f64], first: usize, rows: usize, from: [f64; 3]) {
    if rows == 1 {
        values[first] = from[2];
    } else {
        values[first..first + 3].copy_from_slice(&from);
    }
}

impl Newton {
    /// Sizes memory and analyses the pattern for this problem.
    pub(super) fn prepare(&mut self, problem: &ConstraintProblem) {
        let (nv, rows) = (problem.velocity_dim(), problem.row_count());
        // Memory.
        for buffer in [
            &mut self.mass_diagonal,
            &mut self.gradient,
            &mut self.direction,
            &mut self.mass_direction,
            &mut self.stopping,
        ] {
            buffer.resize(nv, 0.0);
        }
        for buffer in [
            &mut self.row_velocity,
            &mut self.impulses,
            &mut self.last_impulses,
            &mut self.direction_rows,
        ] {
            buffer.resize(rows, 0.0);
        }
        let (bodies, count) = (problem.sizes().len(), problem.constraint_count());
        for marks in [&mut self.is_free, &mut self.is_stopped] {
            marks.resize(bodies, false);
        }
        self.is_held.clear();
        self.is_held.reserve(count);
        self.held.clear();
        self.held.reserve(count);
        let largest = problem.sizes().iter().copied().max().unwrap_or(0);
        self.product.resize(3 * largest, 0.0);
        problem.mass_diagonal_into(&mut self.mass_diagonal);
        self.inverse_diagonal.clear();
        self.inverse_diagonal.extend(self.mass_diagonal.iter().map(|m| 1.0 / m));
        // The pattern: every two bodies of a constraint are coupled. The same pattern is not
        // analysed anew.
        if self.has_signature_of(problem) {
            return;
        }
        self.signature.clear();
        self.signature.extend_from_slice(problem.sizes());
        self.signature.extend(problem.constraints().iter().map(|c| c.part_count));
        self.signature.extend(problem.all_parts().iter().map(|part| part.body));
        self.pairs.clear();
        for constraint in problem.constraints() {
            let parts = problem.parts(constraint);
            for (i, a) in parts.iter().enumerate() {
                for b in &parts[..i] {
                    self.pairs.push((a.body.min(b.body), a.body.max(b.body)));
                }
            }
        }
        self.pairs.sort_unstable();
        self.pairs.dedup();
        self.factor.analyse(problem.sizes(), &self.pairs);
        // Where the blocks stand, in the order in which they are assembled.
        self.diagonal_slots.clear();
        self.diagonal_slots.extend((0..problem.sizes().len()).map(|b| self.factor.slot(b, b)));
        self.pair_slots.clear();
        for constraint in problem.constraints() {
            let parts = problem.parts(constraint);
            for (i, a) in parts.iter().enumerate() {
                self.pair_slots.extend(parts[..i].iter().map(|b| self.factor.slot(a.body, b.body)));
            }
        }
    }

    fn has_signature_of(&self, problem: &ConstraintProblem) -> bool {
        let sizes = problem.sizes();
        let (constraints, parts) = (problem.constraints(), problem.all_parts());
        let (n, m) = (sizes.len(), sizes.len() + constraints.len());
        self.signature.len() == m + parts.len()
            && !self.diagonal_slots.is_empty()
            && self.signature[..n] == *sizes
            && self.signature[n..m].iter().zip(constraints).all(|(s, c)| *s == c.part_count)
            && self.signature[m..].iter().zip(parts).all(|(s, p)| *s == p.body)
    }

    /// `‖M_jj^-½ x‖`.
    pub(super) fn norm(&self, x: &[f64]) -> f64 {
        weighted_square(x, &self.inverse_diagonal).sqrt()
    }

    /// The scale of momentum at `velocity` and the impulses.
    pub(super) fn scale(&mut self, problem: &ConstraintProblem, velocity: &[f64]) -> f64 {
        self.gradient.fill(0.0);
        problem.add_transposed_rows_times(&self.impulses, &mut self.gradient);
        problem.mass_times(velocity, &mut self.mass_direction);
        let of_momentum = self.norm(problem.momentum()).max(self.norm(&self.mass_direction));
        of_momentum.max(self.norm(&self.gradient))
    }

    /// γ and the gradient at `velocity`, whose u is known; its norm and the scale of momentum.
    fn evaluate(
        &mut self,
        problem: &ConstraintProblem,
        laws: &[LocalLaw],
        velocity: &[f64],
    ) -> (f64, f64) {
        for (constraint, law) in problem.constraints().iter().zip(laws) {
            let (first, rows) = (constraint.first_row, constraint.law.row_count());
            let u = row_values(&self.row_velocity, first, rows);
            set_row_values(&mut self.impulses, first, rows, law.response(u).impulse);
        }
        self.gradient.fill(0.0);
        problem.add_transposed_rows_times(&self.impulses, &mut self.gradient);
        let of_forces = self.norm(&self.gradient);
        problem.mass_times(velocity, &mut self.mass_direction);
        let of_momentum = self.norm(problem.momentum()).max(self.norm(&self.mass_direction));
        for ((g, mv), p) in
            self.gradient.iter_mut().zip(&self.mass_direction).zip(problem.momentum())
        {
            *g = mv - p - *g;
        }
        (self.norm(&self.gradient), of_momentum.max(of_forces))
    }

    /// Moves `velocity` to the minimum, in a pass of the outer iteration from 0 on. The impulses
    /// are those of the last pass, the row velocities those of `velocity`.
    pub(super) fn minimise(
        &mut self,
        problem: &ConstraintProblem,
        laws: &[LocalLaw],
        pass: u32,
        (tolerance, limit): (f64, u32),
        velocity: &mut [f64],
    ) -> NewtonEnd {
        let (mut least, mut stuck_count, mut iterations) = (f64::INFINITY, 0, 0);
        std::mem::swap(&mut self.impulses, &mut self.last_impulses);
        loop {
            check();
            let (norm, scale) = self.evaluate(problem, laws, velocity);
            let residual = if norm == 0.0 { 0.0 } else { norm / scale };
            let end = |status| NewtonEnd { status, iterations, residual, scale };
            if !residual.is_finite() {
                return end(Status::NumericalTrouble);
            }
            // Against the least one: round-off can make the gradient go up and down in a cycle.
            let is_stuck = residual <= ROUND_OFF && norm > 0.5 * least;
            stuck_count = if is_stuck { stuck_count + 1 } else { 0 };
            if residual <= tolerance || stuck_count == STUCK_LIMIT {
                return end(Status::Solved);
            }
            if iterations == limit {
                return end(Status::MaxIterations);
            }
            least = least.min(norm);
            // The first step is that of the function with some contacts held.
            let is_held = iterations == 0 && self.find_held(problem, laws, pass, velocity);
            if is_held {
                let held = std::mem::take(&mut self.held);
                self.evaluate(problem, &held, velocity);
                self.assemble(problem, &held);
                self.held = held;
            } else {
                self.assemble(problem, laws);
            }
            if !self.factor.factor() {
                return end(Status::NumericalTrouble);
            }
            for (d, g) in self.direction.iter_mut().zip(&self.gradient) {
                *d = -g;
            }
            self.factor.solve(&mut self.direction);
            let step = if is_held {
                1.0
            } else {
                problem.rows_times(&self.direction, &mut self.direction_rows);
                self.line_search(problem, laws)
            };
            axpy(step, &self.direction, velocity);
            problem.rows_times(velocity, &mut self.row_velocity);
            iterations += 1;
        }
    }

    /// The step in (0, 1] along the direction that minimises the function.
    fn line_search(&mut self, problem: &ConstraintProblem, laws: &[LocalLaw]) -> f64 {
        problem.mass_times(&self.direction, &mut self.mass_direction);
        let quadratic = dot(&self.direction, &self.mass_direction);
        let start = dot(&self.direction, &self.gradient);
        // Slope of the inertial part at 0, from the gradient and that of the constraints.
        let inertial = start + dot(&self.direction_rows, &self.impulses);
        let slope = |step: f64| {
            let (mut slope, mut curvature) = (inertial + step * quadratic, quadratic);
            let mut c = [0.0; 9];
            for (constraint, law) in problem.constraints().iter().zip(laws) {
                let (first, rows) = (constraint.first_row, constraint.law.row_count());
                let du = row_values(&self.direction_rows, first, rows);
                if du == [0.0; 3] {
                    continue;
                }
                let u = row_values(&self.row_velocity, first, rows);
                let at = [0, 1, 2].map(|i| u[i] + step * du[i]);
                let response = law.curvature(at, &mut c);
                if rows == 1 {
                    slope -= response.impulse[2] * du[2];
                    curvature += du[2] * c[8] * du[2];
                    continue;
                }
                for i in 0..3 {
                    slope -= response.impulse[i] * du[i];
                    curvature += (0..3).map(|j| du[i] * c[3 * j + i] * du[j]).sum::<f64>();
                }
            }
            (slope, curvature)
        };
        // The slope grows with the step: Newton's method on it within brackets, bisection where
        // that leaves them. A full step whose slope is small enough is taken at once.
        let enough = LINE_TOLERANCE * start.abs();
        let (mut low, mut high) = (0.0, 1.0);
        let (end, mut curvature) = slope(1.0);
        if end <= enough {
            return 1.0;
        }
        let (mut step, mut value) = (1.0, end);
        for _ in 0..LINE_LIMIT {
            let newton: f64 = step - value / curvature;
            let is_inside = newton > low && newton < high;
            step = if is_inside { newton } else { 0.5 * (low + high) };
            (value, curvature) = slope(step);
            if value.abs() <= enough {
                break;
            }
            if value > 0.0 {
                high = step;
            } else {
                low = step;
            }
        }
        step
    }

    /// `H = M + Gᵀ C G` at the row velocities of the last evaluation.
    fn assemble(&mut self, problem: &ConstraintProblem, laws: &[LocalLaw]) {
        let values = self.factor.values_mut();
        values.fill(0.0);
        for (body, slot) in self.diagonal_slots.iter().enumerate() {
            let mass = problem.mass_of(body);
            values[slot.start..slot.start + mass.len()].copy_from_slice(mass);
        }
        let (mut pair, mut c) = (0, [0.0; 9]);
        for (constraint, law) in problem.constraints().iter().zip(laws) {
            let (first, rows) = (constraint.first_row, constraint.law.row_count());
            let _ = law.curvature(row_values(&self.row_velocity, first, rows), &mut c);
            let parts = problem.parts(constraint);
            let pair_count = parts.len() * parts.len().saturating_sub(1) / 2;
            if c == [0.0; 9] {
                pair += pair_count;
                continue;
            }
            for (i, &a) in parts.iter().enumerate() {
                let (g_a, range) = problem.part(rows, a);
                // C G_a; a single row has C = c[8].
                let product = &mut self.product[..g_a.len()];
                if rows == 1 {
                    product.iter_mut().zip(g_a).for_each(|(p, g)| *p = c[8] * g);
                } else {
                    for (p, g) in product.chunks_exact_mut(3).zip(g_a.chunks_exact(3)) {
                        for (k, p) in p.iter_mut().enumerate() {
                            *p = c[k] * g[0] + c[3 + k] * g[1] + c[6 + k] * g[2];
                        }
                    }
                }
                // `G_aᵀ C G_a`, then `G_aᵀ C G_b` of the parts before.
                let n = range.len();
                let start = self.diagonal_slots[a.body].start;
                add_lower(product, g_a, rows, &mut values[start..start + n * n]);
                for &b in &parts[..i] {
                    let (g_b, _) = problem.part(rows, b);
                    let slot = self.pair_slots[pair];
                    pair += 1;
                    let block =
                        &mut values[slot.start..slot.start + g_a.len() * g_b.len() / (rows * rows)];
                    if slot.is_transposed {
                        add_product(g_b, product, rows, block);
                    } else {
                        add_product(product, g_b, rows, block);
                    }
                }
            }
        }
    }
}

/// Velocities of a free body: for rows over these the kernels below are compiled on their own, with
/// loops of constant length.
const FREE: usize = 6;

/// `block ← block + aᵀ b`, lower triangle; a and b have `rows` rows.
fn add_lower(a: &[f64], b: &[f64], rows: usize, block: &mut [f64]) {
    match (rows, a.len(), b.len(), block.len()) {
        (1, FREE, FREE, 36) => add_lower_sized(&a[..FREE], &b[..FREE], 1, &mut block[..36]),
        (3, 18, 18, 36) => add_lower_sized(&a[..18], &b[..18], 3, &mut block[..36]),
        _ => add_lower_sized(a, b, rows, block),
    }
}

#[inline(always)]
fn add_lower_sized(a: &[f64], b: &[f64], rows: usize, block: &mut [f64]) {
    let n = a.len() / rows;
    for (j, b) in b.chunks_exact(rows).enumerate() {
        let column = &mut block[j * n + j..(j + 1) * n];
        add_column(&a[j * rows..], b, rows, column);
    }
}

/// `block ← block + aᵀ b`; a and b have `rows` rows.
fn add_product(a: &[f64], b: &[f64], rows: usize, block: &mut [f64]) {
    match (rows, a.len(), b.len(), block.len()) {
        (1, FREE, FREE, 36) => add_product_sized(&a[..FREE], &b[..FREE], 1, &mut block[..36]),
        (3, 18, 18, 36) => add_product_sized(&a[..18], &b[..18], 3, &mut block[..36]),
        _ => add_product_sized(a, b, rows, block),
    }
}

#[inline(always)]
fn add_product_sized(a: &[f64], b: &[f64], rows: usize, block: &mut [f64]) {
    let n = a.len() / rows;
    for (b, column) in b.chunks_exact(rows).zip(block.chunks_exact_mut(n)) {
        add_column(a, b, rows, column);
    }
}

#[inline(always)]
fn add_column(a: &[f64], b: &[f64], rows: usize, column: &mut [f64]) {
    if rows == 1 {
        let b = b[0];
        column.iter_mut().zip(a).for_each(|(out, a)| *out += a * b);
    } else {
        for (out, a) in column.iter_mut().zip(a.chunks_exact(3)) {
            *out += a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        }
    }
}
