//! Limits of continuous state.

use legwork_block::quantity::Tensor;
use legwork_block::{Any, In, Invalid, Slopes, Unit};

use crate::nonlinear::saturation::limit;
use crate::signal::pieces::{self, Piece};
use crate::signal::shape::spread;

/// Where a limited state starts.
pub(crate) struct Start<'a> {
    /// The parameter that says so.
    pub(crate) name: &'a str,
    pub(crate) values: &'a [f64],
    pub(crate) shape: &'a [usize],
    pub(crate) unit: Option<Unit>,
}

/// An interval for each element of a state.
pub(crate) struct Limits {
    intervals: Vec<(f64, f64)>,
}

impl Limits {
    /// The limits of a state from where it starts; none if neither is given.
    ///
    /// # Errors
    /// If shapes or units differ, or if the state does not start between its limits.
    pub(crate) fn new(
        start: &Start<'_>,
        lower: Option<&Tensor>,
        upper: Option<&Tensor>,
    ) -> Result<Option<Self>, Invalid> {
        let mut intervals = vec![(f64::NEG_INFINITY, f64::INFINITY); start.values.len()];
        for (name, given) in [("lower", lower), ("upper", upper)] {
            let Some(given) = given else { continue };
            if !given.shape().is_empty() && given.shape() != start.shape {
                let (expected, found) = (start.shape, given.shape());
                let message = format!("expected the shape {expected:?}, found {found:?}");
                return Err(Invalid::parameter(name, message));
            }
            if let (Some(expected), Some(found)) = (start.unit, given.unit())
                && !expected.agrees(found)
            {
                let message = format!("expected the unit {expected}, found {found}");
                return Err(Invalid::parameter(name, message));
            }
            let bounds = spread(given, start.values.len());
            for ((interval, bound), x) in intervals.iter_mut().zip(bounds).zip(start.values) {
                let (lies_around, word) = match name {
                    "lower" => (bound <= *x, "most"),
                    _ => (bound >= *x, "least"),
                };
                if !lies_around {
                    let of = start.name;
                    let message =
                        format!("expected a limit of at {word} `{of}` = {x}, found {bound}");
                    return Err(Invalid::parameter(name, message));
                }
                *(if name == "lower" { &mut interval.0 } else { &mut interval.1 }) = bound;
            }
        }
        Ok((lower.is_some() || upper.is_some()).then_some(Self { intervals }))
    }

    /// The limits of element `i`.
    pub(crate) fn of(&self, i: usize) -> (f64, f64) {
        self.intervals[i]
    }

    /// Writes the guards of the state `x` with these rates: how far it is beyond a limit, then
    /// whether an element that is held at one leaves it.
    pub(crate) fn guard(&self, x: &[f64], held: &[Piece], rates: &[f64], values: &mut [f64]) {
        let [beyond, leaves @ ..] = values else { return };
        *beyond = pieces::furthest(x.iter().enumerate().map(|(i, x)| self.beyond(i, *x)));
        leaves.fill(Self::left(held, rates));
    }

    /// How far element `i` is beyond a limit; zero or below if it is not.
    fn beyond(&self, i: usize, x: f64) -> f64 {
        let (lower, upper) = self.intervals[i];
        (lower - x).max(x - upper)
    }

    /// Whether element `i` stays at a limit, where its rate points outwards.
    pub(crate) fn stays(&self, i: usize, x: f64, rate: f64) -> Piece {
        let (lower, upper) = self.intervals[i];
        if x <= lower && rate < 0.0 {
            Piece::Below
        } else if x >= upper && rate > 0.0 {
            Piece::Above
        } else {
            Piece::Inside
        }
    }

    /// Puts every element back into its interval.
    pub(crate) fn apply(&self, x: &mut [f64]) {
        for (x, interval) in x.iter_mut().zip(&self.intervals) {
            *x = limit(*x, *interval);
        }
    }

    /// The guard of leaving a limit: above zero once the rate of an element that stays at one
    /// points inwards.
    fn left(held: &[Piece], rates: &[f64]) -> f64 {
        pieces::furthest(rates.iter().zip(held).map(|(&rate, piece)| match piece {
            Piece::Below => rate,
            Piece::Inside => f64::NEG_INFINITY,
            Piece::Above => -rate,
        }))
    }
}

/// Writes the rates `u`, zero where an element is held at a limit.
pub(crate) fn rates(u: &[f64], held: &[Piece], rates: &mut [f64]) {
    rates.copy_from_slice(u);
    for (rate, piece) in rates.iter_mut().zip(held) {
        if *piece != Piece::Inside {
            *rate = 0.0;
        }
    }
}

/// The slopes of [`rates`] over the input `u`.
pub(crate) fn rate_slopes(held: &[Piece], u: In<Any>, slopes: &mut Slopes<'_>) {
    let is_free = |i: usize| held.get(i).is_none_or(|piece| *piece == Piece::Inside);
    let slope = |i: usize| if is_free(i) { 1.0 } else { 0.0 };
    slopes.each(slopes.rates(), slopes.columns(u, 0), slope);
}
