//! `GaussContact`: assembles the rigid contact problem.

use legwork_block::quantity::{Dimensionless, Force, NonNegative, Positive, Velocity};
use legwork_block::{
    Block, Dim, Fault, In, Invalid, OptionalIn, Out, Outcome, OutputCx, Ports, Sizes, Solver,
    Vector,
};
use legwork_contact::RecoveryLimit;
use legwork_contact::rigid::row_products_into;
use legwork_qp::{ConeShape, DEFAULT_REGULARISATION};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::buses::{
    ContactPointsBus, ContactProblemBus, DynamicsBus, dynamics_leaf, problem_leaf as leaf,
};
use crate::friction_cone::{Friction, FrictionCone, friction_of};
use crate::wire_factor::WireFactor;

/// Acceleration of free fall by which forces are scaled [m/s²]; it need not be the robot's own.
const SCALE_GRAVITY: f64 = 9.81;

/// The rigid contact problem of Gauss's principle: `min ½ fᵀ(G + R)f + bᵀf` over forces in the
/// friction cones, with `G = J M⁻¹ Jᵀ`.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `dynamics` | `Dynamics` | | ν, M, h and the factor of M |
/// | in `points` | `ContactPoints` | | k contacts |
/// | in `tau` | n | N m | joint torques; act on the last n rows (nv − n is 6 or 0) |
/// | in `mode` | k, optional | 1 | 1 where a contact is closed; at acceleration level required |
/// | in `external` | nv, optional | N, N m | further generalised forces |
/// | out `problem` | `ContactProblem` | | for a solver block |
///
/// With the free acceleration `ν̇_f = M⁻¹(Sᵀτ + external − h)`, the step Δt and the gap φ:
///
/// - `Velocity`: `b = J ν̇_f + Jν/Δt + e_n γ(φ)`, γ = φ/Δt² outside the ground and a limited push
///   out inside. `(G f + b)_n ≥ 0` says that no gap is negative after the step. Touchdown needs no
///   event, friction opposes slip, nothing drifts. All contacts act unless `mode` says otherwise.
/// - `Acceleration`: `b = J ν̇_f + J̇ν` for the closed contacts (paper eqs. 16–18). It gets three
///   things wrong: a contact that slides at constant speed feels no friction (there is no
///   tangential acceleration to oppose; `correct_velocity` mends it by adding `Jν/Δt`, eq. 13c),
///   errors of velocity and position stay, so contacts drift, and touchdown needs an `Impact`.
///
/// The diagonal R of the problem holds the regularisation, which makes the forces of redundant
/// contacts unique.
///
/// The velocity level speaks of the position after the step as `q + Δt ν⁺`: run it with
/// `SemiImplicitEuler`. Under `Euler` and `Rk4` the position moves otherwise, and feet sink by
/// millimetres when they land: a warning. Solvers that choose their steps are refused, since the
/// length of a step must be known before it is made. Its problem is convex (M. Anitescu, *Optimization-based simulation
/// of nonsmooth rigid multibody dynamics*, 2006): a contact that slides at speed v hovers by about
/// `Δt μ v`; `CoulombContact`, around any solver, takes that away.
///
/// Computed at major steps and held between them, as a contact force belongs to a whole step,
/// unless `in_minor_steps`.
///
/// References: N. Guedelha, V. Pasandi et al., *A flexible MATLAB/Simulink simulator for robotic
/// floating-base systems in contact with the ground* (2024), eqs. (13)–(18); D. Stewart, J.
/// Trinkle, *An implicit time-stepping scheme …* (1996).
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GaussContact {
    /// Coulomb friction μ, one value or one for each contact, zero or more [1].
    pub mu: Friction,
    /// Which quantity the constraints are on; default `Velocity`.
    #[serde(default)]
    pub level: Level,
    /// Friction cone: `Pyramid(sides: 4, fit: Inscribed)` (the default), `Circular`.
    #[serde(default)]
    pub cone: FrictionCone,
    /// Velocity level: highest speed at which a penetrating contact is pushed out [m/s]; default
    /// 0.02 m/s, from which a body jumps 0.02 mm.
    #[serde(default = "recovery_speed")]
    pub recovery_speed: NonNegative<Velocity>,
    /// Velocity level: share of a penetration to remove in one step, up to 1 [1]; default 0.2.
    #[serde(default = "recovery_share")]
    pub recovery_share: NonNegative<Dimensionless>,
    /// Acceleration level: add `Jν/Δt`, so that friction opposes slip; default false.
    #[serde(default)]
    pub correct_velocity: bool,
    /// What is added to the diagonal of G, as a share of its mean [1]; default 1e-10.
    #[serde(default = "regularisation")]
    pub regularisation: NonNegative<Dimensionless>,
    /// A typical contact force, to which solvers' tolerances relate [N]; default: the robot's
    /// weight over the number of contacts.
    #[serde(default)]
    pub force_scale: Option<Positive<Force>>,
    /// Acceleration level: assemble anew in minor steps too; default false. Solver blocks have a
    /// parameter of the same name.
    #[serde(default)]
    pub in_minor_steps: bool,
}

