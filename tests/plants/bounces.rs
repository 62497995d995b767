//! Bounces with friction make no energy, whatever the restitution.

use legwork_qp::problems::Random;

use super::harness::{failed_checks, run_text};

/// Bodies in one diagram.
const BODIES: usize = 12;

/// Thrown rods and boxes. Each has a check that its energy never grows by more than 1 %.
fn thrown(seed: u64, (e, mu): (f64, f64), is_impact: bool) -> String {
    let mut random = Random::new(seed);
    let (mut robots, mut blocks, mut checks) = (String::new(), String::new(), String::new());
    for i in 0..BODIES {
        let body = format!("b{i}");
        let size = [0.1 + 0.5 * random.uniform(), 0.05, 0.05 + 0.1 * random.uniform()];
        let mut numbers = |scale: f64| [0; 3].map(|_| scale * random.normal());
        let (rpy, v, w) = (numbers(1.0), numbers(1.5), numbers(6.0));
        robots += &format!(r#""{body}": FreeBody(mass: "1 kg", shape: Box(size: {size:?})), "#);
        let wires = format!(r#""dynamics": "{body}_dyn.bus", "points": "{body}_at.contacts""#);
        let (level, impact, mode, reset) = if is_impact {
            (
                "level: Acceleration, correct_velocity: true,",
                format!(
                    r#""{body}_hit": Impact(mu: {mu}, in: {{ {wires}, "f": "{body}_f.f" }}), "#
                ),
                format!(r#", "mode": "{body}_hit.mode""#),
                format!(r#", "reset": "{body}_hit.trigger", "nu_reset": "{body}_hit.nu_plus""#),
            )
        } else {
            ("", String::new(), String::new(), String::new())
        };
        blocks += &format!(
            r#""{body}_at": Collisions(robot: "{body}", ground: Level, contacts: 8, per_pair: 8,
                restitution: {e}, in: {{ "state": "{body}_move.state" }}),
            "{body}_dyn": RobotDynamics(robot: "{body}", in: {{ "state": "{body}_move.state" }}),
            {impact}
            "{body}_law": GaussContact(mu: {mu}, {level} in: {{ {wires}, "tau": "none.y" {mode} }}),
            "{body}_f": ActiveSetQp(on_fail: HoldLast(max: 5), in: {{ "problem": "{body}_law.problem" }}),
            "{body}_accel": ConstrainedAcceleration(loops: false, in: {{ {wires}, "tau": "none.y",
                "f": "{body}_f.f" }}),
            "{body}_move": FloatingBase(robot: "{body}", init: (position: [0, 0, 0.6], rpy: {rpy:?},
                velocity: {v:?}, angular_velocity: {w:?}), in: {{ "nu_dot": "{body}_accel.nu_dot" {reset} }}),
            "{body}_energy": Energy(robot: "{body}", in: {{ "state": "{body}_move.state" }}),
            "{body}_first": Fcn(expression: "if t < 0.5e-3 then u else 0", in: {{ "u": "{body}_energy.total" }}),
            "#
        );
        checks += &format!(
            r#""{body} e = {e}, mu = {mu}": Always(that: "={body}_energy.total < 1.01*{body}_most"), "#
        );
    }
    let judged: String = (0..BODIES)
        .map(|i| format!(r#""b{i}_most": Metric(of: "=b{i}_first.y", by: Max), "#))
        .collect();
    format!(
        r#"#![enable(implicit_some)]
        Diagram(
            format: 2,
            run: (stop: "2 s", step: "1 ms", solver: SemiImplicitEuler),
            robots: {{ {robots} }},
            blocks: {{ "none": Constant(value: "=zeros(0)"), {blocks} }},
            judge: {{ {judged} }},
            log: ["b0_move.state"],
            checks: {{ {checks} }},
        )"#
    )
}

#[test]
fn bounces_with_friction_make_no_energy() {
    for is_impact in [false, true] {
        for (seed, law) in (1..).zip([(1.0, 0.3), (1.0, 0.8), (0.9, 0.3), (0.6, 0.5), (0.9, 0.1)]) {
            let text = thrown(seed, law, is_impact);
            let failed = failed_checks(&run_text(&text, "b0_move.state").0);
            assert!(failed.is_empty(), "impact {is_impact}: {failed:?}");
        }
    }
}
