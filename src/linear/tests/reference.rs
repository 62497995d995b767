//! Against SciPy and python-control, whose answers `tests/data/linear/reference.py` writes.

use legwork_linear::{
    Mat, System, c64, eigenvalues, filter, gramian, margins, place, poles, regulator, sampled,
    zeros,
};
use serde::Deserialize;

type Rows = Vec<Vec<f64>>;

#[derive(Deserialize)]
struct Reference {
    name: String,
    period: Option<f64>,
    a: Rows,
    b: Rows,
    c: Rows,
    d: Rows,
    poles: Vec<[f64; 2]>,
    zeros: Option<Vec<[f64; 2]>>,
    q: Rows,
    r: Rows,
    n: Rows,
    gain: Rows,
    cost: Rows,
    closed: Vec<[f64; 2]>,
    w: Rows,
    v: Rows,
    filter: Rows,
    covariance: Rows,
    place: Vec<[f64; 2]>,
    place_gain: Option<Rows>,
    margins: Option<Crossings>,
    gramian: Option<Rows>,
    sampled: Option<Sampled>,
}

#[derive(Deserialize)]
struct Crossings {
    gain: Vec<[f64; 2]>,
    phase: Vec<[f64; 2]>,
}

#[derive(Deserialize)]
struct Sampled {
    period: f64,
    a: Rows,
    b: Rows,
}

fn references() -> Vec<Reference> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/linear/reference.json");
    let text = std::fs::read_to_string(path).expect("the reference is in the repository");
    let all: Vec<Reference> = serde_json::from_str(&text).expect("the reference is sound");
    assert!(all.len() >= 12, "{} systems", all.len());
    all
}

fn matrix(rows: &Rows) -> Mat<f64> {
    Mat::from_fn(rows.len(), rows.first().map_or(0, Vec::len), |i, j| rows[i][j])
}

impl Reference {
    fn system(&self) -> System {
        let [a, b, c, d] = [&self.a, &self.b, &self.c, &self.d].map(matrix);
        System::new(a, b, c, d, self.period).expect("a system")
    }
}

/// `|found − expected| ≤ 1e-9 |expected|`, of matrices.
fn expect_close(name: &str, what: &str, found: &Mat<f64>, expected: &Rows) {
    let expected = matrix(expected);
    let error = (found - &expected).norm_l2() / expected.norm_l2().max(1e-3);
    assert!(error < 1e-9, "{name}: {what} differs by {error:.1e}");
}

/// Each expected number has one found beside it, to `tolerance` of the largest.
fn expect_same(name: &str, what: &str, found: &[c64], expected: &[[f64; 2]], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{name}: {what}: {found:?} against {expected:?}");
    let mut left: Vec<c64> = found.to_vec();
    let scale = expected.iter().map(|z| z[0].hypot(z[1])).fold(1e-3, f64::max);
    for one in expected {
        let distance = |z: &c64| (z.re - one[0]).hypot(z.im - one[1]);
        let nearest =
            (0..left.len()).min_by(|a, b| distance(&left[*a]).total_cmp(&distance(&left[*b])));
        let nearest = left.swap_remove(nearest.expect("as many as expected"));
        let error = distance(&nearest) / scale;
        assert!(error < tolerance, "{name}: {what} {one:?} differs by {error:.1e}");
    }
}

fn pair(z: &[f64; 2]) -> c64 {
    c64::new(z[0], z[1])
}

#[test]
fn poles_and_zeros() {
    for one in references() {
        let system = one.system();
        let found: Vec<c64> = poles(&system).expect("poles").iter().map(|m| m.pole).collect();
        // A pole of multiplicity two is as sharp as the square root of a number.
        let repeated = one.name.contains("cart-pole") || one.name.contains("integrator");
        expect_same(&one.name, "pole", &found, &one.poles, if repeated { 3e-8 } else { 1e-9 });
        if let Some(expected) = &one.zeros {
            let found = zeros(&system, 1e-12).expect("zeros");
            expect_same(&one.name, "zero", &found, expected, 1e-9);
        }
    }
}

#[test]
fn margins_and_their_frequencies() {
    for one in references() {
        let Some(expected) = &one.margins else { continue };
        let found = margins(&one.system().channel(0, 0)).expect("margins");
        for (what, found, expected) in
            [("gain", &found.gain, &expected.gain), ("phase", &found.phase, &expected.phase)]
        {
            let name = &one.name;
            assert_eq!(found.len(), expected.len(), "{name}: {what} margins: {found:?}");
            for (found, [frequency, margin]) in found.iter().zip(expected) {
                let apart = (found.frequency - frequency).abs();
                assert!(apart <= 1e-9 * frequency, "{name}: {what}: {found:?} against {frequency}");
                let apart = (found.margin - margin).abs() / margin.abs().max(1.0);
                assert!(apart < 1e-9, "{name}: {what}: {found:?} against {margin}");
            }
        }
    }
}

#[test]
fn regulators() {
    for one in references() {
        let (q, r, n) = (matrix(&one.q), matrix(&one.r), matrix(&one.n));
        let found = regulator(&one.system(), &q, &r, Some(&n)).expect(&one.name);
        expect_close(&one.name, "the gain", &found.gain, &one.gain);
        expect_close(&one.name, "the cost", &found.cost, &one.cost);
        expect_same(&one.name, "closed pole", &found.poles, &one.closed, 1e-7);
    }
}

#[test]
fn filters() {
    for one in references() {
        let (w, v) = (matrix(&one.w), matrix(&one.v));
        let found = filter(&one.system(), &w, &v).expect(&one.name);
        expect_close(&one.name, "the gain", &found.gain, &one.filter);
        expect_close(&one.name, "the covariance", &found.covariance, &one.covariance);
        // L = A M of a sampled system.
        if one.period.is_some() {
            let predicted = matrix(&one.a) * &found.update;
            expect_close(&one.name, "A M", &predicted, &one.filter);
        }
    }
}

/// One input: the gain of Ackermann's formula. Always: the poles that were asked for.
#[test]
fn placements() {
    for one in references() {
        let system = one.system();
        let wanted: Vec<c64> = one.place.iter().map(pair).collect();
        let gain = place(&system, &wanted).expect(&one.name);
        if let Some(expected) = &one.place_gain {
            expect_close(&one.name, "the placing gain", &gain, expected);
        }
        let closed = &system.a - &system.b * &gain;
        let found = eigenvalues(closed.as_ref()).expect("poles");
        expect_same(&one.name, "placed pole", &found, &one.place, 1e-8);
    }
}

#[test]
fn gramians_and_samples() {
    for one in references() {
        let system = one.system();
        if let Some(expected) = &one.gramian {
            let found = gramian(&system).expect(&one.name);
            expect_close(&one.name, "the Gramian", &found, expected);
        } else {
            assert!(gramian(&system).is_err(), "{}", one.name);
        }
        if let Some(expected) = &one.sampled {
            let found = sampled(&system, expected.period).expect(&one.name);
            expect_close(&one.name, "sampled A", &found.a, &expected.a);
            expect_close(&one.name, "sampled B", &found.b, &expected.b);
        }
    }
}
