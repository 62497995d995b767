//! The typed tree of the language: one type for each construct.
//!
//! A construct is read from a [`Node`] in one pass that reports every field that is unknown,
//! missing or of a wrong kind. The comments of its type and fields are its manual, which
//! [`constructs`] gives: what a person reads is what the compiler reads.

mod read;
mod signature;
mod value;

use legwork_block::{Arguments, Diagnostic, Diagnostics, Name, Named, Node, NodeKind, Span, code};

pub(crate) use read::{Construct, Fields, Needed, Read};
pub(crate) use value::{
    Declared, Entries, Entry, Inputs, Interface, OffsetPeriod, Period, Port, Ports, Text, What,
    read_word, words,
};

/// The manual of a construct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manual {
    /// Its name in a diagram.
    pub name: &'static str,
    /// What it is, line by line, as Markdown with an example.
    pub doc: &'static [&'static str],
    /// Its own fields.
    pub fields: &'static [FieldManual],
    /// Fields that it shares with constructs of its kind.
    pub shared: &'static [FieldManual],
    /// Whether it takes other fields too, such as the parameters of a block or of a mask.
    pub open: bool,
    /// Whether `Name(x)` gives its first field.
    pub shorthand: bool,
}

/// The manual of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldManual {
    /// Its name in a diagram.
    pub name: &'static str,
    /// What it is, line by line.
    pub doc: &'static [&'static str],
    /// Whether it must be there.
    pub required: bool,
}

/// The manual of a word of the language, such as a kind of check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// The word, with its arguments if it takes any.
    pub name: &'static str,
    /// What it stands for.
    pub doc: &'static str,
}

/// Declares a construct: its name in a diagram, its type, and its fields.
///
/// A field of type [`Option`] may be left out. `= required("why", "hint")` says what is asked when
/// it is not there. `as "name"` is the field's name in a diagram if that is a keyword of Rust.
/// `..shared: Type` takes in the fields of another construct. Behind the name, `open` accepts
/// unknown fields, and `shorthand` the first field without its name.
macro_rules! construct {
    (
        $(#[doc = $doc:literal])*
        $name:literal $($flag:ident)*:
        $vis:vis struct $type:ident<$n:lifetime> {
            $(
                $(#[doc = $field_doc:literal])*
                $field:ident $(as $written:literal)?: $ty:ty
                    $(= required($why:literal, $hint:literal))?,
            )*
            $(..$shared:ident: $shared_type:ident)?
        }
    ) => {
        $(#[doc = $doc])*
        #[allow(dead_code, reason = "some fields, such as `doc`, are for people")]
        $vis struct $type<$n> {
            /// Where its name is.
            $vis at: legwork_block::Span,
            $($(#[doc = $field_doc])* $vis $field: $ty,)*
            $($vis $shared: $shared_type<$n>,)?
        }

        impl<$n> crate::language::Read<$n> for $type<$n> {
            fn read(
                node: &$n legwork_block::Node,
                found: &mut legwork_block::Diagnostics,
            ) -> Option<Self> {
                <Self as crate::language::Construct<$n>>::from_node(node, found)
            }
        }

        impl<$n> crate::language::Construct<$n> for $type<$n> {
            const MANUAL: crate::language::Manual = crate::language::Manual {
                name: $name,
                doc: &[$($doc),*],
                fields: &[$(crate::language::FieldManual {
                    name: crate::language::field_name!($field $($written)?),
                    doc: &[$($field_doc),*],
                    required: !<$ty as crate::language::Read<$n>>::OPTIONAL,
                }),*],
                shared: crate::language::shared_fields!($n $($shared_type)?),
                open: crate::language::has!(open $($flag)*),
                shorthand: crate::language::has!(shorthand $($flag)*),
            };

            fn from_fields(
                fields: &mut crate::language::Fields<$n>,
                found: &mut legwork_block::Diagnostics,
            ) -> Option<Self> {
                $(let $field = {
                    let name = crate::language::field_name!($field $($written)?);
                    fields.read::<$ty>(name, crate::language::question!($($why, $hint)?), found)
                };)*
                $(let $shared =
                    crate::language::Construct::from_fields(fields, found);)?
                Some(Self { at: fields.at(), $($field: $field?,)* $($shared: $shared?,)? })
            }
        }
    };
}

macro_rules! field_name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $written:literal) => {
        $written
    };
}

macro_rules! shared_fields {
    ($n:lifetime) => {
        &[]
    };
    ($n:lifetime $shared:ident) => {
        <$shared<$n> as crate::language::Construct<$n>>::MANUAL.fields
    };
}

macro_rules! has {
    (open open $($more:ident)*) => {
        true
    };
    (shorthand shorthand $($more:ident)*) => {
        true
    };
    ($flag:ident $other:ident $($more:ident)*) => {
        crate::language::has!($flag $($more)*)
    };
    ($flag:ident) => {
        false
    };
}

macro_rules! question {
    () => {
        None
    };
    ($why:literal, $hint:literal) => {
        Some(($why, $hint))
    };
}

pub(crate) use {construct, field_name, has, question, shared_fields};

/// "expected …, found …" at a node.
pub(crate) fn wrong_type(node: &Node, expected: &str) -> Diagnostic {
    let message = format!("expected {expected}, found {}", node.describe());
    Diagnostic::error(code::WRONG_TYPE, node.span, message)
}

/// A field that is not among those that are `known`.
pub(crate) fn unknown_field(name: &Name, known: &[&str]) -> Diagnostic {
    let message = format!("expected one of `{}`, found `{}`", known.join("`, `"), name.text);
    Diagnostic::error(code::UNKNOWN_FIELD, name.span, message)
        .suggest(&name.text, known.iter().copied())
}

/// The one argument of `Kind(x)`, if `node` is that.
pub(crate) fn only_argument<'n>(node: &'n Node, kind: &str) -> Option<&'n Node> {
    match &node.kind {
        NodeKind::Named(Named { name: Some(name), arguments: Arguments::Positional(args) })
            if name.text == kind && args.len() == 1 =>
        {
            Some(&args[0])
        }
        _ => None,
    }
}

/// Where the name of a construct is, or its beginning.
pub(crate) fn name_span(node: &Node) -> Span {
    node.kind_name().map_or(node.span, |name| name.span)
}

/// Reads the construct `C`.
pub(crate) fn read<'n, C: Construct<'n>>(node: &'n Node, found: &mut Diagnostics) -> Option<C> {
    C::from_node(node, found)
}

#[cfg(test)]
mod tests;
