//! `legwork lqr`, `legwork place`, `legwork kalman`: gains for blocks of a diagram, as patches.

use std::path::PathBuf;

use clap::Args;
use legwork_study::linear::algebra::c64;
use legwork_study::linear::{Design, DesignRequest, Feedback, Noise};
use legwork_study::{Library, Model, RunFault, files};

use super::answer::{Answer, Code, Failure};
use super::arguments::pair;
use super::console;
use super::linearize::{complex, faulted};
use super::moment::Moment;
use super::summary::{digits, seconds};

/// What all designs have in common.
#[derive(Debug, Args)]
pub(crate) struct On {
    #[command(flatten)]
    pub(crate) moment: Moment,
    /// The block that gets the gain.
    #[arg(long, value_name = "PATH")]
    pub(crate) block: String,
    /// States that the gain is designed on; all without it. A pattern is the name of a state, of a
    /// signal or block that has states, or has `*` for any characters.
    #[arg(long, value_name = "PATTERN", num_args = 1.., value_delimiter = ',')]
    pub(crate) states: Vec<String>,
    /// States that are left out, as patterns: they are taken to stay where they are.
    #[arg(long, value_name = "PATTERN", num_args = 1.., value_delimiter = ',')]
    pub(crate) without: Vec<String>,
    /// Where to write the patch; standard output without it.
    #[arg(short, long, value_name = "PATCH")]
    pub(crate) output: Option<PathBuf>,
}

/// `legwork lqr`.
///
/// Opens the diagram at a block of state feedback, such as Lqr, linearises the rest from its output
/// `u` to its input `x`, and finds the gain of least cost: the integral of x' Q x + u' R u, or its
/// sum over the hits of a block with a period. The patch sets gain, state and input of the block.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
                  legwork lqr cart.ron --block balance --q 10,100,1,1 --r 0.1 -o gains.patch\n  \
                  legwork run cart.ron --with gains.patch\n  \
                  legwork lqr cart.ron --block balance --estimate --q 10,100   behind a KalmanFilter\n\n\
                  legwork lqr stand.ron --block balance --without 'sim.body.state.s_dot*'\n\n\
                  Directions that no input moves, such as feet that the ground holds, are taken \
                  out and listed.\n\
                  `legwork help design` explains what is designed on what.\n\n\
                  Exit codes: 0 done, 1 diagram error, 2 a run stopped at a fault, 3 no gain makes it \
                  stable, 64 usage.")]
pub(crate) struct LqrArguments {
    #[command(flatten)]
    pub(crate) on: On,
    /// Weights of the numbers of `x`, one or all; zero or more.
    #[arg(
        long,
        value_name = "NUMBERS",
        value_delimiter = ',',
        default_value = "1",
        allow_negative_numbers = true
    )]
    pub(crate) q: Vec<f64>,
    /// Weights of the numbers of `u`, one or all; above zero.
    #[arg(
        long,
        value_name = "NUMBERS",
        value_delimiter = ',',
        default_value = "1",
        allow_negative_numbers = true
    )]
    pub(crate) r: Vec<f64>,
    /// `x` is an estimate of the states, in their order, as KalmanFilter puts out.
    #[arg(long)]
    pub(crate) estimate: bool,
}

/// `legwork place`.
///
/// As `legwork lqr`, with the poles of the closed loop stated instead of weights. Several inputs
/// leave a choice, which is made for poles that depend little on errors of the model.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
                  legwork place cart.ron --block balance --poles=-2,-3,-4+1i,-4-1i -o gains.patch\n\n\
                  Poles are those of continuous time [1/s]; a block with a period T gets e^(sT).\n\
                  A pole may be repeated. Directions that no input moves are taken out and \
                  listed.\n\n\
                  Exit codes: 0 done, 1 diagram error, 2 a run stopped at a fault, 3 a pole that no \
                  input moves, 64 usage.")]
pub(crate) struct PlaceArguments {
    #[command(flatten)]
    pub(crate) on: On,
    /// One pole for each state that inputs move [1/s]; complex ones in pairs.
    #[arg(
        long, value_name = "POLES", value_delimiter = ',', allow_hyphen_values = true,
        required = true, value_parser = pole
    )]
    pub(crate) poles: Vec<c64>,
    /// `x` is an estimate of the states, in their order, as KalmanFilter puts out.
    #[arg(long)]
    pub(crate) estimate: bool,
}

