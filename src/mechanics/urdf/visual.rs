//! What links look like. No mistake in it keeps a robot from being simulated: what cannot be drawn
//! is a warning.

use std::collections::BTreeMap;

use super::error::Warning;
use super::robot::{Document, numbers};
use super::schema;
use super::xml::Element;
use crate::model::Model;
use crate::shape::Visual;

/// The visuals of all links, in the order of the file. A `<texture>` of the robot file is not read;
/// those of mesh files are.
pub(super) fn visuals(
    document: Document<'_>,
    model: &Model,
    warnings: &mut Vec<Warning>,
) -> Vec<Visual> {
    let root = &document.elements[0];
    // Materials that visuals name.
    let materials: BTreeMap<&str, [f64; 4]> = document
        .children(root, "material")
        .filter_map(|material| Some((material.attribute("name")?, color(document, material)?)))
        .collect();
    let mut visuals = Vec::new();
    for link in document.children(root, "link") {
        let name = link.attribute("name").unwrap_or_default();
        let Some(frame) = model.find_frame(name) else { continue };
        for visual in document.children(link, "visual") {
            if let Some((line, problem)) = problem_of(document, visual) {
                warnings.push(Warning::NotShown { line, link: name.to_owned(), problem });
                continue;
            }
            let material = document.child(visual, "material");
            let named = || materials.get(material?.attribute("name")?).copied();
            visuals.extend(document.shape(visual).map(|shape| Visual {
                link: frame,
                link_from_shape: document.origin(Some(visual)),
                shape,
                color: material.and_then(|own| color(document, own)).or_else(named),
            }));
        }
    }
    visuals
}

/// What is wrong with a visual, and in which line.
fn problem_of(document: Document<'_>, visual: &Element) -> Option<(usize, String)> {
    for name in ["origin", "geometry"] {
        let mut found = document.children(visual, name);
        match (found.next(), found.next()) {
            (Some(part), None) => {
                let problem = schema::problem_of(document.elements, part, document.version);
                if problem.is_some() {
                    return problem;
                }
            }
            (_, Some(second)) => return Some((second.line, format!("a second <{name}>"))),
            (None, None) if name == "geometry" => {
                return Some((visual.line, "it has no <geometry>".to_owned()));
            }
            (None, None) => {}
        }
    }
    None
}

/// The colour of a material, if it states one.
fn color(document: Document<'_>, material: &Element) -> Option<[f64; 4]> {
    let color = document.children(material, "color").next()?;
    // Fewer numbers than four are no colour.
    let is_whole = color.attribute("rgba")?.split_whitespace().count() == 4;
    let rgba = numbers(color, "rgba").filter(|_| is_whole)?;
    rgba.iter().all(|part: &f64| part.is_finite()).then(|| rgba.map(|part| part.clamp(0.0, 1.0)))
}
