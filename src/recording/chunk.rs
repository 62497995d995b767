//! A chunk of a recording as it is read.

use super::packed;

/// Compression of a chunk, as MCAP names it.
pub(super) const LZ4: &str = "lz4";
/// Name of the compression in the record of a chunk.
pub(super) fn compression_of(body: &[u8]) -> Option<&str> {
    let (len, rest) = body.get(HEAD..)?.split_first_chunk()?;
    std::str::from_utf8(rest.get(..u32::from_le_bytes(*len) as usize)?).ok()
}

/// Bytes of the body before the name of the compression: two times, the size and the checksum.
const HEAD: usize = 28;

/// The body of a chunk's record.
#[derive(Clone, Copy)]
pub(super) struct Chunk<'a> {
    /// Bytes of its records.
    size: u64,
    /// Their checksum; 0 if there is none.
    crc: u32,
    is_packed: bool,
    data: &'a [u8],
}

impl<'a> Chunk<'a> {
    /// The chunk that a body states, if its lengths fit and its compression is known.
    pub(super) fn of(body: &'a [u8]) -> Option<Self> {
        let (head, rest) = body.split_first_chunk::<HEAD>()?;
        let (len, rest) = rest.split_first_chunk()?;
        let (name, rest) = rest.split_at_checked(u32::from_le_bytes(*len) as usize)?;
        let (len, data) = rest.split_first_chunk()?;
        let chunk = Self {
            size: u64::from_le_bytes(*head[16..].first_chunk()?),
            crc: u32::from_le_bytes(*head[24..].first_chunk()?),
            is_packed: name == LZ4.as_bytes(),
            data,
        };
        let is_known = chunk.is_packed || (name.is_empty() && chunk.size == data.len() as u64);
        (is_known && u64::from_le_bytes(*len) == data.len() as u64).then_some(chunk)
    }

    /// Whether its records are compressed.
    pub(super) fn is_packed(&self) -> bool {
        self.is_packed
    }

    /// Its records, if the checksum is theirs: where they are, or appended to `unpacked`, which
    /// may grow to `most` bytes.
    pub(super) fn records<'b>(&self, unpacked: &'b mut Vec<u8>, most: u64) -> Option<&'b [u8]>
    where
        'a: 'b,
    {
        let records = if self.is_packed {
            let start = unpacked.len();
            if self.size > most.saturating_sub(start as u64) {
                return None;
            }
            packed::unpack(self.data, self.size, unpacked)?;
            &unpacked[start..]
        } else {
            self.data
        };
        (self.crc == 0 || self.crc == crc32fast::hash(records)).then_some(records)
    }
}
