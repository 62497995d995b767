//! What a source carries: type, unit, frame.

use legwork_block::{Diagnostic, Dim, PortUnit, Type, Unit, Var, parse_unit};

use crate::network::{Network, PortPart, Source};
use crate::select::{Selected, select};
use crate::unify::{Solution, UnitTerm, readable};

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

pub(super) fn unit_term(unit: &PortUnit) -> UnitTerm {
    match unit {
        PortUnit::Unspecified => UnitTerm::Unspecified,
        PortUnit::Var(var) => UnitTerm::Var(*var),
        PortUnit::Is(text) => known_unit(text),
    }
}

/// The unit that a block's author wrote. A text that is no unit says nothing, so that a slip in a
/// third party's block keeps nobody from running.
fn known_unit(text: &str) -> UnitTerm {
    parse_unit(text).map_or(UnitTerm::Unspecified, |(unit, _): (Unit, _)| UnitTerm::Is(unit))
}

/// What is needed to say what a source carries.
pub(super) struct Sources<'a> {
    pub(super) network: &'a Network,
    pub(super) solution: &'a mut Solution,
    pub(super) next_var: &'a mut u32,
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

    fn port(&self, part: &PortPart) -> Result<Carried, Blocked> {
        if self.network.blocks[part.block].joins_copies {
            return Err(Blocked::Unknown);
        }
        let output = self.network.output(part);
        let ty = self.solution.ty(&output.ty);
        if part.select.is_empty() {
            return Ok(Carried { ty, unit: unit_term(&output.unit), frame: output.frame.clone() });
        }
        let Selected { ty, unit, frame, .. } =
            select(&ty, &part.select, part.span).ok_or(Blocked::Unknown)??;
        let slice = part.is_slice().then_some(output);
        Ok(Carried {
            ty,
            unit: match (unit, slice) {
                (Some(text), _) => known_unit(&text),
                (None, Some(output)) => unit_term(&output.unit),
                (None, None) => UnitTerm::Unspecified,
            },
            frame: frame.or_else(|| slice?.frame.clone()),
        })
    }

    fn array(&mut self, items: &[Source]) -> Result<Carried, Blocked> {
        let element = Type::Var(self.fresh(1));
        let mut unit = None;
        let mut frame = None;
        for item in items {
            let found = self.carried(item)?;
            self.element(&element, &found.ty, item, "copies")?;
            unit = unit.or(Some(found.unit));
            frame = found.frame;
        }
        let unit = unit.unwrap_or(UnitTerm::Unspecified);
        Ok(Carried { ty: Type::array(element, items.len()), unit, frame })
    }

    /// The array of all elements of `items`. An item that is no array is one element.
    fn join(&mut self, items: &[Source]) -> Result<Carried, Blocked> {
        let element = Type::Var(self.fresh(1));
        let mut count = Dim::fixed(0);
        let mut unit = None;
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
            unit = unit.or(Some(found.unit));
            frame = found.frame;
        }
        let unit = unit.unwrap_or(UnitTerm::Unspecified);
        Ok(Carried { ty: Type::array(element, count), unit, frame })
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
        Err(Diagnostic::error("wrong-type", item.span(), message).into())
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
                return Err(Diagnostic::error("wrong-type", source.span(), message).into());
            }
            let expected = field.unit.as_deref().map_or(UnitTerm::Unspecified, known_unit);
            if let Err((expected, found)) = self.solution.units(expected, found.unit) {
                let message = format!(
                    "field `{}` of {ty} expected the unit {expected}, found {found}",
                    field.name
                );
                return Err(Diagnostic::error("unit-mismatch", source.span(), message).into());
            }
        }
        Ok(Carried { ty, unit: UnitTerm::Unspecified, frame: None })
    }
}
