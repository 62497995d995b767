//! `Impact`: contact modes, and the velocity after a touchdown.

mod strike;

use legwork_block::quantity::{Force, NonNegative, Velocity};
use legwork_block::{
    Block, Bool, Crossing, Dim, GuardCx, Invalid, Outcome, OutputCx, Ports, Report, ResetCx, Sizes,
    UpdateCx, Vector, block, parameters, ports,
};
use legwork_contact::{Bounces, ContactMode, Impact as Law, ImpactMode, next_mode};
use legwork_qp::{
    CIRCULAR_SIDES, CircularByPyramids, Cone, ConeShape, ContactMethod, Problem, PyramidActiveSet,
};
use serde::{Deserialize, Serialize};

use crate::buses::{
    ConstraintBus, ConstraintsBus, Contact, ContactPoints, ContactPointsBus, ContactProblemBus,
    DynamicsBus, contact_points,
};
use crate::contact::friction_cone::{Friction, cone_shape, friction_of};
use crate::contact::response::Response;
use crate::solvers::called::ContactFunction;
use crate::solvers::on_fail::OnFail;
use crate::solvers::problem_dump::Dump;
use crate::solvers::state::{Policy, Solve, SolverMemo, SolverState};
use strike::strike;

/// Inelastic impacts: which contacts are closed, and the velocity after an impact.
///
/// | function | type | meaning |
/// |---|---|---|
/// | `solve`, optional | `fn(problem: ContactProblem) -> (f: Vector(3k))` | finds the impulses |
///
/// A contact closes when its gap is zero or less and it approaches; it opens when it carries no
/// force and separates, so that a standing robot does not flip modes. Contacts that touch at t = 0
/// are closed without an impact. At an impact `M(ν⁺ − ν⁻) = JᵀF + J_pᵀΛ`, with the impulses F of
/// all closed contacts that take out most kinetic energy, and the impulses Λ of constraints for
/// which `J_p ν⁺ = 0`; kinetic energy never grows, unless the ground itself moves. No closed
/// contact approaches after it. A contact whose own `friction` is zero or more has that μ instead
/// of `mu`.
///
/// A contact with `restitution` e that meets faster than `bounce_speed` parts at e times its speed
/// (Newton). It is open afterwards. A closed contact that this impact makes approach is struck in
/// turn, at the same instant: in a row of balls at e = 1 the last one leaves alone. Without
/// friction, energy is kept at e = 1. Where friction would let an impact make energy, contacts part
/// at a share of their speeds with which it does not.
///
/// Any solver block finds the impulses: `needs: { "solve": Use("qp") }`. Without it an active set
/// solves the problem with a pyramid; a circular cone takes a few such solves. `Stick` and the
/// second of two phases use neither.
///
/// The outputs are computed again after the reset, at the same instant: the forces of that very
/// step are those of ν⁺, and a foot that has just landed carries its load. A recorded row is that
/// of the outputs after all resets: `trigger` is false in it, `struck` and `impulse` tell of the
/// impacts of its instant.
///
/// Needed for `GaussContact(level: Acceleration)`; velocity-level contact has no impacts.
///
/// References: N. Guedelha et al., *A flexible MATLAB/Simulink simulator …* (2024), eqs. (19)–(24),
/// where the right-hand side of eq. (7) has a wrong sign; E. Drumwright, D. Shell, *Modeling
/// contact friction and joint friction …* (2010), for `TwoPhase`.
#[ports(
    self.check_cone()?;
    let robot = ports.any_robot();
    keep k: Dim = ports.dim();
    keep nv: Dim = ports.dim();
    /// How many constraints there are.
    keep m: Dim = ports.dim();
    in  dynamics: DynamicsBus::new(robot, &nv), _, "ν and the factor of M", shape "Dynamics";
    in  points: contact_points(&k, &nv) as ContactPointsBus, _, "k contacts";
    in  forces("f"): Vector::of(3 * k.clone()), "N",
        "contact forces of the step; do not feed through", frame "contact", shape "3k";
    in  constraints?: ConstraintsBus::of(&ConstraintBus::new(&nv), &m), _,
        "closed loops and held frames";
    feeds();
    ports.predicts(dynamics);
    out mode: Vector::of(&k), "1",
        "1 where a contact is closed; state only, for `GaussContact.mode`";
    feeds(dynamics, points, constraints);
    out nu_plus: Vector::of(&nv), _, "velocity after the impact; ν if there is none",
        units "m/s, rad/s";
    out impulse: Vector::of(3 * k.clone()), "N*s",
        "contact impulses of all impacts of this instant, contact axes", frame "contact",
        shape "3k";
    out trigger: Bool, _, "true at an impact until its reset: for the input `reset` of the plant";
    out struck: Bool, _, "true at the instant of an impact, after its reset too: for recordings";
    ports.updates();
    ports.guard(Crossing::Level);
    keep solve: ContactFunction = self.declare_solve(ports, &k, &nv);
)]
#[parameters(aliases("collision", "restitution"))]
pub struct Impact {
    /// Coulomb friction μ, one value or one for each contact, zero or more [1].
    pub mu: Friction,
    /// What the impulses may do; default `Frictional`.
    #[default]
    pub kind: ImpactMode,
    /// Friction cone: `Circular` (the default), or a pyramid such as
    /// `Pyramid(sides: 8, fit: Inscribed)`. `kind: TwoPhase` needs a pyramid; its default is
    /// `Pyramid(sides: 4)`. The error of a pyramid depends on the direction; see `GaussContact`.
    pub cone: Option<Cone>,
    /// Speed of approach above which a contact with restitution bounces [m/s].
    #[default = "2 cm/s"]
    pub bounce_speed: NonNegative<Velocity>,
    /// Normal force up to which a separating contact opens [N]. Above the accuracy of the solver
    /// that finds the forces.
    #[default = "0.001 N"]
    pub release_force: NonNegative<Force>,
}

