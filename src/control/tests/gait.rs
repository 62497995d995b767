//! Laws of gaits, of the oscillators that keep them and of the paths of feet.

use std::f64::consts::{PI, TAU};

use legwork_control::{
    Coupling, FootPath, Gait, MAX_COUPLING, Oscillators, Rhythm, Step, StepShape, Swing,
    SwingCurve, bezier, elapsed, phase_at, stance_height,
};

const COUPLING: Coupling = Coupling { strength: 0.1, blend: 0.2 };

fn rhythm(gait: Gait) -> Rhythm {
    Rhythm { lags: gait.lags(), period: 0.4, duty: gait.duty() }
}

struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Largest distance of the legs' lags from those of `gait` [cycles].
fn out_of_step(legs: &Oscillators, gait: Gait) -> f64 {
    let duty = legs.rhythm.duty;
    let own: Vec<f64> =
        legs.phases.iter().zip(gait.lags()).map(|(p, lag)| elapsed(*p, duty) + lag).collect();
    let apart = own.iter().map(|o| o - own[0]).map(|way| (way - way.round()).abs());
    apart.fold(0.0, f64::max)
}

#[test]
fn phases_come_into_the_gaits_step_from_random_starts() {
    let mut random = Random(1);
    for gait in Gait::ALL {
        for start in 0..20 {
            let mut legs = Oscillators::in_step(rhythm(gait));
            legs.phases = [(); 4].map(|()| TAU * random.unit());
            for _ in 0..8000 {
                legs.advance(&rhythm(gait), &COUPLING, 1e-3);
            }
            let apart = out_of_step(&legs, gait);
            assert!(apart < 1e-6, "{gait:?} from start {start}: {apart:.1e} cycles out of step");
        }
    }
}

#[test]
fn small_errors_of_phase_fall_by_the_stated_factor_per_cycle() {
    let mut legs = Oscillators::in_step(rhythm(Gait::Trot));
    legs.phases[1] += 1e-4;
    let before = out_of_step(&legs, Gait::Trot);
    for _ in 0..40_000 {
        legs.advance(&rhythm(Gait::Trot), &COUPLING, 1e-5);
    }
    let factor = out_of_step(&legs, Gait::Trot) / before;
    let stated = f64::exp(-8.0 * PI * COUPLING.strength);
    assert!((factor / stated - 1.0).abs() < 1e-3, "{factor} instead of {stated}");
}

#[test]
fn in_step_a_cycle_takes_the_period_and_a_stance_its_part_of_it() {
    for gait in Gait::ALL {
        let mut legs = Oscillators::in_step(rhythm(gait));
        let start = legs;
        let mut standing = [0; 4];
        for _ in 0..10 * 400 {
            legs.advance(&rhythm(gait), &COUPLING, 1e-3);
            for (count, phase) in standing.iter_mut().zip(legs.phases) {
                *count += i32::from(phase < PI);
            }
        }
        for ((now, before), count) in legs.phases.iter().zip(start.phases).zip(standing) {
            let way = (now - before) / TAU;
            assert!((way - way.round()).abs() < 1e-9, "{gait:?}: off by {way:.1e} cycles");
            let part = f64::from(count) / 4000.0;
            assert!((part - gait.duty()).abs() < 0.003, "{gait:?}: stands for {part}");
        }
    }
}

#[test]
fn no_phase_runs_backward_or_jumps_in_a_change_of_gait_period_and_duty() {
    let coupling = Coupling { strength: 0.99 * MAX_COUPLING, blend: 0.1 };
    for from in Gait::ALL {
        for to in Gait::ALL {
            let mut legs = Oscillators::in_step(rhythm(from));
            let wanted = Rhythm { lags: to.lags(), period: 0.3, duty: 0.6 };
            for _ in 0..6000 {
                let before = legs;
                legs.advance(&wanted, &coupling, 1e-3);
                for (now, before) in legs.phases.iter().zip(before.phases) {
                    let way = (now - before).rem_euclid(TAU);
                    // At most twice the rate of the shorter part of a cycle.
                    assert!(way < 2.0 * 1e-3 * PI / (0.25 * 0.3), "{from:?} to {to:?}: {way}");
                }
            }
            let apart = out_of_step(&legs, to);
            assert!(apart < 1e-6, "{from:?} to {to:?}: {apart:.1e} cycles out of step");
            assert!((legs.rhythm.period - 0.3).abs() < 1e-12);
            assert!((legs.rhythm.duty - 0.6).abs() < 1e-12);
        }
    }
}

#[test]
fn phase_and_elapsed_part_of_a_cycle_are_inverse() {
    let mut random = Random(2);
    for _ in 0..1000 {
        let (phase, duty) = (TAU * random.unit(), 0.1 + 0.8 * random.unit());
        let back = phase_at(elapsed(phase, duty), duty);
        assert!((back - phase).abs() < 1e-12, "{phase} became {back} at a duty of {duty}");
    }
}

#[test]
fn a_bezier_curve_of_even_points_is_a_line_and_its_derivative_that_of_differences() {
    assert_eq!(bezier(&[0.0, 1.0, 2.0, 3.0], 0.25), (0.75, 3.0));
    let points = [0.3, -1.0, 2.0, 0.7, 1.1, 0.0];
    for i in 1..20 {
        let s = f64::from(i) / 20.0;
        let difference = (bezier(&points, s + 1e-6).0 - bezier(&points, s - 1e-6).0) / 2e-6;
        assert!((difference - bezier(&points, s).1).abs() < 1e-8);
    }
}

