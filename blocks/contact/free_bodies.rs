//! `FreeBodies`: many balls and boxes over the ground, a plant with a step of its own.

mod groups;
mod methods;
mod step;

use legwork_block::quantity::{Acceleration, Dimensionless, NonNegative};
use legwork_block::{
    Block, Dim, Fault, Int, Invalid, NO_FEEDS, OptionalIn, Out, Outcome, OutputCx, Ports, RateRule,
    Real, Report, Sizes, UpdateCx, Vector,
};
use legwork_contact::Plane;
use legwork_contact::free_bodies::{DOF, Motion, PairFriction, Scene, energy};
use nalgebra::Vector3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::buses::ContactProblemBus;
use crate::contact::friction_cone::cone_shape;
use crate::defaults::quantity;
use crate::solvers::contact_solver::STATUS_DOC;
use crate::solvers::plain_solver::PlainState;
pub use groups::{BodyGroup, BodyPlaces, BoxGroup, SphereGroup};
pub use methods::{ContactMethod, ContactSpring};
pub(crate) use step::Scratch;
use step::{Call, StepInputs};

/// Many balls and boxes with contact and friction between all: a plant of its own. The bodies have
/// absolute coordinates over a plane; the block integrates them with a step of its own.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `external`, optional | 6n | N, N m | force and moment at each centre, world axes |
/// | out `positions` | 3n | m | centres |
/// | out `orientations` | 4n | 1 | unit quaternions (w, x, y, z) |
/// | out `velocities` | 6n | m/s, rad/s | of each body, linear first, world axes |
/// | out `energy` | | J | kinetic and potential, zero at z = 0 |
/// | out `speed` | | m/s | largest speed of a centre |
/// | out `contacts` | | 1 | points that carried force in the last step |
/// | out `penetration` | | m | largest depth of them at the end of that step |
/// | out `load` | | N | upward force of the ground and of fixed bodies in that step |
/// | out `iterations` | | 1 | steps of the `method` of `contact: Constraints(…)`; else 0 |
/// | out `status` | | 1 | of `contact: Constraints(…)`: 0 solved, 1 inaccurate, else not |
///
/// | function | type | meaning |
/// |---|---|---|
/// | `solve`, with `contact: Rigid(…)` | `fn(problem: ContactProblem) -> (f: Vector(3k))` | any |
///
/// Bodies come in groups and are numbered in their order; each starts in a lattice of layers or at
/// given poses. The step is `every:`. Which bodies can meet within a step is found by a grid of
/// cells of the largest body's size, then by witness points of balls and boxes: up to eight of a
/// face on a face.
///
/// The step is semi-implicit Euler's: contacts act at the velocity after it, and orientations turn
/// by the exponential map so that angular momentum is kept, and energy of rotation to the second
/// order.
///
/// - `Constraints`: `f_n = K d^e − B ḋ`, zero or more, at the end of the step, and so stable at any
///   stiffness. Its matrix is sparse: a step costs in proportion to the bodies as long as each
///   touches a few others, and none is much larger than most. `ConstraintSolver` says more.
/// - `Rigid`: the problem of `GaussContact` at velocity level, by any solver block:
///   `needs: { "solve": ActiveSetQp() }`, `StewartTrinkle()`, `CoulombContact(needs: …)`.
/// - `Compliant`: the same springs explicitly, with `steps` small steps in a step, and friction
///   that is regularised. A small step must stay below about `2 √(m/K)`, or bodies fly off.
///
/// Spheres do not resist rolling.
///
/// References: E. M. Drumwright, *An unconditionally stable first-order constraint solver for
/// multibody systems* (2019), sec. 6.5; D. Stewart, J. Trinkle, *An implicit time-stepping scheme
/// …* (1996).
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["boxes", "spheres", "stack", "rigid bodies"]))]
pub struct FreeBodies {
    /// The bodies:
    /// `[Spheres(radius: "10 cm", mass: "1 kg", at: Lattice(count: 10)), Boxes(size: …)]`.
    pub bodies: Vec<BodyGroup>,
    /// How contact forces are found: `Constraints(spring: Hertz(modulus: "100 GPa"))`,
    /// `Rigid(contacts: 50)`, `Compliant(spring: Spring(stiffness: "1e6 N/m"), steps: 50)`.
    pub contact: ContactMethod,
    /// Coulomb friction, zero or more [1]; default 0.5.
    #[serde(default = "friction")]
    pub mu: NonNegative<Dimensionless>,
    /// Acceleration of free fall, downwards [m/s²]; default 9.81 m/s².
    #[serde(default = "gravity")]
    pub gravity: NonNegative<Acceleration>,
    /// Normal of the ground through the origin, out of it; default `[0, 0, 1]`, level.
    #[serde(default = "level")]
    pub ground_normal: [f64; 3],
}

