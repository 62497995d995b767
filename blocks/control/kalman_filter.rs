//! `KalmanFilter`: estimates the state of a linear system from its outputs.

use legwork_block::quantity::Tensor;
use legwork_block::{
    Any, Block, Fault, Inputs, Invalid, Outcome, OutputCx, Parameters, RateRule, Sizes, Type,
    UpdateCx, Vector, Written, block, parameters, ports,
};
use legwork_linalg::matrix_vector;
use serde::{Deserialize, Serialize};

use super::covariance::{Covariance, Update, spread};
use super::lqr::numbers;
use crate::signal::linear::Linear;
use crate::signal::shape::finite;

/// Estimates the state of a linear system from its inputs and outputs.
///
/// ```text
/// correct  x̂ = x⁻ + M (y − y₀ − C x⁻ − D (u − u₀))
/// predict  x⁻₊ = A x̂ + B (u − u₀)
/// ```
///
/// in distances from an equilibrium (x₀, u₀, y₀): `state`, `input`, `output`. The output is
/// x₀ + x̂, the estimate after the measurement of this period.
///
/// M is `gain`, that of the steady state, which `legwork kalman FILE --block NAME` finds with the
/// model on the diagram itself and writes as a patch: the states are those of the diagram, named in
/// its answer, and `Lqr` takes the estimate by `legwork lqr --estimate`. Without `gain`, M follows
/// from the covariances W of `process` noise (of x₊) and V of `measurement` noise, from that of the
/// first estimate on:
///
/// ```text
/// M = P⁻ Cᵀ (C P⁻ Cᵀ + V)⁻¹     P = (1 − M C) P⁻ (1 − M C)ᵀ + M V Mᵀ     P⁻₊ = A P Aᵀ + W
/// ```
///
/// Noise that changes from period to period, such as that of a foot which slips or swings, comes in
/// by `W` and `V`: variances of this period, in the place of the diagonals of `process` and
/// `measurement`. `variance` is the diagonal of P.
///
/// u feeds through only if D is not zero, so that a controller may read the estimate that its own
/// output enters. The period is stated by `every:` or inherited; the matrices are those of this
/// period.
///
/// References: R. Kalman, *A new approach to linear filtering and prediction problems* (1960);
/// B. Anderson, J. Moore, *Optimal Filtering* (1979), section 3.1; Joseph's form of P as in P.
/// Maybeck, *Stochastic Models, Estimation, and Control* (1979), section 5.6.
#[ports(
    keep model: Model = self.model()?;
    ports.rate(RateRule::Sampled);
    let n = model.system.order;
    in  u: Any(model.system.input.clone()), _, "the plant's inputs", units "any",
        shape "number if `b` is a list of n; vector of m for n rows of m";
    in  y: Any(model.system.output.clone()), _, "what is measured", units "any",
        shape "number if `c` is a list of n; vector of p for p rows";
    let updates = matches!(model.correction, Correction::Covariances { .. });
    in  process_now("W")?: Vector::of(n), _, "variances of the process noise of this period",
        when updates, if "with `process`", units "squares of those of the states", shape "n";
    in  measurement_now("V")?: Any(model.system.output.clone()), _,
        "variances of the measurement noise of this period", when updates, if "with `process`",
        units "squares of those of `y`", shape "as `y`";
    let direct = model.system.feeds_through.then_some(u);
    feeds(y, direct, measurement_now);
    out x: Vector::of(n), _, "the estimate", shape "n", units "those of the states";
    out innovation: Any(model.system.output.clone()), _, "y less what was expected of it",
        shape "as `y`", units "as `y`";
    out variance: Vector::of(n), _, "variances of the estimate", when updates,
        if "with `process`", units "squares of those of the states", shape "n";
)]
#[parameters(aliases("observer", "estimator", "state estimation"))]
pub struct KalmanFilter {
    /// A, n rows of n.
    pub a: Tensor,
    /// B: a list of n for one input, n rows of m for a vector.
    pub b: Tensor,
    /// C: a list of n for one output, p rows of n for a vector.
    pub c: Tensor,
    /// D, p rows of m; a list where one of them is a number, a number where both are. 0 means zeros
    /// of any shape.
    #[default = 0]
    pub d: Tensor,
    /// M: a list of n for one output, n rows of p; without it, from the covariances.
    pub gain: Option<Tensor>,
    /// W: n rows of n, a list of n for a diagonal, or one number for all; with `measurement`, in
    /// the place of `gain`.
    pub process: Option<Tensor>,
    /// V: p rows of p, a list of p for a diagonal, or one number for all.
    pub measurement: Option<Tensor>,
    /// P⁻ of the first estimate, as `process`; default W.
    pub covariance: Option<Tensor>,
    /// x₀: a list of n, or one number for all.
    #[default = 0]
    pub state: Tensor,
    /// u₀: a number, or a list of m.
    #[default = 0]
    pub input: Tensor,
    /// y₀: a number, or a list of p.
    #[default = 0]
    pub output: Tensor,
    /// The first estimate, before its measurement: as `state`; default `state` itself.
    pub initial: Option<Tensor>,
}

