//! Places of contacts: a contact keeps its own as long as it is there.

use legwork_block::{Report, Warning};
use serde::{Deserialize, Serialize};

use super::Found;
use super::search::{Lost, Search};
use crate::contact::depth::DepthWatch;
use crate::run_warnings::{CONTACTS_LEFT_OUT, IN_THE_GROUND};

/// Which contact is in which place, and what was noted of the run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Slots {
    /// Key of the contact in each place; 0 where there is none.
    keys: Vec<u64>,
    /// When contacts were first left out [s], how many then, and in how many steps.
    first_left_out: Option<(f64, u32)>,
    steps: u64,
    /// When a link was first in the ground without a way out [s], and in how many steps.
    first_lost: Option<(f64, Lost)>,
    steps_lost: u64,
    depth: DepthWatch,
}

/// Places given to the contacts of a step.
#[derive(Debug, Clone, Default)]
pub(super) struct Taken {
    /// Key of the contact in each place; 0 where there is none.
    pub(super) keys: Vec<u64>,
    /// Place of each contact.
    pub(super) of_contact: Vec<usize>,
}

impl Taken {
    /// Memory for so many places.
    pub(super) fn of(places: usize) -> Self {
        Self { keys: Vec::with_capacity(places), of_contact: Vec::with_capacity(places) }
    }
}

impl Slots {
    pub(super) fn new(count: usize) -> Self {
        Self { keys: vec![0; count], ..Self::default() }
    }

    /// Gives places to contacts with these keys, which differ and are not more than places. Those
    /// that have one keep it; the others take the first that are free.
    pub(super) fn take(&self, contacts: &[u64], taken: &mut Taken) {
        let Taken { keys, of_contact } = taken;
        keys.clear();
        keys.resize(self.keys.len(), 0);
        of_contact.clear();
        for contact in contacts {
            let own = self.keys.iter().position(|key| key == contact);
            if let Some(place) = own {
                keys[place] = *contact;
            }
            of_contact.push(own.unwrap_or(usize::MAX));
        }
        let mut free = 0;
        for (contact, place) in contacts.iter().zip(of_contact) {
            if *place == usize::MAX {
                while keys.get(free).is_some_and(|key| *key != 0) {
                    free += 1;
                }
                if let Some(key) = keys.get_mut(free) {
                    (*key, *place) = (*contact, free);
                }
            }
        }
    }

    /// Keeps what a step found.
    pub(super) fn commit(&mut self, t: f64, found: &Found) {
        self.keys.copy_from_slice(&found.slots);
        self.depth.commit(t, found.deepest);
        if found.left_out > 0 {
            self.first_left_out.get_or_insert((t, found.left_out));
            self.steps += 1;
        }
        if let Some(lost) = found.lost {
            self.first_lost.get_or_insert((t, lost));
            self.steps_lost += 1;
        }
    }

    /// Warns of contacts that were left out, of deep ones, and of links without any.
    pub(super) fn report(&self, search: &Search, report: &mut Report) {
        self.depth.report(report);
        if let Some((t, lost)) = self.first_lost {
            let (link, depth) = (search.name(&lost), 1e3 * lost.depth);
            let message = format!("`{link}` is {depth:.3} mm in the ground: nothing pushes it out");
            let (name, steps) = (IN_THE_GROUND.to_string(), self.steps_lost);
            report.warnings.push(Warning { name, t, steps, message });
        }
        if let Some((t, count)) = self.first_left_out {
            let places = self.keys.len();
            let message = format!("{count} contacts more than the {places} places; see `contacts`");
            let (name, steps) = (CONTACTS_LEFT_OUT.to_string(), self.steps);
            report.warnings.push(Warning { name, t, steps, message });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contact_keeps_its_place_until_it_goes() {
        let mut slots = Slots::new(4);
        let mut taken = Taken::default();
        for (contacts, places) in [
            (vec![7, 9], vec![0, 1]),
            (vec![9], vec![1]),
            (vec![2, 7, 9], vec![0, 2, 1]),
            (vec![3, 7, 5, 9], vec![0, 2, 3, 1]),
            (vec![], vec![]),
            (vec![5], vec![0]),
        ] {
            slots.take(&contacts, &mut taken);
            assert_eq!(taken.of_contact, places, "{contacts:?}");
            let found = Found { slots: taken.keys.clone(), ..Found::default() };
            slots.commit(0.0, &found);
            assert_eq!(slots.keys.iter().filter(|key| **key != 0).count(), contacts.len());
        }
    }
}
