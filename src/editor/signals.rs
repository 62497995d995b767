//! Paths of signals at a place of a text: what they can begin with, what they lead to.

use legwork_block::{BusType, Type};
use legwork_diagram::KnownPart;
use legwork_study::{Survey, manual};

use crate::grammar::{Expect, Surroundings};
use crate::tree::{Item, Tree};
use crate::vocabulary::Vocabulary;

/// What can be seen from a place.
pub(crate) struct Scope<'t> {
    /// Levels of names, the innermost first.
    levels: Vec<Level<'t>>,
    text: &'t str,
    words: &'t Vocabulary,
    survey: Option<&'t Survey>,
}

/// The blocks of one level.
struct Level<'t> {
    /// In front of their names in whole paths, without keys of copies: `foot.`.
    prefix: String,
    blocks: Vec<&'t Item>,
    /// The declared inputs, `^u` inside.
    inputs: &'t [Item],
}

/// A port, or part of one.
#[derive(Debug, Clone)]
pub(crate) struct Port {
    pub(crate) name: String,
    /// Its type as text; empty if it is not known.
    pub(crate) ty: String,
    pub(crate) unit: Option<String>,
    pub(crate) frame: Option<String>,
    pub(crate) doc: String,
    known: Option<Type>,
}

impl Port {
    /// `tau: Vector(12) [N*m]`.
    pub(crate) fn head(&self) -> String {
        [self.name.as_str(), &self.tail()].concat()
    }

    /// `: Vector(12) [N*m]`.
    pub(crate) fn tail(&self) -> String {
        let ty = if self.ty.is_empty() { String::new() } else { format!(": {}", self.ty) };
        let unit = self.unit.as_deref().filter(|unit| *unit != "1");
        let unit = unit.map_or(String::new(), |unit| format!(" [{unit}]"));
        let frame = self.frame.as_ref().map_or(String::new(), |frame| format!(" in {frame}"));
        format!("{ty}{unit}{frame}")
    }

    fn of_manual(port: &manual::Port) -> Self {
        Self {
            name: port.name.clone(),
            ty: port.ty.clone(),
            unit: port.unit.clone(),
            frame: port.frame.clone(),
            doc: port.doc.clone(),
            known: None,
        }
    }

    fn of_known(port: &legwork_diagram::KnownPort) -> Self {
        let is_open = matches!(port.ty, Type::Var(_));
        Self {
            name: port.name.clone(),
            ty: if is_open { String::new() } else { port.type_text() },
            unit: port.unit.clone(),
            frame: port.frame.clone(),
            doc: port.doc.clone(),
            known: (!is_open).then(|| port.ty.clone()),
        }
    }
}

impl<'t> Scope<'t> {
    /// What can be seen where the surroundings are.
    pub(crate) fn new(
        around: &Surroundings<'t>,
        tree: &'t Tree,
        text: &'t str,
        words: &'t Vocabulary,
        survey: Option<&'t Survey>,
    ) -> Self {
        let mut levels: Vec<Level<'t>> = Vec::new();
        let mut prefix = String::new();
        if around.items.is_empty() {
            levels.extend(tree.items.first().map(|root| Level::of(root, "", text)));
        }
        for (index, (item, expect)) in around.items.iter().enumerate() {
            let next = around.items.get(index + 1).and_then(|(next, _)| next.name());
            let is_inside =
                next.is_some_and(|name| ["blocks", "body", "out", "collect"].contains(&name));
            match expect {
                Expect::File => levels.insert(0, Level::of(item, "", text)),
                Expect::Block if is_inside => {
                    let kind = item.kind(text).unwrap_or_default();
                    if kind == "Group" {
                        continue;
                    }
                    if kind != "ForEach" {
                        levels.clear();
                    }
                    prefix = format!("{prefix}{}.", item.name().unwrap_or_default());
                    levels.insert(0, Level::of(item, &prefix, text));
                }
                _ => {}
            }
        }
        Self { levels, text, words, survey }
    }

    /// The names that a path can begin with, each with what it is.
    pub(crate) fn names(&self) -> Vec<(String, String)> {
        let mut names: Vec<(String, String)> = Vec::new();
        for level in &self.levels {
            let blocks = level.blocks.iter().filter_map(|item| {
                let kind = item.kind(self.text).unwrap_or_default();
                Some((item.name()?.to_owned(), kind.to_owned()))
            });
            let inputs = level.inputs.iter().filter_map(|item| {
                let ty = item.text(self.text).unwrap_or("an input");
                Some((format!("^{}", item.name()?), ty.to_owned()))
            });
            for (name, kind) in blocks.chain(inputs) {
                if names.iter().all(|(known, _)| *known != name) {
                    names.push((name, kind));
                }
            }
        }
        names
    }

