//! Every contact model under abuse. A case ends right, by laws that are derived here, or it is
//! told: a fault by its name, a warning by its name, a failure that is counted. None is silent. The
//! table of all outcomes is `src/abuses.md`.

use std::fmt::Write as _;
use std::sync::Arc;

use legwork::Disk;
use legwork_block::Registry;
use legwork_diagram::{Options, compile};
use legwork_runtime::Simulation;
use legwork_runtime::recording::{ChunkPolicy, Metadata, Recorder, Recording, Sink};

/// Acceleration of free fall [m/s²].
const G: f64 = 9.81;
/// Step of all but the coarse case [s].
const STEP: f64 = 1e-3;
/// Largest speed that `GaussContact` allows for by default [m/s].
const MAX_SPEED: f64 = 50.0;
/// Distance of a corner of the box from its vertical axis [m].
const CORNER: f64 = 0.1 * std::f64::consts::SQRT_2;
/// Contacts that carry a box.
const CORNERS: f64 = 4.0;

/// How contact forces come about, as far as the bounds depend on it.
#[derive(Clone, Copy, PartialEq)]
enum Law {
    /// Rigid, of the velocity after the step.
    Velocity,
    /// Rigid, of the acceleration, with impacts.
    Acceleration,
    /// Springs: K [N/m^e] and e.
    Spring(f64, f64),
}

const HERTZ: Law = Law::Spring(5e5, 1.5);
const LINEAR: Law = Law::Spring(1e6, 1.0);

/// Name, law, and the blocks that make of `{points}` and `{mu}` the forces `contact.f`.
const MODELS: [(&str, Law, &str); 14] = [
    ("ActiveSetQp", Law::Velocity, "ActiveSetQp("),
    ("ClarabelQp", Law::Velocity, "ClarabelQp(tol: 1e-10, "),
    ("ProjectedGaussSeidel", Law::Velocity, "ProjectedGaussSeidel("),
    ("AcceleratedGradient", Law::Velocity, "AcceleratedGradient("),
    ("PrincipalPivoting", Law::Velocity, "PrincipalPivoting("),
    ("Lemke", Law::Velocity, "Lemke("),
    ("StewartTrinkle", Law::Velocity, "StewartTrinkle("),
    ("CoulombContact", Law::Velocity, "CoulombContact(needs: { \"solve\": ActiveSetQp() }, "),
    ("Impact", Law::Acceleration, "ActiveSetQp("),
    ("CompliantContact", HERTZ, "CompliantContact("),
    ("ImplicitContact", HERTZ, "ImplicitContact("),
    ("ConstraintSolver", LINEAR, "Velocities"),
    ("… Forces", LINEAR, "Forces(cone: Circular)"),
    ("… LeastForces", LINEAR, "LeastForces(cone: Circular)"),
];

/// A box of 20 x 20 x 10 cm over level ground at z = 0, or two of them.
#[derive(Clone, Copy)]
struct Abuse {
    name: &'static str,
    /// Mass [kg]; of the upper box if there is a light one of `ratio` times its mass below.
    mass: f64,
    ratio: Option<f64>,
    gravity: f64,
    /// Gap below the lowest corners [m].
    gap: f64,
    /// Velocity along x and z [m/s].
    velocity: [f64; 2],
    /// Angular velocity about z [rad/s].
    spin: f64,
    mu: f64,
    step: f64,
    stop: f64,
    /// Contacts in a grid below the box; without, the 8 corners.
    grid: bool,
}

const AT_REST: Abuse = Abuse {
    name: "starts exactly touching",
    mass: 1.0,
    ratio: None,
    gravity: G,
    gap: 0.0,
    velocity: [0.0; 2],
    spin: 0.0,
    mu: 0.7,
    step: STEP,
    stop: 0.2,
    grid: false,
};

