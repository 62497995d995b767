//! Study files: an experiment with a diagram, in a file of its own.

use std::sync::Arc;

use legwork_block::{Diagnostic, Diagnostics, Node, NodeKind, Scope, Span, Unit, Value, code};

use crate::document;
use crate::expand::{check_format, evaluate, node_text};
use crate::language::{self, Entries, Entry, Text, What, construct, wrong_type};
use crate::patch::{self, OfChanges};
use crate::render::SourceMap;

construct! {
    /// An experiment: a diagram, what varies in it, what is shown of each run, and what others have
    /// found. `legwork sweep FILE` runs it, `legwork check FILE` compiles each of its runs.
    "Study":
    pub(crate) struct Study<'n> {
        /// Version of the file format: 2.
        format: Option<&'n Node>,
        /// What it shows, as Markdown.
        doc: Option<Text<'n>>,
        /// The file of the diagram, beside this one, or `std:…`.
        diagram: Text<'n> = required("", "diagram: \"a.ron\""),
        /// Patches of the diagram, in order.
        with: Option<&'n Node>,
        /// Values of parameters and sections that all runs have, by path.
        set: Option<Entries<'n, OfChanges>>,
        /// Choices of variants that all runs have, by name.
        variants: Option<Entries<'n, OfChanges>>,
        /// What varies: variants with their choices, parameters and fields with their values or a
        /// range, `"lin(0, 1 m, 11)"` or `"log(1, 100, 5)"`. Every combination is a run; the first
        /// changes slowest. Names with a comma between them, `"a, b"`, change together: each of
        /// their values is a list of as many.
        over: Entries<'n, OfAxes> = required("nothing varies", "over: { \"mu\": [0.1, 0.2] }"),
        /// A column each: an entry of `judge:`, of which the value at the end of the run is shown.
        show: Option<Entries<'n, OfChanges>>,
        /// More for the section `judge:` of the diagram.
        judge: Option<Entries<'n, OfChanges>>,
        /// More checks of each run.
        checks: Option<Entries<'n, OfChanges>>,
        /// What others have found, a list of `Expect(…)`.
        expect: Option<&'n Node>,
        /// Plots of columns over the first axis, by the name of their file: `Plot(…)`.
        plots: Option<Entries<'n, OfPlots>>,
    }
}

construct! {
    /// Figures of others, such as a paper's, that are printed beside those of the runs.
    ///
    /// A figure that is not within its tolerance fails the study. If the difference is known,
    /// `reason` explains it and `here` bounds our own figure, so that it cannot drift. Without
    /// `here` a warning says that nothing bounds it.
    ///
    /// ```ron
    /// Expect(at: { "tau": "0.1 s" }, is: { "rms error": 0.1581 }, within: "3 %"),
    /// ```
    "Expect":
    pub(crate) struct Expect<'n> {
        /// Values of axes, of all runs that it is about.
        values as "at": Option<Entries<'n, OfChanges>>,
        /// The figures by column.
        figures as "is": Entries<'n, OfChanges> = required("", "is: { \"column\": 1.0 }"),
        /// How far ours may be from them, as a share of them. Default: 1 %.
        within: Option<&'n Node>,
        /// Why ours differ.
        reason: Option<Text<'n>>,
        /// With a reason, our own figures by column: a number with the tolerance `within`, or a
        /// list of the least and the greatest.
        ours as "here": Option<Entries<'n, OfChanges>>,
    }
}

construct! {
    /// A plot of columns of a study over its first axis, whose values must be numbers, with a curve
    /// for each value of the others.
    ///
    /// ```ron
    /// "rise.svg": Plot(columns: ["rise"], label: "time to 63 %")
    /// ```
    "Plot":
    pub(crate) struct PlotOf<'n> {
        /// The columns.
        columns: &'n Node = required("", "columns: [\"name\"]"),
        /// Its title. Default: the name of its file.
        title: Option<Text<'n>>,
        /// What the vertical axis is called.
        label: Option<Text<'n>>,
        /// Axes that are logarithmic, `"x"` and `"y"`.
        log: Option<&'n Node>,
    }
}

/// What varies, by name.
pub(crate) struct OfAxes;

impl What for OfAxes {
    const EXPECTED: &'static str = "a map of axes, such as { \"mu\": [0.1, 0.2] }";
}

/// Plots by file.
pub(crate) struct OfPlots;

impl What for OfPlots {
    const EXPECTED: &'static str = "a map of plots, such as { \"a.svg\": Plot(columns: [\"a\"]) }";
}

/// The text of a study file, which the compilation of each of its runs reads again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudyText {
    /// Name of the file.
    pub name: String,
    /// What is in it.
    pub text: Arc<[u8]>,
}

