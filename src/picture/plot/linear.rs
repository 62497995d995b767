//! Responses of linear systems: Bode, Nyquist, Nichols, step, root locus.

use std::f64::consts::PI;

use legwork_linear::{
    Margins, System, c64, frequencies, margins, minimal, poles, root_locus, step_response,
};

use super::ink::{stroke, stroke_of};
use super::sheet::{Line, Panel, Sheet};
use super::trace::Trace;
use super::{Error, Look};

/// A kind of plot of a linear system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Response {
    /// Gain [dB] and phase [deg] over the frequency, with the margins.
    Bode,
    /// The response in the complex plane, with −1.
    Nyquist,
    /// Gain [dB] over phase [deg], with −180°.
    Nichols,
    /// The outputs after a unit step of each input.
    Step,
    /// Poles of the loop in negative feedback as its gain grows.
    Locus,
}

impl Response {
    /// All kinds with their names.
    pub const ALL: [(&'static str, Self); 5] = [
        ("bode", Self::Bode),
        ("nyquist", Self::Nyquist),
        ("nichols", Self::Nichols),
        ("step", Self::Step),
        ("locus", Self::Locus),
    ];
}

/// What a system is called in a plot.
#[derive(Debug, Clone, Default)]
pub struct Named {
    /// Names of the inputs.
    pub inputs: Vec<String>,
    /// Names of the outputs.
    pub outputs: Vec<String>,
}

/// Points of a frequency response: frequency [rad/s] and value.
pub type Measured = [(f64, c64)];

/// Draws a linear system. `measured` are points of its frequency response from elsewhere, such as a
/// simulation, that Bode and Nyquist show beside it.
///
/// # Errors
/// If the kind of plot is for one input and one output and there are more, an iteration does not
/// converge, or the plot does not fit its size.
pub fn linear(
    system: &System,
    kind: Response,
    names: &Named,
    measured: &Measured,
    look: &Look,
) -> Result<String, Error> {
    if kind != Response::Step && (system.inputs(), system.outputs()) != (1, 1) {
        let found = format!("{} and {}", system.inputs(), system.outputs());
        let message = format!("expected one input and one output, found {found}");
        return Err(Error::Linear(message));
    }
    let log_x = kind == Response::Bode;
    // Poles that a zero takes away show in no response but by rounding.
    let system = &minimal(system, 1e-9).map_err(told)?;
    let panels = match kind {
        Response::Bode => bode(system, measured)?,
        Response::Nyquist => nyquist(system, measured)?,
        Response::Nichols => nichols(system)?,
        Response::Step => steps(system, names)?,
        Response::Locus => locus(system)?,
    };
    Sheet { title: look.title.clone(), panels, log_x, log_y: false, size: look.size }.svg()
}

fn told(error: legwork_linear::Error) -> Error {
    use legwork_linear::Error::{NoSolution, Request};
    match error {
        NoSolution(message) | Request(message) => Error::Linear(message),
        other => Error::Linear(other.to_string()),
    }
}

fn line(name: &str, stroke: String, points: Vec<(f64, f64)>) -> Line {
    Line { name: name.to_owned(), stroke, trace: Trace::new(points) }
}

fn decibel(z: c64) -> f64 {
    20.0 * z.re.hypot(z.im).log10()
}

/// Frequencies, values, and phases [deg] that go on smoothly.
fn response(system: &System) -> Result<Vec<(f64, c64, f64)>, Error> {
    let grid = frequencies(system, 100).map_err(told)?;
    let mut out: Vec<(f64, c64, f64)> = Vec::with_capacity(grid.len());
    for w in grid {
        let z = system.at(system.point(w))[(0, 0)];
        if !(z.re.is_finite() && z.im.is_finite()) {
            continue;
        }
        let mut phase = z.im.atan2(z.re).to_degrees();
        let before = out.last().map_or(0.0, |last| last.2);
        phase += 360.0 * ((before - phase) / 360.0).round();
        out.push((w, z, phase));
    }
    Ok(out)
}

/// A number with three digits.
fn short(value: f64) -> String {
    let size = value.abs();
    if value != 0.0 && !(1e-2..1e4).contains(&size) {
        return format!("{value:.2e}");
    }
    let places = if size >= 100.0 {
        0
    } else if size >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.places$}")
}

