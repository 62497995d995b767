//! Inverse dynamics that predicts contact forces.
//!
//! A controller gives desired joint accelerations to a robot that touches things; the joint torques
//! that cause them depend on contact forces, and those on the torques. Both are found together, one
//! time step Δt ahead, from `P v⁺ = q̇ + Δt q̈` at the joints (the rows of P) and
//!
//! ```text
//! M (v⁺ − v) = Δt (Pᵀτ − h + Jᵀ f)
//! ```
//!
//! with a model of contact that relates f to the velocities `J v⁺` of the contacts after the step.
//!
//! # Reduction to the unactuated coordinates
//!
//! The joints' velocities after the step are known, so the unknowns are those of the coordinates
//! without motor: six of a floating base, six of every body that the robot holds. With index u for
//! them and a for the joints,
//!
//! ```text
//! M_uu v_u⁺ = r + Δt J_uᵀ f      r = (M v)_u − Δt h_u − M_ua v_a⁺
//! J v⁺      = J_u v_u⁺ + J_a v_a⁺
//! ```
//!
//! so every contact model has a single rigid body of mass M_uu, however many joints there are, and
//! the problem has rank 6 per body, however many contacts. The paper's matrix X (eqs. 63 and 75) is
//! never formed. τ follows from the rows of the joints.
//!
//! # Models
//!
//! | model | paper | contact |
//! |---|---|---|
//! | [`ContactModel::NoSlipLcp`] | ID(t)LCP,∞, sec. 4 | `0 ≤ f_n ⟂ N v⁺ + φ/Δt ≥ 0`, no slip under load |
//! | [`ContactModel::CoulombLcp`] | ID(t)LCP,μ, sec. 5 | the same with Coulomb's law on a pyramid |
//! | [`ContactModel::CoulombQp`] | ID(t)QP,μ, sec. 6 | least kinetic energy, then least torque |
//! | [`ContactModel::NoSlipQp`] | ID(t)QP,∞ | the same, unlimited friction under load |
//! | [`ContactModel::Sensed`] | ID(t−1), ID(t−2) | forces are given |
//!
//! Each model poses one kind of problem ([`ModelProblem`]), for which it has a solver of its own;
//! [`ContactInverseDynamics::solve_by`] takes another.
//!
//! # References
//! S. Zapolsky, E. Drumwright, *Inverse dynamics with rigid contact and friction*, Auton. Robots 41
//! (2017). Its τ of a step is a force here and not an impulse, and it acts with `+Pᵀ` everywhere
//! (eqs. 37 and 58 have `−Pᵀτ`, eq. 8 has `+Pᵀτ`).

mod complementary;
mod consistency;
mod convex;
mod memory;
mod no_slip;
mod null_space;
mod reduction;
mod yielding;

use legwork_qp::StewartTrinkleSolver;
use legwork_qp::complementarity::{CoulombModes, DenseMass, IndependentRows, PrincipalPivoting};
use legwork_qp::{
    ConeLeastSquaresSolver, ConeShape, ContactProblem, GeneralActiveSet, Lcp, Outcome, Qp, QpData,
    Status,
};

use null_space::NullSpace;
use reduction::Reduction;

/// How many problems a model of least kinetic energy solves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema))]
pub enum Stages {
    /// Least kinetic energy after the step; among equal ones the least contact force.
    One,
    /// Then, among forces that move the robot equally, those of least joint torque (eqs. 102–112).
    /// That the motion stays enters as rows of large weight, so nearly redundant contacts share a
    /// load too, and forces vary smoothly.
    #[default]
    Two,
    /// The same in the null space of stage I: forces change only in directions that move nothing,
    /// so the energy of stage I stays to rounding (eqs. 105–112).
    TwoInNullSpace,
}

/// How contact forces come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub enum ContactModel {
    /// Normal complementarity, and no slip at contacts that press.
    NoSlipLcp,
    /// Normal complementarity and Coulomb's law (D. Stewart, J. Trinkle; M. Anitescu, F. Potra).
    CoulombLcp,
    /// Drumwright and Shell's model: of all forces in the pyramids those after which kinetic energy
    /// is least.
    CoulombQp {
        /// `One`: least energy. `Two`, `TwoInNullSpace`: then least torque.
        #[cfg_attr(feature = "serde", serde(default))]
        stages: Stages,
    },
    /// The same with unlimited friction at contacts that press; with `Energy::Relative` at all.
    NoSlipQp {
        /// `One`: least energy. `Two`, `TwoInNullSpace`: then least torque.
        #[cfg_attr(feature = "serde", serde(default))]
        stages: Stages,
    },
    /// The forces passed in, unchanged.
    Sensed,
}

