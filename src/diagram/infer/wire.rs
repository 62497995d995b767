//! What a source carries: type, unit, frame.

use std::collections::BTreeMap;
use std::ops::Range;

use legwork_block::{Diagnostic, Dim, Span, SymbolicUnit, Type, Unit, Var, code};

use crate::ids::{BlockId, Id as _};
use crate::network::{Network, PortPart, Select, Source};
use crate::select::{Selected, select};
use crate::unify::{Solution, readable};
use crate::units::{Cause, Clash, UnitTerm};

/// What a source carries.
pub(super) struct Carried {
    pub(super) ty: Type,
    pub(super) unit: UnitTerm,
    pub(super) frame: Option<String>,
}

/// Why it cannot be said what a source carries.
pub(super) enum Blocked {
    /// A type on the way is not known yet.
    Unknown,
    /// The source has mistakes that are reported.
    Reported,
    /// Something does not fit.
    Wrong(Box<Diagnostic>),
}

impl From<Diagnostic> for Blocked {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Wrong(Box::new(diagnostic))
    }
}

/// What is needed to say what a source carries.
pub(super) struct Sources<'a> {
    pub(super) network: &'a Network,
    pub(super) solution: &'a mut Solution,
    pub(super) next_var: &'a mut u32,
    /// Units of the elements of outputs put together from parts.
    pub(super) elements: &'a BTreeMap<(BlockId, usize), Vec<Option<SymbolicUnit>>>,
}

