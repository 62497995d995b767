//! Expressions of xacro, the part of Python's that robot files use: text → [`Expression`].

use super::value::Value;

/// Deepest nesting of an expression.
const DEEPEST: usize = 64;

/// Most words and signs of an expression: a sum of them is walked by recursion.
const MOST_TOKENS: usize = 1000;

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
    /// `of[from:to]`.
    Slice(Box<(Expression, Option<Expression>, Option<Expression>)>),
    /// `[item for names in of if condition]`.
    Each(Box<Each>),
    Attribute(Box<Expression>, String),
    /// Function, arguments, and those that have a name.
    Call(Box<Expression>, Vec<Expression>, Named),
}

/// A list that is made of each entry of another.
#[derive(Clone, Debug)]
pub(super) struct Each {
    pub(super) item: Expression,
    pub(super) names: Vec<String>,
    pub(super) of: Expression,
    pub(super) condition: Option<Expression>,
}

/// Arguments with names.
type Named = Vec<(String, Expression)>;

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Int(i64),
    Float(f64),
    Text(String),
    Name(String),
    Sign(&'static str),
}

const SIGNS: [&str; 26] = [
    "**", "//", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "(", ")", "[", "]", "{",
    "}", ",", ":", ".", "&&", "||", "!", "=",
];

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut out = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let taken = if first.is_ascii_digit()
            || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()))
        {
            let (token, length) = number(rest)?;
            out.push(token);
            length
        } else if first == '\'' || first == '"' {
            let (text, length) = quoted(rest, first)?;
            out.push(Token::Text(text));
            length
        } else if first.is_alphabetic() || first == '_' {
            let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
            let length = length.unwrap_or(rest.len());
            out.push(Token::Name(rest[..length].to_owned()));
            length
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            out.push(Token::Sign(sign));
            sign.len()
        } else {
            return Err(format!("`{first}` is not understood in `{text}`"));
        };
        rest = rest[taken..].trim_start();
        if out.len() > MOST_TOKENS {
            return Err(format!("an expression of more than {MOST_TOKENS} words and signs"));
        }
    }
    Ok(out)
}

fn number(text: &str) -> Result<(Token, usize), String> {
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let mut end = digits(0);
    let mut is_int = true;
    if bytes.get(end) == Some(&b'.') {
        is_int = false;
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let after = digits(end + 1 + sign);
        if after > end + 1 + sign {
            is_int = false;
            end = after;
        }
    }
    let digits = &text[..end];
    if let (true, Ok(value)) = (is_int, digits.parse()) {
        return Ok((Token::Int(value), end));
    }
    let value = digits.parse().map_err(|_| format!("`{digits}` is no number"))?;
    Ok((Token::Float(value), end))
}

fn quoted(text: &str, quote: char) -> Result<(String, usize), String> {
    let mut out = String::new();
    let mut characters = text.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        match c {
            _ if c == quote => return Ok((out, at + 1)),
            '\\' => match characters.next() {
                Some((_, 'n')) => out.push('\n'),
                Some((_, 't')) => out.push('\t'),
                Some((_, other)) => out.push(other),
                None => break,
            },
            _ => out.push(c),
        }
    }
    Err(format!("a text is not closed by {quote}"))
}

/// Reads an expression.
pub(super) fn parse(text: &str) -> Result<Expression, String> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0 };
    let expression = parser.expression()?;
    match parser.peek() {
        None => Ok(expression),
        Some(token) => Err(format!("{} is one too many in `{text}`", shown(token))),
    }
}

