//! What somebody needs who writes a text: completion, manuals, definitions, by the language service
//! of editors, beside the engine.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use legwork_editor::{Definition, Document, Position, Service, offset_at, position_at};
use legwork_study::{Diagram, Survey};
use serde_json::{Value, json};

use super::{Engine, describe};
use crate::protocol::{Refusal, Text};

/// Most questions at a time.
const MOST_ASKED: usize = 8;

/// What is asked about a place.
#[derive(Debug, Clone, Copy)]
pub(super) enum Question {
    Complete,
    Hover,
    Define,
}

/// The language service of an engine.
#[derive(Default)]
pub(super) struct Writing {
    service: OnceLock<Service>,
    /// The last text that was surveyed, with its file, and what is known of the diagram with it.
    known: Mutex<Option<(String, String, Arc<Survey>)>>,
    asked: AtomicUsize,
}

impl Engine {
    /// Answers a question about a text when that is done.
    pub(super) fn write(
        &mut self,
        asked: (u64, u64),
        source: usize,
        question: Question,
        text: Text,
    ) -> Option<Result<Value, Refusal>> {
        let Some(Some(live)) = self.sources.get(source) else { return None };
        if live.model.sources().find(&text.file).is_none() || !describe::is_file(&text.file) {
            return Some(Err(format!("the diagram has no file `{}`", text.file).into()));
        }
        let diagram = live.session.edited_diagram();
        let diagram = diagram.with_text(&text.file, text.text.clone().into_bytes());
        let writing = Arc::clone(&self.writing);
        if writing.asked.fetch_add(1, Ordering::SeqCst) >= MOST_ASKED {
            writing.asked.fetch_sub(1, Ordering::SeqCst);
            return Some(Err("too much is asked at a time".into()));
        }
        self.beside(asked, move |_| {
            let answer = writing.answer(question, &text, &diagram);
            writing.asked.fetch_sub(1, Ordering::SeqCst);
            Ok(answer)
        })
    }
}

/// Units of UTF-16 before a byte, as pages count.
fn units(text: &str, byte: usize) -> usize {
    text[..byte].encode_utf16().count()
}

impl Writing {
    fn answer(&self, question: Question, asked: &Text, diagram: &Diagram) -> Value {
        let service = self.service.get_or_init(|| Service::new(diagram.library().clone()));
        let Text { file, text, line, column } = asked;
        let document = Document::new(file, text);
        let before = |number: &u32| number.saturating_sub(1);
        let position = Position { line: before(line), character: before(column) };
        let at = offset_at(text, position);
        let survey = self.survey(service, file, text, diagram);
        let survey = Some(&*survey);
        match question {
            Question::Complete => {
                let found = service.complete(&document, at, diagram, survey);
                let Some(range) = found.first().map(|one| one.range.clone()) else {
                    return json!({ "items": [] });
                };
                let fits = found.iter().filter(|one| one.range == range);
                let items = fits.map(|one| {
                    json!({
                        "label": one.label,
                        "detail": one.detail,
                        "info": one.doc,
                        "kind": one.kind.word(),
                        "insert": one.insert,
                    })
                });
                let (from, to) = (units(text, range.start), units(text, range.end));
                json!({ "items": items.collect::<Vec<_>>(), "from": from, "to": to })
            }
            Question::Hover => match service.hover(&document, at, diagram, survey) {
                Some(hover) => {
                    let (from, to) = (hover.range.start, hover.range.end);
                    let (from, to) = (units(text, from), units(text, to));
                    json!({ "text": hover.markdown, "from": from, "to": to })
                }
                None => json!({}),
            },
            Question::Define => match service.define(&document, at, diagram, survey) {
                Some(Definition::Here(range)) => {
                    let Position { line, .. } = position_at(text, range.start);
                    // Places in texts count characters.
                    let start = text[..range.start].rfind('\n').map_or(0, |newline| newline + 1);
                    let column = text[start..range.start].chars().count() + 1;
                    json!({ "file": file, "line": line + 1, "column": column })
                }
                Some(Definition::File(file)) => json!({ "file": file, "line": 1, "column": 1 }),
                None => json!({}),
            },
        }
    }

    /// What is known of the diagram with this text.
    fn survey(&self, service: &Service, file: &str, text: &str, diagram: &Diagram) -> Arc<Survey> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of_file, of_text, survey)) = &*known
            && of_file == file
            && of_text == text
        {
            return Arc::clone(survey);
        }
        let survey = Arc::new(service.survey(diagram));
        *known = Some((file.to_owned(), text.to_owned(), Arc::clone(&survey)));
        survey
    }
}
