//! `legwork fit`: parameters with which a diagram moves as a measurement did; `legwork gradient`:
//! how its metrics depend on parameters.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use legwork_study::fit::{Fit, FitRequest, Gradient, GradientRequest, Parameter};
use legwork_study::{Library, files};
use serde_json::{Value, json};

use super::answer::{Answer, Code, Failure};
use super::arguments::{Overrides, pair, positive};
use super::summary::{counted, digits};
use super::{console, diagnostics, interrupt};

/// `legwork fit`.
///
/// Seeks parameters between bounds, by least squares: the diagram is run with others and others
/// until what it does is as near to a table as it gets. The table is one of comma-separated values:
/// the time `t` first, the other columns named like signals, as `legwork export` writes them. Each
/// column counts in units of its own spread.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
                  legwork fit arm.ron --to measured.csv --params 'm=1 kg..3 kg' --params 'mu=0.2..1@0.7'\n  \
                  legwork fit trot.ron --to run.csv --signals 'body.state.base.position[2]' --params kd=0.5..3 -o found.patch\n\n\
                  Behind @ stands where the search begins. An error is the standard error if errors of \
                  the measurement are independent.\n\n\
                  Exit codes: 0 done, 1 diagram error, 2 a run stopped at a fault, 3 the search did not \
                  end by itself, 64 usage.")]
pub(crate) struct FitArguments {
    /// The diagram.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
    /// The measured table.
    #[arg(long, value_name = "TABLE.csv")]
    pub(crate) to: PathBuf,
    /// A parameter with its bounds, as in `m=1 kg..3 kg`; may be given several times.
    #[arg(long, value_name = "PATH=LOW..HIGH[@START]", required = true)]
    pub(crate) params: Vec<String>,
    /// Compare this column alone; may be given several times [default: all].
    #[arg(long, value_name = "COLUMN")]
    pub(crate) signals: Vec<String>,
    /// Iterations after which the search ends.
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) iterations: u32,
    /// Where to write the patch; standard output without it.
    #[arg(short, long, value_name = "PATCH")]
    pub(crate) output: Option<PathBuf>,
}

/// `legwork gradient`.
///
/// Runs the diagram with each parameter a little more and a little less; the change of each metric
/// per change of the parameter, and of their shares.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
                  legwork gradient trot.ron --param 'kp=60 N*m/rad' --param mu=0.7 --metric power\n\n\
                  Metrics are the values of `judge:` and what blocks measure. An error is how far \
                  differences of two widths are apart.\n\n\
                  Exit codes: 0 done, 1 diagram error, 2 a run stopped at a fault, 64 usage.")]
pub(crate) struct GradientArguments {
    /// The diagram.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
    /// A parameter and its value; may be given several times.
    #[arg(long, value_name = "PATH=VALUE", value_parser = pair, required = true)]
    pub(crate) param: Vec<(String, String)>,
    /// A metric; may be given several times [default: all].
    #[arg(long, value_name = "NAME")]
    pub(crate) metric: Vec<String>,
    /// How far parameters are changed, as a share of them.
    #[arg(long, value_name = "SHARE", default_value = "1e-3", value_parser = positive)]
    pub(crate) step: f64,
}

