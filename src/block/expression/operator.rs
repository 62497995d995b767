//! Operators on numbers. One table serves evaluation when a diagram is compiled and the programs
//! that run later, so both give the same bits. Truth values are 0 and 1.

use serde::Serialize;

use crate::unit::Unit;

/// An operation on one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Unary {
    /// −x.
    Negate,
    /// Not x.
    Not,
    /// |x|.
    Abs,
    /// √x.
    Sqrt,
    /// eˣ.
    Exp,
    /// Natural logarithm.
    Log,
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Tangent.
    Tan,
    /// Inverse sine.
    Asin,
    /// Inverse cosine.
    Acos,
    /// Inverse tangent.
    Atan,
    /// Hyperbolic tangent.
    Tanh,
    /// Greatest whole number not above x.
    Floor,
    /// Least whole number not below x.
    Ceil,
    /// Nearest whole number, halves away from zero.
    Round,
    /// −1, 0 or 1.
    Sign,
}

impl Unary {
    /// The operation's value at `x`.
    pub fn apply(self, x: f64) -> f64 {
        match self {
            Self::Negate => -x,
            Self::Not => f64::from(x == 0.0),
            Self::Abs => x.abs(),
            Self::Sqrt => libm::sqrt(x),
            Self::Exp => libm::exp(x),
            Self::Log => libm::log(x),
            Self::Sin => libm::sin(x),
            Self::Cos => libm::cos(x),
            Self::Tan => libm::tan(x),
            Self::Asin => libm::asin(x),
            Self::Acos => libm::acos(x),
            Self::Atan => libm::atan(x),
            Self::Tanh => libm::tanh(x),
            Self::Floor => libm::floor(x),
            Self::Ceil => libm::ceil(x),
            Self::Round => libm::round(x),
            Self::Sign if x > 0.0 => 1.0,
            Self::Sign if x < 0.0 => -1.0,
            Self::Sign => x * 0.0,
        }
    }
}

/// An operation on two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Binary {
    /// x + y.
    Add,
    /// x − y.
    Subtract,
    /// x y.
    Multiply,
    /// x / y.
    Divide,
    /// xʸ.
    Power,
    /// The lesser; NaN if one is.
    Min,
    /// The greater; NaN if one is.
    Max,
    /// The angle of the point (y, x).
    Atan2,
    /// x − y floor(x / y): has the sign of y.
    Mod,
    /// x < y.
    Less,
    /// x ≤ y.
    LessEqual,
    /// x > y.
    Greater,
    /// x ≥ y.
    GreaterEqual,
    /// x = y.
    Equal,
    /// x ≠ y.
    NotEqual,
    /// Both.
    And,
    /// One or both.
    Or,
}

impl Binary {
    /// The sign of a comparison; `None` of other operations.
    pub fn sign(self) -> Option<&'static str> {
        match self {
            Self::Less => Some("<"),
            Self::LessEqual => Some("<="),
            Self::Greater => Some(">"),
            Self::GreaterEqual => Some(">="),
            Self::Equal => Some("=="),
            Self::NotEqual => Some("!="),
            _ => None,
        }
    }

    /// Whether it compares two numbers by size: where it changes, they are equal.
    pub fn is_by_size(self) -> bool {
        matches!(self, Self::Less | Self::LessEqual | Self::Greater | Self::GreaterEqual)
    }

    /// The comparison that holds where this one does not; `None` of other operations.
    pub(super) fn opposite(self) -> Option<Self> {
        match self {
            Self::Less => Some(Self::GreaterEqual),
            Self::LessEqual => Some(Self::Greater),
            Self::Greater => Some(Self::LessEqual),
            Self::GreaterEqual => Some(Self::Less),
            Self::Equal => Some(Self::NotEqual),
            Self::NotEqual => Some(Self::Equal),
            _ => None,
        }
    }

    /// The comparison with its sides exchanged.
    pub(super) fn mirrored(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessEqual => Self::GreaterEqual,
            Self::Greater => Self::Less,
            Self::GreaterEqual => Self::LessEqual,
            other => other,
        }
    }

    /// The operation's value at `x`, `y`.
    #[inline(always)]
    pub fn apply(self, x: f64, y: f64) -> f64 {
        match self {
            Self::Add => x + y,
            Self::Subtract => x - y,
            Self::Multiply => x * y,
            Self::Divide => x / y,
            Self::Power if y == 2.0 => x * x,
            Self::Power | Self::Atan2 | Self::Mod => self.apply_long(x, y),
            Self::Min => pick(x, y, y < x),
            Self::Max => pick(x, y, y > x),
            Self::Less => f64::from(x < y),
            Self::LessEqual => f64::from(x <= y),
            Self::Greater => f64::from(x > y),
            Self::GreaterEqual => f64::from(x >= y),
            Self::Equal => f64::from(x == y),
            Self::NotEqual => f64::from(x != y),
            Self::And => f64::from(x != 0.0 && y != 0.0),
            Self::Or => f64::from(x != 0.0 || y != 0.0),
        }
    }

    /// Those that are not a few instructions, which would make a program's loop long.
    #[inline(never)]
    fn apply_long(self, x: f64, y: f64) -> f64 {
        match self {
            Self::Atan2 => libm::atan2(x, y),
            Self::Mod => x - y * libm::floor(x / y),
            _ => libm::pow(x, y),
        }
    }

    /// How the operator is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Power => "^",
            Self::Min => "min",
            Self::Max => "max",
            Self::Atan2 => "atan2",
            Self::Mod => "mod",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::And => "and",
            Self::Or => "or",
        }
    }
}

