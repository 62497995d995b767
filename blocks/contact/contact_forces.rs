//! `ContactForces`: the forces of some of the contacts of a problem.

use legwork_block::{Inputs, Outcome, Outputs, Pure, Vector, block, parameters, ports};

use crate::buses::{ContactPointsBus, contact_points};

/// Splits the forces of joined contacts into those of the first and of the rest.
///
/// Where feet, joint limits and other bodies touch in one problem,
/// `Join(["foot.points", "limits.contacts"])` puts them in order; this block gives each their own.
/// For three groups use two.
#[ports(
    let (k, m, nv) = (ports.dim(), ports.dim(), ports.dim());
    in  points: contact_points(&k, &nv) as ContactPointsBus, _, "the first k contacts";
    in  all("f"): Vector::of(3 * k.clone() + 3 * m.clone()), "N",
        "forces of all contacts, contact axes", frame "contact", shape "3(k + m)";
    out first("f"): Vector::of(3 * k), "N", "forces of the first k", frame "contact", shape "3k";
    out rest: Vector::of(3 * m), "N", "forces of those behind them", frame "contact", shape "3m";
)]
#[parameters]
pub struct ContactForces {}

#[block]
impl Pure for ContactForces {
    fn output(&self, io: &Self::Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let all = inputs.get(io.all);
        let first = outputs.get(io.first);
        let count = first.len();
        first.copy_from_slice(&all[..count]);
        outputs.get(io.rest).copy_from_slice(&all[count..]);
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
