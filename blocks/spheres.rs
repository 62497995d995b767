//! `Spheres`: many balls over level ground, stepped by the constraint solver.

use legwork_block::quantity::{
    Acceleration, Damping, Dimensionless, Length, Mass, NonNegative, Positive, Pressure,
};
use legwork_block::{
    Block, Fault, Int, Invalid, NO_FEEDS, Out, Outcome, OutputCx, Ports, RateRule, Real, Report,
    Sizes, UpdateCx, Vector,
};
use legwork_contact::collision::Neighbours;
use legwork_contact::soft_constraints::{
    BodyIndex, ConstraintProblem, ConstraintSolution, Friction, Law, Rows, SoftConstraintSolver,
    SpringDamper,
};
use nalgebra::Vector3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::constraint_solver::zero;
use crate::gauss_contact::non_negative;

/// Many equal spheres over the plane z = 0, with Hertz contact and Coulomb friction between all of
/// them, stepped implicitly by Drumwright's constraint solver: a plant with a step of its own.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | out `positions` | 3n | m | centres |
/// | out `velocities` | 6n | m/s, rad/s | of each sphere, linear first, world axes |
/// | out `energy` | | J | kinetic and potential, zero on the ground |
/// | out `speed` | | m/s | largest speed of a centre |
/// | out `contacts` | | 1 | pairs and spheres on the ground that touched in the last step |
/// | out `penetration` | | m | largest depth of them at the end of that step |
/// | out `load` | | N | sum of the normal forces on the ground in that step |
/// | out `iterations` | | 1 | Newton steps of that step |
///
/// The spheres start at rest in layers of `columns`, `gap` apart in all directions and above the
/// ground, every second layer shifted by `stagger` along x and y. The step is `every:`. Which spheres
/// can meet within a step is found by a grid of cells, and the solver's matrix is sparse: a step
/// costs in proportion to the spheres as long as each touches a few others.
///
/// With depth d and r' = r on the ground, r/2 between two spheres, `f_n = 4/3 E* √r' d^{3/2} − B ḋ`,
/// zero or more, at the end of the step; `ConstraintSolver` says more of the method. Spheres do not
/// resist rolling.
///
/// References: E. M. Drumwright, *An unconditionally stable first-order constraint solver for
/// multibody systems* (2019), sec. 6.5.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spheres {
    /// How many, n, 1 to 100 000.
    pub count: usize,
    /// Radius r [m].
    pub radius: Positive<Length>,
    /// Mass of each [kg].
    pub mass: Positive<Mass>,
    /// Combined modulus E* of two spheres, and of a sphere and the ground [Pa].
    pub modulus: Positive<Pressure>,
    /// Damping B of a contact [N s/m]; default 0.
    #[serde(default = "zero::<Damping>")]
    pub damping: NonNegative<Damping>,
    /// Coulomb friction, zero or more [1]; default 0.5.
    #[serde(default = "friction")]
    pub mu: NonNegative<Dimensionless>,
    /// Spheres of a layer along x and y; default `[1, 1]`, a stack.
    #[serde(default = "stack")]
    pub columns: [usize; 2],
    /// Distance of the surfaces at the start [m]; default 0.
    #[serde(default = "zero::<Length>")]
    pub gap: NonNegative<Length>,
    /// Shift of every second layer along x and y [m]; default 0.
    #[serde(default = "zero::<Length>")]
    pub stagger: NonNegative<Length>,
    /// Acceleration of free fall, downwards [m/s²]; default 9.81 m/s².
    #[serde(default = "gravity")]
    pub gravity: NonNegative<Acceleration>,
}

/// Most spheres of a block.
const MOST_SPHERES: usize = 100_000;
/// B of friction times Δt [kg] (Drumwright, sec. 6.4).
const FRICTION_MASS: f64 = 1e6;
/// Velocities of a sphere.
const DOF: usize = 6;

fn friction() -> NonNegative<Dimensionless> {
    non_negative(0.5)
}

fn stack() -> [usize; 2] {
    [1, 1]
}

fn gravity() -> NonNegative<Acceleration> {
    non_negative(9.81)
}

