//! Coulomb's law on a pyramid as a complementarity problem, after Stewart and Trinkle.
//!
//! Unlike the convex problem of [`ContactProblem`], a sliding contact keeps `a_n = 0`. Per contact
//! the unknowns are the normal force f_n, the weights β of the m edge directions d_j of the
//! pyramid, and the slip λ:
//!
//! ```text
//! 0 ≤ f_n ⟂ a_n                ≥ 0
//! 0 ≤ β_j ⟂ d_jᵀ a_t + λ       ≥ 0
//! 0 ≤ λ   ⟂ μ f_n - Σ β        ≥ 0
//! ```
//!
//! The matrix is copositive but not symmetric, and [`Lemke`] finds a solution whenever contacts
//! without friction could be held. This is LCP,μ of paper C (equations 52 to 67; its equation 64
//! has the blocks `-Eᵀ` and `μ` of the last row exchanged, equation 68 has them right).
//!
//! # References
//! D. Stewart, J. Trinkle, *An implicit time-stepping scheme for rigid body dynamics with inelastic
//! collisions and Coulomb friction*, Int. J. Numer. Methods Eng. 39 (1996). M. Anitescu, F. Potra,
//! *Formulating dynamic multi-rigid-body contact problems with friction as solvable linear
//! complementarity problems*, Nonlinear Dyn. 14 (1997).

use super::lcp::Lcp;
use super::lemke::Lemke;
use crate::circular::SlidingLaw;
use crate::contact_problem::ContactProblem;
use crate::kkt;
use crate::method::{Cones, ContactMethod, Given, Method};
use crate::status::{Outcome, Status};

/// Writes the problem's matrix and vector for k contacts and m sides: `k (m + 2)` pairs, per
/// contact (f_n, β, λ). Pairs of inactive contacts, and β and λ of contacts without friction, read
/// `w = z`.
///
/// # Panics
/// If the cone is circular or a slice has the wrong length.
pub fn stewart_trinkle_into(problem: &ContactProblem<'_>, matrix: &mut [f64], vector: &mut [f64]) {
    let sides = problem.cone.sides();
    assert!(sides > 0, "the complementarity view needs a pyramid, found the circular cone");
    let (n, block) = (problem.dim(), sides + 2);
    let size = problem.contact_count() * block;
    assert_eq!((matrix.len(), vector.len()), (size * size, size), "need k (m + 2) pairs");
    matrix.fill(0.0);
    vector.fill(0.0);
    let shift = problem.diagonal_shift();
    for column in 0..size {
        let (cj, kind_j) = (column / block, column % block);
        if !is_present(problem, cj, kind_j) {
            matrix[column * size + column] = 1.0;
            continue;
        }
        if kind_j == sides + 1 {
            for edge in 0..sides {
                matrix[column * size + cj * block + 1 + edge] = 1.0;
            }
            continue;
        }
        let dj = direction(problem, kind_j);
        for row in 0..size {
            let (ci, kind_i) = (row / block, row % block);
            if kind_i == sides + 1 || !is_present(problem, ci, kind_i) {
                continue;
            }
            let di = direction(problem, kind_i);
            let mut sum = 0.0;
            for (b, &dj) in dj.iter().enumerate() {
                for (a, &di) in di.iter().enumerate() {
                    let (i, j) = (3 * ci + a, 3 * cj + b);
                    let diagonal = if i == j { problem.compliance_of(i) + shift } else { 0.0 };
                    sum += di * (problem.inverse_inertia[j * n + i] + diagonal) * dj;
                }
            }
            matrix[column * size + row] = sum;
        }
        let slip = cj * block + sides + 1;
        if is_present(problem, cj, sides + 1) {
            matrix[column * size + slip] =
                if kind_j == 0 { reach(problem, problem.friction[cj]) } else { -1.0 };
        }
        vector[column] = (0..3).map(|b| dj[b] * problem.bias[3 * cj + b]).sum();
    }
}

/// True if pair `kind` of a contact is part of the problem.
fn is_present(problem: &ContactProblem<'_>, contact: usize, kind: usize) -> bool {
    problem.is_active(contact) && (kind == 0 || problem.friction[contact] > 0.0)
}

