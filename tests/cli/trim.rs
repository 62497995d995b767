//! `legwork trim`: equilibria against their closed forms, and that the patch holds them.

use legwork::diagram::ron_text::value_text;
use std::path::Path;
use std::sync::Arc;

use legwork::diagram::{Options, compile};
use legwork::program::Program;
use legwork::runtime::Simulation;
use legwork::runtime::trim::{TrimOptions, trim};
use serde_json::Value;
use tempfile::TempDir;

use super::support::{self, folder, write};

/// Exit code, JSON object and standard error.
fn legwork(directory: &Path, arguments: &[&str]) -> (i32, Value, String) {
    let done = support::legwork(directory, &[arguments, &["--json"]].concat());
    (done.code, done.json(), done.err)
}

fn folder_with(text: &str) -> TempDir {
    let here = folder();
    write(&here, "a.ron", text);
    here
}

/// The numbers in the text of a setting.
fn numbers(json: &Value, path: &str) -> Vec<f64> {
    let text = json["set"][path].as_str().unwrap_or_else(|| panic!("no `{path}` in {json}"));
    let part = |c: char| !(c.is_ascii_digit() || "+-.e".contains(c));
    text.split(part).filter_map(|word| word.parse().ok()).collect()
}

fn near(found: f64, exact: f64, bound: f64) {
    assert!((found - exact).abs() <= bound, "{found} against {exact}");
}

/// A rod of 1 kg at 1 m under a constant torque: τ = m g l sin θ.
fn pendulum(angle: f64, torque: &str) -> String {
    format!(
        r#"Diagram(
    format: 2,
    run: (stop: "2 s", step: "1 ms", solver: Rk4),
    robots: {{ "rod": Urdf(path: "std:robots/pendulum/pendulum.urdf", base: Fixed) }},
    blocks: {{
        "tau":   Constant(value: ["{torque}"]),
        "accel": ForwardDynamics(robot: "rod", in: {{ "state": "swing.state", "tau": "tau.y" }}),
        "swing": FloatingBase(robot: "rod", init: (s: [{angle}], s_dot: [0.1]), in: {{ "nu_dot": "accel.nu_dot" }}),
    }},
    log: ["swing.state"],
)"#
    )
}

#[test]
fn a_free_torque_holds_the_pendulum_where_the_closed_form_says() {
    let here = folder_with(&pendulum(1.0, "3 N*m"));
    let arguments = ["trim", "a.ron", "--free", "tau.y", "--settle", "0", "-o", "patch.ron"];
    let (code, json, err) = legwork(here.path(), &arguments);
    assert_eq!(code, 0, "{err}");
    let swing = numbers(&json, "swing.init");
    let torque = numbers(&json, "tau.value")[0];
    near(torque, 9.81 * swing[0].sin(), 1e-9);
    near(swing[1], 0.0, 1e-9);
    // The torque gives way, not the angle.
    near(swing[0], 1.0, 1e-3);
    assert!(json["set"]["tau.value"].as_str().is_some_and(|text| text.contains("N*m")), "{json}");
}

#[test]
fn a_fixed_torque_gives_the_angle_of_the_closed_form() {
    let here = folder_with(&pendulum(0.4, "3 N*m"));
    let (code, json, err) = legwork(here.path(), &["trim", "a.ron", "--settle", "0 s"]);
    assert_eq!(code, 0, "{err}");
    near(numbers(&json, "swing.init")[0], (3.0f64 / 9.81).asin(), 1e-9);
    assert!(json["patch"].as_str().is_some_and(|text| text.contains("\"swing.init\": (s: [")));
    assert!(json["set"].get("tau.value").is_none(), "the torque is not free: {json}");
}

#[test]
fn an_unstable_equilibrium_is_found_from_nearby_and_held() {
    let here = folder_with(&pendulum(2.9, "0 N*m"));
    let (code, json, err) = legwork(here.path(), &["trim", "a.ron", "--settle", "0"]);
    assert_eq!(code, 0, "{err}");
    near(numbers(&json, "swing.init")[0], std::f64::consts::PI, 1e-9);
    // From upright at 1e-9 rad the rod would be 1e-8 rad away after 1 s, by e^(√9.81 t).
    let farthest = json["drift"]["farthest"][0]["amount"].as_f64().unwrap_or(0.0);
    assert!(farthest < 1e-8, "{json}");
}

