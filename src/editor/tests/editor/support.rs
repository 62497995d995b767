//! Texts with a mark where the cursor is.

use legwork_editor::{Completion, Document, Service};
use legwork_study::{Diagram, Library, Survey};

/// Where the cursor is.
pub(crate) const MARK: &str = "‸";

/// A service for the standard library.
pub(crate) fn service() -> Service {
    Service::new(Library::new(legwork_blocks::register))
}

/// The text without its mark, and the byte of the mark.
pub(crate) fn unmarked(text: &str) -> (String, usize) {
    let at = text.find(MARK).expect("the text has a mark");
    (text.replacen(MARK, "", 1), at)
}

/// A text beside the shipped diagrams.
pub(crate) fn open(service: &Service, text: &str) -> (Document, Diagram, Survey) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../diagrams/basics/text.ron");
    let diagram = service.library().diagram(path, text);
    let survey = service.survey(&diagram);
    (Document::new(path, text), diagram, survey)
}

/// What can be written at the mark.
pub(crate) fn complete(service: &Service, marked: &str) -> Vec<Completion> {
    let (text, at) = unmarked(marked);
    let (document, diagram, survey) = open(service, &text);
    service.complete(&document, at, &diagram, Some(&survey))
}

/// The labels of what can be written at the mark.
pub(crate) fn labels(service: &Service, marked: &str) -> Vec<String> {
    complete(service, marked).into_iter().map(|one| one.label).collect()
}
