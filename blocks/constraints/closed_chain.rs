//! What the blocks that keep constraints share: the active rows of all constraints, eliminated in
//! the coordinates `z = C ν̇` of the factor on the wire.

use legwork_contact::HolonomicElimination;

use crate::buses::{CONSTRAINT_ROWS, Constraints};
use crate::dynamics::wire_factor::WireFactor;

/// The constraints of one mechanism at one state.
#[derive(Debug, Clone)]
pub(crate) struct ClosedChain {
    elimination: HolonomicElimination,
    nv: usize,
    /// Active rows of J_p, row by row.
    rows: Vec<f64>,
    /// `J_p C⁻¹`, row by row.
    half_rows: Vec<f64>,
    /// γ of the active rows.
    bias: Vec<f64>,
    /// Index of each active row among the six of each constraint.
    sources: Vec<usize>,
    /// `Q C` of the elimination, row by row.
    basis_rows: Vec<f64>,
    forces: Vec<f64>,
    product: Vec<f64>,
}

/// What constraints ask for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Keeps<'a> {
    /// `J ν̇ + γ = 0`.
    Acceleration,
    /// `J ν⁺ = 0` after an impact at the velocity ν⁻: the jump `Δν` has `J Δν + J ν⁻ = 0`.
    Velocity(&'a [f64]),
}

impl ClosedChain {
    /// Memory for `count` constraints of a robot with `nv` velocities, whose response
    /// `contact_rows` rows of contacts ask for.
    pub(crate) fn new(count: usize, nv: usize, contact_rows: usize) -> Self {
        let rows = CONSTRAINT_ROWS * count;
        Self {
            elimination: HolonomicElimination::new(rows, nv),
            nv,
            rows: Vec::with_capacity(rows * nv),
            half_rows: Vec::with_capacity(rows * nv),
            bias: Vec::with_capacity(rows),
            sources: Vec::with_capacity(rows),
            basis_rows: vec![0.0; rows * nv],
            forces: vec![0.0; rows],
            product: vec![0.0; if count > 0 { contact_rows } else { 0 }],
        }
    }

    /// Reads and eliminates the active rows. O(rows (nv depth + rank nv)).
    pub(crate) fn read(
        &mut self,
        constraints: Option<&Constraints<'_>>,
        factor: &WireFactor,
        keeps: Keeps<'_>,
    ) {
        for list in [&mut self.rows, &mut self.half_rows, &mut self.bias] {
            list.clear();
        }
        self.sources.clear();
        let Some(constraints) = constraints else { return };
        for (i, constraint) in constraints.iter().enumerate() {
            let six = constraint.active.iter().zip(constraint.gamma).enumerate();
            for (row, (_, gamma)) in six.filter(|(_, (active, _))| **active != 0.0) {
                let columns = constraint.jacobian.chunks_exact(CONSTRAINT_ROWS);
                self.rows.extend(columns.map(|column| column[row]));
                self.bias.push(*gamma);
                self.sources.push(CONSTRAINT_ROWS * i + row);
            }
        }
        self.half_rows.extend_from_slice(&self.rows);
        for row in self.half_rows.chunks_exact_mut(self.nv.max(1)) {
            factor.half_solve(row);
        }
        self.elimination.factor(&self.half_rows);
        if let Keeps::Velocity(nu) = keeps {
            for (bias, row) in self.bias.iter_mut().zip(self.rows.chunks_exact(self.nv.max(1))) {
                *bias = row.iter().zip(nu).map(|(j, v)| j * v).sum();
            }
        }
        self.elimination.set_bias(&self.bias);
    }

    /// Whether nothing is constrained.
    pub(crate) fn is_open(&self) -> bool {
        self.sources.is_empty()
    }

    /// Number of independent rows.
    pub(crate) fn rank(&self) -> usize {
        if self.is_open() { 0 } else { self.elimination.rank() }
    }

    /// `z ← P z − W_p⁺ γ`.
    pub(crate) fn constrain(&mut self, z: &mut [f64]) {
        if !self.is_open() {
            self.elimination.constrain(z);
        }
    }

    /// Forces of the last [`Self::constrain`], six for each constraint.
    pub(crate) fn write_forces(&mut self, out: &mut [f64]) {
        out.fill(0.0);
        if self.is_open() {
            return;
        }
        let forces = &mut self.forces[..self.sources.len()];
        self.elimination.forces_into(forces);
        for (&source, force) in self.sources.iter().zip(forces.iter()) {
            out[source] = *force;
        }
    }

    /// Largest `|J ν̇ + γ|` of the dependent rows.
    pub(crate) fn residual(&self, z: &[f64]) -> f64 {
        if self.is_open() { 0.0 } else { self.elimination.residual(&self.half_rows, &self.bias, z) }
    }

    /// `W ← W P` and `J ← W P C` for the contacts' `W = J C⁻¹`, both `row_count` × nv and column by
    /// column: with them `J M⁻¹ Jᵀ = W Wᵀ` is the G of the closed mechanism.
    pub(crate) fn project_rows(&mut self, row_count: usize, w: &mut [f64], jacobian: &mut [f64]) {
        if self.rank() == 0 || row_count == 0 {
            return;
        }
        self.elimination.basis_rows_into(&self.rows, &mut self.basis_rows);
        let product = &mut self.product[..row_count];
        for (k, on_acceleration) in self.basis_rows.chunks_exact(self.nv).enumerate() {
            if k == self.elimination.rank() {
                break;
            }
            let q = self.elimination.basis(k);
            product.fill(0.0);
            for (column, &q) in w.chunks_exact(row_count).zip(q) {
                if q != 0.0 {
                    product.iter_mut().zip(column).for_each(|(p, w)| *p += q * w);
                }
            }
            for (matrix, row) in [(&mut *w, q), (&mut *jacobian, on_acceleration)] {
                for (column, &factor) in matrix.chunks_exact_mut(row_count).zip(row) {
                    if factor != 0.0 {
                        column.iter_mut().zip(&*product).for_each(|(w, p)| *w -= factor * p);
                    }
                }
            }
        }
    }
}
