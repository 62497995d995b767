//! Laws of the difference, and which quantities a type falls apart into.

use legwork_block::{Arg, BusField, BusView, Dim, Type, bus};

use super::*;
use crate::recording::{Channel, ChunkPolicy, Field, Metadata, Phase, RateId, Recorder};
use crate::recording::{Recording, Shape, Sink, Stamp};

const MILLISECOND: u64 = 1_000_000;

/// `rows` of `width` numbers, one a millisecond.
fn samples(width: usize, rows: usize, value: impl Fn(usize, usize) -> f64) -> Samples {
    let mut out = Samples::new(width);
    for k in 0..rows {
        let row: Vec<f64> = (0..width).map(|i| value(k, i)).collect();
        out.push(k as f64 * 1e-3, k as u64 * MILLISECOND, &row);
    }
    out
}

fn wave(k: usize, i: usize) -> f64 {
    (0.1 * k as f64 + i as f64).sin()
}

fn between(a: &Samples, b: &Samples, tolerance: Tolerance) -> Difference {
    Difference::between(a, b, 0..a.width(), tolerance, 0.0)
}

#[test]
fn a_run_differs_from_itself_by_nothing_and_is_within_any_tolerance() {
    let run = samples(3, 50, |k, i| if k == 7 { [f64::NAN, f64::INFINITY, 1.0][i] } else { 2.0 });
    for tolerance in [Tolerance::Absolute(0.0), Tolerance::Relative(0.0)] {
        let found = between(&run, &run, tolerance);
        assert_eq!((found.max, found.rms, found.rows, found.unmatched), (0.0, 0.0, 50, 0));
        assert_eq!((found.max_relative(), found.rms_relative()), (0.0, 0.0));
        assert!(found.is_within() && found.largest.is_none());
    }
}

#[test]
fn a_shifted_signal_differs_by_the_shift() {
    for shift in [0.25f64, -3.0, 1e200, 1e-200] {
        // Whole numbers stay exact; beside the extreme shifts there is nothing.
        let base = if (1e-3..10.0).contains(&shift.abs()) { 1.0 } else { 0.0 };
        let a = samples(2, 100, |k, i| base * (wave(k, i) * 16.0).round());
        let b = samples(2, 100, |k, i| base * (wave(k, i) * 16.0).round() + shift);
        let found = between(&a, &b, Tolerance::Absolute(0.5 * shift.abs()));
        assert_eq!(found.max, shift.abs());
        assert!((found.rms / shift.abs() - 1.0).abs() < 1e-14, "{} of {shift}", found.rms);
        let first = found.first_beyond.expect("beyond half the shift");
        assert_eq!((first.t, first.element), (0.0, 0));
        assert_eq!(first.other - first.reference, shift);
        assert!(between(&a, &b, Tolerance::Absolute(shift.abs())).is_within());
    }
}

#[test]
fn the_difference_does_not_depend_on_the_order_of_the_two() {
    let (a, b) = (samples(3, 80, wave), samples(3, 60, |k, i| wave(k, i) * 1.01));
    let (ab, ba) =
        (between(&a, &b, Tolerance::Absolute(0.005)), between(&b, &a, Tolerance::Absolute(0.005)));
    assert_eq!((ab.max, ab.rms, ab.rows, ab.unmatched), (ba.max, ba.rms, ba.rows, ba.unmatched));
    let (ab, ba) = (ab.first_beyond.expect("beyond"), ba.first_beyond.expect("beyond"));
    assert_eq!(
        (ab.t, ab.element, ab.reference, ab.other),
        (ba.t, ba.element, ba.other, ba.reference)
    );
}

#[test]
fn the_mean_square_is_at_most_the_largest_and_counts_every_number() {
    let a = samples(4, 25, |_, _| 0.0);
    let b = samples(4, 25, |k, i| if (k, i) == (20, 3) { 2.0 } else { 0.0 });
    let found = between(&a, &b, Tolerance::Absolute(1.0));
    assert_eq!(found.max, 2.0);
    // One number of a hundred is off by two.
    assert_eq!(found.rms, 0.2);
    let first = found.first_beyond.expect("beyond");
    assert_eq!((first.element, first.reference, first.other), (3, 0.0, 2.0));
    assert_eq!(found.largest, found.first_beyond);
}