/// A study file that was read.
#[derive(Debug, Clone, Default)]
pub struct StudyFile {
    /// What it shows.
    pub doc: String,
    /// The diagram's file as written, and where.
    pub diagram: (String, Span),
    /// Patches as written.
    pub patches: Vec<String>,
    /// Choices of variants that all runs have.
    pub variants: Vec<(String, String, Span)>,
    /// What varies.
    pub axes: Vec<AxisText>,
    /// The columns by name.
    pub columns: Vec<(String, Span)>,
    /// What others have found.
    pub expect: Vec<Expected>,
    /// Plots of columns.
    pub plots: Vec<PlotText>,
}

/// An axis as written.
#[derive(Debug, Clone)]
pub struct AxisText {
    /// What it sets; several change together.
    pub names: Vec<String>,
    /// Where they are written.
    pub span: Span,
    /// The values: of each row, as many as there are names. One of a list may stand for several:
    /// a range.
    pub values: Vec<(Vec<String>, Span)>,
}

/// Figures of others.
#[derive(Debug, Clone)]
pub struct Expected {
    /// Axis and value, of the runs that it is about.
    pub at: Vec<(String, String, Span)>,
    /// The figures by column.
    pub figures: Vec<ExpectedFigure>,
    /// How far ours may be off, as a share.
    pub within: f64,
    /// Why ours differ.
    pub reason: Option<String>,
}

/// Published figure in a column.
#[derive(Debug, Clone)]
pub struct ExpectedFigure {
    /// The column.
    pub column: String,
    /// The figure.
    pub value: f64,
    /// The unit, if one is written.
    pub unit: Option<Unit>,
    /// Its place in the file.
    pub span: Span,
    /// With a reason, the least and the greatest value of our own figure.
    pub here: Option<[f64; 2]>,
}

/// A plot as written.
#[derive(Debug, Clone)]
pub struct PlotText {
    /// Its file.
    pub file: String,
    /// Where it is written.
    pub span: Span,
    /// The columns with their places.
    pub columns: Vec<(String, Span)>,
    /// Its title.
    pub title: Option<String>,
    /// What the vertical axis is called.
    pub label: Option<String>,
    /// Whether x and y are logarithmic.
    pub log: [bool; 2],
}

/// Prefix of the names under which columns stand in `judge:`.
pub const SHOWN: &str = "show ";

/// Whether a file begins as a study does.
pub fn is_study(text: &[u8]) -> bool {
    document::begins_with(text, "Study")
}

/// Reads a study file.
pub fn read_study(file: &StudyText) -> (Option<StudyFile>, Diagnostics, SourceMap) {
    let (mut found, mut sources) = (Diagnostics::default(), SourceMap::default());
    let id = sources.add(&*file.name, &file.text);
    let read = match document::parse(id, &file.text) {
        Ok(node) => read(&node, &mut found),
        Err(diagnostic) => {
            found.push(diagnostic);
            None
        }
    };
    (read, found, sources)
}

fn read(node: &Node, found: &mut Diagnostics) -> Option<StudyFile> {
    if node.kind_name().is_none_or(|kind| kind.text != "Study") {
        found.push(wrong_type(node, "Study(diagram: \"a.ron\", over: { … }, show: { … })"));
        return None;
    }
    let study = language::read::<Study<'_>>(node, found)?;
    check_format(study.format, found);
    let mut file = StudyFile {
        doc: study.doc.map_or(String::new(), |doc| doc.value.to_owned()),
        diagram: (study.diagram.value.to_owned(), study.diagram.node.span),
        patches: texts(study.with, found).into_iter().map(|(text, _)| text).collect(),
        ..StudyFile::default()
    };
    for entry in study.variants.iter().flat_map(Entries::iter) {
        file.variants.push((entry.name.to_owned(), value_text(entry.value), entry.value.span));
    }
    if study.over.is_empty() {
        let message = "nothing varies: `over` is empty";
        found.push(Diagnostic::error(code::MISSING_FIELD, study.over.span, message));
    }
    file.axes = study.over.iter().filter_map(|entry| axis(entry, found)).collect();
    let columns = study.show.iter().flat_map(Entries::iter);
    file.columns = columns.map(|entry| (entry.name.to_owned(), entry.name_span)).collect();
    let is_column = |name: &str| file.columns.iter().any(|(column, _)| column == name);
    let unknown = |name: &str, span: Span| {
        let known = file.columns.iter().map(|(name, _)| name.as_str());
        Diagnostic::error(code::UNKNOWN_NAME, span, format!("`show` has no column `{name}`"))
            .suggest(name, known)
    };
    let expect = study.expect.map(|list| list_of(list, found)).unwrap_or_default();
    for node in expect {
        let Some(expect) = expected(node, found) else { continue };
        for ExpectedFigure { column: name, span, .. } in expect.figures.iter() {
            if is_column(name) {
                continue;
            }
            found.push(unknown(name, *span));
        }
        for (name, _, span) in &expect.at {
            if !file.axes.iter().any(|axis| axis.names.contains(name)) {
                let known = file.axes.iter().flat_map(|axis| &axis.names).map(String::as_str);
                let message = format!("`over` has no axis `{name}`");
                found.push(
                    Diagnostic::error(code::UNKNOWN_NAME, *span, message).suggest(name, known),
                );
            }
        }
        file.expect.push(expect);
    }
    for entry in study.plots.iter().flat_map(Entries::iter) {
        let Some(plot) = plot(entry, found) else { continue };
        for (name, span) in plot.columns.iter().filter(|(name, _)| !is_column(name)) {
            found.push(unknown(name, *span));
        }
        file.plots.push(plot);
    }
    (!found.has_errors()).then_some(file)
}

