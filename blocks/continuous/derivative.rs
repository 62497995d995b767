//! `Derivative`: a filtered derivative.

use legwork_block::quantity::{AngularVelocity, Positive, Tensor};
use legwork_block::{
    Any, Block, ContinuousState, DerivativeCx, Dim, Manifold, Outcome, OutputCx, Parameters, Sizes,
    Slope, SlopesCx, Type, block, parameters, ports,
};

use crate::signal::{shape, units};

/// The derivative of the input, filtered: `Y(s) / U(s) = N s / (s + N)`. That is `ẋ = N (u − x)`,
/// `y = N (u − x)`, `x(0) = initial`.
///
/// Slow inputs (below N) are differentiated, about 1/N late; fast ones, such as noise, only gain
/// the factor N. A greater N is sharper and stiffer: explicit solvers need a step below 2/N. The
/// input feeds through. For a vector of n write `initial: "=zeros(n)"`. For samples see
/// `DiscreteDerivative`.
#[ports(
    shape::finite("initial", &self.initial)?;
    let n = Dim::fixed(self.initial.data().len());
    ports.continuous_state(ContinuousState::First(vec![Manifold::Euclidean(n)]));
    let unit = units::known_or_open(self.initial.unit(), ports);
    in  u: shape::signal(self.initial.shape()) as Any, unit.clone(), "what is differentiated",
        shape "that of `initial`", units "that of `initial`, or any";
    out y: shape::signal(self.initial.shape()) as Any, units::per_second(&unit), "rate of change",
        shape "that of `u`", units "unit of u / s";
)]
#[parameters(aliases("differentiator", "D term", "high-pass"))]
pub struct Derivative {
    /// Bandwidth N of the filter [rad/s].
    pub filter: Positive<AngularVelocity>,
    /// Value of `u` that the derivative starts from [any unit]: with that at t = 0 there is no
    /// kick. It also says what shape `u` and `y` have.
    #[default = 0]
    pub initial: Tensor,
}

#[block]
impl Block for Derivative {
    fn initial(&self, _: &Self::Plan, _: &Sizes<'_>, x: &mut [f64]) {
        x.copy_from_slice(self.initial.data());
    }

    fn starting_at(&self, _: &Self::Plan, at: &[f64], outputs: &[Type]) -> Option<Parameters> {
        shape::starting_at("initial", self.initial.unit(), at, outputs)
    }

    fn output(&self, io: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let filter = self.filter.value();
        let u = cx.inputs.get(io.u).leaf(0);
        for ((y, u), x) in cx.outputs.get(io.y).iter_mut().zip(u).zip(cx.x) {
            *y = filter * (u - x);
        }
        Ok(())
    }

    fn derivative(&self, io: &Self::Plan, cx: &mut DerivativeCx<'_, Self>) -> Outcome {
        let filter = self.filter.value();
        let u = cx.inputs.get(io.u).leaf(0);
        for ((rate, u), x) in cx.rate.iter_mut().zip(u).zip(cx.x) {
            *rate = filter * (u - x);
        }
        Ok(())
    }

    fn output_slopes(&self, io: &Self::Plan, cx: &mut SlopesCx<'_, Self>) -> Slope {
        let (filter, y) = (self.filter.value(), cx.slopes.rows(io.y, 0));
        cx.slopes.each(y, cx.slopes.columns(io.u, 0), |_| filter);
        cx.slopes.each(y, cx.slopes.state(), |_| -filter);
        Slope::Exact
    }

    fn rate_slopes(&self, io: &Self::Plan, cx: &mut SlopesCx<'_, Self>) -> Slope {
        let (filter, rates) = (self.filter.value(), cx.slopes.rates());
        cx.slopes.each(rates, cx.slopes.columns(io.u, 0), |_| filter);
        cx.slopes.each(rates, cx.slopes.state(), |_| -filter);
        Slope::Exact
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use serde_json::json;

    use super::*;
    use crate::testing::integrate::rk4;
    use crate::testing::{Bench, block, refusal};

    /// Of sin ωt, once the start is forgotten: ω N / √(ω² + N²) cos(ωt − atan(ω / N)).
    #[test]
    fn a_sine_becomes_a_cosine_of_the_filters_gain_and_lag() {
        let derivative: Derivative = block(json!({ "filter": "50 rad/s", "initial": [0, 1] }));
        let mut bench = Bench::new(derivative, &[Type::vector(2)]).expect("a derivative");
        let (omega, n) = (3.0_f64, 50.0);
        let gain = omega * n / libm::sqrt(omega * omega + n * n);
        let lag = libm::atan(omega / n);
        for k in 0..1000 {
            let wave = |t: f64| vec![libm::sin(omega * t), 1.0];
            rk4(&mut bench, 0.001 * f64::from(k), 0.001, wave);
        }
        let y = bench.y(1.0, &[]);
        assert!((y[0] - gain * libm::cos(omega - lag)).abs() < 1e-6);
        assert_eq!(y[1], 0.0, "a constant that it started from");
    }

    #[test]
    fn the_filter_is_positive() {
        let wrong = serde_json::from_value::<Derivative>(json!({ "filter": 0 })).unwrap_err();
        assert!(wrong.to_string().contains("greater than zero"), "{wrong}");
        let infinite: Derivative = block(json!({ "filter": 1, "initial": "inf" }));
        assert_eq!(refusal(infinite, &[]), "expected finite values, found inf");
    }
}