/// The kinetic energy that the models of least kinetic energy minimise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema))]
pub enum Energy {
    /// That of all motion, `½ v⁺ᵀ M v⁺` (eq. 69).
    ///
    /// It uses contacts as brakes: the joints' motion is given, so what remains to be dissipated is
    /// the motion of whatever they carry, the trunk over its feet or a box in a hand. As far as
    /// friction allows, the predicted forces stop it.
    #[default]
    Absolute,
    /// That relative to the motion v_c at which contacts would stick:
    /// `½ (v_u⁺ − v_c)ᵀ M_uu (v_u⁺ − v_c)` of the coordinates without motor, with v_c from least
    /// `|J_u v_c + J_a v_a⁺|²`. Penetrating contacts move out at −φ/Δt.
    ///
    /// Its slope along a force is the velocity of the contact, `J v⁺`, wherever the joints let all
    /// contacts stick; so dissipation in the contacts is greatest, which is the principle of the
    /// contact model. Where they do not, contacts share the contradiction.
    Relative,
}

/// Which solution `CoulombLcp` takes where Coulomb's law has several (sec. 5.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema))]
pub enum Choice {
    /// The one at which Lemke's method ends. It may jump from step to step.
    #[default]
    Lemke,
    /// Of all of them the one whose torques differ least from those of the last step, in the sense
    /// of least squares (algorithm 3, `MINDIFF`), by `CoulombModes`: about 10 modes per contact of
    /// a pyramid with four sides. With more than three contacts it is Lemke's.
    LeastChange,
}

impl Default for ContactModel {
    fn default() -> Self {
        Self::CoulombQp { stages: Stages::Two }
    }
}

impl ContactModel {
    /// Whether forces depend on the coefficients of friction.
    #[must_use]
    pub fn has_friction_limit(self) -> bool {
        matches!(self, Self::CoulombLcp | Self::CoulombQp { .. })
    }
}

/// The robot, its contacts and the desired motion of its joints: a borrowed view. nv velocities, n
/// of them of joints, k contacts.
///
/// | symbol | field | shape | unit |
/// |---|---|---|---|
/// | M | `mass_matrix` | nv × nv, column-major | kg, kg m, kg m² |
/// | h | `bias_force` | nv | N, N m |
/// | v | `velocity` | nv | m/s, rad/s |
/// | P | `joints` | nv | nonzero at coordinates with a motor |
/// | q̈ | `acceleration` | n | rad/s², m/s² |
/// | J | `jacobian` | 3k × nv, column-major | contact axes (t1, t2, n) |
/// | φ | `gaps` | k | m |
/// | μ | `friction` | k | 1 |
/// | Δt | `time_step` | | s |
#[derive(Clone, Copy, Debug)]
pub struct ContactTask<'a> {
    /// M.
    pub mass_matrix: &'a [f64],
    /// h.
    pub bias_force: &'a [f64],
    /// v; its length is the number of velocities nv.
    pub velocity: &'a [f64],
    /// Nonzero where a motor acts.
    pub joints: &'a [f64],
    /// Desired q̈; its length is the number of joints n.
    pub acceleration: &'a [f64],
    /// J.
    pub jacobian: &'a [f64],
    /// φ, negative inside the ground; its length is the number of contacts k.
    pub gaps: &'a [f64],
    /// μ.
    pub friction: &'a [f64],
    /// Δt, > 0.
    pub time_step: f64,
}

