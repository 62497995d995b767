//! A second session from the present state, with other parameters or another variant.

use std::sync::Arc;

use legwork_runtime::Carried;

use super::{Session, fresh};
use crate::error::Error;
use crate::model::Model;

/// A session that was forked from another.
#[derive(Debug)]
pub struct Fork {
    /// The session. Its past and its recording begin at the fork.
    pub session: Session,
    /// What became of the states.
    pub carried: Carried,
}

impl Session {
    /// A second, independent session from the present state. `changes` are choices of variants,
    /// `qp` and `clarabel`, or what [`crate::Diagram::set`] takes, `pd.kp` and `60`. States go over
    /// by the paths of their blocks; [`Fork::carried`] says which could not. Without changes it
    /// goes on as this one does, bit for bit.
    ///
    /// ```
    /// let library = legwork_study::Library::new(legwork_blocks::register);
    /// let mut session = library.open("demo:stand")?.compile().into_model()?.session();
    /// session.step(20)?;
    /// let mut fork = session.fork(&[("qp", "clarabel")])?.session;
    /// session.step(5)?;
    /// fork.step(5)?;
    /// assert_eq!(session.time(), fork.time());
    /// # Ok::<(), legwork_study::Error>(())
    /// ```
    ///
    /// # Errors
    /// Inside a major step or at the end of the run; if the diagram does not compile with the
    /// changes; or if the new program has no step at this time.
    pub fn fork(&self, changes: &[(&str, &str)]) -> Result<Fork, Error> {
        self.may_fork()?;
        let diagram =
            changes.iter().fold(self.edited_diagram(), |diagram, (name, value)| {
                match self.model().variants().iter().any(|(variant, _)| variant == name) {
                    true => diagram.variant(name, value),
                    false => diagram.set(name, value),
                }
            });
        self.fork_as(&diagram.compile().model_or_errors()?)
    }

    /// A second session from the present state, of another diagram; see [`Session::fork`].
    ///
    /// # Errors
    /// Inside a major step or at the end of the run, or if the new program has no step at this time.
    pub fn fork_as(&self, model: &Model) -> Result<Fork, Error> {
        self.may_fork()?;
        let (simulation, carried) = self
            .simulation()
            .fork(Arc::clone(model.program()))
            .map_err(|error| Error::request(error.to_string()))?;
        let mut session = Self::over(model, fresh(simulation));
        let from = format!("at tick {} of {}", self.simulation().tick(), self.program_hash());
        session.metadata.other.insert("forked".to_owned(), from);
        session.cancel_by(self.cancel.clone());
        Ok(Fork { session, carried })
    }

    pub(super) fn may_fork(&self) -> Result<(), Error> {
        // The runtime would say the same, but only after a compilation.
        match self.simulation().is_between_steps() {
            true => Ok(()),
            false => Err(Error::request("a run forks between two major steps; `step` leads there")),
        }
    }

    fn program_hash(&self) -> String {
        format!("{:016x}", self.program().hash())
    }
}
