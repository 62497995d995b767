//! Overrides: `--set pd.kp=60`, `--with patch.ron`, applied to the tree before expansion.

use legwork_block::{
    Arguments, Diagnostic, Diagnostics, Name, Named, Node, NodeField, NodeKind, Place, Scale, Span,
    Text, Unit, code, parse_quantity, unit_as_written,
};

use crate::expand::{is_group, sections};
use crate::language::{self, Entries, Entry, What, construct, wrong_type};
use crate::path::{self, PathStep};

/// Puts `value` at `target` in the diagram.
pub(crate) fn set(
    document: &mut Node,
    target: &str,
    place: &Place,
    value: &Node,
    diagnostics: &mut Diagnostics,
) {
    match set_checked(document, target, place, value) {
        Ok(()) => {}
        Err(diagnostic) => diagnostics.push(*diagnostic),
    }
}

construct! {
    /// Changes to a diagram, in a file of their own: `--with patch.ron`. They are made in the order
    /// in which they are written.
    ///
    /// ```ron
    /// Patch(
    ///     doc: "Twice the wave behind a limiter, for two seconds.",
    ///     set: { "params.size": 2.0, "run.stop": "2 s" },
    ///     replace: { "after": Saturation(lower: -1.0, upper: 1.0, in: { "u": "wave.y" }) },
    ///     add: { "half": Gain(gain: 0.5, in: { "u": "after.y" }) },
    /// )
    /// ```
    "Patch":
    pub(crate) struct Patch<'n> {
        /// Version of the file format: 2.
        format: Option<&'n Node>,
        /// What it is for.
        doc: Option<&'n Node>,
        /// New values of parameters and sections, by path.
        set: Option<Entries<'n, OfChanges>>,
        /// Blocks that take the place of others.
        replace: Option<Entries<'n, OfChanges>>,
        /// Blocks under names that are free.
        add: Option<Entries<'n, OfChanges>>,
        /// More for the section `judge:`, or other values in place of those of the same names.
        judge: Option<Entries<'n, OfChanges>>,
        /// More checks, or others in place of those of the same names.
        checks: Option<Entries<'n, OfChanges>>,
    }
}

/// What a patch changes.
pub(crate) struct OfChanges;

impl What for OfChanges {
    const EXPECTED: &'static str = "a map of changes, such as { \"pd.kp\": 60.0 }";
}

