//! `ContactInverseDynamics`: joint torques for wanted accelerations, contact forces included.

use legwork_block::quantity::{Length, NonNegative, Positive, Time, Velocity};
use legwork_block::{
    Block, Dim, Int, Invalid, Outcome, OutputCx, Ports, Real, Report, Sizes, UpdateCx, Vector,
    parameters, ports,
};
use legwork_contact::RecoveryLimit;
use legwork_control::{self as control, Choice, ContactModel, Energy};
use legwork_qp::Cone;
use serde::{Deserialize, Serialize};

use crate::buses::{ContactPointsBus, DynamicsBus, contact_points};
use crate::contact::friction_cone::{Friction, cone_shape, friction_of};
use crate::dynamics::applied_force::check_torques;
use crate::solvers::on_fail::{OnFail, Substitute};
use counted::Counted;

/// Joint torques and contact forces for wanted accelerations of a robot in contact.
///
/// Contact forces depend on torques and torques on contact forces; both are found together for the
/// end of the next period Δt of the block, which should be that of the controller, or of a longer
/// `horizon`: `P ν⁺ = q̇ + Δt q̈`
/// and `M(ν⁺ − ν) = Δt (Pᵀτ − h + Jᵀf)`. What relates f to the velocities of the contacts is the
/// model:
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
/// - `NoSlipQp(stages: Two)`: the same with friction without limit; with `energy: Absolute` at
///   contacts that press.
/// - `energy: Relative`, of the last two: the energy against the motion at which contacts stick.
///   That of the paper, `Absolute`, is of all motion, and foresees forces that stop whatever the
///   joints carry.
/// - `Sensed`: takes the forces of `f_sensed` as they are.
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
    out tau: Vector::of(n), _, "joint torques; if not solved, what `on_fail` says", units "N m, N";
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
    /// Gap up to which a contact counts [m].
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
}

/// Which contacts pressed, the torques where they matter, and counts for the report.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct State {
    pressing: Vec<f64>,
    /// τ of the last step; empty unless solutions are chosen by it.
    torque: Vec<f64>,
    /// τ and f of the last step that was solved, for `HoldLast`; empty before.
    held: Vec<f64>,
    failures_in_a_row: u32,
    /// Steps in which a solution was chosen, and those among how many.
    chosen: u64,
    solutions: u64,
    calls: u64,
    failures: u64,
    iterations: u64,
    repaired: u64,
    /// Steps in which contacts gave way.
    yielded: u64,
}

/// From `output` to `update`.
#[derive(Debug, Clone, Default)]
pub struct Memo {
    pressing: Vec<f64>,
    torque: Vec<f64>,
    /// τ and f.
    found: Vec<f64>,
    solutions: u32,
    is_filled: bool,
    is_failure: bool,
    is_repaired: bool,
    has_yielded: bool,
    iterations: u32,
}

