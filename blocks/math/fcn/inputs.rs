//! Which inputs an expression reads.

use std::collections::BTreeMap;

use legwork_block::quantity::Scalar;
use legwork_block::{
    Diagnostic, ExpressionSignal, PortUnit, Ports, Scope, SegmentKind, SignalPath, SignalResolver,
    SymbolicUnit, Type, Unit, Value, Var,
};

/// The most elements of an input.
const MOST_ELEMENTS: usize = 100_000;

/// What an input must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InputShape {
    /// A number.
    Number,
    /// A vector of at least so many elements.
    Elements(usize),
    /// A vector of exactly so many elements.
    Vector(usize),
}

impl InputShape {
    /// The type of the input.
    pub(super) fn ty(self, ports: &mut Ports<'_>) -> Type {
        match self {
            Self::Number => Type::Real,
            Self::Elements(_) => Type::vector(ports.dim()),
            Self::Vector(len) => Type::vector(len),
        }
    }
}

/// An input of the expression.
#[derive(Debug, Clone)]
pub(super) struct Input {
    pub(super) shape: InputShape,
    /// The unknown units of the parts that the expression reads.
    pub(super) unit: PortUnit,
}

/// What a slot of the program reads.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source {
    /// The time [s].
    Time,
    /// An element of an input.
    Element {
        /// Which input.
        input: usize,
        /// Which element, 0 for a number.
        index: usize,
    },
}

/// The constants of a block as names of an expression.
pub(super) struct Constants<'a>(pub(super) &'a BTreeMap<String, Scalar>);

impl Scope for Constants<'_> {
    fn lookup(&self, name: &str) -> Option<Value> {
        self.0.get(name).map(|&Scalar { value, unit }| Value::Real { value, unit })
    }

    fn names(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }
}

/// Collects inputs and slots while an expression is compiled.
pub(super) struct Found<'a> {
    lengths: &'a BTreeMap<String, usize>,
    inputs: Vec<(String, InputShape)>,
    sources: Vec<Source>,
    /// Parts of inputs that are read: the input, first element, end. Each has a unit of its own.
    parts: Vec<(usize, usize, usize)>,
    /// Whether the expression reads the time.
    pub(super) time: bool,
}

impl<'a> Found<'a> {
    /// Nothing yet. `lengths` are those of inputs that are whole vectors.
    pub(super) fn new(lengths: &'a BTreeMap<String, usize>) -> Self {
        Self { lengths, inputs: Vec::new(), sources: Vec::new(), parts: Vec::new(), time: false }
    }

    /// Whether the expression reads the input `name`.
    pub(super) fn reads(&self, name: &str) -> bool {
        self.inputs.iter().any(|(input, _)| input == name)
    }

    /// How many units there are to be inferred.
    pub(super) fn unknowns(&self) -> usize {
        self.parts.len()
    }

    /// The unit of a part of an input.
    fn unit(&mut self, part: (usize, usize, usize)) -> SymbolicUnit {
        let known = self.parts.iter().position(|known| *known == part);
        let index = known.unwrap_or_else(|| {
            self.parts.push(part);
            self.parts.len() - 1
        });
        Var(index as u32).into()
    }