fn shown(token: &Token) -> String {
    match token {
        Token::Int(value) => format!("`{value}`"),
        Token::Float(value) => format!("`{value}`"),
        Token::Text(text) => format!("'{text}'"),
        Token::Name(name) => format!("`{name}`"),
        Token::Sign(sign) => format!("`{sign}`"),
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
        let first = self.sum()?;
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
            rest.push((sign, self.sum()?));
        }
        Ok(if rest.is_empty() { first } else { Expression::Compare(Box::new(first), rest) })
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
        let mut is_negative = false;
        let mut has_sign = false;
        while let Some(sign) = self.any_sign(&["+", "-"]) {
            has_sign = true;
            is_negative ^= sign == "-";
        }
        let inner = self.power()?;
        Ok(match (has_sign, is_negative) {
            (false, _) => inner,
            (true, true) => Expression::Unary("-", Box::new(inner)),
            (true, false) => Expression::Unary("+", Box::new(inner)),
        })
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
                let Some(Token::Name(name)) = self.peek().cloned() else {
                    return Err("expected a name after `.`".to_owned());
                };
                self.at += 1;
                whole = Expression::Attribute(Box::new(whole), name);
            } else if self.take("[") {
                let from = if self.is_next(":") { None } else { Some(self.expression()?) };
                whole = match from {
                    Some(index) if !self.is_next(":") => {
                        Expression::Index(Box::new((whole, index)))
                    }
                    from => {
                        self.expect(":")?;
                        let to = if self.is_next("]") { None } else { Some(self.expression()?) };
                        Expression::Slice(Box::new((whole, from, to)))
                    }
                };
                self.expect("]")?;
            } else if self.take("(") {
                let (arguments, named) = self.arguments()?;
                whole = Expression::Call(Box::new(whole), arguments, named);
            } else {
                return Ok(whole);
            }
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
                _ => plain.push(self.expression()?),
            }
            if !self.take(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok((plain, named))
    }

    /// Expressions up to `end`.
    fn list(&mut self, end: &str) -> Result<Vec<Expression>, String> {
        let mut items = Vec::new();
        while !self.take(end) {
            items.push(self.expression()?);
            if !self.take(",") {
                self.expect(end)?;
                break;
            }
        }
        Ok(items)
    }

    /// The rest of `item for names in of if condition`, behind `for`.
    fn each(&mut self, item: Expression) -> Result<Each, String> {
        let mut names = Vec::new();
        let is_tuple = self.take("(");
        loop {
            let Some(Token::Name(name)) = self.peek().cloned() else {
                return Err("expected a name after `for`".to_owned());
            };
            self.at += 1;
            names.push(name);
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
        let condition = if self.take_word("if") { Some(self.or()?) } else { None };
        Ok(Each { item, names, of, condition })
    }

    fn atom(&mut self) -> Result<Expression, String> {
        let Some(token) = self.peek().cloned() else {
            return Err("an expression ends early".to_owned());
        };
        self.at += 1;
        Ok(match token {
            Token::Int(value) => Expression::Literal(Value::Int(value)),
            Token::Float(value) => Expression::Literal(Value::Float(value)),
            Token::Text(text) => Expression::Literal(Value::text(text)),
            Token::Name(name) => match name.as_str() {
                "True" | "true" => Expression::Literal(Value::Bool(true)),
                "False" | "false" => Expression::Literal(Value::Bool(false)),
                "None" => Expression::Literal(Value::None),
                _ => Expression::Name(name),
            },
            Token::Sign("(") => {
                let mut items = self.list(")")?;
                let is_tuple =
                    matches!(self.tokens.get(self.at.wrapping_sub(2)), Some(Token::Sign(",")));
                match (items.len(), is_tuple) {
                    (1, false) => items.remove(0),
                    _ => Expression::List(items),
                }
            }
            Token::Sign("[") => {
                let mut items = Vec::new();
                while !self.take("]") {
                    items.push(self.expression()?);
                    if items.len() == 1 && self.take_word("for") {
                        let each = Expression::Each(Box::new(self.each(items.remove(0))?));
                        self.expect("]")?;
                        return Ok(each);
                    }
                    if !self.take(",") {
                        self.expect("]")?;
                        break;
                    }
                }
                Expression::List(items)
            }
            Token::Sign("{") => {
                let mut items = Vec::new();
                while !self.take("}") {
                    let key = self.expression()?;
                    self.expect(":")?;
                    items.push((key, self.expression()?));
                    if !self.take(",") {
                        self.expect("}")?;
                        break;
                    }
                }
                Expression::Table(items)
            }
            Token::Sign(_) => return Err(format!("{} begins no expression", shown(&token))),
        })
    }
}
