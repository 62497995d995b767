//! A maximal independent set of constraint rows, and the motion that they allow.
//!
//! Contacts that do not slip give equations `S v = 0`, `T v = 0` beside those of the motors,
//! `P v = q̇`. Some follow from the others (four vertices of a rigid foot), and the block of
//! equations of the mixed complementarity problem is then singular. Leaving out the dependent rows
//! changes no solution (Zapolsky and Drumwright, appendix E).

use super::half_inverse_mass::HalfInverseMass;
use legwork_linalg::{OrthonormalBasis, dot};

/// A row nearer than this (relative) to the span of the rows before depends on them, unless another
/// bound is stated.
const DEPENDENCE: f64 = 1e-9;

/// Picks rows one by one, each unless it depends on those picked before; algorithm 1 of the paper
/// if the rows are listed P, S₁, T₁, S₂, T₂, ….
///
/// Dependence is measured as an angle in the metric of M⁻¹, so neither units of rows nor those of
/// coordinates matter; the paper's test, success of a Cholesky factorisation, has no tolerance.
/// The columns `C Xᵀ` (`M⁻¹ = CᵀC`) are kept orthonormal, so a row costs O(nv r) instead of a
/// factorisation.
#[derive(Clone, Debug)]
pub struct IndependentRows {
    basis: OrthonormalBasis,
    column: Vec<f64>,
    dependence: f64,
}

impl Default for IndependentRows {
    fn default() -> Self {
        Self { basis: OrthonormalBasis::default(), column: Vec::new(), dependence: DEPENDENCE }
    }
}

impl IndependentRows {
    /// Memory for `dim` velocities.
    #[must_use]
    pub fn new(dim: usize) -> Self {
        let mut rows = Self::default();
        rows.reset(dim);
        rows
    }

    /// Takes rows nearer than `dependence` (relative, above zero) to the span of the rows before as
    /// dependent on them; 1e-9 otherwise. A larger bound leaves out rows that hold only by large
    /// forces.
    #[must_use]
    pub fn with_dependence(mut self, dependence: f64) -> Self {
        self.dependence = dependence;
        self
    }

    /// Forgets all rows; allocates only if `dim` grows.
    pub fn reset(&mut self, dim: usize) {
        self.basis.reset(dim);
        self.column.resize(dim, 0.0);
    }

    /// Goes through the columns of `rows` (Xᵀ, nv × count, column-major) and sets `is_kept` of
    /// those independent of all rows kept since [`Self::reset`]; returns how many that are. O(count
    /// nv r), does not allocate.
    ///
    /// # Panics
    /// If the slices or the dimension of `mass` do not fit.
    pub fn find(
        &mut self,
        rows: &[f64],
        mass: &impl HalfInverseMass,
        is_kept: &mut [bool],
    ) -> usize {
        let dim = mass.dim();
        assert_eq!(
            (rows.len(), self.column.len()),
            (is_kept.len() * dim, dim),
            "rows need nv each"
        );
        let mut count = 0;
        for (row, kept) in rows.chunks_exact(dim.max(1)).zip(is_kept.iter_mut()) {
            self.column.copy_from_slice(row);
            mass.half_solve(&mut self.column);
            let length = dot(&self.column, &self.column).sqrt();
            let distance = self.basis.probe(&self.column);
            // Written so that NaN and zero rows are left out.
            *kept = distance > self.dependence * length && distance.is_finite();
            if *kept {
                self.basis.push(distance);
                count += 1;
            }
        }
        count
    }

    /// Moves the velocity `y = C⁻ᵀ v` by the least kinetic energy to one with the kept rows at
    /// `values`: `X v = values`, in the order in which they were kept. `values` is overwritten.
    /// O(nv r).
    ///
    /// # Panics
    /// If a slice has the wrong length.
    pub fn hold(&self, values: &mut [f64], y: &mut [f64]) {
        assert_eq!((values.len(), y.len()), (self.rank(), self.column.len()), "need r, nv");
        self.basis.solve_transposed(values);
        self.basis.project_out(y);
        self.basis.add_combination(values, y);
    }

    /// Multipliers of the kept rows that change the velocity `y = C⁻ᵀ v` as the part of `change` in
    /// their span does: `M⁻¹Xᵀ multipliers`. O(nv r).
    ///
    /// # Panics
    /// If a slice has the wrong length.
    pub fn multipliers(&self, change: &[f64], multipliers: &mut [f64]) {
        assert_eq!((multipliers.len(), change.len()), (self.rank(), self.column.len()), "r, nv");
        self.basis.products_of(change, multipliers);
        self.basis.solve_upper(multipliers);
    }

    /// Number of rows kept, the rank of X.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.basis.rank()
    }
}

/// The mass seen by forces while the kept rows hold: `C' = (I - Q Qᵀ) C`, with Q an orthonormal
/// basis of `C Xᵀ`, so that `C'ᵀC' = M⁻¹ - M⁻¹Xᵀ (X M⁻¹ Xᵀ)⁻¹ X M⁻¹`.
///
/// With it [`super::PrincipalPivoting::solve`] solves the problem without slip of paper C
/// (equations 42–45 reduced to the normals): its q is `N v + gap / time step` for the velocity v
/// that satisfies the equations without normal forces.
#[derive(Clone, Copy, Debug)]
pub struct ConstrainedMass<'a, M> {
    /// The free mass.
    pub mass: &'a M,
    /// The rows that hold.
    pub rows: &'a IndependentRows,
}

impl<M: HalfInverseMass> HalfInverseMass for ConstrainedMass<'_, M> {
    fn dim(&self) -> usize {
        self.mass.dim()
    }

    fn half_solve(&self, x: &mut [f64]) {
        self.mass.half_solve(x);
        self.project(x);
    }

    fn half_solve_all(&self, columns: &mut [f64]) {
        self.mass.half_solve_all(columns);
        columns.chunks_exact_mut(self.dim().max(1)).for_each(|column| self.project(column));
    }
}

impl<M> ConstrainedMass<'_, M> {
    /// `x ← (I - Q Qᵀ) x`.
    fn project(&self, x: &mut [f64]) {
        let before = dot(x, x);
        self.rows.basis.project_out(x);
        // A direction that the rows block entirely: what is left is rounding.
        let dependence = self.rows.dependence;
        if dot(x, x) <= dependence * dependence * before {
            x.fill(0.0);
        }
    }
}
