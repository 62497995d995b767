//! `FreeBodies`: many convex bodies over the ground, a plant with a step of its own.

mod groups;
mod methods;
mod shapes;
mod step;

use legwork_block::quantity::{Acceleration, Dimensionless, NonNegative};
use legwork_block::{
    Block, Dim, Fault, Int, Invalid, Outcome, OutputCx, Ports, RateRule, Real, Report, Sizes,
    UpdateCx, Vector, block, parameters, ports,
};
use legwork_contact::free_bodies::{DOF, Motion, PairFriction, Scene, energy};
use legwork_contact::{Plane, Surface};
use nalgebra::Vector3;
use serde::{Deserialize, Serialize};

use crate::buses::ContactProblemBus;
use crate::contact::friction_cone::cone_shape;
use crate::contact::ground::Section;
use crate::signal::divergence;
use crate::solvers::state::SolverState;
pub use groups::{BodyGroup, BodyPlaces, BoxGroup, SolidGroup, SphereGroup};
pub use methods::{ContactMethod, ContactSpring};
pub use shapes::SolidShape;
pub(crate) use step::Scratch;
use step::{Call, StepInputs};

/// Many convex bodies with contact and friction between all: a plant of its own. Balls, boxes,
/// capsules, cylinders and hulls of points or meshes have absolute coordinates over a plane; the block integrates them with a step of its own.
///
/// | function | type | meaning |
/// |---|---|---|
/// | `solve`, with `contact: Rigid(…)` | `fn(problem: ContactProblem) -> (f: Vector(3k))` | any |
///
/// Bodies come in groups and are numbered in their order; each starts in a lattice of layers or at
/// given poses. The step is `every:`. Which bodies can meet within a step is found by a grid of
/// cells of the largest body's size, then by witness points of pairs: up to eight of a face on a
/// face, two where lines lie side by side.
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
/// Spheres do not resist rolling. A body that moves faster than 1e9 m/s or rad/s is a fault of the
/// run, and so is a step from less than a hundredth of it to more than 1e4: it has diverged.
///
/// References: E. M. Drumwright, *An unconditionally stable first-order constraint solver for
/// multibody systems* (2019), sec. 6.5; D. Stewart, J. Trinkle, *An implicit time-stepping scheme
/// …* (1996).
#[ports(
    keep start: groups::Start = groups::start(&self.bodies, ports.files())?;
    keep scene: Scene = self.scene(ports, &start)?;
    ports.rate(RateRule::Sampled);
    let n = scene.bodies.len();
    in  external?: Vector::of(DOF * n), _, "force and moment at each centre, world axes",
        frame "world", shape "6n", units "N, N m";
    keep call: Option<Call> = self.declare_call(ports, n)?;
    feeds();
    out positions: Vector::of(3 * n), "m", "centres", frame "world";
    out orientations: Vector::of(4 * n), _, "unit quaternions (w, x, y, z)", units "1";
    out velocities: Vector::of(DOF * n), _, "of each body, linear first, world axes",
        frame "world", shape "6n", units "m/s, rad/s";
    out energy: Real, "J", "kinetic and potential, zero at z = 0";
    out speed: Real, "m/s", "largest speed of a centre";
    out penetration: Real, "m", "largest depth of the contacts at the end of the last step";
    out load: Real, "N", "upward force of the ground and of fixed bodies in that step";
    out contacts: Int, _, "points that carried force in that step", units "1";
    out iterations: Int, _, "steps of the `method` of `contact: Constraints(…)`; else 0",
        units "1";
    out status: Int, _, "of `contact: Constraints(…)`: 0 solved, 1 inaccurate, else not",
        units "1";
)]
#[parameters(aliases("boxes", "spheres", "stack", "rigid bodies"))]
pub struct FreeBodies {
    /// The bodies:
    /// `[Spheres(radius: "10 cm", mass: "1 kg", at: Lattice(count: 10)), Boxes(size: …),
    /// Solids(shape: …)]`.
    pub bodies: Vec<BodyGroup>,
    /// How contact forces are found: `Constraints(spring: Hertz(modulus: "100 GPa"))`,
    /// `Rigid(contacts: 50)`, `Compliant(spring: Spring(stiffness: "1e6 N/m"), steps: 50)`.
    pub contact: ContactMethod,
    /// Coulomb friction, zero or more [1].
    #[default = 0.5]
    pub mu: NonNegative<Dimensionless>,
    /// Acceleration of free fall, downwards [m/s²].
    #[default = "9.81 m/s^2"]
    pub gravity: NonNegative<Acceleration>,
    /// Normal of the ground through the origin, out of it; default that of the section `ground:` of
    /// the diagram, which must be such a plane, or else level.
    pub ground_normal: Option<[f64; 3]>,
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
    solver: SolverState,
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
    fn scene(&self, ports: &Ports<'_>, start: &groups::Start) -> Result<Scene, Invalid> {
        self.contact.check()?;
        let stated = self.ground_normal;
        let of_diagram = stated.is_none().then(|| ports.ground::<Section>()).flatten();
        let ground = match (stated, of_diagram) {
            (Some(normal), _) => Plane::new(Vector3::zeros(), normal.into()).ok_or_else(|| {
                let message = format!("expected a direction, found {normal:?}");
                Invalid::parameter("ground_normal", message)
            })?,
            (None, None) => Plane::default(),
            (None, Some(section)) => match section.surface() {
                Surface::HalfSpace(plane) if plane.distance(&Vector3::zeros()) == 0.0 => *plane,
                _ => {
                    let message = "expected a plane through the origin as `ground:` of the diagram";
                    let invalid = Invalid::parameter("ground_normal", message);
                    return Err(invalid.hint("bodies on other ground are robots of a `World`"));
                }
            },
        };
        Ok(Scene {
            bodies: start.bodies.clone(),
            ground,
            gravity: self.gravity.value(),
            friction: self.mu.value(),
        })
    }

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

#[block]
impl Block for FreeBodies {
    type State = FreeBodiesState;
    type Scratch = Scratch;

    fn state(&self, plan: &Self::Plan, _: &Sizes<'_>) -> FreeBodiesState {
        FreeBodiesState {
            positions: plan.start.positions.clone(),
            orientations: plan.start.orientations.clone(),
            velocities: plan.start.velocities.clone(),
            solver: SolverState::new(DOF * plan.scene.bodies.len(), 0),
            ..FreeBodiesState::default()
        }
    }

    fn scratch(&self, plan: &Self::Plan, _: &Sizes<'_>) -> Scratch {
        Scratch::new(self, &plan.scene)
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let state = cx.state;
        if divergence::is_too_fast(&state.velocities) {
            let body = |k: usize| format!("body {}", k / DOF);
            return Err(divergence::too_fast(&state.velocities, body));
        }
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

    fn update(&self, plan: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
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
        cx.scratch.before.clone_from(&cx.state.velocities);
        self.step(&given, &mut cx.functions, cx.state, cx.scratch)?;
        let before = cx.scratch.before.iter().copied();
        divergence::check_step(before, cx.state.velocities.iter().copied(), String::new)
    }

    fn report(&self, _: &Self::Plan, state: &FreeBodiesState, report: &mut Report) {
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
