//! The syntax tree of an expression.

use super::operator::{Binary, Unary};
use crate::diagnostic::Span;
use crate::unit::Unit;
use crate::value::Name;

/// A part of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expr {
    /// Where it is.
    pub(super) span: Span,
    /// What it is.
    pub(super) kind: ExprKind,
    /// Levels below and including this one; bounded, so that walks need little stack.
    pub(super) height: usize,
}

/// What a part of an expression is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ExprKind {
    Number(f64, Option<Unit>),
    Bool(bool),
    Text(String),
    Name(String),
    List(Vec<Expr>),
    Field(Box<Expr>, Name),
    Index(Box<Expr>, Box<Expr>),
    Slice(Box<Expr>, Option<Box<Expr>>, Option<Box<Expr>>),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<(Expr, Expr)>),
    /// Condition, then, else.
    If(Box<(Expr, Expr, Expr)>),
    Call(Name, Vec<Expr>),
    /// `[item for name in list if condition]`, `{key: item for …}`.
    Each(Box<Each>),
}

/// An expression for each item of a list.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Each {
    /// Of a record: the name of the item.
    pub(super) key: Option<Expr>,
    pub(super) item: Expr,
    /// What the item of the list is called.
    pub(super) name: String,
    pub(super) list: Expr,
    pub(super) condition: Option<Expr>,
}

impl ExprKind {
    /// The greatest height of the parts.
    pub(super) fn height(&self) -> usize {
        let highest = |parts: &[Expr]| parts.iter().map(|part| part.height).max().unwrap_or(0);
        let optional = |part: &Option<Box<Expr>>| part.as_ref().map_or(0, |part| part.height);
        match self {
            Self::Number(..) | Self::Bool(_) | Self::Text(_) | Self::Name(_) => 0,
            Self::List(parts) | Self::Call(_, parts) => highest(parts),
            Self::Field(part, _) | Self::Unary(_, part) => part.height,
            Self::Index(part, index) => part.height.max(index.height),
            Self::Slice(part, from, to) => part.height.max(optional(from)).max(optional(to)),
            Self::Binary(_, pair) => pair.0.height.max(pair.1.height),
            Self::Each(each) => {
                let optional = |part: &Option<Expr>| part.as_ref().map_or(0, |part| part.height);
                let parts = each.item.height.max(each.list.height);
                parts.max(optional(&each.key)).max(optional(&each.condition))
            }
            Self::If(parts) => parts.0.height.max(parts.1.height).max(parts.2.height),
        }
    }
}
