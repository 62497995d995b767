//! `Memory`: the input of the major step before.

use legwork_block::quantity::Tensor;
use legwork_block::{Any, PortUnit, parameters, ports};

use crate::discrete::last_input::last_input;

/// The input a major step ago; a period ago where it has one, stated or inherited.
///
/// `y(tₖ) = u(tₖ₋₁)`, `y(0) = initial`. Where its input is continuous, tₖ are the major steps of
/// the run. With a period, stated with `every:` or inherited, they are its hits, and it is
/// `UnitDelay`: behind a block of 10 ms it is 10 ms late.
///
/// The input does not feed through, so a memory breaks an algebraic loop; what comes out depends on
/// the step of the run then. The output is held over the step.
#[ports(
    |ty: &Any, unit: &PortUnit|
    in  u: ty.clone() as Any, unit.clone(), "what is delayed",
        shape "that of `initial`; any type, buses included, without it", units "that of `initial`";
    feeds();
    out y: ty.clone() as Any, unit.clone(), "the input of the major step before",
        shape "that of `u`", units "that of `u`", elements u;
)]
#[parameters]
pub struct Memory {
    /// Output at t = 0: a number, a list for a vector, a list of rows for a matrix [unit of u];
    /// default zeros of the type of `u`.
    pub initial: Option<Tensor>,
}

last_input!(Memory, |ports| {
    ports.updates();
    ports.per_major();
});

#[cfg(test)]
mod tests {
    use legwork_block::{Feeds, RateRule, Type};
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block};

    #[test]
    fn the_output_is_the_input_of_the_step_before_and_held_over_the_step() {
        let memory: Memory = block(json!({ "initial": [7, 8] }));
        let mut bench = Bench::new(memory, &[Type::vector(2)]).expect("a memory");
        assert_eq!(bench.declaration.groups, [Feeds::Only(vec![])]);
        assert_eq!(bench.declaration.rate, RateRule::Inherited);
        assert!(bench.declaration.per_major && bench.declaration.updates);
        assert_eq!(bench.y(0.0, &[("u", &[1.0, 2.0])]), [7.0, 8.0]);
        bench.update(0.0);
        assert_eq!(bench.y(0.001, &[("u", &[3.0, 4.0])]), [1.0, 2.0]);
    }
}
