//! What can be written in a text: paths of signals, names, quantities.

use std::ops::Range;

use super::{CompletionKind, List, escaped, is_of_name, quoted};
use crate::grammar::Expect;
use crate::schema;
use crate::tree::Item;

/// Most files beside a text that are offered.
const MOST_FILES: usize = 500;

impl List<'_> {
    /// What a text may hold.
    pub(super) fn in_text(&mut self, expect: &Expect, inner: &Range<usize>) {
        let text = self.asked.text();
        let begun = &text[inner.start..self.asked.offset];
        if let Some(expression) = begun.strip_prefix('=') {
            let signals = matches!(expect, Expect::Expression { signals: true } | Expect::Judged);
            return self.expression(expression, signals);
        }
        match expect {
            Expect::Signal | Expect::Collected => self.paths(begun, inner, true),
            Expect::Schema(root, part) => match schema::unit_of(root, part) {
                Some(unit) => self.quantity(begun, Some(&unit)),
                None => {
                    for choice in schema::choices(root, part) {
                        let told = (choice.name.as_str(), "", choice.doc.as_str());
                        self.add(told, CompletionKind::Choice, escaped(&choice.name), inner);
                    }
                }
            },
            Expect::Param | Expect::Value | Expect::Expression { .. } => self.quantity(begun, None),
            expect => self.named(expect, inner, true),
        }
    }

    /// Names that a text holds as a whole.
    pub(super) fn named(&mut self, expect: &Expect, range: &Range<usize>, is_quoted: bool) {
        let (document, text) = (self.asked.document, self.asked.text());
        let root = document.tree.items.first();
        let section =
            |name: &str| root.and_then(|root| root.get(name)).map_or(&[][..], Item::items);
        let names = |items: &[Item]| -> Vec<(String, String)> {
            let one = |item: &Item| {
                Some((item.name()?.to_owned(), item.kind(text).unwrap_or_default().to_owned()))
            };
            items.iter().filter_map(one).collect()
        };
        match expect {
            Expect::Hole => {
                for (name, kind) in
                    names(section("variants")).into_iter().chain(names(section("holes")))
                {
                    let insert = quoted(&name, is_quoted);
                    self.add((&name, &kind, ""), CompletionKind::Name, insert, range);
                }
            }
            Expect::Choice => {
                let Some((variant, _)) = self.asked.around.items.last() else { return };
                for (name, kind) in names(variant.get("choices").map_or(&[], Item::items)) {
                    let insert = quoted(&name, is_quoted);
                    self.add((&name, &kind, ""), CompletionKind::Choice, insert, range);
                }
            }
            Expect::RobotName => {
                for (name, kind) in names(section("robots")) {
                    let insert = quoted(&name, is_quoted);
                    self.add((&name, &kind, ""), CompletionKind::Name, insert, range);
                }
                for item in section("params").iter().filter(|item| item.kind(text) == Some("Robot"))
                {
                    let Some(name) = item.name() else { continue };
                    let name = format!("={name}");
                    let insert = quoted(&name, is_quoted);
                    self.add((&name, "Robot", ""), CompletionKind::Name, insert, range);
                }
            }
            Expect::Type | Expect::PortType | Expect::BusField => self.types(range, is_quoted),
            Expect::Unit => self.units(None, range, |unit| quoted(unit, is_quoted)),
            Expect::Path => {
                for name in self.files() {
                    let insert = quoted(&name, is_quoted);
                    self.add((&name, "", ""), CompletionKind::File, insert, range);
                }
            }
            _ => {}
        }
    }

    /// Built-in files, and those beside the text.
    fn files(&self) -> Vec<String> {
        let path = std::path::Path::new(self.asked.document.path());
        let folder = path.parent().filter(|_| !self.asked.document.path().starts_with("std:"));
        let beside = folder.and_then(|folder| std::fs::read_dir(folder).ok());
        let names = beside.into_iter().flatten().take(MOST_FILES);
        let mut beside: Vec<String> =
            names.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        beside.retain(|name| {
            !name.starts_with('.') && path.file_name().is_none_or(|own| own != name.as_str())
        });
        beside.sort();
        let registry = self.asked.words.library.registry();
        beside.into_iter().chain(registry.files().map(|name| format!("std:{name}"))).collect()
    }

    pub(super) fn types(&mut self, range: &Range<usize>, is_quoted: bool) {
        let registry = self.asked.words.library.registry();
        let words = legwork_diagram::basic_types().map(|word| (word.name.to_owned(), word.doc));
        let named = registry.types().map(|ty| {
            let argument = if ty.max_args > 0 { "(robot)" } else { "" };
            (format!("{}{argument}", ty.name), ty.doc)
        });
        let all: Vec<(String, &str)> = words.chain(named).collect();
        for (name, doc) in all {
            let insert = quoted(&name, is_quoted);
            self.add((&name, "", doc), CompletionKind::Type, insert, range);
        }
    }

    /// Signals, of which `begun` is there.
    pub(super) fn paths(&mut self, begun: &str, range: &Range<usize>, is_quoted: bool) {
        let last = begun.rfind('.').filter(|at| !begun[*at..].contains(']'));
        let base = last.map_or("", |at| &begun[..at]);
        let start = if is_quoted { range.start + last.map_or(0, |at| at + 1) } else { range.start };
        let end = self.end_of_step(start, range.end);
        for port in self.asked.scope().behind(base) {
            let insert = if is_quoted { escaped(&port.name) } else { quoted(&port.name, false) };
            let (head, kind) = (port.head(), CompletionKind::Signal);
            self.add((&port.name, &head, &port.doc), kind, insert, &(start..end));
        }
    }

    /// Where the step of a path ends that the place is in.
    pub(super) fn end_of_step(&self, start: usize, limit: usize) -> usize {
        let from = self.asked.offset.max(start).min(limit);
        let rest = &self.asked.text()[from..limit];
        from + rest.find(|c: char| !is_of_name(c)).unwrap_or(rest.len())
    }
}
