//! `SignalFromRecording`: a signal of an earlier run.

use legwork_block::{Any, Invalid, PortUnit, Ports, Type, parameters, ports};
use legwork_recording::{Channel, Ending, Field, Recording, Series, Shape};

use crate::signal::table::Interpolation;
use crate::sources::timetable::{After, Player, Timetable, played};

/// Plays back a signal of a recorded run.
///
/// | recorded | out `y` |
/// |---|---|
/// | number, whole number | number |
/// | truth value | truth value; needs `Below` or `Nearest` |
/// | vector, matrix | the same |
/// | rotation | matrix 3 × 3; needs `Below` or `Nearest` |
///
/// Of a bus, `field` names the part. Before the first row the first
/// values hold; of rows at one time (a reset and what follows it) the last one counts. At the times
/// of its rows the output is what was recorded, to the last bit. A variable step is cut at every
/// row, since lines have kinks there and stairs jump; a recording with a row for every step of a
/// long run is therefore better played back under a fixed step.
#[ports(
    |ty: Type, unit: PortUnit|
    out y: Any(ty), unit, "the recorded signal", shape "by what is recorded",
        units "the recorded one";
)]
#[parameters(aliases("MCAP", "replay", "playback"))]
pub struct SignalFromRecording {
    /// The recording, an MCAP file that `legwork run` wrote: relative to the diagram, or in a
    /// search root.
    pub path: String,
    /// The recorded signal, such as `body.state`.
    pub topic: String,
    /// A part of it, such as `base.position` or `q[3]`; default the whole signal.
    pub field: Option<String>,
    /// `Linear`, `Nearest` or `Below`.
    #[default]
    pub interpolation: Interpolation,
    /// After the last row: `Hold` or `Repeat`.
    #[default]
    pub after: After,
}

/// Port and rows of a [`SignalFromRecording`].
pub struct Plan {
    io: SignalFromRecordingPorts,
    player: Player,
}

/// A part of a row.
struct Part<'a> {
    start: usize,
    shape: &'a Shape,
    unit: Option<&'a str>,
}

/// The part of a channel that a path of names and indices names.
fn part<'a>(channel: &'a Channel, path: Option<&str>) -> Option<Part<'a>> {
    let Some(path) = path else {
        // A signal that is no bus is one field without a name of its own.
        let [only] = &channel.fields[..] else { return None };
        return Some(Part { start: 0, shape: &only.shape, unit: only.unit.as_deref() });
    };
    let (mut fields, mut start, mut rest) = (&channel.fields[..], 0, path);
    loop {
        // Names may hold dots: the longest that fits is meant.
        let fits = |field: &&Field| {
            rest.strip_prefix(field.name.as_str())
                .is_some_and(|tail| tail.is_empty() || tail.starts_with(['.', '[']))
        };
        let field = fields.iter().filter(fits).max_by_key(|field| field.name.len())?;
        let before = fields.iter().take_while(|other| !std::ptr::eq(*other, field));
        start += before.map(|other| other.shape.value_count()).sum::<usize>();
        rest = &rest[field.name.len()..];
        let mut shape = &field.shape;
        while let Some(tail) = rest.strip_prefix('[') {
            let (index, tail) = tail.split_once(']')?;
            let index: usize = index.parse().ok()?;
            (start, shape) = element(start, shape, index)?;
            rest = tail;
        }
        if let (Shape::Pose, Some(tail)) = (shape, rest.strip_prefix('.')) {
            (start, shape, rest) = part_of_pose(start, tail)?;
            if let Some(index) = rest.strip_prefix('[') {
                let index = index.strip_suffix(']')?.parse().ok()?;
                (start, shape) = element(start, shape, index)?;
                rest = "";
            }
        }
        match (rest.strip_prefix('.'), shape) {
            (None, _) if !rest.is_empty() => return None,
            (None, _) => return Some(Part { start, shape, unit: field.unit.as_deref() }),
            (Some(tail), Shape::Message(_, inner)) => (fields, rest) = (inner, tail),
            (Some(_), _) => return None,
        }
    }
}

static REAL: Shape = Shape::Real;
static ROTATION: Shape = Shape::Rotation;
static POSITION: Shape = Shape::Vector(3);

/// The part of a pose that starts at `start`, and what is left of the path.
fn part_of_pose(start: usize, path: &str) -> Option<(usize, &'static Shape, &str)> {
    match path.strip_prefix("position") {
        Some(rest) => Some((start + ROTATION.value_count(), &POSITION, rest)),
        None => Some((start, &ROTATION, path.strip_prefix("rotation")?)),
    }
}

/// Element `index` of a shape that starts at `start`.
fn element(start: usize, shape: &Shape, index: usize) -> Option<(usize, &Shape)> {
    match shape {
        Shape::Vector(n) if index < *n => Some((start + index, &REAL)),
        Shape::Repeated(one, n) if index < *n => Some((start + index * one.value_count(), one)),
        _ => None,
    }
}

impl SignalFromRecording {
    /// The type of the output.
    fn ty(&self, shape: &Shape, channel: &Channel) -> Result<Type, Invalid> {
        let stepwise = self.interpolation != Interpolation::Linear;
        match shape {
            Shape::Real | Shape::Int => Ok(Type::Real),
            Shape::Vector(n) => Ok(Type::vector(*n)),
            Shape::Matrix(rows, columns) => Ok(Type::matrix(*rows, *columns)),
            Shape::Bool if stepwise => Ok(Type::Bool),
            Shape::Rotation if stepwise => Ok(Type::matrix(3, 3)),
            Shape::Bool | Shape::Rotation => {
                let what = if *shape == Shape::Bool { "truth values" } else { "rotations" };
                let message = format!("expected `Below` or `Nearest`: no line joins two {what}");
                Err(Invalid::parameter("interpolation", message))
            }
            _ => Err(self.unknown_field(channel, "expected a number, a vector or a matrix")),
        }
    }

