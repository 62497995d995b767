//! Laws of linear systems that need no reference.

use legwork_linear::{
    Error, Fixed, Mat, System, c64, controllability, exponential, filter, minimal, mode,
    observability, place, regulator, root_locus, sampled, split, step_response, zeros,
};

fn system(a: &[&[f64]], b: &[&[f64]], c: &[&[f64]], period: Option<f64>) -> System {
    let of = |rows: &[&[f64]]| {
        Mat::from_fn(rows.len(), rows.first().map_or(0, |row| row.len()), |i, j| rows[i][j])
    };
    let (a, b, c) = (of(a), of(b), of(c));
    let d = Mat::zeros(c.nrows(), b.ncols());
    System::new(a, b, c, d, period).expect("a system")
}

/// A mode that no input moves is counted out and named, whatever the coordinates.
#[test]
fn what_no_input_reaches_is_named() {
    // x₃ is alone; a change of coordinates hides it.
    let a = Mat::from_fn(3, 3, |i, j| [[0.0, 1.0, 0.0], [-2.0, -3.0, 0.0], [0.0, 0.0, 0.7]][i][j]);
    let t = Mat::from_fn(3, 3, |i, j| [[1.0, 2.0, -1.0], [0.3, 1.0, 4.0], [2.0, -1.0, 1.5]][i][j]);
    let ti = exponential(&Mat::zeros(3, 3)).expect("1");
    let ti = {
        use faer::linalg::solvers::Solve as _;
        t.partial_piv_lu().solve(&ti)
    };
    let b = &t * Mat::from_fn(3, 1, |i, _| [0.0, 1.0, 0.0][i]);
    let c = Mat::from_fn(1, 3, |_, j| [1.0, 0.0, 1.0][j]) * &ti;
    let all = System::new(&t * a * &ti, b, c, Mat::zeros(1, 1), None).expect("a system");
    let reach = controllability(&all, 1e-12).expect("the staircase ends");
    assert_eq!(reach.dimension, 2);
    assert!((reach.fixed[0].re - 0.7).abs() < 1e-12, "{reach:?}");
    assert!(reach.dropped < 1e-13 && reach.kept > 1e-3, "{reach:?}");
    let seen = observability(&all, 1e-12).expect("the staircase ends");
    assert_eq!((seen.dimension, seen.fixed.len()), (3, 0));
    // Without it the transfer function is the same.
    let less = minimal(&all, 1e-12).expect("the staircase ends");
    assert_eq!(less.states(), 2);
    for s in [c64::new(0.3, 2.0), c64::new(-5.0, 0.1)] {
        let (a, b) = (all.at(s)[(0, 0)], less.at(s)[(0, 0)]);
        assert!((a.re - b.re).hypot(a.im - b.im) < 1e-12, "{a} against {b}");
    }
    let wanted = [c64::new(-1.0, 0.0), c64::new(-2.0, 0.0), c64::new(-3.0, 0.0)];
    assert!(place(&all, &wanted).is_err());
    // The unstable one has no regulator, and the message says which pole it is.
    let (q, r) = (Mat::<f64>::identity(3, 3), Mat::<f64>::identity(1, 1));
    let error = regulator(&all, &q, &r, None).expect_err("0.7 stays");
    assert!(error.to_string().contains("no input moves the unstable pole 0.700000"), "{error}");
}

/// A weight that sees nothing of a pole on the border leaves it there: no solution.
#[test]
fn an_unweighted_integrator_has_no_regulator() {
    let one = system(&[&[0.0]], &[&[1.0]], &[&[1.0]], None);
    let (q, r) = (Mat::<f64>::zeros(1, 1), Mat::<f64>::identity(1, 1));
    let error = regulator(&one, &q, &r, None).expect_err("no weight");
    assert!(error.to_string().contains("no weight sees the pole"), "{error}");
}

