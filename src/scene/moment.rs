//! What changes from step to step.

use serde::{Deserialize, Serialize};

use crate::contacts::{Contact, Plane};
use crate::shapes::Pose;

/// Where everything is at one instant.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// Simulated time [s].
    pub t: f64,
    /// `world_from_link`, by robot and link as in [`Scene`](crate::Scene).
    pub links: Vec<Vec<Pose>>,
    /// Centre of mass of each robot [m].
    pub centers: Vec<[f64; 3]>,
    /// Contacts, those that do not touch included.
    pub contacts: Vec<Contact>,
}

/// How far planes of contacts may be apart and still be one [m, 1].
const SAME_PLANE: f64 = 1e-9;

impl Moment {
    /// The plane that all contacts are with, if it is one and there are contacts.
    pub fn ground(&self) -> Option<Plane> {
        let mut planes = self.contacts.iter().map(Contact::plane);
        let first = planes.next()?;
        planes.all(|plane| plane.is_near(&first, SAME_PLANE)).then_some(first)
    }
}
