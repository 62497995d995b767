//! `ContactMetrics`: what a contact model got wrong, in numbers.

use std::sync::Arc;

use legwork_block::quantity::{Force, Length, NonNegative, Positive, Time};
use legwork_block::{
    Block, Dim, In, Int, Invalid, NO_FEEDS, OptionalIn, Out, Outcome, OutputCx, Ports, Real,
    Report, Sizes, UpdateCx, Vector, feeds,
};
use legwork_qp::{Cone, ConeShape, ContactProblem};
use nalgebra::{Matrix3, Vector3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::buses::{
    ContactPoints, ContactPointsBus, ContactProblemBus, ContactProblemRef, contact_points,
};
use crate::contact::friction_cone::{Friction, cone_shape, friction_of};
use crate::defaults::quantity;
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;

/// Judges contact forces by penetration, slip, cone, and forces at a distance. All of these are
/// zero in ideal rigid contact.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `points` | `ContactPoints` | | k contacts |
/// | in `f` | 3k | N | contact forces, contact axes |
/// | in `problem` | `ContactProblem`, optional | | the problem that `f` should solve |
/// | out `penetration` | | m | deepest penetration now, zero or more |
/// | out `slip` | | m/s | largest tangential speed of a loaded contact |
/// | out `complementarity` | | N m | largest `f_n · max(gap, 0)`: force at a distance |
/// | out `normal_force` | | N | `Σ f_n` |
/// | out `cone_violation` | | 1 | with `mu`: largest `(\|f_t\| − μ f_n)/max(f_n, min_force)` |
/// | out `weight_error` | | 1 | with `robot`: `\|Σ f·e − m g\|/(m g)`, e up, against gravity |
/// | out `touchdown` | | s | time of the first touchdown; infinite before |
/// | out `reopenings` | | 1 | openings later than a contact's first touchdown + `settle` |
/// | out `drift` | | m | farthest motion of a closed contact, `settle` after it closed |
///
/// The last three are state and one step old. A contact is loaded if `f_n > min_force`. It closes
/// when it is loaded or its gap is zero or less, and opens when it is not loaded and its gap is
/// above `gap_tolerance`.
///
/// A contact whose own `friction` is zero or more is judged by that instead of `mu`.
///
/// At the end of a run the worst values are reported as metrics. With `problem` and the velocity
/// `v = Δt (G f + b)` that the contacts have after the step, so are:
///
/// - `worst_total_complementarity`: `|fᵀ(G f + b)|` relative to a typical force times a typical
///   acceleration; zero up to a solver's tolerance in the convex law and in Coulomb's;
/// - `worst_normal_complementarity`: largest `|f_n v_n|` [W], zero in Coulomb's law;
/// - `worst_convex_lift`: largest `μ f_n |v_t|` [W], what a sliding contact has of it in the convex
///   law: there the two are equal.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContactMetrics {
    /// Coulomb friction μ to judge by, one value or one for each contact [1]; default: friction is
    /// not judged.
    #[serde(default)]
    pub mu: Option<Friction>,
    /// The cone to judge by; default `Circular`, Coulomb's own.
    #[serde(default = "circular")]
    pub cone: Cone,
    /// The robot whose weight the contacts carry; default: the weight is not judged.
    #[serde(default)]
    pub robot: Option<RobotName>,
    /// Time after a touchdown in which bouncing and sliding do not count [s]; default 0.3 s.
    #[serde(default = "settle")]
    pub settle: NonNegative<Time>,
    /// Normal force above which a contact is loaded, more than zero [N]; default 0.1 N.
    #[serde(default = "min_force")]
    pub min_force: Positive<Force>,
    /// Gap up to which an unloaded contact stays closed [m]; default 0.1 mm.
    #[serde(default = "gap_tolerance")]
    pub gap_tolerance: NonNegative<Length>,
}

fn circular() -> Cone {
    Cone::Circular
}

fn settle() -> NonNegative<Time> {
    quantity(0.3)
}

fn min_force() -> Positive<Force> {
    quantity(0.1)
}

fn gap_tolerance() -> NonNegative<Length> {
    quantity(1e-4)
}

