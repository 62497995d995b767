//! The quadruped of de Paula et al. (2024) as they simulate it: dynamics in parts, the trunk's
//! state in Euler angles or as a quaternion, their contact law at rest and in motion, and the
//! balance of energy.

use legwork_runtime::recording::Recording;
use legwork_runtime::{RunFault, Trials, roundtrip};

use super::harness::{self, Case, Ended, Pairs, last};

const DROP: &str = "diagrams/quadruped/drop.ron";
const PARTS: &str = "diagrams/quadruped/parts.ron";
const TROT: &str = "diagrams/quadruped/trot.ron";
const WEIGHT: f64 = 8.252 * 9.81;
const FEET: [&str; 4] = ["FL_foot", "FR_foot", "HL_foot", "HR_foot"];
const ANGLES: (&str, &str) = ("body.orientation", "EulerAngles");
const EXACT: (&str, &str) = ("run.solver", "DormandPrince(rtol: 1e-10, atol: 1e-11)");
const AT_REST: (&str, &str) = ("velocity", "[\"0 m/s\", \"0 m/s\", \"0 m/s\"]");
/// Tumbles in flight and does not touch the ground before 0.5 s.
const FLIGHT: [(&str, &str); 5] = [
    ("run.stop", "0.4 s"),
    ("drop", "3 m"),
    ("spin", "[\"9 rad/s\", \"1 rad/s\", \"-2 rad/s\"]"),
    // Legs that move as well.
    ("lean", "0.5 rad"),
    ("log", "[\"body.state\"]"),
];

/// Runs to the end or to a fault.
fn attempt(file: &str, set: &[Pairs<'_>]) -> Result<Ended, RunFault> {
    Case { file, set: &set.concat(), ..Case::default() }.attempt()
}

/// Runs to the end; every check of the diagram must hold.
fn run(file: &str, set: &[Pairs<'_>]) -> Recording {
    Case { file, set: &set.concat(), ..Case::default() }.record()
}

fn rows(recording: &Recording, topic: &str) -> Vec<Vec<f64>> {
    harness::rows(recording, topic).into_iter().map(|(_, values)| values).collect()
}

/// Largest difference of two states: of an orientation half the angle between them, whichever sign
/// its quaternion has.
fn apart(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), 37);
    let sign = (3..7).map(|i| a[i] * b[i]).sum::<f64>().signum();
    let of = |i: usize| if (3..7).contains(&i) { sign * b[i] } else { b[i] };
    (0..37).map(|i| (a[i] - of(i)).abs()).fold(0.0, f64::max)
}

/// Largest difference over two runs.
fn apart_ever(a: &Recording, b: &Recording) -> f64 {
    let (a, b) = (rows(a, "body.state"), rows(b, "body.state"));
    assert_eq!(a.len(), b.len());
    a.iter().zip(&b).map(|(a, b)| apart(a, b)).fold(0.0, f64::max)
}

#[test]
fn the_parts_of_the_dynamics_add_up() {
    run(PARTS, &[]);
    run(PARTS, &[&[ANGLES]]);
}

#[test]
fn angles_and_quaternion_agree_in_flight_and_standing() {
    let flight: Pairs<'_> = &FLIGHT;
    let standing: Pairs<'_> = &[("run.stop", "1 s"), ("drop", "1 cm"), AT_REST];
    for set in [flight, standing] {
        let quaternion = run(DROP, &[set, &[EXACT]]);
        let angles = run(DROP, &[set, &[EXACT, ANGLES]]);
        let apart = apart_ever(&quaternion, &angles);
        assert!(apart < 1e-8, "{set:?}: states differ by {apart:.1e}");
    }
    // The flight is a tumble: in the end the trunk is turned by more than 145°.
    let end = last(&run(DROP, &[flight]), "body.state");
    assert!(end[3].abs() < 0.3, "{:?}", &end[3..7]);
}