/// Result of a task.
#[must_use = "a model that failed predicts no force"]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// How the contact problem ended. If the status is not usable, forces are zero and torques are
    /// those of a robot in the air, `τ = P (M(v⁺ − v)/Δt + h)`; with [`Status::InvalidData`]
    /// torques are zero too, and v⁺ is v.
    pub outcome: Outcome,
    /// Largest speed at which a contact would penetrate the ground, or a pressing contact would
    /// slip under a model without slip, if the joints moved as desired: `max(0, −(N v⁺ + φ/Δt))` of
    /// all contacts, `|S v⁺|`, `|T v⁺|` of contacts that press [m/s]. If it exceeds the solver's
    /// residual, the accelerations are inconsistent with the contacts (sec. 4.5).
    pub inconsistency: f64,
    /// Number of solutions that [`Choice::LeastChange`] has found, as counted by
    /// [`CoulombModes::nearest`]; 0 where it did not choose.
    pub solutions: u32,
    /// Compliance R with which contacts yielded, of all rows of all contacts: their velocities
    /// after the step are then `J v⁺ + R f Δt` in the contact law [1/kg]. It is 0 where they did
    /// not yield, which is the normal case: only [`ContactModel::NoSlipLcp`] and
    /// [`ContactModel::CoulombLcp`] yield, and only if contacts contradict each other.
    pub compliance: f64,
}

/// The problem that a model poses, for another solver than its own. Unknowns of the k contacts of a
/// task, in their order; nu coordinates without motor.
#[derive(Clone, Copy, Debug)]
pub enum ModelProblem<'a> {
    /// Of [`ContactModel::CoulombLcp`]: forces [N] of the contact problem under the solver's law.
    Contact {
        /// The problem; its diagonal is regularised by [`ContactProblem::diagonal_shift`].
        problem: ContactProblem<'a>,
        /// W, nu × 3k, column-major, with `G = WᵀW` [√(1/kg)].
        root: &'a [f64],
    },
    /// Of [`ContactModel::NoSlipLcp`]: normal forces [N], k unknowns. Its matrix is symmetric and
    /// positive semidefinite. Where it has no solution, tangential rows are released one by one.
    Complementarity(Lcp<'a>),
    /// Of the models of least energy: forces over a unit, 3k unknowns, as
    /// [`write_qp`](legwork_qp::ConeLeastSquares::write_qp) makes them: a row for each side of each
    /// pyramid, then at most k rows of normals.
    Quadratic(Qp<'a>),
}

/// A solver in the place of a model's own: writes the unknowns and says how it ended.
pub type ModelSolver<'a> = dyn FnMut(&ModelProblem<'_>, &mut [f64]) -> Outcome + 'a;

/// A tangential row of [`ContactModel::NoSlipLcp`] nearer than this (an angle) to the span of those
/// before is left out. Feet that are not quite in one plane cause such rows, and to hold one takes
/// the force of the motion divided by its angle: that of a wedge so flat. The force of a single
/// such row is at most ten times what moves the body. For several, each this near to the span of
/// those before, the factors multiply, and their forces are bounded by the yielding of contacts
/// that contradict each other.
const NEARLY_DEPENDENT: f64 = 0.1;

/// How often contacts without slip may be added again; after that they are only released.
const FREE_CHANGES: u32 = 4;

/// Solver of [`ContactTask`]s by one [`ContactModel`].
///
/// Made once; memory grows on the first task of a size and is kept, or is made at once by
/// [`Self::with_room`]. Only `memory` of [`Self::solve`] carries information from one step to the next.
#[doc(alias("computed torque", "whole-body control", "WBC"))]
pub struct ContactInverseDynamics {
    model: ContactModel,
    energy: Energy,
    choice: Choice,
    cone: ConeShape,
    reduction: Reduction,
    rows: IndependentRows,
    pivoting: PrincipalPivoting,
    coulomb: StewartTrinkleSolver,
    modes: CoulombModes,
    /// Of the present task.
    solutions: u32,
    /// Of the present task.
    compliance: f64,
    least_squares: ConeLeastSquaresSolver,
    active_set: GeneralActiveSet,
    /// Factor of the normal equations of tangential rows.
    normal: DenseMass,
    work: Work,
}

/// Buffers of the models.
#[derive(Debug, Default)]
struct Work {
    matrix: Vec<f64>,
    vector: Vec<f64>,
    image: Vec<f64>,
    normals: Vec<f64>,
    values: Vec<f64>,
    kept: Vec<bool>,
    holds: Vec<bool>,
    candidates: Vec<usize>,
    forces: Vec<f64>,
    friction: Vec<f64>,
    hessian: Vec<f64>,
    rows: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// For solvers of dense programs.
    program: QpData,
    /// The second stage in the null space of the first.
    within: NullSpace,
}

