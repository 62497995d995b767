//! `legwork linearize`: against closed forms, against the run itself, and what it says.
//!
//! One file: every law is held against the same command and its one object of JSON.

use std::path::Path;

use legwork::study::Library;
use legwork::study::linear::LinearRequest;
use serde_json::Value;

use super::support::{self, folder, write};

/// Exit code, JSON object and standard error.
fn legwork(directory: &Path, arguments: &[&str]) -> (i32, Value, String) {
    let done = support::legwork(directory, &[arguments, &["--json"]].concat());
    (done.code, done.json(), done.err)
}

/// The linearisation of a diagram.
fn linearized(text: &str, options: &[&str]) -> Value {
    let here = folder();
    write(&here, "a.ron", text);
    let (code, json, err) = legwork(here.path(), &[&["linearize", "a.ron"], options].concat());
    assert_eq!(code, 0, "{err}");
    json
}

fn rows(json: &Value) -> Vec<Vec<f64>> {
    let row = |row: &Value| -> Vec<f64> {
        row.as_array().expect("a row").iter().map(|x| x.as_f64().expect("a number")).collect()
    };
    json.as_array().expect("rows").iter().map(row).collect()
}

fn names(json: &Value) -> Vec<&str> {
    let list = json.as_array().expect("a list").iter();
    list.map(|one| one["name"].as_str().expect("a name")).collect()
}

fn close(what: &str, found: &Value, expected: &[&[f64]], tolerance: f64) {
    let found = rows(found);
    assert_eq!(found.len(), expected.len(), "{what}: {found:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found.len(), expected.len(), "{what}: {found:?}");
        for (a, b) in found.iter().zip(*expected) {
            assert!((a - b).abs() <= tolerance, "{what}: {found:?} against {expected:?}");
        }
    }
}

/// The diagram of `legwork help linear`: m ẍ = u − k x − d ẋ.
#[test]
fn a_mass_on_a_spring_is_what_its_equation_says() {
    let here = folder();
    let (code, json, err) = legwork(here.path(), &["linearize", "help:linear"]);
    assert_eq!(code, 0, "{err}");
    close("A", &json["A"], &[&[0.0, 1.0], &[-9.0, -1.2]], 1e-10);
    close("B", &json["B"], &[&[0.0], &[0.5]], 1e-10);
    close("C", &json["C"], &[&[1.0, 0.0]], 1e-12);
    assert_eq!(names(&json["states"]), ["mass.position", "mass.velocity"]);
    assert_eq!(
        (names(&json["inputs"]), names(&json["outputs"])),
        (vec!["force"], vec!["position"])
    );
    assert_eq!(
        (json["inputs"][0]["unit"].as_str(), json["inputs"][0]["value"].as_f64()),
        (Some("N"), Some(9.0))
    );
    let pole = &json["poles"][0];
    assert!((pole["frequency"].as_f64().expect("a number") - 3.0).abs() < 1e-10, "{pole}");
    assert!((pole["damping"].as_f64().expect("a number") - 0.2).abs() < 1e-10, "{pole}");
    assert_eq!(json["zeros"].as_array().map(Vec::len), Some(0));
    assert_eq!(json["controllable"]["dimension"], 2);
    assert_eq!(json["blocks"][0]["columns"], "smooth");
    assert_eq!(json["blocks"][0]["method"], "analytic");
    // What is added to a port that is held is added once.
    for more in [&[][..], &["--differences"], &["--sampled"]] {
        let options = [&["linearize", "help:linear", "--in", "+force"][..], more].concat();
        let (_, json, err) = legwork(here.path(), &options);
        let b = rows(&json["B"])[1][0];
        let expected = if more == ["--sampled"] { 0.5 * 1e-2 } else { 0.5 };
        assert!((b / expected - 1.0).abs() < 0.01, "{b}: {err}");
    }
    // Between samples: the exponential of a damped rotation, [x; v] over 50 ms.
    let (_, json, _) = legwork(here.path(), &["linearize", "help:linear", "--every", "50 ms"]);
    let (s, w, t) = (-0.6_f64, (9.0_f64 - 0.36).sqrt(), 0.05);
    let (sin, cos, decay) = ((w * t).sin(), (w * t).cos(), (s * t).exp());
    let a: [[f64; 2]; 2] = [
        [decay * (cos - s / w * sin), decay * sin / w],
        [-9.0 * decay * sin / w, decay * (cos + s / w * sin)],
    ];
    close("A", &json["A"], &[&a[0], &a[1]], 1e-10);
    assert_eq!(json["period_s"], 0.05);
}

