//! Every contact law includes a push on a robot: a push within friction does not move it.

use super::harness::run_text;

/// Masks of the library, and the limit for creep of the box in half a second [mm].
///
/// Regularised friction holds by slip, here at half of its speed, which is 1 mm/s or, for the
/// forces of the beginning of the step, 20 mm/s.
const LAWS: [(&str, f64); 9] = [
    (r#"file: "std:masks/gauss_contact.ron", qp: ActiveSetQp()"#, 1e-6),
    (r#"file: "std:masks/gauss_contact.ron", qp: PrincipalPivoting()"#, 1e-6),
    (r#"file: "std:masks/gauss_contact.ron", cone: Pyramid(), qp: Lemke()"#, 1e-6),
    (r#"file: "std:masks/impact_contact.ron""#, 1e-6),
    (r#"file: "std:masks/impact_contact.ron", correct_velocity: false"#, 1e-6),
    (r#"file: "std:masks/implicit_contact.ron", slip_speed: "1 mm/s""#, 0.6),
    (r#"file: "std:masks/linear_contact.ron", slip_speed: "1 mm/s""#, 0.6),
    (r#"file: "std:masks/hunt_crossley_contact.ron", slip_speed: "1 mm/s""#, 0.6),
    (r#"file: "std:masks/hertz_contact.ron", slip_speed: "20 mm/s""#, 12.0),
];

/// Displacement of a box that is pushed in a direction with half of its friction [mm].
fn way(law: &str, angle: f64, is_seen: bool) -> f64 {
    let (sin, cos) = angle.sin_cos();
    let (x, y) = (0.5 * 0.6 * 9.81 * cos, 0.5 * 0.6 * 9.81 * sin);
    let seen = if is_seen { r#", "external": "push.y""# } else { "" };
    let text = format!(
        r#"#![enable(implicit_some)]
        Diagram(
            format: 2,
            run: (stop: "0.5 s", step: "1 ms", solver: SemiImplicitEuler),
            robots: {{ "box": FreeBody(mass: "1 kg", shape: Box(size: [0.2, 0.2, 0.02])) }},
            blocks: {{
                "none": Constant(value: "=zeros(0)"),
                "hand": Constant(value: ["{x} N", "{y} N", "0 N"]),
                "nothing": Constant(value: "=zeros(3)"),
                "push": Concat(count: 2, in: {{ "u1": "hand.y", "u2": "nothing.y" }}),
                "at": Collisions(robot: "box", ground: Level, contacts: 4, in: {{ "state": "body.state" }}),
                "dyn": RobotDynamics(robot: "box", in: {{ "state": "body.state" }}),
                "law": Mask(robot: "box", mu: 0.6, {law}, in: {{
                    "dynamics": "dyn.bus", "points": "at.contacts", "tau": "none.y"{seen} }}),
                "accel": ConstrainedAcceleration(loops: false, in: {{ "dynamics": "dyn.bus",
                    "tau": "none.y", "external": "push.y", "points": "at.contacts", "f": "law.f" }}),
                "body": FloatingBase(robot: "box", init: (position: [0, 0, 0.01]),
                    in: {{ "nu_dot": "accel.nu_dot" }}),
            }},
            log: ["body.state.base.position"],
        )"#
    );
    let (_, rows) = run_text(&text, "body.state.base.position");
    let (_, last) = rows.last().unwrap();
    1e3 * last[0].hypot(last[1])
}

#[test]
fn every_law_of_contact_sees_a_push() {
    for (law, most) in LAWS {
        for angle in [0.0, 0.4, 0.785, 2.0] {
            let way = way(law, angle, true);
            assert!(way < most, "{law} at {angle} rad: {way:.3e} mm");
        }
    }
    // A law without the push holds one step late.
    let blind = way(LAWS[0].0, 0.4, false);
    assert!(blind > 0.1, "{blind:.3e} mm");
}

/// The same box, pushed at a handle of its own mass that is welded to it.
fn way_by_handle(law: &str, angle: f64, is_seen: bool) -> f64 {
    let (sin, cos) = angle.sin_cos();
    let (x, y) = (0.6 * 9.81 * cos, 0.6 * 9.81 * sin);
    let seen = if is_seen { r#", "constraints": Join(["weld.constraint"])"# } else { "" };
    let text = format!(
        r#"#![enable(implicit_some)]
        Diagram(
            format: 2,
            run: (stop: "0.5 s", step: "1 ms", solver: SemiImplicitEuler),
            robots: {{
                "box": FreeBody(mass: "1 kg", shape: Box(size: [0.2, 0.2, 0.02])),
                "handle": FreeBody(mass: "1 kg", shape: Sphere(radius: 0.05)),
                "pair": World(of: ["box", "handle"]),
            }},
            blocks: {{
                "none": Constant(value: "=zeros(0)"),
                "still": Constant(value: "=zeros(6)"),
                "hand": Constant(value: ["{x} N", "{y} N", "0 N"]),
                "nothing": Constant(value: "=zeros(3)"),
                "push": Concat(count: 3, in: {{ "u1": "still.y", "u2": "hand.y", "u3": "nothing.y" }}),
                "at": ContactPatch(robot: "pair", frame: "box/body", in: {{ "state": "body.state" }}),
                "weld": LoopConstraint(robot: "pair", frames: ["box/body", "handle/body"], kind: Weld,
                    in: {{ "state": "body.state" }}),
                "dyn": RobotDynamics(robot: "pair", in: {{ "state": "body.state" }}),
                "law": Mask(robot: "pair", mu: 0.6, {law}, in: {{ "dynamics": "dyn.bus",
                    "points": "at.contacts", "tau": "none.y", "external": "push.y"{seen} }}),
                "accel": ConstrainedAcceleration(in: {{ "dynamics": "dyn.bus", "tau": "none.y",
                    "external": "push.y", "points": "at.contacts", "f": "law.f",
                    "constraints": Join(["weld.constraint"]) }}),
                "body": FloatingBase(robot: "pair",
                    init: (robots: {{ "box": (position: [0, 0, 0.01]), "handle": (position: [0, 0, 0.01]) }}),
                    in: {{ "nu_dot": "accel.nu_dot" }}),
            }},
            log: ["body.state.box.base.position"],
        )"#
    );
    let (_, rows) = run_text(&text, "body.state.box.base.position");
    let (_, last) = rows.last().unwrap();
    1e3 * last[0].hypot(last[1])
}

#[test]
fn every_law_of_contact_sees_what_constraints_hand_on() {
    for (law, most) in LAWS {
        let way = way_by_handle(law, 0.4, true);
        assert!(way < most, "{law}: {way:.3e} mm");
    }
    for law in [LAWS[0].0, LAWS[5].0] {
        let (seen, blind) = (way_by_handle(law, 0.4, true), way_by_handle(law, 0.4, false));
        assert!(blind > 2.0 * seen, "{law}: {blind:.3e} mm, {seen:.3e} mm");
    }
}
