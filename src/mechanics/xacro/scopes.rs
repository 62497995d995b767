//! Names of properties and macros, by scope.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::value::Value;

/// An element of the document.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) children: Vec<Rc<Node>>,
    /// Index of the file, and the line from 1.
    pub(super) file: usize,
    pub(super) line: usize,
}

impl Node {
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Property {
    /// A text, which is evaluated when it is first asked for.
    Text(Rc<str>),
    /// A text that is just being evaluated.
    Open,
    Value(Value),
    /// Elements to insert, and whether they have been expanded.
    Block(Vec<Rc<Node>>, bool),
}

/// A macro.
#[derive(Clone, Debug)]
pub(super) struct Macro {
    pub(super) parameters: Rc<[Parameter]>,
    pub(super) body: Rc<Node>,
    /// Where it was defined.
    pub(super) scope: usize,
}

/// A parameter of a macro.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) default: Default,
}

/// What a parameter is where the call states nothing.
#[derive(Clone, Debug)]
pub(super) enum Default {
    /// It must be stated.
    None,
    Text(String),
    /// The property of its name around the call, else a text if there is one.
    Outer(Option<String>),
    /// An element inside the call, or what that contains.
    Block {
        contents: bool,
    },
}

/// Reads `a b:=1 c:='x y' d:=^ e:=^|2 *f **g`.
pub(super) fn parameters(text: &str) -> Result<Vec<Parameter>, String> {
    let mut out: Vec<Parameter> = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let end = rest.find(|c: char| c.is_whitespace() || c == '=' || c == ':');
        let (name, after) = rest.split_at(end.unwrap_or(rest.len()));
        let is_stated = after.strip_prefix(":=").or_else(|| after.strip_prefix('='));
        let (default, after) = match is_stated {
            None => (Default::None, after),
            Some(stated) => {
                let is_outer = stated.strip_prefix('^');
                let (value, after) = match is_outer {
                    Some(after) => match after.strip_prefix('|') {
                        Some(after) => value(after).map(|(value, after)| (Some(value), after))?,
                        None => (None, after),
                    },
                    None => value(stated).map(|(value, after)| (Some(value), after))?,
                };
                let default = match (is_outer, value.filter(|value| !value.is_empty())) {
                    (None, Some(value)) => Default::Text(value),
                    (None, None) => Default::None,
                    (Some(_), value) => Default::Outer(value),
                };
                (default, after)
            }
        };
        let contents = name.starts_with("**");
        let (name, default) = match name.trim_start_matches('*') {
            plain if plain.len() == name.len() => (name, default),
            block => (block, Default::Block { contents }),
        };
        if name.is_empty() || after.starts_with(':') {
            return Err(format!("parameters of a macro: not understood at `{rest}`"));
        }
        if out.iter().any(|parameter| parameter.name == name) {
            return Err(format!("parameter `{name}` occurs twice"));
        }
        out.push(Parameter { name: name.to_owned(), default });
        rest = after.trim_start();
    }
    Ok(out)
}

/// A default: `${…}` and strings in quotes may contain blanks. Double quotes are kept, as are
/// single quotes until the text is read as a literal.
fn value(text: &str) -> Result<(String, &str), String> {
    let text = text.trim_start();
    let (mut depth, mut quote) = (0_usize, None);
    let end = text.find(|c: char| {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            (_, Some(_)) => {}
            ('\'' | '"', None) if depth == 0 => quote = Some(c),
            ('{' | '(', None) => depth += 1,
            ('}' | ')', None) => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && quote.is_none() && c.is_whitespace()
    });
    if let Some(quote) = quote {
        return Err(format!("a default is not closed by {quote}"));
    }
    let (value, after) = text.split_at(end.unwrap_or(text.len()));
    Ok((value.to_owned(), after))
}

/// Names of one scope.
#[derive(Debug, Default)]
struct Names {
    parent: Option<usize>,
    /// True for an included file.
    is_namespace: bool,
    properties: BTreeMap<String, Property>,
    macros: BTreeMap<String, Macro>,
}

/// All scopes; 0 is that of the file.
#[derive(Debug)]
pub(super) struct Scopes {
    all: Vec<Names>,
}

impl Scopes {
    pub(super) fn new() -> Self {
        Self { all: vec![Names::default()] }
    }

    /// A new scope inside `parent`, or one by itself.
    pub(super) fn open(&mut self, parent: Option<usize>) -> usize {
        self.all.push(Names { parent, ..Names::default() });
        self.all.len() - 1
    }

    /// Forgets what was opened last if it is `scope`, of which nothing is left then.
    pub(super) fn close(&mut self, scope: usize) {
        if scope + 1 == self.all.len() {
            self.all.pop();
        }
    }

    /// Marks a scope as that of an included file.
    pub(super) fn make_namespace(&mut self, scope: usize) {
        self.all[scope].is_namespace = true;
    }

    /// The scope around one. For a macro it is that of the call: the next one that is not a
    /// namespace.
    pub(super) fn caller(&self, scope: usize) -> usize {
        let mut at = self.all[scope].parent.unwrap_or(scope);
        while !self.all[scope].is_namespace && self.all[at].is_namespace {
            at = self.all[at].parent.unwrap_or(0);
        }
        at
    }

    /// The scope around `scope` in which a name is, and what it stands for.
    pub(super) fn find(&self, scope: usize, name: &str) -> Option<(usize, &Property)> {
        let mut at = Some(scope);
        while let Some(scope) = at {
            if let Some(found) = self.all[scope].properties.get(name) {
                return Some((scope, found));
            }
            at = self.all[scope].parent;
        }
        None
    }

    pub(super) fn own(&self, scope: usize, name: &str) -> Option<&Property> {
        self.all[scope].properties.get(name)
    }

    pub(super) fn set(&mut self, scope: usize, name: &str, property: Property) {
        self.all[scope].properties.insert(name.to_owned(), property);
    }

    /// Removes a name from a scope and all scopes around it.
    pub(super) fn remove(&mut self, scope: usize, name: &str) {
        let mut at = Some(scope);
        while let Some(scope) = at {
            self.all[scope].properties.remove(name);
            at = self.all[scope].parent;
        }
    }

    pub(super) fn find_macro(&self, scope: usize, name: &str) -> Option<&Macro> {
        let mut at = Some(scope);
        while let Some(scope) = at {
            if let Some(found) = self.all[scope].macros.get(name) {
                return Some(found);
            }
            at = self.all[scope].parent;
        }
        None
    }

    pub(super) fn set_macro(&mut self, scope: usize, name: &str, found: Macro) {
        self.all[scope].macros.insert(name.to_owned(), found);
    }
}