/// A rod of 1 kg at 1 m about an angle θ that a torque holds: θ̈ = −g cos θ₀ δθ + τ.
#[test]
fn a_pendulum_is_linearised_where_it_holds_still() {
    let text = r#"Diagram(
    format: 2,
    run: (stop: "2 s", step: "1 ms", solver: Rk4),
    robots: { "rod": Urdf(path: "std:robots/pendulum/pendulum.urdf", base: Fixed) },
    blocks: {
        "tau":   Constant(value: ["3 N*m"]),
        "accel": ForwardDynamics(robot: "rod", in: { "state": "swing.state", "tau": "tau.y" }),
        "swing": FloatingBase(robot: "rod", init: (s: [1.0]), in: { "nu_dot": "accel.nu_dot" }),
    },
)"#;
    let options = [
        "--at",
        "trimmed",
        "--free",
        "tau.y",
        "--settle",
        "0",
        "--in",
        "tau.y",
        "--out",
        "swing.state.s",
    ];
    let json = linearized(text, &options);
    let slope = -9.81 * json["outputs"][0]["value"].as_f64().expect("an angle").cos();
    close("A", &json["A"], &[&[0.0, 1.0], &[slope, 0.0]], 1e-9);
    close("B", &json["B"], &[&[0.0], &[1.0]], 1e-10);
    assert_eq!(names(&json["states"]), ["swing.state.s[0]", "swing.state.s_dot[0]"]);
    // The map of one step of Rk4 is the exponential, but for its error of fifth order.
    let sampled = linearized(text, &[&options[..], &["--sampled"]].concat());
    let exact = linearized(text, &[&options[..], &["--every", "1 ms"]].concat());
    let exact = rows(&exact["A"]);
    let exact: Vec<&[f64]> = exact.iter().map(Vec::as_slice).collect();
    close("A", &sampled["A"], &exact, 1e-12);
}

/// The loop of an integrating plant, opened at the controller: L = 20 / (s (s + 4)).
#[test]
fn an_opened_loop_has_the_margins_of_its_transfer_function() {
    let text = r#"Diagram(
    format: 2,
    run: (stop: "1 s", step: "1 ms", solver: Rk4),
    blocks: {
        "want":  Constant(value: 1.0),
        "error": Sum(signs: "+-", in: { "u1": "want.y", "u2": "plant.y" }),
        "gain":  Gain(gain: 20.0, in: { "u": "error.y" }),
        "plant": TransferFunction(numerator: [1], denominator: [1, 4, 0], in: { "u": "gain.y" }),
    },
)"#;
    let json = linearized(text, &["--in", "gain.y", "--out", "gain.y"]);
    // What comes back to the opened wire is −L.
    close("D", &json["D"], &[&[1.0]], 0.0);
    let json = linearized(text, &["--in", "error.y", "--out", "plant.y"]);
    let crossing = &json["margins"]["phase"][0];
    let w = (8.0 * (1.0_f64 + (20.0_f64 / 8.0).powi(2)).sqrt() - 8.0).sqrt();
    let found = crossing["frequency"].as_f64().expect("a number");
    assert!((found - w).abs() < 1e-9, "{crossing} against {w}");
    let margin = std::f64::consts::FRAC_PI_2 - (w / 4.0).atan();
    assert!((crossing["margin"].as_f64().expect("a number") - margin).abs() < 1e-9, "{crossing}");
    // With `+` the loop stays closed: s² + 4 s + 20.
    let json = linearized(text, &["--in", "+gain.y", "--out", "plant.y"]);
    let pole = &json["poles"][0];
    assert!((pole["re"].as_f64().expect("a number") + 2.0).abs() < 1e-9, "{pole}");
    assert!((pole["im"].as_f64().expect("a number").abs() - 4.0).abs() < 1e-9, "{pole}");
}

