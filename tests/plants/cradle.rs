//! Newton's cradle: impacts pass through balls that touch, or nearly do, as restitution has it.

use std::fmt::Write as _;

use super::harness::run_text;

/// Mass and radius of each ball [kg, m].
const BALL: [f64; 2] = [0.4, 0.05];

/// Balls in a row, `gap` apart, of which the first `struck` come from the left at 1 m/s; speeds
/// after 0.4 s.
fn speeds((count, struck): (usize, usize), gap: f64, e: f64, acceleration: bool) -> Vec<f64> {
    let names: Vec<String> = (0..count).map(|i| format!("b{i}")).collect();
    let (mut robots, mut places) = (String::new(), String::new());
    let mut x = 0.0;
    for (i, name) in names.iter().enumerate() {
        let [mass, radius] = BALL;
        write!(
            robots,
            "\"{name}\": FreeBody(mass: {mass:?}, shape: Sphere(radius: {radius:?}), gravity: [0, 0, 0]),"
        )
        .unwrap();
        let speed = if i < struck { 1.0 } else { 0.0 };
        write!(places, "\"{name}\": (position: [{x:?}, 0, 1], velocity: [{speed:?}, 0, 0]),")
            .unwrap();
        // Those that come are 10.05 cm from the others, which they meet within a step.
        x += 2.0 * radius + if i + 1 == struck { 0.1005 } else { gap };
    }
    let list_of =
        |item: &dyn Fn(usize) -> String| (0..count).map(item).collect::<Vec<_>>().join(", ");
    let velocities = list_of(&|i| format!("u{}[0]", i + 1));
    let wired = list_of(&|i| format!(r#""u{}": "body.state.b{i}.base.velocity""#, i + 1));
    let list = names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(",");
    let wires = r#""dynamics": "dyn.bus", "points": "hits.contacts""#;
    let (level, impact, mode, reset) = if acceleration {
        (
            "level: Acceleration, correct_velocity: true,",
            format!(r#""impact": Impact(mu: 0, in: {{ {wires}, "f": "solve.f" }}),"#),
            r#", "mode": "impact.mode""#,
            r#", "reset": "impact.trigger", "nu_reset": "impact.nu_plus""#,
        )
    } else {
        ("", String::new(), "", "")
    };
    let text = format!(
        r#"Diagram(format: 2, run: (stop: "0.4 s", step: "1 ms"),
        robots: {{ {robots} "all": World(of: [{list}]) }},
        blocks: {{
            "none": Constant(value: "=zeros(all.n)"),
            "hits": Collisions(robot: "all", contacts: 8, restitution: {e:?}, in: {{ "state": "body.state" }}),
            "dyn": RobotDynamics(robot: "all", in: {{ "state": "body.state" }}),
            {impact}
            "problem": GaussContact(mu: 0, force_scale: "10 N", {level} in: {{ {wires}, "tau": "none.y" {mode} }}),
            "solve": ActiveSetQp(in: {{ "problem": "problem.problem" }}),
            "accel": ConstrainedAcceleration(loops: false, in: {{ {wires}, "tau": "none.y", "f": "solve.f" }}),
            "body": FloatingBase(robot: "all", init: (robots: {{ {places} }}), in: {{ "nu_dot": "accel.nu_dot" {reset} }}),
        }},
        judge: {{ "speeds": Fcn(expression: "[{velocities}]", in: {{ {wired} }}) }},
        log: ["speeds.y"])"#
    );
    run_text(&text, "speeds.y").1.pop().unwrap().1
}

/// At e = 1 as many balls leave as have come, whether they touch or are up to 5 mm apart.
#[test]
fn as_many_balls_leave_as_have_come() {
    for acceleration in [false, true] {
        for (count, struck) in [(5, 1), (3, 1), (4, 2), (6, 2)] {
            for gap in [0.0, 1e-6, 1e-4, 1e-3, 5e-3] {
                let after = speeds((count, struck), gap, 1.0, acceleration);
                for (i, v) in after.iter().enumerate() {
                    let expected = if i >= count - struck { 1.0 } else { 0.0 };
                    assert!(
                        (v - expected).abs() < 1e-6,
                        "{count} {struck}, gap {gap}, acceleration {acceleration}: {after:?}"
                    );
                }
            }
        }
    }
}

/// With e < 1 balls that are apart strike one after the other: the last of n leaves with
/// `((1 + e)/2)ⁿ⁻¹`. Gaps that a step closes change that by nothing that comes before.
#[test]
fn a_chain_loses_what_its_restitution_says() {
    for gap in [1e-4, 1e-3, 5e-3] {
        for (count, e) in [(3, 0.9), (4, 0.8)] {
            let after = speeds((count, 1), gap, e, false);
            let last = f64::powi(0.5 * (1.0 + e), i32::try_from(count).unwrap() - 1);
            assert!((after[count - 1] - last).abs() < 1e-6, "{count} {e} {gap}: {after:?}");
            let momentum: f64 = after.iter().sum();
            assert!((momentum - 1.0).abs() < 1e-9, "{after:?}");
        }
    }
}
