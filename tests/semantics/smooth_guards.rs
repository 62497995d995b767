//! Semantics 3.7: crossings of smooth guards within large steps, compared with their closed forms.

use super::harness::{numbers, run};

const SOLVERS: [&str; 3] = [
    "DormandPrince(rtol: 1e-9, atol: 1e-11)",
    "Esdirk(rtol: 1e-9, atol: 1e-11)",
    "Bdf(rtol: 1e-10, atol: 1e-12)",
];

/// Numbers in [low, high) from a counter (SplitMix64).
struct Random(u64);

impl Random {
    fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        low + (high - low) * (((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64)
    }

    /// `count` zeros in (0, 3), no two closer than `gap`, some of them close to each other.
    fn zeros(&mut self, count: usize, gap: f64) -> Vec<f64> {
        loop {
            let mut zeros = vec![self.between(0.1, 2.9)];
            while zeros.len() < count {
                let is_close = self.between(0.0, 1.0) < 0.6;
                let last = zeros[zeros.len() - 1];
                let distance = self.between(gap, 20.0 * gap);
                zeros.push(if is_close { last + distance } else { self.between(0.1, 2.9) });
            }
            zeros.sort_by(f64::total_cmp);
            let is_apart = zeros.windows(2).all(|pair| pair[1] - pair[0] >= gap);
            if is_apart && zeros[count - 1] < 2.95 {
                return zeros;
            }
        }
    }
}

/// Coefficients of `∏ (t − zero)`, the constant one first.
fn coefficients(zeros: &[f64]) -> Vec<f64> {
    zeros.iter().fold(vec![1.0], |polynomial, zero| {
        let mut product = vec![0.0; polynomial.len() + 1];
        for (power, c) in polynomial.iter().enumerate() {
            product[power] -= zero * c;
            product[power + 1] += c;
        }
        product
    })
}

/// The product of the factors, whose sign is not a matter of rounding.
fn product(zeros: &[f64]) -> String {
    let factors: Vec<String> = zeros.iter().map(|zero| format!("(u - {zero:?})")).collect();
    factors.join("*")
}

/// Horner's form in `u`.
fn text(polynomial: &[f64]) -> String {
    polynomial.iter().rev().fold("0".to_owned(), |inner, c| format!("({inner})*u + ({c:?})"))
}

/// Times at which `guard`, a block, crosses zero in one run of 3 s.
fn hits(solver: &str, step: &str, guard: &str) -> Vec<f64> {
    let recording = run(&format!(
        r#"Diagram(run: (stop: "3 s", step: "{step}", solver: {solver}), blocks: {{
            "t": Clock(), {guard}
            "one": Constant(value: 1.0), "x": Integrator(in: {{ "u": "one.y" }}),
            "h": HitCrossing(in: {{ "u": "g.y" }}),
        }}, log: ["h.y"])"#
    ));
    numbers(&recording, "h.y").into_iter().filter(|(_, y)| *y != 0.0).map(|(t, _)| t).collect()
}

#[track_caller]
fn assert_hits(name: &str, found: &[f64], zeros: &[f64], bound: f64) {
    let is_close = |(a, b): (&f64, &f64)| (a - b).abs() <= bound;
    let all = found.len() == zeros.len() && found.iter().zip(zeros).all(is_close);
    assert!(all, "{name}: {found:?}, known {zeros:?}");
}

/// The guard is a function of time, so the method takes the largest steps that there are.
#[test]
fn s3_7_all_crossings_of_polynomials_of_time_are_found() {
    let mut random = Random(3);
    for case in 0..200 {
        let zeros = random.zeros(3 + case % 2, 0.004);
        let sign = if case % 4 < 2 { 1.0 } else { -1.0 };
        let expression = format!("{sign:?}*{}", product(&zeros));
        let guard = format!(r#""g": Fcn(expression: "{expression}", in: {{ "u": "t.y" }}),"#);
        for solver in SOLVERS {
            for step in ["1 s", "3 s"] {
                let name = format!("case {case}, {solver}, step {step}: {expression}");
                assert_hits(&name, &hits(solver, step, &guard), &zeros, 1e-12);
            }
        }
    }
}

/// The guard is a state, and a function of one.
#[test]
fn s3_7_all_crossings_of_polynomials_that_are_states_are_found() {
    let mut random = Random(4);
    for case in 0..100 {
        let zeros = random.zeros(3 + case % 2, 0.02);
        let polynomial = coefficients(&zeros);
        let guard = if case % 4 < 2 {
            let rate: Vec<f64> =
                polynomial.iter().enumerate().skip(1).map(|(n, c)| n as f64 * c).collect();
            format!(
                r#""rate": Fcn(expression: "{}", in: {{ "u": "t.y" }}),
                   "g": Integrator(initial: {:?}, in: {{ "u": "rate.y" }}),"#,
                text(&rate),
                polynomial[0],
            )
        } else {
            format!(r#""g": Fcn(expression: "{}", in: {{ "u": "x.y" }}),"#, product(&zeros))
        };
        for solver in SOLVERS {
            let name = format!("case {case}, {solver}");
            assert_hits(&name, &hits(solver, "1 s", &guard), &zeros, 1e-4);
        }
    }
}

/// Sines that pass their level for a short time, several times within a step, are no polynomials:
/// the step is divided until their shape is known.
#[test]
fn s3_7_short_pulses_of_a_sine_of_time_are_found() {
    let mut random = Random(5);
    for case in 0..100 {
        let (speed, phase) = (random.between(0.5, 6.0), random.between(0.0, 6.0));
        let half = random.between(0.01, 0.3);
        let level = f64::cos(half);
        let expression = format!("cos({speed:?}*u + {phase:?}) - {level:?}");
        let guard = format!(r#""g": Fcn(expression: "{expression}", in: {{ "u": "t.y" }}),"#);
        let mut zeros: Vec<f64> = (0..12)
            .flat_map(|n| [-half, half].map(|half| f64::from(n) * core::f64::consts::TAU + half))
            .map(|angle| (angle - phase) / speed)
            .collect();
        zeros.retain(|t| *t > 0.0 && *t < 3.0);
        for solver in SOLVERS {
            let name = format!("case {case}, {solver}: {expression}");
            assert_hits(&name, &hits(solver, "1 s", &guard), &zeros, 1e-9);
        }
    }
}
