//! Models with other masses than their files state.

use crate::inertia::Inertia;
use crate::model::{Model, ModelError};

impl Model {
    /// The same model with the masses and rotational inertias of its links times `factors`, one for
    /// each frame in the order of [`frames`](Self::frames): the shape and the centre of mass of each
    /// link stay, its density is another.
    ///
    /// # Errors
    /// [`ModelError::MassScale`] if there are not as many factors as frames, or one is not above
    /// zero and finite.
    pub fn with_mass_scale(mut self, factors: &[f64]) -> Result<Self, ModelError> {
        if factors.len() != self.frames.len() {
            let (links, found) = (self.frames.len(), factors.len());
            let problem = format!("expected {links} factors, one for each link, found {found}");
            return Err(ModelError::MassScale { problem });
        }
        if let Some(wrong) = factors.iter().find(|factor| !(**factor > 0.0 && factor.is_finite())) {
            let problem = format!("expected a factor above zero, found {wrong}");
            return Err(ModelError::MassScale { problem });
        }
        // Bodies none of whose links change keep their inertia to the last digit.
        let mut changed = vec![None; self.bodies.len()];
        for (frame, factor) in self.frames.iter().zip(factors) {
            if *factor != 1.0 {
                changed[frame.body.0] = Some(Inertia::zero());
            }
        }
        for ((frame, link), factor) in self.frames.iter().zip(&self.links).zip(factors) {
            if let Some(sum) = &mut changed[frame.body.0] {
                let own = link.inertia.transformed(&frame.body_from_frame).scaled(*factor);
                *sum = sum.merged(&own);
            }
        }
        for (link, factor) in self.links.iter_mut().zip(factors) {
            if *factor != 1.0 {
                link.inertia = link.inertia.scaled(*factor);
            }
        }
        for (body, changed) in self.bodies.iter_mut().zip(changed) {
            body.inertia = changed.unwrap_or(body.inertia);
        }
        self.add_up_masses();
        self.lay_out_pattern();
        Ok(self)
    }
}
