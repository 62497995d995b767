//! Steps into a value: fields, elements, slices; which type comes out and where it lies.

use std::ops::Range;

use legwork_block::{Diagnostic, Span, Type, code};

use crate::network::Select;

/// Units of the numbers of a value, as text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Units {
    /// The unit of all of them, if they are known to have one.
    pub(crate) one: Option<String>,
    /// The unit of each, if they are known to differ; else empty.
    pub(crate) each: Vec<String>,
}

impl Units {
    /// Those of numbers with a unit each.
    pub(crate) fn of_each(each: Vec<String>) -> Self {
        match each.split_first() {
            Some((first, rest)) if rest.iter().all(|unit| unit == first) => {
                Self { one: Some(first.clone()), each: Vec::new() }
            }
            _ => Self { one: None, each },
        }
    }

    /// Whether any is known.
    pub(crate) fn is_known(&self) -> bool {
        self.one.is_some() || !self.each.is_empty()
    }

    /// Those of some of the numbers of a vector.
    pub(crate) fn part(&self, part: Range<usize>) -> Self {
        match self.each.get(part) {
            Some(each) if !each.is_empty() => Self::of_each(each.to_vec()),
            _ => Self { one: self.one.clone(), each: Vec::new() },
        }
    }
}

/// A part of a value.
#[derive(Debug, Clone)]
pub(crate) struct Selected {
    /// Its type.
    pub(crate) ty: Type,
    /// Its units, if the bus declares some.
    pub(crate) units: Units,
    /// Its frame, if the bus declares one.
    pub(crate) frame: Option<String>,
    /// What its numbers are called, if the bus says so; else empty.
    pub(crate) labels: Vec<String>,
    /// First leaf, counted from the whole value's first; `None` while sizes before it are unknown.
    pub(crate) first_leaf: Option<usize>,
    /// The run of numbers inside the one leaf, if it is not the whole leaf.
    pub(crate) part: Option<(usize, usize)>,
}

impl Selected {
    /// Keeps units and labels of some of its elements.
    fn take(&mut self, part: Range<usize>) {
        self.units = self.units.part(part.clone());
        self.labels = self.labels.get(part).unwrap_or_default().to_vec();
    }
}

/// Follows `steps` into a value of type `ty`. `None` if a type on the way is not known yet.
pub(crate) fn select(
    ty: &Type,
    steps: &[Select],
    span: Span,
) -> Option<Result<Selected, Diagnostic>> {
    let mut at = Selected {
        ty: ty.clone(),
        units: Units::default(),
        frame: None,
        labels: Vec::new(),
        first_leaf: Some(0),
        part: None,
    };
    let mut rest = steps;
    while let Some(step) = rest.first() {
        if matches!(at.ty, Type::Var(_)) {
            return None;
        }
        let used = match step {
            Select::Field(_) => match field(&mut at, rest, span)? {
                Ok(used) => used,
                Err(diagnostic) => return Some(Err(*diagnostic)),
            },
            _ => match element(&mut at, rest, span)? {
                Ok(used) => used,
                Err(diagnostic) => return Some(Err(*diagnostic)),
            },
        };
        rest = &rest[used..];
    }
    Some(Ok(at))
}

type Step<T> = Option<Result<T, Box<Diagnostic>>>;

fn fail<T>(diagnostic: Diagnostic) -> Step<T> {
    Some(Err(Box::new(diagnostic)))
}

/// Takes one field, or one view with a dotted name; how many steps that used up.
fn field(at: &mut Selected, rest: &[Select], span: Span) -> Step<usize> {
    let names: Vec<&str> = rest
        .iter()
        .map_while(|step| if let Select::Field(name) = step { Some(name.as_str()) } else { None })
        .collect();
    let name = names[0];
    let bus = match &at.ty {
        Type::Bus(bus) => bus.clone(),
        Type::Pose => {
            let part = match name {
                "rotation" => (Type::Rotation, (0, 9), "1"),
                "position" => (Type::vector(3), (9, 3), "m"),
                _ => {
                    return fail(
                        Diagnostic::error(
                            code::UNKNOWN_FIELD,
                            span,
                            format!("expected a field of Pose, found `{name}`"),
                        )
                        .suggest(name, ["rotation", "position"])
                        .hint("it has `rotation`, `position`"),
                    );
                }
            };
            (at.ty, at.part) = (part.0, Some(part.1));
            at.units = Units { one: Some(part.2.to_owned()), each: Vec::new() };
            return Some(Ok(1));
        }
        other => {
            return fail(Diagnostic::error(
                code::UNKNOWN_FIELD,
                span,
                format!("expected a bus before `.{name}`, found {other}"),
            ));
        }
    };
    let mut leaves_before = at.first_leaf;
    for field in &bus.fields {
        if field.name == name {
            at.ty = field.ty.clone();
            at.units = Units { one: field.unit.clone(), each: Vec::new() };
            at.frame.clone_from(&field.frame);
            at.first_leaf = leaves_before;
            return Some(Ok(1));
        }
        leaves_before = match (leaves_before, field.ty.leaves()) {
            (Some(n), Some(leaves)) => Some(n + leaves.len()),
            _ => None,
        };
    }
    for used in (1..=names.len()).rev() {
        let dotted = names[..used].join(".");
        let Some(view) = bus.views.iter().find(|view| view.name == dotted) else { continue };
        let len = view.len.known()?;
        at.first_leaf = bus.fields[..view.field]
            .iter()
            .try_fold(at.first_leaf?, |n, field| field.ty.leaves().map(|leaves| n + leaves.len()));
        at.ty = Type::vector(len);
        at.part = Some((view.start, len));
        at.units = Units { one: view.unit.clone(), each: view.units.clone() };
        at.frame.clone_from(&view.frame);
        at.labels.clone_from(&view.labels);
        return Some(Ok(used));
    }
    let known: Vec<&str> = bus
        .fields
        .iter()
        .map(|field| field.name.as_str())
        .chain(bus.views.iter().map(|view| view.name.as_str()))
        .collect();
    let wanted = names.join(".");
    let diagnostic = Diagnostic::error(
        code::UNKNOWN_FIELD,
        span,
        format!("expected a field of {}, found `{wanted}`", at.ty),
    );
    let near = legwork_block::nearest(&wanted, known.iter().copied())
        .or_else(|| legwork_block::nearest(name, known.iter().copied()));
    let diagnostic = match near {
        Some(near) => diagnostic.hint(format!("did you mean `{near}`?")),
        None => diagnostic,
    };
    fail(diagnostic.hint(format!("it has `{}`", known.join("`, `"))))
}