/// A value as the command line would give it.
fn value_text(node: &Node) -> String {
    match &node.kind {
        NodeKind::Text(text) => text.value.clone(),
        _ => node_text(node).replace('"', ""),
    }
}

fn list_of<'n>(node: &'n Node, found: &mut Diagnostics) -> &'n [Node] {
    node.list().unwrap_or_else(|| {
        found.push(wrong_type(node, "a list"));
        &[]
    })
}

/// The texts of a list, or a text alone.
fn texts(node: Option<&Node>, found: &mut Diagnostics) -> Vec<(String, Span)> {
    let Some(node) = node else { return Vec::new() };
    let items = match node.text() {
        Some(_) => std::slice::from_ref(node),
        None => list_of(node, found),
    };
    let text = |node: &Node| match node.text() {
        Some(text) => Some((text.to_owned(), node.span)),
        None => {
            found.push(wrong_type(node, "a text"));
            None
        }
    };
    items.iter().filter_map(text).collect()
}

fn axis(entry: Entry<'_>, found: &mut Diagnostics) -> Option<AxisText> {
    let Entry { name, name_span, value, .. } = entry;
    let names: Vec<String> = name.split(',').map(|name| name.trim().to_owned()).collect();
    if names.iter().any(String::is_empty) {
        let message = format!("expected names with commas between them, found `{name}`");
        found.push(Diagnostic::error(code::BAD_NAME, name_span, message));
        return None;
    }
    let is_alone = names.len() == 1;
    let items = match value.text() {
        Some(_) if is_alone => std::slice::from_ref(value),
        _ => list_of(value, found),
    };
    let mut values = Vec::new();
    for item in items {
        let row = match (is_alone, item.list()) {
            (true, _) => vec![value_text(item)],
            (false, Some(row)) if row.len() == names.len() => row.iter().map(value_text).collect(),
            (false, _) => {
                let expected = format!("a list of {}, of `{name}`", names.len());
                found.push(wrong_type(item, &expected));
                continue;
            }
        };
        if row.iter().any(String::is_empty) {
            found.push(wrong_type(item, "a value"));
            continue;
        }
        values.push((row, item.span));
    }
    if values.is_empty() {
        let message = format!("the axis `{name}` has no values");
        found.push(Diagnostic::error(code::MISSING_FIELD, value.span, message));
        return None;
    }
    Some(AxisText { names, span: name_span, values })
}

/// No names but those that every expression knows.
struct Nothing;

impl Scope for Nothing {
    fn lookup(&self, _: &str) -> Option<Value> {
        None
    }

    fn names(&self) -> Vec<String> {
        Vec::new()
    }
}

fn number(node: &Node, found: &mut Diagnostics) -> Option<(f64, Option<Unit>)> {
    match evaluate(node, &Nothing) {
        Ok(Value::Real { value, unit }) => Some((value, unit)),
        Ok(_) => {
            found.push(wrong_type(node, "a number"));
            None
        }
        Err(diagnostic) => {
            found.push(*diagnostic);
            None
        }
    }
}

