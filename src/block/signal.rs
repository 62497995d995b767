//! Signals in a block's code: typed handles made in `plan`, read and written as slices.

use std::marker::PhantomData;

use crate::types::{Dim, Type, Var};

/// A run of numbers in the arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Slot {
    /// First number.
    pub start: u32,
    /// How many.
    pub len: u32,
}

impl Slot {
    /// The range of indices.
    #[inline]
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }
}

/// The slots of a block's ports, leaf by leaf.
///
/// They lie in one piece of memory, since every read of a small block goes through it: for each
/// port where its slots begin among the entries and how many they are, then the slots themselves.
#[derive(Debug, Clone, Default)]
pub struct PortTable {
    entries: Vec<Slot>,
    port_count: u32,
    /// Bit k: port k is marked.
    marks: u64,
}

impl PortTable {
    /// An empty table to push ports into.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a port.
    pub fn push(&mut self, slots: impl IntoIterator<Item = Slot>) {
        let ports = self.port_count as usize;
        self.entries.insert(ports, Slot::default());
        self.entries[..ports].iter_mut().for_each(|port| port.start += 1);
        let start = self.entries.len();
        self.entries.extend(slots);
        let len = self.entries.len() - start;
        self.entries[ports] = Slot { start: start as u32, len: len as u32 };
        self.port_count += 1;
    }

    /// Marks the last port as an acceleration of smooth forces: see
    /// [`Ports::is_smooth`](crate::Ports::is_smooth). Ports beyond the 64th stay unmarked.
    pub fn mark_smooth(&mut self) {
        self.marks |= 1u64.checked_shl(self.port_count.wrapping_sub(1)).unwrap_or(0);
    }

    /// True if this port is marked by [`Self::mark_smooth`].
    pub fn is_smooth(&self, port: usize) -> bool {
        port < 64 && self.marks >> port & 1 == 1
    }

    /// The slots of one port, leaf by leaf.
    ///
    /// # Panics
    /// If there is no such port.
    #[inline]
    pub fn port(&self, port: usize) -> &[Slot] {
        debug_assert!(port < self.port_count());
        &self.entries[self.entries[port].range()]
    }

    /// The first leaf of one port; an empty slot if it has none.
    #[inline(always)]
    pub fn first(&self, port: usize) -> Slot {
        let slots = self.entries[port];
        if slots.len == 0 { Slot::default() } else { self.entries[slots.start as usize] }
    }

    /// How many ports there are.
    pub fn port_count(&self) -> usize {
        self.port_count as usize
    }
}

/// The leaves of one port's value, in storage order.
#[derive(Debug, Clone, Copy)]
pub struct Leaves<'a> {
    arena: &'a [f64],
    slots: &'a [Slot],
}

impl<'a> Leaves<'a> {
    /// The leaves at `slots` of `arena`.
    pub fn new(arena: &'a [f64], slots: &'a [Slot]) -> Self {
        Self { arena, slots }
    }

    /// Leaf `i`.
    #[inline]
    pub fn leaf(&self, i: usize) -> &'a [f64] {
        &self.arena[self.slots[i].range()]
    }

    /// How many leaves there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Every leaf in storage order.
    pub fn iter(&self) -> impl Iterator<Item = &'a [f64]> + use<'a> {
        let arena = self.arena;
        self.slots.iter().map(move |slot| &arena[slot.range()])
    }

    /// The leaves `range`, such as those of one bus of an array.
    #[inline]
    pub fn part(&self, range: std::ops::Range<usize>) -> Self {
        Self { arena: self.arena, slots: &self.slots[range] }
    }
}

/// A kind of signal: how it is declared and how a block's code reads it.
pub trait Signal: Clone + 'static {
    /// The type of a value read.
    type Ref<'a>;
    /// The type to declare.
    fn ty(&self) -> Type;
    /// Reads a value.
    fn read(leaves: Leaves<'_>) -> Self::Ref<'_>;
    /// Reads the value of a port; signals of one leaf have a faster path.
    #[inline(always)]
    fn read_port<'a>(arena: &'a [f64], table: &'a PortTable, port: usize) -> Self::Ref<'a> {
        Self::read(Leaves::new(arena, table.port(port)))
    }
}

/// One number.
#[derive(Debug, Clone, Copy)]
pub struct Real;