/// `legwork kalman`.
///
/// Opens the diagram at the inputs `u` and `y` of an estimator, such as KalmanFilter, linearises
/// the rest from `u` to `y`, and finds the gain of the steady state for its period. The patch sets
/// model, gain and equilibrium of the block.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
                  legwork kalman cart.ron --block estimate --w body.state.s_dot=0.1 --v 1e-4\n\n\
                  `legwork linearize` names the states.\n\n\
                  Exit codes: 0 done, 1 diagram error, 2 a run stopped at a fault, 3 no gain makes errors \
                  die out, 64 usage.")]
pub(crate) struct KalmanArguments {
    #[command(flatten)]
    pub(crate) on: On,
    /// Noise that drives states, by a pattern as of `--states`: its covariance per second.
    #[arg(long = "w", value_name = "STATE=COVARIANCE", value_parser = pair, required = true)]
    pub(crate) process: Vec<(String, String)>,
    /// Covariances of the measurement's noise, one or all.
    #[arg(
        long = "v",
        value_name = "NUMBERS",
        value_delimiter = ',',
        default_value = "1",
        allow_negative_numbers = true
    )]
    pub(crate) measurement: Vec<f64>,
}

/// What a design comes to: a fault on the way is an answer.
type Designed = Result<Result<Design, RunFault>, legwork_study::Error>;

/// `-2`, `-4+1i`, `3i`.
fn pole(text: &str) -> Result<c64, String> {
    let wrong = || format!("expected a pole such as `-2` or `-4+1i`, found `{text}`");
    let text = text.trim();
    let number = |text: &str| match text {
        "" | "+" => Some(1.0),
        "-" => Some(-1.0),
        text => text.parse::<f64>().ok().filter(|number| number.is_finite()),
    };
    let Some(complex) = text.strip_suffix(['i', 'j']) else {
        let re = text.parse::<f64>().ok().filter(|number| number.is_finite());
        return re.map(|re| c64::new(re, 0.0)).ok_or_else(wrong);
    };
    // The sign in front of the imaginary part: no sign of an exponent.
    let is_sign = |(at, c): &(usize, char)| {
        *at > 0 && matches!(c, '+' | '-') && !complex[..*at].ends_with(['e', 'E'])
    };
    match complex.char_indices().rfind(is_sign) {
        Some((at, _)) => {
            let re = complex[..at].parse::<f64>().ok();
            let im = number(&complex[at..]);
            re.zip(im).map(|(re, im)| c64::new(re, im)).ok_or_else(wrong)
        }
        None => number(complex).map(|im| c64::new(0.0, im)).ok_or_else(wrong),
    }
}

/// Designs a regulator.
///
/// # Errors
/// If the diagram, the block or the weights do not fit, or the patch cannot be written.
pub(crate) fn lqr(arguments: &LqrArguments, library: &Library) -> Result<Answer, Failure> {
    let LqrArguments { on, q, r, estimate } = arguments;
    let by = Feedback::Weights { q: q.clone(), r: r.clone() };
    on.design(library, |model, request| {
        model.feedback(&DesignRequest { estimate: *estimate, ..request }, &by)
    })
}

/// Places poles.
///
/// # Errors
/// If the diagram, the block or the poles do not fit, or the patch cannot be written.
pub(crate) fn place(arguments: &PlaceArguments, library: &Library) -> Result<Answer, Failure> {
    let PlaceArguments { on, poles, estimate } = arguments;
    let by = Feedback::Poles(poles.clone());
    on.design(library, |model, request| {
        model.feedback(&DesignRequest { estimate: *estimate, ..request }, &by)
    })
}

/// Designs a Kalman filter.
///
/// # Errors
/// If the diagram, the block or the covariances do not fit, or the patch cannot be written.
pub(crate) fn kalman(arguments: &KalmanArguments, library: &Library) -> Result<Answer, Failure> {
    let mut process = Vec::new();
    for (name, text) in &arguments.process {
        let covariance = text.parse::<f64>().map_err(|_| {
            Failure::usage(format!("expected a covariance for `{name}`, found `{text}`"))
        })?;
        process.push((name.clone(), covariance));
    }
    let noise = Noise { process, measurement: arguments.measurement.clone() };
    arguments.on.design(library, |model, request| model.kalman(&request, &noise))
}

