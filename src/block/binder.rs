//! Binds values of a file to parameter structs: a [`serde::Deserializer`] over [`Node`]s.
//!
//! - A text that starts with `=` is evaluated wherever a value is expected.
//! - [`quantity`](crate::quantity) types get their unit checked.
//! - Unknown fields are errors, whether or not the struct denies them.
//! - All mistakes of one value are reported together: after a mistake, the value in question is
//!   replaced by a made-up one and the struct is read again.
//! - An error raised inside a `Deserialize` implementation gets the place of the innermost value.

#![allow(
    clippy::result_large_err,
    reason = "an error ends the compilation, its size costs nothing"
)]

mod deserializer;
mod dream;
mod enums;
mod error;
mod reader;
mod sequence;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use serde::de::DeserializeOwned;

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::value::{Node, Scope};

use error::Culprit;
use reader::Reader;

/// Mistakes of one value that are looked for at most.
const MISTAKE_LIMIT: usize = 64;

/// Reads a `T` from `node` with the names of `scope`, without looking at the fields `skip` of
/// `node` itself, which belong to somebody else: `every`, `in`, `doc` of a block.
///
/// Gives `None` if there were errors, which are then in `diagnostics`.
pub fn bind<T: DeserializeOwned>(
    node: &Node,
    scope: &dyn Scope,
    skip: &[&str],
    diagnostics: &mut Diagnostics,
) -> Option<T> {
    let context = Context {
        scope,
        reserved: skip,
        found: RefCell::new(Diagnostics::default()),
        failed: Cell::new(false),
        dreams: RefCell::new(BTreeSet::new()),
    };
    let mut bound = None;
    for _ in 0..MISTAKE_LIMIT {
        match T::deserialize(Reader::new(node, &context)) {
            Ok(value) => {
                bound = Some(value);
                break;
            }
            Err(error) => {
                context.failed.set(true);
                let (diagnostic, culprit) = error.finish(node);
                context.found.borrow_mut().extend(diagnostic);
                // The same value again: a made-up one did not help, the rest stays unseen.
                if !culprit.is_some_and(|culprit| context.dreams.borrow_mut().insert(culprit)) {
                    break;
                }
            }
        }
    }
    let failed = context.failed.get();
    let mut found: Vec<Diagnostic> = context.found.into_inner().into_iter().collect();
    found.sort_by_key(|diagnostic| diagnostic.primary.span);
    diagnostics.extend(found);
    bound.filter(|_| !failed)
}

/// What all readers of one value share.
struct Context<'a> {
    scope: &'a dyn Scope,
    reserved: &'a [&'a str],
    found: RefCell<Diagnostics>,
    /// Whether there was a mistake, be it one that only follows from another.
    failed: Cell<bool>,
    /// Values that are replaced by made-up ones, since their mistakes are reported.
    dreams: RefCell<BTreeSet<Culprit>>,
}

impl Context<'_> {
    fn report(&self, diagnostic: Diagnostic) {
        self.failed.set(true);
        self.found.borrow_mut().push(diagnostic);
    }

    fn is_dream(&self, culprit: &Culprit) -> bool {
        self.dreams.borrow().contains(culprit)
    }
}