fn friction() -> NonNegative<Dimensionless> {
    quantity(0.5)
}

fn gravity() -> NonNegative<Acceleration> {
    quantity(9.81)
}

fn level() -> [f64; 3] {
    [0.0, 0.0, 1.0]
}

/// Ports and scene of [`FreeBodies`].
pub struct Plan {
    scene: Scene,
    start: groups::Start,
    external: OptionalIn<Vector>,
    call: Option<Call>,
    positions: Out<Vector>,
    orientations: Out<Vector>,
    velocities: Out<Vector>,
    energy: Out<Real>,
    speed: Out<Real>,
    penetration: Out<Real>,
    load: Out<Real>,
    contacts: Out<Int>,
    iterations: Out<Int>,
    status: Out<Int>,
}

/// Where the bodies are, and what the last step was like.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct FreeBodiesState {
    positions: Vec<f64>,
    orientations: Vec<f64>,
    velocities: Vec<f64>,
    contacts: u32,
    penetration: f64,
    load: f64,
    iterations: u32,
    status: u32,
    most_contacts: u32,
    /// Steps solved under the convex law instead.
    relaxed: u64,
    /// Friction of compliant contacts.
    friction: Vec<PairFriction>,
    /// The last contact impulse on each body, and counts.
    solver: PlainState,
}

impl FreeBodiesState {
    fn motion(&self) -> Motion<'_> {
        Motion {
            positions: &self.positions,
            orientations: &self.orientations,
            velocities: &self.velocities,
        }
    }
}

impl FreeBodies {
    /// The function of rigid contacts.
    fn declare_call(&self, ports: &mut Ports<'_>, count: usize) -> Result<Option<Call>, Invalid> {
        let ContactMethod::Rigid { contacts, cone, .. } = &self.contact else { return Ok(None) };
        let shape = cone_shape(*cone)?;
        let solve = ports.function("solve");
        let kind = ContactProblemBus::cone(shape.sides() > 0);
        let (k, nv) = (Dim::fixed(*contacts), Dim::fixed(DOF * count));
        let bus = ContactProblemBus::new(&k, &nv, kind);
        let problem = ports.argument(solve, "problem", &bus);
        ports.note_argument(problem).doc("contact problem");
        let forces = ports.result(solve, "f", &Vector::of(3 * contacts));
        ports.note_result(forces).unit("N").frame("contact").doc("contact forces");
        Ok(Some(Call { solve, problem, forces, capacity: *contacts, cone: shape }))
    }
}

