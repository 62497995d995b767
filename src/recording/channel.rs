//! The content of a channel: a signal as a tree of shapes, and its columns.

use serde::{Deserialize, Serialize};

/// Most values that a row may hold: 2²⁶, half a gigabyte.
const LARGEST_ROW: usize = 1 << 26;

/// Bytes of a value: its number in the row, its name with at most two indices, and what holds both.
const PER_VALUE: u64 = 120;
/// Bytes of an index in a name, at most.
const PER_INDEX: u64 = 22;

/// Shape of a signal or of a part of one.
///
/// Values arrive as f64 in the order of the tree, whatever their kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Shape {
    /// One number.
    Real,
    /// True or false; any value but 0 is true.
    Bool,
    /// A whole number, exact to 2⁵³.
    Int,
    /// A column of so many numbers.
    Vector(usize),
    /// Rows × columns, stored column by column.
    Matrix(usize, usize),
    /// A 3 × 3 rotation matrix, stored column by column.
    Rotation,
    /// A rotation (9 numbers, column by column), then a position [m] (3).
    Pose,
    /// Named fields under a nominal name.
    Message(String, Vec<Field>),
    /// So many of one shape, one after the other.
    Repeated(Box<Self>, usize),
}

/// A named part of a signal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// Name as the diagram spells it; any text.
    pub name: String,
    /// Shape.
    pub shape: Shape,
    /// Unit, if one is declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Frame of coordinates, if one is declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
}

/// One logged signal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Channel {
    /// Path of the signal, such as `body.state`; any text, but no two channels share it.
    pub topic: String,
    /// Name of its rate. Signals of one rate are recorded at the same instants.
    pub rate: String,
    /// The signal's fields, in storage order. A signal that is not a bus has one,
    /// [`Channel::VALUE`].
    pub fields: Vec<Field>,
}

/// What a single value of a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A real number, 8 bytes.
    Real,
    /// A whole number, 8 bytes.
    Int,
    /// True (1) or false (0), 1 byte.
    Bool,
}

impl Field {
    /// A field without unit and frame.
    pub fn new(name: impl Into<String>, shape: Shape) -> Self {
        Self { name: name.into(), shape, unit: None, frame: None }
    }

    /// With a unit.
    #[must_use]
    pub fn unit(mut self, unit: impl Into<String>) -> Self {
        self.unit = Some(unit.into());
        self
    }

    /// With a frame of coordinates.
    #[must_use]
    pub fn frame(mut self, frame: impl Into<String>) -> Self {
        self.frame = Some(frame.into());
        self
    }
}

impl Channel {
    /// Name of the field of a signal that is not a bus.
    pub const VALUE: &'static str = "value";

    /// A channel of the given fields, with a rate of its own.
    pub fn new(topic: impl Into<String>, fields: Vec<Field>) -> Self {
        let topic = topic.into();
        Self { rate: topic.clone(), topic, fields }
    }

    /// At a rate that it may share.
    #[must_use]
    pub fn at(mut self, rate: impl Into<String>) -> Self {
        self.rate = rate.into();
        self
    }

    /// Number of values in a row, without tick, microstep, phase and time.
    pub fn value_count(&self) -> usize {
        self.fields.iter().map(|field| field.shape.value_count()).sum()
    }

    /// Names of the values of a row in order, as in `base.position[2]`, `inertia[0][1]` (row,
    /// then column) or `feet[3].force[0]`.
    pub fn columns(&self) -> Vec<String> {
        let mut out = Vec::with_capacity(self.value_count());
        for field in &self.fields {
            field.shape.push_columns(&field.name, &mut out);
        }
        out
    }

    /// Bytes that the names and the row take, at most.
    pub(super) fn memory(&self) -> u64 {
        memory_of(&self.fields, 0)
    }

    /// Whether a row of these signals stays within [`LARGEST_ROW`]. Files cannot be trusted.
    pub(super) fn fit<'a>(row: impl IntoIterator<Item = &'a Self>) -> bool {
        let add = |sum: usize, channel: &Self| sum.saturating_add(weight_of(&channel.fields));
        row.into_iter().fold(0, add) <= LARGEST_ROW
    }
}

impl Shape {
    /// Number of values.
    pub fn value_count(&self) -> usize {
        match self {
            Self::Real | Self::Bool | Self::Int => 1,
            Self::Vector(n) => *n,
            Self::Matrix(rows, cols) => rows * cols,
            Self::Rotation => 9,
            Self::Pose => 12,
            Self::Message(_, fields) => fields.iter().map(|f| f.shape.value_count()).sum(),
            Self::Repeated(of, n) => n * of.value_count(),
        }
    }

    /// Upper bound of values and of messages, so that a row of empty messages counts as well.
    fn weight(&self) -> usize {
        match self {
            Self::Matrix(rows, cols) => rows.saturating_mul(*cols).saturating_add(1),
            Self::Message(_, fields) => weight_of(fields).saturating_add(1),
            Self::Repeated(of, n) => of.weight().saturating_mul(*n).saturating_add(1),
            _ => self.value_count(),
        }
    }

    /// Bytes of the columns' names and of the row, if the name in front takes `path`.
    fn memory(&self, path: u64) -> u64 {
        match self {
            Self::Message(_, fields) => memory_of(fields, path).saturating_add(PER_VALUE),
            Self::Repeated(of, n) => of.memory(path + PER_INDEX).saturating_mul(*n as u64),
            _ => (self.weight() as u64).saturating_mul(path + PER_VALUE),
        }
    }

    fn push_columns(&self, path: &str, out: &mut Vec<String>) {
        match self {
            Self::Real | Self::Bool | Self::Int => out.push(path.to_owned()),
            Self::Vector(n) => out.extend((0..*n).map(|i| format!("{path}[{i}]"))),
            Self::Matrix(rows, cols) => {
                for col in 0..*cols {
                    out.extend((0..*rows).map(|row| format!("{path}[{row}][{col}]")));
                }
            }
            Self::Rotation => Self::Matrix(3, 3).push_columns(path, out),
            Self::Pose => {
                Self::Rotation.push_columns(&format!("{path}.rotation"), out);
                Self::Vector(3).push_columns(&format!("{path}.position"), out);
            }
            Self::Message(_, fields) => {
                for field in fields {
                    field.shape.push_columns(&format!("{path}.{}", field.name), out);
                }
            }
            Self::Repeated(of, n) => {
                for i in 0..*n {
                    of.push_columns(&format!("{path}[{i}]"), out);
                }
            }
        }
    }
}

fn memory_of(fields: &[Field], path: u64) -> u64 {
    fields.iter().fold(0, |sum: u64, field| {
        sum.saturating_add(field.shape.memory(path + field.name.len() as u64 + 1))
    })
}

fn weight_of(fields: &[Field]) -> usize {
    fields.iter().fold(0, |sum: usize, field| sum.saturating_add(field.shape.weight()))
}
