//! `ExtendedKalmanFilter`: estimates the state of a system that is a function of the diagram.

use legwork_block::quantity::Tensor;
use legwork_block::{
    Argument, Block, Dim, Fault, Function, Functions, Invalid, Outcome, OutputCx, Parameters,
    Ports, RateRule, ResultOf, Sizes, Type, UpdateCx, Vector, Written, block, parameters, ports,
};
use legwork_linalg::matrix_vector;
use serde::{Deserialize, Serialize};

use super::covariance::{Covariance, Update, spread};
use super::lqr::numbers;
use crate::signal::shape::finite;

/// Estimates the state of a nonlinear system from its inputs and outputs.
///
/// | function | type | meaning |
/// |---|---|---|
/// | `predict` | `fn(x: Vector(n), u: Vector(m)) -> (x_next: Vector(n))` | x a period later |
/// | `measure` | `fn(x: Vector(n)) -> (y: Vector(p))` | what is measured of a state |
///
/// ```text
/// correct  M = P⁻ Hᵀ (H P⁻ Hᵀ + V)⁻¹,  x̂ = x⁻ + M (y − measure(x⁻))
///          P = (1 − M H) P⁻ (1 − M H)ᵀ + M V Mᵀ
/// predict  x⁻₊ = predict(x̂, u),  P⁻₊ = F P Fᵀ + W
/// ```
///
/// with H of `measure` at x⁻ and F of `predict` at x̂, both by central differences of steps of
/// 6e-6 (1 + |xᵢ|): 2 n calls of each function in a period. W and V are `process` and
/// `measurement`. The output is x̂, after the measurement of this period; u does not feed through.
///
/// The functions are parts of the diagram, as `legwork help functions` explains: a step of an
/// integrator around the model, or a law in closed form.
///
/// Reference: A. Jazwinski, *Stochastic Processes and Filtering Theory* (1970), section 8.3.
#[ports(
    keep model: Model = self.model(ports)?;
    ports.rate(RateRule::Sampled);
    let n = model.initial.len();
    in  u: Vector::of(&model.m), _, "the plant's inputs", units "any", shape "m";
    in  y: Vector::of(&model.p), _, "what is measured", units "any", shape "p";
    feeds(y);
    out x: Vector::of(n), _, "the estimate", shape "n", units "those of the states";
    out innovation: Vector::of(&model.p), _, "y less what was expected of it", shape "p",
        units "as `y`";
)]
#[parameters(aliases("EKF", "observer", "estimator", "state estimation"))]
pub struct ExtendedKalmanFilter {
    /// The first estimate, before its measurement: a list of n.
    pub initial: Tensor,
    /// P⁻ of the first estimate: n rows of n, a list of n for a diagonal, or one number for all.
    pub covariance: Tensor,
    /// W of x₊, as `covariance`.
    pub process: Tensor,
    /// V: p rows of p, a list of p for a diagonal, or one number for all.
    pub measurement: Tensor,
}

/// The functions, sizes and covariances.
struct Model {
    m: Dim,
    p: Dim,
    predict: Predict,
    measure: Measure,
    initial: Vec<f64>,
    first: Vec<f64>,
    process: Vec<f64>,
}

/// `predict`.
struct Predict {
    function: Function,
    x: Argument<Vector>,
    u: Argument<Vector>,
    next: ResultOf<Vector>,
}

/// `measure`.
struct Measure {
    function: Function,
    x: Argument<Vector>,
    y: ResultOf<Vector>,
}

impl ExtendedKalmanFilter {
    fn model(&self, ports: &mut Ports<'_>) -> Result<Model, Invalid> {
        finite("initial", &self.initial)?;
        let n = match *self.initial.shape() {
            [n] if n > 0 => n,
            ref found => {
                let message = format!("expected a list of states, found the shape {found:?}");
                return Err(Invalid::parameter("initial", message));
            }
        };
        let (m, p) = (ports.dim(), ports.dim());
        let function = ports.function("predict");
        let predict = Predict {
            function,
            x: ports.argument(function, "x", &Vector::of(n)),
            u: ports.argument(function, "u", &Vector::of(&m)),
            next: ports.result(function, "x_next", &Vector::of(n)),
        };
        let function = ports.function("measure");
        let measure = Measure {
            function,
            x: ports.argument(function, "x", &Vector::of(n)),
            y: ports.result(function, "y", &Vector::of(&p)),
        };
        Ok(Model {
            m,
            p,
            predict,
            measure,
            initial: numbers("initial", &self.initial, n)?,
            first: spread("covariance", &self.covariance, n)?,
            process: spread("process", &self.process, n)?,
        })
    }
}

/// x⁻ and P⁻, of the present period.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Estimate {
    x: Vec<f64>,
    covariance: Covariance,
}

/// Work memory of an [`ExtendedKalmanFilter`].
pub struct Scratch {
    measurement: Vec<f64>,
    update: Update,
    /// H, p × n, and F, n × n.
    h: Vec<f64>,
    f: Vec<f64>,
    /// The innovation, x̂, and states beside it.
    innovation: Vec<f64>,
    x: Vec<f64>,
    near: Vec<f64>,
}

/// Step of central differences, relative to 1 + |x|: the cube root of what a number resolves.
const DIFFERENCE: f64 = 6e-6;

