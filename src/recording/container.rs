//! The container of a recording: as much of [MCAP](https://mcap.dev/spec) as a recorder writes.
//!
//! Rows gather in one buffer, which is written whole as a chunk; the buffers are kept from chunk to
//! chunk, so that a row costs its own bytes and an entry of an index. The bytes are those of the
//! `mcap` crate's writer, which serialises a message field by field.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crc32fast::Hasher;
use mcap::MAGIC;
use mcap::records::op;

use super::chunk::LZ4;
use super::packed;

/// Bytes of a message besides its row: opcode, length, channel, sequence and two times.
const MESSAGE_OVERHEAD: usize = OVERHEAD + MESSAGE_HEADER;
/// Channel, sequence and two times of a message.
const MESSAGE_HEADER: usize = 2 + 4 + 8 + 8;
/// Opcode and length of a record.
const OVERHEAD: usize = 1 + 8;
/// Bytes of room that are kept for what is to be written next.
const MOST_KEPT: usize = 1 << 24;
/// Encoding of rows and of schemas.
pub(super) const PROTOBUF: &str = "protobuf";

/// An MCAP file that is being written. One that is dropped is finished, without a word.
pub(super) struct Container<W: Write + Rewind> {
    /// `None` once it is closed or has failed.
    out: Option<W>,
    /// Bytes handed to `out`, and their checksum.
    written: u64,
    crc: Hasher,
    /// Records that come before the next chunk.
    pending: Vec<u8>,
    chunk: Chunk,
    /// Begins with the compressed chunk, if chunks are compressed; and bytes of all those so far
    /// before they were.
    packed: Option<Vec<u8>>,
    packed_from: u64,
    schemas: Vec<Schema>,
    channels: Vec<Channel>,
    /// Records of the summary, as the data section's records come to be.
    chunk_indexes: Vec<u8>,
    chunk_count: u32,
    metadata_indexes: Vec<u8>,
    metadata_count: u32,
    times: Option<(u64, u64)>,
    /// Whether the open chunk stands behind what is written, to be written again when it closes.
    is_shown: bool,
    /// Bytes of its records that are.
    shown: usize,
}

/// The open chunk: channels with their schemas, and rows.
#[derive(Default)]
struct Chunk {
    records: Vec<u8>,
    times: Option<(u64, u64)>,
}

struct Schema {
    name: String,
    data: Vec<u8>,
    record: Vec<u8>,
}

struct Channel {
    record: Vec<u8>,
    message_count: u64,
    /// The body of its index in the open chunk: time and offset of each message.
    index: Vec<u8>,
}

/// An output whose end can be taken back.
pub(super) trait Rewind {
    /// Forgets what was written from byte `to` on; what follows is written there.
    ///
    /// # Errors
    /// If it cannot.
    fn rewind(&mut self, to: u64) -> io::Result<()>;
}

/// A number or a text, as MCAP has it.
trait Put {
    fn number<const N: usize>(&mut self, bytes: [u8; N]) -> &mut Self;
    fn text(&mut self, text: &str) -> &mut Self;
}

impl Put for Vec<u8> {
    fn number<const N: usize>(&mut self, bytes: [u8; N]) -> &mut Self {
        self.extend_from_slice(&bytes);
        self
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.number(length(text.len())).extend_from_slice(text.as_bytes());
        self
    }
}

/// The length of a text, a map or a list.
fn length(len: usize) -> [u8; 4] {
    (len as u32).to_le_bytes()
}

/// Appends a record whose body `fill` writes.
fn record(out: &mut Vec<u8>, opcode: u8, fill: impl FnOnce(&mut Vec<u8>)) {
    out.push(opcode);
    let start = out.len() + 8;
    out.number(0u64.to_le_bytes());
    fill(out);
    let len = (out.len() - start) as u64;
    out[start - 8..start].copy_from_slice(&len.to_le_bytes());
}

/// Appends the head of a chunk, whose records follow.
fn chunk_head(
    out: &mut Vec<u8>,
    (first, last): (u64, u64),
    (size, crc): (u64, u32),
    (compression, len): (&str, u64),
) {
    let start = out.len();
    record(out, op::CHUNK, |body| {
        body.number(first.to_le_bytes()).number(last.to_le_bytes());
        body.number(size.to_le_bytes()).number(crc.to_le_bytes());
        body.text(compression).number(len.to_le_bytes());
    });
    let body = (out.len() - start - OVERHEAD) as u64 + len;
    out[start + 1..start + 9].copy_from_slice(&body.to_le_bytes());
}

