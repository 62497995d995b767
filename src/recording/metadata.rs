//! Metadata of a recording: the run that made it.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// Name of the metadata record in the file.
pub(super) const RECORD: &str = "legwork";

/// Everything that the run depends on, so that the recording alone is enough to repeat it.
///
/// No clock reading, host name or path belongs here: equal runs write equal files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Text of the diagram.
    pub diagram: String,
    /// Overrides in the order they were given, as in `run.stop=2 s`.
    pub overrides: Vec<String>,
    /// Seed of the random streams.
    pub seed: u64,
    /// Version of the program that wrote the file.
    pub version: String,
    /// Hash of the compiled program.
    pub program_hash: String,
    /// Anything else, by name, such as the texts of included files.
    pub other: BTreeMap<String, String>,
}

impl Metadata {
    /// The texts of the record, by name. Overrides become a JSON array; the names of
    /// [`Metadata::other`] get a prefix, so that none hides another.
    pub(super) fn texts(&self) -> BTreeMap<String, Cow<'_, str>> {
        let overrides = serde_json::Value::from(self.overrides.as_slice());
        let mut map: BTreeMap<String, Cow<'_, str>> = [
            ("diagram", Cow::from(&self.diagram)),
            ("overrides", overrides.to_string().into()),
            ("seed", self.seed.to_string().into()),
            ("version", Cow::from(&self.version)),
            ("program_hash", Cow::from(&self.program_hash)),
        ]
        .map(|(key, value)| (key.to_owned(), value))
        .into();
        map.extend(self.other.iter().map(|(key, value)| (format!("other.{key}"), value.into())));
        map
    }

    /// The inverse of [`Metadata::texts`]; nothing if the record is another program's.
    pub(super) fn from_record(record: mcap::records::Metadata) -> Option<Self> {
        if record.name != RECORD {
            return None;
        }
        let mut map = record.metadata;
        let mut out = Self {
            diagram: map.remove("diagram")?,
            overrides: serde_json::from_str(&map.remove("overrides")?).ok()?,
            seed: map.remove("seed")?.parse().ok()?,
            version: map.remove("version")?,
            program_hash: map.remove("program_hash")?,
            other: BTreeMap::new(),
        };
        for (key, value) in map {
            if let Some(name) = key.strip_prefix("other.") {
                out.other.insert(name.to_owned(), value);
            }
        }
        Some(out)
    }
}