    /// The block of this name.
    pub(crate) fn block(&self, name: &str) -> Option<&'t Item> {
        let blocks = self.levels.iter().flat_map(|level| &level.blocks);
        blocks.copied().find(|item| item.name() == Some(name))
    }

    /// The declared input of this name.
    pub(crate) fn input(&self, name: &str) -> Option<&'t Item> {
        self.levels.iter().flat_map(|level| level.inputs).find(|item| item.name() == Some(name))
    }

    fn parts<'s>(&'s self, path: &'s str) -> impl Iterator<Item = &'t KnownPart> + use<'s, 't> {
        let parts = self.survey.map_or(&[][..], |survey| &survey.parts);
        parts.iter().filter(move |part| same(&part.path, path))
    }

    /// What is known of the part that `path` names, as it is seen here.
    fn part(&self, path: &str) -> Option<&'t KnownPart> {
        self.levels.iter().find_map(|level| {
            let whole = format!("{}{path}", level.prefix);
            self.parts(&whole).next()
        })
    }

    /// The inputs of the block of this name.
    pub(crate) fn inputs_of(&self, name: &str) -> Vec<Port> {
        if let Some(part) = self.part(name)
            && !part.inputs.is_empty()
        {
            return part.inputs.iter().map(Port::of_known).collect();
        }
        let Some(block) = self.block(name) else { return Vec::new() };
        self.inputs_of_item(block)
    }

    /// The inputs of a block by its kind, or by the ports that it declares.
    pub(crate) fn inputs_of_item(&self, block: &Item) -> Vec<Port> {
        let kind = block.kind(self.text).unwrap_or_default();
        let ports = self.words.manual(kind).and_then(|manual| manual.ports.as_ref());
        match ports {
            Some(ports) => ports.inputs.iter().map(|one| Port::of_manual(&one.port)).collect(),
            None => self.declared(block, "in"),
        }
    }

    /// The outputs of the part that `path` names.
    fn outputs_of(&self, path: &str) -> Vec<Port> {
        if let Some(part) = self.part(path)
            && !part.outputs.is_empty()
        {
            return part.outputs.iter().map(Port::of_known).collect();
        }
        let Some(block) = self.block(path) else { return Vec::new() };
        let kind = block.kind(self.text).unwrap_or_default();
        let ports = self.words.manual(kind).and_then(|manual| manual.ports.as_ref());
        if let Some(ports) = ports {
            return ports.outputs.iter().map(|one| Port::of_manual(&one.port)).collect();
        }
        let mut found = self.declared(block, "out");
        for section in ["out", "collect"] {
            for item in block.get(section).map_or(&[][..], Item::items) {
                let Some(name) = item.name() else { continue };
                if found.iter().all(|port| port.name != name) {
                    found.push(Port::named(name, ""));
                }
            }
        }
        found
    }

    /// The ports that a part declares.
    fn declared(&self, part: &Item, direction: &str) -> Vec<Port> {
        let ports = part.get("ports").and_then(|ports| ports.get(direction));
        let port = |item: &Item| Some(Port::named(item.name()?, item.text(self.text)?));
        ports.map_or(&[][..], Item::items).iter().filter_map(port).collect()
    }

    /// What may stand behind the dot of `base`; all names if it is empty.
    pub(crate) fn behind(&self, base: &str) -> Vec<Port> {
        let steps = split(base);
        if steps.is_empty() {
            return self.names().iter().map(|(name, kind)| Port::named(name, kind)).collect();
        }
        let mut found = Vec::new();
        if base.starts_with('^') {
            let input = self.outputs_of(steps[0]).into_iter().next();
            return input.map_or_else(Vec::new, |port| members_behind(&port, &steps[1..]));
        }
        for count in (1..=steps.len()).rev() {
            let path = steps[..count].join(".");
            let outputs = self.outputs_of(&path);
            if count == steps.len() {
                found.extend(outputs);
                found.extend(self.children(&path));
            } else if let Some(port) = outputs.iter().find(|port| port.name == plain(steps[count]))
            {
                let port = indexed(port.clone(), steps[count]);
                found.extend(members_behind(&port, &steps[count + 1..]));
            }
            if !found.is_empty() {
                break;
            }
        }
        found
    }

    /// The parts inside of one.
    fn children(&self, path: &str) -> Vec<Port> {
        let Some(survey) = self.survey.filter(|_| path.contains('[')) else { return Vec::new() };
        let inside = format!("{path}.");
        let child = |part: &KnownPart| {
            let rest = self
                .levels
                .iter()
                .find_map(|level| part.path.strip_prefix(&format!("{}{inside}", level.prefix)))?;
            let is_own = !rest.contains(['.', '[', '^']);
            is_own.then(|| Port::named(rest, part.kind.unwrap_or_default()))
        };
        survey.parts.iter().filter_map(child).collect()
    }

    /// What a path leads to.
    pub(crate) fn follow(&self, path: &str) -> Option<Port> {
        let steps = split(path);
        let first = steps.first()?;
        let name = plain(first);
        if let Some(name) = name.strip_prefix('^') {
            let port = self.outputs_of(first).into_iter().next().or_else(|| {
                let item = self.input(name)?;
                Some(Port::named(name, item.text(self.text).unwrap_or_default()))
            });
            return walk(port?, &steps[1..]);
        }
        for count in (1..steps.len()).rev() {
            let outputs = self.outputs_of(&steps[..count].join("."));
            if let Some(port) = outputs.into_iter().find(|port| port.name == plain(steps[count])) {
                return walk(indexed(port, steps[count]), &steps[count + 1..]);
            }
        }
        None
    }

    /// The outputs of the block of this name.
    pub(crate) fn outputs(&self, name: &str) -> Vec<Port> {
        self.outputs_of(name)
    }
}

