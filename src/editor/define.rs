//! Where what is at a place is written.

use std::ops::Range;

use legwork_study::{Diagram, Survey};

use crate::document::{Document, Spot};
use crate::grammar::Expect;
use crate::hover::path_at;
use crate::service::{Asked, Service};
use crate::signals::split;
use crate::tree::Item;

/// Where something is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Definition {
    /// In the text itself.
    Here(Range<usize>),
    /// At the beginning of another file: its path, with `std:` in front if it is built in.
    File(String),
}

impl Service {
    /// Where what is at byte `offset` is written: a block, a parameter, a robot, a variant, the file
    /// of a mask.
    pub fn define(
        &self,
        document: &Document,
        offset: usize,
        diagram: &Diagram,
        survey: Option<&Survey>,
    ) -> Option<Definition> {
        let asked = Asked::new(&self.words, document, offset, diagram, survey)?;
        find(&asked)
    }
}

fn find(asked: &Asked<'_>) -> Option<Definition> {
    let text = asked.text();
    match &asked.spot {
        // The kind of a part that is in a file of its own.
        Spot::Word { item: Some(item), .. } => {
            let file = item.get("file").and_then(|file| file.text(text));
            file.and_then(|file| of_file(asked, file))
        }
        Spot::Text { inner, expect } => {
            let whole = text.get(inner.clone())?;
            match expect {
                _ if whole.starts_with('=') => {
                    let range = path_at(text, asked.offset, inner)?;
                    of_name(asked, text.get(range)?)
                }
                Expect::Signal | Expect::Collected => {
                    let range = path_at(text, asked.offset, inner)?;
                    of_block(asked, text.get(range)?)
                }
                Expect::Path => of_file(asked, whole),
                Expect::Hole => section(asked, &["variants", "holes"], whole),
                Expect::RobotName => section(asked, &["robots", "params"], whole),
                Expect::Choice => {
                    let (variant, _) = asked.around.items.last()?;
                    here(variant.get("choices")?.get(whole)?)
                }
                // `Robot("std:robots/go.ron")`, `Use("qp")`.
                _ => of_file(asked, whole),
            }
        }
        _ => None,
    }
}

fn here(item: &Item) -> Option<Definition> {
    Some(Definition::Here(item.key.as_ref()?.range.clone()))
}

/// The entry of one of these sections of the file.
fn section(asked: &Asked<'_>, sections: &[&str], name: &str) -> Option<Definition> {
    let root = asked.document.tree.items.first()?;
    let entry = |section: &&str| root.get(section)?.get(name);
    here(sections.iter().find_map(entry)?)
}

/// The block that a path begins with, or an input that is declared.
fn of_block(asked: &Asked<'_>, path: &str) -> Option<Definition> {
    let scope = asked.scope();
    let first = *split(path).first()?;
    let name = first.split('[').next().unwrap_or(first);
    match name.strip_prefix('^') {
        Some(input) => here(scope.input(input)?),
        None => here(scope.block(name)?),
    }
}

/// What an expression means by a path.
fn of_name(asked: &Asked<'_>, path: &str) -> Option<Definition> {
    let steps = split(path);
    let first = *steps.first()?;
    if first == "variants" {
        return section(asked, &["variants"], steps.get(1)?);
    }
    let over = asked.around.items.iter().rev().find_map(|(item, _)| item.get("over")?.get(first));
    over.and_then(here)
        .or_else(|| section(asked, &["params", "robots", "judge"], first))
        .or_else(|| of_block(asked, path))
}

/// A file by the name that the diagram has for it.
fn of_file(asked: &Asked<'_>, name: &str) -> Option<Definition> {
    asked.diagram.place(name).ok().map(Definition::File)
}
