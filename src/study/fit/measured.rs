//! A measured table, and how far a run is from it.

use legwork_runtime::recording::{ColumnUnit, Reading, Table};

use crate::diagram::Diagram;
use crate::error::Error;
use crate::stepper::{Output, Stepper};

/// Rows of a table that are compared at most.
const MOST_ROWS: usize = 1_000_000;

/// A column of the table.
pub(super) struct Channel {
    pub(super) name: String,
    pub(super) unit: Option<ColumnUnit>,
    /// Its standard deviation, by which what a run is off is divided; 1 if it is constant.
    pub(super) scale: f64,
    /// By row.
    values: Vec<f64>,
}

/// A table with the time first.
pub(super) struct Measured {
    times: Vec<f64>,
    pub(super) channels: Vec<Channel>,
    /// Warnings about ambiguous text.
    pub(super) warnings: Vec<String>,
}

impl Measured {
    /// Reads comma-separated values.
    ///
    /// # Errors
    /// If it is no table of numbers over an ascending time, or has no such column.
    pub(super) fn parse(table: &[u8], signals: &[String]) -> Result<Self, Error> {
        let wrong = |message: String| Error::request(format!("the measured table: {message}"));
        let mut table = Table::new(table).map_err(|error| wrong(error.to_string()))?;
        if table.known_names().is_empty() {
            let hint = table.separator_hint().map_or(String::new(), |hint| format!("; {hint}"));
            return Err(wrong(format!(
                "expected rows of numbers, the time `t` first, found none{hint}"
            )));
        }
        let time = match table.columns().first() {
            Some(first) if first.is_time() => first.time_reading().map_err(wrong)?,
            first => {
                let found = first.map_or("", |first| first.text.as_str());
                return Err(wrong(format!(
                    "expected the time `t` as its first column, found `{found}`"
                )));
            }
        };
        // Place and name of each column.
        let wanted: Vec<(usize, &str)> = match signals.is_empty() {
            true => {
                table.columns().iter().map(|one| one.name.as_str()).enumerate().skip(1).collect()
            }
            false => signals
                .iter()
                .map(|signal| match table.find(signal).one() {
                    Ok(at) if at > 0 => Ok((at, signal.as_str())),
                    Err(Some(several)) => {
                        Err(wrong(format!("column `{signal}`: {several}; name one with its unit")))
                    }
                    _ => {
                        let known = table.columns()[1..].iter().map(|one| one.name.as_str());
                        let near = legwork_block::nearest(signal, known);
                        let near =
                            near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                        Err(wrong(format!("no column `{signal}`{near}")))
                    }
                })
                .collect::<Result<_, _>>()?,
        };
        let is_twice = |at: &usize| wanted[..*at].iter().any(|other| other.1 == wanted[*at].1);
        if let Some(at) = (1..wanted.len()).find(is_twice) {
            let name = wanted[at].1;
            return Err(wrong(format!("expected a column of each name, found two of `{name}`")));
        }
        let wanted: Vec<(usize, String)> =
            wanted.into_iter().map(|(at, name)| (at, name.to_owned())).collect();
        let (mut units, mut warnings) = (Vec::new(), Vec::new());
        for (at, name) in &wanted {
            let column = &table.columns()[*at];
            let asked = if column.name == *name { &column.text } else { name };
            let Reading { unit, warning } = column.reading(asked).map_err(wrong)?;
            units.push(unit);
            warnings.extend(warning);
        }
        if wanted.is_empty() {
            return Err(wrong("expected a column beside the time, found none".to_owned()));
        }
        let mut times: Vec<f64> = Vec::new();
        let mut columns: Vec<Vec<f64>> = vec![Vec::new(); wanted.len()];
        while let Some(row) = table.next_row().map_err(|error| wrong(error.to_string()))? {
            let line = row.line;
            let last = row.cells.len() - 1;
            if wanted.iter().any(|(at, _)| *at == last) {
                warnings.extend(row.open_end());
            }
            let mut number = |at: usize, column: &str, unit: Option<&ColumnUnit>| {
                let text = row.cells.get(at).unwrap_or_default();
                let value = table.number(text, unit);
                value.ok().filter(|value| value.is_finite()).ok_or_else(|| {
                    let why = value.err().unwrap_or("expected a finite number");
                    wrong(format!("{why} of `{column}` in line {line}, found `{text}`"))
                })
            };
            let t = number(0, "t", time.as_ref())?;
            if times.last().is_some_and(|last| *last >= t) || t < 0.0 {
                return Err(wrong(format!(
                    "expected a time that ascends from 0, found {t} in line {line}"
                )));
            }
            if times.len() >= MOST_ROWS {
                return Err(wrong(format!("expected at most {MOST_ROWS} rows")));
            }
            times.push(t);
            for (column, ((at, name), unit)) in columns.iter_mut().zip(wanted.iter().zip(&units)) {
                column.push(number(*at, name, unit.as_ref())?);
            }
        }
        let channels =
            wanted.into_iter().zip(units).zip(columns).map(|(((_, name), unit), values)| {
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                let spread = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>();
                let spread = (spread / values.len() as f64).sqrt();
                Channel {
                    name,
                    unit,
                    scale: if spread > 1e-12 * (1.0 + mean.abs()) { spread } else { 1.0 },
                    values,
                }
            });
        Ok(Self { channels: channels.collect(), times, warnings })
    }

