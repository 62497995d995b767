//! `GaussContact`: assembles the rigid contact problem.

mod assembly;

use legwork_block::quantity::{
    AngularVelocity, Damping, Dimensionless, Force, NonNegative, Positive, Stiffness, Velocity,
};
use legwork_block::{
    Block, Dim, Fault, Invalid, Outcome, OutputCx, Ports, Sizes, Solver, Vector, block, parameters,
    ports,
};
use legwork_contact::{Ground, RecoveryLimit};
use legwork_qp::{Cone, ConeShape};

use crate::buses::{
    ConstraintBus, ConstraintsBus, ContactPointsBus, ContactProblemBus, DynamicsBus, contact_points,
};
use crate::contact::friction_cone::{Friction, cone_shape, friction_of};
use crate::dynamics::applied_force::check_torques;
pub(crate) use assembly::SCALE_GRAVITY;
use assembly::Work;

/// The rigid contact problem by Gauss's principle of least constraint. `min ½ fᵀ(G + R)f + bᵀf`
/// over forces in the friction cones, with `G = J M⁻¹ Jᵀ`.
///
/// With the free acceleration `ν̇_f = M⁻¹(Sᵀτ + external − h − p)`, the step Δt and the gap φ, and
/// `M + Δt d + ¼ Δt² k` for M where joints have damping d or springs k, whose force is p:
///
/// - `Velocity`: `b = J ν̇_f + Jν/Δt + e_n γ(φ)`, γ = φ/Δt² outside the ground and a limited push
///   out inside. `(G f + b)_n ≥ 0` says that no gap is negative after the step. Touchdown needs no
///   event, friction opposes slip, nothing drifts. All contacts act unless `mode` says otherwise.
/// - `Acceleration`: `b = J ν̇_f + J̇ν` for the closed contacts (paper eqs. 16–18). It gets three
///   things wrong: a contact that slides at constant speed feels no friction (there is no
///   tangential acceleration to oppose; `correct_velocity` mends it by adding `Jν/Δt`, eq. 13c),
///   errors of velocity and position stay, so contacts drift, and touchdown needs an `Impact`.
///
/// A contact whose own `friction` is zero or more has that μ instead of `mu`. Contacts whose
/// `velocity` is relative to a ground that moves are carried along by it. With `constraints`, G and
/// b are those of the closed mechanism, whose loops give way to no force (eqs. 13–18); the
/// `jacobian` of the problem is then that of the closed mechanism too, so that `J M⁻¹ Jᵀ` is G.
///
/// At velocity level a contact that is farther from the ground than it could come in this step at
/// its speed and `max_speed` more (`max_rate` for rows without surfaces) is inactive. Only active
/// contacts are assembled. Rows of the Jacobian that are zero, such as the tangential rows of a
/// joint limit, are left out: a robot in the air costs next to nothing.
///
/// `cone: Circular` is Coulomb's cone. Solvers of pyramids solve it too: contacts that stick cost
/// one solve, contacts that slide a few. The axes t₁, t₂ of a pyramid with m sides are those of the
/// contact: on level ground the world's x and y. The error of a pyramid depends on the direction:
///
/// | pyramid | friction over μ f_n | 4 sides | 8 | 16 |
/// |---|---|---|---|---|
/// | `Inscribed` | `cos(π/m)` to 1, most along t₁ | −29 % | −7.6 % | −1.9 % |
/// | `Circumscribed` | 1 to `1/cos(π/m)`, least along t₁ | +41 % | +8.2 % | +2.0 % |
///
/// A body that slides midway between two edges of an inscribed pyramid goes `1/cos(π/m)` times as
/// far. In other directions friction points along an edge, up to π/m away from the slip: the body
/// swerves.
///
/// The diagonal R of the problem holds the regularisation, which makes the forces of redundant
/// contacts unique. With `stiffness` the ground gives way, at velocity level:
/// `f_n = −K (φ + Δt v⁺) − D v⁺` of the velocity v⁺ after the step, never less than 0, by
/// `R = 1/(Δt (K Δt + D))` and `γ = K φ R`; D only while φ < 0. However stiff, that is stable at
/// any step, and friction sticks as on rigid ground.
///
/// The velocity level speaks of the position after the step as `q + Δt ν⁺`: run it with
/// `SemiImplicitEuler`. Under `Euler` and `Rk4` the position moves otherwise, and feet sink by
/// millimetres when they land: a warning. Solvers that choose their steps are refused, since the
/// length of a step must be known before it is made.
///
/// A contact that slides keeps to the ground (Coulomb's law). The solver takes Newton's method on
/// the equations of that law (Alart, Curnier). Where it does not converge, the convex problem is
/// repeated with `b_n + μ |a_t|` for b_n until its residual is below 1e-6 (de Saxcé). Where nothing
/// slides once is enough. With `sliding: Convex` the convex problem is the law (M. Anitescu,
/// *Optimization-based simulation of nonsmooth rigid multibody dynamics*, 2006). A body that begins
/// to slide at speed v is then thrown off the ground at μ v and flies for `2 μ v/g`. On level
/// ground it stops where Coulomb's law has it; on slopes it errs by up to 5° and 20 %.
/// `CoulombContact` sets passes and tolerance, and solves Coulomb's law in either case, as
/// `StewartTrinkle` does. Friction beyond μ = 1000 is for the convex law: Coulomb's may end in a
/// fault there.
///
/// A contact with `restitution` e that would close within the step, and approaches faster than
/// `bounce_speed`, leaves it at `v⁺ ≥ −e v` instead (Newton): γ is then `e v/Δt`, if that is more.
/// It bounces up to a step before it touches. A contact that this impact makes approach, and that
/// would close within the same step, is struck in turn: in a row of balls at e = 1 the last one
/// leaves alone, whether they touch or are 0.1 mm apart. Where friction would let a bounce make
/// energy, contacts part at a share of their speeds with which it does not.
///
/// Computed at major steps and held between them, as a contact force belongs to a whole step,
/// unless `in_minor_steps`.
///
/// References: N. Guedelha, V. Pasandi et al., *A flexible MATLAB/Simulink simulator for robotic
/// floating-base systems in contact with the ground* (2024), eqs. (13)–(18); D. Stewart, J.
/// Trinkle, *An implicit time-stepping scheme …* (1996).
#[ports(
    keep cone: ConeShape = self.cone(ports)?;
    keep ground: Ground = self.ground();
    let (n, robot) = (ports.dim(), ports.any_robot());
    keep k: Dim = ports.dim();
    keep nv: Dim = ports.dim();
    /// How many constraints there are.
    keep m: Dim = ports.dim();
    in  dynamics: DynamicsBus::new(robot, &nv), _, "ν, M, h and the factor of M",
        shape "Dynamics";
    in  points: contact_points(&k, &nv) as ContactPointsBus, _, "k contacts";
    in  tau: Vector::of(n), _, "joint torques, in the order of the coordinates of joints",
        units "N m, N";
    in  mode?: Vector::of(&k), "1", "1 where a contact is closed; at acceleration level required";
    in  external?: Vector::of(&nv), _, "further generalised forces", units "N, N m";
    in  mu?: Vector::of(&k), "1", "friction as a signal, in the place of the parameter";
    in  constraints?: ConstraintsBus::of(&ConstraintBus::new(&nv), &m), _,
        "closed loops and held frames";
    ports.predicts(dynamics);
    let kind = ContactProblemBus::cone(self.chosen_cone() != Cone::Circular);
    out problem: ContactProblemBus::new(&k, &nv, kind), _, "for a solver block";
    ports.forward(problem, ContactProblemBus::FACTOR, dynamics, DynamicsBus::FACTOR);
    ports.checks_itself(problem);
)]
#[parameters(aliases("Delassus", "rigid contact"))]
pub struct GaussContact {
    /// Coulomb friction μ, one value or one for each contact, zero or more [1]; required unless the
    /// input `mu` is connected.
    pub mu: Option<Friction>,
    /// Which quantity the constraints are on; default `Velocity`.
    #[default]
    pub level: Level,
    /// Friction cone: `Circular` (the default, Coulomb's) or `Pyramid(sides: 4, fit: Inscribed)`
    /// (the default at acceleration level, where J̇ν turns friction by `Δt ω` away from the slip).
    pub cone: Option<Cone>,
    /// The law of contacts that slide. With `Coulomb` (the default) they keep to the ground, with
    /// `Convex` they lift off at μ times their speed.
    #[default]
    pub sliding: Sliding,
    /// Velocity level: highest speed at which a penetrating contact is pushed out [m/s]; from
    /// the default a body jumps 0.02 mm.
    #[default = "0.02 m/s"]
    pub recovery_speed: NonNegative<Velocity>,
    /// Velocity level: share of a penetration to remove in one step, up to 1 [1].
    #[default = 0.2]
    pub recovery_share: NonNegative<Dimensionless>,
    /// Velocity level: largest speed that a contact of surfaces gains within a step [m/s]. A
    /// contact that gains more may sink in.
    #[default = "50 m/s"]
    pub max_speed: Positive<Velocity>,
    /// Velocity level: the same limit for rows without surfaces, such as joint limits
    /// [rad/s; sliding joints m/s].
    #[default = "50 rad/s"]
    pub max_rate: Positive<AngularVelocity>,
    /// Velocity level: speed of approach above which a contact with restitution bounces [m/s].
    #[default = "2 cm/s"]
    pub bounce_speed: NonNegative<Velocity>,
    /// Velocity level: stiffness K of the ground under each contact [N/m]; default: it is rigid.
    pub stiffness: Option<Positive<Stiffness>>,
    /// Velocity level: damping D of compliant ground [N s/m]; default 0.
    pub damping: Option<NonNegative<Damping>>,
    /// Acceleration level: add `Jν/Δt`, so that friction opposes slip.
    #[default]
    pub correct_velocity: bool,
    /// What is added to the diagonal of G, as a share of its mean [1].
    #[default = 1e-10]
    pub regularisation: NonNegative<Dimensionless>,
    /// A typical contact force, to which solvers' tolerances relate [N]; default: the robot's
    /// weight over the number of contacts.
    pub force_scale: Option<Positive<Force>>,
    /// Acceleration level: assemble anew in minor steps too. Solver blocks have a parameter of the
    /// same name.
    #[default]
    pub in_minor_steps: bool,
}