const ABUSES: [Abuse; 14] = [
    Abuse { name: "dropped from 10 m", gap: 10.0, stop: 1.6, ..AT_REST },
    Abuse { name: "thrown at 100 m/s", gap: 1.075, velocity: [0.0, -100.0], ..AT_REST },
    Abuse { name: "μ 0", velocity: [1.0, 0.0], mu: 0.0, ..AT_REST },
    Abuse { name: "μ 10⁶", velocity: [1.0, 0.0], mu: 1e6, ..AT_REST },
    Abuse { name: "mass ratio 10⁶", mass: 1e3, ratio: Some(1e-6), ..AT_REST },
    Abuse {
        name: "steps of 20 ms",
        gap: 0.05,
        velocity: [0.5, 0.0],
        step: 0.02,
        stop: 2.0,
        ..AT_REST
    },
    Abuse { name: "starts 0.5 m inside", gap: -0.5, ..AT_REST },
    Abuse {
        name: "50 redundant contacts",
        velocity: [0.5, 0.0],
        stop: 0.02,
        grid: true,
        ..AT_REST
    },
    Abuse { name: "10⁻⁶ kg", mass: 1e-6, gap: 0.01, velocity: [0.5, 0.0], ..AT_REST },
    Abuse { name: "10⁶ kg", mass: 1e6, gap: 0.01, velocity: [0.5, 0.0], ..AT_REST },
    Abuse { name: "no gravity", gravity: 0.0, ..AT_REST },
    AT_REST,
    Abuse { name: "spins at 1000 rad/s", spin: 1e3, ..AT_REST },
    Abuse { name: "slides at 100 m/s", velocity: [100.0, 0.0], ..AT_REST },
];

impl Abuse {
    /// The diagram.
    fn text(&self, law: Law, model: &str) -> String {
        let Self { mass, ratio, gravity, gap, velocity, spin, mu, step, stop, grid, .. } = *self;
        let body = |mass: f64| {
            format!(
                "FreeBody(mass: {mass:?}, shape: Box(size: [0.2, 0.2, 0.1]), \
                 gravity: [0, 0, {:?}])",
                -gravity
            )
        };
        let below = |half: f64| {
            format!(
                "Vertices([[{half}, {half}, -0.05], [{half}, -{half}, -0.05], \
                 [-{half}, -{half}, -0.05], [-{half}, {half}, -0.05]])"
            )
        };
        let (robot, robots, init, frame, above) = match ratio {
            None => (
                "one",
                format!("\"one\": {},", body(mass)),
                format!(
                    "(position: [0, 0, {:?}], velocity: [{:?}, 0, {:?}], \
                     angular_velocity: [0, 0, {spin:?}])",
                    gap + 0.05,
                    velocity[0],
                    velocity[1]
                ),
                "body",
                String::new(),
            ),
            Some(ratio) => (
                "all",
                format!(
                    "\"low\": {}, \"top\": {}, \"all\": World(of: [\"low\", \"top\"]),",
                    body(ratio * mass),
                    body(mass)
                ),
                "(robots: { \"low\": (position: [0, 0, 0.05]), \"top\": (position: [0, 0, 0.15]) })"
                    .to_owned(),
                "low/body",
                format!(
                    "\"on\": ContactPatch(robot: \"all\", frame: \"top/body\", shape: {}, \
                     ground: Body(frame: \"low/body\"), in: {{ \"state\": \"body.state\" }}),",
                    below(0.06)
                ),
            ),
        };
        let shape = match (ratio, grid) {
            (Some(_), _) => format!("shape: {}", below(0.1)),
            (None, true) => {
                "shape: Grid(size: [0.2, 0.2], cells: [10, 5]), at: [0, 0, -0.05]".to_owned()
            }
            (None, false) => "shape: FromCollision".to_owned(),
        };
        let points = if ratio.is_some() {
            "Join([\"patch.contacts\", \"on.contacts\"])"
        } else {
            "\"patch.contacts\""
        };
        let dynamics = format!("\"dynamics\": \"dyn.bus\", \"points\": {points}");
        let gauss = |more: &str, wire: &str| {
            format!(
                "\"problem\": GaussContact(mu: {mu:?}, {more} in: {{ {dynamics}, \
                 \"tau\": \"none.y\" {wire} }}),
                \"contact\": {model} in: {{ \"problem\": \"problem.problem\" }}),"
            )
        };
        let mut reset = "";
        let contact = match law {
            Law::Velocity => gauss("", ""),
            Law::Acceleration => {
                reset = ", \"reset\": \"impact.trigger\", \"nu_reset\": \"impact.nu_plus\"";
                let impact = format!(
                    "\"impact\": Impact(mu: {mu:?}, in: {{ {dynamics}, \"f\": \"contact.f\" }}),"
                );
                let level = "level: Acceleration, correct_velocity: true,";
                impact + &gauss(level, ", \"mode\": \"impact.mode\"")
            }
            Law::Spring(..) if model.starts_with("Compliant") => {
                format!("\"contact\": {model} mu: {mu:?}, in: {{ \"points\": {points} }}),")
            }
            Law::Spring(..) if model.starts_with("Implicit") => format!(
                "\"contact\": {model} law: (mu: {mu:?}), in: {{ {dynamics}, \"tau\": \"none.y\" }}),"
            ),
            Law::Spring(stiffness, _) => format!(
                "\"contact\": ConstraintSolver(robot: \"{robot}\", mu: {mu:?}, method: {model}, \
                 contact: Spring(stiffness: {stiffness:?}), \
                 in: {{ {dynamics}, \"tau\": \"none.y\" }}),"
            ),
        };
        format!(
            "Diagram(
            run: (stop: {stop:?}, step: {step:?}, solver: SemiImplicitEuler),
            robots: {{ {robots} }},
            blocks: {{
                \"none\": Constant(value: \"=zeros({robot}.n)\"),
                \"patch\": ContactPatch(robot: \"{robot}\", frame: \"{frame}\", {shape}, \
                in: {{ \"state\": \"body.state\" }}),
                {above}
                \"dyn\": RobotDynamics(robot: \"{robot}\", in: {{ \"state\": \"body.state\" }}),
                {contact}
                \"accel\": ConstrainedAcceleration(loops: false, in: {{ {dynamics}, \
                \"tau\": \"none.y\", \"f\": \"contact.f\" }}),
                \"body\": FloatingBase(robot: \"{robot}\", init: {init}, in: {{ \
                \"nu_dot\": \"accel.nu_dot\" {reset} }}),
                \"energy\": Energy(robot: \"{robot}\", in: {{ \"state\": \"body.state\" }}),
                \"depth\": ContactMetrics(in: {{ \"points\": {points}, \"f\": \"contact.f\" }}),
            }},
            log: [\"energy.total\", \"depth.penetration\", \"body.state\"],
        )"
        )
    }