/// Symmetric root locus of the double integrator: q = 1, r = 1/ω⁴ gives s = ω (−1 ± i)/√2.
#[test]
fn the_double_integrator_gets_butterworth_poles() {
    let one = system(&[&[0.0, 1.0], &[0.0, 0.0]], &[&[0.0], &[1.0]], &[&[1.0, 0.0]], None);
    let q = Mat::from_fn(2, 2, |i, j| if i + j == 0 { 1.0 } else { 0.0 });
    for omega in [1e-3_f64, 1.0, 250.0] {
        let r = Mat::from_fn(1, 1, |_, _| omega.powi(-4));
        let found = regulator(&one, &q, &r, None).expect("a regulator");
        let exact = [omega * omega, omega * std::f64::consts::SQRT_2];
        for (j, exact) in exact.into_iter().enumerate() {
            let error = (found.gain[(0, j)] / exact - 1.0).abs();
            assert!(error < 1e-10, "ω = {omega}: {:?}", found.gain);
        }
    }
}

/// Zeros stay under state feedback and output injection; inputs that exceed outputs have none in
/// general.
#[test]
fn feedback_moves_no_zero() {
    let a: &[&[f64]] = &[&[0.1, 1.0, -0.4], &[-2.0, -0.3, 0.6], &[0.5, 0.2, -1.0]];
    let one = system(a, &[&[0.2], &[1.0], &[-0.3]], &[&[1.0, 0.5, -0.2]], None);
    let before = zeros(&one, 1e-12).expect("zeros");
    assert_eq!(before.len(), 2);
    let gain = Mat::from_fn(1, 3, |_, j| [3.0, -1.0, 2.0][j]);
    let closed = System { a: &one.a - &one.b * gain, ..one.clone() };
    let after = zeros(&closed, 1e-12).expect("zeros");
    for (a, b) in before.iter().zip(&after) {
        assert!((a.re - b.re).hypot(a.im - b.im) < 1e-11, "{before:?} against {after:?}");
    }
    let wide = system(a, &[&[1.0, 0.3], &[0.0, 1.0], &[0.7, 0.0]], &[&[1.0, 0.0, 0.2]], None);
    assert!(zeros(&wide, 1e-12).expect("zeros").is_empty());
}

/// `s² + s + k`: branches meet at k = 1/4 and leave the real axis there.
#[test]
fn branches_of_a_locus_are_those_of_the_quadratic() {
    let one = system(&[&[0.0, 1.0], &[0.0, -1.0]], &[&[0.0], &[1.0]], &[&[1.0, 0.0]], None);
    let locus = root_locus(&one, 500).expect("a locus");
    assert!(locus.gains.len() > 20);
    for (k, poles) in locus.gains.iter().zip(&locus.poles) {
        for s in poles {
            let left = s * s + s + *k;
            assert!(left.re.hypot(left.im) < 1e-7 * (1.0 + k), "k = {k}: {s}");
        }
    }
}

/// The step response of a first-order lag, between samples exactly.
#[test]
fn a_lag_rises_exponentially() {
    let one = system(&[&[-2.0]], &[&[3.0]], &[&[1.0]], None);
    let (times, rows) = step_response(&one, 0, 2.0, 41).expect("a response");
    for (t, row) in times.iter().zip(&rows) {
        assert!((row[0] - 1.5 * (1.0 - (-2.0 * t).exp())).abs() < 1e-14);
    }
}

/// The exponential of a rotation is one, however far it turns.
#[test]
fn the_exponential_of_a_skew_matrix_turns() {
    for angle in [1e-9_f64, 0.5, 3.0, 1000.0] {
        let a = Mat::from_fn(2, 2, |i, j| [[0.0, -angle], [angle, 0.0]][i][j]);
        let e = exponential(&a).expect("finite");
        let error = (e[(0, 0)] - angle.cos()).abs().max((e[(1, 0)] - angle.sin()).abs());
        assert!(error < 1e-12 * (1.0 + angle), "{angle}: {error:.1e}");
    }
}

/// A sampled pole tells the motion of the continuous one.
#[test]
fn a_sampled_pole_has_the_damping_of_the_continuous_one() {
    let s = c64::new(-0.6, 4.0);
    let z = c64::new((-0.06_f64).exp() * 0.4_f64.cos(), (-0.06_f64).exp() * 0.4_f64.sin());
    let (a, b) = (mode(s, None), mode(z, Some(0.1)));
    assert!((a.frequency - b.frequency).abs() < 1e-12 && (a.damping - b.damping).abs() < 1e-12);
}

