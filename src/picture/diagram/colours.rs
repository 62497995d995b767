//! Colours of sample times.

use std::collections::BTreeMap;

use serde::Serialize;

use super::schematic::{Role, SampleTime, Schematic};

/// Colours of a sample time, as `#rrggbb`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Colour {
    /// Of borders and wires.
    pub line: &'static str,
    /// Of the box.
    pub fill: &'static str,
}

/// Colour of what is computed once.
const CONSTANT: Colour = Colour { line: "#7a7f87", fill: "#f1f2f4" };
/// Colour of continuous blocks.
const CONTINUOUS: Colour = Colour { line: "#1f2a3a", fill: "#ffffff" };
/// Colour of what has no sample time in the legend.
const UNKNOWN: Colour = Colour { line: "#5b6673", fill: "#ffffff" };
/// Colours of periods, the shortest first; after Okabe and Ito (2008), who chose hues that people
/// with any kind of colour vision tell apart.
const PERIODS: [Colour; 7] = [
    Colour { line: "#c2410c", fill: "#fff1e8" },
    Colour { line: "#0067a5", fill: "#e8f3fb" },
    Colour { line: "#007a5a", fill: "#e6f6f0" },
    Colour { line: "#a83a7c", fill: "#fbebf4" },
    Colour { line: "#8a6d00", fill: "#fbf5dc" },
    Colour { line: "#5b4bb3", fill: "#efedfb" },
    Colour { line: "#8c2d19", fill: "#fbeae6" },
];

/// The colour of each sample time that occurs.
pub(super) struct Colours<'s>(BTreeMap<&'s SampleTime, Colour>);

impl<'s> Colours<'s> {
    /// Constants first, then by period. Bars that join wires have no sample time of their own.
    pub(super) fn of(schematic: &'s Schematic) -> Self {
        let symbols = schematic.symbols.iter().filter(|symbol| symbol.role != Role::Join);
        let mut colours: BTreeMap<&SampleTime, Colour> =
            symbols.map(|symbol| (&symbol.sample_time, CONSTANT)).collect();
        let mut periods = 0;
        for (sample_time, colour) in &mut colours {
            *colour = match sample_time {
                SampleTime::Constant => CONSTANT,
                SampleTime::Continuous => CONTINUOUS,
                SampleTime::Periodic { .. } => {
                    periods += 1;
                    PERIODS[(periods - 1) % PERIODS.len()]
                }
            };
        }
        Self(colours)
    }

    /// Sample times and their colours, in the order of the legend.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'s SampleTime, Colour)> {
        self.0.iter().map(|(sample_time, colour)| (*sample_time, *colour))
    }

    /// The colour of a sample time. Constants feed bars too, which no legend lists.
    pub(super) fn get(&self, sample_time: &SampleTime) -> Colour {
        self.0.get(sample_time).copied().unwrap_or(UNKNOWN)
    }
}
