//! Gains for blocks of a diagram, designed on the diagram itself, as patches.

use std::fmt::Write as _;

use legwork_linear::{Mat, System, c64, filter, place, regulator, sampled};
use legwork_program::{Node, Rate};
use legwork_runtime::linear::InputPlace;
use serde_json::{Value, json};

use super::block::Ends;
use super::ends::{Number, named};
use super::{At, LinearRequest, Linearization, json, told};
use crate::RunFault;
use crate::error::{Error, ErrorKind};
use crate::model::Model;

/// How a state feedback is found.
#[derive(Debug, Clone)]
pub enum Feedback {
    /// Least cost: weights of the numbers of the block's input `x`, and of its output `u`; one
    /// number counts for all.
    Weights {
        /// Of x.
        q: Vec<f64>,
        /// Of u.
        r: Vec<f64>,
    },
    /// These poles of the closed loop [1/s].
    Poles(Vec<c64>),
}

/// What is asked of a design.
#[derive(Debug, Clone)]
pub struct DesignRequest {
    /// Path of the block that is given the gain.
    pub block: String,
    /// When the diagram is linearised.
    pub at: At,
    /// Whether the block's `x` is an estimate of the states, in their order.
    pub estimate: bool,
}

/// Covariances for a Kalman filter.
#[derive(Debug, Clone)]
pub struct Noise {
    /// Of the noise that adds to the rates of states, per second: by name of a state, or of a
    /// signal that stands for all of its numbers. A period T has T of it.
    pub process: Vec<(String, f64)>,
    /// Of the noise of measurements: one for each number of `y`, or one for all.
    pub measurement: Vec<f64>,
}

/// A design and the patch that writes it onto the block.
#[derive(Debug, Clone)]
pub struct Design {
    /// What it was designed on.
    pub plant: Linearization,
    /// Path and value of what the patch sets.
    pub settings: Vec<(String, String)>,
    /// The patch, as the text of a file. Entries below 1e-12 of the largest of a matrix are 0.
    pub patch: String,
    /// States that the block sees nothing of, and that are no part of the design.
    pub left_out: Vec<String>,
    /// K, or M.
    pub gain: Mat<f64>,
    /// The poles of the loop, or of the estimator.
    pub poles: Vec<c64>,
}

impl Model {
    /// A gain for a block of state feedback: of the input `x` and the output `u`. The diagram is
    /// opened at the block, and linearised from `u` to `x`; K is then written for the numbers of
    /// x, which show all states.
    ///
    /// # Errors
    /// If there is no such block, x does not show the states, weights or poles do not fit, or no
    /// gain makes the loop stable. A fault on the way is an answer: the inner error.
    pub fn feedback(
        &self,
        request: &DesignRequest,
        by: &Feedback,
    ) -> Result<Result<Design, RunFault>, Error> {
        let block = Ends::of(self, &request.block, &["x"], "u")?;
        let estimators = match request.estimate {
            true => block.feeders(self.program(), "x"),
            false => Vec::new(),
        };
        let ends = (block.output.as_slice(), block.input("x"));
        let mut plant = match self.opened(request, ends, &estimators)? {
            Ok(plant) => plant,
            Err(fault) => return Ok(Err(fault)),
        };
        let left_out = plant.leave_unseen();
        plant.without(|state| estimators.contains(&state.block));
        self.at_rate(&mut plant, block.node)?;
        let (n, m) = (plant.system.states(), plant.system.inputs());
        let shows = match request.estimate {
            true => Mat::identity(n, n),
            false => shown(&plant)?,
        };
        if request.estimate && block.input("x").len() != n {
            let message = format!(
                "`{}.x` has {} numbers, the diagram {n} states: an estimate has as many",
                request.block,
                block.input("x").len()
            );
            return Err(Error::request(message));
        }
        let (gain, poles) = match by {
            Feedback::Weights { q, r } => {
                let q = weights("x", q, shows.nrows())?;
                let r = weights("u", r, m)?;
                let q = shows.transpose() * q * &shows;
                let found = regulator(&plant.system, &q, &r, None).map_err(told)?;
                (found.gain, found.poles)
            }
            Feedback::Poles(poles) => {
                let poles: Vec<c64> =
                    poles.iter().map(|s| of_rate(*s, plant.system.period)).collect();
                (place(&plant.system, &poles).map_err(told)?, poles)
            }
        };
        // u = −K δ and x = C δ: the block's gain is K C⁺.
        let gain = gain * inverse(&shows)?;
        let at = |numbers: &[Number]| numbers.iter().map(|one| one.value).collect::<Vec<f64>>();
        let state = match request.estimate {
            true => plant.values.clone(),
            false => at(&plant.outputs),
        };
        let input = at(&plant.inputs);
        let is_number = block.is_number;
        let settings = vec![
            (format!("{}.gain", request.block), matrix_text(&gain, is_number, false)),
            (format!("{}.state", request.block), list_text(&state)),
            (
                format!("{}.input", request.block),
                if is_number { number(input[0]) } else { list_text(&input) },
            ),
        ];
        self.designed((plant, left_out), settings, gain, poles).map(Ok)
    }

