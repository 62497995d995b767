//! Closed chains and fixed frames, eliminated before contact is assembled.
//!
//! A holonomic constraint reads `J_p ν̇ + γ = 0`. With a square root C of the mass matrix,
//! `CᵀC = M`, the coordinates `z = C ν̇` measure kinetic energy as a plain length, and Gauss's
//! principle becomes an orthogonal projection. With `W_p = J_p C⁻¹`:
//!
//! - `z = P z_f - W_p⁺ γ`, `P = I - W_p⁺ W_p`: the free motion of the closed mechanism;
//! - a row `w = j C⁻¹` of the contact Jacobian acts as `P w`, so that `G = (W P)(W P)ᵀ`.
//!
//! This is paper eqs. (13)-(18), and (19)-(24) with the velocity before an impact in the place of
//! ν̇_f and γ = 0, without forming `S = J_p M⁻¹ J_pᵀ`: an orthonormal basis Q of the rows of W_p
//! comes from a pivoted Gram-Schmidt process, `W_p = R Q`. Its condition is the root of that of S.
//!
//! Rows that depend on others (the second of two equal loops, a sole welded and held at its
//! vertices) end the process early: they get no force, and the acceleration that they require is
//! compared with the one that the independent rows produce.
//!
//! [`ClosedChain`] holds the constraints of one mechanism at one state, [`HolonomicElimination`] is
//! the algebra beneath.
//!
//! # References
//! - N. Guedelha et al. (2024), eqs. (13)-(24). Their code damps the inverse of S (k = 0.001),
//!   which makes closed chains creep; we do not.
//! - Å. Björck, *Numerical Methods for Least Squares Problems* (1996), sec. 2.4: Gram-Schmidt with
//!   reorthogonalisation.

use legwork_mechanics::{MassFactorRef, WeightedJacobian};

/// Fraction of a row's squared length that must remain for it to be independent of those before it.
const DEPENDENT: f64 = 1e-11;
/// Squared length, relative to the longest row, below which a row is zero up to rounding.
const NOTHING: f64 = 1e-18;

/// The elimination of holonomic rows, with its memory.
#[doc(alias("loop closure", "closed kinematic chain", "bilateral constraint"))]
#[derive(Clone, Debug)]
pub struct HolonomicElimination {
    dim: usize,
    row_count: usize,
    rank: usize,
    /// Q: `rank` orthonormal rows of `dim`; the space of dependent rows follows them.
    basis: Vec<f64>,
    /// R: entry (row, k) at `row · capacity + k`.
    coefficients: Vec<f64>,
    capacity: usize,
    /// The row that each basis vector comes from, then the dependent ones.
    order: Vec<usize>,
    /// Squared length of each row, before the process.
    length: Vec<f64>,
    /// `R⁻¹ γ`.
    bias: Vec<f64>,
    /// What `constrain` added, in coordinates of Q.
    reaction: Vec<f64>,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `y += factor · x`.
fn add_scaled(factor: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += factor * x;
    }
}

impl HolonomicElimination {
    /// Memory for up to `row_count` constraint rows of a robot with `dim` velocities.
    #[must_use]
    pub fn new(row_count: usize, dim: usize) -> Self {
        Self {
            dim,
            row_count: 0,
            rank: 0,
            basis: vec![0.0; row_count * dim],
            coefficients: vec![0.0; row_count * row_count],
            capacity: row_count,
            order: vec![0; row_count],
            length: vec![0.0; row_count],
            bias: vec![0.0; row_count],
            reaction: vec![0.0; row_count],
        }
    }