/// What is added to the output of a part that is off is added once, whether it holds its output or
/// resets it, by either method.
#[test]
fn what_is_added_to_a_part_that_is_off_is_added_once() {
    let text = r#"Diagram(
    format: 2,
    run: (stop: "1 s", step: "1 ms", solver: Rk4),
    blocks: {
        "never": Constant(value: 0.0),
        "part": Enabled(
            by: "never.y", when_off: Hold, ports: (out: { "y": "Real" }),
            blocks: { "c": Sine(frequency: "1 Hz") }, out: { "y": "c.y" },
        ),
        "x": Integrator(in: { "u": "part.y" }),
    },
)"#;
    for text in [text, &text.replace("Hold", "Reset")] {
        for more in [&[][..], &["--differences"]] {
            let options = [&["--in", "+part.c.y", "--out", "x.y"][..], more].concat();
            close("B", &linearized(text, &options)["B"], &[&[1.0]], 1e-9);
        }
    }
}

/// Two rates: an integrator under a controller of 20 ms behind a delay of 10 ms. Over 20 ms
/// x⁺ = x − k T u₁ …: the controller's output holds from its hit on, the delay hands on what it saw
/// 10 ms before.
#[test]
fn rates_are_lifted_to_the_period_of_all() {
    let text = r#"Diagram(
    format: 2,
    run: (stop: "1 s", step: "5 ms", solver: Rk4),
    blocks: {
        "seen":  ZeroOrderHold(every: "10 ms", in: { "u": "x.y" }),
        "late":  UnitDelay(initial: 0.0, in: { "u": "seen.y" }),
        "gain":  ZeroOrderHold(every: "20 ms", in: { "u": "late.y" }),
        "rate":  Gain(gain: -30.0, in: { "u": "gain.y" }),
        "x":     Integrator(initial: 1.0, in: { "u": "rate.y" }),
    },
)"#;
    let json = linearized(text, &["--at", "33 ms"]);
    assert_eq!((json["period_s"].as_f64(), json["t_s"].as_f64()), (Some(0.02), Some(0.04)));
    assert_eq!(names(&json["states"]), ["x.y", "late.y"]);
    // u = −30 d over 20 ms; d⁺ is x after 10 ms.
    close("A", &json["A"], &[&[1.0, -0.6], &[1.0, -0.3]], 1e-11);
}

#[test]
fn a_delay_has_a_state_for_each_of_its_samples() {
    let text = r#"Diagram(
    format: 2,
    run: (stop: "1 s", step: "10 ms"),
    ports: (in: { "u": Port(type: "Real", default: 0.0) }, out: { "y": "Real" }),
    blocks: {
        "sample": ZeroOrderHold(every: "10 ms", in: { "u": "^u" }),
        "delay":  Delay(length: 3, initial: 0.0, in: { "u": "sample.y" }),
    },
    out: { "y": "delay.y" },
)"#;
    let json = linearized(text, &["--at", "50 ms"]);
    close("A", &json["A"], &[&[0.0, 1.0, 0.0], &[0.0, 0.0, 1.0], &[0.0, 0.0, 0.0]], 1e-12);
    close("B", &json["B"], &[&[0.0], &[0.0], &[1.0]], 1e-12);
    close("C", &json["C"], &[&[1.0, 0.0, 0.0]], 1e-12);
}

