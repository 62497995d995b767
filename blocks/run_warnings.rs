//! Warnings of a run, each with an explanation that `legwork help NAME` prints.

legwork_block::codes! {
    /// The centre of mass of a floating base is below the ground.
    ///
    /// Of a robot only the points with a contact touch the ground. Without one, a trunk falls
    /// through it.
    ///
    /// Let `Collisions` with a `ground` find the contacts of all links.
    BELOW_THE_GROUND = "below-the-ground";

    /// The momentum of a robot or a body changes by more than all forces account for.
    ///
    /// The step is too long for how fast the body turns, or the integration method does not keep
    /// momentum.
    ///
    /// Take shorter steps, `SemiImplicitEuler` for free flight, or `Rk4`.
    CHANGES_MOMENTUM = "changes-momentum";

    /// A coordinate is accelerated to and fro in every step.
    ///
    /// The step is too long for a gain, a damping or a stiffness that acts on the coordinate, or its
    /// inertia is too small.
    ///
    /// Take shorter steps or lower gains, or state the rotor inertia in the robot.
    CHATTERS = "chatters";

    /// More contacts were found than the block has room for, and the others got no force.
    ///
    /// Raise the parameter `contacts` of `Collisions`.
    CONTACTS_LEFT_OUT = "contacts-left-out";

    /// A contact moved deep into a surface within one step.
    ///
    /// The approach was too fast for the step, so the contact force came late.
    ///
    /// Take shorter steps, or a rigid law such as `GaussContact`, which sees the gap beforehand.
    ENTERS_IN_ONE_STEP = "enters-in-one-step";

    /// A link is in the ground, and no contact pushes it out.
    ///
    /// Start the robot higher, or give the link a collision shape.
    IN_THE_GROUND = "in-the-ground";

    /// The steps of a robot or a body lose energy that no force accounts for.
    ///
    /// The step is too long for how fast the body turns, or the integration method damps.
    ///
    /// Take shorter steps, `SemiImplicitEuler` for free flight, or `Rk4`.
    LOSES_ENERGY = "loses-energy";

    /// The steps of a robot, a body or a contact make energy that no force accounts for.
    ///
    /// The step is too long for how fast the body turns, or for the stiffness and damping of a
    /// compliant contact.
    ///
    /// Take shorter steps. `ImplicitContact` has the same compliant law and stays stable.
    MAKES_ENERGY = "makes-energy";

    /// A joint starts outside its limit.
    ///
    /// A contact at the limit pushes the joint back slowly, by its `recovery_speed`.
    ///
    /// Start the joint within its limit.
    OUTSIDE_JOINT_LIMIT = "outside-joint-limit";

    /// A joint gets more torque or force than the effort limit in its robot file.
    ///
    /// Put `Actuator(robot: …)` between the controller and the robot: it limits the effort.
    PAST_EFFORT_LIMIT = "past-effort-limit";

    /// A joint is past the position limit in its robot file.
    ///
    /// Without `JointLimits` nothing stops the joint. With it, the message says how the limit is
    /// kept.
    ///
    /// Add `JointLimits`, or change the reference of the joint.
    PAST_JOINT_LIMIT = "past-joint-limit";

    /// A joint moves faster than the speed limit in its robot file.
    ///
    /// The limit is not enforced: no motor holds the joint to it.
    ///
    /// Slow the reference down, or add an actuator with this speed.
    PAST_SPEED_LIMIT = "past-speed-limit";

    /// A contact sank into a surface deeper than a contact law of this kind should let it.
    ///
    /// Take a stiffer contact, a shorter step, or look at the status of the solver.
    SINKS_IN = "sinks-in";

    /// A contact starts inside a surface, so the first steps push it out.
    ///
    /// Start the robot or the body higher, as `place: FeetAbove("0 cm")` does.
    STARTS_INSIDE = "starts-inside";

    /// The velocities do not change as the accelerations at both ends of a step predict.
    ///
    /// The step is too long for the forces, or for how fast the body turns.
    ///
    /// Take shorter steps.
    UNRESOLVED = "unresolved";
}
