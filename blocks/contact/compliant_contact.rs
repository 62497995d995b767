//! `CompliantContact`: spring-damper contact with regularised friction.

use legwork_block::quantity::{
    Damping, Dimensionless, Dissipation, Length, NonNegative, Positive, Scalar, Velocity,
};
use legwork_block::{
    Block, Dim, Invalid, Outcome, OutputCx, Report, Sizes, Unit, UpdateCx, Vector, Warning, block,
    parameters, ports,
};
use legwork_contact::{CompliantContact as Law, FrictionShape};
use serde::{Deserialize, Serialize};

use crate::buses::{ContactPoints, ContactPointsBus, contact_points, refuse_restitution};
use crate::contact::friction_cone::{Friction, friction_of};
use crate::run_warnings::MAKES_ENERGY;

/// Contact forces from penetration and slip: spring-dampers with smooth friction. No optimisation
/// problem is solved.
///
/// With the gap δ, negative in contact, and the contact velocity (v_t, δ̇):
///
/// - normal: `f_n = max(0, K (−δ)^e − c(δ) δ̇)`, where c rises smoothly from 0 at the surface to
///   `damping` at `ramp_depth`, so that the force does not jump at touchdown and never pulls;
/// - friction: `f_t = −μ(|v_t|) f_n v_t/|v_t|`, where μ(v) rises smoothly from 0 to `mu` at
///   `slip_speed` and goes to `mu_dynamic` at `slide_speed`. There is no true stiction: a loaded
///   contact creeps below `slip_speed`.
///
/// A contact whose own `friction` is zero or more has that instead of `mu`; `mu_dynamic` then
/// is scaled in proportion.
///
/// The work of the forces is accounted for: `f · v = −d(energy)/dt − dissipated` at each contact.
///
/// Under `Euler` and `SemiImplicitEuler` forces are held over a step, in which they may do work
/// that no spring had: a warning of the run tells when they gave back more than a tenth above what
/// was stored and taken.
///
/// The forces are stiff. Explicit fixed steps need `Δt` below about `2 m/(1.5 μ f_n/slip_speed)`
/// for a contact of effective mass m, or friction chatters at about `slip_speed`. `ImplicitContact`
/// takes the same law at the end of the step, and so larger steps.
///
/// References: D. T. de Paula et al., *Dynamic modeling and simulation of a torque-controlled
/// spatial quadruped robot* (2024), eqs. (34)–(38), with their sign of δ and the pulling force
/// corrected; exponent 1.5 is Hertz's sphere.
#[ports(
    keep law: Law = self.law()?;
    keep k: Dim = ports.dim();
    let nv = ports.dim();
    in  points: contact_points(&k, &nv) as ContactPointsBus, _, "k contacts";
    out forces("f"): Vector::of(3 * k.clone()), "N", "contact forces on the robot, contact axes",
        frame "contact", shape "3k";
    out energy: Vector::of(&k), "J", "elastic energy of each contact, `K/(e + 1) (−δ)^(e + 1)`";
    out dissipated: Vector::of(&k), "W",
        "what each takes away by damping and friction, zero or more";
    keep is_held: bool = !ports.solver().has_stages();
    ports.updates();
)]
#[parameters(aliases("Hertz", "Hunt–Crossley", "penalty contact"))]
pub struct CompliantContact {
    /// Largest friction coefficient, one value or one for each contact, zero or more [1].
    pub mu: Friction,
    /// Friction coefficient of fast sliding [1]; default: `mu`.
    pub mu_dynamic: Option<Friction>,
    /// Stiffness K, zero or more [N/m^e with the `exponent` e]: `"200 kN/m"` with `exponent: 1`, in
    /// N/m^(3/2) with the default.
    #[default = 5e5]
    pub stiffness: Scalar,
    /// Exponent e of the penetration, 1 or more [1].
    #[default = 1.5]
    pub exponent: Dimensionless,
    /// Damping at full penetration [N s/m]; default 180 N s/m.
    pub damping: Option<NonNegative<Damping>>,
    /// Hunt and Crossley's dissipation a [s/m]: the normal force is `K (−δ)^e (1 − 3/2 a δ̇)`, and
    /// a body that arrives at speed v leaves at about `(1 − a v) v`. Takes the place of `damping`,
    /// which is 0 then unless stated; default none.
    pub dissipation: Option<NonNegative<Dissipation>>,
    /// Penetration at which damping is full [m].
    #[default = "1 mm"]
    pub ramp_depth: NonNegative<Length>,
    /// Slip speed at which friction is largest [m/s].
    #[default = "0.01 m/s"]
    pub slip_speed: Positive<Velocity>,
    /// Slip speed from which friction is `mu_dynamic`, at least `slip_speed` [m/s]; default twice
    /// `slip_speed`.
    pub slide_speed: Option<Positive<Velocity>>,
    /// Friction coefficient per tangential axis, as in the paper, instead of on the slip speed;
    /// friction then reaches √2 μ f_n diagonally.
    #[default]
    pub per_axis: bool,
}