/// In flight all is smooth: angles are as near to the exact motion as the order of the solver
/// predicts.
#[test]
fn every_solver_keeps_its_order_on_angles() {
    let exact = last(&run(DROP, &[&FLIGHT, &[EXACT]]), "body.state");
    let error_of = |coordinates: Pairs<'_>, solver: &str, step: &str| {
        let solver = [("run.solver", solver), ("run.step", step)];
        let run = attempt(DROP, &[&FLIGHT, &solver, coordinates]).unwrap().recording;
        apart(&last(&run, "body.state"), &exact)
    };
    let error = |solver: &str, step: &str| error_of(&[ANGLES], solver, step);
    let orders =
        [("Euler", 1), ("SemiImplicitEuler", 1), ("ImplicitEuler", 1), ("Heun", 2), ("Rk4", 4)];
    for (solver, order) in orders {
        let (coarse, fine) = (error(solver, "0.25 ms"), error(solver, "0.125 ms"));
        let found = (coarse / fine).log2();
        assert!((found - f64::from(order)).abs() < 0.2, "{solver}: order {found}, {coarse:e}");
    }
    // The tolerance of a step bounds these, not a power of its length; a quaternion does no better.
    for solver in ["DormandPrince", "Esdirk", "Bdf"] {
        let of = |coordinates: Pairs<'_>, rtol: &str| {
            error_of(coordinates, &format!("{solver}(rtol: {rtol}, atol: {rtol})"), "5 ms")
        };
        let (coarse, fine) = (of(&[ANGLES], "1e-6"), of(&[ANGLES], "1e-8"));
        let quaternion = of(&[], "1e-8");
        assert!(fine < 0.05 * coarse, "{solver}: {coarse:.1e}, {fine:.1e}");
        assert!(fine < 2.0 * quaternion, "{solver}: {fine:.1e}, as quaternion {quaternion:.1e}");
    }
}

/// The same trot in both coordinates: they differ by the error of the solver.
#[test]
fn in_trot_the_difference_shrinks_with_the_step() {
    let trot = |solver: &str, step: &str, coordinates: &[(&str, &str)]| {
        // Forces of each stage, not of the step's end.
        let contact = ("variants.contact.default", "hertz_explicit");
        let set = [("run.stop", "0.8 s"), ("run.solver", solver), ("run.step", step), contact];
        attempt(TROT, &[&set, coordinates]).unwrap().recording
    };
    let difference = |solver: &str, step: &str| {
        let end = |coordinates: &[_]| last(&trot(solver, step, coordinates), "body.state");
        apart(&end(&[]), &end(&[ANGLES]))
    };
    // Above 0.125 ms the friction of a landing foot chatters, and there is no order.
    let order = |solver: &str| {
        let [coarse, fine] = ["0.125 ms", "0.0625 ms"].map(|step| difference(solver, step));
        ((coarse / fine).log2(), coarse)
    };
    let (found, coarse) = order("SemiImplicitEuler");
    assert!((found - 1.0).abs() < 0.1 && coarse < 1e-5, "order {found}, {coarse:.1e}");
    let (found, coarse) = order("Rk4");
    assert!(found > 3.8 && coarse < 1e-8, "order {found}, {coarse:.1e}");
}

#[test]
fn near_90_degrees_of_pitch_is_a_fault_that_says_what_to_do() {
    let spin = [("drop", "3 m"), ("spin", "[\"0 rad/s\", \"8 rad/s\", \"0 rad/s\"]")];
    let rpy = [("rpy", "[\"1 deg\", \"0 deg\", \"0 deg\"]")];
    let solvers = [
        ("DormandPrince", "5 ms"),
        ("Bdf", "5 ms"),
        ("SemiImplicitEuler", "1 ms"),
        ("Rk4", "1 ms"),
    ];
    for (solver, step) in solvers {
        let solver = [("run.solver", solver), ("run.step", step)];
        let Err(fault) = attempt(DROP, &[&spin, &rpy, &solver, &[ANGLES]]) else {
            panic!("{solver:?}: no fault")
        };
        let text = fault.to_string();
        assert_eq!(fault.block, "body", "{text}");
        assert!(text.contains("pitch of the base of `go` is 89."), "{text}");
        assert!(text.ends_with("take `orientation: Quaternion`, which has no such pole"), "{text}");
        attempt(DROP, &[&spin, &rpy, &solver, &[("run.stop", "0.4 s")]]).unwrap();
    }
}

