//! What paths lead to, as far as inference has found it out.

use legwork_block::{Span, Type};

use super::{Inference, UnitTerm};
use crate::expand::{Collected, Item, Resolver, Tree};
use crate::ids::{FrameId, Id as _};
use crate::listing::port_path;
use crate::network::Source;
use crate::path;
use crate::survey::{KnownPart, KnownPort};

impl Inference<'_> {
    /// Every name of every frame, with what can be read of it.
    pub(super) fn known(&mut self, tree: &Tree) -> Vec<KnownPart> {
        let mut parts = Vec::new();
        for frame in tree.frames.ids() {
            let of = &tree.frames[frame];
            for (name, item) in &of.items {
                parts.push(self.part(tree, frame, &of.prefix, name, item));
            }
            let declared = of.inputs.iter().flat_map(|inputs| &inputs.declared);
            for name in declared {
                let name = format!("^{name}");
                let outputs = self.port(tree, frame, &name, "").into_iter().collect();
                let path = [of.prefix.as_str(), &name].concat();
                parts.push(KnownPart { path, kind: None, inputs: Vec::new(), outputs });
            }
        }
        parts
    }

    fn part(
        &mut self,
        tree: &Tree,
        frame: FrameId,
        prefix: &str,
        name: &str,
        item: &Item,
    ) -> KnownPart {
        let path = [prefix, name].concat();
        let (mut kind, mut inputs) = (None, Vec::new());
        let names: Vec<String> = match item {
            Item::Block(id) => {
                let block = &self.network.blocks[*id];
                kind = Some(block.planned.kind());
                let declared = block.declaration.inputs.iter().map(|input| KnownPort {
                    name: input.name.to_string(),
                    ty: self.solution.ty(&input.ty),
                    unit: self.unit_text(&UnitTerm::of(&input.unit)),
                    frame: input.frame.clone(),
                    doc: input.doc.to_string(),
                });
                inputs = declared.collect();
                block.declaration.outputs.iter().map(|output| output.name.to_string()).collect()
            }
            Item::Composite { outs, .. } => outs.keys().cloned().collect(),
            Item::Hole { outs, .. } => outs.clone(),
            Item::ForEach { collected, .. } => {
                let sound = |one: &&Collected| !matches!(one, Collected::Broken);
                let sound = collected.iter().filter(|(_, one)| sound(one));
                sound.map(|(name, _)| name.clone()).collect()
            }
            Item::Share { .. } => vec![String::new()],
            Item::Broken => Vec::new(),
        };
        let outputs = names.iter().filter_map(|out| self.port(tree, frame, name, out)).collect();
        KnownPart { path, kind, inputs, outputs }
    }

    /// What the output `out` of a name carries.
    fn port(&mut self, tree: &Tree, frame: FrameId, name: &str, out: &str) -> Option<KnownPort> {
        let text = port_path(name, out);
        let path = path::parse(&text, &Span::default().into()).ok()?;
        let resolver = Resolver { tree, blocks: &self.network.blocks };
        let source = resolver.path_source(frame, &path, false, 0).ok()?;
        let doc = match &source {
            Source::Port(part) if part.select.is_empty() => {
                &*self.network.blocks[part.block].declaration.outputs[part.output.index()].doc
            }
            _ => "",
        };
        let (name, doc) = (out.to_owned(), doc.to_owned());
        Some(match self.carried(&source) {
            Ok(found) => {
                let unit = self.unit_text(&found.unit);
                let ty = self.solution.ty(&found.ty);
                KnownPort { name, ty, unit, frame: found.frame, doc }
            }
            Err(_) => {
                let ty = Type::Var(legwork_block::Var(0));
                KnownPort { name, ty, unit: None, frame: None, doc }
            }
        })
    }

    fn unit_text(&self, unit: &UnitTerm) -> Option<String> {
        match unit {
            UnitTerm::Unspecified => None,
            UnitTerm::Of(unit) => Some(self.solution.units.shown(unit)?.as_written().to_string()),
        }
    }
}
