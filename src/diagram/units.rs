//! Equations between units and their solution.
//!
//! A unit is a vector of exponents, one for each base dimension; an equation of units with unknowns
//! is linear in them. Equations come one by one, from wires and from what blocks ask of their
//! ports. Each is solved for one of its unknowns, which is written by the others from then on, and
//! keeps its cause, so that a conflict can tell where both sides come from.

use std::cell::RefCell;

use legwork_block::{
    Diagnostic, PortUnit, Programs, Span, SymbolicUnit, Unit, UnitEquation, Var, parse_unit,
};
use smallvec::SmallVec;

use crate::groups::Groups;
use crate::ids::BlockId;

/// A unit, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UnitTerm {
    /// Nothing is said: every number may have another.
    Unspecified,
    /// This one, with unknowns.
    Of(SymbolicUnit),
}

impl UnitTerm {
    /// The unit that a block declares.
    pub(crate) fn of(unit: &PortUnit) -> Self {
        match unit {
            PortUnit::Is(text) => Self::written(text),
            PortUnit::Of(unit) => Self::Of(unit.clone()),
            PortUnit::Unspecified
            | PortUnit::Adopted
            | PortUnit::Each(_)
            | PortUnit::Among(_)
            | PortUnit::List(_)
            | PortUnit::Common(_) => Self::Unspecified,
        }
    }

    /// The units that an input wants of its elements.
    pub(crate) fn wanted(unit: &PortUnit) -> impl Iterator<Item = Self> {
        let (one, each) = match unit {
            PortUnit::Each(parts) => (None, parts.as_slice()),
            PortUnit::Unspecified | PortUnit::Among(_) | PortUnit::List(_) => (None, &[][..]),
            other => (Some(Self::of(other)), &[][..]),
        };
        one.into_iter().chain(each.iter().cloned().map(Self::Of))
    }

    /// The unit that a block's author wrote. A text that is no unit says nothing, so that a slip in
    /// a third party's block keeps nobody from running.
    pub(crate) fn written(text: &str) -> Self {
        parse_unit(text).map_or(Self::Unspecified, |(unit, _)| Self::Of(unit.into()))
    }
}

/// What asks that two units agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A wire into this input of a block.
    Wire(BlockId, usize),
    /// This equation of a block.
    Equation(BlockId, usize),
    /// An output of a block, put together from parts.
    Parts(BlockId, usize),
    /// That a factor without unit is a pure number if nothing asks for more.
    Bare(Var),
    /// What this declaration of an interface says.
    Declared(usize),
    /// Something at this place.
    Place(Span),
}

/// Holds the units of an expression that is part of no network, with `unknowns` units of signals
/// that are not known.
///
/// # Errors
/// The first equation that cannot hold.
pub(crate) fn check_alone(programs: Programs, unknowns: u32) -> Result<(), Box<Diagnostic>> {
    if programs.equations.is_empty() {
        return Ok(());
    }
    let count = unknowns + programs.factors;
    let Programs { equations, .. } = programs.renamed(&|var| var, unknowns);
    let mut solution = UnitSolution::default();
    solution.grow(count as usize);
    (unknowns..count).for_each(|var| solution.bare(Var(var)));
    let told = |solution: &UnitSolution, equation: &UnitEquation, clash: Clash| {
        // If the units agree only with a unit for a bare factor, the error shows them without it.
        let plain = |unit: &SymbolicUnit| solution.without_bare(unit);
        let sides = plain(&equation.left).zip(plain(&equation.right));
        let sides = sides.filter(|(left, right)| !left.agrees(*right));
        let (left, right) = match clash {
            Clash::Differ(left, right) => (left, right),
            Clash::Factor(factor) | Clash::Bare(_, factor) => sides.unwrap_or((factor, Unit::ONE)),
            Clash::Range => return Ok(()),
        };
        Err(Box::new(equation.rule.conflict(left, right, equation.span)))
    };
    for equation in &equations {
        if let Err(clash) = solution.solve(&equation.left, &equation.right, Cause::Bare(Var(0))) {
            told(&solution, equation, clash)?;
        }
    }
    solution.settle_bare();
    for equation in &equations {
        if let Err(clash) = solution.solve(&equation.left, &equation.right, Cause::Bare(Var(0))) {
            told(&solution, equation, clash)?;
        }
    }
    Ok(())
}