fn text_map<T: AsRef<str>>(out: &mut Vec<u8>, map: &BTreeMap<String, T>) {
    let start = out.len() + 4;
    out.number([0; 4]);
    for (key, value) in map {
        out.text(key).text(value.as_ref());
    }
    let len = length(out.len() - start);
    out[start - 4..start].copy_from_slice(&len);
}

fn widen(times: Option<(u64, u64)>, (first, last): (u64, u64)) -> Option<(u64, u64)> {
    Some(times.map_or((first, last), |(a, b)| (a.min(first), b.max(last))))
}

impl<W: Write + Rewind> Container<W> {
    /// Begins a file that the program `library` writes, whose chunks are compressed if `lz4` says
    /// so.
    pub(super) fn new(out: W, library: &str, lz4: bool) -> Self {
        let mut pending = MAGIC.to_vec();
        record(&mut pending, op::HEADER, |body| {
            body.text("").text(library);
        });
        Self {
            out: Some(out),
            written: 0,
            crc: Hasher::new(),
            pending,
            chunk: Chunk::default(),
            packed: lz4.then(Vec::new),
            packed_from: 0,
            schemas: Vec::new(),
            channels: Vec::new(),
            chunk_indexes: Vec::new(),
            chunk_count: 0,
            metadata_indexes: Vec::new(),
            metadata_count: 0,
            times: None,
            is_shown: false,
            shown: 0,
        }
    }

    /// Where the next record outside of a chunk will be.
    fn position(&self) -> u64 {
        self.written + self.pending.len() as u64
    }

    /// Appends texts by name.
    pub(super) fn add_metadata<T: AsRef<str>>(&mut self, name: &str, texts: &BTreeMap<String, T>) {
        let offset = self.position();
        record(&mut self.pending, op::METADATA, |body| {
            text_map(body.text(name), texts);
        });
        let len = self.position() - offset;
        record(&mut self.metadata_indexes, op::METADATA_INDEX, |body| {
            body.number(offset.to_le_bytes()).number(len.to_le_bytes()).text(name);
        });
        self.metadata_count += 1;
    }

    /// Appends a channel, and its schema unless that is there, to the open chunk; the channel's
    /// place.
    ///
    /// # Errors
    /// More than 65 535 channels.
    pub(super) fn add_channel(
        &mut self,
        topic: &str,
        (schema, data): (&str, &[u8]),
        metadata: &BTreeMap<String, String>,
    ) -> Result<usize, mcap::McapError> {
        let known = self.schemas.iter().position(|s| s.name == schema && s.data == data);
        let place = known.unwrap_or(self.schemas.len());
        let id = |place: usize| u16::try_from(place + 1).map(u16::to_le_bytes);
        let schema_id = id(place).map_err(|_| mcap::McapError::TooManySchemas)?;
        let channel = self.channels.len();
        let channel_id = id(channel).map_err(|_| mcap::McapError::TooManyChannels)?;
        if known.is_none() {
            let mut own = Vec::new();
            record(&mut own, op::SCHEMA, |body| {
                body.number(schema_id).text(schema).text(PROTOBUF);
                body.number(length(data.len())).extend_from_slice(data);
            });
            self.chunk.records.extend_from_slice(&own);
            let (name, data) = (schema.to_owned(), data.to_owned());
            self.schemas.push(Schema { name, data, record: own });
        }
        let mut own = Vec::new();
        record(&mut own, op::CHANNEL, |body| {
            text_map(
                body.number(channel_id).number(schema_id).text(topic).text(PROTOBUF),
                metadata,
            );
        });
        self.chunk.records.extend_from_slice(&own);
        self.channels.push(Channel { record: own, message_count: 0, index: Vec::new() });
        Ok(channel)
    }

    /// Appends a row to the open chunk.
    ///
    /// # Panics
    /// If there is no such channel.
    pub(super) fn add_message(&mut self, channel: usize, sequence: u32, t_ns: u64, row: &[u8]) {
        let of = &mut self.channels[channel];
        let Chunk { records, times } = &mut self.chunk;
        *times = widen(*times, (t_ns, t_ns));
        of.message_count += 1;
        let time = t_ns.to_le_bytes();
        let mut entry = [0; 16];
        entry[..8].copy_from_slice(&time);
        entry[8..].copy_from_slice(&(records.len() as u64).to_le_bytes());
        of.index.number(entry);
        let mut header = [0; MESSAGE_OVERHEAD];
        let len = (MESSAGE_HEADER + row.len()) as u64;
        header[0] = op::MESSAGE;
        header[1..9].copy_from_slice(&len.to_le_bytes());
        header[9..11].copy_from_slice(&(channel as u16 + 1).to_le_bytes());
        header[11..15].copy_from_slice(&sequence.to_le_bytes());
        header[15..23].copy_from_slice(&time);
        header[23..].copy_from_slice(&time);
        records.number(header).extend_from_slice(row);
    }

