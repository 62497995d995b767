//! Snapshots as bytes (semantics 7.1), to be continued by another process.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `LEGWORK` and a 0x1a |
//! | 4 | version of this layout, little-endian |
//! | 8 | number of bytes that follow the checksum |
//! | 8 | FNV-1a of these |
//! | … | [`SnapshotHeader`], then what it holds, as [postcard](https://postcard.jamesmunns.com) |
//!
//! A double is its eight bytes, so that every bit comes back.
//!
//! What a block's `output` leaves for its `update` of the same step lives in memory only. A
//! snapshot in the middle of a major step is therefore written as the state before that step and
//! the number of calls of [`Simulation::advance`] since. Outputs are pure and inputs declared, so
//! that repeating these calls gives the same bits.

use std::sync::Arc;

use legwork_block::Fault;
use legwork_program::{Fnv, Program};
use serde::{Deserialize, Serialize};

use super::snapshot::Saved;
use super::swap::keeps_sizes;
use super::{Cursor, Simulation, Snapshot};
use crate::fault::RunFault;
use crate::moment::Moment;

const MAGIC: [u8; 8] = *b"LEGWORK\x1a";
/// Version of the layout.
const FORMAT: u32 = 2;
/// Bytes before the header.
const PREFIX: usize = 8 + 4 + 8 + 8;
/// Major steps have fewer pieces than this.
const MOST_PIECES: u64 = 1 << 32;

/// What a snapshot says of itself, whatever the program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SnapshotHeader {
    /// Version of Legwork that wrote it.
    pub version: String,
    /// Name of the program.
    pub program: String,
    /// [`Program::continuation_hash`].
    pub hash: u64,
    /// When the major step is that it was taken before or in.
    pub moment: Moment,
    /// Its time [s].
    pub t: f64,
    /// Calls of [`Simulation::advance`] since this step began.
    pub pieces: u64,
    /// Path of each block, and the hash of its parameters as text.
    blocks: Vec<(String, u64)>,
}

/// Why bytes are no snapshot that can be continued, or a simulation cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// Other first bytes.
    #[error("expected a snapshot of Legwork, found other first bytes")]
    NotASnapshot,
    /// Another layout.
    #[error("expected a snapshot of format {FORMAT}, found format {found}")]
    Format {
        /// The format found.
        found: u32,
    },
    /// The end is missing.
    #[error("the snapshot is cut off: expected {expected} bytes, found {found}")]
    Truncated {
        /// How long it was.
        expected: u64,
        /// How long it is.
        found: u64,
    },
    /// The checksum does not fit, or what it covers makes no sense.
    #[error("the snapshot is damaged: {what}")]
    Damaged {
        /// What does not fit.
        what: String,
    },
    /// Another version of Legwork, which may compute other bits.
    #[error(
        "the snapshot was written by legwork {found}, this is {}: only the version that wrote it \
         continues it bit for bit",
        env!("CARGO_PKG_VERSION")
    )]
    Version {
        /// The version that wrote it.
        found: String,
    },
    /// Another program.
    #[error("the snapshot is of another program: {difference}")]
    OtherProgram {
        /// What differs.
        difference: String,
    },
    /// A block's state cannot be written or read.
    #[error("{block}: {message}")]
    State {
        /// Path of the block.
        block: String,
        /// Why.
        message: String,
    },
    /// A major step is going on.
    #[error("expected a simulation between two major steps, found one at {cursor:?}")]
    InAStep {
        /// Where it is.
        cursor: Cursor,
    },
    /// The step in which the snapshot was taken faults before it gets there.
    #[error("the step in which the snapshot was taken cannot be repeated: {0}")]
    Repeat(#[from] RunFault),
}

impl SnapshotHeader {
    /// Reads the header alone, to tell people what a file is.
    ///
    /// # Errors
    /// If the bytes are no whole snapshot of this format.
    pub fn read(bytes: &[u8]) -> Result<Self, SnapshotError> {
        Ok(take::<Self>(payload(bytes)?)?.0)
    }

