//! Binds values of a file to parameter structs: a [`serde::Deserializer`] over [`Node`]s.
//!
//! - A text that starts with `=` is evaluated wherever a value is expected.
//! - [`quantity`](crate::quantity) types get their unit checked.
//! - Unknown fields are errors, whether or not the struct denies them.
//! - All mistakes of one value are reported together: after a mistake, the value in question is
//!   replaced by a made-up one and the struct is read again.
//! - An error raised inside a `Deserialize` implementation gets the place of the innermost value.
//!
//! serde compiles a reading once for each type of parameters and each deserializer. So there is one
//! deserializer, [`Reader`], for values of the file and for made-up ones, and its generic functions
//! only hand the visitor what functions without type parameters have found.

mod access;
mod deserializer;
mod error;
mod made_up;
mod reader;
mod source;
mod variant;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, DeserializeSeed};

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::value::{Node, Scope};

use error::{BindError, Subject};
use reader::Reader;
use source::{Position, Source};

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
    bind_by(PhantomData::<T>, node, scope, skip, diagnostics)
}

/// As [`bind`], by a seed, which reads the value several times if there are mistakes.
pub(crate) fn bind_by<T>(
    seed: impl for<'de> DeserializeSeed<'de, Value = T> + Copy,
    node: &Node,
    scope: &dyn Scope,
    skip: &[&str],
    diagnostics: &mut Diagnostics,
) -> Option<T> {
    let mut bound = None;
    read_until_known(node, scope, skip, diagnostics, &mut |reader| {
        bound = Some(seed.deserialize(reader)?);
        Ok(())
    })
    .then_some(bound)
    .flatten()
}

/// Reads `node` until nothing new is found wrong. Whether nothing is wrong.
fn read_until_known(
    node: &Node,
    scope: &dyn Scope,
    skip: &[&str],
    diagnostics: &mut Diagnostics,
    read: &mut dyn FnMut(Reader<'_>) -> Result<(), BindError>,
) -> bool {
    let context = Context {
        scope,
        reserved: skip,
        found: RefCell::new(Diagnostics::default()),
        failed: Cell::new(false),
        made_up: RefCell::new(BTreeSet::new()),
    };
    for _ in 0..MISTAKE_LIMIT {
        let Err(error) = read(Reader::File(Source::new(node, &context, &Position::ROOT))) else {
            break;
        };
        context.failed.set(true);
        let (diagnostic, subject) = error.finish(node);
        context.found.borrow_mut().extend(diagnostic);
        // The same value again: a made-up one did not help, the rest stays unseen.
        if !subject.is_some_and(|subject| context.made_up.borrow_mut().insert(subject)) {
            break;
        }
    }
    let mut found: Vec<Diagnostic> = context.found.into_inner().into_iter().collect();
    found.sort_by_key(|diagnostic| diagnostic.primary.span);
    diagnostics.extend(found);
    !context.failed.get()
}

/// What all readers of one value share.
struct Context<'a> {
    scope: &'a dyn Scope,
    reserved: &'a [&'a str],
    found: RefCell<Diagnostics>,
    /// Whether there was a mistake, be it one that only follows from another.
    failed: Cell<bool>,
    /// What is replaced by made-up values, since its mistakes are reported.
    made_up: RefCell<BTreeSet<Subject>>,
}

impl Context<'_> {
    fn report(&self, diagnostic: Diagnostic) {
        self.failed.set(true);
        self.found.borrow_mut().push(diagnostic);
    }

    fn is_made_up(&self, subject: impl FnOnce() -> Subject) -> bool {
        let made_up = self.made_up.borrow();
        !made_up.is_empty() && made_up.contains(&subject())
    }
}
