//! Limits of joints that are pushed with ten times what their motors can.

use legwork_mechanics::{Base, Joint, Model, Options};
use legwork_runtime::Simulation;

use super::harness::{in_repository, run_text};

/// A robot with a fixed base, and its runs.
#[derive(Clone, Copy)]
struct Pushed {
    path: &'static str,
    parameters: &'static str,
    /// Where it begins.
    start: &'static str,
    stop: &'static str,
}

const ROBOTS: [Pushed; 4] = [
    Pushed {
        path: "robots/panda/panda.urdf",
        parameters: r#"rotor_inertia: { "panda_joint*": 0.1 }"#,
        start: r#""panda_joint4": "-90 deg", "panda_joint6": "90 deg", "*finger*": "2 cm""#,
        stop: "0.4 s",
    },
    Pushed {
        path: "robots/anymal_c/anymal_c.urdf",
        parameters: r#"rotor_inertia: 0.1"#,
        start: "",
        stop: "0.4 s",
    },
    Pushed {
        path: "robots/mini_cheetah/mini_cheetah.urdf",
        parameters: r#"rotor_inertia: 0.01"#,
        start: "",
        stop: "0.4 s",
    },
    Pushed {
        path: "robots/biped/biped.urdf",
        parameters: r#"rotor_inertia: 0.1"#,
        start: "",
        stop: "0.4 s",
    },
];

impl Pushed {
    /// The joints, with their limits.
    fn joints(&self) -> Vec<Joint> {
        let file = in_repository("diagrams").join(self.path);
        let text = std::fs::read_to_string(file).unwrap();
        Model::from_urdf_text(&text, &Options::new(Base::Fixed)).unwrap().0.joints().to_vec()
    }

    /// All joints are pushed by `times` their effort, with what else the diagram has.
    fn run(&self, times: i32, blocks: &str) -> (Simulation, Vec<(f64, Vec<f64>)>) {
        let Self { path, parameters, start, stop } = self;
        let text = format!(
            r#"#![enable(implicit_some)]
            Diagram(
                format: 2,
                run: (stop: "{stop}", step: "1 ms", solver: SemiImplicitEuler),
                robots: {{ "r": Urdf(path: "{path}", base: Fixed, {parameters}) }},
                blocks: {{
                    "push": Constant(value: "={times}*r.effort"),
                    {blocks}
                    "body": FloatingBase(
                        robot: "r", init: (s: {{ {start} }}), in: {{ "nu_dot": "accel.nu_dot" }}),
                }},
                log: ["body.state"],
            )"#
        );
        run_text(&text, "body.state")
    }
}

/// The contact solvers that keep limits.
fn gauss(solver: &str) -> String {
    format!(
        r#""ends": JointLimits(robot: "r", in: {{ "state": "body.state" }}),
        "dyn": RobotDynamics(robot: "r", in: {{ "state": "body.state" }}),
        "gauss": GaussContact(
            mu: 0, in: {{ "dynamics": "dyn.bus", "points": "ends.contacts", "tau": "push.y" }}),
        "solve": {solver},
        "accel": ForwardDynamics(robot: "r", in: {{
            "state": "body.state", "tau": "push.y", "J": "ends.jacobian", "f": "solve.f" }}),"#
    )
}

