//! The friction cone and the friction coefficients, as parameters of the contact blocks.

use legwork_block::Invalid;
use legwork_block::quantity::{Dimensionless, NonNegative, PerJoint};
use legwork_qp::{Cone, ConeShape, PyramidFit};
use schemars::JsonSchema;
use serde::Deserialize;

/// Friction coefficients μ, one for all contacts or one for each, zero or more.
pub(crate) type Friction = PerJoint<NonNegative<Dimensionless>>;

/// In which cone the force of a contact lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum FrictionCone {
    /// A pyramid of plane facets, the first of which faces t₁.
    Pyramid {
        /// Facets, at least 3 [1].
        #[serde(default = "four")]
        sides: u32,
        /// How the pyramid fits Coulomb's cone.
        #[serde(default)]
        fit: Fit,
    },
    /// Coulomb's cone `|f_t| ≤ μ f_n`.
    Circular,
}

/// How a friction pyramid fits Coulomb's cone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
pub enum Fit {
    /// Edges on the cone, the first along t₁: friction never exceeds `μ f_n`; between two edges of
    /// four it is as low as `μ f_n/√2`. With four sides: `|f_1| + |f_2| ≤ μ f_n`.
    #[default]
    Inscribed,
    /// Facets on the cone: friction is never below `μ f_n`; at the edges of four it is as high as
    /// `√2 μ f_n`. With four sides: `|f_1| ≤ μ f_n`, `|f_2| ≤ μ f_n`.
    Circumscribed,
}

fn four() -> u32 {
    4
}

impl Default for FrictionCone {
    fn default() -> Self {
        Self::Pyramid { sides: four(), fit: Fit::default() }
    }
}

impl FrictionCone {
    /// The cone with its directions tabulated.
    ///
    /// # Errors
    /// If a pyramid has fewer than three sides.
    pub(crate) fn shape(self) -> Result<ConeShape, Invalid> {
        ConeShape::new(self.cone()).map_err(|error| Invalid::parameter("cone", error.to_string()))
    }

    /// The cone, which may have too few sides.
    pub(crate) fn cone(self) -> Cone {
        match self {
            Self::Circular => Cone::Circular,
            Self::Pyramid { sides, fit } => Cone::Pyramid {
                sides: sides as usize,
                fit: match fit {
                    Fit::Inscribed => PyramidFit::Inscribed,
                    Fit::Circumscribed => PyramidFit::Circumscribed,
                },
            },
        }
    }
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
    use legwork_qp::{Cone, PyramidFit};
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
        let shape = FrictionCone::default().shape().expect("a pyramid");
        assert_eq!(shape.sides(), 4);
        let circle = ConeShape::circular();
        for edge in 0..4 {
            assert!(circle.violation(0.7, shape.generator(0.7, edge)) < 1e-15);
        }
        let flat = FrictionCone::Pyramid { sides: 2, fit: Fit::Inscribed };
        assert!(flat.shape().is_err());
    }
}
