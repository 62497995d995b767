//! Back to the last place at which a breakpoint would have stopped the run.
//!
//! A run has no way to go backwards but to be repeated from a snapshot before: the stretches
//! between snapshots are run again, the last first, and the last place at which a breakpoint stops
//! one of them is gone to.

use legwork_study::Error;
use legwork_study::session::{Halt, Session, Stop};

use super::breakpoints::Breakpoints;

/// A place in a run: step, and pieces of it that are done.
type At = (u64, u64);

fn at(session: &Session) -> At {
    let here = session.whereabouts();
    (here.place.step, here.pieces)
}

/// What came of going back.
pub(super) enum Found {
    /// A breakpoint of the session.
    Breakpoint(Stop),
    /// The beginning of the past.
    Beginning,
    /// Where a parameter was edited: what lies before is of other parameters.
    Edit,
    Cancelled,
}

/// Goes back to the last breakpoint before the present place.
///
/// # Errors
/// If a step cannot be repeated.
pub(super) fn reverse(session: &mut Session, breakpoints: &Breakpoints) -> Result<Found, Error> {
    let mut high = at(session);
    let edits = session.edits().len();
    loop {
        let low = session.snapshot_before(session.time());
        let is_first = low <= session.earliest();
        session.go_to(low);
        if session.cancel().is_cancelled() {
            return Ok(Found::Cancelled);
        }
        if session.edits().len() < edits {
            return Ok(Found::Edit);
        }
        let begin = at(session);
        // A condition that held before is no news: one step before is looked at first.
        if !is_first {
            session.back_steps(1)?;
            if session.edits().len() < edits {
                return Ok(Found::Edit);
            }
        }
        let mut last = None;
        run(session, high, &mut |session, here, stop| {
            if here >= begin && is_hit(session, stop, breakpoints) {
                last = Some(here);
            }
            false
        })?;
        if session.cancel().is_cancelled() {
            return Ok(Found::Cancelled);
        }
        session.go_to(low);
        if let Some(last) = last {
            if !is_first {
                session.back_steps(1)?;
            }
            let mut found = None;
            run(session, high, &mut |_, here, stop| {
                let is_there = here == last;
                if is_there {
                    found = Some(stop.clone());
                }
                is_there
            })?;
            return Ok(found.map_or(Found::Cancelled, Found::Breakpoint));
        }
        if is_first {
            return Ok(Found::Beginning);
        }
        high = begin;
    }
}

fn is_hit(session: &Session, stop: &Stop, breakpoints: &Breakpoints) -> bool {
    match stop.halt {
        Halt::Breakpoint { number, .. } => breakpoints.holds(number, session.simulation()),
        _ => false,
    }
}

/// Repeats the run up to before `high`; shows each stop at a breakpoint to `look`, until that says
/// that it is enough.
fn run(
    session: &mut Session,
    high: At,
    look: &mut dyn FnMut(&Session, At, &Stop) -> bool,
) -> Result<(), Error> {
    while at(session) < high {
        let stop = session.step(1)?;
        let here = at(session);
        if here >= high {
            return Ok(());
        }
        match &stop.halt {
            Halt::Arrived => {}
            Halt::Breakpoint { .. } => {
                if look(session, here, &stop) {
                    return Ok(());
                }
            }
            _ => return Ok(()),
        }
    }
    Ok(())
}