impl On {
    /// Opens the diagram, designs, and hands on the patch.
    fn design(
        &self,
        library: &Library,
        design: impl Fn(&Model, DesignRequest) -> Designed,
    ) -> Result<Answer, Failure> {
        let at = self.moment.at(Some("0"))?;
        let model = match self.moment.compile(library)? {
            Ok(model) => model,
            Err(answer) => return Ok(answer),
        };
        if let Some(path) = &self.output {
            files::refuse_input(path, model.inputs(&[]))?;
        }
        let request = DesignRequest {
            block: self.block.clone(),
            at,
            estimate: false,
            states: self.states.clone(),
            without: self.without.clone(),
        };
        let found = match design(&model, request)? {
            Ok(found) => found,
            Err(fault) => return Ok(faulted(&model, &fault)),
        };
        say(&found);
        let mut json = found.to_json();
        json["diagnostics"] = model.warnings_to_json();
        let Some(path) = &self.output else {
            return Ok(Answer::new(Code::Success, json).text(found.patch));
        };
        files::write(path, &found.patch)?;
        let with = path.display().to_string();
        console::note(&format!(
            "  wrote {with}; use it with `{}`",
            self.moment.overrides.run_with(&found.plant.diagram, &with)
        ));
        json["file"] = with.into();
        Ok(Answer::new(Code::Success, json))
    }
}

/// Says what was found to people.
fn say(found: &Design) {
    let kind = match found.plant.system.period {
        None => "in continuous time".to_owned(),
        Some(period) => format!("every {}", seconds(period)),
    };
    let names: Vec<&str> = found.plant.states.iter().map(|state| state.name.as_str()).collect();
    console::note(&format!("{}: a gain {kind}, on {} states", found.plant.diagram, names.len()));
    console::note(&format!("  states     {}", names.join(", ")));
    if !found.left_out.is_empty() {
        let names = found.left_out.join(", ");
        console::note(&format!("  left out   {names}: the block sees nothing of it"));
    }
    if !found.left_out_by_name.is_empty() {
        let names = found.left_out_by_name.join(", ");
        console::note(&format!("  left out   {names}: by name"));
    }
    for (at, one) in found.taken_out.iter().enumerate() {
        let head = if at == 0 { "taken out" } else { "" };
        let (pole, text) = (complex(one.pole), one.text());
        console::note(&format!("  {head:<9}  {text}: pole {pole}, which the gain does not move"));
    }
    let listed = |poles: &[c64]| {
        let pairs = poles.iter().filter(|pole| pole.im >= 0.0).map(|pole| complex(*pole));
        pairs.collect::<Vec<String>>().join(", ")
    };
    console::note(&format!("  poles      {}", listed(&found.poles)));
    if found.plant.system.period.is_some() {
        let poles = listed(&found.continuous_poles());
        console::note(&format!("             in continuous time, s = ln(z)/T: {poles} [1/s]"));
    }
    if let Some(pole) = found.unstable_whole() {
        console::note(&format!(
            "warning: the states that are left out make the loop unstable: with them it has the \
             pole {}",
            complex(pole)
        ));
    }
    if let Some((name, rate)) = found.drift() {
        console::note(&format!(
            "warning: it is no equilibrium: `{name}` moves at {} per second, and what is written \
             as the setpoint is where it begins; `--at trimmed` takes the equilibrium nearby",
            digits(rate)
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poles_are_read() {
        for (text, re, im) in [
            ("-2", -2.0, 0.0),
            ("-4+1i", -4.0, 1.0),
            ("-4-1.5i", -4.0, -1.5),
            ("-1e-3+2e-1i", -1e-3, 0.2),
            ("3i", 0.0, 3.0),
            ("-i", 0.0, -1.0),
            ("-1-j", -1.0, -1.0),
        ] {
            assert_eq!(pole(text), Ok(c64::new(re, im)), "{text}");
        }
        for wrong in ["", "x", "1+xi", "nan", "inf", "1+2"] {
            assert!(pole(wrong).is_err(), "{wrong}");
        }
    }
}
