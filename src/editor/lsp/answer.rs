//! What each request is answered with.

use std::sync::Arc;

use legwork_study::{Diagram, Survey};
use lsp_types::{
    CompletionParams, DocumentSymbolParams, GotoDefinitionParams, HoverParams,
    TextDocumentPositionParams,
};
use serde_json::{Value, json};

use super::convert;
use super::state::{Open, State};
use super::{Code, Refusal};
use crate::define::Definition;
use crate::text::{Position, offset_at};
use crate::uri::path_of;

/// A place in an open text, and what is needed to answer about it.
struct Place<'s> {
    open: &'s Open,
    offset: usize,
    diagram: Diagram,
    survey: Arc<Survey>,
}

impl State {
    fn place(&mut self, at: &TextDocumentPositionParams) -> Result<Place<'_>, Refusal> {
        let uri = at.text_document.uri.as_str();
        let path = path_of(uri);
        let missing = || Refusal(Code::InvalidParams, format!("`{uri}` is not open"));
        let diagram = self.diagram(&path).ok_or_else(missing)?;
        let open = self.open.get_mut(&path).ok_or_else(missing)?;
        // Only before the first compilation has ended.
        let survey =
            open.survey.get_or_insert_with(|| Arc::new(self.service.survey(&diagram))).clone();
        let lsp_types::Position { line, character } = at.position;
        let offset = offset_at(open.document.text(), Position { line, character });
        Ok(Place { open, offset, diagram, survey })
    }

    pub(super) fn complete(&mut self, params: &CompletionParams) -> Result<Value, Refusal> {
        let (service, snippets) = (Arc::clone(&self.service), self.snippets);
        let at = self.place(&params.text_document_position)?;
        let document = &at.open.document;
        let found = service.complete(document, at.offset, &at.diagram, Some(&at.survey));
        let items = found.iter().enumerate();
        let items: Vec<Value> =
            items.map(|(i, one)| convert::completion(one, i, document.text(), snippets)).collect();
        Ok(json!({ "isIncomplete": false, "items": items }))
    }

    pub(super) fn hover(&mut self, params: &HoverParams) -> Result<Value, Refusal> {
        let service = Arc::clone(&self.service);
        let at = self.place(&params.text_document_position_params)?;
        let document = &at.open.document;
        let found = service.hover(document, at.offset, &at.diagram, Some(&at.survey));
        Ok(found.map_or(Value::Null, |hover| {
            json!({
                "contents": { "kind": "markdown", "value": hover.markdown },
                "range": convert::range(document.text(), &hover.range),
            })
        }))
    }

    pub(super) fn define(&mut self, params: &GotoDefinitionParams) -> Result<Value, Refusal> {
        let service = Arc::clone(&self.service);
        let at = self.place(&params.text_document_position_params)?;
        let document = &at.open.document;
        let found = service.define(document, at.offset, &at.diagram, Some(&at.survey));
        let uri = at.open.uri.clone();
        Ok(match found {
            Some(Definition::Here(range)) => {
                json!({ "uri": uri, "range": convert::range(document.text(), &range) })
            }
            // What is built in has no address.
            Some(Definition::File(file)) if file.starts_with("std:") => Value::Null,
            Some(Definition::File(file)) => {
                json!({ "uri": self.uri(&file), "range": convert::range("", &(0..0)) })
            }
            None => Value::Null,
        })
    }

    pub(super) fn symbols(&mut self, params: &DocumentSymbolParams) -> Result<Value, Refusal> {
        let uri = params.text_document.uri.as_str();
        let Some(open) = self.open.get(&path_of(uri)) else {
            return Err(Refusal(Code::InvalidParams, format!("`{uri}` is not open")));
        };
        let text = open.document.text();
        Ok(open.document.outline().iter().map(|symbol| convert::symbol(symbol, text)).collect())
    }
}
