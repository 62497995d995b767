//! Recursive descent over RON.
//!
//! One file: each rule of the grammar calls the others.

use std::borrow::Cow;

use legwork_block::{
    Arguments, Diagnostic, FileId, Name, Named, Node, NodeField as Field, NodeKind, Span, code,
    is_hidden,
};
use smallvec::SmallVec;

use super::{DEPTH_LIMIT, literal};
use crate::lookalikes;

/// Errors are rare and large, values many.
type Parsed<T> = Result<T, Box<Diagnostic>>;

/// Reads `text`, which starts at byte `base` of the file.
pub(super) fn parse(file: FileId, text: &str, base: usize) -> Parsed<Node> {
    let mut parser = Parser::new(file, text, base);
    parser.attributes()?;
    if parser.peek().is_none() {
        let found = parser.error(0, 0, "the file is empty");
        return Err(found.hint("write a diagram: `Diagram(format: 2, blocks: {})`").into());
    }
    if parser.peek() == Some(b'<') {
        let found = parser.error(0, 1, "expected a diagram, found XML");
        let hint = match text.contains("<robot") {
            true => "a robot is a part of a diagram: robots: { \"go\": Urdf(path: \"go.urdf\") }",
            false => "write a diagram: `Diagram(format: 2, blocks: {})`",
        };
        return Err(found.hint(hint).into());
    }
    let node = parser.value()?;
    parser.skip_space()?;
    match parser.peek() {
        None => Ok(node),
        Some(_) => Err(parser.expected("the end of the file").into()),
    }
}

/// Whether the text begins with `Diagram(`, `Mask(` or `Patch(`.
pub(super) fn is_ours(text: &str, kinds: &[&str]) -> bool {
    begins_with(text, kinds) || begins_with(text, &["Diagram", "Mask", "Patch"])
}

/// Whether a text begins as one of `kinds` does, behind comments.
pub(super) fn begins_with(text: &str, kinds: &[&str]) -> bool {
    let mut parser = Parser::new(FileId::default(), text, 0);
    let begins = parser.attributes().and_then(|()| parser.skip_space());
    let (word, rest) = parser.rest().split_at(parser.word_length());
    begins.is_ok() && kinds.contains(&word) && rest.trim_start().starts_with(['(', '/'])
}

struct Parser<'t> {
    file: FileId,
    text: &'t str,
    base: usize,
    at: usize,
    depth: usize,
    /// What is read of the brackets that are open, from the outermost on: the list of each is made
    /// when it is closed, and is as long as it must be.
    fields: Vec<Field>,
    values: Vec<Node>,
    entries: Vec<(Node, Node)>,
}

impl<'t> Parser<'t> {
    fn new(file: FileId, text: &'t str, base: usize) -> Self {
        let (fields, values, entries) = (Vec::new(), Vec::new(), Vec::new());
        Self { file, text, base, at: 0, depth: 0, fields, values, entries }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// The next byte.
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips `byte` if it comes next.
    fn skip(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, self.base + start, self.base + end)
    }

    fn error(&self, start: usize, end: usize, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(code::SYNTAX, self.span(start, end.min(self.text.len())), message)
    }

    /// "expected …, found …" at the current position.
    fn expected(&self, what: &str) -> Diagnostic {
        let word = self.word_length();
        let (length, found) = match self.rest().chars().next() {
            None => (0, "the end of the file".to_owned()),
            Some(_) if word > 0 => (word, format!("`{}`", &self.rest()[..word])),
            Some(c) => (c.len_utf8(), lookalikes::shown(c)),
        };
        self.error(self.at, self.at + length, format!("expected {what}, found {found}"))
    }