/// A plant x1' = −x1 + 2 x2, x2' = −3 x2 + 3 u, and a digital loop whose delayed integral must take
/// y = x1 to r = 5: x1 = 5, x2 = u = 2.5, whatever the filter between them remembers.
const LOOP: &str = r#"Diagram(
    format: 2,
    run: (stop: "1 s", step: "1 ms", solver: Rk4),
    blocks: {
        "r":     Constant(value: 5.0),
        "error": Sum(signs: "+-", in: { "u1": "r.y", "u2": "plant.y" }),
        "pid":   Pid(every: "10 ms", discrete: true, kp: 0.1, ki: 0.5, in: { "u": "error.y" }),
        "late":  UnitDelay(in: { "u": "pid.y" }),
        "lag":   TransferFunction(numerator: [8], denominator: [2, 6, 8], in: { "u": "late.y" }),
        "plant": StateSpace(a: [[-1, 2], [0, -3]], b: [0, 3], c: [1, 0], in: { "u": "lag.y" }),
    },
    log: ["plant.y"],
)"#;

#[test]
fn a_linear_loop_of_two_rates_begins_at_its_exact_equilibrium() {
    let here = folder_with(LOOP);
    let (code, json, err) = legwork(here.path(), &["trim", "a.ron", "--settle", "0"]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(json["period_s"], 0.01);
    let plant = numbers(&json, "plant.initial");
    near(plant[0], 5.0, 1e-9);
    near(plant[1], 2.5, 1e-9);
    near(numbers(&json, "pid.initial")[0], 2.5, 1e-9);
    near(numbers(&json, "late.initial")[0], 2.5, 1e-9);
    // Canonical form of 4 / (s² + 3 s + 4): its last state is u / 4.
    let lag = numbers(&json, "lag.initial");
    near(lag[0], 0.0, 1e-9);
    near(lag[1], 2.5 / 4.0, 1e-9);
}

#[test]
fn what_has_no_equilibrium_is_said_to_move() {
    let here = folder_with(
        r#"Diagram(
    format: 2,
    run: (stop: "1 s", step: "10 ms", solver: SemiImplicitEuler),
    blocks: {
        "g":    Constant(value: "-9.81 m/s^2"),
        "fall": SecondOrderIntegrator(position: "1 m", in: { "u": "g.y" }),
        "rest": Integrator(in: { "u": "fall.velocity" }),
    },
)"#,
    );
    let (code, json, err) = legwork(here.path(), &["trim", "a.ron", "-o", "patch.ron"]);
    assert_eq!(code, 3, "{err}");
    assert_eq!(json["still"], false);
    assert_eq!(json["moving"][0]["name"], "fall.velocity");
    near(json["moving"][0]["amount"].as_f64().expect("a number"), 9.81, 1e-9);
    assert!(err.contains("fall.velocity  9.81 m/s/s"), "{err}");
    assert!(!here.path().join("patch.ron").exists(), "what does not hold still is not written");
    // The acceleration itself free, there is one.
    let (code, json, err) = legwork(here.path(), &["trim", "a.ron", "--free", "g.y"]);
    assert_eq!(code, 0, "{err}");
    near(numbers(&json, "g.value")[0], 0.0, 1e-9);
}

#[test]
fn the_standing_quadruped_stays_within_a_micrometre() {
    let here = folder();
    let (code, json, err) = legwork(here.path(), &["trim", "demo:stand", "-o", "standing.ron"]);
    assert_eq!(code, 0, "{err}");
    let rate = |name: &str| json[name].as_f64().unwrap_or(f64::NAN);
    assert!(rate("rate") <= 1e-9 && rate("rate_at_first") > 1.0, "{json}");
    let farthest = json["drift"]["farthest"][0]["amount"].as_f64().unwrap_or(0.0);
    assert!(farthest < 1e-6, "{json}");
    let (code, json, err) = legwork(here.path(), &["run", "demo:stand", "--with", "standing.ron"]);
    assert_eq!(code, 0, "{err}");
    let checks = json["checks"].as_object().expect("an object");
    assert!(checks.len() >= 7 && checks.values().all(|passed| *passed == true), "{checks:?}");
}

