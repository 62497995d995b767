//! Which model of contact, which energy and which solution: what the parameters name.

use legwork_block::parameters;
use legwork_control as control;

/// How contact forces come about.
#[parameters]
#[derive(Copy, PartialEq, Eq)]
pub enum Model {
    /// Complementarity, no slip.
    NoSlipLcp,
    /// Complementarity, Coulomb's law.
    CoulombLcp,
    /// Least kinetic energy with Coulomb friction.
    CoulombQp {
        /// `One`: least energy. `Two`: then least torque.
        #[default]
        stages: Stages,
    },
    /// Least kinetic energy with friction without limit.
    NoSlipQp {
        /// `One`: least energy. `Two`: then least torque.
        #[default]
        stages: Stages,
    },
    /// Forces as they were measured.
    Sensed,
}

impl Default for Model {
    fn default() -> Self {
        Self::CoulombQp { stages: Stages::Two }
    }
}

impl From<Model> for control::ContactModel {
    fn from(model: Model) -> Self {
        match model {
            Model::NoSlipLcp => Self::NoSlipLcp,
            Model::CoulombLcp => Self::CoulombLcp,
            Model::CoulombQp { stages } => Self::CoulombQp(stages.into()),
            Model::NoSlipQp { stages } => Self::NoSlipQp(stages.into()),
            Model::Sensed => Self::Sensed,
        }
    }
}

/// What to do when contact forces are not found.
#[parameters]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum OnContactFail {
    /// Torques of a robot in the air: no contact force is expected. Zero torques if numbers are not
    /// finite.
    #[default]
    NoForces,
    /// Repeat the last torques and forces that were found, at most this many steps in a row; then
    /// stop.
    HoldLast {
        /// Most steps in a row [1].
        max: u32,
    },
    /// Stop the run with a fault.
    Stop,
}

/// How many problems a model of least kinetic energy solves.
#[parameters]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum Stages {
    /// Least energy; among equal ones the least contact force.
    One,
    /// Then least torque.
    #[default]
    Two,
}

impl From<Stages> for control::Stages {
    fn from(stages: Stages) -> Self {
        match stages {
            Stages::One => Self::One,
            Stages::Two => Self::Two,
        }
    }
}

/// Which kinetic energy is to be least.
#[parameters]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum Energy {
    /// That of all motion, as the paper has it.
    #[default]
    Absolute,
    /// That against the motion of the coordinates without motor at which contacts would stick.
    Relative,
}

impl From<Energy> for control::Energy {
    fn from(energy: Energy) -> Self {
        match energy {
            Energy::Absolute => Self::Absolute,
            Energy::Relative => Self::Relative,
        }
    }
}

/// Which solution of Coulomb's law is taken.
#[parameters]
#[derive(Copy, Default, PartialEq, Eq)]
pub enum Choice {
    /// The one that Lemke's method ends at.
    #[default]
    Lemke,
    /// Of all the one with least change of torques since the last step, at first with least
    /// torques; with more than three contacts Lemke's.
    LeastChange,
}

impl From<Choice> for control::Choice {
    fn from(choice: Choice) -> Self {
        match choice {
            Choice::Lemke => Self::Lemke,
            Choice::LeastChange => Self::LeastChange,
        }
    }
}
