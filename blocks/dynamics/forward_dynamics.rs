//! `ForwardDynamics`: the acceleration of a robot under torques and contact forces.

use std::sync::Arc;

use legwork_block::{
    Block, Fault, Invalid, Matrix, Outcome, OutputCx, Report, Shared, Sizes, Slope, SlopesCx,
    UpdateCx, Vector, block, parameters, ports,
};
use legwork_mechanics::{
    ArticulatedBody, Derivatives, InverseDynamics, InverseMass, Kinematics, MassFactor, MassMatrix,
    add_transposed_product, articulated_body, bias_force, forward_dynamics,
    forward_dynamics_derivatives, mass_matrix,
};

use crate::buses::{RobotDims, StateBus};
use crate::robot::efforts::{Beyond, EffortWatch, beyond};
use crate::robot::joint_values::{torques, unit_of};
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::robot::passive_forces::{PassiveForces, StepEnd};
use crate::robot::shared_kinematics::kinematics;
use crate::robot::shared_mass::{Mass, mass};
use crate::robot::state_slopes::by_configuration;

/// Acceleration of a robot: `ν̇ = M⁻¹ (Sᵀτ + Jᵀf + f_ext − h − d ν − k (s − r))`.
///
/// `J` and `f` must be in the same axes. d is the damping and dry friction of the joints, k and r
/// are stiffness and rest of their springs, if the robot has any, see `Urdf` and `Mjcf`. Under
/// `SemiImplicitEuler` and `Euler` M is `M + Δt d + ¼ Δt² k`, and no damping or spring is too stiff
/// for a step.
///
/// | `algorithm` | cost | when |
/// |---|---|---|
/// | `Factor` | O(n depth²) once for M, h, factor; O(nv depth) | other blocks need M |
/// | `ArticulatedBody` | O(n); M is not formed | the robot alone; long chains |
///
/// Both give the same up to rounding. A torque beyond the effort of its joint, which no motor limits,
/// is a warning of the run. A joint that moves no mass and has no rotor inertia is a
/// fault that names it.
///
/// Without `J` and `f` its forces are smooth, as `FloatingBase` has it: `external` must not carry
/// those of a contact law that predicts the end of the step.
///
/// R. Featherstone, *Rigid Body Dynamics Algorithms* (2008), sec. 6.1, 6.5 and 7.3.
#[ports(
    keep robot: Arc<RobotModel> = self.robot.find(ports)?;
    let RobotDims { nv, n, .. } = RobotDims::of(ports, self.robot.as_str());
    let rows = 3 * ports.dim();
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    keep asked: Asked = match self.algorithm {
        Algorithm::Factor => Asked::Factor(mass(ports, &robot, state)),
        Algorithm::ArticulatedBody => {
            Asked::ArticulatedBody(kinematics(ports, &robot, state), StepEnd::of(ports))
        }
    };
    keep step_end: StepEnd = StepEnd::of(ports);
    in  tau: Vector::of(n), unit_of(&torques(&robot.model)), "joint torques τ",
        units "N m, N";
    /// Efforts of the joints; empty if none has one.
    keep efforts: Vec<f64> = robot.finite_efforts();
    if !efforts.is_empty() {
        ports.updates();
    }
    in  jacobian("J")?: Matrix::of(&rows, &nv), _,
        "Jacobians of k contact points, below one another", shape "3k × nv", units "1, m";
    in  forces("f")?: Vector::of(rows), "N",
        "forces on the robot at these points, contact axes (t₁, t₂, n)", frame "contact",
        shape "3k", if "with `J`";
    in  external?: Vector::of(&nv), _, "generalised force f_ext: base in world axes, joints",
        units "N, N m";
    out nu_dot: Vector::of(nv), _, "acceleration ν̇, time derivative of ν number by number",
        units "m/s², rad/s²";
    if !ports.connected().iter().any(|name| ["J", "f"].contains(name)) {
        ports.is_smooth(nu_dot);
    }
)]
#[parameters(aliases("ABA", "articulated-body algorithm"))]
pub struct ForwardDynamics {
    /// The robot.
    pub robot: RobotName,
    /// How to solve: `Factor` (the default) or `ArticulatedBody`.
    #[default]
    pub algorithm: Algorithm,
}

/// How forward dynamics are solved.
#[parameters]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// By the factor of the joint-space inertia.
    #[default]
    Factor,
    /// By recursion over articulated bodies.
    ArticulatedBody,
}

/// What an algorithm asks for.
enum Asked {
    Factor(Shared<Mass>),
    ArticulatedBody(Shared<Kinematics>, StepEnd),
}

/// Work memory of [`ForwardDynamics`].
pub struct Scratch {
    /// Generalised external force.
    external: Vec<f64>,
    articulated: Option<(ArticulatedBody, PassiveForces)>,
}

