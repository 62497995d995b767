//! Samples as a table.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::describe;
use super::live::Live;
use crate::limits;
use crate::protocol::Refusal;

impl Live {
    /// The samples of watched signals as comma-separated values: the time, then a column for each
    /// number; empty where a signal has no sample.
    ///
    /// # Errors
    /// If a signal is not watched, the format is another, or the table is larger than a message.
    pub(super) fn export(&self, paths: &[String], format: &str) -> Result<Value, Refusal> {
        if format != "csv" {
            return Err(format!("expected the format `csv`, found `{format}`").into());
        }
        let tracks = self.tap.lock();
        let mut head = String::from("t [s]");
        let mut table: BTreeMap<u64, Vec<(usize, f64)>> = BTreeMap::new();
        let mut columns = 0;
        for path in paths {
            let track = tracks.find(path).and_then(|number| tracks.track(number));
            let track = track.ok_or_else(|| format!("`{path}` is not watched"))?;
            for name in describe::columns(path, track.store.leaves(), self.session.program()) {
                let _ = write!(head, ",{}", quoted(&name));
            }
            let rows = track.store.rows(f64::NEG_INFINITY, true, usize::MAX);
            for (i, t) in rows.t.iter().enumerate() {
                let leaves = track.store.leaves();
                let own = &rows.values[i * leaves..(i + 1) * leaves];
                // Times are not negative: their bits are in their order.
                let row = table.entry(t.to_bits()).or_default();
                row.extend(own.iter().enumerate().map(|(leaf, x)| (columns + leaf, *x)));
            }
            columns += track.store.leaves();
        }
        let mut text = head + "\n";
        for (t, row) in table {
            let _ = write!(text, "{:?}", f64::from_bits(t));
            let mut row = row.into_iter().peekable();
            for column in 0..columns {
                match row.next_if(|(own, _)| *own == column) {
                    Some((_, x)) => {
                        let _ = write!(text, ",{x:?}");
                    }
                    None => text.push(','),
                }
            }
            text.push('\n');
            if text.len() > limits::QUEUED_BYTES / 2 {
                return Err("the table is too large; `legwork export` writes a file".into());
            }
        }
        Ok(json!({ "text": text }))
    }
}

/// A name as a cell.
fn quoted(name: &str) -> String {
    match name.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.to_owned(),
    }
}
