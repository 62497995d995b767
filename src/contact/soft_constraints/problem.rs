//! One step's problem: bodies with their inertia and momentum, and the constraints between them.

use legwork_linalg::all_finite;

/// Index of a diagonal block of M: a body in absolute coordinates or a whole robot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyIndex(pub usize);

/// Index of a constraint of a problem, in the order in which they were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConstraintIndex(pub usize);

/// A virtual spring-damper along one row, given by its numbers at the start of the step.
///
/// `λ₁ = λ_p - K sgn(φ₁) |φ₁|^e - B φ̇₁` with `φ̇₁ = G v₁ + h Ġv₀` and `φ₁ = φ₀ + h φ̇₁`
/// (Drumwright, eqs. 38, 39, 53); e = 1 is the paper's linear spring. Unilateral rows and normals
/// cut the pull off, so an open contact (φ₀ > 0) may be added before it touches and acts if it
/// closes within the step. Lengths in m and forces in N for a row that is a length; an angle has
/// rad and N m.
#[doc(alias("ERP", "CFM", "Baumgarte"))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpringDamper {
    /// φ₀, the deformation [m]; a unilateral row pushes where it is negative.
    pub deformation: f64,
    /// K, finite and ≥ 0 [N/m^e].
    pub stiffness: f64,
    /// e, ≥ 1 [1]; 1.5 is Hertz's sphere. Bilateral rows need 1.
    pub exponent: f64,
    /// B, finite and ≥ 0 [N s/m].
    pub damping: f64,
    /// Ġv₀, the rate of φ̇ at constant v [m/s²].
    pub rate_bias: f64,
    /// λ_p, a force that acts along the row before any deformation [N].
    pub preload: f64,
}

impl SpringDamper {
    /// A linear spring-damper without rate bias and preload.
    #[must_use]
    pub fn new(deformation: f64, stiffness: f64, damping: f64) -> Self {
        Self { deformation, stiffness, exponent: 1.0, damping, rate_bias: 0.0, preload: 0.0 }
    }

    /// Hertz's sphere on a half-space, `f = factor · E* √r d^{3/2}` with `d = -deformation`.
    ///
    /// | symbol | argument | meaning [unit] |
    /// |---|---|---|
    /// | φ₀ | `deformation` | negative in contact [m] |
    /// | E* | `modulus` | combined modulus [Pa] |
    /// | r | `radius` | [m] |
    /// | | `factor` | 4/3 in Hertz's law; Drumwright's eq. (121) has 1 |
    #[must_use]
    pub fn hertz(deformation: f64, modulus: f64, radius: f64, factor: f64) -> Self {
        let stiffness = factor * modulus * radius.sqrt();
        Self { exponent: 1.5, ..Self::new(deformation, stiffness, 0.0) }
    }

    /// One element of an elastic foundation, `K = E A / depth`.
    ///
    /// | symbol | argument | meaning [unit] |
    /// |---|---|---|
    /// | φ₀ | `deformation` | negative if compressed [m] |
    /// | E | `modulus` | Young's modulus [Pa] |
    /// | A | `area` | of the element [m²] |
    /// | | `depth` | of the foundation [m] |
    /// | B | `damping` | of the element [N s/m] |
    #[must_use]
    pub fn elastic_element(
        deformation: f64,
        modulus: f64,
        area: f64,
        depth: f64,
        damping: f64,
    ) -> Self {
        Self::new(deformation, modulus * area / depth, damping)
    }

    fn is_valid(&self) -> bool {
        let is_length = |x: f64| x >= 0.0 && x.is_finite();
        is_length(self.stiffness)
            && is_length(self.damping)
            && self.exponent >= 1.0
            && self.exponent.is_finite()
            && self.deformation.is_finite()
            && self.rate_bias.is_finite()
            && self.preload.is_finite()
    }
}