/// Ports of [`Spheres`].
pub struct Plan {
    positions: Out<Vector>,
    velocities: Out<Vector>,
    energy: Out<Real>,
    speed: Out<Real>,
    contacts: Out<Int>,
    penetration: Out<Real>,
    load: Out<Real>,
    iterations: Out<Int>,
}

/// Where the spheres are, and what the last step was like.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct SpheresState {
    positions: Vec<f64>,
    velocities: Vec<f64>,
    contacts: u32,
    penetration: f64,
    load: f64,
    iterations: u32,
    calls: u64,
    total_iterations: u64,
    most_contacts: u32,
    worst_residual: f64,
}

/// Who can touch in this step: sphere, the one below it or the ground, normal towards the former.
struct Pair {
    upper: usize,
    lower: Option<usize>,
    normal: Vector3<f64>,
    gap: f64,
}

/// Work memory of [`Spheres`].
pub struct Scratch {
    problem: ConstraintProblem,
    solution: ConstraintSolution,
    solver: SoftConstraintSolver,
    neighbours: Neighbours,
    pairs: Vec<Pair>,
    /// Weights.
    force: Vec<f64>,
}

fn three(numbers: &[f64]) -> Vector3<f64> {
    Vector3::new(numbers[0], numbers[1], numbers[2])
}

fn place(numbers: &[f64], i: usize) -> Vector3<f64> {
    three(&numbers[3 * i..])
}

/// `n` with two tangents: rows r, s, n.
fn axes(n: &Vector3<f64>) -> [Vector3<f64>; 3] {
    let helper = if n.x.abs() < 0.6 { Vector3::x() } else { Vector3::y() };
    let t = n.cross(&helper).normalize();
    [t, n.cross(&t), *n]
}

/// `G` of the point at `arm` from a sphere's centre along `axes`, 3 × 6.
fn point_rows(arm: &Vector3<f64>, axes: &[Vector3<f64>; 3], sign: f64) -> [f64; 3 * DOF] {
    let mut g = [0.0; 3 * DOF];
    for (row, axis) in axes.iter().enumerate() {
        let turn = arm.cross(axis);
        for k in 0..3 {
            g[3 * k + row] = sign * axis[k];
            g[3 * (3 + k) + row] = sign * turn[k];
        }
    }
    g
}

impl Spheres {
    /// Centres at the start.
    fn lattice(&self) -> Vec<f64> {
        let (r, gap, [nx, ny]) = (self.radius.value(), self.gap.value(), self.columns);
        let pitch = 2.0 * r + gap;
        let mut positions = Vec::with_capacity(3 * self.count);
        for i in 0..self.count {
            let layer = i / (nx * ny);
            let shift = if layer % 2 == 1 { self.stagger.value() } else { 0.0 };
            let along = |k: usize, n: usize| (k as f64 - 0.5 * (n - 1) as f64) * pitch + shift;
            let height = gap + r + layer as f64 * pitch;
            positions.extend([along(i % nx, nx), along(i / nx % ny, ny), height]);
        }
        positions
    }

    /// Finds who can touch: those nearer than the pair itself comes in this step, or than any
    /// sphere moves along their normal, as a blow may hand its velocity on.
    fn find_pairs(&self, state: &SpheresState, time_step: f64, work: &mut Scratch) {
        let r = self.radius.value();
        let linear = |i: usize| three(&state.velocities[DOF * i..]);
        let fall = Vector3::new(0.0, 0.0, self.gravity.value() * time_step);
        let fastest = (0..self.count).map(linear).fold(fall, |most, v| most.sup(&(v.abs() + fall)));
        let Scratch { neighbours, pairs, .. } = work;
        pairs.clear();
        for i in 0..self.count {
            let gap = state.positions[3 * i + 2] - r;
            if gap <= time_step * fastest.z {
                pairs.push(Pair { upper: i, lower: None, normal: Vector3::z(), gap });
            }
        }
        let reach = 2.0 * (r + time_step * fastest.norm());
        neighbours.for_each_pair(&state.positions, reach, |i, j| {
            let apart = place(&state.positions, i) - place(&state.positions, j);
            let distance = apart.norm();
            // Spheres with one centre have no normal; any will part them.
            let normal = if distance > 0.0 { apart / distance } else { Vector3::z() };
            let closing = (linear(j) - linear(i)).dot(&normal);
            let gap = distance - 2.0 * r;
            if gap <= time_step * closing.max(normal.abs().dot(&fastest)) {
                pairs.push(Pair { upper: i, lower: Some(j), normal, gap });
            }
        });
    }

