//! The texts that are open, and what is known of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use legwork_study::{Diagram, Survey};
use lsp_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    DidSaveTextDocumentParams, TextDocumentContentChangeEvent,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::compiler::{Compiled, Compiler};
use super::convert;
use super::{Code, Refusal};
use crate::document::Document;
use crate::findings::{self, Finding};
use crate::service::Service;
use crate::text::{Position, offset_at};
use crate::uri::{path_of, uri_of};

/// Where the client is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    New,
    Serving,
    ShutDown,
}

/// A text that is open.
pub(super) struct Open {
    pub(super) uri: String,
    pub(super) document: Document,
    pub(super) version: i64,
    /// The number of the text that is compiled now.
    number: u64,
    pub(super) survey: Option<Arc<Survey>>,
}

impl Open {
    /// Whether it is a mask or a patch, which is looked at by itself.
    fn is_part(&self) -> bool {
        self.document.kind().is_some_and(|kind| ["Mask", "Patch"].contains(&kind))
    }
}

pub(super) struct State {
    pub(super) service: Arc<Service>,
    compiler: Compiler,
    stage: Stage,
    /// By path.
    pub(super) open: BTreeMap<String, Open>,
    /// What is wrong, by file, and by the path of the diagram of which it was found.
    wrong: BTreeMap<String, BTreeMap<String, Vec<Finding>>>,
    /// Notifications that wait to be sent.
    pub(super) outbox: Vec<Value>,
    count: u64,
    /// Whether the client fills in snippets.
    pub(super) snippets: bool,
}

fn parsed<T: DeserializeOwned>(params: Value) -> Result<T, Refusal> {
    serde_json::from_value(params).map_err(|error| Refusal(Code::InvalidParams, error.to_string()))
}

impl State {
    pub(super) fn new(service: Arc<Service>, compiler: Compiler) -> Self {
        Self {
            service,
            compiler,
            stage: Stage::New,
            open: BTreeMap::new(),
            wrong: BTreeMap::new(),
            outbox: Vec::new(),
            count: 0,
            snippets: false,
        }
    }

    pub(super) fn is_shut_down(&self) -> bool {
        self.stage == Stage::ShutDown
    }

    pub(super) fn request(&mut self, method: &str, params: Value) -> Result<Value, Refusal> {
        match (self.stage, method) {
            (Stage::New, "initialize") => {
                self.stage = Stage::Serving;
                let completion = &params["capabilities"]["textDocument"]["completion"];
                self.snippets = completion["completionItem"]["snippetSupport"] == true;
                let service = Arc::clone(&self.service);
                // The first completion does not wait for the manuals.
                std::thread::spawn(move || service.warm());
                Ok(convert::capabilities())
            }
            (Stage::New, _) => {
                Err(Refusal(Code::NotInitialized, "expected `initialize` first".to_owned()))
            }
            (Stage::ShutDown, _) => {
                Err(Refusal(Code::InvalidRequest, "the server is shut down".to_owned()))
            }
            (Stage::Serving, "initialize") => {
                Err(Refusal(Code::InvalidRequest, "the server is initialized".to_owned()))
            }
            (Stage::Serving, "shutdown") => {
                self.stage = Stage::ShutDown;
                Ok(Value::Null)
            }
            (Stage::Serving, "textDocument/completion") => self.complete(&parsed(params)?),
            (Stage::Serving, "textDocument/hover") => self.hover(&parsed(params)?),
            (Stage::Serving, "textDocument/definition") => self.define(&parsed(params)?),
            (Stage::Serving, "textDocument/documentSymbol") => self.symbols(&parsed(params)?),
            (Stage::Serving, _) => {
                Err(Refusal(Code::MethodNotFound, format!("no method `{method}`")))
            }
        }
    }