/// Ports and constants of a [`ContactMetrics`].
pub struct Plan {
    points: In<ContactPointsBus>,
    forces: In<Vector>,
    problem: OptionalIn<ContactProblemBus>,
    penetration: Out<Real>,
    slip: Out<Real>,
    complementarity: Out<Real>,
    normal_force: Out<Real>,
    cone_violation: Option<Out<Real>>,
    weight_error: Option<Out<Real>>,
    touchdown: Out<Real>,
    reopenings: Out<Int>,
    drift: Out<Real>,
    count: Dim,
    cone: ConeShape,
    /// Weight [N] and the direction against gravity, world axes.
    weight: Option<(f64, Vector3<f64>)>,
}

/// The group of outputs that are computed from the inputs.
const NOW_GROUP: usize = 0;

/// What is known of one contact.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct History {
    is_closed: bool,
    /// Time of the first touchdown [s].
    first_touchdown: Option<f64>,
    /// Time at which it closed last [s].
    closed_at: f64,
    /// Where it was `settle` after closing [m].
    anchor: Option<[f64; 3]>,
}

/// The figures of one moment.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Figures {
    penetration: f64,
    slip: f64,
    complementarity: f64,
    cone_violation: f64,
    normal_force: f64,
    weight_error: f64,
}

/// How far forces are from solving the problem that they should solve.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Solved {
    total: f64,
    normal: f64,
    lift: f64,
}

/// Work memory of a [`ContactMetrics`].
pub struct Scratch {
    /// μ of each contact; empty if friction is not judged.
    friction: Vec<f64>,
    /// `G f + b`, 3k; empty without a problem.
    acceleration: Vec<f64>,
}

/// Discrete state of a [`ContactMetrics`].
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct State {
    contacts: Vec<History>,
    reopenings: u32,
    drift: f64,
    worst: Figures,
    last: Figures,
    /// The worst of the problem, if there is one.
    solved: Option<Solved>,
}

impl State {
    /// Time of the first touchdown of any contact [s].
    fn touchdown(&self) -> Option<f64> {
        self.contacts.iter().filter_map(|contact| contact.first_touchdown).reduce(f64::min)
    }
}

impl ContactMetrics {
    fn figures(
        &self,
        plan: &Plan,
        friction: &[f64],
        points: &ContactPoints<'_>,
        forces: &[f64],
    ) -> Figures {
        let min_force = self.min_force.value();
        let mut figures = Figures::default();
        let mut support = Vector3::zeros();
        for (i, (contact, f)) in points.iter().zip(forces.chunks_exact(3)).enumerate() {
            let force = [f[0], f[1], f[2]];
            let [v1, v2] = [contact.velocity[0], contact.velocity[1]];
            figures.penetration = figures.penetration.max(-contact.gap);
            if force[2] > min_force {
                figures.slip = figures.slip.max((v1 * v1 + v2 * v2).sqrt());
            }
            figures.complementarity = figures.complementarity.max(force[2] * contact.gap.max(0.0));
            figures.normal_force += force[2];
            if let Some(&mu) = friction.get(i) {
                let mu = contact.own_friction().unwrap_or(mu);
                let excess = plan.cone.violation(mu, force) / force[2].max(min_force);
                figures.cone_violation = figures.cone_violation.max(excess);
            }
            support += Matrix3::from_column_slice(contact.axes) * Vector3::from(force);
        }
        if let Some((weight, up)) = plan.weight {
            figures.weight_error = (support.dot(&up) - weight).abs() / weight;
        }
        figures
    }
}

/// Judges forces by the problem; `acceleration` becomes `G f + b`.
fn solved(
    problem: &ContactProblemRef<'_>,
    cone: &ConeShape,
    forces: &[f64],
    time_step: f64,
    acceleration: &mut [f64],
) -> Solved {
    let view = ContactProblem {
        inverse_inertia: problem.inverse_inertia,
        bias: problem.bias,
        friction: problem.friction,
        // The law itself, without what makes its solution unique.
        compliance: &[],
        force_scale: problem.force_scale,
        cone,
        active: problem.active,
        regularisation: 0.0,
    };
    view.acceleration_into(forces, acceleration);
    let mut found = Solved::default();
    let pairs = forces.chunks_exact(3).zip(acceleration.chunks_exact(3));
    for (i, (f, a)) in pairs.enumerate().filter(|(i, _)| problem.active[*i] != 0.0) {
        found.total += f[0] * a[0] + f[1] * a[1] + f[2] * a[2];
        found.normal = found.normal.max((f[2] * a[2]).abs() * time_step);
        let slip = (a[0] * a[0] + a[1] * a[1]).sqrt() * time_step;
        found.lift = found.lift.max(problem.friction[i] * f[2] * slip);
    }
    found.total = found.total.abs() / (problem.force_scale * view.acceleration_scale());
    found
}