    /// Inertia, momentum and contacts of this step.
    fn assemble(&self, state: &SpheresState, time_step: f64, work: &mut Scratch) {
        let Scratch { problem, solution, pairs, force, .. } = work;
        problem.clear();
        problem.time_step = time_step;
        problem.set_momentum(&state.velocities, force);
        solution.velocity.copy_from_slice(&state.velocities);
        let (r, modulus) = (self.radius.value(), self.modulus.value());
        let friction = Friction::coulomb(self.mu.value(), FRICTION_MASS / time_step);
        for pair in pairs.iter() {
            let radius = if pair.lower.is_some() { 0.5 * r } else { r };
            let normal = SpringDamper {
                damping: self.damping.value(),
                ..SpringDamper::hertz(pair.gap, modulus, radius, 4.0 / 3.0)
            };
            let (axes, arm) = (axes(&pair.normal), pair.normal * r);
            let upper = point_rows(&-arm, &axes, 1.0);
            let law = Law::Contact(normal, friction);
            let first = (BodyIndex(pair.upper), &upper[..]);
            match pair.lower {
                None => problem.push(Rows::Bodies(&[first]), law),
                Some(lower) => {
                    let rows = point_rows(&arm, &axes, -1.0);
                    let second = (BodyIndex(lower), &rows[..]);
                    problem.push(Rows::Bodies(&[first, second]), law)
                }
            };
        }
    }

    /// Moves on with the new velocities, and notes what the step was like.
    fn advance(&self, state: &mut SpheresState, time_step: f64, work: &Scratch) {
        state.velocities.copy_from_slice(&work.solution.velocity);
        let moved = state.positions.chunks_exact_mut(3).zip(state.velocities.chunks_exact(DOF));
        for (position, velocity) in moved {
            position.iter_mut().zip(velocity).for_each(|(x, v)| *x += time_step * v);
        }
        (state.contacts, state.penetration, state.load) = (0, 0.0, 0.0);
        for (pair, force) in work.pairs.iter().zip(work.solution.forces.chunks_exact(3)) {
            if force[2] <= 0.0 {
                continue;
            }
            state.contacts += 1;
            let (position, r) = (place(&state.positions, pair.upper), self.radius.value());
            let gap = match pair.lower {
                None => position.z - r,
                Some(lower) => (position - place(&state.positions, lower)).norm() - 2.0 * r,
            };
            state.penetration = state.penetration.max(-gap);
            state.load += if pair.lower.is_none() { force[2] } else { 0.0 };
        }
        state.most_contacts = state.most_contacts.max(state.contacts);
    }

    fn moment(&self) -> f64 {
        0.4 * self.mass.value() * self.radius.value() * self.radius.value()
    }
}