impl Block for FreeBodies {
    const KIND: &'static str = "FreeBodies";
    type Plan = Plan;
    type State = FreeBodiesState;
    type Memo = ();
    type Scratch = Scratch;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        self.contact.check()?;
        let Some(ground) = Plane::new(Vector3::zeros(), self.ground_normal.into()) else {
            let message = format!("expected a direction, found {:?}", self.ground_normal);
            return Err(Invalid::parameter("ground_normal", message));
        };
        let start = groups::start(&self.bodies)?;
        let count = start.bodies.len();
        ports.rate(RateRule::Sampled);
        let external = ports.optional_input("external", &Vector::of(DOF * count));
        ports.note_optional(external).frame("world").doc("forces, moments at the centres [N, N m]");
        let call = self.declare_call(ports, count)?;
        ports.group(&NO_FEEDS);
        let positions = ports.output("positions", &Vector::of(3 * count));
        ports.note_out(positions).unit("m").frame("world").doc("centres");
        let orientations = ports.output("orientations", &Vector::of(4 * count));
        ports.note_out(orientations).doc("unit quaternions (w, x, y, z)");
        let velocities = ports.output("velocities", &Vector::of(DOF * count));
        ports.note_out(velocities).frame("world").doc("linear, angular [m/s, rad/s]");
        let mut real = |name: &str, unit: &str, doc: &str| {
            let port = ports.output(name, &Real);
            ports.note_out(port).unit(unit).doc(doc);
            port
        };
        let energy = real("energy", "J", "kinetic and potential, zero at z = 0");
        let speed = real("speed", "m/s", "largest speed of a centre");
        let penetration = real("penetration", "m", "largest depth after the last step");
        let load = real("load", "N", "upward, of ground and fixed bodies in the last step");
        let mut int = |name: &str, doc: &str| {
            let port = ports.output(name, &Int);
            ports.note_out(port).doc(doc);
            port
        };
        let contacts = int("contacts", "points that carried force in the last step");
        let iterations = int("iterations", "steps of the method in the last step");
        let status = int("status", STATUS_DOC);
        let scene = Scene {
            bodies: start.bodies.clone(),
            ground,
            gravity: self.gravity.value(),
            friction: self.mu.value(),
        };
        Ok(Plan {
            scene,
            start,
            external,
            call,
            positions,
            orientations,
            velocities,
            energy,
            speed,
            penetration,
            load,
            contacts,
            iterations,
            status,
        })
    }

    fn state(&self, plan: &Plan, _: &Sizes<'_>) -> FreeBodiesState {
        FreeBodiesState {
            positions: plan.start.positions.clone(),
            orientations: plan.start.orientations.clone(),
            velocities: plan.start.velocities.clone(),
            solver: PlainState::new(DOF * plan.scene.bodies.len(), 0),
            ..FreeBodiesState::default()
        }
    }

    fn scratch(&self, plan: &Plan, _: &Sizes<'_>) -> Scratch {
        Scratch::new(self, &plan.scene)
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let state = cx.state;
        cx.outputs.get(plan.positions).copy_from_slice(&state.positions);
        cx.outputs.get(plan.orientations).copy_from_slice(&state.orientations);
        cx.outputs.get(plan.velocities).copy_from_slice(&state.velocities);
        let squared = |v: &[f64]| v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
        let fastest = state.velocities.chunks_exact(DOF).map(squared).fold(0.0, f64::max);
        cx.outputs.set(plan.energy, energy(&plan.scene, state.motion()));
        cx.outputs.set(plan.speed, fastest.sqrt());
        cx.outputs.set(plan.penetration, state.penetration);
        cx.outputs.set(plan.load, state.load);
        cx.outputs.set(plan.contacts, f64::from(state.contacts));
        cx.outputs.set(plan.iterations, f64::from(state.iterations));
        cx.outputs.set(plan.status, f64::from(state.status));
        Ok(())
    }

    fn update(&self, plan: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let time_step = cx.time.step;
        if !(time_step > 0.0 && time_step.is_finite()) {
            return Err(Fault::new(format!("expected a positive time step, found {time_step}")));
        }
        let given = StepInputs {
            scene: &plan.scene,
            external: cx.inputs.optional(plan.external).unwrap_or_default(),
            call: plan.call.as_ref(),
            time: cx.time,
        };
        self.step(&given, &mut cx.functions, cx.state, cx.scratch)
    }

    fn report(&self, _: &Plan, state: &FreeBodiesState, report: &mut Report) {
        report.metric("most_contacts", f64::from(state.most_contacts));
        if let ContactMethod::Constraints { .. } = self.contact {
            self.policy().report(&state.solver, report);
        }
        if state.relaxed > 0 {
            let count = state.relaxed;
            report
                .notes
                .push(format!("{count} steps were solved under the convex law of friction"));
        }
    }
}

#[cfg(test)]
mod tests;