/// Largest friction per normal force along an edge.
fn reach(problem: &ContactProblem<'_>, friction: f64) -> f64 {
    let [c, s, _] = problem.cone.generator(friction, 0);
    (c * c + s * s).sqrt()
}

/// Direction of pair `kind` of a contact: the normal, or an edge of the pyramid.
fn direction(problem: &ContactProblem<'_>, kind: usize) -> [f64; 3] {
    if kind == 0 {
        return [0.0, 0.0, 1.0];
    }
    let [c, s, _] = problem.cone.generator(1.0, kind - 1);
    let length = reach(problem, 1.0);
    [c / length, s / length, 0.0]
}

/// Natural residual of Coulomb's law up to which an answer is called solved; as for the other
/// methods, rounding at the condition of redundant contacts.
const ACCEPTED: f64 = 1e-6;

/// Its entry among the methods.
pub(crate) static METHOD: Method = Method {
    kind: "StewartTrinkle",
    name: "stewart_trinkle",
    title: "Coulomb's law by Lemke's method.",
    doc: "\
Solves Coulomb friction on pyramids as one linear complementarity problem. Sliding contacts
stay on the ground. The method is Lemke's.

Per contact the normal force f_n, the weights β of the m edges d of its pyramid, and the
slip λ: `0 ≤ f_n ⟂ a_n ≥ 0`, `0 ≤ β_j ⟂ d_jᵀa_t + λ ≥ 0`, `0 ≤ λ ⟂ μ f_n − Σβ ≥ 0`. The
other solver blocks solve the convex law, in which a contact that slides at v lifts by μ v,
and so do those of `Fallback`; `CoulombContact` finds the same law as this block by a fixed
point around them, with circular cones too, and starts warm. This one always starts cold,
has `k (m + 2)` unknowns, and for forces that are not unique takes what the pivots come to.
The residual is that of Coulomb's law.

References: D. Stewart, J. Trinkle, *An implicit time-stepping scheme for rigid body
dynamics with inelastic collisions and Coulomb friction* (1996); M. Anitescu, F. Potra,
*Formulating dynamic multi-rigid-body contact problems with friction as solvable linear
complementarity problems* (1997).",
    aliases: &["LCP", "time stepping"],
    example: "StewartTrinkle(on_fail: HoldLast(max: 5))",
    choice: None,
    iterations: "pivots",
    cones: Cones::Pyramids,
    law: SlidingLaw::Coulomb,
    settings: &[],
    tightest: &[],
    // The laws of all methods are those of the convex law.
    accuracy: None,
    allocates: false,
    // The matrix over edges, normals and speeds, and those of Lemke's method.
    memory: |size| {
        let [n, s, _] = size.counts();
        4 * (s + n) * (s + n) + n * n
    },
    make: |size, _| Box::new(StewartTrinkleSolver::new(size.contact_count, size.sides)),
};

/// Coulomb's law on a pyramid by [`Lemke`]; see the module docs.
///
/// Accepts pyramids of any number of sides, frictionless, redundant, compliant and inactive
/// contacts.
#[doc(alias("Coulomb friction LCP", "Anitescu-Potra"))]
#[derive(Clone, Debug, Default)]
pub struct StewartTrinkleSolver {
    lemke: Lemke,
    matrix: Vec<f64>,
    vector: Vec<f64>,
    z: Vec<f64>,
    acceleration: Vec<f64>,
    present: Present,
}

/// A problem of the active contacts alone.
#[derive(Clone, Debug, Default)]
struct Present {
    contacts: Vec<usize>,
    inverse_inertia: Vec<f64>,
    bias: Vec<f64>,
    friction: Vec<f64>,
    compliance: Vec<f64>,
}

impl Present {
    fn reserve(&mut self, contact_count: usize) {
        let n = 3 * contact_count;
        self.contacts.reserve(contact_count);
        self.inverse_inertia.reserve(n * n);
        for numbers in [&mut self.bias, &mut self.friction, &mut self.compliance] {
            numbers.reserve(n);
        }
    }

