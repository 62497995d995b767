//! Shared computation: inertia of a robot at a state, its factor and the bias force.

use std::sync::Arc;

use legwork_block::{
    Block, Fault, In, Invalid, Outcome, OutputCx, Ports, Shared, Sizes, block, feeds,
};
use legwork_mechanics::{
    InverseDynamics, Kinematics, MassFactor, MassMatrix, SingularMass, bias_force, mass_matrix,
};

use crate::buses::StateBus;
use crate::robot::model::RobotModel;
use crate::robot::passive_forces::{PassiveForces, StepEnd};
use crate::robot::shared_kinematics::kinematics;

/// The terms of `M ν̇ + h = Sᵀτ + Jᵀf − p` at one state, with what the joints do by themselves,
/// `p = d ν + k (s − r)`.
pub struct Mass {
    /// `M`, reflected rotor inertia included.
    pub matrix: MassMatrix,
    factor: MassFactor,
    /// Why there is no factor.
    singular: Option<SingularMass>,
    /// `h`: Coriolis, centrifugal and gravity force (nv).
    pub bias_force: Vec<f64>,
    /// `h + p`: all that opposes a motion (nv).
    pub opposing_force: Vec<f64>,
    /// p, and what it adds to M in the factor.
    pub passive: PassiveForces,
    workspace: InverseDynamics,
}

impl Mass {
    /// The factor of `M + Δt d + ¼ Δt² k`, by which a step of length Δt is stable for any damping
    /// and any spring; of `M` alone if joints have none or the run's solver has stages.
    ///
    /// # Errors
    /// A fault that names the joint if it is singular.
    pub fn factor(&self, robot: &RobotModel) -> Result<&MassFactor, Box<Fault>> {
        match &self.singular {
            None => Ok(&self.factor),
            Some(error) => Err(Fault::new(format!("{}: {error}", robot.name))),
        }
    }
}

/// Computes the [`Mass`] of a robot at a state. O(n depth²).
///
/// Blocks do not make one: they ask by [`mass`].
pub struct MassOf {
    robot: Arc<RobotModel>,
}

/// Asks for the inertia of `robot` at the state on the input `state`; all blocks that ask for the
/// same robot at the same state share one computation.
pub fn mass(ports: &mut Ports<'_>, robot: &Arc<RobotModel>, state: In<StateBus>) -> Shared<Mass> {
    ports.ask(MassOf { robot: Arc::clone(robot) }, robot.name.as_str(), &feeds![state])
}

#[block]
impl Block for MassOf {
    const KIND: &'static str = "Mass";
    type Plan = (Shared<Kinematics>, In<StateBus>, StepEnd);
    type Scratch = Mass;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        ports.share();
        let state = ports.input("state", &StateBus::of(ports, &self.robot.name));
        Ok((kinematics(ports, &self.robot, state), state, StepEnd::of(ports)))
    }

    fn scratch(&self, (_, _, step): &Self::Plan, _: &Sizes<'_>) -> Mass {
        let model = &self.robot.model;
        Mass {
            matrix: MassMatrix::new(model),
            factor: MassFactor::new(model),
            singular: None,
            bias_force: vec![0.0; model.velocity_dim()],
            opposing_force: vec![0.0; model.velocity_dim()],
            passive: PassiveForces::new(model, *step),
            workspace: InverseDynamics::new(model),
        }
    }

    fn output(&self, (shared, state, _): &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let model = &self.robot.model;
        let kinematics = cx.inputs.shared(*shared);
        let state = cx.inputs.get(*state);
        let mass = &mut *cx.scratch;
        let Mass { matrix, factor, passive, bias_force: h, opposing_force, .. } = mass;
        mass_matrix(model, kinematics, matrix);
        bias_force(model, kinematics, &mut mass.workspace, h);
        passive.update(model, state.q, state.nu, cx.time);
        opposing_force.copy_from_slice(h);
        passive.add_to(1.0, opposing_force);
        // Who needs no factor, or adds to M before factoring, has no use for a fault here.
        mass.singular = factor.factorize_with(matrix, &passive.added).err();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::{Inputs, Out, Outputs, Pure, Real};

    use super::*;
    use crate::robot::name::RobotName;
    use crate::testing::robots::{Rig, go};

    /// Asks for the kinematics twice and for the inertia once.
    struct Asking;

    #[block]
    impl Pure for Asking {
        type Plan = (Arc<RobotModel>, [Shared<Kinematics>; 2], Shared<Mass>, Out<Real>);

        fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
            let robot = RobotName::from("go").find(ports)?;
            let state = ports.input("state", &StateBus::of(ports, "go"));
            let first = kinematics(ports, &robot, state);
            let mass = mass(ports, &robot, state);
            let second = kinematics(ports, &robot, state);
            Ok((robot, [first, second], mass, ports.output("weight", &Real)))
        }

        fn output(
            &self,
            (robot, kinematics, mass, weight): &Self::Plan,
            inputs: &Inputs<'_>,
            outputs: &mut Outputs<'_>,
        ) -> Outcome {
            let [first, second] = kinematics.map(|shared| inputs.shared(shared));
            let mass = inputs.shared(*mass);
            mass.factor(robot)?;
            outputs.set(*weight, mass.bias_force[2]);
            match std::ptr::eq(first, second) {
                true => Ok(()),
                false => Err(Fault::new("expected one value for both")),
            }
        }
    }

    #[test]
    fn the_tree_is_walked_once_for_all_who_ask() {
        let mut rig = Rig::new(Asking, &go(), &[]);
        assert_eq!(rig.shared_count(), 2);
        rig.set("state", &[&go().model.zero_configuration(), &[0.0; 18]]);
        rig.output();
        assert!((rig.leaf("weight", 0)[0] - 8.252 * 9.81).abs() < 1e-12);
    }

    #[test]
    fn a_matrix_that_has_no_factor_is_a_fault() {
        let mut rig = Rig::new(Asking, &go(), &[]);
        rig.set("state", &[&[f64::NAN; 19], &[0.0; 18]]);
        let fault = rig.try_output().expect_err("a fault");
        assert!(fault.message.starts_with("go: mass matrix is singular at"), "{fault}");
    }
}
