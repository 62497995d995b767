//! A robot whose feet alone touch the ground: where its trunk passes through, the run warns.

use legwork_block::Warning;
use legwork_mechanics::{Base, Kinematics, Model, Options, base_center_of_mass};

use super::harness::{in_repository, run_text};

/// Grounds, and the depth of a place in them [m].
type Depth = fn([f64; 3]) -> f64;
const GROUNDS: [(&str, Depth); 4] = [
    ("Level", |[_, _, z]| -z),
    ("Plane(normal: [0, 0, 3], offset: \"-20 cm\")", |[_, _, z]| -0.2 - z),
    ("Plane(normal: [0.2, 0, 1])", |[x, _, z]| -(0.2 * x + z) / 1.04_f64.sqrt()),
    (
        "HeightFunction(z: \"0.1*x\", x: [\"-3 m\", \"3 m\"], y: [\"-3 m\", \"3 m\"], \
            cell: \"10 cm\")",
        |[x, _, z]| (0.1 * x - z) / 1.01_f64.sqrt(),
    ),
];

/// Mini Cheetah is dropped, with joints held or free: warnings of the run, and its states.
fn drop(ground: &str, stiffness: f64, place: &str) -> (Vec<Warning>, Vec<(f64, Vec<f64>)>) {
    let damping = stiffness / 40.0;
    let moved = if place.contains("ground_pose") { GROUND_THAT_MOVES } else { "" };
    let text = format!(
        r#"#![enable(implicit_some)]
        Diagram(
            format: 2,
            run: (stop: "1.5 s", step: "1 ms", solver: SemiImplicitEuler),
            ground: {ground},
            robots: {{ "go": Robot(file: "std:robots/mini_cheetah.ron") }},
            blocks: {{
                "pose": Constant(value: "=go.keyframes.stand.s"),
                "pd": JointPd(kp: "{stiffness} N*m/rad", kd: "{damping} N*m*s/rad",
                    in: {{ "s_ref": "pose.y", "state": "body.state" }}),
                "foot": ForEach(
                    over: {{ "f": "=go.feet" }},
                    body: {{ "point": {place} }},
                    collect: {{ "points": Array("point.contact"), "J": Stack("point.jacobian") }},
                ),
                {moved}
                "dyn": RobotDynamics(robot: "go", in: {{ "state": "body.state" }}),
                "contact": Mask(file: "std:masks/gauss_contact.ron", robot: "go", qp: ActiveSetQp(),
                    in: {{ "dynamics": "dyn.bus", "points": "foot.points", "tau": "pd.tau" }}),
                "accel": ForwardDynamics(robot: "go", in: {{ "state": "body.state",
                    "tau": "pd.tau", "J": "foot.J", "f": "contact.f" }}),
                "body": FloatingBase(
                    robot: "go", init: (keyframe: "stand", place: FeetAbove("2 cm")),
                    in: {{ "nu_dot": "accel.nu_dot" }}),
            }},
            log: ["body.state"],
        )"#
    );
    let (simulation, rows) = run_text(&text, "body.state");
    let reports = simulation.reports();
    let warnings = reports.into_iter().flat_map(|(_, report)| report.common_warnings).collect();
    (warnings, rows)
}

const GROUND_THAT_MOVES: &str = r#""spot": Constant(value: ["0 m", "0 m", "0 m"]),
    "pose_of_ground": PoseCreate(in: { "position": "spot.y" }),"#;
const FEET: &str = r#"ContactPoint(robot: "go", frame: "=f", in: { "state": "body.state" })"#;

/// Each foot notices the trunk in the first step in 32 in which its centre of mass is more than
/// 1 cm deep, with the depth of the recording. Held joints carry it, and no warning is given.
#[test]
fn a_trunk_that_falls_through_the_ground_is_a_warning() {
    let file = in_repository("diagrams/robots/mini_cheetah/mini_cheetah.urdf");
    let text = std::fs::read_to_string(file).unwrap();
    let (model, _) = Model::from_urdf_text(&text, &Options::new(Base::Floating)).unwrap();
    let mut kinematics = Kinematics::new(&model);
    for (ground, depth) in GROUNDS {
        let (warnings, _) = drop(ground, 60.0, FEET);
        assert_eq!(warnings, Vec::new(), "{ground}");
        let (warnings, rows) = drop(ground, 0.0, FEET);
        let mut depth_at = |x: &[f64]| {
            kinematics.update_placements(&model, &x[..model.configuration_dim()]);
            kinematics.update_inertias(&model);
            depth(base_center_of_mass(&model, &kinematics, &model.trees()[0]).into())
        };
        let looks = rows.iter().step_by(32);
        let mut deep = looks.map(|(t, x)| (*t, depth_at(x))).filter(|(_, depth)| *depth > 0.01);
        let (t, depth) = deep.next().expect("it falls");
        let steps = 32 * (1 + deep.count() as u64);
        assert_eq!(warnings.len(), 4, "{ground}");
        for Warning { name, t: told, steps: counted, message } in warnings {
            assert_eq!((&*name, told, counted), ("below-the-ground", t, steps), "{ground}");
            let figure = format!("of mass of `trunk` is {:.1} cm below", 100.0 * depth);
            assert!(message.contains(&figure), "{ground}: {message}, {depth}");
        }
    }
}

/// Ground that moves with an input is not judged.
#[test]
fn ground_that_an_input_moves_is_not_judged() {
    let moved = r#"ContactPoint(robot: "go", frame: "=f", in: {
        "state": "body.state", "ground_pose": "pose_of_ground.y" })"#;
    let (warnings, rows) = drop("Level", 0.0, moved);
    assert!(rows.last().unwrap().1[2] < -0.01, "it falls");
    assert_eq!(warnings, Vec::new());
}
