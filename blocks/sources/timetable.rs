//! Values over time, from parameters or a file.

use legwork_block::{Ports, Time, parameters};
use serde::{Deserialize, Serialize};

use crate::signal::pieces;
use crate::signal::table::{Axis, Interpolation, Outside};

/// What comes after the last time of a table.
#[parameters]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum After {
    /// The last values.
    #[default]
    Hold,
    /// The table again: its last time is the first of the next turn.
    Repeat,
}

/// Values at rising times.
pub(super) struct Timetable {
    times: Axis,
    start: f64,
    /// Row after row.
    rows: Vec<f64>,
    width: usize,
}

impl Timetable {
    /// The table of `rows`, of `width` values for each of the `times`.
    ///
    /// # Errors
    /// If times do not rise, or there are less than two.
    pub(super) fn new(times: Vec<f64>, rows: Vec<f64>, width: usize) -> Result<Self, String> {
        let start = times.first().copied().unwrap_or(0.0);
        Ok(Self { times: Axis::of(times)?, start, rows, width })
    }

    /// A warning if a run from 0 to `stop` [s] uses only the first or only the last values.
    pub(super) fn apart_from_run(&self, after: After, stop: Option<f64>) -> Option<String> {
        let (start, end, stop) = (self.start, self.times.last(), stop?);
        let held = match (start > stop, end < 0.0 && after == After::Hold) {
            (true, _) => "first",
            (_, true) => "last",
            _ => return None,
        };
        Some(format!(
            "the table goes from {start} s to {end} s, and the run from 0 s to {stop} s: only the \
             {held} values are played"
        ))
    }

    /// Writes the values at `t`. Before the first time these are the first.
    pub(super) fn values(&self, t: f64, between: Interpolation, after: After, y: &mut [f64]) {
        let (start, end) = (self.start, self.times.last());
        let t = match after {
            After::Repeat if t > start => start + libm::fmod(t - start, end - start),
            _ => t,
        };
        let Some(at) = self.times.find(t, between, Outside::Clip) else { return };
        let row = |i: usize| &self.rows[i * self.width..(i + 1) * self.width];
        for ((y, a), b) in y.iter_mut().zip(row(at.index)).zip(row(at.index + 1)) {
            *y = at.mix(*a, *b);
        }
    }

    /// The smooth piece that begins at or before `t` and ends after it.
    pub(super) fn piece(&self, t: f64, between: Interpolation, after: After) -> Span {
        let points = self.times.points();
        let (start, end) = (self.start, self.times.last());
        let period = end - start;
        let mut turn = match after {
            After::Repeat if t > start => ((t - start) / period).floor(),
            _ => 0.0,
        };
        // The division rounds; the turn must not be over at `t`.
        while after == After::Repeat && start + (turn + 1.0) * period <= t {
            turn += 1.0;
        }
        let shift = turn * period;
        let begun = points.partition_point(|point| point + shift <= t);
        let next = |edge: Option<f64>| edge.map_or(f64::INFINITY, |edge| edge + shift);
        if begun == 0 {
            return Span { index: 0, share: Some(0.0), shift, until: next(Some(start)) };
        }
        if begun == points.len() {
            // Rounding has put the end of a turn at `t`; or the last values hold.
            let until = if after == After::Repeat { start + shift + period } else { f64::INFINITY };
            return Span { index: begun - 2, share: Some(1.0), shift, until };
        }
        let (index, until) = (begun - 1, next(points.get(begun).copied()));
        let until = match after {
            After::Repeat if begun + 1 == points.len() => start + (turn + 1.0) * period,
            _ => until,
        };
        match between {
            Interpolation::Linear => Span { index, share: None, shift, until },
            Interpolation::Below => Span { index, share: Some(0.0), shift, until },
            Interpolation::Nearest => {
                let half = 0.5 * (points[index] + points[begun]) + shift;
                if half <= t {
                    Span { index, share: Some(1.0), shift, until }
                } else {
                    Span { index, share: Some(0.0), shift, until: half.min(until) }
                }
            }
        }
    }

    /// Whether it is a piece of this table.
    pub(super) fn has(&self, span: &Span) -> bool {
        span.index < self.times.points().len() - 1
    }

    /// Writes the values that the law of a piece has at `t`, also outside the piece.
    pub(super) fn values_on(&self, span: &Span, t: f64, y: &mut [f64]) {
        let points = self.times.points();
        let (low, high) = (points[span.index], points[span.index + 1]);
        let share = span.share.unwrap_or((t - span.shift - low) / (high - low));
        let row = |i: usize| &self.rows[i * self.width..(i + 1) * self.width];
        for ((y, a), b) in y.iter_mut().zip(row(span.index)).zip(row(span.index + 1)) {
            *y = if share == 1.0 { *b } else { a + share * (b - a) };
        }
    }
}

/// A table as a source plays it. The piece of the last major step is held over minor ones; its end
/// is a guard where a variable step may be cut.
pub(super) struct Player {
    table: Timetable,
    between: Interpolation,
    after: After,
    /// Whether pieces are held.
    located: bool,
}