    fn skip_space(&mut self) -> Parsed<()> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t'..=b'\r') => self.at += 1,
                Some(b'/') if self.rest().starts_with("//") => {
                    self.at += self.rest().find('\n').unwrap_or(self.rest().len());
                }
                Some(b'/') if self.rest().starts_with("/*") => self.at += self.block_comment()?,
                Some(0x80..) => {
                    let white = "\u{85}\u{200e}\u{200f}\u{2028}\u{2029}";
                    match self.rest().chars().next() {
                        Some(c) if white.contains(c) => self.at += c.len_utf8(),
                        _ => return Ok(()),
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    /// Length of the comment `/* … */`, which may hold comments.
    fn block_comment(&self) -> Parsed<usize> {
        let rest = self.rest();
        let (mut level, mut at) = (1, 2);
        while level > 0 {
            let Some(next) = rest[at..].find(['/', '*']) else {
                return Err(self
                    .error(self.at, self.at + 2, "this comment has no end `*/`")
                    .into());
            };
            at += next;
            if rest[at..].starts_with("/*") {
                (level, at) = (level + 1, at + 2);
            } else if rest[at..].starts_with("*/") {
                (level, at) = (level - 1, at + 2);
            } else {
                at += 1;
            }
        }
        Ok(at)
    }

    /// Skips `#![enable(…)]`, `#![type = "…"]` and `#![schema = "…"]`: they say what the file is
    /// read as elsewhere, and nothing here.
    fn attributes(&mut self) -> Parsed<()> {
        self.skip_space()?;
        while self.peek() == Some(b'#') {
            for mark in [b'#', b'!', b'['] {
                self.mark(mark)?;
            }
            let length = self.word_length();
            let word = &self.rest()[..length];
            if !["enable", "type", "schema"].contains(&word) {
                return Err(self.expected("`enable`, `type` or `schema`").into());
            }
            self.at += length;
            self.skip_space()?;
            if word == "enable" {
                self.items(b'(', b')', Self::extension)?;
            } else {
                self.mark(b'=')?;
                if self.peek() != Some(b'"') && literal::raw_opening(self.rest()).is_none() {
                    return Err(self.expected("a text").into());
                }
                self.text_literal()?;
            }
            self.skip_space()?;
            self.mark(b']')?;
        }
        Ok(())
    }

    /// Skips `byte`, which must come next, and the space behind it.
    fn mark(&mut self, byte: u8) -> Parsed<()> {
        if !self.skip(byte) {
            return Err(self.expected(&format!("`{}`", char::from(byte))).into());
        }
        self.skip_space()
    }

    /// The name of an extension of the syntax.
    fn extension(&mut self) -> Parsed<()> {
        const KNOWN: [&str; 4] = [
            "implicit_some",
            "unwrap_newtypes",
            "unwrap_variant_newtypes",
            "explicit_struct_names",
        ];
        let length = self.word_length();
        if !KNOWN.contains(&&self.rest()[..length]) {
            return Err(self.expected("an extension such as `implicit_some`").into());
        }
        self.at += length;
        Ok(())
    }

    /// Length of the identifier at the current position.
    fn word_length(&self) -> usize {
        let rest = self.rest();
        let letter = |&byte: &u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let length = rest.bytes().take_while(|byte| letter(byte)).count();
        let is_number = rest.starts_with(|c: char| c.is_ascii_digit());
        match rest.as_bytes().get(length) {
            _ if is_number => 0,
            Some(0x80..) if length > 0 || rest.starts_with(char::is_alphabetic) => {
                rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
            }
            _ => length,
        }
    }

    /// Start and end of the identifier at the current position, without the `r#` that may stand
    /// in front of it.
    fn name(&self) -> Option<(usize, usize)> {
        let raw = self.rest().strip_prefix("r#");
        let letter = |c: char| !c.is_alphanumeric() && !"_.+-".contains(c);
        match raw.map(|raw| raw.find(letter).unwrap_or(raw.len())) {
            Some(length) if length > 0 => Some((self.at + 2, self.at + 2 + length)),
            _ => Some((self.at, self.at + self.word_length())).filter(|(start, end)| end > start),
        }
    }

    /// Steps behind a name that ends at `end`.
    fn take_name(&mut self, (start, end): (usize, usize)) -> Name {
        let span = self.span(self.at, end);
        self.at = end;
        Name { text: self.text[start..end].to_owned(), span }
    }

    /// The name of a field, if one and a colon come next, up to behind the colon.
    fn field_name(&mut self) -> Parsed<Option<Name>> {
        let before = self.at;
        let Some(range) = self.name() else { return Ok(None) };
        self.at = range.1;
        self.skip_space()?;
        let is_field = self.skip(b':');
        let behind = std::mem::replace(&mut self.at, before);
        if !is_field {
            return Ok(None);
        }
        let name = self.take_name(range);
        self.at = behind;
        Ok(Some(name))
    }

    fn value(&mut self) -> Parsed<Node> {
        self.skip_space()?;
        let start = self.at;
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            let message = format!("more than {DEPTH_LIMIT} brackets are nested");
            return Err(
                Diagnostic::error(code::NESTING, self.span(start, start + 1), message).into()
            );
        }
        let rest = self.rest();
        let kind = match self.peek() {
            Some(b'[') => {
                let outside = self.values.len();
                self.items(b'[', b']', |parser| {
                    let value = parser.value()?;
                    parser.values.push(value);
                    Ok(())
                })?;
                NodeKind::List(self.values.drain(outside..).collect())
            }
            Some(b'{') => self.map()?,
            Some(b'(') => self.group(None)?,
            Some(b'"' | b'\'') => self.text_literal()?,
            Some(b'b') if ["b\"", "b'", "br\"", "br#"].iter().any(|b| rest.starts_with(b)) => {
                return Err(self.error(start, start + 1, "expected a text, found bytes").into());
            }
            Some(b'r') if literal::raw_opening(rest).is_some() => self.text_literal()?,
            Some(b'0'..=b'9' | b'+' | b'-' | b'.') => self.number()?,
            _ => self.word()?,
        };
        self.depth -= 1;
        let span = self.span(start, self.at);
        match kind {
            NodeKind::Named(Named { name: Some(name), arguments }) if name.text == "Some" => {
                match arguments {
                    // `Some(x)` is `x`.
                    Arguments::Positional(mut items) if items.len() == 1 => Ok(items.remove(0)),
                    _ => Err(Diagnostic::error(
                        code::SYNTAX,
                        span,
                        "expected one value in `Some(…)`",
                    )
                    .into()),
                }
            }
            kind => Ok(Node { span, kind }),
        }
    }

    fn text_literal(&mut self) -> Parsed<NodeKind> {
        let at = self.span(self.at, self.at);
        let rest = self.rest();
        let read = match (literal::raw_opening(rest), rest.starts_with('\'')) {
            (Some(opening), _) => literal::raw_text(rest, opening, at),
            (None, false) => literal::text(rest, '"', at),
            (None, true) => literal::text(rest, '\'', at),
        };
        let (text, length) =
            read.map_err(|(message, from, to)| self.error(self.at + from, self.at + to, message))?;
        if rest.starts_with('\'') && text.value.chars().count() != 1 {
            let found = self.error(self.at, self.at + length, "expected one character in `'`");
            return Err(found.hint("put texts in double quotes").into());
        }
        self.at += length;
        Ok(NodeKind::Text(text))
    }

    fn number(&mut self) -> Parsed<NodeKind> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let radix = matches!(bytes.get(1), Some(b'x' | b'b' | b'o'));
        let mut length = 1;
        while let Some(byte) = bytes.get(length) {
            let exponent = !radix && matches!(bytes[length - 1], b'e' | b'E');
            let sign = matches!(byte, b'+' | b'-') && exponent;
            if !(byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_') || sign) {
                break;
            }
            length += 1;
        }
        let (start, end) = (self.at, self.at + length);
        let number = literal::number(&rest[..length]).ok_or_else(|| {
            let found =
                self.error(start, end, format!("expected a number, found `{}`", &rest[..length]));
            match rest[..length].find(|c: char| c.is_alphabetic()) {
                Some(_) => found.hint("put a quantity with its unit in quotes: \"10 ms\""),
                None => found,
            }
        })?;
        self.at = end;
        Ok(NodeKind::Number(number))
    }