/// Two units that do not agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Clash {
    /// These.
    Differ(Unit, Unit),
    /// They differ by this factor, whatever the unknowns are.
    Factor(Unit),
    /// A factor that was written without unit would have to have this one.
    Bare(Var, Unit),
    /// An exponent leaves the range.
    Range,
}

/// Most factors without unit of which one equation leaves open what power of time they stand for.
const MOST_BARE: usize = 4;

/// Most of them in what is known of one variable: a chain of more gains is none of powers of time.
const MOST_KNOWN_BARE: usize = 32;

/// What is known of the unit of a variable.
#[derive(Debug, Clone)]
struct Known {
    unit: SymbolicUnit,
    cause: Cause,
}

/// What inference knows of units.
#[derive(Default)]
pub(crate) struct UnitSolution {
    /// Of each variable. What is known of the unknowns in it is put in as it is read.
    known: RefCell<Vec<Option<Known>>>,
    /// Of each variable whether it is that of a factor that was written without unit: a power of
    /// time.
    bare: Vec<bool>,
    /// Equations that could not be solved for one unknown.
    open: Vec<(SymbolicUnit, SymbolicUnit, Cause)>,
    /// Groups of variables that depend on one another.
    groups: Groups,
    /// Contradictions that are errors if a unit of their group turns out to be stated.
    deferred: Vec<Deferred>,
}

/// A contradiction in a group that is bare so far.
struct Deferred {
    left: SymbolicUnit,
    right: SymbolicUnit,
    cause: Cause,
    clash: Clash,
    /// True if it is accepted only in a group with other members.
    needs_others: bool,
}

impl UnitSolution {
    /// Room for the variables up to `count`.
    pub(crate) fn grow(&mut self, count: usize) {
        self.known.get_mut().resize(count, None);
        self.bare.resize(count, false);
        self.groups.grow(count);
    }

    fn is_bare(&self, var: Var) -> bool {
        self.bare[var.0 as usize]
    }

    /// The unit with everything known put in; `None` if an exponent leaves the range.
    pub(crate) fn unit(&self, unit: &SymbolicUnit) -> Option<SymbolicUnit> {
        let mut known = self.known.borrow_mut();
        if unit.vars().all(|var| known[var.0 as usize].is_none()) {
            return Some(unit.clone());
        }
        let is_final = |var: Var| match &known[var.0 as usize] {
            Some(Known { unit, .. }) => unit.vars().all(|var| known[var.0 as usize].is_none()),
            None => true,
        };
        if unit.vars().all(is_final) {
            return substituted(&known, unit);
        }
        // What the unknowns are may itself be written by others, in chains as long as those of
        // the blocks: no recursion, and every link is shortened as it is walked.
        let mut waiting: SmallVec<[Var; 8]> = unit.vars().collect();
        while let Some(&var) = waiting.last() {
            let Some(Known { unit, .. }) = &known[var.0 as usize] else {
                waiting.pop();
                continue;
            };
            let is_known = |var: &Var| known[var.0 as usize].is_some();
            if !unit.vars().any(|var| is_known(&var)) {
                waiting.pop();
                continue;
            }
            let is_final = |var: Var| match &known[var.0 as usize] {
                Some(Known { unit, .. }) => !unit.vars().any(|var| is_known(&var)),
                None => true,
            };
            let before = waiting.len();
            waiting.extend(unit.vars().filter(|var| !is_final(*var)));
            if waiting.len() == before {
                let mut value = substituted(&known, unit)?;
                // Without a bound every block of a chain of gains would know all before it.
                let bare = |var: &Var| self.is_bare(*var);
                if value.vars().filter(bare).count() > MOST_KNOWN_BARE {
                    for var in value.vars().filter(bare) {
                        let one = Known { unit: Unit::ONE.into(), cause: Cause::Bare(var) };
                        known[var.0 as usize] = Some(one);
                    }
                    value = substituted(&known, &value)?;
                }
                if let Some(known) = &mut known[var.0 as usize] {
                    known.unit = value;
                }
                waiting.pop();
            }
        }
        substituted(&known, unit)
    }