/// The law of contacts that slide.
#[parameters]
#[derive(Copy, PartialEq, Eq, Default)]
pub enum Sliding {
    /// They keep to the ground.
    #[default]
    Coulomb,
    /// They lift off at μ times their speed: the problem is convex.
    Convex,
}

/// The quantity that contact constraints are on.
#[parameters]
#[derive(Copy, PartialEq, Eq, Default)]
pub enum Level {
    /// The velocity at the end of the step.
    #[default]
    Velocity,
    /// The acceleration now.
    Acceleration,
}

impl GaussContact {
    /// The chosen cone, or the default of the level.
    fn chosen_cone(&self) -> Cone {
        self.cone.unwrap_or(match self.level {
            Level::Velocity => Cone::Circular,
            Level::Acceleration => Cone::default(),
        })
    }

    /// The cone, if the parameters fit together and the run's solver fits them.
    fn cone(&self, ports: &mut Ports<'_>) -> Result<ConeShape, Invalid> {
        let cone = cone_shape(self.chosen_cone())?;
        if self.recovery_share.value() > 1.0 {
            let found = self.recovery_share.value();
            let message = format!("expected a share of at most 1, found {found}");
            return Err(Invalid::parameter("recovery_share", message));
        }
        if self.level == Level::Velocity && self.in_minor_steps {
            let message = "velocity-level contact acts over a whole step, it has no minor steps";
            return Err(Invalid::parameter("in_minor_steps", message));
        }
        if self.level == Level::Velocity {
            self.check_solver(ports)?;
        }
        self.check_ground()?;
        if !self.in_minor_steps {
            ports.per_major();
        }
        Ok(cone)
    }

