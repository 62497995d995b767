//! Gains of random systems compared with SciPy and with 60 digits: `tests/data/linear/gains.py`
//! computes the expected values.

use legwork_linear::{Mat, System, c64, eigenvalues, filter, place, regulator, sampled_noise};
use serde::Deserialize;

type Rows = Vec<Vec<f64>>;

#[derive(Deserialize)]
struct Reference {
    name: String,
    kind: String,
    period: Option<f64>,
    a: Rows,
    b: Rows,
    q: Rows,
    r: Rows,
    gain: Rows,
    scipy: Option<f64>,
    place: Vec<[f64; 2]>,
    scipy_place: Option<f64>,
    repeated: Vec<[f64; 2]>,
    ackermann: Option<Rows>,
    ackermann_repeated: Option<Rows>,
    noise: Option<Noise>,
}

#[derive(Deserialize)]
struct Noise {
    period: f64,
    w: Rows,
    covariance: Rows,
}

fn references() -> Vec<Reference> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/linear/gains.json");
    let text = std::fs::read_to_string(path).expect("the reference is in the repository");
    let all: Vec<Reference> = serde_json::from_str(&text).expect("the reference is sound");
    assert!(all.len() >= 200, "{} systems", all.len());
    all
}

fn matrix(rows: &Rows) -> Mat<f64> {
    Mat::from_fn(rows.len(), rows.first().map_or(0, Vec::len), |i, j| rows[i][j])
}

fn system(one: &Reference) -> System {
    let (a, b) = (matrix(&one.a), matrix(&one.b));
    let (n, m) = (a.nrows(), b.ncols());
    System::new(a, b, Mat::identity(n, n), Mat::zeros(n, m), one.period).expect("a system")
}

/// `|found − expected| / |expected|`.
fn error(found: &Mat<f64>, expected: &Mat<f64>) -> f64 {
    (found - expected).norm_l2() / expected.norm_l2()
}

/// Collects all values out of tolerance, so that one run shows them together.
#[derive(Default)]
struct Verdict {
    wrong: Vec<String>,
    worst: Vec<(String, f64)>,
}

impl Verdict {
    fn note(&mut self, name: &str, kind: &str, error: f64, tolerance: f64) {
        match self.worst.iter_mut().find(|one| one.0 == kind) {
            Some(one) => one.1 = one.1.max(error),
            None => self.worst.push((kind.to_owned(), error)),
        }
        if error.is_nan() || error > tolerance {
            self.wrong.push(format!("{name}: {error:.1e} above {tolerance:.1e}"));
        }
    }

    fn end(self) {
        assert!(self.wrong.is_empty(), "{:#?}, worst {:?}", self.wrong, self.worst);
    }
}

/// A gain is right to 1e-8, or as accurate as SciPy's if that error is larger: then the numbers of
/// the system lose digits.
#[test]
fn regulators_are_those_of_sixty_digits() {
    let mut verdict = Verdict::default();
    for one in references() {
        let found = regulator(&system(&one), &matrix(&one.q), &matrix(&one.r), None);
        let gain = found.map(|found| found.gain).map_err(|error| error.to_string());
        let error = match &gain {
            Ok(gain) => error(gain, &matrix(&one.gain)),
            Err(message) => {
                verdict.wrong.push(format!("{}: {message}", one.name));
                continue;
            }
        };
        verdict.note(&one.name, &one.kind, error, one.scipy.unwrap_or(0.0).max(1e-8));
    }
    verdict.end();
}

/// The filter of the dual system has the transposed gain.
#[test]
fn filters_are_those_of_sixty_digits() {
    let mut verdict = Verdict::default();
    for one in references() {
        let dual = system(&one).dual();
        let dual = System { c: matrix(&one.b).transpose().to_owned(), ..dual };
        let found = filter(&dual, &matrix(&one.q), &matrix(&one.r));
        match found {
            Ok(found) => {
                let error = error(&found.gain.transpose().to_owned(), &matrix(&one.gain));
                verdict.note(&one.name, &one.kind, error, one.scipy.unwrap_or(0.0).max(1e-8));
            }
            Err(message) => verdict.wrong.push(format!("{}: {message}", one.name)),
        }
    }
    verdict.end();
}

/// The gain of one input is Ackermann's. With several inputs, `det(z − A + B K)` is the product of
/// `z − λ` on a circle around all poles, repeated or not: to 1e-8, or to ten times the error of
/// SciPy's gain.
#[test]
fn poles_are_placed_where_they_are_wanted() {
    let mut verdict = Verdict::default();
    for one in references() {
        let plant = system(&one);
        for (what, poles, exact) in [
            ("distinct", &one.place, &one.ackermann),
            ("repeated", &one.repeated, &one.ackermann_repeated),
        ] {
            let name = format!("{} {what}", one.name);
            let poles: Vec<c64> = poles.iter().map(|z| c64::new(z[0], z[1])).collect();
            let gain = match place(&plant, &poles) {
                Ok(gain) => gain,
                Err(message) => {
                    verdict.wrong.push(format!("{name}: {message}"));
                    continue;
                }
            };
            if let Some(exact) = exact {
                verdict.note(&name, "one input", error(&gain, &matrix(exact)), 1e-8);
                continue;
            }
            let closed = &plant.a - &plant.b * &gain;
            let found = eigenvalues(closed.as_ref()).expect("poles");
            let radius = 2.0 * poles.iter().map(|z| z.norm()).fold(0.0, f64::max);
            let apart = (0..7).map(|k| {
                let z = c64::from_polar(radius, 0.3 + f64::from(k));
                let product = |all: &[c64]| all.iter().map(|pole| z - *pole).product::<c64>();
                (product(&found) / product(&poles) - c64::new(1.0, 0.0)).norm()
            });
            let tolerance = (10.0 * one.scipy_place.unwrap_or(0.0)).max(1e-8);
            verdict.note(&name, what, apart.fold(0.0, f64::max), tolerance);
        }
    }
    verdict.end();
}

#[test]
fn noise_of_a_period_is_van_loans_integral() {
    let mut verdict = Verdict::default();
    for one in references() {
        let Some(noise) = &one.noise else { continue };
        let found = sampled_noise(&matrix(&one.a), &matrix(&noise.w), noise.period);
        let error = error(&found.expect("finite"), &matrix(&noise.covariance));
        verdict.note(&one.name, &one.kind, error, 1e-10);
    }
    verdict.end();
}
