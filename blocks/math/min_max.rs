//! `MinMax`: the least or greatest.

use legwork_block::{
    Any, Block, GuardCx, Inputs, Invalid, Outcome, OutputCx, Ports, Sizes, Type, UpdateCx, block,
    parameters, ports,
};

use crate::math::sum::{input_count, input_names};
use crate::signal::pieces;
use crate::signal::shape;

/// The minimum or maximum of several signals, element by element. Of one vector, it is that of its
/// elements.
///
/// NaN passes. A variable step is cut where another one becomes the extreme.
#[ports(
    |from: &Any, to: Any|
    let unit = ports.var();
    in  inputs[input_names(self.count)]: from.clone() as Any, unit, "what is compared",
        named "`u1`, `u2`, …, as many as `count`; `u` for one",
        shape "number, vector, matrix, all the same; vector of at least one element for `u`",
        units "any, all equal";
    out y: to as Any, unit, "the extreme", shape "that of `u1`; number for `u`",
        units "that of the inputs";
)]
#[parameters(aliases("min", "max", "clamp"))]
pub struct MinMax {
    /// `Min` or `Max`.
    pub function: Extreme,
    /// How many inputs, at least 1.
    #[default = 1]
    pub count: usize,
}

/// What a [`MinMax`] looks for.
#[parameters]
#[derive(Copy, PartialEq, Eq)]
pub enum Extreme {
    /// The least.
    Min,
    /// The greatest.
    Max,
}

impl Extreme {
    #[inline]
    fn of(self, a: f64, b: f64) -> f64 {
        let second = match self {
            Self::Min => b < a,
            Self::Max => b > a,
        };
        if second || b.is_nan() { b } else { a }
    }

    /// Whether `a` is more extreme than `b`.
    #[inline]
    fn prefers(self, a: f64, b: f64) -> bool {
        match self {
            Self::Min => a < b,
            Self::Max => a > b,
        }
    }

    /// Above zero once `a` is more extreme than `b`, for a guard.
    #[inline]
    fn excess(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Min => pieces::excess(b, a),
            Self::Max => pieces::excess(a, b),
        }
    }
}

/// Ports of a [`MinMax`].
pub struct Plan {
    io: MinMaxPorts,
    located: bool,
}

impl Plan {
    /// How many signals compete for one element of the output.
    fn candidates(&self, inputs: Inputs<'_>) -> usize {
        match self.io.inputs[..] {
            [u] => inputs.get(u).leaf(0).len(),
            ref each => each.len(),
        }
    }

    /// Candidate `c` for element `i` of the output.
    #[inline]
    fn candidate(&self, inputs: Inputs<'_>, i: usize, c: usize) -> f64 {
        match self.io.inputs[..] {
            [u] => {
                let u = inputs.get(u).leaf(0);
                // What was read from a file may point beyond the last.
                u[c.min(u.len() - 1)]
            }
            ref each => inputs.get(each[c]).leaf(0)[i],
        }
    }
}

#[block]
impl Block for MinMax {
    type Plan = Plan;
    /// Which candidate was the extreme at the last major step, for each element of the output;
    /// empty where no step is cut.
    type State = Vec<usize>;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let (input, output) = match input_count("count", self.count)? {
            1 => (Any(Type::vector(ports.dim())), Any(Type::Real)),
            _ => {
                let ty = Any::var(ports.number_var());
                (ty.clone(), ty)
            }
        };
        Ok(Plan { io: self.declare(ports, &input, output), located: ports.pieces() })
    }

    fn check(&self, plan: &Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
        let first = plan.io.inputs[0];
        if self.count == 1 && sizes.input(first) == 0 {
            return Err(Invalid::new("expected a vector of at least one element, found none"));
        }
        shape::expect_numbers(sizes, first)
    }

    fn state(&self, plan: &Plan, sizes: &Sizes<'_>) -> Vec<usize> {
        if plan.located { vec![0; sizes.output(plan.io.y)] } else { Vec::new() }
    }

    fn accepts(&self, plan: &Plan, held: &Vec<usize>) -> bool {
        // Elements of a vector are counted when it is read.
        let signals = plan.io.inputs.len();
        let is_one = |&held: &usize| signals == 1 || held < signals;
        held.iter().all(is_one)
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let inputs = cx.inputs;
        let y = cx.outputs.get(plan.io.y);
        if cx.time.minor && plan.located {
            for (i, (y, &held)) in y.iter_mut().zip(cx.state).enumerate() {
                *y = plan.candidate(inputs, i, held);
            }
            return Ok(());
        }
        let first = inputs.get(plan.io.inputs[0]).leaf(0);
        if self.count == 1 {
            y[0] = first[1..].iter().fold(first[0], |found, u| self.function.of(found, *u));
            return Ok(());
        }
        y.copy_from_slice(first);
        for u in &plan.io.inputs[1..] {
            for (y, u) in y.iter_mut().zip(inputs.get(*u).leaf(0)) {
                *y = self.function.of(*y, *u);
            }
        }
        Ok(())
    }

    fn update(&self, plan: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        let count = plan.candidates(cx.inputs);
        for (i, held) in cx.state.iter_mut().enumerate() {
            *held = 0;
            for c in 1..count {
                let (found, u) =
                    (plan.candidate(cx.inputs, i, *held), plan.candidate(cx.inputs, i, c));
                if self.function.prefers(u, found) {
                    *held = c;
                }
            }
        }
        Ok(())
    }

    fn guard(&self, plan: &Plan, cx: &mut GuardCx<'_, Self>) {
        let inputs = cx.inputs;
        let count = plan.candidates(inputs);
        let beyond = cx.state.iter().enumerate().flat_map(|(i, &held)| {
            let found = plan.candidate(inputs, i, held);
            (0..count)
                .filter(move |&c| c != held)
                .map(move |c| self.function.excess(plan.candidate(inputs, i, c), found))
        });
        cx.values.fill(pieces::furthest(beyond));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block, refusal};

    #[test]
    fn of_one_vector_it_is_one_of_its_elements() {
        for (function, y) in [("Min", -4.0), ("Max", 3.0)] {
            let extreme: MinMax = block(json!({ "function": function }));
            let mut bench = Bench::new(extreme, &[Type::vector(4)]).expect("an extreme");
            assert_eq!(bench.y(0.0, &[("u", &[1.0, 3.0, -4.0, 2.0])]), [y]);
            assert!(bench.y(0.0, &[("u", &[1.0, f64::NAN, -9.0, 9.0])])[0].is_nan());
        }
    }

    #[test]
    fn of_several_signals_it_goes_by_elements() {
        let extreme: MinMax = block(json!({ "function": "Max", "count": 2 }));
        let mut bench =
            Bench::new(extreme, &[Type::vector(2), Type::vector(2)]).expect("an extreme");
        assert_eq!(bench.y(0.0, &[("u1", &[1.0, 5.0]), ("u2", &[2.0, 4.0])]), [2.0, 5.0]);
    }

    #[test]
    fn nothing_has_no_extreme() {
        let extreme: MinMax = block(json!({ "function": "Min" }));
        let message = refusal(extreme, &[Type::vector(0)]);
        assert_eq!(message, "expected a vector of at least one element, found none");
    }
}
