//! Friction cones: the true cone, its pyramids, and exact projections on them.
//!
//! In a contact's axes (t1, t2, n) the circular cone is `K = { f : |f_t| ≤ μ f_n }`. A pyramid of m
//! sides is `{ f : cos θ_j f_1 + sin θ_j f_2 ≤ μ' f_n, f_n ≥ 0 }`. With `μ' = μ` and `θ_j = 2πj/m`
//! the facets touch the circular cone from outside (circumscribed; four sides give
//! `|f_1| ≤ μ f_n, |f_2| ≤ μ f_n`, whose corner force is √2 μ f_n). With `μ' = μ cos(π/m)` and
//! `θ_j = (2j − 1)π/m` the edges lie on the circular cone (inscribed), the first along t1: friction
//! never exceeds Coulomb's and equals it along t1, and t2 if four divides m (four sides give
//! `|f_1| + |f_2| ≤ μ f_n`).

use thiserror::Error;

/// How a friction pyramid fits the circular cone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema))]
pub enum PyramidFit {
    /// Edges on the cone, the first along t1: friction between `μ cos(π/m) f_n` and `μ f_n`, never
    /// above Coulomb's. With four sides: `|f_1| + |f_2| ≤ μ f_n`.
    #[default]
    Inscribed,
    /// Facets on the cone: friction between `μ f_n` and `μ f_n / cos(π/m)`, never below Coulomb's.
    /// With four sides: `|f_1| ≤ μ f_n`, `|f_2| ≤ μ f_n`.
    Circumscribed,
}

/// In which cone the force of a contact lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields), schemars(rename = "FrictionCone"))]
pub enum Cone {
    /// A pyramid of plane facets, the first of which faces t1 if it is circumscribed.
    Pyramid {
        /// Facets, at least 3 [1].
        #[cfg_attr(feature = "serde", serde(default = "four"))]
        sides: usize,
        /// How the pyramid fits Coulomb's cone.
        #[cfg_attr(feature = "serde", serde(default))]
        fit: PyramidFit,
    },
    /// Coulomb's cone `|f_t| ≤ μ f_n`.
    Circular,
}

/// Four sides: the least for which friction is the same forwards, backwards and to the sides.
fn four() -> usize {
    4
}

impl Default for Cone {
    fn default() -> Self {
        Self::Pyramid { sides: four(), fit: PyramidFit::default() }
    }
}

/// The most sides of a pyramid, which is then off the cone by 1 − cos(π/100), 5e-4 of its radius.
pub const MOST_SIDES: usize = 100;

/// A pyramid with fewer than three sides was requested, or with more than [`MOST_SIDES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("expected a friction pyramid of at least 3 sides and at most {MOST_SIDES}, found {sides}")]
pub struct InvalidCone {
    /// The number of sides asked for.
    pub sides: usize,
}

/// A face of a pyramid, by the facet or the edge (counted as the generators) that spans it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Face {
    /// f = 0.
    Apex,
    /// On one generator.
    Edge(usize),
    /// On one facet.
    Facet(usize),
    /// No constraint holds with equality.
    Interior,
}

/// A [`Cone`] with its trigonometry done, made once and shared by all contacts of a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct ConeShape {
    cone: Cone,
    /// `(cos θ_j, sin θ_j)` of the facets; empty for the circular cone.
    facets: Vec<[f64; 2]>,
    /// `(cos, sin)` of the edges, which lie halfway between the facets.
    edges: Vec<[f64; 2]>,
    /// `μ' / μ`.
    fit_factor: f64,
    /// `tan(π/m)`.
    half_side_tangent: f64,
}