impl Signal for Real {
    type Ref<'a> = f64;
    fn ty(&self) -> Type {
        Type::Real
    }
    #[inline]
    fn read(leaves: Leaves<'_>) -> f64 {
        leaves.arena[leaves.slots[0].start as usize]
    }
    #[inline(always)]
    fn read_port<'a>(arena: &'a [f64], table: &'a PortTable, port: usize) -> Self::Ref<'a> {
        arena[table.first(port).start as usize]
    }
}

/// True or false.
#[derive(Debug, Clone, Copy)]
pub struct Bool;

impl Signal for Bool {
    type Ref<'a> = bool;
    fn ty(&self) -> Type {
        Type::Bool
    }
    #[inline]
    fn read(leaves: Leaves<'_>) -> bool {
        Real::read(leaves) != 0.0
    }
    #[inline(always)]
    fn read_port<'a>(arena: &'a [f64], table: &'a PortTable, port: usize) -> Self::Ref<'a> {
        Real::read_port(arena, table, port) != 0.0
    }
}

/// A whole number.
#[derive(Debug, Clone, Copy)]
pub struct Int;

impl Signal for Int {
    type Ref<'a> = i64;
    fn ty(&self) -> Type {
        Type::Int
    }
    #[inline]
    fn read(leaves: Leaves<'_>) -> i64 {
        Real::read(leaves) as i64
    }
}

/// A column of numbers.
#[derive(Debug, Clone)]
pub struct Vector(pub Dim);

impl Vector {
    /// A vector of `n` numbers.
    pub fn of(n: impl Into<Dim>) -> Self {
        Self(n.into())
    }
}

impl Signal for Vector {
    type Ref<'a> = &'a [f64];
    fn ty(&self) -> Type {
        Type::Vector(self.0.clone())
    }
    #[inline]
    fn read(leaves: Leaves<'_>) -> &[f64] {
        leaves.leaf(0)
    }
    #[inline(always)]
    fn read_port<'a>(arena: &'a [f64], table: &'a PortTable, port: usize) -> Self::Ref<'a> {
        &arena[table.first(port).range()]
    }
}

/// A matrix, read as its numbers column by column.
#[derive(Debug, Clone)]
pub struct Matrix(pub Dim, pub Dim);

impl Matrix {
    /// A matrix of `rows` × `cols`.
    pub fn of(rows: impl Into<Dim>, cols: impl Into<Dim>) -> Self {
        Self(rows.into(), cols.into())
    }
}

impl Signal for Matrix {
    type Ref<'a> = &'a [f64];
    fn ty(&self) -> Type {
        Type::Matrix(self.0.clone(), self.1.clone())
    }
    #[inline]
    fn read(leaves: Leaves<'_>) -> &[f64] {
        leaves.leaf(0)
    }
    #[inline(always)]
    fn read_port<'a>(arena: &'a [f64], table: &'a PortTable, port: usize) -> Self::Ref<'a> {
        &arena[table.first(port).range()]
    }
}

/// A 3 × 3 rotation, read as nine numbers column by column.
#[derive(Debug, Clone, Copy)]
pub struct Rotation;

impl Signal for Rotation {
    type Ref<'a> = &'a [f64];
    fn ty(&self) -> Type {
        Type::Rotation
    }
    #[inline]
    fn read(leaves: Leaves<'_>) -> &[f64] {
        leaves.leaf(0)
    }
    #[inline(always)]
    fn read_port<'a>(arena: &'a [f64], table: &'a PortTable, port: usize) -> Self::Ref<'a> {
        &arena[table.first(port).range()]
    }
}

/// A rotation (nine numbers, column by column) and a position (three).
#[derive(Debug, Clone, Copy)]
pub struct Pose;

impl Signal for Pose {
    type Ref<'a> = &'a [f64];
    fn ty(&self) -> Type {
        Type::Pose
    }
    #[inline]
    fn read(leaves: Leaves<'_>) -> &[f64] {
        leaves.leaf(0)
    }
    #[inline(always)]
    fn read_port<'a>(arena: &'a [f64], table: &'a PortTable, port: usize) -> Self::Ref<'a> {
        &arena[table.first(port).range()]
    }
}

/// A signal whose type is known to inference only, or is built at run time from a type; read leaf
/// by leaf.
#[derive(Debug, Clone)]
pub struct Any(pub Type);

impl Any {
    /// A signal of the unknown type `var`.
    pub fn var(var: Var) -> Self {
        Self(Type::Var(var))
    }
}

