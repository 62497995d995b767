//! What is at a place, explained.

use std::ops::Range;

use legwork_block::code::Code;
use legwork_block::{Diagnostic, Label, Span, expression_functions, named_units};
use legwork_study::{Diagram, Survey, manual};

use crate::complete::{fact, is_of_name, names, short};
use crate::document::{Document, Spot};
use crate::grammar::{Expect, Inside, plain};
use crate::schema;
use crate::service::{Asked, Service};
use crate::signals::{Port, split};
use crate::tree::Item;

/// An explanation of some bytes of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hover {
    /// What is explained.
    pub range: Range<usize>,
    /// The explanation, as Markdown.
    pub markdown: String,
}

impl Service {
    /// Explains what is at byte `offset`, mistakes there first.
    pub fn hover(
        &self,
        document: &Document,
        offset: usize,
        diagram: &Diagram,
        survey: Option<&Survey>,
    ) -> Option<Hover> {
        let mistake = survey.and_then(|survey| explain_mistakes(offset, diagram, survey));
        let asked = Asked::new(&self.words, document, offset, diagram, survey);
        let named = asked.and_then(|asked| explain(&asked));
        let (range, markdown) = match (mistake, named) {
            (Some((_, mistake)), Some((range, name))) => {
                (range, format!("{mistake}\n---\n\n{name}"))
            }
            (mistake, named) => named.or(mistake)?,
        };
        Some(Hover { range, markdown })
    }
}

/// Explains the codes of the mistakes at byte `offset`.
fn explain_mistakes(
    offset: usize,
    diagram: &Diagram,
    survey: &Survey,
) -> Option<(Range<usize>, String)> {
    let range = |span: &Span| span.start as usize..span.end as usize;
    let is_here = |one: &&Diagnostic| {
        let Label { span, .. } = &one.primary;
        survey.sources.name(span.file) == diagram.name() && range(span).contains(&offset)
    };
    let mut codes: Vec<Code> = Vec::new();
    let mut first = None;
    for one in survey.diagnostics.iter().filter(is_here) {
        first.get_or_insert(range(&one.primary.span));
        if !codes.contains(&one.code) {
            codes.push(one.code);
        }
    }
    let text = |code: &Code| format!("**{code}**: {}", code.about());
    Some((first?, codes.iter().map(text).collect::<Vec<_>>().join("\n")))
}

fn explain(asked: &Asked<'_>) -> Option<(Range<usize>, String)> {
    let text = asked.text();
    match &asked.spot {
        Spot::Key(item) => {
            let key = item.key.as_ref()?;
            Some((key.range.clone(), of_key(asked, item, &key.name)?))
        }
        Spot::Word { range, expect, .. } => {
            let word = text.get(range.clone())?;
            Some((range.clone(), of_word(asked, word, expect)?))
        }
        Spot::Text { inner, expect } => of_text(asked, inner, expect),
        Spot::Name { .. } | Spot::Nothing => None,
    }
}

fn of_key(asked: &Asked<'_>, item: &Item, name: &str) -> Option<String> {
    match &asked.around.inside {
        Inside::Fields(of, fields) => {
            let field = fields.iter().find(|field| field.name == name)?;
            let of = if of.is_empty() { String::new() } else { format!("\n\nof `{of}`") };
            Some(format!("`{}`\n\n{}{of}", field.head, field.doc))
        }
        Inside::Wires => {
            let scope = asked.scope();
            let (block, _) = asked.around.items.iter().rev().nth(1)?;
            let of_name = block.name().map(|name| scope.inputs_of(name)).unwrap_or_default();
            let ports = if of_name.is_empty() { scope.inputs_of_item(block) } else { of_name };
            let port = ports.into_iter().find(|port| port.name == name)?;
            let from = item.text(asked.text()).map(|path| (path, scope.follow(path)));
            let from =
                from.and_then(|(path, port)| Some(format!("\n\nfrom `{path}{}`", port?.tail())));
            Some(format!("`{}`\n\n{}{}", port.head(), port.doc, from.unwrap_or_default()))
        }
        Inside::Names(Expect::Block) => of_block(asked, name),
        Inside::Names(Expect::Param | Expect::Robot | Expect::MaskParameter) => {
            of_name(asked, name)
        }
        _ => None,
    }
}

/// A block with its ports.
fn of_block(asked: &Asked<'_>, name: &str) -> Option<String> {
    let scope = asked.scope();
    let block = scope.block(name)?;
    let kind = block.kind(asked.text()).unwrap_or_default();
    let mut markdown = format!("`{name}: {kind}`\n");
    if let Some(doc) = block.get("doc").and_then(|doc| doc.text(asked.text())) {
        markdown += &format!("\n{doc}\n");
    }
    let mut list = |title: &str, ports: Vec<Port>| {
        for (i, port) in ports.iter().enumerate() {
            let title = if i == 0 { format!("\n**{title}**\n\n") } else { String::new() };
            markdown += &format!("{title}- `{}` {}\n", port.head(), port.doc);
        }
    };
    list("inputs", scope.inputs_of(name));
    list("outputs", scope.outputs(name));
    Some(markdown)
}

