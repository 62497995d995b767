//! Types by name, as diagrams write them: `State(go)`, `ContactPoints`, `Vector(3*len(go.feet))`.

use std::sync::Arc;

use crate::resource::{Resource, Resources, typed};
use crate::types::{Arg, BusType, Dim, Field, Type, Var, View};

/// Makes a named type: given fresh variables and the facts of named resources.
pub struct TypeMaker<'a> {
    resources: &'a dyn Resources,
    args: Vec<String>,
    next_var: &'a mut u32,
}

impl<'a> TypeMaker<'a> {
    /// Makes a type with arguments `args`; variables are numbered from `next_var` on.
    pub fn new(resources: &'a dyn Resources, args: Vec<String>, next_var: &'a mut u32) -> Self {
        Self { resources, args, next_var }
    }

    /// A fresh variable.
    pub fn var(&mut self) -> Var {
        *self.next_var += 1;
        Var(*self.next_var - 1)
    }

    /// A dimension that inference finds.
    pub fn dim(&mut self) -> Dim {
        Dim::var(self.var())
    }

    /// Argument `i`, unknown if it is not written.
    pub fn arg(&mut self, i: usize) -> Arg {
        match self.args.get(i) {
            Some(name) => Arg::Name(name.clone()),
            None => Arg::Var(self.var()),
        }
    }

    /// The resource `arg`, if it is known and a `T`.
    pub fn resource<T: Resource>(&self, arg: &Arg) -> Option<Arc<T>> {
        match arg {
            Arg::Name(name) => typed(self.resources, name).ok(),
            Arg::Var(_) => None,
        }
    }

    /// A named dimension of the resource `arg`, unknown if the resource is.
    pub fn fact(&mut self, arg: &Arg, name: &str) -> Dim {
        match arg {
            Arg::Name(resource) => match self
                .resources
                .resource(resource)
                .and_then(|resource| resource.dimension(name))
            {
                Some(n) => Dim::fixed(n),
                None => self.dim(),
            },
            Arg::Var(_) => self.dim(),
        }
    }
}

/// A type that diagrams may name.
#[derive(Clone, Copy)]
pub struct NamedType {
    /// Name in diagrams.
    pub name: &'static str,
    /// How many arguments may be written.
    pub max_args: usize,
    /// What it is.
    pub doc: &'static str,
    /// Makes it.
    pub make: fn(&mut TypeMaker<'_>) -> Type,
}

/// A bus type from its parts.
pub fn bus(name: &str, args: Vec<Arg>, fields: Vec<Field>, views: Vec<View>) -> Type {
    Type::Bus(Arc::new(BusType { name: name.into(), args, fields, views }))
}
