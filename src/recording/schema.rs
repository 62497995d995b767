//! The protobuf schema of a rate, made together with the byte pattern of its rows.
//!
//! Each schema is a `FileDescriptorSet` of two files: the messages that all rates share (`Vector`,
//! `Matrix`, `Rotation`, `Pose`, `Phase`) and the rate's own, whose message has a field for each
//! signal. A field's name is made an identifier by replacing characters that protobuf does not
//! allow; columns and the shapes in the channel's metadata keep the name as it was written.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use prost::Message as _;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, EnumValueDescriptorProto, FieldDescriptorProto,
    FileDescriptorProto, FileDescriptorSet,
};

use super::channel::{Field, Kind, Shape};
use super::layout::{Pattern, STAMP_FIELD_COUNT};
use super::rate::{self, Group};
use super::row::Phase;

const PACKAGE: &str = "legwork";
const SHARED_FILE: &str = "legwork/signal.proto";

/// Schema and row pattern of a rate.
pub(super) struct Encoding {
    /// Full name of the row's message.
    pub(super) name: String,
    /// The encoded `FileDescriptorSet`.
    pub(super) schema: Vec<u8>,
    /// The row's bytes.
    pub(super) pattern: Pattern,
    /// The pieces of the pattern that each signal has.
    pub(super) pieces: Vec<Range<usize>>,
}