    /// The model and the gain of a Kalman filter, for a block of the inputs `u` and `y` and the
    /// output `x`, which runs at a period of its own. Its states are those of the diagram, opened
    /// at `u`, without those of the block.
    ///
    /// # Errors
    /// As [`Self::feedback`].
    pub fn kalman(
        &self,
        request: &DesignRequest,
        noise: &Noise,
    ) -> Result<Result<Design, RunFault>, Error> {
        let block = Ends::of(self, &request.block, &["u", "y"], "x")?;
        let sources = block.feeders(self.program(), "u");
        let ends = (block.input("u"), block.input("y"));
        let mut plant = match self.opened(request, ends, &sources)? {
            Ok(plant) => plant,
            Err(fault) => return Ok(Err(fault)),
        };
        plant.without(|state| state.block == request.block);
        let left_out = plant.leave_unseen();
        self.at_rate(&mut plant, block.node)?;
        let Some(period) = plant.system.period else {
            let message =
                format!("`{}` is continuous; give it a period by `every:`", request.block);
            return Err(Error::request(message));
        };
        let process = process(&plant, noise, period)?;
        let measurement = weights("y", &noise.measurement, plant.system.outputs())?;
        let found = filter(&plant.system, &process, &measurement).map_err(told)?;
        let System { a, b, c, d, .. } = &plant.system;
        let at = |numbers: &[Number]| numbers.iter().map(|one| one.value).collect::<Vec<f64>>();
        let (input, output) = (at(&plant.inputs), at(&plant.outputs));
        let (one_in, one_out) = (block.is_number("u"), block.is_number("y"));
        let path = |name: &str| format!("{}.{name}", request.block);
        let listed = |values: &[f64], is_number: bool| match values {
            [one] if is_number => number(*one),
            list => list_text(list),
        };
        let mut settings = vec![
            (path("a"), matrix_text(a, false, false)),
            (path("b"), matrix_text(b, false, one_in)),
            (path("c"), matrix_text(c, one_out, false)),
            (path("gain"), matrix_text(&found.update, false, one_out)),
            (path("input"), listed(&input, one_in)),
            (path("output"), listed(&output, one_out)),
            (path("state"), list_text(&plant.values)),
        ];
        if d.norm_max() > 0.0 {
            let text = match (one_in, one_out) {
                (true, true) => number(d[(0, 0)]),
                _ => matrix_text(d, one_out, one_in),
            };
            settings.push((path("d"), text));
        }
        let (gain, poles) = (found.update, found.poles);
        self.designed((plant, left_out), settings, gain, poles).map(Ok)
    }

    /// The diagram between these ends: continuous, if no block has a period but that of the design
    /// and `apart`, which act on none of it.
    fn opened(
        &self,
        request: &DesignRequest,
        (inputs, outputs): (&[u32], &[u32]),
        apart: &[String],
    ) -> Result<Result<Linearization, RunFault>, Error> {
        let model = match self.at_moment(&request.at)? {
            Ok(model) => model,
            Err(fault) => return Ok(Err(fault)),
        };
        let names = |places: &[u32]| -> Vec<(u32, Number)> {
            places.iter().map(|place| (*place, named(model.program(), *place))).collect()
        };
        let inputs = names(inputs).into_iter();
        let inputs =
            inputs.map(|(place, number)| (InputPlace { place, adds: false }, number)).collect();
        let is_periodic = |rate: Rate| matches!(rate, Rate::Periodic { .. });
        let sampled = self.program().nodes.iter().any(|node| {
            let is_apart = node.path == request.block || apart.contains(&node.path);
            !is_apart && (is_periodic(node.rate) || is_periodic(node.update_rate))
        });
        let at = request.at.clone();
        let linear = LinearRequest { at, sampled: Some(sampled), ..LinearRequest::default() };
        model.between(&linear, inputs, names(outputs))
    }

