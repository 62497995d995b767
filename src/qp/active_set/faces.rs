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

use super::span::Span;
use crate::cone::{ConeShape, Face};
use crate::contact_problem::ContactProblem;
use crate::kkt::nan_max;
use legwork_linalg::cancel::check;
use legwork_linalg::lanes::{LANES, Lanes, load, padded, store};
use legwork_linalg::ldlt;

/// Limit on the steps of the search; searches that succeed need far fewer.
const STEP_LIMIT: u32 = 10;
/// A pivot below this times the largest diagonal is numerically zero.
const LEAST_PIVOT: f64 = 4.0 * f64::EPSILON;
/// Natural residual relative to the largest term at which two faces are the same up to rounding:
/// a force on the border of a face may be projected to either side of it.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// A contact of the search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contact {
    /// Its number in the problem.
    pub(super) index: usize,
    /// μ', 0 if the normal force is the only unknown.
    pub(super) slope: f64,
    /// `ρ_i = 1 / g_i` [kg].
    step: f64,
    /// Its guessed face.
    pub(super) face: Face,
    /// Its columns of E, and the first of them.
    span: Span,
    first: usize,
}

/// Result of a successful search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// Linear systems solved.
    pub(super) steps: u32,
    /// Natural residual `max_i √g_i |Δf_i|∞` [√W]: with the longest step of the problem it is that
    /// of the judge.
    pub(super) residual: f64,
}

