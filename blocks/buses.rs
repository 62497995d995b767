//! The buses of the library: what robots, contacts and solvers exchange. They are in one file
//! because a reader of one needs the fields of the others beside it.

use legwork_block::{
    Arg, Array, Bool, Dim, Fault, Int, Items, Matrix, NamedType, Outcome, Ports, Real, Rotation,
    Signal, TypeMaker, Vector, bus_type,
};

use legwork_mechanics::{MassFactorRef, PackedFactor};

use crate::robot::model::RobotModel;
use crate::robot::passive_forces::added_inertia;

mod constraints;
mod gait;
mod kin_dyn;
mod state;

pub use constraints::{CONSTRAINT_ROWS, Constraint, ConstraintBus, Constraints, ConstraintsBus};
pub use gait::{GaitBus, GaitRef};
pub use kin_dyn::{KinDynBus, KinDynRef};
pub use state::{RobotDims, State, StateBus};

/// `Dynamics(robot)`: the terms of `M ν̇ + h = Sᵀτ + Jᵀf − p` at one state.
///
/// What the joints do by themselves enters here once, damping, dry friction and springs:
/// `p = d ν + k (s − r)`. `factor` is that of `M + Δt d + ¼ Δt² k` where a step is known to end at
/// `ν + Δt ν̇` ([`Mass`](crate::robot::Mass)), and whoever asks for forces subtracts p. `M` and `h`
/// know nothing of it.
#[bus_type(
    |robot: Arg, nv: &Dim|
    as Dynamics;
    nu: Vector::of(nv), _, "velocity, handed on from the state", units "m/s, rad/s";
    mass_matrix("M"): Matrix::of(nv, nv), _,
        "joint-space inertia, reflected rotor inertia included", units "kg, kg m, kg m²";
    bias_force("h"): Vector::of(nv), _, "bias force: Coriolis, centrifugal and gravity",
        units "N, N m";
    factor: Matrix::of(nv, nv.clone() + 1), _,
        "the factor of M + Δt d + ¼ Δt² k with its sparsity, for blocks: see [`PackedFactor`]",
        shape "nv × (nv+1)";
    joints: Vector::of(nv), _, "1 at joints, on which torques act in their order; 0 at bases",
        units "1";
    passive_force: Vector::of(nv), _,
        "p: damping, dry friction and springs of the joints, `d ν + k (s − r)`", units "N m, N";
    damping: Vector::of(nv), _, "d: damping and dry friction of the joints at this speed",
        units "N m s, N s/m";
    stiffness: Vector::of(nv), _, "k: that of the springs of the joints", units "N m, N/m";
)]
pub struct DynamicsBus;

impl Dynamics<'_> {
    /// Adds `Sᵀτ`: the torques at the coordinates of joints.
    ///
    /// # Errors
    /// If there are more or fewer torques than joints.
    pub fn add_torques(&self, tau: &[f64], force: &mut [f64]) -> Outcome {
        let mut tau = tau.iter();
        let mut missing = false;
        for (force, _) in force.iter_mut().zip(self.joints).filter(|(_, joint)| **joint != 0.0) {
            match tau.next() {
                Some(tau) => *force += tau,
                None => missing = true,
            }
        }
        if !missing && tau.next().is_none() {
            return Ok(());
        }
        Err(Fault::new("expected one torque for each joint of the robot"))
    }

    /// What damping and springs of coordinate `k` add to its inertia in a step of this length [kg
    /// m², kg].
    pub(crate) fn added_inertia(&self, k: usize, step: f64) -> f64 {
        added_inertia(self.damping[k], self.stiffness[k], step)
    }

    /// Whether any joint has damping, friction or a spring.
    pub(crate) fn has_passive_forces(&self) -> bool {
        self.damping.iter().chain(self.stiffness).any(|value| *value != 0.0)
    }

    /// The factor of M, which answers `M⁻¹ x`; `tree` is kept from step to step.
    ///
    /// # Errors
    /// If it is none.
    pub fn factor_by<'b>(
        &'b self,
        tree: &'b mut PackedFactor,
    ) -> Result<MassFactorRef<'b>, Box<Fault>> {
        tree.read(self.factor).map_err(|error| Fault::new(error.to_string()))
    }

    /// Mass of all robots and bodies that float [kg]; 0 if none does. The linear block of a base in
    /// M is the mass that it carries times the identity.
    pub fn floating_mass(&self) -> f64 {
        let nv = self.joints.len();
        let bases = (0..nv).filter(|&i| self.joints[i] == 0.0);
        bases.step_by(6).map(|i| self.mass_matrix[i * nv + i]).sum()
    }
}

