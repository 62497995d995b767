//! The friction cone and the friction coefficients, as parameters of the contact blocks.

use legwork_block::Invalid;
use legwork_block::quantity::{Dimensionless, NonNegative, PerJoint};
use legwork_qp::{Cone, ConeShape, PyramidFit};

/// Friction coefficients μ, one for all contacts or one for each, zero or more.
pub(crate) type Friction = PerJoint<NonNegative<Dimensionless>>;

/// A cone with its directions tabulated.
///
/// # Errors
/// If a pyramid has fewer than three sides.
pub(crate) fn cone_shape(cone: Cone) -> Result<ConeShape, Invalid> {
    ConeShape::new(cone).map_err(|error| Invalid::parameter("cone", error.to_string()))
}

/// One friction coefficient for each of `count` contacts.
///
/// # Errors
/// If a list has another length, or names are given.
pub(crate) fn friction_of(mu: &Friction, count: usize) -> Result<Vec<f64>, Invalid> {
    match mu {
        PerJoint::All(mu) => Ok(vec![mu.value(); count]),
        PerJoint::Each(list) if list.len() == count => {
            Ok(list.iter().map(|mu| mu.value()).collect())
        }
        PerJoint::Each(list) => Err(Invalid::parameter(
            "mu",
            format!("expected one value or {count}, one for each contact, found {}", list.len()),
        )),
        PerJoint::Named(_) => Err(Invalid::parameter(
            "mu",
            "expected one value or a list, found names; contacts have an order, no names",
        )),
    }
}

/// Whether a pyramid's edges lie on the circular cone.
pub(crate) fn is_inscribed(cone: &ConeShape) -> bool {
    matches!(cone.cone(), Cone::Pyramid { fit: PyramidFit::Inscribed, .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn friction(value: serde_json::Value) -> Friction {
        serde_json::from_value(value).expect("friction binds")
    }

    #[test]
    fn friction_is_one_value_or_one_for_each_contact() {
        assert_eq!(friction_of(&friction(json!(0.7)), 2), Ok(vec![0.7, 0.7]));
        assert_eq!(friction_of(&friction(json!([0.7, 0.1])), 2), Ok(vec![0.7, 0.1]));
        let short = friction_of(&friction(json!([0.7])), 2).expect_err("too short");
        assert!(short.message.contains("found 1"), "{}", short.message);
        assert!(friction_of(&friction(json!({ "a": 1 })), 1).is_err());
    }

    #[test]
    fn the_default_pyramid_never_exceeds_coulombs_friction() {
        let shape = cone_shape(Cone::default()).expect("a pyramid");
        assert_eq!(shape.sides(), 4);
        let circle = ConeShape::circular();
        for edge in 0..4 {
            assert!(circle.violation(0.7, shape.generator(0.7, edge)) < 1e-15);
        }
        let flat = Cone::Pyramid { sides: 2, fit: PyramidFit::Inscribed };
        assert!(cone_shape(flat).is_err());
    }
}
