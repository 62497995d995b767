//! The methods for the contact problem, as one table.
//!
//! An entry of [`METHODS`] is everything that a method has beside its numerics: names, manual,
//! settings, cones, memory, accuracy. Blocks, fallbacks, choices, duels and tests are made from the
//! table. A new method is a file with a [`ContactMethod`] and its entry, and two lines of `lib.rs`.

use std::fmt;

use crate::METHODS;
use crate::budget::Budget;
use crate::circular::SlidingLaw;
use crate::complementarity::HalfInverseMass;
use crate::contact_problem::ContactProblem;
use crate::status::{Outcome, Status};

/// A problem with everything that a method may use to solve it.
#[derive(Clone, Copy)]
pub struct Given<'a> {
    /// The problem.
    pub problem: ContactProblem<'a>,
    /// G as its factors, if the caller has them.
    pub mass: Option<MassView<'a>>,
    /// Bounds of last resorts.
    pub budget: Budget,
}

/// J and C with `J CᵀC Jᵀ = G`, for methods that do not form G.
#[derive(Clone, Copy)]
pub struct MassView<'a> {
    /// J, 3k × nv, column-major.
    pub jacobian: &'a [f64],
    /// C, a square root of M⁻¹.
    pub root: &'a dyn HalfInverseMass,
}

impl<'a> From<ContactProblem<'a>> for Given<'a> {
    fn from(problem: ContactProblem<'a>) -> Self {
        Self { problem, mass: None, budget: Budget::DEFAULT }
    }
}

/// A method for the contact problem, with its memory.
///
/// The answer depends on the arguments alone, not on earlier calls. A solve does not allocate,
/// unless the entry of [`METHODS`] says so or the problem is larger than the memory. Loops that may
/// be long call [`legwork_linalg::cancel::check`], so that a signal ends a solve. A last resort stays
/// within [`Given::budget`].
pub trait ContactMethod {
    /// Length of the warm start per contact, under a cone of so many sides (0: circular).
    fn warm_len(&self, _sides: usize) -> usize {
        0
    }

    /// True if [`Given::mass`] replaces the use of G.
    fn uses_mass(&self) -> bool {
        false
    }

    /// Solves from the warm start in `warm` and leaves the next one there. It has
    /// [`Self::warm_len`] numbers per contact, of any value; empty means a cold start.
    ///
    /// `forces` (3k, \[N\]) is only written; inactive contacts get zero. If the data are refused or
    /// the cone is not supported the forces are zero.
    ///
    /// # Panics
    /// If a slice of the problem, `warm` or `forces` has the wrong length.
    fn solve_warm(&mut self, given: &Given<'_>, warm: &mut [f64], forces: &mut [f64]) -> Outcome;

    /// Solves from a cold start.
    ///
    /// # Panics
    /// If a slice of the problem or `forces` has the wrong length.
    fn solve(&mut self, problem: &ContactProblem<'_>, forces: &mut [f64]) -> Outcome {
        self.solve_warm(&Given::from(*problem), &mut [], forces)
    }
}

/// A method with its memory, on any thread.
pub type BoxedMethod = Box<dyn ContactMethod + Send>;

/// An entry of [`METHODS`].
#[derive(Debug)]
pub struct Method {
    /// Name of its block, CamelCase.
    pub kind: &'static str,
    /// Name as a choice and in duels, snake_case.
    pub name: &'static str,
    /// The method in half a sentence: `The dual active-set method.`
    pub title: &'static str,
    /// Manual.
    pub doc: &'static str,
    /// Further words that a search finds it by.
    pub aliases: &'static [&'static str],
    /// Example of its block.
    pub example: &'static str,
    /// Its block among the choices that diagrams share, if it is in every build and solves the
    /// convex law.
    pub choice: Option<&'static str>,
    /// Meaning of the iterations of an outcome.
    pub iterations: &'static str,
    /// The cones that it solves itself; [`crate::CircularPasses`] solve the others by it.
    pub cones: Cones,
    /// The law of sliding that it solves. Methods of [`SlidingLaw::Convex`] replace one another.
    pub law: SlidingLaw,
    /// Its settings. A method with [`Setting::cold`] is given no warm start where that is set.
    pub settings: &'static [Setting],
    /// The settings of the smallest useful tolerance, for duels and tests.
    pub tightest: &'static [(&'static str, Value)],
    /// Error of the answers of these settings. `None` keeps it out of the laws of all methods: it
    /// has its own tests.
    pub accuracy: Option<Accuracy>,
    /// True if a solve may allocate.
    pub allocates: bool,
    /// Numbers that it keeps, from above.
    pub memory: fn(ProblemSize) -> u64,
    /// The method with memory for problems of this size.
    pub make: fn(ProblemSize, &Settings) -> BoxedMethod,
}

/// The cones that a method solves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cones {
    /// Pyramids and the circular cone.
    All,
    /// Pyramids alone.
    Pyramids,
}

/// Accuracy of a method with its tightest settings.
#[derive(Clone, Copy, Debug)]
pub struct Accuracy {
    /// Error of the forces of definite problems, as a share of the largest: rounding for direct
    /// methods; the condition times the natural residual for iterations; for a gap g the root of
    /// `2 g / 0.1`, strong convexity being 0.1.
    pub definite: f64,
    /// The same for the reference problems, which are better conditioned.
    pub reference: f64,
    /// Natural residual of redundant problems; `None` if it converges too slowly there.
    pub redundant: Option<f64>,
}

