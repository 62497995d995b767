//! Compressed chunks: frames of [LZ4](https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md).

/// Magic number, then version 1 with blocks that stand alone, blocks of at most 4 MiB, and the
/// checksum of these two bytes.
const HEAD: [u8; 7] = [0x04, 0x22, 0x4d, 0x18, 0x60, 0x70, 0x73];
/// Most bytes of a block before it is compressed.
const BLOCK: usize = 4 << 20;
/// Marks the length of a block that is not compressed.
const PLAIN: u32 = 1 << 31;
/// What is compressed to see whether a chunk shrinks: its end, which has no schemas.
const SAMPLE: usize = 16 << 10;
/// Bytes that a byte of a block can stand for.
const RATIO: u64 = 255;
/// Bytes for each byte of a file that its compressed chunks may take, and bytes besides: a small
/// file cannot fill the memory.
const PER_BYTE: u64 = 32;
const BESIDES: u64 = 64_000_000;

/// How much compressed chunks may hold, in a file of this many bytes.
pub(super) fn most(file_len: u64) -> u64 {
    file_len.saturating_mul(PER_BYTE).saturating_add(BESIDES)
}

/// Writes a frame of these records to the start of `out` if the end of them shrinks to a third;
/// its length if it did. Rows of a robot, even of one that stands, hardly halve, at a tenth of the
/// time of the run. `out` only grows, so that it is not filled with zeros again for every chunk.
pub(super) fn pack(records: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    let sample = &records[records.len() - records.len().min(SAMPLE)..];
    if 3 * write_block(sample, out, 0) > sample.len() {
        return None;
    }
    let mut len = HEAD.len();
    out[..len].copy_from_slice(&HEAD);
    for block in records.chunks(BLOCK) {
        len = write_block(block, out, len);
    }
    let end = len + 4;
    out[len..end].fill(0);
    Some(end)
}

/// Writes a block with its length at `start` of `out`, which leaves room for a length behind it;
/// where it ends.
fn write_block(block: &[u8], out: &mut Vec<u8>, start: usize) -> usize {
    let begin = start + 4;
    let most = lz4_flex::block::get_maximum_output_size(block.len()).max(HEAD.len());
    if out.len() < begin + most + 4 {
        out.resize(begin + most + 4, 0);
    }
    let packed = lz4_flex::block::compress_into(block, &mut out[begin..begin + most]);
    let (len, mark) = match packed.ok().filter(|len| *len < block.len()) {
        Some(len) => (len, 0),
        None => {
            out[begin..begin + block.len()].copy_from_slice(block);
            (block.len(), PLAIN)
        }
    };
    out[start..begin].copy_from_slice(&(len as u32 | mark).to_le_bytes());
    begin + len
}

/// Appends the records of a frame that [`pack`] made to `out`; nothing is appended unless they are
/// `size` bytes. Takes no more memory than the frame can hold.
pub(super) fn unpack(frame: &[u8], size: u64, out: &mut Vec<u8>) -> Option<()> {
    if size > RATIO * frame.len() as u64 {
        return None;
    }
    let start = out.len();
    let end = start.checked_add(usize::try_from(size).ok()?)?;
    out.resize(end, 0);
    let whole = unpack_into(frame, &mut out[start..]);
    if whole.is_none() {
        out.truncate(start);
    }
    whole
}

fn unpack_into(frame: &[u8], mut out: &mut [u8]) -> Option<()> {
    let mut rest = frame.strip_prefix(&HEAD)?;
    loop {
        let (len, behind) = rest.split_first_chunk()?;
        let len = u32::from_le_bytes(*len);
        if len == 0 {
            return (behind.is_empty() && out.is_empty()).then_some(());
        }
        let (block, behind) = behind.split_at_checked((len & !PLAIN) as usize)?;
        let (now, later) = out.split_at_mut(out.len().min(BLOCK));
        if len & PLAIN != 0 {
            (block.len() == now.len()).then(|| now.copy_from_slice(block))?;
        } else {
            lz4_flex::block::decompress_into(block, now).ok().filter(|len| *len == now.len())?;
        }
        (rest, out) = (behind, later);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

    use std::io::Read as _;

    use super::*;

    /// Bytes that repeat but for every 24th, with a stretch in the middle that does not.
    fn bytes(len: usize) -> Vec<u8> {
        let mut seed = 1u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 56) as u8
        };
        let is_plain = |i: usize| (len / 3..len / 3 + (5 << 20)).contains(&i);
        (0..len).map(|i| if i % 24 == 0 || is_plain(i) { random() } else { 7 }).collect()
    }

    /// The frame decoder of the crate, which is not what reads recordings, reads what we write, in
    /// blocks of which some are compressed and some are not.
    #[test]
    fn frames_are_read_by_another_decoder_and_by_ours() {
        for len in [1, 100, BLOCK - 1, BLOCK, BLOCK + 1, 20 << 20] {
            let (records, mut frame) = (bytes(len), Vec::new());
            // What an earlier chunk left there does not matter.
            frame.resize(len / 2, 99);
            let packed = pack(&records, &mut frame);
            assert_eq!(packed.is_some(), len > BLOCK + 1, "{len}");
            let Some(packed) = packed else { continue };
            frame.truncate(packed);
            assert!(frame.len() < records.len() * 4 / 5, "{} of {len}", frame.len());
            let mut theirs = Vec::new();
            lz4_flex::frame::FrameDecoder::new(&frame[..]).read_to_end(&mut theirs).unwrap();
            assert!(theirs == records, "{len}");
            let mut ours = vec![1, 2];
            unpack(&frame, len as u64, &mut ours).unwrap();
            assert!(ours[..2] == [1, 2] && ours[2..] == records, "{len}");
        }
    }

    #[test]
    fn a_frame_that_is_not_ours_or_not_of_its_size_is_refused() {
        let records: Vec<u8> = (0..9999u32).flat_map(|i| (i / 16).to_le_bytes()).collect();
        let (mut frame, mut out) = (Vec::new(), vec![9; 3]);
        let packed = pack(&records, &mut frame).unwrap();
        frame.truncate(packed);
        let size = records.len() as u64;
        let mut refused = |frame: &[u8], size| {
            assert_eq!((unpack(frame, size, &mut out), &out[..]), (None, &[9, 9, 9][..]));
        };
        for wrong in [0, 1, size - 1, size + 1, 200 * frame.len() as u64, u64::MAX] {
            refused(&frame, wrong);
        }
        for cut in 0..frame.len() {
            refused(&frame[..cut], size);
        }
        refused(&[&frame[..], &[0]].concat(), size);
        for at in 0..HEAD.len() + 4 {
            let mut frame = frame.clone();
            frame[at] ^= 0x40;
            refused(&frame, size);
        }
    }
}
