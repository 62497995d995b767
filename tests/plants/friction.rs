//! Friction is equal in every direction: bodies thrown along the ground, compared with the closed
//! forms of Coulomb's law.

use super::harness::{failed_checks, run_text};

const DIRECTIONS: u32 = 36;
const SPEED: f64 = 0.5;
/// What may lift a body: rounding, and the gap that a step of a turning body leaves [m].
const LIFT: f64 = 1e-5;
const STOP: f64 = 0.6;
const GRAVITY: f64 = 9.81;

/// A body: its name, the blocks that find its contacts, and the block that assembles them.
const BODIES: [(&str, f64, &str); 3] = [
    (
        "box",
        0.05,
        r#"Collisions(robot: "box", ground: Level, contacts: 4, in: { "state": "B.state" })"#,
    ),
    (
        "ball",
        0.05,
        r#"Collisions(robot: "ball", ground: Level, contacts: 1, in: { "state": "B.state" })"#,
    ),
    // A sole, like that of a robot's foot.
    (
        "foot",
        0.02,
        r#"ContactPatch(robot: "foot", frame: "body", shape: Vertices(
            [[0.12, 0.04, -0.02], [0.12, -0.04, -0.02], [-0.06, 0.04, -0.02], [-0.06, -0.04, -0.02]]
        ), in: { "state": "B.state" })"#,
    ),
];

/// All bodies in all directions, with a check for each. `solver` replaces the default.
fn diagram(mu: f64, cone: &str, solver: &str) -> String {
    let (mut blocks, mut checks) = (String::new(), String::new());
    for (body, height, contacts) in BODIES {
        for k in 0..DIRECTIONS {
            let name = format!("{body}_{k}");
            let (sin, cos) = (f64::from(k) * std::f64::consts::PI / 18.0).sin_cos();
            let (vx, vy) = (SPEED * cos, SPEED * sin);
            let contacts = contacts.replace("B.", &format!("{name}."));
            blocks += &format!(
                r#""{name}_at": {contacts},
                "{name}_dyn": RobotDynamics(robot: "{body}", in: {{ "state": "{name}.state" }}),
                "{name}_law": GaussContact(mu: {mu}, {cone} in: {{ "dynamics": "{name}_dyn.bus",
                    "points": "{name}_at.contacts", "tau": "none.y" }}),
                "{name}_f": {solver}(PROBLEM),
                "{name}_accel": ConstrainedAcceleration(loops: false, in: {{
                    "dynamics": "{name}_dyn.bus", "tau": "none.y",
                    "points": "{name}_at.contacts", "f": "{name}_f.f" }}),
                "{name}": FloatingBase(robot: "{body}", init: (position: [0, 0, {height}],
                    velocity: [{vx}, {vy}, 0]), in: {{ "nu_dot": "{name}_accel.nu_dot" }}),
                "#
            )
            .replace("(PROBLEM)", &problem(solver, &name));
            let brake = mu * GRAVITY;
            let far = if body == "ball" {
                let slides = 2.0 * SPEED / (7.0 * brake);
                12.0 * SPEED * SPEED / (49.0 * brake) + 5.0 / 7.0 * SPEED * (STOP - slides)
            } else {
                SPEED * SPEED / (2.0 * brake)
            };
            let (p, v) =
                (format!("{name}.state.base.position"), format!("{name}.state.base.velocity"));
            let least = if body == "ball" { 5.0 / 7.0 * SPEED } else { 0.0 };
            let along = format!("({p}[0]*{cos:e} + {p}[1]*{sin:e})");
            let across = format!("({p}[1]*{cos:e} - {p}[0]*{sin:e})");
            checks += &format!(
                r#""{name} goes as far": Finally(that: "=abs({along} - {far:e}[m]) < 0.03*{far:e}[m]"),
                "{name} goes straight": Finally(that: "=abs({across}) < 0.0175*{far:e}[m]"),
                "{name} keeps to the ground": Always(that: "=abs({p}[2] - {height}[m]) < {LIFT:e}[m]"),
                "{name} brakes by mu g": Always(that: "=abs({v}[0]*{cos:e} + {v}[1]*{sin:e}
                    - max({SPEED}[m/s] - {brake:e}[m/s^2]*t, {least:e}[m/s])) < 0.01*{SPEED}[m/s]"),
                "#
            );
            if body == "ball" {
                checks += &format!(
                    r#""{name} rolls": Finally(that: "=abs({v}[0]*{cos:e} + {v}[1]*{sin:e} - {:e}[m/s]) < {:e}[m/s]"),
                    "#,
                    5.0 / 7.0 * SPEED,
                    0.01 * SPEED
                );
            }
        }
    }
    format!(
        r#"#![enable(implicit_some)]
        Diagram(
            format: 2,
            run: (stop: "{STOP} s", step: "1 ms", solver: SemiImplicitEuler),
            robots: {{
                "box": FreeBody(mass: "1 kg", shape: Box(size: [0.2, 0.2, 0.1])),
                "ball": FreeBody(mass: "1 kg", shape: Sphere(radius: "5 cm")),
                "foot": FreeBody(mass: "1 kg", shape: Box(size: [0.18, 0.08, 0.04])),
            }},
            blocks: {{ "none": Constant(value: "=zeros(0)"), {blocks} }},
            log: ["box_0.state"],
            checks: {{ {checks} }},
        )"#
    )
}

