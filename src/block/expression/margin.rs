//! How far a condition is from changing: margins of its comparisons.
//!
//! The margin of `a < b` is b − a, of `a > b` a − b, of `a == b` −|a − b|, of `a != b` |a − b|. It
//! is positive inside the bound, negative beyond it, and infinite where one of them is NaN.
//! `a and b` has the tighter of two margins, `a or b` the looser, `not a` the negative (A. Donzé
//! and O. Maler, *Robust satisfaction of temporal logic over real-valued signals*, 2010, def. 4).

use serde::{Deserialize, Serialize};

use super::compile::{Compiled, SMALL, STACK};
use super::operator::{Binary, Op, Unary};
use crate::unit::Unit;

/// A comparison of a condition with the numbers that it compared.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Left side.
    left: f64,
    /// Right side.
    right: f64,
    /// How far it is from its bound, negative beyond it.
    margin: f64,
    /// Place of its instruction.
    place: u32,
    /// Whether a `not` around it turns it round.
    negated: bool,
}

/// A condition at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    /// Whether it holds.
    pub holds: bool,
    /// The comparison that decides, if one does: the tightest of several that must hold.
    pub decisive: Option<Comparison>,
}

/// A comparison in words: `measured sign bound`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Measured {
    /// The side that signals change.
    pub measured: f64,
    /// The sign between them, such as `<`.
    pub sign: &'static str,
    /// The other side.
    pub bound: f64,
    /// How far it is from the bound, with the tolerance; negative beyond it.
    pub margin: f64,
    /// The unit of the three, if it is known.
    pub unit: Option<Unit>,
}

impl Comparison {
    fn of(place: usize, op: Binary, left: f64, right: f64) -> Self {
        let margin = match op {
            Binary::Less | Binary::LessEqual => right - left,
            Binary::Greater | Binary::GreaterEqual => left - right,
            Binary::NotEqual => (left - right).abs(),
            _ => -(left - right).abs(),
        };
        let margin = match margin.is_nan() {
            // What is no number is beyond every bound and every tolerance.
            true if left.is_nan() || right.is_nan() => {
                if op.apply(left, right) == 0.0 {
                    f64::NEG_INFINITY
                } else {
                    f64::INFINITY
                }
            }
            // Two infinities of one sign are as far apart as equal numbers.
            true => 0.0,
            false => margin,
        };
        Self { left, right, margin, place: place as u32, negated: false }
    }

    /// How far it is from its bound, negative beyond it.
    pub fn margin(&self) -> f64 {
        self.margin
    }

    fn negated(self) -> Self {
        Self { margin: -self.margin, negated: !self.negated, ..self }
    }

    /// The margin as a share of the larger side.
    pub fn share(&self) -> f64 {
        let size = self.left.abs().max(self.right.abs());
        if size > 0.0 && size.is_finite() { self.margin / size } else { self.margin.signum() }
    }
}

/// Whether all comparisons of a program must hold for it to hold.
pub(super) fn is_conjunction(ops: &[Op]) -> bool {
    let first = ops.iter().position(|op| matches!(op, Op::Compare(..)));
    let combines = |op: &Op| {
        let of_truths = [Binary::Or, Binary::Equal, Binary::NotEqual].map(Op::Binary);
        matches!(op, Op::Select | Op::Unary(Unary::Not)) || of_truths.contains(op)
    };
    first.is_none_or(|first| !ops[first..].iter().any(combines))
}

impl Compiled {
    /// Whether a condition holds, and the comparison that decides it. `read` is that of
    /// [`Compiled::eval`]. Does not allocate.
    #[inline]
    pub fn judge(&self, read: impl Fn(usize) -> f64) -> Judged {
        if !self.conjunction {
            return match self.need {
                0..=SMALL => self.judge_in(&mut [(0.0, None); SMALL], read),
                _ => self.judge_in(&mut [(0.0, None); STACK], read),
            };
        }
        let mut decisive: Option<Comparison> = None;
        let value = self.eval_by(0, read, |place, op, left, right| {
            let found = Comparison::of(place, op, left, right);
            if decisive.is_none_or(|known| self.is_tighter(&found, &known)) {
                decisive = Some(found);
            }
            op.apply(left, right)
        });
        let holds = value != 0.0;
        // A truth value that is no comparison may be what does not hold.
        let decides = |one: &Comparison| holds || !self.holds(one);
        Judged { holds, decisive: decisive.filter(decides) }
    }

