//! A strict reader for the part of XML that robot files use.
//!
//! Elements and attributes with lines; text, comments and processing instructions are skipped;
//! document type declarations (and with them custom entities) are rejected. One pass, no recursion,
//! bounded depth.

use super::error::UrdfError;

/// Deepest nesting of elements. URDF needs seven.
const MAX_DEPTH: usize = 64;

/// Most attributes of one element. URDF needs seven.
const MAX_ATTRIBUTES: usize = 256;

/// An element. Elements are in document order; element 0 is the root.
#[derive(Debug)]
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) children: Vec<usize>,
    /// From 1.
    pub(crate) line: usize,
}

impl Element {
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Reads a document with one root element.
pub(crate) fn parse(text: &str) -> Result<Vec<Element>, UrdfError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader { text, at: 0, line: 1 };
    let mut elements: Vec<Element> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    loop {
        let line = reader.line;
        let between = reader.take_until_or_end("<");
        if open.is_empty() && !between.trim().is_empty() {
            return Err(xml_error(line, "text outside the root element"));
        }
        if reader.rest().is_empty() {
            break;
        }
        let line = reader.line;
        if reader.skip("<?") {
            reader.take_until("?>", "processing instruction")?;
        } else if reader.skip("<!--") {
            reader.take_until("-->", "comment")?;
        } else if !open.is_empty() && reader.skip("<![CDATA[") {
            reader.take_until("]]>", "CDATA section")?;
        } else if reader.rest().starts_with("<!") {
            return Err(xml_error(line, "document type declarations are not supported"));
        } else if reader.skip("</") {
            let name = reader.name()?;
            reader.skip_space();
            if !reader.skip(">") {
                return Err(xml_error(reader.line, format!("expected `>` to end `</{name}`")));
            }
            let Some(index) = open.pop() else {
                return Err(xml_error(line, format!("`</{name}>` closes no element")));
            };
            let start = &elements[index];
            if start.name != name {
                let problem = format!(
                    "expected `</{}>` to close line {}, found `</{name}>`",
                    start.name, start.line
                );
                return Err(xml_error(line, problem));
            }
        } else {
            reader.skip("<");
            if open.is_empty() && !elements.is_empty() {
                return Err(xml_error(line, "a second root element"));
            }
            if open.len() >= MAX_DEPTH {
                let problem = format!("elements nested deeper than {MAX_DEPTH}");
                return Err(xml_error(line, problem));
            }
            let (element, closed) = reader.start_tag(line)?;
            let index = elements.len();
            if let Some(&parent) = open.last() {
                elements[parent].children.push(index);
            }
            elements.push(element);
            if !closed {
                open.push(index);
            }
        }
    }
    if let Some(&index) = open.last() {
        let Element { name, line, .. } = &elements[index];
        let problem = format!("the text ends before `<{name}>` of line {line} is closed");
        return Err(xml_error(reader.line, problem));
    }
    if elements.is_empty() {
        return Err(xml_error(1, "expected `<robot>`, found no element"));
    }
    Ok(elements)
}

fn xml_error(line: usize, problem: impl Into<String>) -> UrdfError {
    UrdfError::Xml { line, problem: problem.into() }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Moves over `length` bytes, which must end between characters.
    fn advance(&mut self, length: usize) -> &'a str {
        let passed = &self.rest()[..length];
        self.line += passed.bytes().filter(|&b| b == b'\n').count();
        self.at += length;
        passed
    }

    fn skip(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.advance(token.len());
        }
        found
    }

    fn skip_space(&mut self) -> bool {
        let rest = self.rest();
        let length = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
        self.advance(length);
        length > 0
    }

    fn take_until_or_end(&mut self, token: &str) -> &'a str {
        let rest = self.rest();
        self.advance(rest.find(token).unwrap_or(rest.len()))
    }

    /// The text before `token`; moves past it.
    fn take_until(&mut self, token: &str, what: &str) -> Result<&'a str, UrdfError> {
        let line = self.line;
        let Some(length) = self.rest().find(token) else {
            return Err(xml_error(line, format!("{what} is not closed by `{token}`")));
        };
        let taken = self.advance(length);
        self.advance(token.len());
        Ok(taken)
    }

    fn name(&mut self) -> Result<&'a str, UrdfError> {
        let rest = self.rest();
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '-' | '.');
        let length = rest.find(|c: char| !is_name(c)).unwrap_or(rest.len());
        let starts_well = rest.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == ':');
        if !starts_well {
            let found = rest.chars().next().map_or("the end".to_owned(), |c| format!("{c:?}"));
            return Err(xml_error(self.line, format!("expected a name, found {found}")));
        }
        Ok(self.advance(length))
    }

    /// What follows `<`: the element, and whether it ends at once by `/>`.
    fn start_tag(&mut self, line: usize) -> Result<(Element, bool), UrdfError> {
        let name = self.name()?.to_owned();
        let mut attributes: Vec<(String, String)> = Vec::new();
        loop {
            let spaced = self.skip_space();
            if self.skip("/>") {
                return Ok((Element { name, attributes, children: Vec::new(), line }, true));
            }
            if self.skip(">") {
                return Ok((Element { name, attributes, children: Vec::new(), line }, false));
            }
            if self.rest().is_empty() {
                return Err(xml_error(self.line, format!("the text ends inside `<{name}`")));
            }
            if !spaced {
                let problem = format!("expected a space, `>` or `/>` in `<{name}`");
                return Err(xml_error(self.line, problem));
            }
            let (key, value) = self.attribute()?;
            if attributes.iter().any(|(other, _)| *other == key) {
                return Err(xml_error(self.line, format!("attribute `{key}` occurs twice")));
            }
            if attributes.len() == MAX_ATTRIBUTES {
                let problem = format!("more than {MAX_ATTRIBUTES} attributes in `<{name}`");
                return Err(xml_error(self.line, problem));
            }
            attributes.push((key, value));
        }
    }

    fn attribute(&mut self) -> Result<(String, String), UrdfError> {
        let line = self.line;
        let key = self.name()?.to_owned();
        self.skip_space();
        if !self.skip("=") {
            return Err(xml_error(self.line, format!("expected `=` after attribute `{key}`")));
        }
        self.skip_space();
        let quote = if self.skip("\"") {
            "\""
        } else if self.skip("'") {
            "'"
        } else {
            let problem = format!("expected a quoted value for attribute `{key}`");
            return Err(xml_error(self.line, problem));
        };
        let raw = self.take_until(quote, "attribute value")?;
        if raw.contains('<') {
            return Err(xml_error(line, format!("`<` in the value of attribute `{key}`")));
        }
        let value = unescape(raw).ok_or_else(|| {
            xml_error(line, format!("unknown entity in the value of attribute `{key}`"))
        })?;
        Ok((key, value))
    }
}

/// Replaces the five entities of XML and character references. `None` for any other.
fn unescape(raw: &str) -> Option<String> {
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        let end = at + rest[at..].find(';')?;
        let entity = &rest[at + 1..end];
        out.push(match entity {
            "lt" => '<',
            "gt" => '>',
            "amp" => '&',
            "quot" => '"',
            "apos" => '\'',
            _ => {
                let number = entity.strip_prefix('#')?;
                let code = match number.strip_prefix('x') {
                    Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                    None => number.parse().ok()?,
                };
                char::from_u32(code)?
            }
        });
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    Some(out)
}
