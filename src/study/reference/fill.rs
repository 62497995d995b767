//! Fills pages: what the compiler, the evaluator and the library know in lists.

use std::fmt::Write as _;

use legwork_block::{
    BusView as View, NamedUnit, Registry, Resources as _, Type, TypeMaker, expression_functions,
    expression_operators, named_units, unit_prefixes,
};
use legwork_diagram::{
    FieldManual, Manual, Word, basic_types, check_kinds, constructs, parameter_kinds, reductions,
};
use legwork_program::Solver;

use super::{EXAMPLES, Page, Part, Source};
use crate::manual::{self, BuiltIn, Examples};

/// Most letters on a line of text.
const WIDTH: usize = 100;

/// Fills a page.
pub(super) fn page(&(name, also, source): &Source, registry: &Registry) -> Page {
    let mut page = Page { name, also: also.to_vec(), title: String::new(), parts: Vec::new() };
    let mut text = String::new();
    for line in source.lines() {
        if let Some(title) = line.strip_prefix("# ").filter(|_| page.title.is_empty()) {
            title.clone_into(&mut page.title);
        }
        let asked = line.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
        let example = asked.and_then(|asked| asked.strip_prefix("example "));
        if let Some(example) = EXAMPLES.into_iter().find(|known| example == Some(known.file)) {
            // A sentence that leads to the example stands for a heading.
            if example.is_diagram() && text.contains("\n## ") && !is_open(&text) {
                text += "## Example\n\n";
            }
            page.parts.push(Part::Text(std::mem::take(&mut text)));
            page.parts.push(Part::Example(example));
            if let Some(stem) = example.file.strip_suffix(".ron") {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "\n`legwork run help:{stem}` runs it.");
            }
            continue;
        }
        match asked.and_then(|asked| list(asked, registry)) {
            Some(list) => text += &list,
            None => text += line,
        }
        text.push('\n');
    }
    page.parts.push(Part::Text(text));
    page
}

/// Whether a text ends within a sentence.
fn is_open(text: &str) -> bool {
    !text.trim_end().ends_with(['.', '|', '`'])
}

/// What stands for `{{asked}}`; none if nothing does.
fn list(asked: &str, registry: &Registry) -> Option<String> {
    if let Some(name) = asked.strip_prefix("construct ") {
        let mut manuals = constructs();
        manuals.retain(|manual| manual.name == name);
        let is_only = manuals.len() == 1;
        let texts: Vec<String> = manuals.iter().map(|manual| construct(manual, is_only)).collect();
        return (!texts.is_empty()).then(|| texts.join("\n\n"));
    }
    if let Some(folder) = asked.strip_prefix("files ") {
        let files = manual::built_in(folder, registry).into_iter();
        let told = files.filter(|file| !file.summary.is_empty());
        let line = |file: BuiltIn| entry(0, &format!("`{}`: {}", file.file, file.summary));
        return Some(told.map(line).collect::<Vec<_>>().join("\n"));
    }
    let words = |words: &mut dyn Iterator<Item = Word>| {
        table(["written", "meaning"], words.map(|word| [code(word.name), word.doc.to_owned()]))
    };
    Some(match asked {
        "operators" => table(
            ["operator", "meaning", "this is true"],
            expression_operators().iter().map(|operator| {
                let written: Vec<String> = operator.written.iter().copied().map(code).collect();
                [written.join(" or "), operator.doc.to_owned(), code(operator.example)]
            }),
        ),
        "functions" => table(
            ["function", "value", "this is true"],
            expression_functions().iter().map(|function| {
                let call = format!("{}({})", function.name, function.arguments);
                [code(&call), function.doc.to_owned(), code(function.example)]
            }),
        ),
        "units" => table(["unit", "name", "in base units", "prefixes"], named_units().map(unit)),
        "prefixes" => {
            let rows = unit_prefixes().map(|(prefix, tens)| [code(prefix), format!("1e{tens}")]);
            table(["prefix", "factor"], rows)
        }
        "types" => {
            let library = registry.types().map(|ty| {
                let robot = if ty.max_args > 0 { "(…)" } else { "" };
                [code(&format!("{}{robot}", ty.name)), ty.doc.to_owned()]
            });
            let basic = basic_types().map(|word| [code(word.name), word.doc.to_owned()]);
            table(["type", "meaning"], basic.chain(library))
        }
        "library buses" => buses(registry),
        "solvers" => table(
            ["solver", "step", "method", "in Simulink"],
            Solver::all().map(|solver| {
                let step = if solver.is_variable() { "variable" } else { "fixed" };
                let aliases = solver.aliases().join(", ");
                [code(solver.name()), step.to_owned(), solver.doc().to_owned(), aliases]
            }),
        ),
        "glossary" => include_str!("pages/glossary.md").trim_end().to_owned(),
        "checks" => words(&mut check_kinds()),
        "reductions" => words(&mut reductions()),
        "kinds of parameters" => words(&mut parameter_kinds()),
        "robots" => {
            let shelves = manual::shelves(registry);
            let kinds = shelves.iter().flat_map(|shelf| &shelf.kinds);
            let robots = kinds.filter(|kind| kind.section == manual::Section::Robots);
            table(
                ["kind", "what it is"],
                robots.map(|kind| [code(kind.kind), kind.summary.clone()]),
            )
        }
        _ => return None,
    })
}

