//! Proper rational transfer functions in controllable canonical form.
//!
//! With the denominator made monic, sⁿ + a₁ sⁿ⁻¹ + … + aₙ, and the numerator written
//! b₀ sⁿ + b₁ sⁿ⁻¹ + … + bₙ,
//!
//! ```text
//!      | −a₁ −a₂ … −aₙ |       | 1 |
//! A =  |   1   0 …   0 |,  B = | 0 |,  C = [b₁ − a₁ b₀, …, bₙ − aₙ b₀],  D = b₀.
//!      |   0   1 …   0 |       | 0 |
//! ```
//!
//! Reference: T. Kailath, *Linear Systems* (1980), section 2.1.2.

use legwork_block::quantity::{Scalar, Tensor};
use legwork_block::{
    Any, ContinuousState, In, Inputs, Invalid, Manifold, Out, Outputs, Ports, Sizes, Slopes, Type,
    parameters,
};

use crate::discrete::delay::ring_memory;
use crate::signal::shape::{expect_numbers, finite};

/// What the input of a continuous filter is.
#[parameters]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum Filtered {
    /// A number.
    #[default]
    Number,
    /// A vector, each element filtered on its own.
    Vector,
}

/// A proper rational transfer function of order n, for one channel.
pub(crate) struct Canonical {
    /// a₁ … aₙ.
    a: Vec<f64>,
    /// c₁ … cₙ.
    c: Vec<f64>,
    /// The feedthrough D.
    d: f64,
}

impl Canonical {
    /// The function `numerator / denominator`, coefficients of falling powers.
    ///
    /// # Errors
    /// If the denominator's first coefficient is zero or there is none, or the numerator is of
    /// higher degree.
    pub(crate) fn new(numerator: &[f64], denominator: &[f64]) -> Result<Self, Invalid> {
        let Some((&first, rest)) = denominator.split_first() else {
            let message = "expected at least one coefficient, found none";
            return Err(Invalid::parameter("denominator", message));
        };
        if first == 0.0 {
            let message = "expected a first coefficient other than zero, found 0";
            return Err(Invalid::parameter("denominator", message));
        }
        let leading = numerator.iter().take_while(|b| **b == 0.0).count();
        let numerator = &numerator[leading..];
        let order = rest.len();
        if numerator.len() > order + 1 {
            let message = format!(
                "expected at most the degree {order} of the denominator, found the degree {}",
                numerator.len() - 1
            );
            return Err(Invalid::parameter("numerator", message)
                .hint("for a derivative see `Derivative`, which filters it"));
        }
        let mut b = vec![0.0; order + 1 - numerator.len()];
        b.extend(numerator.iter().map(|b| b / first));
        let a: Vec<f64> = rest.iter().map(|a| a / first).collect();
        let d = b[0];
        let c = b[1..].iter().zip(&a).map(|(b, a)| b - a * d).collect();
        Ok(Self { a, c, d })
    }

    /// n.
    pub(crate) fn order(&self) -> usize {
        self.a.len()
    }

    /// Whether the input reaches the output at once.
    pub(crate) fn feeds_through(&self) -> bool {
        self.d != 0.0
    }

    /// Declares the state of a continuous filter, channel after channel; gives its signal.
    pub(crate) fn continuous_state(&self, of: Filtered, ports: &mut Ports<'_>) -> Any {
        let (ty, states) = match of {
            Filtered::Number => (Type::Real, self.order().into()),
            Filtered::Vector => {
                let n = ports.dim();
                (Type::vector(&n), self.order() * n)
            }
        };
        if self.order() > 0 {
            ports.continuous_state(ContinuousState::First(vec![Manifold::Euclidean(states)]));
        }
        Any(ty)
    }

    /// `C x`.
    fn value(&self, x: &[f64]) -> f64 {
        self.c.iter().zip(x).fold(0.0, |sum, (c, x)| sum + c * x)
    }