/// An operator between two values.
pub struct Infix {
    /// How it is written; the first is the usual way.
    pub written: &'static [&'static str],
    /// What it gives.
    pub doc: &'static str,
    /// A condition that holds.
    pub example: &'static str,
    pub(super) operator: Binary,
    /// How tightly it binds to the left, and to the right.
    pub(super) left: u8,
    pub(super) right: u8,
}

/// Binding power of comparisons, which do not chain.
pub(super) const COMPARISON_POWER: u8 = 4;
/// Binding power of unary minus: tighter than `*`, looser than `^`.
pub(super) const NEGATE_POWER: u8 = 7;

const fn infix(
    written: &'static [&'static str],
    operator: Binary,
    (left, right): (u8, u8),
    doc: &'static str,
    example: &'static str,
) -> Infix {
    Infix { written, doc, example, operator, left, right }
}

const COMPARES: (u8, u8) = (COMPARISON_POWER, COMPARISON_POWER + 1);

/// The operators between two values, from loose to tight.
#[rustfmt::skip]
pub(super) static INFIX: [Infix; 14] = [
    infix(&["or", "||"], Binary::Or, (1, 2), "one of two conditions, or both", "1 > 2 or 1 < 2"),
    infix(&["and", "&&"], Binary::And, (2, 3), "both of two conditions", "0 < 1 and 1 < 2"),
    infix(&["=="], Binary::Equal, COMPARES,
        "equal: numbers, texts or truth values", "'left' == 'left'"),
    infix(&["in"], Binary::Equal, COMPARES,
        "equal to an item of a list", "2 in [1, 2, 3]"),
    infix(&["!="], Binary::NotEqual, COMPARES, "not equal", "'left' != 'right'"),
    infix(&["<"], Binary::Less, COMPARES, "less", "1[mm] < 1[cm]"),
    infix(&["<="], Binary::LessEqual, COMPARES, "less or equal", "2 <= 2"),
    infix(&[">"], Binary::Greater, COMPARES, "greater", "1[kN] > 999[N]"),
    infix(&[">="], Binary::GreaterEqual, COMPARES, "greater or equal", "2 >= 2"),
    infix(&["+"], Binary::Add, (5, 6), "sum", "1[m] + 5[cm] == 1.05[m]"),
    infix(&["-"], Binary::Subtract, (5, 6), "difference; in front of a value, its negative",
        "5 - 2 - 1 == 2"),
    infix(&["*"], Binary::Multiply, (6, 7), "product", "2[N] * 3[m] == 6[N*m]"),
    infix(&["/"], Binary::Divide, (6, 7), "quotient; 1/2 is 0.5", "6[m] / 2[s] == 3[m/s]"),
    infix(&["^"], Binary::Power, (8, NEGATE_POWER),
        "power, grouped from the right; `-2^2` is -4", "2^3^2 == 512"),
];

#[inline(always)]
fn pick(x: f64, y: f64, second: bool) -> f64 {
    if second || y.is_nan() { y } else { x }
}

/// An instruction of a compiled expression, for a machine with a stack of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub enum Op {
    /// Pushes a constant.
    Push(f64),
    /// Pushes the signal in a slot.
    Load(u32),
    /// Pushes the signal as many slots behind this one as the number of the element that is wanted.
    LoadEach(u32),
    /// Replaces the top.
    Unary(Unary),
    /// Replaces the top two.
    Binary(Binary),
    /// Replaces the top two by how they compare: numbers in this unit, if it is known.
    Compare(Binary, Option<Unit>),
    /// Replaces condition, a, b by a if the condition is true, else by b.
    Select,
}
