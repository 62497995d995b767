//! `ImplicitContact`: the law of `CompliantContact` at the end of the step.

use legwork_block::{
    Block, Dim, Fault, Invalid, Outcome, OutputCx, Ports, Report, Sizes, Solver, UpdateCx, Vector,
    block, parameters, ports,
};
use legwork_contact::{
    CompliantContact as Law, ContactRows, ImplicitContact as Method, ImplicitProblem,
    ImplicitSolution,
};
use serde::{Deserialize, Serialize};

use crate::buses::{
    ConstraintBus, ConstraintsBus, Contact, ContactBus, ContactPointsBus, DynamicsBus,
    contact_points, refuse_restitution,
};
use crate::contact::compliant_contact::CompliantContact;
use crate::contact::response::{Acting, Response};
use crate::dynamics::applied_force::check_torques;

/// Compliant contact with the forces of the end of the step, stable at long steps. It permits steps
/// at which the stiff law of `CompliantContact` is unstable.
///
/// With the law `F(δ, v)` of `CompliantContact`, contact by contact, and the velocity without
/// contact forces `v_f = v + Δt (J M⁻¹(Sᵀτ + external − h − p) + J̇ν)`, the forces are
/// `f = F(δ + Δt v⁺_n, v⁺)` with `v⁺ = v_f + Δt G f` and `G = J M⁻¹Jᵀ`: one step of
/// `SemiImplicitEuler` that is implicit in the contacts. As Δt goes to 0 they are those of
/// `CompliantContact`; at any Δt a spring gives back no more than it took, and friction opposes the
/// slip that there is after the step.
///
/// J, the normals, M and h are those at the beginning of the step, so the error is of first order
/// in Δt. Contacts that are farther from the ground than they come within the step, even if they
/// became 10 m/s faster, have no force.
///
/// Newton's method starts from the present velocity and needs two or three iterations. Friction
/// that presses a contact into the ground more than it slows it can defeat it (Painlevé); the
/// forces are then still those of the law, at a velocity which is not exactly that of the end, and
/// the step counts as a failure in the report.
///
/// M is that of the bus: damping and springs of joints and the inertia of motors are in it. With
/// `constraints`, G and `v_f` are those of the closed mechanism. Run it with `SemiImplicitEuler`:
/// under other solvers of fixed steps the force is held over the step, and the end is another: a
/// warning. Solvers that choose their steps are refused; for them `CompliantContact` is the block.
///
/// References: E. Hairer, G. Wanner, *Solving Ordinary Differential Equations II* (1996), ch. IV;
/// D. T. de Paula et al., *Dynamic modeling and simulation of a torque-controlled spatial quadruped
/// robot* (2024), eqs. (34)–(38), for the law.
#[ports(
    keep law: Law = self.law.law()?;
    Self::check_solver(ports)?;
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
    in  external?: Vector::of(&nv), _, "further generalised forces", units "N, N m";
    in  constraints?: ConstraintsBus::of(&ConstraintBus::new(&nv), &m), _,
        "closed loops and held frames";
    ports.predicts(dynamics);
    out forces("f"): Vector::of(3 * k.clone()), "N", "contact forces on the robot, contact axes",
        frame "contact", shape "3k";
    ports.updates();
    ports.per_major();
)]
#[parameters]
pub struct ImplicitContact {
    /// The parameters of `CompliantContact`, as in `law: (mu: 0.7, stiffness: 1e6)`.
    pub law: CompliantContact,
}

/// Change of velocity within a step that is allowed for [m/s].
const SUDDEN: f64 = 10.0;

/// Counts for the report.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct State {
    calls: u64,
    failures: u64,
    iterations: u64,
    worst_residual: f64,
}

/// Work memory. What belongs to the contacts near the ground comes first in each list.
pub struct Scratch {
    near: Vec<usize>,
    laws: Vec<Law>,
    gaps: Vec<f64>,
    response: Response,
    /// Of all contacts: which are near, and which were, k.
    active: Vec<f64>,
    was_active: Vec<f64>,
    /// Set to zero where a contact has no tangential rows, which this law does not ask.
    friction: Vec<f64>,
    /// J, 3k × nv, G, 3k × 3k, and the acceleration without contact forces, 3k.
    jacobian: Vec<f64>,
    inertia: Vec<f64>,
    acceleration: Vec<f64>,
    /// Of contacts near the ground.
    near_inertia: Vec<f64>,
    free_velocity: Vec<f64>,
    velocity: Vec<f64>,
    forces: Vec<f64>,
    method: Method,
}

