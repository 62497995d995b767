//! What expressions see of an expansion: names, arguments, files, and how much may still be done.

use super::super::evaluate::{Scope, spend};
use super::super::value::Value;
use super::{DEEPEST, Expander, TOO_DEEP};

/// Names as seen from a scope.
pub(in super::super) struct Within<'e, 'a> {
    expander: &'e mut Expander<'a>,
    scope: usize,
}

impl<'a> Expander<'a> {
    pub(in super::super) fn within(&mut self, scope: usize) -> Within<'_, 'a> {
        Within { expander: self, scope }
    }
}

impl Scope for Within<'_, '_> {
    fn name(&mut self, name: &str) -> Result<Option<Value>, String> {
        if self.expander.names_arguments {
            match self.argument(name) {
                None if name == "arg" => return Ok(Some(Value::Function("arg"))),
                None => {}
                known => return Ok(known),
            }
        }
        self.expander.name_at(self.scope, name)
    }

    fn argument(&mut self, name: &str) -> Option<Value> {
        let value = self.expander.argument(name)?;
        Some(if self.expander.names_arguments { automatic(value) } else { Value::text(value) })
    }

    fn place_of(&mut self, name: &str) -> String {
        if name.starts_with('/') || name.contains("://") {
            return name.to_owned();
        }
        format!("{}/{name}", self.expander.folder())
    }

    fn load(&mut self, name: &str) -> Result<String, String> {
        let read = (self.expander.options.read)(name, self.expander.file());
        let (own, text) = read.inspect_err(|_| self.expander.is_unread = true)?;
        spend(self, 1 + text.len())?;
        if !self.expander.files.contains(&own) {
            self.expander.files.push(own);
        }
        Ok(text)
    }

    fn name_in(&mut self, names: usize, name: &str) -> Result<Option<Value>, String> {
        let Some(found) = self.expander.scopes.own(names, name).cloned() else { return Ok(None) };
        self.expander.value_of(names, name, found).map(Some)
    }

    fn bound(&mut self) -> Vec<(String, Value)> {
        Vec::new()
    }

    fn fuel(&mut self) -> &mut usize {
        &mut self.expander.fuel
    }

    fn enter(&mut self) -> Result<(), String> {
        self.expander.depth += 1;
        if self.expander.depth > DEEPEST {
            return Err(TOO_DEEP.to_owned());
        }
        Ok(())
    }

    fn leave(&mut self) {
        self.expander.depth -= 1;
    }
}

/// Value of an argument's text in `$(eval …)`.
fn automatic(text: &str) -> Value {
    let number = match text.contains('.') {
        true => text.trim().parse().ok().map(Value::Float),
        false => text.trim().parse().ok().map(Value::Int),
    };
    number.unwrap_or_else(|| match text.to_lowercase().as_str() {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => Value::text(text),
    })
}
