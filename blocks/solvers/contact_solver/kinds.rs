//! The kinds of contact solvers: parameters, manuals, fallbacks and choices, all from the table of
//! methods.

use std::borrow::Cow;
use std::fmt;
use std::sync::LazyLock;

use legwork_block::quantity::{Dimensionless, Share};
use legwork_block::{Ports, Registry, ShelfMut, parameters, ports};
use legwork_qp::{Cones, METHODS, Method, Value};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeSeed, EnumAccess, Error, MapAccess, VariantAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value as Json};

use super::{Asked, ContactSolver, OnFail};
use crate::buses::ContactProblemBus;
use crate::solvers::problem_dump::Dump;

/// Ports and parameters of every contact solver; the words in capitals are those of the method.
#[ports(
    |asked: &Asked|
    in  problem: asked.problem.clone() as ContactProblemBus, _,
        "PROBLEM";
    out f: legwork_block::Vector::of(3 * asked.count.clone()), "N",
        "contact forces on the robot, contact axes", frame "contact", shape "3k";
    out status: legwork_block::Int, _,
        "0 solved, 1 inaccurate, else not: see [`solvers`](crate::solvers)";
    out iterations: legwork_block::Int, _, "ITERATIONS";
    out residual: legwork_block::Real, "1",
        "residual relative to the force scale; infinite if unknown", infinite;
)]
#[parameters(default)]
#[derive(Default)]
pub(crate) struct Common {
    /// What to do when it does not solve: `Stop` (the default), `HoldLast(max: 5)`, `Zero`,
    /// `Fallback(…)`: another solver, of which status, iterations and residual then are.
    pub(super) on_fail: OnFail,
    /// Which problems to keep for the files of a run: `Never`, `Failures(max: 1)` (the
    /// default), `Every(n: 100, max: 10)`.
    pub(super) dump: Dump,
    /// Solve anew in minor steps; otherwise at major steps, between which forces are held.
    pub(super) in_minor_steps: bool,
}

/// Names of the fields of [`Common`].
const COMMON: [&str; 3] = ["on_fail", "dump", "in_minor_steps"];

/// A kind of contact solver.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(super) method: &'static Method,
    /// Names of its parameters.
    fields: Vec<&'static str>,
}

/// All kinds, in the order of the table.
pub(crate) static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let kind = |method: &&'static Method| {
        let settings = method.settings.iter().map(|setting| setting.name);
        Kind { method, fields: settings.chain(COMMON).collect() }
    };
    METHODS.iter().map(kind).collect()
});

/// Names of the kinds that may replace another.
static FALLBACKS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| Method::convex().map(|method| method.kind).collect());

/// Names of all kinds, separated by commas.
pub(crate) static LIST: LazyLock<String> =
    LazyLock::new(|| METHODS.iter().map(|method| method.kind).collect::<Vec<_>>().join(", "));

/// The file of choices.
static CHOICES: LazyLock<String> = LazyLock::new(|| {
    let choice = |method: &&Method| {
        method.choice.map(|choice| format!("        \"{}\": {choice},\n", method.name))
    };
    format!(
        "Choices(
    format: 2,
    doc: \"Solvers of contact problems, fn(problem: ContactProblem) -> (f: Vector): the convex law \
         of contact.\",
    default: \"{}\",
    choices: {{
{}    }},
)
",
        METHODS[0].name,
        METHODS.iter().filter_map(choice).collect::<String>(),
    )
});

/// Adds the kinds to their shelf.
pub(crate) fn register(shelf: &mut ShelfMut<'_>) {
    for kind in &*KINDS {
        let schema = move |generator: &mut SchemaGenerator| kind.schema(generator);
        shelf.kind(kind.method.kind, kind.method.example, schema, kind);
    }
}

/// Adds the file of choices.
pub(crate) fn register_choices(r: &mut Registry) {
    r.file("variants/contact_solvers.ron", CHOICES.as_bytes());
}

