//! Laws made of smooth pieces, under solvers that choose their own steps.
//!
//! An absolute value, a limit or a switch is smooth on each of its pieces. A solver that estimates
//! its error needs smooth functions, so a block remembers, as discrete state, the piece that each
//! element was on at the last major step: inside a step the law of that piece goes on, also beyond
//! its edge, and a guard is above zero once an element has left its piece. The step is cut where it
//! is (semantics 3.7), and the major step there picks the new piece. Simulink calls the pieces
//! *modes*. Under fixed steps, and in functions, nothing is remembered and the law is what it says
//! at every instant ([`Ports::pieces`](legwork_block::Ports::pieces)); but laws of the time alone hold
//! their pieces under every method with stages
//! ([`Ports::pieces_of_time`](legwork_block::Ports::pieces_of_time)).

/// Memory for the pieces of `len` elements; none where they are not located.
pub(crate) fn held(located: bool, len: usize) -> Vec<Piece> {
    if located { vec![Piece::Inside; len] } else { Vec::new() }
}

/// A guard's value from whether a piece was left and how far away its edge is: zero counts as
/// beyond the edge if it does not belong to the piece.
#[inline]
pub(crate) fn left(left: bool, distance: f64) -> f64 {
    let distance = distance.abs();
    if left { distance.max(f64::MIN_POSITIVE) } else { -distance }
}

/// Guard of an instant `at`: above zero from `at` on. If `behind` is true it never crosses.
pub(crate) fn passed(behind: bool, t: f64, at: f64) -> f64 {
    if behind { f64::NEG_INFINITY } else { left(t >= at, t - at) }
}

/// The greatest of several guards; NaN counts as no crossing.
pub(crate) fn furthest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::NEG_INFINITY, f64::max)
}

/// A function of each element that is smooth on three pieces: below an interval, inside it (both
/// ends included) and above it.
pub(crate) trait ThreePieces {
    /// The interval of element `i`.
    fn interval(&self, i: usize) -> (f64, f64);

    /// The law of piece `piece` of element `i`, at any u.
    fn law(&self, i: usize, piece: Piece, u: f64) -> f64;

    /// The slope of the law of a piece.
    fn slope(&self, piece: Piece) -> f64;

    /// The piece of element `i` at u; NaN counts as inside.
    #[inline]
    fn piece(&self, i: usize, u: f64) -> Piece {
        let (lower, upper) = self.interval(i);
        if u < lower {
            Piece::Below
        } else if u > upper {
            Piece::Above
        } else {
            Piece::Inside
        }
    }

    /// Writes the outputs: on the pieces `held`, if there are any and this is a minor step.
    #[inline]
    fn write(&self, minor: bool, held: &[Piece], u: &[f64], y: &mut [f64]) {
        if minor && !held.is_empty() {
            for (i, ((y, &u), &piece)) in y.iter_mut().zip(u).zip(held).enumerate() {
                *y = self.law(i, piece, u);
            }
        } else {
            self.write_unheld(u, y);
        }
    }

    /// Writes the outputs, each on the piece where its input is.
    #[inline]
    fn write_unheld(&self, u: &[f64], y: &mut [f64]) {
        for (i, (y, &u)) in y.iter_mut().zip(u).enumerate() {
            *y = self.law(i, self.piece(i, u), u);
        }
    }

    /// Notes the pieces of a major step.
    fn hold(&self, held: &mut [Piece], u: &[f64]) {
        for (i, (held, &u)) in held.iter_mut().zip(u).enumerate() {
            *held = self.piece(i, u);
        }
    }

    /// The guard: above zero once an element is beyond an edge of its piece. The edges belong to
    /// both neighbours, where the law does not jump.
    fn beyond(&self, held: &[Piece], u: &[f64]) -> f64 {
        furthest(
            held.iter().zip(u).enumerate().map(|(i, (&piece, &u))| piece.left(u, self.interval(i))),
        )
    }
}

/// Implements a block with the ports `u` and `y`. Its function `planned` makes its `Plan`, which is
/// [`ThreePieces`] with the ports `io` and with `located`, whether the pieces are located.
macro_rules! three_pieces {
    ($block:ident) => {
        const _: () = {
            use legwork_block::{Block, GuardCx, Outcome, OutputCx, Sizes, Slope, SlopesCx};
            use legwork_block::{UpdateCx, block};

            use crate::signal::pieces;
            use crate::signal::shape;

            #[block]
            impl Block for $block {
                type Plan = Plan;
                /// The pieces of the last major step.
                type State = Vec<Piece>;

                fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
                    self.planned(ports)
                }

                fn check(&self, plan: &Plan, sizes: &Sizes<'_>) -> Result<(), Invalid> {
                    shape::expect_numbers(sizes, plan.io.u)
                }

                fn state(&self, plan: &Plan, sizes: &Sizes<'_>) -> Vec<Piece> {
                    pieces::held(plan.located, sizes.output(plan.io.y))
                }

                fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
                    let u = cx.inputs.get(plan.io.u).leaf(0);
                    plan.write(cx.time.minor, cx.state, u, cx.outputs.get(plan.io.y));
                    Ok(())
                }

                /// On its piece each element has one slope; of an edge differences tell both.
                fn output_slopes(&self, plan: &Plan, cx: &mut SlopesCx<'_, Self>) -> Slope {
                    let u = cx.inputs.get(plan.io.u).leaf(0);
                    let is_held = cx.time.minor && !cx.state.is_empty();
                    let is_edge = |(i, u): (usize, &f64)| {
                        let (lower, upper) = plan.interval(i);
                        *u == lower || *u == upper
                    };
                    if !is_held && u.iter().enumerate().any(is_edge) {
                        return Slope::Unknown;
                    }
                    let (y, by) = (cx.slopes.rows(plan.io.y, 0), cx.slopes.columns(plan.io.u, 0));
                    cx.slopes.each(y, by, |i| {
                        let held = is_held.then(|| cx.state[i]);
                        plan.slope(held.unwrap_or_else(|| plan.piece(i, u[i])))
                    });
                    Slope::Exact
                }

                fn update(&self, plan: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
                    plan.hold(cx.state, cx.inputs.get(plan.io.u).leaf(0));
                    Ok(())
                }

                fn guard(&self, plan: &Plan, cx: &mut GuardCx<'_, Self>) {
                    cx.values.fill(plan.beyond(cx.state, cx.inputs.get(plan.io.u).leaf(0)));
                }
            }
        };
    };
}
pub(crate) use three_pieces;

/// Where an element of the input of [`ThreePieces`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Piece {
    /// Below the interval.
    Below,
    /// In it.
    Inside,
    /// Above it.
    Above,
}

impl Piece {
    /// Above zero once `u` is out of this piece by more than rounding makes of it. The law is
    /// continuous there, so that the edges belong to both neighbours.
    #[inline]
    pub(crate) fn left(self, u: f64, (lower, upper): (f64, f64)) -> f64 {
        match self {
            Self::Below => excess(u, lower),
            Self::Inside => excess(lower, u).max(excess(u, upper)),
            Self::Above => excess(upper, u),
        }
    }
}

/// How far `a` is above `b`, less what rounding may make of two numbers that are meant to be equal:
/// without this a signal that stays on an edge would cross it without end.
#[inline]
pub(crate) fn excess(a: f64, b: f64) -> f64 {
    a - b - 16.0 * f64::EPSILON * (a.abs() + b.abs())
}