    /// First element of `A x + B u`.
    fn first(&self, x: &[f64], u: f64) -> f64 {
        self.a.iter().zip(x).fold(u, |sum, (a, x)| sum - a * x)
    }

    /// Writes the outputs of all channels. Without feedthrough `u` is not read.
    fn outputs<'a>(&self, x: &[f64], u: impl FnOnce() -> &'a [f64], y: &mut [f64]) {
        let order = self.order();
        for (i, y) in y.iter_mut().enumerate() {
            *y = self.value(&x[i * order..(i + 1) * order]);
        }
        if self.feeds_through() {
            y.iter_mut().zip(u()).for_each(|(y, u)| *y += self.d * u);
        }
    }
}

/// The most coefficients of a polynomial.
const MOST_COEFFICIENTS: usize = 100_000;

/// Finite values of coefficients.
pub(crate) fn coefficients(name: &str, given: &[Scalar]) -> Result<Vec<f64>, Invalid> {
    if given.len() > MOST_COEFFICIENTS {
        let message = format!("expected at most {MOST_COEFFICIENTS}, found {}", given.len());
        return Err(Invalid::parameter(name, message));
    }
    match given.iter().find(|scalar| !scalar.value.is_finite()) {
        Some(scalar) => {
            let message = format!("expected finite coefficients, found {}", scalar.value);
            Err(Invalid::parameter(name, message))
        }
        None => Ok(given.iter().map(|scalar| scalar.value).collect()),
    }
}

/// Plan of a filter, continuous or of samples.
pub struct Filter {
    pub(crate) canonical: Canonical,
    pub(crate) u: In<Any>,
    pub(crate) y: Out<Any>,
}

impl Filter {
    /// Checks the parameter `initial`.
    ///
    /// # Errors
    /// If it has not as many numbers as the filter has states, or one is infinite.
    pub(crate) fn check(&self, initial: &Tensor, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        expect_numbers(sizes, self.u)?;
        finite("initial", initial)?;
        let len = sizes.output(self.y).saturating_mul(self.canonical.order());
        match *initial.shape() {
            [] => Ok(()),
            [n] if n == len => Ok(()),
            ref found => {
                let message = format!("expected {len} states, found the shape {found:?}");
                Err(Invalid::parameter("initial", message))
            }
        }
    }

    /// Bytes of the state of a filter of samples.
    pub(crate) fn memory(&self, sizes: &Sizes<'_>) -> u64 {
        ring_memory(self.canonical.order(), sizes.output(self.y))
    }

    /// `y = C x + D u`, channel after channel.
    pub(crate) fn output(&self, x: &[f64], inputs: Inputs<'_>, outputs: &mut Outputs<'_>) {
        self.canonical.outputs(x, || inputs.get(self.u).leaf(0), outputs.get(self.y));
    }

    /// `ẋ = A x + B u`.
    pub(crate) fn derivative(&self, x: &[f64], inputs: Inputs<'_>, rate: &mut [f64]) {
        let order = self.canonical.order();
        if order == 0 {
            return;
        }
        let channels = rate.chunks_exact_mut(order).zip(x.chunks_exact(order));
        for ((rate, x), &u) in channels.zip(inputs.get(self.u).leaf(0)) {
            rate[0] = self.canonical.first(x, u);
            rate[1..].copy_from_slice(&x[..order - 1]);
        }
    }

    /// The slopes of [`Self::output`].
    pub(crate) fn output_slopes(&self, slopes: &mut Slopes<'_>) {
        let (y, u, x) = (slopes.rows(self.y, 0), slopes.columns(self.u, 0), slopes.state());
        for i in 0..y.len() {
            slopes.add((y, i), (u, i), self.canonical.d);
            for (k, c) in self.canonical.c.iter().enumerate() {
                slopes.add((y, i), (x, i * self.canonical.order() + k), *c);
            }
        }
    }

