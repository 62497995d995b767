//! The declaration of a block: ports, state, rate, guards, needs.

use std::borrow::Cow;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::expression::UnitEquation;
use crate::fault::Invalid;
use crate::function::FunctionDeclaration;
use crate::instance::ErasedBlock;
use crate::signal::Feed;
use crate::types::{Dim, Type, Var};
use crate::unit::{SymbolicUnit, Unit};

/// A text of a declaration: as a rule one that its source has, which is not copied.
pub type PortText = Cow<'static, str>;

/// One input port.
#[derive(Debug, Clone)]
pub struct InputDeclaration {
    /// Name in `in:`.
    pub name: PortText,
    /// Type, with variables of the block's own.
    pub ty: Type,
    /// Unit, if one is declared.
    pub unit: PortUnit,
    /// Frame of coordinates, if one is declared.
    pub frame: Option<String>,
    /// What it is.
    pub doc: PortText,
    /// Whether it may be left unconnected.
    pub optional: bool,
    /// Hint for a bus with other arguments; empty if there is none.
    pub argument_hint: PortText,
}

/// One output port.
#[derive(Debug, Clone)]
pub struct OutputDeclaration {
    /// Name in paths.
    pub name: PortText,
    /// Type, with variables of the block's own.
    pub ty: Type,
    /// Unit, if one is declared.
    pub unit: PortUnit,
    /// Frame of coordinates, if one is declared.
    pub frame: Option<String>,
    /// What it is.
    pub doc: PortText,
    /// The output group that computes it.
    pub group: usize,
    /// Whether infinite values are bounds, not mistakes.
    pub may_be_infinite: bool,
    /// True if it is an acceleration whose forces do not rely on the end of the step.
    pub is_smooth: bool,
    /// Whether the block faults where its numbers are not finite, so that nobody else need look.
    pub checks_itself: bool,
    /// Whose elements its elements go with, one by one, if that is declared.
    pub elements: Option<ElementsOf>,
    /// Inputs whose memory this port shows instead of memory of its own: one per leading leaf.
    pub forwards: Vec<Forward>,
}

/// A vector among the inputs whose elements those of an output go with, so that they are called
/// the same, such as joints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElementsOf {
    /// The input port.
    pub input: u16,
    /// If the input is a bus: the name of its part.
    pub view: &'static str,
}

/// A leaf of a bus output that is a view of an input's leaf: it costs neither memory nor a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forward {
    /// Leaf of the output port.
    pub leaf: usize,
    /// The input port.
    pub input: u16,
    /// Leaf of the input port.
    pub input_leaf: usize,
}

/// Unit of a port.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum PortUnit {
    /// Not declared; fits every unit.
    #[default]
    Unspecified,
    /// This unit, as text, such as `N*m`.
    Is(PortText),
    /// One with unknowns, which have one value on all ports of the block; such as that of `u` times
    /// that of a parameter.
    Of(SymbolicUnit),
    /// That of what it is joined with: numbers were written without unit.
    Adopted,
    /// Of an input: each of these is that of some of its elements, which may have several.
    Each(Vec<SymbolicUnit>),
    /// Of an input whose elements have several units: those that an element may have, as `N, N m`.
    Among(&'static str),
    /// The unit of every element of a vector; `None` of one that fits any.
    List(Vec<Option<SymbolicUnit>>),
    /// The unit that all of these have, if it is one: a signal put together from parts.
    Common(Vec<PortUnit>),
}

impl PortUnit {
    /// The same with every variable renamed.
    #[must_use]
    pub fn shift(&self, by: u32) -> Self {
        match self {
            Self::Of(unit) => Self::Of(unit.shift(by)),
            Self::Each(parts) => Self::Each(parts.iter().map(|part| part.shift(by)).collect()),
            Self::List(parts) => {
                let shift = |part: &Option<SymbolicUnit>| Some(part.as_ref()?.shift(by));
                Self::List(parts.iter().map(shift).collect())
            }
            Self::Common(parts) => Self::Common(parts.iter().map(|part| part.shift(by)).collect()),
            other => other.clone(),
        }
    }
}

impl From<&'static str> for PortUnit {
    fn from(unit: &'static str) -> Self {
        Self::Is(PortText::Borrowed(unit))
    }
}

impl From<Unit> for PortUnit {
    fn from(unit: Unit) -> Self {
        Self::Is(unit.to_string().into())
    }
}

/// Numbers written without unit adopt the unit of what they are joined with.
impl From<Option<Unit>> for PortUnit {
    fn from(unit: Option<Unit>) -> Self {
        unit.map_or(Self::Adopted, Self::from)
    }
}

impl From<Var> for PortUnit {
    fn from(unit: Var) -> Self {
        Self::Of(unit.into())
    }
}

impl From<SymbolicUnit> for PortUnit {
    fn from(unit: SymbolicUnit) -> Self {
        Self::Of(unit)
    }
}

/// Which inputs have direct feedthrough to the outputs of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Feeds {
    /// Every input and shared computation: the safe default.
    All,
    /// Only these.
    Only(Vec<Feed>),
}