impl CompliantContact {
    /// The law without friction coefficients.
    ///
    /// # Errors
    /// If parameters contradict one another.
    pub(crate) fn law(&self) -> Result<Law, Invalid> {
        let exponent = self.exponent.value();
        if exponent < 1.0 {
            let message = format!("expected an exponent of 1 or more, found {exponent}");
            return Err(Invalid::parameter("exponent", message));
        }
        let static_speed = self.slip_speed.value();
        let dynamic_speed = self.slide_speed.map_or(2.0 * static_speed, |speed| speed.value());
        if dynamic_speed < static_speed {
            let message = format!("expected at least {static_speed} m/s, found {dynamic_speed}");
            return Err(Invalid::parameter("slide_speed", message));
        }
        self.check_stiffness(exponent)?;
        Ok(Law {
            stiffness: self.stiffness.value,
            exponent,
            max_damping: match (self.damping, self.dissipation) {
                (Some(damping), _) => damping.value(),
                (None, Some(_)) => 0.0,
                (None, None) => Law::default().max_damping,
            },
            dissipation: self.dissipation.map_or(0.0, |dissipation| dissipation.value()),
            ramp_depth: self.ramp_depth.value(),
            static_friction: 0.0,
            static_speed,
            dynamic_friction: 0.0,
            dynamic_speed,
            shape: if self.per_axis { FrictionShape::PerAxis } else { FrictionShape::Isotropic },
        })
    }

    /// Fails if the stiffness is negative or has another unit than the exponent asks for.
    fn check_stiffness(&self, exponent: f64) -> Result<(), Invalid> {
        let invalid = |message: String| Err(Invalid::parameter("stiffness", message));
        let Scalar { value, unit } = self.stiffness;
        if !(value >= 0.0 && value.is_finite()) {
            return invalid(format!("expected a value of zero or more, found {value}"));
        }
        let Some(found) = unit else { return Ok(()) };
        let length = Unit::METRE.real_power(exponent);
        let Some(expected) = length.and_then(|length| Unit::NEWTON.over(length)) else {
            return invalid(format!(
                "expected a number without unit with the exponent {exponent}, found one in {found}"
            ));
        };
        match expected.agrees(found) {
            true => Ok(()),
            false => invalid(format!(
                "expected a quantity in {expected} as the exponent {exponent} asks, found one in \
                 {found}"
            )),
        }
    }

    /// Fails if there are not as many friction coefficients as contacts.
    pub(crate) fn check_friction(&self, count: usize) -> Result<(), Invalid> {
        friction_of(&self.mu, count)?;
        if let Some(mu) = &self.mu_dynamic {
            friction_of(mu, count)
                .map_err(|error| Invalid { parameter: Some("mu_dynamic".into()), ..error })?;
        }
        Ok(())
    }

