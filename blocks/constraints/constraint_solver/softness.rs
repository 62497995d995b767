//! Stiffness and damping of constraints, as parameters.

use legwork_block::parameters;
use legwork_block::quantity::{
    Area, Damping, Dimensionless, Length, NonNegative, Positive, Pressure, RotationalDamping,
    RotationalStiffness, Stiffness,
};
use legwork_contact::soft_constraints::SpringDamper;

/// K and B of bilateral rows.
#[parameters]
pub struct JointSoftness {
    /// K of the linear rows, those of numbers 0 to 2, zero or more [N/m].
    pub stiffness: NonNegative<Stiffness>,
    /// B of the linear rows, zero or more [N s/m].
    #[default = 0.0]
    pub damping: NonNegative<Damping>,
    /// K of the angular rows, those of numbers 3 to 5 [N m/rad]; default the number of `stiffness`.
    pub angular_stiffness: Option<NonNegative<RotationalStiffness>>,
    /// B of the angular rows [N m s/rad]; default the number of `damping`.
    pub angular_damping: Option<NonNegative<RotationalDamping>>,
}

impl JointSoftness {
    /// (K, B) of row 0 to 5.
    pub(super) fn of_row(&self, row: usize) -> (f64, f64) {
        let (k, b) = (self.stiffness.value(), self.damping.value());
        if row < 3 {
            return (k, b);
        }
        (
            self.angular_stiffness.map_or(k, NonNegative::value),
            self.angular_damping.map_or(b, NonNegative::value),
        )
    }
}

/// K and B of limits.
#[parameters]
pub struct LimitSoftness {
    /// K, zero or more [N m/rad; of prismatic joints the same number in N/m].
    pub stiffness: NonNegative<RotationalStiffness>,
    /// B, zero or more [N m s/rad; N s/m].
    #[default = 0.0]
    pub damping: NonNegative<RotationalDamping>,
}

/// The spring along the normal of a contact.
#[parameters]
pub enum ContactSoftness {
    /// A linear spring: `f = K d − B ḋ` at depth d.
    Spring {
        /// K, zero or more [N/m].
        stiffness: NonNegative<Stiffness>,
        /// B, zero or more [N s/m].
        #[default = 0.0]
        damping: NonNegative<Damping>,
    },
    /// A sphere on a half-space: `f = factor E* √r d^{3/2} − B ḋ`.
    Hertz {
        /// Combined modulus E* [Pa].
        modulus: Positive<Pressure>,
        /// Radius r of the sphere; of two spheres `r₁ r₂/(r₁ + r₂)` [m].
        radius: Positive<Length>,
        /// 4/3 in Hertz's law; Drumwright's eq. (121) has 1 [1].
        #[default = 1.3333333333333333]
        factor: Positive<Dimensionless>,
        /// B, zero or more [N s/m].
        #[default = 0.0]
        damping: NonNegative<Damping>,
    },
    /// An element of an elastic foundation (Winkler): `f = E A d/depth − B ḋ`.
    Foundation {
        /// Young's modulus E [Pa].
        modulus: Positive<Pressure>,
        /// Area A of an element [m²].
        area: Positive<Area>,
        /// Depth of the foundation [m].
        depth: Positive<Length>,
        /// B of an element, zero or more [N s/m].
        #[default = 0.0]
        damping: NonNegative<Damping>,
    },
}

impl ContactSoftness {
    /// The spring-damper at a gap [m], negative in contact.
    pub(crate) fn at(&self, gap: f64) -> SpringDamper {
        match self {
            Self::Spring { stiffness, damping } => {
                SpringDamper::new(gap, stiffness.value(), damping.value())
            }
            Self::Hertz { modulus, radius, factor, damping } => SpringDamper {
                damping: damping.value(),
                ..SpringDamper::hertz(gap, modulus.value(), radius.value(), factor.value())
            },
            Self::Foundation { modulus, area, depth, damping } => {
                let damping = damping.value();
                let (modulus, area, depth) = (modulus.value(), area.value(), depth.value());
                SpringDamper::elastic_element(gap, modulus, area, depth, damping)
            }
        }
    }
}
