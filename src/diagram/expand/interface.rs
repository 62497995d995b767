//! Interfaces: written in place, or once in a file that many parts name.

use std::rc::Rc;

use legwork_block::{Diagnostic, Node, code};

use super::file::construct_in;
use super::mask::OfParameters;
use super::tree::Env;
use super::{Expander, check_format};
use crate::language::{
    self, Construct, Entries, Interface, Read, Text, construct, name_span, unknown_field,
};

construct! {
    /// Ports that are written once, in a file of their own, for the masks, holes and variants that
    /// have them. Fields beside `file` are the parameters of that file.
    ///
    /// ```ron
    /// ports: Interface(file: "std:help/vector.interface", n: 3),
    /// ```
    "Interface" shorthand open:
    pub(super) struct NamedInterface<'n> {
        /// Path of the file, beside the diagram or above it; with `std:` in front, a built-in one.
        file: Text<'n> = required(
            "where is the interface?", "Interface(file: \"std:interfaces/contact_law.ron\", …)"
        ),
        /// Of a hole: what fills it if the user of the mask does not.
        default: Option<&'n Node>,
    }
}

construct! {
    /// The file of an interface. Types see its parameters and nothing else.
    ///
    /// ```ron
    /// Interface(
    ///     doc: "One vector in, one of the same length out.",
    ///     params: { "n": Int(min: 1, doc: "their length") },
    ///     ports: "fn(u: Vector(n)) -> (y: Vector(n))",
    /// )
    /// ```
    "Interface":
    pub(super) struct InterfaceFile<'n> {
        /// Version of the file format: 2.
        format: Option<&'n Node>,
        /// What it is for.
        doc: Option<Text<'n>>,
        /// Parameters, as those of a mask.
        params: Option<Entries<'n, OfParameters>>,
        /// The ports, as `ports:` of a mask has them.
        ports: &'n Node = required("", "ports: \"fn(u: Real) -> (y: Real)\""),
    }
}

impl Expander<'_> {
    /// The ports that `node` declares, and what names mean in their types. What is wrong is
    /// reported, and is no port.
    pub(super) fn interface(&mut self, node: &Node, env: &Env) -> (Interface, Env) {
        let named = node.kind_name().is_some_and(|kind| kind.text == NamedInterface::MANUAL.name);
        let found = if named {
            self.named_interface(node, env)
        } else {
            Interface::read(node, self.diagnostics).map(|interface| (interface, env.clone()))
        };
        found.unwrap_or_else(|| (Interface::default(), env.clone()))
    }

    fn named_interface(&mut self, node: &Node, env: &Env) -> Option<(Interface, Env)> {
        let named = language::read::<NamedInterface<'_>>(node, self.diagnostics)?;
        let expected = "Interface(params: …, ports: …)";
        let (name, kinds) = (named.file.value, &[NamedInterface::MANUAL.name]);
        let file = construct_in(self.loader, name, named.file.node, kinds, expected)
            .map_err(|diagnostic| self.report(diagnostic))
            .ok()?;
        let file = language::read::<InterfaceFile<'_>>(&file, self.diagnostics)?;
        check_format(file.format, self.diagnostics);
        let params: Vec<_> = file.params.iter().flat_map(Entries::iter).collect();
        let names: Vec<&str> = params.iter().map(|entry| entry.name).collect();
        let mut good = true;
        for field in node.fields() {
            let name = field.name.text.as_str();
            if !names.contains(&name) && !NamedInterface::MANUAL.names().any(|own| own == name) {
                self.report(unknown_field(&field.name, &names));
                good = false;
            }
        }
        let missing = |name: &str, declaration: &Node| {
            let message = format!("parameter `{name}` of the interface is missing");
            let found = Diagnostic::error(code::MISSING_FIELD, name_span(node), message);
            Some(found.also(declaration.span, "declared here"))
        };
        let (values, failed) = self.parameters(node, &params, env, &missing);
        good &= failed.is_empty();
        let interface = Interface::read(file.ports, self.diagnostics)?;
        good.then(|| (interface, Env::of_names(Rc::new(values), &self.budget)))
    }
}
