//! Where and when a diagram is linearised, as options of several commands.

use std::path::PathBuf;

use clap::Args;
use legwork_study::linear::At;
use legwork_study::trim::TrimRequest;
use legwork_study::{Library, Model};
use serde_json::json;

use super::answer::{Answer, Code, Failure};
use super::arguments::Overrides;
use super::diagnostics;

/// A diagram at a moment of its run.
#[derive(Debug, Args)]
pub(crate) struct Moment {
    /// The diagram.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
    /// When it is linearised: a time of the run, as in `1 s`, or `trimmed`, where it holds still
    /// [default: t = 0].
    #[arg(long, value_name = "TIME|trimmed", allow_hyphen_values = true)]
    at: Option<String>,
    /// With `--at trimmed`: as --free of `legwork trim`.
    #[arg(long, value_name = "PATH")]
    free: Vec<String>,
    /// With `--at trimmed`: as --settle of `legwork trim`; where a gain is sought, which holds
    /// nothing yet, 0 is the default.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    settle: Option<String>,
}

impl Moment {
    /// The moment; `settle` is how long the run settles if nothing is said.
    ///
    /// # Errors
    /// If options do not go together.
    pub(crate) fn at(&self, settle: Option<&str>) -> Result<At, Failure> {
        if self.at.as_deref() == Some("trimmed") {
            let free = self.free.clone();
            let settle = self.settle.clone().or_else(|| settle.map(str::to_owned));
            return Ok(At::Trimmed(TrimRequest { free, settle, ..TrimRequest::default() }));
        }
        let option = match (self.free.is_empty(), &self.settle) {
            (false, _) => Some("--free"),
            (_, Some(_)) => Some("--settle"),
            _ => None,
        };
        if let Some(option) = option {
            return Err(Failure::usage(format!("{option} belongs to `--at trimmed`")));
        }
        Ok(self.at.as_ref().map_or(At::Start, |time| At::Time(time.clone())))
    }

    /// The compiled diagram, or the answer that says why there is none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(crate) fn compile(&self, library: &Library) -> Result<Result<Model, Answer>, Failure> {
        let diagram = self.overrides.open(&self.file, None, library)?;
        let compiled = diagram.compile();
        diagnostics::say_all(&compiled.diagnostics, &compiled.sources);
        let json = json!({
            "diagram": self.file.display().to_string(), "diagnostics": compiled.to_json(),
        });
        Ok(compiled.model.ok_or_else(|| Answer::new(Code::Diagram, json)))
    }
}
