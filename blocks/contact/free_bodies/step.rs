//! One step, by each method.

use legwork_block::{Argument, Fault, Function, Functions, Outcome, ResultOf, Time, Vector};
use legwork_contact::free_bodies::{
    CompliantStep, Contact, Contacts, DOF, FreeMotion, FreeProblem, Motion, RigidContacts, Scene,
    push_constraints,
};
use legwork_contact::soft_constraints::{
    BodyIndex, ConstraintProblem, ConstraintSolution, FrictionLaw, SoftConstraintSolver,
    SolverOptions, contact_problem,
};
use legwork_qp::{ConeShape, ContactProblemData, Problem};
use nalgebra::Vector3;

use super::methods::MOST_CONTACTS;
use super::{ContactMethod, FreeBodies, FreeBodiesState};
use crate::ConstraintMethod;
use crate::buses::ContactProblemBus;
use crate::constraints::constraint_solver::OnStepFail;
use crate::contact::friction_cone::is_inscribed;
use crate::contact::gauss_contact::SCALE_GRAVITY;
use crate::solvers::problem_dump::Dump;
use crate::solvers::state::{Policy, Solve, SolverMemo};

/// B of friction times Δt [kg] (Drumwright, sec. 6.4).
const FRICTION_MASS: f64 = 1e6;

/// The function that solves rigid contacts.
pub(super) struct Call {
    pub(super) solve: Function,
    pub(super) problem: Argument<ContactProblemBus>,
    pub(super) forces: ResultOf<Vector>,
    /// Its number of contacts.
    pub(super) capacity: usize,
    pub(super) cone: ConeShape,
}

/// Work memory of a `FreeBodies`.
pub struct Scratch {
    pub(super) contacts: Contacts,
    pub(super) free: FreeMotion,
    method: Method,
    memo: SolverMemo,
    /// Velocities at the beginning of the step, 6n.
    pub(super) before: Vec<f64>,
    /// Contact impulse on each body, 6n.
    impulse: Vec<f64>,
    /// Forces of the contacts, contact axes.
    forces: Vec<f64>,
}

/// Memory of the method.
enum Method {
    Constraints(Box<Constraints>),
    Rigid(Box<RigidContacts>),
    Compliant(Box<CompliantStep>),
}

struct Constraints {
    problem: ConstraintProblem,
    solution: ConstraintSolution,
    solver: SoftConstraintSolver,
}

impl Scratch {
    pub(super) fn new(block: &FreeBodies, scene: &Scene) -> Self {
        let nv = DOF * scene.bodies.len();
        let method = match &block.contact {
            ContactMethod::Constraints { friction_law, tol, .. } => {
                // The step comes with the first update.
                let mut problem = ConstraintProblem::new(&vec![DOF; scene.bodies.len()], 1.0);
                for (i, body) in scene.bodies.iter().enumerate() {
                    let mut mass = [0.0; DOF * DOF];
                    for k in 0..3 {
                        mass[k * (DOF + 1)] = body.mass;
                        mass[(3 + k) * (DOF + 1)] = body.moments[k];
                    }
                    problem.set_mass(BodyIndex(i), &mass);
                }
                let options = SolverOptions {
                    friction_law: *friction_law,
                    tolerance: *tol,
                    ..SolverOptions::default()
                };
                Method::Constraints(Box::new(Constraints {
                    problem,
                    solution: ConstraintSolution {
                        velocity: vec![0.0; nv],
                        ..ConstraintSolution::default()
                    },
                    solver: SoftConstraintSolver::new(options),
                }))
            }
            ContactMethod::Rigid { contacts, .. } => {
                Method::Rigid(Box::new(RigidContacts::new(*contacts, scene.bodies.len())))
            }
            ContactMethod::Compliant { .. } => Method::Compliant(Box::default()),
        };
        Self {
            contacts: Contacts::default(),
            free: FreeMotion::default(),
            method,
            before: Vec::with_capacity(nv),
            memo: SolverMemo::new(nv, 0),
            impulse: vec![0.0; nv],
            forces: Vec::new(),
        }
    }
}

/// What a step is given.
pub(super) struct StepInputs<'a> {
    pub(super) scene: &'a Scene,
    pub(super) external: &'a [f64],
    pub(super) call: Option<&'a Call>,
    pub(super) time: Time,
}

impl FreeBodies {
    /// Policy for steps that the constraint solver does not solve.
    pub(super) fn policy(&self) -> Policy {
        let on_fail = match &self.contact {
            ContactMethod::Constraints { on_fail, .. } => *on_fail,
            ContactMethod::Rigid { .. } | ContactMethod::Compliant { .. } => OnStepFail::Stop,
        };
        Policy {
            block: "FreeBodies",
            noun: "constraint problem",
            on_fail: on_fail.last_resort(),
            dump: Dump::Never,
        }
    }