/// A free body that turns at ω: δ' = ½ ω × δ + δω in its chart, and ω × (…) of a ball does not act.
#[test]
fn a_turning_body_has_three_coordinates_of_rotation() {
    let text = r#"Diagram(
    format: 2,
    run: (stop: "1 s", step: "1 ms", solver: Rk4),
    robots: { "ball": FreeBody(mass: "2 kg", shape: Sphere(radius: "0.1 m")) },
    blocks: {
        "force": Constant(value: "=zeros(6)"),
        "none":  Constant(value: "=zeros(ball.n)"),
        "accel": ForwardDynamics(robot: "ball", in: { "state": "body.state", "tau": "none.y", "external": "force.y" }),
        "body":  FloatingBase(robot: "ball", init: (angular_velocity: [0.3, -0.7, 0.5]), in: { "nu_dot": "accel.nu_dot" }),
    },
)"#;
    let json = linearized(text, &["--in", "force.y"]);
    assert_eq!(
        names(&json["states"])[3..6],
        [
            "body.state.base.orientation.turn[0]",
            "body.state.base.orientation.turn[1]",
            "body.state.base.orientation.turn[2]",
        ]
    );
    let a = rows(&json["A"]);
    let [x, y, z] = [0.3, -0.7, 0.5];
    let half = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]];
    for i in 0..3 {
        for j in 0..3 {
            assert!((a[3 + i][3 + j] - 0.5 * half[i][j]).abs() < 1e-10, "{a:?}");
            let unit = f64::from(i == j);
            assert!((a[3 + i][9 + j] - unit).abs() < 1e-10 && (a[i][6 + j] - unit).abs() < 1e-10);
        }
    }
    assert!((rows(&json["B"])[6][0] - 0.5).abs() < 1e-10, "force over mass");
}

#[test]
fn what_cannot_be_an_input_is_told() {
    let here = folder();
    let told = |options: &[&str]| {
        let done =
            support::legwork(here.path(), &[&["linearize", "help:linear"], options].concat());
        assert_eq!(done.code, 64, "{}", done.err);
        done.err
    };
    let err = told(&["--in", "mass.u"]);
    assert!(
        err.contains("`mass.u` is an input of a block; name the output that feeds it: `net.y`"),
        "{err}"
    );
    assert!(told(&["--in", "forse"]).contains("forse"), "{err}");
    let err = told(&["--in", "force", "--in", "^force"]);
    assert!(err.contains("the input `force` is named twice"), "{err}");
    let solve = r#"Diagram(
    format: 2,
    run: (stop: "1 s", step: "1 ms", solver: Rk4),
    blocks: {
        "z": Solve(initial: 1.0, every: "1 ms", in: { "u": "next.y" }),
        "next": Fcn(expression: "0.5*(u1 + 2/u1)", in: { "u1": "z.y" }),
        "x": Integrator(in: { "u": "z.y" }),
    },
)"#;
    write(&here, "loop.ron", solve);
    let done = support::legwork(here.path(), &["linearize", "loop.ron", "--in", "z.y"]);
    let said = "`z.y` is found by solving a loop: nothing else writes it";
    assert!(done.code == 64 && done.err.contains(said), "{}", done.err);
    assert!(told(&["--settle", "0"]).contains("--settle belongs to `--at trimmed`"));
    assert!(told(&["--at", "soon"]).contains("expected a time such as `0.4 s`, found `soon`"));
    let done = support::legwork(here.path(), &["linearize", "demo:stand", "--every", "1 ms"]);
    assert_eq!(done.code, 0, "a continuous linearisation of a diagram with rates: {}", done.err);
}

/// The numbers behind `gain: ` of a block in a text.
fn gain_of(text: &str, block: &str) -> Vec<f64> {
    let at = text.find(&format!("\"{block}\"")).expect("the block");
    let from = at + text[at..].find("gain: [[").expect("a gain") + "gain: ".len();
    let to = from + text[from..].find("]]").expect("its end");
    let part = |c: char| !(c.is_ascii_digit() || "+-.e".contains(c));
    text[from..to].split(part).filter_map(|word| word.parse().ok()).collect()
}