    /// Largest and sliding friction of a contact, whose `own` friction comes first.
    pub(crate) fn friction(&self, contact: usize, own: Option<f64>) -> (f64, f64) {
        let of = |mu: &Friction| match mu {
            Friction::Each(list) => list.get(contact).map_or(0.0, |mu| mu.value()),
            Friction::All(mu) => mu.value(),
            Friction::Named(_) => 0.0,
        };
        let largest = of(&self.mu);
        let sliding = self.mu_dynamic.as_ref().map_or(largest, of);
        match own {
            None => (largest, sliding),
            Some(own) if largest > 0.0 => (own, own * (sliding / largest)),
            Some(own) => (own, own),
        }
    }
}

/// Forces of a step, contact axes [N], and the elastic energy of all contacts [J].
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Held {
    forces: Vec<f64>,
    energy: f64,
}

/// The work of forces that are held over a step, beside what the springs had to give.
///
/// A constant force f does the work `Δt f·(v + v⁺)/2` on the kinetic energy, whatever the law.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Work {
    /// The step before: when it began [s], its forces, and `f·v` at its beginning [W].
    before: Option<f64>,
    forces: Vec<f64>,
    power: f64,
    /// Elastic energy at the start [J].
    stored: f64,
    /// Work that contacts took from the robot, and work that they gave it [J].
    taken: f64,
    given: f64,
    /// When they first gave more than they had, and the account then.
    excess: Option<(f64, [f64; 2])>,
    steps: u64,
}

/// Part of the energy stored and taken that forces may give beyond it: what a step of proper length
/// errs by.
const MARGIN: f64 = 0.1;

fn power(forces: &[f64], points: &ContactPoints<'_>) -> f64 {
    let pairs = forces.chunks_exact(3).zip(points.iter());
    pairs.map(|(f, contact)| f.iter().zip(contact.velocity).map(|(f, v)| f * v).sum::<f64>()).sum()
}

impl Work {
    fn add(&mut self, t: f64, held: &Held, points: &ContactPoints<'_>) {
        match self.before {
            None => self.stored = held.energy,
            Some(before) => {
                let work = 0.5 * (t - before) * (self.power + power(&self.forces, points));
                self.taken -= work.min(0.0);
                self.given += work.max(0.0);
                let had = self.stored + self.taken;
                if self.given > (1.0 + MARGIN) * had {
                    self.excess.get_or_insert((t, [self.given, had]));
                    self.steps += 1;
                }
            }
        }
        self.before = Some(t);
        self.power = power(&held.forces, points);
        self.forces.copy_from_slice(&held.forces);
    }
}

#[block]
impl Block for CompliantContact {
    type State = Work;
    type Memo = Held;

    fn check(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        self.check_friction(sizes.dim(&plan.k))
    }

