//! Groups of signals whose units depend on one another.
//!
//! An equation between units joins the unknowns in it. If no equation of a group has a stated unit,
//! all of its numbers are bare: in `x' = x - x^3` the unit of x would be a root of a frequency, and
//! x is a number.

use legwork_block::{SymbolicUnit, Var};

use crate::unify::Equal;

/// Groups of variables for units.
#[derive(Default)]
pub(crate) struct Groups {
    equal: Equal,
    /// True if a unit is stated in the group; indexed by the variable that represents it.
    stated: Vec<bool>,
    /// True if the group has a signal of known unit, such as the time.
    anchored: Vec<bool>,
    /// True if the group has a wire.
    joined: Vec<bool>,
    /// True if equations of the group contradict each other.
    contradicted: Vec<bool>,
}

impl Groups {
    /// Makes room for the variables below `count`.
    pub(crate) fn grow(&mut self, count: usize) {
        self.equal.grow(count);
        self.stated.resize(count, false);
        self.anchored.resize(count, false);
        self.joined.resize(count, false);
        self.contradicted.resize(count, false);
    }

    /// Adds an equation between two units; `is_wire` is true for a wire.
    pub(crate) fn relate(&mut self, a: &SymbolicUnit, b: &SymbolicUnit, is_wire: bool) {
        let mut vars = a.vars().chain(b.vars());
        let Some(first) = vars.next() else { return };
        let root = self.equal.of(first);
        for var in vars {
            let other = self.equal.of(var);
            if other != root {
                self.equal.join(other, root);
                let (other, root) = (other.0 as usize, root.0 as usize);
                self.joined[root] |= self.joined[other];
                self.stated[root] |= self.stated[other];
                self.anchored[root] |= self.anchored[other];
                self.contradicted[root] |= self.contradicted[other];
            }
        }
        self.joined[root.0 as usize] |= is_wire;
        let is_known = |unit: &SymbolicUnit| unit.known().is_some_and(|unit| !unit.is_one());
        self.stated[root.0 as usize] |= a.constant().is_stated() || b.constant().is_stated();
        self.anchored[root.0 as usize] |= is_known(a) || is_known(b);
    }

    /// True if the group of an equation's unknowns has only bare units so far.
    pub(crate) fn is_bare(&self, a: &SymbolicUnit, b: &SymbolicUnit) -> bool {
        let is_bare = |var: Var| !self.stated[self.equal.of(var).0 as usize];
        let mut vars = a.vars().chain(b.vars());
        vars.next().is_some_and(is_bare)
    }

    /// True if a wire relates a variable to others.
    pub(crate) fn is_joined(&self, var: Var) -> bool {
        self.joined[self.equal.of(var).0 as usize]
    }

    /// Accepts a contradiction in a group that is bare.
    pub(crate) fn accept(&mut self, a: &SymbolicUnit, b: &SymbolicUnit) {
        if let Some(var) = a.vars().chain(b.vars()).next() {
            self.contradicted[self.equal.of(var).0 as usize] = true;
        }
    }

    /// True if a unit with unknowns is that of a bare number. Units that equations imply, such as a
    /// root of a frequency, are not units of the model.
    pub(crate) fn is_number(&self, unit: &SymbolicUnit) -> bool {
        let Some(var) = unit.vars().next() else { return false };
        let root = self.equal.of(var).0 as usize;
        !self.stated[root] && (!self.anchored[root] || self.contradicted[root])
    }
}
