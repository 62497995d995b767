//! Visuals of links.

use std::collections::BTreeMap;

use super::source::{Robot, placement_of, shape_of};
use crate::model::FrameId;
use crate::shape::Visual;

/// The visuals of all links, in the order of the file.
pub(super) fn visuals(robot: &Robot<'_>) -> Vec<Visual> {
    // Materials referenced by name.
    let materials = robot.materials.iter().filter_map(|it| Some((it.name.as_str(), color(it)?)));
    let materials: BTreeMap<&str, [f64; 4]> = materials.collect();
    let mut visuals = Vec::new();
    for (i, link) in robot.links.iter().enumerate() {
        visuals.extend(link.visual.iter().map(|visual| {
            let material = visual.material.as_ref();
            let named = || materials.get(material?.name.as_str()).copied();
            Visual {
                link: FrameId(i),
                link_from_shape: placement_of(&visual.origin),
                shape: shape_of(&visual.geometry),
                color: material.and_then(color).or_else(named),
            }
        }));
    }
    visuals
}

/// Colour of a material, clamped to 0 to 1.
fn color(material: &urdf_rs::Material) -> Option<[f64; 4]> {
    let rgba = material.color.as_ref()?.rgba.0;
    rgba.iter().all(|part| part.is_finite()).then(|| rgba.map(|part| part.clamp(0.0, 1.0)))
}