#[test]
fn angles_are_restored_from_snapshots() {
    for solver in ["SemiImplicitEuler", "DormandPrince", "Bdf"] {
        let set = [ANGLES, ("run.solver", solver), ("run.step", "1 ms"), ("run.stop", "50 ms")];
        let trials = Trials { ticks: 8, ..Trials::default() };
        let set = [&FLIGHT[1..], &set].concat();
        let case = Case { file: DROP, set: &set, ..Case::default() };
        roundtrip(&case.program(), trials).unwrap();
    }
}

/// At rest `f_n = K d^e` at each foot, and `d = (m g/4 K)^(1/e)` of all if the feet stand so that
/// each carries a quarter.
#[test]
fn at_rest_feet_sink_as_the_law_has_it() {
    let standing = |law: Pairs<'_>, lean: f64| {
        let lean = format!("{lean} rad");
        let set = [
            ("lean", lean.as_str()),
            ("drop", "0 m"),
            ("rpy", "[\"0 rad\", \"0 rad\", \"0 rad\"]"),
            AT_REST,
            ("spin", "[\"0 rad/s\", \"0 rad/s\", \"0 rad/s\"]"),
            ("run.stop", "8 s"),
            ("run.step", "50 ms"),
        ];
        let run = run(DROP, &[law, &set]);
        let loads: Vec<f64> = last(&run, "contact.f").chunks_exact(3).map(|f| f[2]).collect();
        let depths = FEET.map(|foot| -last(&run, &format!("foot[{foot}].point.contact.gap"))[0]);
        (loads, depths)
    };
    let laws: [(Pairs<'_>, f64, f64); 3] = [
        (&[], 1.8e6, 1.5),
        (&[("exponent", "1"), ("stiffness", "4e4")], 4e4, 1.0),
        (&[("exponent", "2.2"), ("stiffness", "4e8")], 4e8, 2.2),
    ];
    for (law, stiffness, exponent) in laws {
        let imbalance = |lean: f64| {
            let (loads, _) = standing(law, lean);
            (loads[0] + loads[1] - loads[2] - loads[3]) / WEIGHT
        };
        // The secant's rule puts the feet under the centre of mass.
        let (mut a, mut b) = (0.0, 0.05);
        let (mut f_a, mut f_b) = (imbalance(a), imbalance(b));
        for _ in 0..3 {
            let next = b - f_b * (b - a) / (f_b - f_a);
            (a, f_a) = (b, f_b);
            (b, f_b) = (next, imbalance(next));
        }
        for lean in [0.0, b] {
            let (loads, depths) = standing(law, lean);
            let sum: f64 = loads.iter().sum();
            assert!((sum / WEIGHT - 1.0).abs() < 1e-6, "{sum} N");
            for (load, depth) in loads.iter().zip(depths) {
                let expected = (load / stiffness).powf(1.0 / exponent);
                assert!((depth / expected - 1.0).abs() < 1e-6, "{depth} m for {expected} m");
            }
        }
        let expected = (WEIGHT / (4.0 * stiffness)).powf(1.0 / exponent);
        for depth in standing(law, b).1 {
            assert!((depth / expected - 1.0).abs() < 1e-4, "{depth} m for {expected} m");
        }
    }
}

/// Gap, velocity and force of a foot, in contact axes.
type Contact = (f64, Vec<f64>, Vec<f64>);

