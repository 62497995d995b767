//! A search over the faces of friction pyramids: the fast path of the pyramid solver.
//!
//! On a guessed face of every contact's pyramid the problem has no inequality left. With `f = E y`,
//! E holding a basis of the faces (3 columns for the interior, 2 on a facet, 1 on an edge, none at
//! the apex), it is the linear system
//!
//! `EᵀHE y = -Eᵀb`, `H = G + R + εI`,
//!
//! which is small: 12 unknowns with 7 active rows leave 5. The next guess is the face that holds
//! the projection `P_K(f_i - ρ_i a_i)` of each contact, with `a = H f + b` and `ρ_i` one over the
//! largest diagonal entry of the contact. This is Newton's method on the natural map
//! `f - P_K(f - ρ a)`, which is linear on each face. If no face changes, the map vanishes and f is
//! the solution: no multipliers are needed to verify it.
//!
//! Newton's method ends after two to four steps where contacts couple weakly and may cycle
//! otherwise, so the number of steps is bounded, and unsolved problems go to the dual method, which
//! never cycles.
//!
//! # References
//! M. Hintermüller, K. Ito, K. Kunisch, *The primal-dual active set strategy as a semismooth Newton
//! method*, SIAM J. Optim. 13 (2002), algorithm of section 2, for bounds. Here: faces of cones.

use crate::cone::{ConeShape, Face};
use crate::contact_problem::ContactProblem;
use legwork_linalg::lanes::{LANES, Lanes, load, padded, store};
use legwork_linalg::ldlt;

/// Limit on the steps of the search; searches that succeed need far fewer.
const STEP_LIMIT: u32 = 10;
/// A pivot below this times the largest diagonal is numerically zero.
const LEAST_PIVOT: f64 = 4.0 * f64::EPSILON;
/// Natural residual relative to the largest term at which two faces are the same up to rounding:
/// a force on the border of a face may be projected to either side of it.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// A contact that acts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contact {
    /// Its number in the problem.
    pub(super) index: usize,
    /// μ', 0 if the normal force is the only unknown.
    pub(super) slope: f64,
    /// `ρ_i` [kg].
    step: f64,
    /// Its guessed face.
    pub(super) face: Face,
}

/// One column of E.
#[derive(Clone, Copy, Debug)]
struct Direction {
    /// First unknown of its contact.
    start: usize,
    axes: [f64; 3],
}

/// Result of a successful search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// Linear systems solved.
    pub(super) steps: u32,
    /// Natural residual, an absolute force [N].
    pub(super) residual: f64,
}

/// Memory of the search. Columns are padded with zeros to a multiple of [`LANES`].
#[derive(Clone, Debug, Default)]
pub(super) struct FaceSearch {
    /// Contacts that act.
    pub(super) contacts: Vec<Contact>,
    /// Unknowns of the contacts that act, 3 each.
    n: usize,
    /// H over them.
    hessian: Vec<f64>,
    bias: Vec<f64>,
    directions: Vec<Direction>,
    /// `H E`.
    image: Vec<f64>,
    /// `EᵀHE` and its factor.
    system: Vec<f64>,
    /// One over the pivots of the factor.
    pivots: Vec<f64>,
    y: Vec<f64>,
    forces: Vec<f64>,
    acceleration: Vec<f64>,
}

impl FaceSearch {
    /// Makes room for `contact_count` contacts; allocates only if that is more than before.
    pub(super) fn reserve(&mut self, contact_count: usize) {
        let n = 3 * contact_count;
        let stride = padded(n);
        for matrix in [&mut self.hessian, &mut self.image, &mut self.system] {
            if matrix.len() < n * stride {
                matrix.resize(n * stride, 0.0);
            }
        }
        for vector in [
            &mut self.bias,
            &mut self.y,
            &mut self.pivots,
            &mut self.forces,
            &mut self.acceleration,
        ] {
            if vector.len() < stride {
                vector.resize(stride, 0.0);
            }
        }
        self.contacts.clear();
        self.contacts.reserve(contact_count);
        self.directions.clear();
        self.directions.reserve(n);
    }

