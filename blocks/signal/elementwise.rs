//! Blocks that treat every element of their input alike.

use legwork_block::quantity::Tensor;
use legwork_block::{Any, In, Out, Ports, Type};

use crate::signal::shape::{self, Common, note_unit};

/// The ports `u` and `y` of one shape and one unit.
pub(crate) type Ends = (In<Any>, Out<Any>);

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

/// The signal that parameters fit: of their shape, or of any if they are numbers.
pub(crate) fn signal(common: &Common, ports: &mut Ports<'_>) -> Any {
    match common.shape.as_slice() {
        [] => Any(Type::Var(ports.var())),
        shape => shape::signal(shape),
    }
}

/// Declares `u` and `y` of the type `ty`, with the parameters' unit or else any, both the same.
pub(crate) fn ends(common: &Common, ports: &mut Ports<'_>) -> Ends {
    let (ty, var) = (signal(common, ports), ports.var());
    let u = ports.input("u", &ty);
    let y = ports.output("y", &ty);
    note_unit(ports.note_in(u), common.unit, var);
    note_unit(ports.note_out(y), common.unit, var);
    (u, y)
}
