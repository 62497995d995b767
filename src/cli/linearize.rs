//! `legwork linearize`: a diagram as a linear system, its poles, zeros and margins.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use legwork_picture::plot::{Look, Named, Response, linear};
use legwork_study::linear::algebra::{Reach, c64};
use legwork_study::linear::{
    Analysis, How, LinearRequest, Linearization, Method, Number, Quality, SineRequest,
};
use legwork_study::{Library, Model, RunFault, fault_to_json, files};
use serde_json::{Value, json};

use super::answer::{Answer, Code, Failure};
use super::arguments::{pair, positive};
use super::moment::Moment;
use super::summary::{counted, digits, seconds, width_of};
use super::{console, diagnostics, picture};

/// Most signals that are named as examples.
const MOST_SIGNALS: usize = 6;

/// `legwork linearize`.
///
/// Gives A, B, C, D with the names and units of states, inputs and outputs, and what follows: poles
/// with damping and the state that moves most, transmission zeros, what inputs reach and outputs
/// show, and the margins of a loop of one input and one output. A continuous result goes block by
/// block: by the block's own derivative where it has one, else by differences of that block, which
/// the answer says. Contact is held as it is: differences are smaller than what opens or closes
/// one, and a block whose law has a kink is named.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
                  legwork linearize cart.ron --in force --out angle\n  \
                  legwork linearize demo:stand --at '3 s'\n  \
                  legwork linearize arm.ron --at trimmed --free torque.y --settle 0 --json\n  \
                  legwork linearize servo.ron --in error.y --out plant.y --plot bode=loop.svg   the opened loop\n\n\
                  `legwork help linear` explains states, periods and what is held.\n\n\
                  Exit codes: 0 done, 1 diagram error, 2 a run stopped at a fault, 3 nothing holds still, \
                  64 usage.")]
pub(crate) struct LinearizeArguments {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Draw it, as in `bode=loop.svg`: bode, nyquist, nichols, step or locus; .svg, or .png if
    /// legwork was built with the feature `png`; may be given several times.
    #[arg(long, value_name = "KIND=FILE", value_parser = plot)]
    pub(crate) plot: Vec<(Response, PathBuf)>,
    /// Run the diagram with sines of N frequencies at its input, and show what comes out beside its
    /// linearisation, in bode and nyquist plots too.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) simulate: Option<u16>,
    /// Amplitude of the sines, in the unit of the input.
    #[arg(long, value_name = "NUMBER", default_value = "1e-3", value_parser = positive)]
    pub(crate) amplitude: f64,
    /// Where to write what --json prints, too.
    #[arg(short, long, value_name = "FILE.json")]
    pub(crate) output: Option<PathBuf>,
}

/// `bode=loop.svg`.
fn plot(text: &str) -> Result<(Response, PathBuf), String> {
    let (name, file) = pair(text)?;
    let found = Response::ALL.iter().find(|(known, _)| *known == name);
    match found {
        Some((_, kind)) if !file.is_empty() => Ok((*kind, PathBuf::from(file))),
        Some(_) => Err("expected a file behind `=`".to_owned()),
        None => {
            let known: Vec<&str> = Response::ALL.iter().map(|(known, _)| *known).collect();
            Err(format!("expected one of {}, found `{name}`", known.join(", ")))
        }
    }
}

/// What is linearised, where and when.
#[derive(Debug, Args)]
pub(crate) struct Which {
    #[command(flatten)]
    pub(crate) moment: Moment,
    /// An input: a port, or a signal whose wires are opened; `+PATH` adds to the signal, and its
    /// loop stays closed [default: all input ports].
    #[arg(long = "in", value_name = "PATH")]
    pub(crate) inputs: Vec<String>,
    /// An output: a port, a signal or a part of one [default: all output ports].
    #[arg(long = "out", value_name = "PATH")]
    pub(crate) outputs: Vec<String>,
    /// Rates of the continuous states; blocks with a period act at once, or hold if they have
    /// state.
    #[arg(long, conflicts_with = "sampled")]
    pub(crate) continuous: bool,
    /// The map over one period of all rates, also where nothing is discrete.
    #[arg(long)]
    pub(crate) sampled: bool,
    /// Take differences of the whole diagram instead of going block by block; a check, and of the
    /// map over a period what is done anyway.
    #[arg(long)]
    pub(crate) differences: bool,
    /// Sample a continuous result with this period, as in `10 ms`; inputs hold in between.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, conflicts_with = "sampled")]
    pub(crate) every: Option<String>,
}

