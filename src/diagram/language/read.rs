//! Reading a construct: its fields, each once, and what is wrong with them.

use legwork_block::{Arguments, Diagnostic, Diagnostics, Node, NodeField, Span, code, nearest};

use super::{FieldManual, Manual, name_span};

/// A construct of the language; `construct!` makes them.
pub(crate) trait Construct<'n>: Sized {
    /// Its manual.
    const MANUAL: Manual;

    /// Reads its fields; `None` if one that must be there is missing or wrong, which is reported.
    fn from_fields(fields: &mut Fields<'n>, found: &mut Diagnostics) -> Option<Self>;

    /// Reads it; reports every field that is unknown, missing or wrong.
    fn from_node(node: &'n Node, found: &mut Diagnostics) -> Option<Self> {
        let first = Self::MANUAL.fields.first().filter(|_| Self::MANUAL.shorthand);
        let unnamed = first.and_then(|field| Some((field.name, sole_argument(node)?)));
        let mut fields = Fields { node, unnamed, missing: Vec::new() };
        let read = Self::from_fields(&mut fields, found);
        fields.finish(&Self::MANUAL, found);
        read
    }
}

/// The argument of `Kind(x)`.
fn sole_argument(node: &Node) -> Option<&Node> {
    match &node.named()?.arguments {
        Arguments::Positional(arguments) if arguments.len() == 1 => arguments.first(),
        _ => None,
    }
}

/// What a field holds.
pub(crate) trait Read<'n>: Sized {
    /// Whether the field may be left out.
    const OPTIONAL: bool = false;

    /// Reads it; `None` if it is wrong, which is reported.
    fn read(node: &'n Node, found: &mut Diagnostics) -> Option<Self>;

    /// The value of a field that is left out; `None` if its construct cannot be without it.
    fn absent() -> Option<Self> {
        None
    }
}

impl<'n> Read<'n> for &'n Node {
    fn read(node: &'n Node, _: &mut Diagnostics) -> Option<Self> {
        Some(node)
    }
}

impl<'n, T: Read<'n>> Read<'n> for Option<T> {
    const OPTIONAL: bool = true;

    /// A value that is wrong counts as left out, so that the rest is looked at.
    fn read(node: &'n Node, found: &mut Diagnostics) -> Option<Self> {
        Some(T::read(node, found))
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

/// What must be there; without it the rest is looked at all the same, to report its mistakes too.
pub(crate) struct Needed<T>(pub(crate) Option<T>);

impl<'n, T: Read<'n>> Read<'n> for Needed<T> {
    fn read(node: &'n Node, found: &mut Diagnostics) -> Option<Self> {
        Some(Self(T::read(node, found)))
    }

    fn absent() -> Option<Self> {
        Some(Self(None))
    }
}

/// The fields of a construct while it is read.
pub(crate) struct Fields<'n> {
    node: &'n Node,
    /// The value that is given without the name of its field.
    unnamed: Option<(&'static str, &'n Node)>,
    /// Fields that must be there and are not, with what is asked of them.
    missing: Vec<(&'static str, Option<Question>)>,
}

/// What is asked about a field that is missing, and what to write.
type Question = (&'static str, &'static str);

impl<'n> Fields<'n> {
    /// Where the name of the construct is.
    pub(crate) fn at(&self) -> Span {
        name_span(self.node)
    }

    /// Reads the field `name`.
    pub(crate) fn read<T: Read<'n>>(
        &mut self,
        name: &'static str,
        question: Option<Question>,
        found: &mut Diagnostics,
    ) -> Option<T> {
        let unnamed = self.unnamed.filter(|(field, _)| *field == name).map(|(_, value)| value);
        match self.node.field(name).or(unnamed) {
            Some(value) => T::read(value, found),
            None => {
                if !T::OPTIONAL {
                    self.missing.push((name, question));
                }
                T::absent()
            }
        }
    }

    /// Reports unknown and missing fields. A slip of the pen is reported once: that the field which
    /// was meant is missing is no news.
    fn finish(mut self, manual: &Manual, found: &mut Diagnostics) {
        if !manual.open {
            for field in self.node.fields() {
                if !manual.names().any(|name| name == field.name.text) {
                    let diagnostic = self.unknown(field, manual);
                    found.push(diagnostic);
                }
            }
        }
        for (name, question) in &self.missing {
            let (why, hint) = question.unwrap_or_default();
            let message = match why {
                "" => format!("`{name}` is missing"),
                why => format!("`{name}` is missing: {why}"),
            };
            let diagnostic = Diagnostic::error(code::MISSING_FIELD, self.at(), message);
            found.push(match hint {
                "" => diagnostic,
                hint => diagnostic.hint(format!("write {hint}")),
            });
        }
    }

    fn unknown(&mut self, field: &NodeField, manual: &Manual) -> Diagnostic {
        let written = field.name.text.as_str();
        let open = |name: &&'static str| self.node.field(name).is_none();
        let near = nearest(written, manual.names().filter(open));
        let meant = match (near, self.missing.as_slice()) {
            (Some(near), missing) if missing.iter().any(|(name, _)| *name == near) => Some(near),
            // What must be there is a better guess than what may.
            (_, [(only, _)]) => Some(*only),
            (near, _) => near,
        };
        self.missing.retain(|(name, _)| Some(*name) != meant);
        let known: Vec<&str> = manual.names().collect();
        let message = format!("expected one of `{}`, found `{written}`", known.join("`, `"));
        let mut diagnostic = Diagnostic::error(code::UNKNOWN_FIELD, field.name.span, message);
        if let Some(meant) = meant {
            diagnostic = diagnostic.hint(format!("did you mean `{meant}`?"));
        }
        match written {
            "every" => diagnostic.hint("state the period in the blocks inside"),
            "needs" => diagnostic.hint("bind functions in the blocks inside"),
            _ => diagnostic,
        }
    }
}

impl Manual {
    /// The names of all fields that it knows.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        let name = |field: &'static FieldManual| field.name;
        self.fields.iter().chain(self.shared).map(name)
    }
}
