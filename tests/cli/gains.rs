//! `legwork lqr`, `place` and `kalman`: gains in closed form, and robots that touch the ground.

use std::path::Path;

use legwork::study::linear::{Design, DesignRequest, Feedback, LinearRequest, Noise, algebra::c64};
use legwork::study::{Error, Library};
use serde::Deserialize;
use serde_json::Value;

use super::support::{self, folder, write};

/// A plant `ẋ = A x + B u` of which the block `k` sees all states.
fn plant(a: &[Vec<f64>], b: &[f64], more: &str) -> String {
    let n = a.len();
    let unit: Vec<Vec<f64>> =
        (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    let zeros = vec![0.0; n];
    format!(
        r#"Diagram(format: 2, run: (stop: "1 s", step: "1 ms", solver: Rk4), blocks: {{
            "p": StateSpace(a: {a:?}, b: {b:?}, c: {unit:?}, in: {{ "u": "k.u" }}),
            "k": Lqr({more} gain: {zeros:?}, in: {{ "x": "p.y" }}),
        }})"#
    )
}

fn design(text: &str, by: &Feedback) -> Result<Design, Error> {
    let library = Library::new(legwork::blocks::register);
    let model = library.diagram("a.ron", text).compile().into_model()?;
    let request = DesignRequest {
        block: "k".to_owned(),
        at: legwork::study::linear::At::Start,
        estimate: false,
        states: Vec::new(),
        without: Vec::new(),
    };
    Ok(model.feedback(&request, by)?.expect("no fault"))
}

fn row(design: &Design) -> Vec<f64> {
    (0..design.gain.ncols()).map(|j| design.gain[(0, j)]).collect()
}

fn expect_close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}: {found:?} against {expected:?}");
    let size = expected.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance * size, "{what}: {found:?} against {expected:?}");
    }
}

/// Without a weight an unstable pole a is mirrored: K = 2 a / b. Of two states only the unstable
/// one is fed back without a weight; `[2.157379, 0.078689]` with one is SciPy's.
#[test]
fn least_energy_mirrors_what_is_unstable() {
    let least = |q: &[f64]| Feedback::Weights { q: q.to_vec(), r: vec![1.0] };
    for (a, b) in [
        (1.0, 1.0),
        (0.2, 1.0),
        (3.0, -2.0),
        (12.0, 0.5),
        (1e-3, 1.0),
        (50.0, 4.0),
        (0.7, 100.0),
        (2.5, 0.01),
        (9.81, 1.0),
        (1e-2, -1e-2),
    ] {
        let found = design(&plant(&[vec![a]], &[b], ""), &least(&[0.0])).expect("a gain");
        expect_close("one state", &row(&found), &[2.0 * a / b], 1e-9);
        let two = plant(&[vec![a, 0.0], vec![0.0, -2.0]], &[b, 1.0], "");
        let found = design(&two, &least(&[0.0])).expect("a gain");
        expect_close("two states", &row(&found), &[2.0 * a / b, 0.0], 1e-9);
    }
    let two = plant(&[vec![1.0, 0.0], vec![0.0, -2.0]], &[1.0, 1.0], "");
    let found = design(&two, &least(&[0.0, 1.0])).expect("a gain");
    expect_close("SciPy", &row(&found), &[2.157379, 0.078689], 1e-6);
    let border = plant(&[vec![0.0, 0.0], vec![0.0, -2.0]], &[1.0, 1.0], "");
    let message = design(&border, &least(&[0.0, 1.0])).expect_err("no gain").message().to_owned();
    assert!(
        message.contains("no weight sees the pole 0.000000, which is on the border"),
        "{message}"
    );
}