#[block]
impl Block for ForwardDynamics {
    type State = EffortWatch;
    type Memo = Option<Beyond>;
    type Scratch = Scratch;

    fn check(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        match (sizes.optional(plan.jacobian), sizes.optional(plan.forces)) {
            (Some(_), None) => Err(together("J", "f")),
            (None, Some(_)) => Err(together("f", "J")),
            _ => Ok(()),
        }
    }

    fn scratch(&self, plan: &Self::Plan, _: &Sizes<'_>) -> Scratch {
        let model = &plan.robot.model;
        let articulated = match plan.asked {
            Asked::Factor(_) => None,
            Asked::ArticulatedBody(_, step) => {
                Some((ArticulatedBody::new(model), PassiveForces::new(model, step)))
            }
        };
        Scratch { external: vec![0.0; model.velocity_dim()], articulated }
    }

    #[expect(clippy::unreachable, reason = "`scratch` makes what is asked for")]
    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let Scratch { external, articulated } = &mut *cx.scratch;
        match cx.inputs.optional(plan.external) {
            Some(force) => external.copy_from_slice(force),
            None => external.fill(0.0),
        }
        if let (Some(jacobian), Some(forces)) =
            (cx.inputs.optional(plan.jacobian), cx.inputs.optional(plan.forces))
        {
            add_transposed_product(jacobian, forces, external);
        }
        let (model, tau) = (&plan.robot.model, cx.inputs.get(plan.tau));
        if !cx.time.minor {
            *cx.memo = beyond(&plan.efforts, tau);
        }
        let out = cx.outputs.get(plan.nu_dot);
        match (&plan.asked, articulated) {
            (Asked::ArticulatedBody(kinematics, _), Some((workspace, passive))) => {
                let state = cx.inputs.get(plan.state);
                if passive.acts {
                    passive.update(model, state.q, state.nu, cx.time);
                    passive.add_to(-1.0, external);
                    workspace.set_added_inertia(model, &passive.added);
                }
                let kinematics = cx.inputs.shared(*kinematics);
                articulated_body(model, kinematics, tau, external, workspace, out)
                    .map_err(|error| Fault::new(format!("{}: {error}", plan.robot.name)))
            }
            (Asked::Factor(mass), _) => {
                let mass = cx.inputs.shared(*mass);
                let factor = mass.factor(&plan.robot)?;
                forward_dynamics(model, factor, &mass.opposing_force, tau, external, out);
                Ok(())
            }
            (Asked::ArticulatedBody(..), None) => unreachable!("`scratch` made the workspace"),
        }
    }

    fn update(&self, _: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        cx.state.commit(cx.time.t, *cx.memo);
        Ok(())
    }

    fn report(&self, plan: &Self::Plan, state: &EffortWatch, report: &mut Report) {
        state.report(&plan.robot.model, report);
    }

    /// `∂ν̇/∂x = −M⁻¹ ∂(M ν̇ + h + p)/∂x` and `∂ν̇/∂F = M⁻¹`. Where a step adds damping or springs
    /// to M, whose slopes are not known, it is differenced.
    fn output_slopes(&self, plan: &Self::Plan, cx: &mut SlopesCx<'_, Self>) -> Slope {
        let model = &plan.robot.model;
        let mut passive = PassiveForces::new(model, plan.step_end);
        if passive.acts && plan.step_end != StepEnd::Unknown {
            return Slope::Unknown;
        }
        let (state, tau) = (cx.inputs.get(plan.state), cx.inputs.get(plan.tau));
        let nv = model.velocity_dim();
        let mut kinematics = Kinematics::new(model);
        kinematics.update(model, state.q, state.nu);
        let (mut mass, mut factor) = (MassMatrix::new(model), MassFactor::new(model));
        mass_matrix(model, &kinematics, &mut mass);
        if nv == 0 || factor.factorize(&mass).is_err() {
            return Slope::Unknown;
        }
        let mut opposing = vec![0.0; nv];
        bias_force(model, &kinematics, &mut InverseDynamics::new(model), &mut opposing);
        passive.update(model, state.q, state.nu, cx.time);
        passive.add_to(1.0, &mut opposing);
        let mut external = vec![0.0; nv];
        if let Some(force) = cx.inputs.optional(plan.external) {
            external.copy_from_slice(force);
        }
        let contacts = cx.inputs.optional(plan.jacobian).zip(cx.inputs.optional(plan.forces));
        if let Some((jacobian, forces)) = contacts {
            add_transposed_product(jacobian, forces, &mut external);
        }
        let mut acceleration = vec![0.0; nv];
        forward_dynamics(model, &factor, &opposing, tau, &external, &mut acceleration);
        let [mut by_q, mut by_nu, mut inverse] = [(); 3].map(|()| vec![0.0; nv * nv]);
        let mut by_tau = vec![0.0; nv * model.joint_dim()];
        forward_dynamics_derivatives(
            model,
            &kinematics,
            &factor,
            &acceleration,
            &mut Derivatives::new(model),
            &mut by_q,
            &mut by_nu,
            &mut by_tau,
        );
        factor.write_inverse(&mut InverseMass::new(model), &mut inverse);
        if passive.acts {
            let mut slope = vec![0.0; nv];
            model.joint_damping_slope(state.nu, &mut slope);
            take_scaled_columns(&mut by_nu, &inverse, &slope);
            model.joint_stiffness(&mut slope);
            take_scaled_columns(&mut by_q, &inverse, &slope);
        }
        let slopes = &mut cx.slopes;
        let rows = slopes.rows(plan.nu_dot, 0);
        let (q, nu) = (slopes.columns(plan.state, 0), slopes.columns(plan.state, 1));
        by_configuration(model, state.q, &by_q, (rows, q), slopes);
        slopes.matrix(rows, nu, &by_nu, 1.0);
        slopes.matrix(rows, slopes.columns(plan.tau, 0), &by_tau, 1.0);
        if let Some(external) = slopes.optional(plan.external, 0) {
            slopes.matrix(rows, external, &inverse, 1.0);
        }
        let columns = slopes.optional(plan.jacobian, 0).zip(slopes.optional(plan.forces, 0));
        let (Some((jacobian, forces)), Some((by_jacobian, by_forces))) = (contacts, columns) else {
            return Slope::Exact;
        };
        let count = forces.len();
        for (k, own) in inverse.chunks_exact(nv).enumerate() {
            for (i, response) in own.iter().enumerate() {
                for (r, force) in forces.iter().enumerate() {
                    let place = k * count + r;
                    slopes.add((rows, i), (by_jacobian, place), response * force);
                    slopes.add((rows, i), (by_forces, r), response * jacobian[place]);
                }
            }
        }
        Slope::Exact
    }
}