    /// The inputs in the order `u`, `u1`, `u2`, …, and the source of each slot. Units are unknowns
    /// from `base` on.
    pub(super) fn finish(self, base: u32) -> (Vec<(String, Input)>, Vec<Source>) {
        let mut order: Vec<usize> = (0..self.inputs.len()).collect();
        order.sort_by_key(|&i| number(&self.inputs[i].0));
        let mut place = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            place[old] = new;
        }
        let sources = self
            .sources
            .into_iter()
            .map(|source| match source {
                Source::Element { input, index } => Source::Element { input: place[input], index },
                Source::Time => Source::Time,
            })
            .collect();
        let input = |i: usize| {
            let (name, shape) = self.inputs[i].clone();
            let of_input = self.parts.iter().enumerate().filter(|(_, part)| part.0 == i);
            let units = of_input.map(|(unit, _)| Var(base + unit as u32).into());
            (name, Input { shape, unit: PortUnit::Each(units.collect()) })
        };
        (order.into_iter().map(input).collect(), sources)
    }

    /// The index of the input `name`, which is used as `shape`; `None` if it was used as a number
    /// before and is now used as a vector, or the other way round.
    fn input(&mut self, name: &str, shape: InputShape) -> Option<usize> {
        let Some(i) = self.inputs.iter().position(|(input, _)| input == name) else {
            self.inputs.push((name.to_owned(), shape));
            return Some(self.inputs.len() - 1);
        };
        let known = &mut self.inputs[i].1;
        *known = match (*known, shape) {
            (a, b) if a == b => a,
            (InputShape::Elements(a), InputShape::Elements(b)) => InputShape::Elements(a.max(b)),
            _ => return None,
        };
        Some(i)
    }

    /// The elements `start..end` of the input `name` as slots, and their unit.
    fn elements(&mut self, name: &str, start: usize, end: usize) -> Option<(u32, SymbolicUnit)> {
        let shape = match self.lengths.get(name) {
            Some(&len) if end <= len => InputShape::Vector(len),
            Some(_) => return None,
            None => InputShape::Elements(end),
        };
        let input = self.input(name, shape)?;
        let slot = self.sources.len() as u32;
        self.sources.extend((start..end).map(|index| Source::Element { input, index }));
        Some((slot, self.unit((input, start, end))))
    }

    fn signal(&mut self, name: &str, rest: &[SegmentKind]) -> Option<ExpressionSignal> {
        let run = |(start, unit): (u32, SymbolicUnit), len: usize| ExpressionSignal::Run {
            start,
            len: len as u32,
            unit: Some(unit),
        };
        Some(match (rest, self.lengths.get(name)) {
            ([], Some(&len)) => run(self.elements(name, 0, len)?, len),
            ([], None) => {
                let input = self.input(name, InputShape::Number)?;
                self.sources.push(Source::Element { input, index: 0 });
                let unit = self.unit((input, 0, 1));
                real(self.sources.len() - 1, unit)
            }
            ([SegmentKind::Index(i)], _) => {
                let (slot, unit) = self.elements(name, *i, i + 1)?;
                real(slot as usize, unit)
            }
            ([SegmentKind::Range(from, to)], len) => {
                let to = to.or(len.copied()).filter(|to| from <= to)?;
                run(self.elements(name, *from, to)?, to - from)
            }
            _ => return None,
        })
    }
}

fn real(slot: usize, unit: SymbolicUnit) -> ExpressionSignal {
    ExpressionSignal::Real { slot: slot as u32, unit: Some(unit) }
}

/// 0 for `u`, n for `un` with n ≥ 1; `None` for other names.
fn number(name: &str) -> Option<u32> {
    match name.strip_prefix('u')? {
        "" => Some(0),
        digits if digits.starts_with('0') || digits.contains('+') => None,
        digits => digits.parse().ok(),
    }
}

impl SignalResolver for Found<'_> {
    fn resolve(&mut self, path: &SignalPath) -> Result<ExpressionSignal, Diagnostic> {
        let kinds: Vec<SegmentKind> = path.segments.iter().map(|s| s.kind.clone()).collect();
        let error = |message: String| Diagnostic::error("unknown-name", path.span, message);
        let Some((SegmentKind::Name(name), rest)) = kinds.split_first() else {
            return Err(error(format!("expected the name of an input, found `{path}`")));
        };
        if name == "t" && rest.is_empty() {
            self.time = true;
            self.sources.push(Source::Time);
            return Ok(real(self.sources.len() - 1, Unit::SECOND.into()));
        }
        if number(name).is_none() {
            return Err(error(format!(
                "expected an input `u`, `u1`, …, the time `t` or a constant, found `{path}`"
            ))
            .hint(format!("give it in the block: constants: {{ \"{name}\": … }}")));
        }
        let longest = rest.iter().map(|kind| match kind {
            SegmentKind::Index(i) => i.saturating_add(1),
            SegmentKind::Range(_, to) => to.unwrap_or(0),
            _ => 0,
        });
        let len = longest.chain(self.lengths.get(name).copied()).max().unwrap_or(0);
        if len > MOST_ELEMENTS {
            let message = format!("`{path}` needs {len} elements, more than {MOST_ELEMENTS}");
            return Err(Diagnostic::error("expression-size", path.span, message));
        }
        self.signal(name, rest).ok_or_else(|| {
            error(format!("`{path}` does not fit the other uses or the length of `{name}`"))
                .hint(format!("state its length in the block: lengths: {{ \"{name}\": … }}"))
        })
    }
}