    /// A plant seen at the hits of the block.
    fn at_rate(&self, plant: &mut Linearization, node: usize) -> Result<(), Error> {
        let node = &self.program().nodes[node];
        let Rate::Periodic { period, .. } = node.rate else {
            return match plant.system.period {
                None => Ok(()),
                Some(own) => Err(rates(node, own)),
            };
        };
        let period = self.program().base.at(period);
        match plant.system.period {
            None => {
                plant.system = sampled(&plant.system, period).map_err(told)?;
                Ok(())
            }
            Some(own) if (own / period - 1.0).abs() < 1e-9 => Ok(()),
            Some(own) => Err(rates(node, own)),
        }
    }

    /// Shows that the diagram takes the patch.
    fn designed(
        &self,
        (plant, left_out): (Linearization, Vec<String>),
        settings: Vec<(String, String)>,
        gain: Mat<f64>,
        poles: Vec<c64>,
    ) -> Result<Design, Error> {
        let diagram = settings
            .iter()
            .fold(self.diagram().clone(), |diagram, (path, value)| diagram.set(path, value));
        diagram.compile().model_or_errors().map_err(|error| {
            let message = format!("the diagram does not take the patch: {}", error.message());
            Error::new(ErrorKind::Check, message)
        })?;
        let mut patch = String::from("Patch(\n    set: {\n");
        for (path, value) in &settings {
            // Writing to a String cannot fail.
            let _ = writeln!(patch, "        {path:?}: {value},");
        }
        patch.push_str("    },\n)\n");
        Ok(Design { plant, settings, patch, left_out, gain, poles })
    }
}

impl Design {
    /// All of it as JSON.
    pub fn to_json(&self) -> Value {
        let set: serde_json::Map<String, Value> = self
            .settings
            .iter()
            .map(|(path, value)| (path.clone(), value.as_str().into()))
            .collect();
        let names =
            |numbers: &[Number]| numbers.iter().map(|one| json!(one.name)).collect::<Value>();
        json!({
            "diagram": self.plant.diagram,
            "t_s": self.plant.time,
            "period_s": self.plant.system.period,
            "states": self.plant.states.iter().map(|one| json!(one.name)).collect::<Value>(),
            "left_out": self.left_out,
            "inputs": names(&self.plant.inputs),
            "outputs": names(&self.plant.outputs),
            "gain": json::rows(&self.gain),
            "poles": json::complexes(&self.poles),
            "continuous_poles": json::complexes(&self.continuous_poles()),
            "set": set,
            "patch": self.patch,
        })
    }

    /// The poles in continuous time [1/s]: of the period T, s = ln(z)/T. A pole z = 0, which dies
    /// out within a period, is at minus infinity.
    pub fn continuous_poles(&self) -> Vec<c64> {
        let Some(period) = self.plant.system.period else { return self.poles.clone() };
        let of = |z: &c64| c64::new(z.norm().ln() / period, z.arg() / period);
        self.poles.iter().map(of).collect()
    }

    /// How fast the state moves where it was designed, in its unit per second: name and rate of the
    /// fastest, if that is not that of an equilibrium.
    pub fn drift(&self) -> Option<(&str, f64)> {
        let pairs = self.plant.states.iter().zip(&self.plant.drift);
        let fastest = pairs.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
        (fastest.1.abs() > 1e-6).then_some((fastest.0.name.as_str(), *fastest.1))
    }
}

impl Linearization {
    /// Leaves out the states that no output depends on, now or later, such as sums that are kept of
    /// a run; their names.
    fn leave_unseen(&mut self) -> Vec<String> {
        let System { a, c, .. } = &self.system;
        let n = a.nrows();
        let nothing = 1e-12 * (1.0 + a.norm_max());
        let mut seen: Vec<bool> =
            (0..n).map(|j| (0..c.nrows()).any(|i| c[(i, j)].abs() > nothing)).collect();
        // Whatever acts on a state that is seen is seen.
        for _ in 0..n {
            for j in 0..n {
                seen[j] |= (0..n).any(|i| seen[i] && a[(i, j)].abs() > nothing);
            }
        }
        let unseen: Vec<String> =
            (0..n).filter(|j| !seen[*j]).map(|j| self.states[j].name.clone()).collect();
        self.without(|state| unseen.contains(&state.name));
        unseen
    }
}

/// Rates that do not go together.
fn rates(node: &Node, own: f64) -> Error {
    let period = crate::text::seconds(own);
    Error::request(format!(
        "the rates of the diagram come round every {period}, and those of `{}` are others: a gain \
         is for one rate",
        node.path
    ))
}

