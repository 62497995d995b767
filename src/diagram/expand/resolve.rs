//! Paths → sources: through masks, holes and copies down to the ports of blocks.

use legwork_block::{Arguments, Diagnostic, Named, Node, NodeKind, Span};

use super::tree::{Collected, FrameId, Item, Tree};
use crate::network::{PortPath, Select, Source};
use crate::path::{self, PathStep, SignalText};

/// Longer chains of masks handing signals on are cycles.
const MAX_DEPTH: usize = 200;

type Resolved = Result<Source, Box<Diagnostic>>;

/// Code of a path into something whose own mistakes are reported already.
pub(crate) const BROKEN: &str = "broken";
/// Code of a path to an optional input of a mask that its user has not connected.
pub(crate) const ABSENT: &str = "absent-input";

impl Tree {
    /// The source that `node` means in `frame`. `deep` lets a path reach inside masks.
    pub(crate) fn source(&self, frame: FrameId, node: &Node, deep: bool) -> Resolved {
        self.source_at(frame, node, deep, 0)
    }

    fn source_at(&self, frame: FrameId, node: &Node, deep: bool, depth: usize) -> Resolved {
        match &node.kind {
            NodeKind::Text(text) => {
                let path = path::parse(&text.value, &text.place).map_err(Box::new)?;
                self.path_source(frame, &path, deep, depth)
            }
            NodeKind::Named(Named { name: Some(name), arguments: Arguments::Positional(args) })
                if name.text == "Bus" && args.len() == 2 =>
            {
                let (Some(bus), Some(entries)) = (args[0].text(), args[1].map()) else {
                    return Err(Box::new(bad_source(node)));
                };
                let mut fields = Vec::new();
                for (key, value) in entries {
                    let Some(key) = key.text() else {
                        return Err(Box::new(bad_source(node)));
                    };
                    fields.push((key.to_owned(), self.source_at(frame, value, deep, depth + 1)?));
                }
                Ok(Source::Bus { name: bus.to_owned(), fields, span: node.span })
            }
            NodeKind::Named(Named { name: Some(name), arguments: Arguments::Positional(args) })
                if name.text == "Join" && args.len() == 1 =>
            {
                let NodeKind::List(parts) = &args[0].kind else {
                    return Err(Box::new(bad_source(node)));
                };
                let mut items = Vec::new();
                for part in parts {
                    match self.source_at(frame, part, deep, depth + 1) {
                        Ok(source) => items.push(source),
                        // Nothing is joined where nothing is connected.
                        Err(diagnostic) if diagnostic.code == ABSENT => {}
                        Err(diagnostic) => return Err(diagnostic),
                    }
                }
                Ok(Source::Join { items, span: node.span })
            }
            _ => Err(Box::new(bad_source(node))),
        }
    }

    pub(crate) fn path_source(
        &self,
        frame: FrameId,
        path: &SignalText,
        deep: bool,
        depth: usize,
    ) -> Resolved {
        if depth > MAX_DEPTH {
            let message = format!("`{}` leads back to itself", path.text);
            return Err(Box::new(Diagnostic::error("signal-cycle", path.span, message)));
        }
        let PathStep::Name(name) = &path.steps[0] else {
            return Err(Box::new(Diagnostic::error("bad-path", path.span, "expected a name")));
        };
        if path.outer {
            return self.outer_source(frame, name, path, deep, depth);
        }
        let mut at = Some(frame);
        while let Some(id) = at {
            if let Some(item) = self.frames[id].items.get(name) {
                return self.item_source(item, name, &path.steps[1..], path, deep, depth);
            }
            at = self.frames[id].parent;
        }
        Err(Box::new(self.unknown_block(frame, name, path)))
    }

    fn unknown_block(&self, frame: FrameId, name: &str, path: &SignalText) -> Diagnostic {
        let mut names: Vec<&str> = Vec::new();
        let mut at = Some(frame);
        let mut inputs: Vec<&str> = Vec::new();
        while let Some(id) = at {
            names.extend(self.frames[id].items.keys().map(String::as_str));
            if let Some(outer) = &self.frames[id].inputs {
                inputs.extend(outer.declared.iter().map(String::as_str));
            }
            at = self.frames[id].parent;
        }
        let diagnostic = Diagnostic::error(
            "unknown-block",
            path.span,
            format!("expected the name of a block, found `{name}`"),
        )
        .suggest(name, names.iter().copied());
        if inputs.contains(&name) {
            diagnostic.hint(format!("the mask's own input is written `^{name}`"))
        } else if diagnostic.hints.is_empty() {
            diagnostic.hint(format!("here are `{}`", names.join("`, `")))
        } else {
            diagnostic
        }
    }

