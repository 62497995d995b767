//! Bounds of last resorts.
//!
//! A method takes its own steps first; their limit is one of its settings. A problem that they do
//! not solve goes to a last resort, which is dearer and nearly sure. Its bounds are here. They count
//! work and size, never time: the same problem has the same bits on every machine. How a solve hears
//! a signal is another matter; see [`legwork_linalg::cancel`].

/// Work and size of last resorts.
///
/// A solve that ends at a bound has the best answer so far, and a status that is not
/// [`crate::Status::Solved`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Multiplications after which Lemke's method begins no further attempt. The first attempt ends
    /// at its own limit of pivots.
    pub multiplications: u64,
    /// Accelerated gradients for a problem with circular cones that the passes of
    /// [`crate::CircularPasses`] do not solve.
    pub gradients: u32,
    /// Pairs of a complementarity problem up to which pivoting takes over from the passes of
    /// [`crate::CoulombIteration`]. It costs the third power of them, and [`Self::pivoted_bytes`].
    pub pairs: usize,
}

impl Budget {
    /// Tenths of a second: 13 attempts of 1000 pivots on 60 pairs, or 1300 pivots on 240; the pairs
    /// of 40 contacts with pyramids of four sides, 25 with eight.
    pub const DEFAULT: Self = Self { multiplications: 500_000_000, gradients: 10_000, pairs: 240 };

    /// Memory of pivoting: four matrices \[bytes\].
    #[must_use]
    pub const fn pivoted_bytes(self) -> u64 {
        4 * (self.pairs * self.pairs * size_of::<f64>()) as u64
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::DEFAULT
    }
}
