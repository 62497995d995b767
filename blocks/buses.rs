//! The buses of the library: what robots, contacts and solvers exchange. They are in one file
//! because a reader of one needs the fields of the others beside it.

use legwork_block::{
    Arg, BusField, Dim, Fault, Leaves, NamedType, Outcome, Ports, Signal, Type, TypeMaker, bus,
};

use legwork_mechanics::{MassFactorRef, PackedFactor};

use crate::robot::model::RobotModel;

mod constraints;
mod gait;
mod kin_dyn;
mod state;

pub use constraints::{CONSTRAINT_ROWS, Constraint, ConstraintBus, Constraints, ConstraintsBus};
pub use gait::{GaitBus, GaitRef};
pub use kin_dyn::{KinDynBus, KinDynRef};
pub use state::{RobotDims, State, StateBus};

/// `Dynamics(robot)`: the terms of `M ν̇ + h = Sᵀτ + Jᵀf` at one state.
///
/// | field | shape | unit | meaning |
/// |---|---|---|---|
/// | `nu` | nv | m/s, rad/s | velocity, handed on from the state |
/// | `M` | nv × nv | kg, kg m, kg m² | joint-space inertia, reflected rotor inertia included |
/// | `h` | nv | N, N m | bias force: Coriolis, centrifugal and gravity |
/// | `factor` | nv × (nv+1) | | the factor of M with its sparsity, for blocks: see [`PackedFactor`] |
/// | `joints` | nv | 1 | 1 at joints, on which torques act in their order; 0 at bases |
#[derive(Clone)]
pub struct DynamicsBus {
    ty: Type,
}

/// A robot's dynamics, read.
#[derive(Clone, Copy)]
pub struct Dynamics<'a> {
    /// Velocity.
    pub nu: &'a [f64],
    /// Joint-space inertia, column by column.
    pub mass_matrix: &'a [f64],
    /// Bias force.
    pub bias_force: &'a [f64],
    /// Factor of the joint-space inertia with its sparsity, as [`PackedFactor`] reads it.
    pub factor: &'a [f64],
    /// 1 at the coordinates of joints, 0 at those of bases.
    pub joints: &'a [f64],
}

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

/// Leaf of each field of a [`DynamicsBus`].
pub mod dynamics_leaf {
    /// `nu`.
    pub const NU: usize = 0;
    /// `M`.
    pub const MASS_MATRIX: usize = 1;
    /// `h`.
    pub const BIAS_FORCE: usize = 2;
    /// `factor`.
    pub const FACTOR: usize = 3;
    /// `joints`.
    pub const JOINTS: usize = 4;
}

impl DynamicsBus {
    /// The dynamics of the robot `robot`.
    pub fn of(ports: &Ports<'_>, robot: &str) -> Self {
        let dims = RobotDims::of(ports, robot);
        Self { ty: dynamics_type(Arg::Name(robot.to_owned()), &dims.nv) }
    }

    /// The dynamics of a robot that inference finds, with `nv` velocities.
    pub fn any(robot: Arg, nv: &Dim) -> Self {
        Self { ty: dynamics_type(robot, nv) }
    }
}

fn dynamics_type(robot: Arg, nv: &Dim) -> Type {
    let fields = vec![
        BusField::new("nu", Type::Vector(nv.clone())).doc("velocity"),
        BusField::new("M", Type::matrix(nv, nv)).doc("joint-space inertia"),
        BusField::new("h", Type::Vector(nv.clone())).doc("bias force"),
        BusField::new("factor", Type::matrix(nv, nv.clone() + 1)).doc("packed factor of M"),
        BusField::new("joints", Type::Vector(nv.clone())).doc("1 where a torque acts"),
    ];
    bus("Dynamics", vec![robot], fields, Vec::new())
}