/// Memory of the search. Columns are padded with zeros to a multiple of [`LANES`].
#[derive(Clone, Debug, Default)]
pub(super) struct FaceSearch {
    /// Contacts that were taken in.
    pub(super) contacts: Vec<Contact>,
    /// Their unknowns, 3 each.
    n: usize,
    /// H over them.
    hessian: Vec<f64>,
    bias: Vec<f64>,
    /// Columns of E.
    r: usize,
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
    }

    /// Takes in these contacts of the problem, ascending. Numbers of G and b must be finite.
    pub(super) fn load(&mut self, problem: &ContactProblem<'_>, shift: f64, members: &[usize]) {
        self.contacts.clear();
        for &index in members {
            let slope = problem.cone.facet_friction(problem.friction[index]);
            let (face, span) = (Face::Apex, Span::Apex);
            self.contacts.push(Contact { index, slope, step: 0.0, face, span, first: 0 });
        }
        let full = problem.dim();
        self.n = 3 * self.contacts.len();
        let (n, stride) = (self.n, padded(self.n));
        if n == full && n == stride {
            // Without padding the columns are those of G.
            self.hessian[..n * n].copy_from_slice(problem.inverse_inertia);
            self.bias[..n].copy_from_slice(problem.bias);
        } else {
            // Contacts one behind the other, as those of a body, are copied at once.
            let first = members.first().copied().unwrap_or(0);
            let is_run = members.last().is_some_and(|last| last + 1 == first + members.len());
            for (k, column) in self.contacts.iter().enumerate() {
                for axis in 0..3 {
                    let source =
                        &problem.inverse_inertia[(3 * column.index + axis) * full..][..full];
                    let target = &mut self.hessian[(3 * k + axis) * stride..][..stride];
                    if is_run {
                        target[..n].copy_from_slice(&source[3 * first..3 * first + n]);
                    } else {
                        for (to, row) in target.chunks_exact_mut(3).zip(&self.contacts) {
                            to.copy_from_slice(&source[3 * row.index..3 * row.index + 3]);
                        }
                    }
                    target[n..].fill(0.0);
                    self.bias[3 * k + axis] = problem.bias[3 * column.index + axis];
                }
            }
            self.bias[n..stride].fill(0.0);
        }

        // R and the shift, and the steps that go with the diagonal.
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
    }

    /// Searches from the faces of `flags`, and from those of a guess if there are none or if they
    /// mislead the method; as [`Self::search`].
    pub(super) fn begin_and_search(
        &mut self,
        cone: &ConeShape,
        flags: Option<&[f64]>,
        limit: u32,
    ) -> Option<Found> {
        if let Some(flags) = flags {
            self.recall(flags, cone.sides());
            let found = self.search(cone, limit);
            if found.is_some() {
                return found;
            }
        }
        self.guess(cone);
        self.search(cone, limit)
    }

    /// Guesses the faces by one sweep of projected Gauss-Seidel from zero force.
    fn guess(&mut self, cone: &ConeShape) {
        // The usual size gets code of its own, with its loops unrolled.
        match padded(self.n) {
            12 => self.sweep(cone, 12),
            stride => self.sweep(cone, stride),
        }
    }

    #[inline(always)]
    fn sweep(&mut self, cone: &ConeShape, stride: usize) {
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
    fn recall(&mut self, flags: &[f64], sides: usize) {
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

    /// Writes the flags of the rows of its contacts that hold with equality on the faces found.
    pub(super) fn remember(&self, flags: &mut [f64], sides: usize) {
        for contact in &self.contacts {
            let flags = &mut flags[contact.index * (sides + 1)..(contact.index + 1) * (sides + 1)];
            flags.fill(0.0);
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
    fn search(&mut self, cone: &ConeShape, limit: u32) -> Option<Found> {
        // The usual size gets code of its own, with its loops unrolled.
        match padded(self.n) {
            12 => self.run(cone, limit, 12),
            stride => self.run(cone, limit, stride),
        }
    }

    #[inline(always)]
    fn run(&mut self, cone: &ConeShape, limit: u32, stride: usize) -> Option<Found> {
        for steps in 1..=limit.min(STEP_LIMIT) {
            check();
            self.r = 0;
            for contact in &mut self.contacts {
                (contact.span, contact.first) =
                    (Span::of(contact.face, contact.slope, cone), self.r);
                self.r += contact.span.count();
            }
            if !self.solve_on_faces(stride) {
                return None;
            }
            let (mut has_changed, mut worst, mut size) = (false, 0.0f64, 0.0f64);
            let mut power = 0.0f64;
            for (k, contact) in self.contacts.iter_mut().enumerate() {
                let at = 3 * k;
                let (f, a) = (triple(&self.forces, at), triple(&self.acceleration, at));
                let rho = contact.step;
                let point = [f[0] - rho * a[0], f[1] - rho * a[1], f[2] - rho * a[2]];
                let (face, p) = project(cone, contact, point);
                has_changed |= face != contact.face;
                contact.face = face;
                let mut error = 0.0f64;
                for axis in 0..3 {
                    error = nan_max(error, (f[axis] - p[axis]).abs());
                    size = size.max(f[axis].abs()).max(rho * self.bias[at + axis].abs());
                }
                worst = nan_max(worst, error);
                power = power.max(error * error / rho);
            }
            if worst.is_nan() {
                return None;
            }
            if !has_changed || worst <= ROUNDING * size {
                return Some(Found { steps, residual: power.sqrt() });
            }
        }
        None
    }

    /// Solves `EᵀHE y = -Eᵀb` and writes `f = E y` and `a = b + HE y`; false if it is numerically
    /// singular.
    #[inline(always)]
    fn solve_on_faces(&mut self, stride: usize) -> bool {
        // In the interior of all pyramids E is the identity, and H E is H.
        let is_inside = self.r == self.n;
        let outside = if is_inside { &[][..] } else { &self.contacts };
        for (k, contact) in outside.iter().enumerate() {
            let source = &self.hessian[3 * k * stride..(3 * k + 3) * stride];
            let count = contact.span.count();
            let image = &mut self.image[contact.first * stride..(contact.first + count) * stride];
            match &contact.span {
                Span::Apex => {}
                Span::Ray(axes) => combine(source, axes, image),
                Span::Plane([across, middle]) => {
                    let (first, second) = image.split_at_mut(stride);
                    combine(source, across, first);
                    combine(source, middle, second);
                }
                Span::Space => image.copy_from_slice(source),
            }
        }
        // As for the search itself, the usual sizes get code of their own.
        let is_regular = match (self.r, padded(self.r)) {
            (12, 12) => self.solve_reduced(stride, 12, 12),
            (r, 4) => self.solve_reduced(stride, r, 4),
            (r, 8) => self.solve_reduced(stride, r, 8),
            (r, 12) => self.solve_reduced(stride, r, 12),
            (r, leading) => self.solve_reduced(stride, r, leading),
        };
        if !is_regular {
            return false;
        }

        for (contact, force) in self.contacts.iter().zip(self.forces.chunks_exact_mut(3)) {
            force.copy_from_slice(&contact.span.sum(&self.y[contact.first..]));
        }
        let images = if is_inside { &self.hessian } else { &self.image };
        for start in (0..stride).step_by(LANES) {
            let mut sum = load(&self.bias[start..]);
            let images = images.chunks_exact(stride);
            for (image, &y) in images.zip(&self.y[..self.r]) {
                sum += load(&image[start..]) * Lanes::splat(y);
            }
            store(sum, &mut self.acceleration[start..]);
        }
        true
    }

    /// `y`, r of them, from `EᵀHE y = -Eᵀb` with `HE` known, in columns of `leading`; false if the
    /// system is numerically singular.
    #[inline(always)]
    fn solve_reduced(&mut self, stride: usize, r: usize, leading: usize) -> bool {
        if r == self.n {
            self.system[..r * leading].copy_from_slice(&self.hessian[..r * leading]);
            self.y[..r].iter_mut().zip(&self.bias).for_each(|(y, b)| *y = -b);
        }
        let outside = if r == self.n { &[][..] } else { &self.contacts };
        for (k, contact) in outside.iter().enumerate() {
            for column in contact.first..contact.first + contact.span.count() {
                let image = &self.image[column * stride..(column + 1) * stride];
                let target = &mut self.system[column * leading..column * leading + r];
                // Above the diagonal nothing matters.
                for (row, at) in outside[k..].iter().zip((3 * k..).step_by(3)) {
                    row.span.products(triple(image, at), &mut target[row.first..]);
                }
            }
            let [x, y, z] = triple(&self.bias, 3 * k);
            contact.span.products([-x, -y, -z], &mut self.y[contact.first..]);
        }
        let tolerance = LEAST_PIVOT * r as f64;
        let is_regular = ldlt::factor(&mut self.system, r, leading, &mut self.pivots, tolerance);
        if is_regular {
            ldlt::solve(&self.system, r, leading, &self.pivots, &mut self.y);
        }
        is_regular
    }

    /// Force of contact `k` of those that were taken in, in its cone up to rounding.
    ///
    /// A solution lies in the plane of its face. If G is so ill-conditioned that rounding moves it
    /// by more than its distance from the border, it may lie outside. It is then projected, and the
    /// residual of the search is not that of the force: the flag is true.
    #[inline]
    pub(super) fn force(&self, k: usize, cone: &ConeShape) -> ([f64; 3], bool) {
        let (contact, force) = (&self.contacts[k], triple(&self.forces, 3 * k));
        let [t1, t2, n] = force;
        let reach = contact.slope * n + ROUNDING * n.abs();
        let is_inside = match contact.face {
            Face::Apex => true,
            _ => n >= 0.0 && cone.facets().iter().all(|[c, s]| c * t1 + s * t2 <= reach),
        };
        if is_inside { (force, false) } else { (project(cone, contact, force).1, true) }
    }
}

/// `image ← A axes` for the three columns of A in `source`.
#[inline(always)]
fn combine(source: &[f64], axes: &[f64; 3], image: &mut [f64]) {
    let (c0, rest) = source.split_at(image.len());
    let (c1, c2) = rest.split_at(image.len());
    let [d0, d1, d2] = axes.map(Lanes::splat);
    for (((out, c0), c1), c2) in image
        .chunks_exact_mut(LANES)
        .zip(c0.chunks_exact(LANES))
        .zip(c1.chunks_exact(LANES))
        .zip(c2.chunks_exact(LANES))
    {
        store(load(c0) * d0 + load(c1) * d1 + load(c2) * d2, out);
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
