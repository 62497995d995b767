//! Snapshots as bytes (semantics 7.1), to be continued by another process.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `LEGWORK` and a 0x1a |
//! | 4 | version of this layout, little-endian |
//! | 8 | number of bytes that follow the checksum |
//! | 8 | FNV-1a of these |
//! | … | [`SnapshotHeader`], then the body, as [postcard](https://postcard.jamesmunns.com) |
//!
//! A double is its eight bytes, so that every bit comes back.
//!
//! What a block's `output` leaves for its `update` of the same step lives in memory only. A
//! snapshot in the middle of a major step is therefore written as the state before that step and
//! the number of calls of [`Simulation::advance`] since. Outputs are pure and inputs declared, so
//! that repeating these calls gives the same bits.

use std::sync::Arc;

use legwork_block::Fault;
use legwork_program::{Fnv, NodeId, Program};
use serde::{Deserialize, Serialize};

use super::loops::LoopMemory;
use super::{Cursor, Simulation, Snapshot};
use crate::fault::RunFault;
use crate::moment::Moment;
use crate::observe::CheckState;

const MAGIC: [u8; 8] = *b"LEGWORK\x1a";
/// Version of the layout.
const FORMAT: u32 = 1;
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

/// The rest of the file.
#[derive(Serialize, Deserialize)]
struct Body {
    step_count: u64,
    done: bool,
    stopped_by: Option<NodeId>,
    x: Vec<f64>,
    arena: Vec<f64>,
    armed: Vec<bool>,
    located: Vec<bool>,
    spent: Vec<bool>,
    step_memory: Option<f64>,
    since_event: f64,
    method: Option<Vec<f64>>,
    loops: Vec<LoopMemory>,
    states: Vec<Vec<u8>>,
    checks: Vec<CheckState>,
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
        let program = &simulation.program;
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            program: program.name.clone(),
            hash: program.continuation_hash(),
            moment: simulation.moment,
            t: simulation.now,
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
        let mut other = Self::new(Arc::clone(&self.program));
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
        let (body, rest) = take::<Body>(rest)?;
        if !rest.is_empty() {
            return Err(damaged(format!("{} bytes too many", rest.len())));
        }
        let mut simulation = Self::new(program);
        simulation.check_sizes(&header, &body)?;
        simulation.load(&header, body)?;
        Ok((simulation, header.pieces))
    }

    fn write(&self, pieces: u64) -> Result<Vec<u8>, SnapshotError> {
        if !self.is_between_steps() {
            return Err(SnapshotError::InAStep { cursor: self.cursor });
        }
        let states: Result<Vec<_>, _> = self
            .instances
            .iter()
            .zip(&self.program.nodes)
            .map(|(instance, node)| {
                instance.save_bytes().map_err(|fault| state_error(&node.path, *fault))
            })
            .collect();
        let body = Body {
            step_count: self.step_count,
            done: self.cursor == Cursor::Done,
            stopped_by: self.stopped_by,
            x: self.x.clone(),
            arena: self.arena.clone(),
            armed: self.armed.clone(),
            located: self.located.clone(),
            spent: self.spent.clone(),
            step_memory: self.step_memory,
            since_event: self.since_event,
            method: self.method.memory(),
            loops: self.loops.clone(),
            states: states?,
            checks: self.observer.checks().to_vec(),
        };
        let plain = "numbers, texts and lists are always written";
        let payload = postcard::to_stdvec(&(SnapshotHeader::of(self, pieces), body)).expect(plain);
        let mut bytes = Vec::with_capacity(PREFIX + payload.len());
        bytes.extend(MAGIC);
        bytes.extend(FORMAT.to_le_bytes());
        bytes.extend((payload.len() as u64).to_le_bytes());
        bytes.extend(checksum(&payload).to_le_bytes());
        bytes.extend(payload);
        Ok(bytes)
    }

    /// Whether every list is as long as this program's.
    fn check_sizes(&self, header: &SnapshotHeader, body: &Body) -> Result<(), SnapshotError> {
        let coordinates = self.u.len();
        let jacobian = body.method.as_ref().map_or(coordinates * coordinates, Vec::len);
        for (what, expected, found) in [
            ("numbers of continuous state", self.x.len(), body.x.len()),
            ("numbers in signals", self.arena.len(), body.arena.len()),
            ("guards", self.armed.len(), body.armed.len()),
            ("guards", self.armed.len(), body.located.len()),
            ("guards", self.armed.len(), body.spent.len()),
            ("algebraic loops", self.loops.len(), body.loops.len()),
            ("blocks", self.instances.len(), body.states.len()),
            ("checks", self.observer.checks().len(), body.checks.len()),
            ("numbers of a Jacobian", coordinates * coordinates, jacobian),
        ] {
            if expected != found {
                return Err(damaged(format!("expected {expected} {what}, found {found}")));
            }
        }
        let same_loops = self.loops.iter().zip(&body.loops).all(|(ours, theirs)| ours.fits(theirs));
        let moment = header.moment;
        let node_count = self.instances.len();
        let stop_exists = body.stopped_by.is_none_or(|node| node.index() < node_count);
        let moment_exists = (0.0..1.0).contains(&moment.tau) && moment.tick < u64::MAX / 4;
        if !(same_loops && stop_exists && moment_exists && header.pieces < MOST_PIECES) {
            return Err(damaged("a number in it is out of range".to_owned()));
        }
        Ok(())
    }

    fn load(&mut self, header: &SnapshotHeader, body: Body) -> Result<(), SnapshotError> {
        for (i, bytes) in body.states.iter().enumerate() {
            let outcome = self.instances[i].load_bytes(bytes);
            outcome.map_err(|fault| state_error(&self.program.nodes[i].path, *fault))?;
        }
        self.set_moment(header.moment);
        self.microstep = 0;
        self.step_count = body.step_count;
        self.cursor = if body.done { Cursor::Done } else { Cursor::Output(0) };
        self.stopped_by = body.stopped_by;
        self.x = body.x;
        self.arena = body.arena;
        self.armed = body.armed;
        self.located = body.located;
        self.spent = body.spent;
        self.step_memory = body.step_memory;
        self.since_event = body.since_event;
        self.method.set_memory(body.method.as_deref());
        self.loops = body.loops;
        self.observer.set_checks(body.checks);
        self.compute_shared();
        Ok(())
    }

    /// The state of each block as bytes, to compare two simulations of one program.
    ///
    /// # Errors
    /// If a block's state cannot be written.
    pub(crate) fn state_bytes(&self, node: usize) -> Result<Vec<u8>, SnapshotError> {
        let path = &self.program.nodes[node].path;
        self.instances[node].save_bytes().map_err(|fault| state_error(path, *fault))
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
    let Some((prefix, payload)) = bytes.split_at_checked(PREFIX) else {
        return Err(SnapshotError::Truncated {
            expected: PREFIX as u64,
            found: bytes.len() as u64,
        });
    };
    let number = |at: usize| {
        let bytes = prefix[at..at + 8].try_into().expect("a slice of eight bytes");
        u64::from_le_bytes(bytes)
    };
    let format = u32::from_le_bytes(prefix[8..12].try_into().expect("a slice of four bytes"));
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