    /// Finds the basis of the rows of `W_p = J_p C⁻¹`, given row by row; returns their rank, 0 if
    /// they hold NaN. γ is zero until [`Self::set_bias`]. O(rows rank dim).
    ///
    /// # Panics
    /// If there are more rows than memory was made for, or their length is not a multiple of `dim`.
    pub fn factor(&mut self, half_rows: &[f64]) -> usize {
        let dim = self.dim;
        let count = half_rows.len().checked_div(dim).unwrap_or(0);
        assert_eq!(half_rows.len(), count * dim, "expected rows of {dim} values");
        assert!(count <= self.capacity, "expected at most {} rows, found {count}", self.capacity);
        (self.row_count, self.rank) = (count, 0);
        self.basis[..half_rows.len()].copy_from_slice(half_rows);
        self.coefficients.fill(0.0);
        self.bias.fill(0.0);
        self.reaction.fill(0.0);
        let mut longest = 0.0f64;
        for (row, w) in half_rows.chunks_exact(dim.max(1)).enumerate() {
            (self.order[row], self.length[row]) = (row, dot(w, w));
            longest = longest.max(self.length[row]);
        }
        if !(longest > 0.0 && half_rows.iter().all(|w| w.is_finite())) {
            return 0;
        }
        while self.rank < count {
            let Some(best) = self.next_pivot(longest) else { break };
            self.take(best);
        }
        self.rank
    }

    /// Index in `order` of the row with the largest remainder relative to its length, so that units
    /// of rows do not matter.
    fn next_pivot(&self, longest: f64) -> Option<usize> {
        let (mut found, mut most) = (None, DEPENDENT);
        for at in self.rank..self.row_count {
            let length = self.length[self.order[at]];
            if length <= NOTHING * longest {
                continue;
            }
            let rest = &self.basis[at * self.dim..(at + 1) * self.dim];
            let left = dot(rest, rest) / length;
            if left > most {
                (found, most) = (Some(at), left);
            }
        }
        found
    }

    /// Makes the row at `best` the next basis vector and subtracts it from the later rows.
    fn take(&mut self, best: usize) {
        let Self { dim, basis, coefficients, capacity, order, row_count, rank, .. } = self;
        let k = *rank;
        order.swap(k, best);
        if best != k {
            let (head, tail) = basis.split_at_mut(best * *dim);
            head[k * *dim..(k + 1) * *dim].swap_with_slice(&mut tail[..*dim]);
        }
        let (done, rest) = basis.split_at_mut(k * *dim);
        let (own, behind) = rest.split_at_mut(*dim);
        let row = order[k] * *capacity;
        // Once more: after cancellation the row is not quite normal to the others.
        for (j, q) in done.chunks_exact(*dim).enumerate() {
            let share = dot(own, q);
            coefficients[row + j] += share;
            add_scaled(-share, q, own);
        }
        let length = dot(own, own).sqrt();
        coefficients[row + k] = length;
        let inverse = 1.0 / length;
        own.iter_mut().for_each(|q| *q *= inverse);
        for (at, other) in (k + 1..*row_count).zip(behind.chunks_exact_mut(*dim)) {
            let share = dot(own, other);
            coefficients[order[at] * *capacity + k] = share;
            add_scaled(-share, own, other);
        }
        *rank += 1;
    }

    /// Rank of the last rows.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Row k of Q, `dim` long.
    ///
    /// # Panics
    /// If there are not so many.
    #[must_use]
    pub fn basis(&self, k: usize) -> &[f64] {
        assert!(k < self.rank, "expected a row of {}, found {k}", self.rank);
        &self.basis[k * self.dim..(k + 1) * self.dim]
    }

    /// `R⁻¹ x` of the independent entries of x: what W_p z = x requires of the coordinates Q z.
    fn solve_lower(&self, x: &[f64], k: usize, solved: impl Fn(usize) -> f64) -> f64 {
        let r = &self.coefficients[self.order[k] * self.capacity..];
        let sum: f64 = (0..k).map(|j| r[j] * solved(j)).sum();
        (x[self.order[k]] - sum) / r[k]
    }

    /// Sets γ of `J_p ν̇ + γ = 0`, one value for each row.
    ///
    /// # Panics
    /// If there is not one value for each row.
    pub fn set_bias(&mut self, bias: &[f64]) {
        assert_eq!(bias.len(), self.row_count, "expected one value for each row");
        for k in 0..self.rank {
            self.bias[k] = self.solve_lower(bias, k, |j| self.bias[j]);
        }
    }