    /// The rows of contacts that act.
    fn gather<'a>(&'a mut self, problem: &ContactProblem<'a>) -> ContactProblem<'a> {
        self.contacts.clear();
        self.contacts.extend((0..problem.contact_count()).filter(|&c| problem.is_active(c)));
        let (n, contacts) = (problem.dim(), &self.contacts);
        let rows = || contacts.iter().flat_map(|&c| 3 * c..3 * c + 3);
        self.inverse_inertia.clear();
        for j in rows() {
            let column = &problem.inverse_inertia[j * n..(j + 1) * n];
            self.inverse_inertia.extend(rows().map(|i| column[i]));
        }
        self.bias.clear();
        self.bias.extend(rows().map(|i| problem.bias[i]));
        self.friction.clear();
        self.friction.extend(contacts.iter().map(|&c| problem.friction[c]));
        self.compliance.clear();
        if !problem.compliance.is_empty() {
            self.compliance.extend(rows().map(|i| problem.compliance[i]));
        }
        ContactProblem {
            inverse_inertia: &self.inverse_inertia,
            bias: &self.bias,
            friction: &self.friction,
            compliance: &self.compliance,
            active: &[],
            ..*problem
        }
    }
}

impl StewartTrinkleSolver {
    /// A solver with memory for `contact_count` contacts and pyramids of `sides`.
    #[must_use]
    pub fn new(contact_count: usize, sides: usize) -> Self {
        let mut solver = Self::default();
        solver.reserve(contact_count, sides);
        solver.lemke = Lemke::new(contact_count * (sides + 2));
        solver
    }

    fn reserve(&mut self, contact_count: usize, sides: usize) {
        let size = contact_count * (sides + 2);
        self.matrix.reserve(size * size);
        self.vector.reserve(size);
        self.z.reserve(size);
        self.acceleration.resize(3 * contact_count, 0.0);
        self.present.reserve(contact_count);
    }
}

impl ContactMethod for StewartTrinkleSolver {
    /// The residual is that of [`kkt::coulomb_residual`]. The cost depends on the active contacts
    /// only.
    fn solve_warm(&mut self, given: &Given<'_>, _: &mut [f64], forces: &mut [f64]) -> Outcome {
        let problem = &given.problem;
        assert_eq!(forces.len(), problem.dim(), "forces need 3k values");
        forces.fill(0.0);
        if let Some(status) = problem.refuse() {
            return Outcome::refused(status);
        }
        let sides = problem.cone.sides();
        if sides == 0 {
            return Outcome::refused(Status::UnsupportedCone);
        }
        self.acceleration.resize(problem.dim(), 0.0);
        let present = self.present.gather(problem);
        let size = present.contact_count() * (sides + 2);
        self.matrix.resize(size * size, 0.0);
        self.vector.resize(size, 0.0);
        self.z.resize(size, 0.0);
        stewart_trinkle_into(&present, &mut self.matrix, &mut self.vector);
        self.lemke.budget = given.budget;
        let outcome = self.lemke.solve(&Lcp::made(&self.matrix, &self.vector), &mut self.z);
        for (contact, z) in self.z.chunks_exact(sides + 2).enumerate() {
            let first = 3 * self.present.contacts[contact];
            let force = &mut forces[first..first + 3];
            for (kind, &weight) in z[..=sides].iter().enumerate() {
                if kind > 0 && problem.friction[first / 3] <= 0.0 {
                    continue;
                }
                for (f, d) in force.iter_mut().zip(direction(problem, kind)) {
                    *f += weight * d;
                }
            }
        }
        let residual = kkt::coulomb_residual(problem, forces, &mut self.acceleration);
        let status = match outcome.status {
            // The judge decides: a last iterate may satisfy the law.
            Status::InvalidData | Status::PrimalInfeasible => outcome.status,
            _ if residual <= ACCEPTED => Status::Solved,
            Status::Solved | Status::Inaccurate => Status::NumericalTrouble,
            other => other,
        };
        Outcome { status, iterations: outcome.iterations, residual }
    }
}