/// `(s + p)ⁿ` of a chain of integrators: binomial coefficients, one Jordan block.
#[test]
fn a_pole_is_placed_as_often_as_it_is_stated() {
    for (n, p) in [
        (2, 3.0),
        (1, 2.0),
        (2, 0.5),
        (3, 1.0),
        (3, 4.0),
        (4, 2.0),
        (5, 1.5),
        (2, 40.0),
        (6, 1.0),
        (4, 10.0),
        (7, 2.0),
    ] {
        let chain: Vec<Vec<f64>> =
            (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(j == i + 1))).collect()).collect();
        let last: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i + 1 == n))).collect();
        let by = Feedback::Poles(vec![c64::new(-p, 0.0); n]);
        let found = design(&plant(&chain, &last, ""), &by).expect("a gain");
        let mut expected = Vec::new();
        let mut binomial = 1.0;
        for k in 0..n {
            expected.push(binomial * f64::powi(p, (n - k) as i32));
            binomial *= (n - k) as f64 / (k + 1) as f64;
        }
        for (a, b) in row(&found).iter().zip(&expected) {
            assert!((a / b - 1.0).abs() < 1e-9, "{n}, {p}: {:?} against {expected:?}", row(&found));
        }
    }
}

/// Poles for which a period is too long are refused with the reason; fast poles that die out within
/// a period are placed.
#[test]
fn poles_of_a_sampled_loop_fit_its_period() {
    let text = plant(&[vec![0.0, 1.0], vec![0.0, 0.0]], &[0.0, 1.0], r#"every: "10 ms","#);
    let by = |poles: &[(f64, f64)]| {
        Feedback::Poles(poles.iter().map(|(re, im)| c64::new(*re, *im)).collect())
    };
    for fast in [-1e3, -1e5, -1e6, -1e300] {
        design(&text, &by(&[(fast, 0.0), (-1.0, 0.0)])).expect("a gain");
        if fast < -1e4 {
            design(&text, &by(&[(fast, 3.0), (fast, -3.0)])).expect("a gain");
        }
    }
    for (poles, said) in [
        ([(1e6, 1e3), (1e6, -1e3)], "turns faster than half the rate of samples"),
        ([(-1.0, 320.0), (-1.0, -320.0)], "at most 314.159265 rad/s"),
        ([(1e6, 3.0), (1e6, -3.0)], "grows beyond all numbers within a period of 10 ms"),
        ([(1e300, 0.0), (-1.0, 0.0)], "grows beyond all numbers within a period of 10 ms"),
    ] {
        let message = design(&text, &by(&poles)).expect_err("refused").message().to_owned();
        assert!(message.contains(said), "{message}");
    }
}

#[derive(Deserialize)]
struct Filtered {
    a: Vec<Vec<f64>>,
    c: Vec<Vec<f64>>,
    w: Vec<f64>,
    v: Vec<f64>,
    milliseconds: u32,
    gain: Vec<Vec<f64>>,
}

/// Process noise of a continuous plant is sampled by its integral: `tests/data/linear/kalman.py`.
#[test]
fn noise_between_samples_is_integrated() {
    let path = support::repository().join("tests/data/linear/kalman.json");
    let text = std::fs::read_to_string(path).expect("the reference is in the repository");
    let all: Vec<Filtered> = serde_json::from_str(&text).expect("the reference is sound");
    assert!(all.len() >= 12);
    let library = Library::new(legwork::blocks::register);
    for one in all {
        let (n, p) = (one.a.len(), one.c.len());
        let zeros = |rows: usize, columns: usize| vec![vec![0.0; columns]; rows];
        let mut b = vec![0.0; n];
        b[n - 1] = 1.0;
        let text = format!(
            r#"Diagram(format: 2, run: (stop: "1 s", step: "10 ms", solver: Rk4), blocks: {{
                "u": Constant(value: 0.0),
                "p": StateSpace(a: {:?}, b: {b:?}, c: {:?}, in: {{ "u": "u.y" }}),
                "k": KalmanFilter(every: "{} ms", a: {:?}, b: {:?}, c: {:?}, gain: {:?},
                    in: {{ "u": "u.y", "y": "p.y" }}),
            }})"#,
            one.a,
            one.c,
            one.milliseconds,
            zeros(n, n),
            vec![0.0; n],
            zeros(p, n),
            zeros(n, p)
        );
        let model = library.diagram("a.ron", text.as_str()).compile().into_model().expect("sound");
        let continuous = LinearRequest { sampled: Some(false), ..LinearRequest::default() };
        let states = model.linearize(&continuous).expect("linear").expect("no fault").states;
        let own = states.iter().filter(|state| state.block == "p");
        let process = own.map(|state| state.name.clone()).zip(one.w.iter().copied()).collect();
        let noise = Noise { process, measurement: one.v.clone() };
        let request = DesignRequest {
            block: "k".to_owned(),
            at: legwork::study::linear::At::Start,
            estimate: false,
            states: Vec::new(),
            without: Vec::new(),
        };
        let found = model.kalman(&request, &noise).expect("a gain").expect("no fault");
        let found: Vec<f64> =
            (0..n).flat_map(|i| (0..p).map(move |j| (i, j))).map(|at| found.gain[at]).collect();
        expect_close(&text, &found, &one.gain.concat(), 1e-7);
    }
}

