//! Where values come from: a mistake in a value that a mask was given is told at the line of who
//! gave it, and one in a parameter shows where the parameter is defined.

use std::collections::{BTreeMap, BTreeSet};

use legwork_block::{Diagnostic, Expression, FileId, Label, Node, Span, code};

use crate::render::SourceMap;

/// Mistakes that are in a value, wherever it is used; others are where they are told.
const OF_VALUES: [code::Code; 19] = [
    code::EXPRESSION_INDEX,
    code::EXPRESSION_LENGTH,
    code::EXPRESSION_NUMBER,
    code::EXPRESSION_SIZE,
    code::EXPRESSION_TYPE,
    code::INVALID_PARAMETER,
    code::OUT_OF_RANGE,
    code::PARAMETER,
    code::PARAMETER_TYPE,
    code::QUANTITY,
    code::QUESTIONABLE_PARAMETER,
    code::RATE_CONFLICT,
    code::ROBOT,
    code::SLICE_OUT_OF_RANGE,
    code::UNIT_MISMATCH,
    code::UNKNOWN_ROBOT,
    code::WRONG_FRAME,
    code::WRONG_SHAPE,
    code::WRONG_TYPE,
];

/// Most parameters whose definitions one message shows.
const MOST: usize = 3;

/// Most names through which one stands for another.
const CHAIN_LIMIT: usize = 50;

/// What a parameter of a mask is.
#[derive(Clone, Copy)]
pub(super) enum Origin {
    /// What the mask's user wrote.
    Given(Span),
    /// What the mask itself says.
    Default(Span),
}

/// A mask where it is used.
pub(super) struct MaskUse {
    /// The mask's own file.
    pub(super) file: FileId,
    /// Whether that file is a built-in one, in which its user mends nothing.
    pub(super) is_built_in: bool,
    /// The path of the part.
    pub(super) path: String,
    /// The kind's name where the mask is used.
    pub(super) at: Span,
    /// Its parameters and holes, and its inputs as `^u`.
    pub(super) names: BTreeMap<String, Origin>,
}

impl MaskUse {
    /// Moves what is wrong inside the mask to what its user wrote; whether it was moved.
    pub(super) fn move_out(
        &self,
        found: &mut Diagnostic,
        origins: &Origins,
        sources: &SourceMap,
    ) -> bool {
        let inside = found.primary.span;
        if inside.file != self.file || !OF_VALUES.contains(&found.code) {
            return false;
        }
        let (mut given, mut met) = (BTreeSet::new(), BTreeSet::new());
        let mut open = names_at(sources, inside);
        while let Some(name) = open.pop() {
            if met.insert(name.clone()) {
                self.add_given(&name, (origins, sources), &mut given, &mut open);
            }
        }
        let mut given = given.into_iter();
        let (place, text) = match (given.next(), self.is_built_in) {
            (Some(place), _) => (place, "used here"),
            (None, true) => (self.at, "here, inside"),
            (None, false) => return false,
        };
        let moved = Label { span: place, text: String::new() };
        let before = std::mem::replace(&mut found.primary, moved);
        let text = if before.text.is_empty() { text.to_owned() } else { before.text };
        found.secondary.insert(0, Label { span: inside, text });
        let others = given.take(MOST - 1).map(|span| Label { span, text: "and this".to_owned() });
        found.secondary.extend(others);
        true
    }

    /// Adds what the user wrote for a name, or the names in its default to those that are open.
    fn add_given(
        &self,
        name: &str,
        (origins, sources): (&Origins, &SourceMap),
        given: &mut BTreeSet<Span>,
        open: &mut Vec<String>,
    ) {
        let list = || origins.lists.get(&(self.file, name.to_owned()));
        let origin = self.names.get(name).copied();
        match origin.or_else(|| list().copied().map(Origin::Default)) {
            Some(Origin::Given(span)) => {
                given.insert(span);
            }
            Some(Origin::Default(span)) => open.extend(names_at(sources, span)),
            None => {}
        }
    }
}

/// What the names in a diagram stand for.
#[derive(Default)]
pub(crate) struct Origins {
    /// Where the value of each parameter of the diagram that runs is written.
    params: BTreeMap<String, Span>,
    /// The lists of the elements that a for-each of a file names.
    lists: BTreeMap<(FileId, String), Span>,
    /// All masks.
    uses: Vec<MaskUse>,
    /// The file of the diagram that runs.
    file: FileId,
}

impl Origins {
    /// Takes note of the parameters of the diagram that runs.
    pub(super) fn begin(&mut self, document: &Node) {
        self.file = document.span.file;
        let params = document.field("params").and_then(Node::map).unwrap_or_default();
        for (name, value) in params {
            let is_param = value.kind_name().is_some_and(|kind| kind.text == "Param");
            let written = value.field("value").filter(|_| is_param).unwrap_or(value);
            self.params.extend(name.text().map(|name| (name.to_owned(), written.span)));
        }
    }

    /// Takes note of a name that a for-each gives to the elements of the list at a place.
    pub(super) fn hide(&mut self, name: &str, list: Span) {
        if list.file == self.file {
            self.params.remove(name);
        }
        self.lists.insert((list.file, name.to_owned()), list);
    }

    pub(super) fn add(&mut self, used: MaskUse) {
        self.uses.push(used);
    }

    /// Tells what is wrong with values at those who wrote them.
    pub(crate) fn explain(&self, found: &mut Diagnostic, sources: &SourceMap) {
        // Masks in masks.
        for _ in 0..CHAIN_LIMIT {
            if !self.use_of(found).is_some_and(|used| used.move_out(found, self, sources)) {
                break;
            }
        }
        self.define(found, sources);
    }