impl ImplicitContact {
    /// The end of the step is that of `SemiImplicitEuler`.
    fn check_solver(ports: &mut Ports<'_>) -> Result<(), Invalid> {
        let solver = ports.solver();
        let advice = "choose `run: (solver: SemiImplicitEuler)`, or the block CompliantContact";
        if solver.is_variable() {
            let message = format!(
                "expected a solver of fixed steps for contact at the end of the step, found \
                 {solver}"
            );
            return Err(Invalid::new(message).hint(advice));
        }
        if solver != Solver::SemiImplicitEuler {
            let message = format!(
                "contact at the end of the step supposes SemiImplicitEuler; {solver} ends elsewhere"
            );
            ports.warn(Invalid::new(message).hint(advice));
        }
        Ok(())
    }
}

/// Whether a contact can touch within a step of length `time_step`.
fn is_near(contact: &Contact<'_>, time_step: f64) -> bool {
    let nearest = contact.gap + time_step * (contact.velocity[2] - SUDDEN);
    // NaN is near, so that it shows.
    nearest < 0.0 || nearest.is_nan()
}

#[block]
impl Block for ImplicitContact {
    type State = State;
    type Memo = Option<ImplicitSolution>;
    type Scratch = Scratch;

    fn check(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        self.law.check_friction(sizes.dim(&plan.k))?;
        check_torques(sizes.dim(&plan.nv), sizes.input(plan.tau))
    }