    /// Bytes of the open chunk.
    pub(super) fn chunk_len(&self) -> u64 {
        self.chunk.records.len() as u64
    }

    /// Writes what is complete, and the open chunk as it is.
    ///
    /// # Errors
    /// Those of the output, after which nothing more is written.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let Some(mut out) = self.out.take() else {
            return Err(io::Error::other("an earlier write has failed"));
        };
        self.write(&mut out)?;
        out.flush()?;
        self.out = Some(out);
        Ok(())
    }

    /// Writes the open chunk as if it were complete, without closing it: the file holds its rows
    /// until it is written in their place.
    ///
    /// # Errors
    /// Those of [`Container::flush`], and if the output cannot be rewound.
    pub(super) fn show(&mut self) -> io::Result<()> {
        // To write it again would leave a moment without it.
        if self.is_shown && self.pending.is_empty() && self.shown == self.chunk.records.len() {
            return Ok(());
        }
        let Some(mut out) = self.out.take() else {
            return Err(io::Error::other("an earlier write has failed"));
        };
        self.write_pending(&mut out)?;
        self.hide(&mut out)?;
        if !self.chunk.records.is_empty() {
            let mut crc = Hasher::new();
            crc.update(&self.chunk.records);
            let times = self.chunk.times.unwrap_or_default();
            let mut head = Vec::new();
            let size = self.chunk.records.len() as u64;
            chunk_head(&mut head, times, (size, crc.finalize()), ("", size));
            (self.is_shown, self.shown) = (true, self.chunk.records.len());
            out.write_all(&head)?;
            out.write_all(&self.chunk.records)?;
        }
        out.flush()?;
        self.out = Some(out);
        Ok(())
    }

    /// Takes back the open chunk if it is shown.
    fn hide(&mut self, out: &mut W) -> io::Result<()> {
        if std::mem::take(&mut self.is_shown) { out.rewind(self.written) } else { Ok(()) }
    }

    /// Lets go of the output as it is.
    pub(super) fn forget(&mut self) {
        self.out = None;
    }

    /// Hands over pending records and the open chunk.
    fn write(&mut self, out: &mut W) -> io::Result<()> {
        self.hide(out)?;
        if self.chunk.records.is_empty() {
            return self.write_pending(out);
        }
        let times = self.chunk.times.take();
        self.times = times.map_or(self.times, |times| widen(self.times, times));
        let (first, last) = times.unwrap_or_default();

        // The chunk: a header, then all records.
        let start = self.position();
        let size = self.chunk.records.len() as u64;
        let mut crc = Hasher::new();
        crc.update(&self.chunk.records);
        let times = |body: &mut Vec<u8>| {
            body.number(first.to_le_bytes()).number(last.to_le_bytes());
        };
        let sum = crc.clone().finalize();
        let packed = self.pack(start);
        let (compression, len) = packed.map_or(("", size), |len| (LZ4, len as u64));
        chunk_head(&mut self.pending, (first, last), (size, sum), (compression, len));
        self.write_pending(out)?;
        if let Some((frame, len)) = self.packed.as_ref().zip(packed) {
            out.write_all(&frame[..len])?;
            self.crc.update(&frame[..len]);
        } else {
            out.write_all(&self.chunk.records)?;
            self.crc.combine(&crc);
        }
        self.written += len;
        self.chunk.records.clear();

        // Where the messages of each channel are in it, and where those tables are.
        let end = self.written;
        let mut offsets = Vec::new();
        for (i, channel) in
            self.channels.iter_mut().enumerate().filter(|(_, c)| !c.index.is_empty())
        {
            let id = (i as u16 + 1).to_le_bytes();
            offsets.number(id).number((end + self.pending.len() as u64).to_le_bytes());
            record(&mut self.pending, op::MESSAGE_INDEX, |body| {
                body.number(id).number(length(channel.index.len()));
                body.extend_from_slice(&channel.index);
            });
            channel.index.clear();
        }
        let tables = self.pending.len() as u64;
        record(&mut self.chunk_indexes, op::CHUNK_INDEX, |body| {
            times(body);
            body.number(start.to_le_bytes()).number((end - start).to_le_bytes());
            body.number(length(offsets.len())).extend_from_slice(&offsets);
            body.number(tables.to_le_bytes()).text(compression);
            body.number(len.to_le_bytes()).number(size.to_le_bytes());
        });
        self.chunk_count += 1;
        self.write_pending(out)
    }

    /// Compresses the open chunk, which is to begin at `start`, if it shrinks and readers take it;
    /// bytes of the compressed one.
    fn pack(&mut self, start: u64) -> Option<usize> {
        let (records, packed) = (&self.chunk.records, self.packed.as_mut()?);
        let from = self.packed_from + records.len() as u64;
        let len = packed::pack(records, packed)?;
        (from <= packed::most(start + len as u64)).then(|| {
            self.packed_from = from;
            len
        })
    }

    fn write_pending(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(&self.pending)?;
        self.crc.update(&self.pending);
        self.written += self.pending.len() as u64;
        self.pending.clear();
        // The texts of a robot's meshes may be hundreds of megabytes; nothing after them is.
        self.pending.shrink_to(MOST_KEPT);
        Ok(())
    }

    /// Writes the rest with the summary and hands the output back.
    ///
    /// # Errors
    /// Those of the output, or that an earlier write has failed.
    pub(super) fn finish(&mut self) -> io::Result<W> {
        let Some(mut out) = self.out.take() else {
            return Err(io::Error::other("an earlier write has failed"));
        };
        self.write(&mut out)?;
        let crc = self.crc.clone().finalize();
        record(&mut self.pending, op::DATA_END, |body| {
            body.number(crc.to_le_bytes());
        });
        self.write_pending(&mut out)?;
        out.write_all(&self.summary(self.written))?;
        out.flush()?;
        Ok(out)
    }

    /// Summary, footer and the last magic bytes, if they begin at `start`.
    fn summary(&self, start: u64) -> Vec<u8> {
        let counted = self.channels.iter().map(|channel| channel.message_count).enumerate();
        let counted: Vec<_> = counted.filter(|(_, count)| *count > 0).collect();
        let mut statistics = Vec::new();
        record(&mut statistics, op::STATISTICS, |body| {
            let (first, last) = self.times.unwrap_or_default();
            let sum: u64 = counted.iter().map(|(_, count)| count).sum();
            body.number(sum.to_le_bytes()).number((self.schemas.len() as u16).to_le_bytes());
            body.number(length(self.channels.len())).number(0u32.to_le_bytes());
            body.number(self.metadata_count.to_le_bytes());
            body.number(self.chunk_count.to_le_bytes());
            body.number(first.to_le_bytes()).number(last.to_le_bytes());
            body.number(length(10 * counted.len()));
            for (channel, count) in &counted {
                body.number((*channel as u16 + 1).to_le_bytes()).number(count.to_le_bytes());
            }
        });
        let schemas: Vec<u8> = self.schemas.iter().flat_map(|s| &s.record).copied().collect();
        let channels: Vec<u8> = self.channels.iter().flat_map(|c| &c.record).copied().collect();

        // Groups of records of one kind, then where each group is.
        let mut summary = Vec::new();
        let mut offsets = Vec::new();
        for (opcode, group) in [
            (op::SCHEMA, &schemas),
            (op::CHANNEL, &channels),
            (op::STATISTICS, &statistics),
            (op::CHUNK_INDEX, &self.chunk_indexes),
            (op::METADATA_INDEX, &self.metadata_indexes),
        ] {
            if group.is_empty() {
                continue;
            }
            let at = start + summary.len() as u64;
            record(&mut offsets, op::SUMMARY_OFFSET, |body| {
                body.number([opcode]).number(at.to_le_bytes());
                body.number((group.len() as u64).to_le_bytes());
            });
            summary.extend_from_slice(group);
        }
        let offsets_start = start + summary.len() as u64;
        summary.extend_from_slice(&offsets);

        // The checksum covers the footer up to itself.
        summary.number([op::FOOTER]).number((8u64 + 8 + 4).to_le_bytes());
        summary.number(start.to_le_bytes()).number(offsets_start.to_le_bytes());
        let crc = crc32fast::hash(&summary);
        summary.number(crc.to_le_bytes()).extend_from_slice(MAGIC);
        summary
    }
}

impl<W: Write + Rewind> Drop for Container<W> {
    fn drop(&mut self) {
        if self.out.is_some() {
            let _ = self.finish();
        }
    }
}
