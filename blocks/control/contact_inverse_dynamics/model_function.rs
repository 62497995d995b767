//! The function that solves the problem of a model.

use legwork_block::{Call, Dim, Function, Ports};
use legwork_control::{ContactModel, ModelProblem};
use legwork_mechanics::pack_identity;
use legwork_qp::{ConeProgram, ConeShape};

use crate::buses::ContactProblemBus;
use crate::solvers::called::{Called, ContactFunction, LcpFunction, ProgramFunction, Verdict};

/// What a model's problem is given to.
pub(super) enum ModelFunction {
    Contact(ContactFunction, Verdict),
    Complementarity(LcpFunction),
    Quadratic {
        program: ProgramFunction,
        /// Facets of a contact.
        sides: usize,
    },
}

impl ModelFunction {
    /// Declares the optional function of `model`; one that solves nothing has none.
    pub(super) fn declare(
        ports: &mut Ports<'_>,
        model: ContactModel,
        cone: &ConeShape,
        count: &Dim,
        nv: &Dim,
    ) -> Option<(Function, Self)> {
        if model == ContactModel::Sensed {
            return None;
        }
        let solve = ports.optional_function("solve");
        let function = match model {
            ContactModel::CoulombLcp | ContactModel::Sensed => {
                let bus = ContactProblemBus::new(count, nv, ContactProblemBus::cone(true));
                let function = ContactFunction::declare(ports, solve, &bus, count);
                Self::Contact(function, Verdict::declare(ports, solve))
            }
            ContactModel::NoSlipLcp => {
                Self::Complementarity(LcpFunction::declare(ports, solve, count))
            }
            ContactModel::CoulombQp { .. } | ContactModel::NoSlipQp { .. } => {
                let rows = (cone.sides() + 1) * count.clone();
                let sizes = (&(3 * count.clone()), &rows);
                let program = ProgramFunction::declare(ports, solve, sizes, None);
                Self::Quadratic { program, sides: cone.sides() }
            }
        };
        Some((solve, function))
    }

    /// Solves a problem of the contacts with these numbers; each keeps its place among all, so that
    /// a solver finds its contacts where they were in the last step.
    #[expect(clippy::unreachable, reason = "the model's constructor chose both")]
    pub(super) fn solve(
        &self,
        call: &mut Call<'_>,
        problem: &ModelProblem<'_>,
        contacts: &[usize],
        x: &mut [f64],
    ) -> Called {
        let at = |i: usize| contacts[i];
        let of_force = |j: usize| 3 * contacts[j / 3] + j % 3;
        match (self, problem) {
            (Self::Contact(function, verdict), ModelProblem::Contact { problem, root }) => {
                function.write(call, problem, at);
                write_root(call, function, (root, problem.dim()), of_force);
                Ok(verdict.read(&function.run(call, at, x)?))
            }
            (Self::Complementarity(function), ModelProblem::Complementarity(lcp)) => {
                function.solve(call, lcp, at, x)
            }
            (Self::Quadratic { program, sides }, ModelProblem::Quadratic(qp)) => {
                // Facets of all contacts, then their normals.
                let (own, all) = (sides * contacts.len(), program.row_count(call) / (sides + 1));
                let row = |i: usize| {
                    if i < own {
                        sides * at(i / sides) + i % sides
                    } else {
                        sides * all + at(i - own)
                    }
                };
                program.solve(call, &ConeProgram::from(*qp), of_force, row, x)
            }
            _ => unreachable!("a model poses one kind of problem"),
        }
    }
}

/// Writes J and a factor of M with `G = J M⁻¹ Jᵀ` of the reduced problem, for solvers that take G
/// apart: `Wᵀ`, whose `rows` are those of the contacts that count, and the identity.
fn write_root(
    call: &mut Call<'_>,
    function: &ContactFunction,
    (root, rows): (&[f64], usize),
    row_at: impl Fn(usize) -> usize,
) {
    let [bias, jacobian, factor] = call.leaves(
        function.problem,
        [ContactProblemBus::BIAS, ContactProblemBus::JACOBIAN, ContactProblemBus::FACTOR],
    );
    let all = bias.len();
    pack_identity(jacobian.len() / all.max(1), factor);
    jacobian.fill(0.0);
    for (row, column) in root.chunks_exact(root.len() / rows).enumerate() {
        for (j, value) in column.iter().enumerate() {
            jacobian[j * all + row_at(row)] = *value;
        }
    }
}