/// The quantity that contact constraints are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
pub enum Level {
    /// The velocity at the end of the step.
    #[default]
    Velocity,
    /// The acceleration now.
    Acceleration,
}

/// A quantity of SI value `value`, for defaults that are known to be in range.
pub(crate) fn non_negative<Q: legwork_block::quantity::Physical>(value: f64) -> NonNegative<Q> {
    legwork_block::quantity::Physical::from_si(value).expect("a default is in its range")
}

fn recovery_speed() -> NonNegative<Velocity> {
    non_negative(RecoveryLimit::default().max_speed)
}

fn recovery_share() -> NonNegative<Dimensionless> {
    non_negative(RecoveryLimit::default().fraction)
}

fn regularisation() -> NonNegative<Dimensionless> {
    non_negative(DEFAULT_REGULARISATION)
}

/// Ports and constants of a [`GaussContact`].
pub struct Plan {
    dynamics: In<DynamicsBus>,
    points: In<ContactPointsBus>,
    tau: In<Vector>,
    mode: OptionalIn<Vector>,
    external: OptionalIn<Vector>,
    problem: Out<ContactProblemBus>,
    count: Dim,
    nv: Dim,
    cone: ConeShape,
    recovery: RecoveryLimit,
}

/// Work memory of a [`GaussContact`].
pub struct Scratch {
    factor: WireFactor,
    /// `J C⁻¹`, 3k × nv.
    half_jacobian: Vec<f64>,
    /// `C⁻ᵀ (Sᵀτ + external − h)`, nv.
    half_force: Vec<f64>,
    /// `friction` of the problem, k.
    friction: Vec<f64>,
}

impl GaussContact {
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

impl Block for GaussContact {
    const KIND: &'static str = "GaussContact";
    type Plan = Plan;
    type State = ();
    type Memo = ();
    type Scratch = Scratch;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let cone = self.cone.shape()?;
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
        let (count, nv, n) = (ports.dim(), ports.dim(), ports.dim());
        let robot = ports.any_robot();
        let dynamics = ports.input("dynamics", &DynamicsBus::any(robot, &nv));
        ports.note_in(dynamics).doc("terms of the equation of motion");
        let points = ports.input("points", &ContactPointsBus::new(&count, &nv));
        ports.note_in(points).doc("contacts");
        let tau = ports.input("tau", &Vector(n));
        ports.note_in(tau).doc("joint torques [N m, N]");
        let mode = ports.optional_input("mode", &Vector(count.clone()));
        ports.note_optional(mode).unit("1").doc("1 where a contact is closed");
        let external = ports.optional_input("external", &Vector(nv.clone()));
        ports.note_optional(external).doc("further generalised forces [N, N m]");
        let kind = ContactProblemBus::cone(self.cone != FrictionCone::Circular);
        let problem = ports.output("problem", &ContactProblemBus::new(&count, &nv, kind));
        ports.note_out(problem).doc("contact problem");
        ports.forward(problem, leaf::FACTOR, dynamics, dynamics_leaf::FACTOR);
        if !self.in_minor_steps {
            ports.per_major();
        }
        let recovery = RecoveryLimit {
            fraction: self.recovery_share.value(),
            max_speed: self.recovery_speed.value(),
        };
        Ok(Plan { dynamics, points, tau, mode, external, problem, count, nv, cone, recovery })
    }

