//! What changes a diagram without touching its file.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{input_text, texts_of, time_of};
use crate::diagram::unit_of_input;
use crate::errors::exception;

/// What changes a diagram without touching its file.
#[derive(Default)]
pub(crate) struct Overrides<'py> {
    pub(crate) set: Option<Bound<'py, PyDict>>,
    pub(crate) variant: Option<Bound<'py, PyDict>>,
    pub(crate) patches: Vec<PathBuf>,
    pub(crate) inputs: Option<Bound<'py, PyDict>>,
    pub(crate) until: Option<Bound<'py, PyAny>>,
    pub(crate) signals: Vec<String>,
}

impl Overrides<'_> {
    /// The diagram with them.
    pub(crate) fn apply(
        &self,
        diagram: legwork::study::Diagram,
    ) -> PyResult<legwork::study::Diagram> {
        let mut diagram = diagram;
        for patch in &self.patches {
            diagram = diagram.with(patch).map_err(|error| exception(&error))?;
        }
        for (path, value) in texts_of(self.set.as_ref())? {
            diagram = diagram.set(&path, &value);
        }
        for (name, choice) in texts_of(self.variant.as_ref())? {
            diagram = diagram.variant(&name, &choice);
        }
        if let Some(inputs) = &self.inputs {
            // Their units are those of the diagram with all else.
            let model = diagram.compile().model;
            for (name, value) in inputs.iter() {
                let name: String = name.extract()?;
                let unit = model.as_ref().and_then(|model| unit_of_input(model, &name));
                let value = input_text(&value, unit.as_deref())?;
                diagram = diagram.input(&name, &value).map_err(|error| exception(&error))?;
            }
        }
        if let Some(until) = &self.until {
            diagram = diagram.until(&time_of(until)?);
        }
        if !self.signals.is_empty() {
            diagram = diagram.signals(self.signals.clone());
        }
        Ok(diagram)
    }
}
