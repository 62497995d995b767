//! How one run differs from the reference, and which block it starts at.

use legwork_block::{Unit, parse_unit};
use legwork_program::Program;
use legwork_runtime::comparison::{Difference, Divergence, Quantity, Samples, Tolerance};
use legwork_runtime::recording::Recording;

/// What is compared.
#[derive(Debug, Clone)]
pub struct Compared {
    /// The numbers.
    pub quantity: Quantity,
    /// How far apart they may be.
    pub tolerance: Tolerance,
    /// Path of the recorded signal.
    pub topic: String,
}

/// A run against the reference.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// By quantity; none if the run has no such signal, or of another shape.
    pub differences: Vec<Option<Difference>>,
    /// The first divergence beyond the tolerance.
    pub first: Option<First>,
}

/// Where a run leaves the reference for the first time.
#[derive(Debug, Clone)]
pub struct First {
    /// Index of the quantity.
    pub quantity: usize,
    /// Time and values.
    pub at: Divergence,
    /// The block and the port that the number comes from.
    pub source: Source,
}

/// An output of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Path of the block.
    pub block: String,
    /// Name of the port.
    pub port: String,
    /// Place of the block in the order of execution.
    order: usize,
}

impl Comparison {
    /// Compares `other` with `reference`, both recordings of logs that hold the same quantities
    /// where `shared` says so.
    pub(crate) fn of(
        compared: &[Compared],
        shared: &[bool],
        magnitudes: &[f64],
        reference: &Recording,
        other: &Recording,
        program: &Program,
    ) -> Self {
        let rows =
            |recording: &Recording, topic: &str| recording.series(topic).map(Samples::of).ok();
        // The quantities of one signal are side by side; its rows are read once.
        let mut read: Option<(&str, Option<(Samples, Samples)>)> = None;
        let mut differences = Vec::with_capacity(compared.len());
        for ((Compared { quantity, tolerance, topic }, shared), magnitude) in
            compared.iter().zip(shared).zip(magnitudes)
        {
            if read.as_ref().is_none_or(|(known, _)| known != topic) {
                read = Some((topic, rows(reference, topic).zip(rows(other, topic))));
            }
            let both = read.as_ref().and_then(|(_, rows)| rows.as_ref()).filter(|_| *shared);
            differences.push(both.map(|(a, b)| {
                Difference::between(a, b, quantity.columns(), *tolerance, *magnitude)
            }));
        }
        let first = first(compared, &differences, program);
        Self { differences, first }
    }

    /// Whether nothing is beyond its tolerance.
    pub fn is_within(&self) -> bool {
        self.first.is_none()
    }

    /// The differences that there are, with their quantities.
    pub fn found<'c>(
        &'c self,
        compared: &'c [Compared],
    ) -> impl Iterator<Item = (&'c Compared, &'c Difference)> {
        compared.iter().zip(&self.differences).filter_map(|(c, d)| Some((c, d.as_ref()?)))
    }

    /// How many quantities are beyond.
    pub fn beyond(&self) -> usize {
        self.differences.iter().flatten().filter(|difference| !difference.is_within()).count()
    }
}

/// By quantity, what numbers of its unit reach in the reference. Numbers without unit have nothing
/// in common with one another.
pub(super) fn magnitudes(compared: &[Compared], reference: &Recording) -> Vec<f64> {
    let mut own = Vec::with_capacity(compared.len());
    let mut read: Option<(&str, Option<Samples>)> = None;
    for Compared { quantity, topic, .. } in compared {
        if read.as_ref().is_none_or(|(known, _)| known != topic) {
            read = Some((topic, reference.series(topic).map(Samples::of).ok()));
        }
        let samples = read.as_ref().and_then(|(_, samples)| samples.as_ref());
        own.push(samples.map_or(0.0, |samples| samples.magnitude(&quantity.columns())));
    }
    let unit = |one: &Compared| {
        let (unit, _) = parse_unit(one.quantity.unit.as_deref()?).ok()?;
        (unit != Unit::ONE).then_some(unit)
    };
    let of_unit = |wanted: Unit| {
        let same = compared.iter().zip(&own).filter(|(one, _)| unit(one) == Some(wanted));
        same.fold(0.0f64, |most, (_, magnitude)| most.max(*magnitude))
    };
    compared.iter().zip(&own).map(|(one, own)| unit(one).map_or(*own, of_unit)).collect()
}

/// The earliest divergence; of several at one time, the one whose block runs first, since the
/// others may follow from it.
fn first(
    compared: &[Compared],
    differences: &[Option<Difference>],
    program: &Program,
) -> Option<First> {
    let mut found: Option<First> = None;
    for (index, (one, difference)) in compared.iter().zip(differences).enumerate() {
        let Some(at) = difference.as_ref().and_then(|difference| difference.first_beyond) else {
            continue;
        };
        let source = source(program, &one.quantity, at.element);
        let is_earlier = found
            .as_ref()
            .is_none_or(|known| (at.t, source.order) < (known.at.t, known.source.order));
        if is_earlier {
            found = Some(First { quantity: index, at, source });
        }
    }
    found
}

/// The output that a number of a quantity is read from.
pub(super) fn source(program: &Program, quantity: &Quantity, element: usize) -> Source {
    let signal = &program.log[quantity.channel].signal;
    let mut rest = quantity.start + element;
    let mut address = None;
    for slot in &signal.slots {
        if rest < slot.len as usize {
            address = Some(slot.start as usize + rest);
            break;
        }
        rest -= slot.len as usize;
    }
    let holds = |slots: &[legwork_block::Slot]| {
        address.is_some_and(|address| slots.iter().any(|slot| slot.range().contains(&address)))
    };
    for (index, node) in program.nodes.iter().enumerate() {
        for (port, name) in node.output_names.iter().enumerate() {
            if holds(node.io.outputs.port(port)) {
                let order = program.schedule.iter().position(|step| {
                    step.node.index() == index
                        && address.is_some_and(|a| step.own.range().contains(&a))
                });
                let order = order.unwrap_or(usize::MAX);
                return Source { block: node.path.clone(), port: name.to_string(), order };
            }
        }
    }
    Source { block: signal.path.clone(), port: String::new(), order: usize::MAX }
}

/// How many tolerances a difference is large; the order of tables and plots.
pub fn severity(difference: &Difference) -> f64 {
    match (difference.max, difference.tolerance) {
        (0.0, _) => 0.0,
        (max, 0.0) => f64::MAX.min(max * f64::MAX),
        (max, tolerance) => max / tolerance,
    }
}