    /// The slopes of [`Self::derivative`].
    pub(crate) fn rate_slopes(&self, slopes: &mut Slopes<'_>) {
        let (rates, u, x) = (slopes.rates(), slopes.columns(self.u, 0), slopes.state());
        let order = self.canonical.order();
        for i in 0..u.len() {
            let first = i * order;
            slopes.add((rates, first), (u, i), 1.0);
            for (k, a) in self.canonical.a.iter().enumerate() {
                slopes.add((rates, first), (x, first + k), -a);
            }
            for k in 1..order {
                slopes.add((rates, first + k), (x, first + k - 1), 1.0);
            }
        }
    }

    /// `x⁺ = A x + B u`.
    pub(crate) fn update(&self, x: &mut [f64], inputs: Inputs<'_>) {
        let order = self.canonical.order();
        if order == 0 {
            return;
        }
        for (x, &u) in x.chunks_exact_mut(order).zip(inputs.get(self.u).leaf(0)) {
            let first = self.canonical.first(x, u);
            x.copy_within(..order - 1, 1);
            x[0] = first;
        }
    }
}

/// Implements a continuous filter of the parameters `of` and `initial`, the ports `u` and `y` and
/// the function `canonical`.
macro_rules! continuous_filter {
    ($block:ident) => {
        const _: () = {
            use legwork_block::{Block, DerivativeCx, Outcome, OutputCx, Parameters, Ports, Sizes};
            use legwork_block::{Slope, SlopesCx, Type, Written, block};

            use crate::signal::canonical::Filter;
            use crate::signal::shape::spread;

            #[block]
            impl Block for $block {
                type Plan = Filter;

                fn plan(&self, ports: &mut Ports<'_>) -> Result<Filter, Invalid> {
                    let canonical = self.canonical()?;
                    let ty = canonical.continuous_state(self.of, ports);
                    let io = self.declare(ports, &canonical, &ty)?;
                    Ok(Filter { canonical, u: io.u, y: io.y })
                }

                fn check(&self, plan: &Filter, sizes: &Sizes<'_>) -> Result<(), Invalid> {
                    plan.check(&self.initial, sizes)
                }

                fn initial(&self, _: &Filter, _: &Sizes<'_>, x: &mut [f64]) {
                    x.copy_from_slice(&spread(&self.initial, x.len()));
                }

                fn starting_at(&self, _: &Filter, at: &[f64], _: &[Type]) -> Option<Parameters> {
                    Some(vec![("initial", Written::list(at))])
                }

                fn output(&self, plan: &Filter, cx: &mut OutputCx<'_, Self>) -> Outcome {
                    plan.output(cx.x, cx.inputs, &mut cx.outputs);
                    Ok(())
                }

                fn output_slopes(&self, plan: &Filter, cx: &mut SlopesCx<'_, Self>) -> Slope {
                    plan.output_slopes(&mut cx.slopes);
                    Slope::Exact
                }

                fn derivative(&self, plan: &Filter, cx: &mut DerivativeCx<'_, Self>) -> Outcome {
                    plan.derivative(cx.x, cx.inputs, cx.rate);
                    Ok(())
                }

                fn rate_slopes(&self, plan: &Filter, cx: &mut SlopesCx<'_, Self>) -> Slope {
                    plan.rate_slopes(&mut cx.slopes);
                    Slope::Exact
                }
            }
        };
    };
}
pub(crate) use continuous_filter;

