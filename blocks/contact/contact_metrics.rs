//! `ContactMetrics`: what a contact model got wrong, in numbers.

use legwork_block::quantity::{Force, Length, NonNegative, Positive, Time};
use legwork_block::{
    Block, Dim, Int, Invalid, Outcome, OutputCx, Ports, Real, Report, Sizes, UpdateCx, Vector,
    block, parameters, ports,
};
use legwork_qp::{Cone, ConeShape, ContactProblem};
use nalgebra::{Matrix3, Vector3};
use serde::{Deserialize, Serialize};

use crate::buses::{
    ContactBus, ContactPoints, ContactPointsBus, ContactProblemBus, ContactProblemRef,
    contact_points,
};
use crate::contact::friction_cone::{Friction, cone_shape, friction_of};
use crate::robot::name::RobotName;

/// Judges contact forces by penetration, slip, cone, and forces at a distance. All of these are
/// zero in ideal rigid contact.
///
/// The last three are state and one step old. A contact is loaded if `f_n > min_force`. It closes
/// when it is loaded or its gap is zero or less, and opens when it is not loaded and its gap is
/// above `gap_tolerance`.
///
/// A contact whose own `friction` is zero or more is judged by that instead of `mu`.
///
/// Contacts that are rows without surfaces, those of `JointLimits` and `UserConstraint`, are judged
/// by `past_limit` and `complementarity` alone: their gaps may be angles and their forces torques.
///
/// At the end of a run the worst values are reported as metrics. With `problem` and the velocity
/// `v = Δt (G f + b)` that the contacts have after the step, so are:
///
/// - `worst_total_complementarity`: `|fᵀ(G f + b)|` relative to a typical force times a typical
///   acceleration; zero up to a solver's tolerance in the convex law and in Coulomb's;
/// - `worst_normal_complementarity`: largest `|f_n v_n|` [W], zero in Coulomb's law;
/// - `worst_convex_lift`: largest `μ f_n |v_t|` [W], what a sliding contact has of it in the convex
///   law: there the two are equal.
#[ports(
    keep cone: ConeShape = cone_shape(self.cone)?;
    /// Weight [N] and the direction against gravity, world axes.
    keep weight: Option<(f64, Vector3<f64>)> = self.weight(ports)?;
    keep k: Dim = ports.dim();
    let (nv, kind) = (ports.dim(), ports.any_argument());
    in  points: contact_points(&k, &nv) as ContactPointsBus, _, "k contacts";
    in  forces("f"): Vector::of(3 * k.clone()), "N", "contact forces on the robot, contact axes",
        frame "contact", shape "3k";
    in  problem?: ContactProblemBus::new(&k, &nv, kind), _, "the problem that `f` should solve";
    feeds(points, forces);
    out penetration: Real, "m", "deepest penetration now, zero or more";
    out past_limit: Real, _,
        "farthest that a joint, or another row, is past its limit now, zero or more",
        units "rad, m";
    out slip: Real, "m/s", "largest tangential speed of a loaded contact";
    out complementarity: Real, "N*m", "largest `f_n · max(gap, 0)`: force at a distance";
    out normal_force: Real, "N", "`Σ f_n`";
    out cone_violation: Real, "1", "largest `(|f_t| − μ f_n)/max(f_n, min_force)`",
        when self.mu.is_some();
    out weight_error: Real, "1", "`|Σ f·e − m g|/(m g)`, e up, against gravity",
        when weight.is_some(), if "with `robot`";
    feeds();
    out touchdown: Real, "s", "time of the first touchdown; infinite before", infinite;
    out reopenings: Int, _, "openings later than a contact's first touchdown + `settle`",
        units "1";
    out drift: Real, "m", "farthest motion of a closed contact, `settle` after it closed";
    ports.updates();
)]
#[parameters]
pub struct ContactMetrics {
    /// Coulomb friction μ to judge by, one value or one for each contact [1]; default: friction is
    /// not judged.
    pub mu: Option<Friction>,
    /// The cone to judge by; the default is Coulomb's own.
    #[default = Cone::Circular]
    pub cone: Cone,
    /// The robot whose weight the contacts carry; default: the weight is not judged.
    pub robot: Option<RobotName>,
    /// Time after a touchdown in which bouncing and sliding do not count [s].
    #[default = "0.3 s"]
    pub settle: NonNegative<Time>,
    /// Normal force above which a contact is loaded, more than zero [N].
    #[default = "0.1 N"]
    pub min_force: Positive<Force>,
    /// Gap up to which an unloaded contact stays closed [m].
    #[default = "0.1 mm"]
    pub gap_tolerance: NonNegative<Length>,
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
    /// None without rows.
    past_limit: Option<f64>,
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
    /// Weight [N] and the direction against gravity of the robot, if one is judged.
    fn weight(&self, ports: &Ports<'_>) -> Result<Option<(f64, Vector3<f64>)>, Invalid> {
        let Some(name) = &self.robot else { return Ok(None) };
        let robot = name.find(ports)?;
        let gravity = robot.model.gravity();
        let weight = robot.model.total_mass() * gravity.norm();
        if weight > 0.0 {
            return Ok(Some((weight, -gravity / gravity.norm())));
        }
        let message = format!("robot `{}` has no weight to judge the forces by", robot.name);
        Err(Invalid::parameter("robot", message).hint("leave `robot` out"))
    }

