//! From text to syntax tree, by precedence climbing (V. Pratt, *Top down operator precedence*,
//! 1973).

use std::ops::Range;

use super::lexer::{self, Token};
use super::operator::{Binary, COMPARISON_POWER, INFIX, NEGATE_POWER, Unary};
use super::syntax::{Each, Expr, ExprKind};
use crate::code;
use crate::diagnostic::{Diagnostic, Span};
use crate::unit::{Unit, parse_unit};
use crate::value::{Name, Place};

/// Largest depth of nested brackets.
const DEPTH_LIMIT: usize = 100;
/// Levels of the syntax tree: also bounds the length of a chain such as `a + b + c + …`.
const HEIGHT_LIMIT: usize = 400;

/// Words that are not names.
pub(super) const KEYWORDS: [&str; 7] = ["if", "then", "else", "and", "or", "not", "for"];

/// How an expression for each item of a list is written.
const EACH: &str = "write `[f(x) for x in list if condition]` or `{key: f(x) for x in list}`";

/// Binding power of `not`: tighter than `and`, looser than comparisons.
const NOT_POWER: u8 = 3;

pub(super) fn parse(text: &str, offset: usize, place: &Place) -> Result<Expr, Diagnostic> {
    let mut parser =
        Parser { text, place, token: Token::End, range: offset..offset, last: offset, depth: 0 };
    parser.advance()?;
    if parser.token == Token::End {
        let span = place.part(offset, text.len());
        return Err(Diagnostic::error(code::EXPRESSION_SYNTAX, span, "the expression is empty")
            .hint("write a value after `=`"));
    }
    let root = parser.expression(0)?;
    match parser.token {
        Token::End => Ok(root),
        _ => Err(parser.trailing(&root)),
    }
}

struct Parser<'t> {
    text: &'t str,
    place: &'t Place,
    /// The current word and its range.
    token: Token,
    range: Range<usize>,
    /// End of the word before.
    last: usize,
    depth: usize,
}

/// A word that stands for a value everywhere.
enum Constant {
    Truth(bool),
    Number(f64),
}

fn constant(word: &str) -> Option<Constant> {
    Some(match word {
        "true" => Constant::Truth(true),
        "false" => Constant::Truth(false),
        "pi" => Constant::Number(std::f64::consts::PI),
        "inf" => Constant::Number(f64::INFINITY),
        _ => return None,
    })
}

/// True for a word that is a constant of expressions, such as `pi`, and so names nothing else.
pub fn is_constant(word: &str) -> bool {
    constant(word).is_some()
}