    /// Whether a mistake is inside a built-in mask and only follows from others.
    pub(crate) fn follows(&self, found: &Diagnostic) -> bool {
        let file = found.primary.span.file;
        let is_inside = || self.uses.iter().any(|used| used.is_built_in && used.file == file);
        found.code == code::UNKNOWN_TYPE && is_inside()
    }

    /// The mask inside which the mistake is: that whose path the message names, or the only one.
    fn use_of(&self, found: &Diagnostic) -> Option<&MaskUse> {
        let mut of_file = self.uses.iter().filter(|used| used.file == found.primary.span.file);
        let named = of_file.clone().filter(|used| names_path(&found.message, &used.path));
        let longest = named.max_by_key(|used| used.path.len());
        longest.or_else(|| of_file.next().filter(|_| of_file.next().is_none()))
    }

    /// Shows the definitions of the parameters in a wrong value.
    fn define(&self, found: &mut Diagnostic, sources: &SourceMap) {
        if !OF_VALUES.contains(&found.code) {
            return;
        }
        let mut names = Vec::new();
        let labels = std::iter::once(&found.primary).chain(&found.secondary);
        for (i, Label { span, text }) in labels.enumerate() {
            if span.file != self.file {
                continue;
            }
            if i == 0 {
                names.extend(names_at(sources, *span));
            } else if found.code == code::UNIT_MISMATCH
                && (text.contains(" is in ") || text.contains(" brings the factor "))
            {
                // It stands at the kind of the block that has the unit from its parameters.
                names.extend(names_behind(sources, *span));
            }
        }
        let known = |span| {
            std::iter::once(&found.primary).chain(&found.secondary).any(|label| label.span == span)
        };
        let mut more = Vec::new();
        for name in names {
            let Some(&span) = self.params.get(&name) else { continue };
            if !known(span) && more.len() < MOST && more.iter().all(|l: &Label| l.span != span) {
                more.push(Label { span, text: format!("`{name}` is defined here") });
            }
        }
        found.secondary.extend(more);
    }
}

/// Whether both are one mistake, which its user made at one place and which shows at several inside
/// of masks.
pub(crate) fn is_same(a: &Diagnostic, b: &Diagnostic) -> bool {
    let is_moved = |one: &Diagnostic| {
        one.secondary.iter().any(|label| label.span.file != one.primary.span.file)
    };
    // Behind the path of what is inside.
    let tail = |one: &Diagnostic| {
        let message = one.message.as_str();
        let tail = match message.strip_prefix('`') {
            Some(rest) => rest.split_once("` "),
            None => message.split_once(": "),
        };
        tail.map_or(message, |(_, tail)| tail).to_owned()
    };
    let place = |one: &Diagnostic| (one.code, one.primary.span);
    let is_twice = || place(a) == place(b) && is_moved(a) && is_moved(b) && tail(a) == tail(b);
    // The same mistake of every copy of a part.
    let is_of_copies =
        || place(a) == place(b) && without_keys(&a.message) == without_keys(&b.message);
    // What an interface says of an input, and what is inside of the same.
    let is_of_type = |one: &Diagnostic| matches!(one.code, code::WRONG_TYPE | code::WRONG_SHAPE);
    let is_interface = || a.message.starts_with("input `") && is_moved(b);
    is_twice()
        || is_of_copies()
        || (a.primary.span == b.primary.span && is_of_type(a) && is_of_type(b) && is_interface())
}

/// A message without what tells the copies of a part from one another, as in `foot[left].point`.
fn without_keys(message: &str) -> String {
    let mut depth = 0_u32;
    let mut is_outside = |&c: &char| {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    };
    message.chars().filter(&mut is_outside).collect()
}

/// Whether a message names something inside the part of this path.
fn names_path(message: &str, path: &str) -> bool {
    message.match_indices(path).any(|(at, _)| {
        let before = message[..at].chars().next_back();
        let behind = message[at + path.len()..].chars().next();
        behind == Some('.') && before.is_none_or(|c| !c.is_alphanumeric() && !"_.[".contains(c))
    })
}

/// The names in the expressions at a place, which may be a part of one.
fn names_at(sources: &SourceMap, span: Span) -> Vec<String> {
    let text = sources.text(span.file);
    let (start, end) = (span.start as usize, span.end as usize);
    let (Some(before), Some(inside)) = (text.get(..start), text.get(start..end)) else {
        return Vec::new();
    };
    if let Some(wire) = inside.strip_prefix("\"^") {
        let name = wire.split(['.', '[', '"']).next().unwrap_or_default();
        return vec![format!("^{name}")];
    }
    let opened = before.rfind('"').map(|quote| &before[quote + 1..]);
    match opened {
        Some(expression) if expression.starts_with('=') => names_in(inside, span),
        _ => names_in_texts(inside, span),
    }
}

/// The names in the expressions between the brackets behind a place.
fn names_behind(sources: &SourceMap, span: Span) -> Vec<String> {
    let rest = sources.text(span.file).get(span.end as usize..).unwrap_or_default();
    let (mut depth, mut is_text) = (0_usize, false);
    for (at, c) in rest.char_indices() {
        match c {
            '"' => is_text = !is_text,
            '(' if !is_text => depth += 1,
            ')' if !is_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && !is_text {
            return names_in_texts(&rest[..at], span);
        }
    }
    Vec::new()
}

/// The names in all texts that are expressions.
fn names_in_texts(source: &str, span: Span) -> Vec<String> {
    let texts = source.split("\"=").skip(1);
    texts.flat_map(|text| names_in(text.split('"').next().unwrap_or_default(), span)).collect()
}

fn names_in(expression: &str, span: Span) -> Vec<String> {
    let parsed = Expression::parse(expression, span);
    parsed.map_or(Vec::new(), |e| e.names().into_iter().map(str::to_owned).collect())
}
