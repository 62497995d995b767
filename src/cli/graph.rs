//! `legwork graph`: a picture of a diagram.

use std::path::Path;

use legwork_picture::diagram::{self, Options};
use legwork_study::{Library, Program};
use serde_json::json;

use super::answer::{Answer, Code, Failure};
use super::arguments::GraphArguments;
use super::{diagnostics, picture};

/// Makes the text of a picture.
type Draw = fn(&Program, &Options) -> String;

/// Draws a diagram.
///
/// # Errors
/// If the file cannot be read, or the picture not be written.
pub(crate) fn graph(arguments: &GraphArguments, library: &Library) -> Result<Answer, Failure> {
    let (format, draw) = match &arguments.output {
        None => ("mermaid", diagram::mermaid as Draw),
        Some(path) => format_of(path)?,
    };
    let diagram = arguments.overrides.open(&arguments.file, None, library)?;
    let name = diagram.name();
    let compiled = diagram.compile();
    diagnostics::say_all(&compiled.diagnostics, &compiled.sources);
    let Some(model) = &compiled.model else {
        let json = json!({ "diagram": name, "diagnostics": compiled.to_json() });
        return Ok(Answer::new(Code::Diagram, json));
    };
    let (hidden, depth, functions) = (arguments.hidden, arguments.depth, arguments.functions);
    let look = Options { hidden, depth, functions, ..Options::default() };
    let graph = draw(model.program(), &look);
    let Some(path) = &arguments.output else {
        let json = json!({ "diagram": name, "format": format, "graph": graph });
        return Ok(Answer::new(Code::Success, json).text(graph));
    };
    picture::write(path, graph, &model.inputs(&[]))?;
    let output = path.display().to_string();
    let json = json!({ "diagram": name, "format": format, "output": output });
    Ok(Answer::new(Code::Success, json))
}

fn format_of(path: &Path) -> Result<(&'static str, Draw), Failure> {
    match picture::ending(path)? {
        "svg" => Ok(("svg", diagram::svg)),
        "png" => Ok(("png", diagram::svg)),
        "dot" | "gv" => Ok(("dot", diagram::dot)),
        "mmd" | "mermaid" => Ok(("mermaid", diagram::mermaid)),
        _ => Err(Failure::usage(format!(
            "expected a file that ends in .svg, .png, .dot or .mmd, found `{}`",
            path.display()
        ))),
    }
}