    /// The unit of a variable, if it is known.
    pub(crate) fn of(&self, var: Var) -> Option<Unit> {
        self.unit(&var.into())?.known()
    }

    /// Makes two units agree; what says nothing fits everything.
    ///
    /// # Errors
    /// If they cannot.
    pub(crate) fn equal(&mut self, a: &UnitTerm, b: &UnitTerm, cause: Cause) -> Result<(), Clash> {
        match (a, b) {
            (UnitTerm::Of(a), UnitTerm::Of(b)) => {
                self.groups.relate(a, b, matches!(cause, Cause::Wire(..)));
                let fit = self.solve(a, b, cause);
                fit.or_else(|clash| self.defer(a, b, cause, clash))
            }
            _ => Ok(()),
        }
    }

    /// Defers a contradiction between bare numbers until all stated units are known.
    fn defer(
        &mut self,
        left: &SymbolicUnit,
        right: &SymbolicUnit,
        cause: Cause,
        clash: Clash,
    ) -> Result<(), Clash> {
        if !self.groups.is_bare(left, right) {
            return Err(clash);
        }
        let (left, right) = (left.clone(), right.clone());
        self.deferred.push(Deferred { left, right, cause, clash, needs_others: false });
        Ok(())
    }

    /// Relates two units that need not agree.
    pub(crate) fn relate(&mut self, a: &SymbolicUnit, b: &SymbolicUnit, is_wire: bool) {
        self.groups.relate(a, b, is_wire);
    }

    /// Defers a contradiction between known units that the model does not state. It is accepted if
    /// something bare is related to `var`.
    pub(crate) fn doubt(&mut self, var: Var, cause: Cause, clash: Clash) {
        let (left, right) = (var.into(), var.into());
        self.deferred.push(Deferred { left, right, cause, clash, needs_others: true });
    }

    /// Returns the deferred contradictions that are errors: a unit of their group is stated, or the
    /// group lacks the other members that it needs. The others are accepted: in a group without
    /// stated units, times are numbers too.
    pub(crate) fn deferred(&mut self) -> Vec<(Cause, Clash)> {
        let mut clashes = Vec::new();
        for deferred in std::mem::take(&mut self.deferred) {
            let Deferred { left, right, cause, clash, needs_others } = deferred;
            let is_joined = |var| self.groups.is_joined(var);
            let has_others = !needs_others || left.only_var().is_some_and(is_joined);
            match has_others && self.groups.is_bare(&left, &right) {
                true => self.groups.accept(&left, &right),
                false => clashes.push((cause, clash)),
            }
        }
        clashes
    }

    /// Unit declared by a block, if it is known and not that of a bare number in equations without
    /// units.
    pub(crate) fn shown(&self, unit: &SymbolicUnit) -> Option<Unit> {
        let known = self.unit(unit)?.known()?;
        (known.is_stated() || !self.groups.is_number(unit)).then_some(known)
    }

