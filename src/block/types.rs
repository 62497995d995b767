//! Types of signals while a diagram is compiled: shapes with variables, nominal buses.
//!
//! A block writes its ports' types with variables of its own ([`Ports`](crate::Ports) makes them);
//! inference gives every variable one value over the whole diagram.

use std::fmt;
use std::ops::{Add, Mul};
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

/// A variable of inference: represents a dimension, a type, a unit or a bus argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Var(pub u32);

/// A dimension: `constant + Σ coefficient · variable`. Fixed if it has no terms.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dim {
    /// The part without variables.
    pub constant: i64,
    /// Coefficients of variables, sorted by variable, none zero.
    pub terms: SmallVec<[(i64, Var); 1]>,
}

impl Dim {
    /// The dimension `n`.
    pub fn fixed(n: usize) -> Self {
        Self { constant: n as i64, terms: SmallVec::new() }
    }

    /// The unknown dimension `var`.
    pub fn var(var: Var) -> Self {
        Self { constant: 0, terms: smallvec![(1, var)] }
    }

    /// The number, if no variable is left and it is not negative.
    pub fn known(&self) -> Option<usize> {
        if self.terms.is_empty() { usize::try_from(self.constant).ok() } else { None }
    }

    /// Adds `factor · other` to this dimension.
    #[must_use]
    pub fn plus(mut self, factor: i64, other: &Self) -> Self {
        self.constant += factor * other.constant;
        for &(coefficient, var) in &other.terms {
            match self.terms.binary_search_by_key(&var, |&(_, v)| v) {
                Ok(i) => self.terms[i].0 += factor * coefficient,
                Err(i) => self.terms.insert(i, (factor * coefficient, var)),
            }
        }
        self.terms.retain(|&mut (coefficient, _)| coefficient != 0);
        self
    }

    /// The same dimension with every variable replaced.
    #[must_use]
    pub fn substitute(&self, value: &dyn Fn(Var) -> Option<Self>) -> Self {
        let mut out = Self { constant: self.constant, terms: SmallVec::new() };
        for &(coefficient, var) in &self.terms {
            out = match value(var) {
                Some(known) => out.plus(coefficient, &known),
                None => out.plus(coefficient, &Self::var(var)),
            };
        }
        out
    }
}

impl From<usize> for Dim {
    fn from(n: usize) -> Self {
        Self::fixed(n)
    }
}

impl From<&Self> for Dim {
    fn from(dim: &Self) -> Self {
        dim.clone()
    }
}

impl Add for Dim {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.plus(1, &other)
    }
}

impl Add<usize> for Dim {
    type Output = Self;
    fn add(mut self, n: usize) -> Self {
        self.constant += n as i64;
        self
    }
}

impl Mul<Dim> for usize {
    type Output = Dim;
    fn mul(self, dim: Dim) -> Dim {
        Dim::default().plus(self as i64, &dim)
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for (coefficient, var) in &self.terms {
            if !first {
                f.write_str(" + ")?;
            }
            match coefficient {
                1 => write!(f, "?{}", var.0)?,
                c => write!(f, "{c}*?{}", var.0)?,
            }
            first = false;
        }
        match (first, self.constant) {
            (true, c) => write!(f, "{c}"),
            (false, 0) => Ok(()),
            (false, c) if c < 0 => write!(f, " - {}", -c),
            (false, c) => write!(f, " + {c}"),
        }
    }
}

/// Type of a signal.
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    /// One number.
    Real,
    /// True or false, stored as 1 or 0.
    Bool,
    /// A whole number, stored as f64 (exact to 2^53).
    Int,
    /// A column of numbers.
    Vector(Dim),
    /// Rows × columns, stored column by column.
    Matrix(Dim, Dim),
    /// A 3 × 3 rotation matrix, stored column by column.
    Rotation,
    /// A rotation (9 numbers, column by column), then a position (3).
    Pose,
    /// Named fields under one nominal name.
    Bus(Arc<BusType>),
    /// So many signals of one type, such as one per foot.
    Array(Box<Type>, Dim),
    /// Unknown.
    Var(Var),
}

/// Lengths of leaves; most types have one.
type Leaves = SmallVec<[usize; 2]>;

/// An argument of a bus type: the robot in `State(go)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arg {
    /// A name in the diagram.
    Name(String),
    /// Unknown.
    Var(Var),
}

/// A nominal bus: two buses fit only if name, arguments and fields agree.
#[derive(Debug, Clone, PartialEq)]
pub struct BusType {
    /// Nominal name.
    pub name: String,
    /// Arguments, such as the robot.
    pub args: Vec<Arg>,
    /// The fields that hold data, in storage order.
    pub fields: Vec<Field>,
    /// Further names for parts of fields.
    pub views: Vec<View>,
}

/// One field of a bus.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Name in paths.
    pub name: String,
    /// Type.
    pub ty: Type,
    /// Unit, if one is declared.
    pub unit: Option<String>,
    /// Frame of coordinates, if one is declared.
    pub frame: Option<String>,
    /// Description.
    pub doc: String,
}

impl Field {
    /// A field without unit and frame.
    pub fn new(name: &str, ty: Type) -> Self {
        Self { name: name.into(), ty, unit: None, frame: None, doc: String::new() }
    }