    /// What gives way.
    fn ground(&self) -> Ground {
        let damping = self.damping.map_or(0.0, |damping| damping.value());
        Ground {
            spring: self.stiffness.map(|stiffness| (stiffness.value(), damping)),
            recovery: RecoveryLimit {
                fraction: self.recovery_share.value(),
                max_speed: self.recovery_speed.value(),
            },
        }
    }

    /// Compliant ground belongs to the velocity level, damping to compliant ground.
    fn check_ground(&self) -> Result<(), Invalid> {
        if self.stiffness.is_some() && self.level != Level::Velocity {
            let message = "expected `level: Velocity` with a stiffness, found `Acceleration`";
            return Err(Invalid::parameter("stiffness", message));
        }
        if self.damping.is_some() && self.stiffness.is_none() {
            let message = "expected damping of compliant ground, found no `stiffness`";
            return Err(Invalid::parameter("damping", message));
        }
        Ok(())
    }

    /// The velocity level supposes what `SemiImplicitEuler` does with a step.
    fn check_solver(&self, ports: &mut Ports<'_>) -> Result<(), Invalid> {
        let solver = ports.solver();
        let advice = "choose `run: (solver: SemiImplicitEuler)`, or `level: Acceleration`";
        if solver.is_variable() {
            let message = format!(
                "expected a solver of fixed steps for contact at velocity level, found {solver}"
            );
            return Err(Invalid::parameter("level", message).hint(advice));
        }
        if solver != Solver::SemiImplicitEuler {
            let message = format!(
                "contact at velocity level supposes SemiImplicitEuler; under {solver} feet sink in \
                 when they land"
            );
            ports.warn(Invalid::parameter("level", message).hint(advice));
        }
        Ok(())
    }
}