impl ConeShape {
    /// Tabulates the directions of `cone`.
    ///
    /// # Errors
    /// [`InvalidCone`] if a pyramid has fewer than 3 sides or more than [`MOST_SIDES`].
    pub fn new(cone: Cone) -> Result<Self, InvalidCone> {
        let Cone::Pyramid { sides, fit } = cone else {
            return Ok(Self::circular());
        };
        if !(3..=MOST_SIDES).contains(&sides) {
            return Err(InvalidCone { sides });
        }
        let step = std::f64::consts::PI / sides as f64;
        let (fit_factor, turn) = match fit {
            PyramidFit::Inscribed => (libm::cos(step), -1.0),
            PyramidFit::Circumscribed => (1.0, 0.0),
        };
        Ok(Self {
            cone,
            facets: (0..sides).map(|j| direction((2.0 * j as f64 + turn) * step)).collect(),
            edges: (0..sides).map(|j| direction((2.0 * j as f64 + 1.0 + turn) * step)).collect(),
            fit_factor,
            half_side_tangent: libm::tan(step),
        })
    }

    /// Coulomb's circular cone.
    #[must_use]
    pub fn circular() -> Self {
        Self {
            cone: Cone::Circular,
            facets: Vec::new(),
            edges: Vec::new(),
            fit_factor: 1.0,
            half_side_tangent: 0.0,
        }
    }

    /// The cone that was tabulated.
    #[must_use]
    pub fn cone(&self) -> Cone {
        self.cone
    }

    /// Number of facets of the pyramid; 0 for the circular cone.
    #[must_use]
    pub fn sides(&self) -> usize {
        self.facets.len()
    }

    /// Outward tangential directions `(cos θ_j, sin θ_j)` of the facets; empty if circular.
    #[must_use]
    pub fn facets(&self) -> &[[f64; 2]] {
        &self.facets
    }

    /// The μ' of the facet rows `cos θ f_1 + sin θ f_2 ≤ μ' f_n`; equal to μ if circular.
    #[must_use]
    pub fn facet_friction(&self, friction: f64) -> f64 {
        friction * self.fit_factor
    }

    /// Generator `edge` of a pyramid of slope μ'.
    #[inline]
    pub(crate) fn edge(&self, slope: f64, edge: usize) -> [f64; 3] {
        let tangent = self.half_side_tangent;
        // 1/cos(π/m) from the tangent, to stay consistent with the projection below.
        let reach = slope * (1.0 + tangent * tangent).sqrt();
        let [c, s] = self.edges[edge];
        [reach * c, reach * s, 1.0]
    }

    /// Generator j of the pyramid, `(μ_e cos φ_j, μ_e sin φ_j, 1)` with `μ_e = μ'/cos(π/m)`.
    ///
    /// # Panics
    /// If the cone is circular or `edge ≥ sides`.
    #[must_use]
    pub fn generator(&self, friction: f64, edge: usize) -> [f64; 3] {
        self.edge(self.facet_friction(friction), edge)
    }

    /// Nearest point of the cone to `force` in the Euclidean norm.
    ///
    /// Exact for both shapes. For the pyramid the symmetry of a wedge tells which facet and which
    /// edge can be nearest, so the cost is `sides` products and no iteration.
    #[must_use]
    #[inline]
    pub fn project(&self, friction: f64, force: [f64; 3]) -> [f64; 3] {
        if friction <= 0.0 {
            return [0.0, 0.0, force[2].max(0.0)];
        }
        match self.cone {
            Cone::Circular => project_circular(friction, force),
            Cone::Pyramid { .. } => self.nearest(self.facet_friction(friction), force).1,
        }
    }

