//! Parts of a sweep that run on several machines.

use std::ops::Range;
use std::path::PathBuf;
use std::str::FromStr;

/// Some of the cells of a sweep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// One of so many that are dealt out.
    Shard(Shard),
    /// Neighbours, counted from 0.
    Cells(Range<usize>),
}

impl Part {
    /// Whether a cell, counted from 0, belongs to it.
    pub fn has(&self, cell: usize) -> bool {
        match self {
            Self::Shard(shard) => shard.has(cell),
            Self::Cells(cells) => cells.contains(&cell),
        }
    }
}

/// A part of a sweep that has run.
#[derive(Debug, Clone)]
pub enum Finished {
    /// Its directory.
    Directory(PathBuf),
    /// Its rows, as [`super::Sweep::finished_rows`] gives them.
    Rows(Vec<u8>),
}

/// Every `of`-th cell from one on, as `2/4` says: the second, the sixth, the tenth, …
///
/// Neighbours of the table, which take as long as each other, are dealt out evenly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which one, from 1 on.
    index: usize,
    /// How many there are.
    of: usize,
}

impl Shard {
    /// Whether a cell, counted from 0, belongs to it.
    pub fn has(self, cell: usize) -> bool {
        cell % self.of == self.index - 1
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text
            .split_once('/')
            .and_then(|(index, of)| Some((index.trim().parse().ok()?, of.trim().parse().ok()?)));
        match parts {
            Some((index, of)) if (1..=of).contains(&index) => Ok(Self { index, of }),
            _ => Err("expected I/N with I from 1 to N, as in 2/4".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_part_the_cells() {
        for of in 1..6 {
            let shards: Vec<Shard> =
                (1..=of).filter_map(|index| format!("{index}/{of}").parse().ok()).collect();
            assert_eq!(shards.len(), of);
            for cell in 0..20 {
                assert_eq!(shards.iter().filter(|shard| shard.has(cell)).count(), 1);
            }
        }
        for text in ["", "1", "0/3", "4/3", "1/0", "-1/3", "1/3/4", "a/b"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
