//! Memory for as many contacts as there may be.

use legwork_qp::complementarity::{CoulombModes, IndependentRows, PrincipalPivoting};
use legwork_qp::{GeneralActiveSet, Outcome, Status, StewartTrinkleSolver};

use super::{
    Choice, ContactInverseDynamics, ContactModel, ContactTask, ModelProblem, NEARLY_DEPENDENT,
};

/// The most contacts that room is made for: it grows as their square, and the made-up tasks take
/// their cube. More of them get their memory when they come.
const MOST_CONTACTS: usize = 50;

impl ContactInverseDynamics {
    /// Makes room for tasks of `free` coordinates without motor, `joints` with one, and up to
    /// `contacts` contacts, so that the first contacts of a run allocate nothing. Answers do not
    /// depend on it. [`Choice::LeastChange`] may still grow where solutions are many, and any choice
    /// with more than 50 contacts.
    ///
    /// The buffers are given their largest size. What solvers keep depends on their path, so they
    /// solve made-up tasks: M is the identity, J without zeros, then J of the joints alone, where
    /// the null space of stage I is all forces.
    #[must_use]
    pub fn with_room(mut self, free: usize, joints: usize, contacts: usize) -> Self {
        if contacts > MOST_CONTACTS {
            return self;
        }
        let (rows, nv) = (3 * contacts, free + joints);
        let longest = rows.max(nv);
        let work = &mut self.work;
        for matrix in [&mut work.matrix, &mut work.normals, &mut work.hessian, &mut work.rows] {
            matrix.reserve(longest * longest);
        }
        for vector in [
            &mut work.vector,
            &mut work.image,
            &mut work.values,
            &mut work.forces,
            &mut work.friction,
            &mut work.lower,
            &mut work.upper,
        ] {
            vector.reserve(longest);
        }
        work.kept.reserve(rows);
        work.holds.reserve(contacts);
        work.candidates.reserve(rows);
        self.rows = IndependentRows::new(free).with_dependence(NEARLY_DEPENDENT);
        self.normal.set(free, &identity(free));
        self.active_set = GeneralActiveSet::new(longest, rows);
        match self.model {
            ContactModel::NoSlipLcp => self.pivoting = PrincipalPivoting::new(contacts, free),
            ContactModel::CoulombLcp => {
                self.coulomb = StewartTrinkleSolver::new(contacts, self.cone.sides());
                if self.choice == Choice::LeastChange {
                    let few = contacts.min(CoulombModes::MOST_CONTACTS);
                    self.rehearse(free, joints, few, 0);
                }
            }
            _ => {}
        }
        self.rehearse(free, joints, contacts, 0);
        self.rehearse(free, joints, contacts, free);
        self
    }

    /// Solves a task in which the first `still` coordinates move no contact, by its own solver and
    /// as it does for another.
    fn rehearse(&mut self, free: usize, joints: usize, contacts: usize, still: usize) {
        let (nv, rows) = (free + joints, 3 * contacts);
        let is_motor: Vec<f64> = (0..nv).map(|i| f64::from(u8::from(i >= free))).collect();
        let entry = |i: usize| if i < still * rows { 0.0 } else { libm::cos((i * i) as f64) };
        let jacobian: Vec<f64> = (0..nv * rows).map(entry).collect();
        let task = ContactTask {
            mass_matrix: &identity(nv),
            bias_force: &vec![1.0; nv],
            velocity: &vec![0.0; nv],
            joints: &is_motor,
            acceleration: &vec![1.0; joints],
            jacobian: &jacobian,
            gaps: &vec![0.0; contacts],
            friction: &vec![1.0; contacts],
            time_step: 1.0,
        };
        let (mut memory, mut torque) = (vec![0.0; contacts], vec![0.0; joints]);
        let (mut forces, mut after) = (vec![0.0; rows], vec![0.0; nv]);
        let mut none = |_: &ModelProblem<'_>, x: &mut [f64]| {
            x.fill(0.0);
            Outcome { status: Status::Solved, iterations: 0, residual: 0.0 }
        };
        // Only their memory is wanted.
        let _ = self.solve_by(&mut none, &task, &mut memory, &mut torque, &mut forces, &mut after);
        let _ = self.solve(&task, &mut memory, &mut torque, &mut forces, &mut after);
    }
}

fn identity(n: usize) -> Vec<f64> {
    let mut matrix = vec![0.0; n * n];
    matrix.iter_mut().step_by(n + 1).for_each(|diagonal| *diagonal = 1.0);
    matrix
}
