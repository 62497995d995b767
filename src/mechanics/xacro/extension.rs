//! Texts with `${expression}` and `$(command …)` in them.

use super::evaluate::{evaluate, spend};
use super::expand::Expander;
use super::parse::parse;
use super::value::{LONGEST, Value};

impl Expander<'_> {
    /// The value of a text: of its only `${…}` whatever that is, else a text.
    pub(super) fn text(&mut self, text: &str, scope: usize) -> Result<Value, String> {
        if !text.contains('$') {
            return Ok(Value::text(text));
        }
        spend(&mut self.within(scope), 1 + text.len() / 8)?;
        if let Some(inner) = text.strip_prefix("$(eval ").and_then(|t| t.strip_suffix(')')) {
            return self.with_arguments(inner, scope);
        }
        let mut parts: Vec<Value> = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            if at > 0 {
                parts.push(Value::text(&rest[..at]));
            }
            rest = &rest[at..];
            let dollars = rest.len() - rest.trim_start_matches('$').len();
            let opener = rest[dollars..].chars().next();
            let closer = match opener {
                Some('{') => '}',
                Some('(') => ')',
                _ => {
                    parts.push(Value::text(&rest[..dollars]));
                    rest = &rest[dollars..];
                    continue;
                }
            };
            if dollars > 1 {
                // `$${` is `${` itself.
                parts.push(Value::text(&rest[1..=dollars]));
                rest = &rest[dollars + 1..];
                continue;
            }
            let mut depth = 0_usize;
            let end = rest.find(|c: char| {
                match c {
                    '{' if closer == '}' => depth += 1,
                    '(' if closer == ')' => depth += 1,
                    _ if c == closer => depth = depth.saturating_sub(1),
                    _ => return false,
                }
                depth == 0
            });
            let Some(length) = end else {
                return Err(format!("expected `{closer}` to end `{rest}`"));
            };
            let inner = &rest[2..length];
            parts.push(match closer {
                // Its arguments are put in first: `${'$(arg side)' == 'left'}`.
                '}' if inner.contains('$') => {
                    let inner = self.nested(|expander| expander.string(inner, scope))?;
                    self.expression(&inner, scope)?
                }
                '}' => self.expression(inner, scope)?,
                _ => self.command(inner, scope)?,
            });
            rest = &rest[length + 1..];
        }
        if !rest.is_empty() {
            parts.push(Value::text(rest));
        }
        if let [_] = &parts[..] {
            return Ok(parts.remove(0));
        }
        let mut whole = String::new();
        for part in parts {
            let part = part.to_text().ok_or_else(|| "a text is too long".to_owned())?;
            whole.push_str(&part);
            if whole.len() > LONGEST {
                return Err(format!("a text is longer than {LONGEST}"));
            }
        }
        spend(&mut self.within(scope), whole.len() / 8)?;
        Ok(Value::text(whole))
    }

    /// The text of a text.
    pub(super) fn string(&mut self, text: &str, scope: usize) -> Result<String, String> {
        let value = self.text(text, scope)?;
        value.to_text().ok_or_else(|| "a text is too long".to_owned())
    }

    pub(super) fn expression(&mut self, text: &str, scope: usize) -> Result<Value, String> {
        let problem = |why: String| format!("`{}`: {why}", text.trim());
        let expression = parse(text).map_err(problem)?;
        evaluate(&expression, &mut self.within(scope)).map_err(problem)
    }

    /// An expression in which arguments of the file are names.
    fn with_arguments(&mut self, text: &str, scope: usize) -> Result<Value, String> {
        let before = std::mem::replace(&mut self.names_arguments, true);
        let value = self.expression(text, scope);
        self.names_arguments = before;
        value
    }

    /// `$(command arguments)`.
    fn command(&mut self, text: &str, scope: usize) -> Result<Value, String> {
        let text = self.nested(|expander| expander.string(text, scope))?;
        let (command, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((&text, ""));
        let rest = rest.trim();
        match command.trim() {
            "find" => Ok(Value::text(format!("package://{rest}"))),
            "arg" => match self.argument(rest) {
                Some(value) => Ok(Value::text(value)),
                None => Err(format!("no argument is named `{rest}`")),
            },
            "dirname" => Ok(Value::text(self.folder())),
            "optenv" => {
                // What a robot is must not depend on the environment of whoever runs it.
                Ok(Value::text(rest.split_once(char::is_whitespace).map_or("", |(_, other)| other)))
            }
            "eval" => self.with_arguments(rest, scope),
            // A robot must not depend on the machine and the user that read it.
            "env" => Err(format!("`$(env {rest})`: the environment is not read; use $(arg …)")),
            "cwd" => Err("`$(cwd)`: use $(dirname) or $(find PACKAGE)".to_owned()),
            other => Err(format!("`$({other} …)`: expected find, arg, optenv, dirname or eval")),
        }
    }
}