/// The margins in words.
fn words(margins: &Margins) -> (String, String) {
    let gain = margins.nearest_gain().map_or_else(String::new, |one| {
        let (margin, w) = (short(20.0 * one.margin.log10()), short(one.frequency));
        format!("margin {margin} dB at {w} rad/s")
    });
    let phase = margins.nearest_phase().map_or_else(String::new, |one| {
        let (margin, w) = (short(one.margin.to_degrees()), short(one.frequency));
        format!("margin {margin} deg at {w} rad/s")
    });
    (gain, phase)
}

fn bode(system: &System, measured: &Measured) -> Result<Vec<Panel>, Error> {
    let response = response(system)?;
    let margins = margins(system).map_err(told)?;
    let (gain_words, phase_words) = words(&margins);
    let over = |of: fn(&(f64, c64, f64)) -> f64| -> Vec<(f64, f64)> {
        response.iter().map(|one| (one.0, of(one))).collect()
    };
    let (gains, phases) = (over(|one| decibel(one.1)), over(|one| one.2));
    let (first, last) = match (response.first(), response.last()) {
        (Some(first), Some(last)) => (first.0, last.0),
        _ => return Err(Error::Linear("the response is not finite anywhere".to_owned())),
    };
    let mut gain = vec![line("gain", stroke(0), gains)];
    let mut phase = vec![line("phase", stroke(0), phases)];
    if let Some(one) = margins.nearest_gain() {
        let level = -20.0 * one.margin.log10();
        gain.push(line("0 dB", stroke_of(6, 2), vec![(first, 0.0), (last, 0.0)]));
        // That at 0 stands at the edge.
        let at = one.frequency.max(first);
        gain.push(line(&gain_words, stroke(1), vec![(at, 0.0), (at, level)]));
    }
    if let Some(one) = margins.nearest_phase() {
        // Drawn on the branch of the curve.
        let near = |w: &(f64, c64, f64)| (w.0 / one.frequency).ln().abs();
        let here = response.iter().min_by(|a, b| near(a).total_cmp(&near(b)));
        let at = here.map_or(0.0, |here| here.2);
        let level = at - one.margin.to_degrees();
        phase.push(line("-180 deg", stroke_of(6, 2), vec![(first, level), (last, level)]));
        phase.push(line(
            &phase_words,
            stroke(1),
            vec![(one.frequency, level), (one.frequency, at)],
        ));
    }
    if !measured.is_empty() {
        let near = |w: f64| {
            let distance = |one: &(f64, c64, f64)| (one.0 / w).ln().abs();
            let here = response.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
            here.map_or(0.0, |here| here.2)
        };
        let gains = measured.iter().map(|(w, z)| (*w, decibel(*z))).collect();
        let phases = measured.iter().map(|(w, z)| {
            let phase = z.im.atan2(z.re).to_degrees();
            (*w, phase + 360.0 * ((near(*w) - phase) / 360.0).round())
        });
        gain.push(line("simulated", stroke_of(2, 1), gains));
        phase.push(line("simulated", stroke_of(2, 1), phases.collect()));
    }
    let panel = |heading: &str, left: &str, lines| Panel {
        heading: heading.to_owned(),
        left: left.to_owned(),
        below: Some("frequency [rad/s]".to_owned()),
        lines,
    };
    Ok(vec![panel("gain", "[dB]", gain), panel("phase", "[deg]", phase)])
}

fn nyquist(system: &System, measured: &Measured) -> Result<Vec<Panel>, Error> {
    let response = response(system)?;
    let margins = margins(system).map_err(told)?;
    let (gain, phase) = words(&margins);
    // Near a pole at the origin the curve leaves the picture.
    const FAR: f64 = 5.0;
    let shown = |z: &c64| z.re.hypot(z.im) < FAR;
    let near = response.iter().filter(|one| shown(&one.1)).map(|one| one.1);
    let upper: Vec<(f64, f64)> = near.clone().map(|z| (z.re, z.im)).collect();
    let lower: Vec<(f64, f64)> = near.map(|z| (z.re, -z.im)).collect();
    let circle = (0..=120).map(|i| {
        let (sin, cos) = (2.0 * PI * f64::from(i) / 120.0).sin_cos();
        (cos, sin)
    });
    let cross = |r: f64| vec![(-1.0 - r, 0.0), (-1.0 + r, 0.0), (-1.0, 0.0), (-1.0, r), (-1.0, -r)];
    let mut lines = vec![
        line("frequencies above 0", stroke(0), upper),
        line("below 0", stroke_of(0, 1), lower),
        line("gain 1", stroke_of(6, 2), circle.collect()),
        line("-1", stroke(1), cross(0.06)),
    ];
    if !measured.is_empty() {
        let points = measured.iter().filter(|(_, z)| shown(z)).map(|(_, z)| (z.re, z.im));
        lines.push(line("simulated", stroke_of(2, 1), points.collect()));
    }
    let mut heading = vec!["Nyquist".to_owned()];
    heading.extend((!gain.is_empty()).then(|| format!("gain {gain}")));
    heading.extend((!phase.is_empty()).then(|| format!("phase {phase}")));
    Ok(vec![Panel {
        heading: heading.join("; "),
        left: "imaginary".to_owned(),
        below: Some("real".to_owned()),
        lines,
    }])
}