impl Which {
    /// What is asked of the study.
    ///
    /// # Errors
    /// If options do not go together.
    pub(crate) fn request(&self) -> Result<LinearRequest, Failure> {
        let sampled = match (self.sampled, self.continuous || self.every.is_some()) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        Ok(LinearRequest {
            at: self.moment.at(None)?,
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
            sampled,
            method: if self.differences { Method::Differences } else { Method::Blocks },
            every: self.every.clone(),
        })
    }
}

/// Linearises a diagram.
///
/// # Errors
/// If the file cannot be read, an input or output is none, or the output cannot be written.
pub(crate) fn linearize(
    arguments: &LinearizeArguments,
    library: &Library,
) -> Result<Answer, Failure> {
    let model = match arguments.which.moment.compile(library)? {
        Ok(model) => model,
        Err(answer) => return Ok(answer),
    };
    if let Some(path) = &arguments.output {
        files::refuse_input(path, model.inputs(&[]))?;
    }
    let request = arguments.which.request()?;
    let found = match model.linearize(&request)? {
        Ok(found) => found,
        Err(fault) => return Ok(faulted(&model, &fault)),
    };
    let mut simulated = Vec::new();
    if let Some(count) = arguments.simulate {
        let sine = SineRequest { count: count.into(), amplitude: arguments.amplitude };
        simulated = match model.sine_response(&request, &found, sine)? {
            Ok(simulated) => simulated,
            Err(fault) => return Ok(faulted(&model, &fault)),
        };
    }
    let analysis = found.analysis()?;
    let mut json = found.to_json(&analysis);
    let beside = beside(&found, &simulated);
    if arguments.simulate.is_some() {
        let point = |(w, z, linear): &(f64, c64, c64)| {
            json!({
                "frequency": w, "re": z.re, "im": z.im,
                "linear": { "re": linear.re, "im": linear.im },
            })
        };
        json.insert("simulated".to_owned(), beside.iter().map(point).collect());
    }
    if let Some(path) = &arguments.output {
        files::write(path, format!("{:#}\n", Value::Object(json.clone())))?;
        console::note(&format!("  wrote {}", path.display()));
    }
    draw(&arguments.plot, &found, &simulated, &model)?;
    json.insert("diagnostics".to_owned(), model.warnings_to_json());
    Ok(Answer::new(Code::Success, Value::Object(json))
        .text(text(&found, &analysis, &beside, &model)))
}

/// Simulated responses, each with that of the linearisation.
fn beside(found: &Linearization, simulated: &[(f64, c64)]) -> Vec<(f64, c64, c64)> {
    let system = &found.system;
    let one = |(w, z): &(f64, c64)| (*w, *z, system.at(system.point(*w))[(0, 0)]);
    simulated.iter().map(one).collect()
}

/// Writes the plots that are asked for.
fn draw(
    plots: &[(Response, PathBuf)],
    found: &Linearization,
    simulated: &[(f64, c64)],
    model: &Model,
) -> Result<(), Failure> {
    let names = |numbers: &[Number]| numbers.iter().map(|one| one.name.clone()).collect();
    let named = Named { inputs: names(&found.inputs), outputs: names(&found.outputs) };
    let title = match (&found.inputs[..], &found.outputs[..]) {
        ([input], [output]) => format!("{}: {} to {}", found.diagram, input.name, output.name),
        _ => found.diagram.clone(),
    };
    let look = Look { title: Some(title), ..Look::default() };
    for (kind, path) in plots {
        let svg = linear(&found.system, *kind, &named, simulated, &look);
        let svg = svg.map_err(|error| Failure::usage(error.to_string()))?;
        picture::write(path, svg, &model.inputs(&[]))?;
    }
    Ok(())
}