/// Poles as (re, im).
fn poles(json: &Value) -> Vec<(f64, f64)> {
    let one = |z: &Value| (z["re"].as_f64().expect("re"), z["im"].as_f64().expect("im"));
    json["poles"].as_array().expect("poles").iter().map(one).collect()
}

/// That each of the wanted poles is among those found.
fn among(wanted: &[(f64, f64)], found: &[(f64, f64)], tolerance: f64) {
    let mut left = found.to_vec();
    for (re, im) in wanted {
        let distance = |z: &(f64, f64)| (z.0 - re).hypot(z.1 - im);
        let nearest =
            (0..left.len()).min_by(|i, j| distance(&left[*i]).total_cmp(&distance(&left[*j])));
        let nearest = left.swap_remove(nearest.expect("a pole is left"));
        assert!(distance(&nearest) < tolerance, "{re} + {im} i: {wanted:?} among {found:?}");
    }
}

/// Gains in the diagrams of `diagrams/linear` are those that the commands in their texts find, and
/// the poles of each loop, linearised as it stands, are those of the design.
#[test]
fn the_commands_of_the_balancing_diagrams_give_their_gains() {
    let here = folder();
    for (name, weights) in [("cart_pole", ["--q", "10,100,1,1"]), ("acrobot", ["--q", "10,10,1,1"])]
    {
        let file = support::repository().join(format!("diagrams/linear/{name}.ron"));
        let file = file.to_str().expect("UTF-8");
        let rest = ["--at", "trimmed"];
        let options = [&["lqr", file, "--block", "balance"][..], &rest, &weights].concat();
        let (code, json, err) =
            legwork(here.path(), &[&options[..], &["-o", "gains.patch"]].concat());
        assert_eq!(code, 0, "{err}");
        let found = rows(&json["gain"]).concat();
        let text = std::fs::read_to_string(file).expect("the diagram");
        let written = gain_of(&text, "balance");
        assert_eq!(written.len(), 4, "{written:?}");
        for (found, written) in found.iter().zip(&written) {
            assert!((found / written - 1.0).abs() < 1e-5, "{name}: {found} against {written}");
        }
        assert_eq!(json["left_out"], serde_json::json!(["spent.y"]), "what it costs is no state");
        let options =
            [&["linearize", file, "--with", "gains.patch", "--settle", "0"][..], &rest].concat();
        let (code, closed, err) = legwork(here.path(), &options);
        assert_eq!(code, 0, "{err}");
        among(&poles(&json), &poles(&closed), 1e-7);
    }
}

/// Behind a filter the loop has the poles of both designs.
#[test]
fn an_estimate_and_its_feedback_are_designed_apart() {
    let here = folder();
    let design = |arguments: &[&str]| {
        let (code, json, err) = legwork(here.path(), arguments);
        assert_eq!(code, 0, "{err}");
        json
    };
    let filter = design(&[
        "kalman",
        "help:design",
        "--block",
        "estimate",
        "--w",
        "mass.velocity=1",
        "--v",
        "1e-6",
        "-o",
        "filter.patch",
    ]);
    assert_eq!(filter["period_s"], 0.01);
    let hold = design(&[
        "place",
        "help:design",
        "--block",
        "hold",
        "--estimate",
        "--with",
        "filter.patch",
        "--poles=-3+1i,-3-1i",
        "-o",
        "hold.patch",
    ]);
    let (sin, cos) = 0.01_f64.sin_cos();
    let radius = (-0.03_f64).exp();
    among(&[(radius * cos, radius * sin), (radius * cos, -radius * sin)], &poles(&hold), 1e-12);
    let closed =
        design(&["linearize", "help:design", "--with", "filter.patch", "--with", "hold.patch"]);
    let both = [poles(&filter), poles(&hold)].concat();
    assert_eq!(closed["states"].as_array().map(Vec::len), Some(4));
    among(&both, &poles(&closed), 1e-7);
}

