//! The derivative of a running expression, by going back through its instructions.
//!
//! Reverse accumulation (A. Griewank, A. Walther, *Evaluating Derivatives*, 2nd ed., sec. 3.2): one
//! pass forward notes the partial derivatives of each instruction, one back adds up how the result
//! depends on each. The cost is that of the instructions, however many signals there are.

use super::compile::Compiled;
use super::operator::{Binary, Op, Unary};

/// An instruction that was carried out: its value, where its operands lie among those before, and
/// the partial derivatives over them.
struct Done {
    value: f64,
    operands: [(usize, f64); 2],
    /// The slot that it reads, if it reads one that moves.
    slot: Option<usize>,
    /// Whether a signal that moves is behind it.
    moves: bool,
}

impl Done {
    fn constant(value: f64) -> Self {
        Self { value, operands: [(0, 0.0); 2], slot: None, moves: false }
    }
}

impl Compiled {
    /// The slopes over the signals of the slots that `moves` says, of element `element`: pairs of a
    /// slot and a slope, those of one slot to be added up. `read` and `decide` are as those of
    /// [`Compiled::eval_deciding_at`]. Nothing if the expression has a kink or a jump right here.
    pub fn slopes_at(
        &self,
        element: usize,
        read: impl Fn(usize) -> f64,
        moves: impl Fn(usize) -> bool,
        mut decide: impl FnMut(usize, f64, bool) -> bool,
    ) -> Option<Vec<(usize, f64)>> {
        let mut done: Vec<Done> = Vec::with_capacity(self.ops().len());
        let mut stack: Vec<usize> = Vec::new();
        let mut decisions = 0;
        let load = |slot: usize| {
            let moves = moves(slot);
            Done { slot: moves.then_some(slot), moves, ..Done::constant(read(slot)) }
        };
        for op in self.ops() {
            // A program is complete: what an instruction takes has been pushed.
            let mut pop = || stack.pop().unwrap_or_default();
            let next = match *op {
                Op::Push(value) => Done::constant(value),
                Op::Load(slot) => load(slot as usize),
                Op::LoadEach(slot) => load(slot as usize + element),
                Op::Unary(op) => {
                    let a = pop();
                    let (x, moves) = (done[a].value, done[a].moves);
                    let slope = if moves { unary(op, x)? } else { 0.0 };
                    Done { operands: [(a, slope), (0, 0.0)], moves, ..Done::constant(op.apply(x)) }
                }
                Op::Binary(op) => {
                    let (b, a) = (pop(), pop());
                    let (x, y) = (done[a].value, done[b].value);
                    let moving = (done[a].moves, done[b].moves);
                    let (by_x, by_y) = binary(op, (x, y), moving)?;
                    Done {
                        operands: [(a, by_x), (b, by_y)],
                        moves: moving.0 || moving.1,
                        ..Done::constant(op.apply(x, y))
                    }
                }
                Op::Compare(op, _) => {
                    let (b, a) = (pop(), pop());
                    let (x, y) = (done[a].value, done[b].value);
                    if x == y && (done[a].moves || done[b].moves) {
                        return None;
                    }
                    let truth = op.apply(x, y) != 0.0;
                    let truth = if op.is_by_size() {
                        decisions += 1;
                        decide(decisions - 1, x - y, truth)
                    } else {
                        truth
                    };
                    Done::constant(f64::from(u8::from(truth)))
                }
                Op::Select => {
                    let (b, a, condition) = (pop(), pop(), pop());
                    let chosen = if done[condition].value != 0.0 { a } else { b };
                    let Done { value, moves, .. } = done[chosen];
                    Done { operands: [(chosen, 1.0), (0, 0.0)], moves, ..Done::constant(value) }
                }
            };
            stack.push(done.len());
            done.push(next);
        }
        let mut slopes = Vec::new();
        let mut shares = vec![0.0; done.len()];
        if let Some(last) = shares.last_mut() {
            *last = 1.0;
        }
        for (i, one) in done.iter().enumerate().rev() {
            let share = shares[i];
            if share == 0.0 || !one.moves {
                continue;
            }
            slopes.extend(one.slot.map(|slot| (slot, share)));
            for (operand, slope) in one.operands {
                if slope != 0.0 {
                    shares[operand] += share * slope;
                }
            }
        }
        Some(slopes)
    }
}

/// The slope of an operation at `x`; none at a kink or a jump.
fn unary(op: Unary, x: f64) -> Option<f64> {
    Some(match op {
        Unary::Negate => -1.0,
        Unary::Not => 0.0,
        Unary::Abs | Unary::Sign if x == 0.0 => return None,
        Unary::Abs => x.signum(),
        Unary::Sqrt => 0.5 / libm::sqrt(x),
        Unary::Exp => libm::exp(x),
        Unary::Log => 1.0 / x,
        Unary::Sin => libm::cos(x),
        Unary::Cos => -libm::sin(x),
        Unary::Tan => 1.0 + libm::tan(x) * libm::tan(x),
        Unary::Asin => 1.0 / libm::sqrt(1.0 - x * x),
        Unary::Acos => -1.0 / libm::sqrt(1.0 - x * x),
        Unary::Atan => 1.0 / (1.0 + x * x),
        Unary::Tanh => 1.0 - libm::tanh(x) * libm::tanh(x),
        Unary::Floor | Unary::Ceil if x == libm::floor(x) => return None,
        Unary::Round if x + 0.5 == libm::floor(x + 0.5) => return None,
        Unary::Sign | Unary::Floor | Unary::Ceil | Unary::Round => 0.0,
    })
}

/// The slopes of an operation over its two numbers, as far as they move; none at a kink or a jump.
fn binary(op: Binary, (x, y): (f64, f64), (of_x, of_y): (bool, bool)) -> Option<(f64, f64)> {
    if !of_x && !of_y {
        return Some((0.0, 0.0));
    }
    let (by_x, by_y) = match op {
        Binary::Add => (1.0, 1.0),
        Binary::Subtract => (1.0, -1.0),
        Binary::Multiply => (y, x),
        Binary::Divide => (1.0 / y, -x / (y * y)),
        Binary::Power => {
            let by_x = match y {
                0.0 => 0.0,
                y => y * libm::pow(x, y - 1.0),
            };
            (by_x, if of_y { libm::pow(x, y) * libm::log(x) } else { 0.0 })
        }
        Binary::Min | Binary::Max if x == y => return None,
        Binary::Min if x < y => (1.0, 0.0),
        Binary::Max if x > y => (1.0, 0.0),
        Binary::Min | Binary::Max => (0.0, 1.0),
        Binary::Atan2 => {
            let square = x * x + y * y;
            (y / square, -x / square)
        }
        Binary::Mod => {
            let whole = libm::floor(x / y);
            if whole * y == x {
                return None;
            }
            (1.0, -whole)
        }
        Binary::Less
        | Binary::LessEqual
        | Binary::Greater
        | Binary::GreaterEqual
        | Binary::Equal
        | Binary::NotEqual
        | Binary::And
        | Binary::Or => (0.0, 0.0),
    };
    Some((if of_x { by_x } else { 0.0 }, if of_y { by_y } else { 0.0 }))
}
