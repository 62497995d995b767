//! `Constraint` and `Constraints`: closed loops and held frames.

use legwork_block::{BusField, Dim, Leaves, Signal, Type, bus};

/// Rows of every constraint: three of a point, three of a rotation.
pub const CONSTRAINT_ROWS: usize = 6;

/// `Constraint`: a loop that is closed, or a frame that is held. The constraint force keeps
/// `J ν̇ + γ = 0` in its active rows.
///
/// There are always six rows, linear ones first, so that constraints of different kinds fit
/// into one array; a kind with fewer rows leaves the rest zero and inactive, at no cost.
///
/// | field | shape | unit | meaning |
/// |---|---|---|---|
/// | `jacobian` | 6 × nv | 1, m | J: velocity across the constraint `= J ν` |
/// | `jacobian_dot_nu` | 6 | m/s², rad/s² | J̇ν: its acceleration at ν̇ = 0 |
/// | `error` | 6 | m, rad | how far the constraint is open |
/// | `gamma` | 6 | m/s², rad/s² | γ: J̇ν and what closes the constraint |
/// | `active` | 6 | 1 | 1 where a row holds |
#[derive(Clone)]
pub struct ConstraintBus {
    ty: Type,
}

/// A constraint, read.
#[derive(Clone, Copy)]
pub struct Constraint<'a> {
    /// 6 × nv, column by column.
    pub jacobian: &'a [f64],
    /// J̇ν.
    pub jacobian_dot_nu: &'a [f64],
    /// How far the constraint is open.
    pub error: &'a [f64],
    /// γ.
    pub gamma: &'a [f64],
    /// 1 where a row holds.
    pub active: &'a [f64],
}

/// Leaf of each field of a [`ConstraintBus`].
pub mod constraint_leaf {
    /// `jacobian`.
    pub const JACOBIAN: usize = 0;
    /// `jacobian_dot_nu`.
    pub const JACOBIAN_DOT_NU: usize = 1;
    /// `error`.
    pub const ERROR: usize = 2;
    /// `gamma`.
    pub const GAMMA: usize = 3;
    /// `active`.
    pub const ACTIVE: usize = 4;
    /// Number of leaves.
    pub const COUNT: usize = 5;
}

impl ConstraintBus {
    /// A constraint of a robot with `nv` velocities.
    pub fn new(nv: &Dim) -> Self {
        Self { ty: constraint_type(nv) }
    }
}

pub(super) fn constraint_type(nv: &Dim) -> Type {
    let six = || Type::vector(CONSTRAINT_ROWS);
    let fields = vec![
        BusField::new("jacobian", Type::matrix(CONSTRAINT_ROWS, nv)).doc("linear rows first"),
        BusField::new("jacobian_dot_nu", six()),
        BusField::new("error", six()).doc("position error, rotation vector"),
        BusField::new("gamma", six()).doc("J nu_dot + gamma = 0"),
        BusField::new("active", six()).unit("1").doc("1 where a row holds"),
    ];
    bus("Constraint", Vec::new(), fields, Vec::new())
}

impl Signal for ConstraintBus {
    type Ref<'a> = Constraint<'a>;
    fn ty(&self) -> Type {
        self.ty.clone()
    }
    #[inline]
    fn read(leaves: Leaves<'_>) -> Constraint<'_> {
        Constraint {
            jacobian: leaves.leaf(constraint_leaf::JACOBIAN),
            jacobian_dot_nu: leaves.leaf(constraint_leaf::JACOBIAN_DOT_NU),
            error: leaves.leaf(constraint_leaf::ERROR),
            gamma: leaves.leaf(constraint_leaf::GAMMA),
            active: leaves.leaf(constraint_leaf::ACTIVE),
        }
    }
}

/// `Constraints`: any number of constraints, an array of [`ConstraintBus`].
#[derive(Clone)]
pub struct ConstraintsBus {
    ty: Type,
}

/// Constraints, read.
#[derive(Clone, Copy)]
pub struct Constraints<'a> {
    leaves: Leaves<'a>,
}

impl<'a> Constraints<'a> {
    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.leaves.len() / constraint_leaf::COUNT
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    /// Constraint `i`.
    #[inline]
    pub fn get(&self, i: usize) -> Constraint<'a> {
        let first = i * constraint_leaf::COUNT;
        ConstraintBus::read(self.leaves.part(first..first + constraint_leaf::COUNT))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Constraint<'a>> + use<'a> {
        let constraints = *self;
        (0..constraints.len()).map(move |i| constraints.get(i))
    }
}

impl ConstraintsBus {
    /// `count` constraints of a robot with `nv` velocities.
    pub fn new(count: &Dim, nv: &Dim) -> Self {
        Self { ty: Type::array(constraint_type(nv), count) }
    }
}

impl Signal for ConstraintsBus {
    type Ref<'a> = Constraints<'a>;
    fn ty(&self) -> Type {
        self.ty.clone()
    }
    #[inline]
    fn read(leaves: Leaves<'_>) -> Constraints<'_> {
        Constraints { leaves }
    }
}
