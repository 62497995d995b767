//! Initial states and inputs at which a diagram holds still, as a patch.

use legwork_block::Written;
use legwork_diagram::ron_text::{patch_text, value_text};
use legwork_program::Program;
use legwork_runtime::trim::{FreeOutput, TrimOptions, drift, trim as seek};
pub use legwork_runtime::trim::{Motion, TrimError, Trimmed};
use serde_json::{Map, Value, json};

use crate::diagram::Diagram;
use crate::error::{Error, ErrorKind};
use crate::model::Model;
use crate::text::{digits, seconds};

/// How long the trimmed diagram is run [s].
pub const PROOF: f64 = 1.0;
/// How far its state may get in that time, relative to 1 + the number.
const PROOF_BOUND: f64 = 1e-6;
/// How many moving numbers are listed.
pub const SHOWN: usize = 6;

/// What is asked of trimming.
#[derive(Debug, Clone)]
pub struct TrimRequest {
    /// Outputs of constants that may change too, or some of their numbers: `tau.y`, `tau.y[2]`.
    pub free: Vec<String>,
    /// Run at most so long to settle, as text such as `2 s`; 0 begins the search at t = 0. Without
    /// it, up to the diagram's stop time.
    pub settle: Option<String>,
    /// The largest rate that counts as still: of every number of the state [its unit / s].
    pub tolerance: f64,
}

impl Default for TrimRequest {
    fn default() -> Self {
        Self { free: Vec::new(), settle: None, tolerance: 1e-9 }
    }
}

/// What was found.
#[derive(Debug)]
pub struct Trim {
    /// Name of the diagram.
    pub diagram: String,
    /// Where it holds still, or what moves.
    pub trimmed: Trimmed,
    /// Path and value of what the patch sets.
    pub settings: Vec<(String, Written)>,
    /// Blocks whose state no patch can set, with the reason.
    pub unwritten: Vec<(String, &'static str)>,
    /// The patch as the text of a file, if it holds still.
    pub patch: Option<String>,
    /// How far the patched diagram moved in [`PROOF`], the farthest first.
    pub drift: Vec<Motion>,
    tolerance: f64,
}

impl TrimRequest {
    /// The diagram that is to settle: it stops when the time to settle is over.
    pub fn settling(&self, diagram: Diagram) -> Diagram {
        match &self.settle {
            // A time of 0 is none to run for; settling takes none then.
            Some(time) if !self.is_at_once() => diagram.until(time),
            _ => diagram,
        }
    }

    /// Whether the search begins at t = 0.
    pub fn is_at_once(&self) -> bool {
        let zero = |text: &str| legwork_block::parse_quantity(text).is_ok_and(|(t, _)| t == 0.0);
        self.settle.as_deref().is_some_and(zero)
    }
}

impl Model {
    /// Seeks where it holds still, and shows that it does by a run with the patch. `self` is made
    /// of [`TrimRequest::settling`].
    ///
    /// # Errors
    /// If what is to be free is no output of a constant, or the patched diagram does not run. A run
    /// that stops while it settles is an answer: the inner error.
    pub fn trim(&self, request: &TrimRequest) -> Result<Result<Trim, TrimError>, Error> {
        self.expect_inputs()?;
        let program = self.program();
        let free = request.free.iter().map(|name| FreeOutput::find(program, name));
        let free = free
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| Error::request(format!("what is free: {error}")))?;
        let settle = match request.is_at_once() {
            true => 0.0,
            false => program.base.at(program.stop_tick),
        };
        let options = TrimOptions { settle, tolerance: request.tolerance, free };
        let trimmed = match seek(program, &options) {
            Ok(trimmed) => trimmed,
            Err(error) => return Ok(Err(error)),
        };
        let mut trim = Trim {
            diagram: self.diagram().name().to_owned(),
            trimmed,
            settings: Vec::new(),
            unwritten: Vec::new(),
            patch: None,
            drift: Vec::new(),
            tolerance: request.tolerance,
        };
        let mut options = self.diagram().options().clone();
        options.until = None;
        let diagram = self.diagram().clone().with_options(options);
        trim.write_settings(&diagram);
        if trim.trimmed.still {
            trim.patch = Some(trim.patch(program));
            trim.drift = trim.prove(&diagram)?;
        }
        Ok(Ok(trim))
    }
}

