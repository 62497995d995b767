//! Inputs, constants and times that the expressions of a block read.

use std::collections::{BTreeMap, BTreeSet};

use legwork_block::quantity::Tensor;
use legwork_block::{
    Diagnostic, ExpressionSignal, PortUnit, Ports, Scope, SegmentKind, SignalPath, SignalResolver,
    SymbolicUnit, Type, Unit, Value, Var, code, is_constant, nearest, parameters,
};

/// The most elements of an input.
const MOST_ELEMENTS: usize = 100_000;

/// What an input of a block is whose expressions read inputs of names that it declares.
#[parameters]
#[derive(Copy, PartialEq, Eq)]
pub enum Signal {
    /// A number.
    Real,
    /// A truth value.
    Bool,
    /// So many numbers.
    Vector(usize),
}

/// Which names are inputs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Names<'a> {
    /// `u`, `u1`, `u2`, …; those that are whole vectors with their lengths.
    Numbered(&'a BTreeMap<String, usize>),
    /// These.
    Declared(&'a BTreeMap<String, Signal>),
}

impl Names<'_> {
    fn contains(&self, name: &str) -> bool {
        match self {
            Self::Numbered(_) => number(name).is_some(),
            Self::Declared(inputs) => inputs.contains_key(name),
        }
    }

    /// The length of the input `name`, if it is known to be a vector.
    fn length(&self, name: &str) -> Option<usize> {
        match self {
            Self::Numbered(lengths) => lengths.get(name).copied(),
            Self::Declared(inputs) => match inputs.get(name)? {
                Signal::Vector(len) => Some(*len),
                Signal::Real | Signal::Bool => None,
            },
        }
    }

    fn is_truth(&self, name: &str) -> bool {
        matches!(self, Self::Declared(inputs) if inputs.get(name) == Some(&Signal::Bool))
    }

    /// Whether the elements of the input `name` may be read.
    fn has_elements(&self, name: &str) -> bool {
        matches!(self, Self::Numbered(_)) || self.length(name).is_some()
    }
}

/// What an input must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputShape {
    /// A number.
    Number,
    /// A truth value.
    Truth,
    /// A vector of at least so many elements.
    Elements(usize),
    /// A vector of exactly so many elements.
    Vector(usize),
}

impl InputShape {
    /// The type of the input.
    pub(crate) fn ty(self, ports: &mut Ports<'_>) -> Type {
        match self {
            Self::Number => Type::Real,
            Self::Truth => Type::Bool,
            Self::Elements(_) => Type::vector(ports.dim()),
            Self::Vector(len) => Type::vector(len),
        }
    }
}

/// An input of the expression.
#[derive(Debug, Clone)]
pub(crate) struct Input {
    pub(crate) shape: InputShape,
    /// The unknown units of the parts that the expression reads.
    pub(crate) unit: PortUnit,
}

/// What a slot of the program reads.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source {
    /// One of the times [s].
    Time(usize),
    /// An element of an input.
    Element {
        /// Which input.
        input: usize,
        /// Which element, 0 for a number.
        index: usize,
    },
}

/// Counts values against what the diagram may have.
pub(crate) type Spend<'a> = &'a dyn Fn(usize) -> bool;

/// Fails if expressions take one of these names for something else: a constant such as `pi`, or one
/// of the names in `known`, such as the time `t`.
///
/// # Errors
/// With the message for the parameter that has the names.
pub(crate) fn refuse_known<'n>(
    names: impl IntoIterator<Item = &'n String>,
    known: &[&str],
) -> Result<(), String> {
    let mut names = names.into_iter();
    let is_known = |name: &&String| is_constant(name) || known.contains(&name.as_str());
    names.find(is_known).map_or(Ok(()), |name| {
        Err(format!("`{name}` has a meaning in expressions already; take another name"))
    })
}

/// The constants of a block as names of an expression, and what its expressions may make.
pub(crate) struct Constants<'a>(pub(crate) &'a BTreeMap<String, Tensor>, pub(crate) Spend<'a>);