fn legwork(directory: &Path, arguments: &[&str]) -> (i32, Value, String) {
    let done = support::legwork(directory, &[arguments, &["--json"]].concat());
    (done.code, done.json(), done.err)
}

/// A robot on its feet, with torques for its weight and a feedback of all its states instead of the
/// joint PD.
const HOLD: &str = r#"Patch(
    replace: {
        "pd": JointPd(every: "1 ms", kp: KP, kd: KD, in: { "s_ref": "pose.y", "state": "sim.state", "tau_ff": "torque.y" }),
    },
    add: {
        "x": Concat(count: 2, in: { "u1": "sim.state.q", "u2": "sim.state.nu" }),
        "balance": Lqr(every: "1 ms", gain: GAIN, in: { "x": "x.y" }),
        "torque": Sum(signs: "++", in: { "u1": "weight.tau", "u2": "balance.u" }),
    },
)"#;

/// Standing robots get a gain for the directions that their motors move, and the ties of the feet
/// are listed.
#[test]
fn robots_on_their_feet_are_balanced_by_their_motors() {
    let here = folder();
    let diagram = support::repository().join("diagrams/floating_base/stand.ron");
    let go2 = support::repository().join("diagrams/floating_base/go2.patch");
    let (diagram, go2) = (diagram.to_str().expect("UTF-8"), go2.to_str().expect("UTF-8"));
    // 4 feet of a point: 8 ties along the ground; 2 soles: 6.
    for (with, joints, ties, states) in [(Some(go2), 12, 8, 36), (None, 23, 6, 58)] {
        // iCub first lands on its soles, with its joint PD.
        let (kp, kd, at) = match with {
            Some(_) => ("0", "0", "0"),
            None => ("\"=kp\"", "\"=kd\"", "0.5 s"),
        };
        let zeros = vec![vec![0.0; 13 + 2 * joints]; joints];
        write(&here, "hold.patch", &{
            let hold = HOLD.replace("GAIN", &format!("{zeros:?}"));
            hold.replace("KP", kp).replace("KD", kd)
        });
        let mut robot: Vec<&str> = vec![diagram];
        with.iter().for_each(|file| robot.extend(["--with", *file]));
        robot.extend(["--with", "hold.patch"]);
        let options = ["--block", "balance", "--r", "0.01", "--at", at, "-o", "gain.patch"];
        let (code, json, err) = legwork(here.path(), &[&["lqr"][..], &robot, &options].concat());
        assert_eq!(code, 0, "{err}");
        assert_eq!(json["states"].as_array().map(Vec::len), Some(states));
        let taken = json["taken_out"].as_array().expect("a list");
        assert_eq!(taken.len(), ties, "{err}");
        assert!(taken.iter().all(|one| one["pole"]["re"] == 1.0), "{taken:?}");
        let poles = json["poles"].as_array().expect("poles");
        assert_eq!(poles.len(), states - ties);
        let size = |z: &Value| z["re"].as_f64().expect("re").hypot(z["im"].as_f64().expect("im"));
        assert!(poles.iter().all(|pole| size(pole) < 1.0), "{poles:?}");
    }
}

