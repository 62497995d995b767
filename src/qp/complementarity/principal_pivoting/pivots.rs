//! The pivots of the symmetric principal pivoting method, on columns of unit length.

use super::{PrincipalPivoting, SOLVED, SOLVED_SLACK};
use crate::complementarity::lcp::nan_max;
use crate::status::Status;
use legwork_linalg::cancel::check;
use legwork_linalg::lanes::{axpy, padded};
use legwork_linalg::{dot, matrix_vector, max_abs};

/// Slacks above minus this times the size of their terms count as non-negative.
const FEASIBILITY: f64 = 1e-12;
/// A ray that gains less than this share of its terms is rounding, not a proof.
const CONTRADICTION: f64 = 1e-9;

/// How raising one z ended.
enum Drive {
    /// The contact came to rest.
    Rest,
    /// A violation that is only rounding.
    Rounding,
    /// Nothing stops it: the certificate is written.
    Ray,
    /// Too many pivots, or the factor is numerically meaningless.
    Failed,
}

impl PrincipalPivoting {
    /// Distance of column i from the span of the active ones.
    pub(super) fn probe(&mut self, i: usize) -> f64 {
        let column = &self.columns[i * self.stride..(i + 1) * self.stride];
        let distance = self.basis.probe(column);
        // Of as many columns as there are velocities, what is left is rounding.
        if self.active.len() == self.dim { 0.0 } else { distance }
    }

    /// Adds the column that was probed last, with its z.
    pub(super) fn push(&mut self, i: usize, distance: f64, z: f64) {
        self.basis.push(distance);
        self.active.push(i);
        self.z.push(z);
        self.is_active[i] = true;
    }

    fn remove(&mut self, position: usize) {
        self.basis.remove(position);
        self.is_active[self.active[position]] = false;
        self.active.remove(position);
        self.z.remove(position);
    }

    /// The method; returns the status and the scaled residual.
    pub(super) fn run(&mut self, limit: u32, pivots: &mut u32) -> (Status, f64) {
        if !self.settle(0, pivots) {
            return (Status::NumericalTrouble, f64::NAN);
        }
        // Whether z comes from the factor itself, refined, and not from the steps since.
        let mut is_fresh = false;
        loop {
            check();
            self.slacks();
            let Some(i) = self.worst() else {
                if is_fresh {
                    let (residual, error) = self.residual();
                    let is_solved = residual <= SOLVED && error <= SOLVED_SLACK;
                    let status = if is_solved { Status::Solved } else { Status::NumericalTrouble };
                    return (status, residual);
                }
                // Candidate answer: remove the rounding and look again.
                if !self.settle(2, pivots) {
                    return (Status::NumericalTrouble, f64::NAN);
                }
                is_fresh = true;
                continue;
            };
            is_fresh = false;
            match self.drive(i, limit, pivots) {
                // z has moved: a rounding error before may be a violation now.
                Drive::Rest => self.is_tolerated[..self.count].fill(false),
                Drive::Rounding => {
                    self.is_tolerated[i] = true;
                    if !self.settle(0, pivots) {
                        return (Status::NumericalTrouble, f64::NAN);
                    }
                }
                Drive::Ray => return (Status::PrimalInfeasible, f64::NAN),
                Drive::Failed => return (Status::NumericalTrouble, f64::NAN),
            }
        }
    }

    /// z of the active columns from `RᵀR z = -q`, and `B_P z`; those not positive are released.
    /// False if the factor lost its meaning.
    fn settle(&mut self, refinements: u32, pivots: &mut u32) -> bool {
        loop {
            check();
            for (z, &i) in self.z.iter_mut().zip(&self.active) {
                *z = -self.q[i];
            }
            self.basis.solve_transposed(&mut self.z);
            self.basis.solve_upper(&mut self.z);
            for _ in 0..refinements {
                self.refine();
            }
            let (mut least, mut position) = (0.0, None);
            for (k, &z) in self.z.iter().enumerate() {
                if !z.is_finite() {
                    return false;
                }
                if z < least || (z == 0.0 && position.is_none()) {
                    (least, position) = (z, Some(k));
                }
            }
            let Some(position) = position else {
                self.sum_active();
                return true;
            };
            self.remove(position);
            *pivots += 1;
        }
    }

    /// One step of iterative refinement on `B_PᵀB_P z = -q_P`.
    fn refine(&mut self) {
        self.sum_active();
        let (r, d) = (self.active.len(), self.stride);
        for (value, &i) in self.correction[..r].iter_mut().zip(&self.active) {
            *value = -(self.q[i] + dot(&self.columns[i * d..][..d], &self.sum[..d]));
        }
        self.basis.solve_transposed(&mut self.correction[..r]);
        self.basis.solve_upper(&mut self.correction[..r]);
        for (z, c) in self.z.iter_mut().zip(&self.correction) {
            *z += c;
        }
    }

    /// `sum = B_P z`.
    fn sum_active(&mut self) {
        let d = self.stride;
        self.sum[..d].fill(0.0);
        for (&i, &z) in self.active.iter().zip(&self.z) {
            axpy(z, &self.columns[i * d..][..d], &mut self.sum[..d]);
        }
    }

    /// `w = Bᵀ B_P z + q` of all contacts.
    fn slacks(&mut self) {
        let (n, d, width) = (self.count, self.dim, padded(self.count));
        matrix_vector(&self.transposed[..d * width], width, &self.sum[..d], &mut self.w);
        self.w[..n].iter_mut().zip(&self.q).for_each(|(w, q)| *w += q);
        self.has_sizes = false;
    }

