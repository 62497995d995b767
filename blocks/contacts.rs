//! The list of contact blocks, their bus types and masks.

use legwork_block::Registry;

use crate::accelerated_gradient::AcceleratedGradient;
use crate::active_set_qp::ActiveSetQp;
use crate::buses::NAMED_TYPES;
use crate::clarabel_qp::ClarabelQp;
use crate::compliant_contact::CompliantContact;
use crate::cone_program::ConeProgram;
use crate::constraint_solver::ConstraintSolver;
use crate::contact_forces::ContactForces;
use crate::contact_metrics::ContactMetrics;
use crate::contact_patch::ContactPatch;
use crate::contact_point::ContactPoint;
use crate::coulomb_contact::CoulombContact;
use crate::free_bodies::FreeBodies;
use crate::gauss_contact::GaussContact;
use crate::gear_constraint::GearConstraint;
use crate::impact::Impact;
use crate::implicit_contact::ImplicitContact;
use crate::joint_limits::JointLimits;
use crate::lcp::Lcp;
use crate::lemke::Lemke;
use crate::loop_constraint::LoopConstraint;
use crate::principal_pivoting::PrincipalPivoting;
use crate::projected_gauss_seidel::ProjectedGaussSeidel;
use crate::qp::Qp;
use crate::stewart_trinkle::StewartTrinkle;
use crate::user_constraint::UserConstraint;

/// Adds contact blocks, solver blocks, named types and masks.
pub(crate) fn register_contacts(r: &mut Registry) {
    r.block::<ContactPoint>("ContactPoint(robot: \"go\", frame: \"FL_foot\")");
    r.block::<ContactPatch>(
        "ContactPatch(robot: \"go\", frame: \"FL_foot\", shape: Circle(radius: \"2 cm\"))",
    );
    r.block::<JointLimits>("JointLimits(robot: \"go\")");
    r.block::<GaussContact>("GaussContact(mu: 0.7)");
    r.block::<CompliantContact>("CompliantContact(mu: 0.7)");
    r.block::<ImplicitContact>("ImplicitContact(robot: \"go\", law: (mu: 0.7))");
    r.block::<Impact>("Impact(mu: 0.7)");
    r.block::<ContactForces>("ContactForces()");
    r.block::<LoopConstraint>(
        "LoopConstraint(robot: \"go\", frames: [\"FL_foot\", \"FR_foot\"], kind: Point)",
    );
    r.block::<GearConstraint>(
        "GearConstraint(robot: \"go\", joints: [\"FL_knee_joint\", \"FR_knee_joint\"], ratio: -1)",
    );
    r.block::<UserConstraint>("UserConstraint(robot: \"go\")");
    r.block::<ConstraintSolver>(
        "ConstraintSolver(robot: \"go\", contact: Spring(stiffness: \"1e6 N/m\"), mu: 0.7)",
    );
    r.block::<FreeBodies>(
        "FreeBodies(bodies: [Spheres(radius: \"10 cm\", mass: \"1 kg\", at: Lattice(count: 10))], \
         contact: Constraints(spring: Hertz(modulus: \"100 GPa\")))",
    );
    r.block::<ContactMetrics>("ContactMetrics(mu: 0.7, settle: \"0.3 s\")");

    r.block::<ActiveSetQp>("ActiveSetQp(on_fail: HoldLast(max: 5))");
    r.block::<ClarabelQp>("ClarabelQp(tol: 1e-10)");
    r.block::<ProjectedGaussSeidel>("ProjectedGaussSeidel(sweeps: 50)");
    r.block::<AcceleratedGradient>("AcceleratedGradient(steps: 500)");
    r.block::<PrincipalPivoting>("PrincipalPivoting(on_fail: HoldLast(max: 5))");
    r.block::<Lemke>("Lemke(on_fail: HoldLast(max: 5))");
    r.block::<StewartTrinkle>("StewartTrinkle(on_fail: HoldLast(max: 5))");
    #[cfg(feature = "osqp")]
    r.block::<crate::osqp::Osqp>("Osqp(tol: 1e-6)");
    #[cfg(not(feature = "osqp"))]
    r.absent_block(
        "Osqp",
        "build Legwork with the cargo feature `osqp` (`cargo build --features osqp`), which needs \
         cmake and a C compiler, or take ActiveSetQp or ClarabelQp",
    );
    r.block::<CoulombContact>("CoulombContact(passes: 50, tol: 1e-8)");
    r.block::<Qp>("Qp(on_fail: HoldLast(max: 5))");
    r.block::<ConeProgram>("ConeProgram(cones: [3, 3])");
    r.block::<Lcp>("Lcp(method: PrincipalPivoting)");

    for named in NAMED_TYPES {
        r.named_type(named);
    }
    r.file("masks/acceleration_contact.ron", include_bytes!("masks/acceleration_contact.ron"));
    r.file("masks/compliant_contact.ron", include_bytes!("masks/compliant_contact.ron"));
    r.file("masks/robot_with_contacts.ron", include_bytes!("masks/robot_with_contacts.ron"));
    r.file("masks/velocity_contact.ron", include_bytes!("masks/velocity_contact.ron"));
    r.file("masks/gauss_contact.ron", include_bytes!("masks/gauss_contact.ron"));
    r.file("masks/hertz_contact.ron", include_bytes!("masks/hertz_contact.ron"));
    r.file("masks/hunt_crossley_contact.ron", include_bytes!("masks/hunt_crossley_contact.ron"));
    r.file("masks/linear_contact.ron", include_bytes!("masks/linear_contact.ron"));
    r.file("masks/implicit_contact.ron", include_bytes!("masks/implicit_contact.ron"));
    r.file("masks/impact_contact.ron", include_bytes!("masks/impact_contact.ron"));
}