/// A mass that begins at 2 m/s moves so fast, whatever the period of its controller.
#[test]
fn a_state_that_moves_is_told_by_its_rate() {
    let here = folder();
    let text = r#"Diagram(format: 2, run: (stop: "1 s", step: "1 ms"), blocks: {
        "hold": Lqr(gain: [0, 0], in: { "x": "both.y" }),
        "mass": SecondOrderIntegrator(velocity: 2.0, in: { "u": "hold.u" }),
        "both": Concat(in: { "u1": "mass.position", "u2": "mass.velocity" }),
    })"#;
    std::fs::write(here.path().join("mass.ron"), text).expect("a file");
    for every in [&[][..], &["--set", "hold.every=20 ms"], &["--set", "hold.every=5 ms"]] {
        let design = ["lqr", "mass.ron", "--block", "hold", "-o", "hold.patch"];
        let done = support::legwork(here.path(), &[&design[..], every].concat());
        let said = "`mass.position` moves at 2 per second";
        assert!(done.code == 0 && done.err.contains(said), "{every:?}: {}", done.err);
    }
    // One that has rates of its own, and leans where it begins.
    let file = support::repository().join("diagrams/linear/cart_pole.ron");
    let file = file.to_str().expect("UTF-8");
    let rate = |every: &str| {
        let weights = ["--q", "10,100,1,1", "-o", "gain.patch"];
        let design = ["lqr", file, "--block", "balance", "--set", every];
        let done = support::legwork(here.path(), &[&design[..], &weights].concat());
        let said = done.err.split("moves at ").nth(1).and_then(|rest| rest.split(' ').next());
        said.and_then(|rate| rate.parse::<f64>().ok()).unwrap_or_else(|| panic!("{}", done.err))
    };
    let (one, two) = (rate("balance.every=10 ms"), rate("balance.every=20 ms"));
    assert!((one / two - 1.0).abs() < 0.05, "{one} or {two} per second");
}

#[test]
fn a_design_tells_what_it_lacks() {
    let here = folder();
    let told = |arguments: &[&str], code: i32| {
        let done = support::legwork(here.path(), arguments);
        assert_eq!(done.code, code, "{}", done.err);
        done.err
    };
    let err = told(&["lqr", "help:design", "--block", "pull"], 64);
    assert!(err.contains("`pull` is a Gain, which has no input `x`"), "{err}");
    let err = told(&["lqr", "help:design", "--block", "holt"], 64);
    assert!(err.contains("no block `holt`; did you mean `hold`?"), "{err}");
    let err = told(&["lqr", "help:design", "--block", "hold", "--q", "1,2,3", "--estimate"], 64);
    assert!(err.contains("expected 1 or 2 numbers for `x`, found 3"), "{err}");
    let err = told(&["lqr", "help:design", "--block", "hold", "--r", "-1", "--estimate"], 64);
    assert!(err.contains("expected zero or more, found -1"), "{err}");
    let err = told(&["lqr", "help:design", "--block", "hold", "--settle", "1 s"], 64);
    assert!(err.contains("--settle belongs to `--at trimmed`"), "{err}");
    let err = told(&["kalman", "help:design", "--block", "estimate", "--w", "mass.velocty=1"], 64);
    assert!(err.contains("no state `mass.velocty`; there are"), "{err}");
    let err = told(&["kalman", "help:design", "--block", "estimate", "--w", "mass.velocity=0"], 3);
    assert!(err.contains("no noise drives the pole"), "{err}");
    let err = told(&["place", "help:design", "--block", "hold", "--estimate", "--poles=-3"], 64);
    assert!(err.contains("expected 2 poles, one for each state, found 1"), "{err}");
}

