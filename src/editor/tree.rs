//! The shape of a text that somebody is writing: which names stand in which brackets.
//!
//! Every text has a shape. Where brackets are missing, the indentation tells what belongs together:
//! a line that does not stand to the right of the line with the opening bracket is not inside.

use std::ops::Range;

use crate::token::{Kind, Token, tokens};

/// Brackets that may be nested; deeper ones are left out.
const DEPTH_LIMIT: usize = 100;

/// The items of a text, and where its comments are.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) items: Vec<Item>,
    comments: Vec<Range<usize>>,
}

/// `key: value`, or a value.
#[derive(Debug, Default, Clone)]
pub(crate) struct Item {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) key: Option<Key>,
    /// `Gain` of `Gain(…)`.
    pub(crate) kind: Option<Range<usize>>,
    pub(crate) value: Value,
}

/// What is in front of a colon.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(crate) name: String,
    /// With its quotes.
    pub(crate) range: Range<usize>,
    pub(crate) colon: usize,
}

/// What an item holds.
#[derive(Debug, Default, Clone)]
pub(crate) enum Value {
    #[default]
    Missing,
    /// A word or a number.
    Word(Range<usize>),
    /// A text: the whole, and between its quotes.
    Text(Range<usize>, Range<usize>),
    Group(Group),
}

/// Items in brackets.
#[derive(Debug, Default, Clone)]
pub(crate) struct Group {
    pub(crate) bracket: u8,
    pub(crate) open: usize,
    /// Where its closing bracket is, or should be.
    pub(crate) close: usize,
    pub(crate) items: Vec<Item>,
}

impl Item {
    pub(crate) fn group(&self) -> Option<&Group> {
        match &self.value {
            Value::Group(group) => Some(group),
            _ => None,
        }
    }

    /// The items in its brackets.
    pub(crate) fn items(&self) -> &[Item] {
        self.group().map_or(&[], |group| &group.items)
    }

    /// The item with this name in its brackets.
    pub(crate) fn get(&self, name: &str) -> Option<&Item> {
        self.items().iter().find(|item| item.name() == Some(name))
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.key.as_ref().map(|key| key.name.as_str())
    }

    /// Its kind, or the word that it is.
    pub(crate) fn kind<'t>(&self, text: &'t str) -> Option<&'t str> {
        match (&self.kind, &self.value) {
            (Some(range), _) | (None, Value::Word(range)) => text.get(range.clone()),
            _ => None,
        }
    }

    /// The text that it is.
    pub(crate) fn text<'t>(&self, text: &'t str) -> Option<&'t str> {
        match &self.value {
            Value::Text(_, inner) => text.get(inner.clone()),
            _ => None,
        }
    }
}

impl Tree {
    /// The shape of a text. If it `is_broken`, indentation helps.
    pub(crate) fn of(text: &str, is_broken: bool) -> Self {
        let tokens = tokens(text, is_broken);
        let mut builder = Builder::default();
        let mut line_start = 0;
        let mut last_end = 0;
        for Token { kind, range } in tokens {
            // White space and garbage before it, and the inside of texts of several lines.
            let newline = text[last_end..range.start].rfind('\n');
            if let Some(newline) = newline {
                line_start = last_end + newline + 1;
            }
            let is_first = newline.is_some();
            let line = Line { start: line_start, column: range.start - line_start };
            last_end = range.end;
            if kind == Kind::Comment {
                builder.comments.push(range);
                continue;
            }
            if is_first && is_broken && !matches!(kind, Kind::Close(_)) {
                builder.dedent(line, range.start);
            }
            builder.take(text, kind, range, line);
        }
        builder.finish(text.len())
    }

    /// Whether a comment is at `offset`.
    pub(crate) fn is_comment(&self, offset: usize) -> bool {
        self.comments.iter().any(|range| range.start < offset && offset <= range.end)
    }

    /// The items around `offset`, from the outermost on, each with its place in its brackets: the
    /// offset is inside the brackets of each.
    pub(crate) fn around(&self, offset: usize) -> Vec<(usize, &Item)> {
        let mut found = Vec::new();
        let mut items = &self.items;
        loop {
            let inside = items.iter().enumerate().find_map(|(index, item)| {
                let group = item.group()?;
                (group.open < offset && offset <= group.close).then_some((index, item, group))
            });
            let Some((index, item, group)) = inside else { return found };
            found.push((index, item));
            items = &group.items;
        }
    }
}

/// A line and a column in it.
#[derive(Debug, Clone, Copy, Default)]
struct Line {
    start: usize,
    column: usize,
}

#[derive(Default)]
struct Builder {
    stack: Vec<Frame>,
    items: Vec<Item>,
    current: Option<Item>,
    /// Column of the first token of the present line, and the start of that line.
    indent: Option<Line>,
    comments: Vec<Range<usize>>,
    /// Opening brackets that are left out.
    too_deep: usize,
}

/// A bracket that is open.
struct Frame {
    /// What it belongs to, without its items.
    owner: Item,
    bracket: u8,
    open: usize,
    /// The items around it.
    around: Vec<Item>,
    /// Where the line begins that it is in.
    line: Line,
}

impl Builder {
    /// Closes brackets of lines to whose right this one does not stand.
    fn dedent(&mut self, line: Line, at: usize) {
        while let Some(frame) = self.stack.last() {
            if frame.line.start == line.start || line.column > frame.line.column {
                return;
            }
            self.close(at, at);
        }
    }

