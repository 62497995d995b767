//! Which numbers of which runs go into which panel.

use legwork_runtime::catalog::Numbers;
use legwork_runtime::recording::Kind;

use super::ink::stroke_of;
use super::sheet::{Line, Panel};
use super::trace::Trace;
use super::{Error, Recorded, Window};

/// Most panels of a picture.
const MOST_PANELS: usize = 40;
/// Most panels that are drawn if no signal is named.
const MOST_UNASKED: usize = 12;
/// Most numbers of a signal that is drawn unasked.
const MOST_NUMBERS: usize = 24;
/// Colours before dashes change.
const COLOURS: usize = 7;

/// A signal that is drawn: numbers of one name, by run.
#[derive(Debug, Clone)]
pub struct Signal {
    name: String,
    unit: Option<String>,
    /// By run; none where the run has nothing of this name.
    by_run: Vec<Option<Numbers>>,
    /// Whether the path named this alone; parts of a bus get a panel each.
    alone: bool,
}

impl Signal {
    /// Path of the signal, such as `body.state.base.position`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name; of a single number, with what else it is called: `body.state.s[3] (knee)`.
    fn heading(&self) -> String {
        let numbers = self.by_run.iter().flatten().next();
        match numbers.map(|numbers| (numbers.elements.as_slice(), numbers.labels.as_slice())) {
            Some(([element], [label])) if *element == self.name => format!("{element} ({label})"),
            _ => self.name.clone(),
        }
    }

    /// Paths of the numbers.
    pub fn elements(&self) -> &[String] {
        self.by_run.iter().flatten().next().map_or(&[], |numbers| &numbers.elements)
    }

    /// The unit, if it has one.
    pub fn unit(&self) -> Option<&str> {
        self.unit.as_deref()
    }
}