#[test]
fn bad_options_have_clear_answers() {
    let here = folder_with(LOOP);
    let error = |arguments: &[&str], expected_code: i32, expected: &str| {
        let (code, json, err) = legwork(here.path(), &[&["trim", "a.ron"], arguments].concat());
        assert_eq!(code, expected_code, "{err}");
        let text = format!("{err}{json}");
        assert!(text.contains(expected), "{text}");
    };
    error(&["--free", "pid.y"], 64, "`pid.y` is computed");
    error(&["--free", "pid.y"], 64, "here `r.y`");
    error(&["--free", "q.y"], 64, "no output `q.y`");
    error(&["--free", "r.y[1]"], 64, "below 1");
    error(&["--tol", "0"], 64, "above zero");
    error(&["--settle", "soon"], 1, "soon");
    error(&["--set", "plant.intial=3"], 1, "initial");
}

fn program(text: &str, set: &[(String, String)]) -> Program {
    let mut registry = legwork::block::Registry::default();
    legwork::blocks::register(&mut registry);
    let options = Options { set: set.to_vec(), ..Options::default() };
    let compiled =
        compile(Path::new("a.ron"), text.as_bytes(), &options, &registry, &legwork::Disk);
    let messages: Vec<_> = compiled.diagnostics.iter().map(|d| d.message.clone()).collect();
    compiled.program.unwrap_or_else(|| panic!("{messages:?}"))
}

/// Every kind of block with continuous state, all at once, away from rest: what is written reads
/// back to the bits that were found.
#[test]
fn states_read_back_to_the_same_bits() {
    let text = r#"Diagram(
    format: 2,
    run: (stop: "0.3 s", step: "10 ms", solver: Rk4),
    robots: {
        "rod":  Urdf(path: "std:robots/pendulum/pendulum.urdf", base: Fixed),
        "ball": FreeBody(mass: "1 kg", shape: Sphere(radius: "0.1 m")),
        "both": World(of: ["ball", "rod"]),
    },
    blocks: {
        "t":     Constant(value: 0.4),
        "v":     Constant(value: [0.1, 0.7]),
        "tau":   Constant(value: [0.1, 0.7]),
        "m":     Constant(value: [[0.1, 0.7, 0.3], [0.2, 0.9, 0.4]]),
        "i":     Integrator(initial: ["1 m", "2 m"], in: { "u": "v.y" }),
        "matrix": Integrator(initial: [[0, 1, 2], [3, 4, 5]], in: { "u": "m.y" }),
        "ii":    SecondOrderIntegrator(position: "1 m", velocity: "3 m/s", in: { "u": "t.y" }),
        "ss":    StateSpace(a: -0.3, b: 1, c: 1, in: { "u": "t.y" }),
        "tf":    TransferFunction(numerator: [1], denominator: [1, 3, 2], of: Vector, in: { "u": "v.y" }),
        "zp":    ZeroPole(poles: [-1, -7], gain: 3, in: { "u": "t.y" }),
        "d":     Derivative(filter: "20 rad/s", in: { "u": "t.y" }),
        "pid":   Pid(kp: 1, ki: 0.3, kd: 0.1, in: { "u": "t.y" }),
        "act":   Actuator(bandwidth: "2 Hz", in: { "u": "tau.y" }),
        "nu_dot": Constant(value: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]),
        "world": FloatingBase(robot: "both", init: (robots: { "ball": (rpy: [0.1, 0.2, 0.3]) }), in: { "nu_dot": "nu_dot.y" }),
    },
)"#;
    let before = program(text, &[]);
    // A tolerance that everything meets: the state after 0.3 s, polished or not, is what is
    // written.
    let options = TrimOptions { settle: 0.3, tolerance: 1e-9, free: Vec::new() };
    let found = trim(&before, &options).expect("no fault");
    assert!(!found.still, "it moves on and on");
    let mut set = Vec::new();
    for start in &found.starts {
        let parameters = start.parameters.as_ref().unwrap_or_else(|| panic!("{}", start.block));
        let settings = parameters.iter();
        set.extend(
            settings.map(|(name, value)| (format!("{}.{name}", start.block), value_text(value))),
        );
    }
    assert_eq!(found.starts.len(), before.nodes.iter().filter(|n| n.continuous.is_some()).count());
    let after = Simulation::new(Arc::new(program(text, &set)));
    assert_eq!(after.state().len(), found.state.len());
    for (i, (read, written)) in after.state().iter().zip(&found.state).enumerate() {
        // Orientations are normalised again, which may turn their last digit.
        let quaternion = (read - written).abs() <= f64::EPSILON && read != written;
        let owner = before.nodes.iter().find(|node| {
            node.continuous.as_ref().is_some_and(|placed| placed.x.range().contains(&i))
        });
        let place = i - owner.and_then(|n| n.continuous.as_ref()).map_or(0, |p| p.x.range().start);
        let is_quaternion = owner.is_some_and(|n| n.path == "world") && (3..7).contains(&place);
        assert!(
            read.to_bits() == written.to_bits() || (is_quaternion && quaternion),
            "number {i}: {read:?} against {written:?}"
        );
    }
}