impl Work {
    /// The contacts held at first: those that pressed before; all, if none did.
    fn hold_where_pressed(&mut self, pressing: &[f64]) {
        let is_cold = pressing.iter().all(|&flag| flag == 0.0);
        self.holds.clear();
        self.holds.extend(pressing.iter().map(|&flag| is_cold || flag != 0.0));
    }

    /// Releases contacts whose normal force is not above `least`, and adds the others, after
    /// `changes` such changes; returns whether any changed. It ends, because after a limit contacts
    /// are only released.
    fn changes_hold(&mut self, forces: &[f64], least: f64, changes: u32) -> bool {
        let mut is_changed = false;
        for (holds, force) in self.holds.iter_mut().zip(forces.chunks_exact(3)) {
            let wanted = force[2] > least && (*holds || changes < FREE_CHANGES);
            is_changed |= wanted != *holds;
            *holds = wanted;
        }
        is_changed
    }
}

impl ContactInverseDynamics {
    /// A solver with the pyramid `cone`.
    #[must_use]
    pub fn new(model: ContactModel, cone: ConeShape) -> Self {
        Self {
            model,
            energy: Energy::default(),
            choice: Choice::default(),
            cone,
            reduction: Reduction::default(),
            rows: IndependentRows::default().with_dependence(NEARLY_DEPENDENT),
            pivoting: PrincipalPivoting::default(),
            coulomb: StewartTrinkleSolver::default(),
            modes: CoulombModes::default(),
            solutions: 0,
            compliance: 0.0,
            least_squares: ConeLeastSquaresSolver::default(),
            active_set: GeneralActiveSet::default(),
            normal: DenseMass::default(),
            work: Work::default(),
        }
    }

    /// The same solver with another energy; models of complementarity have none.
    #[must_use]
    pub fn with_energy(self, energy: Energy) -> Self {
        Self { energy, ..self }
    }

    /// The same solver with another choice among solutions of [`ContactModel::CoulombLcp`].
    #[must_use]
    pub fn with_choice(self, choice: Choice) -> Self {
        Self { choice, ..self }
    }

    /// Predicts contact forces and computes the torques.
    ///
    /// | symbol | argument | shape | meaning |
    /// |---|---|---|---|
    /// | | `memory` | k | contacts that press: in the last step, in this one |
    /// | τ | `torque` | n | of the last step, then of this one [N m, N] |
    /// | f | `forces` | 3k | written, or read by [`ContactModel::Sensed`] [N] |
    /// | v⁺ | `after` | nv | written: velocity after the step, if the prediction is right |
    ///
    /// `torque` on entry is read by [`Choice::LeastChange`] only. `memory` is read by
    /// [`ContactModel::NoSlipLcp`] and [`ContactModel::NoSlipQp`]: contacts that pressed have
    /// friction first. The former thus keeps one distribution of a redundant load; zeros are a cold
    /// start.
    ///
    /// If the status is not usable, `forces` and `memory` are zero, and `torque` is as in
    /// [`Prediction::outcome`].
    ///
    /// # Panics
    /// If a slice has the wrong length.
    pub fn solve(
        &mut self,
        task: &ContactTask<'_>,
        memory: &mut [f64],
        torque: &mut [f64],
        forces: &mut [f64],
        after: &mut [f64],
    ) -> Prediction {
        self.predict(task, memory, torque, forces, after, &mut None)
    }

    /// [`Self::solve`] with a solver of the model's problem in the place of its own. It is called
    /// once or more in a task: again where contacts are released or yield, and for the second of
    /// two stages. [`ContactModel::Sensed`] calls none; contacts without slip yield by a solver of
    /// their own, and so do [`Choice::LeastChange`] and [`Stages::TwoInNullSpace`] choose.
    ///
    /// # Panics
    /// If a slice has the wrong length.
    pub fn solve_by(
        &mut self,
        solver: &mut ModelSolver<'_>,
        task: &ContactTask<'_>,
        memory: &mut [f64],
        torque: &mut [f64],
        forces: &mut [f64],
        after: &mut [f64],
    ) -> Prediction {
        self.predict(task, memory, torque, forces, after, &mut Some(solver))
    }