#[test]
fn bad_requests_are_told() {
    let one = system(&[&[0.0, 1.0], &[0.0, 0.0]], &[&[0.0], &[1.0]], &[&[1.0, 0.0]], None);
    let real = |x: f64| c64::new(x, 0.0);
    let told = |poles: &[c64]| place(&one, poles).expect_err("no placement").to_string();
    assert!(told(&[real(-1.0)]).contains("expected 2 poles"), "{}", told(&[real(-1.0)]));
    assert!(told(&[c64::new(-1.0, 1.0), real(-2.0)]).contains("conjugate -1 - 1 i"));
    let nan = Mat::from_fn(2, 2, |_, _| f64::NAN);
    let bad = System::new(nan, one.b.clone(), one.c.clone(), one.d.clone(), None);
    assert_eq!(bad.expect_err("not finite"), Error::NotFinite("A"));
    let r = Mat::from_fn(1, 1, |_, _| -1.0);
    let error = regulator(&one, &Mat::zeros(2, 2), &r, None).expect_err("negative");
    let said = "expected R to be positive definite, found the eigenvalue -1.000000e0";
    assert_eq!(error.to_string(), said);
}

/// Least energy: a pole a > 0 that no weight sees is mirrored, K = 2 a / b, and z = e^{aT} of a
/// sampled system moves to 1/z, K = (z − 1/z) / b. A stable pole is not moved.
#[test]
fn an_unstable_pole_without_weight_is_mirrored() {
    let r = Mat::<f64>::identity(1, 1);
    for (pole, b) in [
        (1.0, 1.0),
        (0.3, -2.0),
        (25.0, 0.01),
        (1e-6, 1.0),
        (1e-3, 40.0),
        (7.5, 3.0),
        (1e4, 1.0),
        (2.0, 1e-5),
        (0.01, 1e6),
        (-1.0, 1.0),
        (-40.0, 2.0),
    ] {
        let one = system(&[&[pole]], &[&[b]], &[&[1.0]], None);
        let exact = if pole > 0.0 { 2.0 * pole / b } else { 0.0 };
        let found = regulator(&one, &Mat::zeros(1, 1), &r, None).expect("a regulator");
        let error = (found.gain[(0, 0)] - exact).abs() / exact.abs().max(1e-300);
        assert!(error < 1e-9 || exact == found.gain[(0, 0)], "{pole}, {b}: {:?}", found.gain);
        let z = (0.02 * pole).exp();
        if !(1e-9..1e9).contains(&z) {
            continue;
        }
        let one = system(&[&[z]], &[&[b]], &[&[1.0]], Some(0.02));
        let exact = if z > 1.0 { (z - 1.0 / z) / b } else { 0.0 };
        let found = regulator(&one, &Mat::zeros(1, 1), &r, None).expect("a regulator");
        let error = (found.gain[(0, 0)] - exact).abs() / exact.abs().max(1e-300);
        assert!(error < 1e-8 || exact == found.gain[(0, 0)], "{z}, {b}: {:?}", found.gain);
    }
}

