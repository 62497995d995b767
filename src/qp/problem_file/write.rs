//! From a problem to text.

use crate::cone::{Cone, ConeShape, PyramidFit};
use crate::problem_data::{NamedProblem, Problem, QpData};
use serde_json::Value;
use std::fmt::Write;

/// The problem as text; see the module docs.
///
/// The data need not be valid, so that a failure can be written down as it was; a slice of the
/// wrong length is written too, and refused by [`super::read`].
#[must_use]
pub fn write(problem: &NamedProblem) -> String {
    let mut out = Fields(String::from("{\n"));
    out.text("format", "legwork-problem");
    out.field("version", "1");
    out.text("kind", problem.problem.kind());
    out.text("name", &problem.name);
    out.text("origin", &problem.origin);
    match &problem.problem {
        Problem::Qp(qp) => out.qp(qp),
        Problem::ConeProgram(program) => {
            out.qp(&program.linear);
            let r = program.cone_offset.len();
            out.field("cone_row_count", &r.to_string());
            out.matrix("cone_rows", &program.cone_rows, r);
            out.list("cone_offset", &program.cone_offset);
            out.field("cone_sizes", &format!("{:?}", program.cone_sizes));
        }
        Problem::Lcp(lcp) => {
            out.field("dim", &lcp.vector.len().to_string());
            out.matrix("matrix", &lcp.matrix, lcp.vector.len());
            out.list("vector", &lcp.vector);
        }
        Problem::Contact(contact) => {
            out.field("contact_count", &contact.friction.len().to_string());
            out.field("cone", &cone(&contact.cone));
            out.field("force_scale", &number(contact.force_scale));
            out.field("regularisation", &number(contact.regularisation));
            out.list("friction", &contact.friction);
            out.list("bias", &contact.bias);
            out.list("compliance", &contact.compliance);
            out.list("active", &contact.active);
            out.matrix("inverse_inertia", &contact.inverse_inertia, contact.bias.len());
        }
    }
    if !problem.extra.is_empty() {
        let lists = problem.extra.iter().map(|(key, values)| {
            format!("\n    {}: {}", Value::from(key.as_str()), list(values.iter().copied()))
        });
        out.field("extra", &format!("{{{}}}", lists.collect::<Vec<_>>().join(",")));
    }
    let mut text = out.0;
    text.truncate(text.trim_end_matches(",\n").len());
    text.push_str("\n}\n");
    text
}

fn cone(shape: &ConeShape) -> String {
    match shape.cone() {
        Cone::Circular => String::from("\"circular\""),
        Cone::Pyramid { sides, fit } => {
            let fit = match fit {
                PyramidFit::Inscribed => "inscribed",
                PyramidFit::Circumscribed => "circumscribed",
            };
            format!("{{\"sides\": {sides}, \"fit\": \"{fit}\"}}")
        }
    }
}

/// A number in JSON, or a string if JSON cannot represent it.
fn number(value: f64) -> String {
    if value.is_finite() {
        Value::from(value).to_string()
    } else if value.is_nan() {
        match value.to_bits() {
            bits if bits == f64::NAN.to_bits() => String::from("\"nan\""),
            bits => format!("\"nan:{bits:016x}\""),
        }
    } else {
        String::from(if value > 0.0 { "\"inf\"" } else { "\"-inf\"" })
    }
}

fn list(values: impl Iterator<Item = f64>) -> String {
    let values: Vec<String> = values.map(number).collect();
    format!("[{}]", values.join(", "))
}

/// The lines of the object so far.
struct Fields(String);

impl Fields {
    fn field(&mut self, key: &str, value: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "  \"{key}\": {value},");
    }

    fn text(&mut self, key: &str, value: &str) {
        self.field(key, &Value::from(value).to_string());
    }

    fn list(&mut self, key: &str, values: &[f64]) {
        self.field(key, &list(values.iter().copied()));
    }

    /// A column-major matrix as a list of rows.
    fn matrix(&mut self, key: &str, values: &[f64], rows: usize) {
        let row = |i: usize| {
            format!("\n    {}", list(values.iter().skip(i).step_by(rows.max(1)).copied()))
        };
        let lines: Vec<String> = (0..rows).map(row).collect();
        self.field(key, &format!("[{}]", lines.join(",")));
    }

    fn qp(&mut self, qp: &QpData) {
        let (n, m) = (qp.gradient.len(), qp.row_lower.len());
        self.field("dim", &n.to_string());
        self.field("row_count", &m.to_string());
        self.matrix("hessian", &qp.hessian, n);
        self.list("gradient", &qp.gradient);
        self.matrix("rows", &qp.rows, m);
        self.list("row_lower", &qp.row_lower);
        self.list("row_upper", &qp.row_upper);
        self.list("lower", &qp.lower);
        self.list("upper", &qp.upper);
    }
}
