//! Laws of the swing along a clamped cubic spline.

use std::f64::consts::PI;

use legwork_control::{FootPath, Step, StepShape, Swing, SwingCurve, SwingSpline, clamped_spline};

const SHAPE: StepShape =
    StepShape { height: 0.06, depth: 0.0, lift_off_speed: 0.2, touch_down_speed: 0.1 };
const SWING: Swing = Swing {
    from: [-0.06, 0.01],
    to: [0.05, -0.02],
    leaving: [-0.5, 0.1],
    arriving: [-0.4, 0.05],
    duration: 0.15,
};

/// The curve and its first two derivatives: the second from differences of the first, exact for
/// cubics but for rounding.
fn derivatives(at: impl Fn(f64) -> (f64, f64), s: f64, step: f64) -> [f64; 3] {
    let (value, slope) = at(s);
    let [one, two] = [1.0, 2.0].map(|n| at(s + n * step).1);
    [value, slope, (4.0 * one - two - 3.0 * slope) / (2.0 * step)]
}

#[test]
fn a_clamped_spline_interpolates_with_its_end_slopes_and_two_derivatives_everywhere() {
    let all = [(0.0, 0.3), (0.2, -1.0), (0.7, 2.0), (1.0, 0.5)];
    let ends = [1.5, -4.0];
    for count in 2..=4 {
        let points = &all[..count];
        let at = |s: f64| clamped_spline(points, ends, s);
        for (s, value) in points {
            assert!((at(*s).0 - value).abs() < 1e-14, "{count} points: {value} at {s}");
        }
        let slopes = [at(points[0].0).1, at(points[count - 1].0).1];
        for (found, wanted) in slopes.iter().zip(ends) {
            assert!((found - wanted).abs() < 1e-12, "{count} points: {slopes:?}");
        }
        for (s, _) in &points[1..count - 1] {
            // From the right, and from the left with a step backward that ends before the point.
            let right = derivatives(at, *s, 1e-3);
            let left = derivatives(at, s - 1e-12, -1e-3);
            for (a, b) in right.iter().zip(left) {
                assert!((a - b).abs() < 1e-7 * (1.0 + a.abs()), "{right:?} {left:?} at {s}");
            }
        }
    }
}

/// A cubic is its own spline.
#[test]
fn a_clamped_spline_through_points_of_a_cubic_is_the_cubic() {
    let cubic = |s: f64| (1.0 + s * (-2.0 + s * (0.5 + 3.0 * s)), -2.0 + s * (1.0 + 9.0 * s));
    let points = [0.1, 0.4, 0.55, 0.9].map(|s| (s, cubic(s).0));
    for i in 0..=20 {
        let s = 0.1 + 0.04 * f64::from(i);
        let found = clamped_spline(&points, [cubic(0.1).1, cubic(0.9).1], s);
        let wanted = cubic(s);
        assert!((found.0 - wanted.0).abs() < 1e-13 && (found.1 - wanted.1).abs() < 1e-12);
    }
}

#[test]
fn a_swing_goes_through_its_points_and_ends_with_the_velocities_of_the_stances() {
    let spline = SwingSpline::new(&SWING);
    let at = |s: f64| spline.at(&SHAPE, SWING.duration, s);
    let [x0, y0] = SWING.from;
    let [x1, y1] = SWING.to;
    let points = [[x0, y0, 0.0], [x0, y0, SHAPE.height], [x1, y1, SHAPE.height], [x1, y1, 0.0]];
    for (i, wanted) in points.iter().enumerate() {
        let found = at(i as f64 / 3.0).position;
        for (a, b) in found.iter().zip(wanted) {
            assert!((a - b).abs() < 1e-14, "point {i}: {found:?}");
        }
    }
    let ends = [
        (0.0, [SWING.leaving[0], SWING.leaving[1], SHAPE.lift_off_speed]),
        (1.0, [SWING.arriving[0], SWING.arriving[1], -SHAPE.touch_down_speed]),
    ];
    for (s, wanted) in ends {
        let velocity = at(s).slope.map(|slope| slope / SWING.duration);
        for (a, b) in velocity.iter().zip(wanted) {
            assert!((a - b).abs() < 1e-12, "at {s}: {velocity:?}");
        }
    }
    // Without speeds at the ends the middle is a quarter higher than the points.
    let still = StepShape { lift_off_speed: 0.0, touch_down_speed: 0.0, ..SHAPE };
    let top = spline.at(&still, SWING.duration, 0.5).position[2];
    assert!((top - 1.25 * SHAPE.height).abs() < 1e-14, "{top}");
}

