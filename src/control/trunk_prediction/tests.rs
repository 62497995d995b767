use super::*;

const MODEL: TrunkModel = TrunkModel {
    mass: 9.0,
    // Not diagonal, so that the turn into world axes counts.
    inertia: [0.07, 0.01, 0.005, 0.01, 0.26, -0.02, 0.005, -0.02, 0.24],
    gravity: 9.81,
};

/// Numbers between -1 and 1 that repeat.
fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

fn horizon(steps: usize) -> Vec<TrunkStep> {
    let mut next = random(5);
    let step = |k: usize| {
        let mut reference = [0.0; TRUNK_STATE];
        reference.fill_with(|| 0.2 * next());
        // Yaw turns by far more than a small angle.
        reference[2] = 0.4 * k as f64;
        let corner = |leg: usize| {
            [
                if leg < 2 { 0.2 } else { -0.2 },
                if leg.is_multiple_of(2) { 0.1 } else { -0.1 },
                -0.28,
            ]
        };
        let mut arms: [[f64; 3]; LEGS] = std::array::from_fn(corner);
        arms.iter_mut().flatten().for_each(|arm| *arm += 0.05 * next());
        let stands = std::array::from_fn(|leg| !(leg + k).is_multiple_of(3));
        TrunkStep { reference, arms, stands }
    };
    (0..steps).map(step).collect()
}

/// The rate of the state under forces, by the equations of the source, written out anew.
fn rate(x: &[f64; TRUNK_STATE], step: &TrunkStep, forces: &[f64]) -> [f64; TRUNK_STATE] {
    let (s, c) = (step.reference[2].sin(), step.reference[2].cos());
    let rotate = |v: [f64; 3]| [c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]];
    let back = |v: [f64; 3]| [c * v[0] + s * v[1], -s * v[0] + c * v[1], v[2]];
    let mut moment = [0.0; 3];
    let mut acceleration = [0.0, 0.0, -MODEL.gravity];
    for leg in (0..LEGS).filter(|&leg| step.stands[leg]) {
        let (r, f) = (step.arms[leg], &forces[3 * leg..3 * leg + 3]);
        moment[0] += r[1] * f[2] - r[2] * f[1];
        moment[1] += r[2] * f[0] - r[0] * f[2];
        moment[2] += r[0] * f[1] - r[1] * f[0];
        acceleration.iter_mut().zip(f).for_each(|(a, f)| *a += f / MODEL.mass);
    }
    // I ω̇ = moment in the axes of the upright trunk, by Cramer's rule.
    let m = back(moment);
    let i = |row: usize, column: usize| MODEL.inertia[3 * column + row];
    let determinant = |a: [[f64; 3]; 3]| {
        a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1])
            - a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0])
            + a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0])
    };
    let rows = |replaced: Option<usize>| -> [[f64; 3]; 3] {
        std::array::from_fn(|row| {
            std::array::from_fn(
                |column| if replaced == Some(column) { m[row] } else { i(row, column) },
            )
        })
    };
    let whole = determinant(rows(None));
    let spin = rotate(std::array::from_fn(|column| determinant(rows(Some(column))) / whole));
    let angles = back([x[6], x[7], x[8]]);
    let mut rate = [0.0; TRUNK_STATE];
    rate[0..3].copy_from_slice(&angles);
    rate[3..6].copy_from_slice(&x[9..12]);
    rate[6..9].copy_from_slice(&spin);
    rate[9..12].copy_from_slice(&acceleration);
    rate
}

/// The state after `t` in `parts` steps of the classical Runge-Kutta method.
fn after(x: &[f64; TRUNK_STATE], step: &TrunkStep, forces: &[f64], t: f64) -> [f64; TRUNK_STATE] {
    let h = t / 4.0;
    let mut x = *x;
    let ahead = |x: &[f64; TRUNK_STATE], k: &[f64; TRUNK_STATE], h: f64| -> [f64; TRUNK_STATE] {
        std::array::from_fn(|i| x[i] + h * k[i])
    };
    for _ in 0..4 {
        let k1 = rate(&x, step, forces);
        let k2 = rate(&ahead(&x, &k1, h / 2.0), step, forces);
        let k3 = rate(&ahead(&x, &k2, h / 2.0), step, forces);
        let k4 = rate(&ahead(&x, &k3, h), step, forces);
        x = std::array::from_fn(|i| x[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    x
}

/// The condensed problem is the cost of what an integration of the equations gives, whatever the
/// forces are. The model is a polynomial of the time of degree two, so Runge-Kutta is exact.
#[test]
fn the_condensed_problem_is_the_cost_of_the_motion() {
    let (n, t) = (4, 0.03);
    let steps = horizon(n);
    let mut next = random(9);
    let mut x0 = [0.0; TRUNK_STATE];
    x0.fill_with(|| 0.3 * next());
    let weights = TrunkWeights { state: std::array::from_fn(|i| 1.0 + i as f64), force: 1e-3 };
    let mut prediction = TrunkPrediction::new(n);
    let size = prediction.dim();
    let (mut h, mut g) = (vec![0.0; size * size], vec![0.0; size]);
    prediction.assemble(&MODEL, &weights, t, &x0, &steps, (&mut h, &mut g));
    let cost = |forces: &[f64]| {
        let mut x = x0;
        let mut cost = 0.0;
        for (step, forces) in steps.iter().zip(forces.chunks_exact(12)) {
            x = after(&x, step, forces, t);
            let error = x.iter().zip(&step.reference).zip(&weights.state);
            cost += error.map(|((x, r), w)| 0.5 * w * (x - r) * (x - r)).sum::<f64>();
        }
        cost + forces.iter().map(|f| 0.5 * weights.force * f * f).sum::<f64>()
    };
    let constant = cost(&vec![0.0; size]);
    for _ in 0..20 {
        let forces: Vec<f64> = (0..size).map(|_| 50.0 * next()).collect();
        let of_problem: f64 = (0..size)
            .map(|j| {
                let row: f64 = (0..size).map(|i| h[j * size + i] * forces[i]).sum();
                forces[j] * (0.5 * row + g[j])
            })
            .sum();
        let (expected, found) = (cost(&forces), of_problem + constant);
        assert!((found - expected).abs() < 1e-10 * expected.abs(), "{found}, {expected}");
    }
}

#[test]
fn feet_in_the_air_are_coupled_to_nothing() {
    let steps = horizon(3);
    let weights = TrunkWeights { state: [1.0; TRUNK_STATE], force: 2.0 };
    let mut prediction = TrunkPrediction::new(3);
    let size = prediction.dim();
    let (mut h, mut g) = (vec![7.0; size * size], vec![7.0; size]);
    prediction.assemble(&MODEL, &weights, 0.02, &[0.0; 12], &steps, (&mut h, &mut g));
    for (k, step) in steps.iter().enumerate() {
        for (leg, stands) in step.stands.iter().enumerate() {
            let j = 12 * k + 3 * leg + 2;
            let others = (0..size).filter(|&i| i != j).any(|i| h[j * size + i] != 0.0);
            assert_eq!((others, g[j] != 0.0), (*stands, *stands), "step {k}, leg {leg}");
            assert!(h[j * size + j] >= 2.0);
        }
    }
}