    /// Size of the terms that w of a contact is the sum of.
    fn term_size(&mut self, i: usize) -> f64 {
        if self.norms[i] == 0.0 {
            return 1.0;
        }
        let d = self.stride;
        if !self.has_sizes {
            self.has_sizes = true;
            self.sum_size[..d].fill(0.0);
            for (&i, &z) in self.active.iter().zip(&self.z) {
                for (size, b) in self.sum_size[..d].iter_mut().zip(&self.columns[i * d..][..d]) {
                    *size += b.abs() * z;
                }
            }
        }
        let products = self.column(i).iter().zip(&self.sum_size).map(|(b, s)| b.abs() * s);
        self.q[i].abs() + products.sum::<f64>()
    }

    /// The contact with the most negative w, if any is beyond rounding; the first of equals.
    fn worst(&mut self) -> Option<usize> {
        // Columns have unit length and q is at most one: a bound on all sizes of terms.
        let most = 1.0 + self.z.iter().sum::<f64>();
        let (mut least, mut found) = (0.0, None);
        for i in 0..self.count {
            let w = self.w[i];
            let is_worse = w < least && !self.is_active[i] && !self.is_tolerated[i];
            if is_worse && (w < -FEASIBILITY * most || w < -FEASIBILITY * self.term_size(i)) {
                (least, found) = (w, Some(i));
            }
        }
        found
    }

    /// Largest `|w|` of an active and `-w` of another contact, over the size of its terms, and in
    /// units of q.
    fn residual(&mut self) -> (f64, f64) {
        let (mut worst, mut error) = (0.0, 0.0);
        for i in 0..self.count {
            let w = self.w[i];
            let miss = if self.is_active[i] { w.abs() } else { nan_max(0.0, -w) };
            if miss > 0.0 || miss.is_nan() {
                worst = nan_max(worst, miss / self.term_size(i));
                error = nan_max(error, miss);
            }
        }
        (worst, error)
    }

    /// Raises z of contact `i` until its w vanishes.
    fn drive(&mut self, i: usize, limit: u32, pivots: &mut u32) -> Drive {
        let (mut slack, mut driven) = (self.w[i], 0.0);
        loop {
            check();
            // With z of i by one, z of the others moves by p and B z by the rest of column i.
            let distance = self.probe(i);
            let r = self.active.len();
            for (p, product) in self.direction[..r].iter_mut().zip(self.basis.products()) {
                *p = -product;
            }
            self.basis.solve_upper(&mut self.direction[..r]);

            let curvature = if distance > 1e-14 { distance * distance } else { 0.0 };
            let full = if curvature > 0.0 { -slack / curvature } else { f64::INFINITY };
            let (mut step, mut blocking) = (f64::INFINITY, None);
            for (k, (&z, &p)) in self.z.iter().zip(&self.direction).enumerate() {
                if p < 0.0 && z < -p * step {
                    (step, blocking) = (z / -p, Some(k));
                }
            }
            if *pivots >= limit {
                return Drive::Failed;
            }
            match blocking {
                Some(k) if step <= full => {
                    self.advance(step);
                    driven += step;
                    slack += step * curvature;
                    self.remove(k);
                    *pivots += 1;
                    if slack >= 0.0 {
                        // Rounding of the last step; the contact rests where it is.
                        return if self.settle(0, pivots) { Drive::Rest } else { Drive::Failed };
                    }
                }
                _ => {
                    if blocking.is_none() && distance <= self.dependence {
                        match self.ray(i, distance) {
                            Some(true) => return Drive::Ray,
                            Some(false) => return Drive::Rounding,
                            None => {}
                        }
                    }
                    if curvature == 0.0 || !full.is_finite() {
                        return Drive::Failed;
                    }
                    self.advance(full);
                    self.push(i, distance, driven + full);
                    *pivots += 1;
                    // Rounding may have carried one to zero or beyond.
                    let is_sound = self.z.iter().all(|z| *z > 0.0 && z.is_finite());
                    let is_settled = is_sound || self.settle(0, pivots);
                    return if is_settled { Drive::Rest } else { Drive::Failed };
                }
            }
            debug_assert!(driven >= 0.0);
        }
    }

    /// Moves z and `B_P z` along the direction of the column that was probed last.
    fn advance(&mut self, step: f64) {
        for (z, p) in self.z.iter_mut().zip(&self.direction) {
            *z += step * p;
        }
        if self.active.len() < self.dim {
            axpy(step, self.basis.rest(), &mut self.sum[..self.stride]);
        }
    }

    /// Judges the ray `y = (direction, 1)` along which z of `i` can rise: true if it is a proof
    /// (and the certificate is written), false if its gain is rounding, `None` if it changes w.
    fn ray(&mut self, i: usize, distance: f64) -> Option<bool> {
        let (mut gain, mut size, mut length) = (self.q[i], self.q[i].abs(), 1.0);
        for (&j, &p) in self.active.iter().zip(&self.direction) {
            let p = p.max(0.0);
            gain += self.q[j] * p;
            size += (self.q[j] * p).abs();
            length += p;
        }
        if -gain <= CONTRADICTION * size {
            return Some(false);
        }
        if distance > CONTRADICTION.max(self.dependence) * length {
            return None;
        }
        self.certificate[..self.count].fill(0.0);
        for (&j, &p) in self.active.iter().zip(&self.direction) {
            self.certificate[j] = p.max(0.0) / self.norms[j];
        }
        // In the units of the rows; a row of zeros alone is its own certificate.
        self.certificate[i] = if self.norms[i] > 0.0 { 1.0 / self.norms[i] } else { 1.0 };
        let largest = max_abs(&self.certificate[..self.count]);
        for value in &mut self.certificate[..self.count] {
            *value /= largest;
        }
        self.has_certificate = true;
        Some(true)
    }
}
