//! Typed indices: a block cannot be taken for a gate, nor a place in the schedule for either.

use std::fmt;
use std::ops::Index;

use serde::{Deserialize, Serialize};

use crate::{Gate, Node, Step};

macro_rules! ids {
    ($($(#[$doc:meta])* $Id:ident $(of $Item:ty)?;)*) => {$(
        $(#[$doc])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        pub struct $Id(u32);

        impl $Id {
            /// The id of index `index`.
            ///
            /// # Panics
            /// If `index` is above 2³² − 1, which no program reaches.
            #[inline]
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("a program has fewer than 2^32 of anything"))
            }

            /// The index.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $Id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        $(
            impl Index<$Id> for Vec<$Item> {
                type Output = $Item;
                #[inline]
                fn index(&self, id: $Id) -> &$Item {
                    &self.as_slice()[id.index()]
                }
            }

            impl Index<$Id> for [$Item] {
                type Output = $Item;
                #[inline]
                fn index(&self, id: $Id) -> &$Item {
                    &self[id.index()]
                }
            }
        )?
    )*};
}

ids! {
    /// A block of a program, or of a function: its place among the nodes.
    NodeId of Node;
    /// A switch of a conditional part: its place among the gates.
    GateId of Gate;
    /// An output group: its place in the schedule.
    StepId of Step;
    /// A shared value: its place in the pool.
    PoolId;
    /// One number in the arena.
    ArenaSlot;
}