#[test]
fn relative_figures_relate_to_the_range_of_the_reference() {
    // 1000 m above the sea, moving by 2 mm.
    let a = samples(1, 11, |k, _| 1000.0 + 2e-3 * k as f64 / 10.0);
    let b = samples(1, 11, |k, _| 1000.0 + 2e-3 * k as f64 / 10.0 + 1e-3);
    let found = between(&a, &b, Tolerance::Relative(0.1));
    assert!((found.scale - 2e-3).abs() < 1e-12 && (found.max_relative() - 0.5).abs() < 1e-9);
    assert!(!found.is_within());
    // Scaling both leaves the relative figures alone.
    let double = |samples: &Samples| self::samples(1, 11, |k, _| 2.0 * samples.row(k)[0]);
    let doubled = between(&double(&a), &double(&b), Tolerance::Relative(0.1));
    assert_eq!(doubled.max_relative(), found.max_relative());
    assert_eq!(doubled.rms_relative(), found.rms_relative());
}

#[test]
fn what_is_small_beside_its_like_is_measured_by_them() {
    let gap = |size: f64| samples(1, 10, |k, _| size * (k % 3) as f64);
    let far = |magnitude| {
        let tolerance = Tolerance::Relative(1e-6);
        !Difference::between(&gap(1e-14), &gap(2e-14), 0..1, tolerance, magnitude).is_within()
    };
    assert!(far(0.0) && far(1e-3) && !far(1.0));
    // It does not hide what is larger.
    let found = Difference::between(&gap(1e-5), &gap(2e-5), 0..1, Tolerance::Relative(0.5), 1.0);
    assert_eq!((found.scale, found.is_within()), (2e-5, false));
}

#[test]
fn what_stands_still_relates_to_its_magnitude() {
    let noise = |k: usize| 5.0 + 1e-15 * (k % 2) as f64;
    let (a, b) = (samples(1, 10, |k, _| noise(k)), samples(1, 10, |k, _| noise(k + 1)));
    assert!(between(&a, &b, Tolerance::Relative(1e-9)).is_within());
    let more = between(&a, &samples(1, 10, |_, _| 5.5), Tolerance::Relative(0.2));
    assert!((more.max_relative() - 0.1).abs() < 1e-12 && more.is_within());
    let zero = samples(1, 10, |_, _| 0.0);
    let found = between(&zero, &a, Tolerance::Relative(0.5));
    assert_eq!(found.scale, found.max);
    assert!(!found.is_within());
}

#[test]
fn numbers_that_are_none_are_equal_to_their_like_and_infinitely_far_from_all_else() {
    let one = |value: f64| samples(1, 1, |_, _| value);
    let far = |a: f64, b: f64| between(&one(a), &one(b), Tolerance::Absolute(1e300)).max;
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    assert_eq!(
        (far(nan, nan), far(inf, inf), far(-inf, -inf), far(0.0, -0.0)),
        (0.0, 0.0, 0.0, 0.0)
    );
    for (a, b) in [(nan, 1.0), (1.0, nan), (inf, 1.0), (inf, -inf), (nan, inf)] {
        assert_eq!(far(a, b), inf, "{a} and {b}");
        let found = between(&one(a), &one(b), Tolerance::Relative(1e9));
        assert!(!found.is_within(), "{a} and {b} are within");
        assert_eq!(found.rms, inf);
    }
}

#[test]
fn only_common_times_are_compared() {
    let fast = samples(1, 100, wave);
    let mut slow = Samples::new(1);
    for k in (0..100).step_by(10) {
        slow.push(k as f64 * 1e-3, k as u64 * MILLISECOND, &[wave(k, 0)]);
    }
    let found = between(&fast, &slow, Tolerance::Absolute(0.0));
    assert_eq!((found.max, found.rows, found.unmatched), (0.0, 10, 90));
    let mut apart = Samples::new(1);
    apart.push(0.5e-3, MILLISECOND / 2, &[1.0]);
    let found = between(&fast, &apart, Tolerance::Absolute(0.0));
    assert_eq!((found.rows, found.max, found.rms), (0, 0.0, 0.0));
    assert!(found.is_within());
    let empty = between(&Samples::new(1), &fast, Tolerance::Relative(1e-6));
    assert_eq!((empty.rows, empty.unmatched), (0, 100));
    // A run that stopped early is compared as far as it came.
    let early = between(&fast, &samples(1, 40, wave), Tolerance::Absolute(0.0));
    assert_eq!((early.rows, early.unmatched, early.max), (40, 60, 0.0));
}