    /// What is no request is not answered; what is wrong with it goes to the client's log.
    pub(super) fn notice(&mut self, method: &str, params: Value) {
        if self.stage != Stage::Serving {
            return;
        }
        let outcome = match method {
            "textDocument/didOpen" => parsed(params).map(|params| self.did_open(params)),
            "textDocument/didChange" => parsed(params).and_then(|params| self.did_change(&params)),
            "textDocument/didSave" => parsed(params).map(|params| self.did_save(&params)),
            "textDocument/didClose" => parsed(params).map(|params| self.did_close(&params)),
            _ => Ok(()),
        };
        if let Err(Refusal(_, why)) = outcome {
            let params = json!({ "type": 2, "message": format!("{method}: {why}") });
            self.outbox.push(convert::notification("window/logMessage", &params));
        }
    }

    fn did_open(&mut self, params: DidOpenTextDocumentParams) {
        let item = params.text_document;
        let uri = item.uri.as_str().to_owned();
        let path = path_of(&uri);
        let document = Document::new(&path, &item.text);
        let (version, survey) = (i64::from(item.version), None);
        self.open.insert(path.clone(), Open { uri, document, version, number: 0, survey });
        self.changed(&path);
    }

    fn did_change(&mut self, params: &DidChangeTextDocumentParams) -> Result<(), Refusal> {
        let uri = params.text_document.uri.as_str();
        let path = path_of(uri);
        let Some(open) = self.open.get_mut(&path) else {
            return Err(Refusal(Code::InvalidParams, format!("`{uri}` is not open")));
        };
        let mut text = open.document.text().to_owned();
        for change in &params.content_changes {
            apply(&mut text, change);
        }
        open.version = i64::from(params.text_document.version);
        open.document = Document::new(&path, &text);
        self.changed(&path);
        Ok(())
    }

    /// Other files may have been saved too.
    fn did_save(&mut self, params: &DidSaveTextDocumentParams) {
        let path = path_of(params.text_document.uri.as_str());
        if self.open.contains_key(&path) {
            self.changed(&path);
        }
    }

    fn did_close(&mut self, params: &DidCloseTextDocumentParams) {
        let path = path_of(params.text_document.uri.as_str());
        if self.open.remove(&path).is_none() {
            return;
        }
        self.compiler.forget(&path);
        self.found(&path, Vec::new());
        self.publish_parts();
        // Diagrams that read it see the disk again.
        self.compile_readers(&path);
    }

    /// Looks at a text, and at the diagrams that read it.
    fn changed(&mut self, path: &str) {
        let Some(open) = self.open.get(path) else { return };
        let is_compiled = open.document.kind().is_none_or(|kind| {
            !["Interface", "Choices"].contains(&kind)
                && self.service.library().registry().find_resource(kind).is_none()
        });
        if is_compiled {
            self.compile(path);
        } else {
            // What else is wrong with it is found in the diagrams that read it.
            let found = findings::of_text(&open.document);
            self.found(path, found);
        }
        self.compile_readers(path);
    }

    fn compile_readers(&mut self, path: &str) {
        let readers: Vec<String> = self.readers(path).map(str::to_owned).collect();
        readers.iter().for_each(|reader| self.compile(reader));
    }

    /// The other texts that are open and read a file.
    fn readers<'s>(&'s self, path: &'s str) -> impl Iterator<Item = &'s str> {
        let reads = move |open: &Open| {
            let survey = open.survey.as_ref();
            survey.is_some_and(|survey| survey.sources.names().any(|name| name == path))
        };
        let others = self.open.iter().filter(move |(own, _)| *own != path);
        others.filter(move |(_, open)| reads(open)).map(|(own, _)| own.as_str())
    }

    fn compile(&mut self, path: &str) {
        let Some(diagram) = self.diagram(path) else { return };
        self.count += 1;
        let Some(open) = self.open.get_mut(path) else { return };
        open.number = self.count;
        let is_part = open.is_part();
        self.compiler.compile(path, diagram, self.count, is_part);
    }

    /// A text as a diagram, among the other texts that are open.
    pub(super) fn diagram(&self, path: &str) -> Option<Diagram> {
        let open = self.open.get(path)?;
        let diagram = self.service.library().diagram(path, open.document.text());
        let others = self.open.iter().filter(|(other, _)| *other != path);
        Some(
            others.fold(diagram, |diagram, (other, open)| {
                diagram.with_text(other, open.document.text())
            }),
        )
    }