/// Weight [N] and the direction against gravity.
fn weight(robot: &Arc<RobotModel>) -> Result<(f64, Vector3<f64>), Invalid> {
    let gravity = robot.model.gravity();
    let weight = robot.model.total_mass() * gravity.norm();
    if weight > 0.0 {
        return Ok((weight, -gravity / gravity.norm()));
    }
    let message = format!("robot `{}` has no weight to judge the forces by", robot.name);
    Err(Invalid::parameter("robot", message).hint("leave `robot` out"))
}

impl Block for ContactMetrics {
    const KIND: &'static str = "ContactMetrics";
    type Plan = Plan;
    type State = State;
    /// The figures of the step, from `output` to `update`.
    type Memo = Option<Figures>;
    type Scratch = Scratch;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let cone = cone_shape(self.cone)?;
        let robot = self.robot.as_ref().map(|name| name.find(ports)).transpose()?;
        let weight = robot.as_ref().map(weight).transpose()?;
        let (count, nv) = (ports.dim(), ports.dim());
        let points = ports.input("points", &contact_points(&count, &nv));
        ports.note_in(points).doc("contacts");
        let forces = ports.input("f", &Vector(3 * count.clone()));
        ports.note_in(forces).unit("N").frame("contact").doc("contact forces on the robot");
        let kind = ports.any_argument();
        let bus = ContactProblemBus::new(&count, &nv, kind);
        let problem = ports.optional_input("problem", &bus);
        ports.note_optional(problem).doc("the problem that the forces should solve");

