//! The differential equation as a kernel sees it.

/// A differential equation `u̇ = g(t, u)` in n coordinates of one chart.
pub trait Flow {
    /// Why a rate could not be computed.
    type Error;

    /// Writes `rate = g(t, u)`, t [s] since the beginning of the segment.
    ///
    /// A rate that is not finite is no error: the kernel takes a smaller step.
    ///
    /// # Errors
    /// An error ends the step; the kernel passes it on.
    fn rate(&mut self, t: f64, u: &[f64], rate: &mut [f64]) -> Result<(), Self::Error>;

    /// Writes the magnitude `mᵢ ≥ 0` of the state at `u` in each coordinate, which a relative
    /// tolerance refers to: `|xᵢ|` for a plain number, 1 for a rotation.
    fn magnitude(&mut self, u: &[f64], magnitude: &mut [f64]);

    /// Writes `∂g/∂u` at (t, u), n × n column-major, and returns true if it is known. The default
    /// returns false: the kernel takes forward differences, n evaluations of the rate.
    ///
    /// # Errors
    /// As [`Self::rate`].
    fn jacobian(&mut self, t: f64, u: &[f64], jacobian: &mut [f64]) -> Result<bool, Self::Error> {
        let _ = (t, u, jacobian);
        Ok(false)
    }
}