/// `A −= M⁻¹ diag(slope)`, column by column.
fn take_scaled_columns(matrix: &mut [f64], inverse: &[f64], slope: &[f64]) {
    let columns = inverse.chunks_exact(slope.len()).zip(slope);
    for (column, (response, slope)) in matrix.chunks_exact_mut(slope.len()).zip(columns) {
        column.iter_mut().zip(response).for_each(|(entry, own)| *entry -= slope * own);
    }
}

/// Two inputs of which only `found` is connected.
pub(crate) fn together(found: &str, missing: &str) -> Invalid {
    Invalid::new(format!("expected `{found}` and `{missing}` together, found `{found}` alone"))
        .hint(format!("connect `{missing}`, or leave both out"))
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;

    use super::{Algorithm, ForwardDynamics};
    use crate::kinematics::jacobian::Jacobian;
    use crate::robot::frames::Representation;
    use crate::testing::robots::{Rig, States, close, for_each_reference, go, refusal};

    const BOTH: [Algorithm; 2] = [Algorithm::Factor, Algorithm::ArticulatedBody];

    fn block(robot: &str, algorithm: Algorithm) -> ForwardDynamics {
        ForwardDynamics { robot: robot.into(), algorithm }
    }

    #[test]
    fn accelerations_are_those_of_pinocchio() {
        for_each_reference(|robot, reference, order| {
            for algorithm in BOTH {
                let block = block(&robot.name, algorithm);
                let mut rig = Rig::new(block, robot, &["J", "f", "external"]);
                let (q, nu) = reference.state(order);
                rig.set("state", &[&q, &nu]);
                rig.set("tau", &[&reference.joint_vector("tau_joint", order)]);
                rig.output();
                // Forward dynamics amplify rounding by the condition number of M.
                close(&rig.leaf("nu_dot", 0), &reference.vector("fd_nu_dot_free", order), 1e-8);
            }
        });
    }

    /// A wrench enters by `J`/`f` as by `external`: 6 rows are two triples.
    #[test]
    fn wrenches_enter_by_jacobian_and_force_or_as_generalised_force() {
        for_each_reference(|robot, reference, order| {
            let nv = robot.model.velocity_dim();
            let (q, nu) = reference.state(order);
            let mut j = Vec::new();
            let mut w = Vec::new();
            for name in reference.frame_names() {
                let (frame, representation) = (name.clone(), Representation::Mixed);
                let block = Jacobian { robot: robot.name.as_str().into(), frame, representation };
                let mut rig = Rig::new(block, robot, &[]);
                rig.set("state", &[&q, &nu]);
                rig.output();
                j.push(rig.leaf("jacobian", 0));
                w.push(reference.wrench(&name));
            }
            let rows = 6 * j.len();
            let stacked: Vec<f64> = (0..nv)
                .flat_map(|c| j.iter().flat_map(move |j| j[6 * c..6 * c + 6].to_vec()))
                .collect();
            let f = w.concat();
            let force: Vec<f64> =
                (0..nv).map(|c| (0..rows).map(|r| stacked[c * rows + r] * f[r]).sum()).collect();
            let expected = reference.vector("fd_nu_dot", order);
            let new = |without: &[&str], given: &[(&str, Type)]| {
                let block = block(&robot.name, Algorithm::Factor);
                let mut rig = Rig::with(block, robot, without, given).expect("a plan");
                rig.set("state", &[&q, &nu]);
                rig.set("tau", &[&reference.joint_vector("tau_joint", order)]);
                rig
            };
            let mut rig =
                new(&["external"], &[("J", Type::matrix(rows, nv)), ("f", Type::vector(rows))]);
            rig.set("J", &[&stacked]);
            rig.set("f", &[&f]);
            rig.output();
            close(&rig.leaf("nu_dot", 0), &expected, 1e-8);
            let mut rig = new(&["J", "f"], &[]);
            rig.set("external", &[&force]);
            rig.output();
            close(&rig.leaf("nu_dot", 0), &expected, 1e-8);
        });
    }

    #[test]
    fn jacobian_and_forces_come_together() {
        let block = || block("go", Algorithm::Factor);
        let f = [("f", Type::vector(6))];
        let only_f = refusal(block(), &go(), &["J", "external"], &f);
        assert_eq!(only_f.message, "expected `f` and `J` together, found `f` alone");
        let j = [("J", Type::matrix(6, 18))];
        let only_j = refusal(block(), &go(), &["f", "external"], &j);
        assert_eq!(only_j.message, "expected `J` and `f` together, found `J` alone");
    }

    #[test]
    fn m_nu_dot_plus_h_is_the_torque() {
        let mut rig = Rig::new(block("go", Algorithm::Factor), &go(), &["J", "f", "external"]);
        let mut dynamics = Rig::new(
            crate::dynamics::robot_dynamics::RobotDynamics { robot: "go".into() },
            &go(),
            &[],
        );
        let tau: Vec<f64> = (0..12).map(|i| f64::from(i) - 5.0).collect();
        for (q, nu) in States::of(&go(), 10) {
            rig.set("state", &[&q, &nu]);
            rig.set("tau", &[&tau]);
            rig.output();
            dynamics.set("state", &[&q, &nu]);
            dynamics.output();
            let (nu_dot, m, h) =
                (rig.leaf("nu_dot", 0), dynamics.leaf("bus", 1), dynamics.leaf("bus", 2));
            for i in 0..18 {
                let force: f64 = h[i] + (0..18).map(|j| m[j * 18 + i] * nu_dot[j]).sum::<f64>();
                let expected = if i < 6 { 0.0 } else { tau[i - 6] };
                assert!((force - expected).abs() < 1e-9, "{i}: {force} for {expected}");
            }
        }
    }

    #[test]
    fn both_algorithms_give_the_same_with_all_forces() {
        let given = [("J", Type::matrix(6, 18)), ("f", Type::vector(6))];
        let mut rigs = BOTH.map(|algorithm| {
            Rig::with(block("go", algorithm), &go(), &[], &given).expect("a plan")
        });
        let number = |i: i32| f64::from(i % 7) - 3.0;
        let [tau, external, j, f] =
            [12, 18, 108, 6].map(|n| (0..n).map(number).collect::<Vec<_>>());
        for (q, nu) in States::of(&go(), 20) {
            let [a, b] = rigs.each_mut().map(|rig| {
                rig.set("state", &[&q, &nu]);
                for (name, value) in [("tau", &tau), ("external", &external), ("J", &j), ("f", &f)]
                {
                    rig.set(name, &[value]);
                }
                rig.output();
                rig.leaf("nu_dot", 0)
            });
            close(&b, &a, 1e-11);
        }
    }

    #[test]
    fn a_joint_that_moves_no_inertia_is_a_named_fault() {
        for algorithm in BOTH {
            let robot = crate::testing::robots::load(
                "rod",
                serde_json::json!({ "path": "robots/pendulum/pendulum.urdf", "base": "Fixed" }),
            );
            let rod = robot.expect("the pendulum").0;
            let mut rig = Rig::new(block("rod", algorithm), &rod, &["J", "f", "external"]);
            rig.set("state", &[&[f64::NAN], &[0.0]]);
            rig.set("tau", &[&[0.0]]);
            let fault = rig.try_output().expect_err("a fault");
            assert!(fault.message.starts_with("rod: mass matrix is singular at"), "{fault}");
        }
    }
}