    /// Takes the problem in; false if a number of G or b is not finite.
    pub(super) fn load(&mut self, problem: &ContactProblem<'_>, shift: f64) -> bool {
        self.contacts.clear();
        for index in (0..problem.contact_count()).filter(|&c| problem.is_active(c)) {
            let slope = problem.cone.facet_friction(problem.friction[index]);
            self.contacts.push(Contact { index, slope, step: 0.0, face: Face::Apex });
        }
        let full = problem.dim();
        self.n = 3 * self.contacts.len();
        let (n, stride) = (self.n, padded(self.n));
        let mut finite = Lanes::ZERO;
        if n == full {
            let zero = Lanes::ZERO;
            let targets = self.hessian.chunks_exact_mut(stride.max(1));
            for (source, target) in problem.inverse_inertia.chunks_exact(n.max(1)).zip(targets) {
                let chunks = source.chunks_exact(LANES);
                let tail = chunks.remainder();
                let mut to = target.chunks_exact_mut(LANES);
                for (from, to) in chunks.zip(&mut to) {
                    let value = load(from);
                    finite += value * zero;
                    store(value, to);
                }
                if !tail.is_empty() {
                    let last = &mut target[stride - LANES..];
                    last.fill(0.0);
                    last[..tail.len()].copy_from_slice(tail);
                    finite += load(last) * zero;
                }
            }
            self.bias[..n].copy_from_slice(problem.bias);
        } else {
            for (k, column) in self.contacts.iter().enumerate() {
                for axis in 0..3 {
                    let source =
                        &problem.inverse_inertia[(3 * column.index + axis) * full..][..full];
                    let target = &mut self.hessian[(3 * k + axis) * stride..][..stride];
                    for (to, row) in target.chunks_exact_mut(3).zip(&self.contacts) {
                        to.copy_from_slice(&source[3 * row.index..3 * row.index + 3]);
                    }
                    target[n..].fill(0.0);
                    self.bias[3 * k + axis] = problem.bias[3 * column.index + axis];
                }
            }
            if !legwork_linalg::all_finite(problem.inverse_inertia) {
                return false;
            }
        }
        self.bias[n..stride].fill(0.0);
        for (k, contact) in self.contacts.iter_mut().enumerate() {
            let mut largest = 0.0f64;
            for axis in 0..3 {
                let at = 3 * k + axis;
                let diagonal = &mut self.hessian[at * stride + at];
                *diagonal += problem.compliance_of(3 * contact.index + axis) + shift;
                largest = largest.max(*diagonal);
            }
            contact.step = if largest > 0.0 { 1.0 / largest } else { 1.0 };
        }
        let [a, b, c, d] = finite.to_array();
        (a + b) + (c + d) == 0.0 && legwork_linalg::all_finite(problem.bias)
    }

    /// Guesses the faces by one sweep of projected Gauss-Seidel from zero force.
    pub(super) fn guess(&mut self, cone: &ConeShape) {
        let stride = padded(self.n);
        self.acceleration[..stride].copy_from_slice(&self.bias[..stride]);
        for k in 0..self.contacts.len() {
            let at = 3 * k;
            let a = triple(&self.acceleration, at);
            let contact = &mut self.contacts[k];
            let rho = contact.step;
            let (face, f) = project(cone, contact, a.map(|a| -rho * a));
            contact.face = face;
            if face != Face::Apex {
                let columns = &self.hessian[at * stride..(at + 3) * stride];
                let (c0, rest) = columns.split_at(stride);
                let (c1, c2) = rest.split_at(stride);
                let f = f.map(Lanes::splat);
                let blocks = c0.chunks_exact(LANES).zip(c1.chunks_exact(LANES));
                let blocks = blocks.zip(c2.chunks_exact(LANES));
                for (a, ((c0, c1), c2)) in
                    self.acceleration[..stride].chunks_exact_mut(LANES).zip(blocks)
                {
                    let sum = load(c0) * f[0] + load(c1) * f[1] + load(c2) * f[2];
                    store(load(a) + sum, a);
                }
            }
        }
    }