/// A run that faulted on the way.
pub(crate) fn faulted(model: &Model, fault: &RunFault) -> Answer {
    diagnostics::say_fault(fault, model.sources());
    let json = json!({
        "diagram": model.diagram().name(),
        "fault": fault_to_json(fault, model.sources()),
        "diagnostics": model.warnings_to_json(),
    });
    Answer::new(Code::Fault, json)
}

/// What people read.
fn text(
    found: &Linearization,
    analysis: &Analysis,
    simulated: &[(f64, c64, c64)],
    model: &Model,
) -> String {
    let mut out = String::new();
    let system = &found.system;
    let kind = match system.period {
        None => "continuous".to_owned(),
        Some(period) => format!("sampled every {}", seconds(period)),
    };
    let count = |n: usize, noun| counted(n as u64, noun);
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "{} at t = {}: {kind}, {}, {}, {}",
        found.diagram,
        seconds(found.time),
        count(system.states(), "state"),
        count(system.inputs(), "input"),
        count(system.outputs(), "output"),
    );
    for (what, numbers) in [("input", &found.inputs), ("output", &found.outputs)] {
        for one in numbers {
            let unit = one.unit.as_deref().filter(|unit| *unit != "1").unwrap_or_default();
            let line = format!("  {what:<8} {} = {} {unit}", one.name, digits(one.value));
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }
    if found.inputs.is_empty() && found.outputs.is_empty() {
        let signals = model.program().log.iter().map(|channel| channel.signal.path.as_str());
        let signals: Vec<&str> = signals.take(MOST_SIGNALS).collect();
        let _ = writeln!(
            out,
            "  no ports: `--in SIGNAL` opens a signal as an input, `--out SIGNAL` takes one as an \
             output; recorded are {}",
            signals.join(", ")
        );
    }
    poles(&mut out, found, analysis);
    if let Some(zeros) = &analysis.zeros {
        let list: Vec<String> = upper(zeros).map(complex).collect();
        let list = if list.is_empty() { "none".to_owned() } else { list.join(", ") };
        let _ = writeln!(out, "  zeros    {list}");
    }
    let n = system.states();
    if let Some(reach) = &analysis.controllable {
        let _ = writeln!(out, "  inputs   reach {}", reached(reach, n));
    }
    if let Some(reach) = &analysis.observable {
        let _ = writeln!(out, "  outputs  show {}", reached(reach, n));
    }
    if let Some(margins) = &analysis.margins {
        let degrees = |radians: f64| digits(radians.to_degrees());
        if let Some(one) = margins.nearest_gain() {
            let (gain, at) = (digits(one.margin), digits(one.frequency));
            let _ = writeln!(out, "  margins  gain {gain} at {at} rad/s");
        }
        if let Some(one) = margins.nearest_phase() {
            let (phase, at) = (degrees(one.margin), digits(one.frequency));
            let _ = writeln!(out, "  margins  phase {phase} deg at {at} rad/s");
        }
    }
    for (w, z, linear) in simulated {
        let apart = (z.re - linear.re).hypot(z.im - linear.im) / linear.re.hypot(linear.im);
        let gain = digits(20.0 * z.re.hypot(z.im).log10());
        let phase = digits(z.im.atan2(z.re).to_degrees());
        let (w, apart) = (digits(*w), digits(100.0 * apart));
        let _ = writeln!(out, "  sine     {w} rad/s: {gain} dB, {phase} deg, {apart} % apart");
    }
    slopes(&mut out, found);
    for note in found.notes() {
        let _ = writeln!(out, "  note     {note}");
    }
    if !found.held.is_empty() {
        let names = found.held.join("`, `");
        let _ = writeln!(out, "  held     discrete state of `{names}`");
    }
    out
}

/// Most blocks that are named of those that were differenced.
const MOST_NAMES: usize = 4;