#[test]
fn rows_that_share_a_time_are_paired_in_order() {
    let mut a = Samples::new(1);
    for (t, value) in [(0, 0.0), (1, 1.0), (1, 2.0), (2, 3.0)] {
        a.push(t as f64, t * 1_000_000_000, &[value]);
    }
    assert_eq!(a.common_rows(&a), [(0, 0), (1, 1), (2, 2), (3, 3)]);
    let mut b = Samples::new(1);
    b.push(1.0, 1_000_000_000, &[1.0]);
    b.push(2.0, 2_000_000_000, &[3.0]);
    assert_eq!(a.common_rows(&b), [(1, 0), (3, 1)]);
}

#[test]
fn samples_are_the_rows_of_a_recording() {
    let channel = Channel::new("a.y", vec![Field::new("value", Shape::Vector(2))]);
    let mut recorder =
        Recorder::create(Sink::memory(), &[channel], &Metadata::default(), ChunkPolicy::default())
            .expect("memory takes it");
    for k in 0..5u64 {
        let stamp = Stamp::new(k, 0, Phase::Step, k * MILLISECOND);
        let row = [wave(k as usize, 0), wave(k as usize, 1)];
        recorder.record(RateId(0), &stamp, [&row[..]]).expect("two numbers");
    }
    let bytes = recorder.finish().expect("closed").memory.expect("in memory");
    let recording = Recording::from_bytes(bytes).expect("whole");
    let read = Samples::of(recording.series("a.y").expect("recorded"));
    let made = samples(2, 5, wave);
    assert_eq!((read.len(), read.width()), (5, 2));
    assert_eq!(between(&read, &made, Tolerance::Absolute(0.0)).max, 0.0);
    assert_eq!(read.time(4), 4e-3);
}

#[test]
fn a_bus_falls_apart_into_its_named_parts() {
    let view = |name: &str, start, len, unit: Option<&str>| BusView {
        name: name.into(),
        field: 0,
        start,
        len: Dim::fixed(len),
        unit: unit.map(str::to_owned),
        units: Vec::new(),
        frame: None,
        labels: Vec::new(),
    };
    let fields = vec![
        BusField::new("q", Type::vector(9)),
        BusField::new("load", Type::Real).unit("N"),
        BusField::new("pose", Type::Pose),
        BusField::new("nu", Type::vector(4)),
    ];
    let mut rates = view("s_dot", 0, 4, None);
    rates.field = 3;
    rates.units = ["rad/s", "rad/s", "m/s", "rad/s"].map(str::to_owned).to_vec();
    let views = vec![view("s", 7, 1, None), view("base.position", 0, 3, Some("m")), rates];
    let ty = bus("State", vec![Arg::Name("go".into())], fields, views);
    let mut out = Vec::new();
    quantity::list(0, "body.state", (None, &[]), &ty, &mut out);
    let found: Vec<(&str, Option<&str>, usize, usize)> = out
        .iter()
        .map(|q| (q.name.as_str(), q.unit.as_deref(), q.start, q.elements.len()))
        .collect();
    assert_eq!(
        found,
        [
            ("body.state.base.position", Some("m"), 0, 3),
            ("body.state.q[3..7]", None, 3, 4),
            ("body.state.s", None, 7, 1),
            ("body.state.q[8..9]", None, 8, 1),
            ("body.state.load", Some("N"), 9, 1),
            ("body.state.pose.rotation", Some("1"), 10, 9),
            ("body.state.pose.position", Some("m"), 19, 3),
            // A part for each run of one unit.
            ("body.state.s_dot[0..2]", Some("rad/s"), 22, 2),
            ("body.state.s_dot[2]", Some("m/s"), 24, 1),
            ("body.state.s_dot[3]", Some("rad/s"), 25, 1),
        ]
    );
    assert_eq!(out[0].elements[2], "body.state.base.position[2]");
    assert_eq!(
        out[1].elements,
        ["body.state.q[3]", "body.state.q[4]", "body.state.q[5]", "body.state.q[6]"]
    );
    // Column by column.
    assert_eq!(out[5].elements[1], "body.state.pose.rotation[1, 0]");
    assert_eq!(out[6].columns(), 19..22);
}

#[test]
fn elements_of_a_slice_have_the_paths_of_the_whole() {
    let mut out = Vec::new();
    for name in ["foot[FL].y", "a.y[2..4]", "a.y[..2]", "a.y[5..]"] {
        quantity::list(0, name, (Some("N"), &[]), &Type::vector(2), &mut out);
    }
    let last: Vec<&str> = out.iter().map(|q| q.elements[1].as_str()).collect();
    assert_eq!(last, ["foot[FL].y[1]", "a.y[3]", "a.y[1]", "a.y[6]"]);
}