    /// Nearest point of a pyramid of slope μ' > 0 to `force`, and the face whose relative interior
    /// holds it.
    #[inline]
    pub(crate) fn nearest(&self, slope: f64, force: [f64; 3]) -> (Face, [f64; 3]) {
        let [t1, t2, n] = force;
        let (mut radial, mut facet) = (f64::NEG_INFINITY, 0);
        for (index, &[c, s]) in self.facets.iter().enumerate() {
            let along = c * t1 + s * t2;
            if along > radial {
                (radial, facet) = (along, index);
            }
        }
        if radial <= slope * n {
            return (Face::Interior, force);
        }
        let [c, s] = self.facets[facet];
        let across = c * t2 - s * t1;
        // Onto the facet's plane radial = slope n.
        let height = (slope * radial + n) / (1.0 + slope * slope);
        let reach = slope * height * self.half_side_tangent;
        let (face, height, across) = if across.abs() <= reach {
            (Face::Facet(facet), height, across)
        } else {
            // Past the facet's edge: onto the edge's ray, or the apex.
            let side = slope * self.half_side_tangent;
            let height =
                (slope * radial + side * across.abs() + n) / (1.0 + slope * slope + side * side);
            if height <= 0.0 {
                return (Face::Apex, [0.0; 3]);
            }
            let before = if facet == 0 { self.facets.len() - 1 } else { facet - 1 };
            let edge = if across > 0.0 { facet } else { before };
            (Face::Edge(edge), height, (side * height).copysign(across))
        };
        let radial = slope * height;
        (face, [c * radial - s * across, s * radial + c * across, height])
    }

    /// `σ(a_t) = max { -f_tᵀ a_t : f in K, f_n = 1 }`: what friction can take out of a tangential
    /// acceleration per unit of normal force; `μ |a_t|` for the circular cone. `a ∈ K*` iff
    /// `a_n ≥ σ(a_t)`.
    #[must_use]
    pub fn slip_support(&self, friction: f64, tangential: [f64; 2]) -> f64 {
        let [t1, t2] = tangential;
        if friction <= 0.0 {
            return 0.0;
        }
        match self.cone {
            Cone::Circular => friction * (t1 * t1 + t2 * t2).sqrt(),
            Cone::Pyramid { .. } => {
                let tangent = self.half_side_tangent;
                let reach = self.facet_friction(friction) * (1.0 + tangent * tangent).sqrt();
                let along = |&[c, s]: &[f64; 2]| -(c * t1 + s * t2);
                reach * self.edges.iter().map(along).fold(0.0, f64::max)
            }
        }
    }

    /// True if friction is at its limit, up to rounding; so it is without force.
    #[must_use]
    pub fn is_at_limit(&self, friction: f64, [t1, t2, n]: [f64; 3]) -> bool {
        let reach = self.facet_friction(friction) * n * (1.0 - LIMIT);
        match self.cone {
            Cone::Circular => t1 * t1 + t2 * t2 >= reach * reach,
            Cone::Pyramid { .. } => self.facets.iter().any(|[c, s]| c * t1 + s * t2 >= reach),
        }
    }

    /// How far `force` is outside the cone, as a force: `max(0, |f_t| - μ f_n, -f_n)`, with the
    /// pyramid's facets for `|f_t| - μ f_n`.
    #[must_use]
    pub fn violation(&self, friction: f64, force: [f64; 3]) -> f64 {
        let [t1, t2, n] = force;
        let reach = match self.cone {
            Cone::Circular => (t1 * t1 + t2 * t2).sqrt(),
            Cone::Pyramid { .. } if friction > 0.0 => {
                self.facets.iter().fold(f64::NEG_INFINITY, |m, [c, s]| m.max(c * t1 + s * t2))
            }
            Cone::Pyramid { .. } => (t1 * t1 + t2 * t2).sqrt(),
        };
        (reach - self.facet_friction(friction) * n).max(-n).max(0.0)
    }

    /// How far `acceleration` is outside the dual cone `K* = { a : aᵀf ≥ 0 for all f in K }`,
    /// as an acceleration.
    ///
    /// Circular: `μ |a_t| ≤ a_n`. Pyramid: `a` makes no negative product with a generator.
    #[must_use]
    pub fn dual_violation(&self, friction: f64, acceleration: [f64; 3]) -> f64 {
        let [t1, t2, n] = acceleration;
        if friction <= 0.0 {
            return (-n).max(0.0);
        }
        match self.cone {
            Cone::Circular => {
                let lack = friction * (t1 * t1 + t2 * t2).sqrt() - n;
                (lack / (1.0 + friction * friction).sqrt()).max(0.0)
            }
            Cone::Pyramid { .. } => {
                let mut worst = 0.0f64;
                for edge in 0..self.edges.len() {
                    let [g1, g2, g3] = self.generator(friction, edge);
                    let norm = (g1 * g1 + g2 * g2 + g3 * g3).sqrt();
                    worst = worst.max(-(g1 * t1 + g2 * t2 + g3 * n) / norm);
                }
                worst
            }
        }
    }
}