/// A name of expressions.
fn of_name(asked: &Asked<'_>, name: &str) -> Option<String> {
    let (name, value, doc) = names(asked).into_iter().find(|(known, ..)| known == name)?;
    let facts = fact(asked, &name).map_or(String::new(), |facts| format!("\n\n{}", short(&facts)));
    Some(format!("`{name}: {value}`\n\n{doc}{facts}"))
}

fn of_word(asked: &Asked<'_>, word: &str, expect: &Expect) -> Option<String> {
    if let Expect::Schema(root, part) = expect {
        let choices = schema::choices(root, part);
        let choice = choices.into_iter().find(|choice| choice.name == word)?;
        return Some(format!("`{word}`\n\n{}", choice.doc));
    }
    if matches!(expect, Expect::Solver) {
        let solver = legwork_program::Solver::all().find(|solver| solver.name() == word)?;
        return Some(format!("`{word}`\n\n{}", solver.doc()));
    }
    let registry = asked.words.library.registry();
    if let Some(manual) = asked.words.manual(word) {
        return Some(manual.to_markdown());
    }
    let listed = legwork_diagram::check_kinds().chain(legwork_diagram::parameter_kinds());
    let listed = listed.chain(legwork_diagram::reductions()).find(|known| known.name == word);
    if let Some(manual) = asked.words.construct(word, matches!(expect, Expect::File)) {
        let fields = manual.fields.iter().chain(manual.shared);
        let fields: String = fields
            .map(|field| format!("- `{}` {}\n", field.name, plain(field.doc).replace('\n', " ")))
            .collect();
        return Some(format!("**{word}**\n\n{}\n\n{fields}", plain(manual.doc)));
    }
    if let Some(listed) = listed {
        return Some(format!("`{word}`: {}", listed.doc));
    }
    let ty = manual::named_type(word, registry)?;
    Some(format!("```text\n{ty}\n```"))
}

fn of_text(
    asked: &Asked<'_>,
    inner: &Range<usize>,
    expect: &Expect,
) -> Option<(Range<usize>, String)> {
    let text = asked.text();
    let whole = text.get(inner.clone())?;
    if whole.starts_with('=') {
        let range = path_at(text, asked.offset, inner)?;
        let path = text.get(range.clone())?;
        return of_expression(asked, range.clone(), path);
    }
    match expect {
        Expect::Signal | Expect::Collected => {
            let range = path_at(text, asked.offset, inner)?;
            let markdown = of_path(asked, text.get(range.clone())?)?;
            Some((range, markdown))
        }
        Expect::Type => {
            let name = whole.split('(').next()?.trim();
            let basic = legwork_diagram::basic_types();
            let basic = basic.into_iter().find(|word| word.name.split('(').next() == Some(name));
            let registry = asked.words.library.registry();
            let doc = basic.map(|word| word.doc.to_owned()).or_else(|| {
                registry.types().find(|ty| ty.name == name).map(|ty| ty.doc.to_owned())
            })?;
            Some((inner.clone(), format!("`{whole}`\n\n{doc}")))
        }
        Expect::Unit => {
            let unit = named_units().find(|unit| unit.name == whole)?;
            Some((inner.clone(), format!("`{whole}`: {}", unit.word)))
        }
        Expect::Hole | Expect::RobotName => Some((inner.clone(), of_name(asked, whole)?)),
        _ => None,
    }
}

/// The path around a place in a text, up to the end of the step that it is in.
pub(crate) fn path_at(text: &str, offset: usize, inner: &Range<usize>) -> Option<Range<usize>> {
    let before = text.get(inner.start..offset)?;
    let mut depth = 0_usize;
    let mut start = offset;
    for (at, c) in before.char_indices().rev() {
        match c {
            ']' => depth += 1,
            // The place may be in the brackets of a path.
            '[' => depth = depth.saturating_sub(1),
            _ if depth > 0 || is_of_name(c) || c == '.' || c == '^' => {}
            _ => break,
        }
        start = inner.start + at;
    }
    let after = text.get(offset..inner.end)?;
    let end = offset + after.find(|c: char| !is_of_name(c)).unwrap_or(after.len());
    (start < end).then_some(start..end)
}

fn of_path(asked: &Asked<'_>, path: &str) -> Option<String> {
    let steps = split(path);
    if steps.len() == 1 && !path.starts_with('^') {
        let name = path.split('[').next().unwrap_or(path);
        return of_block(asked, name);
    }
    let port = asked.scope().follow(path)?;
    Some(format!("`{path}{}`\n\n{}", port.tail(), port.doc))
}

fn of_expression(
    asked: &Asked<'_>,
    range: Range<usize>,
    path: &str,
) -> Option<(Range<usize>, String)> {
    if let Some(function) = expression_functions().iter().find(|one| one.name == path) {
        let call = format!("{}({})", function.name, function.arguments);
        let told = format!("`{call}`: {}\n\n`{}`", function.doc, function.example);
        return Some((range, told));
    }
    if let Some(value) = fact(asked, path).filter(|_| path.contains('.')) {
        let shown: String = value.to_string().chars().take(400).collect();
        return Some((range, format!("`{path}`\n\n`{shown}`")));
    }
    let markdown = of_name(asked, path).or_else(|| of_path(asked, path))?;
    Some((range, markdown))
}