/// Ways to keep limits, and by how much a joint may be past one [rad, m]: what the share of 1e-10
/// that regularises G gives way, and the compression of stiff springs.
fn solvers() -> Vec<(String, f64)> {
    let problem = r#"in: { "problem": "gauss.problem" }"#;
    let rigid = [
        format!("ActiveSetQp({problem})"),
        format!("ClarabelQp(tol: 1e-10, {problem})"),
        format!("ProjectedGaussSeidel({problem})"),
        format!("PrincipalPivoting({problem})"),
        format!(r#"CoulombContact(needs: {{ "solve": ActiveSetQp() }}, {problem})"#),
    ];
    let springs = r#""ends": JointLimits(robot: "r", in: { "state": "body.state" }),
        "dyn": RobotDynamics(robot: "r", in: { "state": "body.state" }),
        "accel": ConstraintSolver(
            robot: "r", limits: (stiffness: 1e12),
            in: { "dynamics": "dyn.bus", "tau": "push.y", "limits": "ends.contacts" }),"#;
    let rigid = rigid.iter().map(|solver| (gauss(solver), 1e-9));
    rigid.chain([(springs.to_owned(), 1e-6)]).collect()
}

/// No joint passes either limit, in any step, and all end up where they are pushed to.
#[test]
fn limits_hold_against_ten_times_the_effort() {
    for robot in &ROBOTS {
        let joints = robot.joints();
        for (blocks, past) in solvers() {
            for times in [10, -10] {
                let (simulation, rows) = robot.run(times, &blocks);
                let told = |what: &str| format!("{} {times} {what}\n{blocks}", robot.path);
                for (t, x) in &rows {
                    for (s, Joint { lower, upper, name, .. }) in x.iter().zip(&joints) {
                        let inside = lower - past <= *s && *s <= upper + past;
                        assert!(inside, "{}", told(&format!("{name} at {t}: {s}")));
                    }
                }
                let last = &rows.last().unwrap().1;
                for (s, joint) in last.iter().zip(&joints) {
                    let end = if times > 0 { joint.upper } else { joint.lower };
                    let there = !end.is_finite() || (s - end).abs() < past;
                    assert!(there, "{}", told(&format!("{} ends at {s}", joint.name)));
                }
                let reports = simulation.reports();
                let (_, body) = reports.iter().find(|(path, _)| *path == "body").unwrap();
                let is_told = body.warnings.iter().any(|one| one.name == "past-joint-limit");
                assert!(!is_told, "{}", told("is told to be past a limit"));
            }
        }
    }
}

const ALONE: &str =
    r#""accel": ForwardDynamics(robot: "r", in: { "state": "body.state", "tau": "push.y" }),"#;

/// Without anything that keeps them, the run warns of the first joint that passes, and of the first
/// torque that no motor has.
#[test]
fn limits_that_do_not_act_are_a_warning_of_the_run() {
    let panda = Pushed { stop: "100 ms", ..ROBOTS[0] };
    let (simulation, rows) = panda.run(10, ALONE);
    let reports = simulation.reports();
    let warning = |block: &str, name: &str| {
        let (_, report) = reports.iter().find(|(path, _)| *path == block).unwrap();
        report.warnings.iter().find(|warning| warning.name == name).cloned()
    };
    let past = warning("body", "past-joint-limit").unwrap();
    let joints = panda.joints();
    let is_past = |x: &[f64]| x.iter().zip(&joints).any(|(s, joint)| *s > joint.upper + 0.01);
    let first = rows.iter().find(|(_, x)| is_past(x));
    assert_eq!(past.t, first.unwrap().0);
    assert!(past.message.starts_with("joint `panda_finger_joint1` is at 0.0527"), "{past:?}");
    let strong = warning("accel", "past-effort-limit").unwrap();
    assert_eq!((strong.t, strong.steps), (0.0, rows.len() as u64 - 1));
    assert!(strong.message.starts_with("joint `panda_joint1` gets 870.0"), "{strong:?}");
    // Whatever makes the acceleration tells the same.
    let dynamics = r#""dyn": RobotDynamics(robot: "r", in: { "state": "body.state" }),"#;
    for accel in [
        r#"ConstrainedAcceleration(
            loops: false, in: { "dynamics": "dyn.bus", "tau": "push.y" })"#,
        r#"ConstraintSolver(
            robot: "r", limits: (stiffness: 1e9),
            in: { "dynamics": "dyn.bus", "tau": "push.y", "limits": "ends.contacts" },
        ),
        "ends": JointLimits(robot: "r", in: { "state": "body.state" })"#,
    ] {
        let (simulation, _) = panda.run(10, &format!(r#"{dynamics} "accel": {accel},"#));
        let reports = simulation.reports();
        let (_, report) = reports.iter().find(|(path, _)| *path == "accel").unwrap();
        let told = report.warnings.iter().find(|warning| warning.name == strong.name);
        let told = told.unwrap_or_else(|| panic!("nothing is told by {accel}"));
        assert_eq!((told.t, &told.message), (strong.t, &strong.message), "{accel}");
    }
}

/// A motor that knows the robot limits torques to its efforts; nothing is told then.
#[test]
fn efforts_reach_motors_that_know_the_robot() {
    let limited = r#""motor": Actuator(robot: "r", in: { "u": "push.y" }),
        "accel": ForwardDynamics(robot: "r", in: { "state": "body.state", "tau": "motor.tau" }),"#;
    let panda = Pushed { stop: "100 ms", ..ROBOTS[0] };
    let (simulation, tenfold) = panda.run(10, limited);
    assert_eq!(tenfold, panda.run(1, ALONE).1);
    let reports = simulation.reports();
    let (_, accel) = reports.iter().find(|(path, _)| *path == "accel").unwrap();
    assert_eq!(accel.warnings, []);
}

/// A robot that hangs in the air on nothing: its limits act in the mask by themselves, as forces
/// within it, and `joint_limits: Ignore` takes them away.
#[test]
fn the_mask_of_a_robot_with_contacts_keeps_limits_by_itself() {
    let run = |limits: &str| {
        let text = format!(
            r#"#![enable(implicit_some)]
            Diagram(
                format: 2,
                run: (stop: "0.2 s", step: "1 ms", solver: SemiImplicitEuler),
                robots: {{ "r": Urdf(
                    path: "robots/mini_cheetah/mini_cheetah.urdf", gravity: [0, 0, 0],
                    rotor_inertia: 0.01, feet: ["FL_foot", "FR_foot", "HL_foot", "HR_foot"], {limits}
                ) }},
                blocks: {{
                    "push": Constant(value: [0, 0, 20, 0, 0, 20, 0, 0, 20, 0, 0, 20]),
                    "sim": Mask(
                        file: "std:masks/robot_with_contacts.ron", robot: "r",
                        init: (position: [0, 0, 5]), in: {{ "tau": "push.y" }},
                    ),
                }},
                log: ["sim.state"],
            )"#
        );
        run_text(&text, "sim.state").1
    };
    const KNEES: [usize; 4] = [9, 12, 15, 18];
    let (kept, loose) = (run(""), run("joint_limits: Ignore"));
    for (t, x) in &kept {
        for knee in KNEES {
            assert!(x[knee] < 2.75 + 1e-6, "at {t}: {}", x[knee]);
        }
    }
    let last = &kept.last().unwrap().1;
    assert!(KNEES.iter().all(|knee| (last[*knee] - 2.75).abs() < 1e-6), "{last:?}");
    assert!(loose.last().unwrap().1[9] > 3.5);
}
