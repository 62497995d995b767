//! Four of everything: numbers, vectors and matrices of four bodies at once.
//!
//! Each lane is computed as if it were alone, by the same operations in the same order, without
//! fused multiply-add: results do not depend on how wide the machine's registers are.

/// Bodies that are computed at once, and four numbers.
pub(crate) use legwork_linalg::lanes::{LANES, Lanes as Quad};
use nalgebra::{Matrix3, Vector3};

use crate::inertia::Symmetric3;

pub(crate) const ZERO: Quad = Quad::ZERO;

/// Four vectors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quad3 {
    pub(crate) x: Quad,
    pub(crate) y: Quad,
    pub(crate) z: Quad,
}

/// Four matrices by columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuadMatrix {
    pub(crate) x: Quad3,
    pub(crate) y: Quad3,
    pub(crate) z: Quad3,
}

/// Four symmetric matrices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuadSymmetric {
    pub(crate) xx: Quad,
    pub(crate) xy: Quad,
    pub(crate) xz: Quad,
    pub(crate) yy: Quad,
    pub(crate) yz: Quad,
    pub(crate) zz: Quad,
}

/// Four spatial motions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuadMotion {
    pub(crate) linear: Quad3,
    pub(crate) angular: Quad3,
}

/// A type of four lanes, which can be gathered from and scattered to the lanes of other values.
pub(crate) trait Laned: Copy {
    fn zero() -> Self;
    /// One lane, four times.
    fn spread(from: &Self, lane: usize) -> Self;
    /// Gathers one lane from each of four values.
    fn collect(from: [&Self; LANES], lanes: [usize; LANES]) -> Self;
    /// Adds lane by lane.
    fn add_all(&mut self, other: &Self);
    /// Adds lane `from` of `other` to lane `into`.
    fn add_lane(&mut self, into: usize, other: &Self, from: usize);
    /// Adds the sum of all lanes of `other` to lane `into`.
    fn add_sum(&mut self, into: usize, other: &Self);
}

impl Laned for Quad {
    #[inline(always)]
    fn zero() -> Self {
        ZERO
    }

    #[inline(always)]
    fn spread(from: &Self, lane: usize) -> Self {
        Self::splat(from.as_array()[lane])
    }

    #[inline(always)]
    fn collect(from: [&Self; LANES], lanes: [usize; LANES]) -> Self {
        let ([a, b, c, d], [i, j, k, l]) = (from, lanes);
        Self::from([a.as_array()[i], b.as_array()[j], c.as_array()[k], d.as_array()[l]])
    }

    #[inline(always)]
    fn add_all(&mut self, other: &Self) {
        *self += *other;
    }

    #[inline(always)]
    fn add_lane(&mut self, into: usize, other: &Self, from: usize) {
        self.as_mut_array()[into] += other.as_array()[from];
    }

    #[inline(always)]
    fn add_sum(&mut self, into: usize, other: &Self) {
        let [a, b, c, d] = other.to_array();
        self.as_mut_array()[into] += (a + b) + (c + d);
    }
}

/// Implements [`Laned`] field by field.
macro_rules! laned {
    ($name:ident: $($field:ident),*) => {
        impl Laned for $name {
            #[inline(always)]
            fn zero() -> Self {
                Self { $($field: Laned::zero()),* }
            }

            #[inline(always)]
            fn spread(from: &Self, lane: usize) -> Self {
                Self { $($field: Laned::spread(&from.$field, lane)),* }
            }

            #[inline(always)]
            fn collect(from: [&Self; LANES], lanes: [usize; LANES]) -> Self {
                let [a, b, c, d] = from;
                Self {
                    $($field: {
                        Laned::collect([&a.$field, &b.$field, &c.$field, &d.$field], lanes)
                    }),*
                }
            }

            #[inline(always)]
            fn add_all(&mut self, other: &Self) {
                $(self.$field.add_all(&other.$field);)*
            }

            #[inline(always)]
            fn add_lane(&mut self, into: usize, other: &Self, from: usize) {
                $(self.$field.add_lane(into, &other.$field, from);)*
            }

            #[inline(always)]
            fn add_sum(&mut self, into: usize, other: &Self) {
                $(self.$field.add_sum(into, &other.$field);)*
            }
        }
    };
}

