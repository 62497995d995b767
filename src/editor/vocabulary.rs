//! The words of the language and of the library, with their manuals.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use legwork_diagram::Manual as Construct;
use legwork_study::Library;
use legwork_study::manual::{self, Manual, Section};
use legwork_study::reference::{self, Page};

/// What a diagram can be written with. Manuals are made when they are first asked for.
pub(crate) struct Vocabulary {
    pub(crate) library: Library,
    constructs: Vec<Construct>,
    manuals: OnceLock<BTreeMap<&'static str, Manual>>,
    pages: OnceLock<Vec<Page>>,
}

impl Vocabulary {
    pub(crate) fn new(library: Library) -> Self {
        Self {
            library,
            constructs: legwork_diagram::constructs(),
            manuals: OnceLock::new(),
            pages: OnceLock::new(),
        }
    }

    /// The manuals of all kinds.
    pub(crate) fn manuals(&self) -> &BTreeMap<&'static str, Manual> {
        self.manuals.get_or_init(|| {
            let all = manual::manuals(self.library.registry());
            all.into_iter().map(|manual| (manual.kind, manual)).collect()
        })
    }

    /// The manual of a kind of block or robot.
    pub(crate) fn manual(&self, kind: &str) -> Option<&Manual> {
        self.manuals().get(kind)
    }

    /// The kinds that are written in a section.
    pub(crate) fn kinds(&self, section: Section) -> impl Iterator<Item = &Manual> {
        self.manuals().values().filter(move |manual| manual.section == section)
    }

    /// The manual of a construct; of those that are a file and a part of one too, that of the file
    /// if it `is_file`.
    pub(crate) fn construct(&self, name: &str, is_file: bool) -> Option<Construct> {
        let named = |one: &&Construct| one.name == name;
        let mut all: Vec<&Construct> = self.constructs.iter().filter(named).collect();
        // What is a part of a diagram takes `in` or other fields, a file says its format.
        all.sort_by_key(|one| one.fields.iter().any(|field| field.name == "format") != is_file);
        all.first().map(|one| **one)
    }

    /// The constructs that are whole files.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Construct> {
        self.constructs.iter().filter(|one| one.fields.iter().any(|field| field.name == "format"))
    }

    /// The pages of the reference.
    pub(crate) fn pages(&self) -> &[Page] {
        self.pages.get_or_init(|| reference::pages(self.library.registry()))
    }
}
