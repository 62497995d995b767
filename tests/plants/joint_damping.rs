//! Damping and dry friction of joints against closed forms, by every way to solve the dynamics.

use super::harness::run_text;

/// Inertia of a turntable [kg m²], and the damping and friction of theirs.
const INERTIA: f64 = 0.5;
const LIGHT: f64 = 0.1;
const HEAVY: f64 = 50.0;
const DRY: f64 = 0.2;
const STEP: f64 = 1e-3;

/// Ways to the acceleration.
const FACTOR: &str =
    r#""accel": ForwardDynamics(robot: "turn", in: { "state": "body.state", "tau": "free.y" }),"#;
const BODIES: &str = r#""accel": ForwardDynamics(
    robot: "turn", algorithm: ArticulatedBody, in: { "state": "body.state", "tau": "free.y" }),"#;
const BUS: &str = r#""dyn": RobotDynamics(robot: "turn", in: { "state": "body.state" }),
    "accel": ConstrainedAcceleration(
        loops: false, in: { "dynamics": "dyn.bus", "tau": "free.y" }),"#;
const MOTORS: &str = r#""none": Constant(value: "=zeros(turn.n)"),
    "dyn": RobotDynamics(robot: "turn", in: { "state": "body.state", "motor_inertia": "none.y" }),
    "accel": ConstrainedAcceleration(
        loops: false, in: { "dynamics": "dyn.bus", "tau": "free.y" }),"#;
const CONSTRAINTS: &str = r#""dyn": RobotDynamics(robot: "turn", in: { "state": "body.state" }),
    "gear": GearConstraint(
        robot: "turn", joints: ["light_joint", "dry_joint"], ratio: 1, in: { "state": "body.state" }),
    "accel": ConstraintSolver(
        robot: "turn", joints: (stiffness: 0, damping: 0),
        in: { "dynamics": "dyn.bus", "tau": "free.y", "constraints": Join(["gear.constraint"]) }),"#;

/// Speeds of the turntables and of the arm at each row, with time.
fn speeds(robot: &str, solver: &str, blocks: &str) -> Vec<(f64, [f64; 4])> {
    let text = format!(
        r#"#![enable(implicit_some)]
        Diagram(
            format: 2,
            run: (stop: "3 s", step: "1 ms", solver: {solver}),
            robots: {{
                "turn": Urdf(path: "robots/turntables/turntables.urdf", base: Fixed, {robot}),
            }},
            blocks: {{
                "free": Constant(value: "=zeros(turn.n)"),
                {blocks}
                "body": FloatingBase(
                    robot: "turn",
                    init: (s_dot: {{ "light_joint": 1, "heavy_joint": 1, "dry_joint": 1 }}),
                    in: {{ "nu_dot": "accel.nu_dot" }},
                ),
            }},
            log: ["body.state"],
        )"#
    );
    let all = run_text(&text, "body.state").1.into_iter();
    all.map(|(t, x)| (t, [x[4], x[5], x[6], x[7]])).collect()
}

/// The implicit step multiplies a speed by `1/(1 + Δt D/I)`, which is stable for any D.
#[test]
fn implicit_steps_decay_as_backward_euler() {
    for blocks in [FACTOR, BODIES, BUS, MOTORS] {
        for solver in ["SemiImplicitEuler", "Euler"] {
            let (mut light, mut heavy) = (1.0, 1.0);
            for (t, nu) in speeds("", solver, blocks) {
                assert!((nu[0] - light).abs() < 1e-12 && (nu[1] - heavy).abs() < 1e-12, "{t}");
                light /= 1.0 + STEP * LIGHT / INERTIA;
                heavy /= 1.0 + STEP * HEAVY / INERTIA;
            }
        }
    }
}

/// The same by the solver of soft constraints, here with one that is too soft to act; it has
/// tolerances.
#[test]
fn the_constraint_solver_damps_alike() {
    let blocks = CONSTRAINTS;
    for ((t, a), (_, b)) in
        speeds("", "SemiImplicitEuler", FACTOR).iter().zip(speeds("", "SemiImplicitEuler", blocks))
    {
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() < 1e-9, "{t}: {a} {b}");
        }
    }
}

/// Solvers with stages take the plain force: the speeds are the exponentials themselves.
#[test]
fn accurate_solvers_decay_as_exponentials() {
    for (solver, blocks, bound) in [
        ("Rk4", FACTOR, 1e-6),
        ("Rk4", BODIES, 1e-6),
        ("Rk4", BUS, 1e-6),
        // Tolerances of 3000 steps of the run add up at most.
        ("Bdf(rtol: 1e-8, atol: 1e-10)", FACTOR, 3000.0 * 1.01e-8),
    ] {
        for (t, nu) in speeds("", solver, blocks) {
            let expected = [(-LIGHT / INERTIA * t).exp(), (-HEAVY / INERTIA * t).exp()];
            for (found, expected) in nu.iter().zip(expected) {
                assert!((found - expected).abs() < bound, "{solver} at {t}: {found} {expected}");
            }
        }
    }
}

/// Dry friction takes the same speed each second until the joint stops, and holds what it can.
#[test]
fn dry_friction_slows_steadily_and_holds() {
    for (solver, blocks) in
        [("SemiImplicitEuler", FACTOR), ("SemiImplicitEuler", BODIES), ("Rk4", FACTOR)]
    {
        for (t, nu) in speeds("", solver, blocks) {
            let expected = (1.0 - DRY / INERTIA * t).max(0.0);
            // What Coulomb's law is rounded by is 0.01 rad/s; a step adds Δt F/I ln(1/0.01).
            let bound = if expected > 0.01 { 2e-3 } else { 0.01 };
            assert!((nu[2] - expected).abs() < bound, "{solver} at {t}: {} {expected}", nu[2]);
            // 0.981 N m on a joint that holds 2 N m. Below 0.01 rad/s the arm of 0.01 kg m² is damped
            // at 20 000/s, which no explicit method follows in steps of 1 ms.
            let held = 0.0..0.01 * 0.981 / 2.0 + 1e-9;
            assert!(solver == "Rk4" || held.contains(&nu[3]), "{solver}: {}", nu[3]);
        }
    }
}

/// The law is rounded below the speed that the diagram states.
#[test]
fn friction_is_full_from_the_stated_speed_on() {
    let rows = speeds("friction_speed: 1e-4", "SemiImplicitEuler", FACTOR);
    assert!(rows.iter().all(|(_, nu)| nu[3] < 1e-4 * 0.981 / 2.0 + 1e-9));
    assert!(rows.iter().filter(|(t, _)| *t > 2.51).all(|(_, nu)| nu[2] < 1e-4));
}

#[test]
fn ignored_damping_has_no_effect() {
    for blocks in [FACTOR, BODIES, BUS] {
        for (t, nu) in speeds("joint_damping: Ignore", "SemiImplicitEuler", blocks) {
            assert_eq!(nu[..3], [1.0, 1.0, 1.0], "{t}");
            // From level through its lowest place, up to where it turns after half a period.
            assert!(!(0.1..0.3).contains(&t) || nu[3].abs() > 0.1, "{t}: the arm falls");
        }
    }
}
