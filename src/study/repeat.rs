//! Edits are made again, where a session made them.

use crate::cancel::Cancel;
use crate::edits::{self, Edit};
use crate::error::Error;
use crate::model::Model;
use crate::run::RunRequest;
use crate::session::{Rewritten, Session};

impl Session {
    /// Goes to the first step at or after `until` [s], and makes these edits on the way; `changed`
    /// is told when the text is another.
    ///
    /// # Errors
    /// If one cannot be made again.
    pub fn repeat(
        &mut self,
        edits: &[Edit],
        until: f64,
        mut changed: impl FnMut(&mut Self),
    ) -> Result<(), Error> {
        for edit in edits {
            if !self.reach(edit, until)? {
                return Ok(());
            }
            if self.make(edit)?.is_some() {
                changed(self);
            }
        }
        self.go_to(until);
        Ok(())
    }

    /// Goes to where an edit enters; false if `until` or a cancellation comes before.
    fn reach(&mut self, edit: &Edit, until: f64) -> Result<bool, Error> {
        let left = edit.step.saturating_sub(self.simulation().step_count());
        if left > 0 {
            self.steps_until(left, until)?;
        }
        let is_there = self.simulation().step_count() == edit.step;
        if self.cancel().is_cancelled() || !is_there && self.time() >= until {
            return Ok(false);
        }
        match is_there {
            true => Ok(true),
            false => Err(Error::request(format!(
                "the edit {} enters before step {}, and the run stands at step {}",
                edit.words(),
                edit.step,
                self.simulation().step_count()
            ))),
        }
    }

    /// Makes an edit. What became of the text, if it changes one.
    fn make(&mut self, edit: &Edit) -> Result<Option<Rewritten>, Error> {
        if !edit.is_of_text() {
            return self.set(&edit.path, &edit.value).map(|_| None);
        }
        let model = edit.apply(self.edited_diagram()).compile().model_or_errors()?;
        match self.rewrite(&model)? {
            Rewritten::Anew { why } => {
                Err(Error::request(format!("the edit {} fails: {why}", edit.words())))
            }
            rewritten => Ok(Some(rewritten)),
        }
    }
}

impl Model {
    /// What is to be run in place of this, if edits change texts: the diagram since its structure
    /// last changed, from the snapshot of that moment, with the edits that follow.
    pub(crate) fn rewritten(
        &self,
        request: &RunRequest,
        cancel: &Cancel,
    ) -> Result<Option<(Self, RunRequest)>, Error> {
        let edits = &request.edits;
        let Some(last) = edits.iter().rposition(Edit::is_of_text) else { return Ok(None) };
        if request.resume.is_some() {
            let message = "a run that continues a snapshot cannot repeat edits of texts";
            return Err(Error::request(message));
        }
        let begin = edits::before(edits, self.diagram()).compile().model_or_errors()?;
        let mut session = begin.session();
        session.forget_rows();
        session.cancel_by(cancel.clone());
        let mut rest = RunRequest { edits: edits.clone(), ..request.clone() };
        let mut model = begin;
        for (i, edit) in edits.iter().enumerate().take(last + 1) {
            if !session.reach(edit, f64::INFINITY)? {
                break;
            }
            if let Some(Rewritten::Begun { .. }) = session.make(edit)? {
                rest.resume = Some(session.snapshot()?);
                rest.edits = edits[i + 1..].to_vec();
                model = session.model().clone();
            }
        }
        Ok(Some((model, rest)))
    }
}