    fn of(simulation: &Simulation, pieces: u64) -> Self {
        let program = &simulation.engine.plan.program;
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            program: program.name.clone(),
            hash: program.continuation_hash(),
            moment: simulation.engine.state.moment,
            t: simulation.engine.work.now,
            pieces,
            blocks: blocks(program),
        }
    }

    /// Whether the snapshot continues in `program`.
    fn fits(&self, program: &Program) -> Result<(), SnapshotError> {
        if self.version != env!("CARGO_PKG_VERSION") {
            return Err(SnapshotError::Version { found: self.version.clone() });
        }
        if self.hash == program.continuation_hash() {
            return Ok(());
        }
        Err(SnapshotError::OtherProgram { difference: self.difference(program) })
    }

    /// The first thing that tells the programs apart.
    fn difference(&self, program: &Program) -> String {
        let ours = blocks(program);
        let find = |list: &[(String, u64)], path: &str| {
            list.iter().find(|(other, _)| other == path).map(|(_, hash)| *hash)
        };
        let whose = format!("it is of `{}`", self.program);
        for (path, hash) in &self.blocks {
            match find(&ours, path) {
                None => return format!("{whose}, which has a block `{path}` that is not here"),
                Some(other) if other != *hash => {
                    return format!("{whose} with other parameters of `{path}`");
                }
                Some(_) => {}
            }
        }
        match ours.iter().find(|(path, _)| find(&self.blocks, path).is_none()) {
            Some((path, _)) => format!("{whose}, which has no block `{path}`"),
            None => format!(
                "{whose} with another step, solver, seed, robot, file, wiring or check (hash \
                 {:016x}, here \
                 {:016x})",
                self.hash,
                program.continuation_hash()
            ),
        }
    }
}

fn blocks(program: &Program) -> Vec<(String, u64)> {
    let hash = |text: &str| {
        let mut hash = Fnv::default();
        hash.add(text);
        hash.value()
    };
    program.nodes.iter().map(|node| (node.path.clone(), hash(&node.text))).collect()
}

impl Simulation {
    /// Everything that shapes the future, as bytes.
    ///
    /// # Errors
    /// If a major step is going on ([`Simulation::is_between_steps`]; there is
    /// [`Simulation::to_bytes_since`]), or a block's state cannot be written.
    pub fn to_bytes(&self) -> Result<Vec<u8>, SnapshotError> {
        self.write(0)
    }

    /// The present moment as bytes: `begin` was taken before the present major step, and
    /// [`Simulation::advance`] has been called `pieces` times since.
    ///
    /// # Errors
    /// If `begin` is of another program or was taken inside a step, or a block's state cannot be
    /// written.
    pub fn to_bytes_since(&self, begin: &Snapshot, pieces: u64) -> Result<Vec<u8>, SnapshotError> {
        let mut other = Self::new(Arc::clone(&self.engine.plan.program));
        other.restore(begin)?;
        other.write(pieces)
    }

    /// Continues a snapshot.
    ///
    /// # Errors
    /// If the bytes are damaged, or of another version or program.
    pub fn from_bytes(program: Arc<Program>, bytes: &[u8]) -> Result<Self, SnapshotError> {
        let (mut simulation, pieces) = Self::step_from_bytes(program, bytes)?;
        for _ in 0..pieces {
            simulation.advance()?;
        }
        Ok(simulation)
    }

    /// The state before the step in which a snapshot was taken, and the pieces of the step that
    /// were done.
    pub(crate) fn step_from_bytes(
        program: Arc<Program>,
        bytes: &[u8],
    ) -> Result<(Self, u64), SnapshotError> {
        let (header, rest) = take::<SnapshotHeader>(payload(bytes)?)?;
        header.fits(&program)?;
        let (saved, rest) = take::<Saved<Vec<u8>>>(rest)?;
        if !rest.is_empty() {
            return Err(damaged(format!("{} bytes too many", rest.len())));
        }
        let mut simulation = Self::new(program);
        simulation.check(&header, &saved)?;
        simulation.load(saved)?;
        Ok((simulation, header.pieces))
    }

    #[expect(clippy::expect_used, reason = "bytes in memory take every value")]
    fn write(&self, pieces: u64) -> Result<Vec<u8>, SnapshotError> {
        if !self.is_between_steps() {
            return Err(SnapshotError::InAStep { cursor: self.engine.state.cursor });
        }
        let blocks = (0..self.engine.blocks.instances.len()).map(|node| self.state_bytes(node));
        let saved = Saved {
            state: self.engine.state.clone(),
            method: self.integrator.method.memory(),
            blocks: blocks.collect::<Result<_, _>>()?,
        };
        let plain = "numbers, texts and lists are always written";
        let payload = postcard::to_stdvec(&(SnapshotHeader::of(self, pieces), saved)).expect(plain);
        let mut bytes = Vec::with_capacity(PREFIX + payload.len());
        bytes.extend(MAGIC);
        bytes.extend(FORMAT.to_le_bytes());
        bytes.extend((payload.len() as u64).to_le_bytes());
        bytes.extend(checksum(&payload).to_le_bytes());
        bytes.extend(payload);
        Ok(bytes)
    }