impl Impact {
    /// The chosen cone, or the default of the kind.
    fn cone(&self) -> Cone {
        let own = match self.kind {
            ImpactMode::TwoPhase => Cone::default(),
            _ => Cone::Circular,
        };
        self.cone.unwrap_or(own)
    }

    fn check_cone(&self) -> Result<(), Invalid> {
        cone_shape(self.cone())?;
        if self.kind == ImpactMode::TwoPhase && self.cone() == Cone::Circular {
            let message = "expected a pyramid with `kind: TwoPhase`, found Circular";
            return Err(Invalid::parameter("cone", message).hint("write Pyramid(sides: 8)"));
        }
        Ok(())
    }

    fn declare_solve(&self, ports: &mut Ports<'_>, k: &Dim, nv: &Dim) -> ContactFunction {
        let function = ports.optional_function("solve");
        let cone = ContactProblemBus::cone(self.cone() != Cone::Circular);
        let bus = ContactProblemBus::new(k, nv, cone);
        let solve = ContactFunction::declare(ports, function, &bus, k);
        ports.note_argument(solve.problem).doc("G, and in the place of b the velocities before");
        ports.note_result(solve.forces).doc("contact impulses [N s]");
        solve
    }
}

/// What becomes of impulses that are not found: the run stops with the first.
const POLICY: Policy = Policy {
    block: "Impact",
    noun: "impact",
    on_fail: OnFail::Stop,
    dump: Dump::Failures { max: 1 },
};

/// The output group of all but `mode`.
const IMPACT_GROUP: usize = 1;

/// Discrete state of an [`Impact`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    /// Whether the modes at t = 0 were found.
    has_begun: bool,
    /// Which contacts are closed.
    is_closed: Vec<bool>,
    /// Whether there was an impact at this instant, and the impulses of all, 3k [N s].
    has_struck: bool,
    impulse: Vec<f64>,
    impacts: u64,
    openings: u64,
}

/// Work memory of an [`Impact`].
pub struct Scratch {
    law: Law,
    solver: Box<dyn ContactMethod + Send>,
    response: Response,
    /// M and its factor, if that on the bus has damping or springs in it, which no impulse feels.
    mass: Vec<f64>,
    packed: Vec<f64>,
    /// J, 3k × nv.
    jacobian: Vec<f64>,
    inertia: Vec<f64>,
    /// Contact velocities before the impulses, and those with what separates at once, 3k.
    velocity: Vec<f64>,
    shifted: Vec<f64>,
    own_friction: Vec<f64>,
    friction: Vec<f64>,
    closed: Vec<f64>,
    /// Restitution, normal velocity before and least after the impact, k.
    restitution: Vec<f64>,
    approach: Vec<f64>,
    separation: Vec<f64>,
    reflections: Bounces,
    /// ν⁺ and the impulses of a reset, nv and 3k.
    nu_plus: Vec<f64>,
    impulse: Vec<f64>,
}