/// Work memory.
pub struct Scratch {
    solver: control::ContactInverseDynamics,
    contacts: Counted,
    pressing: Vec<f64>,
    forces: Vec<f64>,
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
        if cone_shape(self.cone)?.sides() == 0 {
            let message = "expected a friction pyramid, found the circular cone";
            return Err(Invalid::parameter("cone", message).hint("write `Pyramid(sides: 8)`"));
        }
        self.check_model()?;
        let (count, nv, n) = (ports.dim(), ports.dim(), ports.dim());
        let io = self.declare(ports, &n, &count, &nv);
        ports.updates();
        ports.per_major();
        Ok(Plan { io, count, nv })
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
        let pressing = vec![0.0; sizes.dim(&plan.count)];
        State { pressing, torque: vec![0.0; self.remembered(plan, sizes)], ..State::default() }
    }

    fn memo(&self, plan: &Plan, sizes: &Sizes<'_>) -> Memo {
        let pressing = vec![0.0; sizes.dim(&plan.count)];
        Memo { pressing, torque: vec![0.0; self.remembered(plan, sizes)], ..Memo::default() }
    }

    fn scratch(&self, plan: &Plan, sizes: &Sizes<'_>) -> Scratch {
        let (count, nv) = (sizes.dim(&plan.count), sizes.dim(&plan.nv));
        // `plan` and `check` have accepted the parameters.
        let cone = cone_shape(self.cone).expect("a pyramid that was accepted");
        let friction = self.mu.as_ref().and_then(|mu| friction_of(mu, count).ok());
        Scratch {
            solver: control::ContactInverseDynamics::new(self.model, cone)
                .with_energy(self.energy)
                .with_choice(self.choose),
            contacts: Counted {
                friction: friction.unwrap_or_default(),
                indices: Vec::with_capacity(count),
                jacobian: Vec::with_capacity(3 * count * nv),
                gaps: Vec::with_capacity(count),
                mu: Vec::with_capacity(count),
            },
            pressing: Vec::with_capacity(count),
            forces: Vec::with_capacity(3 * count),
            after: vec![0.0; nv],
            nearest: vec![0.0; nv],
        }
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let (dynamics, points) = (cx.inputs.get(plan.io.dynamics), cx.inputs.get(plan.io.points));
        let acceleration = cx.inputs.get(plan.io.acceleration);
        let expected = cx.inputs.optional(plan.io.expected);
        let Scratch { solver, contacts, pressing, forces, after, nearest } = &mut *cx.scratch;
        let recovery =
            RecoveryLimit { max_speed: self.recovery_speed.value(), ..RecoveryLimit::default() };
        let horizon = self.horizon.map_or(cx.time.step, Positive::value);
        contacts.gather(&points, expected, (self.reach.value(), recovery, horizon, after.len()))?;
        pressing.clear();
        pressing.extend(contacts.indices.iter().map(|&i| cx.state.pressing[i]));
        forces.clear();
        forces.resize(3 * contacts.indices.len(), 0.0);
        if let Some(sensed) = cx.inputs.optional(plan.io.sensed) {
            for (force, &i) in forces.chunks_exact_mut(3).zip(&contacts.indices) {
                force.copy_from_slice(&sensed[3 * i..3 * i + 3]);
            }
        }
        let task = contacts.task(&dynamics, acceleration, horizon);
        let tau = cx.outputs.get(plan.io.tau);
        tau.fill(0.0);
        tau[..cx.state.torque.len()].copy_from_slice(&cx.state.torque);
        let prediction = solver.solve(&task, pressing, tau, forces, after);
        let is_usable = prediction.outcome.status.is_usable();
        let mut is_repaired = false;
        if self.repair && is_usable && prediction.inconsistency > INCONSISTENT {
            let nearest = &mut nearest[..acceleration.len()];
            let outcome = solver.make_consistent(&task, forces, nearest, tau, after);
            is_repaired = outcome.status.is_usable();
        }
        let torques = tau.len();
        let all = cx.outputs.get(plan.io.forces);
        all.fill(0.0);
        for (force, &i) in forces.chunks_exact(3).zip(&contacts.indices) {
            all[3 * i..3 * i + 3].copy_from_slice(force);
        }
        if !is_usable {
            let has_last = cx.state.held.len() == torques + all.len();
            let (what, failures) = ("contact forces were not found", cx.state.failures_in_a_row);
            // Torques without contact forces are there already.
            let substitute =
                self.on_fail.substitute(what, &prediction.outcome, has_last, failures)?;
            if substitute == Substitute::Last {
                let (torque, force) = cx.state.held.split_at(torques);
                cx.outputs.get(plan.io.tau).copy_from_slice(torque);
                cx.outputs.get(plan.io.forces).copy_from_slice(force);
            }
        }
        if !cx.time.minor {
            cx.memo.found.clear();
            cx.memo.found.extend_from_slice(cx.outputs.get(plan.io.tau));
            cx.memo.found.extend_from_slice(cx.outputs.get(plan.io.forces));
            let remembered = cx.memo.torque.len();
            cx.memo.torque.copy_from_slice(&cx.memo.found[..remembered]);
            cx.memo.solutions = prediction.solutions;
        }
        let normal = cx.outputs.get(plan.io.forces).iter().skip(2).step_by(3).sum();
        cx.outputs.set(plan.io.normal_force, normal);
        cx.outputs.set(plan.io.inconsistency, prediction.inconsistency);
        cx.outputs.set(plan.io.status, f64::from(prediction.outcome.status.code()));
        if !cx.time.minor {
            let memo = &mut *cx.memo;
            memo.is_filled = true;
            memo.pressing.fill(0.0);
            for (flag, &i) in pressing.iter().zip(&contacts.indices) {
                memo.pressing[i] = *flag;
            }
            memo.is_failure = !is_usable;
            memo.is_repaired = is_repaired;
            memo.has_yielded = prediction.compliance > 0.0;
            memo.iterations = prediction.outcome.iterations;
        }
        Ok(())
    }

    fn clear_memo(&self, memo: &mut Memo) {
        memo.is_filled = false;
    }

    fn update(&self, _: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let (state, memo) = (&mut *cx.state, cx.memo);
        if memo.is_filled {
            state.pressing.copy_from_slice(&memo.pressing);
            state.torque.copy_from_slice(&memo.torque);
            state.chosen += u64::from(memo.solutions > 0);
            state.solutions += u64::from(memo.solutions);
            state.calls += 1;
            state.failures += u64::from(memo.is_failure);
            if memo.is_failure {
                state.failures_in_a_row += 1;
            } else {
                state.failures_in_a_row = 0;
                if let OnFail::HoldLast { .. } = self.on_fail {
                    state.held.clone_from(&memo.found);
                }
            }
            state.repaired += u64::from(memo.is_repaired);
            state.yielded += u64::from(memo.has_yielded);
            state.iterations += u64::from(memo.iterations);
        }
        Ok(())
    }

    fn report(&self, _: &Plan, state: &State, report: &mut Report) {
        report.solver_calls += state.calls;
        report.solver_failures += state.failures;
        if state.calls > 0 {
            report.metric("mean_iterations", state.iterations as f64 / state.calls as f64);
        }
        if self.choose == Choice::LeastChange && state.calls > 0 {
            let (chosen, calls) = (state.chosen, state.calls);
            report.metric("mean_solutions", state.solutions as f64 / chosen.max(1) as f64);
            report.notes.push(format!(
                "the solution of least change was taken in {chosen} of {calls} steps; in the rest \
                 more than three contacts counted, none did, or forces had no bound"
            ));
        }
        if state.failures > 0 {
            let (failures, calls) = (state.failures, state.calls);
            let answer = match self.on_fail {
                OnFail::Zero => "were not solved: torques expect no contact forces",
                other => other.answered(),
            };
            report.notes.push(format!("{failures} of {calls} steps {answer}"));
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

#[cfg(test)]
mod tests;