    /// With a unit.
    #[must_use]
    pub fn unit(mut self, unit: &str) -> Self {
        self.unit = Some(unit.into());
        self
    }

    /// With a frame.
    #[must_use]
    pub fn frame(mut self, frame: &str) -> Self {
        self.frame = Some(frame.into());
        self
    }

    /// With a description.
    #[must_use]
    pub fn doc(mut self, doc: &str) -> Self {
        self.doc = doc.into();
        self
    }
}

/// A name for part of a vector field: `base.position` is `q[0..3]`. It costs no memory.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// Dotted name in paths.
    pub name: String,
    /// Index of the field that holds the data.
    pub field: usize,
    /// First element.
    pub start: usize,
    /// Number of elements.
    pub len: Dim,
    /// Unit, if one is declared that all elements have.
    pub unit: Option<String>,
    /// Unit of each element, if they differ, as those of joints that turn and of joints that slide;
    /// else empty.
    pub units: Vec<String>,
    /// Frame, if one is declared.
    pub frame: Option<String>,
    /// What each element is called, such as the name of a joint; empty if it has only its index.
    pub labels: Vec<String>,
}

impl Type {
    /// A vector.
    pub fn vector(n: impl Into<Dim>) -> Self {
        Self::Vector(n.into())
    }

    /// A matrix.
    pub fn matrix(rows: impl Into<Dim>, cols: impl Into<Dim>) -> Self {
        Self::Matrix(rows.into(), cols.into())
    }

    /// An array.
    pub fn array(of: Self, n: impl Into<Dim>) -> Self {
        Self::Array(Box::new(of), n.into())
    }

    /// Lengths of the leaves in storage order, once every dimension is known.
    pub fn leaves(&self) -> Option<Leaves> {
        let mut out = Leaves::new();
        self.push_leaves(&mut out)?;
        Some(out)
    }

    fn push_leaves(&self, out: &mut Leaves) -> Option<()> {
        match self {
            Self::Real | Self::Bool | Self::Int => out.push(1),
            Self::Vector(n) => out.push(n.known()?),
            Self::Matrix(r, c) => out.push(r.known()?.checked_mul(c.known()?)?),
            Self::Rotation => out.push(9),
            Self::Pose => out.push(12),
            Self::Bus(bus) => {
                for field in &bus.fields {
                    field.ty.push_leaves(out)?;
                }
            }
            Self::Array(of, n) => {
                for _ in 0..n.known()? {
                    of.push_leaves(out)?;
                }
            }
            Self::Var(_) => return None,
        }
        Some(())
    }

    /// The same type with every variable renamed.
    #[must_use]
    pub fn shift(&self, by: u32) -> Self {
        self.map(
            &|dim| Dim {
                constant: dim.constant,
                terms: dim.terms.iter().map(|&(c, v)| (c, Var(v.0 + by))).collect(),
            },
            &|var| Self::Var(Var(var.0 + by)),
            &|arg| match arg {
                Arg::Name(name) => Arg::Name(name.clone()),
                Arg::Var(var) => Arg::Var(Var(var.0 + by)),
            },
        )
    }

    /// The same type with dimensions, type variables and arguments replaced.
    #[must_use]
    pub fn map(
        &self,
        dim: &dyn Fn(&Dim) -> Dim,
        var: &dyn Fn(Var) -> Self,
        arg: &dyn Fn(&Arg) -> Arg,
    ) -> Self {
        match self {
            Self::Real => Self::Real,
            Self::Bool => Self::Bool,
            Self::Int => Self::Int,
            Self::Rotation => Self::Rotation,
            Self::Pose => Self::Pose,
            Self::Vector(n) => Self::Vector(dim(n)),
            Self::Matrix(r, c) => Self::Matrix(dim(r), dim(c)),
            Self::Array(of, n) => Self::Array(Box::new(of.map(dim, var, arg)), dim(n)),
            Self::Var(v) => var(*v),
            Self::Bus(bus) => Self::Bus(Arc::new(BusType {
                name: bus.name.clone(),
                args: bus.args.iter().map(arg).collect(),
                fields: bus
                    .fields
                    .iter()
                    .map(|f| Field { ty: f.ty.map(dim, var, arg), ..f.clone() })
                    .collect(),
                views: bus.views.iter().map(|v| View { len: dim(&v.len), ..v.clone() }).collect(),
            })),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Real => f.write_str("Real"),
            Self::Bool => f.write_str("Bool"),
            Self::Int => f.write_str("Int"),
            Self::Vector(n) => write!(f, "Vector({n})"),
            Self::Matrix(r, c) => write!(f, "Matrix({r}, {c})"),
            Self::Rotation => f.write_str("Rotation"),
            Self::Pose => f.write_str("Pose"),
            Self::Array(of, n) => write!(f, "Array({of}, {n})"),
            Self::Var(_) => f.write_str("any type"),
            Self::Bus(bus) => {
                f.write_str(&bus.name)?;
                let names: Vec<_> = bus
                    .args
                    .iter()
                    .map(|arg| match arg {
                        Arg::Name(name) => name.as_str(),
                        Arg::Var(_) => "?",
                    })
                    .collect();
                if names.is_empty() { Ok(()) } else { write!(f, "({})", names.join(", ")) }
            }
        }
    }
}
