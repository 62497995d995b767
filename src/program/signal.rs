//! Signals of a program by path.

use legwork_block::{Slot, Type};

use crate::{Program, Rate};

/// A signal: a path, a type, and where its leaves live.
#[derive(Debug, Clone)]
pub struct SignalRef {
    /// Path in the diagram, such as `body.state`.
    pub path: String,
    /// Type without variables.
    pub ty: Type,
    /// Unit, if the port or the bus's field declares one, or inference found it.
    pub unit: Option<String>,
    /// Unit of each of its numbers, if they are known to differ; else empty.
    pub units: Vec<String>,
    /// What each of its numbers is called, such as the name of a joint; empty if it has only its
    /// index.
    pub labels: Vec<String>,
    /// Leaves in storage order.
    pub slots: Vec<Slot>,
}

/// A recorded signal.
#[derive(Debug, Clone)]
pub struct LogChannel {
    /// What is recorded.
    pub signal: SignalRef,
    /// At which major steps.
    pub rate: Rate,
}

impl Program {
    /// What the numbers of a signal, of a part of a bus that has a name of its own, or of a stretch
    /// `[a..b]` of either are called, such as the names of joints; empty if they have only indices.
    pub fn labels(&self, path: &str) -> &[String] {
        let split = path.strip_suffix(']').and_then(|path| path.rsplit_once('['));
        let Some((whole, stretch)) = split else { return self.labels_of_whole(path) };
        let stretch = stretch.split_once("..").and_then(|(from, to)| {
            let at = |text: &str| text.trim().parse::<usize>().ok();
            Some(at(from)?..at(to)?)
        });
        stretch.and_then(|stretch| self.labels_of_whole(whole).get(stretch)).unwrap_or_default()
    }

    fn labels_of_whole(&self, path: &str) -> &[String] {
        let found = self.signals.iter().find_map(|signal| {
            let rest = path.strip_prefix(signal.path.as_str())?;
            match (&signal.ty, rest.strip_prefix('.')) {
                (_, None) => rest.is_empty().then_some(&signal.labels),
                (Type::Bus(bus), Some(name)) => {
                    Some(&bus.views.iter().find(|view| view.name == name)?.labels)
                }
                _ => None,
            }
        });
        found.map_or(&[], Vec::as_slice)
    }
}