/// How the slopes of blocks were found: how many by what, and which not by their derivative.
fn slopes(out: &mut String, found: &Linearization) {
    let count = |is: fn(How) -> bool| found.blocks.iter().filter(|one| is(one.how)).count();
    let named = |is: fn(How) -> bool| {
        let all = found.blocks.iter().filter(|one| is(one.how));
        let names: Vec<String> = all.map(|one| format!("`{}`", one.path)).collect();
        match names.len().checked_sub(MOST_NAMES) {
            None | Some(0) => names.join(", "),
            Some(more) => format!("{} and {more} more", names[..MOST_NAMES].join(", ")),
        }
    };
    let analytic = count(|how| how == How::Analytic);
    let is_differenced = |how: How| matches!(how, How::Differences(_));
    let mut told = Vec::new();
    if analytic > 0 {
        told.push(format!("{} by derivatives", counted(analytic as u64, "block")));
    }
    if count(is_differenced) > 0 {
        told.push(format!("by differences of the block {}", named(is_differenced)));
    }
    for (is, what) in [
        ((|how| matches!(how, How::Whole(_))) as fn(How) -> bool, "of the whole diagram"),
        (|how| matches!(how, How::Period(_)), "of the map over the period"),
    ] {
        if count(is) > 0 {
            told.push(format!("by differences {what}"));
        }
    }
    // Writing to a String cannot fail.
    if !told.is_empty() {
        let _ = writeln!(out, "  slopes   {}", told.join("; "));
    }
    for one in &found.blocks {
        let meaning = match one.how.quality() {
            Quality::Smooth => continue,
            Quality::Close => "by differences that are close together, to six digits",
            Quality::Kink => "has a kink here: the mean of the slopes on both sides",
            Quality::OneSided => "faults on one side: the slope of the other",
        };
        let _ = writeln!(out, "  note     `{}` {meaning}", one.path);
    }
}

/// The table of poles, one line for each pair.
fn poles(out: &mut String, found: &Linearization, analysis: &Analysis) {
    let rows: Vec<[String; 5]> = analysis
        .poles
        .iter()
        .zip(&analysis.dominant)
        .filter(|(mode, _)| mode.pole.im >= 0.0)
        .map(|(mode, state)| {
            [
                complex(mode.pole),
                digits(mode.frequency),
                digits(mode.damping),
                digits(mode.time_constant),
                found.states.get(*state).map_or(String::new(), |state| state.name.clone()),
            ]
        })
        .collect();
    let head = ["pole", "rad/s", "damping", "time [s]", "state"].map(str::to_owned);
    let width =
        |i: usize| rows.iter().chain([&head]).map(|row| width_of(&row[i])).max().unwrap_or(0);
    let widths: Vec<usize> = (0..5).map(width).collect();
    for row in [&head].into_iter().chain(&rows) {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        let _ = writeln!(out, "  {}", line.trim_end());
    }
    let stable = if analysis.stable { "all motions die out" } else { "not all motions die out" };
    let _ = writeln!(out, "  {stable}");
}

/// Of each pair the upper one.
fn upper(values: &[c64]) -> impl Iterator<Item = c64> + '_ {
    values.iter().copied().filter(|z| z.im >= 0.0)
}

/// `-1.2`, or `-1.2 ± 3i`.
pub(crate) fn complex(z: c64) -> String {
    match z.im == 0.0 {
        true => digits(z.re),
        false => format!("{} ± {}i", digits(z.re), digits(z.im.abs())),
    }
}

/// `all 4 states`, or how many with the poles of the rest.
fn reached(reach: &Reach, states: usize) -> String {
    if reach.dimension == states {
        return format!("all {} (least singular value {:.1e})", states, reach.kept);
    }
    let fixed: Vec<String> = upper(&reach.fixed).map(complex).collect();
    format!(
        "{} of {states} (gap {:.1e} to {:.1e}); not the poles {}",
        reach.dimension,
        reach.kept,
        reach.dropped,
        fixed.join(", ")
    )
}
