//! Gains for blocks of a diagram, designed on the diagram itself, as patches.

use legwork_block::Written;
use legwork_diagram::ron_text::{patch_text, value_text};
use legwork_linear::{Fixed, Mat, System, c64, filter, place, regulator, sampled};
use legwork_program::{Node, Rate};
use legwork_runtime::linear::InputPlace;
use serde_json::{Value, json};

use super::block::Ends;
use super::ends::{Number, named};
use super::figures::{matrix_written, number, of_rate, process, weights};
use super::reduction::{self, TakenOut, kept, moved, on_outputs};
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
    /// Patterns of the states for which the gain is designed; if empty, all states. A pattern is
    /// the name of a state, of a signal or block with states, or contains `*` for any characters.
    pub states: Vec<String>,
    /// Patterns of states that are left out; the design assumes that they do not move.
    pub without: Vec<String>,
}

/// Covariances for a Kalman filter.
#[derive(Debug, Clone)]
pub struct Noise {
    /// Covariance of the noise that adds to the rates of states, per second: by the name of a
    /// state, or of a signal, which means all of its numbers. For a continuous diagram and a period
    /// T it is integrated, `∫ e^{Aτ} W e^{Aᵀτ} dτ`; for a diagram with rates W T is added at the
    /// end of the period.
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
    pub settings: Vec<(String, Written)>,
    /// The patch, as the text of a file. Entries below 1e-12 of the largest of a matrix are 0.
    pub patch: String,
    /// States that the block sees nothing of, and that are no part of the design.
    pub left_out: Vec<String>,
    /// States that the request leaves out by name.
    pub left_out_by_name: Vec<String>,
    /// Directions of the states that no input moves, or no output shows, and that the design
    /// excludes.
    pub taken_out: Vec<TakenOut>,
    /// If states are left out by name, the poles of the loop with them.
    pub whole: Option<Vec<c64>>,
    /// K, or M.
    pub gain: Mat<f64>,
    /// The poles of the loop, or of the estimator.
    pub poles: Vec<c64>,
}

/// A design without its patch.
struct Found {
    plant: Linearization,
    left_out: Vec<String>,
    left_out_by_name: Vec<String>,
    taken_out: Vec<TakenOut>,
    whole: Option<Vec<c64>>,
    gain: Mat<f64>,
    poles: Vec<c64>,
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
        let is_map = plant.system.period.is_some();
        self.at_rate(&mut plant, block.node)?;
        let n = plant.system.states();
        let shows = match request.estimate {
            true => Mat::identity(n, n),
            false => plant.system.c.clone(),
        };
        if request.estimate && block.input("x").len() != n {
            let message = format!(
                "`{}.x` has {} numbers, the diagram {n} states: an estimate has as many",
                request.block,
                block.input("x").len()
            );
            return Err(Error::request(message));
        }
        if !request.estimate {
            expect_no_feedthrough(&plant)?;
        }
        let part = kept(&plant, &request.states, &request.without)?;
        let state_values = plant.values.clone();
        let full = plant.clone();
        plant.keep(&part);
        let which = match by {
            Feedback::Weights { .. } => Fixed::Lasting,
            Feedback::Poles(_) => Fixed::All,
        };
        let precision = reduction::precision(&full, is_map);
        let words = ("motion", "no input moves");
        let (split, taken_out) = moved(&plant, &plant.system, which, precision, words)?;
        let (gain, poles) = match by {
            Feedback::Weights { q, r } => {
                let q = weights("x", q, shows.nrows())?;
                let r = weights("u", r, plant.system.inputs())?;
                // x = C δ for the states that are kept.
                let c = Mat::from_fn(shows.nrows(), part.len(), |i, j| shows[(i, part[j])]);
                let c = c * &split.from;
                let q = c.transpose() * q * &c;
                let found = regulator(&split.system, &q, &r, None).map_err(told)?;
                (found.gain, found.poles)
            }
            Feedback::Poles(poles) => {
                expect_poles(poles, &split.system, &taken_out)?;
                let placed = poles.iter().map(|s| of_rate(*s, plant.system.period));
                let poles = placed.collect::<Result<Vec<c64>, Error>>()?;
                (place(&split.system, &poles).map_err(told)?, poles)
            }
        };
        let gain = on_outputs(&full, (&shows, &part), (&gain, &split.to))?;
        let left_out_by_name = full.names_without(&part);
        let whole = match left_out_by_name.is_empty() {
            true => None,
            false => {
                let closed = &full.system.a - &full.system.b * &gain * &shows;
                Some(legwork_linear::eigenvalues(closed.as_ref()).map_err(told)?)
            }
        };
        let at = |numbers: &[Number]| numbers.iter().map(|one| one.value).collect::<Vec<f64>>();
        let state = match request.estimate {
            true => state_values,
            false => at(&plant.outputs),
        };
        let input = at(&plant.inputs);
        let is_number = block.is_number;
        let settings = vec![
            (format!("{}.gain", request.block), matrix_written(&gain, is_number, false)),
            (format!("{}.state", request.block), Written::list(&state)),
            (
                format!("{}.input", request.block),
                if is_number { number(input[0]) } else { Written::list(&input) },
            ),
        ];
        let found = Found { plant, left_out, left_out_by_name, taken_out, whole, gain, poles };
        self.designed(found, settings).map(Ok)
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
        let part = kept(&plant, &request.states, &request.without)?;
        let left_out_by_name = plant.names_without(&part);
        plant.keep(&part);
        let continuous = plant.system.period.is_none().then(|| plant.system.a.clone());
        let precision = reduction::precision(&plant, continuous.is_none());
        self.at_rate(&mut plant, block.node)?;
        let Some(period) = plant.system.period else {
            let message =
                format!("`{}` is continuous; give it a period by `every:`", request.block);
            return Err(Error::request(message));
        };
        let process = process(&plant, noise, (continuous.as_ref(), period))?;
        let measurement = weights("y", &noise.measurement, plant.system.outputs())?;
        // Directions that no output shows are those that no input moves in the dual system.
        let (dual, words) = (plant.system.dual(), ("error", "no output shows"));
        let (split, taken_out) = moved(&plant, &dual, Fixed::Lasting, precision, words)?;
        let shown = split.from.transpose() * process * &split.from;
        let found = filter(&split.system.dual(), &shown, &measurement).map_err(told)?;
        let update = split.to.transpose() * &found.update;
        let System { a, b, c, d, .. } = &plant.system;
        let at = |numbers: &[Number]| numbers.iter().map(|one| one.value).collect::<Vec<f64>>();
        let (input, output) = (at(&plant.inputs), at(&plant.outputs));
        let (one_in, one_out) = (block.is_number("u"), block.is_number("y"));
        let path = |name: &str| format!("{}.{name}", request.block);
        let listed = |values: &[f64], is_number: bool| match values {
            [one] if is_number => number(*one),
            list => Written::list(list),
        };
        let mut settings = vec![
            (path("a"), matrix_written(a, false, false)),
            (path("b"), matrix_written(b, false, one_in)),
            (path("c"), matrix_written(c, one_out, false)),
            (path("gain"), matrix_written(&update, false, one_out)),
            (path("input"), listed(&input, one_in)),
            (path("output"), listed(&output, one_out)),
            (path("state"), Written::list(&plant.values)),
        ];
        if d.norm_max() > 0.0 {
            let text = match (one_in, one_out) {
                (true, true) => number(d[(0, 0)]),
                _ => matrix_written(d, one_out, one_in),
            };
            settings.push((path("d"), text));
        }
        let (gain, poles, whole) = (update, found.poles, None);
        let found = Found { plant, left_out, left_out_by_name, taken_out, whole, gain, poles };
        self.designed(found, settings).map(Ok)
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
    fn designed(&self, found: Found, settings: Vec<(String, Written)>) -> Result<Design, Error> {
        let diagram = settings.iter().fold(self.diagram().clone(), |diagram, (path, value)| {
            diagram.set(path, &value_text(value))
        });
        diagram.compile().model_or_errors().map_err(|error| {
            let message = format!("the diagram does not take the patch: {}", error.message());
            Error::new(ErrorKind::Check, message)
        })?;
        let patch = patch_text(None, &settings);
        let Found { plant, left_out, left_out_by_name, taken_out, whole, gain, poles } = found;
        Ok(Design {
            plant,
            settings,
            patch,
            left_out,
            left_out_by_name,
            taken_out,
            whole,
            gain,
            poles,
        })
    }
}