/// A sine through the running diagram has gain and phase of its linearisation.
#[test]
fn sines_agree_with_the_linearisation() {
    let here = folder();
    let options = ["linearize", "help:linear", "--simulate", "5", "--plot", "bode=a.svg"];
    let (code, json, err) = legwork(here.path(), &options);
    assert_eq!(code, 0, "{err}");
    let points = json["simulated"].as_array().expect("points");
    assert_eq!(points.len(), 5);
    for point in points {
        let of = |z: &Value| (z["re"].as_f64().expect("re"), z["im"].as_f64().expect("im"));
        let ((re, im), (a, b)) = (of(point), of(&point["linear"]));
        let apart = (re - a).hypot(im - b) / a.hypot(b);
        assert!(apart < 2e-3, "{point}");
    }
    let svg = std::fs::read_to_string(here.path().join("a.svg")).expect("a plot");
    assert!(svg.contains("simulated"), "{svg}");
}

/// One step of a cart-pole that swings, from states beside it that its parameters set: another way
/// than that of the linearisation.
#[test]
fn a_map_is_what_differences_of_runs_say() {
    let library = Library::new(legwork::blocks::register);
    let file = support::repository().join("diagrams/basics/cart_pole.ron");
    let diagram = library.open(file).expect("a diagram");
    let at = |x: [f64; 4]| {
        let [a, b, c, d] = x.map(|x| format!("{x:?}"));
        diagram.clone().set("body.init", &format!("(s: [{a}, {b}], s_dot: [{c}, {d}])"))
    };
    let step = |x: [f64; 4]| -> Vec<f64> {
        let mut run = at(x).compile().into_model().expect("no errors").stepper().expect("outputs");
        let parts = ["body.state.q", "body.state.nu"].map(|path| run.signal(path).expect(path));
        run.step(1).expect("no fault");
        parts.iter().flat_map(|part| run.read(*part).to_vec()).collect()
    };
    let x0 = [0.1, 2.0, 0.3, -0.5];
    let request = LinearRequest { sampled: Some(true), ..LinearRequest::default() };
    let model = at(x0).compile().into_model().expect("no errors");
    let found = model.linearize(&request).expect("a request").expect("no fault");
    assert_eq!(found.system.states(), 4);
    for j in 0..4 {
        let h = 1e-5;
        let beside = |h: f64| {
            let mut x = x0;
            x[j] += h;
            step(x)
        };
        for (i, (above, below)) in beside(h).iter().zip(beside(-h)).enumerate() {
            let slope = (above - below) / (2.0 * h);
            let error = (found.system.a[(i, j)] - slope).abs();
            assert!(error < 1e-9, "({i}, {j}): {} against {slope}", found.system.a[(i, j)]);
        }
    }
}

/// How the slopes of a block were found, and how good they are.
fn how<'j>(json: &'j Value, block: &str) -> (&'j str, &'j str) {
    let all = json["blocks"].as_array().expect("a list");
    let found = all.iter().find(|one| one["block"] == block);
    let found = found.unwrap_or_else(|| panic!("{block}: {}", json["blocks"]));
    let word = |name: &str| found[name].as_str().expect("a word");
    (word("method"), word("columns"))
}