    /// Speed at which it meets the ground [m/s].
    fn impact_speed(&self) -> f64 {
        f64::sqrt(self.velocity[1].powi(2) + 2.0 * self.gravity * self.gap.max(0.0))
    }

    /// How much energy a run may gain [J].
    ///
    /// Contact takes energy, and semi-implicit Euler takes ½ m (g Δt)² from what falls in each
    /// step. What remains is rounding and what solvers leave undone, 1e-6 of the energies in play,
    /// those of a height of 10 cm at least. A rigid contact that is inside is pushed out, by the
    /// work m g d at most. At acceleration level J̇ν turns the direction of friction: the velocity
    /// that it opposes is off by Δt ω² r, so that it may do the work of μ m g at that speed.
    fn most_gain(&self, law: Law, depth: f64) -> f64 {
        let inertia = self.mass * (0.2_f64.powi(2) + 0.2_f64.powi(2)) / 12.0;
        let [x, z] = self.velocity;
        let moving = 0.5 * (self.mass * (x * x + z * z) + inertia * self.spin.powi(2));
        let scale = moving + self.mass * G * (self.gap.abs() + 0.1);
        let rigid = match law {
            Law::Spring(..) => 0.0,
            Law::Velocity | Law::Acceleration => self.mass * self.gravity * depth,
        };
        let turned = match law {
            Law::Acceleration => {
                let speed = self.step * self.spin.powi(2) * CORNER;
                self.mu * self.mass * self.gravity * speed * self.stop
            }
            Law::Velocity | Law::Spring(..) => 0.0,
        };
        1e-6 * scale + rigid + turned
    }

    /// How deep it may sink [m].
    ///
    /// Rigid contact at velocity level lets nothing in that is slower than it allows for; impacts
    /// are found after the step, and springs push from the step after that in which they are met.
    /// Springs yield until they hold all energy, `n K/(e + 1) dᵉ⁺¹ = ½ m v² + m g d`; in a stack
    /// two of them do so. A box that friction tips, as its centre is μ times its height behind the
    /// edge, comes down on two corners with its sliding speed as well.
    fn most_depth(&self, law: Law) -> f64 {
        let speed = self.impact_speed();
        let step = (speed + self.gravity * self.step) * self.step;
        match law {
            Law::Velocity if speed <= MAX_SPEED => 1e-6,
            Law::Velocity | Law::Acceleration => step + 1e-6,
            Law::Spring(stiffness, exponent) => {
                let tips = self.mu * 0.05 > 0.1;
                let corners = if tips { 0.5 * CORNERS } else { CORNERS };
                let sliding = if tips { self.velocity[0] } else { 0.0 };
                let excess = |d: f64| {
                    let held = corners * stiffness / (exponent + 1.0) * d.powf(exponent + 1.0);
                    let squares = speed * speed + sliding * sliding;
                    held - 0.5 * self.mass * squares - self.mass * self.gravity * d
                };
                let (mut low, mut high) = (1e-9, 1e3);
                for _ in 0..100 {
                    let middle = 0.5 * (low + high);
                    if excess(middle) > 0.0 { high = middle } else { low = middle }
                }
                let springs = if self.ratio.is_some() { 2.0 } else { 1.0 };
                springs * high + step
            }
        }
    }