/// C of the states, if it shows them all.
fn shown(plant: &Linearization) -> Result<Mat<f64>, Error> {
    let System { c, d, .. } = &plant.system;
    if d.norm_max() > 1e-9 * (1.0 + c.norm_max()) {
        let message = "what the block sees depends on what it puts out, in the same moment";
        return Err(Error::request(message));
    }
    let n = c.ncols();
    let rank = legwork_linear::rank(c, 1e-9).map_err(told)?;
    if rank < n {
        let unseen: Vec<&str> = (0..n)
            .filter(|j| (0..c.nrows()).all(|i| c[(i, *j)].abs() < 1e-9))
            .map(|j| plant.states[j].name.as_str())
            .collect();
        let which = match unseen.is_empty() {
            true => String::new(),
            false => format!(": not `{}`", unseen.join("`, `")),
        };
        return Err(Error::request(format!(
            "the input `x` of the block shows {rank} of {n} states{which}; connect the others, or \
             estimate them"
        )));
    }
    Ok(c.clone())
}

/// C⁺ = (Cᵀ C)⁻¹ Cᵀ.
fn inverse(c: &Mat<f64>) -> Result<Mat<f64>, Error> {
    legwork_linear::pseudoinverse(c).map_err(told)
}

/// A diagonal matrix of weights: one for all numbers, or one for each.
fn weights(what: &str, given: &[f64], len: usize) -> Result<Mat<f64>, Error> {
    let given = match given {
        [one] => vec![*one; len],
        list if list.len() == len => list.to_vec(),
        list => {
            let message = format!("expected 1 or {len} numbers for `{what}`, found {}", list.len());
            return Err(Error::request(message));
        }
    };
    match given.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
        Some(wrong) => Err(Error::request(format!("expected zero or more, found {wrong}"))),
        None => Ok(Mat::from_fn(len, len, |i, j| if i == j { given[i] } else { 0.0 })),
    }
}

/// The covariance of process noise in a period: of each state the last that names it.
fn process(plant: &Linearization, noise: &Noise, period: f64) -> Result<Mat<f64>, Error> {
    let n = plant.states.len();
    let mut diagonal = vec![0.0; n];
    for (name, covariance) in &noise.process {
        let is_named = |state: &&usize| {
            let own = &plant.states[**state].name;
            own == name
                || own.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with(['.', '[']))
        };
        let all: Vec<usize> = (0..n).collect();
        let named: Vec<usize> = all.iter().filter(is_named).copied().collect();
        if named.is_empty() {
            let known: Vec<&str> = plant.states.iter().map(|one| one.name.as_str()).collect();
            let known = known.join("`, `");
            return Err(Error::request(format!("no state `{name}`; there are `{known}`")));
        }
        if !(covariance.is_finite() && *covariance >= 0.0) {
            return Err(Error::request(format!("expected zero or more, found {covariance}")));
        }
        named.iter().for_each(|i| diagonal[*i] = covariance * period);
    }
    Ok(Mat::from_fn(n, n, |i, j| if i == j { diagonal[i] } else { 0.0 }))
}

/// s, or z = e^{sT}.
fn of_rate(s: c64, period: Option<f64>) -> c64 {
    match period {
        None => s,
        Some(period) => {
            let radius = (s.re * period).exp();
            let (sin, cos) = (s.im * period).sin_cos();
            c64::new(radius * cos, radius * sin)
        }
    }
}

/// A number with all its digits.
fn number(value: f64) -> String {
    format!("{value:?}")
}

fn list_text(values: &[f64]) -> String {
    let texts: Vec<String> = values.iter().map(|value| number(*value)).collect();
    format!("[{}]", texts.join(", "))
}

/// Rows of a matrix; one list where it is a single row, or column, that stands for a number. An
/// entry below 1e-12 of the largest is a residue of the arithmetic and written as 0.
fn matrix_text(matrix: &Mat<f64>, is_row: bool, is_column: bool) -> String {
    let nothing = 1e-12 * matrix.norm_max();
    let entry = |i, j| if matrix[(i, j)].abs() < nothing { 0.0 } else { matrix[(i, j)] };
    let row = |i: usize| (0..matrix.ncols()).map(|j| entry(i, j)).collect::<Vec<f64>>();
    if is_row && matrix.nrows() == 1 {
        return list_text(&row(0));
    }
    if is_column && matrix.ncols() == 1 {
        let column: Vec<f64> = (0..matrix.nrows()).map(|i| entry(i, 0)).collect();
        return list_text(&column);
    }
    let rows: Vec<String> = (0..matrix.nrows()).map(|i| list_text(&row(i))).collect();
    format!("[{}]", rows.join(", "))
}
