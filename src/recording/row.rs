//! A row and the instant that it belongs to.

/// Reason for a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// The observation after initialisation, at t = 0.
    Init,
    /// A major step.
    Step,
    /// The observation after the resets of an event.
    Event,
    /// The observation at the stop time.
    Last,
}

impl Phase {
    /// All phases, each at its index in the file.
    pub const ALL: [Self; 4] = [Self::Init, Self::Step, Self::Event, Self::Last];

    /// Name in the schema.
    pub fn name(self) -> &'static str {
        match self {
            Self::Init => "INIT",
            Self::Step => "STEP",
            Self::Event => "EVENT",
            Self::Last => "LAST",
        }
    }

    /// The code of the phase in the file.
    pub(super) fn code(self) -> u8 {
        match self {
            Self::Init => 0,
            Self::Step => 1,
            Self::Event => 2,
            Self::Last => 3,
        }
    }

    pub(super) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }
}

/// The instant of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stamp {
    /// Tick k.
    pub tick: u64,
    /// Microstep n.
    pub microstep: u32,
    /// Reason for the row.
    pub phase: Phase,
    /// Simulated time [s].
    pub t: f64,
    /// Simulated time, rounded [ns]. It is the time by which MCAP tools sort.
    pub t_ns: u64,
}

impl Stamp {
    /// An instant whose time in seconds is the double nearest to `t_ns` · 10⁻⁹.
    ///
    /// Where the base period is not a whole number of nanoseconds, set [`Stamp::t`] afterwards.
    pub fn new(tick: u64, microstep: u32, phase: Phase, t_ns: u64) -> Self {
        Self { tick, microstep, phase, t: t_ns as f64 / 1e9, t_ns }
    }
}

/// A row that was read back.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its instant.
    pub stamp: Stamp,
    /// The values, in the order of [`Channel::columns`](super::Channel::columns).
    pub values: Vec<f64>,
}