    /// `true`, `None`, `inf`, `Kind` or `Kind(…)`.
    fn word(&mut self) -> Parsed<NodeKind> {
        let Some(range) = self.name() else { return Err(self.expected("a value").into()) };
        let kind = match &self.text[self.at..range.1] {
            "true" => NodeKind::Bool(true),
            "false" => NodeKind::Bool(false),
            "None" => NodeKind::Unit,
            word => match literal::not_finite(word) {
                Some(number) => NodeKind::Number(number),
                None => {
                    let name = self.take_name(range);
                    self.skip_space()?;
                    if self.peek() == Some(b'(') {
                        return self.group(Some(name));
                    }
                    NodeKind::Named(Named { name: Some(name), arguments: Arguments::None })
                }
            },
        };
        self.at = range.1;
        Ok(kind)
    }

    /// `(…)` with named fields or values, behind a kind's name or alone.
    fn group(&mut self, name: Option<Name>) -> Parsed<NodeKind> {
        let (fields, values) = (self.fields.len(), self.values.len());
        self.items(b'(', b')', |parser| {
            let name = parser.field_name()?;
            let value = parser.value()?;
            match name {
                Some(name) => parser.fields.push(Field { name, value }),
                None => parser.values.push(value),
            }
            Ok(())
        })?;
        let fields: Vec<Field> = self.fields.drain(fields..).collect();
        let values: Vec<Node> = self.values.drain(values..).collect();
        let arguments = match (fields.is_empty(), values.first()) {
            (true, None) if name.is_none() => return Ok(NodeKind::Unit),
            (true, Some(_)) if name.is_none() => return Ok(NodeKind::List(values)),
            (true, Some(_)) => Arguments::Positional(values),
            (_, None) => {
                let names = fields.iter().map(|field| (Key::of_name(&field.name), field.name.span));
                distinct("field", code::DUPLICATE_FIELD, names.collect())?;
                Arguments::Fields(fields)
            }
            (false, Some(value)) => {
                let message = "expected `name: value`, found a value without a name";
                return Err(Diagnostic::error(code::SYNTAX, value.span, message)
                    .hint("parameters are either all named or all without names")
                    .into());
            }
        };
        Ok(NodeKind::Named(Named { name, arguments }))
    }