/// z = tanh(z)/2 + x and ẋ = −z: dz = dx / (1 − (1 − tanh² z)/2).
#[test]
fn slopes_go_through_an_algebraic_loop() {
    let text = r#"Diagram(
    format: 2,
    run: (stop: "1 s", step: "1 ms", solver: Rk4),
    blocks: {
        "z":    Solve(initial: 0.5, in: { "u": "sum.y" }),
        "bend": Fcn(expression: "0.5*tanh(u)", in: { "u": "z.y" }),
        "sum":  Sum(in: { "u1": "bend.y", "u2": "x.y" }),
        "rate": Gain(gain: -1.0, in: { "u": "z.y" }),
        "x":    Integrator(initial: 0.7, in: { "u": "rate.y" }),
    },
)"#;
    let json = linearized(text, &["--in", "+x.y", "--out", "z.y"]);
    let tanh = json["outputs"][0]["value"].as_f64().expect("a number").tanh();
    let slope = 1.0 / (1.0 - 0.5 * (1.0 - tanh * tanh));
    close("A", &json["A"], &[&[-slope]], 1e-9);
    close("B", &json["B"], &[&[-slope]], 1e-9);
    close("C", &json["C"], &[&[slope]], 1e-9);
    assert_eq!(how(&json, "bend"), ("analytic", "smooth"));
    // u = z has no one solution nearby.
    let here = folder();
    write(&here, "a.ron", text.replace("0.5*tanh(u)", "u").replace("initial: 0.7", "initial: 0"));
    let done = support::legwork(here.path(), &["linearize", "a.ron"]);
    assert!(done.code == 2 && done.err.contains("no slope goes through it"), "{}", done.err);
}

/// A part that is off holds: its state has no rate, and its output does not move.
#[test]
fn a_part_that_is_off_has_no_slopes() {
    let text = |on: &str| {
        format!(
            r#"Diagram(
    format: 2,
    run: (stop: "1 s", step: "1 ms", solver: Rk4),
    ports: (in: {{ "u": Port(type: "Real", default: 1.0) }}, out: {{ "y": "Real" }}),
    blocks: {{
        "on": Constant(value: {on}),
        "part": Enabled(by: "on.y", in: {{ "u": "^u" }},
            ports: (in: {{ "u": "Real" }}, out: {{ "y": "Real" }}), blocks: {{
                "x": Integrator(initial: 5.0, in: {{ "u": "rate.y" }}),
                "rate": Fcn(expression: "u1 - u2^2", in: {{ "u1": "^u", "u2": "x.y" }}),
        }}, out: {{ "y": "x.y" }}),
    }},
    out: {{ "y": "part.y" }},
)"#
        )
    };
    for (on, a, b, c) in [("1.0", -10.0, 1.0, 1.0), ("-1.0", 0.0, 0.0, 0.0)] {
        let json = linearized(&text(on), &[]);
        close("A", &json["A"], &[&[a]], 1e-9);
        close("B", &json["B"], &[&[b]], 1e-9);
        close("C", &json["C"], &[&[c]], 1e-9);
    }
}

/// At the edge of a limit the block offers nothing: differences give the mean of both sides, and
/// the block is named.
#[test]
fn a_kink_is_named_with_its_block() {
    let text = r#"Diagram(
    format: 2,
    run: (stop: "1 s", step: "1 ms", solver: Rk4),
    ports: (in: { "u": Port(type: "Real", default: 1.0) }, out: { "y": "Real" }),
    blocks: {
        "twice": Gain(gain: 2.0, in: { "u": "^u" }),
        "limit": Saturation(upper: 2.0, in: { "u": "twice.y" }),
        "x":     Integrator(in: { "u": "limit.y" }),
    },
    out: { "y": "x.y" },
)"#;
    let json = linearized(text, &[]);
    close("B", &json["B"], &[&[1.0]], 1e-9);
    assert_eq!(how(&json, "limit"), ("differences", "kink"));
    assert_eq!(how(&json, "twice"), ("analytic", "smooth"));
    let here = folder();
    write(&here, "a.ron", text);
    let said = support::legwork(here.path(), &["linearize", "a.ron"]).out;
    for line in [
        "slopes   2 blocks by derivatives; by differences of the block `limit`",
        "note     `limit` has a kink here: the mean of the slopes on both sides",
    ] {
        assert!(said.contains(line), "{said}");
    }
    let whole = linearized(text, &["--differences"]);
    assert_eq!(how(&whole, "x"), ("differences of the whole", "smooth"));
    let sampled = linearized(text, &["--sampled"]);
    assert_eq!(how(&sampled, "x").0, "differences over the period");
}
