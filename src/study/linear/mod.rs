//! Linear analysis: a diagram as a linear system at a moment of its run, its poles and margins,
//! and the gains that are designed on it.

mod analysis;
mod block;
mod design;
mod ends;
mod figures;
mod json;
mod reduction;
mod sine;

use legwork_block::Written;
use legwork_diagram::ron_text::value_text;
use legwork_linear::{Mat, System, sampled};
pub use legwork_runtime::linear::{BlockSlopes, How, Method, Quality, StateName};
use legwork_runtime::linear::{InputPlace, LinearOptions, linearize as differentiate};

use crate::diagram::Diagram;
use crate::error::{Error, ErrorKind};
use crate::model::Model;
use crate::time::parse_time;
use crate::trim::TrimRequest;
use crate::{RunFault, text};

pub use analysis::Analysis;
pub use design::{Design, DesignRequest, Feedback, Noise};
pub use ends::Number;
pub use legwork_linear as algebra;
pub use reduction::TakenOut;
pub use sine::SineRequest;

/// When a diagram is linearised.
#[derive(Debug, Clone, Default)]
pub enum At {
    /// At t = 0.
    #[default]
    Start,
    /// At this time of its run, as text such as `1 s`.
    Time(String),
    /// Where it holds still, as [`Model::trim`] finds it.
    Trimmed(TrimRequest),
}

/// What is asked of a linearisation.
#[derive(Debug, Clone, Default)]
pub struct LinearRequest {
    /// When.
    pub at: At,
    /// Inputs: ports of the diagram, or signals whose wires are opened; with `+` in front what is
    /// put in adds to the signal, and its loop stays closed. Without any, all ports.
    pub inputs: Vec<String>,
    /// Outputs: ports of the diagram, signals or parts of them. Without any, all ports.
    pub outputs: Vec<String>,
    /// Whether the result is a map from one period to the next; without, it is if a block of the
    /// diagram has a period.
    pub sampled: Option<bool>,
    /// How the slopes of a continuous result are found.
    pub method: Method,
    /// A period with which a continuous result is sampled, inputs holding in between, as text such
    /// as `10 ms`.
    pub every: Option<String>,
}

/// A linearised diagram: `ẋ = A x + B u`, `y = C x + D u` of the distances from where the run is.
#[derive(Debug, Clone)]
pub struct Linearization {
    /// Name of the diagram.
    pub diagram: String,
    /// The moment [s].
    pub time: f64,
    /// A, B, C, D, and the period.
    pub system: System,
    /// The states.
    pub states: Vec<StateName>,
    /// The inputs with what they are at that moment.
    pub inputs: Vec<Number>,
    /// The outputs with what they are at that moment.
    pub outputs: Vec<Number>,
    /// What they are at that moment; 0 of turns.
    pub values: Vec<f64>,
    /// How fast the state moves there [1/s], of a sampled system in the mean over its period.
    pub drift: Vec<f64>,
    /// How the columns of the states, then of the inputs were found.
    pub quality: Vec<Quality>,
    /// How the slopes of each block were found.
    pub blocks: Vec<BlockSlopes>,
    /// Blocks whose discrete state is none of the states.
    pub held: Vec<String>,
}

impl Model {
    /// Linearises the diagram.
    ///
    /// ```
    /// use legwork_study::linear::LinearRequest;
    ///
    /// let library = legwork_study::Library::new(legwork_blocks::register);
    /// let text = r#"Diagram(
    ///     run: (stop: "1 s", step: "1 ms", solver: Rk4),
    ///     ports: (in: { "u": Port(type: "Real", default: 0.0) }, out: { "y": "Real" }),
    ///     blocks: {
    ///         "lag": TransferFunction(numerator: [3], denominator: [2, 1], in: { "u": "^u" }),
    ///     },
    ///     out: { "y": "lag.y" },
    /// )"#;
    /// let model = library.diagram("lag.ron", text).compile().into_model()?;
    /// let found = model.linearize(&LinearRequest::default())?.expect("it has no fault");
    /// assert!((found.system.a[(0, 0)] + 0.5).abs() < 1e-11);
    /// # Ok::<(), legwork_study::Error>(())
    /// ```
    ///
    /// # Errors
    /// If an input or an output is none, a time is none, or nothing was found that holds still. A
    /// fault on the way is an answer: the inner error.
    pub fn linearize(
        &self,
        request: &LinearRequest,
    ) -> Result<Result<Linearization, RunFault>, Error> {
        let model = match self.at_moment(&request.at)? {
            Ok(model) => model,
            Err(fault) => return Ok(Err(fault)),
        };
        let inputs = ends::inputs(&model, &request.inputs)?;
        let outputs = ends::outputs(&model, &request.outputs)?;
        model.between(request, inputs, outputs)
    }

    /// The diagram whose run is linearised: itself, or as it holds still.
    fn at_moment(&self, at: &At) -> Result<Result<Self, RunFault>, Error> {
        self.expect_inputs()?;
        match at {
            At::Trimmed(trim) => Ok(self.at_rest(trim)?.map_err(|fault| *fault)),
            At::Start | At::Time(_) => Ok(Ok(self.clone())),
        }
    }

