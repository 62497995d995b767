//! `Impact`: contact modes, and the velocity after a touchdown.

use legwork_block::quantity::{Force, NonNegative};
use legwork_block::{
    Block, Bool, Crossing, Dim, Fault, GuardCx, In, Invalid, NO_FEEDS, Out, Outcome, OutputCx,
    Ports, Report, ResetCx, Sizes, UpdateCx, Vector, feeds,
};
use legwork_contact::{
    ContactMode, Impact as Law, ImpactMode, ImpactProblem, next_mode,
    rigid::mass_solved_jacobian_into,
};
use legwork_qp::{ClarabelSolver, ContactSolver, PyramidActiveSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::buses::{Contact, ContactPoints, ContactPointsBus, DynamicsBus};
use crate::friction_cone::{Friction, FrictionCone, friction_of};
use crate::gauss_contact::{non_negative, stack_jacobian};
use crate::wire_factor::WireFactor;

/// Which contacts are closed, and the velocity after those that close now: inelastic impact.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `dynamics` | `Dynamics` | | ν and the factor of M |
/// | in `points` | `ContactPoints` | | k contacts |
/// | in `f` | 3k | N | contact forces of the step; do not feed through |
/// | out `mode` | k | 1 | 1 where a contact is closed; state only, for `GaussContact.mode` |
/// | out `nu_plus` | nv | m/s, rad/s | velocity after the impact; ν if there is none |
/// | out `impulse` | 3k | N s | contact impulses of the impact, contact axes |
/// | out `trigger` | | 1 | true at an impact: for the input `reset` of the plant |
///
/// A contact closes when its gap is zero or less and it approaches; it opens when it carries no
/// force and separates, so that a standing robot does not flip modes. Contacts that touch at t = 0
/// are closed without an impact. At an impact `M(ν⁺ − ν⁻) = JᵀF`, with the impulses F of all closed
/// contacts that take out most kinetic energy; kinetic energy never grows.
///
/// Needed for `GaussContact(level: Acceleration)`; velocity-level contact has no impacts.
///
/// Reference: N. Guedelha et al., *A flexible MATLAB/Simulink simulator …* (2024), eqs. (19)–(24),
/// where the right-hand side of eq. (7) has a wrong sign.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Impact {
    /// Coulomb friction μ, one value or one for each contact, zero or more [1].
    pub mu: Friction,
    /// What the impulses may do; default `Frictional`.
    #[serde(default)]
    pub kind: ImpactKind,
    /// Friction cone: `Pyramid(sides: 4, fit: Inscribed)` (the default), `Circular`.
    #[serde(default)]
    pub cone: FrictionCone,
    /// Normal force up to which a separating contact opens [N]; default 0.001 N. Above the accuracy
    /// of the solver that finds the forces.
    #[serde(default = "release_force")]
    pub release_force: NonNegative<Force>,
}

/// What the impulses of an impact may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
pub enum ImpactKind {
    /// All closed contacts come to rest, tangentially too, and may be pulled to.
    Stick,
    /// Impulses push along the normals.
    NormalOnly,
    /// Impulses lie in the friction cones.
    #[default]
    Frictional,
}

fn release_force() -> NonNegative<Force> {
    non_negative(1e-3)
}

/// Ports of an [`Impact`].
pub struct Plan {
    dynamics: In<DynamicsBus>,
    points: In<ContactPointsBus>,
    forces: In<Vector>,
    mode: Out<Vector>,
    nu_plus: Out<Vector>,
    impulse: Out<Vector>,
    trigger: Out<Bool>,
    count: Dim,
    nv: Dim,
}

/// The output group of `nu_plus`, `impulse` and `trigger`.
const IMPACT_GROUP: usize = 1;
/// Acceleration of free fall by which impulses are scaled [m/s²].
const SCALE_GRAVITY: f64 = 9.81;

/// Discrete state of an [`Impact`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct State {
    /// Whether the modes at t = 0 were found.
    has_begun: bool,
    /// Which contacts are closed.
    is_closed: Vec<bool>,
    impacts: u64,
    openings: u64,
}

