//! `UnitDelay`: the input one period ago.

use legwork_block::quantity::Tensor;
use legwork_block::{Any, PortUnit, RateRule, parameters, ports};

use crate::discrete::last_input::last_input;

/// The input one period ago: `y[k] = u[k − 1]`, `y[0] = initial`.
///
/// The input does not feed through, so a delay breaks an algebraic loop. The period is stated with
/// `every:` or inherited from a discrete input. Without `initial` the output is zero in its first
/// period, in every field of a bus, which is no valid rotation or quaternion.
#[ports(
    |ty: &Any, unit: &PortUnit|
    in  u: ty.clone() as Any, unit.clone(), "what is delayed",
        shape "that of `initial`; any type, buses included, without it", units "that of `initial`";
    feeds();
    out y: ty.clone() as Any, unit.clone(), "the input one period ago",
        shape "that of `u`", units "that of `u`", elements u;
)]
#[parameters(aliases("z^-1"))]
pub struct UnitDelay {
    /// Output of the first period: a number, a list for a vector, a list of rows for a matrix
    /// [unit of u]; default zeros of the type of `u`.
    pub initial: Option<Tensor>,
}

last_input!(UnitDelay, |ports| ports.rate(RateRule::Sampled));

#[cfg(test)]
mod tests {
    use legwork_block::{Feeds, Type};
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block};

    #[test]
    fn the_output_is_the_input_of_the_hit_before() {
        let delay: UnitDelay = block(json!({ "initial": 9 }));
        let mut bench = Bench::new(delay, &[Type::Real]).expect("a delay");
        assert_eq!(bench.declaration.groups, [Feeds::Only(vec![])]);
        assert_eq!(bench.samples(&[1.0, 2.0, 3.0]), [9.0, 1.0, 2.0]);
    }

    #[test]
    fn arrays_are_delayed_leaf_by_leaf_and_start_at_zero() {
        let feet = Type::array(Type::vector(2), 2);
        let mut bench = Bench::new(block::<UnitDelay>(json!({})), &[feet]).expect("a delay");
        let u = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(bench.y(0.0, &[("u", &u)]), [0.0; 4]);
        bench.update(0.0);
        assert_eq!(bench.y(0.0, &[]), u);
    }

    #[test]
    fn a_matrix_starts_at_its_own_rows() {
        let delay: UnitDelay = block(json!({ "initial": [[1, 2], [3, 4]] }));
        let mut bench = Bench::new(delay, &[Type::matrix(2, 2)]).expect("a delay");
        assert_eq!(bench.y(0.0, &[]), [1.0, 3.0, 2.0, 4.0]);
    }
}