impl Design {
    /// All of it as JSON.
    pub fn to_json(&self) -> Value {
        let set: serde_json::Map<String, Value> = self
            .settings
            .iter()
            .map(|(path, value)| (path.clone(), value_text(value).into()))
            .collect();
        let names =
            |numbers: &[Number]| numbers.iter().map(|one| json!(one.name)).collect::<Value>();
        json!({
            "diagram": self.plant.diagram,
            "t_s": self.plant.time,
            "period_s": self.plant.system.period,
            "states": self.plant.states.iter().map(|one| json!(one.name)).collect::<Value>(),
            "left_out": self.left_out,
            "left_out_by_name": self.left_out_by_name,
            "taken_out": self.taken_out.iter().map(TakenOut::to_json).collect::<Value>(),
            "whole_poles": self.whole.as_ref().map(|poles| json::complexes(poles)),
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

    /// The most unstable pole of the loop with the states that are left out by name, or `None`: its
    /// growth exceeds rounding.
    pub fn unstable_whole(&self) -> Option<c64> {
        let poles = self.whole.as_ref()?;
        let largest = poles.iter().map(|pole| pole.norm()).fold(0.0, f64::max);
        let growth = |pole: &c64| match self.plant.system.period {
            None => pole.re - 1e-6 * largest,
            Some(_) => pole.norm() - 1.0 - 1e-6,
        };
        let worst = poles.iter().max_by(|a, b| growth(a).total_cmp(&growth(b)))?;
        (growth(worst) > 0.0).then_some(*worst)
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

/// Fails if the block's input depends directly on its output.
fn expect_no_feedthrough(plant: &Linearization) -> Result<(), Error> {
    let System { c, d, .. } = &plant.system;
    match d.norm_max() > 1e-9 * (1.0 + c.norm_max()) {
        false => Ok(()),
        true => {
            let message = "what the block sees depends on what it puts out, in the same moment";
            Err(Error::request(message))
        }
    }
}

/// Fails if the number of poles differs from the number of directions that inputs move.
fn expect_poles(poles: &[c64], system: &System, taken: &[TakenOut]) -> Result<(), Error> {
    let n = system.states();
    let found = poles.len();
    if found == n {
        return Ok(());
    }
    let expected = match taken.len() {
        0 => format!("expected {n} poles, one for each state, found {found}"),
        k => {
            let first = taken.first().map_or(String::new(), TakenOut::text);
            format!(
                "expected {n} poles, one for each direction that inputs move, found {found}: they \
                 do not move {k} directions, such as {first}"
            )
        }
    };
    Err(Error::request(expected))
}