/// The system, how it is corrected, and the equilibrium.
struct Model {
    system: Linear,
    correction: Correction,
    state: Vec<f64>,
    input: Vec<f64>,
    output: Vec<f64>,
    /// x⁻ at t = 0.
    initial: Vec<f64>,
}

/// Where M comes from.
enum Correction {
    /// M, n × p, column by column.
    Steady(Vec<f64>),
    /// W, V and the first P⁻, column by column.
    Covariances { process: Vec<f64>, measurement: Vec<f64>, first: Vec<f64> },
}

impl KalmanFilter {
    fn model(&self) -> Result<Model, Invalid> {
        let system = Linear::new(&self.a, &self.b, &self.c, &self.d)?;
        let n = system.order;
        let len = |ty: &Type| match ty {
            Type::Vector(n) => n.known().unwrap_or(1),
            _ => 1,
        };
        let (m, p) = (len(&system.input), len(&system.output));
        let state = numbers("state", &self.state, n)?;
        let initial = match &self.initial {
            None => vec![0.0; n],
            Some(initial) => {
                finite("initial", initial)?;
                let given = numbers("initial", initial, n)?;
                given.iter().zip(&state).map(|(x, x0)| x - x0).collect()
            }
        };
        let operating = [("state", &self.state), ("input", &self.input), ("output", &self.output)];
        operating.iter().try_for_each(|(name, tensor)| finite(name, tensor))?;
        Ok(Model {
            correction: self.correction(n, p)?,
            input: numbers("input", &self.input, m)?,
            output: numbers("output", &self.output, p)?,
            system,
            state,
            initial,
        })
    }

    fn correction(&self, n: usize, p: usize) -> Result<Correction, Invalid> {
        let (process, measurement) = match (&self.gain, &self.process, &self.measurement) {
            (Some(gain), None, None) if self.covariance.is_none() => {
                finite("gain", gain)?;
                let fits = match *gain.shape() {
                    [] => n * p == 1,
                    [rows] => rows == n && p == 1,
                    [rows, columns] => (rows, columns) == (n, p),
                    _ => false,
                };
                if !fits {
                    let message =
                        format!("expected {n} rows of {p}, found the shape {:?}", gain.shape());
                    return Err(Invalid::parameter("gain", message));
                }
                return Ok(Correction::Steady(gain.data().to_vec()));
            }
            (None, Some(process), Some(measurement)) => (process, measurement),
            (Some(_), ..) => {
                let message = "expected either a gain or covariances, found both";
                return Err(Invalid::parameter("gain", message));
            }
            _ => {
                let message = "expected a gain, or covariances of both noises, found neither";
                return Err(Invalid::parameter("gain", message).hint(
                    "write `process:` and `measurement:`, or design `gain` by `legwork kalman`",
                ));
            }
        };
        let process = spread("process", process, n)?;
        let first = match &self.covariance {
            Some(first) => spread("covariance", first, n)?,
            None => process.clone(),
        };
        Ok(Correction::Covariances {
            measurement: spread("measurement", measurement, p)?,
            process,
            first,
        })
    }
}

/// x⁻ and P⁻, of the present period.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Estimate {
    x: Vec<f64>,
    covariance: Option<Covariance>,
}

