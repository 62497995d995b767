//! The problems that are timed: files of contact problems of four feet and pyramids of four sides.

use legwork_qp::{Cone, ConeShape, ContactProblemData, PyramidFit};
use std::path::Path;

/// Problems with a name.
pub(crate) struct Set {
    pub(crate) name: String,
    pub(crate) problems: Vec<ContactProblemData>,
}

/// Ten problems of a standing robot, ten random ones.
const REFERENCE: &str = include_str!("../../tests/data/qp_friction_pyramid.json");
/// Problems of 160 consecutive steps of a landing.
const LANDING: &str = include_str!("../../tests/data/landing.csv");

fn pyramid(fit: PyramidFit) -> ConeShape {
    ConeShape::new(Cone::Pyramid { sides: 4, fit }).expect("four sides make a pyramid")
}

/// The sets `standing` and `random`, from `path` as `benches/peers/make_qp.py` writes it, or from
/// the reference file of the tests.
pub(crate) fn cold_sets(path: Option<&Path>) -> Vec<Set> {
    let problems = match path {
        Some(path) => from_text(&std::fs::read_to_string(path).expect("the file can be read")),
        None => from_reference(),
    };
    ["standing", "random"]
        .map(|name| Set {
            name: name.to_string(),
            problems: problems
                .iter()
                .filter(|(kind, ..)| kind == name)
                .map(|(_, h, g)| {
                    let shape = pyramid(PyramidFit::Circumscribed);
                    let mut problem = ContactProblemData::new(4, shape);
                    problem.inverse_inertia.clone_from(h);
                    problem.bias.clone_from(g);
                    problem.friction.fill(0.7);
                    problem.regularisation = 0.0;
                    problem.force_scale = 20.0;
                    problem
                })
                .collect(),
        })
        .into()
}

/// Lines of a kind, H (144 values), g (12) and the solution (12).
fn from_text(text: &str) -> Vec<(String, Vec<f64>, Vec<f64>)> {
    text.lines()
        .map(|line| {
            let mut words = line.split_whitespace();
            let kind = words.next().expect("a line begins with its kind").to_string();
            let values: Vec<f64> = words.map(number).collect();
            assert_eq!(values.len(), 168, "a line holds H, g and x");
            (kind, symmetric(&values[..144]), values[144..156].to_vec())
        })
        .collect()
}

fn from_reference() -> Vec<(String, Vec<f64>, Vec<f64>)> {
    let document: serde_json::Value = serde_json::from_str(REFERENCE).expect("valid JSON");
    let list = |value: &serde_json::Value| -> Vec<f64> {
        let values = value.as_array().expect("a list").iter();
        values.map(|v| v.as_f64().expect("a number")).collect()
    };
    let mut problems = Vec::new();
    for kind in ["standing", "random"] {
        for case in document[kind].as_array().expect("a list of problems") {
            let h: Vec<f64> =
                case["H"].as_array().expect("a matrix").iter().flat_map(list).collect();
            problems.push((kind.to_string(), symmetric(&h), list(&case["g"])));
        }
    }
    problems
}

fn symmetric(h: &[f64]) -> Vec<f64> {
    (0..144).map(|i| 0.5 * (h[i] + h[i % 12 * 12 + i / 12])).collect()
}

/// The recorded landing, in the order of time.
pub(crate) fn landing() -> Set {
    let problems = LANDING
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let values: Vec<f64> = line.split(',').map(number).collect();
            let mut problem = ContactProblemData::new(4, pyramid(PyramidFit::Inscribed));
            let mut entries = values.iter();
            for row in 0..12 {
                for column in 0..=row {
                    let value = *entries.next().expect("78 entries of G");
                    problem.inverse_inertia[column * 12 + row] = value;
                    problem.inverse_inertia[row * 12 + column] = value;
                }
            }
            problem.bias = entries.copied().collect();
            assert_eq!(problem.bias.len(), 12, "a line ends with b");
            problem.friction.fill(0.2);
            problem.compliance.fill(1e-9);
            problem.regularisation = 0.0;
            problem.force_scale = 20.2;
            problem
        })
        .collect();
    Set { name: "landing".to_string(), problems }
}

fn number(word: &str) -> f64 {
    word.parse().expect("a number")
}