/// One kind of change.
type Change = fn(&mut Node, Entry<'_>, &mut Diagnostics);

/// Applies a parsed patch.
pub(crate) fn apply(document: &mut Node, patch: &Node, diagnostics: &mut Diagnostics) {
    if patch.kind_name().is_none_or(|kind| kind.text != "Patch") {
        let form = "Patch(set: { … }, replace: { … }, add: { … })";
        diagnostics.push(wrong_type(patch, form));
        return;
    }
    let Some(patch) = language::read::<Patch<'_>>(patch, diagnostics) else { return };
    let set_entry: Change = |document, entry, diagnostics| {
        set(document, entry.name, entry.place, entry.value, diagnostics);
    };
    let mut changes: Vec<(Entries<'_, OfChanges>, Change)> = [
        (patch.set, set_entry),
        (patch.replace, replace),
        (patch.add, add),
        (patch.judge, |document, entry, _| put_entry(document, "judge", entry.name, entry)),
        (patch.checks, |document, entry, _| put_entry(document, "checks", entry.name, entry)),
    ]
    .into_iter()
    .filter_map(|(entries, change)| Some((entries?, change)))
    .collect();
    changes.sort_by_key(|(entries, _)| entries.span);
    for (entries, change) in changes {
        entries.iter().for_each(|entry| change(document, entry, diagnostics));
    }
}

/// Replaces a block, which must be there, by another.
fn replace(document: &mut Node, entry: Entry<'_>, diagnostics: &mut Diagnostics) {
    let Entry { name, name_span, value, .. } = entry;
    let Some(blocks) = field_mut(document, "blocks") else { return };
    let NodeKind::Map(entries) = &blocks.kind else { return };
    let names: Vec<String> =
        entries.iter().filter_map(|(k, _)| k.text().map(str::to_owned)).collect();
    match entry_of(blocks, name) {
        Some(old) => *old = value.clone(),
        None => diagnostics.push(
            Diagnostic::error(
                code::UNKNOWN_BLOCK,
                name_span,
                format!("expected the name of a block, found `{name}`"),
            )
            .suggest(name, names.iter().map(String::as_str)),
        ),
    }
}

/// Puts an entry into a section that is a map, in place of one of the same name.
pub(crate) fn put_entry(document: &mut Node, section: &str, name: &str, entry: Entry<'_>) {
    let Entry { name_span, value, .. } = entry;
    if field_mut(document, section).is_none() {
        add_field(document, section, name_span);
    }
    let Some(map) = field_mut(document, section) else { return };
    if let Some(old) = entry_of(map, name) {
        *old = value.clone();
        return;
    }
    if !matches!(map.kind, NodeKind::Map(_)) {
        *map = Node { span: name_span, kind: NodeKind::Map(Vec::new()) };
    }
    let NodeKind::Map(entries) = &mut map.kind else { return };
    let text = Text { value: name.to_owned(), place: entry.place.clone() };
    entries.push((Node { span: name_span, kind: NodeKind::Text(text) }, value.clone()));
}

/// Adds a block, whose name must be free.
fn add(document: &mut Node, entry: Entry<'_>, diagnostics: &mut Diagnostics) {
    let Entry { name, name_span, value, .. } = entry;
    let Some(blocks) = field_mut(document, "blocks") else { return };
    if entry_of(blocks, name).is_some() {
        let message = format!("expected a name that is free, found the block `{name}`");
        let diagnostic = Diagnostic::error(code::DUPLICATE_KEY, name_span, message);
        diagnostics.push(diagnostic.hint("`replace:` puts another block in its place"));
        return;
    }
    let NodeKind::Map(entries) = &mut blocks.kind else { return };
    let text = Text { value: name.to_owned(), place: entry.place.clone() };
    entries.push((Node { span: name_span, kind: NodeKind::Text(text) }, value.clone()));
}

fn set_checked(
    document: &mut Node,
    target: &str,
    place: &Place,
    value: &Node,
) -> Result<(), Box<Diagnostic>> {
    let path = path::parse(target, place).map_err(Box::new)?;
    let mut names = Vec::new();
    for step in &path.steps {
        match step {
            PathStep::Name(name) | PathStep::Key(name) => names.push((*name).to_owned()),
            PathStep::Index(i) => names.push(i.to_string()),
            _ => {
                return Err(Box::new(Diagnostic::error(
                    code::BAD_PATH,
                    path.span,
                    format!("`{target}` names a part of a signal, not something of the diagram"),
                )));
            }
        }
    }
    let first = names[0].as_str();
    if let (INPUTS, Some(input)) = (first, names.get(1)) {
        add_entry(document, INPUTS, input, path.span);
    }
    if let [VARIANTS, variant, CHOICES, choice, ..] =
        *names.iter().map(String::as_str).collect::<Vec<_>>()
        && let Some(variant) = entry_mut(document, VARIANTS, variant)
        && variant.field("file").is_some()
    {
        // On top of the choices that are in the file.
        add_entry(variant, CHOICES, choice, path.span);
    }
    let held = |document: &mut Node, section| entry_mut(document, section, first).is_some();
    let (section, rest) = if sections().any(|section| section == first) {
        (first, &names[1..])
    } else if held(document, "blocks") {
        ("blocks", &names[..])
    } else if held(document, "judge") {
        ("judge", &names[..])
    } else if names.len() == 1 && held(document, PARAMS) {
        (PARAMS, &names[..])
    } else if held(document, VARIANTS) {
        (VARIANTS, &names[..])
    } else {
        return Err(Box::new(unknown_start(document, first, path.span)));
    };
    if field_mut(document, section).is_none() {
        add_field(document, section, path.span);
    }
    let mut at = field_mut(document, section);
    for (i, name) in rest.iter().enumerate() {
        let Some(node) = at else { break };
        let left = rest.len() - i - 1;
        let is_input = left == 0 && i > 0 && rest[i - 1] == WIRES;
        if is_input {
            open_entry(node, name, path.span);
        }
        let may_add = left == 0 || (left == 1 && name == WIRES);
        at = Some(step_into(node, name, may_add, path.span)?);
    }
    let Some(node) = at else {
        return Err(Box::new(unknown_start(document, first, path.span)));
    };
    let mut value = value.clone();
    if let (PARAMS, [name]) = (section, rest) {
        give_its_unit(node, &mut value, name)?;
    }
    put(node, &value);
    Ok(())
}

/// A bare number in place of a parameter that is written as a quantity, `"2 kg"`, has its unit; so
/// has each of a list. Where it has a prefix, nobody knows whether 5 is 5 cm or 5 m.
fn give_its_unit(old: &Node, value: &mut Node, name: &str) -> Result<(), Box<Diagnostic>> {
    let (old, is_list) = match (old.list(), value.list()) {
        (Some(old), Some(_)) => (old, true),
        (None, None) => (std::slice::from_ref(old), false),
        _ => return Ok(()),
    };
    let written = |node: &Node| match &node.kind {
        // Set before.
        NodeKind::Number(number) => number.unit.map(|unit| (unit, Scale::ONE)),
        NodeKind::Text(text) => unit_as_written(&text.value),
        _ => None,
    };
    let Some((unit, scale)) = old.first().and_then(written) else { return Ok(()) };
    if !old.iter().all(|node| written(node) == Some((unit, scale))) {
        return Ok(());
    }
    let values = match &mut value.kind {
        NodeKind::List(values) if is_list => &mut values[..],
        _ => std::slice::from_mut(value),
    };
    for value in values {
        let NodeKind::Number(number) = &mut value.kind else { continue };
        if number.unit.is_some() || number.value == 0.0 {
            continue;
        }
        if scale != Scale::ONE {
            let text = old[0].text().unwrap_or_default();
            let message = format!("expected a number with a unit, as \"{text}\", found one alone");
            return Err(Box::new(
                Diagnostic::error(code::MISSING_UNIT, value.span, message)
                    .also(old[0].span, format!("`{name}` is written so"))
                    .hint("the unit has a prefix: with none, either could be meant"),
            ));
        }
        number.unit = Some(unit);
    }
    Ok(())
}

/// The field of a block that connects its inputs.
const WIRES: &str = "in";

/// Adds the entry `name` to a map without it; an empty value becomes a map.
fn open_entry(map: &mut Node, name: &str, span: Span) {
    if map.kind == NodeKind::Unit {
        map.kind = NodeKind::Map(Vec::new());
    }
    if map.entry(name).is_none()
        && let NodeKind::Map(entries) = &mut map.kind
    {
        let text = Text { value: name.to_owned(), place: Place::from(span) };
        let key = Node { span, kind: NodeKind::Text(text) };
        entries.push((key, Node { span, kind: NodeKind::Unit }));
    }
}

/// The section that says what feeds the inputs of a run.
const INPUTS: &str = "inputs";
/// The section of parameters.
const PARAMS: &str = "params";
/// The section of variants, and the field of one that lists its choices.
const VARIANTS: &str = "variants";
const CHOICES: &str = "choices";

/// Adds the entry `key` to a section that is a map, where neither is there.
fn add_entry(document: &mut Node, section: &str, key: &str, span: Span) {
    if field_mut(document, section).is_none() {
        add_field(document, section, span);
    }
    if let Some(node) = field_mut(document, section) {
        open_entry(node, key, span);
    }
}

/// A parameter keeps its bounds: only its `value` changes; a variant's choice is its `default`.
/// A bare zero keeps the unit that was there.
fn put(node: &mut Node, value: &Node) {
    let kind = node.kind_name().map(|kind| kind.text.clone()).unwrap_or_default();
    let inner = match kind.as_str() {
        "Param" => Some("value"),
        "Variant" => Some("default"),
        _ => None,
    };
    // The default of a variant whose choices are in a file may be the file's.
    if inner == Some("default") && node.field("default").is_none() && node.field("file").is_some() {
        add_field(node, "default", value.span);
    }
    match inner.and_then(|name| field_mut(node, name)) {
        Some(inner) => replace_value(inner, value),
        None => replace_value(node, value),
    }
}

fn replace_value(old: &mut Node, value: &Node) {
    let unit = written_unit(old);
    *old = value.clone();
    give_zero_its_unit(old, unit);
}

/// The unit of a quantity that is written as such, and not by an expression.
pub(crate) fn written_unit(node: &Node) -> Option<Unit> {
    match &node.kind {
        NodeKind::Number(number) => number.unit,
        NodeKind::Text(text) => parse_quantity(&text.value).ok()?.1,
        _ => None,
    }
}

/// Zero is the same in every unit, so that it may be written without one.
pub(crate) fn give_zero_its_unit(node: &mut Node, unit: Option<Unit>) {
    if let NodeKind::Number(number) = &mut node.kind
        && number.value == 0.0
    {
        number.unit = number.unit.or(unit);
    }
}

/// The child `name`: an entry of a map, a field, a block inside a for-each or subsystem. The last
/// step may add a field that was not written.
fn step_into<'n>(
    node: &'n mut Node,
    name: &str,
    last: bool,
    span: Span,
) -> Result<&'n mut Node, Box<Diagnostic>> {
    if let Some(count) = node.list().map(<[Node]>::len).filter(|_| node.kind != NodeKind::Unit) {
        let index = name.parse::<usize>().ok().filter(|i| *i < count);
        return match (index, &mut node.kind) {
            (Some(i), NodeKind::List(items)) => Ok(&mut items[i]),
            _ => Err(Box::new(Diagnostic::error(
                code::BAD_PATH,
                span,
                format!("expected an index below {count}, found `{name}`"),
            ))),
        };
    }
    if let Some(entries) = node.map() {
        let names: Vec<String> =
            entries.iter().filter_map(|(k, _)| k.text().map(str::to_owned)).collect();
        return match entry_of(node, name) {
            Some(found) => Ok(found),
            None => Err(Box::new(
                Diagnostic::error(
                    code::UNKNOWN_NAME,
                    span,
                    format!("nothing is called `{name}` there"),
                )
                .suggest(name, names.iter().map(String::as_str))
                .hint(format!("there are `{}`", names.join("`, `"))),
            )),
        };
    }
    let is_field = node.field(name).is_some();
    let holder = ["body", "blocks", "choices"]
        .into_iter()
        .filter(|_| !is_field)
        .find(|holder| field_mut(node, holder).and_then(|map| entry_of(map, name)).is_some());
    if let Some(holder) = holder {
        return field_mut(node, holder)
            .and_then(|map| entry_of(map, name))
            .ok_or_else(|| Box::new(Diagnostic::error(code::BAD_PATH, span, "nothing is there")));
    }
    let settable = matches!(
        node.kind,
        NodeKind::Named(Named { arguments: Arguments::Fields(_) | Arguments::None, .. })
            | NodeKind::Unit
    );
    if !settable {
        let message = format!("`{name}` cannot be set in {}", node.describe());
        return Err(Box::new(Diagnostic::error(code::BAD_PATH, span, message)));
    }
    if node.field(name).is_none() {
        if !last {
            let names: Vec<String> = node.fields().iter().map(|f| f.name.text.clone()).collect();
            let message = format!("nothing is called `{name}` there");
            return Err(Box::new(
                Diagnostic::error(code::UNKNOWN_NAME, span, message)
                    .suggest(name, names.iter().map(String::as_str)),
            ));
        }
        add_field(node, name, span);
    }
    field_mut(node, name).ok_or_else(|| {
        let message = format!("`{name}` cannot be set there");
        Box::new(Diagnostic::error(code::BAD_PATH, span, message))
    })
}