    fn map(&mut self) -> Parsed<NodeKind> {
        let outside = self.entries.len();
        self.items(b'{', b'}', |parser| {
            let key = parser.value()?;
            parser.skip_space()?;
            if !parser.skip(b':') {
                return Err(parser.expected("`:` behind the key").into());
            }
            let value = parser.value()?;
            parser.entries.push((key, value));
            Ok(())
        })?;
        let entries: Vec<(Node, Node)> = self.entries.drain(outside..).collect();
        for (key, _) in &entries {
            let Some(name) = key.text() else { continue };
            let Some(c) = lookalikes::unseen(name) else { continue };
            let message = format!("the name \"{name}\" holds {}", lookalikes::shown(c));
            return Err(Diagnostic::error(code::BAD_NAME, key.span, message).into());
        }
        let keys = entries.iter().map(|(key, _)| Ok((Key::of(key)?, key.span)));
        distinct("key", code::DUPLICATE_KEY, keys.collect::<Parsed<_>>()?)?;
        Ok(NodeKind::Map(entries))
    }

    /// Advice if a quantity or a path stands here without quotes.
    fn quotes(&self) -> Option<&'static str> {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let before = self.text[..self.at].trim_end().rsplit(|c| !is_word(c)).next()?;
        let first = before.chars().next()?;
        match self.rest().chars().next()? {
            c if first.is_ascii_digit() && (c.is_alphabetic() || c == '%') => {
                Some("put a quantity with its unit in quotes: \"10 ms\"")
            }
            '.' if !first.is_ascii_digit() => Some("put a path in quotes: \"block.port\""),
            _ => None,
        }
    }

    /// Reads items between commas in brackets; a last comma is allowed.
    fn items(
        &mut self,
        open: u8,
        close: u8,
        mut item: impl FnMut(&mut Self) -> Parsed<()>,
    ) -> Parsed<()> {
        let start = self.at;
        let (open_char, close_char) = (char::from(open), char::from(close));
        self.mark(open)?;
        let unclosed = |parser: &Self, what: &str| {
            let opened = parser.span(start, start + 1);
            let found = parser.expected(what).also(opened, format!("this `{open_char}` is open"));
            match parser.quotes() {
                Some(hint) => found.hint(hint),
                None => found,
            }
        };
        loop {
            if self.skip(close) {
                return Ok(());
            }
            if self.peek().is_none() {
                return Err(unclosed(self, &format!("`{close_char}`")).into());
            }
            item(self)?;
            self.skip_space()?;
            if self.skip(b',') {
                self.skip_space()?;
            } else if self.peek() != Some(close) {
                return Err(unclosed(self, &format!("`,` or `{close_char}`")).into());
            }
        }
    }
}

/// The name of a field or an entry: as text, and whether it is written in quotes.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key<'n> {
    text: Cow<'n, str>,
    is_quoted: bool,
}

impl<'n> Key<'n> {
    fn of_name(name: &'n Name) -> Self {
        Self { text: Cow::Borrowed(&name.text), is_quoted: false }
    }

    fn of(key: &'n Node) -> Parsed<Self> {
        let bare = |text: String| Self { text: Cow::Owned(text), is_quoted: false };
        match &key.kind {
            NodeKind::Text(text) if text.value.contains(is_hidden) => {
                let c = text.value.chars().find(|c| is_hidden(*c)).unwrap_or_default();
                let message =
                    format!("a name may not hold the hidden character U+{:04X}", c as u32);
                Err(Diagnostic::error(code::BAD_NAME, key.span, message)
                    .hint("leave it out")
                    .into())
            }
            NodeKind::Text(text) => Ok(Self { text: Cow::Borrowed(&text.value), is_quoted: true }),
            NodeKind::Number(number) => Ok(bare(number.value.to_string())),
            NodeKind::Bool(value) => Ok(bare(value.to_string())),
            NodeKind::Named(Named { name: Some(name), arguments: Arguments::None }) => {
                Ok(Self::of_name(name))
            }
            _ => {
                let message = format!("expected a name as key, found {}", key.describe());
                Err(Diagnostic::error(code::SYNTAX, key.span, message).into())
            }
        }
    }
}

/// Names with their places; mostly few.
type Names<'n> = SmallVec<[(Key<'n>, Span); 4]>;

/// Checks that no name is given twice.
fn distinct(what: &str, code: code::Code, mut names: Names<'_>) -> Parsed<()> {
    if names.len() < 2 {
        return Ok(());
    }
    // Names that are equal keep their order.
    names.sort_by(|(a, _), (b, _)| a.cmp(b));
    let twice = names.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    let Some([(_, first), (key, again)]) = twice.min_by_key(|pair| pair[1].1.start) else {
        return Ok(());
    };
    let quote = if key.is_quoted { '"' } else { '`' };
    let message = format!("the {what} {quote}{}{quote} is given twice", key.text);
    Err(Diagnostic::error(code, *again, message)
        .label("again here")
        .also(*first, "first here")
        .into())
}