    /// Whether what was saved can be a state of this program.
    fn check(&self, header: &SnapshotHeader, saved: &Saved<Vec<u8>>) -> Result<(), SnapshotError> {
        let Saved { state, method, blocks } = saved;
        let node_count = self.engine.blocks.instances.len();
        if let Some(what) = state.misfit(&self.engine.state, node_count) {
            return Err(damaged(what));
        }
        if blocks.len() != node_count {
            return Err(damaged(format!("expected {node_count} blocks, found {}", blocks.len())));
        }
        let jacobian = self.integrator.coordinate_count().pow(2);
        if let Some(found) = method.as_ref().map(Vec::len).filter(|&found| found != jacobian) {
            let what = format!("expected {jacobian} numbers of a Jacobian, found {found}");
            return Err(damaged(what));
        }
        if header.moment != state.moment || header.pieces >= MOST_PIECES {
            return Err(damaged("a number in it is out of range".to_owned()));
        }
        Ok(())
    }

    fn load(&mut self, saved: Saved<Vec<u8>>) -> Result<(), SnapshotError> {
        let Saved { state, method, blocks } = saved;
        for (i, bytes) in blocks.iter().enumerate() {
            let (path, instance) =
                (&self.engine.plan.program.nodes[i].path, &mut self.engine.blocks.instances[i]);
            let initial = instance.state_json();
            let loaded = instance.load_bytes(bytes).and_then(|()| instance.state_json());
            let loaded = loaded.map_err(|fault| state_error(path, *fault))?;
            if initial.is_ok_and(|initial| !keeps_sizes(&initial, &loaded)) {
                return Err(damaged(format!("the state of `{path}` has another size")));
            }
        }
        self.resume(state, method.as_deref());
        Ok(())
    }

    /// The state of each block as bytes, to compare two simulations of one program.
    ///
    /// # Errors
    /// If a block's state cannot be written.
    pub(crate) fn state_bytes(&self, node: usize) -> Result<Vec<u8>, SnapshotError> {
        let path = &self.engine.plan.program.nodes[node].path;
        self.engine.blocks.instances[node].save_bytes().map_err(|fault| state_error(path, *fault))
    }
}

/// What the checksum covers.
fn payload(bytes: &[u8]) -> Result<&[u8], SnapshotError> {
    if bytes.len() < 8 || bytes[..8] != MAGIC {
        // A part of the first bytes is a file cut off, as much as one of the others.
        return Err(if !bytes.is_empty() && MAGIC.starts_with(bytes) {
            SnapshotError::Truncated { expected: PREFIX as u64, found: bytes.len() as u64 }
        } else {
            SnapshotError::NotASnapshot
        });
    }
    let Some((prefix, payload)) = bytes.split_first_chunk::<PREFIX>() else {
        return Err(SnapshotError::Truncated {
            expected: PREFIX as u64,
            found: bytes.len() as u64,
        });
    };
    let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| prefix[at + i]));
    let format = u32::from_le_bytes(std::array::from_fn(|i| prefix[8 + i]));
    if format != FORMAT {
        return Err(SnapshotError::Format { found: format });
    }
    let (expected, found) = (number(12), payload.len() as u64);
    if found < expected {
        let prefix = PREFIX as u64;
        let expected = expected.saturating_add(prefix);
        return Err(SnapshotError::Truncated { expected, found: found + prefix });
    }
    if found > expected {
        return Err(damaged(format!("{} bytes follow its end", found - expected)));
    }
    if checksum(payload) != number(20) {
        return Err(damaged("its checksum does not fit".to_owned()));
    }
    Ok(payload)
}

fn take<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<(T, &'a [u8]), SnapshotError> {
    postcard::take_from_bytes(bytes).map_err(|error| damaged(error.to_string()))
}

fn checksum(payload: &[u8]) -> u64 {
    let mut hash = Fnv::default();
    hash.add_bytes(payload);
    hash.value()
}

fn damaged(what: String) -> SnapshotError {
    SnapshotError::Damaged { what }
}

fn state_error(path: &str, fault: Fault) -> SnapshotError {
    SnapshotError::State { block: path.to_owned(), message: fault.message }
}