impl DynamicsBus {
    /// The dynamics of the robot `robot`.
    pub fn of(ports: &Ports<'_>, robot: &str) -> Self {
        Self::new(Arg::Name(robot.to_owned()), &RobotDims::of(ports, robot).nv)
    }
}

/// `Contact`: one point where a robot can touch the ground or another body.
///
/// The contact frame has its axes (t₁, t₂, n) at the point, n out of what is touched; on level
/// ground they are the world's x, y, z. Rows of the Jacobian, velocities and forces of a contact
/// are in these axes. Velocity and acceleration are relative: those of the robot's matter at the
/// point against the matter that it touches. If that belongs to a body of the same world,
/// `velocity = J ν` with a Jacobian that is a difference; if it is ground whose motion is
/// prescribed, `velocity = J ν − v_ground`, and `jacobian_dot_nu` has the ground's acceleration in
/// it.
#[bus_type(
    |nv: &Dim|
    as Contact;
    position: Vector::of(3), "m", "the point that is nearest to what is touched", frame "world";
    axes: Rotation, _, "world_from_contact: columns t₁, t₂, n", units "1";
    gap: Real, "m", "distance to the ground, negative inside";
    velocity: Vector::of(3), "m/s", "relative velocity at the point; [2] is the gap's rate",
        frame "contact";
    jacobian: Matrix::of(3, nv), _, "`velocity = jacobian ν − v_ground`", frame "contact";
    jacobian_dot_nu: Vector::of(3), "m/s^2", "rate of `velocity` at ν̇ = 0", frame "contact";
    friction: Real, "1", "μ of this pair of surfaces; −1 leaves it to the contact model";
    restitution: Real, "1",
        "e of this pair: it parts at e times the speed at which it met; 0 is inelastic";
    row: Bool, _,
        "no surfaces meet here: the end of a joint's range, or a constraint of the diagram; gap, \
         velocity and force are in units of its own";
)]
pub struct ContactBus;

impl ContactBus {
    /// The `friction` of a contact that has none of its own.
    pub const NO_FRICTION: f64 = -1.0;
}

impl Contact<'_> {
    /// μ of this pair of surfaces, if it has one of its own.
    pub fn own_friction(&self) -> Option<f64> {
        Some(self.friction).filter(|&mu| mu >= 0.0)
    }
}

/// Fails if a contact has restitution, for models of contact that have none of it.
///
/// # Errors
/// If one has.
pub(crate) fn refuse_restitution(points: &ContactPoints<'_>, instead: &str) -> Outcome {
    match points.iter().position(|contact| contact.restitution > 0.0) {
        None => Ok(()),
        Some(i) => Err(Fault::new(format!(
            "contact {i} has a restitution, which is for `GaussContact` and `Impact`: {instead}"
        ))),
    }
}

/// `ContactPoints`: any number of contacts.
pub type ContactPointsBus = Array<ContactBus>;

/// Contacts, read.
pub type ContactPoints<'a> = Items<'a, ContactBus>;

/// The type `ContactPoints` of `count` contacts of a robot with `nv` velocities.
pub fn contact_points(count: &Dim, nv: &Dim) -> ContactPointsBus {
    ContactPointsBus::of(&ContactBus::new(nv), count)
}