    fn outer_source(
        &self,
        frame: FrameId,
        name: &String,
        path: &SignalText,
        deep: bool,
        depth: usize,
    ) -> Resolved {
        let mut at = Some(frame);
        while let Some(id) = at {
            if let Some(outer) = &self.frames[id].inputs {
                let Some((node, _)) = outer.sources.get(name) else {
                    if outer.optional.contains(name) {
                        let message = format!("`^{name}` is not connected");
                        return Err(Box::new(Diagnostic::error(ABSENT, path.span, message)));
                    }
                    // Declared, but not connected: that is reported where it is not connected.
                    if outer.declared.contains(name) {
                        return Err(Box::new(Diagnostic::error(BROKEN, path.span, "")));
                    }
                    let names: Vec<&str> = outer.declared.iter().map(String::as_str).collect();
                    return Err(Box::new(
                        Diagnostic::error(
                            "unknown-port",
                            path.span,
                            format!("the mask has no input `{name}`"),
                        )
                        .suggest(name, names.iter().copied())
                        .hint(format!("it has `{}`", names.join("`, `"))),
                    ));
                };
                let source = self.source_at(outer.frame, node, deep, depth + 1)?;
                return select_further(source, &path.steps[1..], path);
            }
            at = self.frames[id].parent;
        }
        Err(Box::new(
            Diagnostic::error(
                "unknown-port",
                path.span,
                format!("`^{name}` names a mask's own input, and this is no mask"),
            )
            .hint("name a block and its port: `block.port`"),
        ))
    }

    fn item_source(
        &self,
        item: &Item,
        name: &str,
        rest: &[PathStep],
        path: &SignalText,
        deep: bool,
        depth: usize,
    ) -> Resolved {
        match item {
            Item::Broken => Err(Box::new(Diagnostic::error(BROKEN, path.span, String::new()))),
            Item::Block { path: block } => {
                let Some(PathStep::Name(port)) = rest.first() else {
                    return Err(Box::new(name_a_port(name, path)));
                };
                let source = Source::Port(PortPath {
                    block: block.clone(),
                    port: port.clone(),
                    select: Vec::new(),
                    span: path.span,
                });
                select_further(source, &rest[1..], path)
            }
            Item::Share { frame, node, index, count } => {
                let whole = self.source_at(*frame, node, deep, depth + 1)?;
                let Source::Port(mut port) = whole else {
                    let message = format!("expected a signal of a block to share, found {whole}");
                    return Err(Box::new(Diagnostic::error("wrong-type", node.span, message)));
                };
                port.select.push(Select::Part { index: *index, count: *count });
                select_further(Source::Port(port), rest, path)
            }
            Item::Hole { choice, outs, name: hole } => {
                match rest.first() {
                    Some(PathStep::Name(out)) if outs.contains(out) || deep => {}
                    Some(PathStep::Name(out)) => {
                        return Err(Box::new(
                            Diagnostic::error(
                                "unknown-port",
                                path.span,
                                format!("the interface of `{hole}` has no output `{out}`"),
                            )
                            .suggest(out, outs.iter().map(String::as_str))
                            .hint(format!("it has `{}`", outs.join("`, `"))),
                        ));
                    }
                    _ => return Err(Box::new(name_a_port(name, path))),
                }
                self.item_source(choice, name, rest, path, deep, depth + 1)
            }
            Item::Composite { inside, outs } => {
                let Some(PathStep::Name(out)) = rest.first() else {
                    return Err(Box::new(name_a_port(name, path)));
                };
                if let Some(node) = outs.get(out) {
                    let source = self.source_at(*inside, node, deep, depth + 1)?;
                    return select_further(source, &rest[1..], path);
                }
                if deep && let Some(item) = self.frames[*inside].items.get(out) {
                    return self.item_source(item, out, &rest[1..], path, deep, depth + 1);
                }
                let names: Vec<&str> = outs.keys().map(String::as_str).collect();
                Err(Box::new(
                    Diagnostic::error(
                        "unknown-port",
                        path.span,
                        format!("no output `{out}` on `{name}`"),
                    )
                    .suggest(out, names.iter().copied())
                    .hint(format!("it has `{}`", names.join("`, `"))),
                ))
            }
            Item::ForEach { copies, collected } => match rest {
                [PathStep::Name(out), more @ ..] => match collected.get(out) {
                    Some(Collected::Block(block)) => {
                        let source = Source::Port(PortPath {
                            block: block.clone(),
                            port: "y".into(),
                            select: Vec::new(),
                            span: path.span,
                        });
                        select_further(source, more, path)
                    }
                    Some(Collected::Array(node)) => {
                        // One index picks one copy; no array need be made.
                        if let [PathStep::Index(i), more @ ..] = more
                            && let Some((_, &frame)) = copies.get_index(*i)
                        {
                            let source = self.source_at(frame, node, deep, depth + 1)?;
                            return select_further(source, more, path);
                        }
                        let items = copies
                            .values()
                            .map(|&frame| self.source_at(frame, node, deep, depth + 1))
                            .collect::<Result<Vec<_>, _>>()?;
                        if let Some(step) = more.first() {
                            return Err(Box::new(Diagnostic::error(
                                "bad-path",
                                path.span,
                                format!(
                                    "`{name}.{out}` holds {} copies, found {step:?} behind it",
                                    items.len()
                                ),
                            )));
                        }
                        Ok(Source::Array { items, span: path.span })
                    }
                    Some(Collected::Join(node)) => {
                        let items = copies
                            .values()
                            .map(|&frame| self.source_at(frame, node, deep, depth + 1))
                            .collect::<Result<Vec<_>, _>>()?;
                        select_further(Source::Join { items, span: path.span }, more, path)
                    }
                    None => {
                        let names: Vec<&str> = collected.keys().map(String::as_str).collect();
                        Err(Box::new(
                            Diagnostic::error(
                                "unknown-port",
                                path.span,
                                format!("`{name}` collects no `{out}`"),
                            )
                            .suggest(out, names.iter().copied())
                            .hint(format!("it collects `{}`", names.join("`, `"))),
                        ))
                    }
                },
                [key, PathStep::Name(block), more @ ..] => {
                    let key = match key {
                        PathStep::Key(key) => key.clone(),
                        PathStep::Index(i) => i.to_string(),
                        _ => String::new(),
                    };
                    let Some(&frame) = copies.get(&key) else {
                        let names: Vec<&str> = copies.keys().map(String::as_str).collect();
                        return Err(Box::new(
                            Diagnostic::error(
                                "unknown-copy",
                                path.span,
                                format!("no copy `{key}` of `{name}`"),
                            )
                            .suggest(&key, names.iter().copied())
                            .hint(format!("there are `{}`", names.join("`, `"))),
                        ));
                    };
                    let Some(item) = self.frames[frame].items.get(block) else {
                        return Err(Box::new(self.unknown_block(frame, block, path)));
                    };
                    self.item_source(item, block, more, path, deep, depth + 1)
                }
                _ => Err(Box::new(
                    Diagnostic::error(
                        "bad-path",
                        path.span,
                        format!("`{name}` is a for-each: name what it collects, or one copy"),
                    )
                    .hint(format!("such as `{name}[{}].…`", first_key(copies.keys().next()))),
                )),
            },
        }
    }
}