/// Poles on the border of stability fail with the right reason in any coordinates.
#[test]
fn only_the_border_of_stability_has_no_solution() {
    let turn = [[1.0, 2.0, -1.0], [0.3, 1.0, 4.0], [2.0, -1.0, 1.5]];
    let t = Mat::from_fn(3, 3, |i, j| turn[i][j]);
    let ti = legwork_linear::pseudoinverse(&t, 1e-14).expect("regular");
    let said = |modal: [[f64; 3]; 3], b: [f64; 3], seen: [f64; 3], period: Option<f64>| {
        let a = &t * Mat::from_fn(3, 3, |i, j| modal[i][j]) * &ti;
        let b = &t * Mat::from_fn(3, 1, |i, _| b[i]);
        let c = Mat::from_fn(1, 3, |_, j| seen[j]) * &ti;
        let q = c.transpose() * &c;
        let one = System::new(a, b, c, Mat::zeros(1, 1), period).expect("a system");
        match regulator(&one, &q, &Mat::identity(1, 1), None) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    };
    let of = |x: f64| [[x, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 2.0]];
    let turning = [[0.0, 3.0, 0.0], [-3.0, 0.0, 0.0], [0.0, 0.0, -1.0]];
    let (all, rest) = ([1.0, 1.0, 1.0], [0.0, 1.0, 1.0]);
    for (name, message, expected) in [
        ("integrator", said(of(0.0), all, all, None), ""),
        ("unseen integrator", said(of(0.0), all, rest, None), "no weight sees the pole 0.0"),
        ("unmoved integrator", said(of(0.0), rest, all, None), "no input moves the pole 0.0"),
        ("unseen, nearly", said(of(1e-7), all, rest, None), ""),
        ("unseen, nearly, stable", said(of(-1e-7), all, rest, None), ""),
        ("unmoved, nearly, stable", said(of(-1e-7), rest, all, None), ""),
        ("unmoved, unstable", said(of(1e-7), rest, all, None), "no input moves the unstable pole"),
        ("unseen, unstable", said(of(0.5), all, rest, None), ""),
        ("all unseen", said(of(0.5), all, [0.0; 3], None), ""),
        (
            "unseen turning",
            said(turning, all, [0.0, 0.0, 1.0], None),
            "no weight sees the pole 0.0",
        ),
        ("unmoved turning", said(turning, [0.0, 0.0, 1.0], all, None), "no input moves the pole"),
        ("seen turning", said(turning, all, all, None), ""),
        ("sampled, unseen", said(of(1.0), [1.0, 0.3, 1.0], rest, Some(0.1)), "no weight sees the"),
        (
            "sampled, unseen, unstable",
            said(of(1.3), [1.0, 0.3, 1.0], [0.0, 1.0, 0.0], Some(0.1)),
            "",
        ),
        ("sampled, unmoved", said(of(1.0), rest, all, Some(0.1)), "no input moves the pole 1.0"),
    ] {
        let fits =
            if expected.is_empty() { message.is_empty() } else { message.contains(expected) };
        assert!(fits, "{name}: expected `{expected}`, found `{message}`");
    }
}

/// `(s + p)ⁿ` of a chain of integrators has binomial gains and one Jordan block; two inputs repeat
/// a pole of four states four times.
#[test]
fn poles_are_repeated_as_far_as_inputs_reach() {
    for (n, p) in [(1, 3.0), (2, 3.0), (3, 0.5), (4, 2.0), (5, 1.0), (6, 1.5), (7, 1.0), (8, 2.0)] {
        let a = Mat::from_fn(n, n, |i, j| if j == i + 1 { 1.0 } else { 0.0 });
        let b = Mat::from_fn(n, 1, |i, _| if i + 1 == n { 1.0 } else { 0.0 });
        let one = System::new(a, b, Mat::identity(n, n), Mat::zeros(n, 1), None).expect("a system");
        let gain = place(&one, &vec![c64::new(-p, 0.0); n]).expect("a gain");
        let mut binomial = 1.0;
        for k in 0..n {
            let exact = binomial * f64::powi(p, (n - k) as i32);
            assert!((gain[(0, k)] / exact - 1.0).abs() < 1e-10, "{n}, {p}: {gain:?}");
            binomial *= (n - k) as f64 / (k + 1) as f64;
        }
    }
    let a: &[&[f64]] = &[
        &[0.0, 1.0, 0.0, 0.2],
        &[2.0, 0.0, 0.0, 0.0],
        &[0.1, 0.0, 0.0, 1.0],
        &[0.0, 0.3, -4.0, 0.0],
    ];
    let b: &[&[f64]] = &[&[0.0, 0.0], &[1.0, 0.2], &[0.0, 0.0], &[0.0, 1.0]];
    let one = system(a, b, &[&[1.0, 0.0, 0.0, 0.0]], None);
    let (real, pair) = (c64::new(-2.0, 0.0), [c64::new(-1.0, 2.0), c64::new(-1.0, -2.0)]);
    for poles in [vec![real; 4], [pair, pair].concat(), vec![real, real, real, c64::new(-5.0, 0.0)]]
    {
        let gain = place(&one, &poles).expect("a gain");
        let closed = &one.a - &one.b * gain;
        let found = legwork_linear::eigenvalues(closed.as_ref()).expect("poles");
        let z = c64::new(3.0, 4.0);
        let product = |all: &[c64]| all.iter().map(|pole| z - *pole).product::<c64>();
        let apart = (product(&found) / product(&poles) - c64::new(1.0, 0.0)).norm();
        assert!(apart < 1e-9, "{poles:?}: {apart:.1e}");
    }
}

