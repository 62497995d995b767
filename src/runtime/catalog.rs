//! The names by which a recording's numbers are found: paths of signals, fields, views, elements.

use legwork_block::nearest;
use legwork_program::Program;

use crate::channels;
use crate::comparison::{Quantity, quantities};
use crate::recording::{Channel, Recording, Shape};

/// Most paths that a message lists.
const MOST_LISTED: usize = 12;

/// Numbers with one name and one unit, side by side in the rows of a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbers {
    /// Path, such as `body.state.base.position`.
    pub name: String,
    /// Unit, if one is known and it is not 1.
    pub unit: Option<String>,
    /// Path of each number, such as `body.state.base.position[2]`.
    pub elements: Vec<String>,
    /// What each number is called besides, such as the name of a joint; empty if it is not known.
    pub labels: Vec<String>,
    /// Index of the channel in the recording.
    pub channel: usize,
    /// Where each number is in a row.
    pub columns: Vec<usize>,
}

impl Numbers {
    /// Some of them, under another name.
    #[must_use]
    pub fn part(&self, name: &str, which: impl Iterator<Item = usize> + Clone) -> Self {
        Self {
            name: name.to_owned(),
            unit: self.unit.clone(),
            elements: which.clone().map(|i| self.elements[i].clone()).collect(),
            labels: which.clone().filter_map(|i| self.labels.get(i).cloned()).collect(),
            channel: self.channel,
            columns: which.map(|i| self.columns[i]).collect(),
        }
    }
}

/// What a recording holds, by path.
#[derive(Debug, Clone)]
pub struct Catalog {
    /// Every number once, under the names that the diagram's types give it, views included.
    named: Vec<Numbers>,
    /// Every number under the names of the recorded fields.
    plain: Vec<Numbers>,
}

impl Catalog {
    /// The catalog of a recording. Views are known where the program that made it is.
    pub fn of(recording: &Recording, program: Option<&Program>) -> Self {
        Self::of_channels(recording.channels(), program)
    }

    /// The catalog of what a program records.
    pub fn of_program(program: &Program) -> Self {
        Self::of_channels(channels(program).iter(), Some(program))
    }

    fn of_channels<'c>(
        recorded: impl Iterator<Item = &'c Channel>,
        program: Option<&Program>,
    ) -> Self {
        let known = program.map(|program| (channels(program), quantities(program)));
        let mut catalog = Self { named: Vec::new(), plain: Vec::new() };
        for (index, channel) in recorded.enumerate() {
            let first = catalog.plain.len();
            List { channel: index, next: 0, out: &mut catalog.plain }.add_channel(channel);
            let found = known.as_ref().and_then(|(channels, quantities)| {
                let at = channels.iter().position(|known| known == channel)?;
                Some(quantities.iter().filter(move |quantity| quantity.channel == at))
            });
            match found {
                None => catalog.named.extend_from_slice(&catalog.plain[first..]),
                Some(found) => catalog.named.extend(found.map(|quantity| Numbers {
                    name: quantity.name.clone(),
                    unit: quantity.unit.clone().filter(|unit| unit != "1"),
                    elements: quantity.elements.clone(),
                    labels: program.map_or_else(Vec::new, |program| labels(program, quantity)),
                    channel: index,
                    columns: quantity.columns().collect(),
                })),
            }
        }
        catalog
    }

    /// All numbers.
    pub fn all(&self) -> &[Numbers] {
        &self.named
    }

    /// What a path names: a signal, a part of a bus, an element, or some of them as in `f[0..3]`. A
    /// bus falls apart into what has names and units of its own.
    ///
    /// # Errors
    /// Advice, if there is nothing of this name.
    pub fn find(&self, path: &str) -> Result<Vec<Numbers>, String> {
        let wanted = plain(path);
        for numbers in [&self.named, &self.plain] {
            let found = find_in(numbers, &wanted);
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Err(self.advice(&wanted))
    }

    fn advice(&self, path: &str) -> String {
        let element = |numbers: &&Numbers| {
            let stem = numbers.elements.first().map(|first| stem(first));
            stem.is_some_and(|stem| path.starts_with(&format!("{stem}[")))
        };
        if let Some(numbers) = self.named.iter().chain(&self.plain).find(element) {
            let last = numbers.elements.last().map_or("", String::as_str);
            return format!("it has `{}` to `{last}`", numbers.elements[0]);
        }
        let names = || self.named.iter().chain(&self.plain).map(|numbers| numbers.name.as_str());
        if let Some(near) = nearest(path, names()) {
            return format!("did you mean `{near}`?");
        }
        let mut listed: Vec<&str> = self.named.iter().map(|one| one.name.as_str()).collect();
        let more = listed.len().saturating_sub(MOST_LISTED);
        listed.truncate(MOST_LISTED);
        match (listed.is_empty(), more) {
            (true, _) => "it holds no signals".to_owned(),
            (false, 0) => format!("it holds `{}`", listed.join("`, `")),
            (false, more) => format!("it holds `{}` and {more} more", listed.join("`, `")),
        }
    }
}

