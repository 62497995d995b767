//! Mass distribution of a rigid body.

use nalgebra::{Matrix3, Vector3};

use crate::placement::Placement;

/// Symmetric 3 × 3 matrix by its six independent entries.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Symmetric3 {
    pub(crate) xx: f64,
    pub(crate) xy: f64,
    pub(crate) xz: f64,
    pub(crate) yy: f64,
    pub(crate) yz: f64,
    pub(crate) zz: f64,
}

impl Symmetric3 {
    /// Reads the upper triangle of `m`.
    pub(crate) fn from_matrix(m: &Matrix3<f64>) -> Self {
        Self {
            xx: m[(0, 0)],
            xy: m[(0, 1)],
            xz: m[(0, 2)],
            yy: m[(1, 1)],
            yz: m[(1, 2)],
            zz: m[(2, 2)],
        }
    }

    /// The full matrix.
    pub(crate) fn to_matrix(self) -> Matrix3<f64> {
        let Self { xx, xy, xz, yy, yz, zz } = self;
        Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz)
    }

    /// `A v`.
    #[inline]
    pub(crate) fn times(&self, v: &Vector3<f64>) -> Vector3<f64> {
        Vector3::new(
            self.xx * v.x + self.xy * v.y + self.xz * v.z,
            self.xy * v.x + self.yy * v.y + self.yz * v.z,
            self.xz * v.x + self.yz * v.y + self.zz * v.z,
        )
    }

    /// `R A Rᵀ`; 45 products, the result is symmetric by construction.
    #[inline]
    pub(crate) fn rotated(&self, r: &Matrix3<f64>) -> Self {
        let x = self.times(&Vector3::new(r[(0, 0)], r[(0, 1)], r[(0, 2)]));
        let y = self.times(&Vector3::new(r[(1, 0)], r[(1, 1)], r[(1, 2)]));
        let z = self.times(&Vector3::new(r[(2, 0)], r[(2, 1)], r[(2, 2)]));
        let row = |i: usize, v: &Vector3<f64>| r[(i, 0)] * v.x + r[(i, 1)] * v.y + r[(i, 2)] * v.z;
        Self {
            xx: row(0, &x),
            xy: row(0, &y),
            xz: row(0, &z),
            yy: row(1, &y),
            yz: row(1, &z),
            zz: row(2, &z),
        }
    }

    /// `A + m (cᵀc 1 − c cᵀ)`: the parallel-axis theorem, from the centre of mass to a point that
    /// is `c` away.
    #[inline]
    pub(crate) fn shifted(&self, mass: f64, c: &Vector3<f64>) -> Self {
        let mx = mass * c.x;
        let my = mass * c.y;
        let mz = mass * c.z;
        Self {
            xx: self.xx + (my * c.y + mz * c.z),
            xy: self.xy - mx * c.y,
            xz: self.xz - mx * c.z,
            yy: self.yy + (mx * c.x + mz * c.z),
            yz: self.yz - my * c.z,
            zz: self.zz + (mx * c.x + my * c.y),
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, other: &Self) {
        self.xx += other.xx;
        self.xy += other.xy;
        self.xz += other.xz;
        self.yy += other.yy;
        self.yz += other.yz;
        self.zz += other.zz;
    }
}

/// Mass, centre of mass and rotational inertia of a rigid body, in the axes of one frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inertia {
    mass: f64,
    center_of_mass: Vector3<f64>,
    about_center: Symmetric3,
}

impl Inertia {
    /// A body without mass.
    #[must_use]
    pub fn zero() -> Self {
        Self::new(0.0, Vector3::zeros(), &Matrix3::zeros())
    }

    /// From mass [kg], centre of mass [m] and rotational inertia about the centre of mass
    /// [kg m²], whose upper triangle is read.
    #[must_use]
    pub fn new(mass: f64, center_of_mass: Vector3<f64>, about_center: &Matrix3<f64>) -> Self {
        Self { mass, center_of_mass, about_center: Symmetric3::from_matrix(about_center) }
    }

    /// Mass [kg].
    #[must_use]
    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// Centre of mass in the frame [m].
    #[must_use]
    pub fn center_of_mass(&self) -> Vector3<f64> {
        self.center_of_mass
    }

    /// Rotational inertia about the centre of mass, in the frame's axes [kg m²].
    #[must_use]
    pub fn about_center_of_mass(&self) -> Matrix3<f64> {
        self.about_center.to_matrix()
    }

    pub(crate) fn about_center(&self) -> &Symmetric3 {
        &self.about_center
    }

    /// The same body seen from frame A, given `a_from_b` and this inertia in B.
    #[must_use]
    pub fn transformed(&self, a_from_b: &Placement) -> Self {
        Self {
            mass: self.mass,
            center_of_mass: a_from_b.transform_point(&self.center_of_mass),
            about_center: self.about_center.rotated(&a_from_b.rotation),
        }
    }

    /// The same body at so many times the density.
    pub(crate) fn scaled(&self, factor: f64) -> Self {
        let matrix = self.about_center.to_matrix() * factor;
        Self::new(self.mass * factor, self.center_of_mass, &matrix)
    }

    /// Both bodies welded together, seen from the frame that the two inertias share.
    #[must_use]
    pub fn merged(&self, other: &Self) -> Self {
        let mass = self.mass + other.mass;
        if mass == 0.0 {
            // Bodies without mass may still carry rotational inertia (a modelled rotor).
            let mut about_center = self.about_center;
            about_center.add(&other.about_center);
            return Self { mass, center_of_mass: Vector3::zeros(), about_center };
        }
        let center_of_mass =
            (self.center_of_mass * self.mass + other.center_of_mass * other.mass) / mass;
        let mut about_center =
            self.about_center.shifted(self.mass, &(self.center_of_mass - center_of_mass));
        about_center
            .add(&other.about_center.shifted(other.mass, &(other.center_of_mass - center_of_mass)));
        Self { mass, center_of_mass, about_center }
    }

    /// Principal moments of inertia about the centre of mass [kg m²], ascending; NaN if an entry
    /// is not finite.
    #[must_use]
    pub fn principal_moments(&self) -> [f64; 3] {
        let matrix = self.about_center_of_mass();
        let scale = matrix.amax();
        if scale == 0.0 {
            return [0.0; 3];
        }
        // The eigenvalue iteration squares its entries; after an overflow it may not terminate.
        let scaled = matrix / scale;
        if !self.is_finite() || !scaled.iter().all(|x| x.is_finite()) {
            return [f64::NAN; 3];
        }
        let mut moments: [f64; 3] = (scaled.symmetric_eigenvalues() * scale).into();
        moments.sort_by(f64::total_cmp);
        moments
    }

    /// Whether the inertia is physically possible: mass and principal moments are not
    /// negative and no principal moment exceeds the sum of the other two.
    ///
    /// A relative excess below 1e-3 passes: published files round their numbers.
    #[must_use]
    pub fn is_physical(&self) -> bool {
        let [a, b, c] = self.principal_moments();
        let slack = 1e-3 * c.abs();
        self.mass >= 0.0 && a >= -slack && a + b >= c - slack
    }

    pub(crate) fn is_finite(&self) -> bool {
        let Symmetric3 { xx, xy, xz, yy, yz, zz } = self.about_center;
        [self.mass, xx, xy, xz, yy, yz, zz].iter().all(|x| x.is_finite())
            && self.center_of_mass.iter().all(|x| x.is_finite())
    }
}