impl Kind {
    /// The kind of this name.
    #[cfg(test)]
    pub(crate) fn named(name: &str) -> &'static Self {
        KINDS.iter().find(|kind| kind.method.kind == name).expect("a kind of contact solver")
    }

    /// Declares the ports with the words of the method.
    pub(super) fn declare(
        &self,
        common: &Common,
        ports: &mut Ports<'_>,
        asked: &Asked,
    ) -> CommonPorts {
        let io = common.declare(ports, asked);
        ports.note_in(io.problem).doc(self.problem());
        ports.note_out(io.iterations).doc(self.method.iterations);
        io
    }

    /// Meaning of the input.
    fn problem(&self) -> &'static str {
        match self.method.cones {
            Cones::All => "with a friction pyramid or the circular cone",
            Cones::Pyramids => {
                "with a friction pyramid, or the circular cone, which a few pyramids solve"
            }
        }
    }

    /// The schema that `#[parameters]` would make of a struct with its manual and settings.
    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Common::json_schema(generator);
        let object = schema.ensure_object();
        let common = match object.remove("properties") {
            Some(Json::Object(common)) => common,
            _ => Map::new(),
        };
        let mut properties = Map::new();
        for setting in self.method.settings {
            let (mut property, default) = match setting.default {
                Value::Count(value) => (generator.subschema_for::<u32>(), Json::from(value)),
                Value::Real(value) => (generator.subschema_for::<f64>(), value.into()),
                Value::Share(value) => {
                    (generator.subschema_for::<Share<Dimensionless>>(), value.into())
                }
                Value::Flag(value) => (generator.subschema_for::<bool>(), value.into()),
            };
            property.insert("description".to_owned(), setting.doc.into());
            property.insert("default".to_owned(), default);
            properties.insert(setting.name.to_owned(), property.into());
        }
        properties.extend(common);
        object.insert("properties".to_owned(), properties.into());
        let table = object.get("description").and_then(Json::as_str).unwrap_or_default();
        let table = table.split_once("\n\n").map_or("", |(_, table)| table);
        let table = table.replacen("PROBLEM", self.problem(), 1);
        let table = table.replacen("ITERATIONS", self.method.iterations, 1);
        let (first, rest) = self.method.doc.split_once("\n\n").unwrap_or((self.method.doc, ""));
        let description = format!("{first}\n\n{table}\n\n{rest}");
        object.insert("description".to_owned(), description.trim_end().into());
        object.insert("x-aliases".to_owned(), self.method.aliases.into());
        schema
    }
}

/// Reads the fields of one kind.
impl<'de> DeserializeSeed<'de> for &'static Kind {
    type Value = ContactSolver;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<ContactSolver, D::Error> {
        deserializer.deserialize_struct(self.method.kind, &self.fields, self)
    }
}

impl<'de> Visitor<'de> for &'static Kind {
    type Value = ContactSolver;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "struct {}", self.method.kind)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ContactSolver, A::Error> {
        let (mut settings, mut common) = (self.method.defaults(), Common::default());
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "on_fail" => common.on_fail = map.next_value()?,
                "dump" => common.dump = map.next_value()?,
                "in_minor_steps" => common.in_minor_steps = map.next_value()?,
                name => {
                    let found = self.method.settings.iter().find(|known| known.name == name);
                    let known = found.ok_or_else(|| Error::unknown_field(name, &self.fields))?;
                    let value = match known.default {
                        Value::Count(_) => Value::Count(map.next_value()?),
                        Value::Real(_) => Value::Real(map.next_value()?),
                        Value::Share(_) => {
                            Value::Share(map.next_value::<Share<Dimensionless>>()?.value())
                        }
                        Value::Flag(_) => Value::Flag(map.next_value()?),
                    };
                    settings.set(name, value);
                }
            }
        }
        Ok(ContactSolver { kind: self, settings, common })
    }
}

/// A solver of any kind, as a fallback: `Lemke(cold: true)`.
impl<'de> Deserialize<'de> for ContactSolver {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_enum("FallbackSolver", &FALLBACKS, AnyKind)
    }
}

struct AnyKind;

impl<'de> Visitor<'de> for AnyKind {
    type Value = ContactSolver;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("enum FallbackSolver")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<ContactSolver, A::Error> {
        let (name, variant) = access.variant::<String>()?;
        let is_fallback = FALLBACKS.contains(&name.as_str());
        match KINDS.iter().find(|kind| is_fallback && kind.method.kind == name) {
            Some(kind) => variant.newtype_variant_seed(kind),
            None => Err(Error::unknown_variant(&name, &FALLBACKS)),
        }
    }
}

impl JsonSchema for ContactSolver {
    fn schema_name() -> Cow<'static, str> {
        "FallbackSolver".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut variants = Vec::new();
        for kind in KINDS.iter().filter(|kind| FALLBACKS.contains(&kind.method.kind)) {
            let name = kind.method.kind;
            if !generator.definitions().contains_key(name) {
                let schema = kind.schema(generator);
                generator.definitions_mut().insert(name.to_owned(), schema.into());
            }
            variants.push(json_schema!({
                "description": kind.method.title,
                "type": "object",
                "properties": { name: { "$ref": format!("#/$defs/{name}") } },
                "required": [name],
                "additionalProperties": false,
            }));
        }
        json_schema!({
            "description": "A solver that may replace another.",
            "oneOf": variants,
        })
    }
}
