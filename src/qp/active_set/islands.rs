//! Islands of contacts: sets that the matrix of a contact problem does not couple.

use crate::contact_problem::ContactProblem;

/// The islands of a problem.
///
/// Contacts i and j are coupled if their block of G is not zero. Bodies that touch nothing but the
/// ground, as in a world of several robots, are islands of their own: each is a smaller problem.
#[derive(Clone, Debug, Default)]
pub(super) struct Islands {
    /// Contacts that act, island by island, ascending in each.
    contacts: Vec<usize>,
    /// Where each island ends in them.
    ends: Vec<usize>,
    /// Contacts that have no island yet.
    rest: Vec<usize>,
    /// Zero where a contact's columns of G are.
    bits: Vec<u64>,
}

impl Islands {
    /// Makes room for `contact_count` contacts; allocates only if that is more than before.
    pub(super) fn reserve(&mut self, contact_count: usize) {
        for list in [&mut self.contacts, &mut self.ends, &mut self.rest] {
            list.clear();
            list.reserve(contact_count);
        }
        self.bits.clear();
        self.bits.reserve(3 * contact_count);
    }

    /// Finds the islands, in the order of their first contacts. O(9k²), O(9k) if there is but one.
    pub(super) fn find(&mut self, problem: &ContactProblem<'_>) {
        self.reserve(problem.contact_count());
        self.rest.extend((0..problem.contact_count()).filter(|&c| problem.is_active(c)));
        let n = problem.dim();
        while let Some(&first) = self.rest.first() {
            let (start, mut at) = (self.contacts.len(), self.contacts.len());
            self.contacts.push(first);
            self.rest.remove(0);
            // Whoever is coupled to a contact of the island joins it.
            while at < self.contacts.len() && !self.rest.is_empty() {
                // The bits of three columns together, but their signs; NaN counts as coupled.
                let member = self.contacts[at];
                let columns = &problem.inverse_inertia[3 * member * n..(3 * member + 3) * n];
                let (x, rest) = columns.split_at(n);
                let (y, z) = rest.split_at(n);
                let bits = x
                    .iter()
                    .zip(y)
                    .zip(z)
                    .map(|((x, y), z)| (x.to_bits() | y.to_bits() | z.to_bits()) << 1);
                self.bits.clear();
                self.bits.extend(bits);
                let (bits, contacts) = (&self.bits, &mut self.contacts);
                self.rest.retain(|&other| {
                    let joins = bits[3 * other..3 * other + 3].iter().any(|bits| *bits != 0);
                    if joins {
                        contacts.push(other);
                    }
                    !joins
                });
                at += 1;
            }
            self.contacts[start..].sort_unstable();
            self.ends.push(self.contacts.len());
        }
    }

    /// Number of islands.
    pub(super) fn count(&self) -> usize {
        self.ends.len()
    }

    /// Contacts of an island.
    pub(super) fn members(&self, island: usize) -> &[usize] {
        let start = if island == 0 { 0 } else { self.ends[island - 1] };
        &self.contacts[start..self.ends[island]]
    }
}