/// Work memory of an [`Impact`].
pub struct Scratch {
    law: Law,
    solver: Box<dyn ContactSolver + Send>,
    factor: WireFactor,
    jacobian: Vec<f64>,
    mass_solved_jacobian: Vec<f64>,
    friction: Vec<f64>,
    closed: Vec<f64>,
}

/// Whether an open contact touches down.
fn touches_down(contact: &Contact<'_>) -> bool {
    let mode = next_mode(ContactMode::Open, contact.gap, contact.velocity[2], 0.0, 0.0);
    mode.is_closed()
}

impl State {
    /// Whether an open contact touches down now.
    fn is_impact(&self, points: &ContactPoints<'_>) -> bool {
        let mut pairs = points.iter().zip(&self.is_closed);
        self.has_begun && pairs.any(|(contact, &closed)| !closed && touches_down(&contact))
    }
}

impl Block for Impact {
    const KIND: &'static str = "Impact";
    type Plan = Plan;
    type State = State;
    type Memo = ();
    type Scratch = Scratch;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        self.cone.shape()?;
        let (count, nv) = (ports.dim(), ports.dim());
        let robot = ports.any_robot();
        let dynamics = ports.input("dynamics", &DynamicsBus::any(robot, &nv));
        ports.note_in(dynamics).doc("terms of the equation of motion");
        let points = ports.input("points", &ContactPointsBus::new(&count, &nv));
        ports.note_in(points).doc("contacts");
        let rows = Vector(3 * count.clone());
        let forces = ports.input("f", &rows);
        ports.note_in(forces).unit("N").frame("contact").doc("contact forces of the step");
        ports.group(&NO_FEEDS);
        let mode = ports.output("mode", &Vector(count.clone()));
        ports.note_out(mode).unit("1").doc("1 where a contact is closed");
        ports.group(&feeds![dynamics, points]);
        let nu_plus = ports.output("nu_plus", &Vector(nv.clone()));
        ports.note_out(nu_plus).doc("velocity after the impact [m/s, rad/s]");
        let impulse = ports.output("impulse", &rows);
        ports.note_out(impulse).unit("N*s").frame("contact").doc("contact impulses");
        let trigger = ports.output("trigger", &Bool);
        ports.note_out(trigger).doc("true at an impact");
        ports.updates();
        ports.guard(Crossing::Level);
        Ok(Plan { dynamics, points, forces, mode, nu_plus, impulse, trigger, count, nv })
    }

    fn check(&self, plan: &Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        friction_of(&self.mu, sizes.dim(&plan.count)).map(|_| ())
    }

    fn state(&self, plan: &Plan, sizes: &Sizes<'_>) -> State {
        let is_closed = vec![false; sizes.dim(&plan.count)];
        State { has_begun: false, is_closed, impacts: 0, openings: 0 }
    }

    fn scratch(&self, plan: &Plan, sizes: &Sizes<'_>) -> Scratch {
        let (count, nv) = (sizes.dim(&plan.count), sizes.dim(&plan.nv));
        // `plan` has accepted the cone, `check` the friction.
        let cone = self.cone.shape().unwrap_or_else(|_| legwork_qp::ConeShape::circular());
        let solver: Box<dyn ContactSolver + Send> = match self.cone {
            FrictionCone::Pyramid { sides, .. } => {
                Box::new(PyramidActiveSet::new(count, sides as usize))
            }
            FrictionCone::Circular => Box::new(ClarabelSolver::new(1e-10, 100)),
        };
        let mode = match self.kind {
            ImpactKind::Stick => ImpactMode::Stick,
            ImpactKind::NormalOnly => ImpactMode::NormalOnly,
            ImpactKind::Frictional => ImpactMode::Frictional,
        };
        Scratch {
            law: Law::new(mode, count, cone),
            solver,
            factor: WireFactor::new(nv),
            jacobian: vec![0.0; 3 * count * nv],
            mass_solved_jacobian: vec![0.0; 3 * count * nv],
            friction: friction_of(&self.mu, count).unwrap_or_default(),
            closed: vec![0.0; count],
        }
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
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
        let [nu_plus, impulse] = cx.outputs.leaves([plan.nu_plus.leaf(0), plan.impulse.leaf(0)]);
        nu_plus.copy_from_slice(dynamics.nu);
        impulse.fill(0.0);
        if !is_impact {
            return Ok(());
        }
        let Scratch { law, solver, factor, jacobian, mass_solved_jacobian, friction, closed } =
            cx.scratch;
        let modes = points.iter().zip(&cx.state.is_closed);
        for (closed, (contact, &was_closed)) in closed.iter_mut().zip(modes) {
            *closed = f64::from(u8::from(was_closed || touches_down(&contact)));
        }
        stack_jacobian(&points, jacobian);
        factor.read(dynamics.factor)?;
        let solve = |x: &mut [f64]| {
            factor.half_solve(x);
            factor.half_solve_transposed(x);
        };
        mass_solved_jacobian_into(jacobian, 3 * points.len(), solve, mass_solved_jacobian);
        let step = if cx.time.step > 0.0 { cx.time.step } else { 1e-3 };
        let weight = dynamics.mass_matrix[0] * SCALE_GRAVITY;
        let problem = ImpactProblem {
            jacobian,
            mass_solved_jacobian,
            friction,
            closed,
            impulse_scale: weight * step / points.len() as f64,
        };
        let outcome = law.apply(&problem, &mut **solver, nu_plus, impulse);
        if outcome.status.is_usable() {
            return Ok(());
        }
        Err(Fault::new(format!(
            "the impact was not solved: {:?} after {} iterations, residual {:.1e}",
            outcome.status, outcome.iterations, outcome.residual
        )))
    }

    fn guard(&self, plan: &Plan, cx: &mut GuardCx<'_, Self>) {
        // At t = 0 there is something to reset only if a contact touches already.
        let points = cx.inputs.get(plan.points);
        let begins = !cx.state.has_begun
            && points.iter().any(|contact| ContactMode::initial(contact.gap).is_closed());
        let fires = begins || cx.state.is_impact(&points);
        cx.values[0] = f64::from(u8::from(fires));
    }

    fn reset(&self, plan: &Plan, cx: &mut ResetCx<'_, Self>) -> Outcome {
        let state = &mut *cx.state;
        let has_begun = std::mem::replace(&mut state.has_begun, true);
        state.impacts += u64::from(has_begun);
        for (contact, closed) in cx.inputs.get(plan.points).iter().zip(&mut state.is_closed) {
            *closed |= if has_begun {
                touches_down(&contact)
            } else {
                ContactMode::initial(contact.gap).is_closed()
            };
        }
        Ok(())
    }

    fn update(&self, plan: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let forces = cx.inputs.get(plan.forces).chunks_exact(3);
        let contacts = cx.inputs.get(plan.points);
        let State { has_begun, is_closed, openings, .. } = &mut *cx.state;
        *has_begun = true;
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

    fn report(&self, _: &Plan, state: &State, report: &mut Report) {
        report.metric("impacts", state.impacts as f64);
        report.metric("openings", state.openings as f64);
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use serde_json::json;

    use super::*;
    use crate::buses::contact_leaf;
    use crate::contacts_testing::{Harness, block, dynamics, points};

    /// A ball of 2 kg with one contact below its centre, r = 0.1 m.
    fn ball(parameters: serde_json::Value) -> Harness {
        let impact: Impact = block(parameters);
        let ports = [("dynamics", dynamics(6)), ("points", points(1, 6)), ("f", Type::vector(3))];
        let mut rig = Harness::new(impact, &ports).expect("planned");
        let mut factor = [0.0; 36];
        for i in 0..6 {
            factor[7 * i] = if i < 3 { f64::sqrt(2.0) } else { f64::sqrt(0.008) };
        }
        let mass = factor.map(|c| c * c);
        rig.set_leaf("dynamics", 1, &mass);
        rig.set_leaf("dynamics", 3, &factor);
        rig
    }

    /// J of the ball's lowest point: v + ω × (0, 0, -r).
    fn write(rig: &mut Harness, gap: f64, nu: [f64; 6]) {
        let mut jacobian = [0.0; 18];
        for i in 0..3 {
            jacobian[4 * i] = 1.0;
        }
        (jacobian[3 * 4], jacobian[3 * 3 + 1]) = (-0.1, 0.1);
        let velocity = [nu[0] - 0.1 * nu[4], nu[1] + 0.1 * nu[3], nu[2]];
        rig.set_leaf("dynamics", 0, &nu);
        rig.set_leaf("points", contact_leaf::JACOBIAN, &jacobian);
        rig.set_contact("points", 0, gap, velocity);
    }

    fn energy(nu: &[f64]) -> f64 {
        let square = |x: &[f64]| x.iter().map(|v| v * v).sum::<f64>();
        0.5 * (2.0 * square(&nu[..3]) + 0.008 * square(&nu[3..]))
    }

    /// Semantics 4.4: touching at t = 0 is closed without impact; landing closes with one; a closed
    /// contact opens on zero force with separating velocity only.
    #[test]
    fn s4_4_modes_open_and_close_on_both_conditions() {
        let mut rig = ball(json!({ "mu": 0.7 }));
        let nu = [0.0, 0.0, -1.0, 0.0, 0.0, 0.0];
        write(&mut rig, 0.0, nu);
        rig.output(0.0).expect("no fault");
        assert_eq!((rig.value("trigger"), rig.value("nu_plus")), (vec![0.0], nu.to_vec()));
        rig.step(0.0).expect("no fault");
        assert_eq!(rig.value("mode"), [1.0]);
        assert_eq!(rig.value("trigger"), [0.0]);

        for (force, up, mode) in [(5.0, 0.1, 1.0), (0.0, -0.1, 1.0), (0.0, 0.1, 0.0)] {
            write(&mut rig, 1e-4, [0.0, 0.0, up, 0.0, 0.0, 0.0]);
            rig.set("f", &[0.0, 0.0, force]);
            rig.step(0.1).expect("no fault");
            rig.output(0.1).expect("no fault");
            assert_eq!(rig.value("mode"), [mode], "force {force}, velocity {up}");
        }

        write(&mut rig, -1e-5, nu);
        rig.output(0.2).expect("no fault");
        assert_eq!(rig.value("trigger"), [1.0]);
        assert!(rig.value("nu_plus")[2].abs() < 1e-9);
        assert!((rig.value("impulse")[2] - 2.0).abs() < 1e-6, "m v");
        assert!(rig.guard(0.2).expect("no fault"));
        assert!(!rig.guard(0.2).expect("no fault"), "the reset disarms the guard");
        rig.output(0.2).expect("no fault");
        assert_eq!((rig.value("mode"), rig.value("trigger")), (vec![1.0], vec![0.0]));
        assert_eq!(rig.report().metrics[0], ("impacts".to_owned(), 1.0));
    }

    #[test]
    fn every_kind_takes_out_energy_and_frictional_impulses_stay_in_the_cone() {
        let nu = [1.0, -0.5, -2.0, 3.0, 1.0, 0.2];
        for (kind, cone) in [
            ("Stick", json!("Circular")),
            ("NormalOnly", json!("Circular")),
            ("Frictional", json!("Circular")),
            ("Frictional", json!({ "Pyramid": {} })),
        ] {
            let mut rig = ball(json!({ "mu": 0.1, "kind": kind, "cone": cone }));
            write(&mut rig, 1.0, nu);
            rig.step(0.0).expect("no fault");
            write(&mut rig, 0.0, nu);
            rig.output(0.001).expect("no fault");
            let (after, f) = (rig.value("nu_plus"), rig.value("impulse"));
            assert!(energy(&after) < energy(&nu), "{kind}");
            assert!(after[2] > -1e-6, "{kind}: still approaching");
            let reach = (f[0] * f[0] + f[1] * f[1]).sqrt();
            match kind {
                "Stick" => {
                    let slip = [after[0] - 0.1 * after[4], after[1] + 0.1 * after[3]];
                    assert!(slip.iter().all(|v| v.abs() < 1e-9), "{slip:?}");
                }
                "NormalOnly" => assert_eq!(reach, 0.0),
                _ => assert!(reach > 0.0 && reach <= 0.1 * f[2] * (1.0 + 1e-6), "{kind} {f:?}"),
            }
        }
    }
}