impl Player {
    pub(super) fn new(
        table: Timetable,
        between: Interpolation,
        after: After,
        ports: &mut Ports<'_>,
    ) -> Self {
        Self { table, between, after, located: ports.pieces_of_time() }
    }

    /// The piece at t = 0, if pieces are held: the source's state.
    pub(super) fn begin(&self) -> Option<Span> {
        self.located.then(|| self.piece(0.0))
    }

    fn piece(&self, t: f64) -> Span {
        self.table.piece(t, self.between, self.after)
    }

    /// Writes the values at `time`, where `held` is the piece of the last major step.
    pub(super) fn play(&self, held: Option<&Span>, time: Time, y: &mut [f64]) {
        match held {
            None => self.table.values(time.t, self.between, self.after, y),
            Some(held) if time.minor => self.table.values_on(held, time.t, y),
            Some(_) => self.table.values_on(&self.piece(time.t), time.t, y),
        }
    }

    /// Whether it is a piece of the table.
    pub(super) fn has(&self, span: &Span) -> bool {
        self.table.has(span)
    }

    /// Goes on to the piece at `t`.
    pub(super) fn go_on(&self, held: &mut Option<Span>, t: f64) {
        if let Some(span) = held {
            *span = self.piece(t);
        }
    }
}

/// Implements a source with the port `y`. Its function `planned` makes its `Plan`: the ports `io`
/// and the `player`.
macro_rules! played {
    ($block:ident) => {
        const _: () = {
            use legwork_block::{Block, GuardCx, Outcome, OutputCx, Sizes, UpdateCx, block};

            use crate::sources::timetable::Span;

            #[block]
            impl Block for $block {
                type Plan = Plan;
                /// The piece of the last major step, if there are minor ones.
                type State = Option<Span>;

                fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
                    ports.rate(legwork_block::RateRule::Continuous);
                    self.planned(ports)
                }

                fn state(&self, plan: &Plan, _: &Sizes<'_>) -> Option<Span> {
                    plan.player.begin()
                }

                fn accepts(&self, plan: &Plan, held: &Option<Span>) -> bool {
                    held.as_ref().is_none_or(|span| plan.player.has(span))
                }

                fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
                    plan.player.play(cx.state.as_ref(), cx.time, cx.outputs.get(plan.io.y));
                    Ok(())
                }

                fn update(&self, plan: &Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
                    plan.player.go_on(cx.state, cx.time.t);
                    Ok(())
                }

                fn guard(&self, _: &Plan, cx: &mut GuardCx<'_, Self>) {
                    cx.values.fill(cx.state.as_ref().map_or(-1.0, |span| span.ended(cx.time.t)));
                }
            }
        };
    };
}
pub(super) use played;

/// A smooth piece of a table over time: a line or a constant.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// The interval of the table.
    index: usize,
    /// How far between its ends the value is, if it stays there.
    share: Option<f64>,
    /// Time of the table's turns before this one [s].
    shift: f64,
    /// When the piece ends [s].
    until: f64,
}

impl Span {
    /// The guard of the end of the piece.
    pub(super) fn ended(&self, t: f64) -> f64 {
        match self.until {
            f64::INFINITY => f64::NEG_INFINITY,
            until => pieces::passed(false, t, until),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Timetable {
        Timetable::new(vec![0.5, 1.2, 1.9, 3.3], vec![1.0, 4.0, -2.0, 0.5], 1).expect("a table")
    }

    /// Piece after piece the law is that of the table, and every piece ends later than it begins.
    #[test]
    fn pieces_cover_the_time_without_gaps() {
        let table = table();
        for between in [Interpolation::Linear, Interpolation::Nearest, Interpolation::Below] {
            for after in [After::Hold, After::Repeat] {
                let (mut t, mut count) = (0.0, 0);
                while t < 30.0 {
                    let span = table.piece(t, between, after);
                    assert!(span.until > t, "{between:?} {after:?}: {span:?} at {t}");
                    let end = span.until.min(30.0);
                    for share in [0.001, 0.5, 0.999] {
                        let inside = t + share * (end - t);
                        let (mut on, mut whole) = ([0.0], [0.0]);
                        table.values_on(&span, inside, &mut on);
                        table.values(inside, between, after, &mut whole);
                        let wrong = (on[0] - whole[0]).abs();
                        assert!(wrong < 1e-12, "{between:?} {after:?}: {span:?} at {inside}");
                    }
                    t = span.until;
                    count += 1;
                }
                let (least, most) = if after == After::Hold { (4, 8) } else { (30, 70) };
                assert!((least..=most).contains(&count), "{between:?} {after:?}: {count} pieces");
            }
        }
    }

    #[test]
    fn a_span_ends_at_its_instant() {
        let span = table().piece(0.7, Interpolation::Linear, After::Hold);
        assert_eq!(span.until, 1.2);
        assert!(span.ended(1.2_f64.next_down()) < 0.0 && span.ended(1.2) > 0.0);
        assert!(table().piece(9.0, Interpolation::Linear, After::Hold).ended(1e300) < 0.0);
    }
}
