//! What fields of constructs hold: texts, words, maps, ports, periods.

use std::collections::BTreeSet;
use std::marker::PhantomData;

use indexmap::IndexMap;
use legwork_block::{
    Arguments, Diagnostic, Diagnostics, Named, Node, NodeField as Field, NodeKind, Place, Span,
    code,
};
use smallvec::SmallVec;

use super::{Construct, Read, construct, only_argument, signature, wrong_type};

/// A text, such as a name, a path of a signal or a type.
#[derive(Clone, Copy)]
pub(crate) struct Text<'n> {
    pub(crate) value: &'n str,
    /// Where it is.
    pub(crate) node: &'n Node,
}

impl<'n> Read<'n> for Text<'n> {
    fn read(node: &'n Node, found: &mut Diagnostics) -> Option<Self> {
        match node.text() {
            Some(value) => Some(Self { value, node }),
            None => {
                found.push(wrong_type(node, "a text"));
                None
            }
        }
    }
}

/// Declares an enum of words, which a diagram writes as they are or as a text. The first is what
/// holds if nothing is written.
macro_rules! words {
    ($(#[doc = $doc:literal])* $vis:vis enum $type:ident {
        $($(#[doc = $word_doc:literal])* $word:ident,)*
    }) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $vis enum $type {
            $($(#[doc = $word_doc])* $word,)*
        }

        impl<'n> crate::language::Read<'n> for $type {
            fn read(
                node: &'n legwork_block::Node,
                found: &mut legwork_block::Diagnostics,
            ) -> Option<Self> {
                let words = [$((stringify!($word), Self::$word)),*];
                crate::language::read_word(node, &words, found)
            }
        }
    };
}

pub(crate) use words;

/// What the word at `node` stands for.
pub(crate) fn read_word<T: Copy>(
    node: &Node,
    words: &[(&str, T)],
    found: &mut Diagnostics,
) -> Option<T> {
    let name = expected_word(node).unwrap_or_default();
    let word = words.iter().find(|(word, _)| *word == name).map(|(_, meaning)| *meaning);
    if word.is_none() {
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let expected = format!("one of {}", names.join(", "));
        let mut wrong = wrong_type(node, &expected);
        if !name.is_empty() {
            wrong.code = code::UNKNOWN_CHOICE;
        }
        found.push(wrong.suggest(name, names.iter().copied()));
    }
    word
}

/// A word, bare or as a text.
pub(crate) fn expected_word(node: &Node) -> Option<&str> {
    node.text().or_else(|| node.kind_name().map(|name| name.text.as_str()))
}

/// What a map is expected to be, for messages.
pub(crate) trait What {
    /// Such as: a map of names.
    const EXPECTED: &'static str;
}

/// A map with names as keys, in the order of the file.
pub(crate) struct Entries<'n, W> {
    list: Vec<Entry<'n>>,
    /// Where the map is.
    pub(crate) span: Span,
    what: PhantomData<W>,
}

/// An entry of a map.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'n> {
    pub(crate) name: &'n str,
    pub(crate) name_span: Span,
    /// Where the letters of the name are.
    pub(crate) place: &'n Place,
    pub(crate) value: &'n Node,
}

impl<'n, W> Entries<'n, W> {
    pub(crate) fn iter(&self) -> impl Iterator<Item = Entry<'n>> + use<'_, 'n, W> {
        self.list.iter().copied()
    }

    /// Those of its entries that are wanted, as a map of another kind.
    pub(crate) fn filtered<V>(&self, wanted: impl Fn(&Entry<'n>) -> bool) -> Entries<'n, V> {
        let list = self.iter().filter(wanted).collect();
        Entries { list, span: self.span, what: PhantomData }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'n str> + use<'_, 'n, W> {
        self.iter().map(|entry| entry.name)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'n Node> {
        self.iter().find(|entry| entry.name == name).map(|entry| entry.value)
    }
}

impl<'n, W: What> Read<'n> for Entries<'n, W> {
    fn read(node: &'n Node, found: &mut Diagnostics) -> Option<Self> {
        let Some(entries) = node.map() else {
            found.push(wrong_type(node, W::EXPECTED));
            return None;
        };
        let mut list = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            match &key.kind {
                NodeKind::Text(legwork_block::Text { value: name, place }) => {
                    list.push(Entry { name, name_span: key.span, place, value });
                }
                _ => found.push(wrong_type(key, "a name as text")),
            }
        }
        Some(Self { list, span: node.span, what: PhantomData })
    }
}