    /// Takes what came of a compilation, unless the text is another by now.
    pub(super) fn take(&mut self, compiled: Compiled) {
        let Compiled { path, number, findings, survey } = compiled;
        let Some(open) = self.open.get_mut(&path).filter(|open| open.number == number) else {
            return;
        };
        let is_study = open.document.kind() == Some("Study");
        let is_first = survey.is_some();
        if let Some(survey) = survey {
            let known = open.survey.as_ref().is_some_and(|known| !known.parts.is_empty());
            // Of a text of which nothing is known, what was known before is better.
            if !survey.parts.is_empty() || !known {
                open.survey = Some(Arc::new(survey));
            }
        }
        let is_reader = !open.is_part() && is_first;
        // What a study has to say comes when its runs have been compiled.
        if !(is_study && is_first) {
            self.found(&path, findings);
        }
        if is_reader {
            self.publish_parts();
        }
    }

    /// Takes what was found of the file at `path`, and publishes it where it stands.
    fn found(&mut self, path: &str, findings: Vec<Finding>) {
        let mut by_file: BTreeMap<String, Vec<Finding>> = BTreeMap::new();
        by_file.entry(path.to_owned()).or_default();
        for finding in findings {
            let finding = convert::on_disk(finding, path);
            by_file.entry(finding.place.file.clone()).or_default().push(finding);
        }
        let mut touched: BTreeSet<String> = BTreeSet::new();
        for (file, owners) in &mut self.wrong {
            if owners.remove(path).is_some() {
                touched.insert(file.clone());
            }
        }
        for (file, findings) in by_file {
            self.wrong.entry(file.clone()).or_default().insert(path.to_owned(), findings);
            touched.insert(file);
        }
        for file in touched {
            self.publish(&file);
        }
        self.wrong.retain(|_, owners| !owners.is_empty());
        if !self.open.contains_key(path) {
            self.wrong.values_mut().for_each(|owners| drop(owners.remove(path)));
        }
    }

    /// Publishes what is wrong with masks and patches, which depends on who reads them.
    fn publish_parts(&mut self) {
        let parts = self.open.iter().filter(|(_, open)| open.is_part());
        let parts: Vec<String> = parts.map(|(part, _)| part.clone()).collect();
        parts.iter().for_each(|part| self.publish(part));
    }

    fn publish(&mut self, file: &str) {
        let mut all: Vec<&Finding> = Vec::new();
        let open = self.open.get(file);
        // Who uses a mask knows what it is used for: that says more than the mask by itself.
        let is_used = open.is_some_and(Open::is_part) && self.readers(file).next().is_some();
        for (owner, findings) in self.wrong.get(file).into_iter().flatten() {
            for finding in findings.iter().filter(|_| !is_used || owner != file) {
                if !all.contains(&finding) {
                    all.push(finding);
                }
            }
        }
        let uri = open.map_or_else(|| uri_of(file), |open| open.uri.clone());
        let diagnostics: Vec<Value> =
            all.into_iter().map(|finding| convert::diagnostic(finding, |f| self.uri(f))).collect();
        let mut params = json!({ "uri": uri, "diagnostics": diagnostics });
        if let Some(open) = open {
            params["version"] = open.version.into();
        }
        self.outbox.push(convert::notification("textDocument/publishDiagnostics", &params));
    }

    /// The address of a file, as the client knows it.
    pub(super) fn uri(&self, file: &str) -> String {
        self.open.get(file).map_or_else(|| uri_of(file), |open| open.uri.clone())
    }
}

/// Changes a text, in a range or as a whole.
fn apply(text: &mut String, change: &TextDocumentContentChangeEvent) {
    let Some(range) = change.range else {
        change.text.clone_into(text);
        return;
    };
    let at = |position: lsp_types::Position| {
        let lsp_types::Position { line, character } = position;
        offset_at(text, Position { line, character })
    };
    let (start, end) = (at(range.start), at(range.end));
    text.replace_range(start..end.max(start), &change.text);
}