    /// `R⁻¹ J_p = Q C`: the basis as rows on ν̇, `rank` rows of `dim`, from the rows of J_p.
    ///
    /// # Panics
    /// If a slice is too short.
    pub fn basis_rows_into(&self, jacobian_rows: &[f64], out: &mut [f64]) {
        let dim = self.dim;
        for k in 0..self.rank {
            let row = self.order[k];
            let r = &self.coefficients[row * self.capacity..];
            let (done, own) = out.split_at_mut(k * dim);
            let own = &mut own[..dim];
            own.copy_from_slice(&jacobian_rows[row * dim..(row + 1) * dim]);
            for (j, other) in done.chunks_exact(dim).enumerate() {
                add_scaled(-r[j], other, own);
            }
            let inverse = 1.0 / r[k];
            own.iter_mut().for_each(|x| *x *= inverse);
        }
    }

    /// `z ← P z`: the motion without what the constraints forbid.
    ///
    /// # Panics
    /// If `z` has the wrong length.
    pub fn project(&self, z: &mut [f64]) {
        assert_eq!(z.len(), self.dim, "length of z");
        for q in self.basis[..self.rank * self.dim].chunks_exact(self.dim.max(1)) {
            let share = dot(q, z);
            add_scaled(-share, q, z);
        }
    }

    /// `z ← P z - W_p⁺ γ`: the motion `z = C ν̇` that the constraints leave of a free one.
    ///
    /// # Panics
    /// If `z` has the wrong length.
    pub fn constrain(&mut self, z: &mut [f64]) {
        assert_eq!(z.len(), self.dim, "length of z");
        for k in 0..self.rank {
            let q = &self.basis[k * self.dim..(k + 1) * self.dim];
            self.reaction[k] = -(dot(q, z) + self.bias[k]);
            add_scaled(self.reaction[k], q, z);
        }
    }

    /// Forces λ of the last [`Self::constrain`], one for each row: `z = z_f + W_pᵀ λ`; zero in
    /// dependent rows.
    ///
    /// # Panics
    /// If there is not one value for each row.
    pub fn forces_into(&self, forces: &mut [f64]) {
        assert_eq!(forces.len(), self.row_count, "expected one value for each row");
        forces.fill(0.0);
        for k in (0..self.rank).rev() {
            let mut sum = self.reaction[k];
            for &row in &self.order[k + 1..self.rank] {
                sum -= self.coefficients[row * self.capacity + k] * forces[row];
            }
            let row = self.order[k];
            forces[row] = sum / self.coefficients[row * self.capacity + k];
        }
    }

    /// Largest `|W_p z + γ|` over the dependent rows: beyond rounding, the constraints contradict
    /// one another.
    ///
    /// # Panics
    /// If a slice has the wrong length.
    #[must_use]
    pub fn residual(&self, half_rows: &[f64], bias: &[f64], z: &[f64]) -> f64 {
        assert_eq!(bias.len(), self.row_count, "expected one value for each row");
        let wrong = |&row: &usize| {
            let w = &half_rows[row * self.dim..(row + 1) * self.dim];
            (dot(w, z) + bias[row]).abs()
        };
        self.order[self.rank..self.row_count].iter().map(wrong).fold(0.0, f64::max)
    }
}

/// The constraints of one mechanism at one state.
#[derive(Clone, Debug)]
pub struct ClosedChain {
    elimination: HolonomicElimination,
    dim: usize,
    /// Rows of J_p, row by row.
    rows: Vec<f64>,
    /// `J_p C⁻¹`, row by row.
    half_rows: Vec<f64>,
    /// γ.
    bias: Vec<f64>,
    /// What the caller calls each row.
    labels: Vec<usize>,
    /// `Q C` of the elimination, row by row.
    basis_rows: Vec<f64>,
    forces: Vec<f64>,
    shares: Vec<f64>,
}

