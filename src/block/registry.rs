//! The explicit list of what a program knows: blocks, robots' file kinds, types, built-in files.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{DeserializeOwned, DeserializeSeed};

use crate::binder::{bind, bind_by};
use crate::block::Block;
use crate::diagnostic::Diagnostics;
use crate::fault::Invalid;
use crate::instance::{ErasedBlock, erase};
use crate::resource::{Files, OtherResources, Resource};
use crate::typenames::NamedType;
use crate::value::{Node, Scope};

/// A group of kinds that belong together, such as `sources`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shelf {
    /// One word, in lower case.
    pub name: &'static str,
    /// What is on it, in one sentence.
    pub summary: &'static str,
}

/// Where kinds are that were added without a shelf.
const OTHER: Shelf = Shelf { name: "other", summary: "Kinds without a shelf of their own." };

/// A kind of block.
#[derive(Clone)]
pub struct BlockKind {
    /// Name in diagrams.
    pub kind: &'static str,
    /// Name of its shelf.
    pub shelf: &'static str,
    /// A small example as a diagram writes it, which plans on its own.
    pub example: &'static str,
    /// Parameters with their descriptions, units and defaults.
    pub schema: Arc<dyn Fn() -> Schema + Send + Sync>,
    /// Makes the block from its fields in the file. `skip` names fields that the engine takes.
    pub bind: BindBlock,
}

/// Makes a block from its fields in a file; what is wrong goes to the diagnostics.
pub type BindBlock = Arc<
    dyn Fn(&Node, &dyn Scope, &[&str], &mut Diagnostics) -> Option<Arc<dyn ErasedBlock>>
        + Send
        + Sync,
>;

/// A kind of resource, such as `Urdf`: parameters that load into something blocks share.
pub trait ResourceKind: DeserializeOwned + JsonSchema {
    /// Name in diagrams.
    const KIND: &'static str;

    /// Loads it. Sentences in the second part are warnings.
    ///
    /// # Errors
    /// If a file is missing or malformed, another resource is, or parameters do not fit them.
    fn load(
        self,
        name: &str,
        files: &dyn Files,
        others: &dyn OtherResources,
    ) -> Result<(Arc<dyn Resource>, Vec<String>), Invalid>;
}

/// A kind of resource with its type erased.
#[derive(Clone)]
pub struct ResourceEntry {
    /// Name in diagrams.
    pub kind: &'static str,
    /// Name of its shelf.
    pub shelf: &'static str,
    /// Parameters with their descriptions, units and defaults.
    pub schema: fn() -> Schema,
    /// Loads it from its fields in the file; `None` if those do not bind, which is then reported.
    pub load: LoadResource,
}

/// Loads a resource: node, scope, name, files, the other resources.
pub type LoadResource = fn(
    &Node,
    &dyn Scope,
    &str,
    &dyn Files,
    &dyn OtherResources,
    &mut Diagnostics,
) -> Option<Result<(Arc<dyn Resource>, Vec<String>), Invalid>>;

/// The schema of a type with those of the types inside, as `schemars::schema_for!` makes it, which
/// would be compiled once for each kind.
fn whole_schema(title: &str, make: &dyn Fn(&mut SchemaGenerator) -> Schema) -> Schema {
    let mut generator = SchemaGenerator::default();
    let mut schema = make(&mut generator);
    let object = schema.ensure_object();
    object.entry("title").or_insert_with(|| title.into());
    if let Some(meta) = &generator.settings().meta_schema {
        object.insert("$schema".into(), meta.as_ref().into());
    }
    let mut parts = generator.take_definitions(true);
    // A type that holds itself is among its parts.
    let is_a_part = parts.remove(title).is_some();
    if !parts.is_empty() {
        object.insert("$defs".into(), parts.into());
    }
    if is_a_part {
        let reference = format!("#/$defs/{title}");
        object.values_mut().for_each(|value| refer_to_whole(value, &reference));
    }
    schema
}

/// Puts the reference to the whole schema in place of `reference`.
fn refer_to_whole(value: &mut serde_json::Value, reference: &str) {
    match value {
        serde_json::Value::String(text) if text == reference => "#".clone_into(text),
        serde_json::Value::Array(items) => {
            items.iter_mut().for_each(|item| refer_to_whole(item, reference));
        }
        serde_json::Value::Object(fields) => {
            fields.values_mut().for_each(|field| refer_to_whole(field, reference));
        }
        _ => {}
    }
}

/// What a program knows, by name. Made by explicit calls; nothing registers itself.
#[derive(Clone, Default)]
pub struct Registry {
    shelves: Vec<Shelf>,
    blocks: BTreeMap<&'static str, BlockKind>,
    resources: BTreeMap<&'static str, ResourceEntry>,
    types: BTreeMap<&'static str, NamedType>,
    files: BTreeMap<&'static str, &'static [u8]>,
    moved: BTreeMap<&'static str, &'static str>,
    absent: BTreeMap<&'static str, &'static str>,
    table_player: Option<&'static str>,
    ground: Option<ResourceEntry>,
}