/// The rest of a spline is the spline through the remaining points.
#[test]
fn a_plan_from_within_with_the_same_end_is_the_same_curve() {
    let whole = SwingSpline::new(&SWING);
    for start in [0.1, 0.2, 0.4, 0.55, 0.7] {
        let elsewhere = Swing { to: [0.5, 0.5], ..SWING };
        let mut part = whole;
        part.redirect(&elsewhere, start);
        part.redirect(&SWING, start);
        assert_eq!(part.start, start);
        for i in 0..=10 {
            let s = start + (1.0 - start) * f64::from(i) / 10.0;
            let [a, b] = [whole, part].map(|curve| curve.at(&SHAPE, SWING.duration, s));
            for (a, b) in a.position.iter().zip(b.position) {
                assert!((a - b).abs() < 1e-13, "from {start} at {s}: {a} {b}");
            }
        }
    }
}

#[test]
fn a_swing_that_is_redirected_goes_on_without_a_jump_to_its_new_end() {
    let other = Swing { to: [0.08, 0.03], arriving: [-0.3, 0.0], ..SWING };
    for i in 0..=15 {
        let s = 0.05 * f64::from(i);
        let before = SwingSpline::new(&SWING);
        let mut after = before;
        after.redirect(&other, s);
        let [a, b] = [before, after].map(|curve| curve.at(&SHAPE, SWING.duration, s));
        for (a, b) in a.position.iter().chain(&a.slope).zip(b.position.iter().chain(&b.slope)) {
            assert!((a - b).abs() < 1e-12, "at {s}: {a} {b}");
        }
        let end = after.at(&SHAPE, SWING.duration, 1.0);
        for i in 0..2 {
            assert!((end.position[i] - other.to[i]).abs() < 1e-14);
            assert!((end.slope[i] / SWING.duration - other.arriving[i]).abs() < 1e-12);
        }
    }
    let mut late = SwingSpline::new(&SWING);
    late.redirect(&other, 0.8);
    assert_eq!(late, SwingSpline::new(&SWING), "the last quarter keeps its end");
}

/// A foot whose end moves all the time: no step of it is longer than its velocity, and it lands
/// with the velocity of the ground.
#[test]
fn a_path_along_splines_never_jumps_while_its_end_moves() {
    let (stance_time, swing_time, time_step) = (0.225, 0.075, 1e-4);
    let mut path = FootPath::default();
    let mut last: Option<legwork_control::FootMotion> = None;
    let (mut farthest, mut touch_downs) = (0.0f64, 0);
    for k in 0..30_000 {
        let t = f64::from(k) * time_step;
        let part = (t / (stance_time + swing_time)).fract() * (stance_time + swing_time);
        let (phase, rate) = if part < stance_time {
            (PI * part / stance_time, PI / stance_time)
        } else {
            (PI + PI * (part - stance_time) / swing_time, PI / swing_time)
        };
        let step = Step {
            phase,
            phase_rate: rate,
            stance_time,
            swing_time,
            velocity: [0.2, 0.0],
            turn_rate: 0.0,
            centre: [0.1, 0.06],
            shift: [0.01 * (20.0 * t).sin(), 0.01 * (17.0 * t).cos()],
            shape: StepShape { lift_off_speed: 0.0, touch_down_speed: 0.0, ..SHAPE },
            curve: SwingCurve::Spline,
        };
        let was_swinging = path.is_swinging;
        let now = path.sample(&step);
        if let Some(last) = last {
            for i in 0..3 {
                let predicted = last.position[i] + time_step * last.velocity[i];
                farthest = farthest.max((now.position[i] - predicted).abs());
            }
        }
        if was_swinging && phase < PI {
            touch_downs += 1;
            let velocity = last.map_or([0.0; 3], |last| last.velocity);
            // Within what a step of the acceleration at the end adds.
            assert!((velocity[0] + 0.2).abs() < 0.2 && now.velocity[0] == -0.2, "{velocity:?}");
        }
        last = Some(now);
        path.advance(&step, time_step);
    }
    assert_eq!(touch_downs, 9);
    // Half the acceleration, of some 4 H/(T/6)² at the most, times the square of the step.
    let bound = 0.5 * 4.0 * SHAPE.height / (swing_time / 6.0_f64).powi(2) * time_step * time_step;
    assert!(farthest < bound, "{farthest} m off in a step, {bound} expected at most");
}