/// Implements a filter of samples of the parameter `initial`, the ports `u` and `y` and the
/// function `canonical`.
macro_rules! discrete_filter {
    ($block:ident) => {
        const _: () = {
            use legwork_block::{Block, Outcome, OutputCx, Parameters, Ports, RateRule, Sizes};
            use legwork_block::{Type, UpdateCx, Written, block};

            use crate::signal::canonical::Filter;
            use crate::signal::shape::spread;

            #[block]
            impl Block for $block {
                type Plan = Filter;
                /// States of the canonical form, element after element.
                type State = Vec<f64>;

                fn plan(&self, ports: &mut Ports<'_>) -> Result<Filter, Invalid> {
                    let canonical = self.canonical()?;
                    ports.rate(RateRule::Sampled);
                    let io = self.declare(ports, &canonical)?;
                    Ok(Filter { canonical, u: io.u, y: io.y })
                }

                fn check(&self, plan: &Filter, sizes: &Sizes<'_>) -> Result<(), Invalid> {
                    plan.check(&self.initial, sizes)
                }

                fn state(&self, plan: &Filter, sizes: &Sizes<'_>) -> Vec<f64> {
                    spread(&self.initial, sizes.output(plan.y) * plan.canonical.order())
                }

                fn memory(&self, plan: &Filter, sizes: &Sizes<'_>) -> u64 {
                    plan.memory(sizes)
                }

                fn numbers(&self, _: &Filter, state: &Vec<f64>) -> Vec<f64> {
                    state.clone()
                }

                fn set_numbers(&self, _: &Filter, state: &mut Vec<f64>, numbers: &[f64]) {
                    state.copy_from_slice(numbers);
                }

                fn starting_at(&self, _: &Filter, at: &[f64], _: &[Type]) -> Option<Parameters> {
                    Some(vec![("initial", Written::list(at))])
                }

                fn output(&self, plan: &Filter, cx: &mut OutputCx<'_, Self>) -> Outcome {
                    plan.output(cx.state, cx.inputs, &mut cx.outputs);
                    Ok(())
                }

                fn update(&self, plan: &Filter, cx: &mut UpdateCx<'_, Self>) -> Outcome {
                    plan.update(cx.state, cx.inputs);
                    Ok(())
                }
            }
        };
    };
}
pub(crate) use discrete_filter;

#[cfg(test)]
mod tests {
    use super::*;

    /// `C (s − A)⁻¹ B + D` at a real s, by the canonical state's powers: xᵢ = sⁿ⁻ⁱ / den(s).
    #[test]
    fn the_state_space_has_the_ratio_of_polynomials() {
        let (numerator, denominator) = ([2.0, -1.0, 5.0, 0.5], [4.0, 3.0, 2.0, 1.0]);
        let canonical = Canonical::new(&numerator, &denominator).expect("a proper function");
        let horner = |p: &[f64], s: f64| p.iter().fold(0.0, |sum, c| sum * s + c);
        for s in [0.3, 1.0, 7.5] {
            let monic = horner(&denominator, s) / 4.0;
            let x: Vec<f64> = (0..3).map(|i| s.powi(2 - i) / monic).collect();
            // This x solves (s − A) x = B: its first row reads s x₁ = first(x, 1).
            assert!((canonical.first(&x, 1.0) - s * x[0]).abs() < 1e-14);
            let y = canonical.value(&x) + canonical.d;
            let exact = horner(&numerator, s) / horner(&denominator, s);
            assert!((y - exact).abs() < 1e-14, "s = {s}: {y} against {exact}");
        }
    }

    #[test]
    fn zeros_in_front_of_the_numerator_do_not_count() {
        let strict = Canonical::new(&[0.0, 0.0, 3.0], &[1.0, 2.0]).expect("a proper function");
        assert_eq!((strict.d, strict.c.as_slice()), (0.0, &[3.0][..]));
    }

    #[test]
    fn functions_are_proper() {
        let message = |n: &[f64], d: &[f64]| Canonical::new(n, d).map(|_| ()).unwrap_err().message;
        assert_eq!(
            message(&[1.0, 0.0], &[2.0]),
            "expected at most the degree 0 of the denominator, found the degree 1"
        );
        assert!(message(&[1.0], &[]).ends_with("found none"));
        assert!(message(&[1.0], &[0.0, 1.0]).starts_with("expected a first coefficient other"));
    }
}
