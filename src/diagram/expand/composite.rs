//! Masks, subsystems, for-each and holes: the blocks that hold blocks.

use std::collections::BTreeMap;
use std::rc::Rc;

use indexmap::IndexMap;
use legwork_block::{
    Arguments, Diagnostic, Name, Named, Node, NodeField, NodeKind, Place, Scope, Text, Value,
};

use super::tree::{Collected, Env, FrameId, Hole, Item, OuterInputs};
use super::{
    Expander, PendingAssertion, PendingCollector, RESERVED, literal, unknown_field, wrong_type,
};
use crate::document;

/// A declared interface: name and type of each port, as written.
struct Interface {
    inputs: IndexMap<String, Node>,
    outputs: IndexMap<String, Node>,
}

impl Expander<'_> {
    /// `Subsystem(ports: …, blocks: …, out: …, in: …)`: a mask written in place. It sees the
    /// surroundings' names in expressions, and signals only through its ports.
    pub(super) fn expand_subsystem(
        &mut self,
        frame: FrameId,
        path: &str,
        node: &Node,
        env: &Env,
    ) -> Item {
        self.known_fields(node, &["ports", "blocks", "out", "in", "doc"]);
        self.expand_inside(frame, path, node, node, env)
    }

    /// `Mask(file: "…", parameter: …, hole: …, in: …)`.
    pub(super) fn expand_mask(
        &mut self,
        frame: FrameId,
        path: &str,
        node: &Node,
        env: &Env,
    ) -> Item {
        let Some(file) = node.field("file").cloned() else {
            let diagnostic = match node.kind_name() {
                Some(name) => {
                    Diagnostic::error("missing-field", name.span, "the mask's `file` is missing")
                }
                None => wrong_type(node, "a mask"),
            };
            self.report(diagnostic.hint("write Mask(file: \"std:masks/gauss_contact.ron\", …)"));
            return Item::Broken;
        };
        let Some(name) = file.text().map(str::to_owned) else {
            self.report(wrong_type(&file, "the path of a mask's file as text"));
            return Item::Broken;
        };
        if env.around.masks.contains(&name) {
            self.report(Diagnostic::error(
                "mask-cycle",
                file.span,
                format!("a mask may not hold itself: {} ► {name}", env.around.masks.join(" ► ")),
            ));
            return Item::Broken;
        }
        let Some(mask) = self.mask_file(&name, &file) else { return Item::Broken };
        let Some(mut inner) = self.mask_env(node, &mask, env) else { return Item::Broken };
        let mut around = (*env.around).clone();
        around.masks.push(name);
        inner.around = Rc::new(around);
        self.expand_inside(frame, path, node, &mask, &inner)
    }

    /// The parsed file of a mask, once per file.
    fn mask_file(&mut self, name: &str, at: &Node) -> Option<Rc<Node>> {
        if let Some(known) = self.masks.get(name) {
            return known.clone();
        }
        let parsed = self.parse_mask(name, at);
        self.masks.insert(name.to_owned(), parsed.clone());
        parsed
    }

    fn parse_mask(&mut self, name: &str, at: &Node) -> Option<Rc<Node>> {
        let (file, bytes) = match self.loader.source(name) {
            Ok(found) => found,
            Err(message) => {
                self.report(Diagnostic::error("missing-file", at.span, message));
                return None;
            }
        };
        let mask = match document::parse(file, &bytes) {
            Ok(mask) => mask,
            Err(diagnostic) => {
                self.report(diagnostic);
                return None;
            }
        };
        if mask.kind_name().is_none_or(|kind| kind.text != "Mask") {
            self.report(wrong_type(&mask, "Mask(params: …, ports: …, blocks: …, out: …)"));
            return None;
        }
        self.known_fields(&mask, &["format", "doc", "params", "holes", "ports", "blocks", "out"]);
        self.format_version(&mask);
        Some(Rc::new(mask))
    }

    /// What names mean inside a mask: its parameters, nothing else.
    fn mask_env(&mut self, instance: &Node, mask: &Node, env: &Env) -> Option<Env> {
        let params = mask.field("params").and_then(Node::map).unwrap_or(&[]);
        let holes = mask.field("holes").and_then(Node::map).unwrap_or(&[]);
        let names: Vec<&str> = params.iter().chain(holes).filter_map(|(k, _)| k.text()).collect();
        let mut good = true;
        for field in instance.fields() {
            let name = field.name.text.as_str();
            if !names.contains(&name) && !["file", "in", "doc"].contains(&name) {
                self.report(unknown_field(&field.name, &names));
                good = false;
            }
        }
        let mut values: IndexMap<String, Value> = IndexMap::new();
        for (key, declaration) in params {
            let Some(name) = key.text() else { continue };
            let inner = Env::of_names(Rc::new(values.clone()));
            let given = instance.field(name);
            let value = match given.or_else(|| declaration.field("default")) {
                Some(node) => {
                    let scope: &dyn Scope = if given.is_some() { env } else { &inner };
                    self.parameter_value(name, declaration, node, scope)
                }
                None => {
                    let span = instance.kind_name().map_or(instance.span, |kind| kind.span);
                    self.report(
                        Diagnostic::error(
                            "missing-field",
                            span,
                            format!("parameter `{name}` of the mask is missing"),
                        )
                        .also(declaration.span, "declared here"),
                    );
                    None
                }
            };
            match value {
                Some(value) => {
                    values.insert(name.to_owned(), value);
                }
                None => good = false,
            }
        }
        let names = Rc::new(values);
        let mut filled = BTreeMap::new();
        for (key, interface) in holes {
            let Some(name) = key.text() else { continue };
            match instance.field(name) {
                Some(choice) => {
                    filled.insert(
                        name.to_owned(),
                        Hole {
                            choice: choice.clone(),
                            env: env.clone(),
                            interface: Some(interface.clone()),
                            interface_names: Rc::clone(&names),
                        },
                    );
                }
                None => {
                    let span = instance.kind_name().map_or(instance.span, |kind| kind.span);
                    self.report(
                        Diagnostic::error(
                            "missing-field",
                            span,
                            format!("hole `{name}` of the mask is not filled"),
                        )
                        .also(interface.span, "declared here")
                        .hint(format!("fill it with a block: {name}: Use(\"…\")")),
                    );
                    good = false;
                }
            }
        }
        good.then(|| Env { holes: Rc::new(filled), ..Env::of_names(names) })
    }

    /// A parameter of a mask, held against its declaration: kind, bounds.
    pub(super) fn parameter_value(
        &mut self,
        name: &str,
        declaration: &Node,
        node: &Node,
        scope: &dyn Scope,
    ) -> Option<Value> {
        let value = self.value(node, scope)?;
        let kind = declaration.kind_name().map_or("", |kind| kind.text.as_str());
        let value = match (kind, value) {
            ("Robot", Value::Text(robot)) => match self.robot_facts(&robot) {
                Some(facts) => facts,
                None => {
                    let names: Vec<String> = self.robots.0.keys().cloned().collect();
                    let message = format!("expected the name of a robot, found `{robot}`");
                    self.report(
                        Diagnostic::error("unknown-robot", node.span, message)
                            .suggest(&robot, names.iter().map(String::as_str)),
                    );
                    return None;
                }
            },
            (_, value) => value,
        };
        let fits = match kind {
            "Robot" => matches!(&value, Value::Record(facts) if facts.contains_key("name")),
            "Real" => matches!(value, Value::Real { .. }),
            "Int" => matches!(value, Value::Real { value, .. } if value.fract() == 0.0),
            "Bool" => matches!(value, Value::Bool(_)),
            "Text" | "Name" => matches!(value, Value::Text(_)),
            "List" => matches!(value, Value::List(_)),
            "Any" | "Param" | "" => true,
            other => {
                let kinds = ["Robot", "Real", "Int", "Bool", "Text", "Name", "List", "Any"];
                self.report(
                    Diagnostic::error(
                        "unknown-parameter-kind",
                        declaration.span,
                        format!("expected one of `{}`, found `{other}`", kinds.join("`, `")),
                    )
                    .suggest(other, kinds),
                );
                return None;
            }
        };
        if !fits {
            self.report(Diagnostic::error(
                "wrong-type",
                node.span,
                format!("parameter `{name}` expected {kind}, found {}", value.describe()),
            ));
            return None;
        }
        self.in_bounds(name, declaration, node, &value, scope).then_some(value)
    }

    /// `min:` and `max:` of a declaration; lists are held element by element.
    pub(super) fn in_bounds(
        &mut self,
        name: &str,
        declaration: &Node,
        node: &Node,
        value: &Value,
        scope: &dyn Scope,
    ) -> bool {
        for (bound, above) in [("min", false), ("max", true)] {
            let Some(bound_node) = declaration.field(bound) else { continue };
            let limit = match self.value(bound_node, scope) {
                Some(Value::Real { value, .. }) => value,
                Some(other) => {
                    let message = format!("expected a number, found {}", other.describe());
                    self.report(Diagnostic::error("wrong-type", bound_node.span, message));
                    return false;
                }
                None => return false,
            };
            let numbers: Vec<f64> = match value {
                Value::Real { value, .. } => vec![*value],
                Value::List(items) => items
                    .iter()
                    .filter_map(|item| match item {
                        Value::Real { value, .. } => Some(*value),
                        _ => None,
                    })
                    .collect(),
                _ => Vec::new(),
            };
            let broken = |v: &f64| if above { *v > limit } else { *v < limit };
            if let Some(bad) = numbers.into_iter().find(broken) {
                let relation = if above { "at most" } else { "at least" };
                self.report(
                    Diagnostic::error(
                        "out-of-range",
                        node.span,
                        format!("parameter `{name}` expected {relation} {limit}, found {bad}"),
                    )
                    .also(bound_node.span, "the bound"),
                );
                return false;
            }
        }
        true
    }

    /// The inside of a mask or subsystem: `definition` holds `ports`, `blocks`, `out`.
    fn expand_inside(
        &mut self,
        frame: FrameId,
        path: &str,
        instance: &Node,
        definition: &Node,
        inner: &Env,
    ) -> Item {
        let sources = self.input_nodes(instance.field("in"));
        let interface = self.interface(definition.field("ports"));
        let at = instance.kind_name().map_or(instance.span, |kind| kind.span);
        let names: Vec<&str> = interface.inputs.keys().map(String::as_str).collect();
        for (name, (node, _)) in &sources {
            if !interface.inputs.contains_key(name) {
                self.report(
                    Diagnostic::error(
                        "unknown-port",
                        node.span,
                        format!("`{path}` declares no input `{name}`"),
                    )
                    .suggest(name, names.iter().copied())
                    .hint(format!("it has `{}`", names.join("`, `"))),
                );
            }
        }
        for (name, ty) in &interface.inputs {
            match sources.get(name) {
                Some((node, span)) => {
                    let what = format!("input `{name}` of `{path}`");
                    self.assert_type(node, frame, ty, inner, *span, what, "wrong-type");
                }
                None => self.report(
                    Diagnostic::error(
                        "missing-input",
                        at,
                        format!("{path}: input `{name}` not connected"),
                    )
                    .also(ty.span, "declared here"),
                ),
            }
        }
        let declared = interface.inputs.keys().cloned().collect();
        let outer = OuterInputs { frame, sources, declared };
        let inside = self.new_frame(format!("{path}."), None, Some(outer));
        match definition.field("blocks") {
            Some(blocks) => self.expand_blocks(inside, blocks, inner),
            None => self.report(Diagnostic::error(
                "missing-field",
                definition.kind_name().map_or(definition.span, |kind| kind.span),
                "`blocks` is missing",
            )),
        }
        let outs = self.outs(definition, &interface, inside, path, inner);
        Item::Composite { inside, outs }
    }

    /// The `out:` of a mask: a path for every declared output and no other.
    fn outs(
        &mut self,
        definition: &Node,
        interface: &Interface,
        inside: FrameId,
        path: &str,
        inner: &Env,
    ) -> BTreeMap<String, Node> {
        let mut outs = BTreeMap::new();
        let entries = definition.field("out").and_then(Node::map).unwrap_or(&[]);
        let names: Vec<&str> = interface.outputs.keys().map(String::as_str).collect();
        for (key, node) in entries {
            let Some(name) = key.text() else { continue };
            let Some(ty) = interface.outputs.get(name) else {
                self.report(
                    Diagnostic::error(
                        "unknown-port",
                        key.span,
                        format!("`ports` declares no output `{name}`"),
                    )
                    .suggest(name, names.iter().copied()),
                );
                continue;
            };
            let what = format!("output `{name}` of `{path}`");
            self.assert_type(node, inside, ty, inner, node.span, what, "wrong-type");
            outs.insert(name.to_owned(), node.clone());
        }
        for (name, ty) in &interface.outputs {
            if !outs.contains_key(name) {
                self.report(
                    Diagnostic::error(
                        "missing-output",
                        ty.span,
                        format!("output `{name}` is declared, but `out` does not say where it comes from"),
                    )
                    .hint(format!("write out: {{ \"{name}\": \"block.port\" }}")),
                );
            }
        }
        outs
    }

    /// Holds a source against a declared type, once everything is expanded.
    #[allow(clippy::too_many_arguments, reason = "one call per declared port, all of it context")]
    fn assert_type(
        &mut self,
        path: &Node,
        frame: FrameId,
        ty: &Node,
        env: &Env,
        span: legwork_block::Span,
        what: String,
        code: &'static str,
    ) {
        let NodeKind::Text(text) = &ty.kind else {
            self.report(wrong_type(ty, "a type as text, such as \"Vector(3)\""));
            return;
        };
        let mut var_count = 0;
        match self.types.parse(&text.value, &text.place, env, &self.robots, &mut var_count) {
            Ok(ty) => self.assertions.push(PendingAssertion {
                path: path.clone(),
                frame,
                ty,
                var_count,
                span,
                what,
                code,
            }),
            Err(diagnostic) => self.report(diagnostic),
        }
    }

    /// `ports: (in: {…}, out: {…})`.
    fn interface(&mut self, ports: Option<&Node>) -> Interface {
        let mut interface = Interface { inputs: IndexMap::new(), outputs: IndexMap::new() };
        let Some(ports) = ports else { return interface };
        for field in ports.fields() {
            let into = match field.name.text.as_str() {
                "in" => &mut interface.inputs,
                "out" => &mut interface.outputs,
                _ => {
                    self.report(unknown_field(&field.name, &["in", "out"]));
                    continue;
                }
            };
            for (key, ty) in field.value.map().unwrap_or(&[]) {
                if let Some(name) = key.text() {
                    into.insert(name.to_owned(), ty.clone());
                }
            }
        }
        interface
    }

    /// `ForEach(over: { "f": "=go.feet" }, body: {…}, collect: {…})`.
    pub(super) fn expand_for_each(
        &mut self,
        frame: FrameId,
        path: &str,
        node: &Node,
        env: &Env,
    ) -> Item {
        self.known_fields(node, &["over", "body", "collect", "doc"]);
        let at = node.kind_name().map_or(node.span, |kind| kind.span);
        let (Some(over), Some(body)) = (node.field("over"), node.field("body")) else {
            self.report(
                Diagnostic::error("missing-field", at, "a ForEach needs `over` and `body`")
                    .hint("write ForEach(over: { \"f\": \"=go.feet\" }, body: { … })"),
            );
            return Item::Broken;
        };
        let Some(entries) = over.map().filter(|entries| !entries.is_empty()) else {
            self.report(wrong_type(over, "names and their lists, such as { \"f\": \"=go.feet\" }"));
            return Item::Broken;
        };
        let mut lists: Vec<(String, Vec<Value>)> = Vec::new();
        for (key, list) in entries {
            let Some(name) = key.text() else {
                self.report(wrong_type(key, "a name as text"));
                return Item::Broken;
            };
            match self.value(list, env) {
                Some(Value::List(items)) => lists.push((name.to_owned(), items)),
                Some(other) => {
                    let message = format!("expected a list, found {}", other.describe());
                    self.report(Diagnostic::error("wrong-type", list.span, message));
                    return Item::Broken;
                }
                None => return Item::Broken,
            }
        }
        let count = lists[0].1.len();
        if let Some((name, list)) = lists.iter().find(|(_, list)| list.len() != count) {
            self.report(Diagnostic::error(
                "wrong-shape",
                over.span,
                format!("`{name}` has {} items, `{}` has {count}", list.len(), lists[0].0),
            ));
            return Item::Broken;
        }
        // Copies are called by the first list if it names them all, else by their position.
        let whole =
            |v: &Value| matches!(v, Value::Real { value, unit: None } if value.fract() == 0.0);
        let whole = lists[0].1.iter().all(whole);
        let texts = lists[0].1.iter().all(|value| matches!(value, Value::Text(_)));
        let mut copies = IndexMap::new();
        for i in 0..count {
            // A copy counts even if its body is empty.
            self.unfolded += 1;
            if self.too_large(at) {
                return Item::Broken;
            }
            let key = match &lists[0].1[i] {
                Value::Text(text) if texts => text.clone(),
                Value::Real { value, .. } if whole => format!("{value}"),
                _ => i.to_string(),
            };
            let inner = env.with(lists.iter().map(|(name, list)| (name.clone(), list[i].clone())));
            let inside = self.new_frame(format!("{path}[{key}]."), Some(frame), None);
            if copies.insert(key.clone(), inside).is_some() {
                let message =
                    format!("the copies of a ForEach need different keys, found `{key}` twice");
                self.report(Diagnostic::error("duplicate-key", over.span, message));
                return Item::Broken;
            }
            self.expand_blocks(inside, body, &inner);
        }
        let collected = self.collect(path, node.field("collect"), &copies);
        Item::ForEach { copies, collected }
    }

    /// `collect: { "all": Array("a.b"), "J": Stack("a.c"), "v": Concat("a.d") }`.
    fn collect(
        &mut self,
        path: &str,
        node: Option<&Node>,
        copies: &IndexMap<String, FrameId>,
    ) -> BTreeMap<String, Collected> {
        let mut collected = BTreeMap::new();
        let Some(node) = node else { return collected };
        let Some(entries) = node.map() else {
            self.report(wrong_type(node, "a map such as { \"all\": Array(\"block.port\") }"));
            return collected;
        };
        for (key, how) in entries {
            let Some(name) = key.text() else { continue };
            let argument = match &how.kind {
                NodeKind::Named(Named { arguments: Arguments::Positional(args), .. })
                    if args.len() == 1 =>
                {
                    args[0].clone()
                }
                _ => {
                    self.report(wrong_type(how, "Array(\"…\"), Stack(\"…\") or Concat(\"…\")"));
                    continue;
                }
            };
            let kind = how.kind_name().cloned();
            let stack = match kind.as_ref().map(|kind| kind.text.as_str()) {
                Some("Array") => {
                    collected.insert(name.to_owned(), Collected::Array(argument));
                    continue;
                }
                Some("Stack") => true,
                Some("Concat") => false,
                _ => {
                    let found = kind.map_or_else(String::new, |kind| kind.text);
                    self.report(
                        Diagnostic::error(
                            "unknown-collector",
                            how.span,
                            format!("expected Array, Stack or Concat, found `{found}`"),
                        )
                        .suggest(&found, ["Array", "Stack", "Concat"]),
                    );
                    continue;
                }
            };
            let block = format!("{path}.{name}");
            self.collectors.push(PendingCollector {
                path: block.clone(),
                stack,
                node: argument,
                frames: copies.values().copied().collect(),
            });
            collected.insert(name.to_owned(), Collected::Block(block));
        }
        collected
    }

    /// `Use("hole")`, `Use(of: "hole", in: {…}, parameter: …)`.
    pub(super) fn expand_use(
        &mut self,
        frame: FrameId,
        path: &str,
        node: &Node,
        env: &Env,
    ) -> Item {
        let name_node = match &node.kind {
            NodeKind::Named(Named { arguments: Arguments::Positional(args), .. })
                if args.len() == 1 =>
            {
                Some(args[0].clone())
            }
            _ => node.field("of").cloned(),
        };
        let Some(name_node) = name_node else {
            let at = node.kind_name().map_or(node.span, |kind| kind.span);
            self.report(
                Diagnostic::error("missing-field", at, "`of` is missing: which hole or variant?")
                    .hint("write Use(of: \"qp\", in: { … })"),
            );
            return Item::Broken;
        };
        let Some(name) = name_node.text().map(str::to_owned) else {
            self.report(wrong_type(&name_node, "the name of a hole or variant as text"));
            return Item::Broken;
        };
        let Some(hole) = self.find_hole(&name, &name_node, env) else { return Item::Broken };
        let merged = match self.merge(&hole, node, env) {
            Ok(merged) => merged,
            Err(diagnostic) => {
                self.report(*diagnostic);
                return Item::Broken;
            }
        };
        // `in:` of the merged block is read where the Use stands; its parameters are literal, and a
        // composite's own text is read where the choice stands.
        let choice = self.expand_block(frame, path, &merged, &hole.env);
        let interface = self.interface(hole.interface.as_ref());
        let interface_env = Env::of_names(Rc::clone(&hole.interface_names));
        let sources = self.input_nodes(node.field("in"));
        for (input, ty) in &interface.inputs {
            match sources.get(input) {
                Some((source, span)) => {
                    let what = format!("input `{input}` of `{name}`");
                    self.assert_type(
                        source,
                        frame,
                        ty,
                        &interface_env,
                        *span,
                        what,
                        "variant-interface",
                    );
                }
                None => self.report(
                    Diagnostic::error(
                        "missing-input",
                        node.kind_name().map_or(node.span, |kind| kind.span),
                        format!("{path}: input `{input}` of `{name}` not connected"),
                    )
                    .also(ty.span, "declared here"),
                ),
            }
        }
        for (output, ty) in &interface.outputs {
            let text = format!("{}.{output}", path_tail(path));
            let place = Place::from(hole.choice.span);
            let source =
                Node { span: hole.choice.span, kind: NodeKind::Text(Text { value: text, place }) };
            let what = format!("output `{output}` that the interface of `{name}` declares");
            self.assert_type(
                &source,
                frame,
                ty,
                &interface_env,
                hole.choice.span,
                what,
                "variant-interface",
            );
        }
        let outs = interface.outputs.keys().cloned().collect();
        Item::Hole { choice: Box::new(choice), outs, name }
    }

    fn find_hole(&mut self, name: &str, node: &Node, env: &Env) -> Option<Hole> {
        if let Some(hole) = env.holes.get(name) {
            return Some(hole.clone());
        }
        if env.root
            && let Some(variant) = self.variants.get(name)
        {
            let mut around = (*env.around).clone();
            if around.variants.iter().any(|open| open == name) {
                let chain = around.variants.join(" ► ");
                self.report(Diagnostic::error(
                    "variant-cycle",
                    node.span,
                    format!("a choice may not use its own variant: {chain} ► {name}"),
                ));
                return None;
            }
            around.variants.push(name.to_owned());
            return Some(Hole {
                choice: variant.choice.clone(),
                env: Env { around: Rc::new(around), ..env.clone() },
                interface: variant.ports.clone(),
                interface_names: Rc::clone(&env.names),
            });
        }
        let known: Vec<String> = if env.root {
            self.variants.keys().cloned().collect()
        } else {
            env.holes.keys().cloned().collect()
        };
        let what = if env.root { "a variant" } else { "a hole of this mask" };
        let message = format!("expected the name of {what}, found `{name}`");
        let mut diagnostic = Diagnostic::error("unknown-variant", node.span, message)
            .suggest(name, known.iter().map(String::as_str));
        if !known.is_empty() {
            diagnostic = diagnostic.hint(format!("known are `{}`", known.join("`, `")));
        }
        self.report(diagnostic);
        None
    }

    /// The choice with the `in:` and further parameters of its user.
    fn merge(&self, hole: &Hole, user: &Node, env: &Env) -> Result<Node, Box<Diagnostic>> {
        let choice = &hole.choice;
        let NodeKind::Named(Named { name: Some(kind), arguments }) = &choice.kind else {
            return Err(Box::new(wrong_type(choice, "a block, a mask or a Use")));
        };
        let mut fields: Vec<NodeField> = match arguments {
            Arguments::Fields(fields) => fields.clone(),
            Arguments::None => Vec::new(),
            // `Use("other")` handed on: write it with a name.
            Arguments::Positional(args) if kind.text == "Use" && args.len() == 1 => {
                let name = Name { text: "of".into(), span: args[0].span };
                vec![NodeField { name, value: args[0].clone() }]
            }
            Arguments::Positional(_) => {
                return Err(Box::new(wrong_type(choice, "a block whose parameters have names")));
            }
        };
        for field in user.fields() {
            let name = field.name.text.as_str();
            if name == "of" || name == "doc" {
                continue;
            }
            let value =
                if name == "in" { field.value.clone() } else { literal(&field.value, env)? };
            fields.retain(|known| known.name.text != name);
            fields.push(NodeField { name: field.name.clone(), value });
        }
        Ok(Node {
            span: choice.span,
            kind: NodeKind::Named(Named {
                name: Some(Name { text: kind.text.clone(), span: kind.span }),
                arguments: Arguments::Fields(fields),
            }),
        })
    }

    /// Reports fields that a composite does not have.
    pub(super) fn known_fields(&mut self, node: &Node, known: &[&str]) {
        for field in node.fields() {
            let name = field.name.text.as_str();
            if known.contains(&name) {
                continue;
            }
            let mut diagnostic = unknown_field(&field.name, known);
            if name == "every" && RESERVED.contains(&name) {
                diagnostic = diagnostic.hint("state the period in the blocks inside");
            }
            self.report(diagnostic);
        }
    }
}

/// The last name of a path, as it is called in its own frame.
fn path_tail(path: &str) -> &str {
    path.rfind('.').map_or(path, |dot| &path[dot + 1..])
}