/// A part of a continuous state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Manifold {
    /// Plain numbers, this many.
    Euclidean(Dim),
    /// A unit quaternion (w, x, y, z); its rate is the angular velocity in world axes (3).
    Quaternion,
    /// Roll φ, pitch θ, yaw ψ [rad] of the rotation `Rz(ψ) Ry(θ) Rx(φ)`; its rate is the angular
    /// velocity in world axes (3). A block that declares it watches for θ = ±90°, where angle rates
    /// are infinite.
    EulerAngles,
}

/// A block's continuous state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContinuousState {
    /// `ẋ = f(t, x, u)`: the block's derivative gives the rate of every part.
    First(Vec<Manifold>),
    /// A position on its manifold and its velocity, stored one after the other. The derivative
    /// gives the acceleration only; the rate of the position is the velocity.
    Second(Vec<Manifold>),
}

/// The rate that a block requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RateRule {
    /// From its inputs.
    #[default]
    Inherited,
    /// Its outputs never change.
    Constant,
    /// A source of continuous time, unless `every:` says otherwise.
    Continuous,
    /// Discrete state that is updated at exactly one period, stated or inherited.
    Sampled,
}

/// When a guard fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crossing {
    /// While its value is positive; the reset must make it stop.
    Level,
    /// When its value goes from negative to zero or above.
    Rising,
    /// When its value goes from positive to zero or below.
    Falling,
}

/// A zero crossing that a block watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard {
    /// When it fires.
    pub crossing: Crossing,
    /// Whether `reset` is to be called. If not, a variable step is cut where it fires, so that
    /// the outputs see both sides, and nothing else happens.
    pub resets: bool,
}

/// A shared computation that a block requests.
pub struct Ask {
    /// The computation, a block without outputs but one shared value.
    pub block: Arc<dyn ErasedBlock>,
    /// Two requests with one key and the same sources share one computation.
    pub key: String,
    /// The requesting block's input for each input port of the computation, in order.
    pub inputs: Vec<u16>,
}

/// Everything a block declared.
#[derive(Default)]
pub struct Declaration {
    /// Input ports.
    pub inputs: Vec<InputDeclaration>,
    /// Output ports, group by group.
    pub outputs: Vec<OutputDeclaration>,
    /// What feeds each output group.
    pub groups: Vec<Feeds>,
    /// Shared computations requested.
    pub asks: Vec<Ask>,
    /// Makes the shared value, if this block is a shared computation.
    pub shares: bool,
    /// Continuous state, if any.
    pub continuous: Option<ContinuousState>,
    /// Rate rule.
    pub rate: RateRule,
    /// The input that says of which system the block predicts the motion, if it does: other blocks
    /// that predict it need the same loads.
    pub predicts: Option<u16>,
    /// Whether `update` runs at every major step that is due for the block.
    pub updates: bool,
    /// Whether its outputs are computed at major steps only and held in minor ones.
    pub per_major: bool,
    /// Guards.
    pub guards: Vec<Guard>,
    /// Whether `update` notes the smooth piece of its law that the block is on, if it is
    /// continuous.
    pub pieces: bool,
    /// The algebraic loop that this block closes, if it does.
    pub solves: Option<SolveRule>,
    /// The output that ends the run when it is true.
    pub stops: Option<u16>,
    /// Whether its inputs may have any rate, because it changes rates.
    pub any_rates: bool,
    /// What its parameters ask of units that are to be inferred.
    pub unit_equations: Vec<UnitEquation>,
    /// Factors between its ports that were written without unit: the variable of their unit, which
    /// is a power of time, 1 unless one is needed, and the parameter.
    pub bare_factors: SmallVec<[(Var, &'static str); 1]>,
    /// Variables that stand for the type of something that it computes with: a number, a vector or
    /// a matrix, but no truth value.
    pub numbers: SmallVec<[Var; 4]>,
    /// Whether it is a [`ConcatVectors`](crate::ConcatVectors), whose inputs are numbers or vectors
    /// as what is connected.
    pub joins: bool,
    /// Functions that it needs.
    pub functions: Vec<FunctionDeclaration>,
    /// Warnings for the diagram's author.
    pub warnings: Vec<Invalid>,
    /// Lines that drawings show of it, below its kind and its ports.
    pub caption: Vec<String>,
    /// Number of variables made.
    pub var_count: u32,
}

/// How an algebraic loop is solved (semantics 5.3): the block's only output is the unknown z, its
/// only input what the loop makes of it; Newton's method seeks `u(z) = z`.
#[derive(Debug, Clone, PartialEq)]
pub struct SolveRule {
    /// Largest |u − z| / (1 + |z|) of a solution [1].
    pub tolerance: f64,
    /// Most iterations.
    pub limit: u32,
    /// z before the first solution; zeros if it is empty.
    pub initial: Vec<f64>,
    /// Policy when it is not found.
    pub on_fail: SolveFailure,
}

/// Policy for an algebraic loop that Newton's method does not solve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SolveFailure {
    /// The run ends with a fault.
    Stop,
    /// The last solution stays, at most so many major steps in a row; then the run ends.
    HoldLast(u32),
    /// The unknown is zero.
    Zero,
}
