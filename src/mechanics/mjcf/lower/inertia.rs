//! Inertia of each body, stated or from its geometry, in the body's frame.

use std::collections::BTreeMap;

use nalgebra::{Matrix3, Vector3};

use super::Lowering;
use crate::inertia::Inertia;
use crate::mjcf::geometry::{extent, unit_inertia};
use crate::mjcf::mesh::{self, MeshMass};
use crate::mjcf::source::ReadText;
use crate::mjcf::tree::{Body, Geom, InertiaFromGeom, Inertial, Solid};

/// Less mass than this is none, as in MuJoCo [kg].
const LEAST_MASS: f64 = 1e-14;

/// The inertias of all bodies; what is wrong goes to the document's errors.
pub(super) fn of_bodies(lowering: &mut Lowering<'_>, read: ReadText<'_>) -> Vec<Inertia> {
    let tree = lowering.tree;
    let mut meshes = Meshes { read, known: BTreeMap::new() };
    let mut inertias = vec![Inertia::zero()];
    for body in &tree.bodies[1..] {
        let inertia = of_body(lowering, body, &mut meshes);
        inertias.push(bounded(lowering, body, inertia));
    }
    if let Some(total) = tree.compiler.total_mass {
        let sum: f64 = inertias.iter().map(Inertia::mass).sum();
        if sum > 0.0 {
            let factor = total / sum;
            for inertia in &mut inertias {
                let matrix = inertia.about_center_of_mass() * factor;
                *inertia = Inertia::new(inertia.mass() * factor, inertia.center_of_mass(), &matrix);
            }
        }
    }
    inertias
}

fn of_body(lowering: &mut Lowering<'_>, body: &Body, meshes: &mut Meshes<'_>) -> Inertia {
    let compiler = &lowering.tree.compiler;
    let stated = body.inertial.as_ref().map(of_inertial);
    let from_geometry = match compiler.inertia_from_geom {
        InertiaFromGeom::Always => true,
        InertiaFromGeom::Auto => stated.is_none(),
        InertiaFromGeom::Never => false,
    };
    if !from_geometry {
        return stated.unwrap_or_else(Inertia::zero);
    }
    let [least, most] = compiler.inertia_groups;
    let mut sum: Option<Inertia> = None;
    for geom in body.geoms.iter().filter(|geom| (least..=most).contains(&geom.group)) {
        if let Some(inertia) = of_geom(lowering, geom, meshes) {
            sum = Some(sum.map_or(inertia, |sum| sum.merged(&inertia)));
        }
    }
    // Geometry without mass leaves what is stated.
    sum.or(stated).unwrap_or_else(Inertia::zero)
}

fn of_inertial(inertial: &Inertial) -> Inertia {
    Inertia::new(inertial.mass, Vector3::zeros(), &inertial.inertia)
        .transformed(&inertial.placement)
}

/// Mass and inertia of one geom in its body's frame; `None` if it has none.
fn of_geom(lowering: &mut Lowering<'_>, geom: &Geom, meshes: &mut Meshes<'_>) -> Option<Inertia> {
    let weightless = geom.mass == Some(0.0) || (geom.mass.is_none() && geom.density == 0.0);
    if weightless {
        return None;
    }
    let (extent, unit) = match &geom.solid {
        Solid::Mesh { mesh } if geom.shell => {
            let problem = format!("mesh `{mesh}`: `shellinertia` is `inertia=\"shell\"` of a mesh");
            lowering.document.error(geom.place, problem);
            return None;
        }
        Solid::Mesh { mesh } => {
            let mass = meshes.mass(lowering, mesh, geom)?;
            let unit = Inertia::new(1.0, mass.center, &mass.unit_inertia);
            (mass.extent, unit)
        }
        Solid::Fitted { mesh } => {
            let problem = format!(
                "the inertia of a shape that is fitted to the mesh `{mesh}` is not supported; \
                 give the body an <inertial>"
            );
            lowering.document.error(geom.place, problem);
            return None;
        }
        solid => {
            let unit = unit_inertia(solid, geom.shell);
            (extent(solid, geom.shell), Inertia::new(1.0, Vector3::zeros(), &unit))
        }
    };
    if extent <= LEAST_MASS {
        return None;
    }
    let mass = geom.mass.unwrap_or(geom.density * extent);
    if !mass.is_finite() {
        lowering.document.error(geom.place, "the mass of the geom is not finite");
        return None;
    }
    let scaled = Inertia::new(mass, unit.center_of_mass(), &(unit.about_center_of_mass() * mass));
    (mass > LEAST_MASS).then(|| scaled.transformed(&geom.placement))
}

