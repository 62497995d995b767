//! Equations between types, dimensions and bus arguments, and their solution.

use std::cell::Cell;
use std::sync::Arc;

use legwork_block::{Arg, BusType, Dim, Type, Var};

use crate::units::UnitSolution;

/// Variables that are equal: each leads to one that stands for all of its set.
#[derive(Default)]
pub(crate) struct Equal {
    towards: Vec<Cell<u32>>,
}

impl Equal {
    /// Makes room for the variables below `count`.
    pub(crate) fn grow(&mut self, count: usize) {
        let known = self.towards.len() as u32;
        self.towards.extend((known..count as u32).map(Cell::new));
    }

    /// The variable that stands for the set of `var`. Ways are shortened as they are walked, so
    /// that chains of equal variables cost no more than stars.
    pub(crate) fn of(&self, var: Var) -> Var {
        let mut at = var.0;
        loop {
            let next = self.towards[at as usize].get();
            if next == at {
                return Var(at);
            }
            self.towards[at as usize].set(self.towards[next as usize].get());
            at = next;
        }
    }

    /// Makes `other` stand for the set of `var`, which stands for its own.
    pub(crate) fn join(&self, var: Var, other: Var) {
        self.towards[var.0 as usize].set(other.0);
    }
}

/// What inference knows of every variable.
#[derive(Default)]
pub(crate) struct Solution {
    /// Of variables that stand for a set.
    types: Vec<Option<Type>>,
    equal_types: Equal,
    /// Of variables that stand for a set.
    dims: Vec<Option<Dim>>,
    equal_dims: Equal,
    args: Vec<Option<Arg>>,
    pub(crate) units: UnitSolution,
    /// Dimension equations `dim = 0` with more than one unknown, to look at again.
    open: Vec<Dim>,
    /// How many facts were learnt, to see whether a round brought any.
    pub(crate) learnt: usize,
}

/// Two things that do not fit, innermost first.
#[derive(Debug, Clone)]
pub(crate) struct Mismatch {
    /// What differs, if it lies inside the two types.
    pub(crate) inside: Option<String>,
}

type Fit = Result<(), Mismatch>;

const DIFFERENT: Mismatch = Mismatch { inside: None };

impl Solution {
    /// Room for the variables up to `count`.
    pub(crate) fn grow(&mut self, count: u32) {
        let n = count as usize;
        self.types.resize(n, None);
        self.dims.resize(n, None);
        self.args.resize(n, None);
        self.units.grow(n);
        self.equal_types.grow(n);
        self.equal_dims.grow(n);
    }

    /// The type with everything known put in.
    pub(crate) fn ty(&self, ty: &Type) -> Type {
        ty.map(&|dim| self.dim(dim), &|var| self.type_var(var), &|arg| self.arg(arg))
    }

    fn type_var(&self, var: Var) -> Type {
        let var = self.equal_types.of(var);
        match &self.types[var.0 as usize] {
            Some(ty) => self.ty(ty),
            None => Type::Var(var),
        }
    }

    /// The dimension with everything known put in.
    pub(crate) fn dim(&self, dim: &Dim) -> Dim {
        if dim.terms.is_empty() {
            return dim.clone();
        }
        dim.substitute(&|var| {
            let root = self.equal_dims.of(var);
            match &self.dims[root.0 as usize] {
                Some(known) => Some(self.dim(known)),
                None => (root != var).then(|| Dim::var(root)),
            }
        })
    }

    /// The number that a dimension is, if it is known.
    pub(crate) fn size(&self, var: Var) -> Option<usize> {
        self.dim(self.dims[self.equal_dims.of(var).0 as usize].as_ref()?).known()
    }

    fn arg(&self, arg: &Arg) -> Arg {
        match arg {
            Arg::Var(var) => match &self.args[var.0 as usize] {
                Some(known) => self.arg(known),
                None => Arg::Var(*var),
            },
            Arg::Name(_) => arg.clone(),
        }
    }

