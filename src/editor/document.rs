//! A text that somebody is writing, and where one is in it.

use std::ops::Range;

use crate::grammar::{Expect, Inside, child};
use crate::repair;
use crate::tree::{Item, Tree, Value};

/// A text with its path and its shape.
#[derive(Debug)]
pub struct Document {
    path: String,
    text: String,
    pub(crate) tree: Tree,
}

impl Document {
    /// A text, which may be broken, of the file at `path`.
    pub fn new(path: &str, text: &str) -> Self {
        let tree = Tree::of(text, !repair::is_whole(text));
        Self { path: path.to_owned(), text: text.to_owned(), tree }
    }

    /// Its path.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What kind of file it is: `Diagram`, `Mask`, `Study`.
    pub fn kind(&self) -> Option<&str> {
        self.tree.items.first()?.kind(&self.text)
    }
}

/// What is at a place.
#[derive(Debug)]
pub(crate) enum Spot<'t> {
    /// The name in front of a colon.
    Key(&'t Item),
    /// Inside of a text, which is expected to be this.
    Text {
        inner: Range<usize>,
        expect: Expect,
    },
    /// A word, or where one can be: what is expected of it; its bytes.
    Word {
        item: Option<&'t Item>,
        range: Range<usize>,
        expect: Expect,
    },
    /// Where a name can be put, bare or as a text; its bytes without quotes.
    Name {
        range: Range<usize>,
        is_quoted: bool,
    },
    Nothing,
}

/// What is at `offset` inside of brackets, of which `inside` is known.
pub(crate) fn spot<'t>(items: &'t [Item], inside: &Inside, text: &str, offset: usize) -> Spot<'t> {
    let touching = items.iter().enumerate().rev();
    let mut touching = touching.filter(|(_, item)| item.start <= offset && offset <= item.end);
    let by_name = matches!(inside, Inside::Fields(..) | Inside::Names(_) | Inside::Wires);
    if let Some((index, item)) = touching.next() {
        if item.key.as_ref().is_some_and(|key| offset <= key.colon) {
            return Spot::Key(item);
        }
        let expect = child(inside, item, index);
        let is_name = by_name && item.key.is_none();
        return match &item.value {
            Value::Text(_, inner) if inner.start <= offset && offset <= inner.end => {
                match is_name {
                    true => Spot::Name { range: inner.clone(), is_quoted: true },
                    false => Spot::Text { inner: inner.clone(), expect },
                }
            }
            Value::Word(range) if range.start <= offset && offset <= range.end => match is_name {
                true => Spot::Name { range: range.clone(), is_quoted: false },
                false => Spot::Word { item: Some(item), range: range.clone(), expect },
            },
            Value::Missing => Spot::Word { item: Some(item), range: offset..offset, expect },
            Value::Group(_) => match &item.kind {
                Some(kind) if kind.start <= offset && offset <= kind.end => {
                    Spot::Word { item: Some(item), range: kind.clone(), expect }
                }
                _ => Spot::Nothing,
            },
            _ => Spot::Nothing,
        };
    }
    let before = items.iter().enumerate().rev().find(|(_, item)| item.end <= offset);
    if let Some((index, item)) = before {
        let has_comma = text.get(item.end..offset).is_some_and(|between| between.contains(','));
        if !has_comma && item.key.is_some() && matches!(item.value, Value::Missing) {
            let expect = child(inside, item, index);
            return Spot::Word { item: Some(item), range: offset..offset, expect };
        }
    }
    match inside {
        Inside::Listed(list) => {
            let index = before.map_or(0, |(index, _)| index + 1);
            let expect = list.get(index).or(list.last()).cloned().unwrap_or(Expect::Value);
            Spot::Word { item: None, range: offset..offset, expect }
        }
        _ => Spot::Name { range: offset..offset, is_quoted: false },
    }
}