    fn state(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Work {
        Work { forces: vec![0.0; 3 * sizes.dim(&plan.k)], ..Work::default() }
    }

    fn memo(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Held {
        Held { forces: vec![0.0; 3 * sizes.dim(&plan.k)], energy: 0.0 }
    }

    fn clear_memo(&self, held: &mut Held) {
        held.energy = 0.0;
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let mut energy = 0.0;
        refuse_restitution(&cx.inputs.get(plan.points), "this law has `dissipation`")?;
        for (i, contact) in cx.inputs.get(plan.points).iter().enumerate() {
            let (static_friction, dynamic_friction) = self.friction(i, contact.own_friction());
            let law = Law { static_friction, dynamic_friction, ..plan.law };
            let v = contact.velocity;
            let response = law.response(contact.gap, [v[0], v[1], v[2]]);
            cx.outputs.get(plan.forces)[3 * i..3 * i + 3].copy_from_slice(&response.force);
            cx.outputs.get(plan.energy)[i] = response.energy;
            cx.outputs.get(plan.dissipated)[i] = response.dissipated;
            energy += response.energy;
        }
        if plan.is_held && !cx.time.minor {
            cx.memo.energy = energy;
            cx.memo.forces.copy_from_slice(cx.outputs.get(plan.forces));
        }
        Ok(())
    }

    fn update(&self, plan: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        if plan.is_held {
            cx.state.add(cx.time.t, cx.memo, &cx.inputs.get(plan.points));
        }
        Ok(())
    }

    fn report(&self, _: &Self::Plan, state: &Work, report: &mut Report) {
        if let Some((t, [given, had])) = state.excess {
            let message = format!(
                "contact forces gave {given:.3e} J, and {had:.3e} J was stored or taken: the step \
                 is too long for their stiffness and damping; `ImplicitContact` has the same law"
            );
            let (name, steps) = (MAKES_ENERGY.to_string(), state.steps);
            report.warnings.push(Warning { name, t, steps, message });
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::contacts::{Harness, block, points};

    /// Static sink: the spring alone carries a contact at rest.
    #[test]
    fn a_contact_at_rest_carries_the_springs_force_and_an_open_one_none() {
        let law: CompliantContact = block(json!({ "mu": [0.5, 0.3], "stiffness": 1e6 }));
        let mut rig = Harness::new(law, &[("points", points(2, 6))]).expect("planned");
        rig.set_contact("points", 0, -1e-3, [0.0, 0.0, 0.0]);
        rig.set_contact("points", 1, 1e-3, [0.0, 0.0, -1.0]);
        rig.output(0.0).expect("no fault");
        let f = rig.value("f");
        assert!((f[2] - 1e6 * 1e-3 * f64::sqrt(1e-3)).abs() < 1e-9, "{f:?}");
        assert_eq!(f[3..], [0.0; 3]);
        // U = 2/5 K d^(5/2), and nothing is lost at rest.
        let u = rig.value("energy");
        assert!((u[0] - 0.4e6 * 1e-6 * f64::sqrt(1e-3)).abs() < 1e-12 && u[1] == 0.0, "{u:?}");
        assert_eq!(rig.value("dissipated"), [0.0; 2]);
        // Sliding fast: Coulomb friction of each contact, against the slip.
        rig.set_contact("points", 0, -1e-3, [0.3, -0.4, 0.0]);
        rig.set_contact("points", 1, -1e-3, [-2.0, 0.0, 0.0]);
        rig.output(0.0).expect("no fault");
        let f = rig.value("f");
        assert!((f[0] + 0.5 * 0.6 * f[2]).abs() < 1e-12 * f[2], "{f:?}");
        assert!((f[1] - 0.5 * 0.8 * f[2]).abs() < 1e-12 * f[2], "{f:?}");
        assert!((f[3] - 0.3 * f[5]).abs() < 1e-12 * f[5], "{f:?}");
        // Friction at full slip takes μ f_n |v|.
        let lost = rig.value("dissipated");
        assert!((lost[0] - 0.5 * f[2] * 0.5).abs() < 1e-12 * f[2], "{lost:?}");
        assert!((lost[1] - 0.3 * f[5] * 2.0).abs() < 1e-12 * f[5], "{lost:?}");
    }

    #[test]
    fn the_friction_of_a_pair_comes_first_and_slides_in_proportion() {
        let law: CompliantContact = block(json!({ "mu": 0.5, "mu_dynamic": 0.4 }));
        let mut rig = Harness::new(law, &[("points", points(1, 6))]).expect("planned");
        rig.set_contact("points", 0, -1e-3, [2.0, 0.0, 0.0]);
        for (own, expected) in [(-1.0, 0.4), (1.0, 0.8), (0.0, 0.0)] {
            rig.set_leaf("points", crate::buses::ContactBus::FRICTION, &[own]);
            rig.output(0.0).expect("no fault");
            let f = rig.value("f");
            assert!((f[0] + expected * f[2]).abs() < 1e-12 * f[2], "{own}: {f:?}");
        }
    }

    #[test]
    fn parameters_that_contradict_one_another_are_refused() {
        let slow: CompliantContact = block(json!({ "mu": 0.5, "slide_speed": 0.001 }));
        assert!(Harness::new(slow, &[("points", points(1, 6))]).is_err());
        let many: CompliantContact = block(json!({ "mu": [0.5, 0.5] }));
        assert!(Harness::new(many, &[("points", points(1, 6))]).is_err());
    }
}
