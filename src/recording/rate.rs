//! Signals of one rate, which share their rows.

use std::collections::BTreeMap;

use super::channel::{Channel, Field, Shape};

/// Index of a rate among those of the channels, in the order in which they first come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RateId(pub usize);

/// A rate and its signals.
pub(super) struct Group<'a> {
    /// Name of the rate.
    pub(super) name: &'a str,
    /// Its signals in order, with their places among all.
    pub(super) channels: Vec<(usize, &'a Channel)>,
}

/// The rates of channels, in the order in which they first come.
pub(super) fn groups(channels: &[Channel]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut places = BTreeMap::new();
    for (at, channel) in channels.iter().enumerate() {
        let place = *places.entry(channel.rate.as_str()).or_insert_with(|| {
            groups.push(Group { name: &channel.rate, channels: Vec::new() });
            groups.len() - 1
        });
        groups[place].channels.push((at, channel));
    }
    groups
}

/// The signals as fields of their common row: what is no bus stands there itself.
pub(super) fn fields(group: &Group<'_>) -> Vec<Field> {
    let field = |channel: &Channel| {
        let shape = match &channel.fields[..] {
            [Field { name, shape, .. }] if name == Channel::VALUE => shape.clone(),
            fields => Shape::Message(format!("{}_bus", channel.topic), fields.to_vec()),
        };
        Field::new(channel.topic.clone(), shape)
    };
    group.channels.iter().map(|(_, channel)| field(channel)).collect()
}
