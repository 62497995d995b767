//! `ContactInverseDynamics`: joint torques for wanted accelerations, contact forces included.

use legwork_block::quantity::{Length, NonNegative, Positive, Time, Velocity};
use legwork_block::{
    Block, Dim, Function, Int, Invalid, Outcome, OutputCx, Ports, Real, Report, Sizes, UpdateCx,
    Vector, parameters, ports,
};
use legwork_contact::RecoveryLimit;
use legwork_control::{self as control, Choice, ContactModel, Energy, ModelProblem};
use legwork_qp::Cone;
use serde::{Deserialize, Serialize};

use crate::buses::{ContactPointsBus, DynamicsBus, contact_points};
use crate::contact::friction_cone::{Friction, cone_shape, friction_of};
use crate::dynamics::applied_force::check_torques;
use crate::solvers::called::catch;
use crate::solvers::on_fail::OnFail;
use crate::solvers::problem_dump::Dump;
use crate::solvers::state::{Answer, Policy, Solve, SolverMemo, SolverState};
use counted::Counted;
use model_function::ModelFunction;

/// Joint torques and contact forces for wanted accelerations of a robot in contact.
///
/// Contact forces depend on torques and torques on contact forces; both are found together for the
/// end of the next period Δt of the block, which should be that of the controller, or of a longer
/// `horizon`: `P ν⁺ = q̇ + Δt q̈`
/// and `M(ν⁺ − ν) = Δt (Pᵀτ − h − p + Jᵀf)`, with the force p of damping and springs of the joints
/// in the middle of the period. What
/// relates f to the velocities of the contacts is the model:
///
/// - `NoSlipLcp`: no penetration, no pull, no slip of contacts that press. The fastest; starts from
///   the contacts that pressed before. Asks for whatever tangential force it takes. Where the
///   joints cannot hold all of them, they slide as little as they can, in the least-squares sense.
///   Contacts that contradict each other give way as dampers do, and the report counts the steps in
///   which they did.
/// - `CoulombLcp`: Coulomb's law on the pyramid, by Lemke's method. The law that `CoulombContact`
///   has too, so its forces come true in such a world. Where contacts are redundant its answer
///   jumps; with `choose: LeastChange` and at most three contacts that count it takes, of all
///   solutions, the one whose torques differ least from those of the last step. Contacts that
///   contradict each other give way as with `NoSlipLcp`.
/// - `CoulombQp(stages: Two)`: of all forces in the pyramids those after which the kinetic energy
///   is least, and of those the ones with least torque. Smooth, and cheap with many contacts.
///   `Two` keeps the motion of the first stage by a large weight, `TwoInNullSpace` exactly, as the
///   paper does; the former shares the load of nearly redundant contacts too.
/// - `NoSlipQp(stages: Two)`: the same with friction without limit; with `energy: Absolute` at
///   contacts that press.
/// - `energy: Relative`, of the last two: the energy against the motion at which contacts stick.
///   That of the paper, `Absolute`, is of all motion, and foresees forces that stop whatever the
///   joints carry.
/// - `Sensed`: takes the forces of `f_sensed` as they are.
///
/// | function | type | meaning |
/// |---|---|---|
/// | `solve`, optional | that of the model's problem | solves it in the place of its own solver |
///
/// `needs: { "solve": … }` names another solver: of `CoulombLcp` any solver of contact problems,
/// whose law then holds (`StewartTrinkle()` has Coulomb's); of `NoSlipLcp` `Lcp()`; of `CoulombQp`
/// and `NoSlipQp` `Qp()` or `ConeProgram()`. A model may ask again where contacts contradict each
/// other: with `on_fail: Zero` in the solver it can, with `Stop` the run ends there.
///
/// Contacts count if their gap is below `reach`, and `expected` is not zero. Gaps enter as
/// `N ν⁺ ≥ −φ/Δt`, of a penetration at most the share that rigid contact recovers too, and at most
/// at `recovery_speed`: 0 where the ground gives way, so that a robot that sank in is not expected
/// to come out. With `repair`, accelerations that the contacts do not allow give way to the nearest
/// that they do (in the least-squares sense, sec. 4.5).
///
/// Reference: S. Zapolsky, E. Drumwright, *Inverse dynamics with rigid contact and friction*
/// (2017).
#[ports(
    |n: &Dim, count: &Dim, nv: &Dim|
    let robot = ports.any_robot();
    in  dynamics: DynamicsBus::new(robot, nv), _,
        "ν, M, h of the robot, or of it and the bodies that it holds", shape "Dynamics";
    in  points: contact_points(count, nv) as ContactPointsBus, _, "k contacts";
    in  acceleration: Vector::of(n), _, "wanted accelerations of the joints", units "rad/s², m/s²";
    in  expected?: Vector::of(count), "1",
        "0 where a contact does not count, as a foot in swing", shape "k";
    in  sensed("f_sensed")?: Vector::of(3 * count.clone()), "N",
        "contact forces; required by `model: Sensed`", frame "contact", shape "3k";
    out tau: Vector::of(n), _, "joint torques; if not solved, what `on_fail` says", units "N m, N",
        elements acceleration;
    out forces("f"): Vector::of(3 * count.clone()), "N",
        "contact forces that are expected, contact axes", frame "contact", shape "3k";
    out normal_force: Real, "N", "`Σ f_n`";
    out inconsistency: Real, "m/s", "how far the joints' wish is from what the contacts allow";
    out status: Int, _, "0 solved, 1 inaccurate, 2 and above: not solved";
)]
#[parameters(aliases("whole-body control", "WBC", "whole-body controller"))]
pub struct ContactInverseDynamics {
    /// How contact forces come about; default `CoulombQp(stages: Two)`.
    #[default]
    pub model: ContactModel,
    /// Which kinetic energy the models `…Qp` make least; default `Absolute`.
    #[default]
    pub energy: Energy,
    /// Which solution `CoulombLcp` takes where there are several; default `Lemke`.
    #[default]
    pub choose: Choice,
    /// Coulomb friction μ, one value or one for each contact [1], of contacts that have none of
    /// their own: a contact's own friction goes before `mu`. Required if there are such contacts;
    /// read by the models `Coulomb…` only.
    pub mu: Option<Friction>,
    /// Friction cone; default `Pyramid(sides: 4, fit: Inscribed)`. It must be a pyramid.
    #[default]
    pub cone: Cone,
    /// Gap up to which a contact counts [m]. One that counts before it touches is to land within
    /// Δt; feedback of k_d takes only k_d Δt of its landing speed v away, and the rest becomes a
    /// force `m v/Δt` of all that the joints carry. With a horizon below `1/k_d` let contacts count
    /// where they touch.
    #[default = "1 mm"]
    pub reach: NonNegative<Length>,
    /// Time Δt in which velocities are to change [s]; default the period. Where joints move as no
    /// contact allows, by a speed v, the forces that are expected for it are `m v/Δt`: a longer one
    /// is gentler. Several periods take the edge off landing feet and ground that gives way, and
    /// forces still come as expected, since torques follow at every period. One below the period
    /// overshoots. With acceleration feedback of k_d it is to stay at `1/k_d` or less.
    pub horizon: Option<Positive<Time>>,
    /// Highest speed at which a penetrating contact is expected to come out [m/s]; by default that
    /// of `GaussContact`.
    #[default = "0.02 m/s"]
    pub recovery_speed: NonNegative<Velocity>,
    /// Whether accelerations that the contacts do not allow are changed.
    #[default]
    pub repair: bool,
    /// What to do when contact forces are not found: `Zero` (the default), the torques of a robot
    /// in the air, which expect no contact force; `HoldLast(max: 5)`; `Stop`.
    #[default = OnFail::Zero]
    pub on_fail: OnFail,
}