impl Sources<'_> {
    /// What a source carries.
    pub(super) fn carried(&mut self, source: &Source) -> Result<Carried, Blocked> {
        match source {
            Source::Port(part) => self.port(part),
            Source::Array { items, .. } => self.array(items),
            Source::Join { items, .. } => self.join(items),
            Source::Bus { ty, var_count, fields, .. } => {
                let ty = ty.shift(*self.next_var);
                self.fresh(*var_count);
                self.bus(ty, fields)
            }
            Source::Broken(_) => Err(Blocked::Reported),
        }
    }

    /// The first of `count` new variables.
    fn fresh(&mut self, count: u32) -> Var {
        let first = Var(*self.next_var);
        *self.next_var += count;
        self.solution.grow(*self.next_var);
        first
    }

    fn port(&mut self, part: &PortPart) -> Result<Carried, Blocked> {
        if self.network.blocks[part.block].joins {
            return Err(Blocked::Unknown);
        }
        let output = self.network.output(part);
        let ty = self.solution.ty(&output.ty);
        if part.select.is_empty() {
            return Ok(Carried {
                ty,
                unit: UnitTerm::of(&output.unit),
                frame: output.frame.clone(),
            });
        }
        let Selected { ty, units, frame, .. } =
            select(&ty, &part.select, part.span).ok_or(Blocked::Unknown)??;
        let slice = part.is_slice().then_some(output);
        Ok(Carried {
            ty,
            unit: match (units.one, slice) {
                (Some(text), _) => UnitTerm::written(&text),
                (None, Some(output)) => match self.elements.get(&(part.block, part.output.index()))
                {
                    Some(list) => self.of_elements(list, &part.select),
                    None => UnitTerm::of(&output.unit),
                },
                (None, None) => UnitTerm::Unspecified,
            },
            frame: frame.or_else(|| slice?.frame.clone()),
        })
    }

    fn array(&mut self, items: &[Source]) -> Result<Carried, Blocked> {
        let element = Type::Var(self.fresh(1));
        let mut units = Vec::new();
        let mut frame = None;
        for item in items {
            let found = self.carried(item)?;
            self.element(&element, &found.ty, item, "copies")?;
            units.push((found.unit, item.span()));
            frame = found.frame;
        }
        let unit = self.joined(&units);
        Ok(Carried { ty: Type::array(element, items.len()), unit, frame })
    }

    /// The array of all elements of `items`. An item that is no array is one element.
    fn join(&mut self, items: &[Source]) -> Result<Carried, Blocked> {
        let element = Type::Var(self.fresh(1));
        let mut count = Dim::fixed(0);
        let mut units = Vec::new();
        let mut frame = None;
        for item in items {
            let found = self.carried(item)?;
            let (of, n) = match self.solution.ty(&found.ty) {
                Type::Var(_) => return Err(Blocked::Unknown),
                Type::Array(of, n) => (*of, n),
                one => (one, Dim::fixed(1)),
            };
            self.element(&element, &of, item, "elements")?;
            count = count + n;
            units.push((found.unit, item.span()));
            frame = found.frame;
        }
        let unit = self.joined(&units);
        Ok(Carried { ty: Type::array(element, count), unit, frame })
    }

    /// The unit of some elements of a list, if they have one.
    fn of_elements(&self, list: &[Option<SymbolicUnit>], select: &[Select]) -> UnitTerm {
        let mut range = 0..list.len();
        for step in select {
            let Range { start, end } = range;
            range = match *step {
                Select::Index(i) => start + i..start + i + 1,
                Select::Slice(first, past) => start + first..past.map_or(end, |past| start + past),
                Select::Part { index, count } => {
                    let len = (end - start) / count.max(1);
                    start + index * len..start + (index + 1) * len
                }
                Select::Element(..) | Select::Field(_) => return UnitTerm::Unspecified,
            };
        }
        let mut units = list.get(range).unwrap_or_default().iter().flatten();
        let Some(first) = units.next() else { return UnitTerm::Unspecified };
        match units.all(|unit| unit == first) {
            true => UnitTerm::Of(first.clone()),
            false => UnitTerm::Unspecified,
        }
    }

    /// The unit of all elements of an array: that of its items, if they have one.
    fn joined(&mut self, items: &[(UnitTerm, Span)]) -> UnitTerm {
        let units = &mut self.solution.units;
        let known = |unit: &UnitTerm| match unit {
            UnitTerm::Of(unit) => units.unit(unit)?.known(),
            UnitTerm::Unspecified => None,
        };
        let all: Vec<Unit> = items.iter().filter_map(|(unit, _)| known(unit)).collect();
        let differ = all.windows(2).any(|pair| !pair[0].agrees(pair[1]));
        let Some((first, _)) = items.first() else { return UnitTerm::Unspecified };
        if differ || items.iter().any(|(unit, _)| *unit == UnitTerm::Unspecified) {
            return UnitTerm::Unspecified;
        }
        for (unit, span) in &items[1..] {
            // They do not differ as far as they are known.
            let _ = units.equal(first, unit, Cause::Place(*span));
        }
        first.clone()
    }

    /// Makes all `what` of an array one type.
    fn element(
        &mut self,
        element: &Type,
        found: &Type,
        item: &Source,
        what: &str,
    ) -> Result<(), Blocked> {
        if self.solution.types(element, found).is_ok() {
            return Ok(());
        }
        let (element, found) = (self.solution.ty(element), self.solution.ty(found));
        let (expected, found) = (readable(&element), readable(&found));
        let message = format!("expected all {what} to be {expected}, found {found}");
        Err(Diagnostic::error(code::WRONG_TYPE, item.span(), message).into())
    }

    fn bus(&mut self, ty: Type, sources: &[Source]) -> Result<Carried, Blocked> {
        let Type::Bus(bus) = &ty else { return Err(Blocked::Reported) };
        for (field, source) in bus.fields.iter().zip(sources) {
            let found = self.carried(source)?;
            if self.solution.types(&field.ty, &found.ty).is_err() {
                let message = format!(
                    "field `{}` of {ty} expected {}, found {}",
                    field.name,
                    readable(&self.solution.ty(&field.ty)),
                    readable(&self.solution.ty(&found.ty))
                );
                return Err(Diagnostic::error(code::WRONG_TYPE, source.span(), message).into());
            }
            let expected = field.unit.as_deref().map_or(UnitTerm::Unspecified, UnitTerm::written);
            let cause = Cause::Place(source.span());
            if let Err(clash) = self.solution.units.equal(&expected, &found.unit, cause) {
                let message = match clash {
                    Clash::Differ(expected, found) => format!(
                        "field `{}` of {ty} expected the unit {expected}, found {found}",
                        field.name
                    ),
                    _ => format!("the unit of field `{}` of {ty} does not fit", field.name),
                };
                return Err(Diagnostic::error(code::UNIT_MISMATCH, source.span(), message).into());
            }
        }
        Ok(Carried { ty, unit: UnitTerm::Unspecified, frame: None })
    }
}