#[block]
impl Block for GaussContact {
    type Scratch = Work;

    fn check(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        match &self.mu {
            Some(mu) => friction_of(mu, sizes.dim(&plan.k)).map(|_| ())?,
            None if sizes.optional(plan.mu).is_some() => {}
            None => {
                let message = "expected friction, found neither a parameter nor an input `mu`";
                return Err(Invalid::parameter("mu", message).hint("write mu: 0.7"));
            }
        }
        check_torques(sizes.dim(&plan.nv), sizes.input(plan.tau))?;
        if self.level == Level::Acceleration && sizes.optional(plan.mode).is_none() {
            let message = "acceleration-level contact needs to know which contacts are closed";
            return Err(Invalid::parameter("level", message)
                .hint("connect `mode` to the output `mode` of an Impact block"));
        }
        Ok(())
    }

    fn scratch(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Work {
        let (count, nv) = (sizes.dim(&plan.k), sizes.dim(&plan.nv));
        let is_closed = sizes.optional(plan.constraints).is_some();
        let constraints = if is_closed { sizes.dim(&plan.m) } else { 0 };
        // `check` has accepted the parameter.
        let friction = self.mu.as_ref().and_then(|mu| friction_of(mu, count).ok());
        Work::new(count, constraints, nv, friction.unwrap_or_default())
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let time_step = cx.time.step;
        if !(time_step > 0.0 && time_step.is_finite()) {
            return Err(Fault::new(format!("expected a positive time step, found {time_step}")));
        }
        self.assemble(plan, time_step, &cx.inputs, &mut cx.outputs, cx.scratch)
    }
}

#[cfg(test)]
mod tests;
