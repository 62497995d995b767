//! The three pictures of a program.

use legwork_program::Program;

use super::model::Model;
use super::{build, collapse};

/// What a picture shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether to show the shared computations that the compiler made.
    pub hidden: bool,
    /// Frames nested deeper than this are drawn as one box; 0 folds every mask and for-each.
    pub depth: Option<usize>,
    /// Heading; the program's name if there is none.
    pub title: Option<String>,
}

/// The diagram as a self-contained SVG sheet: inputs left, outputs right, one frame per mask,
/// subsystem and copy, one colour per rate, wires that do not feed through dashed.
pub fn svg(program: &Program, options: &Options) -> String {
    super::svg::render(&model(program, options))
}

/// The diagram in Graphviz' DOT language, one cluster per frame.
pub fn dot(program: &Program, options: &Options) -> String {
    super::dot::render(&model(program, options))
}

/// The diagram as a Mermaid flowchart, one subgraph per frame.
pub fn mermaid(program: &Program, options: &Options) -> String {
    super::mermaid::render(&model(program, options))
}

fn model(program: &Program, options: &Options) -> Model {
    let mut model = build::build(program, options.hidden);
    if let Some(title) = &options.title {
        model.title.clone_from(title);
    }
    match options.depth {
        Some(depth) => collapse::collapse(&model, depth),
        None => model,
    }
}