        ports.group(&feeds![points, forces]);
        let mut real = |name: &str, unit: &str, doc: &str| {
            let port = ports.output(name, &Real);
            ports.note_out(port).unit(unit).doc(doc);
            port
        };
        let penetration = real("penetration", "m", "deepest penetration");
        let slip = real("slip", "m/s", "largest tangential speed of a loaded contact");
        let complementarity = real("complementarity", "N*m", "force at a distance");
        let normal_force = real("normal_force", "N", "sum of normal forces");
        let cone_violation =
            self.mu.is_some().then(|| real("cone_violation", "1", "friction beyond the cone"));
        let weight_error =
            weight.is_some().then(|| real("weight_error", "1", "relative error of the support"));
        ports.group(&NO_FEEDS);
        let touchdown = ports.output("touchdown", &Real);
        ports.note_out(touchdown).unit("s").doc("time of the first touchdown").may_be_infinite();
        let reopenings = ports.output("reopenings", &Int);
        ports.note_out(reopenings).doc("openings after a contact has settled");
        let drift = ports.output("drift", &Real);
        ports.note_out(drift).unit("m").doc("farthest that a settled contact moved");
        ports.updates();
        Ok(Plan {
            points,
            forces,
            problem,
            penetration,
            slip,
            complementarity,
            normal_force,
            cone_violation,
            weight_error,
            touchdown,
            reopenings,
            drift,
            count,
            cone,
            weight,
        })
    }

    fn check(&self, plan: &Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        match &self.mu {
            Some(mu) => friction_of(mu, sizes.dim(&plan.count)).map(|_| ()),
            None => Ok(()),
        }
    }

    fn state(&self, plan: &Plan, sizes: &Sizes<'_>) -> State {
        State { contacts: vec![History::default(); sizes.dim(&plan.count)], ..State::default() }
    }

    fn scratch(&self, plan: &Plan, sizes: &Sizes<'_>) -> Scratch {
        let count = sizes.dim(&plan.count);
        // `check` has accepted the parameter.
        let friction = self.mu.as_ref().and_then(|mu| friction_of(mu, count).ok());
        let rows = if sizes.optional(plan.problem).is_some() { 3 * count } else { 0 };
        Scratch { friction: friction.unwrap_or_default(), acceleration: vec![0.0; rows] }
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        if cx.group != NOW_GROUP {
            cx.outputs.set(plan.touchdown, cx.state.touchdown().unwrap_or(f64::INFINITY));
            cx.outputs.set(plan.reopenings, f64::from(cx.state.reopenings));
            cx.outputs.set(plan.drift, cx.state.drift);
            return Ok(());
        }
        let (points, forces) = (cx.inputs.get(plan.points), cx.inputs.get(plan.forces));
        let now = self.figures(plan, &cx.scratch.friction, &points, forces);
        if !cx.time.minor {
            *cx.memo = Some(now);
        }
        cx.outputs.set(plan.penetration, now.penetration);
        cx.outputs.set(plan.slip, now.slip);
        cx.outputs.set(plan.complementarity, now.complementarity);
        cx.outputs.set(plan.normal_force, now.normal_force);
        if let Some(port) = plan.cone_violation {
            cx.outputs.set(port, now.cone_violation);
        }
        if let Some(port) = plan.weight_error {
            cx.outputs.set(port, now.weight_error);
        }
        Ok(())
    }

    fn update(&self, plan: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let (points, forces) = (cx.inputs.get(plan.points), cx.inputs.get(plan.forces));
        let State { contacts, reopenings, drift, worst, last, solved: worst_solved } =
            &mut *cx.state;
        let now =
            (*cx.memo).unwrap_or_else(|| self.figures(plan, &cx.scratch.friction, &points, forces));
        worst.penetration = worst.penetration.max(now.penetration);
        worst.slip = worst.slip.max(now.slip);
        worst.complementarity = worst.complementarity.max(now.complementarity);
        worst.cone_violation = worst.cone_violation.max(now.cone_violation);
        worst.normal_force = worst.normal_force.max(now.normal_force);
        *last = now;
        if let Some(problem) = cx.inputs.optional(plan.problem) {
            let acceleration = &mut cx.scratch.acceleration;
            let now = solved(&problem, &plan.cone, forces, cx.time.step, acceleration);
            let worst = worst_solved.get_or_insert_default();
            worst.total = worst.total.max(now.total);
            worst.normal = worst.normal.max(now.normal);
            worst.lift = worst.lift.max(now.lift);
        }

        let (t, settle) = (cx.time.t, self.settle.value());
        let pairs = points.iter().zip(forces.chunks_exact(3));
        for (history, (contact, force)) in contacts.iter_mut().zip(pairs) {
            let is_loaded = force[2] > self.min_force.value();
            if history.is_closed && !is_loaded && contact.gap > self.gap_tolerance.value() {
                history.is_closed = false;
                history.anchor = None;
                let has_settled = history.first_touchdown.is_some_and(|first| t > first + settle);
                *reopenings += u32::from(has_settled);
            } else if !history.is_closed && (is_loaded || contact.gap <= 0.0) {
                history.is_closed = true;
                history.closed_at = t;
                history.first_touchdown = history.first_touchdown.or(Some(t));
            }
            if !history.is_closed || t < history.closed_at + settle {
                continue;
            }
            let p = contact.position;
            let from = *history.anchor.get_or_insert([p[0], p[1], p[2]]);
            let moved = Vector3::new(p[0] - from[0], p[1] - from[1], p[2] - from[2]);
            *drift = drift.max(moved.norm());
        }
        Ok(())
    }

    fn report(&self, plan: &Plan, state: &State, report: &mut Report) {
        report.metric("worst_penetration", state.worst.penetration);
        report.metric("worst_slip", state.worst.slip);
        report.metric("worst_complementarity", state.worst.complementarity);
        report.metric("worst_normal_force", state.worst.normal_force);
        report.metric("drift", state.drift);
        report.metric("reopenings", f64::from(state.reopenings));
        if let Some(touchdown) = state.touchdown() {
            report.metric("touchdown", touchdown);
        }
        if self.mu.is_some() {
            report.metric("worst_cone_violation", state.worst.cone_violation);
        }
        if let Some(solved) = &state.solved {
            report.metric("worst_total_complementarity", solved.total);
            report.metric("worst_normal_complementarity", solved.normal);
            report.metric("worst_convex_lift", solved.lift);
        }
        report.metric("final_normal_force", state.last.normal_force);
        if plan.weight.is_some() {
            report.metric("final_weight_error", state.last.weight_error);
        }
    }
}

#[cfg(test)]
mod tests;