#[test]
fn poles_that_are_not_finite_are_refused() {
    let one = system(&[&[0.0, 1.0], &[0.0, 0.0]], &[&[0.0], &[1.0]], &[&[1.0, 0.0]], Some(1e-3));
    for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for poles in [
            [c64::new(wrong, 0.0), c64::new(0.5, 0.0)],
            [c64::new(0.5, wrong), c64::new(0.5, -wrong)],
            [c64::new(wrong, wrong), c64::new(wrong, -wrong)],
        ] {
            assert_eq!(place(&one, &poles).expect_err("not finite"), Error::NotFinite("a pole"));
        }
    }
}

#[test]
fn weights_and_covariances_are_symmetric_and_semidefinite() {
    let one = system(&[&[0.0, 1.0], &[0.0, 0.0]], &[&[0.0], &[1.0]], &[&[1.0, 0.0]], None);
    let of = |m: [[f64; 2]; 2]| Mat::from_fn(2, 2, |i, j| m[i][j]);
    let unit = Mat::<f64>::identity(1, 1);
    for (q, expected) in [
        ([[1.0, 2.0], [2.0, 1.0]], "to be positive semidefinite, found the eigenvalue -1.000000e0"),
        ([[1.0, 0.0], [0.0, -1e-12]], "to be positive semidefinite, found the eigenvalue -1.0000"),
        ([[1.0, 0.5], [0.4, 1.0]], "to be symmetric, found 0.5 at (0, 1) and 0.4 at (1, 0)"),
        ([[4.0, 2.0], [2.0, 1.0]], ""),
        ([[1e8, 1e4], [1e4, 1.0]], ""),
    ] {
        let weighted = regulator(&one, &of(q), &unit, None).map(|_| ());
        let driven = filter(&one, &of(q), &unit).map(|_| ());
        for (what, result) in [("Q", weighted), ("the covariance of process noise", driven)] {
            let message = result.err().map_or(String::new(), |error| error.to_string());
            let expected = match expected {
                "" => String::new(),
                expected => format!("expected {what} {expected}"),
            };
            assert!(
                message.starts_with(&expected) && message.is_empty() == expected.is_empty(),
                "{message}"
            );
        }
    }
}

/// A tie: two masses on one input, whose distance no input moves. The states z are those without
/// the tie; a state that moved along the tie alone is at rest.
#[test]
fn what_no_input_moves_is_taken_out_along_its_own_motion() {
    // u moves x₁, v₁; y is held, and a spring pulls x₁ towards y.
    let a: &[&[f64]] = &[&[0.0, 1.0, 0.0], &[-4.0, -0.1, 4.0], &[0.0, 0.0, 0.0]];
    let one = system(a, &[&[0.0], &[1.0], &[0.0]], &[&[1.0, 0.0, 0.0]], None);
    for plant in [one.clone(), sampled(&one, 0.05).expect("sampled")] {
        let found = split(&plant, Fixed::Lasting, 1e-9).expect("split");
        assert_eq!((found.poles.len(), found.system.states()), (1, 2));
        let at = if plant.period.is_some() { 1.0 } else { 0.0 };
        assert!((found.poles[0].re - at).abs() < 1e-12, "{:?}", found.poles);
        // With the held end at 1 the mass is at rest at 1.
        let along = Mat::from_fn(3, 1, |i, _| [1.0, 0.0, 1.0][i]);
        assert!((&found.to * &along).norm_max() < 1e-12, "{:?}", found.to);
        assert!((&found.to * &found.from - Mat::<f64>::identity(2, 2)).norm_max() < 1e-12);
        assert!(found.fixed[(0, 0)].abs() + found.fixed[(0, 1)].abs() < 1e-12);
    }
    // A stable direction is taken out only with `Fixed::All`.
    let a: &[&[f64]] = &[&[0.5, 1.0], &[0.0, -2.0]];
    let one = system(a, &[&[1.0], &[0.0]], &[&[1.0, 0.0]], None);
    let lasting = split(&one, Fixed::Lasting, 1e-9).expect("split");
    let all = split(&one, Fixed::All, 1e-9).expect("split");
    assert_eq!((lasting.poles.len(), all.poles.len()), (0, 1));
    assert!((all.poles[0].re + 2.0).abs() < 1e-9);
}