    /// Whether `a` is nearer to its bound than `b`, or further beyond it: by margins of one unit,
    /// else by margins as shares of what is compared.
    pub fn is_tighter(&self, a: &Comparison, b: &Comparison) -> bool {
        if a.place == b.place || self.unit_of(a) == self.unit_of(b) {
            a.margin < b.margin
        } else {
            a.share() < b.share()
        }
    }

    /// The unit of what a comparison compares, if it is known.
    pub fn unit_of(&self, one: &Comparison) -> Option<Unit> {
        match self.ops().get(one.place as usize) {
            Some(Op::Compare(_, unit)) => *unit,
            _ => None,
        }
    }

    /// The units of all comparisons.
    pub fn compared_units(&self) -> impl Iterator<Item = Option<Unit>> + '_ {
        self.ops().iter().filter_map(|op| match op {
            Op::Compare(_, unit) => Some(*unit),
            _ => None,
        })
    }

    /// A comparison in words, by a tolerance.
    pub fn measured(&self, one: &Comparison, tolerance: f64) -> Measured {
        let (mut op, mut is_mirrored) = (self.comparison(one), false);
        self.follow(
            |_| false,
            |place, _, left, right| {
                if place == one.place as usize {
                    is_mirrored = left && !right;
                }
            },
        );
        if one.negated {
            op = op.opposite().unwrap_or(op);
        }
        let (measured, bound) =
            if is_mirrored { (one.right, one.left) } else { (one.left, one.right) };
        if is_mirrored {
            op = op.mirrored();
        }
        let sign = op.sign().unwrap_or_default();
        Measured { measured, sign, bound, margin: one.margin + tolerance, unit: self.unit_of(one) }
    }

    fn comparison(&self, one: &Comparison) -> Binary {
        match self.ops().get(one.place as usize) {
            Some(Op::Compare(op, _)) => *op,
            _ => Binary::Equal,
        }
    }

    fn holds(&self, one: &Comparison) -> bool {
        (self.comparison(one).apply(one.left, one.right) != 0.0) != one.negated
    }

    fn judge_in(
        &self,
        stack: &mut [(f64, Option<Comparison>)],
        read: impl Fn(usize) -> f64,
    ) -> Judged {
        let mut top = 0;
        for (place, op) in self.ops().iter().enumerate() {
            match *op {
                Op::Push(value) => {
                    stack[top] = (value, None);
                    top += 1;
                }
                Op::Load(slot) => {
                    stack[top] = (read(slot as usize), None);
                    top += 1;
                }
                // A condition is one program, no program of each.
                Op::LoadEach(slot) => {
                    stack[top] = (read(slot as usize), None);
                    top += 1;
                }
                Op::Unary(op) => {
                    let (value, part) = stack[top - 1];
                    let part = part.filter(|_| op == Unary::Not).map(Comparison::negated);
                    stack[top - 1] = (op.apply(value), part);
                }
                Op::Binary(op) => {
                    top -= 1;
                    let (a, b) = (stack[top - 1], stack[top]);
                    stack[top - 1] = (op.apply(a.0, b.0), self.joined(op, a, b));
                }
                Op::Compare(op, _) => {
                    top -= 1;
                    let (a, b) = (stack[top - 1].0, stack[top].0);
                    stack[top - 1] = (op.apply(a, b), Some(Comparison::of(place, op, a, b)));
                }
                Op::Select => {
                    top -= 2;
                    let chosen = if stack[top - 1].0 != 0.0 { top } else { top + 1 };
                    stack[top - 1] = stack[chosen];
                }
            }
        }
        Judged { holds: stack[0].0 != 0.0, decisive: stack[0].1 }
    }

    /// What decides two conditions together; nothing if that is no comparison.
    fn joined(
        &self,
        op: Binary,
        (a_value, a): (f64, Option<Comparison>),
        (b_value, b): (f64, Option<Comparison>),
    ) -> Option<Comparison> {
        let is_and = match op {
            Binary::And => true,
            Binary::Or => false,
            _ => return None,
        };
        match (a, b) {
            (Some(a), Some(b)) => {
                let (a_holds, b_holds) = (self.holds(&a), self.holds(&b));
                let tighter = if a_holds == b_holds { self.is_tighter(&a, &b) } else { b_holds };
                Some(if tighter == is_and { a } else { b })
            }
            // A truth value that is no comparison decides alone, or not at all.
            (None, found) if (a_value != 0.0) == is_and => found,
            (found, None) if (b_value != 0.0) == is_and => found,
            _ => None,
        }
    }
}