    /// Makes two types equal.
    pub(crate) fn types(&mut self, a: &Type, b: &Type) -> Fit {
        let (a, b) = (self.shallow(a), self.shallow(b));
        match (&a, &b) {
            (Type::Var(x), Type::Var(y)) => {
                if x != y {
                    self.equal_types.join(*x, *y);
                    self.learnt += 1;
                }
                Ok(())
            }
            (Type::Var(x), other) | (other, Type::Var(x)) => {
                if self.mentions(other, *x) {
                    return Err(DIFFERENT);
                }
                self.types[x.0 as usize] = Some(other.clone());
                self.learnt += 1;
                Ok(())
            }
            (Type::Real, Type::Real)
            | (Type::Bool, Type::Bool)
            | (Type::Int, Type::Int)
            | (Type::Rotation, Type::Rotation)
            | (Type::Pose, Type::Pose) => Ok(()),
            (Type::Vector(n), Type::Vector(m)) => self.dims(n, m),
            (Type::Matrix(r, c), Type::Matrix(s, d)) => self.dims(r, s).and(self.dims(c, d)),
            (Type::Array(x, n), Type::Array(y, m)) => {
                self.dims(n, m)?;
                self.types(x, y)
            }
            (Type::Bus(x), Type::Bus(y)) => self.buses(x, y),
            _ => Err(DIFFERENT),
        }
    }

    fn shallow(&self, ty: &Type) -> Type {
        let Type::Var(var) = ty else { return ty.clone() };
        let var = self.equal_types.of(*var);
        self.types[var.0 as usize].clone().unwrap_or(Type::Var(var))
    }

    /// Whether `ty` holds the variable `var`, which stands for its set.
    fn mentions(&self, ty: &Type, var: Var) -> bool {
        match ty {
            Type::Var(other) => {
                let other = self.equal_types.of(*other);
                let known = self.types[other.0 as usize].as_ref();
                other == var || known.is_some_and(|ty| self.mentions(ty, var))
            }
            Type::Array(of, _) => self.mentions(of, var),
            Type::Bus(bus) => bus.fields.iter().any(|field| self.mentions(&field.ty, var)),
            _ => false,
        }
    }

    fn buses(&mut self, x: &Arc<BusType>, y: &Arc<BusType>) -> Fit {
        if Arc::ptr_eq(x, y) {
            return Ok(());
        }
        if x.name != y.name || x.args.len() != y.args.len() || x.fields.len() != y.fields.len() {
            return Err(DIFFERENT);
        }
        for (a, b) in x.args.iter().zip(&y.args) {
            self.args(a, b)?;
        }
        for (a, b) in x.fields.iter().zip(&y.fields) {
            if a.name != b.name {
                return Err(DIFFERENT);
            }
            self.types(&a.ty, &b.ty).map_err(|deeper| Mismatch {
                inside: Some(deeper.inside.unwrap_or_else(|| {
                    format!("field `{}`: {} against {}", a.name, self.ty(&a.ty), self.ty(&b.ty))
                })),
            })?;
        }
        Ok(())
    }

    fn args(&mut self, a: &Arg, b: &Arg) -> Fit {
        match (self.arg(a), self.arg(b)) {
            (Arg::Name(x), Arg::Name(y)) if x == y => Ok(()),
            (Arg::Name(_), Arg::Name(_)) => Err(DIFFERENT),
            (Arg::Var(x), Arg::Var(y)) if x == y => Ok(()),
            (Arg::Var(x), other) | (other, Arg::Var(x)) => {
                self.args[x.0 as usize] = Some(other);
                self.learnt += 1;
                Ok(())
            }
        }
    }

    /// Makes two dimensions equal.
    pub(crate) fn dims(&mut self, a: &Dim, b: &Dim) -> Fit {
        let equation = self.dim(&a.clone().plus(-1, b));
        self.solve(equation)
    }

