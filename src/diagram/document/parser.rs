//! Recursive descent over RON.

use std::collections::BTreeMap;

use legwork_block::{
    Arguments, Diagnostic, FileId, Name, Named, Node, NodeField as Field, NodeKind, Span, Text,
};

use super::{DEPTH_LIMIT, literal};

type Parsed<T> = Result<T, Diagnostic>;

/// Reads `text`, which starts at byte `base` of the file.
pub(super) fn parse(file: FileId, text: &str, base: usize) -> Parsed<Node> {
    let mut parser = Parser { file, text, base, at: 0, depth: 0 };
    parser.attributes()?;
    if parser.rest().is_empty() {
        let found = parser.error(0, 0, "the file is empty");
        return Err(found.hint("write a diagram: `Diagram(format: 1, blocks: {})`"));
    }
    if parser.rest().starts_with('<') {
        let found = parser.error(0, 1, "expected a diagram, found XML");
        let hint = "a robot is a part of a diagram: robots: { \"go\": Urdf(path: \"go.urdf\") }";
        return Err(found.hint(hint));
    }
    let node = parser.value()?;
    parser.skip_space()?;
    match parser.rest().chars().next() {
        None => Ok(node),
        Some(_) => Err(parser.expected("the end of the file")),
    }
}

struct Parser<'t> {
    file: FileId,
    text: &'t str,
    base: usize,
    at: usize,
    depth: usize,
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, self.base + start, self.base + end)
    }

    fn error(&self, start: usize, end: usize, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error("syntax", self.span(start, end.min(self.text.len())), message)
    }

    /// "expected …, found …" at the current position.
    fn expected(&self, what: &str) -> Diagnostic {
        let word = self.word_length();
        let (length, found) = match self.rest().chars().next() {
            None => (0, "the end of the file".to_owned()),
            Some(_) if word > 0 => (word, format!("`{}`", &self.rest()[..word])),
            Some(c) => (c.len_utf8(), format!("`{c}`")),
        };
        self.error(self.at, self.at + length, format!("expected {what}, found {found}"))
    }

    fn skip_space(&mut self) -> Parsed<()> {
        loop {
            let rest = self.rest();
            let white = |c: char| c.is_whitespace() || "\u{200e}\u{200f}".contains(c);
            self.at += rest.len() - rest.trim_start_matches(white).len();
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                self.at += self.block_comment()?;
            } else {
                return Ok(());
            }
        }
    }

    /// Length of the comment `/* … */`, which may hold comments.
    fn block_comment(&self) -> Parsed<usize> {
        let rest = self.rest();
        let (mut level, mut at) = (1, 2);
        while level > 0 {
            let Some(next) = rest[at..].find(['/', '*']) else {
                return Err(self.error(self.at, self.at + 2, "this comment has no end `*/`"));
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

    /// Skips `#![…]`, which `ron` checks.
    fn attributes(&mut self) -> Parsed<()> {
        self.skip_space()?;
        while self.rest().starts_with('#') {
            let start = self.at;
            let mut rest = self.rest();
            while !rest.starts_with(']') {
                self.at += rest.chars().next().map_or(0, char::len_utf8);
                rest = self.rest();
                if rest.is_empty() {
                    return Err(self.error(start, start + 1, "this attribute has no end `]`"));
                }
                if rest.starts_with('"') {
                    let at = self.span(self.at, self.at);
                    let (_, length) = literal::text(rest, '"', at)
                        .map_err(|(message, ..)| self.error(start, start + 1, message))?;
                    self.at += length - 1;
                }
            }
            self.at += 1;
            self.skip_space()?;
        }
        Ok(())
    }

    /// Length of the identifier at the current position.
    fn word_length(&self) -> usize {
        let rest = self.rest();
        if !rest.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return 0;
        }
        rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
    }

    /// An identifier, `r#name` included, without the space behind it.
    fn name(&mut self) -> Option<Name> {
        let start = self.at;
        if let Some(raw) = self.rest().strip_prefix("r#") {
            let letter = |c: char| !c.is_alphanumeric() && !"_.+-".contains(c);
            let length = raw.find(letter).unwrap_or(raw.len());
            if length > 0 {
                self.at += 2 + length;
                return Some(Name {
                    text: raw[..length].to_owned(),
                    span: self.span(start, self.at),
                });
            }
        }
        let length = self.word_length();
        self.at += length;
        let text = self.text[start..self.at].to_owned();
        (length > 0).then(|| Name { text, span: self.span(start, self.at) })
    }

    fn value(&mut self) -> Parsed<Node> {
        self.skip_space()?;
        let start = self.at;
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            let message = format!("more than {DEPTH_LIMIT} brackets are nested");
            return Err(Diagnostic::error("nesting", self.span(start, start + 1), message));
        }
        let rest = self.rest();
        let node = match rest.chars().next() {
            Some('[') => NodeKind::List(self.items('[', ']', Self::value)?),
            Some('{') => self.map()?,
            Some('(') => self.group(None)?,
            Some('"' | '\'') => self.text_literal()?,
            Some('b')
                if rest.starts_with("b\"") || rest.starts_with("br") || rest.starts_with("b'") =>
            {
                return Err(self.error(start, start + 1, "expected a text, found bytes"));
            }
            Some('r') if literal::raw_opening(rest).is_some() => self.text_literal()?,
            Some(c) if c.is_ascii_digit() || "+-.".contains(c) => self.number()?,
            _ => self.word()?,
        };
        self.depth -= 1;
        // `Some(x)` is `x`.
        match node {
            NodeKind::Named(Named {
                name: Some(name),
                arguments: Arguments::Positional(mut items),
            }) if name.text == "Some" && items.len() == 1 => Ok(items.remove(0)),
            kind => Ok(Node { span: self.span(start, self.at), kind }),
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
        let (text, length): (Text, usize) =
            read.map_err(|(message, from, to)| self.error(self.at + from, self.at + to, message))?;
        if rest.starts_with('\'') && text.value.chars().count() != 1 {
            let found = self.error(self.at, self.at + length, "expected one character in `'`");
            return Err(found.hint("put texts in double quotes"));
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
        let Some(name) = self.name() else { return Err(self.expected("a value")) };
        let end = self.at;
        match name.text.as_str() {
            "true" => return Ok(NodeKind::Bool(true)),
            "false" => return Ok(NodeKind::Bool(false)),
            "None" => return Ok(NodeKind::Unit),
            word => {
                if let Some(number) = literal::number(word) {
                    return Ok(NodeKind::Number(number));
                }
            }
        }
        self.skip_space()?;
        if self.rest().starts_with('(') {
            return self.group(Some(name));
        }
        self.at = end;
        Ok(NodeKind::Named(Named { name: Some(name), arguments: Arguments::None }))
    }

    /// `(…)` with named fields or values, behind a kind's name or alone.
    fn group(&mut self, name: Option<Name>) -> Parsed<NodeKind> {
        let items = self.items('(', ')', |parser| {
            parser.skip_space()?;
            let start = parser.at;
            if let Some(field) = parser.name() {
                parser.skip_space()?;
                if parser.rest().starts_with(':') {
                    parser.at += 1;
                    return Ok((Some(field), parser.value()?));
                }
            }
            parser.at = start;
            Ok((None, parser.value()?))
        })?;
        let named = items.iter().filter(|(field, _)| field.is_some()).count();
        if let (true, Some((_, value))) =
            (named > 0, items.iter().find(|(field, _)| field.is_none()))
        {
            let message = "expected `name: value`, found a value without a name";
            return Err(Diagnostic::error("syntax", value.span, message)
                .hint("parameters are either all named or all without names"));
        }
        if named == 0 {
            let values: Vec<Node> = items.into_iter().map(|(_, value)| value).collect();
            return Ok(match (name, values.is_empty()) {
                (None, true) => NodeKind::Unit,
                (None, false) => NodeKind::List(values),
                (name, true) => {
                    NodeKind::Named(Named { name, arguments: Arguments::Fields(Vec::new()) })
                }
                (name, false) => {
                    NodeKind::Named(Named { name, arguments: Arguments::Positional(values) })
                }
            });
        }
        let fields: Vec<Field> = items
            .into_iter()
            .filter_map(|(name, value)| Some(Field { name: name?, value }))
            .collect();
        let names = fields.iter().map(|field| (field.name.text.clone(), field.name.span));
        distinct("field", "duplicate-field", names)?;
        Ok(NodeKind::Named(Named { name, arguments: Arguments::Fields(fields) }))
    }

    fn map(&mut self) -> Parsed<NodeKind> {
        let entries = self.items('{', '}', |parser| {
            let key = parser.value()?;
            parser.skip_space()?;
            if !parser.rest().starts_with(':') {
                return Err(parser.expected("`:` behind the key"));
            }
            parser.at += 1;
            Ok((key, parser.value()?))
        })?;
        let names = entries
            .iter()
            .map(|(key, _)| match &key.kind {
                NodeKind::Text(text) => Ok((format!("\"{}\"", text.value), key.span)),
                NodeKind::Number(number) => Ok((number.value.to_string(), key.span)),
                NodeKind::Bool(value) => Ok((value.to_string(), key.span)),
                NodeKind::Named(Named { name: Some(name), arguments: Arguments::None }) => {
                    Ok((name.text.clone(), key.span))
                }
                _ => {
                    let message = format!("expected a name as key, found {}", key.describe());
                    Err(Diagnostic::error("syntax", key.span, message))
                }
            })
            .collect::<Parsed<Vec<_>>>()?;
        distinct("key", "duplicate-key", names)?;
        Ok(NodeKind::Map(entries))
    }

    /// Items between commas in brackets; a last comma is allowed.
    fn items<T>(
        &mut self,
        open: char,
        close: char,
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let start = self.at;
        self.at += open.len_utf8();
        let mut items = Vec::new();
        let unclosed = |parser: &Self, what: &str| {
            let opened = parser.span(start, start + open.len_utf8());
            parser.expected(what).also(opened, format!("this `{open}` is open"))
        };
        loop {
            self.skip_space()?;
            if self.rest().starts_with(close) {
                break;
            }
            if self.rest().is_empty() {
                return Err(unclosed(self, &format!("`{close}`")));
            }
            items.push(item(self)?);
            self.skip_space()?;
            if self.rest().starts_with(',') {
                self.at += 1;
            } else if !self.rest().starts_with(close) {
                return Err(unclosed(self, &format!("`,` or `{close}`")));
            }
        }
        self.at += close.len_utf8();
        Ok(items)
    }
}

/// Checks that no name is given twice.
fn distinct(
    what: &str,
    code: &'static str,
    names: impl IntoIterator<Item = (String, Span)>,
) -> Parsed<()> {
    let mut seen = BTreeMap::new();
    for (name, span) in names {
        if let Some(first) = seen.get(&name) {
            let message = format!("the {what} {} is given twice", quoted(&name));
            return Err(Diagnostic::error(code, span, message)
                .label("again here")
                .also(*first, "first here"));
        }
        seen.insert(name, span);
    }
    Ok(())
}

fn quoted(name: &str) -> String {
    if name.starts_with('"') { name.to_owned() } else { format!("`{name}`") }
}
