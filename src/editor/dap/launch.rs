//! A diagram is opened and compiled.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::adapter::Adapter;

/// What a client says of the run that it wants.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Launch {
    /// The file of the diagram, `demo:NAME` or `help:PAGE`.
    program: String,
    /// Values of parameters and fields, by path.
    #[serde(default)]
    set: BTreeMap<String, Value>,
    /// Choices of variants.
    #[serde(default)]
    variants: BTreeMap<String, String>,
    /// Patch files.
    #[serde(default)]
    with: Vec<String>,
    /// What feeds inputs.
    #[serde(default)]
    inputs: BTreeMap<String, Value>,
    /// Another stop time.
    #[serde(default)]
    until: Option<String>,
    /// Whether the run stops before its first block.
    #[serde(default = "yes")]
    stop_on_entry: bool,
}

fn yes() -> bool {
    true
}

/// A value as the command line takes it.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

impl Adapter {
    /// Opens and compiles the diagram.
    pub(super) fn launch(&mut self, arguments: &Value) -> Result<Value, String> {
        if self.session.is_some() {
            return Err("a diagram is launched already".to_owned());
        }
        let launch: Launch =
            serde_json::from_value(arguments.clone()).map_err(|error| error.to_string())?;
        let mut diagram = self.library.open(&launch.program).map_err(|error| error.to_string())?;
        for patch in &launch.with {
            diagram = diagram.with(patch).map_err(|error| error.to_string())?;
        }
        for (path, value) in &launch.set {
            diagram = diagram.set(path, &text(value));
        }
        for (name, choice) in &launch.variants {
            diagram = diagram.variant(name, choice);
        }
        for (name, value) in &launch.inputs {
            diagram = diagram.input(name, &text(value)).map_err(|error| error.to_string())?;
        }
        if let Some(until) = &launch.until {
            diagram = diagram.until(until);
        }
        let compiled = diagram.compile();
        let told = compiled.to_text();
        let Some(model) = compiled.model else {
            self.say("stderr", &told);
            self.answered = self.outbox.len();
            return Err(told);
        };
        self.say("console", &told);
        self.answered = self.outbox.len();
        let mut session = model.session();
        session.forget_rows();
        session.cancel_by(self.cancel.clone());
        self.stop_on_entry = launch.stop_on_entry;
        self.session = Some(session);
        Ok(Value::Null)
    }
}
