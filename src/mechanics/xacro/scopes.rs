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
                let default = match (is_outer, value) {
                    (None, Some(value)) => Default::Text(value),
                    (_, value) => Default::Outer(value),
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

/// A default, which may be in quotes.
fn value(text: &str) -> Result<(String, &str), String> {
    for quote in ['\'', '"'] {
        if let Some(inner) = text.strip_prefix(quote) {
            let Some((value, after)) = inner.split_once(quote) else {
                return Err(format!("a default is not closed by {quote}"));
            };
            return Ok((value.to_owned(), after));
        }
    }
    // A ${…} may have blanks in it.
    let mut depth = 0_usize;
    let end = text.find(|c: char| {
        match c {
            '{' | '(' => depth += 1,
            '}' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && c.is_whitespace()
    });
    let (value, after) = text.split_at(end.unwrap_or(text.len()));
    Ok((value.to_owned(), after))
}

/// Names of one scope.
#[derive(Debug, Default)]
struct Names {
    parent: Option<usize>,
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

    pub(super) fn parent(&self, scope: usize) -> Option<usize> {
        self.all[scope].parent
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

    pub(super) fn remove(&mut self, scope: usize, name: &str) {
        self.all[scope].properties.remove(name);
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