/// Coulomb friction of a contact: spring-dampers along both tangents, cut off by `|λ_t| ≤ μ λ_n`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Friction {
    /// μ, ≥ 0 [1].
    pub coefficient: f64,
    /// (φ_r, φ_s), tangential deformations [m]; zero for friction without memory.
    pub deformation: [f64; 2],
    /// K_r = K_s, ≥ 0 [N/m]; zero for friction without memory.
    pub stiffness: f64,
    /// B_r = B_s, ≥ 0 [N s/m].
    pub damping: f64,
    /// (Ġ_r v₀, Ġ_s v₀) [m/s²].
    pub rate_bias: [f64; 2],
}

impl Friction {
    /// Friction without memory: K = 0 and this B. A foot that sticks under a tangential force f
    /// creeps at `f / B`; Drumwright takes `B = 10⁶/h`.
    #[must_use]
    pub fn coulomb(coefficient: f64, damping: f64) -> Self {
        Self { coefficient, deformation: [0.0; 2], stiffness: 0.0, damping, rate_bias: [0.0; 2] }
    }

    fn is_valid(&self) -> bool {
        let non_negative = [self.coefficient, self.stiffness, self.damping];
        let finite = self.deformation.iter().chain(&self.rate_bias).all(|x| x.is_finite());
        finite && non_negative.iter().all(|&x| x >= 0.0 && x.is_finite())
    }
}

/// The law of a constraint along its rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// One row that pulls and pushes (b).
    Bilateral(SpringDamper),
    /// One row that only pushes (u): `λ₁ = max(0, …)`.
    Unilateral(SpringDamper),
    /// Three rows in the order (r, s, n): friction, friction, normal.
    Contact(SpringDamper, Friction),
}

impl Law {
    /// Rows of the constraint.
    #[must_use]
    pub fn row_count(&self) -> usize {
        match self {
            Self::Bilateral(_) | Self::Unilateral(_) => 1,
            Self::Contact(..) => 3,
        }
    }

    /// The spring-damper of the only row or of the normal.
    #[must_use]
    pub fn normal(&self) -> &SpringDamper {
        match self {
            Self::Bilateral(normal) | Self::Unilateral(normal) | Self::Contact(normal, _) => normal,
        }
    }

    fn is_valid(&self) -> bool {
        match self {
            Self::Bilateral(row) => row.is_valid() && row.exponent == 1.0,
            Self::Unilateral(row) => row.is_valid(),
            Self::Contact(normal, friction) => normal.is_valid() && friction.is_valid(),
        }
    }
}

/// The rows G of one constraint, `rows × columns`, column-major.
#[derive(Clone, Copy, Debug)]
pub enum Rows<'a> {
    /// Over all velocities: `rows × nv`. Only bodies with a nonzero column take part.
    Dense(&'a [f64]),
    /// By body: `rows × nv of the body`; each body at most once.
    Bodies(&'a [(BodyIndex, &'a [f64])]),
}

/// A body's part of a constraint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) body: usize,
    /// First of its values in the Jacobian.
    pub(super) start: usize,
}

/// A constraint and where its rows and parts are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Constraint {
    pub(super) law: Law,
    pub(super) first_row: usize,
    pub(super) first_part: usize,
    pub(super) part_count: usize,
}

/// What is known of a body's inertia.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MassKind {
    /// Some number is infinite or none.
    NotFinite,
    /// All but the diagonal is zero.
    Diagonal,
    Full,
}

impl MassKind {
    /// That of an n × n matrix.
    fn of(mass: &[f64], n: usize) -> Self {
        let is_zero = |(i, &m): (usize, &f64)| i % (n + 1) == 0 || m == 0.0;
        match all_finite(mass) {
            false => Self::NotFinite,
            true if mass.iter().enumerate().all(is_zero) => Self::Diagonal,
            true => Self::Full,
        }
    }
}

