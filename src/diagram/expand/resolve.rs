//! Paths → sources: through masks, holes and copies down to the ports of blocks. One file: each way
//! leads to every other.

use legwork_block::{Arguments, Diagnostic, Named, Node, NodeKind, Span, Type, code};

use super::tree::{Collected, Frame, Item, Tree};
use super::unresolved::{AbsentPort, Resolved, Unresolved, listed, not_among};
use crate::ids::{BlockId, FrameId, Id, IdVec, OutputId};
use crate::network::{NetworkBlock, PortPart, Select, Source, source_text};
use crate::path::{self, PathStep, SignalText};

/// Longer chains of masks handing signals on are cycles.
const MAX_DEPTH: usize = 200;

/// Finds what paths lead to, once everything is expanded.
#[derive(Clone, Copy)]
pub(crate) struct Resolver<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) blocks: &'a IdVec<BlockId, NetworkBlock>,
}

impl Resolver<'_> {
    /// The source that `node` means in `frame`. `deep` lets a path reach inside masks.
    pub(crate) fn source(&self, frame: FrameId, node: &Node, deep: bool) -> Resolved {
        self.source_at(frame, node, deep, 0)
    }

    fn source_at(&self, frame: FrameId, node: &Node, deep: bool, depth: usize) -> Resolved {
        match &node.kind {
            NodeKind::Text(text) => {
                let path = path::parse(&text.value, &text.place)?;
                self.path_source(frame, &path, deep, depth)
            }
            NodeKind::Named(Named { name: Some(name), arguments: Arguments::Positional(args) })
                if name.text == "Bus" && args.len() == 2 =>
            {
                let (Some(bus), Some(entries)) = (args[0].text(), args[1].map()) else {
                    return Err(bad_source(node).into());
                };
                let mut fields = Vec::new();
                for (key, value) in entries {
                    let Some(key) = key.text() else {
                        return Err(bad_source(node).into());
                    };
                    fields.push((key, self.source_at(frame, value, deep, depth + 1)?));
                }
                self.bus(frame, bus, fields, node.span)
            }
            NodeKind::Named(Named { name: Some(name), arguments: Arguments::Positional(args) })
                if name.text == "Join" && args.len() == 1 =>
            {
                let NodeKind::List(parts) = &args[0].kind else {
                    return Err(bad_source(node).into());
                };
                let mut items = Vec::new();
                for part in parts {
                    match self.source_at(frame, part, deep, depth + 1) {
                        Ok(source) => items.push(source),
                        // Nothing is joined where nothing is connected.
                        Err(Unresolved::Absent { .. }) => {}
                        Err(unresolved) => return Err(unresolved),
                    }
                }
                Ok(Source::Join { items, span: node.span })
            }
            _ => Err(bad_source(node).into()),
        }
    }

    /// A bus put together from `parts`: one for each field of its type, in that order.
    fn bus(
        &self,
        frame: FrameId,
        name: &str,
        mut parts: Vec<(&str, Source)>,
        span: Span,
    ) -> Resolved {
        let mut var_count = 0;
        let wrong = |code, message| Err(Diagnostic::error(code, span, message).into());
        let Some(ty) = self.tree.types(frame).bus(name, &mut var_count) else {
            return wrong(code::UNKNOWN_BUS, format!("expected the name of a bus, found `{name}`"));
        };
        let Type::Bus(bus) = &ty else {
            let message = format!("expected the name of a bus, found `{name}`, which is {ty}");
            return wrong(code::UNKNOWN_BUS, message);
        };
        let mut fields = Vec::with_capacity(bus.fields.len());
        for field in &bus.fields {
            let Some(at) = parts.iter().position(|(name, _)| *name == field.name) else {
                let message = format!("field `{}` of {ty} is missing", field.name);
                return wrong(code::MISSING_FIELD, message);
            };
            fields.push(parts.swap_remove(at).1);
        }
        if let Some((name, source)) = parts.first() {
            let message = format!("expected a field of {ty}, found `{name}`");
            let found = Diagnostic::error(code::UNKNOWN_FIELD, source.span(), message);
            return Err(found.suggest(name, bus.fields.iter().map(|f| f.name.as_str())).into());
        }
        Ok(Source::Bus { ty, var_count, fields, span })
    }

    /// The output `name` of a block.
    fn port(&self, block: BlockId, name: &str, span: Span) -> Resolved {
        let outputs = &self.blocks[block].declaration.outputs;
        match outputs.iter().position(|output| output.name == name) {
            Some(output) => {
                let output = OutputId::new(output);
                Ok(Source::Port(PortPart { block, output, select: Vec::new(), span }))
            }
            None => Err(Unresolved::NoOutput(Box::new(self.no_output(block, name, span)))),
        }
    }

    fn no_output(&self, block: BlockId, name: &str, span: Span) -> Diagnostic {
        let NetworkBlock { path, planned, declaration, .. } = &self.blocks[block];
        let outputs = &declaration.outputs;
        let message = format!("no output `{name}` on `{path}` ({})", planned.kind());
        if declaration.functions.iter().any(|function| function.name == name) {
            return Diagnostic::error(code::UNKNOWN_PORT, span, message)
                .suggest(name, outputs.iter().map(|output| &*output.name))
                .hint("it is a function, whose signals live only inside a call");
        }
        let known = outputs.iter().map(|output| &*output.name);
        let found = not_among(code::UNKNOWN_PORT, span, message, name, known, "it has");
        if outputs.is_empty() { found.hint("it has no outputs") } else { found }
    }

    pub(crate) fn path_source(
        &self,
        frame: FrameId,
        path: &SignalText<'_>,
        deep: bool,
        depth: usize,
    ) -> Resolved {
        if depth > MAX_DEPTH {
            let message = format!("`{}` leads back to itself", path.text);
            return Err(Diagnostic::error(code::SIGNAL_CYCLE, path.span, message).into());
        }
        let PathStep::Name(name) = path.steps[0] else {
            return Err(Diagnostic::error(code::BAD_PATH, path.span, "expected a name").into());
        };
        if path.outer {
            return self.outer_source(frame, name, path, deep, depth);
        }
        let mut at = Some(frame);
        while let Some(id) = at {
            if let Some(item) = self.tree.frames[id].items.get(name) {
                return self.item_source(item, name, &path.steps[1..], path, deep, depth);
            }
            at = self.tree.frames[id].parent;
        }
        Err(self.unknown_block(frame, name, path).into())
    }

    /// Whether a block of this name stands somewhere around the part that `frame` is in.
    fn is_around(&self, frame: FrameId, name: &str) -> bool {
        let mut at = Some(frame);
        while let Some(id) = at {
            let Frame { items, parent, inputs, .. } = &self.tree.frames[id];
            if items.contains_key(name) {
                return true;
            }
            // The inputs of the diagram itself are read in its own frame.
            let around = inputs.as_ref().map(|inputs| inputs.frame);
            at = parent.or(around).filter(|around| *around < id);
        }
        false
    }

    fn unknown_block(&self, frame: FrameId, name: &str, path: &SignalText<'_>) -> Diagnostic {
        let mut names: Vec<&str> = Vec::new();
        let mut at = Some(frame);
        let mut inputs: Vec<&str> = Vec::new();
        while let Some(id) = at {
            names.extend(self.tree.frames[id].items.keys().map(String::as_str));
            if let Some(outer) = &self.tree.frames[id].inputs {
                inputs.extend(outer.declared.iter().map(String::as_str));
            }
            at = self.tree.frames[id].parent;
        }
        let mut diagnostic = Diagnostic::error(
            code::UNKNOWN_BLOCK,
            path.span,
            format!("expected the name of a block, found `{name}`"),
        )
        .about(format!("{frame:?} {name}"))
        .suggest(name, names.iter().copied());
        if inputs.contains(&name) {
            diagnostic.hint(format!("the mask's own input is written `^{name}`"))
        } else if self.is_around(frame, name) {
            let message = format!("`{name}` is outside of this part, which sees its inputs alone");
            diagnostic.hints.clear();
            diagnostic.hint(message).hint(
                "declare an input in its `ports:`, connect it in its `in:`, and read it as `^input`",
            )
        } else if diagnostic.hints.is_empty() {
            diagnostic.hint(format!("here are {}", listed(&names)))
        } else {
            diagnostic
        }
    }

    fn outer_source(
        &self,
        frame: FrameId,
        name: &str,
        path: &SignalText<'_>,
        deep: bool,
        depth: usize,
    ) -> Resolved {
        let mut at = Some(frame);
        while let Some(id) = at {
            if let Some(outer) = &self.tree.frames[id].inputs {
                if let Some(&block) = outer.fed.get(name) {
                    let (output, span) = (OutputId::FIRST, path.span);
                    let whole = PortPart { block, output, select: Vec::new(), span };
                    return self.select_further(Source::Port(whole), &path.steps[1..], path);
                }
                let Some(node) = outer.sources.get(name) else {
                    if outer.optional.contains(name) {
                        let port = AbsentPort::Input(name.to_owned());
                        return Err(Unresolved::Absent { span: path.span, port });
                    }
                    // Declared, but not connected: that is reported where it is not connected.
                    if outer.declared.iter().any(|known| known == name) {
                        return Err(Unresolved::Reported);
                    }
                    let known = outer.declared.iter().map(String::as_str);
                    if id == Tree::ROOT {
                        let message = format!("the diagram has no input `{name}`");
                        let found = Diagnostic::error(code::UNKNOWN_PORT, path.span, message);
                        let declared = format!("ports: (in: {{ \"{name}\": \"Real\" }})");
                        return Err(found
                            .suggest(name, known)
                            .hint(format!("inputs are declared in {declared}"))
                            .into());
                    }
                    let message = format!("the mask has no input `{name}`");
                    return Err(unknown_port(path, message, name, known));
                };
                let source = self.source_at(outer.frame, node, deep, depth + 1)?;
                return self.select_further(source, &path.steps[1..], path);
            }
            at = self.tree.frames[id].parent;
        }
        Err(Diagnostic::error(
            code::UNKNOWN_PORT,
            path.span,
            format!("`^{name}` names a mask's own input, and this is no mask"),
        )
        .hint("name a block and its port: `block.port`")
        .into())
    }

    fn item_source(
        &self,
        item: &Item,
        name: &str,
        rest: &[PathStep<'_>],
        path: &SignalText<'_>,
        deep: bool,
        depth: usize,
    ) -> Resolved {
        match item {
            Item::Broken => Err(Unresolved::Reported),
            Item::Block(block) => {
                let Some(PathStep::Name(port)) = rest.first() else {
                    let outputs = &self.blocks[*block].declaration.outputs;
                    let outputs = outputs.iter().map(|output| &*output.name);
                    return Err(name_a_port(name, path, outputs).into());
                };
                self.select_further(self.port(*block, port, path.span)?, &rest[1..], path)
            }
            Item::Share { frame, node, index, count } => {
                let whole = self.source_at(*frame, node, deep, depth + 1)?;
                let Source::Port(mut port) = whole else {
                    let whole = source_text(self.blocks, &whole);
                    let message = format!("expected a signal of a block to share, found {whole}");
                    return Err(Diagnostic::error(code::WRONG_TYPE, node.span, message).into());
                };
                port.select.push(Select::Part { index: *index, count: *count });
                self.select_further(Source::Port(port), rest, path)
            }
            Item::Hole { absent, .. } | Item::Composite { absent, .. }
                if let Some(PathStep::Name(out)) = rest.first()
                    && absent.contains(*out) =>
            {
                let port = AbsentPort::Output((*out).to_owned(), name.to_owned());
                Err(Unresolved::Absent { span: path.span, port })
            }
            Item::Hole { choice, outs, name: hole, .. } => {
                match rest.first() {
                    Some(PathStep::Name(out)) if deep || outs.iter().any(|known| known == out) => {}
                    Some(PathStep::Name(out)) => {
                        let message = format!("the interface of `{hole}` has no output `{out}`");
                        let known = outs.iter().map(String::as_str);
                        return Err(unknown_port(path, message, out, known));
                    }
                    _ => {
                        let outs = outs.iter().map(String::as_str);
                        return Err(name_a_port(name, path, outs).into());
                    }
                }
                self.item_source(choice, name, rest, path, deep, depth + 1)
            }
            Item::Composite { inside, outs, .. } => {
                let Some(PathStep::Name(out)) = rest.first() else {
                    let outs = outs.keys().map(String::as_str);
                    return Err(name_a_port(name, path, outs).into());
                };
                if let Some(node) = outs.get(*out) {
                    let source = self.source_at(*inside, node, deep, depth + 1);
                    let source = source.map_err(|found| found.of_output(out, name, path.span))?;
                    return self.select_further(source, &rest[1..], path);
                }
                if deep && let Some(item) = self.tree.frames[*inside].items.get(*out) {
                    return self.item_source(item, out, &rest[1..], path, deep, depth + 1);
                }
                let message = format!("no output `{out}` on `{name}`");
                Err(unknown_port(path, message, out, outs.keys().map(String::as_str)))
            }
            Item::ForEach { copies, collected } => match rest {
                [PathStep::Name(out), more @ ..] => match collected.get(*out) {
                    Some(Collected::Block(block)) => {
                        // A block that joins copies has one output.
                        let (block, output) = (*block, OutputId::FIRST);
                        let span = path.span;
                        let whole = PortPart { block, output, select: Vec::new(), span };
                        self.select_further(Source::Port(whole), more, path)
                    }
                    Some(Collected::Array(node)) => {
                        // One index picks one copy; no array need be made.
                        if let [PathStep::Index(i), more @ ..] = more
                            && let Some((_, &frame)) = copies.get_index(*i)
                        {
                            let source = self.source_at(frame, node, deep, depth + 1)?;
                            return self.select_further(source, more, path);
                        }
                        let items = copies
                            .values()
                            .map(|&frame| self.source_at(frame, node, deep, depth + 1))
                            .collect::<Result<Vec<_>, _>>()?;
                        if let Some(step) = more.first() {
                            return Err(Diagnostic::error(
                                code::BAD_PATH,
                                path.span,
                                format!(
                                    "`{name}.{out}` holds {} copies, found {step:?} behind it",
                                    items.len()
                                ),
                            )
                            .into());
                        }
                        Ok(Source::Array { items, span: path.span })
                    }
                    Some(Collected::Join(node)) => {
                        let items = copies
                            .values()
                            .map(|&frame| self.source_at(frame, node, deep, depth + 1))
                            .collect::<Result<Vec<_>, _>>()?;
                        self.select_further(Source::Join { items, span: path.span }, more, path)
                    }
                    Some(Collected::Broken) => Err(Unresolved::Reported),
                    None => {
                        let message = format!("`{name}` collects no `{out}`");
                        let known = collected.keys().map(String::as_str);
                        let (code, has) = (code::UNKNOWN_PORT, "it collects");
                        Err(not_among(code, path.span, message, out, known, has).into())
                    }
                },
                [key, PathStep::Name(block), more @ ..] => {
                    let key = match key {
                        PathStep::Key(key) => (*key).to_owned(),
                        PathStep::Index(i) => i.to_string(),
                        _ => String::new(),
                    };
                    let Some(&frame) = copies.get(&key) else {
                        let message = format!("no copy `{key}` of `{name}`");
                        let known = copies.keys().map(String::as_str);
                        let (code, has) = (code::UNKNOWN_COPY, "there are");
                        return Err(not_among(code, path.span, message, &key, known, has).into());
                    };
                    let Some(item) = self.tree.frames[frame].items.get(*block) else {
                        return Err(self.unknown_block(frame, block, path).into());
                    };
                    self.item_source(item, block, more, path, deep, depth + 1)
                }
                _ => Err(Diagnostic::error(
                    code::BAD_PATH,
                    path.span,
                    format!("`{name}` is a for-each: name what it collects, or one copy"),
                )
                .hint(format!("such as `{name}[{}].…`", first_key(copies.keys().next())))
                .into()),
            },
        }
    }
}