impl Signal for Any {
    type Ref<'a> = Leaves<'a>;
    fn ty(&self) -> Type {
        self.0.clone()
    }
    #[inline]
    fn read(leaves: Leaves<'_>) -> Leaves<'_> {
        leaves
    }
}

/// A bus whose number of leaves is known: every field is one.
pub trait Bus: Signal {
    /// How many leaves it has.
    const LEAVES: usize;
}

/// Any number of buses of one type.
#[derive(Clone)]
pub struct Array<B> {
    ty: Type,
    bus: PhantomData<fn() -> B>,
}

impl<B: Bus> Array<B> {
    /// `count` of `bus`.
    pub fn of(bus: &B, count: &Dim) -> Self {
        Self { ty: Type::array(bus.ty(), count), bus: PhantomData }
    }
}

impl<B: Bus> Signal for Array<B> {
    type Ref<'a> = Items<'a, B>;
    fn ty(&self) -> Type {
        self.ty.clone()
    }
    #[inline]
    fn read(leaves: Leaves<'_>) -> Items<'_, B> {
        Items { leaves, bus: PhantomData }
    }
}

/// The buses of an [`Array`], read.
pub struct Items<'a, B> {
    leaves: Leaves<'a>,
    bus: PhantomData<fn() -> B>,
}

impl<B> Clone for Items<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for Items<'_, B> {}

impl<'a, B: Bus> Items<'a, B> {
    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.leaves.len() / B::LEAVES
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    /// Leaf `leaf` of number `i`, without reading the others.
    #[inline]
    pub fn leaf(&self, i: usize, leaf: usize) -> &'a [f64] {
        self.leaves.leaf(i * B::LEAVES + leaf)
    }

    /// Number `i`.
    #[inline]
    pub fn get(&self, i: usize) -> B::Ref<'a> {
        let first = i * B::LEAVES;
        B::read(self.leaves.part(first..first + B::LEAVES))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = B::Ref<'a>> + use<'a, B> {
        let items = *self;
        (0..items.len()).map(move |i| items.get(i))
    }
}

/// Handle of an input port of the block that declared it.
pub struct In<S> {
    pub(crate) port: u16,
    pub(crate) signal: PhantomData<fn() -> S>,
}

/// Handle of an input port that may be left unconnected.
pub struct OptionalIn<S> {
    pub(crate) port: u16,
    pub(crate) signal: PhantomData<fn() -> S>,
}

/// Handle of an output port of the block that declared it.
pub struct Out<S> {
    pub(crate) port: u16,
    pub(crate) signal: PhantomData<fn() -> S>,
}

/// Handle of a shared computation that a block requested; see [`Ports::ask`](crate::Ports::ask).
pub struct Shared<T> {
    pub(crate) index: u16,
    pub(crate) value: PhantomData<fn() -> T>,
}

macro_rules! copy_handle {
    ($($handle:ident),*) => {$(
        impl<S> Clone for $handle<S> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<S> Copy for $handle<S> {}
    )*};
}
copy_handle!(In, OptionalIn, Out, Shared);

/// What an output group may be fed by, untyped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feed {
    /// An input port.
    Input(u16),
    /// A shared computation.
    Shared(u16),
}

impl<S> In<S> {
    /// This input as a feed of an output group.
    pub fn feed(self) -> Feed {
        Feed::Input(self.port)
    }
}

impl<S> OptionalIn<S> {
    /// This input as a feed of an output group.
    pub fn feed(self) -> Feed {
        Feed::Input(self.port)
    }
}

impl<T> Shared<T> {
    /// This computation as a feed of an output group.
    pub fn feed(self) -> Feed {
        Feed::Shared(self.index)
    }
}

/// What can be among the feeds of an output group.
pub trait Feeding {
    /// Adds what it consists of.
    fn push(&self, feeds: &mut Vec<Feed>);
}

macro_rules! one_feed {
    ($($handle:ident),*) => {$(
        impl<S> Feeding for $handle<S> {
            fn push(&self, feeds: &mut Vec<Feed>) {
                feeds.push(self.feed());
            }
        }
    )*};
}
one_feed!(In, OptionalIn, Shared);

impl<F: Feeding> Feeding for Option<F> {
    fn push(&self, feeds: &mut Vec<Feed>) {
        self.iter().for_each(|feed| feed.push(feeds));
    }
}

impl<F: Feeding> Feeding for Vec<F> {
    fn push(&self, feeds: &mut Vec<Feed>) {
        self.iter().for_each(|feed| feed.push(feeds));
    }
}
