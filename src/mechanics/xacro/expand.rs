//! Elements: properties, macros, conditionals, includes.

mod within;

use std::collections::BTreeMap;
use std::rc::Rc;

use super::evaluate::{Scope, spend};
use super::scopes::{Default, Macro, Node, Parameter, Property, Scopes, parameters};
use super::value::Value;
use super::write::write;
use super::{Expanded, XacroError, XacroOptions};
use crate::first_element::first_element;
use crate::urdf::xml::{self, Element};

/// Deepest nesting of expressions, macros, includes, properties and elements in one another, and
/// how much of it an element takes.
const DEEPEST: usize = 400;
const ELEMENT: usize = 4;

/// Most steps of an expansion, and steps for each byte of the input.
const LEAST_FUEL: usize = 1 << 18;
const FUEL_PER_BYTE: usize = 64;

const TOO_DEEP: &str = "macros, properties or expressions are nested too deep";

pub(super) struct Expander<'a> {
    options: &'a XacroOptions<'a>,
    files: Vec<String>,
    /// The file whose elements are being expanded.
    current: usize,
    /// Arguments of the file with their values.
    arguments: BTreeMap<String, String>,
    pub(super) scopes: Scopes,
    fuel: usize,
    depth: usize,
    /// Whether arguments are names: inside `$(eval …)`.
    pub(super) names_arguments: bool,
    /// True if a required file could not be read.
    pub(super) is_unread: bool,
}

pub(super) fn expand(text: &str, options: &XacroOptions<'_>) -> Result<Expanded, XacroError> {
    let mut expander = Expander {
        options,
        files: Vec::new(),
        current: 0,
        arguments: BTreeMap::new(),
        scopes: Scopes::new(),
        fuel: LEAST_FUEL,
        depth: 0,
        names_arguments: false,
        is_unread: false,
    };
    let root = expander.parse(options.file.to_owned(), text)?;
    let mut out = (*root).clone();
    out.children.clear();
    out.attributes.retain(|(key, _)| key != "xmlns:xacro");
    for (_, value) in &mut out.attributes {
        *value = expander.string(value, 0).map_err(|why| expander.error(&root, why))?;
    }
    expander.children(&root, 0, &mut out)?;
    let (mut text, mut origins) = (String::new(), Vec::new());
    write(&out, &mut text, &mut origins);
    let arguments = expander.arguments.into_keys().collect();
    Ok(Expanded { text, files: expander.files, arguments, origins })
}

/// A truth value, as conditions have it.
fn condition(value: &Value) -> Option<bool> {
    match value {
        Value::Text(text) => match &**text {
            "true" | "True" => Some(true),
            "false" | "False" => Some(false),
            _ => text.trim().parse::<i64>().ok().map(|value| value != 0),
        },
        value => Some(value.is_true()),
    }
}

impl<'a> Expander<'a> {
    pub(super) fn file(&self) -> &str {
        &self.files[self.current]
    }

    /// Folder of the current file.
    pub(super) fn folder(&self) -> &str {
        self.file().rsplit_once('/').map_or(".", |(folder, _)| folder)
    }

    /// What is given is known before it is declared.
    pub(super) fn argument(&self, name: &str) -> Option<&str> {
        let known = self.arguments.get(name).or_else(|| self.options.arguments.get(name));
        known.map(String::as_str)
    }

    fn error(&self, node: &Node, problem: String) -> XacroError {
        let (file, is_unread) = (self.files[node.file].clone(), self.is_unread);
        XacroError { file, line: node.line, problem, is_unread }
    }