/// Fits parameters.
///
/// # Errors
/// If a file cannot be read or written, or the diagram, its parameters and the table do not fit.
pub(crate) fn fit(arguments: &FitArguments, library: &Library) -> Result<Answer, Failure> {
    let parameters =
        arguments.params.iter().map(|text| Parameter::parse(text)).collect::<Result<_, _>>()?;
    let table = files::read(&arguments.to, files::SIZE_LIMIT).map_err(|error| {
        Failure::usage(format!("cannot read `{}`: {error}", arguments.to.display()))
    })?;
    let diagram = arguments.overrides.open(&arguments.file, None, library)?;
    let compiled = diagram.compile();
    diagnostics::say_all(&compiled.diagnostics, &compiled.sources);
    let Some(model) = &compiled.model else {
        let name = arguments.file.display().to_string();
        let json = json!({ "diagram": name, "diagnostics": compiled.to_json() });
        return Ok(Answer::new(Code::Diagram, json));
    };
    if let Some(path) = &arguments.output {
        files::refuse_input(path, model.inputs(std::slice::from_ref(&arguments.to)))?;
    }
    let cancel = interrupt::listen();
    let request = FitRequest {
        parameters,
        signals: arguments.signals.clone(),
        jobs: None,
        iterations: Some(arguments.iterations),
    };
    let found = match diagram.fit(&table, &request, cancel) {
        Err(_) if cancel.is_cancelled() => {
            return Ok(Answer::new(interrupt::code(), json!({ "diagram": diagram.name() })));
        }
        found => found?,
    };
    for warning in &found.warnings {
        console::note(&format!("warning: {}: {warning}", arguments.to.display()));
    }
    say(&found);
    let mut json = found.to_json();
    json.insert("diagnostics".to_owned(), model.warnings_to_json());
    let code = if found.converged { Code::Success } else { Code::Check };
    let Some(path) = &arguments.output else {
        return Ok(Answer::new(code, Value::Object(json)).text(found.patch));
    };
    files::write(path, &found.patch)?;
    console::note(&format!("  wrote {}", path.display()));
    json.insert("file".to_owned(), path.display().to_string().into());
    Ok(Answer::new(code, Value::Object(json)))
}

/// Says what was found to people.
fn say(found: &Fit) {
    let Fit { diagram, iterations, runs, converged, .. } = found;
    let how = if *converged { "found" } else { "not at its end" };
    console::note(&format!(
        "{diagram}: {how}, after {} and {}",
        counted(u64::from(*iterations), "iteration"),
        counted(u64::from(*runs), "run"),
    ));
    for one in &found.parameters {
        let error = match one.error {
            Some(error) => format!(" ± {}", digits(error)),
            None => " (the measurement does not tell it)".to_owned(),
        };
        let bound = if one.at_bound { ", at its bound" } else { "" };
        let line = format!("{}{error} {}", digits(one.value), one.parameter.unit);
        console::note(&format!("  {} = {}{bound}", one.parameter.path, line.trim_end()));
    }
    for one in &found.matches {
        let unit = one.unit.as_deref().unwrap_or_default();
        let line = format!("{} from {} {unit}", digits(one.after), digits(one.before));
        console::note(&format!("  {} is off by {}", one.name, line.trim_end()));
    }
    if !converged {
        console::say("error: the search did not end by itself; give it more --iterations");
    }
}

/// Finds gradients.
///
/// # Errors
/// If the diagram cannot be read, a parameter or a metric is none, or a run does not end well.
pub(crate) fn gradient(
    arguments: &GradientArguments,
    library: &Library,
) -> Result<Answer, Failure> {
    let diagram = arguments.overrides.open(&arguments.file, None, library)?;
    let compiled = diagram.compile();
    diagnostics::say_all(&compiled.diagnostics, &compiled.sources);
    if compiled.model.is_none() {
        let name = arguments.file.display().to_string();
        let json = json!({ "diagram": name, "diagnostics": compiled.to_json() });
        return Ok(Answer::new(Code::Diagram, json));
    }
    let cancel = interrupt::listen();
    let request = GradientRequest {
        parameters: arguments.param.clone(),
        metrics: arguments.metric.clone(),
        step: arguments.step,
        jobs: None,
    };
    let found = match diagram.gradient(&request, cancel) {
        Err(_) if cancel.is_cancelled() => {
            return Ok(Answer::new(interrupt::code(), json!({ "diagram": diagram.name() })));
        }
        found => found?,
    };
    let json = json!({
        "diagram": diagram.name(),
        "gradients": found.iter().map(Gradient::to_json).collect::<Value>(),
        "diagnostics": compiled.to_json(),
    });
    Ok(Answer::new(Code::Success, json).text(table(&found)))
}

/// A line for each metric and parameter.
fn table(found: &[Gradient]) -> String {
    let mut out = String::new();
    for one in found {
        let metric = one.metric_unit.as_deref().unwrap_or("1");
        let unit = match one.parameter_unit.as_str() {
            "" => metric.to_owned(),
            unit => format!("{metric} per {unit}"),
        };
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "d {} / d {} = {} ± {} {unit}; of shares {}",
            one.metric,
            one.parameter,
            digits(one.slope),
            digits(one.error),
            digits(one.relative),
        );
    }
    out
}