pub(crate) use laned;

laned!(Quad3: x, y, z);
laned!(QuadMatrix: x, y, z);
laned!(QuadSymmetric: xx, xy, xz, yy, yz, zz);
laned!(QuadMotion: linear, angular);

/// One number of four.
#[inline(always)]
pub(crate) fn lane(quad: &Quad, lane: usize) -> f64 {
    quad.as_array()[lane]
}

#[inline(always)]
pub(crate) fn set_lane(quad: &mut Quad, lane: usize, value: f64) {
    quad.as_mut_array()[lane] = value;
}

/// Four entries of a slice. Spelt out, since calls of `map` on arrays are not always inlined.
#[inline(always)]
pub(crate) fn pick(values: &[f64], [a, b, c, d]: &[usize; LANES]) -> Quad {
    Quad::from([values[*a], values[*b], values[*c], values[*d]])
}

impl Quad3 {
    /// The same vector four times.
    #[inline(always)]
    pub(crate) fn splat(v: &Vector3<f64>) -> Self {
        Self { x: Quad::splat(v.x), y: Quad::splat(v.y), z: Quad::splat(v.z) }
    }

    #[inline(always)]
    pub(crate) fn lane(&self, at: usize) -> Vector3<f64> {
        Vector3::new(lane(&self.x, at), lane(&self.y, at), lane(&self.z, at))
    }

    #[inline(always)]
    pub(crate) fn set_lane(&mut self, at: usize, v: &Vector3<f64>) {
        set_lane(&mut self.x, at, v.x);
        set_lane(&mut self.y, at, v.y);
        set_lane(&mut self.z, at, v.z);
    }

    #[inline(always)]
    pub(crate) fn cross(&self, b: &Self) -> Self {
        Self {
            x: self.y * b.z - self.z * b.y,
            y: self.z * b.x - self.x * b.z,
            z: self.x * b.y - self.y * b.x,
        }
    }

    #[inline(always)]
    pub(crate) fn dot(&self, b: &Self) -> Quad {
        self.x * b.x + self.y * b.y + self.z * b.z
    }

    #[inline(always)]
    pub(crate) fn times(&self, factor: Quad) -> Self {
        Self { x: self.x * factor, y: self.y * factor, z: self.z * factor }
    }
}

impl std::ops::Add for Quad3 {
    type Output = Self;

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self { x: self.x + b.x, y: self.y + b.y, z: self.z + b.z }
    }
}

impl std::ops::Sub for Quad3 {
    type Output = Self;

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self { x: self.x - b.x, y: self.y - b.y, z: self.z - b.z }
    }
}

impl QuadMatrix {
    #[inline(always)]
    pub(crate) fn times(&self, v: &Quad3) -> Quad3 {
        self.x.times(v.x) + self.y.times(v.y) + self.z.times(v.z)
    }

    #[inline(always)]
    pub(crate) fn product(&self, b: &Self) -> Self {
        Self { x: self.times(&b.x), y: self.times(&b.y), z: self.times(&b.z) }
    }

    #[inline(always)]
    pub(crate) fn lane(&self, at: usize) -> Matrix3<f64> {
        Matrix3::from_columns(&[self.x.lane(at), self.y.lane(at), self.z.lane(at)])
    }

    pub(crate) fn set_lane(&mut self, at: usize, m: &Matrix3<f64>) {
        self.x.set_lane(at, &m.column(0).into());
        self.y.set_lane(at, &m.column(1).into());
        self.z.set_lane(at, &m.column(2).into());
    }