/// Ports of a [`ContactInverseDynamics`].
pub struct Plan {
    io: ContactInverseDynamicsPorts,
    count: Dim,
    nv: Dim,
    solve: Option<(Function, ModelFunction)>,
}

/// State: what was solved last, with the contacts that pressed, and counts for the report.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct State {
    /// τ and f, and which contacts pressed.
    solver: SolverState,
    /// τ of the last step; empty unless solutions are chosen by it.
    torque: Vec<f64>,
    /// Steps in which a solution was chosen, and those among how many.
    chosen: u64,
    solutions: u64,
    calls: u64,
    repaired: u64,
    /// Steps in which contacts gave way.
    yielded: u64,
}

/// From `output` to `update`.
#[derive(Debug, Clone, Default)]
pub struct Memo {
    solver: SolverMemo,
    torque: Vec<f64>,
    solutions: u32,
    is_filled: bool,
    is_repaired: bool,
    has_yielded: bool,
}

/// Work memory.
pub struct Scratch {
    solver: control::ContactInverseDynamics,
    contacts: Counted,
    pressing: Vec<f64>,
    /// The same of all contacts.
    all_pressing: Vec<f64>,
    forces: Vec<f64>,
    /// τ and f of all contacts.
    found: Vec<f64>,
    after: Vec<f64>,
    nearest: Vec<f64>,
}