impl Scope for Constants<'_> {
    fn lookup(&self, name: &str) -> Option<Value> {
        let tensor = self.0.get(name)?;
        let unit = tensor.unit();
        let list = |numbers: &[f64]| {
            Value::List(numbers.iter().map(|&value| Value::Real { value, unit }).collect())
        };
        match tensor.shape() {
            [] => Some(Value::Real { value: tensor.data()[0], unit }),
            [_] => Some(list(tensor.data())),
            &[rows, columns] => {
                let row = |i| (0..columns).map(|j| tensor.data()[j * rows + i]).collect::<Vec<_>>();
                Some(Value::List((0..rows).map(|i| list(&row(i))).collect()))
            }
            _ => None,
        }
    }

    fn names(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    fn spend(&self, count: usize) -> bool {
        (self.1)(count)
    }
}

/// A part of an input: the input, first element, end.
type Part = (usize, usize, usize);

/// Collects inputs and slots while expressions are compiled.
pub(crate) struct Found<'a> {
    names: Names<'a>,
    /// Names of times.
    times: &'static [&'static str],
    spend: Spend<'a>,
    inputs: Vec<(String, InputShape)>,
    /// The place of each input.
    places: BTreeMap<String, usize>,
    sources: Vec<Source>,
    /// Paths whose elements have been counted.
    seen: BTreeSet<String>,
    /// Parts of inputs that are read, each with its number and first slot. Each has a unit of its
    /// own.
    parts: BTreeMap<Part, (u32, u32)>,
    /// Whether an expression reads a time.
    pub(crate) time: bool,
}

