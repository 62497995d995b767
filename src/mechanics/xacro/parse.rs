//! Expressions of xacro, the part of Python's that robot files use: text → [`Expression`].

use std::rc::Rc;

use super::tokens::{Token, shown, tokens};
use super::value::Value;

/// Deepest nesting of an expression.
const DEEPEST: usize = 64;

#[derive(Clone, Debug)]
pub(super) enum Expression {
    Literal(Value),
    Name(String),
    List(Vec<Expression>),
    Table(Vec<(Expression, Expression)>),
    Unary(&'static str, Box<Expression>),
    Binary(&'static str, Box<(Expression, Expression)>),
    /// `a < b <= c`.
    Compare(Box<Expression>, Vec<(&'static str, Expression)>),
    /// `b if a else c`, in the order a, b, c.
    If(Box<(Expression, Expression, Expression)>),
    Index(Box<(Expression, Expression)>),
    Tuple(Vec<Expression>),
    Set(Vec<Expression>),
    /// `of[from:to:by]`.
    Slice(Box<(Expression, [Option<Expression>; 3])>),
    /// `[item for names in of if condition]`.
    Each(Box<Each>),
    /// `lambda names: body`.
    Lambda(Rc<Lambda>),
    Attribute(Box<Expression>, String),
    /// Function, arguments, and those that have a name.
    Call(Box<Expression>, Vec<Expression>, Named),
}

/// Type of a comprehension's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    List,
    Set,
    Table,
}

/// A list, set or dictionary made from each entry of others.
#[derive(Clone, Debug)]
pub(super) struct Each {
    pub(super) kind: Kind,
    /// The key of a dictionary.
    pub(super) key: Option<Expression>,
    pub(super) item: Expression,
    /// At least one; the first is outermost.
    pub(super) clauses: Vec<Clause>,
}

/// `for names in of if conditions`.
#[derive(Clone, Debug)]
pub(super) struct Clause {
    pub(super) names: Vec<String>,
    pub(super) of: Expression,
    pub(super) conditions: Vec<Expression>,
}

/// A function that an expression defines.
#[derive(Debug)]
pub(super) struct Lambda {
    /// Parameters with their defaults.
    pub(super) parameters: Vec<(String, Option<Expression>)>,
    pub(super) body: Expression,
}

/// Arguments with names.
type Named = Vec<(String, Expression)>;

/// Reads an expression.
pub(super) fn parse(text: &str) -> Result<Expression, String> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0 };
    let expression = parser.expression()?;
    match parser.peek() {
        None => Ok(expression),
        Some(token) => Err(format!("{} is one too many in `{text}`", shown(token))),
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn is_next(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(found)) if *found == sign)
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = self.is_next(sign);
        self.at += usize::from(found);
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Name(found)) if found == word);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        if self.take(sign) {
            return Ok(());
        }
        let found = self.peek().map_or_else(|| "the end".to_owned(), shown);
        Err(format!("expected `{sign}`, found {found}"))
    }

    fn any_sign(&mut self, signs: &[&'static str]) -> Option<&'static str> {
        signs.iter().copied().find(|sign| self.take(sign))
    }

    /// `b if a else c`.
    fn expression(&mut self) -> Result<Expression, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("an expression is nested deeper than {DEEPEST}"));
        }
        if self.take_word("lambda") {
            let lambda = self.lambda()?;
            self.depth -= 1;
            return Ok(lambda);
        }
        let then = self.or()?;
        let whole = match self.take_word("if") {
            false => then,
            true => {
                let condition = self.or()?;
                if !self.take_word("else") {
                    return Err("expected `else` after `if`".to_owned());
                }
                let other = self.expression()?;
                Expression::If(Box::new((condition, then, other)))
            }
        };
        self.depth -= 1;
        Ok(whole)
    }

    /// `a, b=1: body`, after `lambda`.
    fn lambda(&mut self) -> Result<Expression, String> {
        let mut parameters = Vec::new();
        while !self.take(":") {
            let name = self.name("`lambda`")?;
            let default = if self.take("=") { Some(self.expression()?) } else { None };
            parameters.push((name, default));
            if !self.take(",") {
                self.expect(":")?;
                break;
            }
        }
        let body = self.expression()?;
        Ok(Expression::Lambda(Rc::new(Lambda { parameters, body })))
    }

    fn name(&mut self, after: &str) -> Result<String, String> {
        let Some(Token::Name(name)) = self.peek().cloned() else {
            return Err(format!("expected a name after {after}"));
        };
        self.at += 1;
        Ok(name)
    }

    fn or(&mut self) -> Result<Expression, String> {
        let mut left = self.and()?;
        while self.take_word("or") || self.take("||") {
            left = Expression::Binary("or", Box::new((left, self.and()?)));
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Expression, String> {
        let mut left = self.not()?;
        while self.take_word("and") || self.take("&&") {
            left = Expression::Binary("and", Box::new((left, self.not()?)));
        }
        Ok(left)
    }

    fn not(&mut self) -> Result<Expression, String> {
        let mut count = 0;
        while self.take_word("not") || self.take("!") {
            count += 1;
        }
        let inner = self.comparison()?;
        Ok(match count {
            0 => inner,
            // An even number of them makes a truth value.
            _ if count % 2 == 0 => {
                Expression::Unary("not", Box::new(Expression::Unary("not", Box::new(inner))))
            }
            _ => Expression::Unary("not", Box::new(inner)),
        })
    }

    fn comparison(&mut self) -> Result<Expression, String> {
        let first = self.bits(0)?;
        let mut rest = Vec::new();
        loop {
            let sign = self.any_sign(&["==", "!=", "<=", ">=", "<", ">"]).or_else(|| {
                let start = self.at;
                if self.take_word("in") {
                    return Some("in");
                }
                if self.take_word("not") && self.take_word("in") {
                    return Some("not in");
                }
                self.at = start;
                if self.take_word("is") {
                    return Some(if self.take_word("not") { "is not" } else { "is" });
                }
                None
            });
            let Some(sign) = sign else { break };
            rest.push((sign, self.bits(0)?));
        }
        Ok(if rest.is_empty() { first } else { Expression::Compare(Box::new(first), rest) })
    }

    /// `|`, `^`, `&`, and shifts, in this order.
    fn bits(&mut self, level: usize) -> Result<Expression, String> {
        const LEVELS: [&[&str]; 4] = [&["|"], &["^"], &["&"], &["<<", ">>"]];
        let Some(signs) = LEVELS.get(level) else { return self.sum() };
        let mut left = self.bits(level + 1)?;
        while let Some(sign) = self.any_sign(signs) {
            left = Expression::Binary(sign, Box::new((left, self.bits(level + 1)?)));
        }
        Ok(left)
    }

    fn sum(&mut self) -> Result<Expression, String> {
        let mut left = self.product()?;
        while let Some(sign) = self.any_sign(&["+", "-"]) {
            left = Expression::Binary(sign, Box::new((left, self.product()?)));
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Expression, String> {
        let mut left = self.signed()?;
        while let Some(sign) = self.any_sign(&["//", "*", "/", "%"]) {
            left = Expression::Binary(sign, Box::new((left, self.signed()?)));
        }
        Ok(left)
    }

    fn signed(&mut self) -> Result<Expression, String> {
        let mut signs = Vec::new();
        while let Some(sign) = self.any_sign(&["+", "-", "~"]) {
            // Two equal signs in a row leave an integer or a number unchanged.
            match signs.last() {
                Some(last) if *last == sign && signs.len() > 2 => _ = signs.pop(),
                _ => signs.push(sign),
            }
            if signs.len() > DEEPEST {
                return Err(format!("an expression is nested deeper than {DEEPEST}"));
            }
        }
        let inner = self.power()?;
        let wrap = |inner, sign| Expression::Unary(sign, Box::new(inner));
        Ok(signs.into_iter().rev().fold(inner, wrap))
    }

    fn power(&mut self) -> Result<Expression, String> {
        let base = self.postfix()?;
        if !self.take("**") {
            return Ok(base);
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("an expression is nested deeper than {DEEPEST}"));
        }
        let exponent = self.signed()?;
        self.depth -= 1;
        Ok(Expression::Binary("**", Box::new((base, exponent))))
    }

    fn postfix(&mut self) -> Result<Expression, String> {
        let mut whole = self.atom()?;
        let mut length = 0;
        loop {
            length += 1;
            // The tree is walked by recursion.
            if length > DEEPEST {
                return Err(format!("an expression is nested deeper than {DEEPEST}"));
            }
            if self.take(".") {
                let name = self.name("`.`")?;
                whole = Expression::Attribute(Box::new(whole), name);
            } else if self.take("[") {
                whole = self.entry(whole)?;
                self.expect("]")?;
            } else if self.take("(") {
                let (arguments, named) = self.arguments()?;
                whole = Expression::Call(Box::new(whole), arguments, named);
            } else {
                return Ok(whole);
            }
        }
    }

    /// `index` or `from:to:by`, after `[`.
    fn entry(&mut self, of: Expression) -> Result<Expression, String> {
        let mut parts = [None, None, None];
        let mut at = 0;
        let mut is_slice = false;
        while !self.is_next("]") {
            if self.take(":") {
                is_slice = true;
                at += 1;
                if at > 2 {
                    return Err("a slice of more than three parts".to_owned());
                }
                continue;
            }
            if parts[at].is_some() {
                break;
            }
            let mut part = self.expression()?;
            if self.is_next(",") && !is_slice {
                let mut items = vec![part];
                while self.take(",") && !self.is_next("]") {
                    items.push(self.expression()?);
                }
                part = Expression::Tuple(items);
            }
            parts[at] = Some(part);
        }
        match (is_slice, parts) {
            (false, [Some(index), _, _]) => Ok(Expression::Index(Box::new((of, index)))),
            (false, _) => Err("expected an index between `[` and `]`".to_owned()),
            (true, parts) => Ok(Expression::Slice(Box::new((of, parts)))),
        }
    }

    /// Arguments of a call, up to its end: `1, b=2)`.
    fn arguments(&mut self) -> Result<(Vec<Expression>, Named), String> {
        let (mut plain, mut named) = (Vec::new(), Vec::new());
        while !self.take(")") {
            match (self.peek().cloned(), self.tokens.get(self.at + 1)) {
                (Some(Token::Name(name)), Some(Token::Sign("="))) => {
                    self.at += 2;
                    named.push((name, self.expression()?));
                }
                _ => {
                    let item = self.expression()?;
                    // `sum(x for x in l)`.
                    plain.push(self.perhaps_each(Kind::List, None, item)?.0);
                }
            }
            if !self.take(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok((plain, named))
    }

    /// Expressions up to `end`, and true if the only one is a comprehension.
    fn list(&mut self, end: &str) -> Result<(Vec<Expression>, bool), String> {
        let mut items = Vec::new();
        while !self.take(end) {
            let item = self.expression()?;
            let (item, is_each) = self.perhaps_each(Kind::List, None, item)?;
            items.push(item);
            if is_each && items.len() == 1 {
                self.expect(end)?;
                return Ok((items, true));
            }
            if !self.take(",") {
                self.expect(end)?;
                break;
            }
        }
        Ok((items, false))
    }

    /// `item`, or `item for names in of if condition …`, and true for the latter.
    fn perhaps_each(
        &mut self,
        kind: Kind,
        key: Option<Expression>,
        item: Expression,
    ) -> Result<(Expression, bool), String> {
        let mut clauses = Vec::new();
        while self.take_word("for") {
            let mut names = Vec::new();
            let is_tuple = self.take("(");
            loop {
                names.push(self.name("`for`")?);
                if !self.take(",") {
                    break;
                }
            }
            if is_tuple {
                self.expect(")")?;
            }
            if !self.take_word("in") {
                return Err("expected `in` after the names of `for`".to_owned());
            }
            let of = self.or()?;
            let mut conditions = Vec::new();
            while self.take_word("if") {
                conditions.push(self.or()?);
            }
            clauses.push(Clause { names, of, conditions });
            if clauses.len() > DEEPEST {
                return Err(format!("an expression is nested deeper than {DEEPEST}"));
            }
        }
        match clauses.is_empty() {
            true => Ok((item, false)),
            false => Ok((Expression::Each(Box::new(Each { kind, key, item, clauses })), true)),
        }
    }

    fn atom(&mut self) -> Result<Expression, String> {
        let Some(token) = self.peek().cloned() else {
            return Err("an expression ends early".to_owned());
        };
        self.at += 1;
        Ok(match token {
            Token::Int(value) => Expression::Literal(Value::Int(value)),
            Token::Float(value) => Expression::Literal(Value::Float(value)),
            Token::Text(mut text) => {
                // Adjacent string literals are one.
                while let Some(Token::Text(more)) = self.peek() {
                    text.push_str(more);
                    self.at += 1;
                }
                Expression::Literal(Value::text(text))
            }
            Token::Name(name) => match name.as_str() {
                "True" | "true" => Expression::Literal(Value::Bool(true)),
                "False" | "false" => Expression::Literal(Value::Bool(false)),
                "None" => Expression::Literal(Value::None),
                _ => Expression::Name(name),
            },
            Token::Sign("(") => {
                let (mut items, is_each) = self.list(")")?;
                let is_tuple =
                    matches!(self.tokens.get(self.at.wrapping_sub(2)), Some(Token::Sign(",")));
                match (items.len(), is_tuple && !is_each) {
                    (1, false) => items.remove(0),
                    _ => Expression::Tuple(items),
                }
            }
            Token::Sign("[") => {
                let (mut items, is_each) = self.list("]")?;
                if is_each { items.remove(0) } else { Expression::List(items) }
            }
            Token::Sign("{") => self.braces()?,
            Token::Sign(_) => return Err(format!("{} begins no expression", shown(&token))),
        })
    }

    /// A dictionary or a set, after `{`.
    fn braces(&mut self) -> Result<Expression, String> {
        let (mut entries, mut items) = (Vec::new(), Vec::new());
        while !self.take("}") {
            let first = self.expression()?;
            let is_table = items.is_empty() && self.take(":");
            if !is_table && !entries.is_empty() {
                return Err("expected `:` in a dictionary".to_owned());
            }
            let (whole, is_each) = match is_table {
                true => {
                    let value = self.expression()?;
                    self.perhaps_each(Kind::Table, Some(first.clone()), value)?
                }
                false => self.perhaps_each(Kind::Set, None, first.clone())?,
            };
            if is_each {
                self.expect("}")?;
                return Ok(whole);
            }
            match is_table {
                true => entries.push((first, whole)),
                false => items.push(whole),
            }
            self.end_of_item()?;
        }
        Ok(if items.is_empty() { Expression::Table(entries) } else { Expression::Set(items) })
    }

    /// Takes a comma, or expects `}`.
    fn end_of_item(&mut self) -> Result<(), String> {
        match self.take(",") || self.is_next("}") {
            true => Ok(()),
            false => self.expect("}"),
        }
    }
}