/// Takes one element or a slice; how many steps that used up. `[i][j]` of a matrix is `[i, j]`.
fn element(at: &mut Selected, rest: &[Select], span: Span) -> Step<usize> {
    let (step, used) = match (&at.ty, rest) {
        (Type::Matrix(..) | Type::Rotation, [Select::Index(i), Select::Index(j), ..]) => {
            (&Select::Element(*i, *j), 2)
        }
        _ => (&rest[0], 1),
    };
    let out_of_range = |what: String, len: usize| {
        fail(
            Diagnostic::error(
                code::SLICE_OUT_OF_RANGE,
                span,
                format!("expected {what} within 0..{len}, found `{step}`"),
            )
            .label(format!("this has {len} elements")),
        )
    };
    match (&at.ty, step) {
        (Type::Vector(n), Select::Index(i)) => {
            let n = n.known()?;
            if *i >= n {
                return out_of_range("an index".into(), n);
            }
            let start = at.part.map_or(0, |(start, _)| start);
            at.part = Some((start + i, 1));
            at.take(*i..i + 1);
            at.ty = Type::Real;
        }
        (Type::Vector(n), Select::Slice(a, b)) => {
            let n = n.known()?;
            let b = b.unwrap_or(n);
            if *a > b || b > n {
                return out_of_range("a slice".into(), n);
            }
            let start = at.part.map_or(0, |(start, _)| start);
            at.part = Some((start + a, b - a));
            at.take(*a..b);
            at.ty = Type::vector(b - a);
        }
        (Type::Vector(n), Select::Part { index, count }) => {
            let n = n.known()?;
            if n % count != 0 {
                let message = format!("expected a length that {count} copies can share, found {n}");
                return fail(Diagnostic::error(code::WRONG_SHAPE, span, message));
            }
            let start = at.part.map_or(0, |(start, _)| start);
            let (first, len) = (index * (n / count), n / count);
            at.part = Some((start + first, len));
            at.take(first..first + len);
            at.ty = Type::vector(len);
        }
        (Type::Matrix(r, c), Select::Element(i, j)) => {
            let (r, c) = (r.known()?, c.known()?);
            if *i >= r || *j >= c {
                return fail(Diagnostic::error(
                    code::SLICE_OUT_OF_RANGE,
                    span,
                    format!("expected a row below {r} and a column below {c}, found `{step}`"),
                ));
            }
            at.part = Some((j * r + i, 1));
            at.ty = Type::Real;
        }
        (Type::Rotation, Select::Element(i, j)) if *i < 3 && *j < 3 => {
            let start = at.part.map_or(0, |(start, _)| start);
            at.part = Some((start + j * 3 + i, 1));
            at.ty = Type::Real;
        }
        (Type::Array(of, n), Select::Index(i)) => {
            let n = n.known()?;
            if *i >= n {
                return out_of_range("an index".into(), n);
            }
            let each = of.leaves()?.len();
            at.first_leaf = at.first_leaf.map(|first| first + i * each);
            at.ty = (**of).clone();
        }
        (other, Select::Part { count, .. }) => {
            let message = format!("expected a vector that {count} copies can share, found {other}");
            return fail(Diagnostic::error(code::WRONG_TYPE, span, message));
        }
        (other, _) => {
            return fail(
                Diagnostic::error(
                    code::WRONG_TYPE,
                    span,
                    format!("expected something that `{step}` fits, found {other}"),
                )
                .hint(match other {
                    Type::Matrix(..) => "name row and column: `[0, 2]`",
                    Type::Bus(_) => "name a field first",
                    _ => "leave the brackets out",
                }),
            );
        }
    }
    Some(Ok(used))
}