    /// Does something a level deeper.
    pub(super) fn nested<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
        self.within(0).enter()?;
        let done = inner(self);
        self.within(0).leave();
        done
    }

    /// Reads a file's elements; its length allows for more steps.
    fn parse(&mut self, name: String, text: &str) -> Result<Rc<Node>, XacroError> {
        let elements = xml::parse(text).map_err(|error| XacroError {
            file: name.clone(),
            line: error.line().unwrap_or(1),
            problem: error.problem(),
            is_unread: false,
        })?;
        self.fuel = self.fuel.saturating_add(text.len().saturating_mul(FUEL_PER_BYTE));
        self.files.push(name);
        Ok(node(&elements, 0, self.files.len() - 1))
    }

    /// Expands what an element contains into `out`.
    fn children(&mut self, of: &Node, scope: usize, out: &mut Node) -> Result<(), XacroError> {
        self.depth += ELEMENT;
        if self.depth > DEEPEST {
            return Err(self.error(of, TOO_DEEP.to_owned()));
        }
        for child in &of.children {
            self.element(child, scope, out)?;
        }
        self.depth -= ELEMENT;
        Ok(())
    }

    fn element(&mut self, node: &Rc<Node>, scope: usize, out: &mut Node) -> Result<(), XacroError> {
        let current = std::mem::replace(&mut self.current, node.file);
        let text: usize = node.attributes.iter().map(|(key, value)| key.len() + value.len()).sum();
        let done = match spend(&mut self.within(scope), 1 + text / 8) {
            Err(why) => Err(self.error(node, why)),
            Ok(()) => match node.name.strip_prefix("xacro:") {
                None => self.plain(node, scope, out),
                Some(kind) => self.special(kind, node, scope, out),
            },
        };
        self.current = current;
        done
    }

    fn plain(&mut self, node: &Node, scope: usize, out: &mut Node) -> Result<(), XacroError> {
        let mut own = Node {
            name: node.name.clone(),
            attributes: Vec::with_capacity(node.attributes.len()),
            children: Vec::new(),
            file: node.file,
            line: node.line,
        };
        for (key, value) in &node.attributes {
            if key.starts_with("xacro:") || key == "xmlns:xacro" {
                continue;
            }
            let value = self.string(value, scope).map_err(|why| self.error(node, why))?;
            own.attributes.push((key.clone(), value));
        }
        self.children(node, scope, &mut own)?;
        out.children.push(Rc::new(own));
        Ok(())
    }

    /// An element of xacro itself.
    fn special(
        &mut self,
        kind: &str,
        node: &Rc<Node>,
        scope: usize,
        out: &mut Node,
    ) -> Result<(), XacroError> {
        let wrong = |expander: &Self, why: String| expander.error(node, why);
        match kind {
            "property" => self.property(node, scope).map_err(|why| wrong(self, why)),
            "arg" => self.declare_argument(node, scope).map_err(|why| wrong(self, why)),
            "macro" => self.declare_macro(node, scope).map_err(|why| wrong(self, why)),
            "if" | "unless" => {
                let value = required(node, "value").and_then(|value| self.text(value, scope));
                let value = value.map_err(|why| wrong(self, why))?;
                let Some(is_true) = condition(&value) else {
                    let found = value.to_text().unwrap_or_default();
                    return Err(wrong(self, format!("expected true or false, found `{found}`")));
                };
                if is_true == (kind == "if") {
                    self.children(node, scope, out)?;
                }
                Ok(())
            }
            "include" => self.include(node, scope, out),
            "insert_block" => {
                let name = required(node, "name").and_then(|name| self.string(name, scope));
                let name = name.map_err(|why| wrong(self, why))?;
                let Some((_, Property::Block(block, is_expanded))) = self.scopes.find(scope, &name)
                else {
                    return Err(wrong(self, format!("no block is named `{name}`")));
                };
                let (block, is_expanded) = (block.clone(), *is_expanded);
                spend(&mut self.within(scope), weight(&block)).map_err(|why| wrong(self, why))?;
                if is_expanded {
                    out.children.extend(block);
                    return Ok(());
                }
                let whole = Node { children: block, ..(**node).clone() };
                self.children(&whole, scope, out)
            }
            "element" => {
                let name = required(node, "xacro:name").and_then(|name| self.string(name, scope));
                let name = name.map_err(|why| wrong(self, why))?;
                let mut own = (**node).clone();
                own.attributes.retain(|(key, _)| key != "xacro:name");
                own.name = name;
                self.plain(&own, scope, out)
            }
            "attribute" => {
                let pair = required(node, "name").and_then(|name| self.string(name, scope));
                let value = required(node, "value").and_then(|value| self.string(value, scope));
                let pair = pair.and_then(|name| Ok((name, value?)));
                let (name, value) = pair.map_err(|why| wrong(self, why))?;
                out.attributes.retain(|(key, _)| *key != name);
                out.attributes.push((name, value));
                Ok(())
            }
            "call" => {
                let name = required(node, "macro").and_then(|name| self.string(name, scope));
                let name = name.map_err(|why| wrong(self, why))?;
                self.call(&name, node, scope, out)
            }
            name => self.call(name, node, scope, out),
        }
    }

    fn property(&mut self, node: &Node, scope: usize) -> Result<(), String> {
        let name = self.string(required(node, "name")?, scope)?;
        let flag = |expander: &mut Self, name: &str, default: &str| {
            let value = expander.text(node.attribute(name).unwrap_or(default), scope)?;
            condition(&value).ok_or_else(|| format!("{name}: expected true or false"))
        };
        if flag(self, "remove", "false")? {
            self.scopes.remove(scope, &name);
            return Ok(());
        }
        let is_lazy = flag(self, "lazy_eval", "true")?;
        let target = match node.attribute("scope") {
            Some("parent") => self.scopes.caller(scope),
            Some("global") => 0,
            // Any other word, such as `local`, means the scope itself.
            _ => scope,
        };
        let value = match (node.attribute("value"), node.attribute("default")) {
            (Some(value), _) => value,
            (None, Some(_)) if self.scopes.find(scope, &name).is_some() => return Ok(()),
            (None, Some(value)) => value,
            (None, None) => {
                let block = Property::Block(node.children.clone(), false);
                self.scopes.set(target, &name, block);
                return Ok(());
            }
        };
        let is_lazy = is_lazy && target == scope && value.contains('$');
        let property = match is_lazy {
            true => Property::Text(value.into()),
            false => Property::Value(self.literal(value, scope)?),
        };
        self.scopes.set(target, &name, property);
        Ok(())
    }

    /// The value of a text, in which numbers are numbers.
    fn literal(&mut self, text: &str, scope: usize) -> Result<Value, String> {
        Ok(match self.nested(|expander| expander.text(text, scope))? {
            Value::Text(text) => Value::literal(&text),
            value => value,
        })
    }

    fn declare_argument(&mut self, node: &Node, scope: usize) -> Result<(), String> {
        let name = self.string(required(node, "name")?, scope)?;
        if self.arguments.contains_key(&name) {
            return Ok(());
        }
        let given = self.options.arguments.get(&name).cloned();
        let value = match (given, node.attribute("default")) {
            (Some(value), _) => value,
            (None, Some(default)) => self.string(default, scope)?,
            (None, None) => return Err(format!("argument `{name}` has no default: state it")),
        };
        self.arguments.insert(name, value);
        Ok(())
    }

    fn declare_macro(&mut self, node: &Rc<Node>, scope: usize) -> Result<(), String> {
        let name = self.string(required(node, "name")?, scope)?;
        let name = name.strip_prefix("xacro:").unwrap_or(&name);
        let parameters = parameters(node.attribute("params").unwrap_or_default())?.into();
        let found = Macro { parameters, body: Rc::clone(node), scope };
        self.scopes.set_macro(scope, name, found);
        Ok(())
    }

    /// The macro of a name, which may begin with namespaces, and the scope of a call.
    fn find_macro(&self, name: &str, scope: usize) -> Option<(Macro, usize)> {
        let mut at = scope;
        let mut rest = name;
        while let Some((space, inner)) = rest.split_once('.') {
            let (_, Property::Value(Value::Names(names))) = self.scopes.find(at, space)? else {
                return None;
            };
            (at, rest) = (*names, inner);
        }
        let found = self.scopes.find_macro(at, rest)?.clone();
        let around = if at == scope { scope } else { found.scope };
        Some((found, around))
    }

    fn call(
        &mut self,
        name: &str,
        node: &Rc<Node>,
        scope: usize,
        out: &mut Node,
    ) -> Result<(), XacroError> {
        let Some((found, around)) = self.find_macro(name, scope) else {
            return Err(self.error(node, format!("no macro is named `{name}`")));
        };
        // Blocks are expanded where the call is.
        let mut inside = Node { children: Vec::new(), ..(**node).clone() };
        self.children(node, scope, &mut inside)?;
        let mut blocks = inside.children.into_iter();
        let own = self.scopes.open(Some(around));
        for parameter in found.parameters.iter() {
            let stated = node.attribute(&parameter.name);
            let property = self.bind(parameter, stated, &mut blocks, scope);
            match property {
                Ok(property) => self.scopes.set(own, &parameter.name, property),
                Err(why) => return Err(self.error(node, format!("macro `{name}`: {why}"))),
            }
        }
        let is_parameter = |key: &str| found.parameters.iter().any(|p| p.name == key);
        let is_call = node.name == "xacro:call";
        let other = node.attributes.iter().map(|(key, _)| key.as_str());
        if let Some(other) =
            other.filter(|key| !(is_call && *key == "macro")).find(|key| !is_parameter(key))
        {
            return Err(self.error(node, format!("macro `{name}` has no parameter `{other}`")));
        }
        if blocks.next().is_some() {
            return Err(self.error(node, format!("macro `{name}` has no block for this element")));
        }
        let current = std::mem::replace(&mut self.current, found.body.file);
        self.children(&found.body, own, out)?;
        self.current = current;
        self.scopes.close(own);
        Ok(())
    }

    /// What a parameter is in a call.
    fn bind(
        &mut self,
        parameter: &Parameter,
        stated: Option<&str>,
        blocks: &mut dyn Iterator<Item = Rc<Node>>,
        scope: usize,
    ) -> Result<Property, String> {
        let name = &parameter.name;
        if let Default::Block { contents } = parameter.default {
            let block = blocks.next().ok_or_else(|| format!("block `{name}` is missing"))?;
            let nodes = if contents { block.children.clone() } else { vec![block] };
            return Ok(Property::Block(nodes, true));
        }
        if let Some(stated) = stated {
            return Ok(Property::Value(self.literal(stated, scope)?));
        }
        match &parameter.default {
            Default::Text(text) => Ok(Property::Value(self.literal(text, scope)?)),
            Default::Outer(other) => match (self.name_at(scope, name)?, other) {
                (Some(value), _) => Ok(Property::Value(value)),
                (None, Some(text)) => Ok(Property::Value(self.literal(text, scope)?)),
                (None, None) => Err(format!("parameter `{name}` is missing, here and around")),
            },
            _ => Err(format!("parameter `{name}` is missing")),
        }
    }

    fn include(&mut self, node: &Node, scope: usize, out: &mut Node) -> Result<(), XacroError> {
        let named = required(node, "filename").and_then(|name| self.string(name, scope));
        let named = named.map_err(|why| self.error(node, why))?;
        let (name, text) = match (self.options.read)(&named, &self.files[node.file]) {
            Ok(found) => found,
            Err(_)
                if condition(&Value::text(node.attribute("optional").unwrap_or("false")))
                    == Some(true) =>
            {
                return Ok(());
            }
            Err(why) => {
                self.is_unread = true;
                return Err(self.error(node, why));
            }
        };
        let paid = spend(&mut self.within(scope), 1 + text.len());
        paid.map_err(|why| self.error(node, why))?;
        if first_element(&text).is_none() {
            // It may be any file, so that nothing of it is shown.
            return Err(self.error(node, format!("`{name}`: expected XML, found no element")));
        }
        let root = self.parse(name, &text)?;
        let scope = match node.attribute("ns") {
            None => scope,
            Some(space) => {
                let space = self.string(space, scope).map_err(|why| self.error(node, why))?;
                let names = self.scopes.open(Some(scope));
                self.scopes.make_namespace(names);
                self.scopes.set(scope, &space, Property::Value(Value::Names(names)));
                names
            }
        };
        let current = std::mem::replace(&mut self.current, root.file);
        self.children(&root, scope, out)?;
        self.current = current;
        Ok(())
    }

    /// The value of a name as seen from a scope.
    fn name_at(&mut self, scope: usize, name: &str) -> Result<Option<Value>, String> {
        let Some((at, found)) = self.scopes.find(scope, name) else { return Ok(None) };
        let found = found.clone();
        self.value_of(at, name, found).map(Some)
    }

    fn value_of(&mut self, at: usize, name: &str, found: Property) -> Result<Value, String> {
        match found {
            Property::Value(value) => Ok(value),
            Property::Open => Err(format!("property `{name}` depends on itself")),
            Property::Block(..) => Err(format!("`{name}` is a block: insert it by insert_block")),
            Property::Text(text) => {
                self.scopes.set(at, name, Property::Open);
                let value = self.literal(&text, at)?;
                self.scopes.set(at, name, Property::Value(value.clone()));
                Ok(value)
            }
        }
    }
}

fn required<'n>(node: &'n Node, name: &str) -> Result<&'n str, String> {
    node.attribute(name).ok_or_else(|| format!("<{}> has no `{name}`", node.name))
}

/// How much elements weigh where they are inserted: what they are written with.
fn weight(nodes: &[Rc<Node>]) -> usize {
    let own = |node: &Node| {
        let text: usize = node.attributes.iter().map(|(key, value)| key.len() + value.len()).sum();
        1 + (node.name.len() + text) / 8
    };
    nodes.iter().map(|node| own(node) + weight(&node.children)).sum()
}

/// An element and what it contains. The reader of XML bounds the depth.
fn node(elements: &[Element], at: usize, file: usize) -> Rc<Node> {
    let Element { name, attributes, children, line } = &elements[at];
    Rc::new(Node {
        name: name.clone(),
        attributes: attributes.clone(),
        children: children.iter().map(|&child| node(elements, child, file)).collect(),
        file,
        line: *line,
    })
}