    /// `equation = 0`.
    fn solve(&mut self, equation: Dim) -> Fit {
        match equation.terms.as_slice() {
            [] if equation.constant == 0 => Ok(()),
            [] => Err(DIFFERENT),
            [(coefficient, var)] => {
                let value = -equation.constant;
                if value % coefficient != 0 || value / coefficient < 0 {
                    return Err(DIFFERENT);
                }
                self.dims[var.0 as usize] = Some(Dim::fixed((value / coefficient) as usize));
                self.learnt += 1;
                Ok(())
            }
            [(a, x), (b, y)] if equation.constant == 0 && *a == -b => {
                self.equal_dims.join(*x, *y);
                self.learnt += 1;
                Ok(())
            }
            terms => {
                // A variable with coefficient ±1 can be written by the others.
                if let Some(&(coefficient, var)) = terms.iter().find(|(c, _)| c.abs() == 1) {
                    let rest = Dim {
                        constant: equation.constant,
                        terms: terms.iter().copied().filter(|&(_, v)| v != var).collect(),
                    };
                    self.dims[var.0 as usize] = Some(Dim::default().plus(-coefficient, &rest));
                    self.learnt += 1;
                } else {
                    self.open.push(equation);
                }
                Ok(())
            }
        }
    }

    /// Looks again at equations that had too many unknowns.
    pub(crate) fn revisit(&mut self) -> Fit {
        for equation in std::mem::take(&mut self.open) {
            let equation = self.dim(&equation);
            self.solve(equation)?;
        }
        Ok(())
    }
}

/// A type for people: what is not known yet reads `any`.
pub(crate) fn readable(ty: &Type) -> String {
    let text = ty.to_string();
    let mut out = String::new();
    let mut rest = text.as_str();
    let is_dimension = |c: char| c.is_ascii_digit() || "?*+- ".contains(c);
    while !rest.is_empty() {
        let len = rest.find(|c| !is_dimension(c)).unwrap_or(rest.len());
        let (run, after) = rest.split_at(len);
        if run.contains('?') {
            out.push_str(if run.starts_with(' ') { " any" } else { "any" });
        } else {
            out.push_str(run);
        }
        let next = after.find(is_dimension).unwrap_or(after.len());
        out.push_str(&after[..next]);
        rest = &after[next..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_are_equal_get_one_value_in_any_order() {
        let count = 1000;
        for backwards in [false, true] {
            let mut solution = Solution::default();
            solution.grow(count);
            let mut pairs: Vec<u32> = (1..count).collect();
            if backwards {
                pairs.reverse();
            }
            for i in pairs {
                let (a, b) = (Var(i - 1), Var(i));
                assert!(solution.types(&Type::Var(a), &Type::Var(b)).is_ok());
                assert!(solution.dims(&Dim::var(a), &Dim::var(b)).is_ok());
            }
            let middle = Var(count / 2);
            assert!(solution.types(&Type::Var(middle), &Type::Bool).is_ok());
            assert!(solution.dims(&Dim::var(middle), &Dim::fixed(7)).is_ok());
            for var in (0..count).map(Var) {
                assert_eq!(solution.ty(&Type::Var(var)), Type::Bool);
                assert_eq!(solution.dim(&Dim::var(var)).known(), Some(7));
            }
        }
    }

    #[test]
    fn a_type_does_not_hold_itself() {
        let mut solution = Solution::default();
        solution.grow(2);
        let (a, b) = (Type::Var(Var(0)), Type::Var(Var(1)));
        assert!(solution.types(&a, &b).is_ok());
        assert!(solution.types(&a, &Type::array(b, 2)).is_err());
    }

    #[test]
    fn unknown_dimensions_read_any() {
        let n = Dim::var(Var(6));
        assert_eq!(readable(&Type::Vector(n.clone().plus(-2, &Dim::var(Var(11))))), "Vector(any)");
        assert_eq!(readable(&Type::matrix(3, n)), "Matrix(3, any)");
        assert_eq!(readable(&Type::array(Type::vector(12), 4)), "Array(Vector(12), 4)");
    }
}
