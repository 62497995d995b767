//! What the laws share.

use legwork_qp::problems::Random;
use legwork_qp::{
    Cone, ConeShape, ContactMethod, ContactProblemData, PyramidFit, QpData, Status, kkt,
};

pub(crate) const INF: f64 = f64::INFINITY;

pub(crate) fn pyramid(sides: usize, fit: PyramidFit) -> ConeShape {
    ConeShape::new(Cone::Pyramid { sides, fit }).unwrap()
}

/// Pyramids of both fits for each number of sides.
pub(crate) fn pyramids(sides: &[usize]) -> Vec<ConeShape> {
    let both = [PyramidFit::Inscribed, PyramidFit::Circumscribed];
    sides.iter().flat_map(|&m| both.map(|fit| pyramid(m, fit))).collect()
}

/// Largest difference of two entries.
pub(crate) fn difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

pub(crate) fn largest(a: &[f64]) -> f64 {
    a.iter().fold(0.0, |m: f64, v| m.max(v.abs()))
}

pub(crate) fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|v| v.to_bits()).collect()
}

/// Forces and status; the forces are NaN where the solver writes none.
pub(crate) fn solve(
    solver: &mut dyn ContactMethod,
    problem: &ContactProblemData,
) -> (Vec<f64>, Status) {
    let mut forces = vec![f64::NAN; problem.bias.len()];
    let status = solver.solve(&problem.view(), &mut forces).status;
    (forces, status)
}

/// Worst residual of the optimality conditions.
pub(crate) fn residual(problem: &ContactProblemData, forces: &[f64]) -> f64 {
    kkt::contact_residuals(&problem.view(), forces, &mut vec![0.0; forces.len()]).worst()
}

pub(crate) fn natural_residual(problem: &ContactProblemData, forces: &[f64]) -> f64 {
    kkt::natural_residual(&problem.view(), forces, &mut vec![0.0; forces.len()])
}

/// A problem that quadprog solved and `ProxQP` checked.
pub(crate) struct Reference {
    pub(crate) name: String,
    pub(crate) problem: ContactProblemData,
    pub(crate) forces: Vec<f64>,
}

impl Reference {
    /// Relative difference of `forces` from the solution.
    pub(crate) fn error(&self, forces: &[f64]) -> f64 {
        difference(forces, &self.forces) / largest(&self.forces).max(1.0)
    }
}

/// Ten problems of a standing robot and ten random ones, with their solutions.
pub(crate) fn references() -> Vec<Reference> {
    let text = include_str!("../data/qp_friction_pyramid.json");
    let document: serde_json::Value = serde_json::from_str(text).unwrap();
    let list = |value: &serde_json::Value| -> Vec<f64> {
        value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
    };
    let mut found = Vec::new();
    for kind in ["standing", "random"] {
        for (index, case) in document[kind].as_array().unwrap().iter().enumerate() {
            let mut problem = ContactProblemData::new(4, pyramid(4, PyramidFit::Circumscribed));
            problem.inverse_inertia = case["H"].as_array().unwrap().iter().flat_map(list).collect();
            problem.bias = list(&case["g"]);
            problem.friction.fill(document["mu"].as_f64().unwrap());
            problem.regularisation = 0.0;
            problem.force_scale = 8.252 * 9.81 / 4.0;
            let (name, forces) = (format!("{kind} {index}"), list(&case["x"]));
            found.push(Reference { name, problem, forces });
        }
    }
    found
}

/// The program of a contact problem with friction at every contact, in its own units.
pub(crate) fn written_out(problem: &ContactProblemData) -> QpData {
    let view = problem.view();
    let (n, m) = (view.dim(), view.cone_row_count());
    let mut qp = QpData {
        hessian: vec![0.0; n * n],
        gradient: problem.bias.clone(),
        rows: vec![0.0; m * n],
        row_lower: vec![-INF; m],
        row_upper: vec![0.0; m],
        ..QpData::default()
    };
    view.hessian_into(&mut qp.hessian);
    view.cone_rows_into(&mut qp.rows);
    qp
}

/// A program that is feasible by construction around the point returned, with H of rank `rank`; its
/// inequalities are bounded below, above or on both sides, and all unknowns are boxed, so that a
/// singular H has a minimum.
pub(crate) fn random_qp(
    seed: u64,
    n: usize,
    equalities: usize,
    inequalities: usize,
    rank: usize,
) -> (QpData, Vec<f64>) {
    let mut random = Random::new(seed);
    let b: Vec<f64> = (0..n * rank).map(|_| random.normal()).collect();
    let gram = |e: usize| (0..rank).map(|k| b[e / n * rank + k] * b[e % n * rank + k]).sum();
    let mut qp = QpData { hessian: (0..n * n).map(gram).collect(), ..QpData::default() };
    let m = equalities + inequalities;
    qp.gradient = (0..n).map(|_| 5.0 * random.normal()).collect();
    qp.rows = (0..m * n).map(|_| random.normal()).collect();
    let inside: Vec<f64> = (0..n).map(|_| random.normal()).collect();
    for row in 0..m {
        let value: f64 = (0..n).map(|j| qp.rows[j * m + row] * inside[j]).sum();
        let (below, above) = (value - random.uniform(), value + random.uniform());
        let (lower, upper) = match row.checked_sub(equalities).map(|row| row % 3) {
            None => (value, value),
            Some(0) => (below, INF),
            Some(1) => (-INF, above),
            Some(_) => (below, above),
        };
        qp.row_lower.push(lower);
        qp.row_upper.push(upper);
    }
    qp.lower = inside.iter().map(|x| x - 2.0 * random.uniform()).collect();
    qp.upper = inside.iter().map(|x| x + 2.0 * random.uniform()).collect();
    (qp, inside)
}