    /// Linearises it from these inputs to these outputs, at the time that is asked for.
    fn between(
        &self,
        request: &LinearRequest,
        inputs: Vec<(InputPlace, Number)>,
        outputs: Vec<(u32, Number)>,
    ) -> Result<Result<Linearization, RunFault>, Error> {
        let time = match &request.at {
            At::Time(text) => parse_time(text)?,
            At::Start | At::Trimmed(_) => 0.0,
        };
        let options = LinearOptions {
            time,
            sampled: request.sampled,
            method: request.method,
            inputs: inputs.iter().map(|(place, _)| *place).collect(),
            outputs: outputs.iter().map(|(place, _)| *place).collect(),
        };
        let found = match differentiate(self.program(), &options) {
            Ok(found) => found,
            Err(fault) => return Ok(Err(fault)),
        };
        let (n, m, p) = (found.states.len(), inputs.len(), outputs.len());
        let of = |rows: usize, columns: usize, numbers: &[f64]| {
            Mat::from_fn(rows, columns, |i, j| numbers[i * columns + j])
        };
        let [a, b] = [of(n, n, &found.a), of(n, m, &found.b)];
        let [c, d] = [of(p, n, &found.c), of(p, m, &found.d)];
        let mut system = System::new(a, b, c, d, found.period).map_err(told)?;
        if let Some(every) = &request.every {
            let period = parse_time(every)?;
            if system.period.is_some() {
                let message = "the linearisation has a period of its own, that of its rates";
                return Err(Error::request(message));
            }
            system = sampled(&system, period).map_err(told)?;
        }
        let with = |numbers: Vec<Number>, values: &[f64]| -> Vec<Number> {
            let pairs = numbers.into_iter().zip(values);
            pairs.map(|(number, value)| Number { value: *value, ..number }).collect()
        };
        Ok(Ok(Linearization {
            diagram: self.diagram().name().to_owned(),
            time: found.time,
            system,
            inputs: with(inputs.into_iter().map(|one| one.1).collect(), &found.input_values),
            outputs: with(outputs.into_iter().map(|one| one.1).collect(), &found.output_values),
            states: found.states,
            values: found.state_values,
            drift: found.drift,
            quality: found.quality,
            blocks: found.blocks,
            held: found.held,
        }))
    }

    /// The diagram where it holds still.
    fn at_rest(&self, request: &TrimRequest) -> Result<Result<Self, Box<RunFault>>, Error> {
        let model = request.settling(self.diagram().clone()).compile().model_or_errors()?;
        let trim = match model.trim(request)? {
            Ok(trim) => trim,
            Err(crate::trim::TrimError::Fault(fault)) => return Ok(Err(fault)),
            Err(error) => return Err(Error::new(ErrorKind::Check, error.to_string())),
        };
        if !trim.trimmed.still {
            let rate = text::digits(trim.trimmed.rates[2]);
            let message =
                format!("nothing was found that holds still: it moves by {rate} per second");
            return Err(Error::new(ErrorKind::Check, message));
        }
        let settings = trim.settings.iter();
        let with = |diagram: Diagram, (path, value): &(String, Written)| {
            diagram.set(path, &value_text(value))
        };
        let diagram = settings.fold(self.diagram().clone(), with);
        Ok(Ok(diagram.compile().model_or_errors()?))
    }
}

impl Linearization {
    /// Leaves out states that act on no other.
    fn without(&mut self, is_left_out: impl Fn(&StateName) -> bool) {
        let kept: Vec<usize> =
            (0..self.states.len()).filter(|i| !is_left_out(&self.states[*i])).collect();
        self.keep(&kept);
    }

    /// Names of the states that are not kept.
    fn names_without(&self, kept: &[usize]) -> Vec<String> {
        let all = self.states.iter().enumerate();
        all.filter(|(i, _)| !kept.contains(i)).map(|(_, state)| state.name.clone()).collect()
    }

    /// Keeps these states; the others do not move.
    fn keep(&mut self, kept: &[usize]) {
        let (m, p) = (self.system.inputs(), self.system.outputs());
        let System { a, b, c, .. } = &self.system;
        let n = kept.len();
        let a = Mat::from_fn(n, n, |i, j| a[(kept[i], kept[j])]);
        let b = Mat::from_fn(n, m, |i, j| b[(kept[i], j)]);
        let c = Mat::from_fn(p, n, |i, j| c[(i, kept[j])]);
        self.system = System { a, b, c, ..self.system.clone() };
        self.states = kept.iter().map(|i| self.states[*i].clone()).collect();
        self.values = kept.iter().map(|i| self.values[*i]).collect();
        self.drift = kept.iter().map(|i| self.drift[*i]).collect();
        let of_inputs = &self.quality[self.quality.len() - m..];
        let quality = kept.iter().map(|i| self.quality[*i]).chain(of_inputs.iter().copied());
        self.quality = quality.collect();
    }
}

/// What linear algebra could not do.
pub(crate) fn told(error: legwork_linear::Error) -> Error {
    use legwork_linear::Error::{NoSolution, Request};
    match error {
        NoSolution(message) => Error::new(ErrorKind::Check, message),
        Request(message) => Error::request(message),
        other => Error::request(other.to_string()),
    }
}
