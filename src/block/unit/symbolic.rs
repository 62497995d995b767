//! Units with unknowns, for inference.

use std::borrow::Borrow;

use smallvec::{SmallVec, smallvec};

use super::{DENOMINATOR, Unit};
use crate::types::Var;

/// A unit with unknowns: `known · Π variableᵉ`. Inference solves equations of them, which are
/// linear in the exponents.
///
/// Exponents are multiples of 1/12, as those of [`Unit`].
#[derive(Debug, PartialEq, Eq)]
pub struct SymbolicUnit {
    known: Unit,
    /// Exponents in twelfths with their variables, sorted by variable, none zero.
    terms: Terms,
}

/// Most units have one unknown or two, and those of a chain of numbers without unit a few more.
type Terms = SmallVec<[(i32, Var); 4]>;

impl Clone for SymbolicUnit {
    fn clone(&self) -> Self {
        Self { known: self.known, terms: Terms::from_slice(&self.terms) }
    }
}

/// Twelfths of the exponent 1.
const WHOLE: i32 = DENOMINATOR as i32;

impl SymbolicUnit {
    /// The part that is known.
    pub fn constant(&self) -> Unit {
        self.known
    }

    /// The unit, if nothing in it is unknown.
    pub fn known(&self) -> Option<Unit> {
        self.terms.is_empty().then_some(self.known)
    }

    /// The same, with the power of rad open if the known part is a ratio or an angle, which stand
    /// for one another.
    #[must_use]
    pub fn with_open_angle(self) -> Self {
        let known = if self.known.is_ratio() { self.known.loosened() } else { self.known };
        Self { known, ..self }
    }

    /// The variables in it.
    pub fn vars(&self) -> impl Iterator<Item = Var> + '_ {
        self.terms.iter().map(|(_, var)| *var)
    }

    /// The variable that it is, if it is nothing else.
    pub fn only_var(&self) -> Option<Var> {
        match self.terms[..] {
            [(WHOLE, var)] if self.known == Unit::ONE => Some(var),
            _ => None,
        }
    }

    /// The unit of the product; `None` if an exponent overflows.
    pub fn times(&self, other: &Self) -> Option<Self> {
        self.combine(other, 1)
    }

    /// The unit of the quotient; `None` if an exponent overflows.
    pub fn over(&self, other: &Self) -> Option<Self> {
        self.combine(other, -1)
    }

    fn combine(&self, other: &Self, sign: i32) -> Option<Self> {
        let known = match sign {
            1 => self.known.times(other.known)?,
            _ => self.known.over(other.known)?,
        };
        let mut out = Self { known, ..self.clone() };
        for &(exponent, var) in &other.terms {
            out.add_term(exponent.checked_mul(sign)?, var)?;
        }
        out.terms.retain(|&mut (exponent, _)| exponent != 0);
        Some(out)
    }

    /// The unit of the power `numerator / denominator`; `None` if an exponent would be no multiple
    /// of 1/12 or overflows.
    pub fn power(&self, numerator: i32, denominator: i32) -> Option<Self> {
        let mut terms = Terms::with_capacity(self.terms.len());
        for &(exponent, var) in &self.terms {
            let product = exponent.checked_mul(numerator)?;
            if denominator == 0 || product % denominator != 0 {
                return None;
            }
            terms.push((product / denominator, var));
        }
        terms.retain(|&mut (exponent, _)| exponent != 0);
        Some(Self { known: self.known.power(numerator, denominator)?, terms })
    }

    /// The unit of the real power `exponent`; see [`Unit::real_power`].
    pub fn real_power(&self, exponent: f64) -> Option<Self> {
        if let Some(known) = self.known() {
            return known.real_power(exponent).map(Self::from);
        }
        let twelfths = libm::round(exponent * f64::from(WHOLE));
        let near = (twelfths - exponent * f64::from(WHOLE)).abs() < 1e-9;
        (near && twelfths.abs() < 1e4).then(|| self.power(twelfths as i32, WHOLE)).flatten()
    }

    /// The same with every variable replaced that `value` knows; `None` if an exponent overflows.
    pub fn substitute<V: Borrow<Self>>(&self, value: impl Fn(Var) -> Option<V>) -> Option<Self> {
        let mut out = Self { known: self.known, terms: Terms::new() };
        for &(exponent, var) in &self.terms {
            match value(var) {
                Some(factor) => out.multiply(factor.borrow(), exponent)?,
                None => out.add_term(exponent, var)?,
            }
        }
        out.terms.retain(|&mut (exponent, _)| exponent != 0);
        Some(out)
    }

    /// Takes this times `factor` to the power `twelfths`/12; terms may cancel to an exponent of 0.
    fn multiply(&mut self, factor: &Self, twelfths: i32) -> Option<()> {
        let known = match twelfths {
            WHOLE => factor.known,
            _ => factor.known.power(twelfths, WHOLE)?,
        };
        self.known = self.known.times(known)?;
        for &(exponent, var) in &factor.terms {
            let product = exponent.checked_mul(twelfths)?;
            if product % WHOLE != 0 {
                return None;
            }
            self.add_term(product / WHOLE, var)?;
        }
        Some(())
    }

    fn add_term(&mut self, exponent: i32, var: Var) -> Option<()> {
        match self.terms.binary_search_by_key(&var, |&(_, var)| var) {
            Ok(i) => self.terms[i].0 = self.terms[i].0.checked_add(exponent)?,
            Err(i) => self.terms.insert(i, (exponent, var)),
        }
        Some(())
    }

    /// The same with every variable renamed.
    #[must_use]
    pub fn shift(&self, by: u32) -> Self {
        let terms = self.terms.iter().map(|&(e, Var(var))| (e, Var(var + by))).collect();
        Self { known: self.known, terms }
    }

    /// The same with every variable renamed.
    #[must_use]
    pub fn renamed(&self, name: &dyn Fn(Var) -> Var) -> Self {
        let mut terms: Terms = self.terms.iter().map(|&(e, var)| (e, name(var))).collect();
        terms.sort_by_key(|&(_, var)| var);
        Self { known: self.known, terms }
    }

    /// What a variable in `self = 1` is, written by the rest: one with the exponent 1 or -1 if
    /// there is one, of those one that is not `last`, else the only one. `None` if there is none,
    /// or the rest has no such root.
    pub fn solved(&self, last: &dyn Fn(Var) -> bool) -> Option<(Var, Self)> {
        let whole = |wanted: &dyn Fn(Var) -> bool| {
            let terms = self.terms.iter().rev();
            terms.clone().find(|(exponent, var)| exponent.abs() == WHOLE && wanted(*var))
        };
        let whole = whole(&|var| !last(var)).or_else(|| whole(&|_| true));
        let &(exponent, var) = match (whole, &*self.terms) {
            (Some(term), _) => term,
            (None, [only]) => only,
            (None, _) => return None,
        };
        let terms = self.terms.iter().copied().filter(|&(_, other)| other != var).collect();
        let rest = Self { known: self.known, terms };
        Some((var, rest.power(-WHOLE, exponent)?))
    }
}

impl From<Unit> for SymbolicUnit {
    fn from(known: Unit) -> Self {
        Self { known, terms: Terms::new() }
    }
}

impl From<Var> for SymbolicUnit {
    fn from(var: Var) -> Self {
        Self { known: Unit::ONE, terms: smallvec![(WHOLE, var)] }
    }
}
