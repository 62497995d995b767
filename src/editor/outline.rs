//! The sections, parameters and blocks of a text.

use std::ops::Range;

use crate::document::Document;
use crate::tree::Item;

/// A named thing of a text, with those inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// Its kind, such as `JointPd`; empty if it has none.
    pub kind: String,
    /// All of it.
    pub range: Range<usize>,
    /// Its name, with quotes.
    pub name_range: Range<usize>,
    /// Whether it is a block or a part that holds blocks.
    pub is_block: bool,
    /// What is inside.
    pub inside: Vec<Symbol>,
}

/// Sections that hold named things.
const SECTIONS: [&str; 9] =
    ["params", "holes", "robots", "variants", "choices", "blocks", "body", "judge", "checks"];

impl Document {
    /// Its sections with what they name.
    pub fn outline(&self) -> Vec<Symbol> {
        let sections = self.tree.items.first().map_or(&[][..], Item::items);
        sections.iter().filter_map(|section| symbol(section, self.text(), false)).collect()
    }
}

fn symbol(item: &Item, text: &str, is_block: bool) -> Option<Symbol> {
    let key = item.key.as_ref()?;
    let is_section = |item: &&Item| item.name().is_some_and(|name| SECTIONS.contains(&name));
    let mut inside = Vec::new();
    let own = if SECTIONS.contains(&key.name.as_str()) { item.items() } else { &[] };
    let holds_blocks = ["blocks", "body", "choices"].contains(&key.name.as_str());
    inside.extend(own.iter().filter_map(|item| symbol(item, text, holds_blocks)));
    if own.is_empty() {
        for section in item.items().iter().filter(is_section) {
            let holds_blocks =
                ["blocks", "body", "choices"].contains(&section.name().unwrap_or(""));
            let items = section.items().iter();
            inside.extend(items.filter_map(|item| symbol(item, text, holds_blocks)));
        }
    }
    Some(Symbol {
        name: key.name.clone(),
        kind: item.kind(text).unwrap_or_default().to_owned(),
        range: item.start..item.end,
        name_range: key.range.clone(),
        is_block,
        inside,
    })
}
