//! The response of a robot to contact forces: the assembly that all laws of contact share.

use legwork_block::{Fault, Outcome};
use legwork_contact::{ContactAssembly, ContactRows};
use legwork_mechanics::{ClosedChain, PackedFactor};

use crate::buses::{Constraints, ContactBus, ContactPoints, Dynamics};
use crate::constraints::closed_chain::{closed_chain, read_rows};
use crate::dynamics::applied_force::applied_force;

/// Forces and constraints on a robot beside its contacts.
pub(crate) struct Acting<'a> {
    pub(crate) dynamics: &'a Dynamics<'a>,
    pub(crate) tau: &'a [f64],
    pub(crate) external: Option<&'a [f64]>,
    pub(crate) constraints: Option<Constraints<'a>>,
}

/// The response of a robot to contact forces, `G = J M⁻¹ Jᵀ`, and its motion without them. With
/// constraints both are those of the closed mechanism.
pub(crate) struct Response {
    pub(crate) assembly: ContactAssembly,
    tree: PackedFactor,
    chain: ClosedChain,
    /// `C ν̇` of the motion without contact forces, or `C Δν` of an impact, nv.
    motion: Vec<f64>,
}

impl Response {
    /// Memory for `count` contacts and `constraints` of a robot with `nv` velocities.
    pub(crate) fn new(count: usize, constraints: usize, nv: usize) -> Self {
        Self {
            assembly: ContactAssembly::new(count, nv),
            tree: PackedFactor::new(nv),
            chain: closed_chain(constraints, nv, 3 * count),
            motion: vec![0.0; nv],
        }
    }

    /// Writes J and G of the contacts that act, and adds `J ν̇` of the motion without contact
    /// forces to b. False if a number is not finite.
    ///
    /// # Errors
    /// If the torques do not fit the robot, or M has no factor.
    pub(crate) fn respond_to_forces(
        &mut self,
        acting: &Acting<'_>,
        points: &ContactPoints<'_>,
        rows: &mut ContactRows<'_>,
    ) -> Result<bool, Box<Fault>> {
        let Self { assembly, tree, chain, motion } = self;
        stack_jacobian(points, rows);
        // z = C⁻ᵀ (Sᵀτ + external − h); a robot in the air needs none.
        let factor = acting.dynamics.factor_by(tree)?;
        if rows.active.iter().any(|active| *active != 0.0) {
            applied_force(acting.dynamics, acting.tau, acting.external, motion)?;
            factor.half_solve_in_place(motion);
            read_rows(chain, acting.constraints);
            chain.eliminate(factor);
        }
        Ok(assembly.respond(factor, motion, chain, rows))
    }

    /// Writes J and G of the contacts that act. Changes the velocity `nu` to what constraints leave
    /// of it by themselves, and b by `J Δν`. `packed` is the factor of M.
    ///
    /// # Errors
    /// If `packed` is no factor.
    pub(crate) fn respond_to_impulses(
        &mut self,
        (packed, constraints): (&[f64], Option<Constraints<'_>>),
        points: &ContactPoints<'_>,
        nu: &mut [f64],
        rows: &mut ContactRows<'_>,
    ) -> Outcome {
        let Self { assembly, tree, chain, motion } = self;
        stack_jacobian(points, rows);
        let factor = tree.read(packed).map_err(|error| Fault::new(error.to_string()))?;
        motion.fill(0.0);
        read_rows(chain, constraints);
        chain.hold_velocity(nu);
        chain.eliminate(factor);
        assembly.respond(factor, motion, chain, rows);
        Ok(())
    }

    /// Adds what `impulses` (3k) do to the velocity that [`Self::respond_to_impulses`] left.
    ///
    /// # Errors
    /// If `packed` is no factor.
    pub(crate) fn strike(&mut self, packed: &[f64], impulses: &[f64], nu: &mut [f64]) -> Outcome {
        let Self { assembly, tree, motion, .. } = self;
        let factor = tree.read(packed).map_err(|error| Fault::new(error.to_string()))?;
        assembly.add_forces(impulses, motion);
        factor.half_solve_transposed_in_place(motion);
        nu.iter_mut().zip(motion).for_each(|(nu, jump)| *nu += *jump);
        Ok(())
    }
}

/// The Jacobians of all contacts below one another, 3k × nv: zero in those that do not act, which
/// it is already in those that did not act before either, if that is known.
fn stack_jacobian(points: &ContactPoints<'_>, rows: &mut ContactRows<'_>) {
    let count = 3 * points.len();
    for (i, &active) in rows.active.iter().enumerate() {
        if active == 0.0 && rows.was_active.is_some_and(|was_active| was_active[i] == 0.0) {
            continue;
        }
        let own = rows.jacobian.chunks_exact_mut(count).filter_map(|column| {
            // Of known length, a copy is two instructions.
            column[3 * i..].first_chunk_mut::<3>()
        });
        if active == 0.0 {
            own.for_each(|to| *to = [0.0; 3]);
        } else {
            let columns = points.leaf(i, ContactBus::JACOBIAN).as_chunks().0;
            own.zip(columns).for_each(|(to, from)| *to = *from);
        }
    }
}