impl Model {
    /// `measure` at x, into `y`.
    fn measured(&self, functions: &mut Functions<'_>, x: &[f64], y: &mut [f64]) -> Outcome {
        let mut call = functions.of(self.measure.function);
        call.argument(self.measure.x).copy_from_slice(x);
        y.copy_from_slice(call.run()?.get(self.measure.y));
        Ok(())
    }

    /// `predict` at x and u, into `next`.
    fn predicted(
        &self,
        functions: &mut Functions<'_>,
        (x, u): (&[f64], &[f64]),
        next: &mut [f64],
    ) -> Outcome {
        let mut call = functions.of(self.predict.function);
        call.argument(self.predict.x).copy_from_slice(x);
        call.argument(self.predict.u).copy_from_slice(u);
        next.copy_from_slice(call.run()?.get(self.predict.next));
        Ok(())
    }

    /// x̂ in `scratch.x` and the innovation.
    fn correct(
        &self,
        functions: &mut Functions<'_>,
        state: &Estimate,
        y: &[f64],
        scratch: &mut Scratch,
    ) -> Outcome {
        let Scratch { measurement, update, h, innovation, x, near, .. } = scratch;
        let p = innovation.len();
        near.copy_from_slice(&state.x);
        for (i, column) in h.chunks_exact_mut(p.max(1)).enumerate() {
            let step = DIFFERENCE * (1.0 + state.x[i].abs());
            near[i] = state.x[i] + step;
            self.measured(functions, near, column)?;
            near[i] = state.x[i] - step;
            self.measured(functions, near, innovation)?;
            near[i] = state.x[i];
            for (slope, below) in column.iter_mut().zip(&*innovation) {
                *slope = (*slope - below) / (2.0 * step);
            }
        }
        self.measured(functions, &state.x, innovation)?;
        innovation.iter_mut().zip(y).for_each(|(expected, y)| *expected = y - *expected);
        let Some(gain) = update.gain(&state.covariance, h, measurement) else {
            return Err(Fault::new("the covariance of the innovation is not positive definite"));
        };
        matrix_vector(gain, x.len(), innovation, x);
        x.iter_mut().zip(&state.x).for_each(|(x, prior)| *x += prior);
        Ok(())
    }
}

#[block]
impl Block for ExtendedKalmanFilter {
    type State = Estimate;
    type Scratch = Scratch;

    fn check(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        spread("measurement", &self.measurement, sizes.dim(&plan.model.p)).map(|_| ())
    }

    fn state(&self, plan: &Self::Plan, _: &Sizes<'_>) -> Estimate {
        let Model { initial, first, .. } = &plan.model;
        Estimate { x: initial.clone(), covariance: Covariance::new(first.clone()) }
    }

    fn numbers(&self, _: &Self::Plan, state: &Estimate) -> Vec<f64> {
        state.x.clone()
    }

    fn set_numbers(&self, _: &Self::Plan, state: &mut Estimate, numbers: &[f64]) {
        state.x.copy_from_slice(numbers);
    }

    fn starting_at(&self, _: &Self::Plan, at: &[f64], _: &[Type]) -> Option<Parameters> {
        Some(vec![("initial", Written::list(at))])
    }

    fn scratch(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Scratch {
        let (n, p) = (plan.model.initial.len(), sizes.dim(&plan.model.p));
        let zeros = |len: usize| vec![0.0; len];
        Scratch {
            // `check` has accepted it.
            measurement: spread("measurement", &self.measurement, p).unwrap_or_default(),
            update: Update::new(n, p),
            h: zeros(n * p),
            f: zeros(n * n),
            innovation: zeros(p),
            x: zeros(n),
            near: zeros(n),
        }
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let y = cx.inputs.get(plan.y);
        plan.model.correct(&mut cx.functions, cx.state, y, cx.scratch)?;
        cx.outputs.get(plan.x).copy_from_slice(&cx.scratch.x);
        cx.outputs.get(plan.innovation).copy_from_slice(&cx.scratch.innovation);
        Ok(())
    }

    fn update(&self, plan: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let model = &plan.model;
        let (u, y) = (cx.inputs.get(plan.u), cx.inputs.get(plan.y));
        model.correct(&mut cx.functions, cx.state, y, cx.scratch)?;
        let Scratch { measurement, update, h, f, x, near, .. } = &mut *cx.scratch;
        let n = x.len();
        near.copy_from_slice(x);
        // x⁻ has been used: it holds the other side of a difference, then the next x⁻.
        let next = &mut cx.state.x;
        for (i, column) in f.chunks_exact_mut(n).enumerate() {
            let step = DIFFERENCE * (1.0 + x[i].abs());
            near[i] = x[i] + step;
            model.predicted(&mut cx.functions, (near, u), column)?;
            near[i] = x[i] - step;
            model.predicted(&mut cx.functions, (near, u), next)?;
            near[i] = x[i];
            for (slope, below) in column.iter_mut().zip(&*next) {
                *slope = (*slope - below) / (2.0 * step);
            }
        }
        model.predicted(&mut cx.functions, (x, u), next)?;
        update.advance(&mut cx.state.covariance, (f, h), (&model.process, measurement));
        Ok(())
    }
}