    /// Laws that the run broke, in words.
    fn broken(&self, law: Law, run: &Recording) -> Vec<String> {
        let rows = |topic: &str| -> Vec<Vec<f64>> {
            run.rows(topic).unwrap().map(|row| row.values).collect()
        };
        let mut broken = Vec::new();
        let depth = rows("depth.penetration").iter().map(|row| row[0]).fold(0.0, f64::max);
        if depth > self.most_depth(law) {
            broken.push(format!("{depth:.2e} m deep, not {:.2e}", self.most_depth(law)));
        }
        let energy: Vec<f64> = rows("energy.total").iter().map(|row| row[0]).collect();
        let gain = energy.iter().fold(0.0_f64, |most, now| most.max(now - energy[0]));
        if gain > self.most_gain(law, depth) {
            broken.push(format!("gains {gain:.2e} J, not {:.2e}", self.most_gain(law, depth)));
        }
        // Without friction nothing pushes sideways. ν follows q: position and quaternion.
        let states = rows("body.state");
        let along = states.last().unwrap()[7];
        if self.mu == 0.0 && (along - self.velocity[0]).abs() > 1e-9 {
            broken.push(format!("moves at {along} m/s, not {}", self.velocity[0]));
        }
        broken
    }
}

/// One word for how a case ended, or the laws that were broken in silence.
fn outcome(abuse: &Abuse, law: Law, model: &str) -> Result<&'static str, String> {
    let mut registry = Registry::default();
    legwork_blocks::register(&mut registry);
    let text = abuse.text(law, model);
    let options = Options::default();
    let compiled = compile("abuse.ron".as_ref(), text.as_bytes(), &options, &registry, &Disk);
    let shown = legwork_diagram::render::to_text(&compiled.diagnostics, &compiled.sources);
    let program = Arc::new(compiled.program.ok_or(shown)?);
    let channels = legwork_runtime::channels(&program);
    let (metadata, policy) = (Metadata::default(), ChunkPolicy::default());
    let recorder = Recorder::create(Sink::memory(), &channels, &metadata, policy).unwrap();
    let mut simulation = Simulation::new(program);
    simulation.observer_mut().record_to(recorder);
    if let Err(fault) = simulation.run() {
        // A fault names its block and says more than that a number is none.
        let is_named = !fault.block.is_empty() && !fault.fault.message.is_empty();
        let is_number = fault.fault.message.contains("became");
        return if is_number || !is_named { Err(format!("{fault}")) } else { Ok("fault") };
    }
    let written = simulation.observer_mut().finish_recording().unwrap().unwrap();
    let broken = abuse.broken(law, &Recording::from_bytes(written.memory.unwrap()).unwrap());
    let reports = simulation.reports();
    let is_any = |told: fn(&legwork_block::Report) -> bool| reports.iter().any(|(_, r)| told(r));
    if is_any(|report| !report.warnings.is_empty()) {
        return Ok("warned");
    }
    if is_any(|report| report.solver_failures > 0 || !report.notes.is_empty()) {
        return Ok("counted");
    }
    if broken.is_empty() { Ok("right") } else { Err(broken.join(", ")) }
}

#[test]
fn no_abuse_ends_in_silent_nonsense() {
    let mut table = "| |".to_owned();
    ABUSES.iter().for_each(|abuse| write!(table, " {} |", abuse.name).unwrap());
    table += "\n|---|";
    ABUSES.iter().for_each(|_| table += "---|");
    let mut silent = Vec::new();
    for (name, law, model) in MODELS {
        write!(table, "\n| `{name}` |").unwrap();
        for abuse in &ABUSES {
            let word = outcome(abuse, law, model).unwrap_or_else(|what| {
                silent.push(format!("{name}, {}: {what}", abuse.name));
                "SILENT"
            });
            write!(table, " {word} |").unwrap();
        }
    }
    assert!(silent.is_empty(), "{}\n{table}", silent.join("\n"));
    let kept = include_str!("../src/abuses.md");
    assert!(kept.contains(&table), "src/abuses.md should hold\n\n{table}\n");
}