impl ContactInverseDynamics {
    /// Refuses options that the model would not read; their defaults go with every model.
    fn check_model(&self) -> Result<(), Invalid> {
        if self.choose == Choice::LeastChange && self.model != ContactModel::CoulombLcp {
            let message =
                "expected the model `CoulombLcp` with `choose: LeastChange`, found another";
            return Err(Invalid::parameter("choose", message).hint(
                "write `model: CoulombLcp`, or leave `choose` out: other models have one solution",
            ));
        }
        let has_energy =
            matches!(self.model, ContactModel::CoulombQp { .. } | ContactModel::NoSlipQp { .. });
        if self.energy == Energy::Relative && !has_energy {
            let message = "expected a model of least energy with `energy: Relative`, found another";
            return Err(Invalid::parameter("energy", message).hint(
                "write `model: CoulombQp(stages: Two)` or `NoSlipQp(stages: Two)`, or leave out \
                 `energy`",
            ));
        }
        if self.repair && self.model == ContactModel::Sensed {
            let message =
                "expected a model that predicts forces with `repair: true`, found `Sensed`";
            return Err(Invalid::parameter("repair", message).hint(
                "leave `repair` out: forces that were measured say nothing of what contacts allow",
            ));
        }
        Ok(())
    }

    fn policy(&self) -> Policy {
        let (on_fail, dump) = (self.on_fail, Dump::Never);
        Policy { block: Self::KIND, noun: "contact problem", on_fail, dump }
    }

    /// How many torques are kept from step to step.
    fn remembered(&self, plan: &Plan, sizes: &Sizes<'_>) -> usize {
        if self.choose == Choice::LeastChange { sizes.input(plan.io.acceleration) } else { 0 }
    }
}

/// Speed above which accelerations are called inconsistent with the contacts [m/s]. Feet on the
/// ground that a controller moves by numbers differ by more than rounding at nearly every step.
const INCONSISTENT: f64 = 1e-4;

