//! Texts → elements with places: XML, and the files that it includes.

use std::collections::BTreeSet;

use super::error::{MjcfError, MjcfErrors};
use crate::first_element::first_element;

/// Most elements of all files together.
const MAX_ELEMENTS: usize = 1_000_000;

/// Most files of one model.
const MAX_FILES: usize = 1_000;

/// Where something stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    file: usize,
    /// In bytes.
    at: usize,
}

impl Place {
    /// Where the first file starts.
    pub(super) const START: Self = Self { file: 0, at: 0 };
}

#[derive(Debug)]
pub(super) struct Attribute {
    pub(super) name: String,
    pub(super) value: String,
    /// Of the name.
    pub(super) place: Place,
    /// Of the value.
    pub(super) value_place: Place,
}

#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) attributes: Vec<Attribute>,
    pub(super) children: Vec<usize>,
    pub(super) place: Place,
}

impl Element {
    pub(super) fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }
}

/// A file as the model names it.
struct File {
    path: String,
    text: String,
    /// Whether it is a model or a part of one. It may be any file else, and nothing of it is shown.
    is_ours: bool,
}

/// Advice.
const STARTS: &str = "a model of MuJoCo starts with <mujoco>";

/// First elements of a model and of its parts.
const OURS: [&str; 2] = ["mujoco", "mujocoinclude"];

/// The elements of a model, with the children of included files in place of `<include>`.
pub(super) struct Document {
    files: Vec<File>,
    /// Element 0 is the root.
    pub(super) elements: Vec<Element>,
    /// Where, what was expected and found, and advice.
    errors: Vec<(Place, String, Option<String>)>,
}

/// Reads the text of a file by its path.
pub(super) type ReadText<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, String>;

impl Document {
    /// Reads `path` and all that it includes.
    pub(super) fn read(path: &str, read: ReadText<'_>) -> Result<Self, MjcfErrors> {
        let mut document = Self { files: Vec::new(), elements: Vec::new(), errors: Vec::new() };
        let alone = |problem: String| MjcfErrors::one(MjcfError::of_file(path, problem));
        let bytes = read(path).map_err(alone)?;
        let text = text_of(bytes).map_err(alone)?;
        match first_element(&text) {
            Some(first) if OURS.contains(&first) => {}
            // It may be any file, so that nothing of it is shown.
            other => {
                let (found, hint) = match other {
                    Some("robot") => ("<robot>", "a URDF file is read by `Urdf(path: …)`"),
                    Some(_) => ("another element", STARTS),
                    None => ("no element", STARTS),
                };
                let problem = format!("expected <mujoco>, found {found}");
                let error = MjcfError::of_file(path, problem);
                return Err(MjcfErrors::one(MjcfError { hint: Some(hint.to_owned()), ..error }));
            }
        }
        if document.add_file(path, text, None, read).is_none() && document.errors.is_empty() {
            return Err(alone("expected an element".to_owned()));
        }
        document.finish()?;
        let Element { name, place, .. } = &document.elements[0];
        let place = *place;
        if name == "mujocoinclude" {
            let problem = "expected <mujoco>, found <mujocoinclude>";
            let hint = "this file is a part, which another one includes";
            document.error_with_hint(place, problem, hint);
        }
        document.finish()?;
        Ok(document)
    }

    /// Errors so far, if there are any.
    pub(super) fn finish(&mut self) -> Result<(), MjcfErrors> {
        match self.errors.is_empty() {
            true => Ok(()),
            false => {
                let errors = std::mem::take(&mut self.errors).into_iter();
                Err(MjcfErrors(
                    errors.map(|(place, what, hint)| self.located(place, what, hint)).collect(),
                ))
            }
        }
    }

    pub(super) fn error(&mut self, place: Place, problem: impl Into<String>) {
        self.push((place, problem.into(), None));
    }

    pub(super) fn error_with_hint(
        &mut self,
        place: Place,
        problem: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.push((place, problem.into(), Some(hint.into())));
    }