/// `ContactProblem(cone)`: what every contact solver is given, for k contacts:
/// `min ½ fᵀ(G + R)f + bᵀf` over forces in the friction cones, or with `coulomb` the fixed point of
/// this with `b_n + μ |a_t|` in the place of `b_n`, which is Coulomb's law.
///
/// The argument `cone` is the kind of the cones, `pyramid` or `circular`. The block that assembles
/// the problem sets it; every solver block takes both. Diagrams write the bus without the argument:
/// inference finds it.
#[bus_type(
    |count: &Dim, nv: &Dim, cone: Arg|
    let rows = 3 * count.clone();
    inverse_inertia: Matrix::of(&rows, &rows), "1/kg", "`G = J M⁻¹ Jᵀ`", shape "3k × 3k";
    bias: Vector::of(&rows), "m/s^2", "`b`: contact acceleration wanted away by the forces",
        shape "3k", frame "contact";
    friction: Vector::of(count), "1", "Coulomb friction μ", shape "k";
    active: Vector::of(count), "1", "1 where a force may act, else 0", shape "k";
    compliance: Vector::of(&rows), _, "diagonal of `R`, declared regularisation included",
        shape "3k", units "1/kg";
    gap: Vector::of(count), "m", "distance to the ground", shape "k";
    force_scale: Real, "N", "a typical force";
    sides: Int, _, "sides of the friction pyramid; 0 for the circular cone";
    is_inscribed("inscribed"): Bool, _,
        "whether the pyramid's edges lie on the cone, else its facets touch it";
    jacobian: Matrix::of(&rows, nv), _, "`J`, contacts below one another", shape "3k × nv",
        frame "contact";
    factor: Matrix::of(nv, nv.clone() + 1), _,
        "that of `Dynamics`, for solvers that never form G", shape "nv × (nv+1)";
    is_coulomb("coulomb"): Bool, _,
        "whether a contact that slides keeps to the ground; else it lifts off at μ times its speed";
)]
pub struct ContactProblemBus;

impl ContactProblemBus {
    /// The argument for pyramids, or for circular cones.
    pub fn cone(is_pyramid: bool) -> Arg {
        Arg::Name(if is_pyramid { "pyramid" } else { "circular" }.to_owned())
    }
}

/// The types that diagrams may name.
pub const NAMED_TYPES: [NamedType; 9] = [
    NamedType {
        name: "State",
        max_args: 1,
        doc: "configuration and velocity of a robot",
        make: |maker| {
            let robot = maker.arg(0);
            let dims = RobotDims {
                nq: maker.fact(&robot, "nq"),
                nv: maker.fact(&robot, "nv"),
                n: maker.fact(&robot, "n"),
                ns: maker.fact(&robot, "ns"),
            };
            let known = maker.resource::<RobotModel>(&robot);
            StateBus::new(robot, &dims, known.as_deref()).ty()
        },
    },
    NamedType {
        name: "Dynamics",
        max_args: 1,
        doc: "M, h and a factor of M of a robot at one state",
        make: |maker| {
            let robot = maker.arg(0);
            let nv = maker.fact(&robot, "nv");
            DynamicsBus::new(robot, &nv).ty()
        },
    },
    NamedType {
        name: "KinDyn",
        max_args: 1,
        doc: "kinematics and dynamics of a robot and its feet at one instant",
        make: |maker| {
            let robot = maker.arg(0);
            let dims = RobotDims {
                nq: maker.fact(&robot, "nq"),
                nv: maker.fact(&robot, "nv"),
                n: maker.fact(&robot, "n"),
                ns: maker.fact(&robot, "ns"),
            };
            let count = maker.dim();
            KinDynBus::new(robot, &dims, &count).ty()
        },
    },
    NamedType {
        name: "Gait",
        max_args: 0,
        doc: "where four legs are in their steps",
        make: |_| GaitBus::new().ty(),
    },
    NamedType {
        name: "Contact",
        max_args: 0,
        doc: "one point where a robot can touch the ground",
        make: |maker| ContactBus::new(&maker.dim()).ty(),
    },
    NamedType {
        name: "ContactPoints",
        max_args: 0,
        doc: "any number of contacts",
        make: |maker: &mut TypeMaker<'_>| {
            let (nv, count) = (maker.dim(), maker.dim());
            contact_points(&count, &nv).ty()
        },
    },
    NamedType {
        name: "Constraint",
        max_args: 0,
        doc: "a closed loop or a held frame",
        make: |maker| ConstraintBus::new(&maker.dim()).ty(),
    },
    NamedType {
        name: "Constraints",
        max_args: 0,
        doc: "any number of constraints",
        make: |maker: &mut TypeMaker<'_>| {
            let (nv, count) = (maker.dim(), maker.dim());
            ConstraintsBus::of(&ConstraintBus::new(&nv), &count).ty()
        },
    },
    NamedType {
        name: "ContactProblem",
        max_args: 0,
        doc: "what a contact solver is given",
        make: |maker| {
            let (count, nv, cone) = (maker.dim(), maker.dim(), maker.arg(0));
            ContactProblemBus::new(&count, &nv, cone).ty()
        },
    },
];