    /// Guesses the faces from flags of the rows that hold with equality: per contact one for each
    /// facet and one for `f_n ≥ 0`.
    pub(super) fn recall(&mut self, flags: &[f64], sides: usize) {
        for contact in &mut self.contacts {
            let (facets, normal) = flags
                [contact.index * (sides + 1)..(contact.index + 1) * (sides + 1)]
                .split_at(sides);
            let (mut count, mut first, mut last) = (0, 0, 0);
            for (facet, flag) in facets.iter().enumerate() {
                if *flag != 0.0 {
                    (first, last) = if count == 0 { (facet, facet) } else { (first, facet) };
                    count += 1;
                }
            }
            contact.face = match count {
                _ if normal[0] != 0.0 => Face::Apex,
                _ if contact.slope == 0.0 => Face::Interior,
                0 => Face::Interior,
                1 => Face::Facet(first),
                2 if last == first + 1 => Face::Edge(first),
                2 if first == 0 && last == sides - 1 => Face::Edge(last),
                // Facets that are not neighbours meet at the apex only.
                _ => Face::Apex,
            };
        }
    }

    /// Writes the flags of the rows that hold with equality on the faces found.
    pub(super) fn remember(&self, flags: &mut [f64], sides: usize) {
        flags.fill(0.0);
        for contact in &self.contacts {
            let flags = &mut flags[contact.index * (sides + 1)..(contact.index + 1) * (sides + 1)];
            match contact.face {
                Face::Apex if contact.slope > 0.0 => flags.fill(1.0),
                Face::Apex => flags[sides] = 1.0,
                Face::Edge(edge) => {
                    flags[edge] = 1.0;
                    flags[(edge + 1) % sides] = 1.0;
                }
                Face::Facet(facet) => flags[facet] = 1.0,
                Face::Interior => {}
            }
        }
    }

    /// Searches from the guessed faces. `None` if it does not converge in `limit` steps or meets a
    /// numerically singular system; the faces are then the last guess.
    pub(super) fn search(&mut self, cone: &ConeShape, limit: u32) -> Option<Found> {
        // The usual size gets code of its own, with its loops unrolled.
        match padded(self.n) {
            12 => self.run(cone, limit, 12),
            stride => self.run(cone, limit, stride),
        }
    }

    #[inline(always)]
    fn run(&mut self, cone: &ConeShape, limit: u32, stride: usize) -> Option<Found> {
        for steps in 1..=limit.min(STEP_LIMIT) {
            self.list_directions(cone);
            if !self.solve_on_faces(stride) {
                return None;
            }
            let (mut has_changed, mut worst, mut size) = (false, 0.0f64, 0.0f64);
            for (k, contact) in self.contacts.iter_mut().enumerate() {
                let at = 3 * k;
                let (f, a) = (triple(&self.forces, at), triple(&self.acceleration, at));
                let rho = contact.step;
                let point = [f[0] - rho * a[0], f[1] - rho * a[1], f[2] - rho * a[2]];
                let (face, p) = project(cone, contact, point);
                has_changed |= face != contact.face;
                contact.face = face;
                for axis in 0..3 {
                    let miss = (f[axis] - p[axis]).abs();
                    // Written so that NaN stays.
                    worst = if miss <= worst { worst } else { miss };
                    size = size.max(f[axis].abs()).max(rho * self.bias[at + axis].abs());
                }
            }
            if worst.is_nan() {
                return None;
            }
            if !has_changed || worst <= ROUNDING * size {
                return Some(Found { steps, residual: worst });
            }
        }
        None
    }