impl ClosedChain {
    /// Memory for `row_count` rows of a robot with `dim` velocities, whose response `contact_rows`
    /// rows of contacts ask for.
    #[must_use]
    pub fn new(row_count: usize, dim: usize, contact_rows: usize) -> Self {
        Self {
            elimination: HolonomicElimination::new(row_count, dim),
            dim,
            rows: Vec::with_capacity(row_count * dim),
            half_rows: Vec::with_capacity(row_count * dim),
            bias: Vec::with_capacity(row_count),
            labels: Vec::with_capacity(row_count),
            basis_rows: vec![0.0; row_count * dim],
            forces: vec![0.0; row_count],
            shares: vec![0.0; if row_count > 0 { contact_rows } else { 0 }],
        }
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.bias.clear();
        self.labels.clear();
    }

    /// Adds a row of `J_p ν̇ + γ = 0`, which the caller calls `label`.
    pub fn push(&mut self, label: usize, row: impl Iterator<Item = f64>, bias: f64) {
        self.rows.extend(row);
        self.bias.push(bias);
        self.labels.push(label);
    }

    /// Takes `J_p ν⁺ = 0` after an impact at the velocity ν⁻ instead: the jump `Δν` has `J_p Δν +
    /// J_p ν⁻ = 0`.
    pub fn hold_velocity(&mut self, velocity: &[f64]) {
        for (bias, row) in self.bias.iter_mut().zip(self.rows.chunks_exact(self.dim.max(1))) {
            *bias = dot(row, velocity);
        }
    }

    /// Eliminates the rows. O(rows (nv depth + rank nv)).
    pub fn eliminate(&mut self, factor: MassFactorRef<'_>) {
        self.half_rows.clear();
        self.half_rows.extend_from_slice(&self.rows);
        for row in self.half_rows.chunks_exact_mut(self.dim.max(1)) {
            factor.half_solve_in_place(row);
        }
        self.elimination.factor(&self.half_rows);
        self.elimination.set_bias(&self.bias);
    }

    /// Number of independent rows.
    #[must_use]
    pub fn rank(&self) -> usize {
        if self.labels.is_empty() { 0 } else { self.elimination.rank() }
    }

    /// `z ← P z − W_p⁺ γ`.
    pub fn constrain(&mut self, z: &mut [f64]) {
        if !self.labels.is_empty() {
            self.elimination.constrain(z);
        }
    }

    /// Forces of the last [`Self::constrain`] at the labels of their rows; zero elsewhere.
    pub fn forces_into(&mut self, out: &mut [f64]) {
        out.fill(0.0);
        if !self.labels.is_empty() {
            let forces = &mut self.forces[..self.labels.len()];
            self.elimination.forces_into(forces);
            self.labels.iter().zip(forces).for_each(|(&label, force)| out[label] = *force);
        }
    }

    /// Largest `|J_p ν̇ + γ|` of the dependent rows.
    #[must_use]
    pub fn residual(&self, z: &[f64]) -> f64 {
        match self.labels.is_empty() {
            true => 0.0,
            false => self.elimination.residual(&self.half_rows, &self.bias, z),
        }
    }

    /// `W ← W P` and `J ← W P C` for the contacts' `W = J C⁻¹` and the same rows of J, column by
    /// column: with them `J M⁻¹ Jᵀ = W Wᵀ` is the G of the closed mechanism.
    pub fn project(&mut self, weighted: &mut WeightedJacobian, jacobian: &mut [f64]) {
        let count = weighted.row_count();
        if self.rank() == 0 || count == 0 {
            return;
        }
        self.elimination.basis_rows_into(&self.rows, &mut self.basis_rows);
        let shares = &mut self.shares[..count];
        for k in 0..self.elimination.rank() {
            weighted.project(self.elimination.basis(k), shares);
            let on_acceleration = &self.basis_rows[k * self.dim..(k + 1) * self.dim];
            for (column, &factor) in jacobian.chunks_exact_mut(count).zip(on_acceleration) {
                add_scaled(-factor, shares, column);
            }
        }
    }
}