/// A body of 5 kg on two wheels of 0.5 kg, which touch at a point each.
const BALANCER: &str = r#"<robot name="balancer">
  <link name="body"><inertial><origin xyz="0 0 0.25"/><mass value="5"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="left">WHEEL</link>
  <link name="right">WHEEL</link>
  <joint name="l" type="continuous"><parent link="body"/><child link="left"/>
    <origin xyz="0 0.2 0"/><axis xyz="0 1 0"/></joint>
  <joint name="r" type="continuous"><parent link="body"/><child link="right"/>
    <origin xyz="0 -0.2 0"/><axis xyz="0 1 0"/></joint>
</robot>"#;
const WHEEL: &str = r#"<inertial><mass value="0.5"/>
    <inertia ixx="0.002" iyy="0.004" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision>"#;
const BALANCED: &str = r#"Diagram(
    format: 2,
    run: (stop: "6 s", step: "1 ms", solver: SemiImplicitEuler),
    params: { "tilt": Param(value: "0 rad") },
    robots: { "b": Urdf(path: "balancer.urdf", base: Floating) },
    blocks: {
        "sim": Mask(
            file: "std:masks/robot_with_contacts.ron", robot: "b", feet: ["left", "right"],
            init: (position: ["0 m", "0 m", "10 cm"], rpy: ["0 rad", "=tilt", "0 rad"]),
            in: { "tau": "balance.u" },
        ),
        "x": Concat(count: 2, in: { "u1": "sim.state.q", "u2": "sim.state.nu" }),
        "balance": Lqr(every: "1 ms", gain: GAIN, in: { "x": "x.y" }),
    },
    checks: {
        "stays up":       Always(that: "=abs(sim.state.base.orientation[2]) < 0.2"),
        "comes to rest":  Finally(that: "=norm(sim.state.nu) < 5e-3"),
    },
    log: ["sim.state"],
)"#;

/// Two wheels on the ground move by their motors alone: what rolling ties, that the wheels cannot
/// leave the ground's line, is taken out and listed; the gain holds the nonlinear robot from a tilt
/// of 0.1 rad, and without the gain it falls. States are left out by name, and all are listed.
#[test]
fn a_balancer_on_two_wheels_gets_a_gain_from_its_file() {
    let here = folder();
    write(&here, "balancer.urdf", BALANCER.replace("WHEEL", WHEEL));
    let zeros = vec![vec![0.0; 17]; 2];
    write(&here, "balancer.ron", BALANCED.replace("GAIN", &format!("{zeros:?}")));
    let tilted = ["run", "balancer.ron", "--set", "tilt=0.1 rad"];
    assert_eq!(legwork(here.path(), &tilted).0, 3, "it falls without a gain");
    let lqr = ["lqr", "balancer.ron", "--block", "balance", "-o", "gain.patch"];
    for (more, states, ties) in [(&[][..], 16, 3), (&["--without", "*position*"], 13, 1)] {
        let (code, json, err) = legwork(here.path(), &[&lqr[..], more].concat());
        assert_eq!(code, 0, "{err}");
        let len = |what: &str| json[what].as_array().map_or(0, Vec::len);
        assert_eq!((len("states"), len("taken_out")), (states, ties), "{err}");
        assert_eq!(len("left_out_by_name"), 16 - states, "{json}");
        let (code, json, err) =
            legwork(here.path(), &[&tilted[..], &["--with", "gain.patch"]].concat());
        assert_eq!(code, 0, "{more:?}: {err} {}", json["checks"]);
    }
    let wrong = [&lqr[..], &["--states", "sim.state.base.posture*"]].concat();
    let (code, _, err) = legwork(here.path(), &wrong);
    assert!(code != 0 && err.contains("posture"), "{code}: {err}");
}
