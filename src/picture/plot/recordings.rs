//! Recorded runs as panels under one another.

use std::path::Path;

use legwork_runtime::catalog::Catalog;
use legwork_runtime::recording::Recording;

use super::sheet::Sheet;
use super::signals::{self, Signal};
use super::{Error, Look};

/// A recorded run to draw.
#[derive(Clone, Copy)]
pub struct Recorded<'r> {
    /// What legends call it.
    pub name: &'r str,
    /// What messages call it.
    pub file: &'r Path,
    /// The recording.
    pub recording: &'r Recording,
    /// The names of what is in it.
    pub catalog: &'r Catalog,
}

/// The times to draw [s], both ends included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// The first.
    pub from: f64,
    /// The last.
    pub until: f64,
}

impl Window {
    /// All times.
    pub const ALL: Self = Self { from: f64::NEG_INFINITY, until: f64::INFINITY };

    pub(super) fn holds(self, t: f64) -> bool {
        self.from <= t && t <= self.until
    }
}

impl Default for Window {
    fn default() -> Self {
        Self::ALL
    }
}

/// What to draw of recorded runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// Paths of signals, fields, elements or slices to draw over time, such as `pd.tau[0..3]`. If
    /// there are none, and no `phase`, what moves is drawn.
    pub signals: Vec<String>,
    /// Pairs of paths to one number each: the second is drawn over the first.
    pub phase: Vec<(String, String)>,
    /// The times to draw.
    pub window: Window,
    /// Whether each path has a panel of its own, also where units agree.
    pub apart: bool,
    /// How it looks.
    pub look: Look,
}

/// A plot of recorded runs.
#[derive(Debug, Clone)]
pub struct Plot {
    /// The picture.
    pub svg: String,
    /// What is drawn over time.
    pub signals: Vec<Signal>,
    /// Number of panels.
    pub panels: usize,
    /// How many more signals move, if no signal was named.
    pub more: usize,
}

/// Draws recorded runs over one another. What a path names alone shares a panel with what has the
/// same unit.
///
/// # Errors
/// If a path names nothing in a run, no row lies in the window, or the panels do not fit.
pub fn recordings(runs: &[Recorded<'_>], request: &Request) -> Result<Plot, Error> {
    let Request { window, look, .. } = request;
    let mut signals: Vec<Signal> = Vec::new();
    for path in &request.signals {
        signals.extend(signals::select(runs, path)?);
    }
    let mut more = 0;
    if request.signals.is_empty() && request.phase.is_empty() {
        (signals, more) = signals::default_choice(runs);
        if signals.is_empty() {
            return Err(Error::NothingMoves);
        }
    }
    let mut panels = signals::panels(runs, &signals, *window, request.apart)?;
    for (x, y) in &request.phase {
        panels.push(signals::phase(runs, x, y, *window)?);
    }
    if let Some(label) = &look.label {
        let count = panels.len();
        let [panel] = panels.as_mut_slice() else { return Err(Error::LabelOfMany(count)) };
        panel.left.clone_from(label);
    }
    let sheet = Sheet {
        title: look.title.clone(),
        panels,
        log_x: look.log_x,
        log_y: look.log_y,
        size: look.size,
    };
    Ok(Plot { svg: sheet.svg()?, signals, panels: sheet.panels.len(), more })
}
