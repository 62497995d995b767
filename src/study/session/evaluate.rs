//! Conditions and expressions on the signals of a session.

use legwork_program::{Check, TIME_SLOT};
use legwork_runtime::Simulation;

use super::value::Value;
use super::{Session, probe};
use crate::error::Error;

/// A condition on signals, as in `checks:`; [`Session::condition`] makes it.
#[derive(Clone)]
pub struct Condition(Check);

impl std::fmt::Debug for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Condition").field(&self.0.text).finish()
    }
}

impl Condition {
    /// Whether it holds with the signals as they are.
    pub fn holds(&self, simulation: &Simulation) -> bool {
        self.0.holds(simulation.arena(), simulation.time())
    }
}

/// What an expression stands for.
#[derive(Debug, Clone, PartialEq)]
pub enum Evaluated {
    /// A signal, or a part of one.
    Signal(Value),
    /// Whether a condition holds.
    Truth(bool),
    /// A number, with its unit if it is known.
    Number(f64, Option<String>),
}

impl Session {
    /// A condition on signals, parameters and the time, such as `pd.tau[0] > 20`.
    ///
    /// # Errors
    /// If it is none.
    pub fn condition(&self, text: &str) -> Result<Condition, Error> {
        probe::condition(text, &self.diagram, self.program()).map(Condition)
    }

    /// A signal, a condition or a number as it is now. The run is not touched.
    ///
    /// # Errors
    /// If it is none of them.
    pub fn evaluate(&mut self, text: &str) -> Result<Evaluated, Error> {
        if let Ok(value) = self.read(text) {
            return Ok(Evaluated::Signal(value));
        }
        let error = match self.condition(text) {
            Ok(condition) => return Ok(Evaluated::Truth(condition.holds(self.simulation()))),
            Err(error) => error,
        };
        // What is no condition is compared with zero; what is compared is the number.
        let Ok(Condition(check)) = self.condition(&format!("({text}) >= 0")) else {
            return Err(error);
        };
        let (arena, t) = (self.simulation().arena(), self.simulation().time());
        let judged = check.condition.judge(|slot| if slot == TIME_SLOT { t } else { arena[slot] });
        let comparison = judged.decisive.ok_or(error)?;
        let compared = check.condition.measured(&comparison, 0.0);
        let unit = compared.unit.map(|unit| unit.as_written().to_string());
        // Which of both sides is the zero depends on where signals are.
        let number = if compared.bound == 0.0 { compared.measured } else { compared.bound };
        Ok(Evaluated::Number(number, unit))
    }
}
