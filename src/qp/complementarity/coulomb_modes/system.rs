//! The linear equations of one tuple of modes.

use legwork_linalg::{CompletePivoting, max_abs};

/// A pivot smaller than this fraction of the largest counts as zero.
const NO_PIVOT: f64 = 1e-9;

/// Equations `Rᵀ (H E u + b) = 0` in the unknowns u, `f = E u`; columns of E and R belong to one
/// contact each.
///
/// Solved by elimination with complete pivoting: singular ones have a null space.
#[derive(Clone, Debug, Default)]
pub(super) struct System {
    unknowns: Vec<Column>,
    elimination: CompletePivoting,
    rank: usize,
    u: Vec<f64>,
    direction: Vec<f64>,
}

/// An unknown and the equation that goes with it.
#[derive(Clone, Copy, Debug)]
struct Column {
    contact: usize,
    /// A column of E, of length one over the contact's scale.
    force: [f64; 3],
    /// A column of R, likewise.
    row: [f64; 3],
}

impl System {
    pub(super) fn reset(&mut self) {
        self.unknowns.clear();
    }

    /// Adds an unknown along `force` and an equation along `row`, in the axes of a contact.
    pub(super) fn add(&mut self, contact: usize, scale: f64, force: [f64; 3], row: [f64; 3]) {
        let unit = |v: [f64; 3]| {
            let length = scale * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt();
            v.map(|x| x / length)
        };
        self.unknowns.push(Column { contact, force: unit(force), row: unit(row) });
    }

    /// Solves for the matrix H (3k × 3k, column-major) and b. Unknowns that the equations leave
    /// free are zero.
    pub(super) fn solve(&mut self, matrix: &[f64], bias: &[f64]) {
        let (n, size) = (bias.len(), self.unknowns.len());
        let (left, right) = self.elimination.system_mut(size).split_at_mut(size * size);
        for (column, unknown) in left.chunks_exact_mut(size.max(1)).zip(&self.unknowns) {
            for (value, equation) in column.iter_mut().zip(&self.unknowns) {
                *value = 0.0;
                for (b, f) in unknown.force.iter().enumerate() {
                    let column = &matrix[(3 * unknown.contact + b) * n + 3 * equation.contact..];
                    *value += f * equation.row.iter().zip(column).map(|(r, h)| r * h).sum::<f64>();
                }
            }
        }
        for (value, equation) in right.iter_mut().zip(&self.unknowns) {
            let b = &bias[3 * equation.contact..];
            *value = -equation.row.iter().zip(b).map(|(r, b)| r * b).sum::<f64>();
        }
        self.rank = self.elimination.eliminate(NO_PIVOT);
        self.u.clear();
        self.u.resize(size, 0.0);
        self.elimination.solution_into(&mut self.u);
    }

    /// How many directions the equations leave free.
    pub(super) fn nullity(&self) -> usize {
        self.unknowns.len() - self.rank
    }

    /// f of the solution.
    pub(super) fn forces(&self, forces: &mut [f64]) {
        self.spread(&self.u, forces);
    }

    /// f of a direction that the equations leave free, its largest entry of size one.
    pub(super) fn null_forces(&mut self, index: usize, forces: &mut [f64]) {
        let mut direction = std::mem::take(&mut self.direction);
        direction.resize(self.unknowns.len(), 0.0);
        self.elimination.null_direction_into(index, &mut direction);
        self.spread(&direction, forces);
        let largest = max_abs(forces);
        if largest > 0.0 {
            forces.iter_mut().for_each(|f| *f /= largest);
        }
        self.direction = direction;
    }

    fn spread(&self, u: &[f64], forces: &mut [f64]) {
        forces.fill(0.0);
        for (unknown, u) in self.unknowns.iter().zip(u) {
            for (f, e) in forces[3 * unknown.contact..].iter_mut().zip(unknown.force) {
                *f += u * e;
            }
        }
    }

    /// Left sides of the equations at accelerations a, in the units of a.
    pub(super) fn equations<'a>(
        &'a self,
        acceleration: &'a [f64],
    ) -> impl Iterator<Item = f64> + 'a {
        self.unknowns.iter().map(|unknown| {
            let a = &acceleration[3 * unknown.contact..];
            let length = unknown.row.iter().map(|r| r * r).sum::<f64>().sqrt();
            unknown.row.iter().zip(a).map(|(r, a)| r * a).sum::<f64>() / length
        })
    }
}