const SHAPE: StepShape =
    StepShape { height: 0.06, depth: 0.004, lift_off_speed: 0.2, touch_down_speed: 0.1 };

#[test]
fn stance_and_swing_fit_in_position_and_velocity_and_reach_height_and_depth() {
    let (t_stance, t_swing, speed) = (0.25, 0.15, 0.5);
    let half = 0.5 * t_stance * speed;
    let swing = Swing {
        from: [-half, 0.01],
        to: [half, -0.01],
        leaving: [-speed, 0.0],
        arriving: [-speed, 0.0],
        duration: t_swing,
    };
    let (begin, end) = (swing.at(&SHAPE, 0.0), swing.at(&SHAPE, 1.0));
    let stance_begin = stance_height(&SHAPE, t_stance, 0.0);
    let stance_end = stance_height(&SHAPE, t_stance, 1.0);
    assert_eq!((begin.position, end.position), ([-half, 0.01, 0.0], [half, -0.01, 0.0]));
    assert_eq!((stance_begin.0, stance_end.0), (0.0, 0.0));
    for (swing, stance, z_speed) in
        [(begin, stance_end, SHAPE.lift_off_speed), (end, stance_begin, -SHAPE.touch_down_speed)]
    {
        let velocity = swing.slope.map(|slope| slope / t_swing);
        let wanted = [-speed, 0.0, z_speed];
        for (v, wanted) in velocity.iter().zip(wanted) {
            assert!((v - wanted).abs() < 1e-13, "{velocity:?}");
        }
        assert!((stance.1 / t_stance - z_speed).abs() < 1e-13, "{stance:?}");
    }
    assert!((swing.at(&SHAPE, 0.5).position[2] - SHAPE.height).abs() < 1e-15);
    assert!((stance_height(&SHAPE, t_stance, 0.5).0 + SHAPE.depth).abs() < 1e-15);
    // In x the acceleration vanishes at both ends.
    for s in [0.0, 1.0] {
        let inward = if s < 0.5 { 1e-4 } else { -1e-4 };
        let bend = (swing.at(&SHAPE, s + inward).slope[0] - swing.at(&SHAPE, s).slope[0]) / inward;
        assert!(bend.abs() < 0.01, "second derivative {bend} m");
    }
}

/// A trotting leg whose command changes at every cycle; largest jumps of position and velocity.
fn largest_jumps(curve: SwingCurve, time_step: f64) -> (f64, f64) {
    let (duty, period) = (0.6, 0.4);
    let mut path = FootPath::default();
    let (mut position, mut velocity) = (0.0_f64, 0.0_f64);
    let mut last: Option<legwork_control::FootMotion> = None;
    for k in 0..(4.0 / time_step) as usize {
        let t = k as f64 * time_step;
        let phase = phase_at(t / period, duty);
        let share = if phase < PI { duty } else { 1.0 - duty };
        let step = Step {
            phase,
            phase_rate: PI / (share * period),
            stance_time: duty * period,
            swing_time: (1.0 - duty) * period,
            velocity: [0.4, 0.1],
            turn_rate: 0.3,
            centre: [0.19, 0.11],
            shift: [0.01, 0.0],
            shape: SHAPE,
            curve,
        };
        let now = path.sample(&step);
        if let (Some(last), true) = (last, t > 2.0 * period) {
            for i in 0..3 {
                position = position.max((now.position[i] - last.position[i]).abs());
                velocity = velocity.max((now.velocity[i] - last.velocity[i]).abs());
            }
        }
        last = Some(now);
        path.advance(&step, time_step);
    }
    (position, velocity)
}

#[test]
fn a_foots_path_is_continuous_with_its_velocity() {
    for curve in [SwingCurve::Bezier, SwingCurve::Spline] {
        let (coarse, fine) = (largest_jumps(curve, 1e-3), largest_jumps(curve, 1e-4));
        // Changes per step shrink with the step: nothing jumps.
        assert!(fine.0 < 0.15 * coarse.0, "{curve:?}: {coarse:?} {fine:?}");
        assert!(fine.1 < 0.2 * coarse.1, "{curve:?}: {coarse:?} {fine:?}");
    }
}

#[test]
fn a_standing_foot_goes_with_the_ground_and_half_a_stance_either_way() {
    let step = |phase: f64| Step {
        phase,
        phase_rate: PI / 0.2,
        stance_time: 0.2,
        swing_time: 0.2,
        velocity: [0.5, 0.0],
        turn_rate: 0.0,
        centre: [0.0; 2],
        shift: [0.0; 2],
        shape: SHAPE,
        curve: SwingCurve::Bezier,
    };
    let mut path = FootPath { position: [0.05, 0.0], ..FootPath::default() };
    for k in 0..200 {
        path.advance(&step(PI * f64::from(k) / 200.0), 1e-3);
    }
    assert!((path.position[0] + 0.05).abs() < 1e-12, "{path:?}");
    for k in 0..200 {
        path.advance(&step(PI + PI * f64::from(k) / 200.0), 1e-3);
    }
    // One Euler step from the last sample to the touch-down.
    assert!((path.position[0] - 0.05).abs() < 1e-5, "{path:?}");
}