/// Work memory of a [`KalmanFilter`].
pub struct Scratch {
    /// Distances of u, y, and x̂.
    u: Vec<f64>,
    y: Vec<f64>,
    x: Vec<f64>,
    next: Vec<f64>,
    update: Option<Update>,
    /// W and V of this period; without covariances nothing.
    process: Vec<f64>,
    measurement: Vec<f64>,
}

/// Variances of this period on the diagonal of a covariance.
fn on_diagonal(covariance: &mut [f64], name: &str, now: Option<&[f64]>) -> Outcome {
    let Some(now) = now else { return Ok(()) };
    for (i, &variance) in now.iter().enumerate() {
        if !(variance >= 0.0 && variance.is_finite()) {
            let message =
                format!("expected variances `{name}` of zero or more, found {variance} at {i}");
            return Err(Fault::new(message));
        }
        covariance[i * now.len() + i] = variance;
    }
    Ok(())
}

impl KalmanFilterPorts {
    /// x̂ in `scratch.x`, the innovation in `scratch.y`.
    fn correct(
        &self,
        state: &Estimate,
        inputs: &Inputs<'_>,
        u: Option<&[f64]>,
        scratch: &mut Scratch,
    ) -> Outcome {
        let Model { system, correction, output, input, .. } = &self.model;
        let y = inputs.get(self.y).leaf(0);
        let now = self.measurement_now.and_then(|now| inputs.optional(now));
        on_diagonal(&mut scratch.measurement, "V", now.map(|now| now.leaf(0)))?;
        let Scratch { u: du, y: dy, x, update, measurement, .. } = scratch;
        if let Some(u) = u {
            du.iter_mut().zip(u.iter().zip(input)).for_each(|(d, (u, u0))| *d = u - u0);
        }
        system.output(&state.x, || du, dy);
        dy.iter_mut().zip(y.iter().zip(output)).for_each(|(d, (y, y0))| *d = y - y0 - *d);
        let gain = match (correction, &state.covariance, update) {
            (Correction::Steady(gain), ..) => gain.as_slice(),
            (Correction::Covariances { .. }, Some(covariance), Some(update)) => {
                let found = update.gain(covariance, self.model.system.c(), measurement);
                found.ok_or_else(|| {
                    Fault::new("the covariance of the innovation is not positive definite")
                })?
            }
            _ => return Err(Fault::new("the filter has no covariance")),
        };
        matrix_vector(gain, x.len(), dy, x);
        x.iter_mut().zip(&state.x).for_each(|(x, prior)| *x += prior);
        Ok(())
    }
}

#[block]
impl Block for KalmanFilter {
    type State = Estimate;
    type Scratch = Scratch;

    fn state(&self, plan: &Self::Plan, _: &Sizes<'_>) -> Estimate {
        let covariance = match &plan.model.correction {
            Correction::Steady(_) => None,
            Correction::Covariances { first, .. } => Some(Covariance::new(first.clone())),
        };
        Estimate { x: plan.model.initial.clone(), covariance }
    }

    fn numbers(&self, _: &Self::Plan, state: &Estimate) -> Vec<f64> {
        state.x.clone()
    }

    fn set_numbers(&self, _: &Self::Plan, state: &mut Estimate, numbers: &[f64]) {
        state.x.copy_from_slice(numbers);
    }

    fn starting_at(&self, plan: &Self::Plan, at: &[f64], _: &[Type]) -> Option<Parameters> {
        let initial: Vec<f64> = at.iter().zip(&plan.model.state).map(|(x, x0)| x + x0).collect();
        Some(vec![("initial", Written::list(&initial))])
    }

    fn scratch(&self, plan: &Self::Plan, _: &Sizes<'_>) -> Scratch {
        let Model { system, correction, input, output, .. } = &plan.model;
        let (n, m, p) = (system.order, input.len(), output.len());
        Scratch {
            u: vec![0.0; m],
            y: vec![0.0; p],
            x: vec![0.0; n],
            next: vec![0.0; n],
            update: match correction {
                Correction::Steady(_) => None,
                Correction::Covariances { .. } => Some(Update::new(n, p)),
            },
            process: match correction {
                Correction::Steady(_) => Vec::new(),
                Correction::Covariances { process, .. } => process.clone(),
            },
            measurement: match correction {
                Correction::Steady(_) => Vec::new(),
                Correction::Covariances { measurement, .. } => measurement.clone(),
            },
        }
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let model = &plan.model;
        let u = model.system.feeds_through.then(|| cx.inputs.get(plan.u).leaf(0));
        plan.correct(cx.state, &cx.inputs, u, cx.scratch)?;
        if let (Some(variance), Some(covariance), Some(update)) =
            (plan.variance, &cx.state.covariance, &mut cx.scratch.update)
            && cx.outputs.is_read(variance)
        {
            update.variances(covariance, model.system.c(), cx.outputs.get(variance));
        }
        let x = cx.outputs.get(plan.x);
        for ((out, x), x0) in x.iter_mut().zip(&cx.scratch.x).zip(&model.state) {
            *out = x0 + x;
        }
        cx.outputs.get(plan.innovation).copy_from_slice(&cx.scratch.y);
        Ok(())
    }