fn unknown_port<'k>(
    path: &SignalText<'_>,
    message: String,
    name: &str,
    known: impl IntoIterator<Item = &'k str>,
) -> Unresolved {
    not_among(code::UNKNOWN_PORT, path.span, message, name, known, "it has").into()
}

/// Most further outputs that are told where one is to be named.
const MOST_PORTS: usize = 11;

fn first_key(key: Option<&String>) -> &str {
    key.map_or("key", String::as_str)
}

fn name_a_port<'o>(
    name: &str,
    path: &SignalText<'_>,
    outputs: impl Iterator<Item = &'o str>,
) -> Diagnostic {
    let mut outputs = outputs.map(|output| format!("`{name}.{output}`"));
    let (first, rest) = (outputs.next(), outputs.take(MOST_PORTS).collect::<Vec<_>>());
    let hint = match first {
        Some(first) if rest.is_empty() => format!("write {first}"),
        Some(first) => format!("write one of {first}, {}", rest.join(", ")),
        None => "it has no outputs".to_owned(),
    };
    Diagnostic::error(
        code::BAD_PATH,
        path.span,
        format!("expected a port behind `{name}`, found `{}`", path.text),
    )
    .hint(hint)
}

fn bad_source(node: &Node) -> Diagnostic {
    Diagnostic::error(
        code::WRONG_TYPE,
        node.span,
        format!("expected a path such as \"block.port\", found {}", node.describe()),
    )
    .hint(
        "a bus is put together by Bus(\"Name\", { \"field\": \"block.port\" }), \
         arrays by Join([\"a.y\", \"b.y\"])",
    )
}