impl Parser<'_> {
    fn advance(&mut self) -> Result<(), Diagnostic> {
        self.last = self.range.end;
        let (token, range) =
            lexer::next(self.text, self.range.end).map_err(|(message, range)| {
                let found = Diagnostic::error(code::EXPRESSION_SYNTAX, self.span(&range), message);
                match self.text.get(range) {
                    Some("\"") => found.hint("put texts in single quotes: 'name'"),
                    Some("%") => {
                        found.hint("write a percentage as 70[%], a remainder as mod(x, y)")
                    }
                    _ => found,
                }
            })?;
        (self.token, self.range) = (token, range);
        Ok(())
    }

    fn span(&self, range: &Range<usize>) -> Span {
        self.place.part(range.start, range.end)
    }

    fn is(&self, symbol: &str) -> bool {
        matches!(self.token, Token::Symbol(found) if found == symbol)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(&self.token, Token::Name(found) if found == word)
    }

    fn eat(&mut self, symbol: &str) -> Result<bool, Diagnostic> {
        let found = self.is(symbol);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn found(&self) -> String {
        match &self.token {
            Token::End => "the end".to_owned(),
            _ => format!("`{}`", &self.text[self.range.clone()]),
        }
    }

    fn expected(&self, what: &str) -> Diagnostic {
        Diagnostic::error(
            code::EXPRESSION_SYNTAX,
            self.span(&self.range),
            format!("expected {what}, found {}", self.found()),
        )
    }

    /// Consumes the closing bracket, or names the opening one.
    fn close(&mut self, symbol: &str, open: &Range<usize>) -> Result<(), Diagnostic> {
        if self.eat(symbol)? {
            return Ok(());
        }
        Err(self.expected(&format!("`{symbol}`")).also(self.span(open), "opened here"))
    }

    fn node(&self, start: usize, kind: ExprKind) -> Result<Expr, Diagnostic> {
        let span = self.place.part(start, self.last);
        let height = kind.height() + 1;
        if height > HEIGHT_LIMIT {
            return Err(too_deep(span));
        }
        Ok(Expr { span, kind, height })
    }

    /// An expression whose operators bind at least as tightly as `power`.
    fn expression(&mut self, power: u8) -> Result<Expr, Diagnostic> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return Err(too_deep(self.span(&self.range)));
        }
        let start = self.range.start;
        let mut left = self.prefix()?;
        let mut compared = false;
        while let Some((operator, left_power, right_power)) = self.infix() {
            if left_power < power {
                break;
            }
            let comparison = left_power == COMPARISON_POWER;
            if comparison && compared {
                return Err(self
                    .expected("the end of the comparison")
                    .hint("comparisons do not chain: write `a < b and b < c`"));
            }
            compared = comparison;
            let member = self.is_word("in");
            self.advance()?;
            let right = self.expression(right_power)?;
            left = self.node(start, ExprKind::Binary(operator, Box::new((left, right))))?;
            if member {
                // `a in b` is `any(a == b)`: a comparison with a list is one with each item.
                let any = Name { text: "any".to_owned(), span: left.span };
                left = self.node(start, ExprKind::Call(any, vec![left]))?;
            }
        }
        self.depth -= 1;
        Ok(left)
    }

    /// The operator at hand with its binding powers to the left and to the right.
    fn infix(&self) -> Option<(Binary, u8, u8)> {
        let symbol = match &self.token {
            Token::Symbol(symbol) => symbol,
            Token::Name(word) => word.as_str(),
            _ => return None,
        };
        let row = INFIX.iter().find(|row| row.written.contains(&symbol))?;
        Some((row.operator, row.left, row.right))
    }

    fn prefix(&mut self) -> Result<Expr, Diagnostic> {
        let start = self.range.start;
        let operator = match &self.token {
            Token::Symbol("-") => Some((Unary::Negate, NEGATE_POWER)),
            Token::Symbol("!") => Some((Unary::Not, NEGATE_POWER)),
            Token::Name(word) if word == "not" => Some((Unary::Not, NOT_POWER)),
            _ => None,
        };
        if let Some((operator, power)) = operator {
            self.advance()?;
            let operand = self.expression(power)?;
            return self.node(start, ExprKind::Unary(operator, Box::new(operand)));
        }
        if self.eat("+")? {
            return self.expression(NEGATE_POWER);
        }
        if self.is_word("if") {
            return self.conditional(start);
        }
        let primary = self.primary()?;
        self.postfix(start, primary)
    }

    fn conditional(&mut self, start: usize) -> Result<Expr, Diagnostic> {
        self.advance()?;
        let condition = self.expression(0)?;
        self.keyword("then")?;
        let yes = self.expression(0)?;
        self.keyword("else")?;
        let no = self.expression(0)?;
        self.node(start, ExprKind::If(Box::new((condition, yes, no))))
    }

    fn keyword(&mut self, word: &str) -> Result<(), Diagnostic> {
        if !self.is_word(word) {
            return Err(self
                .expected(&format!("`{word}`"))
                .hint("a choice is written `if condition then a else b`"));
        }
        self.advance()
    }

    fn primary(&mut self) -> Result<Expr, Diagnostic> {
        let range = self.range.clone();
        match self.token.clone() {
            Token::Number(value) => {
                self.advance()?;
                let unit = self.unit_literal(range.clone(), value)?;
                self.number(range.start, value, unit)
            }
            Token::Text(text) => {
                self.advance()?;
                self.node(range.start, ExprKind::Text(text))
            }
            Token::Name(word) => {
                if KEYWORDS.contains(&word.as_str()) {
                    return Err(self.expected("a value"));
                }
                self.advance()?;
                self.word(range, word)
            }
            Token::Symbol("^") => {
                self.advance()?;
                let Token::Name(word) = self.token.clone() else {
                    return Err(self.expected("the name of a port after `^`"));
                };
                self.advance()?;
                self.node(range.start, ExprKind::Name(format!("^{word}")))
            }
            Token::Symbol("(") => {
                self.advance()?;
                let mut inner = self.expression(0)?;
                self.close(")", &range)?;
                inner.span = self.place.part(range.start, self.last);
                Ok(inner)
            }
            Token::Symbol("[") => {
                self.advance()?;
                if self.is("]") {
                    let items = self.items("]", &range)?;
                    return self.node(range.start, ExprKind::List(items));
                }
                let first = self.expression(0)?;
                if self.is_word("for") {
                    return self.each(&range, None, first, "]");
                }
                let mut items = vec![first];
                if self.eat(",")? {
                    items.extend(self.items("]", &range)?);
                } else {
                    self.close("]", &range)?;
                }
                self.node(range.start, ExprKind::List(items))
            }
            Token::Symbol("{") => {
                self.advance()?;
                let key = self.expression(0)?;
                if !self.eat(":")? {
                    return Err(self.expected("`:` behind the key").hint(EACH));
                }
                let item = self.expression(0)?;
                if !self.is_word("for") {
                    return Err(self.expected("`for`").hint(EACH));
                }
                self.each(&range, Some(key), item, "}")
            }
            _ => Err(self.expected("a value")),
        }
    }

    /// The rest of `[item for name in list if condition]`, from `for` on.
    fn each(
        &mut self,
        open: &Range<usize>,
        key: Option<Expr>,
        item: Expr,
        close: &str,
    ) -> Result<Expr, Diagnostic> {
        self.advance()?;
        let name = match &self.token {
            Token::Name(name) if !KEYWORDS.contains(&name.as_str()) => name.clone(),
            _ => return Err(self.expected("a name for the items").hint(EACH)),
        };
        self.advance()?;
        if !self.is_word("in") {
            return Err(self.expected("`in`").hint(EACH));
        }
        self.advance()?;
        let list = self.expression(0)?;
        let condition = if self.is_word("if") {
            self.advance()?;
            Some(self.expression(0)?)
        } else {
            None
        };
        self.close(close, open)?;
        let each = Each { key, item, name, list, condition };
        self.node(open.start, ExprKind::Each(Box::new(each)))
    }

    /// A name, a constant or a call.
    fn word(&mut self, range: Range<usize>, word: String) -> Result<Expr, Diagnostic> {
        if self.is("(") {
            let open = self.range.clone();
            self.advance()?;
            let arguments = self.items(")", &open)?;
            let name = Name { text: word, span: self.span(&range) };
            return self.node(range.start, ExprKind::Call(name, arguments));
        }
        let constant = match constant(&word) {
            Some(Constant::Truth(value)) => return self.node(range.start, ExprKind::Bool(value)),
            Some(Constant::Number(value)) => value,
            None => return self.node(range.start, ExprKind::Name(word)),
        };
        let unit = self.unit_literal(range.clone(), constant)?;
        self.number(range.start, constant, unit)
    }

    fn number(
        &mut self,
        start: usize,
        value: f64,
        unit: Option<(Unit, f64)>,
    ) -> Result<Expr, Diagnostic> {
        if let (Token::Name(word), None) = (&self.token, unit)
            && !KEYWORDS.contains(&word.as_str())
            && word != "in"
            && word != "for"
        {
            let number = &self.text[start..self.last];
            let hint = match parse_unit(word) {
                Ok(_) => format!("write the unit in brackets: `{number}[{word}]`"),
                Err(_) => format!("write a product with `*`: `{number}*{word}`"),
            };
            return Err(self.expected("an operator").hint(hint));
        }
        let scaled = unit.map_or(value, |(_, scaled)| scaled);
        self.node(start, ExprKind::Number(scaled, unit.map(|(unit, _)| unit)))
    }

    /// `[unit]` directly after the number or constant at `literal`; gives the unit and the SI
    /// value.
    fn unit_literal(
        &mut self,
        literal: Range<usize>,
        value: f64,
    ) -> Result<Option<(Unit, f64)>, Diagnostic> {
        if !self.is("[") {
            return Ok(None);
        }
        let open = self.range.end;
        let Some(length) = self.text[open..].find(']') else {
            return Err(Diagnostic::error(
                code::EXPRESSION_SYNTAX,
                self.span(&self.range),
                "expected `]` after the unit",
            ));
        };
        let (unit, scale) = parse_unit(&self.text[open..open + length]).map_err(|error| {
            let range = open + error.range.start..open + error.range.end;
            let found = Diagnostic::error(code::UNIT, self.span(&range), error.message);
            error.hint.into_iter().fold(found, Diagnostic::hint)
        })?;
        // Digits are scaled as text, so that `5[cm]` is the nearest double to 0.05.
        let scaled = scale.apply(&self.text[literal]).unwrap_or(value * scale.value());
        self.range = open + length..open + length + 1;
        self.advance()?;
        Ok(Some((unit, scaled)))
    }

    /// Values between commas up to the closing bracket; a last comma is allowed.
    fn items(&mut self, close: &str, open: &Range<usize>) -> Result<Vec<Expr>, Diagnostic> {
        let mut items = Vec::new();
        while !self.is(close) {
            if self.token == Token::End {
                self.close(close, open)?;
            }
            items.push(self.expression(0)?);
            if !self.eat(",")? {
                break;
            }
        }
        self.close(close, open)?;
        Ok(items)
    }

    fn postfix(&mut self, start: usize, mut left: Expr) -> Result<Expr, Diagnostic> {
        loop {
            if self.eat(".")? {
                let Token::Name(text) = self.token.clone() else {
                    return Err(self.expected("the name of a field after `.`"));
                };
                let name = Name { text, span: self.span(&self.range) };
                self.advance()?;
                left = self.node(start, ExprKind::Field(Box::new(left), name))?;
            } else if self.is("[") {
                let open = self.range.clone();
                self.advance()?;
                left = self.index(start, &open, left)?;
            } else {
                return Ok(left);
            }
        }
    }

    /// `i]`, `i, j]`, `i..j]`, `i..]` or `..j]`.
    fn index(&mut self, start: usize, open: &Range<usize>, left: Expr) -> Result<Expr, Diagnostic> {
        let from = if self.is("..") { None } else { Some(Box::new(self.expression(0)?)) };
        let kind = if self.eat("..")? {
            let to = if self.is("]") { None } else { Some(Box::new(self.expression(0)?)) };
            ExprKind::Slice(Box::new(left), from, to)
        } else {
            match from {
                // An element of a matrix: `m[i, j]` is `m[i][j]`.
                Some(index) if self.eat(",")? => {
                    let row = self.node(start, ExprKind::Index(Box::new(left), index))?;
                    ExprKind::Index(Box::new(row), Box::new(self.expression(0)?))
                }
                Some(index) => ExprKind::Index(Box::new(left), index),
                None => return Err(self.expected("an index")),
            }
        };
        self.close("]", open)?;
        self.node(start, kind)
    }

    /// The error for words after a complete expression.
    fn trailing(&self, root: &Expr) -> Diagnostic {
        let found = self.expected("an operator or the end");
        match self.token {
            Token::Symbol("=") => found.hint("compare with `==`"),
            Token::Symbol(")" | "]" | "}") => found.hint("remove it, or open a bracket in front"),
            Token::Symbol("?" | ":") => found.hint("write `if condition then a else b`"),
            Token::Name(_) | Token::Number(_) | Token::Text(_) => {
                found.also(root.span, "the expression is complete here")
            }
            _ => found,
        }
    }
}

fn too_deep(span: Span) -> Diagnostic {
    Diagnostic::error(code::EXPRESSION_DEPTH, span, "the expression is nested too deeply")
        .hint("split it into several parameters")
}