fn expected(node: &Node, found: &mut Diagnostics) -> Option<Expected> {
    if node.kind_name().is_none_or(|kind| kind.text != "Expect") {
        found.push(wrong_type(node, "Expect(at: { … }, is: { … })"));
        return None;
    }
    let Expect { values, figures, within, reason, ours, .. } = language::read(node, found)?;
    let at = values.iter().flat_map(Entries::iter);
    let at = at.map(|entry| (entry.name.to_owned(), value_text(entry.value), entry.name_span));
    let at = at.collect();
    let mut list = Vec::new();
    for Entry { name, name_span, value, .. } in figures.iter() {
        let (value, unit) = number(value, found)?;
        let column = name.to_owned();
        list.push(ExpectedFigure { column, value, unit, span: name_span, here: None });
    }
    let within = match within {
        None => 0.01,
        Some(node) => match number(node, found)? {
            (share, unit) if share >= 0.0 && unit.is_none_or(|unit| unit == Unit::ONE) => share,
            _ => {
                found.push(wrong_type(node, "a share from 0 up, such as \"5 %\""));
                return None;
            }
        },
    };
    for Entry { name, name_span, value, .. } in ours.iter().flat_map(Entries::iter) {
        let Some(figure) = list.iter_mut().find(|figure| figure.column == name) else {
            let message = format!("`is` has no figure `{name}`");
            let known = list.iter().map(|figure| figure.column.as_str());
            found.push(
                Diagnostic::error(code::UNKNOWN_NAME, name_span, message).suggest(name, known),
            );
            return None;
        };
        figure.here = Some(own_range(value, within, found)?);
    }
    if let (Some(reason), Some(figure)) =
        (&reason, list.iter().find(|figure| figure.here.is_none()))
    {
        let message = format!("nothing bounds our own `{}`: it may drift", figure.column);
        let hint = format!("write `here: {{ \"{}\": … }}`", figure.column);
        found.push(Diagnostic::warning(code::UNBOUNDED, reason.node.span, message).hint(hint));
    }
    let reason = reason.map(|reason| reason.value.to_owned());
    if reason.is_none()
        && let Some(ours) = ours
    {
        let message = "`here` needs a `reason` why the figures differ";
        found.push(Diagnostic::error(code::MISSING_FIELD, ours.span, message));
        return None;
    }
    Some(Expected { at, figures: list, within, reason })
}

/// The least and the greatest value of our own figure: a list of both, or a number and its
/// tolerance.
fn own_range(node: &Node, within: f64, found: &mut Diagnostics) -> Option<[f64; 2]> {
    if let NodeKind::List(items) = &node.kind {
        let [least, greatest] = items.as_slice() else {
            found.push(wrong_type(node, "a number, or a list of the least and the greatest"));
            return None;
        };
        return Some([number(least, found)?.0, number(greatest, found)?.0]);
    }
    let (value, _) = number(node, found)?;
    Some([value - within * value.abs(), value + within * value.abs()])
}

fn plot(entry: Entry<'_>, found: &mut Diagnostics) -> Option<PlotText> {
    let Entry { name, name_span, value, .. } = entry;
    if value.kind_name().is_none_or(|kind| kind.text != "Plot") {
        found.push(wrong_type(value, "Plot(columns: [\"name\"])"));
        return None;
    }
    let PlotOf { columns, title, label, log, .. } = language::read(value, found)?;
    let is_plain = !name.contains(['/', '\\']) && name.ends_with(".svg") && name.len() > 4;
    if !is_plain {
        let message = format!("expected the name of a file that ends in .svg, found `{name}`");
        found.push(Diagnostic::error(code::BAD_NAME, name_span, message));
        return None;
    }
    let mut is_log = [false; 2];
    for (axis, span) in texts(log, found) {
        match axis.as_str() {
            "x" => is_log[0] = true,
            "y" => is_log[1] = true,
            _ => {
                let message = format!("expected \"x\" or \"y\", found `{axis}`");
                found.push(Diagnostic::error(code::WRONG_TYPE, span, message));
            }
        }
    }
    let text = |text: Option<Text<'_>>| text.map(|text| text.value.to_owned());
    Some(PlotText {
        file: name.to_owned(),
        span: name_span,
        columns: texts(Some(columns), found),
        title: text(title),
        label: text(label),
        log: is_log,
    })
}

/// Puts what a study adds to its diagram into it: values, judgements, checks, columns.
pub(crate) fn apply(document: &mut Node, node: &Node, found: &mut Diagnostics) {
    // Its mistakes are reported by whoever read it.
    let Some(study) = language::read::<Study<'_>>(node, &mut Diagnostics::default()) else {
        return;
    };
    for Entry { name, place, value, .. } in study.set.iter().flat_map(Entries::iter) {
        patch::set(document, name, place, value, found);
    }
    for entry in study.judge.iter().flat_map(Entries::iter) {
        patch::put_entry(document, "judge", entry.name, entry);
    }
    for entry in study.checks.iter().flat_map(Entries::iter) {
        patch::put_entry(document, "checks", entry.name, entry);
    }
    for entry in study.show.iter().flat_map(Entries::iter) {
        let name = format!("{SHOWN}{}", entry.name);
        patch::put_entry(document, "judge", &name, entry);
    }
}