    fn scratch(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Scratch {
        let (count, nv) = (sizes.dim(&plan.k), sizes.dim(&plan.nv));
        let is_closed = sizes.optional(plan.constraints).is_some();
        let constraints = if is_closed { sizes.dim(&plan.m) } else { 0 };
        let rows = 3 * count;
        Scratch {
            near: Vec::with_capacity(count),
            laws: Vec::with_capacity(count),
            gaps: Vec::with_capacity(count),
            response: Response::new(count, constraints, nv),
            active: vec![0.0; count],
            was_active: vec![0.0; count],
            friction: vec![0.0; count],
            jacobian: vec![0.0; rows * nv],
            inertia: vec![0.0; rows * rows],
            acceleration: vec![0.0; rows],
            near_inertia: vec![0.0; rows * rows],
            free_velocity: vec![0.0; rows],
            velocity: vec![0.0; rows],
            forces: vec![0.0; rows],
            method: Method::new(count),
        }
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let dt = cx.time.step;
        if !(dt > 0.0 && dt.is_finite()) {
            return Err(Fault::new(format!("expected a positive time step, found {dt}")));
        }
        let (points, work) = (cx.inputs.get(plan.points), &mut *cx.scratch);
        refuse_restitution(&points, "this law has `dissipation`")?;
        let out = cx.outputs.get(plan.forces);
        out.fill(0.0);
        work.near.clear();
        work.laws.clear();
        work.gaps.clear();
        std::mem::swap(&mut work.active, &mut work.was_active);
        work.active.fill(0.0);
        for (i, contact) in points.iter().enumerate().filter(|(_, c)| is_near(c, dt)) {
            let (static_friction, dynamic_friction) = self.law.friction(i, contact.own_friction());
            work.active[i] = 1.0;
            work.near.push(i);
            work.laws.push(Law { static_friction, dynamic_friction, ..plan.law });
            // J̇ν is in the velocity at the end, half of it in the way to there.
            work.gaps.push(contact.gap - 0.5 * dt * dt * contact.jacobian_dot_nu[2]);
            work.acceleration[3 * i..3 * i + 3].copy_from_slice(contact.jacobian_dot_nu);
        }
        let acting = Acting {
            dynamics: &cx.inputs.get(plan.dynamics),
            tau: cx.inputs.get(plan.tau),
            external: cx.inputs.optional(plan.external),
            constraints: cx.inputs.optional(plan.constraints),
        };
        let mut assembled = ContactRows {
            active: &work.active,
            jacobian: &mut work.jacobian,
            bias: &mut work.acceleration,
            inverse_inertia: &mut work.inertia,
            was_active: Some(&work.was_active),
            friction: &mut work.friction,
        };
        work.response.respond_to_forces(&acting, &points, &mut assembled)?;
        if work.near.is_empty() {
            return Ok(());
        }
        let rows = 3 * work.near.len();
        let (free, all) = (&mut work.free_velocity[..rows], 3 * points.len());
        for (a, &i) in work.near.iter().enumerate() {
            let velocity = points.leaf(i, ContactBus::VELOCITY);
            for axis in 0..3 {
                work.velocity[3 * a + axis] = velocity[axis];
                free[3 * a + axis] = velocity[axis] + dt * work.acceleration[3 * i + axis];
            }
        }
        let inertia = if rows == all {
            &work.inertia[..]
        } else {
            let columns = work.near_inertia[..rows * rows].chunks_exact_mut(rows).enumerate();
            for (j, column) in columns {
                let from = &work.inertia[(3 * work.near[j / 3] + j % 3) * all..][..all];
                for (to, &i) in column.as_chunks_mut::<3>().0.iter_mut().zip(&work.near) {
                    to.copy_from_slice(&from[3 * i..3 * i + 3]);
                }
            }
            &work.near_inertia[..rows * rows]
        };
        let problem = ImplicitProblem {
            inverse_inertia: inertia,
            free_velocity: free,
            gaps: &work.gaps,
            time_step: dt,
            laws: &work.laws,
        };
        let forces = &mut work.forces[..rows];
        let solution = work.method.solve(&problem, &mut work.velocity[..rows], forces);
        for (&i, force) in work.near.iter().zip(forces.chunks_exact(3)) {
            out[3 * i..3 * i + 3].copy_from_slice(force);
        }
        *cx.memo = Some(solution);
        Ok(())
    }

    fn update(&self, _: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        if let Some(solution) = cx.memo {
            cx.state.calls += 1;
            cx.state.failures += u64::from(!solution.is_solved);
            cx.state.iterations += u64::from(solution.iterations);
            cx.state.worst_residual = cx.state.worst_residual.max(solution.residual);
        }
        Ok(())
    }

    fn report(&self, _: &Self::Plan, state: &State, report: &mut Report) {
        report.solver_calls += state.calls;
        report.solver_failures += state.failures;
        report.metric("worst_residual", state.worst_residual);
        if state.calls > 0 {
            report.metric("mean_iterations", state.iterations as f64 / state.calls as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use serde_json::json;

    use super::*;
    use crate::buses::ContactBus;
    use crate::contact::contact_point::ContactPoint;
    use crate::dynamics::forward_dynamics::{Algorithm, ForwardDynamics};
    use crate::dynamics::robot_dynamics::RobotDynamics;
    use crate::testing::contacts::{block, dynamics, points};
    use crate::testing::robots::{Rig, States, go};

    const DT: f64 = 1e-3;
    const MOTORS: [&str; 2] = ["motor_inertia", "motor_inertia_matrix"];

    fn law() -> Law {
        let law: CompliantContact = block(json!({ "mu": 0.7, "slip_speed": 0.05 }));
        let law = law.law().expect("a law");
        Law { static_friction: 0.7, dynamic_friction: 0.7, ..law }
    }

    fn rig(step: f64) -> Rig {
        let parameters = json!({ "law": { "mu": 0.7, "slip_speed": 0.05 } });
        let given =
            [("points", points(1, 18)), ("tau", Type::vector(12)), ("dynamics", dynamics(18))];
        let without = ["constraints"];
        let mut rig = Rig::with(block::<ImplicitContact>(parameters), &go(), &without, &given)
            .unwrap_or_else(|invalid| panic!("{}", invalid.message));
        rig.step = step;
        rig
    }

    /// A foot 0.5 mm in the ground: the leaves of its contact.
    fn contact(q: &mut [f64], nu: &[f64]) -> Vec<Vec<f64>> {
        let parameters = json!({ "robot": "go", "frame": "HR_foot" });
        let mut rig = Rig::new(block::<ContactPoint>(parameters), &go(), &[]);
        for _ in 0..2 {
            rig.set("state", &[q, nu]);
            rig.output();
            q[2] -= rig.leaf("contact", ContactBus::GAP)[0] + 5e-4;
        }
        rig.set("state", &[q, nu]);
        rig.output();
        (0..ContactBus::LEAVES).map(|i| rig.leaf("contact", i)).collect()
    }

    fn forces(rig: &mut Rig, q: &[f64], nu: &[f64], tau: &[f64], points: &[Vec<f64>]) -> Vec<f64> {
        let mut dynamics =
            Rig::new(block::<RobotDynamics>(json!({ "robot": "go" })), &go(), &MOTORS);
        dynamics.set("state", &[q, nu]);
        dynamics.output();
        let leaves: Vec<_> = (0..DynamicsBus::LEAVES).map(|i| dynamics.leaf("bus", i)).collect();
        let leaves: Vec<&[f64]> = leaves.iter().map(Vec::as_slice).collect();
        rig.set("dynamics", &leaves);
        rig.set("tau", &[tau]);
        let leaves: Vec<&[f64]> = points.iter().map(Vec::as_slice).collect();
        rig.set("points", &leaves);
        rig.output();
        rig.leaf("f", 0)
    }

    /// The end of the step by `ForwardDynamics`, and there the explicit law.
    #[test]
    fn forces_are_those_of_the_law_where_forward_dynamics_lead() {
        let tau: Vec<f64> = (0..12).map(|i| f64::from(i) - 5.0).collect();
        let given = [("J", Type::matrix(3, 18)), ("f", Type::vector(3))];
        let dynamics = ForwardDynamics { robot: "go".into(), algorithm: Algorithm::Factor };
        let mut dynamics =
            Rig::with(dynamics, &go(), &["external"], &given).unwrap_or_else(|_| panic!("a plan"));
        let mut pressed = 0;
        for (mut q, nu) in States::of(&go(), 20) {
            let nu: Vec<f64> = nu.iter().map(|nu| 0.1 * nu).collect();
            let points = contact(&mut q, &nu);
            let f = forces(&mut rig(DT), &q, &nu, &tau, &points);
            dynamics.set("state", &[&q, &nu]);
            dynamics.set("tau", &[&tau]);
            dynamics.set("J", &[&points[ContactBus::JACOBIAN]]);
            dynamics.set("f", &[&f]);
            dynamics.output();
            let nu_dot = dynamics.leaf("nu_dot", 0);
            let end = [0, 1, 2].map(|axis| {
                let rate = |k: usize| nu[k] + DT * nu_dot[k];
                let j = &points[ContactBus::JACOBIAN];
                (0..18).map(|k| j[3 * k + axis] * rate(k)).sum::<f64>()
                    + DT * points[ContactBus::JACOBIAN_DOT_NU][axis]
            });
            let gap = points[ContactBus::GAP][0] + DT * end[2]
                - 0.5 * DT * DT * points[ContactBus::JACOBIAN_DOT_NU][2];
            let expected = law().force(gap, end);
            let scale = 10.0 + f.iter().fold(0.0f64, |m, f| m.max(f.abs()));
            for (found, expected) in f.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-8 * scale, "{found} for {expected}");
            }
            pressed += usize::from(f[2] > 0.0);
        }
        assert!(pressed > 3, "it pressed {pressed} times");
    }

    #[test]
    fn a_tiny_step_gives_the_explicit_law_and_a_foot_in_the_air_no_force() {
        for (mut q, nu) in States::of(&go(), 10) {
            let nu: Vec<f64> = nu.iter().map(|nu| 0.01 * nu).collect();
            let mut points = contact(&mut q, &nu);
            let f = forces(&mut rig(1e-10), &q, &nu, &[0.0; 12], &points);
            let v = &points[ContactBus::VELOCITY];
            let expected = law().force(points[ContactBus::GAP][0], [v[0], v[1], v[2]]);
            for (found, expected) in f.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-5 * (1.0 + f[2]), "{found} for {expected}");
            }
            points[ContactBus::GAP][0] = 0.1;
            assert_eq!(forces(&mut rig(DT), &q, &nu, &[0.0; 12], &points), [0.0; 3]);
        }
    }

    #[test]
    fn a_law_that_contradicts_itself_is_refused() {
        let law = json!({ "mu": 0.7, "slide_speed": 0.001 });
        let wrong = block::<ImplicitContact>(json!({ "law": law }));
        let given = [("points", points(1, 18))];
        assert!(Rig::with(wrong, &go(), &[], &given).is_err());
    }
}