impl Block for Spheres {
    const KIND: &'static str = "Spheres";
    type Plan = Plan;
    type State = SpheresState;
    type Memo = ();
    type Scratch = Scratch;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        if !(1..=MOST_SPHERES).contains(&self.count) {
            let message = format!("expected 1 to {MOST_SPHERES} spheres, found {}", self.count);
            return Err(Invalid::parameter("count", message));
        }
        let [nx, ny] = self.columns;
        if !(1..=MOST_SPHERES).contains(&nx.saturating_mul(ny)) {
            let message = format!("expected at least one column each way, found {nx} x {ny}");
            return Err(Invalid::parameter("columns", message));
        }
        ports.rate(RateRule::Sampled);
        ports.group(&NO_FEEDS);
        let positions = ports.output("positions", &Vector::of(3 * self.count));
        ports.note_out(positions).unit("m").frame("world").doc("centres");
        let velocities = ports.output("velocities", &Vector::of(DOF * self.count));
        ports.note_out(velocities).frame("world").doc("linear, angular [m/s, rad/s]");
        let mut real = |name: &str, unit: &str, doc: &str| {
            let port = ports.output(name, &Real);
            ports.note_out(port).unit(unit).doc(doc);
            port
        };
        let energy = real("energy", "J", "kinetic and potential, zero on the ground");
        let speed = real("speed", "m/s", "largest speed of a centre");
        let penetration = real("penetration", "m", "largest depth after the last step");
        let load = real("load", "N", "of the ground in the last step");
        let mut int = |name: &str, doc: &str| {
            let port = ports.output(name, &Int);
            ports.note_out(port).doc(doc);
            port
        };
        let contacts = int("contacts", "how many touched in the last step");
        let iterations = int("iterations", "Newton steps of the last step");
        Ok(Plan { positions, velocities, energy, speed, contacts, penetration, load, iterations })
    }

    fn state(&self, _: &Plan, _: &Sizes<'_>) -> SpheresState {
        let velocities = vec![0.0; DOF * self.count];
        SpheresState { positions: self.lattice(), velocities, ..SpheresState::default() }
    }

    fn scratch(&self, _: &Plan, _: &Sizes<'_>) -> Scratch {
        // The step comes with the first update.
        let mut problem = ConstraintProblem::new(&vec![DOF; self.count], 1.0);
        let mut mass = [0.0; DOF * DOF];
        for i in 0..DOF {
            mass[i * (DOF + 1)] = if i < 3 { self.mass.value() } else { self.moment() };
        }
        let mut force = vec![0.0; DOF * self.count];
        for body in 0..self.count {
            problem.set_mass(BodyIndex(body), &mass);
            force[DOF * body + 2] = -self.mass.value() * self.gravity.value();
        }
        let velocity = vec![0.0; DOF * self.count];
        Scratch {
            problem,
            solution: ConstraintSolution { velocity, ..ConstraintSolution::default() },
            solver: SoftConstraintSolver::default(),
            neighbours: Neighbours::default(),
            pairs: Vec::new(),
            force,
        }
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let state = cx.state;
        cx.outputs.get(plan.positions).copy_from_slice(&state.positions);
        cx.outputs.get(plan.velocities).copy_from_slice(&state.velocities);
        let (mass, weight) = (self.mass.value(), self.mass.value() * self.gravity.value());
        let (mut energy, mut speed) = (0.0, 0.0f64);
        for (x, v) in state.positions.chunks_exact(3).zip(state.velocities.chunks_exact(DOF)) {
            let (linear, angular) = (three(v), three(&v[3..]));
            let kinetic = mass * linear.norm_squared() + self.moment() * angular.norm_squared();
            energy += weight * (x[2] - self.radius.value()) + 0.5 * kinetic;
            speed = speed.max(linear.norm());
        }
        cx.outputs.set(plan.energy, energy);
        cx.outputs.set(plan.speed, speed);
        cx.outputs.set(plan.penetration, state.penetration);
        cx.outputs.set(plan.load, state.load);
        cx.outputs.set(plan.contacts, f64::from(state.contacts));
        cx.outputs.set(plan.iterations, f64::from(state.iterations));
        Ok(())
    }

    fn update(&self, _: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let (time_step, work) = (cx.time.step, &mut *cx.scratch);
        if !(time_step > 0.0 && time_step.is_finite()) {
            return Err(Fault::new(format!("expected a positive time step, found {time_step}")));
        }
        self.find_pairs(cx.state, time_step, work);
        self.assemble(cx.state, time_step, work);
        let solution = work.solver.solve(&work.problem, &mut work.solution);
        if !solution.status.is_usable() {
            return Err(Fault::new(format!(
                "the constraint problem was not solved: {:?} after {} iterations",
                solution.status, solution.iterations
            )));
        }
        self.advance(cx.state, time_step, work);
        cx.state.iterations = solution.iterations;
        cx.state.calls += 1;
        cx.state.total_iterations += u64::from(solution.iterations);
        cx.state.worst_residual = cx.state.worst_residual.max(solution.residual);
        Ok(())
    }

    fn report(&self, _: &Plan, state: &SpheresState, report: &mut Report) {
        report.solver_calls += state.calls;
        report.metric("worst_residual", state.worst_residual);
        report.metric("most_contacts", f64::from(state.most_contacts));
        if state.calls > 0 {
            let mean = state.total_iterations as f64 / state.calls as f64;
            report.metric("mean_iterations", mean);
        }
    }
}

#[cfg(test)]
mod tests;