    /// Moves the bodies on by one step.
    pub(super) fn step(
        &self,
        given: &StepInputs<'_>,
        functions: &mut Functions<'_>,
        state: &mut FreeBodiesState,
        work: &mut Scratch,
    ) -> Outcome {
        let time_step = given.time.step;
        if let (Method::Compliant(step), Some((law, count))) =
            (&mut work.method, self.contact.regularised())
        {
            let FreeBodiesState { positions, orientations, velocities, friction, .. } = state;
            let motion = (&mut positions[..], &mut orientations[..], &mut velocities[..]);
            step.run(given.scene, &law, given.external, (time_step, count), motion, friction);
            let forces = step.forces().iter().map(|f| f.z);
            note(given.scene, step.contacts(), forces, state);
            state.load = step.load();
            return Ok(());
        }

        work.contacts.find(given.scene, state.motion(), time_step);
        work.free.begin(given.scene, state.motion(), given.external, time_step);
        if let (Method::Rigid(_), Some(call)) = (&work.method, given.call) {
            self.solve_rigid(call, given, functions, state, work)?;
        } else {
            self.solve_constraints(given, state, work)?;
        }
        let FreeBodiesState { positions, orientations, velocities, .. } = state;
        FreeMotion::advance(given.scene, positions, orientations, velocities, time_step);
        let Scratch { contacts, forces, .. } = work;
        if forces.len() < 3 * contacts.list().len() {
            // Not solved: what is told of the contacts stays that of the last step that was.
            return Ok(());
        }
        let three = |f: &[f64]| Vector3::new(f[0], f[1], f[2]);
        let borne = contacts.list().iter().zip(forces.chunks_exact(3));
        state.load = borne.map(|(c, f)| c.borne(given.scene, &three(f))).sum();
        note(given.scene, contacts, forces.chunks_exact(3).map(|f| f[2]), state);
        Ok(())
    }

    /// Velocities and forces by the constraint solver, or its policy.
    fn solve_constraints(
        &self,
        given: &StepInputs<'_>,
        state: &mut FreeBodiesState,
        work: &mut Scratch,
    ) -> Outcome {
        let time_step = given.time.step;
        let Scratch { contacts, free, method, memo, impulse, forces, .. } = work;
        let (
            Method::Constraints(constraints),
            ContactMethod::Constraints {
                spring,
                damping,
                friction_damping,
                method: kind,
                friction_law,
                on_fail,
                ..
            },
        ) = (method, &self.contact)
        else {
            return Ok(());
        };
        let Constraints { problem, solution, solver } = &mut **constraints;
        problem.time_step = time_step;
        solver.options.method = kind.method(time_step);
        let found = contacts.list().len();
        if !matches!(kind, ConstraintMethod::Velocities) && found > MOST_CONTACTS {
            return Err(Fault::new(format!(
                "expected {MOST_CONTACTS} contacts at most in a dense problem, found {found}; \
                 choose `method: Velocities`"
            )));
        }
        solution.working_set.clear();
        let friction = friction_damping.map_or(FRICTION_MASS / time_step, |b| b.value());
        let dampings = (damping.value(), friction);
        push_constraints(
            given.scene,
            contacts.list(),
            free,
            &spring.elasticity(),
            dampings,
            problem,
        );
        solution.velocity.copy_from_slice(&state.velocities);
        let mut outcome = solver.solve(problem, solution);
        if !outcome.status.is_usable() && on_fail.fallback().is_some() {
            state.relaxed += 1;
            solver.options.friction_law = FrictionLaw::Associated;
            solution.velocity.copy_from_slice(&state.velocities);
            outcome = solver.solve(problem, solution);
            solver.options.friction_law = *friction_law;
        }
        (state.status, state.iterations) = (u32::from(outcome.status.code()), outcome.iterations);

        // The impulse of the contacts, which the policy may replace.
        if outcome.status.is_usable() {
            contact_impulse(given.scene, contacts.list(), &solution.forces, time_step, impulse);
        }
        memo.clear();
        let data = || {
            let view = contact_problem(problem, ConeShape::circular());
            let none = || ContactProblemData::new(0, ConeShape::circular());
            Problem::Contact(view.unwrap_or_else(|_| none()))
        };
        let gained_energy = solution.gained_energy;
        let solve = Solve { gained_energy, ..Solve::new(given.time, outcome, impulse, &[]) };
        self.policy().conclude(&state.solver, memo, solve, data)?;
        state.solver.commit(memo);
        forces.clear();
        if outcome.status.is_usable() {
            state.velocities.copy_from_slice(&solution.velocity);
            forces.extend_from_slice(&solution.forces);
        } else {
            impulse.iter_mut().zip(free.momentum()).for_each(|(p, free)| *p += free);
            free.velocities_into(given.scene, impulse, &mut state.velocities);
        }
        Ok(())
    }