/// Projection on `|f_t| ≤ μ f_n`.
#[inline]
fn project_circular(friction: f64, [t1, t2, n]: [f64; 3]) -> [f64; 3] {
    let tangential = (t1 * t1 + t2 * t2).sqrt();
    if tangential <= friction * n {
        return [t1, t2, n];
    }
    let height = (friction * tangential + n) / (1.0 + friction * friction);
    if height <= 0.0 {
        return [0.0; 3];
    }
    let scale = friction * height / tangential;
    [scale * t1, scale * t2, height]
}

/// Share of the limit of friction within which a force is at it.
const LIMIT: f64 = 1e-9;

/// Unit direction of an angle, with the rounding of `cos(π/2)` removed so that axis-aligned facets
/// are exactly axis-aligned.
fn direction(angle: f64) -> [f64; 2] {
    let clean = |x: f64| if x.abs() < 1e-15 { 0.0 } else { x };
    [clean(libm::cos(angle)), clean(libm::sin(angle))]
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may stop")]
mod tests {
    use super::*;
    use crate::problems::Random;

    fn shapes() -> Vec<ConeShape> {
        let mut shapes = vec![ConeShape::circular()];
        for sides in [3, 4, 5, 6, 8, 16] {
            for fit in [PyramidFit::Inscribed, PyramidFit::Circumscribed] {
                shapes.push(ConeShape::new(Cone::Pyramid { sides, fit }).unwrap());
            }
        }
        shapes
    }

    /// Moreau: `p = P(x)` iff p in K, p − x in K*, p ⟂ (p − x).
    #[test]
    fn projection_satisfies_moreaus_conditions() {
        let mut random = Random::new(1);
        for shape in shapes() {
            for _ in 0..2000 {
                let mu = 1.5 * random.uniform();
                let x = [random.normal(), random.normal(), random.normal()];
                let p = shape.project(mu, x);
                let q = [p[0] - x[0], p[1] - x[1], p[2] - x[2]];
                let inner = p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
                assert!(shape.violation(mu, p) < 1e-14, "{shape:?} {mu} {x:?} primal");
                assert!(shape.dual_violation(mu, q) < 1e-14, "{:?} {mu} {x:?} dual", shape.cone);
                assert!(inner.abs() < 1e-13, "{:?} {mu} {x:?} product {inner:e}", shape.cone);
            }
        }
    }

    #[test]
    fn an_inscribed_pyramid_lies_in_the_circular_cone_and_a_circumscribed_one_holds_it() {
        let mut random = Random::new(2);
        let circle = ConeShape::circular();
        for shape in shapes() {
            for _ in 0..500 {
                let x = [random.normal(), random.normal(), random.normal()];
                match shape.cone() {
                    Cone::Pyramid { fit: PyramidFit::Inscribed, .. } => {
                        assert!(circle.violation(0.7, shape.project(0.7, x)) < 1e-14);
                    }
                    Cone::Pyramid { fit: PyramidFit::Circumscribed, .. } => {
                        assert!(shape.violation(0.7, circle.project(0.7, x)) < 1e-14);
                    }
                    Cone::Circular => {}
                }
            }
        }
    }

    #[test]
    fn two_sides_are_refused() {
        let cone = Cone::Pyramid { sides: 2, fit: PyramidFit::Inscribed };
        assert_eq!(ConeShape::new(cone), Err(InvalidCone { sides: 2 }));
    }
}