/// What a path names in every run.
///
/// # Errors
/// If a run records nothing of this name.
pub(super) fn select(runs: &[Recorded<'_>], path: &str) -> Result<Vec<Signal>, Error> {
    let mut chosen: Vec<Signal> = Vec::new();
    for (index, run) in runs.iter().enumerate() {
        let found = run.catalog.find(path).map_err(|advice| Error::UnknownSignal {
            path: path.to_owned(),
            file: run.file.display().to_string(),
            advice,
        })?;
        let alone = found.len() == 1;
        for numbers in found {
            let at = chosen.iter().position(|one| one.name == numbers.name).unwrap_or_else(|| {
                chosen.push(Signal {
                    name: numbers.name.clone(),
                    unit: numbers.unit.clone(),
                    by_run: runs.iter().map(|_| None).collect(),
                    alone,
                });
                chosen.len() - 1
            });
            chosen[at].by_run[index] = Some(numbers);
        }
    }
    Ok(chosen)
}

/// What is drawn if no signal is named: what moves in the first run, in the order of its log; and
/// how much more moves.
pub(super) fn default_choice(runs: &[Recorded<'_>]) -> (Vec<Signal>, usize) {
    let Some(first) = runs.first() else { return (Vec::new(), 0) };
    let mut chosen = Vec::new();
    let mut more = 0;
    for numbers in first.catalog.all() {
        if !moves(first, numbers) {
            continue;
        }
        if chosen.len() == MOST_UNASKED || numbers.elements.len() > MOST_NUMBERS {
            more += 1;
            continue;
        }
        let same = |run: &Recorded<'_>| {
            run.catalog.all().iter().find(|other| other.name == numbers.name).cloned()
        };
        let by_run = runs.iter().map(same).collect();
        let (name, unit) = (numbers.name.clone(), numbers.unit.clone());
        chosen.push(Signal { name, unit, by_run, alone: false });
    }
    (chosen, more)
}

/// Whether any of the numbers changes.
fn moves(run: &Recorded<'_>, numbers: &Numbers) -> bool {
    let Some(series) = run.recording.series_of_all().nth(numbers.channel) else { return false };
    let mut row = Vec::new();
    let mut first: Vec<u64> = Vec::new();
    (0..series.len()).any(|index| {
        series.values_into(index, &mut row);
        let bits = numbers.columns.iter().map(|&column| row[column].to_bits());
        if index == 0 {
            first = bits.collect();
            return false;
        }
        bits.zip(&first).any(|(now, then)| now != *then)
    })
}

/// The panels over time: what a path names alone shares a panel with all that has its unit, unless
/// all are to be `apart`.
///
/// # Errors
/// If there are too many, or no row lies in the window.
pub(super) fn panels(
    runs: &[Recorded<'_>],
    chosen: &[Signal],
    window: Window,
    apart: bool,
) -> Result<Vec<Panel>, Error> {
    let mut groups: Vec<Vec<&Signal>> = Vec::new();
    for one in chosen {
        let shares = |group: &&mut Vec<&Signal>| {
            !apart && one.alone && one.unit.is_some() && group[0].alone && group[0].unit == one.unit
        };
        match groups.iter_mut().find(shares) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    if groups.len() > MOST_PANELS {
        return Err(Error::TooManyPanels { most: MOST_PANELS, found: groups.len() });
    }
    let panels: Vec<Panel> = groups.iter().map(|group| panel(runs, group, window)).collect();
    let points = panels.iter().flat_map(|panel| &panel.lines).map(|line| line.trace.points().len());
    if !chosen.is_empty() && points.sum::<usize>() == 0 {
        return Err(Error::NoRows(window));
    }
    Ok(panels)
}

fn panel(runs: &[Recorded<'_>], group: &[&Signal], window: Window) -> Panel {
    let heading: Vec<String> = group.iter().map(|one| one.heading()).collect();
    let numbers: usize = group.iter().map(|one| one.elements().len()).sum();
    let mut lines = Vec::new();
    let mut place = 0;
    for one in group {
        for (r, run) in runs.iter().enumerate() {
            let Some(numbers_of_run) = &one.by_run[r] else { continue };
            let traces = traces(run, numbers_of_run, window);
            for (i, (element, trace)) in numbers_of_run.elements.iter().zip(traces).enumerate() {
                // One number in several runs: a colour a run. Several numbers: a colour a number,
                // and the dashes tell runs apart.
                let stroke = match (runs.len(), numbers) {
                    (1, _) => stroke_of(place + i, (place + i) / COLOURS),
                    (_, 1) => stroke_of(r, r),
                    _ => stroke_of(place + i, r),
                };
                let label = label(numbers_of_run, i, group.len() > 1);
                let in_heading = group.len() == 1 && *element == one.name;
                let name = match (runs.len(), in_heading) {
                    (1, true) => String::new(),
                    (1, false) => label,
                    (_, true) => run.name.to_owned(),
                    (_, false) => format!("{label} {}", run.name),
                };
                lines.push(Line { name, stroke, trace });
            }
        }
        place += one.elements().len();
    }
    Panel { heading: heading.join(", "), left: unit(group[0].unit()), below: None, lines }
}

/// What a legend calls a number: its own name, such as that of a joint, or else its path. `Among`
/// other signals, a name of its own does not say which signal it is of.
fn label(numbers: &Numbers, number: usize, among: bool) -> String {
    match numbers.labels.get(number) {
        None => numbers.elements[number].clone(),
        Some(label) if among && numbers.elements[number] != numbers.name => {
            format!("{} {label}", numbers.name)
        }
        Some(_) if among => numbers.elements[number].clone(),
        Some(label) => label.clone(),
    }
}

fn unit(unit: Option<&str>) -> String {
    unit.map_or(String::new(), |unit| format!("[{unit}]"))
}

/// Numbers over time.
fn traces(run: &Recorded<'_>, numbers: &Numbers, window: Window) -> Vec<Trace> {
    let Some(series) = run.recording.series_of_all().nth(numbers.channel) else {
        return Vec::new();
    };
    let mut points: Vec<Vec<(f64, f64)>> = vec![Vec::new(); numbers.columns.len()];
    let mut row = Vec::new();
    for index in 0..series.len() {
        let t = series.stamp(index).t;
        if window.holds(t) {
            series.values_into(index, &mut row);
            for (points, &column) in points.iter_mut().zip(&numbers.columns) {
                points.push((t, row[column]));
            }
        }
    }
    let kinds = series.kinds();
    let trace = |(points, &column): (Vec<(f64, f64)>, &usize)| match kinds[column] {
        Kind::Real => Trace::new(points),
        Kind::Int | Kind::Bool => Trace::held(points),
    };
    points.into_iter().zip(&numbers.columns).map(trace).collect()
}

/// One number over another, at the times that both have.
///
/// # Errors
/// If a path names nothing or several numbers, or there is no common time in the window.
pub(super) fn phase(
    runs: &[Recorded<'_>],
    x: &str,
    y: &str,
    window: Window,
) -> Result<Panel, Error> {
    let (over, of) = (single(runs, x)?, single(runs, y)?);
    let mut lines = Vec::new();
    for (r, run) in runs.iter().enumerate() {
        let (Some(a), Some(b)) = (&over.by_run[r], &of.by_run[r]) else { continue };
        let (a, b) = (column(run, a, window), column(run, b, window));
        let mut points = Vec::new();
        let mut next = 0;
        for (instant, value) in a {
            while b.get(next).is_some_and(|(other, _)| *other < instant) {
                next += 1;
            }
            if let Some((_, other)) = b.get(next).filter(|(other, _)| *other == instant) {
                points.push((value, *other));
                next += 1;
            }
        }
        let name = if runs.len() == 1 { String::new() } else { run.name.to_owned() };
        lines.push(Line { name, stroke: stroke_of(r, r), trace: Trace::new(points) });
    }
    if lines.iter().all(|line| line.trace.points().is_empty()) {
        return Err(Error::NoCommonTime { x: x.to_owned(), y: y.to_owned() });
    }
    let label = |one: &Signal| format!("{} {}", one.name, unit(one.unit())).trim_end().to_owned();
    let heading = format!("{} over {}", of.heading(), over.heading());
    Ok(Panel { heading, left: label(&of), below: Some(label(&over)), lines })
}

/// A path to one number.
fn single(runs: &[Recorded<'_>], path: &str) -> Result<Signal, Error> {
    let mut chosen = select(runs, path)?;
    let count: usize = chosen.iter().map(|one| one.elements().len()).sum();
    match chosen.pop() {
        Some(one) if count == 1 => Ok(one),
        last => {
            let example = last.and_then(|one| one.elements().first().cloned()).unwrap_or_default();
            Err(Error::NotOneNumber { path: path.to_owned(), found: count, example })
        }
    }
}

/// Instants (time [ns], tick, microstep) and values of one number.
fn column(run: &Recorded<'_>, numbers: &Numbers, window: Window) -> Vec<((u64, u64, u32), f64)> {
    let Some(series) = run.recording.series_of_all().nth(numbers.channel) else {
        return Vec::new();
    };
    let mut row = Vec::new();
    let mut out = Vec::new();
    for index in 0..series.len() {
        let stamp = series.stamp(index);
        if window.holds(stamp.t) {
            series.values_into(index, &mut row);
            out.push(((stamp.t_ns, stamp.tick, stamp.microstep), row[numbers.columns[0]]));
        }
    }
    out
}