/// Least values, and what is to be done with principal moments that no body has.
fn bounded(lowering: &mut Lowering<'_>, body: &Body, inertia: Inertia) -> Inertia {
    let compiler = &lowering.tree.compiler;
    let bounds = compiler.bound_mass > 0.0 || compiler.bound_inertia > 0.0;
    let stated = body.inertial.is_some();
    if !bounds && !stated {
        return inertia;
    }
    let place = body.inertial.as_ref().map_or(body.place, |inertial| inertial.place);
    let moments = inertia.principal_moments();
    if !moments.iter().all(|moment| moment.is_finite()) {
        lowering.document.error(place, "expected finite principal moments of inertia");
        return Inertia::zero();
    }
    if moments[0] < -1e-12 * moments[2].abs() {
        let problem = format!("expected no negative principal moment, found {:e}", moments[0]);
        lowering.document.error(place, problem);
        return Inertia::zero();
    }
    let mass = inertia.mass().max(compiler.bound_mass);
    let mut matrix = inertia.about_center_of_mass();
    if moments[0] < compiler.bound_inertia {
        matrix = with_least_moment(&matrix, compiler.bound_inertia);
    }
    let bounded = Inertia::new(mass, inertia.center_of_mass(), &matrix);
    let [a, b, c] = bounded.principal_moments();
    if a + b >= c {
        return bounded;
    }
    if compiler.balance_inertia {
        let mean = Matrix3::from_diagonal_element((a + b + c) / 3.0);
        return Inertia::new(mass, inertia.center_of_mass(), &mean);
    }
    if !bounded.is_physical() {
        let warning = format!(
            "body `{}`: its principal moments of inertia {a:e}, {b:e}, {c:e} kg m² are those of no \
             body: the largest exceeds the sum of the others",
            body.name
        );
        lowering.warn(place, warning);
    }
    bounded
}

/// The matrix with eigenvalues below `least` raised to it.
fn with_least_moment(matrix: &Matrix3<f64>, least: f64) -> Matrix3<f64> {
    let scale = matrix.amax().max(least);
    let eigen = (matrix / scale).symmetric_eigen();
    let raised = eigen.eigenvalues.map(|value| (value * scale).max(least));
    eigen.eigenvectors * Matrix3::from_diagonal(&raised) * eigen.eigenvectors.transpose()
}

/// The masses of meshes, each read once.
struct Meshes<'a> {
    read: ReadText<'a>,
    known: BTreeMap<String, Option<MeshMass>>,
}

impl Meshes<'_> {
    fn mass(&mut self, lowering: &mut Lowering<'_>, name: &str, geom: &Geom) -> Option<MeshMass> {
        if let Some(known) = self.known.get(name) {
            return known.clone();
        }
        let found = match lowering.tree.meshes.get(name) {
            None => {
                let problem = format!("no mesh is named `{name}`");
                lowering.document.error(geom.place, problem);
                None
            }
            Some(mesh) => match mesh::mass(mesh, self.read) {
                Ok(mass) => Some(mass),
                Err(problem) => {
                    let problem =
                        format!("mesh `{name}`, on which the inertia of a body depends: {problem}");
                    let hint = "an <inertial> in the body makes the mesh unnecessary";
                    lowering.document.error_with_hint(mesh.place, problem, hint);
                    None
                }
            },
        };
        self.known.insert(name.to_owned(), found.clone());
        found
    }
}
