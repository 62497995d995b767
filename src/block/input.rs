//! Where a value enters a part from outside (semantics 11): the source of a port that nothing is
//! connected to.

use crate::block::{Inputs, Outputs, Pure, Sizes};
use crate::declaration::{PortUnit, RateRule};
use crate::fault::{Invalid, Outcome};
use crate::ports::Ports;
use crate::signal::{Any, Out};
use crate::types::Type;

/// An input port without a wire.
///
/// That of the diagram that runs is `held`: it keeps what is written to it, and is never computed.
/// That of a part inside has its default for good.
#[derive(Debug, Clone)]
pub struct Input {
    /// The declared type, in variables from 0 on.
    pub ty: Type,
    /// How many those are.
    pub var_count: u32,
    /// The declared unit, or that of the value.
    pub unit: PortUnit,
    /// The value at t = 0, leaf by leaf; one number stands for all of a leaf. Zero without it.
    pub value: Vec<Vec<f64>>,
    /// Whether it may be written between two major steps.
    pub held: bool,
}

impl Input {
    /// The numbers of the value for leaves of the lengths `leaves`.
    ///
    /// # Errors
    /// A sentence, if they are not as many.
    pub fn spread(&self, leaves: impl ExactSizeIterator<Item = usize>) -> Result<Vec<f64>, String> {
        if !self.value.is_empty() && self.value.len() != leaves.len() {
            let (wanted, given) = (leaves.len(), self.value.len());
            return Err(format!("expected a value of {wanted} parts, found {given}"));
        }
        let mut numbers = Vec::new();
        for (leaf, len) in leaves.enumerate() {
            match self.value.get(leaf).map(Vec::as_slice) {
                None => numbers.resize(numbers.len() + len, 0.0),
                Some([one]) => numbers.resize(numbers.len() + len, *one),
                Some(all) if all.len() == len => numbers.extend(all),
                Some(all) => {
                    return Err(format!("expected {len} numbers, found {}", all.len()));
                }
            }
        }
        Ok(numbers)
    }
}

impl Pure for Input {
    const KIND: &'static str = "Input";
    type Plan = Out<Any>;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        for _ in 0..self.var_count {
            ports.var();
        }
        ports.rate(if self.held { RateRule::Continuous } else { RateRule::Constant });
        if self.held {
            ports.per_major();
        }
        let y = ports.output("", &Any(self.ty.clone()));
        ports.note_out(y).of_unit(self.unit.clone());
        Ok(y)
    }

    fn check(&self, _: &Self::Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        let leaves = sizes.outputs.port(0).iter().map(|slot| slot.len as usize);
        self.spread(leaves).map(|_| ()).map_err(|message| Invalid::parameter("default", message))
    }

    fn output(&self, y: &Self::Plan, _: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        if self.held {
            return Ok(());
        }
        for leaf in 0..outputs.leaf_count(*y) {
            let place = outputs.leaf(*y, leaf);
            match self.value.get(leaf).map(Vec::as_slice) {
                None => place.fill(0.0),
                Some([one]) => place.fill(*one),
                Some(all) => place.copy_from_slice(all),
            }
        }
        Ok(())
    }
}