    fn predict(
        &mut self,
        task: &ContactTask<'_>,
        memory: &mut [f64],
        torque: &mut [f64],
        forces: &mut [f64],
        after: &mut [f64],
        other: &mut Option<&mut ModelSolver<'_>>,
    ) -> Prediction {
        let (k, nv) = (task.gaps.len(), task.velocity.len());
        task.check();
        let found = [memory.len(), torque.len(), forces.len(), after.len()];
        assert_eq!(found, [k, task.acceleration.len(), 3 * k, nv], "expected k, n, 3k, nv");
        (self.solutions, self.compliance) = (0, 0.0);
        let are_forces_finite =
            self.model != ContactModel::Sensed || forces.iter().all(|f| f.is_finite());
        // Torques of the last step; if they are not finite, they are ignored.
        let is_last_finite =
            self.choice == Choice::Lemke || torque.iter().all(|torque| torque.is_finite());
        let is_sound = are_forces_finite && is_last_finite;
        let outcome = if is_sound && self.reduction.set(task) {
            self.forces(task, memory, torque, forces, other)
        } else {
            Outcome { status: Status::InvalidData, iterations: 0, residual: f64::NAN }
        };
        if !outcome.status.is_usable() {
            forces.fill(0.0);
            memory.fill(0.0);
        }
        if outcome.status == Status::InvalidData {
            torque.fill(0.0);
            after.copy_from_slice(task.velocity);
            return Prediction { outcome, inconsistency: 0.0, solutions: 0, compliance: 0.0 };
        }
        self.reduction.finish(task, forces, torque, after);
        let slips = matches!(self.model, ContactModel::CoulombLcp | ContactModel::CoulombQp { .. });
        let inconsistency = match self.model {
            ContactModel::Sensed => 0.0,
            _ => task.inconsistency(after, forces, !slips),
        };
        let (solutions, compliance) = (self.solutions, self.compliance);
        Prediction { outcome, inconsistency, solutions, compliance }
    }

    fn forces(
        &mut self,
        task: &ContactTask<'_>,
        memory: &mut [f64],
        last_torque: &[f64],
        forces: &mut [f64],
        other: &mut Option<&mut ModelSolver<'_>>,
    ) -> Outcome {
        let solved = Outcome { status: Status::Solved, iterations: 0, residual: 0.0 };
        match self.model {
            ContactModel::Sensed => solved,
            // Forces between bodies that have motors for every motion do not change the motion;
            // zero is as good as any.
            _ if task.gaps.is_empty() || self.reduction.unactuated() == 0 => {
                forces.fill(0.0);
                memory.fill(0.0);
                solved
            }
            ContactModel::NoSlipLcp => self.no_slip_or_yield(task, memory, forces, other),
            ContactModel::CoulombLcp => self.coulomb(task, memory, last_torque, forces, other),
            ContactModel::CoulombQp { stages } | ContactModel::NoSlipQp { stages } => {
                self.convex(task, stages, memory, forces, other)
            }
        }
    }
}

impl ContactTask<'_> {
    fn check(&self) {
        let (nv, k) = (self.velocity.len(), self.gaps.len());
        let joints = self.joints.iter().filter(|&&joint| joint != 0.0).count();
        let found = [
            self.mass_matrix.len(),
            self.bias_force.len(),
            self.joints.len(),
            self.acceleration.len(),
            self.jacobian.len(),
            self.friction.len(),
        ];
        let expected = [nv * nv, nv, nv, joints, 3 * k * nv, k];
        assert_eq!(
            found, expected,
            "expected M, h, P, accelerations, J, friction of these lengths"
        );
    }

    /// Velocity `J v` of each contact, one component.
    fn contact_velocity(&self, row: usize, velocity: &[f64]) -> f64 {
        let rows = 3 * self.gaps.len();
        self.jacobian.chunks_exact(rows.max(1)).zip(velocity).map(|(j, v)| j[row] * v).sum()
    }

    fn inconsistency(&self, after: &[f64], forces: &[f64], no_slip: bool) -> f64 {
        let mut worst = 0.0f64;
        for (i, gap) in self.gaps.iter().enumerate() {
            let normal = self.contact_velocity(3 * i + 2, after);
            worst = worst.max(-(normal + gap / self.time_step));
            if no_slip && forces[3 * i + 2] > 0.0 {
                for row in [3 * i, 3 * i + 1] {
                    worst = worst.max(self.contact_velocity(row, after).abs());
                }
            }
        }
        worst
    }
}