    /// Velocities and forces by the function.
    fn solve_rigid(
        &self,
        call: &Call,
        given: &StepInputs<'_>,
        functions: &mut Functions<'_>,
        state: &mut FreeBodiesState,
        work: &mut Scratch,
    ) -> Outcome {
        let Scratch { contacts, free, method, forces, .. } = work;
        let Method::Rigid(rigid) = method else { return Ok(()) };
        contacts.sort();
        let (scene, list, k) = (given.scene, contacts.list(), call.capacity);
        if list.len() > k {
            let found = list.len();
            return Err(Fault::new(format!(
                "expected {k} contacts at most, found {found}; raise `contacts` of `contact: Rigid`"
            )));
        }
        let mut solve = functions.of(call.solve);
        let [active, friction, jacobian, factor, inverse_inertia, bias, compliance] = solve.leaves(
            call.problem,
            [
                ContactProblemBus::ACTIVE,
                ContactProblemBus::FRICTION,
                ContactProblemBus::JACOBIAN,
                ContactProblemBus::FACTOR,
                ContactProblemBus::INVERSE_INERTIA,
                ContactProblemBus::BIAS,
                ContactProblemBus::COMPLIANCE,
            ],
        );
        let mut problem =
            FreeProblem { active, friction, jacobian, factor, inverse_inertia, bias, compliance };
        let (ground, step) = (self.contact.ground(), given.time.step);
        rigid
            .assemble((scene, free), list, &ground, step, &mut problem)
            .map_err(|error| Fault::new(error.to_string()))?;
        let gaps = solve.leaf(call.problem, ContactProblemBus::GAP);
        gaps.fill(0.0);
        gaps.iter_mut().zip(list).for_each(|(gap, contact)| *gap = contact.gap);
        solve.leaf(call.problem, ContactProblemBus::FORCE_SCALE)[0] = force_scale(scene, list);
        solve.leaf(call.problem, ContactProblemBus::SIDES)[0] = call.cone.sides() as f64;
        solve.leaf(call.problem, ContactProblemBus::IS_INSCRIBED)[0] =
            f64::from(u8::from(is_inscribed(&call.cone)));
        let answer = solve.run()?.get(call.forces);
        forces.clear();
        forces.extend_from_slice(&answer[..3 * list.len()]);
        let factor = solve.leaf(call.problem, ContactProblemBus::FACTOR);
        rigid
            .velocities_into(factor, forces, step, &mut state.velocities)
            .map_err(|error| Fault::new(error.to_string()))?;
        state.iterations = 0;
        Ok(())
    }
}

/// A typical contact force: the weight of what moves over the contacts.
fn force_scale(scene: &Scene, contacts: &[Contact]) -> f64 {
    let mass: f64 = scene.bodies.iter().filter(|b| !b.is_fixed).map(|b| b.mass).sum();
    mass.max(f64::MIN_POSITIVE) * SCALE_GRAVITY / contacts.len().max(1) as f64
}

/// `Δt Jᵀλ` on each body, 6n.
fn contact_impulse(
    scene: &Scene,
    contacts: &[Contact],
    forces: &[f64],
    time_step: f64,
    impulse: &mut [f64],
) {
    impulse.fill(0.0);
    for (contact, f) in contacts.iter().zip(forces.chunks_exact(3)) {
        let force = contact.frame * Vector3::new(f[0], f[1], f[2]) * time_step;
        for (body, arm, sign) in contact.sides(scene) {
            let (linear, angular) = (force * sign, arm.cross(&force) * sign);
            let p = &mut impulse[DOF * body..DOF * (body + 1)];
            p.iter_mut().zip(linear.iter().chain(angular.iter())).for_each(|(p, dp)| *p += dp);
        }
    }
}

/// Notes how many contacts touched, and how deep they are at the end of the step.
fn note(
    scene: &Scene,
    contacts: &Contacts,
    normals: impl Iterator<Item = f64>,
    state: &mut FreeBodiesState,
) {
    let (mut count, mut penetration) = (0, 0.0f64);
    let motion: Motion<'_> = state.motion();
    for (contact, _) in contacts.list().iter().zip(normals).filter(|(_, normal)| *normal > 0.0) {
        count += 1;
        penetration = penetration.max(contacts.depth_after(scene, contact, motion));
    }
    (state.contacts, state.penetration) = (count, penetration);
    state.most_contacts = state.most_contacts.max(count);
}
