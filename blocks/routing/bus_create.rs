//! `BusCreate`: several signals under one name.

use legwork_block::{
    Any, BusField, Inputs, Invalid, Outcome, Outputs, Ports, Pure, Slope, Slopes, Type, block, bus,
    parameters, ports,
};

/// Several signals under one name: a bus with a field for each input.
///
/// A field is taken out by its path, `"bus.y.field"`. Two buses fit only if their names and fields
/// agree. Where an input expects a bus of the diagram's `buses:`, `Bus("Name", { … })` in `in:`
/// makes one without a block, also one with some fields of another: `"a": "other.y.a"`.
#[ports(
    let fields = self.fields.iter().map(|name| BusField::new(name, Type::Var(ports.var())));
    let fields: Vec<BusField> = fields.collect();
    in  parts[(name, field) in self.fields.iter().zip(&fields)]: Any(field.ty.clone()), _,
        "the fields", named "one for each of `fields`, of its name",
        shape "any type, buses included", units "any";
    out y: Any(bus(&self.name, Vec::new(), fields, Vec::new())), _, "the bus",
        shape "bus `name` with these fields", units "not kept";
)]
#[parameters(aliases("bus creator", "struct"))]
pub struct BusCreate {
    /// Name of the bus type.
    #[default = "Bus"]
    pub name: String,
    /// Names of the fields, in their order.
    pub fields: Vec<String>,
}

#[block]
impl Pure for BusCreate {
    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        if self.fields.is_empty() {
            return Err(Invalid::parameter("fields", "expected at least one field, found none"));
        }
        for (i, field) in self.fields.iter().enumerate() {
            let word = |c: char| c.is_alphanumeric() || c == '_';
            if field.is_empty() || !field.chars().all(word) {
                let message = format!("expected names of letters, digits and _, found `{field}`");
                return Err(Invalid::parameter("fields", message));
            }
            if self.fields[..i].contains(field) {
                let message = format!("expected different names, found `{field}` twice");
                return Err(Invalid::parameter("fields", message));
            }
        }
        Ok(self.declare(ports))
    }

    fn output(&self, io: &Self::Plan, inputs: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        let mut leaf = 0;
        for part in &io.parts {
            for u in inputs.get(*part).iter() {
                outputs.leaf(io.y, leaf).copy_from_slice(u);
                leaf += 1;
            }
        }
        Ok(())
    }

    fn slopes(&self, io: &Self::Plan, _: &Inputs<'_>, slopes: &mut Slopes<'_>) -> Slope {
        let mut leaf = 0;
        for part in &io.parts {
            for i in 0..slopes.leaf_count(*part) {
                slopes.each(slopes.rows(io.y, leaf), slopes.columns(*part, i), |_| 1.0);
                leaf += 1;
            }
        }
        Slope::Exact
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::{Bench, block, refusal};

    #[test]
    fn fields_stand_side_by_side() {
        let create: BusCreate = block(json!({ "name": "Pair", "fields": ["a", "b"] }));
        let given = [Type::vector(2), Type::array(Type::Real, 2)];
        let mut bench = Bench::new(create, &given).expect("a bus");
        assert_eq!(bench.declaration.outputs[0].ty.to_string(), "Pair");
        let y = bench.y(0.0, &[("a", &[1.0, 2.0]), ("b", &[3.0, 4.0])]);
        assert_eq!(y, [1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn fields_have_names_of_their_own() {
        let refused =
            |fields: &[&str]| refusal(block::<BusCreate>(json!({ "fields": fields })), &[]);
        assert_eq!(refused(&["a", "a"]), "expected different names, found `a` twice");
        assert_eq!(refused(&[]), "expected at least one field, found none");
        assert_eq!(refused(&["a.b"]), "expected names of letters, digits and _, found `a.b`");
    }
}
