//! The constraint solver against closed forms: errors and their order, restitution, sliding and
//! stiction, an oscillator, stacks. The diagrams' own checks must hold in every run.

use legwork_runtime::recording::Recording;

use super::harness::{Case, failed_checks, last, metrics, rows};

type Set<'a> = &'a [(&'a str, String)];

/// Runs to the end; every check of the diagram must hold.
fn run(name: &str, set: Set<'_>, variants: &[(&str, &str)]) -> Recording {
    let file = format!("diagrams/constraint_solver/{name}.ron");
    let set: Vec<_> = set.iter().map(|(path, value)| (*path, value.as_str())).collect();
    Case { file: &file, set: &set, variants, patches: &[] }.record()
}

fn seconds(h: f64) -> String {
    format!("{h:e} s")
}

/// The hinge opens by what the ball falls away from its circle in one step, at most `½ h² v²/l`:
/// second order over four decades, at any stiffness.
#[test]
fn the_error_of_a_stiff_hinge_goes_with_the_square_of_the_step() {
    let error = |h: f64, k: f64| {
        let run = run("pendulum", &[("h", seconds(h)), ("k", format!("{k:e}"))], &[]);
        rows(&run, "pin.distance").iter().map(|(_, d)| d[0]).fold(0.0, f64::max)
    };
    let mut finer = error(1e-4, 1e15);
    // v² = 2 g l of the point mass, less by the ball's own inertia of 2/5 r² = 0.004 l².
    assert!((finer / (0.5e-8 * 2.0 * 9.8 / 1.004) - 1.0).abs() < 1e-2, "{finer:e}");
    for h in [1e-3, 1e-2, 1e-1] {
        let coarser = error(h, 1e15);
        let order = (coarser / finer).log10();
        // At 0.1 s a swing has six steps, and none at the lowest point.
        assert!((order - 2.0).abs() < if h > 0.05 { 0.1 } else { 0.01 }, "{h}: order {order}");
        finer = coarser;
    }
    let (soft, stiff) = (error(1e-2, 1e9), error(1e-2, 1e15));
    assert!((soft / stiff - 1.0).abs() < 1e-3, "{soft:e} {stiff:e}");
}

/// The paper's explicit term keeps the order and loses the stability: energy grows without bound.
#[test]
fn the_rate_bias_is_explicit() {
    let set = [("h", "0.1 s"), ("rate_bias", "true"), ("run.stop", "2 s")];
    let file = "diagrams/constraint_solver/pendulum.ron";
    let failed = failed_checks(&Case { file, set: &set, ..Case::default() }.simulate());
    let is_broken = failed.iter().any(|name| name.contains("hinge"));
    assert!(is_broken, "a hinge at coarse steps is stable with the explicit term");
}

/// Bilateral rows and single ones, where even the program of least forces is the law.
#[test]
fn a_hinge_and_a_limit_hold_equally_by_all_programs() {
    for (name, logged, h) in [
        ("pendulum", "body.state", 0.1),
        ("pendulum", "body.state", 0.01),
        ("limit", "swing.state", 1e-3),
    ] {
        let by = |method| run(name, &[("h", seconds(h))], &[("method", method)]);
        let reference = rows(&by("velocities"), logged);
        for method in ["forces", "least_forces"] {
            let found = rows(&by(method), logged);
            assert_eq!(found.len(), reference.len());
            for ((t, x), (_, y)) in found.iter().zip(&reference) {
                for (x, y) in x.iter().zip(y) {
                    assert!((x - y).abs() < 1e-8, "{name} {method} at {t}: {x} {y}");
                }
            }
        }
    }
}

/// An impact that is resolved rebounds with what implicit Euler's damping leaves of it: in N steps
/// of the oscillator, `(1 + (ωh)²)^(-N/2)` with `N atan(ωh) = π`. An unresolved one does not
/// rebound.
#[test]
fn a_limit_is_elastic_at_fine_steps_and_dead_at_coarse_ones() {
    for (h, tolerance) in [(1e-8_f64, 0.01), (1e-7, 0.06)] {
        let blow = [
            ("s", "1e-7".to_owned()),
            ("s_dot", "-4.429446918".to_owned()),
            ("stop", "4 us".to_owned()),
            ("h", seconds(h)),
        ];
        let run = run("limit", &blow, &[]);
        let speeds = rows(&run, "swing.state").into_iter().map(|(_, x)| x[1]);
        let restitution = speeds.fold(f64::NEG_INFINITY, f64::max) / 4.429446918;
        let angle = (1e6 * h).atan();
        let left = (1.0 + 1e12 * h * h).powf(-0.5 * std::f64::consts::PI / angle);
        assert!((restitution - left).abs() < tolerance, "{h:e}: {restitution} {left}");
    }
    for h in [1e-5, 1e-3, 1e-2] {
        let run = run("limit", &[("h", seconds(h)), ("stop", "0.7 s".into())], &[]);
        let after: Vec<f64> = (rows(&run, "swing.state").into_iter())
            .skip_while(|(_, x)| x[0] > 2.0 * 4.5 * h)
            .map(|(_, x)| x[1])
            .collect();
        let bounce = after.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert!(bounce < 0.2, "{h:e}: bounces at {bounce}");
    }
}

/// Within 1 % of Coulomb's `½ g (sin α - μ cos α) t²` at 1 ms, and at 10 ms of the corresponding
/// value of semi-implicit Euler, which the diagram checks to 0.1 mm at every step.
#[test]
fn a_block_slides_down_a_ramp_as_coulomb_says() {
    let slope = 15.0_f64.to_radians();
    for mu in [0.0, 0.125, 0.25] {
        for h in [0.01, 0.001] {
            let run = run("ramp", &[("h", seconds(h)), ("mu", mu.to_string())], &[]);
            let slid = last(&run, "slid")[0];
            let exact = 0.5 * 9.8 * (slope.sin() - mu * slope.cos());
            if h < 0.005 {
                assert!((slid / exact - 1.0).abs() < 0.01, "{mu}: {slid} {exact}");
            }
            if mu == 0.0 {
                let f = last(&run, "solve.f");
                assert!((0..4).all(|i| f[3 * i] == 0.0 && f[3 * i + 1] == 0.0), "{f:?}");
            }
        }
    }
}

/// The law in forces is the same law: with Coulomb's cone by interior points, and with a pyramid
/// whose edge is along the slope by the active set.
#[test]
fn a_block_slides_equally_by_programs_in_forces() {
    for mu in ["0", "0.125", "0.375"] {
        let by =
            |method| last(&run("ramp", &[("mu", mu.into())], &[("method", method)]), "body.state");
        let reference = by("velocities");
        for method in ["forces", "pyramid"] {
            for (a, b) in by(method).iter().zip(&reference) {
                assert!((a - b).abs() < 1e-6, "{mu} {method}: {a} {b}");
            }
        }
    }
}

/// Distance on the ramp after one second and the greatest normal force of the four feet.
fn slides(method: &str, mu: &str, zeta: &str) -> (f64, f64) {
    let (set, variants) = ([("mu", mu), ("zeta", zeta)], &[("method", method)]);
    let file = "diagrams/constraint_solver/ramp.ron";
    let ended = Case { file, set: &set, variants, patches: &[] }.end();
    let normal = |f: &[f64]| (0..4).map(|i| f[3 * i + 2]).sum::<f64>();
    let forces = rows(&ended.recording, "solve.f");
    let pressed = forces.iter().map(|(_, f)| normal(f)).fold(0.0, f64::max);
    (last(&ended.recording, "slid")[0], pressed)
}

/// No weight makes the program of least forces Coulomb's law on the ramp: with a small one,
/// including the paper's 1 s/h, the sliding block is pressed until friction holds it, and hops; a
/// large one lets the resting block slip. With pyramids and circular cones.
#[test]
fn least_forces_press_what_slides_or_let_slip_what_rests() {
    let weight = 9.8 * 15.0_f64.to_radians().cos();
    for method in ["least_forces", "least_forces_circular"] {
        // Coulomb's distances at h = 10 ms are 0.6833 m and 0.
        let (slid, pressed) = slides(method, "0.125", "1e14");
        assert!((slid / 0.6833 - 1.0).abs() < 1e-3 && pressed < 1.001 * weight, "{slid} {pressed}");
        for zeta in ["1e2", "1e8"] {
            let (slid, pressed) = slides(method, "0.125", zeta);
            assert!((slid / 0.6833 - 1.0).abs() < 0.3, "{method} {zeta}: {slid}");
            assert!(pressed > 5.0 * weight, "{method} {zeta}: {pressed}");
            let (slid, pressed) = slides(method, "0.375", zeta);
            assert!(slid < 1e-6 && pressed < 1.001 * weight, "{slid:e} {pressed}");
        }
        let (slid, _) = slides(method, "0.375", "1e14");
        assert!(slid > 5e-3, "{slid}");
    }
}

/// The block slides along an axis of the pyramids, where these and circular cones have one section:
/// interior points and active sets come to the same distance at weights up to sixteen orders apart,
/// but for what a hop makes of their rounding.
#[test]
fn circular_cones_slide_as_pyramids_at_every_weight() {
    for zeta in ["1e4", "1e7", "1e9", "1e11", "1e13"] {
        for mu in ["0.125", "0.25", "0.375"] {
            let (pyramids, _) = slides("least_forces", mu, zeta);
            let (circular, _) = slides("least_forces_circular", mu, zeta);
            let difference = (circular - pyramids).abs();
            assert!(difference < 1e-3 * pyramids, "{mu} {zeta}: {circular:e} {pyramids:e}");
        }
    }
}

/// A run says which of its steps gained energy: those that press the sliding block, none of a
/// weight that does not, and none of Coulomb's law.
#[test]
fn steps_that_gain_energy_are_counted() {
    let gains = |method: &str, zeta: &str| {
        let (set, variants) = ([("mu", "0.125"), ("zeta", zeta)], &[("method", method)]);
        let file = "diagrams/constraint_solver/ramp.ron";
        let ended = Case { file, set: &set, variants, patches: &[] }.simulate();
        metrics(&ended).get("solve.steps_that_gained_energy").copied()
    };
    for method in ["least_forces", "least_forces_circular"] {
        assert!(gains(method, "1e8").is_some_and(|steps| (1.0..50.0).contains(&steps)));
        assert_eq!(gains(method, "1e14"), None);
    }
    assert_eq!(gains("forces", "1e2"), None);
}

/// A minute above the angle of friction: the creep of the damper of 10⁶ kg/h, no more.
#[test]
fn a_block_in_stiction_stays() {
    let run = run("ramp", &[("mu", "0.375".into()), ("run.stop", "60 s".into())], &[]);
    let slid = last(&run, "slid")[0];
    let slope = 15.0_f64.to_radians();
    // Four feet share the load; B = 1e8 N s/m each.
    let creep = 9.8 * slope.sin() / 4e8 * 60.0;
    assert!((slid / creep - 1.0).abs() < 0.2, "{slid:e} {creep:e}");
    assert!(slid < 1e-6);
}

/// A cube without load is a damped oscillator, `m z̈ + c ż + k z = -m g` with the sums of all
/// springs: the solution by Dormand and Prince's method, to which the constraint solver converges
/// with the first power of the step.
#[test]
fn a_cube_on_a_foundation_is_an_oscillator() {
    let (m, g, k, n) = (888.0_f64, 9.8_f64, 1e6_f64, 4.0_f64);
    let c = 1000.0 * n * n;
    let still = [
        ("n", n.to_string()),
        ("modulus", "1e6 Pa".to_owned()),
        ("damping", "1000 N*s/m".to_owned()),
        ("load", "0 N".to_owned()),
    ];
    let height = |recording: &Recording| last(recording, "body.state")[2];
    let (decay, t): (f64, f64) = (c / (2.0 * m), 1.0);
    let omega = (k / m - decay * decay).sqrt();
    let swing = (-decay * t).exp() * ((omega * t).cos() + decay / omega * (omega * t).sin());
    let exact = 0.5 - m * g / k * (1.0 - swing);

    let mut set = still.to_vec();
    set.push(("run.solver", "DormandPrince(rtol: 1e-10, atol: 1e-12)".to_owned()));
    let reference = height(&run("foundation", &set, &[("springs", "forces")]));
    assert!((reference - exact).abs() < 1e-7, "{reference} {exact}");

    let error = |h: f64| {
        let mut set = still.to_vec();
        set.push(("h", seconds(h)));
        (height(&run("foundation", &set, &[])) - exact).abs()
    };
    let errors = [4e-4, 2e-4, 1e-4].map(error);
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((order - 1.0).abs() < 0.15, "order {order}: {errors:?}");
    }
}

/// The effect of the paper's load on the cube, by three methods of integration; the constraint
/// solver differs from them by its damping of the vertical oscillation.
#[test]
fn a_loaded_cube_sinks_equally_under_all_methods() {
    let load = [("n", "6".to_owned()), ("load", "50 N".to_owned())];
    let with = |solver: &str| {
        let mut set = load.to_vec();
        set.push(("run.solver", solver.to_owned()));
        last(&run("foundation", &set, &[("springs", "forces")]), "body.state")
    };
    let fine = with("DormandPrince(rtol: 1e-10, atol: 1e-12)");
    let stiff = with("Bdf(rtol: 1e-9, atol: 1e-12)");
    let constraints = last(&run("foundation", &load, &[]), "body.state");
    let apart = |a: &[f64]| (0..7).map(|i| (a[i] - fine[i]).powi(2)).sum::<f64>().sqrt();
    assert!(apart(&stiff) < 1e-6, "{:e}", apart(&stiff));
    // The oscillation about the static sink, which has decayed at h = 10 ms.
    let amplitude = 888.0 * 9.8 / 1e7;
    assert!(apart(&constraints) < 1.05 * amplitude, "{:e}", apart(&constraints));
}

/// All springs of the cube by each program: the same motion, however many forces are unknown.
#[test]
fn a_cube_sinks_equally_by_all_programs() {
    let set = [("n", "6".to_owned()), ("load", "50 N".to_owned())];
    let by = |program| last(&run("foundation", &set, &[("program", program)]), "body.state");
    let reference = by("velocities");
    for program in ["forces", "least_forces"] {
        for (a, b) in by(program).iter().zip(&reference) {
            assert!((a - b).abs() < 1e-10, "{program}: {a} {b}");
        }
    }
}

/// A hundred balls of steel fall on one another and are a stack after 500 steps of 10 ms.
#[test]
fn a_hundred_balls_form_a_stack() {
    let run = run("stack", &[("n", "100".into()), ("gap", "1 mm".into())], &[]);
    assert_eq!(last(&run, "balls.contacts"), [100.0]);
    let positions = last(&run, "balls.positions");
    let top = positions[3 * 99 + 2];
    assert!((top - 19.9).abs() < 1e-3, "{top}");
}

const METHODS: [&str; 4] = ["constraints", "gauss", "lcp", "compliant"];
const HERTZ: [&str; 3] = ["constraints", "forces", "least_forces"];

/// Balls on one another, by four methods and the other programs of the first: each comes to rest,
/// and each ball sinks into the one below by what its spring carries.
#[test]
fn a_stack_rests_by_all_methods() {
    let (g, radius, modulus) = (9.8_f64, 0.1_f64, 1e11_f64);
    for method in METHODS.iter().chain(&HERTZ[1..]) {
        let set = [("n", "5".into()), ("gap", "1 mm".into())];
        let positions = last(&run("stack", &set, &[("method", method)]), "balls.positions");
        let mut height = -radius;
        for i in 0..5 {
            // Ball i carries itself and the 4 - i above.
            let load = f64::from(5 - i) * g;
            let of_two = if i == 0 { radius } else { 0.5 * radius };
            let depth = match method {
                // Hertz: f = 4/3 E sqrt(R) d^(3/2).
                method if HERTZ.contains(method) => {
                    (0.75 * load / (modulus * of_two.sqrt())).powf(2.0 / 3.0)
                }
                _ => load / 1e8,
            };
            height += 2.0 * radius - depth;
            let z = positions[3 * i as usize + 2];
            assert!((z - height).abs() < 1e-9, "{method}, ball {i}: {z} {height}");
        }
    }
}

/// The wall by four methods: the same positions up to the sink of the compliant springs, and among
/// the others to the micrometre.
#[test]
fn a_wall_rests_equally_by_all_methods() {
    let places = |method: &str| last(&run("wall", &[], &[("method", method)]), "wall.positions");
    let reference = places("constraints");
    for method in &METHODS[1..] {
        // 1e7 N/m, and up to five bricks above one another.
        let bound = if *method == "compliant" { 5e-5 } else { 1e-6 };
        for (i, (x, y)) in places(method).iter().zip(&reference).enumerate() {
            assert!((x - y).abs() < bound, "{method}, coordinate {i}: {x} {y}");
        }
    }
}

/// At 1e9 N/m the wall does not move by a micrometre.
#[test]
fn a_wall_of_stone_stands() {
    let positions = last(&run("wall", &[], &[]), "wall.positions");
    assert!((positions[56] - 0.9).abs() < 1e-6 && (positions[54] + 0.205).abs() < 1e-6);
}

/// The pushed box by four methods: all hold it as long as friction can, and let it slide equally
/// far.
#[test]
fn a_box_is_pushed_equally_by_all_methods() {
    let distance = |method: &str| {
        let run = run("pushed_box", &[], &[("method", method)]);
        last(&run, "box.positions")[0]
    };
    let reference = distance("constraints");
    for method in &METHODS[1..] {
        let slid = distance(method);
        // Of 0.36 m. Steps of 2 ms add what the 40 µs of the compliant box do not.
        let bound = if *method == "compliant" { 2e-3 } else { 1e-6 };
        assert!((slid - reference).abs() < bound, "{method}: {slid} {reference}");
    }
}

/// Balls and boxes dropped into a bin: sixty by constraints, a dozen by the other methods.
#[test]
fn a_pile_comes_to_rest() {
    run("pile", &[], &[]);
    for method in &METHODS[1..] {
        let few = [("n", "12".into()), ("columns", "[2, 2]".into()), ("run.stop", "3 s".into())];
        run("pile", &few, &[("method", method)]);
    }
}