/// The arguments of the solver.
fn problem(solver: &str, name: &str) -> String {
    let needs = match solver {
        "CoulombContact" => r#"needs: { "solve": ActiveSetQp() }, "#,
        _ => "",
    };
    format!(r#"({needs}in: {{ "problem": "{name}_law.problem" }})"#)
}

fn failed(mu: f64, cone: &str, solver: &str) -> Vec<String> {
    failed_checks(&run_text(&diagram(mu, cone, solver), "box_0.state").0)
}

#[test]
fn what_slides_stops_and_rolls_alike_in_all_directions() {
    for mu in [0.1, 0.3, 0.6, 0.9] {
        let solvers = ["ActiveSetQp", "CoulombContact"];
        for solver in &solvers[..if mu == 0.3 { 2 } else { 1 }] {
            let failed = failed(mu, "", solver);
            assert!(failed.is_empty(), "mu {mu}, {solver}: {failed:?}");
        }
    }
}

/// The convex law ends at the same places, but throws what slides off the ground.
#[test]
fn the_checks_detect_the_convex_law() {
    let failed = failed(0.6, "sliding: Convex,", "ActiveSetQp");
    for name in ["box_0", "ball_7", "foot_20"] {
        for law in ["keeps to the ground", "brakes by mu g"] {
            assert!(failed.contains(&format!("{name} {law}")), "{name}: {failed:?}");
        }
    }
    assert!(!failed.iter().any(|check| check.contains("goes")), "{failed:?}");
}

/// Motion of a point under the weight along a slope and Coulomb friction, by small steps of the
/// classical Runge-Kutta method: where it is, and how far it went.
fn point_on_a_slope(slope: f64, mu: f64, velocity: [f64; 2]) -> ([f64; 2], f64) {
    let (down, brake) = (GRAVITY * slope.sin(), mu * GRAVITY * slope.cos());
    let rate = |v: [f64; 2]| {
        let speed = v[0].hypot(v[1]).max(1e-12);
        [down - brake * v[0] / speed, -brake * v[1] / speed]
    };
    let (mut p, mut v, mut way) = ([0.0; 2], velocity, 0.0);
    let h = 1e-5;
    for _ in 0..(STOP / h) as usize {
        if v[0].hypot(v[1]) < brake * h && brake > down {
            break;
        }
        let at = |v: [f64; 2], k: [f64; 2], h: f64| [v[0] + h * k[0], v[1] + h * k[1]];
        let k1 = rate(v);
        let k2 = rate(at(v, k1, 0.5 * h));
        let k3 = rate(at(v, k2, 0.5 * h));
        let k4 = rate(at(v, k3, h));
        let next = [0, 1].map(|i| v[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
        for i in 0..2 {
            p[i] += 0.5 * h * (v[i] + next[i]);
        }
        way += h * next[0].hypot(next[1]);
        v = next;
    }
    (p, way)
}

/// Boxes thrown along a slope in twelve directions. The slope is level ground under a weight that
/// is inclined.
fn thrown_on_a_slope(slope: f64, mu: f64, more: &str) -> Vec<String> {
    let (mut blocks, mut checks) = (String::new(), String::new());
    for k in 0..12 {
        let (name, angle) = (format!("box_{k}"), f64::from(k) * std::f64::consts::PI / 6.0);
        let velocity = [1.5 * angle.cos(), 1.5 * angle.sin()];
        let ([x, y], way) = point_on_a_slope(slope, mu, velocity);
        blocks += &format!(
            r#""{name}_at": Collisions(robot: "box", ground: Level, contacts: 4, in: {{ "state": "{name}.state" }}),
            "{name}_dyn": RobotDynamics(robot: "box", in: {{ "state": "{name}.state" }}),
            "{name}_law": GaussContact(mu: {mu}, {more} in: {{ "dynamics": "{name}_dyn.bus",
                "points": "{name}_at.contacts", "tau": "none.y" }}),
            "{name}_f": ActiveSetQp(in: {{ "problem": "{name}_law.problem" }}),
            "{name}_accel": ConstrainedAcceleration(loops: false, in: {{
                "dynamics": "{name}_dyn.bus", "tau": "none.y",
                "points": "{name}_at.contacts", "f": "{name}_f.f" }}),
            "{name}": FloatingBase(robot: "box", init: (position: [0, 0, 0.02],
                velocity: [{}, {}, 0]), in: {{ "nu_dot": "{name}_accel.nu_dot" }}),
            "#,
            velocity[0], velocity[1]
        );
        let p = format!("{name}.state.base.position");
        checks += &format!(
            r#""{name} is steered": Finally(that: "=norm([{p}[0] - {x:e}[m], {p}[1] - {y:e}[m]]) < 0.0175*{way:e}[m]"),
            "{name} keeps to the ground": Always(that: "=abs({p}[2] - 0.02[m]) < {LIFT:e}[m]"),
            "#
        );
    }
    let (down, press) = (GRAVITY * slope.sin(), -GRAVITY * slope.cos());
    let text = format!(
        r#"#![enable(implicit_some)]
        Diagram(
            format: 2,
            run: (stop: "{STOP} s", step: "1 ms", solver: SemiImplicitEuler),
            robots: {{ "box": FreeBody(mass: "1 kg", shape: Box(size: [0.3, 0.3, 0.04]),
                gravity: [{down}, 0, {press}]) }},
            blocks: {{ "none": Constant(value: "=zeros(0)"), {blocks} }},
            log: ["box_0.state"],
            checks: {{ {checks} }},
        )"#
    );
    failed_checks(&run_text(&text, "box_0.state").0)
}

#[test]
fn what_slides_on_a_slope_is_steered_as_coulombs_law_has_it() {
    for slope in [0.1, 0.38] {
        for mu in [0.2, 0.5, 0.816] {
            let failed = thrown_on_a_slope(slope, mu, "");
            assert!(failed.is_empty(), "slope {slope}, mu {mu}: {failed:?}");
        }
    }
    let convex = thrown_on_a_slope(0.38, 0.816, "sliding: Convex,");
    assert!(convex.contains(&"box_3 is steered".to_owned()), "{convex:?}");
}

/// The checks detect the error of a pyramid.
#[test]
fn a_pyramid_errs_between_its_edges() {
    let failed = failed(0.3, "cone: Pyramid(),", "ActiveSetQp");
    for name in ["box_4", "box_5", "foot_13"] {
        assert!(failed.iter().any(|check| check.starts_with(name)), "{name}: {failed:?}");
    }
    for name in ["box_0 ", "box_9 ", "foot_18 "] {
        assert!(!failed.iter().any(|check| check.starts_with(name)), "{name}: {failed:?}");
    }
}