/// The fields of the buses of the library; those of a robot are shown for one.
fn buses(registry: &Registry) -> String {
    let examples = Examples::new(registry);
    let mut texts = Vec::new();
    for named in registry.types() {
        let arguments = if named.max_args > 0 { examples.resource_names() } else { Vec::new() };
        let Type::Bus(bus) = (named.make)(&mut TypeMaker::new(&examples, arguments, &mut 0)) else {
            continue;
        };
        let mut text = entry(0, &format!("`{}`, {}:", named.name, named.doc));
        let of_unit = |unit: &Option<String>| match unit.as_deref() {
            None | Some("1") => String::new(),
            Some(unit) => format!(" [{unit}]"),
        };
        for field in &bus.fields {
            let unit = of_unit(&field.unit);
            // Links of Rust's documentation lead nowhere here.
            let doc = field.doc.replace("[`", "`").replace("`]", "`");
            // Writing to a string cannot fail.
            let _ = write!(text, "\n{}", entry(2, &format!("`{}`{unit}: {doc}", field.name)));
        }
        if !bus.views.is_empty() {
            let view = |view: &View| {
                let mut units: Vec<&str> = view.units.iter().map(String::as_str).collect();
                units.dedup();
                let each = (!units.is_empty()).then(|| units.join(", "));
                format!("`{}`{}", view.name, of_unit(&each.or(view.unit.clone())))
            };
            let views: Vec<String> = bus.views.iter().map(view).collect();
            let _ =
                write!(text, "\n{}", entry(2, &format!("parts with names: {}", views.join(", "))));
        }
        texts.push(text);
    }
    texts.join("\n")
}

fn unit(unit: NamedUnit) -> [String; 4] {
    let NamedUnit { name, word, unit, scale, takes_prefixes } = unit;
    let base = match scale.value() {
        1.0 => unit.to_string(),
        size => format!("{size} {unit}"),
    };
    let prefixes = if takes_prefixes { "yes" } else { "" };
    [code(name), word.to_owned(), base, prefixes.to_owned()]
}

/// The manual of a construct: its text and its fields. Where it is not the only one of its name, the
/// heading says whether it is a file or what stands for one in a diagram.
fn construct(manual: &Manual, is_only: bool) -> String {
    let is_file = manual.fields.iter().any(|field| field.name == "format");
    let which = match (is_only, is_file) {
        (true, _) => "",
        (false, true) => ": the file",
        (false, false) => ": the use of a file",
    };
    let mut text = format!("## {}{which}\n\n{}", manual.name, prose(&lines(manual.doc)));
    let fields = manual.fields.iter().chain(manual.shared);
    for (i, FieldManual { name, doc, required }) in fields.enumerate() {
        let must = if *required { ", required" } else { "" };
        let gap = if i == 0 { "\n\n" } else { "\n" };
        // Writing to a string cannot fail.
        let _ = write!(text, "{gap}{}", entry(0, &format!("`{name}`{must}: {}", lines(doc))));
    }
    if manual.open {
        text +=
            "\n\nIt takes the parameters of its kind, or of what it stands for, as further fields.";
    }
    if let (true, Some(first)) = (manual.shorthand, manual.fields.first()) {
        let (kind, first) = (manual.name, first.name);
        let _ = write!(text, "\n`{kind}(\"x\")` is short for `{kind}({first}: \"x\")`.");
    }
    text
}

/// A text without its fragments of diagrams: the examples of the page contain them.
fn prose(doc: &str) -> String {
    let parts = doc.split("```ron\n").enumerate().map(|(i, part)| match i {
        0 => part,
        _ => part.split_once("```").map_or("", |(_, rest)| rest),
    });
    let parts: Vec<&str> = parts.map(str::trim).filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

/// The text of a documentation comment, whose lines begin with the space behind `///`.
pub(super) fn lines(doc: &[&str]) -> String {
    let lines: Vec<&str> = doc.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    lines.join("\n")
}

/// An entry of a list, indented and broken into lines.
fn entry(indent: usize, text: &str) -> String {
    let (mut entry, mut width) = (format!("{:indent$}-", ""), indent + 1);
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let long = word.chars().count() + 1;
        // A sign at the beginning of a line would begin a list.
        let sign = words.peek().is_some_and(|next| matches!(*next, "+" | "-" | "*"));
        if width + long + 2 * usize::from(sign) > WIDTH {
            entry += &format!("\n{:1$}", "", indent + 1);
            width = indent + 1;
        }
        entry.push(' ');
        entry += word;
        width += long;
    }
    entry
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

/// A table whose columns are aligned, so that it can be read as text too.
fn table<const N: usize>(head: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let rows: Vec<[String; N]> = rows.map(|row| row.map(|cell| cell.replace('|', "\\|"))).collect();
    let all = || std::iter::once(head.map(str::to_owned)).chain(rows.iter().cloned());
    let width = |column: usize| all().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let line = |row: &[String; N]| -> String {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("| {cell:width$} "));
        cells.chain(["|\n".to_owned()]).collect()
    };
    let rule: String = widths.iter().map(|width| format!("|{}", "-".repeat(width + 2))).collect();
    let body: String = rows.iter().map(line).collect();
    format!("{}{rule}|\n{body}", line(&head.map(str::to_owned))).trim_end().to_owned()
}