    fn check(&self, plan: &Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        friction_of(&self.mu, sizes.dim(&plan.count))?;
        let (nv, n) = (sizes.dim(&plan.nv), sizes.input(plan.tau));
        if nv != n && nv != n + 6 {
            let expected =
                if nv > 6 { format!("{nv} or {} joint torques", nv - 6) } else { nv.to_string() };
            let message = format!("expected {expected} at `tau`, found {n}");
            return Err(Invalid::new(message));
        }
        if self.level == Level::Acceleration && sizes.optional(plan.mode).is_none() {
            let message = "acceleration-level contact needs to know which contacts are closed";
            return Err(Invalid::parameter("level", message)
                .hint("connect `mode` to the output `mode` of an Impact block"));
        }
        Ok(())
    }

    fn state(&self, _: &Plan, _: &Sizes<'_>) {}

    fn scratch(&self, plan: &Plan, sizes: &Sizes<'_>) -> Scratch {
        let (count, nv) = (sizes.dim(&plan.count), sizes.dim(&plan.nv));
        let friction = friction_of(&self.mu, count).unwrap_or_default();
        Scratch {
            factor: WireFactor::new(nv),
            half_jacobian: vec![0.0; 3 * count * nv],
            half_force: vec![0.0; nv],
            friction,
        }
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let time_step = cx.time.step;
        if !(time_step > 0.0 && time_step.is_finite()) {
            return Err(Fault::new(format!("expected a positive time step, found {time_step}")));
        }
        let Scratch { factor, half_jacobian, half_force, friction } = cx.scratch;
        let dynamics = cx.inputs.get(plan.dynamics);
        let points = cx.inputs.get(plan.points);
        let rows = 3 * points.len();
        let [inertia, bias, mu, active, compliance, gap, scale, sides, inscribed, jacobian] =
            cx.outputs.leaves([
                plan.problem.leaf(leaf::INVERSE_INERTIA),
                plan.problem.leaf(leaf::BIAS),
                plan.problem.leaf(leaf::FRICTION),
                plan.problem.leaf(leaf::ACTIVE),
                plan.problem.leaf(leaf::COMPLIANCE),
                plan.problem.leaf(leaf::GAP),
                plan.problem.leaf(leaf::FORCE_SCALE),
                plan.problem.leaf(leaf::SIDES),
                plan.problem.leaf(leaf::INSCRIBED),
                plan.problem.leaf(leaf::JACOBIAN),
            ]);
        stack_jacobian(&points, jacobian);
        factor.read(dynamics.factor)?;
        half_jacobian.copy_from_slice(jacobian);
        factor.half_solve_jacobian(half_jacobian, rows);
        factor.gram(half_jacobian, rows, inertia);

        // J ν̇_f = (J C⁻¹)(C⁻ᵀ (Sᵀτ + external - h)).
        for (force, h) in half_force.iter_mut().zip(dynamics.bias_force) {
            *force = -h;
        }
        let tau = cx.inputs.get(plan.tau);
        let base = half_force.len() - tau.len();
        for (force, tau) in half_force[base..].iter_mut().zip(tau) {
            *force += tau;
        }
        if let Some(external) = cx.inputs.optional(plan.external) {
            for (force, external) in half_force.iter_mut().zip(external) {
                *force += external;
            }
        }
        factor.half_solve(half_force);
        row_products_into(half_jacobian, half_force, bias);

        let is_velocity_level = self.level == Level::Velocity;
        for (contact, (b, gap)) in points.iter().zip(bias.chunks_exact_mut(3).zip(gap.iter_mut())) {
            *gap = contact.gap;
            let moving = contact.velocity.iter().zip(contact.jacobian_dot_nu);
            for (b, (v, drift)) in b.iter_mut().zip(moving) {
                if is_velocity_level || self.correct_velocity {
                    *b += v / time_step;
                }
                if !is_velocity_level {
                    *b += drift;
                }
            }
            if is_velocity_level {
                b[2] += plan.recovery.gap_term(contact.gap, time_step);
            }
        }
        match cx.inputs.optional(plan.mode) {
            Some(mode) => active.copy_from_slice(mode),
            None => active.fill(1.0),
        }
        mu.copy_from_slice(friction);
        sides[0] = plan.cone.sides() as f64;
        inscribed[0] = f64::from(u8::from(is_inscribed(&plan.cone)));
        let mean = mean_diagonal(inertia, active);
        compliance.fill(self.regularisation.value() * mean);
        // The base's linear block of M is the robot's mass times the identity.
        let mass = if base == 6 { dynamics.mass_matrix[0] } else { points.len() as f64 / mean };
        scale[0] = match self.force_scale {
            Some(force) => force.value(),
            None => mass * SCALE_GRAVITY / points.len().max(1) as f64,
        };
        Ok(())
    }
}

/// Whether a pyramid's edges lie on the circular cone.
pub(crate) fn is_inscribed(cone: &ConeShape) -> bool {
    use legwork_qp::{Cone, PyramidFit};
    matches!(cone.cone(), Cone::Pyramid { fit: PyramidFit::Inscribed, .. })
}

/// The Jacobians of all contacts below one another: 3k × nv.
pub(crate) fn stack_jacobian(points: &crate::buses::ContactPoints<'_>, jacobian: &mut [f64]) {
    let rows = 3 * points.len();
    for (i, contact) in points.iter().enumerate() {
        let columns = contact.jacobian.chunks_exact(3).zip(jacobian.chunks_exact_mut(rows));
        for (source, target) in columns {
            target[3 * i..3 * i + 3].copy_from_slice(source);
        }
    }
}

/// Mean diagonal of G over the active contacts; 1 if it is zero or none is active, so that it can
/// scale.
fn mean_diagonal(inverse_inertia: &[f64], active: &[f64]) -> f64 {
    let rows = 3 * active.len();
    let (mut sum, mut count) = (0.0, 0.0);
    for (contact, _) in active.iter().enumerate().filter(|(_, active)| **active != 0.0) {
        for i in 3 * contact..3 * contact + 3 {
            sum += inverse_inertia[i * rows + i];
            count += 1.0;
        }
    }
    if sum > 0.0 { sum / count } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use legwork_contact::ContactAssembly;
    use legwork_contact::rigid::mass_solved_jacobian_into;
    use legwork_qp::problems::Random;
    use nalgebra::{DMatrix, DVector};
    use serde_json::json;

    use super::*;
    use crate::buses::contact_leaf;
    use crate::contacts_testing::{Harness, block, dynamics, points};

    const NV: usize = 8;
    const COUNT: usize = 3;

    /// A robot at a random state.
    struct Robot {
        factor: DMatrix<f64>,
        jacobian: DMatrix<f64>,
        nu: DVector<f64>,
        bias_force: DVector<f64>,
        gaps: [f64; COUNT],
        drift: DVector<f64>,
    }

    impl Robot {
        fn random(seed: u64) -> Self {
            let mut random = Random::new(seed);
            let factor = DMatrix::from_fn(NV, NV, |i, j| match i.cmp(&j) {
                std::cmp::Ordering::Greater => random.normal(),
                std::cmp::Ordering::Equal => 0.5 + random.uniform(),
                std::cmp::Ordering::Less => 0.0,
            });
            let mut vector = |n| DVector::from_fn(n, |_, _| random.normal());
            let (nu, bias_force, drift) = (vector(NV), vector(NV), vector(3 * COUNT));
            let jacobian = DMatrix::from_fn(3 * COUNT, NV, |_, _| random.normal());
            Self { factor, jacobian, nu, bias_force, gaps: [0.01, 0.0, -0.003], drift }
        }

        fn write(&self, rig: &mut Harness) {
            let mass = self.factor.transpose() * &self.factor;
            rig.set_leaf("dynamics", 0, self.nu.as_slice());
            rig.set_leaf("dynamics", 1, mass.as_slice());
            rig.set_leaf("dynamics", 2, self.bias_force.as_slice());
            rig.set_leaf("dynamics", 3, self.factor.as_slice());
            let velocity = &self.jacobian * &self.nu;
            for i in 0..COUNT {
                let v = [velocity[3 * i], velocity[3 * i + 1], velocity[3 * i + 2]];
                rig.set_contact("points", i, self.gaps[i], v);
                let rows = self.jacobian.rows(3 * i, 3).into_owned();
                let first = i * contact_leaf::COUNT;
                rig.set_leaf("points", first + contact_leaf::JACOBIAN, rows.as_slice());
                let drift = self.drift.rows(3 * i, 3).into_owned();
                rig.set_leaf("points", first + contact_leaf::JACOBIAN_DOT_NU, drift.as_slice());
            }
        }

        /// `M⁻¹ x`, by LU.
        fn solve(&self, x: &DVector<f64>) -> DVector<f64> {
            (self.factor.transpose() * &self.factor).lu().solve(x).expect("definite")
        }
    }

    fn ports() -> Vec<(&'static str, Type)> {
        vec![
            ("dynamics", dynamics(NV)),
            ("points", points(COUNT, NV)),
            ("tau", Type::vector(NV - 6)),
            ("external", Type::vector(NV)),
        ]
    }

    /// The oracle is the contact crate's assembly over a dense inverse of M.
    #[test]
    fn the_problem_is_that_of_the_equation_of_motion() {
        for seed in 0..20 {
            let robot = Robot::random(seed);
            let tau = [0.7, -1.3];
            let external = DVector::from_fn(NV, |i, _| 0.1 * i as f64);
            let mut force = &external - &robot.bias_force;
            force[NV - 2] += tau[0];
            force[NV - 1] += tau[1];
            let free = robot.solve(&force);
            let mut y = vec![0.0; NV * 3 * COUNT];
            let solve = |x: &mut [f64]| {
                let solved = robot.solve(&DVector::from_column_slice(x));
                x.copy_from_slice(solved.as_slice());
            };
            mass_solved_jacobian_into(robot.jacobian.as_slice(), 3 * COUNT, solve, &mut y);
            let cone = FrictionCone::default().shape().expect("a pyramid");
            let mut oracle = ContactAssembly::new(COUNT, cone);
            let recovery = RecoveryLimit { fraction: 0.2, max_speed: 0.02 };
            for level in ["Velocity", "Acceleration"] {
                let (j, free) = (robot.jacobian.as_slice(), free.as_slice());
                let (nu, gaps, closed) = (robot.nu.as_slice(), &robot.gaps, [1.0, 0.0, 1.0]);
                let parameters = json!({ "mu": 0.7, "level": level, "correct_velocity": true });
                let mut given = ports();
                let expected = if level == "Velocity" {
                    oracle.velocity_level(j, &y, free, nu, gaps, 0.001, recovery)
                } else {
                    given.push(("mode", Type::vector(COUNT)));
                    let drift = robot.drift.as_slice();
                    oracle.acceleration_level(j, &y, free, nu, drift, &closed, Some(0.001))
                };
                let gauss: GaussContact = block(parameters);
                let mut rig = Harness::new(gauss, &given).expect("planned");
                robot.write(&mut rig);
                rig.set("tau", &tau);
                rig.set("external", external.as_slice());
                if level == "Acceleration" {
                    rig.set("mode", &closed);
                }
                rig.output(0.0).expect("no fault");
                for (leaf, expected) in [
                    (leaf::INVERSE_INERTIA, expected.inverse_inertia),
                    (leaf::BIAS, expected.bias),
                    (leaf::ACTIVE, expected.active),
                    (leaf::JACOBIAN, j),
                    (leaf::GAP, &gaps[..]),
                ] {
                    let found = rig.leaf("problem", leaf);
                    let size = expected.iter().fold(1.0, |m: f64, v| m.max(v.abs()));
                    for (found, expected) in found.iter().zip(expected) {
                        let error = (found - expected).abs() / size;
                        assert!(error < 1e-8, "seed {seed} {level} leaf {leaf}: {error:.1e}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        let level: GaussContact = block(json!({ "mu": 0.7, "level": "Acceleration" }));
        let invalid = Harness::new(level, &ports()).err().expect("no mode");
        assert!(invalid.hints[0].contains("Impact"), "{invalid:?}");
        let list: GaussContact = block(json!({ "mu": [0.7, 0.7] }));
        assert!(Harness::new(list, &ports()).is_err());
        let gauss: GaussContact = block(json!({ "mu": 0.7 }));
        let mut wrong = ports();
        wrong[2].1 = Type::vector(NV - 1);
        let invalid = Harness::new(gauss, &wrong).err().expect("wrong length");
        assert_eq!(invalid.message, "expected 8 or 2 joint torques at `tau`, found 7");
    }
}
