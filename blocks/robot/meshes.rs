//! The meshes that a robot file names: where their files are, and whether the masses that the file
//! states fit them.

mod extent;
mod reading;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use legwork_block::Files;
use legwork_mechanics::{Inertia, Model, Placement, Shape};
use legwork_mesh::{Format, Hull, Mesh};
use nalgebra::Vector3;

use extent::Extent;

pub(crate) use reading::CORNERS;

/// Names that a warning lists at most.
const MOST_NAMES: usize = 12;

/// Distance of a link's centre of mass from the middle of its shape, in radii, beyond which it is
/// far off: published files miss by two without any harm.
const MOST_RADII: f64 = 3.0;
/// The same of its inertia, in times of the largest that is possible in the shape.
const MOST_TIMES: f64 = 10.0;
/// The same, in parts of that of an even density.
const LEAST_PART: f64 = 1e-3;

/// Hulls of meshes in their own axes, of at most [`CORNERS`] corners, by the path of the mesh.
pub(crate) type HullsByPath = BTreeMap<String, Hull>;

/// The model whose meshes have the paths of their files, their hulls, and what is doubtful: one
/// warning lists the meshes that are not found, one those that cannot be read, one the links whose
/// inertia does not fit their shapes.
///
/// `find` gives the path of the file that a name of the robot file stands for. A robot with meshes
/// that are missing is as good as another, until something asks for their surface.
pub(crate) fn with_files(
    model: Model,
    files: &dyn Files,
    find: &mut dyn FnMut(&str) -> Result<String, String>,
) -> (Model, HullsByPath, Vec<String>) {
    let names: BTreeSet<&str> = shapes(&model).filter_map(path_of).collect();
    let found: BTreeMap<String, Result<String, String>> =
        names.into_iter().map(|name| (name.to_owned(), find(name))).collect();
    let model = model.with_mesh_paths(|name| found.get(name)?.clone().ok());
    let mut warnings = Vec::new();
    let missing = found.iter().filter_map(|(name, found)| Some((name, found.as_ref().err()?)));
    if let Some((_, why)) = missing.clone().next() {
        let names = listed(missing.map(|(name, _)| format!("`{name}`")), MOST_NAMES);
        warnings.push(format!("meshes are missing: {names}; {why}"));
    }
    let paths: BTreeSet<&str> = found.values().filter_map(|path| path.as_deref().ok()).collect();
    let (hulls, doubts) = looked_at(&model, files, &paths);
    warnings.extend(doubts);
    (model, hulls, warnings)
}

fn shapes(model: &Model) -> impl Iterator<Item = &Shape> {
    let collisions = model.collisions().iter().map(|collision| &collision.shape);
    collisions.chain(model.visuals().iter().map(|visual| &visual.shape))
}

fn path_of(shape: &Shape) -> Option<&str> {
    match shape {
        Shape::Mesh { path, .. } => Some(path),
        _ => None,
    }
}

/// The first names of a list, `most` of them, and how many more there are.
pub(crate) fn listed(names: impl Iterator<Item = String>, most: usize) -> String {
    let names: Vec<String> = names.collect();
    let mut text = names[..names.len().min(most)].join(", ");
    if names.len() > most {
        // Writing to a string cannot fail.
        let _ = write!(text, " and {} more", names.len() - most);
    }
    text
}

/// The vertices of a mesh, in axes of its link [m].
///
/// # Errors
/// Why not, if the file is missing or no mesh.
pub(crate) fn vertices(
    files: &dyn Files,
    path: &str,
    scale: &Vector3<f64>,
    link_from_shape: &Placement,
) -> Result<Vec<Vector3<f64>>, String> {
    let bytes = files.read_found(path)?;
    let mesh = reading::read(path, &bytes, &|name| match Format::of(path) {
        Some(Format::Gltf) => files.read_found(name),
        _ => Err("materials do not touch".to_owned()),
    })?;
    let place =
        |vertex: &Vector3<f64>| link_from_shape.transform_point(&vertex.component_mul(scale));
    Ok(mesh.vertices.iter().map(place).collect())
}

/// A mesh that a diagram names.
///
/// # Errors
/// If the file is missing or no mesh, with its path.
pub(crate) fn read_mesh(path: &str, files: &dyn Files) -> Result<Mesh, String> {
    let bytes = files.read(path)?;
    let mesh = reading::read(path, &bytes, &|name| files.read(name));
    mesh.map_err(|error| format!("{path}: {error}"))
}