    fn update(&self, plan: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let model = &plan.model;
        let u = cx.inputs.get(plan.u).leaf(0);
        plan.correct(cx.state, &cx.inputs, Some(u), cx.scratch)?;
        let now = plan.process_now.and_then(|now| cx.inputs.optional(now));
        on_diagonal(&mut cx.scratch.process, "W", now)?;
        let Scratch { u: du, x, next, update, process, measurement, .. } = &mut *cx.scratch;
        model.system.next(x, du, next);
        cx.state.x.copy_from_slice(next);
        if let (Some(covariance), Some(update)) = (&mut cx.state.covariance, update) {
            let matrices = (model.system.a(), model.system.c());
            update.advance(covariance, matrices, (process, measurement));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::{Bench, block, refusal};

    const PARAMETERS: &str = r#"{ "a": [[1, 0.1], [0, 1]], "b": [0.005, 0.1], "c": [1, 0] }"#;

    fn with(more: Value) -> Value {
        let mut parameters: Value = serde_json::from_str(PARAMETERS).expect("JSON");
        let object = parameters.as_object_mut().expect("an object");
        let Value::Object(more) = more else { panic!("an object") };
        object.extend(more);
        parameters
    }

    /// Estimates of a plant that starts elsewhere, without noise, go to its state by the poles of
    /// (1 − M C) A.
    #[test]
    fn the_estimate_reaches_the_state() {
        let filter: KalmanFilter = block(with(json!({
            "gain": [0.9, 4.0], "state": [2, 0], "input": 1, "output": 2, "initial": [0, 0],
        })));
        let mut bench = Bench::new(filter, &[Type::Real, Type::Real]).expect("a filter");
        let mut x = [0.7, -0.4];
        for k in 0..60 {
            let u = (0.3 * f64::from(k)).sin();
            bench.set("u", &[1.0 + u]);
            bench.set("y", &[2.0 + x[0]]);
            bench.output(0.0).expect("no fault");
            if k == 59 {
                let found = bench.value("x");
                let expected = [2.0 + x[0], x[1]];
                for (found, expected) in found.iter().zip(expected) {
                    assert!((found - expected).abs() < 1e-9, "{found} against {expected}");
                }
            }
            bench.update(0.0);
            x = [x[0] + 0.1 * x[1] + 0.005 * u, x[1] + 0.1 * u];
        }
    }

    /// With covariances a random walk that is measured with equal noise has the golden ratio: P⁻ =
    /// φ, M = 1/φ.
    #[test]
    fn the_gain_of_a_random_walk_goes_to_the_golden_ratio() {
        let filter: KalmanFilter = block(json!({
            "a": 1, "b": 0, "c": 1, "process": 1, "measurement": 1, "covariance": 100,
        }));
        let given = [Type::Real, Type::Real, Type::vector(1), Type::Real];
        let mut bench = Bench::new(filter, &given).expect("a filter");
        bench.set("u", &[0.0]);
        bench.set("W", &[1.0]);
        bench.set("V", &[1.0]);
        for _ in 0..40 {
            bench.set("y", &[0.0]);
            bench.output(0.0).expect("no fault");
            bench.update(0.0);
        }
        bench.set("y", &[1.0]);
        bench.output(0.0).expect("no fault");
        let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
        assert!((bench.value("x")[0] - golden).abs() < 1e-14, "{:?}", bench.value("x"));
        assert_eq!(bench.value("innovation"), [1.0]);
    }

    /// A number that does not move, 0 ± 100 at first and measured with noise that differs from time
    /// to time, is estimated by the mean weighted by inverse variances; its own is that of their sum.
    #[test]
    fn measurements_count_by_their_variances_of_the_moment() {
        let filter: KalmanFilter = block(json!({
            "a": 1, "b": 0, "c": 1, "process": 0, "measurement": 1, "covariance": 1e4,
        }));
        let given = [Type::Real, Type::Real, Type::vector(1), Type::Real];
        let mut bench = Bench::new(filter, &given).expect("a filter");
        let (mut weights, mut sum) = (1e-4, 0.0);
        for k in 0..20 {
            let (y, v) = (f64::from(k).sin(), 0.5 + f64::from(k % 7));
            (weights, sum) = (weights + 1.0 / v, sum + y / v);
            bench.set("u", &[0.0]);
            bench.set("y", &[y]);
            bench.set("V", &[v]);
            bench.set("W", &[0.0]);
            bench.output(0.0).expect("no fault");
            assert!((bench.value("x")[0] - sum / weights).abs() < 1e-9, "{k}");
            assert!((bench.value("variance")[0] * weights - 1.0).abs() < 1e-9, "{k}");
            bench.update(0.0);
        }
        // It may have moved: the next prediction is as uncertain as that.
        bench.set("W", &[4.0]);
        bench.update(0.0);
        bench.set("V", &[4.0]);
        bench.output(0.0).expect("no fault");
        let prior = 1.0 / (weights + 1.0 / 5.5) + 4.0;
        let expected = 1.0 / (1.0 / prior + 0.25);
        let found = bench.value("variance")[0];
        assert!((found - expected).abs() < 1e-9, "{found} against {expected}");
        bench.set("V", &[-1.0]);
        let told = bench.output(0.0).expect_err("a fault").to_string();
        assert!(told.contains("variances `V` of zero or more, found -1 at 0"), "{told}");
    }

    #[test]
    fn a_filter_has_a_gain_or_covariances() {
        let told = |more: Value| refusal(block::<KalmanFilter>(with(more)), &[]);
        assert_eq!(
            told(json!({})),
            "expected a gain, or covariances of both noises, found neither"
        );
        assert!(told(json!({ "gain": [1, 1], "process": 1 })).ends_with("found both"));
        assert_eq!(told(json!({ "gain": [1, 1, 1] })), "expected 2 rows of 1, found the shape [3]");
        let message = told(json!({ "process": [[1, 2], [0, 1]], "measurement": 1 }));
        assert_eq!(message, "expected a symmetric matrix, found 2 at (0, 1) and 0 at (1, 0)");
        let message = told(json!({ "process": 1, "measurement": -1 }));
        assert_eq!(message, "expected a diagonal of zero or more, found -1");
        // A symmetric matrix [a b; b c] is semidefinite if a c ≥ b².
        let unit = [[1.0, 0.0], [0.0, 1.0]];
        for (a, b, c) in [
            (1.0, 2.0, 1.0),
            (1.0, -2.0, 1.0),
            (4.0, 2.1, 1.0),
            (1e-6, 2e-6, 1e-6),
            (0.0, 0.1, 1.0),
            (1e6, 1.1e3, 1.0),
            (4.0, 2.0, 1.0),
            (1e6, 1e3, 1.0),
            (1.0, -1.0, 1.0),
            (0.0, 0.0, 2.0),
            (3.0, 1.0, 3.0),
        ] {
            let wrong = [[a, b], [b, c]];
            for (process, first) in [(wrong, unit), (unit, wrong)] {
                let more = json!({ "process": process, "measurement": 1, "covariance": first });
                let filter = block::<KalmanFilter>(with(more));
                match a * c < b * b * (1.0 - 1e-9) {
                    true => {
                        let least = 0.5 * (a + c) - f64::sqrt(0.25 * (a - c) * (a - c) + b * b);
                        let message = refusal(filter, &[]);
                        let (_, told) = message.split_once("eigenvalue ").unwrap();
                        let told: f64 = told.split_once(':').unwrap().0.parse().unwrap();
                        assert!((told / least - 1.0).abs() < 1e-5, "{least}: {message}");
                    }
                    false => assert!(filter.model().is_ok(), "{a}, {b}, {c}"),
                }
            }
        }
    }
}