/// Whether an open contact touches down.
fn touches_down(contact: &Contact<'_>) -> bool {
    let mode = next_mode(ContactMode::Open, contact.gap, contact.velocity[2], 0.0, 0.0);
    mode.is_closed()
}

/// Whether a contact that strikes has restitution, and is fast enough for it.
fn bounces(contact: &Contact<'_>, least: f64) -> bool {
    contact.restitution > 0.0 && contact.velocity[2] < -least
}

impl State {
    /// Whether an open contact touches down now.
    fn is_impact(&self, points: &ContactPoints<'_>) -> bool {
        let mut pairs = points.iter().zip(&self.is_closed);
        self.has_begun && pairs.any(|(contact, &closed)| !closed && touches_down(&contact))
    }
}

impl Scratch {
    /// Notes which contacts an impact finds closed or closes.
    fn close(&mut self, points: &ContactPoints<'_>, is_closed: &[bool]) {
        let modes = points.iter().zip(is_closed);
        for (closed, (contact, &was_closed)) in self.closed.iter_mut().zip(modes) {
            *closed = f64::from(u8::from(was_closed || touches_down(&contact)));
        }
    }
}

#[block]
impl Block for Impact {
    type State = State;
    type Memo = SolverMemo;
    type Scratch = Scratch;

    fn check(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        friction_of(&self.mu, sizes.dim(&plan.k)).map(|_| ())
    }

