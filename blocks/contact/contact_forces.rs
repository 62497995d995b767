//! `ContactForces`: the forces of some of the contacts of a problem.

use legwork_block::{In, Inputs, Invalid, Out, Outcome, Outputs, Ports, Pure, Vector};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::buses::contact_points;

/// Splits the forces of joined contacts into those of the first and of the rest.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `points` | `ContactPoints` | | the first k contacts |
/// | in `f` | 3(k + m) | N | forces of all contacts, contact axes |
/// | out `f` | 3k | N | forces of the first k |
/// | out `rest` | 3m | N | forces of those behind them |
///
/// Where feet, joint limits and other bodies touch in one problem,
/// `Join(["foot.points", "limits.contacts"])` puts them in order; this block gives each their own.
/// For three groups use two.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContactForces {}

/// Ports of [`ContactForces`].
pub struct Plan {
    all: In<Vector>,
    first: Out<Vector>,
    rest: Out<Vector>,
}

impl Pure for ContactForces {
    const KIND: &'static str = "ContactForces";
    type Plan = Plan;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let (count, nv, others) = (ports.dim(), ports.dim(), ports.dim());
        let points = ports.input("points", &contact_points(&count, &nv));
        ports.note_in(points).doc("the contacts whose forces are wanted");
        let all = ports.input("f", &Vector(3 * count.clone() + 3 * others.clone()));
        ports.note_in(all).unit("N").frame("contact").doc("forces of these contacts and others");
        let first = ports.output("f", &Vector(3 * count));
        ports.note_out(first).unit("N").frame("contact").doc("forces of these contacts");
        let rest = ports.output("rest", &Vector(3 * others));
        ports.note_out(rest).unit("N").frame("contact").doc("forces of the others");
        Ok(Plan { all, first, rest })
    }

    fn output(&self, plan: &Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let all = inputs.get(plan.all);
        let first = outputs.get(plan.first);
        let count = first.len();
        first.copy_from_slice(&all[..count]);
        outputs.get(plan.rest).copy_from_slice(&all[count..]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Type;
    use serde_json::json;

    use super::ContactForces;
    use crate::testing::contacts::{Harness, block, points};

    #[test]
    fn forces_go_to_their_contacts_in_order() {
        let ports = [("points", points(1, 6)), ("f", Type::vector(9))];
        let mut rig = Harness::new(block::<ContactForces>(json!({})), &ports).expect("planned");
        rig.set("f", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
        rig.output(0.0).expect("no fault");
        assert_eq!(rig.value("f"), [1.0, 2.0, 3.0]);
        assert_eq!(rig.value("rest"), [4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    }
}