impl Resolver<'_> {
    /// Adds selections behind a source.
    fn select_further(
        &self,
        source: Source,
        steps: &[PathStep<'_>],
        path: &SignalText<'_>,
    ) -> Resolved {
        if steps.is_empty() {
            return Ok(at_span(source, path.span));
        }
        let mut source = source;
        let mut steps = steps;
        // A field of a bus that was put together here is one of its parts; an element of an array
        // is one of its items.
        loop {
            source = match (source, steps.first()) {
                (
                    Source::Bus { ty: Type::Bus(bus), mut fields, .. },
                    Some(PathStep::Name(field)),
                ) => {
                    let Some(at) = bus.fields.iter().position(|known| known.name == *field) else {
                        let message = format!("expected a field of {}, found `{field}`", bus.name);
                        return Err(
                            Diagnostic::error(code::UNKNOWN_FIELD, path.span, message).into()
                        );
                    };
                    fields.swap_remove(at)
                }
                (Source::Array { mut items, .. }, Some(PathStep::Index(i))) => {
                    if *i >= items.len() {
                        let message =
                            format!("expected an index within 0..{}, found `[{i}]`", items.len());
                        return Err(Diagnostic::error(
                            code::SLICE_OUT_OF_RANGE,
                            path.span,
                            message,
                        )
                        .into());
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
                        let message = "expected an index or a field, found the key of a for-each";
                        let found = Diagnostic::error(code::BAD_PATH, path.span, message);
                        let hint = match step {
                            PathStep::Key(key) => key.split_once(':'),
                            _ => None,
                        };
                        return Err(match hint {
                            Some((from, to)) => found.hint(format!("write `[{from}..{to}]`")),
                            None => found,
                        }
                        .into());
                    };
                    port.select.push(select);
                }
                port.span = path.span;
                Ok(Source::Port(port))
            }
            other => Err(Diagnostic::error(
                code::BAD_PATH,
                path.span,
                format!("nothing can be selected from {}", source_text(self.blocks, &other)),
            )
            .into()),
        }
    }
}

/// The same source, as if written where it is used.
fn at_span(source: Source, span: Span) -> Source {
    match source {
        Source::Port(port) => Source::Port(PortPart { span, ..port }),
        other => other,
    }
}