/// Bodies, momentum and constraints of one step; refilled every step without allocating.
///
/// | symbol | identifier | shape | unit | meaning |
/// |---|---|---|---|---|
/// | M | [`Self::set_mass`] | block-diagonal, nv × nv | kg, kg m² | inertia |
/// | p = M v₀ + h f | [`Self::momentum_mut`] | nv | N s, N m s | momentum without constraints |
/// | h | `time_step` | | s | |
/// | G | [`Rows`] | rows × nv | | `φ̇ = G v` |
///
/// f are all forces but those of the constraints, for a robot `Sᵀτ - bias force`.
#[derive(Clone, Debug)]
pub struct ConstraintProblem {
    /// h, > 0 [s].
    pub time_step: f64,
    sizes: Vec<usize>,
    starts: Vec<usize>,
    mass_starts: Vec<usize>,
    mass: Vec<f64>,
    mass_kinds: Vec<MassKind>,
    momentum: Vec<f64>,
    constraints: Vec<Constraint>,
    parts: Vec<Part>,
    jacobian: Vec<f64>,
    row_count: usize,
}

impl ConstraintProblem {
    /// Bodies with these numbers of velocities, of unit inertia and at rest, without constraints.
    #[must_use]
    pub fn new(body_dims: &[usize], time_step: f64) -> Self {
        let (mut starts, mut mass_starts) = (Vec::new(), Vec::new());
        let (mut at, mut mass_at) = (0, 0);
        for &size in body_dims {
            starts.push(at);
            mass_starts.push(mass_at);
            at += size;
            mass_at += size * size;
        }
        let mut problem = Self {
            time_step,
            sizes: body_dims.to_vec(),
            starts,
            mass_starts,
            mass: vec![0.0; mass_at],
            mass_kinds: vec![MassKind::Diagonal; body_dims.len()],
            momentum: vec![0.0; at],
            constraints: Vec::new(),
            parts: Vec::new(),
            jacobian: Vec::new(),
            row_count: 0,
        };
        for body in 0..body_dims.len() {
            let (start, size) = (problem.mass_starts[body], problem.sizes[body]);
            (0..size).for_each(|i| problem.mass[start + i * (size + 1)] = 1.0);
        }
        problem
    }

    /// Removes all constraints; inertia and momentum stay.
    pub fn clear(&mut self) {
        self.constraints.clear();
        self.parts.clear();
        self.jacobian.clear();
        self.row_count = 0;
    }

    /// Sets a body's inertia, `n × n`, symmetric positive definite.
    ///
    /// # Panics
    /// If it has another size.
    pub fn set_mass(&mut self, body: BodyIndex, mass: &[f64]) {
        let (start, n) = (self.mass_starts[body.0], self.sizes[body.0]);
        assert_eq!(mass.len(), n * n, "expected {n} x {n} values of inertia of body {}", body.0);
        self.mass[start..start + n * n].copy_from_slice(mass);
        self.mass_kinds[body.0] = MassKind::of(mass, n);
    }

    /// p of all bodies, to be written.
    pub fn momentum_mut(&mut self) -> &mut [f64] {
        &mut self.momentum
    }

    /// p of all bodies.
    #[must_use]
    pub fn momentum(&self) -> &[f64] {
        &self.momentum
    }

    /// Writes `p = M v₀ + h f` for all bodies.
    ///
    /// # Panics
    /// If a slice is not nv long.
    pub fn set_momentum(&mut self, velocity: &[f64], force: &[f64]) {
        let nv = self.velocity_dim();
        assert_eq!((velocity.len(), force.len()), (nv, nv), "velocity and force need nv values");
        let mut momentum = std::mem::take(&mut self.momentum);
        self.mass_times(velocity, &mut momentum);
        for (p, f) in momentum.iter_mut().zip(force) {
            *p += self.time_step * f;
        }
        self.momentum = momentum;
    }

