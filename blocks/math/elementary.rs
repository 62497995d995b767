//! Functions of one or two signals, element by element.

use legwork_block::{
    Any, Inputs, Invalid, Outcome, Outputs, PortUnit, Ports, Sizes, Slope, Slopes, ports,
};

use crate::signal::shape;

/// A function of one or two numbers.
#[ports(
    |[first, second, value]: [PortUnit; 3]|
    let (ty, one) = (Any::var(ports.number_var()), matches!(self, Self::One(_)));
    in  u: ty.clone() as Any, first.clone(), "the argument", when one;
    in  u1: ty.clone() as Any, first, "first argument", when !one;
    in  u2: ty.clone() as Any, second, "second argument", when !one;
    out y: ty as Any, value, "the value";
)]
#[derive(Clone, Copy)]
pub(super) enum Elementary {
    /// Of the input `u`.
    One(fn(f64) -> f64),
    /// Of the inputs `u1` and `u2`.
    Two(fn(f64, f64) -> f64),
}

/// The derivative of an [`Elementary`]; NaN where it jumps.
#[derive(Clone, Copy)]
pub(super) enum Derivative {
    /// Over `u`.
    One(fn(f64) -> f64),
    /// Over `u1` and `u2`.
    Two(fn(f64, f64) -> [f64; 2]),
}

/// A function with its ports.
pub struct Applied {
    function: Elementary,
    io: ElementaryPorts,
}

impl Elementary {
    /// Declares the ports, all of one type. `units` are those of the inputs and of the output.
    pub(super) fn plan(self, units: [PortUnit; 3], ports: &mut Ports<'_>) -> Applied {
        Applied { function: self, io: self.declare(ports, units) }
    }
}

impl Applied {
    /// Fails if the signals are no numbers.
    pub(super) fn check(&self, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        let first = self.io.u.or(self.io.u1);
        first.map_or(Ok(()), |first| shape::expect_numbers(sizes, first))
    }

    /// Writes the values.
    #[expect(clippy::unreachable, reason = "the ports are declared by the same function")]
    pub(super) fn output(&self, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let y = outputs.get(self.io.y).iter_mut();
        match (self.function, self.io.u, self.io.u1, self.io.u2) {
            (Elementary::One(function), Some(u), ..) => {
                y.zip(inputs.get(u).leaf(0)).for_each(|(y, &u)| *y = function(u));
            }
            (Elementary::Two(function), _, Some(u1), Some(u2)) => {
                let pairs = inputs.get(u1).leaf(0).iter().zip(inputs.get(u2).leaf(0));
                y.zip(pairs).for_each(|(y, (&u1, &u2))| *y = function(u1, u2));
            }
            _ => unreachable!("a function has as many inputs as arguments"),
        }
        Ok(())
    }

    /// Writes the derivative; not at a jump.
    pub(super) fn slopes(
        &self,
        derivative: Derivative,
        inputs: &Inputs<'_>,
        slopes: &mut Slopes<'_>,
    ) -> Slope {
        let y = slopes.rows(self.io.y, 0);
        match (derivative, self.io.u, self.io.u1, self.io.u2) {
            (Derivative::One(slope), Some(u), ..) => {
                let at = inputs.get(u).leaf(0);
                slopes.each(y, slopes.columns(u, 0), |i| slope(at[i]));
            }
            (Derivative::Two(slope), _, Some(u1), Some(u2)) => {
                let (a, b) = (inputs.get(u1).leaf(0), inputs.get(u2).leaf(0));
                slopes.each(y, slopes.columns(u1, 0), |i| slope(a[i], b[i])[0]);
                slopes.each(y, slopes.columns(u2, 0), |i| slope(a[i], b[i])[1]);
            }
            _ => return Slope::Unknown,
        }
        Slope::Exact
    }
}