fn first_key(key: Option<&String>) -> &str {
    key.map_or("key", String::as_str)
}

fn name_a_port(name: &str, path: &SignalText) -> Diagnostic {
    Diagnostic::error(
        "bad-path",
        path.span,
        format!("expected a port behind `{name}`, found `{}`", path.text),
    )
    .hint(format!("write `{name}.port`"))
}

fn bad_source(node: &Node) -> Diagnostic {
    Diagnostic::error(
        "wrong-type",
        node.span,
        format!("expected a path such as \"block.port\", found {}", node.describe()),
    )
    .hint("a bus is put together by Bus(\"Name\", { \"field\": \"block.port\" }), arrays by Join([\"a.y\", \"b.y\"])")
}

/// Adds selections behind a source.
fn select_further(source: Source, steps: &[PathStep], path: &SignalText) -> Resolved {
    if steps.is_empty() {
        return Ok(at_span(source, path.span));
    }
    let mut source = source;
    let mut steps = steps;
    // A field of a bus that was put together here is one of its parts; an element of an array is
    // one of its items.
    loop {
        source = match (source, steps.first()) {
            (Source::Bus { fields, name, .. }, Some(PathStep::Name(field))) => {
                let Some((_, part)) = fields.into_iter().find(|(known, _)| known == field) else {
                    let message = format!("expected a field of {name}, found `{field}`");
                    return Err(Box::new(Diagnostic::error("unknown-field", path.span, message)));
                };
                part
            }
            (Source::Array { mut items, .. }, Some(PathStep::Index(i))) => {
                if *i >= items.len() {
                    let message =
                        format!("expected an index within 0..{}, found `[{i}]`", items.len());
                    return Err(Box::new(Diagnostic::error(
                        "slice-out-of-range",
                        path.span,
                        message,
                    )));
                }
                items.swap_remove(*i)
            }
            (other, _) => {
                source = other;
                break;
            }
        };
        steps = &steps[1..];
        if steps.is_empty() {
            return Ok(at_span(source, path.span));
        }
    }
    match source {
        Source::Port(mut port) => {
            for step in steps {
                let Some(select) = step.select() else {
                    return Err(Box::new(Diagnostic::error(
                        "bad-path",
                        path.span,
                        "expected an index or a field, found the key of a for-each".to_owned(),
                    )));
                };
                port.select.push(select);
            }
            port.span = path.span;
            Ok(Source::Port(port))
        }
        other => Err(Box::new(Diagnostic::error(
            "bad-path",
            path.span,
            format!("nothing can be selected from {other}"),
        ))),
    }
}

/// The same source, said to stand where it is used.
fn at_span(source: Source, span: Span) -> Source {
    match source {
        Source::Port(port) => Source::Port(PortPath { span, ..port }),
        other => other,
    }
}
