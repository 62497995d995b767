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

impl Expr {
    /// Adds the names that are read, each once.
    pub(super) fn add_names<'e>(&'e self, names: &mut Vec<&'e str>) {
        match &self.kind {
            ExprKind::Number(..) | ExprKind::Bool(_) | ExprKind::Text(_) => {}
            ExprKind::Name(name) => {
                if !names.contains(&name.as_str()) {
                    names.push(name);
                }
            }
            ExprKind::List(parts) | ExprKind::Call(_, parts) => {
                parts.iter().for_each(|part| part.add_names(names));
            }
            ExprKind::Field(part, _) | ExprKind::Unary(_, part) => part.add_names(names),
            ExprKind::Index(part, index) => {
                [part, index].into_iter().for_each(|part| part.add_names(names));
            }
            ExprKind::Slice(part, from, to) => {
                part.add_names(names);
                [from, to].into_iter().flatten().for_each(|part| part.add_names(names));
            }
            ExprKind::Binary(_, pair) => {
                [&pair.0, &pair.1].into_iter().for_each(|part| part.add_names(names));
            }
            ExprKind::If(parts) => {
                [&parts.0, &parts.1, &parts.2].into_iter().for_each(|part| part.add_names(names));
            }
            ExprKind::Each(each) => {
                each.list.add_names(names);
                let mut own = Vec::new();
                let more = [&each.key, &each.condition];
                let parts = std::iter::once(&each.item).chain(more.into_iter().flatten());
                parts.for_each(|part| part.add_names(&mut own));
                own.retain(|name| *name != each.name && !names.contains(name));
                names.extend(own);
            }
        }
    }
}