fn nichols(system: &System) -> Result<Vec<Panel>, Error> {
    let response = response(system)?;
    let margins = margins(system).map_err(told)?;
    let (gain, phase) = words(&margins);
    let curve: Vec<(f64, f64)> = response.iter().map(|one| (one.2, decibel(one.1))).collect();
    // The critical point on the branch of the curve.
    let middle = margins.nearest_phase().and_then(|one| {
        let near = |w: &&(f64, c64, f64)| (w.0 / one.frequency).ln().abs();
        let here = response.iter().min_by(|a, b| near(a).total_cmp(&near(b)))?;
        Some(here.2 - one.margin.to_degrees())
    });
    let at = middle.unwrap_or(-180.0);
    let cross = vec![(at - 6.0, 0.0), (at + 6.0, 0.0), (at, 0.0), (at, 2.0), (at, -2.0)];
    let mut heading = vec!["Nichols".to_owned()];
    heading.extend((!gain.is_empty()).then(|| format!("gain {gain}")));
    heading.extend((!phase.is_empty()).then(|| format!("phase {phase}")));
    Ok(vec![Panel {
        heading: heading.join("; "),
        left: "gain [dB]".to_owned(),
        below: Some("phase [deg]".to_owned()),
        lines: vec![line("loop", stroke(0), curve), line("-1", stroke(1), cross)],
    }])
}

/// A panel for each output, a curve for each input.
fn steps(system: &System, names: &Named) -> Result<Vec<Panel>, Error> {
    let slowest = poles(system).map_err(told)?;
    let times = slowest.iter().map(|mode| mode.time_constant.abs()).filter(|t| t.is_finite());
    let longest = times.fold(0.0, f64::max);
    let least = system.period.map_or(1e-6, |period| 20.0 * period);
    let duration = if longest > 0.0 { 6.0 * longest } else { 10.0 }.clamp(least, 1e4);
    let name = |list: &[String], i: usize, what: &str| {
        list.get(i).cloned().unwrap_or_else(|| format!("{what} {i}"))
    };
    let mut panels: Vec<Panel> = (0..system.outputs())
        .map(|i| Panel {
            heading: name(&names.outputs, i, "output"),
            left: String::new(),
            below: None,
            lines: Vec::new(),
        })
        .collect();
    for j in 0..system.inputs() {
        let (times, rows) = step_response(system, j, duration, 800).map_err(told)?;
        for (i, panel) in panels.iter_mut().enumerate() {
            let points = times.iter().zip(&rows).map(|(t, row)| (*t, row[i])).collect();
            let trace = match system.period {
                None => Trace::new(points),
                Some(_) => Trace::held(points),
            };
            let name = format!("step of {}", name(&names.inputs, j, "input"));
            panel.lines.push(Line { name, stroke: stroke(j), trace });
        }
    }
    Ok(panels)
}