    /// What is wrong first is told; a thousandth error helps nobody.
    fn push(&mut self, error: (Place, String, Option<String>)) {
        const MOST: usize = 20;
        if self.errors.len() < MOST && !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    fn located(&self, place: Place, problem: String, hint: Option<String>) -> MjcfError {
        let File { path, text, is_ours } = &self.files[place.file];
        if *is_ours {
            return MjcfError::located(path, text, place.at, problem, hint);
        }
        let problem = "it is no part of a model of MuJoCo".to_owned();
        let hint = Some("a part starts with <mujocoinclude>".to_owned());
        let located = MjcfError::located(path, text, place.at, problem, hint);
        MjcfError { excerpt: String::new(), ..located }
    }

    /// `file:line:column`.
    pub(super) fn name_of(&self, place: Place) -> String {
        let error = self.located(place, String::new(), None);
        format!("{}:{}:{}", error.file, error.line, error.column)
    }

    /// Path of the file of a place.
    pub(super) fn file_of(&self, place: Place) -> &str {
        &self.files[place.file].path
    }

    /// Reads one file and those that it includes. The elements of a file that is included become
    /// children of `parent`, in place of its root.
    fn add_file(
        &mut self,
        path: &str,
        text: String,
        include: Option<(usize, Place)>,
        read: ReadText<'_>,
    ) -> Option<usize> {
        let mut waiting = vec![(path.to_owned(), text, include)];
        let mut seen = BTreeSet::from([normal(path)]);
        let mut root = None;
        while let Some((path, text, include)) = waiting.pop() {
            let file = self.files.len();
            let is_ours = first_element(&text).is_some_and(|first| OURS.contains(&first));
            self.files.push(File { path: path.clone(), text: text.clone(), is_ours });
            // Elements nest without recursion in roxmltree; entities are off with DTDs.
            if let Err((at, problem)) = legwork_mesh::check_xml(&text) {
                self.error(Place { file, at }, problem);
                continue;
            }
            let parsed = match roxmltree::Document::parse(&text) {
                Ok(parsed) => parsed,
                Err(error) => {
                    let at = byte_of(&text, error.pos());
                    let problem = format!("not well-formed XML: {error}");
                    self.error(Place { file, at }, problem);
                    continue;
                }
            };
            let parent = include.map(|(element, _)| element);
            let first = self.elements.len();
            let includes = self.copy(&parsed, file, parent);
            if parent.is_none() {
                root = (self.elements.len() > first).then_some(first);
            }
            for include in includes {
                if let Some((path, text)) = self.open(include, &path, &mut seen, read) {
                    let place = self.elements[include].place;
                    waiting.push((path, text, Some((include, place))));
                }
            }
        }
        self.splice_includes();
        root
    }

    /// Copies the elements of one file; gives those that include another.
    fn copy(
        &mut self,
        parsed: &roxmltree::Document<'_>,
        file: usize,
        parent: Option<usize>,
    ) -> Vec<usize> {
        let mut includes = Vec::new();
        // The root of an included file stands for nothing.
        let root = parsed.root_element();
        let mut waiting: Vec<(roxmltree::Node<'_, '_>, Option<usize>)> = match parent {
            None => vec![(root, None)],
            Some(_) => reversed(root).map(|child| (child, parent)).collect(),
        };
        while let Some((node, parent)) = waiting.pop() {
            if self.elements.len() >= MAX_ELEMENTS {
                let place = Place { file, at: node.range().start };
                self.error(place, format!("more than {MAX_ELEMENTS} elements"));
                break;
            }
            let index = self.elements.len();
            let attributes = node.attributes().map(|attribute| Attribute {
                name: attribute.name().to_owned(),
                value: attribute.value().to_owned(),
                place: Place { file, at: attribute.range().start },
                value_place: Place { file, at: attribute.range_value().start },
            });
            self.elements.push(Element {
                name: node.tag_name().name().to_owned(),
                attributes: attributes.collect(),
                children: Vec::new(),
                place: Place { file, at: node.range().start },
            });
            if let Some(parent) = parent {
                self.elements[parent].children.push(index);
            }
            if node.tag_name().name() == "include" {
                includes.push(index);
                continue;
            }
            waiting.extend(reversed(node).map(|child| (child, Some(index))));
        }
        includes
    }

    /// The file of an `<include>`, beside the model or beside the file that includes it. Each file
    /// is included once, so that no include can grow or run in a circle.
    fn open(
        &mut self,
        include: usize,
        from: &str,
        seen: &mut BTreeSet<String>,
        read: ReadText<'_>,
    ) -> Option<(String, String)> {
        let element = &self.elements[include];
        let place = element.place;
        let Some(file) = element.attribute("file") else {
            self.error(place, "<include>: expected `file`");
            return None;
        };
        let (name, place) = (file.value.clone(), file.value_place);
        if self.files.len() >= MAX_FILES {
            self.error(place, format!("more than {MAX_FILES} files"));
            return None;
        }
        let mut problems = Vec::new();
        let mut candidates = vec![beside(&self.files[0].path, &name), beside(from, &name)];
        candidates.dedup();
        for path in candidates {
            if seen.contains(&normal(&path)) {
                let problem = format!("`{name}` is included already, or includes itself");
                self.error_with_hint(place, problem, "a model includes a file once");
                return None;
            }
            match read(&path).and_then(text_of) {
                Ok(text) => {
                    seen.insert(normal(&path));
                    return Some((path, text));
                }
                Err(problem) => problems.push(problem),
            }
        }
        problems.dedup();
        self.error(place, format!("`{name}` is not read: {}", problems.join("; ")));
        None
    }

    /// Puts the children of every `<include>` in its place.
    fn splice_includes(&mut self) {
        // Last first: what an include holds is spliced before it is moved.
        for index in (0..self.elements.len()).rev() {
            let children = std::mem::take(&mut self.elements[index].children);
            if self.elements[index].name == "include" {
                self.elements[index].children = children;
                continue;
            }
            let mut spliced = Vec::with_capacity(children.len());
            let mut waiting: Vec<usize> = children.into_iter().rev().collect();
            while let Some(child) = waiting.pop() {
                match self.elements[child].name == "include" {
                    true => waiting.extend(self.elements[child].children.iter().rev()),
                    false => spliced.push(child),
                }
            }
            self.elements[index].children = spliced;
        }
    }
}

/// Children, last first.
fn reversed<'a, 'input>(
    node: roxmltree::Node<'a, 'input>,
) -> impl Iterator<Item = roxmltree::Node<'a, 'input>> {
    std::iter::successors(node.last_child(), roxmltree::Node::prev_sibling)
        .filter(roxmltree::Node::is_element)
}

fn text_of(bytes: Vec<u8>) -> Result<String, String> {
    let text = String::from_utf8(bytes).map_err(|error| format!("expected UTF-8, {error}"))?;
    // The mark would count as a column.
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Offset of a line and column, both from 1.
fn byte_of(text: &str, position: roxmltree::TextPos) -> usize {
    let row = (position.row as usize).saturating_sub(1);
    let line: usize = text.split_inclusive('\n').take(row).map(str::len).sum();
    let rest = &text[line..];
    let column = (position.col as usize).saturating_sub(1);
    line + rest.char_indices().nth(column).map_or(rest.len(), |(at, _)| at)
}

/// The path of a file that is named beside another.
pub(super) fn beside(file: &str, name: &str) -> String {
    if name.starts_with('/') {
        return name.to_owned();
    }
    let name = name.trim_start_matches("./");
    match file.rfind(['/', ':']) {
        Some(end) => format!("{}{name}", &file[..=end]),
        None => name.to_owned(),
    }
}

/// The path without `.` and with `..` resolved where the folder before it is named.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| !matches!(*last, ".." | "")) => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}
