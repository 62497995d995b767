//! Laws of linear systems that need no reference.

use legwork_linear::{
    Error, Mat, System, c64, controllability, exponential, minimal, mode, observability, place,
    regulator, root_locus, step_response, zeros,
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
    assert!(error.to_string().contains("no input moves the pole 0.700000"), "{error}");
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
    assert!(told(&[real(-1.0), real(-1.0)]).contains("2 times"));
    let nan = Mat::from_fn(2, 2, |_, _| f64::NAN);
    let bad = System::new(nan, one.b.clone(), one.c.clone(), one.d.clone(), None);
    assert_eq!(bad.expect_err("not finite"), Error::NotFinite("A"));
    let r = Mat::from_fn(1, 1, |_, _| -1.0);
    let error = regulator(&one, &Mat::zeros(2, 2), &r, None).expect_err("negative");
    assert_eq!(error, Error::Weight("a symmetric, positive definite R"));
}
