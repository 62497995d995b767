//! The language service: what an editor asks about a text.

use legwork_study::{Diagram, Library, Survey};

use crate::document::{Document, Spot, spot};
use crate::grammar::{Surroundings, surroundings};
use crate::repair;
use crate::signals::Scope;
use crate::vocabulary::Vocabulary;

/// Answers what an editor asks. It reads files through a [`Diagram`] alone and keeps nothing but
/// the manuals of its library.
pub struct Service {
    pub(crate) words: Vocabulary,
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service").field("library", &self.words.library).finish_non_exhaustive()
    }
}

impl Service {
    /// A service for what `library` has.
    pub fn new(library: Library) -> Self {
        Self { words: Vocabulary::new(library) }
    }

    /// What diagrams are made of.
    pub fn library(&self) -> &Library {
        &self.words.library
    }

    /// Makes the manuals now rather than with the first answer.
    pub fn warm(&self) {
        self.words.manuals();
        self.words.pages();
    }

    /// What is known of a diagram. Of a text that is no RON it is what is known without the lines
    /// that have mistakes; the diagnostics are those of the text as it is.
    pub fn survey(&self, diagram: &Diagram) -> Survey {
        let survey = diagram.survey();
        let text = std::str::from_utf8(diagram.text()).unwrap_or_default();
        if repair::is_whole(text) {
            return survey;
        }
        let Some(repaired) = repair::repaired(text) else { return survey };
        let known = diagram.clone().with_text(diagram.name(), repaired).survey();
        Survey { diagnostics: survey.diagnostics, sources: survey.sources, ..known }
    }
}

/// A place in a document, with what is known around it.
pub(crate) struct Asked<'t> {
    pub(crate) document: &'t Document,
    pub(crate) offset: usize,
    pub(crate) around: Surroundings<'t>,
    pub(crate) spot: Spot<'t>,
    pub(crate) words: &'t Vocabulary,
    pub(crate) survey: Option<&'t Survey>,
    pub(crate) diagram: &'t Diagram,
}

impl<'t> Asked<'t> {
    /// The place `offset`, moved to the beginning of its character; none in a comment.
    pub(crate) fn new(
        words: &'t Vocabulary,
        document: &'t Document,
        offset: usize,
        diagram: &'t Diagram,
        survey: Option<&'t Survey>,
    ) -> Option<Self> {
        let text = document.text();
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        if document.tree.is_comment(offset) {
            return None;
        }
        let file = |name: &str| String::from_utf8(diagram.look(name).ok()?).ok();
        let around = surroundings(&document.tree, text, offset, words, &file);
        let items = around.items.last().map_or(&document.tree.items[..], |(item, _)| item.items());
        let spot = spot(items, &around.inside, text, offset);
        Some(Self { document, offset, around, spot, words, survey, diagram })
    }

    /// The signals that can be seen here.
    pub(crate) fn scope(&self) -> Scope<'_> {
        let Self { document, around, words, survey, .. } = self;
        Scope::new(around, &document.tree, document.text(), words, *survey)
    }

    pub(crate) fn text(&self) -> &'t str {
        self.document.text()
    }
}