    fn figures(
        &self,
        plan: &ContactMetricsPorts,
        friction: &[f64],
        points: &ContactPoints<'_>,
        forces: &[f64],
    ) -> Figures {
        let min_force = self.min_force.value();
        let mut figures = Figures::default();
        let (mut support, mut slip) = (Vector3::zeros(), 0.0f64);
        for (i, f) in forces.chunks_exact(3).enumerate() {
            let force = [f[0], f[1], f[2]];
            let gap = points.leaf(i, ContactBus::GAP)[0];
            figures.complementarity = figures.complementarity.max(force[2] * gap.max(0.0));
            if points.leaf(i, ContactBus::ROW)[0] != 0.0 {
                figures.past_limit = Some(figures.past_limit.unwrap_or(0.0).max(-gap));
                continue;
            }
            figures.penetration = figures.penetration.max(-gap);
            if force[2] > min_force {
                let v = points.leaf(i, ContactBus::VELOCITY);
                slip = slip.max(v[0] * v[0] + v[1] * v[1]);
            }
            figures.normal_force += force[2];
            if let Some(&mu) = friction.get(i) {
                let own = points.leaf(i, ContactBus::FRICTION)[0];
                let mu = if own >= 0.0 { own } else { mu };
                if !is_within_circle(&plan.cone, mu, force) {
                    let excess = plan.cone.violation(mu, force) / force[2].max(min_force);
                    figures.cone_violation = figures.cone_violation.max(excess);
                }
            }
            if plan.weight.is_some() {
                let axes = Matrix3::from_column_slice(points.leaf(i, ContactBus::AXES));
                support += axes * Vector3::from(force);
            }
        }
        // The root is monotonic: that of the largest square is the largest root.
        figures.slip = slip.sqrt();
        if let Some((weight, up)) = plan.weight {
            figures.weight_error = (support.dot(&up) - weight).abs() / weight;
        }
        figures
    }
}

/// Whether a force is in the circular cone, told without a root: of `s ≤ (μ f_n)²` the root is at
/// most `μ f_n` after rounding too, and so [`ConeShape::violation`] is zero.
fn is_within_circle(cone: &ConeShape, mu: f64, [t1, t2, n]: [f64; 3]) -> bool {
    let reach = cone.facet_friction(mu) * n;
    cone.sides() == 0 && n >= 0.0 && t1 * t1 + t2 * t2 <= reach * reach
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
    let mut lift = 0.0f64;
    let pairs = forces.as_chunks::<3>().0.iter().zip(acceleration.as_chunks::<3>().0);
    for (i, (f, a)) in pairs.enumerate().filter(|(i, _)| problem.active[*i] != 0.0) {
        found.total += f[0] * a[0] + f[1] * a[1] + f[2] * a[2];
        found.normal = found.normal.max((f[2] * a[2]).abs() * time_step);
        let bound = problem.friction[i] * f[2].max(0.0);
        lift = lift.max(bound * bound * (a[0] * a[0] + a[1] * a[1]));
    }
    // The root is monotonic: that of the largest square is the largest root.
    found.lift = lift.sqrt() * time_step;
    found.total = found.total.abs() / (problem.force_scale * view.acceleration_scale());
    found
}

