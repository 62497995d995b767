//! What fields of constructs hold: texts, words, maps, ports, periods.

use std::collections::BTreeSet;
use std::marker::PhantomData;

use indexmap::IndexMap;
use legwork_block::{
    Arguments, Diagnostics, Named, Node, NodeField as Field, NodeKind, Place, Span,
};

use super::{Read, construct, only_argument, signature, wrong_type};

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
        found.push(wrong_type(node, &expected).suggest(name, names.iter().copied()));
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
pub(crate) struct Inputs(Vec<(String, Node)>);

impl Inputs {
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
        let mut inputs: Vec<(String, Node)> = inputs.into_iter().collect();
        inputs.sort_by(|(a, _), (b, _)| a.cmp(b));
        Self(inputs)
    }
}

impl<'n> Read<'n> for Inputs {
    fn read(node: &'n Node, found: &mut Diagnostics) -> Option<Self> {
        let mut inputs = Vec::new();
        match &node.kind {
            NodeKind::Unit => {}
            NodeKind::Map(entries) => {
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
        Some(inputs.into_iter().collect())
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
    /// The interface of a part: name and type of each port. A function type as a text says the same:
    /// `"fn(u: Real) -> (y: Real)"`.
    ///
    /// ```ron
    /// ports: (
    ///     in: { "x": "Vector(n)", "turn": Optional("Matrix(n, n)") },
    ///     out: { "y": "Vector(n)", "first": "Real" },
    /// ),
    /// ```
    ///
    /// A type is one of the language, or a bus of the library or of `buses:`. A dimension that is
    /// left out is found out.
    "ports":
    pub(crate) struct Ports<'n> {
        /// Type of each input. One in `Optional(…)` need not be connected.
        inputs as "in": Option<Entries<'n, OfPorts>>,
        /// Type of each output.
        outputs as "out": Option<Entries<'n, OfPorts>>,
        /// Of a hole: what fills it if the user of the mask does not.
        default: Option<&'n Node>,
        /// What it is for.
        doc: Option<&'n Node>,
    }
}

/// Ports.
pub(crate) struct OfPorts;

impl What for OfPorts {
    const EXPECTED: &'static str = "a map of ports and their types, such as { \"u\": \"Real\" }";
}

/// A declared interface: name and type of each port, as written.
#[derive(Default)]
pub(crate) struct Interface {
    pub(crate) inputs: IndexMap<String, Node>,
    pub(crate) outputs: IndexMap<String, Node>,
    /// Inputs that need not be connected: `Optional("Vector(3)")`.
    pub(crate) optional: BTreeSet<String>,
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
            if optional.is_some() {
                interface.optional.insert(name.to_owned());
            }
            interface.inputs.insert(name.to_owned(), optional.unwrap_or(value).clone());
        }
        for Entry { name, value, .. } in ports.outputs.iter().flat_map(Entries::iter) {
            interface.outputs.insert(name.to_owned(), value.clone());
        }
        Some(interface)
    }
}