impl<'a> Found<'a> {
    /// Nothing yet. `times` are names of times [s].
    pub(crate) fn new(names: Names<'a>, times: &'static [&'static str], spend: Spend<'a>) -> Self {
        let (inputs, sources) = (Vec::new(), Vec::new());
        let (places, seen, parts) = (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
        Self { names, times, spend, inputs, places, sources, seen, parts, time: false }
    }

    /// Whether the expression reads the input `name`.
    pub(crate) fn reads(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    /// How many units there are to be inferred.
    pub(crate) fn unknowns(&self) -> usize {
        self.parts.len()
    }

    /// The first slot and the unit of a part of an input.
    fn part(&mut self, part: Part) -> (u32, SymbolicUnit) {
        let new = (self.parts.len() as u32, self.sources.len() as u32);
        let (number, slot) = *self.parts.entry(part).or_insert(new);
        if number == new.0 {
            let (input, start, end) = part;
            self.sources.extend((start..end).map(|index| Source::Element { input, index }));
        }
        (slot, Var(number).into())
    }

    /// The inputs in the order `u`, `u1`, `u2`, …, or by name, and the source of each slot. Units are
    /// unknowns from `base` on.
    pub(crate) fn finish(self, base: u32) -> (Vec<(String, Input)>, Vec<Source>) {
        let mut order: Vec<usize> = (0..self.inputs.len()).collect();
        order.sort_by_key(|&i| (number(&self.inputs[i].0), &self.inputs[i].0));
        let mut place = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            place[old] = new;
        }
        let sources = self
            .sources
            .into_iter()
            .map(|source| match source {
                Source::Element { input, index } => Source::Element { input: place[input], index },
                time @ Source::Time(_) => time,
            })
            .collect();
        let mut numbers = vec![Vec::new(); self.inputs.len()];
        self.parts.iter().for_each(|(part, (number, _))| numbers[part.0].push(*number));
        let mut input = |i: usize| {
            let (name, shape) = self.inputs[i].clone();
            numbers[i].sort_unstable();
            let units = numbers[i].iter().map(|number| Var(base + number).into());
            let unit = match shape {
                InputShape::Truth => PortUnit::Unspecified,
                _ => PortUnit::Each(units.collect()),
            };
            (name, Input { shape, unit })
        };
        (order.into_iter().map(&mut input).collect(), sources)
    }

    /// The index of the input `name`, which is used as `shape`; `None` if it was used as a number
    /// before and is now used as a vector, or the other way round.
    fn input(&mut self, name: &str, shape: InputShape) -> Option<usize> {
        let Some(&i) = self.places.get(name) else {
            self.places.insert(name.to_owned(), self.inputs.len());
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
        let shape = match self.names.length(name) {
            Some(len) if end <= len => InputShape::Vector(len),
            None if self.names.has_elements(name) => InputShape::Elements(end),
            _ => return None,
        };
        let input = self.input(name, shape)?;
        Some(self.part((input, start, end)))
    }

    fn signal(&mut self, name: &str, rest: &[SegmentKind]) -> Option<ExpressionSignal> {
        let run = |(start, unit): (u32, SymbolicUnit), len: usize| ExpressionSignal::Run {
            start,
            len: len as u32,
            unit: Some(unit),
        };
        Some(match (rest, self.names.length(name)) {
            ([], Some(len)) => run(self.elements(name, 0, len)?, len),
            ([], None) if self.names.is_truth(name) => {
                let input = self.input(name, InputShape::Truth)?;
                self.sources.push(Source::Element { input, index: 0 });
                ExpressionSignal::Bool { slot: self.sources.len() as u32 - 1 }
            }
            ([], None) => {
                let input = self.input(name, InputShape::Number)?;
                let (slot, unit) = self.part((input, 0, 1));
                real(slot as usize, unit)
            }
            ([SegmentKind::Index(i)], _) => {
                let (slot, unit) = self.elements(name, *i, i + 1)?;
                real(slot as usize, unit)
            }
            ([SegmentKind::Range(from, to)], len) => {
                let to = to.or(len).filter(|to| from <= to)?;
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
        let error = |message: String| Diagnostic::error(code::UNKNOWN_NAME, path.span, message);
        let Some((SegmentKind::Name(name), rest)) = kinds.split_first() else {
            return Err(error(format!("expected the name of an input, found `{path}`")));
        };
        let time = self.times.iter().position(|time| time == name);
        if let Some(time) = time.filter(|_| rest.is_empty()) {
            self.time = true;
            self.sources.push(Source::Time(time));
            return Ok(real(self.sources.len() - 1, Unit::RUN_SECOND.into()));
        }
        if !self.names.contains(name) {
            return Err(match self.names {
                Names::Numbered(_) => error(format!(
                    "expected an input `u`, `u1`, …, the time `t` or a constant, found `{path}`"
                ))
                .hint(format!("give it in the block: constants: {{ \"{name}\": \"={name}\" }}")),
                Names::Declared(inputs) => {
                    let message =
                        format!("expected an input, a constant or a time, found `{path}`");
                    let hint = match nearest(name, inputs.keys().map(String::as_str)) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("declare it: inputs: {{ \"{name}\": Real }}"),
                    };
                    error(message).hint(hint)
                }
            });
        }
        let longest = rest.iter().map(|kind| match kind {
            SegmentKind::Index(i) => i.saturating_add(1),
            SegmentKind::Range(_, to) => to.unwrap_or(0),
            _ => 0,
        });
        let len = longest.chain(self.names.length(name)).max().unwrap_or(0);
        if len > MOST_ELEMENTS {
            let message = format!("`{path}` needs {len} elements, more than {MOST_ELEMENTS}");
            return Err(Diagnostic::error(code::EXPRESSION_SIZE, path.span, message));
        }
        let count = match rest {
            [SegmentKind::Range(from, to)] => to.unwrap_or(len).saturating_sub(*from),
            [] => len.max(1),
            _ => 1,
        };
        if self.seen.insert(path.to_string()) && !(self.spend)(count) {
            let message =
                format!("`{path}` reads {count} elements, more than the diagram may have");
            return Err(Diagnostic::error(code::EXPRESSION_SIZE, path.span, message));
        }
        self.signal(name, rest).ok_or_else(|| {
            let message = format!("`{path}` does not fit the other uses or the length of `{name}`");
            error(message).hint(match self.names {
                Names::Numbered(_) => {
                    format!("state its length in the block: lengths: {{ \"{name}\": … }}")
                }
                Names::Declared(_) => "what it is stands in `inputs`".to_owned(),
            })
        })
    }
}
