//! Operators on numbers. One table serves evaluation when a diagram is compiled and the programs
//! that run later, so both give the same bits. Truth values are 0 and 1.

use serde::Serialize;

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

    /// The operation's value at `x`, `y`.
    #[inline]
    pub fn apply(self, x: f64, y: f64) -> f64 {
        match self {
            Self::Add => x + y,
            Self::Subtract => x - y,
            Self::Multiply => x * y,
            Self::Divide => x / y,
            Self::Power if y == 2.0 => x * x,
            Self::Power => libm::pow(x, y),
            Self::Min => pick(x, y, y < x),
            Self::Max => pick(x, y, y > x),
            Self::Atan2 => libm::atan2(x, y),
            Self::Mod => x - y * libm::floor(x / y),
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
    /// Replaces the top.
    Unary(Unary),
    /// Replaces the top two.
    Binary(Binary),
    /// Replaces condition, a, b by a if the condition is true, else by b.
    Select,
}