/// Size of contact problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProblemSize {
    /// Contacts k.
    pub contact_count: usize,
    /// Sides m of the friction pyramids.
    pub sides: usize,
    /// Velocities nv of the world.
    pub velocity_dim: usize,
}

impl ProblemSize {
    /// Problems whose G has no factors.
    #[must_use]
    pub fn new(contact_count: usize, sides: usize) -> Self {
        Self { contact_count, sides, velocity_dim: 0 }
    }

    /// Rows n = 3k, edges s = k m, and velocities.
    #[must_use]
    pub fn counts(self) -> [u64; 3] {
        let k = self.contact_count as u64;
        [3 * k, self.sides as u64 * k, self.velocity_dim as u64]
    }
}

/// A setting of a method.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Name, snake_case.
    pub name: &'static str,
    /// Meaning, with the unit.
    pub doc: &'static str,
    /// Its type and its default.
    pub default: Value,
}

impl Setting {
    /// A setting of this name, meaning and default.
    #[must_use]
    pub const fn new(name: &'static str, doc: &'static str, default: Value) -> Self {
        Self { name, doc, default }
    }

    /// The flag `cold`, by which a method that can start warm starts cold.
    #[must_use]
    pub const fn cold(doc: &'static str) -> Self {
        Self::new(COLD, doc, Value::Flag(false))
    }
}

/// The flag that selects cold starts.
const COLD: &str = "cold";

/// Value of a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A whole number.
    Count(u32),
    /// A number.
    Real(f64),
    /// A number from 0 to 1.
    Share(f64),
    /// True or false.
    Flag(bool),
}

/// As a diagram writes it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(value) => write!(f, "{value}"),
            Self::Real(value) | Self::Share(value) => write!(f, "{value:?}"),
            Self::Flag(value) => write!(f, "{value}"),
        }
    }
}

impl Value {
    fn number(self) -> f64 {
        match self {
            Self::Real(value) | Self::Share(value) => value,
            Self::Count(value) => f64::from(value),
            Self::Flag(value) => f64::from(u8::from(value)),
        }
    }
}

/// The settings of one method, by name.
#[derive(Clone, Debug)]
pub struct Settings {
    of: &'static [Setting],
    values: Vec<Value>,
}

impl Settings {
    /// Changes the setting `name`. A method has no others than those of its entry.
    ///
    /// # Panics
    /// If the method has no such setting.
    pub fn set(&mut self, name: &str, value: Value) {
        let index = self.index(name);
        self.values[index] = value;
    }

    #[expect(clippy::panic, reason = "names of settings are constants, and tests make all entries")]
    fn index(&self, name: &str) -> usize {
        let found = self.of.iter().position(|setting| setting.name == name);
        found.unwrap_or_else(|| panic!("no setting `{name}`"))
    }

    /// A whole number.
    ///
    /// # Panics
    /// If the method has no such setting.
    #[must_use]
    pub fn count(&self, name: &str) -> u32 {
        self.real(name) as u32
    }

    /// A number, or a share.
    ///
    /// # Panics
    /// If the method has no such setting.
    #[must_use]
    pub fn real(&self, name: &str) -> f64 {
        self.values[self.index(name)].number()
    }

    /// A flag.
    ///
    /// # Panics
    /// If the method has no such setting.
    #[must_use]
    pub fn flag(&self, name: &str) -> bool {
        self.real(name) != 0.0
    }

    /// True if every solve starts cold.
    #[must_use]
    pub fn is_cold(&self) -> bool {
        self.of.iter().any(|setting| setting.name == COLD) && self.flag(COLD)
    }
}

impl Method {
    /// The method with this name as a choice.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        METHODS.iter().copied().find(|method| method.name == name)
    }

    /// The methods that may replace one another.
    pub fn convex() -> impl Iterator<Item = &'static Self> {
        METHODS.iter().copied().filter(|method| method.law == SlidingLaw::Convex)
    }

    /// The default settings.
    #[must_use]
    pub fn defaults(&self) -> Settings {
        let values = self.settings.iter().map(|setting| setting.default).collect();
        Settings { of: self.settings, values }
    }

    /// The tightest settings.
    #[must_use]
    pub fn tight_settings(&self) -> Settings {
        let mut settings = self.defaults();
        self.tightest.iter().for_each(|(name, value)| settings.set(name, *value));
        settings
    }

    /// The method with its tightest settings.
    #[must_use]
    pub fn tight(&self, size: ProblemSize) -> BoxedMethod {
        (self.make)(size, &self.tight_settings())
    }
}

/// A warm start from forces, for methods that `improve` the forces they are given: those in `warm`,
/// or zero. An outcome at the limit of iterations is inaccurate up to the residual `accept`.
pub(crate) fn from_forces(
    warm: &mut [f64],
    forces: &mut [f64],
    accept: f64,
    improve: impl FnOnce(&mut [f64]) -> Outcome,
) -> Outcome {
    forces.fill(0.0);
    forces[..warm.len()].copy_from_slice(warm);
    let outcome = improve(forces).accepted(accept);
    if outcome.status.is_usable() {
        warm.copy_from_slice(&forces[..warm.len()]);
    } else {
        warm.fill(0.0);
    }
    outcome
}

impl Outcome {
    /// The same, but [`Status::Inaccurate`] where iterations ran out at a residual of at most
    /// `accept`.
    pub fn accepted(self, accept: f64) -> Self {
        let is_taken = self.status == Status::MaxIterations && self.residual <= accept;
        Self { status: if is_taken { Status::Inaccurate } else { self.status }, ..self }
    }
}
