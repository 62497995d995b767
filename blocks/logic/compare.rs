//! `Compare`: a relation of two numbers.

use legwork_block::quantity::Scalar;
use legwork_block::{
    Block, Bool, GuardCx, In, Inputs, Invalid, Outcome, OutputCx, Real, Sizes, UpdateCx, block,
    parameters, ports,
};

use crate::signal::pieces;

/// Whether a relation holds: `y = (u1 op u2)`, or `y = (u op to)` with a constant.
///
/// `==` asks for equal bits but for the sign of zero: on results of arithmetic it seldom holds.
/// With `<`, `<=`, `>=` and `>` a variable step is cut where the relation changes.
#[ports(
    keep relation: Relation = self.relation()?;
    keep located: bool = !matches!(self.op.as_str(), "==" | "!=") && ports.pieces();
    let (unit, two) = (ports.var(), self.to.is_none());
    in  u1: Real, unit, "left side", when two, if "without `to`", shape "number", units "any";
    in  u2: Real, unit, "right side", when two, if "without `to`", shape "number",
        units "that of `u1`";
    in  u: Real, self.to.and_then(|to| to.unit), "left side", when !two, if "with `to`",
        shape "number", units "that of `to`";
    out y: Bool, _, "whether the relation holds";
)]
#[parameters(aliases("relational operator", "comparison"))]
pub struct Compare {
    /// `"<"`, `"<="`, `"=="`, `"!="`, `">="` or `">"`.
    pub op: String,
    /// A constant to compare with [any unit]; default none: there are two inputs.
    pub to: Option<Scalar>,
}

/// A relation of two numbers.
type Relation = fn(&f64, &f64) -> bool;

impl Compare {
    /// Both sides of the relation.
    fn sides(&self, plan: &ComparePorts, inputs: Inputs<'_>) -> (f64, f64) {
        let ComparePorts { u, u1, u2, .. } = *plan;
        let read = |port: Option<In<Real>>, without: f64| port.map_or(without, |u| inputs.get(u));
        (read(u.or(u1), 0.0), read(u2, self.to.map_or(0.0, |to| to.value)))
    }

    fn relation(&self) -> Result<Relation, Invalid> {
        Ok(match self.op.as_str() {
            "<" => f64::lt,
            "<=" => f64::le,
            "==" => f64::eq,
            "!=" => f64::ne,
            ">=" => f64::ge,
            ">" => f64::gt,
            other => {
                let message = format!("expected <, <=, ==, !=, >= or >, found `{other}`");
                return Err(Invalid::parameter("op", message));
            }
        })
    }
}

#[block]
impl Block for Compare {
    /// Whether the relation held at the last major step, if a variable step is cut at changes.
    type State = Option<bool>;

    fn state(&self, plan: &Self::Plan, _: &Sizes<'_>) -> Option<bool> {
        plan.located.then_some(false)
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let holds = match *cx.state {
            Some(held) if cx.time.minor => held,
            _ => {
                let (left, right) = self.sides(plan, cx.inputs);
                (plan.relation)(&left, &right)
            }
        };
        cx.outputs.set(plan.y, f64::from(holds));
        Ok(())
    }

    fn update(&self, plan: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        if let Some(held) = cx.state {
            let (left, right) = self.sides(plan, cx.inputs);
            *held = (plan.relation)(&left, &right);
        }
        Ok(())
    }

    fn guard(&self, plan: &Self::Plan, cx: &mut GuardCx<'_, Self>) {
        let (left, right) = self.sides(plan, cx.inputs);
        let changed = *cx.state != Some((plan.relation)(&left, &right));
        cx.values.fill(pieces::left(changed, left - right));
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block, refusal};

    #[test]
    fn relations_hold_below_at_and_above() {
        for (op, holds) in [
            ("<", [1.0, 0.0, 0.0]),
            ("<=", [1.0, 1.0, 0.0]),
            ("==", [0.0, 1.0, 0.0]),
            ("!=", [1.0, 0.0, 1.0]),
            (">=", [0.0, 1.0, 1.0]),
            (">", [0.0, 0.0, 1.0]),
        ] {
            let given = [Type::Real, Type::Real];
            let mut two = Bench::new(block::<Compare>(json!({ "op": op })), &given).expect("it");
            let with: Compare = block(json!({ "op": op, "to": "2 m" }));
            let mut one = Bench::new(with, &[Type::Real]).expect("it");
            for (u, y) in [1.0, 2.0, 3.0].into_iter().zip(holds) {
                assert_eq!(two.y(0.0, &[("u1", &[u]), ("u2", &[2.0])]), [y], "{u} {op} 2");
                assert_eq!(one.y(0.0, &[("u", &[u])]), [y], "{u} {op} 2");
            }
        }
    }

    #[test]
    fn the_relation_is_known() {
        let message = refusal(block::<Compare>(json!({ "op": "~=" })), &[]);
        assert_eq!(message, "expected <, <=, ==, !=, >= or >, found `~=`");
    }
}