    fn take(&mut self, text: &str, kind: Kind, range: Range<usize>, line: Line) {
        let indent = *self.indent.get_or_insert(line);
        if indent.start != line.start {
            self.indent = Some(line);
        }
        match kind {
            Kind::Comment => {}
            Kind::Comma => self.end_item(),
            Kind::Colon => self.colon(text, range.start),
            Kind::Word | Kind::Number => self.value(Value::Word(range.clone()), range),
            Kind::Text(inner) => self.value(Value::Text(range.clone(), inner), range),
            Kind::Open(_) if self.stack.len() >= DEPTH_LIMIT => self.too_deep += 1,
            Kind::Open(bracket) => self.open(bracket, range.start),
            Kind::Close(_) if self.too_deep > 0 => self.too_deep -= 1,
            Kind::Close(bracket) => {
                let opening = match bracket {
                    b')' => b'(',
                    b']' => b'[',
                    _ => b'{',
                };
                if !self.stack.iter().any(|frame| frame.bracket == opening) {
                    return;
                }
                while self.stack.last().is_some_and(|frame| frame.bracket != opening) {
                    self.close(range.start, range.start);
                }
                self.close(range.start, range.end);
            }
        }
    }

    fn end_item(&mut self) {
        self.items.extend(self.current.take());
    }

    /// What is in front of the colon becomes a key.
    fn colon(&mut self, text: &str, colon: usize) {
        let Some(current) = &mut self.current else { return };
        let (range, inner) = match &current.value {
            Value::Word(range) => (range.clone(), range.clone()),
            Value::Text(range, inner) => (range.clone(), inner.clone()),
            _ => return,
        };
        let name = text.get(inner).unwrap_or_default().to_owned();
        let key = Key { name, range: range.clone(), colon };
        let keyed = Item { start: range.start, end: colon + 1, key: Some(key), ..Item::default() };
        if current.key.is_some() {
            // The value of the key before it is missing.
            current.value = Value::Missing;
            current.end = current.key.as_ref().map_or(current.end, |key| key.colon + 1);
            self.end_item();
        }
        self.current = Some(keyed);
    }

    fn value(&mut self, value: Value, range: Range<usize>) {
        match &mut self.current {
            Some(current) if matches!(current.value, Value::Missing) => {
                current.value = value;
                current.end = range.end;
            }
            _ => {
                // A comma is missing.
                self.end_item();
                let (start, end) = (range.start, range.end);
                self.current = Some(Item { start, end, value, ..Item::default() });
            }
        }
    }

    fn open(&mut self, bracket: u8, at: usize) {
        let fits = self.current.as_ref().is_some_and(|current| match &current.value {
            Value::Missing => true,
            Value::Word(_) => bracket == b'(',
            _ => false,
        });
        if !fits {
            self.end_item();
        }
        let mut owner =
            self.current.take().unwrap_or_else(|| Item { start: at, ..Item::default() });
        if let Value::Word(kind) = std::mem::take(&mut owner.value) {
            owner.kind = Some(kind);
        }
        let around = std::mem::take(&mut self.items);
        self.stack.push(Frame {
            owner,
            bracket,
            open: at,
            around,
            line: self.indent.unwrap_or_default(),
        });
    }

    /// Closes the innermost bracket.
    fn close(&mut self, close: usize, end: usize) {
        self.end_item();
        let Some(frame) = self.stack.pop() else { return };
        let Frame { mut owner, bracket, open, around, .. } = frame;
        let items = std::mem::replace(&mut self.items, around);
        owner.value = Value::Group(Group { bracket, open, close, items });
        owner.end = end;
        if end == close {
            // Nothing else belongs to it.
            self.items.push(owner);
        } else {
            self.current = Some(owner);
        }
    }

    fn finish(mut self, end: usize) -> Tree {
        while !self.stack.is_empty() {
            self.close(end, end);
        }
        self.end_item();
        Tree { items: self.items, comments: self.comments }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys and kinds of a tree, in brackets as they are nested.
    fn shape(items: &[Item], text: &str) -> String {
        let one = |item: &Item| {
            let key = item.name().map_or(String::new(), |name| format!("{name}:"));
            let kind = item.kind(text).unwrap_or_default();
            match item.group() {
                Some(group) => format!("{key}{kind}({})", shape(&group.items, text)),
                None => format!("{key}{kind}{}", item.text(text).unwrap_or_default()),
            }
        };
        items.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    fn shape_of(text: &str) -> String {
        shape(&Tree::of(text, true).items, text)
    }

    #[test]
    fn what_is_missing_is_missing_and_the_rest_stays() {
        for (text, expected) in [
            ("A(b: 1, c: [x, y], \"d\": K(e: 2))", "A(b:1 c:(x y) d:K(e:2))"),
            ("A(b: , c: 1)", "A(b: c:1)"),
            ("A(b: c: 1)", "A(b: c:1)"),
            ("A(b: { \"s\": })", "A(b:(s:))"),
            ("A(b 2)", "A(b 2)"),
            ("A(b: 1 c: 2)", "A(b:1 c:2)"),
            ("A(b: [1, c: 2)", "A(b:(1 c:2))"),
            ("A(b: \"x, c: 2)", "A(b:x c:2)"),
            ("A(\n  b: K(c: 1\n  d: 2,\n)", "A(b:K(c:1) d:2)"),
            (
                "A(\n  b: {\n    \"u\": K(s: \"\n    \"v\": 1,\n  },\n  e: 3,\n)",
                "A(b:(u:K(s:) v:1) e:3)",
            ),
            (
                "Long(
 a: 1,
 b: { \"u\":  },
)",
                "Long(a:1 b:(u:))",
            ),
            (")]}:,", ""),
            ("A(b: 'x', é: 1)", "A(b:x é:1)"),
        ] {
            assert_eq!(shape_of(text), expected, "{text}");
        }
    }
}
