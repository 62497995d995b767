//! Friction is equal in every direction: bodies thrown along the ground, compared with the closed
//! forms of Coulomb's law.

use super::harness::{failed_checks, run_text};

const DIRECTIONS: u32 = 36;
const SPEED: f64 = 0.5;
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
            let p = format!("{name}.state.base.position");
            let along = format!("({p}[0]*{cos:e} + {p}[1]*{sin:e})");
            let across = format!("({p}[1]*{cos:e} - {p}[0]*{sin:e})");
            checks += &format!(
                r#""{name} goes as far": Finally(that: "=abs({along} - {far:e}[m]) < 0.03*{far:e}[m]"),
                "{name} goes straight": Finally(that: "=abs({across}) < 0.0175*{far:e}[m]"),
                "#
            );
            if body == "ball" {
                let v = format!("{name}.state.base.velocity");
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
