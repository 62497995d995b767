//! Masks and patches by themselves: what is wrong with them whoever uses them.
//!
//! A diagram with a stand-in for what a user gives is made around a mask. Names of which nothing is
//! known count as reported already, so that nothing is said of what depends on them.

use std::collections::BTreeMap;
use std::rc::Rc;

use legwork_block::{
    Arguments, Name, Named, Node, NodeField, NodeKind, Place, Span, Text, parse_quantity,
};

use super::checks::OfChecks;
use super::composite::OfBlocks;
use super::judge::OfJudge;
use super::mask::MaskFile;
use super::sections::{Diagram, Sections};
use super::tree::{Around, Env, Hole};
use super::{Expanded, Expander, check_format, evaluate};
use crate::document;
use crate::language::{self, Entries, Entry};
use crate::patch::Patch;
use crate::path;

/// Name of the text around a mask.
const AROUND: &str = "<around>";

impl Expander<'_> {
    /// Expands a mask. Parameters are their defaults; those without are `robot`, which is written
    /// as in `robots:`, or a number of the unit that they declare; of others nothing is known. A
    /// hole without default is filled by something of which nothing is known.
    pub(crate) fn expand_mask_alone(&mut self, document: &Node, robot: &str) -> Option<Expanded> {
        let mask: MaskFile<'_> = language::read(document, self.diagnostics)?;
        check_format(mask.format, self.diagnostics);
        let params: Vec<Entry<'_>> = mask.params.iter().flat_map(Entries::iter).collect();
        let outside = self.begin_around(&params, robot)?;
        let given = params.iter().filter_map(stand_in);
        let instance = instance(document.span, given.collect());
        let (values, failed) = self.parameters(&instance, &params, &outside, &|_, _| None);
        self.check_kinds(params.iter().copied().filter(|entry| failed.contains(entry.name)));
        let names = Rc::new(values);
        let masks = vec![self.loader.name_of(document.span.file)];
        let around = Rc::new(Around { masks, ..Around::default() });
        let inner = Env {
            around,
            failed: Rc::new(failed),
            ..Env::of_names(Rc::clone(&names), &self.budget)
        };
        let mut holes = BTreeMap::new();
        for Entry { name, value: interface, .. } in mask.holes.iter().flat_map(Entries::iter) {
            let hole = interface.field("default").map(|choice| Hole {
                choice: choice.clone(),
                env: Env { holes: Rc::new(holes.clone()), ..inner.clone() },
                interface: Some(interface.clone()),
                interface_names: Rc::clone(&names),
            });
            holes.insert(name.to_owned(), hole);
        }
        let env = Env { holes: Rc::new(holes), ..inner };
        let before = self.diagnostics.len();
        let ports = mask.inside.ports.map(|ports| self.interface(ports, &env));
        if ports.is_some() && self.diagnostics.len() > before {
            // Which ports there are is not known, as where an interface lies beside a diagram.
            return None;
        }
        self.expand_sections(Sections::of(mask.inside), &env)
    }

    /// Begins a diagram that has a robot for each of the parameters that name one.
    fn begin_around(&mut self, params: &[Entry<'_>], robot: &str) -> Option<Env> {
        let robots = params.iter().filter(|entry| kind(entry) == "Robot");
        let robots: Vec<String> =
            robots.map(|entry| format!("{:?}: {robot}", entry.name)).collect();
        let text = format!(
            "Diagram(run: (stop: \"1 s\", step: \"1 ms\"), robots: {{{}}}, blocks: {{}})",
            robots.join(", ")
        );
        let file = self.loader.add(AROUND, text.as_bytes());
        let node = document::parse(file, text.as_bytes()).ok()?;
        let diagram: Diagram<'_> = language::read(&node, self.diagnostics)?;
        let env = self.begin_diagram(&diagram, &node, Rc::default());
        self.run = diagram.run.0.and_then(|run| self.run_section(&run, &env));
        Some(env)
    }

    /// Looks at what a patch changes, whatever it changes it in.
    pub(crate) fn look_at_patch(&mut self, document: &Node) {
        let Some(patch) = language::read::<Patch<'_>>(document, self.diagnostics) else { return };
        check_format(patch.format, self.diagnostics);
        let Some(around) = self.begin_around(&[], "") else { return };
        let env = Env { is_open: true, root: true, ..around };
        self.robots.is_open = true;
        let root = self.new_frame(String::new(), None, None);
        for Entry { name, place, value, .. } in patch.set.iter().flat_map(Entries::iter) {
            if let Err(found) = path::parse(name, place) {
                self.report(found);
            }
            if let Err(found) = evaluate(value, &env)
                && value.kind_name().is_none()
            {
                self.report(*found);
            }
        }
        for blocks in [&patch.replace, &patch.add].into_iter().flatten() {
            let blocks = blocks.filtered::<OfBlocks>(|_| true);
            // One may be replaced and its former name given to another.
            let frame = self.new_frame(String::new(), None, None);
            self.expand_blocks(frame, &blocks, &env);
        }
        if let Some(judge) = &patch.judge {
            self.judge(&judge.filtered::<OfJudge>(|_| true), &env);
        }
        let checks = patch.checks.map(|checks| checks.filtered::<OfChecks>(|_| true));
        self.checks(checks.as_ref(), root, "", &env);
    }
}

/// The kind of a mask's parameter.
fn kind<'n>(entry: &Entry<'n>) -> &'n str {
    entry.value.kind_name().map_or("", |kind| kind.text.as_str())
}

/// What stands for a parameter without default, if something can.
fn stand_in(entry: &Entry<'_>) -> Option<NodeField> {
    let &Entry { name, value: declaration, .. } = entry;
    if declaration.field("default").is_some() {
        return None;
    }
    let span = declaration.span;
    let unit = declaration.field("unit").and_then(Node::text);
    let least = declaration.field("min").or(declaration.field("max"));
    let kind = match (kind(entry), unit) {
        ("Robot", _) => text(name, span),
        ("Bool", _) => NodeKind::Bool(false),
        ("Real", Some(_)) | ("Int", _) => match (least, unit) {
            (Some(bound), _) => bound.kind.clone(),
            (None, Some(unit)) => {
                let one = format!("1 {unit}");
                parse_quantity(&one).ok()?;
                text(&one, span)
            }
            (None, None) => text("1", span),
        },
        _ => return None,
    };
    let name = Name { text: name.to_owned(), span };
    Some(NodeField { name, value: Node { span, kind } })
}

fn text(value: &str, span: Span) -> NodeKind {
    NodeKind::Text(Text { value: value.to_owned(), place: Place::from(span) })
}

/// What a user of the mask would write.
fn instance(span: Span, fields: Vec<NodeField>) -> Node {
    let arguments = Arguments::Fields(fields);
    Node { span, kind: NodeKind::Named(Named { name: None, arguments }) }
}
