//! What a visitor is shown of a value: what is in the file, or something made up.

use super::access::{Fields, Items, Pairs};
use super::error::{BindError, Bound};
use super::made_up::MadeUp;
use super::source::{Any, FormulaText, Position, Source, Whole};
use super::variant::Variant;
use crate::value::Node;

/// A value as a type reads it.
#[derive(Clone, Copy)]
pub(super) enum Reader<'a> {
    File(Source<'a>),
    MadeUp(MadeUp),
}

impl<'a> Reader<'a> {
    /// Gives an error without place that of this value. One about a made-up value is nobody's.
    pub(super) fn place(self, error: BindError) -> BindError {
        match self {
            Self::File(source) => source.place(error),
            Self::MadeUp(_) => BindError::made_up(),
        }
    }

    /// This value as it is written, or a made-up one if its mistake is reported.
    pub(super) fn literal(self) -> Self {
        match self {
            Self::File(source) if source.is_made_up() => Self::MadeUp(MadeUp::default()),
            _ => self,
        }
    }

    /// The same, or what the value evaluates to, which is then kept in `store`.
    pub(super) fn evaluated<'b>(self, store: &'b mut Option<Node>) -> Bound<Reader<'b>>
    where
        'a: 'b,
    {
        match self.literal() {
            Self::File(source) => source.evaluated(store).map(Reader::File),
            made_up @ Self::MadeUp(_) => Ok(made_up),
        }
    }

    /// The value inside `Metres(5)` for a newtype `Metres`, or this one. `position` is made its
    /// place.
    pub(super) fn inside_newtype<'b>(
        self,
        name: &str,
        position: &'b mut Position<'a>,
    ) -> Bound<Reader<'b>>
    where
        'a: 'b,
    {
        match self.literal() {
            Self::File(source) => Ok(Reader::File(match source.inside_newtype(name) {
                Some(inside) => {
                    *position = source.position(0);
                    source.child(inside, position)
                }
                None => source,
            })),
            Self::MadeUp(made_up) => Ok(Reader::MadeUp(made_up.inner()?)),
        }
    }

    pub(super) fn any(self) -> Bound<Any<'a>> {
        match self {
            Self::File(source) => source.any(),
            Self::MadeUp(_) => Ok(Any::Real(MadeUp::NUMBER)),
        }
    }

    pub(super) fn boolean(self) -> Bound<bool> {
        match self {
            Self::File(source) => source.boolean(),
            Self::MadeUp(_) => Ok(false),
        }
    }

    pub(super) fn whole(self) -> Bound<Whole> {
        match self {
            Self::File(source) => source.whole(),
            Self::MadeUp(_) => Ok(Whole::Unsigned(MadeUp::NUMBER as u64)),
        }
    }

    pub(super) fn real(self) -> Bound<f64> {
        match self {
            Self::File(source) => source.real(),
            Self::MadeUp(_) => Ok(MadeUp::NUMBER),
        }
    }

    pub(super) fn quantity(self, unit: &str) -> Bound<f64> {
        match self {
            Self::File(source) => source.quantity(unit),
            Self::MadeUp(_) => Ok(MadeUp::NUMBER),
        }
    }

    pub(super) fn text(self) -> Bound<&'a str> {
        match self {
            Self::File(source) => source.text(),
            Self::MadeUp(_) => Ok(MadeUp::TEXT),
        }
    }

    pub(super) fn formula(self) -> Bound<FormulaText<'a>> {
        match self {
            Self::File(source) => source.formula(),
            Self::MadeUp(_) => Ok(FormulaText::Literal("1".to_owned())),
        }
    }

    pub(super) fn is_nothing(self) -> bool {
        match self {
            Self::File(source) => source.is_nothing(),
            Self::MadeUp(_) => true,
        }
    }

    pub(super) fn nothing(self) -> Bound<()> {
        match self {
            Self::File(source) => source.nothing(),
            Self::MadeUp(_) => Ok(()),
        }
    }

    pub(super) fn empty_struct(self) -> Bound<()> {
        match self {
            Self::File(source) => source.empty_struct(),
            Self::MadeUp(_) => Ok(()),
        }
    }

    pub(super) fn list(self) -> Bound<Items<'a>> {
        match self {
            Self::File(source) => source.list(),
            Self::MadeUp(made_up) => Ok(Items::MadeUp { item: made_up, left: 0 }),
        }
    }

    pub(super) fn tuple(self, len: usize) -> Bound<Items<'a>> {
        match self {
            Self::File(source) => source.tuple(len),
            Self::MadeUp(made_up) => Ok(Items::MadeUp { item: made_up.inner()?, left: len }),
        }
    }

    pub(super) fn map(self) -> Bound<Pairs<'a>> {
        match self {
            Self::File(source) => source.map(),
            Self::MadeUp(made_up) => Ok(Pairs::Fields(Fields::made_up(made_up, &[]))),
        }
    }

    pub(super) fn structure(self, name: &str, known: &'static [&'static str]) -> Bound<Fields<'a>> {
        match self {
            Self::File(source) => source.structure(name, known),
            Self::MadeUp(made_up) => Ok(Fields::made_up(made_up.inner()?, known)),
        }
    }

    pub(super) fn variant(self, variants: &'static [&'static str]) -> Bound<Variant<'a>> {
        match self {
            Self::File(source) => source.variant(variants),
            Self::MadeUp(made_up) => Variant::made_up(made_up, variants),
        }
    }
}
