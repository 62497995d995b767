//! Integrates the continuous state of one block run by hand.

use crate::testing::Bench;

/// One step of the classical Runge–Kutta method from `t` over `h`, with the input `u` as a function
/// of time. At the end the input is that of `t + h`.
pub(crate) fn rk4(bench: &mut Bench, t: f64, h: f64, input: impl Fn(f64) -> Vec<f64>) {
    let start = bench.x.clone();
    let slope = |bench: &mut Bench, at: f64, from: &[f64], share: f64| {
        let moved = start.iter().zip(from).map(|(x, rate)| x + share * rate).collect();
        bench.x = moved;
        bench.set("u", &input(at));
        bench.derivative(at)
    };
    let k1 = slope(bench, t, &vec![0.0; start.len()], 0.0);
    let k2 = slope(bench, t + 0.5 * h, &k1, 0.5 * h);
    let k3 = slope(bench, t + 0.5 * h, &k2, 0.5 * h);
    let k4 = slope(bench, t + h, &k3, h);
    for (i, x) in start.iter().enumerate() {
        bench.x[i] = x + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
    }
}