fn unknown_start(document: &Node, name: &str, span: Span) -> Diagnostic {
    let keys = |section: &str| -> Vec<String> {
        let entries = document.field(section).and_then(Node::map).unwrap_or(&[]);
        entries.iter().filter_map(|(k, _)| k.text().map(str::to_owned)).collect()
    };
    if keys(PARAMS).iter().any(|param| param == name) {
        let message = format!("`{name}` is a parameter, which has no parts");
        let hint =
            format!("set `{name}` itself, or what is declared of it, as `params.{name}.min`");
        return Diagnostic::error(code::BAD_PATH, span, message).hint(hint);
    }
    let named = ["blocks", "judge", PARAMS, VARIANTS].map(keys).concat();
    let mut known: Vec<&str> = named.iter().map(String::as_str).collect();
    for section in sections() {
        known.push(section);
    }
    let message = format!("expected a block, a parameter or a section, found `{name}`");
    Diagnostic::error(code::UNKNOWN_BLOCK, span, message).suggest(name, known)
}

fn add_field(node: &mut Node, name: &str, span: Span) {
    let field = NodeField {
        name: Name { text: name.to_owned(), span },
        value: Node { span, kind: NodeKind::Unit },
    };
    match &mut node.kind {
        NodeKind::Named(Named { arguments: Arguments::Fields(fields), .. }) => fields.push(field),
        NodeKind::Named(named) if matches!(named.arguments, Arguments::None) => {
            named.arguments = Arguments::Fields(vec![field]);
        }
        NodeKind::Unit => {
            node.kind =
                NodeKind::Named(Named { name: None, arguments: Arguments::Fields(vec![field]) });
        }
        _ => {}
    }
}

