//! Elements of a robot file with their lines, read by `roxmltree`.
//!
//! Text, comments and processing instructions are skipped; document type declarations (and with
//! them custom entities) are rejected. Three violations of XML that ROS accepts are repaired first:
//! blank lines before the declaration, undeclared prefixes, and `--` in comments.

use std::borrow::Cow;

use legwork_mesh::check_xml;
use roxmltree::{Document, Error, Node, TextPos};

use super::error::UrdfError;
use crate::first_element::{first_element, first_element_at};

/// Deepest nesting of elements. URDF needs seven.
const MAX_DEPTH: usize = 64;

/// Most undeclared prefixes.
const MAX_PREFIXES: usize = 64;

/// An element. Elements are in document order; element 0 is the root.
#[derive(Debug)]
pub(crate) struct Element {
    /// With its prefix.
    pub(crate) name: String,
    /// With their prefixes; no declarations of namespaces.
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
    let whole = text.strip_prefix('\u{feff}').unwrap_or(text);
    let begins = whole.trim_start();
    let before = newlines(&whole[..whole.len() - begins.len()]);
    if let Err((at, problem)) = check_xml(begins) {
        return Err(UrdfError::Xml { line: 1 + before + newlines(&begins[..at]), problem });
    }
    let mut text = Cow::Borrowed(begins);
    let mut prefixes = 0;
    loop {
        let error = match Document::parse(&text) {
            Ok(document) => return elements(&document, before),
            Err(error) => error,
        };
        let repaired = match &error {
            Error::InvalidComment(_) => without_comments(&text),
            Error::UnknownNamespace(prefix, _) if prefixes < MAX_PREFIXES => {
                prefixes += 1;
                with_prefix(&text, prefix)
            }
            _ => None,
        };
        match repaired {
            Some(repaired) if repaired != text => text = Cow::Owned(repaired),
            _ => return Err(xml_error(&error, &text, before)),
        }
    }
}

/// The text with its comments replaced by blanks; line breaks are kept.
fn without_comments(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("<!") {
        let (end, is_comment) = match &rest[at..] {
            comment if comment.starts_with("<!--") => (comment[4..].find("-->")? + 7, true),
            data if data.starts_with("<![CDATA[") => (data.find("]]>")? + 3, false),
            _ => (2, false),
        };
        let (before, skipped) = (&rest[..at], &rest[at..at + end]);
        out.push_str(before);
        match is_comment {
            true => out.extend(skipped.chars().map(|c| if c == '\n' { c } else { ' ' })),
            false => out.push_str(skipped),
        }
        rest = &rest[at + end..];
    }
    out.push_str(rest);
    Some(out)
}

/// The text with the prefix declared in its root element.
fn with_prefix(text: &str, prefix: &str) -> Option<String> {
    let (head, tail) = text.split_at(first_element_at(text)?.end);
    Some(format!("{head} xmlns:{prefix}=\"{prefix}\"{tail}"))
}

/// Copies the elements; `before` is the number of lines before the document.
fn elements(document: &Document<'_>, before: usize) -> Result<Vec<Element>, UrdfError> {
    let text = document.input_text();
    let mut elements: Vec<Element> = Vec::new();
    // Ancestors of the next element, with their nodes.
    let mut open: Vec<(usize, Node<'_, '_>)> = Vec::new();
    let (mut line, mut read) = (1 + before, 0);
    for node in document.descendants().filter(Node::is_element) {
        let start = node.range().start;
        line += newlines(&text[read..start]);
        read = start;
        while open.last().is_some_and(|(_, parent)| node.parent() != Some(*parent)) {
            open.pop();
        }
        if open.len() >= MAX_DEPTH {
            let problem = format!("elements nested deeper than {MAX_DEPTH}");
            return Err(UrdfError::Xml { line, problem });
        }
        let index = elements.len();
        if let Some(&(parent, _)) = open.last() {
            elements[parent].children.push(index);
        }
        let is_of_name = |c: char| !c.is_whitespace() && c != '/' && c != '>';
        let name: String = text[start + 1..].chars().take_while(|&c| is_of_name(c)).collect();
        let attributes = node.attributes().map(|attribute| {
            (text[attribute.range_qname()].to_owned(), attribute.value().to_owned())
        });
        let attributes = attributes.collect();
        elements.push(Element { name, attributes, children: Vec::new(), line });
        open.push((index, node));
    }
    Ok(elements)
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|&byte| byte == b'\n').count()
}

/// Converts an error of `roxmltree`; its position becomes a line of the whole text.
fn xml_error(error: &Error, text: &str, before: usize) -> UrdfError {
    let end = TextPos::new(1 + newlines(text) as u32, 1);
    let (position, problem) = match error {
        Error::UnexpectedCloseTag(expected, found, at) => {
            (*at, format!("expected `</{expected}>`, found `</{found}>`"))
        }
        Error::DuplicatedAttribute(name, at) => (*at, format!("attribute `{name}` occurs twice")),
        Error::UnknownEntityReference(name, at) => (*at, format!("unknown entity `&{name};`")),
        Error::InvalidAttributeValue(at) => (*at, "`<` in the value of an attribute".to_owned()),
        Error::DtdDetected => {
            let at = text.find("<!DOCTYPE").map_or(0, |at| newlines(&text[..at]));
            let problem = "document type declarations are not supported";
            (TextPos::new(1 + at as u32, 1), problem.to_owned())
        }
        Error::NoRootNode if first_element(text).is_none() => {
            (TextPos::new(1, 1), "expected `<robot>`, found no element".to_owned())
        }
        Error::NoRootNode | Error::UnclosedRootNode | Error::UnexpectedEndOfStream => (
            end,
            format!("the text ends before `<{}>` is closed", first_element(text).unwrap_or("")),
        ),
        other => {
            // The message ends with a position that does not count the skipped lines.
            let at = other.pos();
            let told = other.to_string();
            let place = format!(" at {at}");
            (at, format!("not well-formed XML: {}", told.strip_suffix(&place).unwrap_or(&told)))
        }
    };
    UrdfError::Xml { line: before + position.row as usize, problem }
}
