//! Whether the lengths that a record states fit into it.
//!
//! The reader of records makes room for a text of the stated length before it reads it: a damaged
//! length of four bytes asks for up to 4 GB.

use mcap::records::op;

/// What is left of a record.
struct Left<'a>(&'a [u8]);

impl<'a> Left<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// Bytes behind their length.
    fn text(&mut self) -> Option<&'a [u8]> {
        let len = u32::from_le_bytes(*self.take(4)?.first_chunk()?);
        self.take(usize::try_from(len).ok()?)
    }

    /// Names with texts, behind the length of them all.
    fn map(&mut self) -> Option<()> {
        let mut entries = Left(self.text()?);
        while !entries.0.is_empty() {
            entries.text()?;
            entries.text()?;
        }
        Some(())
    }
}

/// Whether all texts of a record lie within it.
pub(crate) fn fit(opcode: u8, body: &[u8]) -> bool {
    let mut left = Left(body);
    let mut walk = || match opcode {
        op::SCHEMA => {
            left.take(2)?;
            (0..3).try_for_each(|_| left.text().map(|_| ()))
        }
        op::CHANNEL => {
            left.take(4)?;
            left.text()?;
            left.text()?;
            left.map()
        }
        op::METADATA => {
            left.text()?;
            left.map()
        }
        _ => Some(()),
    };
    walk().is_some()
}
