//! Blocks that treat every element of their input alike.

use legwork_block::Invalid;
use legwork_block::quantity::Tensor;

use crate::signal::shape::Common;

/// Values of a parameter: one for all elements, or one for each.
pub(crate) struct Each(Vec<f64>);

impl Each {
    /// The numbers of a parameter as they were written.
    pub(crate) fn new(tensor: &Tensor) -> Self {
        Self(tensor.data().to_vec())
    }

    /// The same with every sign turned.
    pub(crate) fn negated(&self) -> Self {
        Self(self.0.iter().map(|value| -value).collect())
    }

    /// The value for element `i`.
    #[inline]
    pub(crate) fn at(&self, i: usize) -> f64 {
        match self.0[..] {
            [one] => one,
            ref each => each[i],
        }
    }
}

/// Bounds that parameters give: one interval for all elements, or one for each.
pub(crate) struct Intervals(pub(crate) Vec<(f64, f64)>);

impl Intervals {
    /// From the parameters `lower` and `upper`, and what they have in common. A missing one does
    /// not limit.
    ///
    /// # Errors
    /// If their shapes or units differ, or a lower bound is above the upper one.
    pub(crate) fn new(
        lower: Option<&Tensor>,
        upper: Option<&Tensor>,
    ) -> Result<(Self, Common), Invalid> {
        let given = [("lower", lower), ("upper", upper)];
        let given: Vec<_> = given.into_iter().filter_map(|(name, it)| Some((name, it?))).collect();
        let common = Common::of(&given)?;
        let len = common.shape.iter().product();
        let bound = |given: Option<&Tensor>, none: f64| {
            given.map_or_else(|| vec![none; len], |given| common.spread(given))
        };
        let lower = bound(lower, f64::NEG_INFINITY);
        let all: Vec<_> = lower.into_iter().zip(bound(upper, f64::INFINITY)).collect();
        if let Some((lower, upper)) = all.iter().find(|(lower, upper)| lower > upper) {
            let message = format!("expected a bound of at least `lower` = {lower}, found {upper}");
            return Err(Invalid::parameter("upper", message));
        }
        Ok((Self(all), common))
    }

    /// The interval of element `i`.
    #[inline]
    pub(crate) fn at(&self, i: usize) -> (f64, f64) {
        match self.0[..] {
            [one] => one,
            ref each => each[i],
        }
    }
}