impl Signal for DynamicsBus {
    type Ref<'a> = Dynamics<'a>;
    fn ty(&self) -> Type {
        self.ty.clone()
    }
    #[inline]
    fn read(leaves: Leaves<'_>) -> Dynamics<'_> {
        Dynamics {
            nu: leaves.leaf(dynamics_leaf::NU),
            mass_matrix: leaves.leaf(dynamics_leaf::MASS_MATRIX),
            bias_force: leaves.leaf(dynamics_leaf::BIAS_FORCE),
            factor: leaves.leaf(dynamics_leaf::FACTOR),
            joints: leaves.leaf(dynamics_leaf::JOINTS),
        }
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
///
/// | field | shape | unit | meaning |
/// |---|---|---|---|
/// | `position` | 3 | m | the point that is nearest to what is touched, world axes |
/// | `axes` | 3 × 3 | 1 | world_from_contact: columns t₁, t₂, n |
/// | `gap` | | m | distance to the ground, negative inside |
/// | `velocity` | 3 | m/s | relative velocity at the point, contact axes; [2] is the gap's rate |
/// | `jacobian` | 3 × nv | | `velocity = jacobian ν − v_ground` |
/// | `jacobian_dot_nu` | 3 | m/s² | rate of `velocity` at ν̇ = 0, contact axes |
/// | `friction` | | 1 | μ of this pair of surfaces; −1 leaves it to the contact model |
#[derive(Clone)]
pub struct ContactBus {
    ty: Type,
}

/// A contact, read.
#[derive(Clone, Copy)]
pub struct Contact<'a> {
    /// The point, world axes.
    pub position: &'a [f64],
    /// Columns t₁, t₂, n.
    pub axes: &'a [f64],
    /// Distance to the ground.
    pub gap: f64,
    /// Relative velocity at the point, contact axes.
    pub velocity: &'a [f64],
    /// 3 × nv, column by column.
    pub jacobian: &'a [f64],
    /// Rate of `velocity` at ν̇ = 0, contact axes.
    pub jacobian_dot_nu: &'a [f64],
    /// μ of this pair, if it has one of its own.
    pub friction: Option<f64>,
}

/// Leaf of each field of a [`ContactBus`].
pub mod contact_leaf {
    /// `position`.
    pub const POSITION: usize = 0;
    /// `axes`.
    pub const AXES: usize = 1;
    /// `gap`.
    pub const GAP: usize = 2;
    /// `velocity`.
    pub const VELOCITY: usize = 3;
    /// `jacobian`.
    pub const JACOBIAN: usize = 4;
    /// `jacobian_dot_nu`.
    pub const JACOBIAN_DOT_NU: usize = 5;
    /// `friction`.
    pub const FRICTION: usize = 6;
    /// Number of leaves.
    pub const COUNT: usize = 7;
    /// The `friction` of a contact that has none of its own.
    pub const NO_FRICTION: f64 = -1.0;
}

impl ContactBus {
    /// A contact of a robot with `nv` velocities.
    pub fn new(nv: &Dim) -> Self {
        Self { ty: contact_type(nv) }
    }
}

fn contact_type(nv: &Dim) -> Type {
    let fields = vec![
        BusField::new("position", Type::vector(3)).unit("m").frame("world"),
        BusField::new("axes", Type::Rotation).doc("columns t1, t2, n in world axes"),
        BusField::new("gap", Type::Real).unit("m"),
        BusField::new("velocity", Type::vector(3)).unit("m/s").frame("contact"),
        BusField::new("jacobian", Type::matrix(3, nv)).frame("contact"),
        BusField::new("jacobian_dot_nu", Type::vector(3)).unit("m/s^2").frame("contact"),
        BusField::new("friction", Type::Real).unit("1").doc("-1: that of the contact model"),
    ];
    bus("Contact", Vec::new(), fields, Vec::new())
}

impl Signal for ContactBus {
    type Ref<'a> = Contact<'a>;
    fn ty(&self) -> Type {
        self.ty.clone()
    }
    #[inline]
    fn read(leaves: Leaves<'_>) -> Contact<'_> {
        Contact {
            position: leaves.leaf(contact_leaf::POSITION),
            axes: leaves.leaf(contact_leaf::AXES),
            gap: leaves.leaf(contact_leaf::GAP)[0],
            velocity: leaves.leaf(contact_leaf::VELOCITY),
            jacobian: leaves.leaf(contact_leaf::JACOBIAN),
            jacobian_dot_nu: leaves.leaf(contact_leaf::JACOBIAN_DOT_NU),
            friction: Some(leaves.leaf(contact_leaf::FRICTION)[0]).filter(|&mu| mu >= 0.0),
        }
    }
}

/// `ContactPoints`: any number of contacts, an array of [`ContactBus`].
#[derive(Clone)]
pub struct ContactPointsBus {
    ty: Type,
}

/// Contacts, read.
#[derive(Clone, Copy)]
pub struct ContactPoints<'a> {
    leaves: Leaves<'a>,
}

impl<'a> ContactPoints<'a> {
    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.leaves.len() / contact_leaf::COUNT
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    /// Contact `i`.
    #[inline]
    pub fn get(&self, i: usize) -> Contact<'a> {
        let first = i * contact_leaf::COUNT;
        ContactBus::read(self.leaves.part(first..first + contact_leaf::COUNT))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Contact<'a>> + use<'a> {
        let points = *self;
        (0..points.len()).map(move |i| points.get(i))
    }
}

impl ContactPointsBus {
    /// `count` contacts of a robot with `nv` velocities.
    pub fn new(count: &Dim, nv: &Dim) -> Self {
        Self { ty: Type::array(contact_type(nv), count) }
    }
}

impl Signal for ContactPointsBus {
    type Ref<'a> = ContactPoints<'a>;
    fn ty(&self) -> Type {
        self.ty.clone()
    }
    #[inline]
    fn read(leaves: Leaves<'_>) -> ContactPoints<'_> {
        ContactPoints { leaves }
    }
}

/// `ContactProblem(cone)`: what every contact solver is given, for k contacts:
/// `min ½ fᵀ(G + R)f + bᵀf` over forces in the friction cones.
///
/// The argument says which cones they are, `pyramid` or `circular`. The block that assembles the
/// problem knows it, and a solver that takes pyramids only is refused a circular one when the
/// diagram is checked. Diagrams write the bus without it: inference finds it.
///
/// | field | shape | unit | meaning |
/// |---|---|---|---|
/// | `inverse_inertia` | 3k × 3k | 1/kg | `G = J M⁻¹ Jᵀ` |
/// | `bias` | 3k | m/s² | `b`: contact acceleration wanted away by the forces |
/// | `friction` | k | 1 | Coulomb friction μ |
/// | `active` | k | 1 | 1 where a force may act, else 0 |
/// | `compliance` | 3k | 1/kg | diagonal of `R`, declared regularisation included |
/// | `gap` | k | m | distance to the ground |
/// | `force_scale` | | N | a typical force |
/// | `sides` | | 1 | sides of the friction pyramid; 0 for the circular cone |
/// | `inscribed` | | 1 | whether the pyramid's edges lie on the cone, else its facets touch it |
/// | `jacobian` | 3k × nv | | `J`, contacts below one another |
/// | `factor` | nv × (nv+1) | | that of `Dynamics`, for solvers that never form G |
#[derive(Clone)]
pub struct ContactProblemBus {
    ty: Type,
}

/// A contact problem, read.
#[derive(Clone, Copy)]
pub struct ContactProblemRef<'a> {
    /// `G`, column by column.
    pub inverse_inertia: &'a [f64],
    /// `b`.
    pub bias: &'a [f64],
    /// μ of each contact.
    pub friction: &'a [f64],
    /// 1 where a force may act.
    pub active: &'a [f64],
    /// Diagonal of `R`.
    pub compliance: &'a [f64],
    /// Distances.
    pub gap: &'a [f64],
    /// A typical force.
    pub force_scale: f64,
    /// Sides of the pyramid; 0 for the circular cone.
    pub sides: usize,
    /// Whether the pyramid's edges lie on the cone, else its facets touch it.
    pub is_inscribed: bool,
    /// `J`, column by column.
    pub jacobian: &'a [f64],
    /// Factor of `M`, as [`PackedFactor`] reads it.
    pub factor: &'a [f64],
}

/// Leaf of each field of a [`ContactProblemBus`].
pub mod problem_leaf {
    /// `inverse_inertia`.
    pub const INVERSE_INERTIA: usize = 0;
    /// `bias`.
    pub const BIAS: usize = 1;
    /// `friction`.
    pub const FRICTION: usize = 2;
    /// `active`.
    pub const ACTIVE: usize = 3;
    /// `compliance`.
    pub const COMPLIANCE: usize = 4;
    /// `gap`.
    pub const GAP: usize = 5;
    /// `force_scale`.
    pub const FORCE_SCALE: usize = 6;
    /// `sides`.
    pub const SIDES: usize = 7;
    /// `inscribed`.
    pub const INSCRIBED: usize = 8;
    /// `jacobian`.
    pub const JACOBIAN: usize = 9;
    /// `factor`.
    pub const FACTOR: usize = 10;
}

impl ContactProblemBus {
    /// The problem of `count` contacts of a world with `nv` velocities, and friction cones of the
    /// kind `cone`: [`Self::cone`], or a variable for all.
    pub fn new(count: &Dim, nv: &Dim, cone: Arg) -> Self {
        Self { ty: problem_type(count, nv, cone) }
    }

    /// The argument for pyramids, or for circular cones.
    pub fn cone(is_pyramid: bool) -> Arg {
        Arg::Name(if is_pyramid { "pyramid" } else { "circular" }.to_owned())
    }
}

fn problem_type(count: &Dim, nv: &Dim, cone: Arg) -> Type {
    let rows = 3 * count.clone();
    let fields = vec![
        BusField::new("inverse_inertia", Type::matrix(&rows, &rows)).unit("1/kg"),
        BusField::new("bias", Type::vector(&rows)).unit("m/s^2").frame("contact"),
        BusField::new("friction", Type::vector(count)).unit("1"),
        BusField::new("active", Type::vector(count)).unit("1"),
        BusField::new("compliance", Type::vector(&rows)),
        BusField::new("gap", Type::vector(count)).unit("m"),
        BusField::new("force_scale", Type::Real).unit("N"),
        BusField::new("sides", Type::Int),
        BusField::new("inscribed", Type::Bool),
        BusField::new("jacobian", Type::matrix(&rows, nv)).frame("contact"),
        BusField::new("factor", Type::matrix(nv, nv.clone() + 1)).doc("packed factor of M"),
    ];
    bus("ContactProblem", vec![cone], fields, Vec::new())
}

impl Signal for ContactProblemBus {
    type Ref<'a> = ContactProblemRef<'a>;
    fn ty(&self) -> Type {
        self.ty.clone()
    }
    #[inline]
    fn read(leaves: Leaves<'_>) -> ContactProblemRef<'_> {
        ContactProblemRef {
            inverse_inertia: leaves.leaf(problem_leaf::INVERSE_INERTIA),
            bias: leaves.leaf(problem_leaf::BIAS),
            friction: leaves.leaf(problem_leaf::FRICTION),
            active: leaves.leaf(problem_leaf::ACTIVE),
            compliance: leaves.leaf(problem_leaf::COMPLIANCE),
            gap: leaves.leaf(problem_leaf::GAP),
            force_scale: leaves.leaf(problem_leaf::FORCE_SCALE)[0],
            sides: leaves.leaf(problem_leaf::SIDES)[0] as usize,
            is_inscribed: leaves.leaf(problem_leaf::INSCRIBED)[0] != 0.0,
            jacobian: leaves.leaf(problem_leaf::JACOBIAN),
            factor: leaves.leaf(problem_leaf::FACTOR),
        }
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
            dynamics_type(robot, &nv)
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
        make: |maker| contact_type(&maker.dim()),
    },
    NamedType {
        name: "ContactPoints",
        max_args: 0,
        doc: "any number of contacts",
        make: |maker: &mut TypeMaker<'_>| {
            let (nv, count) = (maker.dim(), maker.dim());
            Type::array(contact_type(&nv), count)
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
            problem_type(&count, &nv, cone)
        },
    },
];
