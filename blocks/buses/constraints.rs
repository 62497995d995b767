//! `Constraint` and `Constraints`: closed loops and held frames.

use legwork_block::{Array, Dim, Items, Matrix, Vector, bus_type};

/// Rows of every constraint: three of a point, three of a rotation.
pub const CONSTRAINT_ROWS: usize = 6;

/// `Constraint`: a loop that is closed, or a frame that is held. The constraint force keeps
/// `J ν̇ + γ = 0` in its active rows.
///
/// There are always six rows, linear ones first, so that constraints of different kinds fit
/// into one array; a kind with fewer rows leaves the rest zero and inactive, at no cost.
#[bus_type(
    |nv: &Dim|
    as Constraint;
    jacobian: Matrix::of(CONSTRAINT_ROWS, nv), _, "J: velocity across the constraint `= J ν`",
        shape "6 × nv", units "1, m";
    jacobian_dot_nu: Vector::of(CONSTRAINT_ROWS), _, "J̇ν: its acceleration at ν̇ = 0", shape "6",
        units "m/s², rad/s²";
    error: Vector::of(CONSTRAINT_ROWS), _,
        "how far the constraint is open: position error, rotation vector", shape "6",
        units "m, rad";
    gamma: Vector::of(CONSTRAINT_ROWS), _, "γ: J̇ν and what closes the constraint", shape "6",
        units "m/s², rad/s²";
    active: Vector::of(CONSTRAINT_ROWS), "1", "1 where a row holds", shape "6";
)]
pub struct ConstraintBus;

/// `Constraints`: any number of constraints.
pub type ConstraintsBus = Array<ConstraintBus>;

/// Constraints, read.
pub type Constraints<'a> = Items<'a, ConstraintBus>;