/// The feet in each row of a run.
fn contacts(run: &Recording) -> Vec<[Contact; 4]> {
    let series = FEET.map(|foot| {
        let of = |field: &str| rows(run, &format!("foot[{foot}].point.contact.{field}"));
        (of("gap"), of("velocity"))
    });
    let contact = |(row, f): (usize, Vec<f64>)| {
        std::array::from_fn(|i| {
            let (gaps, velocities) = &series[i];
            (gaps[row][0], velocities[row].clone(), f[3 * i..3 * i + 3].to_vec())
        })
    };
    rows(run, "contact.f").into_iter().enumerate().map(contact).collect()
}

#[test]
fn contacts_push_within_the_cone_and_against_slip() {
    let mu = 0.5;
    for per_axis in [false, true] {
        let shape = if per_axis { "true" } else { "false" };
        let run = run(DROP, &[&[("contact.per_axis", shape), ("run.step", "1 ms")]]);
        let (mut slipped, mut lifted, mut diagonal) = (0, 0, 0.0_f64);
        let mut touched = [false; 4];
        for feet in contacts(&run) {
            for (foot, (gap, v, f)) in feet.iter().enumerate() {
                assert!(f[2] >= 0.0, "a foot is pulled by {} N", f[2]);
                if *gap >= 0.0 {
                    assert_eq!(f[..], [0.0; 3], "a force over a gap of {gap} m");
                    lifted += usize::from(touched[foot]);
                    continue;
                }
                touched[foot] = true;
                let (slip, friction) = (v[0].hypot(v[1]), f[0].hypot(f[1]));
                let reach = if per_axis { f[0].abs().max(f[1].abs()) } else { friction };
                assert!(reach <= mu * f[2] * (1.0 + 1e-12), "{reach} N of {} N", f[2]);
                if per_axis {
                    assert!(f[0] * v[0] <= 0.0 && f[1] * v[1] <= 0.0, "{f:?} at {v:?}");
                } else {
                    let (along, across) = (f[0] * v[0] + f[1] * v[1], f[0] * v[1] - f[1] * v[0]);
                    assert!(along <= 0.0 && across.abs() <= 1e-12 * friction * slip, "{f:?} {v:?}");
                }
                if slip > 0.15 && f[2] > 1.0 {
                    slipped += 1;
                    diagonal = diagonal.max(friction / (mu * f[2]));
                }
            }
        }
        assert!(slipped > 20 && lifted > 20, "{slipped} rows slip, {lifted} are lifted");
        // Sliding on both axes, the law by axes is stronger than the isotropic one, up to √2.
        if per_axis {
            assert!(diagonal > 1.3, "{diagonal}");
        } else {
            assert!((diagonal - 1.0).abs() < 1e-12, "{diagonal}");
        }
    }
}

/// Kinetic, potential and elastic energy and the losses of damping and friction: the start's and
/// the work of the motors, to 1e-6 and to the tolerance.
#[test]
fn energy_is_accounted_for() {
    let laws: [Pairs<'_>; 4] = [
        &[],
        &[("contact.per_axis", "true"), ANGLES],
        &[("exponent", "1"), ("stiffness", "4e4")],
        &[("run.solver", "Esdirk(rtol: 1e-9, atol: 1e-10)")],
    ];
    for law in laws {
        let run = run(DROP, &[law]);
        let balance = rows(&run, "balance");
        let start = balance[0][0];
        let worst = balance.iter().map(|row| (row[0] / start - 1.0).abs()).fold(0.0, f64::max);
        assert!(worst < 1e-6, "{law:?}: {worst:.1e} of {start} J");
        // None of the terms is zero.
        let elastic =
            rows(&run, "contact.energy").iter().map(|u| u.iter().sum()).fold(0.0, f64::max);
        let (lost, work) = (last(&run, "lost.y")[0], last(&run, "work.y")[0]);
        assert!(elastic > 0.05 && lost > 1.0 && work.abs() > 0.1, "{elastic} {lost} {work} J");
    }
}