/// Encodings of the rates of one file, in order, under message names that differ.
pub(super) fn encodings(groups: &[Group<'_>]) -> Vec<Encoding> {
    let shared = shared_file();
    let messages = shared.message_type.iter().filter_map(|message| message.name.clone());
    let mut names = Names::taken(messages);
    names.taken.extend(shared.enum_type.iter().filter_map(|kind| kind.name.clone()));
    names.taken.extend(Phase::ALL.map(|phase| phase.name().to_owned()));
    groups
        .iter()
        .map(|group| {
            let name = names.distinct(&identifier(group.name), str::to_owned);
            encoding(&shared, group, &name)
        })
        .collect()
}

fn encoding(shared: &FileDescriptorProto, group: &Group<'_>, name: &str) -> Encoding {
    let mut row = Builder { pattern: Pattern::with_stamp(), ..Builder::default() };
    row.descriptor.name = Some(name.to_owned());
    row.descriptor.field = stamp_fields();
    row.number = STAMP_FIELD_COUNT;
    let pieces = row.push_fields(&rate::fields(group));
    complete(&mut row.descriptor, &format!(".{PACKAGE}"));
    let file = FileDescriptorProto {
        name: Some(format!("{PACKAGE}/{name}.proto")),
        dependency: vec![SHARED_FILE.to_owned()],
        message_type: vec![row.descriptor],
        ..file()
    };
    Encoding {
        name: format!("{PACKAGE}.{name}"),
        schema: FileDescriptorSet { file: vec![shared.clone(), file] }.encode_to_vec(),
        pattern: row.pattern,
        pieces,
    }
}

/// Writes out the names of the messages inside `message`, which `parent` holds.
fn complete(message: &mut DescriptorProto, parent: &str) {
    let path = format!("{parent}.{}", message.name());
    for name in message.field.iter_mut().filter_map(|field| field.type_name.as_mut()) {
        if !name.starts_with('.') {
            *name = format!("{path}.{name}");
        }
    }
    message.nested_type.iter_mut().for_each(|nested| complete(nested, &path));
}

/// A message under construction. Its own name and that of what holds it are not known yet, so the
/// types of its fields that it declares itself have their last names only, without a leading dot.
#[derive(Default)]
struct Builder {
    descriptor: DescriptorProto,
    pattern: Pattern,
    /// Number of the last field.
    number: u32,
}

/// The names inside a message.
#[derive(Default)]
struct Scope {
    names: Names,
    /// The number behind the name of a message, by the name without it and the message's encoding.
    messages: BTreeMap<(String, Vec<u8>), u64>,
}

impl Builder {
    /// Declares fields; the pieces of the pattern that each has.
    fn push_fields(&mut self, fields: &[Field]) -> Vec<Range<usize>> {
        // Protobuf tells two names of one message apart by their JSON form, which ignores
        // underscores and, to be safe with every reader, the case.
        let own = self.descriptor.field.iter();
        let mut taken = Names::taken(own.filter_map(|field| field.name.as_deref()).map(json));
        let names: Vec<String> =
            fields.iter().map(|field| taken.distinct(&identifier(&field.name), json)).collect();
        // A nested message shares the scope of the fields, so the fields are named first.
        let names_of_fields = Names::taken(names.iter().cloned());
        let mut scope = Scope { names: names_of_fields, ..Scope::default() };
        let mut push = |(field, name): (&Field, &String)| {
            let start = self.pattern.piece_count();
            self.push(name, &field.shape, &mut scope);
            start..self.pattern.piece_count()
        };
        fields.iter().zip(&names).map(&mut push).collect()
    }

    fn push(&mut self, name: &str, shape: &Shape, scope: &mut Scope) {
        match shape {
            Shape::Real => self.push_scalar(name, Kind::Real),
            Shape::Bool => self.push_scalar(name, Kind::Bool),
            Shape::Int => self.push_scalar(name, Kind::Int),
            Shape::Vector(n) => self.push_packed(name, *n, Kind::Real),
            Shape::Repeated(of, n) => match **of {
                Shape::Real => self.push_packed(name, *n, Kind::Real),
                Shape::Bool => self.push_packed(name, *n, Kind::Bool),
                Shape::Int => self.push_packed(name, *n, Kind::Int),
                _ => {
                    let (type_name, pattern) = self.message(of, scope);
                    let number =
                        self.declare(name, Label::Repeated, Type::Message, Some(type_name));
                    for _ in 0..*n {
                        self.pattern.push_message(number, &pattern);
                    }
                }
            },
            Shape::Matrix(..) | Shape::Rotation | Shape::Pose | Shape::Message(..) => {
                let (type_name, pattern) = self.message(shape, scope);
                let number = self.declare(name, Label::Optional, Type::Message, Some(type_name));
                self.pattern.push_message(number, &pattern);
            }
        }
    }

    fn push_scalar(&mut self, name: &str, kind: Kind) {
        let number = self.declare(name, Label::Optional, scalar_type(kind), None);
        self.pattern.push_scalar(number, kind);
    }

    fn push_packed(&mut self, name: &str, count: usize, kind: Kind) {
        let number = self.declare(name, Label::Repeated, scalar_type(kind), None);
        self.pattern.push_packed(number, count, kind);
    }

    /// The message type of a shape, declared inside this one if it is not shared, and its pattern.
    fn message(&mut self, shape: &Shape, scope: &mut Scope) -> (String, Pattern) {
        let mut pattern = Pattern::default();
        let name = match shape {
            Shape::Matrix(rows, cols) => {
                pattern.push_fixed32(1, u32::try_from(*rows).unwrap_or(u32::MAX));
                pattern.push_fixed32(2, u32::try_from(*cols).unwrap_or(u32::MAX));
                pattern.push_packed(3, rows * cols, Kind::Real);
                "Matrix"
            }
            Shape::Rotation => {
                pattern.push_packed(1, 9, Kind::Real);
                "Rotation"
            }
            Shape::Pose => {
                let (_, rotation) = self.message(&Shape::Rotation, scope);
                pattern.push_message(1, &rotation);
                pattern.push_packed(2, 3, Kind::Real);
                "Pose"
            }
            Shape::Real | Shape::Bool | Shape::Int | Shape::Vector(_) => {
                pattern.push_packed(1, shape.value_count(), Kind::Real);
                "Vector"
            }
            Shape::Message(name, fields) => return self.nested(name, fields, scope),
            Shape::Repeated(..) => {
                let items = [Field::new("items", shape.clone())];
                return self.nested("List", &items, scope);
            }
        };
        (format!(".{PACKAGE}.{name}"), pattern)
    }

    /// Declares a message inside this one, under the first of `name`, `name_2`, … that is free or
    /// that of an equal one, which is used again.
    fn nested(&mut self, name: &str, fields: &[Field], scope: &mut Scope) -> (String, Pattern) {
        let mut nested = Self::default();
        nested.push_fields(fields);
        let Self { mut descriptor, pattern, .. } = nested;
        let encoded = descriptor.encode_to_vec();
        let wanted = identifier(name);
        let free = scope.names.free(&wanted, str::to_owned);
        let equal = scope.messages.get(&(wanted.clone(), encoded.clone()));
        if let Some(&equal) = equal.filter(|&&equal| equal < free) {
            return (numbered(&wanted, equal), pattern);
        }
        let name = numbered(&wanted, free);
        scope.names.taken.insert(name.clone());
        // `foot_2` is what `foot` finds as its second, and the first of its own.
        let split = name.rsplit_once('_').and_then(|(base, number)| {
            let number = number.parse().ok().filter(|&number: &u64| number > 1)?;
            (numbered(base, number) == name).then(|| (base.to_owned(), number))
        });
        for (base, number) in split.into_iter().chain([(name.clone(), 1)]) {
            let known = scope.messages.entry((base, encoded.clone())).or_insert(number);
            *known = number.min(*known);
        }
        descriptor.name = Some(name.clone());
        self.descriptor.nested_type.push(descriptor);
        (name, pattern)
    }

    /// Declares a field under the next number, which it returns.
    fn declare(&mut self, name: &str, label: Label, kind: Type, of: Option<String>) -> u32 {
        self.number += 1;
        // The numbers 19000 to 19999 are protobuf's own.
        if self.number == 19_000 {
            self.number = 20_000;
        }
        self.descriptor.field.push(field(name, self.number, label, kind, of));
        self.number
    }
}

fn scalar_type(kind: Kind) -> Type {
    match kind {
        Kind::Real => Type::Double,
        Kind::Int => Type::Sfixed64,
        Kind::Bool => Type::Bool,
    }
}

#[expect(clippy::expect_used, reason = "2³¹ fields take more than a file may ask for")]
fn field(
    name: &str,
    number: u32,
    label: Label,
    kind: Type,
    of: Option<String>,
) -> FieldDescriptorProto {
    FieldDescriptorProto {
        name: Some(name.to_owned()),
        number: Some(i32::try_from(number).expect("a row has fewer than 2^29 fields")),
        label: Some(label.into()),
        r#type: Some(kind.into()),
        type_name: of,
        ..Default::default()
    }
}

fn stamp_fields() -> Vec<FieldDescriptorProto> {
    let phase = Some(format!(".{PACKAGE}.Phase"));
    vec![
        field("tick", 1, Label::Optional, Type::Fixed64, None),
        field("microstep", 2, Label::Optional, Type::Fixed32, None),
        field("phase", 3, Label::Optional, Type::Enum, phase),
        field("t", 4, Label::Optional, Type::Double, None),
    ]
}

fn file() -> FileDescriptorProto {
    FileDescriptorProto {
        package: Some(PACKAGE.to_owned()),
        syntax: Some("proto3".to_owned()),
        ..Default::default()
    }
}

/// The file of the messages that all channels share.
fn shared_file() -> FileDescriptorProto {
    let message = |name: &str, field: Vec<FieldDescriptorProto>| DescriptorProto {
        name: Some(name.to_owned()),
        field,
        ..Default::default()
    };
    let doubles = |name, number| field(name, number, Label::Repeated, Type::Double, None);
    let size = |name, number| field(name, number, Label::Optional, Type::Fixed32, None);
    let rotation = Some(format!(".{PACKAGE}.Rotation"));
    let values = Phase::ALL.map(|phase| EnumValueDescriptorProto {
        name: Some(phase.name().to_owned()),
        number: Some(i32::from(phase.code())),
        options: None,
    });
    FileDescriptorProto {
        name: Some(SHARED_FILE.to_owned()),
        message_type: vec![
            message("Vector", vec![doubles("data", 1)]),
            message("Matrix", vec![size("rows", 1), size("cols", 2), doubles("data", 3)]),
            message("Rotation", vec![doubles("data", 1)]),
            message(
                "Pose",
                vec![
                    field("rotation", 1, Label::Optional, Type::Message, rotation),
                    doubles("position", 2),
                ],
            ),
        ],
        enum_type: vec![EnumDescriptorProto {
            name: Some("Phase".to_owned()),
            value: values.into(),
            ..Default::default()
        }],
        ..file()
    }
}

/// Names that are taken, in the form that tells them apart.
#[derive(Default)]
struct Names {
    taken: BTreeSet<String>,
    /// Numbers below this one are taken, for the form of a name without its number: what comes
    /// again does not begin at the first, so that time does not grow with the square of the names.
    next: BTreeMap<String, u64>,
}

impl Names {
    fn taken(names: impl Iterator<Item = String>) -> Self {
        Self { taken: names.collect(), next: BTreeMap::new() }
    }

    /// The number of the first of `name`, `name_2`, `name_3`, … that is not taken.
    fn free(&mut self, name: &str, form: fn(&str) -> String) -> u64 {
        let next = self.next.entry(form(name)).or_insert(1);
        while self.taken.contains(&form(&numbered(name, *next))) {
            *next += 1;
        }
        *next
    }

    /// The first of `name`, `name_2`, `name_3`, … that is not taken, which is taken.
    fn distinct(&mut self, name: &str, form: fn(&str) -> String) -> String {
        let name = numbered(name, self.free(name, form));
        self.taken.insert(form(&name));
        name
    }
}

fn numbered(name: &str, number: u64) -> String {
    if number == 1 { name.to_owned() } else { format!("{name}_{number}") }
}

/// A protobuf identifier that resembles the name: ASCII letters, digits and `_` stay, other ASCII
/// becomes `_`, and what is not ASCII its code point, as in `u3b8` for θ.
fn identifier(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for symbol in name.chars() {
        match symbol {
            'a'..='z' | 'A'..='Z' | '0'..='9' => out.push(symbol),
            symbol if symbol.is_ascii() => out.push('_'),
            symbol => out.push_str(&format!("u{:x}", u32::from(symbol))),
        }
    }
    if json(&out).is_empty() {
        out.push_str("field");
    }
    if out.starts_with(|first: char| first.is_ascii_digit()) {
        out.insert(0, '_');
    }
    out
}

/// The form by which protobuf tells names apart.
fn json(name: &str) -> String {
    name.chars().filter(|&symbol| symbol != '_').map(|symbol| symbol.to_ascii_lowercase()).collect()
}