    /// The same matrix four times.
    pub(crate) fn splat(m: &Matrix3<f64>) -> Self {
        Self {
            x: Quad3::splat(&m.column(0).into()),
            y: Quad3::splat(&m.column(1).into()),
            z: Quad3::splat(&m.column(2).into()),
        }
    }
}

impl QuadSymmetric {
    #[inline(always)]
    pub(crate) fn lane(&self, at: usize) -> Symmetric3 {
        Symmetric3 {
            xx: lane(&self.xx, at),
            xy: lane(&self.xy, at),
            xz: lane(&self.xz, at),
            yy: lane(&self.yy, at),
            yz: lane(&self.yz, at),
            zz: lane(&self.zz, at),
        }
    }

    pub(crate) fn set_lane(&mut self, at: usize, m: &Symmetric3) {
        set_lane(&mut self.xx, at, m.xx);
        set_lane(&mut self.xy, at, m.xy);
        set_lane(&mut self.xz, at, m.xz);
        set_lane(&mut self.yy, at, m.yy);
        set_lane(&mut self.yz, at, m.yz);
        set_lane(&mut self.zz, at, m.zz);
    }

    /// `A v`.
    #[inline(always)]
    pub(crate) fn times(&self, v: &Quad3) -> Quad3 {
        Quad3 {
            x: self.xx * v.x + self.xy * v.y + self.xz * v.z,
            y: self.xy * v.x + self.yy * v.y + self.yz * v.z,
            z: self.xz * v.x + self.yz * v.y + self.zz * v.z,
        }
    }

    #[inline(always)]
    pub(crate) fn trace(&self) -> Quad {
        self.xx + self.yy + self.zz
    }

    /// `R A Rᵀ`; symmetric by construction.
    #[inline(always)]
    pub(crate) fn rotated(&self, r: &QuadMatrix) -> Self {
        let x = self.times(&Quad3 { x: r.x.x, y: r.y.x, z: r.z.x });
        let y = self.times(&Quad3 { x: r.x.y, y: r.y.y, z: r.z.y });
        let z = self.times(&Quad3 { x: r.x.z, y: r.y.z, z: r.z.z });
        Self {
            xx: r.x.x * x.x + r.y.x * x.y + r.z.x * x.z,
            xy: r.x.x * y.x + r.y.x * y.y + r.z.x * y.z,
            xz: r.x.x * z.x + r.y.x * z.y + r.z.x * z.z,
            yy: r.x.y * y.x + r.y.y * y.y + r.z.y * y.z,
            yz: r.x.y * z.x + r.y.y * z.y + r.z.y * z.z,
            zz: r.x.z * z.x + r.y.z * z.y + r.z.z * z.z,
        }
    }

    /// `A + m (cᵀc 1 − c cᵀ)`: the parallel-axis theorem.
    #[inline(always)]
    pub(crate) fn shifted(&self, mass: Quad, c: &Quad3) -> Self {
        let (mx, my, mz) = (mass * c.x, mass * c.y, mass * c.z);
        Self {
            xx: self.xx + (my * c.y + mz * c.z),
            xy: self.xy - mx * c.y,
            xz: self.xz - mx * c.z,
            yy: self.yy + (mx * c.x + mz * c.z),
            yz: self.yz - my * c.z,
            zz: self.zz + (mx * c.x + my * c.y),
        }
    }
}

impl QuadMotion {
    #[inline(always)]
    pub(crate) fn times(&self, factor: Quad) -> Self {
        Self { linear: self.linear.times(factor), angular: self.angular.times(factor) }
    }

    /// Dot product with spatial forces given by their parts.
    #[inline(always)]
    pub(crate) fn power(&self, force: &Quad3, moment: &Quad3) -> Quad {
        self.linear.dot(force) + self.angular.dot(moment)
    }
}

impl std::ops::Add for QuadMotion {
    type Output = Self;

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self { linear: self.linear + b.linear, angular: self.angular + b.angular }
    }
}
