//! A block that offers its derivative, as a third party writes it.

use legwork_block::{
    Inputs, Outcome, Outputs, Pure, Real, Slope, Slopes, block, parameters, ports,
};

/// `y = k u³`.
#[ports(
    in  u: Real, _, "a number";
    out y: Real, _, "k times its cube";
)]
#[parameters]
pub struct Cube {
    /// The factor k.
    #[default = 1]
    pub k: f64,
}

#[block]
impl Pure for Cube {
    fn output(&self, io: &CubePorts, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let u = inputs.get(io.u);
        outputs.set(io.y, self.k * u * u * u);
        Ok(())
    }

    fn slopes(&self, io: &CubePorts, inputs: &Inputs<'_>, slopes: &mut Slopes<'_>) -> Slope {
        let (y, u) = (slopes.rows(io.y, 0), slopes.columns(io.u, 0));
        let at = inputs.get(io.u);
        slopes.add((y, 0), (u, 0), 3.0 * self.k * at * at);
        Slope::Exact
    }
}
