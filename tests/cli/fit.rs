//! `legwork fit` and `legwork gradient`: parameters that made a measurement are found again, slopes
//! are those of closed forms.

use std::fmt::Write as _;

use legwork::study::fit::{FitRequest, Parameter};
use legwork::study::{Cancel, Library};
use serde_json::Value;

use super::support::{self, folder, repository, write};

/// Numbers of the standard normal distribution, by sums of twelve: the same in every run.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        let mut uniform = || {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 11) as f64 / (1u64 << 53) as f64
        };
        (0..12).map(|_| uniform()).sum::<f64>() - 6.0
    }
}

const SPRING: &str = r#"Diagram(
    format: 2,
    run: (stop: "4 s", step: "5 ms", solver: Rk4),
    params: { "m": "2 kg", "k": "18 N/m", "d": "2.4 N*s/m" },
    blocks: {
        "net":  Fcn(expression: "=-(k*u1 + d*u2)/m", constants: { "m": "=m", "k": "=k", "d": "=d" }, in: { "u1": "mass.position", "u2": "mass.velocity" }),
        "mass": SecondOrderIntegrator(position: "0.3 m", in: { "u": "net.y" }),
    },
    log: ["mass.position"],
)"#;

/// x = x₀ e^{−δt} (cos ωt + δ/ω sin ωt) of the parameters that are sought, with 2 mm of noise.
fn swing(k: f64, d: f64) -> String {
    let (delta, m) = (d / 4.0, 2.0);
    let omega = (k / m - delta * delta).sqrt();
    let (mut noise, mut table) = (Noise(7), String::from("t [s],mass.position [m]\n"));
    for i in 0..=400 {
        let t = 0.01 * f64::from(i);
        let x = 0.3 * (-delta * t).exp() * ((omega * t).cos() + delta / omega * (omega * t).sin());
        writeln!(table, "{t},{}", x + 2e-3 * noise.next()).expect("a string");
    }
    table
}

#[test]
fn a_swing_gives_stiffness_and_damping_back() {
    let here = folder();
    write(&here, "a.ron", SPRING);
    write(&here, "measured.csv", swing(31.0, 1.1));
    let arguments = [
        "fit",
        "a.ron",
        "--to",
        "measured.csv",
        "--params",
        "k=5 N/m..80 N/m",
        "--params",
        "d=0.1 N*s/m..10 N*s/m@6 N*s/m",
        "-o",
        "found.patch",
        "--json",
    ];
    let done = support::legwork(here.path(), &arguments);
    assert_eq!(done.code, 0, "{}", done.err);
    let json = done.json();
    let found = |i: usize, name: &str| json["parameters"][i][name].as_f64().expect("a number");
    for (i, exact) in [(0, 31.0), (1, 1.1)] {
        let (value, error) = (found(i, "value"), found(i, "error"));
        assert!(error < 0.02 * exact, "{json}");
        assert!((value - exact).abs() < 4.0 * error, "{value} ± {error} against {exact}");
    }
    let rms = json["signals"][0]["rms"].as_f64().expect("a number");
    assert!((rms - 2e-3).abs() < 3e-4, "what is left is the noise: {rms}");
    // The patch applies, and nothing is left to be found.
    let done = support::legwork(
        here.path(),
        &["run", "a.ron", "--with", "found.patch", "--no-checks", "--json"],
    );
    assert_eq!(done.code, 0, "{}", done.err);
}

/// Three parameters of a trot, from joints and trunk with noise of 1 mrad and 1 mm.
#[test]
fn a_trot_gives_three_parameters_back() {
    let joints = (0..12).map(|i| format!("body.state.s[{i}]"));
    let signals: Vec<String> =
        std::iter::once("body.state.base.position[2]".to_owned()).chain(joints).collect();
    let library = Library::new(legwork::blocks::register);
    let file = repository().join("diagrams/quadruped/trot.ron");
    let trot = library.open(file).expect("a diagram").until("1.4 s");
    let truth = [("kp", "92 N*m/rad"), ("kd", "2.3 N*m*s/rad"), ("height", "27.2 cm")];
    let made = truth.iter().fold(trot.clone(), |made, (name, value)| made.set(name, value));
    let mut run = made.compile().into_model().expect("no errors").stepper().expect("outputs");
    let outputs: Vec<_> = signals.iter().map(|name| run.signal(name).expect(name)).collect();
    let mut noise = Noise(3);
    let mut table = format!("t [s],{}\n", signals.join(","));
    while !run.is_at_end() {
        write!(table, "{}", run.time()).expect("a string");
        for output in &outputs {
            write!(table, ",{}", run.read(*output)[0] + 1e-3 * noise.next()).expect("a string");
        }
        table.push('\n');
        run.step(5).expect("no fault");
    }
    let bounds = [
        "kp=60 N*m/rad..140 N*m/rad@110 N*m/rad",
        "kd=1.5 N*m*s/rad..3.5 N*m*s/rad@1.8 N*m*s/rad",
        "height=26 cm..29 cm",
    ];
    let parameters = bounds.iter().map(|text| Parameter::parse(text).expect("bounds")).collect();
    let request = FitRequest { parameters, ..FitRequest::default() };
    let fit = trot.fit(table.as_bytes(), &request, &Cancel::default()).expect("a fit");
    assert!(fit.converged, "{fit:?}");
    for (found, exact) in fit.parameters.iter().zip([92.0, 2.3, 0.272]) {
        let error = (found.value / exact - 1.0).abs();
        assert!(error < 0.01, "{}: {} against {exact}", found.parameter.path, found.value);
    }
}