/// What the elements of a quantity are called; none if they have only indices.
fn labels(program: &Program, quantity: &Quantity) -> Vec<String> {
    let Some(whole) = quantity.elements.first().map(|first| stem(first)) else {
        return Vec::new();
    };
    let labels = program.labels(whole);
    let label = |element: &String| {
        let index = element.strip_prefix(whole)?.strip_prefix('[')?.strip_suffix(']')?;
        labels.get(index.parse::<usize>().ok()?).cloned()
    };
    quantity.elements.iter().map(label).collect::<Option<_>>().unwrap_or_default()
}

/// A path without spaces, and with one pair of brackets for two side by side.
fn plain(path: &str) -> String {
    path.replace(' ', "").replace("][", ",")
}

/// `a.y` of `a.y[2]`.
fn stem(element: &str) -> &str {
    element.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')).map_or(element, |p| p.0)
}

fn find_in(all: &[Numbers], path: &str) -> Vec<Numbers> {
    if let Some(found) = all.iter().find(|numbers| plain(&numbers.name) == path) {
        return vec![found.clone()];
    }
    let element = |path: &str| {
        all.iter().find_map(|numbers| {
            let at = numbers.elements.iter().position(|element| plain(element) == path)?;
            Some((numbers, at))
        })
    };
    if let Some((numbers, at)) = element(path) {
        return vec![numbers.part(&numbers.elements[at], at..at + 1)];
    }
    if let Some((whole, from, to)) = range(path) {
        let count = |to: usize| to.saturating_sub(from);
        return stretch(&element, whole, from, to.map(count), path).unwrap_or_default();
    }
    let is_inside = |numbers: &&Numbers| {
        let name = plain(&numbers.name);
        name.strip_prefix(path).is_some_and(|rest| rest.starts_with(['.', '[']))
    };
    all.iter().filter(is_inside).cloned().collect()
}

/// The elements of `whole` from `from` on, `count` of them or all: side by side, in a part for
/// each of those that hold them.
fn stretch<'n>(
    element: &dyn Fn(&str) -> Option<(&'n Numbers, usize)>,
    whole: &str,
    from: usize,
    count: Option<usize>,
    path: &str,
) -> Option<Vec<Numbers>> {
    let mut parts = Vec::new();
    let mut next = from;
    while count.is_none_or(|count| next < from + count) {
        let Some((numbers, at)) = element(&format!("{whole}[{next}]")) else {
            // Without an end it is where the elements end.
            return (count.is_none() && !parts.is_empty()).then_some(parts);
        };
        let left = count.map_or(usize::MAX, |count| from + count - next);
        let len = (numbers.elements.len() - at).min(left);
        // All of them are of this vector.
        let last = element(&format!("{whole}[{}]", next + len - 1));
        if last.is_none_or(|(other, end)| other != numbers || end + 1 != at + len) {
            return None;
        }
        let is_all = next == from && count == Some(len);
        let name =
            if is_all { path.to_owned() } else { format!("{whole}[{next}..{}]", next + len) };
        parts.push(numbers.part(&name, at..at + len));
        next += len;
    }
    Some(parts)
}

/// `a.y`, 2 and 5 of `a.y[2..5]`.
fn range(path: &str) -> Option<(&str, usize, Option<usize>)> {
    let (whole, bracket) = path.strip_suffix(']')?.rsplit_once('[')?;
    let (from, to) = bracket.split_once("..")?;
    let from = if from.is_empty() { 0 } else { from.parse().ok()? };
    let to = if to.is_empty() { None } else { Some(to.parse().ok()?) };
    Some((whole, from, to))
}

/// Lists the numbers of a channel by its fields.
struct List<'o> {
    channel: usize,
    next: usize,
    out: &'o mut Vec<Numbers>,
}