fn locus(system: &System) -> Result<Vec<Panel>, Error> {
    let locus = root_locus(system, 2000).map_err(told)?;
    let size = |z: &c64| z.re.hypot(z.im);
    let features = locus.open.iter().chain(&locus.zeros).map(size).fold(1.0, f64::max);
    let shown = 4.0 * features;
    let branches = locus.open.len();
    let mut lines = Vec::new();
    for branch in 0..branches {
        let points = locus.poles.iter().map(|poles| poles[branch]);
        let points = points.take_while(|z| size(z) < shown).map(|z| (z.re, z.im)).collect();
        let name = if branch == 0 { "poles as the gain grows" } else { "" };
        lines.push(line(name, stroke_of(0, 0), points));
    }
    let r = 0.02 * shown;
    let marks = |list: &[c64], mark: &dyn Fn(f64, f64) -> Vec<(f64, f64)>| -> Vec<(f64, f64)> {
        let nan = (f64::NAN, f64::NAN);
        list.iter().flat_map(|z| [mark(z.re, z.im), vec![nan]].concat()).collect()
    };
    let cross = |x: f64, y: f64| {
        vec![(x - r, y - r), (x + r, y + r), (x, y), (x - r, y + r), (x + r, y - r)]
    };
    let ring = |x: f64, y: f64| {
        let angles = (0..=24).map(|i| 2.0 * PI * f64::from(i) / 24.0);
        angles.map(|angle| (x + r * angle.cos(), y + r * angle.sin())).collect::<Vec<_>>()
    };
    lines.push(line("poles at gain 0", stroke(1), marks(&locus.open, &cross)));
    if !locus.zeros.is_empty() {
        lines.push(line("zeros", stroke_of(2, 0), marks(&locus.zeros, &ring)));
    }
    let border: Vec<(f64, f64)> = match system.period {
        None => vec![(0.0, -shown / 2.0), (0.0, shown / 2.0)],
        Some(_) => (0..=120)
            .map(|i| (2.0 * PI * f64::from(i) / 120.0).sin_cos())
            .map(|(sin, cos)| (cos, sin))
            .collect(),
    };
    lines.push(line("border of stability", stroke_of(6, 2), border));
    let is_stable = |poles: &Vec<c64>| poles.iter().all(|pole| system.is_stable_pole(*pole));
    // The first gain that loses what smaller ones had: an integrator is not stable without any.
    let had = locus.poles.iter().position(is_stable);
    let unstable = had.and_then(|had| {
        let lost = locus.poles[had..].iter().position(|poles| !is_stable(poles))?;
        Some(had + lost)
    });
    let heading = match unstable.and_then(|k| crossing(system, locus.gains[k])) {
        None => "root locus".to_owned(),
        Some(gain) => format!("root locus; unstable from a gain of {}", short(gain)),
    };
    Ok(vec![Panel { heading, left: "imaginary".to_owned(), below: Some("real".to_owned()), lines }])
}

/// The gain nearest to `gain` at which a pole crosses the border, if the loop is stable below.
fn crossing(system: &System, gain: f64) -> Option<f64> {
    let crossings = margins(system).ok()?.gain.into_iter().map(|one| one.margin);
    let distance = |margin: &f64| (margin / gain).ln().abs();
    let nearest = crossings.min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    (gain > 0.0 && distance(&nearest) < 0.5).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use legwork_linear::Mat;

    use super::*;

    /// L = 20 / (s (s + 1) (s + 10)).
    fn servo() -> System {
        let a = Mat::from_fn(3, 3, |i, j| {
            [[-11.0, -10.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]][i][j]
        });
        let b = Mat::from_fn(3, 1, |i, _| [1.0, 0.0, 0.0][i]);
        let c = Mat::from_fn(1, 3, |_, j| [0.0, 0.0, 20.0][j]);
        System::new(a, b, c, Mat::zeros(1, 1), None).expect("a system")
    }

    /// Phase crosses −180° at √10 rad/s, where |L| = 20/110: 14.8 dB.
    #[test]
    fn a_bode_plot_names_its_margins() {
        let look = Look::default();
        let svg = linear(&servo(), Response::Bode, &Named::default(), &[], &look).expect("a plot");
        assert!(svg.contains("margin 14.8 dB at 3.16 rad/s"), "{svg}");
        assert!(svg.contains("deg at 1.") && svg.contains("frequency [rad/s]"));
        for (name, kind) in Response::ALL {
            let svg =
                linear(&servo(), kind, &Named::default(), &[(1.0, c64::new(0.5, -1.0))], &look);
            assert!(svg.expect(name).starts_with("<svg"), "{name}");
        }
        let svg = linear(&servo(), Response::Locus, &Named::default(), &[], &look).expect("a plot");
        assert!(svg.contains("unstable from a gain of 5.5"), "the gain margin, 5.5: {svg}");
    }

    #[test]
    fn several_channels_have_no_bode_plot() {
        let two = System { c: Mat::zeros(2, 3), d: Mat::zeros(2, 1), ..servo() };
        let error = linear(&two, Response::Bode, &Named::default(), &[], &Look::default());
        assert_eq!(
            error.expect_err("two outputs").to_string(),
            "expected one input and one output, found 1 and 2"
        );
    }
}