impl Port {
    fn named(name: &str, ty: &str) -> Self {
        let (unit, frame, doc, known) = (None, None, String::new(), None);
        Self { name: name.to_owned(), ty: ty.to_owned(), unit, frame, doc, known }
    }
}

impl<'t> Level<'t> {
    fn of(part: &'t Item, prefix: &str, text: &str) -> Self {
        let mut blocks = Vec::new();
        for section in ["blocks", "body"] {
            let items = part.get(section).map_or(&[][..], Item::items);
            add_blocks(items, text, &mut blocks);
        }
        let inputs = part.get("ports").and_then(|ports| ports.get("in"));
        Self { prefix: prefix.to_owned(), blocks, inputs: inputs.map_or(&[], Item::items) }
    }
}

/// The blocks of a map; those of a group stand beside it.
fn add_blocks<'t>(items: &'t [Item], text: &str, blocks: &mut Vec<&'t Item>) {
    for item in items {
        if item.kind(text) == Some("Group") {
            add_blocks(item.get("blocks").map_or(&[], Item::items), text, blocks);
        } else {
            blocks.push(item);
        }
    }
}

/// Whether a whole path is one that may be without keys of copies.
fn same(whole: &str, path: &str) -> bool {
    whole == path || without_keys(whole) == without_keys(path)
}

fn without_keys(path: &str) -> String {
    let mut depth = 0_usize;
    let keep = |c: &char| {
        match c {
            '[' => depth += 1,
            ']' => {
                depth = depth.saturating_sub(1);
                return false;
            }
            _ => {}
        }
        depth == 0
    };
    path.chars().filter(keep).collect()
}

/// The steps of a path between its dots, those inside of brackets left alone.
pub(crate) fn split(path: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let is_dot = |c: char| {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == '.' && depth == 0
    };
    if path.is_empty() { Vec::new() } else { path.split(is_dot).collect() }
}

/// A step without an index.
fn plain(step: &str) -> &str {
    step.split('[').next().unwrap_or(step)
}

/// A port behind the indices of a step.
fn indexed(port: Port, step: &str) -> Port {
    let indices = &step[plain(step).len()..];
    let Some(inside) = indices.strip_prefix('[').and_then(|rest| rest.split(']').next()) else {
        return port;
    };
    let element = match &port.known {
        Some(Type::Array(of, _)) => Some((**of).clone()),
        Some(Type::Vector(_) | Type::Matrix(..)) if !inside.contains("..") => Some(Type::Real),
        _ => None,
    };
    let ty = element.as_ref().map_or(String::new(), ToString::to_string);
    Port { ty, known: element, ..port }
}

/// The names for parts of a bus.
fn members(bus: &BusType) -> Vec<Port> {
    let fields = bus.fields.iter().map(|field| {
        let known = legwork_diagram::KnownPort {
            name: field.name.clone(),
            ty: field.ty.clone(),
            unit: field.unit.clone(),
            frame: field.frame.clone(),
            doc: field.doc.clone(),
        };
        Port::of_known(&known)
    });
    let views = bus.views.iter().map(|view| {
        let known = legwork_diagram::KnownPort {
            name: view.name.clone(),
            ty: Type::Vector(view.len.clone()),
            unit: view.unit.clone(),
            frame: view.frame.clone(),
            doc: String::new(),
        };
        Port::of_known(&known)
    });
    fields.chain(views).collect()
}

fn members_of(port: &Port) -> Vec<Port> {
    match &port.known {
        Some(Type::Bus(bus)) => members(bus),
        _ => Vec::new(),
    }
}

/// What may stand behind `steps` behind a port.
fn members_behind(port: &Port, steps: &[&str]) -> Vec<Port> {
    let (mut at, mut pending) = (port.clone(), String::new());
    for step in steps {
        let name = format!("{pending}{}", plain(step));
        match members_of(&at).into_iter().find(|member| member.name == name) {
            Some(member) => (at, pending) = (indexed(member, step), String::new()),
            None => pending = format!("{name}."),
        }
    }
    let rest = |member: Port| {
        let name = member.name.strip_prefix(&pending)?.to_owned();
        Some(Port { name, ..member })
    };
    members_of(&at).into_iter().filter_map(rest).collect()
}

/// What `steps` behind a port lead to.
fn walk(port: Port, steps: &[&str]) -> Option<Port> {
    let (mut at, mut pending) = (port, String::new());
    for step in steps {
        let name = format!("{pending}{}", plain(step));
        match members_of(&at).into_iter().find(|member| member.name == name) {
            Some(member) => (at, pending) = (indexed(member, step), String::new()),
            None => pending = format!("{name}."),
        }
    }
    pending.is_empty().then_some(at)
}