    fn solve(&mut self, a: &SymbolicUnit, b: &SymbolicUnit, cause: Cause) -> Result<(), Clash> {
        let left = self.unit(a).ok_or(Clash::Range)?;
        let right = self.unit(b).ok_or(Clash::Range)?;
        if let (Some(left), Some(right)) = (left.known(), right.known()) {
            let agree = left.agrees(right);
            return if agree { Ok(()) } else { Err(Clash::Differ(left, right)) };
        }
        let quotient = left.over(&right).ok_or(Clash::Range)?;
        // Bare numbers pile up along a chain of gains; that so many stand for powers of time
        // is not a model.
        let bare = |var: &Var| self.is_bare(*var);
        if quotient.vars().filter(bare).count() > MOST_BARE {
            for var in quotient.vars().filter(bare).collect::<Vec<_>>() {
                let known = Known { unit: Unit::ONE.into(), cause: Cause::Bare(var) };
                self.known.get_mut()[var.0 as usize] = Some(known);
            }
            return self.solve(&left, &right, cause);
        }
        if let Some(factor) = quotient.known() {
            if factor.loosened().agrees(Unit::ONE) {
                return Ok(());
            }
            if factor.is_mechanical() {
                return Err(Clash::Factor(factor));
            }
            // Numbers that nobody gives a unit are those of a model without dimensions, in which
            // times are numbers too. It matters if a unit comes to be known.
            self.open.push((left, right, cause));
            return Ok(());
        }
        match quotient.solved(&|var| self.is_bare(var)) {
            Some((var, unit)) => {
                if self.is_bare(var)
                    && let Some(factor) = unit.known()
                    && factor.is_mechanical()
                {
                    return Err(Clash::Bare(var, factor));
                }
                let unit = unit.with_open_angle();
                self.known.get_mut()[var.0 as usize] = Some(Known { unit, cause });
            }
            None => self.open.push((left, right, cause)),
        }
        Ok(())
    }

    /// States that a variable is the unit of a factor that was written without one.
    pub(crate) fn bare(&mut self, var: Var) {
        self.bare[var.0 as usize] = true;
    }

    /// The unit if factors that were written without are pure numbers.
    pub(crate) fn without_bare(&self, unit: &SymbolicUnit) -> Option<Unit> {
        let unit = self.unit(unit)?;
        unit.vars().all(|var| self.is_bare(var)).then(|| unit.constant())
    }

    /// Takes factors without unit that nothing asks more of for pure numbers; what asks for more
    /// than a power of time.
    pub(crate) fn settle_bare(&mut self) -> Vec<(Cause, Clash)> {
        let mut clashes = Vec::new();
        for var in (0..self.bare.len() as u32).map(Var) {
            if !self.is_bare(var) {
                continue;
            }
            let Some(known) = self.known.get_mut()[var.0 as usize].clone() else {
                let unit = Unit::ONE.into();
                let cause = Cause::Bare(var);
                self.known.get_mut()[var.0 as usize] = Some(Known { unit, cause });
                continue;
            };
            let unit = self.unit(&known.unit).and_then(|unit| unit.known());
            if let Some(factor) = unit.filter(|unit| unit.is_mechanical()) {
                clashes.push((known.cause, Clash::Bare(var, factor)));
            }
        }
        clashes
    }

    /// Looks again at equations that had too many unknowns; what cannot hold.
    pub(crate) fn revisit(&mut self) -> Vec<(Cause, Clash)> {
        let mut clashes = Vec::new();
        loop {
            let open = std::mem::take(&mut self.open);
            let before = open.len();
            for (a, b, cause) in open {
                let fit = self.solve(&a, &b, cause);
                let fit = fit.or_else(|clash| self.defer(&a, &b, cause, clash));
                clashes.extend(fit.err().map(|clash| (cause, clash)));
            }
            if self.open.len() == before {
                return clashes;
            }
        }
    }

    /// What told the unit of a variable.
    pub(crate) fn cause(&self, var: Var) -> Option<Cause> {
        self.known.borrow()[var.0 as usize].as_ref().map(|known| known.cause)
    }
}

fn substituted(known: &[Option<Known>], unit: &SymbolicUnit) -> Option<SymbolicUnit> {
    unit.substitute(|var| Some(&known[var.0 as usize].as_ref()?.unit))
}

#[cfg(test)]
mod tests;
