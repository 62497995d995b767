//! Blocks that treat every element of their input alike.

use legwork_block::quantity::Tensor;

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

    /// Every value that was written.
    pub(crate) fn values(&self) -> &[f64] {
        &self.0
    }
}