impl Trim {
    /// Whether it holds still, and the patched diagram stays where it is.
    pub fn stays(&self) -> bool {
        self.trimmed.still && !self.drift.iter().any(is_beyond)
    }

    /// What of the patched diagram moved too far, the farthest first.
    pub fn beyond(&self) -> impl Iterator<Item = &Motion> {
        self.drift.iter().filter(|motion| is_beyond(motion))
    }

    /// Parts what a patch can set from what it cannot.
    fn write_settings(&mut self, diagram: &Diagram) {
        for start in &self.trimmed.starts {
            let Some(parameters) = &start.parameters else {
                self.unwritten.push((start.block.clone(), "it has no parameter for it"));
                continue;
            };
            let own: Vec<(String, Written)> = parameters
                .iter()
                .map(|(name, value)| (format!("{}.{name}", start.block), value.clone()))
                .collect();
            // Blocks at the top of the diagram can be set; whether others can the front end knows.
            let nested = start.block.contains(['.', '[']);
            if nested && with(diagram, &own).compile().model.is_none() {
                self.unwritten.push((start.block.clone(), "it is inside a mask or a copy"));
                continue;
            }
            self.settings.extend(own);
        }
    }

    /// The patch as a file.
    fn patch(&self, program: &Program) -> String {
        let trimmed = &self.trimmed;
        let doc = format!(
            "{} at rest: moves by at most {} per second in its first {}.",
            program.name,
            digits(trimmed.rates[2]),
            seconds(trimmed.period)
        );
        patch_text(Some(&doc), &self.settings)
    }

    /// Runs the patched diagram; how far it moves.
    fn prove(&self, diagram: &Diagram) -> Result<Vec<Motion>, Error> {
        let failed = |message: String| Error::new(ErrorKind::Check, message);
        let model = with(diagram, &self.settings)
            .compile()
            .into_model()
            .map_err(|why| failed(format!("the diagram does not take the patch: {why}")))?;
        drift(model.program(), PROOF)
            .map_err(|error| failed(format!("the trimmed diagram: {error}")))
    }

    /// All of it as JSON.
    pub fn to_json(&self) -> Map<String, Value> {
        let trimmed = &self.trimmed;
        let list = |motions: &[Motion]| -> Value {
            let moving = motions.iter().filter(|one| one.amount > 0.0).take(SHOWN);
            let one = |motion: &Motion| {
                json!({
                    "name": motion.name, "unit": motion.unit,
                    "start": motion.start, "amount": motion.amount,
                })
            };
            moving.map(one).collect()
        };
        let set: Map<String, Value> = self
            .settings
            .iter()
            .map(|(path, value)| (path.clone(), value_text(value).into()))
            .collect();
        let unwritten: Vec<&str> = self.unwritten.iter().map(|(block, _)| block.as_str()).collect();
        let drift = json!({ "time_s": PROOF, "farthest": list(&self.drift) });
        let mut object = Map::new();
        let mut add = |name: &str, value: Value| object.insert(name.to_owned(), value);
        add("diagram", self.diagram.as_str().into());
        add("still", trimmed.still.into());
        add("tolerance", self.tolerance.into());
        add("settled_s", trimmed.settled.into());
        add("period_s", trimmed.period.into());
        add("iterations", trimmed.iterations.into());
        add("rate_at_first", trimmed.rates[0].into());
        add("rate_settled", trimmed.rates[1].into());
        add("rate", trimmed.rates[2].into());
        add("moving", list(&trimmed.motions));
        add("set", set.into());
        add("unwritten", unwritten.into());
        add("begin_anew", trimmed.begin_anew.clone().into());
        add("patch", self.patch.as_deref().into());
        add("drift", if self.patch.is_some() { drift } else { Value::Null });
        if self.patch.is_some() {
            add("stays", self.stays().into());
        }
        object
    }
}

/// Whether a number of the patched diagram moved too far.
fn is_beyond(motion: &Motion) -> bool {
    motion.amount > PROOF_BOUND * (1.0 + motion.start.abs())
}

/// The diagram with some more settings.
fn with(diagram: &Diagram, settings: &[(String, Written)]) -> Diagram {
    let set =
        |diagram: Diagram, (path, value): &(String, Written)| diagram.set(path, &value_text(value));
    settings.iter().fold(diagram.clone(), set)
}