    fn unknown_field(&self, channel: &Channel, expected: &str) -> Invalid {
        let found = self.field.as_deref().unwrap_or("the whole signal");
        let columns = channel.columns();
        let names = || columns.iter().map(String::as_str);
        let invalid = Invalid::parameter(
            if self.field.is_some() { "field" } else { "topic" },
            format!("{expected} of `{}`, found `{found}`", self.topic),
        );
        match self.field.as_deref().and_then(|field| legwork_block::nearest(field, names())) {
            Some(near) => invalid.hint(format!("did you mean `{near}`?")),
            None => {
                let fields: Vec<&str> = channel.fields.iter().map(|f| f.name.as_str()).collect();
                invalid.hint(format!("it has `{}`", fields.join("`, `")))
            }
        }
    }

    /// The rows as a table.
    fn table(&self, series: &Series<'_>, part: &Part<'_>) -> Result<Timetable, Invalid> {
        let width = part.shape.value_count();
        let (mut times, mut rows): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        let mut row = Vec::new();
        for index in 0..series.len() {
            row.clear();
            series.values_into(index, &mut row);
            let t = series.stamp(index).t;
            if times.last() == Some(&t) {
                times.pop();
                rows.truncate(rows.len() - width);
            }
            times.push(t);
            rows.extend_from_slice(&row[part.start..part.start + width]);
        }
        if let Some(wrong) = rows.iter().find(|value| !value.is_finite()) {
            let message = format!("expected finite numbers in `{}`, found {wrong}", self.topic);
            return Err(Invalid::parameter("topic", message));
        }
        Timetable::new(times, rows, width).map_err(|message| {
            Invalid::parameter("topic", format!("{message} in the rows of `{}`", self.topic))
        })
    }
}

impl SignalFromRecording {
    /// Port and values.
    fn planned(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let wrong = |message: String| Invalid::parameter("path", message);
        let bytes = ports.files().read(&self.path).map_err(wrong)?;
        let recording = Recording::from_bytes(bytes)
            .map_err(|error| wrong(format!("{}: {error}", self.path)))?;
        match recording.ending() {
            Ending::Complete => {}
            Ending::Truncated { .. } => {
                ports.warn(wrong(format!("{} is cut off; its whole part is played", self.path)));
            }
            Ending::Damaged { at_byte } => {
                let message = format!("{} is damaged at byte {at_byte}", self.path);
                return Err(wrong(message));
            }
        }
        let Ok(series) = recording.series(&self.topic) else {
            let topics = || recording.channels().map(|channel| channel.topic.as_str());
            let message = format!("expected a recorded signal, found `{}`", self.topic);
            let invalid = Invalid::parameter("topic", message);
            return Err(match legwork_block::nearest(&self.topic, topics()) {
                Some(near) => invalid.hint(format!("did you mean `{near}`?")),
                None => {
                    let list: Vec<&str> = topics().collect();
                    invalid.hint(format!("recorded are `{}`", list.join("`, `")))
                }
            });
        };
        let channel = series.channel();
        let part = part(channel, self.field.as_deref())
            .ok_or_else(|| self.unknown_field(channel, "expected a field"))?;
        let ty = self.ty(part.shape, channel)?;
        let table = self.table(&series, &part)?;
        if let Some(message) = table.apart_from_run(self.after, ports.stop()) {
            ports.warn(wrong(message));
        }
        let unit =
            part.unit.map_or(PortUnit::Unspecified, |unit| PortUnit::Is(unit.to_owned().into()));
        let player = Player::new(table, self.interpolation, self.after, ports);
        Ok(Plan { io: self.declare(ports, ty, unit), player })
    }
}

played!(SignalFromRecording);

#[cfg(test)]
mod tests {
    use super::*;

    fn channel() -> Channel {
        let base = vec![
            Field::new("position", Shape::Vector(3)).unit("m"),
            Field::new("orientation", Shape::Vector(4)),
        ];
        Channel::new(
            "body.state",
            vec![
                Field::new("base", Shape::Message("Base".into(), base)),
                Field::new("feet", Shape::Repeated(Box::new(Shape::Pose), 2)),
                Field::new("q", Shape::Vector(5)),
            ],
        )
    }

    #[test]
    fn a_path_names_a_part_of_a_bus() {
        let channel = channel();
        let at = |path| part(&channel, Some(path)).map(|p| (p.start, p.shape.clone(), p.unit));
        assert_eq!(at("base.position"), Some((0, Shape::Vector(3), Some("m"))));
        assert_eq!(at("base.orientation[2]"), Some((5, Shape::Real, None)));
        assert_eq!(at("feet[1]"), Some((19, Shape::Pose, None)));
        assert_eq!(at("feet[0].position"), Some((16, Shape::Vector(3), None)));
        assert_eq!(at("feet[1].position[2]"), Some((30, Shape::Real, None)));
        assert_eq!(at("feet[1].rotation"), Some((19, Shape::Rotation, None)));
        assert_eq!(at("q[4]"), Some((35, Shape::Real, None)));
        for wrong in [
            "",
            "bas",
            "base.",
            "base.position[3]",
            "q.x",
            "q[",
            "q[x]",
            "q[-1]",
            "feet[0].pos",
            "feet[2]",
        ] {
            assert_eq!(at(wrong), None, "{wrong}");
        }
        assert!(part(&channel, None).is_none(), "a bus needs a field");
        let columns = channel.columns();
        assert_eq!(columns[5], "base.orientation[2]");
        assert_eq!(columns[35], "q[4]");
    }
}