impl Registry {
    /// Adds a shelf, to which what is called on the answer adds kinds. Shelves keep the order in
    /// which they were added; the summary is that of the first call.
    pub fn shelf(&mut self, name: &'static str, summary: &'static str) -> ShelfMut<'_> {
        if !self.shelves.iter().any(|known| known.name == name) {
            self.shelves.push(Shelf { name, summary });
        }
        ShelfMut { registry: self, shelf: name }
    }

    /// Adds a kind of block to the shelf `other`. A later one of the same name replaces it.
    pub fn block<B: Block + DeserializeOwned + JsonSchema>(
        &mut self,
        example: &'static str,
    ) -> &mut Self {
        self.shelf(OTHER.name, OTHER.summary).block::<B>(example);
        self
    }

    /// The kind of block that plays a signal of a table of comma-separated values, its parameters
    /// `path` and `signal`: what a file that is given as an input becomes.
    pub fn table_player(&self) -> Option<&'static str> {
        self.table_player
    }

    /// Names a kind of block that this build was made without; `hint` says how to get it. A
    /// diagram that names it is told so.
    pub fn absent_block(&mut self, kind: &'static str, hint: &'static str) -> &mut Self {
        self.absent.insert(kind, hint);
        self
    }

    /// Adds a kind of resource to the shelf `other`.
    pub fn resource<R: ResourceKind>(&mut self) -> &mut Self {
        self.shelf(OTHER.name, OTHER.summary).resource::<R>();
        self
    }

    /// Adds a type that diagrams may name.
    pub fn named_type(&mut self, named: NamedType) -> &mut Self {
        self.types.insert(named.name, named);
        self
    }

    /// Adds a file that diagrams find under `std:` + `path`.
    pub fn file(&mut self, path: &'static str, bytes: &'static [u8]) -> &mut Self {
        self.files.insert(path, bytes);
        self
    }

    /// Says what stands in the place of a built-in file that was there once.
    pub fn moved_file(&mut self, path: &'static str, instead: &'static str) -> &mut Self {
        self.moved.insert(path, instead);
        self
    }

    /// What stands in the place of a built-in file, if it was there once.
    pub fn file_instead(&self, path: &str) -> Option<&'static str> {
        self.moved.get(path).copied()
    }

    /// All shelves, in the order in which they were added.
    pub fn shelves(&self) -> impl Iterator<Item = &Shelf> {
        self.shelves.iter()
    }

    /// The kind of block of this name.
    pub fn find_block(&self, kind: &str) -> Option<&BlockKind> {
        self.blocks.get(kind)
    }

    /// How to get a kind of block that this build was made without, if it is one.
    pub fn why_absent(&self, kind: &str) -> Option<&'static str> {
        self.absent.get(kind).copied().filter(|_| !self.blocks.contains_key(kind))
    }

    /// All kinds of blocks, by name.
    pub fn blocks(&self) -> impl Iterator<Item = &BlockKind> {
        self.blocks.values()
    }

    /// The kind of resource of this name.
    pub fn find_resource(&self, kind: &str) -> Option<&ResourceEntry> {
        self.resources.get(kind)
    }

    /// All kinds of resources, by name.
    pub fn resources(&self) -> impl Iterator<Item = &ResourceEntry> {
        self.resources.values()
    }

    /// What the section `ground:` of a diagram is.
    pub fn ground(&self) -> Option<&ResourceEntry> {
        self.ground.as_ref()
    }

    /// All types that diagrams may name.
    pub fn types(&self) -> impl Iterator<Item = &NamedType> {
        self.types.values()
    }

    /// A built-in file, by its path without `std:`.
    pub fn find_file(&self, path: &str) -> Option<&'static [u8]> {
        self.files.get(path).copied()
    }

    /// Paths of all built-in files.
    pub fn files(&self) -> impl Iterator<Item = &'static str> {
        self.files.keys().copied()
    }
}

/// Adds kinds to one shelf of a [`Registry`].
pub struct ShelfMut<'r> {
    registry: &'r mut Registry,
    shelf: &'static str,
}

impl ShelfMut<'_> {
    /// Adds a kind of block with an example as a diagram writes it. A later one of the same name
    /// replaces it.
    pub fn block<B: Block + DeserializeOwned + JsonSchema>(
        &mut self,
        example: &'static str,
    ) -> &mut Self {
        self.kind(B::KIND, example, B::json_schema, PhantomData::<B>)
    }

    /// Adds a kind of block by the schema of its parameters and a seed that reads them: one type
    /// can be several kinds, see [`Block::kind`].
    pub fn kind<B: Block, S>(
        &mut self,
        kind: &'static str,
        example: &'static str,
        schema: impl Fn(&mut SchemaGenerator) -> Schema + Send + Sync + 'static,
        seed: S,
    ) -> &mut Self
    where
        S: for<'de> DeserializeSeed<'de, Value = B> + Copy + Send + Sync + 'static,
    {
        let entry = BlockKind {
            kind,
            shelf: self.shelf,
            example,
            schema: Arc::new(move || whole_schema(kind, &schema)),
            bind: Arc::new(move |node, scope, skip, diagnostics| {
                bind_by(seed, node, scope, skip, diagnostics).map(erase)
            }),
        };
        self.registry.blocks.insert(kind, entry);
        self
    }

    /// Says that blocks of this kind play tables: [`Registry::table_player`].
    pub fn plays_tables<B: Block>(&mut self) -> &mut Self {
        self.registry.table_player = Some(B::KIND);
        self
    }

    /// Adds a kind of resource.
    pub fn resource<R: ResourceKind>(&mut self) -> &mut Self {
        self.registry.resources.insert(R::KIND, self.entry::<R>());
        self
    }

    /// Says what the section `ground:` of a diagram is.
    pub fn ground<R: ResourceKind>(&mut self) -> &mut Self {
        self.registry.ground = Some(self.entry::<R>());
        self
    }

    fn entry<R: ResourceKind>(&self) -> ResourceEntry {
        ResourceEntry {
            kind: R::KIND,
            shelf: self.shelf,
            schema: || whole_schema(&R::schema_name(), &R::json_schema),
            load: |node, scope, name, files, others, diagnostics| {
                bind::<R>(node, scope, &["doc"], diagnostics)
                    .map(|kind| kind.load(name, files, others))
            },
        }
    }
}