/// The sources of inputs, sorted by port: `in: { "u": "block.port" }`, or `in: (u: "block.port")`.
#[derive(Clone, Default)]
pub(crate) struct Inputs(SmallVec<[(String, Node); 1]>);

impl Inputs {
    fn sorted(mut inputs: SmallVec<[(String, Node); 1]>) -> Self {
        inputs.sort_by(|(a, _), (b, _)| a.cmp(b));
        Self(inputs)
    }

    /// The source of the input `name`.
    pub(crate) fn get(&self, name: &str) -> Option<&Node> {
        let at = self.0.binary_search_by(|(known, _)| known.as_str().cmp(name)).ok()?;
        Some(&self.0[at].1)
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &(String, Node)> {
        self.0.iter()
    }
}

impl FromIterator<(String, Node)> for Inputs {
    fn from_iter<I: IntoIterator<Item = (String, Node)>>(inputs: I) -> Self {
        Self::sorted(inputs.into_iter().collect())
    }
}

impl<'n> Read<'n> for Inputs {
    fn read(node: &'n Node, found: &mut Diagnostics) -> Option<Self> {
        let mut inputs = SmallVec::new();
        match &node.kind {
            NodeKind::Unit => {}
            NodeKind::Map(entries) => {
                inputs.reserve_exact(entries.len());
                for (key, value) in entries {
                    match key.text() {
                        Some(name) => inputs.push((name.to_owned(), value.clone())),
                        None => found.push(wrong_type(key, "the name of an input as text")),
                    }
                }
            }
            NodeKind::Named(Named { name: None, arguments: Arguments::Fields(fields) }) => {
                let input = |field: &Field| (field.name.text.clone(), field.value.clone());
                inputs.extend(fields.iter().map(input));
            }
            _ => found.push(wrong_type(node, "inputs such as { \"u\": \"block.port\" }")),
        }
        Some(Self::sorted(inputs))
    }
}

construct! {
    /// A period with an offset: `every: (period: "10 ms", offset: "2 ms")`.
    ///
    /// Without an offset the period is written alone: `every: "10 ms"`, or a frequency: `"100 Hz"`.
    "every":
    pub(crate) struct OffsetPeriod<'n> {
        /// Time between two hits, or their frequency.
        period: &'n Node,
        /// Time of the first hit. Default: 0.
        offset: Option<&'n Node>,
    }
}

/// `every:`, a period alone or with its offset.
pub(crate) struct Period<'n> {
    /// The whole of it.
    pub(crate) node: &'n Node,
    pub(crate) period: &'n Node,
    pub(crate) offset: Option<&'n Node>,
}

impl<'n> Read<'n> for Period<'n> {
    fn read(node: &'n Node, found: &mut Diagnostics) -> Option<Self> {
        if !matches!(&node.kind, NodeKind::Named(Named { name: None, .. })) {
            return Some(Self { node, period: node, offset: None });
        }
        let OffsetPeriod { period, offset, .. } = super::read(node, found)?;
        Some(Self { node, period, offset })
    }
}

construct! {
    /// The ports of a part: of a diagram, a mask, a subsystem, a conditional part, a hole, a variant.
    /// A function type as a text says the same: `"fn(u: Real) -> (y: Real)"`.
    ///
    /// ```ron
    /// ports: (
    ///     in: { "x": "Vector(n)", "turn": Optional("Matrix(n, n)") },
    ///     out: { "y": "Vector(n)", "first": "Real" },
    /// ),
    /// ```
    ///
    /// A type is one of the language, or a bus of the library or of `buses:`. A dimension that is
    /// left out is found out. Blocks inside read the input `x` as `^x`; `out:` of the part says where
    /// each output comes from. What a part is connected to must be of the declared type and unit.
    "ports":
    pub(crate) struct Ports<'n> {
        /// Each input: its type, or `Port(…)`. One in `Optional(…)` need not be connected.
        inputs as "in": Option<Entries<'n, OfPorts>>,
        /// Each output: its type, or `Port(…)`. One in `Optional(…)` may be absent from what fills a
        /// hole, or from `out:` of a mask; inputs that need not be connected are then not.
        outputs as "out": Option<Entries<'n, OfPorts>>,
        /// Of a hole: what fills it if the user of the mask does not.
        default: Option<&'n Node>,
        /// What it is for.
        doc: Option<&'n Node>,
    }
}

