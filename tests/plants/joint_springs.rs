//! Springs of joints, as models of MuJoCo have them, against closed forms and energy, by every way to
//! solve the dynamics.

use super::harness::run_text;

/// Mass of a body [kg], stiffness [N/m], damping [N s/m] and rest [m] of the slides.
const MASS: f64 = 0.5;
const STIFFNESS: f64 = 50.0;
const DAMPING: f64 = 1.0;
const REST: f64 = 0.2;
const STEP: f64 = 1e-3;

/// Ways to the acceleration.
const FACTOR: &str =
    r#""accel": ForwardDynamics(robot: "r", in: { "state": "body.state", "tau": "free.y" }),"#;
const BODIES: &str = r#""accel": ForwardDynamics(
    robot: "r", algorithm: ArticulatedBody, in: { "state": "body.state", "tau": "free.y" }),"#;
const BUS: &str = r#""dyn": RobotDynamics(robot: "r", in: { "state": "body.state" }),
    "accel": ConstrainedAcceleration(
        loops: false, in: { "dynamics": "dyn.bus", "tau": "free.y" }),"#;

/// Times and positions of the robot from rest at 0, or energies.
fn rows(robot: &str, run: &str, blocks: &str, topic: &str) -> Vec<(f64, Vec<f64>)> {
    let text = format!(
        r#"#![enable(implicit_some)]
        Diagram(
            format: 2,
            run: ({run}),
            robots: {{ "r": Mjcf(path: "../tests/data/robots/springs.xml", {robot}) }},
            blocks: {{
                "free": Constant(value: "=zeros(r.n)"),
                {blocks}
                "energy": Energy(robot: "r", in: {{ "state": "body.state" }}),
                "body": FloatingBase(robot: "r", in: {{ "nu_dot": "accel.nu_dot" }}),
            }},
            log: ["body.state", "energy.total", "energy.kinetic"],
        )"#
    );
    run_text(&text, topic).1
}

/// Places of the coordinates.
const FREE: usize = 0;
const DAMPED: usize = 1;
const LEADER: usize = 4;
const STIFF: usize = 5;

/// Position of an oscillator of rate ω that starts at rest at 0, `rest` away from its rest.
fn undamped(rest: f64, omega: f64, t: f64) -> f64 {
    rest * (1.0 - (omega * t).cos())
}

fn damped(t: f64) -> f64 {
    let omega = (STIFFNESS / MASS).sqrt();
    let zeta = DAMPING / (2.0 * MASS * omega);
    let own = omega * (1.0 - zeta * zeta).sqrt();
    let swing = (own * t).cos() + zeta * omega / own * (own * t).sin();
    REST * (1.0 - (-zeta * omega * t).exp() * swing)
}

/// The leader of 0.5 kg takes its follower of 0.5 kg along at twice its speed: ½ (0.5 + 4 · 0.5) v²
/// and ½ 50 (2 s − 0.4)².
fn led(t: f64) -> f64 {
    undamped(0.2, (4.0 * STIFFNESS / (MASS + 4.0 * MASS)).sqrt(), t)
}

/// Solvers with stages take the plain force: positions are those of the oscillators themselves.
#[test]
fn accurate_solvers_swing_as_the_closed_form() {
    let omega = (STIFFNESS / MASS).sqrt();
    for (solver, blocks) in [
        ("Rk4", FACTOR),
        ("Rk4", BODIES),
        ("Rk4", BUS),
        ("DormandPrince(rtol: 1e-9, atol: 1e-11)", FACTOR),
        ("Bdf(rtol: 1e-9, atol: 1e-11)", BODIES),
    ] {
        let run = format!(r#"stop: "3 s", step: "1 ms", solver: {solver}"#);
        for (t, x) in rows(r#"weld: { "stiff": 0 }"#, &run, blocks, "body.state") {
            for (found, expected) in
                [(x[FREE], undamped(REST, omega, t)), (x[DAMPED], damped(t)), (x[LEADER], led(t))]
            {
                assert!((found - expected).abs() < 2e-6, "{solver} at {t}: {found} {expected}");
            }
        }
    }
}

/// A single-stage step is leapfrog at the frequency of the trapezoidal rule, `θ = 2 atan(½ ω Δt)` a
/// step: from rest at e₀ from its rest, `e_n = e₀ (cos n θ ∓ ½ ω Δt sin n θ)`, − where positions move
/// with the new speed, + where with the old. That holds at ω Δt = 0.01 as at 10.
#[test]
fn single_stage_solvers_keep_the_amplitude_of_any_spring() {
    for (solver, sign) in [("SemiImplicitEuler", -1.0), ("Euler", 1.0)] {
        for blocks in [FACTOR, BODIES, BUS] {
            let run = format!(r#"stop: "2 s", step: "1 ms", solver: {solver}"#);
            let rows = rows("", &run, blocks, "body.state");
            for (n, (t, x)) in rows.iter().enumerate() {
                for (k, rest, stiffness) in
                    [(FREE, REST, STIFFNESS), (STIFF, 1e-3, 5e7), (LEADER, 0.2, 40.0)]
                {
                    let half = 0.5 * (stiffness / MASS).sqrt() * STEP;
                    let angle = 2.0 * half.atan() * n as f64;
                    let expected = rest * (1.0 - angle.cos() - sign * half * angle.sin());
                    let difference = (x[k] - expected).abs();
                    assert!(difference < 1e-9, "{solver} {k} at {t}: {} {expected}", x[k]);
                }
                // Of first order in the step: ω Δt of the amplitude.
                let slow = (STIFFNESS / MASS).sqrt() * STEP * REST;
                assert!((x[DAMPED] - damped(*t)).abs() < slow, "{solver} at {t}");
            }
        }
    }
}

/// Gravity, springs and motion of a double pendulum exchange energy, and lose none.
#[test]
fn energy_is_kept_with_springs_in_it() {
    for blocks in [FACTOR, BODIES, BUS] {
        let run = r#"stop: "3 s", step: "1 ms", solver: DormandPrince(rtol: 1e-10, atol: 1e-12)"#;
        let robot = r#"weld: { "stiff": 0 }, joint_damping: Ignore"#;
        let total = rows(robot, run, blocks, "energy.total");
        let kinetic = rows(robot, run, blocks, "energy.kinetic");
        let most = kinetic.iter().fold(0.0_f64, |most, (_, x)| most.max(x[0]));
        assert!(most > 1.0, "it moves: {most} J");
        let first = total[0].1[0];
        for (t, x) in &total {
            assert!((x[0] - first).abs() < 1e-7 * most, "at {t}: {} {first}", x[0]);
        }
    }
}

/// What the diagram does not want does not act.
#[test]
fn ignored_springs_and_damping_have_no_effect() {
    let run = r#"stop: "0.1 s", step: "1 ms", solver: SemiImplicitEuler"#;
    for blocks in [FACTOR, BODIES, BUS] {
        for (_, x) in rows("joint_springs: Ignore", run, blocks, "body.state") {
            assert_eq!([x[FREE], x[DAMPED], x[LEADER], x[STIFF]], [0.0; 4]);
        }
        for (t, x) in rows("joint_damping: Ignore", run, blocks, "body.state") {
            assert!((x[DAMPED] - x[FREE]).abs() < 1e-15, "{t}");
        }
    }
}
