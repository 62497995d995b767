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
        self.expander.argument(name).map(Value::literal)
    }

    fn load(&mut self, name: &str) -> Result<String, String> {
        let (own, text) = (self.expander.options.read)(name, self.expander.file())?;
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
