//! Explicit Runge-Kutta methods with a fixed step: their table, and one step of any of them.
//!
//! A new method is one entry of [`METHODS`]. Its name is a solver of `run.solver` from then on; the
//! tests of the table and of the orders go over all entries.

use std::fmt;

use legwork_linalg::axpy;
use serde::{Deserialize, Serialize};

use crate::{Failure, Flow};

/// A method: its name and its Butcher tableau.
#[derive(Debug)]
pub struct Tableau {
    /// Name as a solver.
    pub name: &'static str,
    /// What people may look for: one line.
    pub doc: &'static str,
    /// Names in other tools.
    pub aliases: &'static [&'static str],
    /// Order of the error in the step; as many as there are stages, so that one step of `ẋ = λ x`
    /// is the exponential series up to that power of h λ.
    pub order: u32,
    /// `cᵢ` of stages 2, 3, …
    pub nodes: &'static [f64],
    /// `aᵢⱼ` of stages 2, 3, …, one row a stage: its factors of the rates before it.
    pub stages: &'static [&'static [f64]],
    /// `bᵢ`.
    pub weights: &'static [f64],
}

/// All explicit methods with a fixed step.
pub static METHODS: &[Tableau] = &[
    Tableau {
        name: "Euler",
        doc: "x⁺ = x + h f(x)",
        aliases: &["ode1"],
        order: 1,
        nodes: &[],
        stages: &[],
        weights: &[1.0],
    },
    Tableau {
        name: "Heun",
        doc: "the explicit trapezoidal rule",
        aliases: &["ode2"],
        order: 2,
        nodes: &[1.0],
        stages: &[&[1.0]],
        weights: &[0.5, 0.5],
    },
    Tableau {
        name: "Rk4",
        doc: "the classical Runge-Kutta method",
        aliases: &["ode4"],
        order: 4,
        nodes: &[0.5, 0.5, 1.0],
        stages: &[&[0.5], &[0.0, 0.5], &[0.0, 0.0, 1.0]],
        weights: &[1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0],
    },
];

/// An entry of [`METHODS`].
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Method(u8);

impl Method {
    /// All methods, in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..METHODS.len() as u8).map(Self)
    }

    /// The method called `name`.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|method| method.tableau().name == name)
    }

    /// Its entry.
    pub fn tableau(self) -> &'static Tableau {
        &METHODS[self.0 as usize]
    }
}

impl fmt::Debug for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.tableau().name)
    }
}

/// A method with its work memory.
#[derive(Debug)]
pub struct ExplicitStep {
    tableau: &'static Tableau,
    u: Vec<f64>,
    sum: Vec<f64>,
    /// Rates of the stages so far, one after the other.
    rates: Vec<f64>,
}

impl ExplicitStep {
    /// The method for n coordinates.
    pub fn new(method: Method, n: usize) -> Self {
        let tableau = method.tableau();
        let stages = tableau.weights.len();
        Self { tableau, u: vec![0.0; n], sum: vec![0.0; n], rates: vec![0.0; n * stages] }
    }

    /// One step of length `h` [s] from u = 0 at time 0, where the rate is `first`; gives u at its
    /// end.
    ///
    /// # Errors
    /// The failure of a stage.
    ///
    /// # Panics
    /// If `first` does not have n numbers.
    pub fn step<F: Flow>(
        &mut self,
        flow: &mut F,
        h: f64,
        first: &[f64],
    ) -> Result<&[f64], Failure<F::Error>> {
        let Self { tableau, u, sum, rates } = self;
        let n = u.len();
        rates[..n].copy_from_slice(first);
        for (s, k) in sum.iter_mut().zip(first) {
            *s = tableau.weights[0] * k;
        }
        let stages = tableau.nodes.iter().zip(tableau.stages).zip(&tableau.weights[1..]);
        for (i, ((&node, &row), &weight)) in stages.enumerate() {
            let (before, rest) = rates.split_at_mut((i + 1) * n);
            let mut terms = row.iter().enumerate().filter(|(_, a)| **a != 0.0);
            // The first term is not added to zero: that would lose the sign of a zero.
            if let Some((j, a)) = terms.next() {
                for (d, k) in u.iter_mut().zip(&before[j * n..]) {
                    *d = h * a * k;
                }
            }
            for (j, a) in terms {
                axpy(h * a, &before[j * n..], u);
            }
            let rate = &mut rest[..n];
            flow.rate(node * h, u, rate).map_err(Failure::Flow)?;
            axpy(weight, rate, sum);
        }
        for (d, s) in u.iter_mut().zip(&*sum) {
            *d = h * s;
        }
        Ok(u)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The conditions of order up to four (Hairer, Nørsett, Wanner I, table II.2.1), and rows that
    /// sum to their node.
    #[test]
    fn every_method_meets_the_conditions_of_its_order() {
        for method in Method::all() {
            let Tableau { name, order, nodes, stages, weights, .. } = method.tableau();
            let s = weights.len();
            assert_eq!((*order as usize, nodes.len(), stages.len()), (s, s - 1, s - 1), "{name}");
            let c: Vec<f64> = std::iter::once(0.0).chain(nodes.iter().copied()).collect();
            let a = |i: usize, j: usize| {
                if i == 0 { 0.0 } else { stages[i - 1].get(j).copied().unwrap_or(0.0) }
            };
            for (i, row) in stages.iter().enumerate() {
                assert!(row.len() <= i + 1, "{name}: stage {} is explicit", i + 2);
                assert!((row.iter().sum::<f64>() - nodes[i]).abs() < 1e-15, "{name}: row {i}");
            }
            let over = |f: &dyn Fn(usize) -> f64| (0..s).map(|i| weights[i] * f(i)).sum::<f64>();
            let inner =
                |f: &dyn Fn(usize) -> f64, i: usize| (0..s).map(|j| a(i, j) * f(j)).sum::<f64>();
            let nested = |i: usize| inner(&|j| inner(&|k| c[k], j), i);
            let conditions = [
                (1, over(&|_| 1.0), 1.0),
                (2, over(&|i| c[i]), 1.0 / 2.0),
                (3, over(&|i| c[i] * c[i]), 1.0 / 3.0),
                (3, over(&|i| inner(&|j| c[j], i)), 1.0 / 6.0),
                (4, over(&|i| c[i].powi(3)), 1.0 / 4.0),
                (4, over(&|i| c[i] * inner(&|j| c[j], i)), 1.0 / 8.0),
                (4, over(&|i| inner(&|j| c[j] * c[j], i)), 1.0 / 12.0),
                (4, over(&nested), 1.0 / 24.0),
            ];
            for (condition, found, expected) in conditions {
                let holds = (found - expected).abs() < 1e-15;
                assert!(holds || condition > *order, "{name}: order {condition}, {found}");
            }
            assert!(*order <= 4, "{name}: the conditions above end with order 4");
        }
    }

    #[test]
    fn names_are_unique_and_lead_to_their_method() {
        for method in Method::all() {
            assert_eq!(Method::named(method.tableau().name), Some(method));
        }
        assert_eq!(Method::named("RK4"), None);
    }
}
