//! The section `buses:`: the diagram's own types.

use legwork_block::{Diagnostic, Diagnostics, Node, NodeKind, Type, code};

use super::Expander;
use super::tree::Env;
use crate::language::{self, Entries, Entry, Text, What, construct, wrong_type};
use crate::types_text::{LEAF_LIMIT, leaves};

construct! {
    /// A field of a bus with a unit or a frame. Without them a field is its type alone.
    ///
    /// ```ron
    /// "Foot": {
    ///     "position": Field(type: "Vector(3)", unit: "m", frame: "world", doc: "of its centre"),
    ///     "closed": "Bool",
    /// },
    /// ```
    "Field":
    pub(super) struct BusField<'n> {
        /// Its type, with its dimensions.
        ty as "type": &'n Node = required("", "Field(type: \"Vector(3)\", unit: \"m\")"),
        /// Its unit.
        unit: Option<Text<'n>>,
        /// The frame of its coordinates.
        frame: Option<Text<'n>>,
        /// What it is.
        doc: Option<Text<'n>>,
    }
}

/// Buses by name.
pub(super) struct OfBuses;

impl What for OfBuses {
    const EXPECTED: &'static str = "a map of buses";
}

impl Expander<'_> {
    /// Makes the types of the section `buses:`.
    pub(super) fn buses(&mut self, entries: Option<&Entries<'_, OfBuses>>, env: &Env) {
        let Some(entries) = entries else { return };
        // A bus may hold one that is declared behind it: rounds until nothing new is known.
        let mut waiting: Vec<Entry<'_>> = entries.iter().collect();
        loop {
            let before = waiting.len();
            let mut failed = Vec::new();
            for entry in std::mem::take(&mut waiting) {
                match self.bus(&entry, env) {
                    Ok(()) => {}
                    Err(diagnostics) => failed.push((entry, diagnostics)),
                }
            }
            if failed.is_empty() {
                return;
            }
            if failed.len() == before {
                for (_, diagnostics) in failed {
                    diagnostics.into_iter().for_each(|diagnostic| self.report(diagnostic));
                }
                return;
            }
            waiting = failed.into_iter().map(|(entry, _)| entry).collect();
        }
    }

    fn bus(&mut self, entry: &Entry<'_>, env: &Env) -> Result<(), Vec<Diagnostic>> {
        let (name, fields, name_span) = (entry.name, entry.value, entry.name_span);
        let Some(entries) = fields.map() else {
            return Err(vec![wrong_type(fields, "a map of fields and their types")]);
        };
        if self.types.named.iter().any(|known| known.name == name) {
            let message = format!("`{name}` is the name of a bus of the library");
            return Err(vec![Diagnostic::error(code::DUPLICATE_KEY, name_span, message)]);
        }
        let mut found = Vec::new();
        let mut errors = Vec::new();
        let mut next_var = 0;
        for (key, node) in entries {
            let Some(field) = key.text() else { continue };
            let mut notes =
                BusField { at: node.span, ty: node, unit: None, frame: None, doc: None };
            if node.kind_name().is_some_and(|kind| kind.text == "Field") {
                let mut found = Diagnostics::default();
                let read = language::read(node, &mut found);
                errors.extend(found);
                let Some(read) = read else { continue };
                notes = read;
            }
            let NodeKind::Text(text) = &notes.ty.kind else {
                errors.push(wrong_type(node, "a type as text, or Field(type: …, unit: …)"));
                continue;
            };
            let before = next_var;
            match self.types.parse(&text.value, &text.place, env, &self.robots, &mut next_var) {
                Ok(ty)
                    if next_var == before || !matches!(ty, Type::Vector(_) | Type::Matrix(..)) =>
                {
                    let note = |text: Option<Text<'_>>| text.map(|text| text.value.to_owned());
                    found.push(legwork_block::BusField {
                        name: field.to_owned(),
                        ty,
                        unit: note(notes.unit),
                        frame: note(notes.frame),
                        doc: note(notes.doc).unwrap_or_default(),
                    });
                }
                Ok(_) => errors.push(
                    Diagnostic::error(
                        code::BAD_TYPE,
                        notes.ty.span,
                        format!("field `{field}` of a bus needs its dimensions"),
                    )
                    .hint("write \"Vector(3)\" or \"Matrix(3, go.nv)\""),
                ),
                Err(diagnostic) => errors.push(diagnostic),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let ty = legwork_block::bus(name, Vec::new(), found, Vec::new());
        // Buses in buses grow fast.
        if leaves(&ty) > LEAF_LIMIT {
            let message = format!("the bus `{name}` has more than {LEAF_LIMIT} parts");
            return Err(vec![Diagnostic::error(code::TOO_LARGE, name_span, message)]);
        }
        self.types.buses.insert(name.to_owned(), (ty, next_var));
        Ok(())
    }
}