impl List<'_> {
    fn add_channel(&mut self, channel: &Channel) {
        for field in &channel.fields {
            // A signal that is no bus has one field, which has no name in the diagram.
            let path = match (channel.fields.len(), field.name.as_str()) {
                (1, "value") => channel.topic.clone(),
                (_, name) => format!("{}.{name}", channel.topic),
            };
            self.add(&path, field.unit.as_deref(), &field.shape);
        }
    }

    fn push(&mut self, name: &str, unit: Option<&str>, elements: Vec<String>) {
        let columns = self.next..self.next + elements.len();
        self.next = columns.end;
        if !elements.is_empty() {
            let unit = unit.filter(|unit| *unit != "1").map(str::to_owned);
            let (name, channel) = (name.to_owned(), self.channel);
            let (labels, columns) = (Vec::new(), columns.collect());
            self.out.push(Numbers { name, unit, elements, labels, channel, columns });
        }
    }

    fn add(&mut self, path: &str, unit: Option<&str>, shape: &Shape) {
        let matrix = |rows: usize, columns: usize| -> Vec<String> {
            (0..columns).flat_map(|c| (0..rows).map(move |r| format!("{path}[{r}, {c}]"))).collect()
        };
        match shape {
            Shape::Vector(n) => {
                let (whole, first) =
                    range(path).map_or((path, 0), |(whole, from, _)| (whole, from));
                let elements = (0..*n).map(|i| format!("{whole}[{}]", first + i)).collect();
                self.push(path, unit, elements);
            }
            Shape::Matrix(rows, columns) => self.push(path, unit, matrix(*rows, *columns)),
            Shape::Rotation => self.push(path, unit, matrix(3, 3)),
            Shape::Pose => {
                self.add(&format!("{path}.rotation"), None, &Shape::Rotation);
                self.add(&format!("{path}.position"), Some("m"), &Shape::Vector(3));
            }
            Shape::Message(_, fields) => {
                for field in fields {
                    let unit = field.unit.as_deref();
                    self.add(&format!("{path}.{}", field.name), unit, &field.shape);
                }
            }
            Shape::Repeated(of, n) => {
                (0..*n).for_each(|i| self.add(&format!("{path}[{i}]"), unit, of));
            }
            // One number; a shape that is not known yet would be one of these.
            _ => self.push(path, unit, vec![path.to_owned(); shape.value_count()]),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::recording::Field;

    use super::*;

    fn catalog(channels: &[Channel]) -> Catalog {
        let mut out = Vec::new();
        for (index, channel) in channels.iter().enumerate() {
            List { channel: index, next: 0, out: &mut out }.add_channel(channel);
        }
        Catalog { named: out.clone(), plain: out }
    }

    fn sample() -> Catalog {
        catalog(&[
            Channel::new("tau.y", vec![Field::new("value", Shape::Vector(3)).unit("N*m")]),
            Channel::new(
                "body.state",
                vec![
                    Field::new("q", Shape::Vector(2)),
                    Field::new("pose", Shape::Pose),
                    Field::new("m", Shape::Matrix(2, 2)).unit("kg"),
                ],
            ),
            Channel::new("u.y[2..4]", vec![Field::new("value", Shape::Vector(2))]),
            // What continues it has another unit.
            Channel::new("u.y[4..6]", vec![Field::new("value", Shape::Vector(2)).unit("m")]),
        ])
    }

    fn columns(path: &str) -> Result<Vec<(usize, Vec<usize>)>, String> {
        let found = sample().find(path)?;
        Ok(found.into_iter().map(|numbers| (numbers.channel, numbers.columns)).collect())
    }

    #[test]
    fn a_path_finds_signals_fields_elements_and_parts() {
        assert_eq!(columns("tau.y"), Ok(vec![(0, vec![0, 1, 2])]));
        assert_eq!(columns("tau.y[1]"), Ok(vec![(0, vec![1])]));
        assert_eq!(columns("tau.y[1..3]"), Ok(vec![(0, vec![1, 2])]));
        assert_eq!(columns("tau.y[1..]"), Ok(vec![(0, vec![1, 2])]));
        assert_eq!(columns("body.state.pose.position[2]"), Ok(vec![(1, vec![13])]));
        assert_eq!(columns("body.state.m[0, 1]"), Ok(vec![(1, vec![16])]));
        assert_eq!(columns("body.state.m[0][1]"), Ok(vec![(1, vec![16])]));
        assert_eq!(columns("u.y[3]"), Ok(vec![(2, vec![1])]));
        assert_eq!(columns("u.y"), Ok(vec![(2, vec![0, 1]), (3, vec![0, 1])]));
        assert_eq!(columns("u.y[3..5]"), Ok(vec![(2, vec![1]), (3, vec![0])]));
        assert_eq!(columns("u.y[3..]"), Ok(vec![(2, vec![1]), (3, vec![0, 1])]));
        assert!(columns("u.y[3..7]").is_err());
        let bus = sample().find("body.state").unwrap_or_default();
        let names: Vec<&str> = bus.iter().map(|numbers| numbers.name.as_str()).collect();
        let position = "body.state.pose.position";
        assert_eq!(names, ["body.state.q", "body.state.pose.rotation", position, "body.state.m"]);
        assert_eq!(bus[2].unit.as_deref(), Some("m"));
    }

    #[test]
    fn a_path_to_nothing_gets_advice() {
        let advice = |path: &str| sample().find(path).err().unwrap_or_default();
        assert_eq!(advice("tao.y"), "did you mean `tau.y`?");
        assert_eq!(advice("tau.y[3..5]"), "it has `tau.y[0]` to `tau.y[2]`");
        assert_eq!(advice("tau.y[2..4]"), "it has `tau.y[0]` to `tau.y[2]`");
        for odd in
            ["", "[", "]", "[..]", "a..b", "tau.y[", "tau.y[0..0]", "tau.y[9999999999999999]"]
        {
            let advice = advice(odd);
            assert!(!advice.is_empty(), "{odd}");
        }
        assert!(advice("zzzzzzzzzzzz").starts_with("it holds `tau.y`, "), "{}", advice("zzzzz"));
        assert_eq!(catalog(&[]).find("a").err().as_deref(), Some("it holds no signals"));
    }
}