construct! {
    /// A port with more than its type.
    ///
    /// ```ron
    /// "push": Port(type: "Real", unit: "N", default: Sine(amplitude: "0.1 N", frequency: "1 Hz")),
    /// ```
    "Port":
    pub(crate) struct Port<'n> {
        /// Its type, as text.
        ty as "type": &'n Node = required("which type?", "Port(type: \"Real\", unit: \"N\")"),
        /// Its unit, without a prefix: `N`, `rad/s`. Without it any unit fits.
        unit: Option<Text<'n>>,
        /// Of an input: what feeds it where nothing is connected: a value, or a block without inputs.
        default: Option<&'n Node>,
        /// What it is for.
        doc: Option<Text<'n>>,
    }
}

/// Ports.
pub(crate) struct OfPorts;

impl What for OfPorts {
    const EXPECTED: &'static str = "a map of ports and their types, such as { \"u\": \"Real\" }";
}

/// A declared port, as written.
#[derive(Clone)]
pub(crate) struct Declared {
    pub(crate) ty: Node,
    pub(crate) unit: Option<Node>,
    pub(crate) default: Option<Node>,
    pub(crate) doc: String,
}

impl Declared {
    /// A port of which only the type is written.
    pub(super) fn of_type(ty: Node) -> Self {
        Self { ty, unit: None, default: None, doc: String::new() }
    }

    fn read(node: &Node, found: &mut Diagnostics) -> Option<Self> {
        if node.kind_name().is_none_or(|kind| kind.text != Port::MANUAL.name) {
            return Some(Self::of_type(node.clone()));
        }
        let Port { ty, unit, default, doc, .. } = super::read(node, found)?;
        Some(Self {
            ty: ty.clone(),
            unit: unit.map(|unit| unit.node.clone()),
            default: default.cloned(),
            doc: doc.map_or("", |doc| doc.value).to_owned(),
        })
    }
}

/// A declared interface.
#[derive(Default)]
pub(crate) struct Interface {
    pub(crate) inputs: IndexMap<String, Declared>,
    pub(crate) outputs: IndexMap<String, Declared>,
    /// Inputs that need not be connected: `Optional("Vector(3)")`.
    pub(crate) optional: BTreeSet<String>,
    /// Outputs that need not be there.
    pub(crate) optional_outputs: BTreeSet<String>,
}

impl<'n> Read<'n> for Interface {
    fn read(node: &'n Node, found: &mut Diagnostics) -> Option<Self> {
        if let NodeKind::Text(text) = &node.kind {
            return match signature::parse(text) {
                Ok(interface) => Some(interface),
                Err(diagnostic) => {
                    found.push(diagnostic);
                    None
                }
            };
        }
        let ports: Ports<'n> = super::read(node, found)?;
        let mut interface = Self::default();
        for Entry { name, value, .. } in ports.inputs.iter().flat_map(Entries::iter) {
            let optional = only_argument(value, "Optional");
            let Some(port) = Declared::read(optional.unwrap_or(value), found) else { continue };
            if optional.is_some() {
                interface.optional.insert(name.to_owned());
                if let Some(default) = &port.default {
                    let message = "an optional input is absent where nothing is connected";
                    let wrong = Diagnostic::error(code::UNKNOWN_FIELD, default.span, message);
                    found.push(wrong.hint("leave `Optional` or the default out"));
                }
            }
            interface.inputs.insert(name.to_owned(), port);
        }
        for Entry { name, value, .. } in ports.outputs.iter().flat_map(Entries::iter) {
            let optional = only_argument(value, "Optional");
            let Some(port) = Declared::read(optional.unwrap_or(value), found) else { continue };
            if optional.is_some() {
                interface.optional_outputs.insert(name.to_owned());
            }
            if let Some(default) = &port.default {
                let message = "an output has no default: `out:` says where it comes from";
                found.push(Diagnostic::error(code::UNKNOWN_FIELD, default.span, message));
            }
            interface.outputs.insert(name.to_owned(), port);
        }
        Some(interface)
    }
}