/// Every kind of block with discrete state that a parameter gives, behind a constant: the patch
/// takes each of them to where it settles.
#[test]
fn discrete_states_begin_where_they_settle() {
    let here = folder_with(
        r#"Diagram(
    format: 2,
    run: (stop: "3 s", step: "10 ms", solver: Euler),
    blocks: {
        "c":      Constant(value: 0.4),
        "v":      Constant(value: [0.4, -0.2]),
        "move":   StateSpace(a: -1, b: 1, c: 1, in: { "u": "c.y" }),
        "delay":  UnitDelay(every: "20 ms", in: { "u": "move.y" }),
        "memory": Memory(in: { "u": "move.y" }),
        "long":   Delay(every: "10 ms", length: 7, in: { "u": "move.y" }),
        "late":   TransportDelay(delay: "55 ms", in: { "u": "move.y" }),
        "leak":   DiscreteIntegrator(every: "10 ms", in: { "u": "rest.y" }),
        "rest":   Sum(signs: "+-", in: { "u1": "move.y", "u2": "leak.y" }),
        "play":   Backlash(width: 0.1, in: { "u": "move.y" }),
        "ramp":   RateLimiter(rising: 2.0, initial: 0.0, in: { "u": "move.y" }),
        "dss":    DiscreteStateSpace(every: "10 ms", a: 0.9, b: 1, c: 1, in: { "u": "move.y" }),
        "filter": DiscreteFilter(every: "10 ms", numerator: [0.1], denominator: [1, -0.9], in: { "u": "move.y" }),
        "dtf":    DiscreteTransferFunction(every: "10 ms", numerator: [1, 0.1], denominator: [1, -1.2, 0.35], in: { "u": "move.y" }),
        "motor":  Actuator(every: "10 ms", bandwidth: "2 Hz", discrete: true, in: { "u": "v.y" }),
    },
)"#,
    );
    let (code, json, err) = legwork(here.path(), &["trim", "a.ron", "-o", "patch.ron"]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(json["unwritten"], serde_json::json!([]), "{err}");
    assert_eq!(json["begin_anew"], serde_json::json!([]), "{err}");
    assert!(json["rate_at_first"].as_f64().is_some_and(|rate| rate > 1.0), "{json}");
    // The slowest pole is at −1/s, so rates of 1e-9 per second leave 1e-9.
    for path in ["delay", "memory", "long", "late", "leak", "ramp"] {
        near(numbers(&json, &format!("{path}.initial"))[0], 0.4, 1e-9);
    }
    near(numbers(&json, "play.initial")[0], 0.35, 1e-9);
    near(numbers(&json, "dss.initial")[0], 4.0, 1e-8);
    // Canonical form: both states are u / (1 − 1.2 + 0.35).
    numbers(&json, "dtf.initial").iter().for_each(|state| near(*state, 0.4 / 0.15, 1e-8));
    near(numbers(&json, "motor.initial")[1], -0.2, 1e-9);
}

/// The command that is printed runs what was trimmed: with the changes of the command line, quoted
/// where a shell would part them.
#[test]
fn the_command_for_the_patch_has_the_changes_of_the_command_line() {
    let here = folder_with(&pendulum(0.5, "1 N*m"));
    write(&here, "longer.patch", "Patch(set: { \"run.stop\": \"2 s\" })");
    let changes = ["--with", "longer.patch", "--set", "run.step=5 ms"];
    let trimmed = [&["trim", "a.ron", "-o", "still.patch"][..], &changes].concat();
    let (code, _, err) = legwork(here.path(), &trimmed);
    assert_eq!(code, 0, "{err}");
    let command =
        "`legwork run a.ron --with longer.patch --with still.patch --set 'run.step=5 ms'`";
    assert!(err.contains(command), "{err}");
    let run =
        [&["run", "a.ron", "--with", "longer.patch", "--with", "still.patch"][..], &changes[2..]];
    let (code, _, err) = legwork(here.path(), &run.concat());
    assert_eq!(code, 0, "{err}");
}