    /// Adds a constraint.
    ///
    /// # Panics
    /// If the rows have the wrong size.
    pub fn push(&mut self, rows: Rows<'_>, law: Law) -> ConstraintIndex {
        let count = law.row_count();
        let (first_part, first_row) = (self.parts.len(), self.row_count);
        match rows {
            Rows::Dense(g) => {
                let nv = self.velocity_dim();
                assert_eq!(g.len(), count * nv, "expected {count} x {nv} values of rows");
                for body in 0..self.sizes.len() {
                    let from = count * self.starts[body];
                    let part = &g[from..from + count * self.sizes[body]];
                    // NaN counts as nonzero, so that it is detected.
                    if part.iter().any(|&value| value != 0.0) {
                        self.parts.push(Part { body, start: self.jacobian.len() });
                        self.jacobian.extend_from_slice(part);
                    }
                }
            }
            Rows::Bodies(parts) => {
                for &(BodyIndex(body), part) in parts {
                    let n = self.sizes[body];
                    assert_eq!(part.len(), count * n, "expected {count} x {n} values of rows");
                    assert!(
                        self.parts[first_part..].iter().all(|p| p.body != body),
                        "body {body} occurs twice in one constraint"
                    );
                    self.parts.push(Part { body, start: self.jacobian.len() });
                    self.jacobian.extend_from_slice(part);
                }
            }
        }
        let part_count = self.parts.len() - first_part;
        self.constraints.push(Constraint { law, first_row, first_part, part_count });
        self.row_count += count;
        ConstraintIndex(self.constraints.len() - 1)
    }

    /// nv, velocities of all bodies.
    #[must_use]
    pub fn velocity_dim(&self) -> usize {
        self.momentum.len()
    }

    /// Rows of all constraints.
    #[must_use]
    pub fn row_count(&self) -> usize {
        self.row_count
    }

    /// Number of constraints.
    #[must_use]
    pub fn constraint_count(&self) -> usize {
        self.constraints.len()
    }

    /// The rows of a constraint within all rows.
    #[must_use]
    pub fn rows_of(&self, constraint: ConstraintIndex) -> std::ops::Range<usize> {
        let constraint = &self.constraints[constraint.0];
        constraint.first_row..constraint.first_row + constraint.law.row_count()
    }

    /// A constraint's law.
    #[must_use]
    pub fn law(&self, constraint: ConstraintIndex) -> &Law {
        &self.constraints[constraint.0].law
    }

    /// Velocities of a body within those of all.
    #[must_use]
    pub fn velocities_of(&self, body: BodyIndex) -> std::ops::Range<usize> {
        self.starts[body.0]..self.starts[body.0] + self.sizes[body.0]
    }

    /// Whether all numbers can belong to a problem.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.time_step > 0.0
            && self.time_step.is_finite()
            && !self.mass_kinds.contains(&MassKind::NotFinite)
            && all_finite(&self.momentum)
            && all_finite(&self.jacobian)
            && self.constraints.iter().all(|constraint| constraint.law.is_valid())
    }

    pub(super) fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    pub(super) fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    pub(super) fn parts(&self, constraint: &Constraint) -> &[Part] {
        &self.parts[constraint.first_part..constraint.first_part + constraint.part_count]
    }

    pub(super) fn all_parts(&self) -> &[Part] {
        &self.parts
    }

    /// Rows of a part, `rows × n`, and its velocities.
    pub(super) fn part(&self, rows: usize, part: Part) -> (&[f64], std::ops::Range<usize>) {
        let range = self.velocities_of(BodyIndex(part.body));
        (&self.jacobian[part.start..part.start + rows * range.len()], range)
    }

    /// One row of a constraint over all velocities; allocates.
    pub(super) fn row_of(&self, constraint: &Constraint, row: usize) -> Vec<f64> {
        let (rows, mut full) = (constraint.law.row_count(), vec![0.0; self.velocity_dim()]);
        for &part in self.parts(constraint) {
            let (g, range) = self.part(rows, part);
            full[range].iter_mut().zip(g.chunks_exact(rows)).for_each(|(f, g)| *f = g[row]);
        }
        full
    }

    pub(super) fn mass_kind(&self, body: usize) -> MassKind {
        self.mass_kinds[body]
    }

    pub(super) fn mass_of(&self, body: usize) -> &[f64] {
        let n = self.sizes[body];
        &self.mass[self.mass_starts[body]..self.mass_starts[body] + n * n]
    }
}