impl Block for ContactInverseDynamics {
    const KIND: &'static str = "ContactInverseDynamics";
    type Plan = Plan;
    type State = State;
    type Memo = Memo;
    type Scratch = Scratch;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let cone = cone_shape(self.cone)?;
        if cone.sides() == 0 {
            let message = "expected a friction pyramid, found the circular cone";
            return Err(Invalid::parameter("cone", message).hint("write `Pyramid(sides: 8)`"));
        }
        self.check_model()?;
        let (count, nv, n) = (ports.dim(), ports.dim(), ports.dim());
        let io = self.declare(ports, &n, &count, &nv);
        let solve = ModelFunction::declare(ports, self.model, &cone, &count, &nv);
        ports.updates();
        ports.per_major();
        Ok(Plan { io, count, nv, solve })
    }

    fn check(&self, plan: &Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        if let Some(mu) = &self.mu {
            friction_of(mu, sizes.dim(&plan.count)).map(|_| ())?;
        }
        if self.model == ContactModel::Sensed && sizes.optional(plan.io.sensed).is_none() {
            let message = "expected measured forces, found no input `f_sensed`";
            return Err(Invalid::parameter("model", message)
                .hint("connect the forces of a past step, by UnitDelay"));
        }
        check_torques(sizes.dim(&plan.nv), sizes.input(plan.io.acceleration))
    }

    fn state(&self, plan: &Plan, sizes: &Sizes<'_>) -> State {
        let count = sizes.dim(&plan.count);
        let found = sizes.input(plan.io.acceleration) + 3 * count;
        let torque = vec![0.0; self.remembered(plan, sizes)];
        State { solver: SolverState::new(found, count), torque, ..State::default() }
    }

    fn memo(&self, plan: &Plan, sizes: &Sizes<'_>) -> Memo {
        let count = sizes.dim(&plan.count);
        let found = sizes.input(plan.io.acceleration) + 3 * count;
        let torque = vec![0.0; self.remembered(plan, sizes)];
        Memo { solver: SolverMemo::new(found, count), torque, ..Memo::default() }
    }

    #[expect(clippy::expect_used, reason = "`plan` refuses other cones")]
    fn scratch(&self, plan: &Plan, sizes: &Sizes<'_>) -> Scratch {
        let (count, nv) = (sizes.dim(&plan.count), sizes.dim(&plan.nv));
        let joints = sizes.input(plan.io.acceleration);
        // `plan` and `check` have accepted the parameters.
        let cone = cone_shape(self.cone).expect("a pyramid that was accepted");
        let friction = self.mu.as_ref().and_then(|mu| friction_of(mu, count).ok());
        Scratch {
            solver: control::ContactInverseDynamics::new(self.model, cone)
                .with_energy(self.energy)
                .with_choice(self.choose)
                .with_room(nv.saturating_sub(joints), joints, count),
            contacts: Counted {
                friction: friction.unwrap_or_default(),
                indices: Vec::with_capacity(count),
                jacobian: Vec::with_capacity(3 * count * nv),
                gaps: Vec::with_capacity(count),
                mu: Vec::with_capacity(count),
                mass: vec![0.0; nv * nv],
                opposing: vec![0.0; nv],
            },
            pressing: Vec::with_capacity(count),
            all_pressing: vec![0.0; count],
            found: vec![0.0; joints + 3 * count],
            forces: Vec::with_capacity(3 * count),
            after: vec![0.0; nv],
            nearest: vec![0.0; nv],
        }
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let (dynamics, points) = (cx.inputs.get(plan.io.dynamics), cx.inputs.get(plan.io.points));
        let acceleration = cx.inputs.get(plan.io.acceleration);
        let expected = cx.inputs.optional(plan.io.expected);
        let Scratch { solver, contacts, pressing, all_pressing, forces, found, after, nearest } =
            &mut *cx.scratch;

        // The contacts that count, and what of the last step is theirs.
        let recovery =
            RecoveryLimit { max_speed: self.recovery_speed.value(), ..RecoveryLimit::default() };
        let horizon = self.horizon.map_or(cx.time.step, Positive::value);
        contacts.gather(&points, expected, (self.reach.value(), recovery, horizon, after.len()))?;
        pressing.clear();
        pressing.extend(contacts.indices.iter().map(|&i| cx.state.solver.warm()[i]));
        forces.clear();
        forces.resize(3 * contacts.indices.len(), 0.0);
        if let Some(sensed) = cx.inputs.optional(plan.io.sensed) {
            for (force, &i) in forces.chunks_exact_mut(3).zip(&contacts.indices) {
                force.copy_from_slice(&sensed[3 * i..3 * i + 3]);
            }
        }
        let (tau, all) = found.split_at_mut(acceleration.len());
        tau.fill(0.0);
        tau[..cx.state.torque.len()].copy_from_slice(&cx.state.torque);

        // The model, by the function if one is bound.
        contacts.take_inertia(&dynamics, horizon);
        let task = contacts.task(&dynamics, acceleration, horizon);
        let bound = plan
            .solve
            .as_ref()
            .and_then(|(function, model)| cx.functions.bound(*function).map(|call| (model, call)));
        let prediction = match bound {
            None => solver.solve(&task, pressing, tau, forces, after),
            Some((model, mut call)) => {
                let (mut fault, indices) = (None, &contacts.indices);
                let mut ask = |problem: &ModelProblem<'_>, x: &mut [f64]| {
                    catch(&mut fault, || model.solve(&mut call, problem, indices, x))
                };
                let prediction = solver.solve_by(&mut ask, &task, pressing, tau, forces, after);
                fault.map_or(Ok(prediction), Err)?
            }
        };

        // Accelerations that contradict the contacts give way if they may.
        let is_usable = prediction.outcome.status.is_usable();
        let mut is_repaired = false;
        if self.repair && is_usable && prediction.inconsistency > INCONSISTENT {
            let nearest = &mut nearest[..acceleration.len()];
            let outcome = solver.make_consistent(&task, forces, nearest, tau, after);
            is_repaired = outcome.status.is_usable();
        }

        // Torques, and forces of all contacts; those of what was not found are those without
        // contact, unless the policy has other ones.
        all.fill(0.0);
        for (force, &i) in forces.chunks_exact(3).zip(&contacts.indices) {
            all[3 * i..3 * i + 3].copy_from_slice(force);
        }
        all_pressing.fill(0.0);
        for (flag, &i) in pressing.iter().zip(&contacts.indices) {
            all_pressing[i] = *flag;
        }
        let [tau_out, forces_out] =
            cx.outputs.leaves([plan.io.tau.leaf(0), plan.io.forces.leaf(0)]);
        tau_out.copy_from_slice(tau);
        forces_out.copy_from_slice(all);
        let solve = Solve::new(cx.time, prediction.outcome, found, all_pressing);
        let memo = &mut *cx.memo;
        let answer = self.policy().conclude(&cx.state.solver, &mut memo.solver, solve, || None)?;
        if answer == Answer::Held {
            let (tau, all) = found.split_at(acceleration.len());
            tau_out.copy_from_slice(tau);
            forces_out.copy_from_slice(all);
        }
        if !cx.time.minor {
            let remembered = memo.torque.len();
            memo.torque.copy_from_slice(&tau_out[..remembered]);
            memo.solutions = prediction.solutions;
            memo.is_filled = true;
            memo.is_repaired = is_repaired;
            memo.has_yielded = prediction.compliance > 0.0;
        }

        let normal = forces_out.iter().skip(2).step_by(3).sum();
        cx.outputs.set(plan.io.normal_force, normal);
        cx.outputs.set(plan.io.inconsistency, prediction.inconsistency);
        cx.outputs.set(plan.io.status, f64::from(prediction.outcome.status.code()));
        Ok(())
    }

    fn clear_memo(&self, memo: &mut Memo) {
        memo.is_filled = false;
        memo.solver.clear();
    }

    fn update(&self, _: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let (state, memo) = (&mut *cx.state, cx.memo);
        state.solver.commit(&memo.solver);
        if memo.is_filled {
            state.torque.copy_from_slice(&memo.torque);
            state.chosen += u64::from(memo.solutions > 0);
            state.solutions += u64::from(memo.solutions);
            state.calls += 1;
            state.repaired += u64::from(memo.is_repaired);
            state.yielded += u64::from(memo.has_yielded);
        }
        Ok(())
    }

    fn report_memo(&self, _: &Plan, memo: &Memo, report: &mut Report) {
        memo.solver.report(report);
    }

    fn report(&self, _: &Plan, state: &State, report: &mut Report) {
        self.policy().report(&state.solver, report);
        if self.choose == Choice::LeastChange && state.calls > 0 {
            let (chosen, calls) = (state.chosen, state.calls);
            report.metric("mean_solutions", state.solutions as f64 / chosen.max(1) as f64);
            report.notes.push(format!(
                "the solution of least change was taken in {chosen} of {calls} steps; in the rest \
                 more than three contacts counted, none did, or forces had no bound"
            ));
        }
        if state.yielded > 0 {
            let (yielded, calls) = (state.yielded, state.calls);
            report.notes.push(format!(
                "contacts gave way in {yielded} of {calls} steps: the wanted accelerations \
                 contradict them"
            ));
        }
        if state.repaired > 0 {
            let (repaired, calls) = (state.repaired, state.calls);
            report
                .notes
                .push(format!("accelerations of {repaired} of {calls} steps were repaired"));
        }
    }
}

mod counted;
mod model_function;

#[cfg(test)]
mod tests;