    /// E of the guessed faces.
    #[inline(always)]
    fn list_directions(&mut self, cone: &ConeShape) {
        self.directions.clear();
        for (k, contact) in self.contacts.iter().enumerate() {
            let (start, slope) = (3 * k, contact.slope);
            let mut push = |axes| self.directions.push(Direction { start, axes });
            match contact.face {
                Face::Apex => {}
                Face::Edge(edge) => push(cone.edge(slope, edge)),
                Face::Facet(facet) => {
                    let [c, s] = cone.facets()[facet];
                    push([-s, c, 0.0]);
                    push([slope * c, slope * s, 1.0]);
                }
                Face::Interior => {
                    if slope > 0.0 {
                        push([1.0, 0.0, 0.0]);
                        push([0.0, 1.0, 0.0]);
                    }
                    push([0.0, 0.0, 1.0]);
                }
            }
        }
    }

    /// Solves `EᵀHE y = -Eᵀb` and writes `f = E y` and `a = b + HE y`; false if it is numerically
    /// singular.
    #[inline(always)]
    fn solve_on_faces(&mut self, stride: usize) -> bool {
        let r = self.directions.len();
        let columns = stride.max(1);
        for (direction, image) in self.directions.iter().zip(self.image.chunks_exact_mut(columns)) {
            let source = &self.hessian[direction.start * stride..(direction.start + 3) * stride];
            let (c0, rest) = source.split_at(stride);
            let (c1, c2) = rest.split_at(stride);
            let [d0, d1, d2] = direction.axes.map(Lanes::splat);
            for (((out, c0), c1), c2) in image
                .chunks_exact_mut(LANES)
                .zip(c0.chunks_exact(LANES))
                .zip(c1.chunks_exact(LANES))
                .zip(c2.chunks_exact(LANES))
            {
                store(load(c0) * d0 + load(c1) * d1 + load(c2) * d2, out);
            }
        }
        let leading = padded(r);
        for column in 0..r {
            let image = &self.image[column * stride..(column + 1) * stride];
            let target = &mut self.system[column * leading..column * leading + r];
            for (value, direction) in target[column..].iter_mut().zip(&self.directions[column..]) {
                let [x, y, z] = triple(image, direction.start);
                let [a, b, c] = direction.axes;
                *value = a * x + b * y + c * z;
            }
            let direction = &self.directions[column];
            let [x, y, z] = triple(&self.bias, direction.start);
            let [a, b, c] = direction.axes;
            self.y[column] = -(a * x + b * y + c * z);
        }
        let tolerance = LEAST_PIVOT * r as f64;
        if !ldlt::factor(&mut self.system, r, leading, &mut self.pivots, tolerance) {
            return false;
        }
        ldlt::solve(&self.system, r, leading, &self.pivots, &mut self.y);

        self.acceleration[..stride].copy_from_slice(&self.bias[..stride]);
        self.forces[..stride].fill(0.0);
        let images = self.image.chunks_exact(columns);
        for ((direction, &y), image) in self.directions.iter().zip(&self.y).zip(images) {
            for (force, axis) in
                self.forces[direction.start..direction.start + 3].iter_mut().zip(direction.axes)
            {
                *force += y * axis;
            }
            let y = Lanes::splat(y);
            for (a, image) in
                self.acceleration[..stride].chunks_exact_mut(LANES).zip(image.chunks_exact(LANES))
            {
                store(load(a) + load(image) * y, a);
            }
        }
        true
    }

    /// Force of contact `k` of those that act.
    #[inline]
    pub(super) fn force(&self, k: usize) -> [f64; 3] {
        triple(&self.forces, 3 * k)
    }
}

/// Nearest point of a contact's cone, and its face.
#[inline]
fn project(cone: &ConeShape, contact: &Contact, point: [f64; 3]) -> (Face, [f64; 3]) {
    if contact.slope > 0.0 {
        cone.nearest(contact.slope, point)
    } else if point[2] <= 0.0 {
        (Face::Apex, [0.0; 3])
    } else {
        (Face::Interior, [0.0, 0.0, point[2]])
    }
}

#[inline]
fn triple(x: &[f64], at: usize) -> [f64; 3] {
    let x = &x[at..at + 3];
    [x[0], x[1], x[2]]
}