/// Mass of a link and friction of the ground, from the way of a block with noise of 2 mm.
#[test]
fn a_sliding_block_gives_mass_and_friction_back() {
    let library = Library::new(legwork::blocks::register);
    let block = library.open("help:fitting").expect("it is built in");
    let made = block.clone().set("mass", "1.7 kg").set("mu", "0.22");
    let mut run = made.compile().into_model().expect("no errors").stepper().expect("outputs");
    let signal = "sim.state.base.position[0]";
    let output = run.signal(signal).expect("a signal");
    let (mut noise, mut table) = (Noise(5), format!("t [s],{signal} [m]\n"));
    while !run.is_at_end() {
        let x = run.read(output)[0] + 2e-3 * noise.next();
        writeln!(table, "{},{x}", run.time()).expect("a string");
        run.step(5).expect("no fault");
    }
    let bounds = ["mass=0.5 kg..3 kg", "mu=0.05..0.6@0.4"];
    let parameters = bounds.iter().map(|text| Parameter::parse(text).expect("bounds")).collect();
    let request = FitRequest { parameters, ..FitRequest::default() };
    let fit = block.fit(table.as_bytes(), &request, &Cancel::default()).expect("a fit");
    assert!(fit.converged, "{fit:?}");
    for (found, exact) in fit.parameters.iter().zip([1.7, 0.22]) {
        let error = (found.value / exact - 1.0).abs();
        assert!(error < 0.01, "{}: {} against {exact}", found.parameter.path, found.value);
        assert!(found.error.is_some_and(|error| error < 0.01 * exact), "{fit:?}");
    }
}

#[test]
fn what_does_not_fit_is_told() {
    let here = folder();
    write(&here, "a.ron", SPRING);
    write(&here, "measured.csv", swing(31.0, 1.1));
    write(&here, "long.csv", "t,mass.position\n0,0.3\n5,0.1\n");
    write(&here, "words.csv", "t,mass.position\n0,0.3\n1,many\n");
    write(&here, "metres.csv", "t,mass.position [g]\n0,30\n1,20\n");
    let told = |arguments: &[&str]| {
        let done = support::legwork(here.path(), &[&["fit", "a.ron"], arguments].concat());
        assert_eq!(done.code, 64, "{}", done.err);
        done.err
    };
    let k = "k=5 N/m..80 N/m";
    for (arguments, message) in [
        (["--to", "measured.csv", "--params", "k=5 N/m"], "expected bounds such as `m=1 kg..3 kg`"),
        (["--to", "measured.csv", "--params", "k=5..4"], "a lower and a higher bound"),
        (["--to", "none.csv", "--params", k], "cannot read `none.csv`"),
        (["--to", "long.csv", "--params", k], "the run ends at 4 s, and the table goes on to 5 s"),
        (["--to", "words.csv", "--params", k], "in line 3, found `many`"),
        (
            ["--to", "metres.csv", "--params", k],
            "expected the column `mass.position` in m, found g",
        ),
    ] {
        let err = told(&arguments);
        assert!(err.contains(message), "{message}: {err}");
    }
    let err = told(&["--to", "measured.csv", "--params", k, "--signals", "mass.positon"]);
    assert!(err.contains("did you mean `mass.position`?"), "{err}");
    let done = support::legwork(
        here.path(),
        &["fit", "a.ron", "--to", "measured.csv", "--params", "q=1..2"],
    );
    assert_eq!(done.code, 1, "an unknown parameter is an error of the diagram: {}", done.err);
}

/// x(1 s) = x₀ e^{−k t}: d/dk = −t x, and of shares −k t.
#[test]
fn the_gradient_of_a_decay_is_that_of_the_exponential() {
    let here = folder();
    write(
        &here,
        "a.ron",
        r#"Diagram(
    format: 2,
    run: (stop: "1 s", step: "1 ms", solver: Rk4),
    params: { "k": "1.5 1/s" },
    blocks: {
        "rate": Gain(gain: "=-k", in: { "u": "x.y" }),
        "x":    Integrator(initial: 2.0, in: { "u": "rate.y" }),
    },
    judge: { "rest": Metric(of: "=x.y", by: Last) },
)"#,
    );
    let done = support::legwork(
        here.path(),
        &["gradient", "a.ron", "--param", "k=1.5 1/s", "--metric", "rest", "--json"],
    );
    assert_eq!(done.code, 0, "{}", done.err);
    let json: Value = done.json();
    let found = |name: &str| json["gradients"][0][name].as_f64().expect("a number");
    let x = 2.0 * (-1.5_f64).exp();
    assert!((found("value") - x).abs() < 1e-12, "{json}");
    assert!((found("slope") + x).abs() < 1e-9, "{json}");
    assert!((found("relative") + 1.5).abs() < 1e-9, "{json}");
}