    /// What a run of the diagram is off, column after column, in units of their spread.
    ///
    /// # Errors
    /// If the diagram does not compile, a column is no signal of one number with this unit, or the
    /// run faults or ends before the table does.
    pub(super) fn residual(&self, diagram: &Diagram) -> Result<Vec<f64>, Error> {
        let mut run = diagram.compile().model_or_errors()?.stepper()?;
        let outputs: Vec<Output> = self
            .channels
            .iter()
            .map(|channel| {
                let output = run.signal(&channel.name)?;
                expect_fit(channel, &run, output)?;
                Ok(output)
            })
            .collect::<Result<_, Error>>()?;
        let count = self.times.len();
        let mut residual = vec![0.0; count * self.channels.len()];
        let read = |run: &Stepper| -> Vec<f64> {
            outputs.iter().map(|output| run.read(*output)[0]).collect()
        };
        // Half a step beyond the end counts as the end, which rounding may miss.
        let step = run.program().base.at(run.program().step_ticks);
        let (mut before, mut now) = (run.time(), run.time());
        let mut old = read(&run);
        let mut new = old.clone();
        for (row, t) in self.times.iter().enumerate() {
            while now < *t {
                if run.is_at_end() {
                    if t - now <= 0.5 * step {
                        break;
                    }
                    let message =
                        format!("the run ends at {now} s, and the table goes on to {t} s");
                    return Err(Error::request(message));
                }
                run.step(1)?;
                before = now;
                now = run.time();
                old = std::mem::replace(&mut new, read(&run));
            }
            let share = if now > before { ((t - before) / (now - before)).min(1.0) } else { 1.0 };
            for (k, channel) in self.channels.iter().enumerate() {
                let value = old[k] + share * (new[k] - old[k]);
                residual[k * count + row] = (value - channel.values[row]) / channel.scale;
            }
        }
        Ok(residual)
    }
}

/// A column is one number, in the unit of its signal.
fn expect_fit(channel: &Channel, run: &Stepper, output: Output) -> Result<(), Error> {
    let signal = run.describe(output);
    let name = &channel.name;
    let numbers: u32 = signal.slots.iter().map(|slot| slot.len).sum();
    if numbers != 1 {
        let message = format!("the column `{name}` is one number, and the signal has {numbers}");
        return Err(Error::request(message));
    }
    match (&channel.unit, &signal.unit) {
        (Some(found), Some(unit))
            if legwork_block::parse_unit(unit).is_ok_and(|(unit, _)| !unit.agrees(found.unit)) =>
        {
            let found = &found.written;
            let message = format!("expected the column `{name}` in {unit}, found {found}");
            Err(Error::request(message))
        }
        _ => Ok(()),
    }
}
