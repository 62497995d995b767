//! Study files: what is accepted compiles each of its runs.

use legwork_study::sweep::SweepRequest;
use legwork_study::{Cancel, Library, StudyError};

use crate::Target;
use crate::mutate::{self, Random};

/// Damaged studies.
pub(crate) struct Studies {
    library: Library,
}

/// Words of studies that damage may put in.
const WORDS: [&str; 24] = [
    "Study",
    "Expect",
    "Plot",
    "Metric",
    "diagram",
    "judge.ron",
    "over",
    "show",
    "checks",
    "set",
    "variants",
    "with",
    "expect",
    "plots",
    "at",
    "is",
    "within",
    "reason",
    "lin(0, 1, 3)",
    "log(1, 100, 4)",
    "lin(0, 1, 1e9)",
    "tau",
    "run.step",
    "columns",
];

impl Studies {
    pub(crate) fn new() -> Self {
        Self { library: Library::new(legwork_blocks::register) }
    }
}

impl Target for Studies {
    fn input(&self, random: &mut Random) -> Vec<u8> {
        let text = include_bytes!("../../src/study/reference/examples/drive.study");
        mutate::text(random, text, text, &WORDS)
    }

    fn run(&self, input: &[u8], _: &mut Random) -> Result<&'static str, String> {
        // Beside the diagram that it names.
        let opened = self.library.diagram("std:help/damaged.study", input);
        if !opened.is_study() {
            return Ok("another file");
        }
        let Ok(study) = opened.study() else { return Ok("refused") };
        match study.plan(&SweepRequest::default(), &Cancel::default()) {
            Ok(plan) if plan.is_wrong() => Ok("no run compiles"),
            Ok(_) => Ok("accepted"),
            Err(StudyError::File(_)) => Ok("refused with its diagram"),
            Err(StudyError::Request(_)) => Ok("refused as a request"),
        }
    }
}