#[block]
impl Block for ContactMetrics {
    type State = State;
    /// The figures of the step, from `output` to `update`.
    type Memo = Option<Figures>;
    type Scratch = Scratch;

    fn check(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        match &self.mu {
            Some(mu) => friction_of(mu, sizes.dim(&plan.k)).map(|_| ()),
            None => Ok(()),
        }
    }

    fn state(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> State {
        State { contacts: vec![History::default(); sizes.dim(&plan.k)], ..State::default() }
    }

    fn scratch(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Scratch {
        let count = sizes.dim(&plan.k);
        // `check` has accepted the parameter.
        let friction = self.mu.as_ref().and_then(|mu| friction_of(mu, count).ok());
        let rows = if sizes.optional(plan.problem).is_some() { 3 * count } else { 0 };
        Scratch { friction: friction.unwrap_or_default(), acceleration: vec![0.0; rows] }
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
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
        cx.outputs.set(plan.past_limit, now.past_limit.unwrap_or(0.0));
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

    fn update(&self, plan: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let (points, forces) = (cx.inputs.get(plan.points), cx.inputs.get(plan.forces));
        let State { contacts, reopenings, drift, worst, last, solved: worst_solved } =
            &mut *cx.state;
        let now =
            (*cx.memo).unwrap_or_else(|| self.figures(plan, &cx.scratch.friction, &points, forces));
        worst.penetration = worst.penetration.max(now.penetration);
        if now.past_limit > worst.past_limit {
            worst.past_limit = now.past_limit;
        }
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
        let mut farthest = 0.0f64;
        for (i, (history, force)) in contacts.iter_mut().zip(forces.chunks_exact(3)).enumerate() {
            if points.leaf(i, ContactBus::ROW)[0] != 0.0 {
                continue;
            }
            let gap = points.leaf(i, ContactBus::GAP)[0];
            let is_loaded = force[2] > self.min_force.value();
            if history.is_closed && !is_loaded && gap > self.gap_tolerance.value() {
                history.is_closed = false;
                history.anchor = None;
                let has_settled = history.first_touchdown.is_some_and(|first| t > first + settle);
                *reopenings += u32::from(has_settled);
            } else if !history.is_closed && (is_loaded || gap <= 0.0) {
                history.is_closed = true;
                history.closed_at = t;
                history.first_touchdown = history.first_touchdown.or(Some(t));
            }
            if !history.is_closed || t < history.closed_at + settle {
                continue;
            }
            let p = points.leaf(i, ContactBus::POSITION);
            let from = *history.anchor.get_or_insert([p[0], p[1], p[2]]);
            let moved = Vector3::new(p[0] - from[0], p[1] - from[1], p[2] - from[2]);
            farthest = farthest.max(moved.norm_squared());
        }
        *drift = drift.max(farthest.sqrt());
        Ok(())
    }

    fn report(&self, plan: &Self::Plan, state: &State, report: &mut Report) {
        report.metric_in("m", "worst_penetration", state.worst.penetration);
        if let Some(past) = state.worst.past_limit {
            report.metric("worst_past_limit", past);
        }
        report.metric_in("m/s", "worst_slip", state.worst.slip);
        report.metric_in("N*m", "worst_complementarity", state.worst.complementarity);
        report.metric_in("N", "worst_normal_force", state.worst.normal_force);
        report.metric_in("m", "drift", state.drift);
        report.metric("reopenings", f64::from(state.reopenings));
        if let Some(touchdown) = state.touchdown() {
            report.metric_in("s", "touchdown", touchdown);
        }
        if self.mu.is_some() {
            report.metric("worst_cone_violation", state.worst.cone_violation);
        }
        if let Some(solved) = &state.solved {
            report.metric("worst_total_complementarity", solved.total);
            report.metric_in("W", "worst_normal_complementarity", solved.normal);
            report.metric_in("W", "worst_convex_lift", solved.lift);
        }
        report.metric_in("N", "final_normal_force", state.last.normal_force);
        if plan.weight.is_some() {
            report.metric("final_weight_error", state.last.weight_error);
        }
    }
}

#[cfg(test)]
mod tests;
