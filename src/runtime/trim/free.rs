//! Outputs of constants that trimming may change.

use legwork_block::nearest;
use legwork_program::{NodeId, Program, Rate};

use super::Held;
use crate::simulation::Simulation;

/// An output of a constant block, or some of its numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct FreeOutput {
    node: usize,
    /// First number of the output in the arena.
    start: u32,
    /// Its numbers as the diagram gives them.
    values: Vec<f64>,
    /// Which of them are free.
    first: usize,
    count: usize,
}

/// Why an output cannot be free.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FreeError {
    /// There is no such output.
    #[error(
        "no output `{name}`{}",
        near.as_ref().map_or(String::new(), |near| format!("; did you mean `{near}`?"))
    )]
    Unknown {
        /// As it was asked for.
        name: String,
        /// The nearest that there is.
        near: Option<String>,
    },
    /// It is not the output of a constant block.
    #[error(
        "`{name}` is computed: only outputs of blocks such as `Constant` can be free{}",
        listed(constants)
    )]
    Computed {
        /// The output.
        name: String,
        /// Outputs that can be free.
        constants: Vec<String>,
    },
    /// It has no such number.
    #[error("expected a number of `{name}` below {count} in `[…]`, found `{found}`")]
    NoElement {
        /// The output.
        name: String,
        /// How many numbers it has.
        count: usize,
        /// What stands between the brackets.
        found: String,
    },
}

fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        names => format!("; here `{}`", names.join("`, `")),
    }
}

impl FreeOutput {
    /// The output `name` of a program: `tau.y`, or some of its numbers, `tau.y[2]`, `tau.y[0..3]`.
    ///
    /// # Errors
    /// If there is no such output, or it is none of a constant.
    pub fn find(program: &Program, name: &str) -> Result<Self, FreeError> {
        let (whole, element) = match name.strip_suffix(']').and_then(|text| text.rsplit_once('[')) {
            Some((whole, element)) => (whole, Some(element)),
            None => (name, None),
        };
        let constants = constants(program);
        let Some(found) = constants.iter().find(|one| one.name == whole) else {
            let names = || program.signals.iter().map(|signal| signal.path.as_str());
            if names().any(|path| path == whole) {
                let constants = constants.into_iter().map(|one| one.name).collect();
                return Err(FreeError::Computed { name: whole.to_owned(), constants });
            }
            let near = nearest(whole, names()).map(str::to_owned);
            return Err(FreeError::Unknown { name: whole.to_owned(), near });
        };
        let count = found.values.len();
        let (first, count) = match element {
            None => (0, count),
            Some(text) => range(text, count).ok_or_else(|| FreeError::NoElement {
                name: whole.to_owned(),
                count,
                found: text.to_owned(),
            })?,
        };
        Ok(Self {
            node: found.node,
            start: found.start,
            values: found.values.clone(),
            first,
            count,
        })
    }

    pub(super) fn node(&self) -> usize {
        self.node
    }

    /// All numbers of the output, as the diagram gives them.
    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    /// Which of them are free.
    pub(super) fn elements(&self) -> impl Iterator<Item = usize> + use<> {
        self.first..self.first + self.count
    }

    /// The free numbers as the simulation holds them.
    pub(super) fn held(&self) -> impl Iterator<Item = Held> + '_ {
        self.elements().map(|i| Held {
            node: NodeId::new(self.node),
            place: self.start + i as u32,
            value: self.values[i],
        })
    }
}

/// An output of a constant.
struct ConstantOutput {
    name: String,
    node: usize,
    start: u32,
    values: Vec<f64>,
}

/// The outputs that can be free: those of blocks without inputs that are computed once and whose
/// parameters can say another value.
fn constants(program: &Program) -> Vec<ConstantOutput> {
    let mut simulation = Simulation::new(std::sync::Arc::new(program.clone()));
    // A program whose first outputs fault has none; trimming says why.
    let computed = (0..program.schedule.len()).try_for_each(|_| simulation.advance_holding(&[]));
    if computed.is_err() {
        return Vec::new();
    }
    let one = |(i, node): (usize, &legwork_program::Node)| {
        let [name] = node.output_names.as_slice() else { return None };
        let [slot] = node.io.outputs.port(0) else { return None };
        let values = simulation.arena()[slot.range()].to_vec();
        let settable = node.rate == Rate::Constant
            && node.input_names.is_empty()
            && simulation.starting_at(i, &values).is_some();
        let name = format!("{}.{name}", node.path);
        settable.then_some(ConstantOutput { name, node: i, start: slot.start, values })
    };
    program.nodes.iter().enumerate().filter_map(one).collect()
}

/// First and count of `2` or `0..3` among `len` numbers.
fn range(text: &str, len: usize) -> Option<(usize, usize)> {
    let (first, end) = match text.split_once("..") {
        None => {
            let first: usize = text.trim().parse().ok()?;
            (first, first.checked_add(1)?)
        }
        Some((first, end)) => {
            let number = |text: &str, default: usize| match text.trim() {
                "" => Some(default),
                text => text.parse().ok(),
            };
            (number(first, 0)?, number(end, len)?)
        }
    };
    (first < end && end <= len).then(|| (first, end - first))
}