fn field_mut<'n>(node: &'n mut Node, name: &str) -> Option<&'n mut Node> {
    match &mut node.kind {
        NodeKind::Named(Named { arguments: Arguments::Fields(fields), .. }) => {
            fields.iter_mut().find(|field| field.name.text == name).map(|field| &mut field.value)
        }
        _ => None,
    }
}

/// The value of `key`, also in a group among the entries, which is no part of a path.
fn entry_of<'n>(node: &'n mut Node, key: &str) -> Option<&'n mut Node> {
    let NodeKind::Map(entries) = &mut node.kind else { return None };
    if let Some(at) = entries.iter().position(|(k, _)| k.text() == Some(key)) {
        return Some(&mut entries[at].1);
    }
    let groups = entries.iter_mut().map(|(_, value)| value).filter(|value| is_group(value));
    groups.filter_map(|group| entry_of(field_mut(group, "blocks")?, key)).next()
}

fn entry_mut<'n>(document: &'n mut Node, section: &str, key: &str) -> Option<&'n mut Node> {
    entry_of(field_mut(document, section)?, key)
}

/// A value of the command line: bare words are text, also inside lists.
pub(crate) fn bare_words(node: Node) -> Node {
    let kind = match node.kind {
        NodeKind::Named(Named { name: Some(name), arguments: Arguments::None }) => {
            NodeKind::Text(Text { place: Place::from(node.span), value: name.text })
        }
        NodeKind::List(items) => NodeKind::List(items.into_iter().map(bare_words).collect()),
        other => other,
    };
    Node { span: node.span, kind }
}

#[cfg(test)]
mod tests;