    fn state(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> State {
        let count = sizes.dim(&plan.k);
        State {
            has_begun: false,
            is_closed: vec![false; count],
            has_struck: false,
            impulse: vec![0.0; 3 * count],
            impacts: 0,
            openings: 0,
        }
    }

    fn scratch(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Scratch {
        let (count, nv) = (sizes.dim(&plan.k), sizes.dim(&plan.nv));
        // `plan` has accepted the cone, `check` the friction.
        let cone = cone_shape(self.cone()).unwrap_or_else(|_| ConeShape::circular());
        let solver: Box<dyn ContactMethod + Send> = match self.cone() {
            Cone::Pyramid { sides, .. } => Box::new(PyramidActiveSet::new(count, sides)),
            Cone::Circular => Box::new(CircularByPyramids::new(
                PyramidActiveSet::new(count, CIRCULAR_SIDES),
                count,
            )),
        };
        let is_closed = sizes.optional(plan.constraints).is_some();
        let constraints = if is_closed { sizes.dim(&plan.m) } else { 0 };
        let rows = 3 * count;
        Scratch {
            law: Law::new(self.kind, count, cone),
            solver,
            response: Response::new(count, constraints, nv),
            mass: vec![0.0; nv * nv],
            packed: vec![0.0; nv * (nv + 1)],
            jacobian: vec![0.0; rows * nv],
            inertia: vec![0.0; rows * rows],
            velocity: vec![0.0; rows],
            shifted: vec![0.0; rows],
            own_friction: vec![0.0; count],
            friction: friction_of(&self.mu, count).unwrap_or_default(),
            closed: vec![0.0; count],
            restitution: vec![0.0; count],
            approach: vec![0.0; count],
            separation: vec![f64::NAN; count],
            reflections: Bounces::new(count),
            nu_plus: vec![0.0; nv],
            impulse: vec![0.0; rows],
        }
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        if cx.group != IMPACT_GROUP {
            let mode = cx.outputs.get(plan.mode);
            for (mode, &closed) in mode.iter_mut().zip(&cx.state.is_closed) {
                *mode = f64::from(u8::from(closed));
            }
            return Ok(());
        }
        let dynamics = cx.inputs.get(plan.dynamics);
        let points = cx.inputs.get(plan.points);
        let is_impact = cx.state.is_impact(&points);
        cx.outputs.set(plan.trigger, f64::from(u8::from(is_impact)));
        cx.outputs.set(plan.struck, f64::from(u8::from(is_impact || cx.state.has_struck)));
        let [nu_plus, impulse] = cx.outputs.leaves([plan.nu_plus.leaf(0), plan.impulse.leaf(0)]);
        nu_plus.copy_from_slice(dynamics.nu);
        if !is_impact {
            impulse.copy_from_slice(&cx.state.impulse);
            return Ok(());
        }
        impulse.fill(0.0);
        cx.scratch.close(&points, &cx.state.is_closed);
        let (time, work) = (cx.time, &mut *cx.scratch);
        let which = (plan, self.bounce_speed.value());
        let outcome = strike(which, &cx.inputs, &mut cx.functions, time, work, nu_plus, impulse)?;
        // Nothing is kept from one impact to the next but the problem that stops the run.
        let solve = Solve::new(cx.time, outcome, impulse, &[]);
        let data = || Problem::Contact(cx.scratch.law.problem().clone());
        let state = SolverState::default();
        POLICY.conclude(&state, cx.memo, solve, data)?;
        impulse.iter_mut().zip(&cx.state.impulse).for_each(|(all, earlier)| *all += earlier);
        Ok(())
    }

    fn memo(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> SolverMemo {
        SolverMemo::new(3 * sizes.dim(&plan.k), 0)
    }

    fn clear_memo(&self, memo: &mut SolverMemo) {
        memo.clear();
    }

    fn report_memo(&self, _: &Self::Plan, memo: &SolverMemo, report: &mut Report) {
        memo.report(report);
    }

    fn guard(&self, plan: &Self::Plan, cx: &mut GuardCx<'_, Self>) {
        // At t = 0 there is something to reset only if a contact touches already.
        let points = cx.inputs.get(plan.points);
        let begins = !cx.state.has_begun
            && points.iter().any(|contact| ContactMode::initial(contact.gap).is_closed());
        let fires = begins || cx.state.is_impact(&points);
        cx.values[0] = f64::from(u8::from(fires));
    }

    fn reset(&self, plan: &Self::Plan, cx: &mut ResetCx<'_, Self>) -> Outcome {
        let (state, work) = (&mut *cx.state, &mut *cx.scratch);
        let has_begun = std::mem::replace(&mut state.has_begun, true);
        state.impacts += u64::from(has_begun);
        if has_begun {
            // The impulses once more: outputs keep nothing that a reset sees.
            work.close(&cx.inputs.get(plan.points), &state.is_closed);
            let mut nu_plus = std::mem::take(&mut work.nu_plus);
            let mut impulse = std::mem::take(&mut work.impulse);
            nu_plus.copy_from_slice(cx.inputs.get(plan.dynamics).nu);
            impulse.fill(0.0);
            let (inputs, functions) = (&cx.inputs, &mut cx.functions);
            let which = (plan, self.bounce_speed.value());
            let struck =
                strike(which, inputs, functions, cx.time, work, &mut nu_plus, &mut impulse);
            (work.nu_plus, work.impulse) = (nu_plus, impulse);
            // What is not usable has stopped the run at the outputs.
            if struck?.status.is_usable() {
                state.impulse.iter_mut().zip(&work.impulse).for_each(|(all, one)| *all += one);
                state.has_struck = true;
            }
        }
        for (contact, closed) in cx.inputs.get(plan.points).iter().zip(&mut state.is_closed) {
            *closed |= if has_begun {
                touches_down(&contact)
            } else {
                ContactMode::initial(contact.gap).is_closed()
            };
            if has_begun && bounces(&contact, self.bounce_speed.value()) {
                *closed = false;
            }
        }
        Ok(())
    }

    fn update(&self, plan: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let forces = cx.inputs.get(plan.forces).chunks_exact(3);
        let contacts = cx.inputs.get(plan.points);
        let State { has_begun, is_closed, has_struck, impulse, openings, .. } = &mut *cx.state;
        *has_begun = true;
        if std::mem::take(has_struck) {
            impulse.fill(0.0);
        }
        for (closed, (contact, force)) in is_closed.iter_mut().zip(contacts.iter().zip(forces)) {
            if *closed {
                let (velocity, tolerance) = (contact.velocity[2], self.release_force.value());
                let mode =
                    next_mode(ContactMode::Closed, contact.gap, velocity, force[2], tolerance);
                *closed = mode.is_closed();
                *openings += u64::from(!*closed);
            }
        }
        Ok(())
    }

    fn report(&self, _: &Self::Plan, state: &State, report: &mut Report) {
        report.solver_calls += state.impacts;
        report.metric("impacts", state.impacts as f64);
        report.metric("openings", state.openings as f64);
    }
}

#[cfg(test)]
mod tests;