/// A link with a mass of its own, and the shapes that show where it is.
struct Weighed<'m> {
    name: &'m str,
    inertia: &'m Inertia,
    shapes: Vec<(&'m Shape, &'m Placement)>,
}

/// The links whose shapes are meshes that were found: shapes that they touch with, or, if these are
/// no meshes, those that are seen.
fn weighed<'m>(model: &'m Model, paths: &BTreeSet<&str>) -> Vec<Weighed<'m>> {
    let links = model.frames().iter().zip(model.links());
    let weighed = links.filter_map(|(frame, link)| {
        let id = model.find_frame(&frame.name)?;
        let touching = model.collisions_of(id).map(|c| (&c.shape, &c.link_from_shape));
        let seen = model.visuals().iter().filter(|visual| visual.link == id);
        let seen = seen.map(|v| (&v.shape, &v.link_from_shape));
        let meshes = |shapes: &Vec<(&'m Shape, &'m Placement)>| -> Vec<&'m str> {
            shapes.iter().filter_map(|(shape, _)| path_of(shape)).collect()
        };
        let mut both = [touching.collect::<Vec<_>>(), seen.collect()].into_iter();
        let shapes = both.find(|shapes| !meshes(shapes).is_empty())?;
        let is_whole = meshes(&shapes).iter().all(|path| paths.contains(path));
        let inertia = &link.inertia;
        let is_weighed = is_whole && inertia.mass() > 0.0;
        is_weighed.then_some(Weighed { name: &frame.name, inertia, shapes })
    });
    weighed.collect()
}

/// The hulls of the meshes that tell whether an inertia fits, what is wrong with their files, and
/// which links have an inertia that does not fit.
fn looked_at(
    model: &Model,
    files: &dyn Files,
    paths: &BTreeSet<&str>,
) -> (HullsByPath, Vec<String>) {
    let links = weighed(model, paths);
    let shapes = links.iter().flat_map(|link| &link.shapes);
    let needed: BTreeSet<&str> = shapes.filter_map(|(shape, _)| path_of(shape)).collect();
    let needed: Vec<&str> = needed.into_iter().collect();
    let read = reading::extents(&needed, files);
    let mut warnings = Vec::new();
    let (mut known, mut hulls, mut broken) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    for (path, read) in needed.iter().zip(read) {
        match read {
            Ok(None) => {}
            Ok(Some((extent, hull))) => {
                known.insert(*path, extent);
                hulls.insert((*path).to_owned(), hull);
            }
            Err(why) => broken.push(format!("`{path}` ({why})")),
        }
    }
    if !broken.is_empty() {
        warnings.push(format!("meshes cannot be read: {}", listed(broken.into_iter(), MOST_NAMES)));
    }
    let extent = |(shape, at): &(&Shape, &Placement)| {
        let own = match shape {
            Shape::Mesh { path, scale } => known.get(path.as_str())?.scaled(scale),
            other => Extent::of(other)?,
        };
        Some(own.placed(at))
    };
    let doubtful = links.iter().filter_map(|link| {
        let extents = link.shapes.iter().map(extent).collect::<Option<Vec<Extent>>>()?;
        let whole = extents.into_iter().reduce(Extent::merged)?;
        Some(format!("`{}` {}", link.name, misfit(link.inertia, &whole)?))
    });
    let doubtful: Vec<String> = doubtful.collect();
    if !doubtful.is_empty() {
        let names = listed(doubtful.into_iter(), MOST_NAMES);
        warnings
            .push(format!("inertias are far from what the shapes of their links allow: {names}"));
    }
    (hulls, warnings)
}

/// How an inertia is far off from what its shape allows, if it is.
///
/// Matter inside a ball of radius R about c, the centre of the shape, has its centre of mass in it,
/// and `tr(I)/2 = ∫ r² dm ≤ m R²` about its centre of mass. Point masses are left alone.
fn misfit(inertia: &Inertia, shape: &Extent) -> Option<String> {
    let (mass, radius) = (inertia.mass(), shape.radius);
    let radii = (inertia.center_of_mass() - shape.center).norm() / radius;
    if radii > MOST_RADII {
        return Some(format!("(its centre of mass lies {radii:.1} radii from the middle)"));
    }
    let second = 0.5 * inertia.about_center_of_mass().trace();
    let times = second / (mass * radius * radius);
    if times > MOST_TIMES {
        return Some(format!("({times:.3} times the largest that is possible)"));
    }
    let part = second / (mass * shape.second.trace());
    (second > 0.0 && part < LEAST_PART)
        .then(|| format!("({part:.1e} times that of an even density)"))
}

#[cfg(test)]
pub(crate) mod tests;
